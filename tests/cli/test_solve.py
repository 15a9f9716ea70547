#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""solve, scenarios, sweep, verify: values, files, exit status."""
import csv
import html.parser
import json
import os
import shutil
import subprocess

from tool import GOLDEN, TOOL, case, check, close, has_solver, main, run, run_json


def golden_scenarios():
    # S3 is left to golden/test_aidc2048, which solves it once
    only = ["S1", "S2", "S4", "S5", "S6"]
    found = run_json("scenarios", case("aidc2048-golden"), "--only", ",".join(only))
    check([s["scenario"] for s in found["scenarios"]] == only, "scenarios of the golden case")
    for one in found["scenarios"]:
        close(one["cost"], GOLDEN[one["scenario"]], one["scenario"])
        check(one["outcome"] == "optimal", f"{one['scenario']} is {one['outcome']}")
        check(one["relative_gap"] <= 1e-6, f"gap of {one['scenario']}")
    costs = {s["scenario"]: s["cost"] for s in found["scenarios"]}
    check(costs["S1"] == costs["S2"], "S1 and S2 differ")
    figures = found["scenarios"][0]["figures"]
    # published for S1: 24.36 MWh of load follow from 1015 kW flat
    for name, value in (("load_mwh", 24.36), ("import_mwh", 8.965), ("curtailment_mwh", 1.077)):
        close(figures[name], value, name, 1e-9)


