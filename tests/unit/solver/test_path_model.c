/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The derived model against the path view: plans go through it and back unchanged at the same cost,
 * starts are taken, the check of plans finds every kind of damage, the structure presolve changes
 * no cost.
 */
#include "solver/path_milp.h"
#include "solver/structure.h"
#include "support/highs.h"
#include "support/instance.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static ckpd_context *context;

static void setup(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
}

static void teardown(void)
{
    ckpd_context_free(context);
}

static const instance_features everything = {INSTANCE_EVERYTHING, .slotwise = 1};

/* Best plan of a random instance by enumeration; false when there is none. */
static bool best_plan(const instance *made, instance_result *found)
{
    instance_result_init(found, &made->view);
    ck_assert_int_eq(ckpd_path_solve(context, "enumerate", &made->view, NULL, NULL, &found->result),
                     CKPD_OK);
    return found->result.has_plan;
}

/* The first feasible instance of these features, and its best plan. */
static instance *feasible(const instance_features *features, instance_result *found)
{
    for (uint64_t seed = 1;; seed++) {
        instance *made = instance_random(seed, features);
        if (best_plan(made, found)) {
            return made;
        }
        instance_result_free(found);
        instance_free(made);
    }
}

static void series_init(ckpd__path_series *series, int32_t slots)
{
    size_t n = (size_t)slots;
    double *block = calloc(4 * n + 1, sizeof(double));
    *series = (ckpd__path_series){block, block + n, block + 2 * n, block + 3 * n};
}

/* Plan -> point -> plan: the point is feasible in the model, costs the same, and gives the plan
 * back. */
START_TEST(test_round_trip)
{
    int trips = 0;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        instance *made = instance_random(seed, &everything);
        instance_result found, back;
        if (best_plan(made, &found)) {
            ckpd__path_milp *model;
            ckpd__path_series series;
            double cost, model_cost;
            series_init(&series, made->view.slots);
            instance_result_init(&back, &made->view);
            ck_assert_int_eq(
                ckpd__path_plan_check(context, &made->view, &found.plan, &cost, &series, false),
                CKPD_OK);
            ck_assert_int_eq(ckpd__path_milp_new(&model, context, &made->view, 0), CKPD_OK);
            double *x = calloc((size_t)model->milp.columns + 1, sizeof(double));
            ck_assert(ckpd__path_milp_encode(model, &found.plan, &series, x));
            int32_t status = ckpd__milp_point_check(context, &model->milp, x, &model_cost, false);
            ck_assert_msg(status == CKPD_OK, "seed %d: %s", (int)seed,
                          ckpd_context_last_message(context));
            ck_assert_double_eq_tol(model_cost, cost, 1e-9 * fmax(1, fabs(cost)));
            ckpd__path_milp_decode(model, x, &back.plan);
            double again;
            ck_assert_int_eq(
                ckpd__path_plan_check(context, &made->view, &back.plan, &again, NULL, false),
                CKPD_OK);
            ck_assert_double_eq_tol(again, cost, 1e-9 * fmax(1, fabs(cost)));
            for (int32_t j = 0; j < made->view.jobs; j++) {
                ck_assert_int_eq(back.plan.step_count[j], found.plan.step_count[j]);
            }
            free(x);
            free(series.load_kw);
            ckpd__path_milp_free(model);
            instance_result_free(&back);
            trips++;
        }
        instance_result_free(&found);
        instance_free(made);
    }
    ck_assert_int_gt(trips, 40);
}
END_TEST

static void expect_damage(const instance *made, const ckpd_path_plan *plan, const char *message)
{
    double cost;
    ck_assert_int_eq(ckpd__path_plan_check(context, &made->view, plan, &cost, NULL, false),
                     CKPD_ERR_VERIFY);
    ck_assert_str_eq(ckpd_context_last_message(context), message);
}

