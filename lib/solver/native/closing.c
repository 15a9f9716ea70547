/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/closing.h"
#include "solver/native/search.h"

#include <math.h>
#include <string.h>

/* Whether a move runs an activity that is forbidden in the slot where it runs it. */
static bool is_dead(const nat_search *search, int32_t j, int32_t i, int32_t t)
{
    const nat_job *job = &search->model->job[j];
    const ckpd_path_job *in = job->in;
    int32_t mode = in->move_mode[i], length = in->move_slots[i];
    int32_t body = ckpd__nat_activity(job, in->mode_gpus[mode], in->mode_power_kw[mode]);
    int32_t last = in->move_last_kw != NULL
                       ? ckpd__nat_activity(job, in->mode_gpus[mode], in->move_last_kw[i])
                       : body;
    size_t slots = (size_t)search->model->slots;
    const uint8_t *forbidden = search->forbidden + search->dual.layout.job[j];
    for (int32_t s = 0; s < length; s++) {
        int32_t activity = s == length - 1 ? last : body;
        if (activity >= 0 && forbidden[(size_t)activity * slots + (size_t)(t + s)]) {
            return true;
        }
    }
    return false;
}

static void mark(const nat_search *search, uint8_t *const *closed)
{
    const nat_model *model = search->model;
    size_t slots = (size_t)model->slots;
    for (int32_t j = 0; j < model->jobs; j++) {
        const ckpd_path_job *in = model->job[j].in;
        size_t segments = (size_t)in->segments;
        for (int32_t i = 0; i < in->moves; i++) {
            for (int32_t t = in->source_slot; t + in->move_slots[i] <= in->deadline; t++) {
                if (is_dead(search, j, i, t)) {
                    memset(closed[j] + ((size_t)i * slots + (size_t)t) * segments, 1, segments);
                }
            }
        }
    }
}

int32_t ckpd__native_close_moves(const ckpd_host *host, const ckpd_path_view *view,
                                 const ckpd_solve_params *params, uint8_t *const *closed,
                                 double *cutoff)
{
    nat_memory memory = {.host = host};
    nat_model model;
    nat_search search = {0};
    ckpd_solve_params root = *params;
    root.node_limit =
        1; /* what the root forbids stays in search.forbidden when the search ends there */
    *cutoff = (double)INFINITY;
    int32_t status = ckpd__nat_model_build(&model, &memory, view);
    if (status == CKPD_OK && !model.stop && ckpd__nat_stack_is_small(&model)) {
        status = ckpd__nat_search_init(&search, &memory, &model, &root);
        search.plain = true;
        if (status == CKPD_OK)
            status = ckpd__nat_search_run(&search);
        if (status == CKPD_OK &&
            (search.primal.dispatch.failed || search.dual.reservoir.failed || search.failed))
            status = CKPD_ERR_NO_MEMORY;
        if (status == CKPD_OK) {
            *cutoff = ckpd__nat_search_cutoff(&search);
            mark(&search, closed);
        }
        ckpd__nat_primal_free(&search.primal);
        ckpd__nat_dual_free(&search.dual);
    }
    ckpd__nat_release(&memory);
    return status == CKPD_ERR_NOT_SUPPORTED ? CKPD_OK : status;
}
