/* SPDX-License-Identifier: ISC */
/*
 * Reading a run's pipe: one block a round, so that a chatty job gets no more
 * of the worker than any other.  States: reading, paused (queue full, not
 * registered with the poller), dropping (queue full for too long).
 */
#include "config.h"

#include "worker/capture.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/xmalloc.h"

#define READ_BLOCK	(64 * 1024)	/* a pipe's usual size (pipe(7)) */

struct capture {
	struct source		 source;	/* the pipe; fd -1: closed */
	struct poller		*poller;	/* borrowed */
	struct output_stream	*stream;	/* owned */
	bool			 dropping;	/* no room for too long */
	struct monotime		 resume_at;	/* paused until then */
};

static void
close_pipe(struct capture *capture)
{
	if (capture->source.fd == -1)
		return;
	poller_remove(capture->poller, &capture->source);
	close(capture->source.fd);
	capture->source.fd = -1;
	capture->resume_at.us = POLLER_NEVER;
}

static void
resume(struct capture *capture)
{
	capture->resume_at.us = POLLER_NEVER;
	if (poller_set(capture->poller, &capture->source, EPOLLIN, NULL) == -1)
		close_pipe(capture);
}

static void
pause_reading(struct capture *capture)
{
	poller_remove(capture->poller, &capture->source);
	capture->resume_at.us = poller_now(capture->poller).us +
	    CAPTURE_STALL_US;
	output_want_room(capture->stream);
}

/* At most want bytes to the writer, or nowhere.  0: that was the end. */
static ssize_t
move_block(struct capture *capture, size_t want)
{
	char block[READ_BLOCK];
	ssize_t n;

	n = read(capture->source.fd, block, want < sizeof block ? want :
	    sizeof block);
	if (n > 0 && capture->dropping)
		output_drop(capture->stream, (uint64_t)n);
	else if (n > 0)
		output_write(capture->stream, block, (size_t)n);
	return n;
}

static void
pipe_ready(struct source *source, uint32_t events)
{
	struct capture *capture = (struct capture *)(void *)((char *)source -
	    offsetof(struct capture, source));
	size_t room = output_room(capture->stream);
	ssize_t n;

	(void)events;
	if (capture->dropping && room >= OUTPUT_STREAM_MAX / 2)
		capture->dropping = false;
	if (room == 0 && !capture->dropping) {
		pause_reading(capture);
		return;
	}
	n = move_block(capture, capture->dropping ? READ_BLOCK : room);
	if (n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR))
		close_pipe(capture);
}

struct capture *
capture_new(struct poller *poller, struct output *output, int fd,
    uint64_t run_id, int64_t limit)
{
	struct capture *capture = xcalloc(1, sizeof *capture);

	capture->source = (struct source){ .fd = fd, .ready = pipe_ready };
	capture->poller = poller;
	capture->stream = output_open(output, run_id, limit);
	resume(capture);
	return capture;
}

void
capture_free(struct capture *capture, struct output_totals *totals)
{
	close_pipe(capture);
	output_close(capture->stream, totals);
	free(capture);
}

void
capture_finish(struct capture *capture, struct leftover *leftover)
{
	int fd = capture->source.fd, waiting = 0;
	ssize_t n;
	char late;

	if (fd != -1 && ioctl(fd, FIONREAD, &waiting) == -1)
		waiting = 0;
	while (waiting > 0 && (n = move_block(capture, (size_t)waiting)) > 0)
		waiting -= (int)n;
	output_finish(capture->stream);
	if (fd == -1)
		return;
	if (read(fd, &late, 1) == 0) {
		close_pipe(capture);
		return;
	}
	poller_remove(capture->poller, &capture->source);
	capture->source.fd = -1;
	capture->resume_at.us = POLLER_NEVER;
	leftover_add(leftover, fd);
}

bool
capture_is_done(const struct capture *capture)
{
	return output_is_done(capture->stream);
}

void
capture_news(struct capture *capture)
{
	/* The news may be another's. */
	if (capture->resume_at.us != POLLER_NEVER &&
	    output_room(capture->stream) > 0)
		resume(capture);
}

struct monotime
capture_deadline(const struct capture *capture)
{
	return capture->resume_at;
}

void
capture_tick(struct capture *capture, struct monotime now)
{
	if (now.us < capture->resume_at.us)
		return;
	capture->dropping = output_room(capture->stream) == 0;
	resume(capture);
}
