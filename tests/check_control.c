/* SPDX-License-Identifier: ISC */
/*
 * The control socket by doc/protocol.md: the real code and the real parts
 * behind it, over real connections.  Codes are those of the document.
 */
#include "config.h"

#include "daemon/control.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/strbuf.h"
#include "common/xmalloc.h"
#include "tests/check_main.h"
#include "tests/support/control_rig.h"

#define N_ROWS(a) ((int)(sizeof(a) / sizeof((a)[0])))
#define SOON_MS	200	/* long enough for what must not come */

static struct rig *rig;

static void
set_up(void)
{
	rig = rig_new(geteuid());
}

static void
tear_down(void)
{
	rig_free(rig);
	rig = NULL;
}

static struct message *
parse(const char *line)
{
	struct error err = { "" };
	struct message *m;

	ck_assert_msg(line != NULL, "no answer");
	m = message_parse(line, strlen(line), &err);
	ck_assert_msg(m != NULL, "%s: %s", line, err.text);
	return m;
}

static void
write_line(int fd, const char *line)
{
	rig_write(rig, fd, line, strlen(line));
	rig_write(rig, fd, "\n", 1);
}

static struct message *
read_reply(int fd)
{
	char *line = rig_read(rig, fd, RIG_WAIT_MS);
	struct message *m = parse(line);

	free(line);
	return m;
}

/* Code and a part of the message of an error reply. */
static void
expect_error(const struct message *reply, int64_t code, const char *part)
{
	const struct message *error = message_get(reply, "error");
	char *text = message_format(reply);

	ck_assert_msg(error != NULL, "%s", text);
	ck_assert_msg(message_get_integer(error, "code", 0) == code, "%s",
	    text);
	ck_assert_msg(strstr(message_get_string(error, "message"), part) !=
	    NULL, "%s: %s", part, text);
	free(text);
}

static void
refused(const char *method, const char *params, int64_t code,
    const char *part)
{
	struct message *reply = rig_ask(rig, method, params);

	expect_error(reply, code, part);
	message_free(reply);
}

static bool
is_in_force(const char *name)
{
	return jobtable_find(rig->jobs, name) != NULL;
}

/* --- JSON-RPC --- */

static const struct line_row {
	const char	*name;		/* of the row */
	const char	*line;		/* sent */
	int64_t		 code;		/* of the error */
	const char	*part;		/* of its message */
} line_rows[] = {
	{ "no JSON", "status", -32700, "not JSON" },
	{ "half an object", "{\"jsonrpc\":\"2.0\"", -32700, "not JSON" },
	{ "nothing", "", -32700, "not JSON" },
	{ "two values", "{} {}", -32700, "not JSON" },
	{ "a batch", "[]", -32600, "batches" },
	{ "a number", "1", -32600, "object" },
	{ "no version", "{\"id\":1,\"method\":\"daemon.status\"}", -32600,
	    "2.0" },
	{ "another version",
	    "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"daemon.status\"}",
	    -32600, "2.0" },
	{ "no method", "{\"jsonrpc\":\"2.0\",\"id\":1}", -32600, "method" },
	{ "a method that is a number",
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", -32600, "method" },
	{ "an id that is an array",
	    "{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"daemon.status\"}",
	    -32600, "id" },
	{ "an unknown method",
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"job.ad\"}", -32601,
	    "did you mean job.add?" },
	{ "a method far from all",
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no\\\"thing\"}",
	    -32601, "no method" },
	{ "params that are an array", "{\"jsonrpc\":\"2.0\",\"id\":1,"
	    "\"method\":\"daemon.status\",\"params\":[1]}", -32602,
	    "must be an object" },
};

static void
check_line(int i)
{
	const struct line_row *row = &line_rows[i];
	struct message *reply;
	int fd = rig_connect(rig);

	write_line(fd, row->line);
	reply = read_reply(fd);
	expect_error(reply, row->code, row->part);
	ck_assert_str_eq(message_get_string(reply, "jsonrpc"), "2.0");
	if (row->code == -32700 || row->code == -32600)
		ck_assert(message_is_null(message_get(reply, "id")));
	message_free(reply);
	/* The connection lives on. */
	write_line(fd, "{\"jsonrpc\":\"2.0\",\"id\":2,"
	    "\"method\":\"daemon.status\"}");
	reply = read_reply(fd);
	ck_assert_ptr_nonnull(message_get(reply, "result"));
	message_free(reply);
	close(fd);
}

START_TEST(a_line_that_is_no_request_is_told_so)
{
	for (int i = 0; i < N_ROWS(line_rows); i++)
		check_line(i);
}
END_TEST

static const char *const id_rows[] = {
	"1", "-9007199254740993", "\"a\"", "\"\\u00e9\"", "null", "1.5"
};

static void
check_id(int i)
{
	int fd = rig_connect(rig);
	char *line = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":%s,"
	    "\"method\":\"daemon.status\"}", id_rows[i]);
	struct message *want, *got;
	struct error err;
	char *a, *b;

	write_line(fd, line);
	got = read_reply(fd);
	want = message_parse(id_rows[i], strlen(id_rows[i]), &err);
	a = message_format(message_get(got, "id"));
	b = message_format(want);
	ck_assert_str_eq(a, b);
	free(a);
	free(b);
	free(line);
	message_free(got);
	message_free(want);
	close(fd);
}

START_TEST(an_id_comes_back_as_it_was)
{
	for (int i = 0; i < N_ROWS(id_rows); i++)
		check_id(i);
}
END_TEST

START_TEST(without_an_id_it_is_done_and_not_answered)
{
	int fd = rig_connect(rig);
	struct message *reply;

	write_line(fd, "{\"jsonrpc\":\"2.0\",\"method\":\"job.add\","
	    "\"params\":{\"name\":\"quiet\",\"definition\":{"
	    "\"schedule\":\"@manual\",\"command\":\"true\"}}}");
	write_line(fd, "{\"jsonrpc\":\"2.0\",\"id\":2,"
	    "\"method\":\"daemon.status\"}");
	reply = read_reply(fd);
	ck_assert_int_eq(message_get_integer(reply, "id", -1), 2);
	message_free(reply);
	ck_assert(is_in_force("quiet"));
	close(fd);
}
END_TEST

static const struct param_row {
	const char	*method;	/* called */
	const char	*params;	/* given */
	const char	*part;		/* of the message */
} param_rows[] = {
	{ "daemon.status", "{\"x\":1}", "no parameter \"x\"" },
	{ "daemon.stop", "{\"wiat\":true}", "did you mean \"wait\"?" },
	{ "daemon.stop", "{\"wait\":1}", "true or false" },
	{ "daemon.stop", "{\"timeout\":-1}", "not within 0-" },
	{ "daemon.stop", "{\"timeout\":\"5\"}", "a number" },
	{ "job.add", "{}", "needs the parameter \"name\"" },
	{ "job.add", NULL, "needs the parameter \"name\"" },
	{ "job.add", "{\"name\":null}", "needs the parameter \"name\"" },
	{ "job.add", "{\"name\":\"a\"}", "\"definition\"" },
	{ "job.add", "{\"name\":1,\"definition\":{}}", "a string" },
	{ "job.add", "{\"name\":\"a\",\"definition\":[]}", "an object" },
	{ "job.remove", "{\"job\":\"a\",\"running\":\"kill\"}", "finish" },
	{ "job.list", "{\"limit\":0}", "not within 1-200" },
	{ "job.list", "{\"limit\":201}", "not within 1-200" },
	{ "job.list", "{\"limit\":1.5}", "a whole number" },
	{ "job.list", "{\"state\":\"idel\"}", "no state" },
	{ "job.next", "{\"job\":\"a\",\"count\":1001}", "1-1000" },
	{ "job.next", "{\"job\":\"a\",\"from\":1e300}", "not within" },
	{ "run.logs", "{}", "either" },
	{ "run.logs", "{\"job\":\"a\",\"run\":1}", "either" },
	{ "run.wait", "{\"run\":0}", "not within" },
	{ "run.wait", "{}", "either" },
	{ "run.history", "{\"count\":999}", "1-200" },
};

static void
check_params(int i)
{
	const struct param_row *row = &param_rows[i];

	refused(row->method, row->params, -32602, row->part);
}

START_TEST(parameters_are_checked_by_their_table)
{
	for (int i = 0; i < N_ROWS(param_rows); i++)
		check_params(i);
}
END_TEST

START_TEST(replies_come_in_the_order_of_requests)
{
	struct strbuf all = STRBUF_INIT;
	int fd = rig_connect(rig);

	for (int i = 0; i < 300; i++)
		strbuf_addf(&all, "{\"jsonrpc\":\"2.0\",\"id\":%d,%s}\n", i,
		    i % 3 == 0 ? "\"method\":\"run.history\"" :
		    i % 3 == 1 ? "\"method\":\"daemon.status\"" :
		    "\"method\":\"nothing\"");
	rig_write(rig, fd, all.buf, all.len);
	for (int i = 0; i < 300; i++) {
		struct message *reply = read_reply(fd);

		ck_assert_int_eq(message_get_integer(reply, "id", -1), i);
		message_free(reply);
	}
	strbuf_release(&all);
	close(fd);
}
END_TEST

START_TEST(a_client_sees_what_it_did_before)
{
	int fd = rig_connect(rig);
	struct message *reply;

	write_line(fd, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"job.add\","
	    "\"params\":{\"name\":\"a\",\"definition\":{"
	    "\"schedule\":\"@manual\",\"command\":\"true\"}}}");
	write_line(fd, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"job.run\","
	    "\"params\":{\"job\":\"a\"}}");
	message_free(read_reply(fd));
	reply = read_reply(fd);
	ck_assert_ptr_nonnull(message_get(reply, "result"));
	message_free(reply);
	close(fd);
}
END_TEST

