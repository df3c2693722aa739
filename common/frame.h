/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_FRAME_H
#define CRONCTL_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/strbuf.h"

/*
 * The envelope of what daemon and workers say to each other:
 *
 *	u32 length of all that follows the length (LE, at most FRAME_MAX)
 *	u8 type, u8 version, u16 zero
 *	body: fields of u16 tag, u32 length, value (LE)
 *
 * A reader skips tags it doesn't know.  A string's value carries its NUL, so
 * that a decoded frame can be used in place; numbers are 8 bytes (LE).
 */
#define FRAME_MAX	(256 * 1024)
#define FRAME_HEADER	8	/* length, type, version, zero */
#define FRAME_VERSION	1

struct frame {
	uint8_t		 type;		/* enum protocol_type */
	uint8_t		 version;	/* of the sender's protocol */
	const uint8_t	*body;		/* borrowed from the input */
	size_t		 len;		/* of the body */
};

struct frame_field {
	uint16_t	 tag;		/* enum protocol_tag */
	const uint8_t	*data;		/* borrowed from the frame */
	size_t		 len;		/* of the data */
};

/* Appends a frame: begin gives the offset that end wants back. */
size_t	frame_begin(struct strbuf *, uint8_t type);
void	frame_put_u64(struct strbuf *, uint16_t tag, uint64_t);
void	frame_put_i64(struct strbuf *, uint16_t tag, int64_t);
/* Nothing is written for NULL. */
void	frame_put_string(struct strbuf *, uint16_t tag, const char *);
void	frame_put_bytes(struct strbuf *, uint16_t tag, const void *, size_t);
void	frame_end(struct strbuf *, size_t start);

/*
 * Looks for one frame at the beginning of buf.  1: found, *used bytes of
 * input belong to it.  0: not whole yet.  -1: this is no frame; the
 * connection can't be read on.
 */
int	frame_parse(const void *buf, size_t len, struct frame *out,
	    size_t *used, struct error *err);

/*
 * Steps through a body: *offset starts at 0.  1: a field, 0: end, -1: the
 * body is damaged.
 */
int	frame_next_field(const struct frame *, size_t *offset,
	    struct frame_field *, struct error *err);
/* Value of a field; -1 when it has not that form. */
int	frame_field_u64(const struct frame_field *, uint64_t *);
int	frame_field_i64(const struct frame_field *, int64_t *);
/* Borrowed from the frame; NULL when it is no string. */
const char *frame_field_string(const struct frame_field *);

#endif
