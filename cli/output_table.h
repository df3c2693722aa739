/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_OUTPUT_TABLE_H
#define CRONCTL_OUTPUT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A table on standard output that never wraps: columns are as wide as their
 * cells; if that is too wide for the terminal they are cut, in an order the
 * caller gives, each first to a width that still serves, then to a minimum.
 */
struct output_table;

struct output_table_column {
	const char	*title;		/* NULL ends a list of columns */
	size_t		 serves;	/* cut to this much first, then ... */
	size_t		 min;		/* ... to this at the least */
	int		 shrink;	/* cut in this order, 1 first; 0: never */
	bool		 right;		/* numbers */
};

enum output_table_color {
	TABLE_PLAIN, TABLE_RED, TABLE_YELLOW, TABLE_GREEN, TABLE_DIM
};

struct output_table *output_table_new(const struct output_table_column *);
void	output_table_free(struct output_table *);	/* accepts NULL */
/* A row; its cells are empty until set. */
void	output_table_row(struct output_table *);
/* Text (copied) of a cell in the last row; it is escaped. */
void	output_table_cell(struct output_table *, size_t column,
	    const char *text, enum output_table_color);
/*
 * Columns without any text are left out.  -1 when the library fails, which
 * is only for want of memory.
 */
int	output_table_print(struct output_table *, size_t width, bool color);

#endif
