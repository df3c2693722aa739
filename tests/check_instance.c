/* SPDX-License-Identifier: ISC */
/*
 * The places of a daemon (spec section 2).  The second daemon is a forked
 * child where it must be another process; else a second opening here, as the
 * locks are per opened file.
 */
#include "config.h"

#include "daemon/instance.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "tests/check_main.h"

struct places {
	char	top[40];	/* removed with all in it */
	char	state[64];
	char	runtime[64];
	int	warnings;	/* logged */
};

static struct places p;

static void
count_warning(void *arg, enum log_level level, const char *subsystem,
    const char *text)
{
	(void)arg;
	(void)subsystem;
	(void)text;
	if (level == LOG_WARNING)
		p.warnings++;
}

static void
begin(void)
{
	p = (struct places){ .top = "/tmp/check_instance.XXXXXX" };
	ck_assert_ptr_nonnull(mkdtemp(p.top));
	snprintf(p.state, sizeof(p.state), "%s/a/state", p.top);
	snprintf(p.runtime, sizeof(p.runtime), "%s/b/runtime", p.top);
	log_set_sink(count_warning, NULL);
}

static void
end(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", p.top);
	ck_assert_int_eq(system(command), 0);
}

static struct instance *
must_open(void)
{
	struct error err = { "" };
	struct instance *in = instance_open(p.state, p.runtime, &err);

	ck_assert_msg(in != NULL, "%s", err.text);
	return in;
}

static mode_t
mode_of(const char *path)
{
	struct stat st;

	ck_assert_msg(stat(path, &st) == 0, "%s", path);
	return st.st_mode & 07777;
}

START_TEST(missing_places_are_made_with_their_modes_whatever_the_umask)
{
	struct instance *in;

	umask(027);
	in = must_open();
	ck_assert_str_eq(instance_state_dir(in), p.state);
	ck_assert_str_eq(instance_runtime_dir(in), p.runtime);
	ck_assert_uint_eq(mode_of(p.state), 0700);
	ck_assert_uint_eq(mode_of(p.runtime), 0755);
	ck_assert_uint_eq(mode_of(instance_output_dir(in)), 0700);
	ck_assert_uint_eq(mode_of(instance_spool_dir(in)), 0700);
	ck_assert_uint_eq(mode_of(instance_workers_dir(in)), 0700);
	ck_assert_int_eq(p.warnings, 0);
	instance_close(in);
}
END_TEST

START_TEST(names_are_those_of_the_specification)
{
	struct instance *in = must_open();
	char want[96];

	snprintf(want, sizeof(want), "%s/output", p.state);
	ck_assert_str_eq(instance_output_dir(in), want);
	snprintf(want, sizeof(want), "%s/spool", p.state);
	ck_assert_str_eq(instance_spool_dir(in), want);
	snprintf(want, sizeof(want), "%s/workers", p.runtime);
	ck_assert_str_eq(instance_workers_dir(in), want);
	snprintf(want, sizeof(want), "%s/control.sock", p.runtime);
	ck_assert_str_eq(instance_socket_path(in), want);
	instance_close(in);
}
END_TEST

START_TEST(boot_id_is_that_of_the_kernel)
{
	struct instance *in = must_open();
	char want[64] = "";
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(want, sizeof(want), file));
	fclose(file);
	want[strcspn(want, "\n")] = '\0';
	ck_assert_str_eq(instance_boot_id(in), want);
	instance_close(in);
}
END_TEST

START_TEST(wide_state_directory_is_narrowed_with_a_warning)
{
	instance_close(must_open());
	ck_assert_int_eq(chmod(p.state, 0755), 0);
	instance_close(must_open());
	ck_assert_uint_eq(mode_of(p.state), 0700);
	ck_assert_int_eq(p.warnings, 1);
}
END_TEST

START_TEST(runtime_directory_that_others_may_write_is_narrowed)
{
	instance_close(must_open());
	ck_assert_int_eq(chmod(p.runtime, 0777), 0);
	instance_close(must_open());
	ck_assert_uint_eq(mode_of(p.runtime), 0755);
	ck_assert_int_eq(p.warnings, 1);
}
END_TEST

START_TEST(second_instance_is_refused_naming_the_pid_of_the_first)
{
	struct instance *in = must_open();
	struct error err;
	char want[64];

	snprintf(want, sizeof(want), "another cronctld, pid %ld, ",
	    (long)getpid());
	ck_assert_ptr_null(instance_open(p.state, p.runtime, &err));
	ck_assert_msg(strncmp(err.text, want, strlen(want)) == 0, "%s",
	    err.text);
	ck_assert_ptr_nonnull(strstr(err.text, p.state));
	instance_close(in);
}
END_TEST

