/* SPDX-License-Identifier: ISC */
/*
 * The table {run state x frame} of the worker.  A START for a run that is
 * held answers its state and never starts it again, whatever the state.
 */
#include "config.h"

#include "worker/dispatch.h"

#include <assert.h>

static const enum dispatch_action table[DISPATCH_STATES][DISPATCH_FRAMES] = {
	[DISPATCH_NONE] = {
		[DISPATCH_START] = DISPATCH_BEGIN,
		[DISPATCH_STOP] = DISPATCH_TELL_UNKNOWN,
		[DISPATCH_SIGNAL] = DISPATCH_TELL_UNKNOWN,
		[DISPATCH_ACK] = DISPATCH_IGNORE,
	},
	[DISPATCH_PREPARING] = {
		[DISPATCH_START] = DISPATCH_IGNORE,
		[DISPATCH_STOP] = DISPATCH_LADDER,
		[DISPATCH_SIGNAL] = DISPATCH_SEND_SIGNAL,
		[DISPATCH_ACK] = DISPATCH_IGNORE,
	},
	[DISPATCH_RUNNING] = {
		[DISPATCH_START] = DISPATCH_TELL_STARTED,
		[DISPATCH_STOP] = DISPATCH_LADDER,
		[DISPATCH_SIGNAL] = DISPATCH_SEND_SIGNAL,
		[DISPATCH_ACK] = DISPATCH_IGNORE,
	},
	[DISPATCH_STOPPING] = {
		[DISPATCH_START] = DISPATCH_TELL_STARTED,
		[DISPATCH_STOP] = DISPATCH_TELL_STOPPING,
		[DISPATCH_SIGNAL] = DISPATCH_SEND_SIGNAL,
		[DISPATCH_ACK] = DISPATCH_IGNORE,
	},
	[DISPATCH_ENDED] = {
		[DISPATCH_START] = DISPATCH_TELL_ENDED,
		[DISPATCH_STOP] = DISPATCH_TELL_ENDED,
		[DISPATCH_SIGNAL] = DISPATCH_TELL_ENDED,
		[DISPATCH_ACK] = DISPATCH_FORGET,
	},
};

enum dispatch_action
dispatch_action(enum dispatch_state state, enum dispatch_frame frame)
{
	assert(state < DISPATCH_STATES && frame < DISPATCH_FRAMES);
	return table[state][frame];
}
