/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_FACTS_H
#define CRONCTL_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/exit_status.h"
#include "cli/output_table.h"
#include "cli/output_text.h"
#include "common/message.h"
#include "common/strbuf.h"

/*
 * What the daemon's objects say (doc/protocol.md, "Values"), in words.  An
 * object may lack members: what is not known is left out of the words.
 */

/* False when the member is missing, null or no number. */
bool	facts_number(const struct message *, const char *key, double *out);
/* The same for a time or another whole number, rounded down. */
bool	facts_integer(const struct message *, const char *key, int64_t *out);
/* A member that is a string, else fallback. */
const char *facts_string(const struct message *, const char *key,
	    const char *fallback);

/* Of a run object: it is over. */
bool	facts_run_has_ended(const struct message *run);
/* "ok", "exit 3", "signal TERM", "timed out", "killed", "running", ... */
void	facts_run_result(struct strbuf *, const struct message *run);
enum output_table_color facts_run_color(const struct message *run);
/*
 * The line that ends "run --wait": "backup: run 5210 failed, exit 3 after
 * 12s; output: cronctl logs 5210".
 */
void	facts_run_sentence(struct strbuf *, const struct message *run);
/* What "run --wait" exits with for a run that is over. */
enum exit_status facts_run_status(const struct message *run);
/* Of a job object: its schedules, joined by " | ". */
void	facts_job_schedule(struct strbuf *, const struct message *job);
/* What a rule of daylight saving does: "gap", "fold", or "". */
const char *facts_rule(const char *rule);
/* Of a job object's "paused": "paused", "paused to Tue 07:00", "skips 2". */
void	facts_pause(struct strbuf *, const struct text_clock *,
	    const struct message *pause);
/* "daemon_down" as words: "daemon down". */
void	facts_words(struct strbuf *, const char *name);

#endif
