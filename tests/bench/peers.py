# SPDX-License-Identifier: LGPL-3.0-or-later
"""Solvers of tests/bench/solvers.py: their commands, and how cost and bound came together according to what they print.

A log is a list of (wall, cpu, text): seconds since the start of the process, in front of each line as tests/bench/measure
puts them. Parsers give (events, end): events (cpu, cost, bound) with infinities for what is not known, and a dict with
cost, bound, nodes, iterations as far as printed.
"""
import math
import os
import re
import shutil

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"


def number(text):
    return {"inf": math.inf, "+inf": math.inf, "-inf": -math.inf}.get(text) if "inf" in text else float(text)


def version_in(text):
    """The first thing in a program's greeting that looks like a version."""
    found = re.search(r"\b\d+\.\d+(?:\.\d+)?\b", text)
    return found.group(0) if found else "unknown"


class Account:
    """Best cost and bound so far, and when they changed."""

    def __init__(self):
        self.cost, self.bound, self.events, self.end = math.inf, -math.inf, [], {}

    def note(self, cpu, cost=math.inf, bound=-math.inf):
        cost, bound = min(cost, self.cost), max(bound, self.bound)
        if (cost, bound) != (self.cost, self.bound):
            self.cost, self.bound = cost, bound
            self.events.append((cpu, cost, bound))

    def result(self):
        self.end.setdefault("cost", self.cost)
        self.end.setdefault("bound", self.bound)
        return self.events, self.end


def parse_glpsol(log):
    """Lines "+ ITER: mip = COST >= BOUND GAP (OPEN; DONE)", ">>>>>" for a new plan."""
    line = re.compile(rf"\+\s*(\d+): (?:mip =|>>>>>)\s+(not found yet|{NUMBER}) >=\s+(-inf|tree is empty|{NUMBER})"
                      r".*\((\d+); (\d+)\)")
    account, optimal, relaxation = Account(), False, re.compile(rf"\*?\s*\d+: obj =\s+({NUMBER}) inf =")
    value = -math.inf
    for _, cpu, text in log:
        found = line.search(text)
        if found:
            iterations, cost, bound, active, done = found.groups()
            account.end.update(iterations=int(iterations), nodes=int(active) + int(done))
            cost = math.inf if cost.startswith("not") else float(cost)
            bound = cost if bound.startswith("tree") else number(bound)
            account.note(cpu, cost, bound)
        elif relaxation.search(text):
            value = float(relaxation.search(text).group(1))
        elif "OPTIMAL LP SOLUTION FOUND" in text:
            account.note(cpu, bound=value)
        optimal = optimal or "INTEGER OPTIMAL SOLUTION FOUND" in text
    if optimal:
        account.bound = account.cost
    return account.result()


def parse_cbc(log):
    """CBC writes in blocks, so the processor seconds that it prints count, where it prints them."""
    timed = re.compile(r"\(([\d.]+) seconds\)")
    plan = re.compile(rf"Cbc00(?:04|12|16)I Integer solution of ({NUMBER}) found")
    tree = re.compile(rf"Cbc0010I After (\d+) nodes, \d+ on tree, ({NUMBER}) best solution, best possible ({NUMBER})")
    cuts = re.compile(rf"Cbc0013I At root node, \d+ cuts changed objective from {NUMBER} to ({NUMBER})")
    relaxation = re.compile(rf"Continuous objective value is ({NUMBER}) - ([\d.]+) seconds")
    last = re.compile(rf"^(Objective value|Lower bound|Enumerated nodes|Total iterations):\s+({NUMBER})")
    account, proven, at = Account(), False, 0.0
    names = {"Objective value": "cost", "Lower bound": "bound", "Enumerated nodes": "nodes", "Total iterations": "iterations"}
    for _, _, text in log:
        at = max([at] + [float(t) for t in timed.findall(text)])
        found = relaxation.search(text)
        if found:
            at = max(at, float(found.group(2)))
            account.note(at, bound=float(found.group(1)))
        elif plan.search(text):
            account.note(at, cost=float(plan.search(text).group(1)))
        elif cuts.search(text):
            account.note(at, bound=float(cuts.search(text).group(1)))
        elif tree.search(text):
            nodes, cost, bound = tree.search(text).groups()
            account.end["nodes"] = int(nodes)
            account.note(at, float(cost) if float(cost) < 1e49 else math.inf, float(bound))
        elif last.search(text):
            name, value = last.search(text).groups()
            account.end[names[name]] = float(value)
        proven = proven or "Result - Optimal solution found" in text
    if account.end.get("cost", 0) > 1e49:
        account.end["cost"] = math.inf
    if proven:
        account.end["bound"] = account.end["cost"]
    return account.result()


