/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Inference task types: tables over batch size and an optional second axis. */
#include "shape/shape.h"

#include <math.h>
#include <string.h>

static const ckpd__field filler_field[FILLER_FIELDS] = {
    {"gpus_per_replica", "", "GPUs that serve one model replica", CKPD_FIELD_INTEGER, 0, 1.0, 1e6,
     1.0, NULL},
    {"queue_groups", "", "groups of work that wait when an event begins", CKPD_FIELD_INTEGER, 0,
     0.0, 1e9, 1e6, NULL},
    {"up_s", "s", "linear rise to full power", CKPD_FIELD_NUMBER, 0, 0.0, 60.0, 0.6, NULL},
    {"down_s", "s", "linear fall at the end", CKPD_FIELD_NUMBER, 0, 0.0, 60.0, 0.1, NULL},
    {"prefill_factor", "", "power in the prefill phase over table power", CKPD_FIELD_NUMBER, 0, 0.0,
     10.0, 1.0, NULL},
    {"prefill_s", "s", "length of the prefill phase after the rise", CKPD_FIELD_NUMBER, 0, 0.0,
     600.0, 0.0, NULL},
    {"tail_share", "", "last share of the duration, in which requests finish one by one",
     CKPD_FIELD_NUMBER, 0, 0.0, 1.0, 0.12, NULL},
    {"tail_level", "", "share of full power at the end of the tail", CKPD_FIELD_NUMBER, 0, 0.0, 1.0,
     0.6, NULL},
    {"tokens_per_request", "", "mean output tokens; 0 for work that is not counted in tokens",
     CKPD_FIELD_NUMBER, 0, 0.0, 1e9, 0.0, NULL},
    {"idle_w_per_gpu", "W", "idle power when it differs from the pool's", CKPD_FIELD_NUMBER, 0, 0.0,
     1e5, NAN, NULL},
    {"axis_value", "", "value on the second axis of the table", CKPD_FIELD_NUMBER, 0, -1e12, 1e12,
     NAN, NULL},
};
const ckpd__field_table ckpd__filler_fields = {"filler", filler_field, FILLER_FIELDS};

int32_t ckpd_filler_new(ckpd_filler **out, ckpd_context *context, const char *name)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (out == NULL || context == NULL || name == NULL) {
        return context == NULL ? CKPD_ERR_ARGUMENT
                               : ckpd__null_argument(context, out == NULL ? "out" : "name");
    }
    if (name[0] == '\0' || strlen(name) > 63) {
        return ckpd__fail(context, CKPD_ERR_ARGUMENT, "name", -1, (double)strlen(name),
                          "filler: a name has 1 to 63 bytes, not %z", strlen(name));
    }
    ckpd_filler *filler = ckpd__calloc(context, 1, sizeof *filler);
    if (filler == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(filler, CKPD__FILLER, context);
    filler->name = ckpd__strdup(context, name);
    if (filler->name == NULL) {
        ckpd_filler_free(filler);
        return ckpd__no_memory(context);
    }
    ckpd__fields_defaults(&ckpd__filler_fields, filler->values);
    *out = filler;
    return CKPD_OK;
}

static void free_table(ckpd_filler *filler)
{
    ckpd__free(filler->context, filler->batch);
    ckpd__free(filler->context, filler->axis);
    ckpd__free(filler->context, filler->power_w);
    ckpd__free(filler->context, filler->duration_s);
}

void ckpd_filler_free(ckpd_filler *filler)
{
    CKPD__NULL_IF_FOREIGN(filler, CKPD__FILLER);
    if (filler == NULL) {
        return;
    }
    ckpd_context *context = filler->context;
    free_table(filler);
    ckpd__free(context, filler->planned);
    ckpd__free(context, filler->name);
    ckpd__handle_end(filler);
}

const char *ckpd_filler_name(const ckpd_filler *filler)
{
    CKPD__NULL_IF_FOREIGN(filler, CKPD__FILLER);
    return filler == NULL ? NULL : filler->name;
}

int32_t ckpd_filler_set(ckpd_filler *filler, const char *field, double value)
{
    CKPD__REFUSE_FOREIGN(NULL, filler, CKPD__FILLER);
    return filler == NULL ? CKPD_ERR_ARGUMENT
                          : ckpd__fields_set(filler->context, &ckpd__filler_fields, filler->values,
                                             field, value);
}

int32_t ckpd_filler_get(const ckpd_filler *filler, const char *field, double *value)
{
    CKPD__REFUSE_FOREIGN(NULL, filler, CKPD__FILLER);
    return filler == NULL ? CKPD_ERR_ARGUMENT
                          : ckpd__fields_get(filler->context, &ckpd__filler_fields, filler->values,
                                             field, value);
}

int32_t ckpd_filler_field_count(void)
{
    return FILLER_FIELDS;
}

int32_t ckpd_filler_field_info(int32_t index, ckpd_field_info *out)
{
    return ckpd__fields_info(NULL, &ckpd__filler_fields, index, out);
}

