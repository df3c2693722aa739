/* SPDX-License-Identifier: ISC */
/*
 * job.run, run.history, run.logs.  A run that is not over is known to the
 * scheduler; all others are asked of the ledger, by the query helper, in
 * pages.
 */
#include "config.h"

#include "daemon/control_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base64.h"
#include "common/log.h"
#include "common/strbuf.h"
#include "common/xmalloc.h"

#define HISTORY_DEFAULT	20	/* rows of a page, when not said */

/* --- job.run --- */

struct start {
	char		**env;		/* NAME=VALUE */
	size_t		  n_env;	/* of them */
	struct error	  err;		/* of the first bad one */
	bool		  failed;	/* err is set */
	struct run_row	  row;		/* as it was started; id 0: not yet */
};

static void
start_free(void *state)
{
	struct start *start = state;

	for (size_t i = 0; i < start->n_env; i++)
		free(start->env[i]);
	free(start->env);
	run_row_release(&start->row);
	free(start);
}

/* What would change how the job's shell or its programs come up (spec 6). */
static bool
is_forbidden_env(const char *name)
{
	static const char *const whole[] = {
		"PATH", "IFS", "ENV", "BASH_ENV"
	};

	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (strcmp(name, whole[i]) == 0)
			return true;
	return strncmp(name, "LD_", 3) == 0 ||
	    strncmp(name, "CRONCTL_", 8) == 0;
}

static bool
is_env_name(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len <= JOBDEF_ENV_NAME_MAX &&
	    strspn(name, "0123456789") == 0 &&
	    strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz_0123456789") == len;
}

static void
take_env(void *arg, const char *name, const struct message *value)
{
	struct start *start = arg;
	const char *text = message_value_string(value);
	char quoted[ERROR_QUOTE_MAX];

	if (start->failed)
		return;
	error_quote(quoted, name, strlen(name));
	start->failed = true;
	if (!is_env_name(name)) {
		error_set(&start->err, "job.run: %s is no name of an "
		    "environment variable", quoted);
	} else if (is_forbidden_env(name)) {
		error_set(&start->err, "job.run: %s can't be given to a "
		    "single run; set env.%s in the definition", quoted, name);
	} else if (text == NULL) {
		error_set(&start->err, "job.run: the value of %s must be a "
		    "string", quoted);
	} else if (start->n_env == JOBDEF_ENV_MAX) {
		error_set(&start->err, "job.run: more than %d environment "
		    "variables", JOBDEF_ENV_MAX);
	} else {
		start->failed = false;
		start->env[start->n_env++] = xasprintf("%s=%s", name, text);
	}
}

static void
on_run_stored(void *arg, enum store_result result)
{
	struct request *request = arg;
	struct start *start = request->state;
	const struct run_row *row;

	if (!request_resume(request))
		return;
	row = scheduler_find_run(request->context->scheduler, start->row.id);
	if (row == NULL)
		row = &start->row;
	if (result == STORE_COMMITTED)
		request_reply(request, control_json_run(row));
	else
		request_refusef(request, CONTROL_IN_DOUBT, "run %" PRIu64
		    " of job %s goes on, but the store failed to record it; "
		    "see cronctl status", row->id, row->job_name);
}

static void
begin_run(struct request *request)
{
	struct control_context *context = request->context;
	struct start *start = request->state;
	struct scheduler_run_request spec = {
		.by_uid = request->uid,
		.force = message_get_bool(request->params, "force", false),
		.env = (const char *const *)start->env,
		.n_env = start->n_env,
	};
	const struct run_row *row;
	struct error err;
	struct job *job;

	if (!request_can_start(request))
		return;
	job = request_job(request, message_get_string(request->params,
	    "job"));
	if (job == NULL)
		return;
	if (job->changing) {
		request_defer(request, begin_run);
		return;
	}
	if (!request_can_store(request))
		return;
	if (scheduler_run_now(context->scheduler, job, &spec, &row,
	    &err) == -1) {
		request_refuse(request, CONTROL_REFUSED, &err, NULL);
		return;
	}
	run_row_copy(&start->row, row);
	log_info("control", "uid=%u ran job=%s run=%" PRIu64 "%s",
	    (unsigned)request->uid, job->def->name, row->id,
	    spec.force ? " by force" : "");
	request_await(request);
	store_after_commit(context->store, on_run_stored, request);
}

