/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Filler types from CSV. */
#include "io/csv.h"
#include "io/shape_table.h"
#include "shape/shape.h"

#include <ckptdispatch/io.h>
#include <math.h>
#include <string.h>

enum { MOST_ROWS = 1024, MOST_TYPES = 256, MOST_COLUMNS = 64 };

enum { NAME, REPLICA, BATCH, POWER, DURATION, PLANNED, AXIS, COLUMNS };
static const char *const column_name[COLUMNS] = {
    "type", "gpus_per_replica", "batch", "power_per_gpu_W", "batch_time_s", "planned", "axis"};

typedef struct reading {
    ckpd_context *context;
    bool headed;
    int32_t at[COLUMNS];         /* position of each column, -1 when absent */
    int32_t field[MOST_COLUMNS]; /* 1 + field of a filler that a column gives, else 0 */
    /* the type that is being read */
    ckpd_filler *filler;
    int32_t rows, planned_count;
    int32_t planned[MOST_ROWS];
    ckpd__table_row row[MOST_ROWS];
    /* types that are complete */
    int32_t types;
    ckpd_filler *type[MOST_TYPES];
} reading;

/* 1 + the field of a filler of this name, 0 when there is none. */
static int32_t field_of(const char *name)
{
    for (int32_t i = 0; i < ckpd_filler_field_count(); i++) {
        ckpd_field_info info = {.size = sizeof info};
        if (ckpd_filler_field_info(i, &info) == CKPD_OK && strcmp(info.name, name) == 0) {
            return 1 + i;
        }
    }
    return 0;
}

static int32_t read_header(reading *r, const ckpd__csv_row *row)
{
    r->headed = true;
    if (row->count > MOST_COLUMNS) {
        return ckpd__fail(r->context, CKPD_ERR_LENGTH, "columns", row->line, row->count,
                          "line %L: %d columns are more than %d", row->line, row->count,
                          MOST_COLUMNS);
    }
    for (int32_t i = 0; i < row->count; i++) {
        r->field[i] = field_of(row->fields[i]);
    }
    for (int32_t k = 0; k < COLUMNS; k++) {
        r->at[k] = -1;
        for (int32_t i = 0; i < row->count; i++) {
            if (strcmp(row->fields[i], column_name[k]) == 0) {
                r->at[k] = i;
            }
        }
        if (r->at[k] < 0 && k <= DURATION) {
            return ckpd__fail(r->context, CKPD_ERR_MISSING, column_name[k], row->line, (double)NAN,
                              "line %L: the header has no column '%s'", row->line, column_name[k]);
        }
    }
    return CKPD_OK;
}

static int32_t cell(const reading *r, const ckpd__csv_row *row, int32_t at, const char *name,
                    double *value)
{
    const char *text = at < row->count ? row->fields[at] : "";
    if (ckpd__parse_double(text, strlen(text), value)) {
        return CKPD_OK;
    }
    return ckpd__fail(r->context, CKPD_ERR_SYNTAX, name, row->line, (double)NAN,
                      "line %L: %s is '%s', not a number", row->line, name, text);
}

static int32_t number(const reading *r, const ckpd__csv_row *row, int32_t column, double *value)
{
    return cell(r, row, r->at[column], column_name[column], value);
}

static int32_t end_type(reading *r)
{
    if (r->filler == NULL) {
        return CKPD_OK;
    }
    int32_t status = ckpd__table_rows_set(r->context, r->filler, r->row, r->rows);
    if (status == CKPD_OK) {
        status = ckpd_filler_set_planned(r->filler, r->planned_count, r->planned);
    }
    if (status == CKPD_OK && r->types == MOST_TYPES) {
        status = ckpd__fail(r->context, CKPD_ERR_LENGTH, "type", -1, MOST_TYPES,
                            "more than %d types", MOST_TYPES);
    }
    if (status == CKPD_OK) {
        r->type[r->types++] = r->filler;
        r->filler = NULL;
    }
    return status;
}

