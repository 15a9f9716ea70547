/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What the link refuses, and costs at the ends of their range, worked by hand. */
#include "unit/shape/scenario.h"

#include <ckptdispatch/dispatch.h>
#include <ckptdispatch/link.h>

static const double depth_w[] = {1e6, 2e6}, save_s[] = {36, 36}, interval_s[] = {3600, 1800};

static ckpd_link *link_with_job(void)
{
    ckpd_link *link;
    OK(ckpd_link_new(&link, context));
    OK(ckpd_link_add_job_numbers(link, "job", 2, depth_w, save_s, interval_s));
    return link;
}

/* A job of 2 h in one measured mode. */
static void measured_modes(const char *name, ckpd_task **task, ckpd_mode_set **modes)
{
    static const int32_t gpus[] = {8};
    static const double rate[] = {1}, power_kw[] = {4};
    const ckpd_mode_table table = {.size = sizeof table,
                                   .count = 1,
                                   .installed_gpus = 8,
                                   .gpus = gpus,
                                   .rate = rate,
                                   .power_kw = power_kw};
    OK(ckpd_task_new(task, context, name));
    OK(ckpd_task_set(*task, "tranche_baseline_hours", 2));
    OK(ckpd_mode_set_from_table(modes, context, *task, &table));
}

START_TEST(fields)
{
    double value = 0;
    scenario_context();
    ckpd_link *link = link_with_job();
    OK(ckpd_link_set(link, "price_per_mw", 12.5));
    OK(ckpd_link_get(link, "price_per_mw", &value));
    ck_assert_double_eq(value, 12.5);
    REFUSED(CKPD_ERR_UNKNOWN_NAME, "price_per_mw", ckpd_link_get(link, "price_per_mwx", &value));
    REFUSED(CKPD_ERR_RANGE, "price_per_mw", ckpd_link_set(link, "price_per_mw", -1));
    for (int32_t i = 0; i < ckpd_link_field_count(); i++) {
        ckpd_field_info info = {.size = sizeof info};
        OK(ckpd_link_field_info(i, &info));
        OK(ckpd_link_get(link, info.name, &value));
    }
    ckpd_link_free(link);
    ckpd_link_free(NULL);
    ckpd_context_free(context);
}
END_TEST

START_TEST(jobs)
{
    static const double negative[] = {1e6, -1}, none[] = {36, 0};
    scenario_context();
    ckpd_link *link = link_with_job();
    REFUSED(CKPD_ERR_DUPLICATE, "job",
            ckpd_link_add_job_numbers(link, "job", 2, depth_w, save_s, interval_s));
    REFUSED(CKPD_ERR_LENGTH, "0 modes",
            ckpd_link_add_job_numbers(link, "b", 0, depth_w, save_s, interval_s));
    REFUSED(CKPD_ERR_RANGE, "depth_w[1]",
            ckpd_link_add_job_numbers(link, "b", 2, negative, save_s, interval_s));
    REFUSED(CKPD_ERR_RANGE, "duration_s[1]",
            ckpd_link_add_job_numbers(link, "b", 2, depth_w, none, interval_s));
    REFUSED(CKPD_ERR_RANGE, "interval_s[1]",
            ckpd_link_add_job_numbers(link, "b", 2, depth_w, save_s, none));
    ckpd_link_free(link);
    ckpd_context_free(context);
}
END_TEST

/* A table says nothing of the power while a checkpoint is written. */
START_TEST(modes_without_checkpoint_power)
{
    ckpd_task *task;
    ckpd_mode_set *modes;
    ckpd_link *link;
    ckpd_checkpoint *profile;
    scenario_context();
    measured_modes("measured", &task, &modes);
    OK(ckpd_link_new(&link, context));
    OK(ckpd_checkpoint_new(&profile, context));
    ck_assert_int_ne(ckpd_link_add_job(link, "measured", modes, NULL), CKPD_OK); /* no state */
    OK(ckpd_checkpoint_set(profile, "state_gb", 100));
    REFUSED(CKPD_ERR_MISSING, "no checkpoint power in mode 0",
            ckpd_link_add_job(link, "measured", modes, profile));
    ck_assert(isnan(ckpd_link_step_cost(link, "measured", 0, 1))); /* it was not added */
    ckpd_checkpoint_free(profile);
    ckpd_link_free(link);
    ckpd_mode_set_free(modes);
    ckpd_task_free(task);
    ckpd_context_free(context);
}
END_TEST

