/* SPDX-License-Identifier: ISC */
/*
 * Names of users.  The name service is asked on a helper thread, one uid
 * after the other; what it says, a name or "none", is kept for a while.
 * An answer that did not come, or came as an error, is not kept.
 *
 * Everything but the look-up itself happens on the loop: the requests wait
 * in a list there in order of their deadlines, for which the helper's alarm
 * goes off.  A request that is answered by its deadline leaves the list; the
 * thread's answer, when it comes, then only fills the cache.
 */
#include "config.h"

#include "daemon/names.h"

#include <errno.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <unistd.h>

#include "common/timestamp.h"
#include "common/xmalloc.h"
#include "daemon/helper.h"

#define QUEUE_MAX	256	/* look-ups that wait */
#define CACHE_MAX	1024	/* answers kept */
#define KEEP_US		(60 * USEC_PER_SEC)
#define DEADLINE_US	(2 * USEC_PER_SEC)
#define LEAVE_MS	200	/* a thread that hangs is left behind */
#define RECORD_MAX	((size_t)1024 * 1024)	/* one entry of passwd */

struct lookup {
	struct helper_request	 request;	/* first; see helper.h */
	uid_t			 uid;		/* asked for */
	char			*name;		/* found, or NULL */
	bool			 answered;	/* the service knows */
	int64_t			 deadline;	/* boottime, us */
	/* Taken away once it was called. */
	void	(*done)(void *arg, const char *name, bool answered);
	void			*arg;		/* for done */
	TAILQ_ENTRY(lookup)	 waiting;	/* in names->waiting with done */
};
TAILQ_HEAD(lookup_list, lookup);

struct answer {
	uid_t			 uid;		/* of this user */
	char			*name;		/* NULL: has none */
	int64_t			 expires;	/* boottime, us */
	TAILQ_ENTRY(answer)	 by_age;	/* in names->answers */
};
TAILQ_HEAD(answer_list, answer);

struct names {
	struct helper		*helper;	/* the thread */
	struct lookup_list	 waiting;	/* oldest deadline first */
	struct answer_list	 answers;	/* oldest first */
	size_t			 n_answers;	/* of these */
};

/* --- the look-up, on the thread --- */

/* -1: the service gave no answer. */
static int
look_up(uid_t uid, char **name)
{
	struct passwd entry, *found = NULL;
	size_t size = 1024;
	char *buf = NULL;
	int rc;

	*name = NULL;
	do {
		size *= 2;
		buf = xreallocarray(buf, size, 1);
		do {
			rc = getpwuid_r(uid, &entry, buf, size, &found);
		} while (rc == EINTR);
	} while (rc == ERANGE && size < RECORD_MAX);
	if (rc == 0 && found != NULL)
		*name = xstrdup(found->pw_name);
	free(buf);
	/* Some services say "no such user" by these (getpwuid_r(3)). */
	if (rc == ENOENT || rc == ESRCH || rc == EBADF || rc == EPERM)
		return 0;
	return rc == 0 ? 0 : -1;
}

static void
work(void *state, struct helper_request *chain)
{
	(void)state;
	for (; chain != NULL; chain = chain->next) {
		struct lookup *l = (struct lookup *)(void *)chain;

		l->answered = look_up(l->uid, &l->name) == 0;
	}
}

/* --- the cache, on the loop --- */

static void
forget(struct names *n, struct answer *a)
{
	TAILQ_REMOVE(&n->answers, a, by_age);
	n->n_answers--;
	free(a->name);
	free(a);
}

/* All answers are kept equally long, so the oldest expire first. */
static struct answer *
find(struct names *n, uid_t uid)
{
	int64_t now = boottime_now().us;
	struct answer *a;

	while ((a = TAILQ_FIRST(&n->answers)) != NULL && a->expires <= now)
		forget(n, a);
	TAILQ_FOREACH(a, &n->answers, by_age)
		if (a->uid == uid)
			return a;
	return NULL;
}

static void
keep(struct names *n, uid_t uid, const char *name)
{
	struct answer *a = find(n, uid);

	if (a != NULL)
		forget(n, a);
	else if (n->n_answers == CACHE_MAX)
		forget(n, TAILQ_FIRST(&n->answers));
	a = xcalloc(1, sizeof *a);
	a->uid = uid;
	a->name = name != NULL ? xstrdup(name) : NULL;
	a->expires = boottime_now().us + KEEP_US;
	TAILQ_INSERT_TAIL(&n->answers, a, by_age);
	n->n_answers++;
}

/* --- requests, on the loop --- */

static void	on_deadline(void *arg);

static void
set_alarm(struct names *n)
{
	struct lookup *first = TAILQ_FIRST(&n->waiting);
	int64_t us;

	if (first == NULL) {
		helper_set_alarm(n->helper, -1, on_deadline, n);
		return;
	}
	us = first->deadline - boottime_now().us;
	helper_set_alarm(n->helper, us > 0 ? (int)(us / 1000) + 1 : 0,
	    on_deadline, n);
}

/* Tells the caller, once. */
static void
tell(struct names *n, struct lookup *l, const char *name, bool answered)
{
	void (*done)(void *, const char *, bool) = l->done;

	if (done == NULL)
		return;
	l->done = NULL;
	TAILQ_REMOVE(&n->waiting, l, waiting);
	done(l->arg, name, answered);
}

static void
on_deadline(void *arg)
{
	struct names *n = arg;
	int64_t now = boottime_now().us;
	struct lookup *l;

	while ((l = TAILQ_FIRST(&n->waiting)) != NULL && l->deadline <= now)
		tell(n, l, NULL, false);
	set_alarm(n);
}

static void
on_done(struct helper_request *request, void *arg)
{
	struct lookup *l = (struct lookup *)(void *)request;
	struct names *n = arg;

	if (l->answered)
		keep(n, l->uid, l->name);
	tell(n, l, l->name, l->answered);
	set_alarm(n);
	free(l->name);
	free(l);
}

struct names *
names_new(struct event_base *base)
{
	struct names *n = xcalloc(1, sizeof *n);

	TAILQ_INIT(&n->waiting);
	TAILQ_INIT(&n->answers);
	n->helper = helper_new("names", base, QUEUE_MAX, work, n);
	if (n->helper == NULL) {
		free(n);
		return NULL;
	}
	return n;
}

/* Who still waits when the thread hangs is not told any more. */
void
names_free(struct names *n)
{
	struct answer *a;

	if (n == NULL || !helper_free_within(n->helper, LEAVE_MS))
		return;
	while ((a = TAILQ_FIRST(&n->answers)) != NULL)
		forget(n, a);
	free(n);
}

void
names_of_uid(struct names *n, uid_t uid,
    void (*done)(void *, const char *, bool), void *arg)
{
	struct answer *known = find(n, uid);
	struct lookup *l;

	if (known != NULL) {
		done(arg, known->name, true);
		return;
	}
	l = xcalloc(1, sizeof *l);
	l->request.done = on_done;
	l->request.arg = n;
	l->uid = uid;
	l->done = done;
	l->arg = arg;
	l->deadline = boottime_now().us + DEADLINE_US;
	if (!helper_submit(n->helper, &l->request)) {
		/* So many wait that this one would miss its deadline. */
		free(l);
		done(arg, NULL, false);
		return;
	}
	TAILQ_INSERT_TAIL(&n->waiting, l, waiting);
	if (TAILQ_FIRST(&n->waiting) == l)
		set_alarm(n);
}

char *
names_of_uid_now(uid_t uid)
{
	char *name;

	return look_up(uid, &name) == 0 ? name : NULL;
}
