/* SPDX-License-Identifier: ISC */
/*
 * See simulation.h.  The store is stepped when the test has done something;
 * sim_freeze_disk() is the disk that has stopped.
 */
#include "config.h"

#include "tests/support/simulation.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/strbuf.h"
#include "common/xmalloc.h"

#define SIM_BOOT_US	(INT64_C(5000) * 1000000)	/* at the start */

/* What a restart needs of a definition. */
struct sim_def {
	char		*name, *settings, *file;
	struct sim_def	*next;
};
static struct sim_def *defs;	/* of the one simulation in this process */
static int64_t origin;		/* wall seconds at the start */
static struct zone *utc;
static struct zone_cache *zones;

static void
read_clock(void *arg, struct clock_reading *r)
{
	*r = ((struct sim *)arg)->now;
}

/* --- the fake workers --- */

static void
copy_env(struct sim_start *st, const struct protocol_start *p)
{
	static const char name[] = "CRONCTL_SCHEDULED=";

	for (size_t i = 0; i < p->env_count; i++)
		if (strncmp(p->env[i], name, sizeof name - 1) == 0)
			snprintf(st->scheduled, sizeof st->scheduled, "%s",
			    p->env[i] + sizeof name - 1);
}

static bool
op_start(void *arg, const struct protocol_start *p, uint64_t not_this,
    uint64_t *worker)
{
	struct sim *sim = arg;
	struct sim_start *st;

	if (sim->no_worker)
		return false;
	ck_assert_uint_lt(sim->n_starts, SIM_STARTS_MAX);
	st = &sim->starts[sim->n_starts++];
	*st = (struct sim_start){
		.run_id = p->tag.run_id,
		.worker = not_this == 1 ? 2 : 1,
		.not_after = p->not_after,
		.tag = p->tag,
	};
	snprintf(st->name, sizeof st->name, "%s", p->tag.job_name);
	st->tag.job_name = st->name;
	copy_env(st, p);
	*worker = st->worker;
	return true;
}

static struct sim_start *
find_start(struct sim *sim, uint64_t run_id)
{
	for (size_t i = sim->n_starts; i > 0; i--)
		if (sim->starts[i - 1].run_id == run_id)
			return &sim->starts[i - 1];
	return NULL;
}

static void
op_stop(void *arg, uint64_t worker, uint64_t run_id)
{
	struct sim_start *st = find_start(arg, run_id);

	(void)worker;
	if (st != NULL)
		st->stop_asked = true;
}

static bool
op_signal(void *arg, uint64_t worker, uint64_t run_id, int number)
{
	struct sim_start *st = find_start(arg, run_id);

	(void)worker;
	if (st != NULL)
		st->signal = number;
	return st != NULL;
}

static void
op_ack(void *arg, uint64_t worker, uint64_t run_id)
{
	struct sim_start *st = find_start(arg, run_id);

	(void)worker;
	if (st != NULL)
		st->acked = true;
}

static const char *
op_orphan(void *arg, const struct scheduler_orphan *orphan)
{
	struct sim *sim = arg;
	struct sim_start *st = find_start(sim, orphan->run_id);

	ck_assert_ptr_nonnull(st);
	st->orphan = *orphan;
	st->orphaned = sim->watches;
	return sim->watches ? NULL : "its worker died";
}

/* --- making it --- */

static void
open_store(struct sim *sim)
{
	struct error err;

	sim->store = store_open(sim->dir, &err);
	ck_assert_msg(sim->store != NULL, "%s", err.text);
	ck_assert_msg(store_load(sim->store, &sim->image, &err) == 0, "%s",
	    err.text);
}

static void
make_scheduler(struct sim *sim)
{
	const struct scheduler_ops ops = {
		.start = op_start,
		.stop = op_stop,
		.ack = op_ack,
		.signal = op_signal,
		.orphan = op_orphan,
		.arg = sim,
	};
	const struct scheduler_options o = {
		.store = sim->store,
		.jobs = sim->jobs,
		.ops = &ops,
		.max_running = sim->max_running,
		.host_id = "example",
		.next_run_id = sim->image.next_run_id,
		.run_id_limit = sim->image.next_run_id + SCHEDULER_ID_BLOCK,
		.next_job_id = sim->image.next_job_id,
		.era = sim->image.era,
		.clock = &sim->clock,
	};

	sim->scheduler = scheduler_new(&o);
}

