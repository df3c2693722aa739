/* SPDX-License-Identifier: ISC */
/*
 * Reads /proc/PID.  stat never waits for the process; environ may wait while
 * the kernel changes the process's memory, so it is read only of those few
 * that are in question.
 */
#include "config.h"

#include "common/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/strbuf.h"

#define STAT_MAX	1024		/* bytes of /proc/PID/stat */
#define PATH_SIZE	64
#define ENVIRON_MAX	(4 * 1024 * 1024) /* execve(2) allows less */
#define READ_BLOCK	16384

/* The fields after the command, which may hold anything, ")" too. */
static int
parse_stat(const char *text, struct process_stat *p)
{
	const char *rest = strrchr(text, ')');
	unsigned long long starttime;
	int ppid, pgrp, session;
	long threads;
	char state;

	if (rest == NULL || sscanf(rest + 1, " %c %d %d %d %*d %*d %*u %*u "
	    "%*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d %llu", &state,
	    &ppid, &pgrp, &session, &threads, &starttime) != 6)
		return -1;
	*p = (struct process_stat){
		.ppid = ppid,
		.pgrp = pgrp,
		.session = session,
		.starttime = starttime,
		.dead = (state == 'Z' || state == 'X') && threads <= 1,
	};
	return 0;
}

int
process_read(pid_t pid, struct process_stat *p)
{
	char path[PATH_SIZE], text[STAT_MAX];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return -1;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	return parse_stat(text, p);
}

uint64_t
process_run_id(pid_t pid)
{
	static const char name[] = "CRONCTL_RUN_ID=";
	struct strbuf env = STRBUF_INIT;
	char path[PATH_SIZE], block[READ_BLOCK];
	uint64_t run_id = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return 0;
	while (env.len < ENVIRON_MAX &&
	    (n = read(fd, block, sizeof block)) > 0)
		strbuf_add(&env, block, (size_t)n);
	close(fd);
	for (size_t at = 0; at < env.len && run_id == 0;
	    at += strlen(env.buf + at) + 1)
		if (strncmp(env.buf + at, name, sizeof name - 1) == 0)
			run_id = strtoull(env.buf + at + sizeof name - 1,
			    NULL, 10);
	strbuf_release(&env);
	return run_id;
}
