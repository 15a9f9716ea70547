/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What can be said of a path view without a solver. */
#include "solver/path_milp.h"

#include <math.h>

static bool obvious(ckpd_path_result *answer, const char *text)
{
    ckpd__format(answer->message, sizeof answer->message, "%s", text);
    answer->outcome = CKPD_OUTCOME_INFEASIBLE;
    answer->bound = INFINITY;
    return true;
}

static bool slot_is_impossible(const ckpd_path_view *view, int32_t t, ckpd_path_result *answer)
{
    char text[sizeof answer->message];
    double base = ckpd__slot_base_kw(view, t), gpus = ckpd__slot_fixed_gpus(view, t);
    double cap = view->load_cap_kw[t], most = view->curve_x_kw[view->curve_start[t + 1] - 1];
    double storage = view->storage != NULL ? view->storage->discharge_max_kw : 0;
    if (gpus > view->gpu_cap[t] * (1 + 1e-12)) {
        ckpd__format(text, sizeof text, "slot %d: running edges hold %g GPUs, the cap is %g", t,
                     gpus, view->gpu_cap[t]);
        return obvious(answer, text);
    }
    if (base > cap + ckpd__tolerance(cap)) {
        ckpd__format(text, sizeof text, "slot %d: base load %g kW is above the load cap %g kW", t,
                     base, cap);
        return obvious(answer, text);
    }
    if (base - storage > most + ckpd__tolerance(most)) {
        ckpd__format(text, sizeof text,
                     "slot %d: base load %g kW is more than the %g kW that can be had", t, base,
                     most + storage);
        return obvious(answer, text);
    }
    return false;
}

int32_t ckpd__look_for_obvious(ckpd_context *context, const ckpd_path_view *view,
                               const ckpd_host *host, ckpd_path_result *answer, bool *found)
{
    *found = false;
    for (int32_t t = 0; t < view->slots && !*found; t++) {
        *found = slot_is_impossible(view, t, answer);
    }
    for (int32_t j = 0; j < view->jobs && !*found; j++) {
        const ckpd_path_job *job = view->job[j];
        if (job->kind != CKPD_JOB_PATHS) {
            continue;
        }
        if (host->should_stop(host->user) != 0) {
            return CKPD_OK; /* it was only for the sake of a message */
        }
        bool possible;
        int32_t status = ckpd__job_is_possible(context, view, job, &possible);
        if (status != CKPD_OK) {
            return status;
        }
        if (!possible) {
            char text[sizeof answer->message];
            ckpd__format(text, sizeof text,
                         "job %d \"%s\": no path within deadline, GPU and load caps, even alone", j,
                         job->name != NULL ? job->name : "");
            *found = obvious(answer, text);
        }
    }
    return CKPD_OK;
}
