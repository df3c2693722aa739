/* SPDX-License-Identifier: ISC */
/*
 * Pages of the ledger: the statements and the thread.  How rows are merged
 * and where a page ends is query_page's.
 *
 * Cost: each page reads at most limit + 1 rows by an index from each of its
 * sources: the runs and outcomes of all jobs, or those of each id that a
 * name has had.  Only with_output may have to pass over many rows.
 */
#include "config.h"

#include "daemon/query.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/strbuf.h"
#include "common/xmalloc.h"
#include "daemon/helper.h"
#include "daemon/query_page.h"
#include "daemon/store_internal.h"

#define QUEUE_MAX	64	/* requests that wait */
#define LEAVE_MS	500	/* a thread in a long scan is left behind */
#define BUSY_MS		2000	/* the store is being made or checked */

/* The read-only connection; opened when the first request comes. */
struct reader {
	char	*path;		/* of the database */
	sqlite3	*db;		/* NULL: not open */
};

struct query {
	struct helper	*helper;	/* the thread */
	struct reader	 reader;	/* the thread's */
};

/* A page being read. */
struct reading {
	struct reader		*reader;	/* where from */
	const struct query_spec	*spec;		/* what */
	struct query_key	 before;	/* rows after this place */
	struct query_page	 page;		/* what was found */
};

/* --- statements --- */

static int
fail(struct reader *r, struct error *err)
{
	return error_set(err, "the ledger can't be read: %s: %s (SQLite error "
	    "%d)", r->path, r->db != NULL ? sqlite3_errmsg(r->db) :
	    "out of memory", r->db != NULL ?
	    sqlite3_extended_errcode(r->db) : SQLITE_NOMEM);
}

/* Prepares, and fills in the parameters from the first on. */
static sqlite3_stmt *
prepare(struct reader *r, const char *sql, const int64_t *values, int n,
    struct error *err)
{
	sqlite3_stmt *s;

	if (sqlite3_prepare_v2(r->db, sql, -1, &s, NULL) != SQLITE_OK) {
		fail(r, err);
		return NULL;
	}
	for (int i = 0; i < n; i++) {
		if (sqlite3_bind_int64(s, i + 1, values[i]) != SQLITE_OK) {
			fail(r, err);
			sqlite3_finalize(s);
			return NULL;
		}
	}
	return s;
}

static int
read_outcome(sqlite3_stmt *s, struct outcome_row *row, struct error *err)
{
	int64_t era, generation, kind, reason;

	if (store_column_integer(s, 1, 0, UINT32_MAX, &era, "outcome's era",
	    err) != 0 ||
	    store_column_integer(s, 5, 0, UINT32_MAX, &generation,
	    "outcome's generation", err) != 0 ||
	    store_column_integer(s, 6, OUTCOME_STARTED, OUTCOME_MISSED, &kind,
	    "outcome's kind", err) != 0 ||
	    store_column_integer(s, 7, REASON_NONE, REASON_OVERLOAD, &reason,
	    "outcome's reason", err) != 0)
		return -1;
	*row = (struct outcome_row){
		.job_id = sqlite3_column_int64(s, 0),
		.era = (uint32_t)era,
		.occurrence = sqlite3_column_int64(s, 2),
		.last = sqlite3_column_int64(s, 3),
		.count = sqlite3_column_int64(s, 4),
		.generation = (uint32_t)generation,
		.kind = (enum outcome_kind)kind,
		.reason = (enum outcome_reason)reason,
		.run_id = (uint64_t)sqlite3_column_int64(s, 8),
		.at = sqlite3_column_int64(s, 9),
		.job_name = store_column_text(s, 10),
	};
	return 0;
}

/* One row of a statement onto the page. */
static int
take_row(struct reading *p, sqlite3_stmt *s, bool is_run, struct error *err)
{
	struct query_row row = { .is_run = is_run };
	struct query_key key = { .is_run = is_run };

	if (is_run) {
		if (store_read_run(s, &row.run, err) != 0)
			return -1;
		key.id = (int64_t)row.run.id;
		key.at = sqlite3_column_int64(s, STORE_RUN_N_COLUMNS + 1);
	} else {
		if (read_outcome(s, &row.outcome, err) != 0)
			return -1;
		key.at = row.outcome.at;
		key.job_id = row.outcome.job_id;
		key.era = row.outcome.era;
		key.occurrence = row.outcome.occurrence;
	}
	query_page_add(&p->page, &row, &key);
	return 0;
}

