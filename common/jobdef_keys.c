/* SPDX-License-Identifier: ISC */
/*
 * THE table of keys, and what a value of each type may look like.  A new key
 * is one row here, a field in struct jobdef, a row of tests/check_jobdef.c
 * and a line of the manual.  What needs a zone or a clock (zones, times,
 * schedules) is read when a definition is built.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/duration.h"
#include "common/jobdef.h"
#include "common/jobdef_internal.h"
#include "common/nearest.h"
#include "common/strbuf.h"

#define N(table) (sizeof table / sizeof *table)
#define FIELD(name) offsetof(struct jobdef, name)
#define SECOND_MS	INT64_C(1000)
#define DAY_MS		(86400 * SECOND_MS)
#define SIGNAL_MAX	64	/* signal(7), real-time ones included */
#define RUNNING_MAX	100000
#define NAME_MAX_BYTES	256	/* of a user or group: LOGIN_NAME_MAX */
#define PATH_MAX_BYTES	4095	/* PATH_MAX without its NUL */
#define OUTPUT_MIN	1024
#define OUTPUT_MAX	(INT64_C(1) << 40)
#define NONE		SIZE_MAX	/* no field of its own type */

/* In the order of the enums they stand for. */
static const char *const gap_choices[] = { "run", "skip", NULL };
static const char *const fold_choices[] = { "first", "second", "both", NULL };
static const char *const overlap_choices[] = { "skip", "queue", "queue_all",
	"replace", "allow", NULL };
static const char *const output_choices[] = { "keep", "discard", NULL };
/* Of durations: words that stand for a value. */
static const char *const auto_choice[] = { "auto", NULL };
static const char *const none_choice[] = { "none", NULL };

