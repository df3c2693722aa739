/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_RELOAD_H
#define CRONCTL_RELOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/files.h"
#include "daemon/jobtable.h"
#include "daemon/scheduler.h"
#include "daemon/store.h"

/*
 * Brings the jobs in force into line with the job files: reads them on the
 * files helper, compares by name, changes what differs.  One reload at a
 * time; those that are asked for meanwhile are one more.  A file in error
 * keeps its last good jobs.
 */
struct reload;

struct reload_change {
	char	 what;		/* '+', '~', '-' */
	char	*job;		/* name */
	char	*detail;	/* keys that differ, or NULL */
};

struct reload_result {
	struct reload_change *changes;	/* by name */
	size_t		 n_changes;
	size_t		 unchanged;	/* jobs */
	char		**errors;	/* sentences with their places */
	size_t		 n_errors;
	char		**warnings;
	size_t		 n_warnings;
	bool		 failed;	/* nothing was read: see errors */
};

struct reload_options {
	struct files	 *files;
	struct scheduler *scheduler;
	struct jobtable	 *jobs;
	struct store	 *store;
	uid_t		  owner_uid;	/* of file jobs */
	const char	 *owner_name;
};

struct reload	*reload_new(const struct reload_options *);
void		 reload_free(struct reload *);
/* plan: only say what would change.  done may be NULL. */
void		 reload_request(struct reload *, bool plan,
		    void (*done)(void *arg, const struct reload_result *),
		    void *arg);

/* At start, before the loop: compares and applies what was read. */
void		 reload_apply_now(struct reload *, struct files_jobs *);

/* What is known of the files now, for status. */
struct reload_status {
	size_t		 n_files;
	size_t		 n_ignored;
	char *const	*errors;	/* of the last reading */
	size_t		 n_errors;
	size_t		 n_files_in_error;
};
void		 reload_status(const struct reload *, struct reload_status *);

#endif
