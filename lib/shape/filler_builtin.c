/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Types that ship. Power per GPU and batch time on H100, typed from the ML.ENERGY benchmark v3
 * (leaderboard repository at commit 0cd52dab; data set licence Apache-2.0 by its card): power as
 * printed; batch time is mean output tokens times median inter-token latency for language models,
 * the printed batch latency for images. Queue lengths are ours.
 */
#include "shape/shape.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 7 };

typedef struct builtin {
    const char *name;
    int32_t gpus_per_replica, queue, tokens, rows, planned[2];
    int32_t batch[MOST_ROWS];
    double power_w[MOST_ROWS];
    double duration_s[MOST_ROWS];
} builtin;

/* Chat models were measured at the same batches; `...` is {power}, {duration} at those. */
#define CHAT(name, gpus_per_replica, queue, tokens, ...)                                     \
    {                                                                                        \
        name, gpus_per_replica, queue, tokens, 7, {64, 128}, {8, 16, 32, 64, 128, 192, 256}, \
            __VA_ARGS__                                                                      \
    }
static const builtin types[] = {
    CHAT("llama3.1-8b-chat", 1, 3000, 393, {486, 513, 560, 610, 669, 688, 691},
         {2.9, 3.1, 3.5, 4.5, 6.5, 8.3, 10.3}),
    CHAT("qwen3-8b-chat", 1, 2000, 645, {427, 451, 478, 514, 573, 600, 633},
         {5.3, 5.8, 6.8, 9.0, 13.4, 17.0, 20.3}),
    CHAT("qwen3-14b-chat", 1, 2000, 617, {443, 465, 494, 525, 572, 613, 645},
         {7.7, 8.2, 9.3, 11.7, 16.2, 20.6, 23.7}),
    CHAT("llama3.1-70b-tp4", 4, 1500, 351, {441, 451, 449, 500, 546, 573, 589},
         {5.8, 6.2, 7.0, 7.9, 9.8, 11.8, 14.0}),
    CHAT("llama3.1-405b-tp8", 8, 800, 366, {408, 423, 468, 520, 576, 602, 609},
         {12.2, 12.4, 13.3, 14.4, 17.6, 22.8, 24.5}),
    {"qwen3-30b-a3b",
     1,
     1000,
     920,
     5,
     {32, 64},
     {8, 16, 32, 64, 96},
     {399, 439, 468, 480, 494},
     {11.9, 16.2, 20.8, 26.6, 29.5}},
    {"sana-1.6b-image", 1, 800, 0, 2, {4, 0}, {2, 4}, {593, 631}, {1.4, 2.7}},
    {"sd3.5-med-image", 1, 400, 0, 2, {4, 0}, {2, 4}, {471, 510}, {6.6, 12.5}},
};

int32_t ckpd_filler_builtin_count(void)
{
    return (int32_t)(sizeof types / sizeof types[0]);
}

const char *ckpd_filler_builtin_name(int32_t index)
{
    return index >= 0 && index < ckpd_filler_builtin_count() ? types[index].name : NULL;
}

static int32_t unknown_type(ckpd_context *context, const char *name)
{
    const char *names[sizeof types / sizeof types[0]];
    for (int32_t i = 0; i < ckpd_filler_builtin_count(); i++) {
        names[i] = types[i].name;
    }
    const char *nearest = ckpd__nearest(name, names, (size_t)ckpd_filler_builtin_count());
    return ckpd__fail(context, CKPD_ERR_UNKNOWN_NAME, "name", -1, (double)NAN,
                      "no filler type named '%s' ships with the library%s%s", name,
                      nearest == NULL ? "" : "; nearest: ", nearest == NULL ? "" : nearest);
}

int32_t ckpd_filler_builtin(ckpd_filler **out, ckpd_context *context, const char *name)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (out == NULL || context == NULL || name == NULL) {
        return context == NULL ? CKPD_ERR_ARGUMENT
                               : ckpd__null_argument(context, out == NULL ? "out" : "name");
    }
    int32_t index = 0;
    while (index < ckpd_filler_builtin_count() && strcmp(types[index].name, name) != 0) {
        index++;
    }
    if (index == ckpd_filler_builtin_count()) {
        return unknown_type(context, name);
    }
    const builtin *type = &types[index];
    ckpd_filler *filler;
    int32_t status = ckpd_filler_new(&filler, context, name);
    if (status != CKPD_OK) {
        return status;
    }
    filler->values[FILLER_GPUS_PER_REPLICA] = type->gpus_per_replica;
    filler->values[FILLER_QUEUE_GROUPS] = type->queue;
    filler->values[FILLER_TOKENS_PER_REQUEST] = type->tokens;
    status = ckpd_filler_set_table(filler, type->rows, type->batch, 1, NULL, type->power_w,
                                   type->duration_s);
    if (status == CKPD_OK) {
        status = ckpd_filler_set_planned(filler, type->planned[1] == 0 ? 1 : 2, type->planned);
    }
    if (status != CKPD_OK) {
        ckpd_filler_free(filler);
        return status;
    }
    *out = filler;
    return CKPD_OK;
}
