/* SPDX-License-Identifier: ISC */
/*
 * Faults that users reported in other crons: schedule maths, daylight saving,
 * parsing.  The names of the tests carry the numbers of the reports (b001 is
 * B001).  Times are UTC; the right answers are those of the reports, or
 * worked out by hand from a calendar.
 */
#include "config.h"

#include "common/cronexpr.h"

#include <check.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/timestamp.h"
#include "common/zone.h"
#include "tests/check_main.h"

#define HOUR	INT64_C(3600)
#define DAY	INT64_C(86400)

static const struct cronexpr_rules usual = { DST_GAP_RUN, DST_FOLD_FIRST };

/* "2026-11-30 07:00" or with ":SS" behind it, UTC. */
static int64_t
utc(const char *text)
{
	struct civil c = { 0 };
	int year;

	ck_assert_int_ge(sscanf(text, "%d-%d-%d %d:%d:%d", &year, &c.month,
	    &c.day, &c.hour, &c.minute, &c.second), 5);
	c.year = year;
	return civil_seconds(&c);
}

static struct cronexpr *
must_parse(const char *text)
{
	struct error err = { "" };
	struct cronexpr *x = cronexpr_parse(text, strlen(text), NULL, &err);

	ck_assert_msg(x != NULL, "%s: %s", text, err.text);
	return x;
}

static struct zone *
must_load(const char *name)
{
	struct error err = { "" };
	struct zone *z = zone_load(name, &err);

	ck_assert_msg(z != NULL, "%s", err.text);
	return z;
}

/* The fires after an instant are these, up to a NULL; "never" is one. */
static void
fires(const char *expr, const char *zone, const char *after, ...)
{
	struct cronexpr *x = must_parse(expr);
	struct zone *z = must_load(zone);
	int64_t t = utc(after), next;
	const char *want;
	va_list ap;

	va_start(ap, after);
	while ((want = va_arg(ap, const char *)) != NULL) {
		bool found = cronexpr_next(x, z, usual, t, &next);

		if (strcmp(want, "never") == 0) {
			ck_assert_msg(!found, "%s: %" PRId64, expr, next);
			break;
		}
		ck_assert_msg(found && next == utc(want), "%s after %" PRId64
		    ": %" PRId64 ", want %s", expr, t, found ? next : -1,
		    want);
		t = next;
	}
	va_end(ap);
	zone_unref(z);
	cronexpr_free(x);
}

static int
count(const char *expr, const char *zone, const char *from, const char *to)
{
	struct cronexpr *x = must_parse(expr);
	struct zone *z = must_load(zone);
	int64_t t = utc(from);
	int n = 0;

	while (cronexpr_next(x, z, usual, t, &t) && t <= utc(to))
		n++;
	zone_unref(z);
	cronexpr_free(x);
	return n;
}

static void
refuses(const char *expr, const char *says)
{
	struct error err = { "" };

	ck_assert_msg(cronexpr_parse(expr, strlen(expr), NULL, &err) == NULL,
	    "%s is accepted", expr);
	ck_assert_msg(strstr(err.text, says) != NULL, "%s: %s", expr,
	    err.text);
}

/* --- schedule maths ---------------------------------------------------- */

START_TEST(b001_month_not_skipped_from_the_31st)
{
	fires("0 0 ? 11-12 *", "UTC", "2022-10-31 00:00", "2022-11-01 00:00",
	    "2022-11-02 00:00", "2022-11-03 00:00", NULL);
}
END_TEST

START_TEST(b003_step_in_day_of_month_meets_1_march)
{
	fires("0 0 */10 * *", "UTC", "2020-12-31 23:59", "2021-01-01 00:00",
	    "2021-01-11 00:00", "2021-01-21 00:00", "2021-01-31 00:00",
	    "2021-02-01 00:00", "2021-02-11 00:00", "2021-02-21 00:00",
	    "2021-03-01 00:00", "2021-03-11 00:00", NULL);
}
END_TEST

START_TEST(b004_next_29_february_is_found_on_one)
{
	fires("0 9 29 2 *", "UTC", "2016-02-29 09:00", "2020-02-29 09:00",
	    NULL);
}
END_TEST

START_TEST(b006_no_time_is_made_up)
{
	fires("0 0 29 2 *", "UTC", "2025-03-01 00:00", "2028-02-29 00:00",
	    NULL);
	fires("0 0 31 2 *", "UTC", "2025-03-01 00:00", "never", NULL);
}
END_TEST

