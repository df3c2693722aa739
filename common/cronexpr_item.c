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

#include <stdio.h>
#include <string.h>

#include "common/hash.h"

#define LAST_OFFSET_MOST 30		/* L-n */
#define NTH_MOST	5		/* d#n */

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
warn_step(struct cronexpr_cursor *c, int from, int size, int step)
{
	char item[CRONEXPR_QUOTE_MAX], text[256];

	if (c->p->warn == NULL || step < size || step == 1)
		return;
	snprintf(text, sizeof(text), "%s field, column %zu: the step of "
	    "\"%s\" is larger than its range, so only %d is left of it",
	    cronexpr_field_name(c->kind->field), cronexpr_column(c->p, c->from),
	    cronexpr_quote(item, c->p->text + c->from, c->to - c->from),
	    from);
	c->p->warn(c->p->warn_arg, text);
}

/* A value as people write it in that field, for the messages below. */
static const char *
value_text(char buf[16], const struct cronexpr_cursor *c, const struct cronexpr_value *like,
    int n)
{
	if (cursor_is_letter(c->p->text[like->at]))
		snprintf(buf, 16, "%s", c->kind->names[n - c->kind->least]);
	else
		snprintf(buf, 16, "%d", n);
	return buf;
}

static void
range_text(char buf[48], const struct cronexpr_cursor *c, const struct cronexpr_value *like,
    int from, int to, const char *step)
{
	char a[16], b[16];

	value_text(a, c, like, from);
	if (from == to)
		snprintf(buf, 48, "%s", a);
	else
		snprintf(buf, 48, "%s-%s%s", a, value_text(b, c, like, to),
		    step);
}

/* A range that runs backwards: offer what comes around the end. */
static int
fault_backwards(struct cronexpr_cursor *c, const struct cronexpr_value *a,
    const struct cronexpr_value *b, int step)
{
	char ta[16], tb[16], high[48], low[48] = "", tstep[16] = "";
	int least = c->kind->least, wrap = c->kind->wrap;
	/* 7 is Sunday too, so what follows it begins with Monday. */
	int first = a->n > wrap ? step :
	    least + (step - 1 - (wrap - a->n) % step);

	value_text(ta, c, a, a->n);
	value_text(tb, c, b, b->n);
	if (step > 1)
		snprintf(tstep, sizeof(tstep), "/%d", step);
	if (c->kind->field == CRONEXPR_YEAR)
		return cronexpr_fault(c->p, c->kind, a->at, "%s-%s runs "
		    "backwards; write %s-%s", ta, tb, tb, ta);
	range_text(high, c, a, a->n, a->n > wrap ? a->n : wrap, tstep);
	if (first <= b->n)
		range_text(low, c, b, first, b->n, tstep);
	return cronexpr_fault(c->p, c->kind, a->at, "%s-%s runs backwards; "
	    "write %s%s%s", ta, tb, high, low[0] == '\0' ? "" : ",", low);
}

/* "*", "?", a, a-b, each with or without a step. */
static int
parse_plain(struct cronexpr_cursor *c, struct cronexpr_set *set)
{
	struct cronexpr_value a = { c->kind->least, c->at, false };
	struct cronexpr_value b = { c->kind->most, c->at, false };
	bool is_range = true;
	int step = 1;

	if (!cursor_take(c, '*') && !cursor_take(c, '?')) {
		if (cronexpr_cursor_value(c, &a) == -1)
			return -1;
		is_range = cursor_take(c, '-');
		if (is_range && cronexpr_cursor_value(c, &b) == -1)
			return -1;
		if (is_range && b.is_sunday)
			b.n = c->kind->most;
	}
	if (cursor_take(c, '/')) {
		if (cronexpr_cursor_step(c, &step) == -1)
			return -1;
	} else if (!is_range) {
		b = a;
	}
	if (c->at != c->to)
		return cronexpr_cursor_fault(c);
	if (a.n > b.n)
		return fault_backwards(c, &a, &b, step);
	warn_step(c, a.n, b.n - a.n + 1, step);
	add_values(set, c->kind, a.n, b.n, step);
	return 0;
}

/* L, L-n, LW; the L is taken. */
static int
parse_last(struct cronexpr_cursor *c, struct cronexpr_set *set)
{
	int n = 0;

	if (cursor_upper(cursor_peek(c)) == 'W') {
		c->at++;
		set->dom_near |= 1;
	} else {
		if (cursor_take(c, '-')) {
			size_t at = c->at;

			if (!cursor_is_digit(cursor_peek(c)))
				return cronexpr_cursor_fault(c);
			n = cronexpr_cursor_digits(c);
			if (cronexpr_cursor_check(c, at, n, 1, LAST_OFFSET_MOST) == -1)
				return -1;
		}
		set->dom_last |= UINT32_C(1) << (31 - n);
	}
	set->special = true;
	return c->at == c->to ? 0 : cronexpr_cursor_fault(c);
}

/* Whether an item of digits and one W is meant. */
static bool
is_near(struct cronexpr_cursor *c)
{
	size_t i = c->at;

	while (i < c->to && cursor_is_digit((unsigned char)c->p->text[i]))
		i++;
	return i > c->at && i < c->to && cursor_upper(c->p->text[i]) == 'W';
}

