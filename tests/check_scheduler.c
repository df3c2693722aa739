/* SPDX-License-Identifier: ISC */
/*
 * The scheduler by semantics.md: what becomes of each occurrence.  Expected
 * ledgers are worked out by hand from the rules; their numbers are in the
 * comments.  The simulation begins at midnight UTC, so "@60" is 00:01:00.
 */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <string.h>

#include "tests/check_main.h"
#include "tests/support/simulation.h"

/* Monday 2026-11-30 00:00:00 UTC (date -u -d 2026-11-30 +%s). */
#define T0		INT64_C(1795996800)
#define MIN		60
#define HOUR		3600
#define LEDGER(sim, job, want) ck_assert_str_eq(sim_ledger(sim, job), want)
#define RUNS(sim, job, want) ck_assert_str_eq(sim_runs(sim, job), want)

/* --- one occurrence after the other --- */

START_TEST(each_occurrence_starts_once)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *", NULL);
	sim_run_to(sim, T0 + 150);
	ck_assert_uint_eq(sim_count(sim, "a"), 1);
	sim_started(sim, 0);
	sim_exited(sim, 0, 0);
	sim_run_to(sim, T0 + 180);
	LEDGER(sim, "a", "started@60 skipped(overlap)@120 started@180");
	sim_free(sim);
}
END_TEST

START_TEST(nothing_exists_before_acceptance)
{
	struct sim *sim = sim_new(T0 + 60);

	/* Generation from 00:01, exclusive (section 2): 00:01 itself is not. */
	sim_add(sim, "a", "schedule = * * * * *", NULL);
	sim_run_to(sim, T0 + 119);
	LEDGER(sim, "a", "");
	sim_free(sim);
}
END_TEST

START_TEST(equal_instants_start_in_definition_order)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "z", "schedule = * * * * *", NULL);
	sim_add(sim, "a", "schedule = * * * * *", NULL);
	sim_run_to(sim, T0 + 60);
	ck_assert_uint_eq(sim_nth(sim, "z", 0), 0);
	ck_assert_uint_eq(sim_nth(sim, "a", 0), 1);
	sim_free(sim);
}
END_TEST

START_TEST(two_schedules_on_one_second_are_one_occurrence)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = */2 * * * *\nschedule = */3 * * * *\n"
	    "overlap = allow", NULL);
	sim_run_to(sim, T0 + 6 * MIN);
	/* Minutes 2 3 4 6. */
	LEDGER(sim, "a", "started@120 started@180 started@240 started@360");
	sim_free(sim);
}
END_TEST

START_TEST(disabled_job_has_no_occurrences)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *\nenabled = no", NULL);
	sim_run_to(sim, T0 + HOUR);
	LEDGER(sim, "a", "");
	sim_free(sim);
}
END_TEST

START_TEST(bounds_are_inclusive_and_then_the_job_is_done)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *\nnot_before = @1795996920\n"
	    "not_after = @1795997040\noverlap = allow", NULL);
	sim_run_to(sim, T0 + HOUR);
	LEDGER(sim, "a", "started@120 started@180 started@240");
	for (size_t i = 0; i < 3; i++)
		sim_exited(sim, i, 0);
	ck_assert_str_eq(job_state_name(sim_job(sim, "a")), "done");
	sim_free(sim);
}
END_TEST

START_TEST(one_shot_in_this_second_is_due_at_once)
{
	struct sim *sim = sim_new(T0);

	/* Section 1: nominal = floor(now), from = nominal - 1. */
	sim_add(sim, "a", "schedule = @at @1795996800", NULL);
	LEDGER(sim, "a", "started@0");
	sim_free(sim);
}
END_TEST

START_TEST(past_one_shot_of_a_file_never_runs)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = @at @1795996800", "a.ini");
	sim_run_to(sim, T0 + HOUR);
	LEDGER(sim, "a", "");
	ck_assert_str_eq(job_state_name(sim_job(sim, "a")), "done");
	sim_free(sim);
}
END_TEST

