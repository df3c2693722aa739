/* SPDX-License-Identifier: ISC */
/*
 * cronctl add: define a job over the control socket.  Keys and values are
 * checked here, by the table and the rules the daemon uses, before a socket
 * is opened; the daemon checks again and has the last word.
 */
#include "config.h"

#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/facts.h"
#include "cli/output_json.h"
#include "cli/shell_quote.h"
#include "common/jobdef.h"
#include "common/strbuf.h"
#include "common/xmalloc.h"

static const struct arguments_option options[] = {
	{ "option", 'o', "KEY=VALUE", "set a key of the job, as in a job file;"
	    " repeatable (see: cronctl keys)" },
	{ "replace", 0, NULL, "change the job if there is one of this name; "
	    "it keeps its history" },
	{ NULL, 0, NULL, NULL }
};

/* Where errors of a definition go. */
struct complaint {
	const struct cli *cli;
	size_t		 n;	/* errors so far */
};

static void
definition_error(void *arg, int line, const char *key, const char *text)
{
	struct complaint *c = arg;

	(void)line;
	c->n++;
	if (key != NULL && key[0] != '\0')
		command_fail(STATUS_REFUSED, "add: %s: %s", key, text);
	else
		command_fail(STATUS_REFUSED, "add: %s", text);
}

static void
add_setting(struct complaint *c, struct jobdef_settings *settings,
    const char *key, const char *value)
{
	struct error err;

	if (jobdef_settings_add(settings, key, value, 0, &err) == -1)
		definition_error(c, 0, key, err.text);
}

/* "-o timeout=2h" */
static void
add_option(struct complaint *c, struct jobdef_settings *settings,
    const char *pair)
{
	size_t len = strcspn(pair, "=");
	char *key;

	if (len == 0 || pair[len] != '=') {
		c->n++;
		command_fail(STATUS_REFUSED, "add: -o \"%s\" is not "
		    "KEY=VALUE; the keys are listed by: cronctl keys", pair);
		return;
	}
	key = xstrndup(pair, len);
	add_setting(c, settings, key, pair + len + 1);
	free(key);
}

/* What the command line says, each pair checked by itself. */
static void
collect(struct complaint *c, const struct arguments *args,
    struct jobdef_settings *settings)
{
	struct strbuf command = STRBUF_INIT;

	add_setting(c, settings, "schedule", args->operands[1]);
	shell_quote_words(&command, args->words, args->n_words);
	add_setting(c, settings, "command", command.buf);
	strbuf_release(&command);
	for (size_t i = 0; i < args->n_given; i++)
		if (args->given[i].option->letter == 'o')
			add_option(c, settings, args->given[i].value);
}

/* All of it together, as the daemon will see it. */
static void
check_whole(struct complaint *c, const char *name,
    const struct jobdef_settings *settings)
{
	const struct jobdef_settings *layers[] = { settings };
	struct zone_cache *zones = zone_cache_new();
	struct jobdef_context context = {
		.host_id = "",
		.zone = c->cli->clock.zone,
		.zones = zones,
		.now = c->cli->clock.now,
		.allow_in = true,
		.error = definition_error,
		.arg = c,
	};

	jobdef_free(jobdef_build(name, layers, 1, &context));
	zone_cache_free(zones);
}

/* Keys to a string each, or to an array where they repeat. */
static struct message *
definition_message(const struct jobdef_settings *settings)
{
	struct message *definition = message_object();

	for (size_t i = 0; i < settings->n; i++) {
		const char *key = settings->v[i].key;
		struct message *values;
		size_t n = 0;

		if (message_get(definition, key) != NULL)
			continue;
		values = message_array();
		for (size_t j = i; j < settings->n; j++)
			if (strcmp(settings->v[j].key, key) == 0) {
				message_append_string(values,
				    settings->v[j].value);
				n++;
			}
		if (n > 1) {
			message_set(definition, key, values);
		} else {
			message_set_string(definition, key,
			    settings->v[i].value);
			message_free(values);
		}
	}
	return definition;
}

