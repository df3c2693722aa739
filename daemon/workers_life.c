/* SPDX-License-Identifier: ISC */
/*
 * What becomes of a worker: up, lost, found again, dead.
 *
 *	lost	the connection has ended.  The lock tells which it is:
 *		held	it lives: connect again, at once the first time, then
 *			after a delay that doubles (LOOK_FIRST_US to
 *			LOOK_MOST_US), so nothing turns in a circle
 *		free	it is dead: its spool is told as ends of runs, then
 *			its death; after that it is waited for to be forgotten
 *	stuck	it owes an answer for too long.  It gets no new runs; what it
 *		holds goes nowhere else until it answers or is dead
 *	foreign	it denied us: another instance's.  It is left alone; that one
 *		we have started ourselves denies us is a failed start
 *
 * The lock is asked for by the files helper; the answer may come after the
 * table is gone, so a question knows its table and not the worker.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/log.h"
#include "common/xmalloc.h"
#include "daemon/workers_internal.h"

#define LOOK_FIRST_US	(20 * USEC_PER_MSEC)
#define LOOK_MOST_US	(60 * USEC_PER_SEC)
#define LOOK_DOUBLINGS	12
#define STEADY_US	(60 * USEC_PER_SEC)	/* up: a loss is the first */
#define YOUNG_US	(10 * USEC_PER_SEC)	/* dead before: a failure */

#define NAME_MAX_LEN	64

static void
name_of(const struct workers_one *one, char text[NAME_MAX_LEN])
{
	if (one->pid > 0)
		snprintf(text, NAME_MAX_LEN, "worker %llu (pid %ld)",
		    (unsigned long long)one->number, (long)one->pid);
	else
		snprintf(text, NAME_MAX_LEN, "worker %llu",
		    (unsigned long long)one->number);
}

/* --- looking whether it lives --- */

static void
look_later(struct workers_one *one, int64_t now)
{
	int64_t delay = one->tries < LOOK_DOUBLINGS ?
	    LOOK_FIRST_US << one->tries : LOOK_MOST_US;

	one->look_at = now + (delay < LOOK_MOST_US ? delay : LOOK_MOST_US);
	one->tries++;
}

static void
on_found(void *arg, struct files_left_worker *left)
{
	struct workers_ask *ask = arg, **link;
	struct workers *ws = ask->owner;
	struct workers_one *one;

	if (ws != NULL) {
		for (link = &ws->asks; *link != ask; link = &(*link)->next)
			continue;
		*link = ask->next;
	}
	one = ws == NULL ? NULL : workers_find(ws, ask->number);
	free(ask);
	if (one == NULL || one->dead)
		return;
	one->finding = false;
	if (left->alive && one->foreign)
		return;
	if (!left->alive) {
		workers_life_dead(one, left->spool, left->spool_len);
		left->spool = NULL;
	} else if (one->phase == WORKERS_DOWN && one->exited) {
		/* One of its children still has the lock. */
		look_later(one, boottime_now().us);
	} else if (one->phase == WORKERS_DOWN) {
		workers_life_connect(one);
	}
}

static void
look(struct workers_one *one, int64_t now)
{
	struct workers_ask *ask;

	one->look_at = WORKERS_NEVER;
	if (one->finding)
		return;
	ask = xmalloc(sizeof(*ask));
	*ask = (struct workers_ask){ one->owner, one->number,
		one->owner->asks };
	if (!files_find_worker(one->owner->files, one->number, on_found,
	    ask)) {
		free(ask);
		look_later(one, now);
		return;
	}
	one->owner->asks = ask;
	one->finding = true;
}

void
workers_life_forget_asks(struct workers *ws)
{
	struct workers_ask *ask;

	while ((ask = ws->asks) != NULL) {
		ws->asks = ask->next;
		ask->owner = NULL;
	}
}

