/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The format as a JSON Schema document, from the same tables that the reader uses. */
#include "io/case.h"

#include <math.h>
#include <string.h>

static void write_choices(ckpd__writer *writer, const char *choices)
{
    ckpd__write_open_flat(writer, "enum", '[');
    int32_t position = 0;
    for (const char *at = choices; at != NULL;
         at = strchr(at, '|'), at = at != NULL ? at + 1 : NULL) {
        char text[64];
        ckpd__choice_text(choices, position++, text, sizeof text);
        ckpd__write_text(writer, NULL, text);
    }
    ckpd__write_close(writer, ']');
}

static void write_limits(ckpd__writer *writer, const ckpd__member *member)
{
    if (isfinite(member->minimum)) {
        ckpd__write_number(writer, "minimum", member->minimum);
    }
    if (isfinite(member->maximum)) {
        ckpd__write_number(writer, "maximum", member->maximum);
    }
}

static void write_numbers_of(ckpd__writer *writer, const ckpd__member *member)
{
    ckpd__write_open_flat(writer, NULL, '{');
    ckpd__write_text(writer, "type", "number");
    write_limits(writer, member);
    ckpd__write_close(writer, '}');
    if (isinf(member->maximum)) {
        ckpd__write_open_flat(writer, NULL, '{');
        ckpd__write_text(writer, "const", "unlimited");
        ckpd__write_close(writer, '}');
    }
}

static void write_item(ckpd__writer *writer, const char *type, int32_t length)
{
    ckpd__write_open_flat(writer, "items", '{');
    if (length > 0) {
        ckpd__write_text(writer, "type", "array");
        ckpd__write_integer(writer, "minItems", length);
        ckpd__write_integer(writer, "maxItems", length);
        ckpd__write_open(writer, "items", '{');
        ckpd__write_text(writer, "type", type);
        ckpd__write_close(writer, '}');
    } else {
        ckpd__write_text(writer, "type", type);
    }
    ckpd__write_close(writer, '}');
}

/* `overlay`: nothing is required, the members come on top of those of another object. */
static void write_object(ckpd__writer *writer, const ckpd__document *d, int32_t which,
                         const char *key, bool overlay);

/* A number for all slots, "unlimited" where there may be no limit, a value per slot, or a file. */
static void write_series(ckpd__writer *writer, const ckpd__member *member)
{
    ckpd__write_open(writer, "oneOf", '[');
    write_numbers_of(writer, member);
    ckpd__write_open(writer, NULL, '{');
    ckpd__write_text(writer, "type", "array");
    ckpd__write_open(writer, "items", '{');
    ckpd__write_open(writer, "oneOf", '[');
    write_numbers_of(writer, member);
    ckpd__write_close(writer, ']');
    ckpd__write_close(writer, '}');
    ckpd__write_close(writer, '}');
    ckpd__write_open_flat(writer, NULL, '{');
    ckpd__write_text(writer, "$ref", "#/$defs/series_file");
    ckpd__write_close(writer, '}');
    ckpd__write_close(writer, ']');
}

/* The object that a member of type object or objects holds. */
static int32_t object_of(const ckpd__document *d, int32_t parent, const char *member)
{
    char path[96];
    for (int32_t i = 0; i < d->count; i++) {
        const char *above = parent == 0 ? "" : d->objects[parent].path;
        ckpd__format(path, sizeof path, "%s%s%s", above, above[0] != '\0' ? "." : "", member);
        size_t length = strlen(path);
        if (strncmp(d->objects[i].path, path, length) == 0 &&
            (d->objects[i].path[length] == '\0' ||
             strcmp(d->objects[i].path + length, "[]") == 0)) {
            return i;
        }
    }
    return CKPD__AT_RULES; /* a job's own rules have the shape of the case's */
}

