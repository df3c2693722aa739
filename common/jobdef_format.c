/* SPDX-License-Identifier: ISC */
/*
 * What a definition looks like from outside: as text, beside another one,
 * and as the occurrences it has.  Settings are compared as written.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "common/inifile.h"
#include "common/jobdef.h"
#include "common/jobdef_internal.h"
#include "common/strbuf.h"

#define MINUTE_MS	INT64_C(60000)
#define HOUR_MS		(60 * MINUTE_MS)
#define AUTO_LEAST_MS	MINUTE_MS
#define AUTO_MOST_MS	(3 * HOUR_MS)

/* An empty value means the built-in default, but for variables. */
static bool
counts(const struct jobdef_setting *setting)
{
	return *setting->value != '\0' || strncmp(setting->key,
	    JOBDEF_ENV_PREFIX, strlen(JOBDEF_ENV_PREFIX)) == 0;
}

/* All values of a key, joined; false when there is none that counts. */
static bool
join_values(const struct jobdef *def, const char *key, struct strbuf *out)
{
	const struct jobdef_settings *s = &def->settings;
	bool found = false;

	strbuf_reset(out);
	for (size_t i = 0; i < s->n; i++) {
		if (strcmp(s->v[i].key, key) != 0 || !counts(&s->v[i]))
			continue;
		if (found)
			strbuf_addstr(out, " | ");
		strbuf_addstr(out, s->v[i].value);
		found = true;
	}
	return found;
}

/* Two keys that can differ, a's first; each only once. */
static void
compare_key(const struct jobdef *a, const struct jobdef *b, const char *key,
    void (*differs)(void *arg, const char *key, const char *a, const char *b),
    void *arg)
{
	struct strbuf va = STRBUF_INIT, vb = STRBUF_INIT;
	bool in_a = join_values(a, key, &va), in_b = join_values(b, key, &vb);

	if (in_a != in_b || strcmp(va.buf, vb.buf) != 0)
		differs(arg, key, in_a ? va.buf : NULL, in_b ? vb.buf : NULL);
	strbuf_release(&va);
	strbuf_release(&vb);
}

struct differing {
	void	(*differs)(void *arg, const char *key, const char *a,
		    const char *b);	/* the caller's */
	void	*arg;			/* for it */
	const struct jobdef *a;		/* one */
	const struct jobdef *b;		/* the other */
	const char *last;		/* key compared last, or NULL */
};

static void
take_key(void *arg, size_t row, size_t layer,
    const struct jobdef_setting *setting)
{
	struct differing *d = arg;

	(void)row;
	(void)layer;
	if (d->last != NULL && strcmp(d->last, setting->key) == 0)
		return;
	d->last = setting->key;
	compare_key(d->a, d->b, setting->key, d->differs, d->arg);
}

void
jobdef_differences(const struct jobdef *a, const struct jobdef *b,
    void (*differs)(void *arg, const char *key, const char *a, const char *b),
    void *arg)
{
	/* Laid over each other, the two have each key once. */
	const struct jobdef_settings *layers[] = { &a->settings,
	    &b->settings };
	struct differing d = { differs, arg, a, b, NULL };

	jobdef_settings_merge(layers, 2, take_key, &d);
}

/* The next setting from i on that counts; n when there is none. */
static size_t
next_setting(const struct jobdef_settings *s, size_t i)
{
	while (i < s->n && !counts(&s->v[i]))
		i++;
	return i;
}

bool
jobdef_equal(const struct jobdef *a, const struct jobdef *b)
{
	const struct jobdef_settings *sa = &a->settings, *sb = &b->settings;
	size_t i = next_setting(sa, 0), j = next_setting(sb, 0);

	if (strcmp(a->name, b->name) != 0)
		return false;
	while (i < sa->n && j < sb->n) {
		if (strcmp(sa->v[i].key, sb->v[j].key) != 0 ||
		    strcmp(sa->v[i].value, sb->v[j].value) != 0)
			return false;
		i = next_setting(sa, i + 1);
		j = next_setting(sb, j + 1);
	}
	return i == sa->n && j == sb->n;
}

/* H and ~ depend on the host; whether a name with an H is one is not asked. */
static bool
may_depend_on_host(const struct jobdef *def)
{
	for (size_t i = 0; i < def->n_schedules; i++)
		if (strpbrk(schedule_text(def->schedules[i]), "Hh~") != NULL)
			return true;
	return false;
}

