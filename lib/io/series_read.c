/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* From CSV rows to times and numbers: finds the columns, reads labels and values, says what is
 * wrong in which row. */
#include "io/csv.h"
#include "io/series.h"

#include <math.h>
#include <string.h>

enum { NOT_THERE = -1 };

typedef struct reader {
    ckpd__table *table;
    bool has_header;
    int32_t fields; /* of the header */
    int32_t time, hour, period, repeat;
    int32_t filters[CKPD__MOST_FILTERS];
} reader;

static bool choice(const reader *r, int32_t option, int32_t position)
{
    return (int32_t)r->table->options->values[option] == position;
}

/* --- header ---------------------------------------------------------------------------------- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool begins_with(const char *text, const char *start)
{
    while (*start != '\0' && lower(*text) == *start) {
        text++;
        start++;
    }
    return *start == '\0';
}

/* "time_interval_end", "hour_ending", "Hour Ending", "INTERVALENDTIME_GMT", but not "weekend". */
static bool names_an_end(const char *header)
{
    for (const char *at = header; *at != '\0'; at++) {
        bool word = at == header || strchr("_ -", at[-1]) != NULL;
        if ((word && (begins_with(at, "end_") || begins_with(at, "ending") ||
                      (begins_with(at, "end") && (at[3] == '\0' || at[3] == ' ')))) ||
            begins_with(at, "intervalend")) {
            return true;
        }
    }
    return false;
}

static bool same_name(const char *header, const char *name)
{
    size_t base;
    ckpd__unit unit;
    if (strcmp(header, name) == 0) {
        return true;
    }
    ckpd__unit_of_header(header, &unit, &base);
    return base > 0 && strlen(name) == base && memcmp(header, name, base) == 0;
}

