/* SPDX-License-Identifier: ISC */
/*
 * Workers as files: N.sock and N.lock below runtime/workers, N below
 * state/spool.
 *
 * N.lock is locked with flock(2) as long as the worker lives: the lock is of
 * the open file, which the worker inherits.  The spool is read only after the
 * lock was found free, so a worker that writes its spool and ends in between
 * is not missed.  Numbers come from a durable counter and are never used
 * twice, so a name that is removed here can't be a later worker's.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/log.h"
#include "common/xmalloc.h"
#include "daemon/files_internal.h"

#define SPOOL_MAX	((off_t)256 * 1024 * 1024)	/* bytes of one */
#define BACKLOG		4	/* one daemon at a time connects */

/* "1234": 1; anything else, and numbers that start with a zero: 0. */
static uint64_t
parse_number(const char *s, size_t len)
{
	uint64_t n = 0;

	if (len == 0 || len > 19 || s[0] == '0')
		return 0;
	for (size_t i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9')
			return 0;
		n = n * 10 + (uint64_t)(s[i] - '0');
	}
	return n;
}

/* Of N.sock, N.lock, or of N alone; 0: none of ours. */
static uint64_t
number_of_name(const char *name)
{
	size_t len = strcspn(name, ".");

	if (name[len] != '\0' && strcmp(name + len, ".sock") != 0 &&
	    strcmp(name + len, ".lock") != 0)
		return 0;
	return parse_number(name, len);
}

static char *
path_of(const char *dir, uint64_t number, const char *suffix)
{
	return xasprintf("%s/%" PRIu64 "%s", dir, number, suffix);
}

static char *
spool_dir(const struct files_context *context)
{
	return xasprintf("%s/spool", context->state_dir);
}

/* --- what is left of a worker --- */

/* 1: its lock is held; 0: it is free, or there is none. */
static int
is_alive(const struct files_context *context, uint64_t number,
    struct error *err)
{
	char *path = path_of(context->workers_dir, number, ".lock");
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int rc = 0;

	if (fd < 0 && errno != ENOENT)
		rc = error_set_errno(err, errno, "%s: can't open it", path);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno == EWOULDBLOCK)
			rc = 1;
		else
			rc = error_set_errno(err, errno, "%s: can't see "
			    "whether it is locked", path);
	}
	/* Closing lets go of the lock that was free. */
	if (fd >= 0 && close(fd) != 0 && rc == 0)
		rc = error_set_errno(err, errno, "%s: can't close it", path);
	free(path);
	return rc;
}

static int
read_whole(int fd, const char *path, char **data, size_t *len,
    struct error *err)
{
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) != 0)
		return error_set_errno(err, errno, "%s: can't look at it",
		    path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, "%s is not a regular file: move it away",
		    path);
	if (st.st_size > SPOOL_MAX)
		return error_set(err, "%s has %jd bytes, more than the %jd of "
		    "any spool: move it away", path, (intmax_t)st.st_size,
		    (intmax_t)SPOOL_MAX);
	*data = xmalloc((size_t)st.st_size + 1);
	*len = 0;
	while (*len < (size_t)st.st_size) {
		n = read(fd, *data + *len, (size_t)st.st_size - *len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set_errno(err, errno,
			    "%s: can't read it", path);
		if (n == 0)
			break;
		*len += (size_t)n;
	}
	return 0;
}

/* No spool is no error; *data stays NULL then. */
static int
read_spool(const struct files_context *context, uint64_t number, char **data,
    size_t *len, struct error *err)
{
	char *dir = spool_dir(context);
	char *path = path_of(dir, number, "");
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int rc = 0;

	if (fd < 0 && errno != ENOENT)
		rc = error_set_errno(err, errno, "%s: can't open it", path);
	if (fd >= 0) {
		rc = read_whole(fd, path, data, len, err);
		if (close(fd) != 0 && rc == 0)
			rc = error_set_errno(err, errno, "%s: can't close it",
			    path);
	}
	if (rc != 0) {
		free(*data);
		*data = NULL;
		*len = 0;
	}
	free(path);
	free(dir);
	return rc;
}

