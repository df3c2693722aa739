/* SPDX-License-Identifier: ISC */
/*
 * Reloads with the real files helper, scheduler and store: names over the
 * whole set, moves, slices, readings that were torn.  The worker is the
 * rig's.
 */
#include "config.h"

#include "daemon/reload.h"

#include <check.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/strbuf.h"
#include "common/timestamp.h"
#include "common/xmalloc.h"
#include "tests/check_main.h"
#include "tests/support/control_rig.h"

#define MANY	5000		/* jobs of a file that takes many turns */

static struct rig *rig;
static struct jobdir_watch *watch;
static struct files *files;		/* one that watches, beside the rig's */
static struct reload *reload;
static struct config config;

/* What the last reload came to. */
static struct {
	int	 n;			/* answers */
	bool	 failed;
	size_t	 added, changed, removed, unchanged, n_errors;
	char	 errors[4096];		/* all of them, a line each */
	char	 config[1024];		/* the same */
} last;

static void
quiet(void *arg, enum log_level level, const char *subsystem,
    const char *text)
{
	(void)arg;
	(void)level;
	(void)subsystem;
	(void)text;
}

static void
join(char *to, size_t size, char *const *v, size_t n)
{
	size_t len = 0;

	to[0] = '\0';
	for (size_t i = 0; i < n && len < size; i++)
		len += (size_t)snprintf(to + len, size - len, "%s\n", v[i]);
}

static void
on_reloaded(void *arg, const struct reload_result *result)
{
	(void)arg;
	last.n++;
	last.failed = result->failed;
	last.added = last.changed = last.removed = 0;
	for (size_t i = 0; i < result->n_changes; i++) {
		last.added += result->changes[i].what == '+';
		last.changed += result->changes[i].what == '~';
		last.removed += result->changes[i].what == '-';
	}
	last.unchanged = result->unchanged;
	last.n_errors = result->n_errors;
	join(last.errors, sizeof last.errors, result->errors,
	    result->n_errors);
	join(last.config, sizeof last.config, result->config,
	    result->n_config);
}

static void
setup(void)
{
	struct files_context context;
	struct jobdir_watch_options o = { .tell = false };
	struct reload_options r;

	log_set_sink(quiet, NULL);
	memset(&last, 0, sizeof last);
	rig = rig_new(geteuid());
	o.base = rig->base;
	o.jobs_dir = rig->jobs_dir;
	watch = jobdir_watch_new(&o);
	context = rig->context;
	context.watch_jobs = jobdir_watch_jobs_fd(watch);
	ck_assert_ptr_nonnull(files = files_new(&context, rig->base));
	config_init(&config);
	free(config.timezone);
	config.timezone = xstrdup("UTC");
	config.config_file = xasprintf("%s/conf", rig->dir);
	r = (struct reload_options){
		.files = files, .scheduler = rig->scheduler,
		.jobs = rig->jobs, .store = rig->store,
		.owner_uid = geteuid(), .config = &config,
		.zone_name = "UTC", .watch = watch,
	};
	reload = reload_new(&r);
}

static void
teardown(void)
{
	files_stop(files);
	reload_free(reload);
	files_free(files);
	jobdir_watch_free(watch);
	rig_free(rig);
	config_release(&config);
}

static void
turn(void)
{
	rig_turn(rig);
	(void)reload_step(reload);
}

