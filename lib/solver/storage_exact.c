/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/storage_exact.h"

#include "solver/solver.h"
#include <math.h>
#include <string.h>

/* A straight part of a function: value v0 at x0 to v1 at x1 >= x0. */
typedef struct part {
    double x0, x1, v0, v1;
} part;

/* Parts in ascending order that overlap at most in end points. */
typedef struct function {
    part *parts;
    int32_t count, capacity;
} function;

struct ckpd__storage_exact {
    const ckpd_host *host;
    const ckpd_path_view *view;
    function *value; /* [slots + 1] least cost to hold an energy at a boundary */
    function step;   /* of one slot: cost by change of energy */
    function merged, candidate;
    double slack; /* energies closer than this are the same */
};

static bool push(ckpd__storage_exact *w, function *f, part added)
{
    if (f->count == f->capacity) {
        int32_t more = 2 * f->capacity + 16;
        part *parts = w->host->allocate((size_t)more * sizeof(part), w->host->user);
        if (parts == NULL) {
            return false;
        }
        if (f->count > 0) {
            memcpy(parts, f->parts, (size_t)f->count * sizeof(part));
        }
        w->host->release(f->parts, w->host->user);
        f->parts = parts;
        f->capacity = more;
    }
    f->parts[f->count++] = added;
    return true;
}

static void swap(function *a, function *b)
{
    function kept = *a;
    *a = *b;
    *b = kept;
}

static double slope(const part *p)
{
    return p->x1 > p->x0 ? (p->v1 - p->v0) / (p->x1 - p->x0) : 0;
}

static double value_at(const part *p, double x)
{
    return x <= p->x0   ? p->v0
           : x >= p->x1 ? p->v1
                        : p->v0 + (p->v1 - p->v0) * ((x - p->x0) / (p->x1 - p->x0));
}

/* Least value at x, infinity outside. */
static double evaluate(const ckpd__storage_exact *w, const function *f, double x)
{
    double least = INFINITY;
    for (int32_t i = 0; i < f->count; i++) {
        if (x >= f->parts[i].x0 - w->slack && x <= f->parts[i].x1 + w->slack) {
            least = fmin(least, value_at(&f->parts[i], x));
        }
    }
    return least;
}

/* End of the convex run that starts at part i. */
static int32_t run_end(const ckpd__storage_exact *w, const function *f, int32_t i)
{
    for (i++; i < f->count; i++) {
        const part *before = &f->parts[i - 1], *p = &f->parts[i];
        double rounding = 1e-9 * fmax(fabs(slope(before)), fabs(slope(p)));
        if (p->x0 > before->x1 + w->slack ||
            p->v0 < before->v1 - 1e-12 * fmax(1, fabs(before->v1)) ||
            slope(p) < slope(before) - rounding) {
            break;
        }
    }
    return i;
}

/* The infimal convolution of two convex runs: both starts added, the parts in order of their
 * slopes. */
static bool fold_runs(ckpd__storage_exact *w, const part *a, int32_t a_count, const part *b,
                      int32_t b_count, function *out)
{
    double x = a[0].x0 + b[0].x0, v = a[0].v0 + b[0].v0;
    out->count = 0;
    for (int32_t i = 0, j = 0; i < a_count || j < b_count;) {
        bool first = j == b_count || (i < a_count && slope(&a[i]) <= slope(&b[j]));
        const part *p = first ? &a[i++] : &b[j++];
        double width = p->x1 - p->x0;
        if (width > 0 && !push(w, out, (part){x, x + width, v, v + (p->v1 - p->v0)})) {
            return false;
        }
        x += fmax(width, 0);
        v += width > 0 ? p->v1 - p->v0 : 0;
    }
    return out->count > 0 || push(w, out, (part){x, x, v, v});
}

/* Appends, joining with the part before when both lie on one line. */
static bool append(ckpd__storage_exact *w, function *f, part added)
{
    part *last = f->count > 0 ? &f->parts[f->count - 1] : NULL;
    if (last != NULL && added.x0 <= last->x1 + w->slack &&
        fabs(slope(last) - slope(&added)) <= 1e-12 * fmax(1, fabs(slope(last))) &&
        fabs(last->v1 - added.v0) <= 1e-12 * fmax(1, fabs(added.v0))) {
        last->x1 = added.x1;
        last->v1 = added.v1;
        return true;
    }
    return push(w, f, added);
}