struct sim *
sim_new(int64_t start_s)
{
	struct sim *sim = xcalloc(1, sizeof *sim);

	/* In memory if that can be: here nothing depends on the disk. */
	snprintf(sim->dir, sizeof sim->dir, "%s/check-sim.XXXXXX",
	    access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(sim->dir));
	origin = start_s;
	log_set_level(LOG_ERROR);
	utc = zone_utc();
	zones = zone_cache_new();
	sim->clock = (struct clock){ read_clock, sim };
	sim->now.wall.us = start_s * USEC_PER_SEC;
	sim->now.boot.us = sim->now.mono.us = SIM_BOOT_US;
	sim->max_running = 1000;
	sim->era_start[0] = sim->now.wall.us;
	sim->n_eras = 1;
	sim->jobs = jobtable_new();
	open_store(sim);
	make_scheduler(sim);
	return sim;
}

static void
close_store(struct sim *sim)
{
	store_image_release(&sim->image);
	store_close(sim->store);
}

static void
forget_defs(void)
{
	while (defs != NULL) {
		struct sim_def *d = defs;

		defs = d->next;
		free(d->name);
		free(d->settings);
		free(d->file);
		free(d);
	}
}

static void
save(struct sim *sim)
{
	struct error err;
	int64_t mark = scheduler_mark(sim->scheduler);

	if (mark != INT64_MIN)
		store_put_mark(sim->store, mark);
	ck_assert_msg(store_sync(sim->store, &err) == 0, "%s", err.text);
}

void
sim_free(struct sim *sim)
{
	char *command = xasprintf("rm -rf '%s' '%s.frozen'", sim->dir,
	    sim->dir);

	save(sim);
	scheduler_free(sim->scheduler);
	jobtable_free(sim->jobs);
	close_store(sim);
	forget_defs();
	zone_cache_free(zones);
	zone_unref(utc);
	ck_assert_int_eq(system(command), 0);
	free(command);
	free(sim);
}

static void
on_def_error(void *arg, int line, const char *key, const char *text)
{
	(void)line;
	ck_abort_msg("%s: %s: %s", (const char *)arg, key, text);
}

static struct jobdef *
build(struct sim *sim, const char *name, const char *settings)
{
	struct jobdef_settings set;
	const struct jobdef_settings *layers[] = { &set };
	const struct jobdef_context ctx = {
		.host_id = "example",
		.zone = utc,
		.zones = zones,
		.now = walltime_seconds(sim->now.wall),
		.error = on_def_error,
		.arg = (void *)name,
	};
	char *copy = xstrdup(settings), *save = NULL, *line;
	struct jobdef *def;
	struct error err;

	jobdef_settings_init(&set);
	for (line = strtok_r(copy, "\n", &save); line != NULL;
	    line = strtok_r(NULL, "\n", &save)) {
		char *value = strstr(line, " = ");

		ck_assert_ptr_nonnull(value);
		*value = '\0';
		ck_assert_msg(jobdef_settings_add(&set, line, value + 3, 0,
		    &err) == 0, "%s: %s", line, err.text);
	}
	if (jobdef_settings_get(&set, "command") == NULL)
		ck_assert_int_eq(jobdef_settings_add(&set, "command", "true",
		    0, &err), 0);
	def = jobdef_build(name, layers, 1, &ctx);
	ck_assert_ptr_nonnull(def);
	jobdef_settings_release(&set);
	free(copy);
	return def;
}

static void
remember_def(const char *name, const char *settings, const char *file)
{
	struct sim_def *d;

	for (d = defs; d != NULL; d = d->next) {
		if (strcmp(d->name, name) == 0) {
			free(d->settings);
			d->settings = xstrdup(settings);
			return;
		}
	}
	d = xcalloc(1, sizeof *d);
	d->name = xstrdup(name);
	d->settings = xstrdup(settings);
	d->file = file != NULL ? xstrdup(file) : NULL;
	d->next = defs;
	defs = d;
}

