/* SPDX-License-Identifier: ISC */
/*
 * One transaction of facts, a cached statement for each kind.  Every
 * statement is an upsert by primary key (or a removal), so a fact that is
 * sent twice does no harm: after a commit whose result is in doubt all facts
 * are sent again.
 *
 * A fact that breaks a rule of the schema is a fault of this program, not of
 * the disk: it is left out, with a line in the log, rather than keep every
 * other fact from the disk for ever.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "common/log.h"
#include "common/timestamp.h"
#include "daemon/store_internal.h"

#define TRIM_STEP	64	/* events beyond those that came in */

static const char *const statement_texts[STATEMENTS] = {
	[STATEMENT_BEGIN] = "BEGIN IMMEDIATE",
	[STATEMENT_COMMIT] = "COMMIT",
	[STATEMENT_ROLLBACK] = "ROLLBACK",
	[STATEMENT_JOB] =
	    "INSERT INTO job(id, name, owner_uid, owner_name, origin, file,"
	    " line, definition, created, removed, mark, generation,"
	    " generation_from, skips, failures, failing_since, last_run)"
	    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	    " ON CONFLICT(id) DO UPDATE SET name = excluded.name,"
	    " owner_uid = excluded.owner_uid,"
	    " owner_name = excluded.owner_name, origin = excluded.origin,"
	    " file = excluded.file, line = excluded.line,"
	    " definition = excluded.definition, created = excluded.created,"
	    " removed = excluded.removed, mark = excluded.mark,"
	    " generation = excluded.generation,"
	    " generation_from = excluded.generation_from,"
	    " skips = excluded.skips, failures = excluded.failures,"
	    " failing_since = excluded.failing_since,"
	    " last_run = excluded.last_run",
	[STATEMENT_JOB_COUNTER] =
	    "INSERT INTO meta(key, value) VALUES ('next_job_id', ?1 + 1)"
	    " ON CONFLICT(key) DO UPDATE SET value = ?1 + 1"
	    " WHERE value <= ?1",
	[STATEMENT_JOB_REMOVED] = "UPDATE job SET removed = ?2 WHERE id = ?1",
	[STATEMENT_JOB_STATE] =
	    "UPDATE job SET mark = ?2, skips = ?3, failures = ?4,"
	    " failing_since = ?5, last_run = ?6 WHERE id = ?1",
	[STATEMENT_GENERATION] =
	    "INSERT INTO generation(job_id, generation, \"from\", \"to\","
	    " definition, zones, host_id) VALUES (?, ?, ?, ?, ?, ?, ?)"
	    " ON CONFLICT(job_id, generation) DO UPDATE SET"
	    " \"from\" = excluded.\"from\", \"to\" = excluded.\"to\","
	    " definition = excluded.definition, zones = excluded.zones,"
	    " host_id = excluded.host_id",
	[STATEMENT_OUTCOME] =
	    "INSERT INTO outcome(job_id, era, occurrence, last, count,"
	    " generation, kind, reason, run_id, at)"
	    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	    " ON CONFLICT(job_id, era, occurrence) DO UPDATE SET"
	    " last = excluded.last, count = excluded.count,"
	    " generation = excluded.generation, kind = excluded.kind,"
	    " reason = excluded.reason, run_id = excluded.run_id,"
	    " at = excluded.at",
	[STATEMENT_RUN] =
	    "INSERT INTO run(id, job_id, at, occurrence, era, generation,"
	    " cause, attempt, prev_run, state, by_uid, worker, pid, starttime,"
	    " due, queued, sent, started, ended, code, signal, core, stage,"
	    " detail, user_us, system_us, max_rss_kb, blocks_in, blocks_out,"
	    " switches, output_bytes, output_dropped)"
	    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
	    " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	    " ON CONFLICT(id) DO UPDATE SET at = excluded.at,"
	    " state = excluded.state, worker = excluded.worker,"
	    " pid = excluded.pid, starttime = excluded.starttime,"
	    " due = excluded.due, queued = excluded.queued,"
	    " sent = excluded.sent, started = excluded.started,"
	    " ended = excluded.ended, code = excluded.code,"
	    " signal = excluded.signal, core = excluded.core,"
	    " stage = excluded.stage, detail = excluded.detail,"
	    " by_uid = excluded.by_uid,"
	    " user_us = excluded.user_us, system_us = excluded.system_us,"
	    " max_rss_kb = excluded.max_rss_kb,"
	    " blocks_in = excluded.blocks_in,"
	    " blocks_out = excluded.blocks_out,"
	    " switches = excluded.switches,"
	    " output_bytes = excluded.output_bytes,"
	    " output_dropped = excluded.output_dropped"
	    " WHERE run.state IN (1, 2, 10) OR run.state = excluded.state",
	[STATEMENT_RUN_DROPPED] =
	    "DELETE FROM run WHERE id = ? AND state IN (1, 2, 10)",
	[STATEMENT_PENDING] =
	    "INSERT INTO pending(job_id, era, occurrence, generation, state,"
	    " due, queued) VALUES (?, ?, ?, ?, ?, ?, ?)"
	    " ON CONFLICT(job_id, era, occurrence) DO UPDATE SET"
	    " generation = excluded.generation, state = excluded.state,"
	    " due = excluded.due, queued = excluded.queued",
	[STATEMENT_PENDING_DECIDED] =
	    "DELETE FROM pending WHERE job_id = ? AND era = ?"
	    " AND occurrence = ?",
	[STATEMENT_PAUSE] =
	    "INSERT INTO pause(job_id, since, until, skip, by_uid, note)"
	    " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT(job_id) DO UPDATE SET"
	    " since = excluded.since, until = excluded.until,"
	    " skip = excluded.skip, by_uid = excluded.by_uid,"
	    " note = excluded.note",
	[STATEMENT_PAUSE_OVER] = "DELETE FROM pause WHERE job_id = ?",
	[STATEMENT_FILE] =
	    "INSERT INTO file(name, good, error, loaded) VALUES (?, ?, ?, ?)"
	    " ON CONFLICT(name) DO UPDATE SET error = excluded.error,"
	    " good = ifnull(excluded.good, good), loaded = CASE"
	    " WHEN excluded.good IS NULL THEN loaded ELSE excluded.loaded END",
	[STATEMENT_FILE_GONE] = "DELETE FROM file WHERE name = ?",
	[STATEMENT_ERA] =
	    "INSERT INTO era(n, start, previous_end) VALUES (?, ?, ?)"
	    " ON CONFLICT(n) DO UPDATE SET start = excluded.start,"
	    " previous_end = excluded.previous_end",
	/* Not twice, and of a run not what its row says already. */
	[STATEMENT_EVENT] =
	    "INSERT INTO event(serial, at, job_id, job_name, run_id, kind,"
	    " body) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7"
	    " WHERE ?1 > ifnull((SELECT serial FROM event"
	    "  ORDER BY seq DESC LIMIT 1), 0)"
	    " AND NOT (?6 IN (1, 2) AND EXISTS (SELECT 1 FROM run"
	    "  WHERE id = ?5 AND (state BETWEEN 3 AND 9"
	    "  OR (?6 = 1 AND state = 2))))",
	[STATEMENT_EVENT_TRIM] =
	    "DELETE FROM event WHERE seq IN (SELECT seq FROM event"
	    " WHERE seq <= ?1 ORDER BY seq LIMIT ?2)",
	[STATEMENT_GAP] =
	    "INSERT INTO gap(at, last, dropped) VALUES (?, ?, ?)"
	    " ON CONFLICT(at) DO UPDATE SET last = excluded.last,"
	    " dropped = excluded.dropped",
	[STATEMENT_META] =
	    "INSERT INTO meta(key, value) VALUES (?, ?)"
	    " ON CONFLICT(key) DO UPDATE SET value = excluded.value",
};

