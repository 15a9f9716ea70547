/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Dispatch and shaping together: events from plans, staggering, reservation, prices; a two-job day.
 */
#include "unit/shape/scenario.h"

#include <ckptdispatch/dispatch.h>
#include <ckptdispatch/io.h>
#include <ckptdispatch/link.h>
#include <stdlib.h>

enum { SLOTS = 8, CAP = 12000 };

/* Two jobs that take 2 h on 6,000 GPUs or 4 h on 3,000; each mode's checkpoint leaves a third of
 * its power. */
static const int32_t mode_gpus[] = {3000, 6000};
static const double mode_rate[] = {1.0, 2.0}, mode_kw[] = {1800.0, 3500.0};
static const double depth_w[] = {1.2e6, 2.4e6}, save_s[] = {30.0, 30.0},
                    interval_s[] = {14400.0, 7200.0};
static const char *const job_name[] = {"north", "south"};

static ckpd_link *two_jobs(void)
{
    ckpd_link *link;
    OK(ckpd_link_new(&link, context));
    for (int j = 0; j < 2; j++) {
        OK(ckpd_link_add_job_numbers(link, job_name[j], 2, depth_w, save_s, interval_s));
    }
    return link;
}

/* Solves the day; with a link the saves are priced and `reserved` GPUs kept. */
static ckpd_solution *solve_day(ckpd_link *link, double reserved)
{
    static const double price[SLOTS] = {30, 30, 30, 30, 40, 40, 40, 40};
    ckpd_site *site;
    ckpd_problem *problem;
    ckpd_solution *solution;
    OK(ckpd_site_new(&site, context, SLOTS, 1.0));
    OK(ckpd_site_set_series(site, "import_price_per_mwh", price, SLOTS));
    OK(ckpd_site_set_constant(site, "gpu_cap", CAP));
    if (link != NULL) {
        OK(ckpd_link_reserve(link, site, reserved));
    }
    OK(ckpd_problem_new(&problem, context, site));
    for (int j = 0; j < 2; j++) {
        const ckpd_mode_table table = {.size = sizeof table,
                                       .count = 2,
                                       .installed_gpus = 6000,
                                       .gpus = mode_gpus,
                                       .rate = mode_rate,
                                       .power_kw = mode_kw};
        ckpd_task *task;
        ckpd_mode_set *modes;
        ckpd_graph *graph;
        ckpd_graph_options *options;
        OK(ckpd_task_new(&task, context, job_name[j]));
        OK(ckpd_task_set(task, "tranche_baseline_hours", 4));
        OK(ckpd_task_set(task, "segments", 2));
        OK(ckpd_mode_set_from_table(&modes, context, task, &table));
        OK(ckpd_graph_options_new(&options, context));
        if (link != NULL) {
            OK(ckpd_link_price(link, options, 1.0));
        }
        OK(ckpd_graph_build(&graph, context, task, modes, SLOTS, 1.0, options));
        OK(ckpd_problem_add_job(problem, graph));
        ckpd_graph_free(graph);
        ckpd_graph_options_free(options);
        ckpd_mode_set_free(modes);
        ckpd_task_free(task);
    }
    OK(ckpd_problem_solve(&solution, problem, CKPD_SCENARIO_S4, NULL));
    ck_assert_ptr_nonnull(ckpd_solution_plan(solution));
    ckpd_problem_free(problem);
    ckpd_site_free(site);
    return solution;
}

/* Price of all saves of a plan when the filler takes `fillable`. */
static double saves_cost(ckpd_link *link, const ckpd_plan *plan, double fillable)
{
    double sum = 0.0;
    OK(ckpd_link_set(link, "fillable_w", fillable));
    for (int32_t j = 0; j < 2; j++) {
        for (int32_t i = 0; i < ckpd_plan_step_count(plan, j); i++) {
            ckpd_step step = {.size = sizeof step};
            OK(ckpd_plan_get_step(plan, j, i, &step));
            sum += ckpd_link_step_cost(link, job_name[j], step.mode, step.to_slot - step.from_slot);
        }
    }
    return sum;
}

