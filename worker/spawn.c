/* SPDX-License-Identifier: ISC */
/*
 * The parent's side of a start, and waiting.  Plain fork: a worker is small,
 * and setting ids in a vfork child would change our own dumpable flag.
 */
#include "config.h"

#include "worker/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/xmalloc.h"
#include "worker/family.h"
#include "worker/spawn_child.h"

struct spawner {
	struct spawn_limits	 limits;	/* of the children */
	sigset_t		 ignored;	/* signals that we ignore */
	uint8_t			*stages;	/* shared; a byte a slot */
	bool			*used;		/* slots in use */
	size_t			 slots;		/* how many */
};

static void
find_ignored(sigset_t *ignored)
{
	struct sigaction action;

	sigemptyset(ignored);
	for (int n = 1; n <= SIGRTMAX; n++)
		if (sigaction(n, NULL, &action) == 0 &&
		    action.sa_handler == SIG_IGN)
			sigaddset(ignored, n);
}

struct spawner *
spawner_new(const struct spawn_limits *limits, size_t slots,
    struct error *err)
{
	struct spawner *spawner = xcalloc(1, sizeof *spawner);
	void *shared = mmap(NULL, slots, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED) {
		error_set_errno(err, errno, "no shared memory");
		free(spawner);
		return NULL;
	}
	spawner->limits = *limits;
	find_ignored(&spawner->ignored);
	spawner->stages = shared;
	spawner->used = xcalloc(slots, sizeof *spawner->used);
	spawner->slots = slots;
	return spawner;
}

void
spawner_free(struct spawner *spawner)
{
	if (spawner == NULL)
		return;
	munmap(spawner->stages, spawner->slots);
	free(spawner->used);
	free(spawner);
}

static int
take_slot(struct spawner *spawner, size_t *slot)
{
	for (*slot = 0; *slot < spawner->slots; ++*slot) {
		if (!spawner->used[*slot]) {
			spawner->used[*slot] = true;
			spawner->stages[*slot] = PROTOCOL_STAGE_FORK;
			return 0;
		}
	}
	errno = EAGAIN;
	return -1;
}

void
spawn_release_slot(struct spawner *spawner, size_t slot)
{
	spawner->used[slot] = false;
}

enum protocol_stage
spawn_stage(const struct spawner *spawner, size_t slot)
{
	uint8_t stage = *(volatile uint8_t *)&spawner->stages[slot];

	return stage <= PROTOCOL_STAGE_EXEC ? (enum protocol_stage)stage :
	    PROTOCOL_STAGE_NONE;
}

static void
close_pair(int fds[2])
{
	if (fds[0] != -1)
		close(fds[0]);
	if (fds[1] != -1)
		close(fds[1]);
}

/* Ours doesn't block, the child's does. */
static int
make_pipe(int fds[2])
{
	if (pipe2(fds, O_CLOEXEC) == -1) {
		fds[0] = fds[1] = -1;
		return -1;
	}
	return fcntl(fds[0], F_SETFL, O_NONBLOCK);
}

static pid_t
fork_child(struct spawner *spawner, const struct protocol_start *start,
    size_t slot, const int report[2], const int output[2])
{
	pid_t pid = fork();

	if (pid == 0) {
		struct spawn_child child = {
			.start = start, .limits = &spawner->limits,
			.ignored = &spawner->ignored,
			.stage = &spawner->stages[slot],
			.report_fd = report[1], .output_fd = output[1],
		};

		spawn_child_run(&child);
	}
	return pid;
}

int
spawn_start(struct spawner *spawner, const struct protocol_start *start,
    struct spawn *spawn, int *errnum, struct error *err)
{
	int report[2] = { -1, -1 }, output[2] = { -1, -1 };
	bool has_slot = take_slot(spawner, &spawn->slot) == 0;

	if (has_slot && make_pipe(report) == 0 &&
	    (start->output == PROTOCOL_OUTPUT_DISCARD ||
	    make_pipe(output) == 0)) {
		spawn->pid = fork_child(spawner, start, spawn->slot, report,
		    output);
		if (spawn->pid > 0) {
			close(report[1]);
			if (output[1] != -1)
				close(output[1]);
			spawn->report_fd = report[0];
			spawn->output_fd = output[0];
			spawn->starttime = family_starttime(spawn->pid);
			return 0;
		}
	}
	*errnum = errno;
	close_pair(report);
	close_pair(output);
	if (has_slot)
		spawn_release_slot(spawner, spawn->slot);
	return error_set_errno(err, *errnum, "no process can be started");
}

int
spawn_read_report(int fd, struct spawn_report *report)
{
	ssize_t n;

	do {
		n = read(fd, report, sizeof *report);
	} while (n == -1 && errno == EINTR);
	if (n == 0)
		return 0;
	if (n != sizeof *report)
		return n == -1 && errno == EAGAIN ? -1 : 0;
	report->text[sizeof report->text - 1] = '\0';
	if (report->stage < PROTOCOL_STAGE_NONE ||
	    report->stage > PROTOCOL_STAGE_EXEC)
		report->stage = PROTOCOL_STAGE_NONE;
	return 1;
}

pid_t
spawn_next_dead(void)
{
	siginfo_t info = { 0 };

	while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == -1)
		if (errno != EINTR)
			return 0;	/* ECHILD: none at all */
	return info.si_pid;
}

bool
spawn_is_dead(pid_t pid)
{
	siginfo_t info = { 0 };

	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG |
	    WNOWAIT) == -1)
		if (errno != EINTR)
			return false;
	return info.si_pid == pid;
}

int
spawn_reap(pid_t pid, int *status, struct rusage *usage)
{
	pid_t got;

	do {
		got = wait4(pid, status, WNOHANG, usage);
	} while (got == -1 && errno == EINTR);
	return got == pid ? 0 : -1;
}
