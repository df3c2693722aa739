/* SPDX-License-Identifier: ISC */
/*
 * One connection to a worker.  What a frame leads to is in one table, by the
 * phase the connection is in; a frame that has no place there ends the
 * connection, for after it nothing can be trusted.  Types beyond those we
 * know are skipped: the worker may be of a later version.
 *
 * A START is confirmed by any answer about its run, or by the PONG of a PING
 * that went out after it: frames are worked on in order, so the worker has
 * it, even if preparing the run takes long.
 *
 * Reading goes on after writing has failed: what the worker said before it
 * closed or died is still to be heard.
 */
#include "config.h"

#include <errno.h>
#include <event2/event.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/log.h"
#include "common/xmalloc.h"
#include "daemon/workers_internal.h"

#define READ_BLOCK	(64 * 1024)
#define OUT_MAX		(32 * 1024 * 1024)	/* unsent; it doesn't read */

static const uint8_t actions[WORKERS_PHASES][PROTOCOL_PONG + 1] = {
	[WORKERS_GREETING] = {
		[PROTOCOL_WELCOME] = WORKERS_WELCOME,
		[PROTOCOL_DENY] = WORKERS_DENY,
	},
	[WORKERS_LISTING] = {
		[PROTOCOL_DENY] = WORKERS_DENY,
		[PROTOCOL_LIST_RUN] = WORKERS_LISTED,
		[PROTOCOL_LIST_END] = WORKERS_LIST_END,
		[PROTOCOL_STARTED] = WORKERS_STARTED,
		[PROTOCOL_REFUSED] = WORKERS_REFUSED,
		[PROTOCOL_ENDED] = WORKERS_ENDED,
		[PROTOCOL_STOPPING] = WORKERS_IGNORE,
		[PROTOCOL_UNKNOWN] = WORKERS_UNKNOWN,
		[PROTOCOL_PONG] = WORKERS_PONG,
	},
	[WORKERS_UP] = {
		[PROTOCOL_DENY] = WORKERS_DENY,
		[PROTOCOL_STARTED] = WORKERS_STARTED,
		[PROTOCOL_REFUSED] = WORKERS_REFUSED,
		[PROTOCOL_ENDED] = WORKERS_ENDED,
		[PROTOCOL_STOPPING] = WORKERS_IGNORE,
		[PROTOCOL_UNKNOWN] = WORKERS_UNKNOWN,
		[PROTOCOL_PONG] = WORKERS_PONG,
	},
};

enum workers_action
workers_link_action(enum workers_phase phase, uint8_t type)
{
	if (phase == WORKERS_DOWN || type == 0)
		return WORKERS_BAD;
	return type > PROTOCOL_PONG ? WORKERS_IGNORE :
	    (enum workers_action)actions[phase][type];
}

/* --- answers to START --- */

static void
drop_unconfirmed(struct workers_one *one, size_t i)
{
	one->n_unconfirmed--;
	memmove(one->unconfirmed + i, one->unconfirmed + i + 1,
	    (one->n_unconfirmed - i) * sizeof(*one->unconfirmed));
}

/* It answers: if nothing is overdue any more, it gets runs again. */
static void
look_well(struct workers_one *one)
{
	if (!one->stuck || one->phase != WORKERS_UP ||
	    (one->n_unconfirmed > 0 && boottime_now().us -
	    one->unconfirmed[0].sent >= WORKERS_ANSWER_US))
		return;
	one->stuck = false;
	log_info("workers", "worker %llu answers again",
	    (unsigned long long)one->number);
}

static void
confirm(struct workers_one *one, uint64_t run_id)
{
	for (size_t i = 0; i < one->n_unconfirmed; i++) {
		if (one->unconfirmed[i].run_id == run_id) {
			drop_unconfirmed(one, i);
			break;
		}
	}
	look_well(one);
}

/* --- what frames do; -1: err says what is wrong with it --- */

static int
do_welcome(struct workers_one *one, const struct frame *frame,
    struct error *err)
{
	struct protocol_welcome welcome;

	if (protocol_decode_welcome(frame, &welcome, err) != 0)
		return -1;
	if (welcome.number != one->number) {
		workers_life_foreign(one, "it has another number");
		return 0;
	}
	one->pid = welcome.pid;
	one->phase = WORKERS_LISTING;
	one->n_listed = one->n_owed = 0;
	one->runs.n = 0;
	protocol_encode_numbers(&one->out, PROTOCOL_LIST, 0, 0);
	return 0;
}

