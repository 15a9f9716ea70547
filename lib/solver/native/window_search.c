/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The search with prices of changes: its root climbs by bundles, and so does every node. */
#include "solver/native/search.h"
#include "solver/native/tree.h"
#include "solver/native/window.h"

#include <math.h>
#include <string.h>

/* Of the gap, for the aim of a stage: when the bound of the root has yet to rise, and later. */
static const double FIRST_SHARE = 0.5, NEXT_SHARE = 0.3;

enum { ROOT_STRANDS = 60, NODE_STRANDS = 100, ROOT_ROUNDS = 300, NODE_ROUNDS = 20 };

typedef struct nat_wide {
    nat_search *search;
    nat_window window;
    nat_weave root, node; /* bundles: of the root, from which every node starts, and of the node */
    double *best_price;   /* [layout.size] */
    double *root_price;   /* [layout.size] the best of the root */
    uint8_t *open;        /* [layout.size] what is forbidden from the start */
    int32_t stage;
    double gap; /* at the start: the scale of the prices' steps */
} nat_wide;

bool ckpd__nat_search_has_windows(const nat_search *search)
{
    enum { LEAST_JOBS = 7 /* fewer are proven by activities alone */ };
    return search->model->jobs >= LEAST_JOBS && !search->nested &&
           search->params->node_limit != 1 && search->best.cost < (double)INFINITY &&
           ckpd__nat_window_fits(search->model, &search->stack);
}

static bool init(nat_wide *wide, nat_memory *memory, nat_search *search)
{
    nat_window *window = &wide->window;
    *wide = (nat_wide){.search = search};
    if (!ckpd__nat_window_init(window, memory, search->model, &search->stack))
        return false;
    ckpd__nat_window_take(window, &search->dual.layout, search->dual.price, search->forbidden);
    wide->best_price = ckpd__nat_alloc(memory, window->layout.size, sizeof *wide->best_price);
    wide->root_price = ckpd__nat_alloc(memory, window->layout.size, sizeof *wide->root_price);
    wide->open = ckpd__nat_alloc(memory, window->layout.size, sizeof *wide->open);
    if (!wide->best_price || !wide->root_price || !wide->open ||
        !ckpd__nat_weave_init(&wide->root, memory, &window->answer, ROOT_STRANDS) ||
        !ckpd__nat_weave_init(&wide->node, memory, &window->answer, NODE_STRANDS))
        return false;
    memcpy(wide->open, window->forbidden, window->layout.size);
    memcpy(wide->root_price, window->price, window->layout.size * sizeof *window->price);
    nat_certificate *certificate = search->certificate;
    if (certificate) {
        certificate->windows = 1;
        certificate->prices = window->layout.size;
        memcpy(certificate->offset, window->layout.job,
               (size_t)search->model->jobs * sizeof *certificate->offset);
    }
    return true;
}

/* --- what is left
 * ------------------------------------------------------------------------------------------- */

/* Writes the node with the best prices into the certificate; what comes next is all of it. */
static void record(nat_wide *wide)
{
    nat_search *search = wide->search;
    if (!search->certificate || search->lost_proof)
        return;
    nat_proof *node = ckpd__nat_certificate_add(search->certificate), at = search->at;
    if (!node) {
        search->lost_proof = true;
        return;
    }
    at.price = node->price;
    at.worth = node->worth;
    *node = at;
    memcpy(node->price, wide->best_price, wide->window.layout.size * sizeof *node->price);
    search->at = (nat_proof){.parent = search->certificate->nodes - 1, .job = NAT_WHOLE};
}

/* Forbids what no plan below the cutoff has, by the best prices. Returns the bound there. */
static double fix(nat_wide *wide)
{
    nat_search *search = wide->search;
    nat_window *window = &wide->window;
    memcpy(window->price, wide->best_price, window->layout.size * sizeof *window->price);
    double bound = ckpd__nat_window_evaluate(window, search->host, &search->stop);
    record(wide);
    if (!(bound < ckpd__nat_search_cutoff(search)) ||
        !ckpd__nat_window_excess(window, search->host, &search->stop))
        return bound;
    double room = ckpd__nat_search_cutoff(search) - bound;
    for (size_t i = 0; i < window->layout.size; i++)
        if (!window->forbidden[i] && window->excess[i] >= room + 1e-9 * fabs(bound))
            window->forbidden[i] = 1;
    return bound;
}

