/* SPDX-License-Identifier: ISC */
/*
 * Words back to a shell command.  A word of harmless characters stays as it
 * is, so that commands remain readable; any other goes into single quotes,
 * within which only the single quote itself means anything.
 */
#include "config.h"

#include "cli/shell_quote.h"

#include <stdbool.h>
#include <string.h>

static const char harmless[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    "@%+:,./_-";

/*
 * first: where a word with "=" would be an assignment, and some words are
 * reserved; the quotes take that meaning away.
 */
static bool
needs_quotes(const char *word, bool first)
{
	static const char *const reserved[] = {
		"case", "do", "done", "elif", "else", "esac", "fi", "for",
		"function", "if", "in", "select", "then", "time", "until",
		"while",
	};
	for (size_t i = 0; first && i < sizeof reserved / sizeof *reserved;
	    i++)
		if (strcmp(word, reserved[i]) == 0)
			return true;
	for (const char *p = word; *p != '\0'; p++)
		if (strchr(harmless, *p) == NULL && (first || *p != '='))
			return true;
	return *word == '\0';
}

static void
quote(struct strbuf *out, const char *word)
{
	strbuf_addch(out, '\'');
	for (; *word != '\0'; word++) {
		if (*word == '\'')
			strbuf_addstr(out, "'\\''");
		else
			strbuf_addch(out, *word);
	}
	strbuf_addch(out, '\'');
}

void
shell_quote_words(struct strbuf *out, char *const *words, size_t n)
{
	if (n == 1) {
		strbuf_addstr(out, words[0]);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			strbuf_addch(out, ' ');
		if (needs_quotes(words[i], i == 0))
			quote(out, words[i]);
		else
			strbuf_addstr(out, words[i]);
	}
}
