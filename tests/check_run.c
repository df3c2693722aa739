/* SPDX-License-Identifier: ISC */
/*
 * How runs end, by themselves and by the stop ladder, through the real
 * worker program.  Statuses are those of sh(1) and wait(2); what is kept of
 * output follows spec.md 3, output_limit.
 */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/outputfile.h"
#include "common/timestamp.h"
#include "tests/check_main.h"
#include "tests/support/worker_driver.h"

Suite	*run_suite(void);

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

static const struct {
	const char	*command;	/* for sh -c */
	int		 code;		/* its exit status */
} exits[] = {
	{ "exit 0", 0 }, { "exit 1", 1 }, { "exit 3", 3 },
	{ "exit 255", 255 }, { "exit 139", 139 }, { "no-such-command", 127 },
	{ "exec >&-; exec 2>&-; sleep 0.2; exit 3", 3 },
	{ "sh -c 'kill -SEGV $$'; exit 11", 11 },
};

START_TEST(exit_code_is_reported)
{
	struct protocol_start start;
	struct protocol_ended ended;

	driver_template(&start, 1, exits[_i].command);
	driver_run(&driver, &start, &ended);
	ck_assert_int_eq(ended.how, PROTOCOL_END_EXITED);
	ck_assert_int_eq(ended.code, exits[_i].code);
	ck_assert_int_eq(ended.stopper, PROTOCOL_STOPPER_NONE);
	ck_assert_int_gt(ended.pid, 0);
	ck_assert_int_ge(ended.ended, ended.started);
	ck_assert_int_gt(ended.started, 0);
	ck_assert_int_gt(ended.max_rss_kb, 0);
}
END_TEST

static const int signals[] = { SIGSEGV, SIGKILL, SIGTERM, SIGHUP, SIGPIPE,
    SIGINT, SIGUSR1 };

START_TEST(death_by_signal_is_reported)
{
	struct protocol_start start;
	struct protocol_ended ended;
	char command[64];

	snprintf(command, sizeof command, "ulimit -c 0; kill -%d $$",
	    signals[_i]);
	driver_template(&start, 1, command);
	driver_run(&driver, &start, &ended);
	ck_assert_int_eq(ended.how, PROTOCOL_END_SIGNALED);
	ck_assert_int_eq(ended.signal, signals[_i]);
	ck_assert(!ended.core);
	ck_assert_int_eq(ended.code, 0);
}
END_TEST

/* Whether the kernel writes "core" into the work directory (core(5)). */
static bool
cores_go_to_files(void)
{
	char pattern[128] = "";
	struct rlimit limit;
	FILE *f = fopen("/proc/sys/kernel/core_pattern", "re");

	if (f != NULL) {
		if (fgets(pattern, sizeof pattern, f) == NULL)
			pattern[0] = '|';
		fclose(f);
	}
	return pattern[0] != '|' && pattern[0] != '\0' &&
	    strchr(pattern, '/') == NULL &&
	    getrlimit(RLIMIT_CORE, &limit) == 0 &&
	    limit.rlim_max == RLIM_INFINITY;
}

START_TEST(core_is_reported)
{
	struct protocol_start start;
	struct protocol_ended ended;

	if (!cores_go_to_files())
		return;		/* nothing to see on this machine */
	driver_template(&start, 1, "ulimit -c unlimited; kill -SEGV $$");
	start.workdir = driver.dir;
	driver_run(&driver, &start, &ended);
	ck_assert_int_eq(ended.signal, SIGSEGV);
	ck_assert(ended.core);
}
END_TEST

START_TEST(started_comes_before_ended_and_names_the_process)
{
	struct protocol_started started;
	struct protocol_start start;
	struct protocol_ended ended;
	struct strbuf out = STRBUF_INIT;

	driver_template(&start, 1, "echo $$");
	driver_send_start(&driver, &start);
	driver_wait_started(&driver, &started);
	driver_wait_ended(&driver, &ended);
	ck_assert_int_eq(started.pid, ended.pid);
	ck_assert_uint_eq(started.starttime, ended.starttime);
	ck_assert_uint_gt(started.starttime, 0);
	ck_assert_int_eq(started.started, ended.started);
	driver_output(&driver, 1, &out);
	ck_assert_int_eq(atoi(out.buf), started.pid);
	strbuf_release(&out);
}
END_TEST

