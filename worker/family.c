/* SPDX-License-Identifier: ISC */
/*
 * One snapshot of /proc/PID/stat for many questions; membership spreads from
 * parents to children until nothing changes.  A member outside the group is
 * signalled through a pidfd after its start time was seen again, so that a
 * number given to someone else meanwhile is never hit.
 */
#include "config.h"

#include "worker/family.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "common/strbuf.h"
#include "common/xmalloc.h"

#define STAT_MAX	1024		/* bytes of /proc/PID/stat */
#define PATH_SIZE	64
#define ENVIRON_MAX	(4 * 1024 * 1024) /* execve(2) allows less */
#define READ_BLOCK	16384

struct process {
	pid_t	 pid;		/* who */
	pid_t	 ppid;		/* parent */
	pid_t	 pgrp;		/* process group */
	uint64_t starttime;	/* ticks since boot */
	bool	 dead;		/* a zombie, with all its threads */
	bool	 orphan;	/* our child, but no run's main process */
	bool	 known;		/* run_id was looked for */
	uint64_t run_id;	/* in its environment, or 0 */
	bool	 member;	/* belongs to the run in question */
};

struct family {
	struct family_options options;	/* given at the start */
	struct monotime	 taken;		/* when the snapshot was begun */
	struct process	*v;		/* the snapshot, sorted by pid */
	size_t		 n;		/* in use */
	size_t		 cap;		/* allocated */
};

/* The fields after the command, which may hold anything, ")" too. */
static int
parse_stat(const char *text, struct process *p)
{
	const char *rest = strrchr(text, ')');
	unsigned long long starttime;
	long threads;
	int ppid, pgrp;
	char state;

	if (rest == NULL || sscanf(rest + 1, " %c %d %d %*d %*d %*d %*u %*u "
	    "%*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d %llu", &state,
	    &ppid, &pgrp, &threads, &starttime) != 5)
		return -1;
	p->ppid = ppid;
	p->pgrp = pgrp;
	p->starttime = starttime;
	p->dead = (state == 'Z' || state == 'X') && threads <= 1;
	p->orphan = p->known = p->member = false;
	p->run_id = 0;
	return 0;
}

static int
read_stat(pid_t pid, struct process *p)
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
	p->pid = pid;
	return parse_stat(text, p);
}

uint64_t
family_starttime(pid_t pid)
{
	struct process p;

	return read_stat(pid, &p) == -1 ? 0 : p.starttime;
}

static int
compare_pid(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

struct family *
family_new(const struct family_options *options)
{
	struct family *family = xcalloc(1, sizeof *family);

	family->options = *options;
	family->taken.us = INT64_MIN;
	return family;
}

void
family_free(struct family *family)
{
	if (family == NULL)
		return;
	free(family->v);
	free(family);
}

static void
sort_children(struct family *family)
{
	const struct family_options *options = &family->options;
	pid_t self = getpid();

	for (size_t i = 0; i < family->n; i++) {
		struct process *p = &family->v[i];

		p->orphan = p->ppid == self &&
		    !options->is_main(options->arg, p->pid);
		if (p->orphan && p->dead)
			options->dead_orphan(options->arg, p->pid);
	}
}

static int
take_snapshot(struct family *family, struct error *err)
{
	struct monotime now = monotime_now();
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	if (dir == NULL)
		return error_set_errno(err, errno, "/proc can't be read");
	family->n = 0;
	while ((entry = readdir(dir)) != NULL) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (*end != '\0' || pid <= 0)
			continue;
		if (family->n == family->cap) {
			family->cap = family->cap == 0 ? 64 : family->cap * 2;
			family->v = xreallocarray(family->v, family->cap,
			    sizeof *family->v);
		}
		/* One that just ended is no loss. */
		if (read_stat((pid_t)pid, &family->v[family->n]) == 0)
			family->n++;
	}
	closedir(dir);
	if (family->n > 0)
		qsort(family->v, family->n, sizeof *family->v, compare_pid);
	sort_children(family);
	family->taken = now;
	return 0;
}

/* CRONCTL_RUN_ID in the environment it was started with, or 0. */
static uint64_t
read_run_id(pid_t pid)
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

void
family_known_release(struct family_known *known)
{
	free(known->v);
	*known = (struct family_known){ 0 };
}

static bool
is_known(const struct family_known *known, const struct process *p)
{
	for (size_t i = 0; i < known->n; i++)
		if (known->v[i].pid == p->pid &&
		    known->v[i].starttime == p->starttime)
			return true;
	return false;
}

static void
remember(struct family_known *known, const struct process *p)
{
	if (is_known(known, p))
		return;
	if (known->n == known->cap) {
		known->cap = known->cap == 0 ? 4 : known->cap * 2;
		known->v = xreallocarray(known->v, known->cap,
		    sizeof *known->v);
	}
	known->v[known->n].pid = p->pid;
	known->v[known->n++].starttime = p->starttime;
}

static bool
is_founder(struct process *p, pid_t main_pid, uint64_t run_id,
    const struct family_known *known)
{
	if (p->pid == main_pid || p->pgrp == main_pid || is_known(known, p))
		return true;
	if (!p->orphan || p->dead)
		return false;
	if (!p->known) {
		p->run_id = read_run_id(p->pid);
		p->known = true;
	}
	return p->run_id == run_id;
}

static void
mark_members(struct family *family, pid_t main_pid, uint64_t run_id,
    const struct family_known *known)
{
	bool changed = true;

	for (size_t i = 0; i < family->n; i++)
		family->v[i].member = is_founder(&family->v[i], main_pid,
		    run_id, known);
	while (changed) {
		changed = false;
		for (size_t i = 0; i < family->n; i++) {
			struct process key = { .pid = family->v[i].ppid };
			struct process *parent;

			if (family->v[i].member)
				continue;
			parent = bsearch(&key, family->v, family->n,
			    sizeof *family->v, compare_pid);
			if (parent != NULL && parent->member)
				changed = family->v[i].member = true;
		}
	}
}

static void
signal_process(const struct process *p, int signum)
{
	struct process now;
	int fd = pidfd_open(p->pid, 0);

	if (fd == -1)
		return;		/* it is gone */
	if (read_stat(p->pid, &now) == 0 && now.starttime == p->starttime)
		/* EPERM on a set-id program, ESRCH: nothing more to do. */
		(void)pidfd_send_signal(fd, signum, NULL, 0);
	close(fd);
}

int
family_signal(struct family *family, pid_t main_pid, uint64_t run_id,
    struct family_known *known, struct monotime newer_than, int signum,
    size_t *left, struct error *err)
{
	if (family->taken.us < newer_than.us &&
	    take_snapshot(family, err) == -1)
		return -1;
	mark_members(family, main_pid, run_id, known);
	*left = 0;
	for (size_t i = 0; i < family->n; i++) {
		const struct process *p = &family->v[i];

		if (!p->member || p->dead || p->pid == main_pid)
			continue;
		++*left;
		if (p->pgrp == main_pid)
			continue;
		remember(known, p);
		if (signum != 0)
			signal_process(p, signum);
	}
	return 0;
}
