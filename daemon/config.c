/* SPDX-License-Identifier: ISC */
/*
 * cronctld.conf: one table of keys, each with a function that takes its
 * value.  Keys that the manual names for later are in a table of their own,
 * so that they are refused by name and not called unknown.
 *
 * Nothing takes effect here; the file is read whole, every error is reported,
 * and a caller that got any drops the result.
 */
#include "config.h"

#include "daemon/config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/duration.h"
#include "common/host_id.h"
#include "common/inifile.h"
#include "common/nearest.h"
#include "common/strbuf.h"
#include "common/xmalloc.h"
#include "common/zone.h"

#define MAX_RUNNING_DEFAULT	1000
#define CLOCK_WAIT_DEFAULT_MS	(5 * 60 * 1000)
#define MAX_RUNNING_MAX		1000000
#define WORKERS_LEAST		2	/* of the default */
#define WORKERS_MAX		1024
#define HOST_ID_MAX		255
#define HOST_ID_PID_1		"container"

/* Takes a value; the sentence alone goes to err. */
typedef int take_fn(struct config *, const char *value, struct error *err);

struct key {
	const char	*name;
	take_fn		*take;		/* value is never empty */
};

struct section {
	const char	*name;
	const struct key *keys;		/* ends with a NULL name; or NULL */
	const char *const *later;	/* keys of a later version, or NULL */
};

static int
parse_integer(const char *value, int64_t min, int64_t max, int64_t *out,
    struct error *err)
{
	char quoted[ERROR_QUOTE_MAX], *end;
	long long n;

	errno = 0;
	n = strtoll(value, &end, 10);
	if (isspace((unsigned char)*value) || end == value || *end != '\0')
		return error_set(err, "%s is not a whole number",
		    error_quote(quoted, value, strlen(value)));
	if (errno != 0 || n < min || n > max)
		return error_set(err, "%s is not within %lld-%lld",
		    error_quote(quoted, value, strlen(value)),
		    (long long)min, (long long)max);
	*out = n;
	return 0;
}

static int
take_timezone(struct config *config, const char *value, struct error *err)
{
	struct zone *zone = zone_load(value, err);

	if (zone == NULL)
		return -1;
	zone_unref(zone);
	free(config->timezone);
	config->timezone = xstrdup(value);
	return 0;
}

static int
take_workers(struct config *config, const char *value, struct error *err)
{
	return parse_integer(value, 1, WORKERS_MAX, &config->workers, err);
}

static int
take_max_running(struct config *config, const char *value, struct error *err)
{
	return parse_integer(value, 1, MAX_RUNNING_MAX, &config->max_running,
	    err);
}

static int
take_log_level(struct config *config, const char *value, struct error *err)
{
	char quoted[ERROR_QUOTE_MAX];
	enum log_level level;

	if (log_level_parse(value, &level) != 0)
		return error_set(err,
		    "%s is no level; use error, warning, info or debug",
		    error_quote(quoted, value, strlen(value)));
	if (!config->log_level_given)
		config->log_level = level;
	return 0;
}

static int
take_host_id(struct config *config, const char *value, struct error *err)
{
	size_t len = strlen(value);

	if (len > HOST_ID_MAX)
		return error_set(err, "the name has %zu bytes; %d at most",
		    len, HOST_ID_MAX);
	free(config->host_id);
	config->host_id = xstrdup(value);
	return 0;
}

static int
take_watch(struct config *config, const char *value, struct error *err)
{
	static const struct { const char *word; bool on; } words[] = {
		{ "yes", true }, { "true", true }, { "on", true }, { "1", true },
		{ "no", false }, { "false", false }, { "off", false },
		{ "0", false },
	};
	char quoted[ERROR_QUOTE_MAX];

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(value, words[i].word) == 0) {
			config->watch = words[i].on;
			return 0;
		}
	}
	return error_set(err, "%s is neither yes nor no",
	    error_quote(quoted, value, strlen(value)));
}

static int
take_clock_wait(struct config *config, const char *value, struct error *err)
{
	return duration_parse(value, strlen(value), &config->clock_wait, err);
}

static const struct key daemon_keys[] = {
	{ "timezone", take_timezone },
	{ "workers", take_workers },
	{ "max_running", take_max_running },
	{ "watch", take_watch },
	{ "log_level", take_log_level },
	{ "host_id", take_host_id },
	{ "clock_wait", take_clock_wait },
	{ NULL, NULL }
};

static const char *const daemon_later[] = { "on_term", "term_timeout",
	NULL };
static const char *const limits_later[] = { "connections", "in_flight",
	"jobs", "running", "definition_bytes", "output_limit", "history",
	"request", "idle", "stream_lag", NULL };
