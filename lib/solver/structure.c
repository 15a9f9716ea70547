/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/structure.h"

#include "solver/native/closing.h"
#include <math.h>

static size_t job_moves(const ckpd_path_view *view, const ckpd_path_job *job)
{
    return (size_t)job->moves * (size_t)view->slots * (size_t)job->segments;
}

void ckpd__closed_view_free(ckpd_context *context, ckpd__closed_view *closed)
{
    ckpd__free(context, closed->jobs);
    ckpd__free(context, closed->job);
    ckpd__free(context, closed->edge_closed);
    ckpd__free(context, closed->block);
    *closed = (ckpd__closed_view){0};
}

static bool make_arrays(ckpd__closed_view *c, ckpd_context *context, const ckpd_path_view *view)
{
    size_t jobs = (size_t)view->jobs, total = 0;
    for (int32_t j = 0; j < view->jobs; j++) {
        total += job_moves(view, view->job[j]);
    }
    c->jobs = ckpd__calloc(context, jobs, sizeof *c->jobs);
    c->job = ckpd__calloc(context, jobs, sizeof *c->job);
    c->edge_closed = ckpd__calloc(context, jobs, sizeof *c->edge_closed);
    c->block = ckpd__calloc(context, total, 1);
    if (c->jobs == NULL || c->job == NULL || c->edge_closed == NULL || c->block == NULL) {
        return false;
    }
    uint8_t *at = c->block;
    for (int32_t j = 0; j < view->jobs; j++) {
        c->jobs[j] = *view->job[j];
        c->job[j] = &c->jobs[j];
        c->edge_closed[j] = at;
        at += job_moves(view, view->job[j]);
    }
    c->view = *view;
    c->view.job = c->job;
    return true;
}

/* The best plan stays possible, and what was closed before stays closed. */
static void merge(ckpd__closed_view *c, const ckpd_path_view *view, const ckpd_path_plan *best)
{
    for (int32_t j = 0; j < view->jobs; j++) {
        const ckpd_path_job *job = view->job[j];
        int32_t segment = job->source_segment;
        for (int32_t i = 0; i < best->step_count[j]; i++) {
            size_t step = (size_t)j * (size_t)view->slots + (size_t)i;
            int32_t move = best->step_move[step];
            c->edge_closed[j][ckpd__edge_index(view, job, move, best->step_slot[step], segment)] =
                0;
            segment += job->move_segments[move];
        }
        size_t count = job_moves(view, job);
        for (size_t i = 0; i < count; i++) {
            c->closed += c->edge_closed[j][i];
            c->edge_closed[j][i] |= job->edge_closed != NULL && job->edge_closed[i];
        }
        c->moves += (int64_t)count;
        c->jobs[j].edge_closed = c->edge_closed[j];
    }
}

int32_t ckpd__closed_view_make(ckpd__closed_view *out, ckpd_context *context, const ckpd_host *host,
                               const ckpd_path_view *view, const ckpd_path_plan *best,
                               const ckpd_solve_params *params)
{
    ckpd__closed_view c = {0};
    int32_t status = make_arrays(&c, context, view) ? CKPD_OK : CKPD_ERR_NO_MEMORY;
    if (status == CKPD_OK) {
        ckpd_path_view started = *view;
        started.start = best;
        status = ckpd__native_close_moves(host, &started, params, c.edge_closed, &c.cutoff);
    }
    if (status == CKPD_OK) {
        merge(&c, view, best);
        *out = c;
        return CKPD_OK;
    }
    ckpd__closed_view_free(context, &c);
    return status == CKPD_ERR_NO_MEMORY ? ckpd__no_memory(context) : status;
}
