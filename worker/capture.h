/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_WORKER_CAPTURE_H
#define CRONCTL_WORKER_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/timestamp.h"
#include "worker/leftover.h"
#include "worker/output.h"
#include "worker/poller.h"

/*
 * The pipe of a run, from which its output goes to the writer.
 *
 * A job is never blocked for longer than CAPTURE_STALL_US: when the writer's
 * queue is full the pipe is left unread that long, which a disk that works
 * never uses up; then what comes is dropped and counted until there is room.
 */
struct capture;

#define CAPTURE_STALL_US	(100 * USEC_PER_MSEC)

/* Takes the descriptor, which doesn't block. */
struct capture	*capture_new(struct poller *, struct output *, int fd,
		    uint64_t run_id, int64_t limit);
/* Frees it, with whatever still waits for the writer. */
void		 capture_free(struct capture *, struct output_totals *);
/*
 * The run is over: takes what is in the pipe now, and leaves the pipe to the
 * leftovers if somebody still has it.
 */
void		 capture_finish(struct capture *, struct leftover *);
/* After finish: all is in the files. */
bool		 capture_is_done(const struct capture *);
/* The writer has news. */
void		 capture_news(struct capture *);
/* POLLER_NEVER: capture_tick isn't needed. */
struct monotime	 capture_deadline(const struct capture *);
void		 capture_tick(struct capture *, struct monotime now);

#endif
