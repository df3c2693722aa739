/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_DAEMON_CONFIG_H
#define CRONCTL_DAEMON_CONFIG_H

/*
 * Files in this directory that include "config.h", configure's, get this one
 * first: on to that.  Files elsewhere have it already.
 */
#if __has_include_next(<config.h>)
#include_next <config.h>
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/jobdef.h"
#include "common/log.h"

/* cronctld.conf and the command line of the daemon. */
struct config {
	/* command line */
	char	*config_file;		/* NULL: none given */
	char	*default_file;		/* then read if it exists */
	char	*jobs_dir;
	char	*state_dir;
	char	*runtime_dir;
	char	*worker_program;	/* path of cronctl-worker */
	bool	 user;			/* --user */
	bool	 check;			/* --check: read, report, exit */
	bool	 log_level_given;	/* --log-level beats the file */
	/* [daemon] */
	char	*timezone;		/* NULL: TZ, else /etc/localtime */
	int64_t	 workers;		/* processes */
	int64_t	 max_running;		/* runs at once, all jobs */
	bool	 watch;			/* read changed job files by itself */
	enum log_level log_level;
	char	*host_id;		/* never NULL */
	int64_t	 clock_wait;		/* ms: for a clock that is behind */
	/* [defaults] */
	struct jobdef_settings defaults;
};

enum config_action {
	CONFIG_RUN, CONFIG_VERSION, CONFIG_HELP, CONFIG_USAGE_ERROR
};

void	config_init(struct config *);
void	config_release(struct config *);
/*
 * Options of spec section 2 and --worker; --help and --version are left to
 * the caller.  Fills the directories with their defaults; all paths become
 * absolute.  argv is not changed.
 */
enum config_action config_parse_options(struct config *, int argc,
	    char *const argv[], struct error *err);
void	config_usage(void (*line)(void *arg, const char *text), void *arg);
/*
 * Reads the file (a missing default file means the defaults; a missing file
 * that was named is an error).  Every error goes to report as
 * "FILE:LINE: [section] key: sentence"; returns their number.
 */
size_t	config_load(struct config *, void (*report)(void *arg,
	    const char *text), void *arg);

/*
 * A running daemon reads its configuration again: what is different in now
 * from before, which was in force so far, and from start, which the daemon
 * was started with; each key once, in the order of the manual.  live: what
 * now says takes effect at once; else at the next start.
 */
void	config_differences(const struct config *start,
	    const struct config *before, const struct config *now,
	    void (*differs)(void *arg, const char *key, bool live), void *arg);
/* An empty one that will read the same file as this one did. */
struct config *config_again(const struct config *);
void	config_free(struct config *);		/* accepts NULL */

#endif
