/* SPDX-License-Identifier: ISC */
/*
 * The daemon's command line (spec section 2) and cronctld.conf (section 8):
 * what is taken, what is refused, and with which words.
 */
#include "config.h"

#include "daemon/config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/strbuf.h"
#include "tests/check_main.h"

#define WORDS_MAX 12

static char dir[] = "/tmp/check_config.XXXXXX";	/* of the whole suite */

static int
count_words(char *const words[])
{
	int n = 0;

	while (words[n] != NULL)
		n++;
	return n;
}

static enum config_action
parse(struct config *config, const char *const words[], struct error *err)
{
	char *copy[WORDS_MAX] = { NULL }, *before[WORDS_MAX];
	enum config_action action;
	int n;

	for (n = 0; words[n] != NULL; n++)
		copy[n] = strdup(words[n]);
	memcpy(before, copy, sizeof(copy));
	config_init(config);
	action = config_parse_options(config, count_words(copy), copy, err);
	ck_assert_mem_eq(before, copy, sizeof(copy));
	for (n = 0; copy[n] != NULL; n++)
		free(copy[n]);
	return action;
}

START_TEST(no_options_give_the_places_of_the_system)
{
	static const char *const words[] = { "cronctld", NULL };
	struct config config;
	struct error err;

	ck_assert_int_eq(parse(&config, words, &err), CONFIG_RUN);
	ck_assert_ptr_null(config.config_file);
	ck_assert_str_eq(config.default_file,
	    SYSCONFDIR "/cronctl/cronctld.conf");
	ck_assert_str_eq(config.jobs_dir, SYSCONFDIR "/cronctl/jobs.d");
	ck_assert_str_eq(config.state_dir, LOCALSTATEDIR "/lib/cronctl");
	ck_assert_str_eq(config.runtime_dir, "/run/cronctl");
	ck_assert_str_eq(config.worker_program,
	    LIBEXECDIR "/cronctl/cronctl-worker");
	ck_assert(!config.user);
	ck_assert(!config.check);
	ck_assert_int_eq(config.log_level, LOG_INFO);
	ck_assert_int_eq(config.max_running, 1000);
	ck_assert_int_eq(config.clock_wait, 300000);
	ck_assert_int_ge(config.workers, 2);
	ck_assert_int_gt((int)strlen(config.host_id), 0);
	config_release(&config);
}
END_TEST

START_TEST(options_are_taken)
{
	static const char *const words[] = { "cronctld", "--config", "/c",
		"--jobs=/j", "--state", "/s/", "--runtime", "/r//",
		"--worker=/w", "--check", NULL };
	struct config config;
	struct error err;

	ck_assert_int_eq(parse(&config, words, &err), CONFIG_RUN);
	ck_assert_str_eq(config.config_file, "/c");
	ck_assert_str_eq(config.jobs_dir, "/j");
	ck_assert_str_eq(config.state_dir, "/s");
	ck_assert_str_eq(config.runtime_dir, "/r");
	ck_assert_str_eq(config.worker_program, "/w");
	ck_assert(config.check);
	config_release(&config);
}
END_TEST

START_TEST(relative_paths_become_absolute)
{
	static const char *const words[] = { "cronctld", "--state", "s/t",
		NULL };
	struct config config;
	struct error err;
	char *here = getcwd(NULL, 0), *want = NULL;

	ck_assert_int_ge(asprintf(&want, "%s/s/t", here), 0);
	ck_assert_int_eq(parse(&config, words, &err), CONFIG_RUN);
	ck_assert_str_eq(config.state_dir, want);
	config_release(&config);
	free(here);
	free(want);
}
END_TEST

START_TEST(log_level_of_the_command_line_beats_the_file)
{
	static const char *const words[] = { "cronctld", "--log-level",
		"debug", NULL };
	struct config config;
	struct error err;

	ck_assert_int_eq(parse(&config, words, &err), CONFIG_RUN);
	ck_assert_int_eq(config.log_level, LOG_DEBUG);
	ck_assert(config.log_level_given);
	config_release(&config);
}
END_TEST

