/* SPDX-License-Identifier: ISC */
/*
 * Looking for runs that were on their way when their worker died: it had not
 * told a pid.  Children of a dead worker come to us, so a child of ours that
 * leads a session and has CRONCTL_RUN_ID of a run in its environment is that
 * run (best effort).  One that still is the worker program is a start that
 * has not become its command; it may do so, or hang, so it is waited for,
 * ORPHANS_SEEK_US at most, and then ended, so that nothing begins when the
 * run counts as lost.
 *
 * Cost: a look reads all of /proc; a worker must have died for it.
 */
#include "config.h"

#include "daemon/orphans_internal.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/process.h"

#define SEEK_MOST_US	(500 * USEC_PER_MSEC)
#define SEEK_LEAST_US	(200 * USEC_PER_MSEC)	/* for exec to show */
#define PATH_SIZE	64

#define NOT_FOUND	"its worker died before it had told that the command " \
			"runs"

static int64_t
earliest(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* A child of a dead worker that has not become the command yet. */
static bool
is_preparing(const struct orphans *o, pid_t pid)
{
	char path[PATH_SIZE];
	struct stat program, exe;

	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	return o->options.program_fd != -1 &&
	    fstat(o->options.program_fd, &program) == 0 &&
	    stat(path, &exe) == 0 && exe.st_dev == program.st_dev &&
	    exe.st_ino == program.st_ino;
}

static void
tell_found(struct orphan *orphan, pid_t pid, uint64_t starttime)
{
	const struct orphans_options *options = &orphan->owner->options;
	const struct protocol_started started = {
		.run_id = orphan->run.run_id,
		.pid = pid,
		.starttime = starttime,
		.started = walltime_now().us,
	};

	orphan->run.pid = orphan->end.pid = pid;
	orphan->run.starttime = orphan->end.starttime = starttime;
	orphan->look_at = ORPHANS_NEVER;
	if (!orphans_watch(orphan))
		orphans_end_unknown(orphan, NOT_FOUND);
	options->found(options->arg, &started);
}

/* True: it may be a run in preparation; too_late: it is ended. */
static bool
look_at_child(struct orphans *o, pid_t pid, bool too_late)
{
	struct orphan *orphan;
	struct process_stat st;
	uint64_t run_id;

	if (process_read(pid, &st) != 0 || st.ppid != getpid() || st.dead ||
	    o->options.is_worker(o->options.arg, pid) ||
	    orphans_find_pid(o, pid) != NULL)
		return false;
	run_id = process_run_id(pid);
	orphan = run_id == 0 ? NULL : orphans_find(o, run_id);
	if (orphan != NULL && orphan->phase == ORPHAN_SEEKING && st.pgrp == pid &&
	    st.session == pid)
		tell_found(orphan, pid, st.starttime);
	if (run_id != 0 || !is_preparing(o, pid))
		return false;
	if (too_late && kill(pid, SIGKILL) != 0 && errno != ESRCH)
		log_warning("orphans", "a start that hangs (pid %d) can't be "
		    "ended: %s", (int)pid, strerrordesc_np(errno));
	return true;
}

/* One pass over our children; how many may become a run yet. */
static size_t
look_at_children(struct orphans *o, bool too_late)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	size_t preparing = 0;
	char *end;
	long pid;

	if (dir == NULL)
		return 1;	/* can't say: look again */
	while ((entry = readdir(dir)) != NULL) {
		pid = strtol(entry->d_name, &end, 10);
		if (*end == '\0' && pid > 0 &&
		    look_at_child(o, (pid_t)pid, too_late))
			preparing++;
	}
	closedir(dir);
	return preparing;
}

void
orphans_seek(struct orphans *o, int64_t now)
{
	int64_t oldest = ORPHANS_NEVER, age;
	struct orphan *orphan;
	size_t preparing;

	TAILQ_FOREACH(orphan, &o->list, all)
		if (orphan->phase == ORPHAN_SEEKING)
			oldest = earliest(oldest, orphan->taken);
	o->seek_at = ORPHANS_NEVER;
	if (oldest == ORPHANS_NEVER)
		return;
	preparing = look_at_children(o, now - oldest >= ORPHANS_SEEK_US);
	TAILQ_FOREACH(orphan, &o->list, all) {
		age = now - orphan->taken;
		if (orphan->phase != ORPHAN_SEEKING)
			continue;
		if (age >= ORPHANS_SEEK_US ||
		    (preparing == 0 && age >= SEEK_LEAST_US))
			orphans_end_unknown(orphan, NOT_FOUND);
		else
			o->seek_at = now + o->seek_delay;
	}
	o->seek_delay = earliest(2 * o->seek_delay, SEEK_MOST_US);
}
