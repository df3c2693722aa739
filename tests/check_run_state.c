/* SPDX-License-Identifier: ISC */
/*
 * Every cell of {phase x event} (HACKING.md, "Worker protocol"), and every
 * end's state (spec section 5).
 */
#include "config.h"

#include <check.h>

#include "daemon/run_state.h"
#include "tests/check_main.h"

#define ROWS(t) (sizeof (t) / sizeof (t)[0])

static const struct {
	enum run_phase	phase;
	enum run_event	event;
	enum run_action	want;
} cells[] = {
	{ RUN_PHASE_UNSETTLED, RUN_EVENT_LISTED, RUN_CONFIRM },
	{ RUN_PHASE_UNSETTLED, RUN_EVENT_STARTED, RUN_CONFIRM },
	{ RUN_PHASE_UNSETTLED, RUN_EVENT_ENDED, RUN_FINISH },
	{ RUN_PHASE_UNSETTLED, RUN_EVENT_TOO_LATE, RUN_REFUSE },
	{ RUN_PHASE_UNSETTLED, RUN_EVENT_REFUSED, RUN_REJUDGE },
	{ RUN_PHASE_UNSETTLED, RUN_EVENT_UNLISTED, RUN_REJUDGE },
	{ RUN_PHASE_UNSETTLED, RUN_EVENT_DEAD, RUN_ORPHAN },
	{ RUN_PHASE_UNSETTLED, RUN_EVENT_GONE, RUN_IGNORE },
	{ RUN_PHASE_UNSETTLED, RUN_EVENT_COMMITTED, RUN_IGNORE },
	{ RUN_PHASE_SENT, RUN_EVENT_LISTED, RUN_CONFIRM },
	{ RUN_PHASE_SENT, RUN_EVENT_STARTED, RUN_CONFIRM },
	{ RUN_PHASE_SENT, RUN_EVENT_ENDED, RUN_FINISH },
	{ RUN_PHASE_SENT, RUN_EVENT_TOO_LATE, RUN_REFUSE },
	{ RUN_PHASE_SENT, RUN_EVENT_REFUSED, RUN_RESEND },
	{ RUN_PHASE_SENT, RUN_EVENT_UNLISTED, RUN_REJUDGE },
	{ RUN_PHASE_SENT, RUN_EVENT_DEAD, RUN_ORPHAN },
	{ RUN_PHASE_SENT, RUN_EVENT_GONE, RUN_IGNORE },
	{ RUN_PHASE_SENT, RUN_EVENT_COMMITTED, RUN_IGNORE },
	{ RUN_PHASE_CONFIRMED, RUN_EVENT_LISTED, RUN_CONFIRM },
	{ RUN_PHASE_CONFIRMED, RUN_EVENT_STARTED, RUN_CONFIRM },
	{ RUN_PHASE_CONFIRMED, RUN_EVENT_ENDED, RUN_FINISH },
	{ RUN_PHASE_CONFIRMED, RUN_EVENT_TOO_LATE, RUN_IGNORE },
	{ RUN_PHASE_CONFIRMED, RUN_EVENT_REFUSED, RUN_IGNORE },
	{ RUN_PHASE_CONFIRMED, RUN_EVENT_UNLISTED, RUN_LOSE },
	{ RUN_PHASE_CONFIRMED, RUN_EVENT_DEAD, RUN_ORPHAN },
	{ RUN_PHASE_CONFIRMED, RUN_EVENT_GONE, RUN_IGNORE },
	{ RUN_PHASE_CONFIRMED, RUN_EVENT_COMMITTED, RUN_IGNORE },
	{ RUN_PHASE_ORPHANED, RUN_EVENT_LISTED, RUN_IGNORE },
	{ RUN_PHASE_ORPHANED, RUN_EVENT_STARTED, RUN_IGNORE },
	{ RUN_PHASE_ORPHANED, RUN_EVENT_ENDED, RUN_FINISH },
	{ RUN_PHASE_ORPHANED, RUN_EVENT_TOO_LATE, RUN_IGNORE },
	{ RUN_PHASE_ORPHANED, RUN_EVENT_REFUSED, RUN_IGNORE },
	{ RUN_PHASE_ORPHANED, RUN_EVENT_UNLISTED, RUN_IGNORE },
	{ RUN_PHASE_ORPHANED, RUN_EVENT_DEAD, RUN_IGNORE },
	{ RUN_PHASE_ORPHANED, RUN_EVENT_GONE, RUN_FINISH },
	{ RUN_PHASE_ORPHANED, RUN_EVENT_COMMITTED, RUN_IGNORE },
	{ RUN_PHASE_ENDED, RUN_EVENT_LISTED, RUN_IGNORE },
	{ RUN_PHASE_ENDED, RUN_EVENT_STARTED, RUN_IGNORE },
	{ RUN_PHASE_ENDED, RUN_EVENT_ENDED, RUN_IGNORE },
	{ RUN_PHASE_ENDED, RUN_EVENT_TOO_LATE, RUN_IGNORE },
	{ RUN_PHASE_ENDED, RUN_EVENT_REFUSED, RUN_IGNORE },
	{ RUN_PHASE_ENDED, RUN_EVENT_UNLISTED, RUN_IGNORE },
	{ RUN_PHASE_ENDED, RUN_EVENT_DEAD, RUN_IGNORE },
	{ RUN_PHASE_ENDED, RUN_EVENT_GONE, RUN_IGNORE },
	{ RUN_PHASE_ENDED, RUN_EVENT_COMMITTED, RUN_FORGET },
};

