/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "support/struct_size.h"

#include <string.h>

enum {
    MARK = 0xa5,
    CAP = 4096 /* no struct of this library comes near it */
};

/*
 * Sizes of the first version of each struct, where pointers have 64 bits and where they have 32
 * (with doubles on words, as on i386). Written down once, never to be changed: callers that were
 * built with them are out there. lib/base/oldest.h says how a struct grows.
 */
static const struct {
    const char *name;
    size_t lp64, ilp32;
} first_size[] = {
    {"ckpd_allocator", 40, 20},
    {"ckpd_anchor_report", 56, 52},
    {"ckpd_backend_table", 64, 36},
    {"ckpd_change_cost", 40, 36},
    {"ckpd_checkpoint_cost", 104, 100},
    {"ckpd_control_action", 40, 36},
    {"ckpd_control_input", 72, 64},
    {"ckpd_control_state", 120, 116},
    {"ckpd_error", 608, 604},
    {"ckpd_field_info", 72, 52},
    {"ckpd_graph_counts", 64, 60},
    {"ckpd_job_explanation", 56, 52},
    {"ckpd_layout", 40, 36},
    {"ckpd_member_info", 96, 64},
    {"ckpd_milp_result", 328, 312},
    {"ckpd_milp_view", 120, 76},
    {"ckpd_mode", 264, 260},
    {"ckpd_mode_table", 96, 56},
    {"ckpd_model_info", 120, 104},
    {"ckpd_overrun", 296, 292},
    {"ckpd_path_job", 176, 112},
    {"ckpd_path_plan", 56, 28},
    {"ckpd_path_prices", 72, 40},
    {"ckpd_path_result", 312, 304},
    {"ckpd_path_storage", 104, 100},
    {"ckpd_path_view", 120, 72},
    {"ckpd_plan_info", 32, 28},
    {"ckpd_published", 40, 28},
    {"ckpd_relaxation", 288, 284},
    {"ckpd_residual", 40, 36},
    {"ckpd_run", 88, 84},
    {"ckpd_shape_launch", 40, 36},
    {"ckpd_shape_metrics", 184, 180},
    {"ckpd_shape_plan_info", 80, 76},
    {"ckpd_shape_truth", 56, 52},
    {"ckpd_solve_params", 72, 68},
    {"ckpd_step", 32, 28},
    {"ckpd_violation", 288, 284},
    {"ckpd_workload", 160, 156},
};
enum { FIRST_SIZES = sizeof first_size / sizeof first_size[0] };

static const filled_struct *filled;
static const given_struct *given;

/* Size of the first version; `name` may go on after the name of the struct. */
static size_t oldest(const char *name)
{
    struct probe {
        char letter;
        double number;
    };
    for (size_t i = 0; i < FIRST_SIZES; i++) {
        size_t length = strlen(first_size[i].name);
        if (strncmp(name, first_size[i].name, length) == 0 && strchr(" ", name[length]) != NULL) {
            ck_assert(sizeof(void *) == 8 || offsetof(struct probe, number) == 4);
            return sizeof(void *) == 8 ? first_size[i].lp64 : first_size[i].ilp32;
        }
    }
    ck_abort_msg("%s has no size of its first version in tests/support/struct_size.c", name);
    return 0;
}

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

START_TEST(filled_for_the_oldest_caller)
{
    unsigned char block[CAP];
    ck_assert_int_eq(fill_as(_i, oldest(filled[_i].name), block), CKPD_OK);
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
    const size_t wrong[] = {
        0, 1, sizeof(size_t), oldest(filled[_i].name) - 1, (size_t)CAP + 1, SIZE_MAX};
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

static int32_t read_as(int32_t which, size_t size, unsigned char tail)
{
    union {
        size_t size;
        unsigned char bytes[CAP];
    } block;
    memset(&block, MARK, sizeof block);
    given[which].sample(&block);
    block.size = size;
    for (size_t i = size; i < CAP; i++) {
        block.bytes[i] = MARK;
    }
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

/* What lies behind the first version's struct is anything: an old caller has no such members. */
START_TEST(read_from_the_oldest_caller)
{
    ck_assert_int_eq(read_as(_i, oldest(given[_i].name), 0), CKPD_OK);
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
    const size_t wrong[] = {0,       1, sizeof(size_t), oldest(given[_i].name) - 1, (size_t)CAP + 1,
                            SIZE_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ck_assert_msg(read_as(_i, wrong[i], 0) == CKPD_ERR_STRUCT_SIZE, "%s: size %zu is taken",
                      given[_i].name, wrong[i]);
    }
}
END_TEST

int struct_size_main(const char *name, void (*setup)(void), void (*teardown)(void),
                     const filled_struct *filled_table, int filled_count,
                     const given_struct *given_table, int given_count)
{
    filled = filled_table;
    given = given_table;
    Suite *suite = suite_create(name);
    TCase *tc = tcase_create(name);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, filled_with_the_size_of_today, 0, filled_count);
    tcase_add_loop_test(tc, filled_for_the_oldest_caller, 0, filled_count);
    tcase_add_loop_test(tc, filled_for_a_newer_caller, 0, filled_count);
    tcase_add_loop_test(tc, filled_struct_too_small_or_absurd, 0, filled_count);
    tcase_add_loop_test(tc, read_with_the_size_of_today, 0, given_count);
    tcase_add_loop_test(tc, read_from_the_oldest_caller, 0, given_count);
    tcase_add_loop_test(tc, read_from_a_newer_caller, 0, given_count);
    tcase_add_loop_test(tc, read_struct_too_small_or_absurd, 0, given_count);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
