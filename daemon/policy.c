/* SPDX-License-Identifier: ISC */
/*
 * The rules of semantics.md 3 to 5 that are a matter of looking at a few
 * numbers.  Nothing here has state or effects.
 */
#include "config.h"

#include "daemon/policy.h"

#include "common/timestamp.h"

#define WARN_FIRST 3	/* skipped occurrences in a row: "stuck" */

enum policy_action
policy_overlap(int overlap, int64_t max_running, size_t n_runs,
    size_t n_waiting)
{
	if (n_waiting == 0 && n_runs < (size_t)max_running)
		return POLICY_START;
	switch ((enum jobdef_overlap)overlap) {
	case OVERLAP_SKIP:
	case OVERLAP_ALLOW:
		return POLICY_SKIP_OVERLAP;
	case OVERLAP_QUEUE:
		return n_waiting == 0 ? POLICY_WAIT : POLICY_SKIP_QUEUE_FULL;
	case OVERLAP_QUEUE_ALL:
		return n_waiting < JOBDEF_QUEUE_ALL_MAX ? POLICY_WAIT :
		    POLICY_SKIP_QUEUE_FULL;
	case OVERLAP_REPLACE:
		return POLICY_REPLACE;
	}
	return POLICY_SKIP_OVERLAP;
}

const char *
policy_action_name(enum policy_action action)
{
	static const char *const names[] = {
		[POLICY_START] = "start",
		[POLICY_WAIT] = "wait",
		[POLICY_SKIP_OVERLAP] = "skip (overlap)",
		[POLICY_SKIP_QUEUE_FULL] = "skip (queue_full)",
		[POLICY_REPLACE] = "replace",
	};

	return names[action];
}

bool
policy_is_too_late(int64_t due_us, int64_t now_us, int64_t max_late_ms)
{
	return max_late_ms >= 0 &&
	    (now_us - due_us) / USEC_PER_MSEC > max_late_ms;
}

int
policy_missed_cause(const struct policy_gap *gaps, size_t n, int64_t instant,
    int fallback, int64_t *until)
{
	int64_t end = INT64_MAX;

	for (size_t i = 0; i < n; i++) {
		if (instant > gaps[i].to)
			continue;
		if (instant > gaps[i].from) {
			*until = gaps[i].to < end ? gaps[i].to : end;
			return gaps[i].cause;
		}
		/* A gap of higher rank begins later on. */
		if (gaps[i].from < end)
			end = gaps[i].from;
	}
	*until = end;
	return fallback;
}

bool
policy_warns_at(int64_t count)
{
	int64_t at = WARN_FIRST;

	while (at < count && at <= INT64_MAX / 10)
		at *= 10;
	return at == count;
}

bool
policy_is_due_again(int64_t since_us, int64_t period_s)
{
	return since_us >= period_s * (USEC_PER_SEC / 10 * 9);
}
