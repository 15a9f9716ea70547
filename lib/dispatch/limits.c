/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Limits that are not plain: caps that may be passed at a price, and the way back of a battery that
 * starts below its minimum. */
#include "dispatch/dispatch.h"

#include <math.h>

/* A floor met exactly must not be missed by rounding. */
static const double FLOOR_SLACK = 1e-9;

double ckpd__cap_money(const ckpd_site *site, int32_t slot, double load_kw, double gpus)
{
    static const ckpd__series caps[] = {CKPD__SITE_CAP, CKPD__GPU_CAP};
    const double used[] = {load_kw, gpus};
    double money = 0;
    for (int i = 0; i < 2; i++) {
        double over = used[i] - site->series[caps[i]][slot];
        double price = ckpd__site_cap_price(site, caps[i], slot);
        if (over > ckpd__check_tolerance(used[i]) && isinf(price)) {
            return (double)INFINITY;
        }
        money += over > 0 && isfinite(price) ? price * over * site->slot_hours : 0;
    }
    return money;
}

double ckpd__end_penalty(const ckpd_site *site, double soc_kwh)
{
    const double *b = site->battery;
    double missing = b[CKPD__BATTERY_SOC_END] - soc_kwh;
    int32_t terminal = (int32_t)b[CKPD__BATTERY_TERMINAL];
    if (isnan(b[CKPD__BATTERY_SOC_END_PRICE]) || terminal == CKPD__TERMINAL_FREE) {
        return 0;
    }
    missing = terminal == CKPD__TERMINAL_EQUAL ? fabs(missing) : fmax(0.0, missing);
    return b[CKPD__BATTERY_SOC_END_PRICE] / 1000.0 * missing;
}

/* One soft cap of the view; both arrays stay NULL when it is hard in every slot. */
static int32_t soften(ckpd__model *model, ckpd__series cap, const double **soft,
                      const double **cost)
{
    const ckpd_site *site = model->problem->site;
    size_t slots = (size_t)site->slots;
    bool any = false;
    for (int32_t t = 0; t < site->slots; t++) {
        any = any || isfinite(ckpd__site_cap_price(site, cap, t));
    }
    if (!any) {
        return CKPD_OK;
    }
    double *block = ckpd__model_block(model, 2 * slots, sizeof *block);
    if (block == NULL) {
        return ckpd__no_memory(model->context);
    }
    for (int32_t t = 0; t < site->slots; t++) {
        double price = ckpd__site_cap_price(site, cap, t);
        block[t] = isfinite(price) ? site->series[cap][t] : (double)INFINITY;
        block[slots + (size_t)t] = isfinite(price) ? price * site->slot_hours : 0;
    }
    *soft = block;
    *cost = block + slots;
    return CKPD_OK;
}

/*
 * The energies that charging as fast as possible passes through, up to the minimum: with these as
 * least ones there is no other way back. As fast as possible means with the battery's power and
 * what the grid leaves beside the load that no plan can avoid; a cap that may be passed at a price
 * holds nothing back. Beyond the minimum the reach is followed on, so that the minimum stays the
 * least energy except where self-discharge leaves no way to hold it.
 */
static int32_t make_floor(ckpd__model *model)
{
    const ckpd_site *site = model->problem->site;
    const double *b = site->battery;
    double low = b[CKPD__BATTERY_SOC_MIN];
    if (!ckpd__scenario_has_storage(model->scenario) || b[CKPD__BATTERY_SOC_START] >= low) {
        return CKPD_OK;
    }
    double *least = ckpd__model_block(model, (size_t)site->slots + 1, sizeof *least);
    if (least == NULL) {
        return ckpd__no_memory(model->context);
    }
    double slack = FLOOR_SLACK * fmax(1.0, b[CKPD__BATTERY_SOC_MAX]);
    double soc = b[CKPD__BATTERY_SOC_START];
    least[0] = soc;
    for (int32_t t = 0; t < site->slots; t++) {
        double it_kw, gpus;
        ckpd__unavoidable(model, t, &it_kw, &gpus);
        double supply = ckpd__site_hard_cap(site, CKPD__IMPORT_CAP, t) +
                        site->series[CKPD__WIND][t] + site->series[CKPD__SOLAR][t];
        double spare = fmax(0.0, supply - site->series[CKPD__PUE][t] * it_kw);
        double charge = fmin(b[CKPD__BATTERY_CHARGE], spare);
        soc = soc * ckpd__battery_retention(site) +
              b[CKPD__BATTERY_ETA_CHARGE] * charge * site->slot_hours;
        soc = fmin(soc, b[CKPD__BATTERY_SOC_MAX]);
        least[t + 1] = fmax(0.0, fmin(soc, low) - slack);
    }
    model->soc_floor_kwh = least;
    model->storage.soc_floor_kwh = least;
    return CKPD_OK;
}

int32_t ckpd__model_limits(ckpd__model *model)
{
    const ckpd_site *site = model->problem->site;
    ckpd_path_view *view = &model->view;
    double *gpus = ckpd__model_block(model, (size_t)site->slots, sizeof *gpus);
    if (gpus == NULL) {
        return ckpd__no_memory(model->context);
    }
    for (int32_t t = 0; t < site->slots; t++) {
        gpus[t] = ckpd__site_hard_cap(site, CKPD__GPU_CAP, t);
    }
    view->gpu_cap = gpus;
    int32_t status = soften(model, CKPD__SITE_CAP, &view->load_soft_kw, &view->load_over_cost);
    if (status == CKPD_OK) {
        status = soften(model, CKPD__GPU_CAP, &view->gpu_soft, &view->gpu_over_cost);
    }
    return status == CKPD_OK ? make_floor(model) : status;
}