static void
write_conf(const char *text)
{
	FILE *f = fopen(config.config_file, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ne(fputs(text, f), EOF);
	ck_assert_int_eq(fclose(f), 0);
}

static void
reload_all(bool plan)
{
	int n = last.n;

	if (access(config.config_file, F_OK) != 0)
		write_conf("[daemon]\ntimezone = UTC\n");
	reload_request(reload, plan, on_reloaded, NULL);
	while (last.n == n || !reload_is_through(reload))
		turn();
}

static struct job *
job_of(const char *name)
{
	return jobtable_find(rig->jobs, name);
}

static void
write_job(const char *file, const char *name, const char *command)
{
	char *text = xasprintf("[%s]\nschedule = @manual\ncommand = %s\n",
	    name, command);

	rig_write_file(rig, file, text);
	free(text);
}

static void
remove_file(const char *name)
{
	char *path = xasprintf("%s/%s", rig->jobs_dir, name);

	ck_assert_int_eq(unlink(path), 0);
	free(path);
}

/* --- names --- */

START_TEST(of_two_new_ones_the_first_file_has_the_name)
{
	write_job("b.ini", "x", "second");
	write_job("a.ini", "x", "first");
	reload_all(false);
	ck_assert_str_eq(job_of("x")->def->command, "first");
	ck_assert_str_eq(last.errors, "jobs.d/b.ini:1: [x]: the name is taken "
	    "by jobs.d/a.ini:1; give one of them another name\n");
}
END_TEST

START_TEST(the_one_in_force_keeps_the_name)
{
	int64_t id;

	write_job("b.ini", "x", "in force");
	reload_all(false);
	id = job_of("x")->id;
	write_job("a.ini", "x", "newcomer");
	reload_all(false);
	ck_assert_str_eq(job_of("x")->def->command, "in force");
	ck_assert_str_eq(last.errors, "jobs.d/a.ini:1: [x]: the name is taken "
	    "by jobs.d/b.ini:1; give one of them another name\n");
	/* It is tried again at every reload. */
	reload_all(false);
	ck_assert_uint_eq(last.n_errors, 1);
	remove_file("b.ini");
	reload_all(false);
	ck_assert_uint_eq(last.n_errors, 0);
	ck_assert_str_eq(job_of("x")->def->command, "newcomer");
	ck_assert_str_eq(job_of("x")->file, "jobs.d/a.ini");
	ck_assert_int_eq(job_of("x")->id, id);
}
END_TEST

START_TEST(only_the_other_section_is_refused)
{
	write_job("a.ini", "x", "first");
	rig_write_file(rig, "b.ini", "[defaults]\nschedule = @manual\n"
	    "command = b\n[x]\numask = 077\n[y]\numask = 077\n");
	reload_all(false);
	ck_assert_uint_eq(last.n_errors, 1);
	ck_assert_ptr_nonnull(job_of("y"));
	ck_assert_str_eq(job_of("x")->def->command, "first");
}
END_TEST

START_TEST(a_file_in_error_keeps_its_names)
{
	write_job("b.ini", "x", "good");
	reload_all(false);
	rig_write_file(rig, "b.ini", "[x]\nnonsense = 1\n");
	write_job("a.ini", "x", "newcomer");
	reload_all(false);
	ck_assert_str_eq(job_of("x")->def->command, "good");
	ck_assert_ptr_nonnull(strstr(last.errors, "b.ini:2: [x] nonsense"));
	ck_assert_ptr_nonnull(strstr(last.errors,
	    "a.ini:1: [x]: the name is taken by jobs.d/b.ini:1"));
}
END_TEST

START_TEST(a_directory_that_is_missing_changes_nothing)
{
	char *away = xasprintf("%s.away", rig->jobs_dir);

	write_job("a.ini", "x", "true");
	reload_all(false);
	ck_assert_int_eq(rename(rig->jobs_dir, away), 0);
	reload_all(false);
	ck_assert(last.failed);
	ck_assert_ptr_nonnull(strstr(last.errors, rig->jobs_dir));
	ck_assert_ptr_nonnull(job_of("x"));
	ck_assert_int_eq(rename(away, rig->jobs_dir), 0);
	free(away);
}
END_TEST

START_TEST(a_job_that_moves_keeps_id_and_counters)
{
	int64_t id;

	write_job("a.ini", "x", "true");
	write_job("b.ini", "y", "true");
	reload_all(false);
	id = job_of("x")->id;
	job_of("x")->failures = 3;
	/* Both at once; the other orders are below and in t0120. */
	write_job("a.ini", "z", "true");
	rig_write_file(rig, "b.ini", "[defaults]\nschedule = @manual\n"
	    "[y]\ncommand = true\n[x]\ncommand = true\n");
	reload_all(false);
	ck_assert_uint_eq(last.removed, 0);
	ck_assert_int_eq(job_of("x")->id, id);
	ck_assert_int_eq(job_of("x")->failures, 3);
	ck_assert_str_eq(job_of("x")->file, "jobs.d/b.ini");
	ck_assert_int_eq(job_of("x")->line, 5);
}
END_TEST

/*
 * x goes from b.ini to a.ini while a.ini has been opened and b.ini not yet:
 * in what was read it is nowhere.
 */
START_TEST(a_reading_that_was_torn_is_done_again)
{
	int fd = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC |
	    FAN_NONBLOCK, O_RDONLY);
	struct fanotify_event_metadata event;
	char *a = xasprintf("%s/a.ini", rig->jobs_dir);
	char *b = xasprintf("%s/b.ini", rig->jobs_dir);
	char *other = xasprintf("%s/other", rig->dir);
	int64_t id;

	write_job("a.ini", "y", "true");
	write_job("b.ini", "x", "true");
	reload_all(false);
	id = job_of("x")->id;
	/* Not everybody may do this (CAP_SYS_ADMIN). */
	if (fd >= 0 && fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN_PERM,
	    AT_FDCWD, a) == 0) {
		reload_request(reload, false, on_reloaded, NULL);
		while (read(fd, &event, sizeof event) != sizeof event)
			turn();
		ck_assert_int_eq(rename(b, other), 0);
		ck_assert_int_eq(rename(a, b), 0);
		ck_assert_int_eq(rename(other, a), 0);
		ck_assert_int_eq(close(event.fd), 0);
		ck_assert_int_eq(close(fd), 0);
		fd = -1;
		while (last.n < 2)
			turn();
		ck_assert_uint_eq(last.removed, 0);
		ck_assert_int_eq(job_of("x")->id, id);
		ck_assert_str_eq(job_of("x")->file, "jobs.d/a.ini");
		ck_assert_str_eq(job_of("y")->file, "jobs.d/b.ini");
	}
	if (fd >= 0)
		close(fd);
	free(a);
	free(b);
	free(other);
}
END_TEST

