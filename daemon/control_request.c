/* SPDX-License-Identifier: ISC */
/*
 * From a line to a method, and from a method to the line that answers
 * (doc/protocol.md, JSON-RPC 2.0).  Everything about a request that can be
 * checked by a table is checked here, before its method sees it: who asks,
 * and the names, types and ranges of parameters.
 *
 * Each request ends by exactly one answer and is freed by it.  One that has
 * no id is carried out just the same, and not answered.
 */
#include "config.h"

#include "daemon/control_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/nearest.h"
#include "common/xmalloc.h"

#define TIME_MIN	TIMESTAMP_FIRST
#define TIME_MAX	TIMESTAMP_LAST
#define SECONDS_MAX	INT64_C(1000000000)
#define EXACT_MAX	(INT64_C(1) << 53)	/* a double holds these */

static const struct control_param add_params[] = {
	{ "name", PARAM_STRING, true, 0, 0 },
	{ "definition", PARAM_OBJECT, true, 0, 0 },
	{ "replace", PARAM_BOOL, false, 0, 0 },
	{ NULL, 0, false, 0, 0 }
};
static const struct control_param remove_params[] = {
	{ "job", PARAM_STRING, true, 0, 0 },
	{ "running", PARAM_STRING, false, 0, 0 },
	{ NULL, 0, false, 0, 0 }
};
static const struct control_param list_params[] = {
	{ "after", PARAM_STRING, false, 0, 0 },
	{ "limit", PARAM_INTEGER, false, 1, QUERY_PAGE },
	{ "pattern", PARAM_STRING, false, 0, 0 },
	{ "state", PARAM_STRING, false, 0, 0 },
	{ "tag", PARAM_STRING, false, 0, 0 },
	{ "owner", PARAM_INTEGER, false, 0, UINT32_MAX },
	{ "failing", PARAM_BOOL, false, 0, 0 },
	{ NULL, 0, false, 0, 0 }
};
static const struct control_param show_params[] = {
	{ "job", PARAM_STRING, true, 0, 0 },
	{ NULL, 0, false, 0, 0 }
};
static const struct control_param next_params[] = {
	{ "job", PARAM_STRING, true, 0, 0 },
	{ "count", PARAM_INTEGER, false, 1, 1000 },
	{ "from", PARAM_NUMBER, false, TIME_MIN, TIME_MAX },
	{ "to", PARAM_NUMBER, false, TIME_MIN, TIME_MAX },
	{ NULL, 0, false, 0, 0 }
};
static const struct control_param run_params[] = {
	{ "job", PARAM_STRING, true, 0, 0 },
	{ "force", PARAM_BOOL, false, 0, 0 },
	{ "env", PARAM_OBJECT, false, 0, 0 },
	{ NULL, 0, false, 0, 0 }
};
static const struct control_param history_params[] = {
	{ "job", PARAM_STRING, false, 0, 0 },
	{ "failed", PARAM_BOOL, false, 0, 0 },
	{ "since", PARAM_NUMBER, false, TIME_MIN, TIME_MAX },
	{ "count", PARAM_INTEGER, false, 1, QUERY_PAGE },
	{ "before", PARAM_STRING, false, 0, 0 },
	{ NULL, 0, false, 0, 0 }
};
static const struct control_param logs_params[] = {
	{ "job", PARAM_STRING, false, 0, 0 },
	{ "run", PARAM_INTEGER, false, 1, INT64_MAX },
	{ "failed", PARAM_BOOL, false, 0, 0 },
	{ "offset", PARAM_INTEGER, false, 0, EXACT_MAX },
	{ NULL, 0, false, 0, 0 }
};
static const struct control_param wait_params[] = {
	{ "job", PARAM_STRING, false, 0, 0 },
	{ "run", PARAM_INTEGER, false, 1, INT64_MAX },
	{ NULL, 0, false, 0, 0 }
};
static const struct control_param status_params[] = {
	{ NULL, 0, false, 0, 0 }
};
static const struct control_param reload_params[] = {
	{ "plan", PARAM_BOOL, false, 0, 0 },
	{ NULL, 0, false, 0, 0 }
};
static const struct control_param stop_params[] = {
	{ "wait", PARAM_BOOL, false, 0, 0 },
	{ "timeout", PARAM_NUMBER, false, 0, SECONDS_MAX },
	{ NULL, 0, false, 0, 0 }
};

