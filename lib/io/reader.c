/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "io/reader.h"

#include <math.h>
#include <string.h>

enum { MOST_NAMES = 160, MESSAGE_BYTES = 400, PATH_BYTES = 128 };

void ckpd__place_print(const ckpd__place *place, char *text, size_t size)
{
    if (place == NULL || (place->parent == NULL && place->key == NULL)) {
        text[0] = '\0';
        return;
    }
    ckpd__place_print(place->parent, text, size);
    size_t used = strlen(text);
    if (place->key != NULL) {
        ckpd__format(text + used, size - used, "%s%s", used > 0 ? "." : "",
                     place->key[0] != '\0' ? place->key : "\"\"");
    } else {
        ckpd__format(text + used, size - used, "[%d]", place->index);
    }
}

int32_t ckpd__refuse(ckpd_context *context, const ckpd__place *place, int32_t code, double value,
                     const char *message)
{
    char path[PATH_BYTES];
    ckpd__place_print(place, path, sizeof path);
    int64_t index =
        place != NULL && place->key == NULL && place->parent != NULL ? place->index : -1;
    return ckpd__fail(context, code, path[0] != '\0' ? path : "file", index, value, "%s%s%s", path,
                      path[0] != '\0' ? ": " : "", message);
}

int32_t ckpd__refuse_with(ckpd_context *context, const ckpd__place *place, int32_t status)
{
    ckpd_error error = {.size = sizeof error};
    if (status == CKPD_ERR_NO_MEMORY || ckpd_context_last_error(context, &error) != CKPD_OK) {
        return status;
    }
    char path[PATH_BYTES];
    ckpd__place_print(place, path, sizeof path);
    return ckpd__fail(context, status, path, error.index, error.value, "%s: %s", path,
                      error.message);
}

int32_t ckpd__choice_position(const char *choices, const char *text)
{
    size_t length = strlen(text);
    int32_t position = 0;
    for (const char *at = choices; at != NULL; position++) {
        size_t size = strcspn(at, "|");
        if (size == length && memcmp(at, text, size) == 0) {
            return position;
        }
        at = at[size] == '|' ? at + size + 1 : NULL;
    }
    return -1;
}

/* Names that begin like `name` up to its first '_' ("soc_inti": every soc_ field), as a question.
 */
static void list_relatives(const char *name, const char *const *names, int32_t count, char *text,
                           size_t size)
{
    size_t length = strcspn(name, "_") + 1, used = 0;
    text[0] = '\0';
    for (int32_t i = 0; i < count && name[length - 1] == '_' && used < size; i++) {
        if (strncmp(names[i], name, length) == 0) {
            used += ckpd__format(text + used, size - used, "%s'%s'",
                                 used == 0 ? "; did you mean " : ", ", names[i]);
        }
    }
    if (used > 0 && used < size) {
        ckpd__format(text + used, size - used, "?");
    }
}

static int32_t unknown_member(ckpd_context *context, const ckpd__place *place, const char *name,
                              const ckpd__object *object)
{
    const char *names[MOST_NAMES];
    int32_t count = ckpd__member_count(object), used = 0;
    for (int32_t i = 0; i < count && used < MOST_NAMES; i++) {
        ckpd__member member;
        double ignored;
        if (ckpd__member_at(object, i, &member, &ignored)) {
            names[used++] = member.name;
        }
    }
    const char *nearest = ckpd__nearest(name, names, (size_t)used);
    char message[MESSAGE_BYTES], relatives[MESSAGE_BYTES / 2];
    ckpd__place here = {place, name, 0};
    if (nearest != NULL) {
        ckpd__format(message, sizeof message, "unknown field; did you mean '%s'?", nearest);
    } else {
        list_relatives(name, names, used, relatives, sizeof relatives);
        ckpd__format(message, sizeof message, "unknown field%s", relatives);
    }
    return ckpd__refuse(context, &here, CKPD_ERR_UNKNOWN_NAME, (double)NAN, message);
}

static int32_t wrong_kind(ckpd_context *context, const ckpd__place *place, const ckpd__json *value,
                          const char *wanted)
{
    char message[MESSAGE_BYTES];
    ckpd__format(message, sizeof message, "expected %s, found %s", wanted,
                 ckpd__json_kind_name(value->kind));
    return ckpd__refuse(context, place, CKPD_ERR_SCHEMA, (double)NAN, message);
}

/* A number of the object itself (fields of handles are checked there). */
static int32_t check_number(ckpd_context *context, const ckpd__place *place, double value,
                            const ckpd__member *member)
{
    char message[MESSAGE_BYTES];
    bool whole = member->type == CKPD__MEMBER_INTEGER || member->type == CKPD__MEMBER_INTEGERS;
    if (!(value >= member->minimum)) {
        ckpd__format(message, sizeof message, "%g is below the minimum %g", value, member->minimum);
    } else if (value > member->maximum) {
        ckpd__format(message, sizeof message, "%g is above the maximum %g", value, member->maximum);
    } else if (whole && value != floor(value)) {
        ckpd__format(message, sizeof message, "%g is not a whole number", value);
    } else {
        return CKPD_OK;
    }
    return ckpd__refuse(context, place, CKPD_ERR_RANGE, value, message);
}

static int32_t check_choice(ckpd_context *context, const ckpd__place *place, const char *text,
                            const char *choices)
{
    if (ckpd__choice_position(choices, text) >= 0) {
        return CKPD_OK;
    }
    char message[MESSAGE_BYTES];
    ckpd__format(message, sizeof message, "'%s' is not one of %s", text, choices);
    return ckpd__refuse(context, place, CKPD_ERR_UNKNOWN_NAME, (double)NAN, message);
}

