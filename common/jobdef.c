/* SPDX-License-Identifier: ISC */
/*
 * From settings to a definition: layers are merged into the definition's own
 * settings, then every value is read from there, the zone before times and
 * schedules.  All errors are told, so a value that can't be used leaves the
 * default in its place and the rest goes on.
 *
 * No effects but through the context's zone cache.
 */
#include "config.h"

#include "common/jobdef.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/jobdef_internal.h"
#include "common/strbuf.h"
#include "common/timearg.h"
#include "common/timestamp.h"
#include "common/xmalloc.h"

#define FROM_DEFAULTS (-1)	/* as the line of a merged setting, here only */
#define RUNNING_WITH_ALLOW 16
#define TAGS_MAX 64

struct builder {
	const struct jobdef_context *context;	/* of the caller */
	struct jobdef	*def;		/* being filled */
	struct zone	*zone;		/* of the job; borrowed */
	int		 line;		/* of the setting being read */
	bool		 failed;	/* context->error was called */
};

static void
tell(struct builder *b, int line, const char *key, const char *text)
{
	char *marked;

	b->failed = true;
	if (line != FROM_DEFAULTS) {
		b->context->error(b->context->arg, line, key, text);
		return;
	}
	marked = xasprintf("%s (in the defaults)", text);
	b->context->error(b->context->arg, 0, key, marked);
	free(marked);
}

static void __attribute__((format(printf, 3, 4)))
tell_whole(struct builder *b, const char *key, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	tell(b, 0, key, text);
	free(text);
}

/* Puts a value that was checked into its field. */
static void
store(struct jobdef *def, const struct jobdef_key *key, const char *value,
    int64_t number)
{
	void *field = (char *)def + key->offset;

	switch (key->type) {
	case JOBDEF_STRING:
	case JOBDEF_PATH:
	case JOBDEF_ACCOUNT:
	case JOBDEF_ZONE:
		*(char **)field = (char *)value;
		break;
	case JOBDEF_BOOL:
		*(bool *)field = number != 0;
		break;
	case JOBDEF_CHOICE:
		*(int *)field = (int)number;
		break;
	case JOBDEF_DURATION:
	case JOBDEF_SIZE:
	case JOBDEF_INTEGER:
	case JOBDEF_OCTAL:
	case JOBDEF_SIGNAL:
	case JOBDEF_TIME:
		*(int64_t *)field = number;
		break;
	case JOBDEF_SCHEDULE:
	case JOBDEF_LINES:
	case JOBDEF_TAGS:
	case JOBDEF_ENVIRONMENT:
		break;
	}
}

static void
store_fallbacks(struct jobdef *def)
{
	def->not_before = INT64_MIN;
	def->not_after = INT64_MAX;
	for (const struct jobdef_key *key = jobdef_keys(); key->name != NULL;
	    key++) {
		int64_t number = 0;

		if (key->fallback == NULL)
			continue;
		if (jobdef_value_check(key, key->fallback, &number, NULL) ==
		    0)
			store(def, key, key->fallback, number);
	}
}

/* Replaces what was written by what it was found to mean. */
static void
rewrite(struct builder *b, struct jobdef_setting *setting, const char *value)
{
	size_t key_len = strlen(setting->key), len = strlen(value);
	char *pair = xmalloc(key_len + len + 2);

	memcpy(pair, setting->key, key_len + 1);
	memcpy(pair + key_len + 1, value, len + 1);
	b->def->settings.size += len;
	b->def->settings.size -= strlen(setting->value);
	free(setting->key);
	setting->key = pair;
	setting->value = pair + key_len + 1;
}

/* A date or @EPOCH, not "tomorrow" or "18:00". */
static bool
is_absolute_time(const char *s)
{
	size_t digits = strspn(s, "0123456789");

	return *s == '@' || (digits >= 4 && s[digits] == '-');
}

static int
refuse_relative(const char *time, struct error *err)
{
	char quoted[ERROR_QUOTE_MAX];

	return error_set(err, "%s depends on when it is read; write a date, "
	    "for example 2027-01-31 08:00", error_quote(quoted, time,
	    strlen(time)));
}

