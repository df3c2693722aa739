/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_STORE_H
#define CRONCTL_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"
#include "common/protocol.h"

struct event_base;

/*
 * The store: what the daemon must not forget, in one SQLite database
 * (WAL, synchronous=FULL).  The loop puts facts; a helper thread commits all
 * that wait as one transaction.
 *
 *	loop:	store_put_*() ... store_after_commit() ... store_flush()
 *	thread:	store_step(): one transaction of all flushed batches
 *	loop:	store_complete(): callbacks of what was committed, in order
 *
 * store_start_thread() connects the three; unit tests call them themselves.
 * Every fact is an idempotent upsert by primary key.  The final state of a
 * run is never overwritten by an open one.
 */
struct store;

/* What became of an occurrence (spec section 5). */
enum outcome_kind {
	OUTCOME_STARTED = 1, OUTCOME_COALESCED, OUTCOME_SKIPPED, OUTCOME_MISSED
};
enum outcome_reason {
	REASON_NONE = 0,
	/* skipped */
	REASON_OVERLAP, REASON_QUEUE_FULL, REASON_REPLACED_WHILE_QUEUED,
	REASON_PAUSED, REASON_USER_LIMIT, REASON_NOT_PERMITTED,
	REASON_STOPPING, REASON_REMOVED, REASON_CLOCK_BACK,
	/* missed */
	REASON_DAEMON_DOWN, REASON_MACHINE_DOWN, REASON_SUSPENDED,
	REASON_CLOCK_STEPPED, REASON_POOL_FULL, REASON_STORE_FAILED,
	REASON_OVERLOAD
};
const char *outcome_kind_name(enum outcome_kind);
const char *outcome_reason_name(enum outcome_reason);	/* "" for NONE */

/* How a run stands (spec section 5); the numbers are in the database. */
enum run_state {
	RUN_STARTING = 1,	/* sent to a worker */
	RUN_RUNNING,		/* its command runs */
	RUN_SUCCEEDED, RUN_FAILED, RUN_SIGNALED, RUN_TIMED_OUT, RUN_KILLED,
	RUN_START_FAILED, RUN_LOST,
	RUN_QUEUED		/* a manual run that waits; not final */
};
const char *run_state_name(enum run_state);
bool	run_state_is_final(enum run_state);

struct outcome_row {
	int64_t			 job_id;
	char			*job_name;	/* queries only; owned */
	uint32_t		 era;
	int64_t			 occurrence;	/* nominal, UTC seconds */
	int64_t			 last;		/* = occurrence for a single */
	int64_t			 count;		/* -1: not counted */
	uint32_t		 generation;
	enum outcome_kind	 kind;
	enum outcome_reason	 reason;
	uint64_t		 run_id;	/* 0: none */
	int64_t			 at;		/* decided: wall, us */
};

struct run_row {
	uint64_t		 id;
	int64_t			 job_id;
	char			*job_name;	/* owned */
	int64_t			 occurrence;	/* INT64_MIN: manual */
	uint32_t		 era;
	uint32_t		 generation;
	enum run_cause		 cause;
	uint32_t		 attempt;	/* from 1 */
	uint64_t		 prev_run;	/* 0: none */
	enum run_state		 state;
	int64_t			 by_uid;	/* -1: nobody asked */
	uint64_t		 worker;	/* number; 0: none yet */
	pid_t			 pid;		/* 0: not known */
	uint64_t		 starttime;	/* of the pid, /proc/PID/stat */
	int64_t			 due;		/* wall, us */
	int64_t			 queued;	/* 0: did not wait */
	int64_t			 sent;		/* wall, us */
	int64_t			 started;	/* 0: not */
	int64_t			 ended;		/* 0: not */
	int			 code;		/* exit code, -1: none */
	int			 signal;	/* 0: none */
	bool			 core;
	enum protocol_stage	 stage;		/* start_failed */
	char			*detail;	/* sentence, or NULL; owned */
	int64_t			 user_us, system_us;	/* CPU */
	int64_t			 max_rss_kb;
	int64_t			 blocks_in, blocks_out;
	int64_t			 switches;
	int64_t			 output_bytes, output_dropped;
};
void	run_row_release(struct run_row *);
void	run_row_copy(struct run_row *to, const struct run_row *from);
void	outcome_row_release(struct outcome_row *);

enum job_origin { ORIGIN_FILE = 1, ORIGIN_CONTROL };

