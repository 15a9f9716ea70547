/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Arguments of a solve: nothing malformed, no NaN and no stray infinity reaches a backend. */
#include "solver/solver.h"

#include <math.h>

static int32_t wrong(ckpd_context *context, const char *field, int64_t index, double value,
                     const char *what)
{
    return ckpd__fail(context, CKPD_ERR_ARGUMENT, field, index, value, "%s[%L] = %g: %s", field,
                      index, value, what);
}

int32_t ckpd__params_read(ckpd_context *context, const ckpd_solve_params *given,
                          ckpd_solve_params *known)
{
    static const ckpd_solve_params defaults = {.size = sizeof defaults,
                                               .time_limit_s = INFINITY,
                                               .relative_gap = 1e-6,
                                               .absolute_gap = 0,
                                               .node_limit = -1,
                                               .iteration_limit = -1,
                                               .threads = 1,
                                               .presolve = 1};
    *known = defaults;
    if (given == NULL) {
        return CKPD_OK;
    }
    int32_t status = CKPD__STRUCT_IN(context, solve_params, given, known);
    if (status == CKPD_OK) {
        status = ckpd__check_range(context, "time_limit_s", -1, known->time_limit_s, 0, INFINITY);
    }
    if (status == CKPD_OK) {
        status = ckpd__check_range(context, "relative_gap", -1, known->relative_gap, 0, 1e30);
    }
    if (status == CKPD_OK) {
        status = ckpd__check_range(context, "absolute_gap", -1, known->absolute_gap, 0, 1e300);
    }
    if (status == CKPD_OK) {
        status = ckpd__check_range(context, "threads", -1, known->threads, 1, 1024);
    }
    return status;
}

/* --- MILP view -------------------------------------------------------------------------------- */

/* Bounds of a row or column: never NaN, and infinite only on the side that means "none". */
static int32_t check_bounds(ckpd_context *context, const char *lower_name, const double *lower,
                            const char *upper_name, const double *upper, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        if (isnan(lower[i]) || lower[i] == INFINITY) {
            return ckpd__check_finite(context, lower_name, i, lower[i]);
        }
        if (isnan(upper[i]) || upper[i] == -INFINITY) {
            return ckpd__check_finite(context, upper_name, i, upper[i]);
        }
    }
    return CKPD_OK;
}

static int32_t check_matrix(ckpd_context *context, const ckpd_milp_view *view)
{
    if (view->start[0] != 0) {
        return wrong(context, "start", 0, (double)view->start[0], "must be 0");
    }
    for (int32_t j = 0; j < view->columns; j++) {
        if (view->start[j + 1] < view->start[j]) {
            return wrong(context, "start", j + 1, (double)view->start[j + 1], "must not descend");
        }
    }
    if (view->start[view->columns] != view->nonzeros) {
        return wrong(context, "start", view->columns, (double)view->start[view->columns],
                     "must be the number of nonzeros");
    }
    for (int32_t j = 0; j < view->columns; j++) {
        for (int64_t k = view->start[j]; k < view->start[j + 1]; k++) {
            if (view->index[k] < 0 || view->index[k] >= view->rows) {
                return wrong(context, "index", k, view->index[k], "is no row");
            }
            if (k > view->start[j] && view->index[k] <= view->index[k - 1]) {
                return wrong(context, "index", k, view->index[k], "must ascend within a column");
            }
        }
    }
    return ckpd__check_series(context, "value", view->value, view->nonzeros, -1e300, 1e300);
}

typedef struct given_array {
    const void *block;
    int64_t count; /* 0: may be missing */
    const char *name;
} given_array;

static int32_t check_given(ckpd_context *context, const given_array *arrays, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (arrays[i].block == NULL && arrays[i].count > 0) {
            return ckpd__null_argument(context, arrays[i].name);
        }
    }
    return CKPD_OK;
}

