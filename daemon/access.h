/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_ACCESS_H
#define CRONCTL_ACCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/error.h"

/*
 * Who may do what over the control socket (spec section 7).  The caller's
 * identity is what the kernel says of the other end (unix(7), SO_PEERCRED),
 * nothing else.
 */
struct access_peer {
	uid_t	uid;		/* effective, when it connected */
	pid_t	pid;		/* for the log only: may be another by now */
};

/* Rising: each level may do what the one before may. */
enum access_level {
	ACCESS_STRANGER,	/* daemon.status, without details */
	ACCESS_FULL		/* root and the daemon's own user */
};

int	access_peer_of(int fd, struct access_peer *, struct error *err);
enum access_level access_level_of(uid_t uid, uid_t daemon_uid);
bool	access_may(enum access_level has, enum access_level needs);

#endif
