/* SPDX-License-Identifier: ISC */
/*
 * The command line of the daemon, and the directories that follow from it:
 * those of the system, or with --user those of the XDG base directory
 * specification, whose variables count only when they are absolute.
 *
 * getopt_long(3) permutes its vector and remembers its place in globals, so
 * it is given a copy, and reset.
 */
#include "config.h"

#include "daemon/config.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/nearest.h"
#include "common/strbuf.h"
#include "common/xmalloc.h"

#define OWN_DIR		"cronctl"	/* below the places of the system */
#define RUNTIME_SYSTEM	"/run/" OWN_DIR
#define WORKER_DEFAULT	LIBEXECDIR "/" OWN_DIR "/cronctl-worker"

enum {
	OPTION_CONFIG = 256, OPTION_JOBS, OPTION_STATE, OPTION_RUNTIME,
	OPTION_WORKER, OPTION_USER, OPTION_LOG_LEVEL, OPTION_CHECK,
	OPTION_VERSION, OPTION_HELP
};

static const struct option options[] = {
	{ "config", required_argument, NULL, OPTION_CONFIG },
	{ "jobs", required_argument, NULL, OPTION_JOBS },
	{ "state", required_argument, NULL, OPTION_STATE },
	{ "runtime", required_argument, NULL, OPTION_RUNTIME },
	{ "worker", required_argument, NULL, OPTION_WORKER },
	{ "user", no_argument, NULL, OPTION_USER },
	{ "log-level", required_argument, NULL, OPTION_LOG_LEVEL },
	{ "check", no_argument, NULL, OPTION_CHECK },
	{ "version", no_argument, NULL, OPTION_VERSION },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 }
};
#define N_OPTIONS (sizeof(options) / sizeof(options[0]) - 1)

static const char *const usage_lines[] = {
	"usage: cronctld [--config FILE] [--jobs DIR] [--state DIR]",
	"           [--runtime DIR] [--worker FILE] [--user]",
	"           [--log-level LEVEL] [--check] [--version] [--help]",
	"",
	"  --config FILE      configuration "
	    "[" SYSCONFDIR "/" OWN_DIR "/cronctld.conf]",
	"  --jobs DIR         job files [" SYSCONFDIR "/" OWN_DIR "/jobs.d]",
	"  --state DIR        database and outputs "
	    "[" LOCALSTATEDIR "/lib/" OWN_DIR "]",
	"  --runtime DIR      sockets [" RUNTIME_SYSTEM "]",
	"  --worker FILE      worker program",
	"                     [" WORKER_DEFAULT "]",
	"  --user             a daemon of your own, in the XDG directories",
	"  --log-level LEVEL  error, warning, info or debug [info]",
	"  --check            read configuration and job files, report, exit",
	"  --version          print the version and exit",
	"  --help             print this and exit",
};

void
config_usage(void (*line)(void *arg, const char *text), void *arg)
{
	for (size_t i = 0; i < sizeof(usage_lines) / sizeof(usage_lines[0]);
	    i++)
		line(arg, usage_lines[i]);
}

static const char *
option_name(const void *arg, size_t i)
{
	(void)arg;
	return options[i].name;
}

/* What getopt_long(3) did not understand: an unknown or ambiguous word. */
static int
refuse_option(const char *word, struct error *err)
{
	char name[32] = "", quoted[ERROR_QUOTE_MAX];
	const char *near;
	size_t len;

	error_quote(quoted, word, strlen(word));
	if (strncmp(word, "--", 2) == 0) {
		len = strcspn(word + 2, "=");
		if (len < sizeof(name))
			memcpy(name, word + 2, len);
	}
	near = *name == '\0' ? NULL :
	    nearest_find(name, N_OPTIONS, option_name, NULL);
	if (near != NULL && strcmp(near, name) == 0)
		return error_set(err, "option --%s takes no value", near);
	if (near != NULL)
		return error_set(err, "there is no option %s; did you mean "
		    "--%s?", quoted, near);
	return error_set(err, "there is no option %s; see cronctld --help",
	    quoted);
}

/* A path from the command line, absolute and without slashes at its end. */
static int
set_path(char **path, const char *value, struct error *err)
{
	char *dir, *absolute;
	size_t len;

	if (*value == '\0')
		return error_set(err, "an empty path was given; name a file "
		    "or directory");
	if (*value == '/') {
		absolute = xstrdup(value);
	} else {
		dir = getcwd(NULL, 0);
		if (dir == NULL)
			return error_set_errno(err, errno, "the present "
			    "directory has no path; give absolute ones");
		absolute = xasprintf("%s/%s", strcmp(dir, "/") == 0 ? "" : dir,
		    value);
		free(dir);
	}
	len = strlen(absolute);
	while (len > 1 && absolute[len - 1] == '/')
		absolute[--len] = '\0';
	free(*path);
	*path = absolute;
	return 0;
}