/* The lower of two lines between x0 and x1, one of them possibly missing. */
static bool append_lower(ckpd__storage_exact *w, function *out, const part *a, const part *b,
                         double x0, double x1)
{
    if (a == NULL || b == NULL) {
        const part *p = a != NULL ? a : b;
        return p == NULL || append(w, out, (part){x0, x1, value_at(p, x0), value_at(p, x1)});
    }
    double a0 = value_at(a, x0), a1 = value_at(a, x1), b0 = value_at(b, x0), b1 = value_at(b, x1);
    double at0 = a0 - b0, at1 = a1 - b1;
    if (at0 * at1 < 0) {
        double x = x0 + (x1 - x0) * (at0 / (at0 - at1));
        if (x > x0 && x < x1) {
            double v = a0 + (a1 - a0) * ((x - x0) / (x1 - x0));
            return append(w, out, (part){x0, x, fmin(a0, b0), v}) &&
                   append(w, out, (part){x, x1, v, fmin(a1, b1)});
        }
    }
    bool lower = at0 + at1 <= 0;
    return append(w, out, (part){x0, x1, lower ? a0 : b0, lower ? a1 : b1});
}

/* Next end point after x among the parts from i on. */
static double next_end(const function *f, int32_t i, double x)
{
    for (; i < f->count; i++) {
        if (f->parts[i].x0 > x) {
            return f->parts[i].x0;
        }
        if (f->parts[i].x1 > x) {
            return f->parts[i].x1;
        }
    }
    return INFINITY;
}

/* merged = min(merged, candidate) */
static bool merge(ckpd__storage_exact *w, function *spare)
{
    const function *a = &w->merged, *b = &w->candidate;
    if (a->count == 0) {
        swap(&w->merged, &w->candidate);
        return true;
    }
    double x = fmin(a->parts[0].x0, b->parts[0].x0);
    spare->count = 0;
    for (int32_t i = 0, j = 0;;) {
        double next = fmin(next_end(a, i, x), next_end(b, j, x));
        if (!isfinite(next)) {
            break;
        }
        while (i < a->count && a->parts[i].x1 <= x) {
            i++;
        }
        while (j < b->count && b->parts[j].x1 <= x) {
            j++;
        }
        bool in_a = i < a->count && a->parts[i].x0 <= x, in_b = j < b->count && b->parts[j].x0 <= x;
        if (!append_lower(w, spare, in_a ? &a->parts[i] : NULL, in_b ? &b->parts[j] : NULL, x,
                          next)) {
            return false;
        }
        x = next;
    }
    if (spare->count == 0) { /* two points at the same place */
        part p = a->parts[0];
        p.v0 = p.v1 = fmin(p.v0, b->parts[0].v0);
        if (!push(w, spare, p)) {
            return false;
        }
    }
    swap(&w->merged, spare);
    return true;
}

/* --- one slot --------------------------------------------------------------------------------- */

static double energy_of(const ckpd_path_view *view, double power_kw)
{
    const ckpd_path_storage *s = view->storage;
    return power_kw >= 0 ? s->eta_charge * power_kw * view->slot_hours
                         : power_kw * view->slot_hours / s->eta_discharge;
}

/* Range of storage power (charge positive) that devices and curve allow; false when empty. */
static bool power_range(const ckpd_path_view *view, int32_t t, double load, double *low,
                        double *high)
{
    double first = view->curve_x_kw[view->curve_start[t]];
    double last = view->curve_x_kw[view->curve_start[t + 1] - 1];
    double slack = 1e-9 * fmax(1, fmax(fabs(first), fabs(last)));
    *low = fmax(-view->storage->discharge_max_kw, first - load);
    *high = fmin(view->storage->charge_max_kw, last - load);
    if (*low > *high + slack) {
        return false;
    }
    *high = fmax(*low, *high);
    return true;
}

static double slot_cost(const ckpd_path_view *view, int32_t t, double load, double power)
{
    return ckpd__curve_cost(view, t, load + power) +
           view->slot_hours * view->storage->throughput_cost_per_kwh * fabs(power);
}

