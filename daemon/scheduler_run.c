/* SPDX-License-Identifier: ISC */
/*
 * What becomes of runs when a worker tells something: the table in
 * run_state.c decides, the functions here carry out.  A run is live from
 * START to its end; it is kept until the row of its end is on disk, then the
 * worker may forget it.
 */
#include "config.h"

#include "daemon/scheduler_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/xmalloc.h"
#include "daemon/events.h"

#define SUBSYSTEM "scheduler"

/* Passed through the store until a run's end is on disk. */
struct end_commit {
	struct scheduler	*s;
	uint64_t		 run_id;
	uint64_t		 worker;	/* that waits for the ACK */
	struct run_row		 row;		/* for runs not in the table */
};

static struct run **
bucket(struct scheduler *s, uint64_t id)
{
	return &s->runs[id % SCHEDULER_RUN_BUCKETS];
}

struct run *
run_find(const struct scheduler *s, uint64_t id)
{
	struct run *run = s->runs[id % SCHEDULER_RUN_BUCKETS];

	while (run != NULL && run->row.id != id)
		run = run->hash_next;
	return run;
}

struct run *
run_add(struct scheduler *s, const struct run_row *row, struct job *job,
    enum run_phase phase)
{
	struct run *run = xcalloc(1, sizeof *run);

	run_row_copy(&run->row, row);
	run->phase = phase;
	run->job = job;
	run->asked_by = -1;
	run->hash_next = *bucket(s, row->id);
	*bucket(s, row->id) = run;
	s->n_running++;
	if (job != NULL) {
		TAILQ_INSERT_TAIL(&job->runs, run, of_job);
		job->n_runs++;
	} else {
		TAILQ_INSERT_TAIL(&s->orphans, run, of_job);
	}
	return run;
}

/* No longer live: its slot is free. */
static void
leave_job(struct scheduler *s, struct run *run)
{
	struct job *job = run->job;

	s->n_running--;
	if (job == NULL) {
		TAILQ_REMOVE(&s->orphans, run, of_job);
		return;
	}
	TAILQ_REMOVE(&job->runs, run, of_job);
	job->n_runs--;
	run->job = NULL;
	if (job->removed)
		run_release_job(s, job);
	else
		wait_run_ended(s, job);
}

void
run_release_job(struct scheduler *s, struct job *job)
{
	if (!job->removed || job->n_runs > 0)
		return;
	TAILQ_REMOVE(&s->departed, job, departed);
	job_free(job);
}

static void
run_remove(struct scheduler *s, struct run *run)
{
	struct run **p = bucket(s, run->row.id);

	while (*p != run)
		p = &(*p)->hash_next;
	*p = run->hash_next;
	run_row_release(&run->row);
	free(run);
}

void
run_free_all(struct scheduler *s)
{
	for (size_t i = 0; i < SCHEDULER_RUN_BUCKETS; i++) {
		while (s->runs[i] != NULL) {
			struct run *run = s->runs[i];

			if (run->phase != RUN_PHASE_ENDED)
				leave_job(s, run);
			run_remove(s, run);
		}
	}
}

bool
run_pool_is_full(const struct scheduler *s)
{
	return s->n_running >= s->max_running;
}

void
run_row_of_tag(const struct protocol_tag_run *tag, uint64_t worker,
    struct run_row *row)
{
	*row = (struct run_row){
		.id = tag->run_id,
		.job_id = tag->job_id,
		.job_name = (char *)tag->job_name,
		.occurrence = tag->occurrence,
		.era = tag->era,
		.generation = tag->generation,
		.cause = tag->cause,
		.attempt = tag->attempt,
		.prev_run = tag->prev_run,
		.state = RUN_STARTING,
		.by_uid = tag->by_uid,
		.worker = worker,
		.due = tag->due,
		.queued = tag->queued,
		.sent = tag->sent,
		.code = -1,
	};
}

