/* SPDX-License-Identifier: ISC */
/*
 * cronctl logs: the output of a run, page by page.  Bytes go out as the job
 * wrote them; on a terminal control sequences other than colours are made
 * visible instead, since the output of a job is not to be trusted with the
 * reader's terminal.
 */
#include "config.h"

#include "cli/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/facts.h"
#include "cli/output_json.h"
#include "common/base64.h"
#include "common/strbuf.h"

#define LINES_MAX	100000000
#define LINE_MAX_KEPT	65536	/* a longer line goes out in pieces */

static const struct arguments_option options[] = {
	{ "lines", 'n', "N", "only the last N lines" },
	{ "failed", 0, NULL, "of a job: its last run that did not succeed" },
	{ NULL, 0, NULL, NULL }
};

/* Bytes on their way to the output. */
struct sink {
	const struct cli *cli;
	long		 lines;	/* keep just the last of these; 0: all */
	struct strbuf	 kept;	/* what may still be needed */
};

/* Offset at which the last n lines begin. */
static size_t
last_lines(const struct strbuf *text, long n)
{
	size_t i = text->len;

	/* A newline at the end ends the last line, it begins none. */
	if (i > 0 && text->buf[i - 1] == '\n')
		i--;
	while (i > 0) {
		if (text->buf[i - 1] == '\n' && --n == 0)
			break;
		i--;
	}
	return i;
}

static void
write_out(const struct cli *cli, const char *data, size_t len)
{
	struct strbuf safe = STRBUF_INIT;

	if (!cli->terminal) {
		fwrite(data, 1, len, stdout);
		return;
	}
	text_escape_output(&safe, data, len);
	fwrite(safe.buf, 1, safe.len, stdout);
	strbuf_release(&safe);
}

/* Lines that are whole go out; the rest waits for what follows. */
static void
sink_flush(struct sink *s, bool end)
{
	size_t n = s->kept.len;

	if (s->lines > 0) {
		strbuf_consume(&s->kept, last_lines(&s->kept, s->lines));
		if (!end)
			return;
		n = s->kept.len;
	} else if (!end) {
		while (n > 0 && s->kept.buf[n - 1] != '\n')
			n--;
		if (n == 0 && s->kept.len > LINE_MAX_KEPT)
			n = s->kept.len;
	}
	write_out(s->cli, s->kept.buf, n);
	strbuf_consume(&s->kept, n);
}

static struct message *
base_params(const struct arguments *args)
{
	struct message *params = message_object();
	int64_t run;

	if (command_run_number(args->operands[0], &run))
		message_set_integer(params, "run", run);
	else
		message_set_string(params, "job", args->operands[0]);
	if (arguments_has(args, "failed"))
		message_set_bool(params, "failed", true);
	return params;
}

/* The pages after the first are of the same run, whatever is newer by then. */
static void
fix_run(struct message **params, const struct message *page)
{
	const struct message *run = message_get(page, "run");
	int64_t id;

	if (run == NULL || !facts_integer(run, "run", &id))
		return;
	message_free(*params);
	*params = message_object();
	message_set_integer(*params, "run", id);
}

/* One page; *end when it is the last, *offset where the next one begins. */
static enum exit_status
take_page(struct sink *s, const struct message *page, int64_t *offset,
    bool *end)
{
	const char *data = facts_string(page, "data", "");
	int64_t next = message_get_integer(page, "offset", *offset);
	struct error err;

	*end = message_get_bool(page, "end", true) || next <= *offset;
	*offset = next;
	if (s->cli->json) {
		output_json(page);
		return STATUS_DONE;
	}
	if (base64_decode(&s->kept, data, strlen(data), &err) == -1)
		return command_fail(STATUS_REFUSED,
		    "the daemon's answer makes no sense: %s", err.text);
	sink_flush(s, *end);
	return STATUS_DONE;
}

/* Which run that was, on standard error: standard output is the job's. */
static void
tell_empty(const struct cli *cli, const struct message *page)
{
	const struct message *run = message_get(page, "run");
	struct strbuf text = STRBUF_INIT;

	if (cli->json || cli->quiet || run == NULL ||
	    !message_is_object(run) || !message_get_bool(page, "end", true) ||
	    *facts_string(page, "data", "") != '\0')
		return;
	strbuf_addf(&text, "run %" PRId64 " of %s %s (",
	    message_get_integer(run, "run", 0), facts_string(run, "job", "-"),
	    facts_run_has_ended(run) ? "wrote nothing" :
	    "has written nothing yet");
	facts_run_result(&text, run);
	command_fail(STATUS_DONE, "%s)", text.buf);
	strbuf_release(&text);
}

static enum exit_status
exec(struct cli *cli, const struct arguments *args)
{
	struct sink sink = { .cli = cli, .kept = STRBUF_INIT };
	struct message *base;
	enum exit_status status;
	int64_t offset = 0;
	bool end = false;
	struct error err;

	if (arguments_number(args, "lines", 1, LINES_MAX, 0, &sink.lines,
	    &err) == -1)
		return command_usage(cli, "%s", err.text);
	base = base_params(args);
	do {
		struct message *params = message_dup(base), *page = NULL;
		bool first = offset == 0;

		message_set_integer(params, "offset", offset);
		status = command_call(cli, "run.logs", params, &page);
		if (status != STATUS_DONE)
			break;
		if (first) {
			fix_run(&base, page);
			tell_empty(cli, page);
		}
		status = take_page(&sink, page, &offset, &end);
		message_free(page);
	} while (status == STATUS_DONE && !end);
	message_free(base);
	strbuf_release(&sink.kept);
	return status;
}

const struct command command_logs = {
	.name = "logs",
	.args = "JOB|RUN [-n N] [--failed]",
	.summary = "print the output of a run",
	.help = "For a job this is its last run, or with --failed its last "
	    "run that did not succeed.  Standard output and standard error of "
	    "the job are in it as they came.  What went beyond the job's "
	    "output_limit was dropped from the middle, and a line says so.",
	.min_operands = 1,
	.max_operands = 1,
	.options = options,
	.exec = exec,
};
