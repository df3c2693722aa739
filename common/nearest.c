/* SPDX-License-Identifier: ISC */
/*
 * Optimal string alignment distance over words of at most NEAREST_MAX bytes,
 * three rows at a time.  Cost: product of the lengths for each candidate.
 */
#include "config.h"

#include "common/nearest.h"

#include <ctype.h>
#include <string.h>

#define NEAREST_MAX 64

static unsigned
min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

static unsigned char
lower(char c)
{
	return (unsigned char)tolower((unsigned char)c);
}

static unsigned
distance(const char *a, const char *b)
{
	unsigned rows[3][NEAREST_MAX + 1];
	unsigned *before = rows[0], *prev = rows[1], *cur = rows[2], *swap;
	size_t la = strlen(a), lb = strlen(b);

	for (size_t j = 0; j <= lb; j++)
		before[j] = prev[j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		cur[0] = (unsigned)i;
		for (size_t j = 1; j <= lb; j++) {
			unsigned same = lower(a[i - 1]) == lower(b[j - 1]);

			cur[j] = min3(prev[j] + 1, cur[j - 1] + 1,
			    prev[j - 1] + !same);
			if (i > 1 && j > 1 &&
			    lower(a[i - 1]) == lower(b[j - 2]) &&
			    lower(a[i - 2]) == lower(b[j - 1]) &&
			    before[j - 2] + 1 < cur[j])
				cur[j] = before[j - 2] + 1;
		}
		swap = before;
		before = prev;
		prev = cur;
		cur = swap;
	}
	return prev[lb];
}

const char *
nearest_find(const char *word, size_t n,
    const char *(*candidate)(const void *arg, size_t i), const void *arg)
{
	const char *best = NULL;
	size_t len = strlen(word);
	unsigned limit = len <= 3 ? 1 : len <= 7 ? 2 : 3, least = limit + 1;

	if (len == 0 || len > NEAREST_MAX)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		const char *c = candidate(arg, i);
		unsigned d;

		if (strlen(c) > NEAREST_MAX)
			continue;
		d = distance(word, c);
		if (d < least && d < len) {
			least = d;
			best = c;
		}
	}
	return best;
}
