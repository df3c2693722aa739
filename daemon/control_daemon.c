/* SPDX-License-Identifier: ISC */
/*
 * daemon.status, daemon.reload, daemon.stop.  Status is put together from
 * what the parts know; nothing is asked of the disk.
 */
#include "config.h"

#include "daemon/control_internal.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"
#include "common/xmalloc.h"

#define ERRORS_MAX 100	/* of job files, in daemon.status */

/* --- daemon.status --- */

static struct message *
status_jobs(const struct control_context *context)
{
	const struct jobtable *jobs = context->jobs;
	struct message *m = message_object();

	message_set_integer(m, "total", (int64_t)jobtable_count(jobs));
	message_set_integer(m, "file",
	    (int64_t)jobtable_count_origin(jobs, ORIGIN_FILE));
	message_set_integer(m, "control",
	    (int64_t)jobtable_count_origin(jobs, ORIGIN_CONTROL));
	message_set_integer(m, "paused",
	    (int64_t)scheduler_paused(context->scheduler));
	message_set_bool(m, "all_paused",
	    scheduler_pause_of_all(context->scheduler) != NULL);
	return m;
}

static struct message *
status_workers(const struct workers *workers)
{
	struct message *array = message_array(), *m;
	struct workers_info info;

	for (size_t i = 0; i < workers_count(workers); i++) {
		workers_info(workers, i, &info);
		m = message_object();
		message_set_integer(m, "number", (int64_t)info.number);
		if (info.pid != 0)
			message_set_integer(m, "pid", info.pid);
		else
			message_set_null(m, "pid");
		message_set_string(m, "state", workers_state_name(info.state));
		message_set_integer(m, "runs", (int64_t)info.runs);
		message_append(array, m);
	}
	return array;
}

static struct message *
status_store(const struct store *store)
{
	struct message *m = message_object();
	struct store_status status;

	store_status(store, &status);
	message_set_string(m, "state", status.broken ? "broken" : "ok");
	message_set_string(m, "detail", status.broken ? status.detail : NULL);
	control_set_seconds(m, "last_commit", status.last_commit,
	    status.last_commit != 0);
	message_set_integer(m, "queue", (int64_t)status.waiting);
	message_set_integer(m, "dropped", (int64_t)status.dropped);
	return m;
}

static struct message *
status_files(const struct reload *reload)
{
	struct message *m = message_object();
	struct reload_status status;

	reload_status(reload, &status);
	message_set_integer(m, "total", (int64_t)status.n_files);
	message_set_integer(m, "ignored", (int64_t)status.n_ignored);
	message_set_integer(m, "in_error", (int64_t)status.n_files_in_error);
	message_set(m, "errors", control_json_strings(status.errors,
	    status.n_errors, ERRORS_MAX));
	message_set_integer(m, "errors_total", (int64_t)status.n_errors);
	message_set_string(m, "slow", status.slow);
	return m;
}

static void
set_counts(struct message *m, const struct scheduler *scheduler)
{
	struct message *since = message_object(), *late = message_object();
	struct scheduler_counts counts;

	scheduler_counts(scheduler, &counts);
	message_set_integer(since, "started", (int64_t)counts.started);
	message_set_integer(since, "succeeded", (int64_t)counts.succeeded);
	message_set_integer(since, "failed", (int64_t)counts.failed);
	message_set_integer(since, "skipped", (int64_t)counts.skipped);
	message_set_integer(since, "missed", (int64_t)counts.missed);
	message_set(m, "since_start", since);
	control_set_seconds(late, "p50", counts.late_p50, counts.late_p50 >= 0);
	control_set_seconds(late, "p99", counts.late_p99, counts.late_p99 >= 0);
	control_set_seconds(late, "max", counts.late_max, counts.late_max >= 0);
	message_set(m, "late", late);
}

static void
set_details(struct message *m, const struct control_context *context)
{
	message_set_integer(m, "pid", getpid());
	message_set_string(m, "zone", reload_zone_name(context->reload));
	message_set_bool(m, "user", context->user);
	message_set_string(m, "instance", context->instance);
	message_set_string(m, "state_dir", context->state_dir);
	control_set_seconds(m, "now", walltime_now().us, true);
	message_set(m, "jobs", status_jobs(context));
	message_set_integer(m, "running",
	    (int64_t)scheduler_running(context->scheduler));
	message_set_integer(m, "waiting",
	    (int64_t)scheduler_waiting(context->scheduler));
	message_set_integer(m, "max_running", (int64_t)context->max_running);
	message_set_bool(m, "clock_behind",
	    scheduler_clock_is_behind(context->scheduler));
	message_set_bool(m, "stopping",
	    scheduler_is_stopping(context->scheduler));
	message_set(m, "workers", status_workers(context->workers));
	message_set(m, "store", status_store(context->store));
	message_set(m, "files", status_files(context->reload));
	set_counts(m, context->scheduler);
	message_set_integer(m, "wakeups",
	    (int64_t)context->wakeups(context->hook_arg));
}

