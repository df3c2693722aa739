/* SPDX-License-Identifier: ISC */
/*
 * The order of history, and rows merged into a page of it.
 *
 * The order is total: time; at one time runs before outcomes; runs by id,
 * outcomes by job, era and occurrence, each from the highest down.  A page
 * ends with the key of its last row, and the next one takes what comes after
 * that key, so rows that arrive in between move nothing.  Knows no database.
 */
#include "config.h"

#include "daemon/query_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xmalloc.h"

/* Newest first: negative when a comes before b. */
static int
key_compare(const struct query_key *a, const struct query_key *b)
{
	if (a->at != b->at)
		return a->at > b->at ? -1 : 1;
	if (a->is_run != b->is_run)
		return a->is_run ? -1 : 1;
	if (a->id != b->id)
		return a->id > b->id ? -1 : 1;
	if (a->job_id != b->job_id)
		return a->job_id > b->job_id ? -1 : 1;
	if (a->era != b->era)
		return a->era > b->era ? -1 : 1;
	if (a->occurrence != b->occurrence)
		return a->occurrence > b->occurrence ? -1 : 1;
	return 0;
}

void
query_key_format(char text[QUERY_KEY_MAX], const struct query_key *k)
{
	if (k->is_run)
		snprintf(text, QUERY_KEY_MAX, "%" PRId64 ":r:%" PRId64, k->at,
		    k->id);
	else
		snprintf(text, QUERY_KEY_MAX, "%" PRId64 ":o:%" PRId64
		    ":%" PRId64 ":%" PRId64, k->at, k->job_id, k->era,
		    k->occurrence);
}

/* Comes from a client: only what key_format gives is taken. */
int
query_key_parse(struct query_key *k, const char *text, struct error *err)
{
	char again[QUERY_KEY_MAX];

	*k = (struct query_key){ .at = INT64_MAX, .is_run = true, .id = INT64_MAX };
	if (text == NULL)
		return 0;
	if (sscanf(text, "%" SCNd64 ":r:%" SCNd64, &k->at, &k->id) != 2) {
		*k = (struct query_key){ .is_run = false };
		if (sscanf(text, "%" SCNd64 ":o:%" SCNd64 ":%" SCNd64
		    ":%" SCNd64, &k->at, &k->job_id, &k->era,
		    &k->occurrence) != 4)
			return error_set(err, "\"%.40s\" is no place in the "
			    "history: give the \"more\" of the page before",
			    text);
	}
	query_key_format(again, k);
	if (strcmp(again, text) != 0)
		return error_set(err, "\"%.40s\" is no place in the history: "
		    "give the \"more\" of the page before", text);
	return 0;
}

void
query_row_release(struct query_row *row)
{
	run_row_release(&row->run);
	outcome_row_release(&row->outcome);
}

void
query_page_add(struct query_page *p, const struct query_row *row,
    const struct query_key *key)
{
	if (p->n == p->cap) {
		p->cap = p->cap * 2 + 32;
		p->rows = xreallocarray(p->rows, p->cap, sizeof *p->rows);
		p->keys = xreallocarray(p->keys, p->cap, sizeof *p->keys);
	}
	p->rows[p->n] = *row;
	p->keys[p->n++] = *key;
}

/* A row's index and key, for sorting. */
struct place {
	struct query_key key;	/* its key */
	size_t		index;	/* in rows */
};

static int
place_compare(const void *a, const void *b)
{
	return key_compare(&((const struct place *)a)->key,
	    &((const struct place *)b)->key);
}

void
query_page_trim(struct query_page *p, size_t keep)
{
	struct place *places = xcalloc(p->n, sizeof *places);
	struct query_row *rows = xcalloc(p->n, sizeof *rows);

	for (size_t i = 0; i < p->n; i++) {
		places[i] = (struct place){ p->keys[i], i };
		rows[i] = p->rows[i];
	}
	qsort(places, p->n, sizeof *places, place_compare);
	for (size_t i = 0; i < p->n; i++) {
		p->rows[i] = rows[places[i].index];
		p->keys[i] = places[i].key;
	}
	for (; p->n > keep; p->n--)
		query_row_release(&p->rows[p->n - 1]);
	free(places);
	free(rows);
}

void
query_page_release(struct query_page *p)
{
	for (size_t i = 0; i < p->n; i++)
		query_row_release(&p->rows[i]);
	free(p->rows);
	free(p->keys);
}

void
query_page_finish(struct query_page *p, size_t limit,
    struct query_result *result)
{
	if (p->n > limit) {
		for (; p->n > limit; p->n--)
			query_row_release(&p->rows[p->n - 1]);
		query_key_format(result->more, &p->keys[p->n - 1]);
	}
	result->rows = p->rows;
	result->n_rows = p->n;
	free(p->keys);
	*p = (struct query_page){ NULL, NULL, 0, 0 };
}
