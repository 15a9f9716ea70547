/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Whole groups from a fractional fit. The power lost or gained by rounding is carried to the next
 * launch of the same stop stage, so that the sum keeps following the curve. Then single groups are
 * added, dropped or exchanged with near ones while that lowers the objective; and where that ends
 * too far from the linear program's bound, a group or two are misplaced on purpose and their
 * surroundings mended, which is kept when it came out better. The work is bounded and the same each
 * time.
 */
#include "shape/search.h"

#include <math.h>
#include <string.h>

static const double GAIN = 1e-9; /* least improvement that counts, units of the objective */
static const double NEAR = 0.01; /* of the bound: good enough */
enum {
    REACH = 2, /* slots between the two of an exchange */
    MEND = 3,  /* slots before and after a misplaced group that are mended */
    KICKS = 200
};

/* `offset` is the share of a group from which one is started: 0.5 rounds to the nearest. */
static void round_carried(ckpd__search *s, const double *x, double offset)
{
    const ckpd__window *w = s->w;
    int32_t stages = 0;
    for (int32_t j = 0; j < w->columns; j++) {
        stages = w->column[j].stage > stages ? w->column[j].stage : stages;
    }
    for (int32_t stage = 0; stage <= stages; stage++) {
        double carry = 0.0;
        for (int32_t j = 0; j < w->columns; j++) {
            if (w->column[j].stage != stage || x[j] <= 1e-9) {
                continue;
            }
            double power = w->rig->profile[w->column[j].row].power_w;
            int32_t count = (int32_t)floor(x[j] + carry / power + 1.0 - offset);
            count = count < 0 ? 0 : count;
            /* Groups that run to their end come first, so there is room for those that are stopped.
             */
            while (count > 0 && !ckpd__search_allowed(s, j, count)) {
                count--;
            }
            ckpd__search_apply(s, j, count);
            carry += (x[j] - count) * power;
        }
    }
    ckpd__search_refresh(s);
}

static int32_t column_at(const ckpd__search *s, int32_t slot)
{
    int32_t slots = s->w->slots;
    return s->first_column[slot < 0 ? 0 : slot > slots ? slots : slot];
}

/* One group more or less in the columns first .. last - 1. */
static bool single_moves(ckpd__search *s, int32_t first, int32_t last)
{
    bool better = false;
    for (int32_t j = first; j < last; j++) {
        for (int32_t by = s->groups[j] > 0 ? -1 : 1; by <= 1; by += 2) {
            if (ckpd__search_objective_with(s, j, by) < ckpd__search_objective(s) - GAIN &&
                ckpd__search_allowed(s, j, by)) {
                ckpd__search_apply(s, j, by);
                ckpd__search_refresh(s);
                better = true;
            }
        }
    }
    return better;
}

/* Exchanges one group of column j for the best one near by. */
static bool exchange(ckpd__search *s, int32_t j)
{
    double best = ckpd__search_objective(s) - GAIN;
    int32_t best_k = -1, slot = s->w->column[j].slot;
    int32_t first = column_at(s, slot - REACH), last = column_at(s, slot + REACH + 1);
    ckpd__search_apply(s, j, -1);
    ckpd__search_refresh(s);
    for (int32_t k = first; k < last; k++) {
        if (k == j) {
            continue;
        }
        double objective = ckpd__search_objective_with(s, k, 1);
        if (objective < best && ckpd__search_allowed(s, k, 1)) {
            best = objective;
            best_k = k;
        }
    }
    if (best_k >= 0) {
        ckpd__search_apply(s, best_k, 1);
    }
    /* Dropping a group that runs to its end may break the waste limit unless the exchange mends
     * it. */
    bool kept = best_k >= 0 && ckpd__search_waste_holds(s);
    if (!kept) {
        if (best_k >= 0) {
            ckpd__search_apply(s, best_k, -1);
        }
        ckpd__search_apply(s, j, 1);
    }
    ckpd__search_refresh(s);
    return kept;
}

