/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "base/base.h"

#include <stdatomic.h>
#include <time.h>

struct ckpd_cancel {
    CKPD__HANDLE;
    atomic_int requested;
};

int32_t ckpd_cancel_new(ckpd_cancel **out, ckpd_context *context)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL) {
        return ckpd__null_argument(context, "out");
    }
    ckpd_cancel *cancel = ckpd__calloc(context, 1, sizeof *cancel);
    if (cancel == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(cancel, CKPD__CANCEL, context);
    atomic_init(&cancel->requested, 0);
    *out = cancel;
    return CKPD_OK;
}

void ckpd_cancel_free(ckpd_cancel *cancel)
{
    CKPD__NULL_IF_FOREIGN(cancel, CKPD__CANCEL);
    if (cancel == NULL) {
        return;
    }
    ckpd__handle_end(cancel);
}

void ckpd_cancel_request(ckpd_cancel *cancel)
{
    CKPD__NULL_IF_FOREIGN(cancel, CKPD__CANCEL);
    if (cancel != NULL) {
        atomic_store_explicit(&cancel->requested, 1, memory_order_relaxed);
    }
}

void ckpd_cancel_reset(ckpd_cancel *cancel)
{
    CKPD__NULL_IF_FOREIGN(cancel, CKPD__CANCEL);
    if (cancel != NULL) {
        atomic_store_explicit(&cancel->requested, 0, memory_order_relaxed);
    }
}

int32_t ckpd_cancel_requested(const ckpd_cancel *cancel)
{
    CKPD__NULL_IF_FOREIGN(cancel, CKPD__CANCEL);
    return cancel != NULL ? atomic_load_explicit(&((ckpd_cancel *)(uintptr_t)cancel)->requested,
                                                 memory_order_relaxed)
                          : 0;
}

double ckpd__clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
