/* SPDX-License-Identifier: ISC */
/*
 * The vectors of tests/data, and what is said about expressions.  Reports
 * about other crons are in check_cronexpr_reports.c.
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

#define HOUR	INT64_C(3600)
#define DAY	INT64_C(86400)
#define N(table) ((int)(sizeof(table) / sizeof(table[0])))

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

static struct cronexpr *
must_parse(const char *text, const char *job)
{
	const struct cronexpr_names names = { "example", job };
	struct error err = { "" };
	struct cronexpr *x = cronexpr_parse(text, strlen(text),
	    job == NULL ? NULL : &names, &err);

	ck_assert_msg(x != NULL, "%s: %s", text, err.text);
	return x;
}

static struct zone *
must_get(struct zone_cache *zones, const char *name)
{
	struct error err = { "" };
	struct zone *z = zone_cache_get(zones, name, &err);

	ck_assert_msg(z != NULL, "%s: %s", name, err.text);
	return z;
}

/* One step of a list: next() forwards, or previous() backwards. */
typedef bool (*step_fn)(const struct cronexpr *, const struct zone *,
    struct cronexpr_rules, int64_t, int64_t *);

/* What a row asks. */
struct question {
	const char		*expr;	/* as written */
	const char		*zone;	/* IANA name */
	const char		*job;	/* for H and ~, or NULL */
	struct cronexpr_rules	 rules;	/* of daylight saving */
	int64_t			 start;	/* UTC seconds */
};

static void
check_list(struct zone_cache *zones, const struct question *q, step_fn step,
    char *list)
{
	struct zone *z = must_get(zones, q->zone);
	struct cronexpr *x = must_parse(q->expr, q->job);
	int64_t t = q->start, got;
	char *want;

	while ((want = strsep(&list, ",")) != NULL) {
		bool found = step(x, z, q->rules, t, &got);

		if (strcmp(want, "never") == 0) {
			ck_assert_msg(!found, "%s %s from %" PRId64 ": %"
			    PRId64 ", want never", q->expr, q->zone, t, got);
			break;
		}
		ck_assert_msg(found && got == strtoll(want, NULL, 10),
		    "%s %s from %" PRId64 ": %" PRId64 ", want %s", q->expr,
		    q->zone, t, found ? got : -1, want);
		t = got;
	}
	cronexpr_free(x);
}

/* Whether going back over the fires of a row gives them in reverse. */
static void
check_back(struct zone_cache *zones, const struct question *q)
{
	struct zone *z = must_get(zones, q->zone);
	struct cronexpr *x = must_parse(q->expr, q->job);
	int64_t t = q->start, next, back;

	for (int i = 0; i < 5 && cronexpr_next(x, z, q->rules, t, &next);
	    i++) {
		bool found = cronexpr_previous(x, z, q->rules, next, &back);

		ck_assert_msg(i == 0 ? !found || back <= t :
		    found && back == t, "%s %s before %" PRId64 ": %" PRId64
		    ", want %" PRId64, q->expr, q->zone, next,
		    found ? back : -1, t);
		ck_assert(cronexpr_previous(x, z, q->rules, next + 1, &back));
		ck_assert_int_eq(back, next);
		t = next;
	}
	cronexpr_free(x);
}

/* Columns that some files have between the zone and the start. */
enum columns { PLAIN, WITH_JOB, WITH_RULES };

static void
check_row(struct zone_cache *zones, enum columns columns, step_fn step,
    char *row)
{
	struct question q = { .rules = usual };

	q.expr = strsep(&row, "\t");
	q.zone = strsep(&row, "\t");
	if (columns == WITH_JOB)
		q.job = strsep(&row, "\t");
	if (columns == WITH_RULES) {
		const char *gap = strsep(&row, "\t");
		const char *fold = strsep(&row, "\t");

		q.rules.gap = strcmp(gap, "skip") == 0 ? DST_GAP_SKIP :
		    DST_GAP_RUN;
		q.rules.fold = strcmp(fold, "both") == 0 ? DST_FOLD_BOTH :
		    strcmp(fold, "second") == 0 ? DST_FOLD_SECOND :
		    DST_FOLD_FIRST;
	}
	q.start = strtoll(strsep(&row, "\t"), NULL, 10);
	check_list(zones, &q, step, row);
	if (step == cronexpr_next)
		check_back(zones, &q);
}

