/* SPDX-License-Identifier: ISC */
/*
 * Pages of history out of a real store: order, filters, places to go on at,
 * and that many rows make no difference.
 */
#include "config.h"

#include "daemon/query.h"

#include <check.h>
#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/timestamp.h"
#include "common/xmalloc.h"
#include "tests/check_main.h"

#define TEXT(s) ((char []){ s })
#define SECOND USEC_PER_SEC

static char directory[64];	/* of the running test */
static struct store *store;	/* in it */

static void
quiet(void *arg, enum log_level level, const char *subsystem,
    const char *text)
{
	(void)arg;
	(void)level;
	(void)subsystem;
	(void)text;
}

static void
setup(void)
{
	struct error err = { "" };

	log_set_sink(quiet, NULL);
	strcpy(directory, "/tmp/check_query.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	store = store_open(directory, &err);
	ck_assert_msg(store != NULL, "%s", err.text);
}

static void
teardown(void)
{
	static const char *const names[] = { "cronctl.db", "cronctl.db-wal",
	    "cronctl.db-shm" };
	char path[128];

	store_close(store);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "%s/%s", directory, names[i]);
		ck_assert(unlink(path) == 0 || errno == ENOENT);
	}
	ck_assert_int_eq(rmdir(directory), 0);
}

static void
put_job(int64_t id, const char *name)
{
	struct job_row job = { .id = id, .name = xstrdup(name),
	    .origin = ORIGIN_CONTROL, .definition = TEXT("") };

	store_put_job(store, &job);
	free(job.name);
}

static void
put_run(uint64_t id, int64_t job_id, int64_t at_s, enum run_state state,
    int64_t output)
{
	struct run_row run = { .id = id, .job_id = job_id,
	    .occurrence = at_s, .era = 1, .generation = 1,
	    .cause = RUN_CAUSE_SCHEDULE, .attempt = 1, .state = state,
	    .by_uid = -1, .sent = at_s * SECOND, .due = at_s * SECOND,
	    .code = -1, .output_bytes = output };

	if (run_state_is_final(state))
		run.ended = run.sent + SECOND;
	store_put_run(store, &run);
}

static void
put_outcome(int64_t job_id, int64_t occurrence, int64_t at_s,
    enum outcome_kind kind)
{
	struct outcome_row o = { .job_id = job_id, .era = 1,
	    .occurrence = occurrence, .last = occurrence, .count = 1,
	    .generation = 1, .kind = kind, .at = at_s * SECOND,
	    .reason = kind == OUTCOME_SKIPPED ? REASON_OVERLAP : REASON_NONE };

	store_put_outcome(store, &o);
}

static void
sync_store(void)
{
	struct error err = { "" };

	ck_assert_msg(store_sync(store, &err) == 0, "%s", err.text);
}

static struct query_spec
everything(void)
{
	return (struct query_spec){ .since = INT64_MIN, .limit = QUERY_PAGE };
}

/* "r7 o100 ...": ids of runs and occurrences of outcomes, newest first. */
static char *
words(const struct query_result *result)
{
	static char text[4096];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < result->n_rows; i++) {
		const struct query_row *row = &result->rows[i];

		len += (size_t)snprintf(text + len, sizeof text - len,
		    "%s%s%" PRId64, i > 0 ? " " : "", row->is_run ? "r" : "o",
		    row->is_run ? (int64_t)row->run.id :
		    row->outcome.occurrence);
		ck_assert_uint_lt(len, sizeof text);
	}
	return text;
}

static void
expect(const struct query_spec *spec, const char *want)
{
	struct query_result result;

	query_run_now(directory, spec, &result);
	ck_assert_str_eq(result.err.text, "");
	ck_assert_str_eq(words(&result), want);
	query_result_release(&result);
}

/* Two jobs' worth of rows; job 1 had another id before. */
static void
put_sample(void)
{
	put_job(1, "backup");
	store_put_job_removed(store, 1, 5);
	put_job(2, "backup");
	put_job(3, "other");
	put_run(10, 1, 100, RUN_SUCCEEDED, 0);
	put_run(11, 2, 200, RUN_FAILED, 7);
	put_run(12, 3, 250, RUN_KILLED, 0);
	put_outcome(2, 290, 300, OUTCOME_SKIPPED);
	put_outcome(2, 200, 200, OUTCOME_STARTED);
	put_outcome(3, 295, 300, OUTCOME_MISSED);
	put_run(13, 2, 300, RUN_RUNNING, 0);
	put_run(14, 2, 400, RUN_SUCCEEDED, 9);
	put_run(15, 3, 400, RUN_QUEUED, 0);
	sync_store();
}

