/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_JOBFILE_H
#define CRONCTL_JOBFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"
#include "common/jobdef.h"

/* A job file read whole: its definitions, or every error in it. */
#define JOBFILE_JOBS_MAX 100000

struct jobfile_job {
	struct jobdef	*def;		/* owned by the file until taken */
	int		 line;		/* of its section */
};

struct jobfile {
	char			*name;		/* as shown: "jobs.d/web.ini" */
	uint64_t		 hash;		/* of the bytes */
	char			*text;		/* the bytes, or NULL: unreadable */
	size_t			 text_len;
	struct jobfile_job	*jobs;		/* in file order */
	size_t			 n_jobs;
	char			**errors;	/* "FILE:LINE: [job] key: sentence" */
	size_t			 n_errors;
	char			**warnings;	/* of the same form */
	size_t			 n_warnings;
};

struct jobfile_options {
	const char	*host_id;		/* see struct jobdef_context */
	struct zone	*zone;
	struct zone_cache *zones;		/* NULL: one for each file */
	int64_t		 now;			/* UTC seconds */
	const struct jobdef_settings *defaults;	/* configuration's; or NULL */
	bool		 check_owner;		/* permissions matter */
	uid_t		 owner;			/* root is accepted beside it */
	/* Told of each path before it is opened; or NULL. */
	void		(*opening)(void *arg, const char *path);
	void		*arg;			/* for opening */
};

/*
 * From bytes; never NULL.  With errors the jobs are dropped: any error
 * rejects the whole file.
 */
struct jobfile	*jobfile_parse(const char *name, const char *text, size_t len,
		    const struct jobfile_options *);
/*
 * From a file: opened without blocking on FIFOs, checked on the opened
 * descriptor (regular, size, owner, mode; a link and its target both).  A
 * file that can't be read is a jobfile with that one error.
 */
struct jobfile	*jobfile_load(const char *path, const char *name,
		    const struct jobfile_options *);
void		 jobfile_free(struct jobfile *);	/* accepts NULL */

/*
 * Names of a jobs.d that are job files: end in ".ini", don't begin with "."
 * or end in "~".
 */
bool		 jobfile_is_name(const char *name);

/*
 * All job files of a directory, by name in byte order; each is shown as
 * "DIRECTORY/NAME" with the last part of the directory's path.
 */
struct jobfile_set {
	struct jobfile	**files;	/* owned */
	size_t		 n_files;
	size_t		 n_ignored;	/* names left alone */
};

/* -1 when the directory is missing or unreadable. */
int		 jobfile_load_directory(const char *path,
		    const struct jobfile_options *, struct jobfile_set *,
		    struct error *err);
void		 jobfile_set_release(struct jobfile_set *);

#endif
