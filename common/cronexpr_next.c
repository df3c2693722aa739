/* SPDX-License-Identifier: ISC */
/*
 * The next and the previous time of an expression, in two layers.
 *
 * On the local clock alone (next_local, previous_local) time is days and
 * seconds, and a match is found by counting trailing (leading) zeros in the
 * sets: the day at hand, later days of its month, later months, later years
 * of a fitting kind.  Without a year field that ends within 40 years (29
 * February on a given weekday, over a year like 2100), because kinds says
 * beforehand whether there is any; with one, within the years of the set.
 *
 * Above that, time is cut into the zone's spans of one offset.  Within a span
 * local time and UTC run alike.  The rules at their borders:
 * - an interval expression fires at every instant that shows a match;
 * - a fixed-time one fires for a match shown more than once at the first
 *   showing (or the last, or all), and once, at the border, for all matches
 *   that the border jumps over (or not at all).
 * Offsets differ by less than ZONE_OFFSET_MOST - ZONE_OFFSET_LEAST, so after
 * a span only the spans within that distance can show earlier local times
 * again; everything further up to the next match is leapt over.
 *
 * No allocation, no state.  Cost: one look into the zone and one search, 20
 * to 70 ns; for the rarest dates about 200 ns.
 */
#include "config.h"

#include "common/cronexpr_internal.h"

#include "common/timestamp.h"

#define LOCAL_NONE	(INT64_C(1) << 61)	/* no match that way */
#define YEAR_LEAST	0	/* local years, one around those of UTC */
#define YEAR_MOST	10000
#define KINDS_PERIOD	40	/* years until every kind has come */

/* A year of a search, as it steps from one to the next. */
struct year {
	int64_t		number;	/* of the calendar */
	int64_t		start;	/* days from 1970 to 1 January */
	unsigned	weekday; /* of 1 January */
	bool		leap;	/* has 366 days */
};

static const uint16_t days_before[2][14] = {
	{ 0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365 },
	{ 0, 0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335, 366 }
};

static int64_t
floor_div(int64_t a, int64_t b)
{
	int64_t q = a / b;

	return a % b < 0 ? q - 1 : q;
}

/* The first fitting second of a day from one on, or -1. */
static int32_t
next_time(const struct cronexpr *x, int32_t from)
{
	int h = from / 3600, m = from / 60 % 60, s = from % 60;
	uint64_t left;
	uint32_t hours;

	if (x->hour >> h & 1) {
		left = x->second >> s;
		if (x->minute >> m & 1 && left != 0)
			return from + __builtin_ctzll(left);
		left = x->minute >> m >> 1;
		if (left != 0)
			return h * 3600 + (m + 1 + __builtin_ctzll(left)) *
			    60 + x->first_time % 60;
	}
	hours = x->hour >> h >> 1;
	if (hours == 0)
		return -1;
	return (h + 1 + __builtin_ctz(hours)) * 3600 + x->first_time % 3600;
}

/* The bits of a set below n. */
static uint64_t
below(uint64_t set, int n)
{
	return set & ((UINT64_C(1) << n) - 1);
}

/* The last fitting second of a day up to one, or -1. */
static int32_t
previous_time(const struct cronexpr *x, int32_t from)
{
	int h = from / 3600, m = from / 60 % 60, s = from % 60;
	uint64_t left;

	if (x->hour >> h & 1) {
		left = below(x->second, s + 1);
		if (x->minute >> m & 1 && left != 0)
			return from - s + 63 - __builtin_clzll(left);
		left = below(x->minute, m);
		if (left != 0)
			return h * 3600 + (63 - __builtin_clzll(left)) * 60 +
			    x->last_time % 60;
	}
	left = below(x->hour, h);
	if (left == 0)
		return -1;
	return (63 - __builtin_clzll(left)) * 3600 + x->last_time % 3600;
}

static void
year_at(struct year *y, int64_t number)
{
	y->number = number;
	y->start = civil_days(number, 1, 1);
	y->weekday = (unsigned)civil_weekday(y->start);
	y->leap = civil_is_leap(number);
}

/* The fitting days of a month, which begins so many days after 1970. */
static uint32_t
month_days(const struct cronexpr *x, const struct year *y, int month,
    int64_t *start)
{
	const uint16_t *before = days_before[y->leap];

	*start = y->start + before[month];
	return cronexpr_days(x, (y->weekday + before[month]) % 7,
	    (unsigned)(before[month + 1] - before[month]));
}

/* The first year with a fitting day, from y on; false when there is none. */
static bool
next_year(const struct cronexpr *x, struct year *y)
{
	const uint64_t *set = x->years;
	int bit;

	if (set == NULL) {
		for (int i = 0; i <= KINDS_PERIOD; i++) {
			if (x->kinds >> (y->weekday + (y->leap ? 7 : 0)) & 1)
				return y->number <= YEAR_MOST;
			y->weekday = (y->weekday + 1 + y->leap) % 7;
			y->start += 365 + y->leap;
			y->leap = civil_is_leap(++y->number);
		}
		return false;
	}
	set += CRONEXPR_YEAR_WORDS;
	bit = y->number < CRONEXPR_YEAR_FIRST ? 0 :
	    y->number > CRONEXPR_YEAR_LAST ? CRONEXPR_YEAR_WORDS * 64 :
	    (int)y->number - CRONEXPR_YEAR_FIRST;
	for (; bit < CRONEXPR_YEAR_WORDS * 64; bit = (bit / 64 + 1) * 64) {
		uint64_t left = set[bit / 64] >> bit % 64;

		if (left != 0) {
			year_at(y, CRONEXPR_YEAR_FIRST + bit +
			    __builtin_ctzll(left));
			return true;
		}
	}
	return false;
}