static bool
same_schedule(const struct schedule *a, const struct schedule *b)
{
	const struct zone *za = schedule_zone(a), *zb = schedule_zone(b);

	return strcmp(schedule_text(a), schedule_text(b)) == 0 &&
	    strcmp(zone_name(za), zone_name(zb)) == 0 &&
	    zone_hash(za) == zone_hash(zb);
}

bool
jobdef_same_times(const struct jobdef *a, const struct jobdef *b)
{
	if (a->enabled != b->enabled || a->dst_gap != b->dst_gap ||
	    a->dst_fold != b->dst_fold || a->not_before != b->not_before ||
	    a->not_after != b->not_after || a->n_schedules != b->n_schedules)
		return false;
	for (size_t i = 0; i < a->n_schedules; i++)
		if (!same_schedule(a->schedules[i], b->schedules[i]))
			return false;
	return (a->host_hash == b->host_hash && strcmp(a->name, b->name) ==
	    0) || !may_depend_on_host(a);
}

char *
jobdef_format_ini(const struct jobdef *def)
{
	const struct jobdef_settings *s = &def->settings;
	struct strbuf out = STRBUF_INIT;

	strbuf_addf(&out, "[%s]\n", def->name);
	for (size_t i = 0; i < s->n; i++) {
		size_t len = strlen(s->v[i].key) + strlen(" = ") +
		    strlen(s->v[i].value);

		/* The longest values leave no room for blanks. */
		strbuf_addstr(&out, s->v[i].key);
		if (*s->v[i].value == '\0')
			strbuf_addstr(&out, " =");
		else
			strbuf_addstr(&out, len > INIFILE_LINE_MAX ? "=" :
			    " = ");
		strbuf_addstr(&out, s->v[i].value);
		strbuf_addch(&out, '\n');
	}
	return strbuf_detach(&out);
}

bool
jobdef_next(const struct jobdef *def, int64_t after, int64_t *next)
{
	int64_t t;

	if (!def->enabled)
		return false;
	if (def->not_before > INT64_MIN && after < def->not_before - 1)
		after = def->not_before - 1;
	if (!schedule_next_of(def->schedules, def->n_schedules, after, &t) ||
	    t > def->not_after)
		return false;
	*next = t;
	return true;
}

bool
jobdef_previous(const struct jobdef *def, int64_t before, int64_t *previous)
{
	int64_t t;

	if (!def->enabled)
		return false;
	if (def->not_after < INT64_MAX && before > def->not_after + 1)
		before = def->not_after + 1;
	if (!schedule_previous_of(def->schedules, def->n_schedules, before,
	    &t) || t < def->not_before)
		return false;
	*previous = t;
	return true;
}

bool
jobdef_is_one_shot(const struct jobdef *def)
{
	for (size_t i = 0; i < def->n_schedules; i++)
		if (!schedule_is_one_shot(def->schedules[i]))
			return false;
	return def->n_schedules > 0;
}

int64_t
jobdef_max_late(const struct jobdef *def, int64_t occurrence)
{
	int64_t next, half;

	if (def->max_late != JOBDEF_MAX_LATE_AUTO)
		return def->max_late;
	if (jobdef_is_one_shot(def))
		return -1;
	if (!jobdef_next(def, occurrence, &next) ||
	    next - occurrence > 2 * AUTO_MOST_MS / 1000)
		return AUTO_MOST_MS;
	half = (next - occurrence) * 1000 / 2;
	return half > AUTO_LEAST_MS ? half : AUTO_LEAST_MS;
}

char *
jobdef_schedule_text(const struct jobdef *def)
{
	struct strbuf out = STRBUF_INIT;

	for (size_t i = 0; i < def->n_schedules; i++)
		strbuf_addf(&out, "%s%s", i > 0 ? " | " : "",
		    schedule_text(def->schedules[i]));
	return strbuf_detach(&out);
}

const char *
jobdef_overlap_name(int overlap)
{
	const struct jobdef_key *key = jobdef_key_find("overlap");
	int n = 0;

	while (key->choices[n] != NULL)
		n++;
	return overlap >= 0 && overlap < n ? key->choices[overlap] : "unknown";
}
