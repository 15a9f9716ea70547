/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The side of the worker process: one request, one backend, one answer. */
#include "solver/wire.h"

#include <math.h>
#include <string.h>

typedef struct server {
    ckpd_context *context;
    int fd;
    ckpd__host_state state; /* first use: what the host functions of the library want */
    const ckpd_path_view *path;
    const ckpd_milp_view *milp;
    atomic_bool gone; /* the other side does not listen any more */
} server;

/* What the relays need beside the state of the library's own host functions. */
typedef struct relay {
    ckpd_host inner;
    server *server;
} relay;

static void send_frame(server *s, uint32_t kind, ckpd__wire *wire)
{
    ckpd__frame head = {.kind = kind, .length = wire->used};
    s->gone = s->gone || wire->no_memory || !ckpd__socket_send(s->fd, &head, sizeof head) ||
              !ckpd__socket_send(s->fd, wire->data, wire->used);
    ckpd__wire_free(wire);
}

static void *relay_allocate(size_t bytes, void *user)
{
    relay *r = user;
    return r->inner.allocate(bytes, r->inner.user);
}

static void relay_release(void *block, void *user)
{
    relay *r = user;
    r->inner.release(block, r->inner.user);
}

static void relay_log(int32_t level, const char *message, void *user)
{
    (void)level, (void)message, (void)user;
}

static int32_t relay_should_stop(void *user)
{
    relay *r = user;
    return r->server->gone ? 2 : r->inner.should_stop(r->inner.user);
}

static void relay_report(double incumbent, double bound, int64_t iterations, int64_t nodes,
                         void *user)
{
    server *s = ((relay *)user)->server;
    ckpd__wire wire = {.context = s->context};
    double told[4] = {incumbent, bound, (double)iterations, (double)nodes};
    ckpd__wire_bytes(&wire, told, sizeof told);
    send_frame(s, CKPD__FRAME_REPORT, &wire);
}

static void write_plan(ckpd__wire *wire, const server *s, const ckpd_path_plan *plan, double bound)
{
    ckpd_path_plan copy = *plan;
    ckpd__wire_bytes(wire, &bound, sizeof bound);
    ckpd__wire_plan(wire, s->path, &copy);
}

static void write_point(ckpd__wire *wire, const server *s, const double *x, double bound)
{
    ckpd__wire_bytes(wire, &bound, sizeof bound);
    ckpd__wire_array(wire, (const void **)(void *)&x, (size_t)s->milp->columns, sizeof *x);
}

static void relay_plan(const ckpd_path_plan *plan, double bound, void *user)
{
    server *s = ((relay *)user)->server;
    ckpd__wire wire = {.context = s->context};
    if (plan != NULL && s->path != NULL) {
        write_plan(&wire, s, plan, bound);
        send_frame(s, CKPD__FRAME_POINT, &wire);
    }
}

static void relay_point(const double *x, double bound, void *user)
{
    server *s = ((relay *)user)->server;
    ckpd__wire wire = {.context = s->context};
    if (x != NULL && s->milp != NULL) {
        write_point(&wire, s, x, bound);
        send_frame(s, CKPD__FRAME_POINT, &wire);
    }
}

/* --- the answer ------------------------------------------------------------------------------- */

static void answer(server *s, int32_t status, const char *message, ckpd_path_result *plan,
                   ckpd_milp_result *point)
{
    ckpd__wire wire = {.context = s->context};
    char text[256] = "";
    ckpd__format(text, sizeof text, "%s", message);
    ckpd__wire_bytes(&wire, &status, sizeof status);
    ckpd__wire_bytes(&wire, text, sizeof text);
    if (status == CKPD_OK && plan != NULL) {
        ckpd__wire_bytes(&wire, plan, sizeof *plan);
        if (plan->has_plan) {
            write_plan(&wire, s, plan->plan, plan->bound);
        }
    } else if (status == CKPD_OK && point != NULL) {
        ckpd__wire_bytes(&wire, point, sizeof *point);
        if (point->has_plan) {
            const double *dual = point->row_dual, *reduced = point->reduced_cost;
            write_point(&wire, s, point->x, point->bound);
            ckpd__wire_array(&wire, (const void **)(void *)&dual, (size_t)s->milp->rows,
                             sizeof *dual);
            ckpd__wire_array(&wire, (const void **)(void *)&reduced, (size_t)s->milp->columns,
                             sizeof *reduced);
        }
    }
    send_frame(s, CKPD__FRAME_ANSWER, &wire);
}

static void solve_milp(server *s, const ckpd_backend_table *backend, const ckpd_host *host,
                       const ckpd_solve_params *params, const int32_t duals[2])
{
    size_t columns = (size_t)s->milp->columns, rows = (size_t)s->milp->rows;
    double *block = ckpd__calloc(s->context, 2 * columns + rows + 1, sizeof *block);
    ckpd_milp_result result = {.size = sizeof result, .bound = -(double)INFINITY};
    if (block == NULL) {
        answer(s, CKPD_ERR_NO_MEMORY, "out of memory in the worker process", NULL, NULL);
        return;
    }
    result.x = block;
    result.row_dual = duals[0] ? block + columns : NULL;
    result.reduced_cost = duals[1] ? block + columns + rows : NULL;
    int32_t status = backend->solve_milp(host, s->milp, params, &result, backend->user);
    result.message[sizeof result.message - 1] = '\0';
    answer(s, status, result.message, NULL, &result);
    ckpd__free(s->context, block);
}

