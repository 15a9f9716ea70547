/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What checkpoints, restarts and mode changes cost (docs/modes.md, "Checkpoints"). */
#include "modes/modes.h"

#include <math.h>

enum {
    BYTES_PER_PARAMETER,
    STATE_GB,
    SAVE_GB_PER_S,
    LOAD_GB_PER_S,
    SAVE_KIND,
    ASYNCHRONOUS_STALL_S,
    DIFFERENTIAL_SHARE,
    DIFFERENTIAL_PER_FULL,
    DIFFERENTIAL_STALL_S,
    DIFFERENTIAL_SLOWDOWN,
    RESTART_S,
    RESHARD_READS,
    CONVERSION_S,
    CHANGE_MONEY,
    FAILURES_PER_GPU_HOUR,
    FIELDS
};
enum { SYNCHRONOUS, ASYNCHRONOUS, DIFFERENTIAL };

#define NUMBER(name, unit, low, high, normal, doc)                     \
    {                                                                  \
        name, unit, doc, CKPD_FIELD_NUMBER, 0, low, high, normal, NULL \
    }

static const ckpd__field fields[FIELDS] = {
    [BYTES_PER_PARAMETER] =
        NUMBER("bytes_per_parameter", "B", 0.1, 100, 14,
               "saved bytes a parameter: 16-bit weight, 32-bit master weight, two moments"),
    [STATE_GB] = NUMBER("state_gb", "GB", 1e-9, 1e9, NAN,
                        "size of a full checkpoint; default: parameters x bytes_per_parameter"),
    [SAVE_GB_PER_S] = NUMBER("save_gb_per_s", "GB/s", 1e-6, 1e6, 57,
                             "rate at which the whole job writes a checkpoint"),
    [LOAD_GB_PER_S] = NUMBER("load_gb_per_s", "GB/s", 1e-6, 1e6, 57,
                             "rate at which the whole job reads a checkpoint"),
    [SAVE_KIND] = {"save_kind", "",
                   "training waits for the write, for a copy only, or saves differences",
                   CKPD_FIELD_CHOICE, 0, 0, 2, SYNCHRONOUS,
                   "synchronous|asynchronous|differential"},
    [ASYNCHRONOUS_STALL_S] =
        NUMBER("asynchronous_stall_s", "s", 0, 1e6, 6, "wait at an asynchronous save"),
    [DIFFERENTIAL_SHARE] = NUMBER("differential_share", "", 0, 1, 0.1,
                                  "bytes of a differential save over those of a full one"),
    [DIFFERENTIAL_PER_FULL] = {"differential_per_full", "",
                               "differential saves after each full one", CKPD_FIELD_INTEGER, 0, 0,
                               1e6, 10, NULL},
    [DIFFERENTIAL_STALL_S] =
        NUMBER("differential_stall_s", "s", 0, 1e6, 0.5, "wait at a differential save"),
    [DIFFERENTIAL_SLOWDOWN] = NUMBER("differential_slowdown", "", 0, 1, 0.03,
                                     "share of training time lost while differences are gathered"),
    [RESTART_S] = NUMBER("restart_s", "s", 0, 1e6, 210,
                         "from a stopped job to its first iteration, one load included"),
    [RESHARD_READS] = NUMBER("reshard_reads", "", 0, 100, 1,
                             "further reads of the state when its layout changes"),
    [CONVERSION_S] = NUMBER("conversion_s", "s", 0, 1e6, 0,
                            "conversion beside the cluster when the layout changes"),
    [CHANGE_MONEY] = NUMBER("change_money", "money", 0, 1e15, 0, "price of one change of mode"),
    [FAILURES_PER_GPU_HOUR] = NUMBER("failures_per_gpu_hour", "1/h", 0, 1, 2e-5,
                                     "failures that stop the job, for each GPU and hour"),
};

static const ckpd__field_table table = {"checkpoint", fields, FIELDS};

struct ckpd_checkpoint {
    CKPD__HANDLE;
    double values[FIELDS];
};

int32_t ckpd_checkpoint_new(ckpd_checkpoint **out, ckpd_context *context)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL) {
        return ckpd__null_argument(context, "out");
    }
    ckpd_checkpoint *checkpoint = ckpd__calloc(context, 1, sizeof *checkpoint);
    if (checkpoint == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(checkpoint, CKPD__CHECKPOINT, context);
    ckpd__fields_defaults(&table, checkpoint->values);
    *out = checkpoint;
    return CKPD_OK;
}

void ckpd_checkpoint_free(ckpd_checkpoint *checkpoint)
{
    CKPD__NULL_IF_FOREIGN(checkpoint, CKPD__CHECKPOINT);
    if (checkpoint != NULL) {
        ckpd__handle_end(checkpoint);
    }
}

