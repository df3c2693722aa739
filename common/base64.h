/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_BASE64_H
#define CRONCTL_BASE64_H

#include <stddef.h>

#include "common/error.h"
#include "common/strbuf.h"

/*
 * Base 64 as RFC 4648 section 4 has it: the "+/" alphabet, padded with "=",
 * without line ends.  It carries the bytes of a job's output in JSON.
 */

/* Appends the encoding of len bytes. */
void	base64_encode(struct strbuf *, const void *, size_t len);
/*
 * Appends the decoded bytes.  Only what base64_encode writes is accepted:
 * whole groups of four, padding at the end alone, no stray bits.  On failure
 * nothing is appended.
 */
int	base64_decode(struct strbuf *, const char *, size_t len,
	    struct error *err);

#endif
