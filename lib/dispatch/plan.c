/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "dispatch/dispatch.h"

#include <math.h>
#include <string.h>

/* As many as a task may have. */
enum { MOST_SEGMENTS = 1000000 };

static const char *const series_names[CKPD__PLAN_SERIES] = {
    [CKPD__PLAN_IMPORT] = "import_kw",
    [CKPD__PLAN_EXPORT] = "export_kw",
    [CKPD__PLAN_CURTAILMENT] = "curtailment_kw",
    [CKPD__PLAN_CHARGE] = "charge_kw",
    [CKPD__PLAN_DISCHARGE] = "discharge_kw",
    [CKPD__PLAN_SOC] = "soc_kwh",
    [CKPD__PLAN_IT_POWER] = "it_power_kw",
    [CKPD__PLAN_SITE_LOAD] = "site_load_kw",
    [CKPD__PLAN_GPUS] = "gpus",
    [CKPD__PLAN_WIND] = "wind_kw",
    [CKPD__PLAN_SOLAR] = "solar_kw",
    [CKPD__PLAN_IMPORT_PRICE] = "import_price_per_mwh",
    [CKPD__PLAN_EXPORT_PRICE] = "export_price_per_mwh",
};

static int32_t series_length(const ckpd_plan *plan, int32_t series)
{
    return series == CKPD__PLAN_SOC ? plan->slots + 1 : plan->slots;
}

int32_t ckpd__plan_add_series(ckpd_plan *plan, ckpd__plan_series series)
{
    plan->series[series] =
        ckpd__calloc(plan->context, (size_t)series_length(plan, (int32_t)series), sizeof(double));
    return plan->series[series] != NULL ? CKPD_OK : ckpd__no_memory(plan->context);
}

int32_t ckpd_plan_new(ckpd_plan **out, ckpd_context *context, int32_t jobs, int32_t slots)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL) {
        return ckpd__null_argument(context, "out");
    }
    int32_t status = ckpd__check_range(context, "jobs", -1, jobs, 0, 1e6);
    if (status == CKPD_OK) {
        status = ckpd__check_range(context, "slots", -1, slots, 1, 100000);
    }
    if (status != CKPD_OK) {
        return status;
    }
    ckpd_plan *plan = ckpd__calloc(context, 1, sizeof *plan);
    ckpd__steps *steps = ckpd__calloc(context, (size_t)jobs, sizeof *steps);
    if (plan == NULL || steps == NULL) {
        ckpd__free(context, plan);
        ckpd__free(context, steps);
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(plan, CKPD__PLAN, context);
    plan->speaker = context;
    plan->jobs = jobs;
    plan->slots = slots;
    plan->steps = steps;
    for (int32_t s = 0; s < CKPD__PLAN_SETTABLE && status == CKPD_OK; s++) {
        status = ckpd__plan_add_series(plan, (ckpd__plan_series)s);
    }
    if (status != CKPD_OK) {
        ckpd_plan_free(plan);
        return status;
    }
    *out = plan;
    return CKPD_OK;
}

void ckpd_plan_free(ckpd_plan *plan)
{
    CKPD__NULL_IF_FOREIGN(plan, CKPD__PLAN);
    if (plan == NULL) {
        return;
    }
    ckpd_context *context = plan->context;
    for (int32_t s = 0; s < CKPD__PLAN_SERIES; s++) {
        ckpd__free(context, plan->series[s]);
    }
    for (int32_t j = 0; j < plan->jobs; j++) {
        ckpd__free(context, plan->steps[j].step);
    }
    ckpd__free(context, plan->steps);
    ckpd__handle_end(plan);
}

bool ckpd__is_running_step(const ckpd_graph *graph, const ckpd_step *step)
{
    if (graph->going_slots == 0) {
        return step->from_slot < graph->source_slot;
    }
    return step->from_slot == 0 && step->to_slot == graph->going_slots &&
           step->mode == graph->going_mode &&
           step->to_segment - step->from_segment == graph->going_segments;
}

int32_t ckpd__plan_append(ckpd_plan *plan, int32_t job, const ckpd_step *step)
{
    ckpd__steps *steps = &plan->steps[job];
    if (steps->count == steps->room) {
        int32_t room = 2 * steps->room + 8;
        ckpd_step *grown = ckpd__realloc(plan->context, steps->step, (size_t)room, sizeof *grown);
        if (grown == NULL) {
            return ckpd__no_memory(plan->context);
        }
        steps->step = grown;
        steps->room = room;
    }
    steps->step[steps->count] = *step;
    steps->step[steps->count++].size = sizeof *step;
    return CKPD_OK;
}

