/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_CONNECTION_H
#define CRONCTL_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/exit_status.h"
#include "common/error.h"
#include "common/message.h"

/*
 * A conversation with the daemon: one request, then its reply, each with a
 * deadline (doc/protocol.md).  One thread; nothing blocks past a deadline.
 */
struct connection;

/* How the socket is found, the first that is set. */
struct connection_place {
	const char	*socket;	/* --socket, or NULL */
	const char	*env_socket;	/* $CRONCTL_SOCKET, or NULL */
	bool		 user;		/* --user */
	bool		 system;	/* --system */
	const char	*runtime_dir;	/* $XDG_RUNTIME_DIR, or NULL */
};

#define CONNECTION_TIMEOUT_MS	10000
#define CONNECTION_NO_TIMEOUT	INT64_C(-1)

/*
 * The path of the socket, free(); NULL with err when none can be named.
 */
char	*connection_path(const struct connection_place *, struct error *err);
/*
 * STATUS_DONE, or STATUS_NO_DAEMON or STATUS_NOT_PERMITTED with a sentence
 * that names the socket, the reason and what to do.
 */
enum exit_status connection_open(struct connection **,
		    const struct connection_place *, struct error *err);
void		 connection_close(struct connection *);	/* accepts NULL */

/*
 * From now on a call ends with STATUS_INTERRUPTED when SIGINT arrives,
 * instead of the process.  -1 with err when that can't be arranged.
 */
int		 connection_catch_interrupt(struct connection *,
		    struct error *err);

/* A reply that is an error. */
struct connection_refusal {
	struct message	*data;		/* its "data", or NULL; free it */
	int64_t		 code;		/* its code; 0: there was no reply */
};

/*
 * Sends a request (params is taken over, NULL: none) and waits for its
 * reply.  STATUS_DONE and *result, to be freed; else the status to exit with
 * and a sentence; refusal may be NULL.  STATUS_NO_DAEMON also when the
 * daemon goes away in between: then connection_is_lost() says so.
 */
enum exit_status connection_call(struct connection *, const char *method,
		    struct message *params, int64_t timeout_ms,
		    struct message **result, struct connection_refusal *,
		    struct error *err);
/*
 * The next notification; *method to be freed, as *params, which may be NULL.
 * Statuses as connection_call.
 */
enum exit_status connection_next(struct connection *, int64_t timeout_ms,
		    char **method, struct message **params, struct error *err);
bool		 connection_is_lost(const struct connection *);
/* Waits; true when SIGINT arrived (connection_catch_interrupt). */
bool		 connection_pause(const struct connection *,
		    int timeout_ms);
/* Connects again to the same socket; statuses as connection_open. */
enum exit_status connection_reopen(struct connection *, struct error *err);

#endif
