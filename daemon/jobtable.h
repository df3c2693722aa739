/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_JOBTABLE_H
#define CRONCTL_JOBTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/job.h"

/*
 * All jobs in force, by name, by id, and in the order of their names.
 * Finding is O(1); the order is made again when it is asked for after a
 * change (one insertion when little has changed).
 */
struct jobtable;

struct jobtable	*jobtable_new(void);
void		 jobtable_free(struct jobtable *);	/* frees its jobs */
/* The name must be free. */
void		 jobtable_add(struct jobtable *, struct job *);
/* Hands the job back. */
void		 jobtable_remove(struct jobtable *, struct job *);
struct job	*jobtable_find(const struct jobtable *, const char *name);
struct job	*jobtable_find_id(const struct jobtable *, int64_t id);
/*
 * The name nearest to a misspelled one, or NULL; of a large table only names
 * about where it would stand are looked at.
 */
const char	*jobtable_nearest(struct jobtable *, const char *name);
size_t		 jobtable_count(const struct jobtable *);
size_t		 jobtable_count_origin(const struct jobtable *,
		    enum job_origin);
/*
 * A name that is about to be added, as its definition is on the way to the
 * disk: nobody else may take it.  False when it is in use or reserved.
 */
bool		 jobtable_reserve(struct jobtable *, const char *name);
void		 jobtable_unreserve(struct jobtable *, const char *name);
bool		 jobtable_is_reserved(const struct jobtable *,
		    const char *name);
/*
 * In byte order of names.  Position of the first job whose name is greater
 * than after (NULL: of the first); then jobtable_at from there on.
 */
size_t		 jobtable_position(struct jobtable *, const char *after);
struct job	*jobtable_at(struct jobtable *, size_t i);	/* NULL: end */

#endif
