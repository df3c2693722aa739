/* SPDX-License-Identifier: ISC */
/*
 * Messages as JSON: what is refused, what survives, what text becomes of
 * bytes.  Expected texts from RFC 8259 and, for ill-formed UTF-8, Unicode
 * 15.0 section 3.9, table 3-8 to 3-11.
 */
#include "config.h"

#include "common/message.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/strbuf.h"
#include "common/utf8.h"
#include "tests/check_main.h"

#define FFFD "\xef\xbf\xbd"

static struct message *
parse(const char *text)
{
	struct error err = { "" };
	struct message *m = message_parse(text, strlen(text), &err);

	ck_assert_msg(m != NULL, "%s: %s", text, err.text);
	return m;
}

static const struct refused_row {
	const char	*name;	/* of the row */
	const char	*text;	/* given to message_parse */
	const char	*want;	/* somewhere in the error */
} refused_rows[] = {
	{ "nothing", "", "not JSON" },
	{ "blanks only", "  ", "not JSON" },
	{ "half an object", "{\"a\":1", "not JSON at byte 6" },
	{ "trailing text", "{} {}", "not JSON" },
	{ "trailing comma", "[1,]", "not JSON" },
	{ "duplicate key", "{\"a\":1,\"a\":2}", "duplicate" },
	{ "not UTF-8", "\"\xff\"", "not JSON" },
	{ "lone surrogate", "\"\\ud800\"", "not JSON" },
	{ "NUL in a string", "\"a\\u0000b\"", "must not hold" },
	{ "NUL in a key", "{\"a\\u0000b\":1}", "not " },
	{ "beyond int64", "9223372036854775808", "too big integer" },
	{ "below int64", "-9223372036854775809", "integer" },
	{ "beyond double", "1e999", "real number overflow" },
	{ "leading zero", "01", "not JSON" },
	{ "plus sign", "+1", "not JSON" },
	{ "single quotes", "{'a':1}", "not JSON" },
	{ "NaN", "NaN", "not JSON" },
	{ "raw newline in a string", "\"a\nb\"", "not JSON" },
};

START_TEST(refuses_what_is_no_json)
{
	const struct refused_row *row = &refused_rows[_i];
	struct error err = { "" };

	ck_assert_msg(message_parse(row->text, strlen(row->text), &err) ==
	    NULL, "%s: accepted", row->name);
	ck_assert_msg(strstr(err.text, row->want) != NULL, "%s: %s",
	    row->name, err.text);
}
END_TEST

START_TEST(refuses_a_nul_byte)
{
	ck_assert_ptr_null(message_parse("[1\0]", 4, NULL));
	ck_assert_ptr_null(message_parse("[1]\0", 4, NULL));
}
END_TEST

START_TEST(depth_is_limited)
{
	struct strbuf text = STRBUF_INIT;
	struct error err = { "" };

	for (int i = 0; i < 100000; i++)
		strbuf_addch(&text, '[');
	ck_assert_ptr_null(message_parse(text.buf, text.len, &err));
	ck_assert_msg(strstr(err.text, "too deeply") != NULL, "%s", err.text);
	strbuf_release(&text);
}
END_TEST

START_TEST(len_bounds_the_text)
{
	struct message *m = message_parse("12345", 2, NULL);

	ck_assert_int_eq(message_value_integer(m, -1), 12);
	message_free(m);
}
END_TEST

static const char *const round_trips[] = {
	"{}",
	"[]",
	"null",
	"true",
	"-9223372036854775808",
	"9223372036854775807",
	"\"\"",
	"\"\\\"\\\\/\\b\\f\\n\\r\\t\\u001B\"",
	"\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"",
	"{\"z\":1,\"a\":[true,false,null,{\"b\":\"c\"}],\"m\":{}}",
	"0.25",
	"0.1",
};

START_TEST(text_survives_parse_and_format)
{
	struct message *m = parse(round_trips[_i]);
	char *text = message_format(m);

	ck_assert_str_eq(text, round_trips[_i]);
	free(text);
	message_free(m);
}
END_TEST

