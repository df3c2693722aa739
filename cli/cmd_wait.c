/* SPDX-License-Identifier: ISC */
/* cronctl wait: until a run ends; exits as "run --wait" does. */
#include "config.h"

#include "cli/command.h"

#include "cli/commands.h"
#include "cli/waiting.h"

static enum exit_status
exec(struct cli *cli, const struct arguments *args)
{
	const char *what = args->operands[0];
	int64_t run;

	if (command_run_number(what, &run))
		return waiting_for_run(cli, NULL, run);
	return waiting_for_run(cli, what, 0);
}

const struct command command_wait = {
	.name = "wait",
	.args = "JOB|RUN",
	.summary = "wait until a run ends, and exit with its status",
	.help = "For a job this is its oldest live run; if none is live, its "
	    "last run is told at once.  The exit status is that of cronctl "
	    "run --wait.",
	.min_operands = 1,
	.max_operands = 1,
	.exec = exec,
};
