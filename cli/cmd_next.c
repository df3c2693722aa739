/* SPDX-License-Identifier: ISC */
/*
 * cronctl next: coming occurrences of a job, of all jobs, or of an
 * expression.  An expression is worked out here, without a daemon; jobs are
 * the daemon's to answer for.
 */
#include "config.h"

#include "cli/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/expression.h"
#include "cli/facts.h"
#include "cli/job_pages.h"
#include "cli/output_json.h"
#include "common/schedule.h"
#include "common/strbuf.h"
#include "common/timearg.h"
#include "common/timestamp.h"
#include "common/xmalloc.h"

#define COUNT_DEFAULT	5
#define COUNT_MAX	1000000
#define COUNT_ASKED_MAX	1000	/* that the daemon gives at once */

static const struct arguments_option options[] = {
	{ "count", 'n', "N", "how many (5)" },
	{ "from", 0, "TIME", "those after this instant (now)" },
	{ "to", 0, "TIME", "none after this instant" },
	{ "zone", 0, "ZONE", "of an expression: the zone it is in (yours)" },
	{ "name", 0, "NAME", "of an expression: the job whose H and ~ are "
	    "meant" },
	{ NULL, 0, NULL, NULL }
};

/* What was asked for. */
struct question {
	struct cli	*cli;
	int64_t		 from;	/* exclusive */
	int64_t		 to;	/* inclusive */
	size_t		 count;	/* at most so many */
	size_t		 shown;	/* so far */
};

/* One coming occurrence. */
struct coming {
	int64_t		 at;	/* UTC seconds */
	char		*job;	/* NULL: of the one that was asked for */
	const char	*rule;	/* "gap", "fold" or NULL */
	struct zone	*zone;	/* of the schedule; borrowed */
};

static void
show_json(const struct coming *c)
{
	struct message *m = message_object();
	const struct zone *zone = c->zone;
	char at[TIMESTAMP_MAX];

	timestamp_format(at, c->at, zone_offset(zone, c->at),
	    strcmp(zone_name(zone), "UTC") == 0);
	if (c->job != NULL)
		message_set_string(m, "job", c->job);
	message_set_integer(m, "epoch", c->at);
	message_set_string(m, "at", at);
	message_set_string(m, "zone", zone_name(zone));
	message_set_string(m, "rule", c->rule);
	output_json(m);
	message_free(m);
}

/* "Tue 2026-12-01 02:30:00 CET  in 8 h     nightly-dump  (...)" */
static void
show_text(const struct question *q, const struct coming *c, struct zone *zone)
{
	struct text_clock clock = { zone, q->cli->clock.now };
	struct strbuf line = STRBUF_INIT, when = STRBUF_INIT;

	text_time(&line, &clock, c->at);
	if (c->job == NULL)
		text_relative_long(&when, c->at - clock.now);
	else
		text_relative(&when, (double)(c->at - clock.now));
	if (c->job == NULL && c->rule == NULL)
		strbuf_addf(&line, "   %s", when.buf);
	else
		strbuf_addf(&line, "   %-*s", c->job == NULL ? 16 : 10,
		    when.buf);
	if (c->job != NULL) {
		strbuf_addstr(&line, "  ");
		text_escape(&line, c->job);
	}
	if (c->rule != NULL)
		strbuf_addf(&line, "  (%s)", facts_rule(c->rule));
	printf("%s\n", line.buf);
	strbuf_release(&line);
	strbuf_release(&when);
}

/* zone: what times are shown in to people. */
static void
show(struct question *q, const struct coming *c, struct zone *zone)
{
	q->shown++;
	if (q->cli->json)
		show_json(c);
	else
		show_text(q, c, zone);
}

static enum exit_status
finish(const struct question *q)
{
	if (q->shown == 0 && !q->cli->json)
		printf("never: there is no coming occurrence\n");
	return STATUS_DONE;
}

/* ---- an expression ---- */

