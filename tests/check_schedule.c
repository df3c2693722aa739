/* SPDX-License-Identifier: ISC */
/*
 * Schedules: the forms beside expressions, unions, and what people are told.
 * Instants are worked out by hand.  Tests whose name begins with a number
 * come from the report of that number (b107 is B107).
 */
#include "config.h"

#include "common/schedule.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/strbuf.h"
#include "common/timestamp.h"
#include "common/xmalloc.h"
#include "tests/check_main.h"

#define HOUR	INT64_C(3600)
#define DAY	INT64_C(86400)
/* 2026-11-30 00:00 UTC, a Monday. */
#define MIDNIGHT (20787 * DAY)
/* 2027-03-28 01:00 UTC: Berlin goes from 02:00 to 03:00. */
#define SPRING	(20905 * DAY + HOUR)
/* 2026-10-25 01:00 UTC: Berlin goes from 03:00 to 02:00. */
#define AUTUMN	(20751 * DAY + HOUR)

static struct schedule *
parse(const char *text, const char *zone, struct error *err)
{
	struct schedule_options o = { .now = MIDNIGHT + 17 * HOUR };
	struct schedule *s;

	o.zone = zone_load(zone, err);
	o.zones = zone_cache_new();
	ck_assert_msg(o.zone != NULL, "%s", err->text);
	s = schedule_parse(text, strlen(text), &o, err);
	zone_unref(o.zone);
	zone_cache_free(o.zones);
	return s;
}

static struct schedule *
must_parse(const char *text, const char *zone)
{
	struct error err = { "" };
	struct schedule *s = parse(text, zone, &err);

	ck_assert_msg(s != NULL, "%s: %s", text, err.text);
	return s;
}

static const struct {
	const char		*text;	/* as written */
	enum schedule_kind	 kind;	/* what it is */
	bool			 is_interval; /* of the rules */
	bool			 is_one_shot; /* comes once */
	const char		*zone;	/* it is in */
} forms[] = {
	{ "30 2 * * *", SCHEDULE_CRON, false, false, "Europe/Berlin" },
	{ "*/5 * * * *", SCHEDULE_CRON, true, false, "Europe/Berlin" },
	{ "@daily", SCHEDULE_CRON, false, false, "Europe/Berlin" },
	{ "@hourly", SCHEDULE_CRON, true, false, "Europe/Berlin" },
	{ "TZ=Asia/Tokyo 0 9 * * *", SCHEDULE_CRON, false, false,
	    "Asia/Tokyo" },
	{ "CRON_TZ=UTC @daily", SCHEDULE_CRON, false, false, "UTC" },
	{ "TZ=UTC   @at 2026-12-01", SCHEDULE_AT, false, true, "UTC" },
	{ "@every 15m", SCHEDULE_EVERY, true, false, "Europe/Berlin" },
	{ "@every 1h/5m", SCHEDULE_EVERY, true, false, "Europe/Berlin" },
	{ "@at 07:30", SCHEDULE_AT, false, true, "Europe/Berlin" },
	{ "@manual", SCHEDULE_MANUAL, false, false, "Europe/Berlin" },
};

#define N(table) ((int)(sizeof(table) / sizeof(table[0])))

START_TEST(forms_are_told_apart)
{
	struct schedule *s = must_parse(forms[_i].text, "Europe/Berlin");

	ck_assert_int_eq(schedule_kind(s), forms[_i].kind);
	ck_assert_int_eq(schedule_is_interval(s), forms[_i].is_interval);
	ck_assert_int_eq(schedule_is_one_shot(s), forms[_i].is_one_shot);
	ck_assert_str_eq(schedule_text(s), forms[_i].text);
	ck_assert_str_eq(zone_name(schedule_zone(s)), forms[_i].zone);
	ck_assert_int_eq(schedule_expr(s) != NULL,
	    forms[_i].kind == SCHEDULE_CRON);
	schedule_unref(s);
}
END_TEST

