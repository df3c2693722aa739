/* SPDX-License-Identifier: ISC */
/*
 * From "what the files say" to "what is in force".  Read on the files helper,
 * compared and applied here by name.  Any error keeps the whole file's last
 * good jobs in force; of two sections with one name the one already in force
 * stays, else the first by file name.
 *
 * Job files are the truth: a change applies at once, its rows follow.
 */
#include "config.h"

#include "daemon/reload.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/strbuf.h"
#include "common/xmalloc.h"

#define SUBSYSTEM	"reload"
#define SEQUENCE_LINES	32	/* bits of a sequence below the file's index */
#define MESSAGES_LOGGED	20	/* errors of one reload in the log */

/* Somebody who asked for a reload. */
struct reload_waiter {
	bool	  plan;
	void	(*done)(void *arg, const struct reload_result *);
	void	 *arg;
	struct reload_waiter *next;
};

/* A section of a good file. */
struct section {
	struct jobdef	*def;		/* borrowed from the file until taken */
	struct jobfile	*file;
	struct jobfile_job *place;	/* where def was; cleared when taken */
	int		 line;
	uint64_t	 sequence;
	bool		 refused;	/* its name belongs to another section */
};

/* A job file as it was last read. */
struct known_file {
	char		*name;
	uint64_t	 hash;
	bool		 in_error;
};

struct reload {
	struct reload_options	 o;
	struct reload_waiter	*waiting;	/* for the next reading */
	struct reload_waiter	*served;	/* by the one under way */
	bool			 reading;
	bool			 leaving;	/* reload_free was called while
						 * reading */
	struct known_file	*known;
	size_t			 n_known;
	size_t			 n_ignored;
	char			**errors;	/* of the last reading */
	size_t			 n_errors;
	char			*owner_name;
};

/* One pass over what was read. */
struct pass {
	struct reload		*r;
	struct jobfile_set	*set;
	struct section		*sections;	/* by name, then file, line */
	size_t			 n_sections;
	struct reload_result	 result;
	bool			 plan;
};

struct reload *
reload_new(const struct reload_options *o)
{
	struct reload *r = xcalloc(1, sizeof *r);

	r->o = *o;
	r->owner_name = o->owner_name != NULL ? xstrdup(o->owner_name) : NULL;
	return r;
}

static void
free_texts(char **v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(v[i]);
	free(v);
}

/* It came to nothing: tells those who asked. */
static void
fail_waiters(struct reload_waiter *w, const char *why)
{
	char *text = xstrdup(why);
	const struct reload_result result = {
		.errors = &text, .n_errors = 1, .failed = true
	};
	struct reload_waiter *next;

	for (; w != NULL; w = next) {
		next = w->next;
		if (w->done != NULL)
			w->done(w->arg, &result);
		free(w);
	}
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
	/* What is being read comes back to on_read, which frees it all. */
	r->leaving = r->reading;
	if (r->leaving)
		return;
	for (size_t i = 0; i < r->n_known; i++)
		free(r->known[i].name);
	free(r->known);
	free_texts(r->errors, r->n_errors);
	free(r->owner_name);
	free(r);
}

static void
add_text(char ***v, size_t *n, char *text)
{
	*v = xreallocarray(*v, *n + 1, sizeof **v);
	(*v)[(*n)++] = text;
}

static void
add_change(struct pass *p, char what, const char *job, char *detail)
{
	struct reload_result *res = &p->result;

	res->changes = xreallocarray(res->changes, res->n_changes + 1,
	    sizeof *res->changes);
	res->changes[res->n_changes++] = (struct reload_change){
		what, xstrdup(job), detail
	};
}

static void
release_result(struct reload_result *res)
{
	for (size_t i = 0; i < res->n_changes; i++) {
		free(res->changes[i].job);
		free(res->changes[i].detail);
	}
	free(res->changes);
	free_texts(res->errors, res->n_errors);
	free_texts(res->warnings, res->n_warnings);
}

static struct jobfile *
file_of_name(const struct pass *p, const char *name)
{
	for (size_t i = 0; i < p->set->n_files; i++)
		if (strcmp(p->set->files[i]->name, name) == 0)
			return p->set->files[i];
	return NULL;
}

static bool
is_in_error(const struct pass *p, const char *file)
{
	const struct jobfile *f = file_of_name(p, file);

	return f != NULL && f->n_errors > 0;
}

