/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Time, power and memory of one layout. Equations and their sources: docs/modes.md. */
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
    const int32_t x[] = {a->tp, a->pp, a->dp, a->micro_batch, a->cp, a->ep, a->interleave, a->recompute};
    const int32_t y[] = {b->tp, b->pp, b->dp, b->micro_batch, b->cp, b->ep, b->interleave, b->recompute};
    for (int32_t i = 0; i < 8; i++) {
        if (x[i] != y[i]) {
            return x[i] < y[i] ? -1 : 1;
        }
    }
    return 0;
}

/* --- memory ---------------------------------------------------------------------------------- */

/* Parameters on one GPU of the fullest stage. */
static double stage_parameters(const ckpd__predictor *p, const ckpd__layout *l)
{
    const ckpd__architecture *m = &p->model;
    double spread = m->expert_parameters * (1 - 1.0 / l->ep); /* experts that live on other GPUs */
    if ((int32_t)p->hw[CKPD__HW_STATE_SPLIT] == CKPD__SPLIT_EVEN) {
        return (m->parameters - spread * m->layers) / ((double)l->tp * l->pp);
    }
    double layers = ceil((double)m->layers / l->pp);
    double embeddings = l->pp == 1 && !m->tied ? 2 : 1;
    return (layers * (m->layer_parameters - spread) + embeddings * m->embedding_parameters) / l->tp;
}

static double state_bytes(const ckpd__predictor *p, const ckpd__layout *l, double parameters)
{
    double all = p->hw[CKPD__HW_PARAMETER_BYTES];
    double sharded = fmin(p->hw[CKPD__HW_SHARDED_BYTES], all);
    double ranks = (double)l->dp * l->cp;
    switch ((int32_t)p->hw[CKPD__HW_SHARDING]) {
    case CKPD__SHARD_NONE:
        return parameters * all;
    case CKPD__SHARD_OPTIMIZER:
        return parameters * (all - sharded + sharded / ranks);
    default: {
        /* Weights are gathered one layer at a time, weight and gradient, one layer ahead. */
        double gathered = fmin(parameters, 2 * p->model.layer_parameters / l->tp) * 4;
        return parameters * all / ranks + gathered * (1 - 1 / ranks);
    }
    }
}

void ckpd__predict_memory(const ckpd__predictor *p, const ckpd__layout *l, ckpd__memory *out)
{
    const ckpd__architecture *m = &p->model;
    double t = l->tp, h = m->hidden, s = m->sequence;
    double sbh = s / l->cp * l->micro_batch * h;
    double scores = p->hw[CKPD__HW_FLASH_ATTENTION] > 0 ? 0 : 5.0 * m->heads * s / (h * t);
    double micro_batches = (double)m->batch / ((double)l->dp * l->micro_batch);
    double in_flight = fmin(l->pp, micro_batches);
    if (l->interleave > 1) {
        in_flight *= 1 + (l->pp - 1.0) / ((double)l->pp * l->interleave);
    }
    double layer = l->recompute == CKPD_RECOMPUTE_FULL ? 2
                   : l->recompute == CKPD_RECOMPUTE_SELECTIVE ? 34 / t
                                                              : 34 / t + scores;
    double parameters = stage_parameters(p, l);
    out->states = state_bytes(p, l, parameters);
    out->activations = in_flight * ceil((double)m->layers / l->pp) * sbh * layer;
    out->logits = p->hw[CKPD__HW_LOGITS_BYTES] * s / l->cp * l->micro_batch * m->vocabulary / t;
    double work = p->hw[CKPD__HW_FLASH_ATTENTION] > 0 ? 34 / t : 10 + 24 / t + scores;
    work = l->recompute == CKPD_RECOMPUTE_FULL ? sbh * work : 0;
    out->working = fmax(work, out->logits);
    double counted = out->states + out->activations + out->working;
    out->overhead = (p->hw[CKPD__HW_MEMORY_FACTOR] - 1) * counted + p->hw[CKPD__HW_MEMORY_OFFSET_GB] * 1e9;
    out->total = counted + out->overhead;
}

/* --- time ------------------------------------------------------------------------------------ */

/* Kernel saturation: width of the sharded matrices and tokens of a micro-batch, 1 at 4096. */
static double saturation(double x, double half)
{
    return half > 0 ? x / (x + half) * ((4096 + half) / 4096) : 1;
}

