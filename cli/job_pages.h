/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_JOB_PAGES_H
#define CRONCTL_JOB_PAGES_H

#include "cli/command.h"

/*
 * Reads job.list page by page and gives each job object to take.  filter
 * holds its parameters but "after" and "limit"; it stays the caller's.
 * *summary: that of the last page, or NULL; free it.  Failures have been
 * printed.
 */
enum exit_status job_pages_read(struct cli *, const struct message *filter,
		    void (*take)(void *arg, const struct message *job),
		    void *arg, struct message **summary);

#endif
