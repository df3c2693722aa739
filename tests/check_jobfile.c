/* SPDX-License-Identifier: ISC */
/*
 * Job files: every error with its place, values byte for byte, and which
 * files are read at all.  Expected values by hand from spec section 3.
 */
#include "config.h"

#include "common/jobfile.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "common/inifile.h"
#include "common/strbuf.h"
#include "common/timestamp.h"
#include "common/xmalloc.h"
#include "tests/check_main.h"

#define ROWS(t) ((int)(sizeof t / sizeof *t))
#define NOW INT64_C(1764590400)		/* 2025-12-01T12:00:00Z */

struct fixture {
	struct zone		*zone;		/* UTC */
	struct zone_cache	*zones;		/* for names */
	struct jobfile_options	 options;	/* with these */
};

static void
fixture_init(struct fixture *f)
{
	memset(f, 0, sizeof *f);
	f->zone = zone_utc();
	f->zones = zone_cache_new();
	f->options = (struct jobfile_options){
		.host_id = "example",
		.zone = f->zone,
		.zones = f->zones,
		.now = NOW,
		.check_owner = true,
		.owner = getuid(),
	};
}

static void
fixture_release(struct fixture *f)
{
	zone_cache_free(f->zones);
	zone_unref(f->zone);
}

/* Errors, one a line; free(). */
static char *
errors_of(const struct jobfile *file)
{
	struct strbuf out = STRBUF_INIT;

	for (size_t i = 0; i < file->n_errors; i++)
		strbuf_addf(&out, "%s\n", file->errors[i]);
	return strbuf_detach(&out);
}

static struct jobfile *
parse(const char *text)
{
	struct jobfile *file;
	struct fixture f;

	fixture_init(&f);
	file = jobfile_parse("a.ini", text, strlen(text), &f.options);
	fixture_release(&f);
	return file;
}

static struct jobfile *
parse_good(const char *text)
{
	struct jobfile *file = parse(text);
	char *errors = errors_of(file);

	ck_assert_str_eq(errors, "");
	free(errors);
	return file;
}