/* --- sections and whose name it is --- */

static int
compare_sections(const void *a, const void *b)
{
	const struct section *x = a, *y = b;
	int c = strcmp(x->def->name, y->def->name);

	if (c != 0)
		return c;
	return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

static void
collect_sections(struct pass *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->set->n_files; i++)
		n += p->set->files[i]->n_jobs;
	p->sections = xcalloc(n, sizeof *p->sections);
	for (size_t i = 0; i < p->set->n_files; i++) {
		struct jobfile *f = p->set->files[i];

		for (size_t j = 0; j < f->n_jobs; j++)
			p->sections[p->n_sections++] = (struct section){
				.def = f->jobs[j].def,
				.file = f,
				.place = &f->jobs[j],
				.line = f->jobs[j].line,
				.sequence = (uint64_t)i << SEQUENCE_LINES |
				    (uint64_t)f->jobs[j].line,
			};
	}
	if (p->n_sections > 0)
		qsort(p->sections, p->n_sections, sizeof *p->sections,
		    compare_sections);
}

static void
refuse(struct pass *p, struct section *sec, const char *other_file,
    int other_line)
{
	struct strbuf sb = STRBUF_INIT;

	sec->refused = true;
	strbuf_addf(&sb, "%s:%d: [%s]: the name is taken by ",
	    sec->file->name, sec->line, sec->def->name);
	if (other_file != NULL)
		strbuf_addf(&sb, "%s:%d", other_file, other_line);
	else
		strbuf_addstr(&sb, "a job added with cronctl add");
	strbuf_addstr(&sb, "; give one of them another name");
	add_text(&p->result.errors, &p->result.n_errors,
	    strbuf_detach(&sb));
}

/*
 * Of the sections first..last-1 with one name the one in force stays, else
 * the first; the others are refused.
 */
static void
judge_name(struct pass *p, struct section *sec, size_t n)
{
	struct job *job = jobtable_find(p->r->o.jobs, sec->def->name);
	size_t keep = 0;

	if ((job != NULL && job->origin == ORIGIN_CONTROL) ||
	    jobtable_is_reserved(p->r->o.jobs, sec->def->name)) {
		for (size_t i = 0; i < n; i++)
			refuse(p, &sec[i], NULL, 0);
		return;
	}
	if (job != NULL && is_in_error(p, job->file)) {
		for (size_t i = 0; i < n; i++)
			refuse(p, &sec[i], job->file, job->line);
		return;
	}
	for (size_t i = 0; i < n && job != NULL; i++)
		if (strcmp(sec[i].file->name, job->file) == 0)
			keep = i;
	for (size_t i = 0; i < n; i++)
		if (i != keep)
			refuse(p, &sec[i], sec[keep].file->name,
			    sec[keep].line);
}

static void
judge_names(struct pass *p)
{
	size_t n;

	for (size_t i = 0; i < p->n_sections; i += n) {
		for (n = 1; i + n < p->n_sections; n++)
			if (strcmp(p->sections[i].def->name,
			    p->sections[i + n].def->name) != 0)
				break;
		judge_name(p, &p->sections[i], n);
	}
}

/* --- applying --- */

