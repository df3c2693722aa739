/* SPDX-License-Identifier: ISC */
/*
 * What somebody wrote: pairs in order, checked one by one, and laid over
 * defaults.  Every value that gets in here can be written as a line of a job
 * file and read back as the same bytes.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/inifile.h"
#include "common/jobdef.h"
#include "common/jobdef_internal.h"
#include "common/utf8.h"
#include "common/xmalloc.h"

#define ROWS_MAX 64	/* of the table; asserted */

void
jobdef_settings_init(struct jobdef_settings *s)
{
	memset(s, 0, sizeof *s);
}

void
jobdef_settings_release(struct jobdef_settings *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].key);
	free(s->v);
	jobdef_settings_init(s);
}

size_t
jobdef_setting_size(const char *key, const char *value)
{
	return strlen(key) + strlen(value) + 2;		/* "=" and line end */
}

/* Room is made at 4, 8, 16, ... pairs, so no capacity need be kept. */
static void
append(struct jobdef_settings *s, const char *key, const char *value,
    size_t value_len, int line)
{
	size_t key_len = strlen(key);
	char *copy = xmalloc(key_len + value_len + 2);

	if (s->n == 0)
		s->v = xreallocarray(s->v, 4, sizeof *s->v);
	else if (s->n >= 4 && (s->n & (s->n - 1)) == 0)
		s->v = xreallocarray(s->v, 2 * s->n, sizeof *s->v);
	memcpy(copy, key, key_len + 1);
	memcpy(copy + key_len + 1, value, value_len);
	copy[key_len + 1 + value_len] = '\0';
	s->v[s->n++] = (struct jobdef_setting){ copy, copy + key_len + 1,
	    line };
	s->size += jobdef_setting_size(key, copy + key_len + 1);
}

void
jobdef_settings_append(struct jobdef_settings *s, const char *key,
    const char *value, int line)
{
	append(s, key, value, strlen(value), line);
}

void
jobdef_settings_copy(struct jobdef_settings *to,
    const struct jobdef_settings *from)
{
	jobdef_settings_init(to);
	for (size_t i = 0; i < from->n; i++)
		jobdef_settings_append(to, from->v[i].key, from->v[i].value,
		    from->v[i].line);
}

static const struct jobdef_setting *
find(const struct jobdef_settings *s, const char *key)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->v[i].key, key) == 0)
			return &s->v[i];
	return NULL;
}

const char *
jobdef_settings_get(const struct jobdef_settings *s, const char *key)
{
	const struct jobdef_setting *setting = find(s, key);

	return setting != NULL ? setting->value : NULL;
}

/* What no line of a job file could hold. */
static int
check_text(const char *key, const char *value, size_t len, struct error *err)
{
	size_t good = utf8_valid_prefix(value, len), slashes = 0;

	if (good < len)
		return error_set(err, "byte \\x%02x at position %zu is not "
		    "UTF-8", (unsigned char)value[good], good + 1);
	if (memchr(value, '\n', len) != NULL ||
	    memchr(value, '\r', len) != NULL)
		return error_set(err, "a value is one line; remove the line "
		    "end in it");
	while (slashes < len && value[len - 1 - slashes] == '\\')
		slashes++;
	if (slashes % 2 == 1)
		return error_set(err, "a value can't end in a single \"\\\", "
		    "which means that the line goes on; write \"\\\\\" or "
		    "end it with something else");
	if (strlen(key) + 1 + len > INIFILE_LINE_MAX)
		return error_set(err, "%zu bytes with the value; at most %d "
		    "are allowed", strlen(key) + 1 + len, INIFILE_LINE_MAX);
	return 0;
}

static int
check_repeated(const struct jobdef_settings *s, const struct jobdef_key *key,
    const char *name, struct error *err)
{
	const struct jobdef_setting *before;

	if (jobdef_can_repeat(key))
		return 0;
	before = find(s, name);
	if (before == NULL)
		return 0;
	if (before->line > 0)
		return error_set(err, "set in line %d already; remove one of "
		    "the two (only schedule, stdin and tags may repeat)",
		    before->line);
	return error_set(err, "given twice; only schedule, stdin and tags "
	    "may repeat");
}

int
jobdef_settings_add(struct jobdef_settings *s, const char *name,
    const char *value, int line, struct error *err)
{
	const struct jobdef_key *key = jobdef_key_find(name);
	size_t len = strlen(value);
	int64_t number;
	char *copy;
	int failed;

	if (jobdef_key_check(name, err) == -1)
		return -1;
	while (len > 0 && (value[len - 1] == ' ' || value[len - 1] == '\t'))
		len--;
	for (; len > 0 && (*value == ' ' || *value == '\t'); len--)
		value++;
	if (check_text(name, value, len, err) == -1 ||
	    check_repeated(s, key, name, err) == -1)
		return -1;
	if (s->size + strlen(name) + len + 2 > JOBDEF_SIZE_MAX)
		return error_set(err, "the whole definition has more than %d "
		    "bytes; shorten it", JOBDEF_SIZE_MAX);
	copy = xstrndup(value, len);
	failed = len > 0 ? jobdef_value_check(key, copy, &number, err) : 0;
	if (failed == 0)
		append(s, name, copy, len, line);
	free(copy);
	return failed;
}

/* A stronger layer than this one has the variable. */
static bool
is_hidden(const struct jobdef_settings *const *layers, size_t layer,
    const char *key)
{
	for (size_t i = 0; i < layer; i++)
		if (find(layers[i], key) != NULL)
			return true;
	return false;
}

static void
merge_variables(const struct jobdef_settings *const *layers, size_t n_layers,
    size_t row, void (*take)(void *arg, size_t row, size_t layer,
    const struct jobdef_setting *), void *arg)
{
	for (size_t l = 0; l < n_layers; l++)
		for (size_t i = 0; i < layers[l]->n; i++)
			if (jobdef_row_find(layers[l]->v[i].key) == row &&
			    !is_hidden(layers, l, layers[l]->v[i].key))
				take(arg, row, l, &layers[l]->v[i]);
}

void
jobdef_settings_merge(const struct jobdef_settings *const *layers,
    size_t n_layers, void (*take)(void *arg, size_t row, size_t layer,
    const struct jobdef_setting *), void *arg)
{
	const struct jobdef_key *keys = jobdef_keys();
	size_t strongest[ROWS_MAX], n = jobdef_row_count();

	assert(n < ROWS_MAX);
	for (size_t row = 0; row <= n; row++)
		strongest[row] = n_layers;
	for (size_t l = n_layers; l-- > 0;)
		for (size_t i = 0; i < layers[l]->n; i++)
			strongest[jobdef_row_find(layers[l]->v[i].key)] = l;
	for (size_t row = 0; row < n; row++) {
		size_t l = strongest[row];

		if (l == n_layers)
			continue;
		if (keys[row].type == JOBDEF_ENVIRONMENT) {
			merge_variables(layers, n_layers, row, take, arg);
			continue;
		}
		for (size_t i = 0; i < layers[l]->n; i++)
			if (strcmp(layers[l]->v[i].key, keys[row].name) == 0)
				take(arg, row, l, &layers[l]->v[i]);
	}
}
