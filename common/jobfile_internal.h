/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_JOBFILE_INTERNAL_H
#define CRONCTL_JOBFILE_INTERNAL_H

#include "common/error.h"
#include "common/jobfile.h"

/* What the parts of jobfile share; for no other module. */

/* A file of that name without jobs, errors or text. */
struct jobfile	*jobfile_new(const char *name);
/* Adds the error of a file that can't be read. */
void		 jobfile_fail(struct jobfile *, const struct error *);

#endif
