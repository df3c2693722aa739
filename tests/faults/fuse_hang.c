/* SPDX-License-Identifier: ISC */
/*
 * A file system that never answers, for tests of what must not wait for it.
 *
 *	fuse_hang [--unread] DIR
 *
 * mounts it on DIR by the kernel's own protocol (linux/fuse.h), says
 * "mounted" and goes on until it gets SIGTERM, SIGINT or SIGHUP.  Only the
 * greeting is answered.  Requests are read, so that whoever made one can't
 * even be killed (fuse waits for what user space has taken); with --unread
 * they are not, and SIGKILL ends who waits.  The end of this program, by
 * whatever means, ends every wait with ENOTCONN.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define REQUEST_MAX	(256 * 1024)	/* more than the kernel sends */
#define EXIT_NO_FUSE	77		/* can't be tried here */
#define OPTIONS_MAX	128

static int
complain(const char *what)
{
	fprintf(stderr, "fuse_hang: %s: %s\n", what, strerror(errno));
	return -1;
}

static int
mount_at(int fd, const char *dir)
{
	char options[OPTIONS_MAX];

	snprintf(options, sizeof options,
	    "fd=%d,rootmode=40755,user_id=0,group_id=0,allow_other", fd);
	if (mount("fuse_hang", dir, "fuse", MS_NOSUID | MS_NODEV,
	    options) == -1)
		return complain("the file system can't be mounted");
	return 0;
}

/* The greeting has to be answered, else nothing is ever sent to us. */
static int
greet(int fd, char *buf)
{
	struct {
		struct fuse_out_header	 header;	/* of every answer */
		struct fuse_init_out	 init;		/* what we want */
	} answer = { 0 };
	const struct fuse_in_header *in = (const void *)buf;
	const struct fuse_init_in *init = (const void *)(in + 1);
	ssize_t n;

	do {
		n = read(fd, buf, REQUEST_MAX);
	} while (n == -1 && errno == EINTR);
	if (n < (ssize_t)(sizeof *in + sizeof *init) ||
	    in->opcode != FUSE_INIT)
		return complain("no greeting comes");
	answer.header.len = sizeof answer;
	answer.header.unique = in->unique;
	answer.init.major = FUSE_KERNEL_VERSION;
	answer.init.minor = FUSE_KERNEL_MINOR_VERSION;
	answer.init.max_readahead = init->max_readahead;
	answer.init.max_write = 4096;
	if (write(fd, &answer, sizeof answer) != sizeof answer)
		return complain("the greeting can't be answered");
	return 0;
}

static int
open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL) == -1)
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC);
}

/* Takes requests and does nothing with them, until a signal comes. */
static int
swallow(int fd, int signals, bool unread, char *buf)
{
	struct pollfd fds[] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = unread ? -1 : fd, .events = POLLIN },
	};

	for (;;) {
		if (poll(fds, 2, -1) == -1 && errno != EINTR)
			return complain("poll");
		if (fds[0].revents != 0)
			return 0;
		if (fds[1].revents != 0 && read(fd, buf, REQUEST_MAX) == -1 &&
		    errno != EINTR && errno != EAGAIN && errno != ENOENT)
			return complain("requests can't be read");
	}
}

int
main(int argc, char *argv[])
{
	bool unread = argc == 3 && strcmp(argv[1], "--unread") == 0;
	const char *dir = argv[argc - 1];
	char *buf = malloc(REQUEST_MAX);
	int fd, signals, status;

	if (argc != (unread ? 3 : 2) || buf == NULL) {
		fprintf(stderr, "usage: fuse_hang [--unread] DIR\n");
		return EXIT_FAILURE;
	}
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	signals = open_signals();
	if (fd == -1 || signals == -1 || mount_at(fd, dir) == -1) {
		complain("there is no FUSE");
		free(buf);
		return EXIT_NO_FUSE;
	}
	status = greet(fd, buf);
	if (status == 0) {
		puts("mounted");
		fflush(stdout);
		status = swallow(fd, signals, unread, buf);
	}
	if (umount2(dir, MNT_DETACH) == -1)
		status = complain("can't be unmounted");
	close(fd);
	free(buf);
	return status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
