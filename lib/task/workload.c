/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What the task amounts to before any mode is known, and the checks that need several fields. */
#include "task/task.h"

#include <math.h>

static int32_t check_tranche(ckpd_context *context, const ckpd_task *task)
{
    static const int32_t ways[] = {CKPD__TASK_TRANCHE_SHARE, CKPD__TASK_TRANCHE_TOKENS,
                                   CKPD__TASK_TRANCHE_BASELINE_HOURS};
    int32_t first = -1;
    for (int32_t i = 0; i < 3; i++) {
        if (!ckpd__task_given(task, ways[i])) {
            continue;
        }
        if (first >= 0) {
            return ckpd__fail(context, CKPD_ERR_INCONSISTENT, ckpd__task_table.fields[ways[i]].name,
                              -1, task->values[ways[i]],
                              "task '%s': %s and %s are both given; one of them", task->name,
                              ckpd__task_table.fields[first].name,
                              ckpd__task_table.fields[ways[i]].name);
        }
        first = ways[i];
    }
    if (first < 0) {
        return ckpd__fail(
            context, CKPD_ERR_MISSING, "tranche_share", -1, (double)NAN,
            "task '%s': one of tranche_share, tranche_tokens, tranche_baseline_hours is "
            "missing",
            task->name);
    }
    if (first == CKPD__TASK_TRANCHE_SHARE && !ckpd__task_given(task, CKPD__TASK_TOKENS)) {
        return ckpd__fail(context, CKPD_ERR_MISSING, "tokens", -1, (double)NAN,
                          "task '%s': tranche_share needs tokens", task->name);
    }
    return CKPD_OK;
}

static int32_t check_slots(ckpd_context *context, const ckpd_task *task)
{
    double release = task->values[CKPD__TASK_RELEASE], deadline = task->values[CKPD__TASK_DEADLINE];
    double segments = task->values[CKPD__TASK_SEGMENTS];
    double start = task->values[CKPD__TASK_START_SEGMENTS];
    if (deadline <= release) {
        return ckpd__fail(context, CKPD_ERR_INCONSISTENT, "deadline", -1, deadline,
                          "task '%s': deadline = %g is not after release = %g", task->name,
                          deadline, release);
    }
    if (start > segments) {
        return ckpd__fail(context, CKPD_ERR_INCONSISTENT, "start_segments", -1, start,
                          "task '%s': start_segments = %g exceeds segments = %g", task->name, start,
                          segments);
    }
    return CKPD_OK;
}

/* A layout is given whole or not at all; `micro_batch` may stay open. */
static int32_t check_layout(ckpd_context *context, const ckpd_task *task, int32_t tp)
{
    int32_t given = 0;
    for (int32_t i = 0; i < 3; i++) {
        given += ckpd__task_given(task, tp + i);
    }
    if (given == 3 || (given == 0 && !ckpd__task_given(task, tp + 3))) {
        return CKPD_OK;
    }
    int32_t missing = tp;
    while (missing < tp + 2 && ckpd__task_given(task, missing)) {
        missing++;
    }
    return ckpd__fail(context, CKPD_ERR_MISSING, ckpd__task_table.fields[missing].name, -1,
                      (double)NAN, "task '%s': %s is missing; a layout needs tp, pp and dp",
                      task->name, ckpd__task_table.fields[missing].name);
}

static int32_t check_running(ckpd_context *context, const ckpd_task *task)
{
    bool by_index = ckpd__task_given(task, CKPD__TASK_RUNNING_MODE);
    bool by_layout = ckpd__task_given(task, CKPD__TASK_RUNNING_TP);
    bool runs = ckpd__task_given(task, CKPD__TASK_RUNNING_SLOTS_DONE);
    if (by_index && by_layout) {
        return ckpd__fail(context, CKPD_ERR_INCONSISTENT, "running_mode", -1,
                          task->values[CKPD__TASK_RUNNING_MODE],
                          "task '%s': running_mode and running_tp are both given; one of them",
                          task->name);
    }
    if (runs && !by_index && !by_layout) {
        return ckpd__fail(context, CKPD_ERR_MISSING, "running_mode", -1, (double)NAN,
                          "task '%s': running_slots_done needs running_mode or a running layout",
                          task->name);
    }
    if (!runs && (by_index || by_layout)) {
        return ckpd__fail(context, CKPD_ERR_MISSING, "running_slots_done", -1, (double)NAN,
                          "task '%s': a running mode needs running_slots_done", task->name);
    }
    double end =
        task->values[CKPD__TASK_START_SEGMENTS] + task->values[CKPD__TASK_RUNNING_SEGMENTS];
    if (runs && end > task->values[CKPD__TASK_SEGMENTS]) {
        return ckpd__fail(
            context, CKPD_ERR_INCONSISTENT, "running_segments", -1,
            task->values[CKPD__TASK_RUNNING_SEGMENTS],
            "task '%s': start_segments = %g and running_segments = %g exceed segments = %g",
            task->name, task->values[CKPD__TASK_START_SEGMENTS],
            task->values[CKPD__TASK_RUNNING_SEGMENTS], task->values[CKPD__TASK_SEGMENTS]);
    }
    return CKPD_OK;
}

