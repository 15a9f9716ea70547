/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Practice 10: every public struct begins with its size, and the library neither reads nor writes
 * beyond what the caller has. A caller of another release is played by giving another size.
 */
#include "support/support.h"

#include <ckptdispatch/base.h>
#include <ckptdispatch/site.h>
#include <stdlib.h>
#include <string.h>

enum {
    MARK = 0xa5,
    CAP = 4096 /* no struct of this library comes near it */
};

/* --- structs the library fills ------------------------------------------------------------- */

static ckpd_context *context;

static void setup(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
}

static void teardown(void)
{
    ckpd_context_free(context);
}

static int32_t fill_error(void *out)
{
    return ckpd_context_last_error(context, out);
}

static int32_t fill_series_info(void *out)
{
    return ckpd_site_series_info(0, out);
}

static int32_t fill_battery_info(void *out)
{
    return ckpd_battery_field_info(0, out);
}

static const struct {
    const char *name;
    size_t size;
    int32_t (*fill)(void *out);
} filled[] = {
    {"ckpd_error", sizeof(ckpd_error), fill_error},
    {"ckpd_field_info of a series", sizeof(ckpd_field_info), fill_series_info},
    {"ckpd_field_info of a battery", sizeof(ckpd_field_info), fill_battery_info},
};
enum { FILLED = sizeof filled / sizeof filled[0] };

/* Calls with `size` in the first member and checks that not a byte beyond it is touched. */
static int32_t fill_as(int32_t which, size_t size, unsigned char *block)
{
    memset(block, MARK, CAP);
    memcpy(block, &size, sizeof size);
    int32_t status = filled[which].fill(block);
    for (size_t i = size > sizeof size ? size : sizeof size; i < CAP; i++) {
        ck_assert_msg(block[i] == MARK, "%s with size %zu: byte %zu was written",
                      filled[which].name, size, i);
    }
    size_t left;
    memcpy(&left, block, sizeof left);
    ck_assert_msg(left == size, "%s: the size of the caller was changed", filled[which].name);
    return status;
}

START_TEST(filled_with_the_size_of_today)
{
    unsigned char block[CAP];
    ck_assert_int_eq(fill_as(_i, filled[_i].size, block), CKPD_OK);
}
END_TEST

START_TEST(filled_for_a_newer_caller)
{
    unsigned char block[CAP];
    size_t size = filled[_i].size + 24;
    ck_assert_int_eq(fill_as(_i, size, block), CKPD_OK);
    for (size_t i = filled[_i].size; i < size; i++) {
        ck_assert_msg(block[i] == 0, "%s: byte %zu unknown to this library is not zero",
                      filled[_i].name, i);
    }
}
END_TEST

START_TEST(filled_struct_too_small_or_absurd)
{
    unsigned char block[CAP];
    const size_t wrong[] = {0, 1, sizeof(size_t), filled[_i].size - 8, (size_t)CAP + 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        memset(block, MARK, CAP);
        memcpy(block, &wrong[i], sizeof wrong[i]);
        ck_assert_msg(filled[_i].fill(block) == CKPD_ERR_STRUCT_SIZE, "%s: size %zu is taken",
                      filled[_i].name, wrong[i]);
        for (size_t k = sizeof(size_t); k < CAP; k++) {
            ck_assert_msg(block[k] == MARK, "%s: refused, but byte %zu was written",
                          filled[_i].name, k);
        }
    }
}
END_TEST

/* --- structs the library reads ------------------------------------------------------------- */

static void *plain_malloc(size_t bytes, void *user)
{
    (void)user;
    return malloc(bytes);
}

static void *plain_realloc(void *block, size_t bytes, void *user)
{
    (void)user;
    return realloc(block, bytes);
}

static void plain_free(void *block, void *user)
{
    (void)user;
    free(block);
}

static void allocator_sample(void *block)
{
    ckpd_allocator sample = {sizeof sample, plain_malloc, plain_realloc, plain_free, NULL};
    memcpy(block, &sample, sizeof sample);
}

static int32_t allocator_read(const void *block)
{
    ckpd_context *made = NULL;
    int32_t status = ckpd_context_new(&made, block);
    ckpd_context_free(made);
    return status;
}

static const struct {
    const char *name;
    size_t size;
    void (*sample)(void *block);
    int32_t (*read)(const void *block);
} given[] = {
    {"ckpd_allocator", sizeof(ckpd_allocator), allocator_sample, allocator_read},
};
enum { GIVEN = sizeof given / sizeof given[0] };

static int32_t read_as(int32_t which, size_t size, unsigned char tail)
{
    union {
        size_t size;
        unsigned char bytes[CAP];
    } block;
    memset(&block, MARK, sizeof block);
    given[which].sample(&block);
    block.size = size;
    for (size_t i = given[which].size; i < size && i < CAP; i++) {
        block.bytes[i] = tail;
    }
    return given[which].read(&block);
}

START_TEST(read_with_the_size_of_today)
{
    ck_assert_int_eq(read_as(_i, given[_i].size, 0), CKPD_OK);
}
END_TEST

START_TEST(read_from_a_newer_caller)
{
    /* What this library does not know may be there as long as it asks for nothing. */
    ck_assert_int_eq(read_as(_i, given[_i].size + 16, 0), CKPD_OK);
    ck_assert_int_eq(read_as(_i, given[_i].size + 16, 1), CKPD_ERR_STRUCT_SIZE);
}
END_TEST

START_TEST(read_struct_too_small_or_absurd)
{
    const size_t wrong[] = {0, 1, sizeof(size_t), given[_i].size - 8, (size_t)CAP + 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ck_assert_msg(read_as(_i, wrong[i], 0) == CKPD_ERR_STRUCT_SIZE, "%s: size %zu is taken",
                      given[_i].name, wrong[i]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("struct size");
    TCase *tc = tcase_create("struct size");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, filled_with_the_size_of_today, 0, FILLED);
    tcase_add_loop_test(tc, filled_for_a_newer_caller, 0, FILLED);
    tcase_add_loop_test(tc, filled_struct_too_small_or_absurd, 0, FILLED);
    tcase_add_loop_test(tc, read_with_the_size_of_today, 0, GIVEN);
    tcase_add_loop_test(tc, read_from_a_newer_caller, 0, GIVEN);
    tcase_add_loop_test(tc, read_struct_too_small_or_absurd, 0, GIVEN);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