/* The row that says: this occurrence has that run. */
void
run_put_started(struct scheduler *s, const struct run_row *row)
{
	struct outcome_row out = {
		.job_id = row->job_id,
		.era = row->era,
		.occurrence = row->occurrence,
		.last = row->occurrence,
		.count = 1,
		.generation = row->generation,
		.kind = OUTCOME_STARTED,
		.run_id = row->id,
		.at = row->sent,
	};

	if (row->occurrence != INT64_MIN)
		store_put_outcome(s->store, &out);
}

/* --- ends --- */

static void
log_end(const struct run_row *row)
{
	char how[64] = "";

	if (row->state == RUN_SIGNALED)
		snprintf(how, sizeof how, " signal=%d", row->signal);
	else if (row->code >= 0)
		snprintf(how, sizeof how, " code=%d", row->code);
	log_info(SUBSYSTEM, "job=%s run=%" PRIu64 " %s%s took=%.3fs%s%s",
	    row->job_name, row->id, run_state_name(row->state), how,
	    row->started > 0 && row->ended > row->started ?
	    (double)(row->ended - row->started) / 1e6 : 0.0,
	    row->detail != NULL ? ": " : "",
	    row->detail != NULL ? row->detail : "");
}

static void
count_end(struct scheduler *s, struct job *job, const struct run_row *row)
{
	bool good = row->state == RUN_SUCCEEDED;

	if (good)
		s->counts.succeeded++;
	else
		s->counts.failed++;
	if (job == NULL || job->id != row->job_id)
		return;
	if (good) {
		job->failures = 0;
		job->failing_since = 0;
	} else {
		job->failures++;
		if (job->failing_since == 0)
			job->failing_since = row->ended;
		if (policy_warns_at(job->failures))
			log_warning(SUBSYSTEM, "job=%s has failed %" PRId64
			    " times in a row", job->def->name,
			    job->failures);
	}
	if (job->last_run == NULL)
		job->last_run = xcalloc(1, sizeof *job->last_run);
	else
		run_row_release(job->last_run);
	run_row_copy(job->last_run, row);
	if (!job->removed)
		job_put_state(s, job);
}

static void
end_committed(void *arg, enum store_result result)
{
	struct end_commit *end = arg;
	struct scheduler *s = end->s;
	struct run *run;

	if (result != STORE_COMMITTED) {
		/* The facts are sent again; so are we. */
		store_after_commit(s->store, end_committed, end);
		return;
	}
	s->ops.ack(s->ops.arg, end->worker, end->run_id);
	run = run_find(s, end->run_id);
	if (run != NULL && run_state_action(run->phase,
	    RUN_EVENT_COMMITTED) == RUN_FORGET)
		run_remove(s, run);
	if (s->observer.run_ended != NULL)
		s->observer.run_ended(s->observer.arg, &end->row);
	run_row_release(&end->row);
	free(end);
}

/* Its row is final: free the slot, record, acknowledge after the commit. */
static void
finish(struct scheduler *s, struct run *run)
{
	struct end_commit *end = xcalloc(1, sizeof *end);

	restore_unhold(s, run);
	run->phase = RUN_PHASE_ENDED;
	log_end(&run->row);
	count_end(s, run->job, &run->row);
	events_put_run(s->store, EVENT_RUN_ENDED, &run->row);
	store_put_run(s->store, &run->row);
	end->s = s;
	end->run_id = run->row.id;
	end->worker = run->row.worker;
	run_row_copy(&end->row, &run->row);
	store_after_commit(s->store, end_committed, end);
	leave_job(s, run);
}