/* A statement being filled from the left; the first failure stays. */
struct binder {
	sqlite3_stmt	*s;	/* NULL when it could not be made */
	int		 n;	/* parameters filled */
	int		 rc;	/* SQLite's */
};

static struct binder
begin(struct store_writer *w, enum store_statement id)
{
	struct binder b = { NULL, 0, SQLITE_OK };

	if (w->statements[id] == NULL)
		b.rc = sqlite3_prepare_v3(w->db, statement_texts[id], -1,
		    SQLITE_PREPARE_PERSISTENT, &w->statements[id], NULL);
	b.s = w->statements[id];
	return b;
}

static void
put(struct binder *b, int64_t value)
{
	if (b->rc == SQLITE_OK)
		b->rc = sqlite3_bind_int64(b->s, ++b->n, value);
}

static void
put_null(struct binder *b)
{
	if (b->rc == SQLITE_OK)
		b->rc = sqlite3_bind_null(b->s, ++b->n);
}

/* Text that stays where it is until the statement is done. */
static void
put_text(struct binder *b, const char *text)
{
	if (text == NULL)
		put_null(b);
	else if (b->rc == SQLITE_OK)
		b->rc = sqlite3_bind_text(b->s, ++b->n, text, -1,
		    SQLITE_STATIC);
}

