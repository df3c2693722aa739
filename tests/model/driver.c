/* SPDX-License-Identifier: ISC */
/*
 * Answers the questions of compare.py: a line of expression, zone, dst_gap,
 * dst_fold and start, separated by tabs, gives a line of the next and the
 * previous fire, each a number or "never"; or "error" and why.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cronexpr.h"

static void
print_time(bool found, int64_t t, char end)
{
	if (found)
		printf("%" PRId64 "%c", t, end);
	else
		printf("never%c", end);
}

static void
answer(struct zone_cache *zones, char *line)
{
	const char *expr = strsep(&line, "\t"), *zone = strsep(&line, "\t");
	const char *gap = strsep(&line, "\t"), *fold = strsep(&line, "\t");
	struct cronexpr_rules rules = { DST_GAP_RUN, DST_FOLD_FIRST };
	struct error err = { "a field is missing" };
	struct cronexpr *x = NULL;
	struct zone *z = NULL;
	int64_t start, t = 0;
	bool found;

	if (line != NULL && (z = zone_cache_get(zones, zone, &err)) != NULL)
		x = cronexpr_parse(expr, strlen(expr), NULL, &err);
	if (x == NULL) {
		printf("error\t%s\n", err.text);
		return;
	}
	if (strcmp(gap, "skip") == 0)
		rules.gap = DST_GAP_SKIP;
	if (strcmp(fold, "second") == 0)
		rules.fold = DST_FOLD_SECOND;
	else if (strcmp(fold, "both") == 0)
		rules.fold = DST_FOLD_BOTH;
	start = strtoll(line, NULL, 10);
	found = cronexpr_next(x, z, rules, start, &t);
	print_time(found, t, '\t');
	found = cronexpr_previous(x, z, rules, start, &t);
	print_time(found, t, '\n');
	cronexpr_free(x);
}

int
main(void)
{
	struct zone_cache *zones = zone_cache_new();
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	while ((n = getline(&line, &cap, stdin)) > 0) {
		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		answer(zones, line);
	}
	free(line);
	zone_cache_free(zones);
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
