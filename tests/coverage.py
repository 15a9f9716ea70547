#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Coverage of lib/ from gcov's data of a --coverage build.

    coverage.py SRC OBJ [MIN_LINES MIN_BRANCHES]   table by file; fails below the limits (percent)
    coverage.py SRC OBJ --sites                    the allocation calls that were reached, one FILE:LINE a line
    coverage.py SRC ALL SWEPT MIN                  share of the calls in file ALL that file SWEPT has too
"""
import collections
import json
import os
import re
import subprocess
import sys

ALLOCATES = re.compile(r"\bckpd__(calloc|malloc|realloc|strdup|memdup)\s*\(|host->allocate\s*\(")


def measure(src, obj):
    """Counts of every line and branch below lib/; a line counts when the archive or the shared library reached it."""
    lines = collections.defaultdict(dict)
    branches = collections.defaultdict(dict)
    data = [os.path.join(folder, n) for folder, _, names in os.walk(obj) for n in names if n.endswith(".gcda")]
    for path in sorted(data):
        out = subprocess.run(
            ["gcov", "--branch-probabilities", "--json-format", "--stdout", path],
            check=True, capture_output=True, text=True, cwd=obj,
        ).stdout
        for document in out.splitlines():
            unit = json.loads(document)
            for entry in unit["files"]:
                name = os.path.realpath(os.path.join(unit["current_working_directory"], entry["file"]))
                name = os.path.relpath(name, src)
                if name.startswith("lib/"):
                    add(entry["lines"], lines[name], branches[name])
    return lines, branches


def add(entries, lines, branches):
    for line in entries:
        number = line["line_number"]
        lines[number] = lines.get(number, 0) + line["count"]
        for i, branch in enumerate(line["branches"]):
            branches[number, i] = branches.get((number, i), 0) + branch["count"]


def share(hit, count):
    return f"{hit}/{count} {100 * hit / count:.1f}%" if count else "-"


def table(lines, branches, limits):
    total = [0, 0, 0, 0]
    print(f"{'file':44} {'lines':>14} {'branches':>14}")
    for name in sorted(lines):
        counts = [
            sum(1 for c in lines[name].values() if c), len(lines[name]),
            sum(1 for c in branches[name].values() if c), len(branches[name]),
        ]
        total = [a + b for a, b in zip(total, counts)]
        print(f"{name:44} {share(*counts[:2]):>14} {share(*counts[2:]):>14}")
    if not total[1]:
        print("coverage: no data")
        return 1
    print(f"{'lib/':44} {share(*total[:2]):>14} {share(*total[2:]):>14}")
    if limits and (100 * total[0] < limits[0] * total[1] or 100 * total[2] < limits[1] * total[3]):
        print(f"coverage: below {limits[0]} % of lines or {limits[1]} % of branches")
        return 1
    return 0


def sites(src, lines):
    for name in sorted(lines):
        with open(os.path.join(src, name), encoding="utf-8") as f:
            text = f.read().splitlines()
        for number, count in sorted(lines[name].items()):
            if count and number <= len(text) and ALLOCATES.search(text[number - 1]):
                print(f"{name}:{number}")


def compare(reached_path, swept_path, minimum):
    with open(reached_path, encoding="utf-8") as f:
        reached = set(f.read().split())
    with open(swept_path, encoding="utf-8") as f:
        swept = set(f.read().split())
    print("\n".join(f"not swept: {site}" for site in sorted(reached - swept)))
    hit = len(reached & swept)
    print(f"allocation calls reached by the suite and swept: {share(hit, len(reached))}")
    return 0 if reached and 100 * hit >= minimum * len(reached) else 1


def main():
    src, where = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
    if os.path.isfile(where):
        return compare(where, sys.argv[3], float(sys.argv[4]))
    lines, branches = measure(src, where)
    if sys.argv[3:] == ["--sites"]:
        sites(src, lines)
        return 0
    return table(lines, branches, [float(a) for a in sys.argv[3:5]])


if __name__ == "__main__":
    sys.exit(main())
