/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* ckpd_milp_solve: checked in, scaled, solved by a backend, checked out. */
#include "solver/solver.h"

#include <math.h>
#include <string.h>

/* What one solve needs beside its arguments. */
typedef struct milp_solve {
    ckpd_context *context;
    const ckpd_backend_table *backend;
    ckpd_milp_view view; /* as the backend sees it: objective in units, start checked */
    const ckpd_milp_view *original;
    ckpd_solve_params params;
    ckpd_host host;
    ckpd__host_state state;
    ckpd_milp_result answer;
    double *cost, *start, *tightened; /* private copies, or NULL */
    bool trusted;                     /* the backend's bound counts as a proof */
} milp_solve;

static bool is_mip(const ckpd_milp_view *view)
{
    for (int32_t j = 0; view->integer != NULL && j < view->columns; j++) {
        if (view->integer[j]) {
            return true;
        }
    }
    return false;
}

/* Crossed bounds need no solver, and most solvers have an error or a surprise for them. */
static bool crossed(const double *lower, const double *upper, int32_t count, const char *what,
                    ckpd_milp_result *answer)
{
    for (int32_t i = 0; i < count; i++) {
        if (lower[i] > upper[i] + 1e-9 * fmax(1, fabs(upper[i]))) {
            ckpd__format(answer->message, sizeof answer->message,
                         "%s %d: lower bound %g above upper %g", what, i, lower[i], upper[i]);
            return true;
        }
    }
    return false;
}

/* A problem without columns aborts GLPK; its rows say all there is to say. */
static void solve_empty(const ckpd_milp_view *view, ckpd_milp_result *answer)
{
    answer->outcome = CKPD_OUTCOME_OPTIMAL;
    for (int32_t i = 0; i < view->rows; i++) {
        if (view->row_lower[i] > 1e-6 || view->row_upper[i] < -1e-6) {
            answer->outcome = CKPD_OUTCOME_INFEASIBLE;
        }
    }
    answer->has_plan = answer->outcome == CKPD_OUTCOME_OPTIMAL;
    answer->objective = answer->bound = answer->has_plan ? view->offset : INFINITY;
}

/* Solvers compare reduced costs with fixed tolerances: prices in another currency must not matter.
 */
static double objective_unit(const ckpd_milp_view *view)
{
    double largest = 0;
    for (int32_t j = 0; j < view->columns; j++) {
        largest = fmax(largest, fabs(view->cost[j]));
    }
    if (largest == 0 || (largest >= 1e-2 && largest <= 1e4)) {
        return 1;
    }
    int exponent;
    frexp(largest, &exponent);
    return ldexp(1, exponent - 1);
}

static int32_t scale_objective(milp_solve *s)
{
    double unit = objective_unit(s->original);
    s->state.objective_unit = unit;
    if (unit == 1) {
        return CKPD_OK;
    }
    s->cost = ckpd__calloc(s->context, (size_t)s->view.columns, sizeof(double));
    if (s->cost == NULL) {
        return ckpd__no_memory(s->context);
    }
    for (int32_t j = 0; j < s->view.columns; j++) {
        s->cost[j] = s->original->cost[j] / unit;
    }
    s->view.cost = s->cost;
    s->view.offset = s->original->offset / unit;
    s->params.absolute_gap /= unit;
    return CKPD_OK;
}

