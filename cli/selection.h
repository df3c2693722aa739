/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_SELECTION_H
#define CRONCTL_SELECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/command.h"

/*
 * Jobs that a command is to end or remove.  They are named, or matched by a
 * shell pattern; then what it matched is shown first and asked about.
 */
struct selection {
	char	**names;	/* of jobs, in the order given; owned */
	size_t	  n;		/* of them */
	bool	  by_pattern;	/* some were matched, not named */
};

/*
 * A name stays, a pattern becomes the names of the jobs it matches that are
 * wanted.  One that matches none is STATUS_NO_SUCH: "no job that REASON
 * matches ...".  Failures have been printed.
 */
enum exit_status selection_add(struct cli *, struct selection *,
		    const char *operand,
		    bool (*wanted)(const struct message *job),
		    const char *reason);
/*
 * STATUS_DONE: go on; also when there was no pattern, or with --yes.  verb:
 * "remove", past: "removed".
 */
enum exit_status selection_confirm(const struct cli *,
		    const struct selection *, const char *verb,
		    const char *past);
void		 selection_release(struct selection *);

#endif
