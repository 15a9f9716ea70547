/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "support/sweep.h"

#include <ckptdispatch/site.h>

static void site_series(sweep_memory *memory, ckpd_context *context)
{
    static const double price[] = {20, 60, 20, 60};
    ckpd_site *site = NULL;
    double back[4];
    SWEEP(ckpd_site_new(&site, context, 4, 1.0));
    SWEEP(ckpd_site_set_series(site, "import_price_per_mwh", price, 4));
    SWEEP(ckpd_site_set_constant(site, "base_it_kw", 10000));
    SWEEP(ckpd_site_set_constant(site, "gpu_cap", 2048));
    SWEEP(ckpd_site_get_series(site, "import_price_per_mwh", back, 4));
    for (int i = 0; i < 4; i++) {
        ck_assert_double_eq(back[i], price[i]);
    }
    ckpd_site_free(site);
}

static void site_battery(sweep_memory *memory, ckpd_context *context)
{
    ckpd_site *site = NULL;
    ckpd_battery *battery = NULL;
    SWEEP(ckpd_site_new(&site, context, 4, 1.0));
    SWEEP(ckpd_battery_new(&battery, context));
    SWEEP(ckpd_battery_set(battery, "energy_kwh", 20000));
    SWEEP(ckpd_battery_set(battery, "charge_kw", 10000));
    SWEEP(ckpd_battery_set(battery, "discharge_kw", 10000));
    SWEEP(ckpd_battery_set(battery, "eta_charge", 0.9));
    SWEEP(ckpd_battery_set(battery, "eta_discharge", 0.9));
    SWEEP(ckpd_battery_set(battery, "soc_min_kwh", 0));
    SWEEP(ckpd_battery_set(battery, "soc_max_kwh", 20000));
    SWEEP(ckpd_battery_set(battery, "soc_start_kwh", 10000));
    SWEEP(ckpd_battery_set(battery, "soc_end_kwh", 10000));
    SWEEP(ckpd_site_add_battery(site, battery));
    ck_assert_int_eq(ckpd_site_has_battery(site), 1);
    ckpd_battery_free(battery);
    ckpd_site_free(site);
}

static double half_sine(int32_t slot, double start_hours, double length_hours, int32_t *failed,
                        void *user)
{
    (void)start_hours;
    (void)length_hours;
    (void)failed;
    (void)user;
    return 1000.0 * slot;
}

static int32_t two_pieces(int32_t slot, int32_t capacity, double *x_kw, double *money_per_hour,
                          void *user)
{
    (void)user;
    if (slot == 2 || capacity < 3) {
        return 0;
    }
    for (int i = 0; i < 3; i++) {
        x_kw[i] = 100.0 * i;
        money_per_hour[i] = i * i;
    }
    return 3;
}

static void site_callbacks(sweep_memory *memory, ckpd_context *context)
{
    static const double x[] = {0, 1000};
    static const double money[] = {0, 5};
    ckpd_site *site = NULL;
    double wind[4];
    SWEEP(ckpd_site_new(&site, context, 4, 0.25));
    SWEEP(ckpd_site_set_profile(site, "wind_kw", half_sine, NULL));
    SWEEP(ckpd_site_add_cost_curve(site, -1, CKPD_COST_IMPORT, 2, x, money));
    SWEEP(ckpd_site_add_cost_curve(site, 1, CKPD_COST_EXPORT, 2, x, money));
    SWEEP(ckpd_site_add_cost_callback(site, CKPD_COST_NET_LOAD, two_pieces, NULL));
    SWEEP(ckpd_site_get_series(site, "wind_kw", wind, 4));
    ck_assert_double_eq(wind[3], 3000);
    ckpd_site_free(site);
}

int main(void)
{
    static const sweep_scenario scenarios[] = {
        {"series", site_series},
        {"battery", site_battery},
        {"callbacks", site_callbacks},
    };
    return sweep_main("site", scenarios, (int32_t)(sizeof scenarios / sizeof scenarios[0]));
}
