/* SPDX-License-Identifier: ISC */
/*
 * Pauses (semantics.md 3, steps 5 and 6): of one job or of all, in time or
 * for the next N occurrences.  What is due within a pause in time is skipped
 * (paused) and never caught up, also when the pause began or ended while
 * nobody was there.  A paused job is not in the heap, or there for the end of
 * its pause: the stretch is decided at its end, at a change, or at a stop.
 *
 * A pause works at once and its row follows: whoever pauses wants it now,
 * above all when the disk is what's ill.
 */
#include "config.h"

#include "daemon/scheduler_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/xmalloc.h"
#include "daemon/events.h"

#define SUBSYSTEM "scheduler"
#define NOTE_TOLD 1024	/* bytes of a note that events tell */

static struct pause_row *
dup_pause(const struct pause_row *row)
{
	struct pause_row *copy = xmemdup(row, sizeof *row);

	copy->note = row->note != NULL ? xstrdup(row->note) : NULL;
	return copy;
}

void
pause_free(struct pause_row *pause)
{
	if (pause == NULL)
		return;
	free(pause->note);
	free(pause);
}

/* Up to when a pause in time covers the job, wall us; INT64_MIN: none. */
int64_t
pause_until(const struct scheduler *s, const struct job *job)
{
	int64_t until = INT64_MIN;

	if (job->pause != NULL && job->pause->skip == 0)
		until = job->pause->until;
	if (s->pause_all != NULL && s->pause_all->until > until)
		until = s->pause_all->until;
	return until;
}

const struct pause_row *
scheduler_pause_of(const struct scheduler *s, const struct job *job)
{
	int64_t now = s->now.wall.us;

	if (job->pause != NULL &&
	    (job->pause->skip > 0 || job->pause->until > now))
		return job->pause;
	if (s->pause_all != NULL && s->pause_all->until > now)
		return s->pause_all;
	return NULL;
}

/* job NULL: of all.  To its end, or for so many occurrences. */
static void
put_paused(struct scheduler *s, const struct job *job,
    const struct pause_row *pause)
{
	struct message *m = message_object();

	if (pause->until != INT64_MAX && pause->skip == 0)
		message_set_number(m, "until", (double)pause->until /
		    (double)USEC_PER_SEC);
	if (pause->skip > 0)
		message_set_integer(m, "skip", pause->skip);
	if (pause->note != NULL)
		message_set_bytes(m, "note", pause->note,
		    strnlen(pause->note, NOTE_TOLD));
	if (job != NULL)
		events_put_job(s->store, EVENT_JOB_PAUSED, job, pause->by_uid,
		    m);
	else
		events_put(s->store, EVENT_JOB_PAUSED, pause->by_uid, m);
}

static void
end_own(struct scheduler *s, struct job *job, int64_t by_uid)
{
	events_put_job(s->store, EVENT_JOB_RESUMED, job, by_uid, NULL);
	pause_free(job->pause);
	job->pause = NULL;
	store_put_pause_over(s->store, job->id);
}

/* One of the N is used up. */
static void
count_skip(struct scheduler *s, struct job *job)
{
	if (--job->pause->skip == 0)
		end_own(s, job, -1);
	else
		store_put_pause(s->store, job->pause);
}

bool
pause_decide(struct scheduler *s, struct job *job,
    const struct jobdef *times, int64_t *first, int64_t last)
{
	int64_t until = pause_until(s, job), end;

	if (until != INT64_MIN && *first <=
	    walltime_seconds((struct walltime){ until })) {
		end = walltime_seconds((struct walltime){ until });
		if (end >= last || !jobdef_previous(times, end + 1, &end))
			end = last;
		decide_record(s, job, times, *first, end, OUTCOME_SKIPPED,
		    REASON_PAUSED);
		if (end == last || !jobdef_next(times, end, first))
			return false;
	}
	while (job->pause != NULL && job->pause->skip > 0) {
		decide_record(s, job, times, *first, *first, OUTCOME_SKIPPED,
		    REASON_PAUSED);
		count_skip(s, job);
		if (*first == last || !jobdef_next(times, *first, first))
			return false;
	}
	return true;
}

/* What is undecided by now, and the plan from there. */
static void
decide_and_plan(struct scheduler *s, struct job *job)
{
	heap_remove(s->due, &job->due);
	if (job->next <= scheduler_now_s(s) && !s->held && job->holds == 0)
		decide_plan(s, job, decide_due(s, job, job->def));
	else
		decide_plan(s, job, job->mark);
}

