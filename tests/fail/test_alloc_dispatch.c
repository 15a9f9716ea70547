/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "support/small.h"
#include "support/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* J0 with a battery, straight through the API so that each call is swept by itself. */
static void make_problem(sweep_memory *memory, ckpd_context *context, double gpu_cap,
                         ckpd_problem **problem)
{
    static const struct {
        const char *name;
        double value;
    } battery_fields[] = {{"energy_kwh", 20000},  {"charge_kw", 10000},     {"discharge_kw", 10000},
                          {"eta_charge", 0.9},    {"eta_discharge", 0.9},   {"soc_min_kwh", 0},
                          {"soc_max_kwh", 20000}, {"soc_start_kwh", 10000}, {"soc_end_kwh", 10000}};
    ckpd_site *site = NULL;
    ckpd_battery *battery = NULL;
    ckpd_graph *graph = NULL;
    SWEEP(small_j0_site(&site, context, gpu_cap));
    SWEEP(ckpd_site_set_constant(site, "wind_kw", 2000));
    SWEEP(ckpd_battery_new(&battery, context));
    for (size_t i = 0; i < sizeof battery_fields / sizeof battery_fields[0]; i++) {
        SWEEP(ckpd_battery_set(battery, battery_fields[i].name, battery_fields[i].value));
    }
    SWEEP(ckpd_site_add_battery(site, battery));
    SWEEP(small_j0_graph(&graph, context));
    SWEEP(ckpd_problem_new(problem, context, site));
    SWEEP(ckpd_problem_add_job(*problem, graph));
    ckpd_graph_free(graph);
    ckpd_battery_free(battery);
    ckpd_site_free(site);
}

/* Solves and compares with the first, undisturbed run; every scenario runs in a process of its own.
 */
static void solve_all(sweep_memory *memory, ckpd_context *context, const char *backend)
{
    static const int32_t scenarios[] = {CKPD_SCENARIO_S1, CKPD_SCENARIO_S2, CKPD_SCENARIO_S3,
                                        CKPD_SCENARIO_S4, CKPD_SCENARIO_S5, CKPD_SCENARIO_S6};
    enum { COUNT = sizeof scenarios / sizeof scenarios[0] };
    static double expected[COUNT];
    static bool known;
    ckpd_problem *problem = NULL;
    ckpd_solve_options *options = NULL;
    make_problem(memory, context, 100, &problem);
    SWEEP(ckpd_solve_options_new(&options, context));
    SWEEP(ckpd_solve_options_set_backend(options, backend));
    for (int i = 0; i < COUNT; i++) {
        if (backend != NULL && strcmp(backend, "enumerate") == 0 &&
            scenarios[i] == CKPD_SCENARIO_S3) {
            continue; /* it takes no slot-wise jobs */
        }
        ckpd_solution *solution = NULL;
        SWEEP(ckpd_problem_solve(&solution, problem, scenarios[i], options));
        ck_assert_int_eq(ckpd_solution_outcome(solution), CKPD_OUTCOME_OPTIMAL);
        ck_assert_int_eq(ckpd_report_violation_count(ckpd_solution_report(solution)), 0);
        double cost = ckpd_solution_cost(solution);
        if (known) {
            ck_assert_double_eq_tol(cost, expected[i], 1e-6);
        } else {
            expected[i] = cost;
        }
        ckpd_solution_free(solution);
    }
    known = true;
    ckpd_solve_options_free(options);
    ckpd_problem_free(problem);
}

static void solve_by_choice(sweep_memory *memory, ckpd_context *context)
{
    solve_all(memory, context, NULL);
}

static void solve_by_enumeration(sweep_memory *memory, ckpd_context *context)
{
    solve_all(memory, context, "enumerate");
}

static void solve_by_glpk(sweep_memory *memory, ckpd_context *context)
{
    solve_all(memory, context, "glpk");
}

/* Infeasible: the causes are found and worded. */
static void infeasible(sweep_memory *memory, ckpd_context *context)
{
    ckpd_problem *problem = NULL;
    ckpd_solution *solution = NULL;
    make_problem(memory, context, 50, &problem);
    SWEEP(ckpd_problem_solve(&solution, problem, CKPD_SCENARIO_S6, NULL));
    ck_assert_int_eq(ckpd_solution_outcome(solution), CKPD_OUTCOME_INFEASIBLE);
    ck_assert_int_gt(ckpd_solution_cause_count(solution), 0);
    ckpd_solution_free(solution);
    ckpd_problem_free(problem);
}

/* Limits with prices, what passes them, and the explanation of that. */
static void limits_with_prices(sweep_memory *memory, ckpd_context *context)
{
    ckpd_problem *problem = NULL;
    ckpd_solution *solution = NULL;
    ckpd_explanation *explanation = NULL;
    make_problem(memory, context, 50, &problem);
    SWEEP(ckpd_problem_soften(problem));
    SWEEP(ckpd_problem_solve(&solution, problem, CKPD_SCENARIO_S6, NULL));
    ck_assert_int_eq(ckpd_solution_outcome(solution), CKPD_OUTCOME_OPTIMAL);
    ck_assert_int_gt(ckpd_report_overrun_count(ckpd_solution_report(solution)), 0);
    SWEEP(ckpd_problem_explain(&explanation, problem, solution, NULL));
    ckpd_explanation_free(explanation);
    ckpd_solution_free(solution);
    ckpd_problem_free(problem);
}

