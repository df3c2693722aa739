/* SPDX-License-Identifier: ISC */
/*
 * Worker processes: started by posix_spawn(3) from descriptors that were made
 * ahead, so that the loop opens nothing, and from the program that was opened
 * when the daemon started, whatever has been installed since.
 *
 * A worker gets an environment of its own, nothing of the daemon's but LANG:
 * no NOTIFY_SOCKET, no LISTEN_*.  All our descriptors are close-on-exec.
 *
 * Workers that come to nothing are followed by the next after a delay that
 * doubles from DELAY_FIRST_US to DELAY_MOST_US, and are logged once.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "common/process.h"
#include "common/xmalloc.h"
#include "daemon/workers_internal.h"

#define DELAY_FIRST_US	(1 * USEC_PER_SEC)
#define DELAY_MOST_US	(60 * USEC_PER_SEC)
#define DELAY_DOUBLINGS	6
#define QUEUE_FULL_US	(100 * USEC_PER_MSEC)	/* of the files helper */
#define N_PASSED	(PROTOCOL_FD_SPOOL - PROTOCOL_FD_LISTENER + 1)
#define PROGRAM		N_PASSED	/* is lifted too, but not passed */
#define N_LIFTED	(N_PASSED + 1)
#define FD_ABOVE	32	/* clear of PROTOCOL_FD_*, before dup2 */
#define WORKER_PATH	"PATH=/usr/local/sbin:/usr/local/bin:" \
			"/usr/sbin:/usr/bin:/sbin:/bin"
#define OOM_FILE	"/proc/self/oom_score_adj"

/* --- what jobs get back --- */

static void
add_limit(struct strbuf *sb, rlim_t value)
{
	if (value == RLIM_INFINITY)
		strbuf_addstr(sb, "unlimited");
	else
		strbuf_addf(sb, "%llu", (unsigned long long)value);
}

/*
 * A daemon protected from the out-of-memory killer does not pass that on to
 * what it starts; one that is preferred by it does.
 */
static int
oom_for_jobs(void)
{
	char text[16] = "";
	int fd = open(OOM_FILE, O_RDONLY | O_CLOEXEC);
	long value;

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	value = strtol(text, NULL, 10);
	return value > 0 && value <= 1000 ? (int)value : 0;
}

void
workers_spawn_init(struct workers *ws)
{
	struct strbuf sb = STRBUF_INIT;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		add_limit(&sb, limit.rlim_cur);
		strbuf_addch(&sb, ':');
		add_limit(&sb, limit.rlim_max);
		ws->nofile = strbuf_detach(&sb);
	}
	ws->oom = xasprintf("%d", oom_for_jobs());
}

void
workers_spawn_release(struct workers *ws)
{
	if (ws->has_spare) {
		files_worker_kit_close(&ws->spare);
		files_remove_worker(ws->files, ws->spare.number);
	}
	free(ws->nofile);
	free(ws->oom);
}

/* --- one process --- */

/* Copies far above the numbers that the worker wants some of them at. */
static int
lift(const struct workers *ws, const struct files_worker_kit *kit,
    int fds[N_LIFTED], struct error *err)
{
	const int from[N_LIFTED] = {
		[PROTOCOL_FD_LISTENER - PROTOCOL_FD_LISTENER] = kit->listener,
		[PROTOCOL_FD_LOCK - PROTOCOL_FD_LISTENER] = kit->lock,
		[PROTOCOL_FD_DAEMON - PROTOCOL_FD_LISTENER] = kit->worker_end,
		[PROTOCOL_FD_OUTPUT - PROTOCOL_FD_LISTENER] = kit->output_dir,
		[PROTOCOL_FD_SPOOL - PROTOCOL_FD_LISTENER] = kit->spool_dir,
		[PROGRAM] = ws->program_fd,
	};

	for (int i = 0; i < N_LIFTED; i++) {
		fds[i] = fcntl(from[i], F_DUPFD_CLOEXEC, FD_ABOVE);
		if (fds[i] >= 0)
			continue;
		error_set_errno(err, errno,
		    "a worker's descriptors can't be copied");
		while (i-- > 0)
			close(fds[i]);
		return -1;
	}
	return 0;
}

static int
set_actions(posix_spawn_file_actions_t *actions, const int fds[N_LIFTED])
{
	int rc = posix_spawn_file_actions_addopen(actions, STDIN_FILENO,
	    "/dev/null", O_RDONLY, 0);

	if (rc == 0)
		rc = posix_spawn_file_actions_addopen(actions, STDOUT_FILENO,
		    "/dev/null", O_WRONLY, 0);
	for (int i = 0; rc == 0 && i < N_PASSED; i++)
		rc = posix_spawn_file_actions_adddup2(actions, fds[i],
		    PROTOCOL_FD_LISTENER + i);
	return rc;
}

