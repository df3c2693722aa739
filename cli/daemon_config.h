/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_CLI_DAEMON_CONFIG_H
#define CRONCTL_CLI_DAEMON_CONFIG_H

#include "common/jobdef.h"

/*
 * What the command line needs of cronctld.conf when it answers without a
 * daemon: the defaults below job files, the zone, the name of the host.
 * Everything else there, errors included, is for "cronctld --check".
 */
struct daemon_config {
	char	*timezone;		/* NULL: not set */
	char	*host_id;		/* never NULL */
	struct jobdef_settings defaults;	/* of [defaults] */
};

/* A file that is missing or unreadable is one that says nothing. */
void	daemon_config_load(struct daemon_config *, const char *path);
void	daemon_config_release(struct daemon_config *);
/*
 * Directory of the configuration, below which jobs.d is: the system's, or
 * with user that of XDG_CONFIG_HOME; free().  NULL when neither that nor
 * HOME is set.
 */
char	*daemon_config_directory(bool user);

#endif
