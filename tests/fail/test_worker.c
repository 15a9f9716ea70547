/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Backends in a process of their own. This program is its own worker: asked for "worker" it
 * registers backends that misbehave in every way and serves one request.
 */
#include "support/small.h"
#include "support/support.h"

#include <ckptdispatch.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM BUILD_DIR "/tests/fail/test_worker"

static double now(void)
{
    return test_clock_s(CLOCK_MONOTONIC);
}

/*
 * A limit is met within 0.1 s (`make check-long` asserts it); any process may be delayed for longer
 * by a busy machine. So the first of some runs that met it counts, and there is room without end.
 */
static const double SOON = 0.1;
static double late_at_most(void)
{
    return test_long() ? SOON : 30.0;
}

/* --- the worker's side
 * ---------------------------------------------------------------------------- */

static ckpd_context *inside;

static void spin(void)
{
    for (volatile int forever = 1; forever;) {
    }
}

static int32_t solve(const char *with, const ckpd_path_view *view, ckpd_path_result *result)
{
    return ckpd_path_solve(inside, with, view, NULL, NULL, result);
}

/* A plan at once, then nothing ever again. */
static int32_t loops(const ckpd_host *host, const ckpd_path_view *view,
                     const ckpd_solve_params *params, ckpd_path_result *result, void *user)
{
    (void)params, (void)user;
    if (solve("enumerate", view, result) == CKPD_OK) {
        host->keep_plan(result->plan, -1000, host->user);
        host->report(result->objective, -1000, 1, 1, host->user);
    }
    spin();
    return CKPD_OK;
}

static int32_t loops_bare(const ckpd_host *host, const ckpd_path_view *view,
                          const ckpd_solve_params *params, ckpd_path_result *result, void *user)
{
    (void)host, (void)view, (void)params, (void)result, (void)user;
    spin();
    return CKPD_OK;
}

static int32_t lies(const ckpd_host *host, const ckpd_path_view *view,
                    const ckpd_solve_params *params, ckpd_path_result *result, void *user)
{
    (void)params, (void)user;
    if (solve("enumerate", view, result) == CKPD_OK) {
        result->plan->step_count[0] = 0; /* nothing done at all */
        host->keep_plan(result->plan, 0, host->user);
    }
    spin();
    return CKPD_OK;
}

static int32_t dies(const ckpd_host *host, const ckpd_path_view *view,
                    const ckpd_solve_params *params, ckpd_path_result *result, void *user)
{
    (void)host, (void)view, (void)params, (void)result, (void)user;
    raise(SIGKILL);
    return CKPD_OK;
}

static int32_t leaves(const ckpd_host *host, const ckpd_path_view *view,
                      const ckpd_solve_params *params, ckpd_path_result *result, void *user)
{
    (void)host, (void)view, (void)params, (void)result, (void)user;
    _exit(7);
}

static int32_t babbles(const ckpd_host *host, const ckpd_path_view *view,
                       const ckpd_solve_params *params, ckpd_path_result *result, void *user)
{
    static const char words[] = "All is well, and here is a plan that you will like.";
    (void)host, (void)view, (void)params, (void)result, (void)user;
    send(0, words, sizeof words, 0);
    spin();
    return CKPD_OK;
}

/* True reports without end. */
static int32_t floods(const ckpd_host *host, const ckpd_path_view *view,
                      const ckpd_solve_params *params, ckpd_path_result *result, void *user)
{
    static struct {
        uint32_t kind, reserved;
        uint64_t length;
        double told[4];
    } frames[1000]; /* as solver/wire.h has them */
    (void)view, (void)params, (void)result, (void)user;
    host->report(1e9, -1000, 1, 1, host->user);
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        frames[i].kind = 0x636b7132;
        frames[i].length = sizeof frames[i].told;
        frames[i].told[0] = 1e9;
        frames[i].told[1] = -1000;
    }
    for (;;) {
        size_t sent = 0;
        while (sent < sizeof frames) {
            ssize_t more = send(0, (char *)frames + sent, sizeof frames - sent, MSG_NOSIGNAL);
            if (more <= 0) {
                _exit(1);
            }
            sent += (size_t)more;
        }
    }
}