START_TEST(help_and_version_are_left_to_the_caller)
{
	static const struct {
		const char	*word;
		enum config_action want;
	} rows[] = {
		{ "--help", CONFIG_HELP }, { "--version", CONFIG_VERSION },
	};
	const char *const words[] = { "cronctld", rows[_i].word, NULL };
	struct config config;
	struct error err;

	ck_assert_int_eq(parse(&config, words, &err), rows[_i].want);
	config_release(&config);
}
END_TEST

START_TEST(options_that_make_no_sense_are_refused)
{
	static const struct {
		const char	*first, *second;	/* words */
		const char	*want;			/* the sentence */
	} rows[] = {
		{ "--stats", NULL,
		    "there is no option \"--stats\"; did you mean --state?" },
		{ "--nonsense", NULL, "there is no option \"--nonsense\"; "
		    "see cronctld --help" },
		{ "-v", NULL,
		    "there is no option -v; see cronctld --help" },
		{ "--state", NULL, "option --state needs a value; see "
		    "cronctld --help" },
		{ "--check=1", NULL, "option --check takes no value" },
		{ "--log-level", "loud", "--log-level: \"loud\" is no level; "
		    "use error, warning, info or debug" },
		{ "start", NULL,
		    "cronctld takes options only, not \"start\"" },
		{ "--state", "", "an empty path was given; name a file or "
		    "directory" },
	};
	const char *const words[] = { "cronctld", rows[_i].first,
		rows[_i].second, NULL };
	struct config config;
	struct error err;

	ck_assert_int_eq(parse(&config, words, &err), CONFIG_USAGE_ERROR);
	ck_assert_str_eq(err.text, rows[_i].want);
	config_release(&config);
}
END_TEST

static const char *const user_words[] = { "cronctld", "--user", NULL };

START_TEST(user_daemon_lives_in_the_xdg_directories)
{
	struct config config;
	struct error err;

	setenv("HOME", "/home/u", 1);
	setenv("XDG_CONFIG_HOME", "/x/c", 1);
	setenv("XDG_STATE_HOME", "/x/s", 1);
	setenv("XDG_RUNTIME_DIR", "/x/r", 1);
	ck_assert_int_eq(parse(&config, user_words, &err), CONFIG_RUN);
	ck_assert(config.user);
	ck_assert_str_eq(config.default_file, "/x/c/cronctl/cronctld.conf");
	ck_assert_str_eq(config.jobs_dir, "/x/c/cronctl/jobs.d");
	ck_assert_str_eq(config.state_dir, "/x/s/cronctl");
	ck_assert_str_eq(config.runtime_dir, "/x/r/cronctl");
	config_release(&config);
}
END_TEST

START_TEST(xdg_directories_that_are_not_absolute_do_not_count)
{
	struct config config;
	struct error err;

	setenv("HOME", "/home/u", 1);
	setenv("XDG_CONFIG_HOME", "c", 1);
	unsetenv("XDG_STATE_HOME");
	setenv("XDG_RUNTIME_DIR", "/x/r", 1);
	ck_assert_int_eq(parse(&config, user_words, &err), CONFIG_RUN);
	ck_assert_str_eq(config.jobs_dir, "/home/u/.config/cronctl/jobs.d");
	ck_assert_str_eq(config.state_dir, "/home/u/.local/state/cronctl");
	config_release(&config);
}
END_TEST

START_TEST(user_daemon_without_a_runtime_directory_is_refused)
{
	struct config config;
	struct error err;

	setenv("HOME", "/home/u", 1);
	unsetenv("XDG_RUNTIME_DIR");
	ck_assert_int_eq(parse(&config, user_words, &err),
	    CONFIG_USAGE_ERROR);
	ck_assert_str_eq(err.text, "--user needs the variable "
	    "XDG_RUNTIME_DIR; log in with a session that sets it, or give "
	    "--runtime");
	config_release(&config);
}
END_TEST

