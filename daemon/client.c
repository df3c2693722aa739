/* SPDX-License-Identifier: ISC */
/*
 * A connection, on raw events: what is buffered, and for how long, is the
 * whole point here.
 *
 * Invariants: at most CLIENT_LINE_MAX + CLIENT_READ_MAX bytes of input are
 * kept; when whole lines of that size wait, nothing more is read until they
 * are taken.  The line timer runs while half a line is there and we are
 * reading.  A line that is too long is passed over up to its end, in the time
 * that any line has.  When the other end is closed, what it sent before is
 * still handed out, and what is sent to it is dropped.
 *
 * Nothing here frees the connection: gone() asks the owner to, and is always
 * the last thing that an event does.  An idle connection keeps no buffer.
 */
#include "config.h"

#include "daemon/client.h"

#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/log.h"
#include "common/strbuf.h"
#include "common/xmalloc.h"

#define CHUNK		(16 * 1024)	/* read at once */
#define BUFFER_KEEP	512		/* an empty buffer this small stays */

struct client {
	int		 fd;		/* the socket */
	struct client_callbacks callbacks; /* the owner's */
	struct event	*reader;	/* pending while reading */
	struct event	*writer;	/* pending while output waits */
	struct event	*timer;		/* half a line, or the last output;
					 * NULL until first needed */
	struct strbuf	 in;		/* bytes read */
	size_t		 taken;		/* of these, handed out */
	size_t		 scanned;	/* up to here no newline since taken */
	bool		 has_line;	/* there is one at scanned */
	bool		 skipping;	/* within a line that was too long */
	bool		 tell_long;	/* of which has to be told */
	bool		 reading;	/* the reader is pending */
	bool		 ended;		/* nothing more comes */
	bool		 deserted;	/* nobody reads */
	bool		 finishing;	/* gone when all is sent */
	struct strbuf	 out;		/* bytes to send */
	size_t		 sent;		/* of these */
};

static void
shrink(struct strbuf *sb)
{
	if (sb->cap > BUFFER_KEEP)
		strbuf_release(sb);
	else
		strbuf_reset(sb);
}

static void
set_event(struct event *event, bool pending)
{
	/* Fails only for want of memory. */
	if ((pending ? event_add(event, NULL) : event_del(event)) == -1)
		log_error("control", "can't %s an event",
		    pending ? "add" : "remove");
}

static void
set_reading(struct client *client, bool reading)
{
	if (client->reading == reading)
		return;
	client->reading = reading;
	set_event(client->reader, reading);
}

static void	on_timer(evutil_socket_t, short, void *);

/* 0: stop it. */
static void
set_timer(struct client *client, int ms)
{
	struct timeval tv = { ms / 1000, ms % 1000 * 1000 };

	if (ms == 0) {
		if (client->timer != NULL)
			set_event(client->timer, false);
		return;
	}
	if (client->timer == NULL)
		client->timer = evtimer_new(
		    event_get_base(client->reader), on_timer, client);
	if (client->timer == NULL || evtimer_add(client->timer, &tv) == -1)
		log_error("control", "can't set a timer for a connection");
}

static bool
timer_is_set(const struct client *client)
{
	return client->timer != NULL && evtimer_pending(client->timer, NULL);
}

/* Looks for the end of the line that is next. */
static void
scan(struct client *client)
{
	const char *end;

	if (client->has_line)
		return;
	end = memchr(client->in.buf + client->scanned, '\n',
	    client->in.len - client->scanned);
	client->scanned = end == NULL ? client->in.len :
	    (size_t)(end - client->in.buf);
	client->has_line = end != NULL;
}

static size_t
buffered(const struct client *client)
{
	return client->in.len - client->taken;
}

/* Forgets what was taken when that is worth the copying. */
static void
compact(struct client *client)
{
	if (client->taken == client->in.len) {
		shrink(&client->in);
		client->taken = client->scanned = 0;
	} else if (client->taken > client->in.len / 2) {
		strbuf_consume(&client->in, client->taken);
		client->scanned -= client->taken;
		client->taken = 0;
	}
}

/*
 * After bytes came in or were taken: drops a line that is too long, and
 * decides whether to read on and whether the line timer runs.  restart: what
 * there is of half a line begins to count now.
 */
static void
settle(struct client *client, bool restart)
{
	bool half;

	if (client->finishing)
		return;
	scan(client);
	if (!client->has_line && buffered(client) > CLIENT_LINE_MAX) {
		client->tell_long = client->skipping = true;
		client->taken = client->scanned = client->in.len;
	}
	compact(client);
	set_reading(client, !client->ended &&
	    !(client->has_line && buffered(client) >= CLIENT_LINE_MAX));

	half = client->skipping || (client->in.len > client->taken &&
	    client->in.buf[client->in.len - 1] != '\n');
	if (!half || !client->reading)
		set_timer(client, 0);
	else if (restart || !timer_is_set(client))
		set_timer(client, CLIENT_LINE_MS);
}

/* Bytes of a line that is passed over are dropped up to its end. */
static void
take_in(struct client *client, const char *bytes, size_t len)
{
	const char *end;

	if (client->skipping) {
		end = memchr(bytes, '\n', len);
		if (end == NULL)
			return;
		client->skipping = false;
		len -= (size_t)(end + 1 - bytes);
		bytes = end + 1;
	}
	strbuf_add(&client->in, bytes, len);
}

