/* SPDX-License-Identifier: ISC */
/*
 * cronctl kill: ends runs, or sends them a signal.  What a pattern matches is
 * shown first and asked about.
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
#include "common/jobdef.h"
#include "common/strbuf.h"

static const struct arguments_option options[] = {
	{ "signal", 's', "SIGNAL", "only send this signal" },
	{ NULL, 0, NULL, NULL }
};

static bool
has_live_runs(const struct message *job)
{
	return message_get_integer(job, "running", 0) > 0 ||
	    message_get_integer(job, "waiting", 0) > 0;
}

static void
tell_run(const struct message *run, const char *sig)
{
	struct strbuf line = STRBUF_INIT;

	text_escape(&line, facts_string(run, "job", "job"));
	strbuf_addf(&line, ": run %" PRId64,
	    message_get_integer(run, "run", 0));
	if (sig != NULL)
		strbuf_addf(&line, " was sent %s", sig);
	else if (strcmp(facts_string(run, "state", ""), "queued") == 0)
		strbuf_addstr(&line, " was waiting and will not start");
	else
		strbuf_addstr(&line, " is being stopped");
	printf("%s\n", line.buf);
	strbuf_release(&line);
}

static void
tell(const struct cli *cli, const struct message *result, const char *sig)
{
	const struct message *runs = message_get(result, "runs");
	const struct message *missed = message_get(result, "missed");

	if (cli->json) {
		output_json(result);
		return;
	}
	for (size_t i = 0; !cli->quiet && i < message_count(runs); i++)
		tell_run(message_at(runs, i), sig);
	for (size_t i = 0; missed != NULL && i < message_count(missed); i++)
		command_warn("run %" PRId64 " was not sent %s: it waits, or "
		    "its worker does not answer now", message_get_integer(
		    message_at(missed, i), "run", 0), sig);
}

static enum exit_status
kill_one(struct cli *cli, const char *name, const char *sig)
{
	struct message *params = message_object(), *result = NULL;
	enum exit_status status;
	int64_t run;

	if (command_run_number(name, &run))
		message_set_integer(params, "run", run);
	else
		message_set_string(params, "job", name);
	if (sig != NULL)
		message_set_string(params, "signal", sig);
	status = command_call(cli, "run.kill", params, &result);
	if (status != STATUS_DONE)
		return status;
	tell(cli, result, sig);
	message_free(result);
	return STATUS_DONE;
}

/* One that fails does not keep the others from being ended. */
static enum exit_status
kill_all(struct cli *cli, const struct selection *jobs, const char *sig)
{
	enum exit_status status = STATUS_DONE;

	for (size_t i = 0; i < jobs->n; i++) {
		enum exit_status one = kill_one(cli, jobs->names[i], sig);

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
	const char *sig = arguments_value(args, "signal");
	struct selection jobs = { NULL, 0, false };
	enum exit_status status = STATUS_DONE;
	struct error err;
	int number;

	if (sig != NULL && jobdef_signal_parse(sig, &number, &err) == -1)
		return command_usage(cli, "--signal: %s", err.text);
	for (size_t i = 0; i < args->n_operands && status == STATUS_DONE; i++)
		status = selection_add(cli, &jobs, args->operands[i],
		    has_live_runs, "has a live or waiting run");
	if (status == STATUS_DONE)
		status = selection_confirm(cli, &jobs, "kill", "killed");
	if (status == STATUS_DONE)
		status = kill_all(cli, &jobs, sig);
	selection_release(&jobs);
	return status;
}

const struct command command_kill = {
	.name = "kill",
	.args = "JOB|RUN... [--signal SIGNAL]",
	.summary = "end the runs of a job, or one run",
	.help = "Each live run of the job goes down the stop ladder: its "
	    "stop_signal, then KILL after its stop_grace, to the run's process"
	    " group and to what has left that.  It ends as killed.  A run by "
	    "hand that waits is dropped; occurrences that wait stay.  With "
	    "--signal only that signal is sent, to the process group, and what"
	    " becomes of the run is up to it.\n"
	    "\n"
	    "The command does not wait for the end: cronctl wait RUN does.  A "
	    "job may be named by a shell pattern; then you are asked first.",
	.min_operands = 1,
	.max_operands = COMMAND_ANY,
	.options = options,
	.exec = exec,
};
