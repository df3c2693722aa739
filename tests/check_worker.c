/* SPDX-License-Identifier: ISC */
/*
 * A worker and its daemons, through the real worker program: who is let in,
 * what outlives whom, what is refused, and when a worker leaves.
 */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/timestamp.h"
#include "tests/check_main.h"
#include "tests/support/worker_driver.h"

Suite	*worker_suite(void);

#define TEST_TIMEOUT_S	60
#define QUIET_MS	300	/* nothing comes in that time */

static struct driver driver;

static void
setup(void)
{
	driver_init(&driver);
}

static void
teardown(void)
{
	driver_release(&driver);
}

static void
attach(void)
{
	driver_send_hello(&driver, DRIVER_INSTANCE, DRIVER_EPOCH);
	driver_expect(&driver, PROTOCOL_WELCOME);
}

/* As the next daemon does: a new connection, a higher epoch. */
static void
attach_again(uint64_t epoch)
{
	driver_connect(&driver);
	driver_send_hello(&driver, DRIVER_INSTANCE, epoch);
	driver_expect(&driver, PROTOCOL_WELCOME);
}

static void
start_run(uint64_t run_id, const char *command)
{
	struct protocol_start start;

	driver_template(&start, run_id, command);
	start.workdir = driver.dir;
	driver_send_start(&driver, &start);
}

static void
start_and_wait(uint64_t run_id, const char *command,
    struct protocol_started *started)
{
	start_run(run_id, command);
	driver_wait_started(&driver, started);
	ck_assert_uint_eq(started->run_id, run_id);
}

static bool
is_quiet(void)
{
	struct pollfd fd = { .fd = driver.conn, .events = POLLIN };

	return poll(&fd, 1, QUIET_MS) == 0;
}

