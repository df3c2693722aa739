/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_WORKER_RESULTS_H
#define CRONCTL_WORKER_RESULTS_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/protocol.h"

/*
 * Ends of runs that no daemon has acknowledged yet.  They are kept here, and
 * on disk (the spool) when there is no daemon to tell.
 */
struct results;

struct results	*results_new(void);
void		 results_free(struct results *);

/* Copies it, strings too.  A run has one result. */
void		 results_add(struct results *, const struct protocol_ended *);
/* NULL: none for that run. */
const struct protocol_ended *results_find(const struct results *,
		    uint64_t run_id);
/* Nothing happens if there is none. */
void		 results_remove(struct results *, uint64_t run_id);
size_t		 results_count(const struct results *);
/* In the order of their ends; i below the count. */
const struct protocol_ended *results_get(const struct results *, size_t i);

/*
 * Makes the spool file named after the worker's number hold all of them,
 * whole or not at all, on disk when this returns 0.
 */
int		 results_spool(const struct results *, int dirfd,
		    uint64_t number, struct error *err);

#endif
