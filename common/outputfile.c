/* SPDX-License-Identifier: ISC */
/*
 * Names, format and reading of kept output; writing is worker/output's.  A
 * page is made from a plan: up to three stretches of files with lines about
 * missing bytes between them.  Cost of a page: three opens and what is read
 * of it, whatever the size of the files.
 */
#include "config.h"

#include "common/outputfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTE_MAX	64
#define COPY_BLOCK	16384

static const char *const suffixes[OUTPUTFILE_PARTS] = {
	[OUTPUTFILE_HEAD] = ".head",
	[OUTPUTFILE_TAIL0] = ".tail0",
	[OUTPUTFILE_TAIL1] = ".tail1",
};

/* One file, or a line about what is missing (fd -1). */
struct piece {
	int		 fd;		/* borrowed; -1: note */
	uint64_t	 at;		/* offset in the file */
	uint64_t	 len;		/* bytes of the joined text */
	char		 note[NOTE_MAX]; /* the line */
};

/* A file as it lies in the stream. */
struct segment {
	int		 fd;		/* -1: absent */
	uint64_t	 offset;	/* in the stream */
	uint64_t	 len;		/* bytes of the stream */
	uint64_t	 kept;		/* as in the header */
	uint64_t	 header;	/* bytes before the stream's */
};

#define PIECES_MAX	5		/* head, note, tail, note, tail */

void
outputfile_name(char name[OUTPUTFILE_NAME_MAX], uint64_t run_id,
    enum outputfile_part part)
{
	snprintf(name, OUTPUTFILE_NAME_MAX, "%llu%s",
	    (unsigned long long)run_id, suffixes[part]);
}

bool
outputfile_is_part(const char *name, uint64_t *run_id)
{
	unsigned long long id;
	char *rest;

	if (name[0] < '1' || name[0] > '9')
		return false;
	errno = 0;
	id = strtoull(name, &rest, 10);
	if (errno != 0)
		return false;
	for (int part = 0; part < OUTPUTFILE_PARTS; part++) {
		if (strcmp(rest, suffixes[part]) == 0) {
			*run_id = id;
			return true;
		}
	}
	return false;
}