static void
put_bytes(struct binder *b, const char *data, size_t len)
{
	if (data == NULL)
		put_null(b);
	else if (b->rc == SQLITE_OK)
		b->rc = sqlite3_bind_blob64(b->s, ++b->n, data, len,
		    SQLITE_STATIC);
}

static int
finish(struct binder *b)
{
	int rc;

	if (b->rc != SQLITE_OK)
		return b->rc;
	rc = sqlite3_step(b->s);
	b->rc = sqlite3_reset(b->s);
	return rc == SQLITE_DONE ? SQLITE_OK : b->rc;
}

static int
run_plain(struct store_writer *w, enum store_statement id)
{
	struct binder b = begin(w, id);

	return finish(&b);
}

static int
write_job(struct store_writer *w, const void *fact)
{
	const struct job_row *row = fact;
	struct binder b = begin(w, STATEMENT_JOB);
	int rc;

	put(&b, row->id);
	put_text(&b, row->name);
	put(&b, row->owner_uid);
	put_text(&b, row->owner_name);
	put(&b, row->origin);
	put_text(&b, row->file);
	put(&b, row->line);
	put_text(&b, row->definition != NULL ? row->definition : "");
	put(&b, row->created);
	if (row->removed != 0)
		put(&b, row->removed);
	else
		put_null(&b);
	put(&b, row->mark);
	put(&b, row->generation);
	put(&b, row->generation_from);
	put(&b, row->skips);
	put(&b, row->failures);
	put(&b, row->failing_since);
	put(&b, (int64_t)row->last_run);
	if ((rc = finish(&b)) != SQLITE_OK)
		return rc;
	b = begin(w, STATEMENT_JOB_COUNTER);
	put(&b, row->id);
	return finish(&b);
}

static int
write_job_removed(struct store_writer *w, const void *fact)
{
	const struct job_row *row = fact;
	struct binder b = begin(w, STATEMENT_JOB_REMOVED);

	put(&b, row->id);
	put(&b, row->removed);
	return finish(&b);
}

static int
write_job_state(struct store_writer *w, const void *fact)
{
	const struct job_row *row = fact;
	struct binder b = begin(w, STATEMENT_JOB_STATE);

	put(&b, row->id);
	put(&b, row->mark);
	put(&b, row->skips);
	put(&b, row->failures);
	put(&b, row->failing_since);
	put(&b, (int64_t)row->last_run);
	return finish(&b);
}

static int
write_generation(struct store_writer *w, const void *fact)
{
	const struct generation_row *row = fact;
	struct binder b = begin(w, STATEMENT_GENERATION);

	put(&b, row->job_id);
	put(&b, row->generation);
	put(&b, row->from);
	put(&b, row->to);
	put_text(&b, row->definition != NULL ? row->definition : "");
	put_text(&b, row->zones != NULL ? row->zones : "");
	put_text(&b, row->host_id != NULL ? row->host_id : "");
	return finish(&b);
}

static int
write_outcome(struct store_writer *w, const void *fact)
{
	const struct outcome_row *row = fact;
	struct binder b = begin(w, STATEMENT_OUTCOME);

	put(&b, row->job_id);
	put(&b, row->era);
	put(&b, row->occurrence);
	put(&b, row->last);
	put(&b, row->count);
	put(&b, row->generation);
	put(&b, row->kind);
	put(&b, row->reason);
	put(&b, (int64_t)row->run_id);
	put(&b, row->at);
	return finish(&b);
}

/* Its place in history: when it was sent, else since when it waits. */
static int64_t
run_at(const struct run_row *row)
{
	if (row->sent != 0)
		return row->sent;
	return row->queued != 0 ? row->queued : row->due;
}

