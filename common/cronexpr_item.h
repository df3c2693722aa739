/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_CRONEXPR_ITEM_H
#define CRONCTL_CRONEXPR_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cronexpr.h"
#include "common/error.h"

/*
 * Items, the parts of a field between commas.  Private to the cronexpr
 * modules.
 */

/* A year minus 1970, or any other value as it is, is a bit of a set. */
#define CRONEXPR_SET_WORDS	4

/* What the items of one field add up to. */
struct cronexpr_set {
	uint64_t	bits[CRONEXPR_SET_WORDS]; /* plain values */
	uint64_t	nth;		/* as in struct cronexpr */
	uint32_t	dom_last;	/* the same */
	uint32_t	dom_near;	/* the same */
	uint8_t		dow_last;	/* the same */
	bool		special;	/* has Quartz items */
};

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
/* Adds the item at [from, to) of the text, the number-th of its field. */
int		 cronexpr_item_parse(struct cronexpr_parser *,
		    const struct cronexpr_kind *, size_t from, size_t to,
		    unsigned number, struct cronexpr_set *);

#endif
