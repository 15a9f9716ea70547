/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Measured modes of a user, instead of predicted ones. */
#include "modes/modes.h"

#include <math.h>
#include <string.h>

static int32_t check_row(ckpd_context *context, const ckpd_mode_table *t, int32_t i)
{
    int32_t status = ckpd__check_range(context, "gpus", i, t->gpus[i], 1, 1e7);
    if (status == CKPD_OK && t->gpus[i] > t->installed_gpus) {
        status = ckpd__fail(context, CKPD_ERR_RANGE, "gpus", i, t->gpus[i],
                            "mode %d: gpus[%d] = %d exceeds the installed %d GPUs", i, i,
                            t->gpus[i], t->installed_gpus);
    }
    if (status == CKPD_OK) {
        status = ckpd__check_range(context, "rate", i, t->rate[i], 1e-300, 1e300);
    }
    if (status == CKPD_OK) {
        status = ckpd__check_range(context, "power_kw", i, t->power_kw[i], 0, 1e12);
    }
    if (status == CKPD_OK && t->idle_power_kw != NULL) {
        status = ckpd__check_range(context, "idle_power_kw", i, t->idle_power_kw[i], 0, 1e12);
    }
    if (status != CKPD_OK || t->tp == NULL) {
        return status;
    }
    const int32_t layout[] = {t->tp[i], t->pp[i], t->dp[i], t->micro_batch[i]};
    static const char *const names[] = {"tp", "pp", "dp", "micro_batch"};
    for (int32_t k = 0; k < 4 && status == CKPD_OK; k++) {
        status = ckpd__check_range(context, names[k], i, layout[k], 0, 1e7);
    }
    double product = (double)t->tp[i] * t->pp[i] * t->dp[i];
    if (status == CKPD_OK && product > 0 && product != t->gpus[i]) {
        status = ckpd__fail(context, CKPD_ERR_INCONSISTENT, "gpus", i, t->gpus[i],
                            "mode %d: gpus = %d but tp %d x pp %d x dp %d = %g", i, t->gpus[i],
                            t->tp[i], t->pp[i], t->dp[i], product);
    }
    return status;
}

static int32_t check_table(ckpd_context *context, const ckpd_task *task, const ckpd_mode_table *t)
{
    if (t->gpus == NULL || t->rate == NULL || t->power_kw == NULL) {
        return ckpd__null_argument(context, t->gpus == NULL   ? "gpus"
                                            : t->rate == NULL ? "rate"
                                                              : "power_kw");
    }
    bool any = t->tp != NULL || t->pp != NULL || t->dp != NULL || t->micro_batch != NULL;
    bool all = t->tp != NULL && t->pp != NULL && t->dp != NULL && t->micro_batch != NULL;
    if (any && !all) {
        return ckpd__fail(
            context, CKPD_ERR_ARGUMENT, "tp", -1, (double)NAN,
            "mode table: tp, pp, dp and micro_batch are given together or not at all");
    }
    int32_t status = ckpd__check_range(context, "count", -1, t->count, 1, 1e6);
    if (status == CKPD_OK) {
        status = ckpd__check_range(context, "installed_gpus", -1, t->installed_gpus, 1, 1e7);
    }
    if (status == CKPD_OK) {
        status =
            ckpd__check_range(context, "baseline_index", -1, t->baseline_index, -1, t->count - 1);
    }
    for (int32_t i = 0; i < t->count && status == CKPD_OK; i++) {
        status = check_row(context, t, i);
    }
    int32_t running = ckpd__task_integer(task, CKPD__TASK_RUNNING_MODE, -1);
    if (status == CKPD_OK && running >= t->count) {
        status = ckpd__fail(context, CKPD_ERR_RANGE, "running_mode", -1, running,
                            "task '%s': running_mode = %d, but the table has %d modes", task->name,
                            running, t->count);
    }
    return status;
}

static int32_t copy_rows(ckpd_mode_set *set, const ckpd_task *task, const ckpd_mode_table *t)
{
    int32_t running = ckpd__task_integer(task, CKPD__TASK_RUNNING_MODE, -1);
    if (t->idle_power_kw != NULL) {
        set->idle_kw =
            ckpd__memdup(set->context, t->idle_power_kw, (size_t)t->count, sizeof *set->idle_kw);
        if (set->idle_kw == NULL) {
            return ckpd__no_memory(set->context);
        }
    }
    for (int32_t i = 0; i < t->count; i++) {
        bool layout = t->tp != NULL;
        ckpd__candidate c = {{layout ? t->tp[i] : 0, layout ? t->pp[i] : 0, layout ? t->dp[i] : 0,
                              layout ? t->micro_batch[i] : 0, layout, layout, layout,
                              CKPD_RECOMPUTE_FULL},
                             t->gpus[i],
                             0,
                             i,
                             0,
                             t->rate[i],
                             t->power_kw[i]};
        c.flags |= i == t->baseline_index ? CKPD_MODE_BASELINE : 0;
        c.flags |= i == running ? CKPD_MODE_RUNNING : 0;
        int32_t status = ckpd__modes_keep(&set->modes, &c);
        if (status != CKPD_OK) {
            return status;
        }
    }
    set->modes.layouts = set->modes.feasible = t->count;
    return CKPD_OK;
}

static void take_labels(ckpd_mode_set *set, const char *const *labels)
{
    for (int32_t i = 0; labels != NULL && i < set->modes.kept_count; i++) {
        const char *label = labels[set->modes.kept[i].source];
        if (label != NULL && label[0] != '\0') {
            ckpd__format(set->labels[i].text, CKPD__LABEL_LENGTH, "%s", label);
        }
    }
}

static int32_t from_table(ckpd_mode_set *set, const ckpd_task *task, const ckpd_mode_table *t)
{
    ckpd__architecture model;
    bool known = ckpd__task_has_architecture(task);
    int32_t status = ckpd__task_check(set->context, task);
    if (status == CKPD_OK) {
        status = check_table(set->context, task, t);
    }
    if (status == CKPD_OK && known) {
        status = ckpd__task_architecture(set->context, task, &model);
    }
    if (status == CKPD_OK) {
        set->is_table = true;
        status = copy_rows(set, task, t);
    }
    if (status == CKPD_OK) {
        status = ckpd__set_mark(set, task);
    }
    if (status == CKPD_OK) {
        status = ckpd__set_finish(set, task, known ? &model : NULL, t->keep_dominated != 0);
    }
    if (status == CKPD_OK) {
        take_labels(set, t->labels);
    }
    return status;
}

int32_t ckpd_mode_set_from_table(ckpd_mode_set **out, ckpd_context *context, const ckpd_task *task,
                                 const ckpd_mode_table *table)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    CKPD__REFUSE_FOREIGN(context, task, CKPD__TASK);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL || task == NULL || table == NULL) {
        return ckpd__null_argument(context, out == NULL ? "out" : task == NULL ? "task" : "table");
    }
    ckpd_mode_table known;
    int32_t status = CKPD__STRUCT_IN(context, mode_table, table, &known);
    ckpd_mode_set *set = NULL;
    if (status == CKPD_OK) {
        status = ckpd__set_new(&set, context);
    }
    if (status == CKPD_OK) {
        status = from_table(set, task, &known);
    }
    if (status != CKPD_OK) {
        ckpd_mode_set_free(set);
        return status;
    }
    *out = set;
    return CKPD_OK;
}
