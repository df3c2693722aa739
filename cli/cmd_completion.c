/* SPDX-License-Identifier: ISC */
/*
 * cronctl completion: a script for the shell, made from the tables of
 * commands and options.  Names of jobs are asked of the daemon while typing.
 */
#include "config.h"

#include "cli/command.h"

#include <stdio.h>
#include <string.h>

#include "cli/commands.h"

static const char head[] =
"# bash completion for cronctl; put this into ~/.bashrc:\n"
"#   source <(cronctl completion bash)\n"
"_cronctl()\n"
"{\n"
"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
"\tlocal i command='' words='' operand=''\n"
"\tCOMPREPLY=()\n"
"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
"\t\tcase ${COMP_WORDS[i]} in\n"
"\t\t--socket) ((i++)) ;;\n"
"\t\t--) return ;;\n"
"\t\t-*) ;;\n"
"\t\t*) command=${COMP_WORDS[i]}; break ;;\n"
"\t\tesac\n"
"\tdone\n"
"\tcase $command in\n";

static const char tail[] =
"\tesac\n"
"\tcase $prev in\n"
"\t--socket) compopt -o default; return ;;\n"
"\t-o|--option)\n"
"\t\tcompopt -o nospace\n"
"\t\twords=$(cronctl keys --json 2>/dev/null |\n"
"\t\t    sed -n 's/.*\"key\": *\"\\([^\"]*\\)\".*/\\1=/p')\n"
"\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\")); return ;;\n"
"\tesac\n"
"\tif [[ $cur == -* ]]; then\n"
"\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\")); return\n"
"\tfi\n"
"\tcase $operand in\n"
"\tcommand) ;;\n"
"\tjob) words=$(cronctl list --json 2>/dev/null |\n"
"\t    sed -n 's/^{\"job\": *\"\\([^\"]*\\)\".*/\\1/p') ;;\n"
"\tword) ;;\n"
"\t*) compopt -o default; return ;;\n"
"\tesac\n"
"\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
"}\n"
"complete -F _cronctl cronctl\n";

static void
print_options(const struct arguments_option *options)
{
	for (; options != NULL && options->name != NULL; options++)
		printf(" --%s", options->name);
}

/* What the synopsis says the first operand is. */
static const char *
operand_kind(const struct command *command)
{
	if (strncmp(command->args, "JOB", 3) == 0 ||
	    strncmp(command->args, "[JOB", 4) == 0 ||
	    strncmp(command->args, "[PATTERN", 8) == 0)
		return "job";
	return "";
}

static enum exit_status
exec(struct cli *cli, const struct arguments *args)
{
	const char *shell = args->operands[0];

	if (strcmp(shell, "bash") != 0)
		return command_fail(STATUS_REFUSED, "no completion for "
		    "\"%s\"; there is one for: bash", shell);
	fputs(head, stdout);
	printf("\t'') operand='command'; words='");
	for (size_t i = 0; cli->commands[i] != NULL; i++)
		printf("%s%s", i > 0 ? " " : "", cli->commands[i]->name);
	print_options(command_global_options());
	printf("' ;;\n");
	printf("\thelp) operand='word'; words='");
	for (size_t i = 0; cli->commands[i] != NULL; i++)
		printf("%s ", cli->commands[i]->name);
	printf("schedules times jobs exit-status' ;;\n");
	for (size_t i = 0; cli->commands[i] != NULL; i++) {
		const struct command *command = cli->commands[i];

		if (strcmp(command->name, "help") == 0)
			continue;
		printf("\t%s) operand='%s'; words='", command->name,
		    operand_kind(command));
		print_options(command->options);
		print_options(command_global_options());
		printf("' ;;\n");
	}
	fputs(tail, stdout);
	return STATUS_DONE;
}

const struct command command_completion = {
	.name = "completion",
	.args = "SHELL",
	.summary = "print a script that completes words for a shell (bash)",
	.help = "  source <(cronctl completion bash)",
	.min_operands = 1,
	.max_operands = 1,
	.exec = exec,
};
