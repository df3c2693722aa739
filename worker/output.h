/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_WORKER_OUTPUT_H
#define CRONCTL_WORKER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

/*
 * Writes what runs print into files (format: common/outputfile.h), on a
 * thread of its own, so that a slow disk delays nothing but itself.
 *
 * Bounds: OUTPUT_STREAM_MAX bytes wait for a run, OUTPUT_QUEUE_MAX in all,
 * bookkeeping included.  output_room says what is left; whoever finds none
 * asks to be woken (output_want_room) or drops (output_drop), both counted.
 * output_write itself never refuses: the last bytes of a run may overshoot.
 *
 * All functions are for one thread, the caller's.
 */
#define OUTPUT_STREAM_MAX	(256 * 1024)
#define OUTPUT_QUEUE_MAX	(8 * 1024 * 1024)

struct output;
struct output_stream;

struct output_totals {
	int64_t	 bytes;		/* given to write and drop */
	int64_t	 dropped;	/* of these, not in the files */
	int	 errnum;	/* first failure of the disk, or 0 */
};

/* Borrows the directory.  Blocks all signals in its thread. */
struct output	*output_new(int dirfd, struct error *err);
/* Every stream is closed; a thread stuck on the disk is left behind. */
void		 output_free(struct output *);
/*
 * Readable when a stream is done or has room that was wanted; then call
 * collect and look at the streams.
 */
int		 output_event_fd(const struct output *);
void		 output_collect(struct output *);

/* limit: bytes kept, head and tail together; 0: counts only. */
struct output_stream *output_open(struct output *, uint64_t run_id,
		    int64_t limit);
size_t		 output_room(struct output_stream *);
void		 output_want_room(struct output_stream *);
void		 output_write(struct output_stream *, const void *, size_t);
/* Bytes that the run wrote and that go nowhere. */
void		 output_drop(struct output_stream *, uint64_t);
/* Nothing more will be written. */
void		 output_finish(struct output_stream *);
/* After finish: all is in the files, or has failed. */
bool		 output_is_done(struct output_stream *);
/*
 * Frees it.  If it is not done, what still waits counts as dropped and is
 * not written any more.
 */
void		 output_close(struct output_stream *, struct output_totals *);

#endif
