/* SPDX-License-Identifier: ISC */
/* One process, one connection at a time, blocking reads; no runs at all. */
#include "config.h"

#include "tests/support/fake_worker.h"

#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/protocol.h"
#include "common/strbuf.h"

#define FAKE_LIFE_S	60	/* longer than any test */
#define FAKE_PID	4711	/* of runs that it claims to have started */
#define TYPE_OF_TOMORROW 200

struct fake {
	enum fake_role	 role;		/* how it behaves */
	uint64_t	 number;	/* as a worker */
	int		 fd;		/* the connection */
	unsigned int	 connections;	/* so far */
	bool		 asleep;	/* SLEEPY: until a STOP */
	uint64_t	 slept_over;	/* the run of the START not answered */
	struct strbuf	 out;		/* to be sent */
};

static const char *const names[FAKE_ROLES] = {
	[FAKE_GOOD] = "good", [FAKE_SILENT] = "silent",
	[FAKE_SLEEPY] = "sleepy", [FAKE_SLOW] = "slow",
	[FAKE_CRASH] = "crash", [FAKE_MISCOUNT] = "miscount",
	[FAKE_OWING] = "owing", [FAKE_BABBLE] = "babble",
	[FAKE_FUTURE] = "future", [FAKE_HANG_UP] = "hang-up",
	[FAKE_DENY] = "deny", [FAKE_STRANGE] = "strange",
};

const char *
fake_worker_name(enum fake_role role)
{
	return names[role];
}

static void
on_hello(struct fake *f)
{
	const struct protocol_welcome welcome = {
		.number = f->number + (f->role == FAKE_STRANGE),
		.version = FRAME_VERSION, .pid = getpid(),
		.boot_id = "00000000-0000-0000-0000-000000000000",
	};

	if (f->role == FAKE_DENY)
		protocol_encode_deny(&f->out, "this worker belongs to "
		    "another instance");
	else
		protocol_encode_welcome(&f->out, &welcome);
}

static void
list_run(struct fake *f, enum protocol_run_state state)
{
	const struct protocol_list_run run = {
		.tag = { .run_id = 77, .job_id = 1, .job_name = "claimed",
		    .cause = RUN_CAUSE_MANUAL, .attempt = 1, .era = 1,
		    .generation = 1, .by_uid = -1 },
		.state = state, .pid = FAKE_PID,
	};

	protocol_encode_list_run(&f->out, &run);
}

static void
on_list(struct fake *f)
{
	bool first = f->connections == 1;

	if (f->role == FAKE_OWING && first)
		list_run(f, PROTOCOL_RUN_ENDED);
	protocol_encode_numbers(&f->out, PROTOCOL_LIST_END,
	    (f->role == FAKE_OWING || f->role == FAKE_MISCOUNT) && first, 0);
}

static void
tell_started(struct fake *f, uint64_t run_id)
{
	const struct protocol_started started = {
		.run_id = run_id, .pid = FAKE_PID, .starttime = 1,
		.started = 1,
	};

	protocol_encode_started(&f->out, &started);
}

static void
on_start(struct fake *f, const struct frame *frame)
{
	uint64_t run_id = protocol_start_run_id(frame);

	switch (f->role) {
	case FAKE_SLOW:
		break;
	case FAKE_SLEEPY:
		f->asleep = true;
		f->slept_over = run_id;
		break;
	case FAKE_HANG_UP:
		if (f->connections == 1)
			shutdown(f->fd, SHUT_RDWR);
		else
			tell_started(f, run_id);
		break;
	case FAKE_BABBLE:
		if (f->connections == 1)
			list_run(f, PROTOCOL_RUN_RUNNING);
		else
			tell_started(f, run_id);
		break;
	case FAKE_FUTURE:
		frame_end(&f->out, frame_begin(&f->out, TYPE_OF_TOMORROW));
		__attribute__((fallthrough));
	default:
		tell_started(f, run_id);
	}
}

