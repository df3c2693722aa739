/* SPDX-License-Identifier: ISC */
/*
 * From "what the files say" to "what is in force": who asks for it, the
 * reading on the files helper, and the steps in which it is applied.
 *
 *	reading		on the helper; the loop goes on
 *	pass		some milliseconds' worth each turn (reload_pass.c)
 *	release		the same, of what was read and not taken
 *
 * Files that change during a reading may have been seen half before and half
 * after: a job on its way from one file to another would be in neither.  So
 * that reading is done again; and while changes go on, nothing is removed.
 */
#include "config.h"

#include "daemon/reload.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/timestamp.h"
#include "common/xmalloc.h"
#include "daemon/reload_internal.h"

#define SUBSYSTEM	"reload"
#define SLICE_US	2000	/* of a turn, for applying */
#define SLICE_ITEMS	16	/* between two looks at the clock */
#define STORE_WAITING	20000	/* facts: let the store catch up */
#define TORN_MAX	5	/* readings in a row that are done again */

/* Somebody who asked for a reload. */
struct reload_waiter {
	unsigned  what;		/* enum reload_what */
	void	(*done)(void *arg, const struct reload_result *);
	void	 *arg;		/* for done */
	struct reload_waiter *next;
};

static void	on_slow(void *arg, const char *text);

struct reload *
reload_new(const struct reload_options *o)
{
	struct reload *r = xcalloc(1, sizeof *r);

	r->o = *o;
	r->owner_name = o->owner_name != NULL ? xstrdup(o->owner_name) : NULL;
	files_on_slow(o->files, on_slow, r);
	return r;
}

/* Those of a list who want to know are told; it is freed. */
static void
tell(struct reload_waiter *w, const struct reload_result *result)
{
	struct reload_waiter *next;

	for (; w != NULL; w = next) {
		next = w->next;
		if (w->done != NULL)
			w->done(w->arg, result);
		free(w);
	}
}

/* It came to nothing. */
static void
fail_waiters(struct reload_waiter *w, const char *why)
{
	char *text = xstrdup(why);
	const struct reload_result result = {
		.errors = &text, .n_errors = 1, .failed = true
	};

	tell(w, &result);
	free(text);
}

void
reload_free(struct reload *r)
{
	struct reload_waiter *waiting, *served;

	if (r == NULL)
		return;
	waiting = r->waiting;
	served = r->served;
	r->waiting = r->served = NULL;
	fail_waiters(served, "the daemon is leaving");
	fail_waiters(waiting, "the daemon is leaving");
	/* What a helper has comes back, and then all is freed. */
	r->leaving = r->reading || (r->pass != NULL && r->pass->rebuilding);
	if (r->leaving)
		return;
	pass_free(r->pass);
	files_jobs_release(&r->read);
	config_free(r->config);
	for (size_t i = 0; i < r->n_known; i++)
		free(r->known[i].name);
	free(r->known);
	for (size_t i = 0; i < r->n_errors; i++)
		free(r->errors[i]);
	free(r->errors);
	free(r->zone);
	free(r->owner_name);
	free(r);
}

/* --- reading --- */

static void	begin(struct reload *);

/* Whether files have changed during the reading that is over. */
static bool
is_torn(struct reload *r)
{
	if (jobdir_watch_seen(r->o.watch) == r->seen)
		return false;
	/* Those who watch will hear of it again: then that will do. */
	if (r->torn >= TORN_MAX && jobdir_watch_tells(r->o.watch))
		r->what |= RELOAD_KEEP;
	return r->torn < TORN_MAX;
}

static void	read_files(struct reload *);

static void
on_read(void *arg, struct files_jobs *read)
{
	struct reload *r = arg;
	bool told = false;

	r->reading = false;
	r->slow = false;
	if (r->leaving) {
		reload_free(r);
		return;
	}
	if (is_torn(r)) {
		r->torn++;
		read_files(r);
		return;
	}
	r->torn = 0;
	files_jobs_release(&r->read);
	r->read = *read;
	*read = (struct files_jobs){ 0 };
	r->released = 0;
	for (const struct reload_waiter *w = r->served; w != NULL; w = w->next)
		told = told || w->done != NULL;
	r->pass = pass_new(r, r->what, told);
}

static void
read_files(struct reload *r)
{
	const struct files_load load = {
		.config = r->what & RELOAD_CONFIG ? r->o.config : NULL,
		.keep = !(r->what & RELOAD_PLAN),
	};
	struct reload_waiter *waiters;

	r->seen = jobdir_watch_seen(r->o.watch);
	if (!(r->what & (RELOAD_PLAN | RELOAD_KEEP)))
		jobdir_watch_forget(r->o.watch, r->what & RELOAD_ZONES);
	if (files_load_jobs(r->o.files, &load, on_read, r)) {
		r->reading = true;
		return;
	}
	log_error(SUBSYSTEM, "not reloaded: too many files wait to be read");
	waiters = r->served;
	r->served = NULL;
	fail_waiters(waiters, "too many files wait to be read; try again");
}

static bool
go_together(const struct reload_waiter *a, const struct reload_waiter *b)
{
	const unsigned what = RELOAD_PLAN | RELOAD_CONFIG;

	return (a->what & what) == (b->what & what);
}