static int32_t check_table(const ckpd_filler *filler, int32_t batches, const int32_t *batch,
                           int32_t axes, const double *axis, const double *power_w,
                           const double *duration_s)
{
    ckpd_context *context = filler->context;
    if (batch == NULL || power_w == NULL || duration_s == NULL || (axis == NULL && axes != 1)) {
        return ckpd__null_argument(context, batch == NULL        ? "batch"
                                            : power_w == NULL    ? "power_w"
                                            : duration_s == NULL ? "duration_s"
                                                                 : "axis");
    }
    if (batches < 1 || batches > 1024 || axes < 1 || axes > 1024) {
        return ckpd__fail(context, CKPD_ERR_LENGTH, "table", -1, (double)batches,
                          "filler %s: a table has 1 to 1024 batches and axis values, not %d and %d",
                          filler->name, batches, axes);
    }
    for (int32_t i = 0; i < batches; i++) {
        if (batch[i] < 1 || (i > 0 && batch[i] <= batch[i - 1])) {
            return ckpd__fail(context, batch[i] < 1 ? CKPD_ERR_RANGE : CKPD_ERR_INCONSISTENT,
                              "batch", i, (double)batch[i],
                              "filler %s: batches must be at least 1 and ascend, row %d has %d",
                              filler->name, i, batch[i]);
        }
    }
    for (int32_t i = 0; axis != NULL && i < axes; i++) {
        int32_t status = ckpd__check_finite(context, "axis", i, axis[i]);
        if (status != CKPD_OK) {
            return status;
        }
        if (i > 0 && axis[i] <= axis[i - 1]) {
            return ckpd__fail(context, CKPD_ERR_INCONSISTENT, "axis", i, axis[i],
                              "filler %s: axis values must ascend, value %d is %g", filler->name, i,
                              axis[i]);
        }
    }
    int32_t status =
        ckpd__check_series(context, "power_w", power_w, (int64_t)batches * axes, 0.0, 1e6);
    return status != CKPD_OK ? status
                             : ckpd__check_series(context, "duration_s", duration_s,
                                                  (int64_t)batches * axes, 1e-3, 86400.0);
}