static void
make_file(const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof path, "%s/%s", driver.dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

/* Holds a command until make_file("go"). */
#define UNTIL_GO	"while [ ! -e go ]; do sleep 0.02; done; "

static void
assert_exited_well(void)
{
	int status = driver_wait(&driver);

	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}

/* Who is let in. */

START_TEST(hello_is_welcomed)
{
	struct protocol_welcome welcome;
	struct frame frame;

	driver_send_hello(&driver, DRIVER_INSTANCE, DRIVER_EPOCH);
	frame = driver_expect(&driver, PROTOCOL_WELCOME);
	ck_assert_int_eq(protocol_decode_welcome(&frame, &welcome, NULL), 0);
	ck_assert_uint_eq(welcome.number, DRIVER_NUMBER);
	ck_assert_uint_eq(welcome.version, FRAME_VERSION);
	ck_assert_int_eq(welcome.pid, driver.pid);
	ck_assert_uint_eq(strlen(welcome.boot_id), 36);
}
END_TEST

START_TEST(hello_may_come_byte_by_byte)
{
	struct protocol_hello hello = { DRIVER_INSTANCE, DRIVER_EPOCH,
	    FRAME_VERSION };
	struct strbuf sb = STRBUF_INIT;

	protocol_encode_hello(&sb, &hello);
	for (size_t i = 0; i < sb.len; i++) {
		ck_assert_int_eq(write(driver.conn, sb.buf + i, 1), 1);
		driver_pause();
	}
	driver_expect(&driver, PROTOCOL_WELCOME);
	strbuf_release(&sb);
}
END_TEST

static void
assert_denied(const char *instance, uint64_t epoch, const char *word)
{
	const char *reason;
	struct frame frame;

	driver_send_hello(&driver, instance, epoch);
	frame = driver_expect(&driver, PROTOCOL_DENY);
	ck_assert_int_eq(protocol_decode_deny(&frame, &reason, NULL), 0);
	ck_assert_ptr_nonnull(strstr(reason, word));
	driver_expect_close(&driver);
}

START_TEST(other_instance_is_denied)
{
	assert_denied("another", DRIVER_EPOCH, "instance");
	/* That was its only daemon, and it holds nothing. */
	assert_exited_well();
}
END_TEST

START_TEST(lower_epoch_is_denied)
{
	assert_denied(DRIVER_INSTANCE, DRIVER_EPOCH - 1, "epoch");
}
END_TEST

START_TEST(denied_stranger_changes_nothing)
{
	struct protocol_started started;
	struct protocol_ended ended;

	attach();
	start_and_wait(1, UNTIL_GO "exit 4", &started);
	driver_connect(&driver);
	assert_denied("another", DRIVER_EPOCH + 9, "instance");
	driver_connect(&driver);
	assert_denied(DRIVER_INSTANCE, DRIVER_EPOCH - 1, "epoch");
	attach_again(DRIVER_EPOCH + 1);
	make_file("go");
	driver_wait_ended(&driver, &ended);
	ck_assert_int_eq(ended.code, 4);
	driver_send_numbers(&driver, PROTOCOL_ACK, 1, 0);
}
END_TEST

START_TEST(frames_before_hello_are_denied)
{
	driver_send_numbers(&driver, PROTOCOL_PING, 1, 0);
	driver_expect(&driver, PROTOCOL_DENY);
	driver_expect_close(&driver);
}
END_TEST

START_TEST(garbage_ends_the_connection_not_the_runs)
{
	struct protocol_started started;
	struct protocol_ended ended;

	attach();
	start_and_wait(1, UNTIL_GO "exit 4", &started);
	ck_assert_int_eq(write(driver.conn, "GET / HTTP/1.1\r\n\r\n", 18),
	    18);
	driver_expect_close(&driver);
	attach_again(DRIVER_EPOCH + 1);
	make_file("go");
	driver_wait_ended(&driver, &ended);
	ck_assert_int_eq(ended.code, 4);
}
END_TEST

START_TEST(newer_daemon_replaces_one_that_is_connected)
{
	int old;

	attach();
	old = dup(driver.conn);
	attach_again(DRIVER_EPOCH + 1);
	driver_send_numbers(&driver, PROTOCOL_PING, 5, 0);
	driver_expect(&driver, PROTOCOL_PONG);
	/* The old one was closed. */
	close(driver.conn);
	driver.conn = old;
	driver_expect_close(&driver);
}
END_TEST

START_TEST(equal_epoch_waits_for_the_end_of_the_other)
{
	struct protocol_started started;
	int old;

	attach();
	start_and_wait(1, UNTIL_GO, &started);
	old = dup(driver.conn);
	driver_connect(&driver);
	driver_send_hello(&driver, DRIVER_INSTANCE, DRIVER_EPOCH);
	ck_assert(is_quiet());
	close(old);
	driver_expect(&driver, PROTOCOL_WELCOME);
	make_file("go");
}
END_TEST

START_TEST(last_frames_of_a_daemon_count_before_the_next_is_welcomed)
{
	struct protocol_list_run run;
	struct protocol_ended ended;
	struct frame frame;

	attach();
	for (int i = 0; i < 10; i++)
		start_run((uint64_t)i + 1, UNTIL_GO "echo >>count");
	/* close(2) leaves what was sent to be read */
	attach_again(DRIVER_EPOCH + 1);
	driver_send_numbers(&driver, PROTOCOL_LIST, 0, 0);
	for (int i = 0; i < 10; i++) {
		do {
			frame = driver_receive(&driver);
		} while (frame.type == PROTOCOL_STARTED);
		ck_assert_int_eq(protocol_decode_list_run(&frame, &run,
		    NULL), 0);
	}
	make_file("go");
	for (int i = 0; i < 10; i++) {
		driver_wait_ended(&driver, &ended);
		driver_send_numbers(&driver, PROTOCOL_ACK, ended.tag.run_id,
		    0);
	}
}
END_TEST

/* What outlives whom. */

#define RUNS	20

/* LIST; the states and pids of runs 1 to RUNS, ended ones by their code. */
static uint64_t
list(struct protocol_list_run runs[RUNS + 1], int codes[RUNS + 1])
{
	struct protocol_list_run run;
	struct protocol_ended ended;
	struct error err = { "" };
	struct frame frame;
	uint64_t n, zero;

	memset(runs, 0, sizeof *runs * (RUNS + 1));
	driver_send_numbers(&driver, PROTOCOL_LIST, 0, 0);
	for (;;) {
		frame = driver_receive(&driver);
		if (frame.type == PROTOCOL_LIST_END)
			break;
		ck_assert_msg(frame.type == PROTOCOL_LIST_RUN, "type %u",
		    frame.type);
		ck_assert_msg(protocol_decode_list_run(&frame, &run, &err) ==
		    0, "%s", err.text);
		ck_assert_uint_le(run.tag.run_id, RUNS);
		ck_assert_str_eq(run.tag.job_name, "job");
		run.tag.job_name = NULL;
		runs[run.tag.run_id] = run;
		if (run.state != PROTOCOL_RUN_ENDED)
			continue;
		frame = driver_expect(&driver, PROTOCOL_ENDED);
		ck_assert_int_eq(protocol_decode_ended(&frame, &ended, NULL),
		    0);
		ck_assert_uint_eq(ended.tag.run_id, run.tag.run_id);
		codes[run.tag.run_id] = ended.code;
	}
	ck_assert_int_eq(protocol_decode_numbers(&frame, &n, &zero, NULL), 0);
	return n;
}

START_TEST(twenty_runs_survive_their_daemon)
{
	struct protocol_list_run runs[RUNS + 1];
	struct protocol_started started;
	struct strbuf out = STRBUF_INIT;
	struct protocol_ended ended;
	int codes[RUNS + 1] = { 0 };
	pid_t pids[RUNS + 1];
	char want[64];

	attach();
	for (uint64_t id = 1; id <= RUNS; id++) {
		char command[128];

		snprintf(command, sizeof command, "echo begin; echo >>n%llu; "
		    UNTIL_GO "echo end; exit %llu", (unsigned long long)id,
		    (unsigned long long)id);
		start_and_wait(id, command, &started);
		pids[id] = started.pid;
	}
	attach_again(DRIVER_EPOCH + 1);
	ck_assert_uint_eq(list(runs, codes), RUNS);
	for (uint64_t id = 1; id <= RUNS; id++) {
		ck_assert_int_eq(runs[id].state, PROTOCOL_RUN_RUNNING);
		ck_assert_int_eq(runs[id].pid, pids[id]);
		ck_assert_uint_gt(runs[id].starttime, 0);
		ck_assert_int_gt(runs[id].started, 0);
	}
	make_file("go");
	for (int i = 0; i < RUNS; i++) {
		driver_wait_ended(&driver, &ended);
		ck_assert_int_eq(ended.how, PROTOCOL_END_EXITED);
		ck_assert_int_eq(ended.code, (int)ended.tag.run_id);
		ck_assert_int_eq(ended.pid, pids[ended.tag.run_id]);
	}
	for (uint64_t id = 1; id <= RUNS; id++) {
		strbuf_reset(&out);
		driver_output(&driver, id, &out);
		ck_assert_str_eq(out.buf, "begin\nend\n");
		snprintf(want, sizeof want, "n%llu", (unsigned long long)id);
		driver_wait_file(&driver, want, &out);
		ck_assert_str_eq(out.buf, "\n");
	}
	strbuf_release(&out);
}
END_TEST

START_TEST(results_without_a_daemon_are_given_to_the_next)
{
	struct protocol_list_run runs[RUNS + 1];
	struct protocol_started first, second;
	int codes[RUNS + 1] = { 0 };

	attach();
	start_and_wait(1, UNTIL_GO "exit 1", &first);
	start_and_wait(2, "until [ -e go2 ]; do sleep 0.02; done", &second);
	driver_close(&driver);
	make_file("go");
	driver_wait_gone(first.pid);
	attach_again(DRIVER_EPOCH + 1);
	/* Run 1 may be just ending; it is listed until it is acknowledged. */
	do {
		ck_assert_uint_eq(list(runs, codes), 2);
	} while (runs[1].state != PROTOCOL_RUN_ENDED);
	ck_assert_int_eq(codes[1], 1);
	ck_assert_int_eq(runs[2].state, PROTOCOL_RUN_RUNNING);
	driver_send_numbers(&driver, PROTOCOL_ACK, 1, 0);
	ck_assert_uint_eq(list(runs, codes), 1);
	make_file("go2");
}
END_TEST

/* What the spool file holds. */
struct spooled {
	struct protocol_ended v[RUNS];	/* strings are not kept */
	size_t	 n;			/* of them */
};

static void
take(void *arg, const struct protocol_ended *ended)
{
	struct spooled *spooled = arg;

	ck_assert_uint_lt(spooled->n, RUNS);
	spooled->v[spooled->n++] = *ended;
}

static void
read_spool(struct spooled *spooled)
{
	static char block[65536];
	char name[24];
	bool damaged;
	ssize_t n;
	int fd;

	snprintf(name, sizeof name, "%d", DRIVER_NUMBER);
	fd = openat(driver.spool, name, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	n = read(fd, block, sizeof block);
	close(fd);
	ck_assert_int_gt(n, 0);
	spooled->n = 0;
	protocol_spool_read(block, (size_t)n, take, spooled, &damaged);
	ck_assert(!damaged);
}

static size_t
spool_files(void)
{
	int fd = openat(driver.spool, ".", O_RDONLY | O_DIRECTORY |
	    O_CLOEXEC);
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	size_t n = 0;

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir)) != NULL)
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