static void
add_line(void *arg, const char *text)
{
	struct strbuf *all = arg;

	strbuf_addstr(all, text);
	strbuf_addch(all, '\n');
}

START_TEST(usage_names_every_option)
{
	static const char *const names[] = { "--config FILE", "--jobs DIR",
		"--state DIR", "--runtime DIR", "--user", "--log-level LEVEL",
		"--check", "--version", "--help", "--worker FILE" };
	struct strbuf all = STRBUF_INIT;

	config_usage(add_line, &all);
	ck_assert_ptr_nonnull(strstr(all.buf, names[_i]));
	strbuf_release(&all);
}
END_TEST

/* Loads a file "c" of that text; what is reported, without the directory. */
static size_t
load(struct config *config, const char *text, struct strbuf *all)
{
	char path[64], *at;
	size_t n;
	FILE *file;

	snprintf(path, sizeof(path), "%s/c", dir);
	if (text != NULL) {
		file = fopen(path, "w");
		ck_assert_ptr_nonnull(file);
		ck_assert_int_ge(fputs(text, file), 0);
		ck_assert_int_eq(fclose(file), 0);
	} else {
		(void)unlink(path);
	}
	config_init(config);
	config->config_file = strdup(path);
	strbuf_reset(all);
	n = config_load(config, add_line, all);
	while ((at = strstr(all->buf, dir)) != NULL)
		memmove(at, at + strlen(dir) + 1, strlen(at + strlen(dir)));
	return n;
}

START_TEST(file_is_taken)
{
	struct config config;
	struct strbuf all = STRBUF_INIT;

	ck_assert_uint_eq(load(&config, "# comment\n[daemon]\n"
	    "timezone = UTC\nworkers = 3\nmax_running = 7\nclock_wait = 2m\n"
	    "log_level = warning\nhost_id = web ; 1\n"
	    "[defaults]\ntimeout = 5m\n", &all), 0);
	ck_assert_str_eq(all.buf, "");
	ck_assert_str_eq(config.timezone, "UTC");
	ck_assert_int_eq(config.workers, 3);
	ck_assert_int_eq(config.max_running, 7);
	ck_assert_int_eq(config.clock_wait, 120000);
	ck_assert_int_eq(config.log_level, LOG_WARNING);
	ck_assert_str_eq(config.host_id, "web ; 1");
	ck_assert_str_eq(jobdef_settings_get(&config.defaults, "timeout"),
	    "5m");
	config_release(&config);
	strbuf_release(&all);
}
END_TEST

START_TEST(empty_value_means_the_default)
{
	struct config config;
	struct strbuf all = STRBUF_INIT;

	ck_assert_uint_eq(load(&config,
	    "[daemon]\nmax_running =\ntimezone =\nhost_id=\n", &all), 0);
	ck_assert_int_eq(config.max_running, 1000);
	ck_assert_ptr_null(config.timezone);
	ck_assert_int_gt((int)strlen(config.host_id), 0);
	config_release(&config);
	strbuf_release(&all);
}
END_TEST

