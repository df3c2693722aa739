/* SPDX-License-Identifier: ISC */
/*
 * Rules of daylight saving that hold for every year.  The Gregorian calendar
 * has fourteen kinds of years (leap or not, and the weekday they begin on),
 * so both changes of a year are looked up in two tables made when the string
 * is parsed; an instant costs the arithmetic of its year and nothing else.
 *
 * Daylight saving time is the union of [start, end) over all years; where a
 * year's start is later than its end, standard time is the union of [end,
 * start).  So a rule whose end is the next year's start is daylight saving
 * time for good, as RFC 9636 3.3.1 wants it.
 */
#include "config.h"

#include "common/zone_rule.h"

#include <string.h>

#include "common/timestamp.h"

#define HOURS_OF_OFFSET	24	/* POSIX */
#define HOURS_OF_TIME	167	/* RFC 9636 3.3.1 */
#define DEFAULT_TIME	(2 * 3600)

enum date_form { DATE_JULIAN, DATE_DAY, DATE_MONTH };

/* When in a year a change comes, on the local clock. */
struct date {
	enum date_form	form;	/* Jn, n or Mm.w.d */
	int		day;	/* n; or d, 0 = Sunday */
	int		week;	/* w, 5 = the last */
	int		month;	/* m */
	int32_t		time;	/* seconds from that day's midnight */
};

/* What is left to read of a TZ string. */
struct input {
	const char	*p;	/* next byte */
	const char	*end;	/* behind the last one */
};

static bool
take(struct input *in, char c)
{
	if (in->p == in->end || *in->p != c)
		return false;
	in->p++;
	return true;
}

static bool
is_digit(const struct input *in)
{
	return in->p < in->end && *in->p >= '0' && *in->p <= '9';
}

static bool
is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int
take_number(struct input *in, int least, int most, int *out)
{
	int n = 0;

	if (!is_digit(in))
		return -1;
	while (is_digit(in)) {
		n = n * 10 + (*in->p++ - '0');
		if (n > most)
			return -1;
	}
	*out = n;
	return n < least ? -1 : 0;
}

/* [+-]hh[:mm[:ss]] in seconds. */
static int
take_time(struct input *in, int hours, int32_t *out)
{
	bool minus = take(in, '-');
	int h, m = 0, s = 0;

	if (!minus)
		take(in, '+');
	if (take_number(in, 0, hours, &h) == -1)
		return -1;
	if (take(in, ':')) {
		if (take_number(in, 0, 59, &m) == -1)
			return -1;
		if (take(in, ':') && take_number(in, 0, 59, &s) == -1)
			return -1;
	}
	*out = h * 3600 + m * 60 + s;
	if (minus)
		*out = -*out;
	return 0;
}

/* Letters, or letters, digits, "+" and "-" between angle brackets. */
static int
take_abbr(struct input *in, char abbr[ZONE_ABBR_MAX])
{
	bool quoted = take(in, '<');
	const char *start = in->p;
	size_t len;

	while (in->p < in->end && (is_alpha(*in->p) || (quoted &&
	    (is_digit(in) || *in->p == '+' || *in->p == '-'))))
		in->p++;
	len = (size_t)(in->p - start);
	if (len < 3 || len >= ZONE_ABBR_MAX || (quoted && !take(in, '>')))
		return -1;
	memcpy(abbr, start, len);
	abbr[len] = '\0';
	return 0;
}

static int
take_date(struct input *in, struct date *d)
{
	if (take(in, 'M')) {
		d->form = DATE_MONTH;
		if (take_number(in, 1, 12, &d->month) == -1 ||
		    !take(in, '.') ||
		    take_number(in, 1, 5, &d->week) == -1 ||
		    !take(in, '.') ||
		    take_number(in, 0, 6, &d->day) == -1)
			return -1;
	} else if (take(in, 'J')) {
		d->form = DATE_JULIAN;
		if (take_number(in, 1, 365, &d->day) == -1)
			return -1;
	} else {
		d->form = DATE_DAY;
		if (take_number(in, 0, 365, &d->day) == -1)
			return -1;
	}
	d->time = DEFAULT_TIME;
	return take(in, '/') ? take_time(in, HOURS_OF_TIME, &d->time) : 0;
}

/* Days from 1 January in a year of that kind. */
static int
date_day(const struct date *d, bool leap, int first_weekday)
{
	static const int before[] = {
		0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365
	};
	int first, last, day;

	if (d->form == DATE_DAY)
		return d->day;
	if (d->form == DATE_JULIAN)
		return d->day - 1 + (leap && d->day >= 60);
	first = before[d->month - 1] + (leap && d->month > 2);
	last = before[d->month] + (leap && d->month >= 2) - 1;
	day = first + (d->day - (first_weekday + first) % 7 + 7) % 7 +
	    7 * (d->week - 1);
	return day > last ? day - 7 : day;
}

static void
fill_years(struct zone_rule *r, const struct date *start,
    const struct date *end)
{
	for (int kind = 0; kind < ZONE_YEAR_KINDS; kind++) {
		bool leap = kind >= 7;

		r->dst_start[kind] = date_day(start, leap, kind % 7) * 86400 +
		    start->time - r->std_offset;
		r->dst_end[kind] = date_day(end, leap, kind % 7) * 86400 +
		    end->time - r->dst_offset;
	}
}

static int64_t
floor_div(int64_t a, int64_t b)
{
	int64_t q = a / b;

	return a % b < 0 ? q - 1 : q;
}

