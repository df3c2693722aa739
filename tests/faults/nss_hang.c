/* SPDX-License-Identifier: ISC */
/*
 * A name service that never answers: libnss_hang.so.2, for tests with an
 * nsswitch.conf of their own ("passwd: files hang").  Whoever is not found
 * before is looked for here, for ever.
 */
#include "config.h"

#include <grp.h>
#include <nss.h>
#include <pwd.h>
#include <stddef.h>
#include <unistd.h>

enum nss_status	_nss_hang_getpwnam_r(const char *, struct passwd *, char *,
		    size_t, int *);
enum nss_status	_nss_hang_getpwuid_r(uid_t, struct passwd *, char *, size_t,
		    int *);
enum nss_status	_nss_hang_getgrnam_r(const char *, struct group *, char *,
		    size_t, int *);
enum nss_status	_nss_hang_getgrgid_r(gid_t, struct group *, char *, size_t,
		    int *);

static _Noreturn void
hang(void)
{
	for (;;)
		pause();
}

enum nss_status
_nss_hang_getpwnam_r(const char *name, struct passwd *entry, char *buf,
    size_t size, int *errnum)
{
	(void)name, (void)entry, (void)buf, (void)size, (void)errnum;
	hang();
}

enum nss_status
_nss_hang_getpwuid_r(uid_t uid, struct passwd *entry, char *buf, size_t size,
    int *errnum)
{
	(void)uid, (void)entry, (void)buf, (void)size, (void)errnum;
	hang();
}

enum nss_status
_nss_hang_getgrnam_r(const char *name, struct group *entry, char *buf,
    size_t size, int *errnum)
{
	(void)name, (void)entry, (void)buf, (void)size, (void)errnum;
	hang();
}

enum nss_status
_nss_hang_getgrgid_r(gid_t gid, struct group *entry, char *buf, size_t size,
    int *errnum)
{
	(void)gid, (void)entry, (void)buf, (void)size, (void)errnum;
	hang();
}
