/* SPDX-License-Identifier: ISC */
/*
 * Jobs of clients are built once, with the zones of that moment.  When a
 * zone's file or the daemon's zone may have changed they are built again, a
 * batch at a time on the files helper, and those whose instants are others
 * now begin a new generation.  (Jobs of files are built anew by each reading.)
 */
#include "config.h"

#include "daemon/reload_internal.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/xmalloc.h"

#define SUBSYSTEM	"reload"
#define BATCH		128	/* jobs in one request */
#define LOOKED_AT	1024	/* jobs looked at for one */

static void
replace(struct pass *p, struct job *job, struct files_rebuild *one)
{
	struct scheduler *scheduler = p->r->o.scheduler;
	const struct scheduler_job_spec spec = {
		.def = one->def,
		.owner_uid = job->owner_uid,
		.owner_name = job->owner_name,
		.origin = job->origin,
		.sequence = job->due.sequence,
	};

	one->def = NULL;
	p->replanned++;
	scheduler_replace_begin(scheduler, job, &spec);
	scheduler_replace_finish(scheduler, job, &spec);
}

static void
on_rebuilt(void *arg, struct files_rebuilt *rebuilt)
{
	struct reload *r = arg;
	struct pass *p = r->pass;
	struct job *job;

	p->rebuilding = false;
	if (r->leaving) {
		reload_free(r);
		return;
	}
	if (rebuilt->err.text[0] != '\0')
		log_warning(SUBSYSTEM, "%s; it keeps the time zone it had",
		    rebuilt->err.text);
	for (size_t i = 0; i < rebuilt->n; i++) {
		struct files_rebuild *one = &rebuilt->v[i];

		job = jobtable_find_id(r->o.jobs, one->id);
		/* What is changing just now comes with a zone of its own. */
		if (job != NULL && one->def != NULL && !job->changing &&
		    !jobdef_same_times(job->def, one->def))
			replace(p, job, one);
	}
}

static void
add(struct files_rebuilt *batch, const struct job *job)
{
	struct files_rebuild *one = &batch->v[batch->n++];

	one->id = job->id;
	one->name = xstrdup(job->def->name);
	jobdef_settings_init(&one->settings);
	jobdef_settings_copy(&one->settings, &job->def->settings);
}

/* The next jobs of clients behind p->after; NULL: that was the last job. */
static const struct job *
collect(struct pass *p, struct files_rebuilt *batch)
{
	struct jobtable *jobs = p->r->o.jobs;
	size_t first = jobtable_position(jobs, p->after), i;
	const struct job *job = NULL;

	for (i = first; i < first + LOOKED_AT && batch->n < BATCH; i++) {
		job = jobtable_at(jobs, i);
		if (job == NULL)
			return NULL;
		if (job->origin == ORIGIN_CONTROL)
			add(batch, job);
	}
	return job;
}

bool
pass_rebuild(struct pass *p)
{
	struct reload *r = p->r;
	struct files_rebuilt batch = { .err = { "" } };
	const struct job *last;

	if (!(p->what & RELOAD_ZONES) || (p->what & RELOAD_PLAN) ||
	    p->at > 0 || jobtable_count_origin(r->o.jobs, ORIGIN_CONTROL) == 0)
		return true;
	batch.v = xcalloc(BATCH, sizeof *batch.v);
	last = collect(p, &batch);
	free(p->after);
	p->after = last != NULL ? xstrdup(last->def->name) : NULL;
	p->at = last == NULL;
	if (batch.n > 0) {
		p->rebuilding = files_rebuild(r->o.files, &batch, on_rebuilt,
		    r);
		if (!p->rebuilding) {
			log_error(SUBSYSTEM, "zones of jobs that clients added "
			    "are not read again: too much is being read "
			    "already; run cronctl reload later");
			p->at = 1;
		}
	}
	files_rebuilt_release(&batch);
	return false;
}