START_TEST(processor_time_is_measured)
{
	struct protocol_start start;
	struct protocol_ended ended;

	driver_template(&start, 1,
	    "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done");
	driver_run(&driver, &start, &ended);
	ck_assert_int_gt(ended.user_us + ended.system_us, 1000);
	ck_assert_int_ge(ended.duration, 1000);
}
END_TEST

#define MANY 200

START_TEST(two_hundred_quick_runs_keep_their_own_statuses)
{
	bool seen[MANY + 1] = { false };
	struct protocol_start start;
	struct protocol_ended ended;

	for (uint64_t id = 1; id <= MANY; id++) {
		driver_template(&start, id, id % 2 == 0 ? "true" : "false");
		driver_send_start(&driver, &start);
	}
	for (int i = 0; i < MANY; i++) {
		driver_wait_ended(&driver, &ended);
		ck_assert_int_eq(ended.how, PROTOCOL_END_EXITED);
		ck_assert_int_eq(ended.code, ended.tag.run_id % 2 != 0);
		ck_assert(!seen[ended.tag.run_id]);
		seen[ended.tag.run_id] = true;
		driver_send_numbers(&driver, PROTOCOL_ACK, ended.tag.run_id,
		    0);
	}
	driver_wait_childless(&driver);
}
END_TEST

START_TEST(adopted_processes_leave_no_zombies)
{
	struct protocol_started started;
	struct protocol_start start;
	struct protocol_ended ended;

	driver_template(&start, 1,
	    "for i in 1 2 3 4 5; do (sleep 0.0$i &); done");
	driver_run(&driver, &start, &ended);
	driver_wait_childless(&driver);
	/* Also while a ladder keeps a zombie of its own. */
	driver_template(&start, 2, "(trap '' TERM; exec sleep 1) & "
	    "trap 'exit 0' TERM; echo >ready; while :; do sleep 0.02; done");
	start.workdir = driver.dir;
	driver_send_start(&driver, &start);
	driver_wait_started(&driver, &started);
	driver_send_numbers(&driver, PROTOCOL_STOP, 2, 0);
	driver_template(&start, 3, "(sleep 0.05 &); exit 3");
	driver_send_start(&driver, &start);
	driver_wait_ended(&driver, &ended);
	driver_wait_ended(&driver, &ended);
	driver_wait_childless(&driver);
}
END_TEST

/* The ladder. */

static void
run_with_timeout(const char *command, struct protocol_ended *ended)
{
	struct protocol_start start;

	driver_template(&start, 1, command);
	start.workdir = driver.dir;
	start.env[start.env_count++] = "CRONCTL_RUN_ID=1";
	start.timeout = 300 * USEC_PER_MSEC;
	start.stop_grace = 300 * USEC_PER_MSEC;
	driver_run(&driver, &start, ended);
	ck_assert_int_eq(ended->stopper, PROTOCOL_STOPPER_TIMEOUT);
	ck_assert_int_ge(ended->duration, 300 * USEC_PER_MSEC);
}

START_TEST(timeout_ends_a_job_that_listens)
{
	struct protocol_ended ended;
	struct strbuf out = STRBUF_INIT;

	run_with_timeout("trap 'echo bye; exit 7' TERM; "
	    "while :; do sleep 0.02; done", &ended);
	ck_assert_int_eq(ended.how, PROTOCOL_END_EXITED);
	ck_assert_int_eq(ended.code, 7);
	driver_output(&driver, 1, &out);
	ck_assert_ptr_nonnull(strstr(out.buf, "bye\n"));
	strbuf_release(&out);
}
END_TEST

START_TEST(timeout_kills_a_job_that_ignores_the_signal)
{
	struct protocol_ended ended;

	run_with_timeout("trap '' TERM; while :; do sleep 0.02; done",
	    &ended);
	ck_assert_int_eq(ended.how, PROTOCOL_END_SIGNALED);
	ck_assert_int_eq(ended.signal, SIGKILL);
	/* timeout, grace, and a second at most (reliability.md, P3) */
	ck_assert_int_ge(ended.duration, 600 * USEC_PER_MSEC);
	ck_assert_int_lt(ended.duration, 1600 * USEC_PER_MSEC);
}
END_TEST

START_TEST(timeout_ends_a_suspended_job)
{
	struct protocol_ended ended;

	run_with_timeout("kill -STOP $$; exit 0", &ended);
	ck_assert_int_eq(ended.how, PROTOCOL_END_SIGNALED);
	ck_assert_int_eq(ended.signal, SIGTERM);
}
END_TEST

