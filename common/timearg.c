/* SPDX-License-Identifier: ISC */
/*
 * Times as people write them.  Each form is tried on the whole text, from
 * left to right and digit by digit; what fits none is refused with examples.
 * Nothing is guessed: no month names, no "5pm", no two-digit years.
 */
#include "config.h"

#include "common/timearg.h"

#include <stdbool.h>
#include <string.h>

#include "common/duration.h"
#include "common/nearest.h"
#include "common/timestamp.h"
#include "common/utf8.h"

#define SHOWN_MAX	40	/* bytes of the text in a message */
#define DAYS_AROUND	3	/* days searched for HH:MM */

/* What is being read. */
struct input {
	const char	*s;	/* the whole text, trimmed */
	size_t		 len;	/* its bytes */
	size_t		 at;	/* next byte */
	struct error	*err;	/* where to say what is wrong */
};

/* Words for days, counted from today. */
static const struct day_word {
	const char	*name;	/* as written */
	int		 days;	/* from today */
} day_words[] = {
	{ "today", 0 }, { "yesterday", -1 }, { "tomorrow", 1 },
};

#define NDAY_WORDS (sizeof(day_words) / sizeof(day_words[0]))

static const char *
word_get(const void *arg, size_t i)
{
	const struct day_word *w = arg;

	return w[i].name;
}

/* Bytes of the text that a message can show. */
static int
shown(const struct input *in)
{
	size_t n = in->len < SHOWN_MAX ? in->len : SHOWN_MAX;

	n = utf8_valid_prefix(in->s, n);
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)in->s[i] < ' ' || in->s[i] == 0x7f)
			return (int)i;
	return (int)n;
}

static int
refuse(const struct input *in)
{
	char word[SHOWN_MAX + 1];
	size_t n = 0;
	const char *near;

	while (n < in->len && n < SHOWN_MAX && in->s[n] >= 'A' &&
	    in->s[n] <= 'z') {
		word[n] = in->s[n];
		n++;
	}
	word[n] = '\0';
	near = nearest_find(word, NDAY_WORDS, word_get, day_words);
	if (near != NULL)
		return error_set(in->err, "\"%.*s\" is not a time; did you "
		    "mean %s?", shown(in), in->s, near);
	return error_set(in->err, "\"%.*s\" is not a time; write for example "
	    "2026-12-01 07:30, 2026-12-01T07:30:00Z, 07:30, tomorrow 07:30, "
	    "+2h, -2h or @1700000000", shown(in), in->s);
}

static bool
is_digit_at(const struct input *in, size_t i)
{
	return i < in->len && in->s[i] >= '0' && in->s[i] <= '9';
}

static bool
take(struct input *in, char c)
{
	if (in->at == in->len || in->s[in->at] != c)
		return false;
	in->at++;
	return true;
}

/* Exactly so many digits. */
static bool
take_number(struct input *in, size_t digits, int *out)
{
	int n = 0;

	for (size_t i = 0; i < digits; i++)
		if (!is_digit_at(in, in->at + i))
			return false;
	for (size_t i = 0; i < digits; i++)
		n = n * 10 + (in->s[in->at++] - '0');
	*out = n;
	return !is_digit_at(in, in->at);
}

static int
check(const struct input *in, const char *what, int n, int least, int most)
{
	if (n >= least && n <= most)
		return 0;
	return error_set(in->err, "\"%.*s\": %s %d is not within %d-%d",
	    shown(in), in->s, what, n, least, most);
}

/* YYYY-MM-DD; false: no such form. */
static bool
take_date(struct input *in, struct civil *c)
{
	int year;

	if (!take_number(in, 4, &year) || !take(in, '-') ||
	    !take_number(in, 2, &c->month) || !take(in, '-') ||
	    !take_number(in, 2, &c->day))
		return false;
	c->year = year;
	return true;
}

static int
check_date(const struct input *in, const struct civil *c)
{
	if (check(in, "year", (int)c->year, 1, 9999) == -1 ||
	    check(in, "month", c->month, 1, 12) == -1)
		return -1;
	return check(in, "day", c->day, 1,
	    civil_month_days(c->year, c->month));
}

/* HH:MM[:SS]; false: no such form. */
static bool
take_clock(struct input *in, struct civil *c)
{
	c->second = 0;
	if (!take_number(in, 2, &c->hour) || !take(in, ':') ||
	    !take_number(in, 2, &c->minute))
		return false;
	return !take(in, ':') || take_number(in, 2, &c->second);
}

static int
check_clock(const struct input *in, const struct civil *c)
{
	if (check(in, "hour", c->hour, 0, 23) == -1 ||
	    check(in, "minute", c->minute, 0, 59) == -1)
		return -1;
	return check(in, "second", c->second, 0, 59);
}

/* A fraction of a second, which must be none: times are whole seconds. */
static int
take_fraction(struct input *in)
{
	if (!take(in, '.'))
		return 0;
	if (!is_digit_at(in, in->at))
		return refuse(in);
	for (; is_digit_at(in, in->at); in->at++)
		if (in->s[in->at] != '0')
			return error_set(in->err, "\"%.*s\": times are whole "
			    "seconds; leave the fraction out", shown(in),
			    in->s);
	return 0;
}

/*
 * The offset of RFC 3339, or none: then local is in the zone.  What a date
 * alone may not have, a time may.
 */
