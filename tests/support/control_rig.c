/* SPDX-License-Identifier: ISC */
/* See control_rig.h. */
#include "config.h"

#include "tests/support/control_rig.h"

#include <errno.h>
#include <event2/event.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/outputfile.h"
#include "common/strbuf.h"
#include "common/xmalloc.h"

#define TURN_MS		5	/* a turn waits at most so long */
#define RUN_IDS		1000	/* the first one is 1 */
#define WORKER		1	/* the number of the only one */

static void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}

/* --- what the parts ask for --- */

static bool
op_start(void *arg, const struct protocol_start *p, uint64_t not_this,
    uint64_t *worker)
{
	struct rig *rig = arg;
	struct rig_start *start;

	(void)not_this;
	if (rig->n_starts == RIG_STARTS_MAX)
		return false;
	start = &rig->starts[rig->n_starts++];
	*start = (struct rig_start){ .run_id = p->tag.run_id, .tag = p->tag };
	snprintf(start->name, sizeof(start->name), "%s", p->tag.job_name);
	start->tag.job_name = start->name;
	if (p->env_count > 0)
		snprintf(start->last_env, sizeof(start->last_env), "%s",
		    p->env[p->env_count - 1]);
	*worker = WORKER;
	return true;
}

static void
op_stop(void *arg, uint64_t worker, uint64_t run_id)
{
	struct rig *rig = arg;

	(void)worker;
	for (size_t i = 0; i < rig->n_starts; i++)
		if (rig->starts[i].run_id == run_id)
			rig->starts[i].stop_asked = true;
}

static bool
op_signal(void *arg, uint64_t worker, uint64_t run_id, int number)
{
	struct rig *rig = arg;

	(void)worker;
	for (size_t i = 0; i < rig->n_starts; i++)
		if (rig->starts[i].run_id == run_id)
			rig->starts[i].signal = number;
	return !rig->no_signal;
}

static void
op_ack(void *arg, uint64_t worker, uint64_t run_id)
{
	(void)arg;
	(void)worker;
	(void)run_id;
}

static const char *
op_orphan(void *arg, const struct scheduler_orphan *orphan)
{
	(void)arg;
	(void)orphan;
	return "its worker died";
}

static void
on_run_ended(void *arg, const struct run_row *row)
{
	struct rig *rig = arg;

	if (rig->control != NULL)
		control_run_ended(rig->control, row);
}

static void
on_stop(void *arg, int64_t by_uid, int64_t timeout_us)
{
	struct rig *rig = arg;

	(void)by_uid;
	rig->stops++;
	rig->stop_timeout = timeout_us;
	scheduler_stop(rig->scheduler);
}

