/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_FAKE_WORKER_H
#define CRONCTL_FAKE_WORKER_H

#include <stdint.h>

/*
 * A worker that behaves as it is told, for what the real one never does.  It
 * speaks frames over the descriptors of enum PROTOCOL_FD_* and ends when it
 * has no connection and its role doesn't wait for another.
 */
enum fake_role {
	FAKE_GOOD,	/* answers all as it should */
	FAKE_SILENT,	/* reads and never answers */
	FAKE_SLEEPY,	/* answers nothing from the first START to a STOP */
	FAKE_SLOW,	/* never answers START, but everything else */
	FAKE_CRASH,	/* exits at once */
	FAKE_MISCOUNT,	/* its first list's count is wrong */
	FAKE_OWING,	/* its first list has an end that it doesn't tell */
	FAKE_BABBLE,	/* LIST_RUN out of place, once, after a START */
	FAKE_FUTURE,	/* a frame of a type that nobody knows, then good */
	FAKE_HANG_UP,	/* closes at the first START, keeps its lock; the next
			 * connection is told of nothing */
	FAKE_DENY,	/* denies */
	FAKE_STRANGE,	/* welcomes under another number */
	FAKE_ROLES
};

/* "good", "silent", ...; also the instance that asks for the role. */
const char	*fake_worker_name(enum fake_role);
/* Whose daemon is gone: waits for a connection.  Never returns. */
void		 fake_worker_left(enum fake_role, uint64_t number)
		    __attribute__((noreturn));
/* For a program that was started with a worker's arguments. */
void		 fake_worker_main(int argc, char **argv)
		    __attribute__((noreturn));

#endif
