/* SPDX-License-Identifier: ISC */
/* What jobdir_watch notices, and when it says so; on a real directory. */
#include "config.h"

#include "daemon/jobdir_watch.h"

#include <check.h>
#include <event2/event.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/timestamp.h"
#include "daemon/files_internal.h"
#include "tests/check_main.h"

#define MS	USEC_PER_MSEC

static char directory[64], jobs_dir[96], localtime_path[96];
static struct event_base *base;
static struct event *tick;
static struct jobdir_watch *watch;
static struct files_context context;
static int told, told_more, told_zones;

static void
on_change(void *arg, const struct jobdir_change *change)
{
	(void)arg;
	told += change->jobs;
	told_zones += change->zones;
	told_more += change->more;
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

static void
make_watch(bool tell)
{
	const struct jobdir_watch_options o = {
		.base = base, .jobs_dir = jobs_dir, .tell = tell,
		.localtime = localtime_path,
	};

	jobdir_watch_free(watch);
	ck_assert_ptr_nonnull(watch = jobdir_watch_new(&o));
	jobdir_watch_on_change(watch, on_change, NULL);
	context = (struct files_context){
		.jobs_dir = jobs_dir,
		.watch_jobs = jobdir_watch_jobs_fd(watch),
		.watch_zones = jobdir_watch_zones_fd(watch),
	};
	files_watch_jobs(&context);
}

static void
setup(void)
{
	static const struct timeval often = { 0, 5000 };

	told = told_more = told_zones = 0;
	strcpy(directory, "/tmp/check_watch.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(jobs_dir, sizeof jobs_dir, "%s/jobs.d", directory);
	snprintf(localtime_path, sizeof localtime_path, "%s/localtime",
	    directory);
	ck_assert_int_eq(mkdir(jobs_dir, 0755), 0);
	ck_assert_ptr_nonnull(base = event_base_new());
	tick = event_new(base, -1, EV_PERSIST, on_tick, NULL);
	ck_assert_int_eq(event_add(tick, &often), 0);
	watch = NULL;
	make_watch(true);
}

static int
remove_one(const char *path, const struct stat *st, int kind,
    struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

static void
teardown(void)
{
	jobdir_watch_free(watch);
	event_free(tick);
	event_base_free(base);
	ck_assert_int_eq(nftw(directory, remove_one, 8,
	    FTW_DEPTH | FTW_PHYS), 0);
}

static void
touch(const char *dir, const char *name)
{
	char path[160];
	int fd;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	ck_assert_int_ge(fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600),
	    0);
	ck_assert_int_eq(write(fd, "x", 1), 1);
	ck_assert_int_eq(close(fd), 0);
}

/* Turns the loop for that time, or until *n is want. */
static void
turn(int ms, const int *n, int want)
{
	int64_t end = monotime_now().us + ms * MS;

	while (monotime_now().us < end && (n == NULL || *n < want))
		ck_assert_int_ge(event_base_loop(base, EVLOOP_ONCE), 0);
}

START_TEST(a_change_is_told_once_and_200_ms_later)
{
	int64_t begin = monotime_now().us;

	touch(jobs_dir, "a.ini");
	turn(5000, &told, 1);
	ck_assert_int_eq(told, 1);
	ck_assert_int_ge(monotime_now().us - begin, 200 * MS);
	turn(400, NULL, 0);
	ck_assert_int_eq(told, 1);
	ck_assert_int_eq(told_more, 0);
}
END_TEST

START_TEST(changes_without_end_are_told_after_two_seconds)
{
	int64_t begin = monotime_now().us, took;

	while (told == 0 && monotime_now().us - begin < 5000 * MS) {
		touch(jobs_dir, "a.ini");
		turn(20, &told, 1);
	}
	took = monotime_now().us - begin;
	ck_assert_int_ge(took, 1900 * MS);
	ck_assert_int_lt(took, 3500 * MS);
	/* And once more when they have ended. */
	ck_assert_int_eq(told_more, 1);
	turn(5000, &told, 2);
	ck_assert_int_eq(told, 2);
	ck_assert_int_eq(told_more, 1);
}
END_TEST

START_TEST(what_is_no_job_file_is_not_told)
{
	uint64_t seen = jobdir_watch_seen(watch);

	touch(jobs_dir, ".a.ini.swp");
	touch(jobs_dir, "a.ini~");
	touch(jobs_dir, "README");
	touch(directory, "beside");
	turn(300, NULL, 0);
	ck_assert_int_eq(told, 0);
	ck_assert_uint_eq(jobdir_watch_seen(watch), seen);
}
END_TEST

START_TEST(renames_links_modes_and_removals_are_told)
{
	char from[160], to[160];

	snprintf(from, sizeof from, "%s/x", jobs_dir);
	snprintf(to, sizeof to, "%s/x.ini", jobs_dir);
	touch(jobs_dir, "x");
	ck_assert_int_eq(rename(from, to), 0);
	turn(5000, &told, 1);
	ck_assert_int_eq(chmod(to, 0640), 0);
	turn(5000, &told, 2);
	ck_assert_int_eq(unlink(to), 0);
	turn(5000, &told, 3);
	ck_assert_int_eq(symlink("/nowhere", to), 0);
	turn(5000, &told, 4);
	ck_assert_int_eq(told, 4);
}
END_TEST

START_TEST(a_directory_that_comes_back_is_told)
{
	char away[160];

	snprintf(away, sizeof away, "%s/away", directory);
	ck_assert_int_eq(rename(jobs_dir, away), 0);
	turn(5000, &told, 1);
	/* What the reading does that follows. */
	files_watch_jobs(&context);
	touch(away, "a.ini");
	turn(300, NULL, 0);
	ck_assert_int_eq(told, 1);
	ck_assert_int_eq(mkdir(jobs_dir, 0755), 0);
	turn(5000, &told, 2);
	files_watch_jobs(&context);
	touch(jobs_dir, "a.ini");
	turn(5000, &told, 3);
	ck_assert_int_eq(told, 3);
}
END_TEST

START_TEST(what_is_read_already_is_not_told)
{
	int events;

	touch(jobs_dir, "a.ini");
	ck_assert_uint_gt(jobdir_watch_seen(watch), 0);
	jobdir_watch_forget(watch, false);
	/* Nor does a timer run. */
	events = event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED);
	turn(300, NULL, 0);
	ck_assert_int_eq(told, 0);
	ck_assert_int_eq(event_base_get_num_events(base,
	    EVENT_BASE_COUNT_ADDED), events);
}
END_TEST

START_TEST(no_timer_is_left_behind)
{
	int before = event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED);

	touch(jobs_dir, "a.ini");
	turn(5000, &told, 1);
	ck_assert_int_eq(event_base_get_num_events(base,
	    EVENT_BASE_COUNT_ADDED), before);
}
END_TEST

