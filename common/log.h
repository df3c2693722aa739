/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_LOG_H
#define CRONCTL_LOG_H

/*
 * Log lines: a subsystem token, then words.  Where lines go is the program's
 * choice (log_set_sink); before that, and in tests, they go to stderr.
 * The sink and the level are this module's only state.  The sink is set once
 * by main before any thread starts; the level may change at any time.  A sink
 * must not block and must not log.
 */
enum log_level {
	LOG_ERROR = 3,		/* the numbers are those of syslog(3) */
	LOG_WARNING = 4,
	LOG_INFO = 6,
	LOG_DEBUG = 7
};

typedef void log_sink_fn(void *arg, enum log_level, const char *subsystem,
	    const char *text);

void	 log_set_level(enum log_level);
void	 log_set_sink(log_sink_fn *, void *arg);
/* "error", "warning", "info", "debug"; -1 for anything else. */
int	 log_level_parse(const char *, enum log_level *);
const char *log_level_name(enum log_level);

void	 log_error(const char *subsystem, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
void	 log_warning(const char *subsystem, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
void	 log_info(const char *subsystem, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
void	 log_debug(const char *subsystem, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));

#endif
