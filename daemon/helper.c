/* SPDX-License-Identifier: ISC */
/*
 * Helper threads: the only users of threads and locks in the daemon.
 *
 * A helper has one mutex, which guards the fields named below it and is held
 * for a few instructions only, never over a call of the work function or of
 * a completion.  The thread sleeps on a condition variable, the loop on an
 * eventfd; neither wakes while nothing is submitted.
 *
 * Invariants: a request is in exactly one place: the queue, the thread's
 * chain, or the completed queue.  pending counts all three.  Requests leave
 * in the order they came; those of helper_post go before the chain in work.
 *
 * Cost: one wake-up of the thread and one of the loop for all requests that
 * come together.
 */
#include "config.h"

#include "daemon/helper.h"

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "common/timestamp.h"
#include "common/xmalloc.h"

#define NAME_MAX_LENGTH	16	/* pthread_setname_np(3), with the NUL */
#define NEVER		INT64_MAX

struct chain {
	struct helper_request	*head;	/* oldest, or NULL */
	struct helper_request	**tail;	/* where the next one goes */
};

struct helper {
	char			 name[NAME_MAX_LENGTH];	/* of the thread */
	size_t			 max_queue;	/* bound of n_queued */
	helper_work_fn		*work;		/* the work */
	void			*state;		/* its first argument */
	pthread_t		 thread;	/* the thread */
	int			 wakeup;	/* eventfd, -1 without a loop */
	struct event		*event;		/* on wakeup; loop only */
	struct event		*alarm;		/* helper_set_alarm; loop only */
	void			(*alarm_fn)(void *); /* loop only */
	void			*alarm_arg;	/* loop only */
	int64_t			 wake_at;	/* monotime, us; thread only */

	/* Guards everything below. */
	pthread_mutex_t		 lock;
	pthread_cond_t		 changed;	/* queue, stopping or ended */
	struct chain		 queue;		/* waiting requests */
	size_t			 n_queued;	/* of these */
	struct chain		 completed;	/* worked off, done not called */
	size_t			 pending;	/* submitted, done not called */
	char			 at[HELPER_AT_MAX]; /* see helper_at */
	bool			 stopping;	/* end when queue is empty */
	bool			 ended;		/* the thread has nothing more
						 * to do */
};

static void
chain_init(struct chain *c)
{
	c->head = NULL;
	c->tail = &c->head;
}

static void
chain_add(struct chain *c, struct helper_request *r)
{
	r->next = NULL;
	*c->tail = r;
	c->tail = &r->next;
}

/* Moves everything of from behind what is in to. */
static void
chain_join(struct chain *to, struct chain *from)
{
	if (from->head == NULL)
		return;
	*to->tail = from->head;
	to->tail = from->tail;
	chain_init(from);
}

static void
lock(struct helper *h)
{
	if (pthread_mutex_lock(&h->lock) != 0)
		abort();	/* only a bug of ours gets here */
}

static void
unlock(struct helper *h)
{
	if (pthread_mutex_unlock(&h->lock) != 0)
		abort();
}

static void
wake_loop(struct helper *h)
{
	uint64_t one = 1;
	ssize_t n;

	if (h->wakeup < 0)
		return;
	do {
		n = write(h->wakeup, &one, sizeof one);
	} while (n < 0 && errno == EINTR);
	/* EAGAIN: the counter is full, so the loop is awake already. */
	if (n < 0 && errno != EAGAIN)
		log_error("helper", "%s: can't wake the loop: %s", h->name,
		    strerrordesc_np(errno));
}

static void
deadline(struct timespec *ts, int64_t monotonic_us)
{
	ts->tv_sec = monotonic_us / USEC_PER_SEC;
	ts->tv_nsec = monotonic_us % USEC_PER_SEC * 1000;
}

/* Waits for requests, the end, or the time of helper_wake_after. */
static void
wait_for_work(struct helper *h)
{
	struct timespec until;

	while (h->queue.head == NULL && !h->stopping) {
		if (h->wake_at == NEVER) {
			pthread_cond_wait(&h->changed, &h->lock);
			continue;
		}
		deadline(&until, h->wake_at);
		if (pthread_cond_timedwait(&h->changed, &h->lock,
		    &until) == ETIMEDOUT)
			return;
	}
}

