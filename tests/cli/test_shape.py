#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""ckptdispatch shape: figures, files, checkpoints of a plan, messages."""
import csv
import json
import os
import shutil

from tool import FAST, case, check, has_solver, main, run, run_json

A = case("shape-a")


def compares_policies():
    result = run_json("shape", A, "--seeds", "1")
    policies = {p["policy"]: p for p in result["policies"]}
    check(list(policies) == ["none", "reactive", "predictive", "plan", "plan+early", "full"], str(list(policies)))
    # The run without filler does not depend on an optimiser: golden values of an independent trial.
    check(abs(policies["none"]["max_abs_hz"] - 0.2171) < 1e-4, str(policies["none"]))
    check(abs(policies["none"]["mean_abs_hz"] - 0.0816) < 1e-4, str(policies["none"]))
    check(policies["full"]["max_abs_hz"] < policies["predictive"]["max_abs_hz"], "full is not better than greedy")
    check(policies["full"]["battery_charge_wh"] == 0 and policies["full"]["iso_8528_5_g2"], str(policies["full"]))
    again = run_json("shape", A, "--seeds", "1")
    check(again == result, "two equal calls differ")


def writes_traces_and_picture():
    run("shape", A, "--policy", "full", "--seeds", "1", "--out", "out")
    names = set(os.listdir("out"))
    check({"shape.json", "shape.gp", "trace-none.csv", "trace-full.csv"} <= names, str(names))
    check(shutil.which("gnuplot") is None or {"shape.svg", "shape.png"} <= names, str(names))
    with open("out/shape.gp", encoding="utf-8") as file:
        script = file.read()
    check("ISO 8528-5 G2 band" in script and "IEEE 1547" in script, "no limits in the picture")
    with open("out/trace-full.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    check(len(rows) > 1000, f"{len(rows)} rows")
    for row in rows[::97]:
        types = sum(float(v) for k, v in row.items() if k.startswith("fill_w:"))
        check(abs(types - float(row["fill_w"])) < 1.0, str(row))
    with open("out/shape.json", encoding="utf-8") as file:
        check(len(json.load(file)["policies"]) == 2, "none and full were asked for")


def fills_longer_checkpoints_with_types_from_csv():
    with open("types.csv", "w", encoding="utf-8") as file:
        file.write("type,gpus_per_replica,batch,power_per_gpu_W,batch_time_s,planned,up_s\n"
                   "short,1,8,500,2.5,1,0.3\nshort,1,16,600,4,0,\nlong,8,32,550,9,1,0.5\n")
    with open("own.json", "w", encoding="utf-8") as file:
        json.dump({"schema": "ckptdispatch-shape", "schema_version": 1, "name": "own", "pool": {"gpu_count": 800},
                   "fillers_csv": "types.csv",
                   "events": [{"onset_s": 20, "duration_s": 8, "depth_w": 150000}]}, file)
    words = ("shape", "own.json", "--policy", "full", "--seeds", "1")
    for longer in ("0", "6"):
        policies = {p["policy"]: p for p in run_json(*words, "--duration-error", longer)["policies"]}
        check(policies["full"]["tracking_w"] < 0.25 * policies["none"]["tracking_w"], f"{longer} s longer: {policies}")


def takes_checkpoints_of_a_plan():
    if FAST:
        return
    run("solve", case("aidc2048"), "--gap", "0.05", "--time-limit", "60", "--out", "day")
    with open("pool.json", "w", encoding="utf-8") as file:
        json.dump({"schema": "ckptdispatch-shape", "schema_version": 1, "name": "pool",
                   "pool": {"gpu_count": 2048}}, file)
    words = ("shape", "pool.json", "--from-plan", "day/plan.json", "--dispatch-case", case("aidc2048"), "--policy",
             "full", "--seeds", "1")
    plain = {p["policy"]: p for p in run_json(*words)["policies"]}
    check(0 < plain["full"]["max_abs_hz"] < plain["none"]["max_abs_hz"], str(plain))
    spread = {p["policy"]: p for p in run_json(*words, "--stagger")["policies"]}
    check(spread["none"]["max_abs_hz"] <= plain["none"]["max_abs_hz"] + 1e-9, "staggering made it worse")


def says_what_is_wrong():
    with open("unstable.json", "w", encoding="utf-8") as file:
        json.dump({"schema": "ckptdispatch-shape", "schema_version": 1, "name": "u", "pool": {"gpu_count": 80},
                   "microgrid": {"preset": "cim-gast"},
                   "events": [{"onset_s": 20, "duration_s": 5, "depth_w": 1e5}]}, file)
    for words, part in (((A, "--policy", "best"), "--policy takes"), ((A, "--seeds", "0"), "--seeds"),
                        ((A, "--depth-error", "big"), "is not a number"), (("absent.json",), "cannot open"),
                        ((A, "--stagger"), "--from-plan"), (("unstable.json",), "cim-gast is unstable"),
                        ((case("aidc2048"),), "ckptdispatch-shape")):
        _, _, err = run("shape", *words, status=2)
        check(part in err, f"{words}: '{part}' is not in: {err}")


# Plans of fillers are linear programs, which only GLPK and HiGHS solve.
SOLVED = [compares_policies, writes_traces_and_picture, fills_longer_checkpoints_with_types_from_csv,
          takes_checkpoints_of_a_plan] if has_solver("glpk") else []

if __name__ == "__main__":
    main(*SOLVED, says_what_is_wrong)
