/* SPDX-License-Identifier: ISC */
/*
 * What a service manager hears: a datagram socket stands for it, as
 * sd_notify(3) describes.
 */
#include "config.h"

#include "daemon/sdnotify.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifdef HAVE_SYSTEMD
#include <systemd/sd-daemon.h>
#endif

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

START_TEST(figures_are_told_when_they_change_once_a_second)
{
	struct sdnotify *sd = sdnotify_new();

	sdnotify_figures(sd, 12, 3, (struct boottime){ 5000000 });
	ck_assert_str_eq(heard(), "STATUS=12 jobs, 3 running");
	sdnotify_figures(sd, 12, 4, (struct boottime){ 5999999 });
	ck_assert_str_eq(heard(), "");
	sdnotify_figures(sd, 12, 4, (struct boottime){ 6000000 });
	ck_assert_str_eq(heard(), "STATUS=12 jobs, 4 running");
	sdnotify_figures(sd, 12, 4, (struct boottime){ 9000000 });
	ck_assert_str_eq(heard(), "");
	sdnotify_figures(sd, 1, 0, (struct boottime){ 9000000 });
	ck_assert_str_eq(heard(), "STATUS=1 job, 0 running");
	sdnotify_free(sd);
}
END_TEST

/* Places a listening socket, or another, where sd_listen_fds(3) says. */
static void
pass(const char *path, int n)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char text[24];
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	for (int i = 0; i < n; i++)
		ck_assert_int_ne(dup2(fd, SD_LISTEN_FDS_START + i), -1);
	snprintf(text, sizeof(text), "%ld", (long)getpid());
	setenv("LISTEN_PID", text, 1);
	snprintf(text, sizeof(text), "%d", n);
	setenv("LISTEN_FDS", text, 1);
}

static char *
passed_path(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "/tmp/check_sdnotify.%ld.listen",
	    (long)getpid());
	return path;
}

/* In a process of its own: it overwrites low descriptors. */
START_TEST(a_passed_socket_is_taken)
{
	struct error err;
	int fd = -1;

	pass(passed_path(), 1);
	ck_assert_int_eq(sdnotify_socket(passed_path(), &fd, &err), 0);
	ck_assert_int_eq(fd, 3);
	ck_assert_int_ne(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	unlink(passed_path());
}
END_TEST

START_TEST(a_socket_for_somebody_else_is_not_ours)
{
	struct error err;
	int fd = -1;

	pass(passed_path(), 1);
	setenv("LISTEN_PID", "1", 1);
	ck_assert_int_eq(sdnotify_socket(passed_path(), &fd, &err), 0);
	ck_assert_int_eq(fd, 0);
	unlink(passed_path());
}
END_TEST

START_TEST(a_socket_at_another_place_is_refused)
{
	struct error err;
	int fd = -1;

	pass(passed_path(), 1);
	ck_assert_int_eq(sdnotify_socket("/run/x.sock", &fd, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "ListenStream=/run/x.sock"));
	unlink(passed_path());
}
END_TEST

START_TEST(two_passed_sockets_are_refused)
{
	struct error err;
	int fd = -1;

	pass(passed_path(), 2);
	ck_assert_int_eq(sdnotify_socket(passed_path(), &fd, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "passed 2 sockets"));
	unlink(passed_path());
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
	tcase_add_test(tcase,
	    figures_are_told_when_they_change_once_a_second);
	tcase_add_test(tcase, a_passed_socket_is_taken);
	tcase_add_test(tcase, a_socket_for_somebody_else_is_not_ours);
	tcase_add_test(tcase, a_socket_at_another_place_is_refused);
	tcase_add_test(tcase, two_passed_sockets_are_refused);
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
