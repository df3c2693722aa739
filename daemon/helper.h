/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_HELPER_H
#define CRONCTL_HELPER_H

#include <stdbool.h>
#include <stddef.h>

struct event_base;

/*
 * A helper thread: does for the loop what may block.  One shape for all:
 * a bounded queue of requests in, a queue of completions out, an eventfd that
 * wakes the loop.  Loop and thread share these two queues and nothing else;
 * what a request points to belongs to the thread from submit to completion.
 *
 * Order: requests are worked on, and completed, in the order of submission.
 */
struct helper;

/* Embedded in the helper's own request structs, as the first member. */
struct helper_request {
	struct helper_request	*next;		/* in the queue it is in */
	/* On the loop, when the work is done; owns the request from then. */
	void	(*done)(struct helper_request *, void *arg);
	void			*arg;		/* for done */
};

/*
 * Works on all requests that were waiting, a chain in order of submission;
 * state is the helper's own (a database connection, a cache).  On the thread.
 */
typedef void helper_work_fn(void *state, struct helper_request *chain);

/*
 * Starts the thread.  Signals are blocked in it.  max_queue bounds requests
 * that wait (not those in work).
 */
struct helper	*helper_new(const char *name, struct event_base *,
		    size_t max_queue, helper_work_fn *, void *state);
/*
 * False when the queue is full: the request still is the caller's.  Loop
 * only.
 */
bool		 helper_submit(struct helper *, struct helper_request *);
/* Requests submitted and not yet completed. */
size_t		 helper_pending(const struct helper *);
/* Whether that is fewer than the bound. */
bool		 helper_has_room(const struct helper *);
/*
 * Works off what is queued, runs the completions, ends the thread.  NULL is
 * accepted.
 */
void		 helper_free(struct helper *);

#endif
