/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Measured runs of a user, and the fit that ties the model to them (docs/modes.md, "Anchoring"). */
#include "modes/modes.h"

#include <math.h>
#include <string.h>

/* Error bands from the published rows: nine of ten single-anchored predictions lie within the
   first; no fit claims less than the second, which is how far repeated runs of one layout differ.
 */
static const double ONE_RUN_BAND = 0.08, LEAST_BAND = 0.03;

typedef struct run {
    ckpd__predictor predictor;
    ckpd__layout layout;
    double iteration_s, memory_gb, power_kw; /* 0: not measured */
} run;

struct ckpd_anchor {
    CKPD__HANDLE;
    ckpd_hardware hardware;
    ckpd_mode_rules rules;
    run *runs;
    int32_t count, capacity;
};

int32_t ckpd_anchor_new(ckpd_anchor **out, ckpd_context *context, const ckpd_hardware *hardware,
                        const ckpd_mode_rules *rules)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    CKPD__REFUSE_FOREIGN(context, hardware, CKPD__HARDWARE);
    CKPD__REFUSE_FOREIGN(context, rules, CKPD__MODE_RULES);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL || hardware == NULL) {
        return ckpd__null_argument(context, out == NULL ? "out" : "hardware");
    }
    ckpd_anchor *anchor = ckpd__calloc(context, 1, sizeof *anchor);
    if (anchor == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(anchor, CKPD__ANCHOR, context);
    anchor->hardware = *hardware;
    if (rules != NULL) {
        anchor->rules = *rules;
    } else {
        ckpd__handle_stamp(&anchor->rules, CKPD__MODE_RULES, context);
        ckpd__fields_defaults(&ckpd__rules_table, anchor->rules.values);
        anchor->rules.values[CKPD__RULE_UNEVEN_STAGES] = 1; /* a run may have been laid out so */
    }
    *out = anchor;
    return CKPD_OK;
}

void ckpd_anchor_free(ckpd_anchor *anchor)
{
    CKPD__NULL_IF_FOREIGN(anchor, CKPD__ANCHOR);
    if (anchor != NULL) {
        ckpd_context *context = anchor->context;
        ckpd__free(context, anchor->runs);
        ckpd__handle_end(anchor);
    }
}

int32_t ckpd_anchor_count(const ckpd_anchor *anchor)
{
    CKPD__NULL_IF_FOREIGN(anchor, CKPD__ANCHOR);
    return anchor != NULL ? anchor->count : 0;
}

/* --- a run becomes a layout ------------------------------------------------------------------- */

static int32_t fail_run(const ckpd_anchor *a, const char *field, double value, const char *why)
{
    return ckpd__fail(a->context, CKPD_ERR_INCONSISTENT, field, a->count, value,
                      "run %d: no legal layout explains it: %s", a->count, why);
}

static int32_t check_members(const ckpd_anchor *a, const ckpd_run *g)
{
    const struct {
        const char *name;
        int32_t value;
    } members[] = {{"tp", g->tp},
                   {"pp", g->pp},
                   {"dp", g->dp},
                   {"micro_batch", g->micro_batch},
                   {"cp", g->cp},
                   {"ep", g->ep},
                   {"interleave", g->interleave},
                   {"gpus", g->gpus}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        int32_t status =
            ckpd__check_range(a->context, members[i].name, a->count, members[i].value, 0, 1e7);
        if (status != CKPD_OK) {
            return status;
        }
    }
    int32_t status =
        ckpd__check_range(a->context, "recompute", a->count, g->recompute, -1, CKPD_RECOMPUTE_FULL);
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"iteration_s", g->iteration_s},
                   {"tokens_per_s", g->tokens_per_s},
                   {"gpu_hours", g->gpu_hours},
                   {"memory_gb", g->memory_gb},
                   {"power_kw", g->power_kw}};
    int32_t given = 0;
    for (int32_t i = 0; i < 5 && status == CKPD_OK; i++) {
        status =
            ckpd__check_range(a->context, numbers[i].name, a->count, numbers[i].value, 0, 1e18);
        given += i < 3 && numbers[i].value > 0;
    }
    if (status == CKPD_OK && given != 1) {
        status = ckpd__fail(
            a->context, given > 1 ? CKPD_ERR_INCONSISTENT : CKPD_ERR_MISSING, "iteration_s",
            a->count, (double)NAN,
            "run %d: %d of iteration_s, tokens_per_s and gpu_hours are given, one is needed",
            a->count, given);
    }
    return status;
}

