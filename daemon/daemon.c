/* SPDX-License-Identifier: ISC */
/*
 * The parts in their start order, and in the reverse their stop order:
 *
 *	instance	directories and locks: from here on we are alone
 *	store		what the daemon before us knew
 *	helpers		files, query, names; the store's thread
 *	workers, orphans, scheduler, reload, loop, control
 *	recover		jobs, runs and waiting occurrences from the store
 *	reload		what the job files say now
 *	workers_begin	those that are left tell; the others are started
 *
 * Nothing is scheduled until the workers have told (on_settled).
 */
#include "config.h"

#include "daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/protocol.h"
#include "common/xmalloc.h"
#include "common/zone.h"
#include "daemon/control.h"
#include "daemon/events.h"
#include "daemon/files.h"
#include "daemon/instance.h"
#include "daemon/jobdir_watch.h"
#include "daemon/jobtable.h"
#include "daemon/loop.h"
#include "daemon/names.h"
#include "daemon/orphan_link.h"
#include "daemon/orphans.h"
#include "daemon/query.h"
#include "daemon/recover.h"
#include "daemon/reload.h"
#include "daemon/scheduler.h"
#include "daemon/sdnotify.h"
#include "daemon/store.h"
#include "daemon/workers.h"

#define SUBSYSTEM	"daemon"
#define WORKER_BLOCK	1000	/* worker numbers reserved at a time */

struct daemon {
	const struct config	*config;
	const struct clock	 clock;		/* the system's */
	struct event_base	*base;
	struct sdnotify		*sdnotify;
	struct instance		*instance;
	struct store		*store;
	struct store_image	 image;		/* as found at start */
	struct files_context	 context;	/* of the files helper */
	struct jobdir_watch	*watch;		/* of job files and zones */
	struct files		*files;
	struct query		*query;
	struct names		*names;
	struct jobtable		*jobs;
	struct scheduler	*scheduler;
	struct reload		*reload;
	struct workers		*workers;
	struct orphans		*orphans;	/* runs of dead workers */
	struct orphan_link	 orphan_link;	/* their callbacks */
	struct loop		*loop;
	struct control		*control;
	int			 program_fd;	/* the worker program */
	int			 passed_socket;	/* see sdnotify_socket; or 0 */
	struct zone		*zone;		/* of jobs that name none */
	char			*owner_name;	/* of our own uid, or NULL */
	uint64_t		 workers_reserved; /* numbers, exclusive */
	bool			 leaving;	/* the helpers are gone */
};

/* --- scheduler to workers --- */

static bool
op_start(void *arg, const struct protocol_start *start, uint64_t not_this,
    uint64_t *worker)
{
	struct daemon *d = arg;

	if (not_this != 0)
		return workers_start_elsewhere(d->workers, start, not_this,
		    worker);
	return workers_start(d->workers, start, worker);
}

static void
op_stop(void *arg, uint64_t worker, uint64_t run_id)
{
	struct daemon *d = arg;

	if (!orphans_stop(d->orphans, run_id) &&
	    !workers_stop_run(d->workers, worker, run_id))
		log_warning(SUBSYSTEM, "run=%llu can't be stopped now: "
		    "worker %llu does not answer", (unsigned long long)run_id,
		    (unsigned long long)worker);
}

static void
op_ack(void *arg, uint64_t worker, uint64_t run_id)
{
	struct daemon *d = arg;

	workers_ack(d->workers, worker, run_id);
}

static bool
op_signal(void *arg, uint64_t worker, uint64_t run_id, int number)
{
	struct daemon *d = arg;

	return orphans_signal(d->orphans, run_id, number) ||
	    workers_signal_run(d->workers, worker, run_id, number);
}

/* A run of an earlier boot has no process: numbers mean others now. */
static bool
is_of_earlier_boot(const struct daemon *d, uint64_t run_id)
{
	return run_id < d->image.next_run_id && (d->image.boot_id == NULL ||
	    strcmp(d->image.boot_id, instance_boot_id(d->instance)) != 0);
}

static const char *
op_orphan(void *arg, const struct scheduler_orphan *orphan)
{
	struct daemon *d = arg;

	if (is_of_earlier_boot(d, orphan->run_id))
		return "the machine was started anew";
	return orphan_link_take(d->orphans, orphan);
}

