/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Series of a case that stand in CSV files. */
#include "io/case.h"
#include "io/file.h"

#include <ckptdispatch/series.h>
#include <math.h>
#include <string.h>

/* What the object says of reading, for one column. */
static int32_t make_options(const ckpd_case *loaded, const ckpd__place *place,
                            const ckpd__json *node, const char *column, const char *unit,
                            ckpd_series_options **options)
{
    ckpd_context *context = loaded->context;
    const ckpd__object *object = &ckpd__objects[CKPD__AT_FILE];
    int32_t status = ckpd_series_options_new(options, context);
    status = status == CKPD_OK ? ckpd__read_fields(context, place, node, object, *options) : status;
    if (status != CKPD_OK) {
        return status;
    }
    status = ckpd_series_options_add_column(*options, column, unit);
    const ckpd__json *filters;
    int32_t count = ckpd__member_items(node, "filters", &filters);
    for (int32_t i = 0; i < count && status == CKPD_OK; i++) {
        status = ckpd_series_options_add_filter(*options, filters[i].items[0].text,
                                                filters[i].items[1].text);
    }
    return status == CKPD_OK ? CKPD_OK : ckpd__refuse_with(context, place, status);
}

static int32_t read_column(const ckpd_case *loaded, const char *beside, const char *file,
                           const ckpd_series_options *options, ckpd_series **series)
{
    ckpd_context *context = loaded->context;
    char *path = ckpd__file_beside(context, beside, file);
    int32_t status = path != NULL ? ckpd_series_read_file(series, context, path, options)
                                  : ckpd__no_memory(context);
    ckpd__free(context, path);
    return status;
}

/* Reads the column that stands in for missing values and hands it to the options. */
static int32_t use_other_column(const ckpd_case *loaded, const ckpd__place *place,
                                const ckpd__json *node, const char *beside,
                                ckpd_series_options *options)
{
    ckpd_context *context = loaded->context;
    ckpd__place here = {place, "fill_column", 0};
    const char *file = ckpd__member_text(node, "fill_file");
    const char *unit = ckpd__member_text(node, "fill_unit");
    const char *column = ckpd__member_text(node, "fill_column");
    ckpd_series_options *reading = NULL;
    ckpd_series *other = NULL;
    file = file != NULL ? file : ckpd__member_text(node, "file");
    unit = unit != NULL ? unit : ckpd__member_text(node, "unit");
    int32_t status = make_options(loaded, place, node, column, unit, &reading);
    if (status == CKPD_OK) {
        status = read_column(loaded, beside, file, reading, &other);
        status = status == CKPD_OK ? ckpd_series_options_set_fill_from(
                                         options, ckpd__member_text(node, "column"), other, column)
                                   : status;
        status = status == CKPD_OK ? CKPD_OK : ckpd__refuse_with(context, &here, status);
    }
    ckpd_series_free(other);
    ckpd_series_options_free(reading);
    return status;
}

static int32_t set_filling(const ckpd_case *loaded, const ckpd__place *place,
                           const ckpd__json *node, const char *beside, ckpd_series_options *options)
{
    ckpd_context *context = loaded->context;
    const char *fill = ckpd__member_text(node, "fill");
    if (ckpd__member_text(node, "fill_column") == NULL) {
        const char *stray = ckpd__member_text(node, "fill_file") != NULL   ? "fill_file"
                            : ckpd__member_text(node, "fill_unit") != NULL ? "fill_unit"
                                                                           : NULL;
        if (stray != NULL) {
            ckpd__place here = {place, stray, 0};
            return ckpd__refuse(context, &here, CKPD_ERR_MISSING, (double)NAN,
                                "fill_column must say which column of it is meant");
        }
        int32_t status =
            fill != NULL
                ? ckpd_series_options_set_fill(options, ckpd__member_text(node, "column"), fill)
                : CKPD_OK;
        return status == CKPD_OK ? CKPD_OK : ckpd__refuse_with(context, place, status);
    }
    if (fill != NULL) {
        ckpd__place here = {place, "fill_column", 0};
        return ckpd__refuse(
            context, &here, CKPD_ERR_INCONSISTENT, (double)NAN,
            "missing values are filled by a rule (fill) or from a column, not both");
    }
    return use_other_column(loaded, place, node, beside, options);
}

/* Replaces the series by what `change` made of it. */
static int32_t replace(ckpd_series **series, ckpd_series *changed, int32_t status)
{
    if (status == CKPD_OK) {
        ckpd_series_free(*series);
        *series = changed;
    }
    return status;
}

