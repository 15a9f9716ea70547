/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The finished set: building it, and what can be asked of it. */
#include "modes/modes.h"

#include <math.h>
#include <string.h>

int32_t ckpd__set_new(ckpd_mode_set **out, ckpd_context *context)
{
    ckpd_mode_set *set = ckpd__calloc(context, 1, sizeof *set);
    if (set == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(set, CKPD__MODE_SET, context);
    set->modes.context = context;
    set->baseline = set->running = -1;
    *out = set;
    return CKPD_OK;
}

void ckpd_mode_set_free(ckpd_mode_set *set)
{
    CKPD__NULL_IF_FOREIGN(set, CKPD__MODE_SET);
    if (set != NULL) {
        ckpd_context *context = set->context;
        ckpd__modes_free(&set->modes);
        ckpd__free(context, set->idle_kw);
        ckpd__free(context, set->labels);
        ckpd__handle_end(set);
    }
}

/* --- baseline and running mode ---------------------------------------------------------------- */

/* Says why the mode that a task names is not there, from the list of dropped layouts. */
static int32_t fail_not_there(ckpd_mode_set *set, const ckpd_task *task, const char *what,
                              const ckpd__layout *layout, int32_t gpus)
{
    const ckpd__dropped *nearest = NULL;
    for (int32_t i = 0; i < set->modes.dropped_count; i++) {
        const ckpd__dropped *d = &set->modes.dropped[i];
        bool named = layout != NULL ? d->layout.tp == layout->tp && d->layout.pp == layout->pp &&
                                          d->layout.dp == layout->dp
                                    : d->gpus == gpus;
        if (named && (nearest == NULL || d->missing_bytes < nearest->missing_bytes)) {
            nearest = d;
        }
    }
    char place[96], reason[96] = "no layout of the rules gives it";
    if (layout != NULL) {
        ckpd__format(place, sizeof place, "tp %d, pp %d, dp %d", layout->tp, layout->pp,
                     layout->dp);
    } else {
        ckpd__format(place, sizeof place, "%d GPUs", gpus);
    }
    if (nearest != NULL && nearest->reason == CKPD_DROP_MEMORY) {
        ckpd__format(reason, sizeof reason, "%g GB of memory are missing",
                     ceil(nearest->missing_bytes / 1e7) / 100);
    } else if (nearest != NULL) {
        ckpd__format(reason, sizeof reason, "%s", ckpd_drop_name(nearest->reason));
    }
    char field[32];
    ckpd__format(field, sizeof field, layout != NULL ? "%s_tp" : "%s_gpus", what);
    return ckpd__fail(set->context, CKPD_ERR_NO_MODE, field, -1, layout != NULL ? layout->tp : gpus,
                      "task '%s': the %s mode (%s) is not feasible: %s", task->name, what, place,
                      reason);
}

static int32_t mark_layout(ckpd_mode_set *set, const ckpd_task *task, int32_t tp, const char *what,
                           int32_t flag)
{
    ckpd__layout l = {.tp = ckpd__task_integer(task, tp, 0),
                      .pp = ckpd__task_integer(task, tp + 1, 0),
                      .dp = ckpd__task_integer(task, tp + 2, 0),
                      .micro_batch = ckpd__task_integer(task, tp + 3, 0)};
    return ckpd__modes_mark(&set->modes, &l, 0, flag) ? CKPD_OK
                                                      : fail_not_there(set, task, what, &l, 0);
}

int32_t ckpd__set_mark(ckpd_mode_set *set, const ckpd_task *task)
{
    int32_t status = CKPD_OK;
    if (ckpd__modes_flagged(&set->modes, CKPD_MODE_BASELINE) >= 0) {
        /* a table has named it by its row */
    } else if (ckpd__task_given(task, CKPD__TASK_BASELINE_TP)) {
        status = mark_layout(set, task, CKPD__TASK_BASELINE_TP, "baseline", CKPD_MODE_BASELINE);
    } else if (ckpd__task_given(task, CKPD__TASK_BASELINE_GPUS)) {
        int32_t gpus = ckpd__task_integer(task, CKPD__TASK_BASELINE_GPUS, 0);
        if (!ckpd__modes_mark(&set->modes, NULL, gpus, CKPD_MODE_BASELINE)) {
            status = fail_not_there(set, task, "baseline", NULL, gpus);
        }
    }
    if (status == CKPD_OK && ckpd__task_given(task, CKPD__TASK_RUNNING_TP)) {
        status = mark_layout(set, task, CKPD__TASK_RUNNING_TP, "running", CKPD_MODE_RUNNING);
    }
    return status;
}

/* A running mode given as an index: the row of a table, or the position in a built set. */
static int32_t mark_running_index(ckpd_mode_set *set, const ckpd_task *task)
{
    int32_t index = ckpd__task_integer(task, CKPD__TASK_RUNNING_MODE, -1);
    if (index < 0 || set->is_table) {
        return CKPD_OK;
    }
    if (index >= set->modes.kept_count) {
        return ckpd__fail(set->context, CKPD_ERR_RANGE, "running_mode", -1, index,
                          "task '%s': running_mode = %d, but the set has %d modes", task->name,
                          index, set->modes.kept_count);
    }
    set->modes.kept[index].flags |= CKPD_MODE_RUNNING;
    return CKPD_OK;
}

/* --- finishing -------------------------------------------------------------------------------- */

void ckpd__layout_text(const ckpd__layout *l, char *buffer, size_t size)
{
    static const char *const recompute[] = {" rc-none", " rc-sel", ""};
    char more[3][24] = {"", "", ""};
    if (l->cp > 1) {
        ckpd__format(more[0], sizeof more[0], " cp%d", l->cp);
    }
    if (l->ep > 1) {
        ckpd__format(more[1], sizeof more[1], " ep%d", l->ep);
    }
    if (l->interleave > 1) {
        ckpd__format(more[2], sizeof more[2], " v%d", l->interleave);
    }
    ckpd__format(buffer, size, "tp%d pp%d dp%d mb%d%s%s%s%s", l->tp, l->pp, l->dp, l->micro_batch,
                 more[0], more[1], more[2], recompute[l->recompute]);
}

static int32_t make_labels(ckpd_mode_set *set)
{
    set->labels = ckpd__calloc(set->context, (size_t)set->modes.kept_count, sizeof *set->labels);
    if (set->labels == NULL) {
        return ckpd__no_memory(set->context);
    }
    for (int32_t i = 0; i < set->modes.kept_count; i++) {
        const ckpd__candidate *c = &set->modes.kept[i];
        if (c->layout.tp > 0) {
            ckpd__layout_text(&c->layout, set->labels[i].text, CKPD__LABEL_LENGTH);
        } else {
            ckpd__format(set->labels[i].text, CKPD__LABEL_LENGTH, "%d GPUs", c->gpus);
        }
    }
    return CKPD_OK;
}

static int32_t finish_workload(ckpd_mode_set *set, const ckpd_task *task,
                               const ckpd__architecture *model)
{
    ckpd_workload *w = &set->workload;
    int32_t status = ckpd__task_workload(set->context, task, model, w);
    if (status != CKPD_OK) {
        return status;
    }
    double rate = set->baseline >= 0 ? set->modes.kept[set->baseline].rate : (double)NAN;
    if (ckpd__task_given(task, CKPD__TASK_TRANCHE_BASELINE_HOURS)) {
        if (set->baseline < 0) {
            return ckpd__fail(
                set->context, CKPD_ERR_MISSING, "baseline_gpus", -1, (double)NAN,
                "task '%s': tranche_baseline_hours needs a baseline (baseline_gpus or "
                "baseline_tp, _pp, _dp)",
                task->name);
        }
        w->tranche_work = rate * 3600 * task->values[CKPD__TASK_TRANCHE_BASELINE_HOURS];
        if (!set->is_table) {
            w->tranche_tokens = w->tranche_work;
            w->tranche_share = w->tranche_tokens / w->total_tokens;
            w->tranche_iterations = w->tranche_tokens / ((double)model->batch * model->sequence);
        }
    }
    w->segment_work = w->tranche_work / w->segments;
    w->baseline_hours = w->tranche_work / (3600 * rate);
    w->checkpoint_interval_min = w->segment_work / rate / 60;
    return CKPD_OK;
}

int32_t ckpd__set_finish(ckpd_mode_set *set, const ckpd_task *task, const ckpd__architecture *model,
                         bool keep_dominated)
{
    int32_t before = set->modes.kept_count;
    int32_t status = ckpd__prune(&set->modes, keep_dominated);
    if (status == CKPD_OK) {
        status = mark_running_index(set, task);
    }
    if (status == CKPD_OK) {
        set->baseline = ckpd__modes_flagged(&set->modes, CKPD_MODE_BASELINE);
        set->running = ckpd__modes_flagged(&set->modes, CKPD_MODE_RUNNING);
        status = finish_workload(set, task, model);
    }
    if (status == CKPD_OK) {
        status = make_labels(set);
    }
    if (status == CKPD_OK && before > set->modes.kept_count) {
        ckpd__log(
            set->context, CKPD_LOG_INFO, CKPD_MSG_PRUNED_MODES,
            "task '%s': %d of %d feasible modes are dominated and were dropped (keep_dominated "
            "keeps them, which can pay where energy has negative worth)",
            task->name, before - set->modes.kept_count, before);
    }
    return status;
}

/* --- questions -------------------------------------------------------------------------------- */

int32_t ckpd_mode_set_count(const ckpd_mode_set *set)
{
    CKPD__NULL_IF_FOREIGN(set, CKPD__MODE_SET);
    return set != NULL ? set->modes.kept_count : 0;
}

int32_t ckpd_mode_set_feasible_count(const ckpd_mode_set *set)
{
    CKPD__NULL_IF_FOREIGN(set, CKPD__MODE_SET);
    return set != NULL ? set->modes.feasible : 0;
}

int64_t ckpd_mode_set_layout_count(const ckpd_mode_set *set)
{
    CKPD__NULL_IF_FOREIGN(set, CKPD__MODE_SET);
    return set != NULL ? set->modes.layouts : 0;
}

int32_t ckpd_mode_set_baseline(const ckpd_mode_set *set)
{
    CKPD__NULL_IF_FOREIGN(set, CKPD__MODE_SET);
    return set != NULL ? set->baseline : -1;
}

int32_t ckpd_mode_set_running(const ckpd_mode_set *set)
{
    CKPD__NULL_IF_FOREIGN(set, CKPD__MODE_SET);
    return set != NULL ? set->running : -1;
}

double ckpd_mode_set_work(const ckpd_mode_set *set)
{
    CKPD__NULL_IF_FOREIGN(set, CKPD__MODE_SET);
    return set != NULL ? set->workload.tranche_work : (double)NAN;
}

int32_t ckpd_mode_set_workload(const ckpd_mode_set *set, ckpd_workload *out)
{
    CKPD__REFUSE_FOREIGN(NULL, set, CKPD__MODE_SET);
    if (set == NULL || out == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    return CKPD__STRUCT_OUT(NULL, workload, out, &set->workload);
}

const char *ckpd_mode_set_label(const ckpd_mode_set *set, int32_t index)
{
    CKPD__NULL_IF_FOREIGN(set, CKPD__MODE_SET);
    bool there = set != NULL && index >= 0 && index < set->modes.kept_count;
    return there ? set->labels[index].text : NULL;
}

/* A mode of which only GPUs, rate and power are known. */
static ckpd_mode bare_mode(const ckpd__layout *l, int32_t gpus, int32_t source, double rate,
                           double power)
{
    double nan = (double)NAN;
    return (ckpd_mode){.size = sizeof(ckpd_mode),
                       .tp = l->tp,
                       .pp = l->pp,
                       .dp = l->dp,
                       .micro_batch = l->micro_batch,
                       .cp = l->cp,
                       .ep = l->ep,
                       .interleave = l->interleave,
                       .recompute = l->recompute,
                       .gpus = gpus,
                       .source_index = source,
                       .rate = rate,
                       .power_kw = power,
                       .idle_power_kw = nan,
                       .iteration_s = nan,
                       .compute_s = nan,
                       .tp_s = nan,
                       .pp_s = nan,
                       .dp_s = nan,
                       .bubble_s = nan,
                       .busy_fraction = nan,
                       .mfu = nan,
                       .hfu = nan,
                       .joule_per_token = power * 1000 / rate,
                       .rate_error = nan,
                       .memory_error = nan,
                       .power_error = nan,
                       .memory_bytes = nan,
                       .memory_limit = nan,
                       .margin_bytes = nan,
                       .states_bytes = nan,
                       .activations_bytes = nan,
                       .working_bytes = nan,
                       .logits_bytes = nan,
                       .overhead_bytes = nan,
                       .evaluation_kw = nan,
                       .checkpoint_kw = nan};
}

int32_t ckpd_mode_set_get(const ckpd_mode_set *set, int32_t index, ckpd_mode *out)
{
    CKPD__REFUSE_FOREIGN(NULL, set, CKPD__MODE_SET);
    if (set == NULL || out == NULL || index < 0 || index >= set->modes.kept_count) {
        return CKPD_ERR_ARGUMENT;
    }
    const ckpd__candidate *c = &set->modes.kept[index];
    ckpd_mode mode;
    if (set->is_table) {
        mode = bare_mode(&c->layout, c->gpus, c->source, c->rate, c->power_kw);
        mode.flags = CKPD_MODE_USER;
        mode.idle_power_kw = set->idle_kw != NULL ? set->idle_kw[c->source] : (double)NAN;
    } else {
        ckpd__predict_mode(&set->predictor, &c->layout, &mode);
    }
    mode.flags |= c->flags;
    return CKPD__STRUCT_OUT(NULL, mode, out, &mode);
}

const char *ckpd_drop_name(int32_t reason)
{
    static const char *const names[] = {
        "kept",
        "tp does not divide heads, hidden and ffn, or does not fit kv_heads",
        "pp x interleave does not divide the layers, or the micro-batches come in no whole rounds",
        "dp x micro-batch does not divide the batch",
        "fewer micro-batches than pipeline stages",
        "tp exceeds the node",
        "fewer GPUs than the minimum",
        "more GPUs than installed",
        "does not fit the memory",
        "dominated",
        "equal to another mode",
        "cp does not divide the sequence",
        "ep does not divide experts and dp",
    };
    return reason >= 0 && reason < (int32_t)(sizeof names / sizeof *names) ? names[reason]
                                                                           : "unknown";
}

int32_t ckpd_mode_set_dropped_count(const ckpd_mode_set *set)
{
    CKPD__NULL_IF_FOREIGN(set, CKPD__MODE_SET);
    return set != NULL ? set->modes.dropped_count : 0;
}

void ckpd__set_dropped_text(const ckpd_mode_set *set, const ckpd__dropped *d, char *text,
                            size_t size)
{
    const ckpd__architecture *m = &set->predictor.model;
    const ckpd__layout *l = &d->layout;
    switch (d->reason) {
    case CKPD_DROP_TENSOR:
        ckpd__format(text, size, "tp %d does not fit %d heads, %d kv heads, hidden %d, ffn %d",
                     l->tp, m->heads, m->kv_heads, m->hidden, m->ffn);
        break;
    case CKPD_DROP_PIPELINE:
        /* interleave 0: refused for pp alone, which uneven stages could have let pass */
        ckpd__format(
            text, size, "pp %d x interleave %d does not fit %d layers and the batch%s", l->pp,
            l->interleave > 0 ? l->interleave : 1, m->layers,
            l->interleave == 0 && l->pp <= m->layers + 2 ? " (but would with uneven_stages)" : "");
        break;
    case CKPD_DROP_BATCH:
    case CKPD_DROP_FILL:
        ckpd__format(text, size,
                     "dp %d x micro-batch %d gives %g micro-batches of a batch of %d for %d stages",
                     l->dp, l->micro_batch, (double)m->batch / ((double)l->dp * l->micro_batch),
                     m->batch, l->pp);
        break;
    case CKPD_DROP_NODE:
        ckpd__format(text, size, "tp %d exceeds a node of %g GPUs", l->tp,
                     set->predictor.hw[CKPD__HW_NODE_GPUS]);
        break;
    case CKPD_DROP_MEMORY:
        ckpd__format(text, size, "%g GB of memory are missing (usable %g GB)",
                     ceil(d->missing_bytes / 1e7) / 100, set->predictor.memory_limit / 1e9);
        break;
    case CKPD_DROP_DOMINATED:
    case CKPD_DROP_EQUAL:
        ckpd__format(text, size, d->reason == CKPD_DROP_EQUAL ? "equal to %s" : "dominated by %s",
                     set->labels[d->by].text);
        break;
    case CKPD_DROP_FEW_GPUS:
    case CKPD_DROP_MANY_GPUS:
        ckpd__format(text, size, "%d GPUs: %s", d->gpus, ckpd_drop_name(d->reason));
        break;
    default:
        ckpd__format(text, size, "%s", ckpd_drop_name(d->reason));
        break;
    }
}

int32_t ckpd_mode_set_dropped_get(const ckpd_mode_set *set, int32_t index, ckpd_mode *out,
                                  int32_t *reason, char *text, size_t size)
{
    CKPD__REFUSE_FOREIGN(NULL, set, CKPD__MODE_SET);
    if (set == NULL || index < 0 || index >= set->modes.dropped_count ||
        (text == NULL && size > 0)) {
        return CKPD_ERR_ARGUMENT;
    }
    const ckpd__dropped *d = &set->modes.dropped[index];
    if (out != NULL) {
        ckpd_mode mode;
        bool whole = d->reason == CKPD_DROP_MEMORY || d->reason == CKPD_DROP_DOMINATED ||
                     d->reason == CKPD_DROP_EQUAL;
        if (whole && !set->is_table) {
            ckpd__predict_mode(&set->predictor, &d->layout, &mode);
        } else {
            mode = bare_mode(&d->layout, d->gpus, d->source, d->rate, d->power_kw);
        }
        int32_t status = CKPD__STRUCT_OUT(NULL, mode, out, &mode);
        if (status != CKPD_OK) {
            return status;
        }
    }
    if (reason != NULL) {
        *reason = d->reason;
    }
    if (size > 0) {
        ckpd__set_dropped_text(set, d, text, size);
    }
    return CKPD_OK;
}