static pid_t
pid_in(const char *name)
{
	struct strbuf text = STRBUF_INIT;
	pid_t pid;

	driver_wait_file(&driver, name, &text);
	pid = atoi(text.buf);
	ck_assert_int_gt(pid, 1);
	strbuf_release(&text);
	return pid;
}

/* Each leaves a process whose number is in the file "pid". */
static const struct {
	const char	*name;		/* what it does */
	const char	*command;	/* for sh -c */
} stragglers[] = {
	{ "child of the group",
	    "sh -c 'echo $$ >pid; exec sleep 30' & wait" },
	{ "own session, parent alive",
	    "setsid sh -c 'echo $$ >pid; exec sleep 30' & sleep 30" },
	{ "own session, parent gone",
	    "(setsid sh -c 'echo $$ >pid; exec sleep 30' &); sleep 30" },
	{ "own session, ignores TERM, main process goes first",
	    "(setsid sh -c 'trap \"\" TERM; echo $$ >pid; sleep 30; :' &); "
	    "sleep 30" },
	{ "group member ignores TERM, main process goes first",
	    "(trap '' TERM; sh -c 'echo $$ >pid; sleep 30; :') & sleep 30" },
	{ "own session, no environment, parent alive",
	    "env -i setsid sh -c 'echo $$ >pid; exec sleep 30' & sleep 30" },
};

START_TEST(nothing_is_left_when_a_stopped_run_has_ended)
{
	struct protocol_ended ended;

	run_with_timeout(stragglers[_i].command, &ended);
	ck_assert_msg(!driver_is_alive(pid_in("pid")), "%s",
	    stragglers[_i].name);
	ck_assert_int_lt(ended.duration, 1600 * USEC_PER_MSEC);
}
END_TEST

START_TEST(background_process_does_not_prolong_a_run)
{
	struct strbuf out = STRBUF_INIT;
	struct protocol_start start;
	struct protocol_ended ended;
	pid_t pid;

	driver_template(&start, 1,
	    "(sh -c 'echo $$ >pid; exec sleep 20' &); echo done");
	start.workdir = driver.dir;
	driver_run(&driver, &start, &ended);
	ck_assert_int_eq(ended.code, 0);
	ck_assert_int_lt(ended.duration, 5 * USEC_PER_SEC);
	driver_output(&driver, 1, &out);
	ck_assert_str_eq(out.buf, "done\n");
	pid = pid_in("pid");
	ck_assert(driver_is_alive(pid));
	kill(pid, SIGKILL);
	/* The worker reaps what it adopted. */
	driver_wait_gone(pid);
	strbuf_release(&out);
}
END_TEST

START_TEST(background_process_gets_no_sigpipe)
{
	struct strbuf text = STRBUF_INIT;
	struct protocol_start start;
	struct protocol_ended ended;

	driver_template(&start, 1, "(while [ ! -e go ]; do sleep 0.02; done; "
	    "echo late && echo fine >result) & echo done");
	start.workdir = driver.dir;
	driver_run(&driver, &start, &ended);
	close(openat(driver.output, "../go", O_WRONLY | O_CREAT | O_CLOEXEC,
	    0600));
	driver_wait_file(&driver, "result", &text);
	ck_assert_str_eq(text.buf, "fine\n");
	strbuf_reset(&text);
	driver_output(&driver, 1, &text);
	ck_assert_str_eq(text.buf, "done\n");
	strbuf_release(&text);
}
END_TEST

START_TEST(stop_frame_walks_the_ladder)
{
	struct protocol_started started;
	struct protocol_start start;
	struct protocol_ended ended;
	struct frame frame;
	uint64_t id, zero;

	driver_template(&start, 1, "sleep 30");
	driver_send_start(&driver, &start);
	driver_wait_started(&driver, &started);
	driver_send_numbers(&driver, PROTOCOL_STOP, 1, 0);
	frame = driver_expect(&driver, PROTOCOL_STOPPING);
	ck_assert_int_eq(protocol_decode_numbers(&frame, &id, &zero, NULL),
	    0);
	ck_assert_uint_eq(id, 1);
	driver_wait_ended(&driver, &ended);
	ck_assert_int_eq(ended.how, PROTOCOL_END_SIGNALED);
	ck_assert_int_eq(ended.signal, SIGTERM);
	ck_assert_int_eq(ended.stopper, PROTOCOL_STOPPER_DAEMON);
}
END_TEST

