/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * A solve from the last solution beside one from nothing, after a small change: processor time of
 * the whole call, medians of interleaved runs. make bench B=warm; RUNS=21 for more of them.
 */
#include "dispatch/dispatch.h"
#include "support/golden_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_RUNS = 101, MOST_CHANGES = 32 };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[(count - 1) / 2];
}

typedef struct figures {
    double cold_s, warm_s;
    double ratio[MOST_CHANGES]; /* of each change */
    int changes;
} figures;

static void measure(golden_case *g, int32_t scenario, const ckpd_solution *last, int runs,
                    figures *out)
{
    double cold[MOST_RUNS], warm[MOST_RUNS];
    for (int i = 0; i < runs; i++) {
        ckpd_solution *solution = NULL;
        double at = seconds();
        ckpd_problem_solve(&solution, g->problem, scenario, NULL);
        cold[i] = seconds() - at;
        double cost = ckpd_solution_cost(solution);
        ckpd_solution_free(solution);
        at = seconds();
        ckpd_problem_resolve_from(&solution, g->problem, scenario, NULL, last, 0);
        warm[i] = seconds() - at;
        if (ckpd_solution_cost(solution) > cost * (1 + 2e-6)) {
            printf("the costs differ: %.9g and %.9g\n", cost, ckpd_solution_cost(solution));
        }
        ckpd_solution_free(solution);
    }
    double c = median(cold, runs), w = median(warm, runs);
    out->cold_s += c;
    out->warm_s += w;
    out->ratio[out->changes++] = c / w;
}

static void line(const char *name, int32_t scenario, const char *change, figures *f)
{
    double middle = median(f->ratio, f->changes);
    printf("| %s | S%d | %s | %.3f | %.3f | %.1f | %.1f | %.1f |\n", name, (int)scenario, change,
           1e3 * f->cold_s / f->changes, 1e3 * f->warm_s / f->changes, f->cold_s / f->warm_s,
           middle, f->ratio[0]);
    fflush(stdout);
}

/* Task j at `segments` in the problem. */
static void stand_at(golden_case *g, int32_t j, int32_t segments)
{
    ckpd_graph *graph = NULL;
    ckpd_task_set(g->task[j], "start_segments", segments);
    if (ckpd_graph_build(&graph, g->context, g->task[j], g->modes[j], ckpd_site_slots(g->site),
                         ckpd_site_slot_hours(g->site), NULL) == CKPD_OK) {
        ckpd_graph_free(g->problem->job[j]);
        g->problem->job[j] = graph;
    }
}

/* Each job with a checkpoint more, and one less where there is one, than all of them have. */
static void checkpoints(golden_case *g, int32_t scenario, int32_t all, int runs, figures *more,
                        figures *fewer)
{
    for (int32_t j = 0; j < g->jobs; j++) {
        stand_at(g, j, all);
    }
    ckpd_solution *last = golden_solve(g, scenario, NULL);
    for (int32_t j = 0; j < g->jobs; j++) {
        stand_at(g, j, all + 1);
        measure(g, scenario, last, runs, more);
        if (all > 0) {
            stand_at(g, j, all - 1);
            measure(g, scenario, last, runs, fewer);
        }
        stand_at(g, j, all);
    }
    ckpd_solution_free(last);
}

static void run_case(const char *file, int32_t scenario, const golden_options *options, int runs)
{
    golden_case g;
    char name[64];
    if (!golden_open(&g, file, options)) {
        return;
    }
    ckpd_solution *last = golden_solve(&g, scenario, NULL);
    int32_t slots = ckpd_site_slots(g.site), step = slots / 24;
    double *price = g.problem->site->series[CKPD__IMPORT_PRICE];
    double *soc = &g.problem->site->battery[CKPD__BATTERY_SOC_START];
    figures up = {0}, down = {0}, charge = {0}, more = {0}, fewer = {0};
    snprintf(name, sizeof name, "%.*s, %d slots", (int)(strlen(file) - 5), file, (int)slots);
    for (int32_t t = 0; t < slots; t += step) {
        double was = price[t];
        price[t] = 1.1 * was;
        measure(&g, scenario, last, runs, &up);
        price[t] = 0.9 * was;
        measure(&g, scenario, last, runs, &down);
        price[t] = was;
    }
    line(name, scenario, "a price + 10 %", &up);
    line(name, scenario, "a price - 10 %", &down);
    if (scenario == CKPD_SCENARIO_S6) {
        for (double kwh = 230; kwh <= 270; kwh += 8) {
            double was = *soc;
            *soc = kwh;
            measure(&g, scenario, last, runs, &charge);
            *soc = was;
        }
        line(name, scenario, "SOC +- 20 kWh", &charge);
    }
    ckpd_solution_free(last);
    checkpoints(&g, scenario, 0, runs, &more, &fewer);
    line(name, scenario, "one checkpoint", &more);
    more = (figures){0};
    checkpoints(&g, scenario, 2, runs, &more, &fewer);
    line(name, scenario, "one more than two", &more);
    line(name, scenario, "one less than two", &fewer);
    golden_close(&g);
}

/* The cases are read by code that is made for tests. */
START_TEST(bench)
{
    static const char *const files[] = {"aidc2048-golden.json", "aidc2048-steep.json"};
    static const golden_options hourly = {1, 0, 0}, quarterly = {4, 24, 0};
    const char *given = getenv("RUNS");
    int runs = given != NULL ? atoi(given) : 5;
    runs = runs < 1 ? 1 : runs > MOST_RUNS ? MOST_RUNS : runs;
    puts("| case | scenario | change | cold, ms | warm, ms | ratio | median | least |\n"
         "|---|---|---|---:|---:|---:|---:|---:|");
    for (int f = 0; f < 2; f++) {
        run_case(files[f], CKPD_SCENARIO_S4, &hourly, runs);
        run_case(files[f], CKPD_SCENARIO_S6, &hourly, runs);
    }
    for (int f = 0; f < 2; f++) {
        run_case(files[f], CKPD_SCENARIO_S4, &quarterly, 1);
        run_case(files[f], CKPD_SCENARIO_S6, &quarterly, 1);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("warm start");
    TCase *all = tcase_create("all");
    tcase_add_test(all, bench);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_MINIMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
