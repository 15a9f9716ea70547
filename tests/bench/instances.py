# SPDX-License-Identifier: LGPL-3.0-or-later
"""The instances of tests/bench/solvers.py, as case files made from those of examples/cases and ../shared."""
import copy
import csv
import importlib.util
import json
import os
import random

SRC = os.environ["SRC_DIR"]
CASES = os.path.join(SRC, "examples", "cases")
SHARED = os.path.join(SRC, "..", "shared")
REAL_DAYS = [("2024-04-11", "caiso_sp15_2024-02-17_2024-09-29_hourly.csv"),
             ("2024-04-27", "caiso_sp15_2024-02-17_2024-09-29_hourly.csv"),
             ("2024-09-05", "caiso_sp15_2024-02-17_2024-09-29_hourly.csv")]
RENEWABLE_KWH = 16472  # of the golden case; real days are scaled to it
SEED = 20240409
# goal: fastest peer's time to proof over native's; glpk_goal: glpsol's over that of glpk with the structure presolve;
# within: native's seconds to a proven gap.
GOALS = {"golden-S4": {"goal": 20, "glpk_goal": 5}, "golden-S6": {"goal": 20, "glpk_goal": 5},
         "steep-S4": {"goal": 50}, "steep-S6": {"goal": 50},
         "golden-96x24-S4": {"goal": 200, "glpk_goal": 50}, "steep-96x24-S4": {"goal": 500},
         "golden-96x24-S6": {"goal": 200}, "steep-96x24-S6": {"goal": 500},
         **{f"{day}-288x48-{scenario}": {"within": [["proven", 10]]} for day in ("golden", "steep") for scenario in ("S4", "S6")},
         "j4-a-S4": {"within": [["proven", 1]]}, "j4-b-S4": {"within": [["proven", 1]]},
         "j8-S4": {"within": [["to_1", 3], ["to_03", 60]]}, "j100-S4": {"within": [["to_05", 30]]},
         "j500-S4": {"within": [["to_05", None]]}}


