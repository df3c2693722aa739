/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_CRONEXPR_CURSOR_H
#define CRONCTL_CRONEXPR_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cronexpr.h"
#include "common/error.h"

/*
 * What reading an item needs.  Private to the cronexpr modules.
 */

/* A text while it is parsed. */
struct cronexpr_parser {
	const char	*text;	/* the whole text */
	size_t		 len;	/* its bytes */
	/* For H and ~; NULL: they are refused. */
	const struct cronexpr_names *names;
	struct error	*err;	/* where to say what is wrong */
	/* Told of what is legal but surprising; may be NULL. */
	void		(*warn)(void *arg, const char *sentence);
	void		*warn_arg; /* for warn */
	size_t		 nfields; /* of the expression */
};

/* A field, as its items see it. */
struct cronexpr_kind {
	enum cronexpr_field	 field;	/* which one */
	const char		*word;	/* for the hash; NULL: no H, no ~ */
	int			 least;	/* least value */
	int			 most;	/* greatest value */
	int			 wrap;	/* greatest one before it starts over */
	int			 hash_most; /* greatest one that H gives */
	const char *const	*names;	/* of values from least on, or NULL */
	size_t			 nnames; /* entries of names */
	const char		*sample; /* what may stand there, for people */
};

extern const struct cronexpr_kind cronexpr_kinds[CRONEXPR_FIELDS];

#define CRONEXPR_QUOTE_MAX	48
/* A piece of text for a message: printable, cut where it is too long. */
const char	*cronexpr_quote(char buf[CRONEXPR_QUOTE_MAX], const char *s,
		    size_t len);

/* Says what is wrong at a byte of the text; always -1. */
int		 cronexpr_fault(struct cronexpr_parser *,
		    const struct cronexpr_kind *, size_t at,
		    const char *fmt, ...)
		    __attribute__((format(printf, 4, 5)));
/* An item while it is read. */
struct cronexpr_cursor {
	struct cronexpr_parser		*p;	/* of the whole text */
	const struct cronexpr_kind	*kind;	/* of the field */
	size_t				 from;	/* where the item begins */
	size_t				 at;	/* next byte */
	size_t				 to;	/* where it ends */
	unsigned			 number; /* of the item in its field */
};

/* One value as it was written. */
struct cronexpr_value {
	int	n;		/* the number */
	size_t	at;		/* where it was written */
	bool	is_sunday;	/* it was the name SUN */
};

/* The next byte, or -1 at the item's end. */
static inline int
cursor_peek(const struct cronexpr_cursor *c)
{
	return c->at < c->to ? (unsigned char)c->p->text[c->at] : -1;
}

/* Steps over a byte if it is the next one. */
static inline bool
cursor_take(struct cronexpr_cursor *c, char ch)
{
	if (cursor_peek(c) != ch)
		return false;
	c->at++;
	return true;
}

static inline bool
cursor_is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static inline bool
cursor_is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline int
cursor_upper(int c)
{
	return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
}

/* The column of a byte: characters from the text's start, from 1. */
size_t		 cronexpr_column(const struct cronexpr_parser *, size_t at);
/* What stands at the cursor does not belong there; always -1. */
int		 cronexpr_cursor_fault(struct cronexpr_cursor *);
/* Digits as a number; one too large for any use stands for all such. */
int		 cronexpr_cursor_digits(struct cronexpr_cursor *);
/* Refuses a number that was read from at on and is not within bounds. */
int		 cronexpr_cursor_check(struct cronexpr_cursor *, size_t at,
		    int n, int least, int most);
/* A number or a name of the field. */
int		 cronexpr_cursor_value(struct cronexpr_cursor *,
		    struct cronexpr_value *);
/* The number after "/", 1 or more. */
int		 cronexpr_cursor_step(struct cronexpr_cursor *, int *step);

#endif