START_TEST(members_keep_the_order_they_were_set_in)
{
	struct message *m = message_object();
	char *text;

	message_set_string(m, "zone", "UTC");
	message_set_integer(m, "at", 5);
	message_set_bool(m, "ok", true);
	message_set_null(m, "note");
	message_set_number(m, "late", 1.5);
	message_set_string(m, "zone", NULL);
	text = message_format(m);
	ck_assert_str_eq(text, "{\"zone\":null,\"at\":5,\"ok\":true,"
	    "\"note\":null,\"late\":1.5}");
	free(text);
	message_free(m);
}
END_TEST

START_TEST(arrays_take_messages_over)
{
	struct message *m = message_array(), *inner = message_object();
	char *text;

	message_append_string(m, "a");
	message_append(m, inner);
	message_append(m, NULL);
	message_append(m, message_integer(-3));
	ck_assert_uint_eq(message_count(m), 4);
	ck_assert_ptr_eq(message_at(m, 1), inner);
	ck_assert_ptr_null(message_at(m, 4));
	text = message_format(m);
	ck_assert_str_eq(text, "[\"a\",{},null,-3]");
	free(text);
	message_free(m);
}
END_TEST

START_TEST(infinities_become_null)
{
	struct message *m = message_object();

	message_set_number(m, "a", HUGE_VAL);
	message_set_number(m, "b", nan(""));
	ck_assert(message_is_null(message_get(m, "a")));
	ck_assert(message_is_null(message_get(m, "b")));
	message_free(m);
}
END_TEST

static const struct bytes_row {
	const char	*name;	/* of the row */
	const char	*bytes;	/* given */
	size_t		 len;	/* of bytes */
	const char	*want;	/* the string read back */
} bytes_rows[] = {
	{ "ascii", "abc", 3, "abc" },
	{ "nothing", "", 0, "" },
	{ "good UTF-8", "\xc3\xa4\xed\x9f\xbf\xf4\x8f\xbf\xbf", 9,
	    "\xc3\xa4\xed\x9f\xbf\xf4\x8f\xbf\xbf" },
	{ "NUL", "a\0b", 3, "a" FFFD "b" },
	{ "lone continuation", "a\x80z", 3, "a" FFFD "z" },
	/* Table 3-8: non-shortest forms */
	{ "non-shortest", "\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41", 9,
	    FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD "A" },
	/* Table 3-9: surrogates */
	{ "surrogates", "\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41", 9,
	    FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD "A" },
	/* Table 3-10: other ill-formed sequences */
	{ "other", "\xf4\x91\x92\x93\xff\x41\x80\xbf\x42", 9,
	    FFFD FFFD FFFD FFFD FFFD "A" FFFD FFFD "B" },
	/* Table 3-11: truncated sequences */
	{ "truncated", "\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", 9,
	    FFFD FFFD FFFD FFFD "A" },
	{ "cut at the end", "ab\xe2\x82", 4, "ab" FFFD },
};

START_TEST(bytes_become_text)
{
	const struct bytes_row *row = &bytes_rows[_i];
	struct message *m = message_object(), *back;
	char *text;

	message_set_bytes(m, "output", row->bytes, row->len);
	text = message_format(m);
	back = parse(text);
	ck_assert_msg(strcmp(message_get_string(back, "output"), row->want) ==
	    0, "%s: %s", row->name, text);
	free(text);
	message_free(back);
	message_free(m);
}
END_TEST

START_TEST(strings_and_keys_are_made_utf8)
{
	struct message *m = message_object();

	message_set_string(m, "\xff" "k", "v\xfe");
	ck_assert_str_eq(message_get_string(m, FFFD "k"), "v" FFFD);
	message_free(m);
}
END_TEST

START_TEST(bytes_without_length_need_no_pointer)
{
	struct message *m = message_object();

	message_set_bytes(m, "output", NULL, 0);
	ck_assert_str_eq(message_get_string(m, "output"), "");
	message_free(m);
}
END_TEST

