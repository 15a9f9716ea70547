/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/search.h"
#include "solver/native/improve.h"
#include "solver/native/tree.h"
#include "solver/native/warm.h"

#include <math.h>
#include <string.h>

enum { ROOT_ROUNDS = 1000 };

int32_t ckpd__nat_search_init(nat_search *search, nat_memory *memory, const nat_model *model,
                              const ckpd_solve_params *params)
{
    enum { MOST_LEVELS = 100000 };
    bool exact;
    memset(search, 0, sizeof *search);
    search->model = model;
    search->host = memory->host;
    search->random = 1;
    search->pause = 1;
    search->params = params;
    search->bound = -(double)INFINITY;
    search->aim = (double)INFINITY;
    search->ceiling = ckpd__nat_cost_ceiling(model);
    int32_t status = ckpd__nat_stack_build(&search->stack, memory, model, MOST_LEVELS, &exact);
    if (status != CKPD_OK || !exact)
        return status != CKPD_OK ? status : CKPD_ERR_NOT_SUPPORTED;
    status = ckpd__nat_dual_init(&search->dual, memory, model, &search->stack);
    size_t n = search->dual.layout.size, T = (size_t)model->slots;
    if (status != CKPD_OK)
        return status;
    search->direction = ckpd__nat_alloc(memory, n, sizeof *search->direction);
    search->best_price = ckpd__nat_alloc(memory, n, sizeof *search->best_price);
    search->excess = ckpd__nat_alloc(memory, n, sizeof *search->excess);
    search->scratch = ckpd__nat_alloc(memory, n + T, sizeof *search->scratch);
    search->mean = ckpd__nat_alloc(memory, n, sizeof *search->mean);
    search->forbidden = ckpd__nat_alloc(memory, n, 1);
    return search->direction && search->mean && search->best_price && search->excess &&
                   search->scratch && search->forbidden &&
                   ckpd__nat_primal_init(&search->primal, memory, model) &&
                   ckpd__nat_plan_init(&search->best, memory, model) &&
                   ckpd__nat_plan_init(&search->other, memory, model) &&
                   ckpd__nat_plan_init(&search->trial, memory, model)
               ? CKPD_OK
               : CKPD_ERR_NO_MEMORY;
}

static bool push_node(nat_tree *tree, const nat_search *search, double bound)
{
    return ckpd__nat_tree_push(tree, bound, &search->at, search->dual.price, search->forbidden);
}

/* --- fixing and splitting
 * --------------------------------------------------------------------------- */

/* Forbids every activity that no plan below the cutoff can have; returns the bound above which the
 * excesses count. */
static double fix(nat_search *search)
{
    double bound = ckpd__nat_dual_excess(&search->dual, search->excess, search->scratch);
    double room = ckpd__nat_search_cutoff(search) - bound;
    for (size_t i = 0; i < search->dual.layout.size; i++)
        if (!search->forbidden[i] && search->excess[i] >= room + 1e-9 * fabs(bound))
            search->forbidden[i] = 1;
    return bound;
}

bool ckpd__nat_split_up_to(const nat_job *job, int32_t a, int32_t cut)
{
    return job->kw[a] < job->kw[cut] ||
           (!(job->kw[a] > job->kw[cut]) && job->gpus[a] <= job->gpus[cut]);
}

/*
 * Splits of one job's activities in one slot: by how much power the choices of late disagree across
 * it, and where they agree, by how far both sides rise. (At the best prices one side does not rise
 * at all, so that rises alone choose splits which leave the bound as it is.)
 */
static void try_splits(const nat_search *search, int32_t j, int32_t t, double room, nat_split *best)
{
    const nat_job *job = &search->model->job[j];
    size_t T = (size_t)search->model->slots, base = search->dual.layout.job[j] + (size_t)t;
    for (int32_t cut = 0; cut < job->activities; cut++) {
        double share[2] = {0, 0}, kw[2] = {0, 0};
        double rise[2] = {room, room};
        int32_t open[2] = {0, 0};
        if (search->forbidden[base + (size_t)cut * T])
            continue;
        for (int32_t a = 0; a < job->activities; a++) {
            size_t i = base + (size_t)a * T;
            int side = !ckpd__nat_split_up_to(job, a, cut);
            if (search->forbidden[i])
                continue;
            open[side]++;
            rise[side] = fmin(rise[side], search->excess[i]);
            share[side] += search->mean[i];
            kw[side] += search->mean[i] * job->kw[a];
        }
        if (!open[0] || !open[1])
            continue;
        double score = share[0] > 0 && share[1] > 0 ? share[0] * kw[1] - share[1] * kw[0] : 0;
        score += 1e-6 * (rise[0] / room + 1e-3) * (rise[1] / room + 1e-3);
        if (score > best->score)
            *best = (nat_split){j, t, cut, score};
    }
}

