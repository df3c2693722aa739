/* SPDX-License-Identifier: ISC */
/*
 * The envelope between daemon and workers: writing and stepping through it.
 * Works on bytes in memory only; what the tags mean is protocol.c's business.
 * Reading trusts nothing: every length is checked against what is there.
 * Cost: one pass, no allocation when reading.
 */
#include "config.h"

#include "common/frame.h"

#include <assert.h>
#include <string.h>

#define LENGTH_SIZE	4			/* the length itself */
#define LENGTH_MIN	(FRAME_HEADER - LENGTH_SIZE)
#define FIELD_HEADER	6			/* tag, length */

static void
put_le(struct strbuf *sb, uint64_t value, size_t bytes)
{
	uint8_t out[8];

	for (size_t i = 0; i < bytes; i++)
		out[i] = (uint8_t)(value >> (8 * i));
	strbuf_add(sb, out, bytes);
}

static uint64_t
get_le(const uint8_t *p, size_t bytes)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value |= (uint64_t)p[i] << (8 * i);
	return value;
}

size_t
frame_begin(struct strbuf *sb, uint8_t type)
{
	size_t start = sb->len;

	put_le(sb, 0, LENGTH_SIZE);
	put_le(sb, type, 1);
	put_le(sb, FRAME_VERSION, 1);
	put_le(sb, 0, 2);
	return start;
}

static void
put_field(struct strbuf *sb, uint16_t tag, size_t len)
{
	assert(len <= FRAME_MAX);
	put_le(sb, tag, 2);
	put_le(sb, len, 4);
}

void
frame_put_u64(struct strbuf *sb, uint16_t tag, uint64_t value)
{
	put_field(sb, tag, 8);
	put_le(sb, value, 8);
}

void
frame_put_i64(struct strbuf *sb, uint16_t tag, int64_t value)
{
	frame_put_u64(sb, tag, (uint64_t)value);
}

void
frame_put_string(struct strbuf *sb, uint16_t tag, const char *s)
{
	if (s != NULL)
		frame_put_bytes(sb, tag, s, strlen(s) + 1);
}

void
frame_put_bytes(struct strbuf *sb, uint16_t tag, const void *data, size_t len)
{
	put_field(sb, tag, len);
	strbuf_add(sb, data, len);
}

void
frame_end(struct strbuf *sb, size_t start)
{
	size_t len = sb->len - start - LENGTH_SIZE;

	assert(sb->len >= start + FRAME_HEADER && len <= FRAME_MAX);
	for (size_t i = 0; i < LENGTH_SIZE; i++)
		sb->buf[start + i] = (char)(uint8_t)(len >> (8 * i));
}

int
frame_parse(const void *buf, size_t len, struct frame *out, size_t *used,
    struct error *err)
{
	const uint8_t *p = buf;
	uint64_t length;

	if (len < LENGTH_SIZE)
		return 0;
	length = get_le(p, LENGTH_SIZE);
	if (length < LENGTH_MIN || length > FRAME_MAX)
		return error_set(err, "a frame of %llu bytes is not within "
		    "%d-%d", (unsigned long long)length, LENGTH_MIN,
		    FRAME_MAX);
	if (len < FRAME_HEADER)
		return 0;
	if (p[6] != 0 || p[7] != 0)
		return error_set(err, "a frame's reserved bytes are %u %u "
		    "instead of zero", p[6], p[7]);
	if (len < LENGTH_SIZE + length)
		return 0;
	out->type = p[4];
	out->version = p[5];
	out->body = p + FRAME_HEADER;
	out->len = (size_t)length - LENGTH_MIN;
	*used = LENGTH_SIZE + (size_t)length;
	return 1;
}

int
frame_next_field(const struct frame *frame, size_t *offset,
    struct frame_field *field, struct error *err)
{
	size_t left = frame->len - *offset;
	const uint8_t *p = frame->body + *offset;
	uint64_t len;

	if (left == 0)
		return 0;
	if (left < FIELD_HEADER)
		return error_set(err, "a frame of type %u ends inside a "
		    "field's header", frame->type);
	len = get_le(p + 2, 4);
	if (len > left - FIELD_HEADER)
		return error_set(err, "field %u of a frame of type %u wants "
		    "%llu bytes, %zu are left", (unsigned)get_le(p, 2),
		    frame->type, (unsigned long long)len,
		    left - FIELD_HEADER);
	field->tag = (uint16_t)get_le(p, 2);
	field->data = p + FIELD_HEADER;
	field->len = (size_t)len;
	*offset += FIELD_HEADER + (size_t)len;
	return 1;
}

int
frame_field_u64(const struct frame_field *field, uint64_t *out)
{
	if (field->len != 8)
		return -1;
	*out = get_le(field->data, 8);
	return 0;
}

int
frame_field_i64(const struct frame_field *field, int64_t *out)
{
	uint64_t value;

	if (frame_field_u64(field, &value) == -1)
		return -1;
	memcpy(out, &value, sizeof *out);
	return 0;
}

const char *
frame_field_string(const struct frame_field *field)
{
	if (field->len == 0 || memchr(field->data, '\0', field->len) !=
	    field->data + field->len - 1)
		return NULL;
	return (const char *)field->data;
}