START_TEST(results_are_spooled_when_no_daemon_comes_back)
{
	struct protocol_started started;
	struct strbuf out = STRBUF_INIT;
	struct spooled spooled;

	attach();
	start_and_wait(1, UNTIL_GO "echo one; exit 3", &started);
	start_and_wait(2, UNTIL_GO "kill -9 $$", &started);
	driver_close(&driver);
	ck_assert(!driver_lock_is_free(&driver));
	make_file("go");
	assert_exited_well();
	ck_assert(driver_lock_is_free(&driver));
	read_spool(&spooled);
	ck_assert_uint_eq(spooled.n, 2);
	for (size_t i = 0; i < 2; i++) {
		if (spooled.v[i].tag.run_id == 1)
			ck_assert_int_eq(spooled.v[i].code, 3);
		else
			ck_assert_int_eq(spooled.v[i].signal, SIGKILL);
	}
	ck_assert_uint_eq(spool_files(), 1);
	driver_output(&driver, 1, &out);
	ck_assert_str_eq(out.buf, "one\n");
	strbuf_release(&out);
}
END_TEST

START_TEST(unacknowledged_result_is_spooled)
{
	struct protocol_ended ended;
	struct spooled spooled;

	attach();
	start_run(1, "exit 5");
	driver_wait_ended(&driver, &ended);
	start_run(2, "exit 6");
	driver_wait_ended(&driver, &ended);
	driver_send_numbers(&driver, PROTOCOL_ACK, 1, 0);
	driver_close(&driver);
	assert_exited_well();
	read_spool(&spooled);
	ck_assert_uint_eq(spooled.n, 1);
	ck_assert_uint_eq(spooled.v[0].tag.run_id, 2);
	ck_assert_int_eq(spooled.v[0].code, 6);
}
END_TEST

