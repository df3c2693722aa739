/* SPDX-License-Identifier: ISC */
/* cronctl version: of this program; that of the daemon is in its status. */
#include "config.h"

#include "cli/command.h"

#include <stdio.h>

#include "cli/commands.h"
#include "cli/output_json.h"

static enum exit_status
exec(struct cli *cli, const struct arguments *args)
{
	struct message *version;

	(void)args;
	if (!cli->json) {
		printf("cronctl %s\n", PACKAGE_VERSION);
		return STATUS_DONE;
	}
	version = message_object();
	message_set_string(version, "version", PACKAGE_VERSION);
	output_json(version);
	message_free(version);
	return STATUS_DONE;
}

const struct command command_version = {
	.name = "version",
	.args = "",
	.summary = "print the version",
	.help = "The daemon's version is part of: cronctl status",
	.exec = exec,
};
