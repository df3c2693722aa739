/* SPDX-License-Identifier: ISC */
/*
 * What becomes of a run when something is heard of it.  A run that the
 * daemon doesn't know has no phase: scheduler_run.c makes it from its tag
 * first (UNSETTLED), then asks this table.
 */
#include "config.h"

#include "daemon/run_state.h"

static const enum run_action actions[RUN_PHASES][RUN_EVENTS] = {
	/* From the store after a restart; its worker has not told yet. */
	[RUN_PHASE_UNSETTLED] = {
		[RUN_EVENT_LISTED] = RUN_CONFIRM,
		[RUN_EVENT_STARTED] = RUN_CONFIRM,
		[RUN_EVENT_ENDED] = RUN_FINISH,
		[RUN_EVENT_TOO_LATE] = RUN_REFUSE,
		[RUN_EVENT_REFUSED] = RUN_REJUDGE,
		[RUN_EVENT_UNLISTED] = RUN_REJUDGE,
		[RUN_EVENT_DEAD] = RUN_ORPHAN,
		[RUN_EVENT_GONE] = RUN_IGNORE,
		[RUN_EVENT_COMMITTED] = RUN_IGNORE,
	},
	[RUN_PHASE_SENT] = {
		[RUN_EVENT_LISTED] = RUN_CONFIRM,
		[RUN_EVENT_STARTED] = RUN_CONFIRM,
		[RUN_EVENT_ENDED] = RUN_FINISH,
		[RUN_EVENT_TOO_LATE] = RUN_REFUSE,
		[RUN_EVENT_REFUSED] = RUN_RESEND,
		[RUN_EVENT_UNLISTED] = RUN_REJUDGE,
		[RUN_EVENT_DEAD] = RUN_ORPHAN,
		[RUN_EVENT_GONE] = RUN_IGNORE,
		[RUN_EVENT_COMMITTED] = RUN_IGNORE,
	},
	[RUN_PHASE_CONFIRMED] = {
		[RUN_EVENT_LISTED] = RUN_CONFIRM,
		[RUN_EVENT_STARTED] = RUN_CONFIRM,
		[RUN_EVENT_ENDED] = RUN_FINISH,
		[RUN_EVENT_TOO_LATE] = RUN_IGNORE,
		[RUN_EVENT_REFUSED] = RUN_IGNORE,
		[RUN_EVENT_UNLISTED] = RUN_LOSE,
		[RUN_EVENT_DEAD] = RUN_ORPHAN,
		[RUN_EVENT_GONE] = RUN_IGNORE,
		[RUN_EVENT_COMMITTED] = RUN_IGNORE,
	},
	/*
	 * What may still come is old news, but for an end: the first one
	 * known counts.
	 */
	[RUN_PHASE_ORPHANED] = {
		[RUN_EVENT_LISTED] = RUN_IGNORE,
		[RUN_EVENT_STARTED] = RUN_IGNORE,
		[RUN_EVENT_ENDED] = RUN_FINISH,
		[RUN_EVENT_TOO_LATE] = RUN_IGNORE,
		[RUN_EVENT_REFUSED] = RUN_IGNORE,
		[RUN_EVENT_UNLISTED] = RUN_IGNORE,
		[RUN_EVENT_DEAD] = RUN_IGNORE,
		[RUN_EVENT_GONE] = RUN_FINISH,
		[RUN_EVENT_COMMITTED] = RUN_IGNORE,
	},
	[RUN_PHASE_ENDED] = {
		[RUN_EVENT_LISTED] = RUN_IGNORE,
		[RUN_EVENT_STARTED] = RUN_IGNORE,
		[RUN_EVENT_ENDED] = RUN_IGNORE,
		[RUN_EVENT_TOO_LATE] = RUN_IGNORE,
		[RUN_EVENT_REFUSED] = RUN_IGNORE,
		[RUN_EVENT_UNLISTED] = RUN_IGNORE,
		[RUN_EVENT_DEAD] = RUN_IGNORE,
		[RUN_EVENT_GONE] = RUN_IGNORE,
		[RUN_EVENT_COMMITTED] = RUN_FORGET,
	},
};

enum run_action
run_state_action(enum run_phase phase, enum run_event event)
{
	return actions[phase][event];
}

const char *
run_phase_name(enum run_phase phase)
{
	static const char *const names[RUN_PHASES] = {
		[RUN_PHASE_UNSETTLED] = "unsettled",
		[RUN_PHASE_SENT] = "sent",
		[RUN_PHASE_CONFIRMED] = "confirmed",
		[RUN_PHASE_ORPHANED] = "orphaned",
		[RUN_PHASE_ENDED] = "ended",
	};

	return names[phase];
}

const char *
run_event_name(enum run_event event)
{
	static const char *const names[RUN_EVENTS] = {
		[RUN_EVENT_LISTED] = "listed",
		[RUN_EVENT_STARTED] = "started",
		[RUN_EVENT_ENDED] = "ended",
		[RUN_EVENT_TOO_LATE] = "too late",
		[RUN_EVENT_REFUSED] = "refused",
		[RUN_EVENT_UNLISTED] = "unlisted",
		[RUN_EVENT_DEAD] = "dead",
		[RUN_EVENT_GONE] = "gone",
		[RUN_EVENT_COMMITTED] = "committed",
	};

	return names[event];
}

const char *
run_action_name(enum run_action action)
{
	static const char *const names[] = {
		[RUN_IGNORE] = "ignore",
		[RUN_CONFIRM] = "confirm",
		[RUN_FINISH] = "finish",
		[RUN_REFUSE] = "refuse",
		[RUN_RESEND] = "resend",
		[RUN_REJUDGE] = "rejudge",
		[RUN_LOSE] = "lose",
		[RUN_ORPHAN] = "orphan",
		[RUN_FORGET] = "forget",
	};

	return names[action];
}

enum run_state
run_state_of_end(const struct protocol_ended *end)
{
	if (end->how == PROTOCOL_END_LOST)
		return RUN_LOST;
	if (end->how == PROTOCOL_END_START_FAILED)
		return RUN_START_FAILED;
	switch (end->stopper) {
	case PROTOCOL_STOPPER_TIMEOUT:
		return RUN_TIMED_OUT;
	case PROTOCOL_STOPPER_DAEMON:
	case PROTOCOL_STOPPER_SHUTDOWN:
		return RUN_KILLED;
	case PROTOCOL_STOPPER_NONE:
		break;
	}
	if (end->how == PROTOCOL_END_SIGNALED)
		return RUN_SIGNALED;
	return end->code == 0 ? RUN_SUCCEEDED : RUN_FAILED;
}
