/* SPDX-License-Identifier: ISC */
/*
 * cronctl reload: have the job files read again.  Errors in them go to
 * standard error and make the status 1; what is right was taken anyway.
 */
#include "config.h"

#include "cli/command.h"

#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/facts.h"
#include "cli/output_json.h"
#include "common/strbuf.h"

#define RELOAD_NAME 24	/* columns for the name of a job */

static const struct arguments_option options[] = {
	{ "plan", 0, NULL, "only show what would change" },
	{ NULL, 0, NULL, NULL }
};

/* "~ nightly-dump            timeout, command" */
static void
print_change(char what, const struct message *change)
{
	struct strbuf name = STRBUF_INIT, detail = STRBUF_INIT;

	text_escape(&name, facts_string(change, "job", ""));
	text_escape(&detail, facts_string(change, "detail", ""));
	if (detail.len > 0)
		printf("%c %-*s  %s\n", what, RELOAD_NAME, name.buf,
		    detail.buf);
	else
		printf("%c %s\n", what, name.buf);
	strbuf_release(&name);
	strbuf_release(&detail);
}

/* "~ cronctld.conf           workers: takes effect at the next start" */
static void
print_configuration(const struct message *result)
{
	const struct message *all = message_get(result, "configuration");
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; all != NULL && i < message_count(all); i++) {
		const char *s = message_value_string(message_at(all, i));

		strbuf_release(&text);
		if (s != NULL)
			text_escape(&text, s);
		printf("~ %-*s  %s\n", RELOAD_NAME, "cronctld.conf",
		    text.len > 0 ? text.buf : "");
	}
	strbuf_release(&text);
}

static size_t
print_changes(char what, const struct message *result, const char *key)
{
	const struct message *changes = message_get(result, key);
	size_t n = changes != NULL ? message_count(changes) : 0;

	for (size_t i = 0; i < n; i++)
		print_change(what, message_at(changes, i));
	return n;
}

static size_t
count_of(const struct message *result, const char *key)
{
	const struct message *m = message_get(result, key);

	return m != NULL ? message_count(m) : 0;
}

static void
print_result(const struct message *result, bool plan)
{
	int64_t left_out = message_get_integer(result, "left_out", 0);
	struct strbuf line = STRBUF_INIT;
	size_t added, changed, removed;

	print_configuration(result);
	strbuf_addstr(&line, plan ? "plan: " : "reloaded: ");
	added = print_changes('+', result, "added");
	changed = print_changes('~', result, "changed");
	removed = print_changes('-', result, "removed");
	text_number(&line, (int64_t)added);
	strbuf_addstr(&line, " added, ");
	text_number(&line, (int64_t)changed);
	strbuf_addstr(&line, " changed, ");
	text_number(&line, (int64_t)removed);
	strbuf_addstr(&line, " removed, ");
	text_number(&line, message_get_integer(result, "unchanged", 0));
	strbuf_addstr(&line, " unchanged");
	if (left_out > 0) {
		strbuf_addstr(&line, "; ");
		text_number(&line, left_out);
		strbuf_addstr(&line, " more changes are not counted here");
	}
	printf("%s\n", line.buf);
	strbuf_release(&line);
}

/* Sentences of an array, each a line on standard error. */
static void
print_sentences(const struct message *result, const char *key, bool warning)
{
	const struct message *all = message_get(result, key);

	for (size_t i = 0; i < count_of(result, key); i++) {
		const char *text = message_value_string(message_at(all, i));

		if (text == NULL)
			continue;
		if (warning)
			command_warn("%s", text);
		else
			command_fail(STATUS_REFUSED, "%s", text);
	}
}

static enum exit_status
exec(struct cli *cli, const struct arguments *args)
{
	bool plan = arguments_has(args, "plan");
	struct message *params = message_object(), *result = NULL;
	enum exit_status status;
	size_t errors;

	message_set_bool(params, "plan", plan);
	status = command_call(cli, "daemon.reload", params, &result);
	if (status != STATUS_DONE)
		return status;
	if (cli->json)
		output_json(result);
	else if (!cli->quiet || plan)
		print_result(result, plan);
	if (!cli->json)
		print_sentences(result, "warnings", true);
	print_sentences(result, "errors", false);
	errors = count_of(result, "errors");
	message_free(result);
	if (errors == 0)
		return STATUS_DONE;
	return command_fail(STATUS_REFUSED, "reload: %zu error%s; a file "
	    "in error keeps its last good version in force", errors,
	    errors == 1 ? "" : "s");
}

const struct command command_reload = {
	.name = "reload",
	.args = "[--plan]",
	.summary = "read configuration and job files again",
	.help = "Reads cronctld.conf and the job files; an error in the "
	    "configuration changes nothing at all.  Changes are shown as "
	    "+ added, ~ changed, - removed.  A file with an error keeps its "
	    "last good version in force, and the exit status is 1; the "
	    "other files are taken.  Runs that are live are not touched.",
	.options = options,
	.exec = exec,
};
