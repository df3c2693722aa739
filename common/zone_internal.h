/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_ZONE_INTERNAL_H
#define CRONCTL_ZONE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/zone.h"
#include "common/zone_rule.h"

/*
 * What the zone modules share: a zone's table.  Private to them.
 */

/* A local time type of the file. */
struct zone_type {
	int32_t	offset;			/* seconds east of UTC */
	bool	is_dst;			/* called daylight saving time */
	char	abbr[ZONE_ABBR_MAX];	/* as shown to people */
};

#define ZONE_BUCKETS	512	/* at most */

struct zone {
	char		*name;		/* as given to zone_load */
	unsigned	 refs;		/* references held */
	uint64_t	 hash;		/* of the file's bytes */
	size_t		 n;		/* entries of at and type */
	int64_t		*at;		/* rising UTC seconds */
	uint8_t		*type;		/* in force from at on */
	struct zone_type *types;	/* the first is in force before at[0] */
	size_t		 ntypes;	/* entries of types, at least 1 */
	bool		 has_rule;	/* rule is in force from the last at */
	struct zone_rule rule;		/* of the footer */
	/*
	 * Where to look: bucket b begins with the first entry at or after
	 * base + (b << shift); there are nbuckets and one behind the last.
	 */
	int64_t		 base;		/* where bucket 0 begins */
	unsigned	 shift;		/* width of a bucket, log2 seconds */
	size_t		 nbuckets;	/* 0: no table */
	uint16_t	 bucket[ZONE_BUCKETS + 1]; /* index into at */
};

/* Fills at, type, types and rule from the bytes of a TZif file. */
int		 zone_tzif_parse(struct zone *, const uint8_t *data,
		    size_t len, struct error *err);
/* A zone without a table yet, one reference. */
struct zone	*zone_new(const char *name);
/* Makes the buckets; the zone is complete after it. */
void		 zone_make_index(struct zone *);

#endif
