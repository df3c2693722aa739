/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_ORPHANS_H
#define CRONCTL_ORPHANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "common/protocol.h"
#include "common/timestamp.h"

struct event_base;

/*
 * Runs whose worker is dead while their processes may live: watches these to
 * their end, tells how they ended as far as that can be known, and takes
 * them down the stop ladder.
 *
 *	child	a worker that this daemon started has died, so its children
 *		came to us (prctl(2), PR_SET_CHILD_SUBREAPER): their status is
 *		reaped like that of any child and matched by pid
 *	other	a worker of an earlier daemon: only the end can be seen
 *		(pidfd_open(2)), the run is lost then
 *	unknown	the worker had not told the pid: looked for among our children
 *		by CRONCTL_RUN_ID, best effort
 */
struct orphans;

struct orphans_options {
	struct event_base *base;	/* borrowed */
	/* The worker program, borrowed; -1: none.  A child of ours that runs
	 * it and is no worker is a run in preparation. */
	int	 program_fd;
	/* Have dead children reaped now (orphans_child_ended). */
	void	(*reap)(void *arg);
	/* Whether that child of ours is a worker. */
	bool	(*is_worker)(void *arg, pid_t);
	/* The pid of a run is known now; its command runs. */
	void	(*found)(void *arg, const struct protocol_started *);
	/* It is over; the tag says nothing but the run id.  Both come from
	 * the loop, never from within a call to this module. */
	void	(*ended)(void *arg, const struct protocol_ended *);
	void	*arg;			/* handed to these */
};

struct orphans_run {
	uint64_t	 run_id;
	pid_t		 pid;		/* 0: not known */
	uint64_t	 starttime;	/* of the pid */
	int64_t		 stop_at;	/* monotonic us: its timeout; or
					 * INT64_MAX */
	int64_t		 stop_grace;	/* us */
	int		 stop_signal;	/* first step of the ladder */
	bool		 stopping;	/* a stop was asked for before */
};

#define ORPHANS_KEPT		1024	/* statuses that nobody asked for yet */
#define ORPHANS_SEEK_US		(5 * USEC_PER_SEC) /* for unknown pids */

struct orphans	*orphans_new(const struct orphans_options *);
/* What it watches goes on. */
void		 orphans_free(struct orphans *);

/* False: that process is not there any more, and how it ended is unknown. */
bool		 orphans_take(struct orphans *, const struct orphans_run *);
/* Down the stop ladder.  False: no such run here. */
bool		 orphans_stop(struct orphans *, uint64_t run_id);
/* Just that signal, to its group.  False: no such run here. */
bool		 orphans_signal(struct orphans *, uint64_t run_id, int signum);
size_t		 orphans_count(const struct orphans *);

/* A child that is no worker has ended and was reaped. */
void		 orphans_child_ended(struct orphans *, pid_t,
		    uint64_t starttime, int status, const struct rusage *);

#endif
