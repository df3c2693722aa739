/* SPDX-License-Identifier: ISC */
/*
 * Structs to frame bodies and back, driven by tables of fields.  A number is
 * checked against its row's range before it gets into the struct, so an enum
 * that was decoded is always one that we know.
 */
#include "config.h"

#include "common/protocol_codec.h"

#include <assert.h>
#include <string.h>

/* Rows of one table; a bit each in a decoder's "seen". */
#define CODEC_ROWS_MAX 64

static int64_t
number_of(const struct codec_field *row, const void *at)
{
	uint32_t u32;
	int64_t i64;
	bool flag;
	int i;

	switch (row->kind) {
	case CODEC_U32:
		memcpy(&u32, at, sizeof u32);
		return u32;
	case CODEC_INT:
		memcpy(&i, at, sizeof i);
		return i;
	case CODEC_BOOL:
		memcpy(&flag, at, sizeof flag);
		return flag;
	default:
		memcpy(&i64, at, sizeof i64);
		return i64;
	}
}

void
codec_encode(struct strbuf *sb, const struct codec_field *rows, size_t n,
    const void *object)
{
	for (size_t i = 0; i < n; i++) {
		const char *at = (const char *)object + rows[i].offset;
		const char *s;

		if (rows[i].kind == CODEC_STRING) {
			memcpy(&s, at, sizeof s);
			frame_put_string(sb, rows[i].tag, s);
		} else {
			frame_put_i64(sb, rows[i].tag,
			    number_of(&rows[i], at));
		}
	}
}

static int
store_number(const struct codec_field *row, const struct frame_field *field,
    char *at, struct error *err)
{
	uint64_t u64;
	int64_t value;
	uint32_t u32;
	bool flag;
	int i;

	if (frame_field_u64(field, &u64) == -1 ||
	    frame_field_i64(field, &value) == -1)
		return error_set(err, "%s is no number", row->name);
	if (row->kind == CODEC_U64 && row->max == INT64_MAX) {
		if (u64 < (uint64_t)row->min)
			return error_set(err, "%s may not be %llu", row->name,
			    (unsigned long long)u64);
		memcpy(at, &u64, sizeof u64);
		return 0;
	}
	if (value < row->min || value > row->max)
		return error_set(err, "%s is %lld, not within %lld-%lld",
		    row->name, (long long)value, (long long)row->min,
		    (long long)row->max);
	u32 = (uint32_t)value;
	i = (int)value;
	flag = value != 0;
	switch (row->kind) {
	case CODEC_U32:
		memcpy(at, &u32, sizeof u32);
		break;
	case CODEC_INT:
		memcpy(at, &i, sizeof i);
		break;
	case CODEC_BOOL:
		memcpy(at, &flag, sizeof flag);
		break;
	default:
		memcpy(at, &value, sizeof value);
	}
	return 0;
}

static int
store(const struct codec_field *row, const struct frame_field *field,
    void *object, struct error *err)
{
	char *at = (char *)object + row->offset;
	const char *s;

	if (row->kind != CODEC_STRING)
		return store_number(row, field, at, err);
	if ((s = frame_field_string(field)) == NULL)
		return error_set(err, "%s is no string", row->name);
	memcpy(at, &s, sizeof s);
	return 0;
}

static const struct codec_field *
find_row(const struct codec_field *rows, size_t n, uint16_t tag)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].tag == tag)
			return &rows[i];
	return NULL;
}

int
codec_decode(const struct frame *frame, const struct codec_field *rows,
    size_t n, void *object, int (*other)(void *, const struct frame_field *,
    struct error *), struct error *err)
{
	uint64_t seen = 0;
	size_t offset = 0;
	struct frame_field field;
	int found;

	assert(n <= CODEC_ROWS_MAX);
	while ((found = frame_next_field(frame, &offset, &field, err)) == 1) {
		const struct codec_field *row = find_row(rows, n, field.tag);

		if (row == NULL) {
			if (other != NULL && other(object, &field, err) == -1)
				return -1;
			continue;
		}
		if (store(row, &field, object, err) == -1)
			return -1;
		seen |= UINT64_C(1) << (row - rows);
	}
	if (found == -1)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (rows[i].required && (seen >> i & 1) == 0)
			return error_set(err, "%s is missing", rows[i].name);
	return 0;
}

int
codec_expect(const struct frame *frame, uint8_t type, struct error *err)
{
	if (frame->type != type)
		return error_set(err, "a frame of type %u came instead of "
		    "type %u", frame->type, type);
	return 0;
}
