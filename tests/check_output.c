/* SPDX-License-Identifier: ISC */
/*
 * The writer and the reader of kept output together: for every way of giving
 * bytes, what comes back is worked out from the rule of spec.md 3 alone.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/outputfile.h"
#include "common/strbuf.h"
#include "tests/check_main.h"
#include "worker/output.h"

Suite	*output_suite(void);

#define WAIT_MS	10000

static struct output *output;
static char dir[64];
static int dirfd_;

static void
setup(void)
{
	snprintf(dir, sizeof dir, "/tmp/cronctl-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	dirfd_ = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(dirfd_, 0);
	output = output_new(dirfd_, NULL);
	ck_assert_ptr_nonnull(output);
}

static void
teardown(void)
{
	char command[128];

	output_free(output);
	close(dirfd_);
	snprintf(command, sizeof command, "rm -rf '%s'", dir);
	ck_assert_int_eq(system(command), 0);
}

static void
wait_for_news(void)
{
	struct pollfd fd = { .fd = output_event_fd(output),
	    .events = POLLIN };

	ck_assert_int_eq(poll(&fd, 1, WAIT_MS), 1);
	output_collect(output);
}

static void
finish(struct output_stream *stream, struct output_totals *totals)
{
	output_finish(stream);
	while (!output_is_done(stream))
		wait_for_news();
	output_close(stream, totals);
}

/* Byte i of every stream: not periodic in any size used here. */
static char
byte_at(size_t i)
{
	return (char)((i * 2654435761u) >> 13);
}

static void
make_bytes(struct strbuf *sb, size_t len)
{
	for (size_t i = 0; i < len; i++)
		strbuf_addch(sb, byte_at(i));
}

static void
read_all(uint64_t run_id, struct strbuf *out)
{
	struct error err = { "" };
	bool end = false;

	ck_assert_msg(outputfile_read(dirfd_, run_id, 0, SIZE_MAX, out, &end,
	    &err) == 0, "%s", err.text);
	ck_assert(end);
}

static const struct {
	int64_t	 limit;		/* output_limit */
	size_t	 len;		/* of the stream */
	size_t	 block;		/* bytes a write */
} shapes[] = {
	{ 100, 0, 1 }, { 100, 1, 1 }, { 100, 50, 7 }, { 100, 51, 7 },
	{ 100, 100, 100 }, { 100, 101, 100 }, { 101, 101, 10 },
	{ 101, 102, 10 }, { 1, 1, 1 }, { 1, 2, 1 }, { 2, 3, 1 },
	{ 0, 10, 3 }, { 100, 100000, 1000 }, { 100, 10000, 1 },
	{ 10000, 1000000, 999 }, { 10000, 15000, 5000 },
	{ 10000, 15001, 5000 }, { 10000, 20000, 5000 },
	{ 20000, 1000000, 65536 }, { 131072, 1000000, 65536 },
	{ 131072, 131073, 65536 }, { 1048576, 1048576, 65536 },
	{ 1048576, 1048577, 65536 }, { 1048576, 3000000, 65536 },
	{ 8192, 1000000, 4096 }, { 8193, 1000000, 4097 },
};

/* Only as fast as there is room, as the worker does. */
static void
write_in_blocks(struct output_stream *stream, const struct strbuf *all,
    size_t block)
{
	for (size_t at = 0; at < all->len;) {
		size_t n = all->len - at < block ? all->len - at : block;

		while (output_room(stream) < n) {
			output_want_room(stream);
			wait_for_news();
		}
		output_write(stream, all->buf + at, n);
		at += n;
	}
}

START_TEST(head_and_tail_are_exact)
{
	struct strbuf all = STRBUF_INIT, want = STRBUF_INIT;
	struct strbuf out = STRBUF_INIT;
	size_t limit = (size_t)shapes[_i].limit, len = shapes[_i].len;
	size_t tail = limit / 2, head = limit - tail;
	struct output_stream *stream;
	struct output_totals totals;

	make_bytes(&all, len);
	if (len <= limit) {
		strbuf_add(&want, all.buf, len);
	} else {
		strbuf_add(&want, all.buf, head);
		if (tail > 0)
			strbuf_addf(&want, "\n[... %zu bytes dropped ...]\n",
			    len - limit);
		strbuf_add(&want, all.buf + len - tail, tail);
	}
	stream = output_open(output, 1, shapes[_i].limit);
	write_in_blocks(stream, &all, shapes[_i].block);
	finish(stream, &totals);
	read_all(1, &out);
	ck_assert_int_eq(totals.bytes, (int64_t)len);
	ck_assert_int_eq(totals.dropped, len <= limit ? 0 :
	    (int64_t)(len - limit));
	ck_assert_int_eq(totals.errnum, 0);
	ck_assert_uint_eq(out.len, want.len);
	ck_assert(memcmp(out.buf, want.buf, want.len) == 0);
	strbuf_release(&all);
	strbuf_release(&want);
	strbuf_release(&out);
}
END_TEST

