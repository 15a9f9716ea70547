/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Task: fields, presets, workload. Published figures are named where they are compared with. */
#include "support/support.h"

#include <ckptdispatch/task.h>
#include <math.h>
#include <string.h>

static ckpd_context *context;
static ckpd_task *task;

static void start(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_int_eq(ckpd_task_new(&task, context, "job"), CKPD_OK);
}

static void stop(void)
{
    ckpd_task_free(task);
    ckpd_context_free(context);
}

static void set(const char *field, double value)
{
    ck_assert_msg(ckpd_task_set(task, field, value) == CKPD_OK, "%s",
                  ckpd_context_last_message(context));
}

static void expect(int32_t status, int32_t code, const char *field, const char *words)
{
    ckpd_error error = {.size = sizeof error};
    ck_assert_int_eq(status, code);
    ck_assert_int_eq(ckpd_context_last_error(context, &error), CKPD_OK);
    ck_assert_str_eq(error.field, field);
    ck_assert_msg(strstr(error.message, words) != NULL, "'%s' lacks '%s'", error.message, words);
}

static int32_t workload(ckpd_workload *out)
{
    out->size = sizeof *out;
    return ckpd_task_workload(task, out);
}

START_TEST(every_field_round_trips)
{
    start();
    for (int32_t i = 0; i < ckpd_task_field_count(); i++) {
        ckpd_field_info info = {.size = sizeof info};
        double value = 0;
        ck_assert_int_eq(ckpd_task_field_info(i, &info), CKPD_OK);
        ck_assert(info.name[0] != '\0' && info.doc[0] != '\0');
        if (info.kind == CKPD_FIELD_CHOICE) {
            continue;
        }
        ck_assert_int_eq(ckpd_task_set(task, info.name, info.maximum), CKPD_OK);
        ck_assert_int_eq(ckpd_task_get(task, info.name, &value), CKPD_OK);
        ck_assert_double_eq(value, info.maximum);
        ck_assert_int_eq(ckpd_task_set(task, info.name, NAN), CKPD_ERR_NOT_FINITE);
        ck_assert_int_eq(ckpd_task_set(task, info.name, INFINITY), CKPD_ERR_NOT_FINITE);
        ck_assert_int_eq(ckpd_task_set(task, info.name, -1), CKPD_ERR_RANGE);
        ck_assert_int_eq(ckpd_task_set(task, info.name, info.maximum * 2 + 1), CKPD_ERR_RANGE);
        ck_assert_int_eq(ckpd_task_unset(task, info.name), CKPD_OK);
        ck_assert_int_eq(ckpd_task_get(task, info.name, &value), CKPD_OK);
        ck_assert(isnan(value) ? isnan(info.default_value) : value == info.default_value);
    }
    stop();
}
END_TEST

START_TEST(names_and_choices)
{
    start();
    char text[32];
    expect(ckpd_task_set(task, "layer", 1), CKPD_ERR_UNKNOWN_NAME, "layer",
           "did you mean 'layers'");
    expect(ckpd_task_set(task, "layers", 1.5), CKPD_ERR_RANGE, "layers", "not a whole number");
    ck_assert_int_eq(ckpd_task_get_text(task, "reference_gpu", text, sizeof text), CKPD_OK);
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(ckpd_task_set_text(task, "reference_gpu", "h100-80gb"), CKPD_OK);
    ck_assert_int_eq(ckpd_task_get_text(task, "reference_gpu", text, sizeof text), CKPD_OK);
    ck_assert_str_eq(text, "h100-80gb");
    ck_assert_int_eq(ckpd_task_get_text(task, "reference_gpu", text, 4), CKPD_ERR_BUFFER);
    ck_assert_int_eq(ckpd_task_set_text(task, "reference_gpu", "h10"), CKPD_ERR_UNKNOWN_NAME);
    expect(ckpd_task_set_model(task, "lama-65b"), CKPD_ERR_UNKNOWN_NAME, "model",
           "did you mean 'llama-65b'");
    ck_assert_int_eq(ckpd_task_set_reference(task, "no such model at all"), CKPD_ERR_UNKNOWN_NAME);
    expect(ckpd_task_set_reference(task, "gpt3-175b"), CKPD_ERR_MISSING, "reference_gpu_hours",
           "no published GPU-hours");
    ckpd_task *other = NULL;
    ck_assert_int_eq(ckpd_task_new(&other, context, ""), CKPD_ERR_LENGTH);
    char longest[300];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    ck_assert_int_eq(ckpd_task_new(&other, context, longest), CKPD_ERR_LENGTH);
    ck_assert_ptr_null(other);
    ck_assert_int_eq(ckpd_task_set(task, NULL, 1), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_task_set_text(task, "reference_gpu", NULL), CKPD_ERR_ARGUMENT);
    stop();
}
END_TEST

