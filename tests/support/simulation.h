/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_TESTS_SIMULATION_H
#define CRONCTL_TESTS_SIMULATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/clock.h"
#include "daemon/jobtable.h"
#include "daemon/query.h"
#include "daemon/scheduler.h"
#include "daemon/store.h"

/*
 * The real scheduler on a real store, with a clock of its own and workers
 * that do what the test says.  Any date, any speed; nothing runs.
 *
 * Every failure of the simulation itself ends the test.
 */
#define SIM_STARTS_MAX 65536
#define SIM_ERAS_MAX 8

struct sim_start {
	uint64_t	run_id;
	uint64_t	worker;
	int64_t		not_after;	/* boottime, us */
	struct protocol_tag_run tag;	/* job_name points to name */
	char		name[JOBDEF_FULL_NAME_MAX];
	char		scheduled[64];	/* CRONCTL_SCHEDULED, or "" */
	bool		stop_asked;
	int		signal;		/* the last one sent; 0: none */
	bool		acked;
	bool		over;		/* the test has ended it */
	bool		orphaned;	/* given to be watched */
	struct scheduler_orphan orphan;	/* as it was given then */
};

struct sim {
	char			 dir[64];	/* state directory */
	struct clock		 clock;
	struct clock_reading	 now;
	struct store		*store;
	struct store_image	 image;
	struct jobtable		*jobs;
	struct scheduler	*scheduler;
	struct sim_start	 starts[SIM_STARTS_MAX]; /* in order */
	size_t			 n_starts;
	size_t			 n_over;	/* sim_end_all has come so far */
	bool			 no_worker;	/* start() finds none */
	bool			 watches;	/* orphan() has what to watch */
	bool			 frozen;	/* a crash goes back to .frozen */
	size_t			 max_running;
	int64_t			 era_start[SIM_ERAS_MAX]; /* wall us; [0]: era 1 */
	int64_t			 era_end[SIM_ERAS_MAX];	/* of past ones */
	size_t			 n_eras;
};

/* A new state directory; the wall clock stands at start_s. */
struct sim	*sim_new(int64_t start_s);
void		 sim_free(struct sim *);
/* settings: "key = value" lines; a job file's when file is not NULL. */
struct job	*sim_add(struct sim *, const char *name, const char *settings,
		    const char *file);
void		 sim_replace(struct sim *, const char *name,
		    const char *settings);
void		 sim_remove(struct sim *, const char *name);
struct job	*sim_job(struct sim *, const char *name);
/*
 * Time goes on: tick after tick, waking only when the scheduler asks, until
 * the wall clock stands at to_s.
 */
void		 sim_run_to(struct sim *, int64_t to_s);
/* One turn, now. */
void		 sim_tick(struct sim *);
/* The wall clock is set, the others go on; a turn follows. */
void		 sim_set_wall(struct sim *, int64_t wall_us);
/* The machine sleeps for that long; a turn follows. */
void		 sim_suspend(struct sim *, int64_t us);
/* The worker of the i-th start tells. */
void		 sim_started(struct sim *, size_t i);
void		 sim_exited(struct sim *, size_t i, int code);
/* Every run that is still live has succeeded; not saved yet. */
void		 sim_end_all(struct sim *);
void		 sim_signaled(struct sim *, size_t i, int signal);
void		 sim_refused(struct sim *, size_t i, enum protocol_refusal);
/* The worker of the i-th start is dead. */
void		 sim_worker_dead(struct sim *, size_t i);
/* Its process, watched since, has exited; lost: how is not known. */
void		 sim_orphan_exited(struct sim *, size_t i, int code);
void		 sim_orphan_lost(struct sim *, size_t i);
/* How many starts of a job there were. */
size_t		 sim_count(const struct sim *, const char *name);
/* Its n-th start (from 0), as an index into starts. */
size_t		 sim_nth(const struct sim *, const char *name, size_t n);

/* From here on nothing reaches the disk, as the next crash will show. */
void		 sim_freeze_disk(struct sim *);
/*
 * The daemon is gone at once, and is started anew at restart_s with the same
 * definitions.  Held until sim_settle().
 */
void		 sim_crash(struct sim *);
void		 sim_restart(struct sim *, int64_t restart_s);
void		 sim_settle(struct sim *);
/* A worker that outlived the daemon lists the i-th start. */
void		 sim_listed(struct sim *, size_t i);

/*
 * The ledger as text, by occurrence: "started@T", "skipped(overlap)@T",
 * "missed(daemon_down)@A..B*N".  T in seconds since the start of the
 * simulation.  Manual runs are not in it.  Static buffer.
 */
const char	*sim_ledger(struct sim *, const char *name);
/*
 * V1 and V2 of semantics.md 8 for a job of one generation: every occurrence
 * after from_s, in every era, lies in exactly one row, and rows begin and end
 * at occurrences.
 */
void		 sim_verify(struct sim *, const char *name, int64_t from_s);
/* The same for runs: "succeeded failed(3) lost". */
const char	*sim_runs(struct sim *, const char *name);

#endif