/* Days from 1970 to 1 January of a year, and its kind. */
static int64_t
year_start(int64_t year, int *kind)
{
	int64_t y = year - 1;
	int64_t days = y * 365 + floor_div(y, 4) - floor_div(y, 100) +
	    floor_div(y, 400) - 719162;

	*kind = civil_weekday(days) + (civil_is_leap(year) ? 7 : 0);
	return days;
}

/* The earlier and the later change of a year, as UTC seconds. */
static void
year_changes(const struct zone_rule *r, int64_t year, int64_t *first,
    int64_t *second)
{
	int kind;
	int64_t start = year_start(year, &kind) * SEC_PER_DAY;

	if (r->dst_start[kind] < r->dst_end[kind]) {
		*first = start + r->dst_start[kind];
		*second = start + r->dst_end[kind];
	} else {
		*first = start + r->dst_end[kind];
		*second = start + r->dst_start[kind];
	}
}

/*
 * Whether daylight saving time lies between a year's two changes, or around
 * them.  A rule that is one in some years and the other in others does not
 * exist in practice; it goes by its first kind.
 */
static bool
is_dst_inside(const struct zone_rule *r)
{
	return r->dst_start[0] < r->dst_end[0];
}

/* No second of what lies around the changes is left in 400 years. */
static bool
is_one_time(const struct zone_rule *r)
{
	int64_t first, second, before;

	year_changes(r, 1999, &first, &before);
	for (int year = 2000; year < 2400; year++) {
		year_changes(r, year, &first, &second);
		if (first > before)
			return false;
		before = second;
	}
	return true;
}

static void
settle(struct zone_rule *r)
{
	bool inside = is_dst_inside(r), same = true;

	for (int kind = 0; kind < ZONE_YEAR_KINDS; kind++)
		same = same && r->dst_start[kind] == r->dst_end[kind];
	if (same)
		r->has_dst = false;
	if (!r->has_dst || !is_one_time(r))
		return;
	r->has_dst = false;
	if (inside) {
		r->is_dst = true;
		r->std_offset = r->dst_offset;
		memcpy(r->std_abbr, r->dst_abbr, sizeof(r->std_abbr));
	}
}

int
zone_rule_parse(struct zone_rule *r, const char *s, size_t len,
    struct error *err)
{
	struct input in = { s, s + len };
	struct date start, end;
	const char *what = "a name of at least three letters";

	memset(r, 0, sizeof(*r));
	if (take_abbr(&in, r->std_abbr) == -1)
		goto bad;
	what = "an offset";
	if (take_time(&in, HOURS_OF_OFFSET, &r->std_offset) == -1)
		goto bad;
	r->std_offset = -r->std_offset;
	if (in.p == in.end)
		return 0;
	what = "a name of daylight saving time";
	if (take_abbr(&in, r->dst_abbr) == -1)
		goto bad;
	r->has_dst = true;
	r->dst_offset = r->std_offset + 3600;
	what = "an offset or a comma";
	if (in.p < in.end && *in.p != ',') {
		if (take_time(&in, HOURS_OF_OFFSET, &r->dst_offset) == -1)
			goto bad;
		r->dst_offset = -r->dst_offset;
	}
	what = "the two dates of change";
	if (!take(&in, ',') || take_date(&in, &start) == -1 ||
	    !take(&in, ',') || take_date(&in, &end) == -1)
		goto bad;
	what = "nothing more";
	if (in.p != in.end)
		goto bad;
	fill_years(r, &start, &end);
	settle(r);
	return 0;
bad:
	return error_set(err, "its TZ string has something else at byte %zu "
	    "where %s should be", (size_t)(in.p - s) + 1, what);
}

/* The year on the UTC calendar. */
static int64_t
year_of(int64_t utc)
{
	int64_t days = floor_div(utc, SEC_PER_DAY);
	int64_t year = 1970 + floor_div(days * 400, 146097);
	int kind;

	while (year_start(year, &kind) > days)
		year--;
	while (year_start(year + 1, &kind) <= days)
		year++;
	return year;
}

/*
 * Changes are at most nine days outside their year, so the years from two
 * before to two after decide.
 */
static bool
span_between(const struct zone_rule *r, int64_t utc, int64_t year,
    struct zone_span *span)
{
	int64_t first, second, before;
	bool inside = false;

	year_changes(r, year - 3, &first, &before);
	for (int64_t y = year - 2; y <= year + 2; y++) {
		year_changes(r, y, &first, &second);
		if (utc < first) {
			span->start = before;
			span->end = first;
			break;
		}
		if (utc < second) {
			span->start = first;
			span->end = second;
			inside = true;
			break;
		}
		before = second;
	}
	return inside;
}

bool
zone_rule_span(const struct zone_rule *r, int64_t utc, struct zone_span *span)
{
	int64_t year, first, second, next, before, unused;
	bool inside = false, dst;

	if (!r->has_dst) {
		span->start = ZONE_FIRST;
		span->end = ZONE_LAST;
		span->offset = r->std_offset;
		return r->is_dst;
	}
	year = year_of(utc);
	year_changes(r, year, &first, &second);
	if (utc >= second) {
		year_changes(r, year + 1, &next, &unused);
		span->start = second;
		span->end = next;
	} else if (utc >= first) {
		span->start = first;
		span->end = second;
		inside = true;
	} else {
		year_changes(r, year - 1, &unused, &before);
		span->start = before;
		span->end = first;
	}
	/* Only where changes stray out of their year. */
	if (utc < span->start || utc >= span->end)
		inside = span_between(r, utc, year, span);
	dst = inside == is_dst_inside(r);
	span->offset = dst ? r->dst_offset : r->std_offset;
	if (r->dst_offset == r->std_offset) {
		span->start = ZONE_FIRST;
		span->end = ZONE_LAST;
	}
	return dst;
}
