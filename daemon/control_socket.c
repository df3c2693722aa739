/* SPDX-License-Identifier: ISC */
/*
 * The socket file.  One that nobody listens on any more is replaced; one that
 * somebody listens on, and anything that is no socket, is left alone.  When
 * it is closed, the file goes only if it still is the one that was made here;
 * that of a socket passed by a service manager stays.
 */
#include "config.h"

#include "daemon/control_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/log.h"
#include "common/xmalloc.h"

static int
make_address(const char *path, struct sockaddr_un *address,
    struct error *err)
{
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(address->sun_path))
		return error_set(err, "the path of the control socket has %zu "
		    "bytes, but a socket's may have %zu: %s; choose a shorter "
		    "--runtime", strlen(path), sizeof(address->sun_path) - 1,
		    path);
	memcpy(address->sun_path, path, strlen(path));
	return 0;
}

/* Removes a socket file that nobody listens on. */
static int
remove_stale(const char *path, const struct sockaddr_un *address,
    struct error *err)
{
	struct stat st;
	int fd, r, errnum;

	if (lstat(path, &st) == -1)
		return errno == ENOENT ? 0 :
		    error_set_errno(err, errno, "can't look at %s", path);
	if (!S_ISSOCK(st.st_mode))
		return error_set(err, "%s is in the place of the control "
		    "socket and is no socket; move it away", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return error_set_errno(err, errno, "can't make a socket");
	r = connect(fd, (const struct sockaddr *)address, sizeof(*address));
	errnum = errno;
	close(fd);
	if (r == 0 || errnum == EAGAIN)
		return error_set(err, "somebody listens on %s already; stop "
		    "that daemon first", path);
	if (errnum != ECONNREFUSED)
		return error_set_errno(err, errnum, "can't tell whether %s is "
		    "in use", path);
	if (unlink(path) == -1 && errno != ENOENT)
		return error_set_errno(err, errno, "can't remove the stale "
		    "socket %s", path);
	return 0;
}

static int
bind_socket(struct control_socket *s, const struct sockaddr_un *address,
    mode_t mode, struct error *err)
{
	struct stat st;

	if (bind(s->fd, (const struct sockaddr *)address,
	    sizeof(*address)) == -1)
		return error_set_errno(err, errno, "can't bind %s", s->path);
	if (lstat(s->path, &st) == -1)
		return error_set_errno(err, errno, "can't look at %s",
		    s->path);
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	/* Nobody can connect before it listens. */
	if (chmod(s->path, mode) == -1)
		return error_set_errno(err, errno, "can't set the mode of %s",
		    s->path);
	if (listen(s->fd, SOMAXCONN) == -1)
		return error_set_errno(err, errno, "can't listen on %s",
		    s->path);
	return 0;
}

int
control_socket_open(struct control_socket *s, const char *path, mode_t mode,
    int passed, struct error *err)
{
	struct sockaddr_un address;

	*s = (struct control_socket){ .path = xstrdup(path), .fd = -1 };
	if (passed > 0) {
		s->fd = passed;
		return 0;
	}
	if (make_address(path, &address, err) == -1 ||
	    remove_stale(path, &address, err) == -1)
		return -1;
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    0);
	if (s->fd == -1)
		return error_set_errno(err, errno, "can't make a socket");
	return bind_socket(s, &address, mode, err);
}

static bool
is_ours(const struct control_socket *s)
{
	struct stat st;

	return s->ino != 0 && lstat(s->path, &st) == 0 &&
	    st.st_dev == s->dev && st.st_ino == s->ino;
}

void
control_socket_close(struct control_socket *s)
{
	if (s->fd == -1) {
		free(s->path);
		return;
	}
	if (is_ours(s) && unlink(s->path) == -1)
		log_warning("control", "can't remove %s: %s", s->path,
		    strerrordesc_np(errno));
	close(s->fd);
	free(s->path);
}
