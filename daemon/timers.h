/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_TIMERS_H
#define CRONCTL_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/timestamp.h"

struct event_base;

/*
 * The two timerfds of the loop (timerfd_create(2)): wall time, absolute and
 * cancelled when the clock is set, always armed so that a step is noticed;
 * and boottime, for what counts real time.  They only wake the loop: which
 * of them fired makes no difference to the turn.
 */
struct timers;

#define TIMERS_NEVER INT64_MAX

struct timers	*timers_new(struct event_base *, struct error *err);
void		 timers_free(struct timers *);
/* When to wake at the latest; us, or TIMERS_NEVER.  Cheap when unchanged. */
int		 timers_arm_wall(struct timers *, int64_t wall_us,
		    struct error *err);
int		 timers_arm_boot(struct timers *, int64_t boot_us,
		    struct error *err);
/* Whether the wall clock was set since the last call. */
bool		 timers_clock_was_set(struct timers *);

#endif
