/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_WORKER_DISPATCH_H
#define CRONCTL_WORKER_DISPATCH_H

#include "common/protocol.h"

/*
 * What a frame about a run does, by the run's state here: a const table.
 */
enum dispatch_state {		/* PROTOCOL_RUN_*, and "not here" */
	DISPATCH_NONE = 0,
	DISPATCH_PREPARING = PROTOCOL_RUN_PREPARING,
	DISPATCH_RUNNING = PROTOCOL_RUN_RUNNING,
	DISPATCH_STOPPING = PROTOCOL_RUN_STOPPING,
	DISPATCH_ENDED = PROTOCOL_RUN_ENDED,
	DISPATCH_STATES
};

enum dispatch_frame {
	DISPATCH_START, DISPATCH_STOP, DISPATCH_SIGNAL, DISPATCH_ACK,
	DISPATCH_FRAMES
};

enum dispatch_action {
	DISPATCH_IGNORE = 0,	/* its answer is on its way, or none needed */
	DISPATCH_BEGIN,		/* run it, or refuse */
	DISPATCH_TELL_STARTED,	/* STARTED again, if its command runs */
	DISPATCH_TELL_ENDED,	/* ENDED again */
	DISPATCH_TELL_UNKNOWN,	/* UNKNOWN */
	DISPATCH_LADDER,	/* stop it, then STOPPING */
	DISPATCH_TELL_STOPPING,	/* STOPPING again */
	DISPATCH_SEND_SIGNAL,	/* the signal, now or when it runs */
	DISPATCH_FORGET		/* drop the result */
};

enum dispatch_action dispatch_action(enum dispatch_state,
	    enum dispatch_frame);

#endif
