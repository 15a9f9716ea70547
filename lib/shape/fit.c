/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The upper layer as a sparse program: least absolute error of a deficit curve by shifted copies of
 * known profiles, with a price on the largest error. Rows: fit, peak, GPUs held by slot, power
 * before an onset, queues, share of waste.
 */
#include "shape/window.h"

#include <math.h>
#include <string.h>

#define INF ((double)INFINITY)

void ckpd__program_free(ckpd_context *context, ckpd__program *p)
{
    void *blocks[] = {p->cost,  p->lower,   p->upper, p->row_lower, p->row_upper, p->value,
                      p->point, p->integer, p->start, p->index,     p->early_row};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        ckpd__free(context, blocks[i]);
    }
}

static void number_rows(const ckpd__window *w, ckpd__program *p)
{
    int32_t row = 2 * w->samples;
    p->cap_row = row;
    row += w->slots;
    for (int32_t i = 0; i < w->samples; i++) {
        p->early_row[i] = isinf(w->early_cap[i]) ? -1 : row++;
    }
    p->queue_row = row;
    row += w->rig->fillers;
    p->waste_row = row;
    p->waste = w->shape->values[SHAPE_RETIRE] > 0.0;
    p->view.rows = row + (p->waste ? 1 : 0);
}

static int64_t most_entries(const ckpd__window *w)
{
    int64_t entries = 4 * (int64_t)w->samples + w->samples;
    for (int32_t j = 0; j < w->columns; j++) {
        entries += 2 * (int64_t)w->column[j].samples + w->column[j].slots + 2;
    }
    return entries;
}

static bool allocate(const ckpd__window *w, ckpd__program *p)
{
    ckpd_context *context = w->context;
    p->early_row = ckpd__calloc(context, (size_t)w->samples, sizeof *p->early_row);
    if (p->early_row == NULL) {
        return false;
    }
    number_rows(w, p);
    size_t columns = (size_t)w->columns + 2 * (size_t)w->samples + 1, rows = (size_t)p->view.rows;
    size_t entries = (size_t)most_entries(w);
    p->view.columns = (int32_t)columns;
    p->cost = ckpd__calloc(context, columns, sizeof *p->cost);
    p->lower = ckpd__calloc(context, columns, sizeof *p->lower);
    p->upper = ckpd__calloc(context, columns, sizeof *p->upper);
    p->point = ckpd__calloc(context, columns, sizeof *p->point);
    p->integer = ckpd__calloc(context, columns, sizeof *p->integer);
    p->start = ckpd__calloc(context, columns + 1, sizeof *p->start);
    p->row_lower = ckpd__calloc(context, rows, sizeof *p->row_lower);
    p->row_upper = ckpd__calloc(context, rows, sizeof *p->row_upper);
    p->index = ckpd__calloc(context, entries, sizeof *p->index);
    p->value = ckpd__calloc(context, entries, sizeof *p->value);
    return p->cost != NULL && p->lower != NULL && p->upper != NULL && p->point != NULL &&
           p->integer != NULL && p->start != NULL && p->row_lower != NULL && p->row_upper != NULL &&
           p->index != NULL && p->value != NULL;
}

static void set_rows(const ckpd__window *w, ckpd__program *p)
{
    for (int32_t r = 0; r < p->view.rows; r++) {
        p->row_lower[r] = -INF;
    }
    for (int32_t i = 0; i < w->samples; i++) {
        p->row_lower[i] = p->row_upper[i] = w->target[i];
        p->row_upper[w->samples + i] = 0.0;
        if (p->early_row[i] >= 0) {
            p->row_upper[p->early_row[i]] = w->early_cap[i];
        }
    }
    for (int32_t s = 0; s < w->slots; s++) {
        p->row_upper[p->cap_row + s] = w->slot_cap[s];
    }
    for (int32_t k = 0; k < w->rig->fillers; k++) {
        p->row_upper[p->queue_row + k] = (double)w->queue[k];
    }
    if (p->waste) {
        p->row_upper[p->waste_row] = w->waste_room;
    }
}

static void put(ckpd__program *p, int32_t row, double value)
{
    p->index[p->view.nonzeros] = row;
    p->value[p->view.nonzeros++] = value;
}

static void set_launch_column(const ckpd__window *w, ckpd__program *p, int32_t j)
{
    const ckpd__column *column = &w->column[j];
    const double *power = &w->power[column->first_value];
    p->start[j] = p->view.nonzeros;
    p->cost[j] = column->price;
    p->upper[j] = w->slot_cap[column->slot] < (double)w->queue[column->filler]
                      ? w->slot_cap[column->slot]
                      : (double)w->queue[column->filler];
    p->integer[j] = 1;
    for (int32_t i = 0; i < column->samples; i++) {
        if (power[i] != 0.0) {
            put(p, column->first_sample + i, power[i]);
        }
    }
    for (int32_t s = 0; s < column->slots; s++) {
        put(p, p->cap_row + column->first_slot + s, 1.0);
    }
    for (int32_t i = 0; i < column->samples; i++) {
        if (power[i] != 0.0 && p->early_row[column->first_sample + i] >= 0) {
            put(p, p->early_row[column->first_sample + i], power[i]);
        }
    }
    put(p, p->queue_row + column->filler, 1.0);
    if (p->waste) {
        put(p, p->waste_row, column->waste_s - w->shape->values[SHAPE_WASTE_MAX] * column->run_s);
    }
}