/* Hangs up and stays. */
static int32_t hangs_up(const ckpd_host *host, const ckpd_path_view *view,
                        const ckpd_solve_params *params, ckpd_path_result *result, void *user)
{
    (void)host, (void)view, (void)params, (void)result, (void)user;
    close(0);
    spin();
    return CKPD_OK;
}

/* Ends, but not the child that has the socket too: nobody hangs up. */
static int32_t leaves_a_child(const ckpd_host *host, const ckpd_path_view *view,
                              const ckpd_solve_params *params, ckpd_path_result *result, void *user)
{
    (void)host, (void)view, (void)params, (void)result, (void)user;
    if (fork() == 0) {
        spin();
    }
    _exit(7);
}

static int32_t sulks(const ckpd_host *host, const ckpd_path_view *view,
                     const ckpd_solve_params *params, ckpd_path_result *result, void *user)
{
    (void)host, (void)view, (void)params, (void)user;
    strcpy(result->message, "not today");
    return CKPD_ERR_BACKEND;
}

static int32_t honest(const ckpd_host *host, const ckpd_path_view *view,
                      const ckpd_solve_params *params, ckpd_path_result *result, void *user)
{
    (void)host, (void)params, (void)user;
    puts("what a solver prints goes nowhere");
    fflush(stdout);
    return solve("enumerate", view, result);
}

typedef int32_t (*solve_fn)(const ckpd_host *, const ckpd_path_view *, const ckpd_solve_params *,
                            ckpd_path_result *, void *);

static const struct {
    const char *name;
    solve_fn solve;
} backends[] = {{"loops", loops},   {"loops-bare", loops_bare}, {"lies", lies},
                {"dies", dies},     {"leaves", leaves},         {"babbles", babbles},
                {"floods", floods}, {"hangs-up", hangs_up},     {"leaves-a-child", leaves_a_child},
                {"sulks", sulks},   {"honest", honest}};
enum { BACKENDS = sizeof backends / sizeof backends[0] };

/* In the asking process the tables must never be called. */
static int32_t never(const ckpd_host *host, const ckpd_path_view *view,
                     const ckpd_solve_params *params, ckpd_path_result *result, void *user)
{
    (void)host, (void)view, (void)params, (void)result, (void)user;
    abort();
}

static void register_all(ckpd_context *to, int here)
{
    for (int i = 0; i < BACKENDS; i++) {
        const ckpd_backend_table table = {.size = sizeof table,
                                          .abi = CKPD_BACKEND_ABI,
                                          .capabilities = CKPD_CAP_PATHS,
                                          .name = backends[i].name,
                                          .version = "1",
                                          .license = "MIT",
                                          .solve_paths = here ? never : backends[i].solve};
        ckpd_backend_register(to, &table);
    }
}

static int be_worker(void)
{
    if (ckpd_context_new(&inside, NULL) != CKPD_OK) {
        return 1;
    }
    register_all(inside, 0);
    int32_t status = ckpd_worker_serve(inside, 0);
    ckpd_context_free(inside);
    return status == CKPD_OK ? 0 : 1;
}

/* --- the asking side
 * -------------------------------------------------------------------------------- */

static ckpd_context *context;
static ckpd_problem *problem;
static ckpd_solve_options *options;

static void setup(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_int_eq(small_j0(&problem, context, 100), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_new(&options, context), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_set_worker(options, PROGRAM), CKPD_OK);
    register_all(context, 1);
}

static void teardown(void)
{
    ckpd_solve_options_free(options);
    ckpd_problem_free(problem);
    ckpd_context_free(context);
    errno = 0;
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* no child is left, dead or alive */
    ck_assert_int_eq(errno, ECHILD);
}

static int32_t solve_with(const char *backend, ckpd_solution **solution)
{
    ck_assert_int_eq(ckpd_solve_options_set_backend(options, backend), CKPD_OK);
    return ckpd_problem_solve(solution, problem, CKPD_SCENARIO_S4, options);
}

