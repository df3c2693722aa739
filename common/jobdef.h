/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_JOBDEF_H
#define CRONCTL_JOBDEF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cronexpr.h"
#include "common/error.h"
#include "common/schedule.h"
#include "common/zone.h"

/*
 * A job's definition and the one table of keys behind it.  The table serves
 * job files, "cronctl add -o", the control socket, "cronctl keys" and the
 * check of the manual page.
 *
 * Two shapes: struct jobdef_settings is what somebody wrote, KEY=VALUE pairs
 * in order; struct jobdef is what it means, built from the job's own
 * settings and the defaults below them, checked, immutable.
 */
#define JOBDEF_NAME_MAX		48	/* without "USER/" */
#define JOBDEF_FULL_NAME_MAX	96	/* with it */
#define JOBDEF_COMMAND_MAX	(32 * 1024)
#define JOBDEF_ENV_MAX		200
#define JOBDEF_ENV_NAME_MAX	64
#define JOBDEF_SIZE_MAX		(128 * 1024)
#define JOBDEF_SCHEDULES_MAX	64
#define JOBDEF_QUEUE_ALL_MAX	1000

enum jobdef_overlap {
	OVERLAP_SKIP, OVERLAP_QUEUE, OVERLAP_QUEUE_ALL, OVERLAP_REPLACE,
	OVERLAP_ALLOW
};
enum jobdef_output { OUTPUT_KEEP, OUTPUT_DISCARD };

enum jobdef_type {
	JOBDEF_STRING,		/* as written */
	JOBDEF_PATH,		/* begins with "/" */
	JOBDEF_ACCOUNT,		/* name or number of a user or group */
	JOBDEF_BOOL,
	JOBDEF_DURATION,	/* ms */
	JOBDEF_SIZE,		/* bytes */
	JOBDEF_INTEGER,
	JOBDEF_OCTAL,		/* umask */
	JOBDEF_CHOICE,		/* one of choices */
	JOBDEF_SIGNAL,		/* TERM, SIGTERM or 15 */
	JOBDEF_TIME,		/* TIME of spec section 4, UTC seconds */
	JOBDEF_ZONE,		/* IANA name */
	JOBDEF_SCHEDULE,	/* may repeat */
	JOBDEF_LINES,		/* may repeat: a line each */
	JOBDEF_TAGS,		/* comma list, may repeat */
	JOBDEF_ENVIRONMENT	/* env.NAME: a family of keys */
};

struct jobdef_key {
	const char		*name;		/* "timeout"; "env." for the family */
	enum jobdef_type	 type;
	const char		*fallback;	/* built-in default as text, or NULL */
	const char *const	*choices;	/* NULL-ended, for JOBDEF_CHOICE */
	int64_t			 min;		/* range of the value in its unit */
	int64_t			 max;		/* of strings: bytes */
	size_t			 offset;	/* of the field in struct jobdef;
						 * SIZE_MAX: several */
	bool			 required;	/* no default, must be given */
	bool			 alters_time;	/* begins a new generation */
	const char		*help;		/* one line, for "cronctl keys" */
};

/* Rows in the order of spec section 3; ends with a NULL name. */
const struct jobdef_key *jobdef_keys(void);
/* NULL when there is none; "env.HOME" finds the family "env.". */
const struct jobdef_key *jobdef_key_find(const char *name);
/* The known key nearest to a misspelled one, or NULL. */
const char	*jobdef_key_nearest(const char *name);
/* "TERM", "SIGTERM" or "15", as the key stop_signal has it. */
int		 jobdef_signal_parse(const char *, int *number,
		    struct error *err);

/* What was written: pairs in order, with the line each came from. */
struct jobdef_setting {
	char	*key;		/* one allocation with value */
	char	*value;		/* one line, blanks at both ends trimmed */
	int	 line;		/* 0: not from a file */
};

struct jobdef_settings {
	struct jobdef_setting	*v;	/* in the order given */
	size_t			 n;	/* pairs */
	size_t			 size;	/* what they count in JOBDEF_SIZE_MAX */
};

void	jobdef_settings_init(struct jobdef_settings *);
void	jobdef_settings_release(struct jobdef_settings *);
void	jobdef_settings_copy(struct jobdef_settings *to,
	    const struct jobdef_settings *from);
/*
 * Adds one pair after checking that the key exists, may be repeated if it is
 * there already, and that the value is one of its type, as far as that needs
 * no zone and no clock (jobdef_build does the rest).  Blanks at both ends of
 * the value are trimmed.  A value is one line of UTF-8 that, with its key,
 * fits a line of a job file; it can't end in an odd number of "\", because
 * there that means that the line goes on.  The error is the sentence alone,
 * without key or place.
 */
int	jobdef_settings_add(struct jobdef_settings *, const char *key,
	    const char *value, int line, struct error *err);
/* First value of a key, or NULL. */
const char *jobdef_settings_get(const struct jobdef_settings *,
	    const char *key);

/*
 * What it means.  Strings point into settings or the table: never written,
 * never freed alone.
 */