/* Position of a column that has to be there once. */
static int32_t find_field(reader *r, const ckpd__csv_row *row, const char *name, int32_t *position)
{
    ckpd__table *table = r->table;
    *position = NOT_THERE;
    for (int32_t i = 0; i < row->count; i++) {
        if (!same_name(row->fields[i], name)) {
            continue;
        }
        if (*position != NOT_THERE) {
            return ckpd__fail(table->context, CKPD_ERR_DUPLICATE, name, row->line, (double)NAN,
                              "%srow %L: the header has column '%s' twice", table->source,
                              row->line, name);
        }
        *position = i;
    }
    if (*position != NOT_THERE) {
        return CKPD_OK;
    }
    const char *nearest = ckpd__nearest(name, row->fields, (size_t)row->count);
    return ckpd__fail(table->context, CKPD_ERR_UNKNOWN_NAME, name, row->line, (double)NAN,
                      "%srow %L: the header has no column '%s'%s%s%s", table->source, row->line,
                      name, nearest != NULL ? "; did you mean '" : "",
                      nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
}

static int32_t find_time(reader *r, const ckpd__csv_row *row)
{
    ckpd__table *table = r->table;
    const char *name = ckpd__option_text(table->options, CKPD__OPTION_TIME_COLUMN);
    if (name[0] != '\0') {
        return find_field(r, row, name, &r->time);
    }
    for (r->time = 0; r->time < row->count; r->time++) {
        if (begins_with(row->fields[r->time], "time") ||
            begins_with(row->fields[r->time], "date")) {
            return CKPD_OK;
        }
    }
    return ckpd__fail(table->context, CKPD_ERR_MISSING, "time_column", row->line, (double)NAN,
                      "%srow %L: no column of the header begins with 'time' or 'date'; name one as "
                      "time_column, or another row as header_row (the first is '%s')",
                      table->source, row->line, row->fields[0]);
}

static int32_t find_optional(reader *r, const ckpd__csv_row *row, int32_t option, int32_t *position)
{
    const char *name = ckpd__option_text(r->table->options, option);
    *position = NOT_THERE;
    return name[0] == '\0' ? CKPD_OK : find_field(r, row, name, position);
}

static int32_t find_period(reader *r, const ckpd__csv_row *row)
{
    ckpd__table *table = r->table;
    int32_t status = find_optional(r, row, CKPD__OPTION_PERIOD_COLUMN, &r->period);
    if (status != CKPD_OK || r->period == NOT_THERE) {
        return status;
    }
    if (r->hour != NOT_THERE || r->repeat != NOT_THERE) {
        return ckpd__fail(table->context, CKPD_ERR_INCONSISTENT, "period_column", row->line,
                          (double)NAN,
                          "%speriod_column says which slot of the day it is: leave out hour_column "
                          "and repeat_column",
                          table->source);
    }
    return !isnan(table->options->values[CKPD__OPTION_SLOT_MINUTES])
               ? CKPD_OK
               : ckpd__fail(table->context, CKPD_ERR_MISSING, "slot_minutes", row->line,
                            (double)NAN, "%speriod_column needs slot_minutes", table->source);
}

static bool is_used(const reader *r, int32_t field)
{
    for (int32_t i = 0; i < r->table->options->filter_count; i++) {
        if (r->filters[i] == field) {
            return true;
        }
    }
    return field == r->time || field == r->hour || field == r->period || field == r->repeat;
}

/* Takes the column at `field`; its unit comes from the options or the header, which must not
 * disagree. */
static int32_t add_column(reader *r, const ckpd__csv_row *row, int32_t field,
                          const ckpd__wanted_column *wanted)
{
    ckpd__table *table = r->table;
    const char *header = row->fields[field];
    ckpd__source_column column = {.wanted = wanted, .field = field};
    size_t base;
    bool in_header = ckpd__unit_of_header(header, &column.unit, &base);
    if (wanted != NULL && wanted->has_unit) {
        if (in_header && (column.unit.quantity != wanted->unit.quantity ||
                          column.unit.factor != wanted->unit.factor)) {
            return ckpd__fail(table->context, CKPD_ERR_INCONSISTENT, header, row->line, (double)NAN,
                              "%scolumn '%s': the header names another unit than the one given",
                              table->source, header);
        }
        column.unit = wanted->unit;
    }
    column.name = ckpd__strdup(table->context, wanted != NULL ? wanted->name : header);
    if (column.name == NULL) {
        return ckpd__no_memory(table->context);
    }
    table->columns[table->column_count++] = column;
    return CKPD_OK;
}

static int32_t take_columns(reader *r, const ckpd__csv_row *row)
{
    ckpd__table *table = r->table;
    const ckpd_series_options *options = table->options;
    int32_t count = options->column_count > 0 ? options->column_count : row->count;
    table->columns = ckpd__calloc(table->context, (size_t)count, sizeof *table->columns);
    int32_t status = table->columns != NULL ? CKPD_OK : ckpd__no_memory(table->context);
    for (int32_t i = 0; i < options->column_count && status == CKPD_OK; i++) {
        int32_t field = 0;
        status = find_field(r, row, options->columns[i].name, &field);
        status = status == CKPD_OK ? add_column(r, row, field, &options->columns[i]) : status;
    }
    for (int32_t i = 0; options->column_count == 0 && i < row->count && status == CKPD_OK; i++) {
        if (!is_used(r, i) && row->fields[i][0] != '\0') {
            int32_t position;
            status = find_field(r, row, row->fields[i], &position);
            status = status == CKPD_OK ? add_column(r, row, i, NULL) : status;
        }
    }
    if (status == CKPD_OK &&
        (table->column_count == 0 || table->column_count > CKPD__MOST_COLUMNS)) {
        return ckpd__fail(table->context, CKPD_ERR_MISSING, "column", row->line,
                          table->column_count,
                          "%srow %L: %d columns beside the time; there must be 1 to %d",
                          table->source, row->line, table->column_count, CKPD__MOST_COLUMNS);
    }
    return status;
}

/* What is concluded from a name is said. */
static void find_label(reader *r, const char *header)
{
    ckpd__table *table = r->table;
    table->label_end = choice(r, CKPD__OPTION_LABEL, CKPD__LABEL_END);
    if (choice(r, CKPD__OPTION_LABEL, CKPD__LABEL_AUTO) && names_an_end(header)) {
        table->label_end = true;
        ckpd__log(table->context, CKPD_LOG_INFO, CKPD_MSG_FILE,
                  "%scolumn '%s': times are taken as ends of intervals", table->source, header);
    }
}

static int32_t read_header(reader *r, const ckpd__csv_row *row)
{
    const ckpd_series_options *options = r->table->options;
    r->has_header = true;
    r->fields = row->count;
    r->hour = r->period = r->repeat = NOT_THERE;
    int32_t status = find_time(r, row);
    if (status == CKPD_OK) {
        status = find_optional(r, row, CKPD__OPTION_HOUR_COLUMN, &r->hour);
    }
    if (status == CKPD_OK) {
        status = find_optional(r, row, CKPD__OPTION_REPEAT_COLUMN, &r->repeat);
    }
    if (status == CKPD_OK) {
        status = find_period(r, row);
    }
    for (int32_t i = 0; i < options->filter_count && status == CKPD_OK; i++) {
        status = find_field(r, row, options->filters[i].column, &r->filters[i]);
    }
    if (status == CKPD_OK) {
        if (r->period == NOT_THERE) { /* a number is neither start nor end */
            find_label(r, row->fields[r->hour != NOT_THERE ? r->hour : r->time]);
        }
        status = take_columns(r, row);
    }
    return status;
}

/* --- values ---------------------------------------------------------------------------------- */

static bool is_missing(const char *text)
{
    static const char *const words[] = {"",         "null",      "nan",       "na",  "n/a",  "#n/a",
                                        "none",     "nil",       "-",         "inf", "-inf", "+inf",
                                        "infinity", "-infinity", "+infinity", "-nan"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(text) == strlen(words[i]) && begins_with(text, words[i])) {
            return true;
        }
    }
    return false;
}

