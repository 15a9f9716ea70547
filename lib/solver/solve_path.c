/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* ckpd_path_solve: a backend for paths directly, or a MILP backend through the derived model. */
#include "solver/path_milp.h"

#include "solver/native/native.h"
#include "solver/structure.h"
#include <math.h>
#include <string.h>

enum {
    MOST_COLUMNS = 2000000, /* beyond, a general solver has no chance and memory is at risk */
    PRESOLVE_NODES = 200    /* more would turn the structure presolve into the solve */
};

typedef struct path_solve {
    ckpd_context *context;
    const ckpd_backend_table *backend;
    const ckpd_path_view *view;
    const ckpd__solve_control *control;
    ckpd_solve_params params;
    ckpd_host host;
    ckpd__host_state state;
    ckpd_path_plan plan; /* what the answer's plan points to; the library's arrays */
    ckpd_path_result answer;
    double floor;  /* bound of the structure presolve */
    double cutoff; /* no plan with a move that it closed is cheaper */
    bool by_milp, trusted;
} path_solve;

/* --- MILP backends ---------------------------------------------------------------------------- */

static int32_t new_series(ckpd_context *context, const ckpd_path_view *view,
                          ckpd__path_series *series)
{
    size_t slots = (size_t)view->slots;
    double *block = ckpd__calloc(context, 4 * slots + 1, sizeof(double));
    if (block == NULL) {
        return ckpd__no_memory(context);
    }
    *series = (ckpd__path_series){block, block + slots, block + 2 * slots, block + 3 * slots};
    return CKPD_OK;
}

/* A start that is no plan of the view is dropped: it may come from yesterday's problem. */
static int32_t encode_start(path_solve *s, const ckpd_path_plan *plan, ckpd__path_milp *model,
                            double **start)
{
    if (plan == NULL) {
        return CKPD_OK;
    }
    ckpd__path_series series;
    int32_t status = new_series(s->context, s->view, &series);
    if (status != CKPD_OK) {
        return status;
    }
    double objective;
    status = ckpd__path_plan_check(s->context, s->view, plan, &objective, &series, true);
    if (status == CKPD_OK) {
        *start = ckpd__calloc(s->context, (size_t)model->milp.columns, sizeof(double));
        if (*start == NULL) {
            status = ckpd__no_memory(s->context);
        } else if (ckpd__path_milp_encode(model, plan, &series, *start)) {
            model->milp.start_point = *start;
        }
    } else if (status == CKPD_ERR_VERIFY) {
        status = CKPD_OK;
    }
    ckpd__free(s->context, series.load_kw);
    return status;
}

static int32_t solve_model(path_solve *s, ckpd__path_milp *model, double *x)
{
    ckpd_milp_result answer = {.size = sizeof answer, .x = x};
    s->params.time_limit_s = ckpd__host_time_left(&s->state);
    int32_t status = ckpd__milp_solve(s->context, s->backend->name, &model->milp, &s->params,
                                      s->control, &answer, NULL);
    if (status != CKPD_OK) {
        return status;
    }
    s->answer.outcome = answer.outcome;
    s->answer.has_plan = answer.has_plan;
    s->answer.bound = fmax(fmin(answer.bound, s->cutoff), s->floor);
    s->answer.iterations += answer.iterations;
    s->answer.nodes += answer.nodes;
    memcpy(s->answer.message, answer.message, sizeof answer.message);
    if (answer.has_plan) {
        ckpd__path_milp_decode(model, x, &s->plan);
    }
    return CKPD_OK;
}

/* `view` is that of the solve, perhaps with moves closed. */
static int32_t solve_by_model(path_solve *s, const ckpd_path_view *view, const ckpd_path_plan *plan)
{
    ckpd__path_milp *model;
    int32_t status = ckpd__path_milp_new(&model, s->context, view, MOST_COLUMNS);
    if (status != CKPD_OK) {
        return status;
    }
    double *start = NULL,
           *x = ckpd__calloc(s->context, (size_t)model->milp.columns, sizeof(double));
    status = x != NULL ? encode_start(s, plan, model, &start) : ckpd__no_memory(s->context);
    if (status == CKPD_OK) {
        status = solve_model(s, model, x);
    }
    ckpd__free(s->context, x);
    ckpd__free(s->context, start);
    ckpd__path_milp_free(model);
    return status;
}