static void
read_time(struct builder *b, const struct jobdef_key *key,
    struct jobdef_setting *setting)
{
	const struct jobdef_context *context = b->context;
	char text[TIMESTAMP_MAX];
	struct error err;
	int64_t at;

	if (timearg_parse(setting->value, strlen(setting->value), b->zone,
	    context->now, TIMEARG_PLAN, &at, &err) == -1 ||
	    (!is_absolute_time(setting->value) && !context->allow_in &&
	    refuse_relative(setting->value, &err) == -1)) {
		tell(b, setting->line, key->name, err.text);
		return;
	}
	if (!is_absolute_time(setting->value)) {
		timestamp_format(text, at, 0, true);
		rewrite(b, setting, text);
	}
	store(b->def, key, setting->value, at);
}

static void
read_zone(struct builder *b, const struct jobdef_key *key,
    const struct jobdef_setting *setting)
{
	struct error err;
	struct zone *zone = zone_cache_get(b->context->zones, setting->value,
	    &err);

	if (zone == NULL) {
		tell(b, setting->line, key->name, err.text);
		return;
	}
	b->zone = zone;
	store(b->def, key, setting->value, 0);
}

static void
warn_schedule(void *arg, const char *sentence)
{
	struct builder *b = arg;

	b->context->warning(b->context->arg, b->line == FROM_DEFAULTS ? 0 :
	    b->line, "schedule", sentence);
}

static struct schedule *
parse_schedule(struct builder *b, const char *text, struct error *err)
{
	const struct cronexpr_names names = { b->context->host_id,
	    b->def->name };
	const struct schedule_options options = {
		.zone = b->zone,
		.zones = b->context->zones,
		.names = &names,
		.rules = { (enum dst_gap)b->def->dst_gap,
		    (enum dst_fold)b->def->dst_fold },
		.allow_in = b->context->allow_in,
		.now = b->context->now,
	};

	return schedule_parse(text, strlen(text), &options, err);
}

/*
 * The instant that @in, or a past or relative @at, means when it is accepted
 * (semantics.md 1).  now is a second that has begun, so a delay counts from
 * its end.
 */
static int64_t
accepted_instant(const struct builder *b, const struct schedule *s)
{
	int64_t now = b->context->now, at = now, ms;

	if (schedule_kind(s) == SCHEDULE_IN) {
		ms = schedule_in_ms(s);
		return now + (ms + 999) / 1000 + (ms > 0);
	}
	if (!schedule_next(s, TIMESTAMP_FIRST - 1, &at) || at < now)
		at = now;
	return at;
}

/*
 * Times that depend on when they are read: refused, or over the socket made
 * into instants.  NULL with err filled; else s or what replaces it.
 */
static struct schedule *
settle_one_shot(struct builder *b, struct schedule *s,
    struct jobdef_setting *setting, struct error *err)
{
	const char *word = strchr(schedule_text(s), '@'), *time;
	char stamp[TIMESTAMP_MAX], *text;
	struct schedule *settled;
	int64_t at;

	if (!schedule_is_one_shot(s) || word == NULL)
		return s;
	time = word + strcspn(word, " \t");
	time += strspn(time, " \t");
	if (!b->context->allow_in) {
		if (is_absolute_time(time))
			return s;
		refuse_relative(time, err);
		schedule_unref(s);
		return NULL;
	}
	if (schedule_kind(s) == SCHEDULE_AT && is_absolute_time(time) &&
	    schedule_next(s, b->context->now - 1, &at))
		return s;
	timestamp_format(stamp, accepted_instant(b, s), 0, true);
	text = xasprintf("%.*s@at %s", (int)(word - schedule_text(s)),
	    schedule_text(s), stamp);
	schedule_unref(s);
	settled = parse_schedule(b, text, err);
	if (settled != NULL)
		rewrite(b, setting, text);
	free(text);
	return settled;
}

