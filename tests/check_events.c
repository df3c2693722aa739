/* SPDX-License-Identifier: ISC */
/*
 * Events in the store, and what events.follow and run.kill do with them and
 * with runs (doc/protocol.md), over real connections.
 */
#include "config.h"

#include "daemon/events.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/xmalloc.h"
#include "tests/check_main.h"
#include "tests/support/control_rig.h"

static struct rig *rig;

static void
set_up(void)
{
	rig = rig_new(geteuid());
}

static void
tear_down(void)
{
	rig_free(rig);
	rig = NULL;
}

static void
follow(int fd, const char *params)
{
	char *line = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
	    "\"events.follow\",\"params\":%s}\n", params);

	rig_write(rig, fd, line, strlen(line));
	free(line);
}

static struct message *
read_line(int fd)
{
	char *line = rig_read(rig, fd, RIG_WAIT_MS);
	struct message *m;
	struct error err;

	ck_assert_msg(line != NULL, "no line");
	m = message_parse(line, strlen(line), &err);
	ck_assert_msg(m != NULL, "%s", line);
	free(line);
	return m;
}

/* The next line must be a notification of that name; its params. */
static struct message *
expect_notification(int fd, const char *method)
{
	struct message *m = read_line(fd), *params;

	ck_assert_str_eq(message_get_string(m, "method"), method);
	params = message_dup(message_get(m, "params"));
	message_free(m);
	return params;
}

static void
expect_event(int fd, int64_t seq, const char *kind)
{
	struct message *m = expect_notification(fd, "event");

	ck_assert_int_eq(message_get_integer(m, "seq", 0), seq);
	ck_assert_str_eq(message_get_string(m, "kind"), kind);
	message_free(m);
}

static void
expect_next(int fd, int64_t next)
{
	struct message *m = read_line(fd);
	const struct message *result = message_get(m, "result");

	ck_assert_ptr_nonnull(result);
	ck_assert_int_eq(message_get_integer(result, "next", 0), next);
	ck_assert_int_eq(message_get_integer(result, "lost", -1), 0);
	message_free(m);
}

/* n events of a kind, and until they are on disk. */
static void
put_many(int n)
{
	int64_t want = store_event_seq(rig->store) + n;

	for (int i = 0; i < n; i++)
		events_put(rig->store, EVENT_CLOCK_STEPPED, -1, NULL);
	while (store_event_seq(rig->store) < want)
		rig_turn(rig);
}

START_TEST(what_was_is_told_and_then_it_ends)
{
	int fd = rig_connect(rig);

	rig_add(rig, "a");
	put_many(2);
	follow(fd, "{\"from\":1}");
	expect_next(fd, 1);
	expect_event(fd, 1, "job_added");
	expect_event(fd, 2, "clock_stepped");
	expect_event(fd, 3, "clock_stepped");
	message_free(expect_notification(fd, "events.end"));
	/* Another one on the same connection, from the middle on. */
	follow(fd, "{\"from\":3}");
	expect_next(fd, 3);
	expect_event(fd, 3, "clock_stepped");
	message_free(expect_notification(fd, "events.end"));
	close(fd);
}
END_TEST

START_TEST(what_comes_is_told_in_order_beside_other_requests)
{
	int fd = rig_connect(rig);

	put_many(1);
	follow(fd, "{\"follow\":true}");
	expect_next(fd, 2);
	rig_add(rig, "a");
	expect_event(fd, 2, "job_added");
	message_free(rig_call(rig, "job.run", "{\"job\":\"a\"}"));
	rig_started(rig, 0);
	rig_exited(rig, 0, 3);
	expect_event(fd, 3, "run_started");
	expect_event(fd, 4, "run_ended");
	/* Its own requests are answered all the while; not a second stream. */
	follow(fd, "{\"from\":1}");
	message_free(read_line(fd));
	message_free(rig_call(rig, "job.remove", "{\"job\":\"a\"}"));
	expect_event(fd, 5, "job_removed");
	close(fd);
}
END_TEST

START_TEST(more_than_a_page_comes_without_a_hole)
{
	int fd = rig_connect(rig);

	put_many(QUERY_PAGE * 3 + 7);
	follow(fd, "{\"from\":1,\"follow\":true}");
	expect_next(fd, 1);
	for (int64_t i = 1; i <= QUERY_PAGE * 3 + 7; i++)
		expect_event(fd, i, "clock_stepped");
	put_many(1);
	expect_event(fd, QUERY_PAGE * 3 + 8, "clock_stepped");
	close(fd);
}
END_TEST

/* 4,000 lines are more than a socket and UNREAD_MAX hold. */
START_TEST(a_reader_that_sleeps_holds_up_nobody_and_misses_nothing)
{
	int slow = rig_connect(rig), quick = rig_connect(rig);
	const int64_t n = 4000;

	follow(slow, "{\"from\":1,\"follow\":true}");
	follow(quick, "{\"from\":1,\"follow\":true}");
	expect_next(quick, 1);
	for (int64_t i = 0; i < n; i += 1000)
		put_many(1000);
	for (int64_t i = 1; i <= n; i++)
		expect_event(quick, i, "clock_stepped");
	message_free(rig_call(rig, "daemon.status", "{}"));
	expect_next(slow, 1);
	for (int64_t i = 1; i <= n; i++)
		expect_event(slow, i, "clock_stepped");
	close(slow);
	close(quick);
}
END_TEST

