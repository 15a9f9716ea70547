#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""A thousand randomly broken cases, the same on every run: each is solved (and checked by the tool) or refused with a
message that names a place, or proven infeasible with named causes. None crashes, hangs or says only "infeasible".
"""
import copy
import json
import os
import random
import re

from tool import FAST, case, check, main, run

COUNT = 150 if FAST else 1000
SOURCES = ("aidc2048-golden", "aidc2048", "j4-a")


def places(value, path=()):
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, path + (key,))


def nasty_number(rng, value):
    return rng.choice([0, -1, 1, 1e-9, -value, 2 * value, value / 2, value + 0.5, 10 * value, 1e6 * value, 1e18, 1e300])


def break_tree(tree, rng):
    paths = [p for p in places(tree) if p and p[0] not in ("description", "published")]
    path = rng.choice(paths)
    parent = tree
    for key in path[:-1]:
        parent = parent[key]
    key, value = path[-1], parent[path[-1]]
    kind = rng.randrange(8)
    if kind == 0 and isinstance(parent, dict):
        del parent[key]
    elif kind == 1 and isinstance(parent, dict):
        letters = list(key)
        at = rng.randrange(len(letters))
        letters[at] = rng.choice("abcxyz_")
        parent["".join(letters)] = parent.pop(key)
    elif kind == 2:
        parent[key] = rng.choice([None, "x", "1,5", True, [], {}, "unlimited", [1, "2"], -3])
    elif kind == 3 and isinstance(parent, list):
        parent.insert(key, copy.deepcopy(value))
    elif kind == 4 and isinstance(parent, list):
        del parent[key]
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        parent[key] = nasty_number(rng, value)
    elif isinstance(value, list) and value and all(isinstance(v, (int, float)) for v in value):
        parent[key] = [rng.choice([1, 3, 0.1, -1]) * v for v in value]


def tighten(tree, rng):
    """Limits that contradict one another more often than not."""
    site, task = tree["site"], rng.choice(tree["jobs"])["task"]
    slots = tree["horizon"]["slots"]
    rng.choice([lambda: site.update(gpu_cap=rng.randrange(0, 2000)),
                lambda: site.update(gpu_cap=[rng.choice([0, 512, 2048]) for _ in range(slots)]),
                lambda: site.update(site_cap_kw=rng.randrange(0, 1600)),
                lambda: site.update(import_cap_kw=rng.randrange(0, 900)),
                lambda: task.update(deadline=rng.randrange(1, slots)),
                lambda: task.update(release=rng.randrange(1, slots)),
                lambda: task.update(tranche_baseline_hours=rng.choice([20, 30, 50, 80])),
                lambda: site["batteries"][0].update(soc_start_kwh=60, soc_end_kwh=450, charge_kw=rng.choice([1, 5, 50]))])()


def break_text(text, rng):
    kind = rng.randrange(4)
    at = rng.randrange(len(text))
    if kind == 0:
        return text[:at]
    if kind == 1:
        return text[:at] + rng.choice(['"', "{", "]", ",", "\\", "\x00", "NaN", "é", "-"]) + text[at:]
    if kind == 2:
        return text[:at] + text[at + 1 + rng.randrange(5):]
    lines = text.splitlines(keepends=True)
    line = rng.randrange(len(lines))
    return "".join(lines[:line] + [lines[line]] + lines[line:])


def known_names():
    names = {m["name"] for m in json.loads(run("describe", "--json")[1])}
    return {n for n in names if len(n) > 1}


def judge(number, words, names, counts):
    status, out, err = run(*words, status=None)
    what = f"case {number}: status {status}: {out[:200]}{err[:400]}"
    check(status in (0, 1, 2), what)
    counts[status] += 1
    if status == 2:
        message = err.split("ckptdispatch: ")[-1]
        check(not out, what)
        check(any(re.search(rf"\b{n}\b", message) for n in names) or "line " in message, what)
        check(len(message) > 20, what)
        return
    found = json.loads(out)
    if status == 0:
        check(found["outcome"] in ("optimal", "feasible") and found["cost"] is not None, what)
    elif found["outcome"] == "infeasible":
        check(found.get("causes"), what)
        for cause in found["causes"]:
            check(len(cause) > 20 and re.search(r"\d", cause), f"case {number}: cause '{cause}'")
    else:
        check(found["outcome"] == "no_plan", what)


def thousand_broken_cases():
    rng = random.Random(20260201)
    sources = []
    for name in SOURCES:
        with open(case(name), encoding="utf-8") as f:
            sources.append(json.load(f))
    names = known_names()
    counts = [0, 0, 0]
    for number in range(COUNT):
        tree = copy.deepcopy(rng.choice(sources))
        how = rng.choice([break_tree, break_tree, tighten])
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            how(tree, rng)
        text = json.dumps(tree, indent=1, ensure_ascii=False)
        if how == break_tree and rng.randrange(8) == 0:
            text = break_text(text, rng)
        with open("broken.json", "w", encoding="utf-8") as f:
            f.write(text)
        words = ["solve", "broken.json", "--scenario", rng.choice(["S1", "S4", "S4", "S6"]), "--json",
                 "--time-limit", "2", "--gap", "0.01"]
        try:
            judge(number, words, names, counts)
        except Exception:
            os.replace("broken.json", f"broken-{number}.json")
            print(" ".join(words))
            raise
    print(f"{counts[0]} solved, {counts[1]} without a plan, {counts[2]} refused")
    check(min(counts) > COUNT // 50, f"the breaker is one-sided: {counts}")


main(thousand_broken_cases)
