/* SPDX-License-Identifier: ISC */
/*
 * Runs that somebody wants ended, or to get a signal.  Found by id or by the
 * name they were started under, so that those of a removed job are too.
 *
 * Cost: by name all runs that are live are looked at.
 */
#include "config.h"

#include "daemon/scheduler_internal.h"

#include <inttypes.h>
#include <string.h>

#include "common/log.h"

#define SUBSYSTEM "scheduler"

static void
kill_run(struct scheduler *s, struct run *run, const struct scheduler_kill *k)
{
	if (run->phase == RUN_PHASE_ENDED)
		return;
	if (k->signal != 0 && !s->ops.signal(s->ops.arg, run->row.worker,
	    run->row.id, k->signal)) {
		k->missed(k->arg, &run->row);
		return;
	}
	if (k->signal != 0) {
		log_info(SUBSYSTEM, "uid=%" PRId64 " sent signal=%d job=%s "
		    "run=%" PRIu64, k->by_uid, k->signal, run->row.job_name,
		    run->row.id);
	} else {
		log_info(SUBSYSTEM, "uid=%" PRId64 " killed job=%s run=%"
		    PRIu64, k->by_uid, run->row.job_name, run->row.id);
		run_stop(s, run, k->by_uid);
	}
	k->reached(k->arg, &run->row);
}

static void
kill_waiting(struct scheduler *s, struct waiting *w,
    const struct scheduler_kill *k)
{
	if (k->signal != 0) {
		k->missed(k->arg, w->manual);
		return;
	}
	log_info(SUBSYSTEM, "uid=%" PRId64 " killed job=%s run=%" PRIu64
	    " which was waiting", k->by_uid, w->manual->job_name,
	    w->manual->id);
	k->reached(k->arg, w->manual);
	wait_kill(s, w, k->by_uid);
}

static bool
is_meant(const struct run_row *row, const struct scheduler_kill *k)
{
	return k->job_name != NULL ? strcmp(row->job_name, k->job_name) == 0 :
	    row->id == k->run_id;
}

static void
kill_waiting_of(struct scheduler *s, struct job *job,
    const struct scheduler_kill *k)
{
	struct waiting *w, *next;

	for (w = TAILQ_FIRST(&job->waiting); w != NULL; w = next) {
		next = TAILQ_NEXT(w, of_job);
		if (w->manual != NULL && is_meant(w->manual, k))
			kill_waiting(s, w, k);
	}
}

void
scheduler_kill_runs(struct scheduler *s, const struct scheduler_kill *k)
{
	struct run *run = k->job_name == NULL ? run_find(s, k->run_id) : NULL;
	struct job *job;

	scheduler_touch(s);
	if (run != NULL) {
		kill_run(s, run, k);
		return;
	}
	for (size_t i = 0; i < SCHEDULER_RUN_BUCKETS && k->job_name != NULL;
	    i++)
		for (run = s->runs[i]; run != NULL; run = run->hash_next)
			if (is_meant(&run->row, k))
				kill_run(s, run, k);
	if (s->n_waiting == 0)
		return;
	for (size_t i = 0; (job = jobtable_at(s->jobs, i)) != NULL; i++)
		kill_waiting_of(s, job, k);
}
