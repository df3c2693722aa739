/* SPDX-License-Identifier: ISC */
/*
 * The one place where running out of memory is dealt with: the process says
 * so and ends.  The store is written in transactions, so nothing on disk is
 * harmed by that.
 */
#include "config.h"

#include "common/xmalloc.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes without stdio, which may itself want memory, and ends. */
static void
out_of_memory(void)
{
	static const char msg[] = "cronctl: out of memory\n";

	if (write(STDERR_FILENO, msg, sizeof msg - 1) < 0)
		_exit(XMALLOC_EXIT);
	_exit(XMALLOC_EXIT);
}

void *
xmalloc(size_t size)
{
	void *p = malloc(size > 0 ? size : 1);

	if (p == NULL)
		out_of_memory();
	return p;
}

void *
xcalloc(size_t n, size_t size)
{
	void *p = calloc(n > 0 ? n : 1, size > 0 ? size : 1);

	if (p == NULL)
		out_of_memory();
	return p;
}

void *
xreallocarray(void *p, size_t n, size_t size)
{
	void *q;

	if (n == 0 || size == 0)
		n = size = 1;
	if (n > SIZE_MAX / size)
		out_of_memory();
	q = realloc(p, n * size);
	if (q == NULL)
		out_of_memory();
	return q;
}

void *
xmemdup(const void *p, size_t len)
{
	void *q = xmalloc(len);

	if (len > 0)
		memcpy(q, p, len);
	return q;
}

char *
xstrndup(const char *s, size_t len)
{
	size_t n = strnlen(s, len);
	char *p = xmalloc(n + 1);

	memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

char *
xstrdup(const char *s)
{
	return xmemdup(s, strlen(s) + 1);
}

char *
xvasprintf(const char *fmt, va_list ap)
{
	char *s;

	if (vasprintf(&s, fmt, ap) < 0)
		out_of_memory();
	return s;
}

char *
xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}
