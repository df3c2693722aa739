/* SPDX-License-Identifier: ISC */
/*
 * What of the command line is pure: words for values, quoting for the shell,
 * taking a command line apart, exit statuses.  Instants are those of date(1)
 * in Europe/Berlin; quoting is judged by POSIX XCU 2.2 and 2.4.
 */
#include "config.h"

#include <check.h>
#include <inttypes.h>
#include <locale.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/facts.h"
#include "cli/output_text.h"
#include "cli/shell_quote.h"
#include "common/message.h"
#include "common/strbuf.h"
#include "tests/check_main.h"

#define ROWS(t) ((int)(sizeof t / sizeof *t))

/* Mon 2026-11-30 20:00:00 CET */
#define NOW INT64_C(1796065200)

static struct strbuf out;

static void
setup(void)
{
	ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
	strbuf_init(&out);
}

static void
teardown(void)
{
	strbuf_release(&out);
}

/* ---- quoting ---- */

static const struct {
	const char	*words[4];	/* ends with NULL */
	const char	*want;		/* the shell's command */
} quotes[] = {
	{ { "pg_dump app | gzip > /srv/d.gz" },
	    "pg_dump app | gzip > /srv/d.gz" },
	{ { "" }, "" },
	{ { "logger", "hello" }, "logger hello" },
	{ { "logger", "hello world" }, "logger 'hello world'" },
	{ { "echo", "" }, "echo ''" },
	{ { "echo", "it's" }, "echo 'it'\\''s'" },
	{ { "echo", "$HOME", "*" }, "echo '$HOME' '*'" },
	{ { "dd", "if=/dev/zero", "~" }, "dd if=/dev/zero '~'" },
	{ { "A=1", "true" }, "'A=1' true" },
	{ { "if", "x" }, "'if' x" },
	{ { "a;b", "c" }, "'a;b' c" },
	{ { "gr\xc3\xbc\xc3\x9f", "x\ny" }, "'gr\xc3\xbc\xc3\x9f' 'x\ny'" },
};

START_TEST(words_become_a_command)
{
	size_t n = 0;

	while (quotes[_i].words[n] != NULL)
		n++;
	shell_quote_words(&out, (char *const *)(uintptr_t)quotes[_i].words,
	    n);
	ck_assert_str_eq(out.buf, quotes[_i].want);
}
END_TEST

/* ---- values as text ---- */

