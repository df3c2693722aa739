/* SPDX-License-Identifier: ISC */
/* cronctl pause and resume: keep jobs from starting for a while. */
#include "config.h"

#include "cli/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/facts.h"
#include "cli/output_json.h"
#include "common/duration.h"
#include "common/strbuf.h"
#include "common/timearg.h"

#define SKIP_MAX 100000

static const struct arguments_option pause_options[] = {
	{ "for", 0, "D", "this long, as in 2h" },
	{ "until", 0, "TIME", "up to this time" },
	{ "skip", 0, "N", "the next N occurrences" },
	{ "note", 0, "TEXT", "why; shown with the pause" },
	{ "all", 'a', NULL, "all jobs, also those added later" },
	{ NULL, 0, NULL, NULL }
};
static const struct arguments_option resume_options[] = {
	{ "all", 'a', NULL, "all jobs" },
	{ NULL, 0, NULL, NULL }
};

/* --for or --until as an instant; STATUS_DONE also without either. */
static enum exit_status
read_until(struct cli *cli, const struct arguments *args,
    struct message *params)
{
	const char *span = arguments_value(args, "for");
	const char *until = arguments_value(args, "until");
	struct error err;
	int64_t ms, at;

	if (span != NULL) {
		if (duration_parse(span, strlen(span), &ms, &err) == -1)
			return command_usage(cli, "--for: %s", err.text);
		message_set_number(params, "until",
		    (double)cli->clock.now + (double)ms / 1000);
	}
	if (until != NULL) {
		if (timearg_parse(until, strlen(until), cli->clock.zone,
		    cli->clock.now, TIMEARG_PLAN, &at, &err) == -1)
			return command_usage(cli, "--until: %s", err.text);
		message_set_number(params, "until", (double)at);
	}
	return STATUS_DONE;
}

static enum exit_status
read_pause(struct cli *cli, const struct arguments *args,
    struct message *params)
{
	int bounds = arguments_has(args, "for") + arguments_has(args,
	    "until") + arguments_has(args, "skip");
	struct error err;
	long skip;

	if (bounds > 1)
		return command_usage(cli, "give one of --for, --until and "
		    "--skip");
	if (arguments_has(args, "skip")) {
		if (arguments_number(args, "skip", 1, SKIP_MAX, 1, &skip,
		    &err) == -1)
			return command_usage(cli, "%s", err.text);
		message_set_integer(params, "skip", skip);
	}
	if (arguments_has(args, "note"))
		message_set_string(params, "note",
		    arguments_value(args, "note"));
	return read_until(cli, args, params);
}

/* Either names or --all. */
static enum exit_status
check_names(struct cli *cli, const struct arguments *args)
{
	bool all = arguments_has(args, "all");

	if (all && args->n_operands > 0)
		return command_usage(cli, "--all is all jobs; leave \"%s\" "
		    "out", args->operands[0]);
	if (!all && args->n_operands == 0)
		return command_usage(cli, "name a job, a pattern, or --all");
	return STATUS_DONE;
}

static void
add_names(struct strbuf *line, const struct message *names)
{
	for (size_t i = 0; i < message_count(names); i++) {
		if (i > 0)
			strbuf_addstr(line, ", ");
		text_escape(line, message_value_string(message_at(names,
		    i)));
	}
}

static void
tell_paused(const struct cli *cli, const struct message *result)
{
	struct strbuf line = STRBUF_INIT;
	int64_t until, skip;

	strbuf_addstr(&line, "paused ");
	if (message_get_bool(result, "all", false))
		strbuf_addstr(&line, "all jobs, later ones too");
	else
		add_names(&line, message_get(result, "jobs"));
	if (facts_integer(result, "skip", &skip)) {
		strbuf_addstr(&line, " for the next ");
		text_count(&line, skip, "occurrence");
	} else if (facts_integer(result, "until", &until)) {
		strbuf_addstr(&line, " until ");
		text_time(&line, &cli->clock, until);
	} else {
		strbuf_addstr(&line, " until resumed: cronctl resume");
		if (message_get_bool(result, "all", false))
			strbuf_addstr(&line, " --all");
	}
	printf("%s\n", line.buf);
	strbuf_release(&line);
}

