/* SPDX-License-Identifier: ISC */
/*
 * What a starting daemon takes over, read in one transaction, so that it is
 * one state of the store.  Every number is checked against what this program
 * can have written: the disk is outside.
 *
 * Cost: one pass over the jobs in force, the open runs, what is pending, and
 * the files; never over the ledger.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/xmalloc.h"
#include "daemon/store_internal.h"

char *
store_column_text(sqlite3_stmt *s, int column)
{
	const unsigned char *text = sqlite3_column_text(s, column);

	if (text == NULL)
		return NULL;
	return xstrndup((const char *)text,
	    (size_t)sqlite3_column_bytes(s, column));
}

int
store_column_integer(sqlite3_stmt *s, int column, int64_t min, int64_t max,
    int64_t *value, const char *what, struct error *err)
{
	*value = sqlite3_column_int64(s, column);
	if (*value < min || *value > max)
		return error_set(err, "the store is damaged: a %s of %" PRId64,
		    what, *value);
	return 0;
}

int
store_read_run(sqlite3_stmt *s, struct run_row *row, struct error *err)
{
	int64_t era, generation, cause, attempt, state, pid, code, sig, stage;

	*row = (struct run_row){ .id = (uint64_t)sqlite3_column_int64(s, 0) };
	if (store_column_integer(s, 3, 0, UINT32_MAX, &era, "run's era",
	    err) != 0 ||
	    store_column_integer(s, 4, 0, UINT32_MAX, &generation,
	    "run's generation", err) != 0 ||
	    store_column_integer(s, 5, RUN_CAUSE_SCHEDULE, RUN_CAUSE_REBOOT,
	    &cause, "run's cause", err) != 0 ||
	    store_column_integer(s, 6, 0, UINT32_MAX, &attempt,
	    "run's attempt", err) != 0 ||
	    store_column_integer(s, 8, RUN_STARTING, RUN_QUEUED, &state,
	    "run's state", err) != 0 ||
	    store_column_integer(s, 11, 0, INT32_MAX, &pid, "run's pid",
	    err) != 0 ||
	    store_column_integer(s, 18, -1, INT32_MAX, &code, "run's code",
	    err) != 0 ||
	    store_column_integer(s, 19, 0, INT32_MAX, &sig, "run's signal",
	    err) != 0 ||
	    store_column_integer(s, 21, PROTOCOL_STAGE_NONE,
	    PROTOCOL_STAGE_EXEC, &stage, "run's stage", err) != 0)
		return -1;
	row->job_id = sqlite3_column_int64(s, 1);
	row->occurrence = sqlite3_column_type(s, 2) == SQLITE_NULL ?
	    INT64_MIN : sqlite3_column_int64(s, 2);
	row->era = (uint32_t)era;
	row->generation = (uint32_t)generation;
	row->cause = (enum run_cause)cause;
	row->attempt = (uint32_t)attempt;
	row->prev_run = (uint64_t)sqlite3_column_int64(s, 7);
	row->state = (enum run_state)state;
	row->by_uid = sqlite3_column_int64(s, 9);
	row->worker = (uint64_t)sqlite3_column_int64(s, 10);
	row->pid = (pid_t)pid;
	row->starttime = (uint64_t)sqlite3_column_int64(s, 12);
	row->due = sqlite3_column_int64(s, 13);
	row->queued = sqlite3_column_int64(s, 14);
	row->sent = sqlite3_column_int64(s, 15);
	row->started = sqlite3_column_int64(s, 16);
	row->ended = sqlite3_column_int64(s, 17);
	row->code = (int)code;
	row->signal = (int)sig;
	row->core = sqlite3_column_int64(s, 20) != 0;
	row->stage = (enum protocol_stage)stage;
	row->detail = store_column_text(s, 22);
	row->user_us = sqlite3_column_int64(s, 23);
	row->system_us = sqlite3_column_int64(s, 24);
	row->max_rss_kb = sqlite3_column_int64(s, 25);
	row->blocks_in = sqlite3_column_int64(s, 26);
	row->blocks_out = sqlite3_column_int64(s, 27);
	row->switches = sqlite3_column_int64(s, 28);
	row->output_bytes = sqlite3_column_int64(s, 29);
	row->output_dropped = sqlite3_column_int64(s, 30);
	row->job_name = store_column_text(s, STORE_RUN_N_COLUMNS);
	return 0;
}

/* Makes room for one more element of an array that grows by halves. */
static void *
grow(void *v, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return v;
	*cap += *cap / 2 + 16;
	return xreallocarray(v, *cap, size);
}

