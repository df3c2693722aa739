/* SPDX-License-Identifier: ISC */
/* cronctl show: everything about one job; --ini gives it as a job file. */
#include "config.h"

#include "cli/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/facts.h"
#include "cli/output_json.h"
#include "common/strbuf.h"

#define LABEL 10	/* columns for what a line is about */

static const struct arguments_option options[] = {
	{ "ini", 0, NULL, "as a section of a job file that gives the same "
	    "job" },
	{ NULL, 0, NULL, NULL }
};

static void
print_line(const char *label, const struct strbuf *text)
{
	printf("  %-*s%s\n", LABEL, label, text->buf);
}

/* One line of a value from outside; nothing when it is not known. */
static void
print_string(const char *label, const char *value)
{
	struct strbuf text = STRBUF_INIT;

	if (value == NULL)
		return;
	text_escape(&text, value);
	print_line(label, &text);
	strbuf_release(&text);
}

/* "nightly-dump is idle" and what stands out. */
static void
print_head(const struct cli *cli, const struct message *job)
{
	struct strbuf line = STRBUF_INIT;
	int64_t failures = message_get_integer(job, "failures", 0);
	int64_t skips = message_get_integer(job, "skips", 0);
	int64_t waiting = message_get_integer(job, "waiting", 0);
	double since;

	text_escape(&line, facts_string(job, "job", ""));
	strbuf_addf(&line, " is %s", facts_string(job, "state", "unknown"));
	if (waiting > 0) {
		strbuf_addstr(&line, ", ");
		text_count(&line, waiting, "occurrence");
		strbuf_addstr(&line, " waiting");
	}
	if (failures > 0) {
		strbuf_addf(&line, ", failing (%" PRId64 "\xc3\x97)",
		    failures);
		if (facts_number(job, "failing_since", &since)) {
			strbuf_addstr(&line, " since ");
			text_time_near(&line, &cli->clock, (int64_t)since,
			    true);
		}
	}
	if (message_get_bool(job, "stuck", false))
		strbuf_addf(&line, ", stuck: skipped %" PRId64
		    "\xc3\x97 by overlap", skips);
	printf("%s\n", line.buf);
	strbuf_release(&line);
}

/* "paused   since 18:02 until Tue 00:00 by uid 1001: office closed" */
static void
print_pause(const struct cli *cli, const struct message *job)
{
	const struct message *pause = message_get(job, "paused");
	const char *note;
	struct strbuf line = STRBUF_INIT;
	int64_t t;

	if (pause == NULL || !message_is_object(pause))
		return;
	note = facts_string(pause, "note", NULL);
	if (message_get_bool(pause, "all", false))
		strbuf_addstr(&line, "with all jobs, ");
	if (facts_integer(pause, "skip", &t)) {
		strbuf_addstr(&line, "for the next ");
		text_count(&line, t, "occurrence");
		strbuf_addstr(&line, ", ");
	}
	if (facts_integer(pause, "since", &t)) {
		strbuf_addstr(&line, "since ");
		text_time_near(&line, &cli->clock, t, false);
	}
	if (facts_integer(pause, "until", &t)) {
		strbuf_addstr(&line, " until ");
		text_time_near(&line, &cli->clock, t, false);
	}
	if (facts_integer(pause, "by", &t))
		strbuf_addf(&line, " by uid %" PRId64, t);
	if (note != NULL) {
		strbuf_addstr(&line, ": ");
		text_escape(&line, note);
	}
	print_line("paused", &line);
	strbuf_release(&line);
}

static void
print_schedule(const struct cli *cli, const struct message *job)
{
	const char *rule = facts_string(job, "next_rule", NULL);
	struct strbuf line = STRBUF_INIT, text = STRBUF_INIT;
	int64_t next;

	facts_job_schedule(&text, job);
	text_escape(&line, text.buf);
	strbuf_addstr(&line, "   zone ");
	text_escape(&line, facts_string(job, "zone", "unknown"));
	print_line("schedule", &line);
	strbuf_reset(&line);
	if (facts_integer(job, "next", &next)) {
		text_time(&line, &cli->clock, next);
		strbuf_addstr(&line, "   ");
		text_relative_long(&line, next - cli->clock.now);
		if (rule != NULL)
			strbuf_addf(&line, " (%s)", facts_rule(rule));
	} else {
		strbuf_addstr(&line, "never by itself");
	}
	print_line("next", &line);
	strbuf_release(&line);
	strbuf_release(&text);
}

