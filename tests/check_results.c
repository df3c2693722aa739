/* SPDX-License-Identifier: ISC */
/* Results in memory and in the spool file. */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check_main.h"
#include "worker/results.h"

Suite	*results_suite(void);

static struct results *results;
static char dir[64];
static int dirfd_;

static void
setup(void)
{
	results = results_new();
	snprintf(dir, sizeof dir, "/tmp/cronctl-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	dirfd_ = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(dirfd_, 0);
}

static void
teardown(void)
{
	char command[128];

	results_free(results);
	close(dirfd_);
	snprintf(command, sizeof command, "rm -rf '%s'", dir);
	ck_assert_int_eq(system(command), 0);
}

static void
add(uint64_t run_id)
{
	char name[32], detail[32];
	struct protocol_ended ended = {
		.tag = { .run_id = run_id, .job_name = name,
		    .cause = RUN_CAUSE_SCHEDULE, .attempt = 1, .by_uid = -1 },
		.how = PROTOCOL_END_EXITED, .code = (int)(run_id % 256),
		.detail = detail,
	};

	snprintf(name, sizeof name, "job%llu", (unsigned long long)run_id);
	snprintf(detail, sizeof detail, "d%llu", (unsigned long long)run_id);
	results_add(results, &ended);
}

START_TEST(strings_are_copied)
{
	add(5);
	ck_assert_str_eq(results_find(results, 5)->tag.job_name, "job5");
	ck_assert_str_eq(results_find(results, 5)->detail, "d5");
	ck_assert_ptr_null(results_find(results, 6));
}
END_TEST

START_TEST(order_is_that_of_the_ends)
{
	add(3);
	add(1);
	add(2);
	results_remove(results, 1);
	ck_assert_uint_eq(results_count(results), 2);
	ck_assert_uint_eq(results_get(results, 0)->tag.run_id, 3);
	ck_assert_uint_eq(results_get(results, 1)->tag.run_id, 2);
	results_remove(results, 77);
	ck_assert_uint_eq(results_count(results), 2);
	results_remove(results, 3);
	results_remove(results, 2);
	ck_assert_uint_eq(results_count(results), 0);
}
END_TEST

START_TEST(adding_and_removing_for_long_keeps_what_is_left)
{
	for (uint64_t id = 1; id <= 1000; id++) {
		add(id);
		if (id > 10)
			results_remove(results, id - 10);
		ck_assert_uint_eq(results_count(results), id < 10 ? id : 10);
	}
	ck_assert_uint_eq(results_count(results), 10);
	for (size_t i = 0; i < 10; i++)
		ck_assert_uint_eq(results_get(results, i)->tag.run_id,
		    991 + i);
}
END_TEST

/* What a spool file holds, as a list of run ids. */
struct seen {
	uint64_t ids[8];	/* in the file's order */
	size_t	 n;		/* of them */
};

static void
take(void *arg, const struct protocol_ended *ended)
{
	struct seen *seen = arg;

	ck_assert_uint_lt(seen->n, 8);
	seen->ids[seen->n++] = ended->tag.run_id;
}

static void
read_spool(const char *name, struct seen *seen)
{
	char block[65536];
	bool damaged;
	ssize_t n;
	int fd = openat(dirfd_, name, O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	n = read(fd, block, sizeof block);
	close(fd);
	ck_assert_int_ge(n, 0);
	seen->n = 0;
	protocol_spool_read(block, (size_t)n, take, seen, &damaged);
	ck_assert(!damaged);
}

static size_t
count_files(void)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	size_t n = 0;

	ck_assert_ptr_nonnull(d);
	while ((entry = readdir(d)) != NULL)
		n += entry->d_name[0] != '.';
	closedir(d);
	return n;
}

START_TEST(spool_holds_all_in_order_and_nothing_else)
{
	struct error err = { "" };
	struct seen seen;
	struct stat st;

	add(9);
	add(8);
	ck_assert_msg(results_spool(results, dirfd_, 42, &err) == 0, "%s",
	    err.text);
	read_spool("42", &seen);
	ck_assert_uint_eq(seen.n, 2);
	ck_assert_uint_eq(seen.ids[0], 9);
	ck_assert_uint_eq(seen.ids[1], 8);
	ck_assert_uint_eq(count_files(), 1);
	ck_assert_int_eq(fstatat(dirfd_, "42", &st, 0), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_uint_eq(results_count(results), 2);
}
END_TEST

START_TEST(second_spool_replaces_the_first)
{
	struct seen seen;

	add(1);
	ck_assert_int_eq(results_spool(results, dirfd_, 1, NULL), 0);
	add(2);
	ck_assert_int_eq(results_spool(results, dirfd_, 1, NULL), 0);
	read_spool("1", &seen);
	ck_assert_uint_eq(seen.n, 2);
}
END_TEST

/* A full disk, as far as the writer can tell (setrlimit(2), FSIZE). */
START_TEST(failed_spool_leaves_the_old_one)
{
	struct rlimit limit;
	struct error err = { "" };
	struct seen seen;
	struct stat st;

	add(1);
	ck_assert_int_eq(results_spool(results, dirfd_, 1, NULL), 0);
	ck_assert_int_eq(fstatat(dirfd_, "1", &st, 0), 0);
	add(2);
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = (rlim_t)st.st_size + 1;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(results_spool(results, dirfd_, 1, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "1.tmp"));
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	read_spool("1", &seen);
	ck_assert_uint_eq(seen.n, 1);
	ck_assert_uint_eq(results_count(results), 2);
}
END_TEST

START_TEST(spool_without_its_directory_fails)
{
	struct error err = { "" };

	add(1);
	ck_assert_int_eq(results_spool(results, -1, 1, &err), -1);
	ck_assert_uint_gt(strlen(err.text), 0);
}
END_TEST

Suite *
results_suite(void)
{
	Suite *suite = suite_create("results");
	TCase *tc = tcase_create("results");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, strings_are_copied);
	tcase_add_test(tc, order_is_that_of_the_ends);
	tcase_add_test(tc, adding_and_removing_for_long_keeps_what_is_left);
	tcase_add_test(tc, spool_holds_all_in_order_and_nothing_else);
	tcase_add_test(tc, second_spool_replaces_the_first);
	tcase_add_test(tc, failed_spool_leaves_the_old_one);
	tcase_add_test(tc, spool_without_its_directory_fails);
	suite_add_tcase(suite, tc);
	return suite;
}

int
main(void)
{
	return check_main(results_suite());
}