static const struct error_row {
	const char	*name;	/* of the row */
	const char	*text;	/* of the file */
	const char	*want;	/* errors, a line each */
} error_rows[] = {
	{ "five errors, five messages",
	    "[web]\nschedule = 61 * * * *\ncommand = true\ntiemout = 5m\n"
	    "timeout = 5 min\n[db]\nschedule = @daily\n"
	    "timezone = Europe/Pariss\ncommand = true\noverlap = wait\n",
	    "a.ini:2: [web] schedule: minute field, column 1: 61 is not "
	    "within 0-59\n"
	    "a.ini:4: [web] tiemout: no such key; did you mean timeout?\n"
	    "a.ini:5: [web] timeout: \"5 min\" is not a duration; write 5m\n"
	    "a.ini:8: [db] timezone: unknown time zone \"Europe/Pariss\"; "
	    "did you mean Europe/Paris?\n"
	    "a.ini:10: [db] overlap: \"wait\" is not one of skip, queue, "
	    "queue_all, replace, allow\n" },
	{ "missing keys are told at the section",
	    "[a]\ntimeout = 5m\n",
	    "a.ini:1: [a] schedule: missing; every job needs one\n"
	    "a.ini:1: [a] command: missing; every job needs one\n" },
	{ "a key that was given is not missing",
	    "[a]\nschedule = @daily\ncomand = x\n",
	    "a.ini:3: [a] comand: no such key; did you mean command?\n" },
	{ "nor is one whose bytes are bad",
	    "[a]\nschedule = @daily\ncommand = \xff\n",
	    "a.ini:3: [a] command: byte \\xff at column 11 is not UTF-8; "
	    "save the file as UTF-8\n" },
	{ "a repeated key names both lines",
	    "[a]\nschedule = @daily\ncommand = x\ntimeout = 1m\n"
	    "timeout = 2m\n",
	    "a.ini:5: [a] timeout: set in line 4 already; remove one of the "
	    "two (only schedule, stdin and tags may repeat)\n" },
	{ "a bad name is told at the section",
	    "[a b]\nschedule = @daily\ncommand = x\n",
	    "a.ini:1: [a b] \"a b\" is not a job's name; names are letters, "
	    "digits, \"_\", \".\", \"@\" and \"-\"\n" },
	{ "a name of another user's job",
	    "[anna/x]\nschedule = @daily\ncommand = x\n",
	    "a.ini:1: [anna/x] \"anna/x\" is not a job's name; names are "
	    "letters, digits, \"_\", \".\", \"@\" and \"-\"\n" },
	{ "b122 control characters in a section",
	    "[a\x1b[1m]\nschedule = @daily\ncommand = x\n",
	    "a.ini:1: [\"a\\x1b[1m\"] \"a\\x1b[1m\" is not a job's name; "
	    "names are letters, digits, \"_\", \".\", \"@\" and \"-\"\n" },
	{ "a repeated section",
	    "[a]\nschedule = @daily\ncommand = x\n[a]\nschedule = @daily\n"
	    "command = y\n",
	    "a.ini:4: [a] this section is in line 1 already; rename or join "
	    "them\n" },
	{ "errors of [defaults] are told once",
	    "[defaults]\ntimezone = Europe/Pariss\nschedule = @daily\n"
	    "timeout = x\n"
	    "[a]\ncommand = x\n[b]\ncommand = y\n",
	    "a.ini:2: [defaults] timezone: unknown time zone "
	    "\"Europe/Pariss\"; did you mean Europe/Paris?\n"
	    "a.ini:4: [defaults] timeout: \"x\" is not a duration; write "
	    "for example 90s, 5m or 1h30m\n" },
	{ "a bad line in [defaults] hides no job's errors",
	    "[defaults]\nschedule @daily\n[a]\ncommand = x\ntimeout = y\n",
	    "a.ini:2: [defaults] \"schedule @daily\" has no \"=\"; write "
	    "KEY = VALUE\n"
	    "a.ini:5: [a] timeout: \"y\" is not a duration; write for "
	    "example 90s, 5m or 1h30m\n" },
	{ "errors of lines and of keys are in one order",
	    "[a]\nschedule = @daily\ncommand = x\ntimeout = y\n z\n"
	    "overlap = no\n",
	    "a.ini:4: [a] timeout: \"y\" is not a duration; write for "
	    "example 90s, 5m or 1h30m\n"
	    "a.ini:5: [a] the line is indented, but the line before it does "
	    "not end in \"\\\"; add that there, or unindent this one\n"
	    "a.ini:6: [a] overlap: \"no\" is not one of skip, queue, "
	    "queue_all, replace, allow\n" },
	{ "later keys are refused by name",
	    "[a]\nschedule = @daily\ncommand = x\ncatch_up = once\n",
	    "a.ini:4: [a] catch_up: this version does not support this key "
	    "yet; remove it\n" },
	{ "an empty section is just that",
	    "[a]\n[b]\nschedule=@daily\ncommand=x\n",
	    "a.ini:1: [a] the section is empty; give it keys or remove "
	    "it\n" },
	{ "no jobs in what has errors, but an empty file is fine", "", "" },
	{ "a section whose line is bad",
	    "[\xff]\ncommand = x\n",
	    "a.ini:1: byte \\xff at column 2 is not UTF-8; save the file as "
	    "UTF-8\n" },
};

START_TEST(every_error_is_told_with_its_place)
{
	const struct error_row *row = &error_rows[_i];
	struct jobfile *file = parse(row->text);
	char *errors = errors_of(file);

	ck_assert_msg(strcmp(errors, row->want) == 0, "%s: %s", row->name,
	    errors);
	ck_assert_uint_eq(file->n_jobs, 0);
	free(errors);
	jobfile_free(file);
}
END_TEST