START_TEST(what_was_sent_before_the_end_is_answered)
{
	int fd = rig_connect(rig);

	write_line(fd, "{\"jsonrpc\":\"2.0\",\"id\":1,"
	    "\"method\":\"run.history\"}");
	write_line(fd, "{\"jsonrpc\":\"2.0\",\"id\":2,"
	    "\"method\":\"daemon.status\"}");
	ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
	message_free(read_reply(fd));
	message_free(read_reply(fd));
	ck_assert(rig_is_closed(rig, fd, RIG_WAIT_MS));
	close(fd);
}
END_TEST

/* --- limits --- */

static void
add_line(struct strbuf *sb, size_t total, const char *method)
{
	const char *head = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"",
	    *middle = "\",\"params\":{\"name\":\"long\",\"definition\":{"
	    "\"schedule\":\"@manual\",\"command\":\"true\",\"description\":\"",
	    *tail = "\"}}}";
	size_t rest = total - strlen(head) - strlen(method) -
	    strlen(middle) - strlen(tail);

	strbuf_addstr(sb, head);
	strbuf_addstr(sb, method);
	strbuf_addstr(sb, middle);
	while (rest-- > 0)
		strbuf_addch(sb, 'x');
	strbuf_addstr(sb, tail);
}

static const struct length_row {
	const char	*method;	/* called */
	size_t		 length;	/* of the line, newline apart */
	int64_t		 code;		/* of the error; 0: none */
	const char	*part;		/* of its message */
} length_rows[] = {
	{ "job.add", 65536, 0, NULL },
	/* Only what the definition itself says against it. */
	{ "job.add", 131072, 1, "65536 are allowed" },
	{ "job.add", 131073, -32600, "longer than 131072" },
	{ "daemon.status", 65536, -32602, "no parameter" },
	{ "daemon.status", 65537, -32600, "has 65537 bytes" },
	{ "no.such", 65537, -32600, "has 65537 bytes" },
	{ "job.add", 200000, -32600, "longer than 131072" },
};

static void
check_length(int i)
{
	const struct length_row *row = &length_rows[i];
	struct strbuf line = STRBUF_INIT;
	struct message *reply;
	int fd = rig_connect(rig);

	add_line(&line, row->length, row->method);
	ck_assert_uint_eq(line.len, row->length);
	write_line(fd, line.buf);
	reply = read_reply(fd);
	if (row->code != 0)
		expect_error(reply, row->code, row->part);
	else
		ck_assert_ptr_nonnull(message_get(reply, "result"));
	message_free(reply);
	write_line(fd, "{\"jsonrpc\":\"2.0\",\"id\":2,"
	    "\"method\":\"daemon.status\"}");
	reply = read_reply(fd);
	ck_assert_int_eq(message_get_integer(reply, "id", -1), 2);
	message_free(reply);
	strbuf_release(&line);
	close(fd);
}

START_TEST(lines_have_the_length_they_may_have)
{
	for (int i = 0; i < N_ROWS(length_rows); i++)
		check_length(i);
}
END_TEST

START_TEST(ten_megabytes_without_a_newline_are_refused_and_not_kept)
{
	char block[65536];
	struct message *reply;
	int fd = rig_connect(rig);

	memset(block, 'x', sizeof(block));
	for (int i = 0; i < 160; i++)
		rig_write(rig, fd, block, sizeof(block));
	reply = read_reply(fd);
	expect_error(reply, -32600, "longer than 131072");
	message_free(reply);
	write_line(fd, "");
	write_line(fd, "{\"jsonrpc\":\"2.0\",\"id\":2,"
	    "\"method\":\"daemon.status\"}");
	reply = read_reply(fd);
	ck_assert_int_eq(message_get_integer(reply, "id", -1), 2);
	message_free(reply);
	close(fd);
}
END_TEST

START_TEST(half_a_line_is_cut_after_ten_seconds)
{
	int half = rig_connect(rig), slow = rig_connect(rig),
	    idle = rig_connect(rig);
	int64_t start = monotime_now().us, half_at = 0, slow_at = 0, byte = 0;
	char sink[512];

	rig_write(rig, half, "{\"json", 7);
	while (half_at == 0 || slow_at == 0) {
		int64_t now = monotime_now().us - start;

		ck_assert_msg(now < 12 * USEC_PER_SEC, "not cut in time");
		/* One byte each half second. */
		if (slow_at == 0 && now >= byte * USEC_PER_SEC / 2) {
			byte++;
			rig_write(rig, slow, " ", 1);
		}
		rig_turn(rig);
		if (half_at == 0 && read(half, sink, sizeof(sink)) == 0)
			half_at = now;
		if (slow_at == 0 && read(slow, sink, sizeof(sink)) == 0)
			slow_at = now;
	}
	ck_assert_int_ge(half_at, 9500000);
	ck_assert_int_le(half_at, 10500000);
	ck_assert_int_ge(slow_at, 9500000);
	ck_assert_int_le(slow_at, 10500000);
	/* One that says nothing at all stays. */
	ck_assert_int_eq(read(idle, sink, sizeof(sink)), -1);
	ck_assert_int_eq(errno, EAGAIN);
	close(half);
	close(slow);
	close(idle);
}
END_TEST

START_TEST(who_is_cut_is_told_why)
{
	int fd = rig_connect(rig);
	struct message *reply;
	char *line;

	rig_write(rig, fd, "{", 1);
	line = rig_read(rig, fd, 11000);
	reply = parse(line);
	expect_error(reply, -32600, "within 10 s");
	free(line);
	message_free(reply);
	ck_assert(rig_is_closed(rig, fd, 1000));
	close(fd);
}
END_TEST

START_TEST(who_does_not_read_is_not_worked_for)
{
	static const char line[] = "{\"jsonrpc\":\"2.0\",\"id\":1,"
	    "\"method\":\"daemon.status\"}\n";
	int deaf = rig_connect(rig);
	struct message *status;
	size_t sent = 0;

	/* As much as it takes; then both sides wait. */
	for (int i = 0; i < 200; i++) {
		ssize_t n;

		while ((n = send(deaf, line, sizeof(line) - 1,
		    MSG_NOSIGNAL)) > 0)
			sent += (size_t)n;
		rig_turn(rig);
	}
	/* Two buffers of ours and two of the kernel, not megabytes. */
	ck_assert_uint_lt(sent, 2 * 1024 * 1024);
	status = rig_call(rig, "daemon.status", NULL);
	message_free(status);
	/* It gets its answers when it reads. */
	for (int i = 0; i < 1000; i++)
		message_free(read_reply(deaf));
	close(deaf);
}
END_TEST

START_TEST(a_flood_does_not_keep_others_waiting)
{
	struct strbuf all = STRBUF_INIT;
	int flood = rig_connect(rig), other = rig_connect(rig);
	int turns = 0;
	char c;

	for (int i = 0; i < 1000; i++)
		strbuf_addstr(&all, "{\"jsonrpc\":\"2.0\",\"id\":1,"
		    "\"method\":\"nothing\"}\n");
	rig_write(rig, flood, all.buf, all.len);
	rig_write(rig, other, "1\n", 2);
	while (read(other, &c, 1) != 1 && turns++ < 10)
		rig_turn(rig);
	ck_assert_int_le(turns, 3);
	strbuf_release(&all);
	close(flood);
	close(other);
}
END_TEST

START_TEST(many_idle_connections_cost_nobody_time)
{
	enum { IDLE = 450 };
	int fds[IDLE];
	int64_t start;

	for (int i = 0; i < IDLE; i++) {
		fds[i] = rig_connect(rig);
		rig_turn(rig);
	}
	message_free(rig_call(rig, "daemon.status", NULL));
	start = monotime_now().us;
	message_free(rig_call(rig, "daemon.status", NULL));
	ck_assert_int_lt(monotime_now().us - start, 50000);
	for (int i = 0; i < IDLE; i++)
		close(fds[i]);
}
END_TEST

START_TEST(without_descriptors_accepting_backs_off_and_recovers)
{
	struct rlimit limit, low;
	int64_t start;
	int fd, turns = 0;
	char c;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	low = limit;
	fd = rig_connect(rig);
	low.rlim_cur = (rlim_t)fd + 1;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
	ck_assert_int_eq((int)write(fd, "1\n", 2), 2);
	/* The rig's own tick makes 200 turns in a second. */
	start = monotime_now().us;
	while (monotime_now().us - start < USEC_PER_SEC) {
		rig_turn(rig);
		turns++;
	}
	ck_assert_int_lt(turns, 300);
	ck_assert_int_eq((int)read(fd, &c, 1), -1);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	message_free(read_reply(fd));
	close(fd);
}
END_TEST

START_TEST(a_change_is_made_wholly_or_not_wherever_its_client_dies)
{
	static const char line[] = "{\"jsonrpc\":\"2.0\",\"id\":1,"
	    "\"method\":\"job.add\",\"params\":{\"name\":\"cut\","
	    "\"definition\":{\"schedule\":\"@manual\","
	    "\"command\":\"true\"}}}\n";

	for (size_t n = 0; n < sizeof(line); n++) {
		int64_t deadline = monotime_now().us + RIG_WAIT_MS * 1000;
		int fd = rig_connect(rig);

		rig_write(rig, fd, line, n);
		close(fd);
		/* All of it but the newline is no request yet. */
		for (int i = 0; i < 3 && n + 1 < sizeof(line); i++)
			rig_turn(rig);
		while (n + 1 == sizeof(line) && !is_in_force("cut") &&
		    monotime_now().us < deadline)
			rig_turn(rig);
		ck_assert_int_eq(is_in_force("cut"), n + 1 == sizeof(line));
	}
}
END_TEST

