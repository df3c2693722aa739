/* SPDX-License-Identifier: ISC */
/*
 * JSON over jansson, and the only module that sees it: a struct message is a
 * json_t under another name.
 *
 * Every string in a message is UTF-8 without NUL: what goes in is made so,
 * and a text that has "\u0000" is refused, so that no reader is shown less of
 * a string than another one checked.  Numbers keep 15 significant digits in
 * text.  The library allocates through xmalloc, so nothing here fails for
 * want of memory; its depth limit (2,048) bounds the recursion of parsing.
 */
#include "config.h"

#include "common/message.h"

#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/strbuf.h"
#include "common/utf8.h"
#include "common/xmalloc.h"

#define REPLACEMENT "\xef\xbf\xbd"	/* U+FFFD */
#define REAL_DIGITS 15

/* Before main, so that no thread can see the library without it. */
static void __attribute__((constructor))
use_xmalloc(void)
{
	json_set_alloc_funcs(xmalloc, free);
}

static json_t *
json_of(const struct message *m)
{
	return (json_t *)m;
}

static struct message *
message_of(json_t *json)
{
	assert(json != NULL);
	return (struct message *)json;
}

/* A copy of bytes as text: whatever is no UTF-8, or NUL, as U+FFFD. */
static char *
clean_text(const char *s, size_t len)
{
	struct strbuf out = STRBUF_INIT;
	size_t i = 0;
	bool valid;

	while (i < len) {
		size_t n = utf8_sequence(s + i, len - i, &valid);

		if (valid && s[i] != '\0')
			strbuf_add(&out, s + i, n);
		else
			strbuf_addstr(&out, REPLACEMENT);
		i += n;
	}
	return strbuf_detach(&out);
}

static struct message *
string_of_bytes(const char *s, size_t len)
{
	struct message *m;
	char *text;

	if (utf8_valid_prefix(s, len) == len && memchr(s, '\0', len) == NULL)
		return message_of(json_stringn_nocheck(s, len));
	text = clean_text(s, len);
	m = message_of(json_string_nocheck(text));
	free(text);
	return m;
}

struct message *
message_object(void)
{
	return message_of(json_object());
}

struct message *
message_array(void)
{
	return message_of(json_array());
}

struct message *
message_string(const char *s)
{
	if (s == NULL)
		return message_of(json_null());
	return string_of_bytes(s, strlen(s));
}

struct message *
message_integer(int64_t value)
{
	return message_of(json_integer(value));
}

struct message *
message_dup(const struct message *m)
{
	return message_of(json_deep_copy(json_of(m)));
}

void
message_free(struct message *m)
{
	json_decref(json_of(m));
}

struct message *
message_parse(const char *text, size_t len, struct error *err)
{
	const char *nul = len > 0 ? memchr(text, '\0', len) : NULL;
	json_error_t why;
	json_t *json;

	/* The library would pass over it. */
	if (nul != NULL) {
		error_set(err, "not JSON at byte %zu: a NUL byte",
		    (size_t)(nul - text) + 1);
		return NULL;
	}
	json = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY,
	    &why);
	if (json != NULL)
		return message_of(json);
	if (json_error_code(&why) == json_error_null_character)
		error_set(err, "not usable at byte %d: a string must not "
		    "hold \\u0000", why.position);
	else if (json_error_code(&why) == json_error_stack_overflow)
		error_set(err, "not usable at byte %d: nested too deeply",
		    why.position);
	else
		error_set(err, "not JSON at byte %d: %s", why.position,
		    why.text);
	return NULL;
}

char *
message_format(const struct message *m)
{
	char *text = json_dumps(json_of(m), JSON_COMPACT | JSON_ENCODE_ANY |
	    JSON_REAL_PRECISION(REAL_DIGITS));

	assert(text != NULL);
	return text;
}

