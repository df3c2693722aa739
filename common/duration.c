/* SPDX-License-Identifier: ISC */
/*
 * Durations and sizes as text.  What is accepted is narrow, one spelling for
 * one thing; what people write instead ("5 min", "1.5h", "10 MB") is
 * understood only to tell them what to write.
 */
#include "config.h"

#include "common/duration.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define N(table) (sizeof table / sizeof *table)
#define MINUTE_MS	INT64_C(60000)
#define HOUR_MS		(60 * MINUTE_MS)
#define DAY_MS		(24 * HOUR_MS)
#define WEEK_MS		(7 * DAY_MS)
#define GUESS_MAX	64	/* bytes; longer texts get no suggestion */
#define GUESS_DECIMALS	6

struct unit {
	const char	*name;	/* as written */
	int64_t		 size;	/* in ms, or in bytes */
};

/* Largest first. */
static const struct unit duration_units[] = {
	{ "w", WEEK_MS },
	{ "d", DAY_MS },
	{ "h", HOUR_MS },
	{ "m", MINUTE_MS },
	{ "s", 1000 },
	{ "ms", 1 },
};

static const struct unit human_units[] = {
	{ "d", DAY_MS },
	{ "h", HOUR_MS },
	{ "min", MINUTE_MS },
	{ "s", 1000 },
};

static const struct unit size_units[] = {
	{ "G", INT64_C(1) << 30 },
	{ "M", INT64_C(1) << 20 },
	{ "K", INT64_C(1) << 10 },
};

/* What people write; case is ignored. */
static const struct unit duration_words[] = {
	{ "", 1000 },
	{ "ms", 1 }, { "msec", 1 }, { "msecs", 1 }, { "millisecond", 1 },
	{ "milliseconds", 1 },
	{ "s", 1000 }, { "sec", 1000 }, { "secs", 1000 }, { "second", 1000 },
	{ "seconds", 1000 },
	{ "m", MINUTE_MS }, { "min", MINUTE_MS }, { "mins", MINUTE_MS },
	{ "minute", MINUTE_MS }, { "minutes", MINUTE_MS },
	{ "h", HOUR_MS }, { "hr", HOUR_MS }, { "hrs", HOUR_MS },
	{ "hour", HOUR_MS }, { "hours", HOUR_MS },
	{ "d", DAY_MS }, { "day", DAY_MS }, { "days", DAY_MS },
	{ "w", WEEK_MS }, { "wk", WEEK_MS }, { "wks", WEEK_MS },
	{ "week", WEEK_MS }, { "weeks", WEEK_MS },
};

static const struct unit size_words[] = {
	{ "", 1 }, { "b", 1 }, { "byte", 1 }, { "bytes", 1 },
	{ "k", INT64_C(1) << 10 }, { "kb", INT64_C(1) << 10 },
	{ "kib", INT64_C(1) << 10 },
	{ "m", INT64_C(1) << 20 }, { "mb", INT64_C(1) << 20 },
	{ "mib", INT64_C(1) << 20 },
	{ "g", INT64_C(1) << 30 }, { "gb", INT64_C(1) << 30 },
	{ "gib", INT64_C(1) << 30 },
	{ "t", INT64_C(1) << 40 }, { "tb", INT64_C(1) << 40 },
	{ "tib", INT64_C(1) << 40 },
};

/* ASCII, whatever the locale says. */
static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Moves *i over digits; their value, or INT64_MAX if that is too small. */
static int64_t
take_number(const char *s, size_t len, size_t *i)
{
	int64_t n = 0;

	for (; *i < len && is_digit(s[*i]); (*i)++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, s[*i] - '0', &n))
			n = INT64_MAX;
	return n;
}

/* Moves *i over letters and finds the unit they name. */
static const struct unit *
take_unit(const char *s, size_t len, size_t *i, const struct unit *units,
    size_t n, bool ignore_case)
{
	size_t from = *i, size;

	while (*i < len && is_letter(s[*i]))
		(*i)++;
	size = *i - from;
	for (size_t u = 0; u < n; u++)
		if (strlen(units[u].name) == size && (ignore_case ?
		    strncasecmp(units[u].name, s + from, size) :
		    memcmp(units[u].name, s + from, size)) == 0)
			return &units[u];
	return NULL;
}

/* a += n * size, or INT64_MAX when that is beyond the type. */
static void
add_product(int64_t *a, int64_t n, int64_t size)
{
	int64_t product;

	if (__builtin_mul_overflow(n, size, &product) ||
	    __builtin_add_overflow(*a, product, a))
		*a = INT64_MAX;
}

/*
 * One number as people write it: "1.5 hours", "10MB".  False when it is none
 * or not a whole number of the smallest unit.
 */
static bool
guess_term(const char *s, size_t len, size_t *i, const struct unit *words,
    size_t n_words, int64_t *total)
{
	const struct unit *unit;
	int64_t whole, part = 0, scale = 1;
	size_t from = *i;

	whole = take_number(s, len, i);
	if (*i == from)
		return false;
	if (*i < len && s[*i] == '.') {
		from = ++*i;
		part = take_number(s, len, i);
		if (*i == from || *i - from > GUESS_DECIMALS)
			return false;
		for (size_t d = from; d < *i; d++)
			scale *= 10;
	}
	while (*i < len && s[*i] == ' ')
		(*i)++;
	unit = take_unit(s, len, i, words, n_words, true);
	if (unit == NULL || part * unit->size % scale != 0)
		return false;
	add_product(total, whole, unit->size);
	add_product(total, part * unit->size / scale, 1);
	return true;
}

