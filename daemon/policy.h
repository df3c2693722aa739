/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_POLICY_H
#define CRONCTL_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/jobdef.h"
#include "common/protocol.h"

/* Decisions as pure functions: no state, no effects, no clock. */

/* What becomes of an occurrence that is on time (semantics.md 3, step 11). */
enum policy_action {
	POLICY_START,		/* free: start it */
	POLICY_WAIT,		/* waits for a run of its job to end */
	POLICY_SKIP_OVERLAP,
	POLICY_SKIP_QUEUE_FULL,
	POLICY_REPLACE		/* stop the oldest run, then wait; an older
				 * waiter gives way */
};

/*
 * overlap: enum jobdef_overlap.  n_runs: live runs of the job, those in
 * their stop ladder included.  n_waiting: what waits of it already.
 */
enum policy_action policy_overlap(int overlap, int64_t max_running,
	    size_t n_runs, size_t n_waiting);
const char	*policy_action_name(enum policy_action);

/* How long after due a start still is on time; ms, -1: no limit. */
bool	policy_is_too_late(int64_t due_us, int64_t now_us,
	    int64_t max_late_ms);

/* A stretch of wall time with the cause of what was missed in it. */
struct policy_gap {
	int64_t	from;		/* exclusive, UTC seconds */
	int64_t	to;		/* inclusive */
	int	cause;		/* enum outcome_reason */
};

/*
 * The cause of having missed an instant (semantics.md 4): of the first gap,
 * in the order given, that holds it, else fallback.  *until is the last
 * second up to which, without looking further, that answer stays the same.
 */
int	policy_missed_cause(const struct policy_gap *, size_t n,
	    int64_t instant, int fallback, int64_t *until);

/* A repeated warning: at the 3rd, and at each tenfold from there on. */
bool	policy_warns_at(int64_t count);

/*
 * After a small backward step (semantics.md 5): is an interval instant that
 * was decided before due again?  since_us: boottime since the last due
 * instant; period_s: its distance to the matching instant before it.
 */
bool	policy_is_due_again(int64_t since_us, int64_t period_s);

#endif
