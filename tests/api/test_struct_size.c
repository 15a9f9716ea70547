/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Size-prefixed structs (practice 10) of base, task, modes, graph, site and solver. */
#include "support/struct_size.h"

#include <ckptdispatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- structs the library fills ------------------------------------------------------------- */

static ckpd_context *context;
static ckpd_task *task;
static ckpd_hardware *hardware;
static ckpd_mode_set *modes;
static ckpd_graph *graph;

static const int32_t table_gpus[] = {100};
static const double table_rate[] = {1};
static const double table_power_kw[] = {50};

static ckpd_mode_table table_sample_of_today(void)
{
    return (ckpd_mode_table){.size = sizeof(ckpd_mode_table),
                             .count = 1,
                             .installed_gpus = 100,
                             .gpus = table_gpus,
                             .rate = table_rate,
                             .power_kw = table_power_kw};
}

/* Answers the one linear program of these tests, so that they run in a build without any LP solver
 * as well. */
static int32_t solve_min_x(const ckpd_host *host, const ckpd_milp_view *view,
                           const ckpd_solve_params *params, ckpd_milp_result *result, void *user)
{
    (void)host, (void)params, (void)user;
    result->outcome = CKPD_OUTCOME_OPTIMAL;
    result->has_plan = 1;
    result->x[0] = view->lower[0];
    result->objective = result->bound = view->lower[0];
    return CKPD_OK;
}

static ckpd_backend_table backend_of_today(const char *name)
{
    return (ckpd_backend_table){.size = sizeof(ckpd_backend_table),
                                .abi = CKPD_BACKEND_ABI,
                                .capabilities = CKPD_CAP_MILP | CKPD_CAP_LP,
                                .name = name,
                                .version = "1",
                                .license = "LGPL-3.0-or-later",
                                .solve_milp = solve_min_x};
}

static void setup(void)
{
    const ckpd_backend_table backend = backend_of_today("min-x");
    ckpd_mode_table table = table_sample_of_today();
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_backend_register(context, &backend), CKPD_OK);
    ck_assert_int_eq(ckpd_task_new(&task, context, "job"), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set_model(task, "llama-65b"), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "tranche_baseline_hours", 2), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "segments", 2), CKPD_OK);
    ck_assert_int_eq(ckpd_hardware_new(&hardware, context, "a100-80gb"), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_set_from_table(&modes, context, task, &table), CKPD_OK);
    ck_assert_int_eq(ckpd_graph_build(&graph, context, task, modes, 6, 1.0, NULL), CKPD_OK);
}

static void teardown(void)
{
    ckpd_graph_free(graph);
    ckpd_mode_set_free(modes);
    ckpd_hardware_free(hardware);
    ckpd_task_free(task);
    ckpd_context_free(context);
}

static int32_t fill_error(void *out)
{
    return ckpd_context_last_error(context, out);
}

static int32_t fill_series_info(void *out)
{
    return ckpd_site_series_info(0, out);
}

static int32_t fill_battery_info(void *out)
{
    return ckpd_battery_field_info(0, out);
}

static int32_t fill_task_info(void *out)
{
    return ckpd_task_field_info(0, out);
}

static int32_t fill_hardware_info(void *out)
{
    return ckpd_hardware_field_info(0, out);
}

static int32_t fill_rules_info(void *out)
{
    return ckpd_mode_rules_field_info(0, out);
}

static int32_t fill_graph_info(void *out)
{
    return ckpd_graph_options_field_info(0, out);
}

static int32_t fill_model(void *out)
{
    return ckpd_model_get(0, out);
}

static int32_t fill_task_workload(void *out)
{
    return ckpd_task_workload(task, out);
}

static int32_t fill_set_workload(void *out)
{
    return ckpd_mode_set_workload(modes, out);
}

static int32_t fill_mode(void *out)
{
    return ckpd_mode_set_get(modes, 0, out);
}

static int32_t fill_evaluated_mode(void *out)
{
    const ckpd_layout layout = {
        .size = sizeof layout, .tp = 8, .pp = 8, .dp = 16, .micro_batch = 1};
    return ckpd_mode_evaluate(task, hardware, &layout, out);
}

static int32_t fill_counts(void *out)
{
    return ckpd_graph_count(graph, out);
}