static const struct {
	const char	*name;	/* in tests/data */
	enum columns	 columns; /* it has */
	step_fn		 step;	/* direction of its lists */
	size_t		 least;	/* rows it has at least */
} files[] = {
	{ "next.tsv", PLAIN, cronexpr_next, 1000 },
	{ "dst.tsv", PLAIN, cronexpr_next, 500 },
	{ "quartz.tsv", PLAIN, cronexpr_next, 200 },
	{ "fold_gap.tsv", WITH_RULES, cronexpr_next, 40 },
	{ "edges.tsv", PLAIN, cronexpr_next, 15 },
	{ "hash.tsv", WITH_JOB, cronexpr_next, 15 },
	{ "previous.tsv", PLAIN, cronexpr_previous, 20 },
};

START_TEST(vectors_give_the_stated_times)
{
	struct zone_cache *zones = zone_cache_new();
	FILE *f = open_data(files[_i].name);
	char *line = NULL, *row;
	size_t cap = 0, rows = 0;

	while ((row = read_row(f, &line, &cap)) != NULL) {
		check_row(zones, files[_i].columns, files[_i].step, row);
		rows++;
	}
	ck_assert_uint_ge(rows, files[_i].least);
	free(line);
	fclose(f);
	zone_cache_free(zones);
}
END_TEST

/* --- changes that no real zone has ------------------------------------- */

/* A zone file of version 1 with these offsets, each from its instant on. */
static struct zone *
make_zone(const struct zone_span *v, size_t n)
{
	uint8_t b[512] = "TZif";
	size_t len = 44;
	struct error err = { "" };
	struct zone *z;

	b[35] = (uint8_t)(n - 1);
	b[39] = (uint8_t)n;
	b[43] = 4;
	for (size_t i = 1; i < n; i++)
		for (int shift = 24; shift >= 0; shift -= 8)
			b[len++] = (uint8_t)((uint64_t)v[i].start >> shift);
	for (size_t i = 1; i < n; i++)
		b[len++] = (uint8_t)i;
	for (size_t i = 0; i < n; i++) {
		for (int shift = 24; shift >= 0; shift -= 8)
			b[len++] = (uint8_t)((uint32_t)v[i].offset >> shift);
		len += 2;
	}
	memcpy(b + len, "AAA", 4);
	z = zone_parse("Test/Made", b, len + 4, &err);
	ck_assert_msg(z != NULL, "%s", err.text);
	return z;
}

#define T1	(100 * DAY + 12 * HOUR)	/* 1970-04-11 12:00 */

/* +2 h, at T1 +1 h, half an hour later 0: three showings of 13:10. */
static const struct zone_span back_twice[] = {
	{ 0, 0, 7200 }, { T1, 0, 3600 }, { T1 + 1800, 0, 0 }
};
/* 0, at T1 +1 h, half an hour later +2 h: 13:40 is jumped over, 14:10 too. */
static const struct zone_span on_twice[] = {
	{ 0, 0, 0 }, { T1, 0, 3600 }, { T1 + 1800, 0, 7200 }
};
/* 0, at T1 +1 h, half an hour later 0 again: 12:40 is jumped over, then shown. */
static const struct zone_span on_and_back[] = {
	{ 0, 0, 0 }, { T1, 0, 3600 }, { T1 + 1800, 0, 0 }
};

