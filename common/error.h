/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_ERROR_H
#define CRONCTL_ERROR_H

#include <stddef.h>

/*
 * Why something failed, as one sentence for people: the offending value and
 * what to do about it.  A value without an owner: it lives on the caller's
 * stack and needs no release.  A longer text is cut at a character boundary
 * and marked with "...".
 *
 * Fallible functions return 0 or -1 (or NULL), take a struct error * last,
 * leave it untouched on success and fill it on failure.  NULL is allowed
 * where the caller doesn't care.
 */
#define ERROR_MAX 768

struct error {
	char	text[ERROR_MAX];	/* UTF-8, ends with NUL */
};

/* Fills err; always returns -1, so that "return error_set(...)" works. */
int	error_set(struct error *err, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
/* The same, with ": " and the text of the errno value appended. */
int	error_set_errno(struct error *err, int errnum, const char *fmt, ...)
	    __attribute__((format(printf, 3, 4)));
/*
 * A value as errors show it: in double quotes, control characters as \xNN, a
 * long one cut at a character boundary and ended with "...".  Returns buf.
 */
#define ERROR_QUOTE_MAX	96
const char *error_quote(char buf[ERROR_QUOTE_MAX], const char *s, size_t len);
/* Puts "PREFIX: " before what is there; always returns -1. */
int	error_prefix(struct error *err, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));

#endif