START_TEST(all_rows_come_newest_first)
{
	struct query_spec spec = everything();

	put_sample();
	expect(&spec, "r15 r14 r13 o295 o290 r12 r11 r10");
}
END_TEST

START_TEST(a_name_has_the_rows_of_all_its_ids)
{
	struct query_spec spec = everything();

	put_sample();
	spec.job_name = "backup";
	expect(&spec, "r14 r13 o290 r11 r10");
	spec.job_name = "nobody";
	expect(&spec, "");
}
END_TEST

START_TEST(filters_hold_for_runs)
{
	struct query_spec spec = everything();

	put_sample();
	spec.failed = true;
	expect(&spec, "r12 r11");
	spec.job_name = "backup";
	expect(&spec, "r11");
	spec.failed = false;
	spec.with_output = true;
	expect(&spec, "r14 r11");
	spec.with_output = false;
	spec.since = 300 * SECOND;
	expect(&spec, "r14 r13 o290");
	spec = everything();
	spec.run_id = 12;
	expect(&spec, "r12");
	spec.run_id = 99;
	expect(&spec, "");
}
END_TEST

START_TEST(the_last_that_ended_passes_over_live_ones)
{
	struct query_spec spec = everything();

	put_sample();
	put_run(20, 2, 900, RUN_RUNNING, 0);
	sync_store();
	spec.last_ended = true;
	expect(&spec, "r14");
	spec.job_name = "backup";
	expect(&spec, "r14");
	spec.failed = true;
	expect(&spec, "r11");
	spec.failed = false;
	put_run(21, 2, 950, RUN_SUCCEEDED, 0);
	sync_store();
	expect(&spec, "r21");
	spec.with_output = true;
	expect(&spec, "r14");
}
END_TEST

START_TEST(rows_carry_their_values_and_the_job_name)
{
	struct query_spec spec = everything();
	struct query_result result;

	put_sample();
	spec.job_name = "backup";
	query_run_now(directory, &spec, &result);
	ck_assert_uint_eq(result.n_rows, 5);
	ck_assert_str_eq(result.rows[0].run.job_name, "backup");
	ck_assert_int_eq(result.rows[0].run.state, RUN_SUCCEEDED);
	ck_assert_int_eq(result.rows[0].run.output_bytes, 9);
	ck_assert_int_eq(result.rows[0].run.ended, 401 * SECOND);
	ck_assert(!result.rows[2].is_run);
	ck_assert_str_eq(result.rows[2].outcome.job_name, "backup");
	ck_assert_int_eq(result.rows[2].outcome.kind, OUTCOME_SKIPPED);
	ck_assert_int_eq(result.rows[2].outcome.reason, REASON_OVERLAP);
	ck_assert_int_eq(result.rows[2].outcome.at, 300 * SECOND);
	ck_assert_int_eq(result.rows[2].outcome.count, 1);
	ck_assert_int_eq(result.rows[4].run.job_id, 1);
	ck_assert_str_eq(result.more, "");
	query_result_release(&result);
}
END_TEST

/* All pages of a size in a row. */
static char *
walk(struct query_spec spec)
{
	static char all[8192];
	struct query_result result;
	char key[QUERY_KEY_MAX];
	size_t len = 0;

	all[0] = '\0';
	for (;;) {
		query_run_now(directory, &spec, &result);
		ck_assert_str_eq(result.err.text, "");
		ck_assert_uint_le(result.n_rows, spec.limit);
		len += (size_t)snprintf(all + len, sizeof all - len, "%s%s",
		    len > 0 && result.n_rows > 0 ? " " : "", words(&result));
		ck_assert_uint_lt(len, sizeof all);
		strcpy(key, result.more);
		query_result_release(&result);
		if (key[0] == '\0')
			return all;
		spec.before = key;
	}
}

START_TEST(pages_of_any_size_join_to_the_whole)
{
	struct query_spec spec = everything();

	put_sample();
	spec.limit = (size_t)_i;
	ck_assert_str_eq(walk(spec), "r15 r14 r13 o295 o290 r12 r11 r10");
	spec.job_name = "backup";
	ck_assert_str_eq(walk(spec), "r14 r13 o290 r11 r10");
	spec.failed = true;
	spec.job_name = NULL;
	ck_assert_str_eq(walk(spec), "r12 r11");
}
END_TEST

