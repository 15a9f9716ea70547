/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * GLPK as a guest. Its errors abort the process, its state is one environment per thread, and
 * freeing that environment kills every GLPK object of the thread. So each solve runs on a thread of
 * its own, with its own environment; the error hook leaves by longjmp, and the environment is freed
 * whatever happened. The caller's thread waits, serves the callbacks and asks for a stop. Nothing
 * of GLPK outlives the call, and the host's own GLPK objects are never touched.
 */
#include "solver/builtin.h"
#include "solver/guest.h"

#include <float.h>
#include <glpk.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <string.h>

enum {
    MOST_FOR_CUTS = 20000, /* columns */
    PRINT_MS = 40          /* GLPK "prints" this often: the only hook inside its simplex */
};

/* How the worker left GLPK, as values of longjmp. */
enum { LEFT_ERROR = 1, LEFT_STOPPED = 2 };

typedef struct worker {
    const ckpd_host *host;
    const ckpd_milp_view *view;
    const ckpd_solve_params *params;
    ckpd_milp_result *result;
    bool mip;

    ckpd__guest guest;

    /* The worker's own until it is joined. */
    jmp_buf escape;
    char text[256]; /* GLPK's words about a fatal error */
    glp_prob *problem;
    int *index; /* [longest column + 1], as GLPK counts from 1 */
    double *value;
    double *scale; /* [3 * rows] */
    double *x;     /* best point so far, 1-based */
    bool has_x, start_given, gap_reached, work_spent;
    double objective, bound;
    int64_t iterations, nodes;
    int32_t status, outcome;
    const char *reason;
} worker;

/* --- hooks ------------------------------------------------------------------------------------ */

static void on_error(void *info)
{
    worker *w = info;
    longjmp(w->escape, LEFT_ERROR);
}

/* Every line GLPK would print comes here and ends here; inside its simplex this is the only way
 * out. */
static int on_print(void *info, const char *line)
{
    worker *w = info;
    if (glp_at_error()) {
        size_t used = strlen(w->text);
        for (size_t i = 0; line[i] != '\0' && used + 1 < sizeof w->text; i++) {
            w->text[used++] = line[i] == '\n' ? ' ' : line[i];
        }
        w->text[used] = '\0';
    } else if (ckpd__guest_stop(&w->guest) != 0) {
        longjmp(w->escape, LEFT_STOPPED);
    }
    return 1;
}

static void publish(worker *w)
{
    ckpd__guest_tell(&w->guest, w->has_x ? w->objective : INFINITY, w->bound, w->iterations,
                     w->nodes);
}

/* --- building --------------------------------------------------------------------------------- */

static int bound_type(double lower, double upper)
{
    if (lower == -INFINITY) {
        return upper == INFINITY ? GLP_FR : GLP_UP;
    }
    if (upper == INFINITY) {
        return GLP_LO;
    }
    return lower < upper ? GLP_DB : GLP_FX; /* GLP_DB with equal bounds is an error to GLPK */
}

static double two_to(double factor)
{
    return ldexp(1, (int)fmin(fmax(round(log2(factor)), -60), 60));
}

/*
 * Geometric scaling by powers of two. GLPK's own walks linked lists and takes a minute where this
 * takes a tenth of a second; and it would be done again by every presolve, which finds nothing in
 * our models.
 */
static void scale(worker *w)
{
    const ckpd_milp_view *view = w->view;
    double *row = w->scale, *low = row + view->rows, *high = low + view->rows;
    for (int32_t i = 0; i < view->rows; i++) {
        row[i] = 1;
    }
    for (int pass = 0; pass < 4; pass++) {
        for (int32_t i = 0; i < view->rows; i++) {
            low[i] = INFINITY;
            high[i] = 0;
        }
        for (int32_t j = 0; j < view->columns; j++) {
            double least = INFINITY, most = 0;
            for (int64_t k = view->start[j]; k < view->start[j + 1]; k++) {
                double a = fabs(view->value[k]) * row[view->index[k]];
                least = a > 0 ? fmin(least, a) : least;
                most = fmax(most, a);
            }
            w->x[j + 1] = most > 0 ? 1 / sqrt(least * most) : 1;
            for (int64_t k = view->start[j]; k < view->start[j + 1]; k++) {
                double a = fabs(view->value[k]) * w->x[j + 1];
                low[view->index[k]] = a > 0 ? fmin(low[view->index[k]], a) : low[view->index[k]];
                high[view->index[k]] = fmax(high[view->index[k]], a);
            }
        }
        for (int32_t i = 0; i < view->rows; i++) {
            row[i] = high[i] > 0 ? 1 / sqrt(low[i] * high[i]) : 1;
        }
    }
    for (int32_t i = 0; i < view->rows; i++) {
        glp_set_rii(w->problem, i + 1, two_to(row[i]));
    }
    for (int32_t j = 0; j < view->columns; j++) {
        glp_set_sjj(w->problem, j + 1, two_to(w->x[j + 1]));
    }
}

