/* SPDX-License-Identifier: ISC */
/*
 * The files helper: its thread works off one request after the other, and
 * may hang as long as the disk does; the loop goes on meanwhile.
 *
 * Zones and schedules count their references without locks, so they belong
 * to one thread at a time.  Each request loads the zones it needs itself and
 * lets go of all references but those in its result before that is handed
 * over; sharing zones between jobs is the loop's.
 */
#include "config.h"

#include "daemon/files.h"

#include <stdlib.h>
#include <string.h>

#include "common/inifile.h"
#include "common/timestamp.h"
#include "common/xmalloc.h"
#include "daemon/files_internal.h"

#define QUEUE_MAX	256	/* requests that wait */
#define LEAVE_MS	500	/* a thread that hangs is left behind */

struct files {
	struct helper		*helper;	/* the thread; NULL: stopped */
	bool			 hangs;		/* left behind with this */
	struct files_context	 context;	/* owned, as what it points to */
	struct jobdef_settings	 defaults;	/* context.defaults, if any */
};

/* --- the helper --- */

static void
work(void *state, struct helper_request *chain)
{
	struct files *f = state;

	for (; chain != NULL; chain = chain->next) {
		struct files_request *r = (struct files_request *)(void *)chain;

		r->work(&f->context, r);
	}
}

bool
files_submit(struct files *f, struct files_request *r,
    void (*todo)(const struct files_context *, struct files_request *),
    void (*done)(struct helper_request *, void *arg))
{
	r->work = todo;
	r->request.done = done;
	r->request.arg = f;
	return f->helper != NULL && helper_submit(f->helper, &r->request);
}

static char *
dup_or_null(const char *s)
{
	return s != NULL ? xstrdup(s) : NULL;
}

static void
release(struct files *f)
{
	free((char *)f->context.jobs_dir);
	free((char *)f->context.state_dir);
	free((char *)f->context.workers_dir);
	free((char *)f->context.host_id);
	free((char *)f->context.zone_name);
	free((char *)f->context.env_tz);
	jobdef_settings_release(&f->defaults);
	free(f);
}

struct files *
files_new(const struct files_context *context, struct event_base *base)
{
	struct files *f = xcalloc(1, sizeof *f);

	jobdef_settings_init(&f->defaults);
	f->context = (struct files_context){
		.jobs_dir = dup_or_null(context->jobs_dir),
		.state_dir = dup_or_null(context->state_dir),
		.workers_dir = dup_or_null(context->workers_dir),
		.host_id = dup_or_null(context->host_id),
		.zone_name = dup_or_null(context->zone_name),
		.env_tz = dup_or_null(context->env_tz),
		.check_owner = context->check_owner,
		.owner = context->owner,
	};
	if (context->defaults != NULL) {
		jobdef_settings_copy(&f->defaults, context->defaults);
		f->context.defaults = &f->defaults;
	}
	f->helper = helper_new("files", base, QUEUE_MAX, work, f);
	if (f->helper == NULL) {
		release(f);
		return NULL;
	}
	return f;
}

void
files_stop(struct files *f)
{
	if (f == NULL || f->helper == NULL)
		return;
	f->hangs = !helper_free_within(f->helper, LEAVE_MS);
	f->helper = NULL;
}

void
files_free(struct files *f)
{
	files_stop(f);
	if (f != NULL && !f->hangs)
		release(f);
}

/* --- what definitions are built with --- */

/* Zones and time of one request. */
struct building {
	struct zone		*zone;		/* the daemon's */
	struct zone_cache	*zones;		/* others, by name */
	int64_t			 now;		/* UTC seconds */
};

static int
building_init(struct building *b, const struct files_context *context,
    struct error *err)
{
	b->zone = context->zone_name != NULL ?
	    zone_load(context->zone_name, err) :
	    zone_load_local(context->env_tz, err);
	if (b->zone == NULL)
		return error_prefix(err, "the daemon's time zone");
	b->zones = zone_cache_new();
	b->now = walltime_seconds(walltime_now());
	return 0;
}

static void
building_release(struct building *b)
{
	zone_cache_free(b->zones);
	zone_unref(b->zone);
}