static uint64_t
on_wakeups(void *arg)
{
	(void)arg;
	return 42;
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

/* --- making it --- */

static void
make_directories(struct rig *rig)
{
	char path[128];

	snprintf(rig->dir, sizeof(rig->dir), "/tmp/check-control.XXXXXX");
	if (mkdtemp(rig->dir) == NULL)
		die("can't make a directory");
	snprintf(rig->socket, sizeof(rig->socket), "%s/control.sock",
	    rig->dir);
	snprintf(rig->jobs_dir, sizeof(rig->jobs_dir), "%s/jobs.d", rig->dir);
	snprintf(path, sizeof(path), "%s/output", rig->dir);
	if (mkdir(rig->jobs_dir, 0700) == -1 || mkdir(path, 0700) == -1)
		die("can't make directories in %s", rig->dir);
	snprintf(path, sizeof(path), "%s/spool", rig->dir);
	if (mkdir(path, 0700) == -1)
		die("can't make %s", path);
}

static void
make_helpers(struct rig *rig)
{
	static const struct timeval often = { 0, TURN_MS * 1000 };
	struct error err;

	rig->base = event_base_new();
	if (rig->base == NULL)
		die("can't make an event base");
	rig->tick = event_new(rig->base, -1, EV_PERSIST, on_tick, NULL);
	if (rig->tick == NULL || event_add(rig->tick, &often) == -1)
		die("can't make a timer");
	rig->store = store_open(rig->dir, &err);
	if (rig->store == NULL ||
	    store_load(rig->store, &rig->image, &err) == -1)
		die("%s", err.text);
	jobdef_settings_init(&rig->defaults);
	rig->context = (struct files_context){
		.jobs_dir = rig->jobs_dir,
		.state_dir = rig->dir,
		.workers_dir = rig->dir,
		.host_id = "example",
		.zone_name = "UTC",
		.defaults = &rig->defaults,
		.owner = geteuid(),
	};
	rig->files = files_new(&rig->context, rig->base);
	rig->query = query_new(rig->dir, rig->base);
	rig->names = names_new(rig->base);
	if (store_start_thread(rig->store, rig->base) == -1)
		die("can't start the store's thread");
}

static void
make_scheduler(struct rig *rig)
{
	const struct scheduler_ops ops = {
		.start = op_start,
		.stop = op_stop,
		.ack = op_ack,
		.signal = op_signal,
		.orphan = op_orphan,
		.arg = rig,
	};
	const struct scheduler_observer observer = { on_run_ended, rig };
	const struct scheduler_options options = {
		.store = rig->store,
		.jobs = rig->jobs,
		.ops = &ops,
		.max_running = 100,
		.host_id = "example",
		.next_run_id = 1,
		.run_id_limit = 1 + RUN_IDS,
		.next_job_id = rig->image.next_job_id,
		.era = rig->image.era,
		.clock = &rig->clock,
	};

	rig->scheduler = scheduler_new(&options);
	scheduler_observe(rig->scheduler, &observer);
}

static void
make_workers(struct rig *rig)
{
	static const struct workers_callbacks none;
	const struct workers_options options = {
		.base = rig->base,
		.files = rig->files,
		.program_fd = -1,
		.instance = "",
		.workers_dir = rig->dir,
		.callbacks = &none,
	};
	const struct reload_options reload = {
		.files = rig->files,
		.scheduler = rig->scheduler,
		.jobs = rig->jobs,
		.store = rig->store,
		.owner_uid = geteuid(),
		.zone_name = "UTC",
	};

	rig->workers = workers_new(&options);
	rig->reload = reload_new(&reload);
}

struct rig *
rig_new(uid_t daemon_uid)
{
	struct rig *rig = xcalloc(1, sizeof(*rig));
	struct control_options options = {
		.socket_mode = 0600,
		.daemon_uid = daemon_uid,
		.instance = "0123456789abcdef0123456789abcdef",
		.max_running = 100,
		.stop = on_stop,
		.wakeups = on_wakeups,
		.arg = rig,
	};
	struct error err;

	make_directories(rig);
	rig->jobs = jobtable_new();
	make_helpers(rig);
	make_scheduler(rig);
	make_workers(rig);
	options.base = rig->base;
	options.socket_path = rig->socket;
	options.state_dir = rig->dir;
	options.store = rig->store;
	options.query = rig->query;
	options.files = rig->files;
	options.names = rig->names;
	options.jobs = rig->jobs;
	options.scheduler = rig->scheduler;
	options.reload = rig->reload;
	options.workers = rig->workers;
	rig->control = control_new(&options, &err);
	if (rig->control == NULL)
		die("%s", err.text);
	control_listen(rig->control);
	return rig;
}

static int
remove_one(const char *path, const struct stat *st, int flag,
    struct FTW *where)
{
	(void)st;
	(void)flag;
	(void)where;
	return remove(path);
}

/* In the order in which the daemon does it. */
void
rig_free(struct rig *rig)
{
	control_free(rig->control);
	rig->control = NULL;
	store_close(rig->store);
	workers_free(rig->workers);
	reload_free(rig->reload);
	scheduler_free(rig->scheduler);
	jobtable_free(rig->jobs);
	names_free(rig->names);
	query_free(rig->query);
	files_free(rig->files);
	store_image_release(&rig->image);
	jobdef_settings_release(&rig->defaults);
	event_free(rig->tick);
	event_base_free(rig->base);
	if (nftw(rig->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
		die("can't remove %s", rig->dir);
	free(rig);
}

/* As loop_turn() has it. */
void
rig_turn(struct rig *rig)
{
	struct clock_reading now;
	bool left;

	if (event_base_loop(rig->base, EVLOOP_ONCE) == -1)
		die("the event loop failed");
	clock_read(&rig->clock, &now);
	do {
		left = control_dispatch(rig->control);
		left = reload_step(rig->reload) || left;
		left = scheduler_tick(rig->scheduler, &now) || left;
	} while (left);
	if (!rig->no_flush)
		store_flush(rig->store);
}

/* --- clients --- */

int
rig_connect(struct rig *rig)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s",
	    rig->socket);
	if (fd == -1 || connect(fd, (struct sockaddr *)&address,
	    sizeof(address)) == -1)
		die("can't connect to %s: %s", rig->socket,
		    strerrordesc_np(errno));
	return fd;
}

static int64_t
deadline_in(int ms)
{
	return monotime_now().us + (int64_t)ms * USEC_PER_MSEC;
}

void
rig_write(struct rig *rig, int fd, const void *data, size_t len)
{
	int64_t deadline = deadline_in(RIG_WAIT_MS);
	const char *p = data;

	while (len > 0) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

		if (n > 0) {
			p += n;
			len -= (size_t)n;
			continue;
		}
		if (n == -1 && (errno == EPIPE || errno == ECONNRESET))
			return;
		if (n == -1 && errno != EAGAIN && errno != EINTR)
			die("can't write: %s", strerrordesc_np(errno));
		if (monotime_now().us > deadline)
			die("what was written is not read");
		rig_turn(rig);
	}
}

