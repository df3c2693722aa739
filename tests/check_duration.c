/* SPDX-License-Identifier: ISC */
/*
 * Durations and sizes of spec section 3; values by hand (1 h = 3,600,000 ms,
 * 1M = 1,048,576).
 */
#include "config.h"

#include "common/duration.h"

#include <check.h>
#include <string.h>

#include "tests/check_main.h"

#define ROWS(t) ((int)(sizeof t / sizeof *t))

static const struct good_row {
	const char	*text;	/* given */
	int64_t		 want;	/* ms, or bytes */
} good_durations[] = {
	{ "0", 0 },
	{ "90", 90000 },
	{ "90s", 90000 },
	{ "5m", 300000 },
	{ "2h", 7200000 },
	{ "1d", 86400000 },
	{ "1w", 604800000 },
	{ "250ms", 250 },
	{ "1h30m", 5400000 },
	{ "30m1h", 5400000 },
	{ "1w1d1h1m1s1ms", 694861001 },
	{ "007s", 7000 },
	{ "0s", 0 },
	{ "3660000d", INT64_C(316224000000000) },
}, good_sizes[] = {
	{ "0", 0 },
	{ "512", 512 },
	{ "10K", 10240 },
	{ "1M", 1048576 },
	{ "2G", INT64_C(2147483648) },
	{ "8589934591G", INT64_C(9223372035781033984) },
};

static const struct bad_row {
	const char	*text;	/* given */
	const char	*want;	/* the whole error */
} bad_durations[] = {
	{ "5 min", "\"5 min\" is not a duration; write 5m" },
	{ "1 hour", "\"1 hour\" is not a duration; write 1h" },
	{ "1.5h", "\"1.5h\" is not a duration; write 1h30m" },
	{ "2 hours and 30 minutes",
	    "\"2 hours and 30 minutes\" is not a duration; write 2h30m" },
	{ "1h, 5s", "\"1h, 5s\" is not a duration; write 1h5s" },
	{ "5M", "\"5M\" is not a duration; write 5m" },
	{ "1.5", "\"1.5\" is not a duration; write 1s500ms" },
	{ "0.0005s", "\"0.0005s\" is not a duration; write for example "
	    "90s, 5m or 1h30m" },
	{ "1m1m", "\"1m1m\" is not a duration; write 2m" },
	{ "1h30", "\"1h30\" is not a duration; write 1h30s" },
	{ "", "\"\" is not a duration; write for example 90s, 5m or 1h30m" },
	{ "-5m",
	    "\"-5m\" is not a duration; write for example 90s, 5m or 1h30m" },
	{ "m", "\"m\" is not a duration; write for example 90s, 5m or 1h30m" },
	{ "5x", "\"5x\" is not a duration; write for example 90s, 5m or "
	    "1h30m" },
	{ "1e3", "\"1e3\" is not a duration; write for example 90s, 5m or "
	    "1h30m" },
	{ "\t", "\"\\x09\" is not a duration; write for example 90s, 5m or "
	    "1h30m" },
	{ "3660000d1ms", "\"3660000d1ms\" is too long; write at most "
	    "3660000d" },
	{ "99999999999999999999", "\"99999999999999999999\" is too long; "
	    "write at most 3660000d" },
	{ "9223372036854775807w", "\"9223372036854775807w\" is too long; "
	    "write at most 3660000d" },
	{ "4294967296w", "\"4294967296w\" is too long; write at most "
	    "3660000d" },
}, bad_sizes[] = {
	{ "1 MB", "\"1 MB\" is not a size; write 1M" },
	{ "10k", "\"10k\" is not a size; write 10K" },
	{ "1.5M", "\"1.5M\" is not a size; write 1536K" },
	{ "1T", "\"1T\" is not a size; write 1024G" },
	{ "512 bytes", "\"512 bytes\" is not a size; write 512" },
	{ "1M5K", "\"1M5K\" is not a size; write 1029K" },
	{ "", "\"\" is not a size; write for example 4096, 10K, 1M or 2G" },
	{ "M", "\"M\" is not a size; write for example 4096, 10K, 1M or 2G" },
	{ "-1", "\"-1\" is not a size; write for example 4096, 10K, 1M or "
	    "2G" },
	{ "1X", "\"1X\" is not a size; write for example 4096, 10K, 1M or "
	    "2G" },
	{ "8589934592G", "\"8589934592G\" is too large; write at most "
	    "8589934591G" },
	{ "99999999999999999999", "\"99999999999999999999\" is too large; "
	    "write at most 8589934591G" },
};

START_TEST(reads_durations)
{
	const struct good_row *row = &good_durations[_i];
	struct error err = { "" };
	int64_t ms = -1;

	ck_assert_msg(duration_parse(row->text, strlen(row->text), &ms,
	    &err) == 0, "%s: %s", row->text, err.text);
	ck_assert_int_eq(ms, row->want);
	ck_assert_str_eq(err.text, "");
}
END_TEST