static double simulate(ckpd_shape *shape, bool filled)
{
    ckpd_microgrid *grid = scenario_grid(NULL);
    ckpd_shape_metrics m =
        scenario_policy(shape, grid, filled ? CKPD_POLICY_PLAN : CKPD_POLICY_NONE, 1, 1, 2);
    ckpd_microgrid_free(grid);
    return m.max_abs_hz;
}

START_TEST(staggering_and_the_joint_plan_beat_the_layers_apart)
{
    scenario_context();
    ckpd_link *link = two_jobs();
    OK(ckpd_link_set(link, "price_per_mw", 20.0));

    /* Apart: the dispatch takes every GPU in the cheap hours, nothing is left to fill with. */
    ckpd_solution *apart = solve_day(NULL, 0.0);
    ckpd_shape *bare = scenario_shape(0.0, -1.0);
    int32_t events;
    OK(ckpd_link_add_events(link, bare, ckpd_solution_plan(apart), 1.0, &events));
    ck_assert_int_eq(events, 4); /* two saves of two jobs */
    double hz_apart = simulate(bare, true);
    double cost_apart =
        ckpd_solution_cost(apart) + saves_cost(link, ckpd_solution_plan(apart), 0.0);

    /* Staggering alone, without any filler. */
    double offset[4], before, after;
    OK(ckpd_link_stagger(link, bare, offset, 4, &before, &after));
    ck_assert_double_eq(before, 4.8e6);
    ck_assert_double_eq(after, 2.4e6);
    double hz_staggered = simulate(bare, false);
    ck_assert_double_lt(hz_staggered, hz_apart);

    /* Together: GPUs for one deep save are kept, what they cannot fill has its price, saves are
     * staggered. */
    ckpd_shape *sized = scenario_shape(CAP, -1.0);
    double gpus;
    OK(ckpd_link_filler_gpus(link, sized, 2.4e6, &gpus));
    ck_assert_double_ge(gpus, 4000.0);
    ck_assert_double_le(gpus, 6000.0);
    OK(ckpd_link_set(link, "fillable_w", 2.4e6));
    ckpd_solution *joint = solve_day(link, gpus);
    ckpd_shape *shape = scenario_shape(gpus, -1.0);
    OK(ckpd_link_add_events(link, shape, ckpd_solution_plan(joint), 1.0, &events));
    double *offsets = calloc((size_t)events, sizeof *offsets);
    ck_assert_ptr_nonnull(offsets);
    double hz_together = simulate(shape, true); /* before staggering */
    OK(ckpd_link_stagger(link, shape, offsets, events, &before, &after));
    double hz_joint = simulate(shape, true);
    free(offsets);
    double cost_joint = ckpd_solution_cost(joint);
    ck_assert_double_eq_tol(saves_cost(link, ckpd_solution_plan(joint), 2.4e6), 0.0, 1e-9);
    printf("apart: %.2f money, max|df| %.3f Hz; staggered %.3f Hz; joint: %.2f money with %.0f "
           "GPUs kept, max|df| %.3f Hz "
           "(%.3f Hz before staggering; %.1f -> %.1f MW at once)\n",
           cost_apart, hz_apart, hz_staggered, cost_joint, gpus, hz_joint, hz_together,
           before / 1e6, after / 1e6);
    ck_assert_double_lt(hz_joint, 0.5 * hz_staggered);
    ck_assert_double_le(hz_joint, hz_together + 1e-9);
    ck_assert_double_lt(cost_joint, cost_apart);
    ckpd_shape_free(shape);
    ckpd_shape_free(sized);
    ckpd_shape_free(bare);
    ckpd_solution_free(apart);
    ckpd_solution_free(joint);
    ckpd_link_free(link);
    ckpd_context_free(context);
}
END_TEST

