/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Seconds of one layer and one micro-batch on one GPU (docs/modes.md, "Kernels"). */
#include "modes/modes.h"

#include <math.h>

/* Thread block tiles of matrix-product libraries and their rate relative to the largest. */
static const struct {
    int32_t row_shift, column_shift;
    double rate;
} tiles[] = {{8, 7, 1.0}, {7, 8, 1.0}, {7, 7, 0.93}, {8, 6, 0.85}, {6, 8, 0.85}, {7, 6, 0.80}};

static int64_t tile_count(int64_t length, int32_t shift)
{
    return (length + (INT64_C(1) << shift) - 1) >> shift;
}

/*
 * FLOP that a product of rows x inner by inner x columns occupies: every wave of tiles takes as
 * long as a full one, and the library picks the best tile.
 */
static double occupied(double rows, double columns, double inner, int64_t processors)
{
    double useful = 2 * rows * columns * inner;
    if (processors <= 0) {
        return useful;
    }
    double least = INFINITY;
    int64_t m = (int64_t)ceil(rows), n = (int64_t)ceil(columns);
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        int64_t count = tile_count(m, tiles[i].row_shift) * tile_count(n, tiles[i].column_shift);
        double waves = (double)((count + processors - 1) / processors);
        double area = (double)(INT64_C(1) << (tiles[i].row_shift + tiles[i].column_shift));
        least = fmin(least, 2 * waves * (double)processors * area * inner / tiles[i].rate);
    }
    return fmax(least, useful);
}

typedef struct products {
    double forward, backward;
} products;

/* A weight of inner x columns applied to `rows` tokens: its output, and both gradients. */
static void add_product(products *sum, double rows, double inner, double columns, double times,
                        int64_t processors)
{
    sum->forward += times * occupied(rows, columns, inner, processors);
    sum->backward += times * (occupied(rows, inner, columns, processors) +
                              occupied(inner, columns, rows, processors));
}

static void add_mlp(products *sum, const ckpd__architecture *m, double tokens, double width,
                    double times, int64_t processors)
{
    add_product(sum, tokens, m->hidden, m->gated_mlp ? 2 * width : width, times, processors);
    add_product(sum, tokens, width, m->hidden, times, processors);
}

static products layer_products(const ckpd__predictor *p, const ckpd__layout *l, double tokens)
{
    const ckpd__architecture *m = &p->model;
    int64_t processors = (int64_t)p->hw[CKPD__HW_MULTIPROCESSORS];
    double h = m->hidden, t = l->tp, kv = h / m->heads * m->kv_heads;
    products sum = {0, 0};
    add_product(&sum, tokens, h, (h + 2 * kv) / t, 1, processors);
    add_product(&sum, tokens, h / t, h, 1, processors);
    if (m->experts == 0) {
        add_mlp(&sum, m, tokens, m->ffn / t, 1, processors);
    } else {
        double width = m->expert_ffn / t, local = (double)m->experts / l->ep;
        add_mlp(&sum, m, tokens * m->active_experts / local, width, local, processors);
        add_mlp(&sum, m, tokens, width, m->shared_experts, processors);
    }
    /* A given parameter total scales the layers. */
    double scale = m->parameters / m->derived;
    return (products){sum.forward * scale, sum.backward * scale};
}

/* Saturation in the width of the sharded matrices and the tokens of a micro-batch, 1 at 4096. */
static double saturation(double x, double half)
{
    return half > 0 ? x / (x + half) * ((4096 + half) / 4096) : 1;
}

static double score_seconds(const ckpd__predictor *p, const ckpd__layout *l, double pass_flop)
{
    const ckpd__architecture *m = &p->model;
    double s = (double)m->sequence / l->cp, seconds = 0;
    if (p->hw[CKPD__HW_FLASH_ATTENTION] == 0) {
        double bytes = 2.0 * m->heads * s * m->sequence * l->micro_batch / l->tp;
        seconds += p->hw[CKPD__HW_SCORE_PASSES] * bytes / (p->hw[CKPD__HW_HBM] * 1e9);
    }
    if (m->hidden / m->heads % 8 != 0) {
        /* The whole square is computed, and without tensor cores. */
        double peak = p->hw[CKPD__HW_PEAK_TFLOPS] * 1e12;
        seconds += 2 * pass_flop / (p->hw[CKPD__HW_MISALIGNED_ATTENTION] * peak);
    }
    return seconds;
}

/* Keys and values around the context ring, and tokens to their experts and back. */
static double exchange_seconds(const ckpd__predictor *p, const ckpd__layout *l, double hidden_bytes,
                               double fast, double slow)
{
    const ckpd__architecture *m = &p->model;
    double node = p->hw[CKPD__HW_NODE_GPUS], seconds = 0;
    if (l->cp > 1) {
        double kv_bytes = 2 * hidden_bytes * m->kv_heads / m->heads / l->tp;
        seconds += 3 * (l->cp - 1) * kv_bytes / ((double)l->tp * l->cp <= node ? fast : slow);
    }
    if (l->ep > 1) {
        double routed = hidden_bytes * m->active_experts * (l->ep - 1) / l->ep / l->tp;
        seconds += 4 * routed / ((double)l->tp * l->ep <= node ? fast : slow);
    }
    return seconds;
}

void ckpd__kernels_init(ckpd__kernels *out, const ckpd__predictor *p, const ckpd__layout *l)
{
    const ckpd__architecture *m = &p->model;
    const double *hw = p->hw;
    double t = l->tp, h = m->hidden, s = (double)m->sequence / l->cp;
    double tokens = l->micro_batch * s, hidden_bytes = 2 * tokens * h;
    double peak = hw[CKPD__HW_PEAK_TFLOPS] * 1e12;
    double full = peak * saturation(h / t, hw[CKPD__HW_WIDTH_HALF]) *
                  saturation(tokens, hw[CKPD__HW_TOKENS_HALF]);
    double fast = hw[CKPD__HW_LINK_EFFICIENCY] * hw[CKPD__HW_NVLINK] * 1e9;
    double slow = hw[CKPD__HW_NETWORK_EFFICIENCY] * hw[CKPD__HW_NETWORK] * 1e9;
    products sum = layer_products(p, l, tokens);
    double gain =
        (int32_t)hw[CKPD__HW_PRECISION] == CKPD__PRECISION_FP8 ? hw[CKPD__HW_FP8_GAIN] : 1;
    double pass_flop = 2 * s * m->sequence * h * l->micro_batch / t;
    *out = (ckpd__kernels){
        .tp = l->tp,
        .cp = l->cp,
        .ep = l->ep,
        .micro_batch = l->micro_batch,
        .forward = sum.forward / full / gain,
        .backward = sum.backward / full / gain,
        .attention =
            pass_flop / full / (hw[CKPD__HW_FLASH_ATTENTION] > 0 ? hw[CKPD__HW_FLASH_GAIN] : 1),
        .head = 6 * m->embedding_parameters * tokens / t / full / hw[CKPD__HW_HEAD_GAIN],
        .fixed = score_seconds(p, l, pass_flop) + hw[CKPD__HW_LAYER_OVERHEAD_MS] / 1000,
        .reduce = 2 * (t - 1) / t * hidden_bytes / (t > hw[CKPD__HW_NODE_GPUS] ? slow : fast),
        .exchange = exchange_seconds(p, l, hidden_bytes, fast, slow),
    };
}