/* --- slices --- */

static void
write_many(void)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_addstr(&text, "[defaults]\nschedule = 0 4 * * *\n");
	for (int i = 0; i < MANY; i++)
		strbuf_addf(&text, "[job-%05d]\ncommand = true\n", i);
	rig_write_file(rig, "many.ini", text.buf);
	strbuf_release(&text);
}

START_TEST(many_jobs_take_many_short_turns)
{
	int64_t begin, took, longest = 0;
	int turns = 0;

	write_conf("[daemon]\ntimezone = UTC\n");
	write_many();
	reload_request(reload, false, on_reloaded, NULL);
	while (last.n == 0) {
		rig_turn(rig);
		begin = monotime_now().us;
		(void)reload_step(reload);
		took = monotime_now().us - begin;
		longest = took > longest ? took : longest;
		turns += reload_is_busy(reload);
	}
	ck_assert_uint_eq(last.added, MANY);
	ck_assert_uint_eq(jobtable_count(rig->jobs), MANY);
	ck_assert_int_gt(turns, 5);
	/* 2 ms, on a machine that is busy with other things. */
	ck_assert_msg(longest < 200 * USEC_PER_MSEC, "a slice of %lld us",
	    (long long)longest);
	remove_file("many.ini");
	reload_all(false);
	ck_assert_uint_eq(last.removed, MANY);
	ck_assert_uint_eq(jobtable_count(rig->jobs), 0);
}
END_TEST

START_TEST(a_second_reload_waits_for_the_first)
{
	write_conf("[daemon]\ntimezone = UTC\n");
	write_many();
	reload_request(reload, false, on_reloaded, NULL);
	while (!reload_is_busy(reload))
		turn();
	write_job("one.ini", "one", "true");
	reload_request(reload, false, on_reloaded, NULL);
	while (last.n < 1)
		turn();
	ck_assert_uint_eq(last.added, MANY);
	while (last.n < 2)
		turn();
	ck_assert_uint_eq(last.added, 1);
	ck_assert_uint_eq(last.unchanged, MANY);
}
END_TEST

START_TEST(a_reload_may_be_left_half_done)
{
	write_conf("[daemon]\ntimezone = UTC\n");
	write_many();
	reload_request(reload, false, on_reloaded, NULL);
	while (!reload_is_busy(reload))
		turn();
	/* teardown does the rest; the leak checker looks on. */
	ck_assert_int_eq(last.n, 0);
}
END_TEST

START_TEST(a_plan_changes_nothing)
{
	write_job("a.ini", "x", "true");
	reload_all(true);
	ck_assert_uint_eq(last.added, 1);
	ck_assert_ptr_null(job_of("x"));
	reload_all(false);
	ck_assert_uint_eq(last.added, 1);
	remove_file("a.ini");
	reload_all(true);
	ck_assert_uint_eq(last.removed, 1);
	ck_assert_ptr_nonnull(job_of("x"));
}
END_TEST

