/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_CLIENT_H
#define CRONCTL_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/message.h"

struct event_base;

/*
 * One connection of the control socket: bytes to lines, and lines to bytes
 * that wait until they are read.  Knows nothing of what the lines say.
 */
struct client;

#define CLIENT_LINE_MAX		MESSAGE_DEFINITION_MAX
#define CLIENT_READ_MAX		(64 * 1024)	/* read in one turn */
#define CLIENT_UNREAD_MAX	(4 * 1024 * 1024) /* more waiting: cut */
#define CLIENT_LINE_MS		10000	/* for a whole line, from its first byte */

struct client_callbacks {
	/* There may be something to take, or room for more output. */
	void	(*ready)(void *arg);
	/*
	 * It is over; to be answered by client_free.  why: a sentence when
	 * it was cut, else NULL.
	 */
	void	(*gone)(void *arg, const char *why);
	void	*arg;
};

/* Takes the descriptor, which must not block. */
struct client	*client_new(struct event_base *, int fd,
		    const struct client_callbacks *);
void		 client_free(struct client *);	/* accepts NULL; closes */

enum client_input {
	CLIENT_NOTHING,		/* no whole line is there yet */
	CLIENT_LINE,
	CLIENT_TOO_LONG,	/* a line was longer and is passed over */
	CLIENT_END		/* nothing more will come */
};
/*
 * The next line, without its newline; borrowed until the next call.  To be
 * called until there is nothing: that is when reading goes on.
 */
enum client_input client_take(struct client *, const char **line,
		    size_t *len);
/* Whether client_take has something other than CLIENT_NOTHING. */
bool		 client_has_input(const struct client *);
/* The other end is closed: nobody will read an answer. */
bool		 client_is_deserted(const struct client *);

/* Queues text and a newline; client_flush sends. */
void		 client_send(struct client *, const char *text);
/*
 * Sends what the socket takes; the rest follows by itself.  -1 when too much
 * waits unread: cut it.
 */
int		 client_flush(struct client *);
size_t		 client_unread(const struct client *);	/* bytes waiting */
/*
 * No more is read.  When nothing waits to be sent it is over, and can be
 * freed; else gone is called when all is sent, 10 s later at most.
 */
void		 client_finish(struct client *);
bool		 client_is_over(const struct client *);

#endif
