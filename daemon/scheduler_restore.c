/* SPDX-License-Identifier: ISC */
/*
 * Taking over after a restart.  Everything is held until the workers that an
 * earlier daemon left have told what they hold, or are dead, or don't answer
 * (scheduler_settled).  Then each job's undecided occurrences are decided,
 * first those that the definition in force before owned; what a worker told
 * of is decided already.
 */
#include "config.h"

#include "daemon/scheduler_internal.h"

#include <stdlib.h>

#include "common/log.h"
#include "common/xmalloc.h"

#define SUBSYSTEM "scheduler"

void
scheduler_hold(struct scheduler *s)
{
	s->held = s->held_by_workers = true;
}

/* What is left to decide of a job; made when it is asked for. */
static struct restored *
restored_of(struct scheduler *s, struct job *job)
{
	if (job->restored == 0) {
		s->restored = xreallocarray(s->restored, s->n_restored + 1,
		    sizeof *s->restored);
		s->restored[s->n_restored] = (struct restored){ .job = job };
		job->restored = (uint32_t)++s->n_restored;
	}
	return &s->restored[job->restored - 1];
}

void
restore_former(struct scheduler *s, struct job *job, struct jobdef *old_def)
{
	struct restored *r = restored_of(s, job);

	if (r->old_def == NULL)
		r->old_def = old_def;
	else
		jobdef_free(old_def);
}

struct job *
scheduler_restore_job(struct scheduler *s, const struct job_row *row,
    const struct scheduler_job_spec *spec)
{
	struct job *job = job_new(spec->def);

	job->id = row->id;
	job->owner_uid = spec->owner_uid;
	job->owner_name = spec->owner_name != NULL ?
	    xstrdup(spec->owner_name) : NULL;
	job->origin = spec->origin;
	job->file = spec->file != NULL ? xstrdup(spec->file) : NULL;
	job->line = spec->line;
	job->due.sequence = spec->sequence;
	job->created = row->created;
	job->generation = row->generation;
	job->generation_from = row->generation_from;
	job->mark = row->mark > row->generation_from ? row->mark :
	    row->generation_from;
	job->skips = row->skips;
	job->failures = row->failures;
	job->failing_since = row->failing_since;
	jobtable_add(s->jobs, job);
	return job;
}

void
scheduler_restore_run(struct scheduler *s, const struct run_row *row)
{
	struct job *job = run_job_of(s, row->job_id, row->job_name);
	struct run_row *manual;
	struct wait_spec spec = {
		.occurrence = INT64_MIN,
		.due = row->due,
		.queued = row->queued,
		.expires = INT64_MAX,
		.era = row->era,
		.generation = row->generation,
	};

	if (row->state != RUN_QUEUED) {
		run_add(s, row, job, RUN_PHASE_UNSETTLED);
		return;
	}
	if (job == NULL)
		return;
	manual = xmalloc(sizeof *manual);
	run_row_copy(manual, row);
	spec.manual = manual;
	wait_add(s, job, &spec);
}

void
scheduler_restore_pending(struct scheduler *s, const struct pending_row *row)
{
	struct job *job = jobtable_find_id(s->jobs, row->job_id);
	struct wait_spec spec = {
		.occurrence = row->occurrence,
		.due = row->due,
		.queued = row->queued,
		.expires = INT64_MAX,
		.era = row->era,
		.generation = row->generation,
	};

	if (job != NULL)
		wait_add(s, job, &spec);
}

void
scheduler_restore_down(struct scheduler *s, int64_t from_us, int64_t to_us,
    enum outcome_reason cause)
{
	s->down.from = walltime_seconds((struct walltime){ from_us });
	s->down.to = walltime_seconds((struct walltime){ to_us });
	s->down.cause = (int)cause;
}

void
restore_cover(struct scheduler *s, struct job *job, int64_t occurrence)
{
	struct restored *r;

	if (occurrence <= job->mark)
		return;
	if (!s->held) {
		job->mark = occurrence;
		return;
	}
	r = restored_of(s, job);
	r->covered = xreallocarray(r->covered, r->n_covered + 1,
	    sizeof *r->covered);
	r->covered[r->n_covered++] = occurrence;
}

