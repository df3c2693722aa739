/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_LOOP_H
#define CRONCTL_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "daemon/clock.h"
#include "daemon/control.h"
#include "daemon/reload.h"
#include "daemon/scheduler.h"
#include "daemon/sdnotify.h"
#include "daemon/store.h"
#include "daemon/workers.h"

struct event_base;

/*
 * The heart: one turn after the other, each reading what has come in, then
 * deciding, then writing what has come of it (loop_turn).  Owns signals and
 * the order of things; state belongs to the parts.
 */
struct loop;

struct loop_parts {
	struct event_base	*base;
	const struct clock	*clock;
	struct scheduler	*scheduler;
	const struct jobtable	*jobs;
	struct store		*store;
	struct workers		*workers;
	struct reload		*reload;
	struct sdnotify		*sdnotify;
};

/* The event loop's base, made before the helpers that complete to it. */
struct event_base *loop_base_new(struct error *err);
void		 loop_base_free(struct event_base *);	/* accepts NULL */
/* At start, before there are turns: waits for one event and takes it. */
int		 loop_base_wait(struct event_base *, struct error *err);

struct loop	*loop_new(const struct loop_parts *, struct error *err);
void		 loop_free(struct loop *);
/* Made after the loop, because it asks the loop to stop. */
void		 loop_set_control(struct loop *, struct control *);

/* How it ended. */
enum loop_end {
	LOOP_LEFT,		/* SIGTERM: runs go on without us */
	LOOP_STOPPED,		/* every started run has ended */
	LOOP_FAILED		/* see err */
};
/* Turns until SIGTERM, or until a stop is through. */
enum loop_end	 loop_run(struct loop *, struct error *err);
/* One turn; for tests.  False when the loop is over. */
bool		 loop_turn(struct loop *);

/* Stops scheduling; after timeout_us (-1: never) the stop ladder. */
void		 loop_stop(struct loop *, int64_t by_uid, int64_t timeout_us);
uint64_t	 loop_turns(const struct loop *);

#endif