static void
tell_resumed(const struct message *result, const char *name)
{
	const struct message *names = message_get(result, "jobs");
	struct strbuf line = STRBUF_INIT;

	if (name == NULL) {
		strbuf_addstr(&line, "resumed ");
		text_count(&line, message_get_integer(result, "resumed", 0),
		    "job");
	} else if (message_count(names) > 0) {
		strbuf_addstr(&line, "resumed ");
		add_names(&line, names);
	} else {
		text_escape(&line, name);
		strbuf_addstr(&line, " had no pause of its own");
	}
	if (message_get_bool(result, "all_paused", false))
		strbuf_addstr(&line, "; all jobs are still paused: cronctl "
		    "resume --all");
	printf("%s\n", line.buf);
	strbuf_release(&line);
}

/* One call; name is NULL for --all. */
static enum exit_status
call(struct cli *cli, const char *method, const struct message *base,
    const char *name)
{
	struct message *params = message_dup(base), *result = NULL;
	enum exit_status status;

	if (name != NULL)
		message_set_string(params, "job", name);
	else
		message_set_bool(params, "all", true);
	status = command_call(cli, method, params, &result);
	if (status != STATUS_DONE)
		return status;
	if (cli->json)
		output_json(result);
	else if (!cli->quiet && strcmp(method, "job.pause") == 0)
		tell_paused(cli, result);
	else if (!cli->quiet)
		tell_resumed(result, name);
	message_free(result);
	return STATUS_DONE;
}

/* One that fails does not keep the others from it. */
static enum exit_status
call_all(struct cli *cli, const struct arguments *args, const char *method,
    const struct message *base)
{
	enum exit_status status = STATUS_DONE, one;

	if (args->n_operands == 0)
		return call(cli, method, base, NULL);
	for (size_t i = 0; i < args->n_operands; i++) {
		one = call(cli, method, base, args->operands[i]);
		if (one != STATUS_DONE)
			status = one;
		if (one == STATUS_NO_DAEMON)
			break;
	}
	return status;
}

static enum exit_status
exec_pause(struct cli *cli, const struct arguments *args)
{
	struct message *params = message_object();
	enum exit_status status = check_names(cli, args);

	if (status == STATUS_DONE)
		status = read_pause(cli, args, params);
	if (status == STATUS_DONE)
		status = call_all(cli, args, "job.pause", params);
	message_free(params);
	return status;
}

static enum exit_status
exec_resume(struct cli *cli, const struct arguments *args)
{
	struct message *params = message_object();
	enum exit_status status = check_names(cli, args);

	if (status == STATUS_DONE)
		status = call_all(cli, args, "job.resume", params);
	message_free(params);
	return status;
}

const struct command command_pause = {
	.name = "pause",
	.args = "JOB...|--all [--for D|--until TIME|--skip N] [--note TEXT]",
	.summary = "keep jobs from starting for a while",
	.help = "What is due meanwhile is skipped (paused) and not caught up; "
	    "runs that are live go on, and a job can still be run by hand.  "
	    "Without --for, --until or --skip the pause lasts until cronctl "
	    "resume.  A pause takes the place of the one there was.  JOB may "
	    "be a shell pattern.",
	.max_operands = COMMAND_ANY,
	.options = pause_options,
	.exec = exec_pause,
};

const struct command command_resume = {
	.name = "resume",
	.args = "JOB...|--all",
	.summary = "end pauses",
	.help = "With --all the pause of all jobs ends, and every job's own.  "
	    "JOB may be a shell pattern.",
	.max_operands = COMMAND_ANY,
	.options = resume_options,
	.exec = exec_resume,
};
