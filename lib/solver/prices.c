/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Prices of a solve, kept for the next one. */
#include "solver/solver.h"

#include <string.h>

enum { MOST_PRICES = 1 << 22 }; /* more than that is not worth the memory of every solution */

bool ckpd__prices_new(ckpd_context *context, ckpd__prices *out, int32_t slots, int32_t activities)
{
    size_t T = (size_t)slots, A = (size_t)activities, numbers = A + A * T + 3 * T;
    double *block = ckpd__calloc(context, numbers + A + 1, sizeof *block);
    *out = (ckpd__prices){.block = block};
    if (block == NULL) {
        return false;
    }
    out->power_kw = block;
    out->price = block + A;
    out->load_price = out->price + A * T;
    out->gpu_price = out->load_price + T;
    out->storage_worth = out->gpu_price + T;
    out->job = (int32_t *)(void *)(block + numbers);
    out->gpus = out->job + A;
    out->view = (ckpd_path_prices){.size = sizeof out->view,
                                   .slots = slots,
                                   .activities = activities,
                                   .job = out->job,
                                   .gpus = out->gpus,
                                   .power_kw = out->power_kw,
                                   .price = out->price,
                                   .load_price = out->load_price,
                                   .gpu_price = out->gpu_price,
                                   .storage_worth = out->storage_worth};
    return true;
}

static void copy_series(double *to, const double **view, const double *from, size_t count)
{
    if (from == NULL) {
        *view = NULL;
    } else {
        memcpy(to, from, count * sizeof *to);
    }
}

int32_t ckpd__prices_copy(ckpd_context *context, ckpd__prices *to, const ckpd_path_prices *from)
{
    ckpd__prices_free(context, to);
    int32_t status = ckpd__prices_check(NULL, from);
    if (status != CKPD_OK) {
        return status;
    }
    size_t T = (size_t)from->slots,
           A = T * (size_t)from->activities <= MOST_PRICES ? (size_t)from->activities : 0;
    if (!ckpd__prices_new(context, to, from->slots, (int32_t)A)) {
        return CKPD_ERR_NO_MEMORY;
    }
    if (A > 0) {
        memcpy(to->job, from->job, A * sizeof *to->job);
        memcpy(to->gpus, from->gpus, A * sizeof *to->gpus);
        memcpy(to->power_kw, from->power_kw, A * sizeof *to->power_kw);
        memcpy(to->price, from->price, A * T * sizeof *to->price);
    }
    copy_series(to->load_price, &to->view.load_price, from->load_price, T);
    copy_series(to->gpu_price, &to->view.gpu_price, from->gpu_price, T);
    copy_series(to->storage_worth, &to->view.storage_worth, from->storage_worth, T);
    return CKPD_OK;
}

void ckpd__prices_free(ckpd_context *context, ckpd__prices *prices)
{
    ckpd__free(context, prices->block);
    *prices = (ckpd__prices){.block = NULL};
}
