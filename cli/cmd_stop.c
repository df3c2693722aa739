/* SPDX-License-Identifier: ISC */
/* cronctl stop: end the daemon after the runs it has started. */
#include "config.h"

#include "cli/command.h"

#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/output_json.h"
#include "common/duration.h"
#include "common/strbuf.h"

static const struct arguments_option options[] = {
	{ "wait", 'w', NULL, "return when the last run has ended" },
	{ "timeout", 0, "D", "after this long, stop the runs that are left" },
	{ NULL, 0, NULL, NULL }
};

/* NULL after a usage error. */
static struct message *
stop_params(const struct cli *cli, const struct arguments *args)
{
	const char *timeout = arguments_value(args, "timeout");
	struct message *params = message_object();
	struct error err;
	int64_t ms;

	if (timeout != NULL) {
		if (duration_parse(timeout, strlen(timeout), &ms, &err) ==
		    -1) {
			command_usage(cli, "--timeout: %s", err.text);
			message_free(params);
			return NULL;
		}
		message_set_number(params, "timeout", (double)ms / 1000);
	}
	if (arguments_has(args, "wait"))
		message_set_bool(params, "wait", true);
	return params;
}

static void
tell(const struct cli *cli, const struct message *result, bool wait)
{
	int64_t running = message_get_integer(result, "running", 0);
	int64_t waiting = message_get_integer(result, "waiting", 0);
	struct strbuf line = STRBUF_INIT;

	if (cli->json) {
		output_json(result);
		return;
	}
	if (cli->quiet)
		return;
	if (wait || running == 0) {
		strbuf_addstr(&line, wait ? "stopped" : "stopping");
		strbuf_addstr(&line, running == 0 ? "; nothing was running" :
		    "; every run that was live has ended");
	} else {
		strbuf_addstr(&line, "stopping; ");
		text_count(&line, running, "run");
		strbuf_addstr(&line, running == 1 ? " is live, the daemon "
		    "exits when it has ended" : " are live, the daemon exits "
		    "when they have ended");
	}
	printf("%s\n", line.buf);
	strbuf_reset(&line);
	text_count(&line, waiting, "waiting occurrence");
	if (waiting > 0)
		printf("%s skipped (stopping)\n", line.buf);
	strbuf_release(&line);
}

static enum exit_status
stop_and_wait(struct cli *cli, struct message *params,
    struct message **result)
{
	enum exit_status status = command_connect(cli);
	struct error err;

	if (status != STATUS_DONE) {
		message_free(params);
		return status;
	}
	if (connection_catch_interrupt(cli->connection, &err) == -1) {
		message_free(params);
		return command_fail(STATUS_REFUSED, "%s", err.text);
	}
	status = command_call_wait(cli, "daemon.stop", params, result, &err);
	if (status == STATUS_INTERRUPTED)
		return command_fail(status, "not waiting any longer; the "
		    "daemon goes on stopping");
	if (status != STATUS_DONE)
		command_fail(status, "%s", err.text);
	return status;
}

static enum exit_status
exec(struct cli *cli, const struct arguments *args)
{
	bool wait = arguments_has(args, "wait");
	struct message *params, *result = NULL;
	enum exit_status status;

	if (args->n_operands > 0)
		return command_fail(STATUS_USAGE, "stop ends the daemon, "
		    "not the job \"%s\"; to end a job's runs: cronctl kill %s",
		    args->operands[0], args->operands[0]);
	params = stop_params(cli, args);
	if (params == NULL)
		return STATUS_USAGE;
	status = wait ? stop_and_wait(cli, params, &result) :
	    command_call(cli, "daemon.stop", params, &result);
	if (status != STATUS_DONE)
		return status;
	tell(cli, result, wait);
	message_free(result);
	return STATUS_DONE;
}

const struct command command_stop = {
	.name = "stop",
	.args = "[--wait] [--timeout D]",
	.summary = "stop the daemon, after the runs it has started",
	.help = "Scheduling ends at once: what is due from now on is skipped "
	    "(stopping).  Runs that are live finish, then the daemon exits.  "
	    "After --timeout the stop ladder runs on what is left: the job's "
	    "stop_signal, then KILL.\n"
	    "\n"
	    "This is not what systemctl stop or SIGTERM do: those end the "
	    "daemon at once and leave the runs to go on; the next daemon takes"
	    " them up.",
	.max_operands = COMMAND_ANY,
	.options = options,
	.exec = exec,
};