/* Ever the same pseudo-random changes to good requests. */
START_TEST(garbage_is_answered_and_does_no_harm)
{
	static const char *const seeds[] = {
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"job.list\","
		    "\"params\":{\"limit\":10,\"pattern\":\"a*\"}}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"job.add\","
		    "\"params\":{\"name\":\"a\",\"definition\":{\"schedule\":"
		    "[\"0 * * * *\",\"@in 5m\"],\"command\":\"true\"}}}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"run.wait\","
		    "\"params\":{\"run\":9}}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"job.next\","
		    "\"params\":{\"job\":\"a\",\"from\":1e9,\"count\":3}}",
	};
	static const char bytes[] = "{}[]\",:0123456789-+.eE\\ untrfals\x80\xff";
	uint64_t seed = 88172645463325252u;
	int fd = rig_connect(rig), answers = 0;

	for (int i = 0; i < 1500; i++) {
		char line[512];
		char *reply;
		size_t len;

		snprintf(line, sizeof(line), "%s", seeds[i % N_ROWS(seeds)]);
		len = strlen(line);
		for (int k = 0; k <= i % 4; k++) {
			/* xorshift64 (Marsaglia, 2003) */
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			line[seed % len] = bytes[(seed >> 32) %
			    (sizeof(bytes) - 1)];
		}
		write_line(fd, line);
		/* One that has lost its id is not answered. */
		reply = rig_read(rig, fd, strstr(line, "\"id\"") != NULL ?
		    RIG_WAIT_MS : 20);
		answers += reply != NULL;
		free(reply);
	}
	ck_assert_int_gt(answers, 1000);
	close(fd);
}
END_TEST

/* --- job.add --- */

START_TEST(add_answers_with_the_job_and_its_next_times)
{
	struct message *result = rig_call(rig, "job.add",
	    "{\"name\":\"backup\",\"definition\":{\"schedule\":"
	    "\"@every 1h\",\"command\":\"tar c /srv\",\"tags\":\"a, b\","
	    "\"timezone\":\"Europe/Berlin\"}}");
	const struct message *job = message_get(result, "job");
	const struct message *next = message_get(result, "next");
	int64_t now = walltime_seconds(walltime_now());
	/* n * 3600 since 1970 (spec section 4). */
	int64_t first = now - now % 3600 + 3600;

	ck_assert_str_eq(message_get_string(job, "job"), "backup");
	ck_assert_str_eq(message_get_string(job, "origin"), "control");
	ck_assert_str_eq(message_get_string(job, "state"), "idle");
	ck_assert_str_eq(message_get_string(job, "command"), "tar c /srv");
	ck_assert_str_eq(message_get_string(job, "zone"), "Europe/Berlin");
	ck_assert_int_eq(message_get_integer(job, "owner", -1),
	    (int64_t)geteuid());
	ck_assert(message_is_null(message_get(job, "file")));
	ck_assert(message_is_null(message_get(job, "last")));
	ck_assert_uint_eq(message_count(message_get(job, "tags")), 2);
	ck_assert_uint_eq(message_count(next), 3);
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(message_value_integer(message_at(next, i),
		    0), first + (int64_t)i * 3600);
	ck_assert(!message_get_bool(result, "replaced", true));
	ck_assert(message_is_array(message_get(result, "warnings")));
	message_free(result);
}
END_TEST

START_TEST(add_tells_every_error_of_a_definition)
{
	struct message *reply = rig_ask(rig, "job.add", "{\"name\":\"a\","
	    "\"definition\":{\"schedule\":\"61 * * * *\",\"tiemout\":\"1h\","
	    "\"overlap\":\"maybe\",\"command\":7}}");
	const struct message *data = message_get(message_get(reply, "error"),
	    "data");
	const struct message *errors = message_get(data, "errors");

	expect_error(reply, 1, "errors in the definition of a");
	ck_assert_uint_eq(message_count(errors), 3);
	ck_assert_ptr_nonnull(strstr(message_value_string(
	    message_at(errors, 0)), "tiemout"));
	ck_assert(!is_in_force("a"));
	message_free(reply);
}
END_TEST

static const struct add_row {
	const char	*name;		/* of the row */
	const char	*params;	/* of job.add */
	const char	*part;		/* of the message, code 1 */
} add_rows[] = {
	{ "a bad schedule", "{\"name\":\"a\",\"definition\":{\"schedule\":"
	    "\"61 * * * *\",\"command\":\"true\"}}", "61 is not within" },
	{ "no schedule", "{\"name\":\"a\",\"definition\":{\"command\":"
	    "\"true\"}}", "schedule" },
	{ "no command", "{\"name\":\"a\",\"definition\":{\"schedule\":"
	    "\"@manual\"}}", "command" },
	{ "an unknown zone", "{\"name\":\"a\",\"definition\":{\"schedule\":"
	    "\"@manual\",\"command\":\"true\",\"timezone\":\"Mars/One\"}}",
	    "Mars/One" },
	{ "a value that is null", "{\"name\":\"a\",\"definition\":{"
	    "\"schedule\":\"@manual\",\"command\":null}}", "a string" },
	{ "a nested array", "{\"name\":\"a\",\"definition\":{"
	    "\"schedule\":[[\"@manual\"]],\"command\":\"true\"}}",
	    "a string" },
	{ "a key given twice", "{\"name\":\"a\",\"definition\":{\"schedule\":"
	    "\"@manual\",\"command\":[\"true\",\"false\"]}}", "command" },
	{ "a name with a blank", "{\"name\":\"a b\",\"definition\":{}}",
	    "a b" },
	{ "no name", "{\"name\":\"\",\"definition\":{}}", "name" },
	{ "a reserved name", "{\"name\":\"defaults\",\"definition\":{}}",
	    "defaults" },
};

static void
check_addition(int i)
{
	const struct add_row *row = &add_rows[i];

	refused("job.add", row->params, 1, row->part);
	ck_assert_uint_eq(jobtable_count(rig->jobs), 0);
}

START_TEST(add_refuses_what_is_wrong)
{
	for (int i = 0; i < N_ROWS(add_rows); i++)
		check_addition(i);
}
END_TEST

START_TEST(a_name_is_taken_once)
{
	rig_add(rig, "a");
	refused("job.add", "{\"name\":\"a\",\"definition\":{\"schedule\":"
	    "\"@manual\",\"command\":\"false\"}}", 1, "--replace");
	ck_assert_str_eq(jobtable_find(rig->jobs, "a")->def->command, "true");
}
END_TEST

START_TEST(replace_keeps_the_id)
{
	struct message *result;
	int64_t id;

	rig_add(rig, "a");
	id = jobtable_find(rig->jobs, "a")->id;
	result = rig_call(rig, "job.add", "{\"name\":\"a\",\"replace\":true,"
	    "\"definition\":{\"schedule\":\"0 0 * * *\","
	    "\"command\":\"false\"}}");
	ck_assert(message_get_bool(result, "replaced", false));
	ck_assert_int_eq(message_get_integer(message_get(result, "job"),
	    "id", 0), id);
	ck_assert_str_eq(jobtable_find(rig->jobs, "a")->def->command,
	    "false");
	ck_assert_uint_eq(message_count(message_get(result, "next")), 3);
	message_free(result);
}
END_TEST

START_TEST(replace_adds_what_is_not_there)
{
	struct message *result = rig_call(rig, "job.add", "{\"name\":\"a\","
	    "\"replace\":true,\"definition\":{\"schedule\":\"@manual\","
	    "\"command\":\"true\"}}");

	ck_assert(!message_get_bool(result, "replaced", true));
	ck_assert_uint_eq(message_count(message_get(result, "next")), 0);
	message_free(result);
}
END_TEST

START_TEST(an_added_job_is_on_disk_before_it_is_told)
{
	int fd = rig_connect(rig);
	struct message *reply;

	rig->no_flush = true;
	write_line(fd, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"job.add\","
	    "\"params\":{\"name\":\"a\",\"definition\":{"
	    "\"schedule\":\"@manual\",\"command\":\"true\"}}}");
	ck_assert_ptr_null(rig_read(rig, fd, SOON_MS));
	ck_assert(!is_in_force("a"));
	rig->no_flush = false;
	reply = read_reply(fd);
	ck_assert_ptr_nonnull(message_get(reply, "result"));
	ck_assert(is_in_force("a"));
	message_free(reply);
	close(fd);
}
END_TEST

START_TEST(a_second_change_of_a_name_waits_for_the_first)
{
	static const char add[] = "{\"jsonrpc\":\"2.0\",\"id\":1,"
	    "\"method\":\"job.add\",\"params\":{\"name\":\"a\","
	    "\"definition\":{\"schedule\":\"@manual\","
	    "\"command\":\"true\"}}}";
	int one = rig_connect(rig), two = rig_connect(rig);
	struct message *reply;

	rig->no_flush = true;
	write_line(one, add);
	ck_assert_ptr_null(rig_read(rig, one, SOON_MS));
	write_line(two, add);
	ck_assert_ptr_null(rig_read(rig, two, SOON_MS));
	rig->no_flush = false;
	reply = read_reply(one);
	ck_assert_ptr_nonnull(message_get(reply, "result"));
	message_free(reply);
	reply = read_reply(two);
	expect_error(reply, 1, "already");
	message_free(reply);
	close(one);
	close(two);
}
END_TEST

