/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_JOBDIR_WATCH_H
#define CRONCTL_JOBDIR_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

struct event_base;

/*
 * Notices that job files, or files of time zones, have changed (inotify(7)),
 * and says so once things are quiet: 200 ms after the last event, but 2 s
 * after the first at most.  The watches themselves are set by the files
 * helper, each time before it reads (files_watch.c).
 */
struct jobdir_watch;

struct jobdir_change {
	bool	 jobs;		/* job files */
	bool	 zones;		/* zone files or /etc/localtime */
	/* Things are not quiet: it will be called again. */
	bool	 more;
};

struct jobdir_watch_options {
	struct event_base *base;
	const char	*jobs_dir;
	/* No: events are only counted, for jobdir_watch_changed_since. */
	bool		 tell;
	/* NULL, or the file that is the host's time zone. */
	const char	*localtime;
};

/* Without inotify (a limit is reached) it lives, but never sees anything. */
struct jobdir_watch *jobdir_watch_new(const struct jobdir_watch_options *);
void	jobdir_watch_free(struct jobdir_watch *);	/* accepts NULL */
void	jobdir_watch_on_change(struct jobdir_watch *,
	    void (*changed)(void *arg, const struct jobdir_change *),
	    void *arg);
/* For files_context; 0: none. */
int	jobdir_watch_jobs_fd(const struct jobdir_watch *);
int	jobdir_watch_zones_fd(const struct jobdir_watch *);

/*
 * How many changes of job files were seen so far, those included that happen
 * to have come this moment: two calls around a reading tell whether it may
 * have seen half of something.  NULL is accepted.
 */
uint64_t jobdir_watch_seen(struct jobdir_watch *);
/* All that was seen (of zones too) is read from now on: it needn't be told. */
void	jobdir_watch_forget(struct jobdir_watch *, bool zones);
/* Whether what is seen will also be told. */
bool	jobdir_watch_tells(const struct jobdir_watch *);

#endif
