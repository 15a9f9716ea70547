#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Command line: messages, exit status, terminals, Ctrl-C."""
import json
import os
import pty
import signal
import subprocess
import time

from tool import TOOL, case, check, has_solver, main, run, run_json

GOLDEN_CASE = case("aidc2048-golden")


def usage_errors():
    for words, part in (((), "Usage"), (("dance",), "unknown command 'dance'"), (("solve",), "needs CASE"),
                        (("solve", "a", "b"), "one argument too many"),
                        (("solve", GOLDEN_CASE, "--gapp", "1"), "unknown option '--gapp'"),
                        (("solve", GOLDEN_CASE, "--gap"), "needs a value"),
                        (("solve", GOLDEN_CASE, "--gap", "nan"), "is not a number"),
                        (("solve", GOLDEN_CASE, "--gap", "1,5"), "is not a number"),
                        (("solve", GOLDEN_CASE, "--gap", "-1"), "relative_gap"),
                        (("solve", GOLDEN_CASE, "--scenario", "S7"), "'S7' is not one of"),
                        (("solve", GOLDEN_CASE, "--solver", "natve"), "native"),
                        (("solve", "absent.json"), "cannot open absent.json: no such file"),
                        (("solve", "."), "it is a folder"),
                        (("solve", GOLDEN_CASE, "--scenario", "S1", "--out", "/dev/null/x"), "cannot make"),
                        (("sweep", GOLDEN_CASE), "either --segments or --gpu-cap"),
                        (("sweep", GOLDEN_CASE, "--segments", "0"), "segments"),
                        (("sweep", GOLDEN_CASE, "--segments", "2.5"), "segments"),
                        (("sweep", GOLDEN_CASE, "--gpu-cap", "5:1:1"), "FIRST:LAST:STEP"),
                        (("sweep", GOLDEN_CASE, "--gpu-cap", "1:2"), "FIRST:LAST:STEP"),
                        (("sweep", GOLDEN_CASE, "--gpu-cap", "-1"), "gpu"),
                        (("export", GOLDEN_CASE, "--format", "xls"), "neither mps nor lp"),
                        (("export", GOLDEN_CASE, "-o", "/absent/x"), "cannot write /absent/x"),
                        (("verify", GOLDEN_CASE, GOLDEN_CASE), "no plan file"),
                        (("modes", GOLDEN_CASE, "--job", "X"), "no job 'X'")):
        _, out, err = run(*words, status=2)
        check(part in err and not out, f"{words}: {part} is not in {err}{out}")


def help_and_version():
    check("import-solution" in run("--help")[1], "help lists the commands")
    for command in ("solve", "scenarios", "sweep", "modes", "verify", "export", "import-solution", "describe",
                    "version"):
        _, out, err = run(command, "--help")
        check(out.startswith(f"Usage: ckptdispatch {command}") and not err, out)
    check("schema ckptdispatch-shape" in run("solve", case("shape-a"), status=2)[2], "what the file is instead")
    _, out, _ = run("describe", "batteries")
    check(out.startswith("site.batteries[]: ") and "\nhorizon" not in out, out)
    check({m["object"] for m in run_json("describe", "site.batteries[]")} == {"site.batteries[]"}, "one object as JSON")
    check("objects are horizon" in run("describe", "batery", status=2)[2], "the objects are listed")
    found = run_json("version")
    check(found["case_schema_version"] == 1 and found["backends"], str(found))
    check(run("version")[1] == run("--version")[1], "--version")


def modes_of_the_published_case():
    found = run_json("modes", case("aidc2048"), "--all")
    check([job["feasible"] for job in found] == [135, 111], "published counts of configurations")
    for job in found:
        check(len(job["dropped"]) + job["retained"] == job["layouts"], "every layout is kept or has a reason")
        check(all(entry["reason"] for entry in job["dropped"]), "reasons")
    _, out, _ = run("modes", case("aidc2048"), "--job", "LLM-B")
    check("LLM-A" not in out and "(published 111)" in out, out)


