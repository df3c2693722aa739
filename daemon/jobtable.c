/* SPDX-License-Identifier: ISC */
/*
 * The jobs in force: two hash tables linked through the jobs, and an array in
 * the order of names.
 *
 * The array has a sorted front and a tail of what came since.  A job that
 * goes leaves copies of its neighbour behind, so that the front stays sorted
 * and can be searched; copies are squeezed out when the order is asked for,
 * or when there are too many.  A job must keep its name and id while it is
 * in the table, as well as its origin; its definition may be exchanged for one
 * of the same name.
 *
 * Finding is O(1).  Adding is O(1), removing O(log n) and the copies.  The
 * order after a change costs one pass over the array of pointers, which at a
 * million jobs is about a millisecond; a tail of m sorts in O(m log m).
 */
#include "config.h"

#include "daemon/jobtable.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/nearest.h"
#include "common/xmalloc.h"

#define JOBTABLE_MIN		64	/* buckets and places to begin with */
#define JOBTABLE_TAIL_MAX	64	/* unsorted jobs that are looked through */
#define JOBTABLE_COPIES_MAX	256	/* copies in any table, */
#define JOBTABLE_COPIES_PART	256	/* and one more for so many jobs */
#define JOBTABLE_NEAR		1000	/* names on both sides of a misspelled
					 * one that are compared with it */

struct jobtable {
	struct job	**by_name;	/* buckets; linked by by_name_next */
	struct job	**by_id;	/* buckets; linked by by_id_next */
	size_t		  n_buckets;	/* of each; a power of two */
	size_t		  n_jobs;	/* in the table */
	size_t		  n_control;	/* of these, added by clients */
	struct job	**order;	/* sorted front, then the tail */
	size_t		  n_sorted;	/* places of the front, copies included */
	size_t		  n_order;	/* places in use, the tail included */
	size_t		  cap_order;	/* places allocated */
	size_t		  n_copies;	/* places of the front that repeat the
					 * one before */
	char		**reserved;	/* names on their way in; owned */
	size_t		  n_reserved;	/* of them: at most one a connection,
					 * so they are just looked through */
};

static const char *
name_of(const struct job *job)
{
	return job->def->name;
}

static struct job **
name_bucket(const struct jobtable *table, const char *name)
{
	return &table->by_name[hash_bytes(name, strlen(name)) &
	    (table->n_buckets - 1)];
}

static struct job **
id_bucket(const struct jobtable *table, int64_t id)
{
	/* Ids are handed out in sequence: their low bits spread well. */
	return &table->by_id[(uint64_t)id & (table->n_buckets - 1)];
}

static void
link_job(struct jobtable *table, struct job *job)
{
	struct job **name = name_bucket(table, name_of(job));
	struct job **id = id_bucket(table, job->id);

	job->by_name_next = *name;
	*name = job;
	job->by_id_next = *id;
	*id = job;
}

static void
make_buckets(struct jobtable *table, size_t n)
{
	table->n_buckets = n;
	table->by_name = xcalloc(n, sizeof(*table->by_name));
	table->by_id = xcalloc(n, sizeof(*table->by_id));
}

static void
grow_buckets(struct jobtable *table)
{
	struct job **old = table->by_name, *job, *next;
	size_t n_old = table->n_buckets;

	free(table->by_id);
	make_buckets(table, n_old * 2);
	for (size_t i = 0; i < n_old; i++) {
		for (job = old[i]; job != NULL; job = next) {
			next = job->by_name_next;
			link_job(table, job);
		}
	}
	free(old);
}

struct jobtable *
jobtable_new(void)
{
	struct jobtable *table = xcalloc(1, sizeof(*table));

	make_buckets(table, JOBTABLE_MIN);
	table->cap_order = JOBTABLE_MIN;
	table->order = xcalloc(table->cap_order, sizeof(*table->order));
	return table;
}

