/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "base/context.h"

#include <math.h>
#include <string.h>

enum {
    MAGIC = 0x646b7063, /* "cpkd" in memory of a little-endian machine */
    ENDED = 0x64616564  /* "dead" */
};

/* Reading is by copy: what lies behind the pointer may be no handle at all. */
typedef struct head {
    CKPD__HANDLE;
} head;

static const char *const kind_name[CKPD__KINDS] = {
    [CKPD__CONTEXT] = "ckpd_context",
    [CKPD__ANCHOR] = "ckpd_anchor",
    [CKPD__BATTERY] = "ckpd_battery",
    [CKPD__CANCEL] = "ckpd_cancel",
    [CKPD__CASE] = "ckpd_case",
    [CKPD__CHECKPOINT] = "ckpd_checkpoint",
    [CKPD__CONTROL] = "ckpd_control",
    [CKPD__DIAGNOSIS] = "ckpd_diagnosis",
    [CKPD__EXPLANATION] = "ckpd_explanation",
    [CKPD__FILLER] = "ckpd_filler",
    [CKPD__GPU_POOL] = "ckpd_gpu_pool",
    [CKPD__GRAPH] = "ckpd_graph",
    [CKPD__GRAPH_OPTIONS] = "ckpd_graph_options",
    [CKPD__HARDWARE] = "ckpd_hardware",
    [CKPD__LINK] = "ckpd_link",
    [CKPD__MICROGRID] = "ckpd_microgrid",
    [CKPD__MODE_RULES] = "ckpd_mode_rules",
    [CKPD__MODE_SET] = "ckpd_mode_set",
    [CKPD__PLAN] = "ckpd_plan",
    [CKPD__POWER_EVENT] = "ckpd_power_event",
    [CKPD__PROBLEM] = "ckpd_problem",
    [CKPD__RECORD] = "ckpd_record",
    [CKPD__REPORT] = "ckpd_report",
    [CKPD__SERIES] = "ckpd_series",
    [CKPD__SERIES_OPTIONS] = "ckpd_series_options",
    [CKPD__SHAPE] = "ckpd_shape",
    [CKPD__SHAPE_PLAN] = "ckpd_shape_plan",
    [CKPD__SHAPE_RUN] = "ckpd_shape_run",
    [CKPD__SITE] = "ckpd_site",
    [CKPD__SOLUTION] = "ckpd_solution",
    [CKPD__SOLVE_OPTIONS] = "ckpd_solve_options",
    [CKPD__TASK] = "ckpd_task",
};

void ckpd__handle_stamp(void *handle, uint32_t kind, ckpd_context *context)
{
    head made = {.magic = MAGIC, .version = ckpd_version(), .kind = kind, .context = context};
    memcpy(handle, &made, sizeof made);
}

void ckpd__handle_begin(void *handle, uint32_t kind, ckpd_context *context)
{
    ckpd__handle_stamp(handle, kind, context);
    if (kind != CKPD__CONTEXT) {
        ckpd__context_retain(context);
    }
}

/* The block may lie where it was after it is freed: a handle that is used again is told from a live
 * one as long as nothing else took its place. */
static ckpd_context *wipe(void *handle)
{
    head last;
    memcpy(&last, handle, sizeof last);
    ckpd_context *context = last.context;
    last.magic = ENDED;
    last.context = NULL;
    memcpy(handle, &last, sizeof last);
    return context;
}

void ckpd__handle_end(void *handle)
{
    ckpd_context *context = wipe(handle);
    if (context == handle) {
        ckpd_allocator allocator = context->allocator;
        allocator.free_fn(context, allocator.user);
        return;
    }
    ckpd__free(context, handle);
    ckpd__context_release(context);
}

/* Only the part that every version has: the context is not looked at. */
static head read_head(const void *handle)
{
    head found = {.context = NULL};
    memcpy(&found, handle, offsetof(head, context));
    return found;
}

bool ckpd__handle_fits(const void *handle, uint32_t kind)
{
    if (handle == NULL) {
        return true;
    }
    head found = read_head(handle);
    return found.magic == MAGIC && found.version == ckpd_version() && found.kind == kind;
}

int32_t ckpd__handle_check(const void *speaker, const void *handle, uint32_t kind,
                           const char *field)
{
    if (ckpd__handle_fits(handle, kind)) {
        return CKPD_OK;
    }
    ckpd_context *told = NULL;
    if (speaker != NULL) {
        memcpy(&told, (const unsigned char *)speaker + offsetof(head, context), sizeof told);
    }
    head found = read_head(handle);
    if (found.magic == ENDED) {
        return ckpd__fail(told, CKPD_ERR_ARGUMENT, field, -1, NAN, "%s has been freed", field);
    }
    if (found.magic != MAGIC) {
        return ckpd__fail(told, CKPD_ERR_ARGUMENT, field, -1, NAN,
                          "%s is no handle of this library", field);
    }
    if (found.version != ckpd_version()) {
        return ckpd__fail(told, CKPD_ERR_VERSION, field, -1, found.version,
                          "%s was made by version %d.%d.%d of the library, this is %s", field,
                          found.version / 10000, found.version / 100 % 100, found.version % 100,
                          ckpd_version_string());
    }
    return ckpd__fail(told, CKPD_ERR_ARGUMENT, field, -1, found.kind, "%s is a %s, not a %s", field,
                      found.kind < CKPD__KINDS ? kind_name[found.kind] : "handle of another kind",
                      kind_name[kind]);
}