START_TEST(a_run_of_a_job_that_is_being_removed_waits_and_is_refused)
{
	int one = rig_connect(rig), two = rig_connect(rig);
	struct message *reply;

	rig_add(rig, "a");
	rig->no_flush = true;
	write_line(one, "{\"jsonrpc\":\"2.0\",\"id\":1,"
	    "\"method\":\"job.remove\",\"params\":{\"job\":\"a\"}}");
	ck_assert_ptr_null(rig_read(rig, one, SOON_MS));
	write_line(two, "{\"jsonrpc\":\"2.0\",\"id\":1,"
	    "\"method\":\"job.run\",\"params\":{\"job\":\"a\"}}");
	ck_assert_ptr_null(rig_read(rig, two, SOON_MS));
	rig->no_flush = false;
	message_free(read_reply(one));
	reply = read_reply(two);
	expect_error(reply, 5, "no job \"a\"");
	message_free(reply);
	close(one);
	close(two);
}
END_TEST

START_TEST(a_name_is_free_when_its_job_is_gone_and_not_before)
{
	int one = rig_connect(rig), two = rig_connect(rig);
	struct message *reply;
	int64_t id;

	rig_add(rig, "a");
	id = jobtable_find(rig->jobs, "a")->id;
	rig->no_flush = true;
	write_line(one, "{\"jsonrpc\":\"2.0\",\"id\":1,"
	    "\"method\":\"job.remove\",\"params\":{\"job\":\"a\"}}");
	ck_assert_ptr_null(rig_read(rig, one, SOON_MS));
	write_line(two, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"job.add\","
	    "\"params\":{\"name\":\"a\",\"replace\":true,\"definition\":{"
	    "\"schedule\":\"@manual\",\"command\":\"false\"}}}");
	ck_assert_ptr_null(rig_read(rig, two, SOON_MS));
	rig->no_flush = false;
	message_free(read_reply(one));
	reply = read_reply(two);
	ck_assert(!message_get_bool(message_get(reply, "result"), "replaced",
	    true));
	ck_assert_int_gt(jobtable_find(rig->jobs, "a")->id, id);
	message_free(reply);
	close(one);
	close(two);
}
END_TEST

/* Turns until so many runs have been started. */
static void
wait_starts(size_t n)
{
	int64_t deadline = monotime_now().us + RIG_WAIT_MS * 1000;

	while (rig->n_starts < n && monotime_now().us < deadline)
		rig_turn(rig);
	ck_assert_uint_eq(rig->n_starts, n);
}

static const char *const now_rows[] = { "@in 0s", "@at 2001-01-01" };

START_TEST(a_one_shot_that_is_due_starts_at_once)
{
	char *params = xasprintf("{\"name\":\"a\",\"definition\":{"
	    "\"schedule\":\"%s\",\"command\":\"true\"}}", now_rows[_i]);
	int64_t before = walltime_seconds(walltime_now());
	struct message *result = rig_call(rig, "job.add", params);
	int64_t nominal = message_value_integer(message_at(
	    message_get(result, "next"), 0), 0);

	/* semantics.md 1: nominal = floor(now) */
	ck_assert_int_ge(nominal, before);
	ck_assert_int_le(nominal, walltime_seconds(walltime_now()));
	wait_starts(1);
	ck_assert_int_eq(rig->starts[0].tag.occurrence, nominal);
	message_free(result);
	free(params);
}
END_TEST

START_TEST(a_delay_counts_from_acceptance)
{
	int64_t before = walltime_now().us, after;
	struct message *result = rig_call(rig, "job.add", "{\"name\":\"a\","
	    "\"definition\":{\"schedule\":\"@in 2h\","
	    "\"command\":\"true\"}}");
	int64_t nominal = message_value_integer(message_at(
	    message_get(result, "next"), 0), 0);

	/* ceil(now + D), a whole second for the rounding of now. */
	after = walltime_now().us;
	ck_assert_int_ge(nominal, before / USEC_PER_SEC + 7200);
	ck_assert_int_le(nominal, after / USEC_PER_SEC + 7201);
	message_free(result);
}
END_TEST

START_TEST(a_file_job_is_changed_in_its_file_only)
{
	rig_write_file(rig, "web.ini",
	    "[web]\nschedule = @manual\ncommand = true\n");
	message_free(rig_call(rig, "daemon.reload", NULL));
	refused("job.add", "{\"name\":\"web\",\"replace\":true,"
	    "\"definition\":{\"schedule\":\"@manual\",\"command\":\"x\"}}", 1,
	    "web.ini");
	refused("job.remove", "{\"job\":\"web\"}", 1, "web.ini");
	ck_assert(is_in_force("web"));
}
END_TEST

/* --- job.remove --- */

START_TEST(remove_lets_the_run_finish_or_stops_it)
{
	struct message *result;

	rig_add(rig, "a");
	rig_add(rig, "b");
	message_free(rig_call(rig, "job.run", "{\"job\":\"a\"}"));
	message_free(rig_call(rig, "job.run", "{\"job\":\"b\"}"));
	result = rig_call(rig, "job.remove", "{\"job\":\"a\"}");
	ck_assert_str_eq(message_get_string(result, "job"), "a");
	ck_assert_int_eq(message_get_integer(result, "running", -1), 1);
	ck_assert(!rig->starts[0].stop_asked);
	message_free(result);
	result = rig_call(rig, "job.remove",
	    "{\"job\":\"b\",\"running\":\"stop\"}");
	ck_assert(rig->starts[1].stop_asked);
	message_free(result);
	ck_assert_uint_eq(jobtable_count(rig->jobs), 0);
	rig_exited(rig, 0, 0);
	rig_exited(rig, 1, 0);
}
END_TEST

START_TEST(an_unknown_job_suggests_the_nearest)
{
	static const char *const methods[] = {
		"job.remove", "job.show", "job.next", "job.run", "run.wait",
		"run.logs", "run.history"
	};

	rig_add(rig, "backup");
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		refused(methods[i], "{\"job\":\"bakcup\"}", 5,
		    "no job \"bakcup\"; did you mean backup?");
}
END_TEST

/* --- job.list, job.show, job.next --- */

START_TEST(list_comes_in_pages_by_name)
{
	struct message *page;
	const struct message *jobs;

	rig_add(rig, "c");
	rig_add(rig, "a");
	rig_add(rig, "b");
	page = rig_call(rig, "job.list", "{\"limit\":2}");
	jobs = message_get(page, "jobs");
	ck_assert_uint_eq(message_count(jobs), 2);
	ck_assert_str_eq(message_get_string(message_at(jobs, 0), "job"), "a");
	ck_assert_str_eq(message_get_string(page, "more"), "b");
	ck_assert_ptr_null(message_get(page, "summary"));
	message_free(page);
	page = rig_call(rig, "job.list", "{\"limit\":2,\"after\":\"b\"}");
	jobs = message_get(page, "jobs");
	ck_assert_uint_eq(message_count(jobs), 1);
	ck_assert(message_is_null(message_get(page, "more")));
	ck_assert_int_eq(message_get_integer(message_get(page, "summary"),
	    "jobs", -1), 3);
	message_free(page);
}
END_TEST

static const struct filter_row {
	const char	*params;	/* of job.list */
	size_t		 want;		/* jobs listed */
} filter_rows[] = {
	{ "{}", 3 },
	{ "{\"pattern\":\"web*\"}", 2 },
	{ "{\"pattern\":\"web\"}", 1 },
	{ "{\"pattern\":\"[ab]*\"}", 1 },
	{ "{\"state\":\"idle\"}", 2 },
	{ "{\"state\":\"disabled\"}", 1 },
	{ "{\"tag\":\"nightly\"}", 1 },
	{ "{\"tag\":\"night\"}", 0 },
	{ "{\"owner\":4294967295}", 0 },
	{ "{\"failing\":true}", 0 },
	{ "{\"failing\":false,\"tag\":null}", 3 },
};

START_TEST(list_shows_what_passes_all_filters)
{
	const struct filter_row *row = &filter_rows[_i];
	struct message *page;

	rig_add(rig, "web");
	message_free(rig_call(rig, "job.add", "{\"name\":\"web-2\","
	    "\"definition\":{\"schedule\":\"@manual\",\"command\":\"x\","
	    "\"enabled\":\"no\"}}"));
	message_free(rig_call(rig, "job.add", "{\"name\":\"backup\","
	    "\"definition\":{\"schedule\":\"@manual\",\"command\":\"x\","
	    "\"tags\":\"db, nightly\"}}"));
	page = rig_call(rig, "job.list", row->params);
	ck_assert_uint_eq(message_count(message_get(page, "jobs")),
	    row->want);
	/* The summary is of all jobs. */
	ck_assert_int_eq(message_get_integer(message_get(page, "summary"),
	    "jobs", -1), 3);
	ck_assert_int_eq(message_get_integer(message_get(page, "summary"),
	    "disabled", -1), 1);
	message_free(page);
}
END_TEST

START_TEST(a_page_of_big_jobs_holds_fewer)
{
	struct strbuf params = STRBUF_INIT;
	struct message *page;
	const char *more = "";
	size_t jobs = 0, pages = 0;
	char *ask;

	for (int i = 0; i < 20; i++) {
		strbuf_reset(&params);
		strbuf_addf(&params, "{\"name\":\"job%02d\",\"definition\":{"
		    "\"schedule\":\"@manual\",\"command\":\"", i);
		for (int k = 0; k < 30000; k++)
			strbuf_addch(&params, 'x');
		strbuf_addstr(&params, "\"}}");
		message_free(rig_call(rig, "job.add", params.buf));
	}
	strbuf_release(&params);
	for (ask = xasprintf("{\"after\":\"%s\"}", more); more != NULL;
	    pages++) {
		page = rig_call(rig, "job.list", ask);
		jobs += message_count(message_get(page, "jobs"));
		more = message_get_string(page, "more");
		free(ask);
		ask = xasprintf("{\"after\":\"%s\"}", more != NULL ? more :
		    "");
		message_free(page);
		ck_assert_uint_lt(pages, 20);
		if (more != NULL)
			more = "";
	}
	free(ask);
	ck_assert_uint_eq(jobs, 20);
	ck_assert_uint_gt(pages, 1);
}
END_TEST

