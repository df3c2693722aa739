/* SPDX-License-Identifier: ISC */
/*
 * Users and groups as the host knows them, for warnings only: what a name
 * stands for is looked up by the worker when a run starts.
 */
#include "config.h"

#include "cli/account.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>

static bool
is_number(const char *s)
{
	return *s != '\0' && s[strspn(s, "0123456789")] == '\0';
}

/* What getpwnam(3) says of a name that does not exist, or is 0. */
static bool
means_unknown(int errnum)
{
	return errnum == 0 || errnum == ENOENT || errnum == ESRCH;
}

bool
account_user_is_known(const char *name)
{
	if (is_number(name))
		return true;
	errno = 0;
	return getpwnam(name) != NULL || !means_unknown(errno);
}

bool
account_group_is_known(const char *name)
{
	if (is_number(name))
		return true;
	errno = 0;
	return getgrnam(name) != NULL || !means_unknown(errno);
}