void
jobtable_free(struct jobtable *table)
{
	struct job *job, *next;

	if (table == NULL)
		return;
	for (size_t i = 0; i < table->n_buckets; i++) {
		for (job = table->by_name[i]; job != NULL; job = next) {
			next = job->by_name_next;
			job_free(job);
		}
	}
	free(table->by_name);
	free(table->by_id);
	free(table->order);
	for (size_t i = 0; i < table->n_reserved; i++)
		free(table->reserved[i]);
	free(table->reserved);
	free(table);
}

void
jobtable_add(struct jobtable *table, struct job *job)
{
	assert(jobtable_find(table, name_of(job)) == NULL);

	if (table->n_jobs == table->n_buckets)
		grow_buckets(table);
	link_job(table, job);
	table->n_jobs++;
	table->n_control += job->origin == ORIGIN_CONTROL;

	if (table->n_order == table->cap_order) {
		table->cap_order *= 2;
		table->order = xreallocarray(table->order, table->cap_order,
		    sizeof(*table->order));
	}
	table->order[table->n_order++] = job;
}

/* The first place of the front whose name is not below (or, with beyond,
 * is above) this one. */
static size_t
search(const struct jobtable *table, const char *name, bool beyond)
{
	size_t low = 0, high = table->n_sorted;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(name_of(table->order[middle]), name);

		if (order < 0 || (beyond && order == 0))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Takes the copies out; the tail moves up. */
static void
squeeze(struct jobtable *table)
{
	size_t to = 0;

	if (table->n_copies == 0)
		return;
	for (size_t i = 0; i < table->n_sorted; i++) {
		if (to == 0 || table->order[to - 1] != table->order[i])
			table->order[to++] = table->order[i];
	}
	memmove(table->order + to, table->order + table->n_sorted,
	    (table->n_order - table->n_sorted) * sizeof(*table->order));
	table->n_order -= table->n_sorted - to;
	table->n_sorted = to;
	table->n_copies = 0;
}

static int
compare(const void *a, const void *b)
{
	return strcmp(name_of(*(struct job *const *)a),
	    name_of(*(struct job *const *)b));
}

/* Puts the sorted tail into the front, from the end downwards. */
static void
merge(struct jobtable *table)
{
	size_t n_tail = table->n_order - table->n_sorted;
	size_t end = table->n_order, front = table->n_sorted;
	struct job **tail = xmemdup(table->order + table->n_sorted,
	    n_tail * sizeof(*tail));

	while (n_tail > 0) {
		struct job *job = tail[n_tail - 1];
		size_t place, n;

		/* All of the front above this job moves in one piece. */
		table->n_sorted = front;
		place = search(table, name_of(job), false);
		n = front - place;
		memmove(table->order + end - n, table->order + place,
		    n * sizeof(*table->order));
		end -= n;
		front = place;
		table->order[--end] = job;
		n_tail--;
	}
	free(tail);
	table->n_sorted = table->n_order;
}

static void
make_order(struct jobtable *table)
{
	squeeze(table);
	if (table->n_sorted == table->n_order)
		return;
	qsort(table->order + table->n_sorted,
	    table->n_order - table->n_sorted, sizeof(*table->order), compare);
	merge(table);
}

/* True when the job was in the tail and is out of it. */
static bool
remove_from_tail(struct jobtable *table, const struct job *job)
{
	for (size_t i = table->n_order; i > table->n_sorted; i--) {
		if (table->order[i - 1] == job) {
			table->order[i - 1] = table->order[--table->n_order];
			return true;
		}
	}
	return false;
}

static void
remove_from_front(struct jobtable *table, const struct job *job)
{
	size_t first = search(table, name_of(job), false);
	size_t end = first;
	struct job *neighbour;

	while (end < table->n_sorted && table->order[end] == job)
		end++;
	assert(end > first);
	if (first == 0 && end == table->n_sorted) {
		/* It was alone: the front is gone, the tail moves up. */
		memmove(table->order, table->order + end,
		    (table->n_order - end) * sizeof(*table->order));
		table->n_order -= end;
		table->n_sorted = table->n_copies = 0;
		return;
	}
	neighbour = first > 0 ? table->order[first - 1] : table->order[end];
	for (size_t i = first; i < end; i++)
		table->order[i] = neighbour;
	table->n_copies++;
	if (table->n_copies > JOBTABLE_COPIES_MAX +
	    table->n_sorted / JOBTABLE_COPIES_PART)
		squeeze(table);
}

static void
unlink_job(struct jobtable *table, struct job *job)
{
	struct job **p;

	for (p = name_bucket(table, name_of(job)); *p != job;
	    p = &(*p)->by_name_next)
		assert(*p != NULL);
	*p = job->by_name_next;
	for (p = id_bucket(table, job->id); *p != job; p = &(*p)->by_id_next)
		assert(*p != NULL);
	*p = job->by_id_next;
	job->by_name_next = job->by_id_next = NULL;
}

void
jobtable_remove(struct jobtable *table, struct job *job)
{
	if (table->n_order - table->n_sorted > JOBTABLE_TAIL_MAX)
		make_order(table);
	if (!remove_from_tail(table, job))
		remove_from_front(table, job);
	unlink_job(table, job);
	table->n_jobs--;
	table->n_control -= job->origin == ORIGIN_CONTROL;
}

struct job *
jobtable_find(const struct jobtable *table, const char *name)
{
	struct job *job = *name_bucket(table, name);

	while (job != NULL && strcmp(name_of(job), name) != 0)
		job = job->by_name_next;
	return job;
}

struct job *
jobtable_find_id(const struct jobtable *table, int64_t id)
{
	struct job *job = *id_bucket(table, id);

	while (job != NULL && job->id != id)
		job = job->by_id_next;
	return job;
}

static const char *
candidate(const void *arg, size_t i)
{
	struct job *const *jobs = arg;

	return name_of(jobs[i]);
}

const char *
jobtable_nearest(struct jobtable *table, const char *name)
{
	size_t place, first, end;

	make_order(table);
	place = search(table, name, false);
	first = place > JOBTABLE_NEAR ? place - JOBTABLE_NEAR : 0;
	end = table->n_sorted - place > JOBTABLE_NEAR ?
	    place + JOBTABLE_NEAR : table->n_sorted;
	return nearest_find(name, end - first, candidate,
	    table->order + first);
}

size_t
jobtable_count(const struct jobtable *table)
{
	return table->n_jobs;
}

size_t
jobtable_count_origin(const struct jobtable *table, enum job_origin origin)
{
	return origin == ORIGIN_CONTROL ? table->n_control :
	    table->n_jobs - table->n_control;
}

/* Its place among the reserved names; n_reserved when it is none. */
static size_t
find_reserved(const struct jobtable *table, const char *name)
{
	size_t i = 0;

	while (i < table->n_reserved && strcmp(table->reserved[i], name) != 0)
		i++;
	return i;
}

bool
jobtable_is_reserved(const struct jobtable *table, const char *name)
{
	return find_reserved(table, name) < table->n_reserved;
}

bool
jobtable_reserve(struct jobtable *table, const char *name)
{
	if (jobtable_find(table, name) != NULL ||
	    jobtable_is_reserved(table, name))
		return false;
	table->reserved = xreallocarray(table->reserved,
	    table->n_reserved + 1, sizeof(*table->reserved));
	table->reserved[table->n_reserved++] = xstrdup(name);
	return true;
}

void
jobtable_unreserve(struct jobtable *table, const char *name)
{
	size_t i = find_reserved(table, name);

	if (i == table->n_reserved)
		return;
	free(table->reserved[i]);
	table->reserved[i] = table->reserved[--table->n_reserved];
}

size_t
jobtable_position(struct jobtable *table, const char *after)
{
	make_order(table);
	return after == NULL ? 0 : search(table, after, true);
}

struct job *
jobtable_at(struct jobtable *table, size_t i)
{
	make_order(table);
	return i < table->n_sorted ? table->order[i] : NULL;
}
