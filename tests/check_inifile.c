/* SPDX-License-Identifier: ISC */
/*
 * The INI form: values as written, every error once and with its line.
 * Expected values by hand from spec section 3.
 */
#include "config.h"

#include "common/inifile.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "common/strbuf.h"
#include "tests/check_main.h"

#define ROWS(t) ((int)(sizeof t / sizeof *t))

/* "LINE:[SECTION]" or "LINE:[SECTION]KEY=VALUE|" for each entry. */
static void
format_entries(struct strbuf *out, const struct inifile *ini)
{
	for (size_t i = 0; i < ini->n_entries; i++) {
		const struct inifile_entry *e = &ini->entries[i];

		strbuf_addf(out, "%d:[%s]", e->line, e->section);
		if (e->key != NULL)
			strbuf_addf(out, "%s=%s", e->key, e->value);
		strbuf_addstr(out, "|");
	}
}

/* "LINE:[SECTION] KEY: TEXT" for each error. */
static void
format_errors(struct strbuf *out, const struct inifile *ini)
{
	for (size_t i = 0; i < ini->n_errors; i++)
		strbuf_addf(out, "%d:[%s] %s: %s|", ini->errors[i].line,
		    ini->errors[i].section, ini->errors[i].key,
		    ini->errors[i].text);
}

static void
check_entries(const char *name, const char *text, size_t len,
    const char *want)
{
	struct inifile *ini = inifile_parse(text, len);
	struct strbuf got = STRBUF_INIT;

	format_errors(&got, ini);
	ck_assert_msg(got.len == 0, "%s: %s", name, got.buf);
	format_entries(&got, ini);
	ck_assert_msg(strcmp(got.buf, want) == 0, "%s: %s", name, got.buf);
	for (size_t i = 0; i < ini->n_entries; i++)
		if (ini->entries[i].key != NULL)
			ck_assert_uint_eq(ini->entries[i].value_len,
			    strlen(ini->entries[i].value));
	strbuf_release(&got);
	inifile_free(ini);
}