static void
read_schedule(struct builder *b, struct jobdef_setting *setting)
{
	struct jobdef *def = b->def;
	struct schedule *s;
	struct error err;

	if (def->n_schedules == JOBDEF_SCHEDULES_MAX) {
		error_set(&err, "more than %d schedules; make it several jobs",
		    JOBDEF_SCHEDULES_MAX);
		tell(b, setting->line, "schedule", err.text);
		return;
	}
	s = parse_schedule(b, setting->value, &err);
	if (s != NULL)
		s = settle_one_shot(b, s, setting, &err);
	if (s == NULL) {
		tell(b, setting->line, "schedule", err.text);
		return;
	}
	def->schedules = xreallocarray(def->schedules, def->n_schedules + 1,
	    sizeof *def->schedules);
	def->schedules[def->n_schedules++] = s;
	b->line = setting->line;
	if (b->context->warning != NULL)
		schedule_warnings(s, b->context->now, warn_schedule, b);
}

static bool
has_tag(const struct jobdef *def, const char *tag, size_t len)
{
	for (size_t i = 0; i < def->n_tags; i++)
		if (strncmp(def->tags[i], tag, len) == 0 &&
		    def->tags[i][len] == '\0')
			return true;
	return false;
}

static void
read_tags(struct builder *b, const struct jobdef_setting *setting)
{
	struct jobdef *def = b->def;
	const char *p = setting->value;
	struct error err;

	while (*p != '\0') {
		size_t len = strcspn(p, ","), end = len;
		const char *next = p + len + (p[len] == ',');

		for (; end > 0 && (*p == ' ' || *p == '\t'); end--)
			p++;
		while (end > 0 && (p[end - 1] == ' ' || p[end - 1] == '\t'))
			end--;
		if (end > 0 && !has_tag(def, p, end)) {
			if (def->n_tags == TAGS_MAX) {
				error_set(&err, "more than %d tags; remove "
				    "some", TAGS_MAX);
				tell(b, setting->line, "tags", err.text);
				return;
			}
			def->tags = xreallocarray(def->tags, def->n_tags + 1,
			    sizeof *def->tags);
			def->tags[def->n_tags++] = xstrndup(p, end);
		}
		p = next;
	}
}

static void
read_variable(struct builder *b, const struct jobdef_setting *setting)
{
	struct jobdef *def = b->def;

	def->env = xreallocarray(def->env, def->n_env + 1, sizeof *def->env);
	def->env[def->n_env++] = xasprintf("%s=%s",
	    setting->key + strlen(JOBDEF_ENV_PREFIX), setting->value);
}

/* Lines of standard input; one empty line alone means none. */
static void
read_stdin(struct builder *b)
{
	const struct jobdef_settings *s = &b->def->settings;
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < s->n; i++) {
		if (strcmp(s->v[i].key, "stdin") != 0)
			continue;
		strbuf_addstr(&text, s->v[i].value);
		strbuf_addch(&text, '\n');
	}
	if (text.len > 1)
		b->def->stdin_text = strbuf_detach(&text);
	strbuf_release(&text);
}

static void
read_plain(struct builder *b, const struct jobdef_key *key,
    const struct jobdef_setting *setting)
{
	int64_t number = 0;
	struct error err;

	if (jobdef_value_check(key, setting->value, &number, &err) == -1)
		tell(b, setting->line, key->name, err.text);
	else
		store(b->def, key, setting->value, number);
}

static void
read_setting(struct builder *b, const struct jobdef_key *key,
    struct jobdef_setting *setting)
{
	switch (key->type) {
	case JOBDEF_ENVIRONMENT:
		read_variable(b, setting);
		break;
	case JOBDEF_TAGS:
		read_tags(b, setting);
		break;
	case JOBDEF_TIME:
	case JOBDEF_ZONE:
	case JOBDEF_SCHEDULE:
	case JOBDEF_LINES:
		break;
	default:
		read_plain(b, key, setting);
	}
}

/* Those that need the zone and the rules, which must be known before. */
static void
read_timed_setting(struct builder *b, const struct jobdef_key *key,
    struct jobdef_setting *setting)
{
	if (key->type == JOBDEF_TIME && *setting->value != '\0')
		read_time(b, key, setting);
	else if (key->type == JOBDEF_SCHEDULE && *setting->value != '\0')
		read_schedule(b, setting);
}

