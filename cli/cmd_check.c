/* SPDX-License-Identifier: ISC */
/*
 * cronctl check: job files judged as the daemon would, without one.  What a
 * file says is told on standard output: it is the answer, not a failure of
 * cronctl.
 *
 * Files of the configuration's own folder must have the owner and mode the
 * daemon wants; for files that are named, which may be on their way there,
 * that is a warning.
 */
#include "config.h"

#include "cli/command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/account.h"
#include "cli/commands.h"
#include "cli/daemon_config.h"
#include "cli/output_json.h"
#include "common/jobfile.h"
#include "common/strbuf.h"
#include "common/xmalloc.h"

/* Where a job's name was seen first. */
struct place {
	char	*job;		/* its name */
	char	*where;		/* FILE:LINE */
	size_t	 order;		/* in which it was read */
	size_t	 file;		/* the how manieth, from 0 */
};

/* What has been found. */
struct check {
	struct cli	*cli;
	struct jobfile_options options;	/* for files that are named */
	struct place	*places;	/* of all jobs that are fine */
	size_t		 n_places;
	bool		*bad;		/* by file: it has an error */
	size_t		 files;		/* that were read */
	size_t		 errors;
	size_t		 warnings;
	size_t		 jobs;		/* that are fine */
};

static void
report(struct check *check, bool error, const char *text)
{
	struct message *m;
	struct strbuf line = STRBUF_INIT;

	if (error)
		check->errors++;
	else
		check->warnings++;
	if (check->cli->json) {
		m = message_object();
		message_set_string(m, "severity", error ? "error" : "warning");
		message_set_string(m, "text", text);
		output_json(m);
		message_free(m);
		return;
	}
	text_escape(&line, text);
	printf("%s%s\n", error ? "" : "warning: ", line.buf);
	strbuf_release(&line);
}

static void __attribute__((format(printf, 2, 3)))
warn(struct check *check, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	report(check, false, text);
	free(text);
}

/* Nothing is there, as far as this user can see. */
static bool
is_missing(const char *path)
{
	return path != NULL && access(path, F_OK) == -1 &&
	    (errno == ENOENT || errno == ENOTDIR);
}

/* What may still appear before a run starts, and is an error then. */
static void
check_surroundings(struct check *check, const struct jobfile *file,
    const struct jobfile_job *job)
{
	const struct jobdef *def = job->def;

	if (def->user != NULL && !account_user_is_known(def->user))
		warn(check, "%s:%d: [%s] user: there is no user \"%s\" on "
		    "this host; runs will not start", file->name, job->line,
		    def->name, def->user);
	if (def->group != NULL && !account_group_is_known(def->group))
		warn(check, "%s:%d: [%s] group: there is no group \"%s\" on "
		    "this host; runs will not start", file->name, job->line,
		    def->name, def->group);
	if (is_missing(def->workdir))
		warn(check, "%s:%d: [%s] workdir: there is no directory %s; "
		    "runs will not start", file->name, job->line, def->name,
		    def->workdir);
	if (is_missing(def->shell))
		warn(check, "%s:%d: [%s] shell: there is no %s; runs will not "
		    "start", file->name, job->line, def->name, def->shell);
}

static void
add_place(struct check *check, const struct jobfile *file,
    const struct jobfile_job *job)
{
	check->places = xreallocarray(check->places, check->n_places + 1,
	    sizeof *check->places);
	check->places[check->n_places] = (struct place){
		.job = xstrdup(job->def->name),
		.where = xasprintf("%s:%d", file->name, job->line),
		.order = check->n_places,
		.file = check->files - 1,
	};
	check->n_places++;
}

static void
take_file(struct check *check, const struct jobfile *file)
{
	check->bad = xreallocarray(check->bad, check->files + 1,
	    sizeof *check->bad);
	check->bad[check->files++] = file->n_errors > 0;
	for (size_t i = 0; i < file->n_errors; i++)
		report(check, true, file->errors[i]);
	for (size_t i = 0; i < file->n_warnings; i++)
		report(check, false, file->warnings[i]);
	for (size_t i = 0; i < file->n_jobs; i++) {
		check->jobs++;
		add_place(check, file, &file->jobs[i]);
		check_surroundings(check, file, &file->jobs[i]);
	}
}

/* By name, then as they were read: the first of a name is the one in force. */
static int
compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = strcmp(x->job, y->job);

	return order != 0 ? order : x->order < y->order ? -1 : 1;
}

static void
check_names(struct check *check)
{
	const struct place *first = NULL;

	if (check->n_places > 0)
		qsort(check->places, check->n_places, sizeof *check->places,
		    compare);
	for (size_t i = 0; i < check->n_places; i++) {
		const struct place *p = &check->places[i];
		char *text;

		if (first == NULL || strcmp(first->job, p->job) != 0) {
			first = p;
			continue;
		}
		text = xasprintf("%s: [%s] the name is taken by %s; give one "
		    "of them another", p->where, p->job, first->where);
		report(check, true, text);
		free(text);
		check->bad[p->file] = true;
		check->jobs--;
	}
}

/* The daemon would refuse the file as it is now. */
static void
check_owner(struct check *check, const char *path)
{
	struct jobfile_options options = check->options;
	struct jobfile *file;

	options.check_owner = true;
	file = jobfile_load(path, path, &options);
	if (file->text == NULL && file->n_errors > 0)
		warn(check, "%s; the daemon will refuse it so",
		    file->errors[0]);
	jobfile_free(file);
}

static void
check_file(struct check *check, const char *path)
{
	struct jobfile *file = jobfile_load(path, path, &check->options);

	take_file(check, file);
	if (file->text != NULL)
		check_owner(check, path);
	jobfile_free(file);
}

