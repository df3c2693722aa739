/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_STRBUF_H
#define CRONCTL_STRBUF_H

#include <stddef.h>

/*
 * A growing run of bytes.  buf is never NULL and always has a NUL behind the
 * last byte, so it can be used as a string; it may hold NULs itself.
 */
struct strbuf {
	char	*buf;	/* the bytes, then a NUL */
	size_t	 len;	/* bytes in use, without that NUL */
	size_t	 cap;	/* bytes allocated; 0 while buf is the shared "" */
};

extern char strbuf_empty[];
#define STRBUF_INIT { strbuf_empty, 0, 0 }

void	 strbuf_init(struct strbuf *);
void	 strbuf_release(struct strbuf *);
/* Forgets the bytes, keeps the allocation. */
void	 strbuf_reset(struct strbuf *);
/* Makes room for extra more bytes (and the NUL). */
void	 strbuf_grow(struct strbuf *, size_t extra);
void	 strbuf_add(struct strbuf *, const void *, size_t len);
void	 strbuf_addstr(struct strbuf *, const char *);
void	 strbuf_addch(struct strbuf *, char);
void	 strbuf_addf(struct strbuf *, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
/* Cuts to len bytes; len must not exceed the present length. */
void	 strbuf_setlen(struct strbuf *, size_t len);
/* Drops the first n bytes. */
void	 strbuf_consume(struct strbuf *, size_t n);
/* Hands the string to the caller (free()) and leaves the buffer empty. */
char	*strbuf_detach(struct strbuf *);

#endif