static void
print_last(const struct cli *cli, const struct message *job)
{
	const struct message *last = message_get(job, "last");
	struct strbuf line = STRBUF_INIT;
	double took, ended;

	if (last == NULL || !message_is_object(last)) {
		strbuf_addstr(&line, "no run has ended yet");
	} else {
		strbuf_addf(&line, "run %" PRId64 " ",
		    message_get_integer(last, "run", 0));
		facts_run_result(&line, last);
		if (facts_number(last, "duration", &took)) {
			strbuf_addstr(&line, " after ");
			text_took(&line, took);
		}
		if (facts_number(last, "ended", &ended)) {
			strbuf_addstr(&line, ", ");
			text_ago(&line, (double)cli->clock.now - ended);
		}
	}
	print_line("last", &line);
	strbuf_release(&line);
}

static void
print_runs(const struct cli *cli, const struct message *job)
{
	const struct message *runs = message_get(job, "runs");
	size_t n = runs != NULL ? message_count(runs) : 0;

	for (size_t i = 0; i < n; i++) {
		const struct message *run = message_at(runs, i);
		struct strbuf line = STRBUF_INIT;
		int64_t pid;
		double started;

		strbuf_addf(&line, "run %" PRId64 " ",
		    message_get_integer(run, "run", 0));
		facts_run_result(&line, run);
		if (facts_number(run, "started", &started)) {
			strbuf_addstr(&line, " for ");
			text_span(&line, (double)cli->clock.now - started);
		}
		if (facts_integer(run, "pid", &pid) && pid > 0)
			strbuf_addf(&line, ", pid %" PRId64, pid);
		print_line(i == 0 ? "live" : "", &line);
		strbuf_release(&line);
	}
}

static void
print_origin(const struct message *job)
{
	const char *file = facts_string(job, "file", NULL);
	struct strbuf line = STRBUF_INIT;
	int64_t owner, n;

	if (file != NULL) {
		text_escape(&line, file);
		if (facts_integer(job, "line", &n) && n > 0)
			strbuf_addf(&line, ":%" PRId64, n);
	} else {
		strbuf_addstr(&line, "cronctl add");
	}
	strbuf_addstr(&line, ", owner ");
	text_escape(&line, facts_string(job, "owner_name", "without a name"));
	if (facts_integer(job, "owner", &owner))
		strbuf_addf(&line, " (uid %" PRId64 ")", owner);
	print_line("defined", &line);
	strbuf_release(&line);
}

/* Keys that have a line of their own above are not told again. */
static bool
is_told(const char *key)
{
	return strcmp(key, "schedule") == 0 || strcmp(key, "command") == 0 ||
	    strcmp(key, "description") == 0;
}

static void
print_settings(const struct message *job)
{
	const struct message *settings = message_get(job, "settings");
	size_t n = settings != NULL ? message_count(settings) : 0;
	bool first = true;

	for (size_t i = 0; i < n; i++) {
		const struct message *pair = message_at(settings, i);
		const char *key = message_value_string(message_at(pair, 0));
		const char *value = message_value_string(message_at(pair, 1));
		struct strbuf line = STRBUF_INIT;

		if (key == NULL || value == NULL || is_told(key))
			continue;
		text_escape(&line, key);
		strbuf_addstr(&line, " = ");
		text_escape(&line, value);
		print_line(first ? "settings" : "", &line);
		strbuf_release(&line);
		first = false;
	}
}

static void
print_job(const struct cli *cli, const struct message *job)
{
	print_head(cli, job);
	print_string("about", facts_string(job, "description", NULL));
	print_pause(cli, job);
	print_schedule(cli, job);
	print_last(cli, job);
	print_runs(cli, job);
	print_string("command", facts_string(job, "command", NULL));
	print_origin(job);
	print_settings(job);
}

static enum exit_status
exec(struct cli *cli, const struct arguments *args)
{
	struct message *params = message_object(), *job = NULL;
	enum exit_status status;
	const char *ini;

	message_set_string(params, "job", args->operands[0]);
	status = command_call(cli, "job.show", params, &job);
	if (status != STATUS_DONE)
		return status;
	ini = facts_string(job, "ini", "");
	if (cli->json)
		output_json(job);
	else if (arguments_has(args, "ini"))
		printf("%s%s", ini,
		    *ini != '\0' && ini[strlen(ini) - 1] != '\n' ? "\n" : "");
	else
		print_job(cli, job);
	message_free(job);
	return STATUS_DONE;
}

const struct command command_show = {
	.name = "show",
	.args = "JOB [--ini]",
	.summary = "show everything about one job",
	.min_operands = 1,
	.max_operands = 1,
	.options = options,
	.exec = exec,
};