static const struct text_row {
	const char	*name;	/* of the row */
	const char	*text;	/* of the file */
	const char	*want;	/* entries, or errors */
} good_rows[] = {
	{ "b095_semicolon_kept",
	    "[a]\ncommand = for n in a b; do echo $n; done # not a comment\n"
	    "schedule = 0 0 * * FRI#2\n",
	    "1:[a]|2:[a]command=for n in a b; do echo $n; done # not a "
	    "comment|3:[a]schedule=0 0 * * FRI#2|" },
	{ "semicolon after a blank and in quotes",
	    "[a]\nk = echo \"x ; y\" ; z\n",
	    "1:[a]|2:[a]k=echo \"x ; y\" ; z|" },
	{ "b097_split_at_the_first_equals",
	    "[a]\ncommand = prog --out=/tmp/x A=B\nenv.X = a=b=c\ne==\n",
	    "1:[a]|2:[a]command=prog --out=/tmp/x A=B|3:[a]env.X=a=b=c|"
	    "4:[a]e==|" },
	{ "b098_outer_blanks_trimmed_quotes_kept",
	    "[a]\nenv.X   =   two words  \t\nenv.Y=\"  kept  \"\n",
	    "1:[a]|2:[a]env.X=two words|3:[a]env.Y=\"  kept  \"|" },
	{ "b099_backslashes_kept",
	    "[a]\nc = find /tmp -name x -exec echo {} \\;\nd = echo a\\\\b\n"
	    "e = x\\\\\nf = y\\\\\\\\\n",
	    "1:[a]|2:[a]c=find /tmp -name x -exec echo {} \\;|"
	    "3:[a]d=echo a\\\\b|4:[a]e=x\\\\|5:[a]f=y\\\\\\\\|" },
	{ "b092_percent_and_colon_kept",
	    "[a]\ncommand = date \"+%H:%M\"\n",
	    "1:[a]|2:[a]command=date \"+%H:%M\"|" },
	{ "b119_last_line_without_newline", "[a]\nk = v",
	    "1:[a]|2:[a]k=v|" },
	{ "last line is a section's key without value", "[a]\nk=",
	    "1:[a]|2:[a]k=|" },
	{ "nothing", "", "" },
	{ "comments and blank lines, indented too",
	    "; c\n# c\n\n  ; c\n\t# c [x\n \t \n[a]\n ; c\nk=v\n  # d\nl=w\n",
	    "7:[a]|9:[a]k=v|11:[a]l=w|" },
	{ "a comment does not continue", "[a]\n# c:\\\nk=v\n",
	    "1:[a]|3:[a]k=v|" },
	{ "CRLF", "[a]\r\nk = v\r\n\r\n; c\r\nl = w \\\r\n  x\r\n",
	    "1:[a]|2:[a]k=v|5:[a]l=w x|" },
	{ "mixed line ends", "[a]\r\nk = v\nl = w\r\n",
	    "1:[a]|2:[a]k=v|3:[a]l=w|" },
	{ "BOM", "\xef\xbb\xbf[a]\nk=v\n", "1:[a]|2:[a]k=v|" },
	{ "BOM alone", "\xef\xbb\xbf", "" },
	{ "continuation",
	    "[a]\nk = one \\\n    two \\\n\tthree\nl = w\n",
	    "1:[a]|2:[a]k=one two three|5:[a]l=w|" },
	{ "continuation needs no indent", "[a]\nk = one\\\ntwo\n",
	    "1:[a]|2:[a]k=onetwo|" },
	{ "continuation with blanks behind the backslash",
	    "[a]\nk = one \\ \t \n  two\n", "1:[a]|2:[a]k=one two|" },
	{ "continuation into what looks like a comment or section",
	    "[a]\nk = one \\\n  # two \\\n[b]\n", "1:[a]|2:[a]k=one # two [b]|" },
	{ "continuation into a blank line", "[a]\nk = one \\\n\nl = w\n",
	    "1:[a]|2:[a]k=one|4:[a]l=w|" },
	{ "three backslashes: two stay", "[a]\nk = x\\\\\\\ny\n",
	    "1:[a]|2:[a]k=x\\\\y|" },
	{ "continuation before the value", "[a]\nk \\\n = v\n",
	    "1:[a]|2:[a]k=v|" },
	{ "sections with blanks behind", "[a]  \nk=v\n[b]\t\nk=v\n",
	    "1:[a]|2:[a]k=v|3:[b]|4:[b]k=v|" },
	{ "defaults may repeat",
	    "[defaults]\nk=1\n[a]\nk=2\n[defaults]\nk=3\n",
	    "1:[defaults]|2:[defaults]k=1|3:[a]|4:[a]k=2|5:[defaults]|"
	    "6:[defaults]k=3|" },
	{ "repeated keys are handed on", "[a]\nk=1\nk=2\n",
	    "1:[a]|2:[a]k=1|3:[a]k=2|" },
	{ "UTF-8", "[a]\nk = \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\n",
	    "1:[a]|2:[a]k=\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80|" },
	{ "control characters in values", "[a]\nk = \x1b[1m\x08\x0b\n",
	    "1:[a]|2:[a]k=\x1b[1m\x08\x0b|" },
	{ "section names are not judged", "[a b; c]\nk=v\n",
	    "1:[a b; c]|2:[a b; c]k=v|" },
};

START_TEST(values_are_as_written)
{
	const struct text_row *row = &good_rows[_i];

	check_entries(row->name, row->text, strlen(row->text), row->want);
}
END_TEST

