/* SPDX-License-Identifier: ISC */
/*
 * The control socket as a client sees it.  The descriptor never blocks; every
 * wait is a poll(2) with the time that is left until the deadline, beside a
 * signalfd when Ctrl-C is to be noticed.  A reply is matched by its id; since
 * there is one request at a time, anything else on the line is an error.
 */
#include "config.h"

#include "cli/connection.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/strbuf.h"
#include "common/timestamp.h"
#include "common/xmalloc.h"

#define SYSTEM_SOCKET	"/run/cronctl/control.sock"
#define USER_SOCKET	"cronctl/control.sock"	/* below $XDG_RUNTIME_DIR */
#define READ_SIZE	65536
#define REPLY_MAX	(64 * 1024 * 1024)	/* a page of large jobs */

struct connection {
	char		*path;		/* of the socket */
	const char	*advice;	/* how to get a daemon there */
	int		 fd;		/* or -1: closed or lost */
	int		 signal_fd;	/* SIGINT, or -1: not caught */
	bool		 lost;		/* the daemon closed it */
	int64_t		 last_id;	/* of the last request */
	struct strbuf	 input;		/* read, not yet a whole line */
};

/* What ended a wait. */
enum wait_result { WAIT_READY, WAIT_TIMEOUT, WAIT_INTERRUPTED, WAIT_FAILED };

static const char *
explicit_path(const struct connection_place *place)
{
	if (place->socket != NULL)
		return place->socket;
	if (place->env_socket != NULL && place->env_socket[0] != '\0')
		return place->env_socket;
	return NULL;
}

char *
connection_path(const struct connection_place *place, struct error *err)
{
	const char *path = explicit_path(place);

	if (path != NULL)
		return xstrdup(path);
	if (!place->user)
		return xstrdup(SYSTEM_SOCKET);
	if (place->runtime_dir == NULL || place->runtime_dir[0] != '/') {
		error_set(err, "XDG_RUNTIME_DIR is not set, so the socket of "
		    "your own daemon can't be found; name it with --socket "
		    "PATH");
		return NULL;
	}
	return xasprintf("%s/%s", place->runtime_dir, USER_SOCKET);
}

static const char *
advice(const struct connection_place *place)
{
	bool systemd = access("/run/systemd/system", F_OK) == 0;

	if (place->socket != NULL)
		return "see that a daemon runs there, or correct --socket";
	if (explicit_path(place) != NULL)
		return "see that a daemon runs there, or correct "
		    "CRONCTL_SOCKET";
	if (place->user)
		return systemd ? "start it with: systemctl --user start "
		    "cronctld" : "start it with: cronctld --user";
	return systemd ? "start it with: systemctl start cronctld" :
	    "start it with: cronctld (as root)";
}

static const char *
reason_text(int errnum)
{
	switch (errnum) {
	case ENOENT:
		return "no such file";
	case ECONNREFUSED:
		return "nobody listens";
	case ENOTSOCK:
		return "not a socket";
	default:
		return strerrordesc_np(errnum);
	}
}

/* What a connect(2) that failed means. */
static enum exit_status
refused(const struct connection *conn, int errnum, struct error *err)
{
	if (errnum == EACCES || errnum == EPERM) {
		error_set(err, "not permitted to use %s; ask as the user whose"
		    " daemon it is, or as root", conn->path);
		return STATUS_NOT_PERMITTED;
	}
	error_set(err, "no daemon at %s (%s); %s", conn->path,
	    reason_text(errnum), conn->advice);
	return STATUS_NO_DAEMON;
}

static enum exit_status
connect_socket(struct connection *conn, struct error *err)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	size_t len = strlen(conn->path);

	if (len >= sizeof addr.sun_path) {
		error_set(err, "the socket's path is %zu bytes long, more than"
		    " the %zu a socket can have: %s", len,
		    sizeof addr.sun_path - 1, conn->path);
		return STATUS_NO_DAEMON;
	}
	memcpy(addr.sun_path, conn->path, len + 1);
	conn->fd = socket(AF_UNIX,
	    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (conn->fd == -1) {
		error_set_errno(err, errno, "can't make a socket");
		return STATUS_REFUSED;
	}
	if (connect(conn->fd, (struct sockaddr *)&addr, sizeof addr) == -1) {
		int errnum = errno;

		close(conn->fd);
		conn->fd = -1;
		/* The backlog is full: somebody is there, but busy. */
		if (errnum == EAGAIN) {
			error_set(err, "the daemon at %s takes no more "
			    "connections; try again", conn->path);
			return STATUS_NO_DAEMON;
		}
		return refused(conn, errnum, err);
	}
	conn->lost = false;
	strbuf_reset(&conn->input);
	return STATUS_DONE;
}

enum exit_status
connection_open(struct connection **out, const struct connection_place *place,
    struct error *err)
{
	char *path = connection_path(place, err);
	struct connection *conn;
	enum exit_status status;