/* --- workers to scheduler --- */

static void
on_listed(void *arg, uint64_t worker, const struct protocol_list_run *run)
{
	scheduler_run_listed(((struct daemon *)arg)->scheduler, worker, run);
}

static void
on_list_end(void *arg, uint64_t worker)
{
	scheduler_list_end(((struct daemon *)arg)->scheduler, worker);
}

static void
on_started(void *arg, uint64_t worker, const struct protocol_started *run)
{
	scheduler_run_started(((struct daemon *)arg)->scheduler, worker, run);
}

static void
on_ended(void *arg, uint64_t worker, const struct protocol_ended *run)
{
	scheduler_run_ended(((struct daemon *)arg)->scheduler, worker, run);
}

static void
on_refused(void *arg, uint64_t worker, uint64_t run_id,
    enum protocol_refusal why)
{
	scheduler_run_refused(((struct daemon *)arg)->scheduler, worker,
	    run_id, why);
}

static void
on_unknown(void *arg, uint64_t worker, uint64_t run_id)
{
	scheduler_run_unknown(((struct daemon *)arg)->scheduler, worker,
	    run_id);
}

/* Waits for the commit of what a dead worker left. */
struct dead_worker {
	struct daemon	*d;
	uint64_t	 number;
};

static void
on_dead_committed(void *arg, enum store_result result)
{
	struct dead_worker *dead = arg;

	if (result != STORE_COMMITTED) {
		store_after_commit(dead->d->store, on_dead_committed, dead);
		return;
	}
	/* Else the next daemon removes it. */
	if (!dead->d->leaving)
		workers_forget(dead->d->workers, dead->number);
	free(dead);
}

static void
on_dead(void *arg, uint64_t worker)
{
	struct daemon *d = arg;
	struct dead_worker *dead = xmalloc(sizeof *dead);

	scheduler_worker_dead(d->scheduler, worker);
	*dead = (struct dead_worker){ d, worker };
	store_after_commit(d->store, on_dead_committed, dead);
}

static void
put_started(struct daemon *d)
{
	struct message *m = message_object();

	message_set_string(m, "version", PACKAGE_VERSION);
	message_set_integer(m, "pid", getpid());
	message_set_integer(m, "jobs", (int64_t)jobtable_count(d->jobs));
	message_set_integer(m, "running",
	    (int64_t)scheduler_running(d->scheduler));
	events_put(d->store, EVENT_DAEMON_STARTED, -1, m);
}

static void
on_child_ended(void *arg, pid_t pid, uint64_t starttime, int status,
    const struct rusage *usage)
{
	orphans_child_ended(((struct daemon *)arg)->orphans, pid, starttime,
	    status, usage);
}

static void
on_settled(void *arg)
{
	struct daemon *d = arg;

	scheduler_settled(d->scheduler);
	put_started(d);
	control_listen(d->control);
	log_info(SUBSYSTEM, "cronctld %s ready: pid=%d jobs=%zu socket=%s",
	    PACKAGE_VERSION, (int)getpid(), jobtable_count(d->jobs),
	    instance_socket_path(d->instance));
	sdnotify_figures(d->sdnotify, jobtable_count(d->jobs),
	    scheduler_running(d->scheduler), boottime_now());
	sdnotify_ready(d->sdnotify, NULL);
}

static const struct workers_callbacks callbacks_of = {
	.listed = on_listed,
	.list_end = on_list_end,
	.started = on_started,
	.ended = on_ended,
	.refused = on_refused,
	.unknown = on_unknown,
	.dead = on_dead,
	.child_ended = on_child_ended,
	.settled = on_settled,
};

/* Worker numbers are never used twice: durable a block ahead. */
static void
on_number_used(void *arg, uint64_t next)
{
	struct daemon *d = arg;

	if (next + WORKER_BLOCK / 2 < d->workers_reserved)
		return;
	d->workers_reserved += WORKER_BLOCK;
	store_put_meta_integer(d->store, "next_worker",
	    (int64_t)d->workers_reserved);
}

/* --- control --- */

