/* SPDX-License-Identifier: ISC */
/*
 * Any text, as an expression and as a schedule: refused with a reason, or
 * asked for its fires.  An answer is later than the start, the same from
 * anywhere between, found again by going back, and found fast.
 *
 * Input: a byte of choices (zone, names, rules), eight bytes of start, text.
 */
#include "config.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "common/cronexpr.h"
#include "common/schedule.h"
#include "common/timestamp.h"

#define HEAD		9	/* bytes before the text */
#define BUDGET_MS	10	/* of processor time for one answer */

int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const zone_names[] = {
	"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe",
	"Pacific/Apia", "Pacific/Kwajalein", "Africa/Casablanca",
	"America/Sao_Paulo"
};

#define NZONES	(sizeof(zone_names) / sizeof(zone_names[0]))

static void
check_budget(clock_t began)
{
	assert((clock() - began) * 1000 / CLOCKS_PER_SEC < BUDGET_MS);
}

static void
check_expr(const struct cronexpr *x, const struct zone *z,
    struct cronexpr_rules rules, int64_t start)
{
	int64_t next, again, back;
	clock_t began = clock();

	if (cronexpr_next(x, z, rules, start, &next)) {
		check_budget(began);
		assert(next > start);
		assert(next >= TIMESTAMP_FIRST && next <= TIMESTAMP_LAST);
		assert(cronexpr_next(x, z, rules, next - 1, &again));
		assert(again == next);
		assert(cronexpr_previous(x, z, rules, next + 1, &back));
		assert(back == next);
	} else {
		check_budget(began);
	}
	began = clock();
	if (cronexpr_previous(x, z, rules, start, &back)) {
		check_budget(began);
		assert(back < start);
		assert(cronexpr_next(x, z, rules, back - 1, &again));
		assert(again == back);
		assert(!cronexpr_next(x, z, rules, back, &again) ||
		    again >= start);
	} else {
		check_budget(began);
	}
}

static void
drop(void *arg, const char *sentence)
{
	(void)arg;
	assert(sentence[0] != '\0');
}

static void
check_schedule(const char *text, size_t len,
    const struct schedule_options *options, int64_t start)
{
	struct error err = { "" };
	struct schedule *s = schedule_parse(text, len, options, &err);
	int64_t t;

	if (s == NULL) {
		assert(err.text[0] != '\0');
		return;
	}
	if (schedule_next(s, start, &t)) {
		assert(t > start);
		schedule_rule_at(s, t);
	}
	assert(!schedule_previous(s, start, &t) || t < start);
	schedule_warnings(s, options->now, drop, NULL);
	schedule_unref(s);
}

/* An unknown zone costs a walk over the zone database; not every time. */
static bool
is_cheap(const char *text, size_t len)
{
	const char *tz = memmem(text, len, "TZ=", 3);

	return tz == NULL || memmem(text, len, "TZ=UTC ", 7) == tz;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct cronexpr_names names = { "example", "backup" };
	static struct zone_cache *zones;
	struct schedule_options o = { .allow_in = true };
	struct error err = { "" };
	struct cronexpr *x;
	const char *text = (const char *)data + HEAD;
	int64_t start;

	if (size < HEAD)
		return 0;
	memcpy(&start, data + 1, sizeof(start));
	if (zones == NULL)
		zones = zone_cache_new();
	o.zone = zone_cache_get(zones, zone_names[data[0] % NZONES], &err);
	assert(o.zone != NULL);
	o.names = data[0] & 0x80 ? &names : NULL;
	o.rules.gap = data[0] & 0x40 ? DST_GAP_SKIP : DST_GAP_RUN;
	o.rules.fold = (data[0] >> 4 & 3) % 3;
	/* Most starts in the years of the vectors, some anywhere. */
	if (data[0] & 0x08)
		start = (int64_t)((uint64_t)start % 7258118400U);
	o.now = start % TIMESTAMP_LAST;
	x = cronexpr_parse(text, size - HEAD, o.names, &err);
	if (x != NULL)
		check_expr(x, o.zone, o.rules, start);
	else
		assert(err.text[0] != '\0');
	cronexpr_free(x);
	if (is_cheap(text, size - HEAD) || data[1] == 0)
		check_schedule(text, size - HEAD, &o, start);
	return 0;
}
