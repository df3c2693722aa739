/* SPDX-License-Identifier: ISC */
/*
 * Orphans with real processes: children of ours, and of others.  What the
 * callbacks hear is kept as lines: "found RUN", "ended RUN HOW CODE STOPPER".
 */
#include "config.h"

#include "daemon/orphans.h"

#include <check.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/process.h"
#include "common/strbuf.h"
#include "common/timestamp.h"
#include "tests/check_main.h"

#define NEVER		INT64_MAX
#define WAIT_US		(20 * USEC_PER_SEC)	/* for anything */
#define STEP_US		5000			/* between two looks */
#define GRACE_US	(200 * USEC_PER_MSEC)

struct fixture {
	struct event_base *base;
	struct event	*step;		/* keeps the loop turning */
	struct orphans	*o;
	struct strbuf	 heard;		/* lines of the callbacks */
	struct protocol_ended end;	/* the last one */
	pid_t		 worker;	/* a child that counts as one; 0 */
	int		 program_fd;	/* our own program */
};

static struct fixture f;

/* --- callbacks --- */

static void
reap(void *arg)
{
	struct process_stat st;
	struct rusage usage;
	siginfo_t info;
	int status;

	(void)arg;
	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) !=
		    0 || info.si_pid == 0)
			return;
		ck_assert_int_eq(process_read(info.si_pid, &st), 0);
		ck_assert_int_eq(wait4(info.si_pid, &status, 0, &usage),
		    info.si_pid);
		orphans_child_ended(f.o, info.si_pid, st.starttime, status,
		    &usage);
	}
}

static bool
is_worker(void *arg, pid_t pid)
{
	(void)arg;
	return pid == f.worker;
}

static void
found(void *arg, const struct protocol_started *started)
{
	(void)arg;
	strbuf_addf(&f.heard, "found %d\n", (int)started->run_id);
	ck_assert_int_gt(started->pid, 0);
	ck_assert_uint_gt(started->starttime, 0);
}

static void
ended(void *arg, const struct protocol_ended *end)
{
	static const char *const hows[] = {
		[PROTOCOL_END_EXITED] = "exited",
		[PROTOCOL_END_SIGNALED] = "signaled",
		[PROTOCOL_END_LOST] = "lost",
	};

	(void)arg;
	f.end = *end;
	strbuf_addf(&f.heard, "ended %d %s %d %d\n", (int)end->tag.run_id,
	    hows[end->how], end->how == PROTOCOL_END_SIGNALED ? end->signal :
	    end->code, (int)end->stopper);
	ck_assert_int_gt(end->ended, 0);
}

/* --- fixture --- */