static const struct {
	const char	*text;	/* as written */
	const char	*says;	/* part of the refusal */
} refused[] = {
	{ "", "the expression is empty" },
	{ "   ", "the expression is empty" },
	{ "@", "\"@\" alone is not a known word" },
	{ "@dayly", "did you mean @daily?" },
	{ "@Daily", "did you mean @daily?" },
	{ "@evry 5m", "did you mean @every?" },
	{ "@frobnicate", "is not a known word; words are" },
	{ "@after 5m", "@after is not supported by this version" },
	{ "@continuous", "@continuous is not supported by this version" },
	{ "@reboot", "@reboot is not supported by this version" },
	{ "@every", "@every needs a duration" },
	{ "@every 0s", "it is 1s or more" },
	{ "@every 250ms", "whole seconds" },
	{ "@every 1500ms", "whole seconds" },
	{ "@every -5m", "column 8" },
	{ "@every 5 m", "column 8" },
	{ "@every 1h/1h", "not less than the period" },
	{ "@every 1h/", "column 11" },
	{ "@every 1h/2m/3m", "column 11" },
	{ "@every /5m", "column 8" },
	{ "@at", "@at needs a time" },
	{ "@at noon", "column 5" },
	{ "@in 5m", "@in counts from the moment a job is added" },
	{ "@manual 5", "@manual stands alone" },
	{ "@daily 5", "@daily stands alone" },
	{ "61 * * * *", "minute field, column 1: 61 is not within 0-59" },
	{ "1,61 * * * *", "minute field, column 3: 61 is not within 0-59" },
	{ " 1,61 * * * *", "minute field, column 4: 61 is not within 0-59" },
	{ "TZ=UTC 0 24 * * *", "hour field, column 10: 24 is not within" },
	{ "30 2 * *", "4 fields, want 5 (minute hour day month weekday), 6 "
	    "(seconds first) or 7 (and a year); day of week is missing after "
	    "\"*\"" },
	{ "H * * * *", "worked out from a job's name" },
	{ "TZ=Europe/Berln 0 0 * * *", "unknown time zone \"Europe/Berln\"; "
	    "did you mean Europe/Berlin?" },
};

START_TEST(other_texts_are_refused_with_a_reason)
{
	struct error err = { "" };

	ck_assert_ptr_null(parse(refused[_i].text, "UTC", &err));
	ck_assert_msg(strstr(err.text, refused[_i].says) != NULL, "%s: %s",
	    refused[_i].text, err.text);
}
END_TEST

START_TEST(b107_zone_prefix_with_nothing_after_it_is_refused)
{
	static const char *const texts[] = {
		"TZ=0", "TZ=", "TZ=TZ=TZ=", "", "@", "CRON_TZ=", "TZ= ",
		"TZ=UTC", "TZ=UTC ", "TZ", "TZ= * * * * *",
		"TZ=TZ=UTC * * * * *", "TZ=UTC TZ=UTC * * * * *"
	};
	struct error err = { "" };

	ck_assert_msg(parse(texts[_i], "UTC", &err) == NULL, "%s", texts[_i]);
	ck_assert_str_ne(err.text, "");
}
END_TEST

START_TEST(nul_bytes_are_refused)
{
	struct schedule_options o = { .now = 0 };
	struct error err = { "" };

	ck_assert_ptr_null(schedule_parse("* * * * *\0x", 11, &o, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "NUL"));
}
END_TEST