static int
take_rows(struct reading *p, const char *sql, const int64_t *values, int n,
    bool is_run, struct error *err)
{
	sqlite3_stmt *s = prepare(p->reader, sql, values, n, err);
	int rc, failed = 0;

	if (s == NULL)
		return -1;
	while (failed == 0 && (rc = sqlite3_step(s)) == SQLITE_ROW)
		failed = take_row(p, s, is_run, err);
	if (failed == 0 && rc != SQLITE_DONE)
		failed = fail(p->reader, err);
	sqlite3_finalize(s);
	if (failed == 0)
		query_page_trim(&p->page, p->spec->limit + 1);
	return failed;
}

#define SELECT_RUNS							\
	"SELECT " STORE_RUN_COLUMNS ", job.name, run.at FROM run"	\
	" LEFT JOIN job ON job.id = run.job_id"

/* What the specification leaves of the runs. */
static void
add_filters(struct strbuf *sql, const struct query_spec *spec)
{
	if (spec->failed)
		strbuf_addstr(sql, " AND run.state IN (4, 5, 6, 7, 8, 9)");
	else if (spec->last_ended)
		strbuf_addstr(sql,
		    " AND run.state IN (3, 4, 5, 6, 7, 8, 9)");
	if (spec->with_output)
		strbuf_addstr(sql, " AND run.output_bytes > 0");
}

/* Runs of one job id, or of all with 0. */
static int
take_runs(struct reading *p, int64_t job_id, struct error *err)
{
	/* An outcome's key is behind all runs of its time. */
	int64_t values[] = { p->spec->since, (int64_t)p->spec->limit + 1,
	    p->before.at, p->before.is_run ? p->before.id : INT64_MIN,
	    job_id };
	struct strbuf sql = STRBUF_INIT;
	int rc;

	strbuf_addstr(&sql, SELECT_RUNS
	    " WHERE run.at >= ?1 AND (run.at, run.id) < (?3, ?4)");
	add_filters(&sql, p->spec);
	if (job_id != 0)
		strbuf_addstr(&sql, " AND run.job_id = ?5");
	strbuf_addstr(&sql, " ORDER BY run.at DESC, run.id DESC LIMIT ?2");
	rc = take_rows(p, sql.buf, values, job_id != 0 ? 5 : 4, true, err);
	strbuf_release(&sql);
	return rc;
}

#define SELECT_OUTCOMES							\
	"SELECT outcome.job_id, outcome.era, outcome.occurrence,"	\
	" outcome.last, outcome.count, outcome.generation,"		\
	" outcome.kind, outcome.reason, outcome.run_id, outcome.at,"	\
	" job.name FROM outcome"					\
	" LEFT JOIN job ON job.id = outcome.job_id"			\
	" WHERE outcome.kind <> 1 AND outcome.at >= ?1"

static int
take_all_outcomes(struct reading *p, struct error *err)
{
	/* A run's key is before all outcomes of its time. */
	bool run = p->before.is_run;
	int64_t values[] = { p->spec->since, (int64_t)p->spec->limit + 1,
	    p->before.at, run ? INT64_MAX : p->before.job_id,
	    run ? INT64_MAX : p->before.era,
	    run ? INT64_MAX : p->before.occurrence };

	return take_rows(p, SELECT_OUTCOMES
	    " AND (outcome.at, outcome.job_id, outcome.era,"
	    "  outcome.occurrence) < (?3, ?4, ?5, ?6)"
	    " ORDER BY outcome.at DESC, outcome.job_id DESC,"
	    "  outcome.era DESC, outcome.occurrence DESC LIMIT ?2",
	    values, 6, false, err);
}

static int
take_outcomes_of(struct reading *p, int64_t job_id, struct error *err)
{
	int64_t values[] = { p->spec->since, (int64_t)p->spec->limit + 1,
	    p->before.at, p->before.era, p->before.occurrence, job_id };

	/* Another kind of row, or another job at the same time: all of this
	 * job's outcomes of that time are on the same side of it. */
	if (p->before.is_run || p->before.job_id > job_id)
		values[3] = values[4] = INT64_MAX;
	else if (p->before.job_id < job_id)
		values[3] = values[4] = INT64_MIN;
	return take_rows(p, SELECT_OUTCOMES
	    " AND outcome.job_id = ?6"
	    " AND (outcome.at, outcome.era, outcome.occurrence) <"
	    "  (?3, ?4, ?5)"
	    " ORDER BY outcome.at DESC, outcome.era DESC,"
	    "  outcome.occurrence DESC LIMIT ?2", values, 6, false, err);
}