static struct jobfile_options
jobfile_options(const struct building *b, const struct files_context *context)
{
	return (struct jobfile_options){
		.host_id = context->host_id,
		.zone = b->zone,
		.zones = b->zones,
		.now = b->now,
		.defaults = context->defaults,
		.check_owner = context->check_owner,
		.owner = context->owner,
	};
}

static struct jobdef_context
jobdef_context(const struct building *b, const struct files_context *context)
{
	return (struct jobdef_context){
		.host_id = context->host_id,
		.zone = b->zone,
		.zones = b->zones,
		.now = b->now,
	};
}

/* --- all job files --- */

void
files_load_jobs_now(const struct files_context *context,
    struct files_jobs *jobs)
{
	struct building b;
	struct jobfile_options options;

	*jobs = (struct files_jobs){ .err = { "" } };
	if (building_init(&b, context, &jobs->err) != 0)
		return;
	options = jobfile_options(&b, context);
	if (jobfile_load_directory(context->jobs_dir, &options, &jobs->set,
	    &jobs->err) != 0)
		jobs->set = (struct jobfile_set){ 0 };
	building_release(&b);
}

struct load_request {
	struct files_request	 request;	/* first */
	struct files_jobs	 jobs;		/* the result */
	void	(*done)(void *arg, struct files_jobs *);
	void			*arg;		/* for done */
};

static void
load_work(const struct files_context *context, struct files_request *request)
{
	struct load_request *r = (struct load_request *)(void *)request;

	files_load_jobs_now(context, &r->jobs);
}

static void
load_done(struct helper_request *request, void *arg)
{
	struct load_request *r = (struct load_request *)(void *)request;

	(void)arg;
	r->done(r->arg, &r->jobs);
	jobfile_set_release(&r->jobs.set);
	free(r);
}

bool
files_load_jobs(struct files *f, void (*done)(void *, struct files_jobs *),
    void *arg)
{
	struct load_request *r = xcalloc(1, sizeof *r);

	r->done = done;
	r->arg = arg;
	if (files_submit(f, &r->request, load_work, load_done))
		return true;
	free(r);
	return false;
}

struct jobfile *
files_parse_now(const struct files_context *context, const char *name,
    const char *text, size_t len)
{
	struct building b;
	struct jobfile_options options;
	struct jobfile *file;
	struct error err = { "" };

	if (building_init(&b, context, &err) != 0) {
		file = xcalloc(1, sizeof *file);
		file->name = xstrdup(name);
		file->errors = xcalloc(1, sizeof *file->errors);
		file->errors[file->n_errors++] = xasprintf("%s: %s", name,
		    err.text);
		return file;
	}
	options = jobfile_options(&b, context);
	file = jobfile_parse(name, text, len, &options);
	building_release(&b);
	return file;
}

/* --- one definition --- */

/* "key: sentence" onto a list. */
static void
add_sentence(char ***v, size_t *n, const char *key, const char *text)
{
	*v = xreallocarray(*v, *n + 1, sizeof **v);
	(*v)[(*n)++] = *key != '\0' ? xasprintf("%s: %s", key, text) :
	    xstrdup(text);
}

static void
on_error(void *arg, int line, const char *key, const char *text)
{
	struct files_built *built = arg;

	(void)line;
	add_sentence(&built->errors, &built->n_errors, key, text);
}

static void
on_warning(void *arg, int line, const char *key, const char *text)
{
	struct files_built *built = arg;

	(void)line;
	add_sentence(&built->warnings, &built->n_warnings, key, text);
}

static void
built_release(struct files_built *built)
{
	jobdef_free(built->def);
	for (size_t i = 0; i < built->n_errors; i++)
		free(built->errors[i]);
	for (size_t i = 0; i < built->n_warnings; i++)
		free(built->warnings[i]);
	free(built->errors);
	free(built->warnings);
}

struct build_request {
	struct files_request	 request;	/* first */
	char			*name;		/* of the job */
	struct jobdef_settings	 settings;	/* its own */
	int64_t			 now;		/* UTC seconds: accepted */
	bool			 allow_in;	/* see struct jobdef_context */
	struct files_built	 built;		/* the result */
	void	(*done)(void *arg, struct files_built *);
	void			*arg;		/* for done */
};

