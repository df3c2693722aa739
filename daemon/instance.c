/* SPDX-License-Identifier: ISC */
/*
 * Directories and locks, once at start and before any thread runs.
 *
 * A lock is flock(2) on a file that is never removed: a removed one could be
 * held by a first daemon while a second locks a new file of that name.  Its
 * text, the holder's pid, is for people only.  The kernel gives locks back
 * when the daemon dies, whatever way, so nothing stale can bar a start.
 *
 * Checks are made on opened directories, not on names.
 */
#include "config.h"

#include "daemon/instance.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/log.h"
#include "common/xmalloc.h"

#define BOOT_ID_FILE	"/proc/sys/kernel/random/boot_id"
#define BOOT_ID_LEN	36
#define LOCK_NAME	"lock"
#define PID_TEXT_MAX	16
#define PID_TRIES	20		/* the holder may be about to write */
#define PID_WAIT_MS	5
#define NUMBER_DIGITS	10		/* of worker numbers, in socket paths */
/* Of what stands behind the runtime directory in the longest path. */
#define SOCKET_TAIL	(sizeof("/workers/.sock") - 1 + NUMBER_DIGITS)
#define SOCKET_PATH_MAX	(sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1)

/* What is wanted of a directory. */
struct wanted {
	const char	*what;		/* for people: "state directory" */
	const char	*option;	/* that names another one */
	mode_t		 mode;		/* when it is made */
	mode_t		 forbidden;	/* bits that are taken away */
};

static const struct wanted wanted_state =
    { "state directory", "--state", 0700, 077 };
static const struct wanted wanted_runtime =
    { "runtime directory", "--runtime", 0755, 022 };
static const struct wanted wanted_workers =
    { "directory of worker sockets", "--runtime", 0700, 077 };

struct instance {
	char	*state_dir;		/* paths as given, or below those */
	char	*runtime_dir;
	char	*output_dir;		/* state/output */
	char	*spool_dir;		/* state/spool */
	char	*workers_dir;		/* runtime/workers */
	char	*socket_path;		/* runtime/control.sock */
	int	 state_lock;		/* held; -1: not yet */
	int	 runtime_lock;		/* held; -1: not yet */
	char	 boot_id[BOOT_ID_LEN + 1];
};

/* Makes the directories above path that are missing. */
static int
make_parents(const char *path, struct error *err)
{
	char *copy = xstrdup(path);

	for (char *slash = strchr(copy + 1, '/'); slash != NULL;
	    slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0755) != 0 && errno != EEXIST) {
			error_set_errno(err, errno,
			    "the directory %s can't be made", copy);
			free(copy);
			return -1;
		}
		*slash = '/';
	}
	free(copy);
	return 0;
}

static int
check_directory(int fd, const char *path, const struct wanted *wanted,
    bool is_new, struct error *err)
{
	struct stat st;
	mode_t mode;

	if (fstat(fd, &st) != 0)
		return error_set_errno(err, errno,
		    "the %s %s can't be examined", wanted->what, path);
	if (st.st_uid != geteuid())
		return error_set(err, "the %s %s belongs to uid %u, not to "
		    "uid %u of this daemon; change its owner or give another "
		    "one with %s", wanted->what, path,
		    (unsigned int)st.st_uid, (unsigned int)geteuid(),
		    wanted->option);
	mode = st.st_mode & 07777;
	if (is_new)
		mode = wanted->mode;
	else if ((mode & wanted->forbidden) != 0)
		mode &= ~wanted->forbidden;
	if (mode == (st.st_mode & 07777))
		return 0;
	if (fchmod(fd, mode) != 0)
		return error_set_errno(err, errno, "the mode of the %s %s "
		    "can't be set to %04o", wanted->what, path,
		    (unsigned int)mode);
	if (!is_new)
		log_warning("instance", "the %s %s had mode %04o; it is %04o "
		    "now", wanted->what, path,
		    (unsigned int)(st.st_mode & 07777), (unsigned int)mode);
	return 0;
}

/* A descriptor of the directory, made if it was missing; -1: err. */
static int
open_directory(const char *path, const struct wanted *wanted,
    struct error *err)
{
	bool is_new;
	int fd;

	if (make_parents(path, err) != 0)
		return -1;
	is_new = mkdir(path, wanted->mode) == 0;
	if (!is_new && errno != EEXIST)
		return error_set_errno(err, errno, "the %s %s can't be made",
		    wanted->what, path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, errno, "the %s %s can't be opened",
		    wanted->what, path);
	if (check_directory(fd, path, wanted, is_new, err) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* A directory below ours, with all that is wanted of it. */
static int
make_below(const char *path, const struct wanted *wanted, struct error *err)
{
	int fd = open_directory(path, wanted, err);

	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

/* The pid in a lock file that another holds; 0: it says none. */
static long
read_holder(int fd)
{
	char text[PID_TEXT_MAX + 1];
	ssize_t n;
	long pid;

	for (int tries = 0; tries < PID_TRIES; tries++) {
		n = pread(fd, text, PID_TEXT_MAX, 0);
		if (n > 0) {
			text[n] = '\0';
			pid = strtol(text, NULL, 10);
			return pid > 0 && pid <= INT_MAX ? pid : 0;
		}
		(void)poll(NULL, 0, PID_WAIT_MS);
	}
	return 0;
}

static int
refuse_second(int fd, const char *path, const struct wanted *wanted,
    struct error *err)
{
	long pid = read_holder(fd);

	if (pid == 0)
		return error_set(err, "another cronctld, its pid unknown, has "
		    "the %s %s; stop it, or give another one with %s",
		    wanted->what, path, wanted->option);
	return error_set(err, "another cronctld, pid %ld, has the %s %s; stop "
	    "it, or give another one with %s", pid, wanted->what, path,
	    wanted->option);
}

static void
write_pid(int fd, const char *path)
{
	char text[PID_TEXT_MAX];
	int len = snprintf(text, sizeof(text), "%ld\n", (long)getpid());

	if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)len, 0) != len)
		log_warning("instance", "the pid can't be written to %s/%s: "
		    "%s", path, LOCK_NAME, strerror(errno));
}