START_TEST(scheduled_is_the_nominal_instant_in_the_jobs_zone)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *\ntimezone = Europe/Berlin",
	    NULL);
	sim_run_to(sim, T0 + 60);
	ck_assert_str_eq(sim->starts[0].scheduled,
	    "2026-11-30T01:01:00+01:00");
	sim_free(sim);
}
END_TEST

/* --- overlap (section 3, step 11) --- */

START_TEST(skip_records_a_stretch_while_a_run_is_live)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *", NULL);
	sim_run_to(sim, T0 + 5 * MIN);
	LEDGER(sim, "a", "started@60 skipped(overlap)@120..300*4");
	ck_assert(job_is_stuck(sim_job(sim, "a")));
	sim_exited(sim, 0, 0);
	sim_run_to(sim, T0 + 6 * MIN);
	LEDGER(sim, "a", "started@60 skipped(overlap)@120..300*4 "
	    "started@360");
	ck_assert(!job_is_stuck(sim_job(sim, "a")));
	sim_free(sim);
}
END_TEST

START_TEST(queue_keeps_one_waiting_and_refuses_the_rest)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *\noverlap = queue", NULL);
	sim_run_to(sim, T0 + 4 * MIN);
	ck_assert_uint_eq(sim_job(sim, "a")->n_waiting, 1);
	sim_exited(sim, 0, 0);
	LEDGER(sim, "a", "started@60 started@120 "
	    "skipped(queue_full)@180..240*2");
	/* Waiting does not count as lateness. */
	ck_assert_int_eq(sim->starts[1].tag.due, (T0 + 120) * USEC_PER_SEC);
	ck_assert_int_eq(sim->starts[1].not_after, 0);
	sim_free(sim);
}
END_TEST

START_TEST(queue_all_runs_all_in_order)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *\noverlap = queue_all", NULL);
	sim_run_to(sim, T0 + 3 * MIN);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(sim_count(sim, "a"), i + 1);
		ck_assert_int_eq(sim->starts[i].tag.occurrence,
		    T0 + 60 * ((int64_t)i + 1));
		sim_exited(sim, i, 0);
	}
	LEDGER(sim, "a", "started@60 started@120 started@180");
	sim_free(sim);
}
END_TEST

START_TEST(replace_stops_the_oldest_then_starts)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *\noverlap = replace", NULL);
	sim_run_to(sim, T0 + 2 * MIN);
	ck_assert(sim->starts[0].stop_asked);
	ck_assert_uint_eq(sim_count(sim, "a"), 1);
	/* In its ladder it is live; the next one pushes the waiter out. */
	sim_run_to(sim, T0 + 3 * MIN);
	sim_signaled(sim, 0, SIGTERM);
	LEDGER(sim, "a", "started@60 skipped(replaced_while_queued)@120 "
	    "started@180");
	RUNS(sim, "a", "killed starting");
	sim_free(sim);
}
END_TEST

START_TEST(allow_runs_side_by_side_up_to_max_running)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *\noverlap = allow\n"
	    "max_running = 2", NULL);
	sim_run_to(sim, T0 + 3 * MIN);
	LEDGER(sim, "a", "started@60 started@120 skipped(overlap)@180");
	sim_free(sim);
}
END_TEST

START_TEST(two_slots_take_two_waiters)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *\noverlap = queue_all\n"
	    "max_running = 2", NULL);
	sim_run_to(sim, T0 + 4 * MIN);
	ck_assert_uint_eq(sim_count(sim, "a"), 2);
	sim_exited(sim, 0, 0);
	ck_assert_uint_eq(sim_count(sim, "a"), 3);
	sim_exited(sim, 1, 0);
	ck_assert_uint_eq(sim_count(sim, "a"), 4);
	sim_free(sim);
}
END_TEST

/* --- the pool (step 12) --- */

