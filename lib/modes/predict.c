/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Time and power of one layout, and everything about it. Equations and sources: docs/modes.md. */
#include "modes/modes.h"

#include <math.h>

void ckpd__predictor_init(ckpd__predictor *predictor, const ckpd__architecture *model,
                          const ckpd_hardware *hardware, double margin_gb)
{
    predictor->model = *model;
    for (int32_t i = 0; i < CKPD__HW_FIELDS; i++) {
        predictor->hw[i] = hardware->values[i];
    }
    predictor->memory_limit = (hardware->values[CKPD__HW_MEMORY_GB] - margin_gb) * 1e9;
}

int32_t ckpd__layout_compare(const ckpd__layout *a, const ckpd__layout *b)
{
    const int32_t x[] = {a->tp, a->pp, a->dp,         a->micro_batch,
                         a->cp, a->ep, a->interleave, a->recompute};
    const int32_t y[] = {b->tp, b->pp, b->dp,         b->micro_batch,
                         b->cp, b->ep, b->interleave, b->recompute};
    for (int32_t i = 0; i < 8; i++) {
        if (x[i] != y[i]) {
            return x[i] < y[i] ? -1 : 1;
        }
    }
    return 0;
}

void ckpd__stages_init(ckpd__stages *s, const ckpd__architecture *m, int32_t pp)
{
    double even = (double)m->layers / pp;
    *s = (ckpd__stages){even, even, even, pp == 1 && !m->tied ? 2 : 1, false};
    if (m->layers % pp == 0) {
        return;
    }
    if ((m->layers + 2) % pp == 0) {
        s->most = (m->layers + 2) / pp;
        s->first = s->last = s->most - 1;
        s->apart = true;
    } else {
        s->most = s->first = ceil(even);
        s->last = fmax(0, m->layers - s->most * (pp - 1));
    }
}

/* --- time ------------------------------------------------------------------------------------ */

typedef struct stage_cost {
    double matrix,
        fixed; /* one micro-batch through a stage: at efficiency 1, and independent of it */
} stage_cost;

/* The stage that paces the pipeline: the one with most layers, or the last one with the head. */
static stage_cost pacing_stage(const ckpd__stages *s, const ckpd__architecture *m, int32_t pp,
                               bool average, stage_cost layer, double head, double efficiency)
{
    if (average) {
        return (stage_cost){((double)m->layers * layer.matrix + head) / pp,
                            (double)m->layers / pp * layer.fixed};
    }
    stage_cost most = {s->most * layer.matrix, s->most * layer.fixed};
    stage_cost last = {s->last * layer.matrix + head, s->last * layer.fixed};
    bool head_paces = last.matrix / efficiency + last.fixed > most.matrix / efficiency + most.fixed;
    return head_paces ? last : most;
}

/* Gradient and parameter exchange of one iteration, as far as it is not hidden. */
static double exchange_time(const ckpd__predictor *p, const ckpd__layout *l, double micro_batches,
                            double busy)
{
    const ckpd__architecture *m = &p->model;
    const double *hw = p->hw;
    double ranks = (double)l->dp * l->cp, share = (ranks - 1) / ranks;
    double spread = m->expert_parameters * m->layers * (1 - 1.0 / l->ep);
    double parameters = (m->parameters - spread) / ((double)l->tp * l->pp);
    double link = hw[CKPD__HW_LINK_EFFICIENCY] * hw[CKPD__HW_NVLINK] * 1e9;
    double network = hw[CKPD__HW_NETWORK_EFFICIENCY] * hw[CKPD__HW_NETWORK] * 1e9;
    bool inside = (double)ckpd__layout_gpus(l) <= hw[CKPD__HW_NODE_GPUS];
    if ((int32_t)hw[CKPD__HW_SHARDING] != CKPD__SHARD_FULL) {
        return hw[CKPD__HW_DP_EXPOSED] * 4 * parameters * share / (inside ? link : network);
    }
    /* Weights are gathered for each pass of each micro-batch and gradients reduced, beside
       computing. The rings of a node share its adapters, and there are as many as tensor-parallel
       ranks. */
    double gathers = l->recompute == CKPD_RECOMPUTE_FULL ? 3 : 2;
    double rings = fmin(l->tp, hw[CKPD__HW_NODE_GPUS]);
    double rate = inside ? link : fmin(link, network * hw[CKPD__HW_NODE_GPUS] / rings);
    double traffic = micro_batches * (gathers + 1) * 2 * parameters * share / rate;
    return fmax(hw[CKPD__HW_GATHER_EXPOSED] * traffic, traffic - busy);
}