void
control_job_run(struct request *request)
{
	const struct message *env = message_get(request->params, "env");
	struct start *start = xcalloc(1, sizeof(*start));

	request_set_state(request, start, start_free);
	if (env != NULL && message_is_object(env)) {
		start->env = xcalloc(JOBDEF_ENV_MAX, sizeof(*start->env));
		message_each(env, take_env, start);
	}
	if (start->failed)
		request_refuse(request, CONTROL_PARAMS, &start->err, NULL);
	else
		begin_run(request);
}

/* --- run.history --- */

struct history {
	struct query_spec spec;		/* strings are the request's */
	bool		  probing;	/* asks whether the job ever was */
};

static void	ask_history(struct request *);

/* Whether any row could have been left out by what was asked for. */
static bool
is_narrow(const struct query_spec *spec)
{
	return spec->failed || spec->since != INT64_MIN ||
	    spec->before != NULL;
}

/* True when an empty answer is because of a name that never was. */
static bool
doubts_name(const struct request *request, const struct query_result *result)
{
	const struct history *history = request->state;

	return result->n_rows == 0 && history->spec.job_name != NULL &&
	    jobtable_find(request->context->jobs,
	    history->spec.job_name) == NULL;
}

static struct message *
history_rows(const struct query_result *result)
{
	struct message *rows = message_array();

	for (size_t i = 0; i < result->n_rows; i++)
		message_append(rows, result->rows[i].is_run ?
		    control_json_run(&result->rows[i].run) :
		    control_json_outcome(&result->rows[i].outcome));
	return rows;
}

static void
on_history(void *arg, struct query_result *result)
{
	struct request *request = arg;
	struct history *history = request->state;
	struct message *reply;

	if (!request_resume(request))
		return;
	if (result->err.text[0] != '\0') {
		request_refuse(request, CONTROL_REFUSED, &result->err, NULL);
		return;
	}
	if (doubts_name(request, result)) {
		if (!is_narrow(&history->spec)) {
			request_refuse_no_job(request,
			    history->spec.job_name);
			return;
		}
		history->spec = (struct query_spec){
			.job_name = history->spec.job_name,
			.since = INT64_MIN,
			.limit = 1,
		};
		history->probing = true;
		ask_history(request);
		return;
	}
	reply = message_object();
	message_set(reply, "rows", history->probing ? message_array() :
	    history_rows(result));
	message_set_string(reply, "more", !history->probing &&
	    result->more[0] != '\0' ? result->more : NULL);
	request_reply(request, reply);
}

static void
ask_history(struct request *request)
{
	struct history *history = request->state;

	request_await(request);
	if (query_submit(request->context->query, &history->spec, on_history,
	    request))
		return;
	request_await_not(request);
	request_refuse_busy(request);
}

void
control_run_history(struct request *request)
{
	const struct message *params = request->params;
	double since = message_get_number(params, "since", NAN);
	struct history *history = xcalloc(1, sizeof(*history));

	history->spec = (struct query_spec){
		.job_name = message_get_string(params, "job"),
		.failed = message_get_bool(params, "failed", false),
		.since = isnan(since) ? INT64_MIN :
		    (int64_t)llround(since * (double)USEC_PER_SEC),
		.before = message_get_string(params, "before"),
		.limit = (size_t)message_get_integer(params, "count",
		    HISTORY_DEFAULT),
	};
	request_set_state(request, history, free);
	if (history->spec.before != NULL &&
	    strlen(history->spec.before) >= QUERY_KEY_MAX)
		request_refusef(request, CONTROL_PARAMS, "run.history: "
		    "\"before\" is the \"more\" of the page before");
	else
		ask_history(request);
}

