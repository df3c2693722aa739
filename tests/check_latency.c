/* SPDX-License-Identifier: ISC */
/* Percentiles against values put in by hand; at most 12.5 % high. */
#include "config.h"

#include <check.h>

#include "daemon/latency.h"
#include "tests/check_main.h"

START_TEST(nothing_added_has_no_percentile)
{
	const struct latency l = { .total = 0 };

	ck_assert_int_eq(latency_percentile(&l, 50), -1);
}
END_TEST

START_TEST(percentiles_of_one_to_a_hundred)
{
	struct latency l = { .total = 0 };

	for (int64_t ms = 1; ms <= 100; ms++)
		latency_add(&l, ms * 1000);
	ck_assert_int_ge(latency_percentile(&l, 50), 50000);
	ck_assert_int_le(latency_percentile(&l, 50), 56250);
	ck_assert_int_ge(latency_percentile(&l, 99), 99000);
	ck_assert_int_le(latency_percentile(&l, 99), 100000);
	ck_assert_int_eq(l.max, 100000);
}
END_TEST

START_TEST(extremes_have_their_buckets)
{
	struct latency l = { .total = 0 };

	latency_add(&l, -5);
	ck_assert_int_eq(latency_percentile(&l, 100), 0);
	latency_add(&l, INT64_MAX);
	ck_assert_int_eq(latency_percentile(&l, 100), INT64_MAX);
}
END_TEST

static Suite *
latency_suite(void)
{
	Suite *s = suite_create("latency");
	TCase *tc = tcase_create("latency");

	tcase_add_test(tc, nothing_added_has_no_percentile);
	tcase_add_test(tc, percentiles_of_one_to_a_hundred);
	tcase_add_test(tc, extremes_have_their_buckets);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return check_main(latency_suite());
}