START_TEST(full_pool_waits_and_starts_by_priority)
{
	struct sim *sim = sim_new(T0);

	sim_free(sim);
	sim = sim_new(T0);
	sim->no_worker = true;
	sim_add(sim, "low", "schedule = * * * * *\nqueue_priority = 5", NULL);
	sim_add(sim, "high", "schedule = * * * * *\nqueue_priority = -5",
	    NULL);
	sim_run_to(sim, T0 + 61);
	ck_assert_uint_eq(sim->n_starts, 0);
	ck_assert_str_eq(job_state_name(sim_job(sim, "low")), "queued");
	sim->no_worker = false;
	sim_tick(sim);
	ck_assert_uint_eq(sim_nth(sim, "high", 0), 0);
	ck_assert_uint_eq(sim_nth(sim, "low", 0), 1);
	sim_free(sim);
}
END_TEST

START_TEST(waiting_for_the_pool_ends_as_missed)
{
	struct sim *sim = sim_new(T0);

	/* max_late auto of an hourly job: half an hour. */
	sim->no_worker = true;
	sim_add(sim, "a", "schedule = 0 * * * *", NULL);
	sim_run_to(sim, T0 + HOUR + 1799);
	ck_assert_uint_eq(sim_job(sim, "a")->n_waiting, 1);
	sim_run_to(sim, T0 + HOUR + 1801);
	LEDGER(sim, "a", "missed(pool_full)@3600");
	sim->no_worker = false;
	sim_tick(sim);
	ck_assert_uint_eq(sim->n_starts, 0);
	sim_free(sim);
}
END_TEST

START_TEST(start_is_not_valid_after_max_late)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *\nmax_late = 90s", NULL);
	sim_run_to(sim, T0 + 60);
	/* boottime is 5000 s at T0: due at 5060, plus 90. */
	ck_assert_int_eq(sim->starts[0].not_after,
	    INT64_C(5150) * USEC_PER_SEC);
	sim_free(sim);
}
END_TEST

/* --- removal --- */

START_TEST(removed_while_running_records_its_outcome)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *", NULL);
	sim_run_to(sim, T0 + 60);
	sim_remove(sim, "a");
	sim_run_to(sim, T0 + 10 * MIN);
	ck_assert_uint_eq(sim->n_starts, 1);
	sim_exited(sim, 0, 3);
	RUNS(sim, "a", "failed(3)");
	ck_assert(sim->starts[0].acked);
	sim_free(sim);
}
END_TEST

START_TEST(removed_while_waiting_is_recorded_and_never_starts)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *\noverlap = queue", NULL);
	sim_run_to(sim, T0 + 120);
	sim_remove(sim, "a");
	sim_exited(sim, 0, 0);
	sim_run_to(sim, T0 + 10 * MIN);
	LEDGER(sim, "a", "started@60 skipped(removed)@120");
	ck_assert_uint_eq(sim->n_starts, 1);
	sim_free(sim);
}
END_TEST

START_TEST(removed_just_before_due_leaves_nothing)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *", NULL);
	sim_run_to(sim, T0 + 59);
	sim_remove(sim, "a");
	sim_run_to(sim, T0 + 120);
	LEDGER(sim, "a", "");
	ck_assert_uint_eq(sim->n_starts, 0);
	sim_free(sim);
}
END_TEST

START_TEST(runs_of_a_removed_job_overlap_with_its_namesake)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *", NULL);
	sim_run_to(sim, T0 + 60);
	sim_remove(sim, "a");
	sim_add(sim, "a", "schedule = * * * * *", NULL);
	sim_run_to(sim, T0 + 120);
	ck_assert_uint_eq(sim->n_starts, 1);
	sim_exited(sim, 0, 1);
	/* The old job's failure is not the new one's. */
	ck_assert_int_eq(sim_job(sim, "a")->failures, 0);
	sim_run_to(sim, T0 + 180);
	LEDGER(sim, "a", "started@60 skipped(overlap)@120 started@180");
	sim_free(sim);
}
END_TEST

/* --- changes --- */

