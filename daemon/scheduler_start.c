/* SPDX-License-Identifier: ISC */
/*
 * Sending a run to a worker: its id, its environment, all that START says.
 * The frame goes out before the row is put (semantics.md 3, step 13), so a
 * slow disk delays no start; a crash between the two is mended by what the
 * worker lists.
 */
#include "config.h"

#include "daemon/scheduler_internal.h"

#include <inttypes.h>
#include <stdio.h>

static void
block_reserved(void *arg, enum store_result result)
{
	struct scheduler *s = arg;

	s->reserving = false;
	if (result == STORE_COMMITTED)
		s->run_id_limit += SCHEDULER_ID_BLOCK;
}

/* The next id; reserves a further block when half of this one is used. */
uint64_t
run_new_id(struct scheduler *s)
{
	uint64_t id = s->next_run_id++;

	if (!s->reserving &&
	    s->next_run_id + SCHEDULER_ID_BLOCK / 2 >= s->run_id_limit) {
		s->reserving = true;
		store_put_meta_integer(s->store, "next_run_id",
		    (int64_t)(s->run_id_limit + SCHEDULER_ID_BLOCK));
		store_after_commit(s->store, block_reserved, s);
	}
	return id;
}

static void
add_env(struct protocol_start *start, const char *entry)
{
	if (entry != NULL && start->env_count < PROTOCOL_ENV_MAX)
		start->env[start->env_count++] = entry;
}

/* CRONCTL_SCHEDULED: the nominal instant in the job's own zone. */
static void
format_scheduled(const struct jobdef *def, int64_t occurrence,
    char text[TIMESTAMP_MAX])
{
	const struct zone *zone = def->n_schedules > 0 ?
	    schedule_zone(def->schedules[0]) : NULL;

	timestamp_format(text, occurrence,
	    zone != NULL ? zone_offset(zone, occurrence) : 0, zone == NULL);
}

/* The variables every run has beside those of its user. */
struct run_variables {
	char	job[sizeof "CRONCTL_JOB=" + JOBDEF_FULL_NAME_MAX];
	char	run_id[sizeof "CRONCTL_RUN_ID=" + 24];
	char	attempt[sizeof "CRONCTL_ATTEMPT=" + 12];
	char	cause[sizeof "CRONCTL_CAUSE=" + 16];
	char	scheduled[sizeof "CRONCTL_SCHEDULED=" + TIMESTAMP_MAX];
};

static void
fill_variables(struct scheduler *s, const struct run_request *req,
    const struct protocol_tag_run *tag, struct run_variables *v,
    struct protocol_start *start)
{
	char when[TIMESTAMP_MAX];

	snprintf(v->job, sizeof v->job, "CRONCTL_JOB=%s", tag->job_name);
	snprintf(v->run_id, sizeof v->run_id, "CRONCTL_RUN_ID=%" PRIu64,
	    tag->run_id);
	snprintf(v->attempt, sizeof v->attempt, "CRONCTL_ATTEMPT=%" PRIu32,
	    tag->attempt);
	snprintf(v->cause, sizeof v->cause, "CRONCTL_CAUSE=%s",
	    run_cause_name(tag->cause));
	add_env(start, s->lang);
	add_env(start, s->socket_env);
	for (size_t i = 0; i < req->job->def->n_env; i++)
		add_env(start, req->job->def->env[i]);
	for (size_t i = 0; i < req->n_env; i++)
		add_env(start, req->env[i]);
	add_env(start, v->job);
	add_env(start, v->run_id);
	add_env(start, v->attempt);
	add_env(start, v->cause);
	if (req->occurrence != INT64_MIN) {
		format_scheduled(req->job->def, req->occurrence, when);
		snprintf(v->scheduled, sizeof v->scheduled,
		    "CRONCTL_SCHEDULED=%s", when);
		add_env(start, v->scheduled);
	}
}

static void
fill_tag(const struct scheduler *s, const struct run_request *req,
    uint64_t id, struct protocol_tag_run *tag)
{
	*tag = (struct protocol_tag_run){
		.run_id = id,
		.job_id = req->job->id,
		.job_name = req->job->def->name,
		.occurrence = req->occurrence,
		.era = req->era,
		.generation = req->generation,
		.cause = req->cause,
		.attempt = 1,
		.due = req->due,
		.queued = req->queued,
		.sent = s->now.wall.us,
		.by_uid = req->by_uid,
	};
}

static void
fill_start(const struct scheduler *s, const struct run_request *req,
    struct protocol_start *start)
{
	const struct jobdef *def = req->job->def;

	start->not_after = req->max_late < 0 ? 0 : s->now.boot.us +
	    req->due + req->max_late * USEC_PER_MSEC - s->now.wall.us;
	start->command = def->command;
	start->shell = def->shell;
	start->owner_name = req->job->owner_name;
	start->owner_uid = req->job->owner_uid;
	start->user = def->user;
	start->group = def->group;
	start->workdir = def->workdir;
	start->umask = (uint32_t)def->umask;
	start->stdin_text = def->stdin_text;
	start->timeout = def->timeout * USEC_PER_MSEC;
	start->start_timeout = def->start_timeout * USEC_PER_MSEC;
	start->stop_grace = def->stop_grace * USEC_PER_MSEC;
	start->stop_signal = (int)def->stop_signal;
	start->output = def->output == OUTPUT_DISCARD ?
	    PROTOCOL_OUTPUT_DISCARD : PROTOCOL_OUTPUT_KEEP;
	start->output_limit = def->output_limit;
}

struct run *
run_start(struct scheduler *s, const struct run_request *req)
{
	struct protocol_start start = { .env_count = 0 };
	struct run_variables variables;
	struct run_row row;
	struct run *run;
	uint64_t id = req->run_id != 0 ? req->run_id : s->next_run_id;
	uint64_t worker;

	fill_tag(s, req, id, &start.tag);
	fill_start(s, req, &start);
	fill_variables(s, req, &start.tag, &variables, &start);
	if (!s->ops.start(s->ops.arg, &start, req->not_this, &worker))
		return NULL;
	if (req->run_id == 0)
		run_new_id(s);
	run_row_of_tag(&start.tag, worker, &row);
	run = run_find(s, id);
	if (run == NULL) {
		run = run_add(s, &row, req->job, RUN_PHASE_SENT);
		s->counts.started++;
	}
	run->phase = RUN_PHASE_SENT;
	run->row.worker = worker;
	run->row.sent = row.sent;
	req->job->stretch.count = 0;
	req->job->skips = 0;
	run_put_started(s, &run->row);
	store_put_run(s->store, &run->row);
	return run;
}
