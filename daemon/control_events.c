/* SPDX-License-Identifier: ISC */
/*
 * events.follow: the events of the store as notifications on a connection.
 *
 * A follower reads pages of what is committed, one after the other, through
 * the query helper, and waits when it has all of it until the store says that
 * there is more.  The next page is asked for only when its client has read
 * what was sent, so that one that doesn't read holds a page and no more; what
 * retention takes meanwhile is told as lost.  Since every event comes out of
 * the database in the order of its number, there is no seam between the past
 * and what happens now, where one could be missed or told twice.
 */
#include "config.h"

#include "daemon/control_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/xmalloc.h"

#define UNREAD_MAX	(64 * 1024)	/* more waiting: no further page */

struct follower {
	struct control_context *context; /* of the daemon */
	void		*session;	/* its connection; NULL: has gone */
	int64_t		 next;		/* number of the event it needs next */
	int64_t		 end;		/* the last one; INT64_MAX: none is */
	bool		 asking;	/* a page is on its way */
	TAILQ_ENTRY(follower) link;	/* in context->followers */
};

/* --- notifications --- */

/* Takes params. */
static void
notify(const struct follower *f, const char *method, struct message *params)
{
	struct message *m = message_object();
	char *text;

	message_set_string(m, "jsonrpc", "2.0");
	message_set_string(m, "method", method);
	message_set(m, "params", params);
	text = message_format(m);
	message_free(m);
	f->context->send(f->session, text);
	free(text);
}

static void
add_member(void *arg, const char *key, const struct message *value)
{
	message_set(arg, key, message_dup(value));
}

static void
send_event(const struct follower *f, const struct event_row *row)
{
	struct message *m = message_object(), *body;
	struct error err;

	message_set_integer(m, "seq", row->seq);
	control_set_seconds(m, "at", row->at, true);
	message_set_string(m, "kind", event_kind_name(row->kind));
	message_set_string(m, "job", row->job_name);
	if (row->job_id != 0)
		message_set_integer(m, "job_id", row->job_id);
	else
		message_set_null(m, "job_id");
	if (row->run_id != 0)
		message_set_integer(m, "run", (int64_t)row->run_id);
	else
		message_set_null(m, "run");
	/* Written by us, but read from a file. */
	body = message_parse(row->body, strlen(row->body), &err);
	if (body != NULL && message_is_object(body))
		message_each(body, add_member, m);
	message_free(body);
	notify(f, "event", m);
}

static void
send_lost(const struct follower *f, int64_t count)
{
	struct message *m = message_object();

	message_set_integer(m, "count", count);
	message_set_integer(m, "next", f->next);
	notify(f, "events.lost", m);
}

/* --- pages --- */

static void	go_on(struct follower *);

/* The stream is over; error: a sentence, or NULL. */
static void
end(struct follower *f, const char *error)
{
	struct control_context *context = f->context;
	void *session = f->session;
	struct message *m = message_object();

	message_set_integer(m, "next", f->next);
	message_set_string(m, "error", error);
	notify(f, "events.end", m);
	context->set_follower(session, NULL);
	TAILQ_REMOVE(&context->followers, f, link);
	free(f);
	/* Nothing of this session is touched after that. */
	(void)context->flush(session);
}

/* What retention has taken before it was read. */
static void
pass_over(struct follower *f, int64_t to)
{
	int64_t count = to - f->next;

	if (count <= 0)
		return;
	f->next = to;
	send_lost(f, count);
}

static void
send_page(struct follower *f, const struct query_result *result,
    int64_t asked_to)
{
	for (size_t i = 0; i < result->n_events; i++) {
		pass_over(f, result->events[i].seq);
		send_event(f, &result->events[i]);
		f->next = result->events[i].seq + 1;
	}
	if (result->n_events == 0)
		pass_over(f, asked_to + 1);
}

/* What a page on its way needs; the follower may go before it comes. */
struct page {
	struct follower	*follower;	/* that has asked */
	int64_t		 to;		/* for no more than up to here */
};

static void
on_page(void *arg, struct query_result *result)
{
	struct page *page = arg;
	struct follower *f = page->follower;
	struct control_context *context = f->context;
	int64_t to = page->to;

	free(page);
	context->awaited--;
	f->asking = false;
	if (f->session == NULL) {
		free(f);
		if (context->closed && context->awaited == 0)
			free(context);
		return;
	}
	if (result->err.text[0] != '\0') {
		end(f, result->err.text);
		return;
	}
	send_page(f, result, to);
	if (context->flush(f->session))
		go_on(f);
}

