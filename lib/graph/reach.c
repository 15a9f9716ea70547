/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Which nodes are on a path. A job may wait at any node, so what is reached at boundary t is
 * reached at every later one, and what still finishes from t finishes from every earlier one: one
 * number each way is enough.
 */
#include "graph/graph.h"

static size_t at(const ckpd__reach_problem *p, int32_t state, int32_t segment)
{
    return (size_t)state * (size_t)(p->segments + 1) + (size_t)segment;
}

static int32_t state_after(const ckpd__reach_problem *p, int32_t move)
{
    return p->transition == NULL ? 0 : p->moves->mode[move] + 1;
}

static bool starts(const ckpd__reach_problem *p, int32_t state, int32_t move)
{
    int32_t wanted = p->moves->transition_class == NULL ? 1 : p->moves->transition_class[move];
    return ckpd__graph_class(p->transition, p->modes, state, p->moves->mode[move]) == wanted;
}

void ckpd__graph_earliest(const ckpd__reach_problem *p, int32_t limit, int32_t *earliest)
{
    for (size_t i = 0; i < (size_t)p->states * (size_t)(p->segments + 1); i++) {
        earliest[i] = CKPD__NEVER;
    }
    if (p->source_slot <= limit) {
        earliest[at(p, p->source_state, p->source_segment)] = p->source_slot;
    }
    if (p->going_slot > 0 && p->going_slot <= limit) {
        earliest[at(p, p->going_state, p->going_segment)] = p->going_slot;
    }
    for (int32_t k = p->source_segment; k < p->segments; k++) {
        for (int32_t q = 0; q < p->states; q++) {
            int32_t from = earliest[at(p, q, k)];
            for (int32_t i = 0; from != CKPD__NEVER && i < p->moves->count; i++) {
                int32_t segment = k + p->moves->segments[i];
                if (segment > p->segments || p->moves->slots[i] > limit - from ||
                    !starts(p, q, i)) {
                    continue;
                }
                int32_t *best = &earliest[at(p, state_after(p, i), segment)];
                int32_t slot = from + p->moves->slots[i];
                *best = slot < *best ? slot : *best;
            }
        }
    }
}

void ckpd__graph_latest(const ckpd__reach_problem *p, int32_t deadline, int32_t *latest)
{
    for (int32_t q = 0; q < p->states; q++) {
        for (int32_t k = 0; k < p->segments; k++) {
            latest[at(p, q, k)] = -1;
        }
        latest[at(p, q, p->segments)] = deadline;
    }
    for (int32_t k = p->segments - 1; k >= p->source_segment; k--) {
        for (int32_t q = 0; q < p->states; q++) {
            int32_t best = -1;
            for (int32_t i = 0; i < p->moves->count; i++) {
                int32_t segment = k + p->moves->segments[i];
                if (segment > p->segments || !starts(p, q, i)) {
                    continue;
                }
                int32_t slot = latest[at(p, state_after(p, i), segment)] - p->moves->slots[i];
                best = slot > best ? slot : best;
            }
            latest[at(p, q, k)] = best;
        }
    }
}