static int
compare_instants(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * A pending entry that a worker has started by now: its occurrence is
 * covered, so it doesn't wait any more.
 */
static void
drop_waiting(struct scheduler *s, struct job *job, int64_t occurrence)
{
	struct waiting *w;

	TAILQ_FOREACH(w, &job->waiting, of_job) {
		if (w->manual == NULL && w->occurrence == occurrence) {
			wait_remove(s, w);
			return;
		}
	}
}

/* What lies between occurrences that workers told of was missed. */
static void
decide_around_covered(struct scheduler *s, struct job *job,
    const struct jobdef *times, struct restored *r)
{
	int64_t first, last;

	qsort(r->covered, r->n_covered, sizeof *r->covered,
	    compare_instants);
	for (size_t i = 0; i < r->n_covered; i++) {
		int64_t at = r->covered[i];

		drop_waiting(s, job, at);
		if (at <= job->mark)
			continue;
		if (jobdef_next(times, job->mark, &first) && first < at &&
		    jobdef_previous(times, at, &last))
			decide_missed(s, job, times, first, last);
		job->mark = at;
		job->stretch.count = 0;
	}
	job_put_state(s, job);
}

/* The rest of what the former definition owns, then a new generation. */
static void
decide_former(struct scheduler *s, struct job *job, struct jobdef *old)
{
	int64_t now = scheduler_now_s(s);
	struct jobdef *def = job->def;

	if (old->enabled && jobdef_next(old, job->mark, &job->next) &&
	    job->next <= now)
		decide_due(s, job, old);
	job->def = old;
	job_put_generation(s, job, job->generation, job->generation_from,
	    now);
	job->def = def;
	job_begin_generation(s, job, now);
}

/*
 * Plans from the mark, or from now if the clock is behind it: then what lies
 * between is decided again as after a step back.
 */
static void
settle_job(struct scheduler *s, struct job *job)
{
	int64_t now = scheduler_now_s(s);

	if (job->restored != 0) {
		struct restored *r = &s->restored[job->restored - 1];
		struct jobdef *old = r->old_def;

		job->restored = 0;
		decide_around_covered(s, job, old != NULL ? old : job->def,
		    r);
		if (old != NULL)
			decide_former(s, job, old);
	}
	decide_plan(s, job, job->mark < now ? job->mark : now);
	wait_run_ended(s, job);
}

void
restore_free(struct scheduler *s)
{
	for (size_t i = 0; i < s->n_restored; i++) {
		jobdef_free(s->restored[i].old_def);
		free(s->restored[i].covered);
	}
	free(s->restored);
	s->restored = NULL;
	s->n_restored = 0;
}

/* Starts on workers that don't answer are undecided: their jobs wait. */
static void
hold_unsettled(struct scheduler *s)
{
	for (size_t i = 0; i < SCHEDULER_RUN_BUCKETS; i++) {
		for (struct run *run = s->runs[i]; run != NULL;
		    run = run->hash_next) {
			if (run->phase != RUN_PHASE_UNSETTLED ||
			    run->job == NULL)
				continue;
			run->holding = true;
			run->job->holds++;
		}
	}
}

void
restore_unhold(struct scheduler *s, struct run *run)
{
	if (!run->holding)
		return;
	run->holding = false;
	if (run->job != NULL && --run->job->holds == 0 &&
	    !run->job->removed)
		decide_plan(s, run->job, run->job->mark);
}

/* Everything is known: decide what is due, plan what comes. */
static void
release(struct scheduler *s)
{
	struct job *job;

	if (s->held_by_workers || s->held_by_clock)
		return;
	s->held = false;
	hold_unsettled(s);
	for (size_t i = 0; (job = jobtable_at(s->jobs, i)) != NULL; i++)
		settle_job(s, job);
	restore_free(s);
	log_debug(SUBSYSTEM, "scheduling begins");
}

void
scheduler_settled(struct scheduler *s)
{
	if (!s->held_by_workers)
		return;
	scheduler_touch(s);
	s->held_by_workers = false;
	release(s);
}

void
scheduler_restore_behind(struct scheduler *s, int64_t mark_us,
    int64_t wait_us)
{
	log_warning(SUBSYSTEM, "the clock is %.0f s behind the time at which "
	    "the last daemon was seen; schedules wait for it, %.0f s at most",
	    (double)(mark_us - s->now.wall.us) / 1e6, (double)wait_us / 1e6);
	s->held = s->held_by_clock = true;
	s->hold_mark = mark_us;
	s->hold_until = s->now.boot.us + wait_us;
}

void
restore_check_clock(struct scheduler *s)
{
	int64_t behind = s->hold_mark - s->now.wall.us;

	if (behind > 0 && s->now.boot.us < s->hold_until)
		return;
	s->held_by_clock = false;
	if (behind > 0) {
		log_warning(SUBSYSTEM, "the clock stays behind; that counts "
		    "as set back by %.0f s", (double)behind / 1e6);
		clock_went_back(s, s->hold_mark,
		    behind > CLOCK_SMALL_STEP_US);
	} else {
		scheduler_restore_down(s, s->hold_mark, s->now.wall.us,
		    (enum outcome_reason)s->down.cause);
	}
	release(s);
}