START_TEST(without_telling_changes_are_counted)
{
	make_watch(false);
	ck_assert(!jobdir_watch_tells(watch));
	touch(jobs_dir, "a.ini");
	turn(300, NULL, 0);
	ck_assert_int_eq(told, 0);
	ck_assert_uint_gt(jobdir_watch_seen(watch), 0);
}
END_TEST

START_TEST(the_hosts_zone_is_told_of_and_its_neighbours_are_not)
{
	touch(directory, "resolv.conf");
	turn(300, NULL, 0);
	ck_assert_int_eq(told_zones, 0);
	ck_assert_int_eq(symlink("/usr/share/zoneinfo/UTC", localtime_path),
	    0);
	turn(5000, &told_zones, 1);
	ck_assert_int_eq(told_zones, 1);
	ck_assert_int_eq(told, 0);
}
END_TEST

START_TEST(without_a_watch_nothing_was_seen)
{
	ck_assert_uint_eq(jobdir_watch_seen(NULL), 0);
	ck_assert(!jobdir_watch_tells(NULL));
	jobdir_watch_forget(NULL, true);
	jobdir_watch_free(NULL);
}
END_TEST

Suite *jobdir_watch_suite(void);

Suite *
jobdir_watch_suite(void)
{
	Suite *suite = suite_create("jobdir_watch");
	TCase *tcase = tcase_create("jobdir_watch");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, a_change_is_told_once_and_200_ms_later);
	tcase_add_test(tcase, changes_without_end_are_told_after_two_seconds);
	tcase_add_test(tcase, what_is_no_job_file_is_not_told);
	tcase_add_test(tcase, renames_links_modes_and_removals_are_told);
	tcase_add_test(tcase, a_directory_that_comes_back_is_told);
	tcase_add_test(tcase, what_is_read_already_is_not_told);
	tcase_add_test(tcase, no_timer_is_left_behind);
	tcase_add_test(tcase, without_telling_changes_are_counted);
	tcase_add_test(tcase,
	    the_hosts_zone_is_told_of_and_its_neighbours_are_not);
	tcase_add_test(tcase, without_a_watch_nothing_was_seen);
	suite_add_tcase(suite, tcase);
	return suite;
}

int
main(void)
{
	return check_main(jobdir_watch_suite());
}