int32_t ckpd__milp_view_check(ckpd_context *context, const ckpd_milp_view *view)
{
    if (view->columns < 0 || view->rows < 0 || view->nonzeros < 0) {
        return ckpd__fail(context, CKPD_ERR_ARGUMENT, "columns", -1, view->columns,
                          "columns, rows and nonzeros must not be negative");
    }
    const given_array arrays[] = {
        {view->cost, view->columns, "cost"},        {view->lower, view->columns, "lower"},
        {view->upper, view->columns, "upper"},      {view->row_lower, view->rows, "row_lower"},
        {view->row_upper, view->rows, "row_upper"}, {view->start, 1, "start"},
        {view->index, view->nonzeros, "index"},     {view->value, view->nonzeros, "value"},
    };
    int32_t status = check_given(context, arrays, sizeof arrays / sizeof *arrays);
    status = status != CKPD_OK ? status : ckpd__check_finite(context, "offset", -1, view->offset);
    if (status == CKPD_OK) {
        status = ckpd__check_series(context, "cost", view->cost, view->columns, -1e300, 1e300);
    }
    if (status == CKPD_OK) {
        status = check_bounds(context, "lower", view->lower, "upper", view->upper, view->columns);
    }
    if (status == CKPD_OK) {
        status = check_bounds(context, "row_lower", view->row_lower, "row_upper", view->row_upper,
                              view->rows);
    }
    if (status == CKPD_OK) {
        status = check_matrix(context, view);
    }
    if (status == CKPD_OK && view->start_point != NULL) {
        status = ckpd__check_series(context, "start_point", view->start_point, view->columns,
                                    -1e300, 1e300);
    }
    return status;
}

/* --- path view -------------------------------------------------------------------------------- */

static int32_t check_curve(ckpd_context *context, const ckpd_path_view *view, int32_t slot)
{
    const double *x = view->curve_x_kw, *cost = view->curve_cost;
    int64_t first = view->curve_start[slot], end = view->curve_start[slot + 1];
    if (end <= first) {
        return wrong(context, "curve_start", slot + 1, (double)end, "a curve needs a point");
    }
    double slope = -INFINITY, largest = 0;
    for (int64_t i = first; i < end; i++) {
        largest = fmax(largest, fabs(cost[i]));
    }
    for (int64_t i = first + 1; i < end; i++) {
        double width = x[i] - x[i - 1];
        if (!(width > 0)) {
            return wrong(context, "curve_x_kw", i, x[i], "must ascend within a slot");
        }
        double next = (cost[i] - cost[i - 1]) / width;
        /* The slope of a narrow piece carries the rounding of its two costs. */
        double rounding = 1e-9 * fmax(fabs(slope), fabs(next)) + 1e-12 * largest / width;
        if (view->curve_convex[slot] && next < slope - rounding) {
            return ckpd__fail(context, CKPD_ERR_NOT_CONVEX, "curve_convex", slot, next,
                              "curve of slot %d is called convex, but its slope falls at %g kW",
                              slot, x[i - 1]);
        }
        slope = next;
    }
    return CKPD_OK;
}

/* A soft cap and its price come together. */
static int32_t check_soft(ckpd_context *context, const ckpd_path_view *view, const char *soft_name,
                          const double *soft, const char *cost_name, const double *cost)
{
    if (soft == NULL && cost == NULL) {
        return CKPD_OK;
    }
    if (soft == NULL || cost == NULL) {
        return ckpd__null_argument(context, soft == NULL ? soft_name : cost_name);
    }
    int32_t status = ckpd__check_series(context, soft_name, soft, view->slots, -1e15, INFINITY);
    return status == CKPD_OK ? ckpd__check_series(context, cost_name, cost, view->slots, 0, 1e15)
                             : status;
}

