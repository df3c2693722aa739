/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_RELOAD_H
#define CRONCTL_RELOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/config.h"
#include "daemon/files.h"
#include "daemon/jobdir_watch.h"
#include "daemon/jobtable.h"
#include "daemon/scheduler.h"
#include "daemon/store.h"

/*
 * Brings the jobs in force into line with the job files: reads them on the
 * files helper, compares by name, changes what differs, some of it each turn.
 * One reload at a time; those that are asked for meanwhile are one more.  A
 * file in error keeps its last good jobs.
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
	char		**config;	/* what of cronctld.conf changes */
	size_t		 n_config;
	bool		 failed;	/* nothing has changed: see errors */
};

struct reload_options {
	struct files	 *files;
	struct scheduler *scheduler;
	struct jobtable	 *jobs;
	struct store	 *store;
	uid_t		  owner_uid;	/* of file jobs */
	const char	 *owner_name;
	const struct config *config;	/* of the start; NULL: never read */
	const char	 *zone_name;	/* the daemon's, to begin with */
	struct jobdir_watch *watch;	/* NULL: none */
};

struct reload	*reload_new(const struct reload_options *);
void		 reload_free(struct reload *);
/*
 * Reads everything: cronctld.conf, job files, zones.  plan: only say what
 * would change.  done may be NULL.
 */
void		 reload_request(struct reload *, bool plan,
		    void (*done)(void *arg, const struct reload_result *),
		    void *arg);
/* At start: job files alone, the rest has just been read. */
void		 reload_start(struct reload *);
/* What a jobdir_watch has noticed. */
void		 reload_changed(struct reload *, const struct jobdir_change *);
/*
 * In each turn: does a few milliseconds' worth of what is to be done; true
 * when work is left.
 */
bool		 reload_step(struct reload *);
/*
 * Between what it compares and what it changes: no other definition may
 * change meanwhile.
 */
bool		 reload_is_busy(const struct reload *);
/* Nothing is asked for, or what is asked for hangs on a disk. */
bool		 reload_is_through(const struct reload *);
/* Name of the daemon's zone now. */
const char	*reload_zone_name(const struct reload *);

/* What is known of the files now, for status. */
struct reload_status {
	size_t		 n_files;
	size_t		 n_ignored;
	char *const	*errors;	/* of the last reading */
	size_t		 n_errors;
	size_t		 n_files_in_error;
	const char	*slow;		/* reading that hangs; or NULL */
};
void		 reload_status(const struct reload *, struct reload_status *);

#endif
