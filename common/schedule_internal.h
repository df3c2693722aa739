/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_SCHEDULE_INTERNAL_H
#define CRONCTL_SCHEDULE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "common/schedule.h"

/*
 * A schedule's parts, for the schedule modules only.
 */
struct schedule {
	enum schedule_kind	 kind;	/* which of the parts below count */
	unsigned		 refs;	/* references held */
	char			*text;	/* as written, trimmed */
	size_t			 body;	/* where text goes on after TZ= */
	struct zone		*zone;	/* one reference */
	struct cronexpr		*expr;	/* SCHEDULE_CRON, else NULL */
	struct cronexpr_rules	 rules;	/* for expr */
	int64_t			 period; /* every: D; in: the delay; seconds */
	int64_t			 phase;	/* every: P, seconds */
	int64_t			 instant; /* at: when, UTC seconds */
};

#endif