static int32_t check_slots(ckpd_context *context, const ckpd_path_view *view)
{
    const given_array arrays[] = {
        {view->base_load_kw, 1, "base_load_kw"}, {view->load_factor, 1, "load_factor"},
        {view->load_cap_kw, 1, "load_cap_kw"},   {view->gpu_cap, 1, "gpu_cap"},
        {view->curve_start, 1, "curve_start"},   {view->curve_x_kw, 1, "curve_x_kw"},
        {view->curve_cost, 1, "curve_cost"},     {view->curve_convex, 1, "curve_convex"},
    };
    int32_t given = check_given(context, arrays, sizeof arrays / sizeof *arrays);
    if (given != CKPD_OK) {
        return given;
    }
    int64_t slots = view->slots;
    int32_t status =
        ckpd__check_series(context, "base_load_kw", view->base_load_kw, slots, -1e15, 1e15);
    if (status == CKPD_OK) {
        status = ckpd__check_series(context, "load_factor", view->load_factor, slots, 0, 1e6);
    }
    if (status == CKPD_OK) {
        status =
            ckpd__check_series(context, "load_cap_kw", view->load_cap_kw, slots, -1e15, INFINITY);
    }
    if (status == CKPD_OK) {
        status = ckpd__check_series(context, "gpu_cap", view->gpu_cap, slots, 0, INFINITY);
    }
    if (status == CKPD_OK) {
        status = check_soft(context, view, "load_soft_kw", view->load_soft_kw, "load_over_cost",
                            view->load_over_cost);
    }
    if (status == CKPD_OK) {
        status = check_soft(context, view, "gpu_soft", view->gpu_soft, "gpu_over_cost",
                            view->gpu_over_cost);
    }
    if (status == CKPD_OK && view->curve_start[0] != 0) {
        status = wrong(context, "curve_start", 0, (double)view->curve_start[0], "must be 0");
    }
    for (int32_t t = 0; status == CKPD_OK && t < view->slots; t++) {
        int64_t first = view->curve_start[t], count = view->curve_start[t + 1] - first;
        status =
            ckpd__check_series(context, "curve_x_kw", view->curve_x_kw + first, count, -1e15, 1e15);
        if (status == CKPD_OK) {
            status = ckpd__check_series(context, "curve_cost", view->curve_cost + first, count,
                                        -1e300, 1e300);
        }
        if (status == CKPD_OK) {
            status = check_curve(context, view, t);
        }
    }
    return status;
}

static int32_t check_storage(ckpd_context *context, const ckpd_path_storage *storage, int32_t slots)
{
    double end_cost = storage->terminal == CKPD_TERMINAL_FREE ? 1e15 : 0;
    const struct {
        const char *name;
        double value, minimum, maximum;
    } checks[] = {
        {"charge_max_kw", storage->charge_max_kw, 0, 1e15},
        {"discharge_max_kw", storage->discharge_max_kw, 0, 1e15},
        {"eta_charge", storage->eta_charge, 1e-6, 1},
        {"eta_discharge", storage->eta_discharge, 1e-6, 1},
        {"retention", storage->retention, 1e-6, 1},
        {"soc_min_kwh", storage->soc_min_kwh, 0, 1e15},
        {"soc_max_kwh", storage->soc_max_kwh, storage->soc_min_kwh, 1e15},
        {"soc_start_kwh", storage->soc_start_kwh, 0, 1e15},
        {"terminal", storage->terminal, CKPD_TERMINAL_FREE, CKPD_TERMINAL_EQUAL},
        {"soc_end_kwh", storage->terminal == CKPD_TERMINAL_FREE ? 0 : storage->soc_end_kwh, 0,
         1e15},
        {"end_value_per_kwh", storage->end_value_per_kwh, -1e15, 1e15},
        {"throughput_cost_per_kwh", storage->throughput_cost_per_kwh, 0, 1e15},
        {"end_short_cost_per_kwh", storage->end_short_cost_per_kwh, 0, end_cost},
        {"end_over_cost_per_kwh", storage->end_over_cost_per_kwh, 0, end_cost},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        int32_t status = ckpd__check_range(context, checks[i].name, -1, checks[i].value,
                                           checks[i].minimum, checks[i].maximum);
        if (status != CKPD_OK) {
            return status;
        }
    }
    return storage->soc_floor_kwh == NULL
               ? CKPD_OK
               : ckpd__check_series(context, "soc_floor_kwh", storage->soc_floor_kwh, slots + 1, 0,
                                    storage->soc_max_kwh);
}