/* Whether outcomes are asked for at all. */
static bool
wants_outcomes(const struct query_spec *spec)
{
	return !spec->failed && !spec->last_ended && !spec->with_output;
}

static int
take_job(struct reading *p, int64_t job_id, struct error *err)
{
	if (take_runs(p, job_id, err) != 0)
		return -1;
	return wants_outcomes(p->spec) ? take_outcomes_of(p, job_id, err) : 0;
}

/* Every id that the name has had. */
static int
take_name(struct reading *p, struct error *err)
{
	sqlite3_stmt *s = prepare(p->reader, "SELECT id FROM job"
	    " WHERE name = ? ORDER BY id DESC", NULL, 0, err);
	int rc, failed = 0;

	if (s == NULL)
		return -1;
	if (sqlite3_bind_text(s, 1, p->spec->job_name, -1,
	    SQLITE_STATIC) != SQLITE_OK)
		failed = fail(p->reader, err);
	while (failed == 0 && (rc = sqlite3_step(s)) == SQLITE_ROW)
		failed = take_job(p, sqlite3_column_int64(s, 0), err);
	if (failed == 0 && rc != SQLITE_DONE)
		failed = fail(p->reader, err);
	sqlite3_finalize(s);
	return failed;
}

static int
take_page(struct reading *p, struct error *err)
{
	int64_t run_id = (int64_t)p->spec->run_id;

	if (run_id != 0)
		return take_rows(p, SELECT_RUNS " WHERE run.id = ?", &run_id,
		    1, true, err);
	if (p->spec->job_name != NULL)
		return take_name(p, err);
	if (take_runs(p, 0, err) != 0)
		return -1;
	return wants_outcomes(p->spec) ? take_all_outcomes(p, err) : 0;
}

/* --- events --- */

static int
read_event(sqlite3_stmt *s, struct event_row *row, struct error *err)
{
	int64_t kind;

	if (store_column_integer(s, 5, 1, EVENT_KINDS - 1, &kind,
	    "event's kind", err) != 0)
		return -1;
	*row = (struct event_row){
		.seq = sqlite3_column_int64(s, 0),
		.at = sqlite3_column_int64(s, 1),
		.job_id = sqlite3_column_int64(s, 2),
		.job_name = store_column_text(s, 3),
		.run_id = (uint64_t)sqlite3_column_int64(s, 4),
		.kind = (enum event_kind)kind,
		.body = store_column_text(s, 6),
	};
	return 0;
}

static int
read_oldest(struct reader *r, struct query_result *result, struct error *err)
{
	sqlite3_stmt *s = prepare(r, "SELECT ifnull(min(seq), 0) FROM event",
	    NULL, 0, err);
	int rc = 0;

	if (s == NULL)
		return -1;
	if (sqlite3_step(s) == SQLITE_ROW)
		result->oldest_seq = sqlite3_column_int64(s, 0);
	else
		rc = fail(r, err);
	sqlite3_finalize(s);
	return rc;
}

static int
take_events(struct reader *r, const struct query_spec *spec,
    struct query_result *result, struct error *err)
{
	const int64_t values[] = { spec->first_seq, spec->last_seq,
	    (int64_t)spec->limit };
	sqlite3_stmt *s = prepare(r, "SELECT seq, at, job_id, job_name,"
	    " run_id, kind, body FROM event WHERE seq BETWEEN ?1 AND ?2"
	    " ORDER BY seq LIMIT ?3", values, 3, err);
	int rc = SQLITE_DONE, failed = 0;

	if (s == NULL)
		return -1;
	result->events = xcalloc(spec->limit, sizeof *result->events);
	while (failed == 0 && result->n_events < spec->limit &&
	    (rc = sqlite3_step(s)) == SQLITE_ROW) {
		failed = read_event(s, &result->events[result->n_events],
		    err);
		result->n_events += failed == 0;
	}
	if (failed == 0 && rc != SQLITE_DONE && rc != SQLITE_ROW)
		failed = fail(r, err);
	sqlite3_finalize(s);
	return failed == 0 ? read_oldest(r, result, err) : -1;
}

/* --- the connection --- */

static void
reader_close(struct reader *r)
{
	/* It has no statements left; only a bug could make this fail. */
	(void)sqlite3_close(r->db);
	r->db = NULL;
}

