/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Of plans of one cost the tidier: whatever plan the native solver leaves on random views with
 * every feature, afterwards it is still a plan, costs no more, does not wait more often, works the
 * storage no harder, and there tidying it again changes nothing. What it becomes is worked by hand
 * on a day of one price.
 */
#include "solver/native/native.h"
#include "solver/solver.h"
#include "support/native_run.h"
#include "support/random_view.h"
#include "support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static ckpd_context *context;

static int32_t pauses(const ckpd_path_view *view, const ckpd_path_plan *plan)
{
    int32_t count = 0;
    for (int32_t j = 0; j < view->jobs; j++) {
        const ckpd_path_job *job = view->job[j];
        int32_t end = job->source_slot;
        for (int32_t i = 0; i < plan->step_count[j]; i++) {
            size_t at = (size_t)j * (size_t)view->slots + (size_t)i;
            count += plan->step_slot[at] > end && i > 0;
            end = plan->step_slot[at] + job->move_slots[plan->step_move[at]];
        }
    }
    return count;
}

static double throughput(const ckpd_path_view *view, const ckpd_path_plan *plan)
{
    double sum = 0;
    for (int32_t t = 0; view->storage != NULL && t < view->slots; t++) {
        sum += plan->charge_kw[t] + plan->discharge_kw[t];
    }
    return sum;
}

static double cost_of(const ckpd_path_view *view, const ckpd_path_plan *plan)
{
    double cost = NAN;
    ck_assert_int_eq(ckpd__path_plan_check(context, view, plan, &cost, NULL, true), CKPD_OK);
    return cost;
}

/* `plan` becomes tidier, `same` was it: nothing is left to do. */
static void check_settled(const ckpd_path_view *view, ckpd_path_plan *plan,
                          const ckpd_path_plan *same)
{
    double told = cost_of(view, plan);
    ck_assert_int_eq(ckpd__plan_tidy(context, view, plan, &told), CKPD_OK);
    for (int32_t j = 0; j < view->jobs; j++) {
        for (int32_t i = 0; i < plan->step_count[j]; i++) {
            size_t at = (size_t)j * (size_t)view->slots + (size_t)i;
            ck_assert_int_eq(plan->step_slot[at], same->step_slot[at]);
        }
    }
    for (int32_t t = 0; view->storage != NULL && t < view->slots; t++) {
        ck_assert_double_eq_tol(plan->charge_kw[t], same->charge_kw[t], 1e-9);
        ck_assert_double_eq_tol(plan->discharge_kw[t], same->discharge_kw[t], 1e-9);
    }
}

static bool check_view(uint64_t seed, const random_shape *shape)
{
    case_view view;
    random_view_make(&view, seed, shape);
    ckpd_path_result result = {.size = sizeof result};
    ckpd_path_plan *plan = result.plan = case_view_plan(&view);
    native_run run = native_run_default(ckpd__native_solve_paths);
    run.params.relative_gap = 0.05; /* plans with something left to do */
    ck_assert_int_eq(native_run_solve(&run, &view.view, &result), CKPD_OK);
    bool found = result.has_plan != 0;
    if (found) {
        double before = cost_of(&view.view, plan), told = before,
               worked = throughput(&view.view, plan);
        int32_t waits = pauses(&view.view, plan);
        ck_assert_int_eq(ckpd__plan_tidy(context, &view.view, plan, &told), CKPD_OK);
        double after = cost_of(&view.view, plan), size = fmax(1, fabs(before));
        ck_assert_msg(after <= before + 1e-10 * size, "seed %d features %u: %g, was %g", (int)seed,
                      (unsigned)shape->features, after, before);
        ck_assert_double_eq_tol(told, after, 1e-12 * size);
        ck_assert_int_le(pauses(&view.view, plan), waits);
        ck_assert_double_le(throughput(&view.view, plan), worked + 1e-9 * fmax(1, worked));
        ckpd_path_plan *same = case_view_plan(&view);
        ckpd__plan_copy(&view.view, same, plan);
        check_settled(&view.view, plan, same);
    }
    case_view_free(&view);
    return found;
}

START_TEST(plans_stay_as_good)
{
    static const uint32_t features[] = {0,
                                        RANDOM_STORAGE,
                                        RANDOM_STORAGE | RANDOM_NONCONVEX,
                                        RANDOM_STORAGE | RANDOM_RECOVERY | RANDOM_TIGHT,
                                        RANDOM_TRANSITIONS | RANDOM_EDGE_COST | RANDOM_CLOSED,
                                        RANDOM_STORAGE | RANDOM_RUNNING | RANDOM_PRORATED};
    int32_t found = 0;
    for (size_t f = 0; f < sizeof features / sizeof *features; f++) {
        for (uint64_t seed = 1; seed <= (test_fast() ? 10 : 60); seed++) {
            const random_shape shape = {2, 8, 3, 2, features[f]};
            found += check_view(seed, &shape);
        }
    }
    ck_assert_int_gt(found, 30);
}
END_TEST

