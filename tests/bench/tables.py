# SPDX-License-Identifier: LGPL-3.0-or-later
"""What tests/bench/solvers.py prints and writes: tables, CSV, the page, pictures through gnuplot."""
import csv
import math
import os
import re
import shutil
import subprocess

OWN = ("native", "glpk", "glpk plain")
TIMES = ("first", "to_1", "to_05", "to_03", "to_01", "proven")
CSV_FIELDS = ("instance", "solver", "jobs", "slots", "segments", "scenario", "binaries", "moves", "cost", "bound", "gap",
              *TIMES, "cpu", "wall", "library_cpu", "library_wall", "peak_mib", "nodes", "iterations", "limit", "repeats",
              "status", "date", "commit")
COLUMNS = ("solver", "first s", "1 % s", "0.1 % s", "proven s", "wall s", "in library s", "gap", "plan", "nodes", "iterations",
           "MiB", "proven / native")


def seconds(value):
    if value is None:
        return "-"
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def gap_text(value):
    return "-" if not math.isfinite(value) else "0" if value < 1e-9 else f"{100 * value:.2g} %"


def ratio(run, native):
    """How many times as long as native; a lower limit where only native ended. None: nothing to compare."""
    if native is None or native["proven"] is None or run is native:
        return None, False
    if run["proven"] is None:
        return run["cpu"] / native["proven"], True
    return run["proven"] / native["proven"], False


def ratio_text(run, native):
    value, lower = ratio(run, native)
    if value is None:
        return ""
    return (">" if lower else "") + (f"{value:.0f}" if value >= 10 else f"{value:.1f}")


def best_peer(result):
    """The peer that ended first, with a proof or stopped: the fastest takes at least as long. None without peers."""
    found = [(run["cpu"], name) for name, run in result["solvers"].items()
             if name not in OWN and (run["proven"] is not None or run["status"] == "limit")]
    return min(found)[1] if found else None


def row(name, run, native):
    def whole(key):
        return "-" if run.get(key) is None else f"{run[key]:.0f}"

    return [name, seconds(run["first"]), seconds(run["to_1"]), seconds(run["to_01"]),
            seconds(run["proven"]) if run["proven"] is not None else f"({seconds(run['cpu'])})", seconds(run["wall"]),
            seconds(run.get("library_cpu")), gap_text(run["gap"]), f"{run['cost']:.4f}" if math.isfinite(run["cost"]) else "-",
            whole("nodes"), whole("iterations"), f"{run['peak_mib']:.0f}", ratio_text(run, native)]


def print_instance(name, result):
    """One instance as a Markdown table with aligned columns. In parentheses: ended without a proof."""
    native = result["solvers"].get("native")
    rows = [list(COLUMNS)] + [row(solver, run, native) for solver, run in result["solvers"].items()]
    width = [max(len(r[i]) for r in rows) for i in range(len(COLUMNS))]
    size = result.get("binaries") or (native or {}).get("moves")
    print(f"\n{name}: {result['jobs']} jobs, {result['slots']} slots, {result['segments']} segments, {result['scenario']}"
          + (f", {size:.0f} binaries" if size else ""))
    for r in rows:
        print("| " + " | ".join(text.ljust(w) if i == 0 else text.rjust(w) for i, (text, w) in enumerate(zip(r, width))) + " |",
              flush=True)


def write_csv(results, path):
    with open(path, "w", encoding="utf-8", newline="") as f:
        writer = csv.writer(f, lineterminator="\n")
        writer.writerow(CSV_FIELDS)
        for name, result in results.items():
            for solver, run in result["solvers"].items():
                values = {**result, **result["host"], **run, "instance": name, "solver": solver}
                writer.writerow(["" if values.get(key) is None else f"{values[key]:.10g}" if isinstance(values[key], float)
                                 else values[key] for key in CSV_FIELDS])


# --- the page

def markdown(columns, rows):
    yield "| " + " | ".join(columns) + " |"
    yield "|---|" + "---:|" * (len(columns) - 1)
    for r in rows:
        yield "| " + " | ".join(r) + " |"


