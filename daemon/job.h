/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_JOB_H
#define CRONCTL_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "common/jobdef.h"
#include "daemon/heap.h"
#include "daemon/store.h"

#define JOB_NEVER INT64_MAX	/* next of a job with no more occurrences */

struct job;

/* Where a run stands between the daemon and its worker. */
enum run_phase {
	RUN_PHASE_UNSETTLED,	/* from the store; its worker has not told yet */
	RUN_PHASE_SENT,		/* START is on its way */
	RUN_PHASE_CONFIRMED,	/* the worker has it */
	RUN_PHASE_ORPHANED,	/* its worker is dead, its process watched */
	RUN_PHASE_ENDED,	/* over; its row is on the way to the disk */
	RUN_PHASES
};

/* A run that is not over and recorded yet. */
struct run {
	struct run_row		 row;		/* what the ledger knows */
	enum run_phase		 phase;
	struct job		*job;		/* NULL: its job is gone */
	bool			 stop_sent;	/* a stop ladder was asked for */
	int64_t			 asked_by;	/* uid that had it stopped; -1 */
	bool			 holding;	/* counted in job->holds */
	int64_t			 begun;		/* monotonic us: its command
						 * began; 0: not known */
	bool			 unsent;	/* refused: to go to another worker */
	TAILQ_ENTRY(run)	 of_job;	/* in job->runs while live */
	struct run		*hash_next;	/* in the scheduler's table */
};
TAILQ_HEAD(run_list, run);

/* An occurrence, or a manual run, that waits for a slot. */
struct waiting {
	struct job		*job;
	int64_t			 occurrence;	/* nominal; INT64_MIN: manual */
	uint32_t		 era;
	uint32_t		 generation;
	int64_t			 due;		/* wall, us */
	int64_t			 queued;	/* wall, us: since when */
	int64_t			 expires;	/* wall, us; INT64_MAX: never */
	struct run_row		*manual;	/* its row, else NULL; owned */
	bool			 in_pool;	/* waits for the pool, not for
						 * runs of its own job */
	struct heap		*pool;		/* the one it is in */
	struct heap_item	 by_order;	/* in the pool, by due */
	struct heap_item	 by_expiry;	/* in the pool, when it expires */
	TAILQ_ENTRY(waiting)	 of_job;	/* in job->waiting */
};
TAILQ_HEAD(waiting_list, waiting);

struct job {
	struct heap_item	 due;		/* first: heap item to job */
	int64_t			 id;
	struct jobdef		*def;		/* owned; name is def->name */
	uid_t			 owner_uid;
	char			*owner_name;	/* NULL: has none */
	enum job_origin		 origin;
	char			*file;		/* file jobs, else NULL */
	int			 line;
	int64_t			 created;	/* wall, us */
	uint32_t		 generation;	/* the open one, from 1 */
	int64_t			 generation_from; /* exclusive, UTC seconds */
	int64_t			 mark;		/* newest decided nominal */
	int64_t			*last_due;	/* boottime us at which each
						 * schedule was last due; 0 */
	int64_t			 next;		/* planned, or JOB_NEVER */
	struct run_list		 runs;		/* live, oldest first */
	size_t			 n_runs;
	struct waiting_list	 waiting;	/* oldest first */
	size_t			 n_waiting;
	int64_t			 skips;		/* by overlap, in a row */
	int64_t			 failures;	/* in a row */
	int64_t			 failing_since;	/* wall, us; 0 */
	struct run_row		*last_run;	/* last that ended; owned; NULL */
	struct outcome_row	 stretch;	/* last outcome without a run,
						 * for folding; count 0: none */
	uint32_t		 restored;	/* 1 + index of what a restart
						 * left to decide; 0: nothing */
	struct pause_row	*pause;		/* its own; owned; NULL: none */
	size_t			 holds;		/* undecided starts on workers
						 * that don't answer */
	bool			 changing;	/* a change is on its way to disk */
	bool			 removed;	/* no longer in the table; goes
						 * with its last run */
	TAILQ_ENTRY(job)	 departed;	/* in the scheduler's, if removed */
	struct job		*by_id_next;	/* in jobtable */
	struct job		*by_name_next;	/* in jobtable */
};

TAILQ_HEAD(job_list, job);

struct job	*job_new(struct jobdef *def);	/* takes def */
/* Another definition in its place, taken; the old one is handed back. */
struct jobdef	*job_set_def(struct job *, struct jobdef *def);
void		 job_free(struct job *);	/* no runs, nothing waiting */
/* idle running queued disabled done (spec section 6, list) */
const char	*job_state_name(const struct job *);
/* Three occurrences in a row skipped by overlap. */
bool		 job_is_stuck(const struct job *);
bool		 job_is_done(const struct job *);
/* All of it as the store keeps it; strings are borrowed from the job, but
 * definition is made: free(). */
void		 job_to_row(const struct job *, struct job_row *);

#endif