static int
look_at(const struct files_context *context, uint64_t number,
    struct files_left_worker *left, struct error *err)
{
	int alive = is_alive(context, number, err);

	*left = (struct files_left_worker){ .number = number,
	    .alive = alive == 1 };
	if (alive != 0)
		return alive < 0 ? -1 : 0;
	return read_spool(context, number, &left->spool, &left->spool_len,
	    err);
}

/* --- all of them, at start --- */

struct numbers {
	uint64_t	*v;	/* may hold one twice until sorted */
	size_t		 n;	/* of these */
	size_t		 cap;	/* allocated */
};

static void
numbers_add(struct numbers *list, uint64_t number)
{
	if (list->n == list->cap) {
		list->cap = list->cap * 2 + 16;
		list->v = xreallocarray(list->v, list->cap, sizeof *list->v);
	}
	list->v[list->n++] = number;
}

static int
compare(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	return x < y ? -1 : x > y;
}

static void
numbers_sort(struct numbers *list)
{
	size_t kept = 0;

	if (list->n == 0)
		return;
	qsort(list->v, list->n, sizeof *list->v, compare);
	for (size_t i = 1; i < list->n; i++)
		if (list->v[i] != list->v[kept])
			list->v[++kept] = list->v[i];
	list->n = kept + 1;
}

/* A directory that isn't there yet holds nothing. */
static int
scan(const char *path, struct numbers *list, struct error *err)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	uint64_t number;
	int rc = 0;

	if (dir == NULL && errno == ENOENT)
		return 0;
	if (dir == NULL)
		return error_set_errno(err, errno, "%s: can't open it", path);
	errno = 0;
	while ((entry = readdir(dir)) != NULL) {
		if ((number = number_of_name(entry->d_name)) != 0)
			numbers_add(list, number);
		errno = 0;
	}
	if (errno != 0)
		rc = error_set_errno(err, errno, "%s: can't read it", path);
	if (closedir(dir) != 0 && rc == 0)
		rc = error_set_errno(err, errno, "%s: can't close it", path);
	return rc;
}

int
files_find_workers_now(const struct files_context *context,
    struct files_left_workers *left, struct error *err)
{
	struct numbers list = { NULL, 0, 0 };
	char *spool = spool_dir(context);
	int rc = 0;

	*left = (struct files_left_workers){ .err = { "" } };
	if (scan(context->workers_dir, &list, err) != 0 ||
	    scan(spool, &list, err) != 0)
		rc = -1;
	free(spool);
	numbers_sort(&list);
	if (rc == 0 && list.n > 0)
		left->v = xcalloc(list.n, sizeof *left->v);
	for (size_t i = 0; rc == 0 && i < list.n; i++) {
		rc = look_at(context, list.v[i], &left->v[i], err);
		left->n++;
	}
	free(list.v);
	if (rc != 0)
		files_left_workers_release(left);
	return rc;
}

void
files_left_workers_release(struct files_left_workers *left)
{
	for (size_t i = 0; i < left->n; i++)
		free(left->v[i].spool);
	free(left->v);
	left->v = NULL;
	left->n = 0;
}

/* --- one of them, later --- */

struct find_request {
	struct files_request	  request;	/* first */
	uint64_t		  number;	/* which */
	struct files_left_worker  left;		/* the result */
	void	(*done)(void *arg, struct files_left_worker *);
	void			 *arg;		/* for done */
};

static void
find_work(const struct files_context *context, struct files_request *request)
{
	struct find_request *r = (struct find_request *)(void *)request;
	struct error err = { "" };

	/* Taken for alive, so that nothing of it is removed. */
	if (look_at(context, r->number, &r->left, &err) != 0) {
		log_error("files", "%s", err.text);
		r->left.alive = true;
	}
}