/* Fields of the type as a whole, from its first row; where a cell is empty the default stays. */
static int32_t set_fields(reading *r, const ckpd__csv_row *row)
{
    int32_t status = CKPD_OK;
    for (int32_t i = 0; i < row->count && i < MOST_COLUMNS && status == CKPD_OK; i++) {
        ckpd_field_info info = {.size = sizeof info};
        double value;
        if (r->field[i] == 0 || (row->fields[i][0] == '\0' && i != r->at[REPLICA])) {
            continue;
        }
        status = ckpd_filler_field_info(r->field[i] - 1, &info);
        status = status == CKPD_OK ? cell(r, row, i, info.name, &value) : status;
        status = status == CKPD_OK ? ckpd_filler_set(r->filler, info.name, value) : status;
    }
    return status;
}

static int32_t begin_type(reading *r, const ckpd__csv_row *row, const char *name)
{
    int32_t status = end_type(r);
    status = status == CKPD_OK ? ckpd_filler_new(&r->filler, r->context, name) : status;
    status = status == CKPD_OK ? set_fields(r, row) : status;
    r->rows = r->planned_count = 0;
    return status;
}

static int32_t read_row(const ckpd__csv_row *row, void *user)
{
    reading *r = user;
    if (!r->headed) {
        return read_header(r, row);
    }
    const char *name = r->at[NAME] < row->count ? row->fields[r->at[NAME]] : "";
    int32_t status = CKPD_OK;
    if (r->filler == NULL || strcmp(ckpd_filler_name(r->filler), name) != 0) {
        status = begin_type(r, row, name);
    }
    double batch = 0.0, planned = 0.0;
    status = status == CKPD_OK ? number(r, row, BATCH, &batch) : status;
    if (status == CKPD_OK &&
        (!(batch >= 1.0 && batch <= 1e6) || batch != floor(batch) || r->rows == MOST_ROWS)) {
        status = ckpd__fail(
            r->context, CKPD_ERR_RANGE, "batch", row->line, batch,
            "line %L: batch %g is not a whole number from 1 to 1000000, or row %d is one too many",
            row->line, batch, r->rows);
    }
    ckpd__table_row read = {.axis = (double)NAN, .batch = status == CKPD_OK ? (int32_t)batch : 0};
    status = status == CKPD_OK ? number(r, row, POWER, &read.power_w) : status;
    status = status == CKPD_OK ? number(r, row, DURATION, &read.duration_s) : status;
    /* Types without a second axis leave the cell empty. */
    int32_t axis = r->at[AXIS];
    if (status == CKPD_OK && axis >= 0 && axis < row->count && row->fields[axis][0] != '\0') {
        status = number(r, row, AXIS, &read.axis);
    }
    if (status == CKPD_OK && r->at[PLANNED] >= 0) {
        status = number(r, row, PLANNED, &planned);
    }
    if (status == CKPD_OK) {
        /* The batches of a second axis come again with each of its values. */
        if (planned > 0.0 && (r->rows == 0 || !(read.axis > r->row[0].axis))) {
            r->planned[r->planned_count++] = read.batch;
        }
        r->row[r->rows++] = read;
    }
    return status;
}

int32_t ckpd_shape_add_fillers_csv(ckpd_shape *shape, const char *text, size_t length)
{
    CKPD__REFUSE_FOREIGN(NULL, shape, CKPD__SHAPE);
    if (shape == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    ckpd_context *context = ckpd__shape_context(shape);
    if (text == NULL) {
        return ckpd__null_argument(context, "text");
    }
    reading *r = ckpd__calloc(context, 1, sizeof *r);
    if (r == NULL) {
        return ckpd__no_memory(context);
    }
    r->context = context;
    int32_t status = ckpd__csv_read(context, "", text, length, 0, 1, read_row, r);
    status = status == CKPD_OK ? end_type(r) : status;
    if (status == CKPD_OK && r->types == 0) {
        status = ckpd__fail(context, CKPD_ERR_MISSING, "type", -1, (double)NAN,
                            "the file has no row of a type");
    }
    if (status == CKPD_OK) {
        status = ckpd__shape_add_fillers(shape, r->types, r->type);
    }
    ckpd_filler_free(r->filler);
    for (int32_t i = 0; i < r->types; i++) {
        ckpd_filler_free(r->type[i]);
    }
    ckpd__free(context, r);
    return status;
}