/* A session of its own, so that no terminal's Ctrl-C gets to it. */
static int
set_attributes(posix_spawnattr_t *attr)
{
	sigset_t none, all;
	int rc;

	sigemptyset(&none);
	sigfillset(&all);
	rc = posix_spawnattr_setsigmask(attr, &none);
	if (rc == 0)
		rc = posix_spawnattr_setsigdefault(attr, &all);
	if (rc == 0)
		rc = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK |
		    POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
	return rc;
}

/* An errno value, or 0. */
static int
run_program(char *argv[], const int fds[N_LIFTED], pid_t *pid)
{
	const char *lang = getenv("LANG");
	char *path = xasprintf("/proc/self/fd/%d", fds[PROGRAM]);
	char *env_lang = lang == NULL ? NULL : xasprintf("LANG=%s", lang);
	char env_path[] = WORKER_PATH;
	char *envp[] = { env_path, env_lang, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc == 0) {
		rc = posix_spawnattr_init(&attr);
		if (rc == 0) {
			rc = set_actions(&actions, fds);
			if (rc == 0)
				rc = set_attributes(&attr);
			if (rc == 0)
				rc = posix_spawn(pid, path, &actions, &attr,
				    argv, envp);
			posix_spawnattr_destroy(&attr);
		}
		posix_spawn_file_actions_destroy(&actions);
	}
	free(env_lang);
	free(path);
	return rc;
}

static int
run_worker(const struct workers *ws, uint64_t number, const int fds[N_LIFTED],
    pid_t *pid)
{
	char name[] = "cronctl-worker", o_number[] = "--number",
	    o_instance[] = "--instance", o_epoch[] = "--epoch",
	    o_oom[] = "--oom", o_nofile[] = "--nofile";
	char number_text[24], epoch_text[24];
	char *argv[] = { name, o_number, number_text, o_instance,
		ws->instance, o_epoch, epoch_text, o_oom, ws->oom, o_nofile,
		ws->nofile, NULL };

	snprintf(number_text, sizeof(number_text), "%" PRIu64, number);
	snprintf(epoch_text, sizeof(epoch_text), "%" PRIu64, ws->epoch);
	if (ws->nofile == NULL)
		argv[9] = NULL;
	return run_program(argv, fds, pid);
}

/* Takes the kit, whatever comes of it. */
static int
spawn(struct workers *ws, struct files_worker_kit *kit, struct error *err)
{
	struct workers_one *one;
	int fds[N_LIFTED], rc;
	pid_t pid;

	if (lift(ws, kit, fds, err) != 0)
		goto fail;
	rc = run_worker(ws, kit->number, fds, &pid);
	for (int i = 0; i < N_LIFTED; i++)
		close(fds[i]);
	if (rc != 0) {
		error_set_errno(err, rc,
		    "the worker program can't be started");
		goto fail;
	}
	one = workers_add(ws, kit->number);
	one->pid = pid;
	one->is_child = one->is_spawned = true;
	workers_life_expect(one, one->born);
	workers_link_open(one, kit->daemon_end);
	kit->daemon_end = -1;
	files_worker_kit_close(kit);
	return 0;
fail:
	files_worker_kit_close(kit);
	files_remove_worker(ws->files, kit->number);
	return -1;
}

/* --- how many --- */

static uint64_t
take_number(struct workers *ws)
{
	uint64_t number = ws->next_number++;

	if (ws->number_used != NULL)
		ws->number_used(ws->callbacks.arg, ws->next_number);
	return number;
}

static bool
is_missing(const struct workers *ws)
{
	return ws->begun && !ws->draining && workers_live(ws) < ws->count;
}

void
workers_spawn_failed(struct workers *ws, int64_t now, bool at_once)
{
	unsigned int doublings = ws->failures < DELAY_DOUBLINGS ?
	    ws->failures : DELAY_DOUBLINGS;
	int64_t delay = DELAY_FIRST_US << doublings;

	if (at_once && ws->failures == 0)
		delay = 0;
	if (delay > DELAY_MOST_US)
		delay = DELAY_MOST_US;
	ws->failures++;
	ws->spawn_at = now + delay;
	if (delay > 0 && !ws->failure_said) {
		ws->failure_said = true;
		log_error("workers", "a worker ended as soon as it was "
		    "started, or could not be; the next is started after 1 s, "
		    "then after twice as long each time, up to %lld s",
		    (long long)(DELAY_MOST_US / USEC_PER_SEC));
	}
}

