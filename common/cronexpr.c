/* SPDX-License-Identifier: ISC */
/*
 * What an expression's bit sets mean: the days of a month, and what can be
 * asked of an expression without searching.  Parsing is in cronexpr_parse.c
 * and cronexpr_item.c, searching in cronexpr_next.c.
 *
 * The days of a month depend on its length and first weekday alone; they are
 * one word, worked out with shifts.
 */
#include "config.h"

#include "common/cronexpr_internal.h"

#include <stdlib.h>

#include "common/timestamp.h"

/* Six weeks of one weekday, Sunday, from bit 0 on. */
#define SUNDAYS		UINT64_C(0x0810204081)
#define ALL_WEEKDAYS	0x7f

void
cronexpr_free(struct cronexpr *x)
{
	if (x == NULL)
		return;
	free(x->years);
	free(x);
}

/* Days 1 to ndays as bits. */
static uint32_t
month_bits(unsigned ndays)
{
	return (uint32_t)((UINT64_C(2) << ndays) - 2);
}

/* The days that fall on the weekdays of a set. */
static uint32_t
weekday_bits(unsigned weekdays, unsigned first_weekday)
{
	return (uint32_t)(weekdays * SUNDAYS >> first_weekday) << 1;
}

/*
 * The Monday to Friday nearest to each day of a set, within the month: a
 * Saturday moves a day back (the 1st two on), a Sunday a day on (the last
 * two back).
 */
static uint32_t
nearest_workdays(uint32_t days, unsigned first_weekday, unsigned ndays)
{
	uint32_t first = UINT32_C(1) << 1, last = UINT32_C(1) << ndays;
	uint32_t saturdays = days & weekday_bits(1 << 6, first_weekday);
	uint32_t sundays = days & weekday_bits(1 << 0, first_weekday);

	return (days & ~saturdays & ~sundays) |
	    (saturdays & ~first) >> 1 | (saturdays & first) << 2 |
	    (sundays & ~last) << 1 | (sundays & last) >> 2;
}

/* The last Monday to Friday. */
static uint32_t
last_workday(unsigned first_weekday, unsigned ndays)
{
	unsigned weekday = (first_weekday + ndays - 1) % 7;
	unsigned back = weekday == 6 ? 1 : weekday == 0 ? 2 : 0;

	return UINT32_C(1) << (ndays - back);
}

uint32_t
cronexpr_dom_days(const struct cronexpr *x, unsigned first_weekday,
    unsigned ndays)
{
	uint32_t all = month_bits(ndays), days = x->dom & all;

	if (!x->special)
		return days;
	days |= x->dom_last >> (31 - ndays) & all;
	days |= nearest_workdays(x->dom_near & all, first_weekday, ndays);
	if (x->dom_near & 1)
		days |= last_workday(first_weekday, ndays);
	return days;
}

uint32_t
cronexpr_dow_days(const struct cronexpr *x, unsigned first_weekday,
    unsigned ndays)
{
	uint32_t all = month_bits(ndays);
	uint32_t days = weekday_bits(x->dow, first_weekday);

	if (!x->special)
		return days & all;
	days |= weekday_bits(x->dow_last, first_weekday) &
	    ~month_bits(ndays - 7);
	for (unsigned n = 0; n < 5; n++)
		days |= weekday_bits(x->nth >> 7 * n & ALL_WEEKDAYS,
		    first_weekday) & (uint32_t)ALL_WEEKDAYS << (7 * n + 1);
	return days & all;
}

uint32_t
cronexpr_days(const struct cronexpr *x, unsigned first_weekday,
    unsigned ndays)
{
	uint32_t dom = cronexpr_dom_days(x, first_weekday, ndays);
	uint32_t dow = cronexpr_dow_days(x, first_weekday, ndays);

	return x->either_day ? dom | dow : dom & dow;
}

bool
cronexpr_has_year(const struct cronexpr *x, int64_t year)
{
	unsigned bit;

	if (x->years == NULL)
		return true;
	if (year < CRONEXPR_YEAR_FIRST || year > CRONEXPR_YEAR_LAST)
		return false;
	bit = (unsigned)(year - CRONEXPR_YEAR_FIRST);
	return x->years[bit / 64] >> bit % 64 & 1;
}

