/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "base/context.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *libc_malloc(size_t bytes, void *user)
{
    (void)user;
    return malloc(bytes);
}

static void *libc_realloc(void *block, size_t bytes, void *user)
{
    (void)user;
    return realloc(block, bytes);
}

static void libc_free(void *block, void *user)
{
    (void)user;
    free(block);
}

static int32_t read_allocator(const ckpd_allocator *given, ckpd_allocator *known)
{
    *known = (ckpd_allocator){sizeof *known, libc_malloc, libc_realloc, libc_free, NULL};
    if (given == NULL) {
        return CKPD_OK;
    }
    int32_t status = CKPD__STRUCT_IN(NULL, allocator, given, known);
    if (status != CKPD_OK) {
        return status;
    }
    return known->malloc_fn != NULL && known->realloc_fn != NULL && known->free_fn != NULL
               ? CKPD_OK
               : CKPD_ERR_ARGUMENT;
}

int32_t ckpd_context_new(ckpd_context **out, const ckpd_allocator *allocator)
{
    if (out == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_allocator known;
    int32_t status = read_allocator(allocator, &known);
    if (status != CKPD_OK) {
        return status;
    }
    ckpd_context *context = known.malloc_fn(sizeof *context, known.user);
    if (context == NULL) {
        return CKPD_ERR_NO_MEMORY;
    }
    memset(context, 0, sizeof *context);
    context->allocator = known;
    ckpd__handle_begin(context, CKPD__CONTEXT, context);
    atomic_init(&context->holders, 1);
    atomic_init(&context->freed, false);
    ckpd__clear_error(context);
    *out = context;
    return CKPD_OK;
}

ckpd_context *ckpd__context_retain(ckpd_context *context)
{
    atomic_fetch_add_explicit(&context->holders, 1, memory_order_relaxed);
    return context;
}

void ckpd__context_release(ckpd_context *context)
{
    if (context == NULL ||
        atomic_fetch_sub_explicit(&context->holders, 1, memory_order_acq_rel) != 1) {
        return;
    }
    if (context->registry_free != NULL) {
        context->registry_free(context, context->registry);
    }
    ckpd__handle_end(context);
}

void ckpd_context_free(ckpd_context *context)
{
    CKPD__NULL_IF_FOREIGN(context, CKPD__CONTEXT);
    if (context != NULL && !atomic_exchange_explicit(&context->freed, true, memory_order_relaxed)) {
        ckpd__context_release(context);
    }
}

int32_t ckpd_context_set_log(ckpd_context *context, int32_t level, ckpd_log_fn callback, void *user)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (callback != NULL && (level < CKPD_LOG_ERROR || level > CKPD_LOG_DEBUG)) {
        return ckpd__fail(context, CKPD_ERR_RANGE, "level", -1, level,
                          "log level %d is not in %d..%d", level, CKPD_LOG_ERROR, CKPD_LOG_DEBUG);
    }
    context->log = callback;
    context->log_user = user;
    context->log_level = callback != NULL ? level : 0;
    return CKPD_OK;
}

void *ckpd__context_registry(const ckpd_context *context)
{
    return context->registry;
}

void ckpd__context_set_registry(ckpd_context *context, void *registry,
                                void (*registry_free)(ckpd_context *context, void *registry))
{
    context->registry = registry;
    context->registry_free = registry_free;
}

/* --- memory ---------------------------------------------------------------------------------- */

static bool array_bytes(size_t count, size_t bytes, size_t *total)
{
    if (bytes != 0 && count > SIZE_MAX / 2 / bytes) {
        return false;
    }
    *total = count * bytes > 0 ? count * bytes : 1;
    return true;
}

void *ckpd__calloc(ckpd_context *context, size_t count, size_t bytes)
{
    size_t total;
    if (!array_bytes(count, bytes, &total)) {
        return NULL;
    }
    void *block = context->allocator.malloc_fn(total, context->allocator.user);
    if (block != NULL) {
        memset(block, 0, total);
    }
    return block;
}

void *ckpd__realloc(ckpd_context *context, void *block, size_t count, size_t bytes)
{
    size_t total;
    if (!array_bytes(count, bytes, &total)) {
        return NULL;
    }
    return block == NULL ? context->allocator.malloc_fn(total, context->allocator.user)
                         : context->allocator.realloc_fn(block, total, context->allocator.user);
}

void ckpd__free(ckpd_context *context, void *block)
{
    if (block != NULL) {
        context->allocator.free_fn(block, context->allocator.user);
    }
}

void *ckpd__memdup(ckpd_context *context, const void *block, size_t count, size_t bytes)
{
    void *copy = ckpd__calloc(context, count, bytes);
    if (copy != NULL && count * bytes > 0) {
        memcpy(copy, block, count * bytes);
    }
    return copy;
}

char *ckpd__strdup(ckpd_context *context, const char *text)
{
    return ckpd__memdup(context, text, strlen(text) + 1, 1);
}
