#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Coverage of lib/ from gcov's data of a --coverage build, and of its allocation calls by the sweeps.

    coverage.py SRC OBJ SWEPT [LINES BRANCHES CALLS]

prints a table by file, then one line of three shares; with limits (percent) it fails below them.

Lines and branches: what the compiler put into the objects of every file of lib/, whether or not a test linked it; a
place counts as reached when the static or the shared library reached it. Both ways of every condition count, also those
of `&&`, `||` and `?:`; there are no exceptions in C and no assertions in lib/ that would add any.

Allocation calls: the calls of ckpd__calloc and its kin, of a backend's host->allocate and of the host's own functions
that the suite executed. Such a call is covered when a sweep made it return NULL at least once: SWEPT is the file
CKPD_TEST_SWEPT that the sweeps wrote (tests/support/sweep.c).
"""
import collections
import json
import os
import re
import subprocess
import sys

ALLOCATES = re.compile(r"\bckpd__(calloc|realloc|strdup|memdup)\s*\(|->allocate\s*\(|\bmalloc_fn\s*\(")
# They pass a wish on: the call is the one of their caller.
PASS_ON = {"ckpd__calloc", "ckpd__realloc", "ckpd__strdup", "ckpd__memdup", "host_allocate"}


def measure(src, obj):
    """Counts of every line and branch below lib/, and the name of the function a line belongs to."""
    lines = collections.defaultdict(dict)
    branches = collections.defaultdict(dict)
    functions = collections.defaultdict(dict)
    notes = [os.path.join(folder, n) for folder, _, names in os.walk(obj) for n in names if n.endswith(".gcno")]
    for path in sorted(notes):
        out = subprocess.run(
            ["gcov", "--branch-probabilities", "--json-format", "--stdout", path],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=obj,
        ).stdout
        for document in out.splitlines():
            unit = json.loads(document)
            for entry in unit["files"]:
                name = os.path.realpath(os.path.join(unit["current_working_directory"], entry["file"]))
                name = os.path.relpath(name, src)
                if name.startswith("lib/") and os.path.exists(os.path.join(src, name)):
                    add(entry["lines"], lines[name], branches[name], functions[name])
    return lines, branches, functions


def add(entries, lines, branches, functions):
    for line in entries:
        number = line["line_number"]
        lines[number] = lines.get(number, 0) + line["count"]
        functions[number] = line.get("function_name")
        for i, branch in enumerate(line["branches"]):
            branches[number, i] = branches.get((number, i), 0) + branch["count"]


def reached_calls(src, lines, functions):
    """(file, line) of the allocation calls that were executed."""
    calls = set()
    for name in lines:
        with open(os.path.join(src, name), encoding="utf-8") as f:
            text = f.read().splitlines()
        calls |= {(name, number) for number, count in lines[name].items()
                  if count and ALLOCATES.search(text[number - 1]) and functions[name][number] not in PASS_ON}
    return calls


def swept_calls(src, path):
    """(file, line) of the allocation calls in lib/ that a sweep made to fail."""
    programs = collections.defaultdict(set)
    with open(path, encoding="utf-8") as f:
        for line in f:
            program, anchor, *trace = line.split()
            programs[program].add(tuple(int(at, 16) - int(anchor, 16) for at in trace))
    calls = set()
    for program, traces in programs.items():
        symbols = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
        anchor = int(re.search(r"^([0-9a-f]+) [Tt] sweep_main$", symbols, re.M).group(1), 16)
        # A return address is that of the next instruction.
        wanted = sorted({anchor + at - 1 for trace in traces for at in trace})
        out = subprocess.run(["addr2line", "-f", "-e", program], input="\n".join(map(hex, wanted)),
                             check=True, capture_output=True, text=True).stdout.splitlines()
        where = {address: (function, place.split(" ")[0]) for address, function, place in zip(wanted, out[::2], out[1::2])}
        for trace in traces:
            frames = [where[anchor + at - 1] for at in trace]
            place = next((place for function, place in frames if function not in PASS_ON), "?:?")
            name, _, number = place.rpartition(":")
            name = os.path.relpath(os.path.realpath(name), src)
            if name.startswith("lib/") and number.isdigit():  # else a backend of the test asked for memory
                calls.add((name, int(number)))
    return calls


def share(hit, count):
    return f"{hit}/{count} {100 * hit / count:.1f}%" if count else "-"


def table(lines, branches, reached, swept):
    """Prints it and returns hits and counts of the whole: lines, branches, calls."""
    whole = [0] * 6
    print(f"{'file':44} {'lines':>18} {'branches':>18} {'allocation calls':>18}")
    for name in sorted(lines):
        calls = {call for call in reached if call[0] == name}
        counts = [
            sum(1 for c in lines[name].values() if c), len(lines[name]),
            sum(1 for c in branches[name].values() if c), len(branches[name]),
            len(calls & swept), len(calls),
        ]
        whole = [a + b for a, b in zip(whole, counts)]
        print(f"{name:44} {share(*counts[:2]):>18} {share(*counts[2:4]):>18} {share(*counts[4:]):>18}")
    return whole


def main():
    src, obj = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
    lines, branches, functions = measure(src, obj)
    reached, swept = reached_calls(src, lines, functions), swept_calls(src, sys.argv[3])
    whole = table(lines, branches, reached, swept)
    for name, number in sorted(reached - swept):
        print(f"never made to fail: {name}:{number}")
    for name, number in sorted(swept - reached):
        print(f"made to fail, but not known as an allocation call: {name}:{number}")
    print(f"coverage of lib/: lines {share(*whole[:2])}, branches {share(*whole[2:4])}, "
          f"allocation calls swept {share(*whole[4:])}")
    if not whole[1] or not reached:
        print("coverage: no data")
        return 1
    limits = [float(a) for a in sys.argv[4:7]]
    low = [limit for limit, hit, count in zip(limits, whole[::2], whole[1::2]) if 100 * hit < limit * count]
    if low or swept - reached:
        print(f"coverage: below the limits {' '.join(sys.argv[4:7])}, or a call this script does not know")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
