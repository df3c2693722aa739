/* SPDX-License-Identifier: ISC */
/*
 * job.pause, job.resume: of one job, of those whose names match a pattern, or
 * of all jobs, later ones too.  They work at once and are answered when their
 * rows are on disk.
 */
#include "config.h"

#include "daemon/control_internal.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/xmalloc.h"

/* The reply, while the rows are on their way. */
struct pausing {
	struct message	*reply;
};

static void
pausing_free(void *state)
{
	struct pausing *p = state;

	message_free(p->reply);
	free(p);
}

static bool
is_pattern(const char *name)
{
	return strpbrk(name, "*?[") != NULL;
}

/*
 * Calls one(request, job, arg) for what "job" names; the number, or 0 after
 * having refused the request.
 */
static size_t
for_named(struct request *request, bool (*one)(struct request *,
    struct job *, const void *arg), const void *arg, struct message *names)
{
	const char *name = message_get_string(request->params, "job");
	struct jobtable *jobs = request->context->jobs;
	struct job *job;
	size_t n = 0;

	if (!is_pattern(name)) {
		job = request_job(request, name);
		if (job == NULL)
			return 0;
		if (one(request, job, arg))
			message_append_string(names, job->def->name);
		return 1;
	}
	for (size_t i = 0; (job = jobtable_at(jobs, i)) != NULL; i++) {
		if (fnmatch(name, job->def->name, 0) != 0)
			continue;
		n++;
		if (one(request, job, arg))
			message_append_string(names, job->def->name);
	}
	if (n == 0)
		request_refuse_no_job(request, name);
	return n;
}

static void
on_stored(void *arg, enum store_result result)
{
	struct request *request = arg;
	struct pausing *p = request->state;
	struct message *reply;

	if (!request_resume(request))
		return;
	if (result != STORE_COMMITTED) {
		request_refusef(request, CONTROL_IN_DOUBT, "it holds now, but "
		    "the store failed while it was being written, and a "
		    "restart may forget it; ask again");
		return;
	}
	reply = p->reply;
	p->reply = NULL;
	request_reply(request, reply);
}

static void
answer_when_stored(struct request *request, struct message *reply)
{
	struct pausing *p = xcalloc(1, sizeof *p);

	p->reply = reply;
	request_set_state(request, p, pausing_free);
	request_await(request);
	store_after_commit(request->context->store, on_stored, request);
}

/* --- job.pause --- */

/* Of the parameters; 0 or -1. */
static int
read_pause(const struct request *request, struct pause_row *row,
    struct error *err)
{
	const struct message *params = request->params;
	double until = message_get_number(params, "until", NAN);

	*row = (struct pause_row){
		.until = isnan(until) ? INT64_MAX :
		    (int64_t)(until * (double)USEC_PER_SEC),
		.skip = message_get_integer(params, "skip", 0),
		.by_uid = request->uid,
		.note = (char *)message_get_string(params, "note"),
	};
	if (row->skip > 0 && !isnan(until))
		return error_set(err, "give either \"until\" or \"skip\", "
		    "not both");
	if (row->until <= walltime_now().us)
		return error_set(err, "the pause would be over already: "
		    "\"until\" has passed");
	return 0;
}

static bool
pause_one(struct request *request, struct job *job, const void *arg)
{
	scheduler_pause(request->context->scheduler, job, arg);
	log_info("control", "uid=%u paused job=%s%s%s",
	    (unsigned)request->uid, job->def->name,
	    ((const struct pause_row *)arg)->note != NULL ? ": " : "",
	    ((const struct pause_row *)arg)->note != NULL ?
	    ((const struct pause_row *)arg)->note : "");
	return true;
}

static void
pause_all(struct request *request, const struct pause_row *row,
    struct message *reply)
{
	scheduler_pause(request->context->scheduler, NULL, row);
	message_set_bool(reply, "all", true);
	log_info("control", "uid=%u paused all jobs%s%s",
	    (unsigned)request->uid, row->note != NULL ? ": " : "",
	    row->note != NULL ? row->note : "");
}

void
control_job_pause(struct request *request)
{
	bool all = message_get_bool(request->params, "all", false);
	bool named = message_get_string(request->params, "job") != NULL;
	struct message *reply, *names;
	struct pause_row row;
	struct error err;

	if (all == named) {
		request_refusef(request, CONTROL_PARAMS, "job.pause: give "
		    "either \"job\" or \"all\"");
		return;
	}
	if (read_pause(request, &row, &err) != 0 ||
	    (all && row.skip > 0 && error_set(&err, "\"skip\" counts the "
	    "occurrences of one job; it can't go with \"all\"") != 0)) {
		request_refuse(request, CONTROL_REFUSED, &err, NULL);
		return;
	}
	if (!request_can_start(request) || !request_can_store(request))
		return;
	reply = message_object();
	names = message_array();
	if (all) {
		pause_all(request, &row, reply);
	} else if (for_named(request, pause_one, &row, names) == 0) {
		message_free(reply);
		message_free(names);
		return;
	}
	message_set(reply, "jobs", names);
	control_json_pause(reply, &row);
	answer_when_stored(request, reply);
}

/* --- job.resume --- */

static bool
resume_one(struct request *request, struct job *job, const void *arg)
{
	(void)arg;
	if (!scheduler_resume(request->context->scheduler, job,
	    request->uid))
		return false;
	log_info("control", "uid=%u resumed job=%s", (unsigned)request->uid,
	    job->def->name);
	return true;
}

void
control_job_resume(struct request *request)
{
	bool all = message_get_bool(request->params, "all", false);
	bool named = message_get_string(request->params, "job") != NULL;
	struct control_context *context = request->context;
	struct message *reply, *names;

	if (all == named) {
		request_refusef(request, CONTROL_PARAMS, "job.resume: give "
		    "either \"job\" or \"all\"");
		return;
	}
	if (!request_can_store(request))
		return;
	reply = message_object();
	names = message_array();
	if (all) {
		message_set_integer(reply, "resumed",
		    (int64_t)scheduler_resume_all(context->scheduler,
		    request->uid));
		log_info("control", "uid=%u resumed all jobs",
		    (unsigned)request->uid);
	} else if (for_named(request, resume_one, NULL, names) == 0) {
		message_free(reply);
		message_free(names);
		return;
	} else {
		message_set_integer(reply, "resumed",
		    (int64_t)message_count(names));
	}
	message_set_bool(reply, "all_paused",
	    scheduler_pause_of_all(context->scheduler) != NULL);
	message_set(reply, "jobs", names);
	answer_when_stored(request, reply);
}
