/* SPDX-License-Identifier: ISC */
/*
 * cronctl remove: names are removed at once; what a pattern matches is shown
 * first and asked about.
 */
#include "config.h"

#include "cli/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/facts.h"
#include "cli/job_pages.h"
#include "cli/output_json.h"
#include "common/strbuf.h"
#include "common/xmalloc.h"

static const struct arguments_option options[] = {
	{ "running", 0, "finish|stop", "what becomes of its live runs "
	    "(finish)" },
	{ NULL, 0, NULL, NULL }
};

/* Jobs that are to go. */
struct names {
	char	**v;
	size_t	  n;
};

static void
names_add(struct names *names, const char *name)
{
	names->v = xreallocarray(names->v, names->n + 1, sizeof *names->v);
	names->v[names->n++] = xstrdup(name);
}

static void
names_release(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->v[i]);
	free(names->v);
}

static void
take_job(void *arg, const struct message *job)
{
	/* Those of files would be refused one by one. */
	if (strcmp(facts_string(job, "origin", ""), "file") != 0)
		names_add(arg, facts_string(job, "job", ""));
}

/* Names stay; a pattern becomes the names it matches. */
static enum exit_status
expand(struct cli *cli, const char *operand, struct names *names,
    bool *pattern)
{
	struct message *filter;
	enum exit_status status;
	size_t before = names->n;

	if (strpbrk(operand, "*?[") == NULL) {
		names_add(names, operand);
		return STATUS_DONE;
	}
	*pattern = true;
	filter = message_object();
	message_set_string(filter, "pattern", operand);
	status = job_pages_read(cli, filter, take_job, names, NULL);
	message_free(filter);
	if (status == STATUS_DONE && names->n == before)
		return command_fail(STATUS_NO_SUCH, "no job that can be "
		    "removed matches \"%s\"; see: cronctl list '%s'", operand,
		    operand);
	return status;
}

/* STATUS_DONE: go on. */
static enum exit_status
confirm(const struct names *names)
{
	struct strbuf text = STRBUF_INIT;
	char answer[16];
	bool yes;

	for (size_t i = 0; i < names->n; i++) {
		text_escape(&text, names->v[i]);
		strbuf_addch(&text, '\n');
	}
	fprintf(stderr, "%s", text.buf);
	strbuf_reset(&text);
	text_count(&text, (int64_t)names->n, "job");
	if (!isatty(STDIN_FILENO)) {
		command_fail(STATUS_REFUSED, "remove: the pattern matches"
		    " %s; add --yes to remove without being asked", text.buf);
		strbuf_release(&text);
		return STATUS_REFUSED;
	}
	fprintf(stderr, "remove %s? [y/N] ", text.buf);
	strbuf_release(&text);
	yes = fgets(answer, sizeof answer, stdin) != NULL &&
	    (answer[0] == 'y' || answer[0] == 'Y');
	return yes ? STATUS_DONE : command_fail(STATUS_REFUSED,
	    "remove: nothing was removed");
}

static void
tell(const struct cli *cli, const struct message *result, const char *name,
    bool stop)
{
	int64_t running = message_get_integer(result, "running", 0);
	struct strbuf line = STRBUF_INIT;

	if (cli->json) {
		output_json(result);
		return;
	}
	if (cli->quiet)
		return;
	strbuf_addstr(&line, "removed ");
	text_escape(&line, facts_string(result, "job", name));
	if (running > 0) {
		strbuf_addstr(&line, "; its ");
		text_count(&line, running, "live run");
		strbuf_addstr(&line, stop ?
		    (running == 1 ? " is being stopped" :
		    " are being stopped") :
		    (running == 1 ? " finishes" : " finish"));
	}
	printf("%s\n", line.buf);
	strbuf_release(&line);
}

static enum exit_status
remove_job(struct cli *cli, const char *name, const char *running)
{
	struct message *params = message_object(), *result = NULL;
	enum exit_status status;

	message_set_string(params, "job", name);
	message_set_string(params, "running", running);
	status = command_call(cli, "job.remove", params, &result);
	if (status != STATUS_DONE)
		return status;
	tell(cli, result, name, strcmp(running, "stop") == 0);
	message_free(result);
	return STATUS_DONE;
}

/* One that fails does not keep the others from going. */
static enum exit_status
remove_all(struct cli *cli, const struct names *names, const char *running)
{
	enum exit_status status = STATUS_DONE;

	for (size_t i = 0; i < names->n; i++) {
		enum exit_status one = remove_job(cli, names->v[i], running);

		if (one != STATUS_DONE)
			status = one;
		if (one == STATUS_NO_DAEMON)
			break;
	}
	return status;
}

static enum exit_status
exec(struct cli *cli, const struct arguments *args)
{
	const char *running = arguments_value(args, "running");
	struct names names = { NULL, 0 };
	enum exit_status status = STATUS_DONE;
	bool pattern = false;

	if (running == NULL)
		running = "finish";
	if (strcmp(running, "finish") != 0 && strcmp(running, "stop") != 0)
		return command_usage(cli, "--running \"%s\": want finish or "
		    "stop", running);
	for (size_t i = 0; i < args->n_operands && status == STATUS_DONE; i++)
		status = expand(cli, args->operands[i], &names, &pattern);
	if (status == STATUS_DONE && pattern && !cli->yes)
		status = confirm(&names);
	if (status == STATUS_DONE)
		status = remove_all(cli, &names, running);
	names_release(&names);
	return status;
}

const struct command command_remove = {
	.name = "remove",
	.args = "JOB... [--running=finish|stop]",
	.summary = "remove jobs",
	.help = "Its live runs finish, or with --running=stop go down the stop"
	    " ladder.  What is recorded of it stays: cronctl history JOB.  A "
	    "job may be named by a shell pattern; then you are asked first.\n"
	    "\n"
	    "A job from a job file is removed by taking it out of its file.",
	.min_operands = 1,
	.max_operands = COMMAND_ANY,
	.options = options,
	.exec = exec,
};
