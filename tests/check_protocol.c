/* SPDX-License-Identifier: ISC */
/* Every frame there and back, what decoders refuse, and damaged spools. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/protocol.h"
#include "common/protocol_codec.h"
#include "tests/check_main.h"

Suite	*protocol_suite(void);

static const struct protocol_tag_run tag = {
	.run_id = 100001, .job_id = 7, .job_name = "backup",
	.occurrence = 1700000000, .era = 2, .generation = 3,
	.cause = RUN_CAUSE_RETRY, .attempt = 4, .prev_run = 100000,
	.due = 1700000000000001, .queued = 1700000000000002,
	.sent = 1700000000000003, .by_uid = 1000,
};

static struct frame
parse(const struct strbuf *sb)
{
	struct frame frame = { 0 };
	size_t used = 0;

	ck_assert_int_eq(frame_parse(sb->buf, sb->len, &frame, &used, NULL),
	    1);
	ck_assert_uint_eq(used, sb->len);
	return frame;
}

static void
assert_tag(const struct protocol_tag_run *got)
{
	ck_assert_uint_eq(got->run_id, 100001);
	ck_assert_int_eq(got->job_id, 7);
	ck_assert_str_eq(got->job_name, "backup");
	ck_assert_int_eq(got->occurrence, 1700000000);
	ck_assert_uint_eq(got->era, 2);
	ck_assert_uint_eq(got->generation, 3);
	ck_assert_int_eq(got->cause, RUN_CAUSE_RETRY);
	ck_assert_uint_eq(got->attempt, 4);
	ck_assert_uint_eq(got->prev_run, 100000);
	ck_assert_int_eq(got->due, 1700000000000001);
	ck_assert_int_eq(got->queued, 1700000000000002);
	ck_assert_int_eq(got->sent, 1700000000000003);
	ck_assert_int_eq(got->by_uid, 1000);
}

static void
sample_start(struct protocol_start *s)
{
	*s = (struct protocol_start){
		.tag = tag, .not_after = 5, .command = "echo 'a;b' # c%",
		.shell = "/bin/sh", .owner_name = "root", .owner_uid = 0,
		.user = "nobody", .group = "nogroup", .workdir = "/tmp",
		.umask = 022, .env = { "A=1", "B=" }, .env_count = 2,
		.stdin_text = "line\n", .timeout = 6, .start_timeout = 7,
		.stop_grace = 8, .stop_signal = SIGTERM,
		.output = PROTOCOL_OUTPUT_KEEP, .output_limit = 9,
	};
}

START_TEST(start_comes_back)
{
	struct strbuf sb = STRBUF_INIT;
	struct protocol_start s, got;
	struct frame frame;

	sample_start(&s);
	protocol_encode_start(&sb, &s);
	frame = parse(&sb);
	ck_assert_int_eq(protocol_decode_start(&frame, &got, NULL), 0);
	assert_tag(&got.tag);
	ck_assert_int_eq(got.not_after, 5);
	ck_assert_str_eq(got.command, "echo 'a;b' # c%");
	ck_assert_str_eq(got.shell, "/bin/sh");
	ck_assert_str_eq(got.owner_name, "root");
	ck_assert_int_eq(got.owner_uid, 0);
	ck_assert_str_eq(got.user, "nobody");
	ck_assert_str_eq(got.group, "nogroup");
	ck_assert_str_eq(got.workdir, "/tmp");
	ck_assert_uint_eq(got.umask, 022);
	ck_assert_uint_eq(got.env_count, 2);
	ck_assert_str_eq(got.env[0], "A=1");
	ck_assert_str_eq(got.env[1], "B=");
	ck_assert_str_eq(got.stdin_text, "line\n");
	ck_assert_int_eq(got.timeout, 6);
	ck_assert_int_eq(got.start_timeout, 7);
	ck_assert_int_eq(got.stop_grace, 8);
	ck_assert_int_eq(got.stop_signal, SIGTERM);
	ck_assert_int_eq(got.output, PROTOCOL_OUTPUT_KEEP);
	ck_assert_int_eq(got.output_limit, 9);
	strbuf_release(&sb);
}
END_TEST

START_TEST(absent_strings_stay_null)
{
	struct strbuf sb = STRBUF_INIT;
	struct protocol_start s, got;
	struct frame frame;

	sample_start(&s);
	s.owner_name = s.user = s.group = s.workdir = s.stdin_text = NULL;
	s.env_count = 0;
	protocol_encode_start(&sb, &s);
	frame = parse(&sb);
	ck_assert_int_eq(protocol_decode_start(&frame, &got, NULL), 0);
	ck_assert_ptr_null(got.owner_name);
	ck_assert_ptr_null(got.user);
	ck_assert_ptr_null(got.group);
	ck_assert_ptr_null(got.workdir);
	ck_assert_ptr_null(got.stdin_text);
	ck_assert_uint_eq(got.env_count, 0);
	strbuf_release(&sb);
}
END_TEST

static void
bad_run_id(struct protocol_start *s)
{
	s->tag.run_id = 0;
}

static void
bad_job_name(struct protocol_start *s)
{
	s->tag.job_name = NULL;
}

static void
bad_cause(struct protocol_start *s)
{
	s->tag.cause = 77;
}

static void
bad_attempt(struct protocol_start *s)
{
	s->tag.attempt = 0;
}

static void
bad_command(struct protocol_start *s)
{
	s->command = NULL;
}

static void
bad_shell(struct protocol_start *s)
{
	s->shell = "sh";
}

static void
bad_umask(struct protocol_start *s)
{
	s->umask = 01000;
}

static void
bad_signal(struct protocol_start *s)
{
	s->stop_signal = 65;
}

static void
bad_timeout(struct protocol_start *s)
{
	s->timeout = -1;
}

static void
bad_start_timeout(struct protocol_start *s)
{
	s->start_timeout = 0;
}

static void
bad_output(struct protocol_start *s)
{
	s->output = 0;
}

static void
bad_limit(struct protocol_start *s)
{
	s->output_limit = -1;
}

static void
bad_env(struct protocol_start *s)
{
	s->env[1] = "no sign";
}

static void
bad_env_name(struct protocol_start *s)
{
	s->env[1] = "=x";
}

static const struct {
	void		(*spoil)(struct protocol_start *);	/* one thing */
	const char	*word;	/* that the sentence must have */
} bad_starts[] = {
	{ bad_run_id, "run id" }, { bad_job_name, "job name" },
	{ bad_cause, "cause" }, { bad_attempt, "attempt" },
	{ bad_command, "command" }, { bad_shell, "shell" },
	{ bad_umask, "umask" }, { bad_signal, "stop_signal" },
	{ bad_timeout, "timeout" }, { bad_start_timeout, "start_timeout" },
	{ bad_output, "output" }, { bad_limit, "output_limit" },
	{ bad_env, "environment" }, { bad_env_name, "environment" },
};

