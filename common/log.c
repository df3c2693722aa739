/* SPDX-License-Identifier: ISC */
/*
 * Formats one line and hands it to the sink.  Control characters are shown
 * as \xNN, so whatever a job name or an error text holds, one call is one
 * line.
 */
#include "config.h"

#include "common/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/strbuf.h"
#include "common/xmalloc.h"

static void	stderr_sink(void *, enum log_level, const char *, const char *);

/* A reload may change it while other threads log. */
static _Atomic enum log_level log_threshold = LOG_INFO;
static log_sink_fn *log_sink = stderr_sink;
static void *log_sink_arg;

static const struct {
	enum log_level	 level;
	const char	*name;
} level_names[] = {
	{ LOG_ERROR, "error" },
	{ LOG_WARNING, "warning" },
	{ LOG_INFO, "info" },
	{ LOG_DEBUG, "debug" },
};

static void
stderr_sink(void *arg, enum log_level level, const char *subsystem,
    const char *text)
{
	(void)arg;
	fprintf(stderr, "%s: %s: %s\n", log_level_name(level), subsystem,
	    text);
}

void
log_set_level(enum log_level level)
{
	log_threshold = level;
}

void
log_set_sink(log_sink_fn *sink, void *arg)
{
	log_sink = sink != NULL ? sink : stderr_sink;
	log_sink_arg = arg;
}

int
log_level_parse(const char *s, enum log_level *out)
{
	for (size_t i = 0; i < sizeof level_names / sizeof *level_names; i++) {
		if (strcmp(s, level_names[i].name) == 0) {
			*out = level_names[i].level;
			return 0;
		}
	}
	return -1;
}

const char *
log_level_name(enum log_level level)
{
	for (size_t i = 0; i < sizeof level_names / sizeof *level_names; i++)
		if (level_names[i].level == level)
			return level_names[i].name;
	return "log";
}

static void	log_write(enum log_level, const char *, const char *, va_list)
		    __attribute__((format(printf, 3, 0)));

static void
log_write(enum log_level level, const char *subsystem, const char *fmt,
    va_list ap)
{
	struct strbuf line = STRBUF_INIT;
	char *text;

	if (level > log_threshold)
		return;
	text = xvasprintf(fmt, ap);
	for (const char *p = text; *p != '\0'; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			strbuf_addf(&line, "\\x%02x", (unsigned char)*p);
		else
			strbuf_addch(&line, *p);
	}
	log_sink(log_sink_arg, level, subsystem, line.buf);
	strbuf_release(&line);
	free(text);
}

#define LOG_FUNCTION(name, level)				\
void								\
name(const char *subsystem, const char *fmt, ...)		\
{								\
	va_list ap;						\
								\
	va_start(ap, fmt);					\
	log_write(level, subsystem, fmt, ap);			\
	va_end(ap);						\
}

LOG_FUNCTION(log_error, LOG_ERROR)
LOG_FUNCTION(log_warning, LOG_WARNING)
LOG_FUNCTION(log_info, LOG_INFO)
LOG_FUNCTION(log_debug, LOG_DEBUG)
