/* SPDX-License-Identifier: ISC */
/*
 * The files helper: two threads of one shape, each of which works off one
 * request after the other and may hang as long as the disk does; the loop
 * goes on meanwhile.
 *
 *	job files	what people name: jobs.d and what its links lead to
 *	files		our own directories and the zone database
 *
 * So a job file on a mount that is dead delays the reading of job files, and
 * neither "cronctl logs", nor "cronctl add", nor a new worker.
 *
 * What a thread works with (context) is its own; the loop changes it only by
 * requests.  A request that is not answered within SLOW_MS is reported, once,
 * with what the thread was at; it is answered when the disk does.
 */
#include "config.h"

#include "daemon/files.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/timestamp.h"
#include "common/xmalloc.h"
#include "daemon/files_internal.h"

#define SUBSYSTEM	"files"
#define QUEUE_MAX	256	/* requests that wait, of each thread */
#define LEAVE_MS	400	/* a thread that hangs is left behind */
#define SLOW_MS		10000	/* then a request is reported */

struct files {
	struct files_side	 own;		/* our own directories */
	struct files_side	 job_files;	/* what people name */
	int			 slow_ms;	/* SLOW_MS, or a test's */
	bool			 stopped;	/* the threads are gone, */
	bool			 hangs;		/* or one is left behind */
	void			(*on_slow)(void *arg, const char *text);
	void			*slow_arg;	/* for on_slow */
};

/* --- the threads --- */

static void
work(void *state, struct helper_request *chain)
{
	struct files_side *side = state;

	for (; chain != NULL; chain = chain->next) {
		struct files_request *r = (struct files_request *)(void *)chain;

		helper_at(side->helper, r->what);
		r->work(&side->context, r);
	}
}

static void	on_alarm(void *arg);

/* For the oldest request that is not answered, if there is one. */
static void
set_alarm(struct files_side *side)
{
	struct files_request *oldest = TAILQ_FIRST(&side->asked);
	int64_t left;

	if (side->files->stopped)
		return;
	if (oldest == NULL || side->slow_text != NULL) {
		helper_set_alarm(side->helper, -1, NULL, NULL);
		return;
	}
	left = oldest->since.us + side->files->slow_ms * USEC_PER_MSEC -
	    monotime_now().us;
	helper_set_alarm(side->helper, left > 0 ?
	    (int)(left / USEC_PER_MSEC) + 1 : 0, on_alarm, side);
}

static void
on_alarm(void *arg)
{
	struct files_side *side = arg;
	struct files *f = side->files;
	char at[HELPER_AT_MAX];

	helper_whereabouts(side->helper, at);
	side->slow_text = xasprintf("reading %s takes longer than %d s", at,
	    (f->slow_ms + 999) / 1000);
	log_warning(SUBSYSTEM, "%s; what is asked for meanwhile waits",
	    side->slow_text);
	if (side == &f->job_files && f->on_slow != NULL)
		f->on_slow(f->slow_arg, side->slow_text);
}

/* What was slow is over. */
static void
end_slow(struct files_side *side, const struct files_request *r)
{
	if (side->slow_text == NULL)
		return;
	log_info(SUBSYSTEM, "what took long is over, after %lld s",
	    (long long)((monotime_now().us - r->since.us) / USEC_PER_SEC));
	free(side->slow_text);
	side->slow_text = NULL;
}

static void
on_done(struct helper_request *request, void *arg)
{
	struct files_request *r = (struct files_request *)(void *)request;
	struct files_side *side = arg;

	TAILQ_REMOVE(&side->asked, r, link);
	end_slow(side, r);
	set_alarm(side);
	r->done(r, side->files);
}

bool
files_side_submit(struct files_side *side, struct files_request *r,
    const char *what, files_work_fn *todo, files_done_fn *done)
{
	r->work = todo;
	r->done = done;
	r->what = what;
	r->since = monotime_now();
	r->request.done = on_done;
	r->request.arg = side;
	if (side->files->stopped || !helper_submit(side->helper, &r->request))
		return false;
	TAILQ_INSERT_TAIL(&side->asked, r, link);
	if (TAILQ_FIRST(&side->asked) == r)
		set_alarm(side);
	return true;
}

bool
files_submit(struct files *f, struct files_request *r, const char *what,
    files_work_fn *todo, files_done_fn *done)
{
	return files_side_submit(&f->own, r, what, todo, done);
}

struct files_side *
files_job_files(struct files *f)
{
	return &f->job_files;
}