void
message_set(struct message *object, const char *key, struct message *value)
{
	json_t *json = value != NULL ? json_of(value) : json_null();
	size_t len = strlen(key);
	char *clean;
	int failed;

	assert(message_is_object(object));
	if (utf8_valid_prefix(key, len) == len) {
		failed = json_object_set_new_nocheck(json_of(object), key,
		    json);
	} else {
		clean = clean_text(key, len);
		failed = json_object_set_new_nocheck(json_of(object), clean,
		    json);
		free(clean);
	}
	assert(failed == 0);
	(void)failed;
}

void
message_set_string(struct message *object, const char *key, const char *s)
{
	message_set(object, key, message_string(s));
}

void
message_set_bytes(struct message *object, const char *key, const void *bytes,
    size_t len)
{
	message_set(object, key, string_of_bytes(len > 0 ? bytes : "", len));
}

void
message_set_integer(struct message *object, const char *key, int64_t value)
{
	message_set(object, key, message_integer(value));
}

/* JSON has no infinities and no NaN; they become null. */
void
message_set_number(struct message *object, const char *key, double value)
{
	json_t *json = json_real(value);

	message_set(object, key, json != NULL ? message_of(json) : NULL);
}

void
message_set_bool(struct message *object, const char *key, bool value)
{
	message_set(object, key, message_of(json_boolean(value)));
}

void
message_set_null(struct message *object, const char *key)
{
	message_set(object, key, NULL);
}

void
message_append(struct message *array, struct message *value)
{
	int failed = json_array_append_new(json_of(array),
	    value != NULL ? json_of(value) : json_null());

	assert(failed == 0);
	(void)failed;
}

void
message_append_string(struct message *array, const char *s)
{
	message_append(array, message_string(s));
}

bool
message_is_object(const struct message *m)
{
	return json_is_object(json_of(m));
}

bool
message_is_array(const struct message *m)
{
	return json_is_array(json_of(m));
}

bool
message_is_string(const struct message *m)
{
	return json_is_string(json_of(m));
}

bool
message_is_integer(const struct message *m)
{
	return json_is_integer(json_of(m));
}

bool
message_is_bool(const struct message *m)
{
	return json_is_boolean(json_of(m));
}

bool
message_is_null(const struct message *m)
{
	return json_is_null(json_of(m));
}

const struct message *
message_get(const struct message *object, const char *key)
{
	return (const struct message *)json_object_get(json_of(object), key);
}

const char *
message_get_string(const struct message *object, const char *key)
{
	return message_value_string(message_get(object, key));
}

int64_t
message_get_integer(const struct message *object, const char *key,
    int64_t fallback)
{
	return message_value_integer(message_get(object, key), fallback);
}

double
message_get_number(const struct message *object, const char *key,
    double fallback)
{
	json_t *json = json_of(message_get(object, key));

	return json_is_number(json) ? json_number_value(json) : fallback;
}

bool
message_get_bool(const struct message *object, const char *key, bool fallback)
{
	return message_value_bool(message_get(object, key), fallback);
}

size_t
message_count(const struct message *m)
{
	return message_is_array(m) ? json_array_size(json_of(m)) :
	    json_object_size(json_of(m));
}

const struct message *
message_at(const struct message *array, size_t i)
{
	return (const struct message *)json_array_get(json_of(array), i);
}

const char *
message_value_string(const struct message *m)
{
	return json_string_value(json_of(m));
}

int64_t
message_value_integer(const struct message *m, int64_t fallback)
{
	return message_is_integer(m) ? json_integer_value(json_of(m)) :
	    fallback;
}

bool
message_value_bool(const struct message *m, bool fallback)
{
	return message_is_bool(m) ? json_is_true(json_of(m)) : fallback;
}

void
message_each(const struct message *object,
    void (*member)(void *arg, const char *key, const struct message *value),
    void *arg)
{
	const char *key;
	json_t *value;

	json_object_foreach(json_of(object), key, value)
		member(arg, key, (const struct message *)value);
}
