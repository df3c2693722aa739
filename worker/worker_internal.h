/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_WORKER_WORKER_INTERNAL_H
#define CRONCTL_WORKER_WORKER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "worker/connection.h"
#include "worker/family.h"
#include "worker/leftover.h"
#include "worker/output.h"
#include "worker/poller.h"
#include "worker/results.h"
#include "worker/run.h"
#include "worker/spawn.h"
#include "worker/worker.h"

/* What worker.c, worker_link.c and worker_frames.c share. */

#define WORKER_PENDING_MAX	4	/* connections that wait their turn */
#define WORKER_RUNS_MAX		4096	/* live at once */
#define WORKER_HELD_MAX		100000	/* live and unacknowledged */
#define WORKER_BOOT_ID_SIZE	64

struct worker {
	uint64_t	 number;		/* the worker's name */
	char		*instance;		/* of the state directory */
	char		 boot_id[WORKER_BOOT_ID_SIZE]; /* of this boot */
	uint64_t	 epoch;			/* newest daemon seen */

	struct poller	*poller;		/* all are owned */
	struct spawner	*spawner;
	struct output	*output;
	struct leftover	*leftover;
	struct family	*family;
	struct results	*results;		/* ended, not acknowledged */
	struct run_host	 host;			/* the above, for runs */

	struct run	**runs;			/* live; owned */
	size_t		 n_runs;		/* in use */
	size_t		 cap_runs;		/* allocated */
	size_t		 max_runs;		/* by our descriptors */

	struct source	 listener;		/* for daemons to come */
	struct source	 signals;		/* signalfd */
	struct source	 output_news;		/* from the writer */
	struct connection *current;		/* the daemon; or NULL */
	struct connection *pending[WORKER_PENDING_MAX]; /* no HELLO yet, or */
	size_t		 n_pending;		/* waiting for current's end */

	bool		 draining;		/* no new runs */
	bool		 terminating;		/* SIGTERM came */
	bool		 children_died;		/* SIGCHLD came */
	bool		 zombies_held;		/* a ladder keeps one */
	bool		 done;			/* leave the loop */
	struct monotime	 listen_at;		/* accept again; NEVER: do */
	struct monotime	 spool_at;		/* try the spool again */
	struct monotime	 leave_at;		/* SIGTERM: wait for ACKs */
};

/* worker.c */
struct run	*worker_find_run(const struct worker *, uint64_t id);
void		 worker_add_run(struct worker *, struct run *);
/* Turns runs that are over into results, and tells them. */
void		 worker_sweep(struct worker *);

/* worker_link.c: who is the daemon */
void		 worker_link_accept(struct worker *);
/* Takes a descriptor that may say HELLO, within hello_by. */
void		 worker_link_add(struct worker *, int fd,
		    struct monotime hello_by);
/* Once a turn: drops, denies, replaces, welcomes, flushes. */
void		 worker_link_turn(struct worker *);
struct monotime	 worker_link_deadline(const struct worker *);
void		 worker_link_close(struct worker *);

/* worker_frames.c: what the daemon says */
/* All whole frames that are there. */
void		 worker_frames_handle(struct worker *, struct connection *);

#endif