	if (path == NULL)
		return STATUS_NO_DAEMON;
	conn = xcalloc(1, sizeof *conn);
	conn->path = path;
	conn->advice = advice(place);
	conn->fd = conn->signal_fd = -1;
	strbuf_init(&conn->input);
	status = connect_socket(conn, err);
	if (status != STATUS_DONE) {
		connection_close(conn);
		return status;
	}
	*out = conn;
	return STATUS_DONE;
}

static void
drop(struct connection *conn)
{
	if (conn->fd != -1)
		close(conn->fd);
	conn->fd = -1;
}

void
connection_close(struct connection *conn)
{
	if (conn == NULL)
		return;
	drop(conn);
	if (conn->signal_fd != -1)
		close(conn->signal_fd);
	strbuf_release(&conn->input);
	free(conn->path);
	free(conn);
}

enum exit_status
connection_reopen(struct connection *conn, struct error *err)
{
	drop(conn);
	return connect_socket(conn, err);
}

bool
connection_is_lost(const struct connection *conn)
{
	return conn->lost;
}

int
connection_catch_interrupt(struct connection *conn, struct error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL) == -1 ||
	    (conn->signal_fd = signalfd(-1, &set, SFD_CLOEXEC)) == -1)
		return error_set_errno(err, errno, "can't watch for Ctrl-C");
	return 0;
}

/* A deadline of -1 never comes; else it is in us of CLOCK_MONOTONIC. */
static int
time_left_ms(int64_t deadline)
{
	int64_t left;

	if (deadline < 0)
		return -1;
	left = deadline - monotime_now().us;
	return left <= 0 ? 0 : (int)((left + 999) / USEC_PER_MSEC);
}

static enum wait_result
wait_for(const struct connection *conn, int fd, short events,
    int64_t deadline)
{
	/* A negative descriptor is passed over by poll(2). */
	struct pollfd fds[2] = {
		{ .fd = fd, .events = events },
		{ .fd = conn->signal_fd, .events = POLLIN },
	};

	for (;;) {
		int n = poll(fds, 2, time_left_ms(deadline));

		if (n == -1 && errno != EINTR)
			return WAIT_FAILED;
		if (n > 0 && fds[1].revents != 0)
			return WAIT_INTERRUPTED;
		if (n > 0)
			return WAIT_READY;
		if (n == 0)
			return WAIT_TIMEOUT;
	}
}

bool
connection_pause(const struct connection *conn, int timeout_ms)
{
	return wait_for(conn, -1, 0, monotime_now().us +
	    timeout_ms * USEC_PER_MSEC) == WAIT_INTERRUPTED;
}

/* The connection is of no more use: the daemon went away, or it failed. */
static enum exit_status
lost(struct connection *conn, const char *why, struct error *err)
{
	drop(conn);
	conn->lost = true;
	error_set(err, "the daemon at %s went away before it answered (%s); "
	    "see cronctl status, and ask again", conn->path, why);
	return STATUS_NO_DAEMON;
}

/* How a wait that brought nothing ends a call. */
static enum exit_status
wait_failed(struct connection *conn, enum wait_result result,
    int64_t timeout_ms, struct error *err)
{
	int errnum = errno;

	drop(conn);
	if (result == WAIT_INTERRUPTED) {
		error_set(err, "interrupted");
		return STATUS_INTERRUPTED;
	}
	if (result == WAIT_FAILED) {
		error_set_errno(err, errnum, "can't wait for the daemon");
		return STATUS_REFUSED;
	}
	error_set(err, "no answer from the daemon at %s within %" PRId64
	    " s; whether it did what was asked is not known, see its log",
	    conn->path, timeout_ms / 1000);
	return STATUS_NO_DAEMON;
}

static enum exit_status
send_line(struct connection *conn, const char *line, size_t len,
    int64_t deadline, int64_t timeout_ms, struct error *err)
{
	while (len > 0) {
		ssize_t n = send(conn->fd, line, len, MSG_NOSIGNAL);
		enum wait_result result;

		if (n >= 0) {
			line += n;
			len -= (size_t)n;
			continue;
		}
		if (errno == EINTR)
			continue;
		/* A refusal may be there to be read, so go and see. */
		if (errno == EPIPE || errno == ECONNRESET)
			return STATUS_DONE;
		if (errno != EAGAIN)
			return lost(conn, strerrordesc_np(errno), err);
		result = wait_for(conn, conn->fd, POLLOUT, deadline);
		if (result != WAIT_READY)
			return wait_failed(conn, result, timeout_ms, err);
	}
	return STATUS_DONE;
}

