/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_XMALLOC_H
#define CRONCTL_XMALLOC_H

#include <stdarg.h>
#include <stddef.h>

/*
 * Allocation that can't fail: out of memory writes one line to stderr and
 * ends the process with status 70 (EX_SOFTWARE).  Every length that comes
 * from outside must be bounded by a named limit before it gets here.
 */
#define XMALLOC_EXIT 70

void	*xmalloc(size_t size);
void	*xcalloc(size_t n, size_t size);
void	*xreallocarray(void *p, size_t n, size_t size);
char	*xstrdup(const char *s);
/* Copies at most len bytes and always ends the copy with a NUL. */
char	*xstrndup(const char *s, size_t len);
void	*xmemdup(const void *p, size_t len);
char	*xasprintf(const char *fmt, ...)
	    __attribute__((format(printf, 1, 2)));
char	*xvasprintf(const char *fmt, va_list ap)
	    __attribute__((format(printf, 1, 0)));

#endif