char *
rig_read(struct rig *rig, int fd, int wait_ms)
{
	int64_t deadline = deadline_in(wait_ms);
	struct strbuf line = STRBUF_INIT;
	char c;

	/* Byte by byte: what comes after the line is for the next call. */
	for (;;) {
		ssize_t n = read(fd, &c, 1);

		if (n == 1 && c == '\n')
			return strbuf_detach(&line);
		if (n == 1) {
			strbuf_addch(&line, c);
			continue;
		}
		if (n == 0 || (errno != EAGAIN && errno != EINTR) ||
		    monotime_now().us > deadline) {
			strbuf_release(&line);
			return NULL;
		}
		rig_turn(rig);
	}
}

bool
rig_is_closed(struct rig *rig, int fd, int wait_ms)
{
	int64_t deadline = deadline_in(wait_ms);
	char bytes[65536];

	while (monotime_now().us <= deadline) {
		ssize_t n = read(fd, bytes, sizeof(bytes));

		if (n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR))
			return true;
		if (n == -1)
			rig_turn(rig);
	}
	return false;
}

struct message *
rig_ask(struct rig *rig, const char *method, const char *params)
{
	struct error err = { "" };
	struct message *reply;
	int fd = rig_connect(rig);
	char *line;

	line = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\"%s%s"
	    "}\n", method, params != NULL ? ",\"params\":" : "",
	    params != NULL ? params : "");
	rig_write(rig, fd, line, strlen(line));
	free(line);
	line = rig_read(rig, fd, RIG_WAIT_MS);
	if (line == NULL)
		die("%s %s: no answer", method, params);
	reply = message_parse(line, strlen(line), &err);
	if (reply == NULL)
		die("%s: %s", line, err.text);
	free(line);
	close(fd);
	return reply;
}

struct message *
rig_call(struct rig *rig, const char *method, const char *params)
{
	struct message *reply = rig_ask(rig, method, params), *result;
	char *text;

	if (message_get(reply, "result") == NULL) {
		text = message_format(reply);
		die("%s %s: %s", method, params, text);
	}
	result = message_dup(message_get(reply, "result"));
	message_free(reply);
	return result;
}

void
rig_add(struct rig *rig, const char *name)
{
	char *params = xasprintf("{\"name\":\"%s\",\"definition\":{"
	    "\"schedule\":\"@manual\",\"command\":\"true\"}}", name);

	message_free(rig_call(rig, "job.add", params));
	free(params);
}

static void
write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (f == NULL || fputs(text, f) == EOF || fclose(f) == EOF)
		die("can't write %s", path);
}

void
rig_write_file(struct rig *rig, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", rig->jobs_dir, name);

	write_file(path, text);
	free(path);
}

/* --- workers --- */

void
rig_started(struct rig *rig, size_t i)
{
	const struct protocol_started started = {
		.run_id = rig->starts[i].run_id,
		.pid = 4242,
		.starttime = 1,
		.started = walltime_now().us,
	};

	scheduler_run_started(rig->scheduler, WORKER, &started);
}

void
rig_exited(struct rig *rig, size_t i, int code)
{
	const struct protocol_ended ended = {
		.tag = rig->starts[i].tag,
		.how = PROTOCOL_END_EXITED,
		.code = code,
		.pid = 4242,
		.starttime = 1,
		.started = walltime_now().us - 1000,
		.ended = walltime_now().us,
		.output_bytes = 6,
	};

	scheduler_run_ended(rig->scheduler, WORKER, &ended);
}

void
rig_write_output(struct rig *rig, uint64_t run_id, const char *text)
{
	char name[OUTPUTFILE_NAME_MAX], *path;

	outputfile_name(name, run_id, OUTPUTFILE_HEAD);
	path = xasprintf("%s/output/%s", rig->dir, name);
	write_file(path, text);
	free(path);
}
