/* SPDX-License-Identifier: ISC */
/*
 * Which connection is the daemon.  Every connection, the first one too,
 * begins by waiting: it must say HELLO, and be of our instance and not older
 * than what we have seen.  It becomes the current one when there is none; a
 * newer daemon's makes the current one end.  In both cases all whole frames
 * of the old connection have been handled before the HELLO is answered.
 */
#include "config.h"

#include "worker/worker_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/log.h"
#include "common/protocol.h"

#define HELLO_WAIT_US	(2 * USEC_PER_SEC)
#define ACCEPT_AGAIN_US	(1 * USEC_PER_SEC)	/* out of descriptors */

static void
drop_pending(struct worker *worker, size_t i)
{
	connection_free(worker->pending[i]);
	worker->n_pending--;
	memmove(worker->pending + i, worker->pending + i + 1,
	    (worker->n_pending - i) * sizeof *worker->pending);
}

static void
current_ready(struct source *source, uint32_t events)
{
	struct connection *connection = connection_of(source);
	struct worker *worker = connection->owner;

	/* Ready for writing alone is served at the end of the turn. */
	if ((events & ~(uint32_t)EPOLLOUT) != 0 && connection_fill(connection))
		worker_frames_handle(worker, connection);
}

/* Only reads; worker_link_turn looks at what came. */
static void
pending_ready(struct source *source, uint32_t events)
{
	struct connection *connection = connection_of(source);

	(void)events;
	if (connection_fill(connection))
		poller_remove(connection->poller, source);
}

void
worker_link_add(struct worker *worker, int fd, struct monotime hello_by)
{
	struct connection *connection;
	struct error err;

	connection = connection_new(worker->poller, fd, pending_ready, worker,
	    &err);
	if (connection == NULL) {
		log_error("link", "a connection is refused: %s", err.text);
		return;
	}
	connection->hello_by = hello_by;
	worker->pending[worker->n_pending++] = connection;
}

/* The directory's mode says who gets here; this says it again. */
static bool
is_trusted(int fd)
{
	struct ucred cred;
	socklen_t len = sizeof cred;

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0 &&
	    (cred.uid == 0 || cred.uid == geteuid());
}

void
worker_link_accept(struct worker *worker)
{
	while (worker->n_pending < WORKER_PENDING_MAX) {
		struct monotime hello_by = monotime_now();
		int fd = accept4(worker->listener.fd, NULL, NULL,
		    SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd == -1 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd == -1) {
			if (errno != EAGAIN)
				worker->listen_at.us = monotime_now().us +
				    ACCEPT_AGAIN_US;
			return;
		}
		hello_by.us += HELLO_WAIT_US;
		if (is_trusted(fd))
			worker_link_add(worker, fd, hello_by);
		else
			close(fd);
	}
}

static void
deny(struct connection *connection, const char *reason)
{
	log_warning("link", "a daemon is denied: %s", reason);
	protocol_encode_deny(&connection->out, reason);
	connection_flush(connection);
	connection->ended = true;
}

/* Reads its HELLO if that is there; one that is no good ends it. */
static void
greet(struct worker *worker, struct connection *connection)
{
	struct protocol_hello hello;
	struct error err;
	struct frame frame;
	int found = connection_next(connection, &frame, &err);

	if (found == 0) {
		/* More must come, and reading stopped at this block. */
		if (!connection->ended && poller_set(worker->poller,
		    &connection->source, EPOLLIN, &err) == -1)
			connection->ended = true;
	} else if (found == -1 ||
	    protocol_decode_hello(&frame, &hello, &err) == -1) {
		deny(connection, err.text);
	} else if (strcmp(hello.instance, worker->instance) != 0) {
		deny(connection, "this worker belongs to another instance");
	} else {
		connection->epoch = hello.epoch;
		connection->hello_by.us = POLLER_NEVER;
		connection->greeted = true;
	}
}

static void
deny_older(const struct worker *worker, struct connection *connection)
{
	char reason[ERROR_MAX];

	snprintf(reason, sizeof reason, "this worker has met epoch %llu, "
	    "yours is %llu", (unsigned long long)worker->epoch,
	    (unsigned long long)connection->epoch);
	deny(connection, reason);
}

/* All whole frames up to its end, or up to now. */
static void
close_current(struct worker *worker)
{
	struct connection *old = worker->current;

	while (connection_fill(old))
		worker_frames_handle(worker, old);
	worker->current = NULL;
	connection_free(old);
}

static void
welcome(struct worker *worker, size_t i)
{
	struct connection *connection = worker->pending[i];
	struct protocol_welcome text = {
		.number = worker->number, .version = FRAME_VERSION,
		.pid = getpid(), .boot_id = worker->boot_id,
	};

	worker->n_pending--;
	memmove(worker->pending + i, worker->pending + i + 1,
	    (worker->n_pending - i) * sizeof *worker->pending);
	worker->current = connection;
	worker->epoch = connection->epoch;
	connection->source.ready = current_ready;
	protocol_encode_welcome(&connection->out, &text);
	worker_frames_handle(worker, connection);
}

static void
judge_pending(struct worker *worker, size_t i)
{
	struct connection *connection = worker->pending[i];

	if (!connection->greeted)
		greet(worker, connection);
	if (connection->greeted && connection->epoch < worker->epoch)
		deny_older(worker, connection);
	if (connection->ended) {
		drop_pending(worker, i);
		return;
	}
	if (!connection->greeted)
		return;
	if (worker->current != NULL && connection->epoch > worker->epoch)
		close_current(worker);
	if (worker->current == NULL)
		welcome(worker, i);
}

void
worker_link_turn(struct worker *worker)
{
	struct monotime now = monotime_now();

	if (worker->current != NULL && worker->current->ended)
		close_current(worker);
	for (size_t i = worker->n_pending; i-- > 0;) {
		if (worker->pending[i]->hello_by.us <= now.us)
			drop_pending(worker, i);
		else
			judge_pending(worker, i);
	}
	if (worker->current != NULL)
		connection_flush(worker->current);
	if (worker->listen_at.us <= now.us)
		worker->listen_at.us = POLLER_NEVER;
	if (poller_set(worker->poller, &worker->listener,
	    worker->listen_at.us == POLLER_NEVER &&
	    worker->n_pending < WORKER_PENDING_MAX ? EPOLLIN : 0, NULL) == -1)
		worker->listen_at.us = now.us + ACCEPT_AGAIN_US;
}

struct monotime
worker_link_deadline(const struct worker *worker)
{
	struct monotime next = worker->listen_at;

	for (size_t i = 0; i < worker->n_pending; i++)
		if (worker->pending[i]->hello_by.us < next.us)
			next = worker->pending[i]->hello_by;
	return next;
}

void
worker_link_close(struct worker *worker)
{
	while (worker->n_pending > 0)
		drop_pending(worker, worker->n_pending - 1);
	connection_free(worker->current);
	worker->current = NULL;
}
