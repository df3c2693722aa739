/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_DAEMON_QUERY_PAGE_H
#define CRONCTL_DAEMON_QUERY_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "daemon/query.h"

/* A place in the order of history.  Private to query. */
struct query_key {
	int64_t	at;		/* wall, us */
	bool	is_run;		/* id holds, else the three after it */
	int64_t	id;		/* run id */
	int64_t	job_id;		/* of an outcome, as the next two */
	int64_t	era;
	int64_t	occurrence;
};

void	query_key_format(char text[QUERY_KEY_MAX], const struct query_key *);
/* NULL: the place before the newest row. */
int	query_key_parse(struct query_key *, const char *text, struct error *);

/* Rows found so far, with their keys. */
struct query_page {
	struct query_row	*rows;	/* owned */
	struct query_key	*keys;	/* of the rows */
	size_t			 n;	/* rows */
	size_t			 cap;	/* allocated */
};

void	query_row_release(struct query_row *);
/* Takes what the row points to. */
void	query_page_add(struct query_page *, const struct query_row *,
	    const struct query_key *);
/* Sorts, newest first, and drops what is beyond keep rows. */
void	query_page_trim(struct query_page *, size_t keep);
/*
 * Hands at most limit rows over; a row beyond them means that there is more.
 */
void	query_page_finish(struct query_page *, size_t limit,
	    struct query_result *);
void	query_page_release(struct query_page *);

#endif