START_TEST(bad_start_is_refused_with_its_id)
{
	struct strbuf sb = STRBUF_INIT;
	struct error err = { "" };
	struct protocol_start s, got;
	struct frame frame;

	sample_start(&s);
	bad_starts[_i].spoil(&s);
	protocol_encode_start(&sb, &s);
	frame = parse(&sb);
	ck_assert_int_eq(protocol_decode_start(&frame, &got, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, bad_starts[_i].word));
	ck_assert_uint_eq(protocol_start_run_id(&frame), s.tag.run_id);
	strbuf_release(&sb);
}
END_TEST

START_TEST(more_environment_than_there_is_room_is_refused)
{
	struct strbuf sb = STRBUF_INIT;
	struct protocol_start s, got;
	struct frame frame;
	size_t used;

	sample_start(&s);
	s.env_count = PROTOCOL_ENV_MAX;
	for (size_t i = 0; i < s.env_count; i++)
		s.env[i] = "A=1";
	protocol_encode_start(&sb, &s);
	frame = parse(&sb);
	ck_assert_int_eq(protocol_decode_start(&frame, &got, NULL), 0);
	ck_assert_uint_eq(got.env_count, PROTOCOL_ENV_MAX);
	frame_put_string(&sb, TAG_ENV, "B=2");
	frame_end(&sb, 0);
	ck_assert_int_eq(frame_parse(sb.buf, sb.len, &frame, &used, NULL), 1);
	ck_assert_int_eq(protocol_decode_start(&frame, &got, NULL), -1);
	strbuf_release(&sb);
}
END_TEST

