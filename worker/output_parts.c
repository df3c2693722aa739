/* SPDX-License-Identifier: ISC */
/*
 * Head, then two segments in turn.  The segment that is not written to keeps
 * what it has until the other is full, so the last bytes are always there.
 */
#include "config.h"

#include "worker/output_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/outputfile.h"

#define SEGMENT_MIN	4096	/* fewer new segments for tiny tails */

void
output_parts_init(struct output_parts *parts, int dirfd, uint64_t run_id,
    uint64_t limit)
{
	*parts = (struct output_parts){ .dirfd = dirfd, .run_id = run_id };
	parts->tail_limit = limit / 2;
	parts->head_limit = limit - parts->tail_limit;
	parts->segment_max = parts->tail_limit < SEGMENT_MIN ? SEGMENT_MIN :
	    parts->tail_limit;
	parts->head_done = limit == 0;
	parts->fd = -1;
	parts->current = -1;
}

/* Opens one part anew; -1 with errno. */
static int
open_part(const struct output_parts *parts, enum outputfile_part part)
{
	char name[OUTPUTFILE_NAME_MAX];

	outputfile_name(name, parts->run_id, part);
	return openat(parts->dirfd, name, O_WRONLY | O_CREAT |
	    O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* How many went out; fewer than len with errno set. */
static size_t
write_all(int fd, const uint8_t *data, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = write(fd, data + done, len - done);

		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (n == 0)
				errno = EIO;
			break;
		}
		done += (size_t)n;
	}
	return done;
}

void
output_parts_close(struct output_parts *parts)
{
	if (parts->fd != -1)
		close(parts->fd);
	parts->fd = -1;
}

/* Bytes that go into the head; -1 with errno. */
static int
write_head(struct output_parts *parts, const uint8_t *data, size_t len)
{
	size_t n;

	if (parts->fd == -1 &&
	    (parts->fd = open_part(parts, OUTPUTFILE_HEAD)) == -1)
		return -1;
	n = write_all(parts->fd, data, len);
	parts->head_len += n;
	return n == len ? 0 : -1;
}

/*
 * The other segment, made anew to begin at offset; -1 with errno.  A
 * failure leaves the present one in force, so that a full disk can cost one
 * segment, never both.
 */
static int
begin_segment(struct output_parts *parts, uint64_t offset)
{
	uint8_t header[OUTPUTFILE_HEADER];
	int other = parts->current == 0;

	output_parts_close(parts);
	outputfile_header_encode(header, offset, parts->tail_limit);
	parts->segments[other] = (struct output_segment){ offset, 0 };
	parts->fd = open_part(parts, other == 0 ? OUTPUTFILE_TAIL0 :
	    OUTPUTFILE_TAIL1);
	if (parts->fd == -1)
		return -1;
	if (write_all(parts->fd, header, sizeof header) != sizeof header) {
		output_parts_close(parts);
		return -1;
	}
	parts->current = other;
	return 0;
}

/* Bytes behind the head; -1 with errno. */
static int
write_tail(struct output_parts *parts, const uint8_t *data, size_t len)
{
	uint64_t offset = parts->pos;

	if (len > parts->tail_limit) {
		size_t skip = len - (size_t)parts->tail_limit;

		data += skip;
		len -= skip;
		offset += skip;
		parts->gap = true;
	}
	while (len > 0) {
		struct output_segment *seg = &parts->segments[parts->current == 1];
		size_t want, n;

		if (parts->fd == -1 || parts->gap ||
		    seg->len == parts->segment_max) {
			if (begin_segment(parts, offset) == -1)
				return -1;
			seg = &parts->segments[parts->current];
			parts->gap = false;
		}
		want = len < parts->segment_max - seg->len ? len :
		    (size_t)(parts->segment_max - seg->len);
		n = write_all(parts->fd, data, want);
		seg->len += n;
		if (n < want)
			return -1;
		data += n;
		len -= n;
		offset += n;
	}
	return 0;
}

/* How much of a segment lies within the bytes that are kept. */
static uint64_t
kept_of(const struct output_segment *seg, uint64_t from)
{
	if (seg->start + seg->len <= from)
		return 0;
	return seg->start < from ? seg->start + seg->len - from : seg->len;
}

uint64_t
output_parts_kept(const struct output_parts *parts)
{
	const struct output_segment *now;
	uint64_t end, from;

	if (parts->current == -1)
		return parts->head_len;
	now = &parts->segments[parts->current];
	end = now->start + now->len;
	from = end < parts->tail_limit ? 0 : end - parts->tail_limit;
	return parts->head_len + kept_of(&parts->segments[0], from) +
	    kept_of(&parts->segments[1], from);
}

int
output_parts_write(struct output_parts *parts, uint64_t offset,
    const uint8_t *data, size_t len)
{
	int errnum = 0;
	size_t n;

	if (offset != parts->pos) {
		parts->pos = offset;
		parts->gap = true;
	}
	if (parts->gap && !parts->head_done) {
		parts->head_done = true;
		output_parts_close(parts);
	}
	if (!parts->head_done) {
		n = len < parts->head_limit - parts->head_len ? len :
		    (size_t)(parts->head_limit - parts->head_len);
		if (n > 0 && write_head(parts, data, n) == -1)
			errnum = errno;
		data += n;
		len -= n;
		parts->pos += n;
		if (errnum != 0 || parts->head_len == parts->head_limit) {
			parts->head_done = true;
			output_parts_close(parts);
		}
	}
	if (len > 0 && errnum == 0 && parts->tail_limit > 0 &&
	    write_tail(parts, data, len) == -1)
		errnum = errno;
	parts->pos += len;
	if (errnum != 0)
		parts->gap = true;
	return errnum;
}
