/* SPDX-License-Identifier: ISC */
/*
 * The daemon's objects in words.  States are a table; nothing here asks the
 * daemon or prints.
 */
#include "config.h"

#include "cli/facts.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <string.h>

#include "cli/output_text.h"

#define NUMBER_MAX 9e15	/* whole numbers are exact up to here */

/* The exit status of a state depends on more than the state. */
enum state_status { BY_CODE, BY_SIGNAL, FIXED };

struct state {
	const char	*name;		/* in a run object */
	const char	*words;		/* NULL: made from code or signal */
	bool		 ended;
	enum output_table_color color;
	enum state_status how;		/* where its exit status comes from */
	enum exit_status status;	/* FIXED */
};

static const struct state states[] = {
	{ "queued", "queued", false, TABLE_PLAIN, FIXED, STATUS_LOST },
	{ "starting", "starting", false, TABLE_PLAIN, FIXED, STATUS_LOST },
	{ "running", "running", false, TABLE_PLAIN, FIXED, STATUS_LOST },
	{ "succeeded", "ok", true, TABLE_GREEN, BY_CODE, STATUS_DONE },
	{ "failed", NULL, true, TABLE_RED, BY_CODE, STATUS_REFUSED },
	{ "signaled", NULL, true, TABLE_RED, BY_SIGNAL, STATUS_SIGNALED },
	{ "timed_out", "timed out", true, TABLE_RED, FIXED,
	    STATUS_TIMED_OUT },
	{ "killed", "killed", true, TABLE_YELLOW, BY_SIGNAL,
	    STATUS_SIGNALED },
	{ "start_failed", NULL, true, TABLE_RED, FIXED, STATUS_START_FAILED },
	{ "lost", "lost", true, TABLE_RED, FIXED, STATUS_LOST },
};

bool
facts_number(const struct message *m, const char *key, double *out)
{
	double v = message_get_number(m, key, NAN);

	if (isnan(v))
		return false;
	*out = v;
	return true;
}

bool
facts_integer(const struct message *m, const char *key, int64_t *out)
{
	double v;

	if (message_get(m, key) == NULL)
		return false;
	if (message_is_integer(message_get(m, key))) {
		*out = message_get_integer(m, key, 0);
		return true;
	}
	if (!facts_number(m, key, &v) || v > NUMBER_MAX || v < -NUMBER_MAX)
		return false;
	*out = (int64_t)v;
	if ((double)*out > v)
		(*out)--;
	return true;
}

const char *
facts_string(const struct message *m, const char *key, const char *fallback)
{
	const char *s = message_get_string(m, key);

	return s != NULL ? s : fallback;
}

static const struct state *
find_state(const struct message *run)
{
	const char *name = facts_string(run, "state", "");

	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		if (strcmp(states[i].name, name) == 0)
			return &states[i];
	return NULL;
}

bool
facts_run_has_ended(const struct message *run)
{
	const struct state *state = find_state(run);

	return state != NULL && state->ended;
}

enum output_table_color
facts_run_color(const struct message *run)
{
	const struct state *state = find_state(run);

	return state != NULL ? state->color : TABLE_PLAIN;
}

static void
add_signal(struct strbuf *out, const struct message *run)
{
	int64_t n = message_get_integer(run, "signal", 0);
	const char *name = n > 0 && n < NSIG ? sigabbrev_np((int)n) : NULL;

	strbuf_addstr(out, "signal ");
	if (name != NULL)
		strbuf_addstr(out, name);
	else
		strbuf_addf(out, "%" PRId64, n);
	if (message_get_bool(run, "core", false))
		strbuf_addstr(out, ", core dumped");
}

void
facts_run_result(struct strbuf *out, const struct message *run)
{
	const struct state *state = find_state(run);
	const char *stage = facts_string(run, "stage", NULL);

	if (state == NULL)
		strbuf_addstr(out, facts_string(run, "state", "unknown"));
	else if (state->words != NULL)
		strbuf_addstr(out, state->words);
	else if (state->how == BY_CODE)
		strbuf_addf(out, "exit %" PRId64,
		    message_get_integer(run, "code", 0));
	else if (state->how == BY_SIGNAL)
		add_signal(out, run);
	else if (stage != NULL)
		strbuf_addf(out, "start failed (%s)", stage);
	else
		strbuf_addstr(out, "start failed");
}

