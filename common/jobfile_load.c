/* SPDX-License-Identifier: ISC */
/*
 * Job files from disk.  What a file is and whose, is asked of the descriptor
 * it is read through, never of its path: a file swapped in between is judged
 * itself or not read.  Opening never waits for the other end of a FIFO and
 * follows a link only if the link itself is trusted; so is the target then.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/inifile.h"
#include "common/jobfile.h"
#include "common/jobfile_internal.h"
#include "common/xmalloc.h"

#define SUFFIX		".ini"
#define READ_FIRST	4096

static const char *
kind_name(mode_t mode)
{
	if (S_ISDIR(mode))
		return "a directory";
	if (S_ISFIFO(mode))
		return "a FIFO";
	if (S_ISSOCK(mode))
		return "a socket";
	if (S_ISLNK(mode))
		return "a link";
	return "a device";
}

static bool
is_trusted_owner(const struct jobfile_options *options, uid_t uid)
{
	return !options->check_owner || uid == 0 || uid == options->owner;
}

static int
wrong_owner(const char *what, const char *command, const char *path,
    const struct jobfile_options *options, uid_t uid, struct error *err)
{
	if (options->owner == 0)
		return error_set(err, "%s to uid %u, not to root; run: %s "
		    "root %s", what, (unsigned)uid, command, path);
	return error_set(err, "%s to uid %u, not to uid %u or root; run: %s "
	    "%u %s", what, (unsigned)uid, (unsigned)options->owner, command,
	    (unsigned)options->owner, path);
}

/* A link in the place of a job file: its own owner counts too. */
static int
check_link(const char *path, const struct jobfile_options *options,
    struct error *err)
{
	struct stat st;

	if (lstat(path, &st) == -1)
		return error_set_errno(err, errno, "can't look at the link");
	if (!S_ISLNK(st.st_mode) || is_trusted_owner(options, st.st_uid))
		return 0;
	return wrong_owner("the link belongs", "chown -h", path, options,
	    st.st_uid, err);
}

/* ENXIO: a socket or a device without a driver. */
static int
open_error(const char *path, int errnum, struct error *err)
{
	struct stat st;

	if (errnum == ENXIO && stat(path, &st) == 0)
		return error_set(err, "is %s; only regular files are read",
		    kind_name(st.st_mode));
	return error_set_errno(err, errnum, "can't open it");
}

static int
open_file(const char *path, const struct jobfile_options *options,
    struct error *err)
{
	const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	int fd = open(path, flags | O_NOFOLLOW);

	if (fd == -1 && errno == ELOOP) {
		if (check_link(path, options, err) == -1)
			return -1;
		fd = open(path, flags);
	}
	if (fd == -1)
		return open_error(path, errno, err);
	return fd;
}