static bool agrees(const ckpd_run *g, const ckpd__layout *l)
{
    return (g->tp == 0 || g->tp == l->tp) && (g->pp == 0 || g->pp == l->pp) &&
           (g->dp == 0 || g->dp == l->dp) &&
           (g->micro_batch == 0 || g->micro_batch == l->micro_batch) &&
           (g->recompute < 0 || g->recompute == l->recompute);
}

/* The fastest layout of the rules that agrees with what is known of the run. */
static int32_t search_layout(ckpd_anchor *a, const ckpd_run *g, run *r)
{
    double gpus = g->gpus > 0 ? g->gpus : (double)g->tp * g->pp * g->dp * (g->cp > 0 ? g->cp : 1);
    if (gpus <= 0) {
        return ckpd__fail(a->context, CKPD_ERR_MISSING, "gpus", a->count, (double)NAN,
                          "run %d: gpus is missing, and tp, pp and dp are not all given", a->count);
    }
    ckpd__modes modes = {.context = a->context};
    int32_t status = ckpd__enumerate(&modes, &r->predictor, &a->rules, gpus, gpus);
    const ckpd__candidate *best = NULL;
    for (int32_t i = 0; i < modes.kept_count && status == CKPD_OK; i++) {
        const ckpd__candidate *c = &modes.kept[i];
        if (agrees(g, &c->layout) && (best == NULL || c->rate > best->rate)) {
            best = c;
        }
    }
    if (status == CKPD_OK && best == NULL) {
        status =
            fail_run(a, "gpus", gpus, "none with these GPUs divides the model and fits the memory");
    }
    if (best != NULL) {
        r->layout = best->layout;
    }
    ckpd__modes_free(&modes);
    return status;
}

static int32_t take_layout(ckpd_anchor *a, const ckpd_run *g, run *r)
{
    const ckpd__architecture *m = &r->predictor.model;
    r->layout = (ckpd__layout){g->tp,
                               g->pp,
                               g->dp,
                               g->micro_batch,
                               g->cp > 0 ? g->cp : 1,
                               g->ep > 0 ? g->ep : 1,
                               g->interleave > 0 ? g->interleave : 1,
                               g->recompute};
    const ckpd__layout *l = &r->layout;
    if (g->gpus > 0 && ckpd__layout_gpus(l) != g->gpus) {
        return fail_run(a, "gpus", g->gpus, "tp x pp x dp x cp differs from gpus");
    }
    if (m->heads % l->tp != 0) {
        return fail_run(a, "tp", l->tp, "tp does not divide the heads");
    }
    if (l->pp > m->layers + 2) {
        return fail_run(a, "pp", l->pp, "pp exceeds the layers");
    }
    if (m->batch % ((int64_t)l->dp * l->micro_batch) != 0) {
        return fail_run(a, "dp", l->dp, "dp x micro_batch does not divide the batch");
    }
    return CKPD_OK;
}

static int32_t take_measures(ckpd_anchor *a, const ckpd_task *task, const ckpd_run *g, run *r)
{
    const ckpd__architecture *m = &r->predictor.model;
    double gpus = (double)ckpd__layout_gpus(&r->layout), tokens = (double)m->batch * m->sequence;
    if (g->gpu_hours > 0 && !ckpd__task_given(task, CKPD__TASK_TOKENS)) {
        return ckpd__fail(a->context, CKPD_ERR_MISSING, "tokens", a->count, (double)NAN,
                          "run %d: gpu_hours needs the task's tokens", a->count);
    }
    r->iteration_s = g->iteration_s > 0 ? g->iteration_s
                     : g->tokens_per_s > 0
                         ? tokens / g->tokens_per_s
                         : tokens / task->values[CKPD__TASK_TOKENS] * g->gpu_hours * 3600 / gpus;
    r->memory_gb = g->memory_gb;
    r->power_kw = g->power_kw;
    double e = ckpd__efficiency_for(&r->predictor, &r->layout, r->iteration_s);
    if (e <= 0 || e > 2) {
        return fail_run(a, "iteration_s", r->iteration_s,
                        e <= 0 ? "communication and memory traffic alone take longer"
                               : "it would run at more than twice the peak");
    }
    return CKPD_OK;
}