static int
parse_near(struct cronexpr_cursor *c, struct cronexpr_set *set)
{
	struct cronexpr_value v;

	if (cronexpr_cursor_value(c, &v) == -1)
		return -1;
	c->at++;
	set->dom_near |= UINT32_C(1) << v.n;
	set->special = true;
	return c->at == c->to ? 0 : cronexpr_cursor_fault(c);
}

/* Where dL or d#n has its mark, or 0. */
static size_t
find_mark(struct cronexpr_cursor *c)
{
	size_t i = c->at;

	if (cursor_is_digit(cursor_peek(c))) {
		while (i < c->to && cursor_is_digit((unsigned char)c->p->text[i]))
			i++;
	} else {
		i += 3;
	}
	if (i > c->at && i < c->to && (c->p->text[i] == '#' ||
	    cursor_upper(c->p->text[i]) == 'L'))
		return i;
	return 0;
}

static int
parse_weekday(struct cronexpr_cursor *c, size_t mark, struct cronexpr_set *set)
{
	struct cronexpr_cursor day = *c;
	struct cronexpr_value v;
	int n;

	/* A name must not swallow the L. */
	day.to = mark;
	if (cronexpr_cursor_value(&day, &v) == -1)
		return -1;
	v.n %= 7;
	c->at = mark + 1;
	set->special = true;
	if (c->p->text[mark] != '#') {
		set->dow_last |= (uint8_t)(1 << v.n);
	} else {
		size_t at = c->at;

		if (!cursor_is_digit(cursor_peek(c)))
			return cronexpr_cursor_fault(c);
		n = cronexpr_cursor_digits(c);
		if (cronexpr_cursor_check(c, at, n, 1, NTH_MOST) == -1)
			return -1;
		set->nth |= UINT64_C(1) << (7 * (n - 1) + v.n);
	}
	return c->at == c->to ? 0 : cronexpr_cursor_fault(c);
}

/* The hash of the item (semantics of H and ~); false: it is refused. */
static bool
hash_value(struct cronexpr_cursor *c, uint64_t *v)
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
parse_hash(struct cronexpr_cursor *c, struct cronexpr_set *set)
{
	struct cronexpr_value a = { c->kind->least, c->at, false };
	struct cronexpr_value b = { c->kind->hash_most, c->at, false };
	int step = 0, size, start;
	uint64_t v;

	if (!hash_value(c, &v))
		return -1;
	if (cursor_take(c, '(')) {
		if (cronexpr_cursor_value(c, &a) == -1)
			return -1;
		if (!cursor_take(c, '-'))
			return cronexpr_cursor_fault(c);
		if (cronexpr_cursor_value(c, &b) == -1)
			return -1;
		if (b.is_sunday)
			b.n = c->kind->most;
		if (!cursor_take(c, ')'))
			return cronexpr_cursor_fault(c);
		if (a.n > b.n)
			return cronexpr_fault(c->p, c->kind, a.at, "the "
			    "range of H runs backwards");
	}
	if (cursor_take(c, '/') && cronexpr_cursor_step(c, &step) == -1)
		return -1;
	if (c->at != c->to)
		return cronexpr_cursor_fault(c);
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
parse_tilde(struct cronexpr_cursor *c, struct cronexpr_set *set)
{
	struct cronexpr_value a = { c->kind->least, c->at, false };
	struct cronexpr_value b = { c->kind->hash_most, c->at, false };
	uint64_t v;
	int n;

	if (!hash_value(c, &v))
		return -1;
	if (cursor_peek(c) != '~' && cronexpr_cursor_value(c, &a) == -1)
		return -1;
	if (!cursor_take(c, '~'))
		return cronexpr_cursor_fault(c);
	if (c->at != c->to && cronexpr_cursor_value(c, &b) == -1)
		return -1;
	if (b.is_sunday)
		b.n = c->kind->most;
	if (c->at != c->to)
		return cronexpr_cursor_fault(c);
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
	struct cronexpr_cursor c = { p, kind, from, from, to, number };
	size_t mark;

	if (from == to)
		return cronexpr_fault(p, kind, from, "an item of the list is "
		    "empty; there is a comma too many");
	if (memchr(p->text + from, '~', to - from) != NULL)
		return parse_tilde(&c, set);
	if (cursor_upper(cursor_peek(&c)) == 'H') {
		c.at++;
		return parse_hash(&c, set);
	}
	if (kind->field == CRONEXPR_DOM) {
		if (cursor_upper(cursor_peek(&c)) == 'L') {
			c.at++;
			return parse_last(&c, set);
		}
		if (is_near(&c))
			return parse_near(&c, set);
	}
	if (kind->field == CRONEXPR_DOW) {
		if (to - from == 1 && cursor_upper(cursor_peek(&c)) == 'L')
			return cronexpr_fault(p, kind, from, "L alone does "
			    "not say which day; write for example 5L or FRIL");
		if ((mark = find_mark(&c)) != 0)
			return parse_weekday(&c, mark, set);
	}
	return parse_plain(&c, set);
}
