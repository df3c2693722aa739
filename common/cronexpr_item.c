/* SPDX-License-Identifier: ISC */
/*
 * Items: "*", values, names, ranges, steps, the Quartz items, and H and ~.
 * An item is read from left to right once, by a cursor that knows its place
 * in the whole text, so that every fault has its column.
 *
 * Nothing is reinterpreted: what does not fit the grammar to its last byte is
 * refused.
 */
#include "config.h"

#include "common/cronexpr_item.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/hash.h"
#include "common/nearest.h"
#include "common/utf8.h"

#define NUMBER_MOST	100000000	/* no value or step is near it */
#define LAST_OFFSET_MOST 30		/* L-n */
#define NTH_MOST	5		/* d#n */

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

/* An item while it is read. */
struct cursor {
	struct cronexpr_parser		*p;	/* of the whole text */
	const struct cronexpr_kind	*kind;	/* of the field */
	size_t				 from;	/* where the item begins */
	size_t				 at;	/* next byte */
	size_t				 to;	/* where it ends */
	unsigned			 number; /* of the item in its field */
};

/* One value as it was written. */
struct value {
	int	n;		/* the number */
	size_t	at;		/* where it was written */
	bool	is_sunday;	/* it was the name SUN */
};

const char *
cronexpr_quote(char buf[CRONEXPR_QUOTE_MAX], const char *s, size_t len)
{
	const size_t room = CRONEXPR_QUOTE_MAX - sizeof("...");
	size_t n = 0;
	bool text = utf8_valid_prefix(s, len) == len;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];
		bool start = (c & 0xc0) != 0x80;

		if (start && n + 4 > room) {
			memcpy(buf + n, "...", 4);
			return buf;
		}
		if (c < ' ' || c == 0x7f || (c >= 0x80 && !text))
			c = '?';
		buf[n++] = (char)c;
		if (n == room)
			break;
	}
	buf[n] = '\0';
	return buf;
}

/* Characters, not bytes, from the text's start, from 1. */
static size_t
column_of(const struct cronexpr_parser *p, size_t at)
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
	    cronexpr_field_name(kind->field), column_of(p, at), text,
	    kind->field == CRONEXPR_SECOND ? "" :
	    p->nfields == 6 ? " (of six fields the first is the second)" :
	    p->nfields == 7 ? " (of seven fields the first is the second, "
	    "the last the year)" : "");
}

static int
peek(const struct cursor *c)
{
	return c->at < c->to ? (unsigned char)c->p->text[c->at] : -1;
}

static bool
take(struct cursor *c, char ch)
{
	if (peek(c) != ch)
		return false;
	c->at++;
	return true;
}

static bool
is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static bool
is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int
upper(int c)
{
	return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
}

/* What stands at the cursor does not belong there. */
static int
fault_here(struct cursor *c)
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
static int
take_digits(struct cursor *c)
{
	int n = 0;

	while (is_digit(peek(c))) {
		n = n * 10 + (peek(c) - '0');
		if (n > NUMBER_MOST)
			n = NUMBER_MOST;
		c->at++;
	}
	return n;
}

static int
check_range(struct cursor *c, size_t at, int n, int least, int most)
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
		if (upper(word[0]) == kind->names[i][0] &&
		    upper(word[1]) == kind->names[i][1] &&
		    upper(word[2]) == kind->names[i][2])
			return kind->names[i];
	return nearest_find(word, kind->nnames, name_get, kind);
}

static int
fault_name(struct cursor *c, size_t at, size_t len)
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
take_name(struct cursor *c, struct value *v)
{
	const char *s = c->p->text + c->at;
	size_t len = 0;

	while (is_letter(peek(c))) {
		c->at++;
		len++;
	}
	for (size_t i = 0; len == 3 && i < c->kind->nnames; i++) {
		const char *name = c->kind->names[i];

		if (upper(s[0]) == name[0] && upper(s[1]) == name[1] &&
		    upper(s[2]) == name[2]) {
			v->n = c->kind->least + (int)i;
			v->is_sunday = c->kind->field == CRONEXPR_DOW &&
			    i == 0;
			return 0;
		}
	}
	return fault_name(c, v->at, len);
}