def peer_tables(results):
    """Instances that peers were run on: one row a solver."""
    for name, result in results.items():
        if not any(solver not in OWN for solver in result["solvers"]):
            continue
        native = result["solvers"].get("native")
        for solver, run in result["solvers"].items():
            yield [name if run is native else "", *row(solver, run, native)]


def own_rows(results, groups):
    for name, result in results.items():
        run = result["solvers"].get("native")
        if result["group"] in groups and run:
            yield [name, str(result["jobs"]), str(result["slots"]), str(result["segments"]), f"{run.get('moves', 0):.0f}",
                   seconds(run["first"]), seconds(run["to_1"]), seconds(run["to_05"]), seconds(run["to_01"]),
                   seconds(run["proven"]) if run["proven"] is not None else f"({seconds(run['cpu'])})",
                   f"{run['cost']:.4f}", gap_text(run["gap"]), f"{run['nodes']:.0f}", f"{run['peak_mib']:.0f}"]


def ratio_rows(results):
    """Proofs against the fastest peer, and of glpk after the structure presolve against glpsol."""
    def against(peer, own):
        if peer is None or own is None or own["proven"] is None:
            return ["-", "-", "-"]
        stopped = "" if peer["proven"] is not None else ">"
        return [stopped + seconds(peer["cpu"]), seconds(own["proven"]), ratio_text(peer, own)]

    for name, result in results.items():
        runs, goal, glpk_goal = result["solvers"], result.get("goal"), result.get("glpk_goal")
        if not goal and not glpk_goal:
            continue
        best = best_peer(result)
        alone = min((runs[solver] for solver in ("glpsol", "glpsol --cuts") if solver in runs),
                    key=lambda run: (run["proven"] is None, run["cpu"]), default=None)
        yield [name, best or "-", *against(runs.get(best), runs.get("native")), str(goal or ""),
               *(against(alone, runs.get("glpk")) if glpk_goal else ["", "", ""]), str(glpk_goal or "")]


def within_rows(results):
    names = {"to_1": "1 %", "to_05": "0.5 %", "to_03": "0.3 %", "proven": "0.0001 %"}
    for name, result in results.items():
        run = result["solvers"].get("native")
        for key, limit in result.get("within") or () if run else ():
            yield [name, names[key], seconds(run[key]) if run[key] is not None else f"- ({gap_text(run['gap'])} after {seconds(run['cpu'])})",
                   f"{limit:g}" if limit else "", f"{run['peak_mib']:.0f}"]


OWN_COLUMNS = ("instance", "jobs", "slots", "segments", "edges", "first s", "1 % s", "0.5 % s", "0.1 % s", "proven s", "plan",
               "gap", "nodes", "MiB")


def page_text(results):
    hosts = [result["host"] for result in results.values()]
    newest = max(hosts, key=lambda host: host["date"])
    versions = {name: text for host in hosts for name, text in host["versions"].items()}
    dates = sorted(run.get("date", "") for result in results.values() for run in result["solvers"].values())
    commits = sorted({run.get("commit", "") for result in results.values() for run in result["solvers"].values()})
    yield f"Machine: {newest['cpu']}, {newest['cores']} cores, {newest['system']}; {newest['compiler']}. Peers: " \
          + ", ".join(f"{name} {text}" for name, text in sorted(versions.items())) \
          + f". Measured {dates[0]} to {dates[-1]}, commits {', '.join(commits)}."
    yield from ("", "### Goals", "")
    yield from markdown(("instance", "best peer", "its s", "native s", "ratio", "goal", "glpsol s", "glpk s", "ratio", "goal"),
                        ratio_rows(results))
    yield ""
    yield from markdown(("instance", "proven gap", "s", "goal s", "MiB"), within_rows(results))
    yield from ("", "### Beside general solvers", "")
    yield from markdown(("instance", *COLUMNS), peer_tables(results))
    yield from ("", "![Time to proof against size](benchmarks.svg)", "", "### Finer slots, larger clusters, real days", "")
    yield from markdown(OWN_COLUMNS, own_rows(results, ("finer", "scale", "real")))
    yield from ("", "### Growth", "", "![Growth in jobs, slots and segments](benchmarks-growth.svg)", "")
    yield from markdown(OWN_COLUMNS, own_rows(results, ("grid",)))


