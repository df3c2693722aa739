/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_WORKERS_INTERNAL_H
#define CRONCTL_WORKERS_INTERNAL_H

#include <sys/resource.h>

#include "common/strbuf.h"
#include "daemon/workers.h"

struct event;

/*
 * What the files of this module share:
 *
 *	workers.c	the table, choosing, what the rest of the daemon calls
 *	workers_link.c	a connection: frames in and out, by a state table
 *	workers_life.c	connecting, losing, dying, and what follows
 *	workers_spawn.c	processes: starting and reaping them
 */
#define WORKERS_NEVER		INT64_MAX
#define WORKERS_UNCONFIRMED_MAX	32
#define WORKERS_LIST_US		(5 * USEC_PER_SEC)	/* to tell all */
#define WORKERS_PING_US		(250 * USEC_PER_MSEC)	/* then we ask */
#define WORKERS_ANSWER_US	(1 * USEC_PER_SEC)	/* then it is stuck */

/* A connection, as far as frames are concerned. */
enum workers_phase {
	WORKERS_DOWN,		/* there is none */
	WORKERS_GREETING,	/* HELLO sent, WELCOME awaited */
	WORKERS_LISTING,	/* LIST sent, LIST_END awaited */
	WORKERS_UP,		/* all it holds is known */
	WORKERS_PHASES
};

/* What a frame from a worker leads to. */
enum workers_action {
	WORKERS_BAD = 0,	/* has no place here: the connection goes */
	WORKERS_IGNORE,
	WORKERS_WELCOME, WORKERS_DENY, WORKERS_LISTED, WORKERS_LIST_END,
	WORKERS_STARTED, WORKERS_REFUSED, WORKERS_ENDED, WORKERS_UNKNOWN,
	WORKERS_PONG
};

/* Run ids in ascending order; new ones mostly go to the end. */
struct workers_ids {
	uint64_t	*v;		/* sorted, each once */
	size_t		 n;		/* of these */
	size_t		 cap;		/* allocated */
};

/* A START that nothing was heard of yet. */
struct workers_unconfirmed {
	uint64_t	 run_id;
	int64_t		 sent;		/* boottime us */
};

struct workers_one {
	struct workers	*owner;		/* the table it is in */
	uint64_t	 number;	/* its name */
	pid_t		 pid;		/* 0: not known */
	bool		 is_child;	/* ours, and not reaped yet */
	bool		 is_spawned;	/* by this daemon; else taken over */
	bool		 exited;	/* was ours, and was reaped */
	bool		 was_up;	/* it has listed once */
	int64_t		 born;		/* when it came here; boottime us */

	enum workers_phase phase;	/* of the connection */
	int		 fd;		/* -1: none */
	struct event	*readable;	/* of fd */
	struct event	*writable;	/* of fd; added while out waits */
	struct strbuf	 in;		/* not whole frames yet */
	struct strbuf	 out;		/* to be sent */
	struct strbuf	 later;		/* frames for when it is up again */
	bool		 deaf;		/* can't be written to any more */

	bool		 known_at_start; /* settling waits for it */
	bool		 settled;	/* has told, is dead, or is given up */
	bool		 foreign;	/* it denied us: left alone */
	bool		 draining;	/* takes no new runs */
	bool		 stuck;		/* an answer is overdue */
	bool		 dead;		/* its lock is free */
	bool		 dead_told;	/* callbacks.dead was called */
	bool		 finding;	/* files_find_worker is on its way */

	int64_t		 up_by;		/* to have listed; boottime us */
	int64_t		 look_at;	/* when to look after it; or never */
	int64_t		 up_since;	/* boottime us; NEVER: is not */
	unsigned int	 tries;		/* looks in a row without success */
	size_t		 n_listed;	/* LIST_RUN frames of this list */
	size_t		 n_owed;	/* of these ended, ENDED still due */

	struct workers_ids runs;	/* live ones */
	struct workers_unconfirmed unconfirmed[WORKERS_UNCONFIRMED_MAX];
	size_t		 n_unconfirmed;	/* oldest first */
	uint64_t	 ping;		/* number of the last PING */
	int64_t		 ping_sent;	/* boottime us; NEVER: none is open */

	char		*spool;		/* of the dead: not told yet */
	size_t		 spool_len;	/* its bytes */
};