static int
write_run(struct store_writer *w, const void *fact)
{
	const struct run_row *row = fact;
	struct binder b = begin(w, STATEMENT_RUN);

	put(&b, (int64_t)row->id);
	put(&b, row->job_id);
	put(&b, run_at(row));
	if (row->occurrence != INT64_MIN)
		put(&b, row->occurrence);
	else
		put_null(&b);
	put(&b, row->era);
	put(&b, row->generation);
	put(&b, row->cause);
	put(&b, row->attempt);
	put(&b, (int64_t)row->prev_run);
	put(&b, row->state);
	put(&b, row->by_uid);
	put(&b, (int64_t)row->worker);
	put(&b, row->pid);
	put(&b, (int64_t)row->starttime);
	put(&b, row->due);
	put(&b, row->queued);
	put(&b, row->sent);
	put(&b, row->started);
	put(&b, row->ended);
	put(&b, row->code);
	put(&b, row->signal);
	put(&b, row->core);
	put(&b, row->stage);
	put_text(&b, row->detail);
	put(&b, row->user_us);
	put(&b, row->system_us);
	put(&b, row->max_rss_kb);
	put(&b, row->blocks_in);
	put(&b, row->blocks_out);
	put(&b, row->switches);
	put(&b, row->output_bytes);
	put(&b, row->output_dropped);
	return finish(&b);
}

static int
write_run_dropped(struct store_writer *w, const void *fact)
{
	struct binder b = begin(w, STATEMENT_RUN_DROPPED);
	uint64_t id;

	memcpy(&id, fact, sizeof id);
	put(&b, (int64_t)id);
	return finish(&b);
}

static int
write_pending(struct store_writer *w, const void *fact)
{
	const struct pending_row *row = fact;
	struct binder b = begin(w, STATEMENT_PENDING);

	put(&b, row->job_id);
	put(&b, row->era);
	put(&b, row->occurrence);
	put(&b, row->generation);
	put(&b, row->state);
	put(&b, row->due);
	put(&b, row->queued);
	return finish(&b);
}

static int
write_pending_decided(struct store_writer *w, const void *fact)
{
	const struct pending_row *row = fact;
	struct binder b = begin(w, STATEMENT_PENDING_DECIDED);

	put(&b, row->job_id);
	put(&b, row->era);
	put(&b, row->occurrence);
	return finish(&b);
}

static int
write_file(struct store_writer *w, const void *fact)
{
	const struct file_row *row = fact;
	struct binder b = begin(w, STATEMENT_FILE);

	put_text(&b, row->name);
	put_bytes(&b, row->good, row->good_len);
	put_text(&b, row->error);
	put(&b, row->loaded);
	return finish(&b);
}

static int
write_file_gone(struct store_writer *w, const void *fact)
{
	const struct file_row *row = fact;
	struct binder b = begin(w, STATEMENT_FILE_GONE);

	put_text(&b, row->name);
	return finish(&b);
}

static int
write_pause(struct store_writer *w, const void *fact)
{
	const struct pause_row *row = fact;
	struct binder b = begin(w, STATEMENT_PAUSE);

	put(&b, row->job_id);
	put(&b, row->since);
	put(&b, row->until);
	put(&b, row->skip);
	put(&b, row->by_uid);
	put_text(&b, row->note);
	return finish(&b);
}

static int
write_pause_over(struct store_writer *w, const void *fact)
{
	const struct pause_row *row = fact;
	struct binder b = begin(w, STATEMENT_PAUSE_OVER);

	put(&b, row->job_id);
	return finish(&b);
}

static int
write_era(struct store_writer *w, const void *fact)
{
	const struct era_row *row = fact;
	struct binder b = begin(w, STATEMENT_ERA);

	put(&b, row->era);
	put(&b, row->start);
	put(&b, row->previous_end);
	return finish(&b);
}

static int
write_meta(struct store_writer *w, const void *fact)
{
	const struct store_meta_row *row = fact;
	struct binder b = begin(w, STATEMENT_META);

	put_text(&b, row->key);
	if (row->text != NULL)
		put_text(&b, row->text);
	else
		put(&b, row->integer);
	return finish(&b);
}

static int
write_event(struct store_writer *w, const void *fact)
{
	const struct event_row *row = fact;
	struct binder b = begin(w, STATEMENT_EVENT);

	put(&b, row->serial);
	put(&b, row->at);
	put(&b, row->job_id);
	put_text(&b, row->job_name);
	put(&b, (int64_t)row->run_id);
	put(&b, row->kind);
	put_text(&b, row->body);
	return finish(&b);
}