/* Rows of one microsecond: runs and outcomes of two jobs of one name. */
START_TEST(pages_go_through_rows_of_one_instant)
{
	struct query_spec spec = everything();

	put_job(1, "same");
	store_put_job_removed(store, 1, 5);
	put_job(2, "same");
	for (int i = 1; i <= 4; i++) {
		put_run((uint64_t)i, 1 + i % 2, 50, RUN_SUCCEEDED, 0);
		put_outcome(1 + i % 2, 10 + i, 50, OUTCOME_SKIPPED);
	}
	sync_store();
	for (spec.limit = 1; spec.limit <= 9; spec.limit++) {
		spec.job_name = NULL;
		ck_assert_str_eq(walk(spec), "r4 r3 r2 r1 o13 o11 o14 o12");
		spec.job_name = "same";
		ck_assert_str_eq(walk(spec), "r4 r3 r2 r1 o13 o11 o14 o12");
	}
}
END_TEST

START_TEST(new_rows_do_not_move_the_place)
{
	struct query_spec spec = everything();
	struct query_result result;

	put_sample();
	spec.limit = 3;
	query_run_now(directory, &spec, &result);
	ck_assert_str_eq(words(&result), "r15 r14 r13");
	put_run(30, 2, 500, RUN_SUCCEEDED, 0);
	sync_store();
	spec.before = result.more;
	expect(&spec, "o295 o290 r12");
	query_result_release(&result);
}
END_TEST

START_TEST(a_place_that_is_none_is_refused)
{
	static const char *const bad[] = { "", "x", "12", "12:r", "12:r:x",
	    "12:r:3 ", "12:r:3:4", "12:o:1:2", "12:o:1:2:3:4", " 12:r:3",
	    "99999999999999999999:r:1", "12:q:1",
	    "012345678901234567890123456789012345678901234567890123456789" };
	struct query_spec spec = everything();
	struct query_result result;

	spec.before = bad[_i];
	query_run_now(directory, &spec, &result);
	ck_assert_msg(strstr(result.err.text, "is no place in the history") !=
	    NULL, "%s", result.err.text);
	ck_assert_uint_eq(result.n_rows, 0);
	query_result_release(&result);
}
END_TEST

START_TEST(a_missing_database_is_an_error)
{
	struct query_spec spec = everything();
	struct query_result result;

	query_run_now("/nonexistent", &spec, &result);
	ck_assert_msg(strstr(result.err.text, "/nonexistent/cronctl.db") !=
	    NULL, "%s", result.err.text);
	query_result_release(&result);
}
END_TEST

START_TEST(limits_are_kept_within_a_page)
{
	struct query_spec spec = everything();
	struct query_result result;

	for (int i = 1; i <= QUERY_PAGE + 50; i++)
		put_run((uint64_t)i, 1, i, RUN_SUCCEEDED, 0);
	sync_store();
	spec.limit = 100000;
	query_run_now(directory, &spec, &result);
	ck_assert_uint_eq(result.n_rows, QUERY_PAGE);
	ck_assert_str_ne(result.more, "");
	query_result_release(&result);
	spec.limit = 0;
	query_run_now(directory, &spec, &result);
	ck_assert_uint_eq(result.n_rows, 1);
	query_result_release(&result);
}
END_TEST

/* --- the thread --- */

struct answers {
	int	n;		/* that came */
	size_t	rows;		/* of the last one */
};

static void
on_answer(void *arg, struct query_result *result)
{
	struct answers *a = arg;

	ck_assert_str_eq(result->err.text, "");
	a->n++;
	a->rows = result->n_rows;
}

START_TEST(answers_come_on_the_loop)
{
	struct event_base *base = event_base_new();
	struct query *q = query_new(directory, base);
	struct query_spec spec = everything();
	struct answers answers = { 0 };
	char name[] = "backup";

	put_sample();
	spec.job_name = name;
	ck_assert(query_submit(q, &spec, on_answer, &answers));
	memset(name, 'x', sizeof name - 1);	/* it was copied */
	while (answers.n < 1)
		event_base_loop(base, EVLOOP_ONCE);
	ck_assert_uint_eq(answers.rows, 5);
	/* The connection stays, and sees what came since. */
	put_run(30, 2, 500, RUN_SUCCEEDED, 0);
	sync_store();
	spec.job_name = "backup";
	ck_assert(query_submit(q, &spec, on_answer, &answers));
	while (answers.n < 2)
		event_base_loop(base, EVLOOP_ONCE);
	ck_assert_uint_eq(answers.rows, 6);
	query_free(q);
	event_base_free(base);
}
END_TEST

