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

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/xmalloc.h"

#ifdef HAVE_SYSTEMD
#include <systemd/sd-daemon.h>
#endif

struct sdnotify {
	bool		 listening;	/* a manager wants to know */
	int64_t		 interval_us;	/* between pings; 0: no watchdog */
	int64_t		 next_ping;	/* boottime us */
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