START_TEST(b007_impossible_date_is_never)
{
	fires("0 0 31 2 *", "UTC", "2026-11-30 00:00", "never", NULL);
	fires("0 0 30,31 2 *", "Europe/Berlin", "2026-11-30 00:00", "never",
	    NULL);
	fires("0 0 31 4,6,9,11 *", "UTC", "2026-11-30 00:00", "never", NULL);
}
END_TEST

START_TEST(b009_dates_after_2100_are_reached)
{
	fires("0 0 15 6 *", "UTC", "2150-07-01 00:00", "2151-06-15 00:00",
	    NULL);
	fires("0 0 15 6 *", "UTC", "2100-01-01 00:00", "2100-06-15 00:00",
	    NULL);
	fires("0 0 29 2 *", "UTC", "2096-02-29 00:00", "2104-02-29 00:00",
	    NULL);
	fires("0 0 1 1 *", "Europe/Berlin", "9997-06-01 00:00",
	    "9997-12-31 23:00", "9998-12-31 23:00", "9999-12-31 23:00",
	    "never", NULL);
}
END_TEST

START_TEST(b010_step_of_one_goes_to_the_end)
{
	fires("40 14/1 * * *", "UTC", "2016-10-19 14:39", "2016-10-19 14:40",
	    "2016-10-19 15:40", "2016-10-19 16:40", NULL);
	fires("40 14/1 * * *", "UTC", "2016-10-19 22:40", "2016-10-19 23:40",
	    "2016-10-20 14:40", NULL);
}
END_TEST

START_TEST(b011_step_in_day_of_month_starts_over)
{
	fires("25 23 */3 * *", "UTC", "2020-09-28 23:26", "2020-10-01 23:25",
	    "2020-10-04 23:25", NULL);
}
END_TEST

START_TEST(b013_offset_of_another_month_is_its_own)
{
	/* 1423976400 and 1427860800 in the report. */
	fires("* * * */3 *", "America/New_York", "2015-02-15 05:00",
	    "2015-04-01 04:00", NULL);
}
END_TEST

START_TEST(b015_step_in_day_of_week_counts)
{
	fires("0 0 * * */2", "UTC", "2026-01-02 00:00", "2026-01-03 00:00",
	    "2026-01-04 00:00", "2026-01-06 00:00", "2026-01-08 00:00",
	    "2026-01-10 00:00", NULL);
}
END_TEST

START_TEST(b016_weekly_is_its_text)
{
	fires("@weekly", "UTC", "2026-11-30 00:00", "2026-12-06 00:00",
	    "2026-12-13 00:00", NULL);
	fires("0 0 * * 0", "UTC", "2026-11-30 00:00", "2026-12-06 00:00",
	    "2026-12-13 00:00", NULL);
}
END_TEST

/* Down from Friday 15:00 to Monday 09:00: one fire, not a count of gaps. */
START_TEST(b017_fires_in_a_stretch_are_the_real_ones)
{
	fires("30 6-16/4 * * 1-5", "UTC", "2026-11-27 15:00",
	    "2026-11-30 06:30", "2026-11-30 10:30", NULL);
	ck_assert_int_eq(count("30 6-16/4 * * 1-5", "UTC",
	    "2026-11-27 15:00", "2026-11-30 09:00"), 1);
}
END_TEST

START_TEST(b018_last_friday_is_the_last)
{
	fires("0 0 * * 5L", "UTC", "2024-07-11 00:00", "2024-07-26 00:00",
	    "2024-08-30 00:00", NULL);
}
END_TEST

START_TEST(b020_either_day_field_makes_a_match)
{
	fires("5 0 29 2 1", "UTC", "2028-02-01 00:00", "2028-02-07 00:05",
	    "2028-02-14 00:05", "2028-02-21 00:05", "2028-02-28 00:05",
	    "2028-02-29 00:05", NULL);
	fires("5,35 * 29 2 1", "UTC", "2026-02-01 00:00", "2026-02-02 00:05",
	    "2026-02-02 00:35", NULL);
}
END_TEST

START_TEST(b021_weekday_range_holds_on_29_february)
{
	fires("0 * * * 1-5", "UTC", "2016-02-29 11:00", "2016-02-29 12:00",
	    "2016-02-29 13:00", NULL);
}
END_TEST

