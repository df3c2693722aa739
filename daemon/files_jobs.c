/* SPDX-License-Identifier: ISC */
/*
 * All job files, and cronctld.conf with them: read, and the sections of the
 * good files sorted, so that the loop only has to compare.
 *
 * What a reading of the configuration says is used for the job files read
 * with it.  It is kept for later readings only when all of that went well
 * and the reading was to change something: else nothing has changed.
 */
#include "config.h"

#include "daemon/files.h"

#include <stdlib.h>
#include <string.h>

#include "common/xmalloc.h"
#include "daemon/files_internal.h"

#define SEQUENCE_LINES	32	/* bits of a sequence below the file's index */

static int
compare_sections(const void *a, const void *b)
{
	const struct files_section *x = a, *y = b;
	int c = strcmp(x->place->def->name, y->place->def->name);

	if (c != 0)
		return c;
	return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

static void
sort_sections(struct files_jobs *jobs)
{
	size_t n = 0;

	for (size_t i = 0; i < jobs->set.n_files; i++)
		n += jobs->set.files[i]->n_jobs;
	jobs->sections = xcalloc(n, sizeof *jobs->sections);
	for (size_t i = 0; i < jobs->set.n_files; i++) {
		struct jobfile *f = jobs->set.files[i];

		for (size_t j = 0; j < f->n_jobs; j++)
			jobs->sections[jobs->n_sections++] =
			    (struct files_section){
				.place = &f->jobs[j],
				.file = f,
				.sequence = (uint64_t)i << SEQUENCE_LINES |
				    (uint64_t)f->jobs[j].line,
			};
	}
	if (n > 0)
		qsort(jobs->sections, n, sizeof *jobs->sections,
		    compare_sections);
}

void
files_say_opening(void *helper, const char *path)
{
	helper_at(helper, path);
}

static void
load(const struct files_context *context, struct helper *helper,
    struct files_jobs *jobs)
{
	struct files_building b;
	struct jobfile_options options;

	files_watch_jobs(context);
	if (files_building_init(&b, context, &jobs->err) != 0)
		return;
	jobs->zone = xstrdup(zone_name(b.zone));
	options = files_jobfile_options(&b, context);
	options.opening = helper != NULL ? files_say_opening : NULL;
	options.arg = helper;
	if (jobfile_load_directory(context->jobs_dir, &options, &jobs->set,
	    &jobs->err) != 0)
		jobs->set = (struct jobfile_set){ 0 };
	files_building_release(&b, context);
	sort_sections(jobs);
}

void
files_load_jobs_now(const struct files_context *context,
    struct files_jobs *jobs)
{
	*jobs = (struct files_jobs){ .err = { "" } };
	load(context, NULL, jobs);
}

void
files_jobs_release(struct files_jobs *jobs)
{
	jobfile_set_release(&jobs->set);
	free(jobs->sections);
	free(jobs->zone);
	config_free(jobs->config);
	for (size_t i = 0; i < jobs->n_config_errors; i++)
		free(jobs->config_errors[i]);
	free(jobs->config_errors);
	*jobs = (struct files_jobs){ 0 };
}

/* --- on the thread --- */

struct load_request {
	struct files_request	 request;	/* first */
	struct files_side	*side;		/* of the thread */
	struct files_load	 what;		/* as asked */
	struct files_jobs	 jobs;		/* the result */
	void	(*done)(void *arg, struct files_jobs *);
	void			*arg;		/* for done */
};

static void
add_config_error(void *arg, const char *text)
{
	struct files_jobs *jobs = arg;

	jobs->config_errors = xreallocarray(jobs->config_errors,
	    jobs->n_config_errors + 1, sizeof *jobs->config_errors);
	jobs->config_errors[jobs->n_config_errors++] = xstrdup(text);
}

/* False when there are errors in it. */
static bool
load_config(struct load_request *r)
{
	struct files_jobs *jobs = &r->jobs;

	helper_at(r->side->helper, "cronctld.conf");
	jobs->config = config_again(r->what.config);
	if (config_load(jobs->config, add_config_error, jobs) == 0)
		return true;
	config_free(jobs->config);
	jobs->config = NULL;
	return false;
}

static void
load_work(const struct files_context *context, struct files_request *request)
{
	struct load_request *r = (struct load_request *)(void *)request;
	struct files_context as_read = *context;
	struct files_jobs *jobs = &r->jobs;

	if (r->what.config != NULL) {
		if (!load_config(r))
			return;
		as_read.zone_name = jobs->config->timezone;
		as_read.defaults = &jobs->config->defaults;
	}
	load(&as_read, r->side->helper, jobs);
	if (jobs->config != NULL && r->what.keep && jobs->err.text[0] == '\0')
		files_side_configure(r->side, jobs->config->timezone,
		    &jobs->config->defaults);
}

static void
load_done(struct files_request *request, struct files *f)
{
	struct load_request *r = (struct load_request *)(void *)request;

	(void)f;
	r->done(r->arg, &r->jobs);
	files_jobs_release(&r->jobs);
	free(r);
}

bool
files_load_jobs(struct files *f, const struct files_load *what,
    void (*done)(void *, struct files_jobs *), void *arg)
{
	struct load_request *r = xcalloc(1, sizeof *r);

	r->side = files_job_files(f);
	r->what = *what;
	r->done = done;
	r->arg = arg;
	if (files_side_submit(r->side, &r->request, "job files", load_work,
	    load_done))
		return true;
	free(r);
	return false;
}

struct jobfile *
files_parse_now(const struct files_context *context, const char *name,
    const char *text, size_t len)
{
	struct files_building b;
	struct jobfile_options options;
	struct jobfile *file;
	struct error err = { "" };

	if (files_building_init(&b, context, &err) != 0) {
		file = xcalloc(1, sizeof *file);
		file->name = xstrdup(name);
		file->errors = xcalloc(1, sizeof *file->errors);
		file->errors[file->n_errors++] = xasprintf("%s: %s", name,
		    err.text);
		return file;
	}
	options = files_jobfile_options(&b, context);
	file = jobfile_parse(name, text, len, &options);
	files_building_release(&b, context);
	return file;
}