START_TEST(show_has_all_of_a_definition)
{
	struct message *job;
	const struct message *settings;
	const char *ini;

	message_free(rig_call(rig, "job.add", "{\"name\":\"a\","
	    "\"definition\":{\"schedule\":[\"0 1 * * *\",\"0 2 * * *\"],"
	    "\"command\":\"a; b % c\",\"env.X\":\"y\"}}"));
	message_free(rig_call(rig, "job.run", "{\"job\":\"a\"}"));
	job = rig_call(rig, "job.show", "{\"job\":\"a\"}");
	settings = message_get(job, "settings");
	ini = message_get_string(job, "ini");
	ck_assert_uint_eq(message_count(message_get(job, "schedule")), 2);
	ck_assert_uint_eq(message_count(settings), 4);
	ck_assert_uint_eq(message_count(message_at(settings, 0)), 2);
	ck_assert_ptr_eq(strstr(ini, "[a]\n"), ini);
	ck_assert_ptr_nonnull(strstr(ini, "command = a; b % c\n"));
	ck_assert_uint_eq(message_count(message_get(job, "runs")), 1);
	ck_assert_str_eq(message_get_string(job, "state"), "running");
	message_free(job);
	rig_exited(rig, 0, 0);
}
END_TEST

static const struct next_row {
	const char	*params;	/* of job.next */
	int64_t		 first;		/* epoch of the first */
	size_t		 n;		/* occurrences */
} next_rows[] = {
	/* date -u -d '2026-12-01 02:30' +%s is 1796092200; Berlin is at
	 * UTC+1 then, so 01:30 UTC. */
	{ "{\"job\":\"a\",\"from\":1796083200,\"count\":1}", 1796088600, 1 },
	{ "{\"job\":\"a\",\"from\":1796088600,\"count\":1}", 1796175000, 1 },
	{ "{\"job\":\"a\",\"from\":1796088599.5,\"count\":1}", 1796088600,
	    1 },
	{ "{\"job\":\"a\",\"from\":1796083200,\"to\":1796175000}",
	    1796088600, 2 },
	{ "{\"job\":\"a\",\"from\":1796083200,\"to\":1796088599}", 0, 0 },
	{ "{\"job\":\"a\",\"from\":1796083200}", 1796088600, 5 },
	{ "{\"job\":\"a\",\"from\":1796083200,\"count\":1000}", 1796088600,
	    1000 },
};

START_TEST(next_lists_instants_strictly_after_from)
{
	const struct next_row *row = &next_rows[_i];
	struct message *result;
	const struct message *list;

	message_free(rig_call(rig, "job.add", "{\"name\":\"a\","
	    "\"definition\":{\"schedule\":\"30 2 * * *\","
	    "\"command\":\"x\",\"timezone\":\"Europe/Berlin\"}}"));
	result = rig_call(rig, "job.next", row->params);
	list = message_get(result, "occurrences");
	ck_assert_uint_eq(message_count(list), row->n);
	ck_assert_str_eq(message_get_string(result, "zone"), "Europe/Berlin");
	if (row->n > 0)
		ck_assert_int_eq(message_get_integer(message_at(list, 0),
		    "epoch", 0), row->first);
	message_free(result);
}
END_TEST

START_TEST(next_names_the_rule_that_acts)
{
	struct message *result;
	const struct message *first;

	message_free(rig_call(rig, "job.add", "{\"name\":\"a\","
	    "\"definition\":{\"schedule\":\"30 2 * * *\","
	    "\"command\":\"x\",\"timezone\":\"Europe/Berlin\"}}"));
	/* 02:30 of 2027-03-28 does not exist; 03:00 CEST is 01:00 UTC,
	 * date -u -d '2027-03-28 01:00' +%s */
	result = rig_call(rig, "job.next",
	    "{\"job\":\"a\",\"from\":1806192000,\"count\":1}");
	first = message_at(message_get(result, "occurrences"), 0);
	ck_assert_int_eq(message_get_integer(first, "epoch", 0), 1806195600);
	ck_assert_str_eq(message_get_string(first, "rule"), "gap");
	message_free(result);
}
END_TEST

START_TEST(a_disabled_job_has_no_next)
{
	struct message *result;

	result = rig_call(rig, "job.add", "{\"name\":\"a\","
	    "\"definition\":{\"schedule\":\"* * * * *\",\"command\":\"x\","
	    "\"enabled\":\"no\"}}");
	ck_assert_uint_eq(message_count(message_get(result, "next")), 0);
	message_free(result);
	result = rig_call(rig, "job.next", "{\"job\":\"a\"}");
	ck_assert_uint_eq(message_count(message_get(result, "occurrences")),
	    0);
	message_free(result);
}
END_TEST

/* --- job.run, run.wait --- */

START_TEST(run_answers_when_the_run_is_on_disk)
{
	int fd = rig_connect(rig);
	struct message *reply;
	const struct message *run;

	rig_add(rig, "a");
	rig->no_flush = true;
	write_line(fd, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"job.run\","
	    "\"params\":{\"job\":\"a\"}}");
	ck_assert_ptr_null(rig_read(rig, fd, SOON_MS));
	ck_assert_uint_eq(rig->n_starts, 1);
	rig->no_flush = false;
	reply = read_reply(fd);
	run = message_get(reply, "result");
	ck_assert_int_eq(message_get_integer(run, "run", 0), 1);
	ck_assert_str_eq(message_get_string(run, "job"), "a");
	ck_assert_str_eq(message_get_string(run, "state"), "starting");
	ck_assert_str_eq(message_get_string(run, "cause"), "manual");
	ck_assert_int_eq(message_get_integer(run, "by", -1),
	    (int64_t)geteuid());
	ck_assert(message_is_null(message_get(run, "nominal")));
	ck_assert(message_is_null(message_get(run, "started")));
	message_free(reply);
	close(fd);
	rig_exited(rig, 0, 0);
}
END_TEST

START_TEST(run_obeys_overlap_unless_forced)
{
	rig_add(rig, "a");
	message_free(rig_call(rig, "job.run", "{\"job\":\"a\"}"));
	refused("job.run", "{\"job\":\"a\"}", 1, "--force");
	message_free(rig_call(rig, "job.run",
	    "{\"job\":\"a\",\"force\":true}"));
	ck_assert_uint_eq(rig->n_starts, 2);
	rig_exited(rig, 0, 0);
	rig_exited(rig, 1, 0);
}
END_TEST

static const struct env_row {
	const char	*env;		/* of job.run */
	const char	*part;		/* of the error; NULL: taken */
} env_rows[] = {
	{ "{\"X\":\"1 2\"}", NULL },
	{ "{\"_x9\":\"\"}", NULL },
	{ "{\"X\":1}", "must be a string" },
	{ "{\"9X\":\"\"}", "no name" },
	{ "{\"\":\"\"}", "no name" },
	{ "{\"A=B\":\"\"}", "no name" },
	{ "{\"LD_PRELOAD\":\"x\"}", "LD_PRELOAD" },
	{ "{\"PATH\":\"x\"}", "PATH" },
	{ "{\"IFS\":\"x\"}", "IFS" },
	{ "{\"ENV\":\"x\"}", "ENV" },
	{ "{\"BASH_ENV\":\"x\"}", "BASH_ENV" },
	{ "{\"CRONCTL_JOB\":\"x\"}", "CRONCTL_JOB" },
	{ "{\"PATHS\":\"x\"}", NULL },
};

START_TEST(run_takes_an_environment_that_changes_no_program)
{
	const struct env_row *row = &env_rows[_i];
	char *params = xasprintf("{\"job\":\"a\",\"env\":%s}", row->env);

	rig_add(rig, "a");
	if (row->part != NULL) {
		refused("job.run", params, -32602, row->part);
		ck_assert_uint_eq(rig->n_starts, 0);
	} else {
		message_free(rig_call(rig, "job.run", params));
		ck_assert_uint_eq(rig->n_starts, 1);
		rig_exited(rig, 0, 0);
	}
	free(params);
}
END_TEST

START_TEST(wait_answers_when_the_run_has_ended)
{
	int by_run = rig_connect(rig), by_job = rig_connect(rig);
	struct message *reply;
	const struct message *run;

	rig_add(rig, "a");
	message_free(rig_call(rig, "job.run", "{\"job\":\"a\"}"));
	rig_started(rig, 0);
	write_line(by_run, "{\"jsonrpc\":\"2.0\",\"id\":1,"
	    "\"method\":\"run.wait\",\"params\":{\"run\":1}}");
	write_line(by_job, "{\"jsonrpc\":\"2.0\",\"id\":1,"
	    "\"method\":\"run.wait\",\"params\":{\"job\":\"a\"}}");
	ck_assert_ptr_null(rig_read(rig, by_run, SOON_MS));
	ck_assert_ptr_null(rig_read(rig, by_job, SOON_MS));
	rig_exited(rig, 0, 3);
	reply = read_reply(by_run);
	run = message_get(reply, "result");
	ck_assert_str_eq(message_get_string(run, "state"), "failed");
	ck_assert_int_eq(message_get_integer(run, "code", -1), 3);
	ck_assert(message_is_null(message_get(run, "signal")));
	message_free(reply);
	message_free(read_reply(by_job));
	/* Once over: from the ledger, and the job's last one. */
	reply = rig_call(rig, "run.wait", "{\"run\":1}");
	ck_assert_str_eq(message_get_string(reply, "state"), "failed");
	message_free(reply);
	reply = rig_call(rig, "run.wait", "{\"job\":\"a\"}");
	ck_assert_int_eq(message_get_integer(reply, "run", 0), 1);
	message_free(reply);
	close(by_run);
	close(by_job);
}
END_TEST

