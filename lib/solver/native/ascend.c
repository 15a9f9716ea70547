/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Subgradient ascent with Polyak's step towards the best plan and a little momentum. */
#include "solver/native/search.h"
#include "solver/native/weave.h"

#include <math.h>
#include <string.h>

/* A gap below this share of the cost is rounding and counts as none. */
static const double LEAST_GAP = 1e-9;

/* Share of the last direction that goes on. */
static const double MOMENTUM = 0.7;

double ckpd__nat_search_cutoff(const nat_search *search)
{
    double best = search->best.cost;
    if (!(best < (double)INFINITY))
        return search->ceiling;
    double wanted =
        fmax(search->params->absolute_gap, search->params->relative_gap * fabs(best)) * 0.999;
    return fmin(best - fmax(wanted, LEAST_GAP * (1 + fabs(best))), search->aim);
}

void ckpd__nat_search_report(nat_search *search)
{
    ckpd__nat_primal_keep(&search->primal, &search->best, search->bound);
    if (search->host->report)
        search->host->report(search->best.cost, search->bound, search->iterations, search->nodes,
                             search->host->user);
}

static void keep_better(nat_search *search)
{
    if (!(search->trial.cost < search->best.cost))
        return;
    ckpd__nat_plan_copy(search->model, &search->best, &search->trial);
    ckpd__nat_search_report(search);
}

/* What the root reaches holds for the whole problem; below it the tree keeps the account. */
static void note_bound(nat_search *search, double reached)
{
    if (search->nodes > 1)
        return;
    search->bound = fmax(search->bound, fmin(reached, ckpd__nat_search_cutoff(search)));
    ckpd__nat_search_report(search);
}

/* Jobs beside a storage that stays, storage beside jobs that stay, in turns while that pays. */
static void alternate(nat_search *search)
{
    nat_plan *trial = &search->trial;
    for (int32_t round = 0; round < 4 && trial->cost < (double)INFINITY; round++) {
        double before = trial->cost;
        search->primal.held = trial->draw;
        ckpd__nat_primal_descend(&search->primal, trial, 3);
        search->primal.held = NULL;
        keep_better(search);
        if (!(trial->cost < before - 1e-9 * fabs(before)))
            return;
    }
}

void ckpd__nat_search_offer(nat_search *search, int32_t passes)
{
    if (search->model->storage)
        memcpy(search->primal.worth, search->dual.worth,
               (size_t)search->model->slots * sizeof *search->primal.worth);
    ckpd__nat_primal_descend(&search->primal, &search->trial, passes);
    keep_better(search);
    if (search->model->storage)
        alternate(search);
}

void ckpd__nat_search_offer_trial(nat_search *search)
{
    ckpd__nat_primal_cost(&search->primal, &search->trial);
    keep_better(search);
}

static void take_paths(nat_search *search)
{
    for (int32_t j = 0; j < search->model->jobs; j++)
        ckpd__nat_path_copy(&search->trial.path[j], &search->dual.path[j], search->model->slots);
}

/* A plan that first follows the mean power of the bound's paths, with a strength that changes each
 * time. */
static void offer_tracking(nat_search *search)
{
    static const double strength[] = {1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001};
    search->pull = (search->pull + 1) % (int32_t)(sizeof strength / sizeof *strength);
    take_paths(search);
    search->primal.pull = search->primal.pull_unit * strength[search->pull];
    ckpd__nat_primal_descend(&search->primal, &search->trial, 3);
    search->primal.pull = 0;
    keep_better(search);
    ckpd__nat_search_offer(search, 4);
}

void ckpd__nat_search_offer_paths(nat_search *search)
{
    take_paths(search);
    ckpd__nat_search_offer_trial(search);
    ckpd__nat_search_offer(search, 3);
    if (search->model->jobs > 2)
        offer_tracking(search);
}

bool ckpd__nat_search_must_stop(nat_search *search)
{
    const ckpd_solve_params *params = search->params;
    search->iterations++;
    search->stop = search->stop ? search->stop : search->primal.stop;
    if (search->stop == 0 && search->host->should_stop)
        search->stop = search->host->should_stop(search->host->user);
    if (search->stop == 0 && params->iteration_limit >= 0 &&
        search->iterations >= params->iteration_limit)
        search->stop = 1;
    return search->stop != 0;
}

/* Where the bound is steered to: the best plan, or without one a little above what is known. */
static double aim(const nat_search *search, double reached, double reach)
{
    if (search->best.cost < (double)INFINITY)
        return search->best.cost;
    return reached + reach;
}