/* Every preset's architecture gives its published parameter count within 2 %. */
START_TEST(presets_count_their_parameters)
{
    start();
    ck_assert_int_ge(ckpd_model_count(), 12);
    for (int32_t i = 0; i < ckpd_model_count(); i++) {
        ckpd_model_info info = {.size = sizeof info};
        ckpd_workload w;
        ck_assert_int_eq(ckpd_model_get(i, &info), CKPD_OK);
        ck_assert(info.source[0] != '\0');
        ck_assert_int_eq(ckpd_task_set_model(task, info.name), CKPD_OK);
        set("tranche_tokens", 1e9);
        set("batch_sequences", 64);
        ck_assert_msg(workload(&w) == CKPD_OK, "%s", ckpd_context_last_message(context));
        ck_assert_double_eq(w.parameters, info.parameters);
        ck_assert_double_le(fabs(w.derived_parameters / info.parameters - 1), 0.02);
    }
    ck_assert_int_eq(ckpd_model_get(-1, NULL), CKPD_ERR_ARGUMENT);
    stop();
}
END_TEST

/* Mixtral 8x7B uses 12.9e9 of 46.7e9 parameters a token (arXiv 2401.04088). */
START_TEST(experts_in_use)
{
    start();
    ckpd_workload w;
    ck_assert_int_eq(ckpd_task_set_model(task, "mixtral-8x7b"), CKPD_OK);
    set("tranche_tokens", 1e9);
    set("batch_sequences", 64);
    ck_assert_int_eq(workload(&w), CKPD_OK);
    ck_assert_double_eq_tol(w.active_parameters, 12.9e9, 0.1e9);
    set("active_experts", 9);
    expect(workload(&w), CKPD_ERR_INCONSISTENT, "active_experts",
           "active_experts = 9 exceeds experts = 8");
    stop();
}
END_TEST

/* LLaMA-65B: 6 N + 6 L s h by hand, and the published run (1,022,362 A100-hours for 1.4e12 tokens).
 */
START_TEST(workload_by_hand)
{
    start();
    ckpd_workload w;
    ck_assert_int_eq(ckpd_task_set_model(task, "llama-65b"), CKPD_OK);
    ck_assert_int_eq(ckpd_task_set_reference(task, "llama-65b"), CKPD_OK);
    set("tranche_share", 0.001);
    ck_assert_int_eq(workload(&w), CKPD_OK);
    double token = 6 * 65.2e9 + 6.0 * 80 * 2048 * 8192;
    ck_assert_double_eq_tol(w.flop_per_token, token, 1e3);
    ck_assert_double_eq_tol(w.total_flop / (1.4e12 * token), 1, 1e-12);
    ck_assert_double_eq_tol(w.tranche_tokens, 1.4e9, 1);
    ck_assert_double_eq_tol(w.tranche_iterations, 1.4e9 / (2048.0 * 2048), 1e-6);
    ck_assert_double_eq_tol(w.reference_tokens_per_s, 1.4e12 / 3600 / 1022362, 1e-6);
    ck_assert_double_eq_tol(w.segment_work, 1.4e9 / 12, 1);
    ck_assert(isnan(w.baseline_hours));
    stop();
}
END_TEST

