/* SPDX-License-Identifier: ISC */
/* A growing run of bytes; doubling, so adding is O(1) on the average. */
#include "config.h"

#include "common/strbuf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xmalloc.h"

#define STRBUF_FIRST 64

char strbuf_empty[1];

void
strbuf_init(struct strbuf *sb)
{
	sb->buf = strbuf_empty;
	sb->len = sb->cap = 0;
}

void
strbuf_release(struct strbuf *sb)
{
	if (sb->cap > 0)
		free(sb->buf);
	strbuf_init(sb);
}

void
strbuf_reset(struct strbuf *sb)
{
	strbuf_setlen(sb, 0);
}

void
strbuf_grow(struct strbuf *sb, size_t extra)
{
	size_t need = sb->len + extra + 1, cap = sb->cap;

	assert(need > sb->len);
	if (need <= cap)
		return;
	if (cap == 0)
		cap = STRBUF_FIRST;
	while (cap < need)
		cap *= 2;
	sb->buf = xreallocarray(sb->cap > 0 ? sb->buf : NULL, cap, 1);
	sb->cap = cap;
	sb->buf[sb->len] = '\0';
}

void
strbuf_add(struct strbuf *sb, const void *data, size_t len)
{
	if (len == 0)
		return;
	strbuf_grow(sb, len);
	memcpy(sb->buf + sb->len, data, len);
	sb->len += len;
	sb->buf[sb->len] = '\0';
}

void
strbuf_addstr(struct strbuf *sb, const char *s)
{
	strbuf_add(sb, s, strlen(s));
}

void
strbuf_addch(struct strbuf *sb, char c)
{
	strbuf_add(sb, &c, 1);
}

void
strbuf_addf(struct strbuf *sb, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	assert(fmt != NULL);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	assert(n >= 0);
	strbuf_grow(sb, (size_t)n);
	va_start(ap, fmt);
	vsnprintf(sb->buf + sb->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	sb->len += (size_t)n;
}

void
strbuf_setlen(struct strbuf *sb, size_t len)
{
	assert(len <= sb->len);
	sb->len = len;
	if (sb->cap > 0)
		sb->buf[len] = '\0';
}

void
strbuf_consume(struct strbuf *sb, size_t n)
{
	assert(n <= sb->len);
	if (n == 0)
		return;
	memmove(sb->buf, sb->buf + n, sb->len - n);
	strbuf_setlen(sb, sb->len - n);
}

char *
strbuf_detach(struct strbuf *sb)
{
	char *s;

	if (sb->cap == 0)
		return xstrdup("");
	s = sb->buf;
	strbuf_init(sb);
	return s;
}
