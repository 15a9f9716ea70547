/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/exchange.h"

#include <math.h>
#include <string.h>

/* --- names ------------------------------------------------------------------------------------ */

static void path_column(const void *user, int32_t index, char name[CKPD__NAME_LENGTH])
{
    ckpd__path_milp_column_name(user, index, name);
}

static void path_row(const void *user, int32_t index, char name[CKPD__NAME_LENGTH])
{
    ckpd__path_milp_row_name(user, index, name);
}

ckpd__milp_names ckpd__path_milp_names(const ckpd__path_milp *model)
{
    return (ckpd__milp_names){path_column, path_row, model};
}

/* --- a buffered writer ------------------------------------------------------------------------ */

typedef struct writer {
    const ckpd_milp_view *view;
    const ckpd__milp_names *names;
    ckpd__write_fn write;
    void *user;
    bool failed;
    size_t used;
    char buffer[4096];
} writer;

static void flush(writer *w)
{
    if (w->used > 0 && !w->failed) {
        w->failed = !w->write(w->buffer, w->used, w->user);
    }
    w->used = 0;
}

static void put(writer *w, const char *text)
{
    size_t length = strlen(text);
    if (w->used + length > sizeof w->buffer) {
        flush(w);
    }
    memcpy(w->buffer + w->used, text, length); /* texts are short: names, numbers, keywords */
    w->used += length;
}

static void put_number(writer *w, double value)
{
    char text[CKPD__NUMBER_LENGTH];
    ckpd__format_double(value, text);
    put(w, text);
}

static void put_column(writer *w, int32_t j)
{
    char name[CKPD__NAME_LENGTH];
    w->names->column(w->names->user, j, name);
    put(w, name);
}

static void put_row(writer *w, int32_t i)
{
    char name[CKPD__NAME_LENGTH];
    w->names->row(w->names->user, i, name);
    put(w, name);
}

static int32_t finish(writer *w, ckpd_context *context)
{
    flush(w);
    return w->failed
               ? ckpd__fail(context, CKPD_ERR_FILE, NULL, -1, NAN, "the model cannot be written")
               : CKPD_OK;
}

static bool is_integer(const ckpd_milp_view *view, int32_t j)
{
    return view->integer != NULL && view->integer[j];
}

/* --- MPS -------------------------------------------------------------------------------------- */

static bool is_range(const ckpd_milp_view *view, int32_t i)
{
    return isfinite(view->row_lower[i]) && isfinite(view->row_upper[i]) &&
           view->row_lower[i] != view->row_upper[i];
}

static void mps_rows(writer *w)
{
    const ckpd_milp_view *view = w->view;
    put(w, "ROWS\n N cost\n");
    for (int32_t i = 0; i < view->rows; i++) {
        double lower = view->row_lower[i], upper = view->row_upper[i];
        put(w, lower == upper ? " E " : isfinite(upper) ? " L " : isfinite(lower) ? " G " : " N ");
        put_row(w, i);
        put(w, "\n");
    }
}

static void mps_columns(writer *w)
{
    const ckpd_milp_view *view = w->view;
    bool integer = false;
    put(w, "COLUMNS\n");
    for (int32_t j = 0; j < view->columns; j++) {
        if (is_integer(view, j) != integer) {
            integer = !integer;
            put(w, integer ? " M1 'MARKER' 'INTORG'\n" : " M1 'MARKER' 'INTEND'\n");
        }
        if (view->cost[j] != 0 || view->start[j] == view->start[j + 1]) {
            put(w, " ");
            put_column(w, j);
            put(w, " cost ");
            put_number(w, view->cost[j]);
            put(w, "\n");
        }
        for (int64_t k = view->start[j]; k < view->start[j + 1]; k++) {
            put(w, " ");
            put_column(w, j);
            put(w, " ");
            put_row(w, view->index[k]);
            put(w, " ");
            put_number(w, view->value[k]);
            put(w, "\n");
        }
    }
    put(w, integer ? " M1 'MARKER' 'INTEND'\n" : "");
    put(w, " constant cost ");
    put_number(w, view->offset);
    put(w, "\n");
}

