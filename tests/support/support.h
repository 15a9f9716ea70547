/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What every test program shares. A test file builds a Suite and ends in `return test_run(suite);`.
 */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/* Runs the suite, prints Check's summary, returns the program's exit status. */
int test_run(Suite *suite);

/* A suite of one test case from a NULL-terminated list; `const TTest *` is what START_TEST makes.
 */
Suite *test_suite(const char *name, const TTest *const tests[]);

/* Prints the line "SKIP: reason" that the runner counts. Use: if (!path) { test_skip("...");
 * return; } */
void test_skip(const char *reason);

/* true in slow runs (sanitizers, valgrind): loops may then be shortened, never left out. */
bool test_fast(void);

/* true in `make check-long`: loops at their full length. */
bool test_long(void);

/* true where the program runs inside another (valgrind), whose memory is then in the process too.
 */
bool test_wrapped(void);

/* Seconds of a clock of <time.h>. A test that asserts how long something took asks a clock of
   processor time: that of the wall runs on while others have the processor. */
double test_clock_s(clockid_t clock);

/* Sleeps that long, whatever signals come. */
void test_sleep(double seconds);

/* Path of a file beside the source tree (../shared/NAME), else of the copy in tests/golden (NAME
   begins with cases/), or NULL after a SKIP line when both are absent. The result is a static
   buffer, overwritten by the next call. */
const char *test_shared_path(const char *name);

/* Path of a file in the source tree; static buffer, overwritten by the next call. */
const char *test_src_path(const char *name);

/* Whole file, terminated with a zero byte that `*size` does not count; the caller frees it. Fails
   the test when the file cannot be read. */
char *test_read_file(const char *path, size_t *size);

#endif
