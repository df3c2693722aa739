/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_ZONE_H
#define CRONCTL_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

/*
 * Time zones, read from TZif files by RFC 9636 (versions 1 to 4) and, beyond
 * the last transition, by the footer's TZ string; never through the C
 * library's TZ state.  A zone is immutable.  Reference counted without locks:
 * a zone and all its references belong to one thread at a time.
 */
struct zone;

/* An instant at which the offset changes. */
struct zone_transition {
	int64_t	at;		/* first UTC second of the new offset */
	int32_t	before;		/* offset in force up to at - 1, seconds */
	int32_t	after;		/* offset in force from at on, seconds */
};

/*
 * A stretch of one offset: the instants from start up to, not including, end.
 * It may be a piece of a longer one, where only the abbreviation changes.
 */
struct zone_span {
	int64_t	start;		/* ZONE_FIRST: since ever */
	int64_t	end;		/* ZONE_LAST: for ever */
	int32_t	offset;		/* local time minus UTC, seconds */
};

/* The ends of time, as far as spans reach. */
#define ZONE_FIRST	(-(INT64_C(1) << 60))
#define ZONE_LAST	(INT64_C(1) << 60)

/* Offsets lie between these (RFC 9636 3.2, utoff). */
#define ZONE_OFFSET_LEAST	(-89999)
#define ZONE_OFFSET_MOST	93599

/* Room for any abbreviation and its NUL. */
#define ZONE_ABBR_MAX 16
#define ZONE_NAME_MAX 96

/*
 * Loads a zone by its IANA name from the zone database
 * (/usr/share/zoneinfo).  "UTC" always works.  Refused with a sentence that
 * suggests near names: an empty name, blanks, "..", an absolute path,
 * anything that is not a TZif file.
 */
struct zone	*zone_load(const char *name, struct error *err);
/*
 * The host's zone: name from TZ in env_tz if that is not NULL or empty, else
 * from the link /etc/localtime (its target below zoneinfo; "localtime" when
 * it is a plain file), else UTC.
 */
struct zone	*zone_load_local(const char *env_tz, struct error *err);
/* A zone from the bytes of a TZif file; name is copied. */
struct zone	*zone_parse(const char *name, const void *data, size_t len,
		    struct error *err);
/* A new zone object for UTC; never fails. */
struct zone	*zone_utc(void);

struct zone	*zone_ref(struct zone *);
void		 zone_unref(struct zone *);	/* accepts NULL */

const char	*zone_name(const struct zone *);
/* Of the file's bytes: tells whether two objects mean the same rules. */
uint64_t	 zone_hash(const struct zone *);

/*
 * Offset from UTC in seconds at an instant.  abbr may be NULL, as may
 * is_dst.
 */
int32_t		 zone_offset(const struct zone *, int64_t utc);
int32_t		 zone_info(const struct zone *, int64_t utc, bool *is_dst,
		    char abbr[ZONE_ABBR_MAX]);
/* The stretch of one offset that holds an instant.  No allocation. */
void		 zone_span_at(const struct zone *, int64_t utc,
		    struct zone_span *);
/*
 * The first change of offset at or after an instant, or strictly before it.
 * Entries of the file that change only the abbreviation are no transitions.
 * False when there is none.
 */
bool		 zone_next_transition(const struct zone *, int64_t utc,
		    struct zone_transition *);
bool		 zone_previous_transition(const struct zone *, int64_t utc,
		    struct zone_transition *);
/*
 * A local wall-clock second as UTC.  Shown twice: the first.  Inside a gap:
 * the first instant after it.
 */
int64_t		 zone_local_to_utc(const struct zone *, int64_t local);

/*
 * A few zones by name, so that a thousand schedules in one zone read its
 * file once.  Belongs to one thread.
 */
struct zone_cache;

struct zone_cache *zone_cache_new(void);
void		 zone_cache_free(struct zone_cache *);
/* Borrowed from the cache; take zone_ref() to keep it. */
struct zone	*zone_cache_get(struct zone_cache *, const char *name,
		    struct error *err);
/* Those it holds, in the order they were asked for; NULL beyond the last. */
const struct zone *zone_cache_at(const struct zone_cache *, size_t i);

#endif
