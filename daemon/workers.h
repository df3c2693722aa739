/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_WORKERS_H
#define CRONCTL_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "common/error.h"
#include "common/protocol.h"
#include "common/timestamp.h"
#include "daemon/files.h"

struct event_base;

/*
 * The worker processes, seen from the daemon: starts those that are missing,
 * takes over those that an earlier daemon left, speaks frames with them.
 *
 * A worker is ATTACHING (HELLO and LIST sent), ATTACHED, STUCK (something is
 * unanswered for too long: gets no new runs), or DEAD (its connection and
 * its lock are gone).  What it reports reaches the owner of runs through
 * callbacks, always from the loop, never from within a call to this module.
 */
struct workers;

struct workers_callbacks {
	/* A held run, between attaching and list_end; ended runs come as
	 * ended instead. */
	void	(*listed)(void *arg, uint64_t worker,
		    const struct protocol_list_run *);
	/* All that worker holds has been told: what it was sent and did not
	 * tell was never started. */
	void	(*list_end)(void *arg, uint64_t worker);
	void	(*started)(void *arg, uint64_t worker,
		    const struct protocol_started *);
	/* To be answered by workers_ack when it is on disk.  May come again
	 * for a run that ended before (after a reconnect, from a spool). */
	void	(*ended)(void *arg, uint64_t worker,
		    const struct protocol_ended *);
	void	(*refused)(void *arg, uint64_t worker, uint64_t run_id,
		    enum protocol_refusal);
	/* The worker answers STOP or SIGNAL for a run it doesn't have. */
	void	(*unknown)(void *arg, uint64_t worker, uint64_t run_id);
	/* It is dead, and all its spool held has been given to ended.  What
	 * it still had has lost its worker.  To be answered by workers_forget when that
	 * is on disk. */
	void	(*dead)(void *arg, uint64_t worker);
	/* A child that is no worker has ended: it came to us from a dead
	 * one.  From within workers_reap.  May be NULL. */
	void	(*child_ended)(void *arg, pid_t, uint64_t starttime,
		    int status, const struct rusage *);
	/* At first attachment of every worker known at start: all lists are
	 * in, or given up on.  Once. */
	void	(*settled)(void *arg);
	void	*arg;
};

struct workers_options {
	struct event_base	*base;
	struct files		*files;		/* makes kits, reads spools */
	int			 program_fd;	/* the worker program, O_PATH */
	size_t			 count;		/* workers to keep */
	const char		*instance;
	uint64_t		 epoch;
	uint64_t		 next_number;	/* first free worker number */
	const char		*workers_dir;
	const struct workers_callbacks *callbacks;
	/* Numbers are used up: make next_number durable; arg is that of the
	 * callbacks.  May be NULL. */
	void			(*number_used)(void *arg, uint64_t next);
};

/*
 * The options are copied, base, files and program_fd are borrowed.  The
 * descriptor limit of this moment is what jobs get, so a daemon raises its
 * own afterwards.
 */
struct workers	*workers_new(const struct workers_options *);
/*
 * Takes over what an earlier daemon left (connects to the living, gives the
 * spools of the dead), then starts what is missing from kits made at once.
 */
int		 workers_begin(struct workers *,
		    const struct files_left_workers *,
		    const struct files_context *, struct error *err);
/* Closes connections; the workers live on with what they hold. */
void		 workers_free(struct workers *);

/*
 * Sends START to the attached worker with the fewest live runs.  False when
 * no worker takes more (none attached, or 32 unconfirmed on each).
 */
bool		 workers_start(struct workers *, const struct protocol_start *,
		    uint64_t *worker);
/* The same run to another worker than the one that refused. */
bool		 workers_start_elsewhere(struct workers *,
		    const struct protocol_start *, uint64_t not_this,
		    uint64_t *worker);
bool		 workers_can_start(const struct workers *);
/*
 * One that is not attached now gets the STOP when it is.  False when the
 * worker is dead, not ours, or not known.
 */
bool		 workers_stop_run(struct workers *, uint64_t worker,
		    uint64_t run_id);
/* False when that worker is not attached. */
bool		 workers_signal_run(struct workers *, uint64_t worker,
		    uint64_t run_id, int signal);
void		 workers_ack(struct workers *, uint64_t worker,
		    uint64_t run_id);
/* Removes what is left of a dead worker on disk. */
void		 workers_forget(struct workers *, uint64_t worker);
/* No new runs on any; each exits when it is empty. */
void		 workers_drain(struct workers *);
/* Writes what is queued; called once a turn before the store's flush. */
void		 workers_flush(struct workers *);
/* Reaps children; called on SIGCHLD. */
void		 workers_reap(struct workers *);
/* Whether that child of ours is a worker. */
bool		 workers_is_worker(const struct workers *, pid_t);
/* When the next deadline (an answer, a stuck worker) is; boottime us. */
int64_t		 workers_deadline(const struct workers *);
void		 workers_check_deadlines(struct workers *, struct boottime);

enum workers_state {
	WORKERS_ATTACHING, WORKERS_ATTACHED, WORKERS_STUCK, WORKERS_DEAD
};
struct workers_info {
	uint64_t		 number;
	pid_t			 pid;		/* 0: not known yet */
	enum workers_state	 state;
	size_t			 runs;		/* live runs sent or listed */
	size_t			 unconfirmed;	/* STARTs not answered yet */
};
size_t		 workers_count(const struct workers *);
void		 workers_info(const struct workers *, size_t i,
		    struct workers_info *);
const char	*workers_state_name(enum workers_state);
/*
 * Whether that worker may still hold runs that it has not told of.  False
 * for a number that is not in the table: nothing is left of it.
 */
bool		 workers_is_unsettled(const struct workers *, uint64_t worker);

#endif
