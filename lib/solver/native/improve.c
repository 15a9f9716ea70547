/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Better plans from good ones: all jobs but a few stay as they are in the plan, and the few are a
 * problem of their own beside the load of the rest. With few jobs the bound nearly meets the
 * optimum, so its search ends soon with the best exchange or the proof that there is none.
 */
#include "solver/native/improve.h"
#include "solver/native/search.h"

#include <math.h>
#include <string.h>

/* A gain below this share of the cost is none. */
static const double LEAST_GAIN = 1e-6;

/* The few jobs as a problem: the caps and the load that the others leave. */
typedef struct part {
    nat_model model;
    ckpd_path_view view;
    ckpd_host host;
    ckpd_solve_params params;
    nat_search search;
} part;

static bool build_part(part *p, nat_memory *memory, const nat_exchange *with, const nat_plan *best,
                       const int32_t *free_jobs, int32_t count)
{
    const nat_model *model = with->model;
    size_t T = (size_t)model->slots, n = (size_t)count;
    const ckpd_path_job **jobs = ckpd__nat_alloc(memory, n, sizeof *jobs);
    p->model = *model;
    p->view = *model->view;
    p->model.job = ckpd__nat_alloc(memory, n, sizeof *p->model.job);
    p->model.fixed_kw = ckpd__nat_alloc(memory, T, sizeof *p->model.fixed_kw);
    p->model.gpus_free = ckpd__nat_alloc(memory, T, sizeof *p->model.gpus_free);
    p->model.fixed_gpus = ckpd__nat_alloc(memory, T, sizeof *p->model.fixed_gpus);
    if (!jobs || !p->model.fixed_gpus || !p->model.job || !p->model.fixed_kw || !p->model.gpus_free)
        return false;
    ckpd__nat_primal_sum(with->primal, best);
    for (int32_t i = 0; i < count; i++) {
        p->model.job[i] = model->job[free_jobs[i]];
        jobs[i] = model->view->job[free_jobs[i]];
        ckpd__nat_primal_add(with->primal, free_jobs[i], &best->path[free_jobs[i]], -1);
    }
    for (int32_t t = 0; t < model->slots; t++) {
        p->model.fixed_kw[t] = nat_load(model, t, with->primal->kw[t]);
        p->model.fixed_gpus[t] = model->fixed_gpus[t] + with->primal->gpus[t];
        p->model.gpus_free[t] = model->gpus_free[t] - with->primal->gpus[t];
    }
    p->view.job = jobs;
    p->view.jobs = p->model.jobs = count;
    p->view.start = NULL;
    p->view.prices = NULL;
    p->model.view = &p->view;
    return true;
}

/* Puts the paths of the part's best plan into the whole plan, unless rounding made them look
 * better. */
static bool take_over(part *p, const nat_exchange *with, nat_plan *best, const int32_t *free_jobs,
                      int32_t count)
{
    int32_t slots = with->model->slots;
    double before = best->cost;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < count; i++) {
            nat_path *path = &best->path[free_jobs[i]];
            ckpd__nat_path_copy(&p->search.trial.path[i], path, slots);
            ckpd__nat_path_copy(path, &p->search.best.path[i], slots);
            ckpd__nat_path_copy(&p->search.best.path[i], &p->search.trial.path[i], slots);
        }
        ckpd__nat_primal_cost(with->primal, best);
        if (best->cost < before)
            return true;
    }
    return false;
}

