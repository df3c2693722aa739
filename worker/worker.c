/* SPDX-License-Identifier: ISC */
/*
 * The loop of a worker.  A turn: callbacks (bytes, signals, pipes), dead
 * children, timers, results, the daemon's connection, and the question
 * whether there is anything left to stay for.  Nothing in it waits: what
 * could hang is in a forked child or in the writer's thread.
 *
 * Cost: a turn looks at each live run once (timers); an idle worker sleeps
 * for ever.
 */
#include "config.h"

#include "worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/log.h"
#include "common/protocol.h"
#include "common/xmalloc.h"
#include "worker/worker_internal.h"

#define FILES_RESERVED	(64 + LEFTOVER_MAX)	/* not for runs */
#define FILES_PER_RUN	4	/* report, output, file, and one to spare */
#define SPOOL_AGAIN_US	(5 * USEC_PER_SEC)
#define LEAVE_WAIT_US	(2 * USEC_PER_SEC)	/* for the last ACKs */

#define CONTAINER(source, member)					\
	((struct worker *)(void *)((char *)(source) -			\
	    offsetof(struct worker, member)))

struct run *
worker_find_run(const struct worker *worker, uint64_t id)
{
	for (size_t i = 0; i < worker->n_runs; i++)
		if (run_id(worker->runs[i]) == id)
			return worker->runs[i];
	return NULL;
}

static struct run *
find_by_pid(const struct worker *worker, pid_t pid)
{
	for (size_t i = 0; i < worker->n_runs; i++)
		if (run_pid(worker->runs[i]) == pid)
			return worker->runs[i];
	return NULL;
}

void
worker_add_run(struct worker *worker, struct run *run)
{
	if (worker->n_runs == worker->cap_runs) {
		worker->cap_runs = worker->cap_runs == 0 ? 16 :
		    worker->cap_runs * 2;
		worker->runs = xreallocarray(worker->runs, worker->cap_runs,
		    sizeof(struct run *));
	}
	worker->runs[worker->n_runs++] = run;
}

void
worker_sweep(struct worker *worker)
{
	size_t kept = 0;

	for (size_t i = 0; i < worker->n_runs; i++) {
		struct run *run = worker->runs[i];

		if (!run_is_over(run)) {
			worker->runs[kept++] = run;
			continue;
		}
		results_add(worker->results, run_result(run));
		if (worker->current != NULL)
			protocol_encode_ended(&worker->current->out,
			    run_result(run));
		run_free(run);
	}
	worker->n_runs = kept;
}

/* struct run_host: a command runs. */
static void
tell_started(void *arg, struct run *run)
{
	struct worker *worker = arg;
	struct protocol_started started;

	if (worker->current != NULL && run_started(run, &started))
		protocol_encode_started(&worker->current->out, &started);
}

/* struct family_options */
static bool
is_main(void *arg, pid_t pid)
{
	return find_by_pid(arg, pid) != NULL;
}

static void
reap_orphan(pid_t pid)
{
	struct rusage usage;
	int status;

	/* It may be gone already; whatever it was, nobody asks. */
	(void)spawn_reap(pid, &status, &usage);
}

static void
dead_orphan(void *arg, pid_t pid)
{
	(void)arg;
	reap_orphan(pid);
}

static void
children_of_ladders(struct worker *worker)
{
	worker->zombies_held = false;
	for (size_t i = 0; i < worker->n_runs; i++) {
		struct run *run = worker->runs[i];

		if (run_pid(run) != 0 && !run_holds_zombie(run) &&
		    spawn_is_dead(run_pid(run)))
			run_main_dead(run);
		run_child_dead(run);
		if (run_holds_zombie(run))
			worker->zombies_held = true;
	}
}

/*
 * waitid(P_ALL) shows the same zombie again and again until it is reaped, so
 * while a ladder holds one, main processes are asked for one by one, and
 * dead orphans are found by the ladder's looks at its family.
 */
static void
reap_children(struct worker *worker)
{
	struct run *run;
	pid_t pid;

	worker->children_died = false;
	while (!worker->zombies_held && (pid = spawn_next_dead()) != 0) {
		if ((run = find_by_pid(worker, pid)) == NULL) {
			reap_orphan(pid);
			continue;
		}
		run_main_dead(run);
		worker->zombies_held = run_holds_zombie(run);
	}
	if (!worker->zombies_held)
		return;
	children_of_ladders(worker);
	/* The last one let go: the others may be hidden behind it. */
	if (!worker->zombies_held)
		worker->children_died = true;
}

