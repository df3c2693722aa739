/* SPDX-License-Identifier: ISC */
/* The envelope byte by byte; the bytes are written by hand from frame.h. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "common/frame.h"
#include "common/strbuf.h"
#include "tests/check_main.h"

Suite	*frame_suite(void);

/* Type 7, tag 0x0102 = 5, tag 3 = "hi". */
static const uint8_t sample[] = {
	27, 0, 0, 0,  7,  1,  0, 0,
	2, 1,  8, 0, 0, 0,  5, 0, 0, 0, 0, 0, 0, 0,
	3, 0,  3, 0, 0, 0,  'h', 'i', 0,
};
#define SAMPLE_LEN	(sizeof sample)		/* 31: 4 + 27 */

START_TEST(encoding_gives_the_documented_bytes)
{
	struct strbuf sb = STRBUF_INIT;
	size_t start = frame_begin(&sb, 7);

	frame_put_u64(&sb, 0x0102, 5);
	frame_put_string(&sb, 3, "hi");
	frame_end(&sb, start);
	ck_assert_uint_eq(sb.len, SAMPLE_LEN);
	ck_assert_mem_eq(sb.buf, sample, SAMPLE_LEN);
	strbuf_release(&sb);
}
END_TEST

START_TEST(every_prefix_is_not_whole_yet)
{
	struct frame frame;
	size_t used;

	for (size_t n = 0; n < SAMPLE_LEN; n++)
		ck_assert_int_eq(frame_parse(sample, n, &frame, &used, NULL),
		    0);
	ck_assert_int_eq(frame_parse(sample, SAMPLE_LEN, &frame, &used, NULL),
	    1);
	ck_assert_uint_eq(used, SAMPLE_LEN);
	ck_assert_uint_eq(frame.type, 7);
	ck_assert_uint_eq(frame.version, 1);
	ck_assert_uint_eq(frame.len, SAMPLE_LEN - 8);
}
END_TEST

START_TEST(fields_come_back_in_order)
{
	struct frame_field field;
	struct frame frame;
	size_t used, offset = 0;
	uint64_t u;
	int64_t i;

	ck_assert_int_eq(frame_parse(sample, SAMPLE_LEN, &frame, &used, NULL),
	    1);
	ck_assert_int_eq(frame_next_field(&frame, &offset, &field, NULL), 1);
	ck_assert_uint_eq(field.tag, 0x0102);
	ck_assert_int_eq(frame_field_u64(&field, &u), 0);
	ck_assert_uint_eq(u, 5);
	ck_assert_int_eq(frame_field_i64(&field, &i), 0);
	ck_assert_int_eq(i, 5);
	ck_assert_ptr_null(frame_field_string(&field));
	ck_assert_int_eq(frame_next_field(&frame, &offset, &field, NULL), 1);
	ck_assert_uint_eq(field.tag, 3);
	ck_assert_str_eq(frame_field_string(&field), "hi");
	ck_assert_int_eq(frame_field_u64(&field, &u), -1);
	ck_assert_int_eq(frame_next_field(&frame, &offset, &field, NULL), 0);
}
END_TEST

static const struct {
	const char	*name;		/* what is wrong with it */
	uint8_t		 bytes[8];	/* a frame's header */
} no_frames[] = {
	{ "length below the header", { 3, 0, 0, 0, 1, 1, 0, 0 } },
	{ "length zero", { 0, 0, 0, 0, 1, 1, 0, 0 } },
	{ "length above 256 KiB", { 1, 0, 4, 0, 1, 1, 0, 0 } },
	{ "length 2^32 - 1", { 255, 255, 255, 255, 1, 1, 0, 0 } },
	{ "reserved byte", { 4, 0, 0, 0, 1, 1, 1, 0 } },
	{ "other reserved byte", { 4, 0, 0, 0, 1, 1, 0, 1 } },
};

START_TEST(what_is_no_frame_is_refused)
{
	struct error err = { "" };
	struct frame frame;
	size_t used;

	ck_assert_msg(frame_parse(no_frames[_i].bytes, 8, &frame, &used,
	    &err) == -1, "%s", no_frames[_i].name);
	ck_assert_uint_gt(strlen(err.text), 0);
}
END_TEST