/* Cost of a slot by change of energy. */
static int32_t make_step(ckpd__storage_exact *w, int32_t t, double load, bool *possible)
{
    const ckpd_path_view *view = w->view;
    double low, high;
    w->step.count = 0;
    *possible = power_range(view, t, load, &low, &high);
    if (!*possible) {
        return CKPD_OK;
    }
    double from = low, cost = slot_cost(view, t, load, low);
    bool zero_due = low < 0 && high > 0;
    for (int64_t i = view->curve_start[t]; from < high || w->step.count == 0;) {
        double to = high;
        while (i < view->curve_start[t + 1] && view->curve_x_kw[i] - load <= from) {
            i++;
        }
        if (i < view->curve_start[t + 1]) {
            to = fmin(to, view->curve_x_kw[i] - load);
        }
        if (zero_due && to >= 0) {
            to = 0;
            zero_due = false;
        }
        double next = slot_cost(view, t, load, to);
        if (!push(w, &w->step, (part){energy_of(view, from), energy_of(view, to), cost, next})) {
            return CKPD_ERR_NO_MEMORY;
        }
        from = to;
        cost = next;
    }
    return CKPD_OK;
}

/* Keeps the part of the energy range that the storage has. */
static bool clip(ckpd__storage_exact *w, int32_t boundary, const function *from, function *to)
{
    const ckpd_path_storage *s = w->view->storage;
    double low = ckpd__soc_low(s, boundary), high = s->soc_max_kwh;
    to->count = 0;
    for (int32_t i = 0; i < from->count; i++) {
        const part *p = &from->parts[i];
        double x0 = fmax(p->x0, low), x1 = fmin(p->x1, high);
        if (x1 > x0 && !push(w, to, (part){x0, x1, value_at(p, x0), value_at(p, x1)})) {
            return false;
        }
    }
    for (int32_t i = 0; to->count == 0 && i < from->count; i++) {
        const part *p = &from->parts[i]; /* a point, or one that only touches the range */
        if (p->x1 >= low - w->slack && p->x0 <= high + w->slack) {
            double x = fmin(fmax(p->x0, low), high);
            double v = value_at(p, x);
            if (!push(w, to, (part){x, x, v, v})) {
                return false;
            }
        }
    }
    return true;
}

static int32_t advance(ckpd__storage_exact *w, int32_t t, double load)
{
    bool possible;
    double kept = w->view->storage->retention;
    int32_t status = make_step(w, t, load, &possible);
    w->value[t + 1].count = 0;
    if (status != CKPD_OK || !possible) {
        return status;
    }
    function faded = {0}, spare = {0};
    bool good = true;
    w->merged.count = 0;
    for (int32_t i = 0; good && i < w->value[t].count; i++) {
        part p = w->value[t].parts[i];
        good = push(w, &faded, (part){kept * p.x0, kept * p.x1, p.v0, p.v1});
    }
    for (int32_t i = 0, i_end; good && i < faded.count; i = i_end) {
        i_end = run_end(w, &faded, i);
        for (int32_t j = 0, j_end; good && j < w->step.count; j = j_end) {
            j_end = run_end(w, &w->step, j);
            good = fold_runs(w, faded.parts + i, i_end - i, w->step.parts + j, j_end - j,
                             &w->candidate) &&
                   merge(w, &spare);
        }
    }
    good = good && clip(w, t + 1, &w->merged, &w->value[t + 1]);
    w->host->release(faded.parts, w->host->user);
    w->host->release(spare.parts, w->host->user);
    return good ? CKPD_OK : CKPD_ERR_NO_MEMORY;
}

/* --- the way back ----------------------------------------------------------------------------- */

static double end_cost(const ckpd_path_storage *s, double energy, double cost, double slack)
{
    bool allowed = s->terminal == CKPD_TERMINAL_FREE ||
                   (energy >= s->soc_end_kwh - slack &&
                    (s->terminal == CKPD_TERMINAL_AT_LEAST || energy <= s->soc_end_kwh + slack));
    return allowed ? cost + ckpd__soc_end_cost(s, energy) : INFINITY;
}

static double best_end(const ckpd__storage_exact *w, double *energy)
{
    const ckpd_path_storage *s = w->view->storage;
    const function *f = &w->value[w->view->slots];
    double best = INFINITY;
    for (int32_t i = -1; i < 2 * f->count; i++) {
        double x = i < 0 ? s->soc_end_kwh : i % 2 == 0 ? f->parts[i / 2].x0 : f->parts[i / 2].x1;
        double cost = end_cost(s, x, evaluate(w, f, x), w->slack);
        if (cost < best) {
            best = cost;
            *energy = x;
        }
    }
    return best;
}

typedef struct choice {
    double cost, before, change;
} choice;

static void consider(const ckpd__storage_exact *w, int32_t t, double before, double change,
                     choice *best)
{
    double cost = evaluate(w, &w->value[t], before) + evaluate(w, &w->step, change);
    if (cost < best->cost - 1e-12 * fmax(1, fabs(cost))) {
        *best = (choice){cost, before, change};
    }
}