static const filled_struct filled[] = {
    {"ckpd_field_info of a task", sizeof(ckpd_field_info), fill_task_info},
    {"ckpd_field_info of hardware", sizeof(ckpd_field_info), fill_hardware_info},
    {"ckpd_field_info of mode rules", sizeof(ckpd_field_info), fill_rules_info},
    {"ckpd_field_info of graph options", sizeof(ckpd_field_info), fill_graph_info},
    {"ckpd_model_info", sizeof(ckpd_model_info), fill_model},
    {"ckpd_workload of a task", sizeof(ckpd_workload), fill_task_workload},
    {"ckpd_workload of a mode set", sizeof(ckpd_workload), fill_set_workload},
    {"ckpd_mode of a set", sizeof(ckpd_mode), fill_mode},
    {"ckpd_mode of a layout", sizeof(ckpd_mode), fill_evaluated_mode},
    {"ckpd_graph_counts", sizeof(ckpd_graph_counts), fill_counts},
    {"ckpd_error", sizeof(ckpd_error), fill_error},
    {"ckpd_field_info of a series", sizeof(ckpd_field_info), fill_series_info},
    {"ckpd_field_info of a battery", sizeof(ckpd_field_info), fill_battery_info},
};
enum { FILLED = sizeof filled / sizeof filled[0] };

/* --- structs the library reads ------------------------------------------------------------- */

static void *plain_malloc(size_t bytes, void *user)
{
    (void)user;
    return malloc(bytes);
}

static void *plain_realloc(void *block, size_t bytes, void *user)
{
    (void)user;
    return realloc(block, bytes);
}

static void plain_free(void *block, void *user)
{
    (void)user;
    free(block);
}

static void allocator_sample(void *block)
{
    ckpd_allocator sample = {sizeof sample, plain_malloc, plain_realloc, plain_free, NULL};
    memcpy(block, &sample, sizeof sample);
}

static int32_t allocator_read(const void *block)
{
    ckpd_context *made = NULL;
    int32_t status = ckpd_context_new(&made, block);
    ckpd_context_free(made);
    return status;
}

static void table_sample(void *block)
{
    ckpd_mode_table sample = table_sample_of_today();
    memcpy(block, &sample, sizeof sample);
}

static int32_t table_read(const void *block)
{
    ckpd_mode_set *made = NULL;
    int32_t status = ckpd_mode_set_from_table(&made, context, task, block);
    ckpd_mode_set_free(made);
    return status;
}

static void layout_sample(void *block)
{
    const ckpd_layout sample = {
        .size = sizeof sample, .tp = 8, .pp = 8, .dp = 16, .micro_batch = 1};
    memcpy(block, &sample, sizeof sample);
}

static int32_t layout_read(const void *block)
{
    ckpd_mode mode = {.size = sizeof mode};
    return ckpd_mode_evaluate(task, hardware, block, &mode);
}

/* min x, 1 <= x <= 2, one row around it. */
static const double one = 1;
static const double two = 2;
static const int64_t lp_start[] = {0, 1};
static const int32_t lp_index[] = {0};

static ckpd_milp_view lp_of_today(void)
{
    return (ckpd_milp_view){.size = sizeof(ckpd_milp_view),
                            .columns = 1,
                            .rows = 1,
                            .nonzeros = 1,
                            .cost = &one,
                            .lower = &one,
                            .upper = &two,
                            .row_lower = &one,
                            .row_upper = &two,
                            .start = lp_start,
                            .index = lp_index,
                            .value = &one};
}

static void view_sample(void *block)
{
    ckpd_milp_view sample = lp_of_today();
    memcpy(block, &sample, sizeof sample);
}

static int32_t view_read(const void *block)
{
    double x = 0;
    ckpd_milp_result result = {.size = sizeof result, .x = &x};
    return ckpd_milp_solve(context, "min-x", block, NULL, NULL, &result);
}

static void params_sample(void *block)
{
    const ckpd_solve_params sample = {.size = sizeof sample,
                                      .time_limit_s = INFINITY,
                                      .relative_gap = 1e-6,
                                      .node_limit = -1,
                                      .iteration_limit = -1,
                                      .threads = 1,
                                      .presolve = 1};
    memcpy(block, &sample, sizeof sample);
}

static int32_t params_read(const void *block)
{
    double x = 0;
    ckpd_milp_view view = lp_of_today();
    ckpd_milp_result result = {.size = sizeof result, .x = &x};
    return ckpd_milp_solve(context, "min-x", &view, block, NULL, &result);
}