def renew_page(page, results):
    """Replaces what stands between the solving markers, and the pictures and figures beside the page."""
    with open(page, encoding="utf-8") as f:
        text = f.read()
    new = re.sub(r"(<!-- solving: begin[^\n]*\n).*?(<!-- solving: end)",
                 lambda m: m.group(1) + "\n" + "\n".join(page_text(results)) + "\n\n" + m.group(2), text, flags=re.S)
    with open(page, "w", encoding="utf-8") as f:
        f.write(new)
    folder = os.path.dirname(os.path.abspath(page))
    write_csv(results, os.path.join(folder, "benchmarks.csv"))
    plot(results, folder)


# --- pictures

HEAD = """set terminal svg size {width},{height} font 'Helvetica,13' background '#ffffff' dynamic
set output '{file}'
set datafile separator '\\t'
set logscale xy
set format x '10^{{%L}}'
set format y '10^{{%L}}'
set grid xtics ytics lt 1 lc rgb '#e4e4e4' lw 0.8
set border lc rgb '#707070'
set tics nomirror
"""
STYLE = {"native": ("#1f4e9c", 7), "glpk": ("#6fa8dc", 7), "glpsol": ("#d9822b", 5), "glpsol --cuts": ("#b5651d", 4),
         "cbc": ("#3c8d40", 9), "highs": ("#b03060", 13)}


def gnuplot(script, file):
    if not shutil.which("gnuplot"):
        print("gnuplot was not found: no picture drawn")
        return
    with open(file + ".gp", "w", encoding="utf-8") as f:
        f.write(script)
    done = subprocess.run(["gnuplot", file + ".gp"], stdin=subprocess.DEVNULL, check=False)
    if done.returncode == 0:
        os.remove(file + ".gp")


def block(name, points):
    return f"${name} << EOD\n" + "".join(f"{x:.6g}\t{y:.6g}\n" for x, y in sorted(points)) + "EOD\n"


def size_points(results):
    """By solver: (binaries, seconds) of proofs, and of runs of peers that were stopped without one."""
    proven, stopped = {}, {}
    for result in results.values():
        size = result.get("binaries") or (result["solvers"].get("native") or {}).get("moves")
        for solver, run in result["solvers"].items():
            if solver not in STYLE or not size or result["group"] == "grid" and solver == "native":
                continue
            if run["proven"] is not None:
                proven.setdefault(solver, []).append((size, run["proven"]))
            elif solver not in OWN and run["status"] == "limit":
                stopped.setdefault(solver, []).append((size, run["cpu"]))
    return proven, stopped


def plot_size(results, file):
    """Processor seconds to proof against binaries. Crosses: stopped there without a proof."""
    proven, stopped = size_points(results)
    text, parts = HEAD.format(width=860, height=480, file=file), []
    text += "set xlabel 'binary variables of the reduced model'\nset ylabel 'processor seconds, whole process'\n" \
            "set title 'Time to a proven optimum (relative gap 10^{-6}), one thread'\n" \
            "set key outside right top Left reverse samplen 1.5 spacing 1.3\nset xrange [1e3:3e6]\nset yrange [1e-3:2e3]\n"
    for number, solver in enumerate(STYLE):
        colour, mark = STYLE[solver]
        points = proven.get(solver, [])
        if points:
            text += block(f"d{number}", points)
            parts.append(f"$d{number} using 1:2 with points pt {mark} ps 0.8 lc rgb '{colour}' title '{solver}'")
        if solver == "native" and len({size for size, _ in points}) > 2:
            exponent, factor = fit(points)
            parts.append(f"{factor:.6g} * x ** {exponent:.4f} with lines lw 1.4 dt 2 lc rgb '{colour}' "
                         f"title 'binaries^{{{exponent:.2f}}}'")
        if solver in stopped:
            text += block(f"s{number}", stopped[solver])
            parts.append(f"$s{number} using 1:2 with points pt 2 ps 1 lw 1.8 lc rgb '{colour}' title '{solver}, stopped'")
    if parts:
        gnuplot(text + "plot " + ", \\\n     ".join(parts) + "\n", file)