static struct scheduler_job_spec
spec_of(struct sim *sim, const char *name, const char *settings,
    const char *file)
{
	static uint64_t sequence;

	return (struct scheduler_job_spec){
		.def = build(sim, name, settings),
		.owner_name = "root",
		.origin = file != NULL ? ORIGIN_FILE : ORIGIN_CONTROL,
		.file = file,
		.line = 1,
		.sequence = sequence++,
	};
}

struct job *
sim_add(struct sim *sim, const char *name, const char *settings,
    const char *file)
{
	struct scheduler_job_spec spec = spec_of(sim, name, settings, file);
	struct job *job = scheduler_add_begin(sim->scheduler, &spec);

	remember_def(name, settings, file);
	scheduler_add_finish(sim->scheduler, job);
	sim_tick(sim);
	return job;
}

void
sim_replace(struct sim *sim, const char *name, const char *settings)
{
	struct scheduler_job_spec spec = spec_of(sim, name, settings, NULL);
	struct job *job = sim_job(sim, name);

	remember_def(name, settings, NULL);
	scheduler_replace_begin(sim->scheduler, job, &spec);
	scheduler_replace_finish(sim->scheduler, job, &spec);
	sim_tick(sim);
}

void
sim_remove(struct sim *sim, const char *name)
{
	struct job *job = sim_job(sim, name);

	scheduler_remove_begin(sim->scheduler, job, -1);
	scheduler_remove_finish(sim->scheduler, job, false, -1);
	sim_tick(sim);
}

struct job *
sim_job(struct sim *sim, const char *name)
{
	struct job *job = jobtable_find(sim->jobs, name);

	ck_assert_ptr_nonnull(job);
	return job;
}

/* --- time --- */

static void
turn(struct sim *sim)
{
	while (scheduler_tick(sim->scheduler, &sim->now))
		continue;
}

void
sim_tick(struct sim *sim)
{
	turn(sim);
	save(sim);
}

static void
advance(struct sim *sim, int64_t us)
{
	sim->now.wall.us += us;
	sim->now.boot.us += us;
	sim->now.mono.us += us;
}

void
sim_run_to(struct sim *sim, int64_t to_s)
{
	int64_t to = to_s * USEC_PER_SEC, wake;

	ck_assert_int_ge(to, sim->now.wall.us);
	for (;;) {
		turn(sim);
		wake = scheduler_next_wake(sim->scheduler);
		if (wake > to)
			break;
		ck_assert_int_gt(wake, sim->now.wall.us);
		advance(sim, wake - sim->now.wall.us);
	}
	advance(sim, to - sim->now.wall.us);
	turn(sim);
}

static void
changed(struct sim *sim, const struct clock_reading *last)
{
	struct clock_change change;

	clock_classify(last, &sim->now,
	    scheduler_back_sum(sim->scheduler, sim->now.boot), &change);
	scheduler_clock_changed(sim->scheduler, &change, &sim->now);
	sim_tick(sim);
}

void
sim_set_wall(struct sim *sim, int64_t wall_us)
{
	struct clock_reading last = sim->now;

	sim->now.wall.us = wall_us;
	if (wall_us < last.wall.us - CLOCK_STEP_MIN_US) {
		ck_assert_uint_lt(sim->n_eras, SIM_ERAS_MAX);
		sim->era_end[sim->n_eras - 1] = last.wall.us;
		sim->era_start[sim->n_eras++] = wall_us;
	}
	changed(sim, &last);
}

void
sim_suspend(struct sim *sim, int64_t us)
{
	struct clock_reading last = sim->now;

	sim->now.wall.us += us;
	sim->now.boot.us += us;
	changed(sim, &last);
}

/* --- what workers tell --- */

void
sim_started(struct sim *sim, size_t i)
{
	const struct sim_start *st = &sim->starts[i];
	const struct protocol_started started = {
		.run_id = st->run_id,
		.pid = (pid_t)(1000 + i),
		.starttime = 77,
		.started = sim->now.wall.us,
	};

	scheduler_run_started(sim->scheduler, st->worker, &started);
	sim_tick(sim);
}