START_TEST(getters_fall_back_on_other_types)
{
	struct message *m = parse("{\"s\":\"x\",\"i\":7,\"r\":1.5,\"b\":true,"
	    "\"n\":null,\"a\":[1],\"o\":{\"k\":1}}");

	ck_assert_ptr_null(message_get(m, "none"));
	ck_assert_ptr_null(message_get_string(m, "i"));
	ck_assert_ptr_null(message_get_string(m, "none"));
	ck_assert_int_eq(message_get_integer(m, "r", -1), -1);
	ck_assert_int_eq(message_get_integer(m, "s", -1), -1);
	ck_assert_int_eq(message_get_integer(m, "i", -1), 7);
	ck_assert(message_get_number(m, "r", 0) > 1.4);
	ck_assert(message_get_number(m, "i", 0) > 6.9);
	ck_assert(message_get_number(m, "s", -2) < -1);
	ck_assert(message_get_bool(m, "b", false));
	ck_assert(message_get_bool(m, "i", true));
	ck_assert(!message_get_bool(m, "n", false));
	ck_assert(message_is_null(message_get(m, "n")));
	ck_assert(!message_is_null(message_get(m, "none")));
	ck_assert(message_is_array(message_get(m, "a")));
	ck_assert(message_is_object(message_get(m, "o")));
	ck_assert_uint_eq(message_count(message_get(m, "o")), 1);
	ck_assert_uint_eq(message_count(message_get(m, "s")), 0);
	ck_assert_ptr_null(message_at(message_get(m, "o"), 0));
	ck_assert_ptr_null(message_get(message_get(m, "a"), "k"));
	ck_assert_ptr_null(message_get(NULL, "k"));
	message_free(m);
}
END_TEST

static void
collect(void *arg, const char *key, const struct message *value)
{
	strbuf_addf(arg, "%s=%lld;", key,
	    (long long)message_value_integer(value, -1));
}

START_TEST(each_goes_in_order)
{
	struct strbuf seen = STRBUF_INIT;
	struct message *m = parse("{\"z\":1,\"a\":2,\"k\":3}");

	message_each(m, collect, &seen);
	ck_assert_str_eq(seen.buf, "z=1;a=2;k=3;");
	strbuf_release(&seen);
	message_free(m);
}
END_TEST

START_TEST(dup_is_deep)
{
	struct message *m = parse("{\"a\":{\"b\":[1]}}");
	struct message *copy = message_dup(m);
	char *text;

	message_set_string((struct message *)message_get(m, "a"), "c", "x");
	text = message_format(copy);
	ck_assert_str_eq(text, "{\"a\":{\"b\":[1]}}");
	free(text);
	message_free(copy);
	message_free(m);
	message_free(NULL);
}
END_TEST

START_TEST(one_message_is_one_line)
{
	struct message *m = message_object();
	char *text;

	message_set_string(m, "t", "a\nb\r\x01\x1b[31m");
	text = message_format(m);
	ck_assert_ptr_null(strpbrk(text, "\n\r\x01\x1b"));
	free(text);
	message_free(m);
}
END_TEST

#define ROWS(t) ((int)(sizeof t / sizeof *t))

static Suite *
message_suite(void)
{
	Suite *s = suite_create("message");
	TCase *tc = tcase_create("message");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, refuses_what_is_no_json, 0,
	    ROWS(refused_rows));
	tcase_add_test(tc, refuses_a_nul_byte);
	tcase_add_test(tc, depth_is_limited);
	tcase_add_test(tc, len_bounds_the_text);
	tcase_add_loop_test(tc, text_survives_parse_and_format, 0,
	    ROWS(round_trips));
	tcase_add_test(tc, members_keep_the_order_they_were_set_in);
	tcase_add_test(tc, arrays_take_messages_over);
	tcase_add_test(tc, infinities_become_null);
	tcase_add_loop_test(tc, bytes_become_text, 0, ROWS(bytes_rows));
	tcase_add_test(tc, strings_and_keys_are_made_utf8);
	tcase_add_test(tc, bytes_without_length_need_no_pointer);
	tcase_add_test(tc, getters_fall_back_on_other_types);
	tcase_add_test(tc, each_goes_in_order);
	tcase_add_test(tc, dup_is_deep);
	tcase_add_test(tc, one_message_is_one_line);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return check_main(message_suite());
}
