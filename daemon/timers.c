/* SPDX-License-Identifier: ISC */
/*
 * The two timerfds.  libevent only watches the descriptors: its own timers
 * run on the monotonic clock, milliseconds late, and know nothing of steps.
 *
 * The wall timer is always armed, for the far future if nothing is due: a
 * disarmed one is not cancelled by clock_settime(2), and a step would tell
 * nothing.  After a cancellation the kernel does not promise that the timer
 * still runs, so it is armed again at once; whether that is still the right
 * instant is for the turn to say, which follows anyway.
 *
 * Arming costs one system call, none when the instant is the one armed and
 * has not fired.
 */
#include "config.h"

#include "daemon/timers.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/log.h"
#include "common/xmalloc.h"

/*
 * The kernel counts nanoseconds in 64 bits, which end in 2262, and lets no
 * clock be set past 2232: nobody sees this instant, in the year 2255.
 */
#define FAR_FUTURE_US	(INT64_C(9000000000) * USEC_PER_SEC)
/* Zero would disarm, and nothing before 1970 can be waited for. */
#define FIRST_US	INT64_C(1)
#define UNKNOWN		INT64_MIN	/* armed_us: to be armed in any case */

struct timer {
	int		 fd;		/* timerfd */
	int		 flags;		/* for timerfd_settime */
	struct event	*event;		/* its readability */
	int64_t		 armed_us;	/* instant asked for, TIMERS_NEVER,
					 * or UNKNOWN */
	bool		 was_cancelled;	/* the clock was set */
};

struct timers {
	struct timer	 wall;		/* CLOCK_REALTIME, cancelled on set */
	struct timer	 boot;		/* CLOCK_BOOTTIME */
};

static void
timer_release(struct timer *timer)
{
	if (timer->event != NULL)
		event_free(timer->event);
	if (timer->fd >= 0)
		close(timer->fd);
}

static int
set_time(const struct timer *timer, int64_t us)
{
	struct itimerspec when = { { 0, 0 }, { 0, 0 } };

	when.it_value.tv_sec = us / USEC_PER_SEC;
	when.it_value.tv_nsec = us % USEC_PER_SEC * 1000;
	return timerfd_settime(timer->fd, timer->flags, &when, NULL);
}

/* What is given to the kernel for an instant; 0 disarms. */
static int64_t
kernel_instant(const struct timer *timer, int64_t us)
{
	if (us == TIMERS_NEVER && !(timer->flags & TFD_TIMER_CANCEL_ON_SET))
		return 0;
	if (us > FAR_FUTURE_US)
		return FAR_FUTURE_US;
	return us < FIRST_US ? FIRST_US : us;
}

/*
 * A clock that was set since the last call makes timerfd_settime fail with
 * ECANCELED though the timer is armed; it is armed once more, to be sure.
 */
static int
timer_arm(struct timer *timer, int64_t us, struct error *err)
{
	int64_t instant = kernel_instant(timer, us);

	if (timer->armed_us == us)
		return 0;
	for (int tries = 0; tries < 2; tries++) {
		if (set_time(timer, instant) == 0)
			break;
		if (errno != ECANCELED) {
			timer->armed_us = UNKNOWN;
			return error_set_errno(err, errno,
			    "a timer could not be armed for %lld us",
			    (long long)us);
		}
		timer->was_cancelled = true;
	}
	timer->armed_us = us;
	return 0;
}

/* The clock was set: said once, and the timer goes on waiting. */
static void
timer_cancelled(struct timer *timer)
{
	int64_t us = timer->armed_us;
	struct error err;

	timer->was_cancelled = true;
	timer->armed_us = UNKNOWN;
	if (us != UNKNOWN && timer_arm(timer, us, &err) != 0)
		log_error("timers", "%s", err.text);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct timer *timer = arg;
	uint64_t times;
	ssize_t n = read(fd, &times, sizeof(times));

	(void)what;
	if (n == (ssize_t)sizeof(times))
		timer->armed_us = UNKNOWN;
	else if (n < 0 && errno == ECANCELED)
		timer_cancelled(timer);
	else if (n >= 0 || (errno != EAGAIN && errno != EINTR))
		log_error("timers", "a timer could not be read: %s",
		    n < 0 ? strerror(errno) : "it gave too little");
}

static int
timer_init(struct timer *timer, struct event_base *base, int clock, int flags,
    struct error *err)
{
	timer->event = NULL;
	timer->flags = flags;
	timer->armed_us = UNKNOWN;
	timer->was_cancelled = false;
	timer->fd = timerfd_create(clock, TFD_NONBLOCK | TFD_CLOEXEC);
	if (timer->fd < 0)
		return error_set_errno(err, errno,
		    "a timer could not be made");
	timer->event = event_new(base, timer->fd, EV_READ | EV_PERSIST,
	    on_timer, timer);
	if (timer->event == NULL || event_add(timer->event, NULL) != 0)
		return error_set(err, "the event library takes no timer");
	return timer_arm(timer, TIMERS_NEVER, err);
}

struct timers *
timers_new(struct event_base *base, struct error *err)
{
	struct timers *timers = xcalloc(1, sizeof(*timers));

	timers->wall.fd = timers->boot.fd = -1;
	if (timer_init(&timers->wall, base, CLOCK_REALTIME,
	    TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, err) != 0 ||
	    timer_init(&timers->boot, base, CLOCK_BOOTTIME,
	    TFD_TIMER_ABSTIME, err) != 0) {
		timers_free(timers);
		return NULL;
	}
	return timers;
}

void
timers_free(struct timers *timers)
{
	if (timers == NULL)
		return;
	timer_release(&timers->wall);
	timer_release(&timers->boot);
	free(timers);
}

int
timers_arm_wall(struct timers *timers, int64_t wall_us, struct error *err)
{
	return timer_arm(&timers->wall, wall_us, err);
}

int
timers_arm_boot(struct timers *timers, int64_t boot_us, struct error *err)
{
	return timer_arm(&timers->boot, boot_us, err);
}

bool
timers_clock_was_set(struct timers *timers)
{
	bool was = timers->wall.was_cancelled;

	timers->wall.was_cancelled = false;
	return was;
}