/* --- run.logs --- */

struct logs {
	struct run_row	 row;		/* whose output; a copy */
	bool		 live;		/* it is not over yet */
	int64_t		 offset;	/* asked for */
};

static void
logs_free(void *state)
{
	struct logs *logs = state;

	run_row_release(&logs->row);
	free(logs);
}

static void
on_output(void *arg, struct files_output *output)
{
	struct request *request = arg;
	const struct logs *logs = request->state;
	struct strbuf text = STRBUF_INIT;
	struct message *reply;

	if (!request_resume(request))
		return;
	if (output->err.text[0] != '\0') {
		request_refuse(request, CONTROL_REFUSED, &output->err, NULL);
		return;
	}
	reply = message_object();
	message_set(reply, "run", control_json_run(&logs->row));
	base64_encode(&text, output->data, output->len);
	message_set_string(reply, "data", text.buf);
	strbuf_release(&text);
	message_set_integer(reply, "offset", output->next);
	message_set_bool(reply, "end", output->end);
	if (logs->live) {
		message_set_null(reply, "total");
		message_set_null(reply, "dropped");
	} else {
		message_set_integer(reply, "total", logs->row.output_bytes);
		message_set_integer(reply, "dropped",
		    logs->row.output_dropped);
	}
	request_reply(request, reply);
}

static void
read_output(struct request *request, const struct run_row *row)
{
	struct logs *logs = request->state;

	run_row_copy(&logs->row, row);
	logs->live = !run_state_is_final(row->state);
	request_await(request);
	if (files_read_output(request->context->files, logs->row.id,
	    logs->offset, on_output, request))
		return;
	request_await_not(request);
	request_refusef(request, CONTROL_REFUSED, "too much is being read "
	    "from disk already; try again");
}

static void
on_run_found(void *arg, struct query_result *result)
{
	struct request *request = arg;
	const struct message *params = request->params;

	if (!request_resume(request))
		return;
	if (result->err.text[0] != '\0')
		request_refuse(request, CONTROL_REFUSED, &result->err, NULL);
	else if (result->n_rows == 0 || !result->rows[0].is_run)
		request_refuse_no_run(request, message_get_string(params, "job"),
		    (uint64_t)message_get_integer(params, "run", 0),
		    message_get_bool(params, "failed", false));
	else
		read_output(request, &result->rows[0].run);
}

/* The run whose output is wanted, if it is not over; or NULL. */
static const struct run_row *
find_live(const struct request *request, const char *name, uint64_t run_id,
    bool failed)
{
	const struct job *job;
	const struct run *run;

	if (run_id != 0)
		return scheduler_find_run(request->context->scheduler,
		    run_id);
	job = jobtable_find(request->context->jobs, name);
	if (job == NULL || failed)
		return NULL;
	run = TAILQ_LAST(&job->runs, run_list);
	return run != NULL ? &run->row : NULL;
}

void
control_run_logs(struct request *request)
{
	struct query_spec spec = { .since = INT64_MIN, .limit = 1 };
	const struct run_row *live;
	struct logs *logs;

	if (!request_names_one(request, &spec.job_name, &spec.run_id))
		return;
	logs = xcalloc(1, sizeof(*logs));
	logs->offset = message_get_integer(request->params, "offset", 0);
	request_set_state(request, logs, logs_free);
	spec.failed = message_get_bool(request->params, "failed", false) &&
	    spec.job_name != NULL;
	live = find_live(request, spec.job_name, spec.run_id, spec.failed);
	if (live != NULL) {
		read_output(request, live);
		return;
	}
	spec.last_ended = spec.job_name != NULL;
	request_await(request);
	if (query_submit(request->context->query, &spec, on_run_found,
	    request))
		return;
	request_await_not(request);
	request_refuse_busy(request);
}
