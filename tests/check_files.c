/* SPDX-License-Identifier: ISC */
/*
 * The files helper: job files, definitions, pages of output, what workers
 * leave and what they are started with; on real files in a directory of the
 * test's own.
 */
#include "config.h"

#include "daemon/files.h"

#include <check.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/log.h"
#include "common/outputfile.h"
#include "common/timestamp.h"
#include "common/xmalloc.h"
#include "tests/check_main.h"

static char directory[64];	/* of the running test */
static char jobs_dir[96], state_dir[96], workers_dir[96];
static struct files_context context;
static struct event_base *base;
static struct files *files;

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
	strcpy(directory, "/tmp/check_files.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(jobs_dir, sizeof jobs_dir, "%s/jobs.d", directory);
	snprintf(state_dir, sizeof state_dir, "%s/state", directory);
	snprintf(workers_dir, sizeof workers_dir, "%s/workers", directory);
	ck_assert_int_eq(mkdir(jobs_dir, 0755), 0);
	ck_assert_int_eq(mkdir(state_dir, 0700), 0);
	context = (struct files_context){
		.jobs_dir = jobs_dir, .state_dir = state_dir,
		.workers_dir = workers_dir, .host_id = "example",
		.zone_name = "UTC", .check_owner = true, .owner = getuid(),
	};
	ck_assert_ptr_nonnull(base = event_base_new());
	ck_assert_ptr_nonnull(files = files_new(&context, base));
}

static int
remove_one(const char *path, const struct stat *st, int kind,
    struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

static void
teardown(void)
{
	files_free(files);
	event_base_free(base);
	ck_assert_int_eq(nftw(directory, remove_one, 8,
	    FTW_DEPTH | FTW_PHYS), 0);
}

static void
write_file(const char *dir, const char *name, const void *data, size_t len)
{
	char path[160];
	int fd;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	ck_assert_int_ge(fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600),
	    0);
	ck_assert_int_eq(write(fd, data, len), (ssize_t)len);
	ck_assert_int_eq(close(fd), 0);
}

static void
write_text(const char *dir, const char *name, const char *text)
{
	write_file(dir, name, text, strlen(text));
}

static void
loop_until(const int *n, int want)
{
	while (*n < want)
		ck_assert_int_ge(event_base_loop(base, EVLOOP_ONCE), 0);
}

/* --- job files --- */

static const struct files_load only_jobs = { NULL, false };

struct loaded {
	int		  n;	/* answers */
	struct files_jobs jobs;	/* taken */
};

static void
on_jobs(void *arg, struct files_jobs *jobs)
{
	struct loaded *l = arg;

	l->n++;
	l->jobs = *jobs;
	jobs->set = (struct jobfile_set){ 0 };
}

static void
ignore_jobs(void *arg, struct files_jobs *jobs)
{
	ck_assert_uint_eq(jobs->set.n_files, 2);
	++*(int *)arg;
}

START_TEST(job_files_are_read_and_may_be_taken)
{
	struct loaded l = { 0 };
	int ignored = 0;

	write_text(jobs_dir, "b.ini", "[second]\nschedule = @daily\n"
	    "command = true\n");
	write_text(jobs_dir, "a.ini", "[first]\nschedule = 5 4 * * *\n"
	    "timezone = Europe/Berlin\ncommand = echo ';#%'\n");
	write_text(jobs_dir, "readme.txt", "not a job file");
	ck_assert(files_load_jobs(files, &only_jobs, on_jobs, &l));
	loop_until(&l.n, 1);
	ck_assert_str_eq(l.jobs.err.text, "");
	ck_assert_uint_eq(l.jobs.set.n_files, 2);
	ck_assert_uint_eq(l.jobs.set.n_ignored, 1);
	ck_assert_uint_eq(l.jobs.set.files[0]->n_errors, 0);
	ck_assert_str_eq(l.jobs.set.files[0]->jobs[0].def->name, "first");
	ck_assert_str_eq(l.jobs.set.files[0]->jobs[0].def->command,
	    "echo ';#%'");
	jobfile_set_release(&l.jobs.set);
	ck_assert(files_load_jobs(files, &only_jobs, ignore_jobs, &ignored));
	loop_until(&ignored, 1);
}
END_TEST

