/* SPDX-License-Identifier: ISC */
/*
 * Helper threads: order, bounds, the ways they end.  A thread is held up by
 * reading from a pipe; the loop runs until a condition holds, 10 s at most.
 */
#include "config.h"

#include "daemon/helper.h"

#include <check.h>
#include <event2/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/timestamp.h"
#include "common/xmalloc.h"
#include "tests/check_main.h"

#define ROWS 100

struct item {
	struct helper_request	 request;	/* first */
	int			 number;	/* order of submission */
};

struct bench {
	struct event_base	*base;		/* the loop, or NULL */
	struct helper		*helper;	/* under test */
	int			 gate[2];	/* pipe that holds the thread */
	bool			 gated;		/* read a byte in each call */
	int			 wake_ms;	/* ask for a wake-up; -1 */
	bool			 post;		/* post an item in each call */
	atomic_int		 calls;		/* of the work function */
	atomic_int		 empty_calls;	/* of these, without requests */
	atomic_int		 worked;	/* requests seen by it */
	atomic_int		 entered;	/* calls begun */
	int			 done[2 * ROWS]; /* numbers, as completed */
	atomic_int		 n_done;	/* of these */
	bool			 alarm;		/* has gone off */
	bool			 sigterm_blocked; /* in the thread */
};

static void
on_done(struct helper_request *r, void *arg)
{
	struct bench *b = arg;
	struct item *i = (struct item *)(void *)r;

	b->done[atomic_load(&b->n_done)] = i->number;
	atomic_fetch_add(&b->n_done, 1);
	free(i);
}

static struct item *
item_new(struct bench *b, int number)
{
	struct item *i = xcalloc(1, sizeof *i);

	i->request.done = on_done;
	i->request.arg = b;
	i->number = number;
	return i;
}

static void
work(void *state, struct helper_request *chain)
{
	struct bench *b = state;
	sigset_t set;
	char c;

	atomic_fetch_add(&b->entered, 1);
	ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, NULL, &set), 0);
	b->sigterm_blocked = sigismember(&set, SIGTERM) == 1;
	if (b->gated)
		ck_assert_int_ge(read(b->gate[0], &c, 1), 0);
	if (b->post)
		helper_post(b->helper, &item_new(b, -1)->request);
	if (b->wake_ms >= 0)
		helper_wake_after(b->helper, b->wake_ms);
	if (chain == NULL)
		atomic_fetch_add(&b->empty_calls, 1);
	for (; chain != NULL; chain = chain->next)
		atomic_fetch_add(&b->worked, 1);
	atomic_fetch_add(&b->calls, 1);
}

static void
start(struct bench *b, bool loop, size_t bound)
{
	memset(b, 0, sizeof *b);
	b->wake_ms = -1;
	ck_assert_int_eq(pipe(b->gate), 0);
	if (loop)
		ck_assert_ptr_nonnull(b->base = event_base_new());
	b->helper = helper_new("bench", b->base, bound, work, b);
	ck_assert_ptr_nonnull(b->helper);
}

static void
finish(struct bench *b)
{
	helper_free(b->helper);
	close(b->gate[0]);
	close(b->gate[1]);
	if (b->base != NULL)
		event_base_free(b->base);
}