/*
 * The structure layer first: its plan is a start, its bound a floor. When it has settled the case
 * by itself, there is nothing left for the backend. *settled says so, *known that it covers the
 * problem at all.
 */
static int32_t run_structure(path_solve *s, const ckpd_path_view *view, bool *settled, bool *known)
{
    ckpd_solve_params params = s->params;
    params.time_limit_s = ckpd__host_time_left(&s->state) / 2;
    int64_t most = s->control->presolve_nodes > 0 ? s->control->presolve_nodes : PRESOLVE_NODES;
    params.node_limit =
        params.node_limit >= 0 && params.node_limit < most ? params.node_limit : most;
    ckpd__host_state state;
    ckpd_host host;
    ckpd__host_start(&host, &state, s->context, s->control, params.time_limit_s);
    int32_t status = ckpd__native_solve_paths(&host, view, &params, &s->answer, NULL);
    *settled = false;
    *known = status != CKPD_ERR_NOT_SUPPORTED;
    if (!*known) {
        ckpd__log(s->context, CKPD_LOG_INFO, CKPD_MSG_FALLBACK, "no structure presolve: %s",
                  s->answer.message);
        s->answer.message[0] = '\0';
        s->answer.has_plan = 0;
        return CKPD_OK;
    }
    if (status != CKPD_OK) {
        return status == CKPD_ERR_NO_MEMORY ? ckpd__no_memory(s->context) : status;
    }
    s->state.cancelled = s->state.cancelled || state.cancelled;
    *settled =
        s->answer.outcome == CKPD_OUTCOME_OPTIMAL || s->answer.outcome == CKPD_OUTCOME_INFEASIBLE;
    if (!*settled && s->state.cancelled) { /* also by the last report of a run that then ended */
        s->answer.outcome = CKPD_OUTCOME_CANCELLED;
    }
    *settled = *settled || s->answer.outcome == CKPD_OUTCOME_CANCELLED;
    return CKPD_OK;
}

/* The soft caps as hard ones. `loose` has a plan of `cost`, which stays when none is cheaper. */
static int32_t presolve_hard(path_solve *s, ckpd_path_view *hard, const ckpd_path_plan *loose,
                             double cost, bool *settled)
{
    const ckpd_path_view *view = s->view;
    double *caps = ckpd__calloc(s->context, 2 * (size_t)view->slots, sizeof *caps);
    if (caps == NULL) {
        return ckpd__no_memory(s->context);
    }
    double *load = caps, *gpus = caps + view->slots;
    for (int32_t t = 0; t < view->slots; t++) {
        load[t] = view->load_cap_kw[t];
        gpus[t] = view->gpu_cap[t];
        load[t] = view->load_soft_kw != NULL ? fmin(load[t], view->load_soft_kw[t]) : load[t];
        gpus[t] = view->gpu_soft != NULL ? fmin(gpus[t], view->gpu_soft[t]) : gpus[t];
    }
    hard->load_cap_kw = load;
    hard->gpu_cap = gpus;
    bool known;
    int32_t status = run_structure(s, hard, settled, &known);
    ckpd__free(s->context, caps);
    double found = INFINITY;
    if (status == CKPD_OK && s->answer.has_plan) {
        status = ckpd__path_plan_check(s->context, view, &s->plan, &found, NULL, true);
    }
    if (status != CKPD_OK && status != CKPD_ERR_VERIFY) {
        return status;
    }
    s->answer.has_plan = isfinite(found) || isfinite(cost);
    if (isfinite(cost) && !(found < cost)) {
        ckpd__plan_copy(view, &s->plan, loose);
    }
    /* What ended here was another problem: of this one nothing is proven but the floor. */
    *settled = s->state.cancelled || s->answer.outcome == CKPD_OUTCOME_CANCELLED;
    s->answer.outcome = *settled             ? CKPD_OUTCOME_CANCELLED
                        : s->answer.has_plan ? CKPD_OUTCOME_FEASIBLE
                                             : CKPD_OUTCOME_NO_PLAN;
    s->answer.bound = s->floor;
    return CKPD_OK;
}

/*
 * Where the structure layer does not know soft caps (many jobs), it knows two problems beside: with
 * nothing to pay above them, whose bound holds here too, and with the soft caps as hard ones, whose
 * plan is one here. So is the plan of the first, only dearer than it says.
 */
