/* SPDX-License-Identifier: ISC */
/*
 * From text to an expression: words, fields, and the few rules that look at
 * more than one item.  A word such as @daily stands for a text, which is
 * parsed like any other.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cronexpr_internal.h"
#include "common/cronexpr_item.h"
#include "common/nearest.h"
#include "common/xmalloc.h"

#define FIELDS_LEAST	5	/* minute to day of week */
#define FIELDS_MOST	7	/* second to year */

/* Words that stand for an expression. */
static const struct word {
	const char	*name;	/* without the @ */
	const char	*text;	/* what it stands for */
} words[] = {
	{ "yearly", "0 0 1 1 *" },
	{ "annually", "0 0 1 1 *" },
	{ "monthly", "0 0 1 * *" },
	{ "weekly", "0 0 * * 0" },
	{ "daily", "0 0 * * *" },
	{ "midnight", "0 0 * * *" },
	{ "hourly", "0 * * * *" },
};

#define NWORDS (sizeof(words) / sizeof(words[0]))

/* A field's place in the text. */
struct piece {
	size_t	from;	/* its first byte */
	size_t	to;	/* behind its last one */
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Finds the fields; more than FIELDS_MOST are counted and only the first kept. */
static size_t
split(const struct cronexpr_parser *p, size_t from,
    struct piece pieces[FIELDS_MOST + 1])
{
	size_t n = 0, i = from;

	for (;;) {
		size_t start;

		while (i < p->len && is_blank(p->text[i]))
			i++;
		if (i == p->len)
			return n;
		start = i;
		while (i < p->len && !is_blank(p->text[i]))
			i++;
		if (n <= FIELDS_MOST)
			pieces[n] = (struct piece){ start, i };
		n++;
	}
}

const char *
cronexpr_word(size_t i)
{
	return i < NWORDS ? words[i].name : NULL;
}

static const char *
word_get(const void *arg, size_t i)
{
	const struct word *w = arg;

	return w[i].name;
}

/* A text without fields enough: say which are missing, or which word was meant. */
static int
fault_too_few(const struct cronexpr_parser *p, const struct piece *pieces,
    size_t n)
{
	static const char *const missing[FIELDS_LEAST] = {
		"all of them are",
		"hour, day of month, month and day of week are",
		"day of month, month and day of week are",
		"month and day of week are",
		"day of week is"
	};
	char last[CRONEXPR_QUOTE_MAX] = "";
	const char *near = NULL;

	if (n > 0)
		cronexpr_quote(last, p->text + pieces[n - 1].from,
		    pieces[n - 1].to - pieces[n - 1].from);
	if (n == 1)
		near = nearest_find(last, NWORDS, word_get, words);
	if (near != NULL)
		return error_set(p->err, "\"%s\" is one field, want 5 (minute "
		    "hour day month weekday), 6 (seconds first) or 7 (and a "
		    "year); did you mean @%s?", last, near);
	if (n == 0)
		return error_set(p->err, "the expression is empty, want 5 "
		    "fields (minute hour day month weekday), 6 (seconds "
		    "first) or 7 (and a year)");
	return error_set(p->err, "%zu field%s, want 5 (minute hour day month "
	    "weekday), 6 (seconds first) or 7 (and a year); %s missing after "
	    "\"%s\"", n, n == 1 ? "" : "s", missing[n], last);
}

static int
check_count(const struct cronexpr_parser *p, const struct piece *pieces,
    size_t n)
{
	char extra[CRONEXPR_QUOTE_MAX];

	if (n < FIELDS_LEAST)
		return fault_too_few(p, pieces, n);
	if (n <= FIELDS_MOST)
		return 0;
	cronexpr_quote(extra, p->text + pieces[FIELDS_MOST].from,
	    pieces[FIELDS_MOST].to - pieces[FIELDS_MOST].from);
	return error_set(p->err, "%zu fields, want 5 (minute hour day month "
	    "weekday), 6 (seconds first) or 7 (and a year); \"%s\" at column "
	    "%zu is too many", n, extra, pieces[FIELDS_MOST].from + 1);
}

static int
parse_field(struct cronexpr_parser *p, const struct cronexpr_kind *kind,
    struct piece piece, struct cronexpr_set *set)
{
	size_t from = piece.from;
	unsigned number = 0;

