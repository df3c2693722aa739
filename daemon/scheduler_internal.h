/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_SCHEDULER_INTERNAL_H
#define CRONCTL_SCHEDULER_INTERNAL_H

#include "daemon/heap.h"
#include "daemon/latency.h"
#include "daemon/policy.h"
#include "daemon/run_state.h"
#include "daemon/scheduler.h"

/*
 * Shared by the parts of the scheduler, nobody else:
 *	scheduler.c		the turn, the clock, stopping
 *	scheduler_decide.c	what becomes of due occurrences
 *	scheduler_pause.c	pauses of one job or all
 *	scheduler_wait.c	what waits for a slot
 *	scheduler_kill.c	runs that somebody wants ended
 *	scheduler_start.c	sending a run to a worker
 *	scheduler_run.c		what workers tell of runs
 *	scheduler_orphan.c	runs that have lost their worker
 *	scheduler_job.c		definitions coming, changing and going
 *	scheduler_restore.c	taking over what the store knew
 */
#define SCHEDULER_PRIORITIES	40	/* queue_priority -20..19 */
#define SCHEDULER_GAPS		16	/* suspends and steps remembered */
#define SCHEDULER_RUN_BUCKETS	4096	/* of the table of runs by id */

/* A backward step, for the sum over 24 h of boottime. */
struct back_step {
	int64_t	boot;		/* when, us */
	int64_t	size;		/* us, positive */
};

/* A definition that was in force when the daemon went down. */
struct restored {
	struct job	*job;
	struct jobdef	*old_def;	/* owns what is undecided; or NULL */
	int64_t		*covered;	/* occurrences that workers told of */
	size_t		 n_covered;
};

struct scheduler {
	struct store	*store;
	struct jobtable	*jobs;
	struct scheduler_ops ops;
	struct scheduler_observer observer;
	size_t		 max_running;
	char		*lang;		/* "LANG=..." or NULL */
	char		*socket_env;	/* "CRONCTL_SOCKET=..." or NULL */
	char		*host_id;	/* kept with each generation */
	uid_t		 daemon_uid;

	struct heap	*due;		/* jobs by due time, wall us */
	struct heap	*pool[SCHEDULER_PRIORITIES]; /* waiting, by due */
	struct heap	*expiry;	/* waiting for the pool, by expiry */
	uint64_t	 sequence;	/* of the next waiting entry */
	size_t		 n_running;	/* live runs */
	size_t		 n_waiting;	/* all waiting entries */
	size_t		 n_pool;	/* of these, in the pool */
	struct run	*runs[SCHEDULER_RUN_BUCKETS]; /* by id */
	size_t		 n_unsent;	/* runs that were refused */
	struct run_list	 orphans;	/* live runs without a job */
	struct job_list	 departed;	/* removed jobs with live runs */

	const struct clock *clock;	/* for callbacks between turns */
	struct clock_reading now;	/* of this turn, or of a callback */
	struct era_row	 era;		/* the present one */
	struct policy_gap down;		/* before the start; cause 0: none */
	struct policy_gap gaps[SCHEDULER_GAPS]; /* newest first */
	size_t		 n_gaps;
	struct back_step back[SCHEDULER_GAPS];
	size_t		 n_back;

	struct pause_row *pause_all;	/* of all jobs; or NULL */
	uint64_t	 next_run_id;
	uint64_t	 run_id_limit;	/* reserved up to here, exclusive */
	bool		 reserving;	/* a further block is on its way */
	int64_t		 next_job_id;

	bool		 held;		/* nothing is decided: one of these */
	bool		 held_by_workers; /* until they have told */
	bool		 held_by_clock;	/* until it has passed hold_mark */
	int64_t		 hold_mark;	/* wall us; the last mark */
	int64_t		 hold_until;	/* boottime us: no longer than that */
	bool		 stopping;
	struct restored	*restored;	/* while held */
	size_t		 n_restored;

	struct scheduler_counts counts;
	struct latency	 late;		/* started - due of scheduled runs */
};

/* The second in which now lies. */
static inline int64_t
scheduler_now_s(const struct scheduler *s)
{
	return walltime_seconds(s->now.wall);
}

/*
 * Callbacks come while the loop waits, perhaps an hour after the last turn:
 * what is asked of the scheduler from there begins with this.
 */
static inline void
scheduler_touch(struct scheduler *s)
{
	clock_read(s->clock, &s->now);
}

/* --- scheduler_decide.c --- */
/*
 * Decides all occurrences of a job from job->next, which is due, up to now;
 * times: the definition that owns them.  Returns the last one decided, from
 * which the next is to be planned.
 */
int64_t	decide_due(struct scheduler *, struct job *,
	    const struct jobdef *times);
/* Plans the next occurrence after a nominal instant. */
void	decide_plan(struct scheduler *, struct job *, int64_t after);
/* An outcome that starts no run, for one occurrence or a stretch. */
void	decide_record(struct scheduler *, struct job *,
	    const struct jobdef *times, int64_t first, int64_t last,
	    enum outcome_kind, enum outcome_reason);
void	decide_record_waiting(struct scheduler *, const struct waiting *,
	    enum outcome_kind, enum outcome_reason);