/* The next page, if there is one and its client reads. */
static void
ask(struct follower *f)
{
	struct control_context *context = f->context;
	int64_t newest = store_event_seq(context->store);
	struct query_spec spec = {
		.events = true,
		.first_seq = f->next,
		.last_seq = f->end < newest ? f->end : newest,
		.limit = QUERY_PAGE,
	};
	struct page *page;

	if (f->asking || spec.first_seq > spec.last_seq ||
	    context->unread(f->session) > UNREAD_MAX)
		return;
	page = xmalloc(sizeof(*page));
	*page = (struct page){ f, spec.last_seq };
	if (query_submit(context->query, &spec, on_page, page)) {
		f->asking = true;
		context->awaited++;
	} else {
		/* Too many wait; the next turn tries again. */
		free(page);
		context->events_moved = true;
	}
}

/* The follower may be gone after that, and its session too. */
static void
go_on(struct follower *f)
{
	if (f->asking)
		return;
	if (f->next > f->end)
		end(f, NULL);
	else
		ask(f);
}

void
control_events_ready(struct follower *f)
{
	/* Not now: its session is being worked for. */
	f->context->events_moved = true;
}

void
control_events_drop(struct follower *f)
{
	TAILQ_REMOVE(&f->context->followers, f, link);
	f->session = NULL;
	if (!f->asking)
		free(f);
}

void
control_events_moved(void *arg)
{
	struct control_context *context = arg;

	context->events_moved = true;
}

void
control_events_turn(struct control_context *context)
{
	struct follower *f, *next;

	if (!context->events_moved)
		return;
	context->events_moved = false;
	for (f = TAILQ_FIRST(&context->followers); f != NULL; f = next) {
		next = TAILQ_NEXT(f, link);
		go_on(f);
	}
}

/* --- the request --- */

struct following {
	int64_t	from;		/* asked for */
	bool	follow;		/* go on with what comes */
};

/* Answers, then begins to send. */
static void
begin(struct request *request, int64_t next, int64_t lost)
{
	struct control_context *context = request->context;
	const struct following *following = request->state;
	int64_t newest = store_event_seq(context->store);
	struct follower *f;
	struct message *m;

	if (request->session == NULL) {
		request_free(request);
		return;
	}
	f = xcalloc(1, sizeof(*f));
	f->context = context;
	f->session = request->session;
	f->next = next;
	f->end = following->follow ? INT64_MAX : newest;
	m = message_object();
	message_set_integer(m, "next", next);
	message_set_integer(m, "newest", newest);
	message_set_integer(m, "lost", lost);
	TAILQ_INSERT_TAIL(&context->followers, f, link);
	context->set_follower(f->session, f);
	/* A client that has gone takes the follower with it. */
	context->events_moved = true;
	request_reply(request, m);
}

static void
on_oldest(void *arg, struct query_result *result)
{
	struct request *request = arg;
	const struct following *following = request->state;
	int64_t lost = result->oldest_seq - following->from;

	if (!request_resume(request))
		return;
	if (result->err.text[0] != '\0')
		request_refuse(request, CONTROL_REFUSED, &result->err, NULL);
	else if (lost > 0)
		begin(request, result->oldest_seq, lost);
	else
		begin(request, following->from, 0);
}

void
control_events_follow(struct request *request)
{
	struct control_context *context = request->context;
	int64_t newest = store_event_seq(context->store);
	struct following *following = xcalloc(1, sizeof(*following));
	struct query_spec spec = { .events = true, .limit = 1 };

	request_set_state(request, following, free);
	following->from = message_get_integer(request->params, "from", 0);
	following->follow = message_get_bool(request->params, "follow",
	    false);
	if (context->has_follower(request->session)) {
		request_refusef(request, CONTROL_REFUSED, "this connection "
		    "follows events already; open another one");
	} else if (following->from > newest + 1) {
		request_refusef(request, CONTROL_REFUSED, "there is no event "
		    "%" PRId64 " yet; the newest is %" PRId64,
		    following->from, newest);
	} else if (following->from == 0) {
		begin(request, newest + 1, 0);
	} else {
		request_await(request);
		if (query_submit(context->query, &spec, on_oldest, request))
			return;
		request_await_not(request);
		request_refuse_busy(request);
	}
}