START_TEST(worker_without_daemon_and_runs_leaves)
{
	attach();
	driver_close(&driver);
	assert_exited_well();
	ck_assert(driver_lock_is_free(&driver));
	ck_assert_uint_eq(spool_files(), 0);
}
END_TEST

START_TEST(daemon_that_dies_before_hello_is_no_daemon)
{
	driver_close(&driver);
	assert_exited_well();
}
END_TEST

/* Starts. */

START_TEST(second_start_of_a_run_answers_its_state)
{
	struct protocol_started first, again;
	struct strbuf text = STRBUF_INIT;
	struct protocol_ended ended;

	attach();
	start_and_wait(1, "echo >>count; " UNTIL_GO "exit 2", &first);
	start_and_wait(1, "echo >>count; exit 9", &again);
	ck_assert_int_eq(again.pid, first.pid);
	ck_assert_int_eq(again.started, first.started);
	make_file("go");
	driver_wait_ended(&driver, &ended);
	ck_assert_int_eq(ended.code, 2);
	start_run(1, "echo >>count; exit 9");
	driver_wait_ended(&driver, &ended);
	ck_assert_int_eq(ended.code, 2);
	ck_assert_int_eq(ended.pid, first.pid);
	driver_wait_file(&driver, "count", &text);
	ck_assert_str_eq(text.buf, "\n");
	strbuf_release(&text);
}
END_TEST