START_TEST(new_command_keeps_the_plan)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *\noverlap = allow", NULL);
	sim_run_to(sim, T0 + 90);
	sim_replace(sim, "a", "schedule = * * * * *\noverlap = allow\n"
	    "command = false");
	ck_assert_uint_eq(sim_job(sim, "a")->generation, 1);
	sim_run_to(sim, T0 + 120);
	LEDGER(sim, "a", "started@60 started@120");
	sim_free(sim);
}
END_TEST

START_TEST(new_schedule_begins_a_generation_now)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = */10 * * * *\noverlap = allow", NULL);
	sim_run_to(sim, T0 + 12 * MIN);
	sim_replace(sim, "a", "schedule = */5 * * * *\noverlap = allow");
	ck_assert_uint_eq(sim_job(sim, "a")->generation, 2);
	sim_run_to(sim, T0 + 20 * MIN);
	LEDGER(sim, "a", "started@600 started@900 started@1200");
	sim_free(sim);
}
END_TEST

/* --- stopping --- */

START_TEST(stop_skips_what_waits_and_what_comes)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *\noverlap = queue", NULL);
	sim_run_to(sim, T0 + 120);
	scheduler_stop(sim->scheduler);
	sim_run_to(sim, T0 + 180);
	ck_assert_uint_eq(sim->n_starts, 1);
	ck_assert_uint_eq(scheduler_running(sim->scheduler), 1);
	sim_exited(sim, 0, 0);
	ck_assert_uint_eq(scheduler_running(sim->scheduler), 0);
	LEDGER(sim, "a", "started@60 skipped(stopping)@120 "
	    "skipped(stopping)@180");
	sim_free(sim);
}
END_TEST

/* --- what workers tell --- */

START_TEST(exit_status_decides_the_state)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *", NULL);
	sim_run_to(sim, T0 + 60);
	sim_exited(sim, 0, 0);
	sim_run_to(sim, T0 + 120);
	sim_exited(sim, 1, 7);
	sim_run_to(sim, T0 + 180);
	sim_signaled(sim, 2, SIGSEGV);
	RUNS(sim, "a", "succeeded failed(7) signaled");
	ck_assert_int_eq(sim_job(sim, "a")->failures, 2);
	ck_assert_int_eq(sim_job(sim, "a")->failing_since,
	    (T0 + 120) * USEC_PER_SEC);
	sim_free(sim);
}
END_TEST

START_TEST(end_is_acknowledged_after_the_commit)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *", NULL);
	sim_run_to(sim, T0 + 60);
	ck_assert(!sim->starts[0].acked);
	sim_exited(sim, 0, 0);
	ck_assert(sim->starts[0].acked);
	sim_free(sim);
}
END_TEST

START_TEST(refused_too_late_becomes_missed_and_the_run_goes)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *", NULL);
	sim_run_to(sim, T0 + 60);
	sim_refused(sim, 0, PROTOCOL_REFUSED_TOO_LATE);
	LEDGER(sim, "a", "missed(overload)@60");
	RUNS(sim, "a", "");
	ck_assert_uint_eq(scheduler_running(sim->scheduler), 0);
	sim_free(sim);
}
END_TEST

START_TEST(refused_otherwise_goes_to_another_worker_with_its_id)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *", NULL);
	sim_run_to(sim, T0 + 60);
	sim_refused(sim, 0, PROTOCOL_REFUSED_DRAINING);
	ck_assert_uint_eq(sim->n_starts, 2);
	ck_assert_uint_eq(sim->starts[1].run_id, sim->starts[0].run_id);
	ck_assert_uint_eq(sim->starts[1].worker, 2);
	sim_exited(sim, 1, 0);
	RUNS(sim, "a", "succeeded");
	LEDGER(sim, "a", "started@60");
	sim_free(sim);
}
END_TEST

START_TEST(refused_with_no_other_worker_waits_for_one)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *", NULL);
	sim_run_to(sim, T0 + 60);
	sim->no_worker = true;
	sim_refused(sim, 0, PROTOCOL_REFUSED_FULL);
	ck_assert_uint_eq(sim->n_starts, 1);
	sim->no_worker = false;
	sim_tick(sim);
	ck_assert_uint_eq(sim->n_starts, 2);
	sim_free(sim);
}
END_TEST

