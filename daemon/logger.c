/* SPDX-License-Identifier: ISC */
/*
 * The sink of the daemon's log: lines are formed where they arise, on any
 * thread, and written by a helper thread, each with one write(2) of at most
 * PIPE_BUF bytes, so that lines of several writers to one pipe don't mix.
 *
 * When the reader of stderr sleeps, that thread sleeps with it and the queue
 * fills; from then on lines are dropped and counted.  Nobody else waits.
 */
#include "config.h"

#include "daemon/logger.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/strbuf.h"
#include "common/timestamp.h"
#include "common/xmalloc.h"
#include "daemon/helper.h"

#define QUEUE_MAX	4096	/* lines that wait */
#define LINE_MAX_BYTES	PIPE_BUF
#define LEAVE_MS	1000	/* for what waits, at the end */

struct logger {
	struct helper		*helper;	/* the thread */
	int			 fd;		/* where lines go */
	bool			 journal;	/* "<N>" instead of a time */
	atomic_uint_fast64_t	 dropped;	/* lines, in all */
	atomic_uint_fast64_t	 untold;	/* of these, not yet told of */
};

/* A line on its way. */
struct line {
	struct helper_request	 request;	/* first; see helper.h */
	size_t			 len;		/* bytes of text */
	char			 text[];	/* ends with a newline */
};

/* --- on the thread --- */

/* For a stderr that somebody else has made non-blocking. */
static int
wait_for_room(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	if (poll(&p, 1, -1) < 0 && errno != EINTR)
		return -1;
	return 0;
}

/* -1: the line can't be written, and will not be. */
static int
write_line(int fd, const char *text, size_t len)
{
	ssize_t n;

	while (len > 0) {
		n = write(fd, text, len);
		if (n >= 0) {
			text += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			if (wait_for_room(fd) != 0)
				return -1;
		} else if (errno != EINTR) {
			return -1;
		}
	}
	return 0;
}

static void
work(void *state, struct helper_request *chain)
{
	struct logger *l = state;

	for (; chain != NULL; chain = chain->next) {
		struct line *line = (struct line *)(void *)chain;

		if (write_line(l->fd, line->text, line->len) != 0)
			atomic_fetch_add(&l->dropped, 1);
	}
}

static void
free_line(struct helper_request *request, void *arg)
{
	(void)arg;
	free(request);
}

/* --- on any thread --- */

static void
add_prefix(struct strbuf *sb, const struct logger *l, enum log_level level)
{
	char when[TIMESTAMP_MAX];

	if (l->journal) {
		strbuf_addf(sb, "<%d>", level);
		return;
	}
	timestamp_format(when, walltime_seconds(walltime_now()), 0, true);
	strbuf_addf(sb, "%s %s ", when, log_level_name(level));
}

/* Ends the line, cut between two characters if it is too long. */
static void
end_line(struct strbuf *sb)
{
	static const char mark[] = "...";
	size_t keep = LINE_MAX_BYTES - sizeof mark;

	if (sb->len > LINE_MAX_BYTES - 1) {
		while (keep > 0 &&
		    ((unsigned char)sb->buf[keep] & 0xc0) == 0x80)
			keep--;
		strbuf_setlen(sb, keep);
		strbuf_addstr(sb, mark);
	}
	strbuf_addch(sb, '\n');
}

static bool
submit(struct logger *l, const struct strbuf *sb)
{
	struct line *line = xmalloc(sizeof *line + sb->len);

	line->request = (struct helper_request){ .done = free_line };
	line->len = sb->len;
	memcpy(line->text, sb->buf, sb->len);
	if (helper_submit(l->helper, &line->request))
		return true;
	free(line);
	return false;
}

/* How many were lost, when there is room again. */
static void
tell_of_dropped(struct logger *l)
{
	uint64_t n = atomic_exchange(&l->untold, 0);
	struct strbuf sb = STRBUF_INIT;

	if (n == 0)
		return;
	add_prefix(&sb, l, LOG_WARNING);
	strbuf_addf(&sb, "log: %" PRIu64 " lines were dropped, because "
	    "nobody read them in time", n);
	end_line(&sb);
	if (!submit(l, &sb))
		atomic_fetch_add(&l->untold, n);
	strbuf_release(&sb);
}

static void
sink(void *arg, enum log_level level, const char *subsystem, const char *text)
{
	struct logger *l = arg;
	struct strbuf sb = STRBUF_INIT;

	tell_of_dropped(l);
	add_prefix(&sb, l, level);
	strbuf_addf(&sb, "%s: %s", subsystem, text);
	end_line(&sb);
	if (!submit(l, &sb)) {
		atomic_fetch_add(&l->dropped, 1);
		atomic_fetch_add(&l->untold, 1);
	}
	strbuf_release(&sb);
}

/*
 * Whether stderr is the stream to the journal that JOURNAL_STREAM names by
 * device and inode (systemd.exec(5)).
 */
static bool
is_journal(int fd)
{
	const char *s = getenv("JOURNAL_STREAM");
	uintmax_t device, inode;
	struct stat st;
	char end;

	if (s == NULL || sscanf(s, "%ju:%ju%c", &device, &inode, &end) != 2)
		return false;
	return fstat(fd, &st) == 0 && st.st_dev == device &&
	    st.st_ino == inode;
}

struct logger *
logger_new(void)
{
	struct logger *l = xcalloc(1, sizeof *l);

	l->fd = STDERR_FILENO;
	l->journal = is_journal(l->fd);
	l->helper = helper_new("log", NULL, QUEUE_MAX, work, l);
	if (l->helper == NULL) {
		free(l);
		return NULL;
	}
	log_set_sink(sink, l);
	return l;
}

void
logger_free(struct logger *l)
{
	if (l == NULL)
		return;
	log_set_sink(NULL, NULL);
	if (helper_free_within(l->helper, LEAVE_MS))
		free(l);
}

uint64_t
logger_dropped(const struct logger *l)
{
	return atomic_load(&l->dropped);
}