START_TEST(answers)
{
    static const char *const names[] = {"honest", "enumerate", "native", "glpk"};
    int32_t descriptors = dup(0);
    close(descriptors);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (ckpd_backend_capabilities(context, names[i]) == 0) {
            continue; /* a build without GLPK */
        }
        ckpd_solution *solution = NULL;
        ckpd_solve_options_set(options, "structure_presolve", 0);
        ck_assert_msg(solve_with(names[i], &solution) == CKPD_OK, "%s: %s", names[i],
                      ckpd_context_last_message(context));
        ck_assert_double_eq_tol(ckpd_solution_cost(solution), SMALL_J0_COST, 1e-6);
        ck_assert_int_eq(ckpd_report_violation_count(ckpd_solution_report(solution)), 0);
        ckpd_solution_free(solution);
    }
    int32_t after = dup(0);
    close(after);
    ck_assert_int_eq(after, descriptors); /* none is left open */
}
END_TEST

/*
 * A battery on its way back to its minimum and a site cap with a price, as in
 * unit/dispatch/test_soft: every array of the view crosses over.
 */
START_TEST(arrays_of_limits)
{
    static const struct {
        const char *field;
        double value;
    } values[] = {{"energy_kwh", 20000}, {"charge_kw", 100},     {"discharge_kw", 100},
                  {"eta_charge", 0.9},   {"eta_discharge", 0.9}, {"soc_start_kwh", 2800},
                  {"soc_end_kwh", 3000}, {"soc_min_kwh", 3000},  {"recover_soc", 1}};
    static const char *const names[] = {"enumerate", "native", "glpk"};
    const double price[4] = {20, 60, 20, 60};
    ckpd_site *site = NULL;
    ckpd_battery *battery = NULL;
    ckpd_problem *soft = NULL;
    ck_assert_int_eq(ckpd_site_new(&site, context, 4, 1), CKPD_OK);
    ck_assert_int_eq(ckpd_site_set_series(site, "import_price_per_mwh", price, 4), CKPD_OK);
    ck_assert_int_eq(ckpd_site_set_constant(site, "base_it_kw", 10000), CKPD_OK);
    ck_assert_int_eq(ckpd_site_set_constant(site, "gpu_cap", 0), CKPD_OK);
    ck_assert_int_eq(ckpd_site_set_constant(site, "site_cap_kw", 9000), CKPD_OK);
    ck_assert_int_eq(ckpd_site_set_constant(site, "site_cap_price_per_mwh", 100), CKPD_OK);
    ck_assert_int_eq(ckpd_battery_new(&battery, context), CKPD_OK);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        ck_assert_int_eq(ckpd_battery_set(battery, values[i].field, values[i].value), CKPD_OK);
    }
    ck_assert_int_eq(ckpd_battery_set_text(battery, "terminal", "at_least"), CKPD_OK);
    ck_assert_int_eq(ckpd_site_add_battery(site, battery), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_new(&soft, context, site), CKPD_OK);
    ckpd_solve_options_set(options, "structure_presolve", 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        ckpd_solution *solution = NULL;
        if (ckpd_backend_capabilities(context, names[i]) == 0) {
            continue;
        }
        ck_assert_int_eq(ckpd_solve_options_set_backend(options, names[i]), CKPD_OK);
        int32_t status = ckpd_problem_solve(&solution, soft, CKPD_SCENARIO_S6, options);
        ck_assert_msg(status == CKPD_OK, "%s: %s", names[i], ckpd_context_last_message(context));
        ck_assert_double_eq_tol(ckpd_solution_cost(solution), 1606.22 + 400, 2.1e-3);
        ckpd_solution_free(solution);
    }
    ckpd_problem_free(soft);
    ckpd_battery_free(battery);
    ckpd_site_free(site);
}
END_TEST

/* The deadline holds whatever the backend does, and what it had found is there. A machine that was
 * too slow for a plan in that time is given more. */