START_TEST(own_stop_signal_is_used)
{
	struct protocol_started started;
	struct protocol_start start;
	struct protocol_ended ended;

	driver_template(&start, 1, "exec sleep 30");
	start.stop_signal = SIGUSR2;
	driver_send_start(&driver, &start);
	driver_wait_started(&driver, &started);
	driver_send_numbers(&driver, PROTOCOL_STOP, 1, 0);
	driver_wait_ended(&driver, &ended);
	ck_assert_int_eq(ended.signal, SIGUSR2);
}
END_TEST

START_TEST(signal_frame_only_signals)
{
	struct strbuf text = STRBUF_INIT;
	struct protocol_started started;
	struct protocol_start start;
	struct protocol_ended ended;

	driver_template(&start, 1, "trap 'exit 9' USR1; echo >ready; "
	    "while :; do sleep 0.02; done");
	start.workdir = driver.dir;
	driver_send_start(&driver, &start);
	driver_wait_started(&driver, &started);
	driver_wait_file(&driver, "ready", &text);
	driver_send_numbers(&driver, PROTOCOL_SIGNAL, 1, SIGUSR1);
	driver_wait_ended(&driver, &ended);
	ck_assert_int_eq(ended.code, 9);
	ck_assert_int_eq(ended.stopper, PROTOCOL_STOPPER_NONE);
	strbuf_release(&text);
}
END_TEST

/* Output. */

START_TEST(output_comes_back_byte_for_byte)
{
	static const char want[] = "\0\001\377\r\n\033[0m{\"a\":1}\n";
	struct strbuf out = STRBUF_INIT;
	struct protocol_start start;
	struct protocol_ended ended;

	driver_template(&start, 1, "printf '\\000\\001\\377\\r\\n\\033[0m"
	    "{\"a\":1}\\n' >&2");
	driver_run(&driver, &start, &ended);
	driver_output(&driver, 1, &out);
	ck_assert_uint_eq(out.len, sizeof want - 1);
	ck_assert_mem_eq(out.buf, want, sizeof want - 1);
	ck_assert_int_eq(ended.output_bytes, sizeof want - 1);
	ck_assert_int_eq(ended.output_dropped, 0);
	strbuf_release(&out);
}
END_TEST

START_TEST(both_streams_keep_their_order)
{
	struct strbuf out = STRBUF_INIT;
	struct protocol_start start;
	struct protocol_ended ended;

	driver_template(&start, 1, "echo a; echo b >&2; echo c");
	driver_run(&driver, &start, &ended);
	driver_output(&driver, 1, &out);
	ck_assert_str_eq(out.buf, "a\nb\nc\n");
	strbuf_release(&out);
}
END_TEST

START_TEST(silent_run_makes_no_file)
{
	struct protocol_start start;
	struct protocol_ended ended;
	struct stat st;

	driver_template(&start, 1, "true");
	driver_run(&driver, &start, &ended);
	ck_assert_int_eq(fstatat(driver.output, "1.head", &st, 0), -1);
	ck_assert_int_eq(ended.output_bytes, 0);
}
END_TEST

