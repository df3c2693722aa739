/* SPDX-License-Identifier: ISC */
/* Rules of semantics.md 3 to 5, row by row, worked out by hand. */
#include "config.h"

#include <check.h>

#include "common/timestamp.h"
#include "daemon/policy.h"
#include "daemon/store.h"
#include "tests/check_main.h"

#define ROWS(t) (sizeof (t) / sizeof (t)[0])

/* Step 11: free = fewer than max_running live and none waiting. */
static const struct {
	int			 overlap;
	int64_t			 max_running;
	size_t			 runs, waiting;
	enum policy_action	 want;
} overlap_rows[] = {
	{ OVERLAP_SKIP, 1, 0, 0, POLICY_START },
	{ OVERLAP_SKIP, 1, 1, 0, POLICY_SKIP_OVERLAP },
	{ OVERLAP_SKIP, 1, 0, 1, POLICY_SKIP_OVERLAP },
	{ OVERLAP_SKIP, 2, 1, 0, POLICY_START },
	{ OVERLAP_SKIP, 2, 2, 0, POLICY_SKIP_OVERLAP },
	{ OVERLAP_QUEUE, 1, 0, 0, POLICY_START },
	{ OVERLAP_QUEUE, 1, 1, 0, POLICY_WAIT },
	{ OVERLAP_QUEUE, 1, 1, 1, POLICY_SKIP_QUEUE_FULL },
	{ OVERLAP_QUEUE, 1, 0, 1, POLICY_SKIP_QUEUE_FULL },
	{ OVERLAP_QUEUE_ALL, 1, 1, 1, POLICY_WAIT },
	{ OVERLAP_QUEUE_ALL, 1, 1, 999, POLICY_WAIT },
	{ OVERLAP_QUEUE_ALL, 1, 1, 1000, POLICY_SKIP_QUEUE_FULL },
	{ OVERLAP_REPLACE, 1, 0, 0, POLICY_START },
	{ OVERLAP_REPLACE, 1, 1, 0, POLICY_REPLACE },
	{ OVERLAP_REPLACE, 1, 1, 1, POLICY_REPLACE },
	{ OVERLAP_ALLOW, 16, 15, 0, POLICY_START },
	{ OVERLAP_ALLOW, 16, 16, 0, POLICY_SKIP_OVERLAP },
};

START_TEST(overlap_follows_the_table)
{
	const enum policy_action got = policy_overlap(
	    overlap_rows[_i].overlap, overlap_rows[_i].max_running,
	    overlap_rows[_i].runs, overlap_rows[_i].waiting);

	ck_assert_msg(got == overlap_rows[_i].want, "row %d: %s, want %s", _i,
	    policy_action_name(got),
	    policy_action_name(overlap_rows[_i].want));
}
END_TEST

START_TEST(lateness_is_inclusive_and_may_have_no_limit)
{
	ck_assert(!policy_is_too_late(0, 60 * USEC_PER_SEC, 60000));
	ck_assert(policy_is_too_late(0, 60 * USEC_PER_SEC + 1000, 60000));
	ck_assert(!policy_is_too_late(0, INT64_MAX, -1));
	ck_assert(!policy_is_too_late(USEC_PER_SEC, 0, 0));
}
END_TEST

/* Rank: down, then the others in their order (section 4). */
static const struct policy_gap gaps[] = {
	{ 100, 200, REASON_DAEMON_DOWN },
	{ 150, 300, REASON_SUSPENDED },
	{ 290, 400, REASON_CLOCK_STEPPED },
};
static const struct {
	int64_t	at;
	int	cause;
	int64_t	until;
} cause_rows[] = {
	{ 50, REASON_OVERLOAD, 100 },
	{ 100, REASON_OVERLOAD, 100 },	/* from is exclusive */
	{ 101, REASON_DAEMON_DOWN, 200 },
	{ 160, REASON_DAEMON_DOWN, 200 },	/* the higher rank wins */
	{ 200, REASON_DAEMON_DOWN, 200 },	/* to is inclusive */
	{ 201, REASON_SUSPENDED, 300 },
	{ 295, REASON_SUSPENDED, 300 },
	{ 301, REASON_CLOCK_STEPPED, 400 },
	{ 401, REASON_OVERLOAD, INT64_MAX },
};

START_TEST(first_fitting_gap_is_the_cause)
{
	int64_t until = 0;

	ck_assert_int_eq(policy_missed_cause(gaps, ROWS(gaps),
	    cause_rows[_i].at, REASON_OVERLOAD, &until),
	    cause_rows[_i].cause);
	ck_assert_int_eq(until, cause_rows[_i].until);
}
END_TEST

START_TEST(lower_rank_ends_where_a_higher_one_begins)
{
	static const struct policy_gap two[] = {
		{ 500, 600, REASON_DAEMON_DOWN },
		{ 400, 700, REASON_SUSPENDED },
	};
	int64_t until = 0;

	ck_assert_int_eq(policy_missed_cause(two, ROWS(two), 450,
	    REASON_OVERLOAD, &until), REASON_SUSPENDED);
	ck_assert_int_eq(until, 500);
}
END_TEST

START_TEST(warns_at_the_third_and_each_tenfold)
{
	static const int64_t yes[] = { 3, 30, 300, 3000 };
	static const int64_t no[] = { 0, 1, 2, 4, 10, 29, 31, 100, 299 };

	for (size_t i = 0; i < ROWS(yes); i++)
		ck_assert(policy_warns_at(yes[i]));
	for (size_t i = 0; i < ROWS(no); i++)
		ck_assert(!policy_warns_at(no[i]));
}
END_TEST

/* Section 5: at least 0.9 of the distance to the instant before. */
START_TEST(due_again_after_nine_tenths_of_the_period)
{
	ck_assert(!policy_is_due_again(539999999, 600));
	ck_assert(policy_is_due_again(540000000, 600));
	ck_assert(!policy_is_due_again(500000, 1));
	ck_assert(policy_is_due_again(900000, 1));
}
END_TEST

static Suite *
policy_suite(void)
{
	Suite *s = suite_create("policy");
	TCase *tc = tcase_create("policy");

	tcase_add_loop_test(tc, overlap_follows_the_table, 0,
	    (int)ROWS(overlap_rows));
	tcase_add_test(tc, lateness_is_inclusive_and_may_have_no_limit);
	tcase_add_loop_test(tc, first_fitting_gap_is_the_cause, 0,
	    (int)ROWS(cause_rows));
	tcase_add_test(tc, lower_rank_ends_where_a_higher_one_begins);
	tcase_add_test(tc, warns_at_the_third_and_each_tenfold);
	tcase_add_test(tc, due_again_after_nine_tenths_of_the_period);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return check_main(policy_suite());
}