static const struct jobdef_key keys[] = {
	{ .name = "schedule", .type = JOBDEF_SCHEDULE, .offset = NONE,
	  .required = true, .alters_time = true,
	  .help = "when it is due; may be given several times" },
	{ .name = "command", .type = JOBDEF_STRING, .offset = FIELD(command),
	  .required = true, .max = JOBDEF_COMMAND_MAX,
	  .help = "what to run, given to the shell with -c" },
	{ .name = "description", .type = JOBDEF_STRING,
	  .offset = FIELD(description), .max = JOBDEF_SIZE_MAX,
	  .help = "free text" },
	{ .name = "tags", .type = JOBDEF_TAGS, .offset = NONE,
	  .help = "words between commas, for list --tag" },
	{ .name = "enabled", .type = JOBDEF_BOOL, .fallback = "yes",
	  .offset = FIELD(enabled), .alters_time = true,
	  .help = "no: known and runnable by hand, but never due" },
	{ .name = "timezone", .type = JOBDEF_ZONE, .offset = FIELD(timezone),
	  .alters_time = true,
	  .help = "IANA name; without it the daemon's zone" },
	{ .name = "dst_gap", .type = JOBDEF_CHOICE, .fallback = "run",
	  .choices = gap_choices, .offset = FIELD(dst_gap),
	  .alters_time = true,
	  .help = "fixed times that the clock jumps over: run once right "
	      "after, or skip" },
	{ .name = "dst_fold", .type = JOBDEF_CHOICE, .fallback = "first",
	  .choices = fold_choices, .offset = FIELD(dst_fold),
	  .alters_time = true,
	  .help = "fixed times that the clock shows twice: first, second or "
	      "both" },
	{ .name = "not_before", .type = JOBDEF_TIME,
	  .offset = FIELD(not_before), .alters_time = true,
	  .help = "due at this time at the earliest" },
	{ .name = "not_after", .type = JOBDEF_TIME,
	  .offset = FIELD(not_after), .alters_time = true,
	  .help = "due at this time at the latest" },
	{ .name = "max_late", .type = JOBDEF_DURATION, .fallback = "auto",
	  .choices = auto_choice, .min = SECOND_MS, .max = DURATION_MAX_MS,
	  .offset = FIELD(max_late),
	  .help = "started this late at most, later is missed; auto: half "
	      "the time to the next, 1m to 3h" },
	{ .name = "overlap", .type = JOBDEF_CHOICE, .fallback = "skip",
	  .choices = overlap_choices, .offset = FIELD(overlap),
	  .help = "due while it still runs: skip, queue, queue_all, replace "
	      "or allow" },
	{ .name = "max_running", .type = JOBDEF_INTEGER, .fallback = "1",
	  .min = 1, .max = RUNNING_MAX, .offset = FIELD(max_running),
	  .help = "its runs at once; 16 with overlap = allow" },
	{ .name = "queue_priority", .type = JOBDEF_INTEGER, .fallback = "0",
	  .min = -20, .max = 19, .offset = FIELD(queue_priority),
	  .help = "which waiting run starts first when the pool is full: the "
	      "lower one" },
	{ .name = "timeout", .type = JOBDEF_DURATION, .fallback = "none",
	  .choices = none_choice, .max = DURATION_MAX_MS,
	  .offset = FIELD(timeout),
	  .help = "run time limit, then the stop ladder" },
	{ .name = "stop_signal", .type = JOBDEF_SIGNAL, .fallback = "TERM",
	  .min = 1, .max = SIGNAL_MAX, .offset = FIELD(stop_signal),
	  .help = "first step of the stop ladder" },
	{ .name = "stop_grace", .type = JOBDEF_DURATION, .fallback = "10s",
	  .max = DAY_MS, .offset = FIELD(stop_grace),
	  .help = "time between that signal and KILL" },
	{ .name = "user", .type = JOBDEF_ACCOUNT, .max = NAME_MAX_BYTES,
	  .offset = FIELD(user),
	  .help = "runs as this user, name or number; without it the owner" },
	{ .name = "group", .type = JOBDEF_ACCOUNT, .max = NAME_MAX_BYTES,
	  .offset = FIELD(group),
	  .help = "runs in this group, name or number; without it the "
	      "user's" },
	{ .name = "workdir", .type = JOBDEF_PATH, .max = PATH_MAX_BYTES,
	  .offset = FIELD(workdir),
	  .help = "directory it starts in; without it the user's home" },
	{ .name = "shell", .type = JOBDEF_PATH, .fallback = "/bin/sh",
	  .max = PATH_MAX_BYTES, .offset = FIELD(shell),
	  .help = "program that is given the command" },
	{ .name = "umask", .type = JOBDEF_OCTAL, .fallback = "022",
	  .max = 0777, .offset = FIELD(umask),
	  .help = "file mode bits that are not set, octal" },
	{ .name = JOBDEF_ENV_PREFIX, .type = JOBDEF_ENVIRONMENT,
	  .offset = NONE,
	  .help = "env.NAME = VALUE sets a variable of its environment" },
	{ .name = "stdin", .type = JOBDEF_LINES, .offset = NONE,
	  .help = "a line of standard input; may be given several times" },
	{ .name = "start_timeout", .type = JOBDEF_DURATION, .fallback = "30s",
	  .min = SECOND_MS, .max = DAY_MS, .offset = FIELD(start_timeout),
	  .help = "time for all that comes before the command runs" },
	{ .name = "output", .type = JOBDEF_CHOICE, .fallback = "keep",
	  .choices = output_choices, .offset = FIELD(output),
	  .help = "what becomes of its output: keep or discard" },
	{ .name = "output_limit", .type = JOBDEF_SIZE, .fallback = "1M",
	  .min = OUTPUT_MIN, .max = OUTPUT_MAX, .offset = FIELD(output_limit),
	  .help = "bytes kept of a run's output, first and last half" },
	{ .name = NULL }
};

/*
 * Keys and values that the manual of a later version has: known by name, so
 * that nobody takes them for a mistyping.  "." at the end: a family.
 */