int32_t ckpd_checkpoint_set(ckpd_checkpoint *c, const char *field, double value)
{
    CKPD__REFUSE_FOREIGN(NULL, c, CKPD__CHECKPOINT);
    return c == NULL ? CKPD_ERR_ARGUMENT
                     : ckpd__fields_set(c->context, &table, c->values, field, value);
}

int32_t ckpd_checkpoint_set_text(ckpd_checkpoint *c, const char *field, const char *text)
{
    CKPD__REFUSE_FOREIGN(NULL, c, CKPD__CHECKPOINT);
    return c == NULL ? CKPD_ERR_ARGUMENT
                     : ckpd__fields_set_text(c->context, &table, c->values, field, text);
}

int32_t ckpd_checkpoint_get(const ckpd_checkpoint *c, const char *field, double *value)
{
    CKPD__REFUSE_FOREIGN(NULL, c, CKPD__CHECKPOINT);
    return c == NULL ? CKPD_ERR_ARGUMENT
                     : ckpd__fields_get(c->context, &table, c->values, field, value);
}

int32_t ckpd_checkpoint_get_text(const ckpd_checkpoint *c, const char *field, char *buffer,
                                 size_t size)
{
    CKPD__REFUSE_FOREIGN(NULL, c, CKPD__CHECKPOINT);
    return c == NULL ? CKPD_ERR_ARGUMENT
                     : ckpd__fields_get_text(c->context, &table, c->values, field, buffer, size);
}

int32_t ckpd_checkpoint_unset(ckpd_checkpoint *c, const char *field)
{
    CKPD__REFUSE_FOREIGN(NULL, c, CKPD__CHECKPOINT);
    return c == NULL ? CKPD_ERR_ARGUMENT : ckpd__fields_unset(c->context, &table, c->values, field);
}

int32_t ckpd_checkpoint_field_count(void)
{
    return table.count;
}

int32_t ckpd_checkpoint_field_info(int32_t index, ckpd_field_info *out)
{
    return ckpd__fields_info(NULL, &table, index, out);
}

/* --- costs
 * ---------------------------------------------------------------------------------------- */

static int32_t state_bytes(const ckpd_checkpoint *c, const ckpd_mode_set *set, double *bytes)
{
    double given = c->values[STATE_GB] * 1e9;
    double counted = set->workload.parameters * c->values[BYTES_PER_PARAMETER];
    *bytes = isnan(given) ? counted : given;
    if (isnan(*bytes)) {
        return ckpd__fail(c->context, CKPD_ERR_MISSING, "state_gb", -1, (double)NAN,
                          "checkpoint: state_gb is missing, and the task has no architecture");
    }
    return CKPD_OK;
}

static int32_t check_mode(const ckpd_checkpoint *c, const ckpd_mode_set *set, const char *name,
                          int32_t mode, int32_t least)
{
    return ckpd__check_range(c->context, name, -1, mode, least, set->modes.kept_count - 1);
}

/* Daly 2006, FGCS 22(3), eq. 37; Young 1974, CACM 17(9), is its first term. */
static double daly_interval(double stall, double mtbf)
{
    if (stall == 0 || isinf(mtbf)) {
        return stall == 0 ? 0 : INFINITY;
    }
    if (stall >= 2 * mtbf) {
        return mtbf;
    }
    double ratio = stall / (2 * mtbf);
    return sqrt(2 * stall * mtbf) * (1 + sqrt(ratio) / 3 + ratio / 9) - stall;
}

static void save_cost(const ckpd_checkpoint *c, double bytes, ckpd_checkpoint_cost *out)
{
    const double *v = c->values;
    double full_write = bytes / (v[SAVE_GB_PER_S] * 1e9);
    out->full_bytes = out->save_bytes = bytes;
    switch ((int32_t)v[SAVE_KIND]) {
    case SYNCHRONOUS:
        out->stall_s = full_write;
        break;
    case ASYNCHRONOUS:
        out->stall_s = fmin(v[ASYNCHRONOUS_STALL_S], full_write);
        break;
    default: {
        double saves = 1 + v[DIFFERENTIAL_PER_FULL],
               full = fmin(v[ASYNCHRONOUS_STALL_S], full_write);
        out->save_bytes = bytes * (1 + v[DIFFERENTIAL_PER_FULL] * v[DIFFERENTIAL_SHARE]) / saves;
        out->stall_s = (full + v[DIFFERENTIAL_PER_FULL] * v[DIFFERENTIAL_STALL_S]) / saves;
        break;
    }
    }
    out->write_s = out->save_bytes / (v[SAVE_GB_PER_S] * 1e9);
}

