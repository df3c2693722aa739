/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_DURATION_H
#define CRONCTL_DURATION_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

/*
 * Durations of the job files (spec section 3): "90", "90s", "5m", "2h",
 * "1d", "1w", "250ms", and sums such as "1h30m".  Units may stand in any
 * order, each once; a number without a unit means seconds and stands alone.
 * The value is in milliseconds, 0 to DURATION_MAX_MS.
 */
#define DURATION_MAX_MS	(INT64_C(1000) * 86400 * 366 * 10000)
#define DURATION_MAX_LEN 64

int	duration_parse(const char *s, size_t len, int64_t *ms,
	    struct error *err);
/*
 * A text that parses to the same value: "1h30m", "0s", "250ms"; weeks only
 * for whole ones ("2w", but "30d").
 */
void	duration_format(char buf[DURATION_MAX_LEN], int64_t ms);
/* For people, at most two units: "8 h 12 min", "3 s", "2 d". */
void	duration_format_human(char buf[DURATION_MAX_LEN], int64_t ms);

/* Sizes: "10K", "1M", "2G" (1,024 each), or plain bytes. */
int	size_parse(const char *s, size_t len, int64_t *bytes,
	    struct error *err);
void	size_format(char buf[DURATION_MAX_LEN], int64_t bytes);

#endif