/* Moves in these slots until none helps. */
static void descend(ckpd__search *s, int32_t first_slot, int32_t last_slot)
{
    int32_t first = column_at(s, first_slot), last = column_at(s, last_slot + 1);
    bool better = true;
    for (int32_t round = 0; better && round < 12; round++) {
        better = false;
        while (single_moves(s, first, last)) {
            better = true;
        }
        for (int32_t j = first; j < last; j++) {
            better = (s->groups[j] > 0 && exchange(s, j)) || better;
        }
    }
}

typedef struct best {
    int32_t *groups;
    double objective, error;
} best;

static bool keep_best(const ckpd__search *s, best *b)
{
    if (ckpd__search_objective(s) >= b->objective - GAIN) {
        return false;
    }
    memcpy(b->groups, s->groups, (size_t)s->w->columns * sizeof *b->groups);
    b->objective = ckpd__search_objective(s);
    b->error = s->plain / s->w->samples;
    return true;
}

static int32_t draw(ckpd__random *random, int32_t first, int32_t last)
{
    return first + (int32_t)(ckpd__random_uniform(random) * (last - first));
}

/* Misplaces a group of a random column of these; *slot is its slot. false when limits forbid it. */
static bool misplace(ckpd__search *s, ckpd__random *random, int32_t first, int32_t last,
                     int32_t *slot)
{
    int32_t from = draw(random, first, last), j = from;
    while (s->groups[j] == 0) {
        j = j + 1 < last ? j + 1 : first;
        if (j == from) {
            return false; /* nothing starts there at all */
        }
    }
    *slot = s->w->column[j].slot;
    int32_t k = draw(random, column_at(s, *slot - REACH), column_at(s, *slot + REACH + 1));
    ckpd__search_apply(s, j, -1);
    bool kept = k != j && ckpd__search_allowed(s, k, 1);
    if (kept) {
        ckpd__search_apply(s, k, 1);
        kept = ckpd__search_waste_holds(s);
        if (!kept) {
            ckpd__search_apply(s, k, -1);
        }
    }
    if (!kept) {
        ckpd__search_apply(s, j, 1);
    }
    ckpd__search_refresh(s);
    return kept;
}

static void kick(ckpd__search *s, best *b, double enough)
{
    ckpd__random random;
    ckpd__random_seed(&random, 1, 1);
    ckpd__search_reset(s, b->groups);
    for (int32_t i = 0; i < KICKS && b->objective > enough; i++) {
        int32_t slot, other;
        if (!misplace(s, &random, 0, s->w->columns, &slot)) {
            continue;
        }
        if (i % 2 == 1) { /* a second one near by leads out of other valleys */
            misplace(s, &random, column_at(s, slot - REACH), column_at(s, slot + REACH + 1),
                     &other);
        }
        descend(s, slot - MEND, slot + MEND);
        if (!keep_best(s, b)) {
            ckpd__search_reset(s, b->groups);
        }
    }
}

int32_t ckpd__fit_round(const ckpd__window *w, const ckpd__fit_answer *relaxed, int32_t *groups,
                        double *objective, double *error)
{
    static const double offsets[] = {0.5, 0.35, 0.65, 0.8, 0.2};
    best b = {groups, (double)INFINITY, 0.0};
    double enough = (1.0 + NEAR) * relaxed->objective;
    ckpd__search s;
    if (!ckpd__search_start(&s, w)) {
        ckpd__search_end(&s);
        return ckpd__no_memory(w->context);
    }
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0] && b.objective > enough; i++) {
        ckpd__search_reset(&s, NULL);
        round_carried(&s, relaxed->x, offsets[i]);
        descend(&s, 0, w->slots - 1);
        keep_best(&s, &b);
    }
    kick(&s, &b, enough);
    ckpd__search_end(&s);
    *objective = b.objective;
    *error = b.error;
    return CKPD_OK;
}