static void
on_kit(void *arg, struct files_worker_kit *kit)
{
	struct workers_ask *ask = arg, **link;
	struct workers *ws = ask->owner;

	if (ws != NULL) {
		for (link = &ws->asks; *link != ask; link = &(*link)->next)
			continue;
		*link = ask->next;
	}
	free(ask);
	if (ws == NULL)
		return;		/* the helper closes the kit */
	ws->asking_spare = false;
	if (kit->listener < 0) {
		if (!ws->failure_said)
			log_error("workers", "%s", kit->err.text);
		workers_spawn_failed(ws, boottime_now().us, false);
		return;
	}
	ws->spare = *kit;
	ws->has_spare = true;
	kit->listener = kit->lock = kit->daemon_end = kit->worker_end =
	    kit->output_dir = kit->spool_dir = -1;
	workers_spawn_missing(ws, boottime_now().us);
}

static void
ask_for_spare(struct workers *ws, int64_t now)
{
	struct workers_ask *ask;

	if (ws->has_spare || ws->asking_spare || ws->draining ||
	    now < ws->spawn_at)
		return;
	ask = xmalloc(sizeof(*ask));
	*ask = (struct workers_ask){ ws, take_number(ws), ws->asks };
	if (!files_make_worker_kit(ws->files, ask->number, on_kit, ask)) {
		free(ask);
		ws->spawn_at = now + QUEUE_FULL_US;
		return;
	}
	ws->asks = ask;
	ws->asking_spare = true;
}

void
workers_spawn_missing(struct workers *ws, int64_t now)
{
	struct error err;

	if (!ws->begun)
		return;
	if (is_missing(ws) && ws->has_spare && now >= ws->spawn_at) {
		ws->has_spare = false;
		if (spawn(ws, &ws->spare, &err) != 0) {
			if (!ws->failure_said)
				log_error("workers", "%s", err.text);
			workers_spawn_failed(ws, now, false);
		}
	}
	ask_for_spare(ws, now);
}

int
workers_spawn_first(struct workers *ws, const struct files_context *context,
    struct error *err)
{
	struct files_worker_kit kit;

	while (is_missing(ws)) {
		if (files_make_worker_kit_now(context, take_number(ws), &kit,
		    err) != 0 || spawn(ws, &kit, err) != 0)
			return -1;
	}
	ask_for_spare(ws, boottime_now().us);
	return 0;
}

int64_t
workers_spawn_deadline(const struct workers *ws)
{
	if (!ws->begun || ws->draining || ws->asking_spare)
		return WORKERS_NEVER;
	return !ws->has_spare || is_missing(ws) ? ws->spawn_at :
	    WORKERS_NEVER;
}

/* --- ends of processes --- */

static void
say_end(const struct workers_one *one, pid_t pid, int status)
{
	unsigned long long number = one->number;

	if (WIFSIGNALED(status))
		log_warning("workers", "worker %llu (pid %ld) was killed by "
		    "signal %d", number, (long)pid, WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		log_warning("workers", "worker %llu (pid %ld) exited with "
		    "status %d", number, (long)pid, WEXITSTATUS(status));
	else
		log_debug("workers", "worker %llu (pid %ld) exited", number,
		    (long)pid);
}

static struct workers_one *
find_child(const struct workers *ws, pid_t pid)
{
	for (size_t i = 0; i < ws->n; i++) {
		if (ws->v[i]->is_child && ws->v[i]->pid == pid)
			return ws->v[i];
	}
	return NULL;
}

bool
workers_is_worker(const struct workers *ws, pid_t pid)
{
	return find_child(ws, pid) != NULL;
}

/* A dead child, still a zombie, so that nobody else has its number; or 0. */
static pid_t
next_dead(void)
{
	siginfo_t info = { .si_pid = 0 };

	if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
		return 0;
	return info.si_pid;
}

/* What is no worker came to us from a dead one, with its jobs' processes. */
void
workers_reap(struct workers *ws)
{
	const struct workers_callbacks *cb = &ws->callbacks;
	struct workers_one *one;
	struct process_stat st;
	struct rusage usage;
	int status;
	pid_t pid;

	while ((pid = next_dead()) != 0) {
		if (process_read(pid, &st) != 0)
			st.starttime = 0;
		if (wait4(pid, &status, WNOHANG, &usage) != pid)
			return;
		one = find_child(ws, pid);
		if (one != NULL) {
			say_end(one, pid, status);
			workers_life_exited(one);
		} else if (cb->child_ended != NULL) {
			cb->child_ended(cb->arg, pid, st.starttime, status,
			    &usage);
		}
	}
}