int32_t ckpd_checkpoint_evaluate(const ckpd_checkpoint *c, const ckpd_mode_set *set, int32_t mode,
                                 double interval_h, ckpd_checkpoint_cost *out)
{
    CKPD__REFUSE_FOREIGN(NULL, c, CKPD__CHECKPOINT);
    CKPD__REFUSE_FOREIGN(c, set, CKPD__MODE_SET);
    if (c == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (set == NULL || out == NULL) {
        return ckpd__null_argument(c->context, set == NULL ? "set" : "out");
    }
    double bytes = 0;
    int32_t status = check_mode(c, set, "mode", mode, 0);
    if (status == CKPD_OK) {
        status = ckpd__check_range(c->context, "interval_h", -1, interval_h, 0, 1e9);
    }
    if (status == CKPD_OK) {
        status = state_bytes(c, set, &bytes);
    }
    if (status != CKPD_OK) {
        return status;
    }
    const ckpd__candidate *m = &set->modes.kept[mode];
    ckpd_checkpoint_cost cost = {.size = sizeof cost};
    ckpd_mode whole = {.size = sizeof whole};
    ckpd_mode_set_get(set, mode, &whole);
    save_cost(c, bytes, &cost);
    double segment_h = set->workload.segment_work / m->rate / 3600;
    double slowdown =
        (int32_t)c->values[SAVE_KIND] == DIFFERENTIAL ? c->values[DIFFERENTIAL_SLOWDOWN] : 0;
    cost.interval_h = interval_h > 0 ? interval_h : segment_h;
    cost.saves = set->workload.segments * segment_h / cost.interval_h;
    cost.stall_share = cost.stall_s / 3600 / (cost.interval_h + cost.stall_s / 3600) + slowdown;
    double waiting = isnan(whole.checkpoint_kw) ? m->power_kw : whole.checkpoint_kw;
    cost.stall_kwh = cost.stall_s / 3600 * waiting;
    cost.mtbf_h = 1 / (c->values[FAILURES_PER_GPU_HOUR] * m->gpus);
    cost.lost_share = (cost.interval_h / 2 + c->values[RESTART_S] / 3600) / cost.mtbf_h;
    cost.young_h = cost.stall_s == 0 ? 0 : sqrt(2 * cost.stall_s / 3600 * cost.mtbf_h);
    cost.daly_h = daly_interval(cost.stall_s / 3600, cost.mtbf_h);
    return CKPD__STRUCT_OUT(c->context, checkpoint_cost, out, &cost);
}

static int32_t kind_of(const ckpd__candidate *from, const ckpd__candidate *to)
{
    const ckpd__layout *a = &from->layout, *b = &to->layout;
    if (a->tp == 0 || b->tp == 0) {
        return from->gpus == to->gpus ? CKPD_CHANGE_NONE : CKPD_CHANGE_LAYOUT;
    }
    if (a->tp != b->tp || a->pp != b->pp || a->cp != b->cp || a->ep != b->ep ||
        a->interleave != b->interleave) {
        return CKPD_CHANGE_LAYOUT;
    }
    return a->dp != b->dp ? CKPD_CHANGE_DP : CKPD_CHANGE_NONE;
}

int32_t ckpd_checkpoint_change(const ckpd_checkpoint *c, const ckpd_mode_set *set, int32_t from,
                               int32_t to, ckpd_change_cost *out)
{
    CKPD__REFUSE_FOREIGN(NULL, c, CKPD__CHECKPOINT);
    CKPD__REFUSE_FOREIGN(c, set, CKPD__MODE_SET);
    if (c == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (set == NULL || out == NULL) {
        return ckpd__null_argument(c->context, set == NULL ? "set" : "out");
    }
    int32_t status = check_mode(c, set, "from", from, -1);
    if (status == CKPD_OK) {
        status = check_mode(c, set, "to", to, 0);
    }
    if (status != CKPD_OK) {
        return status;
    }
    const ckpd__candidate *old = from >= 0 ? &set->modes.kept[from] : NULL,
                          *new = &set->modes.kept[to];
    ckpd_change_cost cost = {.size = sizeof cost};
    cost.kind = old != NULL ? kind_of(old, new) : CKPD_CHANGE_NONE;
    double seconds = c->values[RESTART_S];
    if (cost.kind == CKPD_CHANGE_LAYOUT) {
        double bytes = 0;
        status = c->values[RESHARD_READS] > 0 ? state_bytes(c, set, &bytes) : CKPD_OK;
        if (status != CKPD_OK) {
            return status;
        }
        seconds += c->values[RESHARD_READS] * bytes / (c->values[LOAD_GB_PER_S] * 1e9) +
                   c->values[CONVERSION_S];
    }
    ckpd_mode mode = {.size = sizeof mode};
    ckpd_mode_set_get(set, to, &mode);
    cost.hours = seconds / 3600;
    cost.energy_kwh = cost.hours * (isnan(mode.idle_power_kw) ? mode.power_kw : mode.idle_power_kw);
    cost.money = from >= 0 && from != to ? c->values[CHANGE_MONEY] : 0;
    return CKPD__STRUCT_OUT(c->context, change_cost, out, &cost);
}
