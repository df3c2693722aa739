/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_WORKER_OUTPUT_PARTS_H
#define CRONCTL_WORKER_OUTPUT_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The files of one stream (common/outputfile.h) as its bytes come.  A value;
 * what it has open is closed by output_parts_close.  No function allocates
 * or takes a lock; they call openat, write and close.
 *
 * A failed write loses the rest of what was given and leaves a gap, as a
 * drop does: the head ends there, or a new segment of the tail begins behind
 * it.
 */
struct output_segment {
	uint64_t	 start;		/* offset in the stream */
	uint64_t	 len;		/* bytes of the stream in it */
};

struct output_parts {
	int		 dirfd;		/* of the files; borrowed */
	uint64_t	 run_id;	/* names the files */
	uint64_t	 head_limit;	/* bytes that the head holds */
	uint64_t	 tail_limit;	/* last bytes that are kept */
	uint64_t	 segment_max;	/* bytes of a full segment */
	uint64_t	 pos;		/* offset expected next */
	uint64_t	 head_len;	/* bytes in the head */
	bool		 head_done;	/* full, or cut by a gap */
	bool		 gap;		/* bytes before pos are lost */
	int		 fd;		/* of head or segment, or -1 */
	struct output_segment segments[2]; /* of the tail, in turn */
	int		 current;	/* of them; -1: none yet */
};

/* limit: bytes kept, head and tail together. */
void	output_parts_init(struct output_parts *, int dirfd, uint64_t run_id,
	    uint64_t limit);
void	output_parts_close(struct output_parts *);
/*
 * Bytes at that offset of the stream; what lies between them and those
 * before was dropped.  0, or the errno of what failed.
 */
int	output_parts_write(struct output_parts *, uint64_t offset,
	    const uint8_t *data, size_t len);
/* How many bytes a reader of the files gets. */
uint64_t output_parts_kept(const struct output_parts *);

#endif
