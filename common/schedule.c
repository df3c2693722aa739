/* SPDX-License-Identifier: ISC */
/*
 * One schedule of a job: a text of one of the forms of the schedule language
 * made into something that can be asked for its occurrences.
 *
 * A form is a row of a table: the word after "@" and the function that takes
 * what follows it.  What is no form is an expression.  Relative times of @at
 * become an instant here and stay it.
 */
#include "config.h"

#include "common/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "common/duration.h"
#include "common/nearest.h"
#include "common/schedule_internal.h"
#include "common/timearg.h"
#include "common/timestamp.h"
#include "common/xmalloc.h"

#define WORD_MAX	32	/* bytes of a word shown in a message */

/* A text while it is parsed. */
struct input {
	const char	*text;	/* the whole text */
	size_t		 len;	/* its bytes, trailing blanks left off */
	size_t		 at;	/* next byte */
	const struct schedule_options *options; /* of the caller */
	struct error	*err;	/* where to say what is wrong */
};

/* A word with a meaning of its own. */
struct form {
	const char	*word;	/* without "@" */
	/* Takes what follows; NULL: not supported by this version. */
	int		(*parse)(struct schedule *, struct input *);
};

static int	parse_every(struct schedule *, struct input *);
static int	parse_at(struct schedule *, struct input *);
static int	parse_in(struct schedule *, struct input *);
static int	parse_manual(struct schedule *, struct input *);

static const struct form forms[] = {
	{ "every", parse_every },
	{ "at", parse_at },
	{ "in", parse_in },
	{ "manual", parse_manual },
	{ "after", NULL },
	{ "continuous", NULL },
	{ "reboot", NULL },
};

#define NFORMS (sizeof(forms) / sizeof(forms[0]))

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void
skip_blanks(struct input *in)
{
	while (in->at < in->len && is_blank(in->text[in->at]))
		in->at++;
}

/* Whole seconds at [from, to) of the text. */
static int
parse_seconds(struct input *in, size_t from, size_t to, int64_t *seconds)
{
	int64_t ms;

	if (duration_parse(in->text + from, to - from, &ms, in->err) == -1)
		return error_prefix(in->err, "column %zu", from + 1);
	if (ms % 1000 != 0)
		return error_set(in->err, "column %zu: \"%.*s\" is not a "
		    "number of whole seconds", from + 1, (int)(to - from),
		    in->text + from);
	*seconds = ms / 1000;
	return 0;
}

static int
parse_every(struct schedule *s, struct input *in)
{
	size_t from = in->at, slash = from;

	s->kind = SCHEDULE_EVERY;
	if (from == in->len)
		return error_set(in->err, "@every needs a duration, for "
		    "example @every 15m");
	while (slash < in->len && in->text[slash] != '/')
		slash++;
	if (parse_seconds(in, from, slash, &s->period) == -1)
		return -1;
	if (s->period < 1)
		return error_set(in->err, "column %zu: a period of \"%.*s\" "
		    "is too short; it is 1s or more", from + 1,
		    (int)(slash - from), in->text + from);
	if (slash == in->len)
		return 0;
	if (parse_seconds(in, slash + 1, in->len, &s->phase) == -1)
		return -1;
	if (s->phase >= s->period)
		return error_set(in->err, "column %zu: the shift \"%.*s\" is "
		    "not less than the period \"%.*s\"", slash + 2,
		    (int)(in->len - slash - 1), in->text + slash + 1,
		    (int)(slash - from), in->text + from);
	return 0;
}

static int
parse_at(struct schedule *s, struct input *in)
{
	s->kind = SCHEDULE_AT;
	if (in->at == in->len)
		return error_set(in->err, "@at needs a time, for example "
		    "@at 2026-12-01 07:00");
	if (timearg_parse(in->text + in->at, in->len - in->at, s->zone,
	    in->options->now, TIMEARG_PLAN, &s->instant, in->err) == -1)
		return error_prefix(in->err, "column %zu", in->at + 1);
	return 0;
}

static int
parse_in(struct schedule *s, struct input *in)
{
	s->kind = SCHEDULE_IN;
	if (!in->options->allow_in)
		return error_set(in->err, "@in counts from the moment a job "
		    "is added, so it can't stand here; write @at and a time");
	if (in->at == in->len)
		return error_set(in->err, "@in needs a duration, for example "
		    "@in 20m");
	return parse_seconds(in, in->at, in->len, &s->period);
}

static int
parse_manual(struct schedule *s, struct input *in)
{
	s->kind = SCHEDULE_MANUAL;
	if (in->at != in->len)
		return error_set(in->err, "@manual stands alone; \"%.*s\" at "
		    "column %zu does not belong after it", WORD_MAX,
		    in->text + in->at, in->at + 1);
	return 0;
}

