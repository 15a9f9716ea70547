/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * A backend in a process of its own. The program is started by posix_spawn, which a host with
 * threads survives where a fork does not; it is spoken to over a socket, whose writes raise no
 * SIGPIPE; it is killed and waited for by its number. No handler and no disposition of a signal
 * changes here.
 */
#include "solver/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POLL_MS = 10, ROOM = 1 << 16 };
/* What a backend that heeds its limit by itself gets to say its last word. */
static const double GRACE_S = 0.04;
/* What a process that has hung up gets to end by itself, so that it can be told how it did. */
static const double LEAVE_S = 1.0;

typedef struct worker {
    ckpd_context *context;
    const ckpd_host *host;
    const char *program;
    int fd;
    pid_t pid;
    const ckpd_milp_view *milp; /* one of the two is asked */
    const ckpd_path_view *path;
    ckpd_milp_result *point;
    ckpd_path_result *plan;
    unsigned char *data; /* received and not yet read */
    size_t have, room;
    size_t longest; /* frame that can be right */
    double incumbent, bound;
    int32_t stop; /* as the host last said */
    double until; /* when the last word has to be said; infinite while nothing stops */
    bool answered;
    int32_t status; /* of the backend, once answered */
    char message[256];
} worker;

/* --- start and end ---------------------------------------------------------------------------- */

static int spawn(worker *w, int theirs)
{
    char *const arguments[] = {(char *)(uintptr_t)w->program, "worker", NULL}, *const none[] = {
                                                                                   NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, empty;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return ENOMEM;
    }
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return ENOMEM;
    }
    sigfillset(&all);
    sigemptyset(&empty);
    int code = posix_spawn_file_actions_adddup2(&actions, theirs, 0);
    for (int fd = 1; fd <= 2 && code == 0; fd++) { /* what a solver prints is nobody's */
        code = posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
    }
    code = code != 0 ? code : posix_spawnattr_setsigmask(&attributes, &empty);
    code = code != 0 ? code : posix_spawnattr_setsigdefault(&attributes, &all);
    code = code != 0 ? code : posix_spawnattr_setpgroup(&attributes, 0);
    code = code != 0 ? code
                     : posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK |
                                                                 POSIX_SPAWN_SETSIGDEF |
                                                                 POSIX_SPAWN_SETPGROUP);
    code =
        code != 0 ? code : posix_spawn(&w->pid, w->program, &actions, &attributes, arguments, none);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