/* Waiting occurrences give way; runs asked for by hand go on waiting. */
static void
skip_waiting(struct scheduler *s, struct job *job)
{
	struct waiting *w, *next;

	for (w = TAILQ_FIRST(&job->waiting); w != NULL; w = next) {
		next = TAILQ_NEXT(w, of_job);
		if (w->manual != NULL)
			continue;
		decide_record_waiting(s, w, OUTCOME_SKIPPED, REASON_PAUSED);
		wait_remove(s, w);
	}
}

static void
pause_one(struct scheduler *s, struct job *job)
{
	if (pause_until(s, job) != INT64_MIN)
		skip_waiting(s, job);
	decide_plan(s, job, job->mark);
}

void
scheduler_pause(struct scheduler *s, struct job *job,
    const struct pause_row *spec)
{
	struct pause_row *pause = dup_pause(spec);
	struct job *j;

	scheduler_touch(s);
	pause->job_id = job != NULL ? job->id : 0;
	pause->since = s->now.wall.us;
	if (job != NULL) {
		if (job->pause != NULL)
			scheduler_resume(s, job, spec->by_uid);
		store_put_pause(s->store, pause);
		put_paused(s, job, pause);
		job->pause = pause;
		pause_one(s, job);
		return;
	}
	if (s->pause_all != NULL)
		pause_end_all(s, spec->by_uid);
	store_put_pause(s->store, pause);
	put_paused(s, NULL, pause);
	s->pause_all = pause;
	for (size_t i = 0; (j = jobtable_at(s->jobs, i)) != NULL; i++)
		pause_one(s, j);
}

bool
scheduler_resume(struct scheduler *s, struct job *job, int64_t by_uid)
{
	scheduler_touch(s);
	if (job->pause == NULL)
		return false;
	if (job->pause->skip == 0 && job->pause->until > s->now.wall.us) {
		/* It covers what is due by now, and no more. */
		job->pause->until = s->now.wall.us;
		if (job->next <= scheduler_now_s(s))
			decide_and_plan(s, job);
	}
	end_own(s, job, by_uid);
	decide_plan(s, job, job->mark);
	return true;
}

/* The pause of all jobs is over, at its end or because somebody says so. */
void
pause_end_all(struct scheduler *s, int64_t by_uid)
{
	struct job *job;

	if (s->pause_all->until > s->now.wall.us)
		s->pause_all->until = s->now.wall.us;
	for (size_t i = 0; (job = jobtable_at(s->jobs, i)) != NULL; i++)
		if (job->next <= scheduler_now_s(s))
			decide_and_plan(s, job);
	pause_free(s->pause_all);
	s->pause_all = NULL;
	events_put(s->store, EVENT_JOB_RESUMED, by_uid, NULL);
	store_put_pause_over(s->store, 0);
	for (size_t i = 0; (job = jobtable_at(s->jobs, i)) != NULL; i++)
		decide_plan(s, job, job->mark);
	log_info(SUBSYSTEM, "the pause of all jobs is over");
}

size_t
scheduler_resume_all(struct scheduler *s, int64_t by_uid)
{
	size_t n = 0;
	struct job *job;

	scheduler_touch(s);
	for (size_t i = 0; (job = jobtable_at(s->jobs, i)) != NULL; i++)
		n += scheduler_pause_of(s, job) != NULL;
	for (size_t i = 0; (job = jobtable_at(s->jobs, i)) != NULL; i++)
		scheduler_resume(s, job, by_uid);
	if (s->pause_all != NULL)
		pause_end_all(s, by_uid);
	return n;
}

void
pause_decide_at_stop(struct scheduler *s)
{
	struct job *job;

	for (size_t i = 0; (job = jobtable_at(s->jobs, i)) != NULL; i++)
		if (pause_until(s, job) != INT64_MIN &&
		    job->next <= scheduler_now_s(s))
			decide_and_plan(s, job);
}

void
scheduler_restore_pause(struct scheduler *s, const struct pause_row *row)
{
	struct job *job;

	if (row->job_id == 0) {
		pause_free(s->pause_all);
		s->pause_all = dup_pause(row);
		return;
	}
	job = jobtable_find_id(s->jobs, row->job_id);
	if (job != NULL)
		job->pause = dup_pause(row);
}

size_t
scheduler_paused(const struct scheduler *s)
{
	size_t n = 0;
	struct job *job;

	for (size_t i = 0; (job = jobtable_at(s->jobs, i)) != NULL; i++)
		n += scheduler_pause_of(s, job) != NULL;
	return n;
}

const struct pause_row *
scheduler_pause_of_all(const struct scheduler *s)
{
	return s->pause_all != NULL && s->pause_all->until >
	    s->now.wall.us ? s->pause_all : NULL;
}
