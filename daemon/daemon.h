/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_DAEMON_H
#define CRONCTL_DAEMON_H

#include "common/error.h"
#include "daemon/config.h"

/*
 * The whole daemon, put together from its parts: start order, loop, stop
 * order.  Returns 0 when it ended as it was asked to, -1 with a sentence.
 */
int	daemon_run(const struct config *, struct error *err);

/* --check: reads configuration and job files; the number of errors. */
size_t	daemon_check(const struct config *, void (*report)(void *arg,
	    const char *text), void *arg);

#endif