START_TEST(b022_words_are_what_they_say)
{
	fires("@monthly", "UTC", "2024-01-31 23:59:59", "2024-02-01 00:00",
	    "2024-03-01 00:00", NULL);
	fires("@yearly", "UTC", "2024-01-31 23:59:59", "2025-01-01 00:00",
	    "2026-01-01 00:00", NULL);
	fires("@annually", "UTC", "2024-01-31 23:59:59", "2025-01-01 00:00",
	    NULL);
	fires("@daily", "UTC", "2024-01-31 23:59:59", "2024-02-01 00:00",
	    "2024-02-02 00:00", NULL);
	fires("@midnight", "UTC", "2024-01-31 23:59:59", "2024-02-01 00:00",
	    NULL);
	fires("@hourly", "UTC", "2024-01-31 23:59:59", "2024-02-01 00:00",
	    "2024-02-01 01:00", NULL);
}
END_TEST

/* --- daylight saving --------------------------------------------------- */

START_TEST(b023_autumn_fires_once)
{
	fires("0 2 * * *", "Europe/Berlin", "2023-10-28 12:00",
	    "2023-10-29 00:00", "2023-10-30 01:00", NULL);
}
END_TEST

START_TEST(b025_a_gap_does_not_lose_the_day)
{
	fires("30 2/4 * * *", "Australia/Sydney", "2019-10-05 14:00",
	    "2019-10-05 16:00", "2019-10-05 19:30", "2019-10-05 23:30",
	    "2019-10-06 03:30", "2019-10-06 07:30", "2019-10-06 11:30",
	    "2019-10-06 15:30", NULL);
}
END_TEST

START_TEST(b026_every_minute_goes_on_in_a_repeated_hour)
{
	ck_assert_int_eq(count("* * * * *", "Europe/Berlin",
	    "2023-10-29 00:58", "2023-10-29 03:58"), 180);
}
END_TEST

START_TEST(b028_skipped_midnight_keeps_its_day)
{
	fires("0 0 1 4 11 *", "America/Sao_Paulo", "2018-11-04 02:00",
	    "2018-11-04 03:00", NULL);
	fires("30 0 4 11 *", "America/Sao_Paulo", "2018-11-04 02:00",
	    "2018-11-04 03:00", NULL);
}
END_TEST

START_TEST(b030_utc_has_no_daylight_saving)
{
	fires("30 1 * * *", "UTC", "2022-10-29 12:00", "2022-10-30 01:30",
	    "2022-10-31 01:30", NULL);
}
END_TEST

/* From every second around a change the next one is later, and never two. */
START_TEST(b031_next_is_always_later)
{
	static const char *const exprs[] = {
		"30 2 * * *", "*/15 * * * *", "0 3 * * *", "0 0 * * *",
		"* * * * * *", "59 59 1 * * *"
	};
	struct cronexpr *x = must_parse(exprs[_i]);
	struct zone *z = must_load("Europe/Berlin");
	const int64_t changes[] = {
		utc("2023-03-26 01:00"), utc("2023-10-29 01:00")
	};

	for (int c = 0; c < 2; c++) {
		int64_t first = changes[c] - 2 * HOUR, fire, next;

		ck_assert(cronexpr_next(x, z, usual, first, &fire));
		for (int64_t t = first; t < changes[c] + 2 * HOUR; t++) {
			ck_assert(cronexpr_next(x, z, usual, t, &next));
			ck_assert_int_gt(next, t);
			/* It stays the same one until it has come. */
			if (t < fire)
				ck_assert_int_eq(next, fire);
			fire = next;
		}
	}
	zone_unref(z);
	cronexpr_free(x);
}
END_TEST

START_TEST(b033_the_first_stays_the_first)
{
	ck_assert_int_eq(count("30 * 1 * *", "Europe/London",
	    "2023-01-22 00:00", "2023-04-30 12:00"), 3 * 24);
	fires("30 0 1 * *", "Europe/London", "2023-01-22 00:00",
	    "2023-02-01 00:30", "2023-03-01 00:30", "2023-03-31 23:30",
	    NULL);
	fires("30 23 1 * *", "Europe/London", "2023-03-22 00:00",
	    "2023-04-01 22:30", NULL);
}
END_TEST

START_TEST(b035_fixed_times_once_a_day_intervals_always)
{
	ck_assert_int_eq(count("30 1 * * *", "Europe/Madrid",
	    "2023-01-01 00:00", "2024-01-01 00:00"), 365);
	ck_assert_int_eq(count("30 2 * * *", "Europe/Madrid",
	    "2023-01-01 00:00", "2024-01-01 00:00"), 365);
	ck_assert_int_eq(count("30 * * * *", "Europe/Madrid",
	    "2023-01-01 00:00", "2024-01-01 00:00"), 365 * 24);
}
END_TEST