int32_t ckpd_anchor_add(ckpd_anchor *a, const ckpd_task *task, const ckpd_run *given)
{
    CKPD__REFUSE_FOREIGN(NULL, a, CKPD__ANCHOR);
    CKPD__REFUSE_FOREIGN(a, task, CKPD__TASK);
    if (a == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (task == NULL || given == NULL) {
        return ckpd__null_argument(a->context, task == NULL ? "task" : "run");
    }
    ckpd_run g;
    ckpd__architecture model;
    int32_t status = CKPD__STRUCT_IN(a->context, run, given, &g);
    if (status == CKPD_OK) {
        status = check_members(a, &g);
    }
    if (status == CKPD_OK) {
        status = ckpd__task_architecture(a->context, task, &model);
    }
    if (status != CKPD_OK) {
        return status;
    }
    run r = {.iteration_s = 0};
    ckpd__predictor_init(&r.predictor, &model, &a->hardware, 0);
    bool whole = g.tp > 0 && g.pp > 0 && g.dp > 0 && g.micro_batch > 0 && g.recompute >= 0;
    status = whole ? take_layout(a, &g, &r) : search_layout(a, &g, &r);
    if (status == CKPD_OK) {
        status = take_measures(a, task, &g, &r);
    }
    if (status == CKPD_OK && a->count == a->capacity) {
        int32_t capacity = a->capacity > 0 ? 2 * a->capacity : 8;
        void *grown = ckpd__realloc(a->context, a->runs, (size_t)capacity, sizeof *a->runs);
        if (grown == NULL) {
            return ckpd__no_memory(a->context);
        }
        a->runs = grown;
        a->capacity = capacity;
    }
    if (status == CKPD_OK) {
        a->runs[a->count++] = r;
    }
    return status;
}

/* --- the fit
 * -------------------------------------------------------------------------------------- */

enum { MOST_COEFFICIENTS = 4 };
typedef struct coefficients {
    int32_t field[MOST_COEFFICIENTS];
    double low[MOST_COEFFICIENTS], high[MOST_COEFFICIENTS];
    double value[MOST_COEFFICIENTS];
    int32_t count;
} coefficients;

static void add_coefficient(coefficients *c, const ckpd_hardware *hw, int32_t field, double low,
                            double high)
{
    c->field[c->count] = field;
    c->low[c->count] = low;
    c->high[c->count] = high;
    c->value[c->count++] = fmin(fmax(hw->values[field], low), high);
}

static double predicted_iteration(const run *r, const coefficients *c)
{
    ckpd__predictor p = r->predictor;
    ckpd__kernels k;
    ckpd__times t;
    for (int32_t i = 0; i < c->count; i++) {
        p.hw[c->field[i]] = c->value[i];
    }
    ckpd__kernels_init(&k, &p, &r->layout);
    ckpd__predict_times(&p, &k, &r->layout, &t);
    return t.iteration;
}

static double squares(const ckpd_anchor *a, const coefficients *c)
{
    double sum = 0;
    for (int32_t i = 0; i < a->count; i++) {
        double error = log(predicted_iteration(&a->runs[i], c) / a->runs[i].iteration_s);
        sum += error * error;
    }
    return sum;
}

/* Golden-section search in one coefficient. */
static void improve(const ckpd_anchor *a, coefficients *c, int32_t which)
{
    const double ratio = 0.6180339887498949;
    double low = c->low[which], high = c->high[which];
    double x = high - ratio * (high - low), y = low + ratio * (high - low);
    c->value[which] = x;
    double at_x = squares(a, c);
    c->value[which] = y;
    double at_y = squares(a, c);
    for (int32_t step = 0; step < 60 && high - low > 1e-9 * high; step++) {
        if (at_x <= at_y) {
            high = y, y = x, at_y = at_x;
            x = high - ratio * (high - low);
            c->value[which] = x;
            at_x = squares(a, c);
        } else {
            low = x, x = y, at_x = at_y;
            y = low + ratio * (high - low);
            c->value[which] = y;
            at_y = squares(a, c);
        }
    }
    c->value[which] = at_x <= at_y ? x : y;
}

static int32_t fit_times(ckpd_anchor *a, int32_t fit, coefficients *c, double *left)
{
    add_coefficient(c, &a->hardware, CKPD__HW_EFFICIENCY, 1e-3, 2);
    if ((fit & CKPD_FIT_LAYER_OVERHEAD) != 0) {
        add_coefficient(c, &a->hardware, CKPD__HW_LAYER_OVERHEAD_MS, 0, 20);
    }
    if ((fit & CKPD_FIT_NETWORK) != 0) {
        add_coefficient(c, &a->hardware, CKPD__HW_NETWORK_EFFICIENCY, 0.01, 1);
    }
    if ((fit & CKPD_FIT_LINK) != 0) {
        add_coefficient(c, &a->hardware, CKPD__HW_LINK_EFFICIENCY, 0.01, 1);
    }
    if (c->count > 1 && a->count <= c->count) {
        return ckpd__fail(a->context, CKPD_ERR_INCONSISTENT, "fit", -1, a->count,
                          "%d runs are too few to fit %d coefficients; %d are needed", a->count,
                          c->count, c->count + 1);
    }
    if (a->count == 1) {
        const run *r = &a->runs[0];
        c->value[0] = ckpd__efficiency_for(&r->predictor, &r->layout, r->iteration_s);
    }
    *left = squares(a, c);
    for (int32_t round = 0; a->count > 1 && round < 100; round++) {
        double before = *left;
        for (int32_t i = 0; i < c->count; i++) {
            improve(a, c, i);
        }
        *left = squares(a, c);
        if (round > 0 && before - *left <= 1e-10 * before) {
            break;
        }
    }
    return CKPD_OK;
}

/* Twice the standard deviation of what the fit leaves. */
static double band(double sum_of_squares, int32_t rows, int32_t coefficients_used)
{
    if (rows <= coefficients_used) {
        return ONE_RUN_BAND;
    }
    return fmax(LEAST_BAND, 2 * sqrt(sum_of_squares / (rows - coefficients_used)));
}

/* memory = factor x counted + offset, relative squares; one or two rows move the offset alone. */
static void fit_memory(const ckpd_anchor *a, double *hw)
{
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
    double factor = hw[CKPD__HW_MEMORY_FACTOR];
    for (int32_t i = 0; i < a->count; i++) {
        const run *r = &a->runs[i];
        if (r->memory_gb > 0) {
            ckpd__memory memory;
            ckpd__predict_memory(&r->predictor, &r->layout, &memory);
            double counted = (memory.states + memory.activations + memory.working) / 1e9;
            double x = counted / r->memory_gb, y = 1 / r->memory_gb; /* 1 = factor x + offset y */
            n++, sx += x, sy += y, sxx += x * x, sxy += x * y, syy += y * y;
        }
    }
    if (n == 0) {
        return;
    }
    double determinant = sxx * syy - sxy * sxy;
    if (n >= 3 && determinant > 1e-9 * sxx * syy) {
        factor = fmin(fmax((sx * syy - sy * sxy) / determinant, 1), 10);
    }
    hw[CKPD__HW_MEMORY_FACTOR] = factor;
    hw[CKPD__HW_MEMORY_OFFSET_GB] = fmax(0, (sy - factor * sxy) / syy);
    double left = 0;
    for (int32_t i = 0; i < a->count; i++) {
        run r = a->runs[i];
        if (r.memory_gb > 0) {
            ckpd__memory memory;
            memcpy(r.predictor.hw, hw, sizeof r.predictor.hw);
            ckpd__predict_memory(&r.predictor, &r.layout, &memory);
            left += pow(log(memory.total / 1e9 / r.memory_gb), 2);
        }
    }
    hw[CKPD__HW_MEMORY_ERROR] = band(left, (int32_t)n, n >= 3 ? 2 : 1);
}

/* power = GPUs x (idle + (busy - idle) u + network): busy by relative squares. */
static void fit_power(const ckpd_anchor *a, double *hw)
{
    double n = 0, sxy = 0, sxx = 0, left = 0;
    double idle = hw[CKPD__HW_IDLE_KW], fabric = hw[CKPD__HW_NETWORK_KW];
    for (int32_t pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < a->count; i++) {
            run r = a->runs[i];
            if (r.power_kw <= 0) {
                continue;
            }
            ckpd__kernels k;
            ckpd__times t;
            memcpy(r.predictor.hw, hw, sizeof r.predictor.hw);
            ckpd__kernels_init(&k, &r.predictor, &r.layout);
            ckpd__predict_times(&r.predictor, &k, &r.layout, &t);
            double gpus = (double)ckpd__layout_gpus(&r.layout);
            double x = gpus * t.busy / r.power_kw;
            double y = 1 - gpus * (idle * (1 - t.busy) + fabric) / r.power_kw;
            if (pass == 0) {
                n++, sxx += x * x, sxy += x * y;
            } else {
                left += pow(log(ckpd__predict_power(&r.predictor, &r.layout, &t) / r.power_kw), 2);
            }
        }
        if (n == 0) {
            return;
        }
        hw[CKPD__HW_BUSY_KW] = fmin(fmax(idle, sxy / sxx), 1e3);
    }
    hw[CKPD__HW_POWER_ERROR] = band(left, (int32_t)n, 1);
}