/*
 * Gives each row of a query to take, until that fails.  what is for people:
 * "read its jobs".
 */
static int
each_row(struct store_writer *w, const char *sql, const char *what,
    int (*take)(sqlite3_stmt *, void *arg, struct error *), void *arg,
    struct error *err)
{
	sqlite3_stmt *s;
	int rc;

	if (sqlite3_prepare_v2(w->db, sql, -1, &s, NULL) != SQLITE_OK)
		return store_fail(w, err, what);
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		if (take(s, arg, err) != 0) {
			sqlite3_finalize(s);
			return error_prefix(err, "%s", w->path);
		}
	}
	if (rc != SQLITE_DONE)
		store_fail(w, err, what);
	sqlite3_finalize(s);
	return rc == SQLITE_DONE ? 0 : -1;
}

/* An image being filled, with the room of its arrays. */
struct loading {
	struct store_image	*image;		/* it */
	size_t			 cap_jobs;	/* allocated, as below */
	size_t			 cap_runs;
	size_t			 cap_pending;
	size_t			 cap_pauses;
	size_t			 cap_files;
};

static int
take_meta(sqlite3_stmt *s, void *arg, struct error *err)
{
	struct store_image *image = ((struct loading *)arg)->image;
	const char *key = (const char *)sqlite3_column_text(s, 0);
	int64_t value = sqlite3_column_int64(s, 1);
	const char *text;

	if (strcmp(key, "instance") == 0) {
		text = (const char *)sqlite3_column_text(s, 1);
		if (text == NULL || strlen(text) != 32)
			return error_set(err, "the store is damaged: an "
			    "instance of \"%s\"", text != NULL ? text : "");
		memcpy(image->instance, text, sizeof image->instance);
	} else if (strcmp(key, "epoch") == 0) {
		image->epoch = (uint64_t)value;
	} else if (strcmp(key, STORE_META_NEXT_RUN_ID) == 0) {
		if ((uint64_t)value > image->next_run_id)
			image->next_run_id = (uint64_t)value;
	} else if (strcmp(key, STORE_META_NEXT_WORKER) == 0) {
		image->next_worker = (uint64_t)value;
	} else if (strcmp(key, "next_job_id") == 0) {
		if (value > image->next_job_id)
			image->next_job_id = value;
	} else if (strcmp(key, "mark") == 0) {
		image->mark = value;
	} else if (strcmp(key, "boot_id") == 0) {
		free(image->boot_id);
		image->boot_id = store_column_text(s, 1);
	}
	return 0;
}

/* Counters can't be behind the rows that they have given numbers to. */
static int
take_highest(sqlite3_stmt *s, void *arg, struct error *err)
{
	struct store_image *image = ((struct loading *)arg)->image;

	(void)err;
	image->next_run_id = (uint64_t)sqlite3_column_int64(s, 0) + 1;
	image->next_job_id = sqlite3_column_int64(s, 1) + 1;
	return 0;
}

static int
take_era(sqlite3_stmt *s, void *arg, struct error *err)
{
	struct store_image *image = ((struct loading *)arg)->image;
	int64_t era;

	if (store_column_integer(s, 0, 1, UINT32_MAX, &era, "era", err) != 0)
		return -1;
	image->era.era = (uint32_t)era;
	image->era.start = sqlite3_column_int64(s, 1);
	image->era.previous_end = sqlite3_column_int64(s, 2);
	return 0;
}