/* One plan, damaged in every way the check names. */
START_TEST(test_damage_is_found)
{
    instance_features features = {.jobs = 1, .slots = 6, .segments = 2, .modes = 1, .storage = 1};
    instance *made = NULL;
    instance_result found;
    for (uint64_t seed = 1; made == NULL;
         seed++) { /* one with storage, waits and a battery in use */
        made = instance_random(seed, &features);
        bool good = best_plan(made, &found) && made->view.storage != NULL &&
                    made->jobs[0].may_wait && found.plan.step_count[0] > 0 &&
                    made->jobs[0].source_segment == 0;
        if (!good) {
            instance_result_free(&found);
            instance_free(made);
            made = NULL;
        }
    }
    ckpd_path_plan *plan = &found.plan;
    int32_t steps = plan->step_count[0];
    plan->step_count[0] = 0;
    expect_damage(made, plan, "job 0 \"random\", slot 0: path does not complete the job");
    plan->step_count[0] = 99;
    expect_damage(made, plan, "job 0 \"random\", slot 0: number of steps is out of range");
    plan->step_count[0] = steps;
    int32_t move = plan->step_move[0];
    plan->step_move[0] = 77;
    ck_assert_int_eq(ckpd__path_plan_check(context, &made->view, plan, &(double){0}, NULL, true),
                     CKPD_ERR_VERIFY);
    plan->step_move[0] = move;

    double charge = plan->charge_kw[0], discharge = plan->discharge_kw[0];
    plan->charge_kw[0] = plan->discharge_kw[0] = 1;
    expect_damage(made, plan, "slot 0: discharge while charging, kW 1 is beyond the limit 0");
    plan->discharge_kw[0] = 0;
    plan->charge_kw[0] = -1;
    ck_assert_int_eq(ckpd__path_plan_check(context, &made->view, plan, &(double){0}, NULL, true),
                     CKPD_ERR_VERIFY);
    plan->charge_kw[0] = NAN;
    ck_assert_int_eq(ckpd__path_plan_check(context, &made->view, plan, &(double){0}, NULL, true),
                     CKPD_ERR_VERIFY);
    plan->charge_kw[0] = 1e9;
    ck_assert_int_eq(ckpd__path_plan_check(context, &made->view, plan, &(double){0}, NULL, true),
                     CKPD_ERR_VERIFY);
    plan->charge_kw[0] = charge;
    plan->discharge_kw[0] = discharge;

    double cost, *cap = malloc((size_t)made->view.slots * sizeof(double));
    ck_assert_int_eq(ckpd__path_plan_check(context, &made->view, plan, &cost, NULL, false),
                     CKPD_OK);
    ck_assert_double_eq_tol(cost, found.result.objective, 1e-12);
    for (int32_t t = 0; t < made->view.slots; t++) {
        cap[t] = 1;
    }
    const double *kept = made->view.gpu_cap;
    made->view.gpu_cap = cap; /* every mode holds at least two GPUs */
    ck_assert_int_eq(ckpd__path_plan_check(context, &made->view, plan, &cost, NULL, true),
                     CKPD_ERR_VERIFY);
    made->view.gpu_cap = kept;
    made->view.load_cap_kw = cap; /* the base load alone is 10 kW */
    ck_assert_int_eq(ckpd__path_plan_check(context, &made->view, plan, &cost, NULL, false),
                     CKPD_ERR_VERIFY);
    ck_assert_ptr_nonnull(strstr(ckpd_context_last_message(context), "slot 0: load_kw"));
    free(cap);
    instance_result_free(&found);
    instance_free(made);
}
END_TEST

