/* SPDX-License-Identifier: ISC */
/* Log lines: levels, the sink, and that one call is one line. */
#include "config.h"

#include "common/log.h"

#include <check.h>
#include <string.h>

#include "common/strbuf.h"
#include "tests/check_main.h"

/* "LEVEL SUBSYSTEM: TEXT|" for each line. */
static void
collect(void *arg, enum log_level level, const char *subsystem,
    const char *text)
{
	strbuf_addf(arg, "%d %s: %s|", (int)level, subsystem, text);
}

static void
log_one_of_each(void)
{
	log_error("store", "e%d", 1);
	log_warning("store", "w%d", 2);
	log_info("store", "i%d", 3);
	log_debug("store", "d%d", 4);
}

static const struct level_row {
	enum log_level	 level;	/* set */
	const char	*name;	/* of it */
	const char	*want;	/* lines that pass */
} level_rows[] = {
	/* Numbers of syslog(3): err 3, warning 4, info 6, debug 7. */
	{ LOG_ERROR, "error", "3 store: e1|" },
	{ LOG_WARNING, "warning", "3 store: e1|4 store: w2|" },
	{ LOG_INFO, "info", "3 store: e1|4 store: w2|6 store: i3|" },
	{ LOG_DEBUG, "debug",
	    "3 store: e1|4 store: w2|6 store: i3|7 store: d4|" },
};

START_TEST(levels_let_through_what_is_at_least_as_grave)
{
	const struct level_row *row = &level_rows[_i];
	struct strbuf got = STRBUF_INIT;

	log_set_sink(collect, &got);
	log_set_level(row->level);
	log_one_of_each();
	ck_assert_str_eq(got.buf, row->want);
	strbuf_release(&got);
}
END_TEST

START_TEST(info_is_the_level_without_a_choice)
{
	struct strbuf got = STRBUF_INIT;

	log_set_sink(collect, &got);
	log_one_of_each();
	ck_assert_str_eq(got.buf, "3 store: e1|4 store: w2|6 store: i3|");
	strbuf_release(&got);
}
END_TEST

START_TEST(levels_have_names)
{
	const struct level_row *row = &level_rows[_i];
	enum log_level level = (enum log_level)-1;

	ck_assert_int_eq(log_level_parse(row->name, &level), 0);
	ck_assert_int_eq(level, row->level);
	ck_assert_str_eq(log_level_name(row->level), row->name);
}
END_TEST

START_TEST(other_names_are_refused)
{
	static const char *const bad[] = { "", "Info", "info ", "notice",
		"3" };
	enum log_level level = LOG_ERROR;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ck_assert_int_eq(log_level_parse(bad[i], &level), -1);
	ck_assert_int_eq(level, LOG_ERROR);
}
END_TEST

START_TEST(one_call_is_one_line_whatever_the_text)
{
	struct strbuf got = STRBUF_INIT;

	log_set_sink(collect, &got);
	log_info("job", "a\nb\r\tc\x1b[31m\x7f %s", "d\n<3>fake");
	ck_assert_str_eq(got.buf, "6 job: a\\x0ab\\x0d\\x09c\\x1b[31m\\x7f "
	    "d\\x0a<3>fake|");
	strbuf_release(&got);
}
END_TEST

START_TEST(other_bytes_pass_as_they_are)
{
	struct strbuf got = STRBUF_INIT;

	log_set_sink(collect, &got);
	log_info("job", "%s", "\xc3\xa4 100% \\ \"x\"");
	ck_assert_str_eq(got.buf, "6 job: \xc3\xa4 100% \\ \"x\"|");
	strbuf_release(&got);
}
END_TEST

START_TEST(long_lines_are_whole)
{
	struct strbuf got = STRBUF_INIT;

	log_set_sink(collect, &got);
	log_info("job", "%0100000d", 1);
	ck_assert_uint_eq(got.len, strlen("6 job: |") + 100000);
	strbuf_release(&got);
}
END_TEST

START_TEST(without_a_sink_lines_go_to_stderr)
{
	struct strbuf got = STRBUF_INIT;

	log_set_sink(collect, &got);
	log_set_sink(NULL, NULL);
	log_error("log", "this line is a part of the test");
	ck_assert_uint_eq(got.len, 0);
}
END_TEST

static Suite *
log_suite(void)
{
	Suite *s = suite_create("log");
	TCase *tc = tcase_create("log");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, levels_let_through_what_is_at_least_as_grave,
	    0, 4);
	tcase_add_test(tc, info_is_the_level_without_a_choice);
	tcase_add_loop_test(tc, levels_have_names, 0, 4);
	tcase_add_test(tc, other_names_are_refused);
	tcase_add_test(tc, one_call_is_one_line_whatever_the_text);
	tcase_add_test(tc, other_bytes_pass_as_they_are);
	tcase_add_test(tc, long_lines_are_whole);
	tcase_add_test(tc, without_a_sink_lines_go_to_stderr);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return check_main(log_suite());
}