static const char *const history_later[] = { "keep_runs", "keep_for",
	"max_size", NULL };
static const char *const access_later[] = { "operator_group", "allow", "deny",
	NULL };

#define DEFAULTS "defaults"	/* its keys are those of jobs */

static const struct section sections[] = {
	{ "daemon", daemon_keys, daemon_later },
	{ DEFAULTS, NULL, NULL },
	{ "limits", NULL, limits_later },
	{ "history", NULL, history_later },
	{ "access", NULL, access_later },
};
#define N_SECTIONS (sizeof(sections) / sizeof(sections[0]))

/* What is known while a file is read. */
struct loader {
	struct config	*config;	/* being filled */
	const char	*file;		/* as shown in errors */
	const struct section *section;	/* present one; NULL: unknown */
	int		 defaults_line;	/* where [defaults] was; 0: not yet */
	int		*lines;		/* of each daemon key; 0: not given */
	size_t		 n_errors;	/* reported */
	void		(*report)(void *arg, const char *text);
	void		*arg;		/* for report */
};

/* section and key may be NULL or empty, line 0. */
static void
report(struct loader *loader, int line, const char *section, const char *key,
    const char *text)
{
	struct strbuf message = STRBUF_INIT;

	strbuf_addstr(&message, loader->file);
	if (line > 0)
		strbuf_addf(&message, ":%d", line);
	strbuf_addstr(&message, ": ");
	if (section != NULL && *section != '\0')
		strbuf_addf(&message, "[%s] ", section);
	if (key != NULL && *key != '\0')
		strbuf_addf(&message, "%s: ", key);
	strbuf_addstr(&message, text);
	loader->report(loader->arg, message.buf);
	loader->n_errors++;
	strbuf_release(&message);
}

static const char *
section_name(const void *arg, size_t i)
{
	(void)arg;
	return sections[i].name;
}

static void
begin_section(struct loader *loader, const struct inifile_entry *entry)
{
	const char *near;
	struct error err;

	loader->section = NULL;
	for (size_t i = 0; i < N_SECTIONS; i++) {
		if (strcmp(sections[i].name, entry->section) == 0)
			loader->section = &sections[i];
	}
	if (loader->section == NULL) {
		near = nearest_find(entry->section, N_SECTIONS, section_name,
		    NULL);
		error_set(&err, near != NULL ? "there is no such section; did "
		    "you mean [%s]?" : "there is no such section; jobs belong "
		    "into job files", near);
		report(loader, entry->line, entry->section, NULL, err.text);
	} else if (strcmp(entry->section, DEFAULTS) == 0) {
		if (loader->defaults_line > 0) {
			error_set(&err, "the section is there already, in "
			    "line %d; join the two", loader->defaults_line);
			report(loader, entry->line, DEFAULTS, NULL, err.text);
			return;
		}
		loader->defaults_line = entry->line;
	}
}

/* The i-th key of a section, the later ones behind the others. */
static const char *
key_name(const void *arg, size_t i)
{
	const struct section *section = arg;

	for (const struct key *k = section->keys; k != NULL && k->name != NULL;
	    k++) {
		if (i-- == 0)
			return k->name;
	}
	return section->later[i];
}

static size_t
key_count(const struct section *section)
{
	size_t n = 0;

	for (const struct key *k = section->keys; k != NULL && k->name != NULL;
	    k++)
		n++;
	for (const char *const *later = section->later; *later != NULL;
	    later++)
		n++;
	return n;
}

static void
refuse_key(struct loader *loader, const struct inifile_entry *entry)
{
	const struct section *section = loader->section;
	const char *near;
	struct error err;

	for (const char *const *later = section->later; *later != NULL;
	    later++) {
		if (strcmp(*later, entry->key) == 0) {
			report(loader, entry->line, entry->section,
			    entry->key, "not supported by this version; take "
			    "the line out");
			return;
		}
	}
	near = nearest_find(entry->key, key_count(section), key_name, section);
	error_set(&err, near != NULL ? "there is no such key; did you mean "
	    "%s?" : "there is no such key here", near);
	report(loader, entry->line, entry->section, entry->key, err.text);
}

static void
take_default(struct loader *loader, const struct inifile_entry *entry)
{
	struct error err;

	if (jobdef_settings_add(&loader->config->defaults, entry->key,
	    entry->value, entry->line, &err) != 0)
		report(loader, entry->line, DEFAULTS, entry->key, err.text);
}