/* The step that led to `energy` at boundary t + 1: the best one keeps to a corner of either
 * function. */
static double step_back(const ckpd__storage_exact *w, int32_t t, double *energy)
{
    double kept = w->view->storage->retention;
    choice best = {INFINITY, 0, 0};
    consider(w, t, *energy / kept, 0, &best);
    for (int32_t i = 0; i < 2 * w->step.count; i++) {
        const part *p = &w->step.parts[i / 2];
        double change = i % 2 == 0 ? p->x0 : p->x1;
        consider(w, t, (*energy - change) / kept, change, &best);
    }
    for (int32_t i = 0; i < 2 * w->value[t].count; i++) {
        const part *p = &w->value[t].parts[i / 2];
        double before = i % 2 == 0 ? p->x0 : p->x1;
        consider(w, t, before, *energy - kept * before, &best);
    }
    *energy = best.before;
    return best.change;
}

int32_t ckpd__storage_exact_run(ckpd__storage_exact *w, const double *load, double *cost,
                                double *charge, double *discharge)
{
    const ckpd_path_view *view = w->view;
    double start = view->storage->soc_start_kwh, energy = 0;
    w->value[0].count = 0;
    if (!push(w, &w->value[0], (part){start, start, 0, 0})) {
        return CKPD_ERR_NO_MEMORY;
    }
    for (int32_t t = 0; t < view->slots; t++) {
        int32_t status = advance(w, t, load[t]);
        if (status != CKPD_OK) {
            return status;
        }
    }
    *cost = best_end(w, &energy);
    for (int32_t t = view->slots - 1; isfinite(*cost) && t >= 0; t--) {
        bool possible;
        if (make_step(w, t, load[t], &possible) != CKPD_OK) {
            return CKPD_ERR_NO_MEMORY;
        }
        double change = step_back(w, t, &energy), h = view->slot_hours;
        double noise = 1e-12 * fmax(1, view->storage->soc_max_kwh);
        charge[t] = change > noise ? change / (view->storage->eta_charge * h) : 0;
        discharge[t] = change < -noise ? -change * view->storage->eta_discharge / h : 0;
    }
    return CKPD_OK;
}

double ckpd__storage_exact_bound(ckpd__storage_exact *w, const double *load)
{
    const ckpd_path_view *view = w->view;
    const ckpd_path_storage *s = view->storage;
    double worth = s->end_value_per_kwh;
    double sum = -fmax(worth * s->soc_max_kwh, worth * ckpd__soc_low(s, view->slots));
    for (int32_t t = 0; t < view->slots; t++) {
        double low, high;
        if (!power_range(view, t, load[t], &low, &high)) {
            return INFINITY;
        }
        double least = fmin(slot_cost(view, t, load[t], low), slot_cost(view, t, load[t], high));
        if (low < 0 && high > 0) {
            least = fmin(least, slot_cost(view, t, load[t], 0));
        }
        for (int64_t i = view->curve_start[t]; i < view->curve_start[t + 1]; i++) {
            double power = view->curve_x_kw[i] - load[t];
            if (power > low && power < high) {
                least = fmin(least, slot_cost(view, t, load[t], power));
            }
        }
        sum += least;
    }
    return sum;
}

ckpd__storage_exact *ckpd__storage_exact_new(const ckpd_host *host, const ckpd_path_view *view)
{
    ckpd__storage_exact *w = host->allocate(sizeof *w, host->user);
    if (w == NULL) {
        return NULL;
    }
    memset(w, 0, sizeof *w);
    w->host = host;
    w->view = view;
    w->slack = 1e-9 * fmax(1, view->storage->soc_max_kwh);
    size_t bytes = ((size_t)view->slots + 1) * sizeof(function);
    w->value = host->allocate(bytes, host->user);
    if (w->value == NULL) {
        host->release(w, host->user);
        return NULL;
    }
    memset(w->value, 0, bytes);
    return w;
}

void ckpd__storage_exact_free(ckpd__storage_exact *w)
{
    if (w == NULL) {
        return;
    }
    const ckpd_host *host = w->host;
    for (int32_t t = 0; t <= w->view->slots; t++) {
        host->release(w->value[t].parts, host->user);
    }
    host->release(w->value, host->user);
    host->release(w->step.parts, host->user);
    host->release(w->merged.parts, host->user);
    host->release(w->candidate.parts, host->user);
    host->release(w, host->user);
}