static void
terminate(struct worker *worker)
{
	worker->terminating = true;
	for (size_t i = 0; i < worker->n_runs; i++)
		run_stop(worker->runs[i], PROTOCOL_STOPPER_SHUTDOWN);
}

static void
signals_ready(struct source *source, uint32_t events)
{
	struct worker *worker = CONTAINER(source, signals);
	struct signalfd_siginfo info;

	(void)events;
	while (read(source->fd, &info, sizeof info) == sizeof info) {
		if (info.ssi_signo == SIGCHLD)
			worker->children_died = true;
		else if (info.ssi_signo == SIGTERM)
			terminate(worker);
	}
}

static void
listener_ready(struct source *source, uint32_t events)
{
	(void)events;
	worker_link_accept(CONTAINER(source, listener));
}

static void
output_ready(struct source *source, uint32_t events)
{
	struct worker *worker = CONTAINER(source, output_news);

	(void)events;
	output_collect(worker->output);
	for (size_t i = 0; i < worker->n_runs; i++)
		run_output_news(worker->runs[i]);
}

static void
run_timers(struct worker *worker)
{
	struct monotime now = monotime_now();

	for (size_t i = 0; i < worker->n_runs; i++)
		if (run_deadline(worker->runs[i]).us <= now.us)
			run_tick(worker->runs[i], now);
	if (!worker->zombies_held)
		return;
	worker->zombies_held = false;
	for (size_t i = 0; i < worker->n_runs; i++)
		if (run_holds_zombie(worker->runs[i]))
			worker->zombies_held = true;
	if (!worker->zombies_held)
		worker->children_died = true;
}

static struct monotime
next_deadline(const struct worker *worker)
{
	struct monotime next = worker_link_deadline(worker);

	if (worker->spool_at.us < next.us)
		next = worker->spool_at;
	if (worker->leave_at.us < next.us)
		next = worker->leave_at;
	for (size_t i = 0; i < worker->n_runs; i++) {
		struct monotime due = run_deadline(worker->runs[i]);

		if (due.us < next.us)
			next = due;
	}
	return next;
}

/*
 * The lock goes first: whoever finds a connection closed looks at it, and
 * free means that the spool is whole.
 */
static void
leave(struct worker *worker)
{
	worker->done = true;
	if (close(PROTOCOL_FD_LOCK) == -1)
		log_error("worker", "the lock can't be closed: %s",
		    strerrordesc_np(errno));
}

static void
spool_and_leave(struct worker *worker)
{
	struct error err;

	if (worker->spool_at.us != POLLER_NEVER &&
	    monotime_now().us < worker->spool_at.us)
		return;
	worker->spool_at.us = POLLER_NEVER;
	if (results_count(worker->results) == 0 ||
	    results_spool(worker->results, PROTOCOL_FD_SPOOL, worker->number,
	    &err) == 0) {
		leave(worker);
		return;
	}
	log_error("worker", "%s; %zu results are kept in memory", err.text,
	    results_count(worker->results));
	worker->spool_at.us = monotime_now().us + SPOOL_AGAIN_US;
}

/* SIGTERM, and the last run has ended: give the daemon a moment. */
static void
leave_soon(struct worker *worker)
{
	if (worker->current == NULL || results_count(worker->results) == 0) {
		spool_and_leave(worker);
		return;
	}
	if (worker->leave_at.us == POLLER_NEVER)
		worker->leave_at.us = monotime_now().us + LEAVE_WAIT_US;
	else if (monotime_now().us >= worker->leave_at.us) {
		/* Nothing more is taken from a daemon that is not there. */
		worker_link_close(worker);
		worker->leave_at.us = POLLER_NEVER;
		spool_and_leave(worker);
	}
}

static void
consider_leaving(struct worker *worker)
{
	if (worker->n_runs > 0)
		return;
	if (worker->terminating) {
		leave_soon(worker);
		return;
	}
	if (worker->current != NULL) {
		worker->spool_at.us = POLLER_NEVER;
		if (worker->draining && results_count(worker->results) == 0 &&
		    worker->current->out.len == 0)
			leave(worker);
		return;
	}
	/* One that has just come in is heard first. */
	if (worker->listen_at.us == POLLER_NEVER)
		worker_link_accept(worker);
	if (worker->n_pending == 0)
		spool_and_leave(worker);
}