static int
parse_expr(struct schedule *s, struct input *in)
{
	s->kind = SCHEDULE_CRON;
	s->expr = cronexpr_parse_from(in->text, in->len, in->at,
	    in->options->names, in->err);
	return s->expr == NULL ? -1 : 0;
}

static const char *
get_word(const void *arg, size_t i)
{
	(void)arg;
	return i < NFORMS ? forms[i].word : cronexpr_word(i - NFORMS);
}

/* A word that is neither a form nor stands for an expression. */
static int
refuse_word(const char *word, struct error *err)
{
	const char *near;
	size_t n = NFORMS;

	while (cronexpr_word(n - NFORMS) != NULL)
		n++;
	near = nearest_find(word, n, get_word, NULL);
	if (near != NULL)
		return error_set(err, "@%s is not a known word; did you mean "
		    "@%s?", word, near);
	return error_set(err, "%s%s is not a known word; words are @every, "
	    "@at, @manual, @yearly, @monthly, @weekly, @daily and @hourly",
	    word[0] == '\0' ? "\"@\" alone" : "@", word);
}

static bool
is_cronexpr_word(const char *word)
{
	const char *known;

	for (size_t i = 0; (known = cronexpr_word(i)) != NULL; i++)
		if (strcmp(word, known) == 0)
			return true;
	return false;
}

static int
parse_word(struct schedule *s, struct input *in)
{
	char word[WORD_MAX];
	size_t from = in->at + 1, to = from, len;

	while (to < in->len && !is_blank(in->text[to]))
		to++;
	len = to - from < sizeof(word) ? to - from : sizeof(word) - 1;
	for (size_t i = 0; i < len; i++) {
		word[i] = in->text[from + i];
		if (word[i] < ' ' || word[i] > '~')
			word[i] = '?';
	}
	word[len] = '\0';
	if (is_cronexpr_word(word))
		return parse_expr(s, in);
	for (size_t i = 0; i < NFORMS; i++) {
		if (strcmp(word, forms[i].word) != 0)
			continue;
		if (forms[i].parse == NULL)
			return error_set(in->err, "@%s is not supported by "
			    "this version", word);
		in->at = to;
		skip_blanks(in);
		return forms[i].parse(s, in);
	}
	return refuse_word(word, in->err);
}

static bool
take_prefix(struct input *in, const char *prefix)
{
	size_t len = strlen(prefix);

	if (in->len - in->at < len ||
	    memcmp(in->text + in->at, prefix, len) != 0)
		return false;
	in->at += len;
	return true;
}

/* TZ=Zone or CRON_TZ=Zone; sets the schedule's zone in any case. */
static int
parse_zone(struct schedule *s, struct input *in)
{
	const struct schedule_options *o = in->options;
	size_t from = in->at, name;
	char *zone;

	if (!take_prefix(in, "TZ=") && !take_prefix(in, "CRON_TZ=")) {
		s->zone = o->zone == NULL ? zone_utc() : zone_ref(o->zone);
		return 0;
	}
	name = in->at;
	while (in->at < in->len && !is_blank(in->text[in->at]))
		in->at++;
	zone = xstrndup(in->text + name, in->at - name);
	skip_blanks(in);
	if (in->at == in->len) {
		error_set(in->err, "nothing follows the zone in \"%.*s%.*s\"; "
		    "write for example TZ=Europe/Berlin 30 2 * * *",
		    (int)(name - from), in->text + from, ZONE_NAME_MAX, zone);
	} else if (o->zones != NULL) {
		s->zone = zone_cache_get(o->zones, zone, in->err);
		if (s->zone != NULL)
			zone_ref(s->zone);
	} else {
		s->zone = zone_load(zone, in->err);
	}
	if (s->zone == NULL)
		error_prefix(in->err, "column %zu", name + 1);
	free(zone);
	return s->zone == NULL ? -1 : 0;
}

static int
parse_text(struct schedule *s, struct input *in)
{
	if (in->len > CRONEXPR_TEXT_MAX)
		return error_set(in->err, "the schedule has %zu bytes, more "
		    "than %d", in->len, CRONEXPR_TEXT_MAX);
	if (memchr(in->text, '\0', in->len) != NULL)
		return error_set(in->err, "the schedule holds a NUL byte");
	if (parse_zone(s, in) == -1)
		return -1;
	s->body = in->at;
	if (in->at < in->len && in->text[in->at] == '@')
		return parse_word(s, in);
	return parse_expr(s, in);
}