int32_t ckpd_plan_add_step(ckpd_plan *plan, int32_t job, const ckpd_step *step)
{
    CKPD__REFUSE_FOREIGN(NULL, plan, CKPD__PLAN);
    if (plan == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (step == NULL) {
        return ckpd__null_argument(plan->context, "step");
    }
    ckpd_step known;
    int32_t status = CKPD__STRUCT_IN(plan->context, step, step, &known);
    if (status == CKPD_OK) {
        status = ckpd__check_range(plan->context, "job", -1, job, 0, plan->jobs - 1);
    }
    if (status != CKPD_OK) {
        return status;
    }
    const ckpd__steps *steps = &plan->steps[job];
    int32_t earliest = steps->count > 0 ? steps->step[steps->count - 1].to_slot : 0;
    if (known.from_slot < earliest || known.to_slot <= known.from_slot ||
        known.to_slot > plan->slots) {
        return ckpd__fail(plan->context, CKPD_ERR_RANGE, "from_slot", steps->count, known.from_slot,
                          "step %d of job %d occupies boundaries %d..%d; it has to lie in %d..%d",
                          steps->count, job, known.from_slot, known.to_slot, earliest, plan->slots);
    }
    if (known.mode < 0 || known.gpus < 0) {
        return ckpd__fail(plan->context, CKPD_ERR_RANGE, "mode", steps->count, known.mode,
                          "step %d of job %d has mode %d and %d GPUs", steps->count, job,
                          known.mode, known.gpus);
    }
    if (known.from_segment < -1 || known.to_segment < known.from_segment ||
        known.to_segment > MOST_SEGMENTS) {
        return ckpd__fail(plan->context, CKPD_ERR_RANGE, "from_segment", steps->count,
                          known.from_segment, "step %d of job %d covers segments %d..%d",
                          steps->count, job, known.from_segment, known.to_segment);
    }
    return ckpd__plan_append(plan, job, &known);
}

static int32_t find_series(const ckpd_plan *plan, const char *name, int32_t end, int32_t *series)
{
    if (name == NULL) {
        return ckpd__null_argument(plan->speaker, "name");
    }
    for (int32_t s = 0; s < end; s++) {
        if (strcmp(series_names[s], name) == 0) {
            *series = s;
            return CKPD_OK;
        }
    }
    const char *nearest = ckpd__nearest(name, series_names, (size_t)end);
    return ckpd__fail(plan->speaker, CKPD_ERR_UNKNOWN_NAME, name, -1, (double)NAN,
                      nearest != NULL ? "plan has no series '%s'; did you mean '%s'?"
                                      : "plan has no series '%s'%s",
                      name, nearest != NULL ? nearest : "");
}

static int32_t check_values(const ckpd_plan *plan, int32_t series, const double *values,
                            int32_t count)
{
    if (values == NULL) {
        return ckpd__null_argument(plan->speaker, "values");
    }
    if (count != series_length(plan, series)) {
        return ckpd__fail(plan->speaker, CKPD_ERR_LENGTH, series_names[series], -1, count,
                          "%s has %d values, the plan needs %d", series_names[series], count,
                          series_length(plan, series));
    }
    return CKPD_OK;
}

int32_t ckpd_plan_set_series(ckpd_plan *plan, const char *name, const double *values, int32_t count)
{
    CKPD__REFUSE_FOREIGN(NULL, plan, CKPD__PLAN);
    if (plan == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    int32_t series = 0;
    int32_t status = find_series(plan, name, CKPD__PLAN_SETTABLE, &series);
    if (status == CKPD_OK) {
        status = check_values(plan, series, values, count);
    }
    if (status == CKPD_OK) {
        status = ckpd__check_series(plan->speaker, name, values, count, -1e15, 1e15);
    }
    if (status == CKPD_OK) {
        memcpy(plan->series[series], values, (size_t)count * sizeof *values);
    }
    return status;
}

int32_t ckpd_plan_get_series(const ckpd_plan *plan, const char *name, double *values, int32_t count)
{
    CKPD__REFUSE_FOREIGN(NULL, plan, CKPD__PLAN);
    if (plan == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    int32_t series = 0;
    int32_t status = find_series(plan, name, CKPD__PLAN_SERIES, &series);
    if (status == CKPD_OK) {
        status = check_values(plan, series, values, count);
    }
    if (status == CKPD_OK && plan->series[series] == NULL) {
        status = ckpd__fail(plan->speaker, CKPD_ERR_STATE, name, -1, (double)NAN,
                            "%s is known only for the plan of a solution", name);
    }
    if (status == CKPD_OK) {
        memcpy(values, plan->series[series], (size_t)count * sizeof *values);
    }
    return status;
}

int32_t ckpd_plan_job_count(const ckpd_plan *plan)
{
    CKPD__NULL_IF_FOREIGN(plan, CKPD__PLAN);
    return plan != NULL ? plan->jobs : 0;
}

int32_t ckpd_plan_slots(const ckpd_plan *plan)
{
    CKPD__NULL_IF_FOREIGN(plan, CKPD__PLAN);
    return plan != NULL ? plan->slots : 0;
}

int32_t ckpd_plan_step_count(const ckpd_plan *plan, int32_t job)
{
    CKPD__NULL_IF_FOREIGN(plan, CKPD__PLAN);
    return plan != NULL && job >= 0 && job < plan->jobs ? plan->steps[job].count : 0;
}

int32_t ckpd_plan_get_step(const ckpd_plan *plan, int32_t job, int32_t index, ckpd_step *out)
{
    CKPD__REFUSE_FOREIGN(NULL, plan, CKPD__PLAN);
    if (plan == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL) {
        return ckpd__null_argument(plan->speaker, "out");
    }
    int32_t status = ckpd__check_range(plan->speaker, "job", -1, job, 0, plan->jobs - 1);
    if (status == CKPD_OK) {
        status =
            ckpd__check_range(plan->speaker, "index", job, index, 0, plan->steps[job].count - 1);
    }
    return status != CKPD_OK
               ? status
               : CKPD__STRUCT_OUT(plan->speaker, step, out, &plan->steps[job].step[index]);
}
