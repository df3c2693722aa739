/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_QUERY_H
#define CRONCTL_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "daemon/store.h"

struct event_base;

/*
 * Reads of the ledger for clients: a helper with a read-only connection of
 * its own, so that a long answer delays neither a commit nor a due run.
 * A page has at most QUERY_PAGE rows.
 */
struct query;

#define QUERY_PAGE 200
/*
 * Where a page ends, as text: rows are in order of time, and many rows can
 * share one microsecond, so a time alone is no place to go on at.
 */
#define QUERY_KEY_MAX 96

struct query_row {
	bool			 is_run;	/* which of the two holds */
	struct run_row		 run;
	struct outcome_row	 outcome;	/* not of kind started */
};

/* What to read; copied. */
struct query_spec {
	const char	*job_name;	/* NULL: all; also removed jobs */
	uint64_t	 run_id;	/* just this run; 0: not asked */
	bool		 last_ended;	/* just the newest run that has
					 * ended; limit is 1 then */
	bool		 failed;	/* only runs that did not succeed */
	bool		 with_output;	/* only runs that wrote something */
	int64_t		 since;		/* wall, us; INT64_MIN: no bound */
	const char	*before;	/* query_result.more; NULL: the newest */
	size_t		 limit;		/* 1..QUERY_PAGE */
	bool		 events;	/* in place of all that: events */
	int64_t		 first_seq, last_seq; /* of these, the oldest first */
};

struct query_result {
	struct query_row	*rows;	/* newest first; owned by the result */
	size_t			 n_rows;
	char			 more[QUERY_KEY_MAX]; /* to go on before; "": end */
	struct event_row	*events; /* oldest first; owned by the result */
	size_t			 n_events;
	int64_t			 oldest_seq; /* that is kept; 0: none is */
	struct error		 err;	/* text "" when all is well */
};

struct query	*query_new(const char *state_dir, struct event_base *);
void		 query_free(struct query *);
/* False when too many wait.  The result is the callee's for the call. */
bool		 query_submit(struct query *, const struct query_spec *,
		    void (*done)(void *arg, struct query_result *), void *arg);

/* The work itself, for tests: opens the database in state_dir and reads. */
void		 query_run_now(const char *state_dir,
		    const struct query_spec *, struct query_result *);
void		 query_result_release(struct query_result *);

#endif