static int32_t presolve_soft(path_solve *s, bool *settled)
{
    bool known;
    ckpd_path_view other = *s->view;
    other.load_soft_kw = other.load_over_cost = other.gpu_soft = other.gpu_over_cost = NULL;
    int32_t status = run_structure(s, &other, settled, &known);
    if (status != CKPD_OK || !s->answer.has_plan) {
        s->floor = *settled ? s->answer.bound : s->floor;
        return status;
    }
    s->floor = s->answer.bound;
    double cost = INFINITY;
    status = ckpd__path_plan_check(s->context, s->view, &s->plan, &cost, NULL, true);
    if (status != CKPD_OK && status != CKPD_ERR_VERIFY) {
        return status;
    }
    s->answer.has_plan = status == CKPD_OK;
    if (s->answer.has_plan && *settled &&
        cost - s->floor <= ckpd__gap_allowed(&s->params, cost, s->floor)) {
        return CKPD_OK;
    }
    if (s->state.cancelled || s->answer.outcome == CKPD_OUTCOME_CANCELLED) {
        s->answer.outcome = CKPD_OUTCOME_CANCELLED;
        return CKPD_OK;
    }
    ckpd_path_plan loose;
    if (ckpd__plan_new(s->context, s->view, &loose) != CKPD_OK) {
        return ckpd__no_memory(s->context);
    }
    ckpd__plan_copy(s->view, &loose, &s->plan);
    status = presolve_hard(s, &other, &loose, s->answer.has_plan ? cost : INFINITY, settled);
    ckpd__plan_free(s->context, &loose);
    return status;
}

static int32_t structure_presolve(path_solve *s, bool *settled)
{
    bool known;
    int32_t status = run_structure(s, s->view, settled, &known);
    if (status == CKPD_OK && !known && ckpd__has_soft_caps(s->view)) {
        return presolve_soft(s, settled);
    }
    if (status == CKPD_OK && known) {
        s->floor = s->answer.bound;
    }
    return status;
}

static bool only_paths(const ckpd_path_view *view)
{
    for (int32_t j = 0; j < view->jobs; j++) {
        if (view->job[j]->kind != CKPD_JOB_PATHS) {
            return false;
        }
    }
    return true;
}

/* A start is a plan whatever the backend made of it. */
static void keep_start(path_solve *s, const ckpd_path_plan *best)
{
    if (s->answer.has_plan) {
        return;
    }
    ckpd__plan_copy(s->view, &s->plan, best);
    s->answer.has_plan = 1;
    if (s->answer.outcome == CKPD_OUTCOME_INFEASIBLE) {
        /* Its moves were all open: the backend errs, and a bound of it is worth nothing. */
        s->answer.bound = s->floor;
        s->trusted = true;
        ckpd__format(s->answer.message, sizeof s->answer.message,
                     "backend \"%s\" finds no plan where one is known", s->backend->name);
    }
    if (s->answer.outcome != CKPD_OUTCOME_CANCELLED) { /* else stopped before the start was taken */
        s->answer.outcome = CKPD_OUTCOME_FEASIBLE;
    }
}

/* The rest of a case after the structure presolve: fewer moves, its plan as the start. */
static int32_t solve_rest(path_solve *s, const ckpd_path_plan *best)
{
    ckpd__closed_view rest;
    ckpd_solve_params params = s->params;
    params.time_limit_s = ckpd__host_time_left(&s->state) / 2;
    int32_t status = ckpd__closed_view_make(&rest, s->context, &s->host, s->view, best, &params);
    if (status != CKPD_OK) {
        return status;
    }
    ckpd__log(s->context, CKPD_LOG_DEBUG, CKPD_MSG_SOLVER,
              "structure presolve: %L of %L moves closed", rest.closed, rest.moves);
    s->cutoff = rest.closed > 0 ? rest.cutoff : INFINITY;
    status = solve_by_model(s, &rest.view, best);
    ckpd__closed_view_free(s->context, &rest);
    return status;
}

static int32_t solve_by_milp(path_solve *s)
{
    bool settled = false;
    if (s->control->structure_presolve) {
        int32_t status = structure_presolve(s, &settled);
        if (status != CKPD_OK || settled) {
            s->trusted = true; /* whatever the named backend is, this is our own proof */
            return status;
        }
    }
    if (!s->answer.has_plan) {
        return solve_by_model(s, s->view, s->view->start);
    }
    ckpd_path_plan best;
    if (ckpd__plan_new(s->context, s->view, &best) != CKPD_OK) {
        return ckpd__no_memory(s->context);
    }
    ckpd__plan_copy(s->view, &best, &s->plan);
    int32_t status = only_paths(s->view) ? solve_rest(s, &best) : solve_by_model(s, s->view, &best);
    if (status == CKPD_OK) {
        keep_start(s, &best);
    }
    ckpd__plan_free(s->context, &best);
    return status;
}