static void
tell_end(struct sim *sim, size_t i, struct protocol_ended *e)
{
	struct sim_start *st = &sim->starts[i];

	e->tag = st->tag;
	e->stopper = st->stop_asked ? PROTOCOL_STOPPER_DAEMON :
	    PROTOCOL_STOPPER_NONE;
	e->pid = (pid_t)(1000 + i);
	e->started = st->tag.sent;
	e->ended = sim->now.wall.us;
	st->over = true;
	scheduler_run_ended(sim->scheduler, st->worker, e);
}

static void
end(struct sim *sim, size_t i, struct protocol_ended *e)
{
	tell_end(sim, i, e);
	sim_tick(sim);
}

void
sim_end_all(struct sim *sim)
{
	struct protocol_ended e = { .how = PROTOCOL_END_EXITED };

	for (; sim->n_over < sim->n_starts; sim->n_over++)
		if (!sim->starts[sim->n_over].over)
			tell_end(sim, sim->n_over, &e);
	turn(sim);
}

void
sim_exited(struct sim *sim, size_t i, int code)
{
	struct protocol_ended e = {
		.how = PROTOCOL_END_EXITED, .code = code
	};

	end(sim, i, &e);
}

void
sim_signaled(struct sim *sim, size_t i, int signal)
{
	struct protocol_ended e = {
		.how = PROTOCOL_END_SIGNALED, .signal = signal
	};

	end(sim, i, &e);
}

void
sim_refused(struct sim *sim, size_t i, enum protocol_refusal why)
{
	scheduler_run_refused(sim->scheduler, sim->starts[i].worker,
	    sim->starts[i].run_id, why);
	sim_tick(sim);
}

void
sim_worker_dead(struct sim *sim, size_t i)
{
	scheduler_worker_dead(sim->scheduler, sim->starts[i].worker);
	sim_tick(sim);
}

static void
orphan_end(struct sim *sim, size_t i, struct protocol_ended *e)
{
	struct sim_start *st = &sim->starts[i];

	e->tag.run_id = st->run_id;
	e->stopper = st->stop_asked ? PROTOCOL_STOPPER_DAEMON :
	    PROTOCOL_STOPPER_NONE;
	e->ended = sim->now.wall.us;
	st->over = true;
	scheduler_orphan_ended(sim->scheduler, e);
	sim_tick(sim);
}

void
sim_orphan_exited(struct sim *sim, size_t i, int code)
{
	struct protocol_ended e = {
		.how = PROTOCOL_END_EXITED, .code = code
	};

	orphan_end(sim, i, &e);
}

void
sim_orphan_lost(struct sim *sim, size_t i)
{
	struct protocol_ended e = { .how = PROTOCOL_END_LOST };

	orphan_end(sim, i, &e);
}

size_t
sim_count(const struct sim *sim, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < sim->n_starts; i++)
		n += strcmp(sim->starts[i].name, name) == 0;
	return n;
}

size_t
sim_nth(const struct sim *sim, const char *name, size_t n)
{
	for (size_t i = 0; i < sim->n_starts; i++)
		if (strcmp(sim->starts[i].name, name) == 0 && n-- == 0)
			return i;
	ck_abort_msg("%s has not been started that often", name);
	return 0;
}

/* --- crashes --- */

static void
copy_directory(const char *from, const char *to)
{
	char *command = xasprintf("rm -rf '%s' && cp -a '%s' '%s'", to, from,
	    to);

	ck_assert_int_eq(system(command), 0);
	free(command);
}

void
sim_freeze_disk(struct sim *sim)
{
	char *frozen = xasprintf("%s.frozen", sim->dir);

	save(sim);
	copy_directory(sim->dir, frozen);
	sim->frozen = true;
	free(frozen);
}

void
sim_crash(struct sim *sim)
{
	char *frozen = xasprintf("%s.frozen", sim->dir);

	save(sim);
	scheduler_free(sim->scheduler);
	jobtable_free(sim->jobs);
	close_store(sim);
	if (sim->frozen)
		copy_directory(frozen, sim->dir);
	sim->frozen = false;
	free(frozen);
}

static void
restore_jobs(struct sim *sim)
{
	for (size_t i = 0; i < sim->image.n_jobs; i++) {
		const struct job_row *row = &sim->image.jobs[i];
		const struct sim_def *d = defs;
		struct scheduler_job_spec spec;

		while (d != NULL && strcmp(d->name, row->name) != 0)
			d = d->next;
		ck_assert_ptr_nonnull(d);
		spec = spec_of(sim, d->name, d->settings, d->file);
		scheduler_restore_job(sim->scheduler, row, &spec);
	}
}

