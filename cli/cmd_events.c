/* SPDX-License-Identifier: ISC */
/*
 * cronctl events: what happened, by number.  With -f it goes on with what
 * happens, over restarts of the daemon: it asks the next one for the number
 * after the last it has printed, so nothing is left out and nothing comes
 * twice.
 */
#include "config.h"

#include "cli/command.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/event_text.h"
#include "cli/output_json.h"
#include "cli/waiting.h"
#include "common/strbuf.h"
#include "common/timestamp.h"

#define COUNT_MAX	1000000
#define COUNT_DEFAULT	20
#define FOLLOW_DEFAULT	10	/* the last ones, before what comes */

static const struct arguments_option options[] = {
	{ "follow", 'f', NULL, "go on with what happens" },
	{ "from", 0, "SEQ", "begin with the event of this number" },
	{ "count", 'n', "N", "begin N events before the end (20; 10 with -f)" },
	{ NULL, 0, NULL, NULL }
};

/* How far it has come. */
struct stream {
	struct cli	*cli;		/* whose */
	int64_t		 next;		/* the number that comes next */
	bool		 follow;	/* goes on */
};

static void
print_event(struct stream *s, const struct message *event)
{
	struct strbuf line = STRBUF_INIT;

	s->next = message_get_integer(event, "seq", s->next) + 1;
	if (s->cli->json) {
		output_json(event);
	} else {
		s->cli->clock.now = walltime_seconds(walltime_now());
		event_text(&line, &s->cli->clock, event);
		printf("%s\n", line.buf);
	}
	if (s->follow)
		fflush(stdout);
	strbuf_release(&line);
}

static void
tell_lost(struct stream *s, int64_t count, int64_t next)
{
	if (count <= 0)
		return;
	command_warn("%" PRId64 " events up to %" PRId64 " are no longer "
	    "kept", count, next - 1);
	s->next = next;
}

/* One notification; *end when it was the last. */
static enum exit_status
take(struct stream *s, bool *end, struct error *err)
{
	struct message *params = NULL;
	enum exit_status status;
	const char *error;
	char *method = NULL;

	status = connection_next(s->cli->connection, s->follow ?
	    CONNECTION_NO_TIMEOUT : CONNECTION_TIMEOUT_MS, &method, &params,
	    err);
	if (status != STATUS_DONE)
		return status;
	if (strcmp(method, "event") == 0) {
		print_event(s, params);
	} else if (strcmp(method, "events.lost") == 0) {
		tell_lost(s, message_get_integer(params, "count", 0),
		    message_get_integer(params, "next", s->next));
	} else if (strcmp(method, "events.end") == 0) {
		*end = true;
		error = message_get_string(params, "error");
		if (error != NULL) {
			error_set(err, "%s", error);
			status = STATUS_REFUSED;
		}
	}
	message_free(params);
	free(method);
	return status;
}

/* from 0: from what comes next. */
static enum exit_status
ask(struct stream *s, int64_t from, bool follow, struct message **result,
    struct error *err)
{
	struct message *params = message_object();

	if (from > 0)
		message_set_integer(params, "from", from);
	message_set_bool(params, "follow", follow);
	return connection_call(s->cli->connection, "events.follow", params,
	    CONNECTION_TIMEOUT_MS, result, NULL, err);
}

/* From s->next on, until the end or until the connection is lost. */
static enum exit_status
read_all(struct stream *s, struct error *err)
{
	struct message *result = NULL;
	enum exit_status status;
	bool end = false;

	status = ask(s, s->next, s->follow, &result, err);
	if (status != STATUS_DONE)
		return status;
	tell_lost(s, message_get_integer(result, "lost", 0),
	    message_get_integer(result, "next", s->next));
	message_free(result);
	while (status == STATUS_DONE && !end)
		status = take(s, &end, err);
	return status;
}

/* Where the last n events begin. */
static enum exit_status
find_last(struct stream *s, int64_t n, struct error *err)
{
	struct message *result = NULL;
	enum exit_status status = ask(s, 0, false, &result, err);
	bool end = false;

	if (status != STATUS_DONE)
		return status;
	s->next = message_get_integer(result, "next", 1) - n;
	if (s->next < 1)
		s->next = 1;
	message_free(result);
	while (status == STATUS_DONE && !end)
		status = take(s, &end, err);
	return status;
}

static enum exit_status
stream(struct stream *s, int64_t count)
{
	enum exit_status status = command_connect(s->cli);
	struct error err;

	if (status != STATUS_DONE)
		return status;
	if (s->next == 0)
		status = find_last(s, count, &err);
	for (;;) {
		if (status == STATUS_DONE)
			status = read_all(s, &err);
		if (status != STATUS_NO_DAEMON || !s->follow ||
		    !connection_is_lost(s->cli->connection))
			break;
		status = waiting_for_daemon(s->cli, &err);
		if (status != STATUS_DONE)
			break;
	}
	if (status != STATUS_DONE)
		command_fail(status, "%s", err.text);
	return status;
}

static enum exit_status
exec(struct cli *cli, const struct arguments *args)
{
	struct stream s = { .cli = cli };
	long count, from;
	struct error err;

	s.follow = arguments_has(args, "follow");
	if (arguments_has(args, "from") && arguments_has(args, "count"))
		return command_usage(cli, "--from and -n exclude each other");
	if (arguments_number(args, "count", 0, COUNT_MAX, s.follow ?
	    FOLLOW_DEFAULT : COUNT_DEFAULT, &count, &err) == -1 ||
	    arguments_number(args, "from", 1, LONG_MAX, 0, &from,
	    &err) == -1)
		return command_usage(cli, "%s", err.text);
	s.next = from;
	return stream(&s, count);
}

const struct command command_events = {
	.name = "events",
	.args = "[-f] [--from SEQ] [-n N]",
	.summary = "show what happened, or follow what happens",
	.help = "Starts and ends of runs, occurrences that started none, "
	    "changes of jobs and who made them, starts and ends of the "
	    "daemon, steps of the clock, job files in error.  Each has a "
	    "number; the numbers have no holes, so that a reader can go on "
	    "with --from where it was.  The newest 100,000 are kept.\n"
	    "\n"
	    "With -f it goes on over restarts of the daemon.",
	.options = options,
	.exec = exec,
};