static void
on_run_ended(void *arg, const struct run_row *row)
{
	struct daemon *d = arg;

	if (d->control != NULL)
		control_run_ended(d->control, row);
}

static void
on_stop(void *arg, int64_t by_uid, int64_t timeout_us)
{
	loop_stop(((struct daemon *)arg)->loop, by_uid, timeout_us);
}

static uint64_t
on_wakeups(void *arg)
{
	return loop_turns(((struct daemon *)arg)->loop);
}

/* --- starting --- */

static bool
is_system_daemon(const struct daemon *d)
{
	return geteuid() == 0 && !d->config->user;
}

/* Clear of the numbers at which a worker is given its descriptors. */
static int
open_program(struct daemon *d, const char *path, struct error *err)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd >= 0) {
		d->program_fd = fcntl(fd, F_DUPFD_CLOEXEC,
		    PROTOCOL_FD_SPOOL + 1);
		close(fd);
	}
	if (fd < 0 || d->program_fd < 0)
		return error_set_errno(err, errno, "can't open the worker "
		    "program %s (see --worker)", path);
	return 0;
}

static int
open_instance(struct daemon *d, struct error *err)
{
	const struct config *c = d->config;

	d->instance = instance_open(c->state_dir, c->runtime_dir, err);
	if (d->instance == NULL ||
	    sdnotify_socket(instance_socket_path(d->instance),
	    &d->passed_socket, err) != 0)
		return -1;
	if (open_program(d, c->worker_program, err) != 0)
		return -1;
	d->store = store_open(c->state_dir, err);
	if (d->store == NULL)
		return -1;
	return store_load(d->store, &d->image, err);
}

/* Ids for this life, on disk before the first is used. */
static int
reserve_ids(struct daemon *d, struct error *err)
{
	d->workers_reserved = d->image.next_worker + WORKER_BLOCK;
	store_put_meta_integer(d->store, "next_worker",
	    (int64_t)d->workers_reserved);
	store_put_meta_integer(d->store, "next_run_id",
	    (int64_t)(d->image.next_run_id + SCHEDULER_ID_BLOCK));
	return store_sync(d->store, err);
}

/* The host's zone is watched if it is the one that counts. */
static struct jobdir_watch *
watch_files(struct daemon *d)
{
	const char *env_tz = getenv("TZ");
	const struct jobdir_watch_options o = {
		.base = d->base,
		.jobs_dir = d->config->jobs_dir,
		.tell = d->config->watch,
		.localtime = d->config->timezone == NULL &&
		    (env_tz == NULL || *env_tz == '\0') ?
		    "/etc/localtime" : NULL,
	};

	return jobdir_watch_new(&o);
}

static int
make_helpers(struct daemon *d, struct error *err)
{
	d->base = loop_base_new(err);
	if (d->base == NULL)
		return -1;
	d->watch = watch_files(d);
	d->context = (struct files_context){
		.jobs_dir = d->config->jobs_dir,
		.state_dir = d->config->state_dir,
		.workers_dir = instance_workers_dir(d->instance),
		.host_id = d->config->host_id,
		.zone_name = d->config->timezone,
		.env_tz = getenv("TZ"),
		.defaults = &d->config->defaults,
		.check_owner = true,
		.owner = geteuid(),
		.watch_jobs = jobdir_watch_jobs_fd(d->watch),
		.watch_zones = jobdir_watch_zones_fd(d->watch),
	};
	d->files = files_new(&d->context, d->base);
	d->query = query_new(d->config->state_dir, d->base);
	d->names = names_new(d->base);
	d->owner_name = names_of_uid_now(geteuid());
	if (d->files == NULL || d->query == NULL || d->names == NULL ||
	    store_start_thread(d->store, d->base) != 0)
		return error_set(err, "can't start the helper threads");
	return 0;
}

static void
on_files_changed(void *arg, const struct jobdir_change *change)
{
	reload_changed(arg, change);
}

