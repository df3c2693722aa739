/* SPDX-License-Identifier: ISC */
/*
 * Names of users.  The name service is this file's getpwuid_r, which hangs
 * for one uid until it is let go; CLOCK_BOOTTIME can be put forward.
 */
#include "config.h"

#include "daemon/names.h"

#include <check.h>
#include <errno.h>
#include <event2/event.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/timestamp.h"
#include "common/xmalloc.h"
#include "tests/check_main.h"

enum {
	UID_ALICE = 1,		/* has a name */
	UID_NOBODY,		/* has none */
	UID_NOBODY_ERROR,	/* has none, said by an error number */
	UID_BROKEN,		/* the service fails */
	UID_LONG,		/* its entry needs a large buffer */
	UID_HANGS		/* answers when it is let go */
};

static atomic_int lookups;		/* calls of the service */
static atomic_int boot_offset_s;	/* added to CLOCK_BOOTTIME */
static int gate[2];			/* a byte lets UID_HANGS go */

int
clock_gettime(clockid_t clock, struct timespec *ts)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, ts);

	if (clock == CLOCK_BOOTTIME)
		ts->tv_sec += atomic_load(&boot_offset_s);
	return rc;
}

int
getpwuid_r(uid_t uid, struct passwd *entry, char *buf, size_t size,
    struct passwd **found)
{
	char c;

	atomic_fetch_add(&lookups, 1);
	memset(entry, 0, sizeof *entry);
	*found = NULL;
	switch (uid) {
	case UID_NOBODY:
		return 0;
	case UID_NOBODY_ERROR:
		return ESRCH;
	case UID_BROKEN:
		return EIO;
	case UID_LONG:
		if (size < 100000)
			return ERANGE;
		break;
	case UID_HANGS:
		if (read(gate[0], &c, 1) < 0)
			return EIO;
		break;
	}
	strcpy(buf, "alice");
	entry->pw_name = buf;
	*found = entry;
	return 0;
}

static struct event_base *base;
static struct names *names;

static void
setup(void)
{
	atomic_store(&lookups, 0);
	atomic_store(&boot_offset_s, 0);
	/* Once: a thread that was left behind goes on reading there. */
	if (gate[1] == 0)
		ck_assert_int_eq(pipe(gate), 0);
	ck_assert_ptr_nonnull(base = event_base_new());
	ck_assert_ptr_nonnull(names = names_new(base));
}

static void
teardown(void)
{
	names_free(names);
	event_base_free(base);
}

struct reply {
	int	n;		/* calls */
	char	name[16];	/* "" for NULL */
	bool	answered;	/* by the service */
};

