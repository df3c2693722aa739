/* SPDX-License-Identifier: ISC */
/* Rows as values: their words, copies and releases.  Knows no database. */
#include "config.h"

#include "daemon/store.h"

#include <stdlib.h>

#include "common/xmalloc.h"

const char *
outcome_kind_name(enum outcome_kind kind)
{
	switch (kind) {
	case OUTCOME_STARTED:
		return "started";
	case OUTCOME_COALESCED:
		return "coalesced";
	case OUTCOME_SKIPPED:
		return "skipped";
	case OUTCOME_MISSED:
		return "missed";
	}
	return "unknown";
}

static const char *const reason_names[] = {
	[REASON_NONE] = "",
	[REASON_OVERLAP] = "overlap",
	[REASON_QUEUE_FULL] = "queue_full",
	[REASON_REPLACED_WHILE_QUEUED] = "replaced_while_queued",
	[REASON_PAUSED] = "paused",
	[REASON_USER_LIMIT] = "user_limit",
	[REASON_NOT_PERMITTED] = "not_permitted",
	[REASON_STOPPING] = "stopping",
	[REASON_REMOVED] = "removed",
	[REASON_CLOCK_BACK] = "clock_back",
	[REASON_DAEMON_DOWN] = "daemon_down",
	[REASON_MACHINE_DOWN] = "machine_down",
	[REASON_SUSPENDED] = "suspended",
	[REASON_CLOCK_STEPPED] = "clock_stepped",
	[REASON_POOL_FULL] = "pool_full",
	[REASON_STORE_FAILED] = "store_failed",
	[REASON_OVERLOAD] = "overload",
};

const char *
outcome_reason_name(enum outcome_reason reason)
{
	size_t i = reason;

	if (i >= sizeof reason_names / sizeof *reason_names)
		return "unknown";
	return reason_names[i];
}

static const char *const state_names[] = {
	[RUN_STARTING] = "starting",
	[RUN_RUNNING] = "running",
	[RUN_SUCCEEDED] = "succeeded",
	[RUN_FAILED] = "failed",
	[RUN_SIGNALED] = "signaled",
	[RUN_TIMED_OUT] = "timed_out",
	[RUN_KILLED] = "killed",
	[RUN_START_FAILED] = "start_failed",
	[RUN_LOST] = "lost",
	[RUN_QUEUED] = "queued",
};

const char *
run_state_name(enum run_state state)
{
	size_t i = state;

	if (i >= sizeof state_names / sizeof *state_names ||
	    state_names[i] == NULL)
		return "unknown";
	return state_names[i];
}

bool
run_state_is_final(enum run_state state)
{
	return state >= RUN_SUCCEEDED && state <= RUN_LOST;
}

static const char *const event_names[EVENT_KINDS] = {
	[EVENT_RUN_STARTED] = "run_started",
	[EVENT_RUN_ENDED] = "run_ended",
	[EVENT_SKIPPED] = "skipped",
	[EVENT_MISSED] = "missed",
	[EVENT_JOB_ADDED] = "job_added",
	[EVENT_JOB_CHANGED] = "job_changed",
	[EVENT_JOB_REMOVED] = "job_removed",
	[EVENT_JOB_PAUSED] = "job_paused",
	[EVENT_JOB_RESUMED] = "job_resumed",
	[EVENT_DAEMON_STARTED] = "daemon_started",
	[EVENT_DAEMON_STOPPING] = "daemon_stopping",
	[EVENT_DAEMON_LEAVING] = "daemon_leaving",
	[EVENT_CLOCK_STEPPED] = "clock_stepped",
	[EVENT_FILE_ERROR] = "file_error",
	[EVENT_LOST] = "events_lost",
};

const char *
event_kind_name(enum event_kind kind)
{
	size_t i = kind;

	return i < EVENT_KINDS && event_names[i] != NULL ? event_names[i] :
	    "unknown";
}

static char *
dup_or_null(const char *s)
{
	return s != NULL ? xstrdup(s) : NULL;
}

void
run_row_release(struct run_row *row)
{
	free(row->job_name);
	free(row->detail);
	row->job_name = row->detail = NULL;
}

void
run_row_copy(struct run_row *to, const struct run_row *from)
{
	*to = *from;
	to->job_name = dup_or_null(from->job_name);
	to->detail = dup_or_null(from->detail);
}

void
outcome_row_release(struct outcome_row *row)
{
	free(row->job_name);
	row->job_name = NULL;
}

void
event_row_release(struct event_row *row)
{
	free(row->job_name);
	free(row->body);
	row->job_name = row->body = NULL;
}

void
job_row_release(struct job_row *row)
{
	free(row->name);
	free(row->owner_name);
	free(row->file);
	free(row->definition);
	row->name = row->owner_name = row->file = row->definition = NULL;
}

static void
file_row_release(struct file_row *row)
{
	free(row->name);
	free(row->good);
	free(row->error);
}

void
store_image_release(struct store_image *image)
{
	for (size_t i = 0; i < image->n_jobs; i++)
		job_row_release(&image->jobs[i]);
	for (size_t i = 0; i < image->n_runs; i++)
		run_row_release(&image->runs[i]);
	for (size_t i = 0; i < image->n_pauses; i++)
		free(image->pauses[i].note);
	for (size_t i = 0; i < image->n_files; i++)
		file_row_release(&image->files[i]);
	free(image->jobs);
	free(image->runs);
	free(image->pending);
	free(image->pauses);
	free(image->files);
	free(image->boot_id);
	*image = (struct store_image){ .next_run_id = 1 };
}