static void
take_key(struct loader *loader, const struct inifile_entry *entry)
{
	const struct key *key = loader->section->keys;
	struct error err;
	int *line;

	while (key != NULL && key->name != NULL &&
	    strcmp(key->name, entry->key) != 0)
		key++;
	if (key == NULL || key->name == NULL) {
		refuse_key(loader, entry);
		return;
	}
	line = &loader->lines[key - daemon_keys];
	if (*line != 0) {
		error_set(&err, "given in line %d already; take one of the "
		    "two out", *line);
		report(loader, entry->line, entry->section, entry->key,
		    err.text);
		return;
	}
	*line = entry->line;
	if (entry->value_len > 0 &&
	    key->take(loader->config, entry->value, &err) != 0)
		report(loader, entry->line, entry->section, entry->key,
		    err.text);
}

static void
take_entries(struct loader *loader, const struct inifile *ini)
{
	const struct inifile_entry *entry;

	for (size_t i = 0; i < ini->n_entries; i++) {
		entry = &ini->entries[i];
		if (entry->key == NULL)
			begin_section(loader, entry);
		else if (loader->section == NULL)
			continue;	/* the section was reported */
		else if (strcmp(loader->section->name, DEFAULTS) == 0)
			take_default(loader, entry);
		else
			take_key(loader, entry);
	}
}

static void
take_text(struct loader *loader, const char *text, size_t len)
{
	struct inifile *ini = inifile_parse(text, len);
	int lines[sizeof(daemon_keys) / sizeof(daemon_keys[0])] = { 0 };

	loader->lines = lines;
	for (size_t i = 0; i < ini->n_errors; i++)
		report(loader, ini->errors[i].line, ini->errors[i].section,
		    ini->errors[i].key, ini->errors[i].text);
	take_entries(loader, ini);
	inifile_free(ini);
}

/* The opened file to text; a FIFO, a device, or too much is refused. */
static int
read_all(int fd, size_t max, struct strbuf *text, struct error *err)
{
	char chunk[16384];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) != 0)
		return error_set_errno(err, errno, "can't be examined");
	if (!S_ISREG(st.st_mode))
		return error_set(err, "not a regular file");
	for (;;) {
		n = read(fd, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set_errno(err, errno, "can't be read");
		if (n == 0)
			return 0;
		if (text->len + (size_t)n > max)
			return error_set(err, "larger than %zu bytes", max);
		strbuf_add(text, chunk, (size_t)n);
	}
}

/* 1: read, 0: there is none, -1: err. */
static int
read_file(const char *path, size_t max, struct strbuf *text,
    struct error *err)
{
	int fd, rc;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0)
		return error_set_errno(err, errno, "can't be opened");
	rc = read_all(fd, max, text, err);
	close(fd);
	return rc == 0 ? 1 : -1;
}

size_t
config_load(struct config *config, void (*report_fn)(void *arg,
    const char *text), void *arg)
{
	struct loader loader = { .config = config, .report = report_fn,
		.arg = arg };
	struct strbuf text = STRBUF_INIT;
	struct error err;
	int rc;

	loader.file = config->config_file != NULL ? config->config_file :
	    config->default_file;
	if (loader.file == NULL)
		return 0;
	rc = read_file(loader.file, INIFILE_FILE_MAX, &text, &err);
	if (rc < 0)
		report(&loader, 0, NULL, NULL, err.text);
	else if (rc > 0)
		take_text(&loader, text.buf, text.len);
	else if (config->config_file != NULL)
		report(&loader, 0, NULL, NULL, "there is no such file; check "
		    "--config, or leave it out for the defaults");
	strbuf_release(&text);
	return loader.n_errors;
}

/*
 * A container has a new machine id each time it is made, and its jobs are to
 * keep their places all the same.
 */
static char *
make_host_id(void)
{
	return getpid() == 1 ? xstrdup(HOST_ID_PID_1) : host_id_make();
}

void
config_init(struct config *config)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	*config = (struct config){
		.workers = cpus < WORKERS_LEAST ? WORKERS_LEAST :
		    cpus > WORKERS_MAX ? WORKERS_MAX : cpus,
		.max_running = MAX_RUNNING_DEFAULT,
		.watch = true,
		.log_level = LOG_INFO,
		.host_id = make_host_id(),
		.clock_wait = CLOCK_WAIT_DEFAULT_MS,
	};
	jobdef_settings_init(&config->defaults);
}

void
config_release(struct config *config)
{
	free(config->config_file);
	free(config->default_file);
	free(config->jobs_dir);
	free(config->state_dir);
	free(config->runtime_dir);
	free(config->worker_program);
	free(config->timezone);
	free(config->host_id);
	jobdef_settings_release(&config->defaults);
}
