/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_WORKER_POLLER_H
#define CRONCTL_WORKER_POLLER_H

#include <stdint.h>

#include "common/error.h"
#include "common/timestamp.h"

/*
 * Waits for descriptors and for one instant of the monotonic clock, and
 * sleeps for ever while there is neither (epoll(7), timerfd_create(2)).
 *
 * A source is embedded in what it belongs to.  It may be removed and freed
 * at any time, also from a callback of the same round: nothing is called
 * for it any more.
 */
struct poller;

struct source {
	int	 fd;		/* to wait for; owned by the user */
	uint32_t events;	/* epoll's; 0: not registered */
	void	(*ready)(struct source *, uint32_t events);
};

struct poller	*poller_new(struct error *err);
void		 poller_free(struct poller *);
/* Registers, changes, or with events 0 removes. */
int		 poller_set(struct poller *, struct source *, uint32_t events,
		    struct error *err);
/* poller_set with 0, which can't fail. */
void		 poller_remove(struct poller *, struct source *);
/* When the present round began, after its wait. */
struct monotime	 poller_now(const struct poller *);
/* One round: waits, at most until then, and calls what is ready. */
#define POLLER_NEVER	INT64_MAX
int		 poller_run(struct poller *, struct monotime until,
		    struct error *err);

#endif