START_TEST(dead_worker_loses_its_runs)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *", NULL);
	sim_run_to(sim, T0 + 60);
	sim_started(sim, 0);
	scheduler_worker_dead(sim->scheduler, 1);
	sim_tick(sim);
	RUNS(sim, "a", "lost");
	LEDGER(sim, "a", "started@60");
	sim_free(sim);
}
END_TEST

/* --- runs by hand --- */

static uint64_t
run_by_hand(struct sim *sim, const char *name, bool force, bool *refused)
{
	const struct scheduler_run_request req = {
		.by_uid = 1000, .force = force
	};
	const struct run_row *row = NULL;
	struct error err;
	int r = scheduler_run_now(sim->scheduler, sim_job(sim, name), &req,
	    &row, &err);

	*refused = r != 0;
	sim_tick(sim);
	return r == 0 ? 1 : 0;
}

START_TEST(manual_run_obeys_overlap_unless_forced)
{
	struct sim *sim = sim_new(T0);
	bool refused;

	sim_add(sim, "a", "schedule = @manual", NULL);
	run_by_hand(sim, "a", false, &refused);
	ck_assert(!refused);
	run_by_hand(sim, "a", false, &refused);
	ck_assert(refused);
	run_by_hand(sim, "a", true, &refused);
	ck_assert(!refused);
	ck_assert_uint_eq(sim_count(sim, "a"), 2);
	ck_assert_int_eq(sim->starts[0].tag.by_uid, 1000);
	ck_assert_str_eq(sim->starts[0].scheduled, "");
	LEDGER(sim, "a", "");
	sim_free(sim);
}
END_TEST

START_TEST(manual_run_waits_under_queue_and_keeps_its_id)
{
	struct sim *sim = sim_new(T0);
	bool refused;

	sim_add(sim, "a", "schedule = @manual\noverlap = queue", NULL);
	run_by_hand(sim, "a", false, &refused);
	run_by_hand(sim, "a", false, &refused);
	ck_assert(!refused);
	RUNS(sim, "a", "queued starting");
	sim_exited(sim, 0, 0);
	ck_assert_uint_eq(sim_count(sim, "a"), 2);
	ck_assert_uint_eq(sim->starts[1].run_id, sim->starts[0].run_id + 1);
	sim_free(sim);
}
END_TEST

START_TEST(manual_run_is_refused_while_stopping)
{
	struct sim *sim = sim_new(T0);
	bool refused;

	sim_add(sim, "a", "schedule = @manual", NULL);
	scheduler_stop(sim->scheduler);
	run_by_hand(sim, "a", false, &refused);
	ck_assert(refused);
	sim_free(sim);
}
END_TEST

/* --- restarts --- */

START_TEST(downtime_is_missed_with_its_cause_as_one_stretch)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *\noverlap = allow", NULL);
	sim_run_to(sim, T0 + 90);
	sim_exited(sim, 0, 0);
	sim_crash(sim);
	sim_restart(sim, T0 + HOUR + 30);
	sim_settle(sim);
	/*
	 * Missed 2..59 (58 of them); the newest, at 3600, is 30 s late and
	 * starts: max_late auto of a minutely job is one minute.
	 */
	LEDGER(sim, "a", "started@60 missed(daemon_down)@120..3540*58 "
	    "started@3600");
	sim_free(sim);
}
END_TEST

START_TEST(late_beyond_max_late_is_not_started)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = 30 0 * * *", NULL);
	sim_run_to(sim, T0 + 60);
	sim_crash(sim);
	/* auto of a daily job: 3 h. */
	sim_restart(sim, T0 + 30 * MIN + 3 * HOUR + 1);
	sim_settle(sim);
	LEDGER(sim, "a", "missed(daemon_down)@1800");
	ck_assert_uint_eq(sim->n_starts, 0);
	sim_free(sim);
}
END_TEST

