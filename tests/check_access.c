/* SPDX-License-Identifier: ISC */
/*
 * Who may do what: the table of spec section 7, as far as this version goes
 * (root and the daemon's own user; others see that it is there).
 */
#include "config.h"

#include "daemon/access.h"

#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/check_main.h"

static const struct level_row {
	const char		*name;		/* of the row */
	uid_t			 uid;		/* who calls */
	uid_t			 daemon_uid;	/* whom it serves */
	enum access_level	 want;
} level_rows[] = {
	{ "root at the system's daemon", 0, 0, ACCESS_FULL },
	{ "a user at the system's daemon", 1000, 0, ACCESS_STRANGER },
	{ "a user at their own daemon", 1000, 1000, ACCESS_FULL },
	{ "root at a user's daemon", 0, 1000, ACCESS_FULL },
	{ "another user at a user's daemon", 1001, 1000, ACCESS_STRANGER },
	{ "nobody", 65534, 0, ACCESS_STRANGER },
	{ "the overflow of a uid", (uid_t)-1, 0, ACCESS_STRANGER },
};

START_TEST(levels_follow_the_table)
{
	const struct level_row *row = &level_rows[_i];

	ck_assert_msg(access_level_of(row->uid, row->daemon_uid) == row->want,
	    "%s", row->name);
}
END_TEST

START_TEST(a_level_may_what_lower_ones_may)
{
	ck_assert(access_may(ACCESS_FULL, ACCESS_FULL));
	ck_assert(access_may(ACCESS_FULL, ACCESS_STRANGER));
	ck_assert(access_may(ACCESS_STRANGER, ACCESS_STRANGER));
	ck_assert(!access_may(ACCESS_STRANGER, ACCESS_FULL));
}
END_TEST

START_TEST(the_kernel_tells_who_is_there)
{
	struct access_peer peer;
	struct error err;
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	ck_assert_int_eq(access_peer_of(pair[0], &peer, &err), 0);
	ck_assert_uint_eq(peer.uid, geteuid());
	ck_assert_int_eq(peer.pid, getpid());
	close(pair[0]);
	close(pair[1]);
}
END_TEST

START_TEST(what_is_no_socket_is_refused)
{
	struct access_peer peer = { 42, 42 };
	struct error err = { "" };

	ck_assert_int_eq(access_peer_of(-1, &peer, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, strerror(EBADF)));
	ck_assert_uint_eq(peer.uid, 42);
}
END_TEST

static Suite *
access_suite(void)
{
	Suite *suite = suite_create("access");
	TCase *tc = tcase_create("access");

	tcase_add_loop_test(tc, levels_follow_the_table, 0,
	    (int)(sizeof(level_rows) / sizeof(level_rows[0])));
	tcase_add_test(tc, a_level_may_what_lower_ones_may);
	tcase_add_test(tc, the_kernel_tells_who_is_there);
	tcase_add_test(tc, what_is_no_socket_is_refused);
	suite_add_tcase(suite, tc);
	return suite;
}

int
main(void)
{
	return check_main(access_suite());
}