def fit(points):
    """Exponent and factor of y = factor * x ** exponent, least squares of the logarithms."""
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    exponent = sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs)
    return exponent, math.exp(my - exponent * mx)


# Axis, label, which instances, and from where on the law is fitted: below, clusters are searched in another way.
GROWTH = (("jobs", "jobs (96 slots, 24 segments; lines from 20 on)", lambda r: (r["slots"], r["segments"]) == (96, 24), 20),
          ("slots", "slots (50 jobs, 24 segments)", lambda r: (r["jobs"], r["segments"]) == (50, 24), 0),
          ("segments", "segments (50 jobs, 96 slots)", lambda r: (r["jobs"], r["slots"]) == (50, 96), 0))
REACHED = (("first", "first plan", "#8a8a8a"), ("to_1", "proven gap of 1 %", "#6fa8dc"), ("to_05", "of 0.5 %", "#1f4e9c"))


def growth(results, axis, wanted, time):
    made = []
    for result in results.values():
        run = result["solvers"].get("native")
        if result["group"] == "grid" and wanted(result) and run and run.get(time):
            made.append((result[axis], run[time]))
    return sorted(made)


def growth_panel(results, number, axis, wanted, start):
    """Data and plot commands of one panel."""
    text, parts = "", []
    for time, title, colour in REACHED:
        points = growth(results, axis, wanted, time)
        law = [point for point in points if point[0] >= start]
        if not points:
            continue
        name = f"$g{number}{time}"
        text += block(name[1:], points)
        exponent = ""
        if len(law) > 2:
            power, factor = fit(law)
            exponent = f": {axis}^{{{power:.2f}}}"
            line = f"x < {law[0][0]} || x > {law[-1][0]} ? 1 / 0 : {factor:.6g} * x ** {power:.4f}"
            parts.append(f"({line}) with lines lw 1.4 dt 2 lc rgb '{colour}' notitle")
        parts.append(f"{name} using 1:2 with points pt 7 ps 0.8 lc rgb '{colour}' title '{title}{exponent}'")
    return text, parts


def plot_growth(results, file):
    text = HEAD.format(width=1080, height=400, file=file) + "set multiplot layout 1,3 margins 0.065,0.99,0.15,0.88 spacing 0.055 " \
        "title 'Native: processor seconds of the whole process against the size of the cluster, one thread'\n" \
        "set yrange [1e-3:1e2]\nset key left top Left reverse samplen 1 spacing 1.25\n"
    drawn = False
    for number, (axis, label, wanted, start) in enumerate(GROWTH):
        data, parts = growth_panel(results, number, axis, wanted, start)
        values = [x for x, _ in growth(results, axis, wanted, "first")]
        if len(values) < 3:
            continue
        ticks = ", ".join(f"'{x}' {x}" for x in values)
        text += data + f"set xlabel '{label}'\nset xtics ({ticks})\nset xrange [{0.8 * values[0]}:{1.25 * values[-1]}]\n" \
            + ("set ylabel 'processor seconds' offset 1\n" if number == 0 else "unset ylabel\n") \
            + "plot " + ", \\\n     ".join(parts) + "\n"
        drawn = True
    if drawn:
        gnuplot(text + "unset multiplot\n", file)


def plot(results, folder):
    plot_size(results, os.path.join(folder, "benchmarks.svg"))
    plot_growth(results, os.path.join(folder, "benchmarks-growth.svg"))
