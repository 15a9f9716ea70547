/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Rows, and the columns of jobs: one per usable move and wait, flow kept at every live node. */
#include "solver/path_milp.h"

#include <math.h>
#include <string.h>

void ckpd__path_milp_free(ckpd__path_milp *m)
{
    if (m == NULL) {
        return;
    }
    void *blocks[] = {m->cost,      m->lower,      m->upper,        m->value,     m->row_lower,
                      m->row_upper, m->integer,    m->start,        m->index,     m->column_tag,
                      m->row_tag,   m->job_column, m->piece_column, m->node_row,  m->job_node,
                      m->pick_row,  m->gpu_row_of, m->cap_row_of,   m->exclusive, m->clip_low,
                      m->clip_high};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        ckpd__free(m->context, blocks[i]);
    }
    ckpd__free(m->context, m);
}

static bool grow(ckpd__path_milp *m, void *array, size_t count, size_t bytes)
{
    void **block = array;
    void *bigger = ckpd__realloc(m->context, *block, count, bytes);
    if (bigger == NULL) {
        return false;
    }
    *block = bigger;
    return true;
}

bool ckpd__milp_column(ckpd__path_milp *m, ckpd__milp_tag tag, double cost, double lower,
                       double upper, bool integer)
{
    size_t j = (size_t)m->milp.columns;
    if (j == m->column_capacity) {
        size_t more = j + j / 2 + 256;
        if (!grow(m, &m->cost, more, sizeof(double)) || !grow(m, &m->lower, more, sizeof(double)) ||
            !grow(m, &m->upper, more, sizeof(double)) || !grow(m, &m->integer, more, 1) ||
            !grow(m, &m->start, more + 1, sizeof(int64_t)) ||
            !grow(m, &m->column_tag, more, sizeof(ckpd__milp_tag))) {
            return false;
        }
        m->start[0] = 0;
        m->column_capacity = more;
    }
    m->cost[j] = cost;
    m->lower[j] = lower;
    m->upper[j] = upper;
    m->integer[j] = integer;
    m->column_tag[j] = tag;
    m->start[j + 1] = m->milp.nonzeros;
    m->milp.columns++;
    return true;
}

bool ckpd__milp_entry(ckpd__path_milp *m, int32_t row, double value)
{
    size_t n = (size_t)m->milp.nonzeros;
    if (value == 0 || row < 0) {
        return true;
    }
    if (n == m->nonzero_capacity) {
        size_t more = n + n / 2 + 1024;
        if (!grow(m, &m->index, more, sizeof(int32_t)) ||
            !grow(m, &m->value, more, sizeof(double))) {
            return false;
        }
        m->nonzero_capacity = more;
    }
    m->index[n] = row;
    m->value[n] = value;
    m->start[m->milp.columns] = ++m->milp.nonzeros;
    return true;
}

/* --- rows ------------------------------------------------------------------------------------- */

static int32_t add_row(ckpd__path_milp *m, ckpd__milp_tag tag, double lower, double upper)
{
    int32_t i = m->milp.rows++;
    if (m->row_tag != NULL) {
        m->row_tag[i] = tag;
        m->row_lower[i] = lower;
        m->row_upper[i] = upper;
    }
    return i;
}

static void add_flow_rows(ckpd__path_milp *m, int32_t j, const uint8_t *live)
{
    const ckpd_path_view *view = m->view;
    const ckpd_path_job *job = view->job[j];
    size_t source =
        ckpd__node_index(view, job, job->source_state, job->source_slot, job->source_segment);
    for (int32_t q = 0; q < job->states; q++) {
        for (int32_t t = 0; t <= view->slots; t++) {
            for (int32_t k = 0; k <= job->segments; k++) {
                size_t n = ckpd__node_index(view, job, q, t, k);
                int32_t row = -1;
                if (k < job->segments && (live[n] || n == source)) {
                    double flow = n == source ? 1 : 0;
                    ckpd__milp_tag tag = {'f', j, 0, q, t, k};
                    row = add_row(m, tag, flow, flow);
                }
                m->node_row[m->job_node[j] + n] = row;
            }
        }
    }
}

static void add_slotwise_rows(ckpd__path_milp *m, int32_t j)
{
    const ckpd_path_job *job = m->view->job[j];
    m->pick_row[j] = m->milp.rows;
    for (int32_t t = job->source_slot; t < job->deadline; t++) {
        add_row(m, (ckpd__milp_tag){'p', j, 0, 0, t, 0}, -INFINITY, 1);
    }
    /* Work in units of what is required: compute may be counted in FLOP. */
    double needed = job->work_required > 0 ? 1 : 0;
    add_row(m, (ckpd__milp_tag){'r', j, 0, 0, 0, 0}, needed, INFINITY);
}