void
workers_life_connect(struct workers_one *one)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	char *path = xasprintf("%s/%llu.sock", one->owner->workers_dir,
	    (unsigned long long)one->number);
	size_t len = strlen(path);
	int fd;

	if (len < sizeof(name.sun_path))
		memcpy(name.sun_path, path, len + 1);
	free(path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && len < sizeof(name.sun_path) &&
	    connect(fd, (struct sockaddr *)&name, sizeof(name)) == 0) {
		workers_life_expect(one, boottime_now().us);
		workers_link_open(one, fd);
		return;
	}
	log_debug("workers", "worker %llu lives, but can't be connected: %s",
	    (unsigned long long)one->number, strerrordesc_np(errno));
	if (fd >= 0)
		close(fd);
	look_later(one, boottime_now().us);
}

/* --- what happens to it --- */

void
workers_life_expect(struct workers_one *one, int64_t now)
{
	if (one->up_by == WORKERS_NEVER && !one->stuck)
		one->up_by = now + WORKERS_LIST_US;
}

void
workers_life_lost(struct workers_one *one)
{
	int64_t now = boottime_now().us;

	workers_link_close(one);
	if (one->up_since != WORKERS_NEVER &&
	    now - one->up_since >= STEADY_US)
		one->tries = 0;
	one->up_since = WORKERS_NEVER;
	workers_life_expect(one, now);
	if (one->tries == 0) {
		one->tries = 1;
		look(one, now);
	} else {
		look_later(one, now);
	}
}

void
workers_life_exited(struct workers_one *one)
{
	one->is_child = false;
	one->exited = true;
	if (one->look_at != WORKERS_NEVER || one->foreign)
		look(one, boottime_now().us);
}

void
workers_life_foreign(struct workers_one *one, const char *why)
{
	char quoted[ERROR_QUOTE_MAX];

	log_error("workers", "worker %llu is not ours and is left alone: %s",
	    (unsigned long long)one->number,
	    error_quote(quoted, why, strlen(why)));
	workers_link_close(one);
	one->foreign = true;
	one->settled = true;
	one->up_by = one->look_at = WORKERS_NEVER;
	if (one->is_spawned)
		workers_spawn_failed(one->owner, boottime_now().us, false);
	workers_tell_soon(one->owner);
}

/* More than wanted live: those of an earlier daemon with a larger table. */
static bool
is_surplus(const struct workers_one *one)
{
	return !one->draining && workers_live(one->owner) > one->owner->count;
}

void
workers_life_up(struct workers_one *one)
{
	char name[NAME_MAX_LEN];

	one->phase = WORKERS_UP;
	one->up_since = boottime_now().us;
	one->up_by = WORKERS_NEVER;
	one->was_up = one->settled = true;
	if (one->is_spawned)
		one->owner->failure_said = false;
	if (one->stuck) {
		one->stuck = false;
		log_info("workers", "worker %llu answers again",
		    (unsigned long long)one->number);
	}
	if (is_surplus(one))
		one->draining = true;
	strbuf_add(&one->out, one->later.buf, one->later.len);
	strbuf_reset(&one->later);
	if (one->draining)
		protocol_encode_numbers(&one->out, PROTOCOL_DRAIN, 0, 0);
	name_of(one, name);
	log_debug("workers", "%s is attached%s, %zu runs", name,
	    one->draining ? " to be drained" : "", one->runs.n);
	workers_tell_soon(one->owner);
}

/* Whether a death says that the next one may fare no better. */
static bool
is_failure(const struct workers_one *one, int64_t now)
{
	return one->is_spawned && !one->draining && !one->foreign &&
	    (!one->was_up || now - one->born < YOUNG_US);
}

void
workers_life_dead(struct workers_one *one, char *spool, size_t len)
{
	struct workers *ws = one->owner;
	int64_t now = boottime_now().us;

	workers_link_close(one);
	one->dead = true;
	one->stuck = false;
	one->spool = spool;
	one->spool_len = len;
	one->up_by = one->look_at = WORKERS_NEVER;
	if (is_failure(one, now))
		workers_spawn_failed(ws, now, one->was_up);
	else if (one->was_up)
		ws->failures = 0;
	workers_tell_soon(ws);
}