static const struct {
	const char	*text;	/* as written */
	int64_t		 from;	/* ask from here */
	int64_t		 next;	/* -1: none */
	int64_t		 previous; /* -1: none */
} instants[] = {
	{ "@every 15m", 0, 900, -900 },
	{ "@every 15m", 899, 900, 0 },
	{ "@every 15m", -1, 0, -900 },
	{ "@every 1h/5m", 0, 300, -3300 },
	{ "@every 1h/5m", 300, 3900, -3300 },
	{ "@every 7s", 50, 56, 49 },
	{ "@every 1d", SPRING, SPRING - HOUR + DAY, SPRING - HOUR },
	{ "@every 1w", 0, 7 * DAY, -7 * DAY },
	{ "@at 2026-12-01 07:00", MIDNIGHT, MIDNIGHT + DAY + 6 * HOUR, -1 },
	{ "@at 2026-12-01 07:00", MIDNIGHT + DAY + 6 * HOUR, -1, -1 },
	{ "@at 2026-12-01 07:00", MIDNIGHT + 2 * DAY, -1,
	    MIDNIGHT + DAY + 6 * HOUR },
	/* Parsed at 18:00 in Berlin. */
	{ "@at 17:59", MIDNIGHT, MIDNIGHT + DAY + 16 * HOUR + 59 * 60, -1 },
	{ "@at 18:01", MIDNIGHT, MIDNIGHT + 17 * HOUR + 60, -1 },
	{ "@at +2h", MIDNIGHT, MIDNIGHT + 19 * HOUR, -1 },
	{ "@manual", 0, -1, -1 },
	{ "TZ=Asia/Tokyo 0 9 * * *", MIDNIGHT, MIDNIGHT + DAY,
	    MIDNIGHT - DAY },
	{ "0 9 * * *", MIDNIGHT, MIDNIGHT + 8 * HOUR,
	    MIDNIGHT - DAY + 8 * HOUR },
};

START_TEST(occurrences_are_on_their_instants)
{
	struct schedule *s = must_parse(instants[_i].text, "Europe/Berlin");
	int64_t t;

	if (!schedule_next(s, instants[_i].from, &t))
		t = -1;
	ck_assert_int_eq(t, instants[_i].next);
	if (!schedule_previous(s, instants[_i].from, &t))
		t = -1;
	ck_assert_int_eq(t, instants[_i].previous);
	schedule_unref(s);
}
END_TEST

/* The rows of every.tsv, forwards and back. */
START_TEST(every_gives_the_stated_instants)
{
	const char *dir = getenv("srcdir");
	char *path = xasprintf("%s/tests/data/every.tsv", dir == NULL ? "." :
	    dir);
	FILE *f = fopen(path, "r");
	char *line = NULL, *row, *want;
	size_t cap = 0;
	int rows = 0;

	ck_assert_msg(f != NULL, "%s", path);
	while (getline(&line, &cap, f) > 0) {
		const char *expr, *zone;
		struct schedule *s;
		int64_t t, next, back;

		if (line[0] == '#')
			continue;
		row = line;
		row[strcspn(row, "\n")] = '\0';
		expr = strsep(&row, "\t");
		zone = strsep(&row, "\t");
		s = must_parse(expr, zone);
		t = strtoll(strsep(&row, "\t"), NULL, 10);
		while ((want = strsep(&row, ",")) != NULL) {
			bool found = schedule_next(s, t, &next);

			if (strcmp(want, "never") == 0) {
				ck_assert_msg(!found, "%s", expr);
				break;
			}
			ck_assert_msg(found, "%s", expr);
			ck_assert_int_eq(next, strtoll(want, NULL, 10));
			ck_assert(schedule_previous(s, next, &back));
			ck_assert_int_le(back, t);
			t = next;
		}
		schedule_unref(s);
		rows++;
	}
	ck_assert_int_ge(rows, 15);
	free(line);
	free(path);
	fclose(f);
}
END_TEST

START_TEST(every_keeps_to_the_years_1_to_9999)
{
	struct schedule *s = must_parse("@every 1s", "UTC");
	int64_t t;

	ck_assert(schedule_next(s, INT64_MIN, &t));
	ck_assert_int_eq(t, TIMESTAMP_FIRST);
	ck_assert(schedule_previous(s, INT64_MAX, &t));
	ck_assert_int_eq(t, TIMESTAMP_LAST);
	ck_assert(!schedule_next(s, TIMESTAMP_LAST, &t));
	ck_assert(!schedule_previous(s, TIMESTAMP_FIRST, &t));
	schedule_unref(s);
}
END_TEST

