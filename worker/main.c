/* SPDX-License-Identifier: ISC */
/*
 * cronctl-worker: started by the daemon with the descriptors of enum
 * PROTOCOL_FD_*, never by hand.  This file reads the arguments, makes the
 * process what a worker must be, and runs it.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/log.h"
#include "common/protocol.h"
#include "worker/worker.h"

#define EXIT_USAGE	2
#define LINE_MAX_LEN	1024
#define OOM_MAX		1000	/* proc(5), oom_score_adj */

/* A line that would block is dropped: nobody may be reading. */
static void
log_line(void *arg, enum log_level level, const char *subsystem,
    const char *text)
{
	const struct worker_options *options = arg;
	struct pollfd fd = { .fd = STDERR_FILENO, .events = POLLOUT };
	char line[LINE_MAX_LEN];
	int len;

	len = snprintf(line, sizeof line, "cronctl-worker %llu: %s: %s: %s\n",
	    (unsigned long long)options->number, log_level_name(level),
	    subsystem, text);
	if (len >= (int)sizeof line) {
		len = (int)sizeof line - 1;
		line[len - 1] = '\n';
	}
	if (poll(&fd, 1, 0) == 1 && (fd.revents & POLLOUT) != 0 &&
	    write(STDERR_FILENO, line, (size_t)len) == -1)
		return;
}

static int
parse_number(const char *s, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)s[0]))
		return -1;
	errno = 0;
	*out = strtoull(s, &end, 10);
	return errno != 0 || *end != '\0' ? -1 : 0;
}

/* A limit: a number or "unlimited". */
static int
parse_limit(const char *s, rlim_t *out)
{
	uint64_t value;

	if (strcmp(s, "unlimited") == 0) {
		*out = RLIM_INFINITY;
		return 0;
	}
	if (parse_number(s, &value) == -1)
		return -1;
	*out = value;
	return 0;
}

/* SOFT:HARD */
static int
parse_nofile(char *s, struct spawn_limits *limits)
{
	char *colon = strchr(s, ':');

	if (colon == NULL)
		return -1;
	*colon = '\0';
	limits->has_nofile = true;
	return parse_limit(s, &limits->nofile.rlim_cur) == -1 ||
	    parse_limit(colon + 1, &limits->nofile.rlim_max) == -1 ? -1 : 0;
}

static int
parse_oom(const char *s, struct spawn_limits *limits)
{
	uint64_t value;

	if (parse_number(s + (s[0] == '-'), &value) == -1 || value > OOM_MAX)
		return -1;
	limits->oom = s[0] == '-' ? -(int)value : (int)value;
	limits->has_oom = true;
	return 0;
}

static int
parse_arguments(int argc, char **argv, struct worker_options *options)
{
	static const struct option names[] = {
		{ "number", required_argument, NULL, 'n' },
		{ "instance", required_argument, NULL, 'i' },
		{ "epoch", required_argument, NULL, 'e' },
		{ "nofile", required_argument, NULL, 'f' },
		{ "oom", required_argument, NULL, 'o' },
		{ NULL, 0, NULL, 0 },
	};
	bool number = false, epoch = false, good = true;
	int option;

	while (good && (option = getopt_long(argc, argv, "", names, NULL)) !=
	    -1) {
		switch (option) {
		case 'n':
			number = good = parse_number(optarg,
			    &options->number) == 0;
			break;
		case 'i':
			options->instance = optarg;
			break;
		case 'e':
			epoch = good = parse_number(optarg,
			    &options->epoch) == 0;
			break;
		case 'f':
			good = parse_nofile(optarg, &options->limits) == 0;
			break;
		case 'o':
			good = parse_oom(optarg, &options->limits) == 0;
			break;
		default:
			good = false;
		}
	}
	return good && number && epoch && options->instance != NULL &&
	    optind == argc ? 0 : -1;
}