struct schedule *
schedule_parse(const char *s, size_t len,
    const struct schedule_options *options, struct error *err)
{
	struct input in = { s, len, 0, options, err };
	struct schedule *sched;
	size_t skipped;

	while (in.len > 0 && is_blank(s[in.len - 1]))
		in.len--;
	skip_blanks(&in);
	skipped = in.at;
	sched = xcalloc(1, sizeof(*sched));
	sched->refs = 1;
	sched->rules = options->rules;
	if (parse_text(sched, &in) == -1) {
		schedule_unref(sched);
		return NULL;
	}
	sched->text = xstrndup(s + skipped, in.len - skipped);
	sched->body -= skipped;
	return sched;
}

struct schedule *
schedule_ref(struct schedule *s)
{
	s->refs++;
	return s;
}

void
schedule_unref(struct schedule *s)
{
	if (s == NULL || --s->refs > 0)
		return;
	cronexpr_free(s->expr);
	zone_unref(s->zone);
	free(s->text);
	free(s);
}

enum schedule_kind
schedule_kind(const struct schedule *s)
{
	return s->kind;
}

const char *
schedule_text(const struct schedule *s)
{
	return s->text;
}

struct zone *
schedule_zone(const struct schedule *s)
{
	return s->zone;
}

void
schedule_set_zone(struct schedule *s, struct zone *zone)
{
	zone_ref(zone);
	zone_unref(s->zone);
	s->zone = zone;
}

const struct cronexpr *
schedule_expr(const struct schedule *s)
{
	return s->expr;
}

int64_t
schedule_in_ms(const struct schedule *s)
{
	return s->kind == SCHEDULE_IN ? s->period * 1000 : 0;
}

bool
schedule_is_interval(const struct schedule *s)
{
	if (s->kind == SCHEDULE_CRON)
		return !cronexpr_is_fixed_time(s->expr);
	return s->kind == SCHEDULE_EVERY;
}

bool
schedule_is_one_shot(const struct schedule *s)
{
	return s->kind == SCHEDULE_AT || s->kind == SCHEDULE_IN;
}

static int64_t
floor_div(int64_t a, int64_t b)
{
	int64_t q = a / b;

	return a % b < 0 ? q - 1 : q;
}

/* The last instant of @every at or before one. */
static int64_t
every_until(const struct schedule *s, int64_t t)
{
	return floor_div(t - s->phase, s->period) * s->period + s->phase;
}

static bool
is_in_years(int64_t t)
{
	return t >= TIMESTAMP_FIRST && t <= TIMESTAMP_LAST;
}

bool
schedule_next(const struct schedule *s, int64_t after, int64_t *next)
{
	int64_t t;

	switch (s->kind) {
	case SCHEDULE_CRON:
		return cronexpr_next(s->expr, s->zone, s->rules, after, next);
	case SCHEDULE_EVERY:
		if (after >= TIMESTAMP_LAST)
			return false;
		if (after < TIMESTAMP_FIRST)
			after = TIMESTAMP_FIRST - 1;
		t = every_until(s, after) + s->period;
		break;
	case SCHEDULE_AT:
		t = s->instant;
		break;
	default:
		return false;
	}
	if (t <= after || !is_in_years(t))
		return false;
	*next = t;
	return true;
}

bool
schedule_previous(const struct schedule *s, int64_t before, int64_t *previous)
{
	int64_t t;

	switch (s->kind) {
	case SCHEDULE_CRON:
		return cronexpr_previous(s->expr, s->zone, s->rules, before,
		    previous);
	case SCHEDULE_EVERY:
		if (before <= TIMESTAMP_FIRST)
			return false;
		if (before > TIMESTAMP_LAST)
			before = TIMESTAMP_LAST + 1;
		t = every_until(s, before - 1);
		break;
	case SCHEDULE_AT:
		t = s->instant;
		break;
	default:
		return false;
	}
	if (t >= before || !is_in_years(t))
		return false;
	*previous = t;
	return true;
}

bool
schedule_next_of(struct schedule *const *v, size_t n, int64_t after,
    int64_t *next)
{
	bool found = false;
	int64_t t;

	for (size_t i = 0; i < n; i++) {
		if (!schedule_next(v[i], after, &t) || (found && t >= *next))
			continue;
		*next = t;
		found = true;
	}
	return found;
}

bool
schedule_previous_of(struct schedule *const *v, size_t n, int64_t before,
    int64_t *previous)
{
	bool found = false;
	int64_t t;

	for (size_t i = 0; i < n; i++) {
		if (!schedule_previous(v[i], before, &t) ||
		    (found && t <= *previous))
			continue;
		*previous = t;
		found = true;
	}
	return found;
}
