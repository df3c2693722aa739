/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_LOGGER_H
#define CRONCTL_LOGGER_H

#include <stdint.h>

struct event_base;

/*
 * Where the daemon's log lines go: a bounded queue and a thread that writes
 * them to stderr, so that a reader that has gone to sleep blocks nothing.
 * When the queue is full, lines are dropped and counted; the next line that
 * finds room says how many.
 *
 * Form: plain lines ("2026-11-30T18:47:24Z info scheduler: ...") or, when
 * stderr is connected to the journal ($JOURNAL_STREAM), "<6>scheduler: ...".
 */
struct logger;

/* Installs itself as the log sink.  NULL when there is no thread to be had. */
struct logger	*logger_new(void);
/*
 * Writes what waits, 1 s at most.  No other thread may log any more.
 */
void		 logger_free(struct logger *);
/* Lines, since logger_new. */
uint64_t	 logger_dropped(const struct logger *);

#endif