/* What a text that is no number probably was meant to be. */
static const char *advice(const char *text, bool decimal_comma)
{
    size_t commas = 0, points = 0, others = 0, spaces = 0;
    for (const char *c = text; *c != '\0'; c++) {
        commas += *c == ',';
        points += *c == '.';
        spaces += *c == ' ' || *c == '\'' || *c == '_' || (unsigned char)*c == 0xa0;
        others +=
            (*c < '0' || *c > '9') && strchr(",.-+ '_", *c) == NULL && (unsigned char)*c < 0x80;
    }
    if (strncmp(text, "\xe2\x88\x92", 3) == 0) {
        return ": it begins with a typographic minus, write '-'";
    }
    if (text[0] == '(' && strchr(text, ')') != NULL) {
        return ": write negative numbers with '-', not in brackets";
    }
    if (strchr(text, '%') != NULL) {
        return ": write the number alone, without '%'";
    }
    if (strchr("$\xc2\xe2", text[0]) != NULL || strchr(text, '$') != NULL) {
        return ": write the number alone, the currency belongs to the header";
    }
    if (others > 0 || commas + points + spaces == 0) {
        return "";
    }
    if (spaces > 0 || commas + points > 1) {
        return ": thousands separators are not accepted";
    }
    return decimal_comma
               ? ": it has a point, but decimal is comma (thousands separators are not accepted)"
               : ": a decimal comma? Set decimal to comma (thousands separators are not accepted)";
}

