/* SPDX-License-Identifier: ISC */
/*
 * Any bytes, as a zone file: refused with a reason, or a zone that answers
 * for every instant and whose answers fit together.
 */
#include "config.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/timestamp.h"
#include "common/zone.h"

#define CHANGES_MAX	50	/* looked at each way */

int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_at(const struct zone *z, int64_t t)
{
	char abbr[ZONE_ABBR_MAX];
	struct zone_span span;
	bool dst;

	zone_span_at(z, t, &span);
	assert(span.start <= t && t < span.end);
	assert(zone_info(z, t, &dst, abbr) == span.offset);
	assert(span.offset >= ZONE_OFFSET_LEAST &&
	    span.offset <= ZONE_OFFSET_MOST);
	assert(zone_offset(z, zone_local_to_utc(z, t + span.offset)) ==
	    span.offset || zone_local_to_utc(z, t + span.offset) < t);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int64_t instants[] = {
		TIMESTAMP_FIRST, -1, 0, 1000, 1000000000, 4102444800,
		TIMESTAMP_LAST
	};
	struct error err = { "" };
	struct zone *z = zone_parse("Fuzz", data, size, &err);
	struct zone_transition t = { .at = 0 };

	if (z == NULL) {
		assert(err.text[0] != '\0');
		return 0;
	}
	for (size_t i = 0; i < sizeof(instants) / sizeof(instants[0]); i++)
		check_at(z, instants[i]);
	for (int i = 0; i < CHANGES_MAX &&
	    zone_next_transition(z, t.at + 1, &t); i++) {
		assert(t.before != t.after);
		assert(zone_offset(z, t.at) == t.after);
		assert(zone_offset(z, t.at - 1) == t.before);
	}
	for (int i = 0; i < CHANGES_MAX &&
	    zone_previous_transition(z, t.at, &t); i++)
		assert(t.before != t.after);
	zone_unref(z);
	return 0;
}
