/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* JSON in and out. Reading goes through Jansson (json.c, the only file that knows it) into our own
 * tree. */
#ifndef CKPD_LIB_IO_JSON_H
#define CKPD_LIB_IO_JSON_H

#include "base/base.h"

enum {
    CKPD__JSON_NULL = 0,
    CKPD__JSON_FLAG = 1,
    CKPD__JSON_NUMBER = 2,
    CKPD__JSON_TEXT = 3,
    CKPD__JSON_ARRAY = 4,
    CKPD__JSON_OBJECT = 5
};

/* A value. Members of an object keep the order of the text. */
typedef struct ckpd__json {
    int32_t kind;
    int32_t count;            /* items of an array, members of an object */
    double number;            /* NUMBER; FLAG: 0 or 1 */
    char *text;               /* TEXT, UTF-8 */
    struct ckpd__json *items; /* [count] */
    char **keys;              /* [count] of an object */
} ckpd__json;

/*
 * Parses a text. `source` is named in errors, which give line, column and the path of the place.
 * Duplicate keys, NaN, comments and what follows the value are refused; a UTF-8 byte order mark is
 * skipped.
 */
int32_t ckpd__json_parse(ckpd_context *context, const char *source, const char *text, size_t length,
                         ckpd__json **out);
void ckpd__json_free(ckpd_context *context, ckpd__json *value);
/* Deep copy into *to; false when out of memory (what was made hangs on *to). */
bool ckpd__json_copy(ckpd_context *context, const ckpd__json *from, ckpd__json *to);
/* Frees what hangs on a value that is itself part of something else. */
void ckpd__json_clear(ckpd_context *context, ckpd__json *value);
/* Member of an object by name; NULL when absent or `object` is no object. */
const ckpd__json *ckpd__json_member(const ckpd__json *object, const char *name);
/* "a number", "an array": for messages. */
const char *ckpd__json_kind_name(int32_t kind);

/* Path ("site.wind_kw[7]") of the place `position` bytes into a possibly broken text; "" at the
 * top. */
void ckpd__json_locate(const char *text, size_t position, char *path, size_t size);

#endif