static void
assert_refused(uint64_t run_id, enum protocol_refusal reason)
{
	enum protocol_refusal got;
	struct frame frame = driver_expect(&driver, PROTOCOL_REFUSED);
	uint64_t id;

	ck_assert_int_eq(protocol_decode_refused(&frame, &id, &got, NULL), 0);
	ck_assert_uint_eq(id, run_id);
	ck_assert_int_eq(got, reason);
}

START_TEST(late_start_is_refused)
{
	struct protocol_start start;
	struct protocol_ended ended;

	attach();
	driver_template(&start, 1, "true");
	start.not_after = boottime_now().us - 1;
	driver_send_start(&driver, &start);
	assert_refused(1, PROTOCOL_REFUSED_TOO_LATE);
	start.not_after = boottime_now().us + 60 * USEC_PER_SEC;
	driver_run(&driver, &start, &ended);
	ck_assert_int_eq(ended.how, PROTOCOL_END_EXITED);
}
END_TEST

START_TEST(senseless_start_is_refused)
{
	struct protocol_start start;

	attach();
	driver_template(&start, 1, "true");
	start.shell = "sh";
	driver_send_start(&driver, &start);
	assert_refused(1, PROTOCOL_REFUSED_BAD);
}
END_TEST

START_TEST(drained_worker_refuses_and_leaves_when_empty)
{
	struct protocol_started started;
	struct protocol_ended ended;

	attach();
	start_and_wait(1, UNTIL_GO, &started);
	driver_send_numbers(&driver, PROTOCOL_DRAIN, 0, 0);
	start_run(2, "true");
	assert_refused(2, PROTOCOL_REFUSED_DRAINING);
	make_file("go");
	driver_wait_ended(&driver, &ended);
	ck_assert(driver_is_alive(driver.pid));
	driver_send_numbers(&driver, PROTOCOL_ACK, 1, 0);
	driver_expect_close(&driver);
	assert_exited_well();
}
END_TEST

START_TEST(unknown_runs_are_told)
{
	struct frame frame;
	uint64_t id, zero;

	attach();
	driver_send_numbers(&driver, PROTOCOL_STOP, 77, 0);
	frame = driver_expect(&driver, PROTOCOL_UNKNOWN);
	ck_assert_int_eq(protocol_decode_numbers(&frame, &id, &zero, NULL),
	    0);
	ck_assert_uint_eq(id, 77);
	driver_send_numbers(&driver, PROTOCOL_SIGNAL, 78, SIGTERM);
	frame = driver_expect(&driver, PROTOCOL_UNKNOWN);
	driver_send_numbers(&driver, PROTOCOL_ACK, 79, 0);
	driver_send_numbers(&driver, PROTOCOL_PING, 80, 0);
	frame = driver_expect(&driver, PROTOCOL_PONG);
	ck_assert_int_eq(protocol_decode_numbers(&frame, &id, &zero, NULL),
	    0);
	ck_assert_uint_eq(id, 80);
}
END_TEST

START_TEST(unknown_frames_are_skipped)
{
	attach();
	driver_send_numbers(&driver, 200, 1, 2);
	driver_send_numbers(&driver, PROTOCOL_PING, 1, 0);
	driver_expect(&driver, PROTOCOL_PONG);
}
END_TEST

