/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Better plans from good ones: hold all jobs but a few to what they do in the best plan and climb
 * the bound of the rest. With few free jobs the bound nearly meets the optimum, so its paths are
 * the best exchange.
 */
#include "solver/native/search.h"

#include <math.h>
#include <string.h>

/* Forbids to all jobs but the free ones what they do not do in the best plan. */
static void hold_others(nat_search *search, const int32_t *free_jobs, int32_t count)
{
    const nat_model *model = search->model;
    size_t T = (size_t)model->slots;
    memset(search->forbidden, 0, search->dual.layout.size);
    for (int32_t j = 0; j < model->jobs; j++) {
        uint8_t *own = search->forbidden + search->dual.layout.job[j];
        bool is_free = false;
        for (int32_t i = 0; i < count; i++)
            is_free = is_free || free_jobs[i] == j;
        if (is_free)
            continue;
        memset(own, 1, (size_t)model->job[j].activities * T);
        for (size_t t = 0; t < T; t++)
            own[(size_t)search->best.path[j].activity[t] * T + t] = 0;
    }
}

/* Jobs of the i-th exchange: all pairs first, then ever new triples. */
static int32_t choose_jobs(int32_t jobs, int64_t i, int32_t free_jobs[3])
{
    int64_t pairs = (int64_t)jobs * (jobs - 1) / 2;
    if (i < pairs) {
        int32_t a = 0;
        while (i >= jobs - 1 - a)
            i -= jobs - 1 - a++;
        free_jobs[0] = a;
        free_jobs[1] = a + 1 + (int32_t)i;
        return 2;
    }
    uint64_t mix = (uint64_t)i * 0x9E3779B97F4A7C15u;
    for (int32_t n = 0; n < 3;) {
        mix ^= mix >> 29;
        mix = mix * 6364136223846793005u + 1442695040888963407u;
        int32_t j = (int32_t)((mix >> 33) % (uint64_t)jobs);
        bool taken = false;
        for (int32_t k = 0; k < n; k++)
            taken = taken || free_jobs[k] == j;
        if (!taken)
            free_jobs[n++] = j;
    }
    return 3;
}

void ckpd__nat_search_improve(nat_search *search, int32_t patience, double bound)
{
    static const nat_climb how = {150, 8, 1, 0.1, 10, 0.02};
    nat_dual *dual = &search->dual;
    int32_t jobs = search->model->jobs, in_vain = 0;
    size_t bytes = dual->layout.size * sizeof *dual->price;
    if (jobs < 3 || !(search->best.cost < (double)INFINITY))
        return;
    memcpy(search->kept_price, dual->price, bytes);
    memcpy(search->kept_forbidden, search->forbidden, dual->layout.size);
    while (in_vain < patience && !search->stop && bound < ckpd__nat_search_cutoff(search)) {
        int32_t free_jobs[3], count = choose_jobs(jobs, search->exchanges++, free_jobs);
        double before = search->best.cost;
        hold_others(search, free_jobs, count);
        memcpy(dual->price, search->kept_price, bytes);
        search->improving = true;
        ckpd__nat_search_climb(search, &how);
        search->improving = false;
        in_vain = search->best.cost < before ? 0 : in_vain + 1;
    }
    memcpy(dual->price, search->kept_price, bytes);
    memcpy(search->forbidden, search->kept_forbidden, dual->layout.size);
}
