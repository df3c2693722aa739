/* SPDX-License-Identifier: ISC */
/*
 * One pass over what was read: what is in force is made to agree with it.
 * Work is cut into items, one section or job each, so that the caller can
 * stop between any two and let a turn of the loop pass.
 *
 * Job files are the truth: a change applies at once, its rows follow.  Jobs
 * that are gone from one file and there in another one are only moved, so
 * nothing is removed before all sections have been looked at.
 */
#include "config.h"

#include "daemon/reload_internal.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/strbuf.h"
#include "common/xmalloc.h"
#include "daemon/events.h"

#define SUBSYSTEM	"reload"
#define MESSAGES_LOGGED	20	/* errors of one reload in the log */

void
pass_add_text(char ***v, size_t *n, char *text)
{
	if ((*n & (*n - 1)) == 0)
		*v = xreallocarray(*v, *n > 0 ? 2 * *n : 1, sizeof **v);
	(*v)[(*n)++] = text;
}

static void
add_change(struct pass *p, char what, const char *job, char *detail)
{
	struct reload_result *res = &p->result;

	if (!p->told) {
		free(detail);
		return;
	}
	if ((res->n_changes & (res->n_changes - 1)) == 0)
		res->changes = xreallocarray(res->changes, res->n_changes > 0 ?
		    2 * res->n_changes : 1, sizeof *res->changes);
	res->changes[res->n_changes++] = (struct reload_change){
		what, xstrdup(job), detail
	};
}

static bool
is_plan(const struct pass *p)
{
	return p->what & RELOAD_PLAN;
}

/* --- the configuration --- */

static void
add_difference(void *arg, const char *key, bool live)
{
	struct pass *p = arg;

	pass_add_text(&p->result.config, &p->result.n_config,
	    xasprintf("%s: takes effect %s", key,
	    live ? "now" : "at the next start"));
}

static bool
take_config(struct pass *p)
{
	struct reload *r = p->r;
	struct config *now = r->read.config;
	const struct config *before = r->config != NULL ? r->config :
	    r->o.config;

	if (now == NULL)
		return true;
	config_differences(r->o.config, before, now, add_difference, p);
	if (is_plan(p))
		return true;
	if (!files_configure(r->o.files, now->timezone, &now->defaults))
		log_error(SUBSYSTEM, "new defaults don't hold for cronctl add "
		    "yet: too much is being read already; run cronctl reload "
		    "later");
	log_set_level(now->log_level);
	config_free(r->config);
	r->config = now;
	r->read.config = NULL;
	return true;
}

/* --- sections --- */

/* The definition leaves its file for the scheduler. */
static void
take(const struct pass *p, const struct files_section *sec,
    struct scheduler_job_spec *spec)
{
	*spec = (struct scheduler_job_spec){
		.def = sec->place->def,
		.owner_uid = p->r->o.owner_uid,
		.owner_name = p->r->owner_name,
		.origin = ORIGIN_FILE,
		.file = sec->file->name,
		.line = sec->place->line,
		.sequence = sec->sequence,
	};
	sec->place->def = NULL;
}

static void
append_key(void *arg, const char *key, const char *a, const char *b)
{
	struct strbuf *sb = arg;

	strbuf_addf(sb, "%s%s", sb->len > 0 ? ", " : "", key);
	if (a != NULL && b != NULL && strlen(a) + strlen(b) < 60)
		strbuf_addf(sb, " %s -> %s", a, b);
}

static void
add_job(struct pass *p, struct files_section *sec)
{
	struct scheduler *scheduler = p->r->o.scheduler;
	struct scheduler_job_spec spec;

	p->added++;
	add_change(p, '+', sec->place->def->name,
	    jobdef_schedule_text(sec->place->def));
	if (is_plan(p))
		return;
	take(p, sec, &spec);
	scheduler_add_finish(scheduler, scheduler_add_begin(scheduler, &spec));
}

static void
change_job(struct pass *p, struct files_section *sec, struct job *job)
{
	struct scheduler *scheduler = p->r->o.scheduler;
	struct scheduler_job_spec spec;
	struct strbuf keys = STRBUF_INIT;

	p->changed++;
	jobdef_differences(job->def, sec->place->def, append_key, &keys);
	if (keys.len == 0) {
		p->replanned++;
		strbuf_addstr(&keys, "time zone");
	}
	add_change(p, '~', job->def->name, strbuf_detach(&keys));
	if (is_plan(p))
		return;
	take(p, sec, &spec);
	scheduler_replace_begin(scheduler, job, &spec);
	scheduler_replace_finish(scheduler, job, &spec);
}

