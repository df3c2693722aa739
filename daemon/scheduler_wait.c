/* SPDX-License-Identifier: ISC */
/*
 * What waits: for a run of its own job to end (in the job's list, first come
 * first served), or for the pool, that is for a slot among all runs or for a
 * worker that takes more (by queue_priority, due, sequence).  An entry in the
 * pool is missed when its lateness allowed ends; one that waits for its job
 * isn't late.
 */
#include "config.h"

#include "daemon/scheduler_internal.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/xmalloc.h"
#include "daemon/events.h"

#define SUBSYSTEM "scheduler"
#define PRIORITY_LOWEST (-20)

/* The entry that a heap item belongs to. */
static struct waiting *
of_order(struct heap_item *item)
{
	return (struct waiting *)((char *)item -
	    offsetof(struct waiting, by_order));
}

static struct waiting *
of_expiry(struct heap_item *item)
{
	return (struct waiting *)((char *)item -
	    offsetof(struct waiting, by_expiry));
}

static void
enter_pool(struct scheduler *s, struct waiting *w)
{
	w->in_pool = true;
	w->pool = s->pool[w->job->def->queue_priority - PRIORITY_LOWEST];
	s->n_pool++;
	heap_add(w->pool, &w->by_order, w->due);
	if (w->expires != INT64_MAX)
		heap_add(s->expiry, &w->by_expiry, w->expires);
}

static void
leave_pool(struct scheduler *s, struct waiting *w)
{
	if (!w->in_pool)
		return;
	w->in_pool = false;
	s->n_pool--;
	heap_remove(w->pool, &w->by_order);
	heap_remove(s->expiry, &w->by_expiry);
}

struct waiting *
wait_add(struct scheduler *s, struct job *job, const struct wait_spec *spec)
{
	struct waiting *w = xcalloc(1, sizeof *w);

	w->job = job;
	w->occurrence = spec->occurrence;
	w->era = spec->era;
	w->generation = spec->generation;
	w->due = spec->due;
	w->queued = spec->queued;
	w->expires = spec->expires;
	w->manual = spec->manual;
	w->by_order.sequence = w->by_expiry.sequence = s->sequence++;
	TAILQ_INSERT_TAIL(&job->waiting, w, of_job);
	job->n_waiting++;
	s->n_waiting++;
	if (spec->in_pool)
		enter_pool(s, w);
	return w;
}

/* Puts the row by which a restart finds it again. */
void
wait_put(struct scheduler *s, const struct waiting *w)
{
	struct pending_row row = {
		.job_id = w->job->id,
		.era = w->era,
		.occurrence = w->occurrence,
		.generation = w->generation,
		.state = w->in_pool ? PENDING_POOL : PENDING_QUEUED,
		.due = w->due,
		.queued = w->queued,
	};

	if (w->manual != NULL)
		store_put_run(s->store, w->manual);
	else
		store_put_pending(s->store, &row);
}

void
wait_remove(struct scheduler *s, struct waiting *w)
{
	leave_pool(s, w);
	TAILQ_REMOVE(&w->job->waiting, w, of_job);
	w->job->n_waiting--;
	s->n_waiting--;
	if (w->manual != NULL) {
		run_row_release(w->manual);
		free(w->manual);
	} else {
		store_put_pending_decided(s->store, w->job->id, w->era,
		    w->occurrence);
	}
	free(w);
}

/* A manual run that was acknowledged and now never starts. */
static void
end_manual(struct scheduler *s, struct waiting *w, const char *why)
{
	struct run_row row;

	run_row_copy(&row, w->manual);
	row.state = RUN_KILLED;
	row.ended = s->now.wall.us;
	free(row.detail);
	row.detail = xasprintf("was waiting and never started: %s", why);
	events_put_run(s->store, EVENT_RUN_ENDED, &row);
	store_put_run(s->store, &row);
	if (s->observer.run_ended != NULL)
		s->observer.run_ended(s->observer.arg, &row);
	run_row_release(&row);
}

static void
skip_one(struct scheduler *s, struct waiting *w, enum outcome_reason reason)
{
	if (w->manual != NULL)
		end_manual(s, w, reason == REASON_STOPPING ?
		    "the daemon was stopped" : "the job was removed");
	else
		decide_record_waiting(s, w, OUTCOME_SKIPPED, reason);
	wait_remove(s, w);
}

void
wait_kill(struct scheduler *s, struct waiting *w, int64_t by_uid)
{
	char *why = xasprintf("killed by uid %" PRId64, by_uid);

	end_manual(s, w, why);
	free(why);
	wait_remove(s, w);
}

static void
skip_all_of(struct scheduler *s, struct job *job, enum outcome_reason reason)
{
	while (!TAILQ_EMPTY(&job->waiting))
		skip_one(s, TAILQ_FIRST(&job->waiting), reason);
}

void
wait_skip_all(struct scheduler *s, struct job *job,
    enum outcome_reason reason)
{
	struct job *j;

	if (job != NULL) {
		skip_all_of(s, job, reason);
		return;
	}
	for (size_t i = 0; (j = jobtable_at(s->jobs, i)) != NULL; i++)
		skip_all_of(s, j, reason);
}

void
wait_expire(struct scheduler *s)
{
	struct heap_item *item;
	int64_t key;

	while ((item = heap_pop(s->expiry, s->now.wall.us, &key)) != NULL) {
		struct waiting *w = of_expiry(item);

		struct job *job = w->job;

		decide_record_waiting(s, w, OUTCOME_MISSED,
		    REASON_POOL_FULL);
		wait_remove(s, w);
		wait_run_ended(s, job);
	}
}

static bool
start_waiting(struct scheduler *s, struct waiting *w)
{
	const struct run_row *manual = w->manual;
	struct run_request req = {
		.job = w->job,
		.occurrence = w->occurrence,
		.era = w->era,
		.generation = w->generation,
		.cause = manual != NULL ? RUN_CAUSE_MANUAL :
		    RUN_CAUSE_SCHEDULE,
		.due = w->due,
		.queued = w->queued,
		.by_uid = manual != NULL ? manual->by_uid : -1,
		.run_id = manual != NULL ? manual->id : 0,
		.max_late = -1,
	};

	return run_start(s, &req) != NULL;
}

/* As many of the entries that wait for the job's own runs as have a slot. */
void
wait_run_ended(struct scheduler *s, struct job *job)
{
	size_t taken = job->n_runs;
	struct waiting *w;

	TAILQ_FOREACH(w, &job->waiting, of_job) {
		if (taken >= (size_t)job->def->max_running)
			return;
		taken++;
		if (!w->in_pool)
			enter_pool(s, w);
	}
}

/* Takes the best entry out of its order; NULL when the pool is empty. */
static struct waiting *
pool_take(struct scheduler *s)
{
	struct heap_item *item;
	int64_t key;

	for (size_t i = 0; i < SCHEDULER_PRIORITIES; i++) {
		item = heap_pop(s->pool[i], INT64_MAX, &key);
		if (item != NULL)
			return of_order(item);
	}
	return NULL;
}

void
wait_give_slots(struct scheduler *s)
{
	struct waiting *w;

	while (!run_pool_is_full(s) && (w = pool_take(s)) != NULL) {
		if (w->job->n_runs >= (size_t)w->job->def->max_running) {
			/* A forced run took its slot: back to the queue. */
			leave_pool(s, w);
			continue;
		}
		if (!start_waiting(s, w)) {
			heap_add(w->pool, &w->by_order, w->due);
			return;
		}
		wait_remove(s, w);
	}
}
