/* SPDX-License-Identifier: ISC */
#ifndef CRONCTL_TESTS_CHECK_MAIN_H
#define CRONCTL_TESTS_CHECK_MAIN_H

#include <check.h>

/*
 * Runs one suite and returns the exit status for main: 0 when all passed.
 * Prints one TAP line for each test, which the harness counts.
 */
int	check_main(Suite *);

#endif