static const struct text_row bad_rows[] = {
	{ "text after ]", "[a] ; junk\nk=v\n",
	    "1:[a] : text after \"]\"; write it on a line of its own|" },
	{ "key after ]", "[a] k=v\n",
	    "1:[a] : text after \"]\"; write it on a line of its own|" },
	{ "no ]", "[a\nk=v\n",
	    "1:[a] : no \"]\" at the end of the section's name|" },
	{ "no name", "[]\nk=v\n", "1:[] : a section without a name|" },
	{ "empty section in the middle", "[a]\n; c\n[b]\nk=v\n",
	    "1:[a] : the section is empty; give it keys or remove it|" },
	{ "empty section at the end", "[b]\nk=v\n[a]",
	    "3:[a] : the section is empty; give it keys or remove it|" },
	{ "a section with nothing but errors is not empty", "[b]\n:\n",
	    "2:[b] : \":\" has no \"=\"; write KEY = VALUE|" },
	{ "repeated section", "[a]\nk=v\n[b]\nk=v\n[a]\nk=v\n",
	    "5:[a] : this section is in line 1 already; rename or join "
	    "them|" },
	{ "indented key", "[a]\nk=v\n  l=w\n",
	    "3:[a] : the line is indented, but the line before it does not "
	    "end in \"\\\"; add that there, or unindent this one|" },
	{ "indented key after even backslashes", "[a]\nk=v\\\\\n  l=w\n",
	    "3:[a] : the line is indented, but the line before it does not "
	    "end in \"\\\"; add that there, or unindent this one|" },
	{ "indented section", "[a]\nk=v\n [b]\n",
	    "3:[a] : the line is indented, but the line before it does not "
	    "end in \"\\\"; add that there, or unindent this one|" },
	{ "colon for equals", "[a]\nschedule: @daily\n",
	    "2:[a] : \"schedule: @daily\" has no \"=\"; write KEY = VALUE|" },
	{ "colon in a key", "[a]\nk:x = v\n",
	    "2:[a] : \"k:x\" is not a key; keys are letters, digits, \"_\", "
	    "\".\" and \"-\"|" },
	{ "no key", "[a]\n= v\n", "2:[a] : no key before \"=\"|" },
	{ "vertical tab is no blank", "[a]\n\x0bk = v\n",
	    "2:[a] : \"\\x0bk\" is not a key; keys are letters, digits, "
	    "\"_\", \".\" and \"-\"|" },
	{ "key before the first section", "k=v\nl=w\n[a]\nm=x\n",
	    "1:[] k: stands before the first [section]; put it into one|" },
	{ "lone CR", "[a]\nk = evil #\r harmless\n",
	    "2:[a] k: a carriage return at column 11 that does not end a "
	    "line|" },
	{ "CR at the end of the file", "[a]\nk = v\r",
	    "2:[a] k: a carriage return at column 6 that does not end a "
	    "line|" },
	{ "two CRs", "[a]\nk = v\r\r\n",
	    "2:[a] k: a carriage return at column 6 that does not end a "
	    "line|" },
	{ "old Mac file", "[a]\rk = v\r",
	    "1:[] : a carriage return at column 4 that does not end a "
	    "line|" },
	{ "not UTF-8", "[a]\nk = \xe4\n",
	    "2:[a] k: byte \\xe4 at column 5 is not UTF-8; save the file as "
	    "UTF-8|" },
	{ "not UTF-8 in a comment", "[a]\nk = v\n; \xff\n",
	    "3:[a] : byte \\xff at column 3 is not UTF-8; save the file as "
	    "UTF-8|" },
	{ "not UTF-8 in a section", "[a]\nk = v\n[\xff]\nl = w\n",
	    "3:[] : byte \\xff at column 2 is not UTF-8; save the file as "
	    "UTF-8|" },
	{ "not UTF-8 in a key", "[a]\n\xff = v\n",
	    "2:[a] : byte \\xff at column 1 is not UTF-8; save the file as "
	    "UTF-8|" },
	{ "each bad line of a continued one", "[a]\nk = \xff\\\nx \xfe\\\n y\n",
	    "2:[a] k: byte \\xff at column 5 is not UTF-8; save the file as "
	    "UTF-8|3:[a] k: byte \\xfe at column 3 is not UTF-8; save the "
	    "file as UTF-8|" },
	{ "BOM not at the start", "[a]\n\xef\xbb\xbfk = v\n",
	    "2:[a] : \"\xef\xbb\xbfk\" is not a key; keys are letters, "
	    "digits, \"_\", \".\" and \"-\"|" },
	{ "continues at the end of the file", "[a]\nk = v \\\n",
	    "2:[a] k: the line ends in \"\\\" and so goes on, but the file "
	    "ends here|" },
	{ "all of them, each once", "x\n[a]\n[b]z\n[a]\n=\n y\n",
	    "1:[] : \"x\" has no \"=\"; write KEY = VALUE|"
	    "2:[a] : the section is empty; give it keys or remove it|"
	    "3:[b] : text after \"]\"; write it on a line of its own|"
	    "4:[a] : this section is in line 2 already; rename or join "
	    "them|5:[a] : no key before \"=\"|"
	    "6:[a] : the line is indented, but the line before it does not "
	    "end in \"\\\"; add that there, or unindent this one|" },
};

