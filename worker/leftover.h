/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_WORKER_LEFTOVER_H
#define CRONCTL_WORKER_LEFTOVER_H

#include "worker/poller.h"

/*
 * Pipes of runs that are over but whose writers are not: something was left
 * in the background.  What still comes is read and thrown away, so that it
 * doesn't die of SIGPIPE; of more than LEFTOVER_MAX the oldest is closed.
 */
#define LEFTOVER_MAX 64

struct leftover;

struct leftover	*leftover_new(struct poller *);
void		 leftover_free(struct leftover *);
/* Takes the descriptor, which doesn't block. */
void		 leftover_add(struct leftover *, int fd);

#endif
