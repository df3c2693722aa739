/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_HOST_ID_H
#define CRONCTL_HOST_ID_H

/*
 * The name of this host that the stable hash of schedules works with, unless
 * cronctld.conf says another one: daemon and command line must agree on it.
 * Made from /etc/machine-id, so that a new host name changes nothing; from
 * the host name where there is no machine id.  free().
 */
char	*host_id_make(void);

#endif