/* --- climbing
 * -----------------------------------------------------------------------------------------------
 */

/* What plans follow and splits go by: shares of the activities in the mixtures. */
static void take_mixture(nat_wide *wide, const nat_weave *weave)
{
    nat_search *search = wide->search;
    const nat_model *model = search->model;
    size_t T = (size_t)model->slots;
    int32_t J = model->jobs, n = wide->window.windows;
    memset(search->mean, 0, search->dual.layout.size * sizeof *search->mean);
    memset(search->primal.target, 0, T * sizeof *search->primal.target);
    for (int32_t b = 0; b < weave->blocks; b++)
        for (int32_t i = 0; i < weave->strands[b]; i++)
            for (int32_t e = 0; e < (b < J ? n : J); e++) {
                int32_t j = b < J ? b : e, t = b < J ? e : b - J;
                int32_t A = model->job[j].activities, change = weave->strand[b][i].activity[e];
                double share = 0.5 * weave->strand[b][i].share;
                double *own = search->mean + search->dual.layout.job[j] + (size_t)t;
                own[(size_t)(change / A) * T] += share;
                if (t == n - 1)
                    own[(size_t)(change % A) * T + 1] += share;
                if (b < J)
                    search->primal.target[t] += 2 * share * model->job[j].kw[change / A];
                if (b < J && t == n - 1)
                    search->primal.target[t + 1] += 2 * share * model->job[j].kw[change % A];
            }
}

/* Plans from the paths of the last evaluation. */
static void offer_paths(nat_wide *wide)
{
    nat_search *search = wide->search;
    for (int32_t j = 0; j < search->model->jobs; j++)
        ckpd__nat_path_copy(&search->dual.path[j], &wide->window.path[j], search->model->slots);
    ckpd__nat_search_offer_paths(search);
}

/* One evaluation; true when the climb ends with it. */
static bool evaluate(nat_wide *wide, double *best)
{
    nat_search *search = wide->search;
    nat_window *window = &wide->window;
    double value = ckpd__nat_window_evaluate(window, search->host, &search->stop);
    if (value > *best) {
        *best = value;
        memcpy(wide->best_price, window->price, window->layout.size * sizeof *window->price);
    }
    return *best >= ckpd__nat_search_cutoff(search) || ckpd__nat_search_must_stop(search);
}

/*
 * The stages of a search: the first cutoffs lie below the one that is asked for, because the less
 * room there is above the bound, the more is forbidden, and trees for a part of the gap are small.
 */
static void set_aim(nat_search *search, double bound, double share)
{
    static const double WORTH = 1.3, LEAST = 1e-4;
    search->aim = (double)INFINITY;
    double gap = search->best.cost - bound, cutoff = ckpd__nat_search_cutoff(search);
    if (cutoff - bound > WORTH * share * gap && gap > LEAST * fabs(search->best.cost))
        search->aim = bound + share * gap;
}

/* The plan may be another one by now. Never higher: plans above the old aim may have changes that
 * are forbidden already. */
static void lower_aim(nat_search *search, double bound)
{
    double before = search->aim;
    set_aim(search, bound, NEXT_SHARE);
    search->aim = fmin(search->aim, before);
}

/*
 * Raises the bound of the root. Steps of half a percent of the gap per share would follow from the
 * first disagreement of the blocks; the prices of changes want far longer ones.
 */