static void
on_name(void *arg, const char *name, bool answered)
{
	struct reply *r = arg;

	r->n++;
	strcpy(r->name, name != NULL ? name : "");
	r->answered = answered;
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

static void
loop_until(const int *n, int want)
{
	int64_t end = monotime_now().us + 10 * USEC_PER_SEC;
	struct timeval ms = { 0, 1000 };
	struct event *tick = event_new(base, -1, EV_PERSIST, on_tick, NULL);

	ck_assert_int_eq(event_add(tick, &ms), 0);
	while (*n < want) {
		ck_assert(monotime_now().us < end);
		event_base_loop(base, EVLOOP_ONCE);
	}
	event_free(tick);
}

/* What the service says, and how often it is asked for two questions. */
static const struct {
	uid_t		 uid;		/* asked for */
	const char	*name;		/* "" for none */
	bool		 answered;	/* by the service */
	int		 lookups;	/* for two questions in a row */
} rows[] = {
	{ UID_ALICE, "alice", true, 1 },
	{ UID_NOBODY, "", true, 1 },
	{ UID_NOBODY_ERROR, "", true, 1 },
	{ UID_BROKEN, "", false, 2 },
};

START_TEST(answers_are_told_and_kept)
{
	struct reply r = { 0 };

	for (int i = 1; i <= 2; i++) {
		names_of_uid(names, rows[_i].uid, on_name, &r);
		loop_until(&r.n, i);
		ck_assert_str_eq(r.name, rows[_i].name);
		ck_assert_int_eq(r.answered, rows[_i].answered);
	}
	ck_assert_int_eq(lookups, rows[_i].lookups);
}
END_TEST

START_TEST(what_is_kept_is_told_at_once)
{
	struct reply r = { 0 };

	names_of_uid(names, UID_ALICE, on_name, &r);
	ck_assert_int_eq(r.n, 0);
	loop_until(&r.n, 1);
	names_of_uid(names, UID_ALICE, on_name, &r);
	ck_assert_int_eq(r.n, 2);
}
END_TEST

START_TEST(answers_are_kept_for_a_minute)
{
	struct reply r = { 0 };

	names_of_uid(names, UID_ALICE, on_name, &r);
	loop_until(&r.n, 1);
	atomic_store(&boot_offset_s, 59);
	names_of_uid(names, UID_ALICE, on_name, &r);
	ck_assert_int_eq(r.n, 2);
	atomic_store(&boot_offset_s, 61);
	names_of_uid(names, UID_ALICE, on_name, &r);
	ck_assert_int_eq(r.n, 2);
	loop_until(&r.n, 3);
	ck_assert_int_eq(lookups, 2);
}
END_TEST

START_TEST(a_large_entry_is_read_whole)
{
	struct reply r = { 0 };

	names_of_uid(names, UID_LONG, on_name, &r);
	loop_until(&r.n, 1);
	ck_assert_str_eq(r.name, "alice");
}
END_TEST

START_TEST(a_service_that_hangs_is_not_waited_for)
{
	struct reply hung = { 0 }, behind = { 0 }, later = { 0 };
	int64_t begin = monotime_now().us, took;

	names_of_uid(names, UID_HANGS, on_name, &hung);
	names_of_uid(names, UID_ALICE, on_name, &behind);
	loop_until(&hung.n, 1);
	took = monotime_now().us - begin;
	ck_assert_int_ge(took, 1900 * USEC_PER_MSEC);
	ck_assert_int_lt(took, 3 * USEC_PER_SEC);
	ck_assert(!hung.answered);
	loop_until(&behind.n, 1);
	ck_assert(!behind.answered);
	/* It wakes up: nobody is told twice, and the answer is of use. */
	ck_assert_int_eq(write(gate[1], "x", 1), 1);
	names_of_uid(names, UID_NOBODY, on_name, &later);
	loop_until(&later.n, 1);
	ck_assert_int_eq(hung.n, 1);
	ck_assert_int_eq(behind.n, 1);
	names_of_uid(names, UID_HANGS, on_name, &hung);
	ck_assert_int_eq(hung.n, 2);
	ck_assert_str_eq(hung.name, "alice");
}
END_TEST

START_TEST(too_many_questions_are_not_known)
{
	struct reply *r = xcalloc(1, sizeof *r);

	names_of_uid(names, UID_HANGS, on_name, r);
	while (atomic_load(&lookups) == 0)
		usleep(200);
	for (int i = 0; i < 256; i++)
		names_of_uid(names, (uid_t)(1000 + i), on_name, r);
	ck_assert_int_eq(r->n, 0);
	names_of_uid(names, 5000, on_name, r);
	ck_assert_int_eq(r->n, 1);
	ck_assert(!r->answered);
	ck_assert_int_eq(write(gate[1], "x", 1), 1);
	loop_until(&r->n, 258);
	free(r);
}
END_TEST

START_TEST(the_cache_is_bounded)
{
	struct reply r = { 0 };

	for (int i = 0; i < 1025; i++) {
		names_of_uid(names, (uid_t)(1000 + i), on_name, &r);
		loop_until(&r.n, i + 1);
	}
	names_of_uid(names, 2024, on_name, &r);	/* the last is kept */
	ck_assert_int_eq(r.n, 1026);
	names_of_uid(names, 1000, on_name, &r);	/* the first is not */
	ck_assert_int_eq(r.n, 1026);
	loop_until(&r.n, 1027);
}
END_TEST

START_TEST(free_leaves_a_service_that_hangs)
{
	static struct names *left;	/* its thread goes on with it */
	struct reply r = { 0 };
	int64_t begin;

	names_of_uid(names, UID_HANGS, on_name, &r);
	begin = monotime_now().us;
	left = names;
	names_free(left);
	ck_assert_int_lt(monotime_now().us - begin, USEC_PER_SEC);
	ck_assert_int_eq(r.n, 0);
	names = NULL;
}
END_TEST

START_TEST(at_start_the_answer_comes_at_once)
{
	char *name = names_of_uid_now(UID_ALICE);

	ck_assert_str_eq(name, "alice");
	free(name);
	ck_assert_ptr_null(names_of_uid_now(UID_NOBODY));
	ck_assert_ptr_null(names_of_uid_now(UID_BROKEN));
}
END_TEST

Suite *names_suite(void);

Suite *
names_suite(void)
{
	Suite *s = suite_create("names");
	TCase *t = tcase_create("names");

	tcase_set_timeout(t, 30);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, answers_are_told_and_kept, 0,
	    sizeof rows / sizeof *rows);
	tcase_add_test(t, what_is_kept_is_told_at_once);
	tcase_add_test(t, answers_are_kept_for_a_minute);
	tcase_add_test(t, a_large_entry_is_read_whole);
	tcase_add_test(t, a_service_that_hangs_is_not_waited_for);
	tcase_add_test(t, too_many_questions_are_not_known);
	tcase_add_test(t, the_cache_is_bounded);
	tcase_add_test(t, free_leaves_a_service_that_hangs);
	tcase_add_test(t, at_start_the_answer_comes_at_once);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return check_main(names_suite());
}