int32_t ckpd__nat_exchange(nat_exchange *with, nat_plan *best, const int32_t *free_jobs,
                           int32_t count, bool *gained)
{
    nat_memory memory = {.host = with->host};
    part p = {.host = *with->host, .params = *with->params};
    *gained = false;
    p.host.report = NULL; /* its costs are not those of a whole plan */
    p.host.keep_prices = NULL;
    p.host.keep_plan = NULL;
    p.params.relative_gap = 0;
    p.params.absolute_gap = LEAST_GAIN * fabs(best->cost);
    p.params.node_limit = with->nodes;
    if (p.params.iteration_limit >= 0)
        p.params.iteration_limit = p.params.iteration_limit > with->iterations
                                       ? p.params.iteration_limit - with->iterations
                                       : 1;
    int32_t status =
        build_part(&p, &memory, with, best, free_jobs, count) ? CKPD_OK : CKPD_ERR_NO_MEMORY;
    if (status == CKPD_OK) {
        memory.host = &p.host;
        status = ckpd__nat_search_init(&p.search, &memory, &p.model, &p.params);
    }
    if (status == CKPD_OK) {
        for (int32_t i = 0; i < count; i++)
            ckpd__nat_path_copy(&p.search.trial.path[i], &best->path[free_jobs[i]],
                                with->model->slots);
        status = ckpd__nat_search_exchange(&p.search);
        with->iterations += p.search.iterations;
        with->stop = p.search.stop == 2 ? 2 : with->stop;
        if (p.search.primal.dispatch.failed || p.search.dual.reservoir.failed || p.search.failed)
            status = CKPD_ERR_NO_MEMORY;
    }
    if (status == CKPD_OK && p.search.best.cost < p.search.start_cost)
        *gained = take_over(&p, with, best, free_jobs, count);
    ckpd__nat_primal_free(&p.search.primal);
    ckpd__nat_dual_free(&p.search.dual);
    ckpd__nat_release(&memory);
    return status == CKPD_ERR_NOT_SUPPORTED ? CKPD_OK : status;
}

int32_t ckpd__nat_choose_jobs(int32_t jobs, int64_t i, int32_t most, int32_t free_jobs[4])
{
    int64_t pairs = (int64_t)jobs * (jobs - 1) / 2;
    if (i < pairs) {
        int32_t a = 0;
        while (i >= jobs - 1 - a)
            i -= jobs - 1 - a++;
        free_jobs[0] = a;
        free_jobs[1] = a + 1 + (int32_t)i;
        return 2;
    }
    uint64_t mix = (uint64_t)i * 0x9E3779B97F4A7C15u;
    int32_t count = jobs <= 3 || i % 2 ? 3 : 4;
    count = count < most ? count : most;
    for (int32_t n = 0; n < count;) {
        mix ^= mix >> 29;
        mix = mix * 6364136223846793005u + 1442695040888963407u;
        int32_t j = (int32_t)((mix >> 33) % (uint64_t)jobs);
        bool taken = false;
        for (int32_t k = 0; k < n; k++)
            taken = taken || free_jobs[k] == j;
        if (!taken)
            free_jobs[n++] = j;
    }
    return count;
}

/* --- in a search -------------------------------------------------------------------------------
 */

/* Until `patience` exchanges in a row gain nothing. */
static bool exchange(nat_search *search, nat_plan *plan, int32_t patience, double bound)
{
    enum { NODES = 20 };
    nat_exchange with = {.model = search->model,
                         .host = search->host,
                         .params = search->params,
                         .primal = &search->primal,
                         .nodes = NODES,
                         .iterations = search->iterations};
    int32_t status = CKPD_OK;
    for (int32_t in_vain = 0; in_vain < patience && status == CKPD_OK &&
                              bound < ckpd__nat_search_cutoff(search) &&
                              !ckpd__nat_search_must_stop(search);) {
        bool gained;
        int32_t free_jobs[4],
            count = ckpd__nat_choose_jobs(search->model->jobs, search->exchanges++, 4, free_jobs);
        status = ckpd__nat_exchange(&with, plan, free_jobs, count, &gained);
        search->iterations = with.iterations;
        in_vain = gained ? 0 : in_vain + 1;
        if (gained && plan == &search->best)
            ckpd__nat_search_report(search);
    }
    return status == CKPD_OK;
}

/* xorshift64 of Marsaglia 2003: [0, 1). */
static double draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* A plan with the activities that the bound's paths mostly have, some of them overlooked at random.
 */