/* The definition leaves its file for the scheduler. */
static void
take(const struct pass *p, struct section *sec,
    struct scheduler_job_spec *spec)
{
	*spec = (struct scheduler_job_spec){
		.def = sec->def,
		.owner_uid = p->r->o.owner_uid,
		.owner_name = p->r->owner_name,
		.origin = ORIGIN_FILE,
		.file = sec->file->name,
		.line = sec->line,
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
apply_section(struct pass *p, struct section *sec)
{
	struct reload *r = p->r;
	struct job *job = jobtable_find(r->o.jobs, sec->def->name);
	struct scheduler_job_spec spec;
	struct strbuf keys = STRBUF_INIT;

	if (job == NULL) {
		add_change(p, '+', sec->def->name,
		    jobdef_schedule_text(sec->def));
		if (!p->plan) {
			take(p, sec, &spec);
			scheduler_add_finish(r->o.scheduler,
			    scheduler_add_begin(r->o.scheduler, &spec));
		}
		return;
	}
	/* The daemon's zone may have changed under equal settings. */
	if (jobdef_equal(job->def, sec->def) &&
	    jobdef_same_times(job->def, sec->def)) {
		p->result.unchanged++;
		if (!p->plan)
			scheduler_move_job(r->o.scheduler, job,
			    sec->file->name, sec->line, sec->sequence);
		return;
	}
	jobdef_differences(job->def, sec->def, append_key, &keys);
	if (keys.len == 0)
		strbuf_addstr(&keys, "time zone");
	add_change(p, '~', sec->def->name, strbuf_detach(&keys));
	if (!p->plan) {
		take(p, sec, &spec);
		scheduler_replace_begin(r->o.scheduler, job, &spec);
		scheduler_replace_finish(r->o.scheduler, job, &spec);
	}
}

static int
compare_section_name(const void *name, const void *section)
{
	return strcmp(name, ((const struct section *)section)->def->name);
}

/* Whether some good file still defines it. */
static bool
is_defined(const struct pass *p, const struct job *job)
{
	return p->n_sections > 0 && bsearch(job->def->name, p->sections,
	    p->n_sections, sizeof *p->sections, compare_section_name) != NULL;
}

/* File jobs that no file defines any more, as an array to be freed. */
static struct job **
find_gone(struct pass *p, size_t *n)
{
	struct job **gone = NULL, *job;

	*n = 0;
	for (size_t i = 0; (job = jobtable_at(p->r->o.jobs, i)) != NULL; i++) {
		if (job->origin != ORIGIN_FILE || is_defined(p, job))
			continue;
		if (is_in_error(p, job->file)) {
			p->result.unchanged++;
			continue;
		}
		gone = xreallocarray(gone, *n + 1, sizeof *gone);
		gone[(*n)++] = job;
	}
	return gone;
}

static void
remove_gone(struct pass *p, struct job **gone, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		add_change(p, '-', gone[i]->def->name, gone[i]->n_runs > 0 ?
		    xstrdup("its running run finishes") : NULL);
		if (p->plan)
			continue;
		scheduler_remove_begin(p->r->o.scheduler, gone[i]);
		scheduler_remove_finish(p->r->o.scheduler, gone[i], false,
		    -1);
	}
	free(gone);
}

/* --- the files themselves --- */

static const struct known_file *
find_known(const struct reload *r, const char *name)
{
	for (size_t i = 0; i < r->n_known; i++)
		if (strcmp(r->known[i].name, name) == 0)
			return &r->known[i];
	return NULL;
}

static void
put_file(struct pass *p, const struct jobfile *f)
{
	const struct known_file *known = find_known(p->r, f->name);
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
	store_put_file(p->r->o.store, &row);
}

/* Remembers what was read, for the next comparison and for status. */
static void
remember(struct pass *p)
{
	struct reload *r = p->r;
	struct known_file *old = r->known;
	size_t n_old = r->n_known;

	for (size_t i = 0; i < n_old; i++)
		if (file_of_name(p, old[i].name) == NULL)
			store_put_file_gone(r->o.store, old[i].name);
	for (size_t i = 0; i < p->set->n_files; i++)
		put_file(p, p->set->files[i]);
	r->known = xcalloc(p->set->n_files, sizeof *r->known);
	r->n_known = p->set->n_files;
	for (size_t i = 0; i < p->set->n_files; i++)
		r->known[i] = (struct known_file){
			.name = xstrdup(p->set->files[i]->name),
			.hash = p->set->files[i]->hash,
			.in_error = p->set->files[i]->n_errors > 0,
		};
	for (size_t i = 0; i < n_old; i++)
		free(old[i].name);
	free(old);
	r->n_ignored = p->set->n_ignored;
	free_texts(r->errors, r->n_errors);
	r->errors = NULL;
	r->n_errors = 0;
	for (size_t i = 0; i < p->result.n_errors; i++)
		add_text(&r->errors, &r->n_errors,
		    xstrdup(p->result.errors[i]));
}

static void
log_result(const struct pass *p)
{
	const struct reload_result *res = &p->result;
	size_t added = 0, changed = 0, removed = 0;

	for (size_t i = 0; i < res->n_changes; i++) {
		added += res->changes[i].what == '+';
		changed += res->changes[i].what == '~';
		removed += res->changes[i].what == '-';
	}
	for (size_t i = 0; i < res->n_errors && i < MESSAGES_LOGGED; i++)
		log_error(SUBSYSTEM, "%s", res->errors[i]);
	for (size_t i = 0; i < res->n_warnings && i < MESSAGES_LOGGED; i++)
		log_warning(SUBSYSTEM, "%s", res->warnings[i]);
	log_info(SUBSYSTEM, "%zu files: %zu jobs added, %zu changed, "
	    "%zu removed, %zu unchanged, %zu errors", p->set->n_files, added,
	    changed, removed, res->unchanged, res->n_errors);
}

static void
copy_messages(struct pass *p)
{
	for (size_t i = 0; i < p->set->n_files; i++) {
		const struct jobfile *f = p->set->files[i];

		for (size_t j = 0; j < f->n_errors; j++)
			add_text(&p->result.errors, &p->result.n_errors,
			    xstrdup(f->errors[j]));
		for (size_t j = 0; j < f->n_warnings; j++)
			add_text(&p->result.warnings, &p->result.n_warnings,
			    xstrdup(f->warnings[j]));
	}
}

/* Those who asked for this kind of pass learn what it came to. */
static void
tell(struct reload *r, bool plan, const struct reload_result *result)
{
	struct reload_waiter **p = &r->served, *w;

	while ((w = *p) != NULL) {
		if (w->plan != plan) {
			p = &w->next;
			continue;
		}
		*p = w->next;
		if (w->done != NULL)
			w->done(w->arg, result);
		free(w);
	}
}

static void
run_pass(struct reload *r, struct files_jobs *read, bool plan)
{
	struct pass p = { .r = r, .set = &read->set, .plan = plan };
	struct job **gone;
	size_t n_gone;

	if (read->err.text[0] != '\0') {
		p.result.failed = true;
		add_text(&p.result.errors, &p.result.n_errors,
		    xstrdup(read->err.text));
		log_error(SUBSYSTEM, "%s; nothing has changed",
		    read->err.text);
	} else {
		copy_messages(&p);
		collect_sections(&p);
		judge_names(&p);
		gone = find_gone(&p, &n_gone);
		for (size_t i = 0; i < p.n_sections; i++)
			if (!p.sections[i].refused)
				apply_section(&p, &p.sections[i]);
		remove_gone(&p, gone, n_gone);
		if (!plan) {
			remember(&p);
			log_result(&p);
		}
	}
	tell(r, plan, &p.result);
	free(p.sections);
	release_result(&p.result);
}

void
reload_apply_now(struct reload *r, struct files_jobs *read)
{
	run_pass(r, read, false);
}

/* --- requests --- */

static void	begin(struct reload *);

static bool
is_asked(const struct reload *r, bool plan)
{
	for (const struct reload_waiter *w = r->served; w != NULL; w = w->next)
		if (w->plan == plan)
			return true;
	return false;
}

/* One reading serves all who waited for it; the last pass takes it apart. */
static void
on_read(void *arg, struct files_jobs *read)
{
	struct reload *r = arg;

	r->reading = false;
	if (r->leaving) {
		reload_free(r);
		return;
	}
	if (is_asked(r, true))
		run_pass(r, read, true);
	if (is_asked(r, false))
		run_pass(r, read, false);
	begin(r);
}

static void
begin(struct reload *r)
{
	struct reload_waiter *waiters;

	if (r->reading || r->waiting == NULL)
		return;
	r->served = r->waiting;
	r->waiting = NULL;
	if (files_load_jobs(r->o.files, on_read, r)) {
		r->reading = true;
		return;
	}
	log_error(SUBSYSTEM, "not reloaded: too many files wait to be read");
	waiters = r->served;
	r->served = NULL;
	fail_waiters(waiters, "too many files wait to be read; try again");
}

void
reload_request(struct reload *r, bool plan,
    void (*done)(void *arg, const struct reload_result *), void *arg)
{
	struct reload_waiter *w = xcalloc(1, sizeof *w), **end = &r->waiting;

	w->plan = plan;
	w->done = done;
	w->arg = arg;
	while (*end != NULL)
		end = &(*end)->next;
	*end = w;
	begin(r);
}

void
reload_status(const struct reload *r, struct reload_status *status)
{
	*status = (struct reload_status){
		.n_files = r->n_known,
		.n_ignored = r->n_ignored,
		.errors = r->errors,
		.n_errors = r->n_errors,
	};
	for (size_t i = 0; i < r->n_known; i++)
		status->n_files_in_error += r->known[i].in_error;
}
