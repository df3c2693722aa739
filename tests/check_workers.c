/* SPDX-License-Identifier: ISC */
/*
 * Workers as the daemon sees them: the table of frames cell by cell; the
 * real worker program ($CRONCTL_WORKER_PROGRAM, else ./cronctl-worker)
 * through start, end, death, and change of daemons; and for what that one
 * never does a fake one, which is this program started as a worker
 * (tests/support/fake_worker.h).
 *
 * What the callbacks hear is kept as lines, such as "started 1 100".
 */
#include "config.h"

#include "daemon/workers.h"

#include <check.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/strbuf.h"
#include "daemon/workers_internal.h"
#include "tests/check_main.h"
#include "tests/support/fake_worker.h"

#define WAIT_US		(20 * USEC_PER_SEC)	/* for anything */
#define STEP_MS		5			/* between two looks */
#define INSTANCE	"0123456789abcdef0123456789abcdef"

struct fixture {
	char		 top[40];	/* removed with all in it */
	char		 state[64];
	char		 workers_dir[64];
	struct jobdef_settings defaults; /* none */
	struct files_context context;
	struct event_base *base;
	struct files	*files;
	int		 program_fd;
	struct workers	*ws;
	struct strbuf	 heard;		/* lines of the callbacks */
	uint64_t	 next_number;	/* as made durable */
	pid_t		 pid;		/* of the last started run */
	bool		 forget_dead;	/* dead workers are forgotten at once */
};

static struct fixture f;

/* --- callbacks --- */

static void
heard_listed(void *arg, uint64_t worker, const struct protocol_list_run *run)
{
	(void)arg;
	strbuf_addf(&f.heard, "listed %" PRIu64 " %" PRIu64 "\n", worker,
	    run->tag.run_id);
}

static void
heard_list_end(void *arg, uint64_t worker)
{
	(void)arg;
	strbuf_addf(&f.heard, "list_end %" PRIu64 "\n", worker);
}

static void
heard_started(void *arg, uint64_t worker, const struct protocol_started *run)
{
	(void)arg;
	f.pid = run->pid;
	strbuf_addf(&f.heard, "started %" PRIu64 " %" PRIu64 "\n", worker,
	    run->run_id);
}

static void
heard_ended(void *arg, uint64_t worker, const struct protocol_ended *run)
{
	(void)arg;
	strbuf_addf(&f.heard, "ended %" PRIu64 " %" PRIu64 " how=%d code=%d "
	    "signal=%d\n", worker, run->tag.run_id, (int)run->how, run->code,
	    run->signal);
}

static void
heard_refused(void *arg, uint64_t worker, uint64_t run_id,
    enum protocol_refusal why)
{
	(void)arg;
	strbuf_addf(&f.heard, "refused %" PRIu64 " %" PRIu64 " why=%d\n",
	    worker, run_id, (int)why);
}

static void
heard_unknown(void *arg, uint64_t worker, uint64_t run_id)
{
	(void)arg;
	strbuf_addf(&f.heard, "unknown %" PRIu64 " %" PRIu64 "\n", worker,
	    run_id);
}

static void
heard_dead(void *arg, uint64_t worker)
{
	(void)arg;
	strbuf_addf(&f.heard, "dead %" PRIu64 "\n", worker);
	if (f.forget_dead)
		workers_forget(f.ws, worker);
}

static void
heard_settled(void *arg)
{
	(void)arg;
	strbuf_addstr(&f.heard, "settled\n");
}

static void
heard_number(void *arg, uint64_t next)
{
	ck_assert_ptr_eq(arg, &f);
	f.next_number = next;
}

static const struct workers_callbacks callbacks = {
	.listed = heard_listed,
	.list_end = heard_list_end,
	.started = heard_started,
	.ended = heard_ended,
	.refused = heard_refused,
	.unknown = heard_unknown,
	.dead = heard_dead,
	.settled = heard_settled,
	.arg = &f,
};

/* --- the daemon of a test --- */

static void
begin(void)
{
	f = (struct fixture){ .top = "/tmp/check_workers.XXXXXX",
		.program_fd = -1, .next_number = 1, .forget_dead = true };
	ck_assert_ptr_nonnull(mkdtemp(f.top));
	snprintf(f.state, sizeof(f.state), "%s/state", f.top);
	snprintf(f.workers_dir, sizeof(f.workers_dir), "%s/workers", f.top);
	ck_assert_int_eq(mkdir(f.state, 0700), 0);
	ck_assert_int_eq(mkdir(f.workers_dir, 0700), 0);
	strbuf_init(&f.heard);
	jobdef_settings_init(&f.defaults);
	f.context = (struct files_context){
		.jobs_dir = f.top, .state_dir = f.state,
		.workers_dir = f.workers_dir, .host_id = "test",
		.defaults = &f.defaults,
	};
	f.base = event_base_new();
	f.files = files_new(&f.context, f.base);
	ck_assert_ptr_nonnull(f.files);
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
}

static void
open_program(const char *path)
{
	f.program_fd = open(path, O_PATH | O_CLOEXEC);
	ck_assert_msg(f.program_fd >= 0, "%s: %s", path, strerror(errno));
}

