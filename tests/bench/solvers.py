#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Times the solvers of this library beside general MILP solvers, one thread each, whole process against whole process.

    make bench B=solvers                     the short run
    make bench-full                          everything; hours with all peers
    make bench-full BENCH_OPTIONS='golden'   the instances whose names hold the word; --help lists the options

Each instance is exported as MPS (the reduced model of `ckptdispatch export`) and given to every peer that is installed
(glpsol, glpsol --cuts, cbc, highs, from PATH); native and glpk get the case file through `ckptdispatch solve`. Runs
alternate: every solver once, then every solver again. Figures are medians. Seconds are processor seconds of the process
unless they are called wall: these hold on a machine with other work.
"""
import argparse
import datetime
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile

import instances
import peers
import tables

SRC, BUILD = os.environ["SRC_DIR"], os.environ["BUILD_DIR"]
TOOL = os.path.join(BUILD, "ckptdispatch")
MEASURE = os.path.join(BUILD, "tests", "bench", "measure")
TRACE = os.path.join(BUILD, "tests", "bench", "solve_trace")
GAPS = {"first": math.inf, "to_1": 1e-2, "to_05": 5e-3, "to_03": 3e-3, "to_01": 1e-3}
PROVEN = 1.01e-6  # 1e-6 after rounding to print
LONG_S = {True: 15, False: 4}  # a solver that takes longer runs once, in a full and in a short run


def relative_gap(cost, bound):
    if not (math.isfinite(cost) and math.isfinite(bound)):
        return math.inf
    return max(0.0, cost - bound) / max(abs(cost), abs(bound), 1e-300)


def measure(command, limit, environment=None, folder=None):
    """Log and use of one run in a folder of its own; `limit` is on processor seconds."""
    done = subprocess.run([MEASURE, str(limit), str(20 * limit + 600), *command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, env=environment, cwd=folder, check=False)
    log = []
    for line in done.stdout.decode(errors="replace").splitlines():
        if line.startswith("= "):
            wall, user, system, peak, status = line[2:].split()
            return log, {"wall": float(wall), "cpu": float(user) + float(system), "peak_mib": float(peak) / 1024,
                         "status": status}
        wall, cpu, text = (line.split(" ", 2) + ["", ""])[:3]
        log.append((float(wall), float(cpu), text))
    raise RuntimeError(f"{command[0]}: not measured")


def when(events, gap):
    """Processor seconds until the gap was reached; None: never. An infinite gap asks for the first plan."""
    for cpu, cost, bound in events:
        if math.isfinite(cost) and (math.isinf(gap) or relative_gap(cost, bound) <= gap):
            return cpu
    return None


def judge(log, use, parse, gap):
    """One run's figures."""
    events, end = parse(log)
    run = dict(use, **end)
    run["gap"] = relative_gap(end["cost"], end["bound"])
    if use["status"] in ("0", "limit"):
        events = [*events, (use["cpu"], end["cost"], end["bound"])]
    run.update({name: when(events, value) for name, value in GAPS.items()})
    ended = use["status"] == "0" and run["gap"] <= max(PROVEN, 1.01 * gap)
    run["proven"] = use["cpu"] if ended else None
    return run


def run_native(case, instance, solver, limit):
    """Traced first; the tool itself is timed when the solve ends in time."""
    name, plain = solver.split(" ")[0], solver.endswith("plain")
    gap = str(instance.gap)
    log, use = measure([TRACE, case, instance.scenario, name, gap, "0" if plain else "1"], limit)
    run = judge(log, use, peers.parse_trace, instance.gap)
    run["solved_by"] = solver
    if use["status"] == "0":
        if plain:
            return run  # the tool has no option for it
        _, tool = measure([TOOL, "solve", case, "--scenario", instance.scenario, "--solver", name, "--gap", gap, "--json"], limit)
        run.update({key: tool[key] for key in ("wall", "cpu", "peak_mib")})
        if run["proven"] is not None:
            run["proven"] = tool["cpu"]
    return run


def run_peer(model, instance, peer, limit, folder):
    log, use = measure(peer.command(model, instance.gap, folder), limit, peer.environment(), folder)
    return judge(log, use, peer.parse, instance.gap)


def median_of(runs):
    """Medians of the figures; a time counts only when most runs have it."""
    made = dict(runs[0], repeats=len(runs))
    for key, value in runs[0].items():
        values = [run.get(key) for run in runs]
        if isinstance(value, str):
            continue
        numbers = [math.inf if x is None else x for x in values]
        middle = statistics.median(numbers)
        made[key] = None if value is None and math.isinf(middle) else middle
    return made


def count_binaries(model):
    """Binary columns of an MPS file: those between the integer markers."""
    names, inside = set(), False
    with open(model, encoding="ascii") as f:
        for line in f:
            if "'MARKER'" in line:
                inside = "'INTORG'" in line
            elif inside and line.startswith("RHS"):
                break
            elif inside:
                names.add(line.split(None, 1)[0])
    return len(names)


