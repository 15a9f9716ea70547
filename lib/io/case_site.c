/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "io/case.h"

#include <math.h>
#include <string.h>

/* "unlimited" is how a cap says infinity, which JSON has no number for. */
static bool is_unlimited(const ckpd__json *value)
{
    return value->kind == CKPD__JSON_TEXT && strcmp(value->text, "unlimited") == 0;
}

static int32_t not_a_number(ckpd_context *context, const ckpd__place *place,
                            const ckpd__json *value)
{
    char message[160];
    const char *key = place->key != NULL ? place->key : place->parent->key;
    bool cap = key != NULL && strstr(key, "_cap") != NULL;
    ckpd__format(message, sizeof message, "expected a number%s, found %s",
                 cap ? " or \"unlimited\"" : "", ckpd__json_kind_name(value->kind));
    return ckpd__refuse(context, place, CKPD_ERR_SCHEMA, (double)NAN, message);
}

static int32_t read_array(ckpd_case *loaded, const ckpd__place *place, const ckpd__json *array)
{
    ckpd_context *context = loaded->context;
    double *values = ckpd__calloc(context, (size_t)array->count, sizeof *values);
    if (values == NULL) {
        return ckpd__no_memory(context);
    }
    int32_t status = CKPD_OK;
    for (int32_t i = 0; i < array->count && status == CKPD_OK; i++) {
        const ckpd__json *item = &array->items[i];
        ckpd__place here = {place, NULL, i};
        if (item->kind == CKPD__JSON_NUMBER) {
            values[i] = item->number;
        } else if (is_unlimited(item)) {
            values[i] = HUGE_VAL;
        } else {
            status = not_a_number(context, &here, item);
        }
    }
    if (status == CKPD_OK) {
        status = ckpd_site_set_series(loaded->site, place->key, values, array->count);
        status = status == CKPD_OK ? CKPD_OK : ckpd__refuse_with(context, place, status);
    }
    ckpd__free(context, values);
    return status;
}

static int32_t read_series(ckpd_case *loaded, const ckpd__place *place, const ckpd__json *value,
                           const char *beside)
{
    ckpd_context *context = loaded->context;
    int32_t status;
    switch (value->kind) {
    case CKPD__JSON_ARRAY:
        return read_array(loaded, place, value);
    case CKPD__JSON_OBJECT:
        return ckpd__case_read_file(loaded, place, value, beside);
    case CKPD__JSON_NUMBER:
        status = ckpd_site_set_constant(loaded->site, place->key, value->number);
        break;
    case CKPD__JSON_TEXT:
        if (!is_unlimited(value)) {
            return not_a_number(context, place, value);
        }
        status = ckpd_site_set_constant(loaded->site, place->key, HUGE_VAL);
        break;
    default:
        return not_a_number(context, place, value);
    }
    return status == CKPD_OK ? CKPD_OK : ckpd__refuse_with(context, place, status);
}

static int32_t read_batteries(ckpd_case *loaded, const ckpd__place *site_place,
                              const ckpd__json *site)
{
    const ckpd__json *items;
    int32_t count = ckpd__member_items(site, "batteries", &items);
    ckpd__place list = {site_place, "batteries", 0}, place = {&list, NULL, 0};
    const ckpd__object *object = &ckpd__objects[CKPD__AT_BATTERY];
    ckpd_context *context = loaded->context;
    if (count > 1) {
        ckpd__place second = {&list, NULL, 1};
        return ckpd__refuse(context, &second, CKPD_ERR_NOT_SUPPORTED, count,
                            "a second battery is not supported yet");
    }
    if (count == 0) {
        return CKPD_OK;
    }
    int32_t status = ckpd__read_object(context, &place, &items[0], object);
    status = status == CKPD_OK ? ckpd_battery_new(&loaded->battery, context) : status;
    status = status == CKPD_OK
                 ? ckpd__read_fields(context, &place, &items[0], object, loaded->battery)
                 : status;
    if (status != CKPD_OK) {
        return status;
    }
    status = ckpd_site_add_battery(loaded->site, loaded->battery);
    return status == CKPD_OK ? CKPD_OK : ckpd__refuse_with(context, &place, status);
}