static double most_gpus(const ckpd_path_view *view)
{
    double sum = 0;
    for (int32_t j = 0; j < view->jobs; j++) {
        int32_t most = 0;
        for (int32_t i = 0; i < view->job[j]->modes; i++) {
            most = view->job[j]->mode_gpus[i] > most ? view->job[j]->mode_gpus[i] : most;
        }
        sum += most;
    }
    return sum;
}

static void add_slot_rows(ckpd__path_milp *m)
{
    const ckpd_path_view *view = m->view;
    double all_gpus = most_gpus(view);
    m->balance_row = m->milp.rows;
    for (int32_t t = 0; t < view->slots; t++) {
        double level = m->clip_low[t] - ckpd__slot_base_kw(view, t);
        add_row(m, (ckpd__milp_tag){'b', 0, 0, 0, t, 0}, level, level);
    }
    for (int32_t t = 0; t < view->slots; t++) {
        double cap =
            view->gpu_soft != NULL ? fmin(view->gpu_soft[t], view->gpu_cap[t]) : view->gpu_cap[t];
        double room = cap - ckpd__slot_fixed_gpus(view, t);
        m->gpu_row_of[t] = all_gpus > room
                               ? add_row(m, (ckpd__milp_tag){'g', 0, 0, 0, t, 0}, -INFINITY, room)
                               : -1;
    }
    for (int32_t t = 0; t < view->slots; t++) {
        bool soft = view->load_soft_kw != NULL && view->load_soft_kw[t] < view->load_cap_kw[t];
        double cap = soft ? view->load_soft_kw[t] : view->load_cap_kw[t];
        bool needed = (view->storage != NULL || soft) && isfinite(cap);
        m->cap_row_of[t] = needed ? add_row(m, (ckpd__milp_tag){'l', 0, 0, 0, t, 0}, -INFINITY,
                                            cap - m->clip_low[t])
                                  : -1;
    }
}

static void add_storage_rows(ckpd__path_milp *m)
{
    const ckpd_path_storage *s = m->view->storage;
    m->energy_row = m->milp.rows;
    for (int32_t t = 0; t < m->view->slots; t++) {
        double before = t == 0 ? s->retention * s->soc_start_kwh : 0;
        add_row(m, (ckpd__milp_tag){'e', 0, 0, 0, t, 0}, before, before);
    }
    m->charge_row = m->milp.rows; /* two for each exclusive slot */
    for (int32_t t = 0; t < m->view->slots; t++) {
        if (m->exclusive[t]) {
            add_row(m, (ckpd__milp_tag){'x', 0, 0, 0, t, 0}, -INFINITY, 0);
            add_row(m, (ckpd__milp_tag){'v', 0, 0, 0, t, 0}, -INFINITY, m->discharge_max);
        }
    }
    m->end_row = -1;
    if (s->end_short_cost_per_kwh > 0 || s->end_over_cost_per_kwh > 0) {
        ckpd__milp_tag tag = {'t', 0, 0, 0, m->view->slots - 1, 0};
        m->end_row = add_row(m, tag, s->soc_end_kwh, s->soc_end_kwh);
    }
}

/* Two rows at most for each piece beside a place where the slope falls. */
static void add_order_rows(ckpd__path_milp *m)
{
    m->order_row = m->milp.rows;
    for (int32_t t = 0; t < m->view->slots; t++) {
        ckpd__piece piece = {0};
        int32_t i = 0;
        while (ckpd__next_piece(m, t, &piece)) {
            if (piece.run > 0) {
                add_row(m, (ckpd__milp_tag){'o', 0, 0, 0, t, i}, -INFINITY, 0);
            }
            if (!piece.last_run) {
                add_row(m, (ckpd__milp_tag){'q', 0, 0, 0, t, i}, 0, INFINITY);
            }
            i++;
        }
    }
}

static int32_t add_rows(ckpd__path_milp *m)
{
    const ckpd_path_view *view = m->view;
    m->milp.rows = 0;
    for (int32_t j = 0; j < view->jobs; j++) {
        if (view->job[j]->kind == CKPD_JOB_SLOTWISE) {
            add_slotwise_rows(m, j);
            continue;
        }
        ckpd__live live;
        int32_t status = ckpd__live_nodes(m->context, view, view->job[j], &live);
        if (status != CKPD_OK) {
            return status;
        }
        add_flow_rows(m, j, live.node);
        ckpd__free(m->context, live.node);
        ckpd__free(m->context, live.usable);
    }
    add_slot_rows(m);
    if (view->storage != NULL) {
        add_storage_rows(m);
    }
    add_order_rows(m);
    return CKPD_OK;
}

/* --- columns of jobs -------------------------------------------------------------------------- */