START_TEST(the_end_of_another_run_is_not_waited_for)
{
	int fd = rig_connect(rig);
	struct message *reply;

	rig_add(rig, "a");
	rig_add(rig, "b");
	message_free(rig_call(rig, "job.run", "{\"job\":\"a\"}"));
	message_free(rig_call(rig, "job.run", "{\"job\":\"b\"}"));
	write_line(fd, "{\"jsonrpc\":\"2.0\",\"id\":1,"
	    "\"method\":\"run.wait\",\"params\":{\"run\":2}}");
	rig_exited(rig, 0, 0);
	ck_assert_ptr_null(rig_read(rig, fd, SOON_MS));
	rig_exited(rig, 1, 0);
	reply = read_reply(fd);
	ck_assert_int_eq(message_get_integer(message_get(reply, "result"),
	    "run", 0), 2);
	message_free(reply);
	close(fd);
}
END_TEST

START_TEST(wait_tells_what_is_not_there)
{
	refused("run.wait", "{\"run\":77}", 5, "no run 77");
	rig_add(rig, "a");
	refused("run.wait", "{\"job\":\"a\"}", 5, "no run that has ended");
}
END_TEST

START_TEST(who_waited_and_left_harms_nobody)
{
	int gone = rig_connect(rig), stays = rig_connect(rig);

	rig_add(rig, "a");
	message_free(rig_call(rig, "job.run", "{\"job\":\"a\"}"));
	write_line(gone, "{\"jsonrpc\":\"2.0\",\"id\":1,"
	    "\"method\":\"run.wait\",\"params\":{\"run\":1}}");
	write_line(stays, "{\"jsonrpc\":\"2.0\",\"id\":1,"
	    "\"method\":\"run.wait\",\"params\":{\"run\":1}}");
	ck_assert_ptr_null(rig_read(rig, stays, SOON_MS));
	close(gone);
	ck_assert_ptr_null(rig_read(rig, stays, SOON_MS));
	rig_exited(rig, 0, 0);
	message_free(read_reply(stays));
	close(stays);
}
END_TEST

START_TEST(a_waiting_run_can_be_waited_for)
{
	struct message *run;
	int fd = rig_connect(rig);

	message_free(rig_call(rig, "job.add", "{\"name\":\"a\","
	    "\"definition\":{\"schedule\":\"@manual\",\"command\":\"x\","
	    "\"overlap\":\"queue\"}}"));
	message_free(rig_call(rig, "job.run", "{\"job\":\"a\"}"));
	run = rig_call(rig, "job.run", "{\"job\":\"a\"}");
	ck_assert_str_eq(message_get_string(run, "state"), "queued");
	ck_assert_int_eq(message_get_integer(run, "run", 0), 2);
	ck_assert(!message_is_null(message_get(run, "queued")));
	message_free(run);
	write_line(fd, "{\"jsonrpc\":\"2.0\",\"id\":1,"
	    "\"method\":\"run.wait\",\"params\":{\"run\":2}}");
	ck_assert_ptr_null(rig_read(rig, fd, SOON_MS));
	rig_exited(rig, 0, 0);
	wait_starts(2);
	rig_exited(rig, 1, 0);
	message_free(read_reply(fd));
	close(fd);
}
END_TEST

START_TEST(waiting_for_a_run_that_will_never_start_ends)
{
	struct message *reply;
	int fd = rig_connect(rig);

	message_free(rig_call(rig, "job.add", "{\"name\":\"a\","
	    "\"definition\":{\"schedule\":\"@manual\",\"command\":\"x\","
	    "\"overlap\":\"queue\"}}"));
	message_free(rig_call(rig, "job.run", "{\"job\":\"a\"}"));
	message_free(rig_call(rig, "job.run", "{\"job\":\"a\"}"));
	write_line(fd, "{\"jsonrpc\":\"2.0\",\"id\":1,"
	    "\"method\":\"run.wait\",\"params\":{\"run\":2}}");
	ck_assert_ptr_null(rig_read(rig, fd, SOON_MS));
	message_free(rig_call(rig, "job.remove", "{\"job\":\"a\"}"));
	reply = read_reply(fd);
	ck_assert_str_eq(message_get_string(message_get(reply, "result"),
	    "state"), "killed");
	message_free(reply);
	close(fd);
	rig_exited(rig, 0, 0);
}
END_TEST

/* --- run.history, run.logs --- */

/* So many runs of a job, one after the other, all ended. */
static void
make_runs(const char *job, int n, int code)
{
	char *params = xasprintf("{\"job\":\"%s\"}", job);

	for (int i = 0; i < n; i++) {
		message_free(rig_call(rig, "job.run", params));
		rig_exited(rig, rig->n_starts - 1, code);
		message_free(rig_call(rig, "run.wait", params));
	}
	free(params);
}

START_TEST(history_is_the_newest_first_in_pages)
{
	struct message *page;
	const struct message *rows;
	char *params;

	rig_add(rig, "a");
	make_runs("a", 5, 0);
	page = rig_call(rig, "run.history", "{\"job\":\"a\",\"count\":3}");
	rows = message_get(page, "rows");
	ck_assert_uint_eq(message_count(rows), 3);
	ck_assert_int_eq(message_get_integer(message_at(rows, 0), "run", 0),
	    5);
	params = xasprintf("{\"job\":\"a\",\"before\":\"%s\"}",
	    message_get_string(page, "more"));
	message_free(page);
	page = rig_call(rig, "run.history", params);
	rows = message_get(page, "rows");
	ck_assert_uint_eq(message_count(rows), 2);
	ck_assert_int_eq(message_get_integer(message_at(rows, 1), "run", 0),
	    1);
	ck_assert(message_is_null(message_get(page, "more")));
	message_free(page);
	free(params);
}
END_TEST

START_TEST(history_can_be_of_failures_only)
{
	struct message *page;

	rig_add(rig, "a");
	make_runs("a", 2, 0);
	make_runs("a", 1, 9);
	page = rig_call(rig, "run.history", "{\"failed\":true}");
	ck_assert_uint_eq(message_count(message_get(page, "rows")), 1);
	message_free(page);
}
END_TEST

START_TEST(history_of_a_removed_job_stays)
{
	struct message *page;

	rig_add(rig, "a");
	make_runs("a", 1, 0);
	message_free(rig_call(rig, "job.remove", "{\"job\":\"a\"}"));
	page = rig_call(rig, "run.history", "{\"job\":\"a\"}");
	ck_assert_uint_eq(message_count(message_get(page, "rows")), 1);
	message_free(page);
	/* No failure, but there was such a job. */
	page = rig_call(rig, "run.history",
	    "{\"job\":\"a\",\"failed\":true}");
	ck_assert_uint_eq(message_count(message_get(page, "rows")), 0);
	message_free(page);
	refused("run.history", "{\"job\":\"zz\",\"failed\":true}", 5,
	    "no job \"zz\"");
}
END_TEST

START_TEST(logs_are_of_the_run_or_of_the_jobs_last)
{
	static const char *const params[] = {
		"{\"job\":\"a\"}", "{\"run\":1}",
		"{\"job\":\"a\",\"failed\":true}", "{\"run\":1,\"offset\":0}"
	};
	struct message *page;

	rig_add(rig, "a");
	make_runs("a", 1, 1);
	rig_write_output(rig, 1, "hello\n");
	for (size_t i = 0; i < sizeof(params) / sizeof(params[0]); i++) {
		page = rig_call(rig, "run.logs", params[i]);
		/* printf 'hello\n' | base64 */
		ck_assert_str_eq(message_get_string(page, "data"),
		    "aGVsbG8K");
		ck_assert(message_get_bool(page, "end", false));
		ck_assert_int_eq(message_get_integer(page, "offset", 0), 6);
		ck_assert_int_eq(message_get_integer(page, "total", 0), 6);
		ck_assert_int_eq(message_get_integer(message_get(page,
		    "run"), "run", 0), 1);
		message_free(page);
	}
	page = rig_call(rig, "run.logs", "{\"run\":1,\"offset\":6}");
	ck_assert_str_eq(message_get_string(page, "data"), "");
	message_free(page);
	refused("run.logs", "{\"run\":9}", 5, "no run 9");
}
END_TEST

START_TEST(logs_of_a_live_run_are_what_there_is)
{
	struct message *page;

	rig_add(rig, "a");
	message_free(rig_call(rig, "job.run", "{\"job\":\"a\"}"));
	rig_write_output(rig, 1, "so far");
	page = rig_call(rig, "run.logs", "{\"job\":\"a\"}");
	ck_assert_str_eq(message_get_string(page, "data"), "c28gZmFy");
	ck_assert(message_is_null(message_get(page, "total")));
	message_free(page);
	refused("run.logs", "{\"job\":\"a\",\"failed\":true}", 5,
	    "no failed run");
	rig_exited(rig, 0, 0);
}
END_TEST

/* --- daemon.* --- */

START_TEST(status_tells_all_to_who_may_know)
{
	static const char *const members[] = {
		"version", "pid", "uptime", "zone", "user", "instance",
		"state_dir", "now", "jobs", "running", "waiting",
		"max_running", "stopping", "workers", "store", "files",
		"since_start", "late", "wakeups"
	};
	struct message *status;

	rig_add(rig, "a");
	status = rig_call(rig, "daemon.status", NULL);
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		ck_assert_msg(message_get(status, members[i]) != NULL, "%s",
		    members[i]);
	ck_assert_int_eq(message_get_integer(status, "pid", 0), getpid());
	ck_assert_int_eq(message_get_integer(message_get(status, "jobs"),
	    "control", -1), 1);
	ck_assert_str_eq(message_get_string(message_get(status, "store"),
	    "state"), "ok");
	message_free(status);
}
END_TEST

