/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_DAEMON_STORE_INTERNAL_H
#define CRONCTL_DAEMON_STORE_INTERNAL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "daemon/helper.h"
#include "daemon/store.h"

/*
 * What the modules of the store share.  Private to them and to query.
 *
 *	store		queues, batches, thread (the loop's side)
 *	store_rows	names, copies and releases of rows
 *	store_fact	facts: rows copied into one allocation each
 *	store_schema	opening, checking, migrating (the thread's side from
 *			here on)
 *	store_write	the transaction, a statement for each kind of fact
 *	store_load	reading at start
 */

#define STORE_FILE	"cronctl.db"
#define STORE_APPLICATION_ID 0x43726f6e		/* "Cron" */

/* --- facts --- */

enum store_fact_type {
	FACT_JOB, FACT_JOB_REMOVED, FACT_JOB_STATE, FACT_GENERATION,
	FACT_OUTCOME, FACT_RUN, FACT_RUN_DROPPED, FACT_PENDING,
	FACT_PENDING_DECIDED, FACT_PAUSE, FACT_PAUSE_OVER, FACT_FILE,
	FACT_FILE_GONE, FACT_ERA, FACT_META, FACT_GAP, FACT_EVENT,
	FACT_TYPES
};

/* The row of FACT_META; text is NULL for an integer. */
struct store_meta_row {
	char	*key;
	char	*text;
	int64_t	 integer;
};

/* Outcomes that were not recorded, because too many facts waited. */
struct store_gap_row {
	int64_t	 at;		/* wall, us: the first was decided */
	int64_t	 last;		/* the last was */
	int64_t	 dropped;	/* how many */
};

struct store_fact {
	struct store_fact	*next;	/* in its list */
	enum store_fact_type	 type;	/* what row is */
	size_t			 bytes;	/* of this allocation */
	/* The row: that of store.h, or of another kind of fact the one whose
	 * key it has; the strings it points to lie behind it. */
	_Alignas(max_align_t) unsigned char row[];
};

struct store_facts {
	struct store_fact	*head;	/* oldest, or NULL */
	struct store_fact	**tail;	/* where the next one goes */
	size_t			 n;	/* facts */
	size_t			 bytes;	/* of their allocations */
};

/* Copies the row with all it points to. */
struct store_fact *store_fact_new(enum store_fact_type, const void *row);
void	store_facts_init(struct store_facts *);
void	store_facts_add(struct store_facts *, struct store_fact *);
void	store_facts_join(struct store_facts *to, struct store_facts *from);
void	store_facts_release(struct store_facts *);

/* --- the thread's side --- */

enum store_statement {
	STATEMENT_BEGIN, STATEMENT_COMMIT, STATEMENT_ROLLBACK,
	STATEMENT_JOB, STATEMENT_JOB_COUNTER, STATEMENT_JOB_REMOVED,
	STATEMENT_JOB_STATE, STATEMENT_GENERATION, STATEMENT_OUTCOME,
	STATEMENT_RUN, STATEMENT_RUN_DROPPED, STATEMENT_PENDING,
	STATEMENT_PENDING_DECIDED, STATEMENT_PAUSE, STATEMENT_PAUSE_OVER,
	STATEMENT_FILE, STATEMENT_FILE_GONE,
	STATEMENT_ERA, STATEMENT_META, STATEMENT_GAP,
	STATEMENT_EVENT, STATEMENT_EVENT_TRIM,
	STATEMENTS
};

/* The connection and what it has not committed yet. */
struct store_writer {
	char			*directory;	/* state directory */
	char			*path;		/* of the database */
	sqlite3			*db;		/* NULL while it is broken */
	sqlite3_stmt		*statements[STATEMENTS]; /* made when needed */
	struct store_facts	 kept;		/* not committed */
	bool			 has_mark;	/* a mark waits with them */
	int64_t			 mark;		/* wall, us */
	char			 boot_id[40];	/* of this boot; "" unknown */
	bool			 broken;	/* the last commit failed */
	bool			 suspect;	/* check the whole database
						 * before it is believed */
	struct error		 why;		/* when broken */
	int64_t			 last_commit;	/* wall, us; 0: none yet */
	bool			 clean_exit;	/* as found by the opening */
	int64_t			 event_seq;	/* of the newest committed */
	int64_t			 event_serial;	/* its, as the opening found */
	struct helper		*helper;	/* its thread, or NULL */
};

/* "PATH: what SQLite says"; always -1. */
int	store_fail(struct store_writer *, struct error *, const char *doing);

/* Opens or makes the database, raises the epoch. */
int	store_writer_open(struct store_writer *, const char *state_dir,
	    struct error *);
/* After a failure: a new connection, checked if that is in order. */
int	store_writer_reopen(struct store_writer *, struct error *);
void	store_writer_disconnect(struct store_writer *);
void	store_writer_release(struct store_writer *);
int	store_writer_exec(struct store_writer *, const char *sql,
	    const char *doing, struct error *);

/* One transaction of all that is kept; frees it when that is committed. */
int	store_writer_commit(struct store_writer *, struct error *);

int	store_writer_load(struct store_writer *, struct store_image *,
	    struct error *);
int	store_writer_find_run(struct store_writer *, uint64_t run_id,
	    struct run_row *, struct error *);

/* --- rows out of statements, for store_load and query --- */

#define STORE_OPEN_RUNS	"run.state IN (1, 2, 10)"
#define STORE_RUN_COLUMNS						\
	"run.id, run.job_id, run.occurrence, run.era, run.generation, "	\
	"run.cause, run.attempt, run.prev_run, run.state, run.by_uid, "	\
	"run.worker, run.pid, run.starttime, run.due, run.queued, "	\
	"run.sent, run.started, run.ended, run.code, run.signal, "	\
	"run.core, run.stage, run.detail, run.user_us, run.system_us, "	\
	"run.max_rss_kb, run.blocks_in, run.blocks_out, run.switches, "	\
	"run.output_bytes, run.output_dropped"
#define STORE_RUN_N_COLUMNS 31
/*
 * Fills the row; job_name comes from the column after these.  -1 when a value
 * is none that this program writes.
 */
int	store_read_run(sqlite3_stmt *, struct run_row *, struct error *);
/* A copy, NULL for NULL. */
char	*store_column_text(sqlite3_stmt *, int column);
/* The same, at most limit bytes; what is longer is no text of ours. */
int	store_column_integer(sqlite3_stmt *, int column, int64_t min,
	    int64_t max, int64_t *, const char *what, struct error *);

#endif
