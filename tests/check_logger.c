/* SPDX-License-Identifier: ISC */
/*
 * The daemon's log: stderr is replaced by a socket that keeps the bounds of
 * writes, or by a pipe that nobody reads.
 */
#include "config.h"

#include "daemon/logger.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/timestamp.h"
#include "tests/check_main.h"

static int saved;	/* the real stderr */
static int reader;	/* the other end of the one under test */
static char got[256 * 1024];	/* what was read last */

static void
setup(void)
{
	int pair[2];

	/* Messages: one read gives what one write wrote. */
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	ck_assert_int_ge(saved = dup(STDERR_FILENO), 0);
	ck_assert_int_eq(dup2(pair[1], STDERR_FILENO), STDERR_FILENO);
	close(pair[1]);
	reader = pair[0];
}

static void
setup_pipe(void)
{
	int pair[2];

	ck_assert_int_eq(pipe(pair), 0);
	ck_assert_int_ge(saved = dup(STDERR_FILENO), 0);
	ck_assert_int_eq(dup2(pair[1], STDERR_FILENO), STDERR_FILENO);
	close(pair[1]);
	reader = pair[0];
}

static void
restore(void)
{
	ck_assert_int_eq(dup2(saved, STDERR_FILENO), STDERR_FILENO);
	close(saved);
	close(reader);
}

/* Whether something can be read within a while. */
static bool
readable(int timeout_ms)
{
	struct pollfd p = { .fd = reader, .events = POLLIN };

	return poll(&p, 1, timeout_ms) == 1 && (p.revents & POLLIN) != 0;
}

/* One message, as a string. */
static const char *
next(void)
{
	ssize_t n;

	ck_assert(readable(5000));
	n = read(reader, got, sizeof got - 1);
	ck_assert_int_gt(n, 0);
	got[n] = '\0';
	return got;
}

START_TEST(a_line_has_time_level_and_subsystem)
{
	struct logger *l = logger_new();
	struct civil c = { 0 };
	char form[64];
	const char *line;

	log_info("scheduler", "job=%s started", "backup");
	line = next();
	ck_assert_int_eq(sscanf(line, "%" SCNd64 "-%2d-%2dT%2d:%2d:%2dZ %63[^\n]",
	    &c.year, &c.month, &c.day, &c.hour, &c.minute, &c.second,
	    form), 7);
	ck_assert_int_le(llabs(civil_seconds(&c) -
	    walltime_seconds(walltime_now())), 5);
	ck_assert_str_eq(form, "info scheduler: job=backup started");
	ck_assert_int_eq(line[strlen(line) - 1], '\n');
	logger_free(l);
}
END_TEST

START_TEST(the_journal_gets_priorities)
{
	struct logger *l;
	struct stat st;
	char name[64];

	ck_assert_int_eq(fstat(STDERR_FILENO, &st), 0);
	snprintf(name, sizeof name, "%ju:%ju", (uintmax_t)st.st_dev,
	    (uintmax_t)st.st_ino);
	ck_assert_int_eq(setenv("JOURNAL_STREAM", name, 1), 0);
	l = logger_new();
	ck_assert_int_eq(unsetenv("JOURNAL_STREAM"), 0);
	log_warning("store", "slow");
	ck_assert_str_eq(next(), "<4>store: slow\n");
	logger_free(l);
}
END_TEST

START_TEST(another_journal_stream_is_not_ours)
{
	static const char *const names[] = { "1:2", "", "x", "1:2:3" };
	struct logger *l;

	ck_assert_int_eq(setenv("JOURNAL_STREAM", names[_i], 1), 0);
	l = logger_new();
	ck_assert_int_eq(unsetenv("JOURNAL_STREAM"), 0);
	log_warning("store", "slow");
	ck_assert_ptr_nonnull(strstr(next(), "Z warning store: slow\n"));
	logger_free(l);
}
END_TEST

START_TEST(lines_keep_their_order_and_are_one_write_each)
{
	struct logger *l = logger_new();
	char want[32];

	for (int i = 0; i < 200; i++)
		log_info("t", "line %d.", i);
	for (int i = 0; i < 200; i++) {
		snprintf(want, sizeof want, " t: line %d.\n", i);
		ck_assert_ptr_nonnull(strstr(next(), want));
	}
	logger_free(l);
	ck_assert(!readable(0));
}
END_TEST

START_TEST(a_long_line_is_cut_between_characters)
{
	struct logger *l = logger_new();
	char text[3 * PIPE_BUF + 1];
	size_t len;

	/* "€" is three bytes; every place of the cut comes up. */
	memset(text, 'x', (size_t)_i);
	for (size_t i = (size_t)_i; i + 3 <= sizeof text - 1; i += 3)
		memcpy(text + i, "\xe2\x82\xac", 4);
	log_info("t", "%s", text);
	next();
	len = strlen(got);
	ck_assert_uint_le(len, PIPE_BUF);
	ck_assert_uint_ge(len, PIPE_BUF - 3);
	ck_assert_str_eq(got + len - 4, "...\n");
	ck_assert_mem_eq(got + len - 7, "\xe2\x82\xac", 3);
	logger_free(l);
}
END_TEST

START_TEST(free_writes_what_waits)
{
	struct logger *l = logger_new();

	for (int i = 0; i < 50; i++)
		log_info("t", "x");
	logger_free(l);
	for (int i = 0; i < 50; i++)
		next();
	ck_assert(!readable(0));
}
END_TEST

static void *
log_many(void *arg)
{
	(void)arg;
	for (int i = 0; i < 100; i++)
		log_info("thread", "one line");
	return NULL;
}