static enum exit_status
check_directory(struct check *check, const char *path, bool owner)
{
	struct jobfile_options options = check->options;
	struct jobfile_set set;
	struct error err;

	options.check_owner = owner;
	if (jobfile_load_directory(path, &options, &set, &err) == -1)
		return command_fail(STATUS_REFUSED, "check: %s", err.text);
	for (size_t i = 0; i < set.n_files; i++)
		take_file(check, set.files[i]);
	jobfile_set_release(&set);
	return STATUS_DONE;
}

static enum exit_status
check_operand(struct check *check, const char *path)
{
	struct stat st;

	if (stat(path, &st) == -1)
		return command_fail(STATUS_REFUSED, "check: can't read %s: %s",
		    path, strerrordesc_np(errno));
	if (S_ISDIR(st.st_mode))
		return check_directory(check, path, false);
	check_file(check, path);
	return STATUS_DONE;
}

static size_t
bad_files(const struct check *check)
{
	size_t n = 0;

	for (size_t i = 0; i < check->files; i++)
		n += check->bad[i];
	return n;
}

static void
print_summary(const struct check *check)
{
	struct strbuf line = STRBUF_INIT;

	if (check->files == 0) {
		printf("no job files there (their names end in .ini)\n");
		return;
	}
	if (check->errors > 0) {
		text_count(&line, (int64_t)check->errors, "error");
		strbuf_addstr(&line, " in ");
		text_number(&line, (int64_t)bad_files(check));
		strbuf_addstr(&line, " of ");
		text_count(&line, (int64_t)check->files, "file");
		strbuf_addstr(&line, "; ");
	} else {
		text_count(&line, (int64_t)check->files, "file");
		strbuf_addstr(&line, ", no errors; ");
	}
	if (check->warnings > 0) {
		text_count(&line, (int64_t)check->warnings, "warning");
		strbuf_addstr(&line, "; ");
	}
	text_count(&line, (int64_t)check->jobs, "job");
	printf("%s %s fine\n", line.buf, check->jobs == 1 ? "is" : "are");
	strbuf_release(&line);
}

static void
print_json_summary(const struct check *check)
{
	struct message *m = message_object();

	message_set_integer(m, "files", (int64_t)check->files);
	message_set_integer(m, "files_in_error", (int64_t)bad_files(check));
	message_set_integer(m, "errors", (int64_t)check->errors);
	message_set_integer(m, "warnings", (int64_t)check->warnings);
	message_set_integer(m, "jobs", (int64_t)check->jobs);
	output_json(m);
	message_free(m);
}

/* Everything that was named, or the folder of the configuration. */
static enum exit_status
check_all(struct check *check, const struct arguments *args, const char *dir)
{
	enum exit_status status = STATUS_DONE;
	char *jobs;

	if (args->n_operands == 0) {
		jobs = xasprintf("%s/jobs.d", dir);
		if (access(jobs, F_OK) == -1 && errno == ENOENT)
			status = command_fail(STATUS_REFUSED, "check: there "
			    "is no %s; name the files or the directory to be "
			    "checked", jobs);
		else
			status = check_directory(check, jobs, true);
		free(jobs);
	}
	for (size_t i = 0; i < args->n_operands; i++) {
		enum exit_status one = check_operand(check,
		    args->operands[i]);

		if (one != STATUS_DONE)
			status = one;
	}
	check_names(check);
	if (check->cli->json)
		print_json_summary(check);
	else if (status == STATUS_DONE || check->files > 0)
		print_summary(check);
	return check->errors > 0 ? STATUS_REFUSED : status;
}

/* The zone of jobs without one: the daemon's, as far as its file tells. */
static struct zone *
daemon_zone(const struct cli *cli, const struct daemon_config *config)
{
	struct zone *zone = NULL;

	if (config->timezone != NULL)
		zone = zone_load(config->timezone, NULL);
	return zone != NULL ? zone : zone_ref(cli->clock.zone);
}

static enum exit_status
exec(struct cli *cli, const struct arguments *args)
{
	char *dir = daemon_config_directory(cli->place.user), *path;
	struct check check = { .cli = cli };
	struct daemon_config config;
	enum exit_status status;

	if (dir == NULL)
		return command_fail(STATUS_REFUSED, "check: neither "
		    "XDG_CONFIG_HOME nor HOME is set, so your job files can't "
		    "be found; name them");
	path = xasprintf("%s/cronctld.conf", dir);
	daemon_config_load(&config, path);
	check.options = (struct jobfile_options){
		.host_id = config.host_id,
		.zone = daemon_zone(cli, &config),
		.zones = zone_cache_new(),
		.now = cli->clock.now,
		.defaults = &config.defaults,
		.owner = cli->place.user ? geteuid() : 0,
	};
	status = check_all(&check, args, dir);
	for (size_t i = 0; i < check.n_places; i++) {
		free(check.places[i].job);
		free(check.places[i].where);
	}
	free(check.places);
	free(check.bad);
	zone_cache_free(check.options.zones);
	zone_unref(check.options.zone);
	daemon_config_release(&config);
	free(path);
	free(dir);
	return status;
}

const struct command command_check = {
	.name = "check",
	.args = "[FILE|DIRECTORY]...",
	.summary = "check job files, without a daemon",
	.help = "Every error is told as FILE:LINE: [job] key: what is wrong, "
	    "and the exit status is 1 if there is any.  Without arguments the "
	    "job files of the system's daemon are checked, with --user your "
	    "own.\n"
	    "\n"
	    "Warnings are told for what is legal but surprising, and for what "
	    "may still appear before a run starts: users, groups, work "
	    "directories, shells.",
	.max_operands = COMMAND_ANY,
	.exec = exec,
};