/* Caps are the series of a site that may be unlimited, prices of caps aside. */
static bool is_cap(const char *name)
{
    ckpd_field_info info;
    return ckpd__handle_find(&ckpd__series_type, name, &info) && isinf(info.maximum) &&
           info.unit[0] != 'm';
}

/* A window that nobody wrote down: says where it comes from. */
static int32_t refuse_horizon(const ckpd_case *loaded, int32_t status)
{
    ckpd_error error = {.size = sizeof error};
    int32_t found = ckpd_context_last_error(loaded->context, &error);
    return found != CKPD_OK
               ? status
               : ckpd__fail(loaded->context, status, error.field, error.index, error.value,
                            "%s (the horizon has %d slots of %g minutes from %s on)", error.message,
                            loaded->slots, loaded->slot_minutes, loaded->start);
}

/* Cuts the series to the horizon when the case says when it begins, and brings it to the slot
 * length. */
static int32_t fit_to_horizon(const ckpd_case *loaded, const char *name, ckpd_series **series)
{
    ckpd_series *changed = NULL;
    int32_t status = CKPD_OK;
    if (loaded->start != NULL) {
        char from[CKPD__TIME_TEXT + 1], until[CKPD__TIME_TEXT + 1];
        int64_t seconds = (int64_t)(loaded->slot_minutes * 60 * loaded->slots + 0.5);
        ckpd__wall_print(loaded->start_utc, from);
        ckpd__wall_print(loaded->start_utc + seconds, until);
        strcat(from, "Z");
        strcat(until, "Z");
        status = ckpd_series_cut(&changed, *series, from, until);
        if (status == CKPD_ERR_MISSING) {
            return refuse_horizon(loaded, status);
        }
        status = replace(series, changed, status);
    }
    if (status == CKPD_OK &&
        fabs(ckpd_series_slot_hours(*series) * 60 - loaded->slot_minutes) > 1e-9) {
        status = is_cap(name) ? ckpd_series_resample_cap(&changed, *series, loaded->slot_minutes)
                              : ckpd_series_resample(&changed, *series, loaded->slot_minutes);
        status = replace(series, changed, status);
    }
    return status;
}

/* The first file with times gives the stamps of the slots: local offsets change on clock-change
 * days. */
static int32_t keep_times(ckpd_case *loaded, const ckpd_series *series)
{
    bool other_clock = loaded->has_times &&
                       (loaded->start == NULL || series->local_offset[0] != loaded->offset_s[0]);
    if (other_clock || series->slots != loaded->slots) {
        return CKPD_OK;
    }
    if (loaded->offset_s == NULL) {
        loaded->offset_s = ckpd__calloc(loaded->context, (size_t)loaded->slots, sizeof(int32_t));
        if (loaded->offset_s == NULL) {
            return ckpd__no_memory(loaded->context);
        }
        loaded->style = series->style;
    }
    memcpy(loaded->offset_s, series->local_offset, (size_t)loaded->slots * sizeof(int32_t));
    loaded->start_utc = series->start_s;
    loaded->has_times = true;
    return CKPD_OK;
}

int32_t ckpd__case_read_file(ckpd_case *loaded, const ckpd__place *place, const ckpd__json *node,
                             const char *beside)
{
    ckpd_context *context = loaded->context;
    ckpd_series_options *options = NULL;
    ckpd_series *series = NULL;
    int32_t status = ckpd__read_object(context, place, node, &ckpd__objects[CKPD__AT_FILE]);
    status = status == CKPD_OK
                 ? make_options(loaded, place, node, ckpd__member_text(node, "column"),
                                ckpd__member_text(node, "unit"), &options)
                 : status;
    status = status == CKPD_OK ? set_filling(loaded, place, node, beside, options) : status;
    if (status != CKPD_OK) {
        ckpd_series_options_free(options);
        return status;
    }
    status = read_column(loaded, beside, ckpd__member_text(node, "file"), options, &series);
    status = status == CKPD_OK ? fit_to_horizon(loaded, place->key, &series) : status;
    if (status == CKPD_OK) {
        status = ckpd_series_to_site(series, 0, ckpd__member_number(node, "factor", 1),
                                     loaded->site, place->key);
    }
    status = status == CKPD_OK ? CKPD_OK : ckpd__refuse_with(context, place, status);
    status = status == CKPD_OK ? keep_times(loaded, series) : status;
    ckpd_series_free(series);
    ckpd_series_options_free(options);
    return status;
}
