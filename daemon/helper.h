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
	/*
	 * On the loop, when the work is done; owns the request from then.  A
	 * helper without an event base calls it on its thread.
	 */
	void	(*done)(struct helper_request *, void *arg);
	void			*arg;		/* for done */
};

/*
 * Works on all requests that were waiting, a chain in order of submission,
 * and leaves the chain as it is; state is the helper's own (a database
 * connection, a cache).  On the thread.  The chain is NULL when the call
 * comes of helper_wake_after.
 */
typedef void helper_work_fn(void *state, struct helper_request *chain);

/*
 * Starts the thread.  Signals are blocked in it.  max_queue bounds requests
 * that wait (not those in work).  Without an event base nothing comes back to
 * a loop.  NULL, and a line in the log, when there is no thread or descriptor
 * to be had.
 */
struct helper	*helper_new(const char *name, struct event_base *,
		    size_t max_queue, helper_work_fn *, void *state);
/*
 * False when the queue is full: the request still is the caller's.  From any
 * thread when the helper has no event base, else from the loop alone.
 */
bool		 helper_submit(struct helper *, struct helper_request *);
/* Requests submitted and not yet completed. */
size_t		 helper_pending(struct helper *);
/* Whether that is fewer than the bound. */
bool		 helper_has_room(struct helper *);
/*
 * Works off what is queued, runs the completions, ends the thread.  NULL is
 * accepted.
 */
void		 helper_free(struct helper *);
/*
 * The same, for threads that may hang: waits that long at most.  False when
 * the thread still hangs; it then has helper, requests and state to itself,
 * no completion is run, and the caller must leave the state alone.
 */
bool		 helper_free_within(struct helper *, int timeout_ms);

/* For the work function, on the thread. */

/* Calls the work function with no requests after that time, or before it
 * with some; once, counted from when the present call returns. */
void		 helper_wake_after(struct helper *, int delay_ms);
/* A completion that nobody asked for; comes before those of the chain. */
void		 helper_post(struct helper *, struct helper_request *);
/* What the thread is at now, for messages; copied, and cut where too long. */
#define HELPER_AT_MAX 512
void		 helper_at(struct helper *, const char *what);

/*
 * On the loop: one alarm a helper, for deadlines of its requests.  Calls fn
 * once after that time, in place of what was set before; a negative delay
 * only takes that away.
 */
void		 helper_set_alarm(struct helper *, int delay_ms,
		    void (*fn)(void *arg), void *arg);
/* On the loop: what the thread said last with helper_at; "" to begin with. */
void		 helper_whereabouts(struct helper *, char what[HELPER_AT_MAX]);

#endif
