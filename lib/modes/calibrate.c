/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Ties the modes to a published run: the stack efficiency under which the model gives its
 * GPU-hours. */
#include "modes/modes.h"

#include <math.h>

/* The fastest recomputation of the given layout that fits, among those the rules allow. */
static bool best_recompute(const ckpd__predictor *p, const ckpd_mode_rules *rules, ckpd__layout *l)
{
    const ckpd__list *list = &rules->lists[CKPD__LIST_RECOMPUTE];
    double best = 0;
    ckpd__layout trial = *l;
    for (int32_t r = 0; r < (list->count > 0 ? list->count : 3); r++) {
        trial.recompute = list->count > 0 ? list->values[r] : r;
        ckpd__kernels kernels;
        ckpd__memory memory;
        ckpd__times times;
        ckpd__kernels_init(&kernels, p, &trial);
        ckpd__predict_memory(p, &trial, &memory);
        ckpd__predict_times(p, &kernels, &trial, &times);
        if (memory.total <= p->memory_limit && (best == 0 || times.iteration < best)) {
            best = times.iteration;
            *l = trial;
        }
    }
    return best > 0;
}

static int32_t from_layout(ckpd_context *context, const ckpd_task *task, const ckpd__predictor *p,
                           const ckpd_mode_rules *rules, double tokens_per_gpu_s,
                           double *efficiency)
{
    ckpd__layout l = {
        .tp = ckpd__task_integer(task, CKPD__TASK_REFERENCE_TP, 1),
        .pp = ckpd__task_integer(task, CKPD__TASK_REFERENCE_PP, 1),
        .dp = ckpd__task_integer(task, CKPD__TASK_REFERENCE_DP, 1),
        .micro_batch = ckpd__task_integer(task, CKPD__TASK_REFERENCE_MICRO_BATCH, 1),
        .cp = 1,
        .ep = 1,
        .interleave = 1,
    };
    if (p->model.batch % ((int64_t)l.dp * l.micro_batch) != 0 || l.pp > p->model.layers ||
        p->model.heads % l.tp != 0) {
        return ckpd__fail(
            context, CKPD_ERR_INCONSISTENT, "reference_tp", -1, l.tp,
            "task '%s': no legal layout explains the reference run: tp %d, pp %d, dp %d, "
            "micro-batch %d do not divide %d heads, %d layers, a batch of %d",
            task->name, l.tp, l.pp, l.dp, l.micro_batch, p->model.heads, p->model.layers,
            p->model.batch);
    }
    if (!best_recompute(p, rules, &l)) {
        return ckpd__fail(
            context, CKPD_ERR_INCONSISTENT, "reference_tp", -1, l.tp,
            "task '%s': no legal layout explains the reference run: tp %d, pp %d, dp %d, "
            "micro-batch %d does not fit %g GB",
            task->name, l.tp, l.pp, l.dp, l.micro_batch, p->memory_limit / 1e9);
    }
    double gpus = (double)ckpd__layout_gpus(&l);
    *efficiency = ckpd__efficiency_for(
        p, &l, (double)p->model.batch * p->model.sequence / (tokens_per_gpu_s * gpus));
    return CKPD_OK;
}

/* Median by insertion: lists of retained modes at one GPU count are short. */
static double median(double *values, int32_t count)
{
    for (int32_t i = 1; i < count; i++) {
        double moving = values[i];
        int32_t at = i;
        for (; at > 0 && values[at - 1] > moving; at--) {
            values[at] = values[at - 1];
        }
        values[at] = moving;
    }
    return (values[count / 2] + values[(count - 1) / 2]) / 2;
}