int32_t ckpd_filler_set_table(ckpd_filler *filler, int32_t batches, const int32_t *batch,
                              int32_t axes, const double *axis, const double *power_w,
                              const double *duration_s)
{
    CKPD__REFUSE_FOREIGN(NULL, filler, CKPD__FILLER);
    if (filler == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = filler->context;
    int32_t status = check_table(filler, batches, batch, axes, axis, power_w, duration_s);
    if (status != CKPD_OK) {
        return status;
    }
    size_t cells = (size_t)batches * (size_t)axes;
    static const double origin = 0.0;
    ckpd_filler made = *filler;
    made.batch = ckpd__memdup(context, batch, (size_t)batches, sizeof *batch);
    made.axis = ckpd__memdup(context, axis == NULL ? &origin : axis, (size_t)axes, sizeof *axis);
    made.power_w = ckpd__memdup(context, power_w, cells, sizeof *power_w);
    made.duration_s = ckpd__memdup(context, duration_s, cells, sizeof *duration_s);
    if (made.batch == NULL || made.axis == NULL || made.power_w == NULL ||
        made.duration_s == NULL) {
        free_table(&made);
        return ckpd__no_memory(context);
    }
    free_table(filler);
    *filler = made;
    filler->batches = batches;
    filler->axes = axes;
    ckpd__free(context, filler->planned); /* named rows of the old table */
    filler->planned = NULL;
    filler->planned_count = 0;
    return CKPD_OK;
}

static int32_t no_table(const ckpd_filler *filler)
{
    return ckpd__fail(filler->context, CKPD_ERR_MISSING, "table", -1, (double)NAN,
                      "filler %s has no table", filler->name);
}

int32_t ckpd_filler_set_planned(ckpd_filler *filler, int32_t count, const int32_t *batch)
{
    CKPD__REFUSE_FOREIGN(NULL, filler, CKPD__FILLER);
    if (filler == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = filler->context;
    if (filler->batches == 0) {
        return no_table(filler);
    }
    if (count < 0) {
        return ckpd__fail(context, CKPD_ERR_RANGE, "count", -1, (double)count,
                          "filler %s: %d planned batches", filler->name, count);
    }
    if (count > 0 && batch == NULL) {
        return ckpd__null_argument(context, "batch");
    }
    for (int32_t i = 0; i < count; i++) {
        int32_t row = 0;
        while (row < filler->batches && filler->batch[row] != batch[i]) {
            row++;
        }
        if (row == filler->batches) {
            return ckpd__fail(context, CKPD_ERR_RANGE, "planned", i, (double)batch[i],
                              "filler %s: batch %d is not a row of its table", filler->name,
                              batch[i]);
        }
        for (int32_t j = 0; j < i; j++) {
            if (batch[j] == batch[i]) {
                return ckpd__fail(context, CKPD_ERR_DUPLICATE, "planned", i, (double)batch[i],
                                  "filler %s: batch %d is named twice", filler->name, batch[i]);
            }
        }
    }
    int32_t *planned = NULL;
    if (count > 0) {
        planned = ckpd__memdup(context, batch, (size_t)count, sizeof *batch);
        if (planned == NULL) {
            return ckpd__no_memory(context);
        }
    }
    ckpd__free(context, filler->planned);
    filler->planned = planned;
    filler->planned_count = count;
    return CKPD_OK;
}

/* Where axis_value lies: lower table and weight of the next. */
static void place_on_axis(const ckpd_filler *filler, int32_t *low, double *weight)
{
    double at = filler->values[FILLER_AXIS_VALUE];
    *low = 0;
    *weight = 0.0;
    if (isnan(at) || filler->axes < 2) {
        return;
    }
    while (*low < filler->axes - 2 && at > filler->axis[*low + 1]) {
        (*low)++;
    }
    *weight = (at - filler->axis[*low]) / (filler->axis[*low + 1] - filler->axis[*low]);
}

int32_t ckpd__filler_check_axis(const ckpd_filler *filler)
{
    double at = filler->values[FILLER_AXIS_VALUE];
    if (filler->axes < 2) {
        return CKPD_OK;
    }
    if (isnan(at)) {
        return ckpd__fail(filler->context, CKPD_ERR_MISSING, "axis_value", -1, at,
                          "filler %s: its table has %d axis values, so axis_value is needed",
                          filler->name, filler->axes);
    }
    double least = filler->axis[0], most = filler->axis[filler->axes - 1];
    if (at < least || at > most) {
        return ckpd__fail(filler->context, CKPD_ERR_RANGE, "axis_value", -1, at,
                          "filler %s: axis_value %g is outside its table, %g to %g", filler->name,
                          at, least, most);
    }
    return CKPD_OK;
}

void ckpd__filler_row(const ckpd_filler *filler, int32_t row, double *power_w, double *duration_s)
{
    int32_t low;
    double weight;
    place_on_axis(filler, &low, &weight);
    size_t at = (size_t)low * (size_t)filler->batches + (size_t)row;
    size_t next = weight > 0.0 ? at + (size_t)filler->batches : at;
    *power_w = filler->power_w[at] + weight * (filler->power_w[next] - filler->power_w[at]);
    *duration_s =
        filler->duration_s[at] + weight * (filler->duration_s[next] - filler->duration_s[at]);
}

int32_t ckpd_filler_at(const ckpd_filler *filler, double batch, double *power_w, double *duration_s)
{
    CKPD__REFUSE_FOREIGN(NULL, filler, CKPD__FILLER);
    if (filler == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (filler->batches == 0) {
        return no_table(filler);
    }
    int32_t status = ckpd__filler_check_axis(filler);
    if (status != CKPD_OK) {
        return status;
    }
    double least = (double)filler->batch[0], most = (double)filler->batch[filler->batches - 1];
    if (!(batch >= least && batch <= most)) {
        return ckpd__fail(filler->context, CKPD_ERR_RANGE, "batch", -1, batch,
                          "filler %s: batch %g is outside its table, %g to %g", filler->name, batch,
                          least, most);
    }
    int32_t row = 0;
    while (row < filler->batches - 2 && batch > (double)filler->batch[row + 1]) {
        row++;
    }
    double power, duration, weight = 0.0;
    ckpd__filler_row(filler, row, &power, &duration);
    if (filler->batches > 1) {
        weight = log2(batch / (double)filler->batch[row]) /
                 log2((double)filler->batch[row + 1] / (double)filler->batch[row]);
        double power_next, duration_next;
        ckpd__filler_row(filler, row + 1, &power_next, &duration_next);
        power += weight * (power_next - power);
        duration += weight * (duration_next - duration);
    }
    if (power_w != NULL) {
        *power_w = power;
    }
    if (duration_s != NULL) {
        *duration_s = duration;
    }
    return CKPD_OK;
}

int32_t ckpd__filler_copy(ckpd_filler **out, ckpd_context *context, const ckpd_filler *filler)
{
    ckpd_filler *copy;
    int32_t status = ckpd_filler_new(&copy, context, filler->name);
    if (status != CKPD_OK) {
        return status;
    }
    memcpy(copy->values, filler->values, sizeof copy->values);
    if (filler->batches > 0) {
        status = ckpd_filler_set_table(copy, filler->batches, filler->batch, filler->axes,
                                       filler->axis, filler->power_w, filler->duration_s);
        if (status == CKPD_OK) {
            status = ckpd_filler_set_planned(copy, filler->planned_count, filler->planned);
        }
    }
    if (status != CKPD_OK) {
        ckpd_filler_free(copy);
        return status;
    }
    *out = copy;
    return CKPD_OK;
}