static int
take_job(sqlite3_stmt *s, void *arg, struct error *err)
{
	struct loading *l = arg;
	struct store_image *image = l->image;
	struct job_row *row;
	int64_t uid, origin, line, generation;

	if (store_column_integer(s, 2, 0, UINT32_MAX, &uid, "job's owner",
	    err) != 0 ||
	    store_column_integer(s, 4, ORIGIN_FILE, ORIGIN_CONTROL, &origin,
	    "job's origin", err) != 0 ||
	    store_column_integer(s, 6, 0, INT32_MAX, &line, "job's line",
	    err) != 0 ||
	    store_column_integer(s, 10, 0, UINT32_MAX, &generation,
	    "job's generation", err) != 0)
		return -1;
	image->jobs = grow(image->jobs, image->n_jobs, &l->cap_jobs,
	    sizeof *image->jobs);
	row = &image->jobs[image->n_jobs++];
	*row = (struct job_row){
		.id = sqlite3_column_int64(s, 0),
		.name = store_column_text(s, 1),
		.owner_uid = (uid_t)uid,
		.owner_name = store_column_text(s, 3),
		.origin = (enum job_origin)origin,
		.file = store_column_text(s, 5),
		.line = (int)line,
		.definition = store_column_text(s, 7),
		.created = sqlite3_column_int64(s, 8),
		.mark = sqlite3_column_int64(s, 9),
		.generation = (uint32_t)generation,
		.generation_from = sqlite3_column_int64(s, 11),
		.skips = sqlite3_column_int64(s, 12),
		.failures = sqlite3_column_int64(s, 13),
		.failing_since = sqlite3_column_int64(s, 14),
		.last_run = (uint64_t)sqlite3_column_int64(s, 15),
	};
	return 0;
}

static int
take_run(sqlite3_stmt *s, void *arg, struct error *err)
{
	struct loading *l = arg;
	struct store_image *image = l->image;

	image->runs = grow(image->runs, image->n_runs, &l->cap_runs,
	    sizeof *image->runs);
	if (store_read_run(s, &image->runs[image->n_runs], err) != 0)
		return -1;
	image->n_runs++;
	return 0;
}

static int
take_pending(sqlite3_stmt *s, void *arg, struct error *err)
{
	struct loading *l = arg;
	struct store_image *image = l->image;
	int64_t era, generation, state;

	if (store_column_integer(s, 1, 1, UINT32_MAX, &era,
	    "waiting occurrence's era", err) != 0 ||
	    store_column_integer(s, 3, 0, UINT32_MAX, &generation,
	    "waiting occurrence's generation", err) != 0 ||
	    store_column_integer(s, 4, PENDING_QUEUED, PENDING_POOL, &state,
	    "waiting occurrence's state", err) != 0)
		return -1;
	image->pending = grow(image->pending, image->n_pending,
	    &l->cap_pending, sizeof *image->pending);
	image->pending[image->n_pending++] = (struct pending_row){
		.job_id = sqlite3_column_int64(s, 0),
		.era = (uint32_t)era,
		.occurrence = sqlite3_column_int64(s, 2),
		.generation = (uint32_t)generation,
		.state = (enum pending_state)state,
		.due = sqlite3_column_int64(s, 5),
		.queued = sqlite3_column_int64(s, 6),
	};
	return 0;
}

static int
take_pause(sqlite3_stmt *s, void *arg, struct error *err)
{
	struct loading *l = arg;
	struct store_image *image = l->image;
	int64_t skip;

	if (store_column_integer(s, 3, 0, INT64_MAX, &skip,
	    "pause's count", err) != 0)
		return -1;
	image->pauses = grow(image->pauses, image->n_pauses, &l->cap_pauses,
	    sizeof *image->pauses);
	image->pauses[image->n_pauses++] = (struct pause_row){
		.job_id = sqlite3_column_int64(s, 0),
		.since = sqlite3_column_int64(s, 1),
		.until = sqlite3_column_int64(s, 2),
		.skip = skip,
		.by_uid = sqlite3_column_int64(s, 4),
		.note = store_column_text(s, 5),
	};
	return 0;
}

