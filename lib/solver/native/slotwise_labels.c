/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/slotwise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct nat_label {
    double cost, bound;
    int64_t work[NAT_SLOTWISE_JOBS];
    int32_t parent, combination;
} nat_label;

typedef struct nat_step {
    int32_t parent, combination;
} nat_step;

typedef struct nat_front {
    nat_label *label;
    int32_t count, room;
} nat_front;

typedef struct nat_pass {
    const nat_slotwise *s;
    nat_front now, next;
    nat_step **trace; /* [slots + 1] how each label of a stage came about */
    double *least;    /* [room] for dominance */
    int64_t *rank;    /* [room] */
    int32_t width;
    double cutoff, left_out;
} nat_pass;

/* Cost of what is missing under the multipliers of the stages ahead. */
static double bound_of(const nat_slotwise *s, int32_t stage, const nat_label *label)
{
    double root = s->root_value[stage], ahead = s->ahead_value[stage];
    for (int32_t j = 0; j < s->model.jobs; j++) {
        if (s->required[j] > 0) {
            double missing = (double)(s->required[j] - label->work[j]) / (double)s->required[j];
            root += s->multiplier[j] * missing;
            ahead += s->ahead[stage][j] * missing;
        }
    }
    return label->cost + fmax(root, ahead);
}

static bool can_finish(const nat_slotwise *s, int32_t stage, const nat_label *label)
{
    for (int32_t j = 0; j < s->model.jobs; j++) {
        if (label->work[j] + s->most[stage][j] < s->required[j]) {
            return false;
        }
    }
    return true;
}

/* --- dominance
 * ------------------------------------------------------------------------------------ */

static int by_work(const void *left, const void *right)
{
    const nat_label *a = left, *b = right;
    for (int32_t j = 0; j < NAT_SLOTWISE_JOBS; j++) {
        if (a->work[j] != b->work[j]) {
            return a->work[j] > b->work[j] ? -1 : 1;
        }
    }
    if (a->cost < b->cost || a->cost > b->cost) {
        return a->cost < b->cost ? -1 : 1;
    }
    if (a->parent != b->parent) {
        return a->parent < b->parent ? -1 : 1;
    }
    return a->combination - b->combination;
}

static int by_bound(const void *left, const void *right)
{
    const nat_label *a = left, *b = right;
    if (a->bound < b->bound || a->bound > b->bound) {
        return a->bound < b->bound ? -1 : 1;
    }
    return by_work(left, right);
}

