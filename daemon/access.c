/* SPDX-License-Identifier: ISC */
/*
 * Who may do what: pure decisions, and the one question to the kernel that
 * they rest on.  Does not ask for names: a uid is enough.
 */
#include "config.h"

#include "daemon/access.h"

#include <errno.h>
#include <sys/socket.h>

int
access_peer_of(int fd, struct access_peer *peer, struct error *err)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == -1)
		return error_set_errno(err, errno,
		    "can't tell who is at the other end of a connection");
	/* What has no credentials is no local peer. */
	if (len != sizeof(cred) || cred.uid == (uid_t)-1)
		return error_set(err, "a connection has nobody at its other "
		    "end that the kernel knows");
	peer->uid = cred.uid;
	peer->pid = cred.pid;
	return 0;
}

enum access_level
access_level_of(uid_t uid, uid_t daemon_uid)
{
	return uid == 0 || uid == daemon_uid ? ACCESS_FULL : ACCESS_STRANGER;
}

bool
access_may(enum access_level has, enum access_level needs)
{
	return has >= needs;
}
