/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_ARGUMENTS_H
#define CRONCTL_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

/*
 * A command line, taken apart by tables of options.  "--name value",
 * "--name=value", "-n value", "-nvalue" and bundles of single letters are
 * understood; options and operands may be mixed; "--" ends both, and what
 * follows are the words.  What begins with "-" and neither a letter nor a
 * further "-" is an operand, as "-2h" is.  All strings are borrowed from argv.
 */
struct arguments_option {
	const char	*name;		/* without "--"; NULL ends a table */
	char		 letter;	/* or 0 */
	const char	*value;		/* what it takes, as "N"; NULL: none */
	const char	*help;		/* one line */
};

struct arguments_given {
	const struct arguments_option *option;	/* of one of the tables */
	const char	*value;		/* NULL if it takes none */
};

struct arguments {
	struct arguments_given	*given;	/* in order */
	size_t		 n_given;
	char		**operands;	/* what is no option, in order */
	size_t		 n_operands;
	char		**words;	/* after "--", or NULL when there is none */
	size_t		 n_words;
};

/*
 * Takes argv[0] ... argv[argc - 1]; tables is a NULL-ended list.  With
 * stop_at_operand the first operand ends it; *used says how many strings
 * were taken.  The error names the option and suggests a near one; then
 * there is nothing to release.
 */
int	arguments_parse(struct arguments *, int argc, char **argv,
	    const struct arguments_option *const *tables,
	    bool stop_at_operand, int *used, struct error *err);
void	arguments_release(struct arguments *);

bool	arguments_has(const struct arguments *, const char *name);
/* The value given last, or NULL. */
const char *arguments_value(const struct arguments *, const char *name);

/* A whole number in a range, for options such as "-n N". */
int	arguments_number(const struct arguments *, const char *name, long min,
	    long max, long fallback, long *out, struct error *err);

#endif
