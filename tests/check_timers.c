/* SPDX-License-Identifier: ISC */
/*
 * The two timers on a real event base.  No test may set the clock, so
 * its being set is played: read(2) is replaced here by one that can say once
 * that a timerfd was cancelled, as timerfd_create(2) describes.
 */
#include "config.h"

#include "daemon/timers.h"

#include <check.h>
#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "tests/check_main.h"

static bool cancel_next_read;

/* Stands in front of that of libc. */
ssize_t
read(int fd, void *buf, size_t n)
{
	ssize_t got = syscall(SYS_read, fd, buf, n);

	if (cancel_next_read && got == 8) {
		cancel_next_read = false;
		errno = ECANCELED;
		return -1;
	}
	return got;
}

struct fixture {
	struct event_base	*base;
	struct timers		*timers;
	struct event		*guard;		/* ends a wait that is too long */
	bool			 too_long;	/* it did */
};

static void
on_guard(evutil_socket_t fd, short what, void *arg)
{
	struct fixture *f = arg;

	(void)fd;
	(void)what;
	f->too_long = true;
}

static void
begin(struct fixture *f)
{
	struct error err;

	*f = (struct fixture){ .base = event_base_new() };
	f->guard = evtimer_new(f->base, on_guard, f);
	f->timers = timers_new(f->base, &err);
	ck_assert_ptr_nonnull(f->timers);
}

static void
end(struct fixture *f)
{
	timers_free(f->timers);
	event_free(f->guard);
	event_base_free(f->base);
}

/* Whether a timer wakes the loop within so many ms. */
static bool
wakes_within(struct fixture *f, int ms)
{
	struct timeval limit = { ms / 1000, ms % 1000 * 1000 };

	f->too_long = false;
	evtimer_add(f->guard, &limit);
	ck_assert_int_ge(event_base_loop(f->base, EVLOOP_ONCE), 0);
	evtimer_del(f->guard);
	return !f->too_long;
}

/* Field of /proc/self/fdinfo of the timerfd on a clock; seconds it waits. */
static bool
find_timer(int clockid, int *flags, int64_t *seconds)
{
	char path[64], link[64] = "", line[128];
	int clock_found;
	ssize_t n;
	FILE *file;

	for (int fd = 0; fd < 64; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, link, sizeof(link) - 1);
		if (n <= 0 || strncmp(link, "anon_inode:[timerfd]", 20) != 0)
			continue;
		snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
		file = fopen(path, "r");
		ck_assert_ptr_nonnull(file);
		clock_found = -1;
		while (fgets(line, sizeof(line), file) != NULL) {
			(void)sscanf(line, "clockid: %d", &clock_found);
			(void)sscanf(line, "settime flags: %o",
			    (unsigned int *)flags);
			(void)sscanf(line, "it_value: (%" SCNd64, seconds);
		}
		fclose(file);
		if (clock_found == clockid)
			return true;
	}
	return false;
}

START_TEST(wall_timer_is_armed_from_the_start_and_cancelled_by_a_step)
{
	struct fixture f;
	int64_t seconds = 0;
	int flags = 0;

	begin(&f);
	ck_assert(find_timer(CLOCK_REALTIME, &flags, &seconds));
	ck_assert_int_eq(flags, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET);
	/* 100 years of 365 days and more */
	ck_assert_int_gt(seconds, INT64_C(3153600000));
	end(&f);
}
END_TEST

START_TEST(never_keeps_the_wall_timer_armed)
{
	struct fixture f;
	struct error err;
	int64_t seconds = 0;
	int flags;

	begin(&f);
	ck_assert_int_eq(timers_arm_wall(f.timers,
	    walltime_now().us + 60 * USEC_PER_SEC, &err), 0);
	ck_assert(find_timer(CLOCK_REALTIME, &flags, &seconds));
	ck_assert_int_ge(seconds, 58);
	ck_assert_int_le(seconds, 60);
	ck_assert_int_eq(timers_arm_wall(f.timers, TIMERS_NEVER, &err), 0);
	ck_assert(find_timer(CLOCK_REALTIME, &flags, &seconds));
	ck_assert_int_gt(seconds, INT64_C(3153600000));
	end(&f);
}
END_TEST

START_TEST(never_disarms_the_boot_timer)
{
	struct fixture f;
	struct error err;
	int64_t seconds = 1;
	int flags;

	begin(&f);
	ck_assert_int_eq(timers_arm_boot(f.timers,
	    boottime_now().us + 60 * USEC_PER_SEC, &err), 0);
	ck_assert_int_eq(timers_arm_boot(f.timers, TIMERS_NEVER, &err), 0);
	ck_assert(find_timer(CLOCK_BOOTTIME, &flags, &seconds));
	ck_assert_int_eq(seconds, 0);
	end(&f);
}
END_TEST

