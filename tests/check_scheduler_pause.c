/* SPDX-License-Identifier: ISC */
/* Pauses by semantics.md 3, steps 5 and 6, in simulation. */
#include "config.h"

#include <check.h>

#include "tests/check_main.h"
#include "tests/support/simulation.h"

/* Monday 2026-11-30 00:00:00 UTC. */
#define T0	INT64_C(1795996800)
#define MINUTELY "schedule = * * * * *\noverlap = allow"
#define LEDGER(sim, job, want) ck_assert_str_eq(sim_ledger(sim, job), want)

static void
pause_until_s(struct sim *sim, const char *name, int64_t until_s)
{
	const struct pause_row row = {
		.until = until_s == INT64_MAX ? INT64_MAX :
		    until_s * USEC_PER_SEC,
		.by_uid = 1000,
		.note = (char []){ "office closed" },
	};

	scheduler_pause(sim->scheduler, name != NULL ? sim_job(sim, name) :
	    NULL, &row);
	sim_tick(sim);
}

static void
skip_next(struct sim *sim, const char *name, int64_t n)
{
	const struct pause_row row = {
		.until = INT64_MAX, .skip = n, .by_uid = 0
	};

	scheduler_pause(sim->scheduler, sim_job(sim, name), &row);
	sim_tick(sim);
}

START_TEST(paused_stretch_is_decided_at_resume)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", MINUTELY, NULL);
	sim_run_to(sim, T0 + 90);
	pause_until_s(sim, "a", INT64_MAX);
	ck_assert_int_eq(scheduler_next_wake(sim->scheduler), INT64_MAX);
	sim_run_to(sim, T0 + 270);
	ck_assert_uint_eq(sim->n_starts, 1);
	ck_assert_ptr_nonnull(scheduler_pause_of(sim->scheduler,
	    sim_job(sim, "a")));
	ck_assert(scheduler_resume(sim->scheduler, sim_job(sim, "a"), 0));
	sim_run_to(sim, T0 + 300);
	LEDGER(sim, "a", "started@60 skipped(paused)@120..240*3 "
	    "started@300");
	ck_assert(!scheduler_resume(sim->scheduler, sim_job(sim, "a"), 0));
	sim_free(sim);
}
END_TEST

START_TEST(pause_with_an_end_ends_by_itself)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", MINUTELY, NULL);
	pause_until_s(sim, "a", T0 + 150);
	sim_run_to(sim, T0 + 180);
	LEDGER(sim, "a", "skipped(paused)@60..120*2 started@180");
	ck_assert_ptr_null(scheduler_pause_of(sim->scheduler,
	    sim_job(sim, "a")));
	sim_free(sim);
}
END_TEST

START_TEST(instant_at_the_very_end_is_still_covered)
{
	struct sim *sim = sim_new(T0);

	/* [due, w] and the pause touch at 120. */
	sim_add(sim, "a", MINUTELY, NULL);
	pause_until_s(sim, "a", T0 + 120);
	sim_run_to(sim, T0 + 180);
	LEDGER(sim, "a", "skipped(paused)@60..120*2 started@180");
	sim_free(sim);
}
END_TEST

START_TEST(skip_counts_occurrences_down)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", MINUTELY, NULL);
	skip_next(sim, "a", 2);
	sim_run_to(sim, T0 + 180);
	LEDGER(sim, "a", "skipped(paused)@60..120*2 started@180");
	sim_free(sim);
}
END_TEST

START_TEST(skip_survives_a_restart)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", MINUTELY, NULL);
	skip_next(sim, "a", 3);
	sim_run_to(sim, T0 + 60);
	sim_crash(sim);
	sim_restart(sim, T0 + 70);
	sim_settle(sim);
	ck_assert_int_eq(sim_job(sim, "a")->pause->skip, 2);
	sim_run_to(sim, T0 + 240);
	ck_assert_uint_eq(sim->n_starts, 1);
	ck_assert_int_eq(sim->starts[0].tag.occurrence, T0 + 240);
	sim_free(sim);
}
END_TEST

START_TEST(pausing_skips_what_waits)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *\noverlap = queue", NULL);
	sim_run_to(sim, T0 + 120);
	pause_until_s(sim, "a", INT64_MAX);
	sim_exited(sim, 0, 0);
	ck_assert_uint_eq(sim->n_starts, 1);
	LEDGER(sim, "a", "started@60 skipped(paused)@120");
	sim_free(sim);
}
END_TEST

START_TEST(paused_job_runs_by_hand)
{
	struct sim *sim = sim_new(T0);
	const struct scheduler_run_request req = { .by_uid = 0 };
	const struct run_row *row;
	struct error err;

	sim_add(sim, "a", MINUTELY, NULL);
	pause_until_s(sim, "a", INT64_MAX);
	ck_assert_int_eq(scheduler_run_now(sim->scheduler, sim_job(sim, "a"),
	    &req, &row, &err), 0);
	ck_assert_uint_eq(sim->n_starts, 1);
	sim_free(sim);
}
END_TEST

