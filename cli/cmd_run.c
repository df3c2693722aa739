/* SPDX-License-Identifier: ISC */
/*
 * cronctl run: start a job now.  With --wait every failure of cronctl itself
 * is status 125, so that it can't be taken for the job's own.
 */
#include "config.h"

#include "cli/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/facts.h"
#include "cli/output_json.h"
#include "cli/waiting.h"
#include "common/strbuf.h"
#include "common/xmalloc.h"

static const struct arguments_option options[] = {
	{ "wait", 'w', NULL, "wait for its end and exit with its status" },
	{ "force", 0, NULL, "start it even if other runs of it are live, or "
	    "all places are taken" },
	{ "env", 0, "NAME=VALUE", "give it this variable too; repeatable" },
	{ NULL, 0, NULL, NULL }
};

/* False for what is no NAME=VALUE. */
static bool
set_env(struct message *env, const char *pair)
{
	size_t len = strcspn(pair, "=");
	char *name;

	if (len == 0 || pair[len] != '=')
		return false;
	name = xstrndup(pair, len);
	message_set_string(env, name, pair + len + 1);
	free(name);
	return true;
}

/* NULL after a usage error. */
static struct message *
run_params(const struct cli *cli, const struct arguments *args)
{
	struct message *params = message_object(), *env = message_object();
	size_t n = 0;

	message_set_string(params, "job", args->operands[0]);
	if (arguments_has(args, "force"))
		message_set_bool(params, "force", true);
	for (size_t i = 0; i < args->n_given; i++) {
		const struct arguments_given *given = &args->given[i];

		if (strcmp(given->option->name, "env") != 0)
			continue;
		if (!set_env(env, given->value)) {
			command_usage(cli, "--env \"%s\" is not NAME=VALUE",
			    given->value);
			message_free(env);
			message_free(params);
			return NULL;
		}
		n++;
	}
	if (n > 0)
		message_set(params, "env", env);
	else
		message_free(env);
	return params;
}

/* "backup: run 5210 started (pid 4120)" */
static void
tell_start(const struct cli *cli, const struct message *run, bool wait)
{
	struct strbuf text = STRBUF_INIT;
	int64_t id = message_get_integer(run, "run", 0), pid;

	if (cli->json) {
		if (!wait)
			output_json(run);
		return;
	}
	if (cli->quiet)
		return;
	text_escape(&text, facts_string(run, "job", "job"));
	strbuf_addf(&text, ": run %" PRId64, id);
	if (strcmp(facts_string(run, "state", ""), "queued") == 0)
		strbuf_addstr(&text, " waits until the runs before it end");
	else if (facts_run_has_ended(run))
		strbuf_addstr(&text, " was started and has ended");
	else
		strbuf_addstr(&text, " started");
	if (facts_integer(run, "pid", &pid) && pid > 0)
		strbuf_addf(&text, " (pid %" PRId64 ")", pid);
	printf("%s\n", text.buf);
	fflush(stdout);
	strbuf_release(&text);
}

/*
 * A job that has no times of its own runs all the same; that is said, so
 * that nobody takes it for put right.
 */
static enum exit_status
tell_idle(struct cli *cli, const char *job)
{
	struct message *params = message_object(), *shown = NULL;
	enum exit_status status;
	const char *state;

	if (cli->quiet || cli->json) {
		message_free(params);
		return STATUS_DONE;
	}
	message_set_string(params, "job", job);
	status = command_call(cli, "job.show", params, &shown);
	if (status != STATUS_DONE)
		return status;
	state = facts_string(shown, "state", "");
	if (strcmp(state, "disabled") == 0 || strcmp(state, "done") == 0)
		command_warn("%s is %s; this run changes nothing about that",
		    job, state);
	message_free(shown);
	return STATUS_DONE;
}

static enum exit_status
exec(struct cli *cli, const struct arguments *args)
{
	bool wait = arguments_has(args, "wait");
	struct message *params = run_params(cli, args), *run = NULL;
	enum exit_status status;
	int64_t id;

	if (params == NULL)
		return STATUS_USAGE;
	status = tell_idle(cli, args->operands[0]);
	if (status == STATUS_DONE)
		status = command_call(cli, "job.run", params, &run);
	else
		message_free(params);
	if (status != STATUS_DONE)
		return wait ? STATUS_LOST : status;
	tell_start(cli, run, wait);
	id = message_get_integer(run, "run", 0);
	message_free(run);
	return wait ? waiting_for_run(cli, NULL, id) : STATUS_DONE;
}

const struct command command_run = {
	.name = "run",
	.args = "JOB [--wait] [--force] [--env NAME=VALUE]...",
	.summary = "start a job now",
	.help = "The run starts at once, whatever the schedule says.  What the"
	    " job's overlap key says holds: with skip it is refused while the "
	    "job runs, with queue it waits, with replace the old run is "
	    "stopped first.  --force starts it anyway.\n"
	    "\n"
	    "With --wait the exit status is the job's own, or\n"
	    "  124    it ran into its timeout\n"
	    "  125    it is lost, or cronctl failed\n"
	    "  126    it could not be started\n"
	    "  128+N  it was ended by signal N, or killed\n"
	    "  130    Ctrl-C: the run goes on, only the waiting ends",
	.min_operands = 1,
	.max_operands = 1,
	.options = options,
	.exec = exec,
};