static bool
submit(struct bench *b, int number)
{
	struct item *i = item_new(b, number);

	if (helper_submit(b->helper, &i->request))
		return true;
	free(i);
	return false;
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

/* Turns the loop until *n reaches want. */
static void
loop_until(struct bench *b, atomic_int *n, int want)
{
	int64_t end = monotime_now().us + 10 * USEC_PER_SEC;
	struct timeval ms = { 0, 1000 };
	struct event *tick = event_new(b->base, -1, EV_PERSIST, on_tick, NULL);

	ck_assert_int_eq(event_add(tick, &ms), 0);
	while (atomic_load(n) < want) {
		ck_assert(monotime_now().us < end);
		event_base_loop(b->base, EVLOOP_ONCE);
	}
	event_free(tick);
}

/* Without a loop: until the other threads have got there. */
static void
wait_until(atomic_int *n, int want)
{
	int64_t end = monotime_now().us + 10 * USEC_PER_SEC;

	while (atomic_load(n) < want) {
		ck_assert(monotime_now().us < end);
		usleep(200);
	}
}

START_TEST(completions_come_in_the_order_of_requests)
{
	struct bench b;

	start(&b, true, ROWS);
	for (int i = 0; i < ROWS; i++)
		ck_assert(submit(&b, i));
	loop_until(&b, &b.n_done, ROWS);
	for (int i = 0; i < ROWS; i++)
		ck_assert_int_eq(b.done[i], i);
	ck_assert_uint_eq(helper_pending(b.helper), 0);
	finish(&b);
}
END_TEST

START_TEST(requests_that_wait_together_are_one_call)
{
	struct bench b;

	start(&b, true, ROWS);
	b.gated = true;
	ck_assert(submit(&b, 0));
	loop_until(&b, &b.entered, 1);
	for (int i = 1; i <= 10; i++)
		ck_assert(submit(&b, i));
	ck_assert_int_eq(write(b.gate[1], "xx", 2), 2);
	loop_until(&b, &b.n_done, 11);
	ck_assert_int_eq(atomic_load(&b.calls), 2);
	finish(&b);
}
END_TEST

START_TEST(a_full_queue_refuses_and_counts_what_is_in_work)
{
	struct bench b;

	start(&b, true, 3);
	b.gated = true;
	ck_assert(submit(&b, 0));
	loop_until(&b, &b.entered, 1);
	ck_assert(submit(&b, 1));
	ck_assert(helper_has_room(b.helper));
	ck_assert(submit(&b, 2));
	ck_assert(!helper_has_room(b.helper));
	ck_assert(submit(&b, 3));
	ck_assert(!submit(&b, 4));
	ck_assert_uint_eq(helper_pending(b.helper), 4);
	ck_assert_int_eq(write(b.gate[1], "xx", 2), 2);
	loop_until(&b, &b.n_done, 4);
	ck_assert(submit(&b, 5));
	ck_assert_int_eq(write(b.gate[1], "x", 1), 1);
	finish(&b);
}
END_TEST

START_TEST(free_works_off_and_completes_what_is_queued)
{
	struct bench b;

	start(&b, true, ROWS);
	for (int i = 0; i < ROWS; i++)
		ck_assert(submit(&b, i));
	finish(&b);
	ck_assert_int_eq(b.n_done, ROWS);
	ck_assert_int_eq(b.done[ROWS - 1], ROWS - 1);
}
END_TEST

START_TEST(free_accepts_null)
{
	helper_free(NULL);
	ck_assert(helper_free_within(NULL, 0));
}
END_TEST

START_TEST(signals_are_blocked_in_the_thread_only)
{
	struct bench b;
	sigset_t set;

	start(&b, true, 1);
	ck_assert(submit(&b, 0));
	loop_until(&b, &b.n_done, 1);
	ck_assert(b.sigterm_blocked);
	ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, NULL, &set), 0);
	ck_assert_int_eq(sigismember(&set, SIGTERM), 0);
	finish(&b);
}
END_TEST

START_TEST(wake_after_calls_without_requests)
{
	struct bench b;

	start(&b, true, 1);
	b.wake_ms = 1;
	ck_assert(submit(&b, 0));
	loop_until(&b, &b.empty_calls, 3);
	finish(&b);
}
END_TEST

START_TEST(wake_after_holds_for_one_call)
{
	struct bench b;
	int calls;

	start(&b, true, 1);
	b.wake_ms = 1;
	ck_assert(submit(&b, 0));
	loop_until(&b, &b.empty_calls, 1);
	helper_free(b.helper);
	b.helper = helper_new("bench", b.base, 1, work, &b);
	b.wake_ms = -1;
	calls = b.empty_calls;
	ck_assert(submit(&b, 1));
	loop_until(&b, &b.n_done, 2);
	ck_assert_int_eq(b.empty_calls, calls);
	finish(&b);
}
END_TEST

START_TEST(a_posted_completion_comes_before_those_of_the_chain)
{
	struct bench b;

	start(&b, true, 1);
	b.post = true;
	ck_assert(submit(&b, 7));
	loop_until(&b, &b.n_done, 2);
	ck_assert_int_eq(b.done[0], -1);
	ck_assert_int_eq(b.done[1], 7);
	ck_assert_uint_eq(helper_pending(b.helper), 0);
	finish(&b);
}
END_TEST