void
control_daemon_status(struct request *request)
{
	const struct control_context *context = request->context;
	struct message *m = message_object();

	message_set_string(m, "version", PACKAGE_VERSION);
	control_set_seconds(m, "uptime",
	    boottime_now().us - context->since.us, true);
	if (access_may(request->access, ACCESS_FULL))
		set_details(m, context);
	else
		message_set_bool(m, "up", true);
	request_reply(request, m);
}

/* --- daemon.reload --- */

static struct message *
changes(const struct reload_result *result, char what, int64_t *left_out)
{
	struct message *array = message_array(), *m;

	for (size_t i = 0; i < result->n_changes; i++) {
		const struct reload_change *change = &result->changes[i];

		if (change->what != what)
			continue;
		if (message_count(array) == CONTROL_LIST_MAX) {
			++*left_out;
			continue;
		}
		m = message_object();
		message_set_string(m, "job", change->job);
		message_set_string(m, "detail", change->detail);
		message_append(array, m);
	}
	return array;
}

static struct message *
sentences(char *const *v, size_t n, int64_t *left_out)
{
	if (n > CONTROL_LIST_MAX)
		*left_out += (int64_t)(n - CONTROL_LIST_MAX);
	return control_json_strings(v, n, CONTROL_LIST_MAX);
}

static void
refuse_reload(struct request *request, const struct reload_result *result)
{
	struct message *data = message_object();
	struct error err;

	error_set(&err, "nothing was reloaded: %s", result->n_errors > 0 ?
	    result->errors[0] : "the job files can't be read");
	message_set(data, "errors", control_json_strings(result->errors,
	    result->n_errors, CONTROL_LIST_MAX));
	request_refuse(request, CONTROL_REFUSED, &err, data);
}

static void
on_reloaded(void *arg, const struct reload_result *result)
{
	struct request *request = arg;
	int64_t left_out = 0;
	struct message *m;

	if (!request_resume(request))
		return;
	if (result->failed) {
		refuse_reload(request, result);
		return;
	}
	m = message_object();
	message_set(m, "added", changes(result, '+', &left_out));
	message_set(m, "changed", changes(result, '~', &left_out));
	message_set(m, "removed", changes(result, '-', &left_out));
	message_set_integer(m, "unchanged", (int64_t)result->unchanged);
	message_set(m, "errors", sentences(result->errors, result->n_errors,
	    &left_out));
	message_set(m, "warnings", sentences(result->warnings,
	    result->n_warnings, &left_out));
	message_set(m, "configuration", sentences(result->config,
	    result->n_config, &left_out));
	message_set_integer(m, "left_out", left_out);
	request_reply(request, m);
}

void
control_daemon_reload(struct request *request)
{
	bool plan = message_get_bool(request->params, "plan", false);

	if (!plan)
		log_info("control", "uid=%u asked for a reload",
		    (unsigned)request->uid);
	request_await(request);
	reload_request(request->context->reload, plan, on_reloaded, request);
}

/* --- daemon.stop --- */

struct stop {
	size_t	running;	/* when it was called */
	size_t	waiting;	/* when it was called */
};

static void
reply_stop(struct request *request)
{
	const struct stop *stop = request->state;
	struct message *m = message_object();

	message_set_integer(m, "running", (int64_t)stop->running);
	message_set_integer(m, "waiting", (int64_t)stop->waiting);
	request_reply(request, m);
}

void
control_daemon_stop_done(struct control_context *context)
{
	struct request *request;

	context->stopped = true;
	while ((request = TAILQ_FIRST(&context->stop_waits)) != NULL)
		reply_stop(request);
}

void
control_daemon_stop(struct request *request)
{
	struct control_context *context = request->context;
	double timeout = message_get_number(request->params, "timeout", NAN);
	struct stop *stop = xcalloc(1, sizeof(*stop));

	stop->running = scheduler_running(context->scheduler);
	stop->waiting = scheduler_waiting(context->scheduler);
	request_set_state(request, stop, free);
	log_info("control", "uid=%u stopped the daemon", (unsigned)request->uid);
	context->stop(context->hook_arg, request->uid, isnan(timeout) ? -1 :
	    (int64_t)llround(timeout * (double)USEC_PER_SEC));
	if (message_get_bool(request->params, "wait", false) &&
	    !context->stopped)
		request_wait_in(request, &context->stop_waits);
	else
		reply_stop(request);
}