/* With the structure presolve and without it, and with a start plan: the same cost. */
START_TEST(test_presolve_changes_no_cost)
{
#ifndef CKPD_HAVE_GLPK
    test_skip("this build has no GLPK");
#else
    instance_features features = everything;
    features.jobs = 3;
    int optimal = 0;
    for (uint64_t seed = 1; seed <= (test_fast() ? 20u : 100u); seed++) {
        instance *made = instance_random(seed, &features);
        instance_result plain, helped, started;
        ckpd__solve_control control = {.no_fallback = 1};
        ckpd__solve_info info;
        instance_result_init(&plain, &made->view);
        instance_result_init(&helped, &made->view);
        instance_result_init(&started, &made->view);
        ck_assert_int_eq(
            ckpd__path_solve(context, "glpk", &made->view, NULL, &control, &plain.result, &info),
            CKPD_OK);
        control.structure_presolve = 1;
        control.presolve_nodes = seed % 2; /* 1: the root only, so that GLPK has work left */
        ck_assert_int_eq(
            ckpd__path_solve(context, "glpk", &made->view, NULL, &control, &helped.result, &info),
            CKPD_OK);
        ck_assert_int_eq(plain.result.outcome, helped.result.outcome);
        if (plain.result.has_plan) {
            double cost = plain.result.objective;
            ck_assert_double_eq_tol(helped.result.objective, cost, 2e-6 * fmax(1, fabs(cost)));
            made->view.start = &helped.plan;
            control.structure_presolve = 0;
            ck_assert_int_eq(ckpd__path_solve(context, "glpk", &made->view, NULL, &control,
                                              &started.result, &info),
                             CKPD_OK);
            ck_assert_double_eq_tol(started.result.objective, cost, 2e-6 * fmax(1, fabs(cost)));
            optimal++;
        }
        instance_result_free(&plain);
        instance_result_free(&helped);
        instance_result_free(&started);
        instance_free(made);
    }
    ck_assert_int_gt(optimal, 5);
#endif
}
END_TEST

/* Four jobs: the prices of the root close moves, and what is left holds the known optimum. */
START_TEST(test_closed_moves)
{
    instance *made = instance_golden("cases/scale/j4-a.json", 1, 0, false, false);
    if (made == NULL) {
        return;
    }
    instance_result best, rest;
    instance_result_init(&best, &made->view);
    instance_result_init(&rest, &made->view);
    ckpd_solve_params params;
    ckpd__solve_control control = {.structure_presolve = 0};
    ckpd_host host;
    ckpd__host_state state;
    ckpd__closed_view closed;
    ck_assert_int_eq(ckpd__params_read(context, NULL, &params), CKPD_OK);
    ckpd__host_start(&host, &state, context, &control, INFINITY);
    ck_assert_int_eq(ckpd_path_solve(context, "native", &made->view, NULL, NULL, &best.result),
                     CKPD_OK);
    ck_assert_int_eq(
        ckpd__closed_view_make(&closed, context, &host, &made->view, &best.plan, &params), CKPD_OK);
    ck_assert_int_gt(closed.closed, closed.moves / 4);
    ck_assert_int_eq(ckpd_path_solve(context, "native", &closed.view, NULL, NULL, &rest.result),
                     CKPD_OK);
    ck_assert_double_eq_tol(rest.result.objective, 762.6005, 1e-6 * 762.6005);
    ck_assert_double_ge(closed.cutoff, 762.6005 * (1 - 2e-6));
    ckpd__closed_view_free(context, &closed);
    instance_result_free(&best);
    instance_result_free(&rest);
    instance_free(made);
}
END_TEST

typedef struct keeper {
    int32_t points;
    int32_t columns;
    double *last;
} keeper;

static void *keeper_take(size_t bytes, void *user)
{
    (void)user;
    return calloc(bytes, 1);
}

static void keeper_give(void *block, void *user)
{
    (void)user;
    free(block);
}

static int32_t keeper_go_on(void *user)
{
    (void)user;
    return 0;
}

static void keeper_report(double incumbent, double bound, int64_t iterations, int64_t nodes,
                          void *user)
{
    (void)incumbent, (void)bound, (void)iterations, (void)nodes, (void)user;
}

static void keeper_point(const double *x, double bound, void *user)
{
    keeper *k = user;
    (void)bound;
    k->points++;
    memcpy(k->last, x, (size_t)k->columns * sizeof *x);
}

