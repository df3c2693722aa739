/* SPDX-License-Identifier: ISC */
/*
 * What a service manager hears: a datagram socket stands for it, as
 * sd_notify(3) describes.
 */
#include "config.h"

#include "daemon/sdnotify.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/check_main.h"

static int manager;			/* the manager's socket */
static struct sockaddr_un address;	/* its name */

static void
begin(void)
{
	address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(address.sun_path, sizeof(address.sun_path),
	    "/tmp/check_sdnotify.%ld", (long)getpid());
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	ck_assert_int_ge(manager, 0);
	ck_assert_int_eq(bind(manager, (struct sockaddr *)&address,
	    sizeof(address)), 0);
	setenv("NOTIFY_SOCKET", address.sun_path, 1);
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

static void
end(void)
{
	close(manager);
	unlink(address.sun_path);
}

/* The next message; "" when there is none. */
static const char *
heard(void)
{
	static char text[256];
	ssize_t n = recv(manager, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

#ifdef HAVE_SYSTEMD

START_TEST(states_are_told)
{
	struct sdnotify *sd = sdnotify_new();

	sdnotify_ready(sd, "3 jobs");
	ck_assert_str_eq(heard(), "READY=1\nSTATUS=3 jobs");
	sdnotify_ready(sd, NULL);
	ck_assert_str_eq(heard(), "READY=1");
	sdnotify_status(sd, "4 jobs\nREADY=1");
	ck_assert_str_eq(heard(), "STATUS=4 jobs");
	sdnotify_reloading(sd, (struct monotime){ 1234567 });
	ck_assert_str_eq(heard(), "RELOADING=1\nMONOTONIC_USEC=1234567");
	sdnotify_stopping(sd);
	ck_assert_str_eq(heard(), "STOPPING=1");
	ck_assert_str_eq(getenv("NOTIFY_SOCKET"), address.sun_path);
	sdnotify_free(sd);
}
END_TEST

START_TEST(watchdog_is_pinged_at_half_its_time_and_only_by_turns)
{
	struct sdnotify *sd;

	setenv("WATCHDOG_USEC", "10000000", 1);
	sd = sdnotify_new();
	sdnotify_turn(sd, (struct boottime){ 1000000 });
	ck_assert_str_eq(heard(), "WATCHDOG=1");
	ck_assert_int_eq(sdnotify_deadline(sd), 6000000);
	sdnotify_turn(sd, (struct boottime){ 5999999 });
	ck_assert_str_eq(heard(), "");
	sdnotify_turn(sd, (struct boottime){ 7000000 });
	ck_assert_str_eq(heard(), "WATCHDOG=1");
	ck_assert_int_eq(sdnotify_deadline(sd), 12000000);
	sdnotify_free(sd);
}
END_TEST

#endif

START_TEST(nothing_is_told_when_nobody_listens)
{
	struct sdnotify *sd;

	unsetenv("NOTIFY_SOCKET");
	setenv("WATCHDOG_USEC", "10000000", 1);
	sd = sdnotify_new();
	sdnotify_ready(sd, "3 jobs");
	sdnotify_turn(sd, (struct boottime){ 1000000 });
	sdnotify_stopping(sd);
	ck_assert_str_eq(heard(), "");
	ck_assert_int_eq(sdnotify_deadline(sd), INT64_MAX);
	sdnotify_free(sd);
}
END_TEST

START_TEST(no_watchdog_means_no_wake_up)
{
	struct sdnotify *sd = sdnotify_new();

	sdnotify_turn(sd, (struct boottime){ 1000000 });
	ck_assert_str_eq(heard(), "");
	ck_assert_int_eq(sdnotify_deadline(sd), INT64_MAX);
	sdnotify_free(sd);
}
END_TEST

Suite *sdnotify_suite(void);

Suite *
sdnotify_suite(void)
{
	Suite *suite = suite_create("sdnotify");
	TCase *tcase = tcase_create("core");

	tcase_add_checked_fixture(tcase, begin, end);
#ifdef HAVE_SYSTEMD
	tcase_add_test(tcase, states_are_told);
	tcase_add_test(tcase,
	    watchdog_is_pinged_at_half_its_time_and_only_by_turns);
#endif
	tcase_add_test(tcase, nothing_is_told_when_nobody_listens);
	tcase_add_test(tcase, no_watchdog_means_no_wake_up);
	suite_add_tcase(suite, tcase);
	return suite;
}

int
main(void)
{
	return check_main(sdnotify_suite());
}
