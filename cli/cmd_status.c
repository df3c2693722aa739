/* SPDX-License-Identifier: ISC */
/* cronctl status: how the daemon is. */
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

static void
print_line(const char *label, const struct strbuf *text)
{
	printf("%-*s%s\n", LABEL, label, text->buf);
}

/* "cronctld 0.1.0, up 12 d, system daemon, zone Europe/Berlin, pid 811" */
static void
print_head(const struct message *status)
{
	const char *zone = facts_string(status, "zone", NULL);
	struct strbuf line = STRBUF_INIT;
	double uptime;
	int64_t pid;

	strbuf_addstr(&line, "cronctld ");
	text_escape(&line, facts_string(status, "version", "?"));
	if (message_get_bool(status, "stopping", false))
		strbuf_addstr(&line, " is stopping");
	if (facts_number(status, "uptime", &uptime)) {
		strbuf_addstr(&line, ", up ");
		text_span(&line, uptime);
	}
	if (zone != NULL) {
		strbuf_addstr(&line, message_get_bool(status, "user", false) ?
		    ", user daemon, zone " : ", system daemon, zone ");
		text_escape(&line, zone);
	}
	if (facts_integer(status, "pid", &pid))
		strbuf_addf(&line, ", pid %" PRId64, pid);
	printf("%s\n", line.buf);
	if (message_get_bool(status, "clock_behind", false))
		printf("the clock is behind the time at which the daemon was "
		    "last seen; schedules wait for it\n");
	strbuf_release(&line);
}

static void
print_jobs(const struct message *status)
{
	const struct message *jobs = message_get(status, "jobs");
	struct strbuf line = STRBUF_INIT;

	if (jobs == NULL)
		return;
	text_number(&line, message_get_integer(jobs, "total", 0));
	strbuf_addstr(&line, " in force: ");
	text_number(&line, message_get_integer(jobs, "file", 0));
	strbuf_addstr(&line, " from files, ");
	text_number(&line, message_get_integer(jobs, "control", 0));
	strbuf_addstr(&line, " added");
	if (message_get_bool(jobs, "all_paused", false)) {
		strbuf_addstr(&line, "; all are paused");
	} else if (message_get_integer(jobs, "paused", 0) > 0) {
		strbuf_addstr(&line, "; ");
		text_number(&line, message_get_integer(jobs, "paused", 0));
		strbuf_addstr(&line, " paused");
	}
	print_line("jobs", &line);
	strbuf_release(&line);
}

/* "7 of 1,000   waiting 0   workers 2" and what is wrong with workers. */
static void
print_running(const struct message *status)
{
	const struct message *workers = message_get(status, "workers");
	size_t n = workers != NULL ? message_count(workers) : 0, odd = 0;
	struct strbuf line = STRBUF_INIT;
	const char *state = "";

	text_number(&line, message_get_integer(status, "running", 0));
	strbuf_addstr(&line, " of ");
	text_number(&line, message_get_integer(status, "max_running", 0));
	strbuf_addstr(&line, "   waiting ");
	text_number(&line, message_get_integer(status, "waiting", 0));
	strbuf_addf(&line, "   workers %zu", n);
	for (size_t i = 0; i < n; i++) {
		const struct message *worker = message_at(workers, i);
		const char *s = facts_string(worker, "state", "attached");

		if (strcmp(s, "attached") == 0)
			continue;
		odd++;
		state = s;
	}
	if (odd > 0) {
		strbuf_addf(&line, " (%zu ", odd);
		text_escape(&line, state);
		strbuf_addch(&line, ')');
	}
	print_line("running", &line);
	strbuf_release(&line);
}

/* "53 started   35 ok, 17 failed   86 skipped   0 missed   (since start)" */
static void
print_outcomes(const struct message *status)
{
	const struct message *sums = message_get(status, "since_start");
	struct strbuf line = STRBUF_INIT;

	if (sums == NULL)
		return;
	text_number(&line, message_get_integer(sums, "started", 0));
	strbuf_addstr(&line, " started   ");
	text_number(&line, message_get_integer(sums, "succeeded", 0));
	strbuf_addstr(&line, " ok, ");
	text_number(&line, message_get_integer(sums, "failed", 0));
	strbuf_addstr(&line, " failed   ");
	text_number(&line, message_get_integer(sums, "skipped", 0));
	strbuf_addstr(&line, " skipped   ");
	text_number(&line, message_get_integer(sums, "missed", 0));
	strbuf_addstr(&line, " missed   (since it is up)");
	print_line("outcomes", &line);
	strbuf_release(&line);
}

