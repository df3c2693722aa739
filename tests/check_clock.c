/* SPDX-License-Identifier: ISC */
/*
 * What a change between two readings means: a table of semantics.md 5, its
 * limits from both sides; and that readings of the system make sense.
 */
#include "config.h"

#include "daemon/clock.h"

#include <check.h>

#include "tests/check_main.h"

#define MS	INT64_C(1000)
#define SEC	(1000 * MS)
#define HOUR	(3600 * SEC)

/* 2026-01-01T00:00:00Z: where the rows begin. */
#define WALL	(INT64_C(1767225600) * SEC)

START_TEST(change_is_classified)
{
	static const struct {
		const char	*name;
		int64_t		 wall, boot, mono;	/* by how much each
							 * clock went on */
		int64_t		 back_sum;		/* before, in 24 h */
		enum clock_change_kind kind;
		int64_t		 step;
		int64_t		 suspended;
	} rows[] = {
		{ "nothing happened", 0, 0, 0, 0, CLOCK_STEADY, 0, 0 },
		{ "a minute passed", 60 * SEC, 60 * SEC, 60 * SEC, 0,
		    CLOCK_STEADY, 0, 0 },
		{ "10 ms forward is no step", SEC + 10 * MS, SEC, SEC, 0,
		    CLOCK_STEADY, 0, 0 },
		{ "10 ms back is no step", SEC - 10 * MS, SEC, SEC, 0,
		    CLOCK_STEADY, 0, 0 },
		{ "more than 10 ms forward", SEC + 10 * MS + 1, SEC, SEC, 0,
		    CLOCK_FORWARD, 10 * MS + 1, 0 },
		{ "more than 10 ms back", SEC - 10 * MS - 1, SEC, SEC, 0,
		    CLOCK_BACK_SMALL, -10 * MS - 1, 0 },
		{ "half a second forward", 1500 * MS, SEC, SEC, 0,
		    CLOCK_FORWARD, 500 * MS, 0 },
		{ "half a second back", 500 * MS, SEC, SEC, 0,
		    CLOCK_BACK_SMALL, -500 * MS, 0 },
		{ "a leap second", 0, SEC, SEC, 0, CLOCK_BACK_SMALL, -SEC, 0 },
		{ "3 h forward", 3 * HOUR, 0, 0, 0, CLOCK_FORWARD, 3 * HOUR,
		    0 },
		{ "years forward", 50000 * HOUR, 0, 0, 0, CLOCK_FORWARD,
		    50000 * HOUR, 0 },
		{ "exactly 3 h back is small", -3 * HOUR, 0, 0, 0,
		    CLOCK_BACK_SMALL, -3 * HOUR, 0 },
		{ "a little more than 3 h back", -3 * HOUR - 1, 0, 0, 0,
		    CLOCK_BACK_LARGE, -3 * HOUR - 1, 0 },
		{ "years back", -50000 * HOUR, 0, 0, 0, CLOCK_BACK_LARGE,
		    -50000 * HOUR, 0 },
		{ "the third hour back within a day", -HOUR, 0, 0, 2 * HOUR,
		    CLOCK_BACK_SMALL, -HOUR, 0 },
		{ "past three hours back within a day", -HOUR, 0, 0,
		    2 * HOUR + 1, CLOCK_BACK_LARGE, -HOUR, 0 },
		{ "back after a large step back", -SEC, 0, 0, 9 * HOUR,
		    CLOCK_BACK_LARGE, -SEC, 0 },
		{ "steps back do not bar steps forward", HOUR, 0, 0, 9 * HOUR,
		    CLOCK_FORWARD, HOUR, 0 },
		{ "suspend is no step", HOUR, HOUR, SEC, 0, CLOCK_STEADY, 0,
		    HOUR - SEC },
		{ "suspend of 10 ms is none", SEC, SEC, SEC - 10 * MS, 0,
		    CLOCK_STEADY, 0, 0 },
		{ "suspend, then set forward", 2 * HOUR, HOUR, 0, 0,
		    CLOCK_FORWARD, HOUR, HOUR },
		{ "suspend, then set back", HOUR, 2 * HOUR, 0, 0,
		    CLOCK_BACK_SMALL, -HOUR, 2 * HOUR },
	};
	const struct clock_reading last = { { WALL }, { 77 * SEC },
	    { 55 * SEC } };
	struct clock_reading now = last;
	struct clock_change change;

	now.wall.us += rows[_i].wall;
	now.boot.us += rows[_i].boot;
	now.mono.us += rows[_i].mono;
	clock_classify(&last, &now, rows[_i].back_sum, &change);
	ck_assert_msg(change.kind == rows[_i].kind, "%s: kind %d",
	    rows[_i].name, (int)change.kind);
	ck_assert_int_eq(change.step_us, rows[_i].step);
	ck_assert_int_eq(change.suspended_us, rows[_i].suspended);
	if (rows[_i].step == 0)
		ck_assert_int_eq(change.before.us, now.wall.us);
	else
		ck_assert_int_eq(change.before.us, WALL + rows[_i].boot);
	ck_assert_int_eq(change.suspended_from.us, WALL);
}
END_TEST

START_TEST(far_dates_do_not_overflow)
{
	/* the last second of 9999, to the first of year 1 */
	const struct clock_reading last = { { TIMESTAMP_LAST * SEC }, { 0 },
	    { 0 } };
	const struct clock_reading now = { { TIMESTAMP_FIRST * SEC }, { SEC },
	    { SEC } };
	struct clock_change change;

	clock_classify(&last, &now, INT64_MAX, &change);
	ck_assert_int_eq(change.kind, CLOCK_BACK_LARGE);
	ck_assert_int_eq(change.step_us,
	    (TIMESTAMP_FIRST - TIMESTAMP_LAST - 1) * SEC);
}
END_TEST

static void
read_fixed(void *arg, struct clock_reading *out)
{
	*out = *(struct clock_reading *)arg;
}

START_TEST(injected_clock_is_read)
{
	struct clock_reading given = { { 1 }, { 2 }, { 3 } }, got;
	struct clock clock = { read_fixed, &given };

	clock_read(&clock, &got);
	ck_assert_int_eq(got.wall.us, 1);
	ck_assert_int_eq(got.boot.us, 2);
	ck_assert_int_eq(got.mono.us, 3);
}
END_TEST

START_TEST(system_clocks_go_forward_and_boot_is_ahead_of_mono)
{
	struct clock clock = { NULL, NULL };
	struct clock_reading first, second;

	clock_read(&clock, &first);
	clock_read(&clock, &second);
	ck_assert_int_ge(first.wall.us, WALL - 2 * 365 * 24 * HOUR);
	ck_assert_int_gt(first.mono.us, 0);
	ck_assert_int_ge(second.boot.us, first.boot.us);
	ck_assert_int_ge(second.mono.us, first.mono.us);
	/* read within 1 ms of each other */
	ck_assert_int_ge(first.boot.us, first.mono.us - MS);
}
END_TEST

Suite *clock_suite(void);

Suite *
clock_suite(void)
{
	Suite *suite = suite_create("clock");
	TCase *tcase = tcase_create("core");

	tcase_add_loop_test(tcase, change_is_classified, 0, 22);
	tcase_add_test(tcase, far_dates_do_not_overflow);
	tcase_add_test(tcase, injected_clock_is_read);
	tcase_add_test(tcase,
	    system_clocks_go_forward_and_boot_is_ahead_of_mono);
	suite_add_tcase(suite, tcase);
	return suite;
}

int
main(void)
{
	return check_main(clock_suite());
}