/* Backends take a start on trust, so only a feasible one reaches them, with exact integers. */
static int32_t prepare_start(milp_solve *s)
{
    const ckpd_milp_view *view = s->original;
    if (view->start_point == NULL) {
        return CKPD_OK;
    }
    s->view.start_point = NULL;
    if ((s->backend->capabilities & CKPD_CAP_START) == 0) {
        return CKPD_OK;
    }
    s->start = ckpd__calloc(s->context, (size_t)view->columns, sizeof(double));
    if (s->start == NULL) {
        return ckpd__no_memory(s->context);
    }
    for (int32_t j = 0; j < view->columns; j++) {
        double x = view->start_point[j];
        bool whole = view->integer != NULL && view->integer[j];
        s->start[j] = fmin(fmax(whole ? round(x) : x, view->lower[j]), view->upper[j]);
    }
    double objective;
    int32_t status = ckpd__milp_point_check(s->context, view, s->start, &objective, true);
    if (status == CKPD_OK) {
        s->view.start_point = s->start;
    } else if (status == CKPD_ERR_NO_MEMORY) {
        return status;
    } else {
        ckpd__log(s->context, CKPD_LOG_DEBUG, CKPD_MSG_SOLVER,
                  "start point is not feasible: not used");
    }
    return CKPD_OK;
}

static int32_t make_answer(milp_solve *s, const ckpd_milp_result *result)
{
    ckpd_milp_result *answer = &s->answer;
    *answer = (ckpd_milp_result){.size = sizeof *answer, .objective = INFINITY, .bound = -INFINITY};
    size_t columns = (size_t)s->original->columns, rows = (size_t)s->original->rows;
    answer->x = ckpd__calloc(s->context, columns, sizeof(double));
    bool complete = answer->x != NULL;
    if (complete && (result->row_dual != NULL || (!s->trusted && !is_mip(s->original)))) {
        answer->row_dual = ckpd__calloc(s->context, rows, sizeof(double));
        complete = answer->row_dual != NULL;
    }
    if (complete && result->reduced_cost != NULL) {
        answer->reduced_cost = ckpd__calloc(s->context, columns, sizeof(double));
        complete = answer->reduced_cost != NULL;
    }
    return complete ? CKPD_OK : ckpd__no_memory(s->context);
}

/* Exact integers, no value outside its bounds by rounding, no minus zero. */
static void clean_point(const ckpd_milp_view *view, double *x)
{
    for (int32_t j = 0; j < view->columns; j++) {
        if (!isfinite(x[j])) {
            continue; /* for the check to find, not to be pulled to a bound */
        }
        bool whole = view->integer != NULL && view->integer[j];
        double value = whole && fabs(x[j] - round(x[j])) <= 1e-6 ? round(x[j]) : x[j];
        double slack = ckpd__tolerance(value);
        if (value < view->lower[j] && value >= view->lower[j] - slack) {
            value = view->lower[j];
        }
        if (value > view->upper[j] && value <= view->upper[j] + slack) {
            value = view->upper[j];
        }
        x[j] = value + 0.0; /* -0 becomes 0 */
    }
}

static void scale_back(milp_solve *s)
{
    double unit = s->state.objective_unit;
    ckpd_milp_result *answer = &s->answer;
    answer->bound *= unit;
    for (int32_t i = 0; answer->row_dual != NULL && i < s->original->rows; i++) {
        answer->row_dual[i] *= unit;
    }
    for (int32_t j = 0; answer->reduced_cost != NULL && j < s->original->columns; j++) {
        answer->reduced_cost[j] *= unit;
    }
}

/* A backend that was stopped before it took the start: the start is still a plan. */
static void use_start(milp_solve *s)
{
    ckpd_milp_result *answer = &s->answer;
    bool stopped =
        answer->outcome == CKPD_OUTCOME_NO_PLAN || answer->outcome == CKPD_OUTCOME_CANCELLED;
    if (stopped && s->view.start_point != NULL) {
        memcpy(answer->x, s->view.start_point, (size_t)s->view.columns * sizeof(double));
        answer->has_plan = 1;
        answer->outcome = answer->outcome == CKPD_OUTCOME_CANCELLED ? CKPD_OUTCOME_CANCELLED
                                                                    : CKPD_OUTCOME_FEASIBLE;
    }
}

/*
 * Integers within a solver's tolerance may stand for a point that exact integers do not allow (a
 * leak through a big-M). Then the rest is solved again beside the rounded integers.
 */
