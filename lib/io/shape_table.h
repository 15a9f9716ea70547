/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Tables of filler types as rows, from JSON and CSV. */
#ifndef CKPD_LIB_IO_SHAPE_TABLE_H
#define CKPD_LIB_IO_SHAPE_TABLE_H

#include "base/base.h"

#include <ckptdispatch/shape.h>

typedef struct ckpd__table_row {
    double axis; /* NaN: the table has no second axis */
    double power_w, duration_s;
    int32_t batch;
} ckpd__table_row;

/* Gives the rows (one at least), in order of axis and then of batch, to a filler; refuses
 * incomplete grids. */
int32_t ckpd__table_rows_set(ckpd_context *context, ckpd_filler *filler,
                             const ckpd__table_row *rows, int32_t count);

#endif