static int
take_offset(struct input *in, const struct zone *zone, int64_t local,
    int64_t *out)
{
	int hours, minutes, sign;

	if (in->at == in->len) {
		*out = zone_local_to_utc(zone, local);
		return 0;
	}
	if (take(in, 'Z') || take(in, 'z')) {
		*out = local;
		return in->at == in->len ? 0 : refuse(in);
	}
	sign = take(in, '+') ? 1 : take(in, '-') ? -1 : 0;
	if (sign == 0 || !take_number(in, 2, &hours) || !take(in, ':') ||
	    !take_number(in, 2, &minutes) || in->at != in->len)
		return refuse(in);
	if (check(in, "the hour of the offset", hours, 0, 23) == -1 ||
	    check(in, "the minute of the offset", minutes, 0, 59) == -1)
		return -1;
	*out = local - sign * (hours * 3600 + minutes * 60);
	return 0;
}

static void
skip_blanks(struct input *in)
{
	while (in->at < in->len && in->s[in->at] == ' ')
		in->at++;
}

static int
parse_date(struct input *in, const struct zone *zone, int64_t *out)
{
	struct civil c = { 0 };

	if (!take_date(in, &c))
		return refuse(in);
	if (check_date(in, &c) == -1)
		return -1;
	if (in->at == in->len) {
		*out = zone_local_to_utc(zone, civil_seconds(&c));
		return 0;
	}
	if (take(in, ' '))
		skip_blanks(in);
	else if (!take(in, 'T') && !take(in, 't'))
		return refuse(in);
	if (!take_clock(in, &c))
		return refuse(in);
	if (check_clock(in, &c) == -1 || take_fraction(in) == -1)
		return -1;
	return take_offset(in, zone, civil_seconds(&c), out);
}

/* Midnight of the zone's day that an instant is in, on the local clock. */
static int64_t
local_midnight(const struct zone *zone, int64_t now)
{
	int64_t local = now + zone_offset(zone, now);
	int64_t day = local / SEC_PER_DAY - (local % SEC_PER_DAY < 0);

	return day * SEC_PER_DAY;
}

static int
parse_clock(struct input *in, const struct zone *zone, int64_t now,
    enum timearg_use use, int64_t *out)
{
	struct civil c = { .year = 1970, .month = 1, .day = 1 };
	int64_t midnight = local_midnight(zone, now);

	if (!take_clock(in, &c) || in->at != in->len)
		return refuse(in);
	if (check_clock(in, &c) == -1)
		return -1;
	for (int d = -DAYS_AROUND; d <= DAYS_AROUND; d++) {
		int day = use == TIMEARG_PLAN ? d : -d;

		*out = zone_local_to_utc(zone, midnight +
		    day * SEC_PER_DAY + civil_seconds(&c));
		if (use == TIMEARG_PLAN ? *out > now : *out <= now)
			return 0;
	}
	return refuse(in);
}

static int
parse_day(struct input *in, const struct day_word *word,
    const struct zone *zone, int64_t now, int64_t *out)
{
	struct civil c = { .year = 1970, .month = 1, .day = 1 };

	in->at = strlen(word->name);
	if (in->at < in->len) {
		if (!take(in, ' '))
			return refuse(in);
		skip_blanks(in);
		if (!take_clock(in, &c) || in->at != in->len)
			return refuse(in);
		if (check_clock(in, &c) == -1)
			return -1;
	}
	*out = zone_local_to_utc(zone, local_midnight(zone, now) +
	    word->days * SEC_PER_DAY + civil_seconds(&c));
	return 0;
}

/* "+2h" or "-2h". */
static int
parse_relative(struct input *in, int64_t now, int64_t *out)
{
	int64_t ms;

	if (duration_parse(in->s + 1, in->len - 1, &ms, in->err) == -1)
		return -1;
	if (ms % 1000 != 0)
		return error_set(in->err, "\"%.*s\": times are whole seconds",
		    shown(in), in->s);
	*out = in->s[0] == '-' ? now - ms / 1000 : now + ms / 1000;
	return 0;
}

static int
parse_epoch(struct input *in, int64_t *out)
{
	int64_t n = 0;
	bool minus;

	in->at = 1;
	minus = take(in, '-');
	if (in->at == in->len)
		return refuse(in);
	for (; in->at < in->len; in->at++) {
		if (!is_digit_at(in, in->at))
			return refuse(in);
		n = n * 10 + (in->s[in->at] - '0');
		if (n > 10 * TIMESTAMP_LAST)
			n = 10 * TIMESTAMP_LAST;
	}
	*out = minus ? -n : n;
	return 0;
}

static int
parse(struct input *in, const struct zone *zone, int64_t now,
    enum timearg_use use, int64_t *out)
{
	for (size_t i = 0; i < NDAY_WORDS; i++) {
		size_t len = strlen(day_words[i].name);

		if (in->len >= len &&
		    memcmp(in->s, day_words[i].name, len) == 0)
			return parse_day(in, &day_words[i], zone, now, out);
	}
	if (in->len > 0 && in->s[0] == '@')
		return parse_epoch(in, out);
	if (in->len > 0 && (in->s[0] == '+' || in->s[0] == '-'))
		return parse_relative(in, now, out);
	if (in->len > 2 && in->s[2] == ':')
		return parse_clock(in, zone, now, use, out);
	return parse_date(in, zone, out);
}

int
timearg_parse(const char *s, size_t len, const struct zone *zone,
    int64_t now, enum timearg_use use, int64_t *out, struct error *err)
{
	struct input in = { s, len, 0, err };
	int64_t t = 0;

	while (in.len > 0 && in.s[0] == ' ') {
		in.s++;
		in.len--;
	}
	while (in.len > 0 && in.s[in.len - 1] == ' ')
		in.len--;
	if (parse(&in, zone, now, use, &t) == -1)
		return -1;
	if (t < TIMESTAMP_FIRST || t > TIMESTAMP_LAST)
		return error_set(err, "\"%.*s\" is not in the years 1 to 9999",
		    shown(&in), in.s);
	*out = t;
	return 0;
}