void
sim_restart(struct sim *sim, int64_t restart_s)
{
	int64_t wall = restart_s * USEC_PER_SEC;

	advance(sim, wall - sim->now.wall.us);
	sim->jobs = jobtable_new();
	open_store(sim);
	make_scheduler(sim);
	scheduler_hold(sim->scheduler);
	restore_jobs(sim);
	for (size_t i = 0; i < sim->image.n_pending; i++)
		scheduler_restore_pending(sim->scheduler,
		    &sim->image.pending[i]);
	for (size_t i = 0; i < sim->image.n_runs; i++)
		scheduler_restore_run(sim->scheduler, &sim->image.runs[i]);
	for (size_t i = 0; i < sim->image.n_pauses; i++)
		scheduler_restore_pause(sim->scheduler,
		    &sim->image.pauses[i]);
	scheduler_restore_down(sim->scheduler, sim->image.mark,
	    sim->now.wall.us, REASON_DAEMON_DOWN);
}

void
sim_settle(struct sim *sim)
{
	scheduler_settled(sim->scheduler);
	sim_tick(sim);
}

void
sim_listed(struct sim *sim, size_t i)
{
	const struct sim_start *st = &sim->starts[i];
	const struct protocol_list_run list = {
		.tag = st->tag,
		.state = PROTOCOL_RUN_RUNNING,
		.pid = (pid_t)(1000 + i),
		.starttime = 77,
		.started = st->tag.sent,
	};

	scheduler_run_listed(sim->scheduler, st->worker, &list);
}

/* --- the ledger as text --- */

static int
by_occurrence(const void *a, const void *b)
{
	const struct query_row *x = a, *y = b;
	int64_t p = x->is_run ? x->run.occurrence : x->outcome.occurrence;
	int64_t q = y->is_run ? y->run.occurrence : y->outcome.occurrence;

	return p < q ? -1 : p > q;
}

static void
read_all(struct sim *sim, const char *name, struct query_result *result)
{
	const struct query_spec spec = {
		.job_name = name,
		.since = INT64_MIN,
		.limit = QUERY_PAGE,
	};

	save(sim);
	query_run_now(sim->dir, &spec, result);
	ck_assert_msg(result->err.text[0] == '\0', "%s", result->err.text);
	if (result->n_rows > 0)
		qsort(result->rows, result->n_rows, sizeof *result->rows,
		    by_occurrence);
}

static void
add_outcome(struct strbuf *sb, const struct outcome_row *o)
{
	strbuf_addf(sb, "%s", outcome_kind_name(o->kind));
	if (o->reason != REASON_NONE)
		strbuf_addf(sb, "(%s)", outcome_reason_name(o->reason));
	strbuf_addf(sb, "@%lld", (long long)(o->occurrence - origin));
	if (o->last != o->occurrence)
		strbuf_addf(sb, "..%lld*%lld", (long long)(o->last - origin),
		    (long long)o->count);
}

const char *
sim_ledger(struct sim *sim, const char *name)
{
	static char text[16384];
	struct query_result result;
	struct strbuf sb = STRBUF_INIT;

	read_all(sim, name, &result);
	for (size_t i = 0; i < result.n_rows; i++) {
		const struct query_row *row = &result.rows[i];

		if (row->is_run && row->run.occurrence == INT64_MIN)
			continue;
		if (sb.len > 0)
			strbuf_addch(&sb, ' ');
		if (row->is_run)
			strbuf_addf(&sb, "started@%lld",
			    (long long)(row->run.occurrence - origin));
		else
			add_outcome(&sb, &row->outcome);
	}
	snprintf(text, sizeof text, "%s", sb.buf);
	strbuf_release(&sb);
	query_result_release(&result);
	return text;
}

