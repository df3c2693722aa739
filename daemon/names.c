/* SPDX-License-Identifier: ISC */
/*
 * Names of users, asked of the name service on a thread of its own
 * (getpwuid_r(3)).  Answers, also "has none", are kept for a minute in a
 * small table.  A service that hangs holds up that thread; who asked is told
 * "not answered" after two seconds, and is not told again when the answer
 * comes at last.
 */
#include "config.h"

#include "daemon/names.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "common/timestamp.h"
#include "common/xmalloc.h"
#include "daemon/helper.h"

#define CACHE_MAX	256
#define CACHE_TIME	(60 * USEC_PER_SEC)
#define DEADLINE_MS	2000
#define QUEUE_MAX	1024
#define PASSWD_MAX	65536	/* bytes of one entry */
#define FAREWELL_MS	1000

struct answer {
	uid_t		 uid;
	char		*name;		/* NULL: has none */
	struct monotime	 at;
	bool		 used;		/* this slot holds one */
};

struct name_request {
	struct helper_request	 request;	/* first */
	uid_t			 uid;
	struct monotime		 asked;
	bool			 told;		/* the deadline has passed */
	char			*name;		/* what the thread found */
	bool			 answered;	/* it found out at all */
	void			(*done)(void *arg, const char *name,
				    bool answered);
	void			*arg;
	TAILQ_ENTRY(name_request) entry;	/* in names->asked */
};
TAILQ_HEAD(name_requests, name_request);

struct names {
	struct helper		*helper;
	struct name_requests	 asked;		/* not answered yet, oldest first */
	struct answer		 cache[CACHE_MAX];
};

/* True when the service has answered; *name is NULL if there is none. */
static bool
look_up(uid_t uid, char **name)
{
	char *buf = xmalloc(PASSWD_MAX);
	struct passwd pw, *found = NULL;
	int r;

	do
		r = getpwuid_r(uid, &pw, buf, PASSWD_MAX, &found);
	while (r == EINTR);
	*name = found != NULL ? xstrdup(found->pw_name) : NULL;
	free(buf);
	return found != NULL || r == 0 || r == ENOENT || r == ESRCH;
}

static void
work(void *state, struct helper_request *chain)
{
	(void)state;
	for (; chain != NULL; chain = chain->next) {
		struct name_request *r = (struct name_request *)chain;

		r->answered = look_up(r->uid, &r->name);
	}
}

/* --- on the loop --- */

static struct answer *
slot_of(struct names *n, uid_t uid)
{
	return &n->cache[uid % CACHE_MAX];
}

static void
remember(struct names *n, uid_t uid, const char *name)
{
	struct answer *a = slot_of(n, uid);

	free(a->name);
	*a = (struct answer){
		.uid = uid,
		.name = name != NULL ? xstrdup(name) : NULL,
		.at = monotime_now(),
		.used = true,
	};
}

static void	set_alarm(struct names *);

static void
on_answer(struct helper_request *request, void *arg)
{
	struct name_request *r = (struct name_request *)request;
	struct names *n = arg;

	if (r->answered)
		remember(n, r->uid, r->name);
	if (!r->told) {
		TAILQ_REMOVE(&n->asked, r, entry);
		r->done(r->arg, r->name, r->answered);
	}
	free(r->name);
	free(r);
	set_alarm(n);
}

static void
on_alarm(void *arg)
{
	struct names *n = arg;
	struct name_request *r;
	int64_t limit = monotime_now().us - DEADLINE_MS * USEC_PER_MSEC;

	while ((r = TAILQ_FIRST(&n->asked)) != NULL && r->asked.us <= limit) {
		TAILQ_REMOVE(&n->asked, r, entry);
		r->told = true;
		r->done(r->arg, NULL, false);
	}
	set_alarm(n);
}

/* For the oldest request that waits. */
static void
set_alarm(struct names *n)
{
	struct name_request *r = TAILQ_FIRST(&n->asked);
	int64_t left;

	if (r == NULL) {
		helper_set_alarm(n->helper, -1, on_alarm, n);
		return;
	}
	left = DEADLINE_MS - (monotime_now().us - r->asked.us) /
	    USEC_PER_MSEC;
	helper_set_alarm(n->helper, left > 0 ? (int)left : 0, on_alarm, n);
}

struct names *
names_new(struct event_base *base)
{
	struct names *n = xcalloc(1, sizeof *n);

	TAILQ_INIT(&n->asked);
	n->helper = helper_new("names", base, QUEUE_MAX, work, NULL);
	return n;
}

void
names_free(struct names *n)
{
	if (n == NULL)
		return;
	if (n->helper != NULL && !helper_free_within(n->helper, FAREWELL_MS))
		return;		/* hangs: keeps its requests for good */
	for (size_t i = 0; i < CACHE_MAX; i++)
		free(n->cache[i].name);
	free(n);
}

void
names_of_uid(struct names *n, uid_t uid,
    void (*done)(void *arg, const char *name, bool answered), void *arg)
{
	const struct answer *a = slot_of(n, uid);
	struct name_request *r;

	if (a->used && a->uid == uid &&
	    monotime_now().us - a->at.us < CACHE_TIME) {
		done(arg, a->name, true);
		return;
	}
	r = xcalloc(1, sizeof *r);
	r->request.done = on_answer;
	r->request.arg = n;
	r->uid = uid;
	r->asked = monotime_now();
	r->done = done;
	r->arg = arg;
	if (n->helper == NULL || !helper_submit(n->helper, &r->request)) {
		free(r);
		done(arg, NULL, false);
		return;
	}
	TAILQ_INSERT_TAIL(&n->asked, r, entry);
	set_alarm(n);
}

char *
names_of_uid_now(uid_t uid)
{
	char *name;

	look_up(uid, &name);
	return name;
}
