/* SPDX-License-Identifier: ISC */
/*
 * Definitions coming, changing and going.  Each change has two halves: begin
 * puts the facts into the batch, finish has the effect; what comes over the
 * socket waits for the commit between the two, job files don't.
 *
 * Generations (semantics.md 2): a change of what alters nominal instants
 * begins a new one at that moment; what was due before is decided by the old
 * definition.
 */
#include "config.h"

#include "daemon/scheduler_internal.h"

#include <stdlib.h>
#include <string.h>

#include "common/strbuf.h"
#include "common/xmalloc.h"
#include "daemon/events.h"

void
job_put_state(struct scheduler *s, const struct job *job)
{
	struct job_row row = {
		.id = job->id,
		.mark = job->mark,
		.skips = job->skips,
		.failures = job->failures,
		.failing_since = job->failing_since,
		.last_run = job->last_run != NULL ? job->last_run->id : 0,
	};

	store_put_job_state(s->store, &row);
}

static void
put_job(struct scheduler *s, const struct job *job)
{
	struct job_row row;

	job_to_row(job, &row);
	store_put_job(s->store, &row);
	free(row.definition);
}

/* "NAME HASH" of every zone its schedules use. */
static void
add_zones(struct strbuf *sb, const struct jobdef *def)
{
	for (size_t i = 0; i < def->n_schedules; i++) {
		const struct zone *zone = schedule_zone(def->schedules[i]);

		if (zone != NULL)
			strbuf_addf(sb, "%s %016llx\n", zone_name(zone),
			    (unsigned long long)zone_hash(zone));
	}
}

/* The settings that alter time, as INI lines. */
static void
add_times(struct strbuf *sb, const struct jobdef *def)
{
	for (size_t i = 0; i < def->settings.n; i++) {
		const struct jobdef_setting *set = &def->settings.v[i];
		const struct jobdef_key *key = jobdef_key_find(set->key);

		if (key != NULL && key->alters_time)
			strbuf_addf(sb, "%s = %s\n", set->key, set->value);
	}
}

void
job_put_generation(struct scheduler *s, const struct job *job,
    uint32_t generation, int64_t from, int64_t to)
{
	struct strbuf times = STRBUF_INIT, zones = STRBUF_INIT;
	struct generation_row row = {
		.job_id = job->id,
		.generation = generation,
		.from = from,
		.to = to,
	};

	add_times(&times, job->def);
	add_zones(&zones, job->def);
	row.definition = times.buf;
	row.zones = zones.buf;
	row.host_id = s->host_id;
	store_put_generation(s->store, &row);
	strbuf_release(&times);
	strbuf_release(&zones);
}

void
job_begin_generation(struct scheduler *s, struct job *job, int64_t from)
{
	job->generation++;
	job->generation_from = from;
	job->stretch.count = 0;
	job_put_generation(s, job, job->generation, from, INT64_MAX);
}

static void
set_origin(struct job *job, const struct scheduler_job_spec *spec)
{
	char *file = spec->file != NULL ? xstrdup(spec->file) : NULL;

	free(job->file);
	job->file = file;
	job->line = spec->line;
	job->origin = spec->origin;
	job->due.sequence = spec->sequence;
}

/*
 * Where the first generation begins, exclusive: now; for a one-shot that
 * somebody wants at once (@in 0s, a past @at over the socket) just before
 * its instant, which is the second in which it was accepted, and may be over
 * by now.
 */
static int64_t
first_from(const struct scheduler *s, const struct scheduler_job_spec *spec)
{
	int64_t now = scheduler_now_s(s), next;

	if (spec->origin == ORIGIN_CONTROL && jobdef_is_one_shot(spec->def) &&
	    jobdef_next(spec->def, TIMESTAMP_FIRST - 1, &next) && next <= now)
		return next - 1;
	return now;
}

static void
append_key(void *arg, const char *key, const char *a, const char *b)
{
	(void)a;
	(void)b;
	message_append_string(arg, key);
}

/* Who changed it, or where; old: the definition it had, or NULL. */
static void
put_change(struct scheduler *s, enum event_kind kind, const struct job *job,
    const struct scheduler_job_spec *spec, const struct jobdef *old)
{
	bool from_file = spec->origin == ORIGIN_FILE;
	struct message *m = message_object(), *keys;

	if (from_file) {
		message_set_bytes(m, "file", spec->file, strlen(spec->file));
		message_set_integer(m, "line", spec->line);
	}
	if (old != NULL) {
		keys = message_array();
		jobdef_differences(old, spec->def, append_key, keys);
		message_set(m, "keys", keys);
	}
	events_put_job(s->store, kind, job, from_file ? -1 :
	    (int64_t)spec->by_uid, m);
}

