/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Peak memory of the fullest GPU (docs/modes.md, "Memory"). */
#include "modes/modes.h"

#include <math.h>

/* Parameters on one GPU of the fullest stage. */
static double stage_parameters(const ckpd__predictor *p, const ckpd__layout *l,
                               const ckpd__stages *s)
{
    const ckpd__architecture *m = &p->model;
    double spread = m->expert_parameters * (1 - 1.0 / l->ep); /* experts that live on other GPUs */
    if ((int32_t)p->hw[CKPD__HW_STATE_SPLIT] == CKPD__SPLIT_EVEN) {
        return (m->parameters - spread * m->layers) / ((double)l->tp * l->pp);
    }
    double layer = m->layer_parameters - spread;
    double ends = s->first * layer + s->embeddings * m->embedding_parameters;
    double middle = s->most * layer + (s->apart ? 0 : s->embeddings * m->embedding_parameters);
    return fmax(ends, middle) / l->tp;
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
        /* Two layers at a time are whole: weight and gradient, 16-bit each. */
        double gathered = fmin(parameters, 2 * p->model.layer_parameters / l->tp) * 4;
        return parameters * all / ranks + gathered * (1 - 1 / ranks);
    }
    }
}

/* Bytes that one layer keeps for its backward pass, per sequence element and hidden unit. */
static double kept_bytes(const ckpd__predictor *p, const ckpd__layout *l, double scores)
{
    double t = l->tp;
    double plain = p->hw[CKPD__HW_SEQUENCE_PARALLEL] > 0 ? 34 / t : 10 + 24 / t;
    switch (l->recompute) {
    case CKPD_RECOMPUTE_FULL:
        return 2;
    case CKPD_RECOMPUTE_SELECTIVE:
        return plain;
    default:
        return plain + scores;
    }
}

void ckpd__predict_memory(const ckpd__predictor *p, const ckpd__layout *l, ckpd__memory *out)
{
    const ckpd__architecture *m = &p->model;
    double t = l->tp, h = m->hidden, s = m->sequence;
    double sbh = s / l->cp * l->micro_batch * h;
    bool flash = p->hw[CKPD__HW_FLASH_ATTENTION] > 0;
    double scores = flash ? 0 : 5.0 * m->heads * s / (h * t);
    double micro_batches = (double)m->batch / ((double)l->dp * l->micro_batch);
    double in_flight = fmin(l->pp, micro_batches);
    if (l->interleave > 1) {
        in_flight *= 1 + (l->pp - 1.0) / ((double)l->pp * l->interleave);
    }
    ckpd__stages stages;
    ckpd__stages_init(&stages, m, l->pp);
    out->states = state_bytes(p, l, stage_parameters(p, l, &stages));
    out->activations = in_flight * stages.most * sbh * kept_bytes(p, l, scores);
    out->logits = p->hw[CKPD__HW_LOGITS_BYTES] * s / l->cp * l->micro_batch * m->vocabulary / t;
    double work = flash ? 34 / t : 10 + 24 / t + scores;
    work = l->recompute == CKPD_RECOMPUTE_FULL ? sbh * work : 0;
    out->working = fmax(work, out->logits);
    double counted = out->states + out->activations + out->working;
    out->overhead =
        (p->hw[CKPD__HW_MEMORY_FACTOR] - 1) * counted + p->hw[CKPD__HW_MEMORY_OFFSET_GB] * 1e9;
    out->total = counted + out->overhead;
}
