/* SPDX-License-Identifier: ISC */
/*
 * From the store's image to a scheduler that knows what the one before knew.
 * Definitions come from the rows, those of job files too: so a file that is
 * in error now keeps its last good jobs, and a change made while nobody was
 * there is a change like any other.
 */
#include "config.h"

#include "daemon/recover.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/xmalloc.h"

#define SUBSYSTEM "recover"
/* Control-added jobs come after all file jobs that are due with them. */
#define CONTROL_SEQUENCE (UINT64_C(1) << 60)

static void
restore_last_run(const struct recover_options *o, const struct job_row *row,
    struct job *job)
{
	struct run_row run;
	struct error err;

	if (row->last_run == 0)
		return;
	switch (store_find_run(o->store, row->last_run, &run, &err)) {
	case 1:
		job->last_run = xmemdup(&run, sizeof run);
		break;
	case 0:
		break;
	default:
		log_warning(SUBSYSTEM, "job=%s: its last run: %s", row->name,
		    err.text);
	}
}

static void
restore_job(const struct recover_options *o, const struct job_row *row)
{
	struct scheduler_job_spec spec = {
		.owner_uid = row->owner_uid,
		.owner_name = row->owner_name,
		.origin = row->origin,
		.file = row->file,
		.line = row->line,
		.sequence = row->origin == ORIGIN_FILE ?
		    (uint64_t)row->line : CONTROL_SEQUENCE + (uint64_t)row->id,
	};
	struct error err;

	spec.def = files_build_now(o->files, row->definition, &err);
	if (spec.def == NULL) {
		log_error(SUBSYSTEM, "job=%s is not in force: %s; correct it "
		    "with cronctl add --replace", row->name, err.text);
		return;
	}
	restore_last_run(o, row,
	    scheduler_restore_job(o->scheduler, row, &spec));
}

/* From the last mark to now nobody was there. */
static void
restore_down(const struct recover_options *o)
{
	bool same_boot = o->image->boot_id != NULL &&
	    strcmp(o->image->boot_id, o->boot_id) == 0;

	if (o->image->mark == 0)
		return;
	scheduler_restore_down(o->scheduler, o->image->mark, o->now.wall.us,
	    same_boot ? REASON_DAEMON_DOWN : REASON_MACHINE_DOWN);
	if (o->now.wall.us < o->image->mark)
		scheduler_restore_behind(o->scheduler, o->image->mark,
		    o->clock_wait);
}

void
recover(const struct recover_options *o)
{
	const struct store_image *image = o->image;

	for (size_t i = 0; i < image->n_jobs; i++)
		restore_job(o, &image->jobs[i]);
	for (size_t i = 0; i < image->n_pending; i++)
		scheduler_restore_pending(o->scheduler, &image->pending[i]);
	for (size_t i = 0; i < image->n_runs; i++)
		scheduler_restore_run(o->scheduler, &image->runs[i]);
	for (size_t i = 0; i < image->n_pauses; i++)
		scheduler_restore_pause(o->scheduler, &image->pauses[i]);
	restore_down(o);
	if (image->n_jobs > 0 || image->n_runs > 0)
		log_info(SUBSYSTEM, "took over %zu jobs, %zu runs that were "
		    "not over and %zu waiting occurrences%s", image->n_jobs,
		    image->n_runs, image->n_pending, image->clean_exit ? "" :
		    "; the last exit was not clean");
}
