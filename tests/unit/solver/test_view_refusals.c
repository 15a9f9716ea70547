/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* A good view with one thing wrong at a time never reaches a backend: code, field and index are
 * told. */
#include "solver/solver.h"
#include "support/random_view.h"
#include "support/support.h"

#include <math.h>
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

static void expect(int32_t status, int32_t code, const char *field, int64_t index)
{
    ckpd_error error = {.size = sizeof error};
    ck_assert_msg(status == code, "%s: %s instead of %s: %s", field, ckpd_status_name(status),
                  ckpd_status_name(code), ckpd_context_last_message(context));
    ck_assert_int_eq(ckpd_context_last_error(context, &error), CKPD_OK);
    ck_assert_int_eq(error.code, code);
    ck_assert_str_eq(error.field, field);
    ck_assert_int_eq(error.index, index);
}

/* --- path views --------------------------------------------------------------------------------
 */

/* Arrays of a random view may be written to: they are the test's. */
#define AT(array, i, type) (((type *)(uintptr_t)(array))[i])

typedef struct broken {
    ckpd_path_view *view;
    ckpd_path_job *job; /* of the paths kind */
    ckpd_path_storage *storage;
    ckpd_path_plan *plan;
} broken;

typedef struct breach {
    void (*break_it)(const broken *it);
    int32_t code;
    const char *field;
    int64_t index;
} breach;

#define BREAK(name, statement)         \
    static void name(const broken *it) \
    {                                  \
        statement;                     \
    }

BREAK(no_slots, it->view->slots = 0)
BREAK(fewer_jobs, it->view->jobs = -1)
BREAK(no_hours, it->view->slot_hours = 0)
BREAK(no_offset, it->view->cost_offset = NAN)
BREAK(no_load, it->view->base_load_kw = NULL)
BREAK(no_caps, it->view->gpu_cap = NULL)
BREAK(bad_load, AT(it->view->base_load_kw, 2, double) = INFINITY)
BREAK(bad_factor, AT(it->view->load_factor, 1, double) = -1)
BREAK(bad_cap, AT(it->view->gpu_cap, 3, double) = -1)
BREAK(bad_start, AT(it->view->curve_start, 0, int64_t) = 1)
BREAK(empty_curve, AT(it->view->curve_start, 2, int64_t) = it->view->curve_start[1])
BREAK(bad_point, AT(it->view->curve_x_kw, 1, double) = NAN)
BREAK(falling_x, AT(it->view->curve_x_kw, 1, double) = it->view->curve_x_kw[0])
BREAK(bad_cost, AT(it->view->curve_cost, 0, double) = -INFINITY)
BREAK(lone_soft_cap, it->view->load_soft_kw = it->view->base_load_kw)
BREAK(lone_price, it->view->gpu_over_cost = it->view->load_factor)
BREAK(no_list_of_jobs, it->view->job = NULL)
BREAK(no_job, AT(it->view->job, 1, const ckpd_path_job *) = NULL)
BREAK(bad_kind, it->job->kind = 9)
BREAK(late_source, it->job->source_slot = it->job->deadline + 1)
BREAK(late_deadline, it->job->deadline = it->view->slots + 1)
BREAK(no_powers, it->job->mode_power_kw = NULL)
BREAK(too_many_states, it->job->states = 2)
BREAK(bad_source, it->job->source_segment = it->job->segments + 1)
BREAK(no_nodes, it->job->node_open = NULL)
BREAK(no_moves, it->job->move_slots = NULL)
BREAK(negative_gpus, AT(it->job->mode_gpus, 0, int32_t) = -8)
BREAK(bad_power, AT(it->job->mode_power_kw, 0, double) = NAN)
BREAK(bad_mode, AT(it->job->move_mode, 1, int32_t) = it->job->modes)
BREAK(bad_length, AT(it->job->move_slots, 0, int32_t) = 0)
BREAK(bad_segments, AT(it->job->move_segments, 0, int32_t) = 0)
BREAK(bad_last, AT(it->job->move_last_kw, 0, double) = -1)
BREAK(bad_edge, AT(it->job->edge_cost, 4, double) = NAN)
BREAK(bad_fixed, AT(it->job->fixed_power_kw, 1, double) = -1)
BREAK(bad_fixed_gpus, AT(it->job->fixed_gpus, 2, int32_t) = -1)
BREAK(bad_charge, it->storage->charge_max_kw = -1)
BREAK(bad_eta, it->storage->eta_discharge = 1.5)
BREAK(bad_maximum, it->storage->soc_max_kwh = it->storage->soc_min_kwh - 1)
BREAK(bad_terminal, it->storage->terminal = 7)

