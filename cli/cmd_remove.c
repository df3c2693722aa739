/* SPDX-License-Identifier: ISC */
/*
 * cronctl remove: names are removed at once; what a pattern matches is shown
 * first and asked about.
 */
#include "config.h"

#include "cli/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/facts.h"
#include "cli/output_json.h"
#include "cli/selection.h"
#include "common/strbuf.h"

static const struct arguments_option options[] = {
	{ "running", 0, "finish|stop", "what becomes of its live runs "
	    "(finish)" },
	{ NULL, 0, NULL, NULL }
};

/* Those of files would be refused one by one. */
static bool
can_be_removed(const struct message *job)
{
	return strcmp(facts_string(job, "origin", ""), "file") != 0;
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
remove_all(struct cli *cli, const struct selection *jobs, const char *running)
{
	enum exit_status status = STATUS_DONE;

	for (size_t i = 0; i < jobs->n; i++) {
		enum exit_status one = remove_job(cli, jobs->names[i],
		    running);

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
	struct selection jobs = { NULL, 0, false };
	enum exit_status status = STATUS_DONE;

	if (running == NULL)
		running = "finish";
	if (strcmp(running, "finish") != 0 && strcmp(running, "stop") != 0)
		return command_usage(cli, "--running \"%s\": want finish or "
		    "stop", running);
	for (size_t i = 0; i < args->n_operands && status == STATUS_DONE; i++)
		status = selection_add(cli, &jobs, args->operands[i],
		    can_be_removed, "can be removed");
	if (status == STATUS_DONE)
		status = selection_confirm(cli, &jobs, "remove", "removed");
	if (status == STATUS_DONE)
		status = remove_all(cli, &jobs, running);
	selection_release(&jobs);
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
