/* SPDX-License-Identifier: ISC */
/*
 * Jobs, runs and outcomes as messages (doc/protocol.md, "Values"): times in
 * seconds with a fraction, what is not known null, every member always there.
 * Only reads.
 */
#include "config.h"

#include "daemon/control_internal.h"

#include <string.h>

/* Seconds with a fraction; exact to 10 us until the year 2286. */
#define SKIPS_LOOKED_AT 1000	/* of a pause, for the next start */

static double
seconds_of(int64_t us)
{
	return (double)us / (double)USEC_PER_SEC;
}

void
control_set_seconds(struct message *m, const char *key, int64_t us, bool known)
{
	if (known)
		message_set_number(m, key, seconds_of(us));
	else
		message_set_null(m, key);
}

static void
set_integer(struct message *m, const char *key, int64_t value, bool known)
{
	if (known)
		message_set_integer(m, key, value);
	else
		message_set_null(m, key);
}

struct message *
control_json_strings(char *const *v, size_t n, size_t max)
{
	struct message *array = message_array();

	for (size_t i = 0; i < n && i < max; i++)
		message_append_string(array, v[i]);
	return array;
}

const char *
control_rule_name(const struct jobdef *def, int64_t at)
{
	int64_t next;

	for (size_t i = 0; i < def->n_schedules; i++) {
		struct schedule *schedule = def->schedules[i];

		if (!schedule_next(schedule, at - 1, &next) || next != at)
			continue;
		switch (schedule_rule_at(schedule, at)) {
		case SCHEDULE_RULE_GAP:
			return "gap";
		case SCHEDULE_RULE_FOLD:
			return "fold";
		case SCHEDULE_RULE_NONE:
			break;
		}
	}
	return NULL;
}

static void
set_schedules(struct message *m, const struct jobdef *def)
{
	struct message *array = message_array();

	for (size_t i = 0; i < def->n_schedules; i++)
		message_append_string(array,
		    schedule_text(def->schedules[i]));
	message_set(m, "schedule", array);
}

static void
set_definition(struct message *m, const struct control_context *context,
    const struct jobdef *def)
{
	set_schedules(m, def);
	message_set_string(m, "zone", def->timezone != NULL ? def->timezone :
	    reload_zone_name(context->reload));
	message_set_string(m, "command", def->command);
	message_set_string(m, "description", def->description);
	message_set(m, "tags",
	    control_json_strings(def->tags, def->n_tags, def->n_tags));
}

/* The next occurrence that no pause covers, as far as is known. */
static bool
next_start(const struct control_context *context, const struct job *job,
    int64_t *next)
{
	const struct pause_row *row = scheduler_pause_of(context->scheduler,
	    job);

	*next = job->next;
	if (!job->def->enabled || job->next == JOB_NEVER)
		return false;
	if (row == NULL)
		return true;
	if (row->skip == 0)
		return row->until != INT64_MAX && jobdef_next(job->def,
		    walltime_seconds((struct walltime){ row->until }), next);
	if (row->skip > SKIPS_LOOKED_AT)
		return false;
	for (int64_t i = 0; i < row->skip; i++)
		if (!jobdef_next(job->def, *next, next))
			return false;
	return true;
}

static void
set_standing(struct message *m, const struct control_context *context,
    const struct job *job)
{
	const struct run *oldest = TAILQ_FIRST(&job->runs);
	int64_t next;
	bool has_next = next_start(context, job, &next);

	set_integer(m, "running", (int64_t)job->n_runs, true);
	set_integer(m, "waiting", (int64_t)job->n_waiting, true);
	set_integer(m, "next", next, has_next);
	message_set_string(m, "next_rule", has_next ?
	    control_rule_name(job->def, next) : NULL);
	message_set(m, "last", job->last_run != NULL ?
	    control_json_run(job->last_run) : NULL);
	control_set_seconds(m, "running_since", oldest == NULL ? 0 :
	    oldest->row.started != 0 ? oldest->row.started : oldest->row.sent,
	    oldest != NULL);
	message_set_integer(m, "skips", job->skips);
	message_set_bool(m, "stuck", job_is_stuck(job));
	message_set_integer(m, "failures", job->failures);
	control_set_seconds(m, "failing_since", job->failing_since,
	    job->failing_since != 0);
}

void
control_json_pause(struct message *m, const struct pause_row *row)
{
	control_set_seconds(m, "since", row->since, row->since != 0);
	control_set_seconds(m, "until", row->until, row->until != INT64_MAX);
	set_integer(m, "skip", row->skip, row->skip > 0);
	set_integer(m, "by", row->by_uid, row->by_uid >= 0);
	message_set_string(m, "note", row->note);
}

