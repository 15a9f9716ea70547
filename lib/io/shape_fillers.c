/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Filler types from CSV. */
#include "io/csv.h"
#include "shape/shape.h"

#include <ckptdispatch/io.h>
#include <math.h>
#include <string.h>

enum { MOST_ROWS = 256, MOST_TYPES = 256 };

enum { NAME, REPLICA, BATCH, POWER, DURATION, PLANNED, QUEUE, TOKENS, COLUMNS };
static const char *const column_name[COLUMNS] = {
    "type",         "gpus_per_replica", "batch",        "power_per_gpu_W",
    "batch_time_s", "planned",          "queue_groups", "tokens_per_request"};

typedef struct reading {
    ckpd_context *context;
    bool headed;
    int32_t at[COLUMNS]; /* position of each column, -1 when absent */
    /* the type that is being read */
    ckpd_filler *filler;
    int32_t rows, planned_count;
    int32_t batch[MOST_ROWS], planned[MOST_ROWS];
    double power_w[MOST_ROWS], duration_s[MOST_ROWS];
    /* types that are complete */
    int32_t types;
    ckpd_filler *type[MOST_TYPES];
} reading;

static int32_t read_header(reading *r, const ckpd__csv_row *row)
{
    r->headed = true;
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

static int32_t number(const reading *r, const ckpd__csv_row *row, int32_t column, double *value)
{
    const char *text = r->at[column] < row->count ? row->fields[r->at[column]] : "";
    if (ckpd__parse_double(text, strlen(text), value)) {
        return CKPD_OK;
    }
    return ckpd__fail(r->context, CKPD_ERR_SYNTAX, column_name[column], row->line, (double)NAN,
                      "line %L: %s is '%s', not a number", row->line, column_name[column], text);
}

static int32_t end_type(reading *r)
{
    if (r->filler == NULL) {
        return CKPD_OK;
    }
    int32_t status =
        ckpd_filler_set_table(r->filler, r->rows, r->batch, 1, NULL, r->power_w, r->duration_s);
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

/* A number of the type as a whole, taken from its first row; columns may be absent. */
static int32_t set_of_type(reading *r, const ckpd__csv_row *row, int32_t column)
{
    double value;
    if (r->at[column] < 0) {
        return CKPD_OK;
    }
    int32_t status = number(r, row, column, &value);
    return status == CKPD_OK ? ckpd_filler_set(r->filler, column_name[column], value) : status;
}

static int32_t begin_type(reading *r, const ckpd__csv_row *row, const char *name)
{
    int32_t status = end_type(r);
    status = status == CKPD_OK ? ckpd_filler_new(&r->filler, r->context, name) : status;
    status = status == CKPD_OK ? set_of_type(r, row, REPLICA) : status;
    status = status == CKPD_OK ? set_of_type(r, row, QUEUE) : status;
    status = status == CKPD_OK ? set_of_type(r, row, TOKENS) : status;
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
    status = status == CKPD_OK ? number(r, row, POWER, &r->power_w[r->rows]) : status;
    status = status == CKPD_OK ? number(r, row, DURATION, &r->duration_s[r->rows]) : status;
    if (status == CKPD_OK && r->at[PLANNED] >= 0) {
        status = number(r, row, PLANNED, &planned);
    }
    if (status == CKPD_OK) {
        r->batch[r->rows++] = (int32_t)batch;
        if (planned > 0.0) {
            r->planned[r->planned_count++] = (int32_t)batch;
        }
    }
    return status;
}

int32_t ckpd_shape_add_fillers_csv(ckpd_shape *shape, const char *text, size_t length)
{
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
    int32_t status = ckpd__csv_read(context, "", text, length, 0, read_row, r);
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
