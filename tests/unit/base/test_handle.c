/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Handles at the border of the interface: another kind, freed, no handle; with the words for each.
 * That a freed handle is told needs memory that is still there, so the allocator of these tests
 * keeps every block. tests/abi/test_foreign.py asks every function, tests/abi/test_two_versions.py
 * another version of the library.
 */
#include "base/base.h"
#include "support/support.h"

#include <ckptdispatch.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BLOCKS = 4096 };
static void *kept[MOST_BLOCKS];
static int32_t blocks;

static void *keep_malloc(size_t bytes, void *user)
{
    (void)user;
    ck_assert_int_lt(blocks, MOST_BLOCKS);
    void *block = malloc(bytes + sizeof(size_t));
    ck_assert_ptr_nonnull(block);
    memcpy(block, &bytes, sizeof bytes);
    kept[blocks++] = block;
    return (unsigned char *)block + sizeof(size_t);
}

static void keep_free(void *block, void *user)
{
    (void)block, (void)user;
}

static void *keep_realloc(void *block, size_t bytes, void *user)
{
    void *grown = keep_malloc(bytes, user);
    size_t before;
    memcpy(&before, (unsigned char *)block - sizeof(size_t), sizeof before);
    memcpy(grown, block, before < bytes ? before : bytes);
    return grown;
}

static ckpd_context *context;
static ckpd_task *task;

static void setup(void)
{
    const ckpd_allocator keep = {sizeof keep, keep_malloc, keep_realloc, keep_free, NULL};
    blocks = 0;
    ck_assert_int_eq(ckpd_context_new(&context, &keep), CKPD_OK);
    ck_assert_int_eq(ckpd_task_new(&task, context, "job"), CKPD_OK);
}

static void teardown(void)
{
    ckpd_task_free(task);
    ckpd_context_free(context);
    for (int32_t i = 0; i < blocks; i++) {
        free(kept[i]);
    }
}

static void expect(int32_t status, int32_t code, const char *field, const char *message)
{
    ckpd_error error = {.size = sizeof error};
    ck_assert_int_eq(status, code);
    ck_assert_int_eq(ckpd_context_last_error(context, &error), CKPD_OK);
    ck_assert_int_eq(error.code, code);
    ck_assert_str_eq(error.field, field);
    ck_assert_str_eq(error.message, message);
}

START_TEST(another_kind_is_refused)
{
    ckpd_mode_set *modes = NULL;
    ckpd_hardware *hardware = NULL;
    ck_assert_int_eq(ckpd_hardware_new(&hardware, context, "a100-80gb"), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set((void *)hardware, "segments", 2), CKPD_ERR_ARGUMENT);
    expect(ckpd_mode_set_build(&modes, context, (void *)hardware, hardware, NULL),
           CKPD_ERR_ARGUMENT, "task", "task is a ckpd_hardware, not a ckpd_task");
    expect(ckpd_mode_set_build(&modes, context, task, hardware, (void *)task), CKPD_ERR_ARGUMENT,
           "rules", "rules is a ckpd_task, not a ckpd_mode_rules");
    ck_assert_ptr_null(modes);
    ck_assert_ptr_null(ckpd_task_name((void *)hardware));
    ckpd_task_free((void *)hardware); /* does nothing: it is none */
    ck_assert_str_eq(ckpd_hardware_name(hardware), "a100-80gb");
    ckpd_hardware_free(hardware);
}
END_TEST

START_TEST(a_freed_handle_is_refused)
{
    ckpd_mode_set *modes = NULL;
    ckpd_hardware *hardware = NULL;
    ck_assert_int_eq(ckpd_hardware_new(&hardware, context, "a100-80gb"), CKPD_OK);
    ckpd_hardware_free(hardware);
    ckpd_hardware_free(hardware); /* twice: still nothing */
    ck_assert_int_eq(ckpd_hardware_set(hardware, "efficiency", 1), CKPD_ERR_ARGUMENT);
    expect(ckpd_mode_set_build(&modes, context, task, hardware, NULL), CKPD_ERR_ARGUMENT,
           "hardware", "hardware has been freed");
}
END_TEST

START_TEST(a_freed_context_is_refused)
{
    const ckpd_allocator keep = {sizeof keep, keep_malloc, keep_realloc, keep_free, NULL};
    ckpd_context *gone = NULL;
    ckpd_task *made = NULL;
    ck_assert_int_eq(ckpd_context_new(&gone, &keep), CKPD_OK);
    ckpd_context_free(gone);
    ckpd_context_free(gone);
    ck_assert_int_eq(ckpd_task_new(&made, gone, "job"), CKPD_ERR_ARGUMENT);
    ck_assert_ptr_null(made);
}
END_TEST

START_TEST(what_is_no_handle_is_refused)
{
    ckpd_mode_set *modes = NULL;
    uint64_t block[16];
    memset(block, 0x5a, sizeof block);
    expect(ckpd_mode_set_build(&modes, context, (void *)block, NULL, NULL), CKPD_ERR_ARGUMENT,
           "task", "task is no handle of this library");
    memcpy(block, task, 16); /* magic, version, kind */
    int32_t version;
    memcpy(&version, (unsigned char *)block + 4, sizeof version);
    ck_assert_int_eq(version, ckpd_version());
    version = 12345;
    memcpy((unsigned char *)block + 4, &version, sizeof version);
    expect(ckpd_mode_set_build(&modes, context, (void *)block, NULL, NULL), CKPD_ERR_VERSION,
           "task", "task was made by version 1.23.45 of the library, this is " CKPD_VERSION_STRING);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("handles");
    TCase *tests = tcase_create("handles");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, another_kind_is_refused);
    tcase_add_test(tests, a_freed_handle_is_refused);
    tcase_add_test(tests, a_freed_context_is_refused);
    tcase_add_test(tests, what_is_no_handle_is_refused);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
