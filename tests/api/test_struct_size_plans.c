/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Size-prefixed structs (practice 10) of anchoring and checkpoint costs, dispatch, io and shape. */
#include "support/sink.h"
#include "support/small.h"
#include "support/struct_size.h"

#include <ckptdispatch.h>
#include <math.h>
#include <string.h>

static ckpd_context *context;
static ckpd_task *task;
static ckpd_hardware *hardware;
static ckpd_anchor *anchor;
static ckpd_checkpoint *checkpoint;
static ckpd_mode_set *modes;
static ckpd_problem *problem;
static ckpd_plan *plan;
static ckpd_report *report;
static ckpd_case *loaded;
static ckpd_shape *shape;       /* empty: has an empty plan, which needs no solver */
static ckpd_shape *event_shape; /* with an event, to be run without a plan */
static ckpd_microgrid *grid;

static const char case_text[] =
    "{\"schema\": \"ckptdispatch-case\", \"schema_version\": 1, \"name\": \"small\","
    " \"horizon\": {\"slots\": 2, \"slot_minutes\": 60},"
    " \"site\": {\"import_price_per_mwh\": [20, 60], \"gpu_cap\": 64}, \"mode_rules\": "
    "{\"installed_gpus\": 64},"
    " \"jobs\": [{\"name\": \"A\", \"task\": {\"segments\": 1, \"baseline_gpus\": 8, "
    "\"tranche_baseline_hours\": 1},"
    "   \"modes\": [{\"gpus\": 8, \"rate_per_s\": 1, \"power_kw\": 4}]}],"
    " \"published\": {\"source\": \"nobody\", \"figures\": [{\"figure\": \"curtailment_mwh\", "
    "\"value\": 1}]}}";

static const ckpd_run run_of_today = {.size = sizeof(ckpd_run),
                                      .tp = 4,
                                      .pp = 12,
                                      .dp = 8,
                                      .micro_batch = 2,
                                      .recompute = CKPD_RECOMPUTE_FULL,
                                      .iteration_s = 100};
static const ckpd_step step_of_today = {
    .size = sizeof(ckpd_step), .from_slot = 0, .to_slot = 2, .to_segment = 1, .gpus = 100};

