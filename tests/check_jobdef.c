/* SPDX-License-Identifier: ISC */
/*
 * Definitions: the table of keys, values and their limits, layers of
 * defaults, and what a definition says of itself.  Values by hand from spec
 * sections 3 and 4; instants checked with date(1).
 */
#include "config.h"

#include "common/jobdef.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/inifile.h"
#include "common/strbuf.h"
#include "common/xmalloc.h"
#include "tests/check_main.h"

#define ROWS(t) ((int)(sizeof t / sizeof *t))
#define NOW INT64_C(1764590400)		/* 2025-12-01T12:00:00Z, a Monday */

struct fixture {
	struct zone		*zone;		/* UTC */
	struct zone_cache	*zones;		/* for names */
	struct strbuf		 errors;	/* "LINE KEY: TEXT|" each */
	struct strbuf		 warnings;	/* the same */
	struct jobdef_context	 context;	/* collects into these */
};

static void
take_problem(struct strbuf *out, int line, const char *key, const char *text)
{
	strbuf_addf(out, "%d %s: %s|", line, key, text);
}

static void
take_error(void *arg, int line, const char *key, const char *text)
{
	take_problem(&((struct fixture *)arg)->errors, line, key, text);
}

static void
take_warning(void *arg, int line, const char *key, const char *text)
{
	take_problem(&((struct fixture *)arg)->warnings, line, key, text);
}

static void
fixture_init(struct fixture *f)
{
	*f = (struct fixture){
		.zone = zone_utc(),
		.zones = zone_cache_new(),
		.errors = STRBUF_INIT,
		.warnings = STRBUF_INIT,
	};
	f->context = (struct jobdef_context){
		.host_id = "example",
		.zone = f->zone,
		.zones = f->zones,
		.now = NOW,
		.error = take_error,
		.warning = take_warning,
		.arg = f,
	};
}

static void
fixture_release(struct fixture *f)
{
	zone_cache_free(f->zones);
	zone_unref(f->zone);
	strbuf_release(&f->errors);
	strbuf_release(&f->warnings);
}

/* Settings from "KEY=VALUE" lines, numbered from 1. */
static void
add_lines(struct jobdef_settings *s, const char *lines)
{
	struct error err = { "" };
	char *copy = xstrdup(lines), *save, *line;
	int number = 0;

	jobdef_settings_init(s);
	for (line = strtok_r(copy, "\n", &save); line != NULL;
	    line = strtok_r(NULL, "\n", &save)) {
		char *equals = strchr(line, '=');

		ck_assert_ptr_nonnull(equals);
		*equals = '\0';
		ck_assert_msg(jobdef_settings_add(s, line, equals + 1,
		    ++number, &err) == 0, "%s: %s", line, err.text);
	}
	free(copy);
}

static struct jobdef *
build_layers(struct fixture *f, const char *name, const char *own,
    const char *defaults, const char *below)
{
	struct jobdef_settings s[3];
	const struct jobdef_settings *layers[] = { &s[0], &s[1], &s[2] };
	struct jobdef *def;

	add_lines(&s[0], own);
	add_lines(&s[1], defaults);
	add_lines(&s[2], below);
	def = jobdef_build(name, layers, 3, &f->context);
	for (size_t i = 0; i < 3; i++)
		jobdef_settings_release(&s[i]);
	return def;
}

static struct jobdef *
build(struct fixture *f, const char *lines)
{
	return build_layers(f, "job", lines, "", "");
}

/* One that must be accepted. */
static struct jobdef *
build_good(struct fixture *f, const char *lines)
{
	struct jobdef *def = build(f, lines);

	ck_assert_msg(def != NULL, "%s: %s", lines, f->errors.buf);
	ck_assert_str_eq(f->errors.buf, "");
	return def;
}

START_TEST(every_row_of_the_table_is_sound)
{
	size_t n = 0;

	for (const struct jobdef_key *key = jobdef_keys(); key->name != NULL;
	    key++, n++) {
		struct jobdef_settings s;
		struct error err = { "" };

		ck_assert_msg(key->help != NULL && strlen(key->help) > 5,
		    "%s", key->name);
		ck_assert_msg(jobdef_key_find(key->name) == key, "%s",
		    key->name);
		ck_assert_msg(key->type != JOBDEF_CHOICE ||
		    key->choices != NULL, "%s", key->name);
		ck_assert_msg(!key->required || key->fallback == NULL, "%s",
		    key->name);
		if (key->fallback == NULL)
			continue;
		jobdef_settings_init(&s);
		ck_assert_msg(jobdef_settings_add(&s, key->name,
		    key->fallback, 0, &err) == 0, "%s: %s", key->name,
		    err.text);
		jobdef_settings_release(&s);
	}
	ck_assert_uint_eq(n, 27);
	ck_assert_ptr_null(jobdef_key_find("nothing"));
	ck_assert_ptr_null(jobdef_key_find("Timeout"));
	ck_assert_str_eq(jobdef_key_find("env.HOME")->name, "env.");
}
END_TEST