static int
do_deny(struct workers_one *one, const struct frame *frame, struct error *err)
{
	const char *reason;

	if (protocol_decode_deny(frame, &reason, err) != 0)
		return -1;
	workers_life_foreign(one, reason);
	return 0;
}

static int
do_listed(struct workers_one *one, const struct frame *frame,
    struct error *err)
{
	const struct workers_callbacks *cb = &one->owner->callbacks;
	struct protocol_list_run run;

	if (protocol_decode_list_run(frame, &run, err) != 0)
		return -1;
	one->n_listed++;
	if (run.state == PROTOCOL_RUN_ENDED) {
		one->n_owed++;
		return 0;
	}
	workers_ids_add(&one->runs, run.tag.run_id);
	cb->listed(cb->arg, one->number, &run);
	return 0;
}

static int
do_list_end(struct workers_one *one, const struct frame *frame,
    struct error *err)
{
	const struct workers_callbacks *cb = &one->owner->callbacks;
	uint64_t count, unused;

	if (protocol_decode_numbers(frame, &count, &unused, err) != 0)
		return -1;
	if (count != one->n_listed || one->n_owed > 0)
		return error_set(err, "its list has %zu runs of %llu, and %zu "
		    "ends are missing", one->n_listed,
		    (unsigned long long)count, one->n_owed);
	workers_life_up(one);
	cb->list_end(cb->arg, one->number);
	return 0;
}

static int
do_started(struct workers_one *one, const struct frame *frame,
    struct error *err)
{
	const struct workers_callbacks *cb = &one->owner->callbacks;
	struct protocol_started started;

	if (protocol_decode_started(frame, &started, err) != 0)
		return -1;
	confirm(one, started.run_id);
	cb->started(cb->arg, one->number, &started);
	return 0;
}

static int
do_refused(struct workers_one *one, const struct frame *frame,
    struct error *err)
{
	const struct workers_callbacks *cb = &one->owner->callbacks;
	enum protocol_refusal why;
	uint64_t run_id;

	if (protocol_decode_refused(frame, &run_id, &why, err) != 0)
		return -1;
	confirm(one, run_id);
	workers_ids_remove(&one->runs, run_id);
	cb->refused(cb->arg, one->number, run_id, why);
	return 0;
}

static int
do_ended(struct workers_one *one, const struct frame *frame,
    struct error *err)
{
	const struct workers_callbacks *cb = &one->owner->callbacks;
	struct protocol_ended ended;

	if (protocol_decode_ended(frame, &ended, err) != 0)
		return -1;
	confirm(one, ended.tag.run_id);
	workers_ids_remove(&one->runs, ended.tag.run_id);
	if (one->phase == WORKERS_LISTING && one->n_owed > 0)
		one->n_owed--;
	cb->ended(cb->arg, one->number, &ended);
	return 0;
}

static int
do_unknown(struct workers_one *one, const struct frame *frame,
    struct error *err)
{
	const struct workers_callbacks *cb = &one->owner->callbacks;
	uint64_t run_id, unused;

	if (protocol_decode_numbers(frame, &run_id, &unused, err) != 0)
		return -1;
	confirm(one, run_id);
	workers_ids_remove(&one->runs, run_id);
	cb->unknown(cb->arg, one->number, run_id);
	return 0;
}

static int
do_pong(struct workers_one *one, const struct frame *frame, struct error *err)
{
	uint64_t number, unused;

	if (protocol_decode_numbers(frame, &number, &unused, err) != 0)
		return -1;
	if (number != one->ping || one->ping_sent == WORKERS_NEVER)
		return 0;
	while (one->n_unconfirmed > 0 &&
	    one->unconfirmed[0].sent <= one->ping_sent)
		drop_unconfirmed(one, 0);
	one->ping_sent = WORKERS_NEVER;
	look_well(one);
	return 0;
}

static int
do_nothing(struct workers_one *one, const struct frame *frame,
    struct error *err)
{
	(void)one;
	(void)frame;
	(void)err;
	return 0;
}

static int
do_bad(struct workers_one *one, const struct frame *frame, struct error *err)
{
	(void)one;
	return error_set(err, "it sends a frame of type %u out of place",
	    frame->type);
}

