#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""coverage.py SRC OBJ [MIN_LINES MIN_BRANCHES]: line and branch coverage of lib/ from gcov's data below OBJ.

Closes with one line for all of lib/; with the two limits (percent) it fails below them.
"""
import collections
import json
import os
import subprocess
import sys


def main():
    src, obj = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
    lines = collections.defaultdict(dict)
    branches = collections.defaultdict(dict)
    # The archive's objects and the shared library's are both run: a line counts when either reached it.
    data = [os.path.join(f, n) for f, _, names in os.walk(obj) for n in names if n.endswith(".gcda")]
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
                if not name.startswith("lib/"):
                    continue
                for line in entry["lines"]:
                    number = line["line_number"]
                    lines[name][number] = lines[name].get(number, 0) + line["count"]
                    for i, branch in enumerate(line["branches"]):
                        key = (number, i)
                        branches[name][key] = branches[name].get(key, 0) + branch["count"]
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
    if len(sys.argv) > 4:
        enough = 100 * total[0] >= float(sys.argv[3]) * total[1] and 100 * total[2] >= float(sys.argv[4]) * total[3]
        if not enough:
            print(f"coverage: below {sys.argv[3]} % of lines or {sys.argv[4]} % of branches")
            return 1
    return 0


def share(hit, count):
    return f"{hit}/{count} {100 * hit / count:.1f}%" if count else "-"


if __name__ == "__main__":
    sys.exit(main())
