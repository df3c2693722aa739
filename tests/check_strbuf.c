/* SPDX-License-Identifier: ISC */
/* A growing run of bytes: contents, the NUL behind them, growth. */
#include "config.h"

#include "common/strbuf.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check_main.h"

START_TEST(empty_is_a_string)
{
	struct strbuf sb = STRBUF_INIT, other;

	strbuf_init(&other);
	ck_assert_str_eq(sb.buf, "");
	ck_assert_str_eq(other.buf, "");
	ck_assert_uint_eq(sb.len, 0);
	strbuf_reset(&sb);
	strbuf_setlen(&sb, 0);
	strbuf_consume(&sb, 0);
	strbuf_add(&sb, NULL, 0);
	ck_assert_uint_eq(sb.cap, 0);
	strbuf_release(&sb);
	strbuf_release(&sb);
	ck_assert_str_eq(sb.buf, "");
}
END_TEST

START_TEST(adds_of_all_kinds)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_addstr(&sb, "one");
	strbuf_addch(&sb, ' ');
	strbuf_addf(&sb, "%s %d", "two", 3);
	strbuf_add(&sb, "xyz", 1);
	ck_assert_str_eq(sb.buf, "one two 3x");
	ck_assert_uint_eq(sb.len, 10);
	strbuf_release(&sb);
}
END_TEST

START_TEST(holds_nuls)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_add(&sb, "a\0b", 3);
	strbuf_addch(&sb, '\0');
	ck_assert_uint_eq(sb.len, 4);
	ck_assert_int_eq(memcmp(sb.buf, "a\0b\0\0", 5), 0);
	strbuf_release(&sb);
}
END_TEST

START_TEST(a_nul_follows_whatever_the_length)
{
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < 5000; i++) {
		ck_assert_uint_eq(strlen(sb.buf), i);
		ck_assert(i == 0 || sb.len < sb.cap);
		strbuf_addch(&sb, 'x');
	}
	strbuf_release(&sb);
}
END_TEST

START_TEST(formatted_text_of_any_length_is_whole)
{
	struct strbuf sb = STRBUF_INIT;

	for (int width = 0; width < 300; width++) {
		strbuf_reset(&sb);
		strbuf_addf(&sb, "%*s", width, "");
		ck_assert_uint_eq(sb.len, (size_t)width);
		ck_assert_uint_eq(strlen(sb.buf), (size_t)width);
	}
	strbuf_release(&sb);
}
END_TEST

START_TEST(reset_keeps_the_allocation)
{
	struct strbuf sb = STRBUF_INIT;
	char *buf;
	size_t cap;

	strbuf_grow(&sb, 1000);
	ck_assert_uint_gt(sb.cap, 1000);
	buf = sb.buf;
	cap = sb.cap;
	strbuf_addstr(&sb, "text");
	strbuf_reset(&sb);
	ck_assert_str_eq(sb.buf, "");
	ck_assert_ptr_eq(sb.buf, buf);
	ck_assert_uint_eq(sb.cap, cap);
	strbuf_release(&sb);
}
END_TEST

START_TEST(setlen_cuts)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_addstr(&sb, "abcdef");
	strbuf_setlen(&sb, 6);
	ck_assert_str_eq(sb.buf, "abcdef");
	strbuf_setlen(&sb, 2);
	ck_assert_str_eq(sb.buf, "ab");
	strbuf_release(&sb);
}
END_TEST

START_TEST(consume_drops_from_the_front)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_addstr(&sb, "abcdef");
	strbuf_consume(&sb, 0);
	ck_assert_str_eq(sb.buf, "abcdef");
	strbuf_consume(&sb, 2);
	ck_assert_str_eq(sb.buf, "cdef");
	strbuf_consume(&sb, 4);
	ck_assert_str_eq(sb.buf, "");
	strbuf_release(&sb);
}
END_TEST

START_TEST(detach_hands_the_bytes_over)
{
	struct strbuf sb = STRBUF_INIT;
	char *s;

	s = strbuf_detach(&sb);
	ck_assert_str_eq(s, "");
	free(s);
	strbuf_addstr(&sb, "abc");
	s = strbuf_detach(&sb);
	ck_assert_str_eq(s, "abc");
	ck_assert_str_eq(sb.buf, "");
	ck_assert_uint_eq(sb.cap, 0);
	strbuf_addstr(&sb, "new");
	ck_assert_str_eq(s, "abc");
	free(s);
	strbuf_release(&sb);
}
END_TEST

static Suite *
strbuf_suite(void)
{
	Suite *s = suite_create("strbuf");
	TCase *tc = tcase_create("strbuf");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, empty_is_a_string);
	tcase_add_test(tc, adds_of_all_kinds);
	tcase_add_test(tc, holds_nuls);
	tcase_add_test(tc, a_nul_follows_whatever_the_length);
	tcase_add_test(tc, formatted_text_of_any_length_is_whole);
	tcase_add_test(tc, reset_keeps_the_allocation);
	tcase_add_test(tc, setlen_cuts);
	tcase_add_test(tc, consume_drops_from_the_front);
	tcase_add_test(tc, detach_hands_the_bytes_over);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return check_main(strbuf_suite());
}