static void build(worker *w)
{
    const ckpd_milp_view *view = w->view;
    glp_prob *p = w->problem = glp_create_prob();
    glp_set_obj_dir(p, GLP_MIN);
    glp_set_obj_coef(p, 0, view->offset);
    if (view->rows > 0) {
        glp_add_rows(p, view->rows);
    }
    glp_add_cols(p, view->columns);
    for (int32_t i = 0; i < view->rows; i++) {
        double lower = view->row_lower[i], upper = view->row_upper[i];
        glp_set_row_bnds(p, i + 1, bound_type(lower, upper), lower, upper);
    }
    for (int32_t j = 0; j < view->columns; j++) {
        double lower = view->lower[j], upper = view->upper[j];
        if (view->integer != NULL && view->integer[j]) {
            glp_set_col_kind(p, j + 1, GLP_IV);
            lower = ceil(lower - 1e-9 * fmax(1, fabs(lower)));
            upper = floor(upper + 1e-9 * fmax(1, fabs(upper)));
        }
        glp_set_col_bnds(p, j + 1, bound_type(lower, upper), lower, upper);
        glp_set_obj_coef(p, j + 1, view->cost[j]);
        int length = 0;
        for (int64_t k = view->start[j]; k < view->start[j + 1]; k++) {
            if (view->value[k] != 0) {
                length++;
                w->index[length] = view->index[k] + 1;
                w->value[length] = view->value[k];
            }
        }
        glp_set_mat_col(p, j + 1, length, w->index, w->value);
    }
    scale(w);
}

/* --- linear programs -------------------------------------------------------------------------- */

static int run_simplex(worker *w, int method)
{
    glp_smcp control;
    glp_init_smcp(&control);
    control.msg_lev = GLP_MSG_ALL;
    control.meth = method;
    control.out_frq = PRINT_MS;
    control.out_dly = 0;
    if (w->params->iteration_limit >= 0) {
        int64_t left = w->params->iteration_limit - glp_get_it_cnt(w->problem);
        control.it_lim = left <= 0 ? 0 : left < INT_MAX ? (int)left : INT_MAX;
    }
    int code = glp_simplex(w->problem, &control);
    w->iterations = glp_get_it_cnt(w->problem);
    return code;
}

/* Never loops: another method, another basis, no scaling, then the error is told. */
static int solve_lp_safely(worker *w, int method)
{
    int code = run_simplex(w, method);
    for (int attempt = 0; attempt < 3; attempt++) {
        bool unclear = code == GLP_ESING || code == GLP_ECOND || code == GLP_EFAIL ||
                       code == GLP_EBADB || code == GLP_EINSTAB ||
                       (code == 0 && glp_get_status(w->problem) == GLP_UNDEF);
        if (!unclear) {
            break;
        }
        if (attempt == 2) {
            glp_unscale_prob(w->problem);
        }
        glp_adv_basis(w->problem, 0);
        code = run_simplex(w, attempt == 0 ? GLP_DUALP : GLP_PRIMAL);
    }
    return code;
}

/* Outcome of an LP from the return code and the status, which only tell the truth together. */
static int32_t lp_outcome(worker *w, int code)
{
    int status = glp_get_status(w->problem);
    if (code == 0 && status == GLP_NOFEAS) {
        return CKPD_OUTCOME_INFEASIBLE;
    }
    if (code == 0 && status == GLP_OPT) {
        return CKPD_OUTCOME_OPTIMAL;
    }
    if (code == 0 && status == GLP_UNBND) {
        return CKPD_OUTCOME_UNBOUNDED;
    }
    if (code == GLP_EITLIM || code == GLP_ETMLIM) {
        return CKPD_OUTCOME_NO_PLAN;
    }
    w->status = CKPD_ERR_BACKEND;
    w->reason = "GLPK's simplex gave up for numerical reasons";
    return CKPD_OUTCOME_NONE;
}