static const struct control_method methods[] = {
	{ "job.add", ACCESS_FULL, true, add_params, control_job_add },
	{ "job.remove", ACCESS_FULL, false, remove_params,
	    control_job_remove },
	{ "job.list", ACCESS_FULL, false, list_params, control_job_list },
	{ "job.show", ACCESS_FULL, false, show_params, control_job_show },
	{ "job.next", ACCESS_FULL, false, next_params, control_job_next },
	{ "job.run", ACCESS_FULL, false, run_params, control_job_run },
	{ "run.history", ACCESS_FULL, false, history_params,
	    control_run_history },
	{ "run.logs", ACCESS_FULL, false, logs_params, control_run_logs },
	{ "run.wait", ACCESS_FULL, false, wait_params, control_run_wait },
	{ "daemon.status", ACCESS_STRANGER, false, status_params,
	    control_daemon_status },
	{ "daemon.reload", ACCESS_FULL, false, reload_params,
	    control_daemon_reload },
	{ "daemon.stop", ACCESS_FULL, false, stop_params,
	    control_daemon_stop },
	{ NULL, 0, false, NULL, NULL }
};
#define N_METHODS (sizeof(methods) / sizeof(methods[0]) - 1)

const struct control_method *
control_methods(void)
{
	return methods;
}

/* --- answers --- */

static struct message *
envelope(const struct message *id)
{
	struct message *m = message_object();

	message_set_string(m, "jsonrpc", "2.0");
	message_set(m, "id", id != NULL ? message_dup(id) : NULL);
	return m;
}

static struct message *
error_object(enum control_error code, const char *sentence,
    struct message *data)
{
	struct message *m = message_object();

	message_set_integer(m, "code", code);
	message_set_bytes(m, "message", sentence, strlen(sentence));
	if (data != NULL)
		message_set(m, "data", data);
	return m;
}

char *
request_error_text(enum control_error code, const char *sentence)
{
	struct message *m = envelope(NULL);
	char *text;

	message_set(m, "error", error_object(code, sentence, NULL));
	text = message_format(m);
	message_free(m);
	return text;
}

static void
answer_error(struct control_context *context, void *session,
    enum control_error code, const char *sentence)
{
	char *text = request_error_text(code, sentence);

	context->answer(session, text);
	free(text);
}

/* Takes value; frees the request. */
static void
end(struct request *request, const char *key, struct message *value)
{
	struct control_context *context = request->context;
	void *session = request->session;
	struct message *m;
	char *text = NULL;

	assert(!request->awaiting);
	if (session != NULL && request->id != NULL) {
		m = envelope(request->id);
		message_set(m, key, value);
		text = message_format(m);
		message_free(m);
	} else {
		message_free(value);
	}
	request_free(request);
	if (session != NULL)
		context->answer(session, text);
	free(text);
}

void
request_reply(struct request *request, struct message *result)
{
	end(request, "result", result);
}

void
request_refuse(struct request *request, enum control_error code,
    const struct error *err, struct message *data)
{
	end(request, "error", error_object(code, err->text, data));
}

void
request_refusef(struct request *request, enum control_error code,
    const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	end(request, "error", error_object(code, text, NULL));
	free(text);
}

/* --- a request's life --- */

void
request_set_state(struct request *request, void *state,
    void (*release)(void *))
{
	request->state = state;
	request->release = release;
}

void
request_await(struct request *request)
{
	assert(!request->awaiting);
	request->awaiting = true;
	request->context->awaited++;
}

void
request_await_not(struct request *request)
{
	assert(request->awaiting);
	request->awaiting = false;
	request->context->awaited--;
}

bool
request_resume(struct request *request)
{
	struct control_context *context = request->context;

	request_await_not(request);
	if (!context->closed)
		return true;
	request_free(request);
	if (context->awaited == 0)
		free(context);
	return false;
}

void
request_wait_in(struct request *request, struct request_list *list)
{
	assert(request->list == NULL);
	request->list = list;
	TAILQ_INSERT_TAIL(list, request, link);
}

void
request_leave_list(struct request *request)
{
	if (request->list != NULL)
		TAILQ_REMOVE(request->list, request, link);
	request->list = NULL;
}

void
request_defer(struct request *request, void (*again)(struct request *))
{
	request->again = again;
	request_wait_in(request, &request->context->deferred);
}

void
request_retry_deferred(struct control_context *context)
{
	struct request *request,
	    *last = TAILQ_LAST(&context->deferred, request_list);

	/* What defers itself once more goes behind the last. */
	while (last != NULL) {
		request = TAILQ_FIRST(&context->deferred);
		if (request == last)
			last = NULL;
		request_leave_list(request);
		request->again(request);
	}
}

bool
request_only_waits(const struct request *request)
{
	return !request->awaiting && request->list != NULL &&
	    request->list != &request->context->deferred;
}

