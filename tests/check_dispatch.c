/* SPDX-License-Identifier: ISC */
/* Every cell of {run state x frame}, written out from HACKING.md. */
#include "config.h"

#include <check.h>

#include "tests/check_main.h"
#include "worker/dispatch.h"

Suite	*dispatch_suite(void);

static const struct {
	enum dispatch_state state;	/* of the run */
	enum dispatch_frame frame;	/* that comes */
	enum dispatch_action want;	/* what is done */
} cells[] = {
	{ DISPATCH_NONE, DISPATCH_START, DISPATCH_BEGIN },
	{ DISPATCH_NONE, DISPATCH_STOP, DISPATCH_TELL_UNKNOWN },
	{ DISPATCH_NONE, DISPATCH_SIGNAL, DISPATCH_TELL_UNKNOWN },
	{ DISPATCH_NONE, DISPATCH_ACK, DISPATCH_IGNORE },
	{ DISPATCH_PREPARING, DISPATCH_START, DISPATCH_IGNORE },
	{ DISPATCH_PREPARING, DISPATCH_STOP, DISPATCH_LADDER },
	{ DISPATCH_PREPARING, DISPATCH_SIGNAL, DISPATCH_SEND_SIGNAL },
	{ DISPATCH_PREPARING, DISPATCH_ACK, DISPATCH_IGNORE },
	{ DISPATCH_RUNNING, DISPATCH_START, DISPATCH_TELL_STARTED },
	{ DISPATCH_RUNNING, DISPATCH_STOP, DISPATCH_LADDER },
	{ DISPATCH_RUNNING, DISPATCH_SIGNAL, DISPATCH_SEND_SIGNAL },
	{ DISPATCH_RUNNING, DISPATCH_ACK, DISPATCH_IGNORE },
	{ DISPATCH_STOPPING, DISPATCH_START, DISPATCH_TELL_STARTED },
	{ DISPATCH_STOPPING, DISPATCH_STOP, DISPATCH_TELL_STOPPING },
	{ DISPATCH_STOPPING, DISPATCH_SIGNAL, DISPATCH_SEND_SIGNAL },
	{ DISPATCH_STOPPING, DISPATCH_ACK, DISPATCH_IGNORE },
	{ DISPATCH_ENDED, DISPATCH_START, DISPATCH_TELL_ENDED },
	{ DISPATCH_ENDED, DISPATCH_STOP, DISPATCH_TELL_ENDED },
	{ DISPATCH_ENDED, DISPATCH_SIGNAL, DISPATCH_TELL_ENDED },
	{ DISPATCH_ENDED, DISPATCH_ACK, DISPATCH_FORGET },
};
#define CELLS	((int)(sizeof cells / sizeof *cells))

START_TEST(cell_is_as_documented)
{
	ck_assert_int_eq(dispatch_action(cells[_i].state, cells[_i].frame),
	    cells[_i].want);
}
END_TEST

START_TEST(table_has_no_other_cells)
{
	ck_assert_int_eq(CELLS, DISPATCH_STATES * DISPATCH_FRAMES);
}
END_TEST

START_TEST(only_a_run_that_is_not_here_begins)
{
	for (int state = 0; state < DISPATCH_STATES; state++)
		for (int frame = 0; frame < DISPATCH_FRAMES; frame++)
			ck_assert((dispatch_action((enum dispatch_state)state,
			    (enum dispatch_frame)frame) == DISPATCH_BEGIN) ==
			    (state == DISPATCH_NONE &&
			    frame == DISPATCH_START));
}
END_TEST

Suite *
dispatch_suite(void)
{
	Suite *suite = suite_create("dispatch");
	TCase *tc = tcase_create("dispatch");

	tcase_add_loop_test(tc, cell_is_as_documented, 0, CELLS);
	tcase_add_test(tc, table_has_no_other_cells);
	tcase_add_test(tc, only_a_run_that_is_not_here_begins);
	suite_add_tcase(suite, tc);
	return suite;
}

int
main(void)
{
	return check_main(dispatch_suite());
}
