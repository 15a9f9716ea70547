#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""The benchmark of the solvers: its readers of other programs' logs on lines that those printed (GLPK 5.0, CBC 2.10.8,
HiGHS 1.15.1 on the exported j4-b and golden cases, stopped after a few seconds or run to the end), its arithmetic, and
one run without peers. Expected values are read off the lines by eye."""
import csv
import json
import math
import os
import signal
import subprocess
import sys
import traceback

SRC = os.environ["SRC_DIR"]
sys.path.insert(0, os.path.join(SRC, "tests", "bench"))
import instances
import peers
import solvers
import tables


def check(found, expected, what):
    if found != expected:
        raise AssertionError(f"{what}: {found}, expected {expected}")


def log(text):
    """Lines of measure: wall, processor seconds, text."""
    made = []
    for line in text.strip("\n").splitlines():
        wall, cpu, rest = (line.split(" ", 2) + ["", ""])[:3]
        made.append((float(wall), float(cpu), rest))
    return made


GLPSOL = """
0.378166 0.120983     334: obj =   6.270947174e+02 inf =   1.623e-14 (0) 1
0.506201 0.156196 *   937: obj =   5.299323842e+02 inf =   1.539e-14 (0) 3
0.506266 0.156225 OPTIMAL LP SOLUTION FOUND
0.506575 0.156521 Long-step dual simplex will be used
0.506589 0.156530 +   937: mip =     not found yet >=              -inf        (1; 0)
2.190127 0.587433 +  2968: >>>>>   7.750175000e+02 >=   5.299377194e+02  31.6% (24; 0)
7.230205 1.918927 +  6564: mip =   7.750175000e+02 >=   5.301239826e+02  31.6% (92; 3)
12.453356 3.140658 +  8604: >>>>>   6.988255000e+02 >=   5.301239826e+02  24.1% (152; 4)
"""
GLPSOL_END = """
1.609685 0.540705 +   967: >>>>>   3.054100000e+02 >=   3.054100000e+02   0.0% (1; 0)
1.643835 0.552911 +   967: mip =   3.054100000e+02 >=     tree is empty   0.0% (0; 1)
1.644122 0.552911 INTEGER OPTIMAL SOLUTION FOUND
"""
CBC = """
2.561177 1.128766 Continuous objective value is 529.932 - 0.10 seconds
2.561177 1.128766 Cbc0038I Solution found of 643.862
2.561177 1.128766 Cbc0012I Integer solution of 639.1255 found by feasibility pump after 0 iterations and 0 nodes (0.80 seconds)
2.561177 1.128766 Cbc0013I At root node, 14 cuts changed objective from 529.93238 to 537.95893 in 10 passes
11.815398 4.030337 Cbc0010I After 0 nodes, 1 on tree, 639.1255 best solution, best possible 537.95893 (1.22 seconds)
11.815398 4.030337 Cbc0004I Integer solution of 569.3695 found after 6086 iterations and 51 nodes (2.33 seconds)
11.815398 4.030337 Result - User ctrl-cuser ctrl-c
11.815398 4.030337 Objective value:                557.61100000
11.815398 4.030337 Lower bound:                    537.959
11.815398 4.030337 Enumerated nodes:               295
11.815398 4.030337 Total iterations:               24620
"""
CBC_NOTHING = """
1.0 1.0 Continuous objective value is 305.41 - 0.21 seconds
1.0 1.0 Cbc0010I After 0 nodes, 1 on tree, 1e+50 best solution, best possible 305.41 (0.33 seconds)
"""
CBC_END = """
1.407868 0.419864 Continuous objective value is 305.41 - 0.21 seconds
1.407868 0.419864 Cbc0012I Integer solution of 305.41 found by feasibility pump after 0 iterations and 0 nodes (0.31 seconds)
1.407868 0.419864 Result - Optimal solution found
1.407868 0.419864 Objective value:                305.41000000
1.407868 0.419864 Enumerated nodes:               0
1.407868 0.419864 Total iterations:               0
"""
HIGHS = """
5.670945 1.159190          0       0         0   0.00%   9.24            inf                  inf        0      0      0         0     5.4s
6.198373 1.277386          0       0         0   0.00%   529.9323842     inf                  inf        0      0      4      2242     5.9s
6.354259 1.315641  R       0       0         0   0.00%   530.9660101     1011.5815         47.51%       36      1      4      2289     6.0s
18.433878 4.370736  L       0       0         0   0.00%   541.0650735     548.8415           1.42%      278     34      4      3760    18.1s
23.419215 5.705728          0       0         0   0.00%   541.1629943     548.8415           1.40%       22      0      0      8062    23.1s
"""
HIGHS_END = """
14.0 4.4   Primal bound      305.41
14.0 4.4   Dual bound        305.41
14.0 4.4   Nodes             1
14.0 4.4   LP iterations     2466
"""
TRACE = """
0 0 size 2 24 12 7512
0 0 at 0.002733 349.186 -inf 0 0
0 0 at 0.004161 305.41 300 30 1
0 0 end 0.005962 305.41 305.409695 83 1 0.003815 0.006417 native
"""
NONE = math.inf


def test_glpsol():
    events, end = peers.parse_glpsol(log(GLPSOL))
    check(events, [(0.156225, NONE, 529.9323842), (0.587433, 775.0175, 529.9377194), (1.918927, 775.0175, 530.1239826),
                   (3.140658, 698.8255, 530.1239826)], "events")
    check(end, {"cost": 698.8255, "bound": 530.1239826, "iterations": 8604, "nodes": 156}, "end")
    events, end = peers.parse_glpsol(log(GLPSOL_END))
    check((end["cost"], end["bound"], end["nodes"]), (305.41, 305.41, 1), "end of a full run")


def test_cbc():
    events, end = peers.parse_cbc(log(CBC))
    check(events, [(0.10, NONE, 529.932), (0.80, 639.1255, 529.932), (0.80, 639.1255, 537.95893),
                   (2.33, 569.3695, 537.95893)], "events")
    check(end, {"cost": 557.611, "bound": 537.959, "iterations": 24620, "nodes": 295}, "end")
    events, end = peers.parse_cbc(log(CBC_NOTHING))
    check((events, end["cost"]), ([(0.21, NONE, 305.41)], NONE), "no plan")
    events, end = peers.parse_cbc(log(CBC_END))
    check((end["cost"], end["bound"]), (305.41, 305.41), "end of a full run")


def test_highs():
    events, end = peers.parse_highs(log(HIGHS))
    check(events, [(1.159190, NONE, 9.24), (1.277386, NONE, 529.9323842), (1.315641, 1011.5815, 530.9660101),
                   (4.370736, 548.8415, 541.0650735), (5.705728, 548.8415, 541.1629943)], "events")
    check(end, {"cost": 548.8415, "bound": 541.1629943, "iterations": 8062, "nodes": 0}, "end")
    events, end = peers.parse_highs(log(HIGHS_END))
    check(end, {"cost": 305.41, "bound": 305.41, "nodes": 1, "iterations": 2466}, "end of a full run")


def test_judging():
    log_lines = log(TRACE)
    use = {"wall": 0.02, "cpu": 0.0065, "peak_mib": 3.0, "status": "0"}
    run = solvers.judge(log_lines, use, peers.parse_trace, 1e-6)
    check((run["first"], run["to_1"], run["to_01"], run["proven"]), (0.002733, 0.005962, 0.005962, 0.0065), "times")
    check(run["moves"], 7512, "edges")
    stopped = solvers.judge(log(GLPSOL), dict(use, cpu=4.0, status="limit"), peers.parse_glpsol, 1e-6)
    check((stopped["first"], stopped["to_1"], stopped["proven"]), (0.587433, None, None), "times of a stopped run")
    check(round(stopped["gap"], 4), 0.2414, "gap of a stopped run")
    check(tables.ratio_text(stopped, run), ">615", "4.0 s without a proof against 0.0065 s")
    others = {"cbc": dict(stopped, cpu=9.0, proven=9.0), "highs": dict(stopped, cpu=7.0), "glpsol": dict(stopped, status="1")}
    check(tables.best_peer({"solvers": {"native": run, **others}}), "highs", "stopped before another's proof; a failure")
    crashed = solvers.judge([], dict(use, status="139"), peers.parse_highs, 1e-6)
    check((crashed["proven"], crashed["gap"]), (None, NONE), "a crash proves nothing")
    middle = solvers.median_of([dict(run, cpu=cpu, to_1=to_1) for cpu, to_1 in ((3.0, None), (1.0, 5.0), (2.0, None))])
    check((middle["cpu"], middle["to_1"], middle["repeats"]), (2.0, None, 3), "medians")
    wrong = {"known": 305.41, "solvers": {"x": {"proven": 1.0, "cost": 305.5}, "y": {"proven": None, "cost": 310.0}}}
    check(len(solvers.check_known("day", wrong)), 1, "a proof of a worse plan than the known one")
    exponent, factor = tables.fit([(x, 3 * x ** 1.5) for x in (1, 2, 8, 50)])
    check((round(exponent, 9), round(factor, 9)), (1.5, 3.0), "fit of a power law")


def test_instances():
    small, large = instances.generated(4, 24, 24), instances.generated(8, 96, 24)
    check(small["jobs"], large["jobs"][:4], "a larger cluster contains the smaller")
    check((len(large["site"]["import_price_per_mwh"]), large["horizon"]["slot_minutes"]), (96, 15), "quarter hours")
    names = [instance.name for instance in instances.every()]
    check(len(names), len(set(names)), "names are unique")


def test_limit():
    """A limit on processor time interrupts the command, also where a shell made interrupts ignored (`... &`)."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    lines, use = solvers.measure(["sh", "-c", "echo begun; while :; do :; done"], 0.3)
    signal.signal(signal.SIGINT, before)
    check(([text for _, _, text in lines], use["status"]), (["begun"], "limit"), "an endless loop")
    check(0.3 <= use["cpu"] < 3, True, f"{use['cpu']} s used, of 0.3")
    check(solvers.measure(["sh", "-c", "exit 3"], 5)[1]["status"], "3", "exit status")


