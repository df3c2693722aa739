/* SPDX-License-Identifier: ISC */
/*
 * From the words of a START to ids, and from ids to being them.  Every call
 * that gives up a right is checked, and what came of it is looked at again.
 */
#include "config.h"

#include "worker/identity.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/xmalloc.h"

#define ID_MAX		UINT32_C(4294967294)	/* -1 means "no id" */
#define NAME_MAX_LEN	256			/* of a user or group */
#define GROUPS_FIRST	64			/* room to begin with */

/* The errno values that getpwnam(3) gives for "not found". */
static bool
means_unknown(int errnum)
{
	return errnum == 0 || errnum == ENOENT || errnum == ESRCH ||
	    errnum == EBADF || errnum == EPERM;
}

static int
look_up_failed(const char *what, const char *quoted, int saved, int *errnum,
    struct error *err)
{
	if (means_unknown(saved)) {
		*errnum = 0;
		return error_set(err, "%s %s does not exist; create it or "
		    "change the job", what, quoted);
	}
	*errnum = saved;
	return error_set_errno(err, saved, "%s %s can't be looked up", what,
	    quoted);
}

static bool
is_number(const char *s)
{
	return s[0] != '\0' && strspn(s, "0123456789") == strlen(s);
}

/* A number as it is written once only: no sign, no leading zeros. */
static int
parse_id(const char *s, uint32_t *id)
{
	unsigned long long value;

	if (strlen(s) > 10 || (s[0] == '0' && s[1] != '\0'))
		return -1;
	value = strtoull(s, NULL, 10);
	if (value > ID_MAX)
		return -1;
	*id = (uint32_t)value;
	return 0;
}

/* What no name service should be asked for. */
static int
check_word(const char *what, const char *s, const char *quoted,
    struct error *err)
{
	size_t len = strlen(s);

	if (len == 0)
		return error_set(err, "%s is empty; give a name or a number",
		    what);
	if (len > NAME_MAX_LEN)
		return error_set(err, "%s %s is longer than %d characters",
		    what, quoted, NAME_MAX_LEN);
	for (size_t i = 0; i < len; i++)
		if (iscntrl((unsigned char)s[i]) || strchr(":/ ", s[i]) !=
		    NULL)
			return error_set(err, "%s %s is neither a name nor a "
			    "number", what, quoted);
	if (s[0] == '-' || s[0] == '+')
		return error_set(err, "%s %s is neither a name nor a number",
		    what, quoted);
	return 0;
}

static struct passwd *
find_account(const char *s, int *errnum, struct error *err)
{
	char quoted[ERROR_QUOTE_MAX];
	struct passwd *pw;
	uint32_t id;

	*errnum = 0;
	error_quote(quoted, s, strlen(s));
	if (check_word("user", s, quoted, err) == -1)
		return NULL;
	if (is_number(s)) {
		if (parse_id(s, &id) == -1) {
			error_set(err, "user %s is not the number of a user",
			    quoted);
			return NULL;
		}
		errno = 0;
		pw = getpwuid(id);
	} else {
		errno = 0;
		pw = getpwnam(s);
	}
	if (pw == NULL)
		look_up_failed("user", quoted, errno, errnum, err);
	return pw;
}

static void
take_account(struct identity *id, const struct passwd *pw)
{
	id->uid = pw->pw_uid;
	id->gid = id->user_gid = pw->pw_gid;
	id->name = xstrdup(pw->pw_name);
	id->home = xstrdup(pw->pw_dir[0] == '/' ? pw->pw_dir : "/");
}

/* The owner, who must still be the one that the definition was made by. */
static int
find_owner(const struct protocol_start *start, struct identity *id,
    int *errnum, struct error *err)
{
	char quoted[ERROR_QUOTE_MAX];
	struct passwd *pw;

	*errnum = 0;
	if (start->owner_uid < 0 || start->owner_uid > ID_MAX)
		return error_set(err, "the owner's number %lld is not that of "
		    "a user", (long long)start->owner_uid);
	errno = 0;
	if (start->owner_name != NULL) {
		error_quote(quoted, start->owner_name,
		    strlen(start->owner_name));
		if ((pw = getpwnam(start->owner_name)) == NULL)
			return look_up_failed("owner", quoted, errno, errnum,
			    err);
		if (pw->pw_uid != start->owner_uid)
			return error_set(err, "owner %s has number %lu now, "
			    "not %lld; define the job again", quoted,
			    (unsigned long)pw->pw_uid,
			    (long long)start->owner_uid);
		take_account(id, pw);
		return 0;
	}
	if ((pw = getpwuid((uid_t)start->owner_uid)) != NULL) {
		take_account(id, pw);
		return 0;
	}
	id->name = xasprintf("%lld", (long long)start->owner_uid);
	if (!means_unknown(errno) || start->owner_uid != geteuid())
		return look_up_failed("owner", id->name, errno, errnum, err);
	id->uid = geteuid();
	id->gid = id->user_gid = getegid();
	id->home = xstrdup("/");
	return 0;
}

