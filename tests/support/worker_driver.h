/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_TESTS_WORKER_DRIVER_H
#define CRONCTL_TESTS_WORKER_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "common/frame.h"
#include "common/protocol.h"
#include "common/strbuf.h"

/*
 * A daemon's part, played for the real worker program: starts it with its
 * descriptors in a directory of its own, speaks frames with it.  Whatever
 * goes wrong, or does not come within DRIVER_WAIT_MS, fails the test.
 *
 * The program is $CRONCTL_WORKER_PROGRAM, else ./cronctl-worker.
 */
#define DRIVER_WAIT_MS	10000
#define DRIVER_INSTANCE	"test-instance"
#define DRIVER_NUMBER	7
#define DRIVER_EPOCH	5

struct driver {
	char		 dir[64];	/* socket, lock, output/, spool/ */
	pid_t		 pid;		/* the worker; 0: ended */
	int		 conn;		/* to it; -1: closed */
	int		 output;	/* directory */
	int		 spool;		/* directory */
	struct strbuf	 in;		/* read from conn */
	size_t		 used;		/* of it, by the last frame */
};

/* Worker started, and its connection not used yet. */
void	driver_init(struct driver *);
/* The same with limits of descriptors for the worker itself. */
void	driver_init_limited(struct driver *, const struct rlimit *nofile);
/* HELLO was said and WELCOME came. */
void	driver_init_welcomed(struct driver *);
/* The worker ends (by SIGTERM if need be), the directory goes. */
void	driver_release(struct driver *);

void	driver_send(struct driver *, const struct strbuf *);
void	driver_send_numbers(struct driver *, enum protocol_type, uint64_t,
	    uint64_t);
void	driver_send_start(struct driver *, const struct protocol_start *);
void	driver_send_hello(struct driver *, const char *instance,
	    uint64_t epoch);
/* The next frame, borrowed until the next call; any type. */
struct frame driver_receive(struct driver *);
/* The next frame, which must be of that type. */
struct frame driver_expect(struct driver *, enum protocol_type);
/* Nothing but the end comes. */
void	driver_expect_close(struct driver *);
void	driver_close(struct driver *);
/* A new connection through the worker's socket. */
void	driver_connect(struct driver *);
/* It ends of itself; gives its wait status. */
int	driver_wait(struct driver *);
bool	driver_lock_is_free(struct driver *);

/* A START that runs a command as ourselves and keeps 1 MiB. */
void	driver_template(struct protocol_start *, uint64_t run_id,
	    const char *command);
/* Sends it and takes STARTED (if any) and ENDED, which it acknowledges. */
void	driver_run(struct driver *, const struct protocol_start *,
	    struct protocol_ended *);
/* Waits for ENDED of any run; other frames are passed over. */
void	driver_wait_ended(struct driver *, struct protocol_ended *);
void	driver_wait_started(struct driver *, struct protocol_started *);
/* Appends the joined output of a run. */
void	driver_output(struct driver *, uint64_t run_id, struct strbuf *);

/* Waits for a file in the driver's directory that is not empty. */
void	driver_wait_file(struct driver *, const char *name, struct strbuf *);
/* Waits until no such process is left (a zombie is none). */
void	driver_wait_gone(pid_t);
bool	driver_is_alive(pid_t);
/* Waits until the worker has no children, zombies neither. */
void	driver_wait_childless(struct driver *);
void	driver_pause(void);

#endif
