/* SPDX-License-Identifier: ISC */
/*
 * From a line to a method, and from a method to the line that answers
 * (doc/protocol.md, JSON-RPC 2.0).  Each request ends by exactly one answer
 * and is freed by it.  One that has no id is carried out just the same, and
 * not answered.
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
#include "common/xmalloc.h"

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
	request->method = control_method_find(message_get_string(whole, "method"));
	if (len > MESSAGE_LINE_MAX && (request->method == NULL ||
	    !request->method->has_definition)) {
		request_refusef(request, CONTROL_NO_REQUEST, "the request "
		    "has %zu bytes; only one that carries a job definition "
		    "may have more than %d", len, MESSAGE_LINE_MAX);
		return NULL;
	}
	return request;
}

/* --- to its method --- */

static void
refuse_method(struct request *request)
{
	const char *name = message_get_string(request->whole, "method");
	const char *near = control_method_nearest(name);
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
	} else if (control_method_check(request->method,
	    request->params, &err) == -1) {
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

void
request_refuse_busy(struct request *request)
{
	request_refusef(request, CONTROL_REFUSED, "too many questions about "
	    "the past wait already; try again");
}

bool
request_names_one(struct request *request, const char **job, uint64_t *run)
{
	*job = message_get_string(request->params, "job");
	*run = (uint64_t)message_get_integer(request->params, "run", 0);
	if ((*job != NULL) != (*run != 0))
		return true;
	request_refusef(request, CONTROL_PARAMS, "%s needs either \"job\" or "
	    "\"run\"", request->method->name);
	return false;
}

void
request_refuse_no_run(struct request *request, const char *job, uint64_t run,
    bool failed)
{
	if (job == NULL)
		request_refusef(request, CONTROL_NOT_FOUND, "no run %" PRIu64
		    "; cronctl history shows them", run);
	else if (jobtable_find(request->context->jobs, job) == NULL)
		request_refuse_no_job(request, job);
	else
		request_refusef(request, CONTROL_NOT_FOUND, "job %s has no "
		    "%srun that has ended", job, failed ? "failed " : "");
}
