/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Re-evaluates the certificate of slot-wise jobs: beginnings of plans are followed slot by slot, in
 * the order of the certificate, and given up where their cost and the multipliers' bound on the
 * rest reach the cutoff. What comes through is a plan below it, and then the claim does not hold.
 */
#include "solver/native/certificate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE ((double)INFINITY)

enum {
    MOST_JOBS = 6,
    MOST_CHOICES = 200000, /* combinations of a slot */
    MOST_STARTS = 2000000, /* beginnings kept at once */
    COMPARED = 64          /* of the last ones kept, with three jobs or more */
};

/* One combination of a slot: its cost and the share of each job's work that it does. */
typedef struct choice {
    double cost, share[MOST_JOBS];
} choice;

/* The beginning of a plan: its cost and the share of each job's work that is still to do. */
typedef struct start {
    double cost, missing[MOST_JOBS];
} start;

typedef struct list {
    start *at;
    int32_t count, room;
} list;

typedef struct checker {
    const ckpd_host *host;
    const ckpd_path_view *view;
    const nat_certificate *proof;
    choice **choice;           /* [slots] by slot */
    int32_t *choices;          /* [slots] */
    double (*most)[MOST_JOBS]; /* [slots + 1] share that the places from here on can do */
    double *rest; /* [slots + 1] least of the slots from here on under their own multipliers */
    double *root; /* [slots + 1] the same under the multipliers of the last row */
    double cutoff, enough; /* in cost of slots; a share below this is none */
} checker;

static const double *row(const checker *c, int32_t at)
{
    return c->proof->multiplier + (size_t)at * (size_t)c->proof->jobs;
}

/* --- combinations
 * ----------------------------------------------------------------------------------- */

/* Tries every mode of job j and of those after it beside what is chosen; counts, and fills `out`.
 */
static int32_t try_modes(const checker *c, int32_t t, int32_t j, choice made, double gpus,
                         double load, choice *out, int32_t count)
{
    const ckpd_path_view *view = c->view;
    if (count > MOST_CHOICES)
        return count;
    if (j == view->jobs) {
        double gpu_cap = view->gpu_cap[t], cap = view->load_cap_kw[t];
        made.cost = ckpd__nat_check_curve(view, t, load);
        if (gpus > gpu_cap + 1e-9 * (1 + fabs(gpu_cap)) || load > cap + 1e-9 * (1 + fabs(cap)) ||
            !(made.cost < NONE))
            return count;
        if (out)
            out[count] = made;
        return count + 1;
    }
    const ckpd_path_job *job = view->job[j];
    gpus += job->fixed_gpus ? job->fixed_gpus[t] : 0;
    load += view->load_factor[t] * (job->fixed_power_kw ? job->fixed_power_kw[t] : 0);
    made.share[j] = 0;
    count = try_modes(c, t, j + 1, made, gpus, load, out, count);
    for (int32_t m = 0; m < job->modes && t >= job->source_slot && t < job->deadline; m++) {
        made.share[j] =
            job->work_required > 0 ? fmin(job->mode_work_per_slot[m] / job->work_required, 1) : 0;
        count = try_modes(c, t, j + 1, made, gpus + job->mode_gpus[m],
                          load + view->load_factor[t] * job->mode_power_kw[m], out, count);
    }
    return count;
}

static int32_t list_choices(checker *c)
{
    for (int32_t t = 0; t < c->view->slots; t++) {
        choice none = {0};
        double base = c->view->base_load_kw[t];
        c->choices[t] = try_modes(c, t, 0, none, 0, base, NULL, 0);
        if (c->choices[t] > MOST_CHOICES)
            return CKPD_ERR_NOT_SUPPORTED;
        c->choice[t] = c->host->allocate((size_t)c->choices[t] * sizeof(choice) + 1, c->host->user);
        if (!c->choice[t])
            return CKPD_ERR_NO_MEMORY;
        try_modes(c, t, 0, none, 0, base, c->choice[t], 0);
    }
    return CKPD_OK;
}

/* --- bounds
 * ------------------------------------------------------------------------------------------ */

static double least_of(const checker *c, int32_t t, const double *multiplier)
{
    double least = NONE;
    for (int32_t i = 0; i < c->choices[t]; i++) {
        const choice *at = &c->choice[t][i];
        double cost = at->cost;
        for (int32_t j = 0; j < c->proof->jobs; j++)
            cost -= fmax(multiplier[j], 0) * at->share[j];
        least = fmin(least, cost);
    }
    return least;
}

