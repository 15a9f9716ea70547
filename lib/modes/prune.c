/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Dominance in (GPUs, IT power, throughput). */
#include "modes/modes.h"

#include <math.h>

typedef int32_t compare_fn(const ckpd__candidate *a, const ckpd__candidate *b);

static int32_t compare_doubles(double a, double b)
{
    return a < b ? -1 : a > b ? 1 : 0;
}

static int32_t compare_place(const ckpd__candidate *a, const ckpd__candidate *b)
{
    if (a->gpus != b->gpus) {
        return a->gpus < b->gpus ? -1 : 1;
    }
    int32_t order = ckpd__layout_compare(&a->layout, &b->layout);
    return order != 0 ? order : compare_doubles(a->source, b->source);
}

/* Whoever dominates a mode comes before it in this order. */
static int32_t compare_merit(const ckpd__candidate *a, const ckpd__candidate *b)
{
    if (a->gpus != b->gpus) {
        return a->gpus < b->gpus ? -1 : 1;
    }
    int32_t order = compare_doubles(a->power_kw, b->power_kw);
    if (order == 0) {
        order = compare_doubles(b->rate, a->rate);
    }
    return order != 0 ? order : compare_place(a, b);
}

/* Heap sort: in place, and without the allocation that qsort() may make. */
static void sift(ckpd__candidate *list, int32_t root, int32_t count, compare_fn *compare)
{
    ckpd__candidate moving = list[root];
    for (;;) {
        int32_t child = 2 * root + 1;
        if (child >= count) {
            break;
        }
        if (child + 1 < count && compare(&list[child], &list[child + 1]) < 0) {
            child++;
        }
        if (compare(&moving, &list[child]) >= 0) {
            break;
        }
        list[root] = list[child];
        root = child;
    }
    list[root] = moving;
}

static void sort(ckpd__candidate *list, int32_t count, compare_fn *compare)
{
    for (int32_t i = count / 2 - 1; i >= 0; i--) {
        sift(list, i, count, compare);
    }
    for (int32_t end = count - 1; end > 0; end--) {
        ckpd__candidate last = list[end];
        list[end] = list[0];
        list[0] = last;
        sift(list, 0, end, compare);
    }
}

/* Best rate among the modes so far, by power: both ascend along the stairs. */
typedef struct stairs {
    int32_t *mode;
    int32_t count;
} stairs;

/* Number of steps with power <= that of the mode. */
static int32_t stairs_find(const stairs *s, const ckpd__candidate *list, double power)
{
    int32_t low = 0, high = s->count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (list[s->mode[middle]].power_kw <= power) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void stairs_insert(stairs *s, const ckpd__candidate *list, int32_t at, int32_t index)
{
    /* A step of the same power is beaten by the new one, and so are later steps that are no faster.
     */
    int32_t first = at > 0 && list[s->mode[at - 1]].power_kw == list[index].power_kw ? at - 1 : at;
    int32_t end = at;
    while (end < s->count && list[s->mode[end]].rate <= list[index].rate) {
        end++;
    }
    int32_t shift = 1 - (end - first);
    if (shift > 0) {
        for (int32_t i = s->count - 1; i >= end; i--) {
            s->mode[i + shift] = s->mode[i];
        }
    } else {
        for (int32_t i = end; i < s->count; i++) {
            s->mode[i + shift] = s->mode[i];
        }
    }
    s->mode[first] = index;
    s->count += shift;
}

static int32_t drop_dominated(ckpd__modes *modes, const ckpd__candidate *c,
                              const ckpd__candidate *by, int32_t by_index)
{
    bool equal = by->gpus == c->gpus && by->power_kw == c->power_kw && by->rate == c->rate;
    ckpd__dropped dropped = {c->layout, equal ? CKPD_DROP_EQUAL : CKPD_DROP_DOMINATED,
                             by_index,  c->gpus,
                             c->source, (double)NAN,
                             c->rate,   c->power_kw};
    return ckpd__modes_drop(modes, &dropped);
}

/* `stair`: room for every mode; `place`: new position of each, by its position in merit order. */
static int32_t sweep(ckpd__modes *modes, int32_t *stair, int32_t *place)
{
    ckpd__candidate *list = modes->kept;
    stairs s = {stair, 0};
    int32_t kept = 0, status = CKPD_OK;
    for (int32_t i = 0; i < modes->kept_count && status == CKPD_OK; i++) {
        int32_t at = stairs_find(&s, list, list[i].power_kw);
        place[i] = -1;
        if (at > 0 && list[s.mode[at - 1]].rate >= list[i].rate) {
            int32_t by = s.mode[at - 1];
            if ((list[i].flags & (CKPD_MODE_BASELINE | CKPD_MODE_RUNNING)) == 0) {
                status = drop_dominated(modes, &list[i], &list[by], by);
                continue;
            }
            list[i].flags |= CKPD_MODE_DOMINATED;
        } else {
            stairs_insert(&s, list, at, i);
        }
        place[i] = kept++;
    }
    return status;
}

int32_t ckpd__prune(ckpd__modes *modes, bool keep_dominated)
{
    int32_t before = modes->kept_count, dropped = modes->dropped_count;
    if (keep_dominated) {
        sort(modes->kept, before, compare_place);
        return CKPD_OK;
    }
    int32_t *work = ckpd__calloc(modes->context, (size_t)before * 2, sizeof *work);
    if (work == NULL) {
        return ckpd__no_memory(modes->context);
    }
    int32_t *place = work + before;
    sort(modes->kept, before, compare_merit);
    int32_t status = sweep(modes, work, place);
    if (status == CKPD_OK) {
        int32_t kept = 0;
        for (int32_t i = 0; i < before; i++) {
            if (place[i] >= 0) {
                modes->kept[kept] = modes->kept[i];
                modes->kept[kept++].rank = i;
            }
        }
        modes->kept_count = kept;
        sort(modes->kept, kept, compare_place);
        for (int32_t i = 0; i < kept; i++) {
            place[modes->kept[i].rank] = i;
        }
        for (int32_t i = dropped; i < modes->dropped_count; i++) {
            modes->dropped[i].by = place[modes->dropped[i].by];
        }
    }
    ckpd__free(modes->context, work);
    return status;
}

bool ckpd__modes_mark(ckpd__modes *modes, const ckpd__layout *layout, int32_t gpus, int32_t flag)
{
    ckpd__candidate *best = NULL;
    for (int32_t i = 0; i < modes->kept_count; i++) {
        ckpd__candidate *c = &modes->kept[i];
        const ckpd__layout *l = &c->layout;
        bool named = layout != NULL
                         ? l->tp == layout->tp && l->pp == layout->pp && l->dp == layout->dp &&
                               (layout->micro_batch == 0 || l->micro_batch == layout->micro_batch)
                         : c->gpus == gpus;
        if (named && (best == NULL || c->rate > best->rate ||
                      (c->rate == best->rate && compare_place(c, best) < 0))) {
            best = c;
        }
    }
    if (best != NULL) {
        best->flags |= flag;
    }
    return best != NULL;
}

int32_t ckpd__modes_flagged(const ckpd__modes *modes, int32_t flag)
{
    for (int32_t i = 0; i < modes->kept_count; i++) {
        if ((modes->kept[i].flags & flag) != 0) {
            return i;
        }
    }
    return -1;
}
