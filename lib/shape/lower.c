/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The lower layer: batch sizes of the groups that start now are moved so that their power over the
 * next seconds fits what is still needed by the measured deficit. Longer batches draw more and last
 * longer.
 */
#include "shape/control.h"

#include <math.h>
#include <string.h>

static double *profile_of(const ckpd_control *c, int32_t entry, int32_t row)
{
    return c->profile + ((size_t)entry * (size_t)(c->most_rows + 1) + (size_t)row) * HORIZON_POINTS;
}

static int32_t *count_of(const ckpd_control *c, int32_t entry)
{
    return c->count + (size_t)entry * (size_t)(c->most_rows + 1);
}

double ckpd__control_live_w(const ckpd_control *c, double time_s)
{
    double sum = 0.0, last = 0.0;
    const ckpd__group *before = NULL;
    for (int32_t i = 0; i < c->state.live; i++) {
        const ckpd__group *g = &c->live[i];
        /* Groups of one launch follow one another and draw alike. */
        if (before == NULL || g->row != before->row || g->start_s != before->start_s ||
            g->stop_s != before->stop_s || g->stopping != before->stopping) {
            double stop = g->stopping ? g->stopped_s : ckpd__control_stop_s(c, g->event, g->stop_s);
            last =
                ckpd__profile_power(&c->rig.profile[g->row], time_s - g->start_s - c->rig.delay_s,
                                    ckpd__rig_run_s(&c->rig, g->start_s, stop));
            before = g;
        }
        sum += last;
    }
    return sum;
}

double ckpd__control_later_w(const ckpd_control *c, double time_s)
{
    double sum = 0.0;
    /* Launches are in order of planned time; signals move them by seconds, not by minutes. */
    for (int32_t i = c->next; i < c->launches && c->launch[i].start_s < time_s + 60.0; i++) {
        const ckpd__launch *l = &c->launch[i];
        double start = ckpd__control_shifted(c, l->event, l->start_s);
        if (c->done[i] || start > time_s) {
            continue;
        }
        sum += l->groups *
               ckpd__profile_power(
                   &c->rig.profile[l->row], time_s - start - c->rig.delay_s,
                   ckpd__rig_run_s(&c->rig, start, ckpd__control_stop_s(c, l->event, l->stop_s)));
    }
    return sum;
}

static double cohort_w(const ckpd_control *c, int32_t point)
{
    double sum = 0.0;
    for (int32_t e = 0; e < c->entries; e++) {
        const int32_t *count = count_of(c, e);
        for (int32_t r = 0; r < c->entry[e].rows; r++) {
            if (count[r] != 0) {
                sum += count[r] * profile_of(c, e, r)[point];
            }
        }
    }
    return sum;
}

/* Looks from the first moment of full power over the horizon; need[] then holds need less cohort.
 */
static double look_ahead(ckpd_control *c)
{
    double up = 0.0, error = 0.0;
    for (int32_t e = 0; e < c->entries; e++) {
        double of = c->rig.profile[c->entry[e].planned_row].up_s;
        up = of > up ? of : up;
    }
    double from = c->time_s + c->rig.delay_s + up;
    double pace = c->shape->values[SHAPE_HORIZON_S] / HORIZON_POINTS;
    for (int32_t i = 0; i < HORIZON_POINTS; i++) {
        double t = from + i * pace;
        for (int32_t e = 0; e < c->entries; e++) {
            const ckpd__entry *entry = &c->entry[e];
            double stop = ckpd__rig_run_s(&c->rig, c->time_s,
                                          ckpd__control_stop_s(c, entry->event, entry->stop_s));
            for (int32_t r = 0; r < entry->rows; r++) {
                profile_of(c, e, r)[i] = ckpd__profile_power(&c->rig.profile[entry->first_row + r],
                                                             t - c->time_s - c->rig.delay_s, stop);
            }
        }
        c->need[i] = ckpd__control_deficit(c, t) - ckpd__control_live_w(c, t) -
                     ckpd__control_later_w(c, t) - cohort_w(c, i);
        error += fabs(c->need[i]);
    }
    return error;
}

static double error_after(const ckpd_control *c, const double *from, const double *to,
                          int32_t moved)
{
    double sum = 0.0;
    for (int32_t i = 0; i < HORIZON_POINTS; i++) {
        sum += fabs(c->need[i] + moved * (from[i] - to[i]));
    }
    return sum;
}

/* Moves m groups of one entry one batch step where that helps; true when one did. */
static bool try_moves(ckpd_control *c, int32_t e, int32_t m, double *error)
{
    static const double nothing[HORIZON_POINTS] = {0};
    const ckpd__entry *entry = &c->entry[e];
    int32_t *count = count_of(c, e);
    bool moved = false;
    bool defer = c->shape->values[SHAPE_DEFER] > 0.0;
    for (int32_t r = 0; r <= entry->rows; r++) {
        for (int32_t way = -1; way <= 1; way += 2) {
            /* Column `rows` stands for "held back"; its neighbour is the smallest batch. */
            int32_t to = r == entry->rows ? 0 : r + way < 0 ? entry->rows : r + way;
            if ((r == entry->rows && way < 0) || (to == entry->rows && (way > 0 || !defer)) ||
                count[r] < m ||
                (to < entry->rows && !c->rig.profile[entry->first_row + to].allowed)) {
                continue;
            }
            const double *a = r == entry->rows ? nothing : profile_of(c, e, r);
            const double *b = to == entry->rows ? nothing : profile_of(c, e, to);
            double after = error_after(c, a, b, m);
            if (after < *error - 1e-6) {
                for (int32_t i = 0; i < HORIZON_POINTS; i++) {
                    c->need[i] += m * (a[i] - b[i]);
                }
                count[r] -= m;
                count[to] += m;
                *error = after;
                moved = true;
            }
        }
    }
    return moved;
}

void ckpd__control_adjust(ckpd_control *c)
{
    int32_t most = 0;
    for (int32_t e = 0; e < c->entries; e++) {
        int32_t sum = 0;
        for (int32_t r = 0; r <= c->entry[e].rows; r++) {
            sum += count_of(c, e)[r];
        }
        most = sum > most ? sum : most;
    }
    double error = look_ahead(c);
    if (error / HORIZON_POINTS < c->shape->values[SHAPE_DEAD_ZONE_W]) {
        return;
    }
    for (int32_t m = most; m >= 1; m /= 2) {
        bool moved = true;
        for (int32_t turn = 0; moved && turn < 32; turn++) {
            moved = false;
            for (int32_t e = 0; e < c->entries; e++) {
                moved = try_moves(c, e, m, &error) || moved;
            }
        }
    }
}