int
worker_run(struct worker *worker, struct error *err)
{
	while (!worker->done) {
		struct monotime until = next_deadline(worker);

		if (worker->children_died)
			until.us = 0;
		if (poller_run(worker->poller, until, err) == -1)
			return -1;
		if (worker->children_died)
			reap_children(worker);
		run_timers(worker);
		worker_sweep(worker);
		worker_link_turn(worker);
		consider_leaving(worker);
	}
	return 0;
}

static int
read_boot_id(char out[WORKER_BOOT_ID_SIZE], struct error *err)
{
	static const char path[] = "/proc/sys/kernel/random/boot_id";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	if (fd != -1) {
		n = read(fd, out, WORKER_BOOT_ID_SIZE - 1);
		close(fd);
	}
	if (n <= 0)
		return error_set_errno(err, errno, "%s can't be read", path);
	out[n] = '\0';
	out[strcspn(out, "\n")] = '\0';
	return 0;
}

static int
open_signals(struct worker *worker, struct error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	worker->signals.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	worker->signals.ready = signals_ready;
	if (worker->signals.fd == -1)
		return error_set_errno(err, errno, "no signal descriptor");
	return poller_set(worker->poller, &worker->signals, EPOLLIN, err);
}

static int
open_sources(struct worker *worker, struct error *err)
{
	struct monotime never = { POLLER_NEVER };

	worker->listener = (struct source){ .fd = PROTOCOL_FD_LISTENER,
	    .ready = listener_ready };
	worker->output_news = (struct source){
	    .fd = output_event_fd(worker->output), .ready = output_ready };
	if (open_signals(worker, err) == -1 ||
	    poller_set(worker->poller, &worker->listener, EPOLLIN, err) ==
	    -1 || poller_set(worker->poller, &worker->output_news, EPOLLIN,
	    err) == -1)
		return -1;
	worker_link_add(worker, PROTOCOL_FD_DAEMON, never);
	return 0;
}

static void
set_max_runs(struct worker *worker, uint64_t max_files)
{
	uint64_t runs = max_files <= FILES_RESERVED ? 0 :
	    (max_files - FILES_RESERVED) / FILES_PER_RUN;

	if (runs == 0)
		runs = 1;
	worker->max_runs = runs > WORKER_RUNS_MAX ? WORKER_RUNS_MAX :
	    (size_t)runs;
}

struct worker *
worker_new(const struct worker_options *options, struct error *err)
{
	struct worker *worker = xcalloc(1, sizeof *worker);
	struct family_options family = { is_main, dead_orphan, worker };

	worker->number = options->number;
	worker->instance = xstrdup(options->instance);
	worker->epoch = options->epoch;
	worker->listen_at.us = worker->spool_at.us = worker->leave_at.us =
	    POLLER_NEVER;
	worker->signals.fd = -1;
	set_max_runs(worker, options->max_files);
	worker->results = results_new();
	worker->family = family_new(&family);
	if (read_boot_id(worker->boot_id, err) == -1 ||
	    (worker->poller = poller_new(err)) == NULL ||
	    (worker->spawner = spawner_new(&options->limits,
	    WORKER_RUNS_MAX, err)) == NULL ||
	    (worker->output = output_new(PROTOCOL_FD_OUTPUT, err)) == NULL) {
		worker_free(worker);
		return NULL;
	}
	worker->leftover = leftover_new(worker->poller);
	worker->host = (struct run_host){
		.poller = worker->poller, .spawner = worker->spawner,
		.output = worker->output, .leftover = worker->leftover,
		.family = worker->family, .started = tell_started,
		.arg = worker,
	};
	if (open_sources(worker, err) == -1) {
		worker_free(worker);
		return NULL;
	}
	return worker;
}

void
worker_free(struct worker *worker)
{
	if (worker == NULL)
		return;
	worker_link_close(worker);
	for (size_t i = 0; i < worker->n_runs; i++)
		run_free(worker->runs[i]);
	free(worker->runs);
	leftover_free(worker->leftover);
	output_free(worker->output);
	spawner_free(worker->spawner);
	family_free(worker->family);
	results_free(worker->results);
	if (worker->signals.fd != -1)
		close(worker->signals.fd);
	poller_free(worker->poller);
	free(worker->instance);
	free(worker);
}
