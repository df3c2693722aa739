/* SPDX-License-Identifier: ISC */
/*
 * cronctl list: one line a job.  The daemon gives pages, which are put into
 * one table; with --json each page is printed as it comes.
 */
#include "config.h"

#include "cli/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/facts.h"
#include "cli/job_pages.h"
#include "cli/output_json.h"
#include "cli/output_table.h"
#include "common/nearest.h"
#include "common/strbuf.h"

static const struct arguments_option options[] = {
	{ "state", 0, "STATE", "only jobs that are idle, running, queued, "
	    "paused, disabled or done" },
	{ "tag", 0, "TAG", "only jobs with this tag" },
	{ "owner", 0, "UID", "only jobs of this user, by number" },
	{ "failing", 0, NULL, "only jobs whose last run did not succeed" },
	{ NULL, 0, NULL, NULL }
};

static const char *const states[] = {
	"idle", "running", "queued", "paused", "disabled", "done"
};
#define N_STATES (sizeof states / sizeof *states)

enum { JOB, STATE, SCHEDULE, LAST, NEXT };

static const struct output_table_column columns[] = {
	[JOB] = { "JOB", 24, 12, 4, false },
	[STATE] = { "STATE", 12, 8, 3, false },
	[SCHEDULE] = { "SCHEDULE", 14, 8, 1, false },
	[LAST] = { "LAST", 10, 8, 2, false },
	[NEXT] = { "NEXT", 19, 11, 5, false },
	{ NULL, 0, 0, 0, false }
};

/* What the list adds up to. */
struct sums {
	const struct cli	*cli;
	struct output_table	*table;		/* NULL with --json */
	int64_t			 jobs;
	int64_t			 running;
	int64_t			 failing;
	int64_t			 stuck;
	int64_t			 paused;
	int64_t			 disabled;
	int64_t			 files_in_error;	/* of the daemon */
};

static bool
is_state(const struct message *job, const char *state)
{
	return strcmp(facts_string(job, "state", ""), state) == 0;
}

static enum output_table_color
job_state(struct strbuf *out, const struct cli *cli,
    const struct message *job)
{
	int64_t failures = message_get_integer(job, "failures", 0);
	int64_t running = message_get_integer(job, "running", 0);
	double since;

	if (message_get_bool(job, "stuck", false)) {
		strbuf_addstr(out, "stuck");
		return TABLE_RED;
	}
	if (running > 0) {
		strbuf_addstr(out, "running");
		if (running > 1)
			strbuf_addf(out, " (%" PRId64 "\xc3\x97)", running);
		if (facts_number(job, "running_since", &since)) {
			strbuf_addch(out, ' ');
			text_span(out, (double)cli->clock.now - since);
		}
		return failures > 0 ? TABLE_RED : TABLE_GREEN;
	}
	if (is_state(job, "paused")) {
		facts_pause(out, &cli->clock, message_get(job, "paused"));
		return TABLE_DIM;
	}
	if (failures > 0 && is_state(job, "idle")) {
		strbuf_addf(out, "failing (%" PRId64 "\xc3\x97)", failures);
		return TABLE_RED;
	}
	strbuf_addstr(out, facts_string(job, "state", "unknown"));
	return is_state(job, "disabled") ? TABLE_DIM : TABLE_PLAIN;
}

/* "ok 4m12s, 16 h ago" */
static enum output_table_color
job_last(struct strbuf *out, const struct cli *cli, const struct message *job)
{
	const struct message *last = message_get(job, "last");
	double took, ended, since;

	if (message_get_bool(job, "stuck", false) &&
	    facts_number(job, "running_since", &since)) {
		strbuf_addstr(out, "running for ");
		text_span(out, (double)cli->clock.now - since);
		return TABLE_PLAIN;
	}
	if (last == NULL || !message_is_object(last)) {
		strbuf_addstr(out, "-");
		return TABLE_PLAIN;
	}
	facts_run_result(out, last);
	if (is_state(last, "succeeded") &&
	    facts_number(last, "duration", &took)) {
		strbuf_addch(out, ' ');
		text_took(out, took);
	}
	if (facts_number(last, "ended", &ended)) {
		strbuf_addstr(out, ", ");
		text_ago(out, (double)cli->clock.now - ended);
	}
	return is_state(last, "succeeded") ? TABLE_PLAIN : TABLE_RED;
}

/* "Sun 04:00  in 5 d" */
static void
job_next(struct strbuf *out, const struct cli *cli, const struct message *job)
{
	int64_t skips = message_get_integer(job, "skips", 0), next;

	if (message_get_bool(job, "stuck", false)) {
		strbuf_addf(out, "skipped %" PRId64 "\xc3\x97", skips);
		return;
	}
	if (!facts_integer(job, "next", &next)) {
		strbuf_addstr(out, "-");
		return;
	}
	text_time_near(out, &cli->clock, next, false);
	strbuf_addstr(out, "  ");
	text_relative(out, (double)(next - cli->clock.now));
}

static void
add_row(struct sums *sums, const struct message *job)
{
	struct output_table *table = sums->table;
	struct strbuf text = STRBUF_INIT;
	enum output_table_color color;

	output_table_row(table);
	output_table_cell(table, JOB, facts_string(job, "job", ""),
	    TABLE_PLAIN);
	color = job_state(&text, sums->cli, job);
	output_table_cell(table, STATE, text.buf, color);
	strbuf_reset(&text);
	facts_job_schedule(&text, job);
	output_table_cell(table, SCHEDULE, text.buf, TABLE_PLAIN);
	strbuf_reset(&text);
	color = job_last(&text, sums->cli, job);
	output_table_cell(table, LAST, text.buf, color);
	strbuf_reset(&text);
	job_next(&text, sums->cli, job);
	output_table_cell(table, NEXT, text.buf, TABLE_PLAIN);
	strbuf_release(&text);
}

