/* SPDX-License-Identifier: ISC */
/*
 * loop_turn() is the daemon.  Callbacks of libevent only collect: bytes read,
 * frames of workers, completions of helpers, a signal noted.  What they mean
 * is decided once a turn, in a fixed order:
 *
 *	wait		event_base_loop(EVLOOP_ONCE); no wait if work is left
 *	clock		steps and suspends, before anything asks for the time
 *	workers		answers that are overdue
 *	control		clients' requests
 *	reload		a slice of what job files change
 *	scheduler	everything that is due
 *	flush		to the workers first, then to the store
 *	timers		when to come again
 *
 * Signals (signal(7)): TERM leaves, INT stops and on its second coming ends
 * runs, HUP reloads, CHLD reaps.
 */
#include "config.h"

#include "daemon/loop.h"

#include <event2/event.h>
#include <signal.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/xmalloc.h"
#include "daemon/events.h"
#include "daemon/timers.h"

#define SUBSYSTEM	"loop"
#define FAREWELL_US	USEC_PER_SEC	/* for clients to read their replies */

enum loop_signal { ON_TERM, ON_INT, ON_HUP, ON_CHLD, ON_PIPE, ON_SIGNALS };

static const int signal_numbers[ON_SIGNALS] = {
	SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGPIPE
};

enum loop_phase {
	PHASE_RUNNING,
	PHASE_STOPPING,		/* until the last run has ended */
	PHASE_FAREWELL,		/* until clients have read that */
	PHASE_OVER
};

struct loop {
	struct loop_parts	 parts;
	struct control		*control;
	struct timers		*timers;
	struct event		*signals[ON_SIGNALS];
	unsigned		 noted[ON_SIGNALS];	/* not handled yet */
	struct clock_reading	 now;		/* of the present turn */
	bool			 work_left;	/* the next turn doesn't wait */
	enum loop_phase		 phase;
	enum loop_end		 end;
	struct error		 err;		/* of LOOP_FAILED */
	int64_t			 ladder_at;	/* boottime us: then stop runs */
	int64_t			 ladder_by;	/* for whom */
	int64_t			 farewell_at;	/* boottime us: enough */
	uint64_t		 turns;
};

static void
on_signal(evutil_socket_t number, short what, void *arg)
{
	struct loop *loop = arg;

	(void)what;
	for (int i = 0; i < ON_SIGNALS; i++)
		if (signal_numbers[i] == (int)number)
			loop->noted[i]++;
}

static int
add_signals(struct loop *loop, struct error *err)
{
	for (int i = 0; i < ON_SIGNALS; i++) {
		loop->signals[i] = evsignal_new(loop->parts.base,
		    signal_numbers[i], on_signal, loop);
		if (loop->signals[i] == NULL ||
		    event_add(loop->signals[i], NULL) != 0)
			return error_set(err, "can't handle signal %d",
			    signal_numbers[i]);
	}
	return 0;
}

struct event_base *
loop_base_new(struct error *err)
{
	struct event_config *config = event_config_new();
	struct event_base *base = NULL;

	if (config != NULL &&
	    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER) == 0)
		base = event_base_new_with_config(config);
	if (config != NULL)
		event_config_free(config);
	if (base == NULL)
		error_set(err, "can't set up the event loop");
	return base;
}

void
loop_base_free(struct event_base *base)
{
	if (base != NULL)
		event_base_free(base);
	libevent_global_shutdown();
}

int
loop_base_wait(struct event_base *base, struct error *err)
{
	if (event_base_loop(base, EVLOOP_ONCE) < 0)
		return error_set(err, "the event loop failed");
	return 0;
}

struct loop *
loop_new(const struct loop_parts *parts, struct error *err)
{
	struct loop *loop = xcalloc(1, sizeof *loop);

	loop->parts = *parts;
	loop->ladder_at = loop->farewell_at = INT64_MAX;
	loop->timers = timers_new(parts->base, err);
	if (loop->timers == NULL || add_signals(loop, err) != 0) {
		loop_free(loop);
		return NULL;
	}
	clock_read(parts->clock, &loop->now);
	return loop;
}

void
loop_free(struct loop *loop)
{
	if (loop == NULL)
		return;
	for (int i = 0; i < ON_SIGNALS; i++)
		if (loop->signals[i] != NULL)
			event_free(loop->signals[i]);
	timers_free(loop->timers);
	free(loop);
}

void
loop_set_control(struct loop *loop, struct control *control)
{
	loop->control = control;
}

uint64_t
loop_turns(const struct loop *loop)
{
	return loop->turns;
}

static void
put_stopping(struct loop *loop, int64_t by_uid)
{
	struct message *m = message_object();

	message_set_integer(m, "running",
	    (int64_t)scheduler_running(loop->parts.scheduler));
	events_put(loop->parts.store, EVENT_DAEMON_STOPPING, by_uid, m);
}

void
loop_stop(struct loop *loop, int64_t by_uid, int64_t timeout_us)
{
	if (timeout_us >= 0 &&
	    loop->now.boot.us + timeout_us < loop->ladder_at) {
		loop->ladder_at = loop->now.boot.us + timeout_us;
		loop->ladder_by = by_uid;
	}
	loop->work_left = true;
	if (loop->phase != PHASE_RUNNING)
		return;
	loop->phase = PHASE_STOPPING;
	put_stopping(loop, by_uid);
	scheduler_stop(loop->parts.scheduler);
	sdnotify_stopping(loop->parts.sdnotify);
}

/* --- the turn --- */