START_TEST(jobs_are_in_file_order)
{
	struct jobfile *file = parse_good("[b]\nschedule=@daily\ncommand=x\n"
	    "\n[a]\ncommand=y\nschedule=@hourly");

	ck_assert_uint_eq(file->n_jobs, 2);
	ck_assert_str_eq(file->jobs[0].def->name, "b");
	ck_assert_int_eq(file->jobs[0].line, 1);
	ck_assert_str_eq(file->jobs[1].def->name, "a");
	ck_assert_int_eq(file->jobs[1].line, 5);
	ck_assert_str_eq(file->jobs[1].def->command, "y");
	ck_assert_str_eq(file->name, "a.ini");
	ck_assert_uint_eq(file->n_warnings, 0);
	jobfile_free(file);
}
END_TEST

START_TEST(defaults_hold_for_the_jobs_after_them)
{
	struct jobfile *file = parse_good(
	    "[first]\nschedule=@daily\ncommand=x\n"
	    "[defaults]\ntimeout=1m\nschedule=@hourly\nschedule=@daily\n"
	    "[second]\ncommand=x\n"
	    "[third]\ncommand=x\nschedule=@weekly\ntimeout=\n"
	    "[defaults]\nuser=anna\n"
	    "[fourth]\ncommand=x\nschedule=@daily\n");

	ck_assert_uint_eq(file->n_jobs, 4);
	ck_assert_int_eq(file->jobs[0].def->timeout, 0);
	ck_assert_int_eq(file->jobs[1].def->timeout, 60000);
	ck_assert_uint_eq(file->jobs[1].def->n_schedules, 2);
	ck_assert_int_eq(file->jobs[2].def->timeout, 0);
	ck_assert_uint_eq(file->jobs[2].def->n_schedules, 1);
	ck_assert_int_eq(file->jobs[3].def->timeout, 0);
	ck_assert_str_eq(file->jobs[3].def->user, "anna");
	jobfile_free(file);
}
END_TEST

START_TEST(the_configurations_defaults_come_last)
{
	const char text[] = "[defaults]\ntimeout=1m\n[a]\ncommand=x\n"
	    "schedule=@daily\n";
	struct jobdef_settings conf;
	struct jobfile *file;
	struct fixture f;

	fixture_init(&f);
	jobdef_settings_init(&conf);
	jobdef_settings_add(&conf, "timeout", "2m", 7, NULL);
	jobdef_settings_add(&conf, "stop_grace", "3s", 8, NULL);
	f.options.defaults = &conf;
	file = jobfile_parse("a.ini", text, strlen(text), &f.options);
	ck_assert_uint_eq(file->n_jobs, 1);
	ck_assert_int_eq(file->jobs[0].def->timeout, 60000);
	ck_assert_int_eq(file->jobs[0].def->stop_grace, 3000);
	jobfile_free(file);
	jobdef_settings_release(&conf);
	fixture_release(&f);
}
END_TEST

START_TEST(warnings_have_their_place_and_refuse_nothing)
{
	struct jobfile *file = parse("[a]\ncommand=x\nschedule=*/90 * * * *\n");

	ck_assert_uint_eq(file->n_errors, 0);
	ck_assert_uint_eq(file->n_jobs, 1);
	ck_assert_uint_ge(file->n_warnings, 1);
	ck_assert_msg(strncmp(file->warnings[0], "a.ini:3: [a] schedule: ",
	    23) == 0, "%s", file->warnings[0]);
	jobfile_free(file);
}
END_TEST

START_TEST(the_bytes_are_kept)
{
	struct jobfile *a = parse("[a]\ncommand=x\nschedule=@daily\n");
	struct jobfile *b = parse("[a]\ncommand=x\nschedule=@daily\n");
	struct jobfile *c = parse("[a]\ncommand=y\nschedule=@daily\n");

	ck_assert_uint_eq(a->text_len, 30);
	ck_assert_int_eq(memcmp(a->text, "[a]\ncommand=x\nschedule=@daily\n",
	    30), 0);
	ck_assert(a->hash == b->hash);
	ck_assert(a->hash != c->hash);
	jobfile_free(a);
	jobfile_free(b);
	jobfile_free(c);
}
END_TEST

/* A job file whose only job has this command. */
static struct jobfile *
parse_command(const char *command)
{
	char *text = xasprintf("[a]\nschedule=@daily\ncommand=%s\n", command);
	struct jobfile *file = parse(text);

	free(text);
	return file;
}