struct job *
scheduler_add_begin(struct scheduler *s,
    const struct scheduler_job_spec *spec)
{
	struct job *job = job_new(spec->def);

	scheduler_touch(s);
	job->id = s->next_job_id++;
	job->owner_uid = spec->owner_uid;
	job->owner_name = spec->owner_name != NULL ?
	    xstrdup(spec->owner_name) : NULL;
	job->created = s->now.wall.us;
	job->generation = 1;
	job->generation_from = first_from(s, spec);
	job->mark = job->generation_from;
	set_origin(job, spec);
	put_job(s, job);
	job_put_generation(s, job, 1, job->generation_from, INT64_MAX);
	put_change(s, EVENT_JOB_ADDED, job, spec, NULL);
	return job;
}

/* Live runs of a removed job of this name and owner count for this one. */
static void
inherit_runs(struct scheduler *s, struct job *job)
{
	struct job *old, *next;
	struct run *run;

	for (old = TAILQ_FIRST(&s->departed); old != NULL; old = next) {
		next = TAILQ_NEXT(old, departed);
		if (strcmp(old->def->name, job->def->name) != 0 ||
		    old->owner_uid != job->owner_uid)
			continue;
		while ((run = TAILQ_FIRST(&old->runs)) != NULL) {
			TAILQ_REMOVE(&old->runs, run, of_job);
			old->n_runs--;
			run->job = job;
			TAILQ_INSERT_TAIL(&job->runs, run, of_job);
			job->n_runs++;
		}
		run_release_job(s, old);
	}
}

void
scheduler_add_finish(struct scheduler *s, struct job *job)
{
	jobtable_add(s->jobs, job);
	inherit_runs(s, job);
	decide_plan(s, job, job->mark);
}

void
scheduler_add_abandon(struct scheduler *s, struct job *job)
{
	events_put_job(s->store, EVENT_JOB_REMOVED, job, -1, NULL);
	store_put_job_removed(s->store, job->id, s->now.wall.us);
	job_free(job);
}

/* The row as it will be; the job itself changes in finish. */
void
scheduler_replace_begin(struct scheduler *s, struct job *job,
    const struct scheduler_job_spec *spec)
{
	struct jobdef *old = job->def;
	struct job_row row;

	scheduler_touch(s);
	job->def = spec->def;
	job_to_row(job, &row);
	job->def = old;
	row.origin = spec->origin;
	row.file = (char *)spec->file;
	row.line = spec->line;
	if (!jobdef_same_times(old, spec->def)) {
		row.generation = job->generation + 1;
		row.generation_from = scheduler_now_s(s);
	}
	store_put_job(s->store, &row);
	free(row.definition);
	put_change(s, EVENT_JOB_CHANGED, job, spec, old);
}

/* What is due by now is the old definition's, and is decided by it. */
static void
end_generation(struct scheduler *s, struct job *job)
{
	int64_t now = scheduler_now_s(s);

	if (job->next <= now && (heap_has(&job->due) ||
	    pause_until(s, job) != INT64_MIN))
		decide_due(s, job, job->def);
	job_put_generation(s, job, job->generation, job->generation_from,
	    now);
}

void
scheduler_replace_finish(struct scheduler *s, struct job *job,
    const struct scheduler_job_spec *spec)
{
	bool same = jobdef_same_times(job->def, spec->def);
	struct jobdef *old;

	scheduler_touch(s);
	if (!same && !s->held)
		end_generation(s, job);
	old = job_set_def(job, spec->def);
	set_origin(job, spec);
	if (!same && s->held) {
		restore_former(s, job, old);
	} else {
		if (!same)
			job_begin_generation(s, job, first_from(s, spec));
		jobdef_free(old);
	}
	put_job(s, job);
	if (!same)
		decide_plan(s, job, job->mark);
	wait_run_ended(s, job);
}

void
scheduler_move_job(struct scheduler *s, struct job *job, const char *file,
    int line, uint64_t sequence)
{
	bool moved = job->file == NULL || strcmp(job->file, file) != 0;

	job->line = line;
	job->due.sequence = sequence;
	if (!moved)
		return;
	free(job->file);
	job->file = xstrdup(file);
	put_job(s, job);
}

