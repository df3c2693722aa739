/* SPDX-License-Identifier: ISC */
/*
 * A job in force: its definition and where it stands.  A plain value with
 * lists; what happens to it is the scheduler's business.
 */
#include "config.h"

#include "daemon/job.h"

#include <assert.h>
#include <stdlib.h>

#include "common/xmalloc.h"

#define STUCK_AFTER 3	/* occurrences skipped by overlap in a row */

struct job *
job_new(struct jobdef *def)
{
	struct job *job = xcalloc(1, sizeof *job);

	job_set_def(job, def);
	job->next = JOB_NEVER;
	job->mark = INT64_MIN;
	TAILQ_INIT(&job->runs);
	TAILQ_INIT(&job->waiting);
	return job;
}

struct jobdef *
job_set_def(struct job *job, struct jobdef *def)
{
	struct jobdef *old = job->def;

	job->def = def;
	free(job->last_due);
	job->last_due = xcalloc(def->n_schedules, sizeof *job->last_due);
	return old;
}

void
job_free(struct job *job)
{
	if (job == NULL)
		return;
	assert(job->n_runs == 0 && job->n_waiting == 0);
	assert(!heap_has(&job->due));
	jobdef_free(job->def);
	free(job->last_due);
	if (job->pause != NULL)
		free(job->pause->note);
	free(job->pause);
	free(job->owner_name);
	free(job->file);
	if (job->last_run != NULL)
		run_row_release(job->last_run);
	free(job->last_run);
	free(job);
}

bool
job_is_done(const struct job *job)
{
	return job->def->enabled && job->next == JOB_NEVER &&
	    job->n_runs == 0 && job->n_waiting == 0 &&
	    (jobdef_is_one_shot(job->def) ||
	    job->def->not_after != INT64_MAX);
}

const char *
job_state_name(const struct job *job)
{
	if (job->n_runs > 0)
		return "running";
	if (job->n_waiting > 0)
		return "queued";
	if (!job->def->enabled)
		return "disabled";
	return job_is_done(job) ? "done" : "idle";
}

bool
job_is_stuck(const struct job *job)
{
	return job->skips >= STUCK_AFTER;
}

void
job_to_row(const struct job *job, struct job_row *row)
{
	*row = (struct job_row){
		.id = job->id,
		.name = job->def->name,
		.owner_uid = job->owner_uid,
		.owner_name = job->owner_name,
		.origin = job->origin,
		.file = job->file,
		.line = job->line,
		.definition = jobdef_format_ini(job->def),
		.created = job->created,
		.mark = job->mark,
		.generation = job->generation,
		.generation_from = job->generation_from,
		.skips = job->skips,
		.failures = job->failures,
		.failing_since = job->failing_since,
		.last_run = job->last_run != NULL ? job->last_run->id : 0,
	};
}
