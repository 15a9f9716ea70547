#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""The FMU (examples/fmu) in the hands of an importer: its description, a day, two instances at once, reset, errors, memory.

The importer is the one below, on ctypes; with FMPy installed its checker and its master are asked as well. The limits of
the plant are those written in the case; power balance and stored energy are added up here.
"""
import ctypes
import json
import math
import os
import platform
import subprocess
import sys
import xml.etree.ElementTree
import zipfile

FMU = os.path.join(os.environ["BUILD_DIR"], "ckptdispatch.fmu")
OK, WARNING, DISCARD, ERROR = range(4)
ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
LOGGER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p,
                          ctypes.c_char_p)
LIBC = ctypes.CDLL(None)
LIBC.calloc.restype = ctypes.c_void_p
LIBC.calloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
LIBC.free.argtypes = [ctypes.c_void_p]


class Callbacks(ctypes.Structure):
    _fields_ = [("logger", LOGGER), ("allocate", ALLOCATE), ("free", FREE), ("finished", ctypes.c_void_p),
                ("environment", ctypes.c_void_p)]


class Unpacked:
    def __init__(self, folder):
        with zipfile.ZipFile(FMU) as archive:
            archive.extractall(folder)
        self.folder = os.path.abspath(folder)
        self.xml = xml.etree.ElementTree.parse(os.path.join(folder, "modelDescription.xml")).getroot()
        self.variables = {v.get("name"): v for v in self.xml.find("ModelVariables")}
        system = {"Linux": "linux", "Darwin": "darwin"}[platform.system()] + ("64" if sys.maxsize > 2**32 else "32")
        name = self.xml.find("CoSimulation").get("modelIdentifier")
        self.library = ctypes.CDLL(os.path.join(folder, "binaries", system, name + ".so"))
        self.library.fmi2Instantiate.restype = ctypes.c_void_p
        self.library.fmi2GetVersion.restype = ctypes.c_char_p
        with open(os.path.join(folder, "resources", "case.json"), encoding="utf-8") as file:
            self.case = json.load(file)


class Instance:
    """One instance; every call goes through `call`, which returns the status."""

    def __init__(self, fmu, name, guid=None):
        self.fmu, self.log, self.held = fmu, [], 0

        def allocate(count, size):
            self.held += 1
            return LIBC.calloc(count, size)

        def free(block):
            self.held -= block is not None
            LIBC.free(block)

        def logger(_environment, instance, status, category, form, text):
            assert form == b"%s"
            self.log.append((instance.decode(), status, category.decode(), text.decode()))

        self.callbacks = Callbacks(LOGGER(logger), ALLOCATE(allocate), FREE(free), None, None)
        self.pointer = fmu.library.fmi2Instantiate(
            name.encode(), 1, (guid or fmu.xml.get("guid")).encode(), ("file://" + fmu.folder + "/resources").encode(),
            ctypes.byref(self.callbacks), 0, 0)

    def call(self, name, *arguments):
        return getattr(self.fmu.library, "fmi2" + name)(ctypes.c_void_p(self.pointer), *arguments)

    def start(self):
        assert self.call("SetupExperiment", 0, ctypes.c_double(0), ctypes.c_double(0), 0, ctypes.c_double(0)) == OK
        assert self.call("EnterInitializationMode") == OK and self.call("ExitInitializationMode") == OK

    def step(self, slot, length=3600.0):
        return self.call("DoStep", ctypes.c_double(slot * 3600.0), ctypes.c_double(length), 1)

    def _array(self, name, value=None):
        variable = self.fmu.variables[name]
        kind = variable[0].tag
        value_type = {"Real": ctypes.c_double, "String": ctypes.c_char_p}.get(kind, ctypes.c_int)
        values = (value_type * 1)() if value is None else (value_type * 1)(value)
        return kind, (ctypes.c_uint * 1)(int(variable.get("valueReference"))), ctypes.c_size_t(1), values

    def get(self, name):
        kind, reference, count, values = self._array(name)
        assert self.call("Get" + kind, reference, count, values) == OK, (name, self.log)
        return values[0]

    def set(self, name, value):
        kind, reference, count, values = self._array(name, value)
        return self.call("Set" + kind, reference, count, values)

    def free(self):
        self.call("FreeInstance")
        self.pointer = None
        assert self.held == 0, f"{self.held} blocks of the master not given back"


def near(a, b, tolerance=1e-6):
    return abs(a - b) <= tolerance * max(1, abs(a), abs(b))


def check_description(fmu):
    assert fmu.xml.get("fmiVersion") == "2.0" and fmu.library.fmi2GetVersion() == b"2.0"
    assert fmu.xml.find("CoSimulation").get("canGetAndSetFMUstate") == "false"
    keys = [(v[0].tag, v.get("valueReference")) for v in fmu.xml.find("ModelVariables")]
    assert len(keys) == len(set(keys)), "a value reference is given twice"
    instance = Instance(fmu, "described")
    instance.start()
    for name, variable in fmu.variables.items():  # what the description calls the start is what the FMU has
        start = variable[0].get("start")
        if variable.get("causality") == "input" and variable[0].tag == "Real":
            assert near(instance.get(name), float(start)), (name, instance.get(name), start)
        elif variable.get("causality") == "input" and variable[0].tag == "Integer":
            assert instance.get(name) == int(start), (name, instance.get(name), start)
    instance.free()


def check_slot(instance, slot, soc_kwh):
    """Limits of the case and the power balance; returns the energy after the slot."""
    site = instance.fmu.case["site"]
    battery = site["batteries"][0]
    jobs = range(len(instance.fmu.case["jobs"]))
    grid, charge = instance.get("grid_kw"), instance.get("battery_kw")
    for j in jobs:
        row = instance.get(f"job[{j}].mode")
        modes = instance.fmu.case["jobs"][j]["modes"]
        assert -1 <= row < len(modes)
        assert instance.get(f"job[{j}].gpus") == (modes[row]["gpus"] if row >= 0 else 0)
        assert near(instance.get(f"job[{j}].power_kw"), modes[row]["power_kw"] if row >= 0 else 0)
    load = site["pue"] * (site["base_it_kw"] + sum(instance.get(f"job[{j}].power_kw") for j in jobs))
    green = instance.get(f"wind_kw[{slot}]") + instance.get(f"solar_kw[{slot}]")
    assert sum(instance.get(f"job[{j}].gpus") for j in jobs) <= site["gpu_cap"]
    assert -1e-6 <= grid <= site["import_cap_kw"] + 1e-6
    assert load + charge - grid <= green + 1e-6, (slot, load, charge, grid, green)
    assert -battery["discharge_kw"] - 1e-6 <= charge <= battery["charge_kw"] + 1e-6
    soc_kwh += battery["eta_charge"] * max(charge, 0) - max(-charge, 0) / battery["eta_discharge"]
    assert battery["soc_min_kwh"] - 1e-5 <= soc_kwh <= battery["soc_max_kwh"] + 1e-5, (slot, soc_kwh)
    return soc_kwh


def outputs(instance):
    return [instance.get(name) for name, v in instance.fmu.variables.items() if v.get("causality") == "output"]


def run_day(instance):
    soc_kwh, seen = instance.get("soc_kwh"), []
    for slot in range(instance.fmu.case["horizon"]["slots"]):
        assert instance.step(slot) == OK, instance.log
        soc_kwh = check_slot(instance, slot, soc_kwh)
        assert near(instance.get("soc_kwh"), soc_kwh, 1e-5), "the state that is followed is not what the set-points do"
        seen.append(outputs(instance))
    for j, job in enumerate(instance.fmu.case["jobs"]):
        assert instance.get(f"job[{j}].segments_done") == job["task"]["segments"], f"job {j} is not done"
    return seen


def check_days(fmu):
    one = Instance(fmu, "one")
    one.start()
    first = run_day(one)
    assert one.step(24) == DISCARD and "horizon" in one.log[-1][3]
    assert one.call("Terminate") == OK and one.step(0) == ERROR
    assert one.call("Reset") == OK
    one.start()
    assert run_day(one) == first, "a reset instance does not do the same again"
    # Two at once, interleaved, one of them with half the wind: the other does as if it were alone.
    assert one.call("Reset") == OK
    two = Instance(fmu, "two")
    one.start()
    two.start()
    for slot in range(24):
        assert two.set(f"wind_kw[{slot}]", 0.5 * two.get(f"wind_kw[{slot}]")) == OK
    seen, drawn = [], [0, 0]
    for slot in range(24):
        assert one.step(slot) == OK and two.step(slot) == OK
        seen.append(outputs(one))
        drawn = [drawn[0] + one.get("grid_kw"), drawn[1] + two.get("grid_kw")]
    assert seen == first and drawn[1] > drawn[0] + 100, drawn
    one.free()
    two.free()


def check_measured(fmu):
    """The master owns the state: the battery loses more than planned, and each step starts from what was measured."""
    instance = Instance(fmu, "measured")
    instance.start()
    assert instance.set("measured", 1) == OK
    soc_kwh, state = 50.0, [[0, -1, 0, 0], [0, -1, 0, 0]]
    names = ("segments_done", "running_mode", "running_slots_done", "running_segments")
    follower = Instance(fmu, "follower")  # tells what a step of a job means, from the same state
    for slot in range(24):
        follower.call("Reset")
        follower.start()
        for at in (instance, follower):
            assert at.set("soc_kwh", soc_kwh) == OK
            for j, values in enumerate(state):
                assert all(at.set(f"job[{j}].{n}", v) == OK for n, v in zip(names, values))
        assert instance.step(slot) == OK, instance.log
        assert instance.get("soc_kwh") == soc_kwh, "a measured input was changed"
        charge = instance.get("battery_kw")
        soc_kwh = max(soc_kwh + 0.9 * max(charge, 0) - max(-charge, 0) / 0.9, 0)
        assert follower.step(slot) == OK, follower.log
        state = [[follower.get(f"job[{j}].{n}") for n in names] for j in range(2)]
    assert [values[0] for values in state] == [8, 4] and soc_kwh > 0
    instance.free()
    follower.free()


def check_errors(fmu):
    wrong = Instance(fmu, "wrong", guid="{00000000-0000-0000-0000-000000000000}")
    assert wrong.pointer is None and wrong.held == 0 and wrong.log[-1][1:3] == (ERROR, "logStatusError")
    bad = Instance(fmu, "bad")
    assert bad.step(0) == ERROR and bad.log[-1][0] == "bad"
    assert bad.set("case", b"/no/such/case.json") == OK
    assert bad.call("SetupExperiment", 0, ctypes.c_double(0), ctypes.c_double(0), 0, ctypes.c_double(0)) == ERROR
    assert "/no/such/case.json" in bad.log[-1][3], bad.log
    assert bad.call("Reset") == OK
    bad.start()
    assert bad.set("soc_kwh", math.nan) == ERROR and "NaN" in bad.log[-1][3]
    assert bad.set("grid_kw", 1.0) == ERROR, "an output can be set"
    assert bad.step(0.5) == ERROR and bad.step(0, 1800.0) == ERROR and "one slot" in bad.log[-1][3]
    assert bad.call("GetFMUstate", ctypes.byref(ctypes.c_void_p())) == ERROR and "not supported" in bad.log[-1][3]
    unknown = (ctypes.c_uint * 1)(777777)
    assert bad.call("GetReal", unknown, ctypes.c_size_t(1), (ctypes.c_double * 1)()) == ERROR
    # A state from which there is no plan: the words are those of the library.
    assert bad.set("measured", 1) == OK
    assert bad.step(23) == ERROR and "job" in bad.log[-1][3], bad.log[-1]
    assert bad.step(0) == ERROR and bad.call("Reset") == OK
    bad.start()
    assert bad.step(0) == OK
    bad.free()


def check_with_fmpy():
    code = ("import sys, fmpy; from fmpy.validation import validate_fmu; p = validate_fmu(sys.argv[1]); print(p); "
            "r = fmpy.simulate_fmu(sys.argv[1], output_interval=3600, step_size=3600); "
            "print('FMPy', fmpy.__version__, 'steps', len(r)); sys.exit(bool(p) or len(r) != 25)")
    if subprocess.run([sys.executable, "-c", "import fmpy"], capture_output=True, check=False).returncode:
        print("SKIP: FMPy is not installed (pip install fmpy): only the importer of this test was asked")
        return
    done = subprocess.run([sys.executable, "-c", code, FMU], capture_output=True, text=True, check=False)
    print(done.stdout, done.stderr)
    assert done.returncode == 0


def main():
    fmu = Unpacked("unpacked fmu")  # the blank becomes %20 nowhere: plain paths are fine too
    check_description(fmu)
    check_days(fmu)
    check_measured(fmu)
    check_errors(fmu)
    check_with_fmpy()
    return 0


if __name__ == "__main__":
    sys.exit(main())