START_TEST(b036_no_hour_is_lost_in_autumn)
{
	ck_assert_int_eq(count("0 * * * * * *", "Europe/London",
	    "2025-10-26 00:59:00", "2025-10-26 02:59:00"), 120);
	fires("0 * * * * * *", "Europe/London", "2025-10-26 00:59:00",
	    "2025-10-26 01:00:00", "2025-10-26 01:01:00", NULL);
}
END_TEST

START_TEST(b128_next_is_ahead_in_every_sort_of_zone)
{
	static const char *const zones[] = {
		"Pacific/Kiritimati", "Pacific/Niue", "Asia/Kathmandu",
		"America/St_Johns", "Australia/Lord_Howe", "Europe/Dublin",
		"Africa/Casablanca", "Antarctica/Troll", "Asia/Gaza",
		"America/Santiago", "Pacific/Chatham", "Africa/Cairo"
	};
	struct cronexpr *x = must_parse("0 0 * * *");
	struct zone *z = must_load(zones[_i]);
	int64_t t = utc("2025-12-31 12:00"), next;

	for (int i = 0; i < 365; i++) {
		ck_assert(cronexpr_next(x, z, usual, t, &next));
		ck_assert_int_ge(next - t, i == 0 ? 1 : 22 * HOUR);
		ck_assert_int_le(next - t, 26 * HOUR);
		t = next;
	}
	zone_unref(z);
	cronexpr_free(x);
}
END_TEST

/* --- parsing ----------------------------------------------------------- */

START_TEST(b102_plain_ranges_and_steps_are_valid)
{
	fires("1 16 * * 1-5", "UTC", "2026-11-28 00:00", "2026-11-30 16:01",
	    NULL);
	fires("*/5 * * * *", "UTC", "2026-11-30 00:01", "2026-11-30 00:05",
	    NULL);
}
END_TEST

START_TEST(b104_ranges_may_end_in_sunday)
{
	static const char *const exprs[] = {
		"0 0 * * 5-7", "0 0 * * FRI-SUN", "0 0 * * fri-sun"
	};

	for (int i = 0; i < 3; i++)
		fires(exprs[i], "UTC", "2026-11-30 00:00",
		    "2026-12-04 00:00", "2026-12-05 00:00",
		    "2026-12-06 00:00", "2026-12-11 00:00", NULL);
	ck_assert_int_eq(count("0 0 * * MON-SUN", "UTC", "2026-11-30 00:00",
	    "2026-12-07 00:00"), 7);
}
END_TEST

START_TEST(b105_steps_of_nothing_are_refused)
{
	refuses("*/ * * * *", "minute field, column 3");
	refuses("7-9/0 * * * *", "minute field, column 5");
	refuses("*/0 * * * *", "minute field, column 3");
}
END_TEST

START_TEST(b108_all_mixtures_are_checked)
{
	refuses("1-60/2 * * * *", "60 is not within 0-59");
	refuses("1-99/2 * * * *", "99 is not within 0-59");
	refuses("0 0 0-31 * *", "0 is not within 1-31");
	refuses("60/5 * * * *", "60 is not within 0-59");
	refuses("1,2-3,4/5,60 * * * *", "column 11: 60 is not within 0-59");
}
END_TEST

START_TEST(b109_value_with_a_step_goes_to_the_end)
{
	fires("5/15 * * * *", "UTC", "2026-11-30 00:00", "2026-11-30 00:05",
	    "2026-11-30 00:20", "2026-11-30 00:35", "2026-11-30 00:50",
	    "2026-11-30 01:05", NULL);
}
END_TEST

START_TEST(b110_six_fields_begin_with_seconds)
{
	fires("5 * * * * *", "UTC", "2026-11-30 00:00", "2026-11-30 00:00:05",
	    "2026-11-30 00:01:05", NULL);
	ck_assert_int_eq(count("5 * * * * *", "UTC", "2026-11-01 00:00",
	    "2026-11-30 00:00"), 29 * 1440);
}
END_TEST

START_TEST(b112_day_0_is_refused_and_wide_steps_are_not)
{
	refuses("* * 0 * *", "day of month field, column 5: 0 is not within "
	    "1-31");
	fires("*/90 * * * *", "UTC", "2026-11-30 00:00", "2026-11-30 01:00",
	    "2026-11-30 02:00", NULL);
}
END_TEST

