#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Real Californian days on the cluster of aidc2048-golden: a week of April 2024, the 23-hour day of that spring, a day
of negative prices and one of scarcity. Each day's wind and solar are scaled to 16.472 MWh, those of the golden case;
the tranche is as many baseline hours as the day has. The files are not part of the source tree.

The table of docs/real-days.md is this test's output.
"""
import copy
import csv
import json
import os

from tool import FAST, SRC, case, check, close, has_solver, main, run, run_json

DATA = os.path.join(SRC, "..", "shared", "data", "public")
LONG = "caiso_sp15_2024-02-17_2024-09-29_hourly.csv"
DAYS = [(f"2024-04-{day:02d}", LONG) for day in range(8, 15)]
DAYS += [("2024-03-10", "caiso_day_2024-03-10_dst_23h.csv"), ("2024-04-27", LONG), ("2024-09-05", LONG)]
ENERGY_KWH = 16472
HAS_GLPK = has_solver("glpk")
if FAST:
    DAYS = [DAYS[3], DAYS[7]]


def rows_of(day, file):
    """The day's rows as text, read without the library."""
    with open(os.path.join(DATA, file), encoding="utf-8", newline="") as f:
        return [row for row in csv.DictReader(f) if row["time"].startswith(day)]


def make_case(day, file, rows):
    with open(case("aidc2048-golden"), encoding="utf-8") as f:
        made = copy.deepcopy(json.load(f))
    energy = sum(1000 * (float(row["wind_mw"]) + float(row["solar_mw"])) for row in rows)
    made["name"] = day
    made["description"] = "A day of " + file
    made["horizon"] = {"slots": len(rows), "slot_minutes": 60, "start": rows[0]["time"]}
    path = os.path.abspath(os.path.join(DATA, file))
    made["site"]["import_price_per_mwh"] = {"file": path, "column": "price_usd_per_mwh"}
    for name in ("wind", "solar"):
        made["site"][name + "_kw"] = {"file": path, "column": name + "_mw", "factor": ENERGY_KWH / energy}
    for job in made["jobs"]:
        job["task"]["tranche_baseline_hours"] = len(rows)
    with open(day + ".json", "w", encoding="utf-8") as f:
        json.dump(made, f)
    return day + ".json"


def check_inputs(rows, plan):
    """Prices, sums and stamps are those of the raw file."""
    with open(plan, encoding="utf-8", newline="") as f:
        slots = list(csv.DictReader(f))
    check([s["start"] for s in slots] == [row["time"] for row in rows], "stamps of the day")
    for slot, row in zip(slots, rows):
        close(float(slot["import_price_per_mwh"]), float(row["price_usd_per_mwh"]), "price of " + row["time"], 1e-12)
    energy = sum(float(s["wind_kw"]) + float(s["solar_kw"]) for s in slots)
    close(energy, ENERGY_KWH, "renewable energy", 1e-9)


def solve_day(day, file):
    rows = rows_of(day, file)
    path = make_case(day, file, rows)
    only = [] if HAS_GLPK else ["--only", "S1,S2,S4,S5,S6"]
    found = run_json("scenarios", path, "--out", day, "--time-limit", "120", *only, status=None)
    by_name = {s["scenario"]: s for s in found["scenarios"]}
    cost = {name: s["cost"] for name, s in by_name.items()}
    for name in ("S1", "S2", "S4", "S5", "S6"):
        check(by_name[name]["outcome"] == "optimal", f"{day} {name}: {by_name[name]['outcome']}")
    check(cost["S1"] == cost["S2"], f"{day}: S1 and S2 differ")
    slack = 2e-6 * max(1, abs(cost["S1"]))
    for better, worse in (("S4", "S1"), ("S5", "S1"), ("S6", "S4"), ("S6", "S5")):
        check(cost[better] <= cost[worse] + slack, f"{day}: {better} costs more than {worse}")
    check("S3" not in by_name or by_name["S3"]["bound"] <= cost["S4"] + slack, f"{day}: S3 is no bound for S4")
    check_inputs(rows, os.path.join(day, "plan.csv"))
    _, out, _ = run("verify", path, os.path.join(day, "plan.json"))
    check("is good" in out, out)
    return rows, by_name


def line(day, rows, found):
    prices = [float(row["price_usd_per_mwh"]) for row in rows]
    cells = [day, str(len(rows)), f"{min(prices):.1f} to {max(prices):.1f}"]
    cells += [f"{found[s]['cost']:.2f}" if found[s]["cost"] is not None else "-" for s in sorted(found)]
    cells += [f"{100 * found[s]['saving_share']:.1f}" for s in ("S4", "S6")]
    cells += [f"{found[s]['figures']['curtailment_mwh']:.2f}" for s in ("S1", "S4", "S6")]
    return "| " + " | ".join(cells) + " |"


def real_days():
    if not os.path.exists(os.path.join(DATA, LONG)):
        print("SKIP: ../shared/data/public is absent: no real days")
        return
    print("| day | hours | price | S1 | S2 | S3 | S4 | S5 | S6 | S4 saves % | S6 saves % | curtailed MWh S1 | S4 | S6 |")
    print("|" + "---|" * 14)
    for day, file in DAYS:
        rows, found = solve_day(day, file)
        print(line(day, rows, found), flush=True)


main(real_days)
