/* SPDX-License-Identifier: ISC */
/*
 * The reader of TZif files, versions 1 to 4 (RFC 9636).  Nothing in a file
 * is believed: every count is checked against the bytes that are there
 * before anything is read or allocated, and a file that breaks a rule is
 * refused with the rule it breaks.
 *
 * Of a file of version 2 and up the 32-bit block is stepped over.  Tables of
 * leap seconds are refused: their times are not POSIX seconds.  The flags
 * standard/wall and UT/local matter only to readers that make up rules, and
 * are checked and left.
 */
#include "config.h"

#include "common/zone_internal.h"

#include <inttypes.h>
#include <string.h>

#include "common/xmalloc.h"

#define HEADER_SIZE	44
#define TYPE_SIZE	6
#define CHANGES_MAX	20000	/* real files have up to about 250 */
#define TYPES_MAX	256	/* indexes have one byte */
#define ABBRS_MAX	4096	/* bytes of abbreviations */
#define TIME_LIMIT	(INT64_C(1) << 59)	/* RFC 9636 3.2 */

/* The counts of a header, in the file's order. */
struct header {
	uint8_t		version;	/* 0, or '2' and up */
	uint32_t	isutcnt;	/* UT/local flags */
	uint32_t	isstdcnt;	/* standard/wall flags */
	uint32_t	leapcnt;	/* leap seconds */
	uint32_t	timecnt;	/* changes */
	uint32_t	typecnt;	/* local time types */
	uint32_t	charcnt;	/* bytes of abbreviations */
};

/* What is left of the file. */
struct input {
	const uint8_t	*p;	/* next byte */
	size_t		 left;	/* bytes from there on */
};

static uint32_t
load_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	    (uint32_t)p[2] << 8 | p[3];
}

static int64_t
load_time(const uint8_t *p, size_t size)
{
	if (size == 4)
		return (int32_t)load_be32(p);
	return (int64_t)((uint64_t)load_be32(p) << 32 | load_be32(p + 4));
}

static const uint8_t *
take(struct input *in, size_t size)
{
	const uint8_t *p = in->p;

	if (size > in->left)
		return NULL;
	in->p += size;
	in->left -= size;
	return p;
}

static int
take_header(struct input *in, struct header *h, struct error *err)
{
	const uint8_t *p = take(in, HEADER_SIZE);

	if (p == NULL)
		return error_set(err, "it ends within its header");
	if (memcmp(p, "TZif", 4) != 0)
		return error_set(err, "it is not a time zone file (TZif)");
	h->version = p[4];
	if (h->version != 0 && (h->version < '2' || h->version > '9'))
		return error_set(err, "its version byte 0x%02x is unknown",
		    (unsigned)h->version);
	h->isutcnt = load_be32(p + 20);
	h->isstdcnt = load_be32(p + 24);
	h->leapcnt = load_be32(p + 28);
	h->timecnt = load_be32(p + 32);
	h->typecnt = load_be32(p + 36);
	h->charcnt = load_be32(p + 40);
	return 0;
}

static int
check_header(const struct header *h, struct error *err)
{
	if (h->leapcnt != 0)
		return error_set(err, "it counts leap seconds; take the zone "
		    "of the same name without \"right/\"");
	if (h->typecnt == 0 || h->typecnt > TYPES_MAX)
		return error_set(err, "it has %" PRIu32 " time types, not 1 "
		    "to %d", h->typecnt, TYPES_MAX);
	if (h->timecnt > CHANGES_MAX)
		return error_set(err, "it has %" PRIu32 " changes, more than "
		    "%d", h->timecnt, CHANGES_MAX);
	if (h->charcnt == 0 || h->charcnt > ABBRS_MAX)
		return error_set(err, "it has %" PRIu32 " bytes of "
		    "abbreviations, not 1 to %d", h->charcnt, ABBRS_MAX);
	if (h->isutcnt != 0 && h->isutcnt != h->typecnt)
		return error_set(err, "its number of UT flags is not its "
		    "number of time types");
	if (h->isstdcnt != 0 && h->isstdcnt != h->typecnt)
		return error_set(err, "its number of standard time flags is "
		    "not its number of time types");
	return 0;
}

/* The 32-bit block in front of the one that counts. */
static int
skip_block(struct input *in, const struct header *h, struct error *err)
{
	uint64_t size = (uint64_t)h->timecnt * 5 +
	    (uint64_t)h->typecnt * TYPE_SIZE + h->charcnt +
	    (uint64_t)h->leapcnt * 8 + h->isstdcnt + h->isutcnt;

	if (size > in->left || take(in, (size_t)size) == NULL)
		return error_set(err, "it ends within its first block");
	return 0;
}

