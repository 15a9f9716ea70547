/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What belongs to the process belongs to the host: streams, signals, children, locale, memory. */
#include "support/small.h"
#include "support/support.h"
#include "support/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Backends in turn: by choice, and those that are called through GLPK's thread or know nothing but
 * the public table. */
static const char *next_backend(void)
{
    static const char *const backends[] = {NULL, "glpk", "enumerate"};
    static unsigned turn;
    const char *backend = backends[turn++ % (sizeof backends / sizeof backends[0])];
    return backend != NULL && strcmp(backend, "glpk") == 0 && !ckpd_feature("glpk") ? NULL
                                                                                    : backend;
}

/* One good, one infeasible and one cancelled solve; 0 when all came out as they have to. */
static int solve_three(void)
{
    const char *backend = next_backend();
    ckpd_context *context = NULL;
    ckpd_problem *good = NULL;
    ckpd_problem *infeasible = NULL;
    ckpd_cancel *cancel = NULL;
    ckpd_solve_options *options = NULL;
    ckpd_solution *cancelled = NULL;
    int32_t outcome = 0;
    double cost = 0;
    int wrong = ckpd_context_new(&context, NULL) != CKPD_OK ||
                small_b0(&good, context) != CKPD_OK ||
                small_j0(&infeasible, context, 50) != CKPD_OK;
    wrong = wrong ||
            small_solve(good, context, CKPD_SCENARIO_S5, backend, &outcome, &cost) != CKPD_OK ||
            outcome != CKPD_OUTCOME_OPTIMAL || fabs(cost - SMALL_B0_COST) > 1e-6;
    wrong =
        wrong ||
        small_solve(infeasible, context, CKPD_SCENARIO_S4, backend, &outcome, &cost) != CKPD_OK ||
        outcome != CKPD_OUTCOME_INFEASIBLE;
    wrong = wrong || ckpd_cancel_new(&cancel, context) != CKPD_OK ||
            ckpd_solve_options_new(&options, context) != CKPD_OK ||
            ckpd_solve_options_set_cancel(options, cancel) != CKPD_OK;
    if (!wrong) {
        ckpd_cancel_request(cancel);
        /* Cancelled, or so small that it was solved before anything looked. */
        wrong = ckpd_problem_solve(&cancelled, good, CKPD_SCENARIO_S5, options) != CKPD_OK ||
                (ckpd_solution_outcome(cancelled) != CKPD_OUTCOME_CANCELLED &&
                 ckpd_solution_outcome(cancelled) != CKPD_OUTCOME_OPTIMAL);
    }
    ckpd_solution_free(cancelled);
    ckpd_solve_options_free(options);
    ckpd_cancel_free(cancel);
    ckpd_problem_free(infeasible);
    ckpd_problem_free(good);
    ckpd_context_free(context);
    return wrong;
}

/* --- streams --------------------------------------------------------------------------------- */

/* A daemon closes them; a library that prints then writes into the host's next file. */
START_TEST(closed_streams)
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        close(0);
        close(1);
        close(2);
        int wrong = solve_three();
        for (int fd = 0; fd < 3; fd++) {
            wrong |= fcntl(fd, F_GETFD) != -1 || errno != EBADF;
        }
        _exit(wrong);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

START_TEST(silence)
{
    char name[] = "streams.XXXXXX";
    int file = mkstemp(name);
    ck_assert_int_ge(file, 0);
    fflush(NULL);
    int old_out = dup(1);
    int old_err = dup(2);
    ck_assert_int_ge(dup2(file, 1), 0);
    ck_assert_int_ge(dup2(file, 2), 0);
    int wrong = solve_three();
    fflush(NULL);
    ck_assert_int_ge(dup2(old_out, 1), 0);
    ck_assert_int_ge(dup2(old_err, 2), 0);
    struct stat written;
    ck_assert_int_eq(fstat(file, &written), 0);
    close(file);
    unlink(name);
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_eq((int)written.st_size, 0);
}
END_TEST

/* --- signals --------------------------------------------------------------------------------- */

static volatile sig_atomic_t interrupts;
static ckpd_cancel *interrupt_token;

static void on_interrupt(int number)
{
    (void)number;
    interrupts = interrupts + 1;
    if (interrupt_token != NULL) {
        ckpd_cancel_request(interrupt_token);
    }
}

static int32_t interrupt_once(const ckpd_progress *progress, void *user)
{
    (void)progress;
    int *sent = user;
    if (*sent == 0) {
        kill(getpid(), SIGINT);
    }
    *sent = *sent + 1;
    return 0;
}

