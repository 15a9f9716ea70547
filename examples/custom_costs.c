/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Costs and profiles that no tariff field knows: solar power from a callback, a block tariff on
 * import (convex curve, all slots), an evening penalty on net load (curve from a callback), and a
 * price on every training step. What the plan is charged is worked out here again and compared.
 */
#include <ckptdispatch.h>
#include <math.h>
#include <stdio.h>

enum { SLOTS = 24, MODES = 3 };

#define TRY(call)                                                        \
    do {                                                                 \
        if ((call) != CKPD_OK) {                                         \
            fprintf(stderr, "%s\n", ckpd_context_last_message(context)); \
            return 1;                                                    \
        }                                                                \
    } while (0)

/* Half a sine between 06:00 and 18:00, in the middle of the slot. */
static double solar(int32_t slot, double start_hours, double length_hours, int32_t *failed,
                    void *user)
{
    const double peak_kw = *(const double *)user, hour = start_hours + length_hours / 2;
    (void)slot;
    (void)failed; /* a source that cannot answer sets it to 1 */
    return hour > 6 && hour < 18 ? peak_kw * sin((hour - 6) / 12 * 3.141592653589793) : 0;
}

/* 0.06 per kWh above 100 kW on top of the price. */
static const double block_x[3] = {0, 100, 200}, block_money[3] = {0, 0, 6};

/* From 17:00 to 21:00 each kW of net load above 60 kW costs 0.20 an hour. */
static int32_t evening(int32_t slot, int32_t capacity, double *x_kw, double *money_per_hour,
                       void *user)
{
    const double x[3] = {0, 60, 160}, money[3] = {0, 0, 20};
    (void)user;
    if (slot < 17 || slot >= 21) {
        return 0;
    }
    if (capacity < 3) {
        return -1;
    }
    for (int i = 0; i < 3; i++) {
        x_kw[i] = x[i];
        money_per_hour[i] = money[i];
    }
    return 3;
}

/* Somebody stands by when a step begins: 1.50 by day, 4 before 07:00 and from 20:00 on. */
static double standby(int32_t slot)
{
    return slot < 7 || slot >= 20 ? 4 : 1.5;
}
static double step_price(const char *job, const ckpd_edge *edge, int32_t *failed, void *user)
{
    (void)job;
    (void)failed;
    (void)user;
    return standby(edge->from_slot);
}

/* The custom costs of a plan, from its flows and steps. */
static int32_t recompute(const ckpd_plan *plan, double *curves, double *steps)
{
    double import_kw[SLOTS], export_kw[SLOTS], curtailment_kw[SLOTS];
    int32_t status = ckpd_plan_get_series(plan, "import_kw", import_kw, SLOTS);
    *curves = *steps = 0;
    if (status == CKPD_OK) {
        status = ckpd_plan_get_series(plan, "export_kw", export_kw, SLOTS);
    }
    if (status == CKPD_OK) {
        status = ckpd_plan_get_series(plan, "curtailment_kw", curtailment_kw, SLOTS);
    }
    for (int32_t t = 0; status == CKPD_OK && t < SLOTS; t++) {
        const double net_kw = import_kw[t] - export_kw[t] - curtailment_kw[t];
        *curves += 0.06 * fmax(0, import_kw[t] - 100);
        *curves += t >= 17 && t < 21 ? 0.2 * fmax(0, net_kw - 60) : 0;
    }
    for (int32_t i = 0; status == CKPD_OK && i < ckpd_plan_step_count(plan, 0); i++) {
        ckpd_step step = {.size = sizeof step};
        status = ckpd_plan_get_step(plan, 0, i, &step);
        *steps += standby(step.from_slot);
    }
    return status;
}

int main(void)
{
    const int32_t gpus[MODES] = {64, 128, 256};
    const double rate[MODES] = {0.55, 1.0, 1.8}, power_kw[MODES] = {26, 51.2, 102.4};
    const ckpd_mode_table table = {.size = sizeof table,
                                   .count = MODES,
                                   .installed_gpus = 256,
                                   .gpus = gpus,
                                   .rate = rate,
                                   .power_kw = power_kw,
                                   .baseline_index = 1};
    double peak_kw = 90;
    ckpd_context *context = NULL;
    ckpd_site *site = NULL;
    ckpd_task *task = NULL;
    ckpd_mode_set *modes = NULL;
    ckpd_graph_options *options = NULL;
    ckpd_graph *graph = NULL;
    ckpd_problem *problem = NULL;
    ckpd_solution *solution = NULL;
    if (ckpd_context_new(&context, NULL) != CKPD_OK) {
        return 1;
    }
    TRY(ckpd_site_new(&site, context, SLOTS, 1.0));
    TRY(ckpd_site_set_constant(site, "import_price_per_mwh", 40));
    TRY(ckpd_site_set_constant(site, "gpu_cap", 256));
    TRY(ckpd_site_set_constant(site, "base_it_kw", 75));
    TRY(ckpd_site_set_profile(site, "solar_kw", solar, &peak_kw));
    TRY(ckpd_site_add_cost_curve(site, -1, CKPD_COST_IMPORT, 3, block_x, block_money));
    TRY(ckpd_site_add_cost_callback(site, CKPD_COST_NET_LOAD, evening, NULL));

    TRY(ckpd_task_new(&task, context, "training"));
    TRY(ckpd_task_set(task, "tranche_baseline_hours", 26));
    TRY(ckpd_task_set(task, "segments", 10));
    TRY(ckpd_mode_set_from_table(&modes, context, task, &table));
    TRY(ckpd_graph_options_new(&options, context));
    TRY(ckpd_graph_options_set_edge_cost(options, step_price, NULL));
    TRY(ckpd_graph_build(&graph, context, task, modes, SLOTS, 1.0, options));
    TRY(ckpd_problem_new(&problem, context, site));
    TRY(ckpd_problem_add_job(problem, graph));
    TRY(ckpd_problem_solve(&solution, problem, CKPD_SCENARIO_S4, NULL));

    const ckpd_plan *plan = ckpd_solution_plan(solution);
    if (plan == NULL) {
        return 1;
    }
    double curves, steps, custom_cost, edge_cost;
    TRY(recompute(plan, &curves, &steps));
    TRY(ckpd_report_get(ckpd_solution_report(solution), "custom_cost", &custom_cost));
    TRY(ckpd_report_get(ckpd_solution_report(solution), "edge_cost", &edge_cost));
    for (int32_t i = 0; i < ckpd_plan_step_count(plan, 0); i++) {
        ckpd_step step = {.size = sizeof step};
        TRY(ckpd_plan_get_step(plan, 0, i, &step));
        printf("%02d:00-%02d:00 on %3d GPUs\n", step.from_slot, step.to_slot, step.gpus);
    }
    printf("cost %.3f, of it by curves %.3f (here %.3f), by steps %.3f (here %.3f)\n",
           ckpd_solution_cost(solution), custom_cost, curves, edge_cost, steps);
    const int same = fabs(custom_cost - curves) < 1e-6 && fabs(edge_cost - steps) < 1e-6;

    ckpd_solution_free(solution);
    ckpd_problem_free(problem);
    ckpd_graph_free(graph);
    ckpd_graph_options_free(options);
    ckpd_mode_set_free(modes);
    ckpd_task_free(task);
    ckpd_site_free(site);
    ckpd_context_free(context);
    return same ? 0 : 1;
}