static void backend_sample(void *block)
{
    const ckpd_backend_table sample = backend_of_today("mine");
    memcpy(block, &sample, sizeof sample);
}

static int32_t backend_read(const void *block)
{
    return ckpd_backend_register(context, block);
}

static double result_x;

static void milp_result_sample(void *block)
{
    const ckpd_milp_result sample = {.size = sizeof sample, .x = &result_x};
    memcpy(block, &sample, sizeof sample);
}

static int32_t milp_result_read(const void *block)
{
    union {
        ckpd_milp_result result;
        unsigned char bytes[4096];
    } copy;
    ckpd_milp_view view = lp_of_today();
    memcpy(&copy, block, sizeof copy);
    return ckpd_milp_solve(context, "min-x", &view, NULL, NULL, &copy.result);
}

/* One job of one slot in one of two slots, a cost of 1 per kW in each: 10 kW cost 10. */
static const int32_t job_gpus[] = {1};
static const double job_power_kw[] = {10};
static const int32_t move_mode[] = {0};
static const int32_t move_slots[] = {1};
static const int32_t move_segments[] = {1};
static const uint8_t node_open[] = {1, 1, 1, 1, 1, 1};
static const ckpd_path_job path_job = {.size = sizeof(ckpd_path_job),
                                       .name = "job",
                                       .kind = CKPD_JOB_PATHS,
                                       .segments = 1,
                                       .deadline = 2,
                                       .may_wait = 1,
                                       .modes = 1,
                                       .mode_gpus = job_gpus,
                                       .mode_power_kw = job_power_kw,
                                       .moves = 1,
                                       .states = 1,
                                       .move_mode = move_mode,
                                       .move_slots = move_slots,
                                       .move_segments = move_segments,
                                       .node_open = node_open};
static const ckpd_path_job *const path_jobs[] = {&path_job};
static const double zeros[] = {0, 0};
static const double ones[] = {1, 1};
static const double caps[] = {100, 100};
static const int64_t curve_start[] = {0, 2, 4};
static const double curve_x_kw[] = {0, 100, 0, 100};
static const double curve_cost[] = {0, 100, 0, 100};
static const uint8_t curve_convex[] = {1, 1};

static ckpd_path_view paths_of_today(void)
{
    return (ckpd_path_view){.size = sizeof(ckpd_path_view),
                            .slots = 2,
                            .jobs = 1,
                            .slot_hours = 1,
                            .job = path_jobs,
                            .base_load_kw = zeros,
                            .load_factor = ones,
                            .load_cap_kw = caps,
                            .gpu_cap = caps,
                            .curve_start = curve_start,
                            .curve_x_kw = curve_x_kw,
                            .curve_cost = curve_cost,
                            .curve_convex = curve_convex};
}

static int32_t plan_counts[1];
static int32_t plan_slots[2];
static int32_t plan_moves[2];

static ckpd_path_plan plan_of_today = {.size = sizeof(ckpd_path_plan),
                                       .step_count = plan_counts,
                                       .step_slot = plan_slots,
                                       .step_move = plan_moves};

static ckpd_path_result answer_of_today(void)
{
    return (ckpd_path_result){.size = sizeof(ckpd_path_result), .plan = &plan_of_today};
}

static void path_view_sample(void *block)
{
    ckpd_path_view sample = paths_of_today();
    memcpy(block, &sample, sizeof sample);
}

static int32_t path_view_read(const void *block)
{
    ckpd_path_result answer = answer_of_today();
    return ckpd_path_solve(context, "enumerate", block, NULL, NULL, &answer);
}

static void path_result_sample(void *block)
{
    ckpd_path_result sample = answer_of_today();
    memcpy(block, &sample, sizeof sample);
}

static int32_t path_result_read(const void *block)
{
    union {
        ckpd_path_result result;
        unsigned char bytes[4096];
    } copy;
    ckpd_path_view view = paths_of_today();
    memcpy(&copy, block, sizeof copy);
    int32_t status = ckpd_path_solve(context, "enumerate", &view, NULL, NULL, &copy.result);
    ck_assert(status != CKPD_OK || copy.result.objective == 10);
    return status;
}

/* The structs behind a view and a result, one caller's size after the other. */
static int32_t job_read(const void *block)
{
    const ckpd_path_job *const jobs[] = {block};
    ckpd_path_view view = paths_of_today();
    view.job = jobs;
    ckpd_path_result answer = answer_of_today();
    int32_t status = ckpd_path_solve(context, "enumerate", &view, NULL, NULL, &answer);
    ck_assert(status != CKPD_OK || answer.objective == 10);
    return status;
}