/* A job with one mode: 8 GPUs, 4 kW, a segment a slot. */
static const int32_t ONE[] = {1}, ONE_MODE[] = {0}, ONE_GPUS[] = {8};
static const double ONE_KW[] = {4};

static ckpd_path_job one_mode_job(int32_t segments, int32_t slots, const uint8_t *open)
{
    return (ckpd_path_job){.size = sizeof(ckpd_path_job),
                           .name = "A",
                           .kind = CKPD_JOB_PATHS,
                           .segments = segments,
                           .deadline = slots,
                           .may_wait = 1,
                           .modes = 1,
                           .mode_gpus = ONE_GPUS,
                           .mode_power_kw = ONE_KW,
                           .moves = 1,
                           .states = 1,
                           .move_mode = ONE_MODE,
                           .move_slots = ONE,
                           .move_segments = ONE,
                           .node_open = open};
}

/*
 * One price of 0.03 a kWh, six slots of an hour, one mode of 4 kW that does a segment a slot, two
 * segments; a battery of 20 kWh, 10 kW. The plan given waits at first and between and moves 4 kWh
 * through the battery: by hand, the same energy can be bought in slots 0 and 1 without any of it.
 */
START_TEST(one_price)
{
    enum { SLOTS = 6, SEGMENTS = 2 };
    static const double x[] = {-100, 0, 100, -100, 0, 100, -100, 0, 100,
                               -100, 0, 100, -100, 0, 100, -100, 0, 100};
    static const double cost[] = {0, 0, 3, 0, 0, 3, 0, 0, 3, 0, 0, 3, 0, 0, 3, 0, 0, 3};
    static const int64_t start[] = {0, 3, 6, 9, 12, 15, 18};
    static const uint8_t convex[] = {1, 1, 1, 1, 1, 1};
    double nothing[SLOTS] = {0}, factor[SLOTS], cap[SLOTS], most[SLOTS];
    uint8_t open[(SLOTS + 1) * (SEGMENTS + 1)];
    memset(open, 1, sizeof open);
    for (int32_t t = 0; t < SLOTS; t++) {
        factor[t] = 1;
        cap[t] = (double)INFINITY;
        most[t] = 8;
    }
    ckpd_path_job job = one_mode_job(SEGMENTS, SLOTS, open);
    const ckpd_path_job *jobs[] = {&job};
    ckpd_path_storage storage = {.size = sizeof storage,
                                 .charge_max_kw = 10,
                                 .discharge_max_kw = 10,
                                 .eta_charge = 1,
                                 .eta_discharge = 1,
                                 .retention = 1,
                                 .soc_max_kwh = 20,
                                 .soc_start_kwh = 10,
                                 .terminal = CKPD_TERMINAL_EQUAL,
                                 .soc_end_kwh = 10};
    ckpd_path_view view = {.size = sizeof view,
                           .slots = SLOTS,
                           .jobs = 1,
                           .slot_hours = 1,
                           .job = jobs,
                           .base_load_kw = nothing,
                           .load_factor = factor,
                           .load_cap_kw = cap,
                           .gpu_cap = most,
                           .curve_start = start,
                           .curve_x_kw = x,
                           .curve_cost = cost,
                           .curve_convex = convex,
                           .storage = &storage};
    int32_t count[] = {2}, slot[SLOTS] = {2, 4}, move[SLOTS] = {0};
    double charge[SLOTS] = {0, 0, 4}, discharge[SLOTS] = {0, 0, 0, 0, 4};
    ckpd_path_plan plan = {.size = sizeof plan,
                           .step_count = count,
                           .step_slot = slot,
                           .step_move = move,
                           .charge_kw = charge,
                           .discharge_kw = discharge};
    double told = cost_of(&view, &plan);
    ck_assert_double_eq_tol(told, 0.24, 1e-12);
    ck_assert_int_eq(ckpd__plan_tidy(context, &view, &plan, &told), CKPD_OK);
    ck_assert_double_eq_tol(told, 0.24, 1e-12);
    ck_assert_int_eq(slot[0], 0);
    ck_assert_int_eq(slot[1], 1);
    ck_assert_double_eq(throughput(&view, &plan), 0);

    /* Dearer at first: both stay together where it is cheap, and do not go ahead. */
    double steep[3 * SLOTS];
    memcpy(steep, cost, sizeof steep);
    steep[2] = steep[5] = 6;
    view.curve_cost = steep;
    slot[0] = 2;
    slot[1] = 4;
    ck_assert_int_eq(ckpd__plan_tidy(context, &view, &plan, &told), CKPD_OK);
    ck_assert_int_eq(slot[0], 2);
    ck_assert_int_eq(slot[1], 3);

    /* Cheap in slots 2 and 5 alone: the pause pays and stays. */
    for (int32_t t = 0; t < SLOTS; t++) {
        steep[3 * t + 2] = t == 2 || t == 5 ? 3 : 6;
    }
    slot[1] = 5;
    ck_assert_int_eq(ckpd__plan_tidy(context, &view, &plan, &told), CKPD_OK);
    ck_assert_int_eq(slot[0], 2);
    ck_assert_int_eq(slot[1], 5);
}
END_TEST

