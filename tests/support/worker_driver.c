/* SPDX-License-Identifier: ISC */
/*
 * Every wait is one for a condition with a deadline; the pause between two
 * looks is short and is no measure of anything.
 */
#include "config.h"

#include "tests/support/worker_driver.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/outputfile.h"
#include "common/timestamp.h"

#define FIRST_FREE	40	/* descriptors parked above the worker's */
#define PAUSE_MS	5

void
driver_pause(void)
{
	poll(NULL, 0, PAUSE_MS);
}

static int64_t
deadline(void)
{
	return monotime_now().us + DRIVER_WAIT_MS * USEC_PER_MSEC;
}

static int
make_listener(struct driver *driver)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	snprintf(address.sun_path, sizeof address.sun_path, "%s/sock",
	    driver->dir);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address,
	    sizeof address), 0);
	ck_assert_int_eq(listen(fd, 8), 0);
	return fd;
}

static int
open_in(struct driver *driver, const char *name, int flags)
{
	char path[128];
	int fd;

	snprintf(path, sizeof path, "%s/%s", driver->dir, name);
	fd = open(path, flags | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	return fd;
}

static int
make_directory(struct driver *driver, const char *name)
{
	char path[128];

	snprintf(path, sizeof path, "%s/%s", driver->dir, name);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	return open_in(driver, name, O_RDONLY | O_DIRECTORY);
}

static _Noreturn void
exec_worker(const int fds[5], const struct rlimit *nofile)
{
	const char *program = getenv("CRONCTL_WORKER_PROGRAM");
	char number[24], epoch[24];

	if (program == NULL)
		program = "./cronctl-worker";
	snprintf(number, sizeof number, "%d", DRIVER_NUMBER);
	snprintf(epoch, sizeof epoch, "%d", DRIVER_EPOCH);
	/* If the test dies, its jobs go down the ladder. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	for (int i = 0; i < 5; i++)
		if (dup2(fds[i], PROTOCOL_FD_LISTENER + i) == -1)
			_exit(99);
	if (nofile != NULL && setrlimit(RLIMIT_NOFILE, nofile) == -1)
		_exit(98);
	execl(program, "cronctl-worker", "--number", number, "--instance",
	    DRIVER_INSTANCE, "--epoch", epoch, (char *)NULL);
	fprintf(stderr, "%s can't be executed\n", program);
	_exit(97);
}

/* Out of the way of the numbers that the worker wants. */
static int
park(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE);

	ck_assert_int_ge(high, 0);
	close(fd);
	return high;
}

void
driver_init_limited(struct driver *driver, const struct rlimit *nofile)
{
	int fds[5], pair[2];

	memset(driver, 0, sizeof *driver);
	strbuf_init(&driver->in);
	snprintf(driver->dir, sizeof driver->dir, "/tmp/cronctl-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(driver->dir));
	ck_assert_int_eq(chmod(driver->dir, 0777), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
	    pair), 0);
	fds[0] = park(make_listener(driver));
	fds[1] = park(open_in(driver, "lock", O_RDWR | O_CREAT));
	ck_assert_int_eq(flock(fds[1], LOCK_EX | LOCK_NB), 0);
	fds[2] = park(pair[1]);
	fds[3] = park(make_directory(driver, "output"));
	fds[4] = park(make_directory(driver, "spool"));
	driver->conn = park(pair[0]);
	driver->output = fds[3];
	driver->spool = fds[4];
	driver->pid = fork();
	ck_assert_int_ge(driver->pid, 0);
	if (driver->pid == 0)
		exec_worker(fds, nofile);
	close(fds[0]);
	close(fds[1]);
	close(fds[2]);
}

void
driver_init(struct driver *driver)
{
	driver_init_limited(driver, NULL);
}

void
driver_init_welcomed(struct driver *driver)
{
	driver_init(driver);
	driver_send_hello(driver, DRIVER_INSTANCE, DRIVER_EPOCH);
	driver_expect(driver, PROTOCOL_WELCOME);
}

void
driver_release(struct driver *driver)
{
	char command[128];

	driver_close(driver);
	if (driver->pid != 0) {
		kill(driver->pid, SIGTERM);
		driver_wait(driver);
	}
	close(driver->output);
	close(driver->spool);
	strbuf_release(&driver->in);
	snprintf(command, sizeof command, "rm -rf '%s'", driver->dir);
	ck_assert_int_eq(system(command), 0);
}

void
driver_send(struct driver *driver, const struct strbuf *sb)
{
	size_t done = 0;

	while (done < sb->len) {
		ssize_t n = send(driver->conn, sb->buf + done, sb->len - done,
		    MSG_NOSIGNAL);

		ck_assert_int_gt(n, 0);
		done += (size_t)n;
	}
}

void
driver_send_numbers(struct driver *driver, enum protocol_type type,
    uint64_t a, uint64_t b)
{
	struct strbuf sb = STRBUF_INIT;

	protocol_encode_numbers(&sb, type, a, b);
	driver_send(driver, &sb);
	strbuf_release(&sb);
}

void
driver_send_start(struct driver *driver, const struct protocol_start *start)
{
	struct strbuf sb = STRBUF_INIT;

	protocol_encode_start(&sb, start);
	driver_send(driver, &sb);
	strbuf_release(&sb);
}

void
driver_send_hello(struct driver *driver, const char *instance, uint64_t epoch)
{
	struct protocol_hello hello = { instance, epoch, FRAME_VERSION };
	struct strbuf sb = STRBUF_INIT;

	protocol_encode_hello(&sb, &hello);
	driver_send(driver, &sb);
	strbuf_release(&sb);
}

/* False: the other end has closed. */
static bool
fill(struct driver *driver)
{
	struct pollfd fd = { .fd = driver->conn, .events = POLLIN };
	char block[65536];
	ssize_t n;

	ck_assert_msg(poll(&fd, 1, DRIVER_WAIT_MS) == 1,
	    "the worker says nothing");
	n = recv(driver->conn, block, sizeof block, 0);
	if (n == 0 || (n == -1 && errno == ECONNRESET))
		return false;
	ck_assert_int_gt(n, 0);
	strbuf_add(&driver->in, block, (size_t)n);
	return true;
}

struct frame
driver_receive(struct driver *driver)
{
	struct error err = { "" };
	struct frame frame;
	int found;

	strbuf_consume(&driver->in, driver->used);
	driver->used = 0;
	while ((found = frame_parse(driver->in.buf, driver->in.len, &frame,
	    &driver->used, &err)) == 0)
		ck_assert_msg(fill(driver), "the worker has closed");
	ck_assert_msg(found == 1, "%s", err.text);
	return frame;
}

struct frame
driver_expect(struct driver *driver, enum protocol_type type)
{
	struct frame frame = driver_receive(driver);

	ck_assert_msg(frame.type == type, "frame of type %u, not %u",
	    frame.type, type);
	return frame;
}

void
driver_expect_close(struct driver *driver)
{
	strbuf_consume(&driver->in, driver->used);
	driver->used = 0;
	while (fill(driver))
		continue;
	ck_assert_uint_eq(driver->in.len, 0);
}

void
driver_close(struct driver *driver)
{
	if (driver->conn != -1)
		close(driver->conn);
	driver->conn = -1;
	strbuf_reset(&driver->in);
	driver->used = 0;
}

void
driver_connect(struct driver *driver)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	driver_close(driver);
	driver->conn = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(driver->conn, 0);
	snprintf(address.sun_path, sizeof address.sun_path, "%s/sock",
	    driver->dir);
	ck_assert_int_eq(connect(driver->conn, (struct sockaddr *)&address,
	    sizeof address), 0);
}