static void
row_of_end(struct run_row *row, const struct protocol_ended *end)
{
	row->state = run_state_of_end(end);
	row->code = end->how == PROTOCOL_END_EXITED ? end->code : -1;
	row->signal = end->how == PROTOCOL_END_SIGNALED ? end->signal : 0;
	row->core = end->how == PROTOCOL_END_SIGNALED && end->core;
	row->stage = end->stage;
	free(row->detail);
	row->detail = end->detail != NULL ? xstrdup(end->detail) : NULL;
	if (end->pid != 0) {
		row->pid = end->pid;
		row->starttime = end->starttime;
	}
	if (end->started != 0)
		row->started = end->started;
	row->ended = end->ended;
	row->user_us = end->user_us;
	row->system_us = end->system_us;
	row->max_rss_kb = end->max_rss_kb;
	row->blocks_in = end->blocks_in;
	row->blocks_out = end->blocks_out;
	row->switches = end->switches;
	row->output_bytes = end->output_bytes;
	row->output_dropped = end->output_dropped;
}

/* Of a run that was killed, by whom; a daemon since may not know. */
static void
say_who(struct run *run)
{
	if (run->row.state != RUN_KILLED || run->asked_by < 0 ||
	    run->row.detail != NULL)
		return;
	run->row.detail = xasprintf("killed by uid %" PRId64, run->asked_by);
}

void
run_end(struct scheduler *s, struct run *run, const struct protocol_ended *end)
{
	bool began = run->row.state == RUN_RUNNING;

	row_of_end(&run->row, end);
	if (!began && run->row.started != 0)
		events_put_run(s->store, EVENT_RUN_STARTED, &run->row);
	say_who(run);
	finish(s, run);
}

void
run_lose(struct scheduler *s, struct run *run, const char *why)
{
	run->row.state = RUN_LOST;
	run->row.ended = s->now.wall.us;
	free(run->row.detail);
	run->row.detail = xstrdup(why);
	finish(s, run);
}

/* Never started, and now it is too late: the one change of an outcome. */
static void
drop(struct scheduler *s, struct run *run)
{
	struct job *job = run->job;
	struct outcome_row out = {
		.job_id = run->row.job_id,
		.era = run->row.era,
		.occurrence = run->row.occurrence,
		.last = run->row.occurrence,
		.count = 1,
		.generation = run->row.generation,
		.kind = OUTCOME_MISSED,
		.reason = REASON_OVERLOAD,
		.at = s->now.wall.us,
	};

	log_warning(SUBSYSTEM, "job=%s run=%" PRIu64
	    " missed reason=overload: no worker started it in time",
	    run->row.job_name, run->row.id);
	store_put_run_dropped(s->store, run->row.id);
	if (out.occurrence != INT64_MIN) {
		events_put_outcome(s->store, run->row.job_name, &out);
		store_put_outcome(s->store, &out);
	}
	s->counts.missed++;
	if (job != NULL)
		job->stretch.count = 0;
	restore_unhold(s, run);
	leave_job(s, run);
	/* Whoever waits for it learns that it will not be. */
	run->row.state = RUN_LOST;
	run->row.ended = s->now.wall.us;
	free(run->row.detail);
	run->row.detail = xstrdup("no worker started it in time");
	if (s->observer.run_ended != NULL)
		s->observer.run_ended(s->observer.arg, &run->row);
	run_remove(s, run);
}

/* --- to another worker --- */

static bool
resend(struct scheduler *s, struct run *run)
{
	struct run_request req = {
		.job = run->job,
		.occurrence = run->row.occurrence,
		.era = run->row.era,
		.generation = run->row.generation,
		.cause = run->row.cause,
		.due = run->row.due,
		.queued = run->row.queued,
		.by_uid = run->row.by_uid,
		.run_id = run->row.id,
		.not_this = run->row.worker,
		.max_late = -1,
	};

	return run_start(s, &req) != NULL;
}

/* Too late for a start that has not happened? Manual runs never are. */
static bool
is_too_late(const struct scheduler *s, const struct run *run)
{
	int64_t limit;

	if (run->row.occurrence == INT64_MIN || run->row.queued != 0)
		return false;
	limit = jobdef_max_late(run->job->def, run->row.occurrence);
	return policy_is_too_late(run->row.due, s->now.wall.us, limit);
}