START_TEST(unknown_field_is_skipped)
{
	struct strbuf sb = STRBUF_INIT;
	struct protocol_started s = { 1, 2, 3, 4 }, got;
	struct frame frame;

	protocol_encode_started(&sb, &s);
	frame_put_bytes(&sb, 60000, "later", 5);
	frame_end(&sb, 0);
	frame = parse(&sb);
	ck_assert_int_eq(protocol_decode_started(&frame, &got, NULL), 0);
	ck_assert_uint_eq(got.run_id, 1);
	ck_assert_int_eq(got.pid, 2);
	ck_assert_uint_eq(got.starttime, 3);
	ck_assert_int_eq(got.started, 4);
	strbuf_release(&sb);
}
END_TEST

static void
sample_ended(struct protocol_ended *e)
{
	*e = (struct protocol_ended){
		.tag = tag, .how = PROTOCOL_END_SIGNALED, .code = 1,
		.signal = SIGSEGV, .core = true,
		.stopper = PROTOCOL_STOPPER_TIMEOUT,
		.stage = PROTOCOL_STAGE_WORKDIR, .errnum = 2,
		.detail = "why", .pid = 3, .starttime = 4, .started = 5,
		.ended = 6, .duration = 7, .user_us = 8, .system_us = 9,
		.max_rss_kb = 10, .blocks_in = 11, .blocks_out = 12,
		.switches = 13, .output_bytes = 14, .output_dropped = 15,
	};
}

static void
assert_ended(const struct protocol_ended *got)
{
	assert_tag(&got->tag);
	ck_assert_int_eq(got->how, PROTOCOL_END_SIGNALED);
	ck_assert_int_eq(got->code, 1);
	ck_assert_int_eq(got->signal, SIGSEGV);
	ck_assert(got->core);
	ck_assert_int_eq(got->stopper, PROTOCOL_STOPPER_TIMEOUT);
	ck_assert_int_eq(got->stage, PROTOCOL_STAGE_WORKDIR);
	ck_assert_int_eq(got->errnum, 2);
	ck_assert_str_eq(got->detail, "why");
	ck_assert_int_eq(got->pid, 3);
	ck_assert_uint_eq(got->starttime, 4);
	ck_assert_int_eq(got->started, 5);
	ck_assert_int_eq(got->ended, 6);
	ck_assert_int_eq(got->duration, 7);
	ck_assert_int_eq(got->user_us, 8);
	ck_assert_int_eq(got->system_us, 9);
	ck_assert_int_eq(got->max_rss_kb, 10);
	ck_assert_int_eq(got->blocks_in, 11);
	ck_assert_int_eq(got->blocks_out, 12);
	ck_assert_int_eq(got->switches, 13);
	ck_assert_int_eq(got->output_bytes, 14);
	ck_assert_int_eq(got->output_dropped, 15);
}

START_TEST(ended_comes_back)
{
	struct strbuf sb = STRBUF_INIT;
	struct protocol_ended e, got;
	struct frame frame;

	sample_ended(&e);
	protocol_encode_ended(&sb, &e);
	frame = parse(&sb);
	ck_assert_int_eq(protocol_decode_ended(&frame, &got, NULL), 0);
	assert_ended(&got);
	strbuf_release(&sb);
}
END_TEST