/* The last year with a fitting day, down from y. */
static bool
previous_year(const struct cronexpr *x, struct year *y)
{
	const uint64_t *set = x->years;
	int bit;

	if (set == NULL) {
		for (int i = 0; i <= KINDS_PERIOD; i++) {
			if (x->kinds >> (y->weekday + (y->leap ? 7 : 0)) & 1)
				return y->number >= YEAR_LEAST;
			y->leap = civil_is_leap(--y->number);
			y->start -= 365 + y->leap;
			y->weekday = (y->weekday + 6 - y->leap) % 7;
		}
		return false;
	}
	set += CRONEXPR_YEAR_WORDS;
	bit = y->number < CRONEXPR_YEAR_FIRST ? -1 :
	    y->number > CRONEXPR_YEAR_LAST ? CRONEXPR_YEAR_WORDS * 64 - 1 :
	    (int)y->number - CRONEXPR_YEAR_FIRST;
	for (; bit >= 0; bit = bit / 64 * 64 - 1) {
		uint64_t left = set[bit / 64] << (63 - bit % 64);

		if (left != 0) {
			year_at(y, CRONEXPR_YEAR_FIRST + bit -
			    __builtin_clzll(left));
			return true;
		}
	}
	return false;
}

/* The first fitting day from a month of a year on (13: from the next year). */
static bool
next_month(const struct cronexpr *x, struct year *y, int month, int64_t *day)
{
	int64_t start, number = y->number;
	uint32_t days;

	while (next_year(x, y)) {
		if (y->number != number)
			month = 1;
		for (uint32_t left = x->month & ~0u << month; left != 0;
		    left &= left - 1) {
			days = month_days(x, y, __builtin_ctz(left), &start);
			if (days != 0) {
				*day = start + __builtin_ctz(days) - 1;
				return true;
			}
		}
		year_at(y, y->number + 1);
	}
	return false;
}

/* The last fitting day down from a month of a year (0: from the year before). */
static bool
previous_month(const struct cronexpr *x, struct year *y, int month,
    int64_t *day)
{
	int64_t start, number = y->number;
	uint32_t days;

	while (previous_year(x, y)) {
		if (y->number != number)
			month = 12;
		for (uint32_t left = (uint32_t)below(x->month, month + 1);
		    left != 0; left = (uint32_t)below(left, month)) {
			month = 31 - __builtin_clz(left);
			days = month_days(x, y, month, &start);
			if (days != 0) {
				*day = start + 30 - __builtin_clz(days);
				return true;
			}
		}
		year_at(y, y->number - 1);
	}
	return false;
}

/* The fitting days of the month that a local time is in. */
static uint32_t
days_around(const struct cronexpr *x, const struct civil *c, int64_t day)
{
	if (!(x->month >> c->month & 1) || !cronexpr_has_year(x, c->year))
		return 0;
	return cronexpr_days(x, (unsigned)civil_weekday(day - c->day + 1),
	    (unsigned)civil_month_days(c->year, c->month));
}

/* The first local second from one on that matches, or LOCAL_NONE. */
static int64_t
next_local(const struct cronexpr *x, int64_t from)
{
	int64_t day = floor_div(from, SEC_PER_DAY);
	int32_t time = next_time(x, (int32_t)(from - day * SEC_PER_DAY));
	struct year y;
	struct civil c;
	uint32_t days;

	if (x->every_day)
		return time >= 0 ? day * SEC_PER_DAY + time :
		    (day + 1) * SEC_PER_DAY + x->first_time;
	civil_from_seconds(&c, from);
	days = days_around(x, &c, day) >> c.day;
	if (days & 1 && time >= 0)
		return day * SEC_PER_DAY + time;
	days &= ~UINT32_C(1);
	if (days != 0)
		return (day + __builtin_ctz(days)) * SEC_PER_DAY +
		    x->first_time;
	if (x->kinds == 0)
		return LOCAL_NONE;
	year_at(&y, c.year);
	if (!next_month(x, &y, c.month + 1, &day))
		return LOCAL_NONE;
	return day * SEC_PER_DAY + x->first_time;
}