struct job_row {
	int64_t			 id;
	char			*name;		/* owned, as all pointers here */
	uid_t			 owner_uid;
	char			*owner_name;	/* NULL: has none */
	enum job_origin		 origin;
	char			*file;		/* file jobs: name of the file */
	int			 line;		/* file jobs: of the section */
	char			*definition;	/* jobdef_format_ini() text */
	int64_t			 created;	/* wall, us */
	int64_t			 removed;	/* wall, us; 0: in force */
	int64_t			 mark;		/* newest decided nominal */
	uint32_t		 generation;	/* the open one */
	int64_t			 generation_from; /* exclusive, UTC seconds */
	int64_t			 skips;		/* by overlap, in a row */
	int64_t			 failures;	/* in a row */
	int64_t			 failing_since;	/* wall, us; 0: not failing */
	uint64_t		 last_run;	/* that ended; 0: none */
};
void	job_row_release(struct job_row *);

struct generation_row {
	int64_t			 job_id;
	uint32_t		 generation;	/* from 1 */
	int64_t			 from;		/* exclusive, UTC seconds */
	int64_t			 to;		/* inclusive; INT64_MAX: open */
	char			*definition;	/* what alters time: schedule,
						 * timezone, dst and bounds, as
						 * INI lines; owned */
	char			*zones;		/* "NAME HASH" lines; owned */
	char			*host_id;	/* owned */
};

/* An occurrence that waits, or a backlog one. */
enum pending_state { PENDING_QUEUED = 1, PENDING_POOL };
struct pending_row {
	int64_t			 job_id;
	uint32_t		 era;
	int64_t			 occurrence;
	uint32_t		 generation;
	enum pending_state	 state;
	int64_t			 due;		/* wall, us */
	int64_t			 queued;	/* wall, us */
};

/* Occurrences are not started for a while (spec section 6, pause). */
struct pause_row {
	int64_t			 job_id;	/* 0: all jobs */
	int64_t			 since;		/* wall, us */
	int64_t			 until;		/* wall, us; INT64_MAX: resume */
	int64_t			 skip;		/* occurrences left to skip; 0:
						 * a pause in time */
	int64_t			 by_uid;	/* who */
	char			*note;		/* why, or NULL; owned */
};

struct file_row {
	char			*name;		/* owned, as all here */
	char			*good;		/* last good text */
	size_t			 good_len;	/* its bytes */
	char			*error;		/* first error now, or NULL */
	int64_t			 loaded;	/* wall, us: of the good text */
};

struct era_row {
	uint32_t		 era;		/* from 1 */
	int64_t			 start;		/* wall, us */
	int64_t			 previous_end;	/* wall, us: of the one before */
};

/* Something that happened; see daemon/events.h. */
enum event_kind {
	EVENT_RUN_STARTED = 1, EVENT_RUN_ENDED,
	EVENT_SKIPPED, EVENT_MISSED,	/* occurrences that started no run */
	EVENT_JOB_ADDED, EVENT_JOB_CHANGED, EVENT_JOB_REMOVED,
	EVENT_JOB_PAUSED, EVENT_JOB_RESUMED,
	EVENT_DAEMON_STARTED, EVENT_DAEMON_STOPPING, EVENT_DAEMON_LEAVING,
	EVENT_CLOCK_STEPPED, EVENT_FILE_ERROR,
	EVENT_LOST,			/* too many waited for the disk */
	EVENT_KINDS			/* one more than the last */
};
const char *event_kind_name(enum event_kind);

struct event_row {
	int64_t			 seq;		/* given by the commit */
	int64_t			 serial;	/* given by store_put_event: the
						 * order in which they were put,
						 * over all lives */
	int64_t			 at;		/* wall, us */
	int64_t			 job_id;	/* 0: of no job */
	char			*job_name;	/* NULL: of no job; owned */
	uint64_t		 run_id;	/* 0: of no run */
	enum event_kind		 kind;
	char			*body;		/* a JSON object; owned */
};
void	event_row_release(struct event_row *);
/* The newest that are kept; older ones go, a few with each commit. */
#define STORE_EVENTS_KEPT	100000
#define STORE_EVENT_BODY_MAX	4096	/* bytes; a longer one is not taken */

/* Facts: copied at once, in force with the next commit. */
void	store_put_job(struct store *, const struct job_row *);
void	store_put_job_removed(struct store *, int64_t job_id, int64_t at);
/* The counters and the mark of a job row, nothing else. */
void	store_put_job_state(struct store *, const struct job_row *);
void	store_put_generation(struct store *, const struct generation_row *);
void	store_put_outcome(struct store *, const struct outcome_row *);
void	store_put_run(struct store *, const struct run_row *);
/* Takes a start back that no worker has done: the row goes. */
void	store_put_run_dropped(struct store *, uint64_t run_id);
void	store_put_pending(struct store *, const struct pending_row *);
void	store_put_pending_decided(struct store *, int64_t job_id,
	    uint32_t era, int64_t occurrence);