void
scheduler_remove_begin(struct scheduler *s, struct job *job, int64_t by_uid)
{
	int64_t now, first, last;

	scheduler_touch(s);
	now = scheduler_now_s(s);
	if (job->def->enabled &&
	    jobdef_next(job->def, job->mark, &first) && first <= now &&
	    jobdef_previous(job->def, now + 1, &last))
		decide_record(s, job, job->def, first, last, OUTCOME_SKIPPED,
		    REASON_REMOVED);
	heap_remove(s->due, &job->due);
	wait_skip_all(s, job, REASON_REMOVED);
	job_put_generation(s, job, job->generation, job->generation_from,
	    now);
	if (job->pause != NULL)
		store_put_pause_over(s->store, job->id);
	events_put_job(s->store, EVENT_JOB_REMOVED, job, by_uid, NULL);
	store_put_job_removed(s->store, job->id, s->now.wall.us);
}

void
scheduler_remove_finish(struct scheduler *s, struct job *job,
    bool stop_running, int64_t by_uid)
{
	struct run *run;

	jobtable_remove(s->jobs, job);
	job->removed = true;
	TAILQ_INSERT_TAIL(&s->departed, job, departed);
	if (stop_running)
		TAILQ_FOREACH(run, &job->runs, of_job)
			run_stop(s, run, by_uid);
	run_release_job(s, job);
}

/* --- runs by hand --- */

static int
refuse_overlap(const struct job *job, struct error *err)
{
	const struct run *run = TAILQ_FIRST(&job->runs);

	if (run == NULL)
		return error_set(err, "%s: a start is waiting already; "
		    "cronctl run --force starts another one now",
		    job->def->name);
	return error_set(err, "%s: run %llu is still going (overlap = %s); "
	    "cronctl run --force starts another one beside it",
	    job->def->name, (unsigned long long)run->row.id,
	    jobdef_overlap_name(job->def->overlap));
}

/* It waits: a row of its own says so, under the id it will run with. */
static const struct run_row *
queue_manual(struct scheduler *s, struct job *job, int64_t by_uid,
    bool in_pool)
{
	struct run_row *row = xcalloc(1, sizeof *row);
	struct wait_spec spec = {
		.occurrence = INT64_MIN,
		.due = s->now.wall.us,
		.queued = s->now.wall.us,
		.expires = INT64_MAX,
		.era = s->era.era,
		.generation = job->generation,
		.in_pool = in_pool,
		.manual = row,
	};

	*row = (struct run_row){
		.id = run_new_id(s),
		.job_id = job->id,
		.job_name = xstrdup(job->def->name),
		.occurrence = INT64_MIN,
		.era = s->era.era,
		.generation = job->generation,
		.cause = RUN_CAUSE_MANUAL,
		.attempt = 1,
		.state = RUN_QUEUED,
		.by_uid = by_uid,
		.due = s->now.wall.us,
		.queued = s->now.wall.us,
		.code = -1,
	};
	wait_put(s, wait_add(s, job, &spec));
	return row;
}

static const struct run_row *
start_manual(struct scheduler *s, struct job *job,
    const struct scheduler_run_request *request)
{
	struct run_request req = {
		.job = job,
		.occurrence = INT64_MIN,
		.era = s->era.era,
		.generation = job->generation,
		.cause = RUN_CAUSE_MANUAL,
		.due = s->now.wall.us,
		.by_uid = request->by_uid,
		.max_late = -1,
		.env = request->env,
		.n_env = request->n_env,
	};
	struct run *run = NULL;

	if (request->force || !run_pool_is_full(s))
		run = run_start(s, &req);
	return run != NULL ? &run->row : NULL;
}

int
scheduler_run_now(struct scheduler *s, struct job *job,
    const struct scheduler_run_request *request, const struct run_row **row,
    struct error *err)
{
	enum policy_action action = request->force ? POLICY_START :
	    policy_overlap(job->def->overlap, job->def->max_running,
	    job->n_runs, job->n_waiting);

	scheduler_touch(s);
	if (s->stopping)
		return error_set(err, "the daemon is stopping; nothing new "
		    "is started");
	if (s->held)
		return error_set(err, "the daemon has just started and is "
		    "still asking its workers; try again in a moment");
	switch (action) {
	case POLICY_START:
		*row = start_manual(s, job, request);
		if (*row == NULL && request->n_env > 0)
			return error_set(err, "%s: no slot is free now, and "
			    "a run with --env can't wait for one; try again",
			    job->def->name);
		if (*row == NULL)
			*row = queue_manual(s, job, request->by_uid, true);
		return 0;
	case POLICY_SKIP_OVERLAP:
	case POLICY_SKIP_QUEUE_FULL:
		return refuse_overlap(job, err);
	case POLICY_REPLACE:
		if (!TAILQ_EMPTY(&job->runs))
			run_stop(s, TAILQ_FIRST(&job->runs),
			    request->by_uid);
		break;
	case POLICY_WAIT:
		break;
	}
	*row = queue_manual(s, job, request->by_uid, false);
	return 0;
}
