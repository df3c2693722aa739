/* SPDX-License-Identifier: ISC */
/*
 * The database as a file: making it, opening it, knowing it for ours,
 * bringing an older one up to date, opening it again after a failure.
 *
 * A new database is made under another name and renamed, so that one that
 * exists is always whole: an empty or foreign file is refused, never taken
 * for a store without jobs.  Tables are STRICT, so types hold even after
 * somebody else has written into them.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/strbuf.h"
#include "common/timestamp.h"
#include "common/xmalloc.h"
#include "daemon/store_internal.h"

#define NEW_FILE	STORE_FILE ".new"
#define BUSY_MS		5000	/* another program reads or writes it */
/* Up to this size the whole database is checked at each start. */
#define CHECK_AT_START	(INT64_C(32) * 1024 * 1024)
#define BOOT_ID_FILE	"/proc/sys/kernel/random/boot_id"

/*
 * migrations[n] makes version n + 1 out of version n; each runs in one
 * transaction with the new number.  What is here is never changed once it is
 * released: later versions add rows.
 */
static const char *const migrations[] = {
	"CREATE TABLE meta(key TEXT PRIMARY KEY, value ANY NOT NULL)"
	"  STRICT, WITHOUT ROWID;"
	"CREATE TABLE file(name TEXT PRIMARY KEY NOT NULL, good BLOB,"
	"  error TEXT, loaded INTEGER NOT NULL) STRICT;"
	"CREATE TABLE job(id INTEGER PRIMARY KEY, name TEXT NOT NULL,"
	"  owner_uid INTEGER NOT NULL, owner_name TEXT,"
	"  origin INTEGER NOT NULL, file TEXT, line INTEGER NOT NULL,"
	"  definition TEXT NOT NULL, created INTEGER NOT NULL,"
	"  removed INTEGER, mark INTEGER NOT NULL,"
	"  generation INTEGER NOT NULL, generation_from INTEGER NOT NULL,"
	"  skips INTEGER NOT NULL, failures INTEGER NOT NULL,"
	"  failing_since INTEGER NOT NULL, last_run INTEGER NOT NULL) STRICT;"
	"CREATE UNIQUE INDEX job_in_force ON job(name) WHERE removed IS NULL;"
	"CREATE INDEX job_name ON job(name);"
	"CREATE TABLE generation(job_id INTEGER NOT NULL,"
	"  generation INTEGER NOT NULL, \"from\" INTEGER NOT NULL,"
	"  \"to\" INTEGER NOT NULL, definition TEXT NOT NULL,"
	"  zones TEXT NOT NULL, host_id TEXT NOT NULL,"
	"  PRIMARY KEY(job_id, generation)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE outcome(job_id INTEGER NOT NULL, era INTEGER NOT NULL,"
	"  occurrence INTEGER NOT NULL, last INTEGER NOT NULL,"
	"  count INTEGER NOT NULL, generation INTEGER NOT NULL,"
	"  kind INTEGER NOT NULL, reason INTEGER NOT NULL,"
	"  run_id INTEGER NOT NULL, at INTEGER NOT NULL,"
	"  PRIMARY KEY(job_id, era, occurrence)) STRICT, WITHOUT ROWID;"
	"CREATE INDEX outcome_at ON outcome(at, job_id, era, occurrence)"
	"  WHERE kind <> 1;"
	"CREATE INDEX outcome_job_at ON outcome(job_id, at, era, occurrence)"
	"  WHERE kind <> 1;"
	"CREATE TABLE era(n INTEGER PRIMARY KEY, start INTEGER NOT NULL,"
	"  previous_end INTEGER NOT NULL) STRICT;"
	/* outcomes that were not recorded: first, last, how many */
	"CREATE TABLE gap(at INTEGER PRIMARY KEY, last INTEGER NOT NULL,"
	"  dropped INTEGER NOT NULL) STRICT;"
	/* job_id 0: all jobs */
	"CREATE TABLE pause(job_id INTEGER PRIMARY KEY,"
	"  since INTEGER NOT NULL, until INTEGER NOT NULL,"
	"  skip INTEGER NOT NULL, by_uid INTEGER NOT NULL,"
	"  note TEXT) STRICT;"
	"CREATE TABLE pending(job_id INTEGER NOT NULL, era INTEGER NOT NULL,"
	"  occurrence INTEGER NOT NULL, generation INTEGER NOT NULL,"
	"  state INTEGER NOT NULL, due INTEGER NOT NULL,"
	"  queued INTEGER NOT NULL,"
	"  PRIMARY KEY(job_id, era, occurrence)) STRICT, WITHOUT ROWID;"
	/* at: when it was sent, or asked for; the place in history */
	"CREATE TABLE run(id INTEGER PRIMARY KEY, job_id INTEGER NOT NULL,"
	"  at INTEGER NOT NULL, occurrence INTEGER, era INTEGER NOT NULL,"
	"  generation INTEGER NOT NULL, cause INTEGER NOT NULL,"
	"  attempt INTEGER NOT NULL, prev_run INTEGER NOT NULL,"
	"  state INTEGER NOT NULL, by_uid INTEGER NOT NULL,"
	"  worker INTEGER NOT NULL, pid INTEGER NOT NULL,"
	"  starttime INTEGER NOT NULL, due INTEGER NOT NULL,"
	"  queued INTEGER NOT NULL, sent INTEGER NOT NULL,"
	"  started INTEGER NOT NULL, ended INTEGER NOT NULL,"
	"  code INTEGER NOT NULL, signal INTEGER NOT NULL,"
	"  core INTEGER NOT NULL, stage INTEGER NOT NULL, detail TEXT,"
	"  user_us INTEGER NOT NULL, system_us INTEGER NOT NULL,"
	"  max_rss_kb INTEGER NOT NULL, blocks_in INTEGER NOT NULL,"
	"  blocks_out INTEGER NOT NULL, switches INTEGER NOT NULL,"
	"  output_bytes INTEGER NOT NULL, output_dropped INTEGER NOT NULL)"
	"  STRICT;"
	"CREATE INDEX run_at ON run(at, id);"
	"CREATE INDEX run_job_at ON run(job_id, at, id);"
	"CREATE INDEX run_open ON run(id) WHERE state IN (1, 2, 10);"
	"CREATE INDEX run_failed ON run(at, id)"
	"  WHERE state IN (4, 5, 6, 7, 8, 9);"
	"CREATE INDEX run_job_failed ON run(job_id, at, id)"
	"  WHERE state IN (4, 5, 6, 7, 8, 9);"
	"CREATE TABLE event(seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	"  serial INTEGER NOT NULL, at INTEGER NOT NULL,"
	"  job_id INTEGER NOT NULL, job_name TEXT, run_id INTEGER NOT NULL,"
	"  kind INTEGER NOT NULL, body TEXT NOT NULL) STRICT;",
};
#define SCHEMA_VERSION ((int64_t)(sizeof migrations / sizeof *migrations))

