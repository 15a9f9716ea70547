/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/warm.h"

#include <math.h>
#include <string.h>

static int32_t known_slots(const nat_model *model)
{
    const ckpd_path_prices *prices = model->view->prices;
    return !prices ? 0 : prices->slots < model->slots ? prices->slots : model->slots;
}

bool ckpd__nat_warm_search(nat_search *search)
{
    const nat_model *model = search->model;
    const ckpd_path_prices *prices = model->view->prices;
    size_t T = (size_t)model->slots, known = (size_t)known_slots(model);
    int64_t wanted = 0, found = 0;
    for (int32_t j = 0; j < model->jobs; j++)
        wanted += model->job[j].activities - 1;
    for (int32_t i = 0; known > 0 && i < prices->activities; i++) {
        int32_t j = prices->job[i];
        if (j < 0 || j >= model->jobs)
            continue;
        int32_t a = ckpd__nat_activity(&model->job[j], prices->gpus[i], prices->power_kw[i]);
        if (a <= 0)
            continue;
        memcpy(search->dual.price + search->dual.layout.job[j] + (size_t)a * T,
               prices->price + (size_t)i * (size_t)prices->slots, known * sizeof *prices->price);
        found++;
    }
    return known == T && found == wanted;
}

void ckpd__nat_warm_crowd(nat_crowd *crowd)
{
    const nat_model *model = crowd->model;
    const ckpd_path_prices *prices = model->view->prices;
    size_t T = (size_t)model->slots, known = (size_t)known_slots(model);
    if (known == 0)
        return;
    if (prices->load_price)
        memcpy(crowd->price, prices->load_price, known * sizeof *crowd->price);
    for (size_t t = 0; prices->gpu_price && crowd->prices_gpus && t < known; t++)
        crowd->price[T + t] = crowd->kw_per_gpu > 0 && prices->gpu_price[t] > 0
                                  ? prices->gpu_price[t] / crowd->kw_per_gpu
                                  : 0;
}

/* Prices are a hint: a host may refuse them. False is want of memory alone, here or there. */
bool ckpd__nat_keep_search(const nat_search *search)
{
    const nat_model *model = search->model;
    const ckpd_host *host = search->host;
    size_t T = (size_t)model->slots, rows = 0;
    nat_memory memory = {.host = host};
    if (!host->keep_prices)
        return true;
    for (int32_t j = 0; j < model->jobs; j++)
        rows += (size_t)model->job[j].activities - 1;
    int32_t *job = ckpd__nat_alloc(&memory, rows, sizeof *job),
            *gpus = ckpd__nat_alloc(&memory, rows, sizeof *gpus);
    double *kw = ckpd__nat_alloc(&memory, rows, sizeof *kw),
           *price = ckpd__nat_alloc(&memory, rows * T, sizeof *price);
    bool ok = job && gpus && kw && price;
    if (ok) {
        size_t row = 0;
        for (int32_t j = 0; j < model->jobs; j++) {
            const double *own = search->dual.price + search->dual.layout.job[j];
            for (int32_t a = 1; a < model->job[j].activities; a++, row++) {
                job[row] = j;
                gpus[row] = model->job[j].gpus[a];
                kw[row] = model->job[j].kw[a];
                for (size_t t = 0; t < T; t++)
                    price[row * T + t] = own[(size_t)a * T + t] - own[t];
            }
        }
        ok = host->keep_prices(
                 &(ckpd_path_prices){.size = sizeof(ckpd_path_prices),
                                     .slots = model->slots,
                                     .activities = (int32_t)rows,
                                     .job = job,
                                     .gpus = gpus,
                                     .power_kw = kw,
                                     .price = price,
                                     .storage_worth = model->storage ? search->dual.worth : NULL},
                 host->user) != CKPD_ERR_NO_MEMORY;
    }
    ckpd__nat_release(&memory);
    return ok;
}

bool ckpd__nat_keep_crowd(const nat_crowd *crowd)
{
    const nat_model *model = crowd->model;
    const ckpd_host *host = crowd->host;
    size_t T = (size_t)model->slots;
    nat_memory memory = {.host = host};
    if (!host->keep_prices || !(crowd->bound > -(double)INFINITY))
        return true;
    double *per_gpu = ckpd__nat_alloc(&memory, T, sizeof *per_gpu);
    for (size_t t = 0; per_gpu && t < T; t++)
        per_gpu[t] = crowd->best_price[T + t] * crowd->kw_per_gpu;
    bool ok = per_gpu != NULL;
    if (ok)
        ok = host->keep_prices(
                 &(ckpd_path_prices){.size = sizeof(ckpd_path_prices),
                                     .slots = model->slots,
                                     .load_price = crowd->best_price,
                                     .gpu_price = crowd->prices_gpus ? per_gpu : NULL,
                                     .storage_worth = model->storage ? crowd->best_worth : NULL},
                 host->user) != CKPD_ERR_NO_MEMORY;
    ckpd__nat_release(&memory);
    return ok;
}