/* The mean power of the paths: a moving average over the evaluations. */
static void move_target(nat_search *search, int32_t round)
{
    const nat_model *model = search->model;
    double weight = round < 20 ? 0.3 : 0.05;
    for (int32_t t = 0; t < model->slots; t++) {
        double kw = 0;
        for (int32_t j = 0; j < model->jobs; j++)
            kw += model->job[j].kw[search->dual.path[j].activity[t]];
        search->primal.target[t] += weight * (kw - search->primal.target[t]);
    }
}

/* Shares of the activities in what jobs and slots choose in this climb, the later choices more. */
static void move_mean(nat_search *search, int32_t round)
{
    const nat_model *model = search->model;
    size_t n = search->dual.layout.size, T = (size_t)model->slots;
    double weight = fmax(1.0 / (round + 1), 0.05);
    for (size_t i = 0; i < n; i++)
        search->mean[i] *= 1 - weight;
    for (int32_t j = 0; j < model->jobs; j++)
        for (size_t t = 0; t < T; t++) {
            double *own = search->mean + search->dual.layout.job[j] + t;
            const int32_t *choice = search->dual.choice + 2 * t * (size_t)model->jobs + (size_t)j;
            double part = search->dual.part[t];
            own[(size_t)search->dual.path[j].activity[t] * T] += 0.5 * weight;
            own[(size_t)choice[0] * T] += 0.5 * (1 - part) * weight;
            if (part > 0)
                own[(size_t)choice[model->jobs] * T] += 0.5 * part * weight;
        }
}

static void take_step(nat_search *search, double length)
{
    size_t n = search->dual.layout.size;
    double *price = search->dual.price;
    const double *direction = search->direction;
    for (size_t i = 0; i < n; i++)
        price[i] += length * direction[i];
}

/* direction = MOMENTUM * direction + subgradient; returns its squared length. */
static double turn(nat_search *search)
{
    size_t n = search->dual.layout.size;
    double *direction = search->direction, square = 0;
    for (size_t i = 0; i < n; i++)
        direction[i] *= MOMENTUM;
    ckpd__nat_dual_direction(&search->dual, direction);
    for (size_t i = 0; i < n; i++)
        square += direction[i] * direction[i];
    return square;
}

/*
 * Counts out the plans that the prices at hand leave, when the gap says that they may be few; after
 * a failure only at half of that gap. True: nothing is left of the node.
 */
static bool finished(nat_search *search, double value, double *gap)
{
    enum { FEW = 4 /* with more jobs free than that, plans are never few */ };
    const nat_model *model = search->model;
    int64_t most = 20000, wide = 400 * (int64_t)model->slots * model->jobs; /* some evaluations */
    double best = search->best.cost;
    if (search->plain || search->model->jobs > FEW ||
        !(best - value <= *gap * fmax(fabs(best), fabs(value))))
        return false;
    *gap = (best - value) / fmax(fabs(best), fabs(value)) / 2;
    return ckpd__nat_search_finish(search, wide > most ? wide : most);
}

/*
 * Nothing is left of the root, but the next solve starts from its prices: a few more steps make
 * them worth keeping.
 */
static bool polished(const nat_search *search, double value, int32_t *steps)
{
    enum { MOST_STEPS = 30 };
    static const double GOOD_GAP = 1e-3;
    return !search->host->keep_prices || search->model->view->prices || search->nodes > 1 ||
           ++*steps > MOST_STEPS || search->best.cost - value <= GOOD_GAP * fabs(search->best.cost);
}

/* Whether the root begins with the prices of an earlier solve. */
static bool is_warm(const nat_search *search)
{
    return search->nodes == 1 && !search->primed && search->model->view->prices;
}