/* --- files that hang --- */

struct slow {
	int	 n;		/* reports */
	char	 text[512];	/* of the last */
};

static void
on_slow(void *arg, const char *text)
{
	struct slow *slow = arg;

	slow->n++;
	snprintf(slow->text, sizeof slow->text, "%s", text);
}

static void
on_page(void *arg, struct files_output *output)
{
	(void)output;
	++*(int *)arg;
}

/*
 * Whoever opens the file hangs until the descriptor is closed (FAN_OPEN_PERM
 * of fanotify(7)); -1 where that is not allowed.
 */
static int
make_hang(const char *dir, const char *name)
{
	int fd = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY);
	char path[160];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	if (fd >= 0 && fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN_PERM, AT_FDCWD,
	    path) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

START_TEST(a_job_file_that_hangs_holds_up_nothing_else)
{
	struct loaded l = { 0 };
	struct slow slow = { 0 };
	int pages = 0, fd;

	write_text(jobs_dir, "a.ini", "[a]\nschedule = @daily\n"
	    "command = true\n");
	fd = make_hang(jobs_dir, "a.ini");
	if (fd < 0)
		return;
	files_set_slow(files, 100);
	files_on_slow(files, on_slow, &slow);
	ck_assert_ptr_null(files_slow(files));
	ck_assert(files_load_jobs(files, &only_jobs, on_jobs, &l));
	ck_assert(files_read_output(files, 1, 0, on_page, &pages));
	loop_until(&pages, 1);
	ck_assert_int_eq(l.n, 0);
	loop_until(&slow.n, 1);
	ck_assert_msg(strstr(slow.text, "/a.ini takes longer than") != NULL,
	    "%s", slow.text);
	ck_assert_str_eq(files_slow(files), slow.text);
	ck_assert_int_eq(l.n, 0);
	/* Until it answers; then all is as it was. */
	ck_assert_int_eq(close(fd), 0);
	loop_until(&l.n, 1);
	ck_assert_uint_eq(l.jobs.set.n_files, 1);
	ck_assert_uint_eq(l.jobs.set.files[0]->n_jobs, 1);
	ck_assert_ptr_null(files_slow(files));
	ck_assert_int_eq(slow.n, 1);
	jobfile_set_release(&l.jobs.set);
}
END_TEST

START_TEST(sections_are_sorted_over_all_files)
{
	static const char *const names[] = { "a", "b", "b", "c" };
	static const char *const places[] = { "jobs.d/2.ini", "jobs.d/1.ini",
	    "jobs.d/2.ini", "jobs.d/1.ini" };
	struct files_jobs jobs;

	write_text(jobs_dir, "1.ini", "[defaults]\nschedule = @daily\n"
	    "[c]\ncommand = 1\n[b]\ncommand = 2\n");
	write_text(jobs_dir, "2.ini", "[defaults]\nschedule = @daily\n"
	    "[b]\ncommand = 3\n[a]\ncommand = 4\n");
	files_load_jobs_now(&context, &jobs);
	ck_assert_uint_eq(jobs.n_sections, 4);
	for (size_t i = 0; i < 4; i++) {
		ck_assert_str_eq(jobs.sections[i].place->def->name, names[i]);
		ck_assert_str_eq(jobs.sections[i].file->name, places[i]);
	}
	ck_assert_str_eq(jobs.zone, "UTC");
	files_jobs_release(&jobs);
}
END_TEST

START_TEST(a_missing_directory_is_an_error_and_reads_nothing)
{
	struct files_jobs jobs;

	ck_assert_int_eq(rmdir(jobs_dir), 0);
	files_load_jobs_now(&context, &jobs);
	ck_assert_msg(strstr(jobs.err.text, jobs_dir) != NULL, "%s",
	    jobs.err.text);
	ck_assert_uint_eq(jobs.set.n_files, 0);
	files_jobs_release(&jobs);
}
END_TEST

