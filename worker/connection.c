/* SPDX-License-Identifier: ISC */
/*
 * Buffers around a stream socket.  An error when writing only makes a
 * connection deaf: what the other end had sent before is still to be read.
 */
#include "config.h"

#include "worker/connection.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/xmalloc.h"

#define READ_BLOCK	(64 * 1024)

struct connection *
connection_new(struct poller *poller, int fd,
    void (*ready)(struct source *, uint32_t), void *owner, struct error *err)
{
	struct connection *connection = xcalloc(1, sizeof *connection);

	connection->source = (struct source){ .fd = fd, .ready = ready };
	connection->poller = poller;
	connection->owner = owner;
	connection->hello_by.us = POLLER_NEVER;
	strbuf_init(&connection->in);
	strbuf_init(&connection->out);
	if (poller_set(poller, &connection->source, EPOLLIN, err) == -1) {
		connection_free(connection);
		return NULL;
	}
	return connection;
}

void
connection_free(struct connection *connection)
{
	if (connection == NULL)
		return;
	poller_remove(connection->poller, &connection->source);
	close(connection->source.fd);
	strbuf_release(&connection->in);
	strbuf_release(&connection->out);
	free(connection);
}

struct connection *
connection_of(struct source *source)
{
	return (struct connection *)(void *)((char *)source -
	    offsetof(struct connection, source));
}

bool
connection_fill(struct connection *connection)
{
	char block[READ_BLOCK];
	ssize_t n;

	if (connection->ended)
		return false;
	strbuf_consume(&connection->in, connection->taken);
	connection->taken = 0;
	do {
		n = recv(connection->source.fd, block, sizeof block,
		    MSG_DONTWAIT);
	} while (n == -1 && errno == EINTR);
	if (n > 0) {
		strbuf_add(&connection->in, block, (size_t)n);
		return true;
	}
	if (n == 0 || errno != EAGAIN)
		connection->ended = true;
	return false;
}

int
connection_next(struct connection *connection, struct frame *frame,
    struct error *err)
{
	size_t used;
	int found = frame_parse(connection->in.buf + connection->taken,
	    connection->in.len - connection->taken, frame, &used, err);

	if (found == 1)
		connection->taken += used;
	return found;
}

void
connection_flush(struct connection *connection)
{
	struct strbuf *out = &connection->out;
	uint32_t events = 0;
	size_t sent = 0;

	while (sent < out->len && !connection->deaf) {
		ssize_t n = send(connection->source.fd, out->buf + sent,
		    out->len - sent, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n >= 0)
			sent += (size_t)n;
		else if (errno == EAGAIN)
			break;
		else if (errno != EINTR)
			connection->deaf = true;
	}
	strbuf_consume(out, connection->deaf ? out->len : sent);
	if (out->len > 0)
		events |= EPOLLOUT;
	if (out->len <= CONNECTION_OUT_MAX && !connection->ended)
		events |= EPOLLIN;
	if (poller_set(connection->poller, &connection->source, events,
	    NULL) == -1)
		connection->ended = true;
}