/* A number or a name. */
static int
take_value(struct cursor *c, struct value *v)
{
	v->at = c->at;
	v->is_sunday = false;
	if (is_letter(peek(c)))
		return take_name(c, v);
	if (!is_digit(peek(c)))
		return fault_here(c);
	v->n = take_digits(c);
	return check_range(c, v->at, v->n, c->kind->least, c->kind->most);
}

/* What follows "/". */
static int
take_step(struct cursor *c, int *step)
{
	size_t at = c->at;
	char text[CRONEXPR_QUOTE_MAX];

	if (at == c->to)
		return cronexpr_fault(c->p, c->kind, at, "the step is "
		    "missing after \"%s\"", cronexpr_quote(text,
		    c->p->text + c->from, c->to - c->from));
	if (!is_digit(peek(c)))
		return cronexpr_fault(c->p, c->kind, at, "\"%s\" is not a "
		    "step; write a number from 1 on after \"/\"",
		    cronexpr_quote(text, c->p->text + at, c->to - at));
	*step = take_digits(c);
	if (*step == 0)
		return cronexpr_fault(c->p, c->kind, at, "a step of 0 never "
		    "gets on; it is 1 or more");
	return 0;
}

static void
add_values(struct cronexpr_set *set, const struct cronexpr_kind *kind,
    int from, int to, int step)
{
	int base = kind->field == CRONEXPR_YEAR ? kind->least : 0;

	for (int n = from; n <= to; n += step) {
		unsigned bit = (unsigned)(n - base);

		set->bits[bit / 64] |= UINT64_C(1) << bit % 64;
	}
}

static void
warn_step(struct cursor *c, int from, int size, int step)
{
	char item[CRONEXPR_QUOTE_MAX], text[256];

	if (c->p->warn == NULL || step < size || step == 1)
		return;
	snprintf(text, sizeof(text), "%s field, column %zu: the step of "
	    "\"%s\" is larger than its range, so only %d is left of it",
	    cronexpr_field_name(c->kind->field), column_of(c->p, c->from),
	    cronexpr_quote(item, c->p->text + c->from, c->to - c->from),
	    from);
	c->p->warn(c->p->warn_arg, text);
}

/* A value as people write it in that field, for the messages below. */
static const char *
value_text(char buf[16], const struct cursor *c, const struct value *like,
    int n)
{
	if (is_letter(c->p->text[like->at]))
		snprintf(buf, 16, "%s", c->kind->names[n - c->kind->least]);
	else
		snprintf(buf, 16, "%d", n);
	return buf;
}

/* A range that runs backwards: offer what comes around the end. */
static int
fault_backwards(struct cursor *c, const struct value *a,
    const struct value *b, int step)
{
	char ta[16], tb[16], tmost[16], tfirst[16], tstep[16] = "";
	int least = c->kind->least, wrap = c->kind->wrap;
	int first = a->n > wrap ? least + step - 1 :
	    least + (step - 1 - (wrap - a->n) % step);

	value_text(ta, c, a, a->n);
	value_text(tb, c, b, b->n);
	value_text(tmost, c, a, a->n > wrap ? least : wrap);
	if (first <= b->n)
		value_text(tfirst, c, b, first);
	if (step > 1)
		snprintf(tstep, sizeof(tstep), "/%d", step);
	if (c->kind->field == CRONEXPR_YEAR)
		return cronexpr_fault(c->p, c->kind, a->at, "%s-%s runs "
		    "backwards; write %s-%s", ta, tb, tb, ta);
	if (a->n == c->kind->most && a->n > wrap)
		return cronexpr_fault(c->p, c->kind, a->at, "%s-%s runs "
		    "backwards; write 0-%s%s", ta, tb, tb, tstep);
	if (first > b->n)
		return cronexpr_fault(c->p, c->kind, a->at, "%s-%s runs "
		    "backwards; write %s-%s%s", ta, tb, ta, tmost, tstep);
	return cronexpr_fault(c->p, c->kind, a->at, "%s-%s runs backwards; "
	    "write %s-%s%s,%s-%s%s", ta, tb, ta, tmost, tstep, tfirst, tb,
	    tstep);
}

