/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_RUN_STATE_H
#define CRONCTL_RUN_STATE_H

#include "common/protocol.h"
#include "daemon/job.h"
#include "daemon/store.h"

/*
 * A run between daemon and worker as a table {phase x event} -> action.  The
 * caller carries the action out and sets the phase that goes with it.
 */
enum run_event {
	RUN_EVENT_LISTED,	/* the worker tells that it has it, alive */
	RUN_EVENT_STARTED,	/* its command runs */
	RUN_EVENT_ENDED,	/* the worker tells how it ended */
	RUN_EVENT_TOO_LATE,	/* the worker refused it: too late */
	RUN_EVENT_REFUSED,	/* the worker refused it for another reason */
	RUN_EVENT_UNLISTED,	/* the worker's list is over without it */
	RUN_EVENT_DEAD,		/* the worker is dead, its spool read */
	RUN_EVENT_GONE,		/* an orphan's process has ended */
	RUN_EVENT_COMMITTED,	/* the row of its end is on disk */
	RUN_EVENTS
};

enum run_action {
	RUN_IGNORE,	/* nothing to do: said before */
	RUN_CONFIRM,	/* -> CONFIRMED */
	RUN_FINISH,	/* record the end -> ENDED */
	RUN_REFUSE,	/* never started, too late: missed -> gone */
	RUN_RESEND,	/* never started: to another worker -> SENT */
	RUN_REJUDGE,	/* was on its way when the daemon died, never started:
			 * start if not too late, else as RUN_REFUSE */
	RUN_LOSE,	/* record as lost -> ENDED */
	RUN_ORPHAN,	/* its process may live: watch it -> ORPHANED; if there
			 * is nothing to watch, as RUN_LOSE */
	RUN_FORGET	/* acknowledge, tell who waits -> gone */
};

enum run_action	run_state_action(enum run_phase, enum run_event);
const char	*run_phase_name(enum run_phase);
const char	*run_event_name(enum run_event);
const char	*run_action_name(enum run_action);

/* The final state that an end means (spec section 5). */
enum run_state	run_state_of_end(const struct protocol_ended *);

#endif