static void solve_paths(server *s, const ckpd_backend_table *backend, const ckpd_host *host,
                        const ckpd_solve_params *params)
{
    ckpd_path_plan plan;
    ckpd_path_result result = {.size = sizeof result, .bound = -(double)INFINITY, .plan = &plan};
    if (ckpd__plan_new(s->context, s->path, &plan) != CKPD_OK) {
        answer(s, CKPD_ERR_NO_MEMORY, "out of memory in the worker process", NULL, NULL);
        return;
    }
    int32_t status = backend->solve_paths(host, s->path, params, &result, backend->user);
    result.message[sizeof result.message - 1] = '\0';
    result.plan = &plan;
    answer(s, status, result.message, &result, NULL);
    ckpd__plan_free(s->context, &plan);
}

/* --- the request ------------------------------------------------------------------------------ */

/* The backend, loaded if it was loaded over there; an answer is sent when there is none. */
static const ckpd_backend_table *find_backend(server *s, const char *name, const char *origin,
                                              uint32_t needed)
{
    const ckpd_backend_table *backend = ckpd__backend_find(s->context, name);
    int32_t status = CKPD_OK;
    if (backend == NULL && origin[0] != '\0') {
        status = ckpd_backend_load(s->context, origin);
    }
    if (status == CKPD_OK) {
        status = ckpd__backend_choose(s->context, name, needed, &backend);
    }
    if (status != CKPD_OK) {
        answer(s, status, ckpd_context_last_message(s->context), NULL, NULL);
        return NULL;
    }
    return backend;
}

static bool is_mip(const ckpd_milp_view *view)
{
    for (int32_t j = 0; view->integer != NULL && j < view->columns; j++) {
        if (view->integer[j]) {
            return true;
        }
    }
    return false;
}

static void run(server *s, const ckpd_backend_table *backend, const ckpd_solve_params *params,
                const int32_t duals[2])
{
    static const ckpd__solve_control control = {.cancel = NULL};
    relay r = {.server = s};
    ckpd__host_start(&r.inner, &s->state, s->context, &control, params->time_limit_s);
    const ckpd_host host = {.size = sizeof host,
                            .user = &r,
                            .allocate = relay_allocate,
                            .release = relay_release,
                            .log = relay_log,
                            .should_stop = relay_should_stop,
                            .report = relay_report,
                            .keep_plan = relay_plan,
                            .keep_point = relay_point};
    if (s->path != NULL) {
        solve_paths(s, backend, &host, params);
    } else {
        solve_milp(s, backend, &host, params, duals);
    }
}

static int32_t serve_request(server *s, ckpd__wire *wire)
{
    char version[24], name[32], origin[1024];
    ckpd_solve_params params;
    ckpd_milp_view milp;
    ckpd_path_view path;
    ckpd__wire_paths behind = {.job = NULL};
    int32_t paths = 0, duals[2] = {0, 0};
    ckpd__wire_bytes(wire, version, sizeof version);
    if (wire->broken || strncmp(version, CKPD_VERSION_STRING, sizeof version) != 0) {
        answer(s, CKPD_ERR_VERSION, "the worker program has another version of the library", NULL,
               NULL);
        return CKPD_ERR_VERSION;
    }
    ckpd__wire_bytes(wire, name, sizeof name);
    ckpd__wire_bytes(wire, origin, sizeof origin);
    ckpd__wire_bytes(wire, &params, sizeof params);
    ckpd__wire_bytes(wire, &paths, sizeof paths);
    if (!wire->broken && paths) {
        ckpd__wire_path(wire, &path, &behind);
        s->path = &path;
    } else if (!wire->broken) {
        ckpd__wire_milp(wire, &milp);
        ckpd__wire_bytes(wire, duals, sizeof duals);
        s->milp = &milp;
    }
    int32_t status = wire->no_memory ? ckpd__no_memory(s->context)
                     : wire->broken  ? CKPD_ERR_SYNTAX
                     : paths         ? ckpd__path_view_check(s->context, &path)
                                     : ckpd__milp_view_check(s->context, &milp);
    name[sizeof name - 1] = origin[sizeof origin - 1] = '\0';
    if (status == CKPD_OK) {
        uint32_t needed = paths ? CKPD_CAP_PATHS : is_mip(&milp) ? CKPD_CAP_MILP : CKPD_CAP_LP;
        const ckpd_backend_table *backend = find_backend(s, name, origin, needed);
        if (backend != NULL) {
            run(s, backend, &params, duals);
        }
    } else {
        answer(s, status, "the worker program cannot read the problem", NULL, NULL);
    }
    ckpd__free(s->context, behind.job);
    ckpd__free(s->context, behind.jobs);
    return status == CKPD_OK && s->gone ? CKPD_ERR_FILE : status;
}

int32_t ckpd_worker_serve(ckpd_context *context, int32_t socket)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    server s = {.context = context, .fd = socket};
    ckpd__frame head;
    if (!ckpd__socket_receive(socket, &head, sizeof head)) {
        return ckpd__fail(context, CKPD_ERR_FILE, "socket", -1, socket,
                          "descriptor %d is no connected socket, or nobody asks", socket);
    }
    if (head.kind != CKPD__FRAME_REQUEST || head.reserved != 0 || head.length > SIZE_MAX / 4) {
        return ckpd__fail(context, CKPD_ERR_SYNTAX, "socket", -1, head.kind,
                          "what arrives is no request to a worker");
    }
    ckpd__wire wire = {.context = context, .reading = true, .size = (size_t)head.length};
    wire.data = ckpd__calloc(context, (size_t)head.length + 1, 1);
    if (wire.data == NULL) {
        return ckpd__no_memory(context);
    }
    int32_t status =
        ckpd__socket_receive(socket, wire.data, wire.size)
            ? serve_request(&s, &wire)
            : ckpd__fail(context, CKPD_ERR_FILE, "socket", -1, socket, "the other side has gone");
    ckpd__wire_free(&wire);
    return status;
}
