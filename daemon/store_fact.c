/* SPDX-License-Identifier: ISC */
/*
 * Facts: a row copied with all it points to into one allocation, so that the
 * thread can free what the loop made in one call.  Where the pointers of a
 * row are, and how large it is, is a table.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/xmalloc.h"
#include "daemon/store_internal.h"

#define FORM_STRINGS 4

/* A row's size and, one up, the offsets of its strings; 0 ends the list. */
struct form {
	size_t	size;
	size_t	strings[FORM_STRINGS + 1];
};

#define AT(type, field) (offsetof(type, field) + 1)

static const struct form forms[FACT_TYPES] = {
	[FACT_JOB] = { sizeof(struct job_row), {
	    AT(struct job_row, name), AT(struct job_row, owner_name),
	    AT(struct job_row, file), AT(struct job_row, definition) } },
	[FACT_JOB_REMOVED] = { sizeof(struct job_row), { 0 } },
	[FACT_JOB_STATE] = { sizeof(struct job_row), { 0 } },
	[FACT_GENERATION] = { sizeof(struct generation_row), {
	    AT(struct generation_row, definition),
	    AT(struct generation_row, zones),
	    AT(struct generation_row, host_id) } },
	[FACT_OUTCOME] = { sizeof(struct outcome_row), { 0 } },
	[FACT_RUN] = { sizeof(struct run_row), {
	    AT(struct run_row, detail) } },
	[FACT_RUN_DROPPED] = { sizeof(uint64_t), { 0 } },
	[FACT_PENDING] = { sizeof(struct pending_row), { 0 } },
	[FACT_PENDING_DECIDED] = { sizeof(struct pending_row), { 0 } },
	[FACT_PAUSE] = { sizeof(struct pause_row), {
	    AT(struct pause_row, note) } },
	[FACT_PAUSE_OVER] = { sizeof(struct pause_row), { 0 } },
	[FACT_FILE] = { sizeof(struct file_row), {
	    AT(struct file_row, name), AT(struct file_row, error) } },
	[FACT_FILE_GONE] = { sizeof(struct file_row), {
	    AT(struct file_row, name) } },
	[FACT_ERA] = { sizeof(struct era_row), { 0 } },
	[FACT_EVENT] = { sizeof(struct event_row), {
	    AT(struct event_row, job_name), AT(struct event_row, body) } },
	[FACT_GAP] = { sizeof(struct store_gap_row), { 0 } },
	[FACT_META] = { sizeof(struct store_meta_row), {
	    AT(struct store_meta_row, key), AT(struct store_meta_row, text) } },
};

/* The pointer of a row that a form names, and the same put back. */
static char *
get_string(const unsigned char *row, size_t at)
{
	char *s;

	memcpy(&s, row + at - 1, sizeof s);
	return s;
}

static void
set_string(unsigned char *row, size_t at, char *s)
{
	memcpy(row + at - 1, &s, sizeof s);
}

/* Bytes that are no string: the text of a file. */
static size_t
blob_size(enum store_fact_type type, const void *row)
{
	return type == FACT_FILE ? ((const struct file_row *)row)->good_len : 0;
}

struct store_fact *
store_fact_new(enum store_fact_type type, const void *row)
{
	const struct form *form = &forms[type];
	size_t blob = blob_size(type, row);
	size_t bytes = sizeof(struct store_fact) + form->size + blob;
	struct store_fact *fact;
	unsigned char *end;
	const char *s;

	for (const size_t *at = form->strings; *at != 0; at++)
		if ((s = get_string(row, *at)) != NULL)
			bytes += strlen(s) + 1;
	fact = xmalloc(bytes);
	fact->next = NULL;
	fact->type = type;
	fact->bytes = bytes;
	memcpy(fact->row, row, form->size);
	end = fact->row + form->size;
	for (const size_t *at = form->strings; *at != 0; at++) {
		if ((s = get_string(fact->row, *at)) == NULL)
			continue;
		size_t len = strlen(s) + 1;

		memcpy(end, s, len);
		set_string(fact->row, *at, (char *)end);
		end += len;
	}
	if (type == FACT_FILE) {
		struct file_row *file = (struct file_row *)(void *)fact->row;

		if (blob > 0)
			memcpy(end, file->good, blob);
		file->good = file->good != NULL ? (char *)end : NULL;
	}
	return fact;
}

void
store_facts_init(struct store_facts *facts)
{
	facts->head = NULL;
	facts->tail = &facts->head;
	facts->n = 0;
	facts->bytes = 0;
}

void
store_facts_add(struct store_facts *facts, struct store_fact *fact)
{
	*facts->tail = fact;
	facts->tail = &fact->next;
	facts->n++;
	facts->bytes += fact->bytes;
}

void
store_facts_join(struct store_facts *to, struct store_facts *from)
{
	if (from->head == NULL)
		return;
	*to->tail = from->head;
	to->tail = from->tail;
	to->n += from->n;
	to->bytes += from->bytes;
	store_facts_init(from);
}

void
store_facts_release(struct store_facts *facts)
{
	struct store_fact *next;

	for (struct store_fact *f = facts->head; f != NULL; f = next) {
		next = f->next;
		free(f);
	}
	store_facts_init(facts);
}