static int
handle(struct workers_one *one, const struct frame *frame, struct error *err)
{
	static int (*const does[])(struct workers_one *,
	    const struct frame *, struct error *) = {
		[WORKERS_BAD] = do_bad,
		[WORKERS_IGNORE] = do_nothing,
		[WORKERS_WELCOME] = do_welcome,
		[WORKERS_DENY] = do_deny,
		[WORKERS_LISTED] = do_listed,
		[WORKERS_LIST_END] = do_list_end,
		[WORKERS_STARTED] = do_started,
		[WORKERS_REFUSED] = do_refused,
		[WORKERS_ENDED] = do_ended,
		[WORKERS_UNKNOWN] = do_unknown,
		[WORKERS_PONG] = do_pong,
	};

	return does[workers_link_action(one->phase, frame->type)](one, frame,
	    err);
}

/* --- bytes --- */

/* All whole frames; what a frame does may end the connection. */
static void
handle_frames(struct workers_one *one)
{
	size_t taken = 0, used;
	struct frame frame;
	struct error err;
	int found = 0;

	while (one->phase != WORKERS_DOWN) {
		found = frame_parse(one->in.buf + taken, one->in.len - taken,
		    &frame, &used, &err);
		if (found != 1)
			break;
		taken += used;
		if (handle(one, &frame, &err) != 0) {
			found = -1;
			break;
		}
	}
	if (one->phase == WORKERS_DOWN)
		return;
	if (found >= 0) {
		strbuf_consume(&one->in, taken);
		return;
	}
	log_error("workers", "worker %llu: %s; it is connected anew",
	    (unsigned long long)one->number, err.text);
	workers_life_lost(one);
}

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct workers_one *one = arg;
	char block[READ_BLOCK];
	ssize_t n = recv(fd, block, sizeof(block), MSG_DONTWAIT);

	(void)what;
	if (n > 0) {
		strbuf_add(&one->in, block, (size_t)n);
		handle_frames(one);
		workers_link_flush(one);
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		workers_life_lost(one);
	}
}

static void
on_writable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	workers_link_flush(arg);
}

void
workers_link_open(struct workers_one *one, int fd)
{
	const struct workers *ws = one->owner;
	const struct protocol_hello hello = {
		.instance = ws->instance,
		.epoch = ws->epoch,
		.version = FRAME_VERSION,
	};

	one->fd = fd;
	one->phase = WORKERS_GREETING;
	one->readable = event_new(ws->base, fd, EV_READ | EV_PERSIST,
	    on_readable, one);
	one->writable = event_new(ws->base, fd, EV_WRITE, on_writable, one);
	protocol_encode_hello(&one->out, &hello);
	if (one->readable == NULL || one->writable == NULL ||
	    event_add(one->readable, NULL) != 0) {
		log_error("workers", "worker %llu: the event library does not "
		    "take its connection", (unsigned long long)one->number);
		workers_life_lost(one);
		return;
	}
	workers_link_flush(one);
}

void
workers_link_close(struct workers_one *one)
{
	if (one->readable != NULL)
		event_free(one->readable);
	if (one->writable != NULL)
		event_free(one->writable);
	one->readable = one->writable = NULL;
	if (one->fd >= 0)
		close(one->fd);
	one->fd = -1;
	one->phase = WORKERS_DOWN;
	one->deaf = false;
	one->n_unconfirmed = 0;
	one->ping_sent = WORKERS_NEVER;
	strbuf_reset(&one->in);
	strbuf_reset(&one->out);
}

void
workers_link_flush(struct workers_one *one)
{
	size_t sent = 0;
	ssize_t n;

	while (sent < one->out.len && !one->deaf) {
		n = send(one->fd, one->out.buf + sent, one->out.len - sent,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n >= 0)
			sent += (size_t)n;
		else if (errno == EAGAIN)
			break;
		else if (errno != EINTR)
			one->deaf = true;
	}
	if (one->deaf)
		sent = one->out.len;
	strbuf_consume(&one->out, sent);
	if (one->out.len > OUT_MAX) {
		log_error("workers", "worker %llu does not read; it is "
		    "connected anew", (unsigned long long)one->number);
		workers_life_lost(one);
	} else if (one->out.len > 0 && event_add(one->writable, NULL) != 0) {
		workers_life_lost(one);
	}
}

void
workers_link_start(struct workers_one *one, const struct protocol_start *start)
{
	one->unconfirmed[one->n_unconfirmed++] = (struct workers_unconfirmed){
		start->tag.run_id, boottime_now().us };
	workers_ids_add(&one->runs, start->tag.run_id);
	protocol_encode_start(&one->out, start);
}

void
workers_link_ping(struct workers_one *one, int64_t now)
{
	one->ping++;
	one->ping_sent = now;
	protocol_encode_numbers(&one->out, PROTOCOL_PING, one->ping, 0);
}
