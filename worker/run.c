/* SPDX-License-Identifier: ISC */
/*
 * The life of one run.  Facts come in from the owner (a dead child, a stop,
 * a tick) and from the report pipe; every one of them may be the last that
 * is needed, so each ends in asking whether the run can be concluded.
 *
 * Invariants: pid is a process or zombie of ours as long as it isn't 0;
 * signals go out only then.  Once over, nothing happens to a run any more.
 */
#include "config.h"

#include "worker/run.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "common/xmalloc.h"
#include "worker/capture.h"
#include "worker/family.h"

#define LOOK_SOON_US	(5 * USEC_PER_MSEC)	/* gathers deaths */

enum run_timer {
	TIMER_START,		/* preparing takes too long */
	TIMER_TIMEOUT,		/* the run takes too long */
	TIMER_KILL,		/* the ladder's last step */
	TIMER_GONE,		/* not even KILL helped */
	TIMER_LOOK,		/* look for stragglers */
	TIMER_OUTPUT,		/* the disk takes too long */
	TIMERS
};

struct run {
	const struct run_host	*host;		/* borrowed */
	struct protocol_ended	 end;		/* result, strings owned */
	enum protocol_run_state	 state;		/* as LIST tells it */
	struct spawn		 spawn;		/* pid 0: none, or reaped */
	struct source		 report;	/* fd -1: it has ended */
	struct capture		*capture;	/* NULL: no output kept */
	struct family_known	 known;		/* escaped processes */
	int64_t			 timeout;	/* us; 0: none */
	int64_t			 start_timeout;	/* us */
	int64_t			 stop_grace;	/* us */
	int			 stop_signal;	/* first step of the ladder */
	int			 put_off;	/* signal to send later, or 0 */
	struct monotime		 begun;		/* exec seen */
	struct monotime		 timers[TIMERS]; /* POLLER_NEVER: off */
	bool			 runs;		/* exec was seen */
	bool			 failed;	/* a stage, told or found out */
	bool			 main_dead;	/* main process has ended */
	bool			 kill_sent;	/* last step was made */
	bool			 gave_up;	/* and waited for */
	bool			 concluded;	/* only output is missing */
	bool			 over;		/* result is ready */
};

static void	conclude(struct run *);

static void
set_timer(struct run *run, enum run_timer timer, int64_t delay)
{
	int64_t now = monotime_now().us;

	run->timers[timer].us = delay < POLLER_NEVER - now ? now + delay :
	    POLLER_NEVER;
}

static void
clear_timer(struct run *run, enum run_timer timer)
{
	run->timers[timer].us = POLLER_NEVER;
}

static void
send_signal(const struct run *run, pid_t target, int signum)
{
	if (kill(target, signum) == -1 && errno != ESRCH)
		log_warning("run", "run=%llu signal %d can't be sent: %s",
		    (unsigned long long)run->end.tag.run_id, signum,
		    strerrordesc_np(errno));
}

/* Remembers the first failure; what comes later is its consequence. */
static void
start_failed(struct run *run, enum protocol_stage stage, int errnum,
    const char *text)
{
	if (run->failed)
		return;
	run->failed = true;
	run->end.stage = stage;
	run->end.errnum = errnum;
	if (text != NULL)
		run->end.detail = xstrdup(text);
}

static void
close_report(struct run *run)
{
	if (run->report.fd == -1)
		return;
	poller_remove(run->host->poller, &run->report);
	close(run->report.fd);
	run->report.fd = -1;
	spawn_release_slot(run->host->spawner, run->spawn.slot);
	clear_timer(run, TIMER_START);
}

static void
command_runs(struct run *run)
{
	run->runs = true;
	run->end.started = walltime_now().us;
	run->begun = monotime_now();
	if (run->state == PROTOCOL_RUN_PREPARING)
		run->state = PROTOCOL_RUN_RUNNING;
	if (run->timeout > 0)
		set_timer(run, TIMER_TIMEOUT, run->timeout);
	run->host->started(run->host->arg, run);
	if (run->put_off != 0)
		send_signal(run, -run->spawn.pid, run->put_off);
	run->put_off = 0;
}