static const size_t command_lengths[] = { 998, 999, 1000, 1024, 4096, 32768,
	32769, 65536, 200000 };

START_TEST(b117_commands_are_whole_or_refused)
{
	size_t len = command_lengths[_i];
	char *command = xmalloc(len + 1);
	struct jobfile *file;

	memset(command, 'x', len);
	memcpy(command + len - 8, "echo END", 9);
	file = parse_command(command);
	if (len <= JOBDEF_COMMAND_MAX) {
		ck_assert_uint_eq(file->n_jobs, 1);
		ck_assert_str_eq(file->jobs[0].def->command, command);
	} else {
		ck_assert_uint_eq(file->n_errors, 1);
		ck_assert_msg(strncmp(file->errors[0], "a.ini:3: [a] "
		    "command: ", 22) == 0, "%s", file->errors[0]);
	}
	free(command);
	jobfile_free(file);
}
END_TEST

/* Numbers that are the same each time. */
static uint32_t
next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) +
	    UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 33);
}

/* A line of len bytes that INI readers stumble over. */
static char *
hostile_text(uint64_t *seed, size_t len)
{
	static const char *const alphabet[] = { ";", "#", "%", ":", "\"", "'",
		"=", "\\", " ", "\t", "[", "]", "$", "&", "|", "a", "0", "-",
		"\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\x1b",
		"`", "{}", "\\;", "()", "*", "?", "~", "!", "<", ">" };
	struct strbuf out = STRBUF_INIT;

	/* Blanks at the ends are trimmed, a "\" at the end goes on. */
	strbuf_addch(&out, 'x');
	while (out.len + 5 < len)
		strbuf_addstr(&out, alphabet[next_random(seed) %
		    (sizeof alphabet / sizeof *alphabet)]);
	while (out.len < len)
		strbuf_addch(&out, 'z');
	return strbuf_detach(&out);
}

START_TEST(i4_hostile_commands_survive_byte_for_byte)
{
	uint64_t seed = (uint64_t)_i + 1;

	for (int i = 0; i < 200; i++) {
		size_t len = 2000 + next_random(&seed) %
		    (JOBDEF_COMMAND_MAX - 2000 + 1);
		char *command = hostile_text(&seed, len);
		struct jobfile *file = parse_command(command);

		ck_assert_msg(file->n_errors == 0, "%s", file->errors[0]);
		ck_assert_uint_eq(file->n_jobs, 1);
		ck_assert_uint_eq(strlen(file->jobs[0].def->command), len);
		ck_assert_str_eq(file->jobs[0].def->command, command);
		free(command);
		jobfile_free(file);
	}
}
END_TEST

/* A definition with random settings, as INI; free(). */
static char *
random_definition(uint64_t *seed)
{
	static const char *const lines[] = { "timeout = 90\n",
		"enabled = no\n", "tags = a, b\n", "tags = c\n",
		"overlap = queue_all\n", "env.EMPTY =\n", "user =\n",
		"umask = 0077\n", "not_before = 2026-01-01\n",
		"timezone = Europe/Berlin\n", "stdin =\n",
		"schedule = TZ=Asia/Tokyo H H * * *\n",
		"description = one \\\n    two\n", "max_late = auto\n" };
	struct strbuf out = STRBUF_INIT;
	uint32_t used = 0;

	strbuf_addstr(&out, "[job]\nschedule = 0 2 * * MON-FRI\n");
	for (int i = 0; i < 4; i++) {
		char *text = hostile_text(seed, 8 + next_random(seed) % 200);

		if (i == 0)
			strbuf_addf(&out, "command = %s\n", text);
		else if (i == 1)
			strbuf_addf(&out, "env.V%d\t=%s \n", i, text);
		else
			strbuf_addf(&out, "stdin = %s\n", text);
		free(text);
	}
	for (int i = 0; i < 8; i++) {
		uint32_t n = next_random(seed) %
		    (sizeof lines / sizeof *lines);

		if (!(used & 1U << n))
			strbuf_addstr(&out, lines[n]);
		used |= 1U << n;
	}
	return strbuf_detach(&out);
}