static void
on_step(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

static void
setup(void)
{
	const struct timeval step = { 0, STEP_US };
	struct orphans_options options = {
		.reap = reap, .is_worker = is_worker, .found = found,
		.ended = ended,
	};

	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	strbuf_init(&f.heard);
	f.base = event_base_new();
	f.step = event_new(f.base, -1, EV_PERSIST, on_step, NULL);
	ck_assert_int_eq(event_add(f.step, &step), 0);
	f.program_fd = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	ck_assert_int_ne(f.program_fd, -1);
	options.base = f.base;
	options.program_fd = f.program_fd;
	f.o = orphans_new(&options);
}

static void
teardown(void)
{
	orphans_free(f.o);
	event_free(f.step);
	event_base_free(f.base);
	strbuf_release(&f.heard);
	close(f.program_fd);
}

static void
turn(void)
{
	ck_assert_int_eq(event_base_loop(f.base, EVLOOP_ONCE), 0);
}

/* Until all is told; these lines must have been heard. */
static void
expect(const char *lines)
{
	const int64_t until = monotime_now().us + WAIT_US;

	while (orphans_count(f.o) > 0) {
		ck_assert_msg(monotime_now().us < until, "heard only: %s",
		    f.heard.buf);
		turn();
	}
	ck_assert_str_eq(f.heard.buf, lines);
	strbuf_reset(&f.heard);
}

/* --- processes --- */

enum role {
	WAITS,			/* for ever */
	EXITS_ON_TERM,		/* with 3 */
	IGNORES_TERM,
	LEAVES_MEMBER,		/* exits on TERM; a member ignores it */
};

static void
exit_3(int signum)
{
	(void)signum;
	_exit(3);
}

static _Noreturn void
play(enum role role, int ready)
{
	setsid();
	if (role == EXITS_ON_TERM)
		signal(SIGTERM, exit_3);
	else if (role == IGNORES_TERM)
		signal(SIGTERM, SIG_IGN);
	else if (role == LEAVES_MEMBER && fork() != 0)
		signal(SIGTERM, exit_3);
	else if (role == LEAVES_MEMBER)
		signal(SIGTERM, SIG_IGN);
	if (write(ready, "", 1) != 1)
		_exit(99);
	close(ready);
	for (;;)
		pause();
}

/* Plays the role when it returns; of LEAVES_MEMBER both do. */
static pid_t
fork_role(enum role role)
{
	int fds[2], wanted = role == LEAVES_MEMBER ? 2 : 1;
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	ck_assert_int_ne(pid, -1);
	if (pid == 0)
		play(role, fds[1]);
	while (wanted-- > 0)
		ck_assert_int_eq(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	close(fds[1]);
	return pid;
}

/*
 * The child of a child of ours, which (waits) waits for it, or does nothing
 * any more; *parent is killed by the test.
 */
static pid_t
fork_grandchild(enum role role, bool waits, pid_t *parent)
{
	int fds[2];
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	*parent = fork();
	ck_assert_int_ne(*parent, -1);
	if (*parent == 0) {
		setsid();
		pid = fork_role(role);
		if (write(fds[1], &pid, sizeof pid) != sizeof pid)
			_exit(99);
		if (waits)
			waitpid(pid, NULL, 0);
		for (;;)
			pause();
	}
	ck_assert_int_eq(read(fds[0], &pid, sizeof pid), sizeof pid);
	close(fds[0]);
	close(fds[1]);
	return pid;
}

static struct orphans_run
run_of(pid_t pid)
{
	struct orphans_run run = {
		.run_id = 1,
		.pid = pid,
		.stop_at = NEVER,
		.stop_grace = GRACE_US,
		.stop_signal = SIGTERM,
	};
	struct process_stat st;

	if (pid != 0) {
		ck_assert_int_eq(process_read(pid, &st), 0);
		run.starttime = st.starttime;
	}
	return run;
}

static void
take(pid_t pid)
{
	const struct orphans_run run = run_of(pid);

	ck_assert(orphans_take(f.o, &run));
}

/* --- ends --- */

START_TEST(status_of_a_child)
{
	const pid_t pid = fork_role(EXITS_ON_TERM);

	take(pid);
	turn();
	ck_assert_uint_eq(orphans_count(f.o), 1);
	ck_assert_int_eq(kill(pid, SIGTERM), 0);
	expect("ended 1 exited 3 0\n");
	ck_assert_int_gt(f.end.max_rss_kb, 0);
	ck_assert_int_eq(f.end.pid, pid);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}
END_TEST

START_TEST(signal_of_a_child)
{
	const pid_t pid = fork_role(WAITS);

	take(pid);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	expect("ended 1 signaled 9 0\n");
}
END_TEST

/* SIGCHLD came before the death of the worker was noticed. */
START_TEST(status_that_came_first_is_kept)
{
	const pid_t pid = fork_role(EXITS_ON_TERM);
	const struct orphans_run run = run_of(pid);
	siginfo_t info;

	ck_assert_int_eq(kill(pid, SIGTERM), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT),
	    0);
	reap(NULL);
	ck_assert(orphans_take(f.o, &run));
	ck_assert_str_eq(f.heard.buf, "");
	expect("ended 1 exited 3 0\n");
	/* Once. */
	ck_assert(!orphans_take(f.o, &run));
}
END_TEST

/* As many as can be kept, the oldest of these too. */
START_TEST(kept_statuses_are_bounded)
{
	const struct rusage usage = { .ru_maxrss = 1 };
	struct orphans_run run = run_of(0);

	for (int i = 0; i <= ORPHANS_KEPT; i++)
		orphans_child_ended(f.o, 1000000000 + i, 5, 7 << 8, &usage);
	run.starttime = 5;
	run.pid = 1000000000;
	ck_assert(!orphans_take(f.o, &run));
	run.pid = 1000000001;
	ck_assert(orphans_take(f.o, &run));
	run.run_id = 2;
	run.pid = 1000000000 + ORPHANS_KEPT;
	ck_assert(orphans_take(f.o, &run));
	expect("ended 1 exited 7 0\nended 2 exited 7 0\n");
}
END_TEST

START_TEST(number_of_another_is_not_taken)
{
	const pid_t pid = fork_role(WAITS);
	struct orphans_run run = run_of(pid);

	run.starttime++;
	ck_assert(!orphans_take(f.o, &run));
	ck_assert_uint_eq(orphans_count(f.o), 0);
	kill(pid, SIGKILL);
}
END_TEST

/* A worker is killed: its child comes to us, with its status. */
START_TEST(child_of_a_dead_worker)
{
	pid_t worker, pid = fork_grandchild(EXITS_ON_TERM, false, &worker);

	ck_assert_int_eq(kill(worker, SIGKILL), 0);
	take(pid);
	turn();
	ck_assert_int_eq(kill(pid, SIGTERM), 0);
	expect("ended 1 exited 3 0\n");
}
END_TEST

/* It was dead when its worker died, and nobody had asked. */
START_TEST(zombie_of_a_dead_worker)
{
	pid_t worker, pid = fork_grandchild(EXITS_ON_TERM, false, &worker);

	ck_assert_int_eq(kill(pid, SIGTERM), 0);
	take(pid);
	turn();
	ck_assert_int_eq(kill(worker, SIGKILL), 0);
	expect("ended 1 exited 3 0\n");
}
END_TEST

START_TEST(end_of_a_stranger_is_lost)
{
	pid_t parent, pid = fork_grandchild(WAITS, true, &parent);

	take(pid);
	for (int i = 0; i < 10; i++)
		turn();
	ck_assert_uint_eq(orphans_count(f.o), 1);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	expect("ended 1 lost 0 0\n");
	ck_assert_ptr_nonnull(f.end.detail);
	kill(parent, SIGKILL);
}
END_TEST

START_TEST(zombie_of_a_stranger_is_lost)
{
	pid_t parent, pid = fork_grandchild(WAITS, false, &parent);

	take(pid);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	expect("ended 1 lost 0 0\n");
	kill(parent, SIGKILL);
}
END_TEST

/* --- the ladder --- */

START_TEST(stop_sends_the_signal)
{
	take(fork_role(EXITS_ON_TERM));
	ck_assert(orphans_stop(f.o, 1));
	ck_assert(!orphans_stop(f.o, 2));
	expect("ended 1 exited 3 2\n");
}
END_TEST

START_TEST(stop_kills_after_grace)
{
	const int64_t begun = monotime_now().us;

	take(fork_role(IGNORES_TERM));
	ck_assert(orphans_stop(f.o, 1));
	expect("ended 1 signaled 9 2\n");
	ck_assert_int_ge(monotime_now().us - begun, GRACE_US);
}
END_TEST

START_TEST(stop_waits_for_the_group)
{
	const pid_t pid = fork_role(LEAVES_MEMBER);
	const int64_t begun = monotime_now().us;

	take(pid);
	ck_assert(orphans_stop(f.o, 1));
	expect("ended 1 exited 3 2\n");
	ck_assert_int_ge(monotime_now().us - begun, GRACE_US);
	ck_assert_int_eq(kill(-pid, 0), -1);
}
END_TEST

START_TEST(stop_of_a_stranger)
{
	pid_t parent, pid = fork_grandchild(IGNORES_TERM, true, &parent);

	take(pid);
	ck_assert(orphans_stop(f.o, 1));
	expect("ended 1 lost 0 2\n");
	kill(parent, SIGKILL);
}
END_TEST

START_TEST(timeout_begins_the_ladder)
{
	struct orphans_run run = run_of(fork_role(EXITS_ON_TERM));

	run.stop_at = monotime_now().us + 50 * USEC_PER_MSEC;
	ck_assert(orphans_take(f.o, &run));
	expect("ended 1 exited 3 1\n");
}
END_TEST

/* The worker died in the middle of it. */
START_TEST(ladder_is_gone_on_with)
{
	struct orphans_run run = run_of(fork_role(IGNORES_TERM));

	run.stopping = true;
	ck_assert(orphans_take(f.o, &run));
	expect("ended 1 signaled 9 2\n");
}
END_TEST

START_TEST(signal_is_no_stop)
{
	take(fork_role(WAITS));
	ck_assert(orphans_signal(f.o, 1, SIGUSR1));
	ck_assert(!orphans_signal(f.o, 2, SIGUSR1));
	expect("ended 1 signaled 10 0\n");
}
END_TEST

/* --- seeking --- */

static pid_t
fork_job(uint64_t run_id)
{
	char number[40];
	char sh[] = "sh", c[] = "-c", command[] = "while :; do sleep 1; done";
	char *argv[] = { sh, c, command, NULL };
	char *envp[] = { number, NULL };
	pid_t pid;

	snprintf(number, sizeof number, "CRONCTL_RUN_ID=%d", (int)run_id);
	pid = fork();
	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		setsid();
		execve("/bin/sh", argv, envp);
		_exit(99);
	}
	return pid;
}