def plan_files():
    _, out, err = run("solve", case("aidc2048-golden"), "--scenario", "S6", "--out", "größe 数据")
    check("303.113684" in out and "LLM-A" in out, out)
    check("\033" not in out + err and "\r" not in out + err, "control characters without a terminal")
    with open("größe 数据/plan.json", encoding="utf-8") as f:
        plan = json.load(f)
    check(plan["schema"] == "ckptdispatch-plan" and plan["schema_version"] == 1, "schema of the plan")
    check(plan["outcome"] == "optimal" and plan["scenario"] == "S6", "outcome of the plan")
    with open("größe 数据/plan.csv", encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    check(len(rows) == 24, "rows of the CSV")
    # the cost of the CSV's own columns: price x import, 20 per MWh curtailed, 4 per MWh through the battery
    cost = sum(float(r["import_price_per_mwh"]) * float(r["import_kw"]) + 20 * float(r["curtailment_kw"]) +
               4 * (float(r["charge_kw"]) + float(r["discharge_kw"])) for r in rows) / 1000
    close(cost, GOLDEN["S6"], "cost from the CSV")
    for r in rows:
        balance = (float(r["wind_kw"]) + float(r["solar_kw"]) - float(r["curtailment_kw"]) +
                   float(r["import_kw"]) - float(r["export_kw"]) + float(r["discharge_kw"]) -
                   float(r["charge_kw"]) - float(r["site_load_kw"]))
        close(balance, 0, "balance of slot " + r["slot"])
        gpus = int(r["LLM-A.gpus"]) + int(r["LLM-B.gpus"])
        close(float(r["site_load_kw"]), 1.25 * (300 + 0.4 * gpus), "load of slot " + r["slot"])
    check(rows[-1]["LLM-A.segments_done"] == "12" and float(rows[-1]["LLM-B.progress"]) == 1, "progress")
    if shutil.which("gnuplot"):
        with open("größe 数据/plan.png", "rb") as f:
            check(f.read(8) == b"\x89PNG\r\n\x1a\n", "plan.png")
        with open("größe 数据/plan.svg", encoding="utf-8") as f:
            check("LLM-B" in f.read(), "plan.svg")
    else:
        print("SKIP: gnuplot is absent: no picture looked at")


def a_reader_that_goes_away():
    words = [TOOL, "solve", case("aidc2048-golden"), "--scenario", "S1", "--out", "early"]
    child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    child.stdout.close()
    child.wait(timeout=600)
    check(os.path.exists("early/plan.json") and os.path.exists("early/plan.csv"), "files are written first")


def no_gnuplot():
    os.makedirs("empty", exist_ok=True)
    env = dict(os.environ, PATH=os.path.abspath("empty"))
    _, _, err = run("solve", case("aidc2048-golden"), "--scenario", "S1", "--out", "bare", env=env)
    check("gnuplot was not found" in err, err)
    check(os.path.exists("bare/plan.gp") and not os.path.exists("bare/plan.png"), "files without gnuplot")


def verify_plans():
    run("solve", case("aidc2048-golden"), "--scenario", "S4", "--out", "s4")
    _, out, _ = run("verify", case("aidc2048-golden"), "s4/plan.json")
    check("is good" in out and "305.41" in out, out)
    with open("s4/plan.json", encoding="utf-8") as f:
        good = json.load(f)

    def broken(name, change, part, status=1):
        plan = json.loads(json.dumps(good))
        change(plan)
        with open(name, "w", encoding="utf-8") as f:
            json.dump(plan, f)
        _, out, err = run("verify", case("aidc2048-golden"), name, status=status)
        check(part in out + err, f"{name}: {part} is not in {out}{err}")

    broken("import.json", lambda p: p["series"]["import_kw"].__setitem__(3, 0), "3")
    broken("step.json", lambda p: p["jobs"][0]["steps"].pop(), "LLM-A")
    broken("cost.json", lambda p: p.__setitem__("cost", 1.0), "1")
    broken("mode.json", lambda p: p["jobs"][1]["steps"][0].__setitem__("mode", 99), "99")
    broken("length.json", lambda p: p["series"]["export_kw"].pop(), "series.export_kw", 2)
    broken("name.json", lambda p: p["jobs"][0].__setitem__("name", "X"), "jobs[0].name", 2)
    broken("field.json", lambda p: p.__setitem__("colour", 1), "colour", 2)
    broken("digest.json", lambda p: p.__setitem__("case_digest", "fnv1a64:0"), "another case", 2)
    broken("version.json", lambda p: p.__setitem__("schema_version", 2), "version 2", 2)
    broken("no-plan.json", lambda p: p.pop("jobs"), "no plan", 2)
    found = run_json("verify", case("aidc2048-golden"), "import.json", status=1)
    check(not found["good"] and found["violations"], "violations as JSON")
    # the plan is a start for another solve
    found = run_json("solve", case("aidc2048-golden"), "--scenario", "S4", "--start", "s4/plan.json")
    close(found["cost"], GOLDEN["S4"], "S4 from a plan")


def infeasible_is_status_1():
    # Values of the same sources as GOLDEN: below 1280 GPUs both tranches cannot be finished.
    found = run_json("sweep", case("aidc2048-golden"), "--gpu-cap", "768:1280:128")
    check([p["gpu_cap"] for p in found] == [768, 896, 1024, 1152, 1280], "points of the sweep")
    for point in found[:-1]:
        check(point["outcome"] == "infeasible" and point["causes"] and point["cost"] is None, str(point))
    close(found[-1]["cost"], 380.527, "cost with 1280 GPUs")
    _, out, _ = run("sweep", case("aidc2048-golden"), "--gpu-cap", "768", status=1)
    check("infeasible" in out and "18432" in out, out)  # 768 GPUs x 24 h


def diagnosis():
    with open(case("aidc2048-golden"), encoding="utf-8") as f:
        changed = json.load(f)
    changed["site"]["gpu_cap"] = 1152
    with open("narrow.json", "w", encoding="utf-8") as f:
        json.dump(changed, f)
    # 1280 GPUs are enough and 1152 are not (values as GOLDEN), so that at most 128 are missing
    found = run_json("diagnose", "narrow.json", status=1)
    check(found["has_plan_when_relaxed"] and not found["has_plan"], str(found))
    caps = [r["amount"] for r in found["relaxations"] if r["limit"] == "gpu_cap"]
    check(len(found["relaxations"]) == 1 and len(caps) == 1 and 0 < caps[0] <= 128, str(found))
    changed["site"]["gpu_cap"] = 1152 + caps[0]
    with open("wide.json", "w", encoding="utf-8") as f:
        json.dump(changed, f)
    check(run_json("diagnose", "wide.json")["has_plan"], "the amount is enough")
    _, out, _ = run("solve", "narrow.json", status=1)
    check("diagnose" in out and "cause:" in out, out)
    _, out, _ = run("diagnose", "narrow.json", status=1)
    check("GPU" in out, out)


def segments():
    expected = {1: 327.8925, 2: 325.41, 4: 314.562}  # as GOLDEN
    for point in run_json("sweep", case("aidc2048-golden"), "--segments", "1,2,4"):
        close(point["cost"], expected[point["segments"]], f"{point['segments']} segments")


def stopped_at_once():
    if not has_solver("glpk"):
        return
    # Whatever was found in no time at all: a plan is feasible and status 0, none is status 1; neither is proven.
    status, out, _ = run("solve", case("aidc2048-golden"), "--scenario", "S3", "--time-limit", "0.000001", "--json",
                         status=None)
    found = json.loads(out)
    check(found["outcome"] == ("feasible" if "jobs" in found else "no_plan"), str(found))
    check(status == (0 if "jobs" in found else 1) and not found["proven"], f"status {status}")


def plans_are_deterministic():
    texts = [run("solve", case("aidc2048-golden"), "--scenario", "S6", "--json")[1] for _ in range(2)]
    check(texts[0] == texts[1], "two runs differ")


class Balance(html.parser.HTMLParser):
    """Counts what a page holds and refuses tags that are not closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text = [], [], ""

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in ("meta", "br", "img", "path", "use"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if tag in ("path", "use"):
            return
        check(self.open and self.open.pop() == tag, f"</{tag}> closes nothing")

    def handle_data(self, data):
        self.text += data


def report_page():
    with open(case("aidc2048-golden"), encoding="utf-8") as f:
        changed = json.load(f)
    changed["name"] = 'a <b> & "c"'
    with open("page.json", "w", encoding="utf-8") as f:
        json.dump(changed, f)
    _, out, _ = run("report", "page.json", "--only", "S1,S6", "-o", "page.html")
    check("page.html" in out, out)
    with open("page.html", encoding="utf-8") as f:
        text = f.read()
    page = Balance()
    page.feed(text)
    check(not page.open, f"left open: {page.open}")
    check('a <b> & "c"' in page.text, "the name is there, as text")
    check("303.114" in page.text and "380.527" in page.text, "both costs are there")
    check("LLM-B" in page.text and "energy_kwh" in page.text, "schedule and inputs are there")
    outside = [a for tag, attributes in page.seen for name, a in attributes.items()
               if name in ("src", "href", "xlink:href") and a and not a.startswith("#")]
    check(not outside and not any(tag in ("script", "link", "iframe") for tag, _ in page.seen),
          f"the page refers to {outside}")
    if shutil.which("gnuplot"):
        check(any(tag == "svg" for tag, _ in page.seen), "picture")
    run("report", "page.json", "--only", "S1", "-o", "/absent/page.html", status=2)


def compare_plans():
    for scenario in ("S1", "S6"):
        _, out, _ = run("solve", case("aidc2048-golden"), "--scenario", scenario, "--json")
        with open(scenario + ".json", "w", encoding="utf-8") as f:
            f.write(out)
    found = run_json("compare", "S1.json", "S6.json")
    check(found["same_case"], "same case")
    cost = next(f for f in found["figures"] if f["figure"] == "cost")
    close(cost["difference"], GOLDEN["S6"] - GOLDEN["S1"], "difference")
    _, out, _ = run("compare", "S1.json", "S6.json")
    check("LLM-A" in out and "-20.34" in out, out)
    _, _, err = run("compare", "S1.json", case("aidc2048-golden"), status=2)
    check("no plan file" in err, err)


main(golden_scenarios, plan_files, a_reader_that_goes_away, no_gnuplot, verify_plans, infeasible_is_status_1, diagnosis, segments,
     stopped_at_once, compare_plans, report_page,
     plans_are_deterministic)
