/* SPDX-License-Identifier: ISC */
/*
 * The forked child, from the first instruction to exec.  Everything that a
 * job names is touched here and nowhere else, so whatever hangs hangs alone.
 *
 * Order: a clean process first (descriptors, signals, session), then limits,
 * for which root's rights may be needed, then user and group, and only then,
 * as that user, output, work directory and shell.
 *
 * Signals stay blocked until just before exec; what came meanwhile (a stop)
 * then has its default effect.
 */
#include "config.h"

#include "worker/spawn_child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/strbuf.h"
#include "common/xmalloc.h"
#include "worker/identity.h"

#define REPORT_FD	3	/* the one descriptor beside 0, 1, 2 */
#define EXIT_NO_START	127	/* nobody looks: the report counts */
#define BASE_ENV	5	/* HOME LOGNAME USER SHELL PATH */
#define USER_PATH	"/usr/local/bin:/usr/bin:/bin"
#define ROOT_PATH	"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:" \
			"/sbin:/bin"

_Static_assert(sizeof(struct spawn_report) <= PIPE_BUF, "one atomic write");

static _Noreturn void
fail(const struct spawn_child *child, int errnum, const struct error *err)
{
	struct spawn_report report = {
		.stage = *child->stage, .errnum = errnum,
	};

	memcpy(report.text, err->text, sizeof report.text);
	/* Without a report the parent sees a child that died in its stage. */
	if (write(REPORT_FD, &report, sizeof report) == -1)
		_exit(EXIT_NO_START);
	_exit(EXIT_NO_START);
}

static _Noreturn void
fail_errno(const struct spawn_child *child, int errnum, const char *what)
{
	struct error err;

	error_set_errno(&err, errnum, "%s", what);
	fail(child, errnum, &err);
}

/* The report's descriptor becomes 3, output 1 and 2, and all others go. */
static void
clean_descriptors(const struct spawn_child *child)
{
	if (dup3(child->report_fd, REPORT_FD, O_CLOEXEC) == -1)
		_exit(EXIT_NO_START);
	if (child->output_fd != -1 && (dup2(child->output_fd, 1) == -1 ||
	    dup2(child->output_fd, 2) == -1))
		fail_errno(child, errno, "output can't be connected");
	if (close_range(REPORT_FD + 1, ~0U, 0) == -1)
		fail_errno(child, errno, "descriptors can't be closed");
}

static void
clean_signals(const struct spawn_child *child)
{
	struct sigaction action = { .sa_handler = SIG_DFL };

	/* Handlers go with exec; what is ignored stays (execve(2)). */
	for (int n = 1; n <= SIGRTMAX; n++)
		if (sigismember(child->ignored, n) == 1 &&
		    sigaction(n, &action, NULL) == -1)
			fail_errno(child, errno, "signals can't be reset");
	if (setsid() == -1)
		fail_errno(child, errno, "no session of its own");
}

static void
set_limits(const struct spawn_child *child)
{
	const struct spawn_limits *limits = child->limits;
	int fd;

	if (limits->has_nofile &&
	    setrlimit(RLIMIT_NOFILE, &limits->nofile) == -1)
		fail_errno(child, errno,
		    "the limit of descriptors can't be set");
	if (!limits->has_oom)
		return;
	fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd == -1 || dprintf(fd, "%d", limits->oom) < 0)
		fail_errno(child, errno, "oom_score_adj can't be set");
	close(fd);
}

static void
set_identity(const struct spawn_child *child, struct identity *id)
{
	struct error err = { "" };
	int errnum = 0;

	*child->stage = PROTOCOL_STAGE_USER;
	if (identity_find_user(child->start, id, &errnum, &err) == -1)
		fail(child, errnum, &err);
	*child->stage = PROTOCOL_STAGE_GROUP;
	if (identity_find_group(child->start, id, &errnum, &err) == -1 ||
	    identity_become_group(id, &errnum, &err) == -1)
		fail(child, errnum, &err);
	*child->stage = PROTOCOL_STAGE_USER;
	if (identity_become_user(id, &errnum, &err) == -1)
		fail(child, errnum, &err);
	umask(child->start->umask);
}