START_TEST(list_run_comes_back)
{
	struct strbuf sb = STRBUF_INIT;
	struct protocol_list_run run = { tag, PROTOCOL_RUN_STOPPING, 2, 3, 4 };
	struct protocol_list_run got;
	struct frame frame;

	protocol_encode_list_run(&sb, &run);
	frame = parse(&sb);
	ck_assert_int_eq(protocol_decode_list_run(&frame, &got, NULL), 0);
	assert_tag(&got.tag);
	ck_assert_int_eq(got.state, PROTOCOL_RUN_STOPPING);
	ck_assert_int_eq(got.pid, 2);
	ck_assert_uint_eq(got.starttime, 3);
	ck_assert_int_eq(got.started, 4);
	strbuf_release(&sb);
}
END_TEST

START_TEST(hello_welcome_and_deny_come_back)
{
	struct strbuf sb = STRBUF_INIT;
	struct protocol_hello hello = { "abc", UINT64_MAX, FRAME_VERSION };
	struct protocol_welcome welcome = { 12, FRAME_VERSION, 34, "boot" };
	struct protocol_welcome none;
	const char *reason;
	struct frame frame;

	protocol_encode_hello(&sb, &hello);
	frame = parse(&sb);
	ck_assert_int_eq(protocol_decode_hello(&frame, &hello, NULL), 0);
	ck_assert_str_eq(hello.instance, "abc");
	ck_assert(hello.epoch == UINT64_MAX);
	ck_assert_uint_eq(hello.version, FRAME_VERSION);
	ck_assert_int_eq(protocol_decode_welcome(&frame, &none, NULL), -1);
	strbuf_reset(&sb);

	protocol_encode_welcome(&sb, &welcome);
	frame = parse(&sb);
	ck_assert_int_eq(protocol_decode_welcome(&frame, &welcome, NULL), 0);
	ck_assert_uint_eq(welcome.number, 12);
	ck_assert_int_eq(welcome.pid, 34);
	ck_assert_str_eq(welcome.boot_id, "boot");
	strbuf_reset(&sb);

	protocol_encode_deny(&sb, "no");
	frame = parse(&sb);
	ck_assert_int_eq(protocol_decode_deny(&frame, &reason, NULL), 0);
	ck_assert_str_eq(reason, "no");
	strbuf_release(&sb);
}
END_TEST

START_TEST(refused_comes_back)
{
	struct strbuf sb = STRBUF_INIT;
	enum protocol_refusal reason;
	struct frame frame;
	uint64_t run_id;

	protocol_encode_refused(&sb, 9, PROTOCOL_REFUSED_FULL);
	frame = parse(&sb);
	ck_assert_int_eq(protocol_decode_refused(&frame, &run_id, &reason,
	    NULL), 0);
	ck_assert_uint_eq(run_id, 9);
	ck_assert_int_eq(reason, PROTOCOL_REFUSED_FULL);
	strbuf_release(&sb);
}
END_TEST

START_TEST(numbers_come_back)
{
	struct strbuf sb = STRBUF_INIT;
	struct frame frame;
	uint64_t a, b;

	protocol_encode_numbers(&sb, PROTOCOL_SIGNAL, 100001, 15);
	frame = parse(&sb);
	ck_assert_uint_eq(frame.type, PROTOCOL_SIGNAL);
	ck_assert_int_eq(protocol_decode_numbers(&frame, &a, &b, NULL), 0);
	ck_assert_uint_eq(a, 100001);
	ck_assert_uint_eq(b, 15);
	strbuf_release(&sb);
}
END_TEST