/* In small steps, so that no commit is long: some more than came in. */
static int
trim_events(struct store_writer *w, int64_t newest)
{
	struct binder b;

	if (newest == w->event_seq || newest <= STORE_EVENTS_KEPT)
		return SQLITE_OK;
	b = begin(w, STATEMENT_EVENT_TRIM);
	put(&b, newest - STORE_EVENTS_KEPT);
	put(&b, newest - w->event_seq + TRIM_STEP);
	return finish(&b);
}

static int
write_gap(struct store_writer *w, const void *fact)
{
	const struct store_gap_row *row = fact;
	struct binder b = begin(w, STATEMENT_GAP);

	put(&b, row->at);
	put(&b, row->last);
	put(&b, row->dropped);
	return finish(&b);
}

static const struct {
	int		(*write)(struct store_writer *, const void *row);
	const char	*what;	/* for the log */
} fact_kinds[FACT_TYPES] = {
	[FACT_JOB] = { write_job, "a job" },
	[FACT_JOB_REMOVED] = { write_job_removed, "a removed job" },
	[FACT_JOB_STATE] = { write_job_state, "a job's state" },
	[FACT_GENERATION] = { write_generation, "a generation" },
	[FACT_OUTCOME] = { write_outcome, "an outcome" },
	[FACT_RUN] = { write_run, "a run" },
	[FACT_RUN_DROPPED] = { write_run_dropped, "a run taken back" },
	[FACT_PENDING] = { write_pending, "a waiting occurrence" },
	[FACT_PENDING_DECIDED] = { write_pending_decided,
	    "a decided occurrence" },
	[FACT_PAUSE] = { write_pause, "a pause" },
	[FACT_PAUSE_OVER] = { write_pause_over, "the end of a pause" },
	[FACT_FILE] = { write_file, "a job file" },
	[FACT_FILE_GONE] = { write_file_gone, "a removed job file" },
	[FACT_ERA] = { write_era, "an era" },
	[FACT_META] = { write_meta, "a counter" },
	[FACT_GAP] = { write_gap, "a gap" },
	[FACT_EVENT] = { write_event, "an event" },
};

/* Where the clock stood when everything so far was decided. */
static int
write_mark(struct store_writer *w)
{
	struct store_meta_row mark = { .key = (char []){ "mark" },
	    .integer = w->mark };
	struct store_meta_row boot = { .key = (char []){ "boot_id" },
	    .text = w->boot_id };
	int rc;

	if (!w->has_mark)
		return SQLITE_OK;
	rc = write_meta(w, &mark);
	return rc == SQLITE_OK ? write_meta(w, &boot) : rc;
}

/*
 * *seq: the newest event there will be.  The row id inserted last is an
 * event's only if the last insertion was one, so it is asked for each time.
 */
static int
write_all(struct store_writer *w, int64_t *seq, struct error *err)
{
	int rc;

	*seq = w->event_seq;
	for (struct store_fact *f = w->kept.head; f != NULL; f = f->next) {
		rc = fact_kinds[f->type].write(w, f->row);
		if ((rc & 0xff) == SQLITE_CONSTRAINT)
			log_error("store", "%s is left out, a fault of "
			    "cronctl: %s", fact_kinds[f->type].what,
			    sqlite3_errmsg(w->db));
		else if (rc != SQLITE_OK)
			return store_fail(w, err, "write to it");
		else if (f->type == FACT_EVENT && sqlite3_changes(w->db) > 0)
			*seq = sqlite3_last_insert_rowid(w->db);
	}
	if (write_mark(w) != SQLITE_OK || trim_events(w, *seq) != SQLITE_OK)
		return store_fail(w, err, "write to it");
	return 0;
}

int
store_writer_commit(struct store_writer *w, struct error *err)
{
	int64_t seq;

	if (run_plain(w, STATEMENT_BEGIN) != SQLITE_OK)
		return store_fail(w, err, "begin a transaction");
	if (write_all(w, &seq, err) != 0) {
		/* What fails here is closed with the connection. */
		(void)run_plain(w, STATEMENT_ROLLBACK);
		return -1;
	}
	if (run_plain(w, STATEMENT_COMMIT) != SQLITE_OK) {
		store_fail(w, err, "commit to it");
		(void)run_plain(w, STATEMENT_ROLLBACK);
		return -1;
	}
	store_facts_release(&w->kept);
	w->has_mark = false;
	w->event_seq = seq;
	w->last_commit = walltime_now().us;
	return 0;
}