START_TEST(deadline)
{
    for (int bare = 0; bare < 2; bare++) {
        double late = (double)INFINITY, limit = 0.4;
        for (int run = 0; run < 8 && late > SOON; run++) {
            ckpd_solution *solution = NULL;
            ckpd_solve_options_set(options, "time_limit_s", limit);
            double started = now();
            ck_assert_msg(solve_with(bare ? "loops-bare" : "loops", &solution) == CKPD_OK, "%s",
                          ckpd_context_last_message(context));
            double took = now() - started;
            ck_assert_double_ge(took, limit - 0.01);
            int32_t outcome = ckpd_solution_outcome(solution);
            if (bare || outcome != CKPD_OUTCOME_FEASIBLE) {
                ck_assert_int_eq(outcome, CKPD_OUTCOME_NO_PLAN);
            } else {
                ck_assert_double_eq_tol(ckpd_solution_cost(solution), SMALL_J0_COST, 1e-6);
                ck_assert_double_eq(ckpd_solution_bound(solution), -1000);
            }
            if (bare || outcome == CKPD_OUTCOME_FEASIBLE) {
                late = fmin(late, took - limit);
            } else { /* it had not even started */
                limit *= 2;
            }
            ckpd_solution_free(solution);
        }
        ck_assert_double_le(late, late_at_most());
    }
}
END_TEST

/* Cancels a while after the first plan. */
typedef struct canceller {
    ckpd_cancel *token;
    double at; /* when it did */
    atomic_int planned;
} canceller;

static int32_t note_plan(const ckpd_progress *progress, void *user)
{
    if (isfinite(progress->incumbent)) {
        atomic_store(&((canceller *)user)->planned, 1);
    }
    return 0;
}

static void *cancel_soon(void *user)
{
    canceller *c = user;
    while (!atomic_load(&c->planned)) {
        test_sleep(0.01);
    }
    test_sleep(0.2);
    c->at = now();
    ckpd_cancel_request(c->token);
    return NULL;
}

START_TEST(cancelled)
{
    double late = (double)INFINITY;
    for (int run = 0; run < 8 && late > SOON; run++) {
        ckpd_solution *solution = NULL;
        canceller c = {.token = NULL};
        pthread_t thread;
        ck_assert_int_eq(ckpd_cancel_new(&c.token, context), CKPD_OK);
        ckpd_solve_options_set_cancel(options, c.token);
        ckpd_solve_options_set_progress(options, note_plan, &c);
        ck_assert_int_eq(pthread_create(&thread, NULL, cancel_soon, &c), 0);
        ck_assert_int_eq(solve_with("loops", &solution), CKPD_OK);
        double ended = now();
        pthread_join(thread, NULL);
        late = fmin(late, ended - c.at);
        ck_assert_int_eq(ckpd_solution_outcome(solution), CKPD_OUTCOME_CANCELLED);
        ck_assert_double_eq_tol(ckpd_solution_cost(solution), SMALL_J0_COST, 1e-6);
        ckpd_solution_free(solution);
        ckpd_solve_options_set_progress(options, NULL, NULL);
        ckpd_solve_options_set_cancel(options, NULL);
        ckpd_cancel_free(c.token);
    }
    ck_assert_double_le(late, late_at_most());
}
END_TEST

/* Within time without end, so that a slow machine comes to the failure too; a backend that spins
 * after it begins with a second and is given more. */
static void expect_failure(const char *backend, int32_t code, const char *text)
{
    ckpd_solution *solution = NULL;
    ckpd_error error = {.size = sizeof error};
    int32_t status = CKPD_OK;
    for (double limit = strcmp(backend, "lies") == 0 ? 1 : 64; status == CKPD_OK && limit < 100;
         limit *= 2) {
        ckpd_solve_options_set(options, "time_limit_s", limit);
        status = solve_with(backend, &solution);
        ck_assert_msg(status != CKPD_OK || ckpd_solution_outcome(solution) == CKPD_OUTCOME_NO_PLAN,
                      "%s: outcome %d", backend, ckpd_solution_outcome(solution));
        ckpd_solution_free(solution);
        solution = NULL;
    }
    ck_assert_int_eq(ckpd_context_last_error(context, &error), CKPD_OK);
    ck_assert_msg(status == code, "%s: %d, %s", backend, status, error.message);
    ck_assert_msg(strstr(error.message, text) != NULL, "%s: %s", backend, error.message);
    ck_assert_ptr_null(solution);
}

