/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Series of a case that stand in CSV files. */
#include "io/case.h"
#include "io/file.h"

#include <ckptdispatch/series.h>
#include <math.h>
#include <string.h>

static int32_t make_options(ckpd_case *loaded, const ckpd__place *place, const ckpd__json *node,
                            ckpd_series_options **options)
{
    ckpd_context *context = loaded->context;
    const ckpd__object *object = &ckpd__objects[CKPD__AT_FILE];
    const char *column = ckpd__member_text(node, "column"), *fill = ckpd__member_text(node, "fill");
    int32_t status = ckpd_series_options_new(options, context);
    status = status == CKPD_OK ? ckpd__read_fields(context, place, node, object, *options) : status;
    if (status != CKPD_OK) {
        return status;
    }
    status = ckpd_series_options_add_column(*options, column, ckpd__member_text(node, "unit"));
    if (status == CKPD_OK && fill != NULL) {
        status = ckpd_series_options_set_fill(*options, column, fill);
    }
    const ckpd__json *filters;
    int32_t count = ckpd__member_items(node, "filters", &filters);
    for (int32_t i = 0; i < count && status == CKPD_OK; i++) {
        status = ckpd_series_options_add_filter(*options, filters[i].items[0].text,
                                                filters[i].items[1].text);
    }
    return status == CKPD_OK ? CKPD_OK : ckpd__refuse_with(context, place, status);
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

/* Cuts the series to the horizon when the case says when it begins, and brings it to the slot
 * length. */
static int32_t fit_to_horizon(const ckpd_case *loaded, ckpd_series **series)
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
        status = replace(series, changed, status);
    }
    if (status == CKPD_OK &&
        fabs(ckpd_series_slot_hours(*series) * 60 - loaded->slot_minutes) > 1e-9) {
        status = ckpd_series_resample(&changed, *series, loaded->slot_minutes);
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
    status = status == CKPD_OK ? make_options(loaded, place, node, &options) : status;
    if (status != CKPD_OK) {
        ckpd_series_options_free(options);
        return status;
    }
    char *path = ckpd__file_beside(context, beside, ckpd__member_text(node, "file"));
    status = path != NULL ? ckpd_series_read_file(&series, context, path, options)
                          : ckpd__no_memory(context);
    status = status == CKPD_OK ? fit_to_horizon(loaded, &series) : status;
    if (status == CKPD_OK) {
        status = ckpd_series_to_site(series, 0, ckpd__member_number(node, "factor", 1),
                                     loaded->site, place->key);
    }
    status = status == CKPD_OK ? CKPD_OK : ckpd__refuse_with(context, place, status);
    status = status == CKPD_OK ? keep_times(loaded, series) : status;
    ckpd__free(context, path);
    ckpd_series_free(series);
    ckpd_series_options_free(options);
    return status;
}