/* Missed occurrences first..last, each with its cause. */
void	decide_missed(struct scheduler *, struct job *,
	    const struct jobdef *times, int64_t first, int64_t last);

/* --- scheduler.c --- */
/* As after a step back from the given wall time to now. */
void	clock_went_back(struct scheduler *, int64_t from_us, bool large);

/* --- scheduler_wait.c --- */
struct wait_spec {
	int64_t		 occurrence;	/* INT64_MIN: manual */
	int64_t		 due;		/* wall, us */
	int64_t		 queued;	/* wall, us */
	int64_t		 expires;	/* wall, us; INT64_MAX */
	uint32_t	 era, generation;
	bool		 in_pool;
	struct run_row	*manual;	/* taken; or NULL */
};
struct waiting *wait_add(struct scheduler *, struct job *,
	    const struct wait_spec *);
/* Out of all lists; the caller has decided what becomes of it. */
void	wait_remove(struct scheduler *, struct waiting *);
/* A run of the job has ended: its first entry may have a slot now. */
void	wait_run_ended(struct scheduler *, struct job *);
/* Starts from the pool while there is room. */
void	wait_give_slots(struct scheduler *);
void	wait_expire(struct scheduler *);
/* Ends everything that waits of a job, or (job NULL) of all. */
void	wait_skip_all(struct scheduler *, struct job *,
	    enum outcome_reason);
void	wait_put(struct scheduler *, const struct waiting *);
/* A waiting manual run is dropped as killed. */
void	wait_kill(struct scheduler *, struct waiting *, int64_t by_uid);

/* --- scheduler_start.c --- */
struct run_request {
	struct job	*job;
	int64_t		 occurrence;	/* INT64_MIN: manual */
	uint32_t	 era, generation;
	enum run_cause	 cause;
	int64_t		 due;		/* wall, us */
	int64_t		 queued;	/* wall, us; 0 */
	int64_t		 by_uid;	/* -1 */
	uint64_t	 run_id;	/* 0: a new one */
	uint64_t	 not_this;	/* a worker that refused it; 0 */
	int64_t		 max_late;	/* ms; -1 */
	const char *const *env;		/* NAME=VALUE beside the job's own */
	size_t		 n_env;
};
/* Sends it; NULL when no worker takes it (nothing has changed then). */
struct run *run_start(struct scheduler *, const struct run_request *);
uint64_t run_new_id(struct scheduler *);

/* --- scheduler_run.c --- */
bool	run_pool_is_full(const struct scheduler *);
/* The row of a run that is on its way to a worker; strings are borrowed. */
void	run_row_of_tag(const struct protocol_tag_run *, uint64_t worker,
	    struct run_row *);
/* The row that says: this occurrence has that run. */
void	run_put_started(struct scheduler *, const struct run_row *);
struct run *run_find(const struct scheduler *, uint64_t id);
struct run *run_add(struct scheduler *, const struct run_row *,
	    struct job *, enum run_phase);
void	run_stop(struct scheduler *, struct run *, int64_t by_uid);
struct job *run_job_of(const struct scheduler *, int64_t job_id,
	    const char *name);
/* It is over, and how: frees its slot, is acknowledged after the commit. */
void	run_end(struct scheduler *, struct run *,
	    const struct protocol_ended *);
void	run_lose(struct scheduler *, struct run *, const char *why);
/* Those that were refused, to another worker. */
void	run_send_unsent(struct scheduler *);
void	run_free_all(struct scheduler *);
/* Frees a removed job that has no runs left. */
void	run_release_job(struct scheduler *, struct job *);

/* --- scheduler_pause.c --- */
/*
 * Skips what pauses cover of first..last; false when that was all, else
 * *first is what is left.
 */
bool	pause_decide(struct scheduler *, struct job *,
	    const struct jobdef *times, int64_t *first, int64_t last);
int64_t	pause_until(const struct scheduler *, const struct job *);
void	pause_end_all(struct scheduler *, int64_t by_uid);
void	pause_decide_at_stop(struct scheduler *);
void	pause_free(struct pause_row *);

/* --- scheduler_orphan.c --- */
/*
 * When its command began, on the monotonic clock: by the wall clock, unless
 * that was asked before.
 */
int64_t	orphan_begun(const struct scheduler *, const struct run *);
/* Its worker is dead: watched from here on, or lost. */
void	orphan_run(struct scheduler *, struct run *);

/* --- scheduler_restore.c --- */
/* A worker told of this occurrence: it is decided. */
void	restore_cover(struct scheduler *, struct job *, int64_t occurrence);
/* In each tick: whether the clock that was behind still is. */
void	restore_check_clock(struct scheduler *);
/* Held: what old_def (taken) owns is decided when the workers have told. */
void	restore_former(struct scheduler *, struct job *,
	    struct jobdef *old_def);
/* What a run's worker holds is known now. */
void	restore_unhold(struct scheduler *, struct run *);
void	restore_free(struct scheduler *);

/* --- scheduler_job.c --- */
void	job_put_generation(struct scheduler *, const struct job *,
	    uint32_t generation, int64_t from, int64_t to);
void	job_put_state(struct scheduler *, const struct job *);
void	job_begin_generation(struct scheduler *, struct job *, int64_t from);

#endif
