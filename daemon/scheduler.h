/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_SCHEDULER_H
#define CRONCTL_SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"
#include "common/jobdef.h"
#include "common/protocol.h"
#include "daemon/clock.h"
#include "daemon/job.h"
#include "daemon/jobtable.h"
#include "daemon/store.h"

/*
 * Decides what becomes of every occurrence (semantics.md 3, 4, 5) and sees
 * runs through their states.  Owns jobs, live runs and what waits.  Touches
 * nothing outside: starts go through ops, facts into the store's batch, time
 * comes as an argument.
 */
struct scheduler;

/* A run that has lost its worker. */
struct scheduler_orphan {
	uint64_t	 run_id;
	pid_t		 pid;		/* 0: not known */
	uint64_t	 starttime;	/* of the pid */
	int64_t		 stop_at;	/* monotonic us: its timeout; or
					 * INT64_MAX */
	int64_t		 stop_grace;	/* us */
	int		 stop_signal;	/* first step of the ladder */
	bool		 stopping;	/* a stop was asked for already */
};

/* The seam to the workers; tests give their own. */
struct scheduler_ops {
	/* Sends START; false when no worker takes more.  not_this: a worker
	 * that has refused this run, or 0. */
	bool	(*start)(void *arg, const struct protocol_start *,
		    uint64_t not_this, uint64_t *worker);
	void	(*stop)(void *arg, uint64_t worker, uint64_t run_id);
	void	(*ack)(void *arg, uint64_t worker, uint64_t run_id);
	/* To its process group; false when its worker can't be told now. */
	bool	(*signal)(void *arg, uint64_t worker, uint64_t run_id,
		    int number);
	/*
	 * The worker of a run is dead, its process may live: to be watched
	 * until scheduler_orphan_ended; stop goes on working for it.  NULL:
	 * done; else why there is nothing to watch, a sentence.
	 */
	const char *(*orphan)(void *arg, const struct scheduler_orphan *);
	void	*arg;
};

/* Told of what happens, after it is on disk. */
struct scheduler_observer {
	void	(*run_ended)(void *arg, const struct run_row *);
	void	*arg;
};

struct scheduler_options {
	struct store		*store;
	struct jobtable		*jobs;
	const struct scheduler_ops *ops;
	size_t			 max_running;	/* runs at once, all jobs */
	const char		*lang;		/* LANG of the daemon; NULL */
	const char		*socket_path;	/* for CRONCTL_SOCKET; NULL */
	const char		*host_id;	/* kept with each generation */
	uid_t			 daemon_uid;
	uint64_t		 next_run_id;	/* first of a reserved block */
	uint64_t		 run_id_limit;	/* first beyond it */
	int64_t			 next_job_id;
	struct era_row		 era;		/* the present one */
	const struct clock	*clock;		/* see clock.h */
};

#define SCHEDULER_TURN_MAX	256	/* due occurrences decided in a turn */
#define SCHEDULER_ID_BLOCK	100000	/* run ids reserved at a time */

struct scheduler *scheduler_new(const struct scheduler_options *);
void	scheduler_free(struct scheduler *);
void	scheduler_observe(struct scheduler *,
	    const struct scheduler_observer *);

/*
 * One turn: everything due is decided, freed slots are given out.  True when
 * work is left and the next turn must not wait.
 */
bool	scheduler_tick(struct scheduler *, const struct clock_reading *);
/* The next wall instant (us) at which something is to be decided. */
int64_t	scheduler_next_wake(const struct scheduler *);
/* The next boottime (us) at which something is to be decided. */
int64_t	scheduler_next_boot(const struct scheduler *);
/* Whether everything waits for the clock to pass the last mark. */
bool	scheduler_clock_is_behind(const struct scheduler *);
/* The clocks did something; before the tick of that turn. */
void	scheduler_clock_changed(struct scheduler *,
	    const struct clock_change *, const struct clock_reading *);
/* For clock_classify: backward steps within the last 24 h, us. */
int64_t	scheduler_back_sum(const struct scheduler *, struct boottime now);
/* Up to where everything due is decided, wall us; INT64_MIN: can't say. */
int64_t	scheduler_mark(const struct scheduler *);

/* --- definitions: begin puts the facts, finish has the effect --- */

struct scheduler_job_spec {
	struct jobdef	*def;		/* taken */
	uid_t		 owner_uid;
	const char	*owner_name;	/* copied; NULL */
	enum job_origin	 origin;
	const char	*file;		/* copied; NULL for control jobs */
	int		 line;
	uint64_t	 sequence;	/* order of equal due times */
	uid_t		 by_uid;	/* who asked; only of control jobs */
};
struct job *scheduler_add_begin(struct scheduler *,
	    const struct scheduler_job_spec *);
void	scheduler_add_finish(struct scheduler *, struct job *);
/* Not wanted after all (the store failed): undo of begin. */
void	scheduler_add_abandon(struct scheduler *, struct job *);
/* A new definition for a job in force: same id, counters, mark. */
void	scheduler_replace_begin(struct scheduler *, struct job *,
	    const struct scheduler_job_spec *);
void	scheduler_replace_finish(struct scheduler *, struct job *,
	    const struct scheduler_job_spec *);
/* The same definition at another place. */
void	scheduler_move_job(struct scheduler *, struct job *, const char *file,
	    int line, uint64_t sequence);
/* by_uid: who asked; -1: its file no longer has it. */
void	scheduler_remove_begin(struct scheduler *, struct job *,
	    int64_t by_uid);
/* The job is freed at once, or with its last run. */
void	scheduler_remove_finish(struct scheduler *, struct job *,
	    bool stop_running, int64_t by_uid);

