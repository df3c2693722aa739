/* SPDX-License-Identifier: ISC */
/*
 * Clock steps (semantics.md 5): every size of step, at several phases of
 * every kind of schedule.  For each combination: no storm, nothing without
 * an outcome, nothing twice, and the idle bounds hold: no interval job is
 * idle for more than two of its periods, no fixed-time job for more than its
 * period plus the step.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>

#include "tests/check_main.h"
#include "tests/support/simulation.h"

/* Monday 2026-11-30 00:00:00 UTC. */
#define T0	INT64_C(1795996800)
#define HOUR	3600
#define DAY	86400
#define ROWS(t) (sizeof (t) / sizeof (t)[0])

static const struct {
	const char	*settings;
	int64_t		 period;	/* s */
	bool		 fixed;
} kinds[] = {
	{ "schedule = * * * * *", 60, false },
	{ "schedule = */20 * * * *", 1200, false },
	{ "schedule = 40 * * * *", HOUR, false },
	{ "schedule = @every 7m", 420, false },
	{ "schedule = @every 5h/1h", 5 * HOUR, false },
	{ "schedule = 30 4 * * *", DAY, true },
	{ "schedule = 0,30 0-23 * * *", 1800, true },
	{ "schedule = 15 12 * * *\ntimezone = Europe/Berlin", DAY, true },
};

/* In ms.  18 years: 18 * 365.25 days. */
static const int64_t steps[] = {
	500, -500, 1000, -1000, 59 * 60000, -59 * 60000, 3 * HOUR * 1000,
	-3 * HOUR * 1000, -3 * HOUR * 1000 - 1000, DAY * INT64_C(1000),
	-DAY * INT64_C(1000), INT64_C(568036800000), INT64_C(-568036800000),
};

/* Where in the day the step comes: s after midnight. */
static const int64_t phases[] = { 0, 2401, 4 * HOUR + 1800 };

/* Time goes on for a while; returns the longest real time without a start. */
static int64_t
watch(struct sim *sim, int64_t span, int64_t step_s)
{
	int64_t idle = 0, since = sim->now.boot.us, until;
	size_t seen = sim->n_starts;

	until = walltime_seconds(sim->now.wall) + span;
	while (walltime_seconds(sim->now.wall) < until) {
		int64_t to = walltime_seconds(sim->now.wall) + step_s;

		sim_run_to(sim, to < until ? to : until);
		sim_end_all(sim);
		if (sim->n_starts > seen) {
			seen = sim->n_starts;
			since = sim->now.boot.us;
		} else if (sim->now.boot.us - since > idle) {
			idle = sim->now.boot.us - since;
		}
	}
	return idle / USEC_PER_SEC;
}

/* No (era, occurrence) twice; a fixed time not twice unless the step is big. */
static void
check_doubles(const struct sim *sim, bool also_over_eras)
{
	for (size_t i = 0; i < sim->n_starts; i++)
		for (size_t j = i + 1; j < sim->n_starts; j++)
			ck_assert_msg(sim->starts[i].tag.occurrence !=
			    sim->starts[j].tag.occurrence ||
			    (!also_over_eras && sim->starts[i].tag.era !=
			    sim->starts[j].tag.era), "%lld started twice",
			    (long long)sim->starts[i].tag.occurrence);
}

