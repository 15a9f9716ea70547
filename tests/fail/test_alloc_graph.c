/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "support/sweep.h"

#include <ckptdispatch/graph.h>

/* Two modes, three segments, built with and without reduction and with a transition rule. */
static void make_task(sweep_memory *memory, ckpd_context *context, ckpd_task **task,
                      ckpd_mode_set **modes)
{
    static const int32_t gpus[] = {100, 200};
    static const double rate[] = {1, 1.8};
    static const double power_kw[] = {50, 95};
    const ckpd_mode_table table = {.size = sizeof table,
                                   .count = 2,
                                   .installed_gpus = 200,
                                   .gpus = gpus,
                                   .rate = rate,
                                   .power_kw = power_kw,
                                   .baseline_index = 0};
    SWEEP(ckpd_task_new(task, context, "job"));
    SWEEP(ckpd_task_set(*task, "tranche_baseline_hours", 6));
    SWEEP(ckpd_task_set(*task, "segments", 3));
    SWEEP(ckpd_mode_set_from_table(modes, context, *task, &table));
}

static double edge_cost(const char *job, const ckpd_edge *edge, int32_t *failed, void *user)
{
    (void)job;
    (void)failed;
    (void)user;
    return edge->gpus * 0.01;
}

static void build_with(sweep_memory *memory, ckpd_context *context,
                       const ckpd_graph_options *options, int64_t *edges)
{
    ckpd_task *task = NULL;
    ckpd_mode_set *modes = NULL;
    ckpd_graph *graph = NULL;
    ckpd_graph_counts counts = {.size = sizeof counts};
    make_task(memory, context, &task, &modes);
    SWEEP(ckpd_graph_build(&graph, context, task, modes, 12, 1.0, options));
    SWEEP(ckpd_graph_count(graph, &counts));
    *edges = counts.training_edges;
    ckpd_graph_free(graph);
    ckpd_mode_set_free(modes);
    ckpd_task_free(task);
}

static void plain(sweep_memory *memory, ckpd_context *context)
{
    int64_t edges = 0;
    build_with(memory, context, NULL, &edges);
    ck_assert_int_gt(edges, 0);
}

static void full(sweep_memory *memory, ckpd_context *context)
{
    ckpd_graph_options *options = NULL;
    int64_t reduced = 0;
    int64_t unreduced = 0;
    build_with(memory, context, NULL, &reduced);
    SWEEP(ckpd_graph_options_new(&options, context));
    SWEEP(ckpd_graph_options_set(options, "reduce", 0));
    build_with(memory, context, options, &unreduced);
    ckpd_graph_options_free(options);
    ck_assert_int_ge(unreduced, reduced);
}

static void rules_and_costs(sweep_memory *memory, ckpd_context *context)
{
    static const uint8_t allowed[] = {1, 0, 1, 1};
    ckpd_graph_options *options = NULL;
    int64_t edges = 0;
    SWEEP(ckpd_graph_options_new(&options, context));
    SWEEP(ckpd_graph_options_set_transitions(options, 2, allowed));
    SWEEP(ckpd_graph_options_set_edge_cost(options, edge_cost, NULL));
    build_with(memory, context, options, &edges);
    ckpd_graph_options_free(options);
    ck_assert_int_gt(edges, 0);
}

int main(void)
{
    static const sweep_scenario scenarios[] = {
        {"plain", plain, 1},
        {"unreduced", full, 1},
        {"transitions and edge costs", rules_and_costs, 1},
    };
    return sweep_main("graph", scenarios, (int32_t)(sizeof scenarios / sizeof scenarios[0]));
}
