/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_CONTROL_H
#define CRONCTL_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"
#include "daemon/files.h"
#include "daemon/jobtable.h"
#include "daemon/names.h"
#include "daemon/query.h"
#include "daemon/reload.h"
#include "daemon/scheduler.h"
#include "daemon/store.h"
#include "daemon/workers.h"

struct event_base;

/*
 * The control socket: accepts clients, carries out their requests
 * (doc/protocol.md).  A table of methods; a client's requests are answered
 * in order.
 */
struct control;

struct control_options {
	struct event_base	*base;
	const char		*socket_path;
	mode_t			 socket_mode;	/* 0666 or 0600 */
	int			 passed_socket;	/* listens there; 0: make one */
	uid_t			 daemon_uid;
	struct store		*store;
	struct query		*query;
	struct files		*files;
	struct names		*names;
	struct jobtable		*jobs;
	struct scheduler	*scheduler;
	struct reload		*reload;
	struct workers		*workers;
	const char		*state_dir;
	const char		*instance;
	bool			 user;		/* a --user daemon */
	size_t			 max_running;
	/* daemon.stop: begin to stop, if that is not under way */
	void			(*stop)(void *arg, int64_t by_uid,
				    int64_t timeout_us);	/* -1: none */
	uint64_t		(*wakeups)(void *arg);
	void			*arg;
};

/*
 * A socket file that nobody listens on is replaced.  A passed socket is taken
 * over, whatever comes of it; its file belongs to who made it.
 */
struct control	*control_new(const struct control_options *,
		    struct error *err);
/* From here on requests are taken. */
void		 control_listen(struct control *);
/* Requests read and not yet answered, to be worked on in this turn; true
 * when work is left. */
bool		 control_dispatch(struct control *);
/* The last run has ended: tells those who wait for the stop, then closes
 * once they have read it (or 1 s has passed). */
void		 control_stopped(struct control *);
bool		 control_is_flushed(const struct control *);
/* Removes the socket file if it still is ours. */
void		 control_free(struct control *);
/* For the scheduler's observer. */
void		 control_run_ended(struct control *, const struct run_row *);

#endif
