/* SPDX-License-Identifier: ISC */
/*
 * One connection: bytes to lines and back, over a socket pair.  The limits
 * are those of doc/protocol.md; deadlines are checked with the control
 * socket.
 */
#include "config.h"

#include "daemon/client.h"

#include <check.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/check_main.h"

static struct event_base *base;
static struct client *client;
static int other;		/* the far end; does not block */
static int n_ready, n_gone;	/* calls */

static void
on_ready(void *arg)
{
	(void)arg;
	n_ready++;
}

static void
on_gone(void *arg, const char *why)
{
	(void)arg;
	(void)why;
	n_gone++;
}

static void
set_up(void)
{
	const struct client_callbacks callbacks = { on_ready, on_gone, NULL };
	int pair[2];

	base = event_base_new();
	ck_assert_ptr_nonnull(base);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0,
	    pair), 0);
	other = pair[1];
	client = client_new(base, pair[0], &callbacks);
	ck_assert_ptr_nonnull(client);
}

static void
tear_down(void)
{
	client_free(client);
	event_base_free(base);
	if (other != -1)
		close(other);
}

static void
turn(void)
{
	ck_assert_int_ne(event_base_loop(base, EVLOOP_NONBLOCK), -1);
}

/* Sends all of it, turning meanwhile. */
static void
say(const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = send(other, bytes, len, MSG_NOSIGNAL);

		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		}
		turn();
	}
	turn();
}

static void
expect_line(const char *want)
{
	const char *line;
	size_t len;

	ck_assert(client_has_input(client));
	ck_assert_int_eq(client_take(client, &line, &len), CLIENT_LINE);
	ck_assert_uint_eq(len, strlen(want));
	ck_assert_mem_eq(line, want, len);
}

static void
expect(enum client_input want)
{
	const char *line;
	size_t len;

	ck_assert_int_eq(client_take(client, &line, &len), want);
}

START_TEST(lines_are_what_newlines_end)
{
	say("one\n\ntwo", 8);
	ck_assert_int_gt(n_ready, 0);
	expect_line("one");
	expect_line("");
	expect(CLIENT_NOTHING);
	ck_assert(!client_has_input(client));
	say(" and more\nrest", 14);
	expect_line("two and more");
	expect(CLIENT_NOTHING);
}
END_TEST

START_TEST(half_a_line_makes_nobody_ready)
{
	say("half", 4);
	ck_assert_int_eq(n_ready, 0);
	expect(CLIENT_NOTHING);
}
END_TEST

START_TEST(whole_lines_outlive_the_end_and_half_ones_do_not)
{
	say("one\nhalf", 8);
	ck_assert_int_eq(shutdown(other, SHUT_WR), 0);
	turn();
	expect_line("one");
	expect(CLIENT_END);
	/* It still reads. */
	ck_assert(!client_is_deserted(client));
}
END_TEST

START_TEST(a_closed_end_is_deserted_but_heard)
{
	say("one\n", 4);
	close(other);
	other = -1;
	turn();
	ck_assert(client_is_deserted(client));
	client_send(client, "nobody reads this");
	ck_assert_uint_eq(client_unread(client), 0);
	expect_line("one");
	expect(CLIENT_END);
}
END_TEST

/* The next thing that is something, after some turns. */
static void
expect_soon(enum client_input want)
{
	for (int i = 0; i < 10 && !client_has_input(client); i++) {
		expect(CLIENT_NOTHING);
		turn();
	}
	expect(want);
}

static char *
letters(size_t len)
{
	char *s = malloc(len + 1);

	ck_assert_ptr_nonnull(s);
	memset(s, 'x', len);
	s[len] = '\0';
	return s;
}

START_TEST(the_longest_line_is_taken_and_one_byte_more_is_not)
{
	char *s = letters(CLIENT_LINE_MAX + 1);

	say(s, CLIENT_LINE_MAX);
	say("\n", 1);
	s[CLIENT_LINE_MAX] = '\0';
	expect_line(s);
	s[CLIENT_LINE_MAX] = 'x';
	expect(CLIENT_NOTHING);
	say(s, CLIENT_LINE_MAX + 1);
	say("\nshort\n", 7);
	expect(CLIENT_TOO_LONG);
	expect_line("short");
	expect(CLIENT_NOTHING);
	free(s);
}
END_TEST

START_TEST(a_line_without_end_is_told_once_and_passed_over)
{
	char *s = letters(CLIENT_LINE_MAX);

	for (int i = 0; i < 20; i++)
		say(s, CLIENT_LINE_MAX);
	expect(CLIENT_TOO_LONG);
	expect(CLIENT_NOTHING);
	say(s, CLIENT_LINE_MAX);
	expect(CLIENT_NOTHING);
	say("\nnext\n", 6);
	expect_line("next");
	free(s);
}
END_TEST

