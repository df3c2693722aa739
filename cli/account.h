/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_ACCOUNT_H
#define CRONCTL_ACCOUNT_H

#include <stdbool.h>

/*
 * Whether the host knows a user or a group by name; numbers are always
 * known.  A look-up that fails counts as known: it says nothing against the
 * name.  May take as long as the host's name service takes.
 */
bool	account_user_is_known(const char *name);
bool	account_group_is_known(const char *name);

#endif
