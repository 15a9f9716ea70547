/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "base/base.h"

#include <math.h>
#include <string.h>

/* A caller's struct beyond this is a wrong or uninitialised size, not a future version. */
enum { LARGEST_STRUCT = 4096 };

int32_t ckpd__check_finite(ckpd_context *context, const char *field, int64_t index, double value)
{
    if (isfinite(value)) {
        return CKPD_OK;
    }
    const char *kind = isnan(value) ? "NaN" : value > 0 ? "infinite" : "minus infinity";
    if (index < 0) {
        return ckpd__fail(context, CKPD_ERR_NOT_FINITE, field, index, value, "%s is %s", field,
                          kind);
    }
    return ckpd__fail(context, CKPD_ERR_NOT_FINITE, field, index, value, "%s[%L] is %s", field,
                      index, kind);
}

int32_t ckpd__check_range(ckpd_context *context, const char *field, int64_t index, double value,
                          double minimum, double maximum)
{
    if (isnan(value) || (isinf(value) && !(value == maximum || value == minimum))) {
        return ckpd__check_finite(context, field, index, value);
    }
    if (value >= minimum && value <= maximum) {
        return CKPD_OK;
    }
    char place[32] = "";
    if (index >= 0) {
        ckpd__format(place, sizeof place, "[%L]", index);
    }
    bool low = value < minimum;
    return ckpd__fail(context, CKPD_ERR_RANGE, field, index, value, "%s%s = %g is %s %g", field,
                      place, value, low ? "below the minimum" : "above the maximum",
                      low ? minimum : maximum);
}

int32_t ckpd__check_series(ckpd_context *context, const char *field, const double *values,
                           int64_t count, double minimum, double maximum)
{
    for (int64_t i = 0; i < count; i++) {
        int32_t status = ckpd__check_range(context, field, i, values[i], minimum, maximum);
        if (status != CKPD_OK) {
            return status;
        }
    }
    return CKPD_OK;
}

static int32_t struct_size(ckpd_context *context, const char *name, size_t given, size_t oldest)
{
    if (given >= oldest && given <= LARGEST_STRUCT) {
        return CKPD_OK;
    }
    return ckpd__fail(context, CKPD_ERR_STRUCT_SIZE, name, -1, (double)given,
                      "size member of struct ckpd_%s is %z, expected %z to %d", name, given, oldest,
                      LARGEST_STRUCT);
}

int32_t ckpd__struct_in(ckpd_context *context, const char *name, const void *given, void *known,
                        size_t known_size, size_t oldest)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    int32_t status = struct_size(context, name, size, oldest);
    if (status != CKPD_OK) {
        return status;
    }
    const unsigned char *bytes = given;
    for (size_t i = known_size; i < size; i++) {
        if (bytes[i] != 0) {
            return ckpd__fail(context, CKPD_ERR_STRUCT_SIZE, name, (int64_t)i, bytes[i],
                              "struct ckpd_%s uses members this library (%z bytes) does not know",
                              name, known_size);
        }
    }
    memset(known, 0, known_size);
    memcpy(known, given, size < known_size ? size : known_size);
    memcpy(known, &known_size, sizeof known_size);
    return CKPD_OK;
}

int32_t ckpd__struct_out(ckpd_context *context, const char *name, void *given, const void *known,
                         size_t known_size, size_t oldest)
{
    size_t size;
    if (given == NULL) {
        return ckpd__null_argument(context, "out");
    }
    memcpy(&size, given, sizeof size);
    int32_t status = struct_size(context, name, size, oldest);
    if (status != CKPD_OK) {
        return status;
    }
    memcpy((unsigned char *)given + sizeof size, (const unsigned char *)known + sizeof size,
           (size < known_size ? size : known_size) - sizeof size);
    if (size > known_size) {
        memset((unsigned char *)given + known_size, 0, size - known_size);
    }
    return CKPD_OK;
}