/* What was probably meant, for the error message only. */
static bool
guess(const char *s, size_t len, const struct unit *words, size_t n_words,
    int64_t max, int64_t *out)
{
	size_t i = 0;

	*out = 0;
	if (len == 0 || len > GUESS_MAX)
		return false;
	while (i < len) {
		if (!guess_term(s, len, &i, words, n_words, out))
			return false;
		while (i < len && (s[i] == ' ' || s[i] == ','))
			i++;
		if (len - i > 4 && strncasecmp(s + i, "and ", 4) == 0)
			i += 4;
	}
	return *out <= max;
}

/* False when the text is none; the value may be above the limit. */
static bool
parse_sum(const char *s, size_t len, int64_t *ms)
{
	unsigned seen = 0;
	size_t i = 0;

	*ms = 0;
	while (i < len) {
		size_t from = i;
		int64_t n = take_number(s, len, &i);
		const struct unit *unit;

		if (i == from)
			return false;
		if (i == len && from == 0) {
			add_product(ms, n, 1000);
			return true;
		}
		unit = take_unit(s, len, &i, duration_units,
		    N(duration_units), false);
		if (unit == NULL || seen & 1U << (unit - duration_units))
			return false;
		seen |= 1U << (unit - duration_units);
		add_product(ms, n, unit->size);
	}
	return len > 0;
}

int
duration_parse(const char *s, size_t len, int64_t *ms, struct error *err)
{
	char quoted[ERROR_QUOTE_MAX], text[DURATION_MAX_LEN];
	int64_t value;

	if (parse_sum(s, len, &value)) {
		if (value > DURATION_MAX_MS) {
			duration_format(text, DURATION_MAX_MS);
			return error_set(err, "%s is too long; write at most "
			    "%s", error_quote(quoted, s, len), text);
		}
		*ms = value;
		return 0;
	}
	error_quote(quoted, s, len);
	if (!guess(s, len, duration_words, N(duration_words), DURATION_MAX_MS,
	    &value))
		return error_set(err, "%s is not a duration; write for "
		    "example 90s, 5m or 1h30m", quoted);
	duration_format(text, value);
	return error_set(err, "%s is not a duration; write %s", quoted, text);
}

void
duration_format(char buf[DURATION_MAX_LEN], int64_t ms)
{
	size_t at = 0;

	/* "30d", not "4w2d". */
	if (ms > 0 && ms % WEEK_MS == 0) {
		snprintf(buf, DURATION_MAX_LEN, "%lldw",
		    (long long)(ms / WEEK_MS));
		return;
	}
	if (ms == 0)
		at = (size_t)snprintf(buf, DURATION_MAX_LEN, "0s");
	for (size_t u = 1; u < N(duration_units); u++) {
		const struct unit *unit = &duration_units[u];

		if (ms / unit->size == 0)
			continue;
		at += (size_t)snprintf(buf + at, DURATION_MAX_LEN - at,
		    "%lld%s", (long long)(ms / unit->size), unit->name);
		ms %= unit->size;
	}
}

void
duration_format_human(char buf[DURATION_MAX_LEN], int64_t ms)
{
	const char *sign = ms < 0 ? "-" : "";
	uint64_t left = ms < 0 ? -(uint64_t)ms : (uint64_t)ms;
	size_t u = 0;
	uint64_t more;

	while (u < N(human_units) && left < (uint64_t)human_units[u].size)
		u++;
	if (u == N(human_units)) {
		snprintf(buf, DURATION_MAX_LEN, "%s%llu ms", left > 0 ? sign :
		    "", (unsigned long long)left);
		return;
	}
	more = u + 1 == N(human_units) ? 0 : left %
	    (uint64_t)human_units[u].size / (uint64_t)human_units[u + 1].size;
	left /= (uint64_t)human_units[u].size;
	if (more > 0)
		snprintf(buf, DURATION_MAX_LEN, "%s%llu %s %llu %s", sign,
		    (unsigned long long)left, human_units[u].name,
		    (unsigned long long)more, human_units[u + 1].name);
	else
		snprintf(buf, DURATION_MAX_LEN, "%s%llu %s", sign,
		    (unsigned long long)left, human_units[u].name);
}

int
size_parse(const char *s, size_t len, int64_t *bytes, struct error *err)
{
	char quoted[ERROR_QUOTE_MAX], text[DURATION_MAX_LEN];
	const struct unit *unit = NULL;
	int64_t n, value = 0;
	size_t i = 0;

	error_quote(quoted, s, len);
	n = take_number(s, len, &i);
	if (i > 0 && i < len)
		unit = take_unit(s, len, &i, size_units, N(size_units),
		    false);
	if (i > 0 && i == len && (unit != NULL || is_digit(s[len - 1]))) {
		add_product(&value, n, unit != NULL ? unit->size : 1);
		if (value == INT64_MAX)
			return error_set(err, "%s is too large; write at "
			    "most 8589934591G", quoted);
		*bytes = value;
		return 0;
	}
	if (!guess(s, len, size_words, N(size_words), INT64_MAX - 1, &value))
		return error_set(err, "%s is not a size; write for example "
		    "4096, 10K, 1M or 2G", quoted);
	size_format(text, value);
	return error_set(err, "%s is not a size; write %s", quoted, text);
}

void
size_format(char buf[DURATION_MAX_LEN], int64_t bytes)
{
	for (size_t u = 0; u < N(size_units); u++) {
		if (bytes == 0 || bytes % size_units[u].size != 0)
			continue;
		snprintf(buf, DURATION_MAX_LEN, "%lld%s",
		    (long long)(bytes / size_units[u].size),
		    size_units[u].name);
		return;
	}
	snprintf(buf, DURATION_MAX_LEN, "%lld", (long long)bytes);
}
