/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_PROTOCOL_CODEC_H
#define CRONCTL_PROTOCOL_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/frame.h"
#include "common/strbuf.h"

/*
 * How a struct lies in a frame's body, as a table: one row a field, used for
 * both directions.  Only protocol*.c include this.
 *
 * Tags are never used again for something else; a new field takes the next
 * free number.  An old reader skips it, a new reader must do without it
 * unless its row says required.
 */
enum protocol_tag {
	TAG_RUN_ID = 1, TAG_JOB_ID, TAG_JOB_NAME, TAG_OCCURRENCE, TAG_ERA,
	TAG_GENERATION, TAG_CAUSE, TAG_ATTEMPT, TAG_PREV_RUN, TAG_DUE,
	TAG_QUEUED, TAG_SENT, TAG_BY_UID,

	TAG_NOT_AFTER = 20, TAG_COMMAND, TAG_SHELL, TAG_OWNER_NAME,
	TAG_OWNER_UID, TAG_USER, TAG_GROUP, TAG_WORKDIR, TAG_UMASK, TAG_ENV,
	TAG_STDIN, TAG_TIMEOUT, TAG_START_TIMEOUT, TAG_STOP_GRACE,
	TAG_STOP_SIGNAL, TAG_OUTPUT, TAG_OUTPUT_LIMIT,

	TAG_PID = 50, TAG_STARTTIME, TAG_STARTED, TAG_STATE,

	TAG_HOW = 60, TAG_CODE, TAG_SIGNAL, TAG_CORE, TAG_STOPPER, TAG_STAGE,
	TAG_ERRNUM, TAG_DETAIL, TAG_ENDED, TAG_DURATION, TAG_USER_US,
	TAG_SYSTEM_US, TAG_MAX_RSS, TAG_BLOCKS_IN, TAG_BLOCKS_OUT,
	TAG_SWITCHES, TAG_OUTPUT_BYTES, TAG_OUTPUT_DROPPED,

	TAG_INSTANCE = 90, TAG_EPOCH, TAG_VERSION, TAG_NUMBER, TAG_BOOT_ID,
	TAG_REASON, TAG_A, TAG_B
};

enum codec_kind {
	CODEC_U64,		/* uint64_t */
	CODEC_I64,		/* int64_t */
	CODEC_U32,		/* uint32_t */
	CODEC_INT,		/* int, pid_t and enums */
	CODEC_BOOL,		/* bool */
	CODEC_STRING		/* const char *; NULL is left out */
};

struct codec_field {
	uint16_t	 tag;		/* enum protocol_tag */
	uint8_t		 kind;		/* enum codec_kind */
	bool		 required;	/* decoding fails without it */
	size_t		 offset;	/* in the struct */
	int64_t		 min;		/* of a number */
	int64_t		 max;		/* of a number; U64: INT64_MAX is */
					/* no limit */
	const char	*name;		/* for messages */
};

#define CODEC_COUNT(table)	(sizeof (table) / sizeof *(table))

void	codec_encode(struct strbuf *, const struct codec_field *, size_t n,
	    const void *object);
/*
 * Fills the object from the frame; what the frame doesn't have keeps its
 * value.  A field that is in no row goes to other (may be NULL), which
 * returns -1 to fail.
 */
int	codec_decode(const struct frame *, const struct codec_field *,
	    size_t n, void *object,
	    int (*other)(void *object, const struct frame_field *,
	    struct error *), struct error *);
/* Fails unless the frame has that type. */
int	codec_expect(const struct frame *, uint8_t type, struct error *);

#endif