def test_run():
    """The smallest instance, once, without peers."""
    script = os.path.join(SRC, "tests", "bench", "solvers.py")
    done = subprocess.run([sys.executable, "-B", script, "=golden-S4", "--repeats", "1", "--no-peers", "--limit", "60",
                           "--results", "out"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    check(done.returncode, 0, done.stdout.decode())
    with open("out/solvers.csv", encoding="utf-8", newline="") as f:
        row, = csv.DictReader(f)
    check((row["instance"], row["solver"], row["moves"]), ("golden-S4", "native", "7512"), "row")
    check(abs(float(row["cost"]) - 305.41) < 1e-4 and float(row["gap"]) <= 1e-6, True, f"{row['cost']}, gap {row['gap']}")
    check(0 < float(row["first"]) <= float(row["to_1"]) <= float(row["to_01"]), True, "times ascend")
    check(float(row["proven"]) > 0 and float(row["library_cpu"]) > 0 and float(row["peak_mib"]) > 1, True, str(row))
    with open("out/solvers.json", encoding="utf-8") as f:
        check(list(json.load(f)), ["golden-S4"], "results")
    check("native" in done.stdout.decode(), True, "table")


failed = 0
for test in (test_glpsol, test_cbc, test_highs, test_judging, test_instances, test_limit, test_run):
    try:
        test()
        print("ok", test.__name__)
    except Exception:
        traceback.print_exc(file=sys.stdout)
        print("FAILED", test.__name__)
        failed += 1
sys.exit(1 if failed else 0)