START_TEST(reload_says_what_changes)
{
	struct message *result;

	rig_write_file(rig, "a.ini",
	    "[a]\nschedule = @manual\ncommand = true\n");
	result = rig_call(rig, "daemon.reload", "{\"plan\":true}");
	ck_assert_uint_eq(message_count(message_get(result, "added")), 1);
	ck_assert(!is_in_force("a"));
	message_free(result);
	result = rig_call(rig, "daemon.reload", NULL);
	ck_assert_str_eq(message_get_string(message_at(message_get(result,
	    "added"), 0), "job"), "a");
	ck_assert(is_in_force("a"));
	message_free(result);
	rig_write_file(rig, "b.ini", "[b]\nschedule = 61 * * * *\n");
	result = rig_call(rig, "daemon.reload", NULL);
	ck_assert_int_eq(message_get_integer(result, "unchanged", -1), 1);
	ck_assert_uint_ge(message_count(message_get(result, "errors")), 1);
	message_free(result);
}
END_TEST

START_TEST(reload_of_a_missing_directory_changes_nothing)
{
	rig_write_file(rig, "a.ini",
	    "[a]\nschedule = @manual\ncommand = true\n");
	message_free(rig_call(rig, "daemon.reload", NULL));
	ck_assert_int_eq(rename(rig->jobs_dir, "/tmp/check-control.moved"),
	    0);
	refused("daemon.reload", NULL, 1, "nothing was reloaded");
	ck_assert(is_in_force("a"));
	ck_assert_int_eq(rename("/tmp/check-control.moved", rig->jobs_dir),
	    0);
}
END_TEST

START_TEST(a_file_waits_for_the_name_that_a_client_is_adding)
{
	int fd = rig_connect(rig);
	struct message *result;

	rig->no_flush = true;
	write_line(fd, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"job.add\","
	    "\"params\":{\"name\":\"a\",\"definition\":{"
	    "\"schedule\":\"@manual\",\"command\":\"true\"}}}");
	ck_assert_ptr_null(rig_read(rig, fd, SOON_MS));
	rig_write_file(rig, "a.ini",
	    "[a]\nschedule = @manual\ncommand = false\n");
	result = rig_call(rig, "daemon.reload", NULL);
	ck_assert_uint_eq(message_count(message_get(result, "added")), 0);
	message_free(result);
	rig->no_flush = false;
	message_free(read_reply(fd));
	ck_assert_str_eq(jobtable_find(rig->jobs, "a")->def->command, "true");
	close(fd);
}
END_TEST

START_TEST(stop_answers_at_once_or_after_the_last_run)
{
	int fd = rig_connect(rig);
	struct message *result, *reply;

	rig_add(rig, "a");
	message_free(rig_call(rig, "job.run", "{\"job\":\"a\"}"));
	write_line(fd, "{\"jsonrpc\":\"2.0\",\"id\":1,"
	    "\"method\":\"daemon.stop\",\"params\":{\"wait\":true,"
	    "\"timeout\":1.5}}");
	ck_assert_ptr_null(rig_read(rig, fd, SOON_MS));
	ck_assert_int_eq(rig->stop_timeout, 1500000);
	result = rig_call(rig, "daemon.stop", NULL);
	ck_assert_int_eq(message_get_integer(result, "running", -1), 1);
	ck_assert_int_eq(rig->stop_timeout, -1);
	message_free(result);
	refused("job.run", "{\"job\":\"a\",\"force\":true}", 6, "stopping");
	refused("job.add", "{\"name\":\"b\",\"definition\":{\"schedule\":"
	    "\"@manual\",\"command\":\"x\"}}", 6, "stopping");
	rig_exited(rig, 0, 0);
	ck_assert_ptr_null(rig_read(rig, fd, SOON_MS));
	control_stopped(rig->control);
	reply = read_reply(fd);
	ck_assert_int_eq(message_get_integer(message_get(reply, "result"),
	    "running", -1), 1);
	ck_assert(control_is_flushed(rig->control));
	message_free(reply);
	close(fd);
}
END_TEST

/* --- who may --- */

/* All connections of this test are those of somebody else. */
START_TEST(a_stranger_learns_that_it_is_there_and_no_more)
{
	static const char *const methods[] = {
		"job.add", "job.remove", "job.list", "job.show", "job.next",
		"job.run", "run.history", "run.logs", "run.wait",
		"daemon.reload", "daemon.stop"
	};
	bool root = geteuid() == 0;
	struct rig *mine = rig;
	struct message *status;

	/* Root is a stranger to nobody, so it connects as somebody else. */
	rig = rig_new(geteuid() + 1);
	ck_assert_int_eq(chmod(rig->dir, 0755), 0);
	ck_assert_int_eq(chmod(rig->socket, 0666), 0);
	if (root)
		ck_assert_int_eq(seteuid(65534), 0);
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		refused(methods[i], "{\"job\":\"a\"}", 4, "may not call");
	status = rig_call(rig, "daemon.status", NULL);
	if (root)
		ck_assert_int_eq(seteuid(0), 0);
	ck_assert_uint_eq(message_count(status), 3);
	ck_assert_ptr_nonnull(message_get(status, "version"));
	ck_assert_ptr_nonnull(message_get(status, "uptime"));
	ck_assert(message_get_bool(status, "up", false));
	message_free(status);
	ck_assert_uint_eq(rig->stops, 0);
	tear_down();
	rig = mine;
}
END_TEST

START_TEST(a_user_has_so_many_connections_and_others_are_served)
{
	enum { CAP = 64 };
	int fds[CAP + 1];
	char c;

	if (geteuid() != 0)
		return;
	ck_assert_int_eq(chmod(rig->dir, 0755), 0);
	ck_assert_int_eq(chmod(rig->socket, 0666), 0);
	ck_assert_int_eq(seteuid(65534), 0);
	for (int i = 0; i <= CAP; i++) {
		fds[i] = rig_connect(rig);
		rig_turn(rig);
	}
	ck_assert_int_eq(seteuid(0), 0);
	ck_assert(rig_is_closed(rig, fds[CAP], RIG_WAIT_MS));
	ck_assert_int_eq((int)read(fds[CAP - 1], &c, 1), -1);
	message_free(rig_call(rig, "daemon.status", NULL));
	for (int i = 0; i <= CAP; i++)
		close(fds[i]);
}
END_TEST

/* --- the store --- */

static void
limit_files(rlim_t bytes)
{
	struct rlimit limit = { bytes, RLIM_INFINITY };

	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

START_TEST(a_broken_store_is_never_acknowledged)
{
	struct message *reply;

	rig_add(rig, "there");
	ck_assert_ptr_ne(signal(SIGXFSZ, SIG_IGN), SIG_ERR);
	/* Files can't grow past what they are. */
	limit_files(1);
	reply = rig_ask(rig, "job.add", "{\"name\":\"a\",\"definition\":{"
	    "\"schedule\":\"@manual\",\"command\":\"x\"}}");
	expect_error(reply, 8, "in doubt");
	message_free(reply);
	ck_assert(!is_in_force("a"));
	reply = rig_ask(rig, "job.run", "{\"job\":\"there\"}");
	ck_assert_ptr_nonnull(message_get(reply, "error"));
	message_free(reply);
	limit_files(RLIM_INFINITY);
	for (size_t i = 0; i < rig->n_starts; i++)
		rig_exited(rig, i, 0);
}
END_TEST

static void
ignore(void *arg, enum store_result result)
{
	(void)arg;
	(void)result;
}

START_TEST(without_room_in_the_store_nothing_is_changed)
{
	rig_add(rig, "there");
	rig->no_flush = true;
	for (int i = 0; i < 1000; i++)
		store_after_commit(rig->store, ignore, NULL);
	ck_assert(!store_has_room(rig->store));
	refused("job.add", "{\"name\":\"a\",\"definition\":{\"schedule\":"
	    "\"@manual\",\"command\":\"x\"}}", 7, "nothing was changed");
	refused("job.run", "{\"job\":\"there\"}", 7, "nothing was changed");
	refused("job.remove", "{\"job\":\"there\"}", 7,
	    "nothing was changed");
	ck_assert_uint_eq(rig->n_starts, 0);
	rig->no_flush = false;
}
END_TEST

/* --- the end, in the midst of things --- */

START_TEST(it_can_end_with_everything_in_work)
{
	static const char *const lines[] = {
		"\"method\":\"job.add\",\"params\":{\"name\":\"new\","
		    "\"definition\":{\"schedule\":\"@manual\","
		    "\"command\":\"x\"}}",
		"\"method\":\"job.add\",\"params\":{\"name\":\"a\","
		    "\"replace\":true,\"definition\":{"
		    "\"schedule\":\"@manual\",\"command\":\"x\"}}",
		"\"method\":\"job.remove\",\"params\":{\"job\":\"b\"}",
		"\"method\":\"job.remove\",\"params\":{\"job\":\"b\"}",
		"\"method\":\"job.run\",\"params\":{\"job\":\"c\"}",
		"\"method\":\"run.wait\",\"params\":{\"job\":\"d\"}",
		"\"method\":\"run.wait\",\"params\":{\"run\":1}",
		"\"method\":\"run.history\"",
		"\"method\":\"run.logs\",\"params\":{\"job\":\"d\"}",
		"\"method\":\"daemon.reload\"",
		"\"method\":\"daemon.stop\",\"params\":{\"wait\":true}",
	};
	int fds[N_ROWS(lines)];

	rig_add(rig, "a");
	rig_add(rig, "b");
	rig_add(rig, "c");
	rig_add(rig, "d");
	message_free(rig_call(rig, "job.run", "{\"job\":\"d\"}"));
	rig->no_flush = true;
	for (int i = 0; i < N_ROWS(lines); i++) {
		char *line = xasprintf("{\"jsonrpc\":\"2.0\",\"id\":1,%s}",
		    lines[i]);

		fds[i] = rig_connect(rig);
		write_line(fds[i], line);
		free(line);
	}
	for (int i = 0; i < _i * 3; i++)
		rig_turn(rig);
	for (int i = 0; i < N_ROWS(lines); i++)
		close(fds[i]);
	/* tear_down ends it all. */
}
END_TEST

/* --- the socket file --- */

static struct control_options
options_for(const char *path)
{
	return (struct control_options){
		.base = rig->base, .store = rig->store,
		.socket_path = path, .socket_mode = 0600
	};
}

START_TEST(a_stale_socket_is_replaced)
{
	char *path = xasprintf("%s/stale.sock", rig->dir);
	struct control_options options = options_for(path);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct control *control;
	struct error err = { "" };
	struct stat st;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address,
	    sizeof(address)), 0);
	close(fd);
	control = control_new(&options, &err);
	ck_assert_msg(control != NULL, "%s", err.text);
	ck_assert_int_eq(lstat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	control_free(control);
	ck_assert_int_eq(lstat(path, &st), -1);
	free(path);
}
END_TEST

