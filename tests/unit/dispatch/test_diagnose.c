/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Diagnosis of problems whose faults were put in by hand, so that the set and the amounts are
 * known. */
#include "support/day.h"
#include "support/golden_case.h"

#include <math.h>
#include <string.h>

static const double price[6] = {20, 60, 20, 60, 20, 60};
static const day_mode modes[] = {{8, 1.0, 10, 0}};

static ckpd_diagnosis *diagnose(ckpd_context *context, ckpd_problem *problem, int32_t scenario)
{
    ckpd_diagnosis *d = NULL;
    int32_t status = ckpd_problem_diagnose(&d, problem, scenario, NULL);
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(context));
    return d;
}

static ckpd_relaxation relaxation(const ckpd_diagnosis *d, int32_t index)
{
    ckpd_relaxation r = {.size = sizeof r};
    ck_assert_int_eq(ckpd_diagnosis_get_relaxation(d, index, &r), CKPD_OK);
    return r;
}

START_TEST(a_good_problem_needs_nothing)
{
    day d = day_new(6, 1, price, 0);
    const day_job job = {.name = "job", .segments = 3, .modes = 1, .mode = modes};
    ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    ckpd_diagnosis *found = diagnose(d.context, d.problem, CKPD_SCENARIO_S4);
    ck_assert_int_eq(ckpd_diagnosis_outcome(found), CKPD_OUTCOME_OPTIMAL);
    ck_assert_int_eq(ckpd_diagnosis_relaxation_count(found), 0);
    ck_assert_int_eq(ckpd_diagnosis_cause_count(found), 0);
    ck_assert_ptr_nonnull(ckpd_solution_plan(ckpd_diagnosis_solution(found)));
    ckpd_diagnosis_free(found);
    day_free(&d);
}
END_TEST

/* Two jobs of 4 h with 8 GPUs each in 6 h: with 8 GPUs 8 h are needed, with 16 both fit. */
START_TEST(gpus_that_are_missing)
{
    day d = day_new(6, 1, price, 0);
    const day_job a = {.name = "A", .segments = 4, .modes = 1, .mode = modes};
    const day_job b = {.name = "B", .segments = 4, .modes = 1, .mode = modes};
    day_set(&d, "gpu_cap", 11);
    ck_assert_int_eq(day_add_job(&d, &a, NULL), CKPD_OK);
    ck_assert_int_eq(day_add_job(&d, &b, NULL), CKPD_OK);
    ckpd_diagnosis *found = diagnose(d.context, d.problem, CKPD_SCENARIO_S4);
    ck_assert_int_eq(ckpd_diagnosis_outcome(found), CKPD_OUTCOME_FEASIBLE);
    ck_assert_int_eq(ckpd_diagnosis_is_minimal(found), 1);
    ck_assert_int_eq(ckpd_diagnosis_relaxation_count(found), 1);
    ckpd_relaxation r = relaxation(found, 0);
    ck_assert_int_eq(r.limit, CKPD_LIMIT_GPU_CAP);
    ck_assert_double_eq(r.amount, 5);
    ck_assert_int_ge(r.first_slot, 0);
    ck_assert_ptr_nonnull(strstr(r.message, "raise the GPU cap by 5 GPUs in slots"));
    ckpd_diagnosis_free(found);
    day_free(&d);
}
END_TEST

/* The same with deadlines at 4 and room after them: deadlines give way, the caps stay. */
START_TEST(deadlines_give_way_before_caps)
{
    day d = day_new(6, 1, price, 0);
    const day_job a = {.name = "A", .segments = 3, .modes = 1, .mode = modes, .deadline = 4};
    const day_job b = {.name = "B", .segments = 3, .modes = 1, .mode = modes, .deadline = 4};
    day_set(&d, "gpu_cap", 8);
    ck_assert_int_eq(day_add_job(&d, &a, NULL), CKPD_OK);
    ck_assert_int_eq(day_add_job(&d, &b, NULL), CKPD_OK);
    ckpd_diagnosis *found = diagnose(d.context, d.problem, CKPD_SCENARIO_S4);
    ck_assert_int_eq(ckpd_diagnosis_outcome(found), CKPD_OUTCOME_FEASIBLE);
    for (int32_t i = 0; i < ckpd_diagnosis_relaxation_count(found); i++) {
        ckpd_relaxation r = relaxation(found, i);
        ck_assert_int_eq(r.limit, CKPD_LIMIT_DEADLINE);
        ck_assert_double_le(r.amount, 2);
        ck_assert_ptr_nonnull(strstr(r.message, "move the deadline of job"));
    }
    ck_assert_int_ge(ckpd_diagnosis_relaxation_count(found), 1);
    ckpd_diagnosis_free(found);
    day_free(&d);
}
END_TEST

