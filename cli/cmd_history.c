/* SPDX-License-Identifier: ISC */
/*
 * cronctl history: the ledger, newest first; runs, and what became of
 * occurrences that started none.
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
#include "cli/output_table.h"
#include "common/strbuf.h"
#include "common/timearg.h"

#define ROWS_DEFAULT	20
#define ROWS_MAX	1000000
#define PAGE		200	/* rows in an answer, at most */

static const struct arguments_option options[] = {
	{ "count", 'n', "N", "the newest N rows (20)" },
	{ "since", 0, "TIME", "nothing older than this" },
	{ "failed", 0, NULL, "only runs that did not succeed" },
	{ NULL, 0, NULL, NULL }
};

enum { RUN, JOB, DUE, LATE, TOOK, RESULT, OUTPUT, NOTE };

static const struct output_table_column columns[] = {
	[RUN] = { "RUN", 0, 0, 0, true },
	[JOB] = { "JOB", 16, 8, 2, false },
	[DUE] = { "DUE", 0, 0, 0, false },
	[LATE] = { "LATE", 0, 0, 0, true },
	[TOOK] = { "TOOK", 0, 0, 0, true },
	[RESULT] = { "RESULT", 12, 6, 3, false },
	[OUTPUT] = { "OUTPUT", 0, 0, 0, true },
	[NOTE] = { "NOTE", 18, 4, 1, false },
	{ NULL, 0, 0, 0, false }
};

/* What is being collected. */
struct listing {
	const struct cli	*cli;
	struct output_table	*table;	/* NULL with --json */
	bool			 jobs;	/* show whose row it is */
	size_t			 rows;	/* so far */
};

static void
set_near(const struct listing *l, const struct message *row, const char *key)
{
	struct strbuf text = STRBUF_INIT;
	int64_t t;

	if (facts_integer(row, key, &t)) {
		text_time_near(&text, &l->cli->clock, t, true);
		output_table_cell(l->table, DUE, text.buf, TABLE_PLAIN);
	}
	strbuf_release(&text);
}

static void
set_took(const struct listing *l, int column, const struct message *row,
    const char *key)
{
	struct strbuf text = STRBUF_INIT;
	double seconds;

	if (facts_number(row, key, &seconds))
		text_took(&text, seconds);
	else
		strbuf_addch(&text, '-');
	output_table_cell(l->table, (size_t)column, text.buf, TABLE_PLAIN);
	strbuf_release(&text);
}

/* "manual, uid 0"; "attempt 2"; the sentence of a run that is lost. */
static void
run_note(struct strbuf *out, const struct message *run)
{
	const char *cause = facts_string(run, "cause", "schedule");
	const char *detail = facts_string(run, "detail", NULL);
	int64_t attempt = message_get_integer(run, "attempt", 1), by;

	if (strcmp(cause, "schedule") != 0) {
		facts_words(out, cause);
		if (facts_integer(run, "by", &by) && by >= 0)
			strbuf_addf(out, ", uid %" PRId64, by);
	}
	if (attempt > 1)
		strbuf_addf(out, "%sattempt %" PRId64,
		    out->len > 0 ? ", " : "", attempt);
	if (detail != NULL)
		strbuf_addf(out, "%s%s", out->len > 0 ? ", " : "", detail);
}

static void
add_run(const struct listing *l, const struct message *run)
{
	struct strbuf text = STRBUF_INIT;
	int64_t bytes;

	strbuf_addf(&text, "%" PRId64, message_get_integer(run, "run", 0));
	output_table_cell(l->table, RUN, text.buf, TABLE_PLAIN);
	set_near(l, run, "due");
	set_took(l, LATE, run, "late");
	set_took(l, TOOK, run, "duration");
	strbuf_reset(&text);
	facts_run_result(&text, run);
	output_table_cell(l->table, RESULT, text.buf, facts_run_color(run));
	strbuf_reset(&text);
	if (facts_integer(run, "output_bytes", &bytes) && bytes > 0)
		text_bytes(&text, bytes);
	else
		strbuf_addch(&text, '-');
	output_table_cell(l->table, OUTPUT, text.buf, TABLE_PLAIN);
	strbuf_reset(&text);
	run_note(&text, run);
	output_table_cell(l->table, NOTE, text.buf, TABLE_PLAIN);
	strbuf_release(&text);
}

/* "overlap, 36x to Mon 18:40" */
static void
outcome_note(struct strbuf *out, const struct listing *l,
    const struct message *row)
{
	const char *reason = facts_string(row, "reason", NULL);
	int64_t first, last, count, into;

	if (reason != NULL)
		facts_words(out, reason);
	if (facts_integer(row, "into", &into))
		strbuf_addf(out, "into run %" PRId64, into);
	if (!facts_integer(row, "nominal", &first) ||
	    !facts_integer(row, "last", &last) || last == first)
		return;
	if (out->len > 0)
		strbuf_addstr(out, ", ");
	if (facts_integer(row, "count", &count))
		strbuf_addf(out, "%" PRId64 "\xc3\x97 ", count);
	strbuf_addstr(out, "to ");
	text_time_near(out, &l->cli->clock, last, true);
}