int
driver_wait(struct driver *driver)
{
	int64_t until = deadline();
	int status;
	pid_t got;

	while ((got = waitpid(driver->pid, &status, WNOHANG)) == 0) {
		ck_assert_msg(monotime_now().us < until,
		    "the worker does not end");
		driver_pause();
	}
	ck_assert_int_eq(got, driver->pid);
	driver->pid = 0;
	return status;
}

bool
driver_lock_is_free(struct driver *driver)
{
	int fd = open_in(driver, "lock", O_RDWR);
	bool is_free = flock(fd, LOCK_EX | LOCK_NB) == 0;

	close(fd);
	return is_free;
}

void
driver_template(struct protocol_start *start, uint64_t run_id,
    const char *command)
{
	*start = (struct protocol_start){
		.tag = { .run_id = run_id, .job_id = 1, .job_name = "job",
		    .cause = RUN_CAUSE_MANUAL, .attempt = 1, .by_uid = -1 },
		.command = command, .shell = "/bin/sh",
		.owner_uid = geteuid(), .workdir = "/", .umask = 022,
		.start_timeout = 5 * USEC_PER_SEC,
		.stop_grace = 5 * USEC_PER_SEC, .stop_signal = SIGTERM,
		.output = PROTOCOL_OUTPUT_KEEP, .output_limit = 1024 * 1024,
	};
}