START_TEST(reads_sizes)
{
	const struct good_row *row = &good_sizes[_i];
	struct error err = { "" };
	int64_t bytes = -1;

	ck_assert_msg(size_parse(row->text, strlen(row->text), &bytes,
	    &err) == 0, "%s: %s", row->text, err.text);
	ck_assert_int_eq(bytes, row->want);
}
END_TEST

START_TEST(refuses_other_durations_and_says_what_to_write)
{
	const struct bad_row *row = &bad_durations[_i];
	struct error err = { "" };
	int64_t ms = -7;

	ck_assert_msg(duration_parse(row->text, strlen(row->text), &ms,
	    &err) == -1, "%s: accepted", row->text);
	ck_assert_str_eq(err.text, row->want);
	ck_assert_int_eq(ms, -7);
}
END_TEST

START_TEST(refuses_other_sizes_and_says_what_to_write)
{
	const struct bad_row *row = &bad_sizes[_i];
	struct error err = { "" };
	int64_t bytes = -7;

	ck_assert_msg(size_parse(row->text, strlen(row->text), &bytes,
	    &err) == -1, "%s: accepted", row->text);
	ck_assert_str_eq(err.text, row->want);
	ck_assert_int_eq(bytes, -7);
}
END_TEST

START_TEST(len_bounds_the_text)
{
	int64_t v = -1;

	ck_assert_int_eq(duration_parse("5m30s", 2, &v, NULL), 0);
	ck_assert_int_eq(v, 300000);
	ck_assert_int_eq(size_parse("10K", 2, &v, NULL), 0);
	ck_assert_int_eq(v, 10);
}
END_TEST

static const struct text_row {
	int64_t		 value;	/* given */
	const char	*want;	/* text */
} duration_texts[] = {
	{ 0, "0s" },
	{ 250, "250ms" },
	{ 5000, "5s" },
	{ 90000, "1m30s" },
	{ 5400000, "1h30m" },
	{ 604800000, "1w" },
	{ 691200000, "8d" },
	{ INT64_C(2592000000), "30d" },
	{ 694861001, "8d1h1m1s1ms" },
	{ DURATION_MAX_MS, "3660000d" },
}, human_texts[] = {
	{ 0, "0 ms" },
	{ 1, "1 ms" },
	{ 999, "999 ms" },
	{ 1000, "1 s" },
	{ 1999, "1 s" },
	{ 59999, "59 s" },
	{ 60000, "1 min" },
	{ 90000, "1 min 30 s" },
	{ 29520000, "8 h 12 min" },
	{ 3605000, "1 h" },
	{ 172800000, "2 d" },
	{ 176400000, "2 d 1 h" },
	{ -90000, "-1 min 30 s" },
	{ INT64_MIN, "-106751991167 d 7 h" },
}, size_texts[] = {
	{ 0, "0" },
	{ 1, "1" },
	{ 1023, "1023" },
	{ 1024, "1K" },
	{ 1536, "1536" },
	{ 1048576, "1M" },
	{ INT64_C(2147483648), "2G" },
	{ INT64_C(1) << 40, "1024G" },
};

START_TEST(writes_durations)
{
	const struct text_row *row = &duration_texts[_i];
	char text[DURATION_MAX_LEN];
	int64_t back = -1;

	duration_format(text, row->value);
	ck_assert_str_eq(text, row->want);
	ck_assert_int_eq(duration_parse(text, strlen(text), &back, NULL), 0);
	ck_assert_int_eq(back, row->value);
}
END_TEST

START_TEST(writes_durations_for_people)
{
	char text[DURATION_MAX_LEN];

	duration_format_human(text, human_texts[_i].value);
	ck_assert_str_eq(text, human_texts[_i].want);
}
END_TEST

START_TEST(writes_sizes)
{
	char text[DURATION_MAX_LEN];
	int64_t back = -1;

	size_format(text, size_texts[_i].value);
	ck_assert_str_eq(text, size_texts[_i].want);
	ck_assert_int_eq(size_parse(text, strlen(text), &back, NULL), 0);
	ck_assert_int_eq(back, size_texts[_i].value);
}
END_TEST

static Suite *
duration_suite(void)
{
	Suite *s = suite_create("duration");
	TCase *tc = tcase_create("duration");

	tcase_add_loop_test(tc, reads_durations, 0, ROWS(good_durations));
	tcase_add_loop_test(tc, reads_sizes, 0, ROWS(good_sizes));
	tcase_add_loop_test(tc, refuses_other_durations_and_says_what_to_write,
	    0, ROWS(bad_durations));
	tcase_add_loop_test(tc, refuses_other_sizes_and_says_what_to_write, 0,
	    ROWS(bad_sizes));
	tcase_add_test(tc, len_bounds_the_text);
	tcase_add_loop_test(tc, writes_durations, 0, ROWS(duration_texts));
	tcase_add_loop_test(tc, writes_durations_for_people, 0,
	    ROWS(human_texts));
	tcase_add_loop_test(tc, writes_sizes, 0, ROWS(size_texts));
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return check_main(duration_suite());
}