int
identity_find_user(const struct protocol_start *start, struct identity *id,
    int *errnum, struct error *err)
{
	struct passwd *pw;

	*id = (struct identity){ 0 };
	if (find_owner(start, id, errnum, err) == -1)
		return -1;
	if (start->user != NULL) {
		if ((pw = find_account(start->user, errnum, err)) == NULL)
			return -1;
		take_account(id, pw);
	}
	if (geteuid() != 0 && id->uid != geteuid())
		return error_set(err, "only root can run a job as user %s; "
		    "this daemon runs as user %lu", id->name,
		    (unsigned long)geteuid());
	if (geteuid() == 0 && start->owner_uid != 0 &&
	    id->uid != start->owner_uid)
		return error_set(err, "a job of user %lld may not run as user "
		    "%s", (long long)start->owner_uid, id->name);
	return 0;
}

/* The user's groups; *n of them.  -1: more than the system allows. */
static gid_t *
user_groups(const struct identity *id, int *n)
{
	gid_t *groups = NULL;

	for (*n = GROUPS_FIRST;;) {
		int before = *n;

		groups = xreallocarray(groups, (size_t)*n, sizeof *groups);
		if (getgrouplist(id->name, id->user_gid, groups, n) != -1)
			return groups;
		if (*n <= before)
			*n = before * 2;
	}
}

static bool
is_own_group(const struct identity *id, gid_t gid)
{
	gid_t *groups;
	bool found = false;
	int n;

	if (gid == id->user_gid)
		return true;
	groups = user_groups(id, &n);
	for (int i = 0; i < n; i++)
		found = found || groups[i] == gid;
	free(groups);
	return found;
}

int
identity_find_group(const struct protocol_start *start, struct identity *id,
    int *errnum, struct error *err)
{
	char quoted[ERROR_QUOTE_MAX];
	const char *s = start->group;
	struct group *gr;
	uint32_t number;

	*errnum = 0;
	if (s == NULL)
		return 0;
	error_quote(quoted, s, strlen(s));
	if (check_word("group", s, quoted, err) == -1)
		return -1;
	if (is_number(s)) {
		if (parse_id(s, &number) == -1)
			return error_set(err, "group %s is not the number of "
			    "a group", quoted);
		errno = 0;
		gr = getgrgid(number);
	} else {
		errno = 0;
		gr = getgrnam(s);
	}
	if (gr == NULL)
		return look_up_failed("group", quoted, errno, errnum, err);
	id->gid = gr->gr_gid;
	if (geteuid() == 0 && start->owner_uid != 0 &&
	    !is_own_group(id, id->gid))
		return error_set(err, "group %s is none of user %s's groups",
		    quoted, id->name);
	return 0;
}

int
identity_become_group(const struct identity *id, int *errnum,
    struct error *err)
{
	gid_t real, effective, saved;

	*errnum = 0;
	if (geteuid() == 0 && initgroups(id->name, id->user_gid) == -1) {
		*errnum = errno;
		return error_set_errno(err, *errnum, "the groups of user %s "
		    "can't be set", id->name);
	}
	if (geteuid() != 0 && id->gid == getegid() && id->gid == getgid())
		return 0;
	if (setresgid(id->gid, id->gid, id->gid) == -1) {
		*errnum = errno;
		return error_set_errno(err, *errnum, "group %lu can't be set",
		    (unsigned long)id->gid);
	}
	if (getresgid(&real, &effective, &saved) == -1 || real != id->gid ||
	    effective != id->gid || saved != id->gid)
		return error_set(err, "group %lu was set without effect",
		    (unsigned long)id->gid);
	return 0;
}

int
identity_become_user(const struct identity *id, int *errnum,
    struct error *err)
{
	uid_t real, effective, saved;

	*errnum = 0;
	if (setresuid(id->uid, id->uid, id->uid) == -1) {
		*errnum = errno;
		return error_set_errno(err, *errnum, "user %s can't be set",
		    id->name);
	}
	if (getresuid(&real, &effective, &saved) == -1 || real != id->uid ||
	    effective != id->uid || saved != id->uid ||
	    (id->uid != 0 && setuid(0) == 0))
		return error_set(err, "user %s was set without effect",
		    id->name);
	return 0;
}
