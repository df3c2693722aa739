/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_TIMESTAMP_H
#define CRONCTL_TIMESTAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The clocks, a type each, so that the compiler keeps them apart; all count
 * microseconds (clock_gettime(2)).  This module is the only one that asks
 * the system for the time.
 */
struct walltime { int64_t us; };	/* since 1970 UTC; can step */
struct boottime { int64_t us; };	/* since boot, suspend included */
struct monotime { int64_t us; };	/* since boot, suspend excluded */

#define USEC_PER_SEC	INT64_C(1000000)
#define USEC_PER_MSEC	INT64_C(1000)
#define SEC_PER_DAY	INT64_C(86400)

struct walltime	walltime_now(void);
struct boottime	boottime_now(void);
struct monotime	monotime_now(void);

/* Whole seconds, rounded down (also before 1970). */
int64_t	walltime_seconds(struct walltime);
/* Rounded up. */
int64_t	walltime_seconds_up(struct walltime);

/*
 * The proleptic Gregorian calendar.  Years may be zero or negative.
 * Days are counted from 1970-01-01.
 */
struct civil {
	int64_t	year;
	int	month;		/* 1-12 */
	int	day;		/* 1-31 */
	int	hour;		/* 0-23 */
	int	minute;		/* 0-59 */
	int	second;		/* 0-59 */
};

int64_t	civil_days(int64_t year, int month, int day);
int	civil_month_days(int64_t year, int month);
bool	civil_is_leap(int64_t year);
/* Seconds since 1970-01-01 00:00:00 of the same calendar and clock. */
int64_t	civil_seconds(const struct civil *);
void	civil_from_seconds(struct civil *, int64_t seconds);
/* 0 = Sunday. */
int	civil_weekday(int64_t days);

/* "2026-11-30T18:47:24+01:00"; offset in seconds, "Z" when utc is true. */
#define TIMESTAMP_MAX 48
void	timestamp_format(char buf[TIMESTAMP_MAX], int64_t seconds,
	    int32_t offset, bool utc);

/* The first and last second of the years 1 to 9999. */
#define TIMESTAMP_FIRST	INT64_C(-62135596800)
#define TIMESTAMP_LAST	INT64_C(253402300799)

#endif