START_TEST(nothing_is_removed_while_changes_go_on)
{
	const struct jobdir_change change = { .jobs = true, .more = true };

	write_job("a.ini", "x", "true");
	reload_all(false);
	remove_file("a.ini");
	reload_changed(reload, &change);
	while (!reload_is_through(reload))
		turn();
	ck_assert_ptr_nonnull(job_of("x"));
	reload_changed(reload, &(struct jobdir_change){ .jobs = true });
	while (!reload_is_through(reload))
		turn();
	ck_assert_ptr_null(job_of("x"));
}
END_TEST

/* --- the configuration and zones --- */

START_TEST(a_new_zone_replans_jobs_of_both_kinds)
{
	int64_t job, added;

	rig_write_file(rig, "a.ini", "[x]\nschedule = 0 12 * * *\n"
	    "command = true\n");
	message_free(rig_call(rig, "job.add", "{\"name\":\"mine\","
	    "\"definition\":{\"schedule\":\"0 12 * * *\",\"command\":\"true\""
	    "}}"));
	reload_all(false);
	job = job_of("x")->generation;
	added = job_of("mine")->generation;
	reload_all(false);
	ck_assert_int_eq(job_of("mine")->generation, added);
	write_conf("[daemon]\ntimezone = Asia/Tokyo\n");
	reload_all(false);
	ck_assert_str_eq(last.config, "timezone: takes effect now\n");
	ck_assert_str_eq(reload_zone_name(reload), "Asia/Tokyo");
	ck_assert_int_eq(job_of("x")->generation, job + 1);
	ck_assert_int_eq(job_of("mine")->generation, added + 1);
	/* Noon in Tokyo, which is always nine hours ahead, is 3 h UTC. */
	ck_assert_int_eq(job_of("x")->next % 86400, 3 * 3600);
	ck_assert_int_eq(job_of("mine")->next % 86400, 3 * 3600);
	/* A reading without the configuration stays with it. */
	reload_changed(reload, &(struct jobdir_change){ .jobs = true });
	while (!reload_is_through(reload))
		turn();
	ck_assert_int_eq(job_of("x")->next % 86400, 3 * 3600);
}
END_TEST

START_TEST(a_configuration_in_error_changes_nothing)
{
	write_job("a.ini", "x", "true");
	write_conf("[daemon]\ntimezone = Asia/Tokyo\nworkres = 1\n");
	reload_all(false);
	ck_assert(last.failed);
	ck_assert_ptr_nonnull(strstr(last.errors, "conf:3: [daemon] workres"));
	ck_assert_ptr_null(job_of("x"));
	ck_assert_str_eq(reload_zone_name(reload), "UTC");
}
END_TEST

START_TEST(what_needs_a_restart_is_named_each_time)
{
	write_conf("[daemon]\ntimezone = UTC\nmax_running = 7\n");
	reload_all(false);
	ck_assert_str_eq(last.config,
	    "max_running: takes effect at the next start\n");
	reload_all(false);
	ck_assert_str_eq(last.config,
	    "max_running: takes effect at the next start\n");
	write_conf("[daemon]\ntimezone = UTC\nmax_running = 1000\n");
	reload_all(false);
	ck_assert_str_eq(last.config, "");
}
END_TEST

Suite *reload_suite(void);

Suite *
reload_suite(void)
{
	Suite *suite = suite_create("reload");
	TCase *tcase = tcase_create("reload");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, of_two_new_ones_the_first_file_has_the_name);
	tcase_add_test(tcase, the_one_in_force_keeps_the_name);
	tcase_add_test(tcase, only_the_other_section_is_refused);
	tcase_add_test(tcase, a_file_in_error_keeps_its_names);
	tcase_add_test(tcase, a_directory_that_is_missing_changes_nothing);
	tcase_add_test(tcase, a_job_that_moves_keeps_id_and_counters);
	tcase_add_test(tcase, a_reading_that_was_torn_is_done_again);
	tcase_add_test(tcase, many_jobs_take_many_short_turns);
	tcase_add_test(tcase, a_second_reload_waits_for_the_first);
	tcase_add_test(tcase, a_reload_may_be_left_half_done);
	tcase_add_test(tcase, a_plan_changes_nothing);
	tcase_add_test(tcase, nothing_is_removed_while_changes_go_on);
	tcase_add_test(tcase, a_new_zone_replans_jobs_of_both_kinds);
	tcase_add_test(tcase, a_configuration_in_error_changes_nothing);
	tcase_add_test(tcase, what_needs_a_restart_is_named_each_time);
	suite_add_tcase(suite, tcase);
	return suite;
}

int
main(void)
{
	return check_main(reload_suite());
}