static void
add_outcome(const struct listing *l, const struct message *row)
{
	struct strbuf text = STRBUF_INIT;

	output_table_cell(l->table, RUN, "-", TABLE_PLAIN);
	set_near(l, row, "nominal");
	output_table_cell(l->table, LATE, "-", TABLE_PLAIN);
	output_table_cell(l->table, TOOK, "-", TABLE_PLAIN);
	facts_words(&text, facts_string(row, "outcome", "unknown"));
	output_table_cell(l->table, RESULT, text.buf, TABLE_YELLOW);
	strbuf_reset(&text);
	outcome_note(&text, l, row);
	output_table_cell(l->table, NOTE, text.buf, TABLE_PLAIN);
	strbuf_release(&text);
}

static void
take_row(struct listing *l, const struct message *row)
{
	int64_t run;

	l->rows++;
	if (l->table == NULL) {
		output_json(row);
		return;
	}
	output_table_row(l->table);
	if (l->jobs)
		output_table_cell(l->table, JOB, facts_string(row, "job", "-"),
		    TABLE_PLAIN);
	if (facts_integer(row, "run", &run))
		add_run(l, row);
	else
		add_outcome(l, row);
}

/* Pages until there are as many rows as were asked for. */
static enum exit_status
read_rows(struct cli *cli, struct listing *l, const struct message *base,
    size_t want)
{
	struct message *before = NULL;
	bool more = true;

	while (more && l->rows < want) {
		struct message *params = message_dup(base), *page = NULL;
		size_t left = want - l->rows;
		const struct message *rows;
		enum exit_status status;

		message_set_integer(params, "count",
		    left < PAGE ? (int64_t)left : PAGE);
		if (before != NULL)
			message_set(params, "before", before);
		status = command_call(cli, "run.history", params, &page);
		if (status != STATUS_DONE)
			return status;
		rows = message_get(page, "rows");
		for (size_t i = 0; rows != NULL && i < message_count(rows);
		    i++)
			take_row(l, message_at(rows, i));
		more = message_get(page, "more") != NULL &&
		    !message_is_null(message_get(page, "more"));
		before = more && l->rows < want ?
		    message_dup(message_get(page, "more")) : NULL;
		message_free(page);
	}
	return STATUS_DONE;
}

/* NULL after a usage error. */
static struct message *
base_params(const struct cli *cli, const struct arguments *args)
{
	const char *since = arguments_value(args, "since");
	struct message *params = message_object();
	struct error err;
	int64_t t;

	if (args->n_operands > 0)
		message_set_string(params, "job", args->operands[0]);
	if (arguments_has(args, "failed"))
		message_set_bool(params, "failed", true);
	if (since == NULL)
		return params;
	if (timearg_parse(since, strlen(since), cli->clock.zone,
	    cli->clock.now, TIMEARG_QUESTION, &t, &err) == -1) {
		command_usage(cli, "--since: %s", err.text);
		message_free(params);
		return NULL;
	}
	message_set_integer(params, "since", t);
	return params;
}

static void
print_nothing(const struct arguments *args)
{
	if (arguments_has(args, "failed") || arguments_has(args, "since"))
		printf("nothing of that kind is recorded\n");
	else
		printf("nothing is recorded yet\n");
}

static enum exit_status
exec(struct cli *cli, const struct arguments *args)
{
	struct listing l = { .cli = cli, .jobs = args->n_operands == 0 };
	struct message *params;
	enum exit_status status;
	struct error err;
	long count;

	if (arguments_number(args, "count", 1, ROWS_MAX, ROWS_DEFAULT, &count,
	    &err) == -1)
		return command_usage(cli, "%s", err.text);
	params = base_params(cli, args);
	if (params == NULL)
		return STATUS_USAGE;
	if (!cli->json)
		l.table = output_table_new(columns);
	status = read_rows(cli, &l, params, (size_t)count);
	message_free(params);
	if (status == STATUS_DONE && l.table != NULL && l.rows == 0)
		print_nothing(args);
	else if (status == STATUS_DONE && l.table != NULL &&
	    output_table_print(l.table, cli->width, cli->color) == -1)
		status = command_fail(STATUS_REFUSED,
		    "can't make the table: out of memory");
	output_table_free(l.table);
	return status;
}

const struct command command_history = {
	.name = "history",
	.args = "[JOB] [-n N] [--since TIME] [--failed]",
	.summary = "show what became of runs and occurrences, newest first",
	.help = "LATE is from the due time to the start.  Rows without a run "
	    "are occurrences that started none: skipped or missed, with the "
	    "reason.  A removed job's history is still there under its name.",
	.max_operands = 1,
	.options = options,
	.exec = exec,
};