static void
open_real_program(void)
{
	const char *path = getenv("CRONCTL_WORKER_PROGRAM");

	open_program(path != NULL ? path : "./cronctl-worker");
}

static void
open_fake_program(void)
{
	open_program("/proc/self/exe");
}

/* A daemon of that epoch begins with what is left. */
static int
begin_workers(const char *instance, uint64_t epoch, size_t count,
    struct error *err)
{
	struct workers_options options = {
		.base = f.base, .files = f.files,
		.program_fd = f.program_fd, .count = count,
		.instance = instance, .epoch = epoch,
		.next_number = f.next_number,
		.workers_dir = f.workers_dir, .callbacks = &callbacks,
		.number_used = heard_number,
	};
	struct files_left_workers left;
	int rc;

	ck_assert_int_eq(files_find_workers_now(&f.context, &left, err), 0);
	f.ws = workers_new(&options);
	rc = workers_begin(f.ws, &left, &f.context, err);
	files_left_workers_release(&left);
	return rc;
}

static void
must_begin(const char *instance, uint64_t epoch, size_t count)
{
	struct error err = { "" };

	ck_assert_msg(begin_workers(instance, epoch, count, &err) == 0, "%s",
	    err.text);
}

static void
on_step(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

/* One turn of a loop, at most a step long. */
static void
turn(void)
{
	struct timeval step = { 0, STEP_MS * 1000 };
	struct boottime now = boottime_now();

	workers_reap(f.ws);
	if (workers_deadline(f.ws) <= now.us)
		workers_check_deadlines(f.ws, now);
	workers_flush(f.ws);
	event_base_once(f.base, -1, EV_TIMEOUT, on_step, NULL, &step);
	ck_assert_int_ge(event_base_loop(f.base, EVLOOP_ONCE), 0);
}

static bool
has_heard(const char *line)
{
	const char *at = strstr(f.heard.buf, line);

	return at != NULL && (at == f.heard.buf || at[-1] == '\n');
}

static void
await(const char *line)
{
	int64_t end = boottime_now().us + WAIT_US;

	while (!has_heard(line)) {
		ck_assert_msg(boottime_now().us < end,
		    "\"%s\" was not heard, but:\n%s", line, f.heard.buf);
		turn();
	}
}

static struct workers_info
info_of(uint64_t number)
{
	struct workers_info info = { .number = 0 };

	for (size_t i = 0; i < workers_count(f.ws); i++) {
		workers_info(f.ws, i, &info);
		if (info.number == number)
			return info;
	}
	ck_abort_msg("there is no worker %" PRIu64, number);
	return info;
}

static void
await_state(uint64_t number, enum workers_state state)
{
	int64_t end = boottime_now().us + WAIT_US;

	while (info_of(number).state != state) {
		ck_assert_msg(boottime_now().us < end, "worker %" PRIu64
		    " is %s, not %s; heard:\n%s", number,
		    workers_state_name(info_of(number).state),
		    workers_state_name(state), f.heard.buf);
		turn();
	}
}

/* The daemon leaves; what it was told is told again to the next one. */
static void
leave(void)
{
	workers_free(f.ws);
	f.ws = NULL;
	files_free(f.files);
	f.files = files_new(&f.context, f.base);
	strbuf_reset(&f.heard);
}

static void
end(void)
{
	char command[64];
	int status;

	workers_free(f.ws);
	files_free(f.files);
	event_base_free(f.base);
	close(f.program_fd);
	strbuf_release(&f.heard);
	jobdef_settings_release(&f.defaults);
	/* Nobody is left: workers without a daemon and without runs end. */
	alarm(10);
	while (waitpid(-1, &status, 0) > 0 || errno == EINTR)
		continue;
	alarm(0);
	snprintf(command, sizeof(command), "rm -rf %s", f.top);
	ck_assert_int_eq(system(command), 0);
}

static uint64_t
start_run(uint64_t run_id, const char *command)
{
	const struct protocol_start start = {
		.tag = { .run_id = run_id, .job_id = 1, .job_name = "test",
		    .era = 1, .generation = 1, .cause = RUN_CAUSE_MANUAL,
		    .attempt = 1, .by_uid = -1 },
		.command = command, .shell = "/bin/sh",
		.owner_uid = geteuid(), .workdir = "/", .umask = 022,
		.start_timeout = 30 * USEC_PER_SEC,
		.stop_grace = 10 * USEC_PER_SEC, .stop_signal = SIGTERM,
		.output = PROTOCOL_OUTPUT_DISCARD, .output_limit = 1024,
	};
	uint64_t worker = 0;

	return workers_start(f.ws, &start, &worker) ? worker : 0;
}

/* --- the table --- */

/* One letter per frame type, from HELLO to PONG, and then one beyond. */
START_TEST(each_frame_in_each_phase_has_its_action)
{
	static const char *const want[WORKERS_PHASES] = {
		/* type 0, then HELLO WELCOME DENY LIST LIST_RUN LIST_END START
		 * STARTED REFUSED ENDED ACK STOP STOPPING SIGNAL UNKNOWN DRAIN
		 * PING PONG, 19 */
		[WORKERS_DOWN] =     "--------------------",
		[WORKERS_GREETING] = "--WD---------------i",
		[WORKERS_LISTING] =  "---D-le-srn--i-u--pi",
		[WORKERS_UP] =       "---D----srn--i-u--pi",
	};
	static const char letters[] = {
		[WORKERS_BAD] = '-', [WORKERS_IGNORE] = 'i',
		[WORKERS_WELCOME] = 'W', [WORKERS_DENY] = 'D',
		[WORKERS_LISTED] = 'l', [WORKERS_LIST_END] = 'e',
		[WORKERS_STARTED] = 's', [WORKERS_REFUSED] = 'r',
		[WORKERS_ENDED] = 'n', [WORKERS_UNKNOWN] = 'u',
		[WORKERS_PONG] = 'p',
	};

	for (int phase = 0; phase < WORKERS_PHASES; phase++) {
		for (int type = 0; type <= PROTOCOL_PONG + 1; type++) {
			ck_assert_msg(letters[workers_link_action(
			    (enum workers_phase)phase, (uint8_t)type)] ==
			    want[phase][type], "phase %d, type %d", phase,
			    type);
		}
	}
	ck_assert_int_eq(workers_link_action(WORKERS_UP, 255),
	    WORKERS_IGNORE);
}
END_TEST

START_TEST(states_have_names)
{
	ck_assert_str_eq(workers_state_name(WORKERS_ATTACHING), "attaching");
	ck_assert_str_eq(workers_state_name(WORKERS_ATTACHED), "attached");
	ck_assert_str_eq(workers_state_name(WORKERS_STUCK), "stuck");
	ck_assert_str_eq(workers_state_name(WORKERS_DEAD), "dead");
}
END_TEST

START_TEST(set_of_run_ids_holds_each_once)
{
	static const uint64_t added[] = { 5, 3, 9, 3, 7, 9, 1 };
	static const uint64_t want[] = { 1, 3, 7, 9 };
	struct workers_ids ids = { NULL, 0, 0 };

	for (size_t i = 0; i < 7; i++)
		workers_ids_add(&ids, added[i]);
	workers_ids_remove(&ids, 5);
	workers_ids_remove(&ids, 6);
	ck_assert_uint_eq(ids.n, 4);
	ck_assert_mem_eq(ids.v, want, sizeof(want));
	free(ids.v);
}
END_TEST

/* --- the real program --- */

START_TEST(first_workers_are_started_and_settled_comes_once)
{
	open_real_program();
	must_begin(INSTANCE, 1, 3);
	ck_assert_str_eq(f.heard.buf, "");
	await("list_end 1\n");
	await("list_end 2\n");
	await("list_end 3\n");
	await("settled\n");
	ck_assert_ptr_null(strstr(strstr(f.heard.buf, "settled\n") + 8,
	    "settled\n"));
	for (uint64_t i = 1; i <= 3; i++) {
		ck_assert_int_eq(info_of(i).state, WORKERS_ATTACHED);
		ck_assert_int_gt(info_of(i).pid, 0);
		ck_assert_uint_eq(info_of(i).runs, 0);
	}
	/* three, and one made ahead */
	ck_assert_uint_eq(f.next_number, 5);
	ck_assert(workers_can_start(f.ws));
}
END_TEST

START_TEST(run_is_started_and_its_end_told_until_acknowledged)
{
	open_real_program();
	must_begin(INSTANCE, 1, 1);
	await("list_end 1\n");
	ck_assert_uint_eq(start_run(100, "exit 7"), 1);
	ck_assert_uint_eq(info_of(1).runs, 1);
	ck_assert_uint_eq(info_of(1).unconfirmed, 1);
	await("started 1 100\n");
	await("ended 1 100 how=1 code=7 signal=0\n");
	ck_assert_uint_eq(info_of(1).runs, 0);
	ck_assert_uint_eq(info_of(1).unconfirmed, 0);
	leave();
	/* not acknowledged: told again, before the list is over */
	must_begin(INSTANCE, 2, 1);
	await("settled\n");
	ck_assert(has_heard("ended 1 100 how=1 code=7 signal=0\n"));
	workers_ack(f.ws, 1, 100);
	leave();
	must_begin(INSTANCE, 3, 1);
	await("settled\n");
	ck_assert(!has_heard("ended"));
}
END_TEST

START_TEST(run_is_stopped_and_a_run_that_is_not_there_is_unknown)
{
	open_real_program();
	must_begin(INSTANCE, 1, 1);
	await("list_end 1\n");
	ck_assert_uint_eq(start_run(100, "exec sleep 60"), 1);
	await("started 1 100\n");
	ck_assert(workers_stop_run(f.ws, 1, 100));
	await("ended 1 100 how=2 code=0 signal=15\n");
	ck_assert(workers_stop_run(f.ws, 1, 999));
	await("unknown 1 999\n");
	ck_assert(!workers_stop_run(f.ws, 55, 100));
	workers_ack(f.ws, 1, 100);
}
END_TEST

START_TEST(signal_reaches_the_run)
{
	open_real_program();
	must_begin(INSTANCE, 1, 1);
	await("list_end 1\n");
	start_run(100, "exec sleep 60");
	await("started 1 100\n");
	ck_assert(workers_signal_run(f.ws, 1, 100, SIGKILL));
	await("ended 1 100 how=2 code=0 signal=9\n");
	workers_ack(f.ws, 1, 100);
}
END_TEST

START_TEST(runs_go_to_the_worker_with_the_fewest)
{
	uint64_t first, second, third;

	open_real_program();
	must_begin(INSTANCE, 1, 2);
	await("list_end 1\n");
	await("list_end 2\n");
	first = start_run(100, "exec sleep 60");
	second = start_run(101, "true");
	ck_assert_uint_ne(first, second);
	await("started 1 100\n");
	await("ended 2 101 how=1 code=0 signal=0\n");
	third = start_run(102, "true");
	ck_assert_uint_eq(third, 2);
	await("ended 2 102 how=1 code=0 signal=0\n");
	workers_signal_run(f.ws, 1, 100, SIGKILL);
	await("ended 1 100 ");
	for (uint64_t run = 100; run <= 102; run++)
		workers_ack(f.ws, run == 100 ? 1 : 2, run);
}
END_TEST

START_TEST(start_elsewhere_avoids_the_one_named)
{
	struct protocol_start start = { .tag = { .run_id = 1,
		.job_name = "x", .cause = RUN_CAUSE_MANUAL, .attempt = 1 },
		.command = "true", .shell = "/bin/sh", .workdir = "/",
		.owner_uid = geteuid(), .stop_signal = SIGTERM,
		.start_timeout = USEC_PER_SEC, .stop_grace = USEC_PER_SEC,
		.output = PROTOCOL_OUTPUT_DISCARD };
	uint64_t worker = 0;

	open_real_program();
	must_begin(INSTANCE, 1, 2);
	await("list_end 1\n");
	ck_assert(!workers_start_elsewhere(f.ws, &start, 1, &worker) ||
	    worker == 2);
	await("list_end 2\n");
	start.tag.run_id = 2;
	ck_assert(workers_start_elsewhere(f.ws, &start, 2, &worker));
	ck_assert_uint_eq(worker, 1);
	await("ended 1 2 ");
	workers_ack(f.ws, 1, 2);
	workers_ack(f.ws, 2, 1);
}
END_TEST

START_TEST(running_job_outlives_the_daemon_and_is_listed_to_the_next)
{
	pid_t pid;

	open_real_program();
	must_begin(INSTANCE, 1, 1);
	await("list_end 1\n");
	start_run(100, "exec sleep 60");
	await("started 1 100\n");
	pid = f.pid;
	leave();
	must_begin(INSTANCE, 2, 1);
	ck_assert(workers_is_unsettled(f.ws, 1));
	await("settled\n");
	ck_assert_str_eq(f.heard.buf, "listed 1 100\nlist_end 1\nsettled\n");
	ck_assert(!workers_is_unsettled(f.ws, 1));
	ck_assert_uint_eq(info_of(1).runs, 1);
	ck_assert_uint_eq(workers_count(f.ws), 1);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	await("ended 1 100 how=2 code=0 signal=9\n");
	workers_ack(f.ws, 1, 100);
}
END_TEST

static bool
is_left(const char *dir, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return access(path, F_OK) == 0;
}

/* The processes of the worker: waits for the end of that child. */
static void
await_exit(pid_t pid)
{
	int status;

	alarm(20);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	alarm(0);
}

START_TEST(results_of_a_worker_without_a_daemon_come_from_its_spool)
{
	pid_t worker;

	open_real_program();
	must_begin(INSTANCE, 1, 1);
	await("list_end 1\n");
	worker = info_of(1).pid;
	start_run(100, "sleep 0.2; exit 3");
	start_run(101, "sleep 0.3; exit 4");
	await("started 1 100\n");
	await("started 1 101\n");
	leave();
	await_exit(worker);
	f.forget_dead = false;
	must_begin(INSTANCE, 2, 1);
	ck_assert(workers_is_unsettled(f.ws, 1));
	await("settled\n");
	ck_assert_str_eq(f.heard.buf,
	    "ended 1 100 how=1 code=3 signal=0\n"
	    "ended 1 101 how=1 code=4 signal=0\n"
	    "dead 1\n"
	    "settled\n");
	ck_assert_int_eq(info_of(1).state, WORKERS_DEAD);
	ck_assert(!workers_is_unsettled(f.ws, 1));
	ck_assert(is_left(f.workers_dir, "1.lock"));
	workers_forget(f.ws, 1);
	for (int i = 0; i < 1000 && is_left(f.workers_dir, "1.lock"); i++)
		turn();
	ck_assert(!is_left(f.workers_dir, "1.lock"));
	ck_assert(!is_left(f.workers_dir, "1.sock"));
}
END_TEST

START_TEST(killed_worker_is_dead_and_replaced)
{
	pid_t worker, job;
	int64_t killed;

	open_real_program();
	must_begin(INSTANCE, 1, 1);
	await("list_end 1\n");
	start_run(100, "exec sleep 60");
	await("started 1 100\n");
	worker = info_of(1).pid;
	job = f.pid;
	ck_assert_int_eq(kill(worker, SIGKILL), 0);
	killed = boottime_now().us;
	await("dead 1\n");
	ck_assert(!has_heard("ended"));
	await("list_end 2\n");
	ck_assert_msg(boottime_now().us - killed < USEC_PER_SEC,
	    "replaced after %lld us",
	    (long long)(boottime_now().us - killed));
	ck_assert_uint_eq(workers_count(f.ws), 1);
	ck_assert_uint_eq(start_run(101, "exit 0"), 2);
	await("ended 2 101 ");
	workers_ack(f.ws, 2, 101);
	/* what the dead one left came to us */
	ck_assert_int_eq(kill(job, SIGKILL), 0);
	while (kill(job, 0) == 0)
		turn();
}
END_TEST

START_TEST(drained_workers_end_when_empty_and_are_not_replaced)
{
	open_real_program();
	must_begin(INSTANCE, 1, 2);
	await("list_end 1\n");
	await("list_end 2\n");
	start_run(100, "sleep 0.3");
	await("started 1 100\n");
	workers_drain(f.ws);
	ck_assert(!workers_can_start(f.ws));
	ck_assert_uint_eq(start_run(101, "true"), 0);
	await("dead 2\n");
	ck_assert(!has_heard("dead 1\n"));
	await("ended 1 100 how=1 code=0 signal=0\n");
	workers_ack(f.ws, 1, 100);
	await("dead 1\n");
	ck_assert_uint_eq(workers_count(f.ws), 0);
	ck_assert_int_eq(workers_deadline(f.ws), INT64_MAX);
}
END_TEST

START_TEST(surplus_workers_of_the_daemon_before_are_drained)
{
	open_real_program();
	must_begin(INSTANCE, 1, 3);
	await("list_end 1\n");
	await("list_end 2\n");
	await("list_end 3\n");
	start_run(100, "exec sleep 60");
	await("started ");
	leave();
	must_begin(INSTANCE, 2, 1);
	await("settled\n");
	for (int64_t last = boottime_now().us + WAIT_US;
	    workers_count(f.ws) > 1 && boottime_now().us < last;)
		turn();
	ck_assert_uint_ge(workers_count(f.ws), 1);
	ck_assert(has_heard("listed 1 100\n"));
	workers_signal_run(f.ws, 1, 100, SIGKILL);
	kill(f.pid, SIGKILL);
	await("ended 1 100 ");
	workers_ack(f.ws, 1, 100);
}
END_TEST

START_TEST(worker_has_nothing_of_our_environment_or_descriptors)
{
	char path[64], text[4096] = "";
	ssize_t n;
	int fd;

	open_real_program();
	setenv("NOTIFY_SOCKET", "/nowhere", 1);
	setenv("SECRET", "x", 1);
	setenv("LANG", "C.UTF-8", 1);
	must_begin(INSTANCE, 1, 1);
	await("list_end 1\n");
	snprintf(path, sizeof(path), "/proc/%ld/environ",
	    (long)info_of(1).pid);
	fd = open(path, O_RDONLY);
	ck_assert_int_ge(fd, 0);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	ck_assert_int_gt(n, 0);
	for (ssize_t i = 0; i < n; i++)
		text[i] = text[i] == '\0' ? '\n' : text[i];
	ck_assert_str_eq(text, "PATH=/usr/local/sbin:/usr/local/bin:"
	    "/usr/sbin:/usr/bin:/sbin:/bin\nLANG=C.UTF-8\n");
	snprintf(path, sizeof(path), "/proc/%ld/fd/0",
	    (long)info_of(1).pid);
	n = readlink(path, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	ck_assert_str_eq(text, "/dev/null");
	/* the program's descriptor is one of ours */
	snprintf(path, sizeof(path), "/proc/%ld/fd/%d",
	    (long)info_of(1).pid, f.program_fd);
	n = readlink(path, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	ck_assert_ptr_null(strstr(text, "worker"));
}
END_TEST

/* Also one of those that a worker is given others at. */
START_TEST(program_may_have_a_low_descriptor)
{
	int low;

	open_real_program();
	event_base_free(f.base);
	files_free(f.files);
	low = fcntl(f.program_fd, F_DUPFD_CLOEXEC, PROTOCOL_FD_LISTENER);
	ck_assert_int_ge(low, PROTOCOL_FD_LISTENER);
	ck_assert_int_le(low, PROTOCOL_FD_SPOOL);
	close(f.program_fd);
	f.program_fd = low;
	f.base = event_base_new();
	f.files = files_new(&f.context, f.base);
	must_begin(INSTANCE, 1, 1);
	await("list_end 1\n");
}
END_TEST

/* --- the fake one --- */

static void
begin_fake(enum fake_role role, size_t count)
{
	open_fake_program();
	must_begin(fake_worker_name(role), 1, count);
}

/* Looks at the table as if that long had passed. */
static void
pass(int64_t us)
{
	workers_check_deadlines(f.ws,
	    (struct boottime){ boottime_now().us + us });
	workers_flush(f.ws);
}

START_TEST(silent_worker_is_stuck_after_five_seconds)
{
	begin_fake(FAKE_SILENT, 1);
	await("settled\n");
	pass(4900 * USEC_PER_MSEC);
	ck_assert_int_eq(info_of(1).state, WORKERS_ATTACHING);
	pass(5100 * USEC_PER_MSEC);
	ck_assert_int_eq(info_of(1).state, WORKERS_STUCK);
	ck_assert(!workers_can_start(f.ws));
	ck_assert(workers_is_unsettled(f.ws, 1));
}
END_TEST

START_TEST(unanswered_start_makes_a_worker_stuck_until_it_answers)
{
	begin_fake(FAKE_SLEEPY, 1);
	await("list_end 1\n");
	ck_assert_uint_eq(start_run(100, "x"), 1);
	workers_flush(f.ws);
	pass(300 * USEC_PER_MSEC);
	ck_assert_int_eq(info_of(1).state, WORKERS_ATTACHED);
	pass(1001 * USEC_PER_MSEC);
	ck_assert_int_eq(info_of(1).state, WORKERS_STUCK);
	ck_assert_uint_eq(start_run(101, "x"), 0);
	ck_assert_uint_eq(info_of(1).runs, 1);
	/* what wakes it */
	ck_assert(workers_stop_run(f.ws, 1, 999));
	await("started 1 100\n");
	await_state(1, WORKERS_ATTACHED);
	ck_assert_uint_eq(info_of(1).unconfirmed, 0);
	ck_assert(workers_can_start(f.ws));
}
END_TEST

START_TEST(slow_start_is_confirmed_by_the_answer_to_a_ping)
{
	int64_t sent = boottime_now().us;

	begin_fake(FAKE_SLOW, 1);
	await("list_end 1\n");
	ck_assert_uint_eq(start_run(100, "x"), 1);
	workers_flush(f.ws);
	ck_assert_int_le(workers_deadline(f.ws),
	    boottime_now().us + 250 * USEC_PER_MSEC);
	while (info_of(1).unconfirmed > 0) {
		ck_assert_int_lt(boottime_now().us, sent + WAIT_US);
		turn();
	}
	pass(2 * USEC_PER_SEC);
	ck_assert_int_eq(info_of(1).state, WORKERS_ATTACHED);
	ck_assert_uint_eq(info_of(1).runs, 1);
	ck_assert(!has_heard("started"));
}
END_TEST

START_TEST(worker_takes_32_unconfirmed_starts_at_most)
{
	begin_fake(FAKE_SLEEPY, 1);
	await("list_end 1\n");
	for (uint64_t run = 1; run <= 32; run++)
		ck_assert_uint_eq(start_run(run, "x"), 1);
	ck_assert(!workers_can_start(f.ws));
	ck_assert_uint_eq(start_run(33, "x"), 0);
	ck_assert_uint_eq(info_of(1).unconfirmed, 32);
}
END_TEST

START_TEST(start_that_a_lost_connection_swallowed_is_not_listed)
{
	begin_fake(FAKE_HANG_UP, 1);
	await("list_end 1\n");
	strbuf_reset(&f.heard);
	ck_assert_uint_eq(start_run(100, "x"), 1);
	await("list_end 1\n");
	ck_assert_str_eq(f.heard.buf, "list_end 1\n");
	ck_assert_uint_eq(info_of(1).runs, 0);
	ck_assert_uint_eq(info_of(1).unconfirmed, 0);
	/* and now it goes well */
	ck_assert_uint_eq(start_run(101, "x"), 1);
	await("started 1 101\n");
}
END_TEST

START_TEST(stop_for_a_worker_that_is_away_reaches_it_later)
{
	begin_fake(FAKE_HANG_UP, 1);
	await("list_end 1\n");
	start_run(100, "x");
	while (info_of(1).state == WORKERS_ATTACHED)
		turn();
	ck_assert(workers_stop_run(f.ws, 1, 100));
	ck_assert(!workers_signal_run(f.ws, 1, 100, SIGTERM));
	await("unknown 1 100\n");
}
END_TEST

START_TEST(frame_out_of_place_ends_the_connection_not_the_worker)
{
	static const enum fake_role roles[] = { FAKE_BABBLE, FAKE_MISCOUNT,
		FAKE_OWING };

	begin_fake(roles[_i], 1);
	await("list_end 1\n");
	if (roles[_i] == FAKE_BABBLE) {
		strbuf_reset(&f.heard);
		start_run(100, "x");
		await("list_end 1\n");
		ck_assert(!has_heard("listed"));
	}
	start_run(101, "x");
	await("started 1 101\n");
	ck_assert_uint_eq(workers_count(f.ws), 1);
}
END_TEST

START_TEST(frame_of_a_later_version_is_skipped)
{
	begin_fake(FAKE_FUTURE, 1);
	await("list_end 1\n");
	start_run(100, "x");
	await("started 1 100\n");
	ck_assert_int_eq(info_of(1).state, WORKERS_ATTACHED);
}
END_TEST

/* Doubling from 1 s to 1 min, as often as it takes. */
START_TEST(workers_that_come_to_nothing_are_retried_ever_later)
{
	static const int64_t seconds[] = { 1, 2, 4, 8, 16, 32, 60, 60 };
	int64_t delay, now = 0;
	char line[32];

	begin_fake(FAKE_CRASH, 1);
	for (size_t i = 0; i < 8; i++) {
		snprintf(line, sizeof(line), "dead %zu\n", i + 1);
		await(line);
		for (int turns = 0; turns < 5; turns++)
			turn();
		now = boottime_now().us;
		delay = workers_deadline(f.ws) - now;
		ck_assert_msg(delay > (seconds[i] - 1) * USEC_PER_SEC &&
		    delay <= seconds[i] * USEC_PER_SEC, "%zu: %lld us", i,
		    (long long)delay);
		ck_assert_uint_eq(workers_count(f.ws), 0);
		pass(seconds[i] * USEC_PER_SEC);
		if (workers_count(f.ws) == 0)
			pass(seconds[i] * USEC_PER_SEC);
	}
}
END_TEST

START_TEST(program_that_cannot_be_started_fails_the_beginning)
{
	struct error err = { "" };

	open_program("/etc/passwd");
	ck_assert_int_eq(begin_workers(INSTANCE, 1, 1, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text,
	    "the worker program can't be started: "));
}
END_TEST

/* A worker that an earlier daemon left: forked, with what a kit holds. */
static pid_t
leave_fake(enum fake_role role, uint64_t number)
{
	struct files_worker_kit kit;
	struct error err = { "" };
	pid_t pid;

	ck_assert_msg(files_make_worker_kit_now(&f.context, number, &kit,
	    &err) == 0, "%s", err.text);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		int fds[] = { kit.listener, kit.lock, kit.worker_end };

		close(kit.daemon_end);
		for (int i = 0; i < 3; i++)
			fds[i] = fcntl(fds[i], F_DUPFD, 50);
		for (int i = 0; i < 3; i++)
			dup2(fds[i], PROTOCOL_FD_LISTENER + i);
		for (int i = PROTOCOL_FD_SPOOL + 1; i < 100; i++)
			close(i);
		fake_worker_left(role, number);
	}
	files_worker_kit_close(&kit);
	return pid;
}

START_TEST(left_worker_of_another_instance_is_left_alone)
{
	static const enum fake_role roles[] = { FAKE_DENY, FAKE_STRANGE };

	leave_fake(roles[_i], 7);
	open_fake_program();
	must_begin(fake_worker_name(FAKE_GOOD), 2, 1);
	await_state(7, WORKERS_STUCK);
	await("settled\n");
	await("list_end 8\n");
	ck_assert(workers_is_unsettled(f.ws, 7));
	ck_assert(!workers_stop_run(f.ws, 7, 100));
	pass(60 * USEC_PER_SEC);
	for (int i = 0; i < 20; i++)
		turn();
	ck_assert_int_eq(info_of(7).state, WORKERS_STUCK);
	ck_assert_uint_eq(workers_count(f.ws), 2);
}
END_TEST

START_TEST(own_worker_that_denies_us_is_a_failed_start)
{
	begin_fake(FAKE_DENY, 1);
	await("dead 1\n");
	await("settled\n");
	ck_assert_uint_eq(workers_count(f.ws), 0);
	ck_assert_int_gt(workers_deadline(f.ws), boottime_now().us);
}
END_TEST

START_TEST(left_worker_that_does_not_answer_is_given_up_after_five_seconds)
{
	pid_t pid = leave_fake(FAKE_GOOD, 7);

	/* stopped: its lock is held, its listener takes connections */
	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	open_fake_program();
	must_begin(fake_worker_name(FAKE_GOOD), 2, 1);
	for (int i = 0; i < 20; i++)
		turn();
	ck_assert(!has_heard("settled"));
	ck_assert(workers_is_unsettled(f.ws, 7));
	pass(5100 * USEC_PER_MSEC);
	ck_assert_str_eq(f.heard.buf, "");	/* not from within the call */
	await("settled\n");
	ck_assert_int_eq(info_of(7).state, WORKERS_STUCK);
	ck_assert(workers_is_unsettled(f.ws, 7));
	/* it wakes, and is healthy again */
	ck_assert_int_eq(kill(pid, SIGCONT), 0);
	await("list_end 7\n");
	ck_assert_int_eq(info_of(7).state, WORKERS_ATTACHED);
	ck_assert(!workers_is_unsettled(f.ws, 7));
}
END_TEST

START_TEST(left_worker_that_dies_while_it_is_awaited_settles)
{
	pid_t pid = leave_fake(FAKE_GOOD, 7);

	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	open_fake_program();
	must_begin(fake_worker_name(FAKE_GOOD), 2, 1);
	for (int i = 0; i < 5; i++)
		turn();
	ck_assert(!has_heard("settled"));
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	await("dead 7\n");
	await("settled\n");
	ck_assert(!workers_is_unsettled(f.ws, 7));
}
END_TEST

START_TEST(new_numbers_are_above_those_that_are_left)
{
	leave_fake(FAKE_GOOD, 7);
	open_fake_program();
	must_begin(fake_worker_name(FAKE_GOOD), 2, 2);
	await("list_end 8\n");
	await("list_end 7\n");
	ck_assert_uint_eq(workers_count(f.ws), 2);
	ck_assert_uint_eq(f.next_number, 10);
}
END_TEST

START_TEST(damaged_spool_gives_what_was_whole)
{
	struct strbuf spool = STRBUF_INIT;
	struct protocol_ended ended = {
		.tag = { .run_id = 5, .job_id = 1, .job_name = "x", .era = 1,
		    .generation = 1, .cause = RUN_CAUSE_SCHEDULE,
		    .attempt = 1, .by_uid = -1 },
		.how = PROTOCOL_END_EXITED, .code = 2, .ended = 1,
	};
	char path[80];
	FILE *file;

	protocol_spool_add(&spool, &ended);
	ended.tag.run_id = 6;
	protocol_spool_add(&spool, &ended);
	spool.len -= 3;
	snprintf(path, sizeof(path), "%s/spool", f.state);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/spool/9", f.state);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(spool.buf, 1, spool.len, file), spool.len);
	ck_assert_int_eq(fclose(file), 0);
	strbuf_release(&spool);
	open_fake_program();
	must_begin(fake_worker_name(FAKE_GOOD), 2, 1);
	await("settled\n");
	ck_assert_str_eq(f.heard.buf,
	    "ended 9 5 how=1 code=2 signal=0\ndead 9\nsettled\n");
}
END_TEST

START_TEST(idle_daemon_has_no_deadline)
{
	begin_fake(FAKE_GOOD, 2);
	await("list_end 1\n");
	await("list_end 2\n");
	for (int i = 0; i < 1000 && workers_deadline(f.ws) != INT64_MAX; i++)
		turn();
	ck_assert_int_eq(workers_deadline(f.ws), INT64_MAX);
	start_run(100, "x");
	ck_assert_int_lt(workers_deadline(f.ws), INT64_MAX);
	await("started ");
	ck_assert_int_eq(workers_deadline(f.ws), INT64_MAX);
}
END_TEST

/* --- --- */

static void
add_pure(Suite *suite)
{
	TCase *tcase = tcase_create("pure");

	tcase_add_test(tcase, each_frame_in_each_phase_has_its_action);
	tcase_add_test(tcase, states_have_names);
	tcase_add_test(tcase, set_of_run_ids_holds_each_once);
	suite_add_tcase(suite, tcase);
}

static void
add_real(Suite *suite)
{
	TCase *tcase = tcase_create("real");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, begin, end);
	tcase_add_test(tcase,
	    first_workers_are_started_and_settled_comes_once);
	tcase_add_test(tcase,
	    run_is_started_and_its_end_told_until_acknowledged);
	tcase_add_test(tcase,
	    run_is_stopped_and_a_run_that_is_not_there_is_unknown);
	tcase_add_test(tcase, signal_reaches_the_run);
	tcase_add_test(tcase, runs_go_to_the_worker_with_the_fewest);
	tcase_add_test(tcase, start_elsewhere_avoids_the_one_named);
	tcase_add_test(tcase,
	    running_job_outlives_the_daemon_and_is_listed_to_the_next);
	tcase_add_test(tcase,
	    results_of_a_worker_without_a_daemon_come_from_its_spool);
	tcase_add_test(tcase, killed_worker_is_dead_and_replaced);
	tcase_add_test(tcase,
	    drained_workers_end_when_empty_and_are_not_replaced);
	tcase_add_test(tcase,
	    surplus_workers_of_the_daemon_before_are_drained);
	tcase_add_test(tcase,
	    worker_has_nothing_of_our_environment_or_descriptors);
	tcase_add_test(tcase, program_may_have_a_low_descriptor);
	suite_add_tcase(suite, tcase);
}

static void
add_fake(Suite *suite)
{
	TCase *tcase = tcase_create("fake");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, begin, end);
	tcase_add_test(tcase, silent_worker_is_stuck_after_five_seconds);
	tcase_add_test(tcase,
	    unanswered_start_makes_a_worker_stuck_until_it_answers);
	tcase_add_test(tcase,
	    slow_start_is_confirmed_by_the_answer_to_a_ping);
	tcase_add_test(tcase, worker_takes_32_unconfirmed_starts_at_most);
	tcase_add_test(tcase,
	    start_that_a_lost_connection_swallowed_is_not_listed);
	tcase_add_test(tcase,
	    stop_for_a_worker_that_is_away_reaches_it_later);
	tcase_add_loop_test(tcase,
	    frame_out_of_place_ends_the_connection_not_the_worker, 0, 3);
	tcase_add_test(tcase, frame_of_a_later_version_is_skipped);
	tcase_add_loop_test(tcase,
	    left_worker_of_another_instance_is_left_alone, 0, 2);
	tcase_add_test(tcase, own_worker_that_denies_us_is_a_failed_start);
	tcase_add_test(tcase,
	    workers_that_come_to_nothing_are_retried_ever_later);
	tcase_add_test(tcase,
	    program_that_cannot_be_started_fails_the_beginning);
	tcase_add_test(tcase,
	    left_worker_that_does_not_answer_is_given_up_after_five_seconds);
	tcase_add_test(tcase,
	    left_worker_that_dies_while_it_is_awaited_settles);
	tcase_add_test(tcase, new_numbers_are_above_those_that_are_left);
	tcase_add_test(tcase, damaged_spool_gives_what_was_whole);
	tcase_add_test(tcase, idle_daemon_has_no_deadline);
	suite_add_tcase(suite, tcase);
}

Suite *workers_suite(void);

Suite *
workers_suite(void)
{
	Suite *suite = suite_create("workers");

	add_pure(suite);
	add_real(suite);
	add_fake(suite);
	return suite;
}

int
main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--number") == 0)
		fake_worker_main(argc, argv);
	return check_main(workers_suite());
}