static int32_t check_moves(ckpd_context *context, const ckpd_path_view *view,
                           const ckpd_path_job *job)
{
    for (int32_t i = 0; i < job->moves; i++) {
        if (job->move_mode[i] < 0 || job->move_mode[i] >= job->modes) {
            return wrong(context, "move_mode", i, job->move_mode[i], "is no mode");
        }
        if (job->move_slots[i] < 1) {
            return wrong(context, "move_slots", i, job->move_slots[i], "must be at least 1");
        }
        if (job->move_segments[i] < 1) {
            return wrong(context, "move_segments", i, job->move_segments[i], "must be at least 1");
        }
    }
    int32_t status = CKPD_OK;
    if (job->move_last_kw != NULL) {
        status =
            ckpd__check_series(context, "move_last_kw", job->move_last_kw, job->moves, 0, 1e15);
    }
    if (status == CKPD_OK && job->edge_cost != NULL) {
        int64_t count = (int64_t)job->moves * view->slots * job->segments;
        status = ckpd__check_series(context, "edge_cost", job->edge_cost, count, -1e300, 1e300);
    }
    return status;
}

static int32_t check_job_shape(ckpd_context *context, const ckpd_path_view *view,
                               const ckpd_path_job *job, int32_t j)
{
    const char *name = job->name != NULL ? job->name : "";
    bool paths = job->kind == CKPD_JOB_PATHS;
    if (!paths && job->kind != CKPD_JOB_SLOTWISE) {
        return wrong(context, "job kind", j, job->kind, "is unknown");
    }
    if (job->source_slot < 0 || job->source_slot > job->deadline || job->deadline > view->slots) {
        return ckpd__fail(context, CKPD_ERR_ARGUMENT, "deadline", j, job->deadline,
                          "job %d \"%s\": 0 <= source slot %d <= deadline %d <= slots %d is needed",
                          j, name, job->source_slot, job->deadline, view->slots);
    }
    if (job->modes < 0 ||
        (job->modes > 0 && (job->mode_gpus == NULL || job->mode_power_kw == NULL))) {
        return ckpd__fail(context, CKPD_ERR_ARGUMENT, "modes", j, job->modes,
                          "job %d \"%s\": mode table is missing", j, name);
    }
    if (!paths) {
        return job->modes == 0 || job->mode_work_per_slot != NULL
                   ? CKPD_OK
                   : ckpd__null_argument(context, "mode_work_per_slot");
    }
    if (job->segments < 0 || job->source_segment < 0 || job->source_segment > job->segments ||
        job->states != (job->transition != NULL ? 1 + job->modes : 1) || job->source_state < 0 ||
        job->source_state >= job->states || job->moves < 0 || job->node_open == NULL) {
        return ckpd__fail(
            context, CKPD_ERR_ARGUMENT, "job", j, job->segments,
            "job %d \"%s\": segments, states, source or node_open do not fit together", j, name);
    }
    const given_array arrays[] = {{job->move_mode, job->moves, "move_mode"},
                                  {job->move_slots, job->moves, "move_slots"},
                                  {job->move_segments, job->moves, "move_segments"}};
    return check_given(context, arrays, sizeof arrays / sizeof *arrays);
}