static const struct value_row {
	const char	*key;	/* given */
	const char	*value;	/* given */
	const char	*want;	/* the error; NULL: accepted */
} value_rows[] = {
	{ "tiemout", "5m", "no such key; did you mean timeout?" },
	{ "comand", "true", "no such key; did you mean command?" },
	{ "environment_of_it", "x", "no such key" },
	{ "env", "x", "no such key; did you mean env.NAME?" },
	{ "Command", "x", "no such key; did you mean command?" },
	{ "catch_up", "once",
	    "this version does not support this key yet; remove it" },
	{ "limit.nofile", "5",
	    "this version does not support this key yet; remove it" },
	{ "jitter", "5",
	    "this version does not support this key yet; remove it" },
	{ "output", "journal", "this version does not support \"journal\" "
	    "here yet; write one of keep, discard" },
	{ "output", "/var/log/x", "this version does not support "
	    "\"/var/log/x\" here yet; write one of keep, discard" },
	{ "output", "kep", "\"kep\" is not one of keep, discard; did you "
	    "mean keep?" },
	{ "overlap", "wait", "\"wait\" is not one of skip, queue, queue_all, "
	    "replace, allow" },
	{ "overlap", "queue_all", NULL },
	{ "enabled", "yes", NULL }, { "enabled", "off", NULL },
	{ "enabled", "1", NULL }, { "enabled", "false", NULL },
	{ "enabled", "Yes", "\"Yes\" is neither yes nor no" },
	{ "enabled", "2", "\"2\" is neither yes nor no" },
	{ "timeout", "5 min", "\"5 min\" is not a duration; write 5m" },
	{ "timeout", "none", NULL }, { "timeout", "0", NULL },
	{ "timeout", "auto", "\"auto\" is not a duration; write for example "
	    "90s, 5m or 1h30m" },
	{ "max_late", "auto", NULL },
	{ "max_late", "999ms", "\"999ms\" is not within 1s to 3660000d" },
	{ "start_timeout", "2d", "\"2d\" is not within 1s to 1d" },
	{ "queue_priority", "-20", NULL }, { "queue_priority", "19", NULL },
	{ "queue_priority", "-21",
	    "\"-21\" is not a whole number within -20 to 19" },
	{ "queue_priority", "20",
	    "\"20\" is not a whole number within -20 to 19" },
	{ "max_running", "0",
	    "\"0\" is not a whole number within 1 to 100000" },
	{ "max_running", "1e3",
	    "\"1e3\" is not a whole number within 1 to 100000" },
	{ "max_running", "99999999999999999999",
	    "\"99999999999999999999\" is not a whole number within 1 to "
	    "100000" },
	{ "umask", "022", NULL }, { "umask", "0", NULL },
	{ "umask", "0777", NULL },
	{ "umask", "01000",
	    "\"01000\" is not an octal number within 000 to 777" },
	{ "umask", "8", "\"8\" is not an octal number within 000 to 777" },
	{ "stop_signal", "TERM", NULL }, { "stop_signal", "SIGINT", NULL },
	{ "stop_signal", "64", NULL },
	{ "stop_signal", "65", "\"65\" is not a signal; write for example "
	    "TERM, INT or a number within 1 to 64" },
	{ "stop_signal", "0", "\"0\" is not a signal; write for example "
	    "TERM, INT or a number within 1 to 64" },
	{ "workdir", "tmp",
	    "\"tmp\" is not an absolute path; it must begin with \"/\"" },
	{ "shell", "bash",
	    "\"bash\" is not an absolute path; it must begin with \"/\"" },
	{ "output_limit", "1023", "\"1023\" is not within 1K to 1024G" },
	{ "output_limit", "10 MB", "\"10 MB\" is not a size; write 10M" },
	{ "user", "www-data", NULL }, { "user", "0", NULL },
	{ "user", "1000", NULL }, { "user", "0day", NULL },
	{ "user", "0x0", NULL },
	{ "user", "00", "\"00\" is not the number of a user" },
	{ "user", "4294967295",
	    "\"4294967295\" is not the number of a user" },
	{ "user", "18446744073709551616",
	    "\"18446744073709551616\" is not the number of a user" },
	{ "user", "-1", "\"-1\" is not the name of a user; it must not begin "
	    "with \"-\"" },
	{ "user", "a b", "\"a b\" is not the name of a user; it must not "
	    "hold blanks or \":\"" },
	{ "group", "a:b", "\"a:b\" is not the name of a group; it must not "
	    "hold blanks or \":\"" },
	{ "env.A", "", NULL }, { "env._a9", "x", NULL },
	{ "env.", "x", "\"\" is not the name of a variable; names are "
	    "letters, digits and \"_\", not beginning with a digit" },
	{ "env.9A", "x", "\"9A\" is not the name of a variable; names are "
	    "letters, digits and \"_\", not beginning with a digit" },
	{ "env.A-B", "x", "\"A-B\" is not the name of a variable; names are "
	    "letters, digits and \"_\", not beginning with a digit" },
	{ "env.CRONCTL_JOB", "x",
	    "\"CRONCTL_JOB\" is set by the daemon; use another name" },
	{ "command", "a\nb",
	    "a value is one line; remove the line end in it" },
	{ "command", "a\rb",
	    "a value is one line; remove the line end in it" },
	{ "command", "\xff", "byte \\xff at position 1 is not UTF-8" },
	{ "command", "echo \\\\", NULL },
	{ "command", "echo \\", "a value can't end in a single \"\\\", which "
	    "means that the line goes on; write \"\\\\\" or end it with "
	    "something else" },
	/* The blank is trimmed, as it would be in a file. */
	{ "command", "echo a\\ ", "a value can't end in a single \"\\\", "
	    "which means that the line goes on; write \"\\\\\" or end it "
	    "with something else" },
};

START_TEST(values_are_checked_when_added)
{
	const struct value_row *row = &value_rows[_i];
	struct jobdef_settings s;
	struct error err = { "" };
	int got;

	jobdef_settings_init(&s);
	got = jobdef_settings_add(&s, row->key, row->value, 0, &err);
	ck_assert_msg(got == (row->want != NULL ? -1 : 0), "%s=%s: %s",
	    row->key, row->value, err.text);
	ck_assert_str_eq(err.text, row->want != NULL ? row->want : "");
	ck_assert_uint_eq(s.n, row->want != NULL ? 0 : 1);
	jobdef_settings_release(&s);
}
END_TEST

START_TEST(an_empty_value_of_any_key_is_accepted)
{
	for (const struct jobdef_key *key = jobdef_keys(); key->name != NULL;
	    key++) {
		struct jobdef_settings s;
		struct error err = { "" };

		if (key->type == JOBDEF_ENVIRONMENT)
			continue;
		jobdef_settings_init(&s);
		ck_assert_msg(jobdef_settings_add(&s, key->name, "", 0,
		    &err) == 0, "%s: %s", key->name, err.text);
		jobdef_settings_release(&s);
	}
}
END_TEST

