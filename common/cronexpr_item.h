/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_CRONEXPR_ITEM_H
#define CRONCTL_CRONEXPR_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cronexpr_cursor.h"

/*
 * Items, the parts of a field between commas.  Private to the cronexpr
 * modules.
 */

/* A year minus 1970, or any other value as it is, is a bit of a set. */
#define CRONEXPR_SET_WORDS	4

/* What the items of one field add up to. */
struct cronexpr_set {
	uint64_t	bits[CRONEXPR_SET_WORDS]; /* plain values */
	uint64_t	nth;		/* as in struct cronexpr */
	uint32_t	dom_last;	/* the same */
	uint32_t	dom_near;	/* the same */
	uint8_t		dow_last;	/* the same */
	bool		special;	/* has Quartz items */
};

/* Adds the item at [from, to) of the text, the number-th of its field. */
int		 cronexpr_item_parse(struct cronexpr_parser *,
		    const struct cronexpr_kind *, size_t from, size_t to,
		    unsigned number, struct cronexpr_set *);

#endif
