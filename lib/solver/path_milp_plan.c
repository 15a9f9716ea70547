/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* From points of the MILP view to plans and back, and the names of columns and rows. */
#include "solver/path_milp.h"

#include <math.h>
#include <string.h>

/* --- decode ----------------------------------------------------------------------------------- */

/* Moves come out by start slot: a path has one at a time, but columns go by state first. */
static void insert_step(const ckpd__path_milp *m, ckpd_path_plan *plan, const ckpd__milp_tag *tag)
{
    size_t slots = (size_t)m->view->slots, row = (size_t)tag->job * slots;
    int32_t count = plan->step_count[tag->job];
    if ((size_t)count == slots) {
        return; /* no path: the check of the plan says so */
    }
    int32_t *slot = plan->step_slot + row, *move = plan->step_move + row;
    int32_t i = count;
    for (; i > 0 && slot[i - 1] > tag->slot; i--) {
        slot[i] = slot[i - 1];
        move[i] = move[i - 1];
    }
    slot[i] = tag->slot;
    move[i] = tag->move;
    plan->step_count[tag->job] = count + 1;
}

/* Same energy, no power in both directions, no noise, no minus zero. */
static void net_power(const ckpd_path_storage *s, double *charge, double *discharge)
{
    double kept = s->eta_charge * s->eta_discharge;
    double c = fmin(fmax(*charge, 0), s->charge_max_kw),
           d = fmin(fmax(*discharge, 0), s->discharge_max_kw);
    if (c * kept > d) {
        c -= d / kept;
        d = 0;
    } else {
        d -= c * kept;
        c = 0;
    }
    *charge = c > 1e-9 * s->charge_max_kw ? c : 0;
    *discharge = d > 1e-9 * s->discharge_max_kw ? d : 0;
}

void ckpd__path_milp_decode(const ckpd__path_milp *m, const double *x, ckpd_path_plan *plan)
{
    const ckpd_path_view *view = m->view;
    size_t cells = (size_t)view->jobs * (size_t)view->slots;
    memset(plan->step_count, 0, (size_t)view->jobs * sizeof(int32_t));
    memset(plan->step_slot, 0, cells * sizeof(int32_t));
    memset(plan->step_move, 0, cells * sizeof(int32_t));
    for (size_t i = 0; plan->slot_mode != NULL && i < cells; i++) {
        plan->slot_mode[i] = -1;
    }
    for (int32_t c = 0; c < m->job_column[view->jobs]; c++) {
        const ckpd__milp_tag *tag = &m->column_tag[c];
        if (x[c] > 0.5 && tag->kind == 'm') {
            insert_step(m, plan, tag);
        } else if (x[c] > 0.5 && tag->kind == 'z') {
            plan->slot_mode[(size_t)tag->job * (size_t)view->slots + (size_t)tag->slot] = tag->move;
        }
    }
    for (int32_t t = 0; view->storage != NULL && t < view->slots; t++) {
        plan->charge_kw[t] = x[m->charge_column + t];
        plan->discharge_kw[t] = x[m->discharge_column + t];
        net_power(view->storage, &plan->charge_kw[t], &plan->discharge_kw[t]);
    }
}

/* --- encode ----------------------------------------------------------------------------------- */

static int compare_tags(const ckpd__milp_tag *a, int32_t state, int32_t slot, int32_t segment,
                        int32_t move)
{
    const int32_t left[] = {a->state, a->slot, a->segment, a->move};
    const int32_t right[] = {state, slot, segment, move};
    for (int i = 0; i < 4; i++) {
        if (left[i] != right[i]) {
            return left[i] < right[i] ? -1 : 1;
        }
    }
    return 0;
}