static void take_lp(worker *w)
{
    for (int32_t j = 1; j <= w->view->columns; j++) {
        w->x[j] = glp_get_col_prim(w->problem, j);
    }
    w->has_x = true;
    w->objective = glp_get_obj_val(w->problem);
}

/* Every cost pulls towards a bound that is there: then there is a dual feasible basis near by, and
 * the dual simplex took half the time of the primal one. */
static bool costs_lean_on_bounds(const ckpd_milp_view *view)
{
    for (int32_t j = 0; j < view->columns; j++) {
        if (view->cost[j] != 0 && isinf(view->cost[j] > 0 ? view->lower[j] : view->upper[j])) {
            return false;
        }
    }
    return true;
}

static void solve_lp(worker *w)
{
    ckpd_milp_result *result = w->result;
    glp_adv_basis(w->problem, 0);
    int method = costs_lean_on_bounds(w->view) ? GLP_DUALP : GLP_PRIMAL;
    w->outcome = lp_outcome(w, solve_lp_safely(w, method));
    if (w->outcome != CKPD_OUTCOME_OPTIMAL) {
        return;
    }
    take_lp(w);
    w->bound = w->objective;
    for (int32_t i = 0; result->row_dual != NULL && i < w->view->rows; i++) {
        result->row_dual[i] = glp_get_row_dual(w->problem, i + 1);
    }
    for (int32_t j = 0; result->reduced_cost != NULL && j < w->view->columns; j++) {
        result->reduced_cost[j] = glp_get_col_dual(w->problem, j + 1);
    }
}

/* --- integer programs ------------------------------------------------------------------------- */

static void take_incumbent(worker *w, glp_prob *p)
{
    int status = glp_mip_status(p);
    if ((status != GLP_FEAS && status != GLP_OPT) ||
        (w->has_x && glp_mip_obj_val(p) >= w->objective)) {
        return;
    }
    w->objective = glp_mip_obj_val(p);
    w->has_x = true;
    for (int32_t j = 1; j <= w->view->columns; j++) {
        w->x[j] = glp_mip_col_val(p, j);
    }
    ckpd__guest_point(&w->guest, w->x + 1);
}

/* GLPK takes a start on trust and needs exact integers; the point was checked before it came here.
 */
static void offer_start(worker *w, glp_tree *tree)
{
    const ckpd_milp_view *view = w->view;
    w->start_given = true;
    for (int32_t j = 0; j < view->columns; j++) {
        bool whole = view->integer != NULL && view->integer[j];
        w->x[j + 1] = whole ? round(view->start_point[j]) : view->start_point[j];
    }
    glp_ios_heur_sol(tree, w->x); /* x holds no incumbent yet */
}

/* The only place that sees bounds: GLPK has no getter for them after its return. */
static void record_bound(worker *w, glp_tree *tree)
{
    int best = glp_ios_best_node(tree);
    double bound = best != 0 ? glp_ios_node_bound(tree, best) : -DBL_MAX;
    if (bound > -DBL_MAX && bound > w->bound) {
        w->bound = bound;
    }
}

static void on_tree(glp_tree *tree, void *info)
{
    worker *w = info;
    int reason = glp_ios_reason(tree);
    glp_prob *p = glp_ios_get_prob(tree);
    if (reason == GLP_IPREPRO) {
        w->nodes++;
    }
    if (reason == GLP_IHEUR && w->view->start_point != NULL && !w->start_given && !w->has_x) {
        offer_start(w, tree);
    }
    take_incumbent(w, p);
    record_bound(w, tree);
    w->iterations = glp_get_it_cnt(p);
    publish(w);
    if (w->has_x &&
        w->objective - w->bound <= ckpd__gap_allowed(w->params, w->objective, w->bound)) {
        w->gap_reached = true;
    }
    const ckpd_solve_params *params = w->params;
    w->work_spent = w->work_spent || (params->node_limit >= 0 && w->nodes > params->node_limit) ||
                    (params->iteration_limit >= 0 && w->iterations >= params->iteration_limit);
    if (w->gap_reached || w->work_spent || ckpd__guest_stop(&w->guest) != 0) {
        glp_ios_terminate(tree);
    }
}

