/* SPDX-License-Identifier: ISC */
/*
 * The table of workers, the choice among them, and the calls of the rest of
 * the daemon.
 *
 * What workers tell reaches the callbacks from events of the loop only: bytes
 * that came (workers_link.c), and what deferred has put off, because it came
 * to light in a call from outside.  A callback may call anything of
 * workers.h but workers_free.
 *
 * Invariant: a worker that is up has told all it holds, so a run that was
 * sent to it and is neither in runs nor ended was never started.
 *
 * Cost: choosing looks at each worker; there are few.
 */
#include "config.h"

#include "daemon/workers.h"

#include <assert.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/xmalloc.h"
#include "daemon/workers_internal.h"

/* --- sets of run ids --- */

/* Index of the id, or where it would go. */
static size_t
ids_place(const struct workers_ids *ids, uint64_t id)
{
	size_t low = 0, high = ids->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (ids->v[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void
workers_ids_add(struct workers_ids *ids, uint64_t id)
{
	size_t i = ids_place(ids, id);

	if (i < ids->n && ids->v[i] == id)
		return;
	if (ids->n == ids->cap) {
		ids->cap = ids->cap * 2 + 16;
		ids->v = xreallocarray(ids->v, ids->cap, sizeof(*ids->v));
	}
	memmove(ids->v + i + 1, ids->v + i, (ids->n - i) * sizeof(*ids->v));
	ids->v[i] = id;
	ids->n++;
}

void
workers_ids_remove(struct workers_ids *ids, uint64_t id)
{
	size_t i = ids_place(ids, id);

	if (i == ids->n || ids->v[i] != id)
		return;
	ids->n--;
	memmove(ids->v + i, ids->v + i + 1, (ids->n - i) * sizeof(*ids->v));
}

/* --- the table --- */

struct workers_one *
workers_find(const struct workers *ws, uint64_t number)
{
	for (size_t i = 0; i < ws->n; i++) {
		if (ws->v[i]->number == number)
			return ws->v[i];
	}
	return NULL;
}

struct workers_one *
workers_add(struct workers *ws, uint64_t number)
{
	struct workers_one *one = xcalloc(1, sizeof(*one));
	size_t i = ws->n;

	one->owner = ws;
	one->number = number;
	one->fd = -1;
	one->up_by = one->look_at = one->up_since = WORKERS_NEVER;
	one->ping_sent = WORKERS_NEVER;
	one->born = boottime_now().us;
	strbuf_init(&one->in);
	strbuf_init(&one->out);
	strbuf_init(&one->later);
	if (ws->n == ws->cap) {
		ws->cap = ws->cap * 2 + 8;
		ws->v = xreallocarray(ws->v, ws->cap, sizeof(*ws->v));
	}
	for (; i > 0 && ws->v[i - 1]->number > number; i--)
		ws->v[i] = ws->v[i - 1];
	ws->v[i] = one;
	ws->n++;
	return one;
}

static void
free_one(struct workers_one *one)
{
	workers_link_close(one);
	strbuf_release(&one->in);
	strbuf_release(&one->out);
	strbuf_release(&one->later);
	free(one->runs.v);
	free(one->spool);
	free(one);
}

void
workers_remove(struct workers *ws, struct workers_one *one)
{
	size_t i = 0;

	while (ws->v[i] != one)
		i++;
	ws->n--;
	memmove(ws->v + i, ws->v + i + 1, (ws->n - i) * sizeof(*ws->v));
	free_one(one);
}

size_t
workers_live(const struct workers *ws)
{
	size_t n = 0;

	for (size_t i = 0; i < ws->n; i++)
		n += !ws->v[i]->dead && !ws->v[i]->foreign &&
		    !ws->v[i]->draining;
	return n;
}

static void
on_deferred(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	workers_life_tell(arg);
}

void
workers_tell_soon(struct workers *ws)
{
	event_active(ws->deferred, EV_TIMEOUT, 0);
}

struct workers *
workers_new(const struct workers_options *options)
{
	struct workers *ws = xcalloc(1, sizeof(*ws));

	ws->base = options->base;
	ws->files = options->files;
	ws->program_fd = options->program_fd;
	ws->count = options->count;
	ws->instance = xstrdup(options->instance);
	ws->epoch = options->epoch;
	ws->next_number = options->next_number > 0 ? options->next_number : 1;
	ws->workers_dir = xstrdup(options->workers_dir);
	ws->callbacks = *options->callbacks;
	ws->number_used = options->number_used;
	ws->deferred = event_new(ws->base, -1, 0, on_deferred, ws);
	assert(ws->deferred != NULL);
	workers_spawn_init(ws);
	return ws;
}

void
workers_free(struct workers *ws)
{
	if (ws == NULL)
		return;
	workers_flush(ws);
	while (ws->n > 0)
		workers_remove(ws, ws->v[ws->n - 1]);
	workers_life_forget_asks(ws);
	workers_spawn_release(ws);
	event_free(ws->deferred);
	free(ws->v);
	free(ws->instance);
	free(ws->workers_dir);
	free(ws);
}

static void
take_over(struct workers *ws, const struct files_left_worker *left)
{
	struct workers_one *one = workers_add(ws, left->number);

	one->known_at_start = true;
	if (left->number >= ws->next_number)
		ws->next_number = left->number + 1;
	if (!left->alive) {
		workers_life_dead(one, left->spool == NULL ? NULL :
		    xmemdup(left->spool, left->spool_len), left->spool_len);
		return;
	}
	workers_life_expect(one, one->born);
	workers_life_connect(one);
}

int
workers_begin(struct workers *ws, const struct files_left_workers *left,
    const struct files_context *context, struct error *err)
{
	size_t living = 0;

	for (size_t i = 0; i < left->n; i++) {
		take_over(ws, &left->v[i]);
		living += left->v[i].alive;
	}
	if (left->n > 0)
		log_info("workers", "%zu workers of an earlier daemon live, "
		    "%zu are dead", living, left->n - living);
	ws->begun = true;
	workers_tell_soon(ws);
	return workers_spawn_first(ws, context, err);
}

/* --- runs --- */

static bool
takes_runs(const struct workers_one *one)
{
	return one->phase == WORKERS_UP && !one->stuck && !one->draining &&
	    one->n_unconfirmed < WORKERS_UNCONFIRMED_MAX;
}

/* Of those that take runs the one with the fewest; not_this: not that one. */
static struct workers_one *
choose(const struct workers *ws, uint64_t not_this)
{
	struct workers_one *best = NULL, *one;

	for (size_t i = 0; i < ws->n; i++) {
		one = ws->v[i];
		if (!takes_runs(one) || one->number == not_this)
			continue;
		if (best == NULL || one->runs.n < best->runs.n ||
		    (one->runs.n == best->runs.n &&
		    one->n_unconfirmed < best->n_unconfirmed))
			best = one;
	}
	return best;
}

bool
workers_start_elsewhere(struct workers *ws, const struct protocol_start *start,
    uint64_t not_this, uint64_t *worker)
{
	struct workers_one *one = choose(ws, not_this);

	if (one == NULL)
		return false;
	workers_link_start(one, start);
	*worker = one->number;
	return true;
}

bool
workers_start(struct workers *ws, const struct protocol_start *start,
    uint64_t *worker)
{
	return workers_start_elsewhere(ws, start, 0, worker);
}

bool
workers_can_start(const struct workers *ws)
{
	return choose(ws, 0) != NULL;
}

/*
 * A worker that is not up gets it when it is: it may hold the run, and what
 * it does not hold it answers with UNKNOWN.
 */
bool
workers_stop_run(struct workers *ws, uint64_t worker, uint64_t run_id)
{
	struct workers_one *one = workers_find(ws, worker);

	if (one == NULL || one->dead || one->foreign)
		return false;
	protocol_encode_numbers(one->phase == WORKERS_UP ? &one->out :
	    &one->later, PROTOCOL_STOP, run_id, 0);
	return true;
}

bool
workers_signal_run(struct workers *ws, uint64_t worker, uint64_t run_id,
    int signal)
{
	struct workers_one *one = workers_find(ws, worker);

	if (one == NULL || one->phase != WORKERS_UP)
		return false;
	protocol_encode_numbers(&one->out, PROTOCOL_SIGNAL, run_id,
	    (uint64_t)signal);
	return true;
}

/* One that is not there tells the end again when it is, and is answered. */
void
workers_ack(struct workers *ws, uint64_t worker, uint64_t run_id)
{
	struct workers_one *one = workers_find(ws, worker);

	if (one != NULL && (one->phase == WORKERS_UP ||
	    one->phase == WORKERS_LISTING))
		protocol_encode_numbers(&one->out, PROTOCOL_ACK, run_id, 0);
}

void
workers_forget(struct workers *ws, uint64_t worker)
{
	struct workers_one *one = workers_find(ws, worker);

	if (one == NULL || !one->dead_told)
		return;
	files_remove_worker(ws->files, worker);
	workers_remove(ws, one);
}

void
workers_drain(struct workers *ws)
{
	ws->draining = true;
	for (size_t i = 0; i < ws->n; i++) {
		if (ws->v[i]->draining)
			continue;
		ws->v[i]->draining = true;
		if (ws->v[i]->phase == WORKERS_UP)
			protocol_encode_numbers(&ws->v[i]->out,
			    PROTOCOL_DRAIN, 0, 0);
	}
}

void
workers_flush(struct workers *ws)
{
	for (size_t i = 0; i < ws->n; i++)
		workers_link_flush(ws->v[i]);
}

/* --- time --- */

int64_t
workers_deadline(const struct workers *ws)
{
	int64_t first = workers_spawn_deadline(ws), next;

	for (size_t i = 0; i < ws->n; i++) {
		next = workers_life_deadline(ws->v[i]);
		if (next < first)
			first = next;
	}
	return first;
}

void
workers_check_deadlines(struct workers *ws, struct boottime now)
{
	for (size_t i = 0; i < ws->n; i++)
		workers_life_check(ws->v[i], now.us);
	workers_spawn_missing(ws, now.us);
}

/* --- questions --- */

size_t
workers_count(const struct workers *ws)
{
	return ws->n;
}

static enum workers_state
state_of(const struct workers_one *one)
{
	if (one->dead)
		return WORKERS_DEAD;
	if (one->stuck || one->foreign)
		return WORKERS_STUCK;
	return one->phase == WORKERS_UP ? WORKERS_ATTACHED :
	    WORKERS_ATTACHING;
}

void
workers_info(const struct workers *ws, size_t i, struct workers_info *info)
{
	const struct workers_one *one = ws->v[i];

	*info = (struct workers_info){
		.number = one->number,
		.pid = one->pid,
		.state = state_of(one),
		.runs = one->runs.n,
		.unconfirmed = one->n_unconfirmed,
	};
}

const char *
workers_state_name(enum workers_state state)
{
	static const char *const names[] = {
		[WORKERS_ATTACHING] = "attaching",
		[WORKERS_ATTACHED] = "attached",
		[WORKERS_STUCK] = "stuck",
		[WORKERS_DEAD] = "dead",
	};

	return names[state];
}

bool
workers_is_unsettled(const struct workers *ws, uint64_t worker)
{
	const struct workers_one *one = workers_find(ws, worker);

	return one != NULL && one->phase != WORKERS_UP && !one->dead_told;
}
