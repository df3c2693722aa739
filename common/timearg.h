/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_TIMEARG_H
#define CRONCTL_TIMEARG_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/zone.h"

/*
 * TIME, as people write it (spec section 4): RFC 3339, @EPOCH,
 * YYYY-MM-DD[ HH:MM[:SS]], HH:MM[:SS], today|yesterday|tomorrow [HH:MM],
 * -2h, +2h.
 */
enum timearg_use {
	TIMEARG_QUESTION,	/* HH:MM is the latest past one */
	TIMEARG_PLAN		/* HH:MM is the next one */
};

int	timearg_parse(const char *s, size_t len, const struct zone *zone,
	    int64_t now, enum timearg_use use, int64_t *out,
	    struct error *err);

#endif