static int
take_file(sqlite3_stmt *s, void *arg, struct error *err)
{
	struct loading *l = arg;
	struct store_image *image = l->image;
	const void *good = sqlite3_column_blob(s, 1);
	size_t len = (size_t)sqlite3_column_bytes(s, 1);
	bool has_good = sqlite3_column_type(s, 1) != SQLITE_NULL;

	(void)err;
	image->files = grow(image->files, image->n_files, &l->cap_files,
	    sizeof *image->files);
	image->files[image->n_files++] = (struct file_row){
		.name = store_column_text(s, 0),
		.good = has_good ? xmemdup(good, len) : NULL,
		.good_len = len,
		.error = store_column_text(s, 2),
		.loaded = sqlite3_column_int64(s, 3),
	};
	return 0;
}

static const struct {
	const char	*sql;	/* what to read */
	const char	*what;	/* "can't ..." */
	int		(*take)(sqlite3_stmt *, void *, struct error *);
} readings[] = {
	{ "SELECT ifnull(max(id), 0), (SELECT ifnull(max(id), 0) FROM job)"
	  " FROM run", "read its counters", take_highest },
	{ "SELECT key, value FROM meta", "read its counters", take_meta },
	{ "SELECT n, start, previous_end FROM era ORDER BY n DESC LIMIT 1",
	  "read its eras", take_era },
	{ "SELECT id, name, owner_uid, owner_name, origin, file, line,"
	  " definition, created, mark, generation, generation_from, skips,"
	  " failures, failing_since, last_run FROM job"
	  " WHERE removed IS NULL ORDER BY id", "read its jobs", take_job },
	{ "SELECT " STORE_RUN_COLUMNS ", job.name FROM run"
	  " LEFT JOIN job ON job.id = run.job_id WHERE " STORE_OPEN_RUNS
	  " ORDER BY run.id", "read its runs", take_run },
	{ "SELECT job_id, era, occurrence, generation, state, due, queued"
	  " FROM pending ORDER BY due, job_id, era, occurrence",
	  "read what waits", take_pending },
	{ "SELECT job_id, since, until, skip, by_uid, note FROM pause"
	  " ORDER BY job_id", "read its pauses", take_pause },
	{ "SELECT name, good, error, loaded FROM file ORDER BY name",
	  "read its job files", take_file },
};

int
store_writer_load(struct store_writer *w, struct store_image *image,
    struct error *err)
{
	struct loading l = { .image = image };
	int rc;

	*image = (struct store_image){ .next_worker = 1,
	    .clean_exit = w->clean_exit };
	rc = store_writer_exec(w, "BEGIN", "begin to read", err);
	for (size_t i = 0; rc == 0 &&
	    i < sizeof readings / sizeof *readings; i++)
		rc = each_row(w, readings[i].sql, readings[i].what,
		    readings[i].take, &l, err);
	if (rc == 0)
		rc = store_writer_exec(w, "COMMIT", "end reading", err);
	if (rc == 0 && image->instance[0] == '\0')
		rc = error_set(err, "%s is damaged (it has no instance): put a "
		    "backup in its place, or move it away to begin with an "
		    "empty ledger", w->path);
	if (rc != 0) {
		sqlite3_exec(w->db, "ROLLBACK", NULL, NULL, NULL);
		store_image_release(image);
	}
	return rc;
}

int
store_writer_find_run(struct store_writer *w, uint64_t run_id,
    struct run_row *row, struct error *err)
{
	sqlite3_stmt *s;
	int rc;

	if (sqlite3_prepare_v2(w->db, "SELECT " STORE_RUN_COLUMNS ", job.name"
	    " FROM run LEFT JOIN job ON job.id = run.job_id"
	    " WHERE run.id = ?", -1, &s, NULL) != SQLITE_OK)
		return store_fail(w, err, "read a run");
	if (sqlite3_bind_int64(s, 1, (int64_t)run_id) != SQLITE_OK) {
		store_fail(w, err, "read a run");
		sqlite3_finalize(s);
		return -1;
	}
	rc = sqlite3_step(s);
	if (rc == SQLITE_ROW)
		rc = store_read_run(s, row, err) == 0 ? 1 : -1;
	else if (rc == SQLITE_DONE)
		rc = 0;
	else
		rc = store_fail(w, err, "read a run");
	sqlite3_finalize(s);
	return rc;
}
