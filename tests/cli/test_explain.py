#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""`explain`: terms beside S1, marginal prices, what limits are worth. Values of the golden case, or worked by hand."""
import json

from tool import GOLDEN, case, check, close, main, run, run_json


def golden_case():
    found = run_json("explain", case("aidc2048-golden"), "--scenario", "S4")
    close(found["figures"]["cost"], GOLDEN["S4"], "cost")
    close(found["s1_figures"]["cost"], GOLDEN["S1"], "cost of S1")
    terms = ("import_cost", "curtailment_cost", "throughput_cost", "custom_cost", "edge_cost", "penalty_cost")
    close(sum(found["figures"][t] for t in terms), GOLDEN["S4"], "sum of terms")
    for job in found["jobs"]:
        check(job["left_price_per_mwh"] - job["taken_price_per_mwh"] > job["break_even_spread_per_mwh"] > 0, f"{job}")
    text = run("explain", case("aidc2048-golden"), "--scenario", "S4")[1]
    for words in ("difference", "spread that pays", "would save", "kWh more", "its whole numbers fixed"):
        check(words in text, words)


def tiny():
    """One job of an hour at 1 MW on 8 GPUs with a deadline after 2 of 4 hours at 30, 20, 10, 40: an hour later it would cost 10
    instead of 20, another mode is not there, and every hour buys at its price."""
    tree = {"schema": "ckptdispatch-case", "schema_version": 1, "name": "tiny", "horizon": {"slots": 4, "slot_minutes": 60},
            "site": {"import_price_per_mwh": [30, 20, 10, 40], "gpu_cap": 8, "base_it_kw": 1000},
            "mode_rules": {"installed_gpus": 8},
            "jobs": [{"name": "A", "task": {"segments": 1, "baseline_gpus": 8, "tranche_baseline_hours": 1, "deadline": 2},
                      "modes": [{"gpus": 8, "rate_per_s": 1, "power_kw": 1000}]}]}
    with open("tiny.json", "w", encoding="utf-8") as f:
        json.dump(tree, f)
    found = run_json("explain", "tiny.json")
    close(found["figures"]["cost"], 120, "cost")
    values = {v["limit"]: v["saved"] for v in found["values"]}
    close(values["deadline"], 10, "an hour more")
    close(values["gpu_cap"], 0, "GPUs more")
    close(found["jobs"][0]["waiting_slots"], 1, "waits")
    close(found["jobs"][0]["left_price_per_mwh"], 30, "left at")
    close(found["jobs"][0]["taken_price_per_mwh"], 20, "taken at")
    for t, price in enumerate((30, 20, 10, 40)):
        close(found["marginal_up_per_mwh"][t], price, f"kWh more in slot {t}")
    close(found["add_kw"][0], 1000, "could run an hour earlier")
    close(found["add_cost"][0], 10, "at 30 instead of 20")
    close(found["shed_kw"][1], 0, "cannot be put off")


def no_plan():
    tree = {"schema": "ckptdispatch-case", "schema_version": 1, "name": "none", "horizon": {"slots": 2, "slot_minutes": 60},
            "site": {"import_price_per_mwh": 10, "gpu_cap": 8, "base_it_kw": 1000, "import_cap_kw": 500},
            "mode_rules": {"installed_gpus": 8}, "jobs": []}
    with open("none.json", "w", encoding="utf-8") as f:
        json.dump(tree, f)
    check("grid cap in slots 0-1: 500 kW short" in run("explain", "none.json", status=1)[1], "the cause")
    found = run_json("explain", "none.json", status=1)
    check(found["outcome"] == "infeasible" and "500 kW short" in found["causes"][0], str(found))
    check("S3" in run("explain", case("aidc2048-golden"), "--scenario", "S3", status=2)[2], "S3 is no plan")
    tree["site"].pop("import_cap_kw")
    with open("none.json", "w", encoding="utf-8") as f:
        json.dump(tree, f)
    close(run_json("explain", "none.json")["figures"]["cost"], 20, "no jobs")


main(golden_case, tiny, no_plan)
