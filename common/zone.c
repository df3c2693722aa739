/* SPDX-License-Identifier: ISC */
/*
 * Time zones as tables of changes and a rule for what comes after them.
 *
 * A change is found by dividing the table's years into equal buckets and
 * looking at the few entries of one bucket; from the last entry on the rule
 * of the footer gives the answer from the year alone.  Both cost about ten
 * nanoseconds, whatever the instant, and write nothing: a zone is immutable
 * but for its count of references.
 *
 * Where files are and what names are good is zone_load.c's business.
 */
#include "config.h"

#include "common/zone_internal.h"

#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/xmalloc.h"

/* Entries before this (the year 881) are left to the slow search. */
#define INDEX_FIRST	(-(INT64_C(1) << 35))

/* What zone_local_to_utc() takes; beyond it there is nothing to look up. */
#define LOCAL_FIRST	(ZONE_FIRST / 2)
#define LOCAL_LAST	(ZONE_LAST / 2)

struct zone *
zone_new(const char *name)
{
	struct zone *z = xcalloc(1, sizeof(*z));

	z->name = xstrdup(name);
	z->refs = 1;
	return z;
}

struct zone *
zone_utc(void)
{
	struct zone *z = zone_new("UTC");

	z->ntypes = 1;
	z->types = xcalloc(1, sizeof(*z->types));
	memcpy(z->types[0].abbr, "UTC", sizeof("UTC"));
	z->hash = hash_bytes("UTC", 3);
	zone_make_index(z);
	return z;
}

struct zone *
zone_ref(struct zone *z)
{
	z->refs++;
	return z;
}

void
zone_unref(struct zone *z)
{
	if (z == NULL || --z->refs > 0)
		return;
	free(z->name);
	free(z->at);
	free(z->type);
	free(z->types);
	free(z);
}

struct zone *
zone_parse(const char *name, const void *data, size_t len, struct error *err)
{
	struct zone *z = zone_new(name);

	if (zone_tzif_parse(z, data, len, err) == -1) {
		zone_unref(z);
		return NULL;
	}
	z->hash = hash_bytes(data, len);
	zone_make_index(z);
	return z;
}

const char *
zone_name(const struct zone *z)
{
	return z->name;
}

uint64_t
zone_hash(const struct zone *z)
{
	return z->hash;
}

void
zone_make_index(struct zone *z)
{
	size_t i = 0;
	int64_t range;

	while (i < z->n && z->at[i] < INDEX_FIRST)
		i++;
	if (i == z->n)
		return;
	z->base = z->at[i];
	range = z->at[z->n - 1] - z->base;
	while (range >> z->shift >= ZONE_BUCKETS)
		z->shift++;
	z->nbuckets = (size_t)(range >> z->shift) + 1;
	for (size_t b = 0; b <= z->nbuckets; b++) {
		int64_t from = z->base + ((int64_t)b << z->shift);

		while (i < z->n && z->at[i] < from)
			i++;
		z->bucket[b] = (uint16_t)i;
	}
}

/* The number of entries at or before an instant. */
static size_t
count_changes(const struct zone *z, int64_t utc)
{
	size_t lo = 0, hi = z->n;

	if (z->nbuckets > 0 && utc >= z->base) {
		size_t b = (size_t)((utc - z->base) >> z->shift);

		if (b >= z->nbuckets)
			return z->n;
		lo = z->bucket[b];
		hi = z->bucket[b + 1];
	}
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (z->at[mid] <= utc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int64_t
clamp(int64_t utc)
{
	if (utc < ZONE_FIRST)
		return ZONE_FIRST;
	return utc >= ZONE_LAST ? ZONE_LAST - 1 : utc;
}

static const struct zone_type *
type_after(const struct zone *z, size_t changes)
{
	return &z->types[changes == 0 ? 0 : z->type[changes - 1]];
}

void
zone_span_at(const struct zone *z, int64_t utc, struct zone_span *span)
{
	size_t k;

	utc = clamp(utc);
	k = count_changes(z, utc);
	if (k == z->n && z->has_rule) {
		zone_rule_span(&z->rule, utc, span);
		if (k > 0 && span->start < z->at[k - 1])
			span->start = z->at[k - 1];
		return;
	}
	span->start = k == 0 ? ZONE_FIRST : z->at[k - 1];
	span->end = k == z->n ? ZONE_LAST : z->at[k];
	span->offset = type_after(z, k)->offset;
}

int32_t
zone_offset(const struct zone *z, int64_t utc)
{
	struct zone_span span;

	zone_span_at(z, utc, &span);
	return span.offset;
}

int32_t
zone_info(const struct zone *z, int64_t utc, bool *is_dst,
    char abbr[ZONE_ABBR_MAX])
{
	struct zone_span span;
	const struct zone_type *t;
	size_t k;

	utc = clamp(utc);
	k = count_changes(z, utc);
	if (k == z->n && z->has_rule) {
		bool dst = zone_rule_span(&z->rule, utc, &span);

		if (is_dst != NULL)
			*is_dst = dst;
		if (abbr != NULL)
			memcpy(abbr, dst && z->rule.has_dst ?
			    z->rule.dst_abbr : z->rule.std_abbr,
			    ZONE_ABBR_MAX);
		return span.offset;
	}
	t = type_after(z, k);
	if (is_dst != NULL)
		*is_dst = t->is_dst;
	if (abbr != NULL)
		memcpy(abbr, t->abbr, ZONE_ABBR_MAX);
	return t->offset;
}

bool
zone_next_transition(const struct zone *z, int64_t utc,
    struct zone_transition *t)
{
	struct zone_span span, next;

	zone_span_at(z, utc - 1, &span);
	while (span.end < ZONE_LAST) {
		zone_span_at(z, span.end, &next);
		if (next.offset != span.offset) {
			t->at = span.end;
			t->before = span.offset;
			t->after = next.offset;
			return true;
		}
		span = next;
	}
	return false;
}

bool
zone_previous_transition(const struct zone *z, int64_t utc,
    struct zone_transition *t)
{
	struct zone_span span, before;

	zone_span_at(z, utc - 1, &span);
	while (span.start > ZONE_FIRST) {
		zone_span_at(z, span.start - 1, &before);
		if (before.offset != span.offset) {
			t->at = span.start;
			t->before = before.offset;
			t->after = span.offset;
			return true;
		}
		span = before;
	}
	return false;
}

int64_t
zone_local_to_utc(const struct zone *z, int64_t local)
{
	struct zone_span span;
	int64_t gap = 0;
	int32_t before;
	bool found = false;

	if (local < LOCAL_FIRST || local > LOCAL_LAST)
		return local < 0 ? LOCAL_FIRST : LOCAL_LAST;
	/* No instant before this one shows that time. */
	zone_span_at(z, local - ZONE_OFFSET_MOST, &span);
	for (;;) {
		int64_t utc = local - span.offset;

		if (utc < span.end && utc >= span.start)
			return utc;
		if (span.end > local - ZONE_OFFSET_LEAST)
			break;
		before = span.offset;
		utc = span.end;
		zone_span_at(z, utc, &span);
		if (!found && utc + before <= local &&
		    local < utc + span.offset) {
			found = true;
			gap = utc;
		}
	}
	return found ? gap : local - span.offset;
}