START_TEST(contradictions)
{
    start();
    ckpd_workload w;
    ck_assert_int_eq(ckpd_task_set_model(task, "llama-65b"), CKPD_OK);
    expect(workload(&w), CKPD_ERR_MISSING, "tranche_share", "one of tranche_share, tranche_tokens");
    set("tranche_tokens", 1e9);
    set("tranche_baseline_hours", 24);
    expect(workload(&w), CKPD_ERR_INCONSISTENT, "tranche_baseline_hours",
           "tranche_tokens and tranche_baseline_hours are both given");
    ckpd_task_unset(task, "tranche_baseline_hours");
    set("parameters", 70e9);
    expect(workload(&w), CKPD_ERR_INCONSISTENT, "parameters",
           "parameters = 70000000000 but the architecture gives 65");
    set("parameters", 65.2e9);
    set("heads", 60);
    set("kv_heads", 60);
    expect(workload(&w), CKPD_ERR_INCONSISTENT, "heads",
           "heads = 60 does not divide hidden = 8192");
    set("heads", 64);
    expect(workload(&w), CKPD_ERR_INCONSISTENT, "kv_heads",
           "kv_heads = 60 does not divide heads = 64");
    set("kv_heads", 64);
    set("batch_sequences", 4000000);
    expect(workload(&w), CKPD_ERR_RANGE, "batch_sequences",
           "were 4000000 tokens meant, which is 1953 sequences?");
    set("batch_sequences", 2048);
    set("release", 5);
    set("deadline", 5);
    expect(workload(&w), CKPD_ERR_INCONSISTENT, "deadline",
           "deadline = 5 is not after release = 5");
    ckpd_task_unset(task, "deadline");
    set("start_segments", 13);
    expect(workload(&w), CKPD_ERR_INCONSISTENT, "start_segments", "13 exceeds segments = 12");
    set("start_segments", 12);
    set("baseline_tp", 8);
    set("baseline_dp", 8);
    expect(workload(&w), CKPD_ERR_MISSING, "baseline_pp", "a layout needs tp, pp and dp");
    set("baseline_pp", 8);
    set("running_slots_done", 1);
    expect(workload(&w), CKPD_ERR_MISSING, "running_mode",
           "needs running_mode or a running layout");
    set("running_mode", 0);
    expect(workload(&w), CKPD_ERR_INCONSISTENT, "running_segments", "exceed segments = 12");
    set("start_segments", 0);
    set("running_tp", 1);
    set("running_pp", 1);
    set("running_dp", 1);
    expect(workload(&w), CKPD_ERR_INCONSISTENT, "running_mode", "both given");
    ckpd_task_unset(task, "running_mode");
    ck_assert_int_eq(workload(&w), CKPD_OK);
    ckpd_task_unset(task, "hidden");
    expect(workload(&w), CKPD_ERR_MISSING, "hidden", "hidden is missing");
    ckpd_task_unset(task, "tranche_tokens");
    set("hidden", 8192);
    set("tranche_share", 0.1);
    ckpd_task_unset(task, "tokens");
    expect(workload(&w), CKPD_ERR_MISSING, "tokens", "tranche_share needs tokens");
    stop();
}
END_TEST

START_TEST(null_everywhere)
{
    double value = 0;
    ckpd_task_free(NULL);
    ck_assert_ptr_null(ckpd_task_name(NULL));
    ck_assert_int_eq(ckpd_task_new(NULL, NULL, "x"), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_task_set(NULL, "layers", 1), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_task_get(NULL, "layers", &value), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_task_workload(NULL, NULL), CKPD_ERR_ARGUMENT);
    start();
    ck_assert_int_eq(ckpd_task_new(NULL, context, "x"), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_task_workload(task, NULL), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_task_set_model(task, NULL), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_task_field_info(-1, NULL), CKPD_ERR_ARGUMENT);
    stop();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {every_field_round_trips,
                                  names_and_choices,
                                  presets_count_their_parameters,
                                  experts_in_use,
                                  workload_by_hand,
                                  contradictions,
                                  null_everywhere,
                                  NULL};
    return test_run(test_suite("task", tests));
}