START_TEST(format_and_parse_give_the_same_job)
{
	uint64_t seed = 1234567;

	for (int i = 0; i < 500; i++) {
		char *text = random_definition(&seed), *again, *third;
		struct jobfile *a = parse_good(text), *b;

		again = jobdef_format_ini(a->jobs[0].def);
		b = parse_good(again);
		ck_assert_msg(jobdef_equal(a->jobs[0].def, b->jobs[0].def),
		    "%s---\n%s", text, again);
		ck_assert(jobdef_same_times(a->jobs[0].def, b->jobs[0].def));
		third = jobdef_format_ini(b->jobs[0].def);
		ck_assert_str_eq(again, third);
		free(text);
		free(again);
		free(third);
		jobfile_free(a);
		jobfile_free(b);
	}
}
END_TEST

START_TEST(the_longest_line_survives_being_formatted)
{
	struct strbuf text = STRBUF_INIT;
	struct jobfile *a, *b;
	char *again;

	/* The line with env.A has 64 KiB. */
	strbuf_addstr(&text, "[job]\nschedule=@daily\ncommand=x\nenv.A=");
	for (int i = 0; i < INIFILE_LINE_MAX - 6; i++)
		strbuf_addch(&text, 'v');
	a = parse_good(text.buf);
	again = jobdef_format_ini(a->jobs[0].def);
	b = parse_good(again);
	ck_assert(jobdef_equal(a->jobs[0].def, b->jobs[0].def));
	jobfile_free(a);
	jobfile_free(b);
	free(again);
	strbuf_release(&text);
}
END_TEST

START_TEST(a_definition_larger_than_allowed_is_told_once)
{
	struct strbuf text = STRBUF_INIT;
	struct jobfile *file;

	strbuf_addstr(&text, "[a]\nschedule=@daily\n");
	for (int i = 0; i < 3000; i++)
		strbuf_addf(&text, "stdin=%0100d\n", i);
	strbuf_addstr(&text, "command=x\n");
	file = parse(text.buf);
	ck_assert_uint_eq(file->n_errors, 1);
	ck_assert_msg(strstr(file->errors[0], "stdin: the whole definition "
	    "has more than 131072 bytes from here on") != NULL, "%s",
	    file->errors[0]);
	jobfile_free(file);
	strbuf_release(&text);
}
END_TEST

START_TEST(errors_are_bounded)
{
	struct strbuf text = STRBUF_INIT;
	struct jobfile *file;

	for (int i = 0; i < 3000; i++)
		strbuf_addf(&text, "[a%d]\nschedule=@daily\ncommand=x\n"
		    "timeout=y\n", i);
	file = parse(text.buf);
	ck_assert_uint_eq(file->n_errors, 1001);
	ck_assert_str_eq(file->errors[1000],
	    "a.ini: more errors; the others are not shown");
	jobfile_free(file);
	strbuf_release(&text);
}
END_TEST

/* n jobs in one file. */
static struct jobfile *
parse_jobs(int n)
{
	struct strbuf text = STRBUF_INIT;
	struct jobfile *file;

	strbuf_addstr(&text, "[defaults]\nschedule=*/5 * * * *\n");
	for (int i = 0; i < n; i++)
		strbuf_addf(&text, "[j%d]\ncommand=x\n", i);
	file = parse(text.buf);
	strbuf_release(&text);
	return file;
}

START_TEST(b129_a_hundred_thousand_jobs_and_not_one_more)
{
	struct monotime start = monotime_now(), end;
	struct jobfile *file = parse_jobs(JOBFILE_JOBS_MAX);

	end = monotime_now();
	ck_assert_uint_eq(file->n_errors, 0);
	ck_assert_uint_eq(file->n_jobs, 100000);
	/* Under a second without sanitizers; quadratic would be minutes. */
	ck_assert_int_lt(end.us - start.us, 60 * USEC_PER_SEC);
	jobfile_free(file);
	file = parse_jobs(JOBFILE_JOBS_MAX + 1);
	ck_assert_uint_eq(file->n_errors, 1);
	ck_assert_str_eq(file->errors[0], "a.ini:200003: [j100000] more than "
	    "100000 jobs; divide the file");
	ck_assert_uint_eq(file->n_jobs, 0);
	jobfile_free(file);
}
END_TEST

