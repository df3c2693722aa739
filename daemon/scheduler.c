/* SPDX-License-Identifier: ISC */
/*
 * The turn: what is due is decided, what waits gets freed slots, and the loop
 * is told when to come again.  Too many clocks, so once more which is which:
 *
 *	due, expiry	wall time; heaps keyed by it are as good as the wall
 *			clock, so a step moves what is due, not the heaps
 *	not_after	boottime, for the worker, which must not be fooled by
 *			a step while it was stopped
 *	last_due	boottime; real time since a schedule was last due
 *
 * Invariant at the end of a turn: no job in the heap is due at or before
 * s->now, unless SCHEDULER_TURN_MAX was reached.
 */
#include "config.h"

#include "daemon/scheduler_internal.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/xmalloc.h"
#include "daemon/events.h"

#define SUBSYSTEM	"scheduler"
#define BACK_SUM_SPAN	(24 * INT64_C(3600) * USEC_PER_SEC)

struct scheduler *
scheduler_new(const struct scheduler_options *o)
{
	struct scheduler *s = xcalloc(1, sizeof *s);

	s->store = o->store;
	s->jobs = o->jobs;
	s->ops = *o->ops;
	s->max_running = o->max_running;
	s->lang = o->lang != NULL ? xasprintf("LANG=%s", o->lang) : NULL;
	s->socket_env = o->socket_path != NULL ?
	    xasprintf("CRONCTL_SOCKET=%s", o->socket_path) : NULL;
	s->host_id = xstrdup(o->host_id != NULL ? o->host_id : "");
	s->daemon_uid = o->daemon_uid;
	s->next_run_id = o->next_run_id;
	s->run_id_limit = o->run_id_limit;
	s->next_job_id = o->next_job_id;
	s->era = o->era;
	s->clock = o->clock;
	scheduler_touch(s);
	s->due = heap_new();
	s->expiry = heap_new();
	for (size_t i = 0; i < SCHEDULER_PRIORITIES; i++)
		s->pool[i] = heap_new();
	TAILQ_INIT(&s->orphans);
	TAILQ_INIT(&s->departed);
	return s;
}

/* Nothing is recorded here: what waits is in the store already. */
static void
free_waiting(struct job *job)
{
	struct waiting *w;

	while ((w = TAILQ_FIRST(&job->waiting)) != NULL) {
		TAILQ_REMOVE(&job->waiting, w, of_job);
		if (w->manual != NULL)
			run_row_release(w->manual);
		free(w->manual);
		free(w);
	}
	job->n_waiting = 0;
}

void
scheduler_free(struct scheduler *s)
{
	struct job *job;

	if (s == NULL)
		return;
	for (size_t i = 0; (job = jobtable_at(s->jobs, i)) != NULL; i++) {
		heap_remove(s->due, &job->due);
		free_waiting(job);
	}
	run_free_all(s);
	restore_free(s);
	heap_free(s->due);
	heap_free(s->expiry);
	for (size_t i = 0; i < SCHEDULER_PRIORITIES; i++)
		heap_free(s->pool[i]);
	pause_free(s->pause_all);
	free(s->lang);
	free(s->socket_env);
	free(s->host_id);
	free(s);
}

void
scheduler_observe(struct scheduler *s, const struct scheduler_observer *o)
{
	s->observer = *o;
}

/* Everything due by s->now, at most max jobs; true when more is due. */
static bool
decide_all_due(struct scheduler *s, size_t max)
{
	int64_t key;
	struct heap_item *item;

	for (size_t n = 0; n < max; n++) {
		item = heap_pop(s->due, s->now.wall.us, &key);
		if (item == NULL)
			return false;
		struct job *job = (struct job *)((char *)item -
		    offsetof(struct job, due));
		decide_plan(s, job, decide_due(s, job, job->def));
	}
	return heap_peek(s->due, &key) && key <= s->now.wall.us;
}

bool
scheduler_tick(struct scheduler *s, const struct clock_reading *now)
{
	bool more;

	s->now = *now;
	if (s->held_by_clock)
		restore_check_clock(s);
	if (s->held)
		return false;
	if (s->pause_all != NULL && s->pause_all->until <= now->wall.us)
		pause_end_all(s, -1);
	wait_expire(s);
	run_send_unsent(s);
	wait_give_slots(s);
	more = decide_all_due(s, SCHEDULER_TURN_MAX);
	return more;
}

int64_t
scheduler_next_wake(const struct scheduler *s)
{
	int64_t due = INT64_MAX, expiry = INT64_MAX;

	if (s->held_by_clock)
		return s->hold_mark;
	if (s->held)
		return INT64_MAX;
	heap_peek(s->due, &due);
	heap_peek(s->expiry, &expiry);
	return due < expiry ? due : expiry;
}

int64_t
scheduler_next_boot(const struct scheduler *s)
{
	return s->held_by_clock ? s->hold_until : INT64_MAX;
}

bool
scheduler_clock_is_behind(const struct scheduler *s)
{
	return s->held_by_clock;
}

int64_t
scheduler_mark(const struct scheduler *s)
{
	int64_t due;

	if (s->held)
		return INT64_MIN;
	if (heap_peek(s->due, &due) && due <= s->now.wall.us)
		return due - 1;
	return s->now.wall.us;
}

/* --- the clock --- */

static void
add_gap(struct scheduler *s, int64_t from_us, int64_t to_us,
    enum outcome_reason cause)
{
	if (s->n_gaps < SCHEDULER_GAPS)
		s->n_gaps++;
	memmove(&s->gaps[1], &s->gaps[0],
	    (s->n_gaps - 1) * sizeof s->gaps[0]);
	s->gaps[0] = (struct policy_gap){
		.from = walltime_seconds((struct walltime){ from_us }),
		.to = walltime_seconds((struct walltime){ to_us }),
		.cause = (int)cause,
	};
}

