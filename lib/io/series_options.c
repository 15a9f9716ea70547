/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "io/series.h"

#include "base/fields.h"
#include <math.h>
#include <string.h>

enum { LONGEST_TEXT = 255 };

static const ckpd__field fields[CKPD__OPTION_COUNT] = {
    {"slot_minutes", "min", "slot length; when not given, the distance most rows have",
     CKPD_FIELD_NUMBER, 0, 1.0 / 60, 1440, (double)NAN, NULL},
    {"longest_gap_hours", "h", "longest run of missing values or rows that a rule may fill",
     CKPD_FIELD_NUMBER, 0, 0, 8784, 3, NULL},
    {"header_row", "",
     "row of the file that holds the names of the columns; what stands above is left out",
     CKPD_FIELD_INTEGER, 0, 1, 10000, 1, NULL},
    {"sort", "", "1: rows may stand in any order of time", CKPD_FIELD_FLAG, 0, 0, 1, 0, NULL},
    {"label", "",
     "what the time of a row names; auto: the end when the column's name says so, else the start",
     CKPD_FIELD_CHOICE, 0, 0, 2, CKPD__LABEL_AUTO, "auto|start|end"},
    {"decimal", "", "decimal mark of the numbers", CKPD_FIELD_CHOICE, 0, 0, 1, 0, "point|comma"},
    {"delimiter", "", "between fields; auto: the one most frequent in the header",
     CKPD_FIELD_CHOICE, 0, 0, 3, 0, "auto|comma|semicolon|tab"},
    {"date_order", "", "order of year, month and day in dates", CKPD_FIELD_CHOICE, 0, 0, 2,
     CKPD__YMD, "ymd|mdy|dmy"},
    {"gaps", "", "absent rows; missing: they count as missing values, for the fill rules",
     CKPD_FIELD_CHOICE, 0, 0, 1, 0, "refuse|missing"},
    {"time_column", "",
     "column of the times; when not given, the first whose name begins with time or date",
     CKPD_FIELD_TEXT, 0, 0, 0, (double)NAN, NULL},
    {"hour_column", "", "column of the hours when the time column holds dates alone",
     CKPD_FIELD_TEXT, 0, 0, 0, (double)NAN, NULL},
    {"period_column", "",
     "column of the number of the slot in the day, from 1 on, when the time column holds dates "
     "alone",
     CKPD_FIELD_TEXT, 0, 0, 0, (double)NAN, NULL},
    {"repeat_column", "", "column that says Y, 1 or true in the second pass of a repeated hour",
     CKPD_FIELD_TEXT, 0, 0, 0, (double)NAN, NULL},
    {"zone", "", "zone of times without offset and of dates: Europe/Berlin, UTC, +10:00",
     CKPD_FIELD_TEXT, 0, 0, 0, (double)NAN, NULL},
    {"zone_folder", "", "folder of TZif files; when not given, the system's", CKPD_FIELD_TEXT, 0, 0,
     0, (double)NAN, NULL},
    {"from", "", "start of the window to read: a date, or a time", CKPD_FIELD_TEXT, 0, 0, 0,
     (double)NAN, NULL},
    {"until", "", "end of the window to read, not included", CKPD_FIELD_TEXT, 0, 0, 0, (double)NAN,
     NULL},
};
static const ckpd__field_table table = {"series options", fields, CKPD__OPTION_COUNT};

int32_t ckpd_series_options_new(ckpd_series_options **out, ckpd_context *context)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (out == NULL) {
        return ckpd__null_argument(context, "out");
    }
    ckpd_series_options *options = ckpd__calloc(context, 1, sizeof *options);
    if (options == NULL) {
        return ckpd__no_memory(context);
    }
    ckpd__handle_begin(options, CKPD__SERIES_OPTIONS, context);
    ckpd__fields_defaults(&table, options->values);
    *out = options;
    return CKPD_OK;
}

void ckpd_series_options_free(ckpd_series_options *options)
{
    CKPD__NULL_IF_FOREIGN(options, CKPD__SERIES_OPTIONS);
    if (options == NULL) {
        return;
    }
    ckpd_context *context = options->context;
    for (int32_t i = 0; i < CKPD__TEXT_OPTIONS; i++) {
        ckpd__free(context, options->texts[i]);
    }
    for (int32_t i = 0; i < options->column_count; i++) {
        ckpd__free(context, options->columns[i].name);
        ckpd_series_free(options->columns[i].other);
    }
    for (int32_t i = 0; i < options->filter_count; i++) {
        ckpd__free(context, options->filters[i].column);
        ckpd__free(context, options->filters[i].text);
    }
    ckpd__free(context, options->columns);
    ckpd__free(context, options->filters);
    ckpd__handle_end(options);
}