static void
until_heard(const char *lines)
{
	const int64_t until = monotime_now().us + WAIT_US;

	while (f.heard.len == 0 && monotime_now().us < until)
		turn();
	ck_assert_str_eq(f.heard.buf, lines);
	strbuf_reset(&f.heard);
}

START_TEST(found_by_its_environment)
{
	pid_t other = fork_job(2), pid = fork_job(1);

	take(0);
	until_heard("found 1\n");
	ck_assert_int_eq(kill(-pid, SIGTERM), 0);
	expect("ended 1 signaled 15 0\n");
	ck_assert_int_eq(f.end.pid, pid);
	ck_assert_int_eq(kill(-other, SIGKILL), 0);
}
END_TEST

START_TEST(stopped_when_it_is_found)
{
	take(0);
	ck_assert(orphans_stop(f.o, 1));
	(void)fork_job(1);
	expect("found 1\nended 1 signaled 15 2\n");
}
END_TEST

START_TEST(not_found_is_lost)
{
	const int64_t begun = monotime_now().us;

	f.worker = fork_role(WAITS);
	take(0);
	expect("ended 1 lost 0 0\n");
	/* A worker is nothing to wait for. */
	ck_assert_int_lt(monotime_now().us - begun, ORPHANS_SEEK_US);
	kill(f.worker, SIGKILL);
}
END_TEST