/* A string of n times c; free(). */
static char *
repeat(char c, size_t n)
{
	char *s = xmalloc(n + 1);

	memset(s, c, n);
	s[n] = '\0';
	return s;
}

static const struct limit_row {
	const char	*key;	/* whose value has a limit */
	char		 byte;	/* that the value is made of */
	size_t		 limit;	/* bytes that are accepted */
} limit_rows[] = {
	{ "command", 'x', 32768 },
	{ "user", 'u', 256 },
	{ "workdir", '/', 4095 },
	/* "env.A" and "=" leave this of a line of 64 KiB. */
	{ "env.A", 'x', 65530 },
	{ "description", 'x', 65524 },
};

START_TEST(values_meet_their_limits_exactly)
{
	const struct limit_row *row = &limit_rows[_i];

	for (size_t extra = 0; extra <= 1; extra++) {
		char *value = repeat(row->byte, row->limit + extra);
		struct jobdef_settings s;

		jobdef_settings_init(&s);
		ck_assert_int_eq(jobdef_settings_add(&s, row->key, value, 0,
		    NULL), extra == 0 ? 0 : -1);
		jobdef_settings_release(&s);
		free(value);
	}
}
END_TEST

START_TEST(names_of_variables_have_64_characters)
{
	char *name = repeat('A', 69);
	struct jobdef_settings s;

	memcpy(name, "env.", 4);
	jobdef_settings_init(&s);
	ck_assert_int_eq(jobdef_settings_add(&s, name, "x", 0, NULL), -1);
	name[68] = '\0';
	ck_assert_int_eq(jobdef_settings_add(&s, name, "x", 0, NULL), 0);
	jobdef_settings_release(&s);
	free(name);
}
END_TEST

START_TEST(a_whole_definition_is_bounded)
{
	struct jobdef_settings s;
	char *value = repeat('x', 1000);
	struct error err = { "" };
	int n = 0;

	jobdef_settings_init(&s);
	/* "stdin", "=", the value and the line end: 1,007 bytes each. */
	while (jobdef_settings_add(&s, "stdin", value, 0, &err) == 0)
		n++;
	ck_assert_int_eq(n, 131072 / 1007);
	ck_assert_str_eq(err.text, "the whole definition has more than "
	    "131072 bytes; shorten it");
	jobdef_settings_release(&s);
	free(value);
}
END_TEST

START_TEST(only_three_keys_repeat)
{
	struct jobdef_settings s;
	struct error err = { "" };

	add_lines(&s, "schedule=@daily\nschedule=@hourly\nstdin=a\nstdin=b\n"
	    "tags=a\ntags=b\ntimeout=5m\nenv.A=1\nenv.B=2\n");
	ck_assert_int_eq(jobdef_settings_add(&s, "timeout", "6m", 10, &err),
	    -1);
	ck_assert_str_eq(err.text, "set in line 7 already; remove one of the "
	    "two (only schedule, stdin and tags may repeat)");
	ck_assert_int_eq(jobdef_settings_add(&s, "env.A", "3", 11, &err), -1);
	ck_assert_int_eq(jobdef_settings_add(&s, "env.A", "", 12, &err), -1);
	ck_assert_str_eq(jobdef_settings_get(&s, "timeout"), "5m");
	ck_assert_str_eq(jobdef_settings_get(&s, "schedule"), "@daily");
	ck_assert_ptr_null(jobdef_settings_get(&s, "user"));
	jobdef_settings_release(&s);
	jobdef_settings_add(&s, "timeout", "5m", 0, NULL);
	ck_assert_int_eq(jobdef_settings_add(&s, "timeout", "6m", 0, &err),
	    -1);
	ck_assert_str_eq(err.text, "given twice; only schedule, stdin and "
	    "tags may repeat");
	jobdef_settings_release(&s);
}
END_TEST

START_TEST(settings_copy_is_deep)
{
	struct jobdef_settings a, b;

	add_lines(&a, "command=x\nenv.A=\nschedule=@daily\n");
	jobdef_settings_copy(&b, &a);
	jobdef_settings_release(&a);
	ck_assert_uint_eq(b.n, 3);
	ck_assert_str_eq(jobdef_settings_get(&b, "env.A"), "");
	ck_assert_int_eq(b.v[2].line, 3);
	jobdef_settings_release(&b);
}
END_TEST