static void
put_u64(uint8_t *p, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		p[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t
get_u64(const uint8_t *p)
{
	uint64_t value = 0;

	for (int i = 0; i < 8; i++)
		value |= (uint64_t)p[i] << (8 * i);
	return value;
}

void
outputfile_header_encode(uint8_t header[OUTPUTFILE_HEADER], uint64_t offset,
    uint64_t kept)
{
	memcpy(header, OUTPUTFILE_MAGIC, 8);
	put_u64(header + 8, offset);
	put_u64(header + 16, kept);
}

int
outputfile_header_decode(const uint8_t header[OUTPUTFILE_HEADER],
    uint64_t *offset, uint64_t *kept)
{
	if (memcmp(header, OUTPUTFILE_MAGIC, 8) != 0)
		return -1;
	*offset = get_u64(header + 8);
	*kept = get_u64(header + 16);
	return *offset > INT64_MAX || *kept > INT64_MAX ? -1 : 0;
}

/* Opens one part; a part that isn't there leaves fd at -1. */
static int
open_part(int dirfd, uint64_t run_id, enum outputfile_part part,
    struct segment *seg, struct error *err)
{
	uint8_t header[OUTPUTFILE_HEADER];
	char name[OUTPUTFILE_NAME_MAX];
	struct stat st;
	ssize_t n;

	*seg = (struct segment){ .fd = -1 };
	outputfile_name(name, run_id, part);
	seg->fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
	    O_NONBLOCK);
	if (seg->fd == -1)
		return errno == ENOENT ? 0 : error_set_errno(err, errno,
		    "output file %s can't be opened", name);
	if (fstat(seg->fd, &st) == -1)
		return error_set_errno(err, errno,
		    "output file %s can't be examined", name);
	if (!S_ISREG(st.st_mode))
		return error_set(err, "output file %s is no regular file; "
		    "remove it", name);
	seg->len = (uint64_t)st.st_size;
	if (part == OUTPUTFILE_HEAD)
		return 0;
	if ((n = pread(seg->fd, header, sizeof header, 0)) == -1)
		return error_set_errno(err, errno,
		    "output file %s can't be read", name);
	if (n < OUTPUTFILE_HEADER || outputfile_header_decode(header,
	    &seg->offset, &seg->kept) == -1) {
		close(seg->fd);
		seg->fd = -1;
		return 0;
	}
	seg->header = OUTPUTFILE_HEADER;
	seg->len -= OUTPUTFILE_HEADER;
	return 0;
}

/* Cuts what lies before that offset of the stream. */
static void
clip(struct segment *seg, uint64_t from)
{
	uint64_t cut;

	if (seg->fd == -1 || seg->offset >= from)
		return;
	cut = from - seg->offset;
	if (cut > seg->len)
		cut = seg->len;
	seg->offset += cut;
	seg->header += cut;
	seg->len -= cut;
}

static size_t
add_piece(struct piece *pieces, size_t n, const struct segment *seg,
    uint64_t *stream)
{
	if (seg->fd == -1 || seg->len == 0)
		return n;
	if (seg->offset > *stream) {
		int len = snprintf(pieces[n].note, NOTE_MAX,
		    "\n[... %llu bytes dropped ...]\n",
		    (unsigned long long)(seg->offset - *stream));

		pieces[n].fd = -1;
		pieces[n++].len = (uint64_t)len;
	}
	pieces[n].fd = seg->fd;
	pieces[n].at = seg->header;
	pieces[n++].len = seg->len;
	*stream = seg->offset + seg->len;
	return n;
}

/* Puts the stretches in order and cuts them to what the limit keeps. */
static size_t
make_plan(struct segment seg[OUTPUTFILE_PARTS],
    struct piece pieces[PIECES_MAX])
{
	struct segment *older = &seg[OUTPUTFILE_TAIL0];
	struct segment *newer = &seg[OUTPUTFILE_TAIL1];
	uint64_t stream = 0, end;
	size_t n;

	if (newer->fd == -1 || (older->fd != -1 &&
	    older->offset > newer->offset)) {
		older = &seg[OUTPUTFILE_TAIL1];
		newer = &seg[OUTPUTFILE_TAIL0];
	}
	n = add_piece(pieces, 0, &seg[OUTPUTFILE_HEAD], &stream);
	end = newer->offset + newer->len;
	if (end > newer->kept) {
		clip(older, end - newer->kept);
		clip(newer, end - newer->kept);
	}
	clip(older, stream);
	n = add_piece(pieces, n, older, &stream);
	clip(newer, stream);
	return add_piece(pieces, n, newer, &stream);
}

/* How many of the wanted bytes came; fewer when the file got shorter. */
static ssize_t
copy_piece(const struct piece *piece, uint64_t skip, size_t want,
    struct strbuf *out, struct error *err)
{
	char block[COPY_BLOCK];
	size_t got = 0;

	if (piece->fd == -1) {
		strbuf_add(out, piece->note + skip, want);
		return (ssize_t)want;
	}
	while (got < want) {
		size_t ask = want - got < sizeof block ? want - got :
		    sizeof block;
		ssize_t n = pread(piece->fd, block, ask,
		    (off_t)(piece->at + skip + got));

		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return error_set_errno(err, errno,
			    "an output file can't be read");
		if (n == 0)
			break;
		strbuf_add(out, block, (size_t)n);
		got += (size_t)n;
	}
	return (ssize_t)got;
}

static int
copy_page(const struct piece *pieces, size_t n, uint64_t offset, size_t max,
    struct strbuf *out, bool *end, struct error *err)
{
	*end = true;
	for (size_t i = 0; i < n; i++) {
		uint64_t want;
		ssize_t got;

		if (offset >= pieces[i].len) {
			offset -= pieces[i].len;
			continue;
		}
		want = pieces[i].len - offset;
		if (want > max) {
			want = max;
			*end = false;
		}
		if (want == 0)
			break;
		got = copy_piece(&pieces[i], offset, (size_t)want, out, err);
		if (got == -1)
			return -1;
		if ((uint64_t)got < want || !*end)
			break;
		max -= (size_t)want;
		offset = 0;
	}
	return 0;
}

int
outputfile_read(int dirfd, uint64_t run_id, uint64_t offset, size_t max,
    struct strbuf *out, bool *end, struct error *err)
{
	struct segment seg[OUTPUTFILE_PARTS];
	struct piece pieces[PIECES_MAX];
	int opened, result = 0;

	for (opened = 0; opened < OUTPUTFILE_PARTS && result == 0; opened++)
		result = open_part(dirfd, run_id,
		    (enum outputfile_part)opened, &seg[opened], err);
	if (result == 0)
		result = copy_page(pieces, make_plan(seg, pieces), offset,
		    max, out, end, err);
	for (int part = 0; part < opened; part++)
		if (seg[part].fd != -1)
			close(seg[part].fd);
	return result;
}

int
outputfile_remove(int dirfd, uint64_t run_id, struct error *err)
{
	char name[OUTPUTFILE_NAME_MAX];
	int result = 0;

	for (int part = 0; part < OUTPUTFILE_PARTS; part++) {
		outputfile_name(name, run_id, (enum outputfile_part)part);
		if (unlinkat(dirfd, name, 0) == -1 && errno != ENOENT)
			result = error_set_errno(err, errno,
			    "output file %s can't be removed", name);
	}
	return result;
}
