/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "io/series.h"

#include "io/file.h"
#include <math.h>
#include <string.h>

/* --- life ------------------------------------------------------------------------------------ */

ckpd_series *ckpd__series_new(ckpd_context *context, int32_t slots, int32_t columns)
{
    ckpd_series *series = ckpd__calloc(context, 1, sizeof *series);
    if (series == NULL) {
        return NULL;
    }
    ckpd__handle_begin(series, CKPD__SERIES, context);
    atomic_init(&series->holders, 1);
    series->slots = slots;
    series->stamp_offset = ckpd__calloc(context, (size_t)slots, sizeof *series->stamp_offset);
    series->local_offset = ckpd__calloc(context, (size_t)slots, sizeof *series->local_offset);
    series->columns = ckpd__calloc(context, (size_t)columns, sizeof *series->columns);
    series->column_count = series->columns != NULL ? columns : 0;
    bool good =
        series->stamp_offset != NULL && series->local_offset != NULL && series->columns != NULL;
    for (int32_t i = 0; i < columns && good; i++) {
        series->columns[i].values =
            ckpd__calloc(context, (size_t)slots, sizeof *series->columns[i].values);
        good = series->columns[i].values != NULL;
    }
    if (!good) {
        ckpd_series_free(series);
        return NULL;
    }
    return series;
}

ckpd_series *ckpd__series_retain(const ckpd_series *series)
{
    ckpd_series *held =
        (ckpd_series *)(uintptr_t)series; /* the count is the one part that is not constant */
    atomic_fetch_add_explicit(&held->holders, 1, memory_order_relaxed);
    return held;
}

void ckpd_series_free(ckpd_series *series)
{
    CKPD__NULL_IF_FOREIGN(series, CKPD__SERIES);
    if (series == NULL ||
        atomic_fetch_sub_explicit(&series->holders, 1, memory_order_acq_rel) != 1) {
        return;
    }
    ckpd_context *context = series->context;
    for (int32_t i = 0; i < series->column_count; i++) {
        ckpd__free(context, series->columns[i].name);
        ckpd__free(context, series->columns[i].values);
        ckpd__free(context, series->columns[i].is_filled);
    }
    ckpd__free(context, series->columns);
    ckpd__free(context, series->stamp_offset);
    ckpd__free(context, series->local_offset);
    ckpd__handle_end(series);
}

int32_t ckpd__series_mark_filled(ckpd_series *series, int32_t column, int32_t slot)
{
    ckpd__column *c = &series->columns[column];
    if (c->is_filled == NULL) {
        c->is_filled = ckpd__calloc(series->context, (size_t)series->slots, sizeof *c->is_filled);
        if (c->is_filled == NULL) {
            return CKPD_ERR_NO_MEMORY;
        }
    }
    c->filled += c->is_filled[slot] == 0;
    c->is_filled[slot] = 1;
    return CKPD_OK;
}

/* --- reading --------------------------------------------------------------------------------- */

static void free_table(ckpd__table *table)
{
    for (int32_t i = 0; i < table->column_count; i++) {
        ckpd__free(table->context, table->columns[i].name);
    }
    ckpd__free(table->context, table->columns);
    ckpd__free(table->context, table->rows);
    ckpd__free(table->context, table->values);
    ckpd__zone_free(table->context, table->zone);
}

static int32_t read_series(ckpd_series **out, ckpd_context *context, const char *source,
                           const char *text, size_t length, const ckpd_series_options *options)
{
    ckpd_series_options *defaults = NULL;
    int32_t status = options == NULL ? ckpd_series_options_new(&defaults, context) : CKPD_OK;
    ckpd__table table = {
        .context = context, .source = source, .options = options != NULL ? options : defaults};
    const char *zone = status == CKPD_OK ? ckpd__option_text(table.options, CKPD__OPTION_ZONE) : "";
    if (status == CKPD_OK && zone[0] != '\0') {
        status = ckpd__zone_load(&table.zone, context, zone,
                                 ckpd__option_text(table.options, CKPD__OPTION_ZONE_FOLDER));
    }
    if (status == CKPD_OK) {
        status = ckpd__table_read(&table, text, length);
    }
    if (status == CKPD_OK) {
        status = ckpd__table_axis(&table);
    }
    if (status == CKPD_OK) {
        status = ckpd__table_build(out, &table);
    }
    free_table(&table);
    ckpd_series_options_free(defaults);
    return status;
}

int32_t ckpd_series_read_text(ckpd_series **out, ckpd_context *context, const char *text,
                              size_t length, const ckpd_series_options *options)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    CKPD__REFUSE_FOREIGN(context, options, CKPD__SERIES_OPTIONS);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL || text == NULL) {
        return ckpd__null_argument(context, out == NULL ? "out" : "text");
    }
    return read_series(out, context, "", text, length, options);
}