static void mps_sides(writer *w)
{
    const ckpd_milp_view *view = w->view;
    put(w, "RHS\n");
    for (int32_t i = 0; i < view->rows; i++) {
        double side = isfinite(view->row_upper[i]) ? view->row_upper[i] : view->row_lower[i];
        if (isfinite(side) && side != 0) {
            put(w, " RHS ");
            put_row(w, i);
            put(w, " ");
            put_number(w, side);
            put(w, "\n");
        }
    }
    put(w, "RANGES\n");
    for (int32_t i = 0; i < view->rows; i++) {
        if (is_range(view, i)) {
            put(w, " RNG ");
            put_row(w, i);
            put(w, " ");
            put_number(w, view->row_upper[i] - view->row_lower[i]);
            put(w, "\n");
        }
    }
}

static void mps_bound(writer *w, const char *kind, int32_t j, double value)
{
    put(w, kind);
    put(w, " BND ");
    put_column(w, j);
    if (isfinite(value)) {
        put(w, " ");
        put_number(w, value);
    }
    put(w, "\n");
}

static void mps_bounds(writer *w)
{
    const ckpd_milp_view *view = w->view;
    put(w, "BOUNDS\n FX BND constant 1\n");
    for (int32_t j = 0; j < view->columns; j++) {
        double lower = view->lower[j], upper = view->upper[j];
        if (lower == upper) {
            mps_bound(w, " FX", j, lower);
        } else if (lower == -INFINITY && upper == INFINITY) {
            mps_bound(w, " FR", j, INFINITY);
        } else {
            if (lower == -INFINITY) {
                mps_bound(w, " MI", j, INFINITY);
            } else if (lower != 0) {
                mps_bound(w, " LO", j, lower);
            }
            if (isfinite(upper)) {
                mps_bound(w, " UP", j, upper);
            } else if (is_integer(view, j)) {
                mps_bound(w, " PL", j, INFINITY); /* some readers bound integers by 1 */
            }
        }
    }
}

int32_t ckpd__milp_write_mps(ckpd_context *context, const ckpd_milp_view *view,
                             const ckpd__milp_names *names, ckpd__write_fn write, void *user)
{
    writer w = {.view = view, .names = names, .write = write, .user = user};
    /* The constant is a column: CBC takes a right-hand side of the objective off it, GLPK adds it.
     */
    put(&w, "NAME ckptdispatch FREE\n");
    mps_rows(&w);
    mps_columns(&w);
    mps_sides(&w);
    mps_bounds(&w);
    put(&w, "ENDATA\n");
    return finish(&w, context);
}

/* --- LP --------------------------------------------------------------------------------------- */

/* The matrix by rows. */
typedef struct transposed {
    int64_t *start;
    int32_t *column;
    double *value;
} transposed;

static bool transpose(ckpd_context *context, const ckpd_milp_view *view, transposed *by_row)
{
    size_t rows = (size_t)view->rows, nonzeros = (size_t)view->nonzeros;
    by_row->start = ckpd__calloc(context, rows + 2, sizeof(int64_t));
    by_row->column = ckpd__calloc(context, nonzeros, sizeof(int32_t));
    by_row->value = ckpd__calloc(context, nonzeros, sizeof(double));
    if (by_row->start == NULL || by_row->column == NULL || by_row->value == NULL) {
        return false;
    }
    for (int64_t k = 0; k < view->nonzeros; k++) {
        by_row->start[view->index[k] + 2]++;
    }
    for (size_t i = 2; i < rows + 2; i++) {
        by_row->start[i] += by_row->start[i - 1];
    }
    for (int32_t j = 0; j < view->columns; j++) {
        for (int64_t k = view->start[j]; k < view->start[j + 1]; k++) {
            int64_t at = by_row->start[view->index[k] + 1]++;
            by_row->column[at] = j;
            by_row->value[at] = view->value[k];
        }
    }
    return true;
}