static double climb_root(nat_wide *wide)
{
    enum { FIRST_FIX = 100, FIX_EVERY = 25, LONGER = 60, PLANS_EVERY = 5 };
    static const double STEP = 0.06, LEAST_GAIN = 0.05;
    nat_search *search = wide->search;
    nat_weave *weave = &wide->root;
    double best = -(double)INFINITY, fixed = best;
    bool first = wide->stage == 0;
    memcpy(wide->window.forbidden, wide->open, wide->window.layout.size);
    memcpy(wide->window.price, wide->root_price,
           wide->window.layout.size * sizeof *wide->root_price);
    memcpy(wide->best_price, wide->root_price, wide->window.layout.size * sizeof *wide->root_price);
    weave->started = false;
    for (int32_t round = 1; round <= ROOT_ROUNDS; round++) {
        bool ends = evaluate(wide, &best);
        search->bound = fmax(search->bound, fmin(best, ckpd__nat_search_cutoff(search)));
        if (ends)
            break;
        ckpd__nat_weave_add(weave, (first ? STEP : 2 * STEP) * wide->gap);
        if (first && round == LONGER)
            weave->length *= 2;
        if (round % PLANS_EVERY == 0) {
            take_mixture(wide, weave);
            offer_paths(wide);
        }
        if (first && round == FIRST_FIX)
            set_aim(search, best, FIRST_SHARE);
        if ((!first || round >= FIRST_FIX) && round % FIX_EVERY == 0) {
            ckpd__nat_search_report(search);
            fix(wide);
            ckpd__nat_weave_forbid(weave, wide->window.forbidden);
            if (search->stop ||
                best - fixed < LEAST_GAIN * (ckpd__nat_search_cutoff(search) - best))
                break;
            fixed = best;
        }
        ckpd__nat_weave_next(weave, wide->window.price);
    }
    memcpy(wide->root_price, wide->best_price, wide->window.layout.size * sizeof *wide->root_price);
    return best;
}

/* The same for a node below it, from the bundle of the root. One that is stopped at once has the
 * prices of its parent as the best ones. */
static double climb_node(nat_wide *wide)
{
    static const double STEP = 0.08;
    nat_weave *weave = &wide->node;
    double best = -(double)INFINITY;
    memcpy(wide->best_price, wide->window.price,
           wide->window.layout.size * sizeof *wide->best_price);
    ckpd__nat_weave_copy(weave, &wide->root);
    ckpd__nat_weave_forbid(weave, wide->window.forbidden);
    for (int32_t round = 1; round <= NODE_ROUNDS && !evaluate(wide, &best); round++) {
        ckpd__nat_weave_add(weave, STEP * wide->gap);
        if (round == NODE_ROUNDS / 2) {
            fix(wide);
            ckpd__nat_weave_forbid(weave, wide->window.forbidden);
        }
        ckpd__nat_weave_next(weave, wide->window.price);
    }
    return best;
}

/* --- the tree
 * -----------------------------------------------------------------------------------------------
 */

/* What the changes that are left say of the activities, for the choice of a split. */
static void project(nat_wide *wide)
{
    nat_search *search = wide->search;
    const nat_window *window = &wide->window;
    size_t T = (size_t)search->model->slots, n = (size_t)window->windows;
    for (size_t i = 0; i < search->dual.layout.size; i++) {
        search->forbidden[i] = 1;
        search->excess[i] = (double)INFINITY;
    }
    for (int32_t j = 0; j < search->model->jobs; j++) {
        size_t A = (size_t)search->model->job[j].activities;
        for (size_t i = 0; i < A * A * n; i++) {
            size_t t = i % n, at = window->layout.job[j] + i, base = search->dual.layout.job[j];
            size_t both[2] = {base + i / n / A * T + t, base + i / n % A * T + t + 1};
            for (int side = 0; side < 2 && !window->forbidden[at]; side++) {
                search->forbidden[both[side]] = 0;
                search->excess[both[side]] = fmin(search->excess[both[side]], window->excess[at]);
            }
        }
    }
}

/* Pushes one side of a split. */
static bool push_side(nat_tree *tree, nat_wide *wide, nat_split split, int32_t side, double bound)
{
    nat_search *search = wide->search;
    const nat_window *window = &wide->window;
    const nat_job *job = &search->model->job[split.job];
    int32_t A = job->activities, n = window->windows, parent = search->at.parent;
    uint8_t *here = window->forbidden + window->layout.job[split.job];
    nat_memory scratch = {.host = search->host};
    size_t bytes = (size_t)(A * A) * (size_t)n;
    uint8_t *kept = ckpd__nat_alloc(&scratch, bytes, 1);
    if (!kept)
        return false;
    memcpy(kept, here, bytes);
    for (int32_t c = 0; c < A * A; c++)
        for (int second = 0; second < 2; second++) {
            int32_t t = split.slot - second, a = second ? c % A : c / A;
            if (t >= 0 && t < n && ckpd__nat_split_up_to(job, a, split.cut) != (side == 0))
                here[(size_t)c * (size_t)n + (size_t)t] = 1;
        }
    nat_proof at = {.parent = parent,
                    .job = split.job,
                    .slot = split.slot,
                    .side = side,
                    .gpus = job->gpus[split.cut],
                    .kw = job->kw[split.cut]};
    bool ok = ckpd__nat_tree_push(tree, bound, &at, wide->best_price, window->forbidden);
    memcpy(here, kept, bytes);
    ckpd__nat_release(&scratch);
    return ok;
}

