/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * A plug-in as a third party would write it, against the headers beside it only. It takes the first
 * path it finds for each job and charges nothing: a plan, no bound. -DKIND picks one of the broken
 * variants.
 */
#include <ckptdispatch/backend.h>

#include <string.h>

#ifndef KIND
#define KIND 0
#endif

static size_t node(const ckpd_path_view *view, const ckpd_path_job *job, int32_t q, int32_t t,
                   int32_t k)
{
    return ((size_t)q * ((size_t)view->slots + 1) + (size_t)t) * ((size_t)job->segments + 1) +
           (size_t)k;
}

/* Without transitions: moves in their order, then a wait. */
static int walk(const ckpd_path_view *view, int32_t j, int32_t t, int32_t k, ckpd_path_plan *plan)
{
    const ckpd_path_job *job = view->job[j];
    if (!job->node_open[node(view, job, 0, t, k)]) {
        return 0;
    }
    if (k == job->segments) {
        return 1;
    }
    for (int32_t i = 0; i < job->moves; i++) {
        int32_t to = t + job->move_slots[i], done = k + job->move_segments[i];
        if (to > job->deadline || done > job->segments ||
            !job->node_open[node(view, job, 0, to, done)]) {
            continue;
        }
        size_t at = (size_t)j * (size_t)view->slots + (size_t)plan->step_count[j];
        plan->step_slot[at] = t;
        plan->step_move[at] = i;
        plan->step_count[j]++;
        if (walk(view, j, to, done, plan)) {
            return 1;
        }
        plan->step_count[j]--;
    }
    return job->may_wait && t < view->slots && walk(view, j, t + 1, k, plan);
}

static int32_t solve_paths(const ckpd_host *host, const ckpd_path_view *view,
                           const ckpd_solve_params *params, ckpd_path_result *result, void *user)
{
    (void)params;
    *(int *)user += 1;
    void *block = host->allocate(16, host->user);
    if (block == NULL) {
        return CKPD_ERR_NO_MEMORY;
    }
    host->release(block, host->user);
    host->log(CKPD_LOG_INFO, "first path of every job", host->user);
    if (host->should_stop(host->user)) {
        result->outcome = CKPD_OUTCOME_CANCELLED;
        return CKPD_OK;
    }
    for (int32_t j = 0; j < view->jobs; j++) {
        if (view->job[j]->kind != CKPD_JOB_PATHS || view->job[j]->states != 1) {
            strcpy(result->message, "only plain path jobs");
            return CKPD_ERR_NOT_SUPPORTED;
        }
        result->plan->step_count[j] = 0;
        if (!walk(view, j, view->job[j]->source_slot, view->job[j]->source_segment, result->plan)) {
            result->outcome = CKPD_OUTCOME_INFEASIBLE;
            return CKPD_OK;
        }
    }
    for (int32_t t = 0; view->storage != NULL && t < view->slots; t++) {
        result->plan->charge_kw[t] = result->plan->discharge_kw[t] = 0;
    }
    host->report(0, 0, 1, 0, host->user);
    result->has_plan = 1;
    result->outcome = CKPD_OUTCOME_FEASIBLE;
    return CKPD_OK;
}

static int calls;
static const ckpd_backend_table table = {
    .size = KIND == 1 ? sizeof(size_t) : sizeof(ckpd_backend_table),
    .abi = CKPD_BACKEND_ABI + (KIND == 2),
    .capabilities = CKPD_CAP_PATHS | (KIND == 3 ? CKPD_CAP_TRUSTED_BOUND : 0),
    .name = KIND == 4 ? "First Path" : "first-path",
    .version = "0.1",
    .license = "LGPL-3.0-or-later",
    .solve_paths = KIND == 5 ? NULL : solve_paths,
    .user = &calls,
};

#if KIND == 6
#define ckpd_plugin_init another_name
#endif
__attribute__((visibility("default"))) int32_t ckpd_plugin_init(uint32_t library_abi,
                                                                const ckpd_backend_table **out);
int32_t ckpd_plugin_init(uint32_t library_abi, const ckpd_backend_table **out)
{
    if (library_abi != CKPD_BACKEND_ABI || KIND == 7) {
        return CKPD_ERR_VERSION;
    }
    *out = &table;
    return CKPD_OK;
}
