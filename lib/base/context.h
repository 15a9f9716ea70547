/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Layout of the context; only lib/base reads it, the solver room hangs its registry on it. */
#ifndef CKPD_LIB_BASE_CONTEXT_H
#define CKPD_LIB_BASE_CONTEXT_H

#include "base/base.h"
#include <stdatomic.h>

struct ckpd_context {
    CKPD__HANDLE; /* its context is itself */
    ckpd_allocator allocator;
    atomic_int_least32_t holders;
    atomic_bool freed; /* the host has let go: it holds only once, however often it frees */
    ckpd_log_fn log;
    void *log_user;
    int32_t log_level;
    ckpd_error error;
    void *registry; /* of the solver room */
    void (*registry_free)(ckpd_context *context, void *registry);
};

/* The registry of backends, made by the solver room on first use and freed with the context. */
void *ckpd__context_registry(const ckpd_context *context);
void ckpd__context_set_registry(ckpd_context *context, void *registry,
                                void (*registry_free)(ckpd_context *context, void *registry));

#endif
