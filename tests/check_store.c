/* SPDX-License-Identifier: ISC */
/*
 * The store on a real disk: what is put is found after opening again, what
 * can't be written is kept and written later, what is not ours is refused.
 * Rows are made here by hand, with a value of its own in each field.
 */
#include "config.h"

#include "daemon/store.h"

#include <check.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "common/strbuf.h"
#include "common/timestamp.h"
#include "common/xmalloc.h"
#include "tests/check_main.h"

static char directory[64];	/* of the running test */

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
	log_set_sink(quiet, NULL);
	strcpy(directory, "/tmp/check_store.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void
remove_files(void)
{
	static const char *const names[] = { "cronctl.db", "cronctl.db-wal",
	    "cronctl.db-shm", "cronctl.db-journal", "cronctl.db.new",
	    "filler", "acknowledged" };
	char path[128];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "%s/%s", directory, names[i]);
		ck_assert(unlink(path) == 0 || errno == ENOENT);
	}
}

static void
teardown(void)
{
	remove_files();
	ck_assert_int_eq(rmdir(directory), 0);
}

static const char *
in_directory(const char *name)
{
	static char path[128];

	snprintf(path, sizeof path, "%s/%s", directory, name);
	return path;
}

static struct store *
open_store(void)
{
	struct error err = { "" };
	struct store *s = store_open(directory, &err);

	ck_assert_msg(s != NULL, "%s", err.text);
	return s;
}

static void
sync_store(struct store *s)
{
	struct error err = { "" };

	ck_assert_msg(store_sync(s, &err) == 0, "%s", err.text);
}

static void
load(struct store *s, struct store_image *image)
{
	struct error err = { "" };

	ck_assert_msg(store_load(s, image, &err) == 0, "%s", err.text);
}

static struct store *
reopen(struct store *s)
{
	store_close(s);
	return open_store();
}

#define TEXT(s) ((char []){ s })

/* Run n of job 7, in a state. */
static struct run_row
a_run(uint64_t id, enum run_state state)
{
	return (struct run_row){
		.id = id, .job_id = 7, .occurrence = 1700000000, .era = 1,
		.generation = 2, .cause = RUN_CAUSE_SCHEDULE, .attempt = 1,
		.state = state, .by_uid = -1, .worker = 3, .pid = 4711,
		.starttime = 99, .due = 1700000000000000,
		.sent = 1700000000000500, .code = -1,
	};
}

static struct job_row
a_job(int64_t id, char *name)
{
	static char owner[] = "alice", definition[] = "command = true\n";

	return (struct job_row){
		.id = id, .name = name, .owner_uid = 1000,
		.owner_name = owner, .origin = ORIGIN_CONTROL,
		.definition = definition, .created = 11,
		.mark = 12, .generation = 1, .generation_from = 13,
	};
}

static struct outcome_row
an_outcome(int64_t occurrence, enum outcome_kind kind,
    enum outcome_reason reason)
{
	return (struct outcome_row){
		.job_id = 7, .era = 1, .occurrence = occurrence,
		.last = occurrence, .count = 1, .generation = 2,
		.kind = kind, .reason = reason, .at = occurrence * 1000000,
	};
}

