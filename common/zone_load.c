/* SPDX-License-Identifier: ISC */
/*
 * Where zones come from: the zone database's files by name, the host's own
 * zone, and a cache by name.
 *
 * A name is looked at before a path is made of it, so that nothing outside
 * the database is ever opened; a name that leads nowhere is compared with
 * all names of the database, which costs a walk over some 600 files and
 * happens on errors only.
 */
#include "config.h"

#include "common/zone.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/hash.h"
#include "common/nearest.h"
#include "common/strbuf.h"
#include "common/xmalloc.h"
#include "common/zone_internal.h"

#define ZONE_DIR	"/usr/share/zoneinfo"
#define LOCALTIME	"/etc/localtime"
#define FILE_MAX	(512 * 1024)	/* real files have up to about 4 KiB */
#define NAMES_MAX	4096		/* names looked at for a suggestion */
#define DEPTH_MAX	3		/* America/Argentina/Ushuaia */

/* The names of the database. */
struct names {
	char	**v;	/* owned strings */
	size_t	  n;	/* entries in use */
};

static bool
is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || (c != '\0' && strchr("_-+/.", c) != NULL);
}

/* What is wrong with a name by its looks, or NULL. */
static const char *
name_fault(const char *name)
{
	size_t len = strlen(name);

	if (len == 0)
		return "is empty";
	if (len >= ZONE_NAME_MAX)
		return "is too long";
	if (name[0] == '/')
		return "is a path";
	if (strchr(name, ' ') != NULL || strchr(name, '\t') != NULL)
		return "has a blank in it";
	for (size_t i = 0; i < len; i++)
		if (!is_name_char(name[i]))
			return "has a character that no zone has";
	if (strstr(name, "..") != NULL || strstr(name, "//") != NULL ||
	    strstr(name, "./") != NULL || name[0] == '.' ||
	    name[len - 1] == '/')
		return "is a path";
	return NULL;
}

/* Whether to offer an entry of the database's directory as a name. */
static bool
is_offered(const char *entry)
{
	return entry[0] >= 'A' && entry[0] <= 'Z' &&
	    strchr(entry, '.') == NULL;
}

static void
names_walk(struct names *names, const char *prefix, int depth)
{
	char *path = xasprintf(ZONE_DIR "/%s", prefix);
	DIR *dir = opendir(path);
	struct dirent *e;

	free(path);
	if (dir == NULL)
		return;
	while (names->n < NAMES_MAX && (e = readdir(dir)) != NULL) {
		struct stat st;
		char *name;

		if (!is_offered(e->d_name) ||
		    fstatat(dirfd(dir), e->d_name, &st, 0) == -1)
			continue;
		name = xasprintf("%s%s%s", prefix, prefix[0] ? "/" : "",
		    e->d_name);
		if (S_ISREG(st.st_mode)) {
			names->v[names->n++] = name;
			continue;
		}
		if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
			names_walk(names, name, depth + 1);
		free(name);
	}
	closedir(dir);
}

static const char *
names_get(const void *arg, size_t i)
{
	const struct names *names = arg;

	return names->v[i];
}

static const char *
last_part(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash == NULL ? name : slash + 1;
}

static const char *
names_get_last(const void *arg, size_t i)
{
	return last_part(names_get(arg, i));
}

/*
 * The name that was meant: the nearest one, or, for a city alone or in the
 * wrong part of the world, the zone of the city with the nearest name.
 */
static const char *
names_nearest(const struct names *names, const char *name)
{
	const char *best = nearest_find(name, names->n, names_get, names);
	const char *city;

	if (best != NULL)
		return best;
	city = nearest_find(last_part(name), names->n, names_get_last, names);
	for (size_t i = 0; city != NULL && i < names->n; i++)
		if (names_get_last(names, i) == city)
			return names->v[i];
	return NULL;
}

static int
refuse_name(const char *name, const char *fault, struct error *err)
{
	struct names names = { xcalloc(NAMES_MAX, sizeof(char *)), 0 };
	struct strbuf hint = STRBUF_INIT;
	const char *near;

	names_walk(&names, "", 1);
	near = names_nearest(&names, name);
	if (near != NULL)
		strbuf_addf(&hint, "did you mean %s?", near);
	else if (names.n == 0)
		strbuf_addstr(&hint, "there is no zone database in "
		    ZONE_DIR "; install tzdata");
	else
		strbuf_addstr(&hint, "zones are named like Europe/Berlin; "
		    "see " ZONE_DIR);
	if (fault == NULL)
		error_set(err, "unknown time zone \"%.*s\"; %s",
		    ZONE_NAME_MAX, name, hint.buf);
	else if (name[0] == '\0')
		error_set(err, "the time zone is empty; write a name like "
		    "Europe/Berlin, or UTC");
	else
		error_set(err, "time zone \"%.*s\" %s; %s", ZONE_NAME_MAX,
		    name, fault, hint.buf);
	strbuf_release(&hint);
	for (size_t i = 0; i < names.n; i++)
		free(names.v[i]);
	free(names.v);
	return -1;
}

