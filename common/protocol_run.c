/* SPDX-License-Identifier: ISC */
/*
 * Frames that carry a run's particulars, and the spool file, which is a row
 * of such frames.  Each struct has one table that serves both directions.
 * Pure: bytes in, bytes out.
 */
#include "config.h"

#include "common/protocol.h"

#include <stddef.h>
#include <string.h>

#include "common/hash.h"
#include "common/protocol_codec.h"

#define CHECKSUM_SIZE	8
#define SIGNAL_MAX	64	/* signal(7): real-time signals end there */
#define UMASK_MAX	0777
#define CODE_MAX	255	/* of exit(3) */

/* The tag comes first in all structs that hold one. */
#define TAG_ROW(tag, kind, required, field, min, max, name)		\
	{ tag, kind, required, offsetof(struct protocol_tag_run, field), \
	    min, max, name }
#define TAG_ROWS							\
	TAG_ROW(TAG_RUN_ID, CODEC_U64, true, run_id, 1, INT64_MAX,	\
	    "run id"),							\
	TAG_ROW(TAG_JOB_ID, CODEC_I64, true, job_id, INT64_MIN,		\
	    INT64_MAX, "job id"),					\
	TAG_ROW(TAG_JOB_NAME, CODEC_STRING, true, job_name, 0, 0,	\
	    "job name"),						\
	TAG_ROW(TAG_OCCURRENCE, CODEC_I64, true, occurrence, INT64_MIN,	\
	    INT64_MAX, "occurrence"),					\
	TAG_ROW(TAG_ERA, CODEC_U32, true, era, 0, UINT32_MAX, "era"),	\
	TAG_ROW(TAG_GENERATION, CODEC_U32, true, generation, 0,		\
	    UINT32_MAX, "generation"),					\
	TAG_ROW(TAG_CAUSE, CODEC_INT, true, cause, RUN_CAUSE_SCHEDULE,	\
	    RUN_CAUSE_REBOOT, "cause"),					\
	TAG_ROW(TAG_ATTEMPT, CODEC_U32, true, attempt, 1, UINT32_MAX,	\
	    "attempt"),							\
	TAG_ROW(TAG_PREV_RUN, CODEC_U64, false, prev_run, 0, INT64_MAX,	\
	    "previous run"),						\
	TAG_ROW(TAG_DUE, CODEC_I64, true, due, INT64_MIN, INT64_MAX,	\
	    "due"),							\
	TAG_ROW(TAG_QUEUED, CODEC_I64, false, queued, INT64_MIN,	\
	    INT64_MAX, "queued"),					\
	TAG_ROW(TAG_SENT, CODEC_I64, false, sent, INT64_MIN, INT64_MAX,	\
	    "sent"),							\
	TAG_ROW(TAG_BY_UID, CODEC_I64, false, by_uid, -1, UINT32_MAX,	\
	    "by uid")

_Static_assert(offsetof(struct protocol_start, tag) == 0, "tag first");
_Static_assert(offsetof(struct protocol_ended, tag) == 0, "tag first");
_Static_assert(offsetof(struct protocol_list_run, tag) == 0, "tag first");

