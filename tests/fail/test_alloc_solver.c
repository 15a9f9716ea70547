/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/certificate.h"
#include "solver/native/native.h"
#include "solver/solver.h"
#include "support/highs.h"
#include "support/instance.h"
#include "support/random_view.h"
#include "support/sweep.h"
#include "support/views.h"

#include <ckptdispatch/backend.h>
#include <math.h>
#include <string.h>

/* min -5x - 4y, 6x + 4y <= 24, x + 2y <= 6; integers: x = 4, y = 0, cost -20; without: x = 3, y
 * = 1.5, cost -21. */
static ckpd_milp_view small_milp(const uint8_t *integer)
{
    static const double point[] = {2, 1};
    ckpd_milp_view view = view_two_rows(integer);
    view.start_point = point;
    return view;
}

static void milp(sweep_memory *memory, ckpd_context *context)
{
    static const uint8_t integer[] = {1, 1};
    double x[2];
    ckpd_milp_result result = {.size = sizeof result, .x = x};
    ckpd_milp_view view = small_milp(integer);
    SWEEP(ckpd_milp_solve(context, "glpk", &view, NULL, NULL, &result));
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_OPTIMAL);
    ck_assert_double_eq_tol(result.objective, -20, 1e-9);
}

static void lp_with_duals(sweep_memory *memory, ckpd_context *context)
{
    double x[2];
    double row_dual[2];
    double reduced[2];
    ckpd_milp_result result = {
        .size = sizeof result, .x = x, .row_dual = row_dual, .reduced_cost = reduced};
    ckpd_milp_view view = small_milp(NULL);
    SWEEP(ckpd_milp_solve(context, "glpk", &view, NULL, NULL, &result));
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_OPTIMAL);
    ck_assert_double_eq_tol(result.objective, -21, 1e-9);
    /* By hand: 6u + v = -5, 4u + 2v = -4. */
    ck_assert_double_eq_tol(row_dual[0], -0.75, 1e-9);
    ck_assert_double_eq_tol(row_dual[1], -0.5, 1e-9);
}

static const char *highs_library;

static void milp_by_highs(sweep_memory *memory, ckpd_context *context)
{
    static const uint8_t integer[] = {1, 1};
    double x[2];
    ckpd_milp_result result = {.size = sizeof result, .x = x};
    ckpd_milp_view view = small_milp(integer);
    SWEEP(ckpd_backend_load(context, highs_library));
    SWEEP(ckpd_milp_solve(context, "highs", &view, NULL, NULL, &result));
    ck_assert_int_eq(result.has_plan, 1); /* optimal by the word of HiGHS alone */
    ck_assert_double_eq_tol(result.objective, -20, 1e-9);
}

/* x <= 1e9 z, min (-x + 3 z) / 1e6, x <= 10: the objective is scaled, the big M made small. */
static void tightened(sweep_memory *memory, ckpd_context *context)
{
    static const double cost[] = {-1e-6, 3e-6}, upper[] = {10, 1}, value[] = {1, -1e9},
                        room[] = {0};
    static const uint8_t integer[] = {0, 1};
    const ckpd_milp_view view = view_one_row(cost, upper, value, room, integer);
    double x[2];
    ckpd_milp_result result = {.size = sizeof result, .x = x};
    SWEEP(ckpd_milp_solve(context, "glpk", &view, NULL, NULL, &result));
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_OPTIMAL);
    ck_assert_double_eq_tol(result.objective, -7e-6, 1e-12);
}

/* Its integer is whole only within a tolerance: x = 10 z at z = 1e-7 is no 10. The continuous rest
 * is asked for again beside whole integers, and then right. */
static int32_t leaky(const ckpd_host *host, const ckpd_milp_view *view,
                     const ckpd_solve_params *params, ckpd_milp_result *result, void *user)
{
    (void)params;
    (void)user;
    void *block = host->allocate(100, host->user);
    if (block == NULL) {
        return CKPD_ERR_NO_MEMORY;
    }
    host->release(block, host->user);
    bool again = view->integer == NULL;
    result->x[0] = again ? 0 : 10;
    result->x[1] = again ? view->lower[1] : 1e-7;
    result->outcome = CKPD_OUTCOME_OPTIMAL;
    result->has_plan = 1;
    result->objective = result->bound = again ? 0 : -10;
    return CKPD_OK;
}

static void polished(sweep_memory *memory, ckpd_context *context)
{
    static const double cost[] = {-1, 3}, upper[] = {10, 1}, value[] = {1, -10}, room[] = {0};
    static const uint8_t integer[] = {0, 1};
    const ckpd_backend_table table = {.size = sizeof table,
                                      .abi = CKPD_BACKEND_ABI,
                                      .capabilities = CKPD_CAP_MILP | CKPD_CAP_LP,
                                      .name = "leaky",
                                      .version = "1",
                                      .solve_milp = leaky};
    const ckpd_milp_view view = view_one_row(cost, upper, value, room, integer);
    double x[2];
    ckpd_milp_result result = {.size = sizeof result, .x = x};
    SWEEP(ckpd_backend_register(context, &table));
    SWEEP(ckpd_milp_solve(context, "leaky", &view, NULL, NULL, &result));
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_FEASIBLE);
    ck_assert(x[0] == 0 && x[1] == 0);
}