static bool slots_entries(ckpd__path_milp *m, const ckpd_path_job *job, int32_t move, int32_t slot)
{
    int32_t length = job->move_slots[move];
    bool good = true;
    for (int32_t s = 0; good && s < length; s++) {
        good = ckpd__milp_entry(m, m->balance_row + slot + s,
                                m->view->load_factor[slot + s] * ckpd__move_power(job, move, s));
    }
    for (int32_t s = 0; good && s < length; s++) {
        good = ckpd__milp_entry(m, m->gpu_row_of[slot + s], job->mode_gpus[job->move_mode[move]]);
    }
    return good;
}

static bool flow_entries(ckpd__path_milp *m, int32_t from, int32_t to)
{
    if (to >= 0 && to < from) {
        return ckpd__milp_entry(m, to, -1) && ckpd__milp_entry(m, from, 1);
    }
    return ckpd__milp_entry(m, from, 1) && ckpd__milp_entry(m, to, -1);
}

/* Columns of the moves and the wait that leave one node. */
static bool node_columns(ckpd__path_milp *m, int32_t j, const ckpd__live *live, int32_t q,
                         int32_t t, int32_t k)
{
    const ckpd_path_view *view = m->view;
    const ckpd_path_job *job = view->job[j];
    const int32_t *row = m->node_row + m->job_node[j];
    int32_t from = row[ckpd__node_index(view, job, q, t, k)];
    for (int32_t i = 0; i < job->moves && t < view->slots; i++) {
        if (!live->usable[(size_t)i * (size_t)view->slots + (size_t)t] ||
            !ckpd__move_exists(view, job, i, q, t, k)) {
            continue;
        }
        size_t to = ckpd__node_index(view, job, ckpd__move_state(job, i), t + job->move_slots[i],
                                     k + job->move_segments[i]);
        double cost =
            job->edge_cost != NULL ? job->edge_cost[ckpd__edge_index(view, job, i, t, k)] : 0;
        if (live->node[to] &&
            !(ckpd__milp_column(m, (ckpd__milp_tag){'m', j, i, q, t, k}, cost, 0, 1, true) &&
              flow_entries(m, from, row[to]) && slots_entries(m, job, i, t))) {
            return false;
        }
    }
    if (job->may_wait && t < view->slots) {
        size_t to = ckpd__node_index(view, job, q, t + 1, k);
        /* Not integer: with integral moves the waits of a path are integral by themselves. */
        if (live->node[to] &&
            !(ckpd__milp_column(m, (ckpd__milp_tag){'w', j, INT32_MAX, q, t, k}, 0, 0, 1, false) &&
              flow_entries(m, from, row[to]))) {
            return false;
        }
    }
    return true;
}

static bool path_columns(ckpd__path_milp *m, int32_t j, const ckpd__live *live, int64_t most)
{
    const ckpd_path_job *job = m->view->job[j];
    for (int32_t q = 0; q < job->states; q++) {
        for (int32_t t = 0; t <= m->view->slots; t++) {
            for (int32_t k = 0; k < job->segments; k++) {
                bool here = live->node[ckpd__node_index(m->view, job, q, t, k)];
                if (here && !node_columns(m, j, live, q, t, k)) {
                    return false;
                }
                if (most > 0 && m->milp.columns > most) {
                    return true; /* the caller sees the count */
                }
            }
        }
    }
    return true;
}

static bool slotwise_columns(ckpd__path_milp *m, int32_t j, const ckpd__live *live)
{
    const ckpd_path_view *view = m->view;
    const ckpd_path_job *job = view->job[j];
    int32_t pick = m->pick_row[j], work = pick + job->deadline - job->source_slot;
    double unit = job->work_required > 0 ? job->work_required : 1;
    for (int32_t t = job->source_slot; t < job->deadline; t++) {
        for (int32_t i = 0; i < job->modes; i++) {
            if (live->usable[(size_t)i * (size_t)view->slots + (size_t)t] &&
                !(ckpd__milp_column(m, (ckpd__milp_tag){'z', j, i, 0, t, 0}, 0, 0, 1, true) &&
                  ckpd__milp_entry(m, pick + t - job->source_slot, 1) &&
                  ckpd__milp_entry(m, work, job->mode_work_per_slot[i] / unit) &&
                  ckpd__milp_entry(m, m->balance_row + t,
                                   view->load_factor[t] * job->mode_power_kw[i]) &&
                  ckpd__milp_entry(m, m->gpu_row_of[t], job->mode_gpus[i]))) {
                return false;
            }
        }
    }
    return true;
}

