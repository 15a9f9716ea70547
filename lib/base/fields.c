/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "base/fields.h"

#include <math.h>
#include <string.h>

enum { MOST_FIELDS = 128 };

void ckpd__fields_defaults(const ckpd__field_table *table, double *values)
{
    for (int32_t i = 0; i < table->count; i++) {
        values[i] = table->fields[i].required ? (double)NAN : table->fields[i].default_value;
    }
}

int32_t ckpd__fields_find(const ckpd__field_table *table, const char *name)
{
    for (int32_t i = 0; i < table->count; i++) {
        if (strcmp(table->fields[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static int32_t unknown_field(ckpd_context *context, const ckpd__field_table *table,
                             const char *name)
{
    const char *names[MOST_FIELDS];
    int32_t count = table->count < MOST_FIELDS ? table->count : MOST_FIELDS;
    for (int32_t i = 0; i < count; i++) {
        names[i] = table->fields[i].name;
    }
    const char *nearest = ckpd__nearest(name, names, (size_t)count);
    if (nearest != NULL) {
        return ckpd__fail(context, CKPD_ERR_UNKNOWN_NAME, name, -1, (double)NAN,
                          "%s has no field '%s'; did you mean '%s'?", table->object, name, nearest);
    }
    return ckpd__fail(context, CKPD_ERR_UNKNOWN_NAME, name, -1, (double)NAN, "%s has no field '%s'",
                      table->object, name);
}

/* Finds a field by a caller's name; *index is set on success. */
static int32_t look_up(ckpd_context *context, const ckpd__field_table *table, const char *name,
                       int32_t *index)
{
    if (name == NULL) {
        return ckpd__null_argument(context, "field");
    }
    *index = ckpd__fields_find(table, name);
    return *index >= 0 ? CKPD_OK : unknown_field(context, table, name);
}

int32_t ckpd__fields_set(ckpd_context *context, const ckpd__field_table *table, double *values,
                         const char *name, double value)
{
    int32_t index;
    int32_t status = look_up(context, table, name, &index);
    if (status != CKPD_OK) {
        return status;
    }
    const ckpd__field *field = &table->fields[index];
    if (field->kind == CKPD_FIELD_CHOICE) {
        return ckpd__fail(context, CKPD_ERR_ARGUMENT, name, -1, value,
                          "%s: %s is a choice of %s, set it as text", table->object, name,
                          field->choices);
    }
    status = ckpd__check_range(context, name, -1, value, field->minimum, field->maximum);
    if (status != CKPD_OK) {
        return status;
    }
    if (field->kind != CKPD_FIELD_NUMBER && value != floor(value)) {
        return ckpd__fail(context, CKPD_ERR_RANGE, name, -1, value,
                          "%s: %s = %g is not a whole number", table->object, name, value);
    }
    values[index] = value;
    return CKPD_OK;
}

int32_t ckpd__fields_unset(ckpd_context *context, const ckpd__field_table *table, double *values,
                           const char *name)
{
    int32_t index;
    int32_t status = look_up(context, table, name, &index);
    if (status == CKPD_OK) {
        values[index] =
            table->fields[index].required ? (double)NAN : table->fields[index].default_value;
    }
    return status;
}

/* Position of `text` in "a|b|c", or -1. */
static int32_t choice_position(const char *choices, const char *text)
{
    size_t length = strlen(text);
    int32_t position = 0;
    for (const char *at = choices; at != NULL; position++) {
        const char *end = strchr(at, '|');
        size_t size = end != NULL ? (size_t)(end - at) : strlen(at);
        if (size == length && memcmp(at, text, size) == 0) {
            return position;
        }
        at = end != NULL ? end + 1 : NULL;
    }
    return -1;
}

int32_t ckpd__fields_set_text(ckpd_context *context, const ckpd__field_table *table, double *values,
                              const char *name, const char *text)
{
    int32_t index;
    int32_t status = look_up(context, table, name, &index);
    if (status != CKPD_OK) {
        return status;
    }
    if (text == NULL) {
        return ckpd__null_argument(context, "text");
    }
    const ckpd__field *field = &table->fields[index];
    if (field->kind != CKPD_FIELD_CHOICE) {
        return ckpd__fail(context, CKPD_ERR_ARGUMENT, name, -1, (double)NAN,
                          "%s: %s is a number, not the text '%s'", table->object, name, text);
    }
    int32_t position = choice_position(field->choices, text);
    if (position < 0) {
        return ckpd__fail(context, CKPD_ERR_UNKNOWN_NAME, name, -1, (double)NAN,
                          "%s: %s = '%s' is not one of %s", table->object, name, text,
                          field->choices);
    }
    values[index] = position;
    return CKPD_OK;
}

int32_t ckpd__fields_get(ckpd_context *context, const ckpd__field_table *table,
                         const double *values, const char *name, double *value)
{
    int32_t index;
    int32_t status = look_up(context, table, name, &index);
    if (status == CKPD_OK && value == NULL) {
        status = ckpd__null_argument(context, "value");
    }
    if (status == CKPD_OK) {
        *value = values[index];
    }
    return status;
}

int32_t ckpd__fields_get_text(ckpd_context *context, const ckpd__field_table *table,
                              const double *values, const char *name, char *buffer, size_t size)
{
    int32_t index;
    int32_t status = look_up(context, table, name, &index);
    if (status != CKPD_OK) {
        return status;
    }
    if (buffer == NULL) {
        return ckpd__null_argument(context, "buffer");
    }
    const ckpd__field *field = &table->fields[index];
    if (field->kind != CKPD_FIELD_CHOICE) {
        return ckpd__fail(context, CKPD_ERR_ARGUMENT, name, -1, (double)NAN,
                          "%s: %s is a number, not a text", table->object, name);
    }
    const char *at = field->choices;
    for (int32_t skip = (int32_t)values[index]; skip > 0; skip--) {
        at = strchr(at, '|') + 1;
    }
    size_t length = strcspn(at, "|");
    if (length >= size) {
        return ckpd__fail(context, CKPD_ERR_BUFFER, name, -1, (double)size,
                          "%s: buffer of %z bytes is too small for %s, %z needed", table->object,
                          size, name, length + 1);
    }
    memcpy(buffer, at, length);
    buffer[length] = '\0';
    return CKPD_OK;
}

int32_t ckpd__fields_info(ckpd_context *context, const ckpd__field_table *table, int32_t index,
                          ckpd_field_info *out)
{
    if (out == NULL) {
        return ckpd__null_argument(context, "out");
    }
    if (index < 0 || index >= table->count) {
        return ckpd__fail(context, CKPD_ERR_RANGE, "index", index, index,
                          "%s has %d fields, no field %d", table->object, table->count, index);
    }
    const ckpd__field *field = &table->fields[index];
    ckpd_field_info info = {.size = sizeof info,
                            .kind = field->kind,
                            .required = field->required,
                            .name = field->name,
                            .unit = field->unit,
                            .doc = field->doc,
                            .choices = field->choices != NULL ? field->choices : "",
                            .minimum = field->minimum,
                            .maximum = field->maximum,
                            .default_value = field->required ? (double)NAN : field->default_value};
    return CKPD__STRUCT_OUT(context, field_info, out, &info);
}

int32_t ckpd__fields_check_required(ckpd_context *context, const ckpd__field_table *table,
                                    const double *values)
{
    for (int32_t i = 0; i < table->count; i++) {
        if (table->fields[i].required && isnan(values[i])) {
            return ckpd__fail(context, CKPD_ERR_MISSING, table->fields[i].name, -1, (double)NAN,
                              "%s: %s is missing", table->object, table->fields[i].name);
        }
    }
    return CKPD_OK;
}
