/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The verifier: a plan of a solution passes when it is rebuilt through the public API, and each
 * kind of fault that is put into it is found, named and measured.
 */
#include "base/base.h"
#include "support/day.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 8, JOBS = 2 };

static const double price[SLOTS] = {30, 80, 20, 25, 90, 60, 15, 40};
static const double wind[SLOTS] = {4, 2, 12, 14, 0, 1, 9, 3};
static const day_mode modes[] = {{16, 1.5, 6, 1}, {32, 0.8, 13, 2}};

static day d;
static ckpd_solution *solution;

static void setup(void)
{
    static const uint8_t allowed[] = {1, 1, 0, 1};
    const day_job a = {.name = "A", .segments = 3, .modes = 2, .mode = modes};
    const day_job b = {
        .name = "B", .segments = 2, .modes = 2, .mode = modes, .release = 1, .deadline = 7};
    const day_battery battery = {.energy_mwh = 8,
                                 .power_mw = 3,
                                 .eta = 0.9,
                                 .start_mwh = 3,
                                 .end_mwh = 3,
                                 .throughput_cost = 2,
                                 .terminal = "equal"};
    ckpd_graph_options *options = NULL;
    d = day_new(SLOTS, 1, price, 1);
    day_set_mw(&d, "wind_kw", wind);
    day_set(&d, "gpu_cap", 40);
    day_set(&d, "pue", 1.2);
    day_set(&d, "site_cap_kw", 30e3);
    day_set(&d, "import_cap_kw", 25e3);
    day_set(&d, "export_cap_kw", 2e3);
    day_set(&d, "export_price_per_mwh", 5);
    day_set(&d, "curtailment_penalty_per_mwh", 8);
    day_add_battery(&d, &battery);
    ck_assert_int_eq(ckpd_graph_options_new(&options, d.context), CKPD_OK);
    ck_assert_int_eq(ckpd_graph_options_set_transitions(options, 2, allowed), CKPD_OK);
    ck_assert_int_eq(day_add_job(&d, &a, options), CKPD_OK);
    ck_assert_int_eq(day_add_job(&d, &b, NULL), CKPD_OK);
    ckpd_graph_options_free(options);
    solution = NULL;
}

static void teardown(void)
{
    ckpd_solution_free(solution);
    day_free(&d);
}

/* The plan of a scenario through the public API, step by step; `edit` may change or (false) drop a
 * step. */
typedef bool (*edit_fn)(int32_t job, int32_t index, ckpd_step *step);

static ckpd_plan *rebuild(int32_t scenario, edit_fn edit)
{
    static const char *const series[] = {"import_kw", "export_kw",    "curtailment_kw",
                                         "charge_kw", "discharge_kw", "soc_kwh"};
    ckpd_plan *plan = NULL;
    ckpd_solution_free(solution);
    solution = day_solve(&d, scenario, NULL);
    const ckpd_plan *from = ckpd_solution_plan(solution);
    ck_assert_ptr_nonnull(from);
    ck_assert_int_eq(ckpd_plan_new(&plan, d.context, JOBS, SLOTS), CKPD_OK);
    for (int32_t j = 0; j < JOBS; j++) {
        for (int32_t i = 0; i < ckpd_plan_step_count(from, j); i++) {
            ckpd_step step = {.size = sizeof step};
            ck_assert_int_eq(ckpd_plan_get_step(from, j, i, &step), CKPD_OK);
            if (edit == NULL || edit(j, i, &step)) {
                int32_t status = ckpd_plan_add_step(plan, j, &step);
                ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(d.context));
            }
        }
    }
    for (size_t i = 0; i < sizeof series / sizeof series[0]; i++) {
        double values[SLOTS + 1];
        int32_t count = SLOTS + (strcmp(series[i], "soc_kwh") == 0);
        ck_assert_int_eq(ckpd_plan_get_series(from, series[i], values, count), CKPD_OK);
        ck_assert_int_eq(ckpd_plan_set_series(plan, series[i], values, count), CKPD_OK);
    }
    return plan;
}