START_TEST(one_shot_runs_however_late)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = @at @1796000400", NULL);
	sim_run_to(sim, T0 + 60);
	sim_crash(sim);
	sim_restart(sim, T0 + 100 * HOUR);
	sim_settle(sim);
	LEDGER(sim, "a", "started@3600");
	sim_free(sim);
}
END_TEST

START_TEST(nothing_is_decided_before_the_workers_have_told)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *", NULL);
	sim_run_to(sim, T0 + 30);
	sim_crash(sim);
	sim_restart(sim, T0 + 60);
	sim_tick(sim);
	ck_assert_uint_eq(sim->n_starts, 0);
	sim_settle(sim);
	ck_assert_uint_eq(sim->n_starts, 1);
	sim_free(sim);
}
END_TEST

START_TEST(listed_run_is_taken_over_and_not_started_again)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *", NULL);
	sim_run_to(sim, T0 + 60);
	sim_started(sim, 0);
	sim_crash(sim);
	sim_restart(sim, T0 + 70);
	sim_listed(sim, 0);
	scheduler_list_end(sim->scheduler, 1);
	sim_settle(sim);
	ck_assert_uint_eq(sim->n_starts, 1);
	sim_exited(sim, 0, 4);
	RUNS(sim, "a", "failed(4)");
	LEDGER(sim, "a", "started@60");
	sim_free(sim);
}
END_TEST

START_TEST(start_that_never_reached_the_disk_is_known_from_its_worker)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *", NULL);
	sim_freeze_disk(sim);
	sim_run_to(sim, T0 + 120);
	sim_exited(sim, 0, 0);
	sim_run_to(sim, T0 + 180);
	ck_assert_uint_eq(sim->n_starts, 2);
	/* Lost with the disk: started@60, skipped@120, started@180. */
	sim_crash(sim);
	sim_restart(sim, T0 + 190);
	sim_listed(sim, 1);
	scheduler_list_end(sim->scheduler, 1);
	sim_settle(sim);
	LEDGER(sim, "a", "missed(daemon_down)@60..120*2 started@180");
	ck_assert_uint_eq(sim->n_starts, 2);
	sim_free(sim);
}
END_TEST

START_TEST(start_that_no_worker_has_is_started_if_not_too_late)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = 1 * * * *", NULL);
	sim_run_to(sim, T0 + 60);
	sim_crash(sim);
	sim_restart(sim, T0 + 70);
	scheduler_list_end(sim->scheduler, 1);
	sim_settle(sim);
	ck_assert_uint_eq(sim->n_starts, 2);
	ck_assert_uint_eq(sim->starts[1].run_id, sim->starts[0].run_id);
	sim_free(sim);
}
END_TEST

START_TEST(waiting_occurrence_survives_a_restart)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *\noverlap = queue", NULL);
	sim_run_to(sim, T0 + 120);
	sim_crash(sim);
	sim_restart(sim, T0 + 130);
	sim_listed(sim, 0);
	scheduler_list_end(sim->scheduler, 1);
	sim_settle(sim);
	ck_assert_uint_eq(sim->n_starts, 1);
	sim_exited(sim, 0, 0);
	LEDGER(sim, "a", "started@60 started@120");
	sim_free(sim);
}
END_TEST

START_TEST(unanswering_worker_holds_only_its_own_jobs)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "held", "schedule = * * * * *", NULL);
	sim_add(sim, "free", "schedule = 2 * * * *", NULL);
	sim_run_to(sim, T0 + 60);
	sim_crash(sim);
	sim_restart(sim, T0 + 70);
	sim_settle(sim);
	sim_run_to(sim, T0 + 120);
	LEDGER(sim, "free", "started@120");
	LEDGER(sim, "held", "started@60");
	sim_listed(sim, 0);
	scheduler_list_end(sim->scheduler, 1);
	sim_tick(sim);
	LEDGER(sim, "held", "started@60 skipped(overlap)@120");
	sim_free(sim);
}
END_TEST