/* Who wants the points that a general solver finds on the way gets them. */
START_TEST(test_points_on_the_way)
{
    const char *const names[] = {"glpk", "highs"};
    for (size_t i = 0; i < 2; i++) {
        const ckpd_backend_table *backend = NULL;
        if (i == 1 && !test_highs_load(context)) {
            continue; /* it has said so */
        }
        if (ckpd__backend_choose(context, names[i], CKPD_CAP_MILP, &backend) != CKPD_OK) {
            test_skip("this build has no GLPK");
            continue;
        }
        instance *made = instance_golden("cases/scale/j4-a.json", 1, 0, false, false);
        if (made == NULL) {
            return;
        }
        ckpd__path_milp *model = NULL;
        ck_assert_int_eq(ckpd__path_milp_new(&model, context, &made->view, 100000), CKPD_OK);
        size_t columns = (size_t)model->milp.columns;
        keeper k = {.columns = model->milp.columns, .last = calloc(columns, sizeof(double))};
        ckpd_milp_result result = {.size = sizeof result, .x = calloc(columns, sizeof(double))};
        ck_assert(k.last != NULL && result.x != NULL);
        const ckpd_host host = {.size = sizeof host,
                                .user = &k,
                                .allocate = keeper_take,
                                .release = keeper_give,
                                .should_stop = keeper_go_on,
                                .report = keeper_report,
                                .keep_point = keeper_point};
        ckpd_solve_params params;
        ck_assert_int_eq(ckpd__params_read(context, NULL, &params), CKPD_OK);
        params.relative_gap = 0.2;
        ck_assert_int_eq(backend->solve_milp(&host, &model->milp, &params, &result, backend->user),
                         CKPD_OK);
        ck_assert_int_eq(result.has_plan, 1);
        ck_assert_int_ge(k.points, 1);
        double cost;
        ck_assert_int_eq(ckpd__milp_point_check(context, &model->milp, k.last, &cost, true),
                         CKPD_OK);
        ck_assert_double_ge(cost, result.objective - 1e-6 * fabs(cost));
        free(k.last);
        free(result.x);
        ckpd__path_milp_free(model);
        instance_free(made);
    }
}
END_TEST

/* Same input, same bytes out. */
START_TEST(test_repeats_are_identical)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        instance *made = instance_random(seed, &everything);
        instance_result a, b;
        instance_result_init(&a, &made->view);
        instance_result_init(&b, &made->view);
        ck_assert_int_eq(ckpd_path_solve(context, NULL, &made->view, NULL, NULL, &a.result),
                         CKPD_OK);
        ck_assert_int_eq(ckpd_path_solve(context, NULL, &made->view, NULL, NULL, &b.result),
                         CKPD_OK);
        ck_assert_int_eq(a.result.outcome, b.result.outcome);
        if (a.result.has_plan) {
            size_t cells = (size_t)made->view.jobs * (size_t)made->view.slots;
            ck_assert_mem_eq(&a.result.objective, &b.result.objective, sizeof(double));
            ck_assert_mem_eq(a.plan.step_count, b.plan.step_count,
                             (size_t)made->view.jobs * sizeof(int32_t));
            ck_assert_mem_eq(a.plan.step_slot, b.plan.step_slot, cells * sizeof(int32_t));
        }
        instance_result_free(&a);
        instance_result_free(&b);
        instance_free(made);
    }
}
END_TEST

/* --- causes told without a solver ------------------------------------------------------------- */

