# SPDX-License-Identifier: LGPL-3.0-or-later
"""Running the tool in tests. Each test file calls main() with its functions; a failed check raises."""
import json
import os
import subprocess
import sys
import traceback

SRC = os.environ["SRC_DIR"]
BUILD = os.environ["BUILD_DIR"]
TOOL = os.path.join(BUILD, "ckptdispatch")
FAST = "CKPD_TEST_FAST" in os.environ

# Optima of the golden case, found with HiGHS and CBC on an independently written model (relative gap 1e-6).
GOLDEN = {"S1": 380.527, "S2": 380.527, "S3": 282.578, "S4": 305.41, "S5": 358.020157895, "S6": 303.113684211}


def case(name):
    return os.path.join(SRC, "examples", "cases", name + ".json")


def run(*words, status=0, env=None, **more):
    done = subprocess.run([TOOL, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=env, timeout=600, **more)
    out, err = done.stdout.decode(), done.stderr.decode()
    if status is not None:
        check(done.returncode == status, f"{words}: exit status {done.returncode}, not {status}\n{out}{err}")
    return done.returncode, out, err


def run_json(*words, status=0, **more):
    _, out, _ = run(*words, "--json", status=status, **more)
    return json.loads(out)


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def close(found, expected, what, relative=1e-6):
    check(found is not None and abs(found - expected) <= relative * max(1, abs(expected)),
          f"{what}: {found}, expected {expected}")


def has_solver(name):
    """Is the solver in this build? A line says so when it is not."""
    if any(backend["name"] == name for backend in run_json("version")["backends"]):
        return True
    print(f"SKIP: this build has no {name}")
    return False


def main(*tests):
    failed = 0
    for test in tests:
        try:
            test()
            print("ok", test.__name__)
        except Exception:
            traceback.print_exc(file=sys.stdout)
            print("FAILED", test.__name__)
            failed += 1
    sys.exit(1 if failed else 0)
