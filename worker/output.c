/* SPDX-License-Identifier: ISC */
/*
 * The writer thread and its queue.
 *
 * Invariants: blocks of a stream are written in order; a block is allocated
 * and freed by the caller's thread, the writer only hands it over to the
 * list of spent ones.  So the writer allocates nothing and takes no lock but
 * this module's, and a child forked by the other thread finds every lock of
 * libc free.  What it calls: openat, write, close, and the queue.
 *
 * A failed write loses the rest of its block and leaves a gap, as a drop
 * does: the head ends there, or a new segment of the tail begins behind it.
 * It is not tried again; the next block is.
 */
#include "config.h"

#include "worker/output.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/outputfile.h"
#include "common/xmalloc.h"

#define STACK_SIZE	(256 * 1024)
#define SEGMENT_MIN	4096		/* fewer new segments for tiny tails */

struct block {
	struct block		*next;		/* in the queue, or spent */
	struct output_stream	*stream;	/* whose bytes */
	uint64_t		 offset;	/* in the stream */
	size_t			 len;		/* bytes in data */
	bool			 finish;	/* the stream's last block */
	uint8_t			 data[];	/* the bytes */
};

struct segment {
	uint64_t		 start;		/* offset in the stream */
	uint64_t		 len;		/* bytes of the stream in it */
};

struct output_stream {
	struct output		*output;	/* it belongs to */
	struct output_stream	*next;		/* among the abandoned */
	uint64_t		 run_id;	/* names the files */

	/* The caller's thread only. */
	uint64_t		 total;		/* bytes written and dropped */
	bool			 used;		/* a block was queued */
	bool			 finished;	/* output_finish was called */

	/* Guarded by the output's mutex. */
	size_t			 queued;	/* waiting, with headers */
	bool			 wants_room;	/* wake me at half */
	bool			 done;		/* last block handled */
	bool			 abandoned;	/* closed before that */
	uint64_t		 kept;		/* bytes in the files */
	int			 errnum;	/* first failure */

	/* The writer thread only. */
	uint64_t		 head_limit;	/* bytes that the head holds */
	uint64_t		 tail_limit;	/* last bytes that are kept */
	uint64_t		 segment_max;	/* bytes of a full segment */
	uint64_t		 pos;		/* offset expected next */
	uint64_t		 head_len;	/* bytes in the head */
	bool			 head_done;	/* full, or cut by a gap */
	bool			 gap;		/* bytes before pos are lost */
	int			 fd;		/* of head or segment, or -1 */
	struct segment		 segments[2];	/* of the tail, in turn */
	int			 current;	/* of them; -1: none yet */
};

struct output {
	int			 dirfd;		/* of the files; borrowed */
	int			 event_fd;	/* wakes the caller */
	pthread_t		 thread;	/* the writer */
	struct output_stream	*abandoned;	/* caller's thread only */

	pthread_mutex_t		 mutex;		/* guards what follows and */
						/* the streams' shared part */
	pthread_cond_t		 cond;		/* queue or stopping changed */
	struct block		*first;		/* queue, oldest */
	struct block		*last;		/* queue, newest */
	struct block		*spent;		/* to be freed */
	size_t			 queued;	/* sum over all streams */
	size_t			 waiting;	/* streams that want room */
	bool			 busy;		/* writer has a block */
	bool			 stopping;	/* writer shall end */
};

