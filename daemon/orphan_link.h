/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_ORPHAN_LINK_H
#define CRONCTL_ORPHAN_LINK_H

#include "daemon/orphans.h"
#include "daemon/scheduler.h"
#include "daemon/workers.h"

/*
 * Between the scheduler and the orphans' module: what the one says, in the
 * words of the other.
 */
struct orphan_link {
	struct scheduler	*scheduler;	/* hears of finds and ends */
	struct workers		*workers;	/* reaps, knows workers */
};

/* The link is borrowed, and must live as long as what is returned. */
struct orphans	*orphan_link_new(struct orphan_link *, struct event_base *,
		    int program_fd);
/* As scheduler_ops.orphan. */
const char	*orphan_link_take(struct orphans *,
		    const struct scheduler_orphan *);

#endif
