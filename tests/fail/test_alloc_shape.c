/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "support/sweep.h"

#include <ckptdispatch/io.h>
#include <ckptdispatch/link.h>
#include <ckptdispatch/shape.h>
#include <stdio.h>
#include <string.h>

static void builders(sweep_memory *memory, ckpd_context *context)
{
    static const int32_t batch[] = {8, 16};
    static const double axis[] = {1.0, 2.0}, watts[] = {400, 500, 450, 550},
                        seconds[] = {2, 3, 2, 3};
    static const double t[] = {0, 1, 2}, w[] = {0, 1e5, 0};
    ckpd_power_event *event = NULL;
    ckpd_filler *filler = NULL, *shipped = NULL;
    ckpd_gpu_pool *pool = NULL;
    ckpd_microgrid *grid = NULL;
    ckpd_shape *shape = NULL;
    SWEEP(ckpd_power_event_new(&event, context));
    SWEEP(ckpd_power_event_set_trace(event, 3, t, w));
    ckpd_power_event_set(event, "onset_s", 5);
    ckpd_power_event_set(event, "duration_s", 5);
    ckpd_power_event_set(event, "depth_w", 1e5);
    SWEEP(ckpd_filler_new(&filler, context, "own"));
    SWEEP(ckpd_filler_set_table(filler, 2, batch, 2, axis, watts, seconds));
    SWEEP(ckpd_filler_set_planned(filler, 1, batch));
    ckpd_filler_set(filler, "axis_value", 1.5);
    SWEEP(ckpd_filler_builtin(&shipped, context, "qwen3-8b-chat"));
    SWEEP(ckpd_gpu_pool_new(&pool, context));
    ckpd_gpu_pool_set(pool, "gpu_count", 160);
    SWEEP(ckpd_microgrid_new(&grid, context, NULL));
    SWEEP(ckpd_shape_new(&shape, context, pool));
    SWEEP(ckpd_shape_add_event(shape, event));
    SWEEP(ckpd_shape_add_filler(shape, filler));
    SWEEP(ckpd_shape_add_filler(shape, shipped));
    ck_assert_int_eq(ckpd_shape_event_count(shape), 1);
    ck_assert_int_eq(ckpd_shape_filler_count(shape), 2);
    ckpd_power_event_free(event);
    ckpd_filler_free(filler);
    ckpd_filler_free(shipped);
    ckpd_gpu_pool_free(pool);
    ckpd_microgrid_free(grid);
    ckpd_shape_free(shape);
}

static const char CASE[] =
    "{\"schema\":\"ckptdispatch-shape\",\"schema_version\":1,\"name\":\"t\",\"pool\":{\"gpu_"
    "count\":160},"
    "\"shape\":{\"samples_per_step\":2},\"fillers\":[{\"name\":\"llama3.1-8b-chat\",\"planned\":["
    "64]},"
    "{\"name\":\"own\",\"axis_value\":1,\"table\":[{\"axis\":1,\"batch\":1,\"power_w_per_gpu\":400,"
    "\"duration_s\":2}]}],\"events\":[{\"onset_s\":12,\"duration_s\":4,\"depth_w\":80000,"
    "\"trace\":[[0,0],[1,80000],[5,0]]}]}";