/* Expected values by hand. */
START_TEST(events_end_where_segments_end)
{
    scenario_context();
    ckpd_link *link = two_jobs();
    ckpd_plan *plan;
    OK(ckpd_plan_new(&plan, context, 2, SLOTS));
    ckpd_step step = {.size = sizeof step,
                      .from_slot = 1,
                      .to_slot = 6,
                      .from_segment = 0,
                      .to_segment = 2,
                      .mode = 1,
                      .gpus = 6000};
    OK(ckpd_plan_add_step(plan, 0, &step));
    step.mode = 0;
    step.from_slot = 2;
    step.to_slot = 3; /* shorter than its interval: one save at its end */
    step.to_segment = 1;
    OK(ckpd_plan_add_step(plan, 1, &step));
    ckpd_shape *shape = scenario_shape(800.0, -1.0);
    int32_t added = -1;
    OK(ckpd_link_add_events(link, shape, plan, 1.0, &added));
    ck_assert_int_eq(added, 3); /* 5 h at 2 h: two; and one */
    double offset[3], before, after;
    OK(ckpd_link_set(link, "shift_max_s", 0.0));
    OK(ckpd_link_stagger(link, shape, offset, 3, &before, &after));
    /* Saves of north end 3 h and 5 h after the start, the one of south at 3 h: 1.2 + 2.4 MW
     * together. */
    ck_assert_double_eq(before, 3.6e6);
    ck_assert_double_eq(after, 3.6e6);
    OK(ckpd_link_set(link, "shift_max_s", 60.0));
    OK(ckpd_link_stagger(link, shape, offset, 3, &before, &after));
    ck_assert_double_eq(after, 2.4e6);
    ck_assert_double_eq(offset[0], 0.0); /* the deepest stay */
    ck_assert_double_eq(offset[1], 0.0);
    ck_assert_double_eq_tol(offset[2], -41.0, 1e-9); /* 30 s + 1 s of return + 10 s to settle */
    ckpd_shape_free(shape);
    ckpd_plan_free(plan);
    ckpd_link_free(link);
    ckpd_context_free(context);
}
END_TEST

START_TEST(prices_and_reservations)
{
    scenario_context();
    ckpd_link *link = two_jobs();
    OK(ckpd_link_set(link, "price_per_mw", 10.0));
    OK(ckpd_link_set(link, "wear_per_mwh", 60.0));
    OK(ckpd_link_set(link, "fillable_w", 0.4e6));
    /* Two saves of 2 MW beyond: 2 * (2 * 10 + 2 * 30/3600 * 60). */
    ck_assert_double_eq_tol(ckpd_link_step_cost(link, "south", 1, 4.0), 42.0, 1e-9);
    ck_assert_double_eq_tol(ckpd_link_step_cost(link, "south", 0, 1.0), 8.4, 1e-9);
    OK(ckpd_link_set(link, "fillable_w", 2.4e6));
    ck_assert_double_eq(ckpd_link_step_cost(link, "south", 1, 4.0), 0.0);
    ck_assert_double_nan(ckpd_link_step_cost(link, "east", 0, 1.0));
    ck_assert_double_nan(ckpd_link_step_cost(link, "south", 2, 1.0));

    ckpd_site *site;
    double cap[4];
    OK(ckpd_site_new(&site, context, 4, 1.0));
    OK(ckpd_site_set_constant(site, "gpu_cap", 1000.0));
    OK(ckpd_link_reserve(link, site, 400.0));
    OK(ckpd_site_get_series(site, "gpu_cap", cap, 4));
    ck_assert_double_eq(cap[3], 600.0);
    REFUSED(CKPD_ERR_RANGE, "700", ckpd_link_reserve(link, site, 700.0));
    OK(ckpd_site_get_series(site, "gpu_cap", cap, 4));
    ck_assert_double_eq(cap[0], 600.0);
    ckpd_site_free(site);
    ckpd_link_free(link);
    ckpd_context_free(context);
}
END_TEST