static int32_t add_job_columns(ckpd__path_milp *m, int64_t most)
{
    for (int32_t j = 0; j < m->view->jobs; j++) {
        const ckpd_path_job *job = m->view->job[j];
        ckpd__live live;
        int32_t status = ckpd__live_nodes(m->context, m->view, job, &live);
        if (status != CKPD_OK) {
            return status;
        }
        m->job_column[j] = m->milp.columns;
        bool good = job->kind == CKPD_JOB_PATHS ? path_columns(m, j, &live, most)
                                                : slotwise_columns(m, j, &live);
        m->milp.hint_pseudo_cost |= job->kind == CKPD_JOB_SLOTWISE;
        ckpd__free(m->context, live.node);
        ckpd__free(m->context, live.usable);
        if (!good) {
            return ckpd__no_memory(m->context);
        }
        if (most > 0 && m->milp.columns > most) {
            return ckpd__fail(m->context, CKPD_ERR_NOT_SUPPORTED, "columns", -1, (double)most,
                              "more than %L columns: too large for a model of moves", most);
        }
    }
    m->job_column[m->view->jobs] = m->milp.columns;
    return CKPD_OK;
}

/* --- the whole -------------------------------------------------------------------------------- */

static bool make_arrays(ckpd__path_milp *m)
{
    ckpd_context *c = m->context;
    size_t jobs = (size_t)m->view->jobs, slots = (size_t)m->view->slots, nodes = 0;
    m->job_node = ckpd__calloc(c, jobs, sizeof(size_t));
    for (size_t j = 0; m->job_node != NULL && j < jobs; j++) {
        const ckpd_path_job *job = m->view->job[j];
        m->job_node[j] = nodes;
        nodes +=
            job->kind == CKPD_JOB_PATHS ? ckpd__node_index(m->view, job, job->states, 0, 0) : 0;
    }
    m->start = ckpd__calloc(c, 1, sizeof(int64_t));
    m->node_row = ckpd__calloc(c, nodes, sizeof(int32_t));
    m->pick_row = ckpd__calloc(c, jobs, sizeof(int32_t));
    m->job_column = ckpd__calloc(c, jobs + 1, sizeof(int32_t));
    m->piece_column = ckpd__calloc(c, slots + 1, sizeof(int32_t));
    m->gpu_row_of = ckpd__calloc(c, slots, sizeof(int32_t));
    m->cap_row_of = ckpd__calloc(c, slots, sizeof(int32_t));
    m->exclusive = ckpd__calloc(c, slots, 1);
    m->clip_low = ckpd__calloc(c, slots, sizeof(double));
    m->clip_high = ckpd__calloc(c, slots, sizeof(double));
    return m->start != NULL && m->job_node != NULL && m->node_row != NULL && m->pick_row != NULL &&
           m->job_column != NULL && m->piece_column != NULL && m->gpu_row_of != NULL &&
           m->cap_row_of != NULL && m->exclusive != NULL && m->clip_low != NULL &&
           m->clip_high != NULL;
}

/* Rows are counted, then made: their number depends on the live nodes. */
static int32_t make_rows(ckpd__path_milp *m)
{
    int32_t status = add_rows(m);
    if (status != CKPD_OK) {
        return status;
    }
    size_t rows = (size_t)m->milp.rows;
    m->row_lower = ckpd__calloc(m->context, rows, sizeof(double));
    m->row_upper = ckpd__calloc(m->context, rows, sizeof(double));
    ckpd__milp_tag *tags = ckpd__calloc(m->context, rows, sizeof *tags);
    m->row_tag = tags;
    if (m->row_lower == NULL || m->row_upper == NULL || tags == NULL) {
        return ckpd__no_memory(m->context);
    }
    return add_rows(m);
}

static void publish(ckpd__path_milp *m)
{
    m->milp.cost = m->cost;
    m->milp.lower = m->lower;
    m->milp.upper = m->upper;
    m->milp.integer = m->integer;
    m->milp.row_lower = m->row_lower;
    m->milp.row_upper = m->row_upper;
    m->milp.start = m->start;
    m->milp.index = m->index;
    m->milp.value = m->value;
}

int32_t ckpd__path_milp_new(ckpd__path_milp **out, ckpd_context *context,
                            const ckpd_path_view *view, int64_t most_columns)
{
    ckpd__path_milp *m = ckpd__calloc(context, 1, sizeof *m);
    if (m == NULL) {
        return ckpd__no_memory(context);
    }
    m->context = context;
    m->view = view;
    m->milp.size = sizeof m->milp;
    int32_t status = make_arrays(m) ? ckpd__milp_plan_slots(m) : ckpd__no_memory(context);
    if (status == CKPD_OK) {
        status = make_rows(m);
    }
    if (status == CKPD_OK) {
        status = add_job_columns(m, most_columns);
    }
    if (status == CKPD_OK) {
        status = ckpd__milp_slot_columns(m);
    }
    if (status != CKPD_OK) {
        ckpd__path_milp_free(m);
        return status;
    }
    publish(m);
    *out = m;
    return CKPD_OK;
}