START_TEST(in_is_a_delay_where_it_is_allowed)
{
	struct schedule_options o = { .allow_in = true };
	struct error err = { "" };
	struct schedule *s = schedule_parse("@in 20m", 7, &o, &err);
	int64_t t;

	ck_assert_msg(s != NULL, "%s", err.text);
	ck_assert_int_eq(schedule_kind(s), SCHEDULE_IN);
	ck_assert_int_eq(schedule_in_ms(s), 1200000);
	ck_assert(schedule_is_one_shot(s));
	ck_assert(!schedule_next(s, 0, &t));
	schedule_unref(s);
	s = schedule_parse("@in 0s", 6, &o, &err);
	ck_assert_msg(s != NULL, "%s", err.text);
	schedule_unref(s);
	ck_assert_ptr_null(schedule_parse("@in 1ms", 7, &o, &err));
}
END_TEST

START_TEST(union_gives_equal_instants_once)
{
	struct schedule *v[3] = {
		must_parse("0 * * * *", "UTC"),
		must_parse("*/30 * * * *", "UTC"),
		must_parse("@every 1h/5m", "UTC"),
	};
	static const int64_t want[] = { 300, 1800, 3600, 3900, 5400, 7200 };
	int64_t t = 0;

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		ck_assert(schedule_next_of(v, 3, t, &t));
		ck_assert_int_eq(t, want[i]);
	}
	for (size_t i = sizeof(want) / sizeof(want[0]) - 1; i-- > 0;) {
		ck_assert(schedule_previous_of(v, 3, t, &t));
		ck_assert_int_eq(t, want[i]);
	}
	ck_assert(!schedule_next_of(v, 0, 0, &t));
	for (size_t i = 0; i < 3; i++)
		schedule_unref(v[i]);
}
END_TEST

static const struct {
	const char		*text;	/* as written, in Berlin */
	int64_t			 at;	/* an occurrence */
	enum schedule_rule	 want;	/* what acted there */
} acted[] = {
	{ "30 2 * * *", SPRING, SCHEDULE_RULE_GAP },
	{ "30 2,3 * * *", SPRING, SCHEDULE_RULE_GAP },
	{ "0 3 * * *", SPRING, SCHEDULE_RULE_NONE },
	{ "*/30 * * * *", SPRING, SCHEDULE_RULE_NONE },
	{ "30 2 * * *", SPRING + DAY - 1800, SCHEDULE_RULE_NONE },
	{ "30 2 * * *", AUTUMN - 1800, SCHEDULE_RULE_FOLD },
	{ "*/30 * * * *", AUTUMN + 1800, SCHEDULE_RULE_FOLD },
	{ "0 3 * * *", AUTUMN + HOUR, SCHEDULE_RULE_NONE },
	{ "59 1 * * *", AUTUMN - HOUR - 60, SCHEDULE_RULE_NONE },
	{ "@every 30m", AUTUMN, SCHEDULE_RULE_NONE },
};

START_TEST(the_rule_that_acted_is_told)
{
	struct schedule *s = must_parse(acted[_i].text, "Europe/Berlin");

	ck_assert_int_eq(schedule_rule_at(s, acted[_i].at), acted[_i].want);
	schedule_unref(s);
}
END_TEST

static void
note(void *arg, const char *sentence)
{
	strbuf_addf(arg, "%s\n", sentence);
}

static char *
warnings_of(const char *text, const char *zone, struct cronexpr_rules rules,
    int64_t now)
{
	struct schedule_options o = { .now = now, .rules = rules };
	struct error err = { "" };
	struct strbuf all = STRBUF_INIT;
	struct schedule *s;

	o.zone = zone_load(zone, &err);
	ck_assert_msg(o.zone != NULL, "%s", err.text);
	s = schedule_parse(text, strlen(text), &o, &err);
	ck_assert_msg(s != NULL, "%s: %s", text, err.text);
	schedule_warnings(s, now, note, &all);
	schedule_unref(s);
	zone_unref(o.zone);
	return strbuf_detach(&all);
}

