/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_UTF8_H
#define CRONCTL_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates. */

/*
 * Length of the character that s begins with, at least 1; *valid says
 * whether it is one.  If not, the length is that of the longest beginning of
 * a character, which one U+FFFD stands for (Unicode 15, 3.9, "substitution
 * of maximal subparts").  len is at least 1.
 */
size_t	utf8_sequence(const char *s, size_t len, bool *valid);
/* Bytes before the first that is no UTF-8; len when all is well. */
size_t	utf8_valid_prefix(const char *s, size_t len);

#endif