static int32_t read_value(reader *r, const ckpd__csv_row *row, const ckpd__source_column *column,
                          double *value)
{
    ckpd__table *table = r->table;
    const char *text = row->fields[column->field];
    if (is_missing(text)) {
        *value = (double)NAN;
        return CKPD_OK;
    }
    bool comma = choice(r, CKPD__OPTION_DECIMAL, 1);
    char number[512];
    size_t length = strlen(text);
    bool good = length < sizeof number && !(comma && strchr(text, '.') != NULL);
    if (good) {
        memcpy(number, text, length + 1);
        char *mark = comma ? strchr(number, ',') : NULL;
        if (mark != NULL) {
            *mark = '.';
        }
        good = ckpd__parse_double(number, length, value);
    }
    if (good) {
        double scaled = *value * column->unit.factor + 0.0; /* -0 becomes 0 */
        *value = scaled;
        return isfinite(scaled)
                   ? CKPD_OK
                   : ckpd__fail(table->context, CKPD_ERR_RANGE, column->name, row->line,
                                (double)NAN, "%srow %L, column '%s': '%s' is too large",
                                table->source, row->line, column->name, text);
    }
    return ckpd__fail(table->context, CKPD_ERR_SYNTAX, column->name, row->line, (double)NAN,
                      "%srow %L, column '%s': '%s' is not a number%s", table->source, row->line,
                      column->name, text, advice(text, comma));
}

/* --- rows ------------------------------------------------------------------------------------ */

static int32_t grow(reader *r)
{
    ckpd__table *table = r->table;
    if (table->row_count < table->row_room) {
        return CKPD_OK;
    }
    if (table->row_room >= CKPD_SERIES_MOST_SLOTS) {
        return ckpd__fail(table->context, CKPD_ERR_RANGE, "row", table->row_room, (double)NAN,
                          "%sit has more than %d rows", table->source, CKPD_SERIES_MOST_SLOTS);
    }
    int32_t room = table->row_room == 0 ? 256 : table->row_room * 2;
    room = room < CKPD_SERIES_MOST_SLOTS ? room : CKPD_SERIES_MOST_SLOTS;
    ckpd__row *rows = ckpd__realloc(table->context, table->rows, (size_t)room, sizeof *rows);
    if (rows == NULL) {
        return ckpd__no_memory(table->context);
    }
    table->rows = rows;
    double *values = ckpd__realloc(table->context, table->values, (size_t)room,
                                   (size_t)table->column_count * sizeof *values);
    if (values == NULL) {
        return ckpd__no_memory(table->context);
    }
    table->values = values;
    table->row_room = room;
    return CKPD_OK;
}

/* What to do about a text that is no date at all, or one in another order. */
static const char *date_advice(const reader *r, const char *text, const char *wrong)
{
    if (!begins_with(wrong, "not a date")) {
        return "";
    }
    if (text[0] < '0' || text[0] > '9') {
        return " (rows of titles, units or totals have to go)";
    }
    return choice(r, CKPD__OPTION_DATE_ORDER, CKPD__YMD) ? "; for others set date_order" : "";
}

static int32_t read_label(reader *r, const ckpd__csv_row *row, ckpd__label *label, int32_t *period)
{
    ckpd__table *table = r->table;
    int32_t field = r->time;
    const char *wrong = ckpd__label_parse_range(
        row->fields[field], (int32_t)table->options->values[CKPD__OPTION_DATE_ORDER],
        table->label_end, label);
    if (wrong == NULL && r->period != NOT_THERE) {
        field = r->period;
        wrong = ckpd__label_add_period(row->fields[field], label, period);
    }
    if (wrong == NULL && r->hour != NOT_THERE) {
        field = r->hour;
        wrong = ckpd__label_add_hour(row->fields[field], label);
    }
    if (wrong != NULL) {
        return ckpd__fail(table->context, CKPD_ERR_SYNTAX, "time", row->line, (double)NAN,
                          "%srow %L: time '%s': %s%s", table->source, row->line, row->fields[field],
                          wrong, date_advice(r, row->fields[field], wrong));
    }
    if (table->row_count == 0 || (table->style.date_only && !label->style.date_only)) {
        table->style = label->style;
    } else if ((table->style.clock == CKPD__CLOCK_LOCAL) !=
                   (label->style.clock == CKPD__CLOCK_LOCAL) ||
               (table->style.clock == CKPD__CLOCK_EPOCH) !=
                   (label->style.clock == CKPD__CLOCK_EPOCH)) {
        return ckpd__fail(table->context, CKPD_ERR_INCONSISTENT, "time", row->line, (double)NAN,
                          "%srow %L: time '%s' is written in another way than the first one "
                          "(offset, epoch or neither)",
                          table->source, row->line, row->fields[field]);
    }
    return CKPD_OK;
}

