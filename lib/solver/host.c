/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What a running backend gets from the library: memory, log, stop, progress, a place for prices. */
#include "solver/solver.h"

#include <math.h>

static void *host_allocate(size_t bytes, void *user)
{
    ckpd__host_state *state = user;
    return ckpd__calloc(state->context, bytes, 1);
}

static void host_release(void *block, void *user)
{
    ckpd__host_state *state = user;
    ckpd__free(state->context, block);
}

static void host_log(int32_t level, const char *message, void *user)
{
    ckpd__host_state *state = user;
    ckpd__log(state->context, level, CKPD_MSG_SOLVER, "%s", message);
}

static int32_t host_should_stop(void *user)
{
    ckpd__host_state *state = user;
    if (state->cancelled || ckpd_cancel_requested(state->control->cancel)) {
        return 2;
    }
    return isfinite(state->limit_s) && ckpd__clock_s() - state->started_s >= state->limit_s ? 1 : 0;
}

static void host_report(double incumbent, double bound, int64_t iterations, int64_t nodes,
                        void *user)
{
    ckpd__host_state *state = user;
    if (state->control->progress == NULL || state->cancelled) {
        return;
    }
    incumbent *= state->objective_unit;
    bound = fmax(bound * state->objective_unit, state->bound_floor);
    double gap = INFINITY;
    if (isfinite(incumbent) && isfinite(bound)) {
        double size = fmax(fabs(incumbent), fabs(bound));
        gap = incumbent <= bound ? 0 : (incumbent - bound) / size;
    }
    ckpd_progress progress = {sizeof progress,
                              ckpd__clock_s() - state->started_s,
                              incumbent,
                              bound,
                              gap,
                              iterations,
                              nodes};
    if (state->control->progress(&progress, state->control->progress_user) != 0) {
        state->cancelled = 1;
    }
}

static int32_t host_keep_prices(const ckpd_path_prices *prices, void *user)
{
    ckpd__host_state *state = user;
    if (prices == NULL || prices->size < CKPD__OLDEST(path_prices)) {
        return prices == NULL ? CKPD_ERR_ARGUMENT : CKPD_ERR_STRUCT_SIZE;
    }
    return ckpd__prices_copy(state->context, state->control->prices, prices);
}

void ckpd__host_start(ckpd_host *host, ckpd__host_state *state, ckpd_context *context,
                      const ckpd__solve_control *control, double time_limit_s)
{
    *state = (ckpd__host_state){.context = context,
                                .control = control,
                                .started_s = ckpd__clock_s(),
                                .limit_s = time_limit_s,
                                .objective_unit = 1,
                                .bound_floor = -INFINITY};
    *host = (ckpd_host){.size = sizeof *host,
                        .user = state,
                        .allocate = host_allocate,
                        .release = host_release,
                        .log = host_log,
                        .should_stop = host_should_stop,
                        .report = host_report,
                        .keep_prices = control->prices != NULL ? host_keep_prices : NULL};
}

double ckpd__host_time_left(const ckpd__host_state *state)
{
    return isfinite(state->limit_s) ? fmax(0, state->limit_s - (ckpd__clock_s() - state->started_s))
                                    : INFINITY;
}

double ckpd__gap_allowed(const ckpd_solve_params *params, double upper, double lower)
{
    double relative = isfinite(upper) && isfinite(lower)
                          ? params->relative_gap * fmax(fabs(upper), fabs(lower))
                          : 0;
    return fmax(params->absolute_gap, relative);
}
