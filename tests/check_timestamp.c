/* SPDX-License-Identifier: ISC */
/*
 * The calendar and the clocks.  Instants from date(1) of GNU coreutils with
 * TZ=UTC; weekdays and leap years from the Gregorian rules.
 */
#include "config.h"

#include "common/timestamp.h"

#include <check.h>
#include <string.h>

#include "tests/check_main.h"

#define ROWS(t) ((int)(sizeof t / sizeof *t))

static const struct instant_row {
	struct civil	 civil;		/* date and time */
	int64_t		 seconds;	/* since 1970 UTC */
	int		 weekday;	/* 0 = Sunday */
} instant_rows[] = {
	{ { 1970, 1, 1, 0, 0, 0 }, 0, 4 },
	{ { 1969, 12, 31, 23, 59, 59 }, -1, 3 },
	{ { 1970, 1, 2, 0, 0, 0 }, 86400, 5 },
	{ { 2000, 2, 29, 12, 34, 56 }, 951827696, 2 },
	{ { 2000, 3, 1, 0, 0, 0 }, 951868800, 3 },
	{ { 1900, 2, 28, 23, 59, 59 }, INT64_C(-2203891201), 3 },
	{ { 1900, 3, 1, 0, 0, 0 }, INT64_C(-2203891200), 4 },
	{ { 2026, 11, 30, 18, 47, 24 }, 1796064444, 1 },
	{ { 2038, 1, 19, 3, 14, 8 }, INT64_C(2147483648), 2 },
	{ { 2100, 2, 28, 0, 0, 0 }, INT64_C(4107456000), 0 },
	{ { 2100, 3, 1, 0, 0, 0 }, INT64_C(4107542400), 1 },
	{ { 1, 1, 1, 0, 0, 0 }, TIMESTAMP_FIRST, 1 },
	{ { 9999, 12, 31, 23, 59, 59 }, TIMESTAMP_LAST, 5 },
};

START_TEST(dates_and_seconds_agree)
{
	const struct instant_row *row = &instant_rows[_i];
	struct civil back;
	int64_t days = civil_days(row->civil.year, row->civil.month,
	    row->civil.day);

	ck_assert_int_eq(civil_seconds(&row->civil), row->seconds);
	ck_assert_int_eq(civil_weekday(days), row->weekday);
	memset(&back, 0xff, sizeof back);
	civil_from_seconds(&back, row->seconds);
	ck_assert_int_eq(back.year, row->civil.year);
	ck_assert_int_eq(back.month, row->civil.month);
	ck_assert_int_eq(back.day, row->civil.day);
	ck_assert_int_eq(back.hour, row->civil.hour);
	ck_assert_int_eq(back.minute, row->civil.minute);
	ck_assert_int_eq(back.second, row->civil.second);
}
END_TEST

/* Walks every day with the rules of a school book. */
START_TEST(every_day_of_eight_centuries_follows_the_one_before)
{
	int64_t n = civil_days(1600, 1, 1);
	int weekday = 6, bad = 0;	/* 1600-01-01 was a Saturday */

	for (int year = 1600; year < 2400; year++) {
		for (int month = 1; month <= 12; month++) {
			int days = civil_month_days(year, month);

			for (int day = 1; day <= days; day++, n++) {
				bad += civil_days(year, month, day) != n;
				bad += civil_weekday(n) != weekday;
				weekday = (weekday + 1) % 7;
			}
		}
	}
	ck_assert_int_eq(bad, 0);
}
END_TEST

START_TEST(months_have_their_days)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31,
		30, 31 };

	for (int month = 1; month <= 12; month++)
		ck_assert_int_eq(civil_month_days(2025, month),
		    days[month - 1]);
	ck_assert_int_eq(civil_month_days(2024, 2), 29);
	ck_assert_int_eq(civil_month_days(2100, 2), 28);
	ck_assert_int_eq(civil_month_days(2000, 2), 29);
}
END_TEST