START_TEST(largest_frame_passes)
{
	uint8_t *bytes = calloc(1, FRAME_MAX + 4);
	struct frame frame;
	size_t used;

	bytes[2] = 4;		/* 0x040000 = 256 KiB */
	bytes[4] = 1;
	ck_assert_int_eq(frame_parse(bytes, FRAME_MAX + 4, &frame, &used,
	    NULL), 1);
	ck_assert_uint_eq(used, FRAME_MAX + 4);
	ck_assert_uint_eq(frame.len, FRAME_MAX - 4);
	free(bytes);
}
END_TEST

static const struct {
	const char	*name;		/* what is wrong with it */
	size_t		 len;		/* of the body */
	uint8_t		 body[16];	/* one field */
} bad_bodies[] = {
	{ "one byte", 1, { 1 } },
	{ "header without length", 5, { 1, 0, 1, 0, 0 } },
	{ "value cut", 8, { 1, 0, 3, 0, 0, 0, 'a', 'b' } },
	{ "length 2^32 - 1", 8, { 1, 0, 255, 255, 255, 255, 1, 1 } },
};

START_TEST(damaged_body_is_refused)
{
	struct frame frame = { 1, 1, bad_bodies[_i].body, bad_bodies[_i].len };
	struct frame_field field;
	size_t offset = 0;

	ck_assert_msg(frame_next_field(&frame, &offset, &field, NULL) == -1,
	    "%s", bad_bodies[_i].name);
}
END_TEST

static const struct {
	const char	*name;		/* of the value */
	size_t		 len;		/* of the data */
	uint8_t		 data[8];	/* a field's value */
	const char	*want;		/* NULL: no string */
} strings[] = {
	{ "empty string", 1, { 0 }, "" },
	{ "word", 3, { 'o', 'k', 0 }, "ok" },
	{ "no bytes at all", 0, { 0 }, NULL },
	{ "no NUL", 2, { 'o', 'k' }, NULL },
	{ "NUL inside", 4, { 'o', 0, 'k', 0 }, NULL },
	{ "two NULs", 2, { 0, 0 }, NULL },
};

START_TEST(string_ends_with_its_only_nul)
{
	struct frame_field field = { 1, strings[_i].data, strings[_i].len };
	const char *got = frame_field_string(&field);

	if (strings[_i].want == NULL)
		ck_assert_msg(got == NULL, "%s", strings[_i].name);
	else
		ck_assert_str_eq(got, strings[_i].want);
}
END_TEST

START_TEST(null_string_writes_nothing)
{
	struct strbuf sb = STRBUF_INIT;

	frame_put_string(&sb, 1, NULL);
	ck_assert_uint_eq(sb.len, 0);
	strbuf_release(&sb);
}
END_TEST

START_TEST(negative_number_comes_back)
{
	struct strbuf sb = STRBUF_INIT;
	struct frame_field field;
	struct frame frame;
	size_t offset = 0, used, start = frame_begin(&sb, 1);
	int64_t value;

	frame_put_i64(&sb, 1, INT64_MIN);
	frame_end(&sb, start);
	ck_assert_int_eq(frame_parse(sb.buf, sb.len, &frame, &used, NULL), 1);
	ck_assert_int_eq(frame_next_field(&frame, &offset, &field, NULL), 1);
	ck_assert_int_eq(frame_field_i64(&field, &value), 0);
	ck_assert(value == INT64_MIN);
	strbuf_release(&sb);
}
END_TEST

#define ROWS(table)	((int)(sizeof (table) / sizeof *(table)))

Suite *
frame_suite(void)
{
	Suite *suite = suite_create("frame");
	TCase *tc = tcase_create("frame");

	tcase_add_test(tc, encoding_gives_the_documented_bytes);
	tcase_add_test(tc, every_prefix_is_not_whole_yet);
	tcase_add_test(tc, fields_come_back_in_order);
	tcase_add_loop_test(tc, what_is_no_frame_is_refused, 0,
	    ROWS(no_frames));
	tcase_add_test(tc, largest_frame_passes);
	tcase_add_loop_test(tc, damaged_body_is_refused, 0, ROWS(bad_bodies));
	tcase_add_loop_test(tc, string_ends_with_its_only_nul, 0,
	    ROWS(strings));
	tcase_add_test(tc, null_string_writes_nothing);
	tcase_add_test(tc, negative_number_comes_back);
	suite_add_tcase(suite, tc);
	return suite;
}

int
main(void)
{
	return check_main(frame_suite());
}