static void setup_modes(void)
{
    static const int32_t gpus[] = {100};
    static const double rate[] = {1};
    static const double power_kw[] = {50};
    const ckpd_mode_table table = {.size = sizeof table,
                                   .count = 1,
                                   .installed_gpus = 100,
                                   .gpus = gpus,
                                   .rate = rate,
                                   .power_kw = power_kw};
    ck_assert_int_eq(ckpd_task_new(&task, context, "job"), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set_model(task, "bloom-176b"), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set(task, "tranche_baseline_hours", 2), CKPD_OK);
    ck_assert_int_eq(ckpd_hardware_new(&hardware, context, "a100-80gb"), CKPD_OK);
    ck_assert_int_eq(ckpd_mode_set_from_table(&modes, context, task, &table), CKPD_OK);
    ck_assert_int_eq(ckpd_anchor_new(&anchor, context, hardware, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_anchor_add(anchor, task, &run_of_today), CKPD_OK);
    ck_assert_int_eq(ckpd_anchor_fit(anchor, CKPD_FIT_EFFICIENCY, hardware, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_checkpoint_new(&checkpoint, context), CKPD_OK);
    ck_assert_int_eq(ckpd_checkpoint_set(checkpoint, "state_gb", 100), CKPD_OK);
}

static void setup_shape(void)
{
    ckpd_gpu_pool *pool = NULL;
    ck_assert_int_eq(ckpd_gpu_pool_new(&pool, context), CKPD_OK);
    ck_assert_int_eq(ckpd_gpu_pool_set(pool, "gpu_count", 64), CKPD_OK);
    ck_assert_int_eq(ckpd_shape_new(&shape, context, pool), CKPD_OK);
    ck_assert_int_eq(ckpd_shape_new(&event_shape, context, pool), CKPD_OK);
    ckpd_gpu_pool_free(pool);
    ckpd_filler *filler = NULL;
    ck_assert_int_eq(ckpd_filler_builtin(&filler, context, ckpd_filler_builtin_name(0)), CKPD_OK);
    ck_assert_int_eq(ckpd_shape_add_filler(event_shape, filler), CKPD_OK);
    ckpd_filler_free(filler);
    ckpd_power_event *event = NULL;
    ck_assert_int_eq(ckpd_power_event_new(&event, context), CKPD_OK);
    ck_assert_int_eq(ckpd_power_event_set(event, "onset_s", 20), CKPD_OK);
    ck_assert_int_eq(ckpd_power_event_set(event, "duration_s", 6), CKPD_OK);
    ck_assert_int_eq(ckpd_power_event_set(event, "depth_w", 15000), CKPD_OK);
    ck_assert_int_eq(ckpd_shape_add_event(event_shape, event), CKPD_OK);
    ckpd_power_event_free(event);
    ck_assert_int_eq(ckpd_microgrid_new(&grid, context, ckpd_microgrid_preset_name(0)), CKPD_OK);
}

static void setup(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    setup_modes();
    setup_shape();
    ck_assert_int_eq(small_j0(&problem, context, 100), CKPD_OK);
    ck_assert_int_eq(ckpd_plan_new(&plan, context, 1, 6), CKPD_OK);
    ck_assert_int_eq(ckpd_plan_add_step(plan, 0, &step_of_today), CKPD_OK);
    /* Nothing is bought for the step, so there is a violation to read. */
    ck_assert_int_eq(ckpd_problem_verify(&report, problem, CKPD_SCENARIO_S4, plan, NAN), CKPD_OK);
    int32_t status = ckpd_case_parse(&loaded, context, case_text, strlen(case_text), NULL);
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(context));
}

static void teardown(void)
{
    ckpd_case_free(loaded);
    ckpd_report_free(report);
    ckpd_plan_free(plan);
    ckpd_problem_free(problem);
    ckpd_microgrid_free(grid);
    ckpd_shape_free(event_shape);
    ckpd_shape_free(shape);
    ckpd_checkpoint_free(checkpoint);
    ckpd_anchor_free(anchor);
    ckpd_mode_set_free(modes);
    ckpd_hardware_free(hardware);
    ckpd_task_free(task);
    ckpd_context_free(context);
}

/* --- structs the library fills
 * ----------------------------------------------------------------------- */

static int32_t fill_anchor_report(void *out)
{
    return ckpd_anchor_fit(anchor, CKPD_FIT_EFFICIENCY, hardware, out);
}

static int32_t fill_residual(void *out)
{
    return ckpd_anchor_residual(anchor, 0, out);
}

static int32_t fill_anchor_mode(void *out)
{
    return ckpd_anchor_mode(anchor, 0, out);
}

static int32_t fill_checkpoint_cost(void *out)
{
    return ckpd_checkpoint_evaluate(checkpoint, modes, 0, 1, out);
}

static int32_t fill_change_cost(void *out)
{
    return ckpd_checkpoint_change(checkpoint, modes, -1, 0, out);
}

static int32_t fill_step(void *out)
{
    return ckpd_plan_get_step(plan, 0, 0, out);
}

static int32_t fill_violation(void *out)
{
    return ckpd_report_get_violation(report, 0, out);
}

/* J0 on half the GPUs it needs, at a price. */
static int32_t fill_overrun(void *out)
{
    ckpd_problem *tight = NULL;
    ckpd_solution *solution = NULL;
    int32_t status = small_j0(&tight, context, 50);
    status = status == CKPD_OK ? ckpd_problem_soften(tight) : status;
    status =
        status == CKPD_OK ? ckpd_problem_solve(&solution, tight, CKPD_SCENARIO_S4, NULL) : status;
    status = status == CKPD_OK ? ckpd_report_get_overrun(ckpd_solution_report(solution), 0, out)
                               : status;
    ckpd_solution_free(solution);
    ckpd_problem_free(tight);
    return status;
}

/* J0 on half the GPUs it needs. */
static int32_t fill_relaxation(void *out)
{
    ckpd_problem *hopeless = NULL;
    ckpd_diagnosis *diagnosis = NULL;
    int32_t status = small_j0(&hopeless, context, 50);
    status = status == CKPD_OK ? ckpd_problem_diagnose(&diagnosis, hopeless, CKPD_SCENARIO_S4, NULL)
                               : status;
    status = status == CKPD_OK ? ckpd_diagnosis_get_relaxation(diagnosis, 0, out) : status;
    ckpd_diagnosis_free(diagnosis);
    ckpd_problem_free(hopeless);
    return status;
}

static int32_t fill_job_explanation(void *out)
{
    ckpd_problem *small = NULL;
    ckpd_solution *solution = NULL;
    ckpd_explanation *explanation = NULL;
    int32_t status = small_j0(&small, context, 100);
    status =
        status == CKPD_OK ? ckpd_problem_solve(&solution, small, CKPD_SCENARIO_S4, NULL) : status;
    status = status == CKPD_OK ? ckpd_problem_explain(&explanation, small, solution, NULL) : status;
    status = status == CKPD_OK ? ckpd_explanation_get_job(explanation, 0, out) : status;
    ckpd_explanation_free(explanation);
    ckpd_solution_free(solution);
    ckpd_problem_free(small);
    return status;
}

static int32_t fill_member(void *out)
{
    return ckpd_case_member_info(0, out);
}

static int32_t fill_published(void *out)
{
    return ckpd_case_published_get(loaded, 0, out);
}

static int32_t fill_metrics(void *out)
{
    ckpd_shape_run *run = NULL;
    int32_t status = ckpd_shape_run_new(&run, event_shape, grid, NULL, CKPD_POLICY_NONE, NULL);
    status = status == CKPD_OK ? ckpd_shape_run_get_metrics(run, out) : status;
    ckpd_shape_run_free(run);
    return status;
}

static int32_t with_plan(int32_t (*use)(ckpd_shape_plan *made, void *out), void *out)
{
    ckpd_shape_plan *made = NULL;
    int32_t status = ckpd_shape_plan_new(&made, shape, NULL, NULL);
    status = status == CKPD_OK ? use(made, out) : status;
    ckpd_shape_plan_free(made);
    return status;
}

static int32_t use_info(ckpd_shape_plan *made, void *out)
{
    return ckpd_shape_plan_get_info(made, out);
}

static int32_t fill_plan_info(void *out)
{
    return with_plan(use_info, out);
}

static int32_t use_state(ckpd_shape_plan *made, void *out)
{
    ckpd_control *control = NULL;
    int32_t status = ckpd_control_new(&control, shape, made);
    status = status == CKPD_OK ? ckpd_control_get_state(control, out) : status;
    ckpd_control_free(control);
    return status;
}

static int32_t fill_control_state(void *out)
{
    return with_plan(use_state, out);
}

static int32_t fill_file_info(void *out)
{
    static sink text;
    ckpd_problem *small = NULL;
    ckpd_solution *solution = NULL;
    ckpd_plan *read = NULL;
    text.used = 0;
    int32_t status = ckpd_case_build_problem(&small, loaded);
    status =
        status == CKPD_OK ? ckpd_problem_solve(&solution, small, CKPD_SCENARIO_S4, NULL) : status;
    status = status == CKPD_OK
                 ? ckpd_case_write_solution(loaded, solution, CKPD_PLAN_JSON, sink_take, &text)
                 : status;
    status =
        status == CKPD_OK ? ckpd_case_parse_plan(&read, out, loaded, text.text, text.used) : status;
    ckpd_plan_free(read);
    ckpd_solution_free(solution);
    ckpd_problem_free(small);
    return status;
}

/* A plan with something in it needs an LP solver: the rows that use these come last and are left
 * out without one. */
static int32_t with_full_plan(int32_t (*use)(ckpd_shape_plan *made, void *out), void *out)
{
    ckpd_shape_plan *made = NULL;
    int32_t status = ckpd_shape_plan_new(&made, event_shape, NULL, NULL);
    status = status == CKPD_OK ? use(made, out) : status;
    ckpd_shape_plan_free(made);
    return status;
}

static int32_t use_launch(ckpd_shape_plan *made, void *out)
{
    return ckpd_shape_plan_launch(made, 0, out);
}

static int32_t fill_launch(void *out)
{
    return with_full_plan(use_launch, out);
}

/* Steps until the control has something to do. */
static int32_t use_action(ckpd_shape_plan *made, void *out)
{
    ckpd_control *control = NULL;
    int32_t actions = 0;
    int32_t status = ckpd_control_new(&control, event_shape, made);
    for (int i = 0; status == CKPD_OK && actions == 0 && i < 300; i++) {
        const ckpd_control_input input = {.size = sizeof input, .time_s = 10 + 0.1 * i};
        status = ckpd_control_step(control, &input, &actions);
    }
    status = status == CKPD_OK ? ckpd_control_action_at(control, 0, out) : status;
    ckpd_control_free(control);
    return status;
}

static int32_t fill_action(void *out)
{
    return with_full_plan(use_action, out);
}

static const filled_struct filled[] = {
    {"ckpd_anchor_report", sizeof(ckpd_anchor_report), fill_anchor_report},
    {"ckpd_residual", sizeof(ckpd_residual), fill_residual},
    {"ckpd_mode of an anchor", sizeof(ckpd_mode), fill_anchor_mode},
    {"ckpd_checkpoint_cost", sizeof(ckpd_checkpoint_cost), fill_checkpoint_cost},
    {"ckpd_change_cost", sizeof(ckpd_change_cost), fill_change_cost},
    {"ckpd_step", sizeof(ckpd_step), fill_step},
    {"ckpd_violation", sizeof(ckpd_violation), fill_violation},
    {"ckpd_overrun", sizeof(ckpd_overrun), fill_overrun},
    {"ckpd_relaxation", sizeof(ckpd_relaxation), fill_relaxation},
    {"ckpd_job_explanation", sizeof(ckpd_job_explanation), fill_job_explanation},
    {"ckpd_member_info", sizeof(ckpd_member_info), fill_member},
    {"ckpd_published", sizeof(ckpd_published), fill_published},
    {"ckpd_shape_metrics", sizeof(ckpd_shape_metrics), fill_metrics},
    {"ckpd_plan_info", sizeof(ckpd_plan_info), fill_file_info},
    /* these take a plan of shaping, and so a solver for linear programs */
    {"ckpd_shape_plan_info", sizeof(ckpd_shape_plan_info), fill_plan_info},
    {"ckpd_control_state", sizeof(ckpd_control_state), fill_control_state},
    {"ckpd_shape_launch", sizeof(ckpd_shape_launch), fill_launch},
    {"ckpd_control_action", sizeof(ckpd_control_action), fill_action},
};

/* --- structs the library reads
 * ------------------------------------------------------------------------ */

static void run_sample(void *block)
{
    memcpy(block, &run_of_today, sizeof run_of_today);
}

static int32_t run_read(const void *block)
{
    return ckpd_anchor_add(anchor, task, block);
}

static void step_sample(void *block)
{
    memcpy(block, &step_of_today, sizeof step_of_today);
}

static int32_t step_read(const void *block)
{
    ckpd_plan *made = NULL;
    int32_t status = ckpd_plan_new(&made, context, 1, 6);
    status = status == CKPD_OK ? ckpd_plan_add_step(made, 0, block) : status;
    ckpd_plan_free(made);
    return status;
}

static void truth_sample(void *block)
{
    const ckpd_shape_truth sample = {.size = sizeof sample, .seed = 1};
    memcpy(block, &sample, sizeof sample);
}

static int32_t truth_read(const void *block)
{
    ckpd_shape_run *run = NULL;
    int32_t status = ckpd_shape_run_new(&run, event_shape, grid, NULL, CKPD_POLICY_NONE, block);
    ckpd_shape_run_free(run);
    return status;
}

static void input_sample(void *block)
{
    const ckpd_control_input sample = {.size = sizeof sample, .time_s = 1};
    memcpy(block, &sample, sizeof sample);
}

static int32_t use_input(ckpd_shape_plan *made, void *block)
{
    ckpd_control *control = NULL;
    int32_t actions = 0;
    int32_t status = ckpd_control_new(&control, shape, made);
    status = status == CKPD_OK ? ckpd_control_step(control, block, &actions) : status;
    ckpd_control_free(control);
    return status;
}

static int32_t input_read(const void *block)
{
    unsigned char copy[4096];
    memcpy(copy, block, sizeof copy);
    return with_plan(use_input, copy);
}

static const given_struct given[] = {
    {"ckpd_run", sizeof(ckpd_run), run_sample, run_read},
    {"ckpd_step", sizeof(ckpd_step), step_sample, step_read},
    {"ckpd_shape_truth", sizeof(ckpd_shape_truth), truth_sample, truth_read},
    {"ckpd_control_input", sizeof(ckpd_control_input), input_sample, input_read},
};

int main(void)
{
    int linear = ckpd_feature("glpk");
    int count = (int)(sizeof filled / sizeof filled[0]) - (linear ? 0 : 4);
    return struct_size_main("struct size, plans", setup, teardown, filled, count, given,
                            (int)(sizeof given / sizeof given[0]) - (linear ? 0 : 1));
}