def parse_highs(log):
    """Rows of the table: [mark] nodes queue leaves explored bound cost gap cuts rows conflicts iterations time."""
    row = re.compile(rf"^ ?[A-Za-z]?\s+(\d+)\s+\d+\s+\d+\s+[\d.]+%\s+(-?inf|{NUMBER})\s+(inf|{NUMBER})\s+\S+\s+\d+\s+\d+\s+\d+"
                     r"\s+(\d+)\s+[\d.]+s")
    last = re.compile(rf"^\s+(Primal bound|Dual bound|Nodes|LP iterations)\s+(-?inf|{NUMBER})")
    names = {"Primal bound": "cost", "Dual bound": "bound", "Nodes": "nodes", "LP iterations": "iterations"}
    account = Account()
    for _, cpu, text in log:
        found = row.search(text)
        if found:
            nodes, bound, cost, iterations = found.groups()
            account.end.update(nodes=int(nodes), iterations=int(iterations))
            account.note(cpu, number(cost), number(bound))
        elif last.search(text):
            name, value = last.search(text).groups()
            account.end[names[name]] = number(value)
    return account.result()


def parse_trace(log):
    """Output of tests/bench/solve_trace, which has its own times."""
    account = Account()
    for _, _, text in log:
        word = text.split()
        if word[:1] == ["size"]:
            account.end["moves"] = int(word[4])
        elif word[:1] in (["at"], ["end"]):
            account.note(float(word[1]), float(word[2]), float(word[3]))
            account.end.update(iterations=int(word[4]), nodes=int(word[5]))
        if word[:1] == ["end"]:
            account.end.update(library_cpu=float(word[6]), library_wall=float(word[7]))
    return account.result()


class Peer:
    """A program of others, given the exported model."""

    def __init__(self, name, program, words, parse, version):
        self.name, self.path, self.words, self.parse, self.version = name, shutil.which(program), words, parse, version

    def command(self, model, gap, folder):
        options = os.path.join(folder, "highs.opt")
        with open(options, "w", encoding="utf-8") as f:
            f.write(f"mip_rel_gap = {gap}\nthreads = 1\nparallel = off\n")
        known = {"MODEL": model, "GAP": str(gap), "OPTIONS": options}
        return [self.path] + [known.get(word, word) for word in self.words]

    def environment(self):
        """HiGHS from a Python package does not find its own library."""
        made = dict(os.environ, LC_ALL="C", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
        beside = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(self.path))), "lib")
        if os.path.exists(os.path.join(beside, "libhighs.so")):
            made["LD_LIBRARY_PATH"] = beside + ":" + made.get("LD_LIBRARY_PATH", "")
        return made


PEERS = [
    Peer("glpsol", "glpsol", ["--freemps", "MODEL", "--mipgap", "GAP"], parse_glpsol, ["--version"]),
    Peer("glpsol --cuts", "glpsol", ["--freemps", "MODEL", "--cuts", "--mipgap", "GAP"], parse_glpsol, ["--version"]),
    Peer("cbc", "cbc", ["MODEL", "ratio", "GAP", "solve"], parse_cbc, ["quit"]),
    Peer("highs", "highs", ["--options_file", "OPTIONS", "MODEL"], parse_highs, ["--version"]),
]
