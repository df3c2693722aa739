/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_CLOCK_H
#define CRONCTL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/timestamp.h"

/*
 * The three clocks, read together, and what a change between two readings
 * means (semantics.md 5).  Injectable: tests give a read function of their
 * own and so live at any date and speed.
 */
struct clock_reading {
	struct walltime	wall;		/* UTC; can step */
	struct boottime	boot;		/* counts suspend */
	struct monotime	mono;		/* does not */
};

struct clock {
	/* NULL: the system's clocks */
	void	(*read)(void *arg, struct clock_reading *);
	void	*arg;			/* for read */
};

/*
 * Reads boottime, wall, monotonic, boottime, again until both boottimes
 * differ by less than 1 ms.
 */
void	clock_read(const struct clock *, struct clock_reading *);

#define CLOCK_STEP_MIN_US	INT64_C(10000)		/* 10 ms */
#define CLOCK_SMALL_STEP_US	(INT64_C(3) * 3600 * 1000000)

enum clock_change_kind {
	CLOCK_STEADY,
	CLOCK_FORWARD,		/* stepped forward */
	CLOCK_BACK_SMALL,	/* back, by up to 3 h in the last 24 h */
	CLOCK_BACK_LARGE	/* back by more */
};

struct clock_change {
	enum clock_change_kind	kind;
	int64_t			step_us;	/* of wall - boot; signed; 0
						 * when steady */
	int64_t			suspended_us;	/* growth of boot - mono, 0 if
						 * less than the step limit */
	struct walltime		before;		/* the wall clock at this
						 * moment, had it not stepped */
	struct walltime		suspended_from;	/* when suspended_us: the last
						 * reading, as what fell due
						 * between it and the suspend
						 * would have ended the wait */
};

/*
 * Pure.  back_sum is how far backward steps have gone within the last 24 h
 * of boottime before this one, in us (>= 0).
 */
void	clock_classify(const struct clock_reading *last,
	    const struct clock_reading *now, int64_t back_sum,
	    struct clock_change *);

#endif
