/* SPDX-License-Identifier: ISC */
/* Errors as sentences: filled where the fault is seen, prefixed on the way. */
#include "config.h"

#include "common/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Ends a text that did not fit with "...", never inside a character. */
static void
mark_cut(char *text)
{
	size_t end = ERROR_MAX - 4;

	while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
		end--;
	memcpy(text + end, "...", 4);
}

static void
format_into(char *text, const char *fmt, va_list ap)
{
	if (vsnprintf(text, ERROR_MAX, fmt, ap) >= ERROR_MAX)
		mark_cut(text);
}

int
error_set(struct error *err, const char *fmt, ...)
{
	va_list ap;

	if (err == NULL)
		return -1;
	va_start(ap, fmt);
	format_into(err->text, fmt, ap);
	va_end(ap);
	return -1;
}

int
error_set_errno(struct error *err, int errnum, const char *fmt, ...)
{
	char what[ERROR_MAX];
	va_list ap;

	if (err == NULL)
		return -1;
	va_start(ap, fmt);
	format_into(what, fmt, ap);
	va_end(ap);
	return error_set(err, "%s: %s", what, strerrordesc_np(errnum) != NULL ?
	    strerrordesc_np(errnum) : "unknown error");
}

int
error_prefix(struct error *err, const char *fmt, ...)
{
	char old[ERROR_MAX], prefix[ERROR_MAX];
	va_list ap;

	if (err == NULL)
		return -1;
	memcpy(old, err->text, sizeof old);
	va_start(ap, fmt);
	format_into(prefix, fmt, ap);
	va_end(ap);
	return error_set(err, "%s: %s", prefix, old);
}