void
files_on_slow(struct files *f, void (*fn)(void *, const char *), void *arg)
{
	f->on_slow = fn;
	f->slow_arg = arg;
}

void
files_set_slow(struct files *f, int slow_ms)
{
	f->slow_ms = slow_ms;
}

const char *
files_slow(const struct files *f)
{
	return f->job_files.slow_text != NULL ? f->job_files.slow_text :
	    f->own.slow_text;
}

/* --- what they work with --- */

static char *
dup_or_null(const char *s)
{
	return s != NULL ? xstrdup(s) : NULL;
}

void
files_side_configure(struct files_side *side, const char *zone,
    const struct jobdef_settings *defaults)
{
	free((char *)side->context.zone_name);
	side->context.zone_name = dup_or_null(zone);
	jobdef_settings_release(&side->defaults);
	jobdef_settings_init(&side->defaults);
	side->context.defaults = NULL;
	if (defaults == NULL)
		return;
	jobdef_settings_copy(&side->defaults, defaults);
	side->context.defaults = &side->defaults;
}

struct configure_request {
	struct files_request	 request;	/* first */
	struct files_side	*side;		/* of the thread */
	char			*zone;		/* as files_context has it */
	struct jobdef_settings	 defaults;	/* of the configuration */
};

static void
configure_work(const struct files_context *context,
    struct files_request *request)
{
	struct configure_request *r =
	    (struct configure_request *)(void *)request;

	(void)context;
	files_side_configure(r->side, r->zone, &r->defaults);
}

static void
configure_done(struct files_request *request, struct files *f)
{
	struct configure_request *r =
	    (struct configure_request *)(void *)request;

	(void)f;
	free(r->zone);
	jobdef_settings_release(&r->defaults);
	free(r);
}

bool
files_configure(struct files *f, const char *zone,
    const struct jobdef_settings *defaults)
{
	struct configure_request *r = xcalloc(1, sizeof *r);

	r->side = &f->own;
	r->zone = dup_or_null(zone);
	jobdef_settings_init(&r->defaults);
	jobdef_settings_copy(&r->defaults, defaults);
	if (files_submit(f, &r->request, "the configuration", configure_work,
	    configure_done))
		return true;
	configure_done(&r->request, f);
	return false;
}

/* --- beginning and end --- */

static void
release_side(struct files_side *side)
{
	free((char *)side->context.jobs_dir);
	free((char *)side->context.state_dir);
	free((char *)side->context.workers_dir);
	free((char *)side->context.host_id);
	free((char *)side->context.zone_name);
	free((char *)side->context.env_tz);
	free(side->slow_text);
	jobdef_settings_release(&side->defaults);
}

static int
start_side(struct files *f, struct files_side *side, const char *name,
    const struct files_context *context, struct event_base *base)
{
	TAILQ_INIT(&side->asked);
	side->files = f;
	jobdef_settings_init(&side->defaults);
	side->context = (struct files_context){
		.jobs_dir = dup_or_null(context->jobs_dir),
		.state_dir = dup_or_null(context->state_dir),
		.workers_dir = dup_or_null(context->workers_dir),
		.host_id = dup_or_null(context->host_id),
		.env_tz = dup_or_null(context->env_tz),
		.check_owner = context->check_owner,
		.owner = context->owner,
		.watch_jobs = context->watch_jobs,
		.watch_zones = context->watch_zones,
	};
	files_side_configure(side, context->zone_name, context->defaults);
	side->helper = helper_new(name, base, QUEUE_MAX, work, side);
	return side->helper != NULL ? 0 : -1;
}

struct files *
files_new(const struct files_context *context, struct event_base *base)
{
	struct files *f = xcalloc(1, sizeof *f);

	f->slow_ms = SLOW_MS;
	if (start_side(f, &f->own, "files", context, base) == 0 &&
	    start_side(f, &f->job_files, "job-files", context, base) == 0)
		return f;
	files_free(f);
	return NULL;
}

/*
 * A thread that is left behind keeps all it works with.  Completions that
 * run here still see their side.
 */
static void
stop_side(struct files_side *side)
{
	if (!helper_free_within(side->helper, LEAVE_MS))
		side->files->hangs = true;
}

void
files_stop(struct files *f)
{
	if (f == NULL || f->stopped)
		return;
	f->stopped = true;
	f->on_slow = NULL;
	stop_side(&f->job_files);
	stop_side(&f->own);
}

void
files_free(struct files *f)
{
	files_stop(f);
	if (f == NULL || f->hangs)
		return;
	release_side(&f->own);
	release_side(&f->job_files);
	free(f);
}