void
driver_wait_ended(struct driver *driver, struct protocol_ended *ended)
{
	struct error err = { "" };
	struct frame frame;

	do {
		frame = driver_receive(driver);
	} while (frame.type != PROTOCOL_ENDED);
	ck_assert_msg(protocol_decode_ended(&frame, ended, &err) == 0, "%s",
	    err.text);
}

void
driver_wait_started(struct driver *driver, struct protocol_started *started)
{
	struct error err = { "" };
	struct frame frame = driver_expect(driver, PROTOCOL_STARTED);

	ck_assert_msg(protocol_decode_started(&frame, started, &err) == 0,
	    "%s", err.text);
}

void
driver_run(struct driver *driver, const struct protocol_start *start,
    struct protocol_ended *ended)
{
	driver_send_start(driver, start);
	driver_wait_ended(driver, ended);
	ck_assert_uint_eq(ended->tag.run_id, start->tag.run_id);
	driver_send_numbers(driver, PROTOCOL_ACK, start->tag.run_id, 0);
}

void
driver_output(struct driver *driver, uint64_t run_id, struct strbuf *out)
{
	struct error err = { "" };
	bool end = false;

	ck_assert_msg(outputfile_read(driver->output, run_id, 0, SIZE_MAX,
	    out, &end, &err) == 0, "%s", err.text);
	ck_assert(end);
}

void
driver_wait_file(struct driver *driver, const char *name, struct strbuf *out)
{
	int64_t until = deadline();
	char path[128], block[4096];
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof path, "%s/%s", driver->dir, name);
	for (;;) {
		if ((fd = open(path, O_RDONLY | O_CLOEXEC)) != -1) {
			n = read(fd, block, sizeof block);
			close(fd);
		}
		if (n > 0)
			break;
		ck_assert_msg(monotime_now().us < until, "no file %s", name);
		driver_pause();
	}
	strbuf_reset(out);
	strbuf_add(out, block, (size_t)n);
}

/* What follows the command in /proc/PID/stat: state, parent, ... */
static bool
read_stat(pid_t pid, char *state, int *ppid)
{
	char path[64], text[512];
	const char *rest;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return false;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	rest = strrchr(text, ')');
	return rest != NULL && sscanf(rest + 1, " %c %d", state, ppid) == 2;
}

bool
driver_is_alive(pid_t pid)
{
	char state;
	int ppid;

	return read_stat(pid, &state, &ppid) && state != 'Z' && state != 'X';
}

static bool
has_children(pid_t parent)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	bool found = false;
	char state;
	int ppid;

	ck_assert_ptr_nonnull(dir);
	while (!found && (entry = readdir(dir)) != NULL) {
		pid_t pid = atoi(entry->d_name);

		found = pid > 0 && read_stat(pid, &state, &ppid) &&
		    ppid == parent;
	}
	closedir(dir);
	return found;
}

void
driver_wait_childless(struct driver *driver)
{
	int64_t until = deadline();

	while (has_children(driver->pid)) {
		ck_assert_msg(monotime_now().us < until,
		    "the worker keeps a child");
		driver_pause();
	}
}

void
driver_wait_gone(pid_t pid)
{
	int64_t until = deadline();

	while (driver_is_alive(pid)) {
		ck_assert_msg(monotime_now().us < until, "process %d lives",
		    (int)pid);
		driver_pause();
	}
}
