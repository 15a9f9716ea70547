# SPDX-License-Identifier: LGPL-3.0-or-later
"""Small cases of tests/cli/agreement that once went wrong in one backend: in each scenario all backends say the same,
`enumerate`, which looks at every path, included; and the scenarios cost no less than what they relax to."""
import json
import os

from tool import SRC, check, has_solver, main, run_json

FOLDER = os.path.join(SRC, "tests", "cli", "agreement")
SOLVERS = ["enumerate", "native"] + (["glpk"] if has_solver("glpk") else [])


def answer(path, scenario, solver):
    """(outcome, cost): a proven optimum, or that there is no plan."""
    done = run_json("solve", path, "--scenario", scenario, "--solver", solver, status=None)
    check(done["outcome"] in ("optimal", "infeasible"), f"{path} {scenario} {solver}: {done['outcome']}")
    return done["outcome"], done["cost"] if done["outcome"] == "optimal" else None


def backends_agree():
    for name in sorted(os.listdir(FOLDER)):
        path, cost = os.path.join(FOLDER, name), {}
        with open(path, encoding="utf-8") as f:
            battery = bool(json.load(f)["site"].get("batteries"))
        for scenario in ("S1", "S2", "S3", "S4") + (("S5", "S6") if battery else ()):
            found = {solver: answer(path, scenario, solver) for solver in SOLVERS}
            outcome, cost[scenario] = found["enumerate"]
            for solver, (other, value) in found.items():
                check(other == outcome, f"{name} {scenario}: {found}")
                check(value is None or abs(value - cost[scenario]) <= 2e-6 * max(1, abs(value)), f"{name} {scenario}: {found}")
        check(any(value is not None for value in cost.values()), f"{name}: no scenario has a plan")
        for less, more in (("S3", "S4"), ("S4", "S2"), ("S6", "S4")):
            if less in cost and cost[more] is not None:
                check(cost[less] is not None and cost[less] <= cost[more] + 1e-6 * max(1, abs(cost[more])),
                      f"{name}: {less} {cost[less]}, {more} {cost[more]}")


main(backends_agree)
