/* SPDX-License-Identifier: ISC */
/*
 * The control socket: who is connected, and whose turn it is.
 *
 *	callbacks	collect: accept, bytes to lines, what was waited for
 *	dispatch	once a turn: at most DISPATCH_MAX requests, one of each
 *			connection in turn
 *
 * A connection has at most one request in work: the next line is looked at
 * when the one before is answered, so replies come in order, and a client
 * sees what its own requests have done.  A connection whose answers are not
 * read is not worked for.  So what one client can hold is bounded: two
 * buffers and one request.
 *
 * Nothing here waits, and no client is trusted to read, write or go away.
 */
#include "config.h"

#include "daemon/control.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/log.h"
#include "common/xmalloc.h"
#include "daemon/client.h"
#include "daemon/control_internal.h"

#define DISPATCH_MAX	128		/* requests in one turn */
#define ACCEPT_MAX	32		/* connections in one go */
#define BACK_OFF_MS	250		/* when there are no descriptors */
#define PER_UID_MAX	64		/* connections of one uid but root */
#define SPARE_FDS	64		/* descriptors that clients leave us */
#define UNREAD_MAX	(64 * 1024)	/* answers waiting: no more work */

struct session {
	struct control	*control;	/* whose client it is */
	struct client	*client;	/* its connection */
	struct access_peer peer;	/* who is at the other end */
	struct request	*request;	/* in work, or NULL */
	struct follower	*follower;	/* of events, or NULL */
	bool		 working;	/* its line is just being looked at */
	bool		 ready;		/* in control->ready */
	TAILQ_ENTRY(session) link;	/* in control->sessions */
	TAILQ_ENTRY(session) ready_link; /* in control->ready */
};
TAILQ_HEAD(session_list, session);

struct control {
	struct event_base *base;	/* the loop's; borrowed */
	struct control_context *context; /* what methods see */
	struct control_socket socket;	/* that it listens on */
	struct event	*listener;	/* pending while accepting */
	struct event	*back_off;	/* a timer: accept again */
	struct event	*kick;		/* makes the loop turn once more */
	bool		 listening;	/* control_listen was called */
	bool		 dispatching;	/* a turn is at work: no kick needed */
	size_t		 n_sessions;	/* connections */
	size_t		 max_sessions;	/* as many as descriptors allow */
	struct session_list sessions;	/* all connections */
	struct session_list ready;	/* those with something to take */
};

/* --- connections --- */

static void
make_ready(struct session *session)
{
	struct control *control = session->control;

	if (session->ready)
		return;
	session->ready = true;
	TAILQ_INSERT_TAIL(&control->ready, session, ready_link);
	if (!control->dispatching)
		event_active(control->kick, EV_TIMEOUT, 0);
}

static void
make_unready(struct session *session)
{
	if (session->ready)
		TAILQ_REMOVE(&session->control->ready, session, ready_link);
	session->ready = false;
}

static void	accept_again(struct control *);

static void
close_session(struct session *session)
{
	struct control *control = session->control;

	make_unready(session);
	if (session->request != NULL)
		request_abandon(session->request);
	if (session->follower != NULL)
		control_events_drop(session->follower);
	client_free(session->client);
	TAILQ_REMOVE(&control->sessions, session, link);
	control->n_sessions--;
	free(session);
	if (control->listening)
		accept_again(control);
}

/* Sends what waits; false: that can't be, and the session is gone. */
static bool
flush_session(void *arg)
{
	struct session *session = arg;

	if (client_flush(session->client) == 0)
		return true;
	log_info("control", "uid=%u pid=%d is cut off: it reads nothing, and "
	    "%zu bytes wait for it", (unsigned)session->peer.uid,
	    (int)session->peer.pid, client_unread(session->client));
	close_session(session);
	return false;
}

static void
send_to_session(void *arg, const char *text)
{
	client_send(((struct session *)arg)->client, text);
}

static size_t
session_unread(const void *arg)
{
	return client_unread(((const struct session *)arg)->client);
}

static void
set_follower(void *arg, struct follower *follower)
{
	((struct session *)arg)->follower = follower;
}

static bool
has_follower(const void *arg)
{
	return ((const struct session *)arg)->follower != NULL;
}

static void
on_ready(void *arg)
{
	struct session *session = arg;

	/* A change goes on, but what only waits is of no use to somebody who
	 * has gone. */
	if (session->request != NULL && request_only_waits(session->request) &&
	    client_is_deserted(session->client)) {
		request_abandon(session->request);
		session->request = NULL;
	}
	make_ready(session);
}