/* True once no such process runs; one that nobody has waited for yet has no memory any more. */
static int ends_soon(int process)
{
    char path[64], state = '?';
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    for (int i = 0; i < 3000; i++) {
        FILE *in = fopen(path, "r");
        if (in == NULL) {
            return kill(process, 0) != 0;
        }
        int read = fscanf(in, "%*d (%*[^)]) %c", &state);
        fclose(in);
        if (read == 1 && state == 'Z') {
            return 1;
        }
        test_sleep(0.01);
    }
    return 0;
}

static int32_t slow_progress(const ckpd_progress *progress, void *user)
{
    (void)progress, (void)user;
    test_sleep(1e-6);
    return 0;
}

/* A host that reads more slowly than the worker talks: there is always something to read. */
START_TEST(limit_of_a_flood)
{
    double late = (double)INFINITY;
    for (int run = 0; run < 8 && late > SOON; run++) {
        ckpd_solution *solution = NULL;
        ckpd_solve_options_set(options, "time_limit_s", 0.4);
        ckpd_solve_options_set_progress(options, slow_progress, NULL);
        double started = now();
        ck_assert_msg(solve_with("floods", &solution) == CKPD_OK, "%s",
                      ckpd_context_last_message(context));
        late = fmin(late, now() - started - 0.4);
        ck_assert_int_eq(ckpd_solution_outcome(solution), CKPD_OUTCOME_NO_PLAN);
        ckpd_solution_free(solution);
    }
    ck_assert_double_le(late, late_at_most());
}
END_TEST

/* A script between: what it starts is ended with it. The limit is long enough for a shell to begin
 * in the end. */
START_TEST(wrapper_and_its_child)
{
    static const char script[] = "#!/bin/sh\n"
                                 "/bin/sleep 1000 <&0 &\n"
                                 "echo $! >worker-child.pid\n"
                                 "wait\n";
    FILE *out = fopen("./worker-wrapper.sh", "w");
    ck_assert_ptr_nonnull(out);
    fputs(script, out);
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_int_eq(chmod("./worker-wrapper.sh", 0700), 0);
    ck_assert_int_eq(ckpd_solve_options_set_worker(options, "./worker-wrapper.sh"), CKPD_OK);
    int child = 0;
    for (double limit = 0.5; child == 0 && limit < 100; limit *= 2) {
        ckpd_solution *solution = NULL;
        ckpd_solve_options_set(options, "time_limit_s", limit);
        ck_assert_msg(solve_with("honest", &solution) == CKPD_OK, "%s",
                      ckpd_context_last_message(context));
        ck_assert_int_eq(ckpd_solution_outcome(solution), CKPD_OUTCOME_NO_PLAN);
        ckpd_solution_free(solution);
        FILE *in = fopen("worker-child.pid", "r");
        if (in != NULL && fscanf(in, "%d", &child) != 1) {
            child = 0;
        }
        if (in != NULL) {
            fclose(in);
        }
    }
    ck_assert_int_gt(child, 1);
    ck_assert_msg(ends_soon(child), "process %d still runs", child);
    remove("worker-child.pid");
    remove("./worker-wrapper.sh");
}
END_TEST

/* Each failure by its name; nothing that was not verified comes out. */
START_TEST(failures)
{
    expect_failure("dies", CKPD_ERR_BACKEND, "signal 9");
    expect_failure("leaves", CKPD_ERR_BACKEND, "code 7");
    expect_failure("leaves-a-child", CKPD_ERR_BACKEND, "code 7");
    expect_failure("hangs-up", CKPD_ERR_BACKEND, "signal 9");
    expect_failure("babbles", CKPD_ERR_BACKEND, "cannot be understood");
    expect_failure("sulks", CKPD_ERR_BACKEND, "not today");
    expect_failure("lies", CKPD_ERR_VERIFY, "does not complete");
    ck_assert_int_eq(ckpd_solve_options_set_worker(options, "/no/such/program"), CKPD_OK);
    if (test_wrapped()) /* valgrind cannot tell the parent that there is no such program */
        expect_failure("honest", CKPD_ERR_BACKEND, "/no/such/program");
    else
        expect_failure("honest", CKPD_ERR_FILE, "/no/such/program cannot be started");
    ck_assert_int_eq(ckpd_solve_options_set_worker(options, "/bin/true"), CKPD_OK);
    expect_failure("honest", CKPD_ERR_BACKEND, "gave no answer");
}
END_TEST

