/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The only file that knows Jansson. Its memory and its process-wide settings are left alone. */
#include "io/json.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

void ckpd__json_clear(ckpd_context *context, ckpd__json *value)
{
    for (int32_t i = 0; value->items != NULL && i < value->count; i++) {
        ckpd__json_clear(context, &value->items[i]);
    }
    for (int32_t i = 0; value->keys != NULL && i < value->count; i++) {
        ckpd__free(context, value->keys[i]);
    }
    ckpd__free(context, value->items);
    ckpd__free(context, value->keys);
    ckpd__free(context, value->text);
}

void ckpd__json_free(ckpd_context *context, ckpd__json *value)
{
    if (value != NULL) {
        ckpd__json_clear(context, value);
        ckpd__free(context, value);
    }
}

bool ckpd__json_copy(ckpd_context *context, const ckpd__json *from, ckpd__json *to)
{
    size_t count = (size_t)from->count;
    to->kind = from->kind;
    to->number = from->number;
    to->text = from->text != NULL ? ckpd__strdup(context, from->text) : NULL;
    to->items = from->items != NULL ? ckpd__calloc(context, count, sizeof *to->items) : NULL;
    to->keys = from->keys != NULL ? ckpd__calloc(context, count, sizeof *to->keys) : NULL;
    if ((from->text != NULL && to->text == NULL) || (from->items != NULL && to->items == NULL) ||
        (from->keys != NULL && to->keys == NULL)) {
        return false;
    }
    to->count = from->count;
    for (int32_t i = 0; i < from->count; i++) {
        if (!ckpd__json_copy(context, &from->items[i], &to->items[i])) {
            return false;
        }
        if (to->keys != NULL) {
            to->keys[i] = ckpd__strdup(context, from->keys[i]);
        }
        if (to->keys != NULL && to->keys[i] == NULL) {
            return false;
        }
    }
    return true;
}

static bool convert(ckpd_context *context, const json_t *from, ckpd__json *to);

static bool convert_array(ckpd_context *context, const json_t *from, ckpd__json *to)
{
    size_t count = json_array_size(from);
    to->kind = CKPD__JSON_ARRAY;
    to->items = ckpd__calloc(context, count, sizeof *to->items);
    if (count > INT32_MAX || to->items == NULL) {
        return false;
    }
    to->count = (int32_t)count;
    for (size_t i = 0; i < count; i++) {
        if (!convert(context, json_array_get(from, i), &to->items[i])) {
            return false;
        }
    }
    return true;
}

static bool convert_object(ckpd_context *context, const json_t *from, ckpd__json *to)
{
    size_t count = json_object_size(from);
    to->kind = CKPD__JSON_OBJECT;
    to->items = ckpd__calloc(context, count, sizeof *to->items);
    to->keys = ckpd__calloc(context, count, sizeof *to->keys);
    if (count > INT32_MAX || to->items == NULL || to->keys == NULL) {
        return false;
    }
    to->count = (int32_t)count;
    int32_t at = 0;
    /* The iterator API takes the object as non-const but does not change it. */
    json_t *object = (json_t *)(uintptr_t)from;
    for (void *it = json_object_iter(object); it != NULL; it = json_object_iter_next(object, it)) {
        to->keys[at] = ckpd__strdup(context, json_object_iter_key(it));
        if (to->keys[at] == NULL || !convert(context, json_object_iter_value(it), &to->items[at])) {
            return false;
        }
        at++;
    }
    return true;
}

