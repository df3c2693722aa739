/* SPDX-License-Identifier: ISC */
/*
 * What is told of each kind of event: members of its body, beside those that
 * every event has.  Decides nothing and keeps nothing.
 *
 * Cost: some microseconds each, for the JSON; so nothing is put before the
 * frame that starts a run is on its way.
 */
#include "config.h"

#include "daemon/events.h"

#include <stdlib.h>
#include <string.h>

#include "common/timestamp.h"

#define TEXT_MAX	1024	/* bytes of a sentence that are told */

/* Sentences come from anywhere: of a long one its beginning. */
static void
set_text(struct message *m, const char *key, const char *text)
{
	if (text != NULL)
		message_set_bytes(m, key, text, strnlen(text, TEXT_MAX));
}

static void
set_seconds(struct message *m, const char *key, int64_t us)
{
	message_set_number(m, key, (double)us / (double)USEC_PER_SEC);
}

/* Takes body. */
static void
put(struct store *store, struct event_row *row, struct message *body)
{
	row->body = body != NULL ? message_format(body) : NULL;
	message_free(body);
	store_put_event(store, row);
	free(row->body);
}

static struct message *
start_body(const struct run_row *row)
{
	struct message *m = message_object();

	message_set_string(m, "cause", run_cause_name(row->cause));
	message_set_integer(m, "attempt", row->attempt);
	if (row->occurrence != INT64_MIN)
		message_set_integer(m, "nominal", row->occurrence);
	if (row->pid != 0)
		message_set_integer(m, "pid", row->pid);
	set_seconds(m, "late", row->started - row->due);
	if (row->by_uid >= 0)
		message_set_integer(m, "by", row->by_uid);
	return m;
}

static struct message *
end_body(const struct run_row *row)
{
	struct message *m = message_object();

	message_set_string(m, "state", run_state_name(row->state));
	if (row->code >= 0)
		message_set_integer(m, "code", row->code);
	if (row->signal != 0)
		message_set_integer(m, "signal", row->signal);
	if (row->stage != PROTOCOL_STAGE_NONE)
		message_set_string(m, "stage",
		    protocol_stage_name(row->stage));
	set_text(m, "detail", row->detail);
	message_set_string(m, "cause", run_cause_name(row->cause));
	message_set_integer(m, "attempt", row->attempt);
	if (row->started != 0 && row->ended >= row->started)
		set_seconds(m, "duration", row->ended - row->started);
	return m;
}

void
events_put_run(struct store *store, enum event_kind kind,
    const struct run_row *row)
{
	bool start = kind == EVENT_RUN_STARTED;
	struct event_row event = {
		.at = start ? row->started : row->ended,
		.job_id = row->job_id,
		.job_name = row->job_name,
		.run_id = row->id,
		.kind = kind,
	};

	put(store, &event, start ? start_body(row) : end_body(row));
}

void
events_put_outcome(struct store *store, const char *job_name,
    const struct outcome_row *row)
{
	struct event_row event = {
		.at = row->at,
		.job_id = row->job_id,
		.job_name = (char *)job_name,
		.kind = row->kind == OUTCOME_MISSED ? EVENT_MISSED :
		    EVENT_SKIPPED,
	};
	struct message *m = message_object();

	message_set_string(m, "reason", outcome_reason_name(row->reason));
	message_set_integer(m, "nominal", row->occurrence);
	message_set_integer(m, "last", row->last);
	if (row->count >= 0)
		message_set_integer(m, "count", row->count);
	else
		message_set_null(m, "count");
	put(store, &event, m);
}

void
events_put_job(struct store *store, enum event_kind kind,
    const struct job *job, int64_t by_uid, struct message *body)
{
	struct event_row event = {
		.at = walltime_now().us,
		.job_id = job->id,
		.job_name = job->def->name,
		.kind = kind,
	};
	struct message *m = body != NULL ? body : message_object();

	if (by_uid >= 0)
		message_set_integer(m, "by", by_uid);
	put(store, &event, m);
}

void
events_put(struct store *store, enum event_kind kind, int64_t by_uid,
    struct message *body)
{
	struct event_row event = { .at = walltime_now().us, .kind = kind };
	struct message *m = body != NULL ? body : message_object();

	if (by_uid >= 0)
		message_set_integer(m, "by", by_uid);
	put(store, &event, m);
}

void
events_put_file_error(struct store *store, const char *file,
    const char *sentence)
{
	struct message *m = message_object();

	message_set_bytes(m, "file", file, strlen(file));
	set_text(m, "error", sentence);
	events_put(store, EVENT_FILE_ERROR, -1, m);
}
