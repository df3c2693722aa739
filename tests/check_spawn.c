/* SPDX-License-Identifier: ISC */
/*
 * What a job finds when it starts, and the stages at which a start fails,
 * through the real worker program.  The environment is that of spec.md 3,
 * the refusals of users those of reliability.md 1.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/timestamp.h"
#include "tests/check_main.h"
#include "tests/support/worker_driver.h"

Suite	*spawn_suite(void);

#define TEST_TIMEOUT_S	60

static struct driver driver;

static void
setup(void)
{
	driver_init_welcomed(&driver);
}

static void
teardown(void)
{
	driver_release(&driver);
}

static bool
is_root(void)
{
	return geteuid() == 0;
}

/* Runs it to its end and appends its output. */
static void
run_it(const struct protocol_start *start, struct strbuf *out)
{
	struct protocol_ended ended;

	driver_run(&driver, start, &ended);
	ck_assert_msg(ended.how == PROTOCOL_END_EXITED && ended.code == 0,
	    "stage %s: %s", protocol_stage_name(ended.stage),
	    ended.detail != NULL ? ended.detail : "");
	driver_output(&driver, start->tag.run_id, out);
}

static void
assert_prints(const struct protocol_start *start, const char *want)
{
	struct strbuf out = STRBUF_INIT;

	run_it(start, &out);
	ck_assert_str_eq(out.buf, want);
	strbuf_release(&out);
}

START_TEST(descriptors_are_0_1_2)
{
	struct protocol_start start;

	driver_template(&start, 1, "ls /proc/$$/fd; true");
	assert_prints(&start, "0\n1\n2\n");
	driver_template(&start, 2, "ls /proc/$$/fd; true");
	start.stdin_text = "text";
	assert_prints(&start, "0\n1\n2\n");
}
END_TEST

START_TEST(no_signal_is_blocked_or_ignored)
{
	struct protocol_start start;

	driver_template(&start, 1,
	    "grep -E '^Sig(Blk|Ign)' /proc/self/status | tr -d '\\t'");
	assert_prints(&start, "SigBlk:0000000000000000\n"
	    "SigIgn:0000000000000000\n");
}
END_TEST

START_TEST(job_leads_its_own_session_without_terminal)
{
	struct protocol_start start;

	/* proc(5), stat: pgrp 5, session 6, tty 7 */
	driver_template(&start, 1, "set -- $(cat /proc/$$/stat); "
	    "[ $5 = $$ ] && [ $6 = $$ ] && [ $7 = 0 ] && echo good");
	assert_prints(&start, "good\n");
}
END_TEST

START_TEST(limit_of_descriptors_is_the_one_before_the_worker)
{
	struct rlimit limit;
	struct protocol_start start;
	char want[64];

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	driver_release(&driver);
	limit.rlim_cur = 123;
	driver_init_limited(&driver, &limit);
	driver_send_hello(&driver, DRIVER_INSTANCE, DRIVER_EPOCH);
	driver_expect(&driver, PROTOCOL_WELCOME);
	driver_template(&start, 1, "ulimit -S -n; ulimit -H -n");
	snprintf(want, sizeof want, "123\n%llu\n",
	    (unsigned long long)limit.rlim_max);
	assert_prints(&start, want);
}
END_TEST

START_TEST(environment_is_exactly_the_documented_one)
{
	struct passwd *pw = getpwuid(geteuid());
	struct protocol_start start;
	char want[512];

	if (pw == NULL)
		return;		/* a made-up user of a container */
	setenv("SECRET", "1", 1);
	driver_template(&start, 1, "tr '\\0' '\\n' </proc/$$/environ; true");
	start.env[start.env_count++] = "LANG=C.UTF-8";
	start.env[start.env_count++] = "CRONCTL_RUN_ID=1";
	snprintf(want, sizeof want, "HOME=%s\nLOGNAME=%s\nUSER=%s\n"
	    "SHELL=/bin/sh\nPATH=%s\nLANG=C.UTF-8\nCRONCTL_RUN_ID=1\n",
	    pw->pw_dir, pw->pw_name, pw->pw_name, is_root() ?
	    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" :
	    "/usr/local/bin:/usr/bin:/bin");
	assert_prints(&start, want);
}
END_TEST

START_TEST(later_environment_wins_and_no_name_comes_twice)
{
	struct protocol_start start;

	driver_template(&start, 1, "tr '\\0' '\\n' </proc/$$/environ | "
	    "grep -E '^(PATH|A)='; true");
	start.env[start.env_count++] = "PATH=/bin:/usr/bin";
	start.env[start.env_count++] = "A=1";
	start.env[start.env_count++] = "A=a=b=c";
	assert_prints(&start, "PATH=/bin:/usr/bin\nA=a=b=c\n");
}
END_TEST

