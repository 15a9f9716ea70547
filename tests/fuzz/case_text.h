/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* One small case for the targets that need a good one: four slots, one job of two modes, a battery.
 */
#ifndef TESTS_FUZZ_CASE_TEXT_H
#define TESTS_FUZZ_CASE_TEXT_H

static const char case_text[] =
    "{\"schema\": \"ckptdispatch-case\", \"schema_version\": 1, \"name\": \"small\",\n"
    " \"horizon\": {\"slots\": 4, \"slot_minutes\": 60},\n"
    " \"site\": {\"import_price_per_mwh\": [20, 60, 20, 60], \"gpu_cap\": 16, \"base_it_kw\": 1,\n"
    "  \"wind_kw\": [3, 0, 2, 9],\n"
    "  \"batteries\": [{\"energy_kwh\": 8, \"charge_kw\": 4, \"discharge_kw\": 4, \"eta_charge\": "
    "0.9,\n"
    "   \"eta_discharge\": 0.9, \"soc_start_kwh\": 4, \"soc_end_kwh\": 4}]},\n"
    " \"mode_rules\": {\"installed_gpus\": 16},\n"
    " \"jobs\": [{\"name\": \"A\", \"task\": {\"tranche_baseline_hours\": 2, \"baseline_gpus\": "
    "8},\n"
    "  \"modes\": [{\"gpus\": 8, \"rate_per_s\": 1, \"power_kw\": 4}, {\"gpus\": 16, "
    "\"rate_per_s\": 1.9,\n"
    "   \"power_kw\": 8}]}]}\n";

#endif
