/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Text that the library writes, kept: `sink_take` and a sink go into any call that takes a writer.
 */
#ifndef TESTS_SUPPORT_SINK_H
#define TESTS_SUPPORT_SINK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct sink {
    size_t used;
    char text[65536]; /* ends with a zero byte */
} sink;

/* 1, which ends the writing, when there is no room. */
static inline int32_t sink_take(const char *text, size_t length, void *user)
{
    sink *to = user;
    if (length >= sizeof to->text - to->used) {
        return 1;
    }
    memcpy(to->text + to->used, text, length);
    to->used += length;
    to->text[to->used] = '\0';
    return 0;
}

#endif
