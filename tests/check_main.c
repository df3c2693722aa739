/* SPDX-License-Identifier: ISC */
/*
 * The main of every unit test program.  Results are written as TAP version
 * 13 through check's own log (CK_TAP_LOG_FILE_NAME=-), the rest stays quiet.
 */
#include "config.h"

#include "tests/check_main.h"

#include <check.h>
#include <stdlib.h>

int
check_main(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	if (getenv("CK_TAP_LOG_FILE_NAME") == NULL)
		srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