static void
find_done(struct files_request *request, struct files *f)
{
	struct find_request *r = (struct find_request *)(void *)request;

	(void)f;
	r->done(r->arg, &r->left);
	free(r->left.spool);
	free(r);
}

bool
files_find_worker(struct files *f, uint64_t number,
    void (*done)(void *, struct files_left_worker *), void *arg)
{
	struct find_request *r = xcalloc(1, sizeof *r);

	r->number = number;
	r->done = done;
	r->arg = arg;
	if (files_submit(f, &r->request, "what a worker left", find_work,
	    find_done))
		return true;
	free(r);
	return false;
}

/* --- removal --- */

struct remove_request {
	struct files_request	 request;	/* first */
	uint64_t		 number;	/* which */
};

static void
remove_file(const char *dir, uint64_t number, const char *suffix)
{
	char *path = path_of(dir, number, suffix);

	if (unlink(path) != 0 && errno != ENOENT)
		log_error("files", "%s: can't remove it: %s", path,
		    strerrordesc_np(errno));
	free(path);
}

/* The lock goes last: while it is there the rest is looked for at start. */
static void
remove_work(const struct files_context *context,
    struct files_request *request)
{
	struct remove_request *r = (struct remove_request *)(void *)request;
	char *spool = spool_dir(context);

	remove_file(spool, r->number, ".tmp");
	remove_file(spool, r->number, "");
	remove_file(context->workers_dir, r->number, ".sock");
	remove_file(context->workers_dir, r->number, ".lock");
	free(spool);
}

static void
remove_done(struct files_request *request, struct files *f)
{
	(void)f;
	free(request);
}

void
files_remove_worker(struct files *f, uint64_t number)
{
	struct remove_request *r = xcalloc(1, sizeof *r);

	r->number = number;
	if (files_submit(f, &r->request, "what a worker left", remove_work,
	    remove_done))
		return;
	free(r);
	/* Also the spare kit, when the helper has stopped: as every start. */
	log_debug("files", "what is left of worker %" PRIu64 " stays until "
	    "the next start", number);
}

/* --- what a new worker is started with --- */

static void
kit_init(struct files_worker_kit *kit, uint64_t number)
{
	*kit = (struct files_worker_kit){ .number = number, .listener = -1,
	    .lock = -1, .daemon_end = -1, .worker_end = -1, .output_dir = -1,
	    .spool_dir = -1, .err = { "" } };
}

void
files_worker_kit_close(struct files_worker_kit *kit)
{
	int *fds[] = { &kit->listener, &kit->lock, &kit->daemon_end,
	    &kit->worker_end, &kit->output_dir, &kit->spool_dir };

	for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
		if (*fds[i] >= 0 && close(*fds[i]) != 0)
			log_error("files", "worker %" PRIu64 ": can't close "
			    "a descriptor: %s", kit->number,
			    strerrordesc_np(errno));
		*fds[i] = -1;
	}
}

static int
make_directory(const char *path, struct error *err)
{
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return error_set_errno(err, errno, "%s: can't make it", path);
	return 0;
}

static int
open_directory(const char *parent, const char *name, int *fd,
    struct error *err)
{
	char *path = xasprintf("%s/%s", parent, name);
	int rc = make_directory(path, err);

	if (rc == 0) {
		*fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC |
		    O_NOFOLLOW);
		if (*fd < 0)
			rc = error_set_errno(err, errno, "%s: can't open it",
			    path);
	}
	free(path);
	return rc;
}

static int
make_lock(const char *dir, struct files_worker_kit *kit, struct error *err)
{
	char *path = path_of(dir, kit->number, ".lock");
	int rc = 0;

	kit->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW |
	    O_NONBLOCK, 0600);
	if (kit->lock < 0)
		rc = error_set_errno(err, errno, "%s: can't make it", path);
	else if (flock(kit->lock, LOCK_EX | LOCK_NB) != 0)
		rc = errno == EWOULDBLOCK ?
		    error_set(err, "%s is locked: another worker %" PRIu64
		    " is alive", path, kit->number) :
		    error_set_errno(err, errno, "%s: can't lock it", path);
	free(path);
	return rc;
}