static void fill_bounds(checker *c)
{
    int32_t T = c->proof->slots;
    const int32_t *order = c->proof->order;
    memset(c->most[T], 0, sizeof c->most[T]);
    c->root[T] = c->rest[T] = 0;
    for (int32_t at = T - 1; at >= 0; at--) {
        c->root[at] = c->root[at + 1] + least_of(c, order[at], row(c, T + 1));
        c->rest[at] = 0;
        for (int32_t i = at; i < T; i++)
            c->rest[at] += least_of(c, order[i], row(c, at));
        for (int32_t j = 0; j < c->proof->jobs; j++) {
            double most = 0;
            for (int32_t i = 0; i < c->choices[order[at]]; i++)
                most = fmax(most, c->choice[order[at]][i].share[j]);
            c->most[at][j] = c->most[at + 1][j] + most;
        }
    }
}

/* True when no plan below the cutoff begins like this, before place `at`. */
static bool is_hopeless(const checker *c, int32_t at, const start *s)
{
    double root = s->cost + c->root[at], rest = s->cost + c->rest[at];
    const double *all = row(c, c->proof->slots + 1), *own = row(c, at);
    for (int32_t j = 0; j < c->proof->jobs; j++) {
        if (s->missing[j] > c->most[at][j] + c->enough)
            return true;
        root += fmax(all[j], 0) * s->missing[j];
        rest += fmax(own[j], 0) * s->missing[j];
    }
    return fmax(root, rest) >= c->cutoff;
}

/* --- beginnings
 * -------------------------------------------------------------------------------------- */

static int by_missing(const void *left, const void *right)
{
    const start *a = left, *b = right;
    for (int32_t j = 0; j < MOST_JOBS; j++)
        if (a->missing[j] < b->missing[j] || a->missing[j] > b->missing[j])
            return a->missing[j] < b->missing[j] ? -1 : 1;
    return a->cost < b->cost ? -1 : a->cost > b->cost;
}

static bool is_no_better(const start *s, const start *than)
{
    bool worse = s->cost >= than->cost;
    for (int32_t j = 0; j < MOST_JOBS; j++)
        worse = worse && s->missing[j] >= than->missing[j];
    return worse;
}

/*
 * Leaves out beginnings that another one beats in everything. With two jobs, by rising `missing` of
 * the first: `stair` holds the best of those so far, rising in the second job and falling in cost.
 */
static void thin(list *l, start *stair, int32_t jobs)
{
    int32_t kept = 0, steps = 0;
    qsort(l->at, (size_t)l->count, sizeof *l->at, by_missing);
    for (int32_t i = 0; i < l->count; i++) {
        start s = l->at[i];
        bool beaten = false;
        if (jobs > 2) {
            for (int32_t k = kept - 1; k >= 0 && k >= kept - COMPARED && !beaten; k--)
                beaten = is_no_better(&s, &l->at[k]);
        } else {
            int32_t low = 0, high = steps; /* first step with more missing of the second job */
            while (low < high) {
                int32_t middle = low + (high - low) / 2;
                if (stair[middle].missing[1] <= s.missing[1])
                    low = middle + 1;
                else
                    high = middle;
            }
            beaten = low > 0 && stair[low - 1].cost <= s.cost;
            if (!beaten) {
                int32_t end = low, first = low;
                while (end < steps && stair[end].cost >= s.cost)
                    end++;
                if (first > 0 && stair[first - 1].missing[1] >= s.missing[1])
                    first--;
                memmove(stair + first + 1, stair + end, (size_t)(steps - end) * sizeof *stair);
                stair[first] = s;
                steps += first + 1 - end;
            }
        }
        if (!beaten)
            l->at[kept++] = s;
    }
    l->count = kept;
}

static int32_t add(const checker *c, list *l, const start *s)
{
    if (l->count == l->room) {
        if (l->room >= MOST_STARTS)
            return CKPD_ERR_NOT_SUPPORTED;
        int32_t room = l->room ? 2 * l->room : 1024;
        start *more = c->host->allocate((size_t)room * sizeof *more, c->host->user);
        if (!more)
            return CKPD_ERR_NO_MEMORY;
        if (l->at) {
            memcpy(more, l->at, (size_t)l->count * sizeof *more);
            c->host->release(l->at, c->host->user);
        }
        l->at = more;
        l->room = room;
    }
    l->at[l->count++] = *s;
    return CKPD_OK;
}

