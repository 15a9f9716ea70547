/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * HiGHS through the few functions it needs, bound at run time. What is minded here:
 *  - the struct handed to callbacks has had four layouts under one soname: items are asked for by
 * name;
 *  - numbers never go through strings, which a comma locale would cut;
 *  - threads = 1 always: a second count in one thread is an error, and its pool is shared by all;
 *  - a process-wide lock: creating, solving and destroying on two threads at once has crashed;
 *  - interrupts are not seen during presolve, so the time limit is set as well;
 *  - "infeasible" has been wrong: it is asked again without presolve;
 *  - always minimise: the dual bound of maximisation was wrong; nothing is printed.
 */
#include "solver/highs.h"
#include "solver/guest.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* Of HiGHS: 32-bit HighsInt is checked after loading. */
typedef void (*highs_callback)(int type, const char *message, const void *data_out, void *data_in,
                               void *user);
enum { OPTIMAL = 7, INFEASIBLE = 8, INF_OR_UNBOUNDED = 9, UNBOUNDED = 10 };
enum {
    TIME_LIMIT = 13,
    ITERATION_LIMIT = 14,
    SOLUTION_LIMIT = 16,
    INTERRUPTED = 17,
    MEMORY_LIMIT = 18
};
enum { SIMPLEX_INTERRUPT = 1, IPM_INTERRUPT = 2, MIP_IMPROVING = 4, MIP_INTERRUPT = 6 };
enum { COLUMN_WISE = 1, MINIMIZE = 1, STATUS_ERROR = -1, POINT_FEASIBLE = 2 };

typedef struct highs_api {
    char version[32];
    void *(*create)(void);
    void (*destroy)(void *);
    const char *(*version_text)(void);
    int32_t (*version_major)(void);
    int32_t (*version_minor)(void);
    int32_t (*int_size)(const void *);
    int32_t (*pass_lp)(void *, int32_t, int32_t, int32_t, int32_t, int32_t, double, const double *,
                       const double *, const double *, const double *, const double *,
                       const int32_t *, const int32_t *, const double *);
    int32_t (*pass_mip)(void *, int32_t, int32_t, int32_t, int32_t, int32_t, double, const double *,
                        const double *, const double *, const double *, const double *,
                        const int32_t *, const int32_t *, const double *, const int32_t *);
    int32_t (*set_bool)(void *, const char *, int32_t);
    int32_t (*set_int)(void *, const char *, int32_t);
    int32_t (*set_double)(void *, const char *, double);
    int32_t (*set_string)(void *, const char *, const char *);
    int32_t (*set_solution)(void *, const double *, const double *, const double *, const double *);
    int32_t (*set_callback)(void *, highs_callback, void *);
    int32_t (*start_callback)(void *, int32_t);
    const void *(*callback_item)(const void *, const char *);
    int32_t (*run)(void *);
    int32_t (*model_status)(const void *);
    int32_t (*int_info)(const void *, const char *, int32_t *);
    int32_t (*int64_info)(const void *, const char *, int64_t *);
    int32_t (*double_info)(const void *, const char *, double *);
    int32_t (*solution)(const void *, double *, double *, double *, double *);
} highs_api;

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
    {"Highs_create", offsetof(highs_api, create)},
    {"Highs_destroy", offsetof(highs_api, destroy)},
    {"Highs_version", offsetof(highs_api, version_text)},
    {"Highs_versionMajor", offsetof(highs_api, version_major)},
    {"Highs_versionMinor", offsetof(highs_api, version_minor)},
    {"Highs_getSizeofHighsInt", offsetof(highs_api, int_size)},
    {"Highs_passLp", offsetof(highs_api, pass_lp)},
    {"Highs_passMip", offsetof(highs_api, pass_mip)},
    {"Highs_setBoolOptionValue", offsetof(highs_api, set_bool)},
    {"Highs_setIntOptionValue", offsetof(highs_api, set_int)},
    {"Highs_setDoubleOptionValue", offsetof(highs_api, set_double)},
    {"Highs_setStringOptionValue", offsetof(highs_api, set_string)},
    {"Highs_setSolution", offsetof(highs_api, set_solution)},
    {"Highs_setCallback", offsetof(highs_api, set_callback)},
    {"Highs_startCallback", offsetof(highs_api, start_callback)},
    {"Highs_getCallbackDataOutItem", offsetof(highs_api, callback_item)},
    {"Highs_run", offsetof(highs_api, run)},
    {"Highs_getModelStatus", offsetof(highs_api, model_status)},
    {"Highs_getIntInfoValue", offsetof(highs_api, int_info)},
    {"Highs_getInt64InfoValue", offsetof(highs_api, int64_info)},
    {"Highs_getDoubleInfoValue", offsetof(highs_api, double_info)},
    {"Highs_getSolution", offsetof(highs_api, solution)},
};