static void
on_stop(struct fake *f, const struct frame *frame)
{
	struct error err;
	uint64_t run_id, unused;

	if (protocol_decode_numbers(frame, &run_id, &unused, &err) != 0)
		_exit(3);
	if (f->asleep) {
		f->asleep = false;
		tell_started(f, f->slept_over);
	}
	protocol_encode_numbers(&f->out, PROTOCOL_UNKNOWN, run_id, 0);
}

static void
on_ping(struct fake *f, const struct frame *frame)
{
	struct error err;
	uint64_t n, unused;

	if (protocol_decode_numbers(frame, &n, &unused, &err) != 0)
		_exit(3);
	protocol_encode_numbers(&f->out, PROTOCOL_PONG, n, 0);
}

static void
handle(struct fake *f, const struct frame *frame)
{
	if (f->role == FAKE_SILENT ||
	    (f->asleep && frame->type != PROTOCOL_STOP))
		return;
	switch (frame->type) {
	case PROTOCOL_HELLO:
		on_hello(f);
		break;
	case PROTOCOL_LIST:
		on_list(f);
		break;
	case PROTOCOL_START:
		on_start(f, frame);
		break;
	case PROTOCOL_STOP:
		on_stop(f, frame);
		break;
	case PROTOCOL_PING:
		on_ping(f, frame);
		break;
	case PROTOCOL_DRAIN:
		_exit(0);
	}
}

static void
serve(struct fake *f)
{
	struct strbuf in = STRBUF_INIT;
	struct frame frame;
	char block[4096];
	size_t used;
	ssize_t n;

	f->connections++;
	while ((n = recv(f->fd, block, sizeof(block), 0)) > 0) {
		strbuf_add(&in, block, (size_t)n);
		while (frame_parse(in.buf, in.len, &frame, &used, NULL) == 1) {
			handle(f, &frame);
			strbuf_consume(&in, used);
		}
		if (f->out.len > 0 && send(f->fd, f->out.buf, f->out.len,
		    MSG_NOSIGNAL) != (ssize_t)f->out.len)
			break;
		strbuf_reset(&f->out);
	}
	strbuf_reset(&f->out);
	strbuf_release(&in);
	close(f->fd);
}

/* The next connection, which is waited for. */
static void
serve_next(struct fake *f)
{
	struct pollfd listener = { .fd = PROTOCOL_FD_LISTENER,
		.events = POLLIN };

	f->fd = poll(&listener, 1, -1) == 1 ?
	    accept(PROTOCOL_FD_LISTENER, NULL, NULL) : -1;
	if (f->fd >= 0)
		serve(f);
}

void
fake_worker_left(enum fake_role role, uint64_t number)
{
	struct fake f = { .role = role, .number = number, .fd = -1 };

	strbuf_init(&f.out);
	alarm(FAKE_LIFE_S);
	serve_next(&f);
	_exit(0);
}

static void
run(enum fake_role role, uint64_t number)
{
	struct fake f = { .role = role, .number = number,
		.fd = PROTOCOL_FD_DAEMON };

	strbuf_init(&f.out);
	alarm(FAKE_LIFE_S);
	if (role == FAKE_CRASH)
		_exit(1);
	serve(&f);
	if (role == FAKE_HANG_UP || role == FAKE_BABBLE ||
	    role == FAKE_MISCOUNT || role == FAKE_OWING)
		serve_next(&f);
	_exit(0);
}

void
fake_worker_main(int argc, char **argv)
{
	enum fake_role role = FAKE_ROLES;
	uint64_t number = 0;

	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--number") == 0)
			number = strtoull(argv[i + 1], NULL, 10);
		for (int r = 0; r < FAKE_ROLES; r++) {
			if (strcmp(argv[i], "--instance") == 0 &&
			    strcmp(argv[i + 1], names[r]) == 0)
				role = (enum fake_role)r;
		}
	}
	if (number == 0 || role == FAKE_ROLES)
		_exit(2);
	run(role, number);
	_exit(0);
}
