/* SPDX-License-Identifier: ISC */
/*
 * run.kill: the stop ladder, or just a signal, for one run or for all of a
 * job that are not over.  It is answered when what it has dropped is on disk;
 * the end of what runs is told by run.wait and events.follow.
 */
#include "config.h"

#include "daemon/control_internal.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/xmalloc.h"

struct killing {
	const char	*job;		/* the request's; NULL: a run */
	uint64_t	 run_id;	/* the one asked for; 0: a job's */
	int		 signal;	/* 0: the stop ladder */
	struct message	*reached;	/* array of run objects; owned */
	struct message	*missed;	/* array of run objects; owned */
	bool		 dropped;	/* a row of one is on its way */
	bool		 waits;		/* the last one missed only waits */
};

static void
killing_free(void *state)
{
	struct killing *k = state;

	message_free(k->reached);
	message_free(k->missed);
	free(k);
}

static void
on_reached(void *arg, const struct run_row *row)
{
	struct killing *k = arg;

	k->dropped = k->dropped || row->state == RUN_QUEUED;
	if (message_count(k->reached) < CONTROL_LIST_MAX)
		message_append(k->reached, control_json_run(row));
}

static void
on_missed(void *arg, const struct run_row *row)
{
	struct killing *k = arg;

	k->waits = row->state == RUN_QUEUED;
	if (message_count(k->missed) < CONTROL_LIST_MAX)
		message_append(k->missed, control_json_run(row));
}

static void
reply(struct request *request)
{
	struct killing *k = request->state;
	struct message *m = message_object();

	message_set(m, "runs", k->reached);
	message_set(m, "missed", k->missed);
	k->reached = k->missed = NULL;
	request_reply(request, m);
}

static void
on_dropped(void *arg, enum store_result result)
{
	struct request *request = arg;

	if (!request_resume(request))
		return;
	if (result == STORE_COMMITTED)
		reply(request);
	else
		request_refusef(request, CONTROL_IN_DOUBT, "the runs are "
		    "killed, but the store failed to record it; see cronctl "
		    "status");
}

/* There is no such run that is not over: was there ever? */
static void
on_found(void *arg, struct query_result *result)
{
	struct request *request = arg;
	const struct killing *k = request->state;

	if (!request_resume(request))
		return;
	if (result->err.text[0] != '\0')
		request_refuse(request, CONTROL_REFUSED, &result->err, NULL);
	else if (result->n_rows == 0 || !result->rows[0].is_run)
		request_refuse_no_run(request, NULL, k->run_id, false);
	else
		request_refusef(request, CONTROL_REFUSED, "run %" PRIu64
		    " of job %s is over (%s); there is nothing to end",
		    k->run_id, result->rows[0].run.job_name,
		    run_state_name(result->rows[0].run.state));
}

static void
ask_ledger(struct request *request)
{
	const struct killing *k = request->state;
	struct query_spec spec = { .run_id = k->run_id, .since = INT64_MIN,
	    .limit = 1 };

	request_await(request);
	if (query_submit(request->context->query, &spec, on_found, request))
		return;
	request_await_not(request);
	request_refuse_busy(request);
}

static void
refuse_nothing(struct request *request)
{
	const struct killing *k = request->state;

	if (k->job == NULL)
		ask_ledger(request);
	else if (jobtable_find(request->context->jobs, k->job) == NULL)
		request_refuse_no_job(request, k->job);
	else
		request_refusef(request, CONTROL_REFUSED, "job %s has no run "
		    "that is live; cronctl history %s shows how the last "
		    "ones ended", k->job, k->job);
}

static void
refuse_missed(struct request *request)
{
	const struct killing *k = request->state;

	if (k->waits)
		request_refusef(request, CONTROL_REFUSED, "the run only waits "
		    "and has no process yet; kill it without a signal");
	else
		request_refusef(request, CONTROL_REFUSED, "the signal was not "
		    "sent: the worker of the run does not answer now; try "
		    "again, or kill it without a signal");
}

static void
carry_out(struct request *request)
{
	struct killing *k = request->state;
	const struct scheduler_kill spec = {
		.job_name = k->job,
		.run_id = k->run_id,
		.signal = k->signal,
		.by_uid = request->uid,
		.reached = on_reached,
		.missed = on_missed,
		.arg = k,
	};

	scheduler_kill_runs(request->context->scheduler, &spec);
	if (k->dropped) {
		request_await(request);
		store_after_commit(request->context->store, on_dropped,
		    request);
	} else if (message_count(k->reached) > 0) {
		reply(request);
	} else if (message_count(k->missed) > 0) {
		refuse_missed(request);
	} else {
		refuse_nothing(request);
	}
}

void
control_run_kill(struct request *request)
{
	const char *sig = message_get_string(request->params, "signal");
	struct killing *k = xcalloc(1, sizeof(*k));
	struct error err;

	request_set_state(request, k, killing_free);
	k->reached = message_array();
	k->missed = message_array();
	if (!request_names_one(request, &k->job, &k->run_id))
		return;
	if (sig != NULL && jobdef_signal_parse(sig, &k->signal, &err) == -1) {
		error_prefix(&err, "run.kill: signal");
		request_refuse(request, CONTROL_PARAMS, &err, NULL);
	} else if (request_can_store(request)) {
		carry_out(request);
	}
}