/* Reads a whole file, or leaves errno; ENOENT for what is no file. */
static int
read_file(const char *path, uint8_t **data, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	size_t room;
	ssize_t n = 0;
	int saved;

	if (fd == -1)
		return -1;
	if (fstat(fd, &st) == -1)
		goto fail;
	errno = S_ISREG(st.st_mode) ? EFBIG : ENOENT;
	if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX)
		goto fail;
	room = (size_t)st.st_size;
	*data = xmalloc(room);
	*len = 0;
	while (*len < room && (n = read(fd, *data + *len, room - *len)) != 0) {
		if (n > 0)
			*len += (size_t)n;
		else if (errno != EINTR)
			break;
	}
	if (n == -1) {
		saved = errno;
		free(*data);
		errno = saved;
		goto fail;
	}
	close(fd);
	return 0;
fail:
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

static struct zone *
load_path(const char *path, const char *name, struct error *err)
{
	struct zone *z;
	uint8_t *data;
	size_t len;

	if (read_file(path, &data, &len) == -1) {
		error_set_errno(err, errno, "can't read %s", path);
		return NULL;
	}
	z = zone_parse(name, data, len, err);
	free(data);
	if (z == NULL)
		error_prefix(err, "%s can't be used", path);
	return z;
}

struct zone *
zone_load(const char *name, struct error *err)
{
	const char *fault = name_fault(name);
	struct zone *z;
	struct stat st;
	char *path;

	if (fault != NULL) {
		refuse_name(name, fault, err);
		return NULL;
	}
	if (strcmp(name, "UTC") == 0)
		return zone_utc();
	path = xasprintf(ZONE_DIR "/%s", name);
	if (stat(path, &st) == -1 ? errno == ENOENT || errno == ENOTDIR :
	    S_ISDIR(st.st_mode)) {
		refuse_name(name, NULL, err);
		z = NULL;
	} else {
		z = load_path(path, name, err);
	}
	free(path);
	return z;
}

/* A zone from a TZ string alone, as TZ may hold one; NULL if it is none. */
static struct zone *
load_string(const char *s)
{
	struct zone *z = zone_new(s);

	if (strlen(s) >= ZONE_NAME_MAX ||
	    zone_rule_parse(&z->rule, s, strlen(s), NULL) == -1) {
		zone_unref(z);
		return NULL;
	}
	z->has_rule = true;
	z->hash = hash_bytes(s, strlen(s));
	zone_make_index(z);
	return z;
}

/* The name that a path below the database stands for, or NULL. */
static const char *
name_in_path(const char *path)
{
	static const char part[] = "/zoneinfo/";
	const char *p = strstr(path, part);

	return p == NULL ? NULL : p + sizeof(part) - 1;
}

static struct zone *
load_env(const char *tz, struct error *err)
{
	struct zone *z;

	if (*tz == ':')
		tz++;
	if (*tz == '/' && name_in_path(tz) != NULL)
		tz = name_in_path(tz);
	z = zone_load(tz, err);
	if (z == NULL && (z = load_string(tz)) == NULL)
		error_prefix(err, "TZ");
	return z;
}

struct zone *
zone_load_local(const char *env_tz, struct error *err)
{
	char target[PATH_MAX];
	const char *name;
	ssize_t n;

	if (env_tz != NULL && env_tz[0] != '\0')
		return load_env(env_tz, err);
	n = readlink(LOCALTIME, target, sizeof(target) - 1);
	if (n > 0) {
		target[n] = '\0';
		name = name_in_path(target);
		if (name != NULL && name_fault(name) == NULL)
			return zone_load(name, err);
	}
	if (access(LOCALTIME, F_OK) == -1 && errno == ENOENT)
		return zone_utc();
	return load_path(LOCALTIME, "localtime", err);
}

/* Zones by name, in the order they were asked for. */
struct zone_cache {
	struct zone	**v;	/* one reference each */
	size_t		  n;	/* entries in use */
	size_t		  cap;	/* entries allocated */
};

struct zone_cache *
zone_cache_new(void)
{
	return xcalloc(1, sizeof(struct zone_cache));
}

void
zone_cache_free(struct zone_cache *c)
{
	if (c == NULL)
		return;
	for (size_t i = 0; i < c->n; i++)
		zone_unref(c->v[i]);
	free(c->v);
	free(c);
}

struct zone *
zone_cache_get(struct zone_cache *c, const char *name, struct error *err)
{
	struct zone *z;

	for (size_t i = 0; i < c->n; i++)
		if (strcmp(zone_name(c->v[i]), name) == 0)
			return c->v[i];
	z = zone_load(name, err);
	if (z == NULL)
		return NULL;
	if (c->n == c->cap) {
		c->cap = c->cap == 0 ? 8 : c->cap * 2;
		c->v = xreallocarray(c->v, c->cap, sizeof(*c->v));
	}
	c->v[c->n++] = z;
	return z;
}

const struct zone *
zone_cache_at(const struct zone_cache *c, size_t i)
{
	return i < c->n ? c->v[i] : NULL;
}