static void
step_once(size_t kind, int64_t step_ms, int64_t phase)
{
	int64_t before_step = kinds[kind].period < 5 * HOUR ? 4 * HOUR : DAY;
	int64_t start = T0 + DAY + phase - before_step;
	struct sim *sim = sim_new(start);
	int64_t grain = kinds[kind].period < 1200 ? kinds[kind].period / 4 :
	    300, span = 2 * kinds[kind].period + 2 * HOUR, idle, bound;
	bool large = step_ms < -3 * HOUR * 1000;
	size_t before;

	sim_add(sim, "j", kinds[kind].settings, NULL);
	watch(sim, before_step, 600);
	before = sim->n_starts;
	sim_set_wall(sim, sim->now.wall.us + step_ms * USEC_PER_MSEC);
	/* A step forward brings one late start at the most: no storm. */
	ck_assert_uint_le(sim->n_starts, before + 1);
	sim_end_all(sim);
	if (step_ms < 0 && kinds[kind].fixed)
		span += -step_ms / 1000 < 4 * HOUR ? -step_ms / 1000 : 0;
	idle = watch(sim, span, grain);
	bound = 2 * kinds[kind].period + grain;
	if (kinds[kind].fixed && step_ms < 0)
		bound = kinds[kind].period - step_ms / 1000 + grain;
	if (!kinds[kind].fixed || !large)
		ck_assert_msg(idle <= bound, "kind %zu, step %lld ms, phase "
		    "%lld: idle for %lld s, at most %lld", kind,
		    (long long)step_ms, (long long)phase, (long long)idle,
		    (long long)bound);
	check_doubles(sim, kinds[kind].fixed && !large);
	if (step_ms > -2 * DAY * INT64_C(1000) &&
	    step_ms < 2 * DAY * INT64_C(1000))
		sim_verify(sim, "j", start);
	sim_free(sim);
}

START_TEST(step_of_any_size_at_any_phase)
{
	size_t kind = (size_t)_i / ROWS(steps);
	int64_t step = steps[(size_t)_i % ROWS(steps)];

	for (size_t p = 0; p < ROWS(phases); p++)
		step_once(kind, step, phases[p]);
}
END_TEST

START_TEST(from_1970_to_now_is_one_stretch)
{
	struct sim *sim = sim_new(0);

	sim_add(sim, "j", "schedule = 0 * * * *", NULL);
	sim_run_to(sim, 60);
	sim_set_wall(sim, (T0 + 30 * 60) * USEC_PER_SEC);
	/* 1970-01-01 01:00 to 2026-11-29 23:00, then 00:00 half an hour late. */
	ck_assert_str_eq(sim_ledger(sim, "j"), "missed(clock_stepped)@3600.."
	    "1795993200*-1 started@1795996800");
	sim_free(sim);
}
END_TEST

START_TEST(small_steps_add_up_within_a_day)
{
	struct sim *sim = sim_new(T0);

	/* 2 h and 2 h are more than 3 h: the second one is large. */
	sim_add(sim, "j", "schedule = 30 4 * * *", NULL);
	sim_run_to(sim, T0 + 5 * HOUR);
	sim_exited(sim, 0, 0);
	sim_set_wall(sim, (T0 + 3 * HOUR) * USEC_PER_SEC);
	sim_run_to(sim, T0 + 5 * HOUR);
	ck_assert_uint_eq(sim_count(sim, "j"), 1);
	sim_set_wall(sim, (T0 + 3 * HOUR) * USEC_PER_SEC);
	sim_run_to(sim, T0 + 5 * HOUR);
	ck_assert_uint_eq(sim_count(sim, "j"), 2);
	sim_free(sim);
}
END_TEST

START_TEST(waiting_runs_are_untouched_by_a_step)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "j", "schedule = */20 * * * *\noverlap = queue", NULL);
	sim_run_to(sim, T0 + 41 * 60);
	ck_assert_uint_eq(sim_job(sim, "j")->n_waiting, 1);
	sim_set_wall(sim, (T0 - 10 * HOUR) * USEC_PER_SEC);
	ck_assert_uint_eq(sim_job(sim, "j")->n_waiting, 1);
	sim_exited(sim, 0, 0);
	ck_assert_uint_eq(sim_count(sim, "j"), 2);
	ck_assert_int_eq(sim->starts[1].tag.occurrence, T0 + 2400);
	sim_free(sim);
}
END_TEST

/* --- at start, with the clock behind the last mark --- */

static struct sim *
restart_behind(int64_t wall_s)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "j", "schedule = */10 * * * *", NULL);
	sim_run_to(sim, T0 + 4 * HOUR);
	sim_end_all(sim);
	sim_crash(sim);
	sim_restart(sim, wall_s);
	scheduler_restore_behind(sim->scheduler, sim->image.mark,
	    300 * USEC_PER_SEC);
	sim_settle(sim);
	return sim;
}

