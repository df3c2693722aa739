/* SPDX-License-Identifier: ISC */
/*
 * The vectors of tests/data, and what is said about expressions.  Rows that
 * come from a report about another cron carry its number (b001 is B001).
 */
#include "config.h"

#include "common/cronexpr.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/timestamp.h"
#include "common/xmalloc.h"
#include "common/zone.h"
#include "tests/check_main.h"

static const struct cronexpr_rules usual = { DST_GAP_RUN, DST_FOLD_FIRST };

static FILE *
open_data(const char *name)
{
	const char *dir = getenv("srcdir");
	char *path = xasprintf("%s/tests/data/%s", dir == NULL ? "." : dir,
	    name);
	FILE *f = fopen(path, "r");

	if (f == NULL)
		ck_abort_msg("%s: can't be opened", path);
	free(path);
	return f;
}

/* The next line that is no comment, without its end; NULL at the end. */
static char *
read_row(FILE *f, char **line, size_t *cap)
{
	ssize_t n;

	while ((n = getline(line, cap, f)) > 0) {
		if ((*line)[0] == '#')
			continue;
		if ((*line)[n - 1] == '\n')
			(*line)[n - 1] = '\0';
		return *line;
	}
	return NULL;
}

static void
check_row(struct zone_cache *zones, const char *file, char *row)
{
	char *expr = strsep(&row, "\t"), *zone = strsep(&row, "\t");
	int64_t t = strtoll(strsep(&row, "\t"), NULL, 10);
	struct error err = { "" };
	struct zone *z = zone_cache_get(zones, zone, &err);
	struct cronexpr *x = cronexpr_parse(expr, strlen(expr), NULL, &err);
	char *want;

	ck_assert_msg(z != NULL && x != NULL, "%s: %s: %s", file, expr,
	    err.text);
	while ((want = strsep(&row, ",")) != NULL) {
		int64_t next;
		bool found = cronexpr_next(x, z, usual, t, &next);

		if (strcmp(want, "never") == 0) {
			ck_assert_msg(!found, "%s: %s %s after %" PRId64
			    ": %" PRId64 ", want never", file, expr, zone, t,
			    next);
			break;
		}
		ck_assert_msg(found && next == strtoll(want, NULL, 10),
		    "%s: %s %s after %" PRId64 ": %" PRId64 ", want %s",
		    file, expr, zone, t, found ? next : -1, want);
		t = next;
	}
	cronexpr_free(x);
}

START_TEST(vectors_give_the_stated_times)
{
	static const char *const files[] = {
		"next.tsv", "dst.tsv", "quartz.tsv"
	};
	struct zone_cache *zones = zone_cache_new();
	FILE *f = open_data(files[_i]);
	char *line = NULL, *row;
	size_t cap = 0, rows = 0;

	while ((row = read_row(f, &line, &cap)) != NULL) {
		check_row(zones, files[_i], row);
		rows++;
	}
	ck_assert_uint_gt(rows, 100);
	free(line);
	fclose(f);
	zone_cache_free(zones);
}
END_TEST

START_TEST(invalid_vectors_are_refused)
{
	FILE *f = open_data("invalid.tsv");
	char *line = NULL, *row;
	size_t cap = 0, rows = 0;

	while ((row = read_row(f, &line, &cap)) != NULL) {
		struct error err = { "" };
		char *expr = strsep(&row, "\t");

		ck_assert_msg(cronexpr_parse(expr, strlen(expr), NULL,
		    &err) == NULL, "\"%s\" is accepted", expr);
		ck_assert_msg(err.text[0] != '\0', "\"%s\": no reason", expr);
		if (getenv("SHOW_ERRORS") != NULL)
			fprintf(stderr, "%s\n\t%s\n", expr, err.text);
		rows++;
	}
	ck_assert_uint_gt(rows, 100);
	free(line);
	fclose(f);
}
END_TEST

static Suite *
cronexpr_suite(void)
{
	Suite *s = suite_create("cronexpr");
	TCase *t = tcase_create("vectors");

	tcase_add_loop_test(t, vectors_give_the_stated_times, 0, 3);
	tcase_add_test(t, invalid_vectors_are_refused);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return check_main(cronexpr_suite());
}
