/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_WORKER_WORKER_H
#define CRONCTL_WORKER_WORKER_H

#include <stdint.h>

#include "common/error.h"
#include "worker/spawn.h"

/*
 * A worker: takes starts from a daemon, sees the runs through, keeps their
 * results until a daemon has them, and outlives every daemon while it has
 * something to keep.
 *
 *	NEW -> ATTACHED <-> DETACHED
 *	ATTACHED, drained and empty -> exit
 *	DETACHED and nothing held -> exit
 *	DETACHED and all ended -> spool, exit
 *	SIGTERM: ladder for all runs; acknowledged or spooled -> exit
 *
 * The descriptors of enum PROTOCOL_FD_* are open; SIGCHLD and SIGTERM are
 * blocked.
 */
struct worker;

struct worker_options {
	uint64_t	 number;	/* the worker's name */
	const char	*instance;	/* of the daemon's state directory */
	uint64_t	 epoch;		/* of the daemon that starts us */
	struct spawn_limits limits;	/* for the children */
	uint64_t	 max_files;	/* our own limit of descriptors */
};

struct worker	*worker_new(const struct worker_options *, struct error *err);
void		 worker_free(struct worker *);
/* Until there is nothing left to do: 0; -1: it can't go on. */
int		 worker_run(struct worker *, struct error *err);

#endif