static void write_type(ckpd__writer *writer, const ckpd__document *d, int32_t parent,
                       const ckpd__member *member)
{
    static const char *const TYPES[] = {"number", "integer", "boolean", "string",
                                        "string", NULL,      "array",   "array",
                                        "array",  "array",   NULL,      "array"};
    if (TYPES[member->type] != NULL) {
        ckpd__write_text(writer, "type", TYPES[member->type]);
    }
    switch (member->type) {
    case CKPD__MEMBER_NUMBER:
    case CKPD__MEMBER_INTEGER:
        write_limits(writer, member);
        break;
    case CKPD__MEMBER_CHOICE:
        write_choices(writer, member->choices);
        break;
    case CKPD__MEMBER_SERIES:
        write_series(writer, member);
        break;
    case CKPD__MEMBER_INTEGERS:
        write_item(writer, "integer", 0);
        break;
    case CKPD__MEMBER_CHOICES:
        ckpd__write_open_flat(writer, "items", '{');
        write_choices(writer, member->choices);
        ckpd__write_close(writer, '}');
        break;
    case CKPD__MEMBER_POINTS:
        write_item(writer, "number", 2);
        break;
    case CKPD__MEMBER_PAIRS:
        write_item(writer, "string", 2);
        break;
    case CKPD__MEMBER_OBJECTS:
        write_object(writer, d, object_of(d, parent, member->name), "items", false);
        break;
    default:
        break;
    }
}

static void write_member(ckpd__writer *writer, const ckpd__document *d, int32_t parent,
                         const ckpd__member *member, double default_value)
{
    if (member->type == CKPD__MEMBER_OBJECT) {
        int32_t which = object_of(d, parent, member->name);
        bool own_rules = d == &ckpd__case_document && which == CKPD__AT_RULES;
        write_object(writer, d, which, member->name, own_rules && parent == CKPD__AT_JOB);
        return;
    }
    ckpd__write_open(writer, member->name, '{');
    char text[256];
    const char *unit = member->unit != NULL ? member->unit : "";
    ckpd__format(text, sizeof text, "%s%s%s%s", member->doc, unit[0] != '\0' ? " (" : "", unit,
                 unit[0] != '\0' ? ")" : "");
    ckpd__write_text(writer, "description", text);
    write_type(writer, d, parent, member);
    if (member->type == CKPD__MEMBER_CHOICE && isfinite(default_value)) {
        ckpd__choice_text(member->choices, default_value, text, sizeof text);
        ckpd__write_text(writer, "default", text);
    } else if (member->type == CKPD__MEMBER_FLAG && isfinite(default_value)) {
        ckpd__write_flag(writer, "default", default_value != 0);
    } else if (isfinite(default_value)) {
        ckpd__write_number(writer, "default", default_value);
    }
    ckpd__write_close(writer, '}');
}

static void write_object(ckpd__writer *writer, const ckpd__document *d, int32_t which,
                         const char *key, bool overlay)
{
    const ckpd__object *object = &d->objects[which];
    int32_t count = ckpd__member_count(object);
    if (key != NULL) {
        ckpd__write_open(writer, key, '{');
    }
    ckpd__write_text(writer, "description", object->doc);
    ckpd__write_text(writer, "type", "object");
    ckpd__write_flag(writer, "additionalProperties", false);
    ckpd__write_open_flat(writer, "required", '[');
    for (int32_t i = 0; i < count; i++) {
        ckpd__member member;
        double ignored;
        if (ckpd__member_at(object, i, &member, &ignored) && member.required && !overlay) {
            ckpd__write_text(writer, NULL, member.name);
        }
    }
    ckpd__write_close(writer, ']');
    ckpd__write_open(writer, "properties", '{');
    for (int32_t i = 0; i < count; i++) {
        ckpd__member member;
        double default_value;
        if (ckpd__member_at(object, i, &member, &default_value)) {
            write_member(writer, d, which, &member, default_value);
        }
    }
    ckpd__write_close(writer, '}');
    if (key != NULL) {
        ckpd__write_close(writer, '}');
    }
}

int32_t ckpd__document_write_schema(const ckpd__document *d, ckpd_context *context,
                                    ckpd_write_fn write, void *user)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (write == NULL) {
        return ckpd__null_argument(context, "write");
    }
    ckpd__writer writer;
    ckpd__writer_begin(&writer, context, write, user);
    ckpd__write_open(&writer, NULL, '{');
    ckpd__write_text(&writer, "$schema", "https://json-schema.org/draft/2020-12/schema");
    ckpd__write_text(&writer, "title", d->title);
    if (d == &ckpd__case_document) {
        ckpd__write_open(&writer, "$defs", '{');
        write_object(&writer, d, CKPD__AT_FILE, "series_file", false);
        ckpd__write_close(&writer, '}');
    }
    write_object(&writer, d, 0, NULL, false);
    ckpd__write_close(&writer, '}');
    return ckpd__writer_end(&writer);
}

int32_t ckpd_case_write_schema(ckpd_context *context, ckpd_write_fn write, void *user)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    return ckpd__document_write_schema(&ckpd__case_document, context, write, user);
}