struct jobdef {
	char		*name;		/* 1-48 characters, or USER/NAME */
	char		*command;	/* for shell -c */
	char		*description;	/* or NULL */
	char		**tags;		/* in order, without doubles */
	size_t		 n_tags;
	bool		 enabled;
	char		*timezone;	/* as given, or NULL: the daemon's */
	int		 dst_gap;	/* enum dst_gap */
	int		 dst_fold;	/* enum dst_fold */
	int64_t		 not_before;	/* UTC seconds; INT64_MIN: no bound */
	int64_t		 not_after;	/* UTC seconds; INT64_MAX: no bound */
	int64_t		 max_late;	/* ms; JOBDEF_MAX_LATE_AUTO */
	int		 overlap;	/* enum jobdef_overlap */
	int64_t		 max_running;	/* 1; 16 with allow, when not given */
	int64_t		 queue_priority;
	int64_t		 timeout;	/* ms; 0: none */
	int64_t		 stop_signal;	/* number */
	int64_t		 stop_grace;	/* ms */
	int64_t		 start_timeout;	/* ms */
	char		*user;		/* NULL: the owner */
	char		*group;		/* NULL: the user's groups */
	char		*workdir;	/* NULL: the user's home */
	char		*shell;
	int64_t		 umask;
	char		**env;		/* NAME=VALUE */
	size_t		 n_env;
	char		*stdin_text;	/* NULL: /dev/null; lines, each ended */
	int		 output;	/* enum jobdef_output */
	int64_t		 output_limit;	/* bytes */

	struct schedule	**schedules;	/* as a union */
	size_t		 n_schedules;
	uint64_t	 host_hash;	/* of the host_id it was built with */
	/*
	 * Own settings merged with the defaults that apply; says everything
	 * about the job, for show --ini, comparison and the store.  Rows in
	 * the order of the table.  A value that was given empty is kept, so
	 * that it hides defaults again.
	 */
	struct jobdef_settings settings;
};

#define JOBDEF_MAX_LATE_AUTO	INT64_C(-1)

struct jobdef_context {
	const char		*host_id;	/* for H and ~ */
	struct zone		*zone;		/* the daemon's, for jobs without */
	struct zone_cache	*zones;		/* for names of zones */
	int64_t			 now;		/* UTC seconds */
	/*
	 * Given over the socket: @in and times that depend on when they are
	 * read ("tomorrow 8:00") are accepted and written into the settings
	 * as the instants they mean at now.  Elsewhere they are refused.
	 */
	bool			 allow_in;
	/*
	 * All errors come here; text is the sentence alone, line that of the
	 * job's own setting or 0, key "" when no key is concerned.
	 */
	void	(*error)(void *arg, int line, const char *key,
		    const char *text);
	void	(*warning)(void *arg, int line, const char *key,
		    const char *text);		/* may be NULL */
	void			*arg;
};

/*
 * Builds the definition from layers, the strongest first: job, file's
 * defaults, configuration's defaults; then built-in ones.  NULL after at
 * least one call of context->error.
 */
struct jobdef	*jobdef_build(const char *name,
		    const struct jobdef_settings *const *layers,
		    size_t n_layers, const struct jobdef_context *);
void		 jobdef_free(struct jobdef *);	/* accepts NULL */
/*
 * The same checks for a layer of defaults, which needs no schedule and no
 * command.  -1 after at least one call of context->error.
 */
int		 jobdef_check_defaults(const struct jobdef_settings *,
		    const struct jobdef_context *);

/* Spec section 3: 1-48 of A-Za-z0-9_.@-, at least one letter, ... */
int		 jobdef_name_check(const char *name, struct error *err);
/* NAME, or USER/NAME as jobs that other users added are called. */
int		 jobdef_full_name_check(const char *name, struct error *err);
/* Same name, and every setting is written alike. */
bool		 jobdef_equal(const struct jobdef *, const struct jobdef *);
/*
 * They have the same occurrences: no new generation is needed.  Says no when
 * a zone's file or the daemon's zone has changed, even if the jobs are equal.
 */
bool		 jobdef_same_times(const struct jobdef *,
		    const struct jobdef *);
/*
 * Each key in which two differ, in the order of the table, with both values;
 * NULL: not set.  Values that repeat are joined by " | ".
 */
void		 jobdef_differences(const struct jobdef *,
		    const struct jobdef *, void (*differs)(void *arg,
		    const char *key, const char *a, const char *b), void *arg);
/* "[NAME]\nkey = value\n..." such that parsing gives the same job; free(). */
char		*jobdef_format_ini(const struct jobdef *);

/* Coming occurrences within the bounds; false when there is none. */
bool		 jobdef_next(const struct jobdef *, int64_t after,
		    int64_t *next);
bool		 jobdef_previous(const struct jobdef *, int64_t before,
		    int64_t *previous);
/*
 * max_late of one occurrence in ms; -1: no limit.  auto: the smaller of 3 h
 * and half the time to the next occurrence, at least 1 min; one-shots: none.
 */
int64_t		 jobdef_max_late(const struct jobdef *, int64_t occurrence);
bool		 jobdef_is_one_shot(const struct jobdef *);
/* "30 2 * * *"; several joined by " | ". free(). */
char		*jobdef_schedule_text(const struct jobdef *);
const char	*jobdef_overlap_name(int overlap);

#endif
