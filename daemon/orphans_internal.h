/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_ORPHANS_INTERNAL_H
#define CRONCTL_ORPHANS_INTERNAL_H

#include <sys/queue.h>

#include "daemon/orphans.h"

/*
 * What the files of this module share:
 *
 *	orphans.c	watching, ends, the stop ladder, time
 *	orphans_seek.c	looking for a run whose pid is not known
 */
#define ORPHANS_NEVER		INT64_MAX
#define ORPHANS_SEEK_FIRST_US	(20 * USEC_PER_MSEC)

struct event;

enum orphan_phase { ORPHAN_SEEKING, ORPHAN_ALIVE, ORPHAN_DEAD, ORPHAN_OVER };

struct orphan {
	struct orphans	*owner;		/* the table it is in */
	struct orphans_run run;		/* as given */
	enum orphan_phase phase;
	int		 pidfd;		/* ALIVE; -1: none */
	struct event	*readable;	/* of pidfd */
	bool		 stopping;	/* in the ladder */
	bool		 killed;	/* its last step was made */
	int64_t		 kill_at;	/* monotonic us: the last step */
	int64_t		 gone_at;	/* not even KILL helped: enough */
	int64_t		 look_at;	/* when to look at it */
	unsigned	 looks;		/* at it dead and nobody's */
	int64_t		 taken;		/* since when it is here */
	struct protocol_ended end;	/* as far as known */
	TAILQ_ENTRY(orphan) all;	/* in the table */
};
TAILQ_HEAD(orphan_list, orphan);

/* A status that nobody has asked for yet. */
struct orphans_kept {
	pid_t		 pid;		/* 0: free place */
	uint64_t	 starttime;
	int		 status;	/* wait(2) */
	struct rusage	 usage;
	int64_t		 ended;		/* wall us */
};

struct orphans {
	struct orphans_options options;
	struct orphan_list list;	/* in the order they came */
	struct event	*timer;		/* for the next thing due */
	int64_t		 seek_at;	/* monotonic us; or ORPHANS_NEVER */
	int64_t		 seek_delay;	/* us; doubles */
	struct orphans_kept	*kept;		/* ORPHANS_KEPT; made late */
	size_t		 kept_next;	/* place for the next */
};

/* --- orphans.c --- */
struct orphan *orphans_find(const struct orphans *, uint64_t run_id);
/* The one whose main process that is, and lives. */
struct orphan *orphans_find_pid(const struct orphans *, pid_t);
/* Its pid and start time are known.  False: it is not there. */
bool	orphans_watch(struct orphan *);
/* How it ended can't be known; why is not copied. */
void	orphans_end_unknown(struct orphan *, const char *why);

/* --- orphans_seek.c --- */
/* One look for all that are sought; sets seek_at. */
void	orphans_seek(struct orphans *, int64_t now);

#endif