static int
check_file(const char *path, const struct stat *st,
    const struct jobfile_options *options, struct error *err)
{
	if (!S_ISREG(st->st_mode))
		return error_set(err, "is %s; only regular files are read",
		    kind_name(st->st_mode));
	if (!is_trusted_owner(options, st->st_uid))
		return wrong_owner("belongs", "chown", path, options,
		    st->st_uid, err);
	if (options->check_owner && (st->st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return error_set(err, "can be written by %s; run: chmod go-w "
		    "%s", st->st_mode & S_IWOTH ? "everybody" : "its group",
		    path);
	if (st->st_size > INIFILE_FILE_MAX)
		return error_set(err, "%lld bytes; a file may have at most "
		    "%d", (long long)st->st_size, INIFILE_FILE_MAX);
	return 0;
}

/* Reads to the end, or to one byte more than a file may have. */
static char *
read_file(int fd, size_t expected, size_t *len, struct error *err)
{
	size_t cap = expected < READ_FIRST ? READ_FIRST : expected + 1;
	char *text = xmalloc(cap);
	ssize_t n;

	*len = 0;
	for (;;) {
		if (*len == cap && cap <= INIFILE_FILE_MAX)
			text = xreallocarray(text, cap *= 2, 1);
		n = read(fd, text + *len, cap - *len);
		if (n > 0) {
			*len += (size_t)n;
			if (*len > INIFILE_FILE_MAX)
				return text;
		} else if (n == 0) {
			return text;
		} else if (errno != EINTR) {
			error_set_errno(err, errno, "can't read it");
			free(text);
			return NULL;
		}
	}
}

static char *
load_text(const char *path, const struct jobfile_options *options,
    size_t *len, struct error *err)
{
	int fd = open_file(path, options, err);
	struct stat st;
	char *text = NULL;

	if (fd == -1)
		return NULL;
	if (fstat(fd, &st) == -1)
		error_set_errno(err, errno, "can't look at it");
	else if (check_file(path, &st, options, err) == 0)
		text = read_file(fd, (size_t)st.st_size, len, err);
	/* Nothing was written, so there is nothing that closing can lose. */
	(void)close(fd);
	return text;
}

struct jobfile *
jobfile_load(const char *path, const char *name,
    const struct jobfile_options *options)
{
	struct jobfile *file;
	struct error err;
	size_t len;
	char *text;

	if (options->opening != NULL)
		options->opening(options->arg, path);
	text = load_text(path, options, &len, &err);
	if (text == NULL) {
		file = jobfile_new(name);
		jobfile_fail(file, &err);
		return file;
	}
	file = jobfile_parse(name, text, len, options);
	free(text);
	return file;
}

bool
jobfile_is_name(const char *name)
{
	size_t len = strlen(name), suffix = strlen(SUFFIX);

	return *name != '.' && len > suffix &&
	    strcmp(name + len - suffix, SUFFIX) == 0;
}

struct names {
	char	**v;		/* of job files */
	size_t	 n;		/* of these */
	size_t	 n_ignored;	/* other names */
};

static void
release_names(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->v[i]);
	free(names->v);
}

static int
read_names(DIR *dir, struct names *names, struct error *err)
{
	struct dirent *entry;

	for (;;) {
		errno = 0;
		entry = readdir(dir);
		if (entry == NULL)
			break;
		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		if (!jobfile_is_name(entry->d_name)) {
			names->n_ignored++;
			continue;
		}
		if ((names->n & (names->n - 1)) == 0)
			names->v = xreallocarray(names->v, names->n > 0 ?
			    2 * names->n : 1, sizeof *names->v);
		names->v[names->n++] = xstrdup(entry->d_name);
	}
	if (errno != 0)
		return error_set_errno(err, errno, "can't read it");
	return 0;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "jobs.d" of "/etc/cronctl/jobs.d/"; "." of "". */
static char *
last_part(const char *path)
{
	size_t len = strlen(path), from;

	while (len > 1 && path[len - 1] == '/')
		len--;
	for (from = len; from > 0 && path[from - 1] != '/';)
		from--;
	return from < len ? xstrndup(path + from, len - from) : xstrdup(".");
}

static void
load_names(const char *path, const struct names *names,
    const struct jobfile_options *options, struct jobfile_set *set)
{
	char *shown = last_part(path);

	set->files = names->n > 0 ? xreallocarray(NULL, names->n,
	    sizeof *set->files) : NULL;
	set->n_files = names->n;
	set->n_ignored = names->n_ignored;
	for (size_t i = 0; i < names->n; i++) {
		char *file = xasprintf("%s/%s", path, names->v[i]);
		char *name = xasprintf("%s/%s", shown, names->v[i]);

		set->files[i] = jobfile_load(file, name, options);
		free(file);
		free(name);
	}
	free(shown);
}

int
jobfile_load_directory(const char *path,
    const struct jobfile_options *options, struct jobfile_set *set,
    struct error *err)
{
	struct names names = { NULL, 0, 0 };
	DIR *dir;
	int failed;

	memset(set, 0, sizeof *set);
	if (options->opening != NULL)
		options->opening(options->arg, path);
	dir = opendir(path);
	if (dir == NULL)
		return error_set_errno(err, errno, "can't open the directory "
		    "of job files %s", path);
	failed = read_names(dir, &names, err);
	(void)closedir(dir);
	if (failed == -1) {
		release_names(&names);
		return error_prefix(err, "the directory of job files %s",
		    path);
	}
	if (names.n > 0)
		qsort(names.v, names.n, sizeof *names.v, by_name);
	load_names(path, &names, options, set);
	release_names(&names);
	return 0;
}

void
jobfile_set_release(struct jobfile_set *set)
{
	for (size_t i = 0; i < set->n_files; i++)
		jobfile_free(set->files[i]);
	free(set->files);
	memset(set, 0, sizeof *set);
}