static int32_t from_modes(ckpd__modes *modes, const ckpd__predictor *p, double tokens_per_gpu_s,
                          double *efficiency)
{
    double *values = ckpd__calloc(modes->context, (size_t)modes->kept_count, sizeof *values);
    if (values == NULL) {
        return ckpd__no_memory(modes->context);
    }
    for (int32_t i = 0; i < modes->kept_count; i++) {
        const ckpd__candidate *c = &modes->kept[i];
        double target = (double)p->model.batch * p->model.sequence / (tokens_per_gpu_s * c->gpus);
        values[i] = ckpd__efficiency_for(p, &c->layout, target);
    }
    *efficiency = median(values, modes->kept_count);
    ckpd__free(modes->context, values);
    return CKPD_OK;
}

static int32_t from_gpus(ckpd_context *context, const ckpd_task *task, const ckpd__predictor *p,
                         const ckpd_mode_rules *rules, double tokens_per_gpu_s, double *efficiency)
{
    bool stated = ckpd__task_given(task, CKPD__TASK_REFERENCE_GPUS);
    double low =
        stated ? task->values[CKPD__TASK_REFERENCE_GPUS] : rules->values[CKPD__RULE_MINIMUM_GPUS];
    double high = stated ? low : rules->values[CKPD__RULE_INSTALLED_GPUS];
    ckpd__modes modes = {.context = context};
    int32_t status = ckpd__enumerate(&modes, p, rules, low, high);
    if (status == CKPD_OK) {
        status = ckpd__prune(&modes, false);
    }
    if (status == CKPD_OK && modes.kept_count == 0) {
        status = ckpd__fail(context, CKPD_ERR_INCONSISTENT, "reference_gpus", -1, low,
                            "task '%s': no legal layout explains the reference run on %g GPUs",
                            task->name, low);
    }
    if (status == CKPD_OK) {
        status = from_modes(&modes, p, tokens_per_gpu_s, efficiency);
    }
    ckpd__modes_free(&modes);
    return status;
}

int32_t ckpd__calibrate(ckpd_context *context, const ckpd_task *task,
                        const ckpd__architecture *model, const ckpd_hardware *hardware,
                        const ckpd_mode_rules *rules, double *efficiency)
{
    if (!ckpd__task_given(task, CKPD__TASK_TOKENS)) {
        return ckpd__fail(context, CKPD_ERR_MISSING, "tokens", -1, (double)NAN,
                          "task '%s': reference_gpu_hours needs tokens", task->name);
    }
    /* A run on another GPU gives its stack's efficiency relative to that GPU's default. */
    ckpd_hardware reference = *hardware;
    double own = hardware->values[CKPD__HW_EFFICIENCY];
    reference.preset = ckpd__task_integer(task, CKPD__TASK_REFERENCE_GPU, hardware->preset);
    if (reference.preset != hardware->preset) {
        ckpd__hardware_defaults(reference.preset, reference.values);
    }
    double start = reference.values[CKPD__HW_EFFICIENCY];
    ckpd__predictor p;
    ckpd__predictor_init(&p, model, &reference, 0);
    double rate =
        task->values[CKPD__TASK_TOKENS] / (3600 * task->values[CKPD__TASK_REFERENCE_GPU_HOURS]);
    double found = -1;
    int32_t status = ckpd__task_given(task, CKPD__TASK_REFERENCE_TP)
                         ? from_layout(context, task, &p, rules, rate, &found)
                         : from_gpus(context, task, &p, rules, rate, &found);
    if (status != CKPD_OK) {
        return status;
    }
    if (found <= 0 || found > 2) {
        return ckpd__fail(
            context, CKPD_ERR_INCONSISTENT, "reference_gpu_hours", -1,
            task->values[CKPD__TASK_REFERENCE_GPU_HOURS],
            "task '%s': reference_gpu_hours = %g means %g tokens/s a GPU, which no legal "
            "layout on %s explains%s",
            task->name, task->values[CKPD__TASK_REFERENCE_GPU_HOURS], rate,
            ckpd_hardware_name(&reference),
            found <= 0 ? " (communication alone takes longer)" : " (above its peak)");
    }
    *efficiency = found / start * own;
    return CKPD_OK;
}