/* The last local second up to one that matches, or -LOCAL_NONE. */
static int64_t
previous_local(const struct cronexpr *x, int64_t from)
{
	int64_t day = floor_div(from, SEC_PER_DAY);
	int32_t time = previous_time(x, (int32_t)(from - day * SEC_PER_DAY));
	struct year y;
	struct civil c;
	uint32_t days;

	if (x->every_day)
		return time >= 0 ? day * SEC_PER_DAY + time :
		    (day - 1) * SEC_PER_DAY + x->last_time;
	civil_from_seconds(&c, from);
	days = days_around(x, &c, day);
	if (days >> c.day & 1 && time >= 0)
		return day * SEC_PER_DAY + time;
	days = (uint32_t)below(days, c.day);
	if (days != 0)
		return (day - c.day + 31 - __builtin_clz(days)) *
		    SEC_PER_DAY + x->last_time;
	if (x->kinds == 0)
		return -LOCAL_NONE;
	year_at(&y, c.year);
	if (!previous_month(x, &y, c.month - 1, &day))
		return -LOCAL_NONE;
	return day * SEC_PER_DAY + x->last_time;
}

bool
cronexpr_next_local(const struct cronexpr *x, int64_t from, int64_t *local)
{
	*local = next_local(x, from);
	return *local != LOCAL_NONE;
}

/*
 * Whether the wall time of an instant in a span is shown by another span
 * whose showing counts instead.  If so, *other is that span.
 */
static bool
is_hidden(const struct zone *zone, enum dst_fold fold,
    const struct zone_span *span, int64_t utc, struct zone_span *other)
{
	int64_t local = utc + span->offset;

	*other = *span;
	while (fold == DST_FOLD_FIRST &&
	    other->start > local - ZONE_OFFSET_MOST) {
		zone_span_at(zone, other->start - 1, other);
		if (local - other->offset >= other->start &&
		    local - other->offset < other->end)
			return true;
	}
	while (fold == DST_FOLD_SECOND &&
	    other->end <= local - ZONE_OFFSET_LEAST) {
		zone_span_at(zone, other->end, other);
		if (local - other->offset >= other->start &&
		    local - other->offset < other->end)
			return true;
	}
	return false;
}

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t
most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/*
 * [low, match) holds no local time that matches; utc is where the search
 * stands, at most at the span's end.
 */
bool
cronexpr_next(const struct cronexpr *x, const struct zone *zone,
    struct cronexpr_rules rules, int64_t after, int64_t *next)
{
	int64_t utc, low = INT64_MAX, match = 0;
	bool jumps = x->fixed_time && rules.gap == DST_GAP_RUN;
	struct zone_span span, other;

	if (after >= TIMESTAMP_LAST)
		return false;
	after = most(after, TIMESTAMP_FIRST - 1);
	utc = after + 1;
	zone_span_at(zone, after, &span);
	for (;;) {
		int64_t local = utc + span.offset, border = span.end;

		if (local < low || local > match) {
			low = local;
			match = next_local(x, local);
		}
		if (match - span.offset < border) {
			utc = match - span.offset;
			if (!x->fixed_time || !is_hidden(zone, rules.fold,
			    &span, utc, &other)) {
				*next = utc;
				return utc <= TIMESTAMP_LAST;
			}
			utc = least(other.end + other.offset - span.offset,
			    border);
			continue;
		}
		if (border > TIMESTAMP_LAST)
			return false;
		zone_span_at(zone, border, &span);
		if (jumps && match < border + span.offset) {
			*next = border;
			return true;
		}
		utc = border;
		if (border >= low - ZONE_OFFSET_LEAST &&
		    match - ZONE_OFFSET_MOST > border) {
			if (match == LOCAL_NONE)
				return false;
			utc = match - ZONE_OFFSET_MOST;
			zone_span_at(zone, utc, &span);
		}
	}
}

/*
 * (match, high] holds no local time that matches; utc is where the search
 * stands, at least one second before the span's start.
 */
bool
cronexpr_previous(const struct cronexpr *x, const struct zone *zone,
    struct cronexpr_rules rules, int64_t before, int64_t *previous)
{
	int64_t utc, high = INT64_MIN, match = 0;
	bool jumps = x->fixed_time && rules.gap == DST_GAP_RUN;
	struct zone_span span, other;

	if (before <= TIMESTAMP_FIRST)
		return false;
	utc = least(before, TIMESTAMP_LAST + 1) - 1;
	zone_span_at(zone, utc, &span);
	for (;;) {
		int64_t local = utc + span.offset, border = span.start;

		if (local > high || local < match) {
			high = local;
			match = previous_local(x, local);
		}
		if (match - span.offset >= border) {
			utc = match - span.offset;
			if (!x->fixed_time || !is_hidden(zone, rules.fold,
			    &span, utc, &other)) {
				*previous = utc;
				return utc >= TIMESTAMP_FIRST;
			}
			utc = most(other.start + other.offset - span.offset,
			    border) - 1;
			continue;
		}
		if (border <= TIMESTAMP_FIRST)
			return false;
		zone_span_at(zone, border - 1, &other);
		if (jumps && match >= border + other.offset) {
			*previous = border;
			return true;
		}
		utc = border - 1;
		span = other;
		if (utc <= high - ZONE_OFFSET_MOST &&
		    match - ZONE_OFFSET_LEAST < utc) {
			if (match == -LOCAL_NONE)
				return false;
			utc = match - ZONE_OFFSET_LEAST;
			zone_span_at(zone, utc, &span);
		}
	}
}
