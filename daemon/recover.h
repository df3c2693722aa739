/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_RECOVER_H
#define CRONCTL_RECOVER_H

#include "daemon/clock.h"
#include "daemon/files.h"
#include "daemon/jobtable.h"
#include "daemon/scheduler.h"
#include "daemon/store.h"

/*
 * What a starting daemon takes over from the store: jobs with their counters
 * and marks, runs that are not over, what waits, and how long nobody was
 * there.  The scheduler must be held; what the files say comes after it.
 */
struct recover_options {
	struct store		*store;
	const struct store_image *image;
	struct scheduler	*scheduler;
	const struct files_context *files;
	struct clock_reading	 now;
	const char		*boot_id;	/* of this boot */
	int64_t			 clock_wait;	/* us; see cronctld.conf(5) */
};

void	recover(const struct recover_options *);

#endif
