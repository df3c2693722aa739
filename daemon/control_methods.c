/* SPDX-License-Identifier: ISC */
/*
 * The methods of the control socket, as tables: who may call each, and what
 * it takes.  Everything about parameters that a table can say is checked by
 * it, so that a method sees none of a wrong name, type or range.
 *
 * To add a method: its parameters and its row here, its function in one of
 * the control_*.c, its row in doc/protocol.md.
 */
#include "config.h"

#include "daemon/control_internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/nearest.h"

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
static const struct control_param pause_params[] = {
	{ "job", PARAM_STRING, false, 0, 0 },
	{ "all", PARAM_BOOL, false, 0, 0 },
	{ "until", PARAM_NUMBER, false, TIMESTAMP_FIRST, TIMESTAMP_LAST },
	{ "skip", PARAM_INTEGER, false, 1, 100000 },
	{ "note", PARAM_STRING, false, 0, 0 },
	{ NULL, 0, false, 0, 0 }
};
static const struct control_param resume_params[] = {
	{ "job", PARAM_STRING, false, 0, 0 },
	{ "all", PARAM_BOOL, false, 0, 0 },
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
static const struct control_param kill_params[] = {
	{ "job", PARAM_STRING, false, 0, 0 },
	{ "run", PARAM_INTEGER, false, 1, INT64_MAX },
	{ "signal", PARAM_STRING, false, 0, 0 },
	{ NULL, 0, false, 0, 0 }
};
static const struct control_param follow_params[] = {
	{ "from", PARAM_INTEGER, false, 1, EXACT_MAX },
	{ "follow", PARAM_BOOL, false, 0, 0 },
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
	{ "job.pause", ACCESS_FULL, false, pause_params, control_job_pause },
	{ "job.resume", ACCESS_FULL, false, resume_params,
	    control_job_resume },
	{ "job.run", ACCESS_FULL, false, run_params, control_job_run },
	{ "run.history", ACCESS_FULL, false, history_params,
	    control_run_history },
	{ "run.logs", ACCESS_FULL, false, logs_params, control_run_logs },
	{ "run.wait", ACCESS_FULL, false, wait_params, control_run_wait },
	{ "run.kill", ACCESS_FULL, false, kill_params, control_run_kill },
	{ "events.follow", ACCESS_FULL, false, follow_params,
	    control_events_follow },
	{ "daemon.status", ACCESS_STRANGER, false, status_params,
	    control_daemon_status },
	{ "daemon.reload", ACCESS_FULL, false, reload_params,
	    control_daemon_reload },
	{ "daemon.stop", ACCESS_FULL, false, stop_params,
	    control_daemon_stop },
	{ NULL, 0, false, NULL, NULL }
};
#define N_METHODS (sizeof(methods) / sizeof(methods[0]) - 1)

static const char *
method_name(const void *arg, size_t i)
{
	const struct control_method *table = arg;

	return table[i].name;
}

const struct control_method *
control_method_find(const char *name)
{
	for (size_t i = 0; i < N_METHODS; i++)
		if (strcmp(methods[i].name, name) == 0)
			return &methods[i];
	return NULL;
}

const char *
control_method_nearest(const char *name)
{
	return nearest_find(name, N_METHODS, method_name, methods);
}

/* --- checks by the tables --- */

static bool
is_number(const struct message *object, const char *key)
{
	return !isnan(message_get_number(object, key, NAN));
}

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

int
control_method_check(const struct control_method *method,
    const struct message *params, struct error *err)
{
	struct param_check check = { method, params, err, false };
	const struct control_param *param;

	if (params != NULL) {
		if (!message_is_object(params))
			return error_set(err, "%s: \"params\" must be an "
			    "object", method->name);
		message_each(params, check_param, &check);
		if (check.failed)
			return -1;
	}
	for (param = method->params; param->name != NULL; param++) {
		const struct message *value = message_get(params,
		    param->name);

		if (param->required &&
		    (value == NULL || message_is_null(value)))
			return error_set(err, "%s needs the parameter \"%s\"",
			    method->name, param->name);
	}
	return 0;
}
