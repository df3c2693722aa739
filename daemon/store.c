/* SPDX-License-Identifier: ISC */
/*
 * The loop's side of the store: facts are copied into the present batch,
 * batches travel to the thread and come back with what became of them.
 *
 * The thread's side here is step(): it joins the facts of all batches it was
 * handed to those it has kept from failures, and commits them together.  A
 * batch whose commit fails comes back at once with STORE_FAILED; its facts
 * stay with the thread, which tries again with every later batch and every
 * second.  So facts reach the disk in the order they were put.
 *
 * Loop and thread share nothing but the batches: each comes back with a
 * report, and the loop's counters are made from those alone.
 */
#include "config.h"

#include "daemon/store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/xmalloc.h"
#include "daemon/helper.h"
#include "daemon/store_internal.h"

#define FACTS_MAX	100000	/* waiting; beyond, outcomes are dropped */
#define BYTES_MAX	((size_t)64 * 1024 * 1024)
#define CHANGES_MAX	1000	/* waiting callbacks; see store_has_room */
#define BATCHES_MAX	64	/* on their way; then the next one grows */
#define RETRY_MS	1000	/* between attempts while broken */

struct waiter {
	void	(*done)(void *arg, enum store_result);	/* the callback */
	void	*arg;					/* its argument */
};

/* To the thread with facts, and back with a report. */
struct batch {
	struct helper_request	 request;	/* first; see helper.h */
	struct store_facts	 facts;		/* in the order put */
	bool			 has_mark;	/* mark holds */
	int64_t			 mark;		/* wall, us */
	struct waiter		*waiters;	/* in the order given */
	size_t			 n_waiters;	/* of these */
	size_t			 cap_waiters;	/* allocated */

	enum store_result	 result;	/* for the waiters */
	size_t			 committed;	/* facts, of any batch */
	size_t			 committed_bytes; /* of these */
	bool			 broken;	/* after this step */
	char			*detail;	/* why, or NULL */
	int64_t			 last_commit;	/* wall, us */
	int64_t			 event_seq;	/* newest event on disk */
};

/* A test's stand-in for the helper's two queues. */
struct queue {
	struct helper_request	*head;	/* oldest, or NULL */
	struct helper_request	**tail;	/* where the next one goes */
};

struct store {
	struct batch		*current;	/* being filled */
	struct helper		*helper;	/* NULL: no thread */
	bool			 closing;	/* the thread takes no more */
	struct queue		 flushed;	/* without a thread: to step */
	struct queue		 completed;	/* without: to complete */
	size_t			 waiting;	/* facts not committed */
	size_t			 waiting_bytes;	/* of these */
	size_t			 n_waiters;	/* callbacks not called */
	uint64_t		 dropped;	/* outcomes, in all */
	bool			 dropping;	/* since the last commit */
	struct store_gap_row	 gap;		/* while dropping: of what */
	bool			 broken;	/* by the last report */
	char			*detail;	/* why, or NULL */
	int64_t			 last_commit;	/* wall, us; 0: none yet */
	int64_t			 event_seq;	/* newest event on disk */
	int64_t			 event_serial;	/* of the last one put */
	int64_t			 events_lost;	/* dropped since then */
	void			(*moved)(void *arg);	/* or NULL */
	void			*moved_arg;	/* for moved */
	struct store_writer	 writer;	/* the thread's, once it runs */
};

static void
queue_init(struct queue *q)
{
	q->head = NULL;
	q->tail = &q->head;
}

static void
queue_add(struct queue *q, struct helper_request *r)
{
	r->next = NULL;
	*q->tail = r;
	q->tail = &r->next;
}

/* All that is queued, as a chain; the queue is empty then. */
static struct helper_request *
queue_take(struct queue *q)
{
	struct helper_request *chain = q->head;

	queue_init(q);
	return chain;
}

static struct batch *
batch_new(void)
{
	struct batch *b = xcalloc(1, sizeof *b);

	store_facts_init(&b->facts);
	return b;
}

static void
batch_free(struct batch *b)
{
	store_facts_release(&b->facts);
	free(b->waiters);
	free(b->detail);
	free(b);
}

/* --- the thread's side --- */

/* One try to get all that is kept onto the disk. */
static int
try_commit(struct store_writer *w, struct error *err)
{
	if (w->db == NULL && store_writer_reopen(w, err) != 0)
		return -1;
	return store_writer_commit(w, err);
}