/* Closes dir; the lock's descriptor, or -1. */
static int
take_lock(int dir, const char *path, const struct wanted *wanted,
    struct error *err)
{
	int fd, errnum;

	fd = openat(dir, LOCK_NAME, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW |
	    O_NONBLOCK | O_NOCTTY, 0600);
	errnum = errno;
	close(dir);
	if (fd < 0)
		return error_set_errno(err, errnum,
		    "the lock file %s/%s can't be opened", path, LOCK_NAME);
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		write_pid(fd, path);
		return fd;
	}
	if (errno == EWOULDBLOCK)
		refuse_second(fd, path, wanted, err);
	else
		error_set_errno(err, errno, "%s/%s can't be locked", path,
		    LOCK_NAME);
	close(fd);
	return -1;
}

static bool
is_same_directory(int a, int b)
{
	struct stat sa, sb;

	return fstat(a, &sa) == 0 && fstat(b, &sb) == 0 &&
	    sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

static int
open_places(struct instance *in, struct error *err)
{
	int state, runtime;

	state = open_directory(in->state_dir, &wanted_state, err);
	if (state < 0)
		return -1;
	runtime = open_directory(in->runtime_dir, &wanted_runtime, err);
	if (runtime < 0) {
		close(state);
		return -1;
	}
	if (is_same_directory(state, runtime)) {
		close(state);
		close(runtime);
		return error_set(err, "state and runtime directory are both "
		    "%s; give two different ones", in->state_dir);
	}
	in->state_lock = take_lock(state, in->state_dir, &wanted_state, err);
	if (in->state_lock < 0) {
		close(runtime);
		return -1;
	}
	in->runtime_lock = take_lock(runtime, in->runtime_dir,
	    &wanted_runtime, err);
	if (in->runtime_lock < 0)
		return -1;
	if (make_below(in->output_dir, &wanted_state, err) != 0 ||
	    make_below(in->spool_dir, &wanted_state, err) != 0)
		return -1;
	return make_below(in->workers_dir, &wanted_workers, err);
}

static int
read_boot_id(struct instance *in, struct error *err)
{
	int fd = open(BOOT_ID_FILE, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return error_set_errno(err, errno, "%s can't be opened; is "
		    "/proc mounted?", BOOT_ID_FILE);
	n = read(fd, in->boot_id, BOOT_ID_LEN);
	close(fd);
	if (n != BOOT_ID_LEN)
		return error_set(err, "%s has no boot id", BOOT_ID_FILE);
	in->boot_id[n] = '\0';
	return 0;
}

struct instance *
instance_open(const char *state_dir, const char *runtime_dir,
    struct error *err)
{
	struct instance *in;

	if (strlen(runtime_dir) + SOCKET_TAIL > SOCKET_PATH_MAX) {
		error_set(err, "the runtime directory %s is too long for the "
		    "sockets in it: %zu bytes, at most %zu; give a shorter "
		    "one with --runtime", runtime_dir, strlen(runtime_dir),
		    SOCKET_PATH_MAX - SOCKET_TAIL);
		return NULL;
	}
	in = xcalloc(1, sizeof(*in));
	in->state_lock = in->runtime_lock = -1;
	in->state_dir = xstrdup(state_dir);
	in->runtime_dir = xstrdup(runtime_dir);
	in->output_dir = xasprintf("%s/output", state_dir);
	in->spool_dir = xasprintf("%s/spool", state_dir);
	in->workers_dir = xasprintf("%s/workers", runtime_dir);
	in->socket_path = xasprintf("%s/control.sock", runtime_dir);
	if (read_boot_id(in, err) != 0 || open_places(in, err) != 0) {
		instance_close(in);
		return NULL;
	}
	return in;
}

/* A lock file without a pid tells that nobody holds it. */
static void
give_back(int lock)
{
	if (lock < 0)
		return;
	if (ftruncate(lock, 0) != 0)
		log_warning("instance", "a lock file can't be emptied: %s",
		    strerror(errno));
	close(lock);
}

void
instance_close(struct instance *in)
{
	if (in == NULL)
		return;
	give_back(in->runtime_lock);
	give_back(in->state_lock);
	free(in->state_dir);
	free(in->runtime_dir);
	free(in->output_dir);
	free(in->spool_dir);
	free(in->workers_dir);
	free(in->socket_path);
	free(in);
}

const char *
instance_state_dir(const struct instance *in)
{
	return in->state_dir;
}

const char *
instance_runtime_dir(const struct instance *in)
{
	return in->runtime_dir;
}

const char *
instance_output_dir(const struct instance *in)
{
	return in->output_dir;
}

const char *
instance_spool_dir(const struct instance *in)
{
	return in->spool_dir;
}

const char *
instance_workers_dir(const struct instance *in)
{
	return in->workers_dir;
}

const char *
instance_socket_path(const struct instance *in)
{
	return in->socket_path;
}

const char *
instance_boot_id(const struct instance *in)
{
	return in->boot_id;
}
