/* SPDX-License-Identifier: ISC */
/*
 * What becomes of the occurrences of one job that are due: the steps of
 * semantics.md 3, in their order.  A stretch with one outcome is decided as
 * an interval, never one by one, so that a year of missed minutes costs no
 * more than a missed hour.
 */
#include "config.h"

#include "daemon/scheduler_internal.h"

#include <inttypes.h>

#include "common/log.h"
#include "daemon/events.h"

#define SUBSYSTEM	"scheduler"
#define COUNT_MAX	10000	/* occurrences counted on the loop */

/* How many occurrences lie in first..last; -1 when that would take long. */
static int64_t
count_between(const struct jobdef *times, int64_t first, int64_t last)
{
	int64_t n = 1, t = first;

	while (t < last && jobdef_next(times, t, &t) && t <= last)
		if (++n > COUNT_MAX)
			return -1;
	return n;
}

static void
log_outcome(const struct job *job, const struct outcome_row *row)
{
	char from[TIMESTAMP_MAX];

	timestamp_format(from, row->occurrence, 0, true);
	log_info(SUBSYSTEM, "job=%s %s reason=%s scheduled=%s",
	    job->def->name, outcome_kind_name(row->kind),
	    outcome_reason_name(row->reason), from);
}

static void
count_outcome(struct scheduler *s, enum outcome_kind kind, int64_t n)
{
	if (kind == OUTCOME_SKIPPED)
		s->counts.skipped += n > 0 ? (uint64_t)n : 1;
	else if (kind == OUTCOME_MISSED)
		s->counts.missed += n > 0 ? (uint64_t)n : 1;
}

/* Whether a new outcome only prolongs the last one. */
static bool
continues_stretch(const struct scheduler *s, const struct job *job,
    const struct jobdef *times, int64_t first, enum outcome_kind kind,
    enum outcome_reason reason)
{
	const struct outcome_row *st = &job->stretch;
	int64_t follows;

	return st->count != 0 && st->kind == kind && st->reason == reason &&
	    st->era == s->era.era && st->generation == job->generation &&
	    jobdef_next(times, st->last, &follows) && follows == first;
}

void
decide_record(struct scheduler *s, struct job *job,
    const struct jobdef *times, int64_t first, int64_t last,
    enum outcome_kind kind, enum outcome_reason reason)
{
	int64_t n = count_between(times, first, last);
	struct outcome_row *st = &job->stretch;

	count_outcome(s, kind, n);
	if (continues_stretch(s, job, times, first, kind, reason)) {
		st->last = last;
		st->count = n < 0 || st->count < 0 ? -1 : st->count + n;
		st->at = s->now.wall.us;
	} else {
		*st = (struct outcome_row){
			.job_id = job->id,
			.era = s->era.era,
			.occurrence = first,
			.last = last,
			.count = n,
			.generation = job->generation,
			.kind = kind,
			.reason = reason,
			.at = s->now.wall.us,
		};
		log_outcome(job, st);
		events_put_outcome(s->store, job->def->name, st);
	}
	store_put_outcome(s->store, st);
}

void
decide_record_waiting(struct scheduler *s, const struct waiting *w,
    enum outcome_kind kind, enum outcome_reason reason)
{
	struct outcome_row row = {
		.job_id = w->job->id,
		.era = w->era,
		.occurrence = w->occurrence,
		.last = w->occurrence,
		.count = 1,
		.generation = w->generation,
		.kind = kind,
		.reason = reason,
		.at = s->now.wall.us,
	};

	count_outcome(s, kind, 1);
	w->job->stretch.count = 0;
	log_outcome(w->job, &row);
	events_put_outcome(s->store, w->job->def->name, &row);
	store_put_outcome(s->store, &row);
}