START_TEST(names_of_job_files)
{
	static const struct {
		const char	*name;	/* given */
		bool		 want;	/* is one */
	} rows[] = {
		{ "web.ini", true }, { "a.b.ini", true },
		{ "\xc3\x84.ini", true }, { "zz.ini", true },
		{ ".ini", false }, { ".web.ini", false },
		{ "web.ini~", false }, { "web.INI", false },
		{ "web.ini.bak", false }, { "ini", false }, { "", false },
		{ "webini", false }, { "#web.ini#", false },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		ck_assert_msg(jobfile_is_name(rows[i].name) == rows[i].want,
		    "%s", rows[i].name);
}
END_TEST

/* A directory of its own for each test that needs files. */
static char directory[] = "/tmp/cronctl-check-jobfile-XXXXXX";

static void
make_directory(void)
{
	ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void
remove_directory(void)
{
	char *command = xasprintf("rm -rf %s", directory);

	ck_assert_int_eq(system(command), 0);
	free(command);
}

/* Valid until the next call. */
static const char *
path_of(const char *name)
{
	static char path[108];	/* as in struct sockaddr_un */

	snprintf(path, sizeof path, "%s/%s", directory, name);
	return path;
}

#define GOOD_TEXT "[a]\nschedule=@daily\ncommand=x\n"

static void
write_file(const char *name, const char *text, mode_t mode)
{
	int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)),
	    (ssize_t)strlen(text));
	ck_assert_int_eq(fchmod(fd, mode), 0);
	close(fd);
}

/* Loads a file that must be refused with these words in its one error. */
static void
check_refused(const char *name, const struct jobfile_options *options,
    const char *want)
{
	struct jobfile *file = jobfile_load(path_of(name), "x.ini", options);

	ck_assert_uint_eq(file->n_jobs, 0);
	ck_assert_uint_eq(file->n_errors, 1);
	ck_assert_ptr_null(file->text);
	ck_assert_msg(strncmp(file->errors[0], "x.ini: ", 7) == 0, "%s",
	    file->errors[0]);
	ck_assert_msg(strstr(file->errors[0], want) != NULL, "%s: %s", name,
	    file->errors[0]);
	jobfile_free(file);
}

static void
check_loaded(const char *name, const struct jobfile_options *options)
{
	struct jobfile *file = jobfile_load(path_of(name), "x.ini", options);

	ck_assert_msg(file->n_errors == 0, "%s", file->errors[0]);
	ck_assert_uint_eq(file->n_jobs, 1);
	ck_assert_uint_eq(file->text_len, strlen(GOOD_TEXT));
	jobfile_free(file);
}

START_TEST(files_that_others_can_write_are_refused)
{
	static const struct {
		mode_t		 mode;	/* of the file */
		const char	*want;	/* in the error; NULL: read */
	} rows[] = {
		{ 0600, NULL }, { 0644, NULL }, { 0444, NULL },
		{ 0755, NULL },
		{ 0666, "can be written by everybody; run: chmod go-w " },
		{ 0664, "can be written by its group; run: chmod go-w " },
		{ 0602, "can be written by everybody; run: chmod go-w " },
	};
	struct fixture f;

	fixture_init(&f);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		write_file("m.ini", GOOD_TEXT, rows[i].mode);
		if (rows[i].want != NULL)
			check_refused("m.ini", &f.options, rows[i].want);
		else
			check_loaded("m.ini", &f.options);
	}
	f.options.check_owner = false;
	write_file("m.ini", GOOD_TEXT, 0666);
	check_loaded("m.ini", &f.options);
	fixture_release(&f);
}
END_TEST

