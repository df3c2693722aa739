/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_CRONEXPR_H
#define CRONCTL_CRONEXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/zone.h"

/*
 * Cron expressions as bit sets: five fields, six (seconds first), seven (and
 * a year at the end), names, lists, ranges, steps, "?", the Quartz items,
 * and the words @yearly ... @hourly.  The meaning is that of
 * the vector files in tests/data and of cronctl-jobs(5).  At most 96 bytes; the years, if
 * any, are in a block of their own.
 */
struct cronexpr;

#define CRONEXPR_TEXT_MAX 32768	/* bytes of text accepted */

/* For H and ~ (semantics.md 7): without it they are refused. */
struct cronexpr_names {
	const char	*host_id;
	const char	*job;
};

enum dst_gap { DST_GAP_RUN, DST_GAP_SKIP };
enum dst_fold { DST_FOLD_FIRST, DST_FOLD_SECOND, DST_FOLD_BOTH };

/* How wall-clock changes act on fixed-time expressions. */
struct cronexpr_rules {
	enum dst_gap	gap;
	enum dst_fold	fold;
};

/* names may be NULL.  The error names the field and the column (from 1). */
struct cronexpr	*cronexpr_parse(const char *s, size_t len,
		    const struct cronexpr_names *names, struct error *err);
/* The same for what begins at byte from; columns count from the text's start. */
struct cronexpr	*cronexpr_parse_from(const char *text, size_t len,
		    size_t from, const struct cronexpr_names *names,
		    struct error *err);
/* The words that stand for expressions, without "@"; NULL after the last. */
const char	*cronexpr_word(size_t i);
void		 cronexpr_free(struct cronexpr *);

/*
 * The first instant strictly after (before) an instant, in UTC seconds;
 * false when there is none in the years 1 to 9999.  No allocation.
 */
bool		 cronexpr_next(const struct cronexpr *, const struct zone *,
		    struct cronexpr_rules, int64_t after, int64_t *next);
bool		 cronexpr_previous(const struct cronexpr *,
		    const struct zone *, struct cronexpr_rules,
		    int64_t before, int64_t *previous);

/* The first wall-clock second from one on that matches, zones aside. */
bool		 cronexpr_next_local(const struct cronexpr *, int64_t from,
		    int64_t *local);

/* Neither the minute nor the hour field begins with "*" or "?". */
bool		 cronexpr_is_fixed_time(const struct cronexpr *);
/* The expression has a seconds field that is not just 0. */
bool		 cronexpr_has_seconds(const struct cronexpr *);
/* Both day fields are restricted, so either one makes a day match. */
bool		 cronexpr_is_either_day(const struct cronexpr *);

/* What a field says about one instant, for explain. */
enum cronexpr_field {
	CRONEXPR_SECOND, CRONEXPR_MINUTE, CRONEXPR_HOUR, CRONEXPR_DOM,
	CRONEXPR_MONTH, CRONEXPR_DOW, CRONEXPR_YEAR, CRONEXPR_FIELDS
};

/*
 * Which fields match a wall-clock time (bit 1 << field set: it matches).
 * Zones and days' OR/AND rule play no part.
 */
unsigned	 cronexpr_match_fields(const struct cronexpr *,
		    int64_t local);
const char	*cronexpr_field_name(enum cronexpr_field);

/*
 * Legal but surprising things about an expression (spec section 4), one
 * sentence each, given to the callback: a step larger than its range, both
 * day fields restricted.
 */
void		 cronexpr_warnings(const char *s, size_t len,
		    void (*warn)(void *arg, const char *sentence), void *arg);
/* The same for what begins at byte from. */
void		 cronexpr_warnings_from(const char *text, size_t len,
		    size_t from,
		    void (*warn)(void *arg, const char *sentence), void *arg);

#endif