int32_t ckpd_series_read_file(ckpd_series **out, ckpd_context *context, const char *path,
                              const ckpd_series_options *options)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    CKPD__REFUSE_FOREIGN(context, options, CKPD__SERIES_OPTIONS);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL || path == NULL) {
        return ckpd__null_argument(context, out == NULL ? "out" : "path");
    }
    char *text;
    size_t length;
    int32_t status = ckpd__file_read(context, path, &text, &length);
    if (status != CKPD_OK) {
        return status;
    }
    const char *slash = strrchr(path, '/');
    char source[256];
    ckpd__format(source, sizeof source - 2, "%s", slash != NULL ? slash + 1 : path);
    memcpy(source + strlen(source), ": ", 3);
    status = read_series(out, context, source, text, length, options);
    ckpd__free(context, text);
    return status;
}

/* --- questions ------------------------------------------------------------------------------- */

int32_t ckpd_series_slots(const ckpd_series *series)
{
    CKPD__NULL_IF_FOREIGN(series, CKPD__SERIES);
    return series != NULL ? series->slots : 0;
}

double ckpd_series_slot_hours(const ckpd_series *series)
{
    CKPD__NULL_IF_FOREIGN(series, CKPD__SERIES);
    return series != NULL ? series->step_s / 3600.0 : 0;
}

int32_t ckpd_series_column_count(const ckpd_series *series)
{
    CKPD__NULL_IF_FOREIGN(series, CKPD__SERIES);
    return series != NULL ? series->column_count : 0;
}

static const ckpd__column *column_at(const ckpd_series *series, int32_t column)
{
    return series != NULL && column >= 0 && column < series->column_count ? &series->columns[column]
                                                                          : NULL;
}

const char *ckpd_series_column_name(const ckpd_series *series, int32_t column)
{
    CKPD__NULL_IF_FOREIGN(series, CKPD__SERIES);
    const ckpd__column *c = column_at(series, column);
    return c != NULL ? c->name : NULL;
}

const char *ckpd_series_column_unit(const ckpd_series *series, int32_t column)
{
    CKPD__NULL_IF_FOREIGN(series, CKPD__SERIES);
    const ckpd__column *c = column_at(series, column);
    return c != NULL ? ckpd__unit_text(c->quantity) : NULL;
}

int32_t ckpd_series_find_column(const ckpd_series *series, const char *name)
{
    CKPD__NULL_IF_FOREIGN(series, CKPD__SERIES);
    for (int32_t i = 0; series != NULL && name != NULL && i < series->column_count; i++) {
        if (strcmp(series->columns[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

int32_t ckpd_series_get(const ckpd_series *series, int32_t column, double *values, int32_t count)
{
    CKPD__REFUSE_FOREIGN(NULL, series, CKPD__SERIES);
    const ckpd__column *c = column_at(series, column);
    if (series == NULL || values == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (c == NULL) {
        return CKPD_ERR_RANGE;
    }
    if (count != series->slots) {
        return CKPD_ERR_LENGTH;
    }
    memcpy(values, c->values, (size_t)count * sizeof *values);
    return CKPD_OK;
}

int32_t ckpd_series_filled_count(const ckpd_series *series, int32_t column)
{
    CKPD__NULL_IF_FOREIGN(series, CKPD__SERIES);
    const ckpd__column *c = column_at(series, column);
    return c != NULL ? c->filled : -1;
}

int32_t ckpd_series_is_filled(const ckpd_series *series, int32_t column, int32_t slot)
{
    CKPD__NULL_IF_FOREIGN(series, CKPD__SERIES);
    const ckpd__column *c = column_at(series, column);
    return c != NULL && c->is_filled != NULL && slot >= 0 && slot < series->slots &&
           c->is_filled[slot] != 0;
}

int64_t ckpd_series_start_s(const ckpd_series *series, int32_t slot)
{
    CKPD__NULL_IF_FOREIGN(series, CKPD__SERIES);
    return series != NULL ? series->start_s + (int64_t)slot * series->step_s : 0;
}

int32_t ckpd_series_stamp(const ckpd_series *series, int32_t slot, char *buffer, size_t size)
{
    CKPD__REFUSE_FOREIGN(NULL, series, CKPD__SERIES);
    if (series == NULL || buffer == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (slot < 0 || slot >= series->slots) {
        return CKPD_ERR_RANGE;
    }
    char text[CKPD__TIME_TEXT];
    ckpd__label_print(&series->style, ckpd_series_start_s(series, slot + series->label_end),
                      series->stamp_offset[slot], text);
    size_t length = strlen(text) + 1;
    if (length > size) {
        return CKPD_ERR_BUFFER;
    }
    memcpy(buffer, text, length);
    return CKPD_OK;
}