static void
take_job(void *arg, const struct message *job)
{
	struct sums *sums = arg;

	sums->jobs++;
	sums->running += message_get_integer(job, "running", 0) > 0;
	sums->failing += message_get_integer(job, "failures", 0) > 0;
	sums->stuck += message_get_bool(job, "stuck", false);
	sums->paused += is_state(job, "paused");
	sums->disabled += is_state(job, "disabled");
	if (sums->table != NULL)
		add_row(sums, job);
	else
		output_json(job);
}

static void
add_sum(struct strbuf *line, int64_t n, const char *what, bool *first)
{
	if (n == 0)
		return;
	strbuf_addstr(line, *first ? ": " : ", ");
	text_number(line, n);
	strbuf_addf(line, " %s", what);
	*first = false;
}

/* "5 jobs: 1 running, 1 failing, 1 stuck." and what is wrong with files. */
static void
print_sums(const struct sums *sums)
{
	struct strbuf line = STRBUF_INIT;
	bool first = true;

	if (sums->jobs > 0)
		text_count(&line, sums->jobs, "job");
	add_sum(&line, sums->running, "running", &first);
	add_sum(&line, sums->failing, "failing", &first);
	add_sum(&line, sums->stuck, "stuck", &first);
	add_sum(&line, sums->paused, "paused", &first);
	add_sum(&line, sums->disabled, "disabled", &first);
	if (line.len > 0)
		printf("%s\n", line.buf);
	if (sums->files_in_error > 0) {
		strbuf_reset(&line);
		text_count(&line, sums->files_in_error, "job file");
		printf("%s in error, last good version in force; "
		    "see: cronctl status\n", line.buf);
	}
	strbuf_release(&line);
}

static const char *
state_name(const void *arg, size_t i)
{
	(void)arg;
	return states[i];
}

static bool
is_known_state(const char *name)
{
	for (size_t i = 0; i < N_STATES; i++)
		if (strcmp(states[i], name) == 0)
			return true;
	return false;
}

/* NULL after a usage error. */
static struct message *
filter_of(const struct cli *cli, const struct arguments *args)
{
	const char *state = arguments_value(args, "state");
	struct message *filter;
	struct error err;
	long owner;

	if (state != NULL && !is_known_state(state)) {
		const char *near = nearest_find(state, N_STATES, state_name,
		    NULL);

		command_usage(cli, "--state \"%s\": %s%s%s", state,
		    near != NULL ? "did you mean " : "want ", near != NULL ?
		    near : "idle, running, queued, paused, disabled or done",
		    near != NULL ? "?" : "");
		return NULL;
	}
	if (arguments_number(args, "owner", 0, UINT32_MAX - 1L, -1, &owner,
	    &err) == -1) {
		command_usage(cli, "%s", err.text);
		return NULL;
	}
	filter = message_object();
	if (args->n_operands > 0)
		message_set_string(filter, "pattern", args->operands[0]);
	if (state != NULL)
		message_set_string(filter, "state", state);
	if (arguments_has(args, "tag"))
		message_set_string(filter, "tag",
		    arguments_value(args, "tag"));
	if (owner >= 0)
		message_set_integer(filter, "owner", owner);
	if (arguments_has(args, "failing"))
		message_set_bool(filter, "failing", true);
	return filter;
}

static enum exit_status
exec(struct cli *cli, const struct arguments *args)
{
	struct message *filter = filter_of(cli, args), *summary = NULL;
	struct sums sums = { .cli = cli };
	enum exit_status status;
	bool filtered;

	if (filter == NULL)
		return STATUS_USAGE;
	filtered = message_count(filter) > 0;
	if (!cli->json)
		sums.table = output_table_new(columns);
	status = job_pages_read(cli, filter, take_job, &sums, &summary);
	if (summary != NULL)
		sums.files_in_error = message_get_integer(summary,
		    "files_in_error", 0);
	if (status == STATUS_DONE && sums.table != NULL && sums.jobs > 0 &&
	    output_table_print(sums.table, cli->width, cli->color) == -1)
		status = command_fail(STATUS_REFUSED,
		    "can't make the table: out of memory");
	if (status == STATUS_DONE && sums.table != NULL && sums.jobs == 0)
		printf(filtered ? "no job matches; all are listed by: "
		    "cronctl list\n" : "no jobs yet; add one, see: "
		    "cronctl help add\n");
	if (status == STATUS_DONE && sums.table != NULL &&
	    (sums.jobs > 0 || sums.files_in_error > 0))
		print_sums(&sums);
	output_table_free(sums.table);
	message_free(summary);
	message_free(filter);
	return status;
}

const struct command command_list = {
	.name = "list",
	.args = "[PATTERN] [--state STATE] [--tag TAG] [--owner UID] "
	    "[--failing]",
	.summary = "list the jobs with their state, last result and next time",
	.help = "PATTERN is a shell pattern over names, as in 'db-*'; quote "
	    "it.  A job is failing when its last run did not succeed, and "
	    "stuck when three occurrences in a row were skipped because a run "
	    "of it would not end.",
	.max_operands = 1,
	.options = options,
	.exec = exec,
};