START_TEST(second_instance_on_the_runtime_directory_alone_is_refused)
{
	struct instance *in = must_open();
	struct error err;
	char other[64];

	snprintf(other, sizeof(other), "%s/other", p.top);
	ck_assert_ptr_null(instance_open(other, p.runtime, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "pid "));
	ck_assert_ptr_nonnull(strstr(err.text, p.runtime));
	ck_assert_ptr_nonnull(strstr(err.text, "--runtime"));
	instance_close(in);
	/* and what the refused one had locked is free again */
	in = instance_open(other, p.runtime, &err);
	ck_assert_ptr_nonnull(in);
	instance_close(in);
}
END_TEST

START_TEST(locks_of_a_killed_daemon_bar_nobody)
{
	struct error err;
	int ready[2], status;
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (instance_open(p.state, p.runtime, NULL) == NULL ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
		_exit(1);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	ck_assert_ptr_null(instance_open(p.state, p.runtime, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "pid "));
	ck_assert_int_eq(atol(strstr(err.text, "pid ") + 4), pid);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	instance_close(must_open());
}
END_TEST

START_TEST(stale_socket_file_bars_nobody)
{
	struct instance *in = must_open();
	char path[96];
	FILE *file;

	snprintf(path, sizeof(path), "%s", instance_socket_path(in));
	instance_close(in);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fclose(file);
	instance_close(must_open());
}
END_TEST

START_TEST(one_directory_for_both_is_refused)
{
	struct error err;

	ck_assert_ptr_null(instance_open(p.state, p.state, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "two different ones"));
}
END_TEST

START_TEST(directory_of_another_owner_is_refused)
{
	struct error err;

	if (geteuid() != 0)
		return;		/* only root can give a directory away */
	instance_close(must_open());
	ck_assert_int_eq(chown(p.state, 12345, 0), 0);
	ck_assert_ptr_null(instance_open(p.state, p.runtime, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "belongs to uid 12345, not to "
	    "uid 0"));
	ck_assert_int_eq(chown(p.state, 0, 0), 0);
	ck_assert_int_eq(chown(p.runtime, 12345, 0), 0);
	ck_assert_ptr_null(instance_open(p.state, p.runtime, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "belongs to uid 12345, not to "
	    "uid 0"));
}
END_TEST

START_TEST(path_that_is_no_directory_is_refused)
{
	struct error err;
	FILE *file;

	instance_close(must_open());
	snprintf(p.state, sizeof(p.state), "%s/file", p.top);
	file = fopen(p.state, "w");
	ck_assert_ptr_nonnull(file);
	fclose(file);
	ck_assert_ptr_null(instance_open(p.state, p.runtime, &err));
	ck_assert_ptr_nonnull(strstr(err.text, p.state));
}
END_TEST

/*
 * unix(7): 108 bytes with the NUL; behind the directory comes at most
 * "/workers/" + 10 digits + ".sock", 24 bytes.  So 83 are the most.
 */
START_TEST(runtime_directory_too_long_for_sockets_is_refused)
{
	struct error err;
	struct instance *in;
	char path[85];

	memset(path, 'x', sizeof(path));
	memcpy(path, p.top, strlen(p.top));
	path[strlen(p.top)] = '/';
	path[84] = '\0';
	ck_assert_ptr_null(instance_open(p.state, path, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "84 bytes, at most 83"));
	ck_assert_int_ne(access(p.state, F_OK), 0);
	path[83] = '\0';
	in = instance_open(p.state, path, &err);
	ck_assert_ptr_nonnull(in);
	instance_close(in);
}
END_TEST

Suite *instance_suite(void);

Suite *
instance_suite(void)
{
	Suite *suite = suite_create("instance");
	TCase *tcase = tcase_create("core");

	tcase_add_checked_fixture(tcase, begin, end);
	tcase_add_test(tcase,
	    missing_places_are_made_with_their_modes_whatever_the_umask);
	tcase_add_test(tcase, names_are_those_of_the_specification);
	tcase_add_test(tcase, boot_id_is_that_of_the_kernel);
	tcase_add_test(tcase,
	    wide_state_directory_is_narrowed_with_a_warning);
	tcase_add_test(tcase,
	    runtime_directory_that_others_may_write_is_narrowed);
	tcase_add_test(tcase,
	    second_instance_is_refused_naming_the_pid_of_the_first);
	tcase_add_test(tcase,
	    second_instance_on_the_runtime_directory_alone_is_refused);
	tcase_add_test(tcase, locks_of_a_killed_daemon_bar_nobody);
	tcase_add_test(tcase, stale_socket_file_bars_nobody);
	tcase_add_test(tcase, one_directory_for_both_is_refused);
	tcase_add_test(tcase, directory_of_another_owner_is_refused);
	tcase_add_test(tcase, path_that_is_no_directory_is_refused);
	tcase_add_test(tcase,
	    runtime_directory_too_long_for_sockets_is_refused);
	suite_add_tcase(suite, tcase);
	return suite;
}

int
main(void)
{
	return check_main(instance_suite());
}