nat_split ckpd__nat_search_choose_split(const nat_search *search, double bound)
{
    nat_split best = {-1, 0, 0, -1};
    double room = fmax(ckpd__nat_search_cutoff(search) - bound, 1e-12);
    for (int32_t j = 0; j < search->model->jobs; j++)
        for (int32_t t = 0; t < search->model->slots; t++)
            try_splits(search, j, t, room, &best);
    return best;
}

/*
 * Pushes both sides of a split of the node that the certificate knows as `parent`. The excesses lie
 * above `base_bound`, that of the prices at hand; `bound` may come from other prices and be higher.
 */
static bool branch(nat_tree *tree, nat_search *search, nat_split split, double base_bound,
                   double bound, int32_t parent)
{
    const nat_job *job = &search->model->job[split.job];
    size_t T = (size_t)search->model->slots,
           base = search->dual.layout.job[split.job] + (size_t)split.slot;
    uint8_t *kept = (uint8_t *)search->scratch;
    for (int side = 0; side < 2; side++) {
        double least = (double)INFINITY;
        for (int32_t a = 0; a < job->activities; a++) {
            size_t i = base + (size_t)a * T;
            bool here = ckpd__nat_split_up_to(job, a, split.cut) == (side == 0);
            kept[a] = search->forbidden[i];
            if (here && !kept[a])
                least = fmin(least, search->excess[i]);
            search->forbidden[i] = here ? kept[a] : 1;
        }
        search->at = (nat_proof){.parent = parent,
                                 .job = split.job,
                                 .slot = split.slot,
                                 .side = side,
                                 .gpus = job->gpus[split.cut],
                                 .kw = job->kw[split.cut]};
        bool ok = push_node(tree, search, fmax(bound, base_bound + least));
        for (int32_t a = 0; a < job->activities; a++)
            search->forbidden[base + (size_t)a * T] = kept[a];
        if (!ok)
            return false;
    }
    return true;
}

/* --- the search
 * ---------------------------------------------------------------------------------------- */

/* A plan from nothing or from the caller's; with storage, the worth of energy that its dispatch
 * finds leads to the next. */
static void first_plan(nat_search *search)
{
    const nat_model *model = search->model;
    size_t T = (size_t)model->slots;
    bool started = ckpd__nat_primal_start(&search->primal, &search->trial);
    if (started)
        ckpd__nat_search_offer_trial(search);
    if (model->storage)
        memcpy(search->dual.worth, search->primal.found_worth, T * sizeof *search->dual.worth);
    /* With prices at hand the first evaluation of the bound finds what there is to be found. */
    bool warm = started && model->view->prices && search->trial.cost < (double)INFINITY;
    int32_t rounds = !model->storage || warm ? 1 : 4;
    for (int32_t round = 0; round < rounds; round++) {
        ckpd__nat_search_offer(search, 10);
        if (!model->storage || !(search->trial.cost < (double)INFINITY))
            break;
        memcpy(search->dual.worth, search->primal.found_worth, T * sizeof *search->dual.worth);
    }
}

/* Cost of a slot, with the storage in its best use under the worths known so far. */
static double slot_answer(const nat_search *search, int32_t t, double kw)
{
    const nat_model *model = search->model;
    double load = nat_load(model, t, kw), draw;
    return model->storage ? ckpd__nat_storage_slot(model, t, load, search->dual.worth[t], &draw)
                          : ckpd__nat_curve(model, t, load);
}

/*
 * What a kW of a job can cost in each slot before it counts as a fine for a limit: a few times what
 * the plan so far pays there, or in the mean slot. A fine in the first prices would take thousands
 * of steps to come down.
 */
static void usual_costs(nat_search *search, double *most)
{
    static const double TIMES = 3;
    const nat_model *model = search->model;
    double mean = 0;
    for (int32_t t = 0; t < model->slots; t++) {
        double kw = 0;
        for (int32_t j = 0; j < model->jobs; j++)
            kw += model->job[j].kw[search->trial.path[j].activity[t]];
        double paid =
            kw > 0 ? (slot_answer(search, t, kw) - slot_answer(search, t, 0.9 * kw)) / (0.1 * kw)
                   : 0;
        most[t] = isfinite(paid) ? fmax(paid, 0) : 0;
        mean += most[t] / model->slots;
    }
    for (int32_t t = 0; t < model->slots; t++)
        most[t] = TIMES * fmax(most[t], mean);
}

/* First prices: what each activity costs beside the mean load of the other jobs in the best plan so
 * far. */
static void first_prices(nat_search *search)
{
    const nat_model *model = search->model;
    double *most = search->scratch;
    usual_costs(search, most);
    const nat_plan *plan = &search->trial;
    size_t T = (size_t)model->slots;
    for (int32_t j = 0; j < model->jobs; j++) {
        const nat_job *job = &model->job[j];
        double others = 0;
        for (int32_t i = 0; i < model->jobs; i++)
            for (size_t t = 0; i != j && t < T; t++)
                others += model->job[i].kw[plan->path[i].activity[t]] / (double)T;
        for (int32_t t = 0; t < model->slots; t++) {
            double idle = slot_answer(search, t, others);
            for (int32_t a = 0; a < job->activities; a++) {
                double cost = slot_answer(search, t, others + job->kw[a]) - idle;
                search->dual.price[search->dual.layout.job[j] + (size_t)a * T + (size_t)t] =
                    isfinite(cost) ? fmin(cost, most[t] * job->kw[a]) : 0;
            }
        }
    }
}