/* "*", "?", a, a-b, each with or without a step. */
static int
parse_plain(struct cursor *c, struct cronexpr_set *set)
{
	struct value a = { c->kind->least, c->at, false };
	struct value b = { c->kind->most, c->at, false };
	bool is_range = true;
	int step = 1;

	if (!take(c, '*') && !take(c, '?')) {
		if (take_value(c, &a) == -1)
			return -1;
		is_range = take(c, '-');
		if (is_range && take_value(c, &b) == -1)
			return -1;
		if (is_range && b.is_sunday)
			b.n = c->kind->most;
	}
	if (take(c, '/')) {
		if (take_step(c, &step) == -1)
			return -1;
	} else if (!is_range) {
		b = a;
	}
	if (c->at != c->to)
		return fault_here(c);
	if (a.n > b.n)
		return fault_backwards(c, &a, &b, step);
	warn_step(c, a.n, b.n - a.n + 1, step);
	add_values(set, c->kind, a.n, b.n, step);
	return 0;
}

/* L, L-n, LW; the L is taken. */
static int
parse_last(struct cursor *c, struct cronexpr_set *set)
{
	int n = 0;

	if (upper(peek(c)) == 'W') {
		c->at++;
		set->dom_near |= 1;
	} else {
		if (take(c, '-')) {
			size_t at = c->at;

			if (!is_digit(peek(c)))
				return fault_here(c);
			n = take_digits(c);
			if (check_range(c, at, n, 1, LAST_OFFSET_MOST) == -1)
				return -1;
		}
		set->dom_last |= UINT32_C(1) << (31 - n);
	}
	set->special = true;
	return c->at == c->to ? 0 : fault_here(c);
}

/* Whether an item of digits and one W is meant. */
static bool
is_near(struct cursor *c)
{
	size_t i = c->at;

	while (i < c->to && is_digit((unsigned char)c->p->text[i]))
		i++;
	return i > c->at && i < c->to && upper(c->p->text[i]) == 'W';
}

static int
parse_near(struct cursor *c, struct cronexpr_set *set)
{
	struct value v;

	if (take_value(c, &v) == -1)
		return -1;
	c->at++;
	set->dom_near |= UINT32_C(1) << v.n;
	set->special = true;
	return c->at == c->to ? 0 : fault_here(c);
}

/* Where dL or d#n has its mark, or 0. */
static size_t
find_mark(struct cursor *c)
{
	size_t i = c->at;

	if (is_digit(peek(c))) {
		while (i < c->to && is_digit((unsigned char)c->p->text[i]))
			i++;
	} else {
		i += 3;
	}
	if (i > c->at && i < c->to && (c->p->text[i] == '#' ||
	    upper(c->p->text[i]) == 'L'))
		return i;
	return 0;
}

static int
parse_weekday(struct cursor *c, size_t mark, struct cronexpr_set *set)
{
	struct cursor day = *c;
	struct value v;
	int n;

	/* A name must not swallow the L. */
	day.to = mark;
	if (take_value(&day, &v) == -1)
		return -1;
	v.n %= 7;
	c->at = mark + 1;
	set->special = true;
	if (c->p->text[mark] != '#') {
		set->dow_last |= (uint8_t)(1 << v.n);
	} else {
		size_t at = c->at;

		if (!is_digit(peek(c)))
			return fault_here(c);
		n = take_digits(c);
		if (check_range(c, at, n, 1, NTH_MOST) == -1)
			return -1;
		set->nth |= UINT64_C(1) << (7 * (n - 1) + v.n);
	}
	return c->at == c->to ? 0 : fault_here(c);
}