void
decide_missed(struct scheduler *s, struct job *job,
    const struct jobdef *times, int64_t first, int64_t last)
{
	struct policy_gap gaps[SCHEDULER_GAPS + 1];
	size_t n = 0;
	int64_t until, end;
	int cause;

	if (s->down.cause != 0)
		gaps[n++] = s->down;
	for (size_t i = 0; i < s->n_gaps; i++)
		gaps[n++] = s->gaps[i];
	for (;;) {
		cause = policy_missed_cause(gaps, n, first, REASON_OVERLOAD,
		    &until);
		if (until >= last)
			break;
		if (!jobdef_previous(times, until + 1, &end) || end < first)
			end = first;
		decide_record(s, job, times, first, end, OUTCOME_MISSED,
		    (enum outcome_reason)cause);
		if (!jobdef_next(times, end, &first) || first > last)
			return;
	}
	decide_record(s, job, times, first, last, OUTCOME_MISSED,
	    (enum outcome_reason)cause);
}

static void
skip_by_overlap(struct scheduler *s, struct job *job,
    const struct jobdef *times, int64_t t)
{
	decide_record(s, job, times, t, t, OUTCOME_SKIPPED, REASON_OVERLAP);
	job->skips++;
	if (policy_warns_at(job->skips))
		log_warning(SUBSYSTEM, "job=%s is stuck: %" PRId64
		    " occurrences in a row skipped by overlap; its run %" PRIu64
		    " has not ended", job->def->name, job->skips,
		    TAILQ_EMPTY(&job->runs) ? 0 :
		    TAILQ_FIRST(&job->runs)->row.id);
}

static void
wait_for_slot(struct scheduler *s, struct job *job, int64_t t, bool in_pool)
{
	int64_t max_late = jobdef_max_late(job->def, t);
	int64_t due = t * USEC_PER_SEC;
	struct wait_spec spec = {
		.occurrence = t,
		.due = due,
		.queued = s->now.wall.us,
		/* Waiting for runs of its own job is not lateness. */
		.expires = !in_pool || max_late < 0 ? INT64_MAX :
		    due + max_late * USEC_PER_MSEC,
		.era = s->era.era,
		.generation = job->generation,
		.in_pool = in_pool,
	};

	job->stretch.count = 0;
	wait_put(s, wait_add(s, job, &spec));
}

/* The oldest run gives way; whatever waited for that does, too. */
static void
replace_oldest(struct scheduler *s, struct job *job)
{
	struct waiting *w, *next;

	for (w = TAILQ_FIRST(&job->waiting); w != NULL; w = next) {
		next = TAILQ_NEXT(w, of_job);
		if (w->manual != NULL)
			continue;
		decide_record_waiting(s, w, OUTCOME_SKIPPED,
		    REASON_REPLACED_WHILE_QUEUED);
		wait_remove(s, w);
	}
	if (!TAILQ_EMPTY(&job->runs))
		run_stop(s, TAILQ_FIRST(&job->runs), -1);
}

static void
start_or_wait(struct scheduler *s, struct job *job, int64_t t)
{
	struct run_request req = {
		.job = job,
		.occurrence = t,
		.era = s->era.era,
		.generation = job->generation,
		.cause = RUN_CAUSE_SCHEDULE,
		.due = t * USEC_PER_SEC,
		.by_uid = -1,
		.max_late = jobdef_max_late(job->def, t),
	};

	if (run_pool_is_full(s) || run_start(s, &req) == NULL)
		wait_for_slot(s, job, t, true);
}

/* Steps 11 and 12: one occurrence is left and on time. */
static void
decide_on_time(struct scheduler *s, struct job *job,
    const struct jobdef *times, int64_t t)
{
	switch (policy_overlap(job->def->overlap, job->def->max_running,
	    job->n_runs, job->n_waiting)) {
	case POLICY_START:
		start_or_wait(s, job, t);
		break;
	case POLICY_WAIT:
		wait_for_slot(s, job, t, false);
		break;
	case POLICY_SKIP_OVERLAP:
		skip_by_overlap(s, job, times, t);
		break;
	case POLICY_SKIP_QUEUE_FULL:
		decide_record(s, job, times, t, t, OUTCOME_SKIPPED,
		    REASON_QUEUE_FULL);
		break;
	case POLICY_REPLACE:
		replace_oldest(s, job);
		wait_for_slot(s, job, t, false);
		break;
	}
}