/* --- path backends ---------------------------------------------------------------------------- */

static bool same_arrays(const ckpd_path_plan *a, const ckpd_path_plan *b)
{
    return a->step_count == b->step_count && a->step_slot == b->step_slot &&
           a->step_move == b->step_move && a->slot_mode == b->slot_mode &&
           a->charge_kw == b->charge_kw && a->discharge_kw == b->discharge_kw;
}

static int32_t solve_by_paths(path_solve *s)
{
    ckpd_path_plan lent = s->plan; /* a backend that moves an array moves only this one */
    s->params.time_limit_s = ckpd__host_time_left(&s->state);
    s->answer.plan = &lent;
    int32_t status = ckpd__call_paths(s->backend, &s->host, s->view, &s->params, &s->answer);
    bool moved = s->answer.plan != &lent || !same_arrays(&lent, &s->plan);
    s->answer.plan = &s->plan;
    s->answer.size = sizeof s->answer;
    s->answer.message[sizeof s->answer.message - 1] = '\0';
    if (status == CKPD_OK && moved) {
        return ckpd__fail(s->context, CKPD_ERR_BACKEND, "plan", -1, NAN,
                          "backend \"%s\" moved an array of the plan instead of filling it",
                          s->backend->name);
    }
    if (status == CKPD_OK) {
        return CKPD_OK;
    }
    int32_t code = status < 0 ? status : CKPD_ERR_BACKEND;
    return ckpd__fail(s->context, code, "backend", -1, NAN, "backend \"%s\": %s", s->backend->name,
                      s->answer.message[0] != '\0' ? s->answer.message : ckpd_strerror(code));
}

/* --- judging ---------------------------------------------------------------------------------- */

static int32_t judge(path_solve *s, const ckpd_solve_params *asked)
{
    ckpd_path_result *answer = &s->answer;
    bool claims_plan =
        answer->outcome == CKPD_OUTCOME_OPTIMAL || answer->outcome == CKPD_OUTCOME_FEASIBLE;
    if (answer->outcome < CKPD_OUTCOME_OPTIMAL || answer->outcome > CKPD_OUTCOME_CANCELLED ||
        (claims_plan != (answer->has_plan != 0) && answer->outcome != CKPD_OUTCOME_CANCELLED)) {
        return ckpd__fail(s->context, CKPD_ERR_BACKEND, "outcome", -1, answer->outcome,
                          "outcome %d of backend \"%s\" is unknown or does not fit its plan",
                          answer->outcome, s->backend->name);
    }
    if (isnan(answer->bound)) {
        answer->bound = -INFINITY;
    }
    answer->has_plan = answer->has_plan != 0;
    answer->objective = INFINITY;
    if (!answer->has_plan) {
        return CKPD_OK;
    }
    int32_t status =
        ckpd__path_plan_check(s->context, s->view, &s->plan, &answer->objective, NULL, false);
    if (status != CKPD_OK) {
        return status;
    }
    double gap = answer->objective - answer->bound;
    double allowed = fmax(ckpd__gap_allowed(asked, answer->objective, answer->bound),
                          1e-6 * fmax(1, fabs(answer->objective)));
    if (answer->objective - s->floor <= allowed) { /* our own proof, whoever found the plan */
        s->trusted = true;
        if (answer->outcome == CKPD_OUTCOME_FEASIBLE) {
            answer->outcome = CKPD_OUTCOME_OPTIMAL;
            answer->message[0] = '\0';
        }
    }
    if (answer->outcome == CKPD_OUTCOME_OPTIMAL && (!(gap <= allowed) || !s->trusted)) {
        answer->outcome = CKPD_OUTCOME_FEASIBLE;
        ckpd__say_claimed(s->context, s->backend->name, answer->bound, answer->message,
                          sizeof answer->message);
    }
    answer->bound = fmin(answer->bound, answer->objective);
    return CKPD_OK;
}