START_TEST(a_zone_that_does_not_exist_is_an_error)
{
	struct files_jobs jobs;
	struct jobfile *file;

	context.zone_name = "Europe/Brelin";
	files_load_jobs_now(&context, &jobs);
	ck_assert_msg(strstr(jobs.err.text, "Europe/Brelin") != NULL, "%s",
	    jobs.err.text);
	files_jobs_release(&jobs);
	file = files_parse_now(&context, "a.ini", "", 0);
	ck_assert_uint_eq(file->n_errors, 1);
	ck_assert_ptr_nonnull(strstr(file->errors[0], "Europe/Brelin"));
	jobfile_free(file);
}
END_TEST

START_TEST(text_is_parsed_as_a_file_is)
{
	static const char text[] = "[a]\nschedule = @hourly\ncommand = x\n";
	struct jobfile *file = files_parse_now(&context, "jobs.d/a.ini", text,
	    strlen(text));

	ck_assert_uint_eq(file->n_errors, 0);
	ck_assert_uint_eq(file->n_jobs, 1);
	ck_assert_str_eq(file->jobs[0].def->name, "a");
	jobfile_free(file);
	file = files_parse_now(&context, "a.ini", "[a]\nno", 6);
	ck_assert_uint_gt(file->n_errors, 0);
	jobfile_free(file);
}
END_TEST

START_TEST(defaults_of_the_configuration_apply)
{
	struct jobdef_settings defaults;
	struct files_jobs jobs;

	jobdef_settings_init(&defaults);
	ck_assert_int_eq(jobdef_settings_add(&defaults, "shell", "/bin/bash",
	    0, NULL), 0);
	context.defaults = &defaults;
	write_text(jobs_dir, "a.ini", "[a]\nschedule = @daily\n"
	    "command = true\n");
	files_load_jobs_now(&context, &jobs);
	ck_assert_uint_eq(jobs.set.n_files, 1);
	ck_assert_str_eq(jobs.set.files[0]->jobs[0].def->shell, "/bin/bash");
	files_jobs_release(&jobs);
	jobdef_settings_release(&defaults);
}
END_TEST

/* --- definitions --- */

struct built {
	int		  n;		/* answers */
	struct jobdef	 *def;		/* taken */
	size_t		  n_errors;	/* with the first: */
	char		  error[256];
};

static void
on_built(void *arg, struct files_built *built)
{
	struct built *b = arg;

	b->n++;
	b->def = built->def;
	built->def = NULL;
	b->n_errors = built->n_errors;
	if (built->n_errors > 0)
		snprintf(b->error, sizeof b->error, "%s", built->errors[0]);
}

static void
set(struct jobdef_settings *s, const char *key, const char *value)
{
	struct error err = { "" };

	ck_assert_msg(jobdef_settings_add(s, key, value, 0, &err) == 0, "%s",
	    err.text);
}

START_TEST(a_definition_is_built_from_settings)
{
	struct jobdef_settings s;
	struct built b = { 0 };

	jobdef_settings_init(&s);
	set(&s, "schedule", "@in 10s");
	set(&s, "command", "true");
	ck_assert(files_build(files, "once", &s, 1000, true, on_built, &b));
	jobdef_settings_release(&s);	/* they were copied */
	loop_until(&b.n, 1);
	ck_assert_msg(b.def != NULL, "%s", b.error);
	ck_assert_str_eq(b.def->name, "once");
	ck_assert_uint_eq(b.n_errors, 0);
	jobdef_free(b.def);
}
END_TEST

START_TEST(a_wrong_definition_gives_all_errors)
{
	struct jobdef_settings s;
	struct built b = { 0 };

	jobdef_settings_init(&s);
	set(&s, "command", "true");
	ck_assert(files_build(files, "none", &s, 1000, false, on_built, &b));
	loop_until(&b.n, 1);
	ck_assert_ptr_null(b.def);
	ck_assert_uint_ge(b.n_errors, 1);
	ck_assert_msg(strstr(b.error, "schedule") != NULL, "%s", b.error);
	jobdef_settings_release(&s);
}
END_TEST