START_TEST(flood_of_unread_answers_breaks_nothing)
{
	struct strbuf sb = STRBUF_INIT;
	size_t sent = 0, answers = 0;

	attach();
	for (int i = 0; i < 1000; i++)
		protocol_encode_numbers(&sb, PROTOCOL_PING, (uint64_t)i, 0);
	/* Until the worker stops reading, because nobody reads its answers. */
	for (;;) {
		struct pollfd fd = { .fd = driver.conn, .events = POLLOUT };
		ssize_t n;

		if (poll(&fd, 1, QUIET_MS) == 0)
			break;
		n = send(driver.conn, sb.buf + sent % sb.len,
		    sb.len - sent % sb.len, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n > 0)
			sent += (size_t)n;
		ck_assert_uint_lt(sent, 64 * 1024 * 1024);
	}
	while (answers < sent / (sb.len / 1000)) {
		driver_expect(&driver, PROTOCOL_PONG);
		answers++;
	}
	strbuf_release(&sb);
}
END_TEST

/* SIGTERM. */

START_TEST(sigterm_stops_runs_and_leaves_when_acknowledged)
{
	struct protocol_started started;
	struct protocol_ended ended;

	attach();
	start_and_wait(1, "sleep 30", &started);
	kill(driver.pid, SIGTERM);
	driver_wait_ended(&driver, &ended);
	ck_assert_int_eq(ended.signal, SIGTERM);
	ck_assert_int_eq(ended.stopper, PROTOCOL_STOPPER_SHUTDOWN);
	driver_send_numbers(&driver, PROTOCOL_ACK, 1, 0);
	driver_expect_close(&driver);
	assert_exited_well();
	ck_assert_uint_eq(spool_files(), 0);
}
END_TEST

START_TEST(sigterm_spools_what_nobody_acknowledges)
{
	struct protocol_started started;
	struct spooled spooled;

	attach();
	start_and_wait(1, "sleep 30", &started);
	kill(driver.pid, SIGTERM);
	assert_exited_well();
	read_spool(&spooled);
	ck_assert_uint_eq(spooled.n, 1);
	ck_assert_int_eq(spooled.v[0].stopper, PROTOCOL_STOPPER_SHUTDOWN);
	ck_assert(driver_lock_is_free(&driver));
}
END_TEST

START_TEST(sigterm_refuses_new_runs)
{
	struct protocol_started started;

	attach();
	start_and_wait(1, "trap '' TERM; " UNTIL_GO, &started);
	kill(driver.pid, SIGTERM);
	driver_send_numbers(&driver, PROTOCOL_PING, 1, 0);
	driver_expect(&driver, PROTOCOL_PONG);
	start_run(2, "true");
	assert_refused(2, PROTOCOL_REFUSED_DRAINING);
	make_file("go");
}
END_TEST

START_TEST(other_signals_do_not_end_it)
{
	attach();
	kill(driver.pid, SIGINT);
	kill(driver.pid, SIGHUP);
	kill(driver.pid, SIGPIPE);
	driver_send_numbers(&driver, PROTOCOL_PING, 1, 0);
	driver_expect(&driver, PROTOCOL_PONG);
}
END_TEST

/* The process itself. */

static long
switches(void)
{
	char path[64], line[128];
	long total = 0, n;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)driver.pid);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "voluntary_ctxt_switches: %ld", &n) == 1)
			total += n;
	fclose(f);
	return total;
}

START_TEST(idle_worker_is_not_woken)
{
	struct protocol_started started;
	long before;

	attach();
	start_and_wait(1, "exec sleep 20", &started);
	driver_send_numbers(&driver, PROTOCOL_PING, 1, 0);
	driver_expect(&driver, PROTOCOL_PONG);
	ck_assert(is_quiet());
	before = switches();
	ck_assert(is_quiet());
	ck_assert_int_eq(switches(), before);
	driver_send_numbers(&driver, PROTOCOL_STOP, 1, 0);
}
END_TEST

static size_t
descriptors(void)
{
	struct dirent *entry;
	char path[64];
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof path, "/proc/%d/fd", (int)driver.pid);
	dir = opendir(path);
	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir)) != NULL)
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