int
store_fail(struct store_writer *w, struct error *err, const char *doing)
{
	int code = w->db != NULL ? sqlite3_errcode(w->db) & 0xff : SQLITE_NOMEM;

	if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
		return error_set(err, "%s is damaged (%s): put a backup in its "
		    "place, or move it away to begin with an empty ledger",
		    w->path, sqlite3_errmsg(w->db));
	if (code == SQLITE_FULL)
		return error_set(err, "%s: can't %s: the disk is full; make "
		    "room on it", w->path, doing);
	return error_set(err, "%s: can't %s: %s (SQLite error %d)", w->path,
	    doing, w->db != NULL ? sqlite3_errmsg(w->db) : "out of memory",
	    w->db != NULL ? sqlite3_extended_errcode(w->db) : SQLITE_NOMEM);
}

int
store_writer_exec(struct store_writer *w, const char *sql, const char *doing,
    struct error *err)
{
	if (sqlite3_exec(w->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return store_fail(w, err, doing);
	return 0;
}

/* The first column of the first row, as an integer. */
static int
ask_integer(struct store_writer *w, const char *sql, int64_t *value,
    struct error *err)
{
	sqlite3_stmt *s;
	int rc;

	if (sqlite3_prepare_v2(w->db, sql, -1, &s, NULL) != SQLITE_OK)
		return store_fail(w, err, "read it");
	rc = sqlite3_step(s);
	if (rc == SQLITE_ROW)
		*value = sqlite3_column_int64(s, 0);
	if (rc != SQLITE_ROW)
		store_fail(w, err, "read it");
	sqlite3_finalize(s);
	return rc == SQLITE_ROW ? 0 : -1;
}

/* Runs a pragma that answers with a word; -1 when it is another one. */
static int
expect_word(struct store_writer *w, const char *sql, const char *want,
    struct error *err)
{
	sqlite3_stmt *s;
	const char *got;
	int rc = -1;

	if (sqlite3_prepare_v2(w->db, sql, -1, &s, NULL) != SQLITE_OK)
		return store_fail(w, err, "read it");
	if (sqlite3_step(s) != SQLITE_ROW) {
		store_fail(w, err, "read it");
	} else {
		got = (const char *)sqlite3_column_text(s, 0);
		if (got != NULL && strcmp(got, want) == 0)
			rc = 0;
		else
			error_set(err, "%s: \"%s\" answers \"%s\", not \"%s\"",
			    w->path, sql, got != NULL ? got : "", want);
	}
	sqlite3_finalize(s);
	return rc;
}

static int
check_whole(struct store_writer *w, struct error *err)
{
	struct error why;

	if (expect_word(w, "PRAGMA quick_check(1)", "ok", &why) == 0)
		return 0;
	return error_set(err, "%s is damaged (%s): put a backup in its place, "
	    "or move it away to begin with an empty ledger", w->path,
	    why.text);
}

static int
connect_file(struct store_writer *w, const char *path, struct error *err)
{
	int rc;

	rc = sqlite3_open_v2(path, &w->db, SQLITE_OPEN_READWRITE |
	    SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	if (rc != SQLITE_OK) {
		store_fail(w, err, "open it");
		store_writer_disconnect(w);
		return -1;
	}
	if (sqlite3_busy_timeout(w->db, BUSY_MS) != SQLITE_OK ||
	    store_writer_exec(w, "PRAGMA cell_size_check = ON;"
	    "PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY;"
	    "PRAGMA synchronous = FULL", "set it up", err) != 0) {
		store_writer_disconnect(w);
		return -1;
	}
	return 0;
}

void
store_writer_disconnect(struct store_writer *w)
{
	for (size_t i = 0; i < STATEMENTS; i++) {
		sqlite3_finalize(w->statements[i]);
		w->statements[i] = NULL;
	}
	if (sqlite3_close(w->db) != SQLITE_OK)
		log_error("store", "%s: can't close it: %s", w->path,
		    sqlite3_errmsg(w->db));
	w->db = NULL;
}

/* Whether the database is one of ours that this program can read. */
static int
check_kind(struct store_writer *w, int64_t *version, struct error *err)
{
	int64_t id;

	if (ask_integer(w, "PRAGMA application_id", &id, err) != 0 ||
	    ask_integer(w, "PRAGMA user_version", version, err) != 0)
		return -1;
	if (id != STORE_APPLICATION_ID)
		return error_set(err, "%s is not a database of cronctl "
		    "(application id %" PRId64 "): move it away or choose "
		    "another state directory", w->path, id);
	if (*version > SCHEMA_VERSION)
		return error_set(err, "%s was written by a newer cronctl "
		    "(schema %" PRId64 ", this one knows up to %" PRId64
		    "): run that version, or move the file away", w->path,
		    *version, SCHEMA_VERSION);
	if (*version < 1)
		return error_set(err, "%s is damaged (schema %" PRId64
		    "): put a backup in its place, or move it away to begin "
		    "with an empty ledger", w->path, *version);
	return 0;
}

static int
set_wal(struct store_writer *w, struct error *err)
{
	if (expect_word(w, "PRAGMA journal_mode = WAL", "wal", err) != 0)
		return -1;
	/* A WAL that a long query has let grow is cut down afterwards. */
	return store_writer_exec(w, "PRAGMA journal_size_limit = 16777216",
	    "set it up", err);
}

/* From version on to the present one. */
static int
migrate(struct store_writer *w, int64_t version, struct error *err)
{
	char sql[64];

	for (; version < SCHEMA_VERSION; version++) {
		snprintf(sql, sizeof sql, "PRAGMA user_version = %" PRId64,
		    version + 1);
		if (store_writer_exec(w, "BEGIN IMMEDIATE", "bring it up to "
		    "date", err) != 0)
			return -1;
		if (store_writer_exec(w, migrations[version], "bring it up to "
		    "date", err) != 0 ||
		    store_writer_exec(w, sql, "bring it up to date", err) != 0 ||
		    store_writer_exec(w, "COMMIT", "bring it up to date",
		    err) != 0) {
			sqlite3_exec(w->db, "ROLLBACK", NULL, NULL, NULL);
			return -1;
		}
		if (version > 0)
			log_info("store", "%s: now of schema %" PRId64,
			    w->path, version + 1);
	}
	return 0;
}

/* What a database has from its first moment. */
static int
first_rows(struct store_writer *w, struct error *err)
{
	uint8_t random[16];
	char instance[33];
	char *sql;
	int rc;

	if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
		return error_set_errno(err, errno, "no random numbers for the "
		    "name of this instance");
	for (size_t i = 0; i < sizeof random; i++)
		snprintf(instance + 2 * i, 3, "%02x", random[i]);
	sql = xasprintf("PRAGMA application_id = %d; BEGIN IMMEDIATE;"
	    "INSERT INTO meta(key, value) VALUES"
	    "  ('instance', '%s'), ('epoch', 0);"
	    "INSERT INTO era(n, start, previous_end) VALUES"
	    "  (1, %" PRId64 ", 0); COMMIT", STORE_APPLICATION_ID, instance,
	    walltime_now().us);
	rc = store_writer_exec(w, sql, "make it", err);
	free(sql);
	return rc;
}

/* fsync of the directory: the new name is on disk. */
static int
sync_directory(const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = 0;

	if (fd < 0)
		return error_set_errno(err, errno, "%s: can't open it", path);
	if (fsync(fd) != 0)
		rc = error_set_errno(err, errno, "%s: can't sync it", path);
	if (close(fd) != 0 && rc == 0)
		rc = error_set_errno(err, errno, "%s: can't close it", path);
	return rc;
}

/* Removes what an interrupted first start has left. */
static int
remove_unfinished(const char *new_path, struct error *err)
{
	static const char *const suffixes[] = { "", "-journal", "-wal",
	    "-shm" };
	int rc = 0;

	for (size_t i = 0; i < 4 && rc == 0; i++) {
		char *path = xasprintf("%s%s", new_path, suffixes[i]);

		if (unlink(path) != 0 && errno != ENOENT)
			rc = error_set_errno(err, errno, "%s: can't remove it",
			    path);
		free(path);
	}
	return rc;
}

/* The log of a database that isn't there would be taken for the new one's. */
static int
refuse_orphan_log(struct store_writer *w, struct error *err)
{
	char *wal = xasprintf("%s-wal", w->path);
	int rc = 0;

	if (access(wal, F_OK) == 0)
		rc = error_set(err, "%s is missing, but %s is there: put the "
		    "database back, or move that file away to begin with an "
		    "empty ledger", w->path, wal);
	free(wal);
	return rc;
}

static int
fill_new(struct store_writer *w, const char *new_path, struct error *err)
{
	int fd = open(new_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int rc;

	if (fd < 0)
		return error_set_errno(err, errno, "%s: can't make it",
		    new_path);
	if (close(fd) != 0)
		return error_set_errno(err, errno, "%s: can't close it",
		    new_path);
	if (connect_file(w, new_path, err) != 0)
		return -1;
	rc = migrate(w, 0, err);
	if (rc == 0)
		rc = first_rows(w, err);
	store_writer_disconnect(w);
	return rc;
}

static int
create(struct store_writer *w, struct error *err)
{
	char *new_path = xasprintf("%s/%s", w->directory, NEW_FILE);
	int rc = -1;

	if (refuse_orphan_log(w, err) == 0 &&
	    remove_unfinished(new_path, err) == 0 &&
	    fill_new(w, new_path, err) == 0) {
		if (rename(new_path, w->path) != 0)
			error_set_errno(err, errno, "%s: can't rename it to "
			    "%s", new_path, w->path);
		else
			rc = sync_directory(w->directory, err);
	}
	free(new_path);
	return rc;
}

/*
 * Before SQLite sees the file (closing a descriptor of it would drop its
 * locks): 1 when it is there and can be tried, 0 when there is none.
 */
static int
check_file(struct store_writer *w, int64_t *size, struct error *err)
{
	struct stat st;

	if (lstat(w->path, &st) != 0) {
		if (errno == ENOENT)
			return 0;
		return error_set_errno(err, errno, "%s: can't look at it",
		    w->path);
	}
	if (!S_ISREG(st.st_mode))
		return error_set(err, "%s is not a regular file: move it away",
		    w->path);
	if (st.st_size == 0)
		return error_set(err, "%s is damaged (it is empty): put a "
		    "backup in its place, or remove it to begin with an empty "
		    "ledger", w->path);
	if ((st.st_mode & 077) != 0 && chmod(w->path, 0600) != 0)
		return error_set_errno(err, errno, "%s: can't take it from "
		    "group and others", w->path);
	*size = st.st_size;
	return 1;
}

static void
read_boot_id(struct store_writer *w)
{
	int fd = open(BOOT_ID_FILE, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, w->boot_id, sizeof w->boot_id - 1) : -1;

	if (n < 0) {
		log_warning("store", "%s: can't read it: %s", BOOT_ID_FILE,
		    strerrordesc_np(errno));
		n = 0;
	}
	if (fd >= 0 && close(fd) != 0)
		log_warning("store", "%s: can't close it: %s", BOOT_ID_FILE,
		    strerrordesc_np(errno));
	w->boot_id[n] = '\0';
	w->boot_id[strcspn(w->boot_id, "\n")] = '\0';
}

/* A new life of the daemon: epoch up, the clean exit is over. */
static int
begin_life(struct store_writer *w, struct error *err)
{
	int64_t clean;

	if (ask_integer(w, "SELECT ifnull((SELECT value FROM meta"
	    " WHERE key = '" STORE_META_CLEAN_EXIT "'), 0)", &clean, err) != 0)
		return -1;
	w->clean_exit = clean != 0;
	if (ask_integer(w, "SELECT ifnull((SELECT seq FROM sqlite_sequence"
	    " WHERE name = 'event'), 0)", &w->event_seq, err) != 0 ||
	    ask_integer(w, "SELECT ifnull((SELECT serial FROM event"
	    " ORDER BY seq DESC LIMIT 1), 0)", &w->event_serial, err) != 0)
		return -1;
	return store_writer_exec(w, "BEGIN IMMEDIATE;"
	    "INSERT INTO meta(key, value) VALUES ('epoch', 1)"
	    "  ON CONFLICT(key) DO UPDATE SET value = value + 1;"
	    "DELETE FROM meta WHERE key = '" STORE_META_CLEAN_EXIT "';"
	    "COMMIT", "raise its epoch", err);
}

static int
open_existing(struct store_writer *w, int64_t size, struct error *err)
{
	int64_t version;

	if (connect_file(w, w->path, err) != 0)
		return -1;
	if (check_kind(w, &version, err) != 0 || set_wal(w, err) != 0 ||
	    (size <= CHECK_AT_START && check_whole(w, err) != 0) ||
	    migrate(w, version, err) != 0 || begin_life(w, err) != 0) {
		store_writer_disconnect(w);
		return -1;
	}
	return 0;
}

int
store_writer_open(struct store_writer *w, const char *state_dir,
    struct error *err)
{
	int64_t size = 0;
	int found;

	*w = (struct store_writer){ .directory = xstrdup(state_dir) };
	w->path = xasprintf("%s/%s", state_dir, STORE_FILE);
	store_facts_init(&w->kept);
	read_boot_id(w);
	found = check_file(w, &size, err);
	if (found == 0 && create(w, err) != 0)
		found = -1;
	if (found < 0 || open_existing(w, size, err) != 0) {
		store_writer_release(w);
		return -1;
	}
	return 0;
}

int
store_writer_reopen(struct store_writer *w, struct error *err)
{
	int64_t version;

	if (connect_file(w, w->path, err) != 0)
		return -1;
	if (check_kind(w, &version, err) != 0 || set_wal(w, err) != 0 ||
	    (w->suspect && check_whole(w, err) != 0)) {
		store_writer_disconnect(w);
		return -1;
	}
	w->suspect = false;
	return 0;
}

void
store_writer_release(struct store_writer *w)
{
	store_writer_disconnect(w);
	store_facts_release(&w->kept);
	free(w->directory);
	free(w->path);
	w->directory = w->path = NULL;
}