static void
print_late(const struct message *status)
{
	static const char *const keys[] = { "p50", "p99", "max" };
	const struct message *late = message_get(status, "late");
	struct strbuf line = STRBUF_INIT;
	double seconds;

	for (size_t i = 0; late != NULL && i < 3; i++) {
		if (!facts_number(late, keys[i], &seconds))
			continue;
		if (line.len > 0)
			strbuf_addstr(&line, "   ");
		strbuf_addf(&line, "%s ", keys[i]);
		text_late(&line, seconds);
	}
	if (line.len > 0)
		print_line("late", &line);
	strbuf_release(&line);
}

static void
print_store(const struct cli *cli, const struct message *status)
{
	const struct message *store = message_get(status, "store");
	struct strbuf line = STRBUF_INIT;
	double commit;
	int64_t size, queue;

	if (store == NULL)
		return;
	text_escape(&line, facts_string(store, "state", "unknown"));
	if (facts_string(store, "detail", NULL) != NULL) {
		strbuf_addstr(&line, ": ");
		text_escape(&line, facts_string(store, "detail", ""));
	}
	if (facts_number(store, "last_commit", &commit) && commit > 0) {
		strbuf_addstr(&line, ", last commit ");
		text_ago(&line, (double)cli->clock.now - commit);
	}
	if (facts_integer(store, "size", &size)) {
		strbuf_addstr(&line, ", ");
		text_bytes(&line, size);
	}
	if (facts_integer(store, "queue", &queue) && queue > 0)
		strbuf_addf(&line, ", %" PRId64 " to be written", queue);
	print_line("store", &line);
	strbuf_release(&line);
}

/* How many were read, then each error on a line of its own. */
static void
print_files(const struct message *status)
{
	const struct message *files = message_get(status, "files"), *errors;
	struct strbuf line = STRBUF_INIT;
	int64_t ignored, total;
	size_t n;

	if (files == NULL)
		return;
	errors = message_get(files, "errors");
	n = errors != NULL ? message_count(errors) : 0;
	text_number(&line, message_get_integer(files, "total", 0));
	strbuf_addstr(&line, " read");
	ignored = message_get_integer(files, "ignored", 0);
	if (ignored > 0) {
		strbuf_addstr(&line, ", ");
		text_number(&line, ignored);
		strbuf_addstr(&line, " left alone (not *.ini)");
	}
	total = message_get_integer(files, "errors_total", (int64_t)n);
	if (total > 0) {
		strbuf_addstr(&line, ", ");
		text_count(&line, total, "error");
		strbuf_addstr(&line, " in ");
		text_number(&line, message_get_integer(files, "in_error", 0));
		strbuf_addstr(&line, " of them; last good version in force");
	}
	print_line("files", &line);
	for (size_t i = 0; i < n; i++) {
		const char *text = message_value_string(message_at(errors, i));

		strbuf_reset(&line);
		text_escape(&line, text != NULL ? text : "");
		print_line("", &line);
	}
	strbuf_release(&line);
}

static enum exit_status
exec(struct cli *cli, const struct arguments *args)
{
	struct message *status = NULL;
	enum exit_status result;

	(void)args;
	result = command_call(cli, "daemon.status", NULL, &status);
	if (result != STATUS_DONE)
		return result;
	if (cli->json) {
		output_json(status);
	} else {
		print_head(status);
		print_jobs(status);
		/* Who may not see it is told no numbers. */
		if (message_get(status, "max_running") != NULL)
			print_running(status);
		print_outcomes(status);
		print_late(status);
		print_store(cli, status);
		print_files(status);
	}
	message_free(status);
	return STATUS_DONE;
}

const struct command command_status = {
	.name = "status",
	.args = "",
	.summary = "show how the daemon is",
	.help = "Who is neither root nor the daemon's own user sees only its "
	    "version and since when it is up.",
	.exec = exec,
};