static bool passes_filters(const reader *r, const ckpd__csv_row *row)
{
    const ckpd_series_options *options = r->table->options;
    for (int32_t i = 0; i < options->filter_count; i++) {
        if (r->filters[i] < row->count &&
            strcmp(row->fields[r->filters[i]], options->filters[i].text) != 0) {
            return false;
        }
    }
    return true;
}

/* Trailing empty fields come from spreadsheets and are harmless; anything else is not. */
static int32_t check_count(reader *r, const ckpd__csv_row *row)
{
    int32_t count = row->count;
    while (count > r->fields && row->fields[count - 1][0] == '\0') {
        count--;
    }
    if (count == r->fields) {
        return CKPD_OK;
    }
    return ckpd__fail(
        r->table->context, CKPD_ERR_LENGTH, "row", row->line, count,
        "%srow %L: %d fields, the header has %d%s", r->table->source, row->line, count, r->fields,
        count > r->fields ? " (a decimal comma in a file with commas between the fields?)" : "");
}

static int32_t on_row(const ckpd__csv_row *row, void *user)
{
    reader *r = user;
    ckpd__table *table = r->table;
    if (!r->has_header) {
        return read_header(r, row);
    }
    if (!passes_filters(r, row)) {
        return CKPD_OK; /* first: rows of another kind may have other fields */
    }
    int32_t status = check_count(r, row);
    status = status == CKPD_OK ? grow(r) : status;
    ckpd__label label;
    int32_t period = 0;
    if (status == CKPD_OK) {
        status = read_label(r, row, &label, &period);
    }
    for (int32_t i = 0; i < table->column_count && status == CKPD_OK; i++) {
        size_t place = (size_t)table->row_count * (size_t)table->column_count + (size_t)i;
        status = read_value(r, row, &table->columns[i], &table->values[place]);
    }
    if (status == CKPD_OK) {
        const char *repeat = r->repeat != NOT_THERE ? row->fields[r->repeat] : "";
        bool second =
            begins_with(repeat, "y") || begins_with(repeat, "true") || strcmp(repeat, "1") == 0;
        table->rows[table->row_count] = (ckpd__row){.line = row->line,
                                                    .wall = label.wall,
                                                    .utc = label.wall - label.offset_s,
                                                    .offset_s = label.offset_s,
                                                    .values = table->row_count,
                                                    .period = period,
                                                    .second = second};
        table->row_count++;
    }
    return status;
}

int32_t ckpd__table_read(ckpd__table *table, const char *text, size_t length)
{
    static const char delimiters[] = {0, ',', ';', '\t'};
    reader r = {.table = table};
    char delimiter = delimiters[(int32_t)table->options->values[CKPD__OPTION_DELIMITER]];
    int32_t status =
        ckpd__csv_read(table->context, table->source, text, length, delimiter,
                       (int64_t)table->options->values[CKPD__OPTION_HEADER_ROW], on_row, &r);
    if (status == CKPD_OK && table->row_count == 0) {
        bool from_top = table->options->values[CKPD__OPTION_HEADER_ROW] <= 1;
        return ckpd__fail(table->context, CKPD_ERR_MISSING, "row", 0, (double)NAN, "%s%s",
                          table->source,
                          !r.has_header && from_top          ? "the text is empty"
                          : !r.has_header                    ? "it ends above header_row"
                          : table->options->filter_count > 0 ? "no row passes the filters"
                                                             : "no rows after the header");
    }
    return status;
}