int32_t ckpd__task_check(ckpd_context *context, const ckpd_task *task)
{
    static const int32_t layouts[] = {CKPD__TASK_REFERENCE_TP, CKPD__TASK_RUNNING_TP,
                                      CKPD__TASK_BASELINE_TP};
    int32_t status = check_tranche(context, task);
    if (status == CKPD_OK) {
        status = check_slots(context, task);
    }
    for (int32_t i = 0; i < 3 && status == CKPD_OK; i++) {
        status = check_layout(context, task, layouts[i]);
    }
    return status == CKPD_OK ? check_running(context, task) : status;
}

static void fill_model(const ckpd_task *task, const ckpd__architecture *a, ckpd_workload *w)
{
    w->parameters = a->parameters;
    w->derived_parameters = a->derived;
    w->active_parameters = a->active;
    w->flop_per_token = 6 * a->active + 6.0 * a->layers * a->sequence * a->hidden;
    double per_iteration = (double)a->batch * a->sequence;
    if (ckpd__task_given(task, CKPD__TASK_TOKENS)) {
        w->total_flop = w->total_tokens * w->flop_per_token;
        w->total_iterations = w->total_tokens / per_iteration;
        double hours = task->values[CKPD__TASK_REFERENCE_GPU_HOURS];
        w->reference_flops = w->total_flop / (3600 * hours); /* NaN without a reference */
        w->reference_tokens_per_s = w->total_tokens / (3600 * hours);
    }
    w->tranche_iterations = w->tranche_tokens / per_iteration;
}

int32_t ckpd__task_workload(ckpd_context *context, const ckpd_task *task,
                            const ckpd__architecture *architecture, ckpd_workload *out)
{
    int32_t status = ckpd__task_check(context, task);
    if (status != CKPD_OK) {
        return status;
    }
    double nan = (double)NAN;
    ckpd_workload w = {sizeof w, nan, nan, nan, nan, nan, nan, nan, nan, nan,
                       nan,      nan, nan, nan, nan, nan, nan, nan, nan, 1.0};
    w.total_tokens = task->values[CKPD__TASK_TOKENS];
    w.segments = task->values[CKPD__TASK_SEGMENTS];
    if (ckpd__task_given(task, CKPD__TASK_TRANCHE_TOKENS)) {
        w.tranche_tokens = task->values[CKPD__TASK_TRANCHE_TOKENS];
    } else if (ckpd__task_given(task, CKPD__TASK_TRANCHE_SHARE)) {
        w.tranche_tokens = task->values[CKPD__TASK_TRANCHE_SHARE] * w.total_tokens;
    }
    w.tranche_share = w.tranche_tokens / w.total_tokens;
    w.tranche_work = w.tranche_tokens;
    w.segment_work = w.tranche_work / w.segments;
    if (architecture != NULL) {
        fill_model(task, architecture, &w);
    }
    *out = w;
    return CKPD_OK;
}

int32_t ckpd_task_workload(const ckpd_task *task, ckpd_workload *out)
{
    CKPD__REFUSE_FOREIGN(NULL, task, CKPD__TASK);
    if (task == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL) {
        return ckpd__null_argument(task->context, "out");
    }
    ckpd__architecture a;
    bool known = ckpd__task_has_architecture(task);
    int32_t status = known ? ckpd__task_architecture(task->context, task, &a) : CKPD_OK;
    ckpd_workload w;
    if (status == CKPD_OK) {
        status = ckpd__task_workload(task->context, task, known ? &a : NULL, &w);
    }
    return status == CKPD_OK ? CKPD__STRUCT_OUT(task->context, workload, out, &w) : status;
}