START_TEST(command_arrives_byte_for_byte)
{
	struct protocol_start start;

	driver_template(&start, 1,
	    "printf '%s\\n' 'a;b # c %d \\e \"q\" `x` $HOME \303\244 = :'");
	assert_prints(&start, "a;b # c %d \\e \"q\" `x` $HOME \303\244 = :\n");
}
END_TEST

START_TEST(standard_input_is_the_text)
{
	struct strbuf big = STRBUF_INIT;
	struct protocol_start start;

	driver_template(&start, 1, "cat");
	start.stdin_text = "one\ntwo\n";
	assert_prints(&start, "one\ntwo\n");
	driver_template(&start, 2, "cat; readlink /proc/self/fd/0");
	assert_prints(&start, "/dev/null\n");
	for (int i = 0; i < 12000; i++)
		strbuf_addf(&big, "%d.\n", 10000 + i);
	driver_template(&start, 3, "cat");
	start.stdin_text = big.buf;
	assert_prints(&start, big.buf);
	strbuf_release(&big);
}
END_TEST

START_TEST(workdir_and_umask_are_set)
{
	struct protocol_start start;
	char want[128];

	driver_template(&start, 1, "pwd; umask");
	start.workdir = driver.dir;
	start.umask = 027;
	snprintf(want, sizeof want, "%s\n0027\n", driver.dir);
	assert_prints(&start, want);
}
END_TEST

START_TEST(workdir_is_the_home_unless_given)
{
	struct passwd *pw = getpwuid(geteuid());
	struct protocol_start start;
	char want[512];

	if (pw == NULL || access(pw->pw_dir, X_OK) == -1)
		return;		/* missing_home_is_a_failure is for these */
	driver_template(&start, 1, "pwd");
	start.workdir = NULL;
	snprintf(want, sizeof want, "%s\n", pw->pw_dir);
	assert_prints(&start, want);
}
END_TEST

START_TEST(other_shell_is_used)
{
	struct protocol_start start;

	driver_template(&start, 1, "echo ${BASH_VERSION:+bash}; "
	    "tr '\\0' '\\n' </proc/$$/cmdline | head -2; true");
	start.shell = "/bin/bash";
	assert_prints(&start, "bash\n/bin/bash\n-c\n");
}
END_TEST

/* Who a job is; needs root, and Debian's user nobody. */

static const struct {
	const char	*user;		/* as in the job */
	const char	*group;		/* as in the job */
	const char	*want;		/* id -u, id -g, id -G, name, home */
} identities[] = {
	{ "nobody", NULL, "65534\n65534\n65534\nnobody nobody\n" },
	{ "65534", NULL, "65534\n65534\n65534\nnobody nobody\n" },
	{ "nobody", "daemon", "65534\n1\n1 65534\nnobody nobody\n" },
	{ "nobody", "1", "65534\n1\n1 65534\nnobody nobody\n" },
	{ "root", NULL, "0\n0\n0\nroot root\n" },
	{ "0", "0", "0\n0\n0\nroot root\n" },
};

START_TEST(job_is_the_user_and_groups_it_names)
{
	struct protocol_start start;

	if (!is_root())
		return;		/* only root can be somebody else */
	driver_template(&start, 1,
	    "id -u; id -g; id -G; echo $USER $LOGNAME");
	start.user = identities[_i].user;
	start.group = identities[_i].group;
	assert_prints(&start, identities[_i].want);
}
END_TEST

START_TEST(rights_do_not_come_back)
{
	struct protocol_start start;

	if (!is_root())
		return;		/* there are none */
	driver_template(&start, 1,
	    "grep -E '^(Uid|Gid|Cap(Prm|Eff|Inh|Amb))' /proc/self/status | "
	    "tr -d '\\t'");
	start.user = "nobody";
	assert_prints(&start, "Uid:65534655346553465534\n"
	    "Gid:65534655346553465534\nCapInh:0000000000000000\n"
	    "CapPrm:0000000000000000\nCapEff:0000000000000000\n"
	    "CapAmb:0000000000000000\n");
}
END_TEST

START_TEST(owner_is_the_user_unless_given)
{
	struct protocol_start start;

	if (!is_root())
		return;		/* only root can be somebody else */
	driver_template(&start, 1, "id -un");
	start.owner_uid = 65534;
	start.owner_name = "nobody";
	assert_prints(&start, "nobody\n");
}
END_TEST