/* Without a good text the last good one, and its time, stay. */
void	store_put_pause(struct store *, const struct pause_row *);
void	store_put_pause_over(struct store *, int64_t job_id);
void	store_put_file(struct store *, const struct file_row *);
void	store_put_file_gone(struct store *, const char *name);
void	store_put_era(struct store *, const struct era_row *);
/*
 * Of a run before the row that makes it true: what the ledger says already is
 * not told again.  Sent twice it is there once, as every fact.
 */
void	store_put_event(struct store *, const struct event_row *);
/* The newest event that is on disk, as far as the loop has been told; 0. */
int64_t	store_event_seq(const struct store *);
/* Called on the loop each time that has moved. */
void	store_on_events(struct store *, void (*moved)(void *arg), void *arg);
void	store_put_meta_integer(struct store *, const char *key, int64_t);
void	store_put_meta_string(struct store *, const char *key, const char *);
/* The keys that store_load reads, and their owners. */
#define STORE_META_NEXT_RUN_ID	"next_run_id"	/* loop: end of the block */
#define STORE_META_NEXT_WORKER	"next_worker"	/* loop: end of the block */
#define STORE_META_CLEAN_EXIT	"clean_exit"	/* loop: 1 with the last mark;
						 * each opening takes it away */
/* Rides on the batch: everything due up to here is in it or before it. */
void	store_put_mark(struct store *, int64_t wall_us);

enum store_result {
	STORE_COMMITTED,
	STORE_FAILED		/* the facts are kept and sent again; whether
				 * they are on disk is not known */
};
/* Calls done, on the loop, when what was put before is committed. */
void	store_after_commit(struct store *,
	    void (*done)(void *arg, enum store_result), void *arg);

/*
 * Opens or creates state_dir/cronctl.db, checks that it is ours and of a
 * schema this program knows, and migrates it.  Refused with a sentence when
 * it is corrupt, foreign, or newer.
 */
struct store	*store_open(const char *state_dir, struct error *err);
/* Ends the thread after a last commit of what waits. */
void		 store_close(struct store *);
/* -1, said in the log, when there is no thread to be had. */
int		 store_start_thread(struct store *, struct event_base *);

/* Loop: hands the batch over; nothing is done when it is empty. */
void		 store_flush(struct store *);
/* What the thread does; for tests: one transaction.  False when nothing
 * waited. */
bool		 store_step(struct store *);
/* What the loop does with what comes back; for tests: the callbacks. */
void		 store_complete(struct store *);
/* Test and start-up: flush, step and complete until nothing waits. */
int		 store_sync(struct store *, struct error *err);

struct store_status {
	bool		 broken;	/* the last commit failed */
	char		 detail[ERROR_MAX]; /* why, when broken */
	int64_t		 last_commit;	/* wall, us; 0: none yet */
	size_t		 waiting;	/* facts not committed yet */
	uint64_t	 dropped;	/* outcomes not recorded: see gap */
};
void		 store_status(const struct store *, struct store_status *);
/* Room for one more change over the socket. */
bool		 store_has_room(const struct store *);

/* All that a starting daemon takes over; read before any thread runs. */
struct store_image {
	char			 instance[33];	/* made at first opening */
	uint64_t		 epoch;		/* raised by each opening */
	uint64_t		 next_run_id;	/* first one not handed out */
	uint64_t		 next_worker;
	int64_t			 next_job_id;
	char			*boot_id;	/* of the last mark, or NULL */
	int64_t			 mark;		/* wall, us; 0: none */
	bool			 clean_exit;	/* the mark is a clean exit's */
	struct era_row		 era;		/* the present one */
	struct job_row		*jobs;		/* in force, both origins */
	size_t			 n_jobs;
	struct run_row		*runs;		/* not final */
	size_t			 n_runs;
	struct pending_row	*pending;	/* oldest first */
	size_t			 n_pending;
	struct pause_row	*pauses;
	size_t			 n_pauses;
	struct file_row		*files;
	size_t			 n_files;
};
int		 store_load(struct store *, struct store_image *,
		    struct error *err);
void		 store_image_release(struct store_image *);
/* Whether a job's occurrence has a row (start-up and tests). */
int		 store_find_run(struct store *, uint64_t run_id,
		    struct run_row *, struct error *err); /* 1, 0, -1 */

#endif