/* The times it will run at, or why there are none. */
static void
print_next(const struct cli *cli, const struct message *result)
{
	const struct message *next = message_get(result, "next");
	const struct message *job = message_get(result, "job");
	size_t n = next != NULL ? message_count(next) : 0;
	const char *state = facts_string(job, "state", "");

	for (size_t i = 0; i < n; i++) {
		int64_t at = message_value_integer(message_at(next, i), 0);
		struct strbuf line = STRBUF_INIT;

		text_time(&line, &cli->clock, at);
		if (i == 0) {
			strbuf_addstr(&line, "   ");
			text_relative_long(&line, at - cli->clock.now);
		}
		printf("  %s  %s\n", i == 0 ? "next" : "    ", line.buf);
		strbuf_release(&line);
	}
	if (n == 0 && strcmp(state, "disabled") == 0)
		printf("  next  never while enabled = no; by hand: "
		    "cronctl run %s\n", facts_string(job, "job", ""));
	else if (n == 0)
		printf("  next  never by itself; by hand: cronctl run %s\n",
		    facts_string(job, "job", ""));
}

static void
print_added(const struct cli *cli, const struct message *result,
    const struct jobdef_settings *settings)
{
	const struct message *job = message_get(result, "job");
	const char *user = jobdef_settings_get(settings, "user");
	const char *workdir = jobdef_settings_get(settings, "workdir");
	struct strbuf line = STRBUF_INIT;

	strbuf_addf(&line, "%s ", message_get_bool(result, "replaced", false) ?
	    "replaced" : "added");
	text_escape(&line, facts_string(job, "job", ""));
	strbuf_addstr(&line, "  (runs as ");
	if (user == NULL || *user == '\0')
		user = facts_string(job, "owner_name", "its owner");
	text_escape(&line, user);
	strbuf_addstr(&line, ", in ");
	text_escape(&line, workdir != NULL && *workdir != '\0' ? workdir :
	    "the home directory");
	strbuf_addstr(&line, ", zone ");
	text_escape(&line, facts_string(job, "zone", "unknown"));
	printf("%s)\n", line.buf);
	strbuf_release(&line);
	print_next(cli, result);
}

static enum exit_status
send_definition(struct cli *cli, const struct arguments *args,
    const struct jobdef_settings *settings)
{
	struct message *params = message_object(), *result = NULL;
	const struct message *warnings;
	enum exit_status status;

	message_set_string(params, "name", args->operands[0]);
	message_set(params, "definition", definition_message(settings));
	message_set_bool(params, "replace", arguments_has(args, "replace"));
	status = command_call(cli, "job.add", params, &result);
	if (status != STATUS_DONE)
		return status;
	if (cli->json)
		output_json(result);
	else if (!cli->quiet)
		print_added(cli, result, settings);
	warnings = message_get(result, "warnings");
	for (size_t i = 0; warnings != NULL && i < message_count(warnings);
	    i++) {
		const char *text = message_value_string(
		    message_at(warnings, i));

		if (text != NULL)
			command_warn("%s", text);
	}
	message_free(result);
	return STATUS_DONE;
}

static enum exit_status
exec(struct cli *cli, const struct arguments *args)
{
	struct complaint c = { cli, 0 };
	struct jobdef_settings settings;
	enum exit_status status = STATUS_REFUSED;
	struct error err;

	jobdef_settings_init(&settings);
	collect(&c, args, &settings);
	/* Wrong options hide neither a wrong schedule nor a wrong name. */
	if (jobdef_settings_get(&settings, "schedule") != NULL &&
	    jobdef_settings_get(&settings, "command") != NULL)
		check_whole(&c, args->operands[0], &settings);
	else if (jobdef_name_check(args->operands[0], &err) == -1)
		definition_error(&c, 0, NULL, err.text);
	if (c.n == 0)
		status = send_definition(cli, args, &settings);
	jobdef_settings_release(&settings);
	return status;
}

const struct command command_add = {
	.name = "add",
	.args = "NAME SCHEDULE [-o KEY=VALUE]... [--replace] -- COMMAND...",
	.summary = "add a job",
	.help = "One word after -- is a shell command and goes as it stands; "
	    "several words are each quoted for the shell.  Quote the schedule,"
	    " it has blanks and stars:\n"
	    "\n"
	    "  cronctl add nightly '30 2 * * *' -o timeout=2h -- 'dump | gzip "
	    ">/srv/d.gz'\n"
	    "  cronctl add once '@in 10m' -- logger \"ten minutes later\"\n"
	    "\n"
	    "The job is kept by the daemon, over restarts, until cronctl "
	    "remove.  Schedules: cronctl help schedules.  Keys: cronctl keys.",
	.min_operands = 2,
	.max_operands = 2,
	.takes_words = true,
	.options = options,
	.exec = exec,
};
