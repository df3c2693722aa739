/* SPDX-License-Identifier: ISC */
/*
 * The only user of sd-daemon.h.  The environment stays as it is: the worker
 * program is started with one of its own, so that no job can see
 * NOTIFY_SOCKET or WATCHDOG_USEC, and the daemon's threads may read theirs at
 * any time.
 *
 * sd_notify(3) sends one datagram without waiting for an answer.  The socket
 * is the service manager's and may be full; then the message is lost, which
 * the next ping makes good.
 */
#include "config.h"

#include "daemon/sdnotify.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "common/xmalloc.h"

#ifdef HAVE_SYSTEMD
#include <systemd/sd-daemon.h>
#endif

#define STATUS_US	USEC_PER_SEC	/* between two of our own motion */

struct sdnotify {
	bool		 listening;	/* a manager wants to know */
	int64_t		 interval_us;	/* between pings; 0: no watchdog */
	int64_t		 next_ping;	/* boottime us */
	bool		 has_figures;	/* told once */
	size_t		 jobs;		/* as told last */
	size_t		 running;	/* as told last */
	int64_t		 next_figures;	/* boottime us */
};

#ifdef HAVE_SYSTEMD

static void
send_text(const struct sdnotify *sd, const char *text)
{
	if (sd->listening)
		(void)sd_notify(0, text);
}

static int64_t
watchdog_us(void)
{
	uint64_t us;

	if (sd_watchdog_enabled(0, &us) <= 0 || us > INT64_MAX)
		return 0;
	return (int64_t)us;
}

int
sdnotify_socket(const char *path, int *fd, struct error *err)
{
	int n = sd_listen_fds(0), flags;

	*fd = 0;
	if (n == 0)
		return 0;
	if (n < 0)
		return error_set_errno(err, -n, "can't take the socket of the "
		    "service manager");
	if (n > 1)
		return error_set(err, "the service manager passed %d sockets; "
		    "the socket unit must have one ListenStream=%s", n, path);
	if (sd_is_socket_unix(SD_LISTEN_FDS_START, SOCK_STREAM, 1, path,
	    0) <= 0)
		return error_set(err, "the socket that the service manager "
		    "passed is not the one we serve; the socket unit must "
		    "have ListenStream=%s", path);
	flags = fcntl(SD_LISTEN_FDS_START, F_GETFL);
	if (flags == -1 ||
	    fcntl(SD_LISTEN_FDS_START, F_SETFL, flags | O_NONBLOCK) == -1)
		return error_set_errno(err, errno, "can't set up the socket "
		    "of the service manager");
	*fd = SD_LISTEN_FDS_START;
	return 0;
}

#else

static void
send_text(const struct sdnotify *sd, const char *text)
{
	(void)sd;
	(void)text;
}

static int64_t
watchdog_us(void)
{
	return 0;
}

int
sdnotify_socket(const char *path, int *fd, struct error *err)
{
	(void)path;
	(void)err;
	*fd = 0;
	return 0;
}

#endif

struct sdnotify *
sdnotify_new(void)
{
	struct sdnotify *sd = xcalloc(1, sizeof(*sd));

	sd->listening = getenv("NOTIFY_SOCKET") != NULL;
	if (sd->listening)
		sd->interval_us = watchdog_us() / 2;
	return sd;
}

void
sdnotify_free(struct sdnotify *sd)
{
	free(sd);
}

/* STATUS is one line: what would begin another is cut off. */
static void
send_with_status(struct sdnotify *sd, const char *state, const char *status)
{
	char *text;
	int len = 0;

	if (!sd->listening)
		return;
	if (status == NULL) {
		send_text(sd, state);
		return;
	}
	while (status[len] != '\0' && status[len] != '\n')
		len++;
	text = xasprintf("%s%sSTATUS=%.*s", state, *state != '\0' ? "\n" : "",
	    len, status);
	send_text(sd, text);
	free(text);
}

void
sdnotify_ready(struct sdnotify *sd, const char *status)
{
	send_with_status(sd, "READY=1", status);
}

void
sdnotify_status(struct sdnotify *sd, const char *status)
{
	send_with_status(sd, "", status);
}

void
sdnotify_figures(struct sdnotify *sd, size_t jobs, size_t running,
    struct boottime now)
{
	char *text;

	if (!sd->listening || (sd->has_figures && (now.us < sd->next_figures ||
	    (jobs == sd->jobs && running == sd->running))))
		return;
	text = xasprintf("%zu job%s, %zu running", jobs, jobs == 1 ? "" : "s",
	    running);
	sdnotify_status(sd, text);
	free(text);
	sd->has_figures = true;
	sd->jobs = jobs;
	sd->running = running;
	sd->next_figures = now.us + STATUS_US;
}

void
sdnotify_reloading(struct sdnotify *sd, struct monotime now)
{
	char *text;

	if (!sd->listening)
		return;
	text = xasprintf("RELOADING=1\nMONOTONIC_USEC=%" PRId64, now.us);
	send_text(sd, text);
	free(text);
}

void
sdnotify_stopping(struct sdnotify *sd)
{
	send_text(sd, "STOPPING=1");
}

void
sdnotify_turn(struct sdnotify *sd, struct boottime now)
{
	if (sd->interval_us == 0 || now.us < sd->next_ping)
		return;
	send_text(sd, "WATCHDOG=1");
	sd->next_ping = now.us + sd->interval_us;
}

int64_t
sdnotify_deadline(const struct sdnotify *sd)
{
	return sd->interval_us == 0 ? INT64_MAX : sd->next_ping;
}