START_TEST(output_files_are_private)
{
	struct protocol_start start;
	struct protocol_ended ended;
	struct stat st;

	driver_template(&start, 1, "echo secret");
	driver_run(&driver, &start, &ended);
	ck_assert_int_eq(fstatat(driver.output, "1.head", &st, 0), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
}
END_TEST

START_TEST(discarded_output_goes_nowhere)
{
	struct strbuf text = STRBUF_INIT;
	struct protocol_start start;
	struct protocol_ended ended;
	struct stat st;

	driver_template(&start, 1,
	    "echo lost; (readlink /proc/$$/fd/1) >where; true");
	start.workdir = driver.dir;
	start.output = PROTOCOL_OUTPUT_DISCARD;
	driver_run(&driver, &start, &ended);
	driver_wait_file(&driver, "where", &text);
	ck_assert_str_eq(text.buf, "/dev/null\n");
	ck_assert_int_eq(fstatat(driver.output, "1.head", &st, 0), -1);
	strbuf_release(&text);
}
END_TEST

/* What seq(1) prints. */
static void
sequence(struct strbuf *out, int last)
{
	for (int i = 1; i <= last; i++)
		strbuf_addf(out, "%d\n", i);
}

#define LAST	800000		/* 5,488,896 bytes */

static const int64_t limits[] = { 1048576, 1000001, 4096, 5, 1, 0 };

START_TEST(first_and_last_half_of_much_output_are_kept)
{
	struct strbuf all = STRBUF_INIT, want = STRBUF_INIT;
	struct strbuf out = STRBUF_INIT;
	size_t tail = (size_t)limits[_i] / 2;
	size_t head = (size_t)limits[_i] - tail;
	struct protocol_start start;
	struct protocol_ended ended;

	sequence(&all, LAST);
	strbuf_add(&want, all.buf, head);
	if (tail > 0)
		strbuf_addf(&want, "\n[... %zu bytes dropped ...]\n",
		    all.len - head - tail);
	strbuf_add(&want, all.buf + all.len - tail, tail);
	driver_template(&start, 1, "exec seq 1 800000");
	start.output_limit = limits[_i];
	driver_run(&driver, &start, &ended);
	ck_assert_int_eq(ended.code, 0);
	ck_assert_int_eq(ended.output_bytes, (int64_t)all.len);
	ck_assert_int_eq(ended.output_dropped, (int64_t)all.len - limits[_i]);
	driver_output(&driver, 1, &out);
	ck_assert_uint_eq(out.len, want.len);
	ck_assert(memcmp(out.buf, want.buf, want.len) == 0);
	strbuf_release(&all);
	strbuf_release(&want);
	strbuf_release(&out);
}
END_TEST

START_TEST(output_within_the_limit_is_whole)
{
	struct strbuf all = STRBUF_INIT, out = STRBUF_INIT;
	struct protocol_start start;
	struct protocol_ended ended;

	sequence(&all, LAST);
	driver_template(&start, 1, "seq 1 800000");
	start.output_limit = (int64_t)all.len;
	driver_run(&driver, &start, &ended);
	ck_assert_int_eq(ended.output_dropped, 0);
	driver_output(&driver, 1, &out);
	ck_assert_uint_eq(out.len, all.len);
	ck_assert(memcmp(out.buf, all.buf, all.len) == 0);
	strbuf_release(&all);
	strbuf_release(&out);
}
END_TEST

#define ROWS(table)	((int)(sizeof (table) / sizeof *(table)))

Suite *
run_suite(void)
{
	Suite *suite = suite_create("run");
	TCase *tc = tcase_create("run");

	tcase_set_timeout(tc, TEST_TIMEOUT_S);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, exit_code_is_reported, 0, ROWS(exits));
	tcase_add_loop_test(tc, death_by_signal_is_reported, 0,
	    ROWS(signals));
	tcase_add_test(tc, core_is_reported);
	tcase_add_test(tc, started_comes_before_ended_and_names_the_process);
	tcase_add_test(tc, processor_time_is_measured);
	tcase_add_test(tc, two_hundred_quick_runs_keep_their_own_statuses);
	tcase_add_test(tc, adopted_processes_leave_no_zombies);
	tcase_add_test(tc, timeout_ends_a_job_that_listens);
	tcase_add_test(tc, timeout_kills_a_job_that_ignores_the_signal);
	tcase_add_test(tc, timeout_ends_a_suspended_job);
	tcase_add_loop_test(tc, nothing_is_left_when_a_stopped_run_has_ended,
	    0, ROWS(stragglers));
	tcase_add_test(tc, background_process_does_not_prolong_a_run);
	tcase_add_test(tc, background_process_gets_no_sigpipe);
	tcase_add_test(tc, stop_frame_walks_the_ladder);
	tcase_add_test(tc, own_stop_signal_is_used);
	tcase_add_test(tc, signal_frame_only_signals);
	tcase_add_test(tc, output_comes_back_byte_for_byte);
	tcase_add_test(tc, both_streams_keep_their_order);
	tcase_add_test(tc, silent_run_makes_no_file);
	tcase_add_test(tc, output_files_are_private);
	tcase_add_test(tc, discarded_output_goes_nowhere);
	tcase_add_loop_test(tc, first_and_last_half_of_much_output_are_kept,
	    0, ROWS(limits));
	tcase_add_test(tc, output_within_the_limit_is_whole);
	suite_add_tcase(suite, tc);
	return suite;
}

int
main(void)
{
	return check_main(run_suite());
}