static int
set_log_level(struct config *config, const char *value, struct error *err)
{
	char quoted[ERROR_QUOTE_MAX];

	if (log_level_parse(value, &config->log_level) != 0)
		return error_set(err, "--log-level: %s is no level; use "
		    "error, warning, info or debug",
		    error_quote(quoted, value, strlen(value)));
	config->log_level_given = true;
	return 0;
}

static int
take_option(struct config *config, int option, const char *value,
    enum config_action *action, struct error *err)
{
	switch (option) {
	case OPTION_CONFIG:
		return set_path(&config->config_file, value, err);
	case OPTION_JOBS:
		return set_path(&config->jobs_dir, value, err);
	case OPTION_STATE:
		return set_path(&config->state_dir, value, err);
	case OPTION_RUNTIME:
		return set_path(&config->runtime_dir, value, err);
	case OPTION_WORKER:
		return set_path(&config->worker_program, value, err);
	case OPTION_LOG_LEVEL:
		return set_log_level(config, value, err);
	case OPTION_USER:
		config->user = true;
		return 0;
	case OPTION_CHECK:
		config->check = true;
		return 0;
	case OPTION_VERSION:
		*action = CONFIG_VERSION;
		return 0;
	default:
		*action = CONFIG_HELP;
		return 0;
	}
}

/* args ends with NULL and may be permuted. */
static int
parse_words(struct config *config, int argc, char **args,
    enum config_action *action, struct error *err)
{
	char quoted[ERROR_QUOTE_MAX];
	int option;

	optind = 0;
	opterr = 0;
	while (*action == CONFIG_RUN) {
		option = getopt_long(argc, args, ":", options, NULL);
		if (option == -1)
			break;
		if (option == ':')
			return error_set(err, "option %s needs a value; see "
			    "cronctld --help", args[optind - 1]);
		if (option == '?' && optopt > 0 && optopt < OPTION_CONFIG)
			return error_set(err, "there is no option -%c; see "
			    "cronctld --help", optopt);
		if (option == '?')
			return refuse_option(args[optind - 1], err);
		if (take_option(config, option, optarg, action, err) != 0)
			return -1;
	}
	if (*action == CONFIG_RUN && optind < argc)
		return error_set(err, "cronctld takes options only, not %s",
		    error_quote(quoted, args[optind], strlen(args[optind])));
	return 0;
}

/* VARIABLE/cronctl, or HOME/below/cronctl; NULL: neither is set. */
static char *
xdg_directory(const char *variable, const char *below)
{
	const char *dir = getenv(variable), *home = getenv("HOME");

	if (dir != NULL && *dir == '/')
		return xasprintf("%s/" OWN_DIR, dir);
	if (below == NULL || home == NULL || *home != '/')
		return NULL;
	return xasprintf("%s/%s/" OWN_DIR, home, below);
}

static int
fill_user_directories(struct config *config, struct error *err)
{
	char *conf = xdg_directory("XDG_CONFIG_HOME", ".config");

	if (config->jobs_dir == NULL && conf != NULL)
		config->jobs_dir = xasprintf("%s/jobs.d", conf);
	if (conf != NULL)
		config->default_file = xasprintf("%s/cronctld.conf", conf);
	free(conf);
	if (config->state_dir == NULL)
		config->state_dir = xdg_directory("XDG_STATE_HOME",
		    ".local/state");
	if (config->runtime_dir == NULL)
		config->runtime_dir = xdg_directory("XDG_RUNTIME_DIR", NULL);
	if (config->jobs_dir == NULL || config->state_dir == NULL)
		return error_set(err, "--user needs the variable HOME; set "
		    "it, or give --jobs and --state");
	if (config->runtime_dir == NULL)
		return error_set(err, "--user needs the variable "
		    "XDG_RUNTIME_DIR; log in with a session that sets it, or "
		    "give --runtime");
	return 0;
}

static void
fill_system_directories(struct config *config)
{
	config->default_file = xstrdup(SYSCONFDIR "/" OWN_DIR
	    "/cronctld.conf");
	if (config->jobs_dir == NULL)
		config->jobs_dir = xstrdup(SYSCONFDIR "/" OWN_DIR "/jobs.d");
	if (config->state_dir == NULL)
		config->state_dir = xstrdup(LOCALSTATEDIR "/lib/" OWN_DIR);
	if (config->runtime_dir == NULL)
		config->runtime_dir = xstrdup(RUNTIME_SYSTEM);
}

enum config_action
config_parse_options(struct config *config, int argc, char *const argv[],
    struct error *err)
{
	char **args = xcalloc((size_t)argc + 1, sizeof(*args));
	enum config_action action = CONFIG_RUN;
	int rc;

	for (int i = 0; i < argc; i++)
		args[i] = argv[i];
	rc = parse_words(config, argc, args, &action, err);
	free(args);
	if (rc != 0)
		return CONFIG_USAGE_ERROR;
	if (action != CONFIG_RUN)
		return action;
	if (config->worker_program == NULL)
		config->worker_program = xstrdup(WORKER_DEFAULT);
	if (!config->user)
		fill_system_directories(config);
	else if (fill_user_directories(config, err) != 0)
		return CONFIG_USAGE_ERROR;
	return CONFIG_RUN;
}
