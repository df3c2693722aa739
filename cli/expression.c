/* SPDX-License-Identifier: ISC */
/* Expressions on the command line, shared by next and explain. */
#include "config.h"

#include "cli/expression.h"

#include <stdlib.h>
#include <string.h>

#include "cli/daemon_config.h"
#include "common/xmalloc.h"

bool
expression_is(const char *argument)
{
	return argument[0] == '@' || strpbrk(argument, " \t") != NULL;
}

/* The host_id that the daemon here has, as far as its file tells. */
static char *
local_host_id(const struct cli *cli)
{
	char *dir = daemon_config_directory(cli->place.user), *path, *id;
	struct daemon_config config;

	path = xasprintf("%s/cronctld.conf", dir != NULL ? dir : "");
	daemon_config_load(&config, path);
	id = xstrdup(config.host_id);
	daemon_config_release(&config);
	free(path);
	free(dir);
	return id;
}

/* --zone, or the zone times are shown in. */
static struct zone *
zone_of(const struct cli *cli, const struct arguments *args,
    struct error *err)
{
	const char *name = arguments_value(args, "zone");

	return name != NULL ? zone_load(name, err) :
	    zone_ref(cli->clock.zone);
}

struct schedule *
expression_parse(const struct cli *cli, const struct arguments *args,
    const char *text, struct error *err)
{
	const char *name = arguments_value(args, "name");
	char *host_id = name != NULL ? local_host_id(cli) : NULL;
	struct cronexpr_names names = { host_id, name };
	struct zone_cache *zones = zone_cache_new();
	struct schedule_options options = {
		.zones = zones,
		.names = name != NULL ? &names : NULL,
		.allow_in = true,
		.now = cli->clock.now,
	};
	struct schedule *schedule = NULL;

	options.zone = zone_of(cli, args, err);
	if (options.zone != NULL)
		schedule = schedule_parse(text, strlen(text), &options, err);
	zone_unref(options.zone);
	zone_cache_free(zones);
	free(host_id);
	return schedule;
}

const char *
expression_rule(const struct schedule *schedule, int64_t at)
{
	switch (schedule_rule_at(schedule, at)) {
	case SCHEDULE_RULE_GAP:
		return "gap";
	case SCHEDULE_RULE_FOLD:
		return "fold";
	case SCHEDULE_RULE_NONE:
		break;
	}
	return NULL;
}
