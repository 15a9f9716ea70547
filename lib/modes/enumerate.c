/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Every layout that the rules allow, screened by memory; nothing is allocated for a single layout.
 */
#include "modes/modes.h"

#include <math.h>

void ckpd__modes_free(ckpd__modes *modes)
{
    ckpd__free(modes->context, modes->kept);
    ckpd__free(modes->context, modes->dropped);
}

int32_t ckpd__modes_keep(ckpd__modes *modes, const ckpd__candidate *candidate)
{
    if (modes->kept_count == modes->kept_capacity) {
        int32_t capacity = modes->kept_capacity > 0 ? 2 * modes->kept_capacity : 256;
        void *grown =
            ckpd__realloc(modes->context, modes->kept, (size_t)capacity, sizeof *modes->kept);
        if (grown == NULL) {
            return ckpd__no_memory(modes->context);
        }
        modes->kept = grown;
        modes->kept_capacity = capacity;
    }
    modes->kept[modes->kept_count++] = *candidate;
    return CKPD_OK;
}

int32_t ckpd__modes_drop(ckpd__modes *modes, const ckpd__dropped *dropped)
{
    if (modes->dropped_count == modes->dropped_capacity) {
        int32_t capacity = modes->dropped_capacity > 0 ? 2 * modes->dropped_capacity : 256;
        void *grown =
            ckpd__realloc(modes->context, modes->dropped, (size_t)capacity, sizeof *modes->dropped);
        if (grown == NULL) {
            return ckpd__no_memory(modes->context);
        }
        modes->dropped = grown;
        modes->dropped_capacity = capacity;
    }
    modes->dropped[modes->dropped_count++] = *dropped;
    return CKPD_OK;
}

int32_t ckpd__modes_refuse(ckpd__modes *modes, const ckpd__layout *layout, int32_t reason,
                           double missing_bytes)
{
    ckpd__dropped dropped = {
        *layout, reason,        -1,          (int32_t)ckpd__layout_gpus(layout),
        -1,      missing_bytes, (double)NAN, (double)NAN};
    return ckpd__modes_drop(modes, &dropped);
}

/* --- lists ------------------------------------------------------------------------------------ */

/* Lists in use: the user's, or the defaults of this task. Divisor lists can be longer than a
 * user's. */
typedef struct choices {
    const int32_t *values[CKPD__LISTS];
    int32_t count[CKPD__LISTS];
    int32_t *divisors_pp, *divisors_dp; /* owned */
    int32_t powers[32];
} choices;

static const int32_t one[] = {1};
static const int32_t small[] = {1, 2, 4, 8};
static const int32_t recomputations[] = {CKPD_RECOMPUTE_NONE, CKPD_RECOMPUTE_SELECTIVE,
                                         CKPD_RECOMPUTE_FULL};

/* Divisors of n in ascending order; the caller frees. */
static int32_t *divisors(ckpd_context *context, int32_t n, int32_t *count)
{
    int32_t found = 0;
    for (int32_t d = 1; (int64_t)d * d <= n; d++) {
        found += n % d == 0 ? (d * d == n ? 1 : 2) : 0;
    }
    int32_t *list = ckpd__calloc(context, (size_t)found, sizeof *list);
    if (list != NULL) {
        int32_t low = 0, high = found;
        for (int32_t d = 1; (int64_t)d * d <= n; d++) {
            if (n % d == 0) {
                list[low++] = d;
                if (d != n / d) {
                    list[--high] = n / d;
                }
            }
        }
        *count = found;
    }
    return list;
}

/* Pipelines with whole layers in each stage; `uneven`: embedding and head may take a slot each. */
static int32_t *pipelines(ckpd_context *context, int32_t layers, bool uneven, int32_t *count)
{
    int32_t *list = ckpd__calloc(context, (size_t)layers + 2, sizeof *list);
    for (int32_t pp = 1; list != NULL && pp <= layers + 2; pp++) {
        if (layers % pp == 0 || (uneven && (layers + 2) % pp == 0)) {
            list[(*count)++] = pp;
        }
    }
    return list;
}

static void use(choices *c, int32_t which, const int32_t *values, int32_t count)
{
    c->values[which] = values;
    c->count[which] = count;
}