static int32_t start(worker *w)
{
    int pair[2], type = SOCK_STREAM;
#ifdef SOCK_CLOEXEC /* at once: another thread may start a process between two calls */
    type |= SOCK_CLOEXEC;
#endif
    if (socketpair(AF_UNIX, type, 0, pair) != 0) {
        return ckpd__fail(w->context, CKPD_ERR_FILE, "worker", -1, errno,
                          "no socket for a worker process: error %d", errno);
    }
    for (int i = 0; i < 2; i++) {
#ifndef SOCK_CLOEXEC
        fcntl(pair[i], F_SETFD, FD_CLOEXEC);
#endif
#ifdef SO_NOSIGPIPE
        int on = 1;
        setsockopt(pair[i], SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
    }
    w->fd = pair[0];
    int code = spawn(w, pair[1]);
    close(pair[1]);
    if (code != 0) {
        close(pair[0]);
        return ckpd__fail(w->context, CKPD_ERR_FILE, "worker", -1, code,
                          "worker program %s cannot be started: error %d", w->program, code);
    }
    return CKPD_OK;
}

typedef enum life { RUNS, ENDED, LOST } life;

/* Leaves the process to be waited for, so its number stays its own. LOST: somebody else did. */
static life life_of(const worker *w)
{
    siginfo_t info = {.si_pid = 0};
    if (waitid(P_PID, (id_t)w->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
        return errno == ECHILD ? LOST : RUNS;
    }
    return info.si_pid == w->pid ? ENDED : RUNS;
}

/*
 * Ends the process and whatever it has started, at once or when it has not ended by itself; returns
 * how it ended, -1 when nobody can tell. The group is the child's own before its program runs, and
 * so before posix_spawn returned; its number cannot be that of the host's group, which lives.
 */
static int finish(worker *w, bool by_force)
{
    double until = ckpd__clock_s() + (by_force ? 0.0 : LEAVE_S);
    int how = -1;
    pid_t got;
    close(w->fd);
    life state = life_of(w);
    while (state == RUNS && ckpd__clock_s() < until) {
        poll(NULL, 0, 1);
        state = life_of(w);
    }
    if (state != LOST && kill(-w->pid, SIGKILL) != 0 && state == RUNS) {
        kill(w->pid, SIGKILL); /* the program has made another group its own */
    }
    do {
        got = waitpid(w->pid, &how, 0);
    } while (got < 0 && errno == EINTR);
    return got == w->pid ? how : -1;
}

/* --- the question ----------------------------------------------------------------------------- */

static void write_request(ckpd__wire *wire, worker *w, const ckpd_backend_table *backend,
                          const ckpd_solve_params *params)
{
    char version[24] = CKPD_VERSION_STRING, name[32] = "", origin[1024] = "";
    ckpd_solve_params asked = *params;
    int32_t paths = w->path != NULL;
    const char *from = ckpd__backend_origin(w->context, backend->name);
    ckpd__format(name, sizeof name, "%s", backend->name);
    ckpd__format(origin, sizeof origin, "%s", from != NULL ? from : "");
    ckpd__wire_bytes(wire, version, sizeof version);
    ckpd__wire_bytes(wire, name, sizeof name);
    ckpd__wire_bytes(wire, origin, sizeof origin);
    ckpd__wire_bytes(wire, &asked, sizeof asked);
    ckpd__wire_bytes(wire, &paths, sizeof paths);
    if (paths) {
        ckpd__wire_paths behind;
        ckpd_path_view view = *w->path;
        ckpd__wire_path(wire, &view, &behind);
    } else {
        ckpd_milp_view view = *w->milp;
        int32_t duals[2] = {w->point->row_dual != NULL, w->point->reduced_cost != NULL};
        ckpd__wire_milp(wire, &view);
        ckpd__wire_bytes(wire, duals, sizeof duals);
    }
}

/* The process may not read as fast as it is written to, and the solve may be stopped meanwhile. */
static bool send_all(worker *w, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    while (count > 0) {
        struct pollfd ready = {.fd = w->fd, .events = POLLOUT};
        if (w->host->should_stop(w->host->user) != 0) {
            return true; /* attend() sees to it */
        }
        if (poll(&ready, 1, POLL_MS) <= 0 || (ready.revents & POLLOUT) == 0) {
            if (ready.revents & (POLLERR | POLLHUP)) {
                return false;
            }
            continue;
        }
        size_t piece = count < ROOM ? count : ROOM;
        ssize_t sent = send(w->fd, at, piece, CKPD__SEND_FLAGS | MSG_DONTWAIT);
        if (sent < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) {
            continue;
        }
        if (sent <= 0) {
            return false;
        }
        at += sent;
        count -= (size_t)sent;
    }
    return true;
}

/* False when the other side does not listen: how it ended tells why. */
static int32_t ask(worker *w, const ckpd_backend_table *backend, const ckpd_solve_params *params,
                   bool *heard)
{
    ckpd__wire wire = {.context = w->context};
    write_request(&wire, w, backend, params);
    int32_t status = wire.no_memory ? ckpd__no_memory(w->context) : CKPD_OK;
    if (status == CKPD_OK) {
        ckpd__frame head = {.kind = CKPD__FRAME_REQUEST, .length = wire.used};
        *heard = send_all(w, &head, sizeof head) && send_all(w, wire.data, wire.used);
    }
    ckpd__wire_free(&wire);
    return status;
}

/* --- the answers ------------------------------------------------------------------------------ */

static void read_point(worker *w, ckpd__wire *wire)
{
    double bound = -(double)INFINITY;
    ckpd__wire_bytes(wire, &bound, sizeof bound);
    if (w->path != NULL) {
        ckpd_path_plan plan = {.size = sizeof plan};
        ckpd__wire_plan(wire, w->path, &plan);
        if (!wire->broken && plan.step_count != NULL && plan.step_slot != NULL &&
            plan.step_move != NULL &&
            (w->plan->plan->charge_kw == NULL || plan.charge_kw != NULL)) {
            ckpd__plan_copy(w->path, w->plan->plan, &plan);
            w->plan->has_plan = 1;
        }
    } else {
        const double *x = NULL;
        ckpd__wire_array(wire, (const void **)(void *)&x, (size_t)w->milp->columns, sizeof *x);
        if (x != NULL) {
            memcpy(w->point->x, x, (size_t)w->milp->columns * sizeof *x);
            w->point->has_plan = 1;
        }
    }
    w->bound = isnan(bound) ? w->bound : fmax(w->bound, bound);
}

static void read_report(worker *w, ckpd__wire *wire)
{
    double told[4] = {0, 0, 0, 0};
    ckpd__wire_bytes(wire, told, sizeof told);
    if (wire->broken || isnan(told[0]) || isnan(told[1]) || !(fabs(told[2]) < 1e18) ||
        !(fabs(told[3]) < 1e18)) {
        wire->broken = true;
        return;
    }
    w->bound = fmax(w->bound, told[1]);
    w->host->report(told[0], told[1], (int64_t)told[2], (int64_t)told[3], w->host->user);
}

static void take_dual(ckpd__wire *wire, double *to, size_t count)
{
    const double *from = NULL;
    ckpd__wire_array(wire, (const void **)(void *)&from, count, sizeof *from);
    if (to != NULL && from != NULL) {
        memcpy(to, from, count * sizeof *to);
    }
}

static void read_answer(worker *w, ckpd__wire *wire)
{
    ckpd__wire_bytes(wire, &w->status, sizeof w->status);
    ckpd__wire_bytes(wire, w->message, sizeof w->message);
    w->message[sizeof w->message - 1] = '\0';
    if (w->status == CKPD_OK && w->path != NULL) {
        ckpd_path_result told, *to = w->plan;
        ckpd__wire_bytes(wire, &told, sizeof told);
        if (wire->broken) {
            return;
        }
        to->outcome = told.outcome;
        to->bound = told.bound;
        to->iterations = told.iterations;
        to->nodes = told.nodes;
        if (told.has_plan) {
            to->has_plan = 0;
            read_point(w, wire);
            wire->broken = wire->broken || !to->has_plan;
        } else {
            to->has_plan = 0;
        }
    } else if (w->status == CKPD_OK) {
        ckpd_milp_result told, *to = w->point;
        ckpd__wire_bytes(wire, &told, sizeof told);
        if (wire->broken) {
            return;
        }
        to->outcome = told.outcome;
        to->objective = told.objective;
        to->bound = told.bound;
        to->iterations = told.iterations;
        to->nodes = told.nodes;
        to->has_plan = 0;
        if (told.has_plan) {
            read_point(w, wire);
            take_dual(wire, to->row_dual, (size_t)w->milp->rows);
            take_dual(wire, to->reduced_cost, (size_t)w->milp->columns);
            wire->broken = wire->broken || !to->has_plan;
        }
    }
    w->answered = !wire->broken;
}

/* Whether the process has to go; w->stop says why. */
static bool over(worker *w)
{
    double now = ckpd__clock_s();
    w->stop = w->host->should_stop(w->host->user);
    if (w->stop == 1 && isinf(w->until)) {
        w->until = now + GRACE_S;
    }
    return w->stop == 2 || (w->stop == 1 && now >= w->until);
}

/* Reads every whole frame that is there while there is time; false when one cannot be right. */
static bool read_frames(worker *w)
{
    size_t at = 0;
    ckpd__frame head;
    while (!w->answered && !over(w) && w->have - at >= sizeof head) {
        memcpy(&head, w->data + at, sizeof head);
        bool known = head.kind > CKPD__FRAME_REQUEST && head.kind <= CKPD__FRAME_ANSWER;
        if (!known || head.reserved != 0 || head.length > w->longest) {
            return false;
        }
        if (w->have - at - sizeof head < head.length) {
            break;
        }
        /* A frame of its own: arrays in it are aligned. */
        ckpd__wire wire = {.context = w->context, .reading = true, .size = (size_t)head.length};
        wire.data = ckpd__calloc(w->context, (size_t)head.length + 1, 1);
        if (wire.data == NULL) {
            w->status = CKPD_ERR_NO_MEMORY;
            return false;
        }
        memcpy(wire.data, w->data + at + sizeof head, (size_t)head.length);
        switch (head.kind) {
        case CKPD__FRAME_REPORT:
            read_report(w, &wire);
            break;
        case CKPD__FRAME_POINT:
            read_point(w, &wire);
            break;
        default:
            read_answer(w, &wire);
            break;
        }
        ckpd__wire_free(&wire);
        if (wire.broken) {
            return false;
        }
        at += sizeof head + (size_t)head.length;
    }
    w->have -= at;
    memmove(w->data, w->data + at, w->have);
    return true;
}

typedef enum news { NOTHING, SOMETHING, END, NONSENSE } news;

/* Takes what is there, without waiting. */
static news receive(worker *w)
{
    if (w->room - w->have < ROOM) {
        unsigned char *grown = ckpd__realloc(w->context, w->data, 2 * w->room + 2 * ROOM, 1);
        if (grown == NULL) {
            w->status = CKPD_ERR_NO_MEMORY;
            return NONSENSE;
        }
        w->data = grown;
        w->room = 2 * w->room + 2 * ROOM;
    }
    ssize_t got = recv(w->fd, w->data + w->have, w->room - w->have, MSG_DONTWAIT);
    if (got < 0) {
        return errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK ? NOTHING : END;
    }
    if (got == 0) {
        return END;
    }
    w->have += (size_t)got;
    return read_frames(w) ? SOMETHING : NONSENSE;
}

/*
 * Until the answer is there or the process has to go. Looks at the limits after every piece: a
 * process may talk without end. It may also end while another one has inherited its socket, which
 * then does not hang up.
 */
static news attend(worker *w)
{
    for (;;) {
        struct pollfd ready = {.fd = w->fd, .events = POLLIN};
        poll(&ready, 1, POLL_MS);
        bool gone = life_of(w) != RUNS; /* asked first: then all that it said is there */
        news what = receive(w);
        if (w->answered || what == END || what == NONSENSE) {
            return what;
        }
        if (gone && what == NOTHING) {
            return END;
        }
        if (over(w)) {
            return NOTHING;
        }
    }
}

/* --- both together ---------------------------------------------------------------------------- */

static int32_t ended(const worker *w, int how)
{
    if (how >= 0 && WIFSIGNALED(how)) {
        return ckpd__fail(w->context, CKPD_ERR_BACKEND, "worker", -1, WTERMSIG(how),
                          "worker program %s was ended by signal %d", w->program, WTERMSIG(how));
    }
    if (how < 0 || !WIFEXITED(how)) { /* the host ignores SIGCHLD or waits for every child */
        return ckpd__fail(w->context, CKPD_ERR_BACKEND, "worker", -1, (double)NAN,
                          "worker program %s ended and gave no answer; how it ended cannot be told",
                          w->program);
    }
    int code = WEXITSTATUS(how);
    return ckpd__fail(w->context, CKPD_ERR_BACKEND, "worker", -1, code,
                      "worker program %s ended with code %d and gave no answer", w->program, code);
}

static void write_stopped(worker *w)
{
    int32_t found = w->path != NULL ? w->plan->has_plan : w->point->has_plan;
    int32_t outcome = w->stop == 2 ? CKPD_OUTCOME_CANCELLED
                      : found      ? CKPD_OUTCOME_FEASIBLE
                                   : CKPD_OUTCOME_NO_PLAN;
    if (w->path != NULL) {
        w->plan->outcome = outcome;
        w->plan->bound = w->bound;
    } else {
        w->point->outcome = outcome;
        w->point->bound = w->bound;
    }
}

static int32_t run(worker *w, const ckpd_backend_table *backend, const ckpd_solve_params *params)
{
    bool heard = false;
    int32_t status = start(w);
    if (status != CKPD_OK) {
        return status;
    }
    status = ask(w, backend, params, &heard);
    if (status != CKPD_OK) {
        finish(w, true);
        return status;
    }
    news what = heard ? attend(w) : END;
    int how = finish(w, w->answered || what == NOTHING || what == NONSENSE);
    if (w->answered) {
        return w->status;
    }
    if (what == NOTHING) {
        write_stopped(w);
        return CKPD_OK;
    }
    if (what == END) {
        return ended(w, how);
    }
    return w->status == CKPD_ERR_NO_MEMORY
               ? ckpd__no_memory(w->context)
               : ckpd__fail(w->context, CKPD_ERR_BACKEND, "worker", -1, (double)NAN,
                            "what worker program %s says cannot be understood", w->program);
}

static const char *worker_of(const ckpd_host *host)
{
    const ckpd__host_state *state = host->user;
    const char *program = state->control->worker;
    return program != NULL && program[0] != '\0' ? program : NULL;
}

/* `message` is that of the result. */
static int32_t run_whole(worker *w, const ckpd_backend_table *backend,
                         const ckpd_solve_params *params, char *message)
{
    int32_t status = run(w, backend, params);
    ckpd__free(w->context, w->data);
    memcpy(message, w->message, sizeof w->message);
    if (status != CKPD_OK && w->message[0] == '\0') {
        ckpd__format(message, sizeof w->message, "%s", ckpd_context_last_message(w->context));
    }
    return status;
}

int32_t ckpd__call_milp(const ckpd_backend_table *backend, const ckpd_host *host,
                        const ckpd_milp_view *view, const ckpd_solve_params *params,
                        ckpd_milp_result *result)
{
    const char *program = worker_of(host);
    if (program == NULL) {
        return backend->solve_milp(host, view, params, result, backend->user);
    }
    worker w = {.context = ((ckpd__host_state *)host->user)->context,
                .host = host,
                .program = program,
                .milp = view,
                .point = result,
                .longest = ((size_t)view->columns * 2 + (size_t)view->rows) * 8 + 4096,
                .bound = -(double)INFINITY,
                .until = (double)INFINITY};
    result->has_plan = 0;
    return run_whole(&w, backend, params, result->message);
}

int32_t ckpd__call_paths(const ckpd_backend_table *backend, const ckpd_host *host,
                         const ckpd_path_view *view, const ckpd_solve_params *params,
                         ckpd_path_result *result)
{
    const char *program = worker_of(host);
    if (program == NULL) {
        return backend->solve_paths(host, view, params, result, backend->user);
    }
    size_t cells = (size_t)view->jobs * (size_t)view->slots;
    worker w = {.context = ((ckpd__host_state *)host->user)->context,
                .host = host,
                .program = program,
                .path = view,
                .plan = result,
                .longest = cells * 12 + (size_t)view->jobs * 4 + (size_t)view->slots * 16 + 4096,
                .bound = -(double)INFINITY,
                .until = (double)INFINITY};
    result->has_plan = 0;
    return run_whole(&w, backend, params, result->message);
}