static bool
apply_section(struct pass *p)
{
	struct files_section *sec = &p->r->read.sections[p->at];
	const struct jobdef *def;
	struct job *job;

	if (p->at >= p->r->read.n_sections)
		return true;
	if (p->refused[p->at++])
		return false;
	def = sec->place->def;
	job = jobtable_find(p->r->o.jobs, def->name);
	if (job == NULL) {
		add_job(p, sec);
	} else if (!jobdef_equal(job->def, def) ||
	    !jobdef_same_times(job->def, def)) {
		/* The daemon's zone may have changed under equal settings. */
		change_job(p, sec, job);
	} else {
		p->result.unchanged++;
		if (!is_plan(p))
			scheduler_move_job(p->r->o.scheduler, job,
			    sec->file->name, sec->place->line, sec->sequence);
	}
	return false;
}

static bool
remove_gone(struct pass *p)
{
	struct scheduler *scheduler = p->r->o.scheduler;
	struct job *job;

	if (p->at >= p->n_gone)
		return true;
	job = jobtable_find_id(p->r->o.jobs, p->gone[p->at++]);
	if (job == NULL)
		return false;
	p->removed++;
	add_change(p, '-', job->def->name, job->n_runs > 0 ?
	    xstrdup("its running run finishes") : NULL);
	if (is_plan(p))
		return false;
	scheduler_remove_begin(scheduler, job, -1);
	scheduler_remove_finish(scheduler, job, false, -1);
	return false;
}

/* --- the files themselves --- */

static int
compare_known(const void *name, const void *known)
{
	return strcmp(name, ((const struct known_file *)known)->name);
}

static void
put_file(struct reload *r, const struct jobfile *f)
{
	const struct known_file *known = r->n_known == 0 ? NULL :
	    bsearch(f->name, r->known, r->n_known, sizeof *r->known,
	    compare_known);
	struct file_row row = {
		.name = f->name,
		.good = f->n_errors == 0 ? f->text : NULL,
		.good_len = f->n_errors == 0 ? f->text_len : 0,
		.error = f->n_errors > 0 ? f->errors[0] : NULL,
		.loaded = walltime_now().us,
	};

	if (known != NULL && known->hash == f->hash &&
	    known->in_error == (f->n_errors > 0))
		return;
	if (row.error != NULL)
		events_put_file_error(r->o.store, row.name, row.error);
	store_put_file(r->o.store, &row);
}

/* For the next comparison. */
static void
know_files(struct reload *r)
{
	const struct jobfile_set *set = &r->read.set;

	for (size_t i = 0; i < r->n_known; i++)
		free(r->known[i].name);
	free(r->known);
	r->known = xcalloc(set->n_files, sizeof *r->known);
	r->n_known = set->n_files;
	for (size_t i = 0; i < set->n_files; i++)
		r->known[i] = (struct known_file){
			.name = xstrdup(set->files[i]->name),
			.hash = set->files[i]->hash,
			.in_error = set->files[i]->n_errors > 0,
		};
}

/* Items: the files known so far, then those that were read. */
static bool
remember_files(struct pass *p)
{
	struct reload *r = p->r;
	const struct jobfile_set *set = &r->read.set;
	size_t i = p->at++;

	if (is_plan(p))
		return true;
	if (i < r->n_known) {
		if (pass_find_file(p, r->known[i].name) == NULL)
			store_put_file_gone(r->o.store, r->known[i].name);
		return false;
	}
	i -= r->n_known;
	if (i < set->n_files) {
		put_file(r, set->files[i]);
		return false;
	}
	know_files(r);
	r->n_ignored = set->n_ignored;
	free(r->zone);
	r->zone = r->read.zone;
	r->read.zone = NULL;
	return true;
}

/* --- what it came to --- */

static bool
was_known(const struct reload *r, const char *error)
{
	for (size_t i = 0; i < r->n_errors; i++)
		if (strcmp(r->errors[i], error) == 0)
			return true;
	return false;
}