static int32_t choices_init(choices *c, ckpd_context *context, const ckpd__predictor *p,
                            const ckpd_mode_rules *rules)
{
    int32_t pp = 0, dp = 0, tp = 0;
    bool uneven = rules->values[CKPD__RULE_UNEVEN_STAGES] > 0;
    c->divisors_pp = pipelines(context, p->model.layers, uneven, &pp);
    c->divisors_dp = divisors(context, p->model.batch, &dp);
    if (c->divisors_pp == NULL || c->divisors_dp == NULL) {
        ckpd__free(context, c->divisors_pp);
        ckpd__free(context, c->divisors_dp);
        return ckpd__no_memory(context);
    }
    for (int32_t width = 1; tp < 20 && width <= p->hw[CKPD__HW_NODE_GPUS]; width *= 2) {
        c->powers[tp++] = width;
    }
    use(c, CKPD__LIST_TP, c->powers, tp);
    use(c, CKPD__LIST_PP, c->divisors_pp, pp);
    use(c, CKPD__LIST_DP, c->divisors_dp, dp);
    use(c, CKPD__LIST_CP, one, 1);
    use(c, CKPD__LIST_EP, one, 1);
    use(c, CKPD__LIST_MICRO_BATCH, small, 4);
    use(c, CKPD__LIST_INTERLEAVE, one, 1);
    use(c, CKPD__LIST_RECOMPUTE, recomputations, 3);
    for (int32_t i = 0; i < CKPD__LISTS; i++) {
        if (rules->lists[i].count > 0) {
            use(c, i, rules->lists[i].values, rules->lists[i].count);
        }
    }
    return CKPD_OK;
}

/* --- rules ------------------------------------------------------------------------------------ */

static int32_t check_tensor(const ckpd__predictor *p, int32_t tp)
{
    const ckpd__architecture *m = &p->model;
    if (tp > p->hw[CKPD__HW_NODE_GPUS]) {
        return CKPD_DROP_NODE;
    }
    int32_t ffn = m->experts > 0 ? m->expert_ffn : m->ffn;
    bool fits = m->heads % tp == 0 && m->hidden % tp == 0 && ffn % tp == 0 &&
                (m->kv_heads % tp == 0 || tp % m->kv_heads == 0);
    return fits ? CKPD_DROP_NONE : CKPD_DROP_TENSOR;
}

static int32_t check_gpus(const ckpd__layout *l, double minimum, double installed)
{
    double gpus = (double)ckpd__layout_gpus(l);
    return gpus < minimum     ? CKPD_DROP_FEW_GPUS
           : gpus > installed ? CKPD_DROP_MANY_GPUS
                              : CKPD_DROP_NONE;
}

static int32_t check_experts(const ckpd__architecture *m, const ckpd__layout *l)
{
    if (l->ep == 1) {
        return CKPD_DROP_NONE;
    }
    bool fits = m->experts > 0 && m->experts % l->ep == 0 && l->dp * l->cp % l->ep == 0;
    return fits ? CKPD_DROP_NONE : CKPD_DROP_EXPERTS;
}

static int32_t check_batch(const ckpd__architecture *m, const ckpd__layout *l)
{
    int64_t at_once = (int64_t)l->dp * l->micro_batch;
    if (m->batch % at_once != 0) {
        return CKPD_DROP_BATCH;
    }
    return m->batch / at_once < l->pp ? CKPD_DROP_FILL : CKPD_DROP_NONE;
}

/* Interleaving needs whole chunks (embedding and head may take the place of a layer each) and a
   whole number of rounds of pp micro-batches. */
static int32_t check_interleave(const ckpd__architecture *m, const ckpd__layout *l)
{
    if (l->interleave == 1) {
        return CKPD_DROP_NONE;
    }
    int64_t parts = (int64_t)l->pp * l->interleave;
    bool apart = m->layers % l->pp != 0;
    bool chunks = l->pp > 1 && (m->layers + (apart ? 2 : 0)) % parts == 0;
    bool rounds = m->batch / ((int64_t)l->dp * l->micro_batch) % l->pp == 0;
    return chunks && rounds ? CKPD_DROP_NONE : CKPD_DROP_PIPELINE;
}

/* Kernel times of recent (tp, cp, ep, micro-batch), by a simple hash. */
enum { MEMO = 64 };
typedef struct memo {
    ckpd__kernels slot[MEMO];
} memo;

static const ckpd__kernels *look_up(memo *known, const ckpd__predictor *p, const ckpd__layout *l)
{
    uint32_t hash = (uint32_t)l->tp * 31u + (uint32_t)l->cp * 7u + (uint32_t)l->ep * 13u +
                    (uint32_t)l->micro_batch * 5u;
    ckpd__kernels *k = &known->slot[(hash ^ hash >> 6) % MEMO];
    if (k->tp != l->tp || k->cp != l->cp || k->ep != l->ep || k->micro_batch != l->micro_batch) {
        ckpd__kernels_init(k, p, l);
    }
    return k;
}

static int32_t screen(ckpd__modes *modes, const ckpd__predictor *p, memo *known,
                      const ckpd__layout *l)
{
    ckpd__memory memory;
    ckpd__predict_memory(p, l, &memory);
    if (memory.total > p->memory_limit) {
        return ckpd__modes_refuse(modes, l, CKPD_DROP_MEMORY, memory.total - p->memory_limit);
    }
    ckpd__times times;
    ckpd__predict_times(p, look_up(known, p, l), l, &times);
    ckpd__candidate candidate = {
        *l,
        (int32_t)ckpd__layout_gpus(l),
        0,
        -1,
        0,
        ckpd__predict_rate(p, &times),
        ckpd__predict_power(p, l, &times),
    };
    modes->feasible++;
    return ckpd__modes_keep(modes, &candidate);
}