static const char *const later_keys[] = {
	"jitter", "max_runs", "catch_up", "catch_up_window", "catch_up_max",
	"retries", "retry_delay", "retry_backoff", "retry_max_delay",
	"retry_lost", "success_codes", "retry_codes", "pause_codes",
	"pause_after_failures", "record_first", "pass_env", "env_file",
	"nice", "ionice", "sched", "limit.", "keep_for", "keep_runs",
	"remove_when_done", "mail_to", "mail_when", "on_failure",
	"on_recovery", "ping_url", "after", "resource.", "when.", "calendar",
	"operators", "memory_max", "cpu_max", "pam", "cluster", "on_lost",
	"on_unreachable", "otlp",
};

static const char *const later_outputs[] = { "journal", "stdout" };

const struct jobdef_key *
jobdef_keys(void)
{
	return keys;
}

size_t
jobdef_row_count(void)
{
	return N(keys) - 1;
}

static bool
has_prefix(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

size_t
jobdef_row_find(const char *name)
{
	size_t i;

	for (i = 0; i < jobdef_row_count(); i++)
		if (keys[i].type == JOBDEF_ENVIRONMENT ?
		    has_prefix(name, keys[i].name) :
		    strcmp(name, keys[i].name) == 0)
			break;
	return i;
}

const struct jobdef_key *
jobdef_key_find(const char *name)
{
	size_t i = jobdef_row_find(name);

	return i < jobdef_row_count() ? &keys[i] : NULL;
}

static const char *
key_name(const void *arg, size_t i)
{
	(void)arg;
	return keys[i].name;
}

const char *
jobdef_key_nearest(const char *name)
{
	return nearest_find(name, jobdef_row_count(), key_name, NULL);
}

bool
jobdef_can_repeat(const struct jobdef_key *key)
{
	return key->type == JOBDEF_SCHEDULE || key->type == JOBDEF_LINES ||
	    key->type == JOBDEF_TAGS;
}

static bool
is_later_key(const char *name)
{
	for (size_t i = 0; i < N(later_keys); i++) {
		size_t len = strlen(later_keys[i]);

		if (later_keys[i][len - 1] == '.' ?
		    has_prefix(name, later_keys[i]) :
		    strcmp(name, later_keys[i]) == 0)
			return true;
	}
	return false;
}

/* ASCII, whatever the locale says. */
static bool
is_variable_char(char c, bool first)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
	    (!first && c >= '0' && c <= '9');
}

static int
check_variable(const char *name, struct error *err)
{
	char quoted[ERROR_QUOTE_MAX];
	size_t len = strlen(name), i = 0;

	error_quote(quoted, name, len);
	while (i < len && is_variable_char(name[i], i == 0))
		i++;
	if (len == 0 || i < len)
		return error_set(err, "%s is not the name of a variable; "
		    "names are letters, digits and \"_\", not beginning with "
		    "a digit", quoted);
	if (len > JOBDEF_ENV_NAME_MAX)
		return error_set(err, "%s is too long for a variable; write "
		    "at most %d characters", quoted, JOBDEF_ENV_NAME_MAX);
	if (has_prefix(name, "CRONCTL_"))
		return error_set(err, "%s is set by the daemon; use another "
		    "name", quoted);
	return 0;
}

int
jobdef_key_check(const char *name, struct error *err)
{
	const struct jobdef_key *key = jobdef_key_find(name);
	const char *near;

	if (key != NULL)
		return key->type != JOBDEF_ENVIRONMENT ? 0 :
		    check_variable(name + strlen(key->name), err);
	if (is_later_key(name))
		return error_set(err, "this version does not support this "
		    "key yet; remove it");
	near = jobdef_key_nearest(name);
	if (near != NULL && strcmp(near, JOBDEF_ENV_PREFIX) == 0)
		near = "env.NAME";
	if (near != NULL)
		return error_set(err, "no such key; did you mean %s?", near);
	return error_set(err, "no such key");
}

static int
check_string(const struct jobdef_key *key, const char *value,
    struct error *err)
{
	size_t len = strlen(value);

	if (len > (size_t)key->max)
		return error_set(err, "%zu bytes; at most %lld are allowed",
		    len, (long long)key->max);
	return 0;
}

static int
check_path(const struct jobdef_key *key, const char *value, struct error *err)
{
	char quoted[ERROR_QUOTE_MAX];

	if (*value != '/')
		return error_set(err, "%s is not an absolute path; it must "
		    "begin with \"/\"", error_quote(quoted, value,
		    strlen(value)));
	return check_string(key, value, err);
}