static void
send_again(struct scheduler *s, struct run *run)
{
	if (run->job == NULL || is_too_late(s, run)) {
		if (run->row.occurrence != INT64_MIN)
			drop(s, run);
		else
			run_lose(s, run, "no worker started it");
		return;
	}
	if (!resend(s, run)) {
		run->unsent = true;
		s->n_unsent++;
	}
}

void
run_send_unsent(struct scheduler *s)
{
	struct run *run, *next;

	if (s->n_unsent == 0)
		return;
	s->n_unsent = 0;
	for (size_t i = 0; i < SCHEDULER_RUN_BUCKETS; i++) {
		for (run = s->runs[i]; run != NULL; run = next) {
			next = run->hash_next;
			if (!run->unsent)
				continue;
			run->unsent = false;
			send_again(s, run);
		}
	}
}

/* --- what workers tell --- */

static void
act(struct scheduler *s, struct run *run, enum run_event event)
{
	switch (run_state_action(run->phase, event)) {
	case RUN_IGNORE:
	case RUN_FINISH:
	case RUN_FORGET:
		break;
	case RUN_CONFIRM:
		run->phase = RUN_PHASE_CONFIRMED;
		restore_unhold(s, run);
		break;
	case RUN_REFUSE:
		if (run->row.occurrence != INT64_MIN)
			drop(s, run);
		else
			run_lose(s, run, "no worker started it in time");
		break;
	case RUN_REJUDGE:
		if (run->row.state == RUN_RUNNING) {
			run_lose(s, run, "its worker no longer knows of it");
			break;
		}
		__attribute__((fallthrough));
	case RUN_RESEND:
		send_again(s, run);
		break;
	case RUN_LOSE:
		run_lose(s, run, "its worker no longer knows of it");
		break;
	case RUN_ORPHAN:
		orphan_run(s, run);
		break;
	}
}

/*
 * The job that a run counts for: its own, else the one that has its name
 * now, since runs of a removed job still overlap with those of the same name
 * (semantics.md 2).
 */
struct job *
run_job_of(const struct scheduler *s, int64_t job_id, const char *name)
{
	struct job *job = jobtable_find_id(s->jobs, job_id);

	return job != NULL ? job : jobtable_find(s->jobs, name);
}

/* A run that the store didn't know: made again from what the worker tells. */
static struct run *
adopt(struct scheduler *s, uint64_t worker,
    const struct protocol_tag_run *tag)
{
	struct job *job = run_job_of(s, tag->job_id, tag->job_name);
	struct run_row row;

	run_row_of_tag(tag, worker, &row);
	if (job != NULL && job->id == row.job_id &&
	    row.occurrence != INT64_MIN)
		restore_cover(s, job, row.occurrence);
	if (row.id >= s->next_run_id)
		s->next_run_id = row.id + 1;
	run_put_started(s, &row);
	return run_add(s, &row, job, RUN_PHASE_UNSETTLED);
}

static struct run *
find_or_adopt(struct scheduler *s, uint64_t worker,
    const struct protocol_tag_run *tag)
{
	struct run *run = run_find(s, tag->run_id);

	if (run == NULL)
		return adopt(s, worker, tag);
	run->row.worker = worker;
	return run;
}

/* Its command runs. */
static void
set_running(struct scheduler *s, struct run *run, pid_t pid,
    uint64_t starttime, int64_t started)
{
	if (run->phase != RUN_PHASE_CONFIRMED ||
	    run->row.state == RUN_RUNNING)
		return;
	run->row.state = RUN_RUNNING;
	run->row.pid = pid;
	run->row.starttime = starttime;
	run->row.started = started;
	run->begun = orphan_begun(s, run);
	if (run->row.cause == RUN_CAUSE_SCHEDULE && run->row.queued == 0)
		latency_add(&s->late, started - run->row.due);
	log_info(SUBSYSTEM, "job=%s run=%" PRIu64 " started pid=%d cause=%s "
	    "late=%.3fs", run->row.job_name, run->row.id, (int)pid,
	    run_cause_name(run->row.cause),
	    (double)(started - run->row.due) / 1e6);
	events_put_run(s->store, EVENT_RUN_STARTED, &run->row);
	store_put_run(s->store, &run->row);
}