START_TEST(schedules_wait_for_a_clock_that_catches_up)
{
	struct sim *sim = restart_behind(T0);
	size_t before = sim->n_starts;

	ck_assert(scheduler_clock_is_behind(sim->scheduler));
	sim_set_wall(sim, (T0 + 4 * HOUR + 601) * USEC_PER_SEC);
	ck_assert(!scheduler_clock_is_behind(sim->scheduler));
	ck_assert_uint_eq(sim->n_starts, before + 1);
	ck_assert_uint_eq(sim->starts[before].tag.era, 1);
	sim_free(sim);
}
END_TEST

START_TEST(clock_that_stays_behind_counts_as_set_back)
{
	struct sim *sim = restart_behind(T0);
	size_t before = sim->n_starts;

	/* clock_wait is 5 min; 4 h back is large, so 00:10 is due again. */
	sim->now.wall.us += 301 * USEC_PER_SEC;
	sim->now.boot.us += 301 * USEC_PER_SEC;
	sim->now.mono.us += 301 * USEC_PER_SEC;
	sim_tick(sim);
	ck_assert(!scheduler_clock_is_behind(sim->scheduler));
	sim_run_to(sim, T0 + 600);
	ck_assert_uint_eq(sim->n_starts, before + 1);
	ck_assert_uint_eq(sim->starts[before].tag.era, 2);
	sim_free(sim);
}
END_TEST

/* --- reports of other schedulers --- */

START_TEST(b037_minutes_go_on_after_two_hours_back)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "j", "schedule = * * * * *\noverlap = allow", NULL);
	sim_run_to(sim, T0 + 30);
	sim_set_wall(sim, (T0 + 2 * HOUR + 30) * USEC_PER_SEC);
	sim_run_to(sim, T0 + 2 * HOUR + 61);
	ck_assert_uint_eq(sim_count(sim, "j"), 2);
	sim_set_wall(sim, (T0 + 61) * USEC_PER_SEC);
	sim_run_to(sim, T0 + 120);
	ck_assert_uint_eq(sim_count(sim, "j"), 3);
	ck_assert_int_eq(sim->starts[2].tag.occurrence, T0 + 120);
	sim_free(sim);
}
END_TEST

START_TEST(b039_set_to_ten_seconds_before_midnight)
{
	struct sim *sim = sim_new(T0 + 12 * HOUR);

	sim_add(sim, "j", "schedule = 0 0 * * *", NULL);
	sim_set_wall(sim, (T0 + DAY - 10) * USEC_PER_SEC);
	sim_run_to(sim, T0 + DAY - 1);
	ck_assert_uint_eq(sim_count(sim, "j"), 0);
	sim_run_to(sim, T0 + DAY);
	ck_assert_uint_eq(sim_count(sim, "j"), 1);
	sim_free(sim);
}
END_TEST

/* Ten minutes in which the daemon does not run and no clock is set. */
static void
stall(struct sim *sim, int64_t us)
{
	sim->now.wall.us += us;
	sim->now.boot.us += us;
	sim->now.mono.us += us;
	sim_tick(sim);
}

START_TEST(b040_ten_minutes_stopped_is_judged_job_by_job)
{
	static const char *const names[] = { "a", "b", "c", "d" };
	struct sim *sim = sim_new(T0);

	for (size_t i = 0; i < ROWS(names); i++)
		sim_add(sim, names[i], "schedule = * * * * *", NULL);
	stall(sim, (10 * 60 + 5) * USEC_PER_SEC);
	sim_end_all(sim);
	/* The newest is on time; nine before it were missed. */
	for (size_t i = 0; i < ROWS(names); i++)
		ck_assert_str_eq(sim_ledger(sim, names[i]),
		    "missed(overload)@60..540*9 started@600");
	sim_run_to(sim, T0 + 660);
	for (size_t i = 0; i < ROWS(names); i++) {
		ck_assert_uint_eq(sim_count(sim, names[i]), 2);
		sim_verify(sim, names[i], T0);
	}
	sim_free(sim);
}
END_TEST