/* Decimal or octal digits, with a sign only if allowed; no overflow. */
static bool
parse_digits(const char *s, int base, int64_t *number)
{
	bool negative = base == 10 && *s == '-';
	int64_t n = 0;

	s += negative;
	if (*s == '\0')
		return false;
	for (; *s != '\0'; s++)
		if (*s < '0' || *s >= '0' + base ||
		    __builtin_mul_overflow(n, base, &n) ||
		    __builtin_add_overflow(n, *s - '0', &n))
			return false;
	*number = negative ? -n : n;
	return true;
}

/*
 * A name or a number, to be looked up when a run starts.  Numbers have one
 * spelling, and -1, which the kernel takes for "leave as it is", is none.
 */
static int
check_account(const struct jobdef_key *key, const char *value,
    struct error *err)
{
	char quoted[ERROR_QUOTE_MAX];
	size_t digits = strspn(value, "0123456789");
	int64_t number;

	error_quote(quoted, value, strlen(value));
	if (value[digits] == '\0' && (!parse_digits(value, 10, &number) ||
	    number >= UINT32_MAX || (*value == '0' && digits > 1)))
		return error_set(err, "%s is not the number of a %s", quoted,
		    key->name);
	for (const char *p = value; *p != '\0'; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f || *p == ':')
			return error_set(err, "%s is not the name of a %s; "
			    "it must not hold blanks or \":\"", quoted,
			    key->name);
	if (*value == '-')
		return error_set(err, "%s is not the name of a %s; it must "
		    "not begin with \"-\"", quoted, key->name);
	return check_string(key, value, err);
}

static int
parse_bool(const char *value, int64_t *number, struct error *err)
{
	static const char *const words[] = { "no", "yes", "false", "true",
	    "off", "on", "0", "1" };
	char quoted[ERROR_QUOTE_MAX];

	for (size_t i = 0; i < N(words); i++) {
		if (strcmp(value, words[i]) == 0) {
			*number = i % 2;
			return 0;
		}
	}
	return error_set(err, "%s is neither yes nor no", error_quote(quoted,
	    value, strlen(value)));
}

static int
parse_integer(const struct jobdef_key *key, const char *value,
    int64_t *number, struct error *err)
{
	char quoted[ERROR_QUOTE_MAX];

	if (!parse_digits(value, 10, number) || *number < key->min ||
	    *number > key->max)
		return error_set(err, "%s is not a whole number within %lld "
		    "to %lld", error_quote(quoted, value, strlen(value)),
		    (long long)key->min, (long long)key->max);
	return 0;
}

static int
parse_octal(const struct jobdef_key *key, const char *value, int64_t *number,
    struct error *err)
{
	char quoted[ERROR_QUOTE_MAX];

	if (!parse_digits(value, 8, number) || *number > key->max)
		return error_set(err, "%s is not an octal number within 000 "
		    "to %03llo", error_quote(quoted, value, strlen(value)),
		    (long long)key->max);
	return 0;
}

static int
parse_duration(const struct jobdef_key *key, const char *value,
    int64_t *number, struct error *err)
{
	char low[DURATION_MAX_LEN], high[DURATION_MAX_LEN];
	char quoted[ERROR_QUOTE_MAX];

	if (key->choices != NULL && strcmp(value, key->choices[0]) == 0) {
		*number = key->choices == auto_choice ?
		    JOBDEF_MAX_LATE_AUTO : 0;
		return 0;
	}
	if (duration_parse(value, strlen(value), number, err) == -1)
		return -1;
	if (*number >= key->min && *number <= key->max)
		return 0;
	duration_format(low, key->min);
	duration_format(high, key->max);
	return error_set(err, "%s is not within %s to %s", error_quote(quoted,
	    value, strlen(value)), low, high);
}

static int
parse_size(const struct jobdef_key *key, const char *value, int64_t *number,
    struct error *err)
{
	char low[DURATION_MAX_LEN], high[DURATION_MAX_LEN];
	char quoted[ERROR_QUOTE_MAX];

