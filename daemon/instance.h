/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_INSTANCE_H
#define CRONCTL_INSTANCE_H

#include <sys/types.h>

#include "common/error.h"

/*
 * The places that one daemon has for itself: the state directory and the
 * runtime directory, what is in them, and the locks that keep a second
 * daemon out of either (spec section 2).
 *
 *	state/		0700	lock output/ spool/
 *	runtime/	0755	lock control.sock workers/ (0700)
 */
struct instance;

/*
 * Makes what is missing, checks who owns it and its mode, takes both locks.
 * Refused: a directory of another owner, a second daemon (the sentence names
 * the first one's pid), a path that leaves no room for socket names.
 */
struct instance	*instance_open(const char *state_dir, const char *runtime_dir,
		    struct error *err);
/* Gives the locks back; the directories and lock files stay. */
void		 instance_close(struct instance *);

/* Absolute when those given to instance_open were; borrowed. */
const char	*instance_state_dir(const struct instance *);
const char	*instance_runtime_dir(const struct instance *);
const char	*instance_output_dir(const struct instance *);
const char	*instance_spool_dir(const struct instance *);
const char	*instance_workers_dir(const struct instance *);
const char	*instance_socket_path(const struct instance *);
/* Of the running kernel; changes with each boot. */
const char	*instance_boot_id(const struct instance *);

#endif
