#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""convert.py IN.json OUT.json [NAME [DESCRIPTION]]: from the neutral form of dispatch benchmarks to a case file.

The neutral form has flat fields: slots, slot_hours, segments, pue, base_it_kw, kw_per_gpu, gpu_cap,
curtailment_penalty_per_mwh, price_per_mwh[], solar_kw[], wind_kw[], bess{}, jobs[] with work (in
units of which the baseline mode does one an hour), baseline_gpus and modes[] (gpus, rate, layout).
`ckptdispatch describe OUT.json --json` gives the canonical form that is kept here.
"""
import json
import os
import sys


def plain(value):
    """The decimal number that was meant: 0.4 * 96 is 38.4."""
    value = round(value, 9)
    return int(value) if value == int(value) else value


def convert(old, name, description):
    jobs = []
    for job in old["jobs"]:
        modes = []
        for mode in job["modes"]:
            new = {"gpus": mode["gpus"], "rate_per_s": plain(mode["rate"]),
                   "power_kw": plain(old["kw_per_gpu"] * mode["gpus"])}
            if "tp" in mode:
                new.update(tp=mode["tp"], pp=mode["pp"], dp=mode["dp"], micro_batch=1)
            modes.append(new)
        task = {"segments": job.get("segments", old["segments"]), "baseline_gpus": job["baseline_gpus"],
                "tranche_baseline_hours": plain(job["work"])}
        for bound in ("release", "deadline"):
            if bound in job:
                task[bound] = job[bound]
        jobs.append({"name": job["name"], "task": task, "modes": modes})
    site = {"import_price_per_mwh": old["price_per_mwh"],
            "curtailment_penalty_per_mwh": old["curtailment_penalty_per_mwh"],
            "wind_kw": old["wind_kw"], "solar_kw": old["solar_kw"], "base_it_kw": old["base_it_kw"],
            "pue": old["pue"], "gpu_cap": old["gpu_cap"]}
    if "bess" in old:
        site["batteries"] = [old["bess"]]
    return {"schema": "ckptdispatch-case", "schema_version": 1, "name": name, "description": description,
            "horizon": {"slots": old["slots"], "slot_minutes": plain(60 * old["slot_hours"])},
            "site": site, "mode_rules": {"installed_gpus": old["gpu_cap"]}, "jobs": jobs}


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        old = json.load(f)
    name = sys.argv[3] if len(sys.argv) > 3 else os.path.splitext(os.path.basename(sys.argv[1]))[0]
    description = sys.argv[4] if len(sys.argv) > 4 else old.get("_comment", "")
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        json.dump(convert(old, name, description), f, indent=1)


if __name__ == "__main__":
    main()