START_TEST(a_socket_in_use_is_left_alone)
{
	struct control_options options = options_for(rig->socket);
	struct error err = { "" };

	ck_assert_ptr_null(control_new(&options, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "somebody listens"));
	message_free(rig_call(rig, "daemon.status", NULL));
}
END_TEST

START_TEST(what_is_no_socket_is_left_alone)
{
	char *path = xasprintf("%s/file", rig->jobs_dir);
	struct control_options options = options_for(path);
	struct error err = { "" };
	struct stat st;

	rig_write_file(rig, "file", "x");
	ck_assert_ptr_null(control_new(&options, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "no socket"));
	ck_assert_int_eq(lstat(path, &st), 0);
	free(path);
}
END_TEST

START_TEST(a_path_that_is_too_long_is_told_so)
{
	char path[200] = "";
	struct control_options options = options_for(path);
	struct error err = { "" };

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[108] = '\0';
	ck_assert_ptr_null(control_new(&options, &err));
	/* sun_path has 108 bytes, one of them the NUL (unix(7)). */
	ck_assert_ptr_nonnull(strstr(err.text, "108 bytes"));
	ck_assert_ptr_nonnull(strstr(err.text, "107"));
}
END_TEST

START_TEST(somebody_elses_socket_is_not_removed)
{
	char *path = xasprintf("%s/other.sock", rig->dir);
	struct control_options options = options_for(path);
	struct control *first, *second;
	struct error err = { "" };
	struct stat st;

	first = control_new(&options, &err);
	ck_assert_msg(first != NULL, "%s", err.text);
	ck_assert_int_eq(unlink(path), 0);
	second = control_new(&options, &err);
	ck_assert_msg(second != NULL, "%s", err.text);
	control_free(first);
	ck_assert_int_eq(lstat(path, &st), 0);
	control_free(second);
	ck_assert_int_eq(lstat(path, &st), -1);
	free(path);
}
END_TEST

/* --- all of it --- */

static void
add_protocol_tests(Suite *suite)
{
	TCase *tc = tcase_create("protocol");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_line_that_is_no_request_is_told_so);
	tcase_add_test(tc, an_id_comes_back_as_it_was);
	tcase_add_test(tc, without_an_id_it_is_done_and_not_answered);
	tcase_add_test(tc, parameters_are_checked_by_their_table);
	tcase_add_test(tc, replies_come_in_the_order_of_requests);
	tcase_add_test(tc, a_client_sees_what_it_did_before);
	tcase_add_test(tc, what_was_sent_before_the_end_is_answered);
	suite_add_tcase(suite, tc);
}

static void
add_limit_tests(Suite *suite)
{
	TCase *tc = tcase_create("limits");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, lines_have_the_length_they_may_have);
	tcase_add_test(tc,
	    ten_megabytes_without_a_newline_are_refused_and_not_kept);
	tcase_add_test(tc, half_a_line_is_cut_after_ten_seconds);
	tcase_add_test(tc, who_is_cut_is_told_why);
	tcase_add_test(tc, who_does_not_read_is_not_worked_for);
	tcase_add_test(tc, a_flood_does_not_keep_others_waiting);
	tcase_add_test(tc, many_idle_connections_cost_nobody_time);
	tcase_add_test(tc,
	    without_descriptors_accepting_backs_off_and_recovers);
	tcase_add_test(tc,
	    a_change_is_made_wholly_or_not_wherever_its_client_dies);
	tcase_add_test(tc, garbage_is_answered_and_does_no_harm);
	tcase_add_test(tc, a_stranger_learns_that_it_is_there_and_no_more);
	tcase_add_test(tc,
	    a_user_has_so_many_connections_and_others_are_served);
	suite_add_tcase(suite, tc);
}

static void
add_change_tests(Suite *suite)
{
	TCase *tc = tcase_create("changes");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, add_answers_with_the_job_and_its_next_times);
	tcase_add_test(tc, add_tells_every_error_of_a_definition);
	tcase_add_test(tc, add_refuses_what_is_wrong);
	tcase_add_test(tc, a_name_is_taken_once);
	tcase_add_test(tc, replace_keeps_the_id);
	tcase_add_test(tc, replace_adds_what_is_not_there);
	tcase_add_test(tc, an_added_job_is_on_disk_before_it_is_told);
	tcase_add_test(tc, a_second_change_of_a_name_waits_for_the_first);
	tcase_add_test(tc,
	    a_run_of_a_job_that_is_being_removed_waits_and_is_refused);
	tcase_add_test(tc,
	    a_name_is_free_when_its_job_is_gone_and_not_before);
	tcase_add_loop_test(tc, a_one_shot_that_is_due_starts_at_once, 0,
	    N_ROWS(now_rows));
	tcase_add_test(tc, a_delay_counts_from_acceptance);
	tcase_add_test(tc, a_file_job_is_changed_in_its_file_only);
	tcase_add_test(tc, remove_lets_the_run_finish_or_stops_it);
	tcase_add_test(tc, an_unknown_job_suggests_the_nearest);
	tcase_add_test(tc, a_broken_store_is_never_acknowledged);
	tcase_add_test(tc, without_room_in_the_store_nothing_is_changed);
	tcase_add_loop_test(tc, it_can_end_with_everything_in_work, 0, 4);
	suite_add_tcase(suite, tc);
}

static void
add_question_tests(Suite *suite)
{
	TCase *tc = tcase_create("questions");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, list_comes_in_pages_by_name);
	tcase_add_loop_test(tc, list_shows_what_passes_all_filters, 0,
	    N_ROWS(filter_rows));
	tcase_add_test(tc, a_page_of_big_jobs_holds_fewer);
	tcase_add_test(tc, show_has_all_of_a_definition);
	tcase_add_loop_test(tc, next_lists_instants_strictly_after_from, 0,
	    N_ROWS(next_rows));
	tcase_add_test(tc, next_names_the_rule_that_acts);
	tcase_add_test(tc, a_disabled_job_has_no_next);
	tcase_add_test(tc, history_is_the_newest_first_in_pages);
	tcase_add_test(tc, history_can_be_of_failures_only);
	tcase_add_test(tc, history_of_a_removed_job_stays);
	tcase_add_test(tc, logs_are_of_the_run_or_of_the_jobs_last);
	tcase_add_test(tc, logs_of_a_live_run_are_what_there_is);
	suite_add_tcase(suite, tc);
}

static void
add_run_tests(Suite *suite)
{
	TCase *tc = tcase_create("runs");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, run_answers_when_the_run_is_on_disk);
	tcase_add_test(tc, run_obeys_overlap_unless_forced);
	tcase_add_loop_test(tc,
	    run_takes_an_environment_that_changes_no_program, 0,
	    N_ROWS(env_rows));
	tcase_add_test(tc, wait_answers_when_the_run_has_ended);
	tcase_add_test(tc, the_end_of_another_run_is_not_waited_for);
	tcase_add_test(tc, wait_tells_what_is_not_there);
	tcase_add_test(tc, who_waited_and_left_harms_nobody);
	tcase_add_test(tc, a_waiting_run_can_be_waited_for);
	tcase_add_test(tc, waiting_for_a_run_that_will_never_start_ends);
	suite_add_tcase(suite, tc);
}

static void
add_daemon_tests(Suite *suite)
{
	TCase *tc = tcase_create("daemon");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, status_tells_all_to_who_may_know);
	tcase_add_test(tc, reload_says_what_changes);
	tcase_add_test(tc, reload_of_a_missing_directory_changes_nothing);
	tcase_add_test(tc,
	    a_file_waits_for_the_name_that_a_client_is_adding);
	tcase_add_test(tc, stop_answers_at_once_or_after_the_last_run);
	tcase_add_test(tc, a_stale_socket_is_replaced);
	tcase_add_test(tc, a_socket_in_use_is_left_alone);
	tcase_add_test(tc, what_is_no_socket_is_left_alone);
	tcase_add_test(tc, a_path_that_is_too_long_is_told_so);
	tcase_add_test(tc, somebody_elses_socket_is_not_removed);
	suite_add_tcase(suite, tc);
}

static Suite *
control_suite(void)
{
	Suite *suite = suite_create("control");

	add_protocol_tests(suite);
	add_limit_tests(suite);
	add_change_tests(suite);
	add_question_tests(suite);
	add_run_tests(suite);
	add_daemon_tests(suite);
	return suite;
}

int
main(void)
{
	return check_main(control_suite());
}