/* Calls done of each; without a loop, on the thread. */
static size_t
complete(struct chain *c)
{
	struct helper_request *next;
	size_t n = 0;

	for (struct helper_request *r = c->head; r != NULL; r = next, n++) {
		next = r->next;
		if (r->done != NULL)
			r->done(r, r->arg);
	}
	chain_init(c);
	return n;
}

static void *
run(void *arg)
{
	struct helper *h = arg;
	struct chain work;
	size_t n;

	chain_init(&work);
	lock(h);
	for (;;) {
		wait_for_work(h);
		if (h->queue.head == NULL && h->stopping)
			break;
		chain_join(&work, &h->queue);
		h->n_queued = 0;
		unlock(h);
		h->wake_at = NEVER;
		h->work(h->state, work.head);
		n = h->wakeup < 0 ? complete(&work) : 0;
		lock(h);
		h->pending -= n;
		chain_join(&h->completed, &work);
		if (h->completed.head != NULL)
			wake_loop(h);
	}
	h->ended = true;
	pthread_cond_signal(&h->changed);
	unlock(h);
	return NULL;
}

/* Runs what is completed by now. */
static void
run_completions(struct helper *h)
{
	struct chain c;
	struct helper_request *next;

	chain_init(&c);
	lock(h);
	chain_join(&c, &h->completed);
	for (struct helper_request *r = c.head; r != NULL; r = r->next)
		h->pending--;
	unlock(h);
	for (struct helper_request *r = c.head; r != NULL; r = next) {
		next = r->next;
		if (r->done != NULL)
			r->done(r, r->arg);
	}
}

static void
on_wakeup(evutil_socket_t fd, short what, void *arg)
{
	struct helper *h = arg;
	uint64_t count;

	(void)what;
	if (read(fd, &count, sizeof count) < 0 && errno != EAGAIN &&
	    errno != EINTR)
		log_error("helper", "%s: can't read the wake-up: %s", h->name,
		    strerrordesc_np(errno));
	run_completions(h);
}

static void
on_alarm(evutil_socket_t fd, short what, void *arg)
{
	struct helper *h = arg;

	(void)fd;
	(void)what;
	h->alarm_fn(h->alarm_arg);
}

/* The descriptor and the events of a helper with a loop. */
static int
connect_loop(struct helper *h, struct event_base *base)
{
	h->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (h->wakeup < 0) {
		log_error("helper", "%s: no eventfd: %s", h->name,
		    strerrordesc_np(errno));
		return -1;
	}
	h->event = event_new(base, h->wakeup, EV_READ | EV_PERSIST, on_wakeup,
	    h);
	h->alarm = evtimer_new(base, on_alarm, h);
	if (h->event == NULL || h->alarm == NULL ||
	    event_add(h->event, NULL) != 0) {
		log_error("helper", "%s: libevent refuses its events",
		    h->name);
		return -1;
	}
	return 0;
}

static void
disconnect_loop(struct helper *h)
{
	if (h->event != NULL)
		event_free(h->event);
	if (h->alarm != NULL)
		event_free(h->alarm);
	h->event = h->alarm = NULL;
}

static void
destroy(struct helper *h)
{
	disconnect_loop(h);
	if (h->wakeup >= 0 && close(h->wakeup) != 0)
		log_error("helper", "%s: close: %s", h->name,
		    strerrordesc_np(errno));
	pthread_cond_destroy(&h->changed);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

/*
 * Starts the thread with all signals blocked, so that the loop alone gets
 * them; those that a fault raises stay as they are.
 */
static int
start_thread(struct helper *h)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGABRT);
	if ((rc = pthread_sigmask(SIG_SETMASK, &all, &old)) != 0)
		return rc;
	rc = pthread_create(&h->thread, NULL, run, h);
	if (pthread_sigmask(SIG_SETMASK, &old, NULL) != 0)
		abort();
	/* The name is for ps and debuggers; without it nothing is lost. */
	if (rc == 0 && pthread_setname_np(h->thread, h->name) != 0)
		log_debug("helper", "%s: the thread has no name", h->name);
	return rc;
}

