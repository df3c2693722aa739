/* SPDX-License-Identifier: ISC */
/*
 * What people should be told about a schedule: the rule of daylight saving
 * that acted at an occurrence, and what is legal but surprising.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "common/schedule_internal.h"
#include "common/timestamp.h"

#define SENTENCE_MAX	256
#define WARN_AHEAD	(366 * SEC_PER_DAY)	/* the next year */
#define TEXT_SHOWN	64	/* bytes of a schedule's text in a sentence */

/* Where warnings go. */
struct sink {
	void	(*warn)(void *arg, const char *sentence); /* the caller's */
	void	*arg;	/* for warn */
};

/* The first matching time that a change jumps over. */
static bool
jumped_over(const struct schedule *s, const struct zone_transition *t,
    int64_t *local)
{
	return t->after > t->before &&
	    cronexpr_next_local(s->expr, t->at + t->before, local) &&
	    *local < t->at + t->after;
}

/* Whether an instant's wall time is shown by another instant as well. */
static bool
is_shown_again(const struct zone *zone, int64_t at)
{
	struct zone_span span;
	int64_t local;

	zone_span_at(zone, at, &span);
	local = at + span.offset;
	if (zone_local_to_utc(zone, local) != at)
		return true;
	while (span.end <= local - ZONE_OFFSET_LEAST) {
		zone_span_at(zone, span.end, &span);
		if (local - span.offset >= span.start &&
		    local - span.offset < span.end)
			return true;
	}
	return false;
}

enum schedule_rule
schedule_rule_at(const struct schedule *s, int64_t at)
{
	struct zone_transition t;
	int64_t local;

	if (s->kind != SCHEDULE_CRON)
		return SCHEDULE_RULE_NONE;
	if (cronexpr_is_fixed_time(s->expr) && s->rules.gap == DST_GAP_RUN &&
	    zone_next_transition(s->zone, at, &t) && t.at == at &&
	    jumped_over(s, &t, &local))
		return SCHEDULE_RULE_GAP;
	return is_shown_again(s->zone, at) ? SCHEDULE_RULE_FOLD :
	    SCHEDULE_RULE_NONE;
}

/* "02:30", or "02:30:15". */
static void
format_time(char buf[16], const struct civil *c)
{
	int n = snprintf(buf, 16, "%02d:%02d", c->hour % 24, c->minute % 60);

	if (c->second != 0)
		snprintf(buf + n, 16 - (size_t)n, ":%02d", c->second % 60);
}

static void
warn_gap(const struct schedule *s, const struct zone_transition *t,
    int64_t local, const struct sink *sink)
{
	char text[SENTENCE_MAX], time[16], at[16], day[32] = "that day";
	struct civil c, run;
	int64_t more;
	bool many = cronexpr_next_local(s->expr, local + 1, &more) &&
	    more < t->at + t->after;
	int n;

	civil_from_seconds(&c, local);
	civil_from_seconds(&run, t->at + t->after);
	format_time(time, &c);
	format_time(at, &run);
	if (run.day != c.day)
		snprintf(day, sizeof(day), "on %04lld-%02d-%02d",
		    (long long)run.year, run.month, run.day);
	n = snprintf(text, sizeof(text), "%s %s not exist on "
	    "%04lld-%02d-%02d in %s; ", time,
	    many ? "and later times do" : "does", (long long)c.year, c.month,
	    c.day, zone_name(s->zone));
	if (s->rules.gap == DST_GAP_SKIP)
		snprintf(text + n, sizeof(text) - (size_t)n,
		    "it will not run for %s (dst_gap=skip)",
		    many ? "them" : "it");
	else
		snprintf(text + n, sizeof(text) - (size_t)n,
		    "it will run %sat %s %s (dst_gap=run)",
		    many ? "once " : "", at, day);
	sink->warn(sink->arg, text);
}

/* The first change of the next year that jumps over a fixed time. */
static void
warn_gaps(const struct schedule *s, int64_t now, const struct sink *sink)
{
	struct zone_transition t = { .at = now };
	int64_t local;

	if (!cronexpr_is_fixed_time(s->expr))
		return;
	while (zone_next_transition(s->zone, t.at + 1, &t) &&
	    t.at <= now + WARN_AHEAD) {
		if (jumped_over(s, &t, &local)) {
			warn_gap(s, &t, local, sink);
			return;
		}
	}
}

static void
warn_never(const struct schedule *s, int64_t now, const struct sink *sink)
{
	char text[SENTENCE_MAX], last[TIMESTAMP_MAX];
	int64_t t;

	if (cronexpr_next(s->expr, s->zone, s->rules, now, &t))
		return;
	if (cronexpr_previous(s->expr, s->zone, s->rules, now + 1, &t)) {
		timestamp_format(last, t, zone_offset(s->zone, t), false);
		snprintf(text, sizeof(text), "\"%.*s\" will not come again; "
		    "its last time was %s", TEXT_SHOWN, s->text, last);
	} else {
		snprintf(text, sizeof(text), "\"%.*s\" can never come: no "
		    "such date exists", TEXT_SHOWN, s->text);
	}
	sink->warn(sink->arg, text);
}

/* Whole days that don't begin at the zone's midnight. */
static void
warn_every(const struct schedule *s, int64_t now, const struct sink *sink)
{
	char text[SENTENCE_MAX], time[16];
	struct civil c;
	int64_t next;
	int32_t offset;

	if (s->period % SEC_PER_DAY != 0 || s->phase != 0 ||
	    !schedule_next(s, now, &next))
		return;
	offset = zone_offset(s->zone, next);
	if (offset == 0)
		return;
	civil_from_seconds(&c, next + offset);
	format_time(time, &c);
	snprintf(text, sizeof(text), "\"%.*s\" counts days from midnight "
	    "UTC, which is %s in %s; for local midnight write @daily",
	    TEXT_SHOWN, s->text, time, zone_name(s->zone));
	sink->warn(sink->arg, text);
}

static void
warn_past(const struct schedule *s, int64_t now, const struct sink *sink)
{
	char text[SENTENCE_MAX], when[TIMESTAMP_MAX];

	if (s->instant > now)
		return;
	timestamp_format(when, s->instant, zone_offset(s->zone, s->instant),
	    false);
	snprintf(text, sizeof(text), "\"%.*s\" is in the past (%s)",
	    TEXT_SHOWN, s->text, when);
	sink->warn(sink->arg, text);
}

void
schedule_warnings(const struct schedule *s, int64_t now,
    void (*warn)(void *arg, const char *sentence), void *arg)
{
	struct sink sink = { warn, arg };

	switch (s->kind) {
	case SCHEDULE_CRON:
		cronexpr_warnings_from(s->text, strlen(s->text), s->body,
		    warn, arg);
		warn_never(s, now, &sink);
		warn_gaps(s, now, &sink);
		break;
	case SCHEDULE_EVERY:
		warn_every(s, now, &sink);
		break;
	case SCHEDULE_AT:
		warn_past(s, now, &sink);
		break;
	case SCHEDULE_IN:
	case SCHEDULE_MANUAL:
		break;
	}
}
