/* SPDX-License-Identifier: ISC */
/*
 * Any bytes as frames, as the body of each frame, and as a spool file.  What
 * a decoder accepts is encoded and decoded again: it must be accepted again.
 */
#include "config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/protocol.h"
#include "common/strbuf.h"

int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct frame
parse_again(const struct strbuf *sb)
{
	struct frame frame;
	size_t used;

	if (frame_parse(sb->buf, sb->len, &frame, &used, NULL) != 1 ||
	    used != sb->len)
		abort();
	return frame;
}

static void
try_start(const struct frame *frame)
{
	struct strbuf sb = STRBUF_INIT;
	struct protocol_start start, again;
	struct frame second;

	if (protocol_decode_start(frame, &start, NULL) == 0) {
		protocol_encode_start(&sb, &start);
		second = parse_again(&sb);
		if (protocol_decode_start(&second, &again, NULL) == -1 ||
		    again.env_count != start.env_count ||
		    protocol_start_run_id(&second) != start.tag.run_id)
			abort();
	}
	strbuf_release(&sb);
}

static void
try_ended(const struct frame *frame)
{
	struct strbuf sb = STRBUF_INIT;
	struct protocol_ended ended, again;
	struct frame second;

	if (protocol_decode_ended(frame, &ended, NULL) == 0) {
		protocol_encode_ended(&sb, &ended);
		second = parse_again(&sb);
		if (protocol_decode_ended(&second, &again, NULL) == -1 ||
		    again.tag.run_id != ended.tag.run_id)
			abort();
	}
	strbuf_release(&sb);
}

/* The same body under every type. */
static void
try_all(struct frame frame)
{
	enum protocol_refusal refusal;
	struct protocol_welcome welcome;
	struct protocol_started started;
	struct protocol_list_run run;
	struct protocol_hello hello;
	const char *reason;
	uint64_t a, b;

	(void)protocol_start_run_id(&frame);
	(void)protocol_decode_numbers(&frame, &a, &b, NULL);
	for (unsigned type = 0; type <= PROTOCOL_PONG + 1; type++) {
		frame.type = (uint8_t)type;
		try_start(&frame);
		try_ended(&frame);
		(void)protocol_decode_hello(&frame, &hello, NULL);
		(void)protocol_decode_welcome(&frame, &welcome, NULL);
		(void)protocol_decode_deny(&frame, &reason, NULL);
		(void)protocol_decode_started(&frame, &started, NULL);
		(void)protocol_decode_list_run(&frame, &run, NULL);
		(void)protocol_decode_refused(&frame, &a, &refusal, NULL);
	}
}

static void
take(void *arg, const struct protocol_ended *ended)
{
	(void)ended;
	++*(size_t *)arg;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frame body = { 1, 1, data, size }, frame;
	size_t offset = 0, used, taken = 0;
	struct error err;
	bool damaged;

	while (frame_parse(data + offset, size - offset, &frame, &used,
	    &err) == 1) {
		if (used < FRAME_HEADER || used > size - offset)
			abort();
		if (frame.len <= FRAME_MAX / 2)
			try_all(frame);
		offset += used;
	}
	/* A body without its envelope, so that it needs no true length. */
	if (size <= FRAME_MAX / 2)
		try_all(body);
	if (protocol_spool_read(data, size, take, &taken, &damaged) != taken)
		abort();
	return 0;
}