/* What keeps it from running, or null. */
static void
set_pause(struct message *m, const struct control_context *context,
    const struct job *job)
{
	const struct pause_row *row = scheduler_pause_of(context->scheduler,
	    job);
	struct message *pause = NULL;

	if (row != NULL) {
		pause = message_object();
		message_set_bool(pause, "all", row->job_id == 0);
		control_json_pause(pause, row);
	}
	message_set(m, "paused", pause);
}

const char *
control_state_name(const struct control_context *context,
    const struct job *job)
{
	const char *name = job_state_name(job);

	return strcmp(name, "idle") == 0 && scheduler_pause_of(
	    context->scheduler, job) != NULL ? "paused" : name;
}

struct message *
control_json_job(const struct control_context *context,
    const struct job *job)
{
	struct message *m = message_object();

	message_set_string(m, "job", job->def->name);
	message_set_integer(m, "id", job->id);
	message_set_integer(m, "owner", (int64_t)job->owner_uid);
	message_set_string(m, "owner_name", job->owner_name);
	message_set_string(m, "origin", job->origin == ORIGIN_FILE ? "file" :
	    "control");
	message_set_string(m, "file", job->file);
	set_integer(m, "line", job->line, job->file != NULL);
	message_set_string(m, "state", control_state_name(context, job));
	set_pause(m, context, job);
	set_definition(m, context, job->def);
	set_standing(m, context, job);
	return m;
}

static void
set_times(struct message *m, const struct run_row *row)
{
	bool started = row->started != 0, ended = row->ended != 0;

	set_integer(m, "nominal", row->occurrence,
	    row->occurrence != INT64_MIN);
	control_set_seconds(m, "due", row->due, true);
	control_set_seconds(m, "queued", row->queued, row->queued != 0);
	control_set_seconds(m, "started", row->started, started);
	control_set_seconds(m, "ended", row->ended, ended);
	control_set_seconds(m, "late", row->started - row->due, started);
	control_set_seconds(m, "duration", row->ended - row->started,
	    started && ended);
}

static void
set_usage(struct message *m, const struct run_row *row)
{
	bool known = row->ended != 0 && row->started != 0 &&
	    row->state != RUN_LOST;

	control_set_seconds(m, "user_cpu", row->user_us, known);
	control_set_seconds(m, "system_cpu", row->system_us, known);
	set_integer(m, "max_rss", row->max_rss_kb * 1024, known);
	set_integer(m, "blocks_in", row->blocks_in, known);
	set_integer(m, "blocks_out", row->blocks_out, known);
	set_integer(m, "switches", row->switches, known);
	set_integer(m, "output_bytes", row->output_bytes, row->ended != 0);
	set_integer(m, "output_dropped", row->output_dropped,
	    row->ended != 0);
}

struct message *
control_json_run(const struct run_row *row)
{
	struct message *m = message_object();

	message_set_integer(m, "run", (int64_t)row->id);
	message_set_string(m, "job", row->job_name);
	message_set_integer(m, "job_id", row->job_id);
	message_set_string(m, "state", run_state_name(row->state));
	set_integer(m, "code", row->code, row->code >= 0);
	set_integer(m, "signal", row->signal, row->signal != 0);
	if (row->signal != 0)
		message_set_bool(m, "core", row->core);
	else
		message_set_null(m, "core");
	message_set_string(m, "stage", row->stage != PROTOCOL_STAGE_NONE ?
	    protocol_stage_name(row->stage) : NULL);
	message_set_string(m, "detail", row->detail);
	message_set_string(m, "cause", run_cause_name(row->cause));
	message_set_integer(m, "attempt", row->attempt);
	set_times(m, row);
	set_integer(m, "worker", (int64_t)row->worker, row->worker != 0);
	set_integer(m, "pid", row->pid, row->pid != 0);
	set_integer(m, "by", row->by_uid, row->by_uid >= 0);
	set_usage(m, row);
	message_set_string(m, "outcome",
	    row->occurrence != INT64_MIN ? "started" : NULL);
	message_set_null(m, "reason");
	return m;
}

struct message *
control_json_outcome(const struct outcome_row *row)
{
	struct message *m = message_object();
	const char *reason = outcome_reason_name(row->reason);

	message_set_null(m, "run");
	message_set_string(m, "job", row->job_name);
	message_set_integer(m, "job_id", row->job_id);
	message_set_string(m, "outcome", outcome_kind_name(row->kind));
	message_set_string(m, "reason", *reason != '\0' ? reason : NULL);
	message_set_integer(m, "nominal", row->occurrence);
	message_set_integer(m, "last", row->last);
	set_integer(m, "count", row->count, row->count >= 0);
	control_set_seconds(m, "at", row->at, true);
	if (row->run_id != 0)
		message_set_integer(m, "into", (int64_t)row->run_id);
	return m;
}