/* One reading serves all in front who want the same kind of it. */
static void
begin(struct reload *r)
{
	struct reload_waiter *last = r->waiting;
	unsigned keep;

	if (r->reading || r->pass != NULL || r->read.set.files != NULL ||
	    last == NULL)
		return;
	r->served = last;
	r->what = last->what;
	keep = last->what & RELOAD_KEEP;
	while (last->next != NULL && go_together(r->served, last->next)) {
		last = last->next;
		r->what |= last->what;
		keep &= last->what;
	}
	r->waiting = last->next;
	last->next = NULL;
	r->what = (r->what & ~(unsigned)RELOAD_KEEP) | keep;
	r->torn = 0;
	read_files(r);
}

static void
ask(struct reload *r, unsigned what,
    void (*done)(void *arg, const struct reload_result *), void *arg)
{
	struct reload_waiter *w = xcalloc(1, sizeof *w), **end = &r->waiting;

	w->what = what;
	w->done = done;
	w->arg = arg;
	while (*end != NULL)
		end = &(*end)->next;
	*end = w;
	begin(r);
}

void
reload_request(struct reload *r, bool plan,
    void (*done)(void *arg, const struct reload_result *), void *arg)
{
	ask(r, (plan ? RELOAD_PLAN : 0) | RELOAD_ZONES | RELOAD_LOUD |
	    (r->o.config != NULL ? RELOAD_CONFIG : 0), done, arg);
}

void
reload_start(struct reload *r)
{
	ask(r, RELOAD_LOUD, NULL, NULL);
}

void
reload_changed(struct reload *r, const struct jobdir_change *change)
{
	ask(r, (change->zones ? RELOAD_ZONES : 0) |
	    (change->more ? RELOAD_KEEP : 0), NULL, NULL);
}

/* Takes those who want an answer out of a list. */
static struct reload_waiter *
take_askers(struct reload_waiter **list)
{
	struct reload_waiter *out = NULL, **end = &out, *w;

	while ((w = *list) != NULL) {
		if (w->done == NULL) {
			list = &w->next;
			continue;
		}
		*list = w->next;
		w->next = NULL;
		*end = w;
		end = &w->next;
	}
	return out;
}

/* The reading hangs: nobody is kept waiting for it. */
static void
on_slow(void *arg, const char *text)
{
	struct reload *r = arg;
	struct reload_waiter *served, *waiting;

	if (!r->reading)
		return;
	r->slow = true;
	served = take_askers(&r->served);
	waiting = take_askers(&r->waiting);
	fail_waiters(served, text);
	fail_waiters(waiting, text);
}

/* --- applying --- */

/* What was read and not taken, a job at a time; false: that was all. */
static bool
release_item(struct reload *r)
{
	struct jobfile_set *set = &r->read.set;
	struct jobfile *f;

	if (r->released == set->n_files) {
		files_jobs_release(&r->read);
		return false;
	}
	f = set->files[r->released];
	if (f->n_jobs == 0)
		r->released++;
	else
		jobdef_free(f->jobs[--f->n_jobs].def);
	return true;
}

static void
end_pass(struct reload *r)
{
	struct pass *p = r->pass;
	struct reload_waiter *served = r->served;

	r->pass = NULL;
	r->served = NULL;
	tell(served, &p->result);
	pass_free(p);
}

/* False when nothing is left, or it waits for something else. */
static bool
do_item(struct reload *r)
{
	if (r->pass == NULL) {
		if (r->read.set.files != NULL && release_item(r))
			return true;
		files_jobs_release(&r->read);
		begin(r);
		return false;
	}
	if (pass_item(r->pass))
		return true;
	if (!pass_is_over(r->pass))
		return false;
	end_pass(r);
	return true;
}

/* Facts come faster than they are written: memory is not for that. */
static bool
store_is_behind(const struct reload *r)
{
	struct store_status status;

	store_status(r->o.store, &status);
	return status.waiting > STORE_WAITING && !status.broken;
}

bool
reload_step(struct reload *r)
{
	int64_t until;

	if (r->reading || (r->pass == NULL && r->read.set.files == NULL &&
	    r->waiting == NULL) || store_is_behind(r))
		return false;
	until = monotime_now().us + SLICE_US;
	for (unsigned n = 1; do_item(r); n++)
		if (n % SLICE_ITEMS == 0 && monotime_now().us >= until)
			return true;
	/* The end of a pass is news for those who waited for it. */
	return r->pass == NULL && !r->reading;
}

bool
reload_is_busy(const struct reload *r)
{
	return r->pass != NULL;
}

bool
reload_is_through(const struct reload *r)
{
	return r->slow || (!r->reading && r->pass == NULL &&
	    r->waiting == NULL && r->read.set.files == NULL);
}

const char *
reload_zone_name(const struct reload *r)
{
	return r->zone != NULL ? r->zone : r->o.zone_name;
}

void
reload_status(const struct reload *r, struct reload_status *status)
{
	*status = (struct reload_status){
		.n_files = r->n_known,
		.n_ignored = r->n_ignored,
		.errors = r->errors,
		.n_errors = r->n_errors,
		.slow = files_slow(r->o.files),
	};
	for (size_t i = 0; i < r->n_known; i++)
		status->n_files_in_error += r->known[i].in_error;
}