static uint32_t needed(const ckpd_path_view *view)
{
    return (only_paths(view) ? CKPD_CAP_PATHS : CKPD_CAP_PATHS | CKPD_CAP_SLOTWISE) |
           (ckpd__has_soft_caps(view) ? CKPD_CAP_SOFT : 0u);
}

static int32_t choose(path_solve *s, const char *name)
{
    uint32_t paths = needed(s->view);
    int32_t status;
    if (name != NULL && name[0] != '\0') {
        status = ckpd__backend_choose(s->context, name, 0, &s->backend);
        if (status == CKPD_OK && (s->backend->capabilities & paths) != paths &&
            (s->backend->capabilities & CKPD_CAP_MILP) == 0) {
            status = ckpd__backend_choose(s->context, name, paths, &s->backend);
        }
        if (status == CKPD_ERR_NOT_SUPPORTED && !s->control->no_fallback) {
            status = ckpd__backend_choose_paths(s->context, paths, NULL, &s->backend);
            if (status == CKPD_OK) {
                ckpd__log(s->context, CKPD_LOG_WARNING, CKPD_MSG_FALLBACK,
                          "backend \"%s\" does not solve this kind of job: \"%s\" does it instead",
                          name, s->backend->name);
            }
        }
    } else {
        status = ckpd__backend_choose_paths(s->context, paths, NULL, &s->backend);
    }
    s->by_milp = status == CKPD_OK && (s->backend->capabilities & paths) != paths;
    return status;
}

static int32_t solve_with_backend(path_solve *s, const ckpd_solve_params *asked)
{
    s->trusted = (s->backend->capabilities & CKPD_CAP_TRUSTED_BOUND) != 0;
    int32_t status = s->by_milp ? solve_by_milp(s) : solve_by_paths(s);
    return status == CKPD_OK ? judge(s, asked) : status;
}

/* What the first backend does not cover the next in preference may. */
static int32_t solve_or_fall_back(path_solve *s, const ckpd_solve_params *asked)
{
    const ckpd_backend_table *first = s->backend, *passed = NULL;
    int32_t status = solve_with_backend(s, asked);
    uint32_t paths = needed(s->view);
    while (status == CKPD_ERR_NOT_SUPPORTED && !s->control->no_fallback) {
        const ckpd_backend_table *refused = s->backend;
        int32_t found = ckpd__backend_choose_paths(s->context, paths, passed, &s->backend);
        if (found == CKPD_OK && s->backend == first) {
            found = ckpd__backend_choose_paths(s->context, paths, first, &s->backend);
        }
        passed = s->backend;
        if (found != CKPD_OK) {
            return ckpd__fail(s->context, CKPD_ERR_NO_BACKEND, "backend", -1, NAN,
                              "no backend can solve this problem; \"%s\" says: %s", refused->name,
                              s->answer.message);
        }
        ckpd__log(s->context, CKPD_LOG_WARNING, CKPD_MSG_FALLBACK,
                  "backend \"%s\" does not cover this problem (%s): trying \"%s\"", refused->name,
                  s->answer.message, s->backend->name);
        s->by_milp = (s->backend->capabilities & paths) != paths;
        s->answer.message[0] = '\0';
        status = solve_with_backend(s, asked);
    }
    return status;
}

/* Stopped before it began: the start, where it is a plan, is all there is. */
static int32_t stopped_before(path_solve *s, int32_t stop, const ckpd_solve_params *asked)
{
    double cost;
    const ckpd_path_plan *start = s->view->start;
    int32_t status = start == NULL
                         ? CKPD_ERR_VERIFY
                         : ckpd__path_plan_check(s->context, s->view, start, &cost, NULL, true);
    if (status == CKPD_ERR_NO_MEMORY) {
        return status;
    }
    s->answer.has_plan = status == CKPD_OK;
    if (s->answer.has_plan) {
        ckpd__plan_copy(s->view, &s->plan, start);
    }
    s->answer.outcome = stop == 2            ? CKPD_OUTCOME_CANCELLED
                        : s->answer.has_plan ? CKPD_OUTCOME_FEASIBLE
                                             : CKPD_OUTCOME_NO_PLAN;
    return judge(s, asked);
}

static int32_t solve(path_solve *s, const ckpd_solve_params *asked)
{
    bool found = false;
    int32_t status =
        s->control->start_is_plan
            ? CKPD_OK
            : ckpd__look_for_obvious(s->context, s->view, &s->host, &s->answer, &found);
    if (status != CKPD_OK || found) {
        s->trusted = true;
        return status;
    }
    int32_t stop = s->host.should_stop(s->host.user);
    return stop != 0 ? stopped_before(s, stop, asked) : solve_or_fall_back(s, asked);
}