#ifdef CKPD_HAVE_GLPK /* planning needs a solver for linear programs */
static void plan_and_run(sweep_memory *memory, ckpd_context *context)
{
    ckpd_shape *shape = NULL;
    ckpd_microgrid *grid = NULL;
    ckpd_shape_plan *plan = NULL;
    ckpd_control *control = NULL;
    ckpd_shape_run *run = NULL, *greedy = NULL;
    SWEEP(ckpd_shape_parse(&shape, &grid, context, CASE, strlen(CASE), NULL));
    SWEEP(ckpd_shape_plan_new(&plan, shape, "glpk", NULL));
    SWEEP(ckpd_control_new(&control, shape, plan));
    /* A step allocates nothing, so it cannot fail. */
    ckpd_control_input in = {.size = sizeof in, .time_s = 11.0};
    int32_t actions;
    for (int i = 0; i < 80; i++, in.time_s += 0.1) {
        in.onset = i == 10;
        in.onset_s = 12.0;
        ck_assert_int_eq(ckpd_control_step(control, &in, &actions), CKPD_OK);
    }
    SWEEP(ckpd_shape_run_new(&run, shape, grid, plan, CKPD_POLICY_PLAN, NULL));
    SWEEP(ckpd_shape_run_new(&greedy, shape, grid, NULL, CKPD_POLICY_GREEDY_REACTIVE, NULL));
    ckpd_shape_metrics m = {.size = sizeof m};
    ck_assert_int_eq(ckpd_shape_run_get_metrics(run, &m), CKPD_OK);
    ck_assert_int_gt(m.groups, 0);
    ckpd_shape_run_free(run);
    ckpd_shape_run_free(greedy);
    ckpd_control_free(control);
    ckpd_shape_plan_free(plan);
    ckpd_microgrid_free(grid);
    ckpd_shape_free(shape);
}
#endif

static void csv_and_response(sweep_memory *memory, ckpd_context *context)
{
    static const char text[] =
        "type,gpus_per_replica,batch,power_per_gpu_W,batch_time_s,axis,axis_value\n"
        "a,1,8,400,2,,\nb,1,8,300,2,1,1\nb,1,8,320,3,2,\n";
    static double deficit[64], hz[64];
    ckpd_gpu_pool *pool = NULL;
    ckpd_shape *shape = NULL;
    ckpd_microgrid *grid = NULL;
    SWEEP(ckpd_gpu_pool_new(&pool, context));
    ckpd_gpu_pool_set(pool, "gpu_count", 160);
    SWEEP(ckpd_shape_new(&shape, context, pool));
    SWEEP(ckpd_shape_add_fillers_csv(shape, text, strlen(text)));
    ck_assert_int_eq(ckpd_shape_filler_count(shape), 2);
    SWEEP(ckpd_microgrid_new(&grid, context, "campus-steam"));
    SWEEP(ckpd_microgrid_response(grid, 64, 0.01, deficit, hz, NULL, NULL));
    ckpd_gpu_pool_free(pool);
    ckpd_shape_free(shape);
    ckpd_microgrid_free(grid);
}

/* A case and its types in files. */
static void files(sweep_memory *memory, ckpd_context *context)
{
    ckpd_shape *shape = NULL;
    ckpd_microgrid *grid = NULL;
    FILE *out = fopen("sweep-shape.json", "w");
    ck_assert_ptr_nonnull(out);
    fputs("{\"schema\":\"ckptdispatch-shape\",\"schema_version\":1,\"name\":\"t\",\"pool\":{\"gpu_"
          "count\":160},\"fillers_csv\":\"sweep-types.csv\",\"events\":[{\"onset_s\":12,"
          "\"duration_s\":4,\"depth_w\":80000}]}",
          out);
    fclose(out);
    out = fopen("sweep-types.csv", "w");
    ck_assert_ptr_nonnull(out);
    fputs("type,gpus_per_replica,batch,power_per_gpu_W,batch_time_s\na,1,8,400,2\n", out);
    fclose(out);
    SWEEP(ckpd_shape_load(&shape, &grid, context, "sweep-shape.json"));
    ck_assert_int_eq(ckpd_shape_filler_count(shape), 1);
    ckpd_shape_free(shape);
    ckpd_microgrid_free(grid);
    remove("sweep-shape.json");
    remove("sweep-types.csv");
}