static void
fail(struct loop *loop, const struct error *err)
{
	loop->err = *err;
	loop->end = LOOP_FAILED;
	loop->phase = PHASE_OVER;
}

/* Not the loop's business, but the service manager's, who outlives it. */
static void
on_reloaded(void *arg, const struct reload_result *result)
{
	(void)result;
	sdnotify_ready(arg, NULL);
}

static void
handle_hangup(struct loop *loop)
{
	struct sdnotify *sd = loop->parts.sdnotify;

	sdnotify_reloading(sd, loop->now.mono);
	reload_request(loop->parts.reload, false, on_reloaded, sd);
}

static void
handle_signals(struct loop *loop)
{
	if (loop->noted[ON_CHLD] > 0)
		workers_reap(loop->parts.workers);
	if (loop->noted[ON_HUP] > 0)
		handle_hangup(loop);
	for (unsigned n = loop->noted[ON_INT]; n > 0; n--) {
		if (loop->phase == PHASE_RUNNING)
			loop_stop(loop, -1, -1);
		else
			scheduler_stop_all_runs(loop->parts.scheduler, -1);
	}
	if (loop->noted[ON_TERM] > 0) {
		sdnotify_stopping(loop->parts.sdnotify);
		loop->end = LOOP_LEFT;
		loop->phase = PHASE_OVER;
	}
	for (int i = 0; i < ON_SIGNALS; i++)
		loop->noted[i] = 0;
}

/* Reads the clocks and tells the scheduler of a step or a suspend. */
static void
check_clock(struct loop *loop)
{
	struct clock_reading last = loop->now;
	struct clock_change change;

	clock_read(loop->parts.clock, &loop->now);
	clock_classify(&last, &loop->now,
	    scheduler_back_sum(loop->parts.scheduler, loop->now.boot),
	    &change);
	if (change.kind != CLOCK_STEADY || change.suspended_us > 0)
		scheduler_clock_changed(loop->parts.scheduler, &change,
		    &loop->now);
}

static void
check_ladder(struct loop *loop)
{
	if (loop->now.boot.us < loop->ladder_at)
		return;
	loop->ladder_at = INT64_MAX;
	scheduler_stop_all_runs(loop->parts.scheduler, loop->ladder_by);
}

/* Steps of the end: all runs over and recorded, all clients told. */
static void
check_end(struct loop *loop)
{
	struct store_status store;

	if (loop->phase == PHASE_STOPPING) {
		store_status(loop->parts.store, &store);
		if (scheduler_running(loop->parts.scheduler) > 0 ||
		    store.waiting > 0)
			return;
		loop->phase = PHASE_FAREWELL;
		loop->farewell_at = loop->now.boot.us + FAREWELL_US;
		if (loop->control != NULL)
			control_stopped(loop->control);
		loop->work_left = true;
	} else if (loop->phase == PHASE_FAREWELL &&
	    (loop->control == NULL || control_is_flushed(loop->control) ||
	    loop->now.boot.us >= loop->farewell_at)) {
		loop->phase = PHASE_OVER;
		loop->end = LOOP_STOPPED;
	}
}

static void
flush(struct loop *loop)
{
	int64_t mark = scheduler_mark(loop->parts.scheduler);

	workers_flush(loop->parts.workers);
	if (mark != INT64_MIN)
		store_put_mark(loop->parts.store, mark);
	store_flush(loop->parts.store);
}

static int64_t
earliest(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int
arm_timers(struct loop *loop, struct error *err)
{
	int64_t boot = workers_deadline(loop->parts.workers);

	boot = earliest(boot, scheduler_next_boot(loop->parts.scheduler));
	boot = earliest(boot, loop->ladder_at);
	boot = earliest(boot, loop->farewell_at);
	boot = earliest(boot, sdnotify_deadline(loop->parts.sdnotify));
	if (timers_arm_wall(loop->timers,
	    scheduler_next_wake(loop->parts.scheduler), err) != 0)
		return -1;
	return timers_arm_boot(loop->timers, boot, err);
}

bool
loop_turn(struct loop *loop)
{
	int flags = EVLOOP_ONCE | (loop->work_left ? EVLOOP_NONBLOCK : 0);
	struct error err;

	if (event_base_loop(loop->parts.base, flags) < 0) {
		error_set(&err, "the event loop failed");
		fail(loop, &err);
		return false;
	}
	loop->work_left = false;
	loop->turns++;
	timers_clock_was_set(loop->timers);
	check_clock(loop);
	handle_signals(loop);
	workers_check_deadlines(loop->parts.workers, loop->now.boot);
	if (loop->control != NULL && control_dispatch(loop->control))
		loop->work_left = true;
	if (reload_step(loop->parts.reload))
		loop->work_left = true;
	check_ladder(loop);
	if (scheduler_tick(loop->parts.scheduler, &loop->now))
		loop->work_left = true;
	flush(loop);
	check_end(loop);
	sdnotify_figures(loop->parts.sdnotify,
	    jobtable_count(loop->parts.jobs),
	    scheduler_running(loop->parts.scheduler), loop->now.boot);
	sdnotify_turn(loop->parts.sdnotify, loop->now.boot);
	if (arm_timers(loop, &err) != 0)
		fail(loop, &err);
	return loop->phase != PHASE_OVER;
}

enum loop_end
loop_run(struct loop *loop, struct error *err)
{
	while (loop_turn(loop))
		continue;
	if (loop->end == LOOP_FAILED)
		*err = loop->err;
	return loop->end;
}