START_TEST(a_stored_definition_gives_the_same_job)
{
	struct jobdef_settings s;
	struct built b = { 0 };
	struct error err = { "" };
	struct jobdef *again;
	char *ini;

	jobdef_settings_init(&s);
	set(&s, "schedule", "30 2 * * 1-5");
	set(&s, "command", "printf '%s\\n' \"a;b#c\" = \\.");
	set(&s, "env.X", "  y ");
	ck_assert(files_build(files, "alice/nightly", &s, 1000, true,
	    on_built, &b));
	loop_until(&b.n, 1);
	ck_assert_msg(b.def != NULL, "%s", b.error);
	ini = jobdef_format_ini(b.def);
	again = files_build_now(&context, ini, &err);
	ck_assert_msg(again != NULL, "%s", err.text);
	ck_assert_str_eq(again->name, "alice/nightly");
	ck_assert(jobdef_equal(b.def, again));
	free(ini);
	jobdef_free(again);
	jobdef_free(b.def);
	jobdef_settings_release(&s);
}
END_TEST

START_TEST(a_stored_definition_that_is_damaged_is_a_sentence)
{
	static const char *const bad[] = { "", "junk", "[a]\nno = x\n",
	    "[a]\nschedule = @daily\n",
	    "[a]\nschedule = 61 * * * *\ncommand = x\n",
	    "[a]\nschedule = @daily\ncommand = x\n[b]\ncommand = y\n" };
	struct error err = { "" };

	ck_assert_ptr_null(files_build_now(&context, bad[_i], &err));
	ck_assert_str_ne(err.text, "");
}
END_TEST

/* --- output --- */

struct pages {
	int		n;	/* answers */
	char		*data;	/* of the last one; taken */
	size_t		len;
	int64_t		next;
	bool		end;
};

static void
on_output(void *arg, struct files_output *o)
{
	struct pages *p = arg;

	ck_assert_str_eq(o->err.text, "");
	free(p->data);
	p->n++;
	p->data = o->data;
	o->data = NULL;
	p->len = o->len;
	p->next = o->next;
	p->end = o->end;
}

START_TEST(output_comes_in_pages)
{
	struct pages p = { 0 };
	size_t size = FILES_OUTPUT_PAGE + 100;
	char name[OUTPUTFILE_NAME_MAX], dir[128];
	char *text = xmalloc(size);

	for (size_t i = 0; i < size; i++)
		text[i] = (char)(i * 7);
	snprintf(dir, sizeof dir, "%s/output", state_dir);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	outputfile_name(name, 42, OUTPUTFILE_HEAD);
	write_file(dir, name, text, size);
	ck_assert(files_read_output(files, 42, 0, on_output, &p));
	loop_until(&p.n, 1);
	ck_assert_uint_eq(p.len, FILES_OUTPUT_PAGE);
	ck_assert_mem_eq(p.data, text, p.len);
	ck_assert(!p.end);
	ck_assert_int_eq(p.next, FILES_OUTPUT_PAGE);
	ck_assert(files_read_output(files, 42, p.next, on_output, &p));
	loop_until(&p.n, 2);
	ck_assert_uint_eq(p.len, 100);
	ck_assert_mem_eq(p.data, text + FILES_OUTPUT_PAGE, p.len);
	ck_assert(p.end);
	ck_assert_int_eq(p.next, (int64_t)size);
	free(p.data);
	free(text);
}
END_TEST

START_TEST(a_silent_run_has_an_end_at_once)
{
	struct pages p = { 0 };

	/* No directory yet, then an empty one. */
	ck_assert(files_read_output(files, 42, 0, on_output, &p));
	loop_until(&p.n, 1);
	ck_assert_uint_eq(p.len, 0);
	ck_assert(p.end);
	free(p.data);
}
END_TEST

/* --- new workers --- */

static char *
worker_path(uint64_t number, const char *suffix)
{
	static char path[160];

	snprintf(path, sizeof path, "%s/%" PRIu64 "%s", workers_dir, number,
	    suffix);
	return path;
}

static bool
has_flag(int fd, int get, int flag)
{
	return (fcntl(fd, get) & flag) != 0;
}