/* Starts that fail. */

static char long_name[70000];

#define KEEP	(-2)		/* leave the template's owner */

static const struct {
	const char	*name;		/* of the row */
	const char	*user, *group, *workdir, *shell; /* NULL: leave it */
	const char	*owner_name;	/* of the START */
	int64_t		 owner_uid;	/* of the START */
	enum protocol_stage stage;	/* that must fail */
	int		 errnum;	/* that is reported */
	const char	*word;		/* in the sentence */
} failures[] = {
	{ "empty user", "", NULL, NULL, NULL, NULL, KEEP,
	    PROTOCOL_STAGE_USER, 0, "empty" },
	{ "0day", "0day", NULL, NULL, NULL, NULL, KEEP,
	    PROTOCOL_STAGE_USER, 0, "0day" },
	{ "0x0", "0x0", NULL, NULL, NULL, NULL, KEEP,
	    PROTOCOL_STAGE_USER, 0, "0x0" },
	{ "-1", "-1", NULL, NULL, NULL, NULL, KEEP,
	    PROTOCOL_STAGE_USER, 0, "-1" },
	{ "+0", "+0", NULL, NULL, NULL, NULL, KEEP,
	    PROTOCOL_STAGE_USER, 0, "+0" },
	{ "00", "00", NULL, NULL, NULL, NULL, KEEP,
	    PROTOCOL_STAGE_USER, 0, "00" },
	{ "4294967295", "4294967295", NULL, NULL, NULL, NULL, KEEP,
	    PROTOCOL_STAGE_USER, 0, "4294967295" },
	{ "4294967296", "4294967296", NULL, NULL, NULL, NULL, KEEP,
	    PROTOCOL_STAGE_USER, 0, "4294967296" },
	{ "2^64", "18446744073709551616", NULL, NULL, NULL, NULL, KEEP,
	    PROTOCOL_STAGE_USER, 0, "18446744073709551616" },
	{ "newline", "root\n", NULL, NULL, NULL, NULL, KEEP,
	    PROTOCOL_STAGE_USER, 0, "root" },
	{ "blank", " root", NULL, NULL, NULL, NULL, KEEP,
	    PROTOCOL_STAGE_USER, 0, "root" },
	{ "unknown user", "no-such-user", NULL, NULL, NULL, NULL, KEEP,
	    PROTOCOL_STAGE_USER, 0, "no-such-user" },
	{ "unknown number", "4242424", NULL, NULL, NULL, NULL, KEEP,
	    PROTOCOL_STAGE_USER, 0, "4242424" },
	{ "64 KB of name", long_name, NULL, NULL, NULL, NULL, KEEP,
	    PROTOCOL_STAGE_USER, 0, "longer" },
	{ "owner's name is gone", NULL, NULL, NULL, NULL, "no-such-user", 0,
	    PROTOCOL_STAGE_USER, 0, "no-such-user" },
	{ "owner's number changed", NULL, NULL, NULL, NULL, "root", 4242424,
	    PROTOCOL_STAGE_USER, 0, "4242424" },
	{ "owner -1", NULL, NULL, NULL, NULL, NULL, -1,
	    PROTOCOL_STAGE_USER, 0, "-1" },
	{ "owner 2^32 - 1", NULL, NULL, NULL, NULL, NULL, 4294967295,
	    PROTOCOL_STAGE_USER, 0, "4294967295" },
	{ "owner 2^32", NULL, NULL, NULL, NULL, NULL, 4294967296,
	    PROTOCOL_STAGE_USER, 0, "4294967296" },
	{ "owner without an account", NULL, NULL, NULL, NULL, NULL, 4242424,
	    PROTOCOL_STAGE_USER, 0, "4242424" },
	{ "empty group", NULL, "", NULL, NULL, NULL, KEEP,
	    PROTOCOL_STAGE_GROUP, 0, "empty" },
	{ "unknown group", NULL, "no-such-group", NULL, NULL, NULL, KEEP,
	    PROTOCOL_STAGE_GROUP, 0, "no-such-group" },
	{ "group -1", NULL, "-1", NULL, NULL, NULL, KEEP,
	    PROTOCOL_STAGE_GROUP, 0, "-1" },
	{ "group 2^32", NULL, "4294967296", NULL, NULL, NULL, KEEP,
	    PROTOCOL_STAGE_GROUP, 0, "4294967296" },
	{ "no workdir", NULL, NULL, "/no/such/place", NULL, NULL, KEEP,
	    PROTOCOL_STAGE_WORKDIR, ENOENT, "/no/such/place" },
	{ "workdir is a file", NULL, NULL, "/etc/passwd", NULL, NULL, KEEP,
	    PROTOCOL_STAGE_WORKDIR, ENOTDIR, "/etc/passwd" },
	{ "no shell", NULL, NULL, NULL, "/no/such/shell", NULL, KEEP,
	    PROTOCOL_STAGE_EXEC, ENOENT, "/no/such/shell" },
	{ "shell is no program", NULL, NULL, NULL, "/etc/passwd", NULL, KEEP,
	    PROTOCOL_STAGE_EXEC, EACCES, "/etc/passwd" },
	{ "shell is a directory", NULL, NULL, NULL, "/", NULL, KEEP,
	    PROTOCOL_STAGE_EXEC, EACCES, "shell" },
};

