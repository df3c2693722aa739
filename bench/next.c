/* SPDX-License-Identifier: ISC */
/*
 * What cronexpr_next() costs, in UTC and in a zone with daylight saving time;
 * bench/next.sh runs it beside other libraries:
 *
 *	next ZONE
 *
 * Prints a line for each expression: its group, the expression, nanoseconds
 * for one answer (the best of several rounds), and the sum of all waits, by
 * which the libraries' answers are compared.  Starts are 1,000 instants of
 * 2026 to 2029, the same for all, away from the months in which clocks
 * change, since others answer differently there.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cronexpr.h"
#include "common/timestamp.h"

#define STARTS		1000
#define ROUNDS		15	/* the best one counts */
#define REPEATS		100	/* of all starts, in a round */
#define FIRST_START	INT64_C(1767225600)	/* 2026-01-01 */
#define START_RANGE	126230400		/* four years */

/* The same list is in next_robfig.go and next_croniter.py. */
static const struct {
	const char	*group;	/* typical, sparse, second */
	const char	*text;	/* the expression */
} exprs[] = {
	{ "typical", "* * * * *" },
	{ "typical", "*/5 * * * *" },
	{ "typical", "0 * * * *" },
	{ "typical", "30 4 * * *" },
	{ "typical", "0 9-17 * * 1-5" },
	{ "typical", "30 4 * * 1" },
	{ "typical", "15 4 1,15 * *" },
	{ "sparse", "0 0 1 1 *" },
	{ "sparse", "0 0 29 2 *" },
	{ "sparse", "0 0 29 2 */7" },
	{ "sparse", "0 0 31 2 *" },
	{ "sparse", "0 0 L 2 5L" },
	{ "second", "* * * * * *" },
	{ "second", "*/10 * * * * *" },
	{ "second", "5 30 4 * * *" },
};

#define NEXPRS (sizeof(exprs) / sizeof(exprs[0]))

static void
make_starts(int64_t starts[STARTS])
{
	uint64_t seed = 42;

	for (int n = 0; n < STARTS;) {
		struct civil c;

		seed = seed * UINT64_C(6364136223846793005) +
		    UINT64_C(1442695040888963407);
		starts[n] = FIRST_START + (int64_t)(seed >> 33) % START_RANGE;
		civil_from_seconds(&c, starts[n]);
		n += c.month != 3 && c.month != 11;
	}
}

static int64_t
one_pass(const struct cronexpr *x, const struct zone *z,
    const int64_t starts[STARTS])
{
	const struct cronexpr_rules rules = { DST_GAP_RUN, DST_FOLD_FIRST };
	int64_t sum = 0, next;

	for (int i = 0; i < STARTS; i++)
		if (cronexpr_next(x, z, rules, starts[i], &next))
			sum += next - starts[i];
	return sum;
}

static void
measure(size_t e, const struct zone *z, const int64_t starts[STARTS])
{
	struct error err = { "" };
	struct cronexpr *x = cronexpr_parse(exprs[e].text,
	    strlen(exprs[e].text), NULL, &err);
	int64_t best = INT64_MAX, sum = 0;

	if (x == NULL) {
		fprintf(stderr, "%s: %s\n", exprs[e].text, err.text);
		exit(EXIT_FAILURE);
	}
	for (int round = 0; round < ROUNDS; round++) {
		int64_t began = monotime_now().us, took;

		for (int i = 0; i < REPEATS; i++)
			sum = one_pass(x, z, starts);
		took = monotime_now().us - began;
		if (took < best)
			best = took;
	}
	printf("%s\t%s\t%.1f\t%" PRId64 "\n", exprs[e].group, exprs[e].text,
	    (double)best * 1000 / (REPEATS * STARTS), sum);
	cronexpr_free(x);
}

int
main(int argc, char **argv)
{
	struct error err = { "" };
	struct zone *z = zone_load(argc > 1 ? argv[1] : "UTC", &err);
	int64_t starts[STARTS];

	if (z == NULL) {
		fprintf(stderr, "next: %s\n", err.text);
		return EXIT_FAILURE;
	}
	make_starts(starts);
	for (size_t e = 0; e < NEXPRS; e++)
		measure(e, z, starts);
	zone_unref(z);
	return EXIT_SUCCESS;
}