void
request_abandon(struct request *request)
{
	request->session = NULL;
	if (!request->awaiting)
		request_free(request);
}

void
request_free(struct request *request)
{
	request_leave_list(request);
	if (request->release != NULL)
		request->release(request->state);
	message_free(request->whole);
	free(request);
}

/* --- from a line --- */

static const char *
method_name(const void *arg, size_t i)
{
	const struct control_method *table = arg;

	return table[i].name;
}

static const struct control_method *
find_method(const char *name)
{
	for (size_t i = 0; i < N_METHODS; i++)
		if (strcmp(methods[i].name, name) == 0)
			return &methods[i];
	return NULL;
}

static bool
is_number(const struct message *object, const char *key)
{
	return !isnan(message_get_number(object, key, NAN));
}

/* JSON-RPC 2.0, 4: a string, a number or null; null counts as an id here. */
static bool
is_id(const struct message *whole)
{
	const struct message *id = message_get(whole, "id");

	return id == NULL || message_is_null(id) || message_is_string(id) ||
	    is_number(whole, "id");
}

/* The sentence that says what is wrong with it as a request; or NULL. */
static const char *
request_fault(const struct message *whole)
{
	const char *version;

	if (message_is_array(whole))
		return "batches are not taken; send each request on a line "
		    "of its own";
	if (!message_is_object(whole))
		return "a request is an object with \"jsonrpc\", \"method\" "
		    "and, for an answer, \"id\"";
	version = message_get_string(whole, "jsonrpc");
	if (version == NULL || strcmp(version, "2.0") != 0)
		return "a request has \"jsonrpc\":\"2.0\"";
	if (message_get_string(whole, "method") == NULL)
		return "a request names its \"method\"";
	if (!is_id(whole))
		return "\"id\" is a string or a number";
	return NULL;
}

struct request *
request_read(struct control_context *context, void *session,
    const struct access_peer *peer, const char *line, size_t len)
{
	struct request *request;
	struct message *whole;
	struct error err;
	const char *fault;

	whole = message_parse(line, len, &err);
	if (whole == NULL) {
		answer_error(context, session, CONTROL_NOT_JSON, err.text);
		return NULL;
	}
	fault = request_fault(whole);
	if (fault != NULL) {
		answer_error(context, session, CONTROL_NO_REQUEST, fault);
		message_free(whole);
		return NULL;
	}
	request = xcalloc(1, sizeof(*request));
	request->context = context;
	request->session = session;
	request->uid = peer->uid;
	request->access = access_level_of(peer->uid, context->daemon_uid);
	request->whole = whole;
	request->id = message_get(whole, "id");
	request->params = message_get(whole, "params");
	if (request->params != NULL && message_is_null(request->params))
		request->params = NULL;
	request->method = find_method(message_get_string(whole, "method"));
	if (len > MESSAGE_LINE_MAX && (request->method == NULL ||
	    !request->method->has_definition)) {
		request_refusef(request, CONTROL_NO_REQUEST, "the request "
		    "has %zu bytes; only one that carries a job definition "
		    "may have more than %d", len, MESSAGE_LINE_MAX);
		return NULL;
	}
	return request;
}

/* --- checks by the tables --- */

static const struct control_param *
find_param(const struct control_param *params, const char *name)
{
	for (; params->name != NULL; params++)
		if (strcmp(params->name, name) == 0)
			return params;
	return NULL;
}

static const char *
param_name(const void *arg, size_t i)
{
	const struct control_param *params = arg;

	return params[i].name;
}

struct param_check {
	const struct control_method *method;	/* whose params they are */
	const struct message *params;		/* as given */
	struct error	*err;			/* of the first bad one */
	bool		 failed;		/* err is set */
};

static void
refuse_unknown_param(struct param_check *check, const char *name)
{
	const struct control_param *params = check->method->params;
	char quoted[ERROR_QUOTE_MAX];
	const char *near;
	size_t n = 0;

	while (params[n].name != NULL)
		n++;
	near = nearest_find(name, n, param_name, params);
	error_quote(quoted, name, strlen(name));
	check->failed = true;
	if (near != NULL)
		error_set(check->err, "%s has no parameter %s; did you mean "
		    "\"%s\"?", check->method->name, quoted, near);
	else
		error_set(check->err, "%s has no parameter %s",
		    check->method->name, quoted);
}

static bool
is_in_range(const struct control_param *param, double value)
{
	return value >= (double)param->min && value <= (double)param->max;
}