static void
make_kit(uint64_t number, struct files_worker_kit *kit)
{
	struct error err = { "" };

	ck_assert_msg(files_make_worker_kit_now(&context, number, kit,
	    &err) == 0, "%s", err.text);
}

START_TEST(a_kit_is_complete_private_and_closed_on_exec)
{
	struct files_worker_kit kit;
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	struct stat st;
	int fd;

	make_kit(7, &kit);
	int fds[] = { kit.listener, kit.lock, kit.daemon_end, kit.worker_end,
	    kit.output_dir, kit.spool_dir };
	for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
		ck_assert_int_ge(fds[i], 0);
		ck_assert(has_flag(fds[i], F_GETFD, FD_CLOEXEC));
	}
	ck_assert(has_flag(kit.listener, F_GETFL, O_NONBLOCK));
	ck_assert(has_flag(kit.daemon_end, F_GETFL, O_NONBLOCK));
	ck_assert_int_eq(stat(worker_path(7, ".sock"), &st), 0);
	ck_assert(S_ISSOCK(st.st_mode));
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(stat(worker_path(7, ".lock"), &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(stat(workers_dir, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0700);
	ck_assert_int_eq(fstat(kit.output_dir, &st), 0);
	ck_assert(S_ISDIR(st.st_mode));
	ck_assert_int_eq(st.st_mode & 0777, 0700);
	ck_assert_int_eq(fstat(kit.spool_dir, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0700);
	/* It can be connected to. */
	strcpy(sun.sun_path, worker_path(7, ".sock"));
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&sun, sizeof sun), 0);
	close(fd);
	files_worker_kit_close(&kit);
	ck_assert_int_eq(kit.listener, -1);
	files_worker_kit_close(&kit);	/* closes nothing twice */
}
END_TEST

START_TEST(an_old_socket_is_replaced_and_a_live_worker_respected)
{
	struct files_worker_kit kit, second;
	struct error err = { "" };

	ck_assert_int_eq(mkdir(workers_dir, 0700), 0);
	write_text(workers_dir, "7.sock", "old");
	make_kit(7, &kit);
	ck_assert_int_eq(files_make_worker_kit_now(&context, 7, &second,
	    &err), -1);
	ck_assert_msg(strstr(err.text, "7.lock") != NULL, "%s", err.text);
	ck_assert_int_eq(second.listener, -1);
	ck_assert_int_eq(second.spool_dir, -1);
	files_worker_kit_close(&kit);
	make_kit(7, &second);
	files_worker_kit_close(&second);
}
END_TEST

START_TEST(a_path_too_long_is_a_clear_error)
{
	struct files_worker_kit kit;
	struct error err = { "" };
	char deep[200];

	snprintf(deep, sizeof deep, "%s/%0100d", directory, 0);
	context.workers_dir = deep;
	ck_assert_int_eq(files_make_worker_kit_now(&context, 7, &kit, &err),
	    -1);
	ck_assert_msg(strstr(err.text, "choose a shorter runtime directory") !=
	    NULL, "%s", err.text);
}
END_TEST

struct kits {
	int			n;	/* answers */
	struct files_worker_kit	kit;	/* taken, or an error */
};

static void
take_kit(void *arg, struct files_worker_kit *kit)
{
	struct kits *k = arg;

	k->n++;
	k->kit = *kit;
	kit->listener = kit->lock = kit->daemon_end = kit->worker_end =
	    kit->output_dir = kit->spool_dir = -1;
}

static void
leave_kit(void *arg, struct files_worker_kit *kit)
{
	struct kits *k = arg;

	k->n++;
	k->kit = *kit;
}

START_TEST(a_kit_that_is_taken_stays_open)
{
	struct kits k = { 0 };

	ck_assert(files_make_worker_kit(files, 7, take_kit, &k));
	loop_until(&k.n, 1);
	ck_assert_str_eq(k.kit.err.text, "");
	ck_assert_uint_eq(k.kit.number, 7);
	ck_assert_int_ge(fcntl(k.kit.listener, F_GETFD), 0);
	files_worker_kit_close(&k.kit);
	ck_assert(files_make_worker_kit(files, 8, leave_kit, &k));
	loop_until(&k.n, 2);
	ck_assert_int_eq(fcntl(k.kit.listener, F_GETFD), -1);
}
END_TEST

START_TEST(a_kit_that_failed_tells_why)
{
	struct kits k = { 0 };

	write_text(directory, "workers", "a file in its place");
	ck_assert(files_make_worker_kit(files, 7, take_kit, &k));
	loop_until(&k.n, 1);
	ck_assert_int_eq(k.kit.listener, -1);
	ck_assert_msg(strstr(k.kit.err.text, workers_dir) != NULL, "%s",
	    k.kit.err.text);
}
END_TEST

/* --- what workers leave --- */

static void
make_spool(const char *name, const char *text)
{
	char dir[128];

	snprintf(dir, sizeof dir, "%s/spool", state_dir);
	ck_assert(mkdir(dir, 0700) == 0 || errno == EEXIST);
	write_text(dir, name, text);
}

START_TEST(left_workers_are_found_by_lock_and_spool)
{
	struct files_left_workers left;
	struct files_worker_kit kit;
	struct error err = { "" };

	ck_assert_int_eq(files_find_workers_now(&context, &left, &err), 0);
	ck_assert_uint_eq(left.n, 0);
	make_kit(20, &kit);			/* lives */
	write_text(workers_dir, "9.lock", "");	/* dead, with a spool */
	write_text(workers_dir, "9.sock", "");
	make_spool("9", "results");
	write_text(workers_dir, "8.sock", "");	/* dead, without a lock */
	make_spool("100", "");			/* has only a spool */
	make_spool("20", "not to be read yet");
	make_spool("9.tmp", "half");		/* none of these is one */
	make_spool("07", "x");
	make_spool("0", "x");
	make_spool("12x", "x");
	make_spool("99999999999999999999", "x");
	write_text(workers_dir, "x.lock", "");
	ck_assert_msg(files_find_workers_now(&context, &left, &err) == 0,
	    "%s", err.text);
	ck_assert_uint_eq(left.n, 4);
	ck_assert_uint_eq(left.v[0].number, 8);
	ck_assert(!left.v[0].alive);
	ck_assert_ptr_null(left.v[0].spool);
	ck_assert_uint_eq(left.v[1].number, 9);
	ck_assert(!left.v[1].alive);
	ck_assert_uint_eq(left.v[1].spool_len, 7);
	ck_assert_mem_eq(left.v[1].spool, "results", 7);
	ck_assert_uint_eq(left.v[2].number, 20);
	ck_assert(left.v[2].alive);
	ck_assert_ptr_null(left.v[2].spool);
	ck_assert_uint_eq(left.v[3].number, 100);
	ck_assert(!left.v[3].alive);
	ck_assert_uint_eq(left.v[3].spool_len, 0);
	ck_assert_ptr_nonnull(left.v[3].spool);
	files_left_workers_release(&left);
	ck_assert_uint_eq(left.n, 0);
	files_worker_kit_close(&kit);
}
END_TEST

START_TEST(a_spool_that_is_no_file_is_not_read)
{
	struct files_left_workers left;
	struct error err = { "" };
	char path[128];

	snprintf(path, sizeof path, "%s/spool", state_dir);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof path, "%s/spool/5", state_dir);
	if (_i == 0)
		ck_assert_int_eq(mkfifo(path, 0600), 0);
	else
		ck_assert_int_eq(symlink("/etc/passwd", path), 0);
	ck_assert_int_eq(files_find_workers_now(&context, &left, &err), -1);
	ck_assert_msg(strstr(err.text, path) != NULL, "%s", err.text);
	ck_assert_uint_eq(left.n, 0);
}
END_TEST

