/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_CRONEXPR_INTERNAL_H
#define CRONCTL_CRONEXPR_INTERNAL_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/cronexpr.h"

/*
 * An expression as bit sets; shared by the cronexpr modules, private to
 * them.
 *
 * A day of the month is a bit from 1 on.  Years are kept in kinds, as in the
 * zone rules: leap or not, and the weekday of 1 January.  kinds tells which
 * of them have a matching day at all, so that a search looks into no year in
 * vain, and an expression that can never match has none.
 */

#define CRONEXPR_YEAR_FIRST	1970
#define CRONEXPR_YEAR_LAST	2199
#define CRONEXPR_YEAR_WORDS	4	/* of 64 bits */
#define CRONEXPR_YEAR_KINDS	14
#define CRONEXPR_MAX_SIZE	96	/* of struct cronexpr, bytes */

struct cronexpr {
	uint64_t	 second;	/* bits 0-59 */
	uint64_t	 minute;	/* bits 0-59 */
	uint64_t	 nth;		/* d#n as bit 7 (n - 1) + d */
	uint64_t	*years;		/* bit 0 is 1970; NULL: every year; a */
					/* second set holds only those that */
					/* have a fitting day */
	uint32_t	 hour;		/* bits 0-23 */
	uint32_t	 dom;		/* bits 1-31 */
	uint32_t	 dom_last;	/* L-n as bit 31 - n; L is bit 31 */
	uint32_t	 dom_near;	/* nW as bit n; LW is bit 0 */
	int32_t		 first_time;	/* the day's first second that fits */
	int32_t		 last_time;	/* the day's last second that fits */
	uint16_t	 month;		/* bits 1-12 */
	uint16_t	 kinds;		/* kinds of years with a fitting day */
	uint8_t		 dow;		/* bits 0-6, 0 is Sunday */
	uint8_t		 dow_last;	/* dL, the same */
	bool		 either_day;	/* a day fits if either field does */
	bool		 every_day;	/* date fields let all days through */
	bool		 fixed_time;	/* minute and hour don't begin with * */
	bool		 special;	/* has Quartz items */
};

static_assert(sizeof(struct cronexpr) <= CRONEXPR_MAX_SIZE,
    "a parsed expression is at most 96 bytes");

/*
 * The fitting days of a month of so many days that begins on that weekday,
 * month and year fields aside.
 */
uint32_t	cronexpr_days(const struct cronexpr *, unsigned first_weekday,
		    unsigned ndays);
/* The same for each of the two day fields alone. */
uint32_t	cronexpr_dom_days(const struct cronexpr *,
		    unsigned first_weekday, unsigned ndays);
uint32_t	cronexpr_dow_days(const struct cronexpr *,
		    unsigned first_weekday, unsigned ndays);
bool		cronexpr_has_year(const struct cronexpr *, int64_t year);
/* Works out all that follows from the sets: times, kinds, second set. */
void		cronexpr_settle(struct cronexpr *);

#endif