START_TEST(start_fails_at_its_stage_with_a_sentence)
{
	struct protocol_start start;
	struct protocol_ended ended;
	struct strbuf out = STRBUF_INIT;

	memset(long_name, 'x', sizeof long_name - 1);
	driver_template(&start, 1, "echo it ran");
	start.user = failures[_i].user;
	start.group = failures[_i].group;
	start.owner_name = failures[_i].owner_name;
	if (failures[_i].owner_uid != KEEP)
		start.owner_uid = failures[_i].owner_uid;
	if (failures[_i].workdir != NULL)
		start.workdir = failures[_i].workdir;
	if (failures[_i].shell != NULL)
		start.shell = failures[_i].shell;
	driver_run(&driver, &start, &ended);
	ck_assert_msg(ended.how == PROTOCOL_END_START_FAILED, "%s ran",
	    failures[_i].name);
	ck_assert_msg(ended.stage == failures[_i].stage,
	    "%s: stage %s, %s", failures[_i].name,
	    protocol_stage_name(ended.stage), ended.detail);
	ck_assert_int_eq(ended.errnum, failures[_i].errnum);
	ck_assert_ptr_nonnull(ended.detail);
	ck_assert_msg(strstr(ended.detail, failures[_i].word) != NULL, "%s",
	    ended.detail);
	ck_assert_int_eq(ended.started, 0);
	driver_output(&driver, 1, &out);
	ck_assert_str_eq(out.buf, "");
	strbuf_release(&out);
}
END_TEST

START_TEST(owner_other_than_root_gets_nobody_else)
{
	struct protocol_start start;
	struct protocol_ended ended;

	if (!is_root())
		return;		/* only root could */
	driver_template(&start, 1, "id -u");
	start.owner_uid = 65534;
	start.owner_name = "nobody";
	start.user = "root";
	driver_run(&driver, &start, &ended);
	ck_assert_int_eq(ended.how, PROTOCOL_END_START_FAILED);
	ck_assert_int_eq(ended.stage, PROTOCOL_STAGE_USER);
	start.tag.run_id = 2;
	start.user = NULL;
	start.group = "root";
	driver_run(&driver, &start, &ended);
	ck_assert_int_eq(ended.how, PROTOCOL_END_START_FAILED);
	ck_assert_int_eq(ended.stage, PROTOCOL_STAGE_GROUP);
}
END_TEST

START_TEST(workdir_is_entered_as_the_user)
{
	struct protocol_start start;
	struct protocol_ended ended;
	char path[128];

	if (!is_root())
		return;		/* only root can be somebody else */
	snprintf(path, sizeof path, "%s/output", driver.dir);	/* 0700 */
	driver_template(&start, 1, "pwd");
	start.user = "nobody";
	start.workdir = path;
	driver_run(&driver, &start, &ended);
	ck_assert_int_eq(ended.how, PROTOCOL_END_START_FAILED);
	ck_assert_int_eq(ended.stage, PROTOCOL_STAGE_WORKDIR);
	ck_assert_int_eq(ended.errnum, EACCES);
}
END_TEST

START_TEST(missing_home_is_a_failure)
{
	struct protocol_start start;
	struct protocol_ended ended;

	if (!is_root() || access("/nonexistent", F_OK) == 0)
		return;		/* Debian's nobody has no home */
	driver_template(&start, 1, "pwd");
	start.user = "nobody";
	start.workdir = NULL;
	driver_run(&driver, &start, &ended);
	ck_assert_int_eq(ended.how, PROTOCOL_END_START_FAILED);
	ck_assert_int_eq(ended.stage, PROTOCOL_STAGE_WORKDIR);
	ck_assert_ptr_nonnull(strstr(ended.detail, "/nonexistent"));
}
END_TEST

