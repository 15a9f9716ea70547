/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "io/shape_table.h"

#include <math.h>

static bool same_axis(const ckpd__table_row *a, const ckpd__table_row *b)
{
    return a->axis == b->axis || (isnan(a->axis) && isnan(b->axis));
}

/* Every axis value has the batches of the first. */
static int32_t check_grid(ckpd_context *context, const char *name, const ckpd__table_row *rows,
                          int32_t count, int32_t batches)
{
    for (int32_t i = 0; i < count; i++) {
        if (isnan(rows[i].axis) != isnan(rows[0].axis)) {
            return ckpd__fail(
                context, CKPD_ERR_INCONSISTENT, "axis", i, rows[i].axis,
                "filler %s: row %d of the table has %s value on the second axis, row 0 "
                "has %s",
                name, i, isnan(rows[i].axis) ? "no" : "a", isnan(rows[0].axis) ? "none" : "one");
        }
        if (rows[i].batch != rows[i % batches].batch ||
            !same_axis(&rows[i], &rows[i - i % batches])) {
            return ckpd__fail(context, CKPD_ERR_INCONSISTENT, "batch", i, (double)rows[i].batch,
                              "filler %s: row %d of the table: each value on the second axis needs "
                              "the same %d batches in the same order",
                              name, i, batches);
        }
    }
    return count % batches == 0
               ? CKPD_OK
               : ckpd__fail(
                     context, CKPD_ERR_INCONSISTENT, "table", count, rows[count - 1].axis,
                     "filler %s: the last value on the second axis, %g, has %d of %d batches", name,
                     rows[count - 1].axis, count % batches, batches);
}

int32_t ckpd__table_rows_set(ckpd_context *context, ckpd_filler *filler,
                             const ckpd__table_row *rows, int32_t count)
{
    int32_t batches = 0;
    while (batches < count && same_axis(&rows[batches], &rows[0])) {
        batches++;
    }
    int32_t status =
        count > 0 ? check_grid(context, ckpd_filler_name(filler), rows, count, batches) : CKPD_OK;
    if (status != CKPD_OK) {
        return status;
    }
    int32_t axes = count / batches;
    int32_t *batch = ckpd__calloc(context, (size_t)batches, sizeof *batch);
    double *axis = ckpd__calloc(context, (size_t)axes, sizeof *axis);
    double *power_w = ckpd__calloc(context, (size_t)count, sizeof *power_w);
    double *duration_s = ckpd__calloc(context, (size_t)count, sizeof *duration_s);
    if (batch == NULL || axis == NULL || power_w == NULL || duration_s == NULL) {
        status = ckpd__no_memory(context);
    }
    for (int32_t i = 0; status == CKPD_OK && i < count; i++) {
        batch[i % batches] = rows[i].batch;
        axis[i / batches] = rows[i].axis;
        power_w[i] = rows[i].power_w;
        duration_s[i] = rows[i].duration_s;
    }
    if (status == CKPD_OK) {
        bool second = !isnan(rows[0].axis);
        status = ckpd_filler_set_table(filler, batches, batch, axes, second ? axis : NULL, power_w,
                                       duration_s);
    }
    ckpd__free(context, batch);
    ckpd__free(context, axis);
    ckpd__free(context, power_w);
    ckpd__free(context, duration_s);
    return status;
}