static int32_t polish(milp_solve *s)
{
    ckpd_milp_result *answer = &s->answer;
    size_t columns = (size_t)s->view.columns;
    if ((s->backend->capabilities & CKPD_CAP_LP) == 0) {
        return CKPD_ERR_VERIFY;
    }
    double *lower = ckpd__calloc(s->context, 2 * columns, sizeof(double));
    if (lower == NULL) {
        return ckpd__no_memory(s->context);
    }
    double *upper = lower + columns;
    for (size_t j = 0; j < columns; j++) {
        bool whole = s->view.integer[j];
        lower[j] = whole ? answer->x[j] : s->view.lower[j];
        upper[j] = whole ? answer->x[j] : s->view.upper[j];
    }
    ckpd_milp_view fixed = s->view;
    fixed.lower = lower;
    fixed.upper = upper;
    fixed.integer = NULL;
    fixed.start_point = NULL;
    ckpd_milp_result again = {.size = sizeof again, .x = answer->x};
    s->params.time_limit_s = ckpd__host_time_left(&s->state);
    int32_t status = ckpd__call_milp(s->backend, &s->host, &fixed, &s->params, &again);
    ckpd__free(s->context, lower);
    if (status == CKPD_ERR_NO_MEMORY) {
        return ckpd__no_memory(s->context);
    }
    if (status != CKPD_OK || again.outcome != CKPD_OUTCOME_OPTIMAL) {
        return CKPD_ERR_VERIFY;
    }
    clean_point(s->original, answer->x);
    return ckpd__milp_point_check(s->context, s->original, answer->x, &answer->objective, true);
}

static int32_t check_duals(const milp_solve *s)
{
    const ckpd_milp_result *answer = &s->answer;
    for (int32_t i = 0; answer->row_dual != NULL && i < s->original->rows; i++) {
        if (!isfinite(answer->row_dual[i])) {
            return ckpd__fail(s->context, CKPD_ERR_VERIFY, "row_dual", i, answer->row_dual[i],
                              "dual of row %d is not finite", i);
        }
    }
    for (int32_t j = 0; answer->reduced_cost != NULL && j < s->original->columns; j++) {
        if (!isfinite(answer->reduced_cost[j])) {
            return ckpd__fail(s->context, CKPD_ERR_VERIFY, "reduced_cost", j,
                              answer->reduced_cost[j], "reduced cost of column %d is not finite",
                              j);
        }
    }
    return CKPD_OK;
}

/* Whether a checked point is optimal, or only said to be. */
static void weigh(milp_solve *s, const ckpd_solve_params *asked)
{
    ckpd_milp_result *answer = &s->answer;
    bool mip = is_mip(s->original);
    double rounding = 1e-9 * fmax(1, fabs(answer->objective));
    double allowed =
        fmax(ckpd__gap_allowed(asked, answer->objective, answer->bound), 1e-6) + rounding;
    if (!mip && !s->trusted && answer->outcome == CKPD_OUTCOME_OPTIMAL) {
        double proven = ckpd__lp_bound(s->original, answer->row_dual);
        s->trusted =
            answer->objective - proven <= fmax(allowed, 1e-6 * fmax(1, fabs(answer->objective)));
        answer->bound = s->trusted ? proven : answer->bound;
    }
    bool within = answer->objective - answer->bound <= allowed;
    if (answer->outcome == CKPD_OUTCOME_OPTIMAL && (!s->trusted || (mip && !within))) {
        answer->outcome = CKPD_OUTCOME_FEASIBLE;
        ckpd__say_claimed(s->context, s->backend->name, answer->bound, answer->message,
                          sizeof answer->message);
    }
    answer->bound = fmin(answer->bound, answer->objective);
}

