/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_WORKER_CONNECTION_H
#define CRONCTL_WORKER_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/frame.h"
#include "common/strbuf.h"
#include "worker/poller.h"

/*
 * One connection of a daemon: bytes in, whole frames out, and what waits to
 * be sent.  It knows nothing of what frames mean.
 */
struct connection {
	struct source	 source;	/* the socket; owned */
	struct poller	*poller;	/* borrowed */
	void		*owner;		/* for source.ready */
	struct strbuf	 in;		/* read, not handled yet */
	size_t		 taken;		/* of it, handed out as frames */
	struct strbuf	 out;		/* to be sent; owners append */
	bool		 ended;		/* the other end closed, or broke */
	bool		 deaf;		/* it can't be written to any more */
	bool		 greeted;	/* its HELLO has been read */
	uint64_t	 epoch;		/* of its HELLO */
	struct monotime	 hello_by;	/* when it must have said HELLO */
};

/* More than this unsent: nothing is read until it is less. */
#define CONNECTION_OUT_MAX	(1024 * 1024)

/* Takes the descriptor. */
struct connection *connection_new(struct poller *, int fd,
		    void (*ready)(struct source *, uint32_t), void *owner,
		    struct error *err);
void		 connection_free(struct connection *);
struct connection *connection_of(struct source *);
/* Reads one block.  False: there was none, or that was the end. */
bool		 connection_fill(struct connection *);
/* 1: a frame, valid until the next fill; 0: none; -1: no frames. */
int		 connection_next(struct connection *, struct frame *,
		    struct error *err);
/* Sends what it can and waits for what the socket's state asks for. */
void		 connection_flush(struct connection *);

#endif
