/* SPDX-License-Identifier: ISC */
/* cronctl: the table of commands.  All else is in cli/command.c. */
#include "config.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"

/* In the order of "cronctl help". */
static const struct command *const commands[] = {
	&command_add,
	&command_remove,
	&command_list,
	&command_show,
	&command_next,
	&command_explain,
	&command_run,
	&command_wait,
	&command_kill,
	&command_pause,
	&command_resume,
	&command_history,
	&command_logs,
	&command_events,
	&command_status,
	&command_reload,
	&command_check,
	&command_stop,
	&command_keys,
	&command_completion,
	&command_version,
	&command_help,
	NULL
};

int
main(int argc, char **argv)
{
	/* All texts are UTF-8, and so is every terminal worth its name. */
	if (setlocale(LC_CTYPE, "") == NULL ||
	    strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		setlocale(LC_CTYPE, "C.UTF-8");
	exit(command_main(commands, argc, argv));
}
