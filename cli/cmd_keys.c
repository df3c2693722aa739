/* SPDX-License-Identifier: ISC */
/* cronctl keys: the keys of a job, from the table that reads them. */
#include "config.h"

#include "cli/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/output_json.h"
#include "common/duration.h"
#include "common/jobdef.h"
#include "common/strbuf.h"

#define KEY_COLUMN	16	/* width of a key and its gap */
#define DEFAULT_COLUMN	10	/* width of its default and the gap */

/* What a value looks like, by type. */
static const char *
type_words(enum jobdef_type type)
{
	static const char *const words[] = {
		[JOBDEF_STRING] = "text, as written",
		[JOBDEF_PATH] = "an absolute path",
		[JOBDEF_BOOL] = "yes or no",
		[JOBDEF_DURATION] = "a duration: 90s, 5m, 2h, 1d, 1h30m, "
		    "250ms",
		[JOBDEF_SIZE] = "a size: 10K, 1M, 2G, or bytes",
		[JOBDEF_INTEGER] = "a whole number",
		[JOBDEF_OCTAL] = "an octal number",
		[JOBDEF_CHOICE] = "a word",
		[JOBDEF_SIGNAL] = "a signal: TERM, SIGTERM or 15",
		[JOBDEF_TIME] = "a time (see: cronctl help times)",
		[JOBDEF_ZONE] = "a time zone, as Europe/Berlin",
		[JOBDEF_SCHEDULE] = "a schedule (see: cronctl help "
		    "schedules)",
		[JOBDEF_LINES] = "text, a line each",
		[JOBDEF_TAGS] = "words between commas",
		[JOBDEF_ENVIRONMENT] = "text, as written",
		[JOBDEF_ACCOUNT] = "a name or a number",
	};

	return words[type];
}

static const char *
shown_name(const struct jobdef_key *key)
{
	return key->type == JOBDEF_ENVIRONMENT ? "env.NAME" : key->name;
}

static bool
repeats(const struct jobdef_key *key)
{
	return key->type == JOBDEF_SCHEDULE || key->type == JOBDEF_LINES ||
	    key->type == JOBDEF_TAGS;
}

static void
print_row(const struct cli *cli, const struct jobdef_key *key)
{
	size_t column = KEY_COLUMN + DEFAULT_COLUMN;
	struct strbuf help = STRBUF_INIT;

	text_wrap(&help, key->help, column, cli->width);
	printf("%-*s%-*s%s\n", KEY_COLUMN, shown_name(key), DEFAULT_COLUMN,
	    key->required ? "required" : key->fallback != NULL ?
	    key->fallback : "-", help.buf);
	strbuf_release(&help);
}

/* One end of a range, in the words it is written in. */
static void
add_bound(struct strbuf *out, const struct jobdef_key *key, int64_t value)
{
	char text[DURATION_MAX_LEN];

	if (key->type == JOBDEF_DURATION) {
		duration_format(text, value);
		strbuf_addstr(out, text);
	} else if (key->type == JOBDEF_SIZE) {
		size_format(text, value);
		strbuf_addstr(out, text);
	} else {
		strbuf_addf(out, "%" PRId64, value);
	}
}

static void
print_choices(const struct jobdef_key *key)
{
	for (size_t i = 0; key->choices[i] != NULL; i++)
		printf("%s%s", i == 0 ? "" : ", ", key->choices[i]);
}

static void
print_key(const struct jobdef_key *key)
{
	struct strbuf range = STRBUF_INIT;

	printf("%s: %s\n", shown_name(key), key->help);
	printf("  value    ");
	if (key->type == JOBDEF_CHOICE) {
		print_choices(key);
	} else {
		printf("%s", type_words(key->type));
		if (key->choices != NULL) {
			printf("; or ");
			print_choices(key);
		}
	}
	printf("\n");
	if (key->type == JOBDEF_DURATION || key->type == JOBDEF_SIZE ||
	    key->type == JOBDEF_INTEGER) {
		add_bound(&range, key, key->min);
		strbuf_addstr(&range, " to ");
		add_bound(&range, key, key->max);
		printf("  range    %s\n", range.buf);
	}
	printf("  default  %s\n", key->required ? "none, it must be given" :
	    key->fallback != NULL ? key->fallback : "none");
	if (repeats(key))
		printf("  repeats  yes\n");
	strbuf_release(&range);
}

static void
print_json(const struct jobdef_key *key)
{
	struct message *m = message_object(), *choices = NULL;

	for (size_t i = 0; key->choices != NULL && key->choices[i] != NULL;
	    i++) {
		if (choices == NULL)
			choices = message_array();
		message_append_string(choices, key->choices[i]);
	}
	message_set_string(m, "key", shown_name(key));
	message_set_string(m, "default", key->fallback);
	message_set_bool(m, "required", key->required);
	message_set_bool(m, "repeats", repeats(key));
	message_set_string(m, "value", type_words(key->type));
	message_set(m, "choices", choices);
	message_set_string(m, "help", key->help);
	output_json(m);
	message_free(m);
}

static enum exit_status
one_key(const struct cli *cli, const char *name)
{
	const struct jobdef_key *key = jobdef_key_find(name);
	const char *near;

	if (key == NULL) {
		near = jobdef_key_nearest(name);
		if (near != NULL)
			return command_fail(STATUS_REFUSED, "no key \"%s\"; "
			    "did you mean %s?", name, near);
		return command_fail(STATUS_REFUSED, "no key \"%s\"; all are "
		    "listed by: cronctl keys", name);
	}
	if (cli->json)
		print_json(key);
	else
		print_key(key);
	return STATUS_DONE;
}

static enum exit_status
exec(struct cli *cli, const struct arguments *args)
{
	if (args->n_operands > 0)
		return one_key(cli, args->operands[0]);
	if (!cli->json)
		printf("%-*s%-*s%s\n", KEY_COLUMN, "KEY", DEFAULT_COLUMN,
		    "DEFAULT", "MEANING");
	for (const struct jobdef_key *key = jobdef_keys(); key->name != NULL;
	    key++) {
		if (cli->json)
			print_json(key);
		else
			print_row(cli, key);
	}
	return STATUS_DONE;
}

const struct command command_keys = {
	.name = "keys",
	.args = "[KEY]",
	.summary = "list the keys of a job, for job files and add -o",
	.help = "With a key: what its value looks like, its range and its "
	    "default.  Everything about them is in cronctl-jobs(5).",
	.max_operands = 1,
	.exec = exec,
};