/* The first column of a query's first row, through another connection. */
static int64_t
ask(const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *s;
	int64_t value = INT64_MIN;

	ck_assert_int_eq(sqlite3_open_v2(in_directory("cronctl.db"), &db,
	    SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK,
	    "%s", sqlite3_errmsg(db));
	if (sqlite3_step(s) == SQLITE_ROW)
		value = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
	return value;
}

/* --- opening --- */

START_TEST(a_new_store_has_a_name_and_counters)
{
	struct store *s = open_store();
	struct store_image a, b;
	struct stat st;

	load(s, &a);
	ck_assert_uint_eq(strlen(a.instance), 32);
	ck_assert_uint_eq(strspn(a.instance, "0123456789abcdef"), 32);
	ck_assert_uint_eq(a.epoch, 1);
	ck_assert_uint_eq(a.next_run_id, 1);
	ck_assert_uint_eq(a.next_worker, 1);
	ck_assert_int_eq(a.next_job_id, 1);
	ck_assert_ptr_null(a.boot_id);
	ck_assert_int_eq(a.mark, 0);
	ck_assert(!a.clean_exit);
	ck_assert_uint_eq(a.era.era, 1);
	ck_assert_uint_eq(a.n_jobs + a.n_runs + a.n_pending + a.n_files, 0);
	ck_assert_int_eq(stat(in_directory("cronctl.db"), &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	s = reopen(s);
	load(s, &b);
	ck_assert_str_eq(a.instance, b.instance);
	ck_assert_uint_eq(b.epoch, 2);
	ck_assert_int_eq(a.era.start, b.era.start);
	store_image_release(&a);
	store_image_release(&b);
	store_close(s);
}
END_TEST

START_TEST(the_log_and_its_index_are_private_too)
{
	struct store *s = open_store();
	struct stat st;

	ck_assert_int_eq(chmod(in_directory("cronctl.db"), 0644), 0);
	s = reopen(s);
	store_put_meta_integer(s, "x", 1);
	sync_store(s);
	ck_assert_int_eq(stat(in_directory("cronctl.db"), &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(stat(in_directory("cronctl.db-wal"), &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	store_close(s);
}
END_TEST

START_TEST(an_unfinished_first_start_is_begun_again)
{
	int fd = open(in_directory("cronctl.db.new"), O_CREAT | O_WRONLY,
	    0600);

	ck_assert_int_eq(write(fd, "half", 4), 4);
	close(fd);
	store_close(open_store());
	ck_assert_int_ne(access(in_directory("cronctl.db.new"), F_OK), 0);
}
END_TEST

/* What stands in for the database, and a word of the refusal. */
static const struct {
	const char	*file;	/* its name */
	const char	*text;	/* its bytes */
	const char	*sql;	/* instead: run on an own or new database */
	bool		 own;	/* on one of ours */
	const char	*want;	/* in the sentence */
} refusals[] = {
	{ "cronctl.db", "", NULL, false, "is damaged (it is empty)" },
	{ "cronctl.db", "this is no database at all, but it is long enough",
	  NULL, false, "is damaged (file is not a database)" },
	{ "cronctl.db", NULL, "CREATE TABLE t(a)", false,
	  "is not a database of cronctl" },
	{ "cronctl.db", NULL, "PRAGMA application_id = 42", true,
	  "is not a database of cronctl (application id 42)" },
	{ "cronctl.db", NULL, "PRAGMA user_version = 99", true,
	  "was written by a newer cronctl (schema 99" },
	{ "cronctl.db", NULL, "PRAGMA user_version = 0", true, "is damaged" },
	{ "cronctl.db", NULL, "DROP TABLE job", true, "" },
	{ "cronctl.db-wal", "old log", NULL, false,
	  "cronctl.db is missing, but" },
};

START_TEST(what_is_not_ours_is_refused)
{
	struct error err = { "" };
	struct store_image image;
	struct store *s;
	sqlite3 *db;
	int fd;

	if (refusals[_i].own)
		store_close(open_store());
	if (refusals[_i].sql != NULL) {
		ck_assert_int_eq(sqlite3_open(in_directory("cronctl.db"),
		    &db), SQLITE_OK);
		ck_assert_int_eq(sqlite3_exec(db, refusals[_i].sql, NULL,
		    NULL, NULL), SQLITE_OK);
		ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
	} else {
		fd = open(in_directory(refusals[_i].file),
		    O_CREAT | O_WRONLY, 0600);
		ck_assert_int_eq(write(fd, refusals[_i].text,
		    strlen(refusals[_i].text)),
		    (ssize_t)strlen(refusals[_i].text));
		close(fd);
	}
	s = store_open(directory, &err);
	if (s != NULL) {
		ck_assert_int_eq(store_load(s, &image, &err), -1);
		store_close(s);
	}
	ck_assert_msg(strstr(err.text, directory) != NULL, "%s", err.text);
	ck_assert_msg(strstr(err.text, refusals[_i].want) != NULL, "%s",
	    err.text);
}
END_TEST

START_TEST(a_missing_directory_is_a_sentence)
{
	struct error err = { "" };

	ck_assert_ptr_null(store_open("/nonexistent/state", &err));
	ck_assert_msg(strstr(err.text, "/nonexistent/state/cronctl.db") !=
	    NULL, "%s", err.text);
}
END_TEST

/* Two hundred files with bytes changed or cut off, by a fixed sequence. */
START_TEST(a_mutated_database_is_refused_or_whole)
{
	struct store *s = open_store();
	struct job_row job = a_job(7, TEXT("backup"));
	struct store_image image;
	struct error err;
	unsigned seed = 1;
	char *good, *bad;
	long size;
	FILE *f;

	for (int i = 0; i < 200; i++) {
		char name[16];

		snprintf(name, sizeof name, "job%d", i);
		job.name = name;
		job.id = i + 1;
		store_put_job(s, &job);
	}
	store_close(s);
	ck_assert_ptr_nonnull(f = fopen(in_directory("cronctl.db"), "rb"));
	ck_assert_int_eq(fseek(f, 0, SEEK_END), 0);
	size = ftell(f);
	rewind(f);
	good = xmalloc((size_t)size);
	ck_assert_uint_eq(fread(good, 1, (size_t)size, f), (size_t)size);
	fclose(f);
	for (int i = 0; i < 200; i++) {
		long keep = size;

		bad = xmemdup(good, (size_t)size);
		if (i % 4 == 0)
			keep = rand_r(&seed) % size;
		for (int n = 0; n < 1 + i % 50; n++)
			bad[rand_r(&seed) % size] ^= (char)(1 + rand_r(&seed) % 255);
		remove_files();
		f = fopen(in_directory("cronctl.db"), "wb");
		ck_assert_uint_eq(fwrite(bad, 1, (size_t)keep, f),
		    (size_t)keep);
		fclose(f);
		free(bad);
		err.text[0] = '\0';
		s = store_open(directory, &err);
		if (s != NULL && store_load(s, &image, &err) == 0) {
			ck_assert_uint_eq(image.n_jobs, 200);
			store_image_release(&image);
		} else {
			ck_assert_str_ne(err.text, "");
		}
		store_close(s);
	}
	free(good);
}
END_TEST

/* --- rows --- */

START_TEST(a_job_comes_back_as_it_was_put)
{
	struct store *s = open_store();
	struct store_image image;
	struct job_row put = {
		.id = 7, .name = TEXT("alice/backup"),
		.owner_uid = 4294967294, .owner_name = TEXT("\xc3\xa1lice"),
		.origin = ORIGIN_FILE, .file = TEXT("web.ini"), .line = 12,
		.definition = TEXT("command = echo '%;#'\n"), .created = 1,
		.mark = -2, .generation = 4294967295, .generation_from = -4,
		.skips = 5, .failures = 6, .failing_since = 8,
		.last_run = UINT64_MAX,
	}, *got;

	store_put_job(s, &put);
	s = reopen(s);
	load(s, &image);
	ck_assert_uint_eq(image.n_jobs, 1);
	ck_assert_int_eq(image.next_job_id, 8);
	got = &image.jobs[0];
	ck_assert_int_eq(got->id, 7);
	ck_assert_str_eq(got->name, put.name);
	ck_assert_uint_eq(got->owner_uid, put.owner_uid);
	ck_assert_str_eq(got->owner_name, put.owner_name);
	ck_assert_int_eq(got->origin, ORIGIN_FILE);
	ck_assert_str_eq(got->file, "web.ini");
	ck_assert_int_eq(got->line, 12);
	ck_assert_str_eq(got->definition, put.definition);
	ck_assert_int_eq(got->created, 1);
	ck_assert_int_eq(got->removed, 0);
	ck_assert_int_eq(got->mark, -2);
	ck_assert_uint_eq(got->generation, 4294967295);
	ck_assert_int_eq(got->generation_from, -4);
	ck_assert_int_eq(got->skips, 5);
	ck_assert_int_eq(got->failures, 6);
	ck_assert_int_eq(got->failing_since, 8);
	ck_assert_uint_eq(got->last_run, UINT64_MAX);
	store_image_release(&image);
	store_close(s);
}
END_TEST

START_TEST(a_removed_job_gives_its_name_free)
{
	struct store *s = open_store();
	struct store_image image;
	struct job_row job = a_job(7, TEXT("backup"));

	store_put_job(s, &job);
	store_put_job_removed(s, 7, 1000);
	job.id = 9;
	store_put_job(s, &job);
	s = reopen(s);
	load(s, &image);
	ck_assert_uint_eq(image.n_jobs, 1);
	ck_assert_int_eq(image.jobs[0].id, 9);
	ck_assert_int_eq(image.next_job_id, 10);
	ck_assert_int_eq(ask("SELECT removed FROM job WHERE id = 7"), 1000);
	store_image_release(&image);
	store_close(s);
}
END_TEST

START_TEST(the_job_counter_outlives_the_highest_job)
{
	struct store *s = open_store();
	struct store_image image;
	struct job_row job = a_job(50, TEXT("backup"));
	sqlite3 *db;

	store_put_job(s, &job);
	job.id = 3;
	job.name = TEXT("other");
	store_put_job(s, &job);
	store_close(s);
	ck_assert_int_eq(sqlite3_open(in_directory("cronctl.db"), &db),
	    SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, "DELETE FROM job", NULL, NULL,
	    NULL), SQLITE_OK);
	sqlite3_close(db);
	s = open_store();
	load(s, &image);
	ck_assert_int_eq(image.next_job_id, 51);
	store_image_release(&image);
	store_close(s);
}
END_TEST

START_TEST(job_state_changes_counters_alone)
{
	struct store *s = open_store();
	struct store_image image;
	struct job_row job = a_job(7, TEXT("backup"));
	struct job_row state = { .id = 7, .mark = 100, .skips = 1,
	    .failures = 2, .failing_since = 3, .last_run = 4 };

	store_put_job(s, &job);
	store_put_job_state(s, &state);
	s = reopen(s);
	load(s, &image);
	ck_assert_str_eq(image.jobs[0].name, "backup");
	ck_assert_int_eq(image.jobs[0].mark, 100);
	ck_assert_int_eq(image.jobs[0].skips, 1);
	ck_assert_int_eq(image.jobs[0].failures, 2);
	ck_assert_int_eq(image.jobs[0].failing_since, 3);
	ck_assert_uint_eq(image.jobs[0].last_run, 4);
	ck_assert_int_eq(image.jobs[0].generation_from, 13);
	store_image_release(&image);
	store_close(s);
}
END_TEST

START_TEST(a_run_comes_back_as_it_was_put)
{
	struct store *s = open_store();
	struct error err = { "" };
	struct job_row job = a_job(7, TEXT("backup"));
	struct run_row put = {
		.id = 100001, .job_id = 7, .occurrence = -1, .era = 2,
		.generation = 3, .cause = RUN_CAUSE_RETRY, .attempt = 4,
		.prev_run = 5, .state = RUN_START_FAILED, .by_uid = 1000,
		.worker = 6, .pid = 7, .starttime = 8, .due = 9,
		.queued = 10, .sent = 11, .started = 12, .ended = 13,
		.code = 14, .signal = 15, .core = true,
		.stage = PROTOCOL_STAGE_WORKDIR,
		.detail = TEXT("no such directory"), .user_us = 16,
		.system_us = 17, .max_rss_kb = 18, .blocks_in = 19,
		.blocks_out = 20, .switches = 21, .output_bytes = 22,
		.output_dropped = 23,
	}, got;

	store_put_job(s, &job);
	store_put_run(s, &put);
	s = reopen(s);
	ck_assert_int_eq(store_find_run(s, 100001, &got, &err), 1);
	ck_assert_int_eq(store_find_run(s, 100002, NULL, &err), 0);
	ck_assert_str_eq(got.job_name, "backup");
	ck_assert_str_eq(got.detail, put.detail);
	run_row_release(&got);
	put.detail = NULL;
	ck_assert_mem_eq(&got, &put, sizeof got);
	store_close(s);
}
END_TEST

START_TEST(a_manual_run_has_no_occurrence)
{
	struct store *s = open_store();
	struct store_image image;
	struct run_row run = a_run(1, RUN_QUEUED);

	run.occurrence = INT64_MIN;
	run.cause = RUN_CAUSE_MANUAL;
	store_put_run(s, &run);
	s = reopen(s);
	load(s, &image);
	ck_assert_uint_eq(image.n_runs, 1);
	ck_assert_int_eq(image.runs[0].state, RUN_QUEUED);
	ck_assert_int_eq(image.runs[0].occurrence, INT64_MIN);
	ck_assert_int_eq(ask("SELECT occurrence IS NULL FROM run"), 1);
	store_image_release(&image);
	store_close(s);
}
END_TEST

/* First one state of a run, then another: which one holds. */
static const struct {
	enum run_state	first;	/* put first */
	enum run_state	then;	/* put after it */
	enum run_state	want;	/* found */
} upserts[] = {
	{ RUN_QUEUED, RUN_STARTING, RUN_STARTING },
	{ RUN_STARTING, RUN_RUNNING, RUN_RUNNING },
	{ RUN_RUNNING, RUN_STARTING, RUN_STARTING },
	{ RUN_RUNNING, RUN_SUCCEEDED, RUN_SUCCEEDED },
	{ RUN_SUCCEEDED, RUN_RUNNING, RUN_SUCCEEDED },
	{ RUN_SUCCEEDED, RUN_QUEUED, RUN_SUCCEEDED },
	{ RUN_SUCCEEDED, RUN_LOST, RUN_SUCCEEDED },
	{ RUN_LOST, RUN_STARTING, RUN_LOST },
	{ RUN_LOST, RUN_SUCCEEDED, RUN_LOST },
	{ RUN_FAILED, RUN_FAILED, RUN_FAILED },
};

START_TEST(a_final_state_stays)
{
	struct store *s = open_store();
	struct error err = { "" };
	struct run_row run = a_run(5, upserts[_i].first), got;

	store_put_run(s, &run);
	if (_i % 2 == 0)
		sync_store(s);
	run.state = upserts[_i].then;
	store_put_run(s, &run);
	sync_store(s);
	ck_assert_int_eq(store_find_run(s, 5, &got, &err), 1);
	ck_assert_int_eq(got.state, upserts[_i].want);
	run_row_release(&got);
	store_close(s);
}
END_TEST

START_TEST(open_runs_alone_are_loaded)
{
	struct store *s = open_store();
	struct store_image image;

	for (int state = RUN_STARTING; state <= RUN_QUEUED; state++) {
		struct run_row run = a_run((uint64_t)state, state);

		store_put_run(s, &run);
	}
	s = reopen(s);
	load(s, &image);
	ck_assert_uint_eq(image.n_runs, 3);
	ck_assert_int_eq(image.runs[0].state, RUN_STARTING);
	ck_assert_int_eq(image.runs[1].state, RUN_RUNNING);
	ck_assert_int_eq(image.runs[2].state, RUN_QUEUED);
	ck_assert_uint_eq(image.next_run_id, 11);
	store_image_release(&image);
	store_close(s);
}
END_TEST

START_TEST(a_run_taken_back_goes_unless_it_is_over)
{
	struct store *s = open_store();
	struct error err = { "" };
	struct run_row open_run = a_run(1, RUN_STARTING);
	struct run_row ended = a_run(2, RUN_SUCCEEDED);
	struct run_row got;

	store_put_run(s, &open_run);
	store_put_run(s, &ended);
	store_put_run_dropped(s, 1);
	store_put_run_dropped(s, 2);
	sync_store(s);
	ck_assert_int_eq(store_find_run(s, 1, &got, &err), 0);
	ck_assert_int_eq(store_find_run(s, 2, &got, &err), 1);
	run_row_release(&got);
	store_close(s);
}
END_TEST

START_TEST(an_outcome_is_one_row_that_can_change)
{
	struct store *s = open_store();
	struct outcome_row o = an_outcome(100, OUTCOME_STARTED, REASON_NONE);

	o.run_id = 5;
	store_put_outcome(s, &o);
	sync_store(s);
	ck_assert_int_eq(ask("SELECT kind FROM outcome"), OUTCOME_STARTED);
	o = an_outcome(100, OUTCOME_MISSED, REASON_OVERLOAD);
	store_put_outcome(s, &o);
	sync_store(s);
	ck_assert_int_eq(ask("SELECT count(*) FROM outcome"), 1);
	ck_assert_int_eq(ask("SELECT kind FROM outcome"), OUTCOME_MISSED);
	ck_assert_int_eq(ask("SELECT reason FROM outcome"), REASON_OVERLOAD);
	ck_assert_int_eq(ask("SELECT run_id FROM outcome"), 0);
	o.last = 200;
	o.count = 11;
	store_put_outcome(s, &o);
	sync_store(s);
	ck_assert_int_eq(ask("SELECT count FROM outcome"), 11);
	ck_assert_int_eq(ask("SELECT last FROM outcome"), 200);
	store_close(s);
}
END_TEST

START_TEST(pending_rows_come_oldest_first_and_go_when_decided)
{
	struct store *s = open_store();
	struct store_image image;
	struct pending_row p = { .job_id = 7, .era = 1, .occurrence = 60,
	    .generation = 2, .state = PENDING_POOL, .due = 300, .queued = 5 };

	store_put_pending(s, &p);
	p.occurrence = 61;
	p.due = 200;
	p.state = PENDING_QUEUED;
	store_put_pending(s, &p);
	p.occurrence = 62;
	p.due = 100;
	store_put_pending(s, &p);
	store_put_pending_decided(s, 7, 1, 62);
	s = reopen(s);
	load(s, &image);
	ck_assert_uint_eq(image.n_pending, 2);
	ck_assert_int_eq(image.pending[0].occurrence, 61);
	ck_assert_int_eq(image.pending[0].state, PENDING_QUEUED);
	ck_assert_int_eq(image.pending[1].occurrence, 60);
	ck_assert_int_eq(image.pending[1].due, 300);
	ck_assert_int_eq(image.pending[1].queued, 5);
	ck_assert_uint_eq(image.pending[1].generation, 2);
	store_image_release(&image);
	store_close(s);
}
END_TEST

START_TEST(a_file_keeps_its_last_good_text)
{
	struct store *s = open_store();
	struct store_image image;
	struct file_row f = { .name = TEXT("web.ini"),
	    .good = TEXT("[a]\0b"), .good_len = 5, .loaded = 50 };
	struct file_row bad = { .name = TEXT("web.ini"),
	    .error = TEXT("web.ini:1: no"), .loaded = 60 };

	store_put_file(s, &f);
	store_put_file(s, &bad);
	bad.name = TEXT("new.ini");
	store_put_file(s, &bad);
	bad.name = TEXT("gone.ini");
	store_put_file(s, &bad);
	store_put_file_gone(s, "gone.ini");
	s = reopen(s);
	load(s, &image);
	ck_assert_uint_eq(image.n_files, 2);
	ck_assert_str_eq(image.files[0].name, "new.ini");
	ck_assert_ptr_null(image.files[0].good);
	ck_assert_str_eq(image.files[1].name, "web.ini");
	ck_assert_uint_eq(image.files[1].good_len, 5);
	ck_assert_mem_eq(image.files[1].good, "[a]\0b", 5);
	ck_assert_str_eq(image.files[1].error, "web.ini:1: no");
	ck_assert_int_eq(image.files[1].loaded, 50);
	store_image_release(&image);
	store_close(s);
}
END_TEST

START_TEST(generations_eras_and_counters_are_kept)
{
	struct store *s = open_store();
	struct store_image image;
	struct generation_row g = { .job_id = 7, .generation = 1,
	    .from = 100, .to = INT64_MAX, .definition = TEXT("schedule = @daily"),
	    .zones = TEXT("UTC 0"), .host_id = TEXT("h") };
	struct era_row e = { .era = 2, .start = 5000, .previous_end = 9000 };

	store_put_generation(s, &g);
	g.to = 200;
	store_put_generation(s, &g);
	store_put_era(s, &e);
	store_put_meta_integer(s, STORE_META_NEXT_RUN_ID, 100001);
	store_put_meta_integer(s, STORE_META_NEXT_WORKER, 17);
	store_put_meta_string(s, "word", "one");
	s = reopen(s);
	load(s, &image);
	ck_assert_uint_eq(image.next_run_id, 100001);
	ck_assert_uint_eq(image.next_worker, 17);
	ck_assert_uint_eq(image.era.era, 2);
	ck_assert_int_eq(image.era.start, 5000);
	ck_assert_int_eq(image.era.previous_end, 9000);
	ck_assert_int_eq(ask("SELECT \"to\" FROM generation"), 200);
	ck_assert_int_eq(ask("SELECT count(*) FROM generation"), 1);
	ck_assert_int_eq(ask("SELECT value = 'one' FROM meta"
	    " WHERE key = 'word'"), 1);
	store_image_release(&image);
	store_close(s);
}
END_TEST

START_TEST(the_mark_rides_on_facts_and_tells_of_a_clean_exit)
{
	struct store *s = open_store();
	struct store_image image;

	store_put_mark(s, 1111);
	s = reopen(s);		/* nothing else: no commit for it */
	load(s, &image);
	ck_assert_int_eq(image.mark, 0);
	store_image_release(&image);
	store_put_meta_integer(s, STORE_META_CLEAN_EXIT, 1);
	store_put_mark(s, 2222);
	s = reopen(s);
	load(s, &image);
	ck_assert_int_eq(image.mark, 2222);
	ck_assert(image.clean_exit);
	ck_assert_ptr_nonnull(image.boot_id);
	ck_assert_uint_eq(strlen(image.boot_id), 36);
	store_image_release(&image);
	s = reopen(s);
	load(s, &image);
	ck_assert(!image.clean_exit);
	ck_assert_int_eq(image.mark, 2222);
	store_image_release(&image);
	store_close(s);
}
END_TEST

START_TEST(a_fact_that_breaks_the_schema_harms_no_other)
{
	struct store *s = open_store();
	struct store_image image;
	struct job_row job = a_job(1, TEXT("same"));

	store_put_job(s, &job);
	job.id = 2;
	store_put_job(s, &job);
	job.id = 3;
	job.name = TEXT("other");
	store_put_job(s, &job);
	sync_store(s);
	load(s, &image);
	ck_assert_uint_eq(image.n_jobs, 2);
	ck_assert_int_eq(image.jobs[0].id, 1);
	ck_assert_int_eq(image.jobs[1].id, 3);
	store_image_release(&image);
	store_close(s);
}
END_TEST

START_TEST(a_damaged_row_is_refused)
{
	struct store *s = open_store();
	struct store_image image;
	struct error err = { "" };
	struct job_row job = a_job(1, TEXT("backup"));
	sqlite3 *db;

	store_put_job(s, &job);
	store_close(s);
	ck_assert_int_eq(sqlite3_open(in_directory("cronctl.db"), &db),
	    SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, "UPDATE job SET origin = 77", NULL,
	    NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	s = open_store();
	ck_assert_int_eq(store_load(s, &image, &err), -1);
	ck_assert_msg(strstr(err.text, "origin of 77") != NULL, "%s",
	    err.text);
	store_close(s);
}
END_TEST

/* --- commits --- */

struct results {
	int	committed;	/* callbacks with each result */
	int	failed;
	int	order[1000];	/* of committed ones, by argument */
};

struct result_of {
	struct results	*results;	/* to count in */
	int		 number;	/* of this one */
};

static void
on_result(void *arg, enum store_result result)
{
	struct result_of *r = arg;

	if (result == STORE_FAILED) {
		r->results->failed++;
		return;
	}
	r->results->order[r->results->committed++] = r->number;
}

START_TEST(callbacks_come_in_order_after_the_commit)
{
	struct store *s = open_store();
	struct results results = { 0 };
	struct result_of one = { &results, 1 }, two = { &results, 2 };
	struct store_status status;

	store_put_meta_integer(s, "a", 1);
	store_after_commit(s, on_result, &one);
	store_flush(s);
	store_put_meta_integer(s, "a", 2);
	store_after_commit(s, on_result, &two);
	ck_assert(store_step(s));
	ck_assert_int_eq(results.committed, 0);
	ck_assert_int_eq(ask("SELECT value FROM meta WHERE key = 'a'"), 1);
	store_complete(s);
	ck_assert_int_eq(results.committed, 1);
	store_status(s, &status);
	ck_assert_uint_eq(status.waiting, 1);
	ck_assert_int_gt(status.last_commit, 0);
	sync_store(s);
	ck_assert_int_eq(results.committed, 2);
	ck_assert_int_eq(results.order[0], 1);
	ck_assert_int_eq(results.order[1], 2);
	ck_assert(!store_step(s));
	store_status(s, &status);
	ck_assert_uint_eq(status.waiting, 0);
	ck_assert(!status.broken);
	store_close(s);
}
END_TEST

START_TEST(flush_of_nothing_is_nothing)
{
	struct store *s = open_store();

	store_put_mark(s, 5);
	store_flush(s);
	ck_assert(!store_step(s));
	store_close(s);
}
END_TEST

START_TEST(a_callback_without_facts_comes_too)
{
	struct store *s = open_store();
	struct results results = { 0 };
	struct result_of one = { &results, 1 };

	store_after_commit(s, on_result, &one);
	sync_store(s);
	ck_assert_int_eq(results.committed, 1);
	store_close(s);
}
END_TEST

START_TEST(a_thousand_waiting_changes_are_the_room)
{
	struct store *s = open_store();
	struct results results = { 0 };
	struct result_of one = { &results, 1 };

	for (int i = 0; i < 1000; i++) {
		ck_assert(store_has_room(s));
		store_after_commit(s, on_result, &one);
	}
	ck_assert(!store_has_room(s));
	store_flush(s);
	ck_assert(store_step(s));
	ck_assert(!store_has_room(s));
	store_complete(s);
	ck_assert(store_has_room(s));
	ck_assert_int_eq(results.committed, 1000);
	store_close(s);
}
END_TEST

START_TEST(outcomes_beyond_the_bound_are_dropped_and_counted)
{
	struct store *s = open_store();
	struct outcome_row o = an_outcome(0, OUTCOME_SKIPPED, REASON_OVERLAP);
	struct store_status status;

	for (int i = 0; i < 100000; i++) {
		o.occurrence = i;
		store_put_outcome(s, &o);
	}
	store_status(s, &status);
	ck_assert_uint_eq(status.dropped, 0);
	o.occurrence = 100000;
	store_put_outcome(s, &o);
	o.occurrence = 100001;
	o.kind = OUTCOME_STARTED;
	store_put_outcome(s, &o);
	store_status(s, &status);
	ck_assert_uint_eq(status.dropped, 1);
	ck_assert_uint_eq(status.waiting, 100001);
	sync_store(s);
	ck_assert_int_eq(ask("SELECT count(*) FROM outcome"), 100001);
	ck_assert_int_eq(ask("SELECT count(*) FROM outcome"
	    " WHERE occurrence = 100001"), 1);
	o.occurrence = 100002;
	o.kind = OUTCOME_SKIPPED;
	store_put_outcome(s, &o);
	store_status(s, &status);
	ck_assert_uint_eq(status.dropped, 1);
	ck_assert_uint_eq(status.waiting, 1);
	store_close(s);
}
END_TEST

START_TEST(sixty_four_mebibytes_are_the_bound_too)
{
	struct store *s = open_store();
	struct outcome_row o = an_outcome(0, OUTCOME_SKIPPED, REASON_OVERLAP);
	struct file_row f = { .name = TEXT("f"), .good_len = 64 << 20 };
	struct store_status status;

	f.good = xcalloc(1, f.good_len);
	store_put_file(s, &f);
	free(f.good);
	store_put_outcome(s, &o);
	store_status(s, &status);
	ck_assert_uint_eq(status.dropped, 1);
	ck_assert_uint_eq(status.waiting, 1);
	store_close(s);
}
END_TEST

/* --- failures --- */

static void
limit_files(rlim_t bytes)
{
	struct rlimit limit = { bytes, RLIM_INFINITY };

	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Files can't grow past what they are. */
static void
break_disk(void)
{
	ck_assert_ptr_ne(signal(SIGXFSZ, SIG_IGN), SIG_ERR);
	limit_files(1);
}

START_TEST(a_failed_commit_is_told_once_and_the_facts_are_kept)
{
	struct store *s = open_store();
	struct results results = { 0 };
	struct result_of one = { &results, 1 }, two = { &results, 2 };
	struct run_row run = a_run(1, RUN_RUNNING), got;
	struct store_status status;
	struct error err = { "" };

	break_disk();
	store_put_run(s, &run);
	store_after_commit(s, on_result, &one);
	ck_assert_int_eq(store_sync(s, &err), -1);
	ck_assert_msg(strstr(err.text, directory) != NULL, "%s", err.text);
	ck_assert_int_eq(results.failed, 1);
	store_status(s, &status);
	ck_assert(status.broken);
	ck_assert_str_ne(status.detail, "");
	ck_assert_uint_eq(status.waiting, 1);
	run.state = RUN_SUCCEEDED;
	store_put_run(s, &run);
	store_after_commit(s, on_result, &two);
	ck_assert_int_eq(store_sync(s, &err), -1);
	ck_assert_int_eq(results.failed, 2);
	limit_files(RLIM_INFINITY);
	sync_store(s);
	ck_assert_int_eq(results.failed, 2);
	ck_assert_int_eq(results.committed, 0);
	store_status(s, &status);
	ck_assert(!status.broken);
	ck_assert_str_eq(status.detail, "");
	ck_assert_uint_eq(status.waiting, 0);
	ck_assert_int_eq(store_find_run(s, 1, &got, &err), 1);
	ck_assert_int_eq(got.state, RUN_SUCCEEDED);
	run_row_release(&got);
	store_close(s);
}
END_TEST

/* store.c keeps 100,000 facts at most. */
START_TEST(what_is_dropped_leaves_a_gap_that_says_how_many)
{
	struct store *s = open_store();
	struct store_status status;
	struct outcome_row row = {
		.job_id = 1, .era = 1, .count = 1, .generation = 1,
		.kind = OUTCOME_SKIPPED, .reason = REASON_OVERLAP,
	};

	for (int64_t i = 1; i <= 100010; i++) {
		row.occurrence = row.last = i;
		row.at = i * 1000000;
		store_put_outcome(s, &row);
	}
	sync_store(s);
	store_status(s, &status);
	ck_assert_uint_eq(status.dropped, 10);
	ck_assert_int_eq(ask("SELECT count(*) FROM outcome"), 100000);
	ck_assert_int_eq(ask("SELECT at FROM gap"), 100001 * INT64_C(1000000));
	ck_assert_int_eq(ask("SELECT last FROM gap"),
	    100010 * INT64_C(1000000));
	ck_assert_int_eq(ask("SELECT dropped FROM gap"), 10);
	/* A later one is kept again. */
	row.occurrence = row.last = 200000;
	store_put_outcome(s, &row);
	sync_store(s);
	ck_assert_int_eq(ask("SELECT count(*) FROM outcome"), 100001);
	store_close(s);
}
END_TEST

START_TEST(a_store_that_is_damaged_meanwhile_is_not_believed)
{
	struct store *s = open_store();
	struct job_row job = a_job(1, TEXT("backup"));
	struct store_status status;
	struct error err = { "" };
	char page[4096];
	int fd;

	store_put_job(s, &job);
	s = reopen(s);
	break_disk();
	store_put_meta_integer(s, "a", 1);
	ck_assert_int_eq(store_sync(s, &err), -1);
	limit_files(RLIM_INFINITY);
	memset(page, 0x5a, sizeof page);
	fd = open(in_directory("cronctl.db"), O_WRONLY);
	ck_assert_int_eq(pwrite(fd, page, sizeof page, 2 * 4096), 4096);
	close(fd);
	ck_assert_int_eq(store_sync(s, &err), -1);
	ck_assert_msg(strstr(err.text, "is damaged") != NULL, "%s", err.text);
	store_status(s, &status);
	ck_assert(status.broken);
	ck_assert_uint_eq(status.waiting, 1);
	store_close(s);
}
END_TEST

struct watched {
	struct store		*store;		/* with its thread */
	struct event_base	*base;		/* its loop */
};

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

/* Turns the loop until the store is as wanted, 10 s at most; in us. */
static int64_t
loop_until(struct watched *w, bool broken, size_t waiting)
{
	int64_t begin = monotime_now().us;
	struct timeval tick = { 0, 5000 };
	struct event *e = event_new(w->base, -1, EV_PERSIST, on_tick, NULL);
	struct store_status status;

	ck_assert_int_eq(event_add(e, &tick), 0);
	for (;;) {
		store_status(w->store, &status);
		if (status.broken == broken && status.waiting == waiting)
			break;
		ck_assert(monotime_now().us < begin + 10 * USEC_PER_SEC);
		event_base_loop(w->base, EVLOOP_ONCE);
	}
	event_free(e);
	return monotime_now().us - begin;
}

START_TEST(the_thread_commits_and_calls_back_on_the_loop)
{
	struct watched w = { open_store(), event_base_new() };
	struct results results = { 0 };
	struct result_of one = { &results, 1 };

	ck_assert_int_eq(store_start_thread(w.store, w.base), 0);
	store_put_meta_integer(w.store, "a", 1);
	store_after_commit(w.store, on_result, &one);
	ck_assert_int_eq(results.committed, 0);
	store_flush(w.store);
	loop_until(&w, false, 0);
	ck_assert_int_eq(results.committed, 1);
	store_close(w.store);
	event_base_free(w.base);
	ck_assert_int_eq(ask("SELECT value FROM meta WHERE key = 'a'"), 1);
}
END_TEST

START_TEST(the_thread_recovers_by_itself)
{
	struct watched w = { open_store(), event_base_new() };

	ck_assert_int_eq(store_start_thread(w.store, w.base), 0);
	break_disk();
	store_put_meta_integer(w.store, "a", 1);
	store_flush(w.store);
	loop_until(&w, true, 1);
	limit_files(RLIM_INFINITY);
	ck_assert_int_lt(loop_until(&w, false, 0), 5 * USEC_PER_SEC);
	store_close(w.store);
	event_base_free(w.base);
	ck_assert_int_eq(ask("SELECT value FROM meta WHERE key = 'a'"), 1);
}
END_TEST

START_TEST(close_writes_what_was_never_flushed)
{
	struct watched w = { open_store(), event_base_new() };
	struct results results = { 0 };
	struct result_of one = { &results, 1 };

	ck_assert_int_eq(store_start_thread(w.store, w.base), 0);
	for (int i = 0; i < 200; i++) {
		store_put_meta_integer(w.store, "a", i);
		store_flush(w.store);
	}
	store_put_meta_integer(w.store, "a", 1000);
	store_after_commit(w.store, on_result, &one);
	store_close(w.store);
	event_base_free(w.base);
	ck_assert_int_eq(results.committed, 1);
	ck_assert_int_eq(ask("SELECT value FROM meta WHERE key = 'a'"), 1000);
}
END_TEST

/* Fills the disk under the store; false when there is no room to fill. */
static bool
fill(const char *path)
{
	static char block[64 * 1024];
	int fd = open(path, O_CREAT | O_WRONLY | O_APPEND, 0600);
	size_t size = sizeof block;
	ssize_t n;

	ck_assert_int_ge(fd, 0);
	while (size > 0) {
		n = write(fd, block, size);
		if (n < 0)
			size /= 2;
	}
	return close(fd) == 0;
}

START_TEST(a_full_disk_heals_within_five_seconds_of_space)
{
	struct watched w;
	struct store_status status;
	struct outcome_row o = an_outcome(0, OUTCOME_SKIPPED, REASON_OVERLAP);

	if (mount("none", directory, "tmpfs", 0, "size=1m") != 0) {
		printf("# skipped: no tmpfs to be had here: %s\n",
		    strerror(errno));
		return;
	}
	w = (struct watched){ open_store(), event_base_new() };
	ck_assert_int_eq(store_start_thread(w.store, w.base), 0);
	ck_assert(fill(in_directory("filler")));
	for (int i = 0; i < 1000; i++) {
		o.occurrence = i;
		store_put_outcome(w.store, &o);
	}
	store_flush(w.store);
	loop_until(&w, true, 1000);
	store_status(w.store, &status);
	ck_assert_msg(strstr(status.detail, "the disk is full") != NULL, "%s",
	    status.detail);
	ck_assert_int_eq(unlink(in_directory("filler")), 0);
	ck_assert_int_lt(loop_until(&w, false, 0), 5 * USEC_PER_SEC);
	store_close(w.store);
	event_base_free(w.base);
	ck_assert_int_eq(ask("SELECT count(*) FROM outcome"), 1000);
	ck_assert_int_eq(umount(directory), 0);
}
END_TEST

/* --- crashes --- */

struct crash {
	struct store	*store;		/* the child's */
	int		 ack;		/* pipe: a number after its commit */
};

struct crash_ack {
	struct crash	*crash;		/* whose */
	int64_t		 number;	/* what is acknowledged */
};

static void
acknowledge(void *arg, enum store_result result)
{
	struct crash_ack *a = arg;

	if (result == STORE_COMMITTED &&
	    write(a->crash->ack, &a->number, sizeof a->number) !=
	    (ssize_t)sizeof a->number)
		_exit(1);
	free(a);
}

/* Puts numbered runs and outcomes for ever. */
static void
crash_child(int ack, int64_t number)
{
	struct crash c = { store_open(directory, NULL), ack };

	if (c.store == NULL)
		_exit(2);
	for (;; number++) {
		struct run_row run = a_run((uint64_t)number, RUN_RUNNING);
		struct outcome_row o = an_outcome(number, OUTCOME_STARTED,
		    REASON_NONE);
		struct crash_ack *a = xcalloc(1, sizeof *a);
		struct event_row e = { .at = number, .job_id = 7,
		    .run_id = (uint64_t)number, .kind = EVENT_RUN_STARTED };

		store_put_event(c.store, &e);
		store_put_run(c.store, &run);
		store_put_outcome(c.store, &o);
		*a = (struct crash_ack){ &c, number };
		store_after_commit(c.store, acknowledge, a);
		if (number % 3 == 0 && store_sync(c.store, NULL) != 0)
			_exit(3);
	}
}

/* Starts the child, kills it after a while, returns the last number acked. */
static int64_t
crash_once(int64_t first, unsigned wait_us)
{
	int64_t last = first - 1, number;
	int ack[2], status;
	pid_t pid;

	ck_assert_int_eq(pipe(ack), 0);
	ck_assert_int_ge(pid = fork(), 0);
	if (pid == 0) {
		close(ack[0]);
		crash_child(ack[1], first);
	}
	close(ack[1]);
	/* At random into the work: from the first acknowledgement on. */
	ck_assert_int_eq(read(ack[0], &number, sizeof number),
	    (ssize_t)sizeof number);
	last = number;
	usleep(wait_us);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	while (read(ack[0], &number, sizeof number) ==
	    (ssize_t)sizeof number)
		last = number;
	close(ack[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	return last;
}

START_TEST(what_was_acknowledged_survives_a_kill)
{
	unsigned seed = 7;
	int64_t first = 1, last, runs, outcomes;
	struct store *s;

	for (int i = 0; i < 40; i++) {
		last = crash_once(first, (unsigned)rand_r(&seed) % 8000);
		s = open_store();
		runs = ask("SELECT count(*) FROM run");
		outcomes = ask("SELECT count(*) FROM outcome");
		ck_assert_int_eq(runs, outcomes);
		ck_assert_int_ge(runs, last);
		/* Without a hole: the highest is as many as there are. */
		ck_assert_int_eq(ask("SELECT max(id) FROM run"), runs);
		/* Each with its event, numbered in the same order. */
		ck_assert_int_eq(ask("SELECT count(*) FROM event"), runs);
		ck_assert_int_eq(ask("SELECT count(*) FROM event"
		    " WHERE seq <> run_id"), 0);
		store_close(s);
		first = runs + 1;
	}
}
END_TEST

/* --- words --- */

START_TEST(words_are_those_of_the_manual)
{
	ck_assert_str_eq(outcome_kind_name(OUTCOME_COALESCED), "coalesced");
	ck_assert_str_eq(outcome_kind_name(0), "unknown");
	ck_assert_str_eq(outcome_reason_name(REASON_NONE), "");
	ck_assert_str_eq(outcome_reason_name(REASON_REPLACED_WHILE_QUEUED),
	    "replaced_while_queued");
	ck_assert_str_eq(outcome_reason_name(REASON_OVERLOAD), "overload");
	ck_assert_str_eq(outcome_reason_name(99), "unknown");
	ck_assert_str_eq(run_state_name(RUN_START_FAILED), "start_failed");
	ck_assert_str_eq(run_state_name(RUN_QUEUED), "queued");
	ck_assert_str_eq(run_state_name(0), "unknown");
	ck_assert_str_eq(run_state_name(99), "unknown");
	for (int state = RUN_STARTING; state <= RUN_QUEUED; state++)
		ck_assert_int_eq(run_state_is_final(state),
		    state >= RUN_SUCCEEDED && state <= RUN_LOST);
}
END_TEST

Suite *store_suite(void);

Suite *
store_suite(void)
{
	Suite *s = suite_create("store");
	TCase *t = tcase_create("store");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_new_store_has_a_name_and_counters);
	tcase_add_test(t, the_log_and_its_index_are_private_too);
	tcase_add_test(t, an_unfinished_first_start_is_begun_again);
	tcase_add_loop_test(t, what_is_not_ours_is_refused, 0,
	    sizeof refusals / sizeof *refusals);
	tcase_add_test(t, a_missing_directory_is_a_sentence);
	tcase_add_test(t, a_mutated_database_is_refused_or_whole);
	tcase_add_test(t, a_job_comes_back_as_it_was_put);
	tcase_add_test(t, a_removed_job_gives_its_name_free);
	tcase_add_test(t, the_job_counter_outlives_the_highest_job);
	tcase_add_test(t, job_state_changes_counters_alone);
	tcase_add_test(t, a_run_comes_back_as_it_was_put);
	tcase_add_test(t, a_manual_run_has_no_occurrence);
	tcase_add_loop_test(t, a_final_state_stays, 0,
	    sizeof upserts / sizeof *upserts);
	tcase_add_test(t, open_runs_alone_are_loaded);
	tcase_add_test(t, a_run_taken_back_goes_unless_it_is_over);
	tcase_add_test(t, an_outcome_is_one_row_that_can_change);
	tcase_add_test(t, pending_rows_come_oldest_first_and_go_when_decided);
	tcase_add_test(t, a_file_keeps_its_last_good_text);
	tcase_add_test(t, generations_eras_and_counters_are_kept);
	tcase_add_test(t, the_mark_rides_on_facts_and_tells_of_a_clean_exit);
	tcase_add_test(t, a_fact_that_breaks_the_schema_harms_no_other);
	tcase_add_test(t, a_damaged_row_is_refused);
	tcase_add_test(t, callbacks_come_in_order_after_the_commit);
	tcase_add_test(t, flush_of_nothing_is_nothing);
	tcase_add_test(t, a_callback_without_facts_comes_too);
	tcase_add_test(t, a_thousand_waiting_changes_are_the_room);
	tcase_add_test(t, outcomes_beyond_the_bound_are_dropped_and_counted);
	tcase_add_test(t, sixty_four_mebibytes_are_the_bound_too);
	tcase_add_test(t, a_failed_commit_is_told_once_and_the_facts_are_kept);
	tcase_add_test(t, what_is_dropped_leaves_a_gap_that_says_how_many);
	tcase_add_test(t, a_store_that_is_damaged_meanwhile_is_not_believed);
	tcase_add_test(t, the_thread_commits_and_calls_back_on_the_loop);
	tcase_add_test(t, the_thread_recovers_by_itself);
	tcase_add_test(t, close_writes_what_was_never_flushed);
	tcase_add_test(t, a_full_disk_heals_within_five_seconds_of_space);
	tcase_add_test(t, what_was_acknowledged_survives_a_kill);
	tcase_add_test(t, words_are_those_of_the_manual);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return check_main(store_suite());
}