START_TEST(leap_years)
{
	static const struct {
		int64_t	year;	/* asked */
		bool	want;	/* is one */
	} rows[] = {
		{ 2024, true }, { 2025, false }, { 1900, false },
		{ 2000, true }, { 2100, false }, { 2400, true },
		{ 0, true }, { -4, true }, { -100, false }, { -400, true },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		ck_assert_int_eq(civil_is_leap(rows[i].year), rows[i].want);
}
END_TEST

static const struct format_row {
	int64_t		 seconds;	/* since 1970 UTC */
	int32_t		 offset;	/* seconds east */
	bool		 utc;		/* as UTC */
	const char	*want;		/* RFC 3339 */
} format_rows[] = {
	{ 0, 0, true, "1970-01-01T00:00:00Z" },
	{ 0, 3600, true, "1970-01-01T00:00:00Z" },
	{ 0, 0, false, "1970-01-01T00:00:00+00:00" },
	{ 1796060844, 3600, false, "2026-11-30T18:47:24+01:00" },
	{ 0, -18000, false, "1969-12-31T19:00:00-05:00" },
	{ 0, 20700, false, "1970-01-01T05:45:00+05:45" },
	{ 0, -12600, false, "1969-12-31T20:30:00-03:30" },
	/* Local mean time of Berlin before 1893. */
	{ 0, 3208, false, "1970-01-01T00:53:28+00:53:28" },
	{ TIMESTAMP_FIRST, 0, true, "0001-01-01T00:00:00Z" },
	{ TIMESTAMP_LAST, 0, true, "9999-12-31T23:59:59Z" },
};

START_TEST(instants_are_written_as_rfc_3339)
{
	const struct format_row *row = &format_rows[_i];
	char text[TIMESTAMP_MAX];

	timestamp_format(text, row->seconds, row->offset, row->utc);
	ck_assert_str_eq(text, row->want);
}
END_TEST

static const struct round_row {
	int64_t	us;	/* microseconds */
	int64_t	down;	/* seconds */
	int64_t	up;	/* seconds */
} round_rows[] = {
	{ 0, 0, 0 },
	{ 1, 0, 1 },
	{ 999999, 0, 1 },
	{ 1000000, 1, 1 },
	{ 1000001, 1, 2 },
	{ -1, -1, 0 },
	{ -1000000, -1, -1 },
	{ -1000001, -2, -1 },
};

START_TEST(seconds_are_rounded_the_right_way)
{
	struct walltime t = { round_rows[_i].us };

	ck_assert_int_eq(walltime_seconds(t), round_rows[_i].down);
	ck_assert_int_eq(walltime_seconds_up(t), round_rows[_i].up);
}
END_TEST

START_TEST(clocks_go_forward_and_agree)
{
	struct boottime b = boottime_now();
	struct monotime m = monotime_now();
	struct walltime w = walltime_now();

	/* After 2023, and boot includes suspend. */
	ck_assert_int_gt(w.us, INT64_C(1672531200) * USEC_PER_SEC);
	ck_assert_int_ge(monotime_now().us, m.us);
	ck_assert_int_ge(boottime_now().us, b.us);
	ck_assert_int_ge(boottime_now().us, m.us);
}
END_TEST

static Suite *
timestamp_suite(void)
{
	Suite *s = suite_create("timestamp");
	TCase *tc = tcase_create("timestamp");

	tcase_add_loop_test(tc, dates_and_seconds_agree, 0,
	    ROWS(instant_rows));
	tcase_add_test(tc,
	    every_day_of_eight_centuries_follows_the_one_before);
	tcase_add_test(tc, months_have_their_days);
	tcase_add_test(tc, leap_years);
	tcase_add_loop_test(tc, instants_are_written_as_rfc_3339, 0,
	    ROWS(format_rows));
	tcase_add_loop_test(tc, seconds_are_rounded_the_right_way, 0,
	    ROWS(round_rows));
	tcase_add_test(tc, clocks_go_forward_and_agree);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return check_main(timestamp_suite());
}