	memset(set, 0, sizeof(*set));
	for (;;) {
		size_t to = from;

		while (to < piece.to && p->text[to] != ',')
			to++;
		if (cronexpr_item_parse(p, kind, from, to, number++,
		    set) == -1)
			return -1;
		if (to == piece.to)
			return 0;
		from = to + 1;
	}
}

static bool
begins_with_star(const struct cronexpr_parser *p, struct piece piece)
{
	return p->text[piece.from] == '*' || p->text[piece.from] == '?';
}

static void
take_sets(struct cronexpr *x, const struct cronexpr_set *sets, bool has_year)
{
	const struct cronexpr_set *dom = &sets[CRONEXPR_DOM];
	const struct cronexpr_set *dow = &sets[CRONEXPR_DOW];
	const size_t size = CRONEXPR_YEAR_WORDS * sizeof(uint64_t);

	x->second = sets[CRONEXPR_SECOND].bits[0];
	x->minute = sets[CRONEXPR_MINUTE].bits[0];
	x->hour = (uint32_t)sets[CRONEXPR_HOUR].bits[0];
	x->dom = (uint32_t)dom->bits[0];
	x->dom_last = dom->dom_last;
	x->dom_near = dom->dom_near;
	x->month = (uint16_t)sets[CRONEXPR_MONTH].bits[0];
	x->dow = (uint8_t)((dow->bits[0] | dow->bits[0] >> 7) & 0x7f);
	x->dow_last = dow->dow_last;
	x->nth = dow->nth;
	x->special = dom->special || dow->special;
	if (!has_year)
		return;
	x->years = xcalloc(2, size);
	memcpy(x->years, sets[CRONEXPR_YEAR].bits, size);
}

static void
warn_days(const struct cronexpr_parser *p, const struct piece *dom,
    const struct piece *dow)
{
	char a[CRONEXPR_QUOTE_MAX], b[CRONEXPR_QUOTE_MAX], text[256];

	if (p->warn == NULL)
		return;
	snprintf(text, sizeof(text), "day of month (\"%s\") and day of week "
	    "(\"%s\") are both given: a day matches if either one does",
	    cronexpr_quote(a, p->text + dom->from, dom->to - dom->from),
	    cronexpr_quote(b, p->text + dow->from, dow->to - dow->from));
	p->warn(p->warn_arg, text);
}

static struct cronexpr *
parse_fields(struct cronexpr_parser *p, size_t from)
{
	struct cronexpr_set sets[CRONEXPR_FIELDS];
	struct piece pieces[FIELDS_MOST + 1], all[CRONEXPR_FIELDS];
	size_t n = split(p, from, pieces);
	size_t first = n == FIELDS_LEAST ? CRONEXPR_MINUTE : CRONEXPR_SECOND;
	struct cronexpr *x;

	if (check_count(p, pieces, n) == -1)
		return NULL;
	p->nfields = n;
	memset(sets, 0, sizeof(sets));
	sets[CRONEXPR_SECOND].bits[0] = 1;
	for (size_t i = 0; i < n; i++) {
		all[first + i] = pieces[i];
		if (parse_field(p, &cronexpr_kinds[first + i], pieces[i],
		    &sets[first + i]) == -1)
			return NULL;
	}
	x = xcalloc(1, sizeof(*x));
	take_sets(x, sets, n == FIELDS_MOST);
	x->either_day = !begins_with_star(p, all[CRONEXPR_DOM]) &&
	    !begins_with_star(p, all[CRONEXPR_DOW]);
	x->fixed_time = !begins_with_star(p, all[CRONEXPR_MINUTE]) &&
	    !begins_with_star(p, all[CRONEXPR_HOUR]);
	if (x->either_day)
		warn_days(p, &all[CRONEXPR_DOM], &all[CRONEXPR_DOW]);
	cronexpr_settle(x);
	return x;
}

static int
fault_word(const struct cronexpr_parser *p, size_t from, size_t to)
{
	char word[CRONEXPR_QUOTE_MAX];
	const char *near;

	cronexpr_quote(word, p->text + from, to - from);
	near = nearest_find(word + 1, NWORDS, word_get, words);
	if (near != NULL)
		return error_set(p->err, "%s is not a known word; did you "
		    "mean @%s?", word, near);
	return error_set(p->err, "%s is not a known word; words are @yearly, "
	    "@annually, @monthly, @weekly, @daily, @midnight and @hourly",
	    to - from == 1 ? "\"@\" alone" : word);
}

/* "@" and a word; from is where the "@" is. */
static struct cronexpr *
parse_word(struct cronexpr_parser *p, size_t from)
{
	size_t to = from, rest;
	char word[CRONEXPR_QUOTE_MAX], more[CRONEXPR_QUOTE_MAX];

	while (to < p->len && !is_blank(p->text[to]))
		to++;
	for (rest = to; rest < p->len && is_blank(p->text[rest]); rest++)
		;
	for (size_t i = 0; i < NWORDS; i++) {
		struct cronexpr_parser q = *p;

		if (strlen(words[i].name) != to - from - 1 ||
		    memcmp(words[i].name, p->text + from + 1,
		    to - from - 1) != 0)
			continue;
		if (rest < p->len) {
			error_set(p->err, "%s stands alone; \"%s\" at column "
			    "%zu does not belong after it",
			    cronexpr_quote(word, p->text + from, to - from),
			    cronexpr_quote(more, p->text + rest,
			    p->len - rest), rest + 1);
			return NULL;
		}
		q.text = words[i].text;
		q.len = strlen(q.text);
		return parse_fields(&q, 0);
	}
	fault_word(p, from, to);
	return NULL;
}

static struct cronexpr *
parse(struct cronexpr_parser *p, size_t from)
{
	if (p->len - from > CRONEXPR_TEXT_MAX) {
		error_set(p->err, "the expression has %zu bytes, more than "
		    "%d", p->len - from, CRONEXPR_TEXT_MAX);
		return NULL;
	}
	while (from < p->len && is_blank(p->text[from]))
		from++;
	if (from < p->len && p->text[from] == '@')
		return parse_word(p, from);
	return parse_fields(p, from);
}

struct cronexpr *
cronexpr_parse(const char *s, size_t len, const struct cronexpr_names *names,
    struct error *err)
{
	return cronexpr_parse_from(s, len, 0, names, err);
}

struct cronexpr *
cronexpr_parse_from(const char *text, size_t len, size_t from,
    const struct cronexpr_names *names, struct error *err)
{
	struct cronexpr_parser p = {
		.text = text, .len = len, .names = names, .err = err
	};

	return parse(&p, from);
}

void
cronexpr_warnings(const char *s, size_t len,
    void (*warn)(void *arg, const char *sentence), void *arg)
{
	cronexpr_warnings_from(s, len, 0, warn, arg);
}

void
cronexpr_warnings_from(const char *text, size_t len, size_t from,
    void (*warn)(void *arg, const char *sentence), void *arg)
{
	/* What H becomes does not matter to any warning. */
	static const struct cronexpr_names names = { "", "" };
	struct cronexpr_parser p = {
		.text = text, .len = len, .names = &names, .warn = warn,
		.warn_arg = arg
	};

	cronexpr_free(parse(&p, from));
}