/* A backend from memory that the worker program does not have. */
START_TEST(unknown_over_there)
{
    const ckpd_backend_table table = {.size = sizeof table,
                                      .abi = CKPD_BACKEND_ABI,
                                      .capabilities = CKPD_CAP_PATHS,
                                      .name = "only-here",
                                      .version = "1",
                                      .license = "MIT",
                                      .solve_paths = never};
    ck_assert_int_eq(ckpd_backend_register(context, &table), CKPD_OK);
    expect_failure("only-here", CKPD_ERR_UNKNOWN_NAME, "no backend is named");
}
END_TEST

START_TEST(refused)
{
    char long_path[1100];
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = '\0';
    ck_assert_int_eq(ckpd_solve_options_set_worker(NULL, "x"), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_solve_options_set_worker(options, long_path), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_worker_serve(NULL, 0), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_worker_serve(context, -1), CKPD_ERR_FILE);
    int pair[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    char nonsense[64] = "GET / HTTP/1.0";
    ck_assert_int_eq(send(pair[0], nonsense, sizeof nonsense, 0), (ssize_t)sizeof nonsense);
    ck_assert_int_eq(ckpd_worker_serve(context, pair[1]), CKPD_ERR_SYNTAX);
    close(pair[0]);
    close(pair[1]);
}
END_TEST

/* The host's signals are its own, also with SIGCHLD ignored and SIGPIPE at its default. */
START_TEST(signals_are_the_hosts)
{
    struct sigaction before, after, ignore = {.sa_handler = SIG_IGN};
    sigset_t mask_before, mask_after;
    ck_assert_int_eq(sigaction(SIGCHLD, &ignore, NULL), 0);
    ck_assert_int_eq(sigaction(SIGPIPE, NULL, &before), 0);
    ck_assert_int_eq(sigprocmask(SIG_SETMASK, NULL, &mask_before), 0);
    ckpd_solution *solution = NULL;
    ck_assert_int_eq(solve_with("honest", &solution), CKPD_OK);
    ckpd_solution_free(solution);
    ck_assert_int_eq(ckpd_solve_options_set_worker(options, "/bin/true"), CKPD_OK);
    expect_failure("honest", CKPD_ERR_BACKEND, "cannot be told"); /* a write to nobody */
    ck_assert_int_eq(sigaction(SIGPIPE, NULL, &after), 0);
    ck_assert(before.sa_handler == after.sa_handler);
    ck_assert_int_eq(sigaction(SIGCHLD, NULL, &after), 0);
    ck_assert(after.sa_handler == SIG_IGN);
    ck_assert_int_eq(sigprocmask(SIG_SETMASK, NULL, &mask_after), 0);
    for (int signal = 1; signal < 32; signal++) {
        ck_assert_int_eq(sigismember(&mask_before, signal), sigismember(&mask_after, signal));
    }
}
END_TEST

int main(int count, char **words)
{
    if (count > 1 && strcmp(words[1], "worker") == 0) {
        return be_worker();
    }
    Suite *suite = suite_create("worker process");
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, setup, teardown);
    tcase_add_test(all, answers);
    tcase_add_test(all, arrays_of_limits);
    tcase_add_test(all, deadline);
    tcase_add_test(all, cancelled);
    tcase_add_test(all, limit_of_a_flood);
    tcase_add_test(all, wrapper_and_its_child);
    tcase_add_test(all, failures);
    tcase_add_test(all, unknown_over_there);
    tcase_add_test(all, refused);
    tcase_add_test(all, signals_are_the_hosts);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
