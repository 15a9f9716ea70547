/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The exported model and values read back. What other solvers make of the model is
 * tests/cli/test_exchange.py; here one job of one hour, so that the right values can be written
 * down.
 */
#include "support/day.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double price[3] = {50, 10, 60};
static const day_mode modes[] = {{8, 1.0, 10, 0}};

typedef struct text {
    char *bytes;
    size_t used;
    int32_t stop_after; /* pieces, < 0: never */
} text;

static int32_t append(const char *bytes, size_t length, void *user)
{
    text *t = user;
    t->bytes = realloc(t->bytes, t->used + length + 1);
    ck_assert_ptr_nonnull(t->bytes);
    memcpy(t->bytes + t->used, bytes, length);
    t->used += length;
    t->bytes[t->used] = '\0';
    return t->stop_after >= 0 && t->stop_after-- == 0 ? 42 : 0;
}

static day day_with_job(void)
{
    const day_job job = {.name = "J\xc3\xb6"
                                 "b 1",
                         .segments = 1,
                         .modes = 1,
                         .mode = modes};
    day d = day_new(3, 1, price, 1);
    ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    return d;
}

START_TEST(models_are_texts)
{
    day d = day_with_job();
    text mps = {NULL, 0, -1};
    text again = {NULL, 0, -1};
    text lp = {NULL, 0, -1};
    text cut = {NULL, 0, 0};
    ck_assert_int_eq(
        ckpd_problem_export(d.problem, CKPD_SCENARIO_S4, CKPD_FORMAT_MPS, append, &mps), CKPD_OK);
    ck_assert_int_eq(
        ckpd_problem_export(d.problem, CKPD_SCENARIO_S4, CKPD_FORMAT_MPS, append, &again), CKPD_OK);
    ck_assert_str_eq(mps.bytes, again.bytes);
    ck_assert_ptr_nonnull(strstr(mps.bytes, "ROWS"));
    ck_assert_ptr_nonnull(strstr(mps.bytes, "ENDATA"));
    ck_assert_int_eq(ckpd_problem_export(d.problem, CKPD_SCENARIO_S4, CKPD_FORMAT_LP, append, &lp),
                     CKPD_OK);
    ck_assert_ptr_nonnull(strstr(lp.bytes, "inimize"));
    ck_assert_int_eq(
        ckpd_problem_export(d.problem, CKPD_SCENARIO_S4, CKPD_FORMAT_MPS, append, &cut),
        CKPD_ERR_CALLBACK);
    ck_assert_int_eq(ckpd_problem_export(d.problem, CKPD_SCENARIO_S4, 3, append, &cut),
                     CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_problem_export(d.problem, 0, 1, append, &cut), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_problem_export(d.problem, CKPD_SCENARIO_S6, 1, append, &cut),
                     CKPD_ERR_STATE);
    ck_assert_int_eq(ckpd_problem_export(d.problem, CKPD_SCENARIO_S4, 1, NULL, NULL),
                     CKPD_ERR_ARGUMENT);
    free(mps.bytes);
    free(again.bytes);
    free(lp.bytes);
    free(cut.bytes);
    day_free(&d);
}
END_TEST

/* The name of the first column that starts with `start`, from the text of the model. */
static void find_name(const char *mps, const char *start, char *name, size_t size)
{
    const char *at = strstr(mps, start);
    ck_assert_msg(at != NULL, "no column %s", start);
    size_t length = strcspn(at, " \t\n");
    ck_assert(length < size);
    memcpy(name, at, length);
    name[length] = '\0';
}

static int32_t import(day *d, const char *values, ckpd_solution **out)
{
    return ckpd_problem_import(out, d->problem, CKPD_SCENARIO_S4, values, strlen(values));
}

START_TEST(values_are_decoded_and_verified)
{
    day d = day_with_job();
    text mps = {NULL, 0, -1};
    char first[80];
    char second[80];
    char values[400];
    ckpd_solution *s = NULL;
    ck_assert_int_eq(
        ckpd_problem_export(d.problem, CKPD_SCENARIO_S4, CKPD_FORMAT_MPS, append, &mps), CKPD_OK);
    /* wait in slot 0, train in slot 1: 50 + 10 x 11 + 60 */
    find_name(mps.bytes, "wait_j0_s0_t0", first, sizeof first);
    find_name(mps.bytes, "move_j0_s0_t1", second, sizeof second);
    snprintf(values, sizeof values, "%s 1\n%s 0.9999997\n", first, second);
    ck_assert_msg(import(&d, values, &s) == CKPD_OK, "%s", ckpd_context_last_message(d.context));
    ck_assert_int_eq(ckpd_solution_outcome(s), CKPD_OUTCOME_FEASIBLE);
    ck_assert_int_eq(ckpd_solution_is_proven(s), 0);
    ck_assert_double_eq(ckpd_solution_cost(s), 50 + 110 + 60);
    ck_assert(isinf(ckpd_solution_bound(s)));
    ckpd_step step = {.size = sizeof step};
    ck_assert_int_eq(ckpd_plan_get_step(ckpd_solution_plan(s), 0, 0, &step), CKPD_OK);
    ck_assert_int_eq(step.from_slot, 1);
    ckpd_solution_free(s);
    s = NULL;
    /* no job in it, an unknown column, no number, nothing at all */
    snprintf(values, sizeof values, "%s 1\n", first);
    ck_assert_int_eq(import(&d, values, &s), CKPD_ERR_VERIFY);
    ck_assert_int_eq(import(&d, "move_j7_s0_t1_k0_m0 1\n", &s), CKPD_ERR_UNKNOWN_NAME);
    snprintf(values, sizeof values, "%s one\n", first);
    ck_assert_int_eq(import(&d, values, &s), CKPD_ERR_SYNTAX);
    ck_assert_int_ne(import(&d, "", &s), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_import(&s, d.problem, CKPD_SCENARIO_S4, NULL, 0),
                     CKPD_ERR_ARGUMENT);
    ck_assert_ptr_null(s);
    free(mps.bytes);
    day_free(&d);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {models_are_texts, values_are_decoded_and_verified, NULL};
    return test_run(test_suite("export", tests));
}