/* A return code other than these is a numerical failure; an incumbent survives it. */
static int32_t mip_outcome(worker *w, int code)
{
    int status = glp_mip_status(w->problem);
    if (code == 0 && status == GLP_OPT) {
        w->bound = w->objective;
        return CKPD_OUTCOME_OPTIMAL;
    }
    if (code == 0 && status == GLP_NOFEAS) {
        w->bound = INFINITY;
        return CKPD_OUTCOME_INFEASIBLE;
    }
    if (w->gap_reached) {
        return CKPD_OUTCOME_OPTIMAL;
    }
    if (code != GLP_ESTOP && code != GLP_ETMLIM) {
        w->reason = "GLPK's branch and bound gave up for numerical reasons";
        w->status = w->has_x ? CKPD_OK : CKPD_ERR_BACKEND;
    }
    return w->has_x ? CKPD_OUTCOME_FEASIBLE : CKPD_OUTCOME_NO_PLAN;
}

/*
 * Reduced-cost fixing: an integer column whose least step off its bound costs more than the start
 * is above the root LP is in no better point. It keeps the value it has in the start.
 */
static void fix_by_cost(worker *w)
{
    const ckpd_milp_view *view = w->view;
    double start_cost = view->offset;
    if (view->start_point == NULL) {
        return;
    }
    for (int32_t j = 0; j < view->columns; j++) {
        start_cost += view->cost[j] * view->start_point[j];
    }
    double room = start_cost - w->bound;
    room += 1e-9 * fmax(1, fabs(start_cost));
    for (int32_t j = 1; j <= view->columns; j++) {
        double at = glp_get_col_prim(w->problem, j), value = round(view->start_point[j - 1]);
        if (view->integer[j - 1] && glp_get_col_stat(w->problem, j) != GLP_BS && at == value &&
            fabs(glp_get_col_dual(w->problem, j)) > room) {
            glp_set_col_bnds(w->problem, j, GLP_FX, value, value);
        }
    }
}

static void solve_mip(worker *w)
{
    glp_adv_basis(w->problem, 0);
    int32_t root = lp_outcome(w, solve_lp_safely(w, GLP_PRIMAL));
    if (root != CKPD_OUTCOME_OPTIMAL) {
        w->outcome = root;
        return;
    }
    w->bound = glp_get_obj_val(w->problem);
    publish(w);
    fix_by_cost(w);
    glp_iocp control;
    glp_init_iocp(&control);
    control.msg_lev = GLP_MSG_ALL;
    control.br_tech = w->view->hint_pseudo_cost ? GLP_BR_PCH : GLP_BR_DTH;
    /*
     * Lumpy power makes MIR cuts worth an order of magnitude, until making them takes over: golden
     * S3 proven in 2 s of processor time with them and not within 44 s without, steep S4 in 0.3 s
     * against 8.
     */
    control.mir_cuts = w->view->columns <= MOST_FOR_CUTS ? GLP_ON : GLP_OFF;
    control.presolve = GLP_OFF; /* it ignores every limit, and hides points from the callback */
    control.tol_int = 1e-7;
    /* Its preprocessing of nodes halves the tree of S3, and costs more than the solve on path
     * models. */
    control.pp_tech = w->view->hint_pseudo_cost ? GLP_PP_ALL : GLP_PP_NONE;
    control.out_frq = PRINT_MS;
    control.out_dly = 0;
    control.cb_func = on_tree;
    control.cb_info = w;
    int code = glp_intopt(w->problem, &control);
    take_incumbent(w, w->problem);
    w->outcome = mip_outcome(w, code);
}

/* --- the thread ------------------------------------------------------------------------------- */

static void solve_guarded(worker *w)
{
    build(w);
    if (w->mip) {
        solve_mip(w);
    } else {
        solve_lp(w);
    }
}

/* A fatal error of GLPK. A point found before it is still a point; the caller checks it. */
static void name_failure(worker *w)
{
    /* The only two texts of GLPK 5.0 that mean memory; it has no code for it. */
    bool memory = strstr(w->text, "memory allocation limit exceeded") != NULL ||
                  strstr(w->text, "memory allocation failed") != NULL;
    w->reason = w->text;
    w->outcome = CKPD_OUTCOME_FEASIBLE;
    w->status = w->has_x ? CKPD_OK : memory ? CKPD_ERR_NO_MEMORY : CKPD_ERR_BACKEND;
}

