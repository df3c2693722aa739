/* SPDX-License-Identifier: ISC */
/*
 * Reading one item of a field from left to right, and saying what is wrong
 * with it: the field, the column in the whole text, the offending piece, and
 * what may stand there.  What items mean is cronexpr_item.c's business.
 */
#include "config.h"

#include "common/cronexpr_cursor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/nearest.h"
#include "common/utf8.h"

#define NUMBER_MOST	100000000	/* no value or step is near it */

static const char *const month_names[] = {
	"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT",
	"NOV", "DEC"
};

static const char *const day_names[] = {
	"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"
};

const struct cronexpr_kind cronexpr_kinds[CRONEXPR_FIELDS] = {
	{ CRONEXPR_SECOND, "second", 0, 59, 59, 59, NULL, 0, "0-59" },
	{ CRONEXPR_MINUTE, "minute", 0, 59, 59, 59, NULL, 0, "0-59" },
	{ CRONEXPR_HOUR, "hour", 0, 23, 23, 23, NULL, 0, "0-23" },
	{ CRONEXPR_DOM, "dom", 1, 31, 31, 28, NULL, 0, "1-31" },
	{ CRONEXPR_MONTH, "month", 1, 12, 12, 12, month_names, 12,
	    "1-12 or JAN-DEC" },
	{ CRONEXPR_DOW, "dow", 0, 7, 6, 6, day_names, 7,
	    "0-7 or SUN-SAT" },
	{ CRONEXPR_YEAR, NULL, 1970, 2199, 2199, 2199, NULL, 0,
	    "1970-2199" },
};

const char *
cronexpr_quote(char buf[CRONEXPR_QUOTE_MAX], const char *s, size_t len)
{
	const size_t room = CRONEXPR_QUOTE_MAX - sizeof("...");
	size_t n = 0;
	bool text = utf8_valid_prefix(s, len) == len;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];
		bool start = !text || (c & 0xc0) != 0x80;

		if (start && n + 4 > room) {
			memcpy(buf + n, "...", 4);
			return buf;
		}
		if (c < ' ' || c == 0x7f || (c >= 0x80 && !text))
			c = '?';
		buf[n++] = (char)c;
	}
	buf[n] = '\0';
	return buf;
}

/* Characters, not bytes, from the text's start, from 1. */
size_t
cronexpr_column(const struct cronexpr_parser *p, size_t at)
{
	size_t column = 1;

	for (size_t i = 0; i < at && i < p->len; i++)
		column += ((unsigned char)p->text[i] & 0xc0) != 0x80;
	return column;
}