/* What the climb of a node has left open: better plans, and both sides of a split. */
static bool branch(nat_tree *tree, nat_wide *wide, const nat_weave *weave, double bound)
{
    nat_search *search = wide->search;
    if (search->stop || bound >= ckpd__nat_search_cutoff(search)) {
        record(wide);
        return !search->stop || ckpd__nat_tree_push(tree, bound, &search->at, wide->best_price,
                                                    wide->window.forbidden);
    }
    take_mixture(wide, weave);
    offer_paths(wide);
    if (!ckpd__nat_search_improve(search, bound))
        return false;
    if (search->nodes == 1 && search->aim < (double)INFINITY)
        lower_aim(search, bound);
    bound = fmax(bound, fix(wide));
    if (search->stop)
        return ckpd__nat_tree_push(tree, bound, &search->at, wide->best_price,
                                   wide->window.forbidden);
    if (bound >= ckpd__nat_search_cutoff(search))
        return true;
    project(wide);
    nat_split split = ckpd__nat_search_choose_split(search, bound);
    if (split.job < 0) { /* one way is left, or none */
        if (ckpd__nat_window_evaluate(&wide->window, search->host, &search->stop) <
            (double)INFINITY)
            offer_paths(wide);
        record(wide);
        return true;
    }
    return push_side(tree, wide, split, 0, bound) && push_side(tree, wide, split, 1, bound);
}

/* The root, then the node with the least bound, up to the cutoff of the stage. */
static bool explore(nat_wide *wide, nat_tree *tree)
{
    nat_search *search = wide->search;
    search->at = (nat_proof){.parent = -1, .job = NAT_WHOLE};
    double bound = climb_root(wide);
    bool ok = branch(tree, wide, &wide->root, bound);
    while (ok && tree->count > 0 && !search->stop) {
        double known = tree->heap[0].bound, cutoff = ckpd__nat_search_cutoff(search);
        search->bound = fmax(search->bound, fmin(known, cutoff));
        ckpd__nat_search_report(search);
        if (known >= cutoff && !search->certificate)
            break; /* a certificate wants prices for every node */
        if (search->params->node_limit >= 0 && search->nodes >= search->params->node_limit) {
            search->stop = 1;
            break;
        }
        ckpd__nat_tree_pop(tree, &search->at, wide->window.price, wide->window.forbidden);
        search->nodes++;
        bound = climb_node(wide);
        if (!search->certificate) /* which wants to see it in the prices */
            bound = fmax(bound, known);
        ok = branch(tree, wide, &wide->node, bound);
    }
    return ok;
}

/* One stage; the certificate holds the one that proves most. */
static bool run_stage(nat_wide *wide)
{
    nat_search *search = wide->search;
    nat_certificate *certificate = search->certificate;
    int32_t mark = certificate ? certificate->nodes : 0;
    double before = search->bound;
    nat_tree tree = ckpd__nat_tree_start(search->host, wide->window.layout.size, true);
    bool ok = explore(wide, &tree);
    double open = tree.count > 0 ? tree.heap[0].bound : (double)INFINITY;
    search->bound = fmax(search->bound, fmin(open, ckpd__nat_search_cutoff(search)));
    if (certificate && mark > 0 && search->bound > before)
        ckpd__nat_certificate_keep(certificate, mark, certificate->nodes);
    else if (certificate && mark > 0)
        ckpd__nat_certificate_keep(certificate, 0, mark);
    ckpd__nat_tree_free(&tree);
    return ok;
}

bool ckpd__nat_search_windows(nat_search *search)
{
    nat_memory memory = {.host = search->host};
    nat_wide wide;
    bool ok = init(&wide, &memory, search);
    if (ok)
        wide.gap = search->best.cost - search->bound;
    for (bool more = true; ok && more; wide.stage++) {
        if (wide.stage > 0)
            set_aim(search, search->bound, NEXT_SHARE);
        ok = run_stage(&wide);
        more = search->aim < (double)INFINITY && !search->stop;
    }
    search->aim = (double)INFINITY;
    ckpd__nat_release(&memory);
    return ok;
}