static void job_sample(void *block)
{
    memcpy(block, &path_job, sizeof path_job);
}

static double plan_charge[2];
static double plan_discharge[2];

static void storage_sample(void *block)
{
    const ckpd_path_storage sample = {.size = sizeof sample,
                                      .charge_max_kw = 1,
                                      .discharge_max_kw = 1,
                                      .eta_charge = 1,
                                      .eta_discharge = 1,
                                      .retention = 1,
                                      .soc_max_kwh = 1,
                                      .throughput_cost_per_kwh = 1};
    memcpy(block, &sample, sizeof sample);
}

static int32_t storage_read(const void *block)
{
    ckpd_path_view view = paths_of_today();
    view.storage = block;
    ckpd_path_plan plan = plan_of_today;
    plan.charge_kw = plan_charge;
    plan.discharge_kw = plan_discharge;
    ckpd_path_result answer = {.size = sizeof answer, .plan = &plan};
    int32_t status = ckpd_path_solve(context, "enumerate", &view, NULL, NULL, &answer);
    ck_assert(status != CKPD_OK || answer.objective == 10);
    return status;
}

static void plan_sample(void *block)
{
    memcpy(block, &plan_of_today, sizeof plan_of_today);
}

/* As a start, and as the plan that is filled. */
static int32_t start_read(const void *block)
{
    ckpd_path_view view = paths_of_today();
    view.start = block;
    ckpd_path_result answer = answer_of_today();
    return ckpd_path_solve(context, "enumerate", &view, NULL, NULL, &answer);
}

static int32_t plan_read(const void *block)
{
    ckpd_path_view view = paths_of_today();
    union {
        ckpd_path_plan plan;
        unsigned char bytes[4096];
    } copy;
    memcpy(&copy, block, sizeof copy);
    ckpd_path_result answer = {.size = sizeof answer, .plan = &copy.plan};
    int32_t status = ckpd_path_solve(context, "enumerate", &view, NULL, NULL, &answer);
    ck_assert_mem_eq(&copy, block,
                     sizeof copy); /* the arrays are filled, the struct is only read */
    return status;
}

static const double no_worth[2];

static void prices_sample(void *block)
{
    const ckpd_path_prices sample = {.size = sizeof sample, .slots = 2, .storage_worth = no_worth};
    memcpy(block, &sample, sizeof sample);
}

static int32_t prices_read(const void *block)
{
    ckpd_path_view view = paths_of_today();
    view.prices = block;
    ckpd_path_result answer = answer_of_today();
    return ckpd_path_solve(context, "enumerate", &view, NULL, NULL, &answer);
}

static const given_struct given[] = {
    {"ckpd_allocator", sizeof(ckpd_allocator), allocator_sample, allocator_read},
    {"ckpd_mode_table", sizeof(ckpd_mode_table), table_sample, table_read},
    {"ckpd_layout", sizeof(ckpd_layout), layout_sample, layout_read},
    {"ckpd_milp_view", sizeof(ckpd_milp_view), view_sample, view_read},
    {"ckpd_solve_params", sizeof(ckpd_solve_params), params_sample, params_read},
    {"ckpd_backend_table", sizeof(ckpd_backend_table), backend_sample, backend_read},
    {"ckpd_milp_result", sizeof(ckpd_milp_result), milp_result_sample, milp_result_read},
    {"ckpd_path_view", sizeof(ckpd_path_view), path_view_sample, path_view_read},
    {"ckpd_path_result", sizeof(ckpd_path_result), path_result_sample, path_result_read},
    {"ckpd_path_job", sizeof(ckpd_path_job), job_sample, job_read},
    {"ckpd_path_storage", sizeof(ckpd_path_storage), storage_sample, storage_read},
    {"ckpd_path_plan to start from", sizeof(ckpd_path_plan), plan_sample, start_read},
    {"ckpd_path_prices", sizeof(ckpd_path_prices), prices_sample, prices_read},
    {"ckpd_path_plan of a result", sizeof(ckpd_path_plan), plan_sample, plan_read},
};
enum { GIVEN = sizeof given / sizeof given[0] };

int main(void)
{
    return struct_size_main("struct size", setup, teardown, filled, FILLED, given, GIVEN);
}
