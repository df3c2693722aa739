/* SPDX-License-Identifier: ISC */
/*
 * Definitions: of a client's settings, of what was stored, and of jobs in
 * force again when a zone has changed.
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

/* --- what definitions are built with --- */

int
files_building_init(struct files_building *b, const struct files_context *context,
    struct error *err)
{
	b->zone = context->zone_name != NULL ?
	    zone_load(context->zone_name, err) :
	    zone_load_local(context->env_tz, err);
	if (b->zone == NULL)
		return error_prefix(err, "the daemon's time zone");
	files_watch_zone(context, zone_name(b->zone));
	b->zones = zone_cache_new();
	b->now = walltime_seconds(walltime_now());
	return 0;
}

void
files_building_release(struct files_building *b,
    const struct files_context *context)
{
	const struct zone *zone;

	for (size_t i = 0; (zone = zone_cache_at(b->zones, i)) != NULL; i++)
		files_watch_zone(context, zone_name(zone));
	zone_cache_free(b->zones);
	zone_unref(b->zone);
}

struct jobfile_options
files_jobfile_options(const struct files_building *b, const struct files_context *context)
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
jobdef_context(const struct files_building *b, const struct files_context *context)
{
	return (struct jobdef_context){
		.host_id = context->host_id,
		.zone = b->zone,
		.zones = b->zones,
		.now = b->now,
	};
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
	struct files_building b;
	struct error err = { "" };

	if (files_building_init(&b, context, &err) != 0) {
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
	files_building_release(&b, context);
}

static void
build_done(struct files_request *request, struct files *f)
{
	struct build_request *r = (struct build_request *)(void *)request;

	(void)f;
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
	if (files_submit(f, &r->request, "the time zones of a job", build_work,
	    build_done))
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
build_from_settings(const struct files_building *b,
    const struct files_context *context, const char *name,
    const struct jobdef_settings *settings, struct error *err)
{
	struct files_built built = { 0 };
	struct jobdef_context jc = jobdef_context(b, context);
	struct jobdef *def;

	jc.error = on_error;
	jc.arg = &built;
	def = jobdef_build(name, &settings, 1, &jc);
	if (def == NULL)
		error_set(err, "%s", built.n_errors > 0 ? built.errors[0] :
		    "no job can be made of it");
	built_release(&built);
	return def;
}

static struct jobdef *
build_alone(const struct files_context *context, const char *name,
    const struct jobdef_settings *settings, struct error *err)
{
	struct files_building b;
	struct jobdef *def;

	if (files_building_init(&b, context, err) != 0)
		return NULL;
	def = build_from_settings(&b, context, name, settings, err);
	files_building_release(&b, context);
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
		def = build_alone(context, name, &settings, err);
	if (def == NULL)
		error_prefix(err, "job %s as it was stored", name);
	jobdef_settings_release(&settings);
	inifile_free(ini);
	return def;
}

/* --- definitions in force, with today's zones --- */

struct rebuild_request {
	struct files_request	 request;	/* first */
	struct files_rebuilt	 rebuilt;	/* what, and the result */
	void	(*done)(void *arg, struct files_rebuilt *);
	void			*arg;		/* for done */
};

void
files_rebuilt_release(struct files_rebuilt *rebuilt)
{
	for (size_t i = 0; i < rebuilt->n; i++) {
		free(rebuilt->v[i].name);
		jobdef_settings_release(&rebuilt->v[i].settings);
		jobdef_free(rebuilt->v[i].def);
	}
	free(rebuilt->v);
	*rebuilt = (struct files_rebuilt){ 0 };
}

static void
rebuild_work(const struct files_context *context,
    struct files_request *request)
{
	struct rebuild_request *r = (struct rebuild_request *)(void *)request;
	struct files_rebuilt *all = &r->rebuilt;
	struct files_building b;
	struct error err = { "" };

	if (files_building_init(&b, context, &all->err) != 0)
		return;
	for (size_t i = 0; i < all->n; i++) {
		struct files_rebuild *one = &all->v[i];

		one->def = build_from_settings(&b, context, one->name,
		    &one->settings, &err);
		if (one->def == NULL && all->err.text[0] == '\0')
			error_set(&all->err, "job %s: %s", one->name,
			    err.text);
	}
	files_building_release(&b, context);
}

static void
rebuild_done(struct files_request *request, struct files *f)
{
	struct rebuild_request *r = (struct rebuild_request *)(void *)request;

	(void)f;
	r->done(r->arg, &r->rebuilt);
	files_rebuilt_release(&r->rebuilt);
	free(r);
}

bool
files_rebuild(struct files *f, struct files_rebuilt *rebuilt,
    void (*done)(void *, struct files_rebuilt *), void *arg)
{
	struct rebuild_request *r = xcalloc(1, sizeof *r);

	r->rebuilt = *rebuilt;
	r->done = done;
	r->arg = arg;
	if (files_submit(f, &r->request, "time zones", rebuild_work,
	    rebuild_done)) {
		*rebuilt = (struct files_rebuilt){ 0 };
		return true;
	}
	free(r);
	return false;
}
