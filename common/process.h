/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_PROCESS_H
#define CRONCTL_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A process as /proc shows it (proc(5)).  Two numbers name one for good
 * within a boot: its pid and its start time.
 */
struct process_stat {
	pid_t	 ppid;		/* parent */
	pid_t	 pgrp;		/* process group */
	pid_t	 session;	/* session */
	uint64_t starttime;	/* clock ticks since boot; field 22 */
	bool	 dead;		/* a zombie, with all its threads */
};

/* -1: there is no such process (any more), or /proc doesn't tell. */
int	 process_read(pid_t, struct process_stat *);
/* CRONCTL_RUN_ID in the environment it was started with, or 0. */
uint64_t process_run_id(pid_t);

#endif