static bool draw_plan(nat_search *search)
{
    const nat_model *model = search->model;
    nat_path_work *work = &search->primal.path_work;
    size_t T = (size_t)model->slots;
    for (int32_t j = 0; j < model->jobs; j++) {
        const nat_job *job = &model->job[j];
        const double *mean = search->mean + search->dual.layout.job[j];
        for (size_t i = 0; i < (size_t)job->activities * T; i++)
            search->primal.price[i] = -mean[i] * draw(&search->random);
        if (!(ckpd__nat_path_solve(work, model, job, search->primal.price, NULL) <
              (double)INFINITY))
            return false;
        ckpd__nat_path_trace(work, model, job, &search->trial.path[j]);
    }
    return true;
}

/* A new plan, and exchanges of its jobs. */
static bool restart(nat_search *search, int32_t patience, double bound)
{
    if (!draw_plan(search))
        return true;
    ckpd__nat_search_offer(search, 3);
    if (!(search->trial.cost < (double)INFINITY))
        return true;
    ckpd__nat_plan_copy(search->model, &search->other, &search->trial);
    if (!exchange(search, &search->other, patience, bound))
        return false;
    if (search->other.cost < search->best.cost) {
        ckpd__nat_plan_copy(search->model, &search->best, &search->other);
        ckpd__nat_search_report(search);
    }
    return true;
}

/*
 * New plans for the root of the windows, until the tree can do with what is left: a third of the
 * gap, where the mixture of windows fixes most of what there is. Or until none gains.
 */
static bool restart_wide(nat_search *search, double bound)
{
    enum { RESTARTS = 12, IN_VAIN = 4 };
    static const double LITTLE = 0.35;
    int32_t jobs = search->model->jobs, patience = jobs * (jobs + 1) / 4, in_vain = 0;
    double aim = search->aim;
    bool ok = true;
    search->aim = (double)INFINITY; /* plans are for the gap that is asked for */
    for (int32_t i = 0; ok && i < RESTARTS && in_vain < IN_VAIN && !search->stop; i++) {
        double before = search->best.cost;
        if (ckpd__nat_search_cutoff(search) - bound <= LITTLE * (before - bound))
            break;
        ok = restart(search, patience, bound);
        in_vain = search->best.cost < before ? 0 : in_vain + 1;
    }
    search->aim = aim;
    return ok;
}

bool ckpd__nat_search_improve(nat_search *search, double bound)
{
    enum { RESTARTS = 6, NEXT = 16, NEXT_RESTART = 64, NEXT_WIDE = 32, LONGEST = 16 };
    int32_t jobs = search->model->jobs, patience = jobs * (jobs + 1) / 2;
    bool again = search->primed && !search->model->storage, ok = true;
    if (search->nested || jobs < 3 || !(search->best.cost < (double)INFINITY))
        return true;
    if (search->nodes == 1 && search->wide)
        return restart_wide(search, bound);
    if (search->nodes == 1) {
        ok = exchange(search, &search->best, patience, bound);
        /* Where windows come next, their mixture is the better one to draw from. */
        again = again && !ckpd__nat_search_has_windows(search);
        for (int32_t i = 0; ok && again && i < RESTARTS && !search->stop; i++)
            ok = restart(search, jobs, bound);
        return ok;
    }
    if (search->nodes % NEXT == 0 && --search->rest <= 0) {
        double before = search->best.cost;
        ok = exchange(search, &search->best, 2, bound);
        /* With few jobs the best plan is soon the optimum, and the tree has the work to do. */
        bool ripe = !search->primed && !(search->best.cost < before);
        search->pause = !ripe ? 1 : search->pause < LONGEST ? 2 * search->pause : LONGEST;
        search->rest = search->pause;
    }
    if (ok && again && search->nodes % (search->wide ? NEXT_WIDE : NEXT_RESTART) == 0 &&
        !search->stop)
        ok = restart(search, jobs, bound);
    return ok;
}