/* Whether a year of that kind has a fitting day. */
static bool
fits_kind(const struct cronexpr *x, int kind)
{
	unsigned weekday = (unsigned)kind % 7;
	int64_t year = kind < 7 ? 2001 : 2000;

	for (int month = 1; month <= 12; month++) {
		unsigned ndays = (unsigned)civil_month_days(year, month);

		if (x->month >> month & 1 &&
		    cronexpr_days(x, weekday, ndays) != 0)
			return true;
		weekday = (weekday + ndays) % 7;
	}
	return false;
}

void
cronexpr_settle(struct cronexpr *x)
{
	int h0 = __builtin_ctz(x->hour), h1 = 31 - __builtin_clz(x->hour);
	int m0 = __builtin_ctzll(x->minute);
	int m1 = 63 - __builtin_clzll(x->minute);
	int s0 = __builtin_ctzll(x->second);
	int s1 = 63 - __builtin_clzll(x->second);

	x->first_time = h0 * 3600 + m0 * 60 + s0;
	x->last_time = h1 * 3600 + m1 * 60 + s1;
	for (int kind = 0; kind < CRONEXPR_YEAR_KINDS; kind++)
		if (fits_kind(x, kind))
			x->kinds |= (uint16_t)(1 << kind);
	x->every_day = x->years == NULL && x->month == 0x1ffe &&
	    (x->either_day ?
	    x->dom == UINT32_C(0xfffffffe) || x->dow == ALL_WEEKDAYS :
	    x->dom == UINT32_C(0xfffffffe) && x->dow == ALL_WEEKDAYS);
	for (int year = CRONEXPR_YEAR_FIRST;
	    x->years != NULL && year <= CRONEXPR_YEAR_LAST; year++) {
		int kind = civil_weekday(civil_days(year, 1, 1)) +
		    (civil_is_leap(year) ? 7 : 0);
		unsigned bit = (unsigned)(year - CRONEXPR_YEAR_FIRST);

		if (cronexpr_has_year(x, year) && x->kinds >> kind & 1)
			x->years[CRONEXPR_YEAR_WORDS + bit / 64] |=
			    UINT64_C(1) << bit % 64;
	}
}

bool
cronexpr_is_fixed_time(const struct cronexpr *x)
{
	return x->fixed_time;
}

bool
cronexpr_has_seconds(const struct cronexpr *x)
{
	return x->second != 1;
}

bool
cronexpr_is_either_day(const struct cronexpr *x)
{
	return x->either_day;
}

unsigned
cronexpr_match_fields(const struct cronexpr *x, int64_t local)
{
	struct civil c;
	unsigned first, ndays, set = 0;

	civil_from_seconds(&c, local);
	first = (unsigned)civil_weekday(civil_days(c.year, c.month, 1));
	ndays = (unsigned)civil_month_days(c.year, c.month);
	set |= (unsigned)(x->second >> c.second & 1) << CRONEXPR_SECOND;
	set |= (unsigned)(x->minute >> c.minute & 1) << CRONEXPR_MINUTE;
	set |= (x->hour >> c.hour & 1) << CRONEXPR_HOUR;
	set |= (cronexpr_dom_days(x, first, ndays) >> c.day & 1) <<
	    CRONEXPR_DOM;
	set |= (unsigned)(x->month >> c.month & 1) << CRONEXPR_MONTH;
	set |= (cronexpr_dow_days(x, first, ndays) >> c.day & 1) <<
	    CRONEXPR_DOW;
	set |= (unsigned)cronexpr_has_year(x, c.year) << CRONEXPR_YEAR;
	return set;
}

const char *
cronexpr_field_name(enum cronexpr_field field)
{
	static const char *const names[CRONEXPR_FIELDS] = {
		"second", "minute", "hour", "day of month", "month",
		"day of week", "year"
	};

	return names[field];
}