int32_t ckpd_anchor_fit(ckpd_anchor *a, int32_t fit, ckpd_hardware *hardware,
                        ckpd_anchor_report *out)
{
    CKPD__REFUSE_FOREIGN(NULL, a, CKPD__ANCHOR);
    CKPD__REFUSE_FOREIGN(a, hardware, CKPD__HARDWARE);
    if (a == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (hardware == NULL) {
        return ckpd__null_argument(a->context, "hardware");
    }
    if (a->count == 0) {
        return ckpd__fail(a->context, CKPD_ERR_STATE, "runs", -1, 0, "anchor: no run was added");
    }
    int32_t status = ckpd__check_range(a->context, "fit", -1, fit, 0, 31);
    coefficients c = {.count = 0};
    for (int32_t i = 0; i < a->count; i++) { /* an earlier fit does not count */
        memcpy(a->runs[i].predictor.hw, a->hardware.values, sizeof a->hardware.values);
    }
    double left = 0;
    if (status == CKPD_OK) {
        status = fit_times(a, fit, &c, &left);
    }
    if (status != CKPD_OK) {
        return status;
    }
    ckpd_hardware fitted = a->hardware;
    for (int32_t i = 0; i < c.count; i++) {
        fitted.values[c.field[i]] = c.value[i];
    }
    fitted.values[CKPD__HW_RATE_ERROR] = band(left, a->count, c.count);
    if ((fit & CKPD_FIT_MEMORY) != 0) {
        fit_memory(a, fitted.values);
    }
    if ((fit & CKPD_FIT_POWER) != 0) {
        fit_power(a, fitted.values);
    }
    ckpd_anchor_report report = {
        .size = sizeof report,
        .rows = a->count,
        .efficiency = fitted.values[CKPD__HW_EFFICIENCY],
        .rms_error = sqrt(left / a->count),
        .rate_error = fitted.values[CKPD__HW_RATE_ERROR],
        .memory_error = fitted.values[CKPD__HW_MEMORY_ERROR],
        .power_error = fitted.values[CKPD__HW_POWER_ERROR],
    };
    if (out != NULL) {
        status = CKPD__STRUCT_OUT(a->context, anchor_report, out, &report);
    }
    if (status == CKPD_OK) {
        for (int32_t i = 0; i < a->count; i++) {
            memcpy(a->runs[i].predictor.hw, fitted.values, sizeof fitted.values);
        }
        memcpy(hardware->values, fitted.values, sizeof fitted.values);
    }
    return status;
}

static int32_t check_run(const ckpd_anchor *a, int32_t index)
{
    return index >= 0 && index < a->count
               ? CKPD_OK
               : ckpd__fail(a->context, CKPD_ERR_ARGUMENT, "index", index, (double)index,
                            "anchor: run %d does not exist, there are %d", index, a->count);
}

int32_t ckpd_anchor_residual(const ckpd_anchor *a, int32_t index, ckpd_residual *out)
{
    CKPD__REFUSE_FOREIGN(NULL, a, CKPD__ANCHOR);
    if (a == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    int32_t status = check_run(a, index);
    if (status != CKPD_OK) {
        return status;
    }
    const run *r = &a->runs[index];
    ckpd_residual known = {.size = sizeof known, .iteration_s = r->iteration_s};
    ckpd_mode mode;
    ckpd__predict_mode(&r->predictor, &r->layout, &mode);
    known.iteration_error = mode.iteration_s / r->iteration_s - 1;
    known.memory_error =
        r->memory_gb > 0 ? mode.memory_bytes / 1e9 / r->memory_gb - 1 : (double)NAN;
    known.power_error = r->power_kw > 0 ? mode.power_kw / r->power_kw - 1 : (double)NAN;
    return CKPD__STRUCT_OUT(a->context, residual, out, &known);
}

int32_t ckpd_anchor_mode(const ckpd_anchor *a, int32_t index, ckpd_mode *out)
{
    CKPD__REFUSE_FOREIGN(NULL, a, CKPD__ANCHOR);
    if (a == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    int32_t status = check_run(a, index);
    if (status != CKPD_OK) {
        return status;
    }
    ckpd_mode known;
    ckpd__predict_mode(&a->runs[index].predictor, &a->runs[index].layout, &known);
    return CKPD__STRUCT_OUT(a->context, mode, out, &known);
}