static void
show_schedule(struct question *q, const struct schedule *schedule)
{
	struct coming c = { .at = q->from, .zone = schedule_zone(schedule) };

	if (schedule_kind(schedule) == SCHEDULE_IN) {
		int64_t ms = schedule_in_ms(schedule);

		c.at = q->cli->clock.now + (ms + 999) / 1000;
		if (c.at > q->from && c.at <= q->to)
			show(q, &c, c.zone);
		return;
	}
	while (q->shown < q->count && schedule_next(schedule, c.at, &c.at) &&
	    c.at <= q->to) {
		c.rule = expression_rule(schedule, c.at);
		show(q, &c, c.zone);
	}
}

static enum exit_status
next_of_expression(struct question *q, const struct arguments *args)
{
	struct schedule *schedule;
	struct error err;

	schedule = expression_parse(q->cli, args, args->operands[0], &err);
	if (schedule == NULL)
		return command_fail(STATUS_REFUSED, "next: %s", err.text);
	if (schedule_kind(schedule) != SCHEDULE_MANUAL)
		show_schedule(q, schedule);
	schedule_unref(schedule);
	return finish(q);
}

/* ---- jobs ---- */

/* Occurrences of jobs, to be put in order. */
struct list {
	struct coming	*v;
	size_t		 n;
};

static void
list_add(struct list *list, const struct coming *c)
{
	list->v = xreallocarray(list->v, list->n + 1, sizeof *list->v);
	list->v[list->n++] = *c;
}

static void
list_release(struct list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->v[i].job);
		zone_unref(list->v[i].zone);
	}
	free(list->v);
}

static int
compare(const void *a, const void *b)
{
	const struct coming *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return strcmp(x->job, y->job);
}

/* Its zone as the daemon names it; times in UTC where it is not known here. */
static struct zone *
zone_of_reply(const struct message *result)
{
	const char *name = facts_string(result, "zone", "UTC");
	struct zone *zone = zone_load(name, NULL);

	return zone != NULL ? zone : zone_utc();
}

/* Up to count occurrences of one job, after q->from. */
static enum exit_status
ask_job(const struct question *q, const char *job, size_t count,
    struct list *list)
{
	struct message *params = message_object(), *result = NULL;
	const struct message *occurrences;
	enum exit_status status;
	struct zone *zone;

	message_set_string(params, "job", job);
	message_set_integer(params, "count", (int64_t)count);
	message_set_integer(params, "from", q->from);
	if (q->to < TIMESTAMP_LAST)
		message_set_integer(params, "to", q->to);
	status = command_call(q->cli, "job.next", params, &result);
	if (status != STATUS_DONE)
		return status;
	occurrences = message_get(result, "occurrences");
	zone = zone_of_reply(result);
	for (size_t i = 0; occurrences != NULL &&
	    i < message_count(occurrences); i++) {
		const struct message *o = message_at(occurrences, i);
		const char *rule = facts_string(o, "rule", NULL);
		struct coming c = { .job = xstrdup(job),
			.zone = zone_ref(zone) };

		c.rule = rule == NULL ? NULL :
		    strcmp(rule, "gap") == 0 ? "gap" : "fold";
		c.at = message_get_integer(o, "epoch", 0);
		list_add(list, &c);
	}
	zone_unref(zone);
	message_free(result);
	return STATUS_DONE;
}

static enum exit_status
next_of_job(struct question *q, const char *job)
{
	while (q->shown < q->count) {
		size_t want = q->count - q->shown;
		struct list list = { NULL, 0 };
		enum exit_status status;

		if (want > COUNT_ASKED_MAX)
			want = COUNT_ASKED_MAX;
		status = ask_job(q, job, want, &list);
		for (size_t i = 0; status == STATUS_DONE && i < list.n; i++) {
			struct coming c = list.v[i];

			q->from = c.at;
			if (!q->cli->json)
				c.job = NULL;
			show(q, &c, q->cli->clock.zone);
		}
		want -= list.n;
		list_release(&list);
		if (status != STATUS_DONE)
			return status;
		if (want > 0)
			break;
	}
	return finish(q);
}