/* The backend in a process of its own. */
static void solve_in_worker(sweep_memory *memory, ckpd_context *context)
{
    ckpd_problem *problem = NULL;
    ckpd_solve_options *options = NULL;
    ckpd_solution *solution = NULL;
    SWEEP(small_j0(&problem, context, 100));
    SWEEP(ckpd_solve_options_new(&options, context));
    SWEEP(ckpd_solve_options_set_backend(options, "enumerate"));
    SWEEP(ckpd_solve_options_set_worker(options, BUILD_DIR "/ckptdispatch"));
    SWEEP(ckpd_problem_solve(&solution, problem, CKPD_SCENARIO_S4, options));
    ck_assert_double_eq_tol(ckpd_solution_cost(solution), SMALL_J0_COST, 1e-6);
    ckpd_solution_free(solution);
    ckpd_solve_options_free(options);
    ckpd_problem_free(problem);
}

/* Change and solve again; a plan of a solve as the start of the next. */
static void change_and_resolve(sweep_memory *memory, ckpd_context *context)
{
    ckpd_problem *problem = NULL;
    ckpd_site *site = NULL;
    ckpd_solution *first = NULL;
    ckpd_solution *second = NULL;
    ckpd_solution *third = NULL;
    ckpd_solution *fourth = NULL;
    double share[7];
    SWEEP(small_j0(&problem, context, 100));
    SWEEP(ckpd_problem_solve(&first, problem, CKPD_SCENARIO_S4, NULL));
    SWEEP(ckpd_problem_set_segments(problem, -1, 2));
    SWEEP(
        ckpd_problem_resolve(&second, problem, CKPD_SCENARIO_S4, NULL, ckpd_solution_plan(first)));
    SWEEP(small_j0_site(&site, context, 100));
    SWEEP(ckpd_problem_set_site(problem, site));
    SWEEP(ckpd_problem_set_gpu_cap(problem, 200));
    SWEEP(
        ckpd_problem_resolve(&third, problem, CKPD_SCENARIO_S4, NULL, ckpd_solution_plan(second)));
    SWEEP(ckpd_problem_resolve_from(&fourth, problem, CKPD_SCENARIO_S4, NULL, third, 0));
    SWEEP(ckpd_solution_progress(first, 0, share, 7));
    ck_assert_double_eq_tol(ckpd_solution_cost(first), SMALL_J0_COST, 1e-6);
    ck_assert_double_eq_tol(ckpd_solution_cost(fourth), 200, 1e-6);
    /* A pause after each hour: hours 1 and 6 of J0, by hand. */
    ck_assert_double_eq_tol(ckpd_solution_cost(second), 200, 1e-6);
    ck_assert_double_eq_tol(ckpd_solution_cost(third), 200, 1e-6);
    ckpd_site_free(site);
    ckpd_solution_free(fourth);
    ckpd_solution_free(third);
    ckpd_solution_free(second);
    ckpd_solution_free(first);
    ckpd_problem_free(problem);
}

/* A plan of the caller, verified: J0 at hours 1-2, 10 MW bought in both. */
static void own_plan(sweep_memory *memory, ckpd_context *context)
{
    static const double import_kw[] = {10000, 10000, 0, 0, 0, 0};
    const ckpd_step step = {.size = sizeof step,
                            .from_slot = 0,
                            .to_slot = 2,
                            .from_segment = 0,
                            .to_segment = 1,
                            .mode = 0,
                            .gpus = 100};
    ckpd_problem *problem = NULL;
    ckpd_plan *plan = NULL;
    ckpd_report *report = NULL;
    double cost = 0;
    SWEEP(small_j0(&problem, context, 100));
    SWEEP(ckpd_plan_new(&plan, context, 1, 6));
    SWEEP(ckpd_plan_add_step(plan, 0, &step));
    SWEEP(ckpd_plan_set_series(plan, "import_kw", import_kw, 6));
    SWEEP(ckpd_problem_verify(&report, problem, CKPD_SCENARIO_S4, plan, SMALL_J0_COST));
    ck_assert_int_eq(ckpd_report_violation_count(report), 0);
    SWEEP(ckpd_report_get(report, "cost", &cost));
    ck_assert_double_eq_tol(cost, SMALL_J0_COST, 1e-6);
    ckpd_report_free(report);
    report = NULL;
    /* The same with a wrong claim has something to say. */
    SWEEP(ckpd_problem_verify(&report, problem, CKPD_SCENARIO_S4, plan, 1));
    ck_assert_int_gt(ckpd_report_violation_count(report), 0);
    ckpd_report_free(report);
    ckpd_plan_free(plan);
    ckpd_problem_free(problem);
}