START_TEST(pause_of_all_covers_jobs_added_later)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", MINUTELY, NULL);
	pause_until_s(sim, NULL, INT64_MAX);
	sim_add(sim, "b", MINUTELY, NULL);
	sim_run_to(sim, T0 + 120);
	ck_assert_uint_eq(sim->n_starts, 0);
	ck_assert_uint_eq(scheduler_paused(sim->scheduler), 2);
	ck_assert_uint_eq(scheduler_resume_all(sim->scheduler, 0), 2);
	sim_run_to(sim, T0 + 180);
	LEDGER(sim, "a", "skipped(paused)@60..120*2 started@180");
	LEDGER(sim, "b", "skipped(paused)@60..120*2 started@180");
	sim_free(sim);
}
END_TEST

START_TEST(pause_of_all_ends_by_itself)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", MINUTELY, NULL);
	pause_until_s(sim, NULL, T0 + 130);
	sim_run_to(sim, T0 + 180);
	LEDGER(sim, "a", "skipped(paused)@60..120*2 started@180");
	ck_assert_ptr_null(scheduler_pause_of_all(sim->scheduler));
	sim_free(sim);
}
END_TEST

START_TEST(pause_that_ended_while_nobody_was_there)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", MINUTELY, NULL);
	pause_until_s(sim, "a", T0 + 200);
	sim_run_to(sim, T0 + 90);
	sim_crash(sim);
	sim_restart(sim, T0 + 500);
	sim_settle(sim);
	/* Paused 60 120 180, missed 240 to 420, 480 is 20 s late. */
	LEDGER(sim, "a", "skipped(paused)@60..180*3 "
	    "missed(daemon_down)@240..420*4 started@480");
	sim_free(sim);
}
END_TEST

START_TEST(pause_lasts_over_a_restart)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", MINUTELY, NULL);
	pause_until_s(sim, "a", INT64_MAX);
	sim_run_to(sim, T0 + 90);
	sim_crash(sim);
	sim_restart(sim, T0 + 500);
	sim_settle(sim);
	ck_assert_uint_eq(sim->n_starts, 0);
	ck_assert_str_eq(scheduler_pause_of(sim->scheduler,
	    sim_job(sim, "a"))->note, "office closed");
	scheduler_resume(sim->scheduler, sim_job(sim, "a"), 0);
	LEDGER(sim, "a", "skipped(paused)@60..480*8");
	sim_free(sim);
}
END_TEST

START_TEST(change_while_paused_decides_the_stretch)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", MINUTELY, NULL);
	pause_until_s(sim, "a", INT64_MAX);
	sim_run_to(sim, T0 + 130);
	sim_replace(sim, "a", "schedule = */5 * * * *\noverlap = allow");
	sim_run_to(sim, T0 + 310);
	scheduler_resume(sim->scheduler, sim_job(sim, "a"), 0);
	LEDGER(sim, "a", "skipped(paused)@60..120*2 skipped(paused)@300");
	ck_assert_uint_eq(sim->n_starts, 0);
	sim_free(sim);
}
END_TEST

START_TEST(stop_while_paused_decides_the_stretch)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", MINUTELY, NULL);
	pause_until_s(sim, "a", INT64_MAX);
	sim_run_to(sim, T0 + 130);
	scheduler_stop(sim->scheduler);
	LEDGER(sim, "a", "skipped(paused)@60..120*2");
	sim_free(sim);
}
END_TEST

static Suite *
check_scheduler_pause_suite(void)
{
	Suite *s = suite_create("scheduler_pause");
	TCase *tc = tcase_create("scheduler_pause");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, paused_stretch_is_decided_at_resume);
	tcase_add_test(tc, pause_with_an_end_ends_by_itself);
	tcase_add_test(tc, instant_at_the_very_end_is_still_covered);
	tcase_add_test(tc, skip_counts_occurrences_down);
	tcase_add_test(tc, skip_survives_a_restart);
	tcase_add_test(tc, pausing_skips_what_waits);
	tcase_add_test(tc, paused_job_runs_by_hand);
	tcase_add_test(tc, pause_of_all_covers_jobs_added_later);
	tcase_add_test(tc, pause_of_all_ends_by_itself);
	tcase_add_test(tc, pause_that_ended_while_nobody_was_there);
	tcase_add_test(tc, pause_lasts_over_a_restart);
	tcase_add_test(tc, change_while_paused_decides_the_stretch);
	tcase_add_test(tc, stop_while_paused_decides_the_stretch);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return check_main(check_scheduler_pause_suite());
}