class Instance:
    """One case and scenario. Seconds are processor time: `native` and `peers` limit a solve in a full run, `quick`
    and `quick_peers` in a short one; 0 means not run. `known` is an optimum from elsewhere; GOALS gives what is aimed at."""

    def __init__(self, name, group, case, scenario, *, known=None, gap=1e-6, native=60, peers=0, quick=0, quick_peers=0):
        self.name, self.group, self.case, self.scenario = name, group, case, scenario
        self.known, self.gap, self.goals = known, gap, GOALS.get(name, {})
        self.native, self.peers, self.quick, self.quick_peers = native, peers, quick, quick_peers
        self.jobs, self.slots = len(case["jobs"]), case["horizon"]["slots"]
        self.segments = case["jobs"][0]["task"].get("segments", 12)

    def write(self, folder):
        path = os.path.join(folder, self.name + ".json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(self.case, f)
        return path


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def example(name):
    return load(os.path.join(CASES, name + ".json"))


def neutral(path):
    """A case of ../shared in its neutral form."""
    spec = importlib.util.spec_from_file_location("convert", os.path.join(CASES, "convert.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.convert(load(path), os.path.splitext(os.path.basename(path))[0], "")


def finer(case, repeat, segments):
    """The same day in slots of a `repeat`-th, the jobs in `segments` checkpoint segments."""
    made = copy.deepcopy(case)
    made["horizon"]["slots"] *= repeat
    made["horizon"]["slot_minutes"] /= repeat
    for name, value in made["site"].items():
        if isinstance(value, list) and name != "batteries":
            made["site"][name] = [x for x in value for _ in range(repeat)]
    for job in made["jobs"]:
        job["task"]["segments"] = segments
    return made


def generated(jobs, slots, segments, modes=6):
    """A cluster of `jobs` on the day of j4-a, everything drawn from a seeded generator. Jobs are drawn one after the
    other, so that a larger cluster contains the smaller; renewables and fixed load grow with the GPUs of the baseline."""
    made = example("j4-a")
    day_gpus = sum(job["task"]["baseline_gpus"] for job in made["jobs"])
    draw = random.Random(SEED)
    made["jobs"], gpus = [], 0
    for number in range(jobs):
        base = draw.choice([256, 384, 512, 640, 768])
        power = draw.uniform(0.86, 0.97)
        counts = set(draw.sample([64, 96, 128, 160, 192, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1280], modes - 1))
        table = [{"gpus": g, "rate_per_s": round((g / base) ** power, 4), "power_kw": round(0.4 * g, 3)}
                 for g in sorted(counts | {base})]
        made["jobs"].append({"name": f"J{number}", "modes": table,
                             "task": {"segments": segments, "baseline_gpus": base,
                                      "tranche_baseline_hours": round(draw.uniform(15, 22), 3)}})
        gpus += base
    site = made["site"]
    site["gpu_cap"] = max(1280, 32 * round(1.2 * gpus / 32))
    made["mode_rules"]["installed_gpus"] = site["gpu_cap"]
    site["base_it_kw"] = 150 * jobs
    for name in ("wind_kw", "solar_kw"):
        site[name] = [round(x * gpus / day_gpus) for x in site[name]]
    made["name"] = f"{jobs} jobs, {slots} slots, {segments} segments"
    return finer(made, slots // 24, segments)


def real_day(day, path):
    """The golden cluster on a real day, its renewables scaled (docs/real-days.md)."""
    with open(path, encoding="utf-8", newline="") as f:
        rows = [row for row in csv.DictReader(f) if row["time"].startswith(day)]
    made = example("aidc2048-golden")
    made["name"] = day
    made["horizon"] = {"slots": len(rows), "slot_minutes": 60}
    made["site"]["import_price_per_mwh"] = [float(row["price_usd_per_mwh"]) for row in rows]
    energy = sum(float(row["wind_mw"]) + float(row["solar_mw"]) for row in rows)
    for name in ("wind", "solar"):
        made["site"][name + "_kw"] = [RENEWABLE_KWH / energy * float(row[name + "_mw"]) for row in rows]
    for job in made["jobs"]:
        job["task"]["tranche_baseline_hours"] = len(rows)
    return made


def two_jobs():
    """The golden and the steep day, as they are and in finer slots."""
    known = {"golden": {(24, 12, "S4"): 305.41, (24, 12, "S6"): 303.113684211, (96, 24, "S4"): 294.944},
             "steep": {(24, 12, "S4"): 376.8735, (24, 12, "S6"): 353.525583338, (96, 24, "S4"): 360.314}}
    for name, values in known.items():
        case = example("aidc2048-" + name)
        for scenario in ("S4", "S6"):
            yield Instance(f"{name}-{scenario}", "day", case, scenario, known=values[(24, 12, scenario)],
                           peers=120, quick=10, quick_peers=20)
        for slots in (96, 288):
            for segments in (12, 24, 48, 96):
                for scenario in ("S4", "S6"):
                    main = (slots, segments) in ((96, 24), (288, 48))
                    yield Instance(f"{name}-{slots}x{segments}-{scenario}", "finer", finer(case, slots // 24, segments),
                                   scenario, known=values.get((slots, segments, scenario)),
                                   native=20, peers=900 if main and slots == 96 else 0, quick=10 if main else 0)


def scale():
    known = {"j4-a": 762.6005, "j4-b": 548.8415}
    for name, native, peers, quick in (("j4-a", 60, 120, 10), ("j4-b", 60, 120, 10), ("j8", 60, 120, 4), ("j20", 60, 0, 4),
                                       ("j100", 60, 0, 0), ("j500", 120, 0, 0)):
        path = os.path.join(SHARED, "cases", "scale", name + ".json")
        if os.path.exists(os.path.join(CASES, name + ".json")):
            case = example(name)
        elif os.path.exists(path):
            case = neutral(path)
        else:
            print(f"SKIP: {name}: the case file is not at hand")
            continue
        yield Instance(f"{name}-S4", "scale", case, "S4", known=known.get(name), native=native, peers=peers, quick=quick)


def grid():
    """Growth in one direction at a time, and jobs against slots."""
    sizes = [(j, t, 24) for j in (1, 2, 4, 8, 20, 50, 100, 500) for t in (24, 96, 288)]
    sizes += [(50, 96, k) for k in (6, 12, 48, 96)] + [(50, t, 24) for t in (48, 144, 192)]
    for jobs, slots, segments in sizes:
        small = jobs <= 2 and slots == 24
        yield Instance(f"g{jobs}-{slots}x{segments}-S4", "grid", generated(jobs, slots, segments), "S4",
                       native=20, peers=60 if small else 0)


def real_days():
    for day, file in REAL_DAYS:
        path = os.path.join(SHARED, "data", "public", file)
        if os.path.exists(path):
            yield Instance(f"caiso-{day}-S6", "real", real_day(day, path), "S6", peers=120)
        else:
            print(f"SKIP: caiso-{day}: its series are not at hand")


def every():
    return [*two_jobs(), *scale(), *real_days(), *grid()]
