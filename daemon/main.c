/* SPDX-License-Identifier: ISC */
/* cronctld: options, log, and the one call that is the daemon. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/log.h"
#include "daemon/config.h"
#include "daemon/daemon.h"
#include "daemon/logger.h"

#define EXIT_USAGE 2

static void
print(void *arg, const char *text)
{
	fprintf(arg, "%s\n", text);
}

/* --check: every error of configuration and job files. */
static int
check(const struct config *config, size_t errors)
{
	errors += daemon_check(config, print, stdout);
	printf("%zu errors\n", errors);
	return errors > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int
run(const struct config *config)
{
	struct logger *logger = logger_new();
	struct error err;
	int r;

	log_set_level(config->log_level);
	r = daemon_run(config, &err);
	if (r != 0)
		log_error("main", "%s", err.text);
	logger_free(logger);
	return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int
with_config(struct config *config)
{
	size_t errors = config_load(config, print,
	    config->check ? stdout : stderr);

	if (config->check)
		return check(config, errors);
	if (errors > 0) {
		fprintf(stderr, "cronctld: %zu errors in the configuration; "
		    "correct them, or check with cronctld --check\n", errors);
		return EXIT_FAILURE;
	}
	return run(config);
}

int
main(int argc, char *argv[])
{
	struct config config;
	struct error err;
	int status = EXIT_SUCCESS;

	config_init(&config);
	switch (config_parse_options(&config, argc, argv, &err)) {
	case CONFIG_RUN:
		status = with_config(&config);
		break;
	case CONFIG_VERSION:
		printf("cronctld %s\n", PACKAGE_VERSION);
		break;
	case CONFIG_HELP:
		config_usage(print, stdout);
		break;
	case CONFIG_USAGE_ERROR:
		fprintf(stderr, "cronctld: %s\n", err.text);
		status = EXIT_USAGE;
		break;
	}
	config_release(&config);
	return status;
}