/*
 * 64 jobs in a month of quarters of an hour, each step in a cheap slot behind 199 dear ones, which
 * are all tried: nothing changes, within the tenth of a second in which a cancel has to be heard.
 */
START_TEST(large_plans_take_no_time)
{
    enum { JOBS = 64, SLOTS = 2976, FAR = 200, SEGMENTS = SLOTS / FAR };
    case_view day = {0};
    const ckpd_path_job **jobs = case_view_alloc(&day, JOBS, sizeof *jobs);
    ckpd_path_job *job = case_view_alloc(&day, 1, sizeof *job);
    uint8_t *open = case_view_alloc(&day, (SLOTS + 1) * (SEGMENTS + 1), 1),
            *convex = case_view_alloc(&day, SLOTS, 1);
    double *nothing = case_view_alloc(&day, SLOTS, sizeof *nothing),
           *factor = case_view_alloc(&day, SLOTS, sizeof *factor),
           *cap = case_view_alloc(&day, SLOTS, sizeof *cap),
           *most = case_view_alloc(&day, SLOTS, sizeof *most),
           *x = case_view_alloc(&day, 2 * SLOTS, sizeof *x),
           *cost = case_view_alloc(&day, 2 * SLOTS, sizeof *cost);
    int64_t *start = case_view_alloc(&day, SLOTS + 1, sizeof *start);
    memset(open, 1, (SLOTS + 1) * (SEGMENTS + 1));
    for (int32_t t = 0; t < SLOTS; t++) {
        factor[t] = convex[t] = 1;
        cap[t] = (double)INFINITY;
        most[t] = JOBS * ONE_GPUS[0];
        x[2 * t + 1] = JOBS * ONE_KW[0];
        cost[2 * t + 1] = t % FAR == FAR - 1 ? 1 : 10;
        start[t + 1] = 2 * (t + 1);
    }
    *job = one_mode_job(SEGMENTS, SLOTS, open);
    day.view = (ckpd_path_view){.size = sizeof day.view,
                                .slots = SLOTS,
                                .jobs = JOBS,
                                .slot_hours = 0.25,
                                .job = jobs,
                                .base_load_kw = nothing,
                                .load_factor = factor,
                                .load_cap_kw = cap,
                                .gpu_cap = most,
                                .curve_start = start,
                                .curve_x_kw = x,
                                .curve_cost = cost,
                                .curve_convex = convex};
    for (int32_t j = 0; j < JOBS; j++) {
        jobs[j] = job;
    }
    ckpd_path_plan *plan = case_view_plan(&day), *same = case_view_plan(&day);
    for (int32_t j = 0; j < JOBS; j++) {
        plan->step_count[j] = SEGMENTS;
        for (int32_t i = 0; i < SEGMENTS; i++) {
            plan->step_slot[j * SLOTS + i] = i * FAR + FAR - 1;
        }
    }
    ckpd__plan_copy(&day.view, same, plan);
    double before = test_clock_s(CLOCK_THREAD_CPUTIME_ID);
    check_settled(&day.view, plan, same);
    double spent = test_clock_s(CLOCK_THREAD_CPUTIME_ID) - before;
    printf("tidy: %.0f ms of processor time for 64 jobs in 2976 slots\n", 1e3 * spent);
    if (!test_fast()) {
        ck_assert_double_le(spent, 0.1);
    }
    case_view_free(&day);
}
END_TEST

static void setup(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
}

static void teardown(void)
{
    ckpd_context_free(context);
}

int main(void)
{
    Suite *suite = suite_create("solver: tidy plans");
    TCase *tests = tcase_create("tidy");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, plans_stay_as_good);
    tcase_add_test(tests, one_price);
    tcase_add_test(tests, large_plans_take_no_time);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