START_TEST(cell_has_its_action)
{
	const enum run_action got = run_state_action(cells[_i].phase,
	    cells[_i].event);

	ck_assert_msg(got == cells[_i].want, "%s, %s: %s, want %s",
	    run_phase_name(cells[_i].phase),
	    run_event_name(cells[_i].event), run_action_name(got),
	    run_action_name(cells[_i].want));
}
END_TEST

START_TEST(every_cell_is_in_this_test)
{
	bool seen[RUN_PHASES][RUN_EVENTS] = { { false } };

	for (size_t i = 0; i < ROWS(cells); i++)
		seen[cells[i].phase][cells[i].event] = true;
	for (int p = 0; p < RUN_PHASES; p++)
		for (int e = 0; e < RUN_EVENTS; e++)
			ck_assert_msg(seen[p][e], "%s, %s is missing",
			    run_phase_name((enum run_phase)p),
			    run_event_name((enum run_event)e));
}
END_TEST

static const struct {
	struct protocol_ended	end;
	enum run_state		want;
} ends[] = {
	{ { .how = PROTOCOL_END_EXITED, .code = 0 }, RUN_SUCCEEDED },
	{ { .how = PROTOCOL_END_EXITED, .code = 1 }, RUN_FAILED },
	{ { .how = PROTOCOL_END_EXITED, .code = 139 }, RUN_FAILED },
	{ { .how = PROTOCOL_END_SIGNALED, .signal = 11 }, RUN_SIGNALED },
	{ { .how = PROTOCOL_END_SIGNALED, .signal = 15,
	    .stopper = PROTOCOL_STOPPER_TIMEOUT }, RUN_TIMED_OUT },
	{ { .how = PROTOCOL_END_EXITED, .code = 0,
	    .stopper = PROTOCOL_STOPPER_TIMEOUT }, RUN_TIMED_OUT },
	{ { .how = PROTOCOL_END_SIGNALED, .signal = 9,
	    .stopper = PROTOCOL_STOPPER_DAEMON }, RUN_KILLED },
	{ { .how = PROTOCOL_END_SIGNALED, .signal = 15,
	    .stopper = PROTOCOL_STOPPER_SHUTDOWN }, RUN_KILLED },
	{ { .how = PROTOCOL_END_START_FAILED,
	    .stopper = PROTOCOL_STOPPER_DAEMON }, RUN_START_FAILED },
	{ { .how = PROTOCOL_END_LOST }, RUN_LOST },
};

START_TEST(end_has_its_state)
{
	ck_assert_str_eq(run_state_name(run_state_of_end(&ends[_i].end)),
	    run_state_name(ends[_i].want));
}
END_TEST

static Suite *
run_state_suite(void)
{
	Suite *s = suite_create("run_state");
	TCase *tc = tcase_create("run_state");

	tcase_add_loop_test(tc, cell_has_its_action, 0, (int)ROWS(cells));
	tcase_add_test(tc, every_cell_is_in_this_test);
	tcase_add_loop_test(tc, end_has_its_state, 0, (int)ROWS(ends));
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return check_main(run_state_suite());
}
