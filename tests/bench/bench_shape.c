/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Shaping: time and gap of the upper layer on a 30-s event (goal: within 1 s), time of a control
 * step (goal: below 1 ms at 5,600 GPUs), a day with 50 checkpoints planned and simulated (goal:
 * below 60 s).
 */
#include <ckptdispatch/shape.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static ckpd_context *context;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Processor time of all threads: what counts on a shared machine. */
static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void need(int32_t status)
{
    if (status != CKPD_OK) {
        fprintf(stderr, "bench_shape: %s\n", ckpd_context_last_message(context));
        exit(1);
    }
}

static ckpd_shape *problem(double gpus)
{
    ckpd_gpu_pool *pool;
    ckpd_shape *shape;
    need(ckpd_gpu_pool_new(&pool, context));
    need(ckpd_gpu_pool_set(pool, "gpu_count", gpus));
    need(ckpd_shape_new(&shape, context, pool));
    ckpd_gpu_pool_free(pool);
    for (int32_t i = 0; i < ckpd_filler_builtin_count(); i++) {
        ckpd_filler *filler;
        need(ckpd_filler_builtin(&filler, context, ckpd_filler_builtin_name(i)));
        need(ckpd_shape_add_filler(shape, filler));
        ckpd_filler_free(filler);
    }
    return shape;
}

static void add_event(ckpd_shape *shape, double onset_s, double duration_s, double depth_w)
{
    ckpd_power_event *event;
    need(ckpd_power_event_new(&event, context));
    need(ckpd_power_event_set(event, "onset_s", onset_s));
    need(ckpd_power_event_set(event, "duration_s", duration_s));
    need(ckpd_power_event_set(event, "depth_w", depth_w));
    need(ckpd_shape_add_event(shape, event));
    ckpd_power_event_free(event);
}

static void upper_layer(void)
{
    for (int mw = 1; mw <= 3; mw++) {
        ckpd_shape *shape = problem(5600);
        ckpd_shape_plan *plan;
        ckpd_shape_plan_info info = {.size = sizeof info};
        add_event(shape, 20, 30, 1e6 * mw);
        double start = seconds(), cpu = cpu_seconds();
        need(ckpd_shape_plan_new(&plan, shape, NULL, NULL));
        double took = seconds() - start;
        cpu = cpu_seconds() - cpu;
        need(ckpd_shape_plan_get_info(plan, &info));
        printf("%d MW, 30 s: %.2f s (%.2f s processor); %d columns, %d samples, %lld nonzeros; "
               "error %.4f MW (linear "
               "program %.4f), objective "
               "%.2f %% above the linear program\n",
               mw, took, cpu, (int)info.columns, (int)info.samples, (long long)info.nonzeros,
               info.error_w / 1e6, info.relaxed_error_w / 1e6,
               100 * (info.objective / info.relaxed_objective - 1));
        ckpd_shape_plan_free(plan);
        ckpd_shape_free(shape);
    }
}

static void control_step(void)
{
    ckpd_shape *shape = problem(5600);
    ckpd_shape_plan *plan;
    ckpd_control *control;
    double slowest = 0, sum = 0;
    need(ckpd_shape_set(shape, "completion_reports", 0));
    add_event(shape, 20, 30, 3e6);
    need(ckpd_shape_plan_new(&plan, shape, NULL, NULL));
    need(ckpd_control_new(&control, shape, plan));
    for (int i = 0; i < 450; i++) {
        ckpd_control_input in = {.size = sizeof in,
                                 .time_s = 15 + 0.1 * i,
                                 .has_sample = 1,
                                 .onset = i == 50,
                                 .onset_s = 20,
                                 .recovery = i == 350,
                                 .recovery_s = 50};
        int32_t actions;
        in.sample_s = in.time_s - 0.1;
        double x = in.sample_s - 20;
        in.deficit_w = 2.5e6 * fmax(0, fmin(fmin(2 * x, 1), 31 - x));
        double start = cpu_seconds();
        need(ckpd_control_step(control, &in, &actions));
        double took = cpu_seconds() - start;
        slowest = fmax(slowest, took);
        sum += took;
    }
    printf("control, 700 groups, depth 0.5 MW off: %.3f ms a step, slowest %.3f ms of processor "
           "time\n",
           1e3 * sum / 450, 1e3 * slowest);
    ckpd_control_free(control);
    ckpd_shape_plan_free(plan);
    ckpd_shape_free(shape);
}

/* 50 checkpoints of different depth and length: no two are alike, so none is solved for another. */
static void day(void)
{
    ckpd_shape *shape = problem(5600);
    ckpd_shape_plan *plan;
    ckpd_shape_run *run;
    ckpd_microgrid *grid;
    ckpd_shape_truth truth = {.size = sizeof truth, .seed = 1};
    ckpd_shape_metrics m = {.size = sizeof m}, none = {.size = sizeof none};
    for (int i = 0; i < 50; i++) {
        add_event(shape, 1000 + 1700 * i, 20 + (i * 7) % 21, 0.8e6 + 37e3 * i);
    }
    need(ckpd_microgrid_new(&grid, context, NULL));
    double start = seconds(), cpu = cpu_seconds();
    need(ckpd_shape_plan_new(&plan, shape, NULL, NULL));
    double planned = seconds();
    need(ckpd_shape_run_new(&run, shape, grid, plan, CKPD_POLICY_PLAN, &truth));
    double done = seconds();
    cpu = cpu_seconds() - cpu;
    need(ckpd_shape_run_get_metrics(run, &m));
    ckpd_shape_run_free(run);
    need(ckpd_shape_run_new(&run, shape, grid, NULL, CKPD_POLICY_NONE, &truth));
    need(ckpd_shape_run_get_metrics(run, &none));
    printf("day of 50 checkpoints: planned in %.1f s, simulated in %.1f s (%.1f s processor in "
           "all); max|df| %.4f of %.4f "
           "Hz, mean|df| %.4f of %.4f "
           "Hz\n",
           planned - start, done - planned, cpu, m.max_abs_hz, none.max_abs_hz, m.mean_abs_hz,
           none.mean_abs_hz);
    ckpd_shape_run_free(run);
    ckpd_shape_plan_free(plan);
    ckpd_microgrid_free(grid);
    ckpd_shape_free(shape);
}

int main(void)
{
    need(ckpd_context_new(&context, NULL));
    upper_layer();
    control_step();
    day();
    ckpd_context_free(context);
    return 0;
}