/* What the backend says is turned into what can be stood by. */
static int32_t judge(milp_solve *s, const ckpd_solve_params *asked)
{
    ckpd_milp_result *answer = &s->answer;
    if (answer->outcome < CKPD_OUTCOME_OPTIMAL || answer->outcome > CKPD_OUTCOME_CANCELLED) {
        return ckpd__fail(s->context, CKPD_ERR_BACKEND, "outcome", -1, answer->outcome,
                          "backend \"%s\" returned an unknown outcome", s->backend->name);
    }
    bool claims_plan =
        answer->outcome == CKPD_OUTCOME_OPTIMAL || answer->outcome == CKPD_OUTCOME_FEASIBLE;
    if (claims_plan != (answer->has_plan != 0) && answer->outcome != CKPD_OUTCOME_CANCELLED) {
        return ckpd__fail(s->context, CKPD_ERR_BACKEND, "has_plan", -1, answer->has_plan,
                          "outcome %d of backend \"%s\" does not fit its plan", answer->outcome,
                          s->backend->name);
    }
    scale_back(s);
    if (isnan(answer->bound)) {
        answer->bound = -INFINITY;
    }
    if (!answer->has_plan) {
        use_start(s);
    }
    if (!answer->has_plan) {
        answer->objective = INFINITY;
        return CKPD_OK;
    }
    clean_point(s->original, answer->x);
    int32_t status =
        ckpd__milp_point_check(s->context, s->original, answer->x, &answer->objective, false);
    if (status == CKPD_ERR_VERIFY && is_mip(s->original)) {
        int32_t polished = polish(s);
        status =
            polished == CKPD_ERR_VERIFY ? status : polished; /* the first miss is the one told */
    }
    if (status != CKPD_OK) {
        return status;
    }
    answer->has_plan = 1;
    status = check_duals(s);
    if (status == CKPD_OK) {
        weigh(s, asked);
    }
    return status;
}

static int32_t run_backend(milp_solve *s, const ckpd_solve_params *asked)
{
    int32_t status = scale_objective(s);
    if (status == CKPD_OK) {
        status = prepare_start(s);
    }
    if (status == CKPD_OK) {
        status = ckpd__milp_tighten(s->context, &s->view, &s->tightened);
    }
    if (status != CKPD_OK) {
        return status;
    }
    int32_t stop = s->host.should_stop(s->host.user);
    if (stop != 0) { /* asked before there was anything to stop */
        s->answer.outcome = stop == 2 ? CKPD_OUTCOME_CANCELLED : CKPD_OUTCOME_NO_PLAN;
        return judge(s, asked);
    }
    s->params.time_limit_s = ckpd__host_time_left(&s->state);
    ckpd_milp_result lent = s->answer; /* a backend that moves an array moves only this one */
    status = ckpd__call_milp(s->backend, &s->host, &s->view, &s->params, &lent);
    bool moved = lent.x != s->answer.x || lent.row_dual != s->answer.row_dual ||
                 lent.reduced_cost != s->answer.reduced_cost;
    lent.size = s->answer.size;
    lent.x = s->answer.x;
    lent.row_dual = s->answer.row_dual;
    lent.reduced_cost = s->answer.reduced_cost;
    s->answer = lent;
    s->answer.message[sizeof s->answer.message - 1] = '\0';
    if (status == CKPD_OK && moved) {
        return ckpd__fail(s->context, CKPD_ERR_BACKEND, "x", -1, NAN,
                          "backend \"%s\" moved an array of the result instead of filling it",
                          s->backend->name);
    }
    if (status != CKPD_OK) {
        int32_t code = status < 0 ? status : CKPD_ERR_BACKEND;
        return ckpd__fail(s->context, code, "backend", -1, NAN, "backend \"%s\": %s",
                          s->backend->name,
                          s->answer.message[0] != '\0' ? s->answer.message : ckpd_strerror(code));
    }
    return judge(s, asked);
}

static int32_t solve(milp_solve *s, const ckpd_solve_params *asked)
{
    const ckpd_milp_view *view = s->original;
    ckpd_milp_result *answer = &s->answer;
    if (crossed(view->lower, view->upper, view->columns, "column", answer) ||
        crossed(view->row_lower, view->row_upper, view->rows, "row", answer)) {
        answer->outcome = CKPD_OUTCOME_INFEASIBLE;
        answer->bound = INFINITY;
        s->trusted = true;
        return CKPD_OK;
    }
    if (view->columns == 0) {
        s->trusted = true;
        solve_empty(view, answer);
        return CKPD_OK;
    }
    return run_backend(s, asked);
}

