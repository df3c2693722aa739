/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_FILES_H
#define CRONCTL_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"
#include "common/jobdef.h"
#include "common/jobfile.h"
#include "common/protocol.h"
#include "common/zone.h"
#include "daemon/config.h"

struct event_base;

/*
 * The helper that reads files: job files, zones, outputs, spools; and makes
 * the descriptors of the next worker.  Results are owned objects, given to
 * the callback for the call only unless it takes them: what it takes it
 * replaces by nothing (NULL, an empty set, -1); the rest is released after
 * the call.  A function that returns false has too much waiting and calls
 * nothing.
 */
struct files;

/* Copied by files_new; what jobs are built with. */
struct files_context {
	const char	*jobs_dir;
	const char	*state_dir;
	const char	*workers_dir;	/* runtime/workers */
	const char	*host_id;
	const char	*zone_name;	/* the daemon's; NULL: the host's */
	const char	*env_tz;	/* TZ of the daemon's environment */
	const struct jobdef_settings *defaults;
	bool		 check_owner;
	uid_t		 owner;
	/* inotify(7), see jobdir_watch.h; 0: nothing is watched */
	int		 watch_jobs;	/* the job files */
	int		 watch_zones;	/* zone files */
};

/* NULL, said in the log, when there is no thread to be had. */
struct files	*files_new(const struct files_context *, struct event_base *);
/* Ends the thread; completions run, and from here on nothing is taken. */
void		 files_stop(struct files *);
void		 files_free(struct files *);

/*
 * A request that is not answered within 10 s: what is being read, or NULL.
 * on_slow is told of it when it concerns job files.
 */
const char *files_slow(const struct files *);
void	files_on_slow(struct files *, void (*fn)(void *arg, const char *text),
	    void *arg);
void	files_set_slow(struct files *, int slow_ms);	/* for tests */

/* A job in a good file. */
struct files_section {
	struct jobfile_job *place;	/* def is NULL when it was taken */
	struct jobfile	*file;
	uint64_t	 sequence;	/* by file and line, over all files */
};

/* All job files.  err.text is "" unless the directory can't be read. */
struct files_jobs {
	struct jobfile_set	 set;
	struct files_section	*sections;	/* by name, then sequence */
	size_t			 n_sections;
	char			*zone;		/* the daemon's; or NULL */
	struct config		*config;	/* if it was read and is good */
	char			**config_errors;
	size_t			 n_config_errors; /* then nothing was read */
	struct error		 err;
};
struct files_load {
	const struct config *config;	/* of the start: read the file again;
					 * or NULL */
	bool		 keep;		/* later readings follow it too */
};
bool	files_load_jobs(struct files *, const struct files_load *,
	    void (*done)(void *arg, struct files_jobs *), void *arg);
/* Without the threads: the same, at once. */
void	files_load_jobs_now(const struct files_context *, struct files_jobs *);
void	files_jobs_release(struct files_jobs *);
/* Definitions of clients are built with these from now on. */
bool	files_configure(struct files *, const char *zone,
	    const struct jobdef_settings *defaults);
/* The last good text of a file, parsed as files_load_jobs does. */
struct jobfile *files_parse_now(const struct files_context *,
	    const char *name, const char *text, size_t len);

/* One definition from its settings (zones are read here, not on the loop). */
struct files_built {
	struct jobdef	 *def;		/* NULL: see errors; may be taken */
	char		**errors;	/* "key: sentence" */
	size_t		  n_errors;
	char		**warnings;
	size_t		  n_warnings;
};
bool	files_build(struct files *, const char *name,
	    const struct jobdef_settings *, int64_t now, bool allow_in,
	    void (*done)(void *arg, struct files_built *), void *arg);
/* Start-up: a control-added job from its INI text. */
struct jobdef *files_build_now(const struct files_context *,
	    const char *ini, struct error *err);

/*
 * Definitions in force, built again because a zone may have changed.  The
 * list is taken when true is returned.
 */
struct files_rebuild {
	int64_t			 id;		/* of the job */
	char			*name;		/* owned, as settings */
	struct jobdef_settings	 settings;	/* of the definition */
	struct jobdef		*def;		/* the result; may be taken */
};
struct files_rebuilt {
	struct files_rebuild	*v;
	size_t			 n;
	struct error		 err;		/* the first, if any */
};
bool	files_rebuild(struct files *, struct files_rebuilt *,
	    void (*done)(void *arg, struct files_rebuilt *), void *arg);
void	files_rebuilt_release(struct files_rebuilt *);

/* A page of a run's kept output, from offset of the joined text. */
struct files_output {
	char		*data;		/* may hold anything */
	size_t		 len;
	int64_t		 next;		/* offset to go on at */
	bool		 end;		/* nothing after this page */
	struct error	 err;		/* "" when all is well */
};
#define FILES_OUTPUT_PAGE (32 * 1024)
bool	files_read_output(struct files *, uint64_t run_id, int64_t offset,
	    void (*done)(void *arg, struct files_output *), void *arg);

/*
 * Workers that an earlier daemon left: the numbers in workers_dir whose lock
 * is held, those whose lock is free, and numbers that have only a spool.
 */
struct files_left_worker {
	uint64_t	 number;
	bool		 alive;		/* its lock is held */
	char		*spool;		/* bytes of its spool, or NULL */
	size_t		 spool_len;
};
struct files_left_workers {
	struct files_left_worker *v;
	size_t		 n;
	struct error	 err;
};
int	files_find_workers_now(const struct files_context *,
	    struct files_left_workers *, struct error *err);
/*
 * The same for one number, later: a worker of ours went away.  One that
 * can't be looked at counts as alive: ask again.
 */
bool	files_find_worker(struct files *, uint64_t number,
	    void (*done)(void *arg, struct files_left_worker *), void *arg);
void	files_left_workers_release(struct files_left_workers *);
/* After its results are committed: socket, lock file and spool. */
void	files_remove_worker(struct files *, uint64_t number);

/*
 * What a worker is started with; descriptors are close-on-exec.  Whoever
 * takes a kit leaves -1 in each member, else it is closed after the call.
 */
struct files_worker_kit {
	uint64_t	 number;
	int		 listener;	/* -1 throughout on error */
	int		 lock;
	int		 daemon_end;	/* our end of the socket pair */
	int		 worker_end;
	int		 output_dir;
	int		 spool_dir;
	struct error	 err;
};
int	files_make_worker_kit_now(const struct files_context *,
	    uint64_t number, struct files_worker_kit *, struct error *err);
bool	files_make_worker_kit(struct files *, uint64_t number,
	    void (*done)(void *arg, struct files_worker_kit *), void *arg);
void	files_worker_kit_close(struct files_worker_kit *);

#endif