static void
on_gone(void *arg, const char *why)
{
	struct session *session = arg;
	char *text;

	if (why != NULL) {
		log_info("control", "uid=%u pid=%d is cut off: %s",
		    (unsigned)session->peer.uid, (int)session->peer.pid, why);
		text = request_error_text(CONTROL_NO_REQUEST, why);
		client_send(session->client, text);
		free(text);
		/* As far as the socket takes it at once. */
		(void)client_flush(session->client);
	}
	close_session(session);
}

static const struct client_callbacks client_callbacks = { on_ready, on_gone,
	NULL };

/* A request of this connection is over. */
static void
on_answer(void *arg, const char *text)
{
	struct session *session = arg;

	session->request = NULL;
	if (text != NULL)
		client_send(session->client, text);
	/* Nothing of this session is touched after that by who called. */
	if (!session->working) {
		make_ready(session);
		(void)flush_session(session);
	}
}

/* --- accepting --- */

static void
set_listener(struct control *control, bool pending)
{
	if ((pending ? event_add(control->listener, NULL) :
	    event_del(control->listener)) == -1)
		log_error("control", "can't %s connections",
		    pending ? "accept" : "stop accepting");
}

static void
accept_again(struct control *control)
{
	if (control->n_sessions < control->max_sessions &&
	    !evtimer_pending(control->back_off, NULL))
		set_listener(control, true);
}

static void
on_back_off(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	accept_again(arg);
}

/* Out of descriptors: an accept loop would spin. */
static void
back_off(struct control *control, int errnum)
{
	const struct timeval tv = { 0, BACK_OFF_MS * 1000 };

	log_debug("control", "can't accept a connection: %s",
	    strerrordesc_np(errnum));
	set_listener(control, false);
	if (evtimer_add(control->back_off, &tv) == -1)
		log_error("control", "can't set a timer");
}

static bool
has_too_many(const struct control *control, uid_t uid)
{
	const struct session *session;
	size_t n = 0;

	if (uid == 0)
		return false;
	TAILQ_FOREACH(session, &control->sessions, link)
		n += session->peer.uid == uid;
	return n >= PER_UID_MAX;
}

static void
add_session(struct control *control, int fd)
{
	struct client_callbacks callbacks = client_callbacks;
	struct session *session;
	struct access_peer peer;
	struct error err;

	if (access_peer_of(fd, &peer, &err) == -1) {
		log_warning("control", "%s", err.text);
		close(fd);
		return;
	}
	if (has_too_many(control, peer.uid)) {
		log_debug("control", "uid=%u has %d connections already",
		    (unsigned)peer.uid, PER_UID_MAX);
		close(fd);
		return;
	}
	session = xcalloc(1, sizeof(*session));
	session->control = control;
	session->peer = peer;
	callbacks.arg = session;
	session->client = client_new(control->base, fd, &callbacks);
	if (session->client == NULL) {
		log_error("control", "can't watch a connection");
		free(session);
		return;
	}
	TAILQ_INSERT_TAIL(&control->sessions, session, link);
	if (++control->n_sessions == control->max_sessions)
		set_listener(control, false);
}

static bool
is_want_of_resources(int errnum)
{
	return errnum == EMFILE || errnum == ENFILE || errnum == ENOBUFS ||
	    errnum == ENOMEM;
}