START_TEST(pages_of_any_size_add_up)
{
	struct strbuf all = STRBUF_INIT, whole = STRBUF_INIT;
	struct output_stream *stream;
	struct output_totals totals;

	make_bytes(&all, 5000);
	stream = output_open(output, 1, 1000);
	write_in_blocks(stream, &all, 300);
	finish(stream, &totals);
	read_all(1, &whole);
	for (size_t page = 1; page <= 1100; page += 7) {
		struct strbuf out = STRBUF_INIT;
		bool end = false;

		while (!end) {
			size_t before = out.len;

			ck_assert_int_eq(outputfile_read(dirfd_, 1, out.len,
			    page, &out, &end, NULL), 0);
			ck_assert_uint_le(out.len - before, page);
			ck_assert(end || out.len > before);
		}
		ck_assert_uint_eq(out.len, whole.len);
		ck_assert(memcmp(out.buf, whole.buf, whole.len) == 0);
		strbuf_release(&out);
	}
	strbuf_release(&all);
	strbuf_release(&whole);
}
END_TEST

START_TEST(drop_in_the_head_is_a_gap)
{
	struct strbuf out = STRBUF_INIT;
	struct output_stream *stream = output_open(output, 1, 100);
	struct output_totals totals;

	output_write(stream, "before", 6);
	output_drop(stream, 1000);
	output_write(stream, "after", 5);
	finish(stream, &totals);
	ck_assert_int_eq(totals.bytes, 1011);
	ck_assert_int_eq(totals.dropped, 1000);
	read_all(1, &out);
	ck_assert_str_eq(out.buf, "before\n[... 1000 bytes dropped ...]\n"
	    "after");
	strbuf_release(&out);
}
END_TEST

START_TEST(drop_in_the_tail_is_a_gap)
{
	struct strbuf out = STRBUF_INIT;
	struct output_stream *stream = output_open(output, 1, 20);
	struct output_totals totals;

	output_write(stream, "0123456789abcd", 14);
	output_drop(stream, 3);
	output_write(stream, "xyz", 3);
	finish(stream, &totals);
	/* The last 10 bytes of the 20 are abcd, 3 lost ones and xyz. */
	ck_assert_int_eq(totals.dropped, 3);
	read_all(1, &out);
	ck_assert_str_eq(out.buf, "0123456789abcd\n[... 3 bytes dropped ...]\n"
	    "xyz");
	strbuf_release(&out);
}
END_TEST

START_TEST(drop_at_the_end_is_counted)
{
	struct strbuf out = STRBUF_INIT;
	struct output_stream *stream = output_open(output, 1, 100);
	struct output_totals totals;

	output_write(stream, "text", 4);
	output_drop(stream, 9);
	finish(stream, &totals);
	ck_assert_int_eq(totals.bytes, 13);
	ck_assert_int_eq(totals.dropped, 9);
	read_all(1, &out);
	ck_assert_str_eq(out.buf, "text");
	strbuf_release(&out);
}
END_TEST

START_TEST(silent_stream_is_done_at_once_and_has_no_file)
{
	struct output_stream *stream = output_open(output, 1, 100);
	struct output_totals totals;
	struct stat st;

	output_finish(stream);
	ck_assert(output_is_done(stream));
	output_close(stream, &totals);
	ck_assert_int_eq(totals.bytes, 0);
	ck_assert_int_eq(fstatat(dirfd_, "1.head", &st, 0), -1);
}
END_TEST

START_TEST(streams_do_not_mix)
{
	struct output_stream *one = output_open(output, 1, 100);
	struct output_stream *two = output_open(output, 2, 100);
	struct strbuf out = STRBUF_INIT;
	struct output_totals totals;

	for (int i = 0; i < 10; i++) {
		output_write(one, "a", 1);
		output_write(two, "bb", 2);
	}
	finish(one, &totals);
	finish(two, &totals);
	read_all(1, &out);
	ck_assert_str_eq(out.buf, "aaaaaaaaaa");
	strbuf_reset(&out);
	read_all(2, &out);
	ck_assert_str_eq(out.buf, "bbbbbbbbbbbbbbbbbbbb");
	strbuf_release(&out);
}
END_TEST

/*
 * A disk that hangs: the head is a FIFO that nobody reads, so that opening
 * it blocks the writer.
 */
static void
freeze(const char *name)
{
	ck_assert_int_eq(mkfifoat(dirfd_, name, 0600), 0);
}

