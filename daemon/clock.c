/* SPDX-License-Identifier: ISC */
/*
 * Three clocks, read as one.  Wall time says when a job is due; boottime, how
 * long something really took, suspend included; monotonic time, how long the
 * machine was awake.  A step is a change of wall - boot, a suspend a change of
 * boot - mono, between two readings.  A clock daemon that slews moves wall and
 * boottime alike (adjtimex(2)), so that is no step.
 *
 * Whether backward steps are small is judged on their sum within 24 h; the
 * sum is kept by the caller, so that this module has no state.
 */
#include "config.h"

#include "daemon/clock.h"

#include <assert.h>
#include <stddef.h>

#define READ_SPREAD_US	INT64_C(1000)	/* between both boottimes */
#define READ_TRIES	100		/* a machine that is never as quick */

static void
read_system(struct clock_reading *out)
{
	struct boottime after;

	for (int tries = 0; tries < READ_TRIES; tries++) {
		out->boot = boottime_now();
		out->wall = walltime_now();
		out->mono = monotime_now();
		after = boottime_now();
		if (after.us - out->boot.us < READ_SPREAD_US)
			return;
	}
}

void
clock_read(const struct clock *clock, struct clock_reading *out)
{
	if (clock->read != NULL)
		clock->read(clock->arg, out);
	else
		read_system(out);
}

/* How far wall - boot moved; 0 within the limit. */
static int64_t
step_between(const struct clock_reading *last, const struct clock_reading *now)
{
	int64_t step = (now->wall.us - last->wall.us) -
	    (now->boot.us - last->boot.us);

	return step > CLOCK_STEP_MIN_US || step < -CLOCK_STEP_MIN_US ? step : 0;
}

static int64_t
suspend_between(const struct clock_reading *last,
    const struct clock_reading *now)
{
	int64_t grown = (now->boot.us - last->boot.us) -
	    (now->mono.us - last->mono.us);

	return grown > CLOCK_STEP_MIN_US ? grown : 0;
}

void
clock_classify(const struct clock_reading *last,
    const struct clock_reading *now, int64_t back_sum,
    struct clock_change *out)
{
	int64_t step = step_between(last, now);

	assert(back_sum >= 0);
	*out = (struct clock_change){
		.step_us = step,
		.suspended_us = suspend_between(last, now),
		.before = { now->wall.us - step },
		.suspended_from = last->wall,
	};
	if (step == 0)
		out->kind = CLOCK_STEADY;
	else if (step > 0)
		out->kind = CLOCK_FORWARD;
	else if (back_sum <= CLOCK_SMALL_STEP_US &&
	    -step <= CLOCK_SMALL_STEP_US - back_sum)
		out->kind = CLOCK_BACK_SMALL;
	else
		out->kind = CLOCK_BACK_LARGE;
}