static int
read_changes(struct zone *z, const uint8_t *times, const uint8_t *indexes,
    size_t time_size, const struct header *h, struct error *err)
{
	z->n = h->timecnt;
	z->at = xcalloc(z->n + 1, sizeof(*z->at));
	z->type = xmemdup(indexes, z->n + 1);
	for (size_t i = 0; i < z->n; i++) {
		z->at[i] = load_time(times + i * time_size, time_size);
		if (z->at[i] < -TIME_LIMIT || z->at[i] > TIME_LIMIT)
			return error_set(err, "change %zu is at %" PRId64
			    ", out of all bounds", i + 1, z->at[i]);
		if (i > 0 && z->at[i] <= z->at[i - 1])
			return error_set(err, "change %zu is not later than "
			    "the one before", i + 1);
		if (z->type[i] >= h->typecnt)
			return error_set(err, "change %zu is to time type "
			    "%u of %" PRIu32, i + 1, (unsigned)z->type[i],
			    h->typecnt);
	}
	return 0;
}

static int
read_abbr(char out[ZONE_ABBR_MAX], const char *abbr, size_t room,
    struct error *err)
{
	size_t len = strnlen(abbr, room);

	if (len == room)
		return error_set(err, "an abbreviation has no end");
	for (size_t i = 0; i < len; i++)
		if (abbr[i] <= ' ' || abbr[i] > '~')
			return error_set(err, "an abbreviation holds a byte "
			    "that is no letter, digit or sign");
	if (len >= ZONE_ABBR_MAX)
		len = ZONE_ABBR_MAX - 1;
	memcpy(out, abbr, len);
	out[len] = '\0';
	return 0;
}

static int
read_types(struct zone *z, const uint8_t *types, const uint8_t *abbrs,
    const struct header *h, struct error *err)
{
	z->ntypes = h->typecnt;
	z->types = xcalloc(z->ntypes, sizeof(*z->types));
	for (size_t i = 0; i < z->ntypes; i++) {
		const uint8_t *p = types + i * TYPE_SIZE;
		struct zone_type *t = &z->types[i];

		t->offset = (int32_t)load_be32(p);
		if (t->offset < ZONE_OFFSET_LEAST ||
		    t->offset > ZONE_OFFSET_MOST)
			return error_set(err, "time type %zu is %" PRId32
			    " s from UTC, out of all bounds", i, t->offset);
		if (p[4] > 1)
			return error_set(err, "time type %zu has %u as its "
			    "daylight saving flag", i, (unsigned)p[4]);
		t->is_dst = p[4] == 1;
		if (p[5] >= h->charcnt)
			return error_set(err, "the abbreviation of time type "
			    "%zu is not in the file", i);
		if (read_abbr(t->abbr, (const char *)abbrs + p[5],
		    h->charcnt - p[5], err) == -1)
			return -1;
	}
	return 0;
}

static int
read_flags(const uint8_t *flags, size_t n, struct error *err)
{
	for (size_t i = 0; i < n; i++)
		if (flags[i] > 1)
			return error_set(err, "a flag of a time type is %u, "
			    "not 0 or 1", (unsigned)flags[i]);
	return 0;
}

static int
read_block(struct zone *z, struct input *in, const struct header *h,
    size_t time_size, struct error *err)
{
	const uint8_t *times, *indexes, *types, *abbrs, *flags;
	size_t nflags = (size_t)h->isstdcnt + h->isutcnt;

	if ((times = take(in, h->timecnt * time_size)) == NULL ||
	    (indexes = take(in, h->timecnt)) == NULL ||
	    (types = take(in, (size_t)h->typecnt * TYPE_SIZE)) == NULL ||
	    (abbrs = take(in, h->charcnt)) == NULL ||
	    (flags = take(in, nflags)) == NULL)
		return error_set(err, "it ends within its table");
	if (read_changes(z, times, indexes, time_size, h, err) == -1 ||
	    read_types(z, types, abbrs, h, err) == -1)
		return -1;
	return read_flags(flags, nflags, err);
}

static int
read_footer(struct zone *z, struct input *in, struct error *err)
{
	const uint8_t *p = take(in, 1), *end;
	size_t len;

	if (p == NULL || *p != '\n')
		return error_set(err, "it has no footer");
	end = memchr(in->p, '\n', in->left);
	if (end == NULL)
		return error_set(err, "its footer has no end");
	len = (size_t)(end - in->p);
	if (len == 0)
		return 0;
	z->has_rule = true;
	return zone_rule_parse(&z->rule, (const char *)in->p, len, err);
}

int
zone_tzif_parse(struct zone *z, const uint8_t *data, size_t len,
    struct error *err)
{
	struct input in = { data, len };
	struct header h;
	size_t time_size = 4;

	if (take_header(&in, &h, err) == -1)
		return -1;
	if (h.version != 0) {
		time_size = 8;
		if (skip_block(&in, &h, err) == -1 ||
		    take_header(&in, &h, err) == -1)
			return -1;
	}
	if (check_header(&h, err) == -1 ||
	    read_block(z, &in, &h, time_size, err) == -1)
		return -1;
	return time_size == 8 ? read_footer(z, &in, err) : 0;
}
