/* SPDX-License-Identifier: ISC */
/* A histogram of durations; adding is O(1), asking O(buckets). */
#include "config.h"

#include "daemon/latency.h"

#define EIGHTHS		8
#define EIGHTHS_BITS	3

/* Values below 8 have a bucket each, then eight to each power of two. */
static unsigned
bucket_of(uint64_t v)
{
	unsigned power;

	if (v < EIGHTHS)
		return (unsigned)v;
	power = 63 - (unsigned)__builtin_clzll(v);
	return (power - EIGHTHS_BITS + 1) * EIGHTHS +
	    (unsigned)(v >> (power - EIGHTHS_BITS)) - EIGHTHS;
}

/* The largest value that falls into a bucket. */
static int64_t
bucket_top(unsigned bucket)
{
	unsigned shift;

	if (bucket < EIGHTHS)
		return bucket;
	shift = bucket / EIGHTHS - 1;
	return (int64_t)((((uint64_t)bucket % EIGHTHS + EIGHTHS + 1) << shift)
	    - 1);
}

void
latency_add(struct latency *l, int64_t us)
{
	if (us < 0)
		us = 0;
	l->count[bucket_of((uint64_t)us)]++;
	l->total++;
	if (us > l->max)
		l->max = us;
}

int64_t
latency_percentile(const struct latency *l, int percent)
{
	uint64_t want = (l->total * (uint64_t)percent + 99) / 100, seen = 0;

	if (l->total == 0)
		return -1;
	for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
		seen += l->count[i];
		if (seen >= want && seen > 0)
			return bucket_top(i) < l->max ? bucket_top(i) : l->max;
	}
	return l->max;
}
