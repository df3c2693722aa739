/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_DAEMON_FILES_INTERNAL_H
#define CRONCTL_DAEMON_FILES_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/error.h"
#include "common/timestamp.h"
#include "daemon/files.h"
#include "daemon/helper.h"

/*
 * What the modules of the files helper share.  Private to them.
 *
 *	files		the two threads
 *	files_jobs	job files and the configuration
 *	files_build	definitions
 *	files_watch	watches on what was read
 *	files_output	pages of kept output
 *	files_worker	left workers, descriptors of new ones
 */

struct files_request;

/* On the thread, with its own copy of the context. */
typedef void files_work_fn(const struct files_context *,
	    struct files_request *);
/* On the loop; owns the request. */
typedef void files_done_fn(struct files_request *, struct files *);

/*
 * A request of any kind: the kind's own struct has this as its first member.
 */
struct files_request {
	struct helper_request	 request;	/* first; see helper.h */
	files_work_fn		*work;		/* what is to be done */
	files_done_fn		*done;		/* what follows */
	const char		*what;		/* is read; for messages */
	struct monotime		 since;		/* when it was asked */
	TAILQ_ENTRY(files_request) link;	/* in side->asked */
};
TAILQ_HEAD(files_requests, files_request);

/* One of the two threads. */
struct files_side {
	struct files		*files;		/* whose it is */
	struct helper		*helper;	/* its queues */
	struct files_context	 context;	/* the thread's; owned */
	struct jobdef_settings	 defaults;	/* context.defaults, if any */
	struct files_requests	 asked;		/* not answered, oldest first;
						 * the loop's */
	char			*slow_text;	/* reported; or NULL; loop's */
};

/*
 * Submits a request of that kind; false when the queue is full, and then the
 * request is still the caller's.  what must live as long as the request.
 */
bool	files_side_submit(struct files_side *, struct files_request *,
	    const char *what, files_work_fn *, files_done_fn *);
/* To the thread for our own directories. */
bool	files_submit(struct files *, struct files_request *,
	    const char *what, files_work_fn *, files_done_fn *);
struct files_side *files_job_files(struct files *);
/* On its thread: what it works with from now on. */
void	files_side_configure(struct files_side *, const char *zone,
	    const struct jobdef_settings *defaults);

/* --- files_build.c --- */

/* Zones and time of one request. */
struct files_building {
	struct zone		*zone;		/* the daemon's */
	struct zone_cache	*zones;		/* others, by name */
	int64_t			 now;		/* UTC seconds */
};
int	files_building_init(struct files_building *,
	    const struct files_context *, struct error *err);
/* Watches the zones that were used. */
void	files_building_release(struct files_building *,
	    const struct files_context *);
struct jobfile_options files_jobfile_options(const struct files_building *,
	    const struct files_context *);
/* For jobfile_options.opening; arg is the helper. */
void	files_say_opening(void *helper, const char *path);

/* --- files_watch.c --- */

/* The directory of job files, and the nearest one above it. */
void	files_watch_jobs(const struct files_context *);
/* The directory of a zone's file. */
void	files_watch_zone(const struct files_context *, const char *zone);

#endif
