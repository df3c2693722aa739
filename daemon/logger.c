/* SPDX-License-Identifier: ISC */
/*
 * The log sink of the daemon: copies a line into a request, and a helper
 * thread writes it to stderr.  Nobody but that thread ever waits for the
 * reader of stderr.  A full queue drops the line and counts it; the thread
 * says how many before the next line it writes.
 */
#include "config.h"

#include "daemon/logger.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
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
#define FAREWELL_MS	1000	/* for what waits at the end */

struct logger {
	struct helper		*helper;
	bool			 journal;	/* "<N>" in front, no time */
	atomic_uint_fast64_t	 dropped;	/* all told */
	uint64_t		 told;		/* of these; the thread's own */
};

struct line {
	struct helper_request	 request;	/* first */
	enum log_level		 level;
	struct walltime		 at;
	char			 text[];	/* "subsystem: words" */
};

/* Whether stderr is the journal's own socket (systemd.exec(5)). */
static bool
is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	return stream != NULL &&
	    sscanf(stream, "%llu:%llu", &dev, &ino) == 2 &&
	    fstat(STDERR_FILENO, &st) == 0 && st.st_dev == (dev_t)dev &&
	    st.st_ino == (ino_t)ino;
}

/* Writes it all, whatever stderr is; gives up on an error that stays. */
static void
write_all(const char *data, size_t len)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };

	while (len > 0) {
		ssize_t n = write(STDERR_FILENO, data, len);

		if (n >= 0) {
			data += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			if (poll(&p, 1, -1) < 0 && errno != EINTR)
				return;
		} else if (errno != EINTR) {
			return;
		}
	}
}

static void
format_line(const struct logger *l, struct strbuf *sb, enum log_level level,
    struct walltime at, const char *text)
{
	char when[TIMESTAMP_MAX];

	if (l->journal) {
		strbuf_addf(sb, "<%d>%s\n", (int)level, text);
		return;
	}
	timestamp_format(when, walltime_seconds(at), 0, true);
	strbuf_addf(sb, "%s %s %s\n", when, log_level_name(level), text);
}

static void
write_lines(void *state, struct helper_request *chain)
{
	struct logger *l = state;
	struct strbuf sb = STRBUF_INIT;
	uint64_t dropped;

	for (; chain != NULL; chain = chain->next) {
		struct line *line = (struct line *)chain;

		dropped = atomic_load(&l->dropped);
		strbuf_reset(&sb);
		if (dropped != l->told) {
			char lost[64];

			snprintf(lost, sizeof lost, "log: %llu lines were "
			    "dropped here",
			    (unsigned long long)(dropped - l->told));
			format_line(l, &sb, LOG_WARNING, line->at, lost);
			l->told = dropped;
		}
		format_line(l, &sb, line->level, line->at, line->text);
		write_all(sb.buf, sb.len);
	}
	strbuf_release(&sb);
}

static void
line_done(struct helper_request *request, void *arg)
{
	(void)arg;
	free(request);
}

static void
sink(void *arg, enum log_level level, const char *subsystem,
    const char *text)
{
	struct logger *l = arg;
	size_t len = strlen(subsystem) + strlen(text) + sizeof ": ";
	struct line *line = xmalloc(sizeof *line + len);

	line->request = (struct helper_request){ .done = line_done };
	line->level = level;
	line->at = walltime_now();
	snprintf(line->text, len, "%s: %s", subsystem, text);
	if (!helper_submit(l->helper, &line->request)) {
		atomic_fetch_add(&l->dropped, 1);
		free(line);
	}
}

struct logger *
logger_new(void)
{
	struct logger *l = xcalloc(1, sizeof *l);

	l->journal = is_journal();
	l->helper = helper_new("log", NULL, QUEUE_MAX, write_lines, l);
	if (l->helper != NULL)
		log_set_sink(sink, l);
	return l;
}

void
logger_free(struct logger *l)
{
	if (l == NULL)
		return;
	log_set_sink(NULL, NULL);
	/* A thread that still hangs in write keeps what it uses. */
	if (l->helper == NULL || helper_free_within(l->helper, FAREWELL_MS))
		free(l);
}

uint64_t
logger_dropped(const struct logger *l)
{
	return atomic_load(&l->dropped);
}