static const struct {
	const struct zone_span	*spans;	/* three of them */
	const char		*expr;	/* on that day */
	struct cronexpr_rules	 rules;	/* of daylight saving */
	int64_t			 want[4]; /* from T1 on; 0: no more */
} made[] = {
	{ back_twice, "10 13 11 4 ?", { DST_GAP_RUN, DST_FOLD_FIRST },
	    { -3000 } },
	{ back_twice, "10 13 11 4 ?", { DST_GAP_RUN, DST_FOLD_SECOND },
	    { 4200 } },
	{ back_twice, "10 13 11 4 ?", { DST_GAP_RUN, DST_FOLD_BOTH },
	    { -3000, 600, 4200 } },
	/* 12:40 is in the first and the third stretch only. */
	{ back_twice, "40 12 11 4 ?", { DST_GAP_RUN, DST_FOLD_FIRST },
	    { -4800 } },
	{ back_twice, "40 12 11 4 ?", { DST_GAP_RUN, DST_FOLD_SECOND },
	    { 2400 } },
	{ back_twice, "40 12 11 4 ?", { DST_GAP_RUN, DST_FOLD_BOTH },
	    { -4800, 2400 } },
	{ back_twice, "10,*/60 13 11 4 ?", { DST_GAP_RUN, DST_FOLD_FIRST },
	    { -3600, -3000 } },
	{ on_twice, "10,40 12-14 11 4 ?", { DST_GAP_RUN, DST_FOLD_FIRST },
	    { 0, 600, 1800, 2400 } },
	{ on_twice, "10,40 12-14 11 4 ?", { DST_GAP_SKIP, DST_FOLD_FIRST },
	    { 600, 2400 } },
	/* Jumped over at T1, and shown for the first time after it. */
	{ on_and_back, "40 12 11 4 ?", { DST_GAP_RUN, DST_FOLD_FIRST },
	    { 0, 2400 } },
	{ on_and_back, "40 12 11 4 ?", { DST_GAP_SKIP, DST_FOLD_FIRST },
	    { 2400 } },
};