static const struct {
	const char	*in;	/* from outside */
	const char	*want;	/* safe on a terminal */
} escapes[] = {
	{ "plain", "plain" },
	{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
	{ "a\nb\tc", "a\\nb\\tc" },
	{ "\033[31mred", "\\x1b[31mred" },
	{ "\x7f\x01", "\\x7f\\x01" },
	{ "\xc2\x9b" "31m", "\\x9b31m" },	/* CSI as one character */
	{ "a\xe2\x80\xae" "b", "a\\u202eb" },	/* right-to-left override */
	{ "\xff\xc3", "\\xff\\xc3" },
};

START_TEST(values_are_made_safe)
{
	text_escape(&out, escapes[_i].in);
	ck_assert_str_eq(out.buf, escapes[_i].want);
}
END_TEST

START_TEST(output_keeps_lines_and_colours_only)
{
	static const char in[] = "a\tb\r\n\033[1;31mred\033[m\033]0;title\007"
	    "\033[2J\rover";

	text_escape_output(&out, in, sizeof in - 1);
	ck_assert_str_eq(out.buf, "a\tb\r\n\033[1;31mred\033[m"
	    "\\x1b]0;title\\x07\\x1b[2J\\x0dover");
}
END_TEST

static const struct {
	const char	*in;	/* whole */
	size_t		 width;	/* room */
	const char	*want;	/* cut */
} cuts[] = {
	{ "nightly", 7, "nightly" },
	{ "nightly", 6, "night\xe2\x80\xa6" },
	{ "nightly", 1, "\xe2\x80\xa6" },
	{ "nightly", 0, "" },
	/* Two columns each: a half one is no use. */
	{ "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 4,
	    "\xe6\x97\xa5\xe2\x80\xa6" },
};

START_TEST(text_is_cut_at_a_width)
{
	text_cut(&out, cuts[_i].in, cuts[_i].width);
	ck_assert_str_eq(out.buf, cuts[_i].want);
	ck_assert_uint_le(text_width(out.buf), cuts[_i].width);
}
END_TEST

START_TEST(text_is_wrapped_at_blanks)
{
	text_wrap(&out, "one two abc three  four averyverylongword x", 2,
	    12);
	ck_assert_str_eq(out.buf,
	    "one two\n  abc three\n  four\n  averyverylongword\n  x");
}
END_TEST

static const struct {
	int64_t		 n;
	const char	*number;	/* with commas */
	const char	*bytes;		/* as a size */
} numbers[] = {
	{ 0, "0", "0 B" },
	{ 999, "999", "999 B" },
	{ 1000, "1,000", "1000 B" },
	{ 1023, "1,023", "1023 B" },
	{ 1024, "1,024", "1.0 KiB" },
	{ 14336, "14,336", "14 KiB" },
	{ 1048575, "1,048,575", "1.0 MiB" },
	{ 1572864, "1,572,864", "1.5 MiB" },
	{ -1234, "-1,234", "-1234 B" },
};

START_TEST(numbers_are_grouped)
{
	text_number(&out, numbers[_i].n);
	ck_assert_str_eq(out.buf, numbers[_i].number);
}
END_TEST

START_TEST(sizes_have_units)
{
	text_bytes(&out, numbers[_i].n);
	ck_assert_str_eq(out.buf, numbers[_i].bytes);
}
END_TEST

static const struct {
	double		 seconds;	/* from now */
	const char	*want;
} relatives[] = {
	{ 0, "now" },
	{ -0.4, "now" },
	{ 0.7, "in 1 s" },
	{ 14, "in 14 s" },
	{ 59.9, "in 59 s" },
	{ 60, "in 1 min" },
	{ 2699, "in 44 min" },
	{ 3600, "in 1 h" },
	{ -57600, "16 h ago" },
	{ 172799, "in 47 h" },
	{ -172800, "2 d ago" },
	{ 63071999, "in 729 d" },
	{ 63072000, "in 2 y" },
};

START_TEST(distances_have_one_unit)
{
	text_relative(&out, relatives[_i].seconds);
	ck_assert_str_eq(out.buf, relatives[_i].want);
}
END_TEST

START_TEST(what_is_past_is_never_to_come)
{
	text_ago(&out, 3700);
	strbuf_addstr(&out, "; ");
	text_ago(&out, -3);
	ck_assert_str_eq(out.buf, "1 h ago; now");
}
END_TEST

START_TEST(long_distances_have_two_units)
{
	text_relative_long(&out, 29520);
	strbuf_addstr(&out, "; ");
	text_relative_long(&out, -90);
	strbuf_addstr(&out, "; ");
	text_relative_long(&out, 0);
	ck_assert_str_eq(out.buf, "in 8 h 12 min; 1 min 30 s ago; now");
}
END_TEST

static const struct {
	double		 seconds;
	const char	*want;
} tooks[] = {
	{ 0, "0 ms" },
	{ 0.001, "1 ms" },
	{ 0.0994, "99 ms" },
	{ 0.25, "0.25 s" },
	{ 1.24, "1.2 s" },
	{ 9.96, "10s" },
	{ 12.4, "12s" },
	{ 59.6, "1m00s" },
	{ 252, "4m12s" },
	{ 7500, "2h05m" },
	{ 90000, "1d01h" },
	{ -3, "0 ms" },
};

START_TEST(durations_are_short)
{
	text_took(&out, tooks[_i].seconds);
	ck_assert_str_eq(out.buf, tooks[_i].want);
}
END_TEST

static const struct {
	int64_t		 t;	/* date -d '2026-12-01 02:30' +%s and so on */
	const char	*near;	/* seen from NOW */
	const char	*exact;	/* the same to the second */
	const char	*full;
} times[] = {
	{ NOW, "20:00", "20:00:00", "Mon 2026-11-30 20:00:00 CET" },
	{ 1796074200, "22:30", "22:30:00", "Mon 2026-11-30 22:30:00 CET" },
	{ 1796088600, "Tue 02:30", "Tue 02:30:00",
	    "Tue 2026-12-01 02:30:00 CET" },
	{ 1796526000, "Sun 04:00", "Sun 04:00:00",
	    "Sun 2026-12-06 04:00:00 CET" },
	{ 1796612400, "2026-12-07", "2026-12-07 04:00:00",
	    "Mon 2026-12-07 04:00:00 CET" },
	{ 1795500000, "Tue 07:00", "Tue 07:00:00",
	    "Tue 2026-11-24 07:00:00 CET" },
	{ 1795413605, "2026-11-23", "2026-11-23 07:00:05",
	    "Mon 2026-11-23 07:00:05 CET" },
	{ 1806195600, "2027-03-28", "2027-03-28 03:00:00",
	    "Sun 2027-03-28 03:00:00 CEST" },
};

START_TEST(times_are_local_and_as_short_as_can_be)
{
	struct text_clock clock = { zone_load("Europe/Berlin", NULL), NOW };

	ck_assert_ptr_nonnull(clock.zone);
	text_time_near(&out, &clock, times[_i].t, false);
	ck_assert_str_eq(out.buf, times[_i].near);
	strbuf_reset(&out);
	text_time_near(&out, &clock, times[_i].t, true);
	ck_assert_str_eq(out.buf, times[_i].exact);
	strbuf_reset(&out);
	text_time(&out, &clock, times[_i].t);
	ck_assert_str_eq(out.buf, times[_i].full);
	zone_unref(clock.zone);
}
END_TEST

/* ---- command lines ---- */

static const struct arguments_option own[] = {
	{ "option", 'o', "KEY=VALUE", "" },
	{ "count", 'n', "N", "" },
	{ "failed", 'f', NULL, "" },
	{ NULL, 0, NULL, NULL }
}, global[] = {
	{ "json", 'j', NULL, "" },
	{ NULL, 0, NULL, NULL }
};
static const struct arguments_option *const tables[] = { own, global, NULL };

/* Takes apart and puts together: operands, options in <>, words after "--". */
static int
parse(const char *const *strings, struct error *err)
{
	struct arguments args;
	int argc = 0, used;

	while (strings[argc] != NULL)
		argc++;
	if (arguments_parse(&args, argc, (char **)(uintptr_t)strings, tables,
	    false, &used, err) == -1)
		return -1;
	ck_assert_int_eq(used, argc);
	for (size_t i = 0; i < args.n_operands; i++)
		strbuf_addf(&out, "%s ", args.operands[i]);
	for (size_t i = 0; i < args.n_given; i++)
		strbuf_addf(&out, "<%s:%s> ", args.given[i].option->name,
		    args.given[i].value != NULL ? args.given[i].value : "");
	if (args.words != NULL)
		strbuf_addstr(&out, "--");
	for (size_t i = 0; i < args.n_words; i++)
		strbuf_addf(&out, " %s", args.words[i]);
	arguments_release(&args);
	return 0;
}

static const struct {
	const char	*in[8];	/* ends with NULL */
	const char	*want;	/* see parse */
} good_lines[] = {
	{ { NULL }, "" },
	{ { "a", "b" }, "a b " },
	{ { "a", "-n", "5", "b" }, "a b <count:5> " },
	{ { "-n5", "--failed" }, "<count:5> <failed:> " },
	{ { "--count=5", "--json", "x" }, "x <count:5> <json:> " },
	{ { "--option=a=b=c" }, "<option:a=b=c> " },
	{ { "-fjn3" }, "<failed:> <json:> <count:3> " },
	{ { "-o", "--failed" }, "<option:--failed> " },
	{ { "-2h", "-" }, "-2h - " },	/* a TIME, not an option */
	{ { "- * * * *" }, "- * * * * " },
	{ { "a", "--", "-x", "--" }, "a -- -x --" },
	{ { "--" }, "--" },
};

START_TEST(command_lines_are_taken_apart)
{
	struct error err = { "" };

	ck_assert_msg(parse(good_lines[_i].in, &err) == 0, "%s", err.text);
	ck_assert_str_eq(out.buf, good_lines[_i].want);
}
END_TEST

static const struct {
	const char	*in[4];	/* ends with NULL */
	const char	*want;	/* the error */
} bad_lines[] = {
	{ { "--fialed" }, "no option --fialed; did you mean --failed?" },
	{ { "--jsno" }, "no option --jsno; did you mean --json?" },
	{ { "--qqqqqqq=1" }, "no option --qqqqqqq" },
	{ { "-x" }, "no option -x" },
	{ { "-fx" }, "no option -x" },
	{ { "--failed=yes" }, "--failed takes no value" },
	{ { "a", "--count" }, "--count needs a value: --count=N" },
	{ { "-n" }, "--count needs a value: --count=N" },
};

START_TEST(wrong_command_lines_are_refused)
{
	struct error err = { "" };

	ck_assert_int_eq(parse(bad_lines[_i].in, &err), -1);
	ck_assert_str_eq(err.text, bad_lines[_i].want);
}
END_TEST

START_TEST(parsing_can_stop_at_the_command)
{
	static const char *const line[] = { "--json", "list", "--failed" };
	struct arguments args;
	int used;

	ck_assert_int_eq(arguments_parse(&args, 3, (char **)(uintptr_t)line,
	    tables, true, &used, NULL), 0);
	ck_assert_int_eq(used, 1);
	ck_assert(arguments_has(&args, "json"));
	ck_assert(!arguments_has(&args, "failed"));
	ck_assert_ptr_null(args.words);
	arguments_release(&args);
}
END_TEST

START_TEST(the_last_value_counts)
{
	static const char *const line[] = { "-n3", "-n", "4" };
	struct arguments args;
	struct error err;
	long n = 0;
	int used;

	ck_assert_int_eq(arguments_parse(&args, 3, (char **)(uintptr_t)line,
	    tables, false, &used, NULL), 0);
	ck_assert_str_eq(arguments_value(&args, "count"), "4");
	ck_assert_int_eq(arguments_number(&args, "count", 1, 9, 5, &n, &err),
	    0);
	ck_assert_int_eq(n, 4);
	ck_assert_int_eq(arguments_number(&args, "count", 5, 9, 5, &n, &err),
	    -1);
	ck_assert_str_eq(err.text,
	    "--count \"4\": want a number from 5 to 9");
	arguments_release(&args);
}
END_TEST

/* ---- runs ---- */

static const struct {
	const char	*run;		/* JSON of a run object */
	int		 status;	/* cronctl(1), "Exit status" */
	const char	*result;	/* in a table */
	const char	*sentence;	/* at the end of run --wait */
} runs[] = {
	{ "{\"run\":7,\"job\":\"a\",\"state\":\"succeeded\",\"code\":0,"
	    "\"duration\":252}", 0, "ok", "a: run 7 succeeded after 4m12s" },
	{ "{\"run\":7,\"job\":\"a\",\"state\":\"failed\",\"code\":3,"
	    "\"duration\":12,\"output_bytes\":5}", 3, "exit 3",
	    "a: run 7 failed, exit 3 after 12s; output: cronctl logs 7" },
	{ "{\"run\":7,\"job\":\"a\",\"state\":\"signaled\",\"code\":null,"
	    "\"signal\":11,\"core\":true}", 139, "signal SEGV, core dumped",
	    "a: run 7 failed, ended by signal SEGV, core dumped" },
	{ "{\"run\":7,\"job\":\"a\",\"state\":\"killed\",\"signal\":9}", 137,
	    "killed", "a: run 7 was killed" },
	/* It caught the signal and left. */
	{ "{\"run\":7,\"job\":\"a\",\"state\":\"killed\",\"code\":0,"
	    "\"signal\":null}", 143, "killed", "a: run 7 was killed" },
	{ "{\"run\":7,\"job\":\"a\",\"state\":\"timed_out\",\"signal\":15,"
	    "\"duration\":3600}", 124, "timed out",
	    "a: run 7 timed out after 1h00m" },
	{ "{\"run\":7,\"job\":\"a\",\"state\":\"start_failed\",\"stage\":"
	    "\"workdir\",\"detail\":\"no /x\"}", 126, "start failed (workdir)",
	    "a: run 7 could not start (workdir): no /x" },
	{ "{\"run\":7,\"job\":\"a\",\"state\":\"lost\",\"detail\":"
	    "\"its worker died\"}", 125, "lost",
	    "a: run 7 is lost: its worker died" },
	{ "{\"run\":7,\"job\":\"\\u001b[2J\",\"state\":\"who knows\"}", 125,
	    "who knows", "\\x1b[2J: run 7 who knows" },
};

START_TEST(ends_of_runs_have_words_and_a_status)
{
	struct message *run = message_parse(runs[_i].run,
	    strlen(runs[_i].run), NULL);

	ck_assert_ptr_nonnull(run);
	ck_assert_int_eq(facts_run_status(run), runs[_i].status);
	facts_run_result(&out, run);
	ck_assert_str_eq(out.buf, runs[_i].result);
	strbuf_reset(&out);
	facts_run_sentence(&out, run);
	ck_assert_str_eq(out.buf, runs[_i].sentence);
	message_free(run);
}
END_TEST

START_TEST(numbers_that_are_not_known_are_told_apart)
{
	static const char text[] = "{\"a\":1.9,\"b\":null,\"c\":-1.5,"
	    "\"d\":1e300,\"e\":0}";
	struct message *m = message_parse(text, sizeof text - 1, NULL);
	int64_t n;
	double v;

	ck_assert(facts_integer(m, "a", &n) && n == 1);
	ck_assert(facts_integer(m, "c", &n) && n == -2);
	ck_assert(facts_integer(m, "e", &n) && n == 0);
	ck_assert(!facts_integer(m, "b", &n));
	ck_assert(!facts_integer(m, "d", &n));
	ck_assert(!facts_integer(m, "f", &n));
	ck_assert(!facts_number(m, "b", &v));
	ck_assert(facts_number(m, "e", &v));
	message_free(m);
}
END_TEST

static Suite *
cli_suite(void)
{
	Suite *s = suite_create("cli");
	TCase *t = tcase_create("cli");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, words_become_a_command, 0, ROWS(quotes));
	tcase_add_loop_test(t, values_are_made_safe, 0, ROWS(escapes));
	tcase_add_test(t, output_keeps_lines_and_colours_only);
	tcase_add_loop_test(t, text_is_cut_at_a_width, 0, ROWS(cuts));
	tcase_add_test(t, text_is_wrapped_at_blanks);
	tcase_add_loop_test(t, numbers_are_grouped, 0, ROWS(numbers));
	tcase_add_loop_test(t, sizes_have_units, 0, ROWS(numbers));
	tcase_add_loop_test(t, distances_have_one_unit, 0, ROWS(relatives));
	tcase_add_test(t, what_is_past_is_never_to_come);
	tcase_add_test(t, long_distances_have_two_units);
	tcase_add_loop_test(t, durations_are_short, 0, ROWS(tooks));
	tcase_add_loop_test(t, times_are_local_and_as_short_as_can_be, 0,
	    ROWS(times));
	tcase_add_loop_test(t, command_lines_are_taken_apart, 0,
	    ROWS(good_lines));
	tcase_add_loop_test(t, wrong_command_lines_are_refused, 0,
	    ROWS(bad_lines));
	tcase_add_test(t, parsing_can_stop_at_the_command);
	tcase_add_test(t, the_last_value_counts);
	tcase_add_loop_test(t, ends_of_runs_have_words_and_a_status, 0,
	    ROWS(runs));
	tcase_add_test(t, numbers_that_are_not_known_are_told_apart);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return check_main(cli_suite());
}
