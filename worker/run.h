/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_WORKER_RUN_H
#define CRONCTL_WORKER_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"
#include "common/protocol.h"
#include "common/timestamp.h"
#include "worker/output.h"
#include "worker/poller.h"
#include "worker/spawn.h"

/*
 * One run from its fork to its result:
 *
 *	PREPARING -> RUNNING -> [STOPPING] -> over
 *	PREPARING -> over (start_failed)
 *
 * It ends when its main process ends, whoever else holds its output, except
 * that a stop ladder is walked to its end first: until then the main process
 * stays a zombie, so that its number, which is also the group's, can't be
 * given away.  Then its output is brought to the files, for OUTPUT_WAIT_US
 * at most, and then it is over; the owner takes its result and frees it.
 */
struct run;

/* What all runs of a worker share; outlives them. */
struct run_host {
	struct poller	*poller;	/* waits for their descriptors */
	struct spawner	*spawner;	/* makes their processes */
	struct output	*output;	/* writes their files */
	struct leftover	*leftover;	/* takes their pipes */
	struct family	*family;	/* knows their processes */
	/* The command runs: STARTED may be sent. */
	void		(*started)(void *arg, struct run *);
	void		*arg;		/* handed to that */
};

#define RUN_OUTPUT_WAIT_US	(1 * USEC_PER_SEC)	/* for the disk */
#define RUN_GONE_WAIT_US	(800 * USEC_PER_MSEC)	/* after KILL */

/*
 * Forks.  If that fails, the run is over at once, with a result that says
 * so.  Copies what it needs of the START.
 */
struct run	*run_new(const struct run_host *,
		    const struct protocol_start *);
/* A run that isn't over keeps its processes; nobody will reap them. */
void		 run_free(struct run *);

uint64_t	 run_id(const struct run *);
/* 0: never forked, or reaped. */
pid_t		 run_pid(const struct run *);
bool		 run_is_over(const struct run *);
/* Its main process is kept as a zombie. */
bool		 run_holds_zombie(const struct run *);
enum protocol_run_state run_state(const struct run *);
void		 run_list(const struct run *, struct protocol_list_run *);
/* False: its command doesn't run yet. */
bool		 run_started(const struct run *, struct protocol_started *);
/* Of a run that is over; borrowed from it. */
const struct protocol_ended *run_result(const struct run *);

/* Down the stop ladder; the first to ask is recorded. */
void		 run_stop(struct run *, enum protocol_stopper);
/* Just this signal to its group; put off until the command runs. */
void		 run_signal(struct run *, int signum);
/* Its main process has ended and waits to be reaped. */
void		 run_main_dead(struct run *);
/* A child of ours ended: has it lost a straggler? */
void		 run_child_dead(struct run *);
/* The writer has news. */
void		 run_output_news(struct run *);
/* When run_tick wants to be called; POLLER_NEVER: not at all. */
struct monotime	 run_deadline(const struct run *);
void		 run_tick(struct run *, struct monotime now);

#endif
