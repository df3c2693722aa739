/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_EXIT_STATUS_H
#define CRONCTL_EXIT_STATUS_H

/* What cronctl exits with (cronctl(1), "Exit status"). */
enum exit_status {
	STATUS_DONE = 0,
	STATUS_REFUSED = 1,	/* refused or failed */
	STATUS_USAGE = 2,
	STATUS_NO_DAEMON = 3,	/* none reachable, or no answer in time */
	STATUS_NOT_PERMITTED = 4,
	STATUS_NO_SUCH = 5,	/* no such job or run */

	/* Of "run --wait" and "wait", beside the job's own status. */
	STATUS_TIMED_OUT = 124,
	STATUS_LOST = 125,	/* and any failure of cronctl itself */
	STATUS_START_FAILED = 126,
	STATUS_SIGNALED = 128,	/* plus the signal's number */
	STATUS_INTERRUPTED = 130	/* Ctrl-C while waiting */
};

#endif