/* Half the GPUs that J0 needs: the set that has to give way, the same in every run. */
static void diagnosed(sweep_memory *memory, ckpd_context *context)
{
    ckpd_problem *problem = NULL;
    ckpd_diagnosis *diagnosis = NULL;
    ckpd_relaxation relaxation = {.size = sizeof relaxation};
    make_problem(memory, context, 50, &problem);
    SWEEP(ckpd_problem_diagnose(&diagnosis, problem, CKPD_SCENARIO_S4, NULL));
    ck_assert_int_eq(ckpd_diagnosis_outcome(diagnosis), CKPD_OUTCOME_FEASIBLE);
    ck_assert_int_eq(ckpd_diagnosis_relaxation_count(diagnosis), 1);
    ck_assert_int_eq(ckpd_diagnosis_get_relaxation(diagnosis, 0, &relaxation), CKPD_OK);
    ck_assert_int_eq(relaxation.limit, CKPD_LIMIT_GPU_CAP);
    ckpd_diagnosis_free(diagnosis);
    ckpd_problem_free(problem);
}

static void explained(sweep_memory *memory, ckpd_context *context)
{
    ckpd_problem *problem = NULL;
    ckpd_solution *solution = NULL;
    ckpd_explanation *explanation = NULL;
    ckpd_job_explanation job = {.size = sizeof job};
    double cost = 0;
    make_problem(memory, context, 100, &problem);
    SWEEP(ckpd_problem_solve(&solution, problem, CKPD_SCENARIO_S6, NULL));
    SWEEP(ckpd_problem_explain(&explanation, problem, solution, NULL));
    ck_assert_int_eq(ckpd_explanation_get_job(explanation, 0, &job), CKPD_OK);
    ck_assert_ptr_nonnull(ckpd_explanation_baseline(explanation));
    SWEEP(ckpd_problem_cost_with(&cost, problem, CKPD_SCENARIO_S4, NULL, CKPD_LIMIT_GPU_CAP, -50));
    ck_assert(isinf(cost));
    ckpd_explanation_free(explanation);
    ckpd_solution_free(solution);
    ckpd_problem_free(problem);
}

/* Three hours of work in two: what the job could do and when, by itself, is found and worded. */
static void too_late(sweep_memory *memory, ckpd_context *context)
{
    static const int32_t gpus[] = {100};
    static const double rate[] = {1}, power_kw[] = {10000};
    const ckpd_mode_table table = {.size = sizeof table,
                                   .count = 1,
                                   .installed_gpus = 100,
                                   .gpus = gpus,
                                   .rate = rate,
                                   .power_kw = power_kw};
    ckpd_task *task = NULL;
    ckpd_mode_set *modes = NULL;
    ckpd_graph *graph = NULL;
    ckpd_site *site = NULL;
    ckpd_problem *problem = NULL;
    ckpd_solution *solution = NULL;
    SWEEP(ckpd_task_new(&task, context, "late"));
    SWEEP(ckpd_task_set(task, "tranche_baseline_hours", 3));
    SWEEP(ckpd_task_set(task, "segments", 3));
    SWEEP(ckpd_mode_set_from_table(&modes, context, task, &table));
    SWEEP(ckpd_graph_build(&graph, context, task, modes, 2, 1, NULL));
    SWEEP(ckpd_site_new(&site, context, 2, 1));
    SWEEP(ckpd_site_set_constant(site, "gpu_cap", 100));
    SWEEP(ckpd_site_set_constant(site, "import_price_per_mwh", 20));
    SWEEP(ckpd_problem_new(&problem, context, site));
    SWEEP(ckpd_problem_add_job(problem, graph));
    SWEEP(ckpd_problem_solve(&solution, problem, CKPD_SCENARIO_S4, NULL));
    ck_assert_int_eq(ckpd_solution_outcome(solution), CKPD_OUTCOME_INFEASIBLE);
    ck_assert_int_eq(ckpd_solution_cause_count(solution), 1);
    ck_assert_ptr_nonnull(
        strstr(ckpd_solution_cause(solution, 0), "earliest feasible deadline is boundary 3"));
    ckpd_solution_free(solution);
    ckpd_problem_free(problem);
    ckpd_site_free(site);
    ckpd_graph_free(graph);
    ckpd_mode_set_free(modes);
    ckpd_task_free(task);
}

int main(void)
{
    static const sweep_scenario scenarios[] = {
        {"every scenario, backend by choice", solve_by_choice},
        {"every scenario by enumeration", solve_by_enumeration},
        {"infeasible, with causes", infeasible},
        {"limits with prices", limits_with_prices},
        {"a job that is too late", too_late},
        {"change and solve again", change_and_resolve},
        {"a worker process", solve_in_worker},
        {"a plan of the caller", own_plan},
        {"diagnosis", diagnosed},
        {"explanation", explained},
        {"every scenario by GLPK", solve_by_glpk}, /* last: left out of a build without GLPK */
    };
    int32_t count = (int32_t)(sizeof scenarios / sizeof scenarios[0]);
    return sweep_main("dispatch", scenarios, ckpd_feature("glpk") ? count : count - 1);
}
