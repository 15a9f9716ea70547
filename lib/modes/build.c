/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Task, hardware and rules become a mode set; and single layouts become modes. */
#include "modes/modes.h"

#include <math.h>

/* GPU-hours tie the modes to a run whose layout is not known in full. */
static const double CALIBRATED_RATE_ERROR = 0.1;

/* No layout came as far as the memory: names what most of them failed on, by its first example. */
static int32_t fail_no_layout(ckpd_mode_set *set, const ckpd_task *task)
{
    static const char *const fields[] = {
        [CKPD_DROP_TENSOR] = "tp",  [CKPD_DROP_PIPELINE] = "pp",
        [CKPD_DROP_BATCH] = "dp",   [CKPD_DROP_FILL] = "dp",
        [CKPD_DROP_NODE] = "tp",    [CKPD_DROP_FEW_GPUS] = "minimum_gpus",
        [CKPD_DROP_CONTEXT] = "cp", [CKPD_DROP_MANY_GPUS] = "installed_gpus",
        [CKPD_DROP_EXPERTS] = "ep",
    };
    enum { REASONS = sizeof fields / sizeof *fields };
    int32_t count[REASONS] = {0}, most = CKPD_DROP_NONE;
    const ckpd__dropped *first[REASONS] = {NULL};
    for (int32_t i = 0; i < set->modes.dropped_count; i++) {
        const ckpd__dropped *d = &set->modes.dropped[i];
        first[d->reason] = first[d->reason] != NULL ? first[d->reason] : d;
        if (++count[d->reason] > count[most]) {
            most = d->reason;
        }
    }
    char example[160] = "the rules leave none to try";
    if (most != CKPD_DROP_NONE) {
        ckpd__set_dropped_text(set, first[most], example, sizeof example);
    }
    return ckpd__fail(set->context, CKPD_ERR_NO_MODE, most != CKPD_DROP_NONE ? fields[most] : "tp",
                      -1, (double)NAN,
                      "task '%s': no feasible mode: none of %L layouts passes the rules; %d fail "
                      "like this one: %s",
                      task->name, set->modes.layouts, count[most], example);
}

/* Names the nearest miss in memory, or the rule that no layout passes. */
static int32_t fail_no_mode(ckpd_mode_set *set, const ckpd_task *task)
{
    const ckpd__dropped *nearest = NULL;
    for (int32_t i = 0; i < set->modes.dropped_count; i++) {
        const ckpd__dropped *d = &set->modes.dropped[i];
        if (d->reason == CKPD_DROP_MEMORY &&
            (nearest == NULL || d->missing_bytes < nearest->missing_bytes)) {
            nearest = d;
        }
    }
    if (nearest == NULL) {
        return fail_no_layout(set, task);
    }
    char layout[CKPD__LABEL_LENGTH];
    ckpd__layout_text(&nearest->layout, layout, sizeof layout);
    double missing = ceil(nearest->missing_bytes / 1e7) / 100;
    return ckpd__fail(
        set->context, CKPD_ERR_NO_MODE, "memory_gb", -1, missing,
        "task '%s': no feasible mode; the nearest, %s on %d GPUs, is %g GB over the usable "
        "%g GB",
        task->name, layout, nearest->gpus, missing, set->predictor.memory_limit / 1e9);
}

static int32_t build(ckpd_mode_set *set, const ckpd_task *task, const ckpd_hardware *hardware,
                     const ckpd_mode_rules *rules)
{
    ckpd__architecture model;
    int32_t status = ckpd__task_check(set->context, task);
    if (status == CKPD_OK) {
        status = ckpd__task_architecture(set->context, task, &model);
    }
    if (status == CKPD_OK) {
        status = ckpd__fields_check_required(set->context, &ckpd__rules_table, rules->values);
    }
    double own = hardware->values[CKPD__HW_EFFICIENCY], efficiency = own;
    bool calibrated = ckpd__task_given(task, CKPD__TASK_REFERENCE_GPU_HOURS);
    if (status == CKPD_OK && calibrated) {
        status = ckpd__calibrate(set->context, task, &model, hardware, rules, &efficiency);
    }
    if (status != CKPD_OK) {
        return status;
    }
    ckpd__predictor_init(&set->predictor, &model, hardware,
                         rules->values[CKPD__RULE_MEMORY_MARGIN_GB]);
    set->predictor.hw[CKPD__HW_EFFICIENCY] = efficiency;
    if (calibrated) {
        set->predictor.hw[CKPD__HW_RATE_ERROR] =
            fmin(hardware->values[CKPD__HW_RATE_ERROR], CALIBRATED_RATE_ERROR);
    }
    status =
        ckpd__enumerate(&set->modes, &set->predictor, rules, rules->values[CKPD__RULE_MINIMUM_GPUS],
                        rules->values[CKPD__RULE_INSTALLED_GPUS]);
    if (status == CKPD_OK && set->modes.kept_count == 0) {
        status = fail_no_mode(set, task);
    }
    if (status == CKPD_OK) {
        status = ckpd__set_mark(set, task);
    }
    if (status == CKPD_OK) {
        status = ckpd__set_finish(set, task, &model, rules->values[CKPD__RULE_KEEP_DOMINATED] > 0);
    }
    if (status == CKPD_OK) {
        set->workload.efficiency = efficiency;
        set->workload.calibration = efficiency / own;
    }
    return status;
}

