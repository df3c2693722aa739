/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_RELOAD_INTERNAL_H
#define CRONCTL_RELOAD_INTERNAL_H

#include "daemon/reload.h"

/*
 * Shared by the parts of reload, nobody else:
 *	reload.c	who asked for what; reading; status
 *	reload_pass.c	one comparison of what was read with what is in force
 *	reload_names.c	whose a name is, and which jobs no file has any more
 *	reload_zones.c	jobs of clients under changed zones
 */

/* What a reload is to do. */
enum reload_what {
	RELOAD_PLAN = 1,	/* change nothing, only say what would change */
	RELOAD_CONFIG = 2,	/* read cronctld.conf too */
	RELOAD_ZONES = 4,	/* zones of jobs of clients too */
	RELOAD_KEEP = 8,	/* what is gone from the files stays: they are
				 * being changed just now */
	RELOAD_LOUD = 16	/* the log says what it came to in any case */
};

/* A job file as it was last read. */
struct known_file {
	char		*name;
	uint64_t	 hash;
	bool		 in_error;
};

struct pass;

struct reload {
	struct reload_options	 o;
	struct reload_waiter	*waiting;	/* for the next reading */
	struct reload_waiter	*served;	/* by the one under way */
	unsigned		 what;		/* of the one under way */
	bool			 reading;	/* the helper has a request */
	bool			 leaving;	/* reload_free was called while
						 * a helper had a request */
	bool			 slow;		/* the reading hangs */
	uint64_t		 seen;		/* by watch, as reading began */
	unsigned		 torn;		/* readings in a row during
						 * which files changed */
	struct files_jobs	 read;		/* what was read */
	struct pass		*pass;		/* compares it; or NULL */
	size_t			 released;	/* files of read so far */
	struct config		*config;	/* read since the start; NULL */
	char			*zone;		/* the daemon's, as read; NULL */
	struct known_file	*known;		/* by name */
	size_t			 n_known;
	size_t			 n_ignored;
	char			**errors;	/* of the last reading */
	size_t			 n_errors;
	char			*owner_name;
};

enum pass_phase {
	PASS_CONFIG,		/* cronctld.conf */
	PASS_NAMES,		/* which sections count */
	PASS_GONE,		/* which jobs are in no file any more */
	PASS_SECTIONS,		/* new and changed jobs */
	PASS_REMOVE,		/* those that are gone */
	PASS_ZONES,		/* jobs of clients */
	PASS_FILES,		/* what the store keeps of the files */
	PASS_OVER
};

struct pass {
	struct reload		*r;
	unsigned		 what;		/* enum reload_what */
	enum pass_phase		 phase;
	size_t			 at;		/* item of the phase */
	bool			*refused;	/* sections that don't count */
	int64_t			*gone;		/* ids of jobs */
	size_t			 n_gone;
	char			*after;		/* PASS_ZONES: name reached */
	bool			 rebuilding;	/* a helper has a request */
	bool			 told;		/* somebody wants the details */
	size_t			 added, changed, removed;
	size_t			 replanned;	/* because of a zone */
	struct reload_result	 result;
};

/* --- reload_pass.c --- */
struct pass	*pass_new(struct reload *, unsigned what, bool told);
void		 pass_free(struct pass *);
/* One item; false when there is none left, or none that can be done now. */
bool		 pass_item(struct pass *);
bool		 pass_is_over(const struct pass *);
void		 pass_add_text(char ***v, size_t *n, char *text);

/* --- reload_names.c --- */
/* Each does one item; true when the phase is over. */
bool		 pass_judge_name(struct pass *);
bool		 pass_find_gone(struct pass *);
struct jobfile	*pass_find_file(const struct pass *, const char *name);

/* --- reload_zones.c --- */
bool		 pass_rebuild(struct pass *);

#endif
