#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Loads a case, plans the day, draws it: plan_day.py [CASE [PICTURE]]"""
import pathlib
import sys

import ckptdispatch
import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

default = pathlib.Path(__file__).resolve().parents[1] / "cases" / "aidc2048.json"
case = ckptdispatch.Case.load(sys.argv[1] if len(sys.argv) > 1 else default)
solution = case.problem().solve("S4")
print(solution, f"green share {solution.report['green_share']:.2%}")

plan, slots = solution.plan, range(solution.plan.slots)
used = plan["wind_kw"] + plan["solar_kw"] - plan["curtailment_kw"]
pyplot.stackplot(slots, used, plan["import_kw"], labels=["renewables used", "grid"], step="post")
pyplot.step(slots, plan["site_load_kw"], "k", where="post", label="site load")
pyplot.xlabel("slot")
pyplot.ylabel("kW")
pyplot.legend()
pyplot.savefig(sys.argv[2] if len(sys.argv) > 2 else "plan.png")
