/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_ZONE_RULE_H
#define CRONCTL_ZONE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/zone.h"

/*
 * A zone's rule for all years: the TZ string of POSIX with the extensions of
 * RFC 9636 3.3.1 (quoted names, times from -167 to 167 hours), as it stands
 * in the footer of a TZif file.  Private to the zone modules.
 */

/* Years by length and the weekday of 1 January. */
#define ZONE_YEAR_KINDS	14

struct zone_rule {
	char	std_abbr[ZONE_ABBR_MAX];	/* of standard time */
	char	dst_abbr[ZONE_ABBR_MAX];	/* of daylight saving time */
	int32_t	std_offset;	/* seconds east of UTC */
	int32_t	dst_offset;	/* the same; only with has_dst */
	bool	has_dst;	/* the offset changes twice a year */
	bool	is_dst;		/* without has_dst: what there is is DST */
	/* Seconds from the year's first UTC second to each change, by kind. */
	int32_t	dst_start[ZONE_YEAR_KINDS];
	int32_t	dst_end[ZONE_YEAR_KINDS];
};

int	zone_rule_parse(struct zone_rule *, const char *s, size_t len,
	    struct error *err);
/*
 * The stretch of standard or daylight saving time that holds an instant.
 * Tells which of both it is.
 */
bool	zone_rule_span(const struct zone_rule *, int64_t utc,
	    struct zone_span *);

#endif
