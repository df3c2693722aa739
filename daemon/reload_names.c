/* SPDX-License-Identifier: ISC */
/*
 * Names are judged over the whole set of files: of sections with one name the
 * one in force stays, else the first by file name and line.  The others are
 * refused, each alone, and are judged anew in every reload.
 */
#include "config.h"

#include "daemon/reload_internal.h"

#include <stdlib.h>
#include <string.h>

#include "common/strbuf.h"
#include "common/xmalloc.h"

static int
compare_file_name(const void *name, const void *file)
{
	return strcmp(name, (*(struct jobfile *const *)file)->name);
}

/* Files are in the order of their names. */
struct jobfile *
pass_find_file(const struct pass *p, const char *name)
{
	const struct jobfile_set *set = &p->r->read.set;
	struct jobfile **found = set->n_files == 0 ? NULL : bsearch(name,
	    set->files, set->n_files, sizeof *set->files, compare_file_name);

	return found != NULL ? *found : NULL;
}

static bool
is_in_error(const struct pass *p, const char *file)
{
	const struct jobfile *f = pass_find_file(p, file);

	return f != NULL && f->n_errors > 0;
}

static const char *
name_of(const struct files_section *sec)
{
	return sec->place->def->name;
}

static void
refuse(struct pass *p, const struct files_section *sec,
    const char *other_file, int other_line)
{
	struct strbuf sb = STRBUF_INIT;

	p->refused[sec - p->r->read.sections] = true;
	strbuf_addf(&sb, "%s:%d: [%s]: the name is taken by ",
	    sec->file->name, sec->place->line, name_of(sec));
	if (other_file != NULL)
		strbuf_addf(&sb, "%s:%d", other_file, other_line);
	else
		strbuf_addstr(&sb, "a job added with cronctl add");
	strbuf_addstr(&sb, "; give one of them another name");
	pass_add_text(&p->result.errors, &p->result.n_errors,
	    strbuf_detach(&sb));
}

/* n sections with one name. */
static void
judge(struct pass *p, const struct files_section *sec, size_t n)
{
	struct jobtable *jobs = p->r->o.jobs;
	struct job *job = jobtable_find(jobs, name_of(sec));
	const char *other = NULL;
	size_t keep = 0;

	if ((job != NULL && job->origin == ORIGIN_CONTROL) ||
	    jobtable_is_reserved(jobs, name_of(sec)) ||
	    (job != NULL && is_in_error(p, job->file))) {
		if (job != NULL && job->origin == ORIGIN_FILE)
			other = job->file;
		for (size_t i = 0; i < n; i++)
			refuse(p, &sec[i], other, job != NULL ? job->line : 0);
		return;
	}
	for (size_t i = n; i-- > 0 && job != NULL;)
		if (strcmp(sec[i].file->name, job->file) == 0)
			keep = i;
	for (size_t i = 0; i < n; i++)
		if (i != keep)
			refuse(p, &sec[i], sec[keep].file->name,
			    sec[keep].place->line);
}

bool
pass_judge_name(struct pass *p)
{
	const struct files_jobs *read = &p->r->read;
	const struct files_section *first = &read->sections[p->at];
	size_t n = 1;

	if (p->at >= read->n_sections)
		return true;
	while (p->at + n < read->n_sections &&
	    strcmp(name_of(first), name_of(first + n)) == 0)
		n++;
	judge(p, first, n);
	p->at += n;
	return false;
}

/* --- what is gone --- */

static int
compare_section_name(const void *name, const void *section)
{
	return strcmp(name, name_of(section));
}

/* Whether some good file still defines it. */
static bool
is_defined(const struct pass *p, const struct job *job)
{
	const struct files_jobs *read = &p->r->read;

	return read->n_sections > 0 && bsearch(job->def->name,
	    read->sections, read->n_sections, sizeof *read->sections,
	    compare_section_name) != NULL;
}

bool
pass_find_gone(struct pass *p)
{
	const struct job *job = jobtable_at(p->r->o.jobs, p->at++);

	if (job == NULL)
		return true;
	if (job->origin != ORIGIN_FILE || is_defined(p, job))
		return false;
	if ((p->what & RELOAD_KEEP) || is_in_error(p, job->file)) {
		p->result.unchanged++;
		return false;
	}
	if ((p->n_gone & (p->n_gone - 1)) == 0)
		p->gone = xreallocarray(p->gone, p->n_gone > 0 ?
		    2 * p->n_gone : 1, sizeof *p->gone);
	p->gone[p->n_gone++] = job->id;
	return false;
}