/*
 * Whether the failure tells only that there is no room or that somebody else
 * is at work; after any other the database must be checked again.
 */
static bool
is_harmless(struct store_writer *w)
{
	int code = w->db != NULL ? sqlite3_errcode(w->db) & 0xff : SQLITE_OK;

	return code == SQLITE_FULL || code == SQLITE_BUSY;
}

static void
note_failure(struct store_writer *w, const struct error *why)
{
	if (!w->broken)
		log_error("store", "%s; known jobs go on, changes are refused, "
		    "and the ledger waits in memory until the store works "
		    "again", why->text);
	/* The first failure of a row, and any that may have done harm. */
	if (!w->broken || !is_harmless(w))
		w->suspect = true;
	w->broken = true;
	w->why = *why;
	store_writer_disconnect(w);
}

static void
note_success(struct store_writer *w, size_t n_facts)
{
	if (w->broken)
		log_info("store", "%s works again; %zu facts that waited are "
		    "on disk", w->path, n_facts);
	w->broken = false;
}

static void
report(const struct store_writer *w, struct batch *b)
{
	b->broken = w->broken;
	b->detail = w->broken ? xstrdup(w->why.text) : NULL;
	b->last_commit = w->last_commit;
	b->event_seq = w->event_seq;
}

/* The facts of a chain of batches go to those that are kept. */
static void
collect(struct store_writer *w, struct helper_request *chain)
{
	for (struct helper_request *r = chain; r != NULL; r = r->next) {
		struct batch *b = (struct batch *)(void *)r;

		store_facts_join(&w->kept, &b->facts);
		if (b->has_mark) {
			w->has_mark = true;
			w->mark = b->mark;
		}
	}
}

/* One transaction of all that waits; returns a report without batches. */
static struct batch *
step(struct store_writer *w, struct helper_request *chain)
{
	struct batch *last = NULL, *extra = NULL;
	struct error why = { "" };
	size_t n, bytes;
	bool failed = false;

	collect(w, chain);
	n = w->kept.n;
	bytes = w->kept.bytes;
	if (n > 0 || w->broken)
		failed = try_commit(w, &why) != 0;
	if (failed)
		note_failure(w, &why);
	else
		note_success(w, n);
	for (struct helper_request *r = chain; r != NULL; r = r->next) {
		last = (struct batch *)(void *)r;
		last->result = failed ? STORE_FAILED : STORE_COMMITTED;
		report(w, last);
	}
	if (last == NULL)
		report(w, last = extra = batch_new());
	if (!failed) {
		last->committed = n;
		last->committed_bytes = bytes;
	}
	return extra;
}

/* --- back on the loop --- */

static void	put(struct store *, enum store_fact_type, const void *row);

static void
apply_report(struct store *s, const struct batch *b)
{
	s->waiting -= b->committed;
	s->waiting_bytes -= b->committed_bytes;
	if (b->committed > 0 && s->dropping) {
		s->dropping = false;
		put(s, FACT_GAP, &s->gap);
	}
	s->broken = b->broken;
	free(s->detail);
	s->detail = b->detail != NULL ? xstrdup(b->detail) : NULL;
	s->last_commit = b->last_commit;
}

static bool
batch_is_empty(const struct batch *b)
{
	return b->facts.n == 0 && b->n_waiters == 0;
}

static void
on_done(struct helper_request *request, void *arg)
{
	struct store *s = arg;
	struct batch *b = (struct batch *)(void *)request;

	apply_report(s, b);
	for (size_t i = 0; i < b->n_waiters; i++) {
		s->n_waiters--;
		b->waiters[i].done(b->waiters[i].arg, b->result);
	}
	if (b->event_seq > s->event_seq) {
		s->event_seq = b->event_seq;
		if (s->moved != NULL)
			s->moved(s->moved_arg);
	}
	batch_free(b);
}

/* The thread's work function. */
static void
work(void *state, struct helper_request *chain)
{
	struct store *s = state;
	struct store_writer *w = &s->writer;
	struct batch *extra;

	if (chain == NULL && !w->broken)
		return;
	extra = step(w, chain);
	if (w->broken)
		helper_wake_after(w->helper, RETRY_MS);
	if (extra != NULL) {
		extra->request.done = on_done;
		extra->request.arg = s;
		helper_post(w->helper, &extra->request);
	}
}

/* --- the loop's side --- */