static int32_t no_solver(const ckpd_host *host, const ckpd_milp_view *view,
                         const ckpd_solve_params *params, ckpd_milp_result *result, void *user)
{
    (void)view;
    (void)params;
    (void)user;
    void *block = host->allocate(100, host->user);
    if (block == NULL) {
        return CKPD_ERR_NO_MEMORY;
    }
    host->release(block, host->user);
    result->outcome = CKPD_OUTCOME_NO_PLAN;
    return CKPD_OK;
}

static void registered(sweep_memory *memory, ckpd_context *context)
{
    const ckpd_backend_table table = {.size = sizeof table,
                                      .abi = CKPD_BACKEND_ABI,
                                      .capabilities = CKPD_CAP_MILP,
                                      .name = "none",
                                      .version = "1",
                                      .license = "LGPL-3.0-or-later",
                                      .solve_milp = no_solver};
    static const uint8_t integer[] = {1, 1};
    double x[2];
    ckpd_milp_result result = {.size = sizeof result, .x = x};
    ckpd_milp_view view = small_milp(integer);
    SWEEP(ckpd_backend_register(context, &table));
    ck_assert_uint_eq(ckpd_backend_capabilities(context, "none"), CKPD_CAP_MILP);
    SWEEP(ckpd_milp_solve(context, "none", &view, NULL, NULL, &result));
    ck_assert_int_eq(result.outcome, CKPD_OUTCOME_NO_PLAN);
}

/* --- path views: small random ones, the same answer whatever allocation fails
 * ---------------------------- */

static const instance_features with_storage = {
    .jobs = 2, .slots = 5, .segments = 2, .modes = 2, .storage = 1, .caps = 1};
static const instance_features with_rules = {.jobs = 2,
                                             .slots = 5,
                                             .segments = 2,
                                             .modes = 2,
                                             .transitions = 1,
                                             .edge_costs = 1,
                                             .prorated = 1,
                                             .fixed = 1};
static const instance_features with_hollow_costs = {
    .jobs = 1, .slots = 4, .segments = 2, .modes = 2, .nonconvex = 1, .storage = 1};
static const instance_features slot_by_slot = {
    .jobs = 1, .slots = 6, .segments = 1, .modes = 2, .slotwise = 1};

static void paths(sweep_memory *memory, ckpd_context *context, const char *backend,
                  const instance_features *features, uint64_t seed)
{
    static double expected =
        NAN; /* of the first, undisturbed run; every scenario runs in a process of its own */
    instance *made = instance_random(seed, features);
    instance_result answer;
    instance_result_init(&answer, &made->view);
    SWEEP(ckpd_path_solve(context, backend, &made->view, NULL, NULL, &answer.result));
    ck_assert_int_eq(answer.result.outcome, CKPD_OUTCOME_OPTIMAL);
    if (isnan(expected)) {
        expected = answer.result.objective;
    }
    ck_assert_double_eq_tol(answer.result.objective, expected, 1e-6 * fmax(1, fabs(expected)));
    instance_result_free(&answer);
    instance_free(made);
}

/* Certificates, which are not part of the interface: of few jobs, and of more than can be combined
 * slot by slot. */
static void certified(sweep_memory *memory, ckpd_context *context, const random_shape *shape)
{
    static double expected = NAN;
    ckpd_solve_params params = test_params(1e-6);
    const ckpd__solve_control control = {0};
    case_view view;
    ckpd_host host;
    ckpd__host_state state;
    ckpd_path_result result = {.size = sizeof result};
    nat_certificate proof;
    double bound = NAN;
    params.iteration_limit = 5;
    random_view_make(&view, 5, shape);
    result.plan = case_view_plan(&view);
    ckpd__host_start(&host, &state, context, &control, INFINITY);
    SWEEP(ckpd__native_solve_certified(&host, &view.view, &params, &result, &proof));
    ck_assert_int_eq(proof.many, shape->jobs > 4);
    SWEEP(ckpd__nat_certificate_check(&host, &view.view, &proof, &bound));
    if (isnan(expected)) {
        expected = bound;
    }
    ck_assert_double_eq(bound, expected);
    ck_assert_double_le(bound, result.objective + 1e-6 * fabs(result.objective));
    ckpd__nat_certificate_free(&proof);
    case_view_free(&view);
}

static void certified_few(sweep_memory *memory, ckpd_context *context)
{
    certified(memory, context, &(random_shape){3, 5, 3, 2, RANDOM_STORAGE | RANDOM_TIGHT});
}

static void certified_crowd(sweep_memory *memory, ckpd_context *context)
{
    certified(memory, context, &(random_shape){14, 4, 2, 3, RANDOM_LARGE});
}