START_TEST(a_number_that_is_not_there_yet_is_refused)
{
	struct message *m;

	put_many(3);
	m = rig_ask(rig, "events.follow", "{\"from\":5}");
	ck_assert_int_eq(message_get_integer(message_get(m, "error"), "code",
	    0), 1);
	message_free(m);
}
END_TEST

/* Some more than the limit: the oldest go, and who asks for them is told. */
START_TEST(the_oldest_go_and_are_told_as_lost)
{
	struct message *m;
	const struct message *result;
	int64_t next;

	for (int i = 0; i < 3; i++)
		put_many(STORE_EVENTS_KEPT / 3 + 1000);
	put_many(1);
	m = rig_ask(rig, "events.follow", "{\"from\":1}");
	result = message_get(m, "result");
	next = message_get_integer(result, "next", 0);
	ck_assert_int_eq(next, message_get_integer(result, "newest", 0) -
	    STORE_EVENTS_KEPT + 1);
	ck_assert_int_eq(message_get_integer(result, "lost", 0), next - 1);
	message_free(m);
}
END_TEST

/* Twice, in one commit or later, is once; a final state is not undone. */
START_TEST(a_run_is_told_of_once)
{
	struct run_row run = { .id = 9, .job_id = 1,
	    .job_name = (char []){ "a" }, .occurrence = INT64_MIN, .era = 1,
	    .generation = 1, .cause = RUN_CAUSE_MANUAL, .attempt = 1,
	    .state = RUN_SUCCEEDED, .by_uid = -1, .started = 1, .ended = 2 };

	for (int i = 0; i < 3; i++) {
		events_put_run(rig->store, EVENT_RUN_ENDED, &run);
		store_put_run(rig->store, &run);
		put_many(1);
		if (i == 0)
			ck_assert_int_eq(store_event_seq(rig->store), 2);
	}
}
END_TEST

/* --- run.kill --- */

static void
start_one(void)
{
	rig_add(rig, "a");
	message_free(rig_call(rig, "job.run", "{\"job\":\"a\"}"));
	rig_started(rig, 0);
}

START_TEST(kill_stops_and_a_signal_only_signals)
{
	start_one();
	message_free(rig_call(rig, "run.kill",
	    "{\"job\":\"a\",\"signal\":\"USR1\"}"));
	ck_assert_int_eq(rig->starts[0].signal, 10);	/* signal(7) */
	ck_assert(!rig->starts[0].stop_asked);
	message_free(rig_call(rig, "run.kill", "{\"job\":\"a\"}"));
	ck_assert(rig->starts[0].stop_asked);
}
END_TEST

static const struct kill_row {
	const char	*params;	/* of run.kill */
	int64_t		 code;		/* of the error */
} kill_rows[] = {
	{ "{\"run\":777}", 5 },
	{ "{\"job\":\"b\"}", 5 },
	{ "{\"job\":\"idle\"}", 1 },
	{ "{\"job\":\"a\",\"signal\":\"USR1\"}", 1 },	/* no_signal */
	{ "{\"job\":\"a\",\"signal\":\"NONE\"}", -32602 },
	{ "{}", -32602 },
};

START_TEST(kill_refuses)
{
	start_one();
	rig_add(rig, "idle");
	rig->no_signal = true;
	for (size_t i = 0; i < sizeof(kill_rows) / sizeof(*kill_rows); i++) {
		struct message *m = rig_ask(rig, "run.kill",
		    kill_rows[i].params);

		ck_assert_msg(message_get_integer(message_get(m, "error"),
		    "code", 0) == kill_rows[i].code, "%s",
		    kill_rows[i].params);
		message_free(m);
	}
}
END_TEST

static Suite *
events_suite(void)
{
	Suite *suite = suite_create("events");
	TCase *tc = tcase_create("events");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, what_was_is_told_and_then_it_ends);
	tcase_add_test(tc, what_comes_is_told_in_order_beside_other_requests);
	tcase_add_test(tc, more_than_a_page_comes_without_a_hole);
	tcase_add_test(tc,
	    a_reader_that_sleeps_holds_up_nobody_and_misses_nothing);
	tcase_add_test(tc, a_number_that_is_not_there_yet_is_refused);
	tcase_add_test(tc, the_oldest_go_and_are_told_as_lost);
	tcase_add_test(tc, a_run_is_told_of_once);
	tcase_add_test(tc, kill_stops_and_a_signal_only_signals);
	tcase_add_test(tc, kill_refuses);
	suite_add_tcase(suite, tc);
	return suite;
}

int
main(void)
{
	return check_main(events_suite());
}
