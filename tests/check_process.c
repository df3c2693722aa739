/* SPDX-License-Identifier: ISC */
/* What /proc tells of a process (proc(5)). */
#include "config.h"

#include "common/process.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check_main.h"

/* A child that is a session of its own and waits to be killed. */
static pid_t
fork_child(const char *name, char *const envp[])
{
	char sh[] = "sh", c[] = "-c", command[] = "read line";
	char *argv[] = { sh, c, command, NULL };
	int fds[2];
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		setsid();
		dup2(fds[0], 0);
		if (name != NULL)
			prctl(PR_SET_NAME, name);
		if (envp != NULL)
			execve("/bin/sh", argv, envp);
		close(fds[1]);
		pause();
		_exit(1);
	}
	close(fds[0]);
	return pid;
}

static void
end_child(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

START_TEST(stat_of_myself)
{
	struct process_stat st;

	ck_assert_int_eq(process_read(getpid(), &st), 0);
	ck_assert_int_eq(st.ppid, getppid());
	ck_assert_int_eq(st.pgrp, getpgrp());
	ck_assert_int_eq(st.session, getsid(0));
	ck_assert_uint_gt(st.starttime, 0);
	ck_assert(!st.dead);
}
END_TEST

/* The name of a program is not parsed as fields. */
START_TEST(name_with_brackets)
{
	const pid_t pid = fork_child(") Z 1 (", NULL);
	struct process_stat st;
	int tries = 0;

	do {
		ck_assert_int_eq(process_read(pid, &st), 0);
		usleep(1000);
	} while (st.session != pid && ++tries < 5000);
	ck_assert_int_eq(st.ppid, getpid());
	ck_assert_int_eq(st.pgrp, pid);
	ck_assert(!st.dead);
	end_child(pid);
}
END_TEST

START_TEST(zombie_is_dead)
{
	const pid_t pid = fork_child(NULL, NULL);
	struct process_stat st;
	siginfo_t info;

	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT),
	    0);
	ck_assert_int_eq(process_read(pid, &st), 0);
	ck_assert(st.dead);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(process_read(pid, &st), -1);
}
END_TEST

static const struct {
	const char	*entries[3];
	uint64_t	 want;
} environments[] = {
	{ { "CRONCTL_RUN_ID=12345678901234567", "A=b" }, 12345678901234567 },
	{ { "A=b", "CRONCTL_RUN_ID=7" }, 7 },
	{ { "XCRONCTL_RUN_ID=7", "A=CRONCTL_RUN_ID=8" }, 0 },
	{ { "A=b" }, 0 },
};

START_TEST(run_id_of_an_environment)
{
	char *envp[3] = { NULL };
	uint64_t got;
	int tries = 0;
	pid_t pid;

	for (int i = 0; i < 3; i++)
		envp[i] = (char *)(uintptr_t)environments[_i].entries[i];
	pid = fork_child(NULL, envp);
	/* Until exec has happened it is our environment. */
	while ((got = process_run_id(pid)) != environments[_i].want &&
	    ++tries < 5000)
		usleep(1000);
	ck_assert_uint_eq(got, environments[_i].want);
	end_child(pid);
	ck_assert_uint_eq(process_run_id(pid), 0);
}
END_TEST

static Suite *
process_suite(void)
{
	Suite *s = suite_create("process");
	TCase *tc = tcase_create("process");

	tcase_add_test(tc, stat_of_myself);
	tcase_add_test(tc, name_with_brackets);
	tcase_add_test(tc, zombie_is_dead);
	tcase_add_loop_test(tc, run_id_of_an_environment, 0,
	    (int)(sizeof environments / sizeof environments[0]));
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return check_main(process_suite());
}