/* Writer: opens one part anew; -1 with errno. */
static int
open_part(const struct output_stream *stream, enum outputfile_part part)
{
	char name[OUTPUTFILE_NAME_MAX];

	outputfile_name(name, stream->run_id, part);
	return openat(stream->output->dirfd, name, O_WRONLY | O_CREAT |
	    O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* Writer: how many went out; fewer than len with errno set. */
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

static void
close_part(struct output_stream *stream)
{
	if (stream->fd != -1)
		close(stream->fd);
	stream->fd = -1;
}

/* Writer: bytes that go into the head; -1 with errno. */
static int
write_head(struct output_stream *stream, const uint8_t *data, size_t len)
{
	size_t n;

	if (stream->fd == -1 &&
	    (stream->fd = open_part(stream, OUTPUTFILE_HEAD)) == -1)
		return -1;
	n = write_all(stream->fd, data, len);
	stream->head_len += n;
	return n == len ? 0 : -1;
}

/*
 * Writer: the other segment, made anew to begin at offset; -1 with errno.  A
 * failure leaves the present one in force, so that a full disk can cost one
 * segment, never both.
 */
static int
begin_segment(struct output_stream *stream, uint64_t offset)
{
	uint8_t header[OUTPUTFILE_HEADER];
	int other = stream->current == 0;

	close_part(stream);
	outputfile_header_encode(header, offset, stream->tail_limit);
	stream->segments[other] = (struct segment){ offset, 0 };
	stream->fd = open_part(stream, other == 0 ? OUTPUTFILE_TAIL0 :
	    OUTPUTFILE_TAIL1);
	if (stream->fd == -1)
		return -1;
	if (write_all(stream->fd, header, sizeof header) != sizeof header) {
		close_part(stream);
		return -1;
	}
	stream->current = other;
	return 0;
}

/* Writer: bytes behind the head; -1 with errno. */
static int
write_tail(struct output_stream *stream, const uint8_t *data, size_t len)
{
	uint64_t offset = stream->pos;

	if (len > stream->tail_limit) {
		size_t skip = len - (size_t)stream->tail_limit;

		data += skip;
		len -= skip;
		offset += skip;
		stream->gap = true;
	}
	while (len > 0) {
		struct segment *seg = &stream->segments[stream->current == 1];
		size_t want, n;

		if (stream->fd == -1 || stream->gap ||
		    seg->len == stream->segment_max) {
			if (begin_segment(stream, offset) == -1)
				return -1;
			seg = &stream->segments[stream->current];
			stream->gap = false;
		}
		want = len < stream->segment_max - seg->len ? len :
		    (size_t)(stream->segment_max - seg->len);
		n = write_all(stream->fd, data, want);
		seg->len += n;
		if (n < want)
			return -1;
		data += n;
		len -= n;
		offset += n;
	}
	return 0;
}

/* Writer: how much of a segment lies within the bytes that are kept. */
static uint64_t
kept_of(const struct segment *seg, uint64_t from)
{
	if (seg->start + seg->len <= from)
		return 0;
	return seg->start < from ? seg->start + seg->len - from : seg->len;
}

static uint64_t
kept_bytes(const struct output_stream *stream)
{
	const struct segment *now;
	uint64_t end, from;

	if (stream->current == -1)
		return stream->head_len;
	now = &stream->segments[stream->current];
	end = now->start + now->len;
	from = end < stream->tail_limit ? 0 : end - stream->tail_limit;
	return stream->head_len + kept_of(&stream->segments[0], from) +
	    kept_of(&stream->segments[1], from);
}

/* Writer: one block; 0 or the errno of what failed. */
static int
write_block(struct output_stream *stream, const struct block *block)
{
	const uint8_t *data = block->data;
	size_t len = block->len, n;
	int errnum = 0;

	if (block->offset != stream->pos) {
		stream->pos = block->offset;
		stream->gap = true;
	}
	if (stream->gap && !stream->head_done) {
		stream->head_done = true;
		close_part(stream);
	}
	if (!stream->head_done) {
		n = len < stream->head_limit - stream->head_len ? len :
		    (size_t)(stream->head_limit - stream->head_len);
		if (n > 0 && write_head(stream, data, n) == -1)
			errnum = errno;
		data += n;
		len -= n;
		stream->pos += n;
		if (errnum != 0 || stream->head_len == stream->head_limit) {
			stream->head_done = true;
			close_part(stream);
		}
	}
	if (len > 0 && errnum == 0 && stream->tail_limit > 0 &&
	    write_tail(stream, data, len) == -1)
		errnum = errno;
	stream->pos += len;
	if (errnum != 0)
		stream->gap = true;
	return errnum;
}

static void
wake(struct output *output)
{
	uint64_t one = 1;

	/* Only a full counter can refuse, and that wakes as well. */
	if (write(output->event_fd, &one, sizeof one) == -1)
		return;
}

/* Writer, locked: the block is done with. */
static void
block_done(struct output *output, struct block *block, int errnum)
{
	struct output_stream *stream = block->stream;
	size_t size = sizeof *block + block->len;
	bool news = block->finish;

	stream->queued -= size;
	output->queued -= size;
	stream->kept = kept_bytes(stream);
	if (stream->errnum == 0)
		stream->errnum = errnum;
	if (block->finish)
		stream->done = true;
	if (stream->wants_room && stream->queued <= OUTPUT_STREAM_MAX / 2)
		news = true;
	if (output->waiting > 0 && output->queued <= OUTPUT_QUEUE_MAX / 2)
		news = true;
	block->next = output->spent;
	output->spent = block;
	if (news)
		wake(output);
}

static void *
writer(void *arg)
{
	struct output *output = arg;
	struct block *block;
	bool abandoned;
	int errnum;

	pthread_mutex_lock(&output->mutex);
	for (;;) {
		while (output->first == NULL && !output->stopping)
			pthread_cond_wait(&output->cond, &output->mutex);
		if ((block = output->first) == NULL)
			break;
		output->first = block->next;
		output->busy = true;
		abandoned = block->stream->abandoned;
		pthread_mutex_unlock(&output->mutex);

		errnum = 0;
		if (!abandoned && block->len > 0)
			errnum = write_block(block->stream, block);
		if (block->finish)
			close_part(block->stream);

		pthread_mutex_lock(&output->mutex);
		output->busy = false;
		block_done(output, block, errnum);
	}
	pthread_mutex_unlock(&output->mutex);
	return NULL;
}

static int
start_thread(struct output *output)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int errnum;

	sigfillset(&all);
	if ((errnum = pthread_attr_init(&attr)) != 0)
		return errnum;
	errnum = pthread_attr_setstacksize(&attr, STACK_SIZE);
	if (errnum == 0)
		errnum = pthread_sigmask(SIG_SETMASK, &all, &old);
	if (errnum == 0) {
		errnum = pthread_create(&output->thread, &attr, writer,
		    output);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
	}
	pthread_attr_destroy(&attr);
	return errnum;
}

struct output *
output_new(int dirfd, struct error *err)
{
	struct output *output = xcalloc(1, sizeof *output);
	int errnum;

	output->dirfd = dirfd;
	output->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (output->event_fd == -1) {
		error_set_errno(err, errno, "no event descriptor");
		free(output);
		return NULL;
	}
	pthread_mutex_init(&output->mutex, NULL);
	pthread_cond_init(&output->cond, NULL);
	if ((errnum = start_thread(output)) != 0) {
		error_set_errno(err, errnum, "no thread for output files");
		close(output->event_fd);
		free(output);
		return NULL;
	}
	return output;
}

void
output_free(struct output *output)
{
	bool idle;

	if (output == NULL)
		return;
	pthread_mutex_lock(&output->mutex);
	idle = output->first == NULL && !output->busy;
	output->stopping = true;
	pthread_cond_signal(&output->cond);
	pthread_mutex_unlock(&output->mutex);
	if (!idle) {
		pthread_detach(output->thread);
		return;
	}
	pthread_join(output->thread, NULL);
	output_collect(output);
	pthread_cond_destroy(&output->cond);
	pthread_mutex_destroy(&output->mutex);
	close(output->event_fd);
	free(output);
}

int
output_event_fd(const struct output *output)
{
	return output->event_fd;
}

static void
free_abandoned(struct output *output)
{
	struct output_stream **link = &output->abandoned, *stream;
	bool done;

	while ((stream = *link) != NULL) {
		pthread_mutex_lock(&output->mutex);
		done = stream->done;
		pthread_mutex_unlock(&output->mutex);
		if (done) {
			*link = stream->next;
			free(stream);
		} else {
			link = &stream->next;
		}
	}
}

static void
free_spent(struct output *output)
{
	struct block *block, *next;

	pthread_mutex_lock(&output->mutex);
	block = output->spent;
	output->spent = NULL;
	pthread_mutex_unlock(&output->mutex);
	for (; block != NULL; block = next) {
		next = block->next;
		free(block);
	}
}

void
output_collect(struct output *output)
{
	uint64_t count;

	if (read(output->event_fd, &count, sizeof count) == -1 &&
	    errno != EAGAIN)
		return;
	free_spent(output);
	free_abandoned(output);
}

struct output_stream *
output_open(struct output *output, uint64_t run_id, int64_t limit)
{
	struct output_stream *stream = xcalloc(1, sizeof *stream);

	assert(limit >= 0);
	stream->output = output;
	stream->run_id = run_id;
	stream->tail_limit = (uint64_t)limit / 2;
	stream->head_limit = (uint64_t)limit - stream->tail_limit;
	stream->segment_max = stream->tail_limit < SEGMENT_MIN ? SEGMENT_MIN :
	    stream->tail_limit;
	stream->head_done = limit == 0;
	stream->fd = -1;
	stream->current = -1;
	return stream;
}

size_t
output_room(struct output_stream *stream)
{
	struct output *output = stream->output;
	size_t own, all;

	pthread_mutex_lock(&output->mutex);
	own = stream->queued + sizeof(struct block);
	all = output->queued + sizeof(struct block);
	pthread_mutex_unlock(&output->mutex);
	own = own >= OUTPUT_STREAM_MAX ? 0 : OUTPUT_STREAM_MAX - own;
	all = all >= OUTPUT_QUEUE_MAX ? 0 : OUTPUT_QUEUE_MAX - all;
	return own < all ? own : all;
}

static void
set_wants_room(struct output_stream *stream, bool wants)
{
	struct output *output = stream->output;

	pthread_mutex_lock(&output->mutex);
	if (wants && !stream->wants_room)
		output->waiting++;
	else if (!wants && stream->wants_room)
		output->waiting--;
	stream->wants_room = wants;
	/* The writer may have come past half before this. */
	if (wants && stream->queued <= OUTPUT_STREAM_MAX / 2 &&
	    output->queued <= OUTPUT_QUEUE_MAX / 2)
		wake(output);
	pthread_mutex_unlock(&output->mutex);
}

void
output_want_room(struct output_stream *stream)
{
	set_wants_room(stream, true);
}

static void
enqueue(struct output_stream *stream, const void *data, size_t len,
    bool finish)
{
	struct output *output = stream->output;
	struct block *block = xmalloc(sizeof *block + len);

	block->next = NULL;
	block->stream = stream;
	block->offset = stream->total;
	block->len = len;
	block->finish = finish;
	if (len > 0)
		memcpy(block->data, data, len);
	stream->total += len;
	stream->used = true;
	pthread_mutex_lock(&output->mutex);
	if (output->first == NULL)
		output->first = block;
	else
		output->last->next = block;
	output->last = block;
	stream->queued += sizeof *block + len;
	output->queued += sizeof *block + len;
	if (stream->wants_room)
		output->waiting--;
	stream->wants_room = false;
	pthread_cond_signal(&output->cond);
	pthread_mutex_unlock(&output->mutex);
}

void
output_write(struct output_stream *stream, const void *data, size_t len)
{
	assert(!stream->finished);
	free_spent(stream->output);
	if (stream->head_limit == 0)
		stream->total += len;
	else if (len > 0)
		enqueue(stream, data, len, false);
}

void
output_drop(struct output_stream *stream, uint64_t len)
{
	stream->total += len;
}

void
output_finish(struct output_stream *stream)
{
	assert(!stream->finished);
	stream->finished = true;
	if (stream->used)
		enqueue(stream, NULL, 0, true);
	else
		stream->done = true;	/* the writer never saw it */
}

bool
output_is_done(struct output_stream *stream)
{
	bool done;

	pthread_mutex_lock(&stream->output->mutex);
	done = stream->done;
	pthread_mutex_unlock(&stream->output->mutex);
	return done;
}

void
output_close(struct output_stream *stream, struct output_totals *totals)
{
	struct output *output = stream->output;
	bool done;

	if (!stream->finished)
		output_finish(stream);
	set_wants_room(stream, false);
	pthread_mutex_lock(&output->mutex);
	done = stream->done;
	stream->abandoned = !done;
	totals->bytes = (int64_t)stream->total;
	totals->dropped = (int64_t)(stream->total - stream->kept);
	totals->errnum = stream->errnum;
	pthread_mutex_unlock(&output->mutex);
	if (done) {
		free(stream);
		return;
	}
	stream->next = output->abandoned;
	output->abandoned = stream;
}