static int by_size(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static int32_t position(const int64_t *sorted, int32_t count, int64_t value)
{
    int32_t low = 0, high = count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (sorted[middle] < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/*
 * With up to two jobs: labels by falling work of the first job; a tree over the work of the second
 * keeps the least cost of those with at least as much of it. With more jobs only equal work is
 * compared.
 */
static void drop_dominated(nat_pass *pass, nat_front *front)
{
    int32_t kept = 0, count = front->count, tree = 1;
    nat_label *label = front->label;
    qsort(label, (size_t)count, sizeof *label, by_work);
    bool pair = pass->s->model.jobs <= 2;
    if (pair) {
        for (int32_t i = 0; i < count; i++) {
            pass->rank[i] = label[i].work[1];
            pass->least[i] = (double)INFINITY;
        }
        qsort(pass->rank, (size_t)count, sizeof *pass->rank, by_size);
        tree = count;
    }
    for (int32_t i = 0; i < count; i++) {
        bool dominated = false;
        if (pair) {
            /* A Fenwick tree over falling work: index 1 is the most work. */
            int32_t place = tree - position(pass->rank, count, label[i].work[1]);
            for (int32_t k = place; k > 0 && !dominated; k -= k & -k) {
                dominated = pass->least[k - 1] <= label[i].cost;
            }
            for (int32_t k = place; !dominated && k <= tree; k += k & -k) {
                pass->least[k - 1] = fmin(pass->least[k - 1], label[i].cost);
            }
        } else if (kept > 0) {
            dominated = memcmp(label[kept - 1].work, label[i].work, sizeof label[i].work) == 0;
        }
        if (!dominated) {
            label[kept++] = label[i];
        }
    }
    front->count = kept;
}

/* Keeps the `width` most promising labels and notes the best of the others. */
static void narrow(nat_pass *pass, nat_front *front)
{
    drop_dominated(pass, front);
    if (front->count > pass->width) {
        qsort(front->label, (size_t)front->count, sizeof *front->label, by_bound);
        pass->left_out = fmin(pass->left_out, front->label[pass->width].bound);
        front->count = pass->width;
    }
}

/* --- the pass
 * ------------------------------------------------------------------------------------- */

static void extend(nat_pass *pass, int32_t t, int32_t from)
{
    const nat_slotwise *s = pass->s;
    const nat_stage *stage = &s->stage[t];
    const nat_label *label = &pass->now.label[from];
    double root = label->cost + s->root_value[t];
    for (int32_t j = 0; j < s->model.jobs; j++) {
        root += s->required[j] > 0 ? s->multiplier[j] * (double)(s->required[j] - label->work[j]) /
                                         (double)s->required[j]
                                   : 0;
    }
    for (int32_t i = 0; i < stage->count && root + stage->combination[i].excess < pass->cutoff;
         i++) {
        const nat_combination *c = &stage->combination[i];
        nat_label next = *label;
        next.cost += c->cost;
        next.parent = from;
        next.combination = i;
        for (int32_t j = 0; j < s->model.jobs; j++) {
            next.work[j] += c->work[j];
            next.work[j] = next.work[j] < s->required[j] ? next.work[j] : s->required[j];
        }
        next.bound = bound_of(s, t + 1, &next);
        if (next.bound < pass->cutoff && can_finish(s, t + 1, &next)) {
            if (pass->next.count == pass->next.room) {
                narrow(pass, &pass->next);
            }
            pass->next.label[pass->next.count++] = next;
        }
    }
}

static void keep_best(nat_slotwise *s, const nat_pass *pass)
{
    int32_t best = -1;
    for (int32_t i = 0; i < pass->now.count; i++) {
        if (pass->now.label[i].cost < s->best_cost) {
            s->best_cost = pass->now.label[i].cost;
            best = i;
        }
    }
    for (int32_t t = s->model.slots; best >= 0 && t > 0; t--) {
        s->best[t - 1] = pass->trace[t][best].combination;
        best = pass->trace[t][best].parent;
    }
}

static int32_t run(nat_slotwise *s, const ckpd_host *host, nat_memory *memory, nat_pass *pass)
{
    memset(&pass->now.label[0], 0, sizeof pass->now.label[0]);
    pass->now.count = 1;
    for (int32_t t = 0; t < s->model.slots; t++) {
        pass->next.count = 0;
        for (int32_t i = 0; i < pass->now.count; i++) {
            s->stop = s->stop == 0 && (i & 255) == 0 ? host->should_stop(host->user) : s->stop;
            if (s->stop) {
                return CKPD_OK;
            }
            extend(pass, t, i);
        }
        narrow(pass, &pass->next);
        s->labels += pass->next.count;
        nat_step *step = ckpd__nat_alloc(memory, (size_t)pass->next.count, sizeof *step);
        if (!step) {
            return CKPD_ERR_NO_MEMORY;
        }
        for (int32_t i = 0; i < pass->next.count; i++) {
            step[i] = (nat_step){pass->next.label[i].parent, pass->next.label[i].combination};
        }
        pass->trace[t + 1] = step;
        nat_front swap = pass->now;
        pass->now = pass->next;
        pass->next = swap;
    }
    keep_best(s, pass);
    return CKPD_OK;
}

int32_t ckpd__nat_slotwise_pass(nat_slotwise *s, const ckpd_host *host, int32_t width,
                                double *left_out)
{
    nat_memory memory = {.host = host};
    int32_t room = 4 * width + 64;
    nat_pass pass = {.s = s, .width = width, .left_out = (double)INFINITY};
    pass.cutoff = s->best_cost < (double)INFINITY
                      ? s->best_cost - ckpd__nat_slotwise_gap(s, s->best_cost) / 2
                      : (double)INFINITY;
    pass.now.room = pass.next.room = room;
    pass.now.label = ckpd__nat_alloc(&memory, (size_t)room, sizeof *pass.now.label);
    pass.next.label = ckpd__nat_alloc(&memory, (size_t)room, sizeof *pass.next.label);
    pass.least = ckpd__nat_alloc(&memory, (size_t)room, sizeof *pass.least);
    pass.rank = ckpd__nat_alloc(&memory, (size_t)room, sizeof *pass.rank);
    pass.trace = ckpd__nat_alloc(&memory, (size_t)s->model.slots + 1, sizeof *pass.trace);
    bool ok = pass.now.label && pass.next.label && pass.least && pass.rank && pass.trace;
    int32_t status = ok ? run(s, host, &memory, &pass) : CKPD_ERR_NO_MEMORY;
    /* What was cut off lies above the cutoff; what was left out above left_out. */
    *left_out = fmin(pass.left_out, pass.cutoff);
    s->passes++;
    ckpd__nat_release(&memory);
    return status;
}