/* One solve at a time in the whole process; see above. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

typedef struct worker {
    ckpd__guest guest;
    const highs_api *api;
    const ckpd_milp_view *view;
    const ckpd_solve_params *params;
    ckpd_milp_result *result;
    int32_t *start, *integer;                   /* as HiGHS wants them */
    double *row_value, *row_dual, *column_dual; /* for a call that fills all */
    double started_s;
    bool mip;
    int32_t status;
    const char *reason;
} worker;

/* --- running ---------------------------------------------------------------------------------- */

static void on_callback(int type, const char *message, const void *data_out, void *data_in,
                        void *user)
{
    worker *w = user;
    (void)message;
    if (type == MIP_INTERRUPT && data_out != NULL) {
        const double *incumbent = w->api->callback_item(data_out, "mip_primal_bound");
        const double *bound = w->api->callback_item(data_out, "mip_dual_bound");
        const int64_t *nodes = w->api->callback_item(data_out, "mip_node_count");
        if (incumbent != NULL && bound != NULL && nodes != NULL) {
            ckpd__guest_tell(&w->guest, *incumbent, *bound, 0, *nodes);
        }
    }
    if (type == MIP_IMPROVING && data_out != NULL) {
        const double *x = w->api->callback_item(data_out, "mip_solution");
        if (x != NULL) {
            ckpd__guest_point(&w->guest, x);
        }
        return;
    }
    if (data_in != NULL && ckpd__guest_stop(&w->guest) != 0) {
        int interrupt = 1;
        memcpy(data_in, &interrupt, sizeof interrupt); /* the first member in every version */
    }
}

static bool set_options(worker *w, void *highs, bool presolve)
{
    const highs_api *api = w->api;
    const ckpd_solve_params *p = w->params;
    double left = p->time_limit_s - (ckpd__clock_s() - w->started_s);
    bool good = api->set_bool(highs, "output_flag", 0) == 0 &&
                api->set_int(highs, "threads", 1) == 0 &&
                api->set_string(highs, "presolve", presolve ? "choose" : "off") == 0 &&
                api->set_double(highs, "mip_rel_gap", p->relative_gap) == 0 &&
                api->set_double(highs, "mip_abs_gap", p->absolute_gap) == 0 &&
                api->set_int(highs, "random_seed", p->seed < 0 ? 0 : p->seed) == 0;
    if (isfinite(p->time_limit_s)) {
        good = good && api->set_double(highs, "time_limit", fmax(left, 0)) == 0;
    }
    if (p->node_limit >= 0 && p->node_limit < INT_MAX) {
        good = good && api->set_int(highs, "mip_max_nodes", (int32_t)p->node_limit) == 0;
    }
    if (p->iteration_limit >= 0 && p->iteration_limit < INT_MAX && !w->mip) {
        good = good &&
               api->set_int(highs, "simplex_iteration_limit", (int32_t)p->iteration_limit) == 0;
    }
    return good;
}

static bool pass_model(worker *w, void *highs)
{
    const ckpd_milp_view *v = w->view;
    int32_t nonzeros = (int32_t)v->nonzeros;
    int32_t code =
        w->mip ? w->api->pass_mip(highs, v->columns, v->rows, nonzeros, COLUMN_WISE, MINIMIZE,
                                  v->offset, v->cost, v->lower, v->upper, v->row_lower,
                                  v->row_upper, w->start, v->index, v->value, w->integer)
               : w->api->pass_lp(highs, v->columns, v->rows, nonzeros, COLUMN_WISE, MINIMIZE,
                                 v->offset, v->cost, v->lower, v->upper, v->row_lower, v->row_upper,
                                 w->start, v->index, v->value);
    return code != STATUS_ERROR;
}

static void take_solution(worker *w, void *highs)
{
    ckpd_milp_result *result = w->result;
    int32_t point = 0;
    w->api->int_info(highs, "primal_solution_status", &point);
    if (point != POINT_FEASIBLE || w->api->solution(highs, result->x, w->column_dual, w->row_value,
                                                    w->row_dual) == STATUS_ERROR) {
        return;
    }
    result->has_plan = 1;
    w->api->double_info(highs, "objective_function_value", &result->objective);
    if (result->row_dual != NULL && w->view->rows > 0) {
        memcpy(result->row_dual, w->row_dual, (size_t)w->view->rows * sizeof(double));
    }
    if (result->reduced_cost != NULL) {
        memcpy(result->reduced_cost, w->column_dual, (size_t)w->view->columns * sizeof(double));
    }
}