/* Column of a move or wait (move INT32_MAX) of a path job, -1 when the model left it out. */
static int32_t find_column(const ckpd__path_milp *m, int32_t j, int32_t state, int32_t slot,
                           int32_t segment, int32_t move)
{
    int32_t low = m->job_column[j], high = m->job_column[j + 1];
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        int order = compare_tags(&m->column_tag[middle], state, slot, segment, move);
        if (order == 0) {
            return middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return -1;
}

static bool take(const ckpd__path_milp *m, int32_t j, int32_t state, int32_t slot, int32_t segment,
                 int32_t move, double *x)
{
    int32_t column = find_column(m, j, state, slot, segment, move);
    if (column < 0) {
        return false;
    }
    x[column] = 1;
    return true;
}

static bool encode_path(const ckpd__path_milp *m, int32_t j, const ckpd_path_plan *plan, double *x)
{
    const ckpd_path_job *job = m->view->job[j];
    size_t row = (size_t)j * (size_t)m->view->slots;
    int32_t q = job->source_state, t = job->source_slot, k = job->source_segment;
    for (int32_t i = 0; i < plan->step_count[j]; i++) {
        int32_t slot = plan->step_slot[row + (size_t)i], move = plan->step_move[row + (size_t)i];
        for (; t < slot; t++) {
            if (!take(m, j, q, t, k, INT32_MAX, x)) {
                return false;
            }
        }
        if (!take(m, j, q, t, k, move, x)) {
            return false;
        }
        t += job->move_slots[move];
        k += job->move_segments[move];
        q = ckpd__move_state(job, move);
    }
    return true;
}

static bool encode_slotwise(const ckpd__path_milp *m, int32_t j, const ckpd_path_plan *plan,
                            double *x)
{
    for (int32_t t = 0; t < m->view->slots; t++) {
        int32_t mode = plan->slot_mode[(size_t)j * (size_t)m->view->slots + (size_t)t];
        bool found = mode < 0;
        for (int32_t c = m->job_column[j]; !found && c < m->job_column[j + 1]; c++) {
            if (m->column_tag[c].slot == t && m->column_tag[c].move == mode) {
                x[c] = 1;
                found = true;
            }
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

static void encode_pieces(const ckpd__path_milp *m, int32_t t, double net_kw, int32_t *order,
                          double *x)
{
    ckpd__piece piece = {0};
    int32_t column = m->piece_column[t], run = 0;
    while (ckpd__next_piece(m, t, &piece)) {
        double filled = fmin(fmax(net_kw - piece.from, 0), piece.width);
        if (piece.run > run) {
            x[*order] = filled > 0;
            ++*order;
            run = piece.run;
        }
        x[column++] = filled;
    }
}

/* How far a plan is above a soft cap, or misses the end. */
static double soft_value(const ckpd__path_milp *m, const ckpd__milp_tag *tag,
                         const ckpd__path_series *series)
{
    const ckpd_path_view *view = m->view;
    double over;
    if (tag->kind == 'i') {
        over = series->load_kw[tag->slot] - view->load_soft_kw[tag->slot];
    } else if (tag->kind == 'k') {
        over = series->gpus[tag->slot] - view->gpu_soft[tag->slot];
    } else {
        over = series->soc_kwh[view->slots] - view->storage->soc_end_kwh;
        over = tag->kind == 'a' ? over : -over;
    }
    return fmax(0, over);
}

bool ckpd__path_milp_encode(const ckpd__path_milp *m, const ckpd_path_plan *plan,
                            const ckpd__path_series *series, double *x)
{
    const ckpd_path_view *view = m->view;
    memset(x, 0, (size_t)m->milp.columns * sizeof(double));
    for (int32_t j = 0; j < view->jobs; j++) {
        bool paths = view->job[j]->kind == CKPD_JOB_PATHS;
        if (!(paths ? encode_path(m, j, plan, x) : encode_slotwise(m, j, plan, x))) {
            return false;
        }
    }
    int32_t order = m->order_column, charging = m->charging_column;
    for (int32_t t = 0; t < view->slots; t++) {
        encode_pieces(m, t, series->net_kw[t], &order, x);
        if (view->storage != NULL) {
            x[m->charge_column + t] = plan->charge_kw[t];
            x[m->discharge_column + t] = plan->discharge_kw[t];
            x[m->energy_column + t] = series->soc_kwh[t + 1];
            if (m->exclusive[t]) {
                x[charging++] = plan->charge_kw[t] > 0;
            }
        }
    }
    for (int32_t c = m->soft_column; c < m->milp.columns; c++) {
        x[c] = soft_value(m, &m->column_tag[c], series);
    }
    return true;
}

/* --- names ------------------------------------------------------------------------------------ */

/* Letters, digits and underscores only: every solver's file format takes them. */
static void tag_name(const ckpd__milp_tag *tag, bool column, char name[CKPD__NAME_LENGTH])
{
    const size_t n = CKPD__NAME_LENGTH;
    switch (tag->kind) {
    case 'm':
        ckpd__format(name, n, "move_j%d_s%d_t%d_k%d_m%d", tag->job, tag->state, tag->slot,
                     tag->segment, tag->move);
        break;
    case 'w':
        ckpd__format(name, n, "wait_j%d_s%d_t%d_k%d", tag->job, tag->state, tag->slot,
                     tag->segment);
        break;
    case 'z':
        ckpd__format(name, n, "mode_j%d_t%d_m%d", tag->job, tag->slot, tag->move);
        break;
    case 'n':
        ckpd__format(name, n, "net_t%d_p%d", tag->slot, tag->segment);
        break;
    case 'y':
        ckpd__format(name, n, "order_t%d_r%d", tag->slot, tag->move);
        break;
    case 'f':
        ckpd__format(name, n, "flow_j%d_s%d_t%d_k%d", tag->job, tag->state, tag->slot,
                     tag->segment);
        break;
    case 'p':
        ckpd__format(name, n, "pick_j%d_t%d", tag->job, tag->slot);
        break;
    case 'r':
        ckpd__format(name, n, "work_j%d", tag->job);
        break;
    case 'o':
        ckpd__format(name, n, "after_t%d_p%d", tag->slot, tag->segment);
        break;
    case 'q':
        ckpd__format(name, n, "before_t%d_p%d", tag->slot, tag->segment);
        break;
    default: {
        static const struct {
            char kind;
            const char *column, *row;
        } words[] = {{'c', "charge", ""},         {'d', "discharge", ""}, {'u', "charging", ""},
                     {'s', "energy", ""},         {'b', "", "balance"},   {'g', "", "gpus"},
                     {'l', "", "load"},           {'e', "", "store"},     {'x', "", "charge_only"},
                     {'v', "", "discharge_only"}, {'t', "", "end"},       {'h', "end_missing", ""},
                     {'a', "end_too_much", ""},   {'i', "load_over", ""}, {'k', "gpus_over", ""}};
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            if (words[i].kind == tag->kind) {
                ckpd__format(name, n, "%s_t%d", column ? words[i].column : words[i].row, tag->slot);
            }
        }
        break;
    }
    }
}

void ckpd__path_milp_column_name(const ckpd__path_milp *m, int32_t column,
                                 char name[CKPD__NAME_LENGTH])
{
    tag_name(&m->column_tag[column], true, name);
}

void ckpd__path_milp_row_name(const ckpd__path_milp *m, int32_t row, char name[CKPD__NAME_LENGTH])
{
    tag_name(&m->row_tag[row], false, name);
}