/* --- pauses --- */

/*
 * From now on; of spec until, skip, by_uid and note count.  In place of a
 * pause there was.  job NULL: of all jobs, later ones too.
 */
void	scheduler_pause(struct scheduler *, struct job *,
	    const struct pause_row *spec);
/* False: it has no pause of its own. */
bool	scheduler_resume(struct scheduler *, struct job *, int64_t by_uid);
/* Ends the pause of all and each job's own; the number of paused jobs. */
size_t	scheduler_resume_all(struct scheduler *, int64_t by_uid);
/* What keeps the job from running now, its own or that of all; or NULL. */
const struct pause_row *scheduler_pause_of(const struct scheduler *,
	    const struct job *);
const struct pause_row *scheduler_pause_of_all(const struct scheduler *);
size_t	scheduler_paused(const struct scheduler *);	/* jobs */

/* --- runs --- */

struct scheduler_run_request {
	int64_t		 by_uid;
	bool		 force;		/* ignore overlap and the pool */
	const char *const *env;		/* NAME=VALUE beside the job's own */
	size_t		 n_env;
};
/*
 * A manual run.  On success *row is what is being recorded (borrowed; reply
 * after the commit): RUN_STARTING, or RUN_QUEUED when it waits.
 */
int	scheduler_run_now(struct scheduler *, struct job *,
	    const struct scheduler_run_request *, const struct run_row **row,
	    struct error *err);
/* A run that is not over yet, waiting manual ones included; or NULL. */
const struct run_row *scheduler_find_run(const struct scheduler *,
	    uint64_t run_id);
/* Down the stop ladder with it.  False: no such live run. */
bool	scheduler_stop_run(struct scheduler *, uint64_t run_id,
	    int64_t by_uid);

struct scheduler_kill {
	const char	*job_name;	/* all its runs; or NULL: */
	uint64_t	 run_id;	/* just this one */
	int		 signal;	/* only that, to its process group;
					 * 0: down the stop ladder */
	int64_t		 by_uid;	/* who asked */
	/* Of each that was reached; a waiting one has been dropped. */
	void		(*reached)(void *arg, const struct run_row *);
	/* Its worker can't be given a signal now, or it only waits. */
	void		(*missed)(void *arg, const struct run_row *);
	void		*arg;		/* for the two */
};
/*
 * Runs that are not over, also those of a removed job that had the name;
 * waiting manual ones are dropped as killed.
 */
void	scheduler_kill_runs(struct scheduler *, const struct scheduler_kill *);
size_t	scheduler_running(const struct scheduler *);	/* live runs */
size_t	scheduler_waiting(const struct scheduler *);	/* occurrences */
/* The first run id not given out: written back by a clean exit. */
uint64_t scheduler_next_run_id(const struct scheduler *);

/* --- what workers tell --- */

void	scheduler_run_listed(struct scheduler *, uint64_t worker,
	    const struct protocol_list_run *);
void	scheduler_list_end(struct scheduler *, uint64_t worker);
void	scheduler_run_started(struct scheduler *, uint64_t worker,
	    const struct protocol_started *);
void	scheduler_run_ended(struct scheduler *, uint64_t worker,
	    const struct protocol_ended *);
void	scheduler_run_refused(struct scheduler *, uint64_t worker,
	    uint64_t run_id, enum protocol_refusal);
void	scheduler_run_unknown(struct scheduler *, uint64_t worker,
	    uint64_t run_id);
void	scheduler_worker_dead(struct scheduler *, uint64_t worker);
/* Of a run given to ops.orphan: its pid is known now, its command runs. */
void	scheduler_orphan_found(struct scheduler *,
	    const struct protocol_started *);
/* It is over; the tag says nothing but the run id. */
void	scheduler_orphan_ended(struct scheduler *,
	    const struct protocol_ended *);

/* --- start and end --- */

/* Nothing is decided from here until scheduler_settled(). */
void	scheduler_hold(struct scheduler *);
/*
 * The workers have told, are dead, or don't answer; jobs with an undecided
 * start on one that doesn't answer go on being held.
 */
void	scheduler_settled(struct scheduler *);
/*
 * Takes over what the store knew, while held.  A definition that has changed
 * meanwhile comes afterwards, by scheduler_replace_begin and _finish.
 */
struct job *scheduler_restore_job(struct scheduler *, const struct job_row *,
	    const struct scheduler_job_spec *);
void	scheduler_restore_run(struct scheduler *, const struct run_row *);
void	scheduler_restore_pending(struct scheduler *,
	    const struct pending_row *);
void	scheduler_restore_pause(struct scheduler *, const struct pause_row *);
/*
 * The clock is behind the last mark: everything is held until it has passed
 * it, at most for that long; then that counts as a step back.
 */
void	scheduler_restore_behind(struct scheduler *, int64_t mark_us,
	    int64_t wait_us);
/* Nobody was there in (from, to], and why. */
void	scheduler_restore_down(struct scheduler *, int64_t from_us,
	    int64_t to_us, enum outcome_reason cause);

/* Stops scheduling at once; started runs go on. */
void	scheduler_stop(struct scheduler *);
bool	scheduler_is_stopping(const struct scheduler *);
/* The stop ladder for every live run. */
void	scheduler_stop_all_runs(struct scheduler *, int64_t by_uid);

struct scheduler_counts {
	uint64_t started, succeeded, failed, skipped, missed; /* since start */
	/* start lateness of scheduled runs (started - due), us */
	int64_t	 late_p50, late_p99, late_max;	/* -1: none yet */
};
void	scheduler_counts(const struct scheduler *, struct scheduler_counts *);

#endif