/* What was wanted in its place; or NULL. */
static const char *
param_fault(const struct control_param *param, const struct message *params,
    const struct message *value)
{
	switch (param->type) {
	case PARAM_STRING:
		return message_is_string(value) ? NULL : "a string";
	case PARAM_BOOL:
		return message_is_bool(value) ? NULL : "true or false";
	case PARAM_OBJECT:
		return message_is_object(value) ? NULL : "an object";
	case PARAM_INTEGER:
		if (!message_is_integer(value))
			return "a whole number";
		break;
	case PARAM_NUMBER:
		if (!is_number(params, param->name))
			return "a number";
		break;
	}
	return is_in_range(param, message_get_number(params, param->name, 0)) ?
	    NULL : "a number in its range";
}

static void
check_param(void *arg, const char *name, const struct message *value)
{
	struct param_check *check = arg;
	const struct control_param *param;
	const char *want;

	if (check->failed)
		return;
	param = find_param(check->method->params, name);
	if (param == NULL) {
		refuse_unknown_param(check, name);
		return;
	}
	if (message_is_null(value))
		return;
	want = param_fault(param, check->params, value);
	if (want == NULL)
		return;
	check->failed = true;
	if (strcmp(want, "a number in its range") == 0)
		error_set(check->err, "%s: \"%s\" is not within %" PRId64
		    "-%" PRId64, check->method->name, name, param->min,
		    param->max);
	else
		error_set(check->err, "%s: \"%s\" must be %s",
		    check->method->name, name, want);
}

static int
check_params(const struct request *request, struct error *err)
{
	struct param_check check = { request->method, request->params, err,
	    false };
	const struct control_param *param;

	if (request->params != NULL) {
		if (!message_is_object(request->params))
			return error_set(err, "%s: \"params\" must be an "
			    "object", request->method->name);
		message_each(request->params, check_param, &check);
		if (check.failed)
			return -1;
	}
	for (param = request->method->params; param->name != NULL; param++) {
		const struct message *value = message_get(request->params,
		    param->name);

		if (param->required &&
		    (value == NULL || message_is_null(value)))
			return error_set(err, "%s needs the parameter \"%s\"",
			    request->method->name, param->name);
	}
	return 0;
}

static void
refuse_method(struct request *request)
{
	const char *name = message_get_string(request->whole, "method");
	const char *near = nearest_find(name, N_METHODS, method_name,
	    methods);
	char quoted[ERROR_QUOTE_MAX];

	error_quote(quoted, name, strlen(name));
	if (near != NULL)
		request_refusef(request, CONTROL_NO_METHOD, "no method %s; "
		    "did you mean %s?", quoted, near);
	else
		request_refusef(request, CONTROL_NO_METHOD, "no method %s",
		    quoted);
}

void
request_run(struct request *request)
{
	struct error err;

	if (request->method == NULL) {
		refuse_method(request);
	} else if (!access_may(request->access, request->method->access)) {
		log_debug("control", "uid=%u refused method=%s",
		    (unsigned)request->uid, request->method->name);
		request_refusef(request, CONTROL_NOT_PERMITTED, "uid %u may "
		    "not call %s; only root and the daemon's own user may",
		    (unsigned)request->uid, request->method->name);
	} else if (check_params(request, &err) == -1) {
		request_refuse(request, CONTROL_PARAMS, &err, NULL);
	} else {
		request->method->run(request);
	}
}

/* --- what several methods ask --- */

void
request_refuse_no_job(struct request *request, const char *name)
{
	const char *near = jobtable_nearest(request->context->jobs, name);
	char quoted[ERROR_QUOTE_MAX];

	error_quote(quoted, name, strlen(name));
	if (near != NULL)
		request_refusef(request, CONTROL_NOT_FOUND, "no job %s; did "
		    "you mean %s?", quoted, near);
	else
		request_refusef(request, CONTROL_NOT_FOUND, "no job %s; "
		    "cronctl list shows them all", quoted);
}

struct job *
request_job(struct request *request, const char *name)
{
	struct job *job = jobtable_find(request->context->jobs, name);

	if (job == NULL)
		request_refuse_no_job(request, name);
	return job;
}

bool
request_can_start(struct request *request)
{
	if (!scheduler_is_stopping(request->context->scheduler))
		return true;
	request_refusef(request, CONTROL_STOPPING, "the daemon is stopping "
	    "and takes nothing new; ask again when it is back");
	return false;
}

bool
request_can_store(struct request *request)
{
	struct store_status status;

	if (store_has_room(request->context->store))
		return true;
	store_status(request->context->store, &status);
	request_refusef(request, CONTROL_STORE, "nothing was changed: the "
	    "store %s%s; see cronctl status", status.broken ?
	    "can't write: " : "has too much waiting",
	    status.broken ? status.detail : "");
	return false;
}