/* Reads until the input holds a newline; *len is the line's without it. */
static enum exit_status
read_line(struct connection *conn, size_t *len, int64_t deadline,
    int64_t timeout_ms, struct error *err)
{
	char bytes[READ_SIZE];
	size_t seen = 0;

	for (;;) {
		char *end = memchr(conn->input.buf + seen, '\n',
		    conn->input.len - seen);
		enum wait_result result;
		ssize_t n;

		if (end != NULL) {
			*len = (size_t)(end - conn->input.buf);
			return STATUS_DONE;
		}
		seen = conn->input.len;
		if (seen > REPLY_MAX)
			return lost(conn, "its answer is too long", err);
		result = wait_for(conn, conn->fd, POLLIN, deadline);
		if (result != WAIT_READY)
			return wait_failed(conn, result, timeout_ms, err);
		n = recv(conn->fd, bytes, sizeof bytes, 0);
		if (n == 0)
			return lost(conn, "it closed the connection", err);
		if (n == -1 && errno != EAGAIN && errno != EINTR)
			return lost(conn, strerrordesc_np(errno), err);
		if (n > 0)
			strbuf_add(&conn->input, bytes, (size_t)n);
	}
}

/* The exit status that belongs to an error of doc/protocol.md. */
static enum exit_status
status_of_code(int64_t code)
{
	if (code == STATUS_NOT_PERMITTED || code == STATUS_NO_SUCH)
		return (enum exit_status)code;
	return STATUS_REFUSED;
}

/* One line to a result or a refusal. */
static enum exit_status
read_reply(struct connection *conn, size_t len, struct message **result,
    struct connection_refusal *refusal, struct error *err)
{
	struct message *reply = message_parse(conn->input.buf, len, err);
	const struct message *error, *data;
	enum exit_status status = STATUS_DONE;

	strbuf_consume(&conn->input, len + 1);
	if (reply == NULL || !message_is_object(reply)) {
		message_free(reply);
		return lost(conn, "its answer makes no sense", err);
	}
	error = message_get(reply, "error");
	data = message_get(reply, "result");
	if (error != NULL) {
		const char *text = message_get_string(error, "message");
		int64_t code = message_get_integer(error, "code", 1);

		error_set(err, "%s", text != NULL ? text : "refused");
		status = status_of_code(code);
		if (refusal != NULL) {
			refusal->code = code;
			data = message_get(error, "data");
			refusal->data = data != NULL ? message_dup(data) :
			    NULL;
		}
	} else if (message_get_integer(reply, "id", -1) != conn->last_id ||
	    data == NULL) {
		status = lost(conn, "its answer makes no sense", err);
	} else {
		*result = message_dup(data);
	}
	message_free(reply);
	return status;
}

static char *
format_request(struct connection *conn, const char *method,
    struct message *params)
{
	struct message *request = message_object();
	char *text;

	message_set_string(request, "jsonrpc", "2.0");
	message_set_integer(request, "id", ++conn->last_id);
	message_set_string(request, "method", method);
	if (params != NULL)
		message_set(request, "params", params);
	text = message_format(request);
	message_free(request);
	return text;
}

enum exit_status
connection_call(struct connection *conn, const char *method,
    struct message *params, int64_t timeout_ms, struct message **result,
    struct connection_refusal *refusal, struct error *err)
{
	int64_t deadline = timeout_ms < 0 ? -1 :
	    monotime_now().us + timeout_ms * USEC_PER_MSEC;
	struct strbuf line = STRBUF_INIT;
	enum exit_status status;
	char *text;
	size_t len;

	assert(conn->fd != -1);
	if (refusal != NULL)
		memset(refusal, 0, sizeof *refusal);
	text = format_request(conn, method, params);
	strbuf_addstr(&line, text);
	strbuf_addch(&line, '\n');
	free(text);
	if (line.len > MESSAGE_DEFINITION_MAX) {
		error_set(err, "the request is %zu bytes long, more than the "
		    "%d a request can have", line.len,
		    MESSAGE_DEFINITION_MAX);
		strbuf_release(&line);
		return STATUS_REFUSED;
	}
	status = send_line(conn, line.buf, line.len, deadline, timeout_ms,
	    err);
	strbuf_release(&line);
	if (status == STATUS_DONE)
		status = read_line(conn, &len, deadline, timeout_ms, err);
	if (status == STATUS_DONE)
		status = read_reply(conn, len, result, refusal, err);
	return status;
}

enum exit_status
connection_next(struct connection *conn, int64_t timeout_ms, char **method,
    struct message **params, struct error *err)
{
	int64_t deadline = timeout_ms < 0 ? -1 :
	    monotime_now().us + timeout_ms * USEC_PER_MSEC;
	const struct message *data;
	struct message *line;
	enum exit_status status;
	const char *name;
	size_t len;

	assert(conn->fd != -1);
	status = read_line(conn, &len, deadline, timeout_ms, err);
	if (status != STATUS_DONE)
		return status;
	line = message_parse(conn->input.buf, len, err);
	strbuf_consume(&conn->input, len + 1);
	name = line != NULL ? message_get_string(line, "method") : NULL;
	if (name == NULL) {
		message_free(line);
		return lost(conn, "what it sends makes no sense", err);
	}
	data = message_get(line, "params");
	*method = xstrdup(name);
	*params = data != NULL ? message_dup(data) : NULL;
	message_free(line);
	return STATUS_DONE;
}