/*
 * The mode of the socket file is that of the descriptor (and the umask)
 * when it is bound: no moment in which others could connect.
 */
static int
bind_listener(const char *path, struct files_worker_kit *kit,
    struct error *err)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof sun.sun_path)
		return error_set(err, "%s: the path of a worker's socket has "
		    "%zu bytes, at most %zu can be: choose a shorter runtime "
		    "directory", path, strlen(path), sizeof sun.sun_path - 1);
	memcpy(sun.sun_path, path, strlen(path) + 1);
	if (unlink(path) != 0 && errno != ENOENT)
		return error_set_errno(err, errno, "%s: can't remove the old "
		    "one", path);
	kit->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC |
	    SOCK_NONBLOCK, 0);
	if (kit->listener < 0)
		return error_set_errno(err, errno, "%s: no socket to be had",
		    path);
	if (fchmod(kit->listener, 0600) != 0 ||
	    bind(kit->listener, (struct sockaddr *)&sun, sizeof sun) != 0)
		return error_set_errno(err, errno, "%s: can't bind it", path);
	if (listen(kit->listener, BACKLOG) != 0)
		return error_set_errno(err, errno, "%s: can't listen on it",
		    path);
	return 0;
}

static int
make_pair(struct files_worker_kit *kit, struct error *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return error_set_errno(err, errno, "no socket pair for worker "
		    "%" PRIu64, kit->number);
	kit->daemon_end = pair[0];
	kit->worker_end = pair[1];
	if (fcntl(pair[0], F_SETFL, O_NONBLOCK) != 0)
		return error_set_errno(err, errno, "the socket pair of worker "
		    "%" PRIu64 " can't be made non-blocking", kit->number);
	return 0;
}

int
files_make_worker_kit_now(const struct files_context *context,
    uint64_t number, struct files_worker_kit *kit, struct error *err)
{
	char *socket_path = path_of(context->workers_dir, number, ".sock");
	int rc = -1;

	kit_init(kit, number);
	if (make_directory(context->workers_dir, err) == 0 &&
	    make_lock(context->workers_dir, kit, err) == 0 &&
	    bind_listener(socket_path, kit, err) == 0 &&
	    make_pair(kit, err) == 0 &&
	    open_directory(context->state_dir, "output", &kit->output_dir,
	    err) == 0 &&
	    open_directory(context->state_dir, "spool", &kit->spool_dir,
	    err) == 0)
		rc = 0;
	free(socket_path);
	if (rc != 0)
		files_worker_kit_close(kit);
	return rc;
}

struct kit_request {
	struct files_request	 request;	/* first */
	struct files_worker_kit	 kit;		/* the result */
	void	(*done)(void *arg, struct files_worker_kit *);
	void			*arg;		/* for done */
};

static void
kit_work(const struct files_context *context, struct files_request *request)
{
	struct kit_request *r = (struct kit_request *)(void *)request;
	struct error err = { "" };

	if (files_make_worker_kit_now(context, r->kit.number, &r->kit,
	    &err) != 0)
		r->kit.err = err;
}

/* What the callback has not taken (and marked -1) is closed. */
static void
kit_done(struct files_request *request, struct files *f)
{
	struct kit_request *r = (struct kit_request *)(void *)request;

	(void)f;
	r->done(r->arg, &r->kit);
	files_worker_kit_close(&r->kit);
	free(r);
}

bool
files_make_worker_kit(struct files *f, uint64_t number,
    void (*done)(void *, struct files_worker_kit *), void *arg)
{
	struct kit_request *r = xcalloc(1, sizeof *r);

	kit_init(&r->kit, number);
	r->done = done;
	r->arg = arg;
	if (files_submit(f, &r->request, "directories of workers", kit_work,
	    kit_done))
		return true;
	free(r);
	return false;
}
