/* SPDX-License-Identifier: ISC */
/*
 * Waiting for a run.  The run outlives the daemon, so this does too: when the
 * daemon goes away it is looked for again, for as long as a restart may take.
 * Ctrl-C ends the waiting, never the run.
 */
#include "config.h"

#include "cli/waiting.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/facts.h"
#include "cli/output_json.h"
#include "common/timestamp.h"

#define RETRY_MS	200	/* between two looks for the daemon */
#define RESTART_MS	30000	/* it may be away this long */

enum exit_status
waiting_for_daemon(struct cli *cli, struct error *err)
{
	int64_t deadline = monotime_now().us + RESTART_MS * USEC_PER_MSEC;
	enum exit_status status;

	do {
		if (connection_pause(cli->connection, RETRY_MS))
			return STATUS_INTERRUPTED;
		status = connection_reopen(cli->connection, err);
	} while (status == STATUS_NO_DAEMON &&
	    monotime_now().us < deadline);
	return status;
}

static struct message *
wait_params(const char *job, int64_t run)
{
	struct message *params = message_object();

	if (job != NULL)
		message_set_string(params, "job", job);
	else
		message_set_integer(params, "run", run);
	return params;
}

static enum exit_status
interrupted(const char *job, int64_t run)
{
	if (job != NULL)
		return command_fail(STATUS_INTERRUPTED, "not waiting any "
		    "longer; what runs goes on, wait for it again with: "
		    "cronctl wait %s", job);
	return command_fail(STATUS_INTERRUPTED, "not waiting any longer; "
	    "run %" PRId64 " goes on, wait for it again with: "
	    "cronctl wait %" PRId64, run, run);
}

static enum exit_status
tell(const struct cli *cli, const struct message *run)
{
	struct strbuf text = STRBUF_INIT;

	if (cli->json) {
		output_json(run);
	} else if (!cli->quiet) {
		facts_run_sentence(&text, run);
		printf("%s\n", text.buf);
	}
	strbuf_release(&text);
	return facts_run_status(run);
}

enum exit_status
waiting_for_run(struct cli *cli, const char *job, int64_t run)
{
	struct message *result = NULL;
	enum exit_status status = command_connect(cli);
	struct error err;

	if (status != STATUS_DONE)
		return STATUS_LOST;
	if (connection_catch_interrupt(cli->connection, &err) == -1)
		return command_fail(STATUS_LOST, "%s", err.text);
	for (;;) {
		status = command_call_wait(cli, "run.wait",
		    wait_params(job, run), &result, &err);
		if (status == STATUS_NO_DAEMON &&
		    connection_is_lost(cli->connection)) {
			status = waiting_for_daemon(cli, &err);
			if (status == STATUS_DONE)
				continue;
		}
		break;
	}
	if (status == STATUS_INTERRUPTED)
		return interrupted(job, run);
	if (status != STATUS_DONE)
		return command_fail(STATUS_LOST, "%s", err.text);
	status = tell(cli, result);
	message_free(result);
	return status;
}
