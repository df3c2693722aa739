/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_WAITING_H
#define CRONCTL_WAITING_H

#include <stdint.h>

#include "cli/command.h"

/*
 * Waits for the end of a run, over restarts of the daemon, says how it ended
 * and returns what "run --wait" exits with: the job's own status, or one of
 * 124 to 130.  job: waits for its live run, or tells of its last one; NULL:
 * run is meant.
 */
enum exit_status waiting_for_run(struct cli *, const char *job, int64_t run);
/*
 * Looks for a daemon that went away, for as long as a restart may take;
 * STATUS_DONE: the connection is open again.
 */
enum exit_status waiting_for_daemon(struct cli *, struct error *err);

#endif