START_TEST(files_of_others_are_refused)
{
	struct fixture f;

	if (getuid() != 0)
		return;
	fixture_init(&f);
	write_file("o.ini", GOOD_TEXT, 0644);
	ck_assert_int_eq(chown(path_of("o.ini"), 12345, 0), 0);
	check_refused("o.ini", &f.options,
	    "belongs to uid 12345, not to root; run: chown root ");
	f.options.owner = 12345;
	check_loaded("o.ini", &f.options);
	f.options.owner = 999;
	check_refused("o.ini", &f.options, "belongs to uid 12345, not to uid "
	    "999 or root; run: chown 999 ");
	ck_assert_int_eq(chown(path_of("o.ini"), 0, 0), 0);
	check_loaded("o.ini", &f.options);
	fixture_release(&f);
}
END_TEST

START_TEST(links_are_followed_if_both_ends_pass)
{
	struct fixture f;
	char *target = xstrdup(path_of("target"));

	fixture_init(&f);
	write_file("target", GOOD_TEXT, 0644);
	ck_assert_int_eq(symlink(target, path_of("l.ini")), 0);
	check_loaded("l.ini", &f.options);
	ck_assert_int_eq(symlink("nowhere", path_of("d.ini")), 0);
	check_refused("d.ini", &f.options, "No such file");
	ck_assert_int_eq(symlink("loop.ini", path_of("loop.ini")), 0);
	check_refused("loop.ini", &f.options, "symbolic links");
	write_file("target", GOOD_TEXT, 0666);
	check_refused("l.ini", &f.options, "chmod go-w");
	if (getuid() == 0) {
		write_file("target", GOOD_TEXT, 0644);
		ck_assert_int_eq(lchown(path_of("l.ini"), 12345, 0), 0);
		check_refused("l.ini", &f.options, "the link belongs to uid "
		    "12345, not to root; run: chown -h root ");
		ck_assert_int_eq(lchown(path_of("l.ini"), 0, 0), 0);
		ck_assert_int_eq(chown(target, 12345, 0), 0);
		check_refused("l.ini", &f.options, "belongs to uid 12345");
	}
	free(target);
	fixture_release(&f);
}
END_TEST

START_TEST(only_regular_files_are_read_and_nothing_blocks)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct fixture f;

	fixture_init(&f);
	ck_assert_int_eq(mkfifo(path_of("f.ini"), 0600), 0);
	check_refused("f.ini", &f.options, "is a FIFO; only regular files");
	ck_assert_int_eq(mkdir(path_of("d.ini"), 0700), 0);
	check_refused("d.ini", &f.options,
	    "is a directory; only regular files");
	ck_assert_int_eq(symlink("/dev/null", path_of("n.ini")), 0);
	check_refused("n.ini", &f.options, "is a device; only regular files");
	snprintf(sun.sun_path, sizeof sun.sun_path, "%s", path_of("s.ini"));
	ck_assert_int_ge(s, 0);
	ck_assert_int_eq(bind(s, (struct sockaddr *)&sun, sizeof sun), 0);
	check_refused("s.ini", &f.options, "is a socket; only regular files");
	check_refused("none.ini", &f.options, "No such file or directory");
	close(s);
	fixture_release(&f);
}
END_TEST

START_TEST(b129_large_files_are_refused_unread)
{
	struct fixture f;

	fixture_init(&f);
	write_file("big.ini", "", 0644);
	ck_assert_int_eq(truncate(path_of("big.ini"),
	    INT64_C(1) << 40), 0);
	check_refused("big.ini", &f.options, "1099511627776 bytes; a file "
	    "may have at most 16777216");
	fixture_release(&f);
}
END_TEST