/* Whether one schedule matches an instant. */
static bool
matches(const struct schedule *sched, int64_t t)
{
	int64_t next;

	return schedule_next(sched, t - 1, &next) && next == t;
}

/*
 * Whether an instant up to the mark is due once more after a small step: if
 * an interval schedule matches it that was last due long enough ago.
 */
static bool
is_due_again(const struct scheduler *s, const struct job *job,
    const struct jobdef *times, int64_t t)
{
	int64_t before;

	for (size_t i = 0; i < times->n_schedules; i++) {
		const struct schedule *sched = times->schedules[i];

		if (!schedule_is_interval(sched) || !matches(sched, t))
			continue;
		if (times != job->def || job->last_due[i] == 0 ||
		    !schedule_previous(sched, t, &before) ||
		    policy_is_due_again(s->now.boot.us - job->last_due[i],
		    t - before))
			return true;
	}
	return false;
}

/* Notes for each schedule that had an instant in first..last: now. */
static void
note_due(const struct scheduler *s, struct job *job,
    const struct jobdef *times, int64_t first, int64_t last)
{
	int64_t t;

	if (times != job->def)
		return;
	for (size_t i = 0; i < times->n_schedules; i++)
		if (times->n_schedules == 1 ||
		    (schedule_previous(times->schedules[i], last + 1, &t) &&
		    t >= first))
			job->last_due[i] = s->now.boot.us;
}

/*
 * Step 3: instants up to the mark were decided in an era before this one.
 * Returns the first one that is to be decided again, or that lies beyond
 * the mark; false when all up to last were dealt with.
 */
static bool
skip_clock_back(struct scheduler *s, struct job *job,
    const struct jobdef *times, int64_t *first, int64_t last)
{
	while (*first <= job->mark) {
		if (is_due_again(s, job, times, *first))
			return true;
		decide_record(s, job, times, *first, *first, OUTCOME_SKIPPED,
		    REASON_CLOCK_BACK);
		if (!jobdef_next(times, *first, first) || *first > last)
			return false;
	}
	return true;
}

int64_t
decide_due(struct scheduler *s, struct job *job, const struct jobdef *times)
{
	int64_t now = scheduler_now_s(s), first = job->next, from, last,
	    before;

	if (!jobdef_previous(times, now + 1, &last) || last < first)
		last = first;
	if (!skip_clock_back(s, job, times, &first, last))
		return last;
	from = first;
	if (!pause_decide(s, job, times, &first, last)) {
		/* All of it was. */
	} else if (s->stopping) {
		decide_record(s, job, times, first, last, OUTCOME_SKIPPED,
		    REASON_STOPPING);
	} else if (policy_is_too_late(last * USEC_PER_SEC, s->now.wall.us,
	    jobdef_max_late(times, last))) {
		decide_missed(s, job, times, first, last);
	} else {
		if (first < last && jobdef_previous(times, last, &before))
			decide_missed(s, job, times, first, before);
		decide_on_time(s, job, times, last);
	}
	if (last > job->mark)
		job->mark = last;
	note_due(s, job, times, from, last);
	job_put_state(s, job);
	return last;
}

void
decide_plan(struct scheduler *s, struct job *job, int64_t after)
{
	int64_t key, until;

	heap_remove(s->due, &job->due);
	if (after < job->generation_from)
		after = job->generation_from;
	if (!job->def->enabled || !jobdef_next(job->def, after, &job->next)) {
		job->next = JOB_NEVER;
		return;
	}
	if (job->holds > 0 || s->held)
		return;
	key = job->next * USEC_PER_SEC;
	until = pause_until(s, job);
	if (key <= until)
		key = until;
	if (key != INT64_MAX)
		heap_add(s->due, &job->due, key);
}
