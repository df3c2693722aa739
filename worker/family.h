/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_WORKER_FAMILY_H
#define CRONCTL_WORKER_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"
#include "common/timestamp.h"

/*
 * The processes that belong to a run, read from /proc: all below its main
 * process, its process group, and, of what was left behind and came to us
 * (prctl(2), PR_SET_CHILD_SUBREAPER), whatever has CRONCTL_RUN_ID in its
 * environment, with all below it.  Best effort: a process that left group
 * and tree and changed its environment before the first look is not found.
 */
struct family;

struct family_options {
	/* Whether a child of ours is a run's main process. */
	bool	(*is_main)(void *arg, pid_t);
	/* A dead child of ours that is nobody's main process. */
	void	(*dead_orphan)(void *arg, pid_t);
	void	*arg;			/* handed to these */
};

/*
 * Members that were found outside the group, so that they are found again
 * when their parents are gone.  Zeroed at first; an object of the run.
 */
struct family_known {
	struct {
		pid_t	 pid;		/* who */
		uint64_t starttime;	/* and really that one */
	}	*v;
	size_t	 n;			/* in use */
	size_t	 cap;			/* allocated */
};
void		 family_known_release(struct family_known *);

struct family	*family_new(const struct family_options *);
void		 family_free(struct family *);

/*
 * Sends the signal to those processes of a run that are not in its main
 * process's group (0: only looks).  *left: how many live, group included,
 * main process (which may be a zombie) not.  One pass over /proc serves all
 * questions that accept its age: it is made again when it was made before
 * newer_than.
 */
int		 family_signal(struct family *, pid_t main_pid,
		    uint64_t run_id, struct family_known *,
		    struct monotime newer_than, int signum, size_t *left,
		    struct error *err);
/* Field 22 of /proc/PID/stat; 0 when there is no such process. */
uint64_t	 family_starttime(pid_t);

#endif