/* What the child has told, if anything. */
static void
read_report(struct run *run)
{
	struct spawn_report report;
	enum protocol_stage stage;

	if (run->report.fd == -1)
		return;
	stage = spawn_stage(run->host->spawner, run->spawn.slot);
	switch (spawn_read_report(run->report.fd, &report)) {
	case 1:
		start_failed(run, (enum protocol_stage)report.stage,
		    report.errnum, report.text);
		close_report(run);
		break;
	case 0:
		close_report(run);
		if (run->failed)
			break;
		if (stage == PROTOCOL_STAGE_EXEC)
			command_runs(run);
		else
			start_failed(run, stage, 0, NULL);
		break;
	default:
		break;
	}
}

static void
report_ready(struct source *source, uint32_t events)
{
	struct run *run = (struct run *)(void *)((char *)source -
	    offsetof(struct run, report));

	(void)events;
	read_report(run);
}

static void
become_over(struct run *run)
{
	struct output_totals totals = { 0 };

	if (run->capture != NULL)
		capture_free(run->capture, &totals);
	run->capture = NULL;
	run->end.output_bytes = totals.bytes;
	run->end.output_dropped = totals.dropped;
	if (totals.errnum != 0 && run->end.detail == NULL)
		run->end.detail = xasprintf("output can't be kept: %s",
		    strerrordesc_np(totals.errnum));
	for (int i = 0; i < TIMERS; i++)
		clear_timer(run, (enum run_timer)i);
	run->over = true;
}

static void
fork_failed(struct run *run, int errnum, const char *text)
{
	start_failed(run, PROTOCOL_STAGE_FORK, errnum, text);
	run->end.how = PROTOCOL_END_START_FAILED;
	run->end.ended = walltime_now().us;
	run->concluded = true;
	become_over(run);
}

struct run *
run_new(const struct run_host *host, const struct protocol_start *start)
{
	struct run *run = xcalloc(1, sizeof *run);
	struct error err;
	int errnum;

	run->host = host;
	run->state = PROTOCOL_RUN_PREPARING;
	run->end.tag = start->tag;
	run->end.tag.job_name = xstrdup(start->tag.job_name);
	run->timeout = start->timeout;
	run->start_timeout = start->start_timeout;
	run->stop_grace = start->stop_grace;
	run->stop_signal = start->stop_signal;
	run->report = (struct source){ .fd = -1, .ready = report_ready };
	for (int i = 0; i < TIMERS; i++)
		clear_timer(run, (enum run_timer)i);
	if (spawn_start(host->spawner, start, &run->spawn, &errnum, &err) ==
	    -1) {
		run->spawn.pid = 0;
		fork_failed(run, errnum, err.text);
		return run;
	}
	run->end.pid = run->spawn.pid;
	run->end.starttime = run->spawn.starttime;
	if (run->spawn.output_fd != -1)
		run->capture = capture_new(host->poller, host->output,
		    run->spawn.output_fd, start->tag.run_id,
		    start->output_limit);
	run->report.fd = run->spawn.report_fd;
	set_timer(run, TIMER_START, start->start_timeout);
	if (poller_set(host->poller, &run->report, EPOLLIN, &err) == -1) {
		start_failed(run, PROTOCOL_STAGE_FORK, 0, err.text);
		send_signal(run, run->spawn.pid, SIGKILL);
	}
	return run;
}

void
run_free(struct run *run)
{
	struct output_totals totals;

	if (run == NULL)
		return;
	close_report(run);
	if (run->capture != NULL)
		capture_free(run->capture, &totals);
	family_known_release(&run->known);
	free((char *)(uintptr_t)run->end.tag.job_name);
	free((char *)(uintptr_t)run->end.detail);
	free(run);
}

uint64_t
run_id(const struct run *run)
{
	return run->end.tag.run_id;
}

pid_t
run_pid(const struct run *run)
{
	return run->spawn.pid;
}

bool
run_is_over(const struct run *run)
{
	return run->over;
}

bool
run_holds_zombie(const struct run *run)
{
	return run->main_dead && run->spawn.pid != 0;
}

enum protocol_run_state
run_state(const struct run *run)
{
	return run->over ? PROTOCOL_RUN_ENDED : run->state;
}

void
run_list(const struct run *run, struct protocol_list_run *list)
{
	*list = (struct protocol_list_run){
		.tag = run->end.tag, .state = run_state(run),
		.pid = run->end.pid, .starttime = run->end.starttime,
		.started = run->end.started,
	};
}

bool
run_started(const struct run *run, struct protocol_started *started)
{
	*started = (struct protocol_started){
		.run_id = run->end.tag.run_id, .pid = run->end.pid,
		.starttime = run->end.starttime, .started = run->end.started,
	};
	return run->runs;
}

