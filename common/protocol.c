/* SPDX-License-Identifier: ISC */
/*
 * Frames about the connection itself and about whole runs by number; what
 * carries a run's particulars is in protocol_run.c.  Pure: bytes in, bytes
 * out.
 */
#include "config.h"

#include "common/protocol.h"

#include <stddef.h>

#include "common/protocol_codec.h"

static const struct codec_field hello_rows[] = {
	{ TAG_INSTANCE, CODEC_STRING, true,
	    offsetof(struct protocol_hello, instance), 0, 0, "instance" },
	{ TAG_EPOCH, CODEC_U64, true,
	    offsetof(struct protocol_hello, epoch), 0, INT64_MAX, "epoch" },
	{ TAG_VERSION, CODEC_U32, true,
	    offsetof(struct protocol_hello, version), 1, UINT8_MAX,
	    "version" },
};

static const struct codec_field welcome_rows[] = {
	{ TAG_NUMBER, CODEC_U64, true,
	    offsetof(struct protocol_welcome, number), 0, INT64_MAX,
	    "number" },
	{ TAG_VERSION, CODEC_U32, true,
	    offsetof(struct protocol_welcome, version), 1, UINT8_MAX,
	    "version" },
	{ TAG_PID, CODEC_INT, true,
	    offsetof(struct protocol_welcome, pid), 1, INT32_MAX, "pid" },
	{ TAG_BOOT_ID, CODEC_STRING, true,
	    offsetof(struct protocol_welcome, boot_id), 0, 0, "boot id" },
};

struct deny {
	const char	*reason;	/* sentence for the log */
};

static const struct codec_field deny_rows[] = {
	{ TAG_REASON, CODEC_STRING, true, offsetof(struct deny, reason), 0, 0,
	    "reason" },
};

struct refused {
	uint64_t	 run_id;	/* of the START */
	enum protocol_refusal reason;	/* why not */
};

static const struct codec_field refused_rows[] = {
	{ TAG_RUN_ID, CODEC_U64, true, offsetof(struct refused, run_id), 1,
	    INT64_MAX, "run id" },
	{ TAG_REASON, CODEC_INT, true, offsetof(struct refused, reason),
	    PROTOCOL_REFUSED_TOO_LATE, PROTOCOL_REFUSED_BAD, "reason" },
};

struct numbers {
	uint64_t	 a;		/* run id, count or number */
	uint64_t	 b;		/* signal, or 0 */
};

static const struct codec_field numbers_rows[] = {
	{ TAG_A, CODEC_U64, true, offsetof(struct numbers, a), 0, INT64_MAX,
	    "first number" },
	{ TAG_B, CODEC_U64, true, offsetof(struct numbers, b), 0, INT64_MAX,
	    "second number" },
};

void
protocol_encode_hello(struct strbuf *sb, const struct protocol_hello *hello)
{
	size_t start = frame_begin(sb, PROTOCOL_HELLO);

	codec_encode(sb, hello_rows, CODEC_COUNT(hello_rows), hello);
	frame_end(sb, start);
}

int
protocol_decode_hello(const struct frame *frame, struct protocol_hello *hello,
    struct error *err)
{
	*hello = (struct protocol_hello){ 0 };
	if (codec_expect(frame, PROTOCOL_HELLO, err) == -1)
		return -1;
	return codec_decode(frame, hello_rows, CODEC_COUNT(hello_rows), hello,
	    NULL, err);
}

void
protocol_encode_welcome(struct strbuf *sb,
    const struct protocol_welcome *welcome)
{
	size_t start = frame_begin(sb, PROTOCOL_WELCOME);

	codec_encode(sb, welcome_rows, CODEC_COUNT(welcome_rows), welcome);
	frame_end(sb, start);
}

int
protocol_decode_welcome(const struct frame *frame,
    struct protocol_welcome *welcome, struct error *err)
{
	*welcome = (struct protocol_welcome){ 0 };
	if (codec_expect(frame, PROTOCOL_WELCOME, err) == -1)
		return -1;
	return codec_decode(frame, welcome_rows, CODEC_COUNT(welcome_rows),
	    welcome, NULL, err);
}

void
protocol_encode_deny(struct strbuf *sb, const char *reason)
{
	struct deny deny = { reason };
	size_t start = frame_begin(sb, PROTOCOL_DENY);

	codec_encode(sb, deny_rows, CODEC_COUNT(deny_rows), &deny);
	frame_end(sb, start);
}

int
protocol_decode_deny(const struct frame *frame, const char **reason,
    struct error *err)
{
	struct deny deny = { NULL };

	if (codec_expect(frame, PROTOCOL_DENY, err) == -1 ||
	    codec_decode(frame, deny_rows, CODEC_COUNT(deny_rows), &deny,
	    NULL, err) == -1)
		return -1;
	*reason = deny.reason;
	return 0;
}

void
protocol_encode_refused(struct strbuf *sb, uint64_t run_id,
    enum protocol_refusal reason)
{
	struct refused refused = { run_id, reason };
	size_t start = frame_begin(sb, PROTOCOL_REFUSED);

	codec_encode(sb, refused_rows, CODEC_COUNT(refused_rows), &refused);
	frame_end(sb, start);
}

int
protocol_decode_refused(const struct frame *frame, uint64_t *run_id,
    enum protocol_refusal *reason, struct error *err)
{
	struct refused refused = { 0 };

	if (codec_expect(frame, PROTOCOL_REFUSED, err) == -1 ||
	    codec_decode(frame, refused_rows, CODEC_COUNT(refused_rows),
	    &refused, NULL, err) == -1)
		return -1;
	*run_id = refused.run_id;
	*reason = refused.reason;
	return 0;
}

void
protocol_encode_numbers(struct strbuf *sb, enum protocol_type type,
    uint64_t a, uint64_t b)
{
	struct numbers numbers = { a, b };
	size_t start = frame_begin(sb, (uint8_t)type);

	codec_encode(sb, numbers_rows, CODEC_COUNT(numbers_rows), &numbers);
	frame_end(sb, start);
}

int
protocol_decode_numbers(const struct frame *frame, uint64_t *a, uint64_t *b,
    struct error *err)
{
	struct numbers numbers = { 0 };

	if (codec_decode(frame, numbers_rows, CODEC_COUNT(numbers_rows),
	    &numbers, NULL, err) == -1)
		return -1;
	*a = numbers.a;
	*b = numbers.b;
	return 0;
}