/* How far back the clock went in the 24 h of boottime before now, us. */
int64_t
scheduler_back_sum(const struct scheduler *s, struct boottime now)
{
	int64_t sum = 0;

	for (size_t i = 0; i < s->n_back; i++)
		if (now.us - s->back[i].boot < BACK_SUM_SPAN)
			sum += s->back[i].size;
	return sum;
}

static void
remember_back(struct scheduler *s, int64_t boot_us, int64_t size)
{
	if (s->n_back < SCHEDULER_GAPS)
		s->n_back++;
	memmove(&s->back[1], &s->back[0],
	    (s->n_back - 1) * sizeof s->back[0]);
	s->back[0] = (struct back_step){ boot_us, size };
}

static void
begin_era(struct scheduler *s, int64_t start_us, int64_t previous_end_us)
{
	s->era.era++;
	s->era.start = start_us;
	s->era.previous_end = previous_end_us;
	store_put_era(s->store, &s->era);
}

/*
 * The clock went back.  Large: every job's mark moves to the new time.  A
 * generation that begins in what is now the future begins again here, so
 * that a young job isn't silent until then.
 */
static void
replan_after_back(struct scheduler *s, bool large)
{
	int64_t now = scheduler_now_s(s);
	struct job *job;

	for (size_t i = 0; (job = jobtable_at(s->jobs, i)) != NULL; i++) {
		heap_remove(s->due, &job->due);
		job->stretch.count = 0;
		if (large && job->mark > now) {
			job->mark = now;
			job_put_state(s, job);
		}
		if (job->generation_from > now) {
			job_put_generation(s, job, job->generation,
			    job->generation_from, job->generation_from);
			job_begin_generation(s, job, now);
		}
		decide_plan(s, job, now);
	}
}

void
clock_went_back(struct scheduler *s, int64_t from_us, bool large)
{
	const struct clock_reading now = s->now;

	/* First what was due by the old time, at the old time. */
	s->now.wall.us = from_us;
	while (!s->held && decide_all_due(s, SIZE_MAX))
		continue;
	s->now = now;
	if (large)
		s->n_back = 0;
	else
		remember_back(s, now.boot.us, from_us - now.wall.us);
	begin_era(s, now.wall.us, from_us);
	replan_after_back(s, large);
}

void
scheduler_clock_changed(struct scheduler *s,
    const struct clock_change *change, const struct clock_reading *now)
{
	struct message *body;

	s->now = *now;
	if (change->suspended_us > 0) {
		add_gap(s, change->suspended_from.us,
		    change->suspended_from.us + change->suspended_us,
		    REASON_SUSPENDED);
		log_info(SUBSYSTEM, "the machine was suspended for %.1f s",
		    (double)change->suspended_us / 1e6);
	}
	if (change->kind == CLOCK_STEADY)
		return;
	log_warning(SUBSYSTEM, "the clock was set %s by %.3f s; %zu jobs are "
	    "planned anew", change->step_us > 0 ? "forward" : "back",
	    (double)llabs(change->step_us) / 1e6,
	    jobtable_count(s->jobs));
	body = message_object();
	message_set_number(body, "step", (double)change->step_us /
	    (double)USEC_PER_SEC);
	message_set_integer(body, "jobs", (int64_t)jobtable_count(s->jobs));
	events_put(s->store, EVENT_CLOCK_STEPPED, -1, body);
	if (change->kind == CLOCK_FORWARD)
		add_gap(s, change->before.us, now->wall.us,
		    REASON_CLOCK_STEPPED);
	else
		clock_went_back(s, change->before.us,
		    change->kind == CLOCK_BACK_LARGE);
}

/* --- what others ask --- */

const struct run_row *
scheduler_find_run(const struct scheduler *s, uint64_t run_id)
{
	struct run *run = run_find(s, run_id);
	struct waiting *w;
	struct job *job;

	if (run != NULL)
		return &run->row;
	if (s->n_waiting == 0)
		return NULL;
	for (size_t i = 0; (job = jobtable_at(s->jobs, i)) != NULL; i++)
		TAILQ_FOREACH(w, &job->waiting, of_job)
			if (w->manual != NULL && w->manual->id == run_id)
				return w->manual;
	return NULL;
}

size_t
scheduler_running(const struct scheduler *s)
{
	return s->n_running;
}

size_t
scheduler_waiting(const struct scheduler *s)
{
	return s->n_waiting;
}

void
scheduler_counts(const struct scheduler *s, struct scheduler_counts *out)
{
	*out = s->counts;
	out->late_p50 = latency_percentile(&s->late, 50);
	out->late_p99 = latency_percentile(&s->late, 99);
	out->late_max = s->late.total > 0 ? s->late.max : -1;
}

uint64_t
scheduler_next_run_id(const struct scheduler *s)
{
	return s->next_run_id;
}

/* --- the end --- */

void
scheduler_stop(struct scheduler *s)
{
	if (s->stopping)
		return;
	scheduler_touch(s);
	pause_decide_at_stop(s);
	s->stopping = true;
	wait_skip_all(s, NULL, REASON_STOPPING);
	log_info(SUBSYSTEM, "stopping: no new starts; %zu runs to finish",
	    s->n_running);
}

bool
scheduler_is_stopping(const struct scheduler *s)
{
	return s->stopping;
}

void
scheduler_stop_all_runs(struct scheduler *s, int64_t by_uid)
{
	for (size_t i = 0; i < SCHEDULER_RUN_BUCKETS; i++)
		for (struct run *run = s->runs[i]; run != NULL;
		    run = run->hash_next)
			run_stop(s, run, by_uid);
}