static int32_t read_curve(ckpd_case *loaded, const ckpd__place *place, const ckpd__json *node,
                          ckpd__curve *curve)
{
    ckpd_context *context = loaded->context;
    const ckpd__object *object = &ckpd__objects[CKPD__AT_CURVE];
    int32_t status = ckpd__read_object(context, place, node, object);
    if (status != CKPD_OK) {
        return status;
    }
    const ckpd__json *points;
    curve->count = ckpd__member_items(node, "points", &points);
    curve->slot = (int32_t)ckpd__member_number(node, "slot", -1);
    ckpd__member argument;
    ckpd__member_find(object, "argument", &argument);
    curve->argument =
        1 + ckpd__choice_position(argument.choices, ckpd__member_text(node, "argument"));
    curve->x_kw = ckpd__calloc(context, (size_t)curve->count, sizeof *curve->x_kw);
    curve->money_per_hour = ckpd__calloc(context, (size_t)curve->count, sizeof(double));
    if (curve->x_kw == NULL || curve->money_per_hour == NULL) {
        return ckpd__no_memory(context);
    }
    for (int32_t i = 0; i < curve->count; i++) {
        curve->x_kw[i] = points[i].items[0].number;
        curve->money_per_hour[i] = points[i].items[1].number;
    }
    status = ckpd_site_add_cost_curve(loaded->site, curve->slot, curve->argument, curve->count,
                                      curve->x_kw, curve->money_per_hour);
    return status == CKPD_OK ? CKPD_OK : ckpd__refuse_with(context, place, status);
}

static int32_t read_curves(ckpd_case *loaded, const ckpd__place *site_place, const ckpd__json *site)
{
    const ckpd__json *items;
    int32_t count = ckpd__member_items(site, "cost_curves", &items);
    ckpd__place list = {site_place, "cost_curves", 0};
    loaded->curves = ckpd__calloc(loaded->context, (size_t)count, sizeof *loaded->curves);
    if (loaded->curves == NULL) {
        return ckpd__no_memory(loaded->context);
    }
    loaded->curve_count = count;
    for (int32_t i = 0; i < count; i++) {
        ckpd__place here = {&list, NULL, i};
        int32_t status = read_curve(loaded, &here, &items[i], &loaded->curves[i]);
        if (status != CKPD_OK) {
            return status;
        }
    }
    return CKPD_OK;
}

int32_t ckpd__case_read_site(ckpd_case *loaded, const ckpd__place *root, const ckpd__json *node,
                             const char *beside)
{
    ckpd_context *context = loaded->context;
    ckpd__place place = {root, "site", 0};
    int32_t status = ckpd__read_object(context, &place, node, &ckpd__objects[CKPD__AT_SITE]);
    int32_t series = ckpd_site_series_count();
    loaded->sources = ckpd__calloc(context, (size_t)series, sizeof *loaded->sources);
    if (loaded->sources == NULL) {
        return ckpd__no_memory(context);
    }
    for (int32_t i = 0; i < series && status == CKPD_OK; i++) {
        ckpd_field_info info = {.size = sizeof info};
        status = ckpd_site_series_info(i, &info);
        const ckpd__json *value = status == CKPD_OK ? ckpd__json_member(node, info.name) : NULL;
        ckpd__place here = {&place, info.name, 0};
        if (value != NULL) {
            status = read_series(loaded, &here, value, beside);
            if (status == CKPD_OK && value->kind == CKPD__JSON_OBJECT &&
                !ckpd__json_copy(context, value, &loaded->sources[i])) {
                status = ckpd__no_memory(context);
            }
        } else if (status == CKPD_OK && info.required) {
            status = ckpd__refuse(context, &here, CKPD_ERR_MISSING, (double)NAN,
                                  "this required field is missing");
        }
    }
    status = status == CKPD_OK ? read_batteries(loaded, &place, node) : status;
    return status == CKPD_OK ? read_curves(loaded, &place, node) : status;
}