/* A start that hangs ends before anything else may start. */
START_TEST(preparation_that_hangs_is_ended)
{
	const int64_t begun = monotime_now().us;
	const pid_t pid = fork_role(IGNORES_TERM);

	take(0);
	expect("ended 1 lost 0 0\n");
	ck_assert_int_ge(monotime_now().us - begun, ORPHANS_SEEK_US);
	while (kill(pid, 0) == 0) {
		ck_assert_int_lt(monotime_now().us - begun, WAIT_US);
		reap(NULL);
	}
}
END_TEST

static Suite *
orphans_suite(void)
{
	Suite *s = suite_create("orphans");
	TCase *tc = tcase_create("orphans");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, status_of_a_child);
	tcase_add_test(tc, signal_of_a_child);
	tcase_add_test(tc, status_that_came_first_is_kept);
	tcase_add_test(tc, kept_statuses_are_bounded);
	tcase_add_test(tc, number_of_another_is_not_taken);
	tcase_add_test(tc, child_of_a_dead_worker);
	tcase_add_test(tc, zombie_of_a_dead_worker);
	tcase_add_test(tc, end_of_a_stranger_is_lost);
	tcase_add_test(tc, zombie_of_a_stranger_is_lost);
	tcase_add_test(tc, stop_sends_the_signal);
	tcase_add_test(tc, stop_kills_after_grace);
	tcase_add_test(tc, stop_waits_for_the_group);
	tcase_add_test(tc, stop_of_a_stranger);
	tcase_add_test(tc, timeout_begins_the_ladder);
	tcase_add_test(tc, ladder_is_gone_on_with);
	tcase_add_test(tc, signal_is_no_stop);
	tcase_add_test(tc, found_by_its_environment);
	tcase_add_test(tc, stopped_when_it_is_found);
	tcase_add_test(tc, not_found_is_lost);
	tcase_add_test(tc, preparation_that_hangs_is_ended);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return check_main(orphans_suite());
}