static void
read_settings(struct builder *b)
{
	struct jobdef_settings *s = &b->def->settings;

	for (size_t i = 0; i < s->n; i++) {
		const struct jobdef_key *key = jobdef_key_find(s->v[i].key);

		if (*s->v[i].value == '\0' && key->type != JOBDEF_ENVIRONMENT)
			continue;
		if (key->type == JOBDEF_ZONE)
			read_zone(b, key, &s->v[i]);
		else
			read_setting(b, key, &s->v[i]);
	}
	for (size_t i = 0; i < s->n; i++)
		read_timed_setting(b, jobdef_key_find(s->v[i].key), &s->v[i]);
	read_stdin(b);
}

static bool
is_given(const struct jobdef *def, const char *key)
{
	const struct jobdef_settings *s = &def->settings;

	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->v[i].key, key) == 0 && *s->v[i].value != '\0')
			return true;
	return false;
}

/* What concerns more than one setting. */
static void
check_whole(struct builder *b, bool is_defaults)
{
	struct jobdef *def = b->def;

	for (const struct jobdef_key *key = jobdef_keys(); key->name != NULL;
	    key++)
		if (key->required && !is_defaults && !is_given(def, key->name))
			tell_whole(b, key->name, "missing; every job needs "
			    "one");
	if (def->n_env > JOBDEF_ENV_MAX)
		tell_whole(b, JOBDEF_ENV_PREFIX "NAME", "%zu variables; at "
		    "most %d are allowed", def->n_env, JOBDEF_ENV_MAX);
	if (def->settings.size > JOBDEF_SIZE_MAX)
		tell_whole(b, "", "the whole definition has %zu bytes, "
		    "defaults included; at most %d are allowed",
		    def->settings.size, JOBDEF_SIZE_MAX);
	if (def->not_before > def->not_after)
		tell_whole(b, "not_after", "earlier than not_before; it would "
		    "never be due");
	if (def->overlap == OVERLAP_ALLOW && !is_given(def, "max_running"))
		def->max_running = RUNNING_WITH_ALLOW;
}

static void
take_merged(void *arg, size_t row, size_t layer,
    const struct jobdef_setting *setting)
{
	struct jobdef *def = arg;

	(void)row;
	jobdef_settings_append(&def->settings, setting->key, setting->value,
	    layer == 0 ? setting->line : FROM_DEFAULTS);
}

static struct jobdef *
build(const char *name, const struct jobdef_settings *const *layers,
    size_t n_layers, const struct jobdef_context *context, bool is_defaults)
{
	struct jobdef *def = xcalloc(1, sizeof *def);
	struct builder b = { .context = context, .def = def,
	    .zone = context->zone };
	struct error err;

	def->name = xstrdup(name);
	def->host_hash = hash_bytes(context->host_id,
	    strlen(context->host_id));
	store_fallbacks(def);
	jobdef_settings_merge(layers, n_layers, take_merged, def);
	if (!is_defaults && jobdef_full_name_check(name, &err) == -1)
		tell(&b, 0, "", err.text);
	read_settings(&b);
	check_whole(&b, is_defaults);
	for (size_t i = 0; i < def->settings.n; i++)
		if (def->settings.v[i].line == FROM_DEFAULTS)
			def->settings.v[i].line = 0;
	if (!b.failed)
		return def;
	jobdef_free(def);
	return NULL;
}

struct jobdef *
jobdef_build(const char *name, const struct jobdef_settings *const *layers,
    size_t n_layers, const struct jobdef_context *context)
{
	return build(name, layers, n_layers, context, false);
}

int
jobdef_check_defaults(const struct jobdef_settings *settings,
    const struct jobdef_context *context)
{
	struct jobdef *def = build("defaults", &settings, 1, context, true);

	if (def == NULL)
		return -1;
	jobdef_free(def);
	return 0;
}

void
jobdef_free(struct jobdef *def)
{
	if (def == NULL)
		return;
	for (size_t i = 0; i < def->n_schedules; i++)
		schedule_unref(def->schedules[i]);
	for (size_t i = 0; i < def->n_tags; i++)
		free(def->tags[i]);
	for (size_t i = 0; i < def->n_env; i++)
		free(def->env[i]);
	free(def->schedules);
	free(def->tags);
	free(def->env);
	free(def->stdin_text);
	free(def->name);
	jobdef_settings_release(&def->settings);
	free(def);
}
