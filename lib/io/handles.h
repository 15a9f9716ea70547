/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* One shape for every handle with named fields, so that reading, writing and describing are written
 * once. */
#ifndef CKPD_LIB_IO_HANDLES_H
#define CKPD_LIB_IO_HANDLES_H

#include "base/base.h"

typedef struct ckpd__handle_type {
    const char *object; /* for messages */
    int32_t (*count)(void);
    int32_t (*info)(int32_t index, ckpd_field_info *out);
    /* NULL for series, whose values are not scalars. */
    int32_t (*set)(void *handle, const char *field, double value);
    int32_t (*set_text)(void *handle, const char *field, const char *text); /* NULL: no choices */
    int32_t (*get)(const void *handle, const char *field,
                   double *value); /* NULL: never written back */
} ckpd__handle_type;

extern const ckpd__handle_type ckpd__task_type, ckpd__hardware_type, ckpd__rules_type,
    ckpd__graph_type, ckpd__checkpoint_type, ckpd__battery_type, ckpd__solve_type,
    ckpd__series_type, ckpd__series_options_type;

/* Description of a field by name; false when there is none. */
bool ckpd__handle_find(const ckpd__handle_type *type, const char *name, ckpd_field_info *out);
/* Text of choice number `position` ("a|b|c"), copied; "" out of range. */
void ckpd__choice_text(const char *choices, double position, char *buffer, size_t size);

#endif
