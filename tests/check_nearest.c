/* SPDX-License-Identifier: ISC */
/* "did you mean": what is near enough to be meant, and what is not. */
#include "config.h"

#include "common/nearest.h"

#include <check.h>
#include <string.h>

#include "tests/check_main.h"

#define N(table) (sizeof table / sizeof *table)

static const char *const words[] = { "timeout", "start_timeout", "schedule",
	"stdin", "user", "group", "tags", "command", "backup", "db" };

static const char *
word_at(const void *arg, size_t i)
{
	return ((const char *const *)arg)[i];
}

static const struct row {
	const char	*word;	/* written */
	const char	*want;	/* meant; NULL: nothing */
} rows[] = {
	{ "tiemout", "timeout" },	/* swapped */
	{ "timout", "timeout" },	/* left out */
	{ "timeoutt", "timeout" },	/* one too many */
	{ "timeaut", "timeout" },	/* another */
	{ "TIMEOUT", "timeout" },
	{ "timeout", "timeout" },
	{ "bakcup", "backup" },
	{ "comand", "command" },
	{ "shedule", "schedule" },
	{ "usr", "user" },
	{ "tag", "tags" },
	{ "da", "db" },
	{ "xyz", NULL },
	{ "x", NULL },			/* everything is near one letter */
	{ "", NULL },
	{ "limitation", NULL },
	/* 64 bytes are compared, more are not. */
	{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	    NULL },
};

START_TEST(finds_what_was_meant)
{
	const char *got = nearest_find(rows[_i].word, N(words), word_at,
	    words);

	if (rows[_i].want == NULL)
		ck_assert_msg(got == NULL, "%s: %s", rows[_i].word, got);
	else
		ck_assert_msg(got != NULL && strcmp(got, rows[_i].want) == 0,
		    "%s: %s", rows[_i].word, got != NULL ? got : "nothing");
}
END_TEST

START_TEST(the_nearest_of_several_wins_and_the_first_of_equals)
{
	static const char *const near[] = { "abcdxx", "abcdef", "abcdeg" };

	ck_assert_str_eq(nearest_find("abcdef", N(near), word_at, near),
	    "abcdef");
	ck_assert_str_eq(nearest_find("abcdeh", N(near), word_at, near),
	    "abcdef");
}
END_TEST

START_TEST(none_of_none)
{
	ck_assert_ptr_null(nearest_find("word", 0, word_at, words));
}
END_TEST

START_TEST(long_candidates_are_passed_over)
{
	static const char *const longs[] = { "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "word" };

	ck_assert_str_eq(nearest_find("wrod", N(longs), word_at, longs),
	    "word");
}
END_TEST

static Suite *
nearest_suite(void)
{
	Suite *s = suite_create("nearest");
	TCase *tc = tcase_create("nearest");

	tcase_add_loop_test(tc, finds_what_was_meant, 0, (int)N(rows));
	tcase_add_test(tc,
	    the_nearest_of_several_wins_and_the_first_of_equals);
	tcase_add_test(tc, none_of_none);
	tcase_add_test(tc, long_candidates_are_passed_over);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return check_main(nearest_suite());
}