static void change(ckpd_plan *plan, const char *series, int32_t slot, double by)
{
    double values[SLOTS + 1];
    int32_t count = SLOTS + (strcmp(series, "soc_kwh") == 0);
    ck_assert_int_eq(ckpd_plan_get_series(plan, series, values, count), CKPD_OK);
    values[slot] += by;
    ck_assert_int_eq(ckpd_plan_set_series(plan, series, values, count), CKPD_OK);
}

/* Number of violations of one kind; all of them are printed. */
static int32_t found(int32_t scenario, const ckpd_plan *plan, double claimed, int32_t kind,
                     const char *part)
{
    ckpd_report *report = NULL;
    int32_t status = ckpd_problem_verify(&report, d.problem, scenario, plan, claimed);
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(d.context));
    int32_t count = 0;
    for (int32_t i = 0; i < ckpd_report_violation_count(report); i++) {
        ckpd_violation v = {.size = sizeof v};
        ck_assert_int_eq(ckpd_report_get_violation(report, i, &v), CKPD_OK);
        count += v.kind == kind && strstr(v.message, part) != NULL;
    }
    ckpd_report_free(report);
    return count;
}

static int32_t violations(int32_t scenario, const ckpd_plan *plan, double claimed)
{
    ckpd_report *report = NULL;
    ck_assert_int_eq(ckpd_problem_verify(&report, d.problem, scenario, plan, claimed), CKPD_OK);
    int32_t count = ckpd_report_violation_count(report);
    ckpd_report_free(report);
    return count;
}

START_TEST(rebuilt_plans_pass)
{
    for (int32_t scenario = CKPD_SCENARIO_S1; scenario <= CKPD_SCENARIO_S6; scenario++) {
        ckpd_plan *plan = rebuild(scenario, NULL);
        ck_assert_int_eq(violations(scenario, plan, (double)NAN), 0);
        ck_assert_int_eq(violations(scenario, plan, ckpd_solution_cost(solution)), 0);
        ckpd_plan_free(plan);
    }
}
END_TEST

START_TEST(cost_is_recomputed)
{
    ckpd_plan *plan = rebuild(CKPD_SCENARIO_S6, NULL);
    ck_assert_int_eq(found(CKPD_SCENARIO_S6, plan, ckpd_solution_cost(solution) + 1,
                           CKPD_VIOLATION_COST, "claimed cost"),
                     1);
    ckpd_plan_free(plan);
}
END_TEST

