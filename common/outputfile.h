/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_OUTPUTFILE_H
#define CRONCTL_OUTPUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/strbuf.h"

/*
 * What a run wrote, on disk.  Of a limit of L bytes the first half (the odd
 * byte with it) and the last half are kept:
 *
 *	ID.head			the first bytes, nothing else
 *	ID.tail0, ID.tail1	used in turn for what comes after the head:
 *				a header, then bytes of the stream from the
 *				offset in the header on
 *
 *	header = 8 bytes OUTPUTFILE_MAGIC, u64 offset, u64 kept (LE)
 *
 * kept is how many of the last bytes belong to the output (L / 2).  A segment
 * holds at least that many before the other one is begun anew, so the two
 * together always have them.  The offsets are stream offsets: what lies
 * between head and tail, or between two segments, was dropped.  A segment
 * without a whole header counts as absent: that is what a death between
 * making it anew and writing to it leaves.
 *
 * A file is made when its first byte comes; a silent run has none.
 */
#define OUTPUTFILE_MAGIC	"CRONTAIL"
#define OUTPUTFILE_HEADER	24
#define OUTPUTFILE_NAME_MAX	32

enum outputfile_part {
	OUTPUTFILE_HEAD, OUTPUTFILE_TAIL0, OUTPUTFILE_TAIL1, OUTPUTFILE_PARTS
};

/* Uses neither memory nor locks: a thread that may not allocate calls it. */
void	outputfile_name(char name[OUTPUTFILE_NAME_MAX], uint64_t run_id,
	    enum outputfile_part);
/* Whether a name is that of a part, and of which run. */
bool	outputfile_is_part(const char *name, uint64_t *run_id);
void	outputfile_header_encode(uint8_t header[OUTPUTFILE_HEADER],
	    uint64_t offset, uint64_t kept);
/* -1: this is no header. */
int	outputfile_header_decode(const uint8_t header[OUTPUTFILE_HEADER],
	    uint64_t *offset, uint64_t *kept);

/*
 * Appends a page of the joined text: head, the line
 * "\n[... N bytes dropped ...]\n" where bytes are missing, tail.  The page
 * begins at offset of the joined text and has at most max bytes; *end tells
 * that nothing comes after it.  A run without files gives nothing and end.
 * While the run lives the text may change under the reader: a page is then
 * what was there when it was read.
 */
int	outputfile_read(int dirfd, uint64_t run_id, uint64_t offset,
	    size_t max, struct strbuf *out, bool *end, struct error *err);
/* Removes what there is of a run's output. */
int	outputfile_remove(int dirfd, uint64_t run_id, struct error *err);

#endif