void ckpd__predict_times(const ckpd__predictor *p, const ckpd__kernels *k, const ckpd__layout *l,
                         ckpd__times *out)
{
    const ckpd__architecture *m = &p->model;
    const double *hw = p->hw;
    bool full = l->recompute == CKPD_RECOMPUTE_FULL;
    bool average = (int32_t)hw[CKPD__HW_STAGE_TIME] == CKPD__STAGE_AVERAGE;
    double e = hw[CKPD__HW_EFFICIENCY];
    double passes = l->recompute == CKPD_RECOMPUTE_NONE ? 3 : 4; /* over the scores */
    stage_cost layer = {
        (full ? 2 : 1) * k->forward + k->backward + passes * k->attention,
        passes * k->fixed,
    };
    double exposed = 1 - hw[CKPD__HW_TP_OVERLAP];
    double tensor = exposed * ((full ? 6 : 4) * k->reduce + k->exchange);
    ckpd__stages stages;
    ckpd__stages_init(&stages, m, l->pp);
    stage_cost whole = {layer.matrix, layer.fixed + tensor};
    stage_cost pace = pacing_stage(&stages, m, l->pp, average, whole, k->head, e);
    stage_cost mean = pacing_stage(&stages, m, l->pp, true, whole, k->head, e);
    double hop = 0, turns = (l->pp - 1.0) / l->interleave;
    if (l->pp > 1) {
        double bytes = 2.0 * l->micro_batch * m->sequence / l->cp * m->hidden / l->tp;
        hop = 2.0 * l->interleave * bytes /
              (hw[CKPD__HW_HOP_EFFICIENCY] * hw[CKPD__HW_NETWORK] * 1e9);
    }
    double count = (double)m->batch / ((double)l->dp * l->micro_batch);
    double paced_layers =
        average ? (double)m->layers / l->pp : pace.fixed / fmax(whole.fixed, 1e-300);
    double pace_tensor = whole.fixed > 0 ? paced_layers * tensor : 0;
    out->micro_batches = count;
    out->matrix = (count * pace.matrix + turns * mean.matrix) / e;
    out->tp = count * pace_tensor;
    out->compute = count * (pace.matrix / e + pace.fixed - pace_tensor);
    out->pp = count * hop;
    out->bubble = turns * (mean.matrix / e + mean.fixed + hop);
    out->dp = exchange_time(p, l, count, out->compute + out->tp + out->bubble);
    out->iteration = out->compute + out->tp + out->pp + out->dp + out->bubble;
    out->busy = (out->compute + out->tp) / out->iteration;
}

double ckpd__efficiency_for(const ckpd__predictor *p, const ckpd__layout *l, double iteration_s)
{
    ckpd__kernels k;
    ckpd__times t;
    ckpd__kernels_init(&k, p, l);
    ckpd__predict_times(p, &k, l, &t);
    double left = iteration_s - (t.iteration - t.matrix);
    return left > 0 ? p->hw[CKPD__HW_EFFICIENCY] * t.matrix / left : -1;
}

double ckpd__predict_rate(const ckpd__predictor *p, const ckpd__times *times)
{
    return (double)p->model.batch * p->model.sequence / times->iteration;
}

double ckpd__predict_power(const ckpd__predictor *p, const ckpd__layout *l,
                           const ckpd__times *times)
{
    double idle = p->hw[CKPD__HW_IDLE_KW], busy = p->hw[CKPD__HW_BUSY_KW];
    return (double)ckpd__layout_gpus(l) *
           (idle + (busy - idle) * times->busy + p->hw[CKPD__HW_NETWORK_KW]);
}

