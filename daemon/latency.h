/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_LATENCY_H
#define CRONCTL_LATENCY_H

#include <stdint.h>

/*
 * Percentiles of durations in a fixed amount of memory: buckets whose width
 * is an eighth of their power of two, so an answer is at most 12.5 % high.
 */
#define LATENCY_BUCKETS 512

struct latency {
	uint64_t	count[LATENCY_BUCKETS];	/* values per bucket */
	uint64_t	total;			/* values */
	int64_t		max;			/* the largest, exactly */
};

/* Negative values count as 0. */
void	latency_add(struct latency *, int64_t us);
/* -1 when there is no value; percent 1-100. */
int64_t	latency_percentile(const struct latency *, int percent);

#endif