	if (size_parse(value, strlen(value), number, err) == -1)
		return -1;
	if (*number >= key->min && *number <= key->max)
		return 0;
	size_format(low, key->min);
	size_format(high, key->max);
	return error_set(err, "%s is not within %s to %s", error_quote(quoted,
	    value, strlen(value)), low, high);
}

static const char *
choice_name(const void *arg, size_t i)
{
	return ((const char *const *)arg)[i];
}

static bool
is_later_output(const char *value)
{
	for (size_t i = 0; i < N(later_outputs); i++)
		if (strcmp(value, later_outputs[i]) == 0)
			return true;
	return *value == '/';
}

static int
parse_choice(const struct jobdef_key *key, const char *value,
    int64_t *number, struct error *err)
{
	struct strbuf names = STRBUF_INIT;
	char quoted[ERROR_QUOTE_MAX];
	const char *near;
	size_t n;

	for (n = 0; key->choices[n] != NULL; n++) {
		if (strcmp(value, key->choices[n]) == 0) {
			strbuf_release(&names);
			*number = (int64_t)n;
			return 0;
		}
		strbuf_addf(&names, "%s%s", n > 0 ? ", " : "",
		    key->choices[n]);
	}
	error_quote(quoted, value, strlen(value));
	near = nearest_find(value, n, choice_name, key->choices);
	if (key->choices == output_choices && is_later_output(value))
		error_set(err, "this version does not support %s here yet; "
		    "write one of %s", quoted, names.buf);
	else if (near != NULL)
		error_set(err, "%s is not one of %s; did you mean %s?",
		    quoted, names.buf, near);
	else
		error_set(err, "%s is not one of %s", quoted, names.buf);
	strbuf_release(&names);
	return -1;
}

static int
parse_signal(const struct jobdef_key *key, const char *value,
    int64_t *number, struct error *err)
{
	const char *name = has_prefix(value, "SIG") ? value + 3 : value;
	char quoted[ERROR_QUOTE_MAX];

	if (parse_digits(value, 10, number) && *number >= key->min &&
	    *number <= key->max)
		return 0;
	for (int i = 1; i < NSIG; i++) {
		if (sigabbrev_np(i) != NULL &&
		    strcmp(name, sigabbrev_np(i)) == 0) {
			*number = i;
			return 0;
		}
	}
	return error_set(err, "%s is not a signal; write for example TERM, "
	    "INT or a number within %lld to %lld", error_quote(quoted, value,
	    strlen(value)), (long long)key->min, (long long)key->max);
}

int
jobdef_signal_parse(const char *text, int *number, struct error *err)
{
	int64_t value;

	if (parse_signal(jobdef_key_find("stop_signal"), text, &value,
	    err) == -1)
		return -1;
	*number = (int)value;
	return 0;
}

int
jobdef_value_check(const struct jobdef_key *key, const char *value,
    int64_t *number, struct error *err)
{
	switch (key->type) {
	case JOBDEF_STRING:
		return check_string(key, value, err);
	case JOBDEF_PATH:
		return check_path(key, value, err);
	case JOBDEF_ACCOUNT:
		return check_account(key, value, err);
	case JOBDEF_BOOL:
		return parse_bool(value, number, err);
	case JOBDEF_DURATION:
		return parse_duration(key, value, number, err);
	case JOBDEF_SIZE:
		return parse_size(key, value, number, err);
	case JOBDEF_INTEGER:
		return parse_integer(key, value, number, err);
	case JOBDEF_OCTAL:
		return parse_octal(key, value, number, err);
	case JOBDEF_CHOICE:
		return parse_choice(key, value, number, err);
	case JOBDEF_SIGNAL:
		return parse_signal(key, value, number, err);
	case JOBDEF_TIME:
	case JOBDEF_ZONE:
	case JOBDEF_SCHEDULE:
	case JOBDEF_LINES:
	case JOBDEF_TAGS:
	case JOBDEF_ENVIRONMENT:
		break;
	}
	return 0;
}