/* --- everything ------------------------------------------------------------------------------ */

static int32_t mode_flags(const ckpd__predictor *p, const ckpd__layout *l)
{
    const ckpd__architecture *m = &p->model;
    bool misaligned = m->hidden / m->heads % 8 != 0 || m->hidden / l->tp % 64 != 0;
    return (misaligned ? CKPD_MODE_MISALIGNED : 0) |
           (l->ep > 1 || m->experts > 0 ? CKPD_MODE_UNVALIDATED : 0) |
           ((int32_t)p->hw[CKPD__HW_POWER_BASIS] == CKPD__POWER_TDP ? CKPD_MODE_TDP_POWER : 0);
}

static void fill_time(ckpd_mode *out, const ckpd__predictor *p, const ckpd__layout *l,
                      const ckpd__times *times)
{
    const ckpd__architecture *m = &p->model;
    double gpus = (double)ckpd__layout_gpus(l), peak = p->hw[CKPD__HW_PEAK_TFLOPS] * 1e12;
    double rate = ckpd__predict_rate(p, times), power = ckpd__predict_power(p, l, times);
    double attention = 6.0 * m->layers * m->sequence * m->hidden; /* causal, forward and backward */
    double layers = 6 * m->active_layer_parameters * m->layers + attention;
    double model_flop = layers + 6 * m->embedding_parameters;
    double again = l->recompute == CKPD_RECOMPUTE_FULL        ? layers / 3
                   : l->recompute == CKPD_RECOMPUTE_SELECTIVE ? attention / 3
                                                              : 0;
    out->rate = rate;
    out->power_kw = power;
    out->idle_power_kw = gpus * (p->hw[CKPD__HW_IDLE_KW] + p->hw[CKPD__HW_NETWORK_KW]);
    out->evaluation_kw = power * p->hw[CKPD__HW_EVALUATION_POWER];
    out->checkpoint_kw = power * p->hw[CKPD__HW_CHECKPOINT_POWER];
    out->iteration_s = times->iteration;
    out->compute_s = times->compute;
    out->tp_s = times->tp;
    out->pp_s = times->pp;
    out->dp_s = times->dp;
    out->bubble_s = times->bubble;
    out->busy_fraction = times->busy;
    out->mfu = model_flop * rate / (gpus * peak);
    out->hfu = (model_flop + again) * rate / (gpus * peak);
    out->joule_per_token = power * 1000 / rate;
    out->rate_error = p->hw[CKPD__HW_RATE_ERROR];
    out->power_error = p->hw[CKPD__HW_POWER_ERROR];
}

void ckpd__predict_mode(const ckpd__predictor *p, const ckpd__layout *l, ckpd_mode *out)
{
    ckpd__kernels kernels;
    ckpd__memory memory;
    ckpd__times times;
    ckpd__kernels_init(&kernels, p, l);
    ckpd__predict_memory(p, l, &memory);
    ckpd__predict_times(p, &kernels, l, &times);
    *out = (ckpd_mode){
        .size = sizeof *out,
        .tp = l->tp,
        .pp = l->pp,
        .dp = l->dp,
        .micro_batch = l->micro_batch,
        .cp = l->cp,
        .ep = l->ep,
        .interleave = l->interleave,
        .recompute = l->recompute,
        .gpus = (int32_t)ckpd__layout_gpus(l),
        .flags = mode_flags(p, l),
        .source_index = -1,
        .memory_error = p->hw[CKPD__HW_MEMORY_ERROR],
        .memory_bytes = memory.total,
        .memory_limit = p->memory_limit,
        .margin_bytes = p->memory_limit - memory.total,
        .states_bytes = memory.states,
        .activations_bytes = memory.activations,
        .working_bytes = memory.working,
        .logits_bytes = memory.logits,
        .overhead_bytes = memory.overhead,
    };
    fill_time(out, p, l, &times);
}
