/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "support/support.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The host, never the library, chooses the locale: under check-locale this is one with a decimal
 * comma. */
static void host_setup(void)
{
    const char *wanted = getenv("CKPD_TEST_LOCALE");
    if (setlocale(LC_ALL, "") == NULL && wanted != NULL) {
        fprintf(stderr, "test: the locale %s is not available\n", wanted);
        exit(1);
    }
    if (wanted != NULL && strcmp(localeconv()->decimal_point, ",") != 0) {
        fprintf(stderr, "test: the locale %s has no decimal comma\n", wanted);
        exit(1);
    }
}

/* The limit is there for a test that hangs, not for a slow or busy machine: Check's own 4 s are too
 * few. It is read when a test case is made, so before main. */
__attribute__((constructor)) static void choose_timeout(void)
{
    setenv("CK_DEFAULT_TIMEOUT", "600", 0);
}

int test_run(Suite *suite)
{
    host_setup();
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    int run = srunner_ntests_run(runner);
    srunner_free(runner);
    return failed == 0 && run > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

Suite *test_suite(const char *name, const TTest *const tests[])
{
    host_setup();
    Suite *suite = suite_create(name);
    TCase *tc = tcase_create(name);
    for (size_t i = 0; tests[i] != NULL; i++) {
        tcase_add_test(tc, tests[i]);
    }
    suite_add_tcase(suite, tc);
    return suite;
}

void test_skip(const char *reason)
{
    printf("SKIP: %s\n", reason);
    fflush(stdout);
}

bool test_fast(void)
{
    return getenv("CKPD_TEST_FAST") != NULL;
}

bool test_long(void)
{
    return getenv("CKPD_TEST_LONG") != NULL;
}

bool test_wrapped(void)
{
    const char *wrapper = getenv("TEST_WRAPPER");
    return wrapper != NULL && wrapper[0] != '\0';
}

double test_clock_s(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

void test_sleep(double seconds)
{
    time_t whole = (time_t)seconds;
    struct timespec rest = {whole, (long)(1e9 * (seconds - (double)whole))};
    while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {
    }
}

static const char *joined(char *buffer, size_t size, const char *dir, const char *name)
{
    int n = snprintf(buffer, size, "%s/%s", dir, name);
    ck_assert_msg(n > 0 && (size_t)n < size, "path too long: %s/%s", dir, name);
    return buffer;
}

const char *test_shared_path(const char *name)
{
    static char path[4096];
    joined(path, sizeof path, SHARED_DIR, name);
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        /* the golden cases have a copy of their own */
        static char own[4096];
        f = fopen(joined(own, sizeof own, SRC_DIR "/tests/golden", name), "rb");
        if (f != NULL) {
            fclose(f);
            return own;
        }
        printf("SKIP: %s is absent\n", path);
        fflush(stdout);
        return NULL;
    }
    fclose(f);
    return path;
}

const char *test_src_path(const char *name)
{
    static char path[4096];
    return joined(path, sizeof path, SRC_DIR, name);
}

char *test_read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "cannot open %s", path);
    size_t used = 0;
    size_t room = 65536;
    char *text = malloc(room);
    ck_assert_ptr_nonnull(text);
    for (;;) {
        used += fread(text + used, 1, room - used - 1, f);
        if (used < room - 1) {
            break;
        }
        room *= 2;
        text = realloc(text, room);
        ck_assert_ptr_nonnull(text);
    }
    ck_assert_msg(ferror(f) == 0, "cannot read %s", path);
    fclose(f);
    text[used] = '\0';
    if (size != NULL) {
        *size = used;
    }
    return text;
}