static void
make_scheduler(struct daemon *d)
{
	const struct scheduler_ops ops = {
		.start = op_start,
		.stop = op_stop,
		.ack = op_ack,
		.signal = op_signal,
		.orphan = op_orphan,
		.arg = d,
	};
	const struct scheduler_observer observer = { on_run_ended, d };
	const struct scheduler_options o = {
		.store = d->store,
		.jobs = d->jobs,
		.ops = &ops,
		.max_running = (size_t)d->config->max_running,
		.lang = getenv("LANG"),
		.socket_path = instance_socket_path(d->instance),
		.host_id = d->config->host_id,
		.daemon_uid = geteuid(),
		.next_run_id = d->image.next_run_id,
		.run_id_limit = d->image.next_run_id + SCHEDULER_ID_BLOCK,
		.next_job_id = d->image.next_job_id,
		.era = d->image.era,
		.clock = &d->clock,
	};
	struct reload_options r = {
		.files = d->files,
		.jobs = d->jobs,
		.store = d->store,
		.owner_uid = geteuid(),
		.owner_name = d->owner_name,
		.config = d->config,
		.zone_name = zone_name(d->zone),
		.watch = d->watch,
	};

	d->scheduler = scheduler_new(&o);
	scheduler_observe(d->scheduler, &observer);
	r.scheduler = d->scheduler;
	d->reload = reload_new(&r);
	jobdir_watch_on_change(d->watch, on_files_changed, d->reload);
}

/* Many clients may come; jobs get the limit as it was found. */
static void
raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		log_warning(SUBSYSTEM, "can't raise the limit of open files: "
		    "%s", strerrordesc_np(errno));
}

static int
make_loop(struct daemon *d, struct error *err)
{
	struct workers_callbacks callbacks = callbacks_of;
	const struct workers_options w = {
		.base = d->base,
		.files = d->files,
		.program_fd = d->program_fd,
		.count = (size_t)d->config->workers,
		.instance = d->image.instance,
		.epoch = d->image.epoch,
		.next_number = d->image.next_worker,
		.workers_dir = instance_workers_dir(d->instance),
		.callbacks = &callbacks,
		.number_used = on_number_used,
	};
	struct loop_parts parts = {
		.base = d->base,
		.clock = &d->clock,
		.scheduler = d->scheduler,
		.jobs = d->jobs,
		.store = d->store,
		.reload = d->reload,
		.sdnotify = d->sdnotify,
	};

	callbacks.arg = d;
	d->workers = workers_new(&w);
	raise_descriptors();
	d->orphan_link = (struct orphan_link){ d->scheduler, d->workers };
	d->orphans = orphan_link_new(&d->orphan_link, d->base, d->program_fd);
	parts.workers = d->workers;
	d->loop = loop_new(&parts, err);
	return d->loop != NULL ? 0 : -1;
}

static int
make_control(struct daemon *d, struct error *err)
{
	const struct control_options o = {
		.base = d->base,
		.socket_path = instance_socket_path(d->instance),
		.socket_mode = is_system_daemon(d) ? 0666 : 0600,
		.passed_socket = d->passed_socket,
		.daemon_uid = geteuid(),
		.store = d->store,
		.query = d->query,
		.files = d->files,
		.names = d->names,
		.jobs = d->jobs,
		.scheduler = d->scheduler,
		.reload = d->reload,
		.workers = d->workers,
		.state_dir = d->config->state_dir,
		.instance = d->image.instance,
		.user = !is_system_daemon(d),
		.max_running = (size_t)d->config->max_running,
		.stop = on_stop,
		.wakeups = on_wakeups,
		.arg = d,
	};

	d->control = control_new(&o, err);
	if (d->control == NULL)
		return -1;
	loop_set_control(d->loop, d->control);
	return 0;
}

/* Runs whose worker has left nothing at all: it has been dead for long. */
static void
orphan_runs_of_nobody(struct daemon *d)
{
	for (size_t i = 0; i < d->image.n_runs; i++)
		if (!workers_is_unsettled(d->workers,
		    d->image.runs[i].worker))
			scheduler_worker_dead(d->scheduler,
			    d->image.runs[i].worker);
}

/*
 * Waits for it: what is in force when the daemon says that it is ready is
 * what the files say.  If one of them hangs, jobs are those that were in
 * force before, and the files are taken when they come.
 */