START_TEST(names_are_those_of_the_specification)
{
	ck_assert_str_eq(protocol_stage_name(PROTOCOL_STAGE_USER), "user");
	ck_assert_str_eq(protocol_stage_name(PROTOCOL_STAGE_WORKDIR),
	    "workdir");
	ck_assert_str_eq(protocol_stage_name(99), "unknown");
	ck_assert_str_eq(run_cause_name(RUN_CAUSE_CATCH_UP), "catch_up");
	ck_assert_str_eq(run_cause_name(0), "unknown");
	ck_assert_str_eq(run_cause_name(99), "unknown");
}
END_TEST

static void
count(void *arg, const struct protocol_ended *ended)
{
	assert_ended(ended);
	++*(size_t *)arg;
}

/* Three records; *each is the length of one. */
static void
sample_spool(struct strbuf *sb, size_t *each)
{
	struct protocol_ended e;

	sample_ended(&e);
	protocol_spool_add(sb, &e);
	*each = sb->len;
	protocol_spool_add(sb, &e);
	protocol_spool_add(sb, &e);
	ck_assert_uint_eq(sb->len, 3 * *each);
}

START_TEST(whole_spool_is_read)
{
	struct strbuf sb = STRBUF_INIT;
	size_t each, taken = 0;
	bool damaged = true;

	sample_spool(&sb, &each);
	ck_assert_uint_eq(protocol_spool_read(sb.buf, sb.len, count, &taken,
	    &damaged), 3);
	ck_assert_uint_eq(taken, 3);
	ck_assert(!damaged);
	ck_assert_uint_eq(protocol_spool_read("", 0, count, &taken, &damaged),
	    0);
	ck_assert(!damaged);
	strbuf_release(&sb);
}
END_TEST

START_TEST(cut_spool_gives_its_whole_records)
{
	struct strbuf sb = STRBUF_INIT;
	size_t each;

	sample_spool(&sb, &each);
	for (size_t len = 0; len <= sb.len; len++) {
		size_t taken = 0;
		bool damaged;

		ck_assert_uint_eq(protocol_spool_read(sb.buf, len, count,
		    &taken, &damaged), len / each);
		ck_assert(damaged == (len % each != 0));
	}
	strbuf_release(&sb);
}
END_TEST

START_TEST(one_wrong_byte_ends_a_spool_there)
{
	struct strbuf sb = STRBUF_INIT;
	size_t each;

	sample_spool(&sb, &each);
	for (size_t at = 0; at < sb.len; at++) {
		size_t taken = 0;
		bool damaged;

		sb.buf[at] ^= 0x10;
		ck_assert_uint_eq(protocol_spool_read(sb.buf, sb.len, count,
		    &taken, &damaged), at / each);
		ck_assert(damaged);
		sb.buf[at] ^= 0x10;
	}
	strbuf_release(&sb);
}
END_TEST

Suite *
protocol_suite(void)
{
	Suite *suite = suite_create("protocol");
	TCase *tc = tcase_create("protocol");

	tcase_add_test(tc, start_comes_back);
	tcase_add_test(tc, absent_strings_stay_null);
	tcase_add_loop_test(tc, bad_start_is_refused_with_its_id, 0,
	    (int)(sizeof bad_starts / sizeof *bad_starts));
	tcase_add_test(tc, more_environment_than_there_is_room_is_refused);
	tcase_add_test(tc, unknown_field_is_skipped);
	tcase_add_test(tc, ended_comes_back);
	tcase_add_test(tc, list_run_comes_back);
	tcase_add_test(tc, hello_welcome_and_deny_come_back);
	tcase_add_test(tc, refused_comes_back);
	tcase_add_test(tc, numbers_come_back);
	tcase_add_test(tc, names_are_those_of_the_specification);
	tcase_add_test(tc, whole_spool_is_read);
	tcase_add_test(tc, cut_spool_gives_its_whole_records);
	tcase_add_test(tc, one_wrong_byte_ends_a_spool_there);
	suite_add_tcase(suite, tc);
	return suite;
}

int
main(void)
{
	return check_main(protocol_suite());
}