/* --- the clock (section 5) --- */

START_TEST(forward_step_is_one_stretch_no_storm)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = * * * * *", NULL);
	sim_run_to(sim, T0 + 30);
	sim_set_wall(sim, (T0 + 3 * HOUR) * USEC_PER_SEC);
	LEDGER(sim, "a", "missed(clock_stepped)@60..10740*179 "
	    "started@10800");
	sim_free(sim);
}
END_TEST

START_TEST(suspend_is_told_from_a_step)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "a", "schedule = 0 0 5 * * *", NULL);
	sim_run_to(sim, T0 + 30);
	sim_suspend(sim, 10 * HOUR * USEC_PER_SEC);
	LEDGER(sim, "a", "missed(suspended)@18000");
	sim_free(sim);
}
END_TEST

START_TEST(half_a_second_back_never_starts_twice)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "fixed", "schedule = 1 0 * * *", NULL);
	sim_add(sim, "every", "schedule = * * * * * *\noverlap = allow", NULL);
	sim_run_to(sim, T0 + 60);
	ck_assert_uint_eq(sim_count(sim, "fixed"), 1);
	ck_assert_uint_eq(sim_count(sim, "every"), 16);
	for (size_t i = 0; i < sim->n_starts; i++)
		sim_exited(sim, i, 0);
	sim_set_wall(sim, (T0 + 60) * USEC_PER_SEC - USEC_PER_SEC / 2);
	sim_run_to(sim, T0 + 61);
	ck_assert_uint_eq(sim_count(sim, "fixed"), 1);
	/* The 60th second again: 0.5 s of 0.9 s; then the 61st. */
	ck_assert_uint_eq(sim_count(sim, "every"), 17);
	sim_free(sim);
}
END_TEST

START_TEST(hour_back_keeps_intervals_going_and_fixed_times_single)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "fixed", "schedule = 30 1 * * *", NULL);
	sim_add(sim, "interval", "schedule = */10 * * * *\noverlap = allow",
	    NULL);
	sim_run_to(sim, T0 + 2 * HOUR);
	ck_assert_uint_eq(sim_count(sim, "fixed"), 1);
	ck_assert_uint_eq(sim_count(sim, "interval"), 12);
	for (size_t i = 0; i < sim->n_starts; i++)
		sim_exited(sim, i, 0);
	sim_set_wall(sim, (T0 + HOUR) * USEC_PER_SEC);
	sim_run_to(sim, T0 + 2 * HOUR);
	ck_assert_uint_eq(sim_count(sim, "fixed"), 1);
	/* 01:10 ... 02:00 again, each ten minutes after the last. */
	ck_assert_uint_eq(sim_count(sim, "interval"), 18);
	sim_free(sim);
}
END_TEST

START_TEST(five_hours_back_begins_anew)
{
	struct sim *sim = sim_new(T0);

	sim_add(sim, "fixed", "schedule = 30 1 * * *", NULL);
	sim_run_to(sim, T0 + 6 * HOUR);
	sim_exited(sim, 0, 0);
	sim_set_wall(sim, (T0 + HOUR) * USEC_PER_SEC);
	sim_run_to(sim, T0 + 2 * HOUR);
	ck_assert_uint_eq(sim_count(sim, "fixed"), 2);
	ck_assert_uint_eq(sim->starts[1].tag.era, 2);
	sim_free(sim);
}
END_TEST

START_TEST(young_job_is_not_silent_after_a_step_back)
{
	struct sim *sim = sim_new(T0 + 10 * HOUR);

	sim_add(sim, "a", "schedule = * * * * *", NULL);
	sim_set_wall(sim, T0 * USEC_PER_SEC);
	sim_run_to(sim, T0 + 120);
	ck_assert_uint_eq(sim_count(sim, "a"), 1);
	sim_free(sim);
}
END_TEST

