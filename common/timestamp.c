/* SPDX-License-Identifier: ISC */
/*
 * Clocks and the Gregorian calendar.  The calendar works on years that begin
 * in March, so that the leap day is the last of its year, and on eras of 400
 * years (146,097 days), which all look alike; no loops, no tables.
 */
#include "config.h"

#include "common/timestamp.h"

#include <stdio.h>
#include <time.h>

#define DAYS_PER_ERA	146097		/* 400 years */
#define DAYS_TO_EPOCH	719468		/* 0000-03-01 to 1970-01-01 */

static int64_t
clock_us(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * USEC_PER_SEC + ts.tv_nsec / 1000;
}

struct walltime
walltime_now(void)
{
	return (struct walltime){ clock_us(CLOCK_REALTIME) };
}

struct boottime
boottime_now(void)
{
	return (struct boottime){ clock_us(CLOCK_BOOTTIME) };
}

struct monotime
monotime_now(void)
{
	return (struct monotime){ clock_us(CLOCK_MONOTONIC) };
}

/* Division that rounds down, for a positive divisor. */
static int64_t
floor_div(int64_t a, int64_t b)
{
	int64_t q = a / b;

	return a % b < 0 ? q - 1 : q;
}

int64_t
walltime_seconds(struct walltime t)
{
	return floor_div(t.us, USEC_PER_SEC);
}

int64_t
walltime_seconds_up(struct walltime t)
{
	int64_t s = floor_div(t.us, USEC_PER_SEC);

	return s * USEC_PER_SEC == t.us ? s : s + 1;
}

int64_t
civil_days(int64_t year, int month, int day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = floor_div(y, 400);
	int64_t yoe = y - era * 400;
	int64_t doy = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 +
	    day - 1;
	int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;

	return era * DAYS_PER_ERA + doe - DAYS_TO_EPOCH;
}

bool
civil_is_leap(int64_t year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

int
civil_month_days(int64_t year, int month)
{
	if (month == 2)
		return civil_is_leap(year) ? 29 : 28;
	return 30 + ((month + (month > 7)) & 1);
}

int64_t
civil_seconds(const struct civil *c)
{
	return civil_days(c->year, c->month, c->day) * SEC_PER_DAY +
	    c->hour * 3600 + c->minute * 60 + c->second;
}

void
civil_from_seconds(struct civil *c, int64_t seconds)
{
	int64_t days = floor_div(seconds, SEC_PER_DAY);
	int sod = (int)(seconds - days * SEC_PER_DAY);
	int64_t z = days + DAYS_TO_EPOCH;
	int64_t era = floor_div(z, DAYS_PER_ERA);
	int64_t doe = z - era * DAYS_PER_ERA;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int mp = (int)((5 * doy + 2) / 153);

	c->day = (int)(doy - (153 * mp + 2) / 5 + 1);
	c->month = mp < 10 ? mp + 3 : mp - 9;
	c->year = yoe + era * 400 + (c->month <= 2 ? 1 : 0);
	c->hour = sod / 3600;
	c->minute = sod / 60 % 60;
	c->second = sod % 60;
}

int
civil_weekday(int64_t days)
{
	/* 1970-01-01 was a Thursday. */
	return (int)(days + 4 - floor_div(days + 4, 7) * 7);
}

void
timestamp_format(char buf[TIMESTAMP_MAX], int64_t seconds, int32_t offset,
    bool utc)
{
	struct civil c;
	int n, o = offset < 0 ? -offset : offset;

	civil_from_seconds(&c, seconds + (utc ? 0 : offset));
	n = snprintf(buf, TIMESTAMP_MAX, "%04lld-%02d-%02dT%02d:%02d:%02d",
	    (long long)c.year, c.month, c.day, c.hour, c.minute, c.second);
	if (utc)
		snprintf(buf + n, TIMESTAMP_MAX - (size_t)n, "Z");
	else if (o % 60 == 0)
		snprintf(buf + n, TIMESTAMP_MAX - (size_t)n, "%c%02d:%02d",
		    offset < 0 ? '-' : '+', o / 3600, o / 60 % 60);
	else
		snprintf(buf + n, TIMESTAMP_MAX - (size_t)n,
		    "%c%02d:%02d:%02d", offset < 0 ? '-' : '+', o / 3600,
		    o / 60 % 60, o % 60);
}