int32_t ckpd_series_options_field_count(void)
{
    return CKPD__OPTION_COUNT;
}

int32_t ckpd_series_options_field_info(int32_t index, ckpd_field_info *out)
{
    return ckpd__fields_info(NULL, &table, index, out);
}

static bool is_text_field(const char *field)
{
    return field != NULL && ckpd__fields_find(&table, field) >= CKPD__OPTION_FIRST_TEXT;
}

int32_t ckpd_series_options_set(ckpd_series_options *options, const char *field, double value)
{
    CKPD__REFUSE_FOREIGN(NULL, options, CKPD__SERIES_OPTIONS);
    if (options == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (is_text_field(field)) {
        return ckpd__fail(options->context, CKPD_ERR_ARGUMENT, field, -1, value,
                          "series options: %s is a text, not the number %g", field, value);
    }
    return ckpd__fields_set(options->context, &table, options->values, field, value);
}

static int32_t copy_text(ckpd_context *context, const char *field, const char *text, char **copy)
{
    if (text == NULL) {
        return ckpd__null_argument(context, field);
    }
    size_t length = strlen(text);
    if (length > LONGEST_TEXT) {
        return ckpd__fail(context, CKPD_ERR_RANGE, field, -1, (double)length,
                          "series options: %s has %z bytes, at most %d are allowed", field, length,
                          LONGEST_TEXT);
    }
    *copy = ckpd__strdup(context, text);
    return *copy != NULL ? CKPD_OK : ckpd__no_memory(context);
}

int32_t ckpd_series_options_set_text(ckpd_series_options *options, const char *field,
                                     const char *text)
{
    CKPD__REFUSE_FOREIGN(NULL, options, CKPD__SERIES_OPTIONS);
    if (options == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (!is_text_field(field)) {
        return ckpd__fields_set_text(options->context, &table, options->values, field, text);
    }
    char *copy;
    int32_t status = copy_text(options->context, field, text, &copy);
    if (status == CKPD_OK) {
        char **place = &options->texts[ckpd__fields_find(&table, field) - CKPD__OPTION_FIRST_TEXT];
        ckpd__free(options->context, *place);
        *place = copy;
    }
    return status;
}

const char *ckpd__option_text(const ckpd_series_options *options, int32_t option)
{
    const char *text = options->texts[option - CKPD__OPTION_FIRST_TEXT];
    return text != NULL ? text : "";
}

int32_t ckpd_series_options_add_column(ckpd_series_options *options, const char *column,
                                       const char *unit)
{
    CKPD__REFUSE_FOREIGN(NULL, options, CKPD__SERIES_OPTIONS);
    if (options == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = options->context;
    ckpd__wanted_column wanted = {.has_unit = unit != NULL};
    for (int32_t i = 0; column != NULL && i < options->column_count; i++) {
        if (strcmp(options->columns[i].name, column) == 0) {
            return ckpd__fail(context, CKPD_ERR_DUPLICATE, column, i, (double)NAN,
                              "series options: column '%s' was asked for already", column);
        }
    }
    if (unit != NULL && !ckpd__unit_parse(unit, strlen(unit), &wanted.unit)) {
        return ckpd__fail(context, CKPD_ERR_UNKNOWN_NAME, column, -1, (double)NAN,
                          "column '%s': unit '%s' is not known; examples are kW, MW, kWh, EUR/MWh, "
                          "ct/kWh, g/kWh, "
                          "and 1 for a pure number",
                          column != NULL ? column : "", unit);
    }
    if (options->column_count == CKPD__MOST_COLUMNS) {
        return ckpd__fail(context, CKPD_ERR_RANGE, column, CKPD__MOST_COLUMNS, (double)NAN,
                          "series options: at most %d columns can be asked for",
                          CKPD__MOST_COLUMNS);
    }
    int32_t status = copy_text(context, "column", column, &wanted.name);
    if (status != CKPD_OK) {
        return status;
    }
    ckpd__wanted_column *grown =
        ckpd__realloc(context, options->columns, (size_t)options->column_count + 1, sizeof *grown);
    if (grown == NULL) {
        ckpd__free(context, wanted.name);
        return ckpd__no_memory(context);
    }
    grown[options->column_count++] = wanted;
    options->columns = grown;
    return CKPD_OK;
}

static int32_t find_wanted(ckpd_series_options *options, const char *column,
                           ckpd__wanted_column **wanted)
{
    if (column == NULL) {
        return ckpd__null_argument(options->context, "column");
    }
    const char *names[CKPD__MOST_COLUMNS];
    for (int32_t i = 0; i < options->column_count; i++) {
        names[i] = options->columns[i].name;
        if (strcmp(names[i], column) == 0) {
            *wanted = &options->columns[i];
            return CKPD_OK;
        }
    }
    const char *nearest = ckpd__nearest(column, names, (size_t)options->column_count);
    return ckpd__fail(options->context, CKPD_ERR_UNKNOWN_NAME, column, -1, (double)NAN,
                      "series options: column '%s' has not been added%s%s%s", column,
                      nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                      nearest != NULL ? "'?" : "");
}

int32_t ckpd_series_options_set_fill(ckpd_series_options *options, const char *column,
                                     const char *rule)
{
    CKPD__REFUSE_FOREIGN(NULL, options, CKPD__SERIES_OPTIONS);
    static const char *const rules[] = {"refuse", "hold", "linear"};
    if (options == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd__wanted_column *wanted;
    int32_t status = find_wanted(options, column, &wanted);
    if (status != CKPD_OK) {
        return status;
    }
    if (rule == NULL) {
        return ckpd__null_argument(options->context, "rule");
    }
    for (int32_t i = 0; i < 3; i++) {
        if (strcmp(rules[i], rule) == 0) {
            ckpd_series_free(wanted->other);
            wanted->other = NULL;
            wanted->fill = i;
            return CKPD_OK;
        }
    }
    return ckpd__fail(options->context, CKPD_ERR_UNKNOWN_NAME, "rule", -1, (double)NAN,
                      "column '%s': fill rule '%s' is not one of refuse|hold|linear", column, rule);
}

int32_t ckpd_series_options_set_fill_from(ckpd_series_options *options, const char *column,
                                          const ckpd_series *other, const char *source)
{
    CKPD__REFUSE_FOREIGN(NULL, options, CKPD__SERIES_OPTIONS);
    CKPD__REFUSE_FOREIGN(options, other, CKPD__SERIES);
    if (options == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd__wanted_column *wanted;
    int32_t status = find_wanted(options, column, &wanted);
    if (status != CKPD_OK) {
        return status;
    }
    if (other == NULL || source == NULL) {
        return ckpd__null_argument(options->context, other == NULL ? "other" : "source");
    }
    int32_t position = ckpd_series_find_column(other, source);
    if (position < 0) {
        return ckpd__fail(options->context, CKPD_ERR_UNKNOWN_NAME, source, -1, (double)NAN,
                          "column '%s': the other series has no column '%s'", column, source);
    }
    ckpd_series *held = ckpd__series_retain(other);
    ckpd_series_free(wanted->other);
    wanted->other = held;
    wanted->other_column = position;
    wanted->fill = CKPD__FILL_FROM;
    return CKPD_OK;
}

int32_t ckpd_series_options_add_filter(ckpd_series_options *options, const char *column,
                                       const char *text)
{
    CKPD__REFUSE_FOREIGN(NULL, options, CKPD__SERIES_OPTIONS);
    if (options == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = options->context;
    if (options->filter_count == CKPD__MOST_FILTERS) {
        return ckpd__fail(context, CKPD_ERR_RANGE, column, CKPD__MOST_FILTERS, (double)NAN,
                          "series options: at most %d filters can be given", CKPD__MOST_FILTERS);
    }
    ckpd__filter filter = {NULL, NULL};
    int32_t status = copy_text(context, "column", column, &filter.column);
    if (status == CKPD_OK) {
        status = copy_text(context, "text", text, &filter.text);
    }
    if (status == CKPD_OK) {
        ckpd__filter *grown = ckpd__realloc(context, options->filters,
                                            (size_t)options->filter_count + 1, sizeof *grown);
        if (grown != NULL) {
            grown[options->filter_count++] = filter;
            options->filters = grown;
            return CKPD_OK;
        }
        status = ckpd__no_memory(context);
    }
    ckpd__free(context, filter.column);
    ckpd__free(context, filter.text);
    return status;
}