static int32_t outcome_of(worker *w, int32_t status)
{
    bool found = w->result->has_plan;
    switch (status) {
    case OPTIMAL:
        return found ? CKPD_OUTCOME_OPTIMAL : CKPD_OUTCOME_NO_PLAN;
    case INFEASIBLE:
        w->result->has_plan = 0;
        return CKPD_OUTCOME_INFEASIBLE;
    case UNBOUNDED:
        w->result->has_plan = 0;
        return CKPD_OUTCOME_UNBOUNDED;
    case INTERRUPTED:
        if (ckpd__guest_stop(&w->guest) == 2) {
            return CKPD_OUTCOME_CANCELLED;
        }
        break;
    case TIME_LIMIT:
    case ITERATION_LIMIT:
    case SOLUTION_LIMIT:
        break;
    case MEMORY_LIMIT:
        w->status = found ? CKPD_OK : CKPD_ERR_NO_MEMORY;
        break;
    default:
        w->reason = "HiGHS ended without a verdict";
        w->status = found ? CKPD_OK : CKPD_ERR_BACKEND;
        break;
    }
    if (!w->mip) { /* a point of an unfinished LP is no plan */
        w->result->has_plan = 0;
    }
    return w->result->has_plan ? CKPD_OUTCOME_FEASIBLE : CKPD_OUTCOME_NO_PLAN;
}

/* One run; the model status, or 0 after an error. */
static int32_t run_once(worker *w, bool presolve)
{
    void *highs = w->api->create();
    int32_t status = 0;
    w->result->has_plan = 0;
    if (highs != NULL && set_options(w, highs, presolve) && pass_model(w, highs)) {
        if (w->view->start_point != NULL && w->mip) {
            w->api->set_solution(highs, w->view->start_point, NULL, NULL, NULL);
        }
        w->api->set_callback(highs, on_callback, w);
        w->api->start_callback(highs, SIMPLEX_INTERRUPT);
        w->api->start_callback(highs, IPM_INTERRUPT);
        w->api->start_callback(highs, MIP_INTERRUPT);
        if (w->guest.point != NULL) {
            w->api->start_callback(highs, MIP_IMPROVING);
        }
        w->api->run(highs); /* a warning at every limit: the model status tells */
        status = w->api->model_status(highs);
        take_solution(w, highs);
        w->api->int64_info(highs, "mip_node_count", &w->result->nodes);
        int32_t iterations = 0;
        w->api->int_info(highs, "simplex_iteration_count", &iterations);
        w->result->iterations = iterations;
        if (w->mip) {
            w->api->double_info(highs, "mip_dual_bound", &w->result->bound);
        } else if (status == OPTIMAL) {
            w->result->bound = w->result->objective;
        }
    } else {
        w->reason = "HiGHS refuses the model or an option";
        w->status = CKPD_ERR_BACKEND;
    }
    if (highs != NULL) {
        w->api->destroy(highs);
    }
    return status;
}

static void run(void *argument)
{
    worker *w = argument;
    w->result->outcome = CKPD_OUTCOME_NO_PLAN;
    while (pthread_mutex_trylock(&one_at_a_time) != 0) {
        if (ckpd__guest_stop(&w->guest) != 0) {
            w->result->outcome =
                ckpd__guest_stop(&w->guest) == 2 ? CKPD_OUTCOME_CANCELLED : CKPD_OUTCOME_NO_PLAN;
            return;
        }
        ckpd__guest_pause(&w->guest);
    }
    int32_t status = run_once(w, w->params->presolve != 0);
    bool again = status == INF_OR_UNBOUNDED || status == INFEASIBLE;
    if (w->status == CKPD_OK && again && w->params->presolve) {
        status = run_once(w, false);
    }
    pthread_mutex_unlock(&one_at_a_time);
    if (w->status == CKPD_OK) {
        w->result->outcome = outcome_of(w, status);
    }
}

/* --- the table -------------------------------------------------------------------------------- */

