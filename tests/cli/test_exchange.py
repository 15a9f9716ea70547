#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""The exported model, solved by CBC and GLPK's own program, has the same optimum; their answers come back."""
import shutil
import subprocess

from tool import GOLDEN, case, check, close, main, run, run_json

CASE = case("aidc2048-golden")


def solve_with(words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, timeout=600)


def by_cbc(scenario):
    if not shutil.which("cbc"):
        print(f"SKIP: cbc is absent: {scenario} not solved with it")
        return
    run("export", CASE, "--scenario", scenario, "--format", "mps", "-o", "model.mps")
    solve_with(["cbc", "model.mps", "-ratioGap", "1e-6", "solve", "solution", "cbc.sol"])
    with open("cbc.sol", encoding="utf-8") as f:
        head = f.readline()
    close(float(head.split()[-1]), GOLDEN[scenario], f"{scenario} by CBC: {head}")
    found = run_json("import-solution", CASE, "cbc.sol", "--scenario", scenario, "--out", "imported")
    close(found["cost"], GOLDEN[scenario], f"{scenario} imported from CBC")
    check(found["outcome"] == "feasible" and not found["proven"], "an imported plan is not proven")
    run("verify", CASE, "imported/plan.json")


def by_glpsol(scenario):
    if not shutil.which("glpsol"):
        print(f"SKIP: glpsol is absent: {scenario} not solved with it")
        return
    for form, option in (("mps", "--freemps"), ("lp", "--lp")):
        run("export", CASE, "--scenario", scenario, "--format", form, "-o", "model")
        solve_with(["glpsol", option, "model", "--pcost", "--cuts", "-o", "glp.txt", "-w", "glp.sol"])
        # glp.sol has columns by number, and a reader of LP files numbers them by appearance
        for answer in ("glp.txt", "glp.sol")[:2 if form == "mps" else 1]:
            found = run_json("import-solution", CASE, answer, "--scenario", scenario)
            close(found["cost"], GOLDEN[scenario], f"{scenario} by glpsol, {form}, {answer}")


def cbc_s4():
    by_cbc("S4")


def cbc_s6():
    by_cbc("S6")


def glpsol_s4():
    by_glpsol("S4")


def glpsol_s6():
    by_glpsol("S6")


def exported_twice_the_same():
    texts = [run("export", CASE, "--scenario", "S6")[1] for _ in range(2)]
    check(texts[0] == texts[1] and texts[0].startswith("*") or "NAME" in texts[0], "exported model")


def bad_answers():
    for text, part in (("", ""), ("nonsense\n", "1"), ("Optimal - objective value 1\n 0 nobody 1 0\n", "nobody")):
        with open("bad.sol", "w", encoding="utf-8") as f:
            f.write(text)
        status, out, err = run("import-solution", CASE, "bad.sol", status=None)
        check(status in (1, 2) and not out and part in err, f"{text!r}: {status} {err}")
    run("import-solution", CASE, "absent.sol", status=2)


main(exported_twice_the_same, cbc_s4, cbc_s6, glpsol_s4, glpsol_s6, bad_answers)
