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

/* The first segment runs already, in the mode with 100 GPUs: 2 h of its 2 h are fixed. The power of
 * the last slot of an edge is pro rata, so idle powers are given. */
static void running(sweep_memory *memory, ckpd_context *context)
{
    static const int32_t gpus[] = {100, 200};
    static const double rate[] = {1, 1.8};
    static const double power_kw[] = {50, 95};
    static const double idle_kw[] = {5, 9};
    const ckpd_mode_table table = {.size = sizeof table,
                                   .count = 2,
                                   .installed_gpus = 200,
                                   .gpus = gpus,
                                   .rate = rate,
                                   .power_kw = power_kw,
                                   .idle_power_kw = idle_kw,
                                   .baseline_index = 0};
    ckpd_task *task = NULL;
    ckpd_mode_set *modes = NULL;
    ckpd_graph_options *options = NULL;
    ckpd_graph *graph = NULL;
    ckpd_graph_counts counts = {.size = sizeof counts};
    SWEEP(ckpd_task_new(&task, context, "job"));
    SWEEP(ckpd_task_set(task, "tranche_baseline_hours", 6));
    SWEEP(ckpd_task_set(task, "segments", 3));
    SWEEP(ckpd_task_set(task, "running_mode", 0));
    SWEEP(ckpd_task_set(task, "running_slots_done", 0));
    SWEEP(ckpd_mode_set_from_table(&modes, context, task, &table));
    ck_assert_int_eq(ckpd_mode_set_running(modes), 0);
    SWEEP(ckpd_graph_options_new(&options, context));
    SWEEP(ckpd_graph_options_set_text(options, "last_slot_power", "prorated"));
    SWEEP(ckpd_graph_build(&graph, context, task, modes, 12, 1.0, options));
    SWEEP(ckpd_graph_count(graph, &counts));
    ck_assert_int_gt(counts.training_edges, 0);
    ckpd_graph_free(graph);
    ckpd_graph_options_free(options);
    ckpd_mode_set_free(modes);
    ckpd_task_free(task);
}

/* What a start costs, from numbers and then from a checkpoint profile. */
static void costs_of_a_start(sweep_memory *memory, ckpd_context *context)
{
    static const double hours[] = {0, 1, 1, 0, 0, 0}, money[] = {0, 5, 5, 0, 1, 1};
    ckpd_task *task = NULL;
    ckpd_mode_set *modes = NULL;
    ckpd_graph_options *options = NULL;
    ckpd_checkpoint *profile = NULL;
    ckpd_graph *graph = NULL;
    make_task(memory, context, &task, &modes);
    SWEEP(ckpd_graph_options_new(&options, context));
    SWEEP(ckpd_graph_options_set_change_costs(options, 2, hours, money));
    SWEEP(ckpd_graph_build(&graph, context, task, modes, 12, 1.0, options));
    ckpd_graph_free(graph);
    graph = NULL;
    SWEEP(ckpd_checkpoint_new(&profile, context));
    SWEEP(ckpd_checkpoint_set(profile, "restart_s", 600));
    SWEEP(ckpd_checkpoint_set(profile, "state_gb", 1));
    SWEEP(ckpd_graph_options_set_checkpoint(options, profile, modes));
    SWEEP(ckpd_graph_build(&graph, context, task, modes, 12, 1.0, options));
    ckpd_graph_free(graph);
    ckpd_checkpoint_free(profile);
    ckpd_graph_options_free(options);
    ckpd_mode_set_free(modes);
    ckpd_task_free(task);
}

int main(void)
{
    static const sweep_scenario scenarios[] = {
        {"plain", plain},
        {"unreduced", full},
        {"transitions and edge costs", rules_and_costs},
        {"a job that runs", running},
        {"costs of a start", costs_of_a_start},
    };
    return sweep_main("graph", scenarios, (int32_t)(sizeof scenarios / sizeof scenarios[0]));
}