START_TEST(changes_close_together_keep_the_rules)
{
	struct zone *z = make_zone(made[_i].spans, 3);
	struct cronexpr *x = must_parse(made[_i].expr, NULL);
	int64_t t = T1 - DAY, got;
	size_t n = 0;

	while (cronexpr_next(x, z, made[_i].rules, t, &got) && got < T1 + DAY) {
		ck_assert_uint_lt(n, 4);
		ck_assert_int_eq(got - T1, made[_i].want[n++]);
		t = got;
	}
	ck_assert(n == 4 || n == 0 || made[_i].want[n] == 0);
	ck_assert_uint_gt(n, 0);
	for (t = T1 + DAY; n > 0; t = got) {
		ck_assert(cronexpr_previous(x, z, made[_i].rules, t, &got));
		ck_assert_int_eq(got - T1, made[_i].want[--n]);
	}
	cronexpr_free(x);
	zone_unref(z);
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

/* --- what is said about expressions ------------------------------------ */

static const struct {
	const char	*text;	/* as written */
	const char	*says;	/* the refusal */
} refusals[] = {
	{ "61 * * * *", "minute field, column 1: 61 is not within 0-59" },
	{ "5,61 * * * *", "minute field, column 3: 61 is not within 0-59" },
	{ "  0   24 * * *", "hour field, column 7: 24 is not within 0-23" },
	{ "0 22-2 * * *", "hour field, column 3: 22-2 runs backwards; write "
	    "22-23,0-2" },
	{ "0 0 * * FRI-MON", "day of week field, column 9: FRI-MON runs "
	    "backwards; write FRI-SAT,SUN-MON" },
	{ "0 0 1 NOV-FEB *", "month field, column 7: NOV-FEB runs backwards; "
	    "write NOV-DEC,JAN-FEB" },
	{ "58-2/2 * * * *", "minute field, column 1: 58-2 runs backwards; "
	    "write 58-59/2,0-2/2" },
	{ "0 17-2/3 * * *", "hour field, column 3: 17-2 runs backwards; "
	    "write 17-23/3,2" },
	{ "@dayly", "@dayly is not a known word; did you mean @daily?" },
	{ "daily", "\"daily\" is one field, want 5 (minute hour day month "
	    "weekday), 6 (seconds first) or 7 (and a year); did you mean "
	    "@daily?" },
	{ "30 2 * *", "4 fields, want 5 (minute hour day month weekday), 6 "
	    "(seconds first) or 7 (and a year); day of week is missing after "
	    "\"*\"" },
	{ "0 0 * * MON FRI", "month field, column 9: \"MON\" is not within "
	    "1-12 or JAN-DEC (of six fields the first is the second)" },
	{ "0 0 * * MON-FRI/", "day of week field, column 17: the step is "
	    "missing after \"MON-FRI/\"" },
	{ "0 0 * * MONDAY", "day of week field, column 9: \"MONDAY\" is not "
	    "within 0-7 or SUN-SAT; did you mean MON?" },
	{ "H * * * *", "minute field, column 1: \"H\" is worked out from a "
	    "job's name, and there is none here (--name gives one)" },
	{ "0 1\xe2\x80\x93" "5 * * *", "hour field, column 4: "
	    "\"\xe2\x80\x93" "5\" does not belong after \"1\"" },
	{ "\xff * * * *", "minute field, column 1: \"?\" is not 0-59, \"*\", "
	    "a range a-b or a step a/n" },
};

START_TEST(refusals_name_field_column_and_range)
{
	struct error err = { "" };

	ck_assert_ptr_null(cronexpr_parse(refusals[_i].text,
	    strlen(refusals[_i].text), NULL, &err));
	ck_assert_str_eq(err.text, refusals[_i].says);
}
END_TEST

/* Found by fuzz_cronexpr: bytes that only go on, without a beginning. */
START_TEST(broken_utf8_of_any_length_is_cut)
{
	char text[300];
	struct error err = { "" };

	memset(text, 0xba, sizeof(text));
	memcpy(text, "1 1 1 1 ", 8);
	ck_assert_ptr_null(cronexpr_parse(text, sizeof(text), NULL, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "\"????"));
	ck_assert_ptr_nonnull(strstr(err.text, "...\""));
}
END_TEST

START_TEST(hash_items_out_of_place_are_refused)
{
	static const char *const texts[] = {
		"0 0 0 1 1 * H", "0 0 0 1 1 * ~", "H-5 * * * *",
		"H() * * * *", "H(1) * * * *", "H(1-) * * * *",
		"H(5-1) * * * *", "H(0-60) * * * *", "H(1-5 * * * *",
		"H/0 * * * *", "H/ * * * *", "HH * * * *", "H5 * * * *",
		"1-H * * * *", "*/H * * * *", "5~3 * * * *", "1~60 * * * *",
		"1~5/2 * * * *", "1~5~9 * * * *", "1-5~9 * * * *",
		"* * 30~ * *", "~~ * * * *"
	};
	static const struct cronexpr_names names = { "example", "backup" };
	struct error err = { "" };

	ck_assert_msg(cronexpr_parse(texts[_i], strlen(texts[_i]), &names,
	    &err) == NULL, "%s", texts[_i]);
	ck_assert_str_ne(err.text, "");
}
END_TEST

START_TEST(overlong_text_is_refused)
{
	char *text = xmalloc(CRONEXPR_TEXT_MAX + 1);
	struct error err = { "" };

	memset(text, '1', CRONEXPR_TEXT_MAX + 1);
	ck_assert_ptr_null(cronexpr_parse(text, CRONEXPR_TEXT_MAX + 1, NULL,
	    &err));
	ck_assert_ptr_nonnull(strstr(err.text, "more than"));
	ck_assert_ptr_null(cronexpr_parse(text, CRONEXPR_TEXT_MAX, NULL,
	    &err));
	free(text);
}
END_TEST

static const struct {
	const char	*text;	/* as written */
	bool		 fixed;	/* fixed-time */
	bool		 seconds; /* has a seconds field beside 0 */
	bool		 either; /* either day field decides */
} facts[] = {
	{ "0 2 * * *", true, false, false },
	{ "0-59 2 * * *", true, false, false },
	{ "0 0-23 * * *", true, false, false },
	{ "*/15 2 * * *", false, false, false },
	{ "30 * * * *", false, false, false },
	{ "? 2 * * *", false, false, false },
	{ "30 */2 * * *", false, false, false },
	{ "5,* 2 * * *", true, false, false },
	{ "* 0 2 * * *", true, true, false },
	{ "0 0 2 * * *", true, false, false },
	{ "0 0 13 * FRI", true, false, true },
	{ "0 0 */2 * MON", true, false, false },
	{ "0 0 5,* * TUE", true, false, true },
	{ "0 0 1 * ?", true, false, false },
	{ "0 0 L * 5L", true, false, true },
};

START_TEST(facts_are_told)
{
	struct cronexpr *x = must_parse(facts[_i].text, NULL);

	ck_assert_int_eq(cronexpr_is_fixed_time(x), facts[_i].fixed);
	ck_assert_int_eq(cronexpr_has_seconds(x), facts[_i].seconds);
	ck_assert_int_eq(cronexpr_is_either_day(x), facts[_i].either);
	cronexpr_free(x);
}
END_TEST

START_TEST(fields_that_match_are_told)
{
	/* Monday 2026-11-30 07:00:00, the last day of its month. */
	static const struct {
		const char	*text;	/* as written */
		unsigned	 missed; /* fields that don't match */
	} rows[] = {
		{ "0 7 * * 1-5", 0 },
		{ "1 7 * * 1-5", 1 << CRONEXPR_MINUTE },
		{ "0 8 29 12 TUE", 1 << CRONEXPR_HOUR | 1 << CRONEXPR_DOM |
		    1 << CRONEXPR_MONTH | 1 << CRONEXPR_DOW },
		{ "30 0 7 L * 1L 2026", 1 << CRONEXPR_SECOND },
		{ "0 0 7 LW * 1#5 2025", 1 << CRONEXPR_YEAR },
		{ "0 7 L-1 * 1#4", 1 << CRONEXPR_DOM | 1 << CRONEXPR_DOW },
	};
	struct cronexpr *x = must_parse(rows[_i].text, NULL);
	const unsigned all = (1 << CRONEXPR_FIELDS) - 1;

	ck_assert_uint_eq(cronexpr_match_fields(x, 20787 * DAY + 7 * HOUR),
	    all & ~rows[_i].missed);
	cronexpr_free(x);
}
END_TEST

START_TEST(fields_have_the_names_of_the_messages)
{
	ck_assert_str_eq(cronexpr_field_name(CRONEXPR_DOM), "day of month");
	ck_assert_str_eq(cronexpr_field_name(CRONEXPR_YEAR), "year");
}
END_TEST

/* The years 1 to 9999, and not a second more. */
START_TEST(the_ends_of_time_are_kept)
{
	struct cronexpr *x = must_parse("* * * * * *", NULL);
	struct zone *z = zone_utc();
	int64_t t;

	ck_assert(cronexpr_next(x, z, usual, INT64_MIN, &t));
	ck_assert_int_eq(t, TIMESTAMP_FIRST);
	ck_assert(cronexpr_next(x, z, usual, TIMESTAMP_LAST - 1, &t));
	ck_assert_int_eq(t, TIMESTAMP_LAST);
	ck_assert(!cronexpr_next(x, z, usual, TIMESTAMP_LAST, &t));
	ck_assert(!cronexpr_next(x, z, usual, INT64_MAX, &t));
	ck_assert(cronexpr_previous(x, z, usual, INT64_MAX, &t));
	ck_assert_int_eq(t, TIMESTAMP_LAST);
	ck_assert(!cronexpr_previous(x, z, usual, TIMESTAMP_FIRST, &t));
	ck_assert(!cronexpr_previous(x, z, usual, INT64_MIN, &t));
	cronexpr_free(x);
	zone_unref(z);
}
END_TEST

static Suite *
cronexpr_suite(void)
{
	Suite *s = suite_create("cronexpr");
	TCase *t = tcase_create("vectors");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, vectors_give_the_stated_times, 0, N(files));
	tcase_add_loop_test(t, changes_close_together_keep_the_rules, 0,
	    N(made));
	tcase_add_test(t, invalid_vectors_are_refused);
	suite_add_tcase(s, t);
	t = tcase_create("facts");
	tcase_add_loop_test(t, refusals_name_field_column_and_range, 0,
	    N(refusals));
	tcase_add_test(t, broken_utf8_of_any_length_is_cut);
	tcase_add_loop_test(t, hash_items_out_of_place_are_refused, 0, 22);
	tcase_add_test(t, overlong_text_is_refused);
	tcase_add_loop_test(t, facts_are_told, 0, N(facts));
	tcase_add_loop_test(t, fields_that_match_are_told, 0, 6);
	tcase_add_test(t, fields_have_the_names_of_the_messages);
	tcase_add_test(t, the_ends_of_time_are_kept);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return check_main(cronexpr_suite());
}
