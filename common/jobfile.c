/* SPDX-License-Identifier: ISC */
/*
 * Job files: INI text to definitions.  Every error of a file is told, in the
 * order of its lines and each once: what [defaults] has wrong is not told
 * again for the jobs below it, nor is a key called missing that was given
 * but not understood.
 *
 * Cost: linear in the text.
 */
#include "config.h"

#include "common/jobfile.h"

#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/inifile.h"
#include "common/jobfile_internal.h"
#include "common/strbuf.h"
#include "common/utf8.h"
#include "common/xmalloc.h"

#define SECTION_DEFAULTS "defaults"
#define MISSING "missing"	/* what jobdef_build says of a required key */

/* Errors or warnings: a line and a text each. */
struct problem {
	int	 line;		/* in the file; 0: all of it */
	size_t	 order;		/* told as the how-manieth */
	char	*text;		/* "FILE:LINE: [job] key: sentence" */
};

struct problems {
	struct problem	*v;	/* as told */
	size_t		 n;	/* of these */
	size_t		 cap;	/* allocated */
};

struct reader {
	struct jobfile	*file;		/* being filled */
	const struct jobfile_options *options;	/* of the caller */
	const struct inifile *ini;	/* the text, taken apart */
	struct jobdef_context context;	/* for jobdef_build */
	struct problems	 errors;	/* so far */
	struct problems	 warnings;	/* so far */
	const char	*section;	/* present one, or NULL */
	int		 line;		/* where it begins */
	struct jobdef_settings own;	/* of the present section */
	size_t		 own_size;	/* bytes of what it wanted to set */
	uint64_t	 excused;	/* rows given in it, but not usable */
	struct jobdef_settings defaults; /* [defaults] in force */
	bool		 defaults_bad;	/* it had an error; not in force */
	size_t		 n_jobs;	/* sections of jobs so far */
	bool		 stopped;	/* too many jobs or errors */
};

static bool
is_full(const struct problems *p)
{
	return p->n >= INIFILE_ERRORS_MAX;
}

/* Takes text over. */
static void
add_problem(struct problems *p, int line, char *text)
{
	if (p->n == p->cap) {
		p->cap = p->cap > 0 ? 2 * p->cap : 8;
		p->v = xreallocarray(p->v, p->cap, sizeof *p->v);
	}
	p->v[p->n] = (struct problem){ line, p->n, text };
	p->n++;
}

/* A section as errors show it: nothing long, no control characters. */
static void
add_section(struct strbuf *out, const char *section)
{
	char quoted[ERROR_QUOTE_MAX];
	size_t len = strlen(section);

	error_quote(quoted, section, len);
	if (strlen(quoted) == len + 2)
		strbuf_addf(out, "[%s] ", section);
	else
		strbuf_addf(out, "[%s] ", quoted);
}

/* One line of UTF-8 without control characters, whatever it quotes. */
static char *
printable(const struct strbuf *text)
{
	struct strbuf out = STRBUF_INIT;
	size_t i = 0;
	bool valid;

	while (i < text->len) {
		size_t n = utf8_sequence(text->buf + i, text->len - i, &valid);
		unsigned char c = (unsigned char)text->buf[i];

		if (valid && c >= 0x20 && c != 0x7f) {
			strbuf_add(&out, text->buf + i, n);
			i += n;
		} else {
			strbuf_addf(&out, "\\x%02x", c);
			i++;
		}
	}
	return strbuf_detach(&out);
}

static char *
problem_text(const char *file, int line, const char *section,
    const char *key, const char *sentence)
{
	struct strbuf out = STRBUF_INIT;
	char *text;

	strbuf_addf(&out, "%s:", file);
	if (line > 0)
		strbuf_addf(&out, "%d:", line);
	strbuf_addch(&out, ' ');
	if (section != NULL && *section != '\0')
		add_section(&out, section);
	if (*key != '\0')
		strbuf_addf(&out, "%s: ", key);
	strbuf_addstr(&out, sentence);
	text = printable(&out);
	strbuf_release(&out);
	return text;
}

static void
tell(struct reader *r, struct problems *p, int line, const char *section,
    const char *key, const char *sentence)
{
	if (!is_full(p))
		add_problem(p, line, problem_text(r->file->name, line,
		    section, key, sentence));
	else if (p == &r->errors)
		r->stopped = true;
}