/* Items of arrays of plain values. */
static int32_t check_items(ckpd_context *context, const ckpd__place *place, const ckpd__json *array,
                           const ckpd__member *member)
{
    int32_t kind = member->type == CKPD__MEMBER_INTEGERS  ? CKPD__JSON_NUMBER
                   : member->type == CKPD__MEMBER_CHOICES ? CKPD__JSON_TEXT
                   : member->type == CKPD__MEMBER_OBJECTS ? CKPD__JSON_OBJECT
                                                          : CKPD__JSON_ARRAY;
    int32_t inner = member->type == CKPD__MEMBER_POINTS ? CKPD__JSON_NUMBER : CKPD__JSON_TEXT;
    for (int32_t i = 0; i < array->count; i++) {
        const ckpd__json *item = &array->items[i];
        ckpd__place here = {place, NULL, i};
        int32_t status = CKPD_OK;
        if (item->kind != kind) {
            status = wrong_kind(context, &here, item, ckpd__json_kind_name(kind));
        } else if (kind == CKPD__JSON_NUMBER) {
            status = check_number(context, &here, item->number, member);
        } else if (kind == CKPD__JSON_TEXT) {
            status = check_choice(context, &here, item->text, member->choices);
        } else if (kind == CKPD__JSON_ARRAY && (item->count != 2 || item->items[0].kind != inner ||
                                                item->items[1].kind != inner)) {
            status = ckpd__refuse(context, &here, CKPD_ERR_SCHEMA, (double)NAN,
                                  inner == CKPD__JSON_TEXT ? "expected two texts"
                                                           : "expected two numbers");
        }
        if (status != CKPD_OK) {
            return status;
        }
    }
    return CKPD_OK;
}

static int32_t check_member(ckpd_context *context, const ckpd__place *place,
                            const ckpd__json *value, const ckpd__member *member, bool own)
{
    static const int32_t KINDS[] = {CKPD__JSON_NUMBER, CKPD__JSON_NUMBER, CKPD__JSON_FLAG,
                                    CKPD__JSON_TEXT,   CKPD__JSON_TEXT,   -1,
                                    CKPD__JSON_ARRAY,  CKPD__JSON_ARRAY,  CKPD__JSON_ARRAY,
                                    CKPD__JSON_ARRAY,  CKPD__JSON_OBJECT, CKPD__JSON_ARRAY};
    int32_t kind = KINDS[member->type];
    if (kind < 0) {
        return CKPD_OK; /* series: several kinds, read by the site */
    }
    if (value->kind != kind) {
        return wrong_kind(context, place, value, ckpd__json_kind_name(kind));
    }
    if (kind == CKPD__JSON_ARRAY) {
        return check_items(context, place, value, member);
    }
    if (own && kind == CKPD__JSON_NUMBER) {
        return check_number(context, place, value->number, member);
    }
    if (own && member->type == CKPD__MEMBER_CHOICE) {
        return check_choice(context, place, value->text, member->choices);
    }
    return CKPD_OK;
}

int32_t ckpd__read_object(ckpd_context *context, const ckpd__place *place, const ckpd__json *node,
                          const ckpd__object *object)
{
    if (node->kind != CKPD__JSON_OBJECT) {
        return wrong_kind(context, place, node, "an object");
    }
    for (int32_t i = 0; i < node->count; i++) {
        ckpd__member member;
        if (!ckpd__member_find(object, node->keys[i], &member)) {
            return unknown_member(context, place, node->keys[i], object);
        }
        ckpd_field_info field;
        bool own =
            object->fields == NULL || !ckpd__handle_find(object->fields, member.name, &field);
        ckpd__place here = {place, node->keys[i], 0};
        int32_t status = check_member(context, &here, &node->items[i], &member, own);
        if (status != CKPD_OK) {
            return status;
        }
    }
    for (int32_t i = 0; i < object->count; i++) {
        const ckpd__member *member = &object->members[i];
        if (member->required && ckpd__json_member(node, member->name) == NULL) {
            ckpd__place here = {place, member->name, 0};
            return ckpd__refuse(context, &here, CKPD_ERR_MISSING, (double)NAN,
                                "this required field is missing");
        }
    }
    return CKPD_OK;
}

int32_t ckpd__read_fields(ckpd_context *context, const ckpd__place *place, const ckpd__json *node,
                          const ckpd__object *object, void *handle)
{
    const ckpd__handle_type *type = object->fields;
    for (int32_t i = 0; i < node->count; i++) {
        const ckpd__json *value = &node->items[i];
        ckpd_field_info info;
        if (!ckpd__handle_find(type, node->keys[i], &info)) {
            continue;
        }
        int32_t status = value->kind == CKPD__JSON_TEXT
                             ? type->set_text(handle, info.name, value->text)
                             : type->set(handle, info.name, value->number);
        if (status != CKPD_OK) {
            ckpd__place here = {place, info.name, 0};
            return ckpd__refuse_with(context, &here, status);
        }
    }
    return CKPD_OK;
}

double ckpd__member_number(const ckpd__json *object, const char *name, double otherwise)
{
    const ckpd__json *member = ckpd__json_member(object, name);
    return member != NULL ? member->number : otherwise;
}

const char *ckpd__member_text(const ckpd__json *object, const char *name)
{
    const ckpd__json *member = ckpd__json_member(object, name);
    return member != NULL ? member->text : NULL;
}

int32_t ckpd__member_items(const ckpd__json *object, const char *name, const ckpd__json **items)
{
    const ckpd__json *member = ckpd__json_member(object, name);
    *items = member != NULL ? member->items : NULL;
    return member != NULL ? member->count : 0;
}