START_TEST(a_directory_is_read_by_name)
{
	struct jobfile_set set;
	struct error err = { "" };
	struct fixture f;

	fixture_init(&f);
	write_file("b.ini", GOOD_TEXT, 0644);
	write_file("a.ini", "[x]\n", 0644);
	write_file("B.ini", GOOD_TEXT, 0644);
	write_file(".hidden.ini", GOOD_TEXT, 0644);
	write_file("b.ini~", GOOD_TEXT, 0644);
	write_file("README", GOOD_TEXT, 0644);
	ck_assert_msg(jobfile_load_directory(directory, &f.options, &set,
	    &err) == 0, "%s", err.text);
	ck_assert_uint_eq(set.n_files, 3);
	ck_assert_uint_eq(set.n_ignored, 3);
	ck_assert_str_eq(strrchr(set.files[0]->name, '/'), "/B.ini");
	ck_assert_str_eq(strrchr(set.files[1]->name, '/'), "/a.ini");
	ck_assert_str_eq(strrchr(set.files[2]->name, '/'), "/b.ini");
	ck_assert_msg(strncmp(set.files[0]->name, "cronctl-check-", 14) == 0,
	    "%s", set.files[0]->name);
	ck_assert_uint_eq(set.files[0]->n_jobs, 1);
	ck_assert_uint_eq(set.files[1]->n_errors, 1);
	ck_assert_uint_eq(set.files[2]->n_jobs, 1);
	jobfile_set_release(&set);
	ck_assert_uint_eq(set.n_files, 0);
	fixture_release(&f);
}
END_TEST

START_TEST(a_missing_directory_is_an_error)
{
	struct jobfile_set set;
	struct error err = { "" };
	struct fixture f;

	fixture_init(&f);
	ck_assert_int_eq(jobfile_load_directory("/nonexistent/jobs.d",
	    &f.options, &set, &err), -1);
	ck_assert_str_eq(err.text, "can't open the directory of job files "
	    "/nonexistent/jobs.d: No such file or directory");
	write_file("plain", "", 0644);
	ck_assert_int_eq(jobfile_load_directory(path_of("plain"), &f.options,
	    &set, &err), -1);
	fixture_release(&f);
}
END_TEST

START_TEST(an_empty_directory_is_none)
{
	struct jobfile_set set;
	struct fixture f;

	fixture_init(&f);
	ck_assert_int_eq(jobfile_load_directory(directory, &f.options, &set,
	    NULL), 0);
	ck_assert_uint_eq(set.n_files, 0);
	jobfile_set_release(&set);
	fixture_release(&f);
}
END_TEST

static TCase *
text_case(void)
{
	TCase *tc = tcase_create("text");

	tcase_set_timeout(tc, 240);
	tcase_add_loop_test(tc, every_error_is_told_with_its_place, 0,
	    ROWS(error_rows));
	tcase_add_test(tc, jobs_are_in_file_order);
	tcase_add_test(tc, defaults_hold_for_the_jobs_after_them);
	tcase_add_test(tc, the_configurations_defaults_come_last);
	tcase_add_test(tc, warnings_have_their_place_and_refuse_nothing);
	tcase_add_test(tc, the_bytes_are_kept);
	tcase_add_loop_test(tc, b117_commands_are_whole_or_refused, 0,
	    ROWS(command_lengths));
	tcase_add_loop_test(tc, i4_hostile_commands_survive_byte_for_byte, 0,
	    10);
	tcase_add_test(tc, format_and_parse_give_the_same_job);
	tcase_add_test(tc, the_longest_line_survives_being_formatted);
	tcase_add_test(tc, a_definition_larger_than_allowed_is_told_once);
	tcase_add_test(tc, errors_are_bounded);
	tcase_add_test(tc, b129_a_hundred_thousand_jobs_and_not_one_more);
	tcase_add_test(tc, names_of_job_files);
	return tc;
}

static TCase *
file_case(void)
{
	TCase *tc = tcase_create("files");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, make_directory, remove_directory);
	tcase_add_test(tc, files_that_others_can_write_are_refused);
	tcase_add_test(tc, files_of_others_are_refused);
	tcase_add_test(tc, links_are_followed_if_both_ends_pass);
	tcase_add_test(tc, only_regular_files_are_read_and_nothing_blocks);
	tcase_add_test(tc, b129_large_files_are_refused_unread);
	tcase_add_test(tc, a_directory_is_read_by_name);
	tcase_add_test(tc, a_missing_directory_is_an_error);
	tcase_add_test(tc, an_empty_directory_is_none);
	return tc;
}

static Suite *
jobfile_suite(void)
{
	Suite *s = suite_create("jobfile");

	suite_add_tcase(s, text_case());
	suite_add_tcase(s, file_case());
	return s;
}

int
main(void)
{
	return check_main(jobfile_suite());
}