/* A row that the section gave, rightly or not, is not missing. */
static void
excuse(struct reader *r, const char *name)
{
	const struct jobdef_key *key = jobdef_key_find(name);

	if (key == NULL && jobdef_key_nearest(name) != NULL)
		key = jobdef_key_find(jobdef_key_nearest(name));
	if (key != NULL)
		r->excused |= UINT64_C(1) << (key - jobdef_keys());
}

static bool
is_excused(const struct reader *r, const char *name)
{
	const struct jobdef_key *key = jobdef_key_find(name);

	/* Nothing usable in it: that was told. */
	if (r->defaults_bad || r->own_size == 0 ||
	    r->own_size > JOBDEF_SIZE_MAX)
		return true;
	if (r->excused & UINT64_C(1) << (key - jobdef_keys()))
		return true;
	for (size_t i = 0; i < r->ini->n_errors; i++)
		if (r->ini->errors[i].section == r->section &&
		    strcmp(r->ini->errors[i].key, name) == 0)
			return true;
	return false;
}

static void
take_error(void *arg, int line, const char *key, const char *text)
{
	struct reader *r = arg;

	if (strncmp(text, MISSING, strlen(MISSING)) == 0 &&
	    jobdef_key_find(key) != NULL && is_excused(r, key))
		return;
	tell(r, &r->errors, line > 0 ? line : r->line, r->section, key, text);
}

static void
take_warning(void *arg, int line, const char *key, const char *text)
{
	struct reader *r = arg;

	tell(r, &r->warnings, line > 0 ? line : r->line, r->section, key,
	    text);
}

static void
end_defaults(struct reader *r, bool failed)
{
	jobdef_settings_release(&r->defaults);
	r->context.warning = NULL;
	if (jobdef_check_defaults(&r->own, &r->context) == -1)
		failed = true;
	r->context.warning = take_warning;
	r->defaults_bad = failed;
	if (failed)
		return;
	r->defaults = r->own;
	jobdef_settings_init(&r->own);
}

static void
end_job(struct reader *r)
{
	const struct jobdef_settings *layers[3];
	struct jobfile *file = r->file;
	struct jobdef *def;
	struct error err;
	size_t n = 0;

	if (strchr(r->section, '/') != NULL &&
	    jobdef_name_check(r->section, &err) == -1)
		tell(r, &r->errors, r->line, r->section, "", err.text);
	layers[n++] = &r->own;
	layers[n++] = &r->defaults;
	if (r->options->defaults != NULL)
		layers[n++] = r->options->defaults;
	def = jobdef_build(r->section, layers, n, &r->context);
	if (def == NULL)
		return;
	if ((file->n_jobs & (file->n_jobs - 1)) == 0)
		file->jobs = xreallocarray(file->jobs, file->n_jobs > 0 ?
		    2 * file->n_jobs : 1, sizeof *file->jobs);
	file->jobs[file->n_jobs++] = (struct jobfile_job){ def, r->line };
}

static bool
has_bad_lines(const struct reader *r)
{
	for (size_t i = 0; i < r->ini->n_errors; i++)
		if (r->ini->errors[i].section == r->section)
			return true;
	return false;
}

static void
end_section(struct reader *r, size_t errors_before)
{
	/* A section without a usable header was reported already. */
	if (r->section != NULL && *r->section != '\0') {
		if (strcmp(r->section, SECTION_DEFAULTS) == 0)
			end_defaults(r, r->errors.n > errors_before ||
			    has_bad_lines(r));
		else
			end_job(r);
	}
	jobdef_settings_release(&r->own);
	r->own_size = 0;
	r->excused = 0;
}

static void
begin_section(struct reader *r, const struct inifile_entry *entry)
{
	struct error err;

	r->section = entry->section;
	r->line = entry->line;
	if (strcmp(entry->section, SECTION_DEFAULTS) == 0)
		return;
	if (++r->n_jobs <= JOBFILE_JOBS_MAX)
		return;
	error_set(&err, "more than %d jobs; divide the file",
	    JOBFILE_JOBS_MAX);
	tell(r, &r->errors, entry->line, entry->section, "", err.text);
	r->stopped = true;
}

static void
take_setting(struct reader *r, const struct inifile_entry *entry)
{
	bool was_full = r->own_size > JOBDEF_SIZE_MAX;
	struct error err;

	r->own_size += strlen(entry->key) + entry->value_len + 2;
	if (was_full)
		return;
	if (r->own_size > JOBDEF_SIZE_MAX) {
		error_set(&err, "the whole definition has more than %d bytes "
		    "from here on; shorten it", JOBDEF_SIZE_MAX);
		tell(r, &r->errors, entry->line, r->section, entry->key,
		    err.text);
		return;
	}
	if (jobdef_settings_add(&r->own, entry->key, entry->value,
	    entry->line, &err) == 0)
		return;
	excuse(r, entry->key);
	tell(r, &r->errors, entry->line, r->section, entry->key, err.text);
}