static void
log_result(const struct pass *p)
{
	const struct reload_result *res = &p->result;
	bool loud = (p->what & RELOAD_LOUD) ||
	    p->r->n_errors != res->n_errors;

	for (size_t i = 0; i < res->n_errors && i < MESSAGES_LOGGED; i++) {
		if (!(p->what & RELOAD_LOUD) &&
		    was_known(p->r, res->errors[i]))
			continue;
		loud = true;
		log_error(SUBSYSTEM, "%s", res->errors[i]);
	}
	for (size_t i = 0; i < res->n_warnings && i < MESSAGES_LOGGED &&
	    (p->what & RELOAD_LOUD); i++)
		log_warning(SUBSYSTEM, "%s", res->warnings[i]);
	for (size_t i = 0; i < res->n_config; i++)
		log_info(SUBSYSTEM, "cronctld.conf: %s", res->config[i]);
	if (p->replanned > 0)
		log_info(SUBSYSTEM, "time zones have changed: %zu jobs are "
		    "planned anew", p->replanned);
	if (loud || p->added + p->changed + p->removed > 0)
		log_info(SUBSYSTEM, "%zu files: %zu jobs added, %zu changed, "
		    "%zu removed, %zu unchanged, %zu errors",
		    p->r->read.set.n_files, p->added, p->changed, p->removed,
		    res->unchanged, res->n_errors);
}

static void
finish(struct pass *p)
{
	struct reload *r = p->r;

	if (is_plan(p))
		return;
	log_result(p);
	for (size_t i = 0; i < r->n_errors; i++)
		free(r->errors[i]);
	free(r->errors);
	r->errors = NULL;
	r->n_errors = 0;
	for (size_t i = 0; i < p->result.n_errors; i++)
		pass_add_text(&r->errors, &r->n_errors,
		    xstrdup(p->result.errors[i]));
}

static void
copy_messages(struct pass *p)
{
	const struct jobfile_set *set = &p->r->read.set;

	for (size_t i = 0; i < set->n_files; i++) {
		const struct jobfile *f = set->files[i];

		for (size_t j = 0; j < f->n_errors; j++)
			pass_add_text(&p->result.errors, &p->result.n_errors,
			    xstrdup(f->errors[j]));
		for (size_t j = 0; j < f->n_warnings; j++)
			pass_add_text(&p->result.warnings,
			    &p->result.n_warnings, xstrdup(f->warnings[j]));
	}
}

/* It can't be done: nothing changes. */
static void
fail(struct pass *p)
{
	const struct files_jobs *read = &p->r->read;

	p->result.failed = true;
	p->phase = PASS_OVER;
	for (size_t i = 0; i < read->n_config_errors; i++)
		pass_add_text(&p->result.errors, &p->result.n_errors,
		    xstrdup(read->config_errors[i]));
	if (read->err.text[0] != '\0')
		pass_add_text(&p->result.errors, &p->result.n_errors,
		    xstrdup(read->err.text));
	for (size_t i = 0; i < p->result.n_errors && i < MESSAGES_LOGGED; i++)
		log_error(SUBSYSTEM, "%s; nothing has changed",
		    p->result.errors[i]);
}

struct pass *
pass_new(struct reload *r, unsigned what, bool told)
{
	struct pass *p = xcalloc(1, sizeof *p);

	p->r = r;
	p->what = what;
	p->told = told;
	if (r->read.err.text[0] != '\0' || r->read.n_config_errors > 0) {
		fail(p);
		return p;
	}
	p->refused = xcalloc(r->read.n_sections, sizeof *p->refused);
	copy_messages(p);
	return p;
}

static void
free_texts(char **v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(v[i]);
	free(v);
}

void
pass_free(struct pass *p)
{
	if (p == NULL)
		return;
	for (size_t i = 0; i < p->result.n_changes; i++) {
		free(p->result.changes[i].job);
		free(p->result.changes[i].detail);
	}
	free(p->result.changes);
	free_texts(p->result.errors, p->result.n_errors);
	free_texts(p->result.warnings, p->result.n_warnings);
	free_texts(p->result.config, p->result.n_config);
	free(p->refused);
	free(p->gone);
	free(p->after);
	free(p);
}

/* Each does one item; true when the phase is over. */
static bool (*const phases[PASS_OVER])(struct pass *) = {
	[PASS_CONFIG] = take_config,
	[PASS_NAMES] = pass_judge_name,
	[PASS_GONE] = pass_find_gone,
	[PASS_SECTIONS] = apply_section,
	[PASS_REMOVE] = remove_gone,
	[PASS_ZONES] = pass_rebuild,
	[PASS_FILES] = remember_files,
};

bool
pass_item(struct pass *p)
{
	if (p->phase == PASS_OVER || p->rebuilding)
		return false;
	if (!phases[p->phase](p))
		return true;
	p->at = 0;
	if (++p->phase == PASS_OVER)
		finish(p);
	return p->phase != PASS_OVER;
}

bool
pass_is_over(const struct pass *p)
{
	return p->phase == PASS_OVER;
}
