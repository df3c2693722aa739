/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_SCHEDULE_H
#define CRONCTL_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cronexpr.h"
#include "common/error.h"
#include "common/zone.h"

/*
 * One schedule: an expression in a zone, or one of the other forms of spec
 * section 4.  Immutable; reference counted like zones, one thread at a time.
 */
struct schedule;

enum schedule_kind {
	SCHEDULE_CRON,		/* an expression, or a word that stands for one */
	SCHEDULE_EVERY,		/* @every D, @every D/P */
	SCHEDULE_AT,		/* @at TIME */
	SCHEDULE_IN,		/* @in D; made into SCHEDULE_AT on acceptance */
	SCHEDULE_MANUAL		/* @manual */
};

struct schedule_options {
	struct zone		*zone;	/* used unless TZ= says else */
	struct zone_cache	*zones;	/* for TZ= and CRON_TZ= prefixes */
	const struct cronexpr_names *names; /* for H and ~; may be NULL */
	struct cronexpr_rules	 rules;
	bool			 allow_in; /* accept @in D */
	int64_t			 now;	/* for @at HH:MM: what "next" means */
};

struct schedule	*schedule_parse(const char *s, size_t len,
		    const struct schedule_options *, struct error *err);
struct schedule	*schedule_ref(struct schedule *);
void		 schedule_unref(struct schedule *);	/* accepts NULL */

enum schedule_kind schedule_kind(const struct schedule *);
/* The text as written, trimmed. */
const char	*schedule_text(const struct schedule *);
struct zone	*schedule_zone(const struct schedule *);	/* borrowed */
/* Puts another object for the same zone in; for sharing. */
void		 schedule_set_zone(struct schedule *, struct zone *);
/* The expression of SCHEDULE_CRON, else NULL; borrowed. */
const struct cronexpr *schedule_expr(const struct schedule *);
/* SCHEDULE_IN: the delay in ms. */
int64_t		 schedule_in_ms(const struct schedule *);
/* Interval-kind by vectors/README.md; @every always, @at never. */
bool		 schedule_is_interval(const struct schedule *);
bool		 schedule_is_one_shot(const struct schedule *);

/*
 * The first occurrence strictly after (before) an instant; false when there
 * is none.  Instants are whole UTC seconds, years 1 to 9999.
 */
bool		 schedule_next(const struct schedule *, int64_t after,
		    int64_t *next);
bool		 schedule_previous(const struct schedule *, int64_t before,
		    int64_t *previous);

/* What a rule of daylight saving did at an occurrence, for people. */
enum schedule_rule {
	SCHEDULE_RULE_NONE,
	SCHEDULE_RULE_GAP,	/* stands for times that were jumped over */
	SCHEDULE_RULE_FOLD	/* its wall time is shown more than once */
};
enum schedule_rule schedule_rule_at(const struct schedule *, int64_t at);

/*
 * Several schedules of one job, taken as a union: equal seconds are one
 * occurrence.  A list does not own its array.
 */
bool		 schedule_next_of(struct schedule *const *, size_t n,
		    int64_t after, int64_t *next);
bool		 schedule_previous_of(struct schedule *const *, size_t n,
		    int64_t before, int64_t *previous);

/* As cronexpr_warnings, plus those that need a zone and a clock. */
void		 schedule_warnings(const struct schedule *, int64_t now,
		    void (*warn)(void *arg, const char *sentence), void *arg);

#endif