static void
read_entries(struct reader *r)
{
	size_t errors_before = 0;

	for (size_t i = 0; i < r->ini->n_entries && !r->stopped; i++) {
		const struct inifile_entry *entry = &r->ini->entries[i];

		if (entry->key == NULL) {
			end_section(r, errors_before);
			errors_before = r->errors.n;
			begin_section(r, entry);
		} else if (entry->section == r->section) {
			take_setting(r, entry);
		}
	}
	if (!r->stopped)
		end_section(r, errors_before);
}

static int
by_line(const void *a, const void *b)
{
	const struct problem *pa = a, *pb = b;

	if (pa->line != pb->line)
		return pa->line < pb->line ? -1 : 1;
	return pa->order < pb->order ? -1 : pa->order > pb->order;
}

/* Moves the texts out, in the order of their lines. */
static char **
sorted_texts(struct problems *p, size_t *n)
{
	char **texts = p->n > 0 ? xreallocarray(NULL, p->n, sizeof *texts) :
	    NULL;

	if (p->n > 0)
		qsort(p->v, p->n, sizeof *p->v, by_line);
	for (size_t i = 0; i < p->n; i++)
		texts[i] = p->v[i].text;
	*n = p->n;
	free(p->v);
	return texts;
}

static void
drop_jobs(struct jobfile *file)
{
	for (size_t i = 0; i < file->n_jobs; i++)
		jobdef_free(file->jobs[i].def);
	free(file->jobs);
	file->jobs = NULL;
	file->n_jobs = 0;
}

static void
read_all(struct reader *r)
{
	struct jobfile *file = r->file;

	for (size_t i = 0; i < r->ini->n_errors; i++) {
		const struct inifile_error *e = &r->ini->errors[i];

		add_problem(&r->errors, e->line, problem_text(file->name,
		    e->line, e->section, e->key, e->text));
	}
	read_entries(r);
	if (is_full(&r->errors) && r->ini->n_errors <= INIFILE_ERRORS_MAX &&
	    r->stopped)
		add_problem(&r->errors, r->line, problem_text(file->name, 0,
		    NULL, "", "more errors; the others are not shown"));
	if (r->errors.n > 0)
		drop_jobs(file);
	file->errors = sorted_texts(&r->errors, &file->n_errors);
	file->warnings = sorted_texts(&r->warnings, &file->n_warnings);
	jobdef_settings_release(&r->own);
	jobdef_settings_release(&r->defaults);
}

struct jobfile *
jobfile_parse(const char *name, const char *text, size_t len,
    const struct jobfile_options *options)
{
	struct jobfile *file = jobfile_new(name);
	struct inifile *ini = inifile_parse(text, len);
	struct zone_cache *zones = options->zones != NULL ? NULL :
	    zone_cache_new();
	struct reader r = {
		.file = file,
		.options = options,
		.ini = ini,
		.context = {
			.host_id = options->host_id,
			.zone = options->zone,
			.zones = zones != NULL ? zones : options->zones,
			.now = options->now,
			.error = take_error,
			.warning = take_warning,
		},
	};

	r.context.arg = &r;
	file->hash = hash_bytes(text, len);
	if (len <= INIFILE_FILE_MAX) {
		file->text = xmemdup(text, len);
		file->text_len = len;
	}
	read_all(&r);
	inifile_free(ini);
	zone_cache_free(zones);
	return file;
}

struct jobfile *
jobfile_new(const char *name)
{
	struct jobfile *file = xcalloc(1, sizeof *file);

	file->name = xstrdup(name);
	return file;
}

/* The error of a file that was not read. */
void
jobfile_fail(struct jobfile *file, const struct error *why)
{
	file->errors = xreallocarray(file->errors, file->n_errors + 1,
	    sizeof *file->errors);
	file->errors[file->n_errors++] = problem_text(file->name, 0, NULL, "",
	    why->text);
}

void
jobfile_free(struct jobfile *file)
{
	if (file == NULL)
		return;
	drop_jobs(file);
	for (size_t i = 0; i < file->n_errors; i++)
		free(file->errors[i]);
	for (size_t i = 0; i < file->n_warnings; i++)
		free(file->warnings[i]);
	free(file->errors);
	free(file->warnings);
	free(file->text);
	free(file->name);
	free(file);
}