def names_with_control_characters():
    with open(GOLDEN_CASE, encoding="utf-8") as f:
        changed = json.load(f)
    changed["name"] = "a\x1b[31m\nb\x7f"
    changed["description"] = "\x1b]0;title\x07"
    changed["jobs"][0]["name"] = "J\x1b[2J\nö"
    changed["site"]["gpu_cap"] = 1300
    with open("control.json", "w", encoding="utf-8") as f:
        json.dump(changed, f)
    for words, status in ((("solve", "control.json", "--scenario", "S4"), 0), (("describe", "control.json"), 0),
                          (("scenarios", "control.json", "--only", "S1"), 0), (("modes", "control.json"), 0),
                          (("diagnose", "control.json"), 0), (("report", "control.json", "--only", "S1"), 0)):
        _, out, err = run(*words, status=status)
        check(not any(c in out + err for c in "\x1b\x07\x7f"), f"{words}: control characters in {out!r}")
    changed["site"]["gpu_cap"] = 100
    with open("control.json", "w", encoding="utf-8") as f:
        json.dump(changed, f)
    for command in ("solve", "diagnose"):
        _, out, err = run(command, "control.json", "--scenario", "S1", status=1)
        check("\x1b" not in out + err, f"{command}: {out!r} {err!r}")
    with open("control.json", "w", encoding="utf-8") as f:
        f.write('{"schema": "ckptdispatch-case", "schema_version": 1, "\\u001b[31m": 1}')
    _, out, err = run("solve", "control.json", status=2)
    check("\x1b" not in err, repr(err))


def full_disk():
    if not os.path.exists("/dev/full"):
        print("SKIP: there is no /dev/full")
        return
    with open("/dev/full", "wb") as full:
        done = subprocess.run([TOOL, "describe"], stdout=full, stderr=subprocess.PIPE, timeout=600)
    check(done.returncode == 2 and b"cannot write" in done.stderr, done.stderr.decode())


def start_long_solve(**more):
    words = [TOOL, "solve", case("aidc2048-steep"), "--scenario", "S4", "--solver", "glpk", "--gap", "0", "--json"]
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, **more)


def interrupted():
    if not has_solver("glpk"):
        return
    waits = [0.5, 4]
    for wait in waits:
        child = start_long_solve(stderr=subprocess.PIPE)
        time.sleep(wait)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=600)
        if child.returncode == -signal.SIGINT:
            # on a slow machine the program may not have come to its handler yet
            check(wait < 60, "the signal ended the program")
            waits.append(2 * wait)
            continue
        found = json.loads(out)
        check(child.returncode == (0 if "jobs" in found else 1), f"exit status {child.returncode} {err}")
        check(found["outcome"] in ("cancelled", "optimal"), found["outcome"])
        if found["outcome"] == "cancelled" and "jobs" in found:
            check(found["bound"] is None or found["bound"] <= found["cost"] * (1 + 1e-9), "bound")


def progress_on_a_terminal():
    if not has_solver("glpk"):
        return
    try:
        master, slave = pty.openpty()
    except OSError:
        print("SKIP: no pseudo-terminal can be had here")
        return
    child = start_long_solve(stderr=slave)
    os.close(slave)
    seen = b""
    deadline = time.monotonic() + 300
    while b"Ctrl-C" not in seen and time.monotonic() < deadline:
        try:
            part = os.read(master, 4096)
        except OSError:
            break
        seen += part
        if not part:
            break
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=600)
    os.close(master)
    found = json.loads(out)
    check(b"Ctrl-C" in seen or found["outcome"] == "optimal", f"no progress line: {seen!r}")


main(usage_errors, help_and_version, modes_of_the_published_case, names_with_control_characters, full_disk, interrupted, progress_on_a_terminal)
