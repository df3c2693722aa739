/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_NAMES_H
#define CRONCTL_NAMES_H

#include <stdbool.h>
#include <sys/types.h>

struct event_base;

/*
 * The helper that asks the name service: uid to name.  Answers are kept for
 * 60 s; a request that the service has not answered after 2 s is answered
 * "not known" while the thread still waits, so that a hung name service
 * holds up one thread and nothing else.
 */
struct names;

struct names	*names_new(struct event_base *);
void		 names_free(struct names *);
/*
 * name is NULL when the user has none or the service didn't answer
 * (*answered tells which).  May call done at once, from the cache.
 */
void		 names_of_uid(struct names *, uid_t,
		    void (*done)(void *arg, const char *name, bool answered),
		    void *arg);
/* Start-up, before the loop: free(), or NULL. */
char		*names_of_uid_now(uid_t);

#endif