struct finds {
	int	n;		/* answers */
	bool	alive;		/* of the last one */
	char	spool[16];	/* of the last one; "-" for none */
};

static void
on_find(void *arg, struct files_left_worker *left)
{
	struct finds *f = arg;

	f->n++;
	f->alive = left->alive;
	strcpy(f->spool, "-");
	if (left->spool != NULL)
		snprintf(f->spool, sizeof f->spool, "%.*s",
		    (int)left->spool_len, left->spool);
}

START_TEST(one_worker_is_looked_at_later_and_removed)
{
	struct files_worker_kit kit;
	struct finds f = { 0 };
	char spool[128];

	make_kit(7, &kit);
	make_spool("7", "results");
	ck_assert(files_find_worker(files, 7, on_find, &f));
	loop_until(&f.n, 1);
	ck_assert(f.alive);
	ck_assert_str_eq(f.spool, "-");
	files_worker_kit_close(&kit);
	ck_assert(files_find_worker(files, 7, on_find, &f));
	loop_until(&f.n, 2);
	ck_assert(!f.alive);
	ck_assert_str_eq(f.spool, "results");
	make_spool("7.tmp", "half");
	files_remove_worker(files, 7);
	ck_assert(files_find_worker(files, 7, on_find, &f));
	loop_until(&f.n, 3);
	ck_assert(!f.alive);
	ck_assert_str_eq(f.spool, "-");
	ck_assert_int_eq(access(worker_path(7, ".sock"), F_OK), -1);
	ck_assert_int_eq(access(worker_path(7, ".lock"), F_OK), -1);
	snprintf(spool, sizeof spool, "%s/spool/7.tmp", state_dir);
	ck_assert_int_eq(access(spool, F_OK), -1);
}
END_TEST