/* The innermost dimensions, with (tp, pp, dp, cp, ep) set and in order. */
static int32_t enumerate_inner(ckpd__modes *modes, const ckpd__predictor *p, const choices *c,
                               memo *known, ckpd__layout l)
{
    int32_t status = CKPD_OK;
    for (int32_t i = 0; i < c->count[CKPD__LIST_MICRO_BATCH] && status == CKPD_OK; i++) {
        l.micro_batch = c->values[CKPD__LIST_MICRO_BATCH][i];
        l.interleave = l.recompute = 0;
        int32_t reason = check_batch(&p->model, &l);
        if (reason != CKPD_DROP_NONE) {
            modes->layouts++;
            status = ckpd__modes_refuse(modes, &l, reason, (double)NAN);
            continue;
        }
        for (int32_t j = 0; j < c->count[CKPD__LIST_INTERLEAVE] && status == CKPD_OK; j++) {
            l.interleave = c->values[CKPD__LIST_INTERLEAVE][j];
            l.recompute = 0;
            reason = check_interleave(&p->model, &l);
            if (reason != CKPD_DROP_NONE) {
                modes->layouts++;
                status = ckpd__modes_refuse(modes, &l, reason, (double)NAN);
                continue;
            }
            for (int32_t k = 0; k < c->count[CKPD__LIST_RECOMPUTE] && status == CKPD_OK; k++) {
                l.recompute = c->values[CKPD__LIST_RECOMPUTE][k];
                modes->layouts++;
                status = screen(modes, p, known, &l);
            }
        }
    }
    return status;
}

typedef struct limits {
    double minimum, installed;
    bool uneven;
} limits;

/* Data, context and expert parallel for given tp and pp. */
static int32_t enumerate_middle(ckpd__modes *modes, const ckpd__predictor *p, const choices *c,
                                const limits *limit, memo *known, ckpd__layout l)
{
    int32_t status = CKPD_OK;
    int32_t cps = c->count[CKPD__LIST_CP], eps = c->count[CKPD__LIST_EP];
    int32_t total = c->count[CKPD__LIST_DP] * cps * eps;
    for (int32_t i = 0; i < total && status == CKPD_OK; i++) {
        l.dp = c->values[CKPD__LIST_DP][i / (cps * eps)];
        l.cp = c->values[CKPD__LIST_CP][i / eps % cps];
        l.ep = c->values[CKPD__LIST_EP][i % eps];
        int32_t reason = check_gpus(&l, limit->minimum, limit->installed);
        if (reason == CKPD_DROP_NONE && p->model.sequence % (2 * l.cp) != 0 && l.cp > 1) {
            reason = CKPD_DROP_CONTEXT;
        }
        if (reason == CKPD_DROP_NONE) {
            reason = check_experts(&p->model, &l);
        }
        if (reason != CKPD_DROP_NONE) {
            modes->layouts++;
            status = ckpd__modes_refuse(modes, &l, reason, (double)NAN);
        } else {
            status = enumerate_inner(modes, p, c, known, l);
        }
    }
    return status;
}

int32_t ckpd__enumerate(ckpd__modes *modes, const ckpd__predictor *p, const ckpd_mode_rules *rules,
                        double minimum_gpus, double installed_gpus)
{
    choices c = {{NULL}, {0}, NULL, NULL, {0}};
    int32_t status = choices_init(&c, modes->context, p, rules);
    if (status != CKPD_OK) {
        return status;
    }
    memo known = {{{0}}};
    limits limit = {minimum_gpus, installed_gpus, rules->values[CKPD__RULE_UNEVEN_STAGES] > 0};
    for (int32_t i = 0; i < c.count[CKPD__LIST_TP] && status == CKPD_OK; i++) {
        ckpd__layout l = {.tp = c.values[CKPD__LIST_TP][i]};
        int32_t reason = check_tensor(p, l.tp);
        if (reason != CKPD_DROP_NONE) {
            modes->layouts++;
            status = ckpd__modes_refuse(modes, &l, reason, (double)NAN);
            continue;
        }
        for (int32_t j = 0; j < c.count[CKPD__LIST_PP] && status == CKPD_OK; j++) {
            l.pp = c.values[CKPD__LIST_PP][j];
            bool whole = limit.uneven ? l.pp <= p->model.layers + 2 : p->model.layers % l.pp == 0;
            if (whole) {
                status = enumerate_middle(modes, p, &c, &limit, &known, l);
            } else {
                modes->layouts++;
                status = ckpd__modes_refuse(modes, &l, CKPD_DROP_PIPELINE, (double)NAN);
            }
        }
    }
    ckpd__free(modes->context, c.divisors_pp);
    ckpd__free(modes->context, c.divisors_dp);
    return status;
}