static int32_t check_job(ckpd_context *context, const ckpd_path_view *view, int32_t j)
{
    const ckpd_path_job *job = view->job[j];
    int32_t status = check_job_shape(context, view, job, j);
    if (status != CKPD_OK) {
        return status;
    }
    for (int32_t m = 0; m < job->modes; m++) {
        if (job->mode_gpus[m] < 0) {
            return wrong(context, "mode_gpus", m, job->mode_gpus[m], "must not be negative");
        }
    }
    status = ckpd__check_series(context, "mode_power_kw", job->mode_power_kw, job->modes, 0, 1e15);
    if (status == CKPD_OK && job->kind == CKPD_JOB_PATHS) {
        status = check_moves(context, view, job);
    }
    if (status == CKPD_OK && job->kind == CKPD_JOB_SLOTWISE) {
        status = ckpd__check_series(context, "mode_work_per_slot", job->mode_work_per_slot,
                                    job->modes, 0, 1e300);
        if (status == CKPD_OK) {
            status = ckpd__check_finite(context, "work_required", j, job->work_required);
        }
    }
    if (status == CKPD_OK && job->fixed_power_kw != NULL) {
        status = ckpd__check_series(context, "fixed_power_kw", job->fixed_power_kw, view->slots, 0,
                                    1e15);
    }
    for (int32_t t = 0; status == CKPD_OK && job->fixed_gpus != NULL && t < view->slots; t++) {
        if (job->fixed_gpus[t] < 0) {
            status = wrong(context, "fixed_gpus", t, job->fixed_gpus[t], "must not be negative");
        }
    }
    return status;
}

int32_t ckpd__prices_check(ckpd_context *context, const ckpd_path_prices *prices)
{
    int64_t slots = prices->slots, activities = prices->activities;
    int32_t status = ckpd__check_range(context, "prices.slots", -1, (double)slots, 0, 1e6);
    if (status == CKPD_OK) {
        status = ckpd__check_range(context, "prices.activities", -1, (double)activities, 0, 1e9);
    }
    const given_array arrays[] = {{prices->job, activities, "prices.job"},
                                  {prices->gpus, activities, "prices.gpus"},
                                  {prices->power_kw, activities, "prices.power_kw"},
                                  {prices->price, activities * slots, "prices.price"}};
    if (status == CKPD_OK) {
        status = check_given(context, arrays, sizeof arrays / sizeof *arrays);
    }
    const struct {
        const char *name;
        const double *values;
        int64_t count;
    } series[] = {{"power_kw", prices->power_kw, activities},
                  {"price", prices->price, activities * slots},
                  {"load_price", prices->load_price, slots},
                  {"gpu_price", prices->gpu_price, slots},
                  {"storage_worth", prices->storage_worth, slots}};
    for (size_t i = 0; status == CKPD_OK && i < sizeof series / sizeof series[0]; i++) {
        if (series[i].values != NULL) {
            status = ckpd__check_series(context, series[i].name, series[i].values, series[i].count,
                                        -1e300, 1e300);
        }
    }
    return status;
}

int32_t ckpd__path_view_check(ckpd_context *context, const ckpd_path_view *view)
{
    int32_t status = ckpd__check_range(context, "slots", -1, view->slots, 1, 1e6);
    if (status == CKPD_OK) {
        status = ckpd__check_range(context, "jobs", -1, view->jobs, 0, 1e6);
    }
    if (status == CKPD_OK) {
        status = ckpd__check_range(context, "slot_hours", -1, view->slot_hours, 1e-6, 1e6);
    }
    if (status == CKPD_OK) {
        status = ckpd__check_finite(context, "cost_offset", -1, view->cost_offset);
    }
    if (status == CKPD_OK) {
        status = check_slots(context, view);
    }
    for (int32_t j = 0; status == CKPD_OK && j < view->jobs; j++) {
        status = check_job(context, view, j);
    }
    if (status == CKPD_OK && view->storage != NULL) {
        status = check_storage(context, view->storage, view->slots);
    }
    if (status == CKPD_OK && view->prices != NULL) {
        status = ckpd__prices_check(context, view->prices);
    }
    return status;
}