START_TEST(one_that_cannot_be_looked_at_counts_as_alive)
{
	struct finds f = { 0 };
	char path[128];

	snprintf(path, sizeof path, "%s/spool", state_dir);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof path, "%s/spool/7", state_dir);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert(files_find_worker(files, 7, on_find, &f));
	loop_until(&f.n, 1);
	ck_assert(f.alive);
}
END_TEST

START_TEST(each_request_is_answered_once)
{
	struct finds f = { 0 };
	int taken = 0;

	while (taken < 5000 && files_find_worker(files, 7, on_find, &f))
		taken++;
	/* The queue takes so many at least. */
	ck_assert_int_ge(taken, 256);
	loop_until(&f.n, taken);
	ck_assert_int_eq(f.n, taken);
}
END_TEST

Suite *files_suite(void);

Suite *
files_suite(void)
{
	Suite *s = suite_create("files");
	TCase *t = tcase_create("files");

	tcase_set_timeout(t, 30);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, job_files_are_read_and_may_be_taken);
	tcase_add_test(t, a_job_file_that_hangs_holds_up_nothing_else);
	tcase_add_test(t, sections_are_sorted_over_all_files);
	tcase_add_test(t, a_missing_directory_is_an_error_and_reads_nothing);
	tcase_add_test(t, a_zone_that_does_not_exist_is_an_error);
	tcase_add_test(t, text_is_parsed_as_a_file_is);
	tcase_add_test(t, defaults_of_the_configuration_apply);
	tcase_add_test(t, a_definition_is_built_from_settings);
	tcase_add_test(t, a_wrong_definition_gives_all_errors);
	tcase_add_test(t, a_stored_definition_gives_the_same_job);
	tcase_add_loop_test(t,
	    a_stored_definition_that_is_damaged_is_a_sentence, 0, 6);
	tcase_add_test(t, output_comes_in_pages);
	tcase_add_test(t, a_silent_run_has_an_end_at_once);
	tcase_add_test(t, a_kit_is_complete_private_and_closed_on_exec);
	tcase_add_test(t, an_old_socket_is_replaced_and_a_live_worker_respected);
	tcase_add_test(t, a_path_too_long_is_a_clear_error);
	tcase_add_test(t, a_kit_that_is_taken_stays_open);
	tcase_add_test(t, a_kit_that_failed_tells_why);
	tcase_add_test(t, left_workers_are_found_by_lock_and_spool);
	tcase_add_loop_test(t, a_spool_that_is_no_file_is_not_read, 0, 2);
	tcase_add_test(t, one_worker_is_looked_at_later_and_removed);
	tcase_add_test(t, one_that_cannot_be_looked_at_counts_as_alive);
	tcase_add_test(t, each_request_is_answered_once);
	suite_add_tcase(s, t);
	return s;
}

int
main(void)
{
	return check_main(files_suite());
}
