/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_WORKER_IDENTITY_H
#define CRONCTL_WORKER_IDENTITY_H

#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"
#include "common/protocol.h"

/*
 * As whom a run runs.  Used in the forked child only, which has one thread:
 * the look-ups use the non-reentrant functions of libc.
 *
 * Rules (spec.md 3): a name or a number, both must be known to the system;
 * what is empty, out of range or unknown is an error and never root.  Owner
 * uid and name must still belong together.  Without root's rights only our
 * own user will do.  Under root, a run of another owner gets that owner's
 * user and one of that user's groups, whatever the START says.
 *
 * One exception to "known to the system": the owner without a name who is
 * ourselves (a container's made-up uid) runs with HOME=/ and its number for
 * a name, for nothing changes hands.
 */
struct identity {
	uid_t	 uid;		/* to become */
	gid_t	 gid;		/* to become */
	gid_t	 user_gid;	/* the user's own group */
	char	*name;		/* LOGNAME and USER; owned */
	char	*home;		/* HOME; owned */
};

/*
 * *errnum: 0 when the answer is no, else why there was no answer.  A child
 * ends soon; nothing here is released.
 */
int	identity_find_user(const struct protocol_start *, struct identity *,
	    int *errnum, struct error *err);
int	identity_find_group(const struct protocol_start *, struct identity *,
	    int *errnum, struct error *err);
/* Groups first: afterwards there is no right to do it. */
int	identity_become_group(const struct identity *, int *errnum,
	    struct error *err);
int	identity_become_user(const struct identity *, int *errnum,
	    struct error *err);

#endif