/* All beginnings one slot longer. */
static int32_t lengthen(const checker *c, int32_t at, const list *from, list *to)
{
    int32_t t = c->proof->order[at], status = CKPD_OK;
    to->count = 0;
    for (int32_t i = 0; i < from->count; i++)
        for (int32_t k = 0; k < c->choices[t] && status == CKPD_OK; k++) {
            start next = from->at[i];
            next.cost += c->choice[t][k].cost;
            for (int32_t j = 0; j < c->proof->jobs; j++)
                next.missing[j] = fmax(next.missing[j] - c->choice[t][k].share[j], 0);
            if (!is_hopeless(c, at + 1, &next))
                status = add(c, to, &next);
        }
    return status;
}

static int32_t follow(checker *c, double *bound)
{
    list now = {0}, next = {0};
    start first = {0};
    for (int32_t j = 0; j < c->proof->jobs; j++)
        first.missing[j] = c->view->job[j]->work_required > 0;
    int32_t status = is_hopeless(c, 0, &first) ? CKPD_OK : add(c, &now, &first);
    for (int32_t at = 0; at < c->proof->slots && status == CKPD_OK && now.count > 0; at++) {
        status = lengthen(c, at, &now, &next);
        start *stair =
            status == CKPD_OK
                ? c->host->allocate(((size_t)next.count + 1) * sizeof *stair, c->host->user)
                : NULL;
        status = status == CKPD_OK && !stair ? CKPD_ERR_NO_MEMORY : status;
        if (stair) {
            thin(&next, stair, c->proof->jobs);
            c->host->release(stair, c->host->user);
        }
        list swap = now;
        now = next;
        next = swap;
    }
    *bound = c->cutoff;
    for (int32_t i = 0; status == CKPD_OK && i < now.count; i++)
        *bound = fmin(*bound, now.at[i].cost);
    if (now.at)
        c->host->release(now.at, c->host->user);
    if (next.at)
        c->host->release(next.at, c->host->user);
    return status;
}

static bool is_an_order(const nat_certificate *proof, double *seen)
{
    for (int32_t t = 0; t < proof->slots; t++)
        seen[t] = 0;
    for (int32_t t = 0; t < proof->slots; t++) {
        if (proof->order[t] < 0 || proof->order[t] >= proof->slots || seen[proof->order[t]] > 0)
            return false;
        seen[proof->order[t]] = 1;
    }
    return true;
}

int32_t ckpd__nat_check_slotwise(const ckpd_host *host, const ckpd_path_view *view,
                                 const nat_certificate *certificate, double *bound)
{
    checker c = {.host = host, .view = view, .proof = certificate};
    size_t T = (size_t)view->slots;
    if (view->jobs > MOST_JOBS || view->storage)
        return CKPD_ERR_NOT_SUPPORTED;
    c.choice = host->allocate(T * sizeof *c.choice, host->user);
    c.choices = host->allocate(T * sizeof *c.choices, host->user);
    c.most = host->allocate((T + 1) * sizeof *c.most, host->user);
    c.rest = host->allocate((T + 1) * sizeof *c.rest, host->user);
    c.root = host->allocate((T + 1) * sizeof *c.root, host->user);
    int32_t status =
        c.choice && c.choices && c.most && c.rest && c.root ? CKPD_OK : CKPD_ERR_NO_MEMORY;
    if (c.choice)
        memset(c.choice, 0, T * sizeof *c.choice);
    if (status == CKPD_OK) {
        /* What rounding can have added to a sum of slots comes off; work is whole units of 2^-46.
         */
        c.cutoff = certificate->cutoff - view->cost_offset;
        if (c.cutoff < NONE)
            c.cutoff -= 1e-12 * (double)(view->slots + 1) * (1 + fabs(c.cutoff));
        c.enough = (double)view->slots * ldexp(1, -46);
        status = is_an_order(certificate, c.rest) ? list_choices(&c) : CKPD_ERR_INCONSISTENT;
    }
    if (status == CKPD_OK) {
        fill_bounds(&c);
        status = follow(&c, bound);
        *bound += view->cost_offset;
    }
    for (size_t t = 0; c.choice && t < T; t++)
        if (c.choice[t])
            host->release(c.choice[t], host->user);
    void *blocks[] = {c.choice, c.choices, c.most, c.rest, c.root};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (blocks[i])
            host->release(blocks[i], host->user);
    return status;
}