/* --- size --- */

#ifndef QUERY_ROWS
#define QUERY_ROWS "50000"	/* to read them all takes 250 ms */
#endif

/* Many runs and outcomes of one job, a few of another, made by SQLite. */
static void
put_many(void)
{
	char path[128];
	sqlite3 *db;
	char *why = NULL;

	put_job(1, "busy");
	put_job(2, "rare");
	sync_store();
	snprintf(path, sizeof path, "%s/cronctl.db", directory);
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	sqlite3_exec(db, "PRAGMA synchronous = OFF; BEGIN;"
	    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
	    "  WHERE i < " QUERY_ROWS ")"
	    "INSERT INTO run SELECT i, 1 + (i % (" QUERY_ROWS " / 10) = 0), i * 1000000, i,"
	    "  1, 1, 1, 1, 0, 3 + (i = " QUERY_ROWS " / 2), -1, 1, 1, 1, i * 1000000, 0,"
	    "  i * 1000000, i * 1000000, i * 1000000, 0, 0, 0, 0, NULL, 0, 0,"
	    "  0, 0, 0, 0, 0, 0 FROM n;"
	    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
	    "  WHERE i < " QUERY_ROWS " / 5)"
	    "INSERT INTO outcome SELECT 1, 1, i, i, 1, 1, 3, 1, 0, i * 5000000"
	    "  FROM n; COMMIT", NULL, NULL, &why);
	ck_assert_msg(why == NULL, "%s", why);
	sqlite3_close(db);
}

START_TEST(many_rows_make_no_difference)
{
	static const struct {
		const char	*name;	/* job, or NULL */
		bool		 failed;
		bool		 last;	/* the last that ended */
		size_t		 want;	/* rows */
	} rows[] = {
		{ NULL, false, false, 50 },
		{ "busy", false, false, 50 },
		{ "rare", false, false, 10 },
		{ NULL, true, false, 1 },
		{ "busy", true, false, 0 },
		{ "rare", true, false, 1 },
		{ "busy", false, true, 1 },
		{ "busy", true, true, 0 },
		{ NULL, false, true, 1 },
	};
	struct query_result result;
	struct query_spec spec;
	int64_t begin, took;

	put_many();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		spec = (struct query_spec){ .job_name = rows[i].name,
		    .failed = rows[i].failed, .last_ended = rows[i].last,
		    .since = INT64_MIN, .limit = 50 };
		begin = monotime_now().us;
		query_run_now(directory, &spec, &result);
		took = monotime_now().us - begin;
		ck_assert_str_eq(result.err.text, "");
		ck_assert_uint_eq(result.n_rows, rows[i].want);
		ck_assert_msg(took < 100 * USEC_PER_MSEC,
		    "row %zu: %" PRId64 " us", i, took);
		query_result_release(&result);
	}
}
END_TEST

Suite *query_suite(void);

Suite *
query_suite(void)
{
	Suite *s = suite_create("query");
	TCase *t = tcase_create("query");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, all_rows_come_newest_first);
	tcase_add_test(t, a_name_has_the_rows_of_all_its_ids);
	tcase_add_test(t, filters_hold_for_runs);
	tcase_add_test(t, the_last_that_ended_passes_over_live_ones);
	tcase_add_test(t, rows_carry_their_values_and_the_job_name);
	tcase_add_loop_test(t, pages_of_any_size_join_to_the_whole, 1, 10);
	tcase_add_test(t, pages_go_through_rows_of_one_instant);
	tcase_add_test(t, new_rows_do_not_move_the_place);
	tcase_add_loop_test(t, a_place_that_is_none_is_refused, 0, 13);
	tcase_add_test(t, a_missing_database_is_an_error);
	tcase_add_test(t, limits_are_kept_within_a_page);
	tcase_add_test(t, answers_come_on_the_loop);
	tcase_add_test(t, many_rows_make_no_difference);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return check_main(query_suite());
}