/* The writer gets on; what it writes is thrown away. */
static void
thaw(const char *name)
{
	int fd = openat(dirfd_, name, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	ck_assert_int_ge(fd, 0);
}

START_TEST(queue_is_bounded_while_the_disk_hangs)
{
	static char block[16384];
	struct output_stream *stream, *other;
	struct output_totals totals;
	size_t taken = 0;

	freeze("1.head");
	stream = output_open(output, 1, 1024 * 1024);
	while (output_room(stream) >= sizeof block) {
		output_write(stream, block, sizeof block);
		taken += sizeof block;
	}
	ck_assert_uint_gt(taken, OUTPUT_STREAM_MAX / 2);
	ck_assert_uint_le(taken, OUTPUT_STREAM_MAX);
	/* Others still have theirs, up to the sum. */
	other = output_open(output, 2, 100);
	ck_assert_uint_gt(output_room(other), OUTPUT_STREAM_MAX / 2);
	output_drop(stream, 5);
	output_close(stream, &totals);
	ck_assert_int_eq(totals.bytes, (int64_t)taken + 5);
	ck_assert_int_eq(totals.dropped, (int64_t)taken + 5);
	output_write(other, "x", 1);
	thaw("1.head");
	finish(other, &totals);
	ck_assert_int_eq(totals.dropped, 0);
}
END_TEST

START_TEST(sum_of_the_queues_is_bounded)
{
	static char block[60000];
	struct output_stream *streams[64];
	struct output_totals totals;
	size_t taken = 0;

	freeze("1.head");
	for (size_t i = 0; i < 64; i++) {
		streams[i] = output_open(output, i + 1, 1024 * 1024);
		while (output_room(streams[i]) >= sizeof block) {
			output_write(streams[i], block, sizeof block);
			taken += sizeof block;
		}
	}
	ck_assert_uint_le(taken, OUTPUT_QUEUE_MAX);
	ck_assert_uint_gt(taken, OUTPUT_QUEUE_MAX / 2);
	for (size_t i = 0; i < 64; i++)
		output_close(streams[i], &totals);
	thaw("1.head");
	/* The abandoned ones are gone through before this one. */
	streams[0] = output_open(output, 100, 10);
	output_write(streams[0], "x", 1);
	finish(streams[0], &totals);
	ck_assert_int_eq(totals.dropped, 0);
}
END_TEST

START_TEST(room_comes_back_with_news)
{
	static char block[65536];
	struct output_stream *stream = output_open(output, 1, 1 << 20);
	struct output_totals totals;

	for (int i = 0; i < 100; i++) {
		while (output_room(stream) < sizeof block) {
			output_want_room(stream);
			wait_for_news();
		}
		output_write(stream, block, sizeof block);
	}
	finish(stream, &totals);
	ck_assert_int_eq(totals.bytes, 100 * 65536);
}
END_TEST

/* A full disk, as far as the writer can tell (setrlimit(2), FSIZE). */
START_TEST(failing_disk_is_counted_and_told)
{
	struct strbuf all = STRBUF_INIT, out = STRBUF_INIT;
	struct output_stream *stream = output_open(output, 1, 100000);
	struct rlimit limit;
	struct output_totals totals;

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = 1000;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	make_bytes(&all, 3000);
	output_write(stream, all.buf, all.len);
	finish(stream, &totals);
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(totals.bytes, 3000);
	ck_assert_int_eq(totals.dropped, 2000);
	ck_assert_int_eq(totals.errnum, EFBIG);
	read_all(1, &out);
	ck_assert_uint_eq(out.len, 1000);
	ck_assert(memcmp(out.buf, all.buf, 1000) == 0);
	strbuf_release(&all);
	strbuf_release(&out);
}
END_TEST

/* The reading side with files that no writer would leave. */

static void
put_file(const char *name, const void *data, size_t len)
{
	int fd = openat(dirfd_, name, O_WRONLY | O_CREAT | O_TRUNC |
	    O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, data, len), (ssize_t)len);
	close(fd);
}

static void
put_tail(const char *name, uint64_t offset, uint64_t kept, const char *text)
{
	uint8_t data[OUTPUTFILE_HEADER + 64];

	outputfile_header_encode(data, offset, kept);
	memcpy(data + OUTPUTFILE_HEADER, text, strlen(text));
	put_file(name, data, OUTPUTFILE_HEADER + strlen(text));
}

static void
assert_reads(const char *want)
{
	struct strbuf out = STRBUF_INIT;

	read_all(1, &out);
	ck_assert_str_eq(out.buf, want);
	strbuf_release(&out);
}