START_TEST(wall_timer_wakes_at_its_instant)
{
	struct fixture f;
	struct error err;
	int64_t instant = walltime_now().us + 50 * USEC_PER_MSEC;

	begin(&f);
	ck_assert_int_eq(timers_arm_wall(f.timers, instant, &err), 0);
	ck_assert(wakes_within(&f, 5000));
	ck_assert_int_ge(walltime_now().us, instant);
	ck_assert(!timers_clock_was_set(f.timers));
	end(&f);
}
END_TEST

START_TEST(boot_timer_wakes_at_its_instant)
{
	struct fixture f;
	struct error err;
	int64_t instant = boottime_now().us + 50 * USEC_PER_MSEC;

	begin(&f);
	ck_assert_int_eq(timers_arm_boot(f.timers, instant, &err), 0);
	ck_assert(wakes_within(&f, 5000));
	ck_assert_int_ge(boottime_now().us, instant);
	end(&f);
}
END_TEST

START_TEST(instant_that_has_passed_wakes_at_once)
{
	static const int64_t rows[] = { INT64_MIN + 1, -1, 0, 1, 1000000 };
	struct fixture f;
	struct error err;

	begin(&f);
	ck_assert_int_eq(timers_arm_wall(f.timers, rows[_i], &err), 0);
	ck_assert(wakes_within(&f, 5000));
	ck_assert_int_eq(timers_arm_boot(f.timers, rows[_i], &err), 0);
	ck_assert(wakes_within(&f, 5000));
	end(&f);
}
END_TEST

START_TEST(instants_past_the_kernels_range_never_come)
{
	static const int64_t rows[] = {
		INT64_MAX, INT64_MAX - 1,
		/* 2262-04-11, where 64 bits of nanoseconds end, +- 1 s */
		INT64_C(9223372035000000), INT64_C(9223372037000000),
		TIMESTAMP_LAST * USEC_PER_SEC,
	};
	struct fixture f;
	struct error err;

	begin(&f);
	ck_assert_int_eq(timers_arm_wall(f.timers, rows[_i], &err), 0);
	ck_assert_int_eq(timers_arm_boot(f.timers, rows[_i], &err), 0);
	ck_assert(!wakes_within(&f, 20));
	end(&f);
}
END_TEST

START_TEST(an_instant_that_fired_can_be_armed_again)
{
	struct fixture f;
	struct error err;

	begin(&f);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(timers_arm_wall(f.timers, 1000, &err), 0);
		ck_assert(wakes_within(&f, 5000));
	}
	ck_assert(!wakes_within(&f, 20));
	end(&f);
}
END_TEST

START_TEST(clock_set_is_told_once_and_the_timer_stays_armed)
{
	struct fixture f;
	struct error err;
	int64_t seconds = 0;
	int flags;

	begin(&f);
	ck_assert_int_eq(timers_arm_wall(f.timers, 1000, &err), 0);
	cancel_next_read = true;
	ck_assert(wakes_within(&f, 5000));
	ck_assert(!cancel_next_read);
	/* armed again for the instant that has passed: it wakes again */
	ck_assert(wakes_within(&f, 5000));
	ck_assert(timers_clock_was_set(f.timers));
	ck_assert(!timers_clock_was_set(f.timers));
	ck_assert_int_eq(timers_arm_wall(f.timers, TIMERS_NEVER, &err), 0);
	ck_assert(find_timer(CLOCK_REALTIME, &flags, &seconds));
	ck_assert_int_gt(seconds, 0);
	end(&f);
}
END_TEST

Suite *timers_suite(void);

Suite *
timers_suite(void)
{
	Suite *suite = suite_create("timers");
	TCase *tcase = tcase_create("core");

	tcase_add_test(tcase,
	    wall_timer_is_armed_from_the_start_and_cancelled_by_a_step);
	tcase_add_test(tcase, never_keeps_the_wall_timer_armed);
	tcase_add_test(tcase, never_disarms_the_boot_timer);
	tcase_add_test(tcase, wall_timer_wakes_at_its_instant);
	tcase_add_test(tcase, boot_timer_wakes_at_its_instant);
	tcase_add_loop_test(tcase, instant_that_has_passed_wakes_at_once,
	    0, 5);
	tcase_add_loop_test(tcase,
	    instants_past_the_kernels_range_never_come, 0, 5);
	tcase_add_test(tcase, an_instant_that_fired_can_be_armed_again);
	tcase_add_test(tcase,
	    clock_set_is_told_once_and_the_timer_stays_armed);
	tcase_set_timeout(tcase, 30);
	suite_add_tcase(suite, tcase);
	return suite;
}

int
main(void)
{
	return check_main(timers_suite());
}
