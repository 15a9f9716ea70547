/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Practice 10: every public struct begins with its size, and the library neither reads nor writes
 * beyond what the caller has. A caller of another release is played by giving another size. Each
 * row of a table is run through all sizes; `setup` and `teardown` surround each run.
 */
#ifndef TESTS_SUPPORT_STRUCT_SIZE_H
#define TESTS_SUPPORT_STRUCT_SIZE_H

#include "support/support.h"

#include <ckptdispatch/base.h>

/* A struct that the library fills; `fill` makes the call that fills it. */
typedef struct filled_struct {
    const char *name;
    size_t size;
    int32_t (*fill)(void *out);
} filled_struct;

/* A struct that the library reads: `sample` writes a valid one of today's size, `read` makes a call
 * with it. */
typedef struct given_struct {
    const char *name;
    size_t size;
    void (*sample)(void *block);
    int32_t (*read)(const void *block);
} given_struct;

int struct_size_main(const char *name, void (*setup)(void), void (*teardown)(void),
                     const filled_struct *filled, int filled_count, const given_struct *given,
                     int given_count);

#endif