struct helper *
helper_new(const char *name, struct event_base *base, size_t max_queue,
    helper_work_fn *work, void *state)
{
	struct helper *h = xcalloc(1, sizeof *h);
	pthread_condattr_t attr;
	int rc;

	strncpy(h->name, name, sizeof h->name - 1);
	h->max_queue = max_queue;
	h->work = work;
	h->state = state;
	h->wakeup = -1;
	h->wake_at = NEVER;
	chain_init(&h->queue);
	chain_init(&h->completed);
	if (pthread_condattr_init(&attr) != 0 ||
	    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) != 0 ||
	    pthread_cond_init(&h->changed, &attr) != 0 ||
	    pthread_mutex_init(&h->lock, NULL) != 0)
		abort();	/* glibc's can't fail with these arguments */
	pthread_condattr_destroy(&attr);
	if (base != NULL && connect_loop(h, base) != 0) {
		destroy(h);
		return NULL;
	}
	if ((rc = start_thread(h)) != 0) {
		log_error("helper", "%s: no thread: %s", h->name,
		    strerrordesc_np(rc));
		destroy(h);
		return NULL;
	}
	return h;
}

bool
helper_submit(struct helper *h, struct helper_request *r)
{
	bool room;

	lock(h);
	room = h->n_queued < h->max_queue;
	if (room) {
		chain_add(&h->queue, r);
		h->n_queued++;
		h->pending++;
		pthread_cond_signal(&h->changed);
	}
	unlock(h);
	return room;
}

size_t
helper_pending(struct helper *h)
{
	size_t n;

	lock(h);
	n = h->pending;
	unlock(h);
	return n;
}

bool
helper_has_room(struct helper *h)
{
	return helper_pending(h) < h->max_queue;
}

static void
tell_to_stop(struct helper *h)
{
	lock(h);
	h->stopping = true;
	pthread_cond_signal(&h->changed);
	unlock(h);
}

void
helper_free(struct helper *h)
{
	if (h == NULL)
		return;
	tell_to_stop(h);
	if (pthread_join(h->thread, NULL) != 0)
		abort();
	run_completions(h);
	destroy(h);
}

bool
helper_free_within(struct helper *h, int timeout_ms)
{
	struct timespec until;
	bool ended;

	if (h == NULL)
		return true;
	tell_to_stop(h);
	deadline(&until, monotime_now().us + timeout_ms * USEC_PER_MSEC);
	lock(h);
	while (!h->ended && pthread_cond_timedwait(&h->changed, &h->lock,
	    &until) != ETIMEDOUT)
		;
	ended = h->ended;
	unlock(h);
	if (!ended) {
		pthread_detach(h->thread);
		disconnect_loop(h);
		return false;
	}
	helper_free(h);
	return true;
}

void
helper_wake_after(struct helper *h, int delay_ms)
{
	h->wake_at = monotime_now().us + delay_ms * USEC_PER_MSEC;
}

void
helper_post(struct helper *h, struct helper_request *r)
{
	lock(h);
	h->pending++;
	chain_add(&h->completed, r);
	unlock(h);
	wake_loop(h);
}

void
helper_at(struct helper *h, const char *what)
{
	size_t len = strnlen(what, sizeof h->at - 1);

	lock(h);
	memcpy(h->at, what, len);
	h->at[len] = '\0';
	unlock(h);
}

void
helper_whereabouts(struct helper *h, char what[HELPER_AT_MAX])
{
	lock(h);
	memcpy(what, h->at, sizeof h->at);
	unlock(h);
}

void
helper_set_alarm(struct helper *h, int delay_ms, void (*fn)(void *),
    void *arg)
{
	struct timeval delay;

	if (evtimer_del(h->alarm) != 0)
		log_error("helper", "%s: libevent keeps its alarm", h->name);
	h->alarm_fn = fn;
	h->alarm_arg = arg;
	if (delay_ms < 0)
		return;
	delay.tv_sec = delay_ms / 1000;
	delay.tv_usec = delay_ms % 1000 * 1000;
	if (evtimer_add(h->alarm, &delay) != 0)
		log_error("helper", "%s: libevent refuses its alarm", h->name);
}