static void set_error_columns(const ckpd__window *w, ckpd__program *p)
{
    int32_t j = w->columns;
    for (int32_t sign = 0; sign < 2; sign++) {
        for (int32_t i = 0; i < w->samples; i++, j++) {
            p->start[j] = p->view.nonzeros;
            p->cost[j] = w->weight[i];
            p->upper[j] = INF;
            put(p, i, sign == 0 ? 1.0 : -1.0);
            put(p, w->samples + i, 1.0);
        }
    }
    p->start[j] = p->view.nonzeros;
    p->cost[j] = w->peak_price;
    p->upper[j] = INF;
    for (int32_t i = 0; i < w->samples; i++) {
        put(p, w->samples + i, -1.0);
    }
    p->start[j + 1] = p->view.nonzeros;
}

static void set_start(const ckpd__window *w, ckpd__program *p, const int32_t *groups)
{
    double *error = p->point + w->columns, *peak = p->point + w->columns + 2 * w->samples;
    for (int32_t i = 0; i < w->samples; i++) {
        error[i] = w->target[i];
    }
    for (int32_t j = 0; j < w->columns; j++) {
        p->point[j] = (double)groups[j];
        for (int32_t i = 0; groups[j] > 0 && i < w->column[j].samples; i++) {
            error[w->column[j].first_sample + i] -=
                groups[j] * w->power[w->column[j].first_value + i];
        }
    }
    for (int32_t i = 0; i < w->samples; i++) {
        *peak = fabs(error[i]) > *peak ? fabs(error[i]) : *peak;
        error[w->samples + i] = error[i] < 0.0 ? -error[i] : 0.0;
        error[i] = error[i] > 0.0 ? error[i] : 0.0;
    }
}

int32_t ckpd__program_build(const ckpd__window *w, bool integer, const int32_t *start,
                            ckpd__program *p)
{
    memset(p, 0, sizeof *p);
    if (!allocate(w, p)) {
        ckpd__program_free(w->context, p);
        return ckpd__no_memory(w->context);
    }
    set_rows(w, p);
    for (int32_t j = 0; j < w->columns; j++) {
        set_launch_column(w, p, j);
    }
    set_error_columns(w, p);
    if (start != NULL) {
        set_start(w, p, start);
    }
    ckpd_milp_view *view = &p->view;
    view->size = sizeof *view;
    view->cost = p->cost;
    view->lower = p->lower;
    view->upper = p->upper;
    view->integer = integer ? p->integer : NULL;
    view->row_lower = p->row_lower;
    view->row_upper = p->row_upper;
    view->start = p->start;
    view->index = p->index;
    view->value = p->value;
    view->start_point = start == NULL ? NULL : p->point;
    return CKPD_OK;
}

int32_t ckpd__fit_solve(const ckpd__window *w, const char *backend, const ckpd_cancel *cancel,
                        bool integer, const int32_t *start, ckpd__fit_answer *answer)
{
    ckpd__program p;
    int32_t status = ckpd__program_build(w, integer, start, &p);
    if (status != CKPD_OK) {
        return status;
    }
    answer->nonzeros = p.view.nonzeros;
    double *x = ckpd__calloc(w->context, (size_t)p.view.columns, sizeof *x);
    if (x == NULL) {
        ckpd__program_free(w->context, &p);
        return ckpd__no_memory(w->context);
    }
    ckpd_solve_params params = {.size = sizeof params, .time_limit_s = INF, .threads = 1};
    params.relative_gap = integer ? w->shape->values[SHAPE_EXACT_GAP] : 1e-9;
    params.absolute_gap = 1e-9;
    params.node_limit = integer ? (int64_t)w->shape->values[SHAPE_EXACT_NODES] : -1;
    params.iteration_limit = -1;
    ckpd_milp_result result = {.size = sizeof result, .x = x};
    status = ckpd_milp_solve(w->context, backend, &p.view, &params, cancel, &result);
    if (status == CKPD_ERR_VERIFY || status == CKPD_ERR_BACKEND) {
        params.presolve = 1; /* the fit is degenerate: another path to its optimum may be sound */
        status = ckpd_milp_solve(w->context, backend, &p.view, &params, cancel, &result);
    }
    if (status == CKPD_OK && result.outcome == CKPD_OUTCOME_CANCELLED) {
        status = ckpd__fail(w->context, CKPD_ERR_CALLBACK, NULL, -1, (double)NAN,
                            "shaping plan: cancelled");
    } else if (status == CKPD_OK && !result.has_plan && !integer) {
        status = ckpd__fail(w->context, CKPD_ERR_BACKEND, NULL, -1, (double)result.outcome,
                            "shaping plan: the solver gave no answer (outcome %d): %s",
                            result.outcome, result.message);
    }
    if (status == CKPD_OK) {
        answer->found = result.has_plan != 0;
        answer->objective = result.objective;
        for (int32_t i = 0; i < 2 * w->samples; i++) {
            answer->error += x[w->columns + i] / w->samples;
        }
        memcpy(answer->x, x, (size_t)w->columns * sizeof *x);
    }
    ckpd__free(w->context, x);
    ckpd__program_free(w->context, &p);
    return status;
}