START_TEST(without_a_loop_the_thread_completes)
{
	struct bench b;

	start(&b, false, ROWS);
	for (int i = 0; i < ROWS; i++)
		ck_assert(submit(&b, i));
	wait_until(&b.n_done, ROWS);
	for (int i = 0; i < ROWS; i++)
		ck_assert_int_eq(b.done[i], i);
	finish(&b);
}
END_TEST

static void *
submit_many(void *arg)
{
	struct bench *b = arg;

	for (int i = 0; i < ROWS / 4; i++)
		while (!submit(b, i))
			usleep(100);
	return NULL;
}

START_TEST(without_a_loop_any_thread_may_submit)
{
	struct bench b;
	pthread_t threads[4];

	start(&b, false, 5);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL,
		    submit_many, &b), 0);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	wait_until(&b.n_done, ROWS);
	ck_assert_int_eq(b.worked, ROWS);
	finish(&b);
}
END_TEST

START_TEST(free_within_ends_an_idle_thread)
{
	struct bench b;

	start(&b, true, 1);
	ck_assert(submit(&b, 0));
	ck_assert(helper_free_within(b.helper, 5000));
	ck_assert_int_eq(b.n_done, 1);
	b.helper = NULL;
	finish(&b);
}
END_TEST

START_TEST(free_within_leaves_a_thread_that_hangs)
{
	static struct bench *b;	/* the thread goes on with it */
	int64_t before;

	b = xcalloc(1, sizeof *b);
	start(b, true, 1);
	b->gated = true;
	ck_assert(submit(b, 0));
	loop_until(b, &b->entered, 1);
	before = monotime_now().us;
	ck_assert(!helper_free_within(b->helper, 20));
	ck_assert_int_ge(monotime_now().us - before, 20 * USEC_PER_MSEC);
	ck_assert_int_eq(b->n_done, 0);
	/* The thread keeps what it uses; let it go on to its end. */
	ck_assert_int_eq(write(b->gate[1], "x", 1), 1);
	wait_until(&b->calls, 1);
	event_base_free(b->base);
}
END_TEST

static void
on_alarm(void *arg)
{
	struct bench *b = arg;

	b->alarm = true;
	atomic_fetch_add(&b->n_done, 1);
}

START_TEST(the_alarm_goes_off_once)
{
	struct bench b;

	start(&b, true, 1);
	helper_set_alarm(b.helper, 5, on_alarm, &b);
	loop_until(&b, &b.n_done, 1);
	ck_assert(b.alarm);
	finish(&b);
	ck_assert_int_eq(b.n_done, 1);
}
END_TEST

START_TEST(an_alarm_taken_away_stays_silent)
{
	struct bench b;

	start(&b, true, 1);
	helper_set_alarm(b.helper, 0, on_alarm, &b);
	helper_set_alarm(b.helper, -1, on_alarm, &b);
	ck_assert(submit(&b, 0));
	loop_until(&b, &b.n_done, 1);
	ck_assert(!b.alarm);
	finish(&b);
}
END_TEST

Suite *helper_suite(void);

Suite *
helper_suite(void)
{
	Suite *s = suite_create("helper");
	TCase *t = tcase_create("helper");

	tcase_set_timeout(t, 30);
	tcase_add_test(t, completions_come_in_the_order_of_requests);
	tcase_add_test(t, requests_that_wait_together_are_one_call);
	tcase_add_test(t, a_full_queue_refuses_and_counts_what_is_in_work);
	tcase_add_test(t, free_works_off_and_completes_what_is_queued);
	tcase_add_test(t, free_accepts_null);
	tcase_add_test(t, signals_are_blocked_in_the_thread_only);
	tcase_add_test(t, wake_after_calls_without_requests);
	tcase_add_test(t, wake_after_holds_for_one_call);
	tcase_add_test(t, a_posted_completion_comes_before_those_of_the_chain);
	tcase_add_test(t, without_a_loop_the_thread_completes);
	tcase_add_test(t, without_a_loop_any_thread_may_submit);
	tcase_add_test(t, free_within_ends_an_idle_thread);
	tcase_add_test(t, free_within_leaves_a_thread_that_hangs);
	tcase_add_test(t, the_alarm_goes_off_once);
	tcase_add_test(t, an_alarm_taken_away_stays_silent);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return check_main(helper_suite());
}
