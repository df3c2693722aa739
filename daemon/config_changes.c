/* SPDX-License-Identifier: ISC */
/*
 * What has changed in cronctld.conf since the daemon read it.  A table says
 * of each key how two values compare, and whether a running daemon can take
 * a new one; it has every key of the table in config.c.
 */
#include "config.h"

#include "daemon/config.h"

#include <stdlib.h>
#include <string.h>

#include "common/xmalloc.h"

typedef bool same_fn(const struct config *, const struct config *);

struct comparison {
	const char	*key;
	same_fn		*same;		/* whether both have one value */
	bool		 live;		/* takes effect at once */
};

static bool
same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool
same_timezone(const struct config *a, const struct config *b)
{
	return same_text(a->timezone, b->timezone);
}

static bool
same_workers(const struct config *a, const struct config *b)
{
	return a->workers == b->workers;
}

static bool
same_max_running(const struct config *a, const struct config *b)
{
	return a->max_running == b->max_running;
}

static bool
same_watch(const struct config *a, const struct config *b)
{
	return a->watch == b->watch;
}

static bool
same_log_level(const struct config *a, const struct config *b)
{
	return a->log_level == b->log_level;
}

static bool
same_host_id(const struct config *a, const struct config *b)
{
	return same_text(a->host_id, b->host_id);
}

static bool
same_clock_wait(const struct config *a, const struct config *b)
{
	return a->clock_wait == b->clock_wait;
}

static bool
same_defaults(const struct config *a, const struct config *b)
{
	if (a->defaults.n != b->defaults.n)
		return false;
	for (size_t i = 0; i < a->defaults.n; i++)
		if (strcmp(a->defaults.v[i].key, b->defaults.v[i].key) != 0 ||
		    strcmp(a->defaults.v[i].value, b->defaults.v[i].value) != 0)
			return false;
	return true;
}

static const struct comparison comparisons[] = {
	{ "timezone", same_timezone, true },
	{ "workers", same_workers, false },
	{ "max_running", same_max_running, false },
	{ "watch", same_watch, false },
	{ "log_level", same_log_level, true },
	{ "host_id", same_host_id, false },
	{ "clock_wait", same_clock_wait, false },
	{ "[defaults]", same_defaults, true },
};

void
config_differences(const struct config *start, const struct config *before,
    const struct config *now, void (*differs)(void *, const char *, bool),
    void *arg)
{
	for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
		const struct comparison *c = &comparisons[i];

		if (!c->same(c->live ? before : start, now))
			differs(arg, c->key, c->live);
	}
}

static char *
dup_or_null(const char *s)
{
	return s != NULL ? xstrdup(s) : NULL;
}

struct config *
config_again(const struct config *config)
{
	struct config *again = xmalloc(sizeof *again);

	config_init(again);
	again->config_file = dup_or_null(config->config_file);
	again->default_file = dup_or_null(config->default_file);
	again->log_level_given = config->log_level_given;
	again->log_level = config->log_level_given ? config->log_level :
	    again->log_level;
	return again;
}

void
config_free(struct config *config)
{
	if (config == NULL)
		return;
	config_release(config);
	free(config);
}