static int
check_descriptors(struct error *err)
{
	int null;

	for (int fd = PROTOCOL_FD_LISTENER; fd <= PROTOCOL_FD_SPOOL; fd++)
		if (fcntl(fd, F_SETFD, FD_CLOEXEC) == -1)
			return error_set_errno(err, errno, "descriptor %d is "
			    "missing; a worker is started by cronctld", fd);
	/* Another end of the listener may be in a daemon: only ours. */
	if (fcntl(PROTOCOL_FD_LISTENER, F_SETFL, O_NONBLOCK) == -1)
		return error_set_errno(err, errno, "descriptor %d can't be "
		    "set up", PROTOCOL_FD_LISTENER);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null == -1 || dup2(null, STDIN_FILENO) == -1)
		return error_set_errno(err, errno, "/dev/null can't be used");
	if (null > STDERR_FILENO)
		close(null);
	return 0;
}

/* Also what the children get back, unless we were told. */
static int
raise_files(struct worker_options *options, struct error *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == -1)
		return error_set_errno(err, errno,
		    "the limit of descriptors can't be read");
	if (!options->limits.has_nofile) {
		options->limits.nofile = limit;
		options->limits.has_nofile = true;
	}
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) == -1)
		return error_set_errno(err, errno,
		    "the limit of descriptors can't be raised");
	options->max_files = limit.rlim_cur;
	return 0;
}

/* Children are spared a write that changes nothing, or is not allowed. */
static void
skip_needless_oom(struct worker_options *options)
{
	char text[16] = "";
	int fd = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);

	if (fd == -1)
		return;
	if (read(fd, text, sizeof text - 1) > 0 &&
	    strtol(text, NULL, 10) == options->limits.oom)
		options->limits.has_oom = false;
	close(fd);
}

static int
set_signals(struct error *err)
{
	static const int ignored[] = { SIGHUP, SIGINT, SIGQUIT, SIGPIPE,
	    SIGUSR1, SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction standard = { .sa_handler = SIG_DFL };
	sigset_t set;

	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		if (sigaction(ignored[i], &ignore, NULL) == -1)
			return error_set_errno(err, errno,
			    "signal %d can't be ignored", ignored[i]);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	/* Ignored by whoever started us, it would leave nothing to wait for. */
	if (sigaction(SIGCHLD, &standard, NULL) == -1 ||
	    sigprocmask(SIG_SETMASK, &set, NULL) == -1)
		return error_set_errno(err, errno, "signals can't be set up");
	return 0;
}

static int
become_worker(struct worker_options *options, struct error *err)
{
	if (check_descriptors(err) == -1 || raise_files(options, err) == -1 ||
	    set_signals(err) == -1)
		return -1;
	skip_needless_oom(options);
	/* Refused to the leader of a group, who has what it is for. */
	if (setsid() == -1 && errno != EPERM)
		return error_set_errno(err, errno, "no session of its own");
	if (prctl(PR_SET_NAME, "cronctl-worker") == -1 ||
	    prctl(PR_SET_CHILD_SUBREAPER, 1) == -1)
		return error_set_errno(err, errno, "orphans can't be adopted");
	if (chdir("/") == -1)
		return error_set_errno(err, errno, "/ can't be entered");
	return 0;
}

int
main(int argc, char **argv)
{
	struct worker_options options = { 0 };
	struct worker *worker = NULL;
	struct error err;
	int result;

	if (parse_arguments(argc, argv, &options) == -1) {
		fprintf(stderr, "usage: cronctl-worker --number N --instance "
		    "ID --epoch E [--nofile SOFT:HARD] [--oom N]\n"
		    "It is started by cronctld, not by hand.\n");
		return EXIT_USAGE;
	}
	log_set_sink(log_line, &options);
	if (become_worker(&options, &err) == -1 ||
	    (worker = worker_new(&options, &err)) == NULL) {
		log_error("main", "%s", err.text);
		return EXIT_FAILURE;
	}
	result = worker_run(worker, &err);
	if (result == -1)
		log_error("main", "%s", err.text);
	worker_free(worker);
	return result == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