START_TEST(flows_and_balance)
{
    static const struct {
        const char *series;
        double by;
        int32_t kind;
        const char *part;
    } cases[] = {
        {"import_kw", 100, CKPD_VIOLATION_BALANCE, "balance of slot 2 is off by 100 kW"},
        {"import_kw", 1e6, CKPD_VIOLATION_LIMIT, "import"},
        {"export_kw", 1e5, CKPD_VIOLATION_LIMIT, "export"},
        {"curtailment_kw", 1e5, CKPD_VIOLATION_LIMIT, "curtailment"},
        {"charge_kw", 1e5, CKPD_VIOLATION_LIMIT, "charge"},
        {"discharge_kw", 1e5, CKPD_VIOLATION_LIMIT, "discharge"},
        {"import_kw", -1e5, CKPD_VIOLATION_LIMIT, "below 0"},
        {"charge_kw", -1e5, CKPD_VIOLATION_LIMIT, "below 0"},
        {"charge_kw", 500, CKPD_VIOLATION_SOC, "the flows give"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ckpd_plan *plan = rebuild(CKPD_SCENARIO_S6, NULL);
        change(plan, cases[i].series, 2, cases[i].by);
        ck_assert_msg(found(CKPD_SCENARIO_S6, plan, (double)NAN, cases[i].kind, cases[i].part) >= 1,
                      "%s by %g", cases[i].series, cases[i].by);
        ckpd_plan_free(plan);
    }
}
END_TEST

START_TEST(exclusivity)
{
    ckpd_plan *plan = rebuild(CKPD_SCENARIO_S6, NULL);
    change(plan, "import_kw", 5, 700);
    change(plan, "export_kw", 5, 700);
    ck_assert_int_eq(found(CKPD_SCENARIO_S6, plan, (double)NAN, CKPD_VIOLATION_EXCLUSIVITY,
                           "import and export in slot 5"),
                     1);
    ckpd_plan_free(plan);
    plan = rebuild(CKPD_SCENARIO_S6, NULL);
    change(plan, "charge_kw", 5, 700);
    change(plan, "discharge_kw", 5, 700);
    ck_assert_int_eq(found(CKPD_SCENARIO_S6, plan, (double)NAN, CKPD_VIOLATION_EXCLUSIVITY,
                           "charge and discharge in slot 5"),
                     1);
    /* without storage in the scenario any charge is too much */
    ck_assert_int_ge(found(CKPD_SCENARIO_S4, plan, (double)NAN, CKPD_VIOLATION_LIMIT, "charge"), 1);
    ckpd_plan_free(plan);
}
END_TEST

START_TEST(battery_energy)
{
    ckpd_plan *plan = rebuild(CKPD_SCENARIO_S6, NULL);
    change(plan, "soc_kwh", 0, 10);
    ck_assert_int_eq(
        found(CKPD_SCENARIO_S6, plan, (double)NAN, CKPD_VIOLATION_SOC, "SOC starts at"), 1);
    ckpd_plan_free(plan);
    plan = rebuild(CKPD_SCENARIO_S6, NULL);
    change(plan, "soc_kwh", SLOTS, -10);
    ck_assert_int_eq(
        found(CKPD_SCENARIO_S6, plan, (double)NAN, CKPD_VIOLATION_SOC, "exactly 3000 wanted"), 1);
    ckpd_plan_free(plan);
    plan = rebuild(CKPD_SCENARIO_S6, NULL);
    change(plan, "soc_kwh", 4, 9000);
    ck_assert_int_eq(
        found(CKPD_SCENARIO_S6, plan, (double)NAN, CKPD_VIOLATION_SOC, "outside 0..8000"), 1);
    ckpd_plan_free(plan);
}
END_TEST

static bool longer(int32_t job, int32_t index, ckpd_step *step)
{
    (void)index;
    step->from_slot -= job == 1 && step->from_slot > 0;
    return job == 0 || index == 0;
}

static bool no_segment(int32_t job, int32_t index, ckpd_step *step)
{
    step->from_segment += job == 0 && index == 0;
    return true;
}

static bool more_gpus(int32_t job, int32_t index, ckpd_step *step)
{
    step->gpus += job == 0 && index == 0;
    return true;
}

static bool no_such_mode(int32_t job, int32_t index, ckpd_step *step)
{
    step->mode = job == 0 && index == 0 ? 2 : step->mode;
    return true;
}

static bool drop_first(int32_t job, int32_t index, ckpd_step *step)
{
    (void)step;
    return job != 0 || index != 0;
}

START_TEST(paths)
{
    static const struct {
        edit_fn edit;
        const char *part;
        int32_t kind;
    } cases[] = {
        {longer, "job 'B': step at slot", CKPD_VIOLATION_PATH},
        {no_segment, "job 'A': step at slot", CKPD_VIOLATION_PATH},
        {more_gpus, "claims", CKPD_VIOLATION_PATH},
        {no_such_mode, "has mode 2 of 2", CKPD_VIOLATION_PATH},
        {drop_first, "are complete", CKPD_VIOLATION_PATH},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ckpd_plan *plan = rebuild(CKPD_SCENARIO_S6, cases[i].edit);
        ck_assert_msg(found(CKPD_SCENARIO_S6, plan, (double)NAN, cases[i].kind, cases[i].part) >= 1,
                      "case %d", (int)i);
        ckpd_plan_free(plan);
    }
}
END_TEST

/* Plans written by hand for job A alone; B as it was solved. */
static ckpd_plan *with_steps(const ckpd_step *steps, int32_t count)
{
    ckpd_plan *plan = rebuild(CKPD_SCENARIO_S6, drop_first);
    ckpd_plan *made = NULL;
    ck_assert_int_eq(ckpd_plan_new(&made, d.context, JOBS, SLOTS), CKPD_OK);
    for (int32_t i = 0; i < count; i++) {
        ck_assert_int_eq(ckpd_plan_add_step(made, 0, &steps[i]), CKPD_OK);
    }
    for (int32_t i = 0; i < ckpd_plan_step_count(plan, 1); i++) {
        ckpd_step step = {.size = sizeof step};
        ck_assert_int_eq(ckpd_plan_get_step(plan, 1, i, &step), CKPD_OK);
        ck_assert_int_eq(ckpd_plan_add_step(made, 1, &step), CKPD_OK);
    }
    ckpd_plan_free(plan);
    return made;
}

#define STEP(from, to, segment, end, m, n)              \
    {                                                   \
        sizeof(ckpd_step), from, to, segment, end, m, n \
    }

START_TEST(rules_of_paths)
{
    /* mode 1 for a segment (1 slot), then mode 0, which the rule forbids */
    const ckpd_step forbidden[] = {STEP(0, 1, 0, 1, 1, 32), STEP(2, 5, 1, 3, 0, 16)};
    ckpd_plan *plan = with_steps(forbidden, 2);
    ck_assert_int_eq(found(CKPD_SCENARIO_S6, plan, (double)NAN, CKPD_VIOLATION_PATH,
                           "mode 0 after mode 1 at slot 2 is not allowed"),
                     1);
    ckpd_plan_free(plan);
    /* two of three segments */
    const ckpd_step part[] = {STEP(0, 3, 0, 2, 0, 16)};
    plan = with_steps(part, 1);
    ck_assert_int_eq(found(CKPD_SCENARIO_S6, plan, (double)NAN, CKPD_VIOLATION_COMPLETION,
                           "job 'A': 2 of 3 segments"),
                     1);
    ckpd_plan_free(plan);
    /* one segment takes 2 slots, not 1 */
    const ckpd_step quick[] = {STEP(0, 1, 0, 1, 0, 16), STEP(1, 4, 1, 3, 0, 16)};
    plan = with_steps(quick, 2);
    ck_assert_int_eq(found(CKPD_SCENARIO_S6, plan, (double)NAN, CKPD_VIOLATION_PATH,
                           "step at slot 0 takes 1 slots, 1 segments in mode 0 take 2"),
                     1);
    ckpd_plan_free(plan);
    /* the same steps are no continuous training */
    const ckpd_step split[] = {STEP(0, 2, 0, 1, 0, 16), STEP(2, 5, 1, 3, 0, 16)};
    plan = with_steps(split, 2);
    ck_assert_int_ge(found(CKPD_SCENARIO_S1, plan, (double)NAN, CKPD_VIOLATION_PATH, "in 2 steps"),
                     1);
    ck_assert_int_ge(found(CKPD_SCENARIO_S3, plan, (double)NAN, CKPD_VIOLATION_BALANCE, "balance"),
                     1);
    ckpd_plan_free(plan);
    /* S3 counts work: 5 h in mode 0 do 3.33 segments, 4 h do 2.67 of 3 */
    const ckpd_step little[] = {STEP(0, 4, -1, -1, 0, 16)};
    plan = with_steps(little, 1);
    ck_assert_int_eq(found(CKPD_SCENARIO_S3, plan, (double)NAN, CKPD_VIOLATION_COMPLETION,
                           "job 'A': 88.8888888889 % of its work is done"),
                     1);
    ckpd_plan_free(plan);
}
END_TEST

START_TEST(release_and_deadline)
{
    ckpd_plan *plan = NULL;
    const ckpd_step early = STEP(0, 2, 0, 2, 1, 32);
    const ckpd_step late = STEP(6, 8, 0, 2, 1, 32);
    ck_assert_int_eq(ckpd_plan_new(&plan, d.context, JOBS, SLOTS), CKPD_OK);
    ck_assert_int_eq(ckpd_plan_add_step(plan, 1, &early), CKPD_OK);
    ck_assert_int_eq(found(CKPD_SCENARIO_S4, plan, (double)NAN, CKPD_VIOLATION_PATH,
                           "job 'B': step starts at boundary 0, the job is free from 1 on"),
                     1);
    ckpd_plan_free(plan);
    ck_assert_int_eq(ckpd_plan_new(&plan, d.context, JOBS, SLOTS), CKPD_OK);
    ck_assert_int_eq(ckpd_plan_add_step(plan, 1, &late), CKPD_OK);
    ck_assert_int_eq(found(CKPD_SCENARIO_S4, plan, (double)NAN, CKPD_VIOLATION_PATH,
                           "job 'B': step ends at boundary 8, after the deadline 7"),
                     1);
    ckpd_plan_free(plan);
}
END_TEST

START_TEST(caps)
{
    ckpd_plan *plan = NULL;
    const ckpd_step a = STEP(1, 4, 0, 3, 1, 32);
    const ckpd_step b = STEP(1, 3, 0, 2, 1, 32);
    ck_assert_int_eq(ckpd_plan_new(&plan, d.context, JOBS, SLOTS), CKPD_OK);
    ck_assert_int_eq(ckpd_plan_add_step(plan, 0, &a), CKPD_OK);
    ck_assert_int_eq(ckpd_plan_add_step(plan, 1, &b), CKPD_OK);
    /* 64 GPUs of 40; 1.2 x (1 + 26) = 32.4 MW of 30 */
    ck_assert_int_eq(found(CKPD_SCENARIO_S4, plan, (double)NAN, CKPD_VIOLATION_GPU_CAP,
                           "GPUs: 64 above the limit 40 in slot 1"),
                     1);
    ck_assert_int_eq(found(CKPD_SCENARIO_S4, plan, (double)NAN, CKPD_VIOLATION_SITE_CAP,
                           "site load: 32400 above the limit 30000 in slot 2"),
                     1);
    ckpd_plan_free(plan);
}
END_TEST

START_TEST(shapes_are_checked)
{
    ckpd_plan *plan = NULL;
    ckpd_report *report = NULL;
    ck_assert_int_eq(ckpd_plan_new(&plan, d.context, 1, SLOTS), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_verify(&report, d.problem, CKPD_SCENARIO_S4, plan, 0),
                     CKPD_ERR_LENGTH);
    ck_assert_int_eq(ckpd_problem_verify(&report, d.problem, 7, plan, 0), CKPD_ERR_RANGE);
    ckpd_plan_free(plan);
    ck_assert_int_eq(ckpd_plan_new(&plan, d.context, JOBS, SLOTS + 1), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_verify(&report, d.problem, CKPD_SCENARIO_S4, plan, 0),
                     CKPD_ERR_LENGTH);
    ck_assert_ptr_nonnull(
        strstr(ckpd_context_last_message(d.context), "the plan has 9 slots, the problem 8"));
    ck_assert_int_eq(ckpd_problem_verify(&report, d.problem, CKPD_SCENARIO_S4, NULL, 0),
                     CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_problem_verify(&report, NULL, CKPD_SCENARIO_S4, plan, 0),
                     CKPD_ERR_ARGUMENT);
    ckpd_plan_free(plan);
    ck_assert_ptr_null(report);
}
END_TEST

/* Whatever a plan says, the verifier reads nothing it should not: for the sanitizers. */
START_TEST(any_plan_can_be_judged)
{
    ckpd__random rng;
    ckpd__random_seed(&rng, 77, 3);
    for (int32_t round = 0; round < 300; round++) {
        ckpd_plan *plan = NULL;
        double series[SLOTS + 1];
        ck_assert_int_eq(ckpd_plan_new(&plan, d.context, JOBS, SLOTS), CKPD_OK);
        for (int32_t i = 0; i < 12; i++) {
            const ckpd_step step = {.size = sizeof step,
                                    .from_slot = (int32_t)(ckpd__random_next(&rng) % 10) - 1,
                                    .to_slot = (int32_t)(ckpd__random_next(&rng) % 10),
                                    .from_segment = (int32_t)(ckpd__random_next(&rng) % 5) - 1,
                                    .to_segment = (int32_t)(ckpd__random_next(&rng) % 6) - 1,
                                    .mode = (int32_t)(ckpd__random_next(&rng) % 4) - 1,
                                    .gpus = (int32_t)(ckpd__random_next(&rng) % 3) * 16};
            int32_t status =
                ckpd_plan_add_step(plan, (int32_t)(ckpd__random_next(&rng) % 3), &step);
            ck_assert(status == CKPD_OK || status == CKPD_ERR_RANGE);
        }
        for (int32_t t = 0; t <= SLOTS; t++) {
            series[t] = 1e4 * ckpd__random_uniform(&rng) - 1e3;
        }
        ck_assert_int_eq(ckpd_plan_set_series(plan, "charge_kw", series, SLOTS), CKPD_OK);
        ck_assert_int_eq(ckpd_plan_set_series(plan, "soc_kwh", series, SLOTS + 1), CKPD_OK);
        for (int32_t scenario = CKPD_SCENARIO_S1; scenario <= CKPD_SCENARIO_S6; scenario++) {
            ck_assert_int_gt(violations(scenario, plan, 0), 0);
        }
        ckpd_plan_free(plan);
    }
}
END_TEST

START_TEST(plans_are_checked_as_they_are_made)
{
    ckpd_plan *plan = NULL;
    double values[SLOTS + 1] = {0};
    const ckpd_step good = STEP(2, 4, 0, 1, 0, 16);
    const ckpd_step before = STEP(3, 5, 1, 2, 0, 16);
    const ckpd_step beyond = STEP(6, 9, 1, 2, 0, 16);
    const ckpd_step backwards = STEP(5, 6, 3, 2, 0, 16);
    ckpd_step small = good;
    small.size = 4;
    ck_assert_int_eq(ckpd_plan_new(&plan, d.context, -1, SLOTS), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_plan_new(&plan, d.context, 1, 0), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_plan_new(&plan, d.context, JOBS, SLOTS), CKPD_OK);
    ck_assert_int_eq(ckpd_plan_add_step(plan, 0, &good), CKPD_OK);
    ck_assert_int_eq(ckpd_plan_add_step(plan, 0, &before), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_plan_add_step(plan, 0, &beyond), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_plan_add_step(plan, 0, &backwards), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_plan_add_step(plan, 2, &good), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_plan_add_step(plan, 0, &small), CKPD_ERR_STRUCT_SIZE);
    ck_assert_int_eq(ckpd_plan_add_step(plan, 0, NULL), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_plan_step_count(plan, 0), 1);
    ck_assert_int_eq(ckpd_plan_step_count(plan, 5), 0);
    ck_assert_int_eq(ckpd_plan_set_series(plan, "import_kw", values, SLOTS + 1), CKPD_ERR_LENGTH);
    ck_assert_int_eq(ckpd_plan_set_series(plan, "imports_kw", values, SLOTS),
                     CKPD_ERR_UNKNOWN_NAME);
    ck_assert_ptr_nonnull(
        strstr(ckpd_context_last_message(d.context), "did you mean 'import_kw'?"));
    ck_assert_int_eq(ckpd_plan_set_series(plan, "gpus", values, SLOTS), CKPD_ERR_UNKNOWN_NAME);
    ck_assert_int_eq(ckpd_plan_get_series(plan, "gpus", values, SLOTS), CKPD_ERR_STATE);
    values[3] = (double)NAN;
    ck_assert_int_eq(ckpd_plan_set_series(plan, "soc_kwh", values, SLOTS + 1), CKPD_ERR_NOT_FINITE);
    ckpd_plan_free(plan);
    ckpd_plan_free(NULL);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        rebuilt_plans_pass,
        cost_is_recomputed,
        flows_and_balance,
        exclusivity,
        battery_energy,
        paths,
        rules_of_paths,
        release_and_deadline,
        caps,
        shapes_are_checked,
        any_plan_can_be_judged,
        plans_are_checked_as_they_are_made,
        NULL,
    };
    Suite *suite = suite_create("verify");
    TCase *tc = tcase_create("verify");
    tcase_add_checked_fixture(tc, setup, teardown);
    for (int i = 0; tests[i] != NULL; i++) {
        tcase_add_test(tc, tests[i]);
    }
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
