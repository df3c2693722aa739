/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_SDNOTIFY_H
#define CRONCTL_SDNOTIFY_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/timestamp.h"

/*
 * What the service manager is told (sd_notify(3)), and the watchdog's pings,
 * which are tied to completed turns of the loop: a loop that hangs pings no
 * more.  Everything here is nothing when no manager listens ($NOTIFY_SOCKET
 * is not set) or when built without libsystemd.
 */
struct sdnotify;

/* Reads the environment and changes nothing in it; never NULL. */
struct sdnotify	*sdnotify_new(void);
void		 sdnotify_free(struct sdnotify *);

/* Jobs are loaded and the socket answers; status is for people, or NULL. */
void		 sdnotify_ready(struct sdnotify *, const char *status);
void		 sdnotify_status(struct sdnotify *, const char *status);
/* A reload begins; sdnotify_ready when it is over. */
void		 sdnotify_reloading(struct sdnotify *, struct monotime now);
void		 sdnotify_stopping(struct sdnotify *);
/*
 * The status "12 jobs, 3 running", told when it has changed, once a second
 * at most.  A later call makes good what was held back: nobody wakes for it.
 */
void		 sdnotify_figures(struct sdnotify *, size_t jobs,
		    size_t running, struct boottime now);

/*
 * A turn is complete: pings when half the watchdog's time has passed since
 * the last ping.
 */
void		 sdnotify_turn(struct sdnotify *, struct boottime now);
/*
 * When the loop must turn for the next ping; boottime us, INT64_MAX without
 * a watchdog.
 */
int64_t		 sdnotify_deadline(const struct sdnotify *);

/*
 * The socket that the manager listens on for us (sd_listen_fds(3)), into fd;
 * 0: there is none.  -1 if what was passed is not one listening stream socket
 * at path.  The descriptor is close-on-exec and does not block.
 */
int		 sdnotify_socket(const char *path, int *fd,
		    struct error *err);

#endif