/* A file without a name, so that no writer has to feed a pipe. */
static int
open_text(const char *text)
{
	size_t len = strlen(text), done = 0;
	int fd = memfd_create("stdin", MFD_CLOEXEC);

	while (fd != -1 && done < len) {
		ssize_t n = write(fd, text + done, len - done);

		if (n <= 0)
			return -1;
		done += (size_t)n;
	}
	if (fd != -1 && lseek(fd, 0, SEEK_SET) == -1)
		return -1;
	return fd;
}

static void
set_streams(const struct spawn_child *child)
{
	const char *text = child->start->stdin_text;
	int fd;

	*child->stage = PROTOCOL_STAGE_OUTPUT;
	fd = text != NULL ? open_text(text) :
	    open("/dev/null", O_RDWR | O_CLOEXEC);
	if (fd == -1 || dup2(fd, 0) == -1)
		fail_errno(child, errno, text != NULL ?
		    "standard input can't be made" :
		    "/dev/null can't be opened");
	close(fd);
	if (child->output_fd != -1)
		return;
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (fd == -1 || dup2(fd, 1) == -1 || dup2(fd, 2) == -1)
		fail_errno(child, errno, "/dev/null can't be opened");
	close(fd);
}

static void
set_workdir(const struct spawn_child *child, const struct identity *id)
{
	char quoted[ERROR_QUOTE_MAX];
	const char *dir = child->start->workdir;
	struct error err;
	int errnum;

	*child->stage = PROTOCOL_STAGE_WORKDIR;
	if (dir == NULL)
		dir = id->home;
	if (chdir(dir) == 0)
		return;
	errnum = errno;
	error_quote(quoted, dir, strlen(dir));
	if (child->start->workdir != NULL)
		error_set_errno(&err, errnum, "workdir %s can't be entered",
		    quoted);
	else
		error_set_errno(&err, errnum, "the home %s of user %s can't "
		    "be entered; create it or set workdir", quoted, id->name);
	fail(child, errnum, &err);
}

static bool
is_same_name(const char *a, const char *b)
{
	size_t len = strcspn(a, "=");

	return strncmp(a, b, len + 1) == 0;
}

/* A later entry of a name takes the place of the one before. */
static void
put_env(char **env, size_t *n, char *entry)
{
	for (size_t i = 0; i < *n; i++) {
		if (is_same_name(env[i], entry)) {
			env[i] = entry;
			return;
		}
	}
	env[(*n)++] = entry;
}

static char **
make_env(const struct protocol_start *start, const struct identity *id)
{
	char **env = xcalloc(BASE_ENV + start->env_count + 1, sizeof *env);
	size_t n = 0;

	put_env(env, &n, xasprintf("HOME=%s", id->home));
	put_env(env, &n, xasprintf("LOGNAME=%s", id->name));
	put_env(env, &n, xasprintf("USER=%s", id->name));
	put_env(env, &n, xasprintf("SHELL=%s", start->shell));
	put_env(env, &n, xasprintf("PATH=%s", id->uid == 0 ? ROOT_PATH :
	    USER_PATH));
	for (size_t i = 0; i < start->env_count; i++)
		put_env(env, &n, xstrdup(start->env[i]));
	return env;
}

static _Noreturn void
become_command(const struct spawn_child *child, char **env)
{
	const struct protocol_start *start = child->start;
	char *argv[] = { xstrdup(start->shell), xstrdup("-c"),
	    xstrdup(start->command), NULL };
	char quoted[ERROR_QUOTE_MAX];
	struct error err;
	sigset_t none;
	int errnum;

	/* A name service may have left something open. */
	if (close_range(REPORT_FD + 1, ~0U, 0) == -1)
		fail_errno(child, errno, "descriptors can't be closed");
	sigemptyset(&none);
	if (sigprocmask(SIG_SETMASK, &none, NULL) == -1)
		fail_errno(child, errno, "signals can't be reset");
	*child->stage = PROTOCOL_STAGE_EXEC;
	execve(start->shell, argv, env);
	errnum = errno;
	error_quote(quoted, start->shell, strlen(start->shell));
	error_set_errno(&err, errnum, "shell %s can't be executed", quoted);
	fail(child, errnum, &err);
}

_Noreturn void
spawn_child_run(const struct spawn_child *child)
{
	struct identity id;

	clean_descriptors(child);
	clean_signals(child);
	*child->stage = PROTOCOL_STAGE_LIMITS;
	set_limits(child);
	set_identity(child, &id);
	set_streams(child);
	set_workdir(child, &id);
	become_command(child, make_env(child->start, &id));
}
