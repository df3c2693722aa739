/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_CLI_EXPRESSION_H
#define CRONCTL_CLI_EXPRESSION_H

#include <stdbool.h>

#include "cli/command.h"
#include "common/schedule.h"

/*
 * Schedules given as an argument, worked out here without a daemon: in the
 * caller's zone or --zone's, with --name for those with H or ~ in them.
 */

/* The argument is an expression, not a job's name. */
bool	expression_is(const char *argument);
/* NULL after an error; schedule_unref() it. */
struct schedule	*expression_parse(const struct cli *,
	    const struct arguments *, const char *text, struct error *err);
/* "gap", "fold" or NULL: what daylight saving did at an occurrence. */
const char	*expression_rule(const struct schedule *, int64_t at);

#endif