START_TEST(descriptors_do_not_grow)
{
	struct protocol_start start;
	struct protocol_ended ended;
	size_t before;

	attach();
	driver_template(&start, 1, "echo x");
	driver_run(&driver, &start, &ended);
	driver_send_numbers(&driver, PROTOCOL_PING, 1, 0);
	driver_expect(&driver, PROTOCOL_PONG);
	before = descriptors();
	for (uint64_t id = 2; id <= 50; id++) {
		driver_template(&start, id, "echo x");
		if (id % 3 == 0)
			start.shell = "/no/such/shell";
		driver_run(&driver, &start, &ended);
	}
	driver_send_numbers(&driver, PROTOCOL_PING, 1, 0);
	driver_expect(&driver, PROTOCOL_PONG);
	ck_assert_uint_eq(descriptors(), before);
}
END_TEST

START_TEST(name_of_the_process_is_the_programs)
{
	char path[64], name[32] = "";
	FILE *f;

	attach();
	snprintf(path, sizeof path, "/proc/%d/comm", (int)driver.pid);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(name, sizeof name, f));
	fclose(f);
	ck_assert_str_eq(name, "cronctl-worker\n");
}
END_TEST

static void
add_link_tests(TCase *tc)
{
	tcase_add_test(tc, hello_is_welcomed);
	tcase_add_test(tc, hello_may_come_byte_by_byte);
	tcase_add_test(tc, other_instance_is_denied);
	tcase_add_test(tc, lower_epoch_is_denied);
	tcase_add_test(tc, denied_stranger_changes_nothing);
	tcase_add_test(tc, frames_before_hello_are_denied);
	tcase_add_test(tc, garbage_ends_the_connection_not_the_runs);
	tcase_add_test(tc, newer_daemon_replaces_one_that_is_connected);
	tcase_add_test(tc, equal_epoch_waits_for_the_end_of_the_other);
	tcase_add_test(tc,
	    last_frames_of_a_daemon_count_before_the_next_is_welcomed);
	tcase_add_test(tc, twenty_runs_survive_their_daemon);
	tcase_add_test(tc, results_without_a_daemon_are_given_to_the_next);
	tcase_add_test(tc, results_are_spooled_when_no_daemon_comes_back);
	tcase_add_test(tc, unacknowledged_result_is_spooled);
	tcase_add_test(tc, worker_without_daemon_and_runs_leaves);
	tcase_add_test(tc, daemon_that_dies_before_hello_is_no_daemon);
}

static void
add_frame_tests(TCase *tc)
{
	tcase_add_test(tc, second_start_of_a_run_answers_its_state);
	tcase_add_test(tc, late_start_is_refused);
	tcase_add_test(tc, senseless_start_is_refused);
	tcase_add_test(tc, drained_worker_refuses_and_leaves_when_empty);
	tcase_add_test(tc, unknown_runs_are_told);
	tcase_add_test(tc, unknown_frames_are_skipped);
	tcase_add_test(tc, flood_of_unread_answers_breaks_nothing);
	tcase_add_test(tc, sigterm_stops_runs_and_leaves_when_acknowledged);
	tcase_add_test(tc, sigterm_spools_what_nobody_acknowledges);
	tcase_add_test(tc, sigterm_refuses_new_runs);
	tcase_add_test(tc, other_signals_do_not_end_it);
	tcase_add_test(tc, idle_worker_is_not_woken);
	tcase_add_test(tc, descriptors_do_not_grow);
	tcase_add_test(tc, name_of_the_process_is_the_programs);
}

Suite *
worker_suite(void)
{
	Suite *suite = suite_create("worker");
	TCase *tc = tcase_create("worker");

	tcase_set_timeout(tc, TEST_TIMEOUT_S);
	tcase_add_checked_fixture(tc, setup, teardown);
	add_link_tests(tc);
	add_frame_tests(tc);
	suite_add_tcase(suite, tc);
	return suite;
}

int
main(void)
{
	return check_main(worker_suite());
}