const struct protocol_ended *
run_result(const struct run *run)
{
	assert(run->over);
	return &run->end;
}

/*
 * To all that belongs to it, out of its group and in it.  In this order: the
 * death of a parent in the group would hide what it had.
 */
static void
signal_all(struct run *run, int signum, size_t *left)
{
	struct error err;

	if (family_signal(run->host->family, run->spawn.pid,
	    run->end.tag.run_id, &run->known, poller_now(run->host->poller),
	    signum, left, &err) == -1) {
		log_warning("run", "run=%llu %s",
		    (unsigned long long)run->end.tag.run_id, err.text);
		*left = 0;
	}
	send_signal(run, -run->spawn.pid, signum);
}

static void
kill_all(struct run *run)
{
	size_t left;

	run->kill_sent = true;
	clear_timer(run, TIMER_KILL);
	signal_all(run, SIGKILL, &left);
	set_timer(run, TIMER_GONE, RUN_GONE_WAIT_US);
}

void
run_stop(struct run *run, enum protocol_stopper stopper)
{
	size_t left;

	if (run->concluded || run->state == PROTOCOL_RUN_STOPPING)
		return;
	read_report(run);
	run->state = PROTOCOL_RUN_STOPPING;
	run->end.stopper = stopper;
	clear_timer(run, TIMER_TIMEOUT);
	if (!run->runs) {
		/* Nothing of the job runs that could want to clean up. */
		send_signal(run, run->spawn.pid, SIGKILL);
		set_timer(run, TIMER_GONE, RUN_GONE_WAIT_US);
		return;
	}
	set_timer(run, TIMER_KILL, run->stop_grace);
	signal_all(run, run->stop_signal, &left);
	/* So that a suspended one hears it. */
	send_signal(run, -run->spawn.pid, SIGCONT);
}

void
run_signal(struct run *run, int signum)
{
	if (run->concluded)
		return;
	read_report(run);
	if (run->runs)
		send_signal(run, -run->spawn.pid, signum);
	else
		run->put_off = signum;
}

static void
look_for_stragglers(struct run *run)
{
	size_t left = 0;

	clear_timer(run, TIMER_LOOK);
	if (!run->main_dead || run->concluded)
		return;
	if (run->kill_sent) {
		signal_all(run, SIGKILL, &left);
	} else if (family_signal(run->host->family, run->spawn.pid,
	    run->end.tag.run_id, &run->known, poller_now(run->host->poller),
	    0, &left, NULL) == -1) {
		left = 0;
	}
	if (left == 0 || run->gave_up)
		conclude(run);
}

void
run_main_dead(struct run *run)
{
	if (run->main_dead)
		return;
	run->main_dead = true;
	read_report(run);
	close_report(run);
	if (!run->runs)
		start_failed(run, PROTOCOL_STAGE_FORK, 0, NULL);
	run->end.ended = walltime_now().us;
	if (run->runs)
		run->end.duration = monotime_now().us - run->begun.us;
	clear_timer(run, TIMER_TIMEOUT);
	if (run->capture != NULL)
		capture_finish(run->capture, run->host->leftover);
	if (run->runs && run->state == PROTOCOL_RUN_STOPPING && !run->gave_up)
		set_timer(run, TIMER_LOOK, LOOK_SOON_US);
	else
		conclude(run);
}

void
run_child_dead(struct run *run)
{
	if (run->main_dead && !run->concluded &&
	    run->timers[TIMER_LOOK].us == POLLER_NEVER)
		set_timer(run, TIMER_LOOK, LOOK_SOON_US);
}

static void
take_usage(struct run *run, const struct rusage *usage)
{
	struct protocol_ended *end = &run->end;

	end->user_us = usage->ru_utime.tv_sec * USEC_PER_SEC +
	    usage->ru_utime.tv_usec;
	end->system_us = usage->ru_stime.tv_sec * USEC_PER_SEC +
	    usage->ru_stime.tv_usec;
	end->max_rss_kb = usage->ru_maxrss;
	end->blocks_in = usage->ru_inblock;
	end->blocks_out = usage->ru_oublock;
	end->switches = usage->ru_nvcsw + usage->ru_nivcsw;
}