static int
read_job_files(struct daemon *d, struct error *err)
{
	reload_start(d->reload);
	while (!reload_is_through(d->reload)) {
		bool left = reload_step(d->reload);

		store_flush(d->store);
		if (!left && !reload_is_through(d->reload) &&
		    loop_base_wait(d->base, err) != 0)
			return -1;
	}
	return 0;
}

/* What was, what the files say, who is still there. */
static int
take_over(struct daemon *d, struct error *err)
{
	struct recover_options o = {
		.store = d->store,
		.image = &d->image,
		.scheduler = d->scheduler,
		.files = &d->context,
		.boot_id = instance_boot_id(d->instance),
		.clock_wait = d->config->clock_wait * USEC_PER_MSEC,
	};
	struct files_left_workers left;
	int r;

	clock_read(&d->clock, &o.now);
	scheduler_hold(d->scheduler);
	recover(&o);
	if (read_job_files(d, err) != 0)
		return -1;
	if (files_find_workers_now(&d->context, &left, err) != 0)
		return -1;
	r = workers_begin(d->workers, &left, &d->context, err);
	files_left_workers_release(&left);
	orphan_runs_of_nobody(d);
	store_flush(d->store);
	return r;
}

static int
start(struct daemon *d, struct error *err)
{
	d->sdnotify = sdnotify_new();
	d->jobs = jobtable_new();
	d->zone = d->config->timezone != NULL ?
	    zone_load(d->config->timezone, err) :
	    zone_load_local(getenv("TZ"), err);
	if (d->zone == NULL)
		return -1;
	if (open_instance(d, err) != 0 || reserve_ids(d, err) != 0 ||
	    make_helpers(d, err) != 0)
		return -1;
	make_scheduler(d);
	if (make_loop(d, err) != 0 || make_control(d, err) != 0)
		return -1;
	return take_over(d, err);
}

/* --- ending --- */

/* A clean exit: exact ids, and a mark that says nothing was left due. */
static void
put_farewell(struct daemon *d)
{
	int64_t mark = scheduler_mark(d->scheduler);
	struct message *m = message_object();

	message_set_integer(m, "pid", getpid());
	message_set_integer(m, "running",
	    (int64_t)scheduler_running(d->scheduler));
	events_put(d->store, EVENT_DAEMON_LEAVING, -1, m);
	if (mark == INT64_MIN)
		return;
	store_put_mark(d->store, mark);
	store_put_meta_integer(d->store, "next_run_id",
	    (int64_t)scheduler_next_run_id(d->scheduler));
	store_put_meta_integer(d->store, "clean_exit", 1);
}

/*
 * Helpers first: what they complete on the way out still finds everybody.
 * The store last among those that speak, to take what the others put.
 */
static void
finish(struct daemon *d, bool clean)
{
	d->leaving = true;
	query_free(d->query);
	names_free(d->names);
	files_stop(d->files);
	control_free(d->control);
	d->control = NULL;
	if (clean)
		put_farewell(d);
	if (d->store != NULL)
		store_close(d->store);
	workers_free(d->workers);
	orphans_free(d->orphans);
	loop_free(d->loop);
	reload_free(d->reload);
	scheduler_free(d->scheduler);
	jobtable_free(d->jobs);
	files_free(d->files);
	jobdir_watch_free(d->watch);
	store_image_release(&d->image);
	loop_base_free(d->base);
	if (d->program_fd >= 0)
		close(d->program_fd);
	instance_close(d->instance);
	sdnotify_free(d->sdnotify);
	zone_unref(d->zone);
	free(d->owner_name);
}

int
daemon_run(const struct config *config, struct error *err)
{
	struct daemon d = { .config = config, .program_fd = -1 };
	enum loop_end end = LOOP_FAILED;

	umask(077);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
		log_warning(SUBSYSTEM, "can't become a child subreaper: %s",
		    strerrordesc_np(errno));
	if (start(&d, err) == 0)
		end = loop_run(d.loop, err);
	if (end == LOOP_LEFT)
		log_info(SUBSYSTEM, "leaving; %zu running jobs go on",
		    scheduler_running(d.scheduler));
	else if (end == LOOP_STOPPED)
		log_info(SUBSYSTEM, "stopped; every started run has ended");
	finish(&d, end != LOOP_FAILED);
	return end == LOOP_FAILED ? -1 : 0;
}