struct store *
store_open(const char *state_dir, struct error *err)
{
	struct store *s = xcalloc(1, sizeof *s);

	if (store_writer_open(&s->writer, state_dir, err) != 0) {
		free(s);
		return NULL;
	}
	s->current = batch_new();
	s->event_seq = s->writer.event_seq;
	s->event_serial = s->writer.event_serial;
	queue_init(&s->flushed);
	queue_init(&s->completed);
	return s;
}

int
store_start_thread(struct store *s, struct event_base *base)
{
	s->helper = helper_new("store", base, BATCHES_MAX, work, s);
	s->writer.helper = s->helper;
	return s->helper != NULL ? 0 : -1;
}

void
store_close(struct store *s)
{
	if (s == NULL)
		return;
	store_flush(s);
	s->closing = true;
	helper_free(s->helper);
	s->helper = s->writer.helper = NULL;
	if (store_sync(s, NULL) != 0)
		log_error("store", "%s: %zu facts could not be written and "
		    "are lost", s->writer.path, s->waiting);
	batch_free(s->current);
	store_writer_release(&s->writer);
	free(s->detail);
	free(s);
}

void
store_flush(struct store *s)
{
	struct batch *b = s->current;

	if (batch_is_empty(b))
		return;
	b->request.done = on_done;
	b->request.arg = s;
	if (s->helper == NULL || s->closing)
		queue_add(&s->flushed, &b->request);
	else if (!helper_submit(s->helper, &b->request))
		return;		/* grows until the next turn's flush */
	s->current = batch_new();
}

bool
store_step(struct store *s)
{
	struct helper_request *chain = queue_take(&s->flushed), *next;
	struct batch *extra;

	if (chain == NULL && s->writer.kept.n == 0)
		return false;
	extra = step(&s->writer, chain);
	if (extra != NULL) {
		extra->request.done = on_done;
		extra->request.arg = s;
		queue_add(&s->completed, &extra->request);
	}
	for (; chain != NULL; chain = next) {
		next = chain->next;
		queue_add(&s->completed, chain);
	}
	return true;
}

void
store_complete(struct store *s)
{
	struct helper_request *next;

	for (struct helper_request *r = queue_take(&s->completed); r != NULL;
	    r = next) {
		next = r->next;
		r->done(r, r->arg);
	}
}

int
store_sync(struct store *s, struct error *err)
{
	do {
		store_flush(s);
		if (!store_step(s))
			break;
		store_complete(s);
	} while (!s->broken);
	store_complete(s);
	if (s->broken)
		return error_set(err, "%s", s->detail);
	return 0;
}

void
store_after_commit(struct store *s,
    void (*done)(void *arg, enum store_result), void *arg)
{
	struct batch *b = s->current;

	if (b->n_waiters == b->cap_waiters) {
		b->cap_waiters = b->cap_waiters * 2 + 4;
		b->waiters = xreallocarray(b->waiters, b->cap_waiters,
		    sizeof *b->waiters);
	}
	b->waiters[b->n_waiters++] = (struct waiter){ done, arg };
	s->n_waiters++;
}

void
store_status(const struct store *s, struct store_status *status)
{
	struct error detail = { "" };

	if (s->detail != NULL)
		error_set(&detail, "%s", s->detail);
	*status = (struct store_status){
		.broken = s->broken,
		.last_commit = s->last_commit,
		.waiting = s->waiting,
		.dropped = s->dropped,
	};
	for (size_t i = 0; i < sizeof status->detail; i++)
		status->detail[i] = detail.text[i];
}

bool
store_has_room(const struct store *s)
{
	return s->n_waiters < CHANGES_MAX;
}

/* --- facts --- */

static void
put(struct store *s, enum store_fact_type type, const void *row)
{
	struct store_fact *fact = store_fact_new(type, row);

	s->waiting++;
	s->waiting_bytes += fact->bytes;
	store_facts_add(&s->current->facts, fact);
}

void
store_put_job(struct store *s, const struct job_row *row)
{
	put(s, FACT_JOB, row);
}

void
store_put_job_removed(struct store *s, int64_t job_id, int64_t at)
{
	struct job_row row = { .id = job_id, .removed = at };

	put(s, FACT_JOB_REMOVED, &row);
}

void
store_put_job_state(struct store *s, const struct job_row *row)
{
	put(s, FACT_JOB_STATE, row);
}