START_TEST(b042_suspended_hours_count)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "j", "schedule = 0 8 * * *", NULL);
	sim_run_to(sim, T0 + HOUR);
	sim_suspend(sim, (7 * HOUR - 1) * USEC_PER_SEC);
	ck_assert_uint_eq(sim_count(sim, "j"), 0);
	sim_run_to(sim, T0 + 8 * HOUR);
	ck_assert_uint_eq(sim_count(sim, "j"), 1);
	sim_free(sim);
}
END_TEST

START_TEST(b043_state_of_tomorrow_blocks_nothing)
{
	struct sim *sim = sim_new(T0);
	size_t before;

	/* Stored a day ahead, with a run that no worker knows of any more. */
	sim_add(sim, "j", "schedule = */10 * * * *", NULL);
	watch(sim, DAY, 600);
	sim_run_to(sim, T0 + DAY + 600);
	ck_assert(!sim->starts[sim->n_starts - 1].over);
	sim_crash(sim);
	sim_restart(sim, T0);
	scheduler_restore_behind(sim->scheduler, sim->image.mark,
	    300 * USEC_PER_SEC);
	scheduler_worker_dead(sim->scheduler, 1);
	sim_settle(sim);
	before = sim->n_starts;
	stall(sim, 301 * USEC_PER_SEC);
	ck_assert(!scheduler_clock_is_behind(sim->scheduler));
	sim_run_to(sim, T0 + 600);
	ck_assert_uint_eq(sim->n_starts, before + 1);
	ck_assert_int_eq(sim->starts[before].tag.occurrence, T0 + 600);
	sim_free(sim);
}
END_TEST

START_TEST(b045_woken_early_starts_nothing_and_each_second_once)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "j", "schedule = * * * * * *\noverlap = allow\n"
	    "max_running = 100", NULL);
	for (int64_t s = 1; s <= 60; s++) {
		/* 1 ms early, twice; then due; then again in that second. */
		stall(sim, T0 * USEC_PER_SEC + s * USEC_PER_SEC -
		    USEC_PER_MSEC - sim->now.wall.us);
		stall(sim, 999);
		ck_assert_uint_eq(sim->n_starts, (size_t)(s - 1));
		stall(sim, 1);
		ck_assert_uint_eq(sim->n_starts, (size_t)s);
		stall(sim, 5 * USEC_PER_MSEC);
		ck_assert_uint_eq(sim->n_starts, (size_t)s);
		ck_assert_int_eq(sim->starts[s - 1].tag.occurrence, T0 + s);
	}
	sim_free(sim);
}
END_TEST

static Suite *
check_scheduler_clock_suite(void)
{
	Suite *s = suite_create("scheduler_clock");
	TCase *tc = tcase_create("scheduler_clock");

	tcase_set_timeout(tc, 240);
	tcase_add_loop_test(tc, step_of_any_size_at_any_phase, 0,
	    (int)(ROWS(kinds) * ROWS(steps)));
	tcase_add_test(tc, from_1970_to_now_is_one_stretch);
	tcase_add_test(tc, small_steps_add_up_within_a_day);
	tcase_add_test(tc, waiting_runs_are_untouched_by_a_step);
	tcase_add_test(tc, schedules_wait_for_a_clock_that_catches_up);
	tcase_add_test(tc, clock_that_stays_behind_counts_as_set_back);
	suite_add_tcase(s, tc);
	tc = tcase_create("reports");
	tcase_add_test(tc, b037_minutes_go_on_after_two_hours_back);
	tcase_add_test(tc, b039_set_to_ten_seconds_before_midnight);
	tcase_add_test(tc, b040_ten_minutes_stopped_is_judged_job_by_job);
	tcase_add_test(tc, b042_suspended_hours_count);
	tcase_add_test(tc, b043_state_of_tomorrow_blocks_nothing);
	tcase_add_test(tc, b045_woken_early_starts_nothing_and_each_second_once);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return check_main(check_scheduler_clock_suite());
}