START_TEST(bad_input_changes_nothing)
{
    scenario_context();
    ckpd_link *link = two_jobs();
    static const double bad[] = {1e6, NAN}, zero[] = {30.0, 0.0};
    REFUSED(CKPD_ERR_DUPLICATE, "north",
            ckpd_link_add_job_numbers(link, "north", 2, depth_w, save_s, interval_s));
    REFUSED(CKPD_ERR_NOT_FINITE, "depth_w",
            ckpd_link_add_job_numbers(link, "x", 2, bad, save_s, interval_s));
    REFUSED(CKPD_ERR_RANGE, "duration_s",
            ckpd_link_add_job_numbers(link, "x", 2, depth_w, zero, interval_s));
    REFUSED(CKPD_ERR_LENGTH, "0 modes",
            ckpd_link_add_job_numbers(link, "x", 0, depth_w, save_s, interval_s));
    REFUSED(CKPD_ERR_UNKNOWN_NAME, "price_per_mw", ckpd_link_set(link, "price_per_nw", 1.0));
    REFUSED(CKPD_ERR_RANGE, "settle_s", ckpd_link_set(link, "settle_s", -1.0));
    ckpd_plan *plan;
    ckpd_shape *shape = scenario_shape(800.0, 1e6);
    OK(ckpd_plan_new(&plan, context, 1, SLOTS));
    REFUSED(CKPD_ERR_INCONSISTENT, "1 jobs", ckpd_link_add_events(link, shape, plan, 1.0, NULL));
    ckpd_plan_free(plan);
    OK(ckpd_plan_new(&plan, context, 2, SLOTS));
    ckpd_step step = {.size = sizeof step,
                      .from_slot = 0,
                      .to_slot = 2,
                      .to_segment = 1,
                      .mode = 1,
                      .gpus = 6000};
    OK(ckpd_plan_add_step(plan, 0, &step));
    step.mode = 7;
    OK(ckpd_plan_add_step(plan, 1, &step));
    REFUSED(CKPD_ERR_INCONSISTENT, "mode 7", ckpd_link_add_events(link, shape, plan, 1.0, NULL));
    ck_assert_int_eq(ckpd_shape_event_count(shape), 1);
    double offset[2];
    REFUSED(CKPD_ERR_LENGTH, "not 2", ckpd_link_stagger(link, shape, offset, 2, NULL, NULL));
    ckpd_plan_free(plan);
    ckpd_shape_free(shape);
    ckpd_link_free(link);
    ckpd_context_free(context);
}
END_TEST

/* Depth, length and interval of a mode set with its checkpoint profile, computed here from what
 * lib/modes says. */
START_TEST(jobs_come_from_mode_sets)
{
    scenario_context();
    ckpd_case *loaded;
    ckpd_link *link;
    ckpd_checkpoint *profile;
    OK(ckpd_case_load(&loaded, context, test_src_path("examples/cases/aidc2048.json")));
    OK(ckpd_checkpoint_new(&profile, context));
    OK(ckpd_link_new(&link, context));
    OK(ckpd_link_set(link, "pue", 1.25));
    OK(ckpd_link_set(link, "price_per_mw", 1.0));
    for (int32_t j = 0; j < ckpd_case_job_count(loaded); j++) {
        const ckpd_mode_set *modes = ckpd_case_mode_set(loaded, j);
        const char *name = ckpd_task_name(ckpd_case_task(loaded, j));
        OK(ckpd_link_add_job(link, name, modes, j == 0 ? NULL : profile));
        for (int32_t m = 0; m < ckpd_mode_set_count(modes); m++) {
            ckpd_mode mode = {.size = sizeof mode};
            ckpd_checkpoint_cost cost = {.size = sizeof cost};
            OK(ckpd_mode_set_get(modes, m, &mode));
            OK(ckpd_checkpoint_evaluate(profile, modes, m, 0.0, &cost));
            double mw = 1.25 * (mode.power_kw - mode.checkpoint_kw) / 1000.0;
            ck_assert_double_gt(mw, 0.0);
            ck_assert_double_eq_tol(ckpd_link_step_cost(link, name, m, cost.interval_h), mw,
                                    1e-9 * mw);
            ck_assert_double_eq_tol(ckpd_link_step_cost(link, name, m, 3.5 * cost.interval_h),
                                    3.0 * mw, 1e-8 * mw);
        }
    }
    ckpd_link_free(link);
    ckpd_checkpoint_free(profile);
    ckpd_case_free(loaded);
    ckpd_context_free(context);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {staggering_and_the_joint_plan_beat_the_layers_apart,
                                  events_end_where_segments_end,
                                  prices_and_reservations,
                                  bad_input_changes_nothing,
                                  jobs_come_from_mode_sets,
                                  NULL};
    Suite *suite = test_suite("link", tests);
    if (!ckpd_feature("glpk")) {
        test_skip("built without GLPK: no solver for linear programs");
        SRunner *unused = srunner_create(suite);
        srunner_free(unused);
        return 0;
    }
    return test_run(suite);
}
