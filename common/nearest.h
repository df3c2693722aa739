/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_NEAREST_H
#define CRONCTL_NEAREST_H

#include <stddef.h>

/*
 * "did you mean": the candidate nearest to a word by edit distance
 * (insert, delete, replace, swap of neighbours), if near enough to be meant;
 * else NULL.  Case is ignored.  candidate(arg, i) gives the i-th of n.
 */
const char *nearest_find(const char *word, size_t n,
	    const char *(*candidate)(const void *arg, size_t i),
	    const void *arg);

#endif
