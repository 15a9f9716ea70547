/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * What every handle begins with, and the check at the border of the interface: a handle of another
 * version of the library (two copies in one process), of another kind, or already freed is refused
 * before anything behind its head is read.
 *
 * A public function begins with one line for each handle it takes, NULL passes: functions with a
 * status use CKPD__REFUSE_FOREIGN, all others see NULL instead of a foreign handle.
 */
#ifndef CKPD_LIB_HANDLE_H
#define CKPD_LIB_HANDLE_H

#include <ckptdispatch/base.h>
#include <stdbool.h>

/* The first member of every handle. Its layout never changes: other versions read it. */
#define CKPD__HANDLE  \
    uint32_t magic;   \
    int32_t version;  \
    uint32_t kind;    \
    int32_t reserved; \
    ckpd_context *context

/* Kinds of handle; names for messages are in handle.c. */
enum {
    CKPD__CONTEXT = 0,
    CKPD__ANCHOR,
    CKPD__BATTERY,
    CKPD__CANCEL,
    CKPD__CASE,
    CKPD__CHECKPOINT,
    CKPD__CONTROL,
    CKPD__DIAGNOSIS,
    CKPD__EXPLANATION,
    CKPD__FILLER,
    CKPD__GPU_POOL,
    CKPD__GRAPH,
    CKPD__GRAPH_OPTIONS,
    CKPD__HARDWARE,
    CKPD__LINK,
    CKPD__MICROGRID,
    CKPD__MODE_RULES,
    CKPD__MODE_SET,
    CKPD__PLAN,
    CKPD__POWER_EVENT,
    CKPD__PROBLEM,
    CKPD__RECORD,
    CKPD__REPORT,
    CKPD__SERIES,
    CKPD__SERIES_OPTIONS,
    CKPD__SHAPE,
    CKPD__SHAPE_PLAN,
    CKPD__SHAPE_RUN,
    CKPD__SITE,
    CKPD__SOLUTION,
    CKPD__SOLVE_OPTIONS,
    CKPD__TASK,
    CKPD__KINDS
};

/* The stamp alone, for handles inside other structs. */
void ckpd__handle_stamp(void *handle, uint32_t kind, ckpd_context *context);
/* Stamps a new handle, which from now on keeps the context alive. */
void ckpd__handle_begin(void *handle, uint32_t kind, ckpd_context *context);
/* Wipes the stamp, frees the block and lets go of the context. */
void ckpd__handle_end(void *handle);

/* NULL or a handle of this kind that this copy of the library could have made. */
bool ckpd__handle_fits(const void *handle, uint32_t kind);
/*
 * CKPD_OK when it fits, else CKPD_ERR_VERSION or CKPD_ERR_ARGUMENT with a message in the context of
 * `speaker`, a handle that has been checked, or NULL when there is none.
 */
int32_t ckpd__handle_check(const void *speaker, const void *handle, uint32_t kind,
                           const char *field);

/* Returns from the function when the handle does not fit. */
#define CKPD__REFUSE_FOREIGN(speaker, handle, kind)                    \
    do {                                                               \
        if (!ckpd__handle_fits(handle, kind)) {                        \
            return ckpd__handle_check(speaker, handle, kind, #handle); \
        }                                                              \
    } while (0)
#define CKPD__NULL_IF_FOREIGN(handle, kind) \
    ((handle) = ckpd__handle_fits(handle, kind) ? (handle) : NULL)

#endif
