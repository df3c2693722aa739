/* SPDX-License-Identifier: ISC */
/* Errors as sentences: filled where the fault is seen, prefixed on the way. */
#include "config.h"

#include "common/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/utf8.h"

/* Ends a text that did not fit with "...", never inside a character. */
static void
mark_cut(char *text)
{
	size_t end = ERROR_MAX - 4;

	while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
		end--;
	memcpy(text + end, "...", 4);
}

static void	format_into(char *, const char *, va_list)
		    __attribute__((format(printf, 2, 0)));

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

/* Bytes that one character takes when shown: all of it, or \xNN. */
static size_t
shown_size(const char *s, size_t n)
{
	return n == 1 && ((unsigned char)*s < 0x20 || *s == 0x7f ||
	    (unsigned char)*s >= 0x80) ? 4 : n;
}

const char *
error_quote(char buf[ERROR_QUOTE_MAX], const char *s, size_t len)
{
	const size_t room = ERROR_QUOTE_MAX - sizeof "\"...\"";
	size_t at = 0, i = 0, n;
	bool valid;

	buf[at++] = '"';
	while (i < len) {
		n = utf8_sequence(s + i, len - i, &valid);
		if (!valid)
			n = 1;
		if (at + shown_size(s + i, n) > room + 1)
			break;
		if (shown_size(s + i, n) == n) {
			memcpy(buf + at, s + i, n);
			at += n;
		} else {
			at += (size_t)snprintf(buf + at,
			    ERROR_QUOTE_MAX - at, "\\x%02x",
			    (unsigned char)s[i]);
		}
		i += n;
	}
	snprintf(buf + at, ERROR_QUOTE_MAX - at, "%s",
	    i < len ? "...\"" : "\"");
	return buf;
}