static int
reader_open(struct reader *r, struct error *err)
{
	if (r->db != NULL)
		return 0;
	if (sqlite3_open_v2(r->path, &r->db, SQLITE_OPEN_READONLY |
	    SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL) != SQLITE_OK ||
	    sqlite3_busy_timeout(r->db, BUSY_MS) != SQLITE_OK ||
	    sqlite3_exec(r->db, "PRAGMA cell_size_check = ON;"
	    "PRAGMA trusted_schema = OFF", NULL, NULL, NULL) != SQLITE_OK) {
		fail(r, err);
		reader_close(r);
		return -1;
	}
	return 0;
}

static void
answer(struct reader *r, const struct query_spec *spec,
    struct query_result *result)
{
	struct reading p = { .reader = r, .spec = spec };

	*result = (struct query_result){ .more = "" };
	if (query_key_parse(&p.before, spec->before, &result->err) != 0 ||
	    reader_open(r, &result->err) != 0)
		return;
	/* One transaction, so that all sources are of one moment. */
	if (sqlite3_exec(r->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK ||
	    (spec->events ? take_events(r, spec, result, &result->err) :
	    take_page(&p, &result->err)) != 0 ||
	    sqlite3_exec(r->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) {
		if (result->err.text[0] == '\0')
			fail(r, &result->err);
		query_page_release(&p.page);
		reader_close(r);
		return;
	}
	query_page_finish(&p.page, spec->limit, result);
}

/* --- the helper --- */

struct query_request {
	struct helper_request	 request;	/* first; see helper.h */
	struct query_spec	 spec;		/* owned, with its strings */
	struct query_result	 result;	/* the answer */
	void	(*done)(void *arg, struct query_result *);
	void			*arg;		/* for done */
};

static void
work(void *state, struct helper_request *chain)
{
	struct query *q = state;

	for (; chain != NULL; chain = chain->next) {
		struct query_request *r = (struct query_request *)(void *)chain;

		answer(&q->reader, &r->spec, &r->result);
	}
}

static void
request_free(struct query_request *r)
{
	query_result_release(&r->result);
	free((char *)r->spec.job_name);
	free((char *)r->spec.before);
	free(r);
}

static void
on_done(struct helper_request *request, void *arg)
{
	struct query_request *r = (struct query_request *)(void *)request;

	(void)arg;
	r->done(r->arg, &r->result);
	request_free(r);
}

struct query *
query_new(const char *state_dir, struct event_base *base)
{
	struct query *q = xcalloc(1, sizeof *q);

	q->reader.path = xasprintf("%s/%s", state_dir, STORE_FILE);
	q->helper = helper_new("query", base, QUEUE_MAX, work, q);
	if (q->helper == NULL) {
		free(q->reader.path);
		free(q);
		return NULL;
	}
	return q;
}

void
query_free(struct query *q)
{
	if (q == NULL || !helper_free_within(q->helper, LEAVE_MS))
		return;
	reader_close(&q->reader);
	free(q->reader.path);
	free(q);
}

static size_t
page_size(const struct query_spec *spec)
{
	if (spec->limit < 1 || spec->last_ended)
		return 1;
	return spec->limit > QUERY_PAGE ? QUERY_PAGE : spec->limit;
}

bool
query_submit(struct query *q, const struct query_spec *spec,
    void (*done)(void *, struct query_result *), void *arg)
{
	struct query_request *r = xcalloc(1, sizeof *r);

	r->spec = *spec;
	r->spec.limit = page_size(spec);
	if (spec->job_name != NULL)
		r->spec.job_name = xstrdup(spec->job_name);
	if (spec->before != NULL)
		r->spec.before = xstrdup(spec->before);
	r->request.done = on_done;
	r->done = done;
	r->arg = arg;
	if (helper_submit(q->helper, &r->request))
		return true;
	request_free(r);
	return false;
}

void
query_run_now(const char *state_dir, const struct query_spec *spec,
    struct query_result *result)
{
	struct reader r = { .path = xasprintf("%s/%s", state_dir, STORE_FILE) };
	struct query_spec copy = *spec;

	copy.limit = page_size(spec);
	answer(&r, &copy, result);
	reader_close(&r);
	free(r.path);
}

void
query_result_release(struct query_result *result)
{
	for (size_t i = 0; i < result->n_rows; i++)
		query_row_release(&result->rows[i]);
	for (size_t i = 0; i < result->n_events; i++)
		event_row_release(&result->events[i]);
	free(result->events);
	result->events = NULL;
	result->n_events = 0;
	free(result->rows);
	result->rows = NULL;
	result->n_rows = 0;
}