static const breach breaches[] = {
    {no_slots, CKPD_ERR_RANGE, "slots", -1},
    {fewer_jobs, CKPD_ERR_RANGE, "jobs", -1},
    {no_hours, CKPD_ERR_RANGE, "slot_hours", -1},
    {no_offset, CKPD_ERR_NOT_FINITE, "cost_offset", -1},
    {no_load, CKPD_ERR_ARGUMENT, "base_load_kw", -1},
    {no_caps, CKPD_ERR_ARGUMENT, "gpu_cap", -1},
    {bad_load, CKPD_ERR_NOT_FINITE, "base_load_kw", 2},
    {bad_factor, CKPD_ERR_RANGE, "load_factor", 1},
    {bad_cap, CKPD_ERR_RANGE, "gpu_cap", 3},
    {bad_start, CKPD_ERR_ARGUMENT, "curve_start", 0},
    {empty_curve, CKPD_ERR_ARGUMENT, "curve_start", 2},
    {bad_point, CKPD_ERR_NOT_FINITE, "curve_x_kw", 1},
    {falling_x, CKPD_ERR_ARGUMENT, "curve_x_kw", 1},
    {bad_cost, CKPD_ERR_NOT_FINITE, "curve_cost", 0},
    {lone_soft_cap, CKPD_ERR_ARGUMENT, "load_over_cost", -1},
    {lone_price, CKPD_ERR_ARGUMENT, "gpu_soft", -1},
    {no_list_of_jobs, CKPD_ERR_ARGUMENT, "job", -1},
    {no_job, CKPD_ERR_ARGUMENT, "job", -1},
    {bad_kind, CKPD_ERR_ARGUMENT, "job kind", 1},
    {late_source, CKPD_ERR_ARGUMENT, "deadline", 1},
    {late_deadline, CKPD_ERR_ARGUMENT, "deadline", 1},
    {no_powers, CKPD_ERR_ARGUMENT, "modes", 1},
    {too_many_states, CKPD_ERR_ARGUMENT, "job", 1},
    {bad_source, CKPD_ERR_ARGUMENT, "job", 1},
    {no_nodes, CKPD_ERR_ARGUMENT, "job", 1},
    {no_moves, CKPD_ERR_ARGUMENT, "move_slots", -1},
    {negative_gpus, CKPD_ERR_ARGUMENT, "mode_gpus", 0},
    {bad_power, CKPD_ERR_NOT_FINITE, "mode_power_kw", 0},
    {bad_mode, CKPD_ERR_ARGUMENT, "move_mode", 1},
    {bad_length, CKPD_ERR_ARGUMENT, "move_slots", 0},
    {bad_segments, CKPD_ERR_ARGUMENT, "move_segments", 0},
    {bad_last, CKPD_ERR_RANGE, "move_last_kw", 0},
    {bad_edge, CKPD_ERR_NOT_FINITE, "edge_cost", 4},
    {bad_fixed, CKPD_ERR_RANGE, "fixed_power_kw", 1},
    {bad_fixed_gpus, CKPD_ERR_ARGUMENT, "fixed_gpus", 2},
    {bad_charge, CKPD_ERR_RANGE, "charge_max_kw", -1},
    {bad_eta, CKPD_ERR_RANGE, "eta_discharge", -1},
    {bad_maximum, CKPD_ERR_RANGE, "soc_max_kwh", -1},
    {bad_terminal, CKPD_ERR_RANGE, "terminal", -1},
};
enum { BREACHES = sizeof breaches / sizeof *breaches };

static int32_t solve(const broken *it)
{
    ckpd_path_result result = {.size = sizeof result, .plan = it->plan};
    return ckpd_path_solve(context, "native", it->view, NULL, NULL, &result);
}

static void make(case_view *view, broken *it)
{
    static const random_shape shape = {
        2, 5, 3, 2, RANDOM_STORAGE | RANDOM_EDGE_COST | RANDOM_PRORATED | RANDOM_RUNNING};
    random_view_make(view, 11, &shape);
    *it = (broken){&view->view, (ckpd_path_job *)(uintptr_t)view->view.job[1],
                   (ckpd_path_storage *)(uintptr_t)view->view.storage, case_view_plan(view)};
}

START_TEST(path_views)
{
    case_view view;
    broken it;
    make(&view, &it);
    ck_assert_msg(solve(&it) == CKPD_OK, "%s", ckpd_context_last_message(context));
    case_view_free(&view);
    make(&view, &it);
    breaches[_i].break_it(&it);
    expect(solve(&it), breaches[_i].code, breaches[_i].field, breaches[_i].index);
    case_view_free(&view);
}
END_TEST