static Suite *
scheduler_suite(void)
{
	Suite *s = suite_create("scheduler");
	TCase *tc = tcase_create("scheduler");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, each_occurrence_starts_once);
	tcase_add_test(tc, nothing_exists_before_acceptance);
	tcase_add_test(tc, equal_instants_start_in_definition_order);
	tcase_add_test(tc, two_schedules_on_one_second_are_one_occurrence);
	tcase_add_test(tc, disabled_job_has_no_occurrences);
	tcase_add_test(tc, bounds_are_inclusive_and_then_the_job_is_done);
	tcase_add_test(tc, one_shot_in_this_second_is_due_at_once);
	tcase_add_test(tc, past_one_shot_of_a_file_never_runs);
	tcase_add_test(tc, scheduled_is_the_nominal_instant_in_the_jobs_zone);
	tcase_add_test(tc, skip_records_a_stretch_while_a_run_is_live);
	tcase_add_test(tc, queue_keeps_one_waiting_and_refuses_the_rest);
	tcase_add_test(tc, queue_all_runs_all_in_order);
	tcase_add_test(tc, replace_stops_the_oldest_then_starts);
	tcase_add_test(tc, allow_runs_side_by_side_up_to_max_running);
	tcase_add_test(tc, two_slots_take_two_waiters);
	tcase_add_test(tc, full_pool_waits_and_starts_by_priority);
	tcase_add_test(tc, waiting_for_the_pool_ends_as_missed);
	tcase_add_test(tc, start_is_not_valid_after_max_late);
	tcase_add_test(tc, removed_while_running_records_its_outcome);
	tcase_add_test(tc,
	    removed_while_waiting_is_recorded_and_never_starts);
	tcase_add_test(tc, removed_just_before_due_leaves_nothing);
	tcase_add_test(tc, runs_of_a_removed_job_overlap_with_its_namesake);
	tcase_add_test(tc, new_command_keeps_the_plan);
	tcase_add_test(tc, new_schedule_begins_a_generation_now);
	tcase_add_test(tc, stop_skips_what_waits_and_what_comes);
	tcase_add_test(tc, exit_status_decides_the_state);
	tcase_add_test(tc, end_is_acknowledged_after_the_commit);
	tcase_add_test(tc, refused_too_late_becomes_missed_and_the_run_goes);
	tcase_add_test(tc,
	    refused_otherwise_goes_to_another_worker_with_its_id);
	tcase_add_test(tc, refused_with_no_other_worker_waits_for_one);
	tcase_add_test(tc, dead_worker_loses_its_runs);
	tcase_add_test(tc, manual_run_obeys_overlap_unless_forced);
	tcase_add_test(tc, manual_run_waits_under_queue_and_keeps_its_id);
	tcase_add_test(tc, manual_run_is_refused_while_stopping);
	tcase_add_test(tc, downtime_is_missed_with_its_cause_as_one_stretch);
	tcase_add_test(tc, late_beyond_max_late_is_not_started);
	tcase_add_test(tc, one_shot_runs_however_late);
	tcase_add_test(tc, nothing_is_decided_before_the_workers_have_told);
	tcase_add_test(tc, listed_run_is_taken_over_and_not_started_again);
	tcase_add_test(tc,
	    start_that_never_reached_the_disk_is_known_from_its_worker);
	tcase_add_test(tc,
	    start_that_no_worker_has_is_started_if_not_too_late);
	tcase_add_test(tc, waiting_occurrence_survives_a_restart);
	tcase_add_test(tc, unanswering_worker_holds_only_its_own_jobs);
	tcase_add_test(tc, forward_step_is_one_stretch_no_storm);
	tcase_add_test(tc, suspend_is_told_from_a_step);
	tcase_add_test(tc, half_a_second_back_never_starts_twice);
	tcase_add_test(tc,
	    hour_back_keeps_intervals_going_and_fixed_times_single);
	tcase_add_test(tc, five_hours_back_begins_anew);
	tcase_add_test(tc, young_job_is_not_silent_after_a_step_back);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return check_main(scheduler_suite());
}