void
scheduler_run_listed(struct scheduler *s, uint64_t worker,
    const struct protocol_list_run *list)
{
	struct run *run = find_or_adopt(s, worker, &list->tag);

	scheduler_touch(s);
	act(s, run, RUN_EVENT_LISTED);
	if (list->started != 0)
		set_running(s, run, list->pid, list->starttime,
		    list->started);
	else
		store_put_run(s->store, &run->row);
}

void
scheduler_run_started(struct scheduler *s, uint64_t worker,
    const struct protocol_started *started)
{
	struct run *run = run_find(s, started->run_id);

	scheduler_touch(s);
	if (run == NULL || run->row.worker != worker)
		return;
	act(s, run, RUN_EVENT_STARTED);
	set_running(s, run, started->pid, started->starttime,
	    started->started);
}

void
scheduler_run_ended(struct scheduler *s, uint64_t worker,
    const struct protocol_ended *ended)
{
	struct run *run = find_or_adopt(s, worker, &ended->tag);

	scheduler_touch(s);
	if (run_state_action(run->phase, RUN_EVENT_ENDED) == RUN_FINISH)
		run_end(s, run, ended);
}

void
scheduler_run_refused(struct scheduler *s, uint64_t worker, uint64_t run_id,
    enum protocol_refusal why)
{
	struct run *run = run_find(s, run_id);

	scheduler_touch(s);
	if (run == NULL || run->row.worker != worker)
		return;
	if (why == PROTOCOL_REFUSED_BAD) {
		run->row.stage = PROTOCOL_STAGE_FORK;
		run_lose(s, run, "its worker could not read the request");
		return;
	}
	act(s, run, why == PROTOCOL_REFUSED_TOO_LATE ? RUN_EVENT_TOO_LATE :
	    RUN_EVENT_REFUSED);
}

void
scheduler_run_unknown(struct scheduler *s, uint64_t worker, uint64_t run_id)
{
	struct run *run = run_find(s, run_id);

	/* A START may still be on its way behind the answer's request. */
	if (run != NULL && run->row.worker == worker &&
	    run->phase == RUN_PHASE_CONFIRMED)
		act(s, run, RUN_EVENT_UNLISTED);
}

/* One event for every run of a worker that is in one of two phases. */
static void
for_runs_of(struct scheduler *s, uint64_t worker, bool confirmed_too,
    enum run_event event)
{
	struct run *run, *next;

	for (size_t i = 0; i < SCHEDULER_RUN_BUCKETS; i++) {
		for (run = s->runs[i]; run != NULL; run = next) {
			next = run->hash_next;
			if (run->row.worker == worker && !run->unsent &&
			    (confirmed_too ||
			    run->phase != RUN_PHASE_CONFIRMED))
				act(s, run, event);
		}
	}
}

void
scheduler_list_end(struct scheduler *s, uint64_t worker)
{
	scheduler_touch(s);
	for_runs_of(s, worker, false, RUN_EVENT_UNLISTED);
}

void
scheduler_worker_dead(struct scheduler *s, uint64_t worker)
{
	scheduler_touch(s);
	for_runs_of(s, worker, true, RUN_EVENT_DEAD);
}

void
run_stop(struct scheduler *s, struct run *run, int64_t by_uid)
{
	if (run->phase == RUN_PHASE_ENDED)
		return;
	if (!run->stop_sent)
		run->asked_by = by_uid;
	run->stop_sent = true;
	s->ops.stop(s->ops.arg, run->row.worker, run->row.id);
}

bool
scheduler_stop_run(struct scheduler *s, uint64_t run_id, int64_t by_uid)
{
	struct run *run = run_find(s, run_id);

	if (run == NULL || run->phase == RUN_PHASE_ENDED)
		return false;
	run_stop(s, run, by_uid);
	return true;
}