/* false: out of memory; what was made hangs on `to`. */
static bool convert(ckpd_context *context, const json_t *from, ckpd__json *to)
{
    switch (json_typeof(from)) {
    case JSON_OBJECT:
        return convert_object(context, from, to);
    case JSON_ARRAY:
        return convert_array(context, from, to);
    case JSON_STRING:
        to->kind = CKPD__JSON_TEXT;
        to->text = ckpd__strdup(context, json_string_value(from));
        return to->text != NULL;
    case JSON_INTEGER:
    case JSON_REAL:
        to->kind = CKPD__JSON_NUMBER;
        to->number = json_number_value(from);
        return true;
    case JSON_TRUE:
    case JSON_FALSE:
        to->kind = CKPD__JSON_FLAG;
        to->number = json_typeof(from) == JSON_TRUE;
        return true;
    case JSON_NULL:
    default:
        to->kind = CKPD__JSON_NULL;
        return true;
    }
}

/* What a user can do about the commonest mistakes, else the parser's own words. */
static const char *in_plain_words(const char *text)
{
    static const struct {
        const char *part, *words;
    } known[] = {
        {"'NaN'", "JSON has no NaN: leave the field out, or fill the series in a CSV file"},
        {"Infinity'",
         "JSON has no infinity: leave the field out, or write \"unlimited\" for a cap"},
        {"overflow", "the number is too large; a cap without limit is \"unlimited\""},
        {"JSON_ALLOW_NUL", "a zero character is not allowed in text"},
        {"'None'", "'None' is no JSON value: leave the field out"},
        {"'True'", "write true"},
        {"'False'", "write false"},
        {"unable to decode byte", "it is not UTF-8; save the file as UTF-8"},
        {"invalid token near '/'", "JSON has no comments: use description"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strstr(text, known[i].part) != NULL) {
            return known[i].words;
        }
    }
    return text;
}

static int32_t syntax_error(ckpd_context *context, const char *source, const char *text,
                            const json_error_t *error)
{
    if (json_error_code(error) == json_error_out_of_memory) {
        return ckpd__no_memory(context);
    }
    int32_t code =
        json_error_code(error) == json_error_duplicate_key ? CKPD_ERR_DUPLICATE : CKPD_ERR_SYNTAX;
    char path[160];
    ckpd__json_locate(text, error->position > 0 ? (size_t)error->position : 0, path, sizeof path);
    return ckpd__fail(context, code, path[0] != '\0' ? path : "file", error->line, (double)NAN,
                      "%s: line %d, column %d%s%s: %s", source, error->line, error->column,
                      path[0] != '\0' ? ", in " : "", path, in_plain_words(error->text));
}

int32_t ckpd__json_parse(ckpd_context *context, const char *source, const char *text, size_t length,
                         ckpd__json **out)
{
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        length -= 3;
    }
    size_t blank = 0;
    while (blank < length && strchr(" \t\r\n", text[blank]) != NULL && text[blank] != '\0') {
        blank++;
    }
    if (blank == length) {
        return ckpd__fail(context, CKPD_ERR_SYNTAX, "file", -1, (double)length,
                          "%s: the text is empty", source);
    }
    json_error_t error;
    memset(&error, 0, sizeof error);
    json_t *parsed = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (parsed == NULL) {
        return syntax_error(context, source, text, &error);
    }
    ckpd__json *value = ckpd__calloc(context, 1, sizeof *value);
    if (value == NULL || !convert(context, parsed, value)) {
        json_decref(parsed);
        ckpd__json_free(context, value);
        return ckpd__no_memory(context);
    }
    json_decref(parsed);
    *out = value;
    return CKPD_OK;
}

const ckpd__json *ckpd__json_member(const ckpd__json *object, const char *name)
{
    if (object == NULL || object->kind != CKPD__JSON_OBJECT) {
        return NULL;
    }
    for (int32_t i = 0; i < object->count; i++) {
        if (strcmp(object->keys[i], name) == 0) {
            return &object->items[i];
        }
    }
    return NULL;
}

const char *ckpd__json_kind_name(int32_t kind)
{
    static const char *const NAMES[] = {"null",   "true or false", "a number",
                                        "a text", "an array",      "an object"};
    return kind >= 0 && kind <= CKPD__JSON_OBJECT ? NAMES[kind] : "unknown";
}
