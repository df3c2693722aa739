/* SPDX-License-Identifier: ISC */
/*
 * cronctl explain 'EXPRESSION' TIME: whether an expression matches an
 * instant, by which fields, which rule of daylight saving acted, and what
 * comes before and after.  Worked out here, without a daemon.
 */
#include "config.h"

#include "cli/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/expression.h"
#include "cli/output_json.h"
#include "common/cronexpr.h"
#include "common/strbuf.h"
#include "common/timearg.h"
#include "common/timestamp.h"

#define LABEL 9		/* columns of "  matches" */

static const struct arguments_option options[] = {
	{ "zone", 0, "ZONE", "the zone the expression is in (yours)" },
	{ "name", 0, "NAME", "the job whose H and ~ are meant" },
	{ NULL, 0, NULL, NULL }
};

static const char *const day_names[] = {
	"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday",
	"Saturday"
};

/* What is asked, and what came of it. */
struct explanation {
	const struct cli	*cli;
	const struct schedule	*schedule;
	struct zone		*zone;		/* of the schedule */
	int64_t			 at;		/* UTC seconds */
	bool			 matches;
	unsigned		 fields;	/* bits of those that match */
	bool			 has_before, has_after;
	int64_t			 before, after;	/* neighbours */
};

static void
find_out(struct explanation *e)
{
	const struct cronexpr *expr = schedule_expr(e->schedule);
	int64_t next;

	e->matches = schedule_next(e->schedule, e->at - 1, &next) &&
	    next == e->at;
	if (expr != NULL)
		e->fields = cronexpr_match_fields(expr, e->at +
		    zone_offset(e->zone, e->at));
	e->has_before = schedule_previous(e->schedule, e->at, &e->before);
	e->has_after = schedule_next(e->schedule, e->at, &e->after);
}

/* The days as a whole match, by either field or by both. */
static bool
day_matches(const struct explanation *e)
{
	bool dom = e->fields & 1U << CRONEXPR_DOM;
	bool dow = e->fields & 1U << CRONEXPR_DOW;

	return cronexpr_is_either_day(schedule_expr(e->schedule)) ?
	    dom || dow : dom && dow;
}

/* "hour 7", "day of week Monday" */
static void
add_field(struct strbuf *out, const struct explanation *e,
    enum cronexpr_field field)
{
	struct civil c;
	int64_t local = e->at + zone_offset(e->zone, e->at);

	civil_from_seconds(&c, local);
	strbuf_addf(out, "%s%s ", out->len > 0 ? ", " : "",
	    cronexpr_field_name(field));
	switch (field) {
	case CRONEXPR_SECOND:
		strbuf_addf(out, "%d", c.second);
		break;
	case CRONEXPR_MINUTE:
		strbuf_addf(out, "%d", c.minute);
		break;
	case CRONEXPR_HOUR:
		strbuf_addf(out, "%d", c.hour);
		break;
	case CRONEXPR_DOM:
		strbuf_addf(out, "%d", c.day);
		break;
	case CRONEXPR_MONTH:
		strbuf_addf(out, "%d", c.month);
		break;
	case CRONEXPR_DOW:
		strbuf_addstr(out, day_names[civil_weekday(civil_days(c.year,
		    c.month, c.day))]);
		break;
	case CRONEXPR_YEAR:
		strbuf_addf(out, "%" PRId64, c.year);
		break;
	case CRONEXPR_FIELDS:
		break;
	}
}

/* Goes without saying when it matches. */
static bool
is_trivial(const struct explanation *e, int field)
{
	return field == CRONEXPR_YEAR || (field == CRONEXPR_SECOND &&
	    !cronexpr_has_seconds(schedule_expr(e->schedule)));
}

/* Fields that match, or those that are in the way. */
static void
add_fields(struct strbuf *out, const struct explanation *e, bool matching)
{
	bool day = day_matches(e);

	for (int f = 0; f < CRONEXPR_FIELDS; f++) {
		bool match = e->fields & 1U << f;

		if (!matching && day &&
		    (f == CRONEXPR_DOM || f == CRONEXPR_DOW))
			continue;
		if (matching && is_trivial(e, f))
			continue;
		if (match == matching)
			add_field(out, e, (enum cronexpr_field)f);
	}
}

static void
print_line(const char *label, const struct strbuf *text)
{
	printf("  %-*s%s\n", LABEL, label, text->buf);
}

static void
print_time(const struct explanation *e, const char *label, bool has,
    int64_t t)
{
	struct text_clock clock = { e->zone, e->cli->clock.now };
	struct strbuf line = STRBUF_INIT;

	if (has) {
		text_time(&line, &clock, t);
		strbuf_addstr(&line, "   ");
		text_relative_long(&line, t - clock.now);
	} else {
		strbuf_addstr(&line, "none");
	}
	print_line(label, &line);
	strbuf_release(&line);
}

/* "the clock goes from 01:59:59 CET to 03:00:00 CEST" */
static void
add_change(struct strbuf *out, const struct explanation *e,
    const struct zone_transition *change)
{
	char before[ZONE_ABBR_MAX], after[ZONE_ABBR_MAX];
	struct civil a, b;

	zone_info(e->zone, change->at - 1, NULL, before);
	zone_info(e->zone, change->at, NULL, after);
	civil_from_seconds(&a, change->at - 1 + change->before);
	civil_from_seconds(&b, change->at + change->after);
	strbuf_addf(out, "%02d:%02d:%02d %s is followed by ", a.hour,
	    a.minute, a.second, before);
	if (a.day != b.day)
		strbuf_addf(out, "%04" PRId64 "-%02d-%02d ", b.year, b.month,
		    b.day);
	strbuf_addf(out, "%02d:%02d:%02d %s", b.hour, b.minute, b.second,
	    after);
}