START_TEST(every_error_has_its_line)
{
	const struct text_row *row = &bad_rows[_i];
	struct inifile *ini = inifile_parse(row->text, strlen(row->text));
	struct strbuf got = STRBUF_INIT;

	format_errors(&got, ini);
	ck_assert_msg(strcmp(got.buf, row->want) == 0, "%s: %s", row->name,
	    got.buf);
	strbuf_release(&got);
	inifile_free(ini);
}
END_TEST

START_TEST(nul_is_refused_anywhere)
{
	static const struct {
		const char	*text;	/* of the file */
		size_t		 len;	/* of text */
		const char	*want;	/* errors */
	} rows[] = {
		{ "[a]\nk=v\0w\n", 10, "2:[a] k: a NUL byte at column 4|" },
		{ "[a]\nk=v\n\0", 9, "3:[a] : a NUL byte at column 1|" },
		{ "\0[a]\nk=v\n", 9, "1:[] : a NUL byte at column 1|2:[] k: "
		    "stands before the first [section]; put it into one|" },
		{ "[a\0]\nk=v\n", 9, "1:[] : a NUL byte at column 3|" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct inifile *ini = inifile_parse(rows[i].text, rows[i].len);
		struct strbuf got = STRBUF_INIT;

		format_errors(&got, ini);
		ck_assert_str_eq(got.buf, rows[i].want);
		strbuf_release(&got);
		inifile_free(ini);
	}
}
END_TEST

/* A file "[a]" whose second line, "k=xxx...", has this many bytes. */
static struct inifile *
parse_line_of(size_t len)
{
	struct strbuf text = STRBUF_INIT;
	struct inifile *ini;

	strbuf_addstr(&text, "[a]\nk=");
	while (text.len < 4 + len)
		strbuf_addch(&text, 'x');
	strbuf_addstr(&text, "\nuser=root\n");
	ini = inifile_parse(text.buf, text.len);
	strbuf_release(&text);
	return ini;
}

static const size_t line_lengths[] = { 197, 198, 199, 200, 201, 998, 999,
	1000, 1024, 4096, 65535, 65536 };

START_TEST(b117_long_lines_are_read_whole)
{
	struct inifile *ini = parse_line_of(line_lengths[_i]);

	ck_assert_uint_eq(ini->n_errors, 0);
	ck_assert_uint_eq(ini->n_entries, 3);
	ck_assert_uint_eq(ini->entries[1].value_len, line_lengths[_i] - 2);
	ck_assert_str_eq(ini->entries[2].key, "user");
	inifile_free(ini);
}
END_TEST

START_TEST(longer_lines_are_refused)
{
	struct inifile *ini = parse_line_of(65537);

	ck_assert_uint_eq(ini->n_errors, 1);
	ck_assert_int_eq(ini->errors[0].line, 2);
	ck_assert_str_eq(ini->errors[0].key, "k");
	ck_assert_str_eq(ini->errors[0].text, "a line of 65537 bytes; at "
	    "most 65536 are allowed");
	inifile_free(ini);
}
END_TEST

START_TEST(line_ends_do_not_count)
{
	struct strbuf text = STRBUF_INIT;
	struct inifile *ini;

	strbuf_addstr(&text, "[a]\r\nk=");
	while (text.len < 5 + 65536)
		strbuf_addch(&text, 'x');
	strbuf_addstr(&text, "\r\n");
	ini = inifile_parse(text.buf, text.len);
	ck_assert_uint_eq(ini->n_errors, 0);
	inifile_free(ini);
	strbuf_release(&text);
}
END_TEST

START_TEST(long_keys_are_whole_or_refused)
{
	struct strbuf text = STRBUF_INIT;
	struct inifile *ini;

	/* env. and 124 more: 128. */
	strbuf_addstr(&text, "[a]\nenv.");
	for (int i = 0; i < 124; i++)
		strbuf_addch(&text, 'K');
	strbuf_addstr(&text, "=v\n");
	ini = inifile_parse(text.buf, text.len);
	ck_assert_uint_eq(ini->n_errors, 0);
	ck_assert_uint_eq(strlen(ini->entries[1].key), 128);
	inifile_free(ini);
	strbuf_setlen(&text, text.len - 3);
	strbuf_addstr(&text, "K=v\n");
	ini = inifile_parse(text.buf, text.len);
	ck_assert_uint_eq(ini->n_errors, 1);
	inifile_free(ini);
	strbuf_release(&text);
}
END_TEST

START_TEST(b129_large_files_are_refused)
{
	static char text[INIFILE_FILE_MAX + 1];
	struct inifile *ini;

	memset(text, '\n', sizeof text);
	ini = inifile_parse(text, INIFILE_FILE_MAX);
	ck_assert_uint_eq(ini->n_errors, 0);
	inifile_free(ini);
	ini = inifile_parse(text, sizeof text);
	ck_assert_uint_eq(ini->n_errors, 1);
	ck_assert_int_eq(ini->errors[0].line, 0);
	inifile_free(ini);
}
END_TEST

START_TEST(errors_are_bounded)
{
	struct strbuf text = STRBUF_INIT;
	struct inifile *ini;

	strbuf_addstr(&text, "[a]\n");
	for (int i = 0; i < 5000; i++)
		strbuf_addstr(&text, "junk\n");
	ini = inifile_parse(text.buf, text.len);
	ck_assert_uint_eq(ini->n_errors, INIFILE_ERRORS_MAX + 1);
	ck_assert_str_eq(ini->errors[INIFILE_ERRORS_MAX].text,
	    "more than 1000 errors; the others are not shown");
	inifile_free(ini);
	strbuf_release(&text);
}
END_TEST

START_TEST(many_sections_are_told_apart)
{
	struct strbuf text = STRBUF_INIT;
	struct inifile *ini;

	for (int i = 0; i < 20000; i++)
		strbuf_addf(&text, "[job%d]\nk=%d\n", i, i);
	strbuf_addstr(&text, "[job777]\nk=x\n");
	ini = inifile_parse(text.buf, text.len);
	ck_assert_uint_eq(ini->n_entries, 40002);
	ck_assert_str_eq(ini->entries[39999].section, "job19999");
	ck_assert_uint_eq(ini->n_errors, 1);
	ck_assert_int_eq(ini->errors[0].line, 40001);
	ck_assert_str_eq(ini->errors[0].text, "this section is in line 1555 "
	    "already; rename or join them");
	inifile_free(ini);
	strbuf_release(&text);
}
END_TEST

START_TEST(free_accepts_null)
{
	inifile_free(NULL);
}
END_TEST

static Suite *
inifile_suite(void)
{
	Suite *s = suite_create("inifile");
	TCase *tc = tcase_create("inifile");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, values_are_as_written, 0, ROWS(good_rows));
	tcase_add_loop_test(tc, every_error_has_its_line, 0, ROWS(bad_rows));
	tcase_add_test(tc, nul_is_refused_anywhere);
	tcase_add_loop_test(tc, b117_long_lines_are_read_whole, 0,
	    ROWS(line_lengths));
	tcase_add_test(tc, longer_lines_are_refused);
	tcase_add_test(tc, line_ends_do_not_count);
	tcase_add_test(tc, long_keys_are_whole_or_refused);
	tcase_add_test(tc, b129_large_files_are_refused);
	tcase_add_test(tc, errors_are_bounded);
	tcase_add_test(tc, many_sections_are_told_apart);
	tcase_add_test(tc, free_accepts_null);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return check_main(inifile_suite());
}