/* What became of it, as the middle of a sentence. */
static void
add_end(struct strbuf *out, const struct message *run)
{
	const char *state = facts_string(run, "state", "unknown");

	if (strcmp(state, "succeeded") == 0) {
		strbuf_addstr(out, "succeeded");
	} else if (strcmp(state, "failed") == 0) {
		strbuf_addstr(out, "failed, ");
		facts_run_result(out, run);
	} else if (strcmp(state, "signaled") == 0) {
		strbuf_addstr(out, "failed, ended by ");
		add_signal(out, run);
	} else if (strcmp(state, "killed") == 0) {
		strbuf_addstr(out, "was killed");
	} else if (strcmp(state, "start_failed") == 0) {
		strbuf_addf(out, "could not start (%s)",
		    facts_string(run, "stage", "stage unknown"));
	} else if (strcmp(state, "lost") == 0) {
		strbuf_addstr(out, "is lost");
	} else {
		facts_run_result(out, run);
	}
}

void
facts_run_sentence(struct strbuf *out, const struct message *run)
{
	int64_t id = message_get_integer(run, "run", 0);
	const char *detail = facts_string(run, "detail", NULL);
	double took;

	text_escape(out, facts_string(run, "job", "job"));
	strbuf_addf(out, ": run %" PRId64 " ", id);
	add_end(out, run);
	if (facts_run_has_ended(run) && facts_number(run, "duration", &took)) {
		strbuf_addstr(out, " after ");
		text_took(out, took);
	}
	if (detail != NULL) {
		strbuf_addstr(out, ": ");
		text_escape(out, detail);
	}
	if (message_get_integer(run, "output_bytes", 0) > 0)
		strbuf_addf(out, "; output: cronctl logs %" PRId64, id);
}

enum exit_status
facts_run_status(const struct message *run)
{
	const struct state *state = find_state(run);
	int64_t n;

	if (state == NULL)
		return STATUS_LOST;
	switch (state->how) {
	case BY_CODE:
		n = message_get_integer(run, "code", state->status);
		return (enum exit_status)(n & 0xff);
	case BY_SIGNAL:
		/* It may have caught the signal and exited. */
		n = message_get_integer(run, "signal", SIGTERM);
		return (enum exit_status)(STATUS_SIGNALED + (n & 0x7f));
	case FIXED:
		break;
	}
	return state->status;
}

void
facts_pause(struct strbuf *out, const struct text_clock *clock,
    const struct message *pause)
{
	int64_t skip, until;

	if (pause != NULL && facts_integer(pause, "skip", &skip)) {
		strbuf_addf(out, "skips %" PRId64, skip);
		return;
	}
	strbuf_addstr(out, "paused");
	if (pause != NULL && facts_integer(pause, "until", &until)) {
		strbuf_addstr(out, " to ");
		text_time_near(out, clock, until, false);
	}
}

void
facts_words(struct strbuf *out, const char *name)
{
	for (; *name != '\0'; name++)
		strbuf_addch(out, *name == '_' ? ' ' : *name);
}

void
facts_job_schedule(struct strbuf *out, const struct message *job)
{
	const struct message *all = message_get(job, "schedule");

	if (all == NULL)
		return;
	for (size_t i = 0; i < message_count(all); i++) {
		const char *text = message_value_string(message_at(all, i));

		if (text == NULL)
			continue;
		if (out->len > 0)
			strbuf_addstr(out, " | ");
		strbuf_addstr(out, text);
	}
}

const char *
facts_rule(const char *rule)
{
	if (strcmp(rule, "gap") == 0)
		return "for a time the clock jumps over";
	if (strcmp(rule, "fold") == 0)
		return "a time the clock shows twice";
	return rule;
}
