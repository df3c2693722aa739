/* SPDX-License-Identifier: ISC */
/*
 * The writer thread and its queue.
 *
 * Invariants: blocks of a stream are written in order; a block is allocated
 * and freed by the caller's thread, the writer only hands it over to the
 * list of spent ones.  So the writer allocates nothing and takes no lock but
 * this module's, and a child forked by the other thread finds every lock of
 * libc free.  What it calls: openat, write, close (output_parts.c), and the
 * queue.  A write that failed is not tried again; the next block is.
 */
#include "config.h"

#include "worker/output.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/xmalloc.h"
#include "worker/output_parts.h"

#define STACK_SIZE	(256 * 1024)

struct block {
	struct block		*next;		/* in the queue, or spent */
	struct output_stream	*stream;	/* whose bytes */
	uint64_t		 offset;	/* in the stream */
	size_t			 len;		/* bytes in data */
	bool			 finish;	/* the stream's last block */
	uint8_t			 data[];	/* the bytes */
};

struct output_stream {
	struct output		*output;	/* it belongs to */
	struct output_stream	*next;		/* among the abandoned */

	/* The caller's thread only. */
	bool			 keeps;		/* the limit is not 0 */
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
	struct output_parts	 parts;		/* the files */
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
	stream->kept = output_parts_kept(&stream->parts);
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
			errnum = output_parts_write(&block->stream->parts,
			    block->offset, block->data, block->len);
		if (block->finish)
			output_parts_close(&block->stream->parts);

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
	stream->keeps = limit > 0;
	output_parts_init(&stream->parts, output->dirfd, run_id,
	    (uint64_t)limit);
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
	if (!stream->keeps)
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