static void
take_status(struct run *run, int status)
{
	struct protocol_ended *end = &run->end;

	if (run->failed) {
		end->how = PROTOCOL_END_START_FAILED;
		if (end->detail == NULL && end->stopper !=
		    PROTOCOL_STOPPER_NONE)
			end->detail = xstrdup("stopped before its command "
			    "ran");
		else if (end->detail == NULL && WIFSIGNALED(status))
			end->detail = xasprintf("its process was ended by "
			    "signal %d before the command ran",
			    WTERMSIG(status));
		else if (end->detail == NULL)
			end->detail = xasprintf("its process ended with "
			    "status %d before the command ran",
			    WEXITSTATUS(status));
	} else if (WIFSIGNALED(status)) {
		end->how = PROTOCOL_END_SIGNALED;
		end->signal = WTERMSIG(status);
		end->core = WCOREDUMP(status);
	} else {
		end->how = PROTOCOL_END_EXITED;
		end->code = WEXITSTATUS(status);
	}
}

/* Takes the status; from here on only the output can be missing. */
static void
conclude(struct run *run)
{
	struct rusage usage;
	int status;

	run->concluded = true;
	for (int i = 0; i < TIMERS; i++)
		clear_timer(run, (enum run_timer)i);
	if (run->main_dead && spawn_reap(run->spawn.pid, &status, &usage) ==
	    0) {
		take_usage(run, &usage);
		take_status(run, status);
	} else {
		/* It never ran the command and can't be killed just now. */
		run->end.how = run->failed ? PROTOCOL_END_START_FAILED :
		    PROTOCOL_END_LOST;
	}
	run->spawn.pid = 0;
	if (run->capture == NULL || capture_is_done(run->capture))
		become_over(run);
	else
		set_timer(run, TIMER_OUTPUT, RUN_OUTPUT_WAIT_US);
}

void
run_output_news(struct run *run)
{
	if (run->capture == NULL)
		return;
	capture_news(run->capture);
	if (run->concluded && capture_is_done(run->capture))
		become_over(run);
}

static void
start_hangs(struct run *run)
{
	enum protocol_stage stage;
	char *text;

	clear_timer(run, TIMER_START);
	read_report(run);
	if (run->runs || run->failed)
		return;
	stage = spawn_stage(run->host->spawner, run->spawn.slot);
	text = xasprintf("stage %s did not end within start_timeout, %lld ms",
	    protocol_stage_name(stage),
	    (long long)(run->start_timeout / USEC_PER_MSEC));
	start_failed(run, stage, ETIMEDOUT, text);
	free(text);
	send_signal(run, run->spawn.pid, SIGKILL);
	set_timer(run, TIMER_GONE, RUN_GONE_WAIT_US);
}

static void
give_up(struct run *run)
{
	clear_timer(run, TIMER_GONE);
	run->gave_up = true;
	if (run->main_dead) {
		conclude(run);
		return;
	}
	if (run->runs)
		return;		/* it is waited for, it does run */
	/*
	 * It hangs in the kernel with KILL pending, so it can't become the
	 * command any more; whenever it dies it is reaped as an orphan.
	 */
	start_failed(run, spawn_stage(run->host->spawner, run->spawn.slot), 0,
	    "stopped before its command ran");
	close_report(run);
	run->end.ended = walltime_now().us;
	if (run->capture != NULL)
		capture_finish(run->capture, run->host->leftover);
	conclude(run);
}

struct monotime
run_deadline(const struct run *run)
{
	struct monotime next = { POLLER_NEVER };

	if (run->capture != NULL)
		next = capture_deadline(run->capture);
	for (int i = 0; i < TIMERS; i++)
		if (run->timers[i].us < next.us)
			next = run->timers[i];
	return next;
}

static bool
is_due(const struct run *run, enum run_timer timer, struct monotime now)
{
	return run->timers[timer].us <= now.us;
}

void
run_tick(struct run *run, struct monotime now)
{
	if (run->over)
		return;
	if (run->capture != NULL)
		capture_tick(run->capture, now);
	if (is_due(run, TIMER_START, now))
		start_hangs(run);
	if (is_due(run, TIMER_TIMEOUT, now))
		run_stop(run, PROTOCOL_STOPPER_TIMEOUT);
	if (is_due(run, TIMER_KILL, now))
		kill_all(run);
	if (is_due(run, TIMER_LOOK, now))
		look_for_stragglers(run);
	if (is_due(run, TIMER_GONE, now))
		give_up(run);
	if (is_due(run, TIMER_OUTPUT, now))
		become_over(run);
}
