/* SPDX-License-Identifier: ISC */
/*
 * Tables by libsmartcols, which aligns and colours; what is cut is decided
 * here, since the order matters: a name is the last to lose a character.
 */
#include "config.h"

#include "cli/output_table.h"

#include <assert.h>
#include <libsmartcols.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/output_text.h"
#include "common/strbuf.h"
#include "common/xmalloc.h"

#define COLUMNS_MAX	12
#define GAP		2	/* blanks between columns */

struct cell {
	char			*text;	/* escaped, or NULL */
	enum output_table_color	 color;
};

struct output_table {
	const struct output_table_column *columns;	/* the caller's */
	size_t		 n_columns;
	struct cell	*cells;		/* row by row */
	size_t		 n_rows;
	size_t		 room;		/* rows allocated */
	size_t		 width[COLUMNS_MAX];	/* natural, then fitted */
};

struct output_table *
output_table_new(const struct output_table_column *columns)
{
	struct output_table *t = xcalloc(1, sizeof *t);

	t->columns = columns;
	while (columns[t->n_columns].title != NULL)
		t->n_columns++;
	assert(t->n_columns <= COLUMNS_MAX);
	return t;
}

void
output_table_free(struct output_table *t)
{
	if (t == NULL)
		return;
	for (size_t i = 0; i < t->n_rows * t->n_columns; i++)
		free(t->cells[i].text);
	free(t->cells);
	free(t);
}

void
output_table_row(struct output_table *t)
{
	if (t->n_rows == t->room) {
		t->room = t->room == 0 ? 16 : t->room * 2;
		t->cells = xreallocarray(t->cells, t->room * t->n_columns,
		    sizeof *t->cells);
	}
	for (size_t i = 0; i < t->n_columns; i++)
		t->cells[t->n_rows * t->n_columns + i] =
		    (struct cell){ NULL, TABLE_PLAIN };
	t->n_rows++;
}

void
output_table_cell(struct output_table *t, size_t column, const char *text,
    enum output_table_color color)
{
	struct cell *cell = &t->cells[(t->n_rows - 1) * t->n_columns + column];
	struct strbuf safe = STRBUF_INIT;

	assert(t->n_rows > 0 && column < t->n_columns);
	text_escape(&safe, text);
	free(cell->text);
	cell->text = strbuf_detach(&safe);
	cell->color = color;
}

/* 0 for a column without any text: it is left out. */
static size_t
natural_width(const struct output_table *t, size_t column)
{
	size_t width = 0;

	for (size_t r = 0; r < t->n_rows; r++) {
		const char *text = t->cells[r * t->n_columns + column].text;
		size_t w = text != NULL ? text_width(text) : 0;

		if (w > width)
			width = w;
	}
	if (width > 0 && width < text_width(t->columns[column].title))
		width = text_width(t->columns[column].title);
	return width;
}

static size_t
total_width(const struct output_table *t)
{
	size_t total = 0;

	for (size_t c = 0; c < t->n_columns; c++)
		if (t->width[c] > 0)
			total += t->width[c] + (total > 0 ? GAP : 0);
	return total;
}

/* Cuts columns in their order until the table fits, or all are cut. */
static void
cut_columns(struct output_table *t, size_t width, bool to_minimum)
{
	for (int order = 1; order <= COLUMNS_MAX; order++)
		for (size_t c = 0; c < t->n_columns; c++) {
			size_t total = total_width(t), least;

			if (total <= width)
				return;
			least = to_minimum ? t->columns[c].min :
			    t->columns[c].serves;
			if (t->columns[c].shrink != order ||
			    t->width[c] <= least)
				continue;
			if (t->width[c] - least > total - width)
				t->width[c] -= total - width;
			else
				t->width[c] = least;
		}
}

static void
fit(struct output_table *t, size_t width)
{
	for (size_t c = 0; c < t->n_columns; c++)
		t->width[c] = natural_width(t, c);
	cut_columns(t, width, false);
	cut_columns(t, width, true);
}

static const char *
color_sequence(enum output_table_color color)
{
	static const char *const sequences[] = {
		[TABLE_PLAIN] = NULL,
		[TABLE_RED] = "\033[31m",
		[TABLE_YELLOW] = "\033[33m",
		[TABLE_GREEN] = "\033[32m",
		[TABLE_DIM] = "\033[2m",
	};

	return sequences[color];
}

static int
add_columns(const struct output_table *t, struct libscols_table *out)
{
	for (size_t c = 0; c < t->n_columns; c++) {
		int flags = t->columns[c].right ? SCOLS_FL_RIGHT : 0;

		if (t->width[c] == 0)
			continue;
		if (scols_table_new_column(out, t->columns[c].title,
		    (double)t->width[c], flags) == NULL)
			return -1;
	}
	return 0;
}

static int
add_row(const struct output_table *t, size_t row, struct libscols_table *out)
{
	struct libscols_line *line = scols_table_new_line(out, NULL);
	const struct cell *cells = &t->cells[row * t->n_columns];
	size_t shown = 0;

	if (line == NULL)
		return -1;
	for (size_t c = 0; c < t->n_columns; c++) {
		struct strbuf text = STRBUF_INIT;
		struct libscols_cell *cell;
		int failed;

		if (t->width[c] == 0)
			continue;
		if (cells[c].text != NULL)
			text_cut(&text, cells[c].text, t->width[c]);
		cell = scols_line_get_cell(line, shown++);
		failed = scols_cell_set_data(cell, text.buf);
		if (failed == 0 && cells[c].color != TABLE_PLAIN)
			failed = scols_cell_set_color(cell,
			    color_sequence(cells[c].color));
		strbuf_release(&text);
		if (failed != 0)
			return -1;
	}
	return 0;
}

int
output_table_print(struct output_table *t, size_t width, bool color)
{
	struct libscols_table *out = scols_new_table();
	int result = out != NULL ? 0 : -1;

	fit(t, width);
	if (result == 0 && (scols_table_set_column_separator(out, "  ") != 0 ||
	    scols_table_enable_colors(out, color) != 0 ||
	    scols_table_enable_noencoding(out, 1) != 0 ||
	    scols_table_set_termforce(out, SCOLS_TERMFORCE_ALWAYS) != 0 ||
	    scols_table_set_termwidth(out, width) != 0 ||
	    add_columns(t, out) == -1))
		result = -1;
	for (size_t r = 0; result == 0 && r < t->n_rows; r++)
		result = add_row(t, r, out);
	if (result == 0 && scols_print_table(out) != 0)
		result = -1;
	scols_unref_table(out);
	return result;
}