/* 10 money a MW and 100 a MWh; a save of 36 s and 1 MW costs 10 + 1 = 11, of 2 MW 22. */
START_TEST(costs_of_steps)
{
    scenario_context();
    ckpd_link *link = link_with_job();
    OK(ckpd_link_set(link, "price_per_mw", 10));
    OK(ckpd_link_set(link, "wear_per_mwh", 100));
    ck_assert_double_eq_tol(ckpd_link_step_cost(link, "job", 0, 3), 33, 1e-9);
    ck_assert_double_eq_tol(ckpd_link_step_cost(link, "job", 1, 3), 6 * 22, 1e-9);
    ck_assert_double_eq_tol(ckpd_link_step_cost(link, "job", 0, 0.1), 11,
                            1e-9); /* one at its end */
    OK(ckpd_link_set(link, "fillable_w", 1e6));
    ck_assert_double_eq(ckpd_link_step_cost(link, "job", 0, 3), 0);
    ck_assert_double_eq_tol(ckpd_link_step_cost(link, "job", 1, 3), 6 * 11, 1e-9);
    ck_assert(isnan(ckpd_link_step_cost(link, "nobody", 0, 3)));
    ck_assert(isnan(ckpd_link_step_cost(link, "job", 2, 3)));
    ck_assert(isnan(ckpd_link_step_cost(link, "job", -1, 3)));
    ck_assert(isnan(ckpd_link_step_cost(link, "job", 0, -1)));
    ck_assert(isnan(ckpd_link_step_cost(link, "job", 0, NAN)));
    ck_assert_double_gt(ckpd_link_step_cost(link, "job", 1, 1e300), 1e9); /* no overflow */
    ckpd_link_free(link);
    ckpd_context_free(context);
}
END_TEST

/* The edges of a job that the link does not know have no price: the graph is not built. */
START_TEST(prices_of_an_unknown_job)
{
    ckpd_task *task;
    ckpd_mode_set *modes;
    ckpd_graph_options *options;
    ckpd_graph *graph = NULL;
    scenario_context();
    ckpd_link *link = link_with_job();
    measured_modes("stranger", &task, &modes);
    OK(ckpd_graph_options_new(&options, context));
    REFUSED(CKPD_ERR_RANGE, "slot_hours", ckpd_link_price(link, options, 0));
    OK(ckpd_link_price(link, options, 1));
    ck_assert_int_eq(ckpd_graph_build(&graph, context, task, modes, 4, 1, options),
                     CKPD_ERR_CALLBACK);
    ck_assert_ptr_null(graph);
    ckpd_graph_options_free(options);
    ckpd_mode_set_free(modes);
    ckpd_task_free(task);
    ckpd_link_free(link);
    ckpd_context_free(context);
}
END_TEST

START_TEST(fillers_and_reservations)
{
    double gpus = -1;
    ckpd_site *site;
    ckpd_shape *none;
    scenario_context();
    ckpd_link *link = link_with_job();
    ckpd_gpu_pool *pool = scenario_pool(64);
    OK(ckpd_shape_new(&none, context, pool));
    ckpd_gpu_pool_free(pool);
    REFUSED(CKPD_ERR_MISSING, "filler", ckpd_link_filler_gpus(link, none, 1e6, &gpus));
    REFUSED(CKPD_ERR_RANGE, "deficit_w", ckpd_link_filler_gpus(link, none, -1, &gpus));
    REFUSED(CKPD_ERR_NOT_FINITE, "deficit_w", ckpd_link_filler_gpus(link, none, NAN, &gpus));
    ckpd_shape_free(none);
    ckpd_shape *shape = scenario_shape(64, -1);
    OK(ckpd_link_filler_gpus(link, shape, 0, &gpus));
    ck_assert_double_eq(gpus, 0);
    ckpd_shape_free(shape);
    OK(ckpd_site_new(&site, context, 2, 1));
    OK(ckpd_site_set_constant(site, "gpu_cap", 100));
    REFUSED(CKPD_ERR_RANGE, "101 GPUs", ckpd_link_reserve(link, site, 101));
    REFUSED(CKPD_ERR_RANGE, "gpus", ckpd_link_reserve(link, site, -1));
    double cap[2];
    OK(ckpd_site_get_series(site, "gpu_cap", cap, 2));
    ck_assert(cap[0] == 100 && cap[1] == 100); /* nothing changed */
    ckpd_site_free(site);
    ckpd_link_free(link);
    ckpd_context_free(context);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {fields,
                                  jobs,
                                  modes_without_checkpoint_power,
                                  costs_of_steps,
                                  prices_of_an_unknown_job,
                                  fillers_and_reservations,
                                  NULL};
    return test_run(test_suite("refusals of the link", tests));
}