def run_instance(instance, options, found_peers, folder):
    """Every solver on one instance, in turns."""
    full = options.full
    limit = options.limit or (instance.native if full else instance.quick)
    peer_limit = options.peer_limit or (instance.peers if full else instance.quick_peers)
    if options.no_peers or not (instance.peers if full else instance.quick_peers):
        peer_limit = 0
    case = instance.write(folder)
    wanted = [(name, lambda name=name: run_native(case, instance, name, limit)) for name in ("native",)]
    if peer_limit:
        model = os.path.join(folder, "model.mps")
        subprocess.run([TOOL, "export", case, "--scenario", instance.scenario, "-o", model], check=True,
                       stdout=subprocess.DEVNULL)
        wanted += [(name, lambda name=name: run_native(case, instance, name, peer_limit)) for name in ("glpk", "glpk plain")]
        wanted += [(peer.name, lambda peer=peer: run_peer(model, instance, peer, peer_limit, folder)) for peer in found_peers]
    if options.solvers:
        wanted = [(name, run) for name, run in wanted if name in options.solvers]
    runs, done = {name: [] for name, _ in wanted}, set()
    for _ in range(options.repeats):
        for name, run in wanted:
            if name in done:
                continue
            runs[name].append(run())
            if runs[name][0]["cpu"] > LONG_S[full]:
                done.add(name)
    result = {"group": instance.group, "scenario": instance.scenario, "jobs": instance.jobs, "slots": instance.slots,
              "segments": instance.segments, "known": instance.known, "asked_gap": instance.gap, **instance.goals,
              "solvers": {name: median_of(list_of) for name, list_of in runs.items() if list_of}}
    if peer_limit:
        result["binaries"] = count_binaries(model)
        os.remove(model)
    for name, figures in result["solvers"].items():
        figures["limit"] = limit if name == "native" else peer_limit
    return result


def check_known(name, result):
    """No solver may call a plan proven that misses an optimum known from elsewhere."""
    complaints = []
    for solver, run in result["solvers"].items():
        known = result["known"]
        if known and run["proven"] is not None and abs(run["cost"] - known) > 2e-6 * abs(known):
            complaints.append(f"{name}: {solver} proves {run['cost']}, but {known} is known")
    return complaints


def machine(found_peers):
    """What the figures depend on."""
    def first_line(command, word=""):
        try:
            text = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  check=False).stdout.decode(errors="replace")
        except OSError:
            return "unknown"
        lines = [line for line in text.splitlines() if word in line]
        return " ".join(lines[0].split()) if lines else "unknown"

    versions = {}
    for peer in found_peers:
        done = subprocess.run([peer.path, *peer.version], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=peer.environment(), check=False)
        versions[peer.path and os.path.basename(peer.path)] = peers.version_in(done.stdout.decode(errors="replace"))
    cpu = first_line(["cat", "/proc/cpuinfo"], "model name").split(":")[-1].strip()
    system = first_line(["cat", "/etc/os-release"], "PRETTY_NAME").split("=")[-1].strip('"')
    return {"cpu": cpu, "cores": os.cpu_count(), "system": f"{system}, {platform.machine()}", "compiler": first_line(["cc", "--version"]),
            "commit": first_line(["git", "-C", SRC, "rev-parse", "--short", "HEAD"]),
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
            "load": os.getloadavg()[0], "versions": versions}


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only instances whose name holds one of the words (=NAME: exactly)")
    parser.add_argument("--full", action="store_true", help="all instances, long limits")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each solver; one where it takes long")
    parser.add_argument("--limit", type=float, help="processor seconds for native, instead of each instance's own")
    parser.add_argument("--peer-limit", type=float, help="processor seconds for each peer, likewise")
    parser.add_argument("--solvers", type=lambda text: text.split(","), help="only these, by their names in the table")
    parser.add_argument("--no-peers", action="store_true", help="native alone")
    parser.add_argument("--keep", action="store_true", help="add to the results of earlier runs in the results folder")
    parser.add_argument("--results", default=os.path.join(BUILD, "bench"), help="folder of solvers.json, .csv and plots")
    parser.add_argument("--page", help="Markdown page with solving markers to renew from all results")
    parser.add_argument("--report", action="store_true", help="run nothing, only write what the results folder holds")
    return parser.parse_args()


def chosen(options):
    for instance in instances.every():
        matches = any(word[1:] == instance.name if word.startswith("=") else word in instance.name for word in options.words)
        if matches if options.words else instance.quick or options.full:
            yield instance


def main():
    options = parse_options()
    os.makedirs(options.results, exist_ok=True)
    path = os.path.join(options.results, "solvers.json")
    results = {}
    if (options.keep or options.report) and os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            results = json.load(f)
    found = [] if options.no_peers else [peer for peer in peers.PEERS if peer.path]
    for peer in peers.PEERS:
        if not peer.path and not options.no_peers and not options.report:
            print(f"SKIP: {peer.name}: not found in PATH")
    host, complaints = machine(found), []
    for instance in [] if options.report else chosen(options):
        with tempfile.TemporaryDirectory(prefix="ckptdispatch-bench-") as folder:
            result = run_instance(instance, options, found, folder)
        complaints += check_known(instance.name, result)
        result["host"] = host
        for figures in result["solvers"].values():
            figures.update(date=host["date"], commit=host["commit"])
        if options.keep and instance.name in results:
            result["solvers"] = {**results[instance.name]["solvers"], **result["solvers"]}
            result.setdefault("binaries", results[instance.name].get("binaries"))
        results[instance.name] = result
        tables.print_instance(instance.name, result)
        with open(path, "w", encoding="utf-8") as f:
            json.dump(results, f, indent=1)
    tables.write_csv(results, os.path.join(options.results, "solvers.csv"))
    tables.plot(results, options.results)
    if options.page:
        tables.renew_page(options.page, results)
    for line in complaints:
        print("WRONG:", line)
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