START_TEST(file_with_errors_reports_each)
{
	static const struct {
		const char	*text;	/* of the file */
		const char	*want;	/* what is reported */
	} rows[] = {
		{ "[daemon]\nworker = 3\n", "c:2: [daemon] worker: there is "
		    "no such key; did you mean workers?\n" },
		{ "[daemon]\nqwertyuiop = 3\n", "c:2: [daemon] qwertyuiop: "
		    "there is no such key here\n" },
		{ "[deamon]\nworkers = 3\n", "c:1: [deamon] there is no such "
		    "section; did you mean [daemon]?\n" },
		{ "[backup]\ncommand = true\n", "c:1: [backup] there is no "
		    "such section; jobs belong into job files\n" },
		{ "[daemon]\nworkers = 0\n", "c:2: [daemon] workers: \"0\" "
		    "is not within 1-1024\n" },
		{ "[daemon]\nworkers = 1025\n", "c:2: [daemon] workers: "
		    "\"1025\" is not within 1-1024\n" },
		{ "[daemon]\nworkers = two\n", "c:2: [daemon] workers: "
		    "\"two\" is not a whole number\n" },
		{ "[daemon]\nmax_running = 99999999999999999999\n", "c:2: "
		    "[daemon] max_running: \"99999999999999999999\" is not "
		    "within 1-1000000\n" },
		{ "[daemon]\nmax_running = 5x\n", "c:2: [daemon] "
		    "max_running: \"5x\" is not a whole number\n" },
		{ "[daemon]\nlog_level = loud\n", "c:2: [daemon] log_level: "
		    "\"loud\" is no level; use error, warning, info or "
		    "debug\n" },
		{ "[daemon]\nworkers = 2\nworkers = 3\n", "c:3: [daemon] "
		    "workers: given in line 2 already; take one of the two "
		    "out\n" },
		{ "[daemon]\non_term = stop\nworkers = 0\n", "c:2: [daemon] "
		    "on_term: not supported by this version; take the line "
		    "out\nc:3: [daemon] workers: \"0\" is not within "
		    "1-1024\n" },
		{ "[limits]\njobs = 5\njob = 5\n", "c:2: [limits] jobs: not "
		    "supported by this version; take the line out\n"
		    "c:3: [limits] job: there is no such key; did you mean "
		    "jobs?\n" },
		{ "[history]\nmax_size = 1G\n[access]\ndeny = x\n", "c:2: "
		    "[history] max_size: not supported by this version; take "
		    "the line out\nc:4: [access] deny: not supported by this "
		    "version; take the line out\n" },
		{ "[defaults]\numask = 022\n[daemon]\nworkers=2\n[defaults]\n"
		    "nice = 1\n", NULL },
	};
	struct config config;
	struct strbuf all = STRBUF_INIT;
	size_t n = load(&config, rows[_i].text, &all), lines = 0;

	for (const char *c = all.buf; *c != '\0'; c++)
		lines += *c == '\n';
	ck_assert_uint_eq(n, lines);
	ck_assert_uint_gt(n, 0);
	if (rows[_i].want != NULL)
		ck_assert_str_eq(all.buf, rows[_i].want);
	else
		ck_assert_ptr_nonnull(strstr(all.buf, "c:5: [defaults] the "
		    "section is there already, in line 1; join the two\n"));
	config_release(&config);
	strbuf_release(&all);
}
END_TEST

START_TEST(default_key_that_is_unknown_is_an_error_with_its_place)
{
	struct config config;
	struct strbuf all = STRBUF_INIT;

	ck_assert_uint_eq(load(&config, "[defaults]\n\ntimeuot = 5m\n", &all),
	    1);
	ck_assert_msg(strncmp(all.buf, "c:3: [defaults] timeuot: ", 25) == 0,
	    "%s", all.buf);
	config_release(&config);
	strbuf_release(&all);
}
END_TEST

START_TEST(zone_that_does_not_exist_is_an_error)
{
	struct config config;
	struct strbuf all = STRBUF_INIT;

	ck_assert_uint_eq(load(&config, "[daemon]\ntimezone = Mars/Olympus\n",
	    &all), 1);
	ck_assert_msg(strncmp(all.buf, "c:2: [daemon] timezone: ", 24) == 0,
	    "%s", all.buf);
	config_release(&config);
	strbuf_release(&all);
}
END_TEST