double ckpd__nat_search_climb(nat_search *search, const nat_climb *how)
{
    enum { FIRST_PLANS = 3 /* good prices have good plans: the gap falls from above */ };
    nat_dual *dual = &search->dual;
    size_t bytes = dual->layout.size * sizeof *dual->price;
    double best = -(double)INFINITY, step = how->step, reach = 0, notable = -(double)INFINITY;
    bool warm = is_warm(search);
    double finish = warm ? 2 * how->finish : how->finish;
    int32_t quiet = 0, polish = 0;
    bool done = false;
    memset(search->direction, 0, bytes);
    memcpy(search->best_price, dual->price, bytes);
    for (int32_t round = 0; round < how->rounds && step >= how->least; round++) {
        double value = ckpd__nat_dual_evaluate(dual, search->forbidden);
        if (value > best) {
            best = value;
            memcpy(search->best_price, dual->price, bytes);
        }
        if (warm && round < FIRST_PLANS)
            ckpd__nat_search_offer_paths(search);
        if (best >= ckpd__nat_search_cutoff(search) || ckpd__nat_search_must_stop(search))
            break;
        done = done || (value >= best && finished(search, value, &finish));
        if (done && polished(search, best, &polish))
            break;
        if (!done && how->plans_every && round % how->plans_every == how->plans_every - 1)
            ckpd__nat_search_offer_paths(search);
        move_target(search, round);
        move_mean(search, round);
        double goal = search->best.cost < (double)INFINITY ? search->best.cost : search->ceiling;
        if (best > notable + 1e-2 * fmin(fabs(goal - best), fabs(best)) || round == 0) {
            notable = best;
            note_bound(search, best);
            quiet = 0;
            reach = reach > 0 ? 1.5 * reach : 0.1 * (1 + fabs(best));
        } else if (++quiet > how->patience) {
            quiet = 0;
            step *= 0.7;
            reach *= 0.5;
        }
        double square = turn(search), gain = aim(search, best, reach) - value;
        if (square <= 0)
            break; /* the blocks agree: the bound is the cost of their plan */
        take_step(search, fmax(step * gain, 0) / square);
    }
    memcpy(dual->price, search->best_price, bytes);
    return done ? ckpd__nat_search_cutoff(search) : best;
}

/* What plans follow and splits go by, from the mixture of paths. */
static void take_mixture(nat_search *search, const nat_weave *weave)
{
    const nat_model *model = search->model;
    size_t T = (size_t)model->slots;
    ckpd__nat_weave_mean(weave, search->mean);
    memset(search->primal.target, 0, T * sizeof *search->primal.target);
    for (int32_t j = 0; j < model->jobs; j++)
        for (size_t a = 0; a < (size_t)model->job[j].activities; a++)
            for (size_t t = 0; t < T; t++)
                search->primal.target[t] +=
                    model->job[j].kw[a] * search->mean[search->dual.layout.job[j] + a * T + t];
}

static bool init_answer(nat_answer *answer, nat_memory *memory, const nat_dual *dual)
{
    int32_t jobs = dual->model->jobs, **path = ckpd__nat_alloc(memory, (size_t)jobs, sizeof *path);
    for (int32_t j = 0; path && j < jobs; j++)
        path[j] = dual->path[j].activity;
    *answer = (nat_answer){.jobs = jobs,
                           .slots = dual->model->slots,
                           .layout = &dual->layout,
                           .price = dual->price,
                           .path = path,
                           .path_value = dual->path_value,
                           .choice = dual->choice,
                           .stride = 2 * (size_t)jobs,
                           .slot_value = dual->slot_value};
    return path != NULL;
}

double ckpd__nat_search_weave(nat_search *search, int32_t rounds)
{
    enum { STRANDS = 24, PLANS_EVERY = 2 };
    static const double LEAST_HOPE = 1e-5;
    nat_dual *dual = &search->dual;
    nat_memory memory = {.host = search->host};
    nat_weave weave = {0};
    nat_answer answer;
    size_t bytes = dual->layout.size * sizeof *dual->price;
    double best = -(double)INFINITY;
    memcpy(search->best_price, dual->price, bytes);
    if (!init_answer(&answer, &memory, dual) ||
        !ckpd__nat_weave_init(&weave, &memory, &answer, STRANDS)) {
        search->failed = true;
        rounds = 0;
    }
    for (int32_t round = 0; round < rounds; round++) {
        double value = ckpd__nat_dual_evaluate(dual, search->forbidden), length = 0;
        if (value > best) {
            best = value;
            memcpy(search->best_price, dual->price, bytes);
            note_bound(search, best);
        }
        if (best >= ckpd__nat_search_cutoff(search) || ckpd__nat_search_must_stop(search))
            break;
        if (round == 0) {
            memset(search->direction, 0, bytes);
            double square = turn(search);
            length = square > 0 ? fmax(search->best.cost - value, 0) / square : 0;
        }
        answer.value = value;
        ckpd__nat_weave_add(&weave, length);
        double hope = fmax(weave.gain + weave.miss, weave.miss);
        if (round > 0 && hope <= LEAST_HOPE * fabs(best))
            break;
        ckpd__nat_weave_next(&weave, dual->price);
        if (round % PLANS_EVERY == PLANS_EVERY - 1) {
            take_mixture(search, &weave);
            ckpd__nat_search_offer_paths(search);
        }
    }
    if (weave.started)
        take_mixture(search, &weave);
    memcpy(dual->price, search->best_price, bytes);
    ckpd__nat_release(&memory);
    return best;
}