START_TEST(any_thread_may_log)
{
	struct logger *l = logger_new();
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, log_many,
		    NULL), 0);
	for (int i = 0; i < 400; i++)
		ck_assert_ptr_nonnull(strstr(next(), " thread: one line\n"));
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	logger_free(l);
}
END_TEST

/* How many a line says were dropped, or 0. */
static uint64_t
told_by(const char *line)
{
	static const char form[] = " warning log: ";
	uint64_t n;

	line = strstr(line, form);
	if (line == NULL || sscanf(line + sizeof form - 1,
	    "%" SCNu64 " lines were dropped", &n) != 1)
		return 0;
	return n;
}

/*
 * Reads until a word comes; lines seen on the way, and what they told of
 * dropped ones.
 */
static size_t
drain_until(const char *word, uint64_t *told)
{
	size_t lines = 0, len = 0;
	ssize_t n;

	for (;;) {
		ck_assert(readable(5000));
		n = read(reader, got + len, sizeof got - 1 - len);
		ck_assert_int_gt(n, 0);
		len += (size_t)n;
		got[len] = '\0';
		if (strstr(got, word) != NULL) {
			*told += told_by(got);
			break;
		}
		/* Whole lines go, the last piece stays. */
		for (char *nl; (nl = memchr(got, '\n', len)) != NULL; lines++) {
			*nl = '\0';
			*told += told_by(got);
			len -= (size_t)(nl + 1 - got);
			memmove(got, nl + 1, len + 1);
		}
	}
	return lines;
}

START_TEST(a_reader_that_sleeps_blocks_nobody_and_loses_lines)
{
	struct logger *l = logger_new();
	int64_t begin = monotime_now().us;
	uint64_t dropped, told = 0;

	for (int i = 0; i < 10000; i++)
		log_info("t", "line %05d %0200d", i, 0);
	ck_assert_int_lt(monotime_now().us - begin, 5 * USEC_PER_SEC);
	dropped = logger_dropped(l);
	ck_assert_uint_gt(dropped, 10000 - 4096 - 400);
	ck_assert_uint_lt(dropped, 10000 - 4096);
	/* Wake up: what was kept comes, then how many were lost. */
	while (logger_dropped(l) == dropped) {
		ck_assert(readable(5000));
		ck_assert_int_gt(read(reader, got, 4096), 0);
		if (!readable(50))
			break;
	}
	log_info("t", "the last one");
	drain_until("the last one", &told);
	ck_assert_uint_eq(told, dropped);
	logger_free(l);
}
END_TEST

START_TEST(free_leaves_a_reader_that_sleeps)
{
	static struct logger *l;	/* its thread goes on with it */
	int64_t begin, took;
	uint64_t told = 0;

	l = logger_new();
	for (int i = 0; i < 1000; i++)
		log_info("t", "%0200d", i);
	begin = monotime_now().us;
	logger_free(l);
	took = monotime_now().us - begin;
	ck_assert_int_ge(took, USEC_PER_SEC);
	ck_assert_int_lt(took, 3 * USEC_PER_SEC);
	/* Let the thread go on to its end. */
	drain_until("0999\n", &told);
}
END_TEST

START_TEST(a_non_blocking_stderr_loses_nothing)
{
	struct logger *l = logger_new();
	uint64_t told = 0;

	ck_assert_int_eq(fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK), 0);
	for (int i = 0; i < 2000; i++)
		log_info("t", "line %05d %0200d", i, 0);
	log_info("t", "the last one");
	ck_assert_uint_ge(drain_until("the last one", &told), 1500);
	ck_assert_uint_eq(logger_dropped(l), 0);
	logger_free(l);
}
END_TEST

START_TEST(lines_that_cannot_be_written_are_counted)
{
	struct logger *l = logger_new();
	int64_t end = monotime_now().us + 5 * USEC_PER_SEC;

	close(reader);	/* EPIPE, and SIGPIPE, which the thread has blocked */
	reader = -1;
	log_info("t", "x");
	while (logger_dropped(l) == 0)
		ck_assert(monotime_now().us < end);
	logger_free(l);
}
END_TEST

Suite *logger_suite(void);

Suite *
logger_suite(void)
{
	Suite *s = suite_create("logger");
	TCase *t = tcase_create("form"), *p = tcase_create("pipe");

	tcase_set_timeout(t, 30);
	tcase_add_checked_fixture(t, setup, restore);
	tcase_add_test(t, a_line_has_time_level_and_subsystem);
	tcase_add_test(t, the_journal_gets_priorities);
	tcase_add_loop_test(t, another_journal_stream_is_not_ours, 0, 4);
	tcase_add_test(t, lines_keep_their_order_and_are_one_write_each);
	tcase_add_loop_test(t, a_long_line_is_cut_between_characters, 0, 3);
	tcase_add_test(t, free_writes_what_waits);
	tcase_add_test(t, any_thread_may_log);
	suite_add_tcase(s, t);
	tcase_set_timeout(p, 30);
	tcase_add_checked_fixture(p, setup_pipe, restore);
	tcase_add_test(p, a_reader_that_sleeps_blocks_nobody_and_loses_lines);
	tcase_add_test(p, free_leaves_a_reader_that_sleeps);
	tcase_add_test(p, a_non_blocking_stderr_loses_nothing);
	tcase_add_test(p, lines_that_cannot_be_written_are_counted);
	suite_add_tcase(s, p);
	return s;
}

int
main(void)
{
	return check_main(logger_suite());
}
