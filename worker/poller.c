/* SPDX-License-Identifier: ISC */
/*
 * epoll and one timerfd.  The timer is set only when the instant changes, so
 * a busy round costs one system call, and an idle worker is never woken.
 */
#include "config.h"

#include "worker/poller.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/xmalloc.h"

#define ROUND_MAX	64	/* events of one round */

struct poller {
	int		 epoll_fd;		/* all sources */
	int		 timer_fd;		/* the instant */
	struct monotime	 armed;			/* what the timer is set to */
	struct monotime	 now;			/* when the round began */
	struct epoll_event round[ROUND_MAX];	/* being called */
	int		 n;			/* of them */
	int		 next;			/* not called yet */
};

struct poller *
poller_new(struct error *err)
{
	struct poller *poller = xcalloc(1, sizeof *poller);
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = NULL };

	poller->armed.us = POLLER_NEVER;
	poller->now = monotime_now();
	poller->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	poller->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC |
	    TFD_NONBLOCK);
	if (poller->epoll_fd == -1 || poller->timer_fd == -1 ||
	    epoll_ctl(poller->epoll_fd, EPOLL_CTL_ADD, poller->timer_fd,
	    &event) == -1) {
		error_set_errno(err, errno, "no descriptors to wait with");
		poller_free(poller);
		return NULL;
	}
	return poller;
}

void
poller_free(struct poller *poller)
{
	if (poller == NULL)
		return;
	if (poller->epoll_fd != -1)
		close(poller->epoll_fd);
	if (poller->timer_fd != -1)
		close(poller->timer_fd);
	free(poller);
}

int
poller_set(struct poller *poller, struct source *source, uint32_t events,
    struct error *err)
{
	struct epoll_event event = { .events = events, .data.ptr = source };
	int op = events == 0 ? EPOLL_CTL_DEL : source->events == 0 ?
	    EPOLL_CTL_ADD : EPOLL_CTL_MOD;

	if (events == source->events)
		return 0;
	if (epoll_ctl(poller->epoll_fd, op, source->fd, &event) == -1)
		return error_set_errno(err, errno,
		    "descriptor %d can't be waited for", source->fd);
	source->events = events;
	if (events == 0)
		for (int i = poller->next; i < poller->n; i++)
			if (poller->round[i].data.ptr == source)
				poller->round[i].events = 0;
	return 0;
}

void
poller_remove(struct poller *poller, struct source *source)
{
	/* It is registered and open, so there is nothing to fail. */
	(void)poller_set(poller, source, 0, NULL);
}

static int
arm(struct poller *poller, struct monotime until, struct error *err)
{
	struct itimerspec spec = { 0 };

	if (until.us == poller->armed.us)
		return 0;
	if (until.us != POLLER_NEVER) {
		/* 0 would mean "never" to the timer */
		int64_t us = until.us > 0 ? until.us : 1;

		spec.it_value.tv_sec = us / USEC_PER_SEC;
		spec.it_value.tv_nsec = us % USEC_PER_SEC * 1000;
	}
	if (timerfd_settime(poller->timer_fd, TFD_TIMER_ABSTIME, &spec,
	    NULL) == -1)
		return error_set_errno(err, errno, "the timer can't be set");
	poller->armed = until;
	return 0;
}

static int
timer_fired(struct poller *poller, struct error *err)
{
	uint64_t count;

	if (read(poller->timer_fd, &count, sizeof count) == -1 &&
	    errno != EAGAIN)
		return error_set_errno(err, errno, "the timer can't be read");
	poller->armed.us = POLLER_NEVER;
	return 0;
}

struct monotime
poller_now(const struct poller *poller)
{
	return poller->now;
}

int
poller_run(struct poller *poller, struct monotime until, struct error *err)
{
	if (arm(poller, until, err) == -1)
		return -1;
	poller->n = epoll_wait(poller->epoll_fd, poller->round, ROUND_MAX, -1);
	if (poller->n == -1) {
		poller->n = 0;
		if (errno == EINTR)
			return 0;
		return error_set_errno(err, errno, "waiting failed");
	}
	poller->now = monotime_now();
	for (poller->next = 0; poller->next < poller->n;) {
		struct epoll_event *event = &poller->round[poller->next++];
		struct source *source = event->data.ptr;

		if (source == NULL) {
			if (timer_fired(poller, err) == -1)
				return -1;
		} else if (event->events != 0) {
			source->ready(source, event->events);
		}
	}
	poller->n = poller->next = 0;
	return 0;
}