static void
take_job(void *arg, const struct message *job)
{
	struct coming c = { 0 };

	if (!facts_integer(job, "next", &c.at))
		return;
	c.job = xstrdup(facts_string(job, "job", ""));
	list_add(arg, &c);
}

/*
 * The coming occurrences of all jobs.  Among the first N only the N jobs
 * that are due first can have any.
 */
static enum exit_status
next_of_all(struct question *q)
{
	struct message *filter = message_object();
	struct list jobs = { NULL, 0 }, list = { NULL, 0 };
	enum exit_status status = job_pages_read(q->cli, filter, take_job,
	    &jobs, NULL);

	message_free(filter);
	if (jobs.n > 0)
		qsort(jobs.v, jobs.n, sizeof *jobs.v, compare);
	for (size_t i = 0; status == STATUS_DONE && i < jobs.n &&
	    i < q->count; i++)
		if (jobs.v[i].at <= q->to)
			status = ask_job(q, jobs.v[i].job, q->count, &list);
	list_release(&jobs);
	if (list.n > 0)
		qsort(list.v, list.n, sizeof *list.v, compare);
	for (size_t i = 0; status == STATUS_DONE && i < list.n &&
	    q->shown < q->count; i++)
		show(q, &list.v[i], q->cli->clock.zone);
	list_release(&list);
	return status == STATUS_DONE ? finish(q) : status;
}

/* ---- the command line ---- */

static int
read_time(const struct cli *cli, const struct arguments *args,
    const char *name, int64_t fallback, int64_t *out, struct error *err)
{
	const char *text = arguments_value(args, name);

	*out = fallback;
	if (text == NULL)
		return 0;
	if (timearg_parse(text, strlen(text), cli->clock.zone,
	    cli->clock.now, TIMEARG_PLAN, out, err) == -1)
		return error_prefix(err, "--%s", name);
	return 0;
}

static enum exit_status
exec(struct cli *cli, const struct arguments *args)
{
	const char *what = args->n_operands > 0 ? args->operands[0] : NULL;
	bool expression = what != NULL && expression_is(what);
	struct question q = { .cli = cli };
	struct error err;
	long count;

	if (arguments_number(args, "count", 1, COUNT_MAX, COUNT_DEFAULT,
	    &count, &err) == -1 ||
	    read_time(cli, args, "from", cli->clock.now, &q.from, &err) ==
	    -1 ||
	    read_time(cli, args, "to", TIMESTAMP_LAST, &q.to, &err) == -1)
		return command_usage(cli, "%s", err.text);
	q.count = (size_t)count;
	if (expression)
		return next_of_expression(&q, args);
	if (arguments_has(args, "zone") || arguments_has(args, "name"))
		return command_usage(cli, "--zone and --name are for an "
		    "expression; a job has its own");
	if (what != NULL)
		return next_of_job(&q, what);
	if (arguments_has(args, "from"))
		return command_usage(cli, "--from needs a job or an "
		    "expression");
	if (q.count > COUNT_ASKED_MAX)
		return command_usage(cli, "--count: at most %d for all jobs "
		    "together", COUNT_ASKED_MAX);
	return next_of_all(&q);
}

const struct command command_next = {
	.name = "next",
	.args = "[JOB|'EXPRESSION'] [-n N] [--from TIME] [--to TIME] "
	    "[--zone ZONE] [--name NAME]",
	.summary = "show coming occurrences of a job, an expression or all "
	    "jobs",
	.help = "An argument with a blank in it, or one that begins with @, is"
	    " an expression; it is worked out without a daemon, in your zone "
	    "unless --zone says another, and shown in that zone.  Anything "
	    "else is a job.\n"
	    "\n"
	    "  cronctl next '30 2 * * 1-5' --zone Europe/Berlin -n 3\n"
	    "  cronctl next '@every 90m' --from '2026-12-24 00:00'\n"
	    "\n"
	    "Occurrences are nominal instants, strictly after --from.  If "
	    "there are fewer than asked for, the list ends early.",
	.max_operands = 1,
	.options = options,
	.exec = exec,
};
