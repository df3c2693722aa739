/* SPDX-License-Identifier: ISC */
/* cronctl help: the commands, one of them, or a topic. */
#include "config.h"

#include "cli/command.h"

#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "common/nearest.h"

struct topic {
	const char	*name;	/* as typed */
	const char	*text;	/* lines of at most 80 columns */
};

static const struct topic topics[] = {
	{ "schedules",
"A schedule says when a job is due.  It is one of\n"
"\n"
"  MINUTE HOUR DAY MONTH WEEKDAY          30 2 * * *      02:30 every day\n"
"  SECOND MINUTE HOUR DAY MONTH WEEKDAY   */10 * * * * *  every ten seconds\n"
"  ... the same with a YEAR at the end    0 0 9 1 1 * 2027\n"
"  @hourly @daily @midnight @weekly @monthly @yearly @annually\n"
"  @every D, @every D/P    each D since 1970, put off by P: @every 90m\n"
"  @at TIME                once: @at 2026-12-24 18:00\n"
"  @in D                   once, from now; with cronctl add only: @in 10m\n"
"  @manual                 only by hand, with cronctl run\n"
"\n"
"In a field: * or ? (every value), a, a-b, lists a,b,c, steps */n, a/n, a-b/n,\n"
"names JAN-DEC and SUN-SAT.  Day of month also L (the last), L-n, LW (the last\n"
"Monday to Friday), nW (the Monday to Friday nearest to day n); weekday also\n"
"5L (the last Friday), 5#2 (the second Friday).  H in a field is a fixed value\n"
"made from host and job name, so that jobs do not all start at once.\n"
"\n"
"If day and weekday are both restricted (neither begins with * or ?), a day\n"
"matches if either does.  TZ=Europe/Berlin in front sets the schedule's zone.\n"
"\n"
"Try one without a daemon: cronctl next '30 2 * * 1-5'.\n"
"In full: man cronctl-jobs\n" },
	{ "times",
"A TIME is one of\n"
"\n"
"  2026-12-24T18:00:00+01:00    RFC 3339, as --json prints it\n"
"  @1798131600                  seconds since 1970-01-01 00:00 UTC\n"
"  2026-12-24                   that day, 00:00\n"
"  '2026-12-24 18:00'           also with seconds\n"
"  18:00                        the latest past one for questions (history),\n"
"                               the next one for plans (next, @at)\n"
"  today, yesterday, tomorrow   also with a time: 'tomorrow 07:00'\n"
"  -2h, +90m                    before or after now\n"
"\n"
"Without a zone it is in yours (with --utc: UTC); in a job file in the job's.\n"
"\n"
"A duration (D) is 90s, 5m, 2h, 1d, 1w, 250ms, or a sum such as 1h30m; a bare\n"
"number means seconds.\n" },
	{ "jobs",
"A job is a section of a file in jobs.d whose name ends in .ini:\n"
"\n"
"  [nightly-dump]\n"
"  schedule = 30 2 * * *\n"
"  command = pg_dump app | gzip >/srv/dump.gz\n"
"  timeout = 2h\n"
"\n"
"A value goes from the first \"=\" to the end of its line, exactly as written:\n"
"quotes, \";\", \"#\" and \"%\" mean nothing special.  A line that ends in \"\\\" goes on\n"
"in the next.  Lines that begin with \"#\" or \";\" are comments.  [defaults] gives\n"
"keys to the jobs after it in the same file.\n"
"\n"
"Files belong to root or the daemon's user and are writable by nobody else.\n"
"After a change: cronctl check, then cronctl reload.  Without a file: cronctl\n"
"add.  The keys: cronctl keys.  In full: man cronctl-jobs\n" },
	{ "exit-status",
"cronctl exits with\n"
"\n"
"  0    done\n"
"  1    refused or failed; for check and reload: there are errors in job files\n"
"  2    the command line is wrong\n"
"  3    no daemon is reachable, or it did not answer in time\n"
"  4    not permitted\n"
"  5    no such job or run\n"
"\n"
"run --wait and wait exit with the job's own status, or\n"
"\n"
"  124  the run ran into its timeout\n"
"  125  the run is lost, or cronctl failed\n"
"  126  the run could not be started\n"
"  128+N  it was ended by signal N, or killed\n"
"  130  Ctrl-C: the run goes on, only the waiting ends\n" },
};
#define N_TOPICS (sizeof topics / sizeof *topics)

static const char *
topic_name(const void *arg, size_t i)
{
	(void)arg;
	return topics[i].name;
}

static enum exit_status
exec(struct cli *cli, const struct arguments *args)
{
	const struct command *command;
	const char *name, *near;

	if (args->n_operands == 0) {
		command_print_overview(cli);
		return STATUS_DONE;
	}
	name = args->operands[0];
	command = command_find(cli, name);
	if (command != NULL) {
		command_print_help(command, cli->width);
		return STATUS_DONE;
	}
	for (size_t i = 0; i < N_TOPICS; i++)
		if (strcmp(topics[i].name, name) == 0) {
			fputs(topics[i].text, stdout);
			return STATUS_DONE;
		}
	near = command_nearest(cli, name);
	if (near == NULL)
		near = nearest_find(name, N_TOPICS, topic_name, NULL);
	if (near != NULL)
		return command_fail(STATUS_USAGE, "no help on \"%s\"; did you "
		    "mean %s?", name, near);
	return command_fail(STATUS_USAGE, "no help on \"%s\"; there is help on"
	    " every command and on schedules, times, jobs, exit-status", name);
}

const struct command command_help = {
	.name = "help",
	.args = "[COMMAND|TOPIC]",
	.summary = "explain a command, or schedules, times, jobs, "
	    "exit-status",
	.max_operands = 1,
	.exec = exec,
};