START_TEST(without_descriptors_a_start_fails_at_fork)
{
	/* The worker's own 12 and not enough for two pipes. */
	struct rlimit limit = { 14, 14 };
	struct protocol_start start;
	struct protocol_ended ended;

	driver_release(&driver);
	driver_init_limited(&driver, &limit);
	driver_send_hello(&driver, DRIVER_INSTANCE, DRIVER_EPOCH);
	driver_expect(&driver, PROTOCOL_WELCOME);
	driver_template(&start, 1, "true");
	driver_run(&driver, &start, &ended);
	ck_assert_int_eq(ended.how, PROTOCOL_END_START_FAILED);
	ck_assert_int_eq(ended.stage, PROTOCOL_STAGE_FORK);
	ck_assert_int_eq(ended.errnum, EMFILE);
	ck_assert_int_eq(ended.pid, 0);
	ck_assert_int_gt(ended.ended, 0);
}
END_TEST

/* A mounted file system whose server never answers; -1: not possible. */
static int
mount_hang(const char *path)
{
	char options[128];
	int fd;

	if (!is_root() || (fd = open("/dev/fuse", O_RDWR | O_CLOEXEC)) == -1)
		return -1;
	snprintf(options, sizeof options,
	    "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if (mkdir(path, 0755) == -1 ||
	    mount("hang", path, "fuse", 0, options) == -1) {
		close(fd);
		return -1;
	}
	return fd;
}

START_TEST(hanging_stage_ends_at_start_timeout)
{
	struct protocol_start start;
	struct protocol_ended ended;
	char path[128];
	int fuse;

	snprintf(path, sizeof path, "%s/hang", driver.dir);
	if ((fuse = mount_hang(path)) == -1)
		return;		/* nothing here can be made to hang */
	driver_template(&start, 1, "echo it ran");
	start.workdir = path;
	start.start_timeout = 300 * USEC_PER_MSEC;
	driver_send_start(&driver, &start);
	/* It delays nobody else. */
	driver_template(&start, 2, "true");
	driver_run(&driver, &start, &ended);
	ck_assert_int_eq(ended.code, 0);
	driver_wait_ended(&driver, &ended);
	ck_assert_int_eq(umount2(path, MNT_DETACH), 0);
	close(fuse);
	ck_assert_uint_eq(ended.tag.run_id, 1);
	ck_assert_int_eq(ended.how, PROTOCOL_END_START_FAILED);
	ck_assert_int_eq(ended.stage, PROTOCOL_STAGE_WORKDIR);
	ck_assert_int_eq(ended.errnum, ETIMEDOUT);
	ck_assert_ptr_nonnull(strstr(ended.detail, "workdir"));
	ck_assert_int_eq(ended.started, 0);
}
END_TEST

#define ROWS(table)	((int)(sizeof (table) / sizeof *(table)))

Suite *
spawn_suite(void)
{
	Suite *suite = suite_create("spawn");
	TCase *tc = tcase_create("spawn");

	tcase_set_timeout(tc, TEST_TIMEOUT_S);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, descriptors_are_0_1_2);
	tcase_add_test(tc, no_signal_is_blocked_or_ignored);
	tcase_add_test(tc, job_leads_its_own_session_without_terminal);
	tcase_add_test(tc, limit_of_descriptors_is_the_one_before_the_worker);
	tcase_add_test(tc, environment_is_exactly_the_documented_one);
	tcase_add_test(tc, later_environment_wins_and_no_name_comes_twice);
	tcase_add_test(tc, command_arrives_byte_for_byte);
	tcase_add_test(tc, standard_input_is_the_text);
	tcase_add_test(tc, workdir_and_umask_are_set);
	tcase_add_test(tc, workdir_is_the_home_unless_given);
	tcase_add_test(tc, other_shell_is_used);
	tcase_add_loop_test(tc, job_is_the_user_and_groups_it_names, 0,
	    ROWS(identities));
	tcase_add_test(tc, rights_do_not_come_back);
	tcase_add_test(tc, owner_is_the_user_unless_given);
	tcase_add_loop_test(tc, start_fails_at_its_stage_with_a_sentence, 0,
	    ROWS(failures));
	tcase_add_test(tc, owner_other_than_root_gets_nobody_else);
	tcase_add_test(tc, workdir_is_entered_as_the_user);
	tcase_add_test(tc, missing_home_is_a_failure);
	tcase_add_test(tc, without_descriptors_a_start_fails_at_fork);
	tcase_add_test(tc, hanging_stage_ends_at_start_timeout);
	suite_add_tcase(suite, tc);
	return suite;
}

int
main(void)
{
	return check_main(spawn_suite());
}
