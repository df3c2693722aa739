/* SPDX-License-Identifier: ISC */
/*
 * Times as people write them.  The instants are worked out by hand from the
 * calendar and the rule of Berlin: one hour ahead in winter, two in summer.
 */
#include "config.h"

#include "common/timearg.h"

#include <check.h>
#include <string.h>

#include "tests/check_main.h"

/* 2026-11-30 00:00 UTC: 20,787 days of 86,400 s. */
#define MIDNIGHT	INT64_C(1795996800)
#define HOUR		3600
#define DAY		86400
/* 2026-11-30 18:47:24 in Berlin, 17:47:24 UTC. */
#define NOW		(MIDNIGHT + 17 * HOUR + 47 * 60 + 24)
/* 02:00 is followed by 03:00 there on 2027-03-28; 01:00 UTC, day 20,905. */
#define SPRING		(INT64_C(20905) * DAY + HOUR)
/* 03:00 is followed by 02:00 on 2026-10-25; 01:00 UTC, day 20,751. */
#define AUTUMN		(INT64_C(20751) * DAY + HOUR)

struct row {
	const char		*text;	/* as written */
	enum timearg_use	 use;	/* which way HH:MM goes */
	int64_t			 now;	/* UTC */
	int64_t			 want;	/* UTC */
};

static const struct row rows[] = {
	{ "2026-11-30T18:47:24+01:00", TIMEARG_PLAN, 0, NOW },
	{ "2026-11-30T17:47:24Z", TIMEARG_PLAN, 0, NOW },
	{ "2026-11-30t17:47:24z", TIMEARG_PLAN, 0, NOW },
	{ "2026-11-30 17:47:24.000Z", TIMEARG_PLAN, 0, NOW },
	{ "2026-11-30T12:17:24-05:30", TIMEARG_PLAN, 0, NOW },
	{ "2026-11-30T18:47:24", TIMEARG_PLAN, 0, NOW },
	{ "2026-11-30 18:47:24", TIMEARG_PLAN, 0, NOW },
	{ "2026-11-30 18:47", TIMEARG_PLAN, 0, NOW - 24 },
	{ " 2026-11-30  18:47 ", TIMEARG_PLAN, 0, NOW - 24 },
	{ "2026-11-30", TIMEARG_PLAN, 0, MIDNIGHT - HOUR },
	{ "@1795996800", TIMEARG_PLAN, 0, MIDNIGHT },
	{ "@0", TIMEARG_PLAN, NOW, 0 },
	{ "@-86400", TIMEARG_PLAN, NOW, -86400 },
	{ "0001-01-02T00:00:00Z", TIMEARG_PLAN, 0,
	    INT64_C(-62135596800) + DAY },
	{ "9999-12-31T23:59:59Z", TIMEARG_PLAN, 0, INT64_C(253402300799) },
	/* 18:00 has been, 19:00 has not. */
	{ "18:00", TIMEARG_QUESTION, NOW, MIDNIGHT + 17 * HOUR },
	{ "18:00", TIMEARG_PLAN, NOW, MIDNIGHT + DAY + 17 * HOUR },
	{ "19:00", TIMEARG_QUESTION, NOW, MIDNIGHT - DAY + 18 * HOUR },
	{ "19:00", TIMEARG_PLAN, NOW, MIDNIGHT + 18 * HOUR },
	{ "18:47:24", TIMEARG_QUESTION, NOW, NOW },
	{ "18:47:24", TIMEARG_PLAN, NOW, NOW + DAY },
	{ "18:47:25", TIMEARG_PLAN, NOW, NOW + 1 },
	{ "00:00", TIMEARG_PLAN, NOW, MIDNIGHT + DAY - HOUR },
	{ "today", TIMEARG_PLAN, NOW, MIDNIGHT - HOUR },
	{ "yesterday", TIMEARG_QUESTION, NOW, MIDNIGHT - DAY - HOUR },
	{ "tomorrow", TIMEARG_PLAN, NOW, MIDNIGHT + DAY - HOUR },
	{ "tomorrow 07:30", TIMEARG_PLAN, NOW,
	    MIDNIGHT + DAY + 6 * HOUR + 1800 },
	{ "today 07:30:15", TIMEARG_PLAN, NOW,
	    MIDNIGHT + 6 * HOUR + 1815 },
	{ "+2h", TIMEARG_PLAN, NOW, NOW + 2 * HOUR },
	{ "-1h30m", TIMEARG_QUESTION, NOW, NOW - 5400 },
	{ "+90", TIMEARG_PLAN, NOW, NOW + 90 },
	/* Inside a gap: the first instant after it. */
	{ "2027-03-28 02:30", TIMEARG_PLAN, NOW, SPRING },
	{ "02:30", TIMEARG_PLAN, SPRING - 60, SPRING },
	{ "02:30", TIMEARG_QUESTION, SPRING + 60, SPRING },
	/* Shown twice: the first. */
	{ "2026-10-25 02:30", TIMEARG_PLAN, 0, AUTUMN - 1800 },
	{ "02:30", TIMEARG_PLAN, AUTUMN - 3600, AUTUMN - 1800 },
	/* In the second pass the next one is tomorrow's. */
	{ "02:45", TIMEARG_PLAN, AUTUMN + 60, AUTUMN + DAY + 2700 },
	/* The day of a change is 23 hours long. */
	{ "tomorrow", TIMEARG_PLAN, SPRING - 60, SPRING + 21 * HOUR },
};

