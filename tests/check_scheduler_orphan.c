/* SPDX-License-Identifier: ISC */
/*
 * Runs whose worker has died, as the scheduler sees them (design: "A worker
 * that dies"); the processes are check_orphans.c's business.
 */
#include "config.h"

#include <check.h>
#include <signal.h>

#include "tests/check_main.h"
#include "tests/support/simulation.h"

#define T0		INT64_C(1795996800)
#define LEDGER(sim, job, want) ck_assert_str_eq(sim_ledger(sim, job), want)
#define RUNS(sim, job, want) ck_assert_str_eq(sim_runs(sim, job), want)

/* A process without a worker is a live run: nothing starts beside it. */
START_TEST(orphan_overlaps_until_its_end)
{
	struct sim *sim = sim_new(T0);

	sim->watches = true;
	sim_add(sim, "a", "schedule = * * * * *", NULL);
	sim_run_to(sim, T0 + 60);
	sim_started(sim, 0);
	sim_worker_dead(sim, 0);
	ck_assert(sim->starts[0].orphaned);
	sim_run_to(sim, T0 + 130);
	RUNS(sim, "a", "running");
	LEDGER(sim, "a", "started@60 skipped(overlap)@120");
	sim_orphan_exited(sim, 0, 7);
	RUNS(sim, "a", "failed(7)");
	sim_run_to(sim, T0 + 180);
	LEDGER(sim, "a", "started@60 skipped(overlap)@120 started@180");
	sim_free(sim);
}
END_TEST

START_TEST(orphan_of_unknown_end_is_lost)
{
	struct sim *sim = sim_new(T0);

	sim->watches = true;
	sim_add(sim, "a", "schedule = * * * * *", NULL);
	sim_run_to(sim, T0 + 60);
	sim_started(sim, 0);
	sim_worker_dead(sim, 0);
	sim_orphan_lost(sim, 0);
	RUNS(sim, "a", "lost");
	LEDGER(sim, "a", "started@60");
	sim_free(sim);
}
END_TEST

/* timeout counts from the start of the run, not from its worker's death. */
START_TEST(orphan_keeps_its_limits)
{
	struct sim *sim = sim_new(T0);
	const struct scheduler_orphan *orphan = &sim->starts[0].orphan;
	int64_t begun;

	sim->watches = true;
	sim_add(sim, "a", "schedule = * * * * *\ntimeout = 50s\n"
	    "stop_signal = INT\nstop_grace = 3s", NULL);
	sim_run_to(sim, T0 + 60);
	sim_started(sim, 0);
	begun = sim->now.mono.us;
	sim_run_to(sim, T0 + 90);
	sim_worker_dead(sim, 0);
	ck_assert_int_eq(orphan->pid, 1000);
	ck_assert_uint_eq(orphan->starttime, 77);
	ck_assert_int_eq(orphan->stop_at, begun + 50 * USEC_PER_SEC);
	ck_assert_int_eq(orphan->stop_grace, 3 * USEC_PER_SEC);
	ck_assert_int_eq(orphan->stop_signal, SIGINT);
	ck_assert(!orphan->stopping);
	sim_free(sim);
}
END_TEST

START_TEST(orphan_can_be_stopped)
{
	struct sim *sim = sim_new(T0);

	sim->watches = true;
	sim_add(sim, "a", "schedule = * * * * *\noverlap = replace", NULL);
	sim_run_to(sim, T0 + 60);
	sim_started(sim, 0);
	sim_worker_dead(sim, 0);
	sim_run_to(sim, T0 + 120);
	ck_assert(sim->starts[0].stop_asked);
	sim_orphan_exited(sim, 0, 0);
	RUNS(sim, "a", "killed starting");
	sim_free(sim);
}
END_TEST

/* Its start was on the way when the worker died: found, or lost. */
START_TEST(orphan_is_found_later)
{
	const struct protocol_started started = {
		.run_id = 1, .pid = 4711, .starttime = 99,
	};
	struct protocol_started found = started;
	struct sim *sim = sim_new(T0);

	sim->watches = true;
	sim_add(sim, "a", "schedule = * * * * *", NULL);
	sim_run_to(sim, T0 + 60);
	sim_worker_dead(sim, 0);
	ck_assert_int_eq(sim->starts[0].orphan.pid, 0);
	RUNS(sim, "a", "starting");
	found.run_id = sim->starts[0].run_id;
	found.started = sim->now.wall.us;
	scheduler_orphan_found(sim->scheduler, &found);
	sim_tick(sim);
	RUNS(sim, "a", "running");
	sim_orphan_exited(sim, 0, 0);
	RUNS(sim, "a", "succeeded");
	sim_free(sim);
}
END_TEST

/* The first end that is known counts; no second one changes it. */
START_TEST(orphan_ends_once)
{
	struct sim *sim = sim_new(T0);

	sim->watches = true;
	sim_add(sim, "a", "schedule = * * * * *", NULL);
	sim_run_to(sim, T0 + 60);
	sim_started(sim, 0);
	sim_worker_dead(sim, 0);
	sim_exited(sim, 0, 3);
	sim_orphan_lost(sim, 0);
	RUNS(sim, "a", "failed(3)");
	sim_free(sim);
}
END_TEST

/* Daemon and worker gone together: watched by the next daemon. */
START_TEST(orphan_is_taken_over)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *", NULL);
	sim_run_to(sim, T0 + 60);
	sim_started(sim, 0);
	sim_crash(sim);
	sim_restart(sim, T0 + 70);
	sim->watches = true;
	sim_worker_dead(sim, 0);
	ck_assert_int_eq(sim->starts[0].orphan.pid, 1000);
	sim_settle(sim);
	sim_run_to(sim, T0 + 130);
	LEDGER(sim, "a", "started@60 skipped(overlap)@120");
	sim_orphan_lost(sim, 0);
	sim_run_to(sim, T0 + 180);
	LEDGER(sim, "a", "started@60 skipped(overlap)@120 started@180");
	ck_assert_uint_eq(sim->n_starts, 2);
	sim_free(sim);
}
END_TEST

static Suite *
scheduler_orphan_suite(void)
{
	Suite *s = suite_create("scheduler_orphan");
	TCase *tc = tcase_create("orphan");

	tcase_add_test(tc, orphan_overlaps_until_its_end);
	tcase_add_test(tc, orphan_of_unknown_end_is_lost);
	tcase_add_test(tc, orphan_keeps_its_limits);
	tcase_add_test(tc, orphan_can_be_stopped);
	tcase_add_test(tc, orphan_is_found_later);
	tcase_add_test(tc, orphan_ends_once);
	tcase_add_test(tc, orphan_is_taken_over);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return check_main(scheduler_orphan_suite());
}
