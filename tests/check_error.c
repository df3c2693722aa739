/* SPDX-License-Identifier: ISC */
/* Errors as sentences: what fits, what is cut and where. */
#include "config.h"

#include "common/error.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check_main.h"

START_TEST(set_fills_and_returns_minus_one)
{
	struct error err = { "old" };

	ck_assert_int_eq(error_set(&err, "%s is %d", "x", 5), -1);
	ck_assert_str_eq(err.text, "x is 5");
}
END_TEST

START_TEST(null_is_allowed)
{
	ck_assert_int_eq(error_set(NULL, "x"), -1);
	ck_assert_int_eq(error_set_errno(NULL, ENOENT, "x"), -1);
	ck_assert_int_eq(error_prefix(NULL, "x"), -1);
}
END_TEST

START_TEST(errno_is_appended)
{
	struct error err;

	/* The words of errno(3) in the GNU C library. */
	ck_assert_int_eq(error_set_errno(&err, ENOENT, "open %s", "/x"), -1);
	ck_assert_str_eq(err.text, "open /x: No such file or directory");
	error_set_errno(&err, 99999, "open");
	ck_assert_str_eq(err.text, "open: unknown error");
}
END_TEST

START_TEST(prefix_goes_in_front)
{
	struct error err;

	error_set(&err, "no such key");
	ck_assert_int_eq(error_prefix(&err, "[%s]", "job"), -1);
	ck_assert_int_eq(error_prefix(&err, "%s:%d", "a.ini", 3), -1);
	ck_assert_str_eq(err.text, "a.ini:3: [job]: no such key");
}
END_TEST

START_TEST(longest_that_fits_is_whole)
{
	char text[ERROR_MAX];
	struct error err;

	memset(text, 'x', sizeof text);
	text[ERROR_MAX - 1] = '\0';
	error_set(&err, "%s", text);
	ck_assert_str_eq(err.text, text);
}
END_TEST

START_TEST(too_long_is_cut_and_marked)
{
	char text[2 * ERROR_MAX];
	struct error err;

	memset(text, 'x', sizeof text);
	text[ERROR_MAX] = '\0';
	error_set(&err, "%s", text);
	ck_assert_uint_eq(strlen(err.text), ERROR_MAX - 1);
	ck_assert_str_eq(err.text + ERROR_MAX - 5, "x...");
}
END_TEST

START_TEST(too_long_is_cut_between_characters)
{
	/* Three bytes each, after _i bytes of one: all ways to be cut. */
	char text[2 * ERROR_MAX] = "";
	struct error err;
	size_t len;

	for (int i = 0; i < _i; i++)
		strcat(text, "x");
	for (int i = 0; i < ERROR_MAX / 3 + 1; i++)
		strcat(text, "\xe2\x82\xac");
	error_set(&err, "%s", text);
	len = strlen(err.text);
	ck_assert_str_eq(err.text + len - 3, "...");
	ck_assert_uint_eq((len - 3 - (size_t)_i) % 3, 0);
}
END_TEST

START_TEST(prefix_of_a_full_error_is_cut)
{
	char text[ERROR_MAX];
	struct error err;

	memset(text, 'x', sizeof text);
	text[ERROR_MAX - 1] = '\0';
	error_set(&err, "%s", text);
	error_prefix(&err, "%s", text);
	ck_assert_uint_eq(strlen(err.text), ERROR_MAX - 1);
	error_set_errno(&err, ENOENT, "%s", text);
	ck_assert_uint_eq(strlen(err.text), ERROR_MAX - 1);
}
END_TEST

static const struct quote_row {
	const char	*text;	/* given */
	size_t		 len;	/* of text */
	const char	*want;	/* shown */
} quote_rows[] = {
	{ "", 0, "\"\"" },
	{ "5 min", 5, "\"5 min\"" },
	{ "5 min", 1, "\"5\"" },
	{ "\xc3\xa4", 2, "\"\xc3\xa4\"" },
	{ "a\nb\x1b\x7f", 5, "\"a\\x0a" "b\\x1b\\x7f\"" },
	{ "\0", 1, "\"\\x00\"" },
	{ "\xff\xe2\x82", 3, "\"\\xff\\xe2\\x82\"" },
};

START_TEST(b122_quoted_values_hold_no_control_characters)
{
	char buf[ERROR_QUOTE_MAX];

	ck_assert_ptr_eq(error_quote(buf, quote_rows[_i].text,
	    quote_rows[_i].len), buf);
	ck_assert_str_eq(buf, quote_rows[_i].want);
}
END_TEST

START_TEST(long_values_are_cut_within_the_buffer)
{
	static const char *const parts[] = { "x", "\x01", "\xe2\x82\xac",
	    "\xff", "\xf0\x9f\x98\x80" };
	char *buf = malloc(ERROR_QUOTE_MAX), text[1024];

	for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
		size_t n = strlen(parts[p]);

		for (size_t i = 0; i + n <= sizeof text; i += n)
			memcpy(text + i, parts[p], n);
		for (size_t len = 0; len + n <= sizeof text; len += n) {
			error_quote(buf, text, len);
			ck_assert_uint_lt(strlen(buf), ERROR_QUOTE_MAX);
			ck_assert(strstr(buf, "...\"") != NULL ||
			    strlen(buf) >= len + 2);
		}
		ck_assert_str_eq(buf + strlen(buf) - 4, "...\"");
	}
	free(buf);
}
END_TEST

static Suite *
error_suite(void)
{
	Suite *s = suite_create("error");
	TCase *tc = tcase_create("error");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, set_fills_and_returns_minus_one);
	tcase_add_test(tc, null_is_allowed);
	tcase_add_test(tc, errno_is_appended);
	tcase_add_test(tc, prefix_goes_in_front);
	tcase_add_test(tc, longest_that_fits_is_whole);
	tcase_add_test(tc, too_long_is_cut_and_marked);
	tcase_add_loop_test(tc, too_long_is_cut_between_characters, 0, 4);
	tcase_add_test(tc, prefix_of_a_full_error_is_cut);
	tcase_add_loop_test(tc, b122_quoted_values_hold_no_control_characters,
	    0, (int)(sizeof quote_rows / sizeof *quote_rows));
	tcase_add_test(tc, long_values_are_cut_within_the_buffer);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return check_main(error_suite());
}