/* The end, or an error: what is there is still handed out. */
static void
end_input(struct client *client)
{
	struct pollfd p = { .fd = client->fd };

	client->ended = true;
	client->skipping = false;
	/* A half-closed connection still reads; a closed one hangs up. */
	if (poll(&p, 1, 0) == 1 && (p.revents & (POLLHUP | POLLERR)) != 0)
		client->deserted = true;
}

static void
on_read(evutil_socket_t fd, short what, void *arg)
{
	struct client *client = arg;
	bool newline = false;
	char bytes[CHUNK];

	(void)what;
	for (size_t got = 0; got < CLIENT_READ_MAX;) {
		ssize_t n = read(fd, bytes, sizeof(bytes));

		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN)
			break;
		if (n <= 0) {
			end_input(client);
			break;
		}
		newline = newline || memchr(bytes, '\n', (size_t)n) != NULL;
		take_in(client, bytes, (size_t)n);
		got += (size_t)n;
		if ((size_t)n < sizeof(bytes))
			break;
	}
	settle(client, newline);
	if (client_has_input(client) || client->deserted)
		client->callbacks.ready(client->callbacks.arg);
}

static void
on_write(evutil_socket_t fd, short what, void *arg)
{
	struct client *client = arg;

	(void)fd;
	(void)what;
	/* Nothing was added, so it can't be too much now. */
	(void)client_flush(client);
	if (client_is_over(client))
		client->callbacks.gone(client->callbacks.arg, NULL);
	else
		client->callbacks.ready(client->callbacks.arg);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct client *client = arg;

	(void)fd;
	(void)what;
	client->callbacks.gone(client->callbacks.arg, client->finishing ?
	    "the last answer was not read in time" :
	    "a line was not ended within 10 s");
}

struct client *
client_new(struct event_base *base, int fd,
    const struct client_callbacks *callbacks)
{
	struct client *client = xcalloc(1, sizeof(*client));

	client->fd = fd;
	client->callbacks = *callbacks;
	strbuf_init(&client->in);
	strbuf_init(&client->out);
	client->reader = event_new(base, fd, EV_READ | EV_PERSIST, on_read,
	    client);
	client->writer = event_new(base, fd, EV_WRITE | EV_PERSIST, on_write,
	    client);
	if (client->reader == NULL || client->writer == NULL) {
		client_free(client);
		return NULL;
	}
	set_reading(client, true);
	return client;
}

void
client_free(struct client *client)
{
	if (client == NULL)
		return;
	if (client->reader != NULL)
		event_free(client->reader);
	if (client->writer != NULL)
		event_free(client->writer);
	if (client->timer != NULL)
		event_free(client->timer);
	strbuf_release(&client->in);
	strbuf_release(&client->out);
	close(client->fd);
	free(client);
}

bool
client_has_input(const struct client *client)
{
	return !client->finishing &&
	    (client->has_line || client->tell_long || client->ended);
}

enum client_input
client_take(struct client *client, const char **line, size_t *len)
{
	if (client->finishing)
		return CLIENT_NOTHING;
	/* Not while the line is looked at: settle may move the buffer. */
	settle(client, false);
	/* What came before it has been taken, or it would not be known. */
	if (client->tell_long) {
		client->tell_long = false;
		return CLIENT_TOO_LONG;
	}
	if (client->has_line) {
		*line = client->in.buf + client->taken;
		*len = client->scanned - client->taken;
		client->taken = ++client->scanned;
		client->has_line = false;
		scan(client);
		return *len > CLIENT_LINE_MAX ? CLIENT_TOO_LONG : CLIENT_LINE;
	}
	return client->ended ? CLIENT_END : CLIENT_NOTHING;
}

bool
client_is_deserted(const struct client *client)
{
	return client->deserted;
}

void
client_send(struct client *client, const char *text)
{
	if (client->deserted)
		return;
	strbuf_addstr(&client->out, text);
	strbuf_addch(&client->out, '\n');
}

size_t
client_unread(const struct client *client)
{
	return client->out.len - client->sent;
}

/* What can't be sent, as nobody is there, is dropped. */
static void
desert(struct client *client)
{
	client->deserted = true;
	client->sent = client->out.len;
}

int
client_flush(struct client *client)
{
	bool waits;

	while (client_unread(client) > 0) {
		ssize_t n = send(client->fd, client->out.buf + client->sent,
		    client_unread(client), MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n >= 0)
			client->sent += (size_t)n;
		else if (errno == EAGAIN)
			break;
		else if (errno != EINTR)
			desert(client);
	}
	waits = client_unread(client) > 0;
	if (!waits) {
		shrink(&client->out);
		client->sent = 0;
	} else if (client->sent > client->out.len / 2) {
		strbuf_consume(&client->out, client->sent);
		client->sent = 0;
	}
	if (waits != (event_pending(client->writer, EV_WRITE, NULL) != 0))
		set_event(client->writer, waits);
	return client_unread(client) > CLIENT_UNREAD_MAX ? -1 : 0;
}

void
client_finish(struct client *client)
{
	client->finishing = true;
	set_reading(client, false);
	set_timer(client, CLIENT_LINE_MS);
}

bool
client_is_over(const struct client *client)
{
	return client->finishing && client_unread(client) == 0;
}
