/* SPDX-License-Identifier: ISC */
/*
 * run.wait.  It enters its list before it asks the ledger: the scheduler
 * tells of an end only after that is on disk, so an end is either told or
 * found, whatever overtakes what.
 */
#include "config.h"

#include "daemon/control_internal.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/xmalloc.h"

#define WAIT_TRIES	50	/* looks for an end that nobody has told of */

struct wait {
	uint64_t	 run_id;	/* waited for; 0: the job's last run */
	struct run_row	 row;		/* it has ended so; id 0: not yet */
	int		 tries;		/* looks at the ledger */
};

static void	ask_wait(struct request *, const char *, uint64_t);

static void
wait_free(void *state)
{
	struct wait *wait = state;

	run_row_release(&wait->row);
	free(wait);
}

void
control_run_wait_ended(struct control_context *context,
    const struct run_row *row)
{
	struct request *request, *next;

	for (request = TAILQ_FIRST(&context->run_waits); request != NULL;
	    request = next) {
		struct wait *wait = request->state;

		next = TAILQ_NEXT(request, link);
		if (wait->run_id != row->id || wait->row.id != 0)
			continue;
		if (request->awaiting)
			run_row_copy(&wait->row, row);
		else
			request_reply(request, control_json_run(row));
	}
}

static void
wait_again(struct request *request)
{
	const struct wait *wait = request->state;

	request_wait_in(request, &request->context->run_waits);
	ask_wait(request, NULL, wait->run_id);
}

/*
 * The ledger says that it is not over.  Either its end will be told, or the
 * scheduler has done with it and the row is on its way to the disk.
 */
static void
wait_on(struct request *request)
{
	struct wait *wait = request->state;

	if (request->session == NULL) {
		request_free(request);
	} else if (scheduler_find_run(request->context->scheduler,
	    wait->run_id) == NULL) {
		if (++wait->tries > WAIT_TRIES) {
			request_refusef(request, CONTROL_REFUSED, "run %"
			    PRIu64 " is not over in the ledger, but nobody "
			    "runs it; see cronctl history", wait->run_id);
			return;
		}
		request_leave_list(request);
		request_defer(request, wait_again);
	}
}

static void
on_wait_found(void *arg, struct query_result *result)
{
	struct request *request = arg;
	const struct wait *wait = request->state;
	const struct run_row *row = result->n_rows > 0 &&
	    result->rows[0].is_run ? &result->rows[0].run : NULL;

	if (!request_resume(request))
		return;
	if (wait->row.id != 0)
		request_reply(request, control_json_run(&wait->row));
	else if (result->err.text[0] != '\0')
		request_refuse(request, CONTROL_REFUSED, &result->err, NULL);
	else if (row == NULL)
		request_refuse_no_run(request, message_get_string(request->params,
		    "job"), wait->run_id, false);
	else if (run_state_is_final(row->state))
		request_reply(request, control_json_run(row));
	else
		wait_on(request);
}

static void
ask_wait(struct request *request, const char *job, uint64_t run_id)
{
	struct query_spec spec = {
		.job_name = job,
		.run_id = run_id,
		.last_ended = job != NULL,
		.since = INT64_MIN,
		.limit = 1,
	};

	request_await(request);
	if (query_submit(request->context->query, &spec, on_wait_found,
	    request))
		return;
	request_await_not(request);
	request_refuse_busy(request);
}

/* Of a job the oldest run that is not over; 0: none is. */
static uint64_t
live_run_of(const struct job *job)
{
	const struct run *run = TAILQ_FIRST(&job->runs);
	const struct waiting *waiting;

	if (run != NULL)
		return run->row.id;
	TAILQ_FOREACH(waiting, &job->waiting, of_job)
		if (waiting->manual != NULL)
			return waiting->manual->id;
	return 0;
}

void
control_run_wait(struct request *request)
{
	struct control_context *context = request->context;
	const struct job *job;
	const char *name;
	struct wait *wait;
	uint64_t run_id;

	if (!request_names_one(request, &name, &run_id))
		return;
	if (name != NULL) {
		job = jobtable_find(context->jobs, name);
		run_id = job != NULL ? live_run_of(job) : 0;
		/* Until its end is on disk the scheduler still knows it. */
		if (run_id == 0 && job != NULL && job->last_run != NULL &&
		    scheduler_find_run(context->scheduler,
		    job->last_run->id) != NULL)
			run_id = job->last_run->id;
		if (run_id == 0 && job != NULL && job->last_run != NULL) {
			request_reply(request,
			    control_json_run(job->last_run));
			return;
		}
	}
	wait = xcalloc(1, sizeof(*wait));
	wait->run_id = run_id;
	request_set_state(request, wait, wait_free);
	if (run_id == 0) {
		ask_wait(request, name, 0);
		return;
	}
	request_wait_in(request, &context->run_waits);
	if (scheduler_find_run(context->scheduler, run_id) == NULL)
		ask_wait(request, NULL, run_id);
}