START_TEST(lines_before_a_long_one_come_first)
{
	char *s = letters(CLIENT_LINE_MAX + 2);

	say("a\nb\n", 4);
	say(s, CLIENT_LINE_MAX + 2);
	expect_line("a");
	expect_line("b");
	expect_soon(CLIENT_TOO_LONG);
	expect(CLIENT_NOTHING);
	free(s);
}
END_TEST

START_TEST(lines_that_nobody_takes_stop_the_reading)
{
	size_t sent = 0;
	ssize_t n;

	for (int i = 0; i < 100; i++) {
		while ((n = send(other, "0123456789\n", 11,
		    MSG_NOSIGNAL)) > 0)
			sent += (size_t)n;
		turn();
	}
	/* Our buffer, and the kernel's. */
	ck_assert_uint_lt(sent, 1024 * 1024);
	for (size_t i = 0; i < sent / 11; i++) {
		if (!client_has_input(client)) {
			expect(CLIENT_NOTHING);
			turn();
		}
		expect_line("0123456789");
	}
	expect(CLIENT_NOTHING);
}
END_TEST

START_TEST(answers_come_out_as_lines)
{
	char got[64];

	client_send(client, "one");
	client_send(client, "two");
	ck_assert_uint_eq(client_unread(client), 8);
	ck_assert_int_eq(client_flush(client), 0);
	ck_assert_uint_eq(client_unread(client), 0);
	ck_assert_int_eq((int)read(other, got, sizeof(got)), 8);
	ck_assert_mem_eq(got, "one\ntwo\n", 8);
}
END_TEST

START_TEST(what_the_socket_does_not_take_follows)
{
	char *s = letters(1024 * 1024), got[4096];
	size_t all = 0;

	client_send(client, s);
	ck_assert_int_eq(client_flush(client), 0);
	ck_assert_uint_gt(client_unread(client), 0);
	for (int i = 0; i < 100000 && all < 1024 * 1024 + 1; i++) {
		ssize_t n = read(other, got, sizeof(got));

		if (n > 0)
			all += (size_t)n;
		else
			turn();
	}
	ck_assert_uint_eq(all, 1024 * 1024 + 1);
	ck_assert_uint_eq(client_unread(client), 0);
	ck_assert_int_gt(n_ready, 0);
	free(s);
}
END_TEST

START_TEST(more_than_four_megabytes_unread_are_too_much)
{
	char *s = letters(1024 * 1024);

	for (int i = 0; i < 4; i++) {
		client_send(client, s);
		ck_assert_int_eq(client_flush(client), 0);
	}
	client_send(client, s);
	ck_assert_int_eq(client_flush(client), -1);
	free(s);
}
END_TEST

START_TEST(it_is_over_when_the_last_answer_is_sent)
{
	char *s = letters(1024 * 1024), got[4096];

	client_send(client, s);
	ck_assert_int_eq(client_flush(client), 0);
	client_finish(client);
	ck_assert(!client_is_over(client));
	say("ignored\n", 8);
	ck_assert(!client_has_input(client));
	for (int i = 0; i < 100000 && n_gone == 0; i++)
		if (read(other, got, sizeof(got)) <= 0)
			turn();
	ck_assert_int_eq(n_gone, 1);
	ck_assert(client_is_over(client));
	free(s);
}
END_TEST

START_TEST(nuls_are_bytes_of_a_line)
{
	const char *line;
	size_t len;

	say("a\0b\n", 4);
	ck_assert_int_eq(client_take(client, &line, &len), CLIENT_LINE);
	ck_assert_uint_eq(len, 3);
	ck_assert_mem_eq(line, "a\0b", 3);
}
END_TEST

static Suite *
client_suite(void)
{
	Suite *suite = suite_create("client");
	TCase *tc = tcase_create("client");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, lines_are_what_newlines_end);
	tcase_add_test(tc, half_a_line_makes_nobody_ready);
	tcase_add_test(tc, whole_lines_outlive_the_end_and_half_ones_do_not);
	tcase_add_test(tc, a_closed_end_is_deserted_but_heard);
	tcase_add_test(tc,
	    the_longest_line_is_taken_and_one_byte_more_is_not);
	tcase_add_test(tc, a_line_without_end_is_told_once_and_passed_over);
	tcase_add_test(tc, lines_before_a_long_one_come_first);
	tcase_add_test(tc, lines_that_nobody_takes_stop_the_reading);
	tcase_add_test(tc, answers_come_out_as_lines);
	tcase_add_test(tc, what_the_socket_does_not_take_follows);
	tcase_add_test(tc, more_than_four_megabytes_unread_are_too_much);
	tcase_add_test(tc, it_is_over_when_the_last_answer_is_sent);
	tcase_add_test(tc, nuls_are_bytes_of_a_line);
	suite_add_tcase(suite, tc);
	return suite;
}

int
main(void)
{
	return check_main(client_suite());
}