static const struct {
	const char	*text;	/* as written, in Berlin on 2026-11-30 */
	enum dst_gap	 gap;	/* dst_gap */
	const char	*want;	/* all the warnings, a line each */
} warnings[] = {
	{ "*/5 * * * *", DST_GAP_RUN, "" },
	{ "0 4 * * *", DST_GAP_RUN, "" },
	{ "30 2 * * *", DST_GAP_RUN, "02:30 does not exist on 2027-03-28 in "
	    "Europe/Berlin; it will run at 03:00 that day (dst_gap=run)\n" },
	{ "30 2 * * *", DST_GAP_SKIP, "02:30 does not exist on 2027-03-28 in "
	    "Europe/Berlin; it will not run for it (dst_gap=skip)\n" },
	{ "15 30,45 2 * * *", DST_GAP_RUN, "02:30:15 and later times do not "
	    "exist on 2027-03-28 in Europe/Berlin; it will run once at 03:00 "
	    "that day (dst_gap=run)\n" },
	{ "30 2 1 * *", DST_GAP_RUN, "" },
	{ "TZ=UTC 30 2 * * *", DST_GAP_RUN, "" },
	{ "*/90 * * * *", DST_GAP_RUN, "minute field, column 1: the step of "
	    "\"*/90\" is larger than its range, so only 0 is left of it\n" },
	{ "TZ=UTC 0 */24 * * *", DST_GAP_RUN, "hour field, column 10: the "
	    "step of \"*/24\" is larger than its range, so only 0 is left of "
	    "it\n" },
	{ "*/59 * * * *", DST_GAP_RUN, "" },
	{ "* * 13 * FRI", DST_GAP_RUN, "day of month (\"13\") and day of "
	    "week (\"FRI\") are both given: a day matches if either one "
	    "does\n" },
	{ "* * */2 * FRI", DST_GAP_RUN, "" },
	{ "0 0 31 2 *", DST_GAP_RUN, "\"0 0 31 2 *\" can never come: no such "
	    "date exists\n" },
	{ "0 0 5 1 1 * 2020", DST_GAP_RUN, "\"0 0 5 1 1 * 2020\" will not "
	    "come again; its last time was 2020-01-01T05:00:00+01:00\n" },
	{ "@every 1d", DST_GAP_RUN, "\"@every 1d\" counts days from midnight "
	    "UTC, which is 01:00 in Europe/Berlin; for local midnight write "
	    "@daily\n" },
	{ "TZ=UTC @every 1d", DST_GAP_RUN, "" },
	{ "@every 12h", DST_GAP_RUN, "" },
	{ "@at 2020-01-01", DST_GAP_RUN, "\"@at 2020-01-01\" is in the past "
	    "(2020-01-01T00:00:00+01:00)\n" },
	{ "@at 2030-01-01", DST_GAP_RUN, "" },
	{ "@manual", DST_GAP_RUN, "" },
};

START_TEST(surprises_are_told)
{
	struct cronexpr_rules rules = { .gap = warnings[_i].gap };
	char *got = warnings_of(warnings[_i].text, "Europe/Berlin", rules,
	    MIDNIGHT);

	ck_assert_str_eq(got, warnings[_i].want);
	free(got);
}
END_TEST

START_TEST(gap_of_a_whole_day_names_the_day_after)
{
	/* 2011-12-30 was left out in Apia; 2011-06-01 is day 15,126. */
	struct cronexpr_rules rules = { .gap = DST_GAP_RUN };
	char *got = warnings_of("30 12 30 12 *", "Pacific/Apia", rules,
	    15126 * DAY);

	ck_assert_str_eq(got, "12:30 does not exist on 2011-12-30 in "
	    "Pacific/Apia; it will run at 00:00 on 2011-12-31 "
	    "(dst_gap=run)\n");
	free(got);
}
END_TEST

