/* SPDX-License-Identifier: ISC */
/*
 * Frames of the attached daemon.  Answers are appended to the connection and
 * sent at the end of the turn.  A frame that makes no sense is refused or
 * logged, and the next one is read: a newer daemon may say more than we know.
 */
#include "config.h"

#include "worker/worker_internal.h"

#include "common/log.h"
#include "common/protocol.h"
#include "worker/dispatch.h"

#define SIGNAL_MAX 64

static void
tell_list(struct worker *worker, struct connection *connection,
    const struct frame *frame)
{
	size_t n = results_count(worker->results);
	struct protocol_list_run list;

	(void)frame;
	for (size_t i = 0; i < worker->n_runs; i++) {
		run_list(worker->runs[i], &list);
		protocol_encode_list_run(&connection->out, &list);
	}
	for (size_t i = 0; i < n; i++) {
		const struct protocol_ended *ended =
		    results_get(worker->results, i);

		list = (struct protocol_list_run){
			.tag = ended->tag, .state = PROTOCOL_RUN_ENDED,
			.pid = ended->pid, .starttime = ended->starttime,
			.started = ended->started,
		};
		protocol_encode_list_run(&connection->out, &list);
		protocol_encode_ended(&connection->out, ended);
	}
	protocol_encode_numbers(&connection->out, PROTOCOL_LIST_END,
	    worker->n_runs + n, 0);
}

static void
drain(struct worker *worker, struct connection *connection,
    const struct frame *frame)
{
	(void)connection;
	(void)frame;
	worker->draining = true;
}

static void
answer_ping(struct worker *worker, struct connection *connection,
    const struct frame *frame)
{
	struct error err;
	uint64_t a, b;

	(void)worker;
	if (protocol_decode_numbers(frame, &a, &b, &err) == -1)
		log_warning("frames", "PING: %s", err.text);
	else
		protocol_encode_numbers(&connection->out, PROTOCOL_PONG, a,
		    b);
}

/* 0: nothing against it. */
static enum protocol_refusal
refusal(const struct worker *worker, const struct protocol_start *start)
{
	if (worker->draining || worker->terminating)
		return PROTOCOL_REFUSED_DRAINING;
	if (start->not_after != 0 && boottime_now().us > start->not_after)
		return PROTOCOL_REFUSED_TOO_LATE;
	if (worker->n_runs >= worker->max_runs || worker->n_runs +
	    results_count(worker->results) >= WORKER_HELD_MAX)
		return PROTOCOL_REFUSED_FULL;
	return 0;
}

static void
begin_run(struct worker *worker, struct connection *connection,
    const struct frame *frame)
{
	enum protocol_refusal reason;
	struct protocol_start start;
	struct error err;

	if (protocol_decode_start(frame, &start, &err) == -1) {
		log_warning("frames", "run=%llu START: %s", (unsigned long
		    long)protocol_start_run_id(frame), err.text);
		reason = PROTOCOL_REFUSED_BAD;
	} else {
		reason = refusal(worker, &start);
	}
	if (reason != 0)
		protocol_encode_refused(&connection->out,
		    protocol_start_run_id(frame), reason);
	else
		worker_add_run(worker, run_new(&worker->host, &start));
}

static void
tell_started(struct connection *connection, const struct run *run)
{
	struct protocol_started started;

	if (run_started(run, &started))
		protocol_encode_started(&connection->out, &started);
}

static void
act(struct worker *worker, struct connection *connection,
    const struct frame *frame, enum dispatch_action action, uint64_t id,
    uint64_t number)
{
	struct run *run = worker_find_run(worker, id);

	switch (action) {
	case DISPATCH_IGNORE:
		break;
	case DISPATCH_BEGIN:
		begin_run(worker, connection, frame);
		break;
	case DISPATCH_TELL_STARTED:
		tell_started(connection, run);
		break;
	case DISPATCH_TELL_ENDED:
		protocol_encode_ended(&connection->out,
		    results_find(worker->results, id));
		break;
	case DISPATCH_TELL_UNKNOWN:
		protocol_encode_numbers(&connection->out, PROTOCOL_UNKNOWN,
		    id, 0);
		break;
	case DISPATCH_LADDER:
		run_stop(run, PROTOCOL_STOPPER_DAEMON);
		__attribute__((fallthrough));
	case DISPATCH_TELL_STOPPING:
		protocol_encode_numbers(&connection->out, PROTOCOL_STOPPING,
		    id, 0);
		break;
	case DISPATCH_SEND_SIGNAL:
		run_signal(run, (int)number);
		break;
	case DISPATCH_FORGET:
		results_remove(worker->results, id);
		break;
	}
}

static enum dispatch_state
state_of(struct worker *worker, uint64_t id)
{
	struct run *run = worker_find_run(worker, id);

	if (run != NULL && run_is_over(run)) {
		worker_sweep(worker);
		run = NULL;
	}
	if (run != NULL)
		return (enum dispatch_state)run_state(run);
	return results_find(worker->results, id) != NULL ?
	    DISPATCH_ENDED : DISPATCH_NONE;
}

/* Frames about one run go through the table of dispatch.c. */
static void
about_run(struct worker *worker, struct connection *connection,
    const struct frame *frame)
{
	enum dispatch_frame kind =
	    frame->type == PROTOCOL_START ? DISPATCH_START :
	    frame->type == PROTOCOL_STOP ? DISPATCH_STOP :
	    frame->type == PROTOCOL_SIGNAL ? DISPATCH_SIGNAL : DISPATCH_ACK;
	struct error err = { "no run id" };
	uint64_t id, number = 0;

	if (kind == DISPATCH_START)
		id = protocol_start_run_id(frame);
	else if (protocol_decode_numbers(frame, &id, &number, &err) == -1)
		id = 0;
	if (id == 0) {
		log_warning("frames", "a frame of type %u: %s", frame->type,
		    err.text);
		return;
	}
	if (kind == DISPATCH_SIGNAL && (number == 0 || number > SIGNAL_MAX)) {
		log_warning("frames", "run=%llu: %llu is no signal",
		    (unsigned long long)id, (unsigned long long)number);
		return;
	}
	act(worker, connection, frame, dispatch_action(state_of(worker, id),
	    kind), id, number);
}

static const struct {
	enum protocol_type type;	/* frames of a daemon */
	void	(*handle)(struct worker *, struct connection *,
		    const struct frame *);
} handlers[] = {
	{ PROTOCOL_LIST, tell_list },
	{ PROTOCOL_START, about_run },
	{ PROTOCOL_ACK, about_run },
	{ PROTOCOL_STOP, about_run },
	{ PROTOCOL_SIGNAL, about_run },
	{ PROTOCOL_DRAIN, drain },
	{ PROTOCOL_PING, answer_ping },
};
#define HANDLERS	(sizeof handlers / sizeof *handlers)

static void
handle(struct worker *worker, struct connection *connection,
    const struct frame *frame)
{
	for (size_t i = 0; i < HANDLERS; i++) {
		if (handlers[i].type == frame->type) {
			handlers[i].handle(worker, connection, frame);
			return;
		}
	}
	log_warning("frames", "a frame of unknown type %u is skipped",
	    frame->type);
}

void
worker_frames_handle(struct worker *worker, struct connection *connection)
{
	struct error err;
	struct frame frame;
	int found;

	while ((found = connection_next(connection, &frame, &err)) == 1)
		handle(worker, connection, &frame);
	if (found == -1) {
		log_error("frames", "the daemon's connection is closed: %s",
		    err.text);
		connection->ended = true;
	}
}