int32_t ckpd_mode_set_build(ckpd_mode_set **out, ckpd_context *context, const ckpd_task *task,
                            const ckpd_hardware *hardware, const ckpd_mode_rules *rules)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    CKPD__REFUSE_FOREIGN(context, task, CKPD__TASK);
    CKPD__REFUSE_FOREIGN(context, hardware, CKPD__HARDWARE);
    CKPD__REFUSE_FOREIGN(context, rules, CKPD__MODE_RULES);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL || task == NULL || hardware == NULL || rules == NULL) {
        return ckpd__null_argument(context, out == NULL        ? "out"
                                            : task == NULL     ? "task"
                                            : hardware == NULL ? "hardware"
                                                               : "rules");
    }
    ckpd_mode_set *set = NULL;
    int32_t status = ckpd__set_new(&set, context);
    if (status == CKPD_OK) {
        status = build(set, task, hardware, rules);
    }
    if (status != CKPD_OK) {
        ckpd_mode_set_free(set);
        return status;
    }
    *out = set;
    return CKPD_OK;
}

static int32_t or_one(int32_t value)
{
    return value == 0 ? 1 : value;
}

static int32_t check_layout(ckpd_context *context, const ckpd__architecture *m,
                            const ckpd__layout *l)
{
    const struct {
        const char *name;
        int32_t value;
    } members[] = {{"tp", l->tp},
                   {"pp", l->pp},
                   {"dp", l->dp},
                   {"micro_batch", l->micro_batch},
                   {"cp", l->cp},
                   {"ep", l->ep},
                   {"interleave", l->interleave}};
    for (int32_t i = 0; i < 7; i++) {
        int32_t status = ckpd__check_range(context, members[i].name, -1, members[i].value, 1, 1e6);
        if (status != CKPD_OK) {
            return status;
        }
    }
    int32_t status =
        ckpd__check_range(context, "recompute", -1, l->recompute, 0, CKPD_RECOMPUTE_FULL);
    if (status != CKPD_OK) {
        return status;
    }
    if (l->pp > m->layers + 2) {
        return ckpd__fail(context, CKPD_ERR_INCONSISTENT, "pp", -1, l->pp,
                          "pp = %d exceeds %d layers", l->pp, m->layers);
    }
    if (m->batch % ((int64_t)l->dp * l->micro_batch) != 0) {
        return ckpd__fail(context, CKPD_ERR_INCONSISTENT, "dp", -1, l->dp,
                          "dp = %d x micro_batch = %d does not divide a batch of %d", l->dp,
                          l->micro_batch, m->batch);
    }
    return CKPD_OK;
}

int32_t ckpd_mode_evaluate(const ckpd_task *task, const ckpd_hardware *hardware,
                           const ckpd_layout *layout, ckpd_mode *out)
{
    CKPD__REFUSE_FOREIGN(NULL, task, CKPD__TASK);
    CKPD__REFUSE_FOREIGN(task, hardware, CKPD__HARDWARE);
    if (task == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = task->context;
    if (hardware == NULL) {
        return ckpd__null_argument(context, "hardware");
    }
    if (layout == NULL || out == NULL) {
        return ckpd__null_argument(context, layout == NULL ? "layout" : "out");
    }
    ckpd_layout given;
    ckpd__architecture model;
    int32_t status = CKPD__STRUCT_IN(context, layout, layout, &given);
    if (status == CKPD_OK) {
        status = ckpd__task_architecture(context, task, &model);
    }
    if (status != CKPD_OK) {
        return status;
    }
    ckpd__layout l = {or_one(given.tp),          or_one(given.pp), or_one(given.dp),
                      or_one(given.micro_batch), or_one(given.cp), or_one(given.ep),
                      or_one(given.interleave),  given.recompute};
    status = check_layout(context, &model, &l);
    if (status != CKPD_OK) {
        return status;
    }
    ckpd__predictor predictor;
    ckpd_mode mode;
    ckpd__predictor_init(&predictor, &model, hardware, 0);
    ckpd__predict_mode(&predictor, &l, &mode);
    return CKPD__STRUCT_OUT(context, mode, out, &mode);
}