START_TEST(named_file_that_is_missing_is_an_error)
{
	struct config config;
	struct strbuf all = STRBUF_INIT;

	ck_assert_uint_eq(load(&config, NULL, &all), 1);
	ck_assert_str_eq(all.buf, "c: there is no such file; check --config, "
	    "or leave it out for the defaults\n");
	config_release(&config);
	strbuf_release(&all);
}
END_TEST

START_TEST(default_file_that_is_missing_means_the_defaults)
{
	struct config config;
	struct strbuf all = STRBUF_INIT;

	config_init(&config);
	config.default_file = strdup("/nonexistent/cronctld.conf");
	ck_assert_uint_eq(config_load(&config, add_line, &all), 0);
	ck_assert_int_eq(config.max_running, 1000);
	config_release(&config);
	strbuf_release(&all);
}
END_TEST

START_TEST(what_is_no_file_is_refused_without_waiting)
{
	char path[64];
	struct config config;
	struct strbuf all = STRBUF_INIT;

	snprintf(path, sizeof(path), "%s/fifo", dir);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	config_init(&config);
	config.config_file = strdup(path);
	ck_assert_uint_eq(config_load(&config, add_line, &all), 1);
	ck_assert_ptr_nonnull(strstr(all.buf, ": not a regular file\n"));
	config_release(&config);
	ck_assert_int_eq(unlink(path), 0);
	strbuf_release(&all);
}
END_TEST

START_TEST(host_id_is_stable_and_not_the_machine_id)
{
	char raw[64] = "";
	struct config first, second;
	FILE *file = fopen("/etc/machine-id", "r");

	config_init(&first);
	config_init(&second);
	ck_assert_str_eq(first.host_id, second.host_id);
	ck_assert_uint_eq(strlen(first.host_id), 32);
	if (file != NULL) {
		if (fgets(raw, sizeof(raw), file) != NULL)
			ck_assert_int_ne(strncmp(raw, first.host_id, 16), 0);
		fclose(file);
	}
	config_release(&first);
	config_release(&second);
}
END_TEST

static void
make_dir(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void
remove_dir(void)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/c", dir);
	(void)unlink(path);
	(void)rmdir(dir);
}

Suite *config_suite(void);

Suite *
config_suite(void)
{
	Suite *suite = suite_create("config");
	TCase *line = tcase_create("options"), *file = tcase_create("file");

	tcase_add_test(line, no_options_give_the_places_of_the_system);
	tcase_add_test(line, options_are_taken);
	tcase_add_test(line, relative_paths_become_absolute);
	tcase_add_test(line, log_level_of_the_command_line_beats_the_file);
	tcase_add_loop_test(line, help_and_version_are_left_to_the_caller,
	    0, 2);
	tcase_add_loop_test(line, options_that_make_no_sense_are_refused,
	    0, 8);
	tcase_add_test(line, user_daemon_lives_in_the_xdg_directories);
	tcase_add_test(line,
	    xdg_directories_that_are_not_absolute_do_not_count);
	tcase_add_test(line,
	    user_daemon_without_a_runtime_directory_is_refused);
	tcase_add_loop_test(line, usage_names_every_option, 0, 10);
	tcase_add_unchecked_fixture(file, make_dir, remove_dir);
	tcase_add_test(file, file_is_taken);
	tcase_add_test(file, empty_value_means_the_default);
	tcase_add_loop_test(file, file_with_errors_reports_each, 0, 15);
	tcase_add_test(file,
	    default_key_that_is_unknown_is_an_error_with_its_place);
	tcase_add_test(file, zone_that_does_not_exist_is_an_error);
	tcase_add_test(file, named_file_that_is_missing_is_an_error);
	tcase_add_test(file, default_file_that_is_missing_means_the_defaults);
	tcase_add_test(file, what_is_no_file_is_refused_without_waiting);
	tcase_add_test(file, host_id_is_stable_and_not_the_machine_id);
	suite_add_tcase(suite, line);
	suite_add_tcase(suite, file);
	return suite;
}

int
main(void)
{
	return check_main(config_suite());
}