START_TEST(b020_both_day_fields_are_warned_about)
{
	struct cronexpr_rules rules = { .gap = DST_GAP_RUN };
	char *got = warnings_of("5,35 * 29 2 1", "UTC", rules, MIDNIGHT);

	ck_assert_ptr_nonnull(strstr(got, "a day matches if either one"));
	free(got);
}
END_TEST

START_TEST(b112_step_wider_than_the_field_is_warned_about)
{
	struct cronexpr_rules rules = { .gap = DST_GAP_RUN };
	char *got = warnings_of("*/90 * * * *", "UTC", rules, MIDNIGHT);

	ck_assert_ptr_nonnull(strstr(got, "larger than its range"));
	free(got);
}
END_TEST

START_TEST(b116_text_is_kept_as_written)
{
	struct schedule *s = must_parse("  0 10 * * 1,3,5  ", "UTC");
	struct civil c;
	int64_t t = MIDNIGHT;

	ck_assert_str_eq(schedule_text(s), "0 10 * * 1,3,5");
	for (int i = 0; i < 100; i++) {
		ck_assert(schedule_next(s, t, &t));
		civil_from_seconds(&c, t);
		ck_assert_int_ne(civil_weekday(civil_days(c.year, c.month,
		    c.day)), 0);
	}
	schedule_unref(s);
}
END_TEST

/* Only the schedule's own zone counts, whatever the process's is. */
START_TEST(b030_schedule_in_utc_knows_no_other_zone)
{
	/* 2022-10-30 01:30 UTC is day 19,295. */
	struct schedule *s = must_parse("TZ=UTC 30 1 * * *",
	    "Europe/London");
	int64_t t;

	ck_assert(schedule_next(s, 19295 * DAY, &t));
	ck_assert_int_eq(t, 19295 * DAY + 5400);
	schedule_unref(s);
}
END_TEST

/* 02:00 in Santiago is 05:00 UTC on 2026-11-30, whatever the host's zone. */
START_TEST(b124_next_is_in_the_zone_of_the_schedule)
{
	struct schedule *s = must_parse("0 2 * * *", "America/Santiago");
	int64_t t;

	ck_assert(schedule_next(s, MIDNIGHT, &t));
	ck_assert_int_eq(t, MIDNIGHT + 5 * HOUR);
	ck_assert_str_eq(zone_name(schedule_zone(s)), "America/Santiago");
	schedule_unref(s);
}
END_TEST

static Suite *
schedule_suite(void)
{
	Suite *s = suite_create("schedule");
	TCase *t = tcase_create("schedule");

	tcase_add_loop_test(t, forms_are_told_apart, 0, N(forms));
	tcase_add_loop_test(t, other_texts_are_refused_with_a_reason, 0,
	    N(refused));
	tcase_add_loop_test(t,
	    b107_zone_prefix_with_nothing_after_it_is_refused, 0, 13);
	tcase_add_test(t, nul_bytes_are_refused);
	tcase_add_loop_test(t, occurrences_are_on_their_instants, 0,
	    N(instants));
	tcase_add_test(t, every_gives_the_stated_instants);
	tcase_add_test(t, every_keeps_to_the_years_1_to_9999);
	tcase_add_test(t, in_is_a_delay_where_it_is_allowed);
	tcase_add_test(t, union_gives_equal_instants_once);
	tcase_add_loop_test(t, the_rule_that_acted_is_told, 0, N(acted));
	tcase_add_loop_test(t, surprises_are_told, 0, N(warnings));
	tcase_add_test(t, gap_of_a_whole_day_names_the_day_after);
	tcase_add_test(t, b020_both_day_fields_are_warned_about);
	tcase_add_test(t, b112_step_wider_than_the_field_is_warned_about);
	tcase_add_test(t, b116_text_is_kept_as_written);
	tcase_add_test(t, b030_schedule_in_utc_knows_no_other_zone);
	tcase_add_test(t, b124_next_is_in_the_zone_of_the_schedule);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return check_main(schedule_suite());
}