/* The hash of the item (semantics of H and ~); false: it is refused. */
static bool
hash_value(struct cursor *c, uint64_t *v)
{
	char item[CRONEXPR_QUOTE_MAX];

	cronexpr_quote(item, c->p->text + c->from, c->to - c->from);
	if (c->kind->word == NULL) {
		cronexpr_fault(c->p, c->kind, c->from, "\"%s\" is not "
		    "possible here; write %s", item, c->kind->sample);
		return false;
	}
	if (c->p->names == NULL) {
		cronexpr_fault(c->p, c->kind, c->from, "\"%s\" is worked out "
		    "from a job's name, and there is none here (--name gives "
		    "one)", item);
		return false;
	}
	*v = hash_schedule(c->p->names->host_id, c->p->names->job,
	    c->kind->word, c->number);
	return true;
}

/* H, H(a-b), each with or without a step; the H is taken. */
static int
parse_hash(struct cursor *c, struct cronexpr_set *set)
{
	struct value a = { c->kind->least, c->at, false };
	struct value b = { c->kind->hash_most, c->at, false };
	int step = 0, size, start;
	uint64_t v;

	if (!hash_value(c, &v))
		return -1;
	if (take(c, '(')) {
		if (take_value(c, &a) == -1)
			return -1;
		if (!take(c, '-'))
			return fault_here(c);
		if (take_value(c, &b) == -1)
			return -1;
		if (b.is_sunday)
			b.n = c->kind->most;
		if (!take(c, ')'))
			return fault_here(c);
		if (a.n > b.n)
			return cronexpr_fault(c->p, c->kind, a.at, "the "
			    "range of H runs backwards");
	}
	if (take(c, '/') && take_step(c, &step) == -1)
		return -1;
	if (c->at != c->to)
		return fault_here(c);
	size = b.n - a.n + 1;
	if (step == 0) {
		start = a.n + (int)(v % (uint64_t)size);
		add_values(set, c->kind, start, start, 1);
	} else {
		start = a.n + (int)(v % (uint64_t)(step < size ? step :
		    size));
		warn_step(c, start, size, step);
		add_values(set, c->kind, start, b.n, step);
	}
	return 0;
}

/* a~b, a~, ~b, ~. */
static int
parse_tilde(struct cursor *c, struct cronexpr_set *set)
{
	struct value a = { c->kind->least, c->at, false };
	struct value b = { c->kind->hash_most, c->at, false };
	uint64_t v;
	int n;

	if (!hash_value(c, &v))
		return -1;
	if (peek(c) != '~' && take_value(c, &a) == -1)
		return -1;
	if (!take(c, '~'))
		return fault_here(c);
	if (c->at != c->to && take_value(c, &b) == -1)
		return -1;
	if (b.is_sunday)
		b.n = c->kind->most;
	if (c->at != c->to)
		return fault_here(c);
	if (a.n > b.n)
		return cronexpr_fault(c->p, c->kind, a.at, "%d~%d runs "
		    "backwards", a.n, b.n);
	n = a.n + (int)(v % (uint64_t)(b.n - a.n + 1));
	add_values(set, c->kind, n, n, 1);
	return 0;
}

int
cronexpr_item_parse(struct cronexpr_parser *p,
    const struct cronexpr_kind *kind, size_t from, size_t to,
    unsigned number, struct cronexpr_set *set)
{
	struct cursor c = { p, kind, from, from, to, number };
	size_t mark;

	if (from == to)
		return cronexpr_fault(p, kind, from, "an item of the list is "
		    "empty; there is a comma too many");
	if (memchr(p->text + from, '~', to - from) != NULL)
		return parse_tilde(&c, set);
	if (upper(peek(&c)) == 'H') {
		c.at++;
		return parse_hash(&c, set);
	}
	if (kind->field == CRONEXPR_DOM) {
		if (upper(peek(&c)) == 'L') {
			c.at++;
			return parse_last(&c, set);
		}
		if (is_near(&c))
			return parse_near(&c, set);
	}
	if (kind->field == CRONEXPR_DOW) {
		if (to - from == 1 && upper(peek(&c)) == 'L')
			return cronexpr_fault(p, kind, from, "L alone does "
			    "not say which day; write for example 5L or FRIL");
		if ((mark = find_mark(&c)) != 0)
			return parse_weekday(&c, mark, set);
	}
	return parse_plain(&c, set);
}