static void
on_accept(evutil_socket_t fd, short what, void *arg)
{
	struct control *control = arg;

	(void)what;
	for (int i = 0; i < ACCEPT_MAX &&
	    control->n_sessions < control->max_sessions; i++) {
		int client = accept4(fd, NULL, NULL,
		    SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (client >= 0) {
			add_session(control, client);
		} else if (is_want_of_resources(errno)) {
			back_off(control, errno);
			return;
		} else if (errno == EAGAIN) {
			return;
		}
		/* Else that one connection has gone wrong: the next. */
	}
}

static void
on_kick(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

/* --- whose turn it is --- */

/* Takes one line; false when that was none. */
static bool
take_line(struct session *session)
{
	struct control_context *context = session->control->context;
	const char *line = NULL;
	size_t len = 0;
	char *text;

	switch (client_take(session->client, &line, &len)) {
	case CLIENT_LINE:
		session->request = request_read(context, session,
		    &session->peer, line, len);
		if (session->request != NULL)
			request_run(session->request);
		return true;
	case CLIENT_TOO_LONG:
		text = request_error_text(CONTROL_NO_REQUEST,
		    "a line is longer than 131072 bytes; nothing was done");
		client_send(session->client, text);
		free(text);
		return true;
	case CLIENT_END:
		client_finish(session->client);
		return false;
	case CLIENT_NOTHING:
		break;
	}
	return false;
}

/* Works for one connection; true when a line was taken. */
static bool
work(struct session *session)
{
	bool taken;

	make_unready(session);
	if (session->follower != NULL)
		control_events_ready(session->follower);
	/* It is made ready again when that has changed. */
	if (session->request != NULL ||
	    client_unread(session->client) > UNREAD_MAX)
		return false;
	session->working = true;
	taken = take_line(session);
	session->working = false;
	if (taken && session->request == NULL)
		make_ready(session);
	if (client_is_over(session->client))
		close_session(session);
	else
		(void)flush_session(session);
	return taken;
}

bool
control_dispatch(struct control *control)
{
	struct session *session;

	control->dispatching = true;
	request_retry_deferred(control->context);
	for (int n = 0; n < DISPATCH_MAX &&
	    (session = TAILQ_FIRST(&control->ready)) != NULL;)
		n += work(session);
	control_events_turn(control->context);
	control->dispatching = false;
	return !TAILQ_EMPTY(&control->ready);
}

void
control_run_ended(struct control *control, const struct run_row *row)
{
	control_run_wait_ended(control->context, row);
}

void
control_stopped(struct control *control)
{
	control_daemon_stop_done(control->context);
}

bool
control_is_flushed(const struct control *control)
{
	const struct session *session;

	TAILQ_FOREACH(session, &control->sessions, link)
		if (client_unread(session->client) > 0)
			return false;
	return true;
}

/* --- from beginning to end --- */

static struct control_context *
make_context(const struct control_options *options)
{
	struct control_context *context = xcalloc(1, sizeof(*context));

	*context = (struct control_context){
		.store = options->store,
		.query = options->query,
		.files = options->files,
		.names = options->names,
		.jobs = options->jobs,
		.scheduler = options->scheduler,
		.reload = options->reload,
		.workers = options->workers,
		.state_dir = options->state_dir,
		.instance = options->instance,
		.user = options->user,
		.daemon_uid = options->daemon_uid,
		.max_running = options->max_running,
		.stop = options->stop,
		.wakeups = options->wakeups,
		.hook_arg = options->arg,
		.answer = on_answer,
		.send = send_to_session,
		.flush = flush_session,
		.unread = session_unread,
		.set_follower = set_follower,
		.has_follower = has_follower,
		.since = boottime_now(),
	};
	TAILQ_INIT(&context->deferred);
	TAILQ_INIT(&context->run_waits);
	TAILQ_INIT(&context->stop_waits);
	TAILQ_INIT(&context->followers);
	store_on_events(context->store, control_events_moved, context);
	return context;
}

static size_t
max_sessions(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == -1 ||
	    limit.rlim_cur < 2 * SPARE_FDS)
		return SPARE_FDS;
	return limit.rlim_cur == RLIM_INFINITY ? SIZE_MAX :
	    (size_t)limit.rlim_cur - SPARE_FDS;
}

static int
make_events(struct control *control, struct error *err)
{
	control->listener = event_new(control->base, control->socket.fd,
	    EV_READ | EV_PERSIST, on_accept, control);
	control->back_off = evtimer_new(control->base, on_back_off, control);
	control->kick = event_new(control->base, -1, 0, on_kick, control);
	if (control->listener == NULL || control->back_off == NULL ||
	    control->kick == NULL)
		return error_set(err, "can't watch the control socket");
	return 0;
}

struct control *
control_new(const struct control_options *options, struct error *err)
{
	struct control *control = xcalloc(1, sizeof(*control));

	control->base = options->base;
	control->context = make_context(options);
	control->max_sessions = max_sessions();
	TAILQ_INIT(&control->sessions);
	TAILQ_INIT(&control->ready);
	if (control_socket_open(&control->socket, options->socket_path,
	    options->socket_mode, options->passed_socket, err) == -1 ||
	    make_events(control, err) == -1) {
		control_free(control);
		return NULL;
	}
	return control;
}

void
control_listen(struct control *control)
{
	control->listening = true;
	accept_again(control);
}

static void
free_event(struct event *event)
{
	if (event != NULL)
		event_free(event);
}

void
control_free(struct control *control)
{
	struct control_context *context;
	struct session *session;
	struct request *request;

	if (control == NULL)
		return;
	context = control->context;
	control->listening = false;
	context->closed = true;
	store_on_events(context->store, NULL, NULL);
	while ((session = TAILQ_FIRST(&control->sessions)) != NULL)
		close_session(session);
	while ((request = TAILQ_FIRST(&context->deferred)) != NULL)
		request_free(request);
	free_event(control->listener);
	free_event(control->back_off);
	free_event(control->kick);
	control_socket_close(&control->socket);
	free(control);
	/* Else the last one that calls back does it. */
	if (context->awaited == 0)
		free(context);
}