START_TEST(test_obvious_causes)
{
    instance_features features = {.jobs = 1, .slots = 4, .segments = 1, .modes = 1};
    instance_result found;
    instance *made = feasible(&features, &found);
    double *low = calloc((size_t)made->view.slots, sizeof(double));
    const double *kept = made->view.gpu_cap;
    made->view.gpu_cap = low;
    ck_assert_int_eq(ckpd_path_solve(context, NULL, &made->view, NULL, NULL, &found.result),
                     CKPD_OK);
    ck_assert_int_eq(found.result.outcome, CKPD_OUTCOME_INFEASIBLE);
    ck_assert_str_eq(found.result.message,
                     "job 0 \"random\": no path within deadline, GPU and load "
                     "caps, even alone");
    made->view.gpu_cap = kept;
    made->view.load_cap_kw = low;
    ck_assert_int_eq(ckpd_path_solve(context, NULL, &made->view, NULL, NULL, &found.result),
                     CKPD_OK);
    ck_assert_int_eq(found.result.outcome, CKPD_OUTCOME_INFEASIBLE);
    ck_assert_ptr_nonnull(strstr(found.result.message, "slot 0: base load"));
    free(low);
    instance_result_free(&found);
    instance_free(made);
}
END_TEST

/* --- bad views -------------------------------------------------------------------------------- */

static void expect_refused(instance *made, int32_t code, const char *message)
{
    instance_result found;
    instance_result_init(&found, &made->view);
    ck_assert_int_eq(ckpd_path_solve(context, NULL, &made->view, NULL, NULL, &found.result), code);
    ck_assert_str_eq(ckpd_context_last_message(context), message);
    instance_result_free(&found);
}

START_TEST(test_bad_views)
{
    instance_features features = {.jobs = 1, .slots = 4, .segments = 2, .modes = 2, .storage = 1};
    instance *made = instance_random(2, &features);
    ck_assert_ptr_nonnull(made->view.storage);
    double *base = (double *)made->view.base_load_kw, *x = (double *)made->view.curve_x_kw;
    double kept = base[1];
    base[1] = NAN;
    expect_refused(made, CKPD_ERR_NOT_FINITE, "base_load_kw[1] is NaN");
    base[1] = kept;
    kept = x[1];
    x[1] = x[0];
    char expected[100];
    ckpd__format(expected, sizeof expected, "curve_x_kw[1] = %g: must ascend within a slot", x[0]);
    expect_refused(made, CKPD_ERR_ARGUMENT, expected);
    x[1] = kept;
    made->storage.eta_charge = 0;
    expect_refused(made, CKPD_ERR_RANGE, "eta_charge = 0 is below the minimum 1e-06");
    made->storage.eta_charge = 1.5;
    expect_refused(made, CKPD_ERR_RANGE, "eta_charge = 1.5 is above the maximum 1");
    made->storage.eta_charge = 0.9;
    made->jobs[0].deadline = 99;
    ck_assert_int_eq(ckpd_path_solve(context, NULL, &made->view, NULL, NULL,
                                     &(ckpd_path_result){.size = sizeof(ckpd_path_result)}),
                     CKPD_ERR_ARGUMENT);
    made->jobs[0].deadline = made->view.slots;
    made->view.slots = 0;
    ck_assert_int_eq(ckpd_path_solve(context, NULL, &made->view, NULL, NULL,
                                     &(ckpd_path_result){.size = sizeof(ckpd_path_result)}),
                     CKPD_ERR_RANGE);
    instance_free(made);
}
END_TEST

/* A slope that falls in a slot that is called convex. */
START_TEST(test_convexity_is_checked)
{
    instance_features features = {.jobs = 1, .slots = 4, .segments = 1, .modes = 1, .nonconvex = 1};
    for (uint64_t seed = 1;; seed++) {
        instance *made = instance_random(seed, &features);
        int32_t t = 0;
        while (t < made->view.slots && made->view.curve_convex[t]) {
            t++;
        }
        uint8_t *convex = (uint8_t *)made->view.curve_convex;
        bool lied =
            t < made->view.slots && made->view.curve_start[t + 1] - made->view.curve_start[t] > 2;
        if (lied) {
            convex[t] = 1;
            instance_result found;
            instance_result_init(&found, &made->view);
            int32_t status = ckpd_path_solve(context, NULL, &made->view, NULL, NULL, &found.result);
            instance_result_free(&found);
            if (status == CKPD_ERR_NOT_CONVEX) {
                instance_free(made);
                break;
            }
            ck_assert_int_eq(status, CKPD_OK); /* its random slopes happened to ascend */
        }
        instance_free(made);
        ck_assert_uint_lt(seed, 50);
    }
}
END_TEST