#define NROWS ((int)(sizeof(rows) / sizeof(rows[0])))

START_TEST(texts_become_instants)
{
	const struct row *r = &rows[_i];
	struct error err = { "" };
	struct zone *z = zone_load("Europe/Berlin", &err);
	int64_t got = 0;

	ck_assert_msg(z != NULL, "%s", err.text);
	ck_assert_msg(timearg_parse(r->text, strlen(r->text), z, r->now,
	    r->use, &got, &err) == 0, "%s: %s", r->text, err.text);
	ck_assert_msg(got == r->want, "%s: %lld, want %lld", r->text,
	    (long long)got, (long long)r->want);
	zone_unref(z);
}
END_TEST

static const struct {
	const char	*text;	/* as written */
	const char	*says;	/* part of the refusal */
} refused[] = {
	{ "", "is not a time" },
	{ " ", "is not a time" },
	{ "@", "is not a time" },
	{ "@-", "is not a time" },
	{ "@12x", "is not a time" },
	{ "@99999999999999999999", "years 1 to 9999" },
	{ "0000-01-01", "year 0 is not within 1-9999" },
	{ "2026-13-01", "month 13 is not within 1-12" },
	{ "2026-02-29", "day 29 is not within 1-28" },
	{ "2026-2-03", "is not a time" },
	{ "26-02-03", "is not a time" },
	{ "12026-02-03", "is not a time" },
	{ "2026-02-03 24:00", "hour 24 is not within 0-23" },
	{ "2026-02-03 23:60", "minute 60 is not within 0-59" },
	{ "2026-02-03 23:59:60", "second 60 is not within 0-59" },
	{ "2026-02-03T23:59:00.5Z", "whole seconds" },
	{ "2026-02-03T23:59:00+1:00", "is not a time" },
	{ "2026-02-03T23:59:00+24:00", "hour of the offset" },
	{ "2026-02-03T23:59:00Zx", "is not a time" },
	{ "2026-02-03Z", "is not a time" },
	{ "9999-12-31T23:59:59-01:00", "years 1 to 9999" },
	{ "7:30", "is not a time" },
	{ "07:30pm", "is not a time" },
	{ "25:00", "hour 25" },
	{ "tomorow", "did you mean tomorrow?" },
	{ "tomorrow7", "is not a time" },
	{ "tomorrow 7", "is not a time" },
	{ "+", "" },
	{ "+2x", "" },
	{ "-250ms", "whole seconds" },
	{ "noon", "is not a time" },
};

START_TEST(other_texts_are_refused_with_a_reason)
{
	const char *text = refused[_i].text;
	struct error err = { "" };
	struct zone *z = zone_utc();
	int64_t got = 7;

	ck_assert_msg(timearg_parse(text, strlen(text), z, NOW, TIMEARG_PLAN,
	    &got, &err) == -1, "%s: accepted as %lld", text, (long long)got);
	ck_assert_msg(err.text[0] != '\0' &&
	    strstr(err.text, refused[_i].says) != NULL, "%s: %s", text,
	    err.text);
	ck_assert_int_eq(got, 7);
	zone_unref(z);
}
END_TEST

static Suite *
timearg_suite(void)
{
	Suite *s = suite_create("timearg");
	TCase *t = tcase_create("timearg");

	tcase_add_loop_test(t, texts_become_instants, 0, NROWS);
	tcase_add_loop_test(t, other_texts_are_refused_with_a_reason, 0,
	    (int)(sizeof(refused) / sizeof(refused[0])));
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return check_main(timearg_suite());
}