/* --- deadlines --- */

int64_t
workers_life_deadline(const struct workers_one *one)
{
	int64_t first = one->up_by < one->look_at ? one->up_by : one->look_at;
	int64_t next;

	if (one->n_unconfirmed == 0)
		return first;
	next = WORKERS_NEVER;
	if (one->ping_sent == WORKERS_NEVER)
		next = one->unconfirmed[0].sent + WORKERS_PING_US;
	else if (!one->stuck)
		next = one->unconfirmed[0].sent + WORKERS_ANSWER_US;
	return next < first ? next : first;
}

static void
check_unconfirmed(struct workers_one *one, int64_t now)
{
	int64_t age;

	if (one->n_unconfirmed == 0)
		return;
	age = now - one->unconfirmed[0].sent;
	if (one->ping_sent == WORKERS_NEVER && age >= WORKERS_PING_US)
		workers_link_ping(one, now);
	if (one->stuck || age < WORKERS_ANSWER_US)
		return;
	one->stuck = true;
	log_warning("workers", "worker %llu has not answered for %lld ms: it "
	    "gets no new runs until it does", (unsigned long long)one->number,
	    (long long)(age / USEC_PER_MSEC));
}

void
workers_life_check(struct workers_one *one, int64_t now)
{
	char name[NAME_MAX_LEN];

	if (one->dead || one->foreign)
		return;
	if (now >= one->up_by) {
		one->up_by = WORKERS_NEVER;
		one->stuck = one->settled = true;
		name_of(one, name);
		log_warning("workers", "%s has not told within %lld s what it "
		    "holds: it gets no new runs until it does", name,
		    (long long)(WORKERS_LIST_US / USEC_PER_SEC));
		workers_tell_soon(one->owner);
	}
	if (now >= one->look_at)
		look(one, now);
	check_unconfirmed(one, now);
}

/* --- telling --- */

static void
tell_ended(void *arg, const struct protocol_ended *ended)
{
	struct workers_one *one = arg;
	const struct workers_callbacks *cb = &one->owner->callbacks;

	cb->ended(cb->arg, one->number, ended);
}

static void
tell_dead(struct workers_one *one)
{
	const struct workers_callbacks *cb = &one->owner->callbacks;
	bool damaged = false;
	char name[NAME_MAX_LEN];
	size_t n = 0;

	if (one->spool != NULL)
		n = protocol_spool_read(one->spool, one->spool_len, tell_ended,
		    one, &damaged);
	if (damaged)
		log_error("workers", "the spool of worker %llu is damaged "
		    "behind %zu results", (unsigned long long)one->number, n);
	free(one->spool);
	one->spool = NULL;
	name_of(one, name);
	if (one->was_up && !one->draining)
		log_warning("workers", "%s is dead; %zu results that it kept "
		    "were taken, runs that were not over are watched to their "
		    "end", name, n);
	else
		log_debug("workers", "%s is dead, %zu results kept", name, n);
	one->runs.n = 0;
	one->settled = one->dead_told = true;
	cb->dead(cb->arg, one->number);
}

static void
tell_settled(struct workers *ws)
{
	if (!ws->begun || ws->settled_told)
		return;
	for (size_t i = 0; i < ws->n; i++) {
		if (ws->v[i]->known_at_start && !ws->v[i]->settled)
			return;
	}
	ws->settled_told = true;
	ws->callbacks.settled(ws->callbacks.arg);
}

/* The table may change with each callback, so it is searched each time. */
static struct workers_one *
find_untold(const struct workers *ws)
{
	for (size_t i = 0; i < ws->n; i++) {
		if (ws->v[i]->dead && !ws->v[i]->dead_told)
			return ws->v[i];
	}
	return NULL;
}

void
workers_life_tell(struct workers *ws)
{
	struct workers_one *one;

	while ((one = find_untold(ws)) != NULL)
		tell_dead(one);
	workers_spawn_missing(ws, boottime_now().us);
	tell_settled(ws);
}