static bool make_buffers(worker *w, const ckpd_host *host, int32_t **ints, double **reals)
{
    size_t columns = (size_t)w->view->columns, rows = (size_t)w->view->rows;
    *ints = host->allocate((2 * columns + 1) * sizeof(int32_t), host->user);
    *reals = host->allocate((columns + 2 * rows + 1) * sizeof(double), host->user);
    if (*ints == NULL || *reals == NULL) {
        return false;
    }
    w->start = *ints;
    w->integer = *ints + columns + 1;
    w->column_dual = *reals;
    w->row_value = *reals + columns;
    w->row_dual = w->row_value + rows;
    for (size_t j = 0; j < columns; j++) {
        w->start[j] = (int32_t)w->view->start[j];
        w->integer[j] = w->view->integer != NULL && w->view->integer[j];
        w->mip = w->mip || w->integer[j];
    }
    w->start[columns] = (int32_t)w->view->nonzeros;
    return true;
}

static int32_t solve_milp(const ckpd_host *host, const ckpd_milp_view *view,
                          const ckpd_solve_params *params, ckpd_milp_result *result, void *user)
{
    int32_t *ints = NULL;
    double *reals = NULL;
    if (view->nonzeros > INT_MAX) {
        ckpd__format(result->message, sizeof result->message, "more nonzeros than HiGHS can count");
        return CKPD_ERR_NOT_SUPPORTED;
    }
    worker *w = host->allocate(sizeof *w, host->user);
    if (w == NULL) {
        return CKPD_ERR_NO_MEMORY;
    }
    memset(w, 0, sizeof *w);
    w->api = user;
    w->view = view;
    w->params = params;
    w->result = result;
    w->started_s = ckpd__clock_s();
    result->bound = -INFINITY;
    int32_t status = CKPD_ERR_NO_MEMORY;
    if (make_buffers(w, host, &ints, &reals) &&
        (!w->mip || ckpd__guest_want_points(&w->guest, host, view->columns)) &&
        ckpd__guest_run(&w->guest, host, run, w)) {
        status = w->status;
        if (w->reason != NULL) {
            ckpd__format(result->message, sizeof result->message, "%s", w->reason);
        }
        if (!isfinite(result->bound)) { /* its infinities are not ours */
            result->bound = result->outcome == CKPD_OUTCOME_INFEASIBLE ? INFINITY : -INFINITY;
        }
    }
    ckpd__guest_free(&w->guest, host);
    host->release(ints, host->user);
    host->release(reals, host->user);
    host->release(w, host->user);
    return status;
}

static int32_t check_version(ckpd_context *context, const highs_api *api)
{
    int32_t major = api->version_major(), minor = api->version_minor();
    if (major != 1 || minor < 7) {
        return ckpd__fail(context, CKPD_ERR_VERSION, "highs", -1, major,
                          "HiGHS %s: versions 1.7.1 to 1.x are supported", api->version_text());
    }
    void *highs = api->create();
    int32_t bytes = highs != NULL ? api->int_size(highs) : 0;
    if (highs != NULL) {
        api->destroy(highs);
    }
    if (bytes != (int32_t)sizeof(int32_t)) {
        return ckpd__fail(context, CKPD_ERR_VERSION, "highs", -1, bytes,
                          "HiGHS %s counts in integers of %d bytes, 4 are supported",
                          api->version_text(), bytes);
    }
    return CKPD_OK;
}

static int32_t bind(ckpd_context *context, highs_api *api, void *library)
{
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *symbol = dlsym(library, symbols[i].name);
        if (symbol == NULL) {
            return ckpd__fail(context, CKPD_ERR_VERSION, "highs", -1, NAN,
                              "this HiGHS has no function %s", symbols[i].name);
        }
        memcpy((char *)api + symbols[i].offset, &symbol, sizeof symbol);
    }
    pthread_mutex_lock(&one_at_a_time);
    int32_t status = check_version(context, api);
    pthread_mutex_unlock(&one_at_a_time);
    if (status == CKPD_OK) {
        ckpd__format(api->version, sizeof api->version, "%s", api->version_text());
    }
    return status;
}

int32_t ckpd__highs_register(ckpd_context *context, void *library)
{
    highs_api *api = ckpd__calloc(context, 1, sizeof *api);
    if (api == NULL) {
        return ckpd__no_memory(context);
    }
    int32_t status = bind(context, api, library);
    if (status == CKPD_OK) {
        const ckpd_backend_table table = {.size = sizeof table,
                                          .abi = CKPD_BACKEND_ABI,
                                          .capabilities =
                                              CKPD_CAP_MILP | CKPD_CAP_LP | CKPD_CAP_START,
                                          .name = "highs",
                                          .version = api->version,
                                          .license = "MIT",
                                          .solve_milp = solve_milp,
                                          .user = api};
        status = ckpd__backend_register_own(context, &table, api);
    }
    if (status != CKPD_OK) {
        ckpd__free(context, api);
    }
    return status;
}