const char *
sim_runs(struct sim *sim, const char *name)
{
	static char text[16384];
	struct query_result result;
	struct strbuf sb = STRBUF_INIT;

	read_all(sim, name, &result);
	for (size_t i = 0; i < result.n_rows; i++) {
		const struct run_row *run = &result.rows[i].run;

		if (!result.rows[i].is_run)
			continue;
		strbuf_addf(&sb, "%s%s", sb.len > 0 ? " " : "",
		    run_state_name(run->state));
		if (run->state == RUN_FAILED)
			strbuf_addf(&sb, "(%d)", run->code);
	}
	snprintf(text, sizeof text, "%s", sb.buf);
	strbuf_release(&sb);
	query_result_release(&result);
	return text;
}

/* --- the invariant --- */

struct span {
	uint32_t	era;
	int64_t		first, last;
};

static int
compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->era != y->era)
		return x->era < y->era ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* All rows of a job, by era and occurrence; free(). */
static struct span *
read_spans(struct sim *sim, const char *name, size_t *n)
{
	struct span *v = NULL;
	char more[QUERY_KEY_MAX] = "";
	struct query_result result;
	struct query_spec spec = {
		.job_name = name, .since = INT64_MIN, .limit = QUERY_PAGE
	};

	*n = 0;
	do {
		spec.before = more[0] != '\0' ? more : NULL;
		query_run_now(sim->dir, &spec, &result);
		ck_assert_str_eq(result.err.text, "");
		v = xreallocarray(v, *n + result.n_rows, sizeof *v);
		for (size_t i = 0; i < result.n_rows; i++) {
			const struct query_row *r = &result.rows[i];

			v[(*n)++] = r->is_run ? (struct span){ r->run.era,
			    r->run.occurrence, r->run.occurrence } :
			    (struct span){ r->outcome.era,
			    r->outcome.occurrence, r->outcome.last };
		}
		snprintf(more, sizeof more, "%s", result.more);
		query_result_release(&result);
	} while (more[0] != '\0');
	if (*n > 0)
		qsort(v, *n, sizeof *v, compare_spans);
	return v;
}

/* One era: occurrences and rows walk side by side. */
static size_t
verify_era(struct sim *sim, const struct jobdef *def, size_t era,
    int64_t from, const struct span *v, size_t n, size_t i)
{
	/* "Everything after it": an era begins after the stepped-to time. */
	int64_t start = walltime_seconds(
	    (struct walltime){ sim->era_start[era] });
	int64_t end = walltime_seconds(era + 1 < sim->n_eras ?
	    (struct walltime){ sim->era_end[era] } : sim->now.wall);
	int64_t t = from > start ? from : start;

	while (jobdef_next(def, t, &t) && t <= end) {
		if (i < n && v[i].era == era + 1 && v[i].last < t)
			i++;
		ck_assert_msg(i < n && v[i].era == era + 1 &&
		    v[i].first <= t && t <= v[i].last,
		    "%s: %lld of era %zu has no row", def->name,
		    (long long)(t - origin), era + 1);
		ck_assert_msg(t != v[i].last || i + 1 >= n ||
		    v[i + 1].era != v[i].era || v[i + 1].first > t,
		    "%s: %lld has two rows", def->name,
		    (long long)(t - origin));
		if (t == v[i].first)
			continue;
		ck_assert_msg(v[i].first < t, "%s: a row begins at no "
		    "occurrence", def->name);
	}
	while (i < n && v[i].era == era + 1)
		i++;
	return i;
}

void
sim_verify(struct sim *sim, const char *name, int64_t from_s)
{
	const struct jobdef *def = sim_job(sim, name)->def;
	struct span *v;
	size_t n, i = 0;
	int64_t t;

	save(sim);
	v = read_spans(sim, name, &n);
	for (size_t k = 0; k < n; k++) {
		ck_assert_msg(jobdef_next(def, v[k].first - 1, &t) &&
		    t == v[k].first, "%s: %lld is no occurrence", name,
		    (long long)(v[k].first - origin));
		ck_assert_msg(jobdef_next(def, v[k].last - 1, &t) &&
		    t == v[k].last, "%s: %lld is no occurrence", name,
		    (long long)(v[k].last - origin));
	}
	for (size_t era = 0; era < sim->n_eras; era++)
		i = verify_era(sim, def, era, from_s, v, n, i);
	ck_assert_uint_eq(i, n);
	free(v);
}