#define START_ROW(tag, kind, required, field, min, max)			\
	{ tag, kind, required, offsetof(struct protocol_start, field),	\
	    min, max, #field }
static const struct codec_field start_rows[] = {
	TAG_ROWS,
	START_ROW(TAG_NOT_AFTER, CODEC_I64, false, not_after, 0, INT64_MAX),
	START_ROW(TAG_COMMAND, CODEC_STRING, true, command, 0, 0),
	START_ROW(TAG_SHELL, CODEC_STRING, true, shell, 0, 0),
	START_ROW(TAG_OWNER_NAME, CODEC_STRING, false, owner_name, 0, 0),
	START_ROW(TAG_OWNER_UID, CODEC_I64, true, owner_uid, INT64_MIN,
	    INT64_MAX),
	START_ROW(TAG_USER, CODEC_STRING, false, user, 0, 0),
	START_ROW(TAG_GROUP, CODEC_STRING, false, group, 0, 0),
	START_ROW(TAG_WORKDIR, CODEC_STRING, false, workdir, 0, 0),
	START_ROW(TAG_UMASK, CODEC_U32, true, umask, 0, UMASK_MAX),
	START_ROW(TAG_STDIN, CODEC_STRING, false, stdin_text, 0, 0),
	START_ROW(TAG_TIMEOUT, CODEC_I64, false, timeout, 0, INT64_MAX),
	START_ROW(TAG_START_TIMEOUT, CODEC_I64, true, start_timeout, 1,
	    INT64_MAX),
	START_ROW(TAG_STOP_GRACE, CODEC_I64, true, stop_grace, 0, INT64_MAX),
	START_ROW(TAG_STOP_SIGNAL, CODEC_INT, true, stop_signal, 1,
	    SIGNAL_MAX),
	START_ROW(TAG_OUTPUT, CODEC_INT, true, output, PROTOCOL_OUTPUT_KEEP,
	    PROTOCOL_OUTPUT_DISCARD),
	START_ROW(TAG_OUTPUT_LIMIT, CODEC_I64, true, output_limit, 0,
	    INT64_MAX),
};

#define STARTED_ROW(tag, kind, required, field, min, max)		\
	{ tag, kind, required, offsetof(struct protocol_started, field), \
	    min, max, #field }
static const struct codec_field started_rows[] = {
	STARTED_ROW(TAG_RUN_ID, CODEC_U64, true, run_id, 1, INT64_MAX),
	STARTED_ROW(TAG_PID, CODEC_INT, true, pid, 1, INT32_MAX),
	STARTED_ROW(TAG_STARTTIME, CODEC_U64, true, starttime, 0, INT64_MAX),
	STARTED_ROW(TAG_STARTED, CODEC_I64, true, started, INT64_MIN,
	    INT64_MAX),
};

#define ENDED_ROW(tag, kind, required, field, min, max)			\
	{ tag, kind, required, offsetof(struct protocol_ended, field),	\
	    min, max, #field }
static const struct codec_field ended_rows[] = {
	TAG_ROWS,
	ENDED_ROW(TAG_HOW, CODEC_INT, true, how, PROTOCOL_END_EXITED,
	    PROTOCOL_END_LOST),
	ENDED_ROW(TAG_CODE, CODEC_INT, false, code, 0, CODE_MAX),
	ENDED_ROW(TAG_SIGNAL, CODEC_INT, false, signal, 0, SIGNAL_MAX),
	ENDED_ROW(TAG_CORE, CODEC_BOOL, false, core, 0, 1),
	ENDED_ROW(TAG_STOPPER, CODEC_INT, false, stopper,
	    PROTOCOL_STOPPER_NONE, PROTOCOL_STOPPER_SHUTDOWN),
	ENDED_ROW(TAG_STAGE, CODEC_INT, false, stage, PROTOCOL_STAGE_NONE,
	    PROTOCOL_STAGE_EXEC),
	ENDED_ROW(TAG_ERRNUM, CODEC_INT, false, errnum, 0, INT32_MAX),
	ENDED_ROW(TAG_DETAIL, CODEC_STRING, false, detail, 0, 0),
	ENDED_ROW(TAG_PID, CODEC_INT, false, pid, 0, INT32_MAX),
	ENDED_ROW(TAG_STARTTIME, CODEC_U64, false, starttime, 0, INT64_MAX),
	ENDED_ROW(TAG_STARTED, CODEC_I64, false, started, INT64_MIN,
	    INT64_MAX),
	ENDED_ROW(TAG_ENDED, CODEC_I64, true, ended, INT64_MIN, INT64_MAX),
	ENDED_ROW(TAG_DURATION, CODEC_I64, false, duration, 0, INT64_MAX),
	ENDED_ROW(TAG_USER_US, CODEC_I64, false, user_us, 0, INT64_MAX),
	ENDED_ROW(TAG_SYSTEM_US, CODEC_I64, false, system_us, 0, INT64_MAX),
	ENDED_ROW(TAG_MAX_RSS, CODEC_I64, false, max_rss_kb, 0, INT64_MAX),
	ENDED_ROW(TAG_BLOCKS_IN, CODEC_I64, false, blocks_in, 0, INT64_MAX),
	ENDED_ROW(TAG_BLOCKS_OUT, CODEC_I64, false, blocks_out, 0,
	    INT64_MAX),
	ENDED_ROW(TAG_SWITCHES, CODEC_I64, false, switches, 0, INT64_MAX),
	ENDED_ROW(TAG_OUTPUT_BYTES, CODEC_I64, false, output_bytes, 0,
	    INT64_MAX),
	ENDED_ROW(TAG_OUTPUT_DROPPED, CODEC_I64, false, output_dropped, 0,
	    INT64_MAX),
};

#define LIST_ROW(tag, kind, required, field, min, max)			\
	{ tag, kind, required, offsetof(struct protocol_list_run, field), \
	    min, max, #field }
static const struct codec_field list_rows[] = {
	TAG_ROWS,
	LIST_ROW(TAG_STATE, CODEC_INT, true, state, PROTOCOL_RUN_PREPARING,
	    PROTOCOL_RUN_ENDED),
	LIST_ROW(TAG_PID, CODEC_INT, false, pid, 0, INT32_MAX),
	LIST_ROW(TAG_STARTTIME, CODEC_U64, false, starttime, 0, INT64_MAX),
	LIST_ROW(TAG_STARTED, CODEC_I64, false, started, INT64_MIN,
	    INT64_MAX),
};

const char *
protocol_stage_name(enum protocol_stage stage)
{
	static const char *const names[] = {
		[PROTOCOL_STAGE_NONE] = "none",
		[PROTOCOL_STAGE_FORK] = "fork",
		[PROTOCOL_STAGE_USER] = "user",
		[PROTOCOL_STAGE_GROUP] = "group",
		[PROTOCOL_STAGE_LIMITS] = "limits",
		[PROTOCOL_STAGE_OUTPUT] = "output",
		[PROTOCOL_STAGE_WORKDIR] = "workdir",
		[PROTOCOL_STAGE_ENV_FILE] = "env_file",
		[PROTOCOL_STAGE_EXEC] = "exec",
	};

	if ((size_t)stage >= CODEC_COUNT(names))
		return "unknown";
	return names[stage];
}

const char *
run_cause_name(enum run_cause cause)
{
	static const char *const names[] = {
		[RUN_CAUSE_SCHEDULE] = "schedule",
		[RUN_CAUSE_CATCH_UP] = "catch_up",
		[RUN_CAUSE_RETRY] = "retry",
		[RUN_CAUSE_MANUAL] = "manual",
		[RUN_CAUSE_REBOOT] = "reboot",
	};

	if ((size_t)cause >= CODEC_COUNT(names) || names[cause] == NULL)
		return "unknown";
	return names[cause];
}

void
protocol_encode_start(struct strbuf *sb, const struct protocol_start *s)
{
	size_t start = frame_begin(sb, PROTOCOL_START);

	codec_encode(sb, start_rows, CODEC_COUNT(start_rows), s);
	for (size_t i = 0; i < s->env_count; i++)
		frame_put_string(sb, TAG_ENV, s->env[i]);
	frame_end(sb, start);
}

/* The one field that repeats. */
static int
take_env(void *object, const struct frame_field *field, struct error *err)
{
	struct protocol_start *s = object;
	const char *entry, *sign;

	if (field->tag != TAG_ENV)
		return 0;
	if ((entry = frame_field_string(field)) == NULL)
		return error_set(err, "an environment entry is no string");
	sign = strchr(entry, '=');
	if (sign == NULL || sign == entry)
		return error_set(err, "an environment entry is not "
		    "NAME=VALUE");
	if (s->env_count == PROTOCOL_ENV_MAX)
		return error_set(err, "more than %d environment entries",
		    PROTOCOL_ENV_MAX);
	s->env[s->env_count++] = entry;
	return 0;
}

int
protocol_decode_start(const struct frame *frame, struct protocol_start *s,
    struct error *err)
{
	char quoted[ERROR_QUOTE_MAX];

	*s = (struct protocol_start){ .tag.by_uid = -1 };
	if (codec_expect(frame, PROTOCOL_START, err) == -1 ||
	    codec_decode(frame, start_rows, CODEC_COUNT(start_rows), s,
	    take_env, err) == -1)
		return -1;
	if (s->shell[0] != '/')
		return error_set(err, "shell %s is no absolute path",
		    error_quote(quoted, s->shell, strlen(s->shell)));
	return 0;
}

void
protocol_encode_started(struct strbuf *sb,
    const struct protocol_started *started)
{
	size_t start = frame_begin(sb, PROTOCOL_STARTED);

	codec_encode(sb, started_rows, CODEC_COUNT(started_rows), started);
	frame_end(sb, start);
}

int
protocol_decode_started(const struct frame *frame,
    struct protocol_started *started, struct error *err)
{
	*started = (struct protocol_started){ 0 };
	if (codec_expect(frame, PROTOCOL_STARTED, err) == -1)
		return -1;
	return codec_decode(frame, started_rows, CODEC_COUNT(started_rows),
	    started, NULL, err);
}

void
protocol_encode_ended(struct strbuf *sb, const struct protocol_ended *ended)
{
	size_t start = frame_begin(sb, PROTOCOL_ENDED);

	codec_encode(sb, ended_rows, CODEC_COUNT(ended_rows), ended);
	frame_end(sb, start);
}

int
protocol_decode_ended(const struct frame *frame, struct protocol_ended *ended,
    struct error *err)
{
	*ended = (struct protocol_ended){ .tag.by_uid = -1 };
	if (codec_expect(frame, PROTOCOL_ENDED, err) == -1)
		return -1;
	return codec_decode(frame, ended_rows, CODEC_COUNT(ended_rows), ended,
	    NULL, err);
}

void
protocol_encode_list_run(struct strbuf *sb, const struct protocol_list_run *run)
{
	size_t start = frame_begin(sb, PROTOCOL_LIST_RUN);

	codec_encode(sb, list_rows, CODEC_COUNT(list_rows), run);
	frame_end(sb, start);
}

int
protocol_decode_list_run(const struct frame *frame,
    struct protocol_list_run *run, struct error *err)
{
	*run = (struct protocol_list_run){ .tag.by_uid = -1 };
	if (codec_expect(frame, PROTOCOL_LIST_RUN, err) == -1)
		return -1;
	return codec_decode(frame, list_rows, CODEC_COUNT(list_rows), run,
	    NULL, err);
}

uint64_t
protocol_start_run_id(const struct frame *frame)
{
	struct frame_field field;
	size_t offset = 0;
	uint64_t run_id;

	while (frame_next_field(frame, &offset, &field, NULL) == 1)
		if (field.tag == TAG_RUN_ID &&
		    frame_field_u64(&field, &run_id) == 0)
			return run_id;
	return 0;
}

void
protocol_spool_add(struct strbuf *sb, const struct protocol_ended *ended)
{
	size_t start = sb->len;
	uint64_t sum;

	strbuf_add(sb, "\0\0\0\0\0\0\0", CHECKSUM_SIZE);
	protocol_encode_ended(sb, ended);
	sum = hash_bytes(sb->buf + start + CHECKSUM_SIZE,
	    sb->len - start - CHECKSUM_SIZE);
	for (size_t i = 0; i < CHECKSUM_SIZE; i++)
		sb->buf[start + i] = (char)(uint8_t)(sum >> (8 * i));
}

/* One record; how many bytes it takes, or 0 when it is no good. */
static size_t
read_record(const uint8_t *p, size_t len, struct protocol_ended *ended)
{
	struct frame frame;
	uint64_t sum = 0;
	size_t used;

	if (len < CHECKSUM_SIZE)
		return 0;
	for (size_t i = 0; i < CHECKSUM_SIZE; i++)
		sum |= (uint64_t)p[i] << (8 * i);
	if (frame_parse(p + CHECKSUM_SIZE, len - CHECKSUM_SIZE, &frame, &used,
	    NULL) != 1 || hash_bytes(p + CHECKSUM_SIZE, used) != sum ||
	    protocol_decode_ended(&frame, ended, NULL) == -1)
		return 0;
	return CHECKSUM_SIZE + used;
}

size_t
protocol_spool_read(const void *data, size_t len,
    void (*take)(void *, const struct protocol_ended *), void *arg,
    bool *damaged)
{
	const uint8_t *p = data;
	struct protocol_ended ended;
	size_t used, good = 0;

	*damaged = false;
	while (len > 0) {
		if ((used = read_record(p, len, &ended)) == 0) {
			*damaged = true;
			break;
		}
		take(arg, &ended);
		good++;
		p += used;
		len -= used;
	}
	return good;
}