START_TEST(b113_months_and_days_count_from_1)
{
	fires("0 0 1 */2 *", "UTC", "2026-01-01 00:00", "2026-03-01 00:00",
	    "2026-05-01 00:00", "2026-07-01 00:00", "2026-09-01 00:00",
	    "2026-11-01 00:00", "2027-01-01 00:00", NULL);
	fires("0 0 1 */3 *", "UTC", "2026-01-01 00:00", "2026-04-01 00:00",
	    "2026-07-01 00:00", "2026-10-01 00:00", "2027-01-01 00:00", NULL);
}
END_TEST

START_TEST(b114_wrapping_ranges_are_refused_with_a_way_out)
{
	refuses("0 22-2 * * *", "write 22-23,0-2");
	refuses("0 17-2/3 * * *", "write 17-23/3,2");
	refuses("58-2/2 * * * *", "write 58-59/2,0-2/2");
}
END_TEST

START_TEST(b116_list_is_not_made_a_step)
{
	fires("0 10 * * 1,3,5", "UTC", "2026-11-28 12:00",
	    "2026-11-30 10:00", "2026-12-02 10:00", "2026-12-04 10:00",
	    "2026-12-07 10:00", NULL);
}
END_TEST

static Suite *
cronexpr_reports_suite(void)
{
	Suite *s = suite_create("cronexpr_reports");
	TCase *t = tcase_create("maths");

	tcase_add_test(t, b001_month_not_skipped_from_the_31st);
	tcase_add_test(t, b003_step_in_day_of_month_meets_1_march);
	tcase_add_test(t, b004_next_29_february_is_found_on_one);
	tcase_add_test(t, b006_no_time_is_made_up);
	tcase_add_test(t, b007_impossible_date_is_never);
	tcase_add_test(t, b009_dates_after_2100_are_reached);
	tcase_add_test(t, b010_step_of_one_goes_to_the_end);
	tcase_add_test(t, b011_step_in_day_of_month_starts_over);
	tcase_add_test(t, b013_offset_of_another_month_is_its_own);
	tcase_add_test(t, b015_step_in_day_of_week_counts);
	tcase_add_test(t, b016_weekly_is_its_text);
	tcase_add_test(t, b017_fires_in_a_stretch_are_the_real_ones);
	tcase_add_test(t, b018_last_friday_is_the_last);
	tcase_add_test(t, b020_either_day_field_makes_a_match);
	tcase_add_test(t, b021_weekday_range_holds_on_29_february);
	tcase_add_test(t, b022_words_are_what_they_say);
	suite_add_tcase(s, t);
	t = tcase_create("daylight saving");
	tcase_add_test(t, b023_autumn_fires_once);
	tcase_add_test(t, b025_a_gap_does_not_lose_the_day);
	tcase_add_test(t, b026_every_minute_goes_on_in_a_repeated_hour);
	tcase_add_test(t, b028_skipped_midnight_keeps_its_day);
	tcase_add_test(t, b030_utc_has_no_daylight_saving);
	tcase_add_loop_test(t, b031_next_is_always_later, 0, 6);
	tcase_add_test(t, b033_the_first_stays_the_first);
	tcase_add_test(t, b035_fixed_times_once_a_day_intervals_always);
	tcase_add_test(t, b036_no_hour_is_lost_in_autumn);
	tcase_add_loop_test(t, b128_next_is_ahead_in_every_sort_of_zone, 0,
	    12);
	suite_add_tcase(s, t);
	t = tcase_create("parsing");
	tcase_add_test(t, b102_plain_ranges_and_steps_are_valid);
	tcase_add_test(t, b104_ranges_may_end_in_sunday);
	tcase_add_test(t, b105_steps_of_nothing_are_refused);
	tcase_add_test(t, b108_all_mixtures_are_checked);
	tcase_add_test(t, b109_value_with_a_step_goes_to_the_end);
	tcase_add_test(t, b110_six_fields_begin_with_seconds);
	tcase_add_test(t, b112_day_0_is_refused_and_wide_steps_are_not);
	tcase_add_test(t, b113_months_and_days_count_from_1);
	tcase_add_test(t, b114_wrapping_ranges_are_refused_with_a_way_out);
	tcase_add_test(t, b116_list_is_not_made_a_step);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return check_main(cronexpr_reports_suite());
}
