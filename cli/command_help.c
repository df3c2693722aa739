/* SPDX-License-Identifier: ISC */
/* Help texts, made from the tables of commands and options. */
#include "config.h"

#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/strbuf.h"
#include "common/xmalloc.h"

#define HELP_WIDTH	80	/* wider lines are hard to read */
#define OPTION_COLUMN	26	/* where what an option does begins */
#define COMMAND_COLUMN	14	/* where what a command does begins */
#define SYNOPSIS_INDENT	12	/* further lines of a synopsis */

static size_t
help_width(size_t width)
{
	return width < HELP_WIDTH ? width : HELP_WIDTH;
}

/* Text in a column of its own, wrapped within it. */
static void
print_column(const char *text, size_t column, size_t width)
{
	struct strbuf out = STRBUF_INIT;

	text_wrap(&out, text, column, width);
	printf("%s\n", out.buf);
	strbuf_release(&out);
}

/* Lines that begin with a blank stay as they are; others are wrapped. */
static void
print_paragraphs(const char *text, size_t width)
{
	while (*text != '\0') {
		size_t len = strcspn(text, "\n");
		char *line = xstrndup(text, len);

		if (line[0] == ' ' || line[0] == '\0')
			printf("%s\n", line);
		else
			print_column(line, 0, width);
		free(line);
		text += len;
		text += *text == '\n';
	}
}

static void
print_options(const struct arguments_option *options, size_t width)
{
	for (const struct arguments_option *o = options; o->name != NULL;
	    o++) {
		struct strbuf left = STRBUF_INIT;

		if (o->letter != 0)
			strbuf_addf(&left, "  -%c, --%s", o->letter, o->name);
		else
			strbuf_addf(&left, "      --%s", o->name);
		if (o->value != NULL)
			strbuf_addf(&left, " %s", o->value);
		if (left.len + 2 > OPTION_COLUMN)
			printf("%s\n%*s", left.buf, OPTION_COLUMN, "");
		else
			printf("%-*s", OPTION_COLUMN, left.buf);
		print_column(o->help, OPTION_COLUMN, width);
		strbuf_release(&left);
	}
}

void
command_print_help(const struct command *command, size_t width)
{
	struct strbuf synopsis = STRBUF_INIT;

	width = help_width(width);
	strbuf_addf(&synopsis, "usage: cronctl %s %s", command->name,
	    command->args);
	print_column(synopsis.buf, SYNOPSIS_INDENT, width);
	strbuf_release(&synopsis);
	printf("\n");
	print_column(command->summary, 0, width);
	if (command->help != NULL) {
		printf("\n");
		print_paragraphs(command->help, width);
	}
	if (command->options != NULL) {
		printf("\nOptions:\n");
		print_options(command->options, width);
	}
	printf("\nOptions of every command (--json, --utc, ...): "
	    "cronctl help\n");
}

void
command_print_overview(const struct cli *cli)
{
	size_t width = help_width(cli->width);

	printf("usage: cronctl [OPTION...] COMMAND [ARGUMENT...]\n\n");
	for (size_t i = 0; cli->commands[i] != NULL; i++) {
		printf("  %-*s", COMMAND_COLUMN - 2, cli->commands[i]->name);
		print_column(cli->commands[i]->summary, COMMAND_COLUMN,
		    width);
	}
	printf("\nOptions of every command:\n");
	print_options(command_global_options(), width);
	printf("\nMore about a command: cronctl help COMMAND.  "
	    "About other things: cronctl help\nschedules, times, jobs, "
	    "exit-status.  In full: man cronctl, man cronctl-jobs.\n");
}