static void
print_rule(const struct explanation *e)
{
	struct zone_transition change;
	struct strbuf line = STRBUF_INIT;

	switch (schedule_rule_at(e->schedule, e->at)) {
	case SCHEDULE_RULE_NONE:
		break;
	case SCHEDULE_RULE_GAP:
		strbuf_addstr(&line, "for times that do not exist that day: ");
		if (zone_next_transition(e->zone, e->at, &change))
			add_change(&line, e, &change);
		break;
	case SCHEDULE_RULE_FOLD:
		strbuf_addstr(&line, "this time is shown more than once that "
		    "day; ");
		strbuf_addstr(&line, schedule_is_interval(e->schedule) ?
		    "an interval matches each time" :
		    "a fixed time matches the first");
		break;
	}
	if (line.len > 0)
		print_line("rule", &line);
	strbuf_release(&line);
}

/* Why not, where it isn't a matter of a field. */
static void
print_why_not(const struct explanation *e)
{
	struct strbuf line = STRBUF_INIT;

	if (schedule_expr(e->schedule) == NULL) {
		strbuf_release(&line);
		return;
	}
	add_fields(&line, e, false);
	if (line.len > 0) {
		print_line("not", &line);
	} else {
		strbuf_addstr(&line, "this time is shown more than once that "
		    "day; a fixed time matches the first");
		print_line("rule", &line);
	}
	strbuf_release(&line);
}

static void
print_text(const struct explanation *e)
{
	struct text_clock clock = { e->zone, e->cli->clock.now };
	struct strbuf line = STRBUF_INIT;

	text_time(&line, &clock, e->at);
	strbuf_addstr(&line, e->matches ? " is an occurrence of \"" :
	    " is no occurrence of \"");
	text_escape(&line, schedule_text(e->schedule));
	strbuf_addf(&line, "\" in %s", zone_name(e->zone));
	printf("%s\n", line.buf);
	strbuf_reset(&line);
	if (schedule_expr(e->schedule) != NULL)
		add_fields(&line, e, true);
	if (line.len > 0)
		print_line("matches", &line);
	if (e->matches)
		print_rule(e);
	else
		print_why_not(e);
	print_time(e, "before", e->has_before, e->before);
	print_time(e, "after", e->has_after, e->after);
	strbuf_release(&line);
}

static void
set_instant(struct message *m, const char *key, bool has, int64_t t)
{
	if (has)
		message_set_integer(m, key, t);
	else
		message_set_null(m, key);
}

static void
print_json(const struct explanation *e)
{
	struct message *m = message_object(), *fields = message_object();
	char at[TIMESTAMP_MAX];

	timestamp_format(at, e->at, zone_offset(e->zone, e->at),
	    strcmp(zone_name(e->zone), "UTC") == 0);
	message_set_string(m, "schedule", schedule_text(e->schedule));
	message_set_string(m, "zone", zone_name(e->zone));
	message_set_integer(m, "epoch", e->at);
	message_set_string(m, "at", at);
	message_set_bool(m, "matches", e->matches);
	for (int f = 0; schedule_expr(e->schedule) != NULL &&
	    f < CRONEXPR_FIELDS; f++)
		message_set_bool(fields, cronexpr_field_name(
		    (enum cronexpr_field)f), e->fields & 1U << f);
	message_set(m, "fields", fields);
	message_set_string(m, "rule", e->matches ?
	    expression_rule(e->schedule, e->at) : NULL);
	set_instant(m, "before", e->has_before, e->before);
	set_instant(m, "after", e->has_after, e->after);
	output_json(m);
	message_free(m);
}

static enum exit_status
exec(struct cli *cli, const struct arguments *args)
{
	const char *text = args->operands[0], *when = args->operands[1];
	struct explanation e = { .cli = cli };
	struct schedule *schedule;
	struct error err;

	if (!expression_is(text))
		return command_usage(cli, "\"%s\" is no expression; what "
		    "became of a job's occurrences: cronctl history %s",
		    text, text);
	schedule = expression_parse(cli, args, text, &err);
	if (schedule == NULL)
		return command_fail(STATUS_REFUSED, "explain: %s", err.text);
	e.schedule = schedule;
	e.zone = schedule_zone(schedule) != NULL ? schedule_zone(schedule) :
	    cli->clock.zone;
	if (timearg_parse(when, strlen(when), e.zone, cli->clock.now,
	    TIMEARG_QUESTION, &e.at, &err) == -1) {
		schedule_unref(schedule);
		return command_fail(STATUS_REFUSED, "explain: %s", err.text);
	}
	find_out(&e);
	if (cli->json)
		print_json(&e);
	else
		print_text(&e);
	schedule_unref(schedule);
	return STATUS_DONE;
}

const struct command command_explain = {
	.name = "explain",
	.args = "'EXPRESSION' TIME [--zone ZONE] [--name NAME]",
	.summary = "explain whether an expression matches a time, and why",
	.help = "Says by which fields the expression matches the time or does "
	    "not, which rule of daylight saving acted, and which occurrences "
	    "come before and after.  No daemon is asked.  TIME is read in the "
	    "expression's zone.\n"
	    "\n"
	    "  cronctl explain '0 7 * * 1-5' '2026-11-30 07:00'\n"
	    "  cronctl explain '30 2 * * *' '2027-03-28 03:00' --zone "
	    "Europe/Berlin",
	.min_operands = 2,
	.max_operands = 2,
	.options = options,
	.exec = exec,
};