void ckpd__predict_times(const ckpd__predictor *p, const ckpd__layout *l, ckpd__times *out)
{
    const ckpd__architecture *m = &p->model;
    const double *hw = p->hw;
    double t = l->tp, pp = l->pp, v = l->interleave, b = l->micro_batch;
    double s = (double)m->sequence / l->cp, h = m->hidden;
    double fast = hw[CKPD__HW_LINK_EFFICIENCY] * hw[CKPD__HW_NVLINK] * 1e9;
    double slow = hw[CKPD__HW_LINK_EFFICIENCY] * hw[CKPD__HW_NETWORK] * 1e9;
    bool full = l->recompute == CKPD_RECOMPUTE_FULL;
    double forward = 2 * m->active_layer_parameters * m->layers * b * s +
                     2 * s * m->sequence * h * b * m->layers;
    double head = 2 * m->embedding_parameters * b * s;
    double rate = hw[CKPD__HW_EFFICIENCY] * saturation(h / t, hw[CKPD__HW_WIDTH_HALF]) *
                  saturation(b * s, hw[CKPD__HW_TOKENS_HALF]) * hw[CKPD__HW_PEAK_TFLOPS] * 1e12;
    double compute = ((full ? 4 : 3) * forward + 3 * head) / (t * pp * rate);
    double hidden_bytes = 2 * b * s * h;
    double reduce = (full ? 6 : 4) * (m->layers / pp) * 2 * (t - 1) / t * hidden_bytes /
                    (t > hw[CKPD__HW_NODE_GPUS] ? slow : fast);
    double tensor = (1 - hw[CKPD__HW_TP_OVERLAP]) * reduce;
    double hops = l->pp > 1 ? 2 * v * hidden_bytes / t / slow : 0;
    double ranks = (double)l->dp * l->cp;
    bool inside = (double)ckpd__layout_gpus(l) <= hw[CKPD__HW_NODE_GPUS];
    double exchange = 4 * m->parameters / (t * pp) * (ranks - 1) / ranks / (inside ? fast : slow);

    double count = (double)m->batch / ((double)l->dp * b);
    double turns = (pp - 1) / v;
    out->micro_batches = count;
    out->compute = count * compute;
    out->tp = count * tensor;
    out->pp = count * hops;
    out->dp = hw[CKPD__HW_DP_EXPOSED] * exchange;
    out->bubble = turns * (compute + tensor + hops);
    out->matrix = (count + turns) * compute;
    out->iteration = out->compute + out->tp + out->pp + out->dp + out->bubble;
    out->busy = (out->compute + out->tp) / out->iteration;
}

double ckpd__efficiency_for(const ckpd__predictor *p, const ckpd__layout *l, double iteration_s)
{
    ckpd__times t;
    ckpd__predict_times(p, l, &t);
    double left = iteration_s - (t.iteration - t.matrix);
    return left > 0 ? p->hw[CKPD__HW_EFFICIENCY] * t.matrix / left : -1;
}

double ckpd__predict_rate(const ckpd__predictor *p, const ckpd__times *times)
{
    return (double)p->model.batch * p->model.sequence / times->iteration;
}

double ckpd__predict_power(const ckpd__predictor *p, const ckpd__layout *l, const ckpd__times *times)
{
    double idle = p->hw[CKPD__HW_IDLE_KW], busy = p->hw[CKPD__HW_BUSY_KW];
    return (double)ckpd__layout_gpus(l) *
           (idle + (busy - idle) * times->busy + p->hw[CKPD__HW_NETWORK_KW]);
}

/* --- everything ------------------------------------------------------------------------------ */

static bool is_misaligned(const ckpd__architecture *m, const ckpd__layout *l)
{
    return m->hidden / m->heads % 8 != 0 || m->hidden / l->tp % 64 != 0;
}

void ckpd__predict_mode(const ckpd__predictor *p, const ckpd__layout *l, ckpd_mode *out)
{
    const ckpd__architecture *m = &p->model;
    ckpd__memory memory;
    ckpd__times times;
    ckpd__predict_memory(p, l, &memory);
    ckpd__predict_times(p, l, &times);
    double gpus = (double)ckpd__layout_gpus(l), peak = p->hw[CKPD__HW_PEAK_TFLOPS] * 1e12;
    double rate = ckpd__predict_rate(p, &times), power = ckpd__predict_power(p, l, &times);
    double attention = 6.0 * m->layers * m->sequence * m->hidden; /* causal, forward and backward */
    double layers = 6 * m->active_layer_parameters * m->layers + attention;
    double model_flop = layers + 6 * m->embedding_parameters;
    double again = l->recompute == CKPD_RECOMPUTE_FULL        ? layers / 3
                   : l->recompute == CKPD_RECOMPUTE_SELECTIVE ? attention / 3
                                                              : 0;
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
        .gpus = (int32_t)gpus,
        .flags = (is_misaligned(m, l) ? CKPD_MODE_MISALIGNED : 0) |
                 (l->cp > 1 || l->ep > 1 || m->experts > 0 ? CKPD_MODE_UNVALIDATED : 0),
        .source_index = -1,
        .rate = rate,
        .power_kw = power,
        .idle_power_kw = gpus * (p->hw[CKPD__HW_IDLE_KW] + p->hw[CKPD__HW_NETWORK_KW]),
        .iteration_s = times.iteration,
        .compute_s = times.compute,
        .tp_s = times.tp,
        .pp_s = times.pp,
        .dp_s = times.dp,
        .bubble_s = times.bubble,
        .busy_fraction = times.busy,
        .mfu = model_flop * rate / (gpus * peak),
        .hfu = (model_flop + again) * rate / (gpus * peak),
        .joule_per_token = power * 1000 / rate,
        .rate_error = p->hw[CKPD__HW_RATE_ERROR],
        .memory_error = p->hw[CKPD__HW_MEMORY_ERROR],
        .power_error = p->hw[CKPD__HW_POWER_ERROR],
        .memory_bytes = memory.total,
        .memory_limit = p->memory_limit,
        .margin_bytes = p->memory_limit - memory.total,
        .states_bytes = memory.states,
        .activations_bytes = memory.activations,
        .working_bytes = memory.working,
        .logits_bytes = memory.logits,
        .overhead_bytes = memory.overhead,
    };
}