static void hand_over(const ckpd_milp_view *view, const ckpd_milp_result *from,
                      ckpd_milp_result *to)
{
    double *x = to->x, *row_dual = to->row_dual, *reduced_cost = to->reduced_cost;
    if (from->has_plan) {
        memcpy(x, from->x, (size_t)view->columns * sizeof(double));
    }
    if (row_dual != NULL) {
        memcpy(row_dual, from->row_dual, (size_t)view->rows * sizeof(double));
    }
    if (reduced_cost != NULL) {
        memcpy(reduced_cost, from->reduced_cost, (size_t)view->columns * sizeof(double));
    }
    *to = *from;
    to->x = x;
    to->row_dual = row_dual;
    to->reduced_cost = reduced_cost;
}

int32_t ckpd__milp_solve(ckpd_context *context, const char *backend, const ckpd_milp_view *view,
                         const ckpd_solve_params *params, const ckpd__solve_control *control,
                         ckpd_milp_result *result, ckpd__solve_info *info)
{
    milp_solve s = {.context = context, .original = view, .view = *view};
    ckpd_solve_params asked;
    int32_t status = ckpd__params_read(context, params, &asked);
    if (status == CKPD_OK) {
        status = ckpd__milp_view_check(context, view);
    }
    if (status == CKPD_OK) {
        status = ckpd__backend_choose(context, backend, is_mip(view) ? CKPD_CAP_MILP : CKPD_CAP_LP,
                                      &s.backend);
    }
    if (status == CKPD_OK && view->columns > 0 && result->x == NULL) {
        status = ckpd__null_argument(context, "result x");
    }
    if (status != CKPD_OK) {
        return status;
    }
    s.params = asked;
    s.trusted = (s.backend->capabilities & CKPD_CAP_TRUSTED_BOUND) != 0;
    ckpd__host_start(&s.host, &s.state, context, control, asked.time_limit_s);
    status = make_answer(&s, result);
    if (status == CKPD_OK) {
        status = solve(&s, &asked);
    }
    if (status == CKPD_OK) {
        hand_over(view, &s.answer, result);
        if (info != NULL) {
            *info = (ckpd__solve_info){.trusted = s.trusted,
                                       .seconds = ckpd__clock_s() - s.state.started_s};
            ckpd__format(info->backend, sizeof info->backend, "%s", s.backend->name);
        }
    }
    ckpd__free(context, s.answer.x);
    ckpd__free(context, s.answer.row_dual);
    ckpd__free(context, s.answer.reduced_cost);
    ckpd__free(context, s.cost);
    ckpd__free(context, s.start);
    ckpd__free(context, s.tightened);
    return status;
}

int32_t ckpd_milp_solve(ckpd_context *context, const char *backend, const ckpd_milp_view *view,
                        const ckpd_solve_params *params, const ckpd_cancel *cancel,
                        ckpd_milp_result *result)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    CKPD__REFUSE_FOREIGN(context, cancel, CKPD__CANCEL);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (view == NULL || result == NULL) {
        return ckpd__null_argument(context, view == NULL ? "view" : "result");
    }
    ckpd_milp_view known_view;
    ckpd_milp_result known;
    int32_t status = CKPD__STRUCT_IN(context, milp_view, view, &known_view);
    if (status == CKPD_OK) {
        status = CKPD__STRUCT_IN(context, milp_result, result, &known);
    }
    if (status == CKPD_OK) {
        ckpd__solve_control control = {.cancel = cancel};
        status = ckpd__milp_solve(context, backend, &known_view, params, &control, &known, NULL);
    }
    if (status == CKPD_OK) {
        status = CKPD__STRUCT_OUT(context, milp_result, result, &known);
    }
    return status;
}