static void run(void *argument)
{
    worker *w = argument;
    if (glp_init_env() != 0) {
        w->status = CKPD_ERR_NO_MEMORY;
        return;
    }
    glp_term_hook(on_print, w);
    glp_error_hook(on_error, w);
    if (w->params->memory_limit_mb > 0) {
        glp_mem_limit((int)fmin((double)w->params->memory_limit_mb, INT_MAX));
    }
    switch (setjmp(w->escape)) {
    case 0:
        solve_guarded(w);
        break;
    case LEFT_STOPPED:
        w->outcome = w->has_x ? CKPD_OUTCOME_FEASIBLE : CKPD_OUTCOME_NO_PLAN;
        break;
    default:
        name_failure(w);
        break;
    }
    glp_free_env();
}

/* --- the table -------------------------------------------------------------------------------- */

static bool make_buffers(worker *w)
{
    const ckpd_milp_view *view = w->view;
    const ckpd_host *host = w->host;
    int64_t longest = 0;
    for (int32_t j = 0; j < view->columns; j++) {
        int64_t length = view->start[j + 1] - view->start[j];
        longest = length > longest ? length : longest;
    }
    w->index = host->allocate(((size_t)longest + 1) * sizeof(int), host->user);
    w->value = host->allocate(((size_t)longest + 1) * sizeof(double), host->user);
    w->x = host->allocate(((size_t)view->columns + 1) * sizeof(double), host->user);
    w->scale = host->allocate((3 * (size_t)view->rows + 1) * sizeof(double), host->user);
    return w->index != NULL && w->value != NULL && w->x != NULL && w->scale != NULL;
}

static void fill_result(const worker *w, ckpd_milp_result *result)
{
    result->outcome = w->outcome;
    if (atomic_load(&w->guest.stop) == 2 &&
        (w->outcome == CKPD_OUTCOME_FEASIBLE || w->outcome == CKPD_OUTCOME_NO_PLAN)) {
        result->outcome = CKPD_OUTCOME_CANCELLED;
    }
    result->has_plan = w->has_x;
    result->objective = w->has_x ? w->objective : INFINITY;
    result->bound = w->bound;
    result->iterations = w->iterations;
    result->nodes = w->nodes;
    if (w->has_x) {
        memcpy(result->x, w->x + 1, (size_t)w->view->columns * sizeof(double));
    }
    if (w->reason != NULL) {
        ckpd__format(result->message, sizeof result->message, "%s", w->reason);
    }
}

static int32_t solve_milp(const ckpd_host *host, const ckpd_milp_view *view,
                          const ckpd_solve_params *params, ckpd_milp_result *result, void *user)
{
    (void)user;
    if (glp_config("TLS") == NULL) {
        /* One environment for the whole process: ours could not be kept apart from the host's. */
        ckpd__format(result->message, sizeof result->message,
                     "this GLPK was built without thread-local storage");
        return CKPD_ERR_NOT_SUPPORTED;
    }
    worker *w = host->allocate(sizeof *w, host->user);
    if (w == NULL) {
        return CKPD_ERR_NO_MEMORY;
    }
    w->host = host;
    w->view = view;
    w->params = params;
    w->result = result;
    w->bound = -INFINITY;
    for (int32_t j = 0; view->integer != NULL && j < view->columns; j++) {
        w->mip = w->mip || view->integer[j];
    }
    int32_t status = CKPD_ERR_NO_MEMORY;
    if (make_buffers(w) && (!w->mip || ckpd__guest_want_points(&w->guest, host, view->columns))) {
        if (ckpd__guest_run(&w->guest, host, run, w)) {
            status = w->status;
            fill_result(w, result);
        } else {
            ckpd__format(result->message, sizeof result->message, "no thread for GLPK");
        }
    }
    ckpd__guest_free(&w->guest, host);
    host->release(w->index, host->user);
    host->release(w->value, host->user);
    host->release(w->x, host->user);
    host->release(w->scale, host->user);
    host->release(w, host->user);
    return status;
}

#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)

/* The version is of the header: asking the library would make an environment in the host's thread.
 */
const ckpd_backend_table ckpd__glpk_backend = {
    .size = sizeof(ckpd_backend_table),
    .abi = CKPD_BACKEND_ABI,
    .capabilities = CKPD_CAP_MILP | CKPD_CAP_LP | CKPD_CAP_START | CKPD_CAP_TRUSTED_BOUND,
    .name = "glpk",
    .version = STRING(GLP_MAJOR_VERSION) "." STRING(GLP_MINOR_VERSION),
    .license = "GPL-3.0-or-later",
    .solve_milp = solve_milp,
};