/* Before its release and after its deadline a job idles: no slot need think of anything else. */
static void forbid_outside(nat_search *search)
{
    const nat_model *model = search->model;
    size_t T = (size_t)model->slots;
    for (int32_t j = 0; j < model->jobs; j++) {
        const nat_job *job = &model->job[j];
        for (size_t a = 1; a < (size_t)job->activities; a++) {
            uint8_t *own = search->forbidden + search->dual.layout.job[j] + a * T;
            memset(own, 1, (size_t)job->source_slot);
            memset(own + job->deadline, 1, T - (size_t)job->deadline);
        }
    }
}

/* Handles the node at hand; pushes what remains of it. */
static bool expand(nat_tree *tree, nat_search *search, const nat_climb *how, double known)
{
    search->nodes++;
    double bound = fmax(known, search->primed && search->nodes == 1 && !search->model->storage
                                   ? ckpd__nat_search_weave(search, ROOT_ROUNDS)
                                   : ckpd__nat_search_climb(search, how));
    if (search->nodes == 1)
        search->failed = !ckpd__nat_keep_search(search) || search->failed;
    if (search->stop)
        return push_node(tree, search, bound);
    if (bound >= ckpd__nat_search_cutoff(search)) {
        ckpd__nat_search_record(search);
        return true;
    }
    if (!ckpd__nat_search_improve(search, bound))
        return false;
    if (search->nodes == 1 && bound < ckpd__nat_search_cutoff(search) &&
        ckpd__nat_search_has_windows(search)) {
        search->wide = true;
        search->bound = fmax(search->bound, bound);
        return true;
    }
    bool empty = !(ckpd__nat_dual_evaluate(&search->dual, search->forbidden) < (double)INFINITY);
    int32_t number = ckpd__nat_search_record(search);
    if (empty || bound >= ckpd__nat_search_cutoff(search))
        return true;
    ckpd__nat_search_offer_paths(search);
    double base = fix(search);
    nat_split split = ckpd__nat_search_choose_split(search, base);
    if (split.job >= 0)
        return branch(tree, search, split, base, bound, number);
    /* One way is left, which the offer above has costed. */
    ckpd__nat_search_record_leaf(search, number);
    return true;
}

/* The tree: its root with `root` as effort, then the node with the least bound. */
static int32_t explore(nat_search *search, const nat_climb *root)
{
    static const nat_climb inner = {25, 4, 1.5, 0.1, 0, 0.005};
    nat_tree tree = ckpd__nat_tree_start(search->host, search->dual.layout.size, false);
    search->at.parent = -1;
    if (!search->plain)
        forbid_outside(search);
    if (!search->primed && !ckpd__nat_warm_search(search)) {
        first_prices(search);
        ckpd__nat_warm_search(search);
    }
    bool ok = expand(&tree, search, root, -(double)INFINITY);
    if (ok && search->wide)
        return ckpd__nat_search_windows(search) ? CKPD_OK : CKPD_ERR_NO_MEMORY;
    while (ok && tree.count > 0 && !search->stop) {
        double bound = tree.heap[0].bound;
        search->bound = fmax(search->bound, fmin(bound, ckpd__nat_search_cutoff(search)));
        if (bound >= ckpd__nat_search_cutoff(search) && !search->certificate)
            break; /* a certificate wants prices for every node */
        if (search->params->node_limit >= 0 && search->nodes >= search->params->node_limit) {
            search->stop = 1;
            break;
        }
        ckpd__nat_tree_pop(&tree, &search->at, search->dual.price, search->forbidden);
        ok = expand(&tree, search, &inner, bound);
    }
    if (ok) {
        double open = tree.count > 0 ? tree.heap[0].bound : (double)INFINITY;
        search->bound = fmax(search->bound, fmin(open, ckpd__nat_search_cutoff(search)));
    }
    ckpd__nat_tree_free(&tree);
    return ok ? CKPD_OK : CKPD_ERR_NO_MEMORY;
}

int32_t ckpd__nat_search_run(nat_search *search)
{
    static const nat_climb pair = {2000, 12, 1, 0.3, 10, 0.02},
                           several = {2000, 20, 1, 0.05, 10, 0.005};
    if (!search->primed)
        first_plan(search);
    return explore(search, search->model->jobs > 2 ? &several : &pair);
}

int32_t ckpd__nat_search_exchange(nat_search *search)
{
    static const nat_climb root = {150, 8, 1, 0.1, 10, 0.02};
    search->nested = true;
    ckpd__nat_search_offer_trial(search);
    search->start_cost = search->best.cost;
    if (search->model->storage)
        memcpy(search->dual.worth, search->primal.found_worth,
               (size_t)search->model->slots * sizeof *search->dual.worth);
    return explore(search, &root);
}