static void
build_request_free(struct build_request *r)
{
	built_release(&r->built);
	jobdef_settings_release(&r->settings);
	free(r->name);
	free(r);
}

static void
build_work(const struct files_context *context, struct files_request *request)
{
	struct build_request *r = (struct build_request *)(void *)request;
	const struct jobdef_settings *layers[2] = { &r->settings,
	    context->defaults };
	struct jobdef_context jc;
	struct building b;
	struct error err = { "" };

	if (building_init(&b, context, &err) != 0) {
		on_error(&r->built, 0, "", err.text);
		return;
	}
	jc = jobdef_context(&b, context);
	jc.now = r->now;
	jc.allow_in = r->allow_in;
	jc.error = on_error;
	jc.warning = on_warning;
	jc.arg = &r->built;
	r->built.def = jobdef_build(r->name, layers,
	    context->defaults != NULL ? 2 : 1, &jc);
	building_release(&b);
}

static void
build_done(struct helper_request *request, void *arg)
{
	struct build_request *r = (struct build_request *)(void *)request;

	(void)arg;
	r->done(r->arg, &r->built);
	build_request_free(r);
}

bool
files_build(struct files *f, const char *name,
    const struct jobdef_settings *settings, int64_t now, bool allow_in,
    void (*done)(void *, struct files_built *), void *arg)
{
	struct build_request *r = xcalloc(1, sizeof *r);

	r->name = xstrdup(name);
	jobdef_settings_init(&r->settings);
	jobdef_settings_copy(&r->settings, settings);
	r->now = now;
	r->allow_in = allow_in;
	r->done = done;
	r->arg = arg;
	if (files_submit(f, &r->request, build_work, build_done))
		return true;
	build_request_free(r);
	return false;
}

/* --- a definition out of the store --- */

/* The settings of the one section of a text; its name is borrowed from it. */
static int
settings_from_ini(const struct inifile *ini, const char **name,
    struct jobdef_settings *settings, struct error *err)
{
	const struct inifile_entry *e;

	if (ini->n_errors > 0)
		return error_set(err, "line %d: %s", ini->errors[0].line,
		    ini->errors[0].text);
	if (ini->n_entries == 0)
		return error_set(err, "the definition is empty");
	*name = ini->entries[0].section;
	for (size_t i = 0; i < ini->n_entries; i++) {
		e = &ini->entries[i];
		if (e->key == NULL && i > 0)
			return error_set(err, "the definition has a second "
			    "section, [%s]", e->section);
		if (e->key != NULL && jobdef_settings_add(settings, e->key,
		    e->value, e->line, err) != 0)
			return error_prefix(err, "%s", e->key);
	}
	return 0;
}

/* What was written down says everything: today's defaults play no part. */
static struct jobdef *
build_from_settings(const struct files_context *context, const char *name,
    const struct jobdef_settings *settings, struct error *err)
{
	struct files_built built = { 0 };
	struct jobdef_context jc;
	struct jobdef *def;
	struct building b;

	if (building_init(&b, context, err) != 0)
		return NULL;
	jc = jobdef_context(&b, context);
	jc.error = on_error;
	jc.arg = &built;
	def = jobdef_build(name, &settings, 1, &jc);
	building_release(&b);
	if (def == NULL)
		error_set(err, "%s", built.n_errors > 0 ? built.errors[0] :
		    "no job can be made of it");
	built_release(&built);
	return def;
}

struct jobdef *
files_build_now(const struct files_context *context, const char *text,
    struct error *err)
{
	struct inifile *ini = inifile_parse(text, strlen(text));
	struct jobdef_settings settings;
	struct jobdef *def = NULL;
	const char *name = "";

	jobdef_settings_init(&settings);
	if (settings_from_ini(ini, &name, &settings, err) == 0)
		def = build_from_settings(context, name, &settings, err);
	if (def == NULL)
		error_prefix(err, "job %s as it was stored", name);
	jobdef_settings_release(&settings);
	inifile_free(ini);
	return def;
}
