/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* HiGHS for tests: a library that is loaded at run time, where there is one. */
#ifndef TESTS_HIGHS_H
#define TESTS_HIGHS_H

#include <ckptdispatch/base.h>
#include <stdbool.h>

/* What CKPD_TEST_HIGHS names, else the library of the Python package highsbox, else NULL: the
 * system's own, if any. Static buffer. */
const char *test_highs_library(void);

/* Registers the backend "highs" with a context; false after a SKIP line. */
bool test_highs_load(ckpd_context *context);

#endif