int32_t ckpd__path_solve(ckpd_context *context, const char *backend, const ckpd_path_view *view,
                         const ckpd_solve_params *params, const ckpd__solve_control *control,
                         ckpd_path_result *result, ckpd__solve_info *info)
{
    path_solve s = {.context = context,
                    .view = view,
                    .control = control,
                    .floor = -INFINITY,
                    .cutoff = INFINITY};
    ckpd_solve_params asked;
    int32_t status = ckpd__params_read(context, params, &asked);
    if (status == CKPD_OK) {
        status = ckpd__path_view_check(context, view);
    }
    if (status == CKPD_OK && view->start != NULL) {
        status = ckpd__plan_arrays_check(context, "start", view, view->start);
    }
    if (status == CKPD_OK) {
        status = ckpd__plan_arrays_check(context, "result plan", view, result->plan);
    }
    if (status == CKPD_OK) {
        status = choose(&s, backend);
    }
    if (status != CKPD_OK) {
        return status;
    }
    s.params = asked;
    s.answer = (ckpd_path_result){
        .size = sizeof s.answer, .plan = &s.plan, .objective = INFINITY, .bound = -INFINITY};
    if (ckpd__plan_new(context, view, &s.plan) != CKPD_OK) {
        return ckpd__no_memory(context);
    }
    ckpd__host_start(&s.host, &s.state, context, control, asked.time_limit_s);
    s.state.started_s = control->started_s > 0 ? control->started_s : s.state.started_s;
    status = solve(&s, &asked);
    if (status == CKPD_OK && s.answer.has_plan && s.trusted) { /* a guest's plan stays its own */
        status = ckpd__plan_tidy(context, view, &s.plan, &s.answer.objective);
        s.answer.bound = fmin(s.answer.bound, s.answer.objective);
    }
    if (status == CKPD_OK) {
        ckpd_path_plan *given = result->plan;
        *result = s.answer;
        result->plan = given;
        if (result->has_plan) {
            ckpd__plan_copy(view, given, &s.plan);
        }
        if (info != NULL) {
            *info = (ckpd__solve_info){.trusted = s.trusted,
                                       .seconds = ckpd__clock_s() - s.state.started_s};
            ckpd__format(info->backend, sizeof info->backend, "%s", s.backend->name);
        }
    }
    ckpd__plan_free(context, &s.plan);
    return status;
}

/* The caller's result and plan at this library's size. */
static int32_t solve_known(ckpd_context *context, const char *backend, const ckpd_path_view *view,
                           const ckpd_solve_params *params, const ckpd__solve_control *control,
                           ckpd_path_result *result)
{
    ckpd_path_result known;
    ckpd_path_plan plan;
    int32_t status = CKPD__STRUCT_IN(context, path_result, result, &known);
    if (status == CKPD_OK) {
        plan = (ckpd_path_plan){.size = sizeof plan};
        status =
            known.plan != NULL ? CKPD__STRUCT_IN(context, path_plan, known.plan, &plan) : CKPD_OK;
    }
    if (status != CKPD_OK) {
        return status;
    }
    known.plan = &plan;
    status = ckpd__path_solve(context, backend, view, params, control, &known, NULL);
    known.plan = result->plan;
    return status == CKPD_OK ? CKPD__STRUCT_OUT(context, path_result, result, &known) : status;
}

int32_t ckpd_path_solve(ckpd_context *context, const char *backend, const ckpd_path_view *view,
                        const ckpd_solve_params *params, const ckpd_cancel *cancel,
                        ckpd_path_result *result)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    CKPD__REFUSE_FOREIGN(context, cancel, CKPD__CANCEL);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (view == NULL || result == NULL) {
        return ckpd__null_argument(context, view == NULL ? "view" : "result");
    }
    ckpd__known_view known_view;
    int32_t status = ckpd__known_view_make(&known_view, context, view);
    if (status == CKPD_OK) {
        ckpd__solve_control control = {.cancel = cancel, .no_fallback = backend != NULL};
        status = solve_known(context, backend, &known_view.view, params, &control, result);
        ckpd__known_view_free(&known_view, context);
    }
    return status;
}