/* A curve that is called convex and is not: slopes 1 and then 0.5. */
START_TEST(a_curve_that_is_not_convex)
{
    static const int64_t start[] = {0, 3};
    static const double x[] = {0, 10, 20}, cost[] = {0, 10, 15}, zero[] = {0}, one[] = {1};
    static const uint8_t convex[] = {1};
    const ckpd_path_view view = {.size = sizeof view,
                                 .slots = 1,
                                 .slot_hours = 1,
                                 .base_load_kw = zero,
                                 .load_factor = one,
                                 .load_cap_kw = one,
                                 .gpu_cap = one,
                                 .curve_start = start,
                                 .curve_x_kw = x,
                                 .curve_cost = cost,
                                 .curve_convex = convex};
    ckpd_path_result result = {.size = sizeof result};
    expect(ckpd_path_solve(context, "native", &view, NULL, NULL, &result), CKPD_ERR_NOT_CONVEX,
           "curve_convex", 0);
}
END_TEST

/* --- models ------------------------------------------------------------------------------------
 */

typedef struct model {
    double cost[2], lower[2], upper[2], row_lower[2], row_upper[2], value[4], point[2];
    int64_t start[3];
    int32_t index[4];
    ckpd_milp_view view;
} model;

static void make_model(model *m)
{
    *m = (model){.cost = {1, 1},
                 .upper = {5, 5},
                 .row_upper = {8, 8},
                 .value = {1, 2, 3, 4},
                 .start = {0, 2, 4},
                 .index = {0, 1, 0, 1}};
    m->view = (ckpd_milp_view){.size = sizeof m->view,
                               .columns = 2,
                               .rows = 2,
                               .nonzeros = 4,
                               .cost = m->cost,
                               .lower = m->lower,
                               .upper = m->upper,
                               .row_lower = m->row_lower,
                               .row_upper = m->row_upper,
                               .start = m->start,
                               .index = m->index,
                               .value = m->value,
                               .start_point = m->point};
}

static void expect_model(const model *m, int32_t code, const char *field, int64_t index)
{
    expect(ckpd__milp_view_check(context, &m->view), code, field, index);
}

START_TEST(models)
{
    model m;
    make_model(&m);
    ck_assert_int_eq(ckpd__milp_view_check(context, &m.view), CKPD_OK);
    m.start[0] = 1;
    expect_model(&m, CKPD_ERR_ARGUMENT, "start", 0);
    make_model(&m);
    m.start[1] = 5;
    expect_model(&m, CKPD_ERR_ARGUMENT, "start", 2); /* descends to 4 */
    make_model(&m);
    m.view.nonzeros = 3;
    expect_model(&m, CKPD_ERR_ARGUMENT, "start", 2);
    make_model(&m);
    m.index[2] = -1;
    expect_model(&m, CKPD_ERR_ARGUMENT, "index", 2);
    make_model(&m);
    m.view.rows = -1;
    expect_model(&m, CKPD_ERR_ARGUMENT, "columns", -1);
    make_model(&m);
    m.lower[1] = INFINITY;
    expect_model(&m, CKPD_ERR_NOT_FINITE, "lower", 1);
    make_model(&m);
    m.row_upper[0] = -INFINITY;
    expect_model(&m, CKPD_ERR_NOT_FINITE, "row_upper", 0);
    make_model(&m);
    m.point[1] = NAN;
    expect_model(&m, CKPD_ERR_NOT_FINITE, "start_point", 1);
    make_model(&m);
    m.view.index = NULL;
    expect_model(&m, CKPD_ERR_ARGUMENT, "index", -1);
    make_model(&m);
    m.view.row_upper = NULL;
    expect_model(&m, CKPD_ERR_ARGUMENT, "row_upper", -1);
}
END_TEST

START_TEST(parameters)
{
    static const struct {
        ckpd_solve_params params;
        int32_t code;
        const char *field;
    } bad[] = {{{.time_limit_s = -1, .threads = 1}, CKPD_ERR_RANGE, "time_limit_s"},
               {{.time_limit_s = NAN, .threads = 1}, CKPD_ERR_NOT_FINITE, "time_limit_s"},
               {{.relative_gap = -1, .threads = 1}, CKPD_ERR_RANGE, "relative_gap"},
               {{.absolute_gap = INFINITY, .threads = 1}, CKPD_ERR_NOT_FINITE, "absolute_gap"},
               {{.threads = 0}, CKPD_ERR_RANGE, "threads"},
               {{.threads = 1025}, CKPD_ERR_RANGE, "threads"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ckpd_solve_params params = bad[i].params, known;
        params.size = sizeof params;
        expect(ckpd__params_read(context, &params, &known), bad[i].code, bad[i].field, -1);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("views that are refused");
    TCase *tests = tcase_create("views");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, path_views, 0, BREACHES);
    tcase_add_test(tests, a_curve_that_is_not_convex);
    tcase_add_test(tests, models);
    tcase_add_test(tests, parameters);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