/* The host's handler runs, stays in place, and through the token ends the solve. */
START_TEST(interrupt_of_the_host)
{
    struct sigaction mine = {.sa_handler = on_interrupt};
    struct sigaction found;
    sigset_t mask_before;
    sigset_t mask_after;
    ckpd_context *context = NULL;
    ckpd_problem *problem = NULL;
    ckpd_solve_options *options = NULL;
    ckpd_solution *solution = NULL;
    int sent = 0;
    sigemptyset(&mine.sa_mask);
    ck_assert_int_eq(sigaction(SIGINT, &mine, NULL), 0);
    ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, NULL, &mask_before), 0);
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_int_eq(small_j0(&problem, context, 100), CKPD_OK);
    ck_assert_int_eq(ckpd_cancel_new(&interrupt_token, context), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_new(&options, context), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_set_progress(options, interrupt_once, &sent), CKPD_OK);
    ck_assert_int_eq(ckpd_solve_options_set_cancel(options, interrupt_token), CKPD_OK);
    ck_assert_int_eq(ckpd_problem_solve(&solution, problem, CKPD_SCENARIO_S4, options), CKPD_OK);
    int32_t outcome = ckpd_solution_outcome(solution);
    if (sent == 0) {
        /* Too quick to report progress: the signal comes before the next solve instead. */
        kill(getpid(), SIGINT);
        ckpd_solution_free(solution);
        solution = NULL;
        ck_assert_int_eq(ckpd_problem_solve(&solution, problem, CKPD_SCENARIO_S4, options),
                         CKPD_OK);
        outcome = ckpd_solution_outcome(solution);
    }
    ck_assert(outcome == CKPD_OUTCOME_CANCELLED || outcome == CKPD_OUTCOME_OPTIMAL);
    ck_assert_int_ge((int)interrupts, 1);
    ck_assert_int_eq(sigaction(SIGINT, NULL, &found), 0);
    ck_assert(found.sa_handler == on_interrupt);
    ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, NULL, &mask_after), 0);
    for (int number = 1; number < 32; number++) {
        ck_assert_int_eq(sigismember(&mask_before, number), sigismember(&mask_after, number));
    }
    ckpd_solution_free(solution);
    ckpd_solve_options_free(options);
    ckpd_cancel_free(interrupt_token);
    ckpd_problem_free(problem);
    ckpd_context_free(context);
}
END_TEST

/* --- children -------------------------------------------------------------------------------- */

START_TEST(fork_between_solves)
{
    ckpd_context *context = NULL;
    ckpd_problem *problem = NULL;
    int32_t outcome = 0;
    double cost = 0;
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_int_eq(small_b0(&problem, context), CKPD_OK);
    ck_assert_int_eq(small_solve(problem, context, CKPD_SCENARIO_S5, NULL, &outcome, &cost),
                     CKPD_OK);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        /* Handles of the parent work in the child, and no thread of the parent is missed. */
        int wrong =
            small_solve(problem, context, CKPD_SCENARIO_S5, NULL, &outcome, &cost) != CKPD_OK ||
            fabs(cost - SMALL_B0_COST) > 1e-6;
        _exit(wrong);
    }
    ck_assert_int_eq(small_solve(problem, context, CKPD_SCENARIO_S5, NULL, &outcome, &cost),
                     CKPD_OK);
    ck_assert_double_eq_tol(cost, SMALL_B0_COST, 1e-6);
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    ckpd_problem_free(problem);
    ckpd_context_free(context);
}
END_TEST

/* --- locale, working folder, environment ------------------------------------------------------ */

START_TEST(locale_and_folder_untouched)
{
    char folder_before[4096];
    char folder_after[4096];
    char locale_before[256];
    snprintf(locale_before, sizeof locale_before, "%s", setlocale(LC_ALL, NULL));
    ck_assert_ptr_nonnull(getcwd(folder_before, sizeof folder_before));
    ck_assert_int_eq(solve_three(), 0);
    ck_assert_ptr_nonnull(getcwd(folder_after, sizeof folder_after));
    ck_assert_str_eq(folder_before, folder_after);
    ck_assert_str_eq(locale_before, setlocale(LC_ALL, NULL));
}
END_TEST

/* --- memory ----------------------------------------------------------------------------------- */

static long resident_kib(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long pages = -1;
    long resident = -1;
    if (f != NULL) {
        if (fscanf(f, "%ld %ld", &pages, &resident) != 2) {
            resident = -1;
        }
        fclose(f);
    }
    return resident < 0 ? -1 : resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* 10,000 solves in the long run, among them failing and cancelled ones: the process does not grow.
 */
START_TEST(flat_memory)
{
    int rounds = test_long() ? 3334 : test_fast() ? 20 : 200;
    for (int i = 0; i < 9 + rounds / 4; i++) {
        ck_assert_int_eq(solve_three(), 0);
    }
    long before = resident_kib();
    for (int i = 0; i < rounds; i++) {
        ck_assert_int_eq(solve_three(), 0);
    }
    long after = resident_kib();
    if (before < 0) {
        test_skip("no /proc/self/statm to read the memory from");
        return;
    }
    if (test_wrapped()) {
        test_skip("the wrapper's own memory grows in the same process");
        return;
    }
    printf("%d solves: %ld KiB before, %ld KiB after\n", 3 * rounds, before, after);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    /* Arenas of the C library settle within a megabyte; a leak of 1 KiB a solve would show in the
     * long run. */
    ck_assert_msg(after - before < 1024 + 3 * rounds / 10, "grew from %ld to %ld KiB", before,
                  after);
#endif
}
END_TEST

/* Every block the library asked the host for comes back. */
START_TEST(every_block_returned)
{
    sweep_memory memory;
    sweep_memory_init(&memory);
    ckpd_context *context = NULL;
    ckpd_problem *problem = NULL;
    int32_t outcome = 0;
    double cost = 0;
    ck_assert_int_eq(ckpd_context_new(&context, &memory.allocator), CKPD_OK);
    ck_assert_int_eq(small_j0(&problem, context, 100), CKPD_OK);
    int settled = 0;
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(small_solve(problem, context, CKPD_SCENARIO_S4, NULL, &outcome, &cost),
                         CKPD_OK);
        if (i == 1) {
            settled = atomic_load(&memory.live);
        }
    }
    ck_assert_int_eq(atomic_load(&memory.live), settled);
    ckpd_problem_free(problem);
    ckpd_context_free(context);
    ck_assert_int_eq(atomic_load(&memory.live), 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {closed_streams,
                                  silence,
                                  interrupt_of_the_host,
                                  fork_between_solves,
                                  locale_and_folder_untouched,
                                  flat_memory,
                                  every_block_returned,
                                  NULL};
    return test_run(test_suite("process of the host", tests));
}