/* --- registry --------------------------------------------------------------------------------- */

static int32_t refuse(const ckpd_host *host, const ckpd_path_view *view,
                      const ckpd_solve_params *params, ckpd_path_result *result, void *user)
{
    (void)host, (void)view, (void)params, (void)user;
    strcpy(result->message, "too hard for me");
    return CKPD_ERR_NOT_SUPPORTED;
}

START_TEST(test_registry_and_fallback)
{
    ckpd_backend_table table = {.size = sizeof table,
                                .abi = CKPD_BACKEND_ABI,
                                .capabilities = CKPD_CAP_PATHS | CKPD_CAP_SLOTWISE,
                                .name = "shy",
                                .version = "7",
                                .solve_paths = refuse};
    int32_t count = ckpd_backend_count(context);
    ck_assert_str_eq(ckpd_backend_name(context, 0), "native");
    ck_assert_ptr_null(ckpd_backend_name(context, count));
    ck_assert_ptr_null(ckpd_backend_name(context, -1));
    ck_assert_int_eq(ckpd_backend_register(context, &table), CKPD_OK);
    ck_assert_int_eq(ckpd_backend_register(context, &table), CKPD_ERR_DUPLICATE);
    table.name = "native";
    ck_assert_int_eq(ckpd_backend_register(context, &table), CKPD_ERR_DUPLICATE);
    table.name = "other";
    table.size = 8;
    ck_assert_int_eq(ckpd_backend_register(context, &table), CKPD_ERR_STRUCT_SIZE);
    table.size = sizeof table;
    table.abi = 2;
    ck_assert_int_eq(ckpd_backend_register(context, &table), CKPD_ERR_VERSION);
    ck_assert_int_eq(ckpd_backend_count(context), count + 1);
    ck_assert_str_eq(ckpd_backend_name(context, count), "shy");
    ck_assert_str_eq(ckpd_backend_version(context, "shy"), "7");
    ck_assert_str_eq(ckpd_backend_version(context, "none"), "");
    ck_assert_int_eq(ckpd_backend_count(NULL) > 0, 1);

    instance_features features = {.jobs = 1, .slots = 4, .segments = 1, .modes = 1};
    instance_result found;
    instance *made = feasible(&features, &found);
    ck_assert_int_eq(ckpd_path_solve(context, "shy", &made->view, NULL, NULL, &found.result),
                     CKPD_ERR_NOT_SUPPORTED);
    ck_assert_str_eq(ckpd_context_last_message(context), "backend \"shy\": too hard for me");
    ckpd__solve_control control = {0};
    ckpd__solve_info info;
    ck_assert_int_eq(
        ckpd__path_solve(context, "shy", &made->view, NULL, &control, &found.result, &info),
        CKPD_OK);
    ck_assert_str_eq(info.backend, "native");
    ck_assert_int_eq(info.trusted, 1);
    instance_result_free(&found);
    instance_free(made);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("solver: path view and its model");
    TCase *tests = tcase_create("paths");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, test_round_trip);
    tcase_add_test(tests, test_damage_is_found);
    tcase_add_test(tests, test_presolve_changes_no_cost);
    tcase_add_test(tests, test_closed_moves);
    tcase_add_test(tests, test_points_on_the_way);
    tcase_add_test(tests, test_repeats_are_identical);
    tcase_add_test(tests, test_obvious_causes);
    tcase_add_test(tests, test_bad_views);
    tcase_add_test(tests, test_convexity_is_checked);
    tcase_add_test(tests, test_registry_and_fallback);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
