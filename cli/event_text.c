/* SPDX-License-Identifier: ISC */
/* Events in words.  One of a kind not known here is told by its name. */
#include "config.h"

#include "cli/event_text.h"

#include <inttypes.h>
#include <string.h>

#include "cli/facts.h"
#include "common/timestamp.h"

#define TIME_WIDTH	12	/* "Sun 04:00:00" */

static void
add_by(struct strbuf *out, const struct message *e)
{
	int64_t uid;

	if (facts_integer(e, "by", &uid))
		strbuf_addf(out, " by uid %" PRId64, uid);
}

static void
add_job(struct strbuf *out, const struct message *e)
{
	text_escape(out, facts_string(e, "job", "all jobs"));
	strbuf_addstr(out, ": ");
}

static void
say_started(struct strbuf *out, const struct text_clock *clock,
    const struct message *e)
{
	int64_t pid;

	(void)clock;
	add_job(out, e);
	strbuf_addf(out, "run %" PRId64 " started",
	    message_get_integer(e, "run", 0));
	if (facts_integer(e, "pid", &pid))
		strbuf_addf(out, ", pid %" PRId64, pid);
	strbuf_addf(out, " (%s", facts_string(e, "cause", "unknown"));
	add_by(out, e);
	strbuf_addch(out, ')');
}

static void
say_ended(struct strbuf *out, const struct text_clock *clock,
    const struct message *e)
{
	(void)clock;
	facts_run_sentence(out, e);
}

static void
say_outcome(struct strbuf *out, const struct text_clock *clock,
    const struct message *e)
{
	int64_t count = 1, at;

	add_job(out, e);
	strbuf_addf(out, "%s (", facts_string(e, "kind", ""));
	facts_words(out, facts_string(e, "reason", "unknown"));
	strbuf_addstr(out, "), due ");
	if (facts_integer(e, "nominal", &at))
		text_time(out, clock, at);
	if (!facts_integer(e, "count", &count))
		strbuf_addstr(out, " and more");
	else if (count > 1)
		strbuf_addf(out, " and %" PRId64 " more", count - 1);
}

static void
add_keys(struct strbuf *out, const struct message *e)
{
	const struct message *keys = message_get(e, "keys");

	for (size_t i = 0; keys != NULL && i < message_count(keys); i++) {
		const char *key = message_value_string(message_at(keys, i));

		strbuf_addstr(out, i == 0 ? ": " : ", ");
		text_escape(out, key != NULL ? key : "?");
	}
}

static void
say_job(struct strbuf *out, const struct text_clock *clock,
    const struct message *e)
{
	const char *file = facts_string(e, "file", NULL);
	const char *note = facts_string(e, "note", NULL);
	int64_t until;

	add_job(out, e);
	/* "job_added" */
	strbuf_addstr(out, facts_string(e, "kind", "job_changed") + 4);
	if (file != NULL) {
		strbuf_addstr(out, " in ");
		text_escape(out, file);
		strbuf_addf(out, ", line %" PRId64,
		    message_get_integer(e, "line", 0));
	}
	add_by(out, e);
	if (facts_integer(e, "until", &until)) {
		strbuf_addstr(out, " until ");
		text_time(out, clock, until);
	}
	if (message_get_integer(e, "skip", 0) > 0)
		strbuf_addf(out, " for %" PRId64 " occurrences",
		    message_get_integer(e, "skip", 0));
	add_keys(out, e);
	if (note != NULL) {
		strbuf_addstr(out, ": ");
		text_escape(out, note);
	}
}

static void
say_daemon(struct strbuf *out, const struct text_clock *clock,
    const struct message *e)
{
	int64_t pid;

	(void)clock;
	/* "daemon_started" */
	strbuf_addf(out, "the daemon is %s",
	    facts_string(e, "kind", "daemon_here") + 7);
	if (facts_integer(e, "pid", &pid))
		strbuf_addf(out, ", pid %" PRId64, pid);
	strbuf_addstr(out, ", ");
	text_count(out, message_get_integer(e, "running", 0), "run");
	strbuf_addstr(out, " live");
	add_by(out, e);
}

static void
say_clock(struct strbuf *out, const struct text_clock *clock,
    const struct message *e)
{
	double step = message_get_number(e, "step", 0);

	(void)clock;
	strbuf_addf(out, "the clock was set %s by %.3f s",
	    step < 0 ? "back" : "forward", step < 0 ? -step : step);
}

static void
say_file(struct strbuf *out, const struct text_clock *clock,
    const struct message *e)
{
	(void)clock;
	strbuf_addstr(out, "job file in error: ");
	text_escape(out, facts_string(e, "error",
	    facts_string(e, "file", "unknown")));
}

static void
say_lost(struct strbuf *out, const struct text_clock *clock,
    const struct message *e)
{
	(void)clock;
	text_count(out, message_get_integer(e, "count", 0), "event");
	strbuf_addstr(out, " could not be kept: the disk was too slow");
}

static const struct kind {
	const char	*name;		/* of the kind */
	void		(*say)(struct strbuf *, const struct text_clock *,
			    const struct message *);
} kinds[] = {
	{ "run_started", say_started },
	{ "run_ended", say_ended },
	{ "skipped", say_outcome },
	{ "missed", say_outcome },
	{ "job_added", say_job },
	{ "job_changed", say_job },
	{ "job_removed", say_job },
	{ "job_paused", say_job },
	{ "job_resumed", say_job },
	{ "daemon_started", say_daemon },
	{ "daemon_stopping", say_daemon },
	{ "daemon_leaving", say_daemon },
	{ "clock_stepped", say_clock },
	{ "file_error", say_file },
	{ "events_lost", say_lost },
};

void
event_text(struct strbuf *out, const struct text_clock *clock,
    const struct message *event)
{
	const char *name = facts_string(event, "kind", "unknown");
	struct strbuf at = STRBUF_INIT;
	int64_t when = 0;

	if (facts_integer(event, "at", &when))
		text_time_near(&at, clock, when, true);
	strbuf_addf(out, "%" PRId64 "  %-*s  ",
	    message_get_integer(event, "seq", 0), TIME_WIDTH,
	    at.len > 0 ? at.buf : "-");
	strbuf_release(&at);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (strcmp(kinds[i].name, name) == 0) {
			kinds[i].say(out, clock, event);
			return;
		}
	}
	text_escape(out, facts_string(event, "job", ""));
	strbuf_addch(out, ' ');
	text_escape(out, name);
}