static void certified_slotwise(sweep_memory *memory, ckpd_context *context)
{
    static const instance_features features = {
        .jobs = 2, .slots = 5, .segments = 2, .modes = 2, .slotwise = 2};
    const ckpd_solve_params params = test_params(1e-6);
    const ckpd__solve_control control = {0};
    ckpd_host host;
    ckpd__host_state state;
    nat_certificate proof;
    double bound = NAN;
    instance *made = instance_random(4, &features);
    instance_result found;
    instance_result_init(&found, &made->view);
    ckpd__host_start(&host, &state, context, &control, INFINITY);
    SWEEP(ckpd__native_solve_certified(&host, &made->view, &params, &found.result, &proof));
    SWEEP(ckpd__nat_certificate_check(&host, &made->view, &proof, &bound));
    ck_assert_int_eq(found.result.outcome, CKPD_OUTCOME_OPTIMAL);
    ck_assert_double_ge(bound, found.result.bound - 1e-8 * (1 + fabs(found.result.bound)));
    ckpd__nat_certificate_free(&proof);
    instance_result_free(&found);
    instance_free(made);
}

/* The structure presolve held to its root, so that GLPK gets what is left. */
static void presolved(sweep_memory *memory, ckpd_context *context)
{
    static const instance_features features = {
        .jobs = 4, .slots = 8, .segments = 4, .modes = 3, .nonconvex = 1};
    static double expected = NAN;
    const ckpd__solve_control control = {.structure_presolve = 1, .presolve_nodes = 1};
    instance *made = instance_random(219, &features);
    instance_result answer;
    instance_result_init(&answer, &made->view);
    SWEEP(ckpd__path_solve(context, "glpk", &made->view, NULL, &control, &answer.result, NULL));
    ck_assert_int_eq(answer.result.outcome, CKPD_OUTCOME_OPTIMAL);
    if (isnan(expected)) {
        expected = answer.result.objective;
    }
    ck_assert_double_eq_tol(answer.result.objective, expected, 2e-6 * fmax(1, fabs(expected)));
    instance_result_free(&answer);
    instance_free(made);
}

#define PATHS(name, backend, features, seed)                      \
    static void name(sweep_memory *memory, ckpd_context *context) \
    {                                                             \
        paths(memory, context, backend, &features, seed);         \
    }
PATHS(native_storage, "native", with_storage, 1)
PATHS(native_rules, "native", with_rules, 2)
PATHS(native_hollow, "native", with_hollow_costs, 3)
PATHS(native_slots, "native", slot_by_slot, 4)
PATHS(enumerate_storage, "enumerate", with_storage, 1)
PATHS(enumerate_rules, "enumerate", with_rules, 2)
PATHS(glpk_storage, "glpk", with_storage, 1)
PATHS(glpk_rules, "glpk", with_rules, 2)
PATHS(glpk_hollow, "glpk", with_hollow_costs, 3)
PATHS(glpk_slots, "glpk", slot_by_slot, 4)

/* A scenario runs when the build has its backend. */
static const struct {
    const char *backend;
    sweep_scenario scenario;
} all[] = {
    {NULL, {"a backend of the user", registered}},
    {NULL, {"a backend whose integers leak", polished}},
    {"native", {"native: storage", native_storage}},
    {"native", {"native: transitions and edge costs", native_rules}},
    {"native", {"native: costs that are not convex", native_hollow}},
    {"native", {"native: slot by slot", native_slots}},
    {"native", {"native: a certificate of few jobs", certified_few}},
    {"native", {"native: a certificate of many jobs", certified_crowd}},
    {"native", {"native: a certificate of slot-wise jobs", certified_slotwise}},
    {"enumerate", {"enumerate: storage", enumerate_storage}},
    {"enumerate", {"enumerate: transitions and edge costs", enumerate_rules}},
    {"glpk", {"MILP by GLPK", milp}},
    {"glpk", {"LP with duals by GLPK", lp_with_duals}},
    {"glpk", {"GLPK: a big M and small costs", tightened}},
    {"highs", {"MILP by HiGHS", milp_by_highs}},
    {"glpk", {"GLPK: storage", glpk_storage}},
    {"glpk", {"GLPK: transitions and edge costs", glpk_rules}},
    {"glpk", {"GLPK: costs that are not convex", glpk_hollow}},
    {"glpk", {"GLPK: slot by slot", glpk_slots}},
    {"glpk", {"GLPK after the structure presolve", presolved}},
};
enum { ALL = sizeof all / sizeof all[0] };

int main(void)
{
    static sweep_scenario scenarios[ALL];
    int32_t count = 0;
    ckpd_context *context = NULL;
    if (ckpd_context_new(&context, NULL) != CKPD_OK) {
        return 1;
    }
    highs_library = test_highs_library();
    test_highs_load(context);
    for (int i = 0; i < ALL; i++) {
        if (all[i].backend == NULL || ckpd_backend_capabilities(context, all[i].backend) != 0) {
            scenarios[count++] = all[i].scenario;
        } else if (strcmp(all[i].backend, "highs") != 0) { /* that was told already */
            test_skip(all[i].scenario.name);
        }
    }
    ckpd_context_free(context);
    return sweep_main("solver", scenarios, count);
}