int
cronexpr_fault(struct cronexpr_parser *p, const struct cronexpr_kind *kind,
    size_t at, const char *fmt, ...)
{
	char text[ERROR_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return error_set(p->err, "%s field, column %zu: %s%s",
	    cronexpr_field_name(kind->field), cronexpr_column(p, at), text,
	    kind->field == CRONEXPR_SECOND ? "" :
	    p->nfields == 6 ? " (of six fields the first is the second)" :
	    "");
}

/* What stands at the cursor does not belong there. */
int
cronexpr_cursor_fault(struct cronexpr_cursor *c)
{
	char item[CRONEXPR_QUOTE_MAX], rest[CRONEXPR_QUOTE_MAX];
	const char *s = c->p->text;

	cronexpr_quote(item, s + c->from, c->to - c->from);
	if (c->at == c->from)
		return cronexpr_fault(c->p, c->kind, c->at, "\"%s\" is not "
		    "%s, \"*\", a range a-b or a step a/n", item,
		    c->kind->sample);
	if (c->at == c->to)
		return cronexpr_fault(c->p, c->kind, c->at, "something is "
		    "missing after \"%s\"", item);
	return cronexpr_fault(c->p, c->kind, c->at, "\"%s\" does not belong "
	    "after \"%.*s\"", cronexpr_quote(rest, s + c->at, c->to - c->at),
	    (int)(c->at - c->from < CRONEXPR_QUOTE_MAX ? c->at - c->from :
	    CRONEXPR_QUOTE_MAX), s + c->from);
}

/* Digits only; NUMBER_MOST stands for anything greater. */
int
cronexpr_cursor_digits(struct cronexpr_cursor *c)
{
	int n = 0;

	while (cursor_is_digit(cursor_peek(c))) {
		n = n * 10 + (cursor_peek(c) - '0');
		if (n > NUMBER_MOST)
			n = NUMBER_MOST;
		c->at++;
	}
	return n;
}

int
cronexpr_cursor_check(struct cronexpr_cursor *c, size_t at, int n, int least, int most)
{
	char text[CRONEXPR_QUOTE_MAX];

	if (n >= least && n <= most)
		return 0;
	return cronexpr_fault(c->p, c->kind, at, "%s is not within %d-%d",
	    cronexpr_quote(text, c->p->text + at, c->at - at), least, most);
}

static const char *
name_get(const void *arg, size_t i)
{
	const struct cronexpr_kind *kind = arg;

	return kind->names[i];
}

/* The name that a word begins with or resembles, or NULL. */
static const char *
name_meant(const struct cronexpr_kind *kind, const char *word)
{
	for (size_t i = 0; i < kind->nnames; i++)
		if (cursor_upper(word[0]) == kind->names[i][0] &&
		    cursor_upper(word[1]) == kind->names[i][1] &&
		    cursor_upper(word[2]) == kind->names[i][2])
			return kind->names[i];
	return nearest_find(word, kind->nnames, name_get, kind);
}

static int
fault_name(struct cronexpr_cursor *c, size_t at, size_t len)
{
	char word[CRONEXPR_QUOTE_MAX];
	const char *meant = NULL;

	cronexpr_quote(word, c->p->text + at, len);
	if (c->kind->names != NULL && len >= 2)
		meant = name_meant(c->kind, word);
	if (meant != NULL)
		return cronexpr_fault(c->p, c->kind, at, "\"%s\" is not "
		    "within %s; did you mean %s?", word, c->kind->sample,
		    meant);
	return cronexpr_fault(c->p, c->kind, at, "\"%s\" is not within %s",
	    word, c->kind->sample);
}

static int
take_name(struct cronexpr_cursor *c, struct cronexpr_value *v)
{
	const char *s = c->p->text + c->at;
	size_t len = 0;

	while (cursor_is_letter(cursor_peek(c))) {
		c->at++;
		len++;
	}
	for (size_t i = 0; len == 3 && i < c->kind->nnames; i++) {
		const char *name = c->kind->names[i];

		if (cursor_upper(s[0]) == name[0] && cursor_upper(s[1]) == name[1] &&
		    cursor_upper(s[2]) == name[2]) {
			v->n = c->kind->least + (int)i;
			v->is_sunday = c->kind->field == CRONEXPR_DOW &&
			    i == 0;
			return 0;
		}
	}
	return fault_name(c, v->at, len);
}

/* A number or a name. */
int
cronexpr_cursor_value(struct cronexpr_cursor *c, struct cronexpr_value *v)
{
	v->at = c->at;
	v->is_sunday = false;
	if (cursor_is_letter(cursor_peek(c)))
		return take_name(c, v);
	if (!cursor_is_digit(cursor_peek(c)))
		return cronexpr_cursor_fault(c);
	v->n = cronexpr_cursor_digits(c);
	return cronexpr_cursor_check(c, v->at, v->n, c->kind->least, c->kind->most);
}

/* What follows "/". */
int
cronexpr_cursor_step(struct cronexpr_cursor *c, int *step)
{
	size_t at = c->at;
	char text[CRONEXPR_QUOTE_MAX];

	if (at == c->to)
		return cronexpr_fault(c->p, c->kind, at, "the step is "
		    "missing after \"%s\"", cronexpr_quote(text,
		    c->p->text + c->from, c->to - c->from));
	if (!cursor_is_digit(cursor_peek(c)))
		return cronexpr_fault(c->p, c->kind, at, "\"%s\" is not a "
		    "step; write a number from 1 on after \"/\"",
		    cronexpr_quote(text, c->p->text + at, c->to - at));
	*step = cronexpr_cursor_digits(c);
	if (*step == 0)
		return cronexpr_fault(c->p, c->kind, at, "a step of 0 never "
		    "gets on; it is 1 or more");
	return 0;
}

