/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_DAEMON_FILES_INTERNAL_H
#define CRONCTL_DAEMON_FILES_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "daemon/files.h"
#include "daemon/helper.h"

/*
 * What the modules of the files helper share.  Private to them.
 *
 *	files		the helper; job files and definitions
 *	files_output	pages of kept output
 *	files_worker	left workers, descriptors of new ones
 */

/*
 * A request of any kind: the kind's own struct has this as its first member.
 * Each kind is two functions: what is done on the thread, and what follows
 * on the loop, which also frees the request.
 */
struct files_request {
	struct helper_request	 request;	/* first; see helper.h */
	/* On the thread, with the helper's own copy of the context. */
	void	(*work)(const struct files_context *, struct files_request *);
};

/*
 * Submits a request of that kind; false when the queue is full, and then the
 * request is still the caller's.
 */
bool	files_submit(struct files *, struct files_request *,
	    void (*work)(const struct files_context *, struct files_request *),
	    void (*done)(struct helper_request *, void *arg));

#endif
