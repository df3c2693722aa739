/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_WORKER_SPAWN_H
#define CRONCTL_WORKER_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "common/error.h"
#include "common/protocol.h"

/*
 * Makes a run's main process and learns its end: the one place that forks,
 * executes and waits.
 *
 * The child tells the stage it is in through a byte of shared memory (read
 * only when it hangs, so a stage costs no system call) and a failure through
 * a close-on-exec pipe, whose end without a report means that the command
 * runs (stage EXEC) or that the child died before.
 */
struct spawner;

/* What a child gets back that the worker has changed for itself. */
struct spawn_limits {
	struct rlimit	 nofile;	/* as the daemon found it */
	int		 oom;		/* oom_score_adj; see proc(5) */
	bool		 has_nofile;	/* else it stays as it is */
	bool		 has_oom;	/* else it stays as it is */
};

/* What the child writes when a stage fails; at most PIPE_BUF (pipe(7)). */
struct spawn_report {
	int32_t		 stage;		/* enum protocol_stage */
	int32_t		 errnum;	/* errno, or 0 */
	char		 text[ERROR_MAX]; /* sentence */
};

struct spawn {
	pid_t		 pid;		/* also its session and group */
	uint64_t	 starttime;	/* /proc/PID/stat, field 22 */
	int		 report_fd;	/* read end, non-blocking */
	int		 output_fd;	/* read end, non-blocking; -1: none */
	size_t		 slot;		/* of the shared bytes */
};

/*
 * slots: how many children may be in preparation at once.  Signals that we
 * ignore now are the ones that a child has to stop ignoring.
 */
struct spawner	*spawner_new(const struct spawn_limits *, size_t slots,
		    struct error *err);
void		 spawner_free(struct spawner *);

/* Forks.  -1: no child, *errnum says why. */
int		 spawn_start(struct spawner *, const struct protocol_start *,
		    struct spawn *, int *errnum, struct error *err);
/* Where the child was when it was last heard of. */
enum protocol_stage spawn_stage(const struct spawner *, size_t slot);
/* The child has no more to tell. */
void		 spawn_release_slot(struct spawner *, size_t slot);
/* 1: a report, 0: the pipe's end, -1: nothing yet. */
int		 spawn_read_report(int fd, struct spawn_report *);

/* A child that has ended and was not reaped; 0: none. */
pid_t		 spawn_next_dead(void);
/* Whether that child has ended; it stays a zombie. */
bool		 spawn_is_dead(pid_t);
/* Takes its status away; -1: it is not there, or lives. */
int		 spawn_reap(pid_t, int *status, struct rusage *);

#endif