void
store_put_generation(struct store *s, const struct generation_row *row)
{
	put(s, FACT_GENERATION, row);
}

/* Starts are always kept: their runs are rows that must be accounted for. */
void
store_put_outcome(struct store *s, const struct outcome_row *row)
{
	if (row->kind == OUTCOME_STARTED ||
	    (s->waiting < FACTS_MAX && s->waiting_bytes < BYTES_MAX)) {
		put(s, FACT_OUTCOME, row);
		return;
	}
	if (!s->dropping)
		log_warning("store", "%zu facts wait for the disk, the most "
		    "that are kept: outcomes that start no run are dropped "
		    "from now on", s->waiting);
	if (!s->dropping)
		s->gap = (struct store_gap_row){ .at = row->at };
	s->dropping = true;
	s->gap.last = row->at;
	s->gap.dropped++;
	s->dropped++;
}

void
store_put_run(struct store *s, const struct run_row *row)
{
	put(s, FACT_RUN, row);
}

void
store_put_run_dropped(struct store *s, uint64_t run_id)
{
	put(s, FACT_RUN_DROPPED, &run_id);
}

void
store_put_pending(struct store *s, const struct pending_row *row)
{
	put(s, FACT_PENDING, row);
}

void
store_put_pending_decided(struct store *s, int64_t job_id, uint32_t era,
    int64_t occurrence)
{
	struct pending_row row = { .job_id = job_id, .era = era,
	    .occurrence = occurrence };

	put(s, FACT_PENDING_DECIDED, &row);
}

void
store_put_pause(struct store *s, const struct pause_row *row)
{
	put(s, FACT_PAUSE, row);
}

void
store_put_pause_over(struct store *s, int64_t job_id)
{
	struct pause_row row = { .job_id = job_id };

	put(s, FACT_PAUSE_OVER, &row);
}

void
store_put_file(struct store *s, const struct file_row *row)
{
	put(s, FACT_FILE, row);
}

void
store_put_file_gone(struct store *s, const char *name)
{
	struct file_row row = { .name = xstrdup(name) };

	put(s, FACT_FILE_GONE, &row);
	free(row.name);
}

void
store_put_era(struct store *s, const struct era_row *row)
{
	put(s, FACT_ERA, row);
}

static void
put_event(struct store *s, const struct event_row *row)
{
	struct event_row copy = *row;
	char empty[] = "{}";

	copy.serial = ++s->event_serial;
	if (copy.body == NULL)
		copy.body = empty;
	put(s, FACT_EVENT, &copy);
}

/* They give way before outcomes do; how many did is an event itself. */
void
store_put_event(struct store *s, const struct event_row *row)
{
	struct event_row lost = { .at = row->at, .kind = EVENT_LOST };

	if (s->waiting >= FACTS_MAX / 2 || s->waiting_bytes >= BYTES_MAX / 2 ||
	    (row->body != NULL && strlen(row->body) > STORE_EVENT_BODY_MAX)) {
		s->events_lost++;
		return;
	}
	if (s->events_lost > 0) {
		lost.body = xasprintf("{\"count\":%" PRId64 "}",
		    s->events_lost);
		put_event(s, &lost);
		free(lost.body);
		s->events_lost = 0;
	}
	put_event(s, row);
}

int64_t
store_event_seq(const struct store *s)
{
	return s->event_seq;
}

void
store_on_events(struct store *s, void (*moved)(void *arg), void *arg)
{
	s->moved = moved;
	s->moved_arg = arg;
}

void
store_put_meta_integer(struct store *s, const char *key, int64_t value)
{
	struct store_meta_row row = { .key = xstrdup(key), .integer = value };

	put(s, FACT_META, &row);
	free(row.key);
}

void
store_put_meta_string(struct store *s, const char *key, const char *value)
{
	struct store_meta_row row = { .key = xstrdup(key),
	    .text = xstrdup(value) };

	put(s, FACT_META, &row);
	free(row.key);
	free(row.text);
}

void
store_put_mark(struct store *s, int64_t wall_us)
{
	s->current->has_mark = true;
	s->current->mark = wall_us;
}

/* --- reading, while no thread runs --- */

int
store_load(struct store *s, struct store_image *image, struct error *err)
{
	return store_writer_load(&s->writer, image, err);
}

int
store_find_run(struct store *s, uint64_t run_id, struct run_row *row,
    struct error *err)
{
	return store_writer_find_run(&s->writer, run_id, row, err);
}