START_TEST(damaged_files_are_read_as_far_as_they_go)
{
	uint8_t header[OUTPUTFILE_HEADER];

	assert_reads("");
	put_file("1.head", "head", 4);
	assert_reads("head");
	/* A death right after the new segment was made. */
	put_tail("1.tail0", 4, 8, "older");
	put_file("1.tail1", "", 0);
	assert_reads("headolder");
	outputfile_header_encode(header, 9, 8);
	put_file("1.tail1", header, sizeof header - 1);
	assert_reads("headolder");
	put_file("1.tail1", "garbage that is no header of ours", 33);
	assert_reads("headolder");
	/* Segments that overlap: each byte comes once. */
	put_tail("1.tail1", 6, 100, "XYZVW");
	assert_reads("headolderVW");
	/* The last "kept" bytes only. */
	put_tail("1.tail1", 9, 3, "newer");
	assert_reads("head\n[... 7 bytes dropped ...]\nwer");
	/* Offsets from nowhere. */
	outputfile_header_encode(header, UINT64_MAX, 3);
	put_file("1.tail1", header, sizeof header);
	assert_reads("headolder");
}
END_TEST

START_TEST(only_regular_files_are_read)
{
	struct strbuf out = STRBUF_INIT;
	struct error err = { "" };
	bool end;

	put_file("secret", "secret", 6);
	ck_assert_int_eq(symlinkat("secret", dirfd_, "1.head"), 0);
	ck_assert_int_eq(outputfile_read(dirfd_, 1, 0, SIZE_MAX, &out, &end,
	    &err), -1);
	ck_assert_uint_eq(out.len, 0);
	ck_assert_int_eq(unlinkat(dirfd_, "1.head", 0), 0);
	ck_assert_int_eq(mkfifoat(dirfd_, "1.head", 0600), 0);
	ck_assert_int_eq(outputfile_read(dirfd_, 1, 0, SIZE_MAX, &out, &end,
	    &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "1.head"));
	strbuf_release(&out);
}
END_TEST

START_TEST(removal_takes_all_parts_and_no_others)
{
	put_file("1.head", "a", 1);
	put_tail("1.tail0", 1, 1, "a");
	put_tail("1.tail1", 2, 1, "a");
	put_file("11.head", "b", 1);
	ck_assert_int_eq(outputfile_remove(dirfd_, 1, NULL), 0);
	assert_reads("");
	ck_assert_int_eq(faccessat(dirfd_, "11.head", F_OK, 0), 0);
	ck_assert_int_eq(outputfile_remove(dirfd_, 1, NULL), 0);
}
END_TEST

static const struct {
	const char	*name;		/* of a file */
	uint64_t	 run_id;	/* 0: it is no part */
} names[] = {
	{ "1.head", 1 }, { "100001.tail0", 100001 }, { "7.tail1", 7 },
	{ "18446744073709551615.head", UINT64_MAX },
	{ "18446744073709551616.head", 0 }, { "1.tail2", 0 }, { "1", 0 },
	{ ".head", 0 }, { "0.head", 0 }, { "01.head", 0 }, { "-1.head", 0 },
	{ " 1.head", 0 }, { "1.head~", 0 }, { "1.HEAD", 0 }, { "", 0 },
};

START_TEST(names_of_parts_are_told_from_others)
{
	uint64_t run_id = 0;

	ck_assert(outputfile_is_part(names[_i].name, &run_id) ==
	    (names[_i].run_id != 0));
	ck_assert(run_id == names[_i].run_id);
}
END_TEST

#define ROWS(table)	((int)(sizeof (table) / sizeof *(table)))

Suite *
output_suite(void)
{
	Suite *suite = suite_create("output");
	TCase *tc = tcase_create("output");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, head_and_tail_are_exact, 0, ROWS(shapes));
	tcase_add_test(tc, pages_of_any_size_add_up);
	tcase_add_test(tc, drop_in_the_head_is_a_gap);
	tcase_add_test(tc, drop_in_the_tail_is_a_gap);
	tcase_add_test(tc, drop_at_the_end_is_counted);
	tcase_add_test(tc, silent_stream_is_done_at_once_and_has_no_file);
	tcase_add_test(tc, streams_do_not_mix);
	tcase_add_test(tc, queue_is_bounded_while_the_disk_hangs);
	tcase_add_test(tc, sum_of_the_queues_is_bounded);
	tcase_add_test(tc, room_comes_back_with_news);
	tcase_add_test(tc, failing_disk_is_counted_and_told);
	tcase_add_test(tc, damaged_files_are_read_as_far_as_they_go);
	tcase_add_test(tc, only_regular_files_are_read);
	tcase_add_test(tc, removal_takes_all_parts_and_no_others);
	tcase_add_loop_test(tc, names_of_parts_are_told_from_others, 0,
	    ROWS(names));
	suite_add_tcase(suite, tc);
	return suite;
}

int
main(void)
{
	return check_main(output_suite());
}
