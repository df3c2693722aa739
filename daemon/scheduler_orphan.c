/* SPDX-License-Identifier: ISC */
/*
 * Runs that have lost their worker.  Their processes may live on, so they
 * stay live (they overlap, they count for the pool) until somebody outside
 * (ops.orphan) has seen the end: with its status if it was this daemon that
 * had started the worker, else as lost.  What can't be watched is lost at
 * once.
 */
#include "config.h"

#include "daemon/scheduler_internal.h"

#include <inttypes.h>
#include <signal.h>

#include "common/log.h"
#include "daemon/events.h"

#define SUBSYSTEM	"scheduler"
#define DEFAULT_GRACE	(10 * USEC_PER_SEC)	/* stop_grace's default */

int64_t
orphan_begun(const struct scheduler *s, const struct run *run)
{
	int64_t age = s->now.wall.us - run->row.started;

	if (run->begun != 0)
		return run->begun;
	if (run->row.started == 0 || age < 0)
		age = 0;
	return s->now.mono.us - age;
}

/* Of a job that is gone, or of a namesake, nothing is known. */
static void
fill_limits(const struct scheduler *s, const struct run *run,
    struct scheduler_orphan *orphan)
{
	const struct jobdef *def;

	orphan->stop_at = INT64_MAX;
	orphan->stop_grace = DEFAULT_GRACE;
	orphan->stop_signal = SIGTERM;
	if (run->job == NULL || run->job->id != run->row.job_id)
		return;
	def = run->job->def;
	orphan->stop_grace = def->stop_grace * USEC_PER_MSEC;
	orphan->stop_signal = (int)def->stop_signal;
	if (def->timeout > 0)
		orphan->stop_at = orphan_begun(s, run) +
		    def->timeout * USEC_PER_MSEC;
}

void
orphan_run(struct scheduler *s, struct run *run)
{
	struct scheduler_orphan orphan = {
		.run_id = run->row.id,
		.pid = run->row.pid,
		.starttime = run->row.starttime,
		.stopping = run->stop_sent,
	};
	const char *why;

	fill_limits(s, run, &orphan);
	why = s->ops.orphan(s->ops.arg, &orphan);
	if (why != NULL) {
		run_lose(s, run, why);
		return;
	}
	run->phase = RUN_PHASE_ORPHANED;
	restore_unhold(s, run);
	log_info(SUBSYSTEM, "job=%s run=%" PRIu64 " has lost its worker and "
	    "is watched", run->row.job_name, run->row.id);
}

void
scheduler_orphan_found(struct scheduler *s,
    const struct protocol_started *started)
{
	struct run *run = run_find(s, started->run_id);

	scheduler_touch(s);
	if (run == NULL || run->phase != RUN_PHASE_ORPHANED)
		return;
	run->row.state = RUN_RUNNING;
	run->row.pid = started->pid;
	run->row.starttime = started->starttime;
	run->row.started = started->started;
	events_put_run(s->store, EVENT_RUN_STARTED, &run->row);
	store_put_run(s->store, &run->row);
}

void
scheduler_orphan_ended(struct scheduler *s, const struct protocol_ended *end)
{
	struct run *run = run_find(s, end->tag.run_id);

	scheduler_touch(s);
	if (run != NULL && run_state_action(run->phase, RUN_EVENT_GONE) ==
	    RUN_FINISH)
		run_end(s, run, end);
}