/* Some readers stop at 255 characters a line, so a few terms each. */
static void lp_term(writer *w, double value, int32_t *terms)
{
    if (*terms > 0 && *terms % 4 == 0) {
        put(w, "\n ");
    }
    ++*terms;
    put(w, value < 0 ? " - " : " + ");
    put_number(w, fabs(value));
    put(w, " ");
}

static void lp_row(writer *w, const transposed *by_row, int32_t i, const char *suffix,
                   const char *sense, double side)
{
    int32_t terms = 0;
    put(w, " ");
    put_row(w, i);
    put(w, suffix);
    put(w, ":");
    for (int64_t k = by_row->start[i]; k < by_row->start[i + 1]; k++) {
        lp_term(w, by_row->value[k], &terms);
        put_column(w, by_row->column[k]);
    }
    put(w, terms > 0 ? "" : " 0 constant");
    put(w, sense);
    put_number(w, side);
    put(w, "\n");
}

static void lp_rows(writer *w, const transposed *by_row)
{
    const ckpd_milp_view *view = w->view;
    put(w, "Subject To\n");
    for (int32_t i = 0; i < view->rows; i++) {
        double lower = view->row_lower[i], upper = view->row_upper[i];
        if (lower == upper) {
            lp_row(w, by_row, i, "", " = ", lower);
            continue;
        }
        if (isfinite(lower)) {
            lp_row(w, by_row, i, is_range(view, i) ? "_low" : "", " >= ", lower);
        }
        if (isfinite(upper)) {
            lp_row(w, by_row, i, is_range(view, i) ? "_high" : "", " <= ", upper);
        }
    }
}

static void lp_bounds(writer *w)
{
    const ckpd_milp_view *view = w->view;
    put(w, "Bounds\n constant = 1\n");
    for (int32_t j = 0; j < view->columns; j++) {
        double lower = view->lower[j], upper = view->upper[j];
        if (lower == -INFINITY && upper == INFINITY) {
            put(w, " ");
            put_column(w, j);
            put(w, " free\n");
        } else if (lower != 0 || upper != INFINITY) {
            put(w, " ");
            if (lower == -INFINITY) {
                put(w, "-inf");
            } else {
                put_number(w, lower);
            }
            put(w, " <= ");
            put_column(w, j);
            if (upper != INFINITY) {
                put(w, " <= ");
                put_number(w, upper);
            }
            put(w, "\n");
        }
    }
}

static void lp_integers(writer *w)
{
    bool any = false;
    for (int32_t j = 0; j < w->view->columns; j++) {
        if (is_integer(w->view, j)) {
            put(w, any ? " " : "General\n ");
            put_column(w, j);
            put(w, "\n");
            any = true;
        }
    }
}

static void write_lp(writer *w, const transposed *by_row)
{
    int32_t terms = 0;
    put(w, "Minimize\n cost:");
    for (int32_t j = 0; j < w->view->columns; j++) {
        if (w->view->cost[j] != 0) {
            lp_term(w, w->view->cost[j], &terms);
            put_column(w, j);
        }
    }
    lp_term(w, w->view->offset, &terms);
    put(w, "constant\n");
    lp_rows(w, by_row);
    lp_bounds(w);
    lp_integers(w);
    put(w, "End\n");
}

int32_t ckpd__milp_write_lp(ckpd_context *context, const ckpd_milp_view *view,
                            const ckpd__milp_names *names, ckpd__write_fn write, void *user)
{
    writer w = {.view = view, .names = names, .write = write, .user = user};
    transposed by_row = {0};
    int32_t status = transpose(context, view, &by_row) ? CKPD_OK : ckpd__no_memory(context);
    if (status == CKPD_OK) {
        write_lp(&w, &by_row);
        status = finish(&w, context);
    }
    ckpd__free(context, by_row.start);
    ckpd__free(context, by_row.column);
    ckpd__free(context, by_row.value);
    return status;
}