static const struct name_row {
	const char	*name;	/* given */
	const char	*want;	/* in the error; NULL: accepted */
} name_rows[] = {
	{ "a", NULL },
	{ "nightly-dump_2.x@host", NULL },
	{ "0a", NULL },
	{ "_a", NULL },
	{ "Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL },
	{ "Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "at most 48" },
	{ "", "needs a name" },
	{ "123", "needs a letter" },
	{ ".a", "must not begin with \".\"" },
	{ "-a", "must not begin with \"-\"" },
	{ "@a", "must not begin with \"@\"" },
	{ "a b", "names are letters" },
	{ "a/b", "names are letters" },
	{ "\xc3\xa4", "names are letters" },
	{ "a\x1b[1m", "\"a\\x1b[1m\" is not" },
	{ "defaults", "reserved" },
	{ "Defaults", NULL },
};

START_TEST(names_follow_the_rules)
{
	const struct name_row *row = &name_rows[_i];
	struct error err = { "" };
	int got = jobdef_name_check(row->name, &err);

	ck_assert_msg(got == (row->want != NULL ? -1 : 0), "%s: %s",
	    row->name, err.text);
	ck_assert_msg(row->want == NULL || strstr(err.text, row->want) !=
	    NULL, "%s: %s", row->name, err.text);
}
END_TEST

static const struct name_row full_name_rows[] = {
	{ "a", NULL },
	{ "anna/a", NULL },
	{ "1001/a", NULL },
	{ "/a", "no user" },
	{ "anna/", "needs a name" },
	{ "anna/x/a", "names are letters" },
	{ "an na/a", "no usable user" },
	{ "anna]/a", "no usable user" },
	{ "anna/defaults", "reserved" },
};

START_TEST(names_with_a_user_follow_the_rules)
{
	const struct name_row *row = &full_name_rows[_i];
	struct error err = { "" };
	int got = jobdef_full_name_check(row->name, &err);

	ck_assert_msg(got == (row->want != NULL ? -1 : 0), "%s: %s",
	    row->name, err.text);
	ck_assert_msg(row->want == NULL || strstr(err.text, row->want) !=
	    NULL, "%s: %s", row->name, err.text);
}
END_TEST

START_TEST(built_in_defaults)
{
	struct fixture f;
	struct jobdef *d;

	fixture_init(&f);
	d = build_good(&f, "schedule=* * * * *\ncommand=true");
	ck_assert_str_eq(d->name, "job");
	ck_assert_str_eq(d->command, "true");
	ck_assert_ptr_null(d->description);
	ck_assert_uint_eq(d->n_tags, 0);
	ck_assert(d->enabled);
	ck_assert_ptr_null(d->timezone);
	ck_assert_int_eq(d->dst_gap, DST_GAP_RUN);
	ck_assert_int_eq(d->dst_fold, DST_FOLD_FIRST);
	ck_assert_int_eq(d->not_before, INT64_MIN);
	ck_assert_int_eq(d->not_after, INT64_MAX);
	ck_assert_int_eq(d->max_late, JOBDEF_MAX_LATE_AUTO);
	ck_assert_int_eq(d->overlap, OVERLAP_SKIP);
	ck_assert_int_eq(d->max_running, 1);
	ck_assert_int_eq(d->queue_priority, 0);
	ck_assert_int_eq(d->timeout, 0);
	ck_assert_int_eq(d->stop_signal, SIGTERM);
	ck_assert_int_eq(d->stop_grace, 10000);
	ck_assert_int_eq(d->start_timeout, 30000);
	ck_assert_ptr_null(d->user);
	ck_assert_ptr_null(d->group);
	ck_assert_ptr_null(d->workdir);
	ck_assert_str_eq(d->shell, "/bin/sh");
	ck_assert_int_eq(d->umask, 022);
	ck_assert_uint_eq(d->n_env, 0);
	ck_assert_ptr_null(d->stdin_text);
	ck_assert_int_eq(d->output, OUTPUT_KEEP);
	ck_assert_int_eq(d->output_limit, 1048576);
	ck_assert_uint_eq(d->n_schedules, 1);
	jobdef_free(d);
	fixture_release(&f);
}
END_TEST

START_TEST(every_key_reaches_its_field)
{
	struct fixture f;
	struct jobdef *d;

	fixture_init(&f);
	d = build_good(&f, "schedule=0 2 * * *\nschedule=TZ=Asia/Tokyo @daily\n"
	    "command=a; b\ndescription=what it does\ntags=x, y,,x\ntags=z\n"
	    "enabled=no\ntimezone=Europe/Berlin\ndst_gap=skip\n"
	    "dst_fold=both\nnot_before=2026-01-01\n"
	    "not_after=2026-12-31T23:00:00Z\nmax_late=2h\noverlap=replace\n"
	    "max_running=3\nqueue_priority=-5\ntimeout=1h30m\n"
	    "stop_signal=SIGINT\nstop_grace=250ms\nuser=www-data\n"
	    "group=33\nworkdir=/srv\nshell=/bin/bash\numask=077\nenv.A=1=2\n"
	    "env.B=\nstdin=one\nstdin=\nstdin=two\nstart_timeout=5s\n"
	    "output=discard\noutput_limit=10K");
	ck_assert_str_eq(d->command, "a; b");
	ck_assert_str_eq(d->description, "what it does");
	ck_assert_uint_eq(d->n_tags, 3);
	ck_assert_str_eq(d->tags[0], "x");
	ck_assert_str_eq(d->tags[1], "y");
	ck_assert_str_eq(d->tags[2], "z");
	ck_assert(!d->enabled);
	ck_assert_str_eq(d->timezone, "Europe/Berlin");
	ck_assert_int_eq(d->dst_gap, DST_GAP_SKIP);
	ck_assert_int_eq(d->dst_fold, DST_FOLD_BOTH);
	/* 2026-01-01 00:00 in Berlin. */
	ck_assert_int_eq(d->not_before, INT64_C(1767222000));
	ck_assert_int_eq(d->not_after, INT64_C(1798758000));
	ck_assert_int_eq(d->max_late, 7200000);
	ck_assert_int_eq(d->overlap, OVERLAP_REPLACE);
	ck_assert_int_eq(d->max_running, 3);
	ck_assert_int_eq(d->queue_priority, -5);
	ck_assert_int_eq(d->timeout, 5400000);
	ck_assert_int_eq(d->stop_signal, SIGINT);
	ck_assert_int_eq(d->stop_grace, 250);
	ck_assert_str_eq(d->user, "www-data");
	ck_assert_str_eq(d->group, "33");
	ck_assert_str_eq(d->workdir, "/srv");
	ck_assert_str_eq(d->shell, "/bin/bash");
	ck_assert_int_eq(d->umask, 077);
	ck_assert_uint_eq(d->n_env, 2);
	ck_assert_str_eq(d->env[0], "A=1=2");
	ck_assert_str_eq(d->env[1], "B=");
	ck_assert_str_eq(d->stdin_text, "one\n\ntwo\n");
	ck_assert_int_eq(d->start_timeout, 5000);
	ck_assert_int_eq(d->output, OUTPUT_DISCARD);
	ck_assert_int_eq(d->output_limit, 10240);
	ck_assert_uint_eq(d->n_schedules, 2);
	ck_assert_str_eq(zone_name(schedule_zone(d->schedules[0])),
	    "Europe/Berlin");
	ck_assert_str_eq(zone_name(schedule_zone(d->schedules[1])),
	    "Asia/Tokyo");
	jobdef_free(d);
	fixture_release(&f);
}
END_TEST

START_TEST(allow_means_sixteen_at_once)
{
	static const struct {
		const char	*lines;	/* of the definition */
		int64_t		 want;	/* max_running */
	} rows[] = {
		{ "overlap=allow", 16 },
		{ "overlap=allow\nmax_running=", 16 },
		{ "overlap=allow\nmax_running=2", 2 },
		{ "overlap=queue", 1 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct fixture f;
		struct jobdef *d;
		char *lines = xasprintf("schedule=@daily\ncommand=x\n%s",
		    rows[i].lines);

		fixture_init(&f);
		d = build_good(&f, lines);
		ck_assert_int_eq(d->max_running, rows[i].want);
		jobdef_free(d);
		fixture_release(&f);
		free(lines);
	}
}
END_TEST

START_TEST(layers_hide_each_other_key_by_key)
{
	struct fixture f;
	struct jobdef *d;

	fixture_init(&f);
	d = build_layers(&f, "job",
	    "command=own\nschedule=@hourly\nenv.A=own\nuser=\nenv.C=\n",
	    "schedule=@daily\nschedule=@weekly\nenv.A=file\nenv.B=file\n"
	    "timeout=1m\nuser=anna\nenv.C=file\n",
	    "timeout=2m\nstop_grace=3s\nuser=bert\nenv.D=conf\n"
	    "command=conf\n");
	ck_assert_msg(d != NULL, "%s", f.errors.buf);
	ck_assert_str_eq(d->command, "own");
	ck_assert_uint_eq(d->n_schedules, 1);
	ck_assert_int_eq(d->timeout, 60000);
	ck_assert_int_eq(d->stop_grace, 3000);
	ck_assert_ptr_null(d->user);
	ck_assert_uint_eq(d->n_env, 4);
	ck_assert_str_eq(d->env[0], "A=own");
	ck_assert_str_eq(d->env[1], "C=");
	ck_assert_str_eq(d->env[2], "B=file");
	ck_assert_str_eq(d->env[3], "D=conf");
	jobdef_free(d);
	d = build_layers(&f, "job", "command=own",
	    "schedule=@daily\nschedule=@weekly", "schedule=@yearly");
	ck_assert_uint_eq(d->n_schedules, 2);
	jobdef_free(d);
	fixture_release(&f);
}
END_TEST

static const struct build_row {
	const char	*name;		/* of the job */
	const char	*own;		/* its lines */
	const char	*defaults;	/* those below */
	const char	*want;		/* errors */
} bad_builds[] = {
	{ "job", "command=x", "", "0 schedule: missing; every job needs "
	    "one|" },
	{ "job", "schedule=@daily", "", "0 command: missing; every job needs "
	    "one|" },
	{ "job", "schedule=\ncommand=x", "schedule=@daily",
	    "0 schedule: missing; every job needs one|" },
	{ "job", "schedule=61 * * * *\ncommand=x", "",
	    "1 schedule: minute field, column 1: 61 is not within 0-59|" },
	{ "job", "schedule=0 61 * * *\ncommand=x", "",
	    "1 schedule: hour field, column 3: 61 is not within 0-23|" },
	{ "job", "command=x", "schedule=61 * * * *",
	    "0 schedule: minute field, column 1: 61 is not within 0-59 (in "
	    "the defaults)|" },
	{ "job", "command=x\nschedule=@daily\ntimezone=Europe/Pariss", "",
	    "3 timezone: unknown time zone \"Europe/Pariss\"; did you mean "
	    "Europe/Paris?|" },
	{ "job", "command=x\nschedule=@in 5m", "", NULL },
	{ "job", "command=x\nschedule=@at 18:00", "",
	    "2 schedule: \"18:00\" depends on when it is read; write a date, "
	    "for example 2027-01-31 08:00|" },
	{ "job", "command=x\nschedule=@daily\nnot_after=tomorrow", "",
	    "3 not_after: \"tomorrow\" depends on when it is read; write a "
	    "date, for example 2027-01-31 08:00|" },
	{ "job", "command=x\nschedule=@daily\nnot_before=+2h", "",
	    "3 not_before: \"+2h\" depends on when it is read; write a "
	    "date, for example 2027-01-31 08:00|" },
	{ "job", "command=x\nschedule=@daily\nnot_before=2027-01-02\n"
	    "not_after=2027-01-01", "",
	    "0 not_after: earlier than not_before; it would never be due|" },
	{ "a b", "command=x\nschedule=@daily", "", NULL },
	{ "defaults", "command=x\nschedule=@daily", "",
	    "0 : \"defaults\" is reserved; give the job another name|" },
	/* All at once. */
	{ "job", "schedule=@dayly\ntimezone=Nowhere/At_All\nnot_after=x", "",
	    NULL },
};

START_TEST(faulty_definitions_are_refused_with_every_error)
{
	const struct build_row *row = &bad_builds[_i];
	struct fixture f;

	fixture_init(&f);
	ck_assert_ptr_null(build_layers(&f, row->name, row->own,
	    row->defaults, ""));
	ck_assert_str_ne(f.errors.buf, "");
	if (row->want != NULL)
		ck_assert_str_eq(f.errors.buf, row->want);
	fixture_release(&f);
}
END_TEST

START_TEST(all_errors_are_told_at_once)
{
	struct fixture f;
	size_t n = 0;

	fixture_init(&f);
	ck_assert_ptr_null(build(&f, "schedule=@dayly\nschedule=* * *\n"
	    "timezone=Nowhere/At_All\nnot_after=never"));
	for (const char *p = f.errors.buf; *p != '\0'; p++)
		n += *p == '|';
	ck_assert_msg(n == 5, "%s", f.errors.buf);
	fixture_release(&f);
}
END_TEST

START_TEST(b126_zones_are_trimmed_or_refused)
{
	static const char *const bad[] = { "Europe/Pariss", "Europe Paris",
		"../../etc/passwd", "/etc/localtime", "europe/" };
	struct fixture f;
	struct jobdef *d;

	fixture_init(&f);
	d = build_good(&f, "schedule=@daily\ncommand=x\n"
	    "timezone=  Europe/Paris ");
	ck_assert_str_eq(d->timezone, "Europe/Paris");
	jobdef_free(d);
	d = build_good(&f, "schedule=@daily\ncommand=x\ntimezone= ");
	ck_assert_ptr_null(d->timezone);
	jobdef_free(d);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char *lines = xasprintf("schedule=@daily\ncommand=x\n"
		    "timezone=%s", bad[i]);

		strbuf_reset(&f.errors);
		ck_assert_msg(build(&f, lines) == NULL, "%s", bad[i]);
		ck_assert_str_ne(f.errors.buf, "");
		free(lines);
	}
	fixture_release(&f);
}
END_TEST

START_TEST(limits_of_a_built_definition)
{
	struct strbuf own = STRBUF_INIT, below = STRBUF_INIT;
	struct fixture f;
	struct jobdef *d;

	fixture_init(&f);
	strbuf_addstr(&own, "schedule=@daily\ncommand=x\n");
	for (int i = 0; i < 150; i++)
		strbuf_addf(&own, "env.A%d=1\n", i);
	for (int i = 100; i < 200; i++)
		strbuf_addf(&below, "env.A%d=1\n", i);
	d = build_layers(&f, "job", own.buf, below.buf, "");
	ck_assert_msg(d != NULL, "%s", f.errors.buf);
	ck_assert_uint_eq(d->n_env, 200);
	jobdef_free(d);
	strbuf_addstr(&below, "env.A200=1\n");
	ck_assert_ptr_null(build_layers(&f, "job", own.buf, below.buf, ""));
	ck_assert_str_eq(f.errors.buf, "0 env.NAME: 201 variables; at most "
	    "200 are allowed|");
	strbuf_reset(&f.errors);
	strbuf_reset(&own);
	strbuf_addstr(&own, "command=x\n");
	for (int i = 0; i < 64; i++)
		strbuf_addstr(&own, "schedule=@daily\n");
	d = build_good(&f, own.buf);
	ck_assert_uint_eq(d->n_schedules, 64);
	jobdef_free(d);
	strbuf_addstr(&own, "schedule=@daily\n");
	ck_assert_ptr_null(build(&f, own.buf));
	ck_assert_str_eq(f.errors.buf, "66 schedule: more than 64 schedules; "
	    "make it several jobs|");
	strbuf_release(&own);
	strbuf_release(&below);
	fixture_release(&f);
}
END_TEST

START_TEST(defaults_need_no_command)
{
	struct jobdef_settings s;
	struct fixture f;

	fixture_init(&f);
	add_lines(&s, "timezone=Europe/Berlin\nschedule=H 2 * * *\n");
	ck_assert_int_eq(jobdef_check_defaults(&s, &f.context), 0);
	jobdef_settings_release(&s);
	add_lines(&s, "timezone=Europe/Berli\n");
	ck_assert_int_eq(jobdef_check_defaults(&s, &f.context), -1);
	ck_assert_str_eq(f.errors.buf, "1 timezone: unknown time zone "
	    "\"Europe/Berli\"; did you mean Europe/Berlin?|");
	jobdef_settings_release(&s);
	fixture_release(&f);
}
END_TEST

static const struct socket_row {
	const char	*lines;	/* of the definition */
	const char	*want;	/* as INI, without its name */
} socket_rows[] = {
	/* NOW is 12:00:00; a delay counts from the end of that second. */
	{ "schedule=@in 5m\ncommand=x",
	    "schedule = @at 2025-12-01T12:05:01Z\ncommand = x\n" },
	{ "schedule=@in 0s\ncommand=x",
	    "schedule = @at 2025-12-01T12:00:00Z\ncommand = x\n" },
	{ "schedule=@at 18:00\ncommand=x",
	    "schedule = @at 2025-12-01T18:00:00Z\ncommand = x\n" },
	{ "schedule=@at 18:00\ncommand=x\ntimezone=Europe/Berlin",
	    "schedule = @at 2025-12-01T17:00:00Z\ncommand = x\n"
	    "timezone = Europe/Berlin\n" },
	/* A past one: at once. */
	{ "schedule=@at 2020-01-01\ncommand=x",
	    "schedule = @at 2025-12-01T12:00:00Z\ncommand = x\n" },
	/* As written. */
	{ "schedule=@at 2026-01-01 08:00\ncommand=x",
	    "schedule = @at 2026-01-01 08:00\ncommand = x\n" },
	{ "schedule=@daily\ncommand=x\nnot_before=+2h\n"
	    "not_after=2027-01-01",
	    "schedule = @daily\ncommand = x\n"
	    "not_before = 2025-12-01T14:00:00Z\nnot_after = 2027-01-01\n" },
};

START_TEST(times_given_over_the_socket_become_instants)
{
	const struct socket_row *row = &socket_rows[_i];
	struct fixture f;
	struct jobdef *d;
	char *text;

	fixture_init(&f);
	f.context.allow_in = true;
	d = build_good(&f, row->lines);
	text = jobdef_format_ini(d);
	ck_assert_str_eq(strchr(text, '\n') + 1, row->want);
	free(text);
	jobdef_free(d);
	fixture_release(&f);
}
END_TEST

START_TEST(format_writes_keys_in_the_order_of_the_table)
{
	struct fixture f;
	struct jobdef *d;
	char *text;

	fixture_init(&f);
	d = build_layers(&f, "job", "env.B=\ntimeout=\ncommand=a;b #c %d\n"
	    "schedule=@daily\nenv.A=x y", "timeout=5m\nuser=anna", "");
	text = jobdef_format_ini(d);
	ck_assert_str_eq(text, "[job]\nschedule = @daily\n"
	    "command = a;b #c %d\ntimeout =\nuser = anna\nenv.B =\n"
	    "env.A = x y\n");
	free(text);
	jobdef_free(d);
	fixture_release(&f);
}
END_TEST

static void
take_difference(void *arg, const char *key, const char *a, const char *b)
{
	strbuf_addf(arg, "%s: %s -> %s|", key, a != NULL ? a : "(none)",
	    b != NULL ? b : "(none)");
}

static const struct pair_row {
	const char	*a;		/* lines of one */
	const char	*b;		/* of the other */
	const char	*want;		/* differences */
	bool		 same_times;	/* wanted */
} pair_rows[] = {
	{ "", "", "", true },
	{ "timeout=2h", "timeout=3h", "timeout: 2h -> 3h|", true },
	{ "timeout=2h", "", "timeout: 2h -> (none)|", true },
	{ "timeout=", "", "", true },
	{ "env.A=", "", "env.A:  -> (none)|", true },
	{ "env.A=1\nenv.B=2", "env.A=1\nenv.B=3", "env.B: 2 -> 3|", true },
	{ "", "schedule=@hourly",
	    "schedule: @daily -> @daily | @hourly|", false },
	{ "", "timezone=Europe/Berlin",
	    "timezone: (none) -> Europe/Berlin|", false },
	{ "", "timezone=UTC", "timezone: (none) -> UTC|", true },
	{ "", "dst_gap=skip", "dst_gap: (none) -> skip|", false },
	{ "", "dst_fold=first", "dst_fold: (none) -> first|", true },
	{ "", "enabled=no", "enabled: (none) -> no|", false },
	{ "not_after=2030-01-01", "not_after=2030-01-02",
	    "not_after: 2030-01-01 -> 2030-01-02|", false },
};

START_TEST(differences_are_told_key_by_key)
{
	const struct pair_row *row = &pair_rows[_i];
	char *la = xasprintf("schedule=@daily\ncommand=x\n%s", row->a);
	char *lb = xasprintf("schedule=@daily\ncommand=x\n%s", row->b);
	struct strbuf got = STRBUF_INIT;
	struct jobdef *a, *b;
	struct fixture f;

	fixture_init(&f);
	a = build_good(&f, la);
	b = build_good(&f, lb);
	jobdef_differences(a, b, take_difference, &got);
	ck_assert_str_eq(got.buf, row->want);
	ck_assert_int_eq(jobdef_equal(a, b), *row->want == '\0');
	ck_assert_int_eq(jobdef_equal(b, a), *row->want == '\0');
	ck_assert_int_eq(jobdef_same_times(a, b), row->same_times);
	ck_assert_int_eq(jobdef_same_times(b, a), row->same_times);
	strbuf_release(&got);
	jobdef_free(a);
	jobdef_free(b);
	fixture_release(&f);
	free(la);
	free(lb);
}
END_TEST

START_TEST(the_daemons_zone_and_host_alter_times)
{
	struct fixture f;
	struct jobdef *a, *b;

	fixture_init(&f);
	a = build_good(&f, "schedule=0 2 * * 1\ncommand=x");
	f.context.zone = zone_cache_get(f.zones, "Europe/Berlin", NULL);
	b = build_good(&f, "schedule=0 2 * * 1\ncommand=x");
	ck_assert(jobdef_equal(a, b));
	ck_assert(!jobdef_same_times(a, b));
	jobdef_free(a);
	f.context.host_id = "other";
	a = build_good(&f, "schedule=0 2 * * 1\ncommand=x");
	ck_assert(jobdef_same_times(a, b));
	jobdef_free(a);
	jobdef_free(b);
	a = build_good(&f, "schedule=H 2 * * 1\ncommand=x");
	f.context.host_id = "example";
	b = build_good(&f, "schedule=H 2 * * 1\ncommand=x");
	ck_assert(!jobdef_same_times(a, b));
	jobdef_free(a);
	jobdef_free(b);
	fixture_release(&f);
}
END_TEST

/* 2026-01-01T00:00:00Z and days after it. */
#define DAY(n) (INT64_C(1767225600) + (n) * 86400)

START_TEST(occurrences_stay_within_the_bounds)
{
	struct fixture f;
	struct jobdef *d;
	int64_t t = -1;

	fixture_init(&f);
	d = build_good(&f, "schedule=@daily\ncommand=x\n"
	    "not_before=2026-01-03\nnot_after=2026-01-05");
	ck_assert(jobdef_next(d, DAY(0), &t));
	ck_assert_int_eq(t, DAY(2));
	ck_assert(jobdef_next(d, DAY(3), &t));
	ck_assert_int_eq(t, DAY(4));
	ck_assert(!jobdef_next(d, DAY(4), &t));
	ck_assert(jobdef_previous(d, DAY(9), &t));
	ck_assert_int_eq(t, DAY(4));
	ck_assert(jobdef_previous(d, DAY(3), &t));
	ck_assert_int_eq(t, DAY(2));
	ck_assert(!jobdef_previous(d, DAY(2), &t));
	ck_assert_int_eq(t, DAY(2));
	jobdef_free(d);
	d = build_good(&f, "schedule=@daily\ncommand=x\nenabled=no");
	ck_assert(!jobdef_next(d, DAY(0), &t));
	ck_assert(!jobdef_previous(d, DAY(0), &t));
	jobdef_free(d);
	fixture_release(&f);
}
END_TEST

START_TEST(several_schedules_are_a_union)
{
	struct fixture f;
	struct jobdef *d;
	int64_t t = DAY(0) - 1;
	char *text;

	fixture_init(&f);
	d = build_good(&f, "schedule=0 0 * * *\nschedule=0 */12 * * *\n"
	    "command=x");
	for (int i = 0; i < 4; i++) {
		ck_assert(jobdef_next(d, t, &t));
		ck_assert_int_eq(t, DAY(0) + i * 43200);
	}
	text = jobdef_schedule_text(d);
	ck_assert_str_eq(text, "0 0 * * * | 0 */12 * * *");
	free(text);
	jobdef_free(d);
	fixture_release(&f);
}
END_TEST

static const struct late_row {
	const char	*lines;	/* beside command */
	int64_t		 at;	/* occurrence */
	int64_t		 want;	/* ms; -1: no limit */
} late_rows[] = {
	{ "schedule=* * * * * *", DAY(0), 60000 },
	{ "schedule=* * * * *", DAY(0), 60000 },
	{ "schedule=*/5 * * * *", DAY(0), 150000 },
	{ "schedule=@hourly", DAY(0), 1800000 },
	{ "schedule=@daily", DAY(0), 10800000 },
	{ "schedule=0 0,6 * * *", DAY(0), 10800000 },
	{ "schedule=0 0,5 * * *", DAY(0), 9000000 },
	{ "schedule=@yearly", DAY(0), 10800000 },
	{ "schedule=@daily\nnot_after=2026-01-01", DAY(0), 10800000 },
	{ "schedule=@at 2026-01-01", DAY(0), -1 },
	{ "schedule=@at 2026-01-01\nmax_late=5m", DAY(0), 300000 },
	{ "schedule=@daily\nmax_late=12h", DAY(0), 43200000 },
};

START_TEST(max_late_follows_the_period)
{
	const struct late_row *row = &late_rows[_i];
	char *lines = xasprintf("command=x\n%s", row->lines);
	struct fixture f;
	struct jobdef *d;

	fixture_init(&f);
	d = build_good(&f, lines);
	ck_assert_msg(jobdef_max_late(d, row->at) == row->want, "%s: %lld",
	    row->lines, (long long)jobdef_max_late(d, row->at));
	jobdef_free(d);
	fixture_release(&f);
	free(lines);
}
END_TEST

START_TEST(one_shots_are_told_from_others)
{
	struct fixture f;
	struct jobdef *d;

	fixture_init(&f);
	d = build_good(&f, "schedule=@at 2026-01-01\ncommand=x");
	ck_assert(jobdef_is_one_shot(d));
	jobdef_free(d);
	d = build_good(&f, "schedule=@at 2026-01-01\nschedule=@daily\n"
	    "command=x");
	ck_assert(!jobdef_is_one_shot(d));
	jobdef_free(d);
	d = build_good(&f, "schedule=@manual\ncommand=x");
	ck_assert(!jobdef_is_one_shot(d));
	jobdef_free(d);
	fixture_release(&f);
}
END_TEST

START_TEST(surprises_are_warned_of)
{
	struct fixture f;

	fixture_init(&f);
	jobdef_free(build_good(&f, "command=x\nschedule=*/90 * * * *"));
	ck_assert_msg(strncmp(f.warnings.buf, "2 schedule: ", 12) == 0, "%s",
	    f.warnings.buf);
	f.context.warning = NULL;
	jobdef_free(build_good(&f, "command=x\nschedule=*/90 * * * *"));
	fixture_release(&f);
}
END_TEST

START_TEST(overlap_has_names)
{
	ck_assert_str_eq(jobdef_overlap_name(OVERLAP_SKIP), "skip");
	ck_assert_str_eq(jobdef_overlap_name(OVERLAP_QUEUE), "queue");
	ck_assert_str_eq(jobdef_overlap_name(OVERLAP_QUEUE_ALL), "queue_all");
	ck_assert_str_eq(jobdef_overlap_name(OVERLAP_REPLACE), "replace");
	ck_assert_str_eq(jobdef_overlap_name(OVERLAP_ALLOW), "allow");
	ck_assert_str_eq(jobdef_overlap_name(99), "unknown");
}
END_TEST

static TCase *
settings_case(void)
{
	TCase *tc = tcase_create("settings");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, every_row_of_the_table_is_sound);
	tcase_add_loop_test(tc, values_are_checked_when_added, 0,
	    ROWS(value_rows));
	tcase_add_test(tc, an_empty_value_of_any_key_is_accepted);
	tcase_add_loop_test(tc, values_meet_their_limits_exactly, 0,
	    ROWS(limit_rows));
	tcase_add_test(tc, names_of_variables_have_64_characters);
	tcase_add_test(tc, a_whole_definition_is_bounded);
	tcase_add_test(tc, only_three_keys_repeat);
	tcase_add_test(tc, settings_copy_is_deep);
	tcase_add_loop_test(tc, names_follow_the_rules, 0, ROWS(name_rows));
	tcase_add_loop_test(tc, names_with_a_user_follow_the_rules, 0,
	    ROWS(full_name_rows));
	return tc;
}

static TCase *
build_case(void)
{
	TCase *tc = tcase_create("build");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, built_in_defaults);
	tcase_add_test(tc, every_key_reaches_its_field);
	tcase_add_test(tc, allow_means_sixteen_at_once);
	tcase_add_test(tc, layers_hide_each_other_key_by_key);
	tcase_add_loop_test(tc,
	    faulty_definitions_are_refused_with_every_error, 0,
	    ROWS(bad_builds));
	tcase_add_test(tc, all_errors_are_told_at_once);
	tcase_add_test(tc, b126_zones_are_trimmed_or_refused);
	tcase_add_test(tc, limits_of_a_built_definition);
	tcase_add_test(tc, defaults_need_no_command);
	tcase_add_loop_test(tc, times_given_over_the_socket_become_instants,
	    0, ROWS(socket_rows));
	tcase_add_test(tc, surprises_are_warned_of);
	return tc;
}

static TCase *
format_case(void)
{
	TCase *tc = tcase_create("format");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, format_writes_keys_in_the_order_of_the_table);
	tcase_add_loop_test(tc, differences_are_told_key_by_key, 0,
	    ROWS(pair_rows));
	tcase_add_test(tc, the_daemons_zone_and_host_alter_times);
	tcase_add_test(tc, occurrences_stay_within_the_bounds);
	tcase_add_test(tc, several_schedules_are_a_union);
	tcase_add_loop_test(tc, max_late_follows_the_period, 0,
	    ROWS(late_rows));
	tcase_add_test(tc, one_shots_are_told_from_others);
	tcase_add_test(tc, overlap_has_names);
	return tc;
}

static Suite *
jobdef_suite(void)
{
	Suite *s = suite_create("jobdef");

	suite_add_tcase(s, settings_case());
	suite_add_tcase(s, build_case());
	suite_add_tcase(s, format_case());
	return s;
}

int
main(void)
{
	return check_main(jobdef_suite());
}
