/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_WORKER_SPAWN_CHILD_H
#define CRONCTL_WORKER_SPAWN_CHILD_H

#include <signal.h>
#include <stdint.h>

#include "common/protocol.h"
#include "worker/spawn.h"

/*
 * The child's side of a start.  Never returns: it becomes the command, or
 * reports a failed stage and ends.
 */
struct spawn_child {
	const struct protocol_start *start;	/* what to become */
	const struct spawn_limits *limits;	/* to be given back */
	const sigset_t	*ignored;	/* signals that we ignore */
	volatile uint8_t *stage;	/* shared with the parent */
	int		 report_fd;	/* write end */
	int		 output_fd;	/* write end, or -1 for /dev/null */
};

_Noreturn void	spawn_child_run(const struct spawn_child *);

#endif