/* A question to the files helper, which may outlive the table. */
struct workers_ask {
	struct workers	*owner;		/* NULL: the table is gone */
	uint64_t	 number;	/* of the worker */
	struct workers_ask *next;	/* all open ones */
};

struct workers {
	struct event_base	*base;
	struct files		*files;
	int			 program_fd;
	size_t			 count;		/* workers to keep */
	char			*instance;
	uint64_t		 epoch;
	uint64_t		 next_number;
	char			*workers_dir;
	struct workers_callbacks callbacks;
	void			(*number_used)(void *arg, uint64_t next);
	char			*nofile;	/* "SOFT:HARD" for --nofile */
	char			*oom;		/* for --oom */

	struct workers_one	**v;		/* the table, by number */
	size_t			 n;		/* of these */
	size_t			 cap;		/* allocated */
	struct event		*deferred;	/* runs workers_tell soon */
	struct workers_ask	*asks;		/* open questions */

	bool			 begun;		/* workers_begin was called */
	bool			 settled_told;	/* callbacks.settled was */
	bool			 draining;	/* nothing new is started */
	struct files_worker_kit	 spare;		/* for the next worker */
	bool			 has_spare;	/* spare is one */
	bool			 asking_spare;	/* one is being made */
	int64_t			 spawn_at;	/* not before; boottime us */
	unsigned int		 failures;	/* workers that came to nothing,
						 * in a row */
	bool			 failure_said;	/* in the log, once */
};

/* --- workers.c --- */
struct workers_one *workers_find(const struct workers *, uint64_t number);
struct workers_one *workers_add(struct workers *, uint64_t number);
/* Frees it; it must be in the table. */
void	workers_remove(struct workers *, struct workers_one *);
/* Those that live and may be given runs, now or soon. */
size_t	workers_live(const struct workers *);
void	workers_ids_add(struct workers_ids *, uint64_t);
void	workers_ids_remove(struct workers_ids *, uint64_t);
/* What may not be told from within a call is told soon, from the loop. */
void	workers_tell_soon(struct workers *);

/* --- workers_link.c --- */
enum workers_action workers_link_action(enum workers_phase, uint8_t type);
/* Takes the descriptor and says HELLO. */
void	workers_link_open(struct workers_one *, int fd);
/* Without a word; what was not sent is dropped. */
void	workers_link_close(struct workers_one *);
/* Sends what the socket takes. */
void	workers_link_flush(struct workers_one *);
void	workers_link_start(struct workers_one *, const struct protocol_start *);
/* Asks whether it still reads. */
void	workers_link_ping(struct workers_one *, int64_t now);

/* --- workers_life.c --- */
/* The connection has ended, everything it brought was handled. */
void	workers_life_lost(struct workers_one *);
/* It denied us, or is another than it should be: left alone from now on. */
void	workers_life_foreign(struct workers_one *, const char *why);
/* It has listed all it holds. */
void	workers_life_up(struct workers_one *);
/* It must be up before long; else it counts as stuck. */
void	workers_life_expect(struct workers_one *, int64_t now);
/* Connects to the socket of a worker that lives. */
void	workers_life_connect(struct workers_one *);
/* Its process has ended. */
void	workers_life_exited(struct workers_one *);
/* Its lock is free; takes the spool. */
void	workers_life_dead(struct workers_one *, char *spool, size_t len);
int64_t	workers_life_deadline(const struct workers_one *);
void	workers_life_check(struct workers_one *, int64_t now);
/* Tells what workers_tell_soon has put off. */
void	workers_life_tell(struct workers *);
void	workers_life_forget_asks(struct workers *);

/* --- workers_spawn.c --- */
/* Limits as they are now, for the workers' arguments. */
void	workers_spawn_init(struct workers *);
void	workers_spawn_release(struct workers *);
/* Starts what is missing, as far as kits are there and the delay is over. */
void	workers_spawn_missing(struct workers *, int64_t now);
/* The same at start, with kits made at once. */
int	workers_spawn_first(struct workers *, const struct files_context *,
	    struct error *err);
/* A worker came to nothing (died young): the next one waits. */
void	workers_spawn_failed(struct workers *, int64_t now, bool at_once);
int64_t	workers_spawn_deadline(const struct workers *);

#endif
