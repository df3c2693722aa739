/* SPDX-License-Identifier: ISC */
/*
 * What the heap of instants costs beside a binary heap of pointers to jobs,
 * both in one run on the same sequence of operations:
 *
 *	bench/heap.sh [JOBS]
 *
 * Jobs have the periods that crontabs have, on whole seconds, so they share
 * instants.  Two loads: pop the job due first and put it in again one period
 * later; take a job out from anywhere and put it in at another instant.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/timestamp.h"
#include "common/xmalloc.h"
#include "daemon/heap.h"

#define JOBS_DEFAULT	1000000
#define OPERATIONS	2000000

struct bench_job {
	struct heap_item item;	/* first: a job is its item */
	int64_t		 due;	/* microseconds */
	int64_t		 period; /* microseconds */
	size_t		 place;	/* in the plain heap */
};

/* The plain one: an array of pointers, least first. */
struct plain {
	struct bench_job **v;	/* the heap */
	size_t		 n;	/* in use */
};

static int
is_before(const struct bench_job *a, const struct bench_job *b)
{
	return a->due != b->due ? a->due < b->due :
	    a->item.sequence < b->item.sequence;
}

static void
plain_up(struct plain *heap, size_t i, struct bench_job *job)
{
	for (; i > 0 && is_before(job, heap->v[(i - 1) / 2]);
	    i = (i - 1) / 2) {
		heap->v[i] = heap->v[(i - 1) / 2];
		heap->v[i]->place = i;
	}
	heap->v[i] = job;
	job->place = i;
}

static void
plain_down(struct plain *heap, size_t i, struct bench_job *job)
{
	size_t child;

	while ((child = 2 * i + 1) < heap->n) {
		if (child + 1 < heap->n &&
		    is_before(heap->v[child + 1], heap->v[child]))
			child++;
		if (!is_before(heap->v[child], job))
			break;
		heap->v[i] = heap->v[child];
		heap->v[i]->place = i;
		i = child;
	}
	heap->v[i] = job;
	job->place = i;
}

static void
plain_add(struct plain *heap, struct bench_job *job)
{
	plain_up(heap, heap->n++, job);
}

static void
plain_remove(struct plain *heap, struct bench_job *job)
{
	size_t i = job->place;
	struct bench_job *last = heap->v[--heap->n];

	if (last == job)
		return;
	if (is_before(last, job))
		plain_up(heap, i, last);
	else
		plain_down(heap, i, last);
}

/* The same jobs each time. */
static void
make_jobs(struct bench_job *jobs, size_t n)
{
	static const int minutes[] = { 1, 1, 5, 5, 5, 10, 15, 15, 30, 60, 60,
		60, 120, 360, 720, 1440, 1440, 1440, 1440, 10080 };

	srand48(1);
	for (size_t i = 0; i < n; i++) {
		int64_t period = minutes[lrand48() % 20] * 60 * USEC_PER_SEC;

		jobs[i] = (struct bench_job){
			.item.sequence = i,
			.period = period,
			/* half of them on the minute */
			.due = lrand48() % 2 == 0 ?
			    lrand48() % 1440 * 60 * USEC_PER_SEC :
			    lrand48() % 86400 * USEC_PER_SEC,
		};
	}
}

static void
report(const char *what, const char *heap, struct monotime since, uint64_t sum)
{
	int64_t ns = (monotime_now().us - since.us) * 1000;

	printf("%-16s %-14s %6" PRId64 " ns   (%016" PRIx64 ")\n", what, heap,
	    ns / OPERATIONS, sum);
}

static void
bench_instants(struct bench_job *jobs, size_t n)
{
	struct heap *heap = heap_new();
	struct bench_job *job;
	struct monotime since;
	uint64_t sum = 0;
	int64_t key;

	make_jobs(jobs, n);
	for (size_t i = 0; i < n; i++)
		heap_add(heap, &jobs[i].item, jobs[i].due);
	since = monotime_now();
	for (size_t i = 0; i < OPERATIONS; i++) {
		job = (struct bench_job *)heap_pop(heap, INT64_MAX, &key);
		sum = sum * 31 + (uint64_t)job->due + job->item.sequence;
		job->due += job->period;
		heap_add(heap, &job->item, job->due);
	}
	report("pop + re-insert", "instants", since, sum);
	since = monotime_now();
	for (size_t i = 0; i < OPERATIONS; i++) {
		job = &jobs[(size_t)lrand48() % n];
		heap_remove(heap, &job->item);
		job->due += job->period;
		heap_add(heap, &job->item, job->due);
	}
	report("remove + insert", "instants", since,
	    heap_peek(heap, &key) ? (uint64_t)key : 0);
	heap_free(heap);
}

static void
bench_plain(struct bench_job *jobs, size_t n)
{
	struct plain heap = { xcalloc(n, sizeof(*heap.v)), 0 };
	struct bench_job *job;
	struct monotime since;
	uint64_t sum = 0;

	make_jobs(jobs, n);
	for (size_t i = 0; i < n; i++)
		plain_add(&heap, &jobs[i]);
	since = monotime_now();
	for (size_t i = 0; i < OPERATIONS; i++) {
		job = heap.v[0];
		plain_remove(&heap, job);
		sum = sum * 31 + (uint64_t)job->due + job->item.sequence;
		job->due += job->period;
		plain_add(&heap, job);
	}
	report("pop + re-insert", "plain binary", since, sum);
	since = monotime_now();
	for (size_t i = 0; i < OPERATIONS; i++) {
		job = &jobs[(size_t)lrand48() % n];
		plain_remove(&heap, job);
		job->due += job->period;
		plain_add(&heap, job);
	}
	report("remove + insert", "plain binary", since,
	    (uint64_t)heap.v[0]->due);
	free(heap.v);
}

int
main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : JOBS_DEFAULT;
	struct bench_job *jobs;

	if (n == 0 || n > 100 * JOBS_DEFAULT) {
		fprintf(stderr, "usage: heap [JOBS], 1 to 100000000\n");
		return 2;
	}
	jobs = xcalloc(n, sizeof(*jobs));
	printf("%zu jobs, %d operations each; the sums must agree\n", n,
	    OPERATIONS);
	bench_instants(jobs, n);
	bench_plain(jobs, n);
	free(jobs);
	return 0;
}