/* Base load 3 MW with a grid of 2, and a job of 10 MW under a site cap of 5: both have to move. */
START_TEST(two_faults_make_two_relaxations)
{
    day d = day_new(6, 1, price, 3);
    const day_job job = {.name = "job", .segments = 2, .modes = 1, .mode = modes};
    day_set(&d, "import_cap_kw", 2000);
    day_set(&d, "site_cap_kw", 5000);
    ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    ckpd_diagnosis *found = diagnose(d.context, d.problem, CKPD_SCENARIO_S4);
    ck_assert_int_eq(ckpd_diagnosis_outcome(found), CKPD_OUTCOME_FEASIBLE);
    ck_assert_int_eq(ckpd_diagnosis_relaxation_count(found), 2);
    ckpd_relaxation site = relaxation(found, 0);
    ckpd_relaxation grid = relaxation(found, 1);
    ck_assert_int_eq(site.limit, CKPD_LIMIT_SITE_CAP);
    ck_assert_double_ge(site.amount, 8000 - 1e-3);
    ck_assert_double_le(site.amount, 8003);
    ck_assert_int_eq(grid.limit, CKPD_LIMIT_IMPORT_CAP);
    ck_assert_double_ge(grid.amount, 11000 - 1e-3);
    ck_assert_double_le(grid.amount, 11005);
    ck_assert_int_eq(ckpd_diagnosis_cause_count(found), 1);
    ck_assert_str_eq(ckpd_diagnosis_cause(found, 0), "grid cap in slots 0-5: 1000 kW short");
    ckpd_diagnosis_free(found);
    day_free(&d);
}
END_TEST

START_TEST(an_end_soc_out_of_reach)
{
    day d = day_new(6, 1, price, 1);
    const day_battery battery = {.energy_mwh = 20,
                                 .power_mw = 1,
                                 .eta = 0.9,
                                 .start_mwh = 4,
                                 .end_mwh = 18,
                                 .terminal = "at_least"};
    day_add_battery(&d, &battery);
    ckpd_diagnosis *found = diagnose(d.context, day_problem(&d), CKPD_SCENARIO_S6);
    ck_assert_int_eq(ckpd_diagnosis_outcome(found), CKPD_OUTCOME_FEASIBLE);
    ck_assert_int_eq(ckpd_diagnosis_relaxation_count(found), 1);
    ckpd_relaxation r = relaxation(found, 0);
    /* 6 h of 0.9 MW reach 9.4 MWh: 8.6 too few */
    ck_assert_int_eq(r.limit, CKPD_LIMIT_END_SOC);
    ck_assert_double_ge(r.amount, 8600 - 0.1);
    ck_assert_double_le(r.amount, 8606);
    ckpd_diagnosis_free(found);
    day_free(&d);
}
END_TEST

START_TEST(what_no_limit_can_mend)
{
    day d = day_new(6, 1, price, 0);
    const day_job job = {.name = "job", .segments = 8, .modes = 1, .mode = modes};
    ck_assert_int_eq(day_add_job(&d, &job, NULL), CKPD_OK);
    ckpd_diagnosis *found = diagnose(d.context, d.problem, CKPD_SCENARIO_S4);
    ck_assert_int_eq(ckpd_diagnosis_outcome(found), CKPD_OUTCOME_INFEASIBLE);
    ck_assert_int_eq(ckpd_diagnosis_relaxation_count(found), 0);
    ck_assert_int_eq(ckpd_diagnosis_cause_count(found), 1);
    ck_assert_ptr_nonnull(
        strstr(ckpd_diagnosis_cause(found, 0), "earliest feasible deadline is boundary 8"));
    ck_assert_ptr_null(ckpd_diagnosis_solution(found));
    ckpd_relaxation r = {.size = sizeof r};
    ck_assert_int_eq(ckpd_diagnosis_get_relaxation(found, 0, &r), CKPD_ERR_RANGE);
    ckpd_diagnosis_free(found);
    ckpd_diagnosis_free(NULL);
    day_free(&d);
}
END_TEST

/* 1152 GPUs are too few for both tranches, 1280 are enough (published, and in the expected values).
 */
START_TEST(the_2048_gpu_day_with_1152)
{
    golden_case g;
    if (!golden_open(&g, "aidc2048-golden.json", NULL)) {
        return;
    }
    ck_assert_int_eq(ckpd_problem_set_gpu_cap(g.problem, 1152), CKPD_OK);
    ckpd_diagnosis *found = diagnose(g.context, g.problem, CKPD_SCENARIO_S4);
    ck_assert_int_eq(ckpd_diagnosis_outcome(found), CKPD_OUTCOME_FEASIBLE);
    ck_assert_int_eq(ckpd_diagnosis_relaxation_count(found), 1);
    ckpd_relaxation r = relaxation(found, 0);
    ck_assert_int_eq(r.limit, CKPD_LIMIT_GPU_CAP);
    ck_assert_double_eq(r.amount, 128);
    ck_assert_str_eq(r.message, "raise the GPU cap by 128 GPUs in slots 0-23");
    ckpd_diagnosis_free(found);
    golden_close(&g);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_good_problem_needs_nothing,   gpus_that_are_missing,
                                  deadlines_give_way_before_caps, two_faults_make_two_relaxations,
                                  an_end_soc_out_of_reach,        what_no_limit_can_mend,
                                  the_2048_gpu_day_with_1152,     NULL};
    return test_run(test_suite("diagnose", tests));
}
