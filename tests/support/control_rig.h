/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_TESTS_CONTROL_RIG_H
#define CRONCTL_TESTS_CONTROL_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/message.h"
#include "daemon/control.h"

/*
 * The real control socket on the real parts behind it, in a directory of its
 * own: store and helpers with their threads, scheduler, reload.  Workers do
 * what the test says; no process is started.  Clients are sockets of the
 * test, and every wait for one turns the loop, up to a deadline.
 *
 * Every failure of the rig itself ends the process.
 */
#define RIG_STARTS_MAX	1024
#define RIG_WAIT_MS	10000	/* for anything that must come */

struct rig_start {
	uint64_t run_id;
	struct protocol_tag_run tag;	/* job_name points to name */
	char	 name[JOBDEF_FULL_NAME_MAX + 1];
	char	 last_env[256];		/* the last entry of its environment */
	bool	 stop_asked;
	int	 signal;		/* the last one sent; 0: none */
};

struct rig {
	char			 dir[64];	/* of all its files */
	char			 socket[96];	/* the control socket */
	char			 jobs_dir[96];	/* for job files */
	struct event_base	*base;
	struct event		*tick;		/* no turn waits longer */
	struct clock		 clock;		/* the system's */
	struct store		*store;
	struct store_image	 image;
	struct jobdef_settings	 defaults;	/* none */
	struct files_context	 context;
	struct files		*files;
	struct query		*query;
	struct names		*names;
	struct jobtable		*jobs;
	struct scheduler	*scheduler;
	struct reload		*reload;
	struct workers		*workers;	/* without any */
	struct control		*control;
	struct rig_start	 starts[RIG_STARTS_MAX];
	size_t			 n_starts;	/* of them */
	size_t			 stops;		/* times the hook was called */
	int64_t			 stop_timeout;	/* what it was given */
	bool			 no_flush;	/* the store is given nothing */
	bool			 no_signal;	/* the worker takes no signals */
};

/* daemon_uid: whom it serves beside root. */
struct rig	*rig_new(uid_t daemon_uid);
void		 rig_free(struct rig *);
void		 rig_turn(struct rig *);
/* A client; its descriptor does not block. */
int		 rig_connect(struct rig *);
/* All of it, turning when the socket is full. */
void		 rig_write(struct rig *, int fd, const void *, size_t len);
/*
 * The next line, without its newline; free().  NULL when the connection is
 * over, or when nothing came in time (wait_ms).
 */
char		*rig_read(struct rig *, int fd, int wait_ms);
/* Turns until there is an end of file; false when that didn't come. */
bool		 rig_is_closed(struct rig *, int fd, int wait_ms);

/*
 * One request on a connection of its own; params is JSON.  The whole reply.
 */
struct message	*rig_ask(struct rig *, const char *method,
		    const char *params);
/* The same, which must succeed: just the result. */
struct message	*rig_call(struct rig *, const char *method,
		    const char *params);
/* A control job that never runs by itself. */
void		 rig_add(struct rig *, const char *name);
/* A job file in jobs_dir. */
void		 rig_write_file(struct rig *, const char *name,
		    const char *text);

/* What the worker tells of the i-th start. */
void		 rig_started(struct rig *, size_t i);
void		 rig_exited(struct rig *, size_t i, int code);
/* Its kept output, as a worker would have left it. */
void		 rig_write_output(struct rig *, uint64_t run_id,
		    const char *text);

#endif