static void links(sweep_memory *memory, ckpd_context *context)
{
    static const double depth[] = {1e5}, save[] = {20}, interval[] = {3600};
    double offset[2], gpus;
    ckpd_link *link = NULL;
    ckpd_shape *shape = NULL;
    ckpd_plan *plan = NULL;
    ckpd_site *site = NULL;
    int32_t added;
    SWEEP(ckpd_link_new(&link, context));
    SWEEP(ckpd_link_add_job_numbers(link, "a", 1, depth, save, interval));
    SWEEP(ckpd_link_add_job_numbers(link, "b", 1, depth, save, interval));
    SWEEP(ckpd_shape_parse(&shape, NULL, context, CASE, strlen(CASE), NULL));
    SWEEP(ckpd_plan_new(&plan, context, 2, 4));
    ckpd_step step = {
        .size = sizeof step, .from_slot = 0, .to_slot = 1, .to_segment = 1, .gpus = 8};
    SWEEP(ckpd_plan_add_step(plan, 0, &step));
    SWEEP(ckpd_link_add_events(link, shape, plan, 1.0, &added));
    ck_assert_int_eq(added, 1);
    SWEEP(ckpd_link_stagger(link, shape, offset, 2, NULL, NULL));
    SWEEP(ckpd_link_filler_gpus(link, shape, 1e5, &gpus));
    SWEEP(ckpd_site_new(&site, context, 4, 1.0));
    SWEEP(ckpd_site_set_constant(site, "gpu_cap", 100));
    SWEEP(ckpd_link_reserve(link, site, 40));
    ckpd_site_free(site);
    ckpd_plan_free(plan);
    ckpd_shape_free(shape);
    ckpd_link_free(link);
}

/* Depth and length of the saves of analytic modes, and their price in a graph. */
static void link_of_modes(sweep_memory *memory, ckpd_context *context)
{
    static const int32_t dp[] = {16, 32};
    ckpd_task *task = NULL;
    ckpd_hardware *hardware = NULL;
    ckpd_mode_rules *rules = NULL;
    ckpd_mode_set *modes = NULL;
    ckpd_link *link = NULL;
    ckpd_graph_options *options = NULL;
    ckpd_graph *graph = NULL;
    SWEEP(ckpd_task_new(&task, context, "a"));
    SWEEP(ckpd_task_set_model(task, "llama-65b"));
    SWEEP(ckpd_task_set(task, "tranche_share", 0.01));
    SWEEP(ckpd_task_set(task, "segments", 2));
    SWEEP(ckpd_hardware_new(&hardware, context, "a100-80gb"));
    SWEEP(ckpd_mode_rules_new(&rules, context));
    SWEEP(ckpd_mode_rules_set(rules, "installed_gpus", 1024));
    SWEEP(ckpd_mode_rules_set_list(rules, "dp", 2, dp));
    SWEEP(ckpd_mode_set_build(&modes, context, task, hardware, rules));
    SWEEP(ckpd_link_new(&link, context));
    SWEEP(ckpd_link_set(link, "price_per_mw", 10));
    SWEEP(ckpd_link_add_job(link, "a", modes, NULL));
    ck_assert_double_gt(ckpd_link_step_cost(link, "a", 0, 10), 0);
    SWEEP(ckpd_graph_options_new(&options, context));
    SWEEP(ckpd_link_price(link, options, 1));
    SWEEP(ckpd_graph_build(&graph, context, task, modes, 48, 1, options));
    ckpd_graph_free(graph);
    ckpd_graph_options_free(options);
    ckpd_link_free(link);
    ckpd_mode_set_free(modes);
    ckpd_mode_rules_free(rules);
    ckpd_hardware_free(hardware);
    ckpd_task_free(task);
}

int main(void)
{
    static const sweep_scenario scenarios[] = {
        {"builders", builders},
#ifdef CKPD_HAVE_GLPK
        {"plan, control and runs", plan_and_run},
#endif
        {"types from CSV, response", csv_and_response},
        {"files", files},
        {"link", links},
        {"link of modes", link_of_modes},
    };
    return sweep_main("shape", scenarios, (int32_t)(sizeof scenarios / sizeof scenarios[0]));
}
