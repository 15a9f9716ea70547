#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""The ctypes package: declarations against the API list, classes, callbacks, interrupts, with and without numpy."""
import ast
import ctypes
import gc
import inspect
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import threading
import unittest

SOURCE = pathlib.Path(os.environ.get("SRC_DIR", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("BUILD_DIR", SOURCE / "build"))
PACKAGE = SOURCE / "examples" / "python"
CASES = SOURCE / "examples" / "cases"
os.environ.setdefault("CKPTDISPATCH_LIBRARY", str(BUILD / "libckptdispatch.so.0"))
sys.dont_write_bytecode = True
sys.path.insert(0, str(PACKAGE))
if "--without-numpy" in sys.argv:
    sys.argv.remove("--without-numpy")
    sys.modules["numpy"] = None

import ckptdispatch  # noqa: E402
from ckptdispatch import _declarations, _library  # noqa: E402
from ckptdispatch._core import numpy  # noqa: E402

# One hour each, 10 MW base load, prices 20, 60, 20, 60: worked out with glpsol for docs/failures.md (B0, b0).
PRICES = [20.0, 60.0, 20.0, 60.0]


def small_site(context, **series):
    return ckptdispatch.Site(context, 4, 1.0, **{"import_price_per_mwh": PRICES, "base_it_kw": 10000.0,
                                                 "gpu_cap": 0.0, "import_cap_kw": 100000.0, **series})


def small_battery(context, **fields):
    return ckptdispatch.Battery(context, **{
        "energy_kwh": 20000, "charge_kw": 10000, "discharge_kw": 10000, "eta_charge": 0.9,
        "eta_discharge": 0.9, "soc_start_kwh": 10000, "terminal": "at_least", "soc_end_kwh": 10000, **fields})


class Declarations(unittest.TestCase):
    def test_made_from_the_api_list(self):
        made = subprocess.run([sys.executable, PACKAGE / "generate.py", SOURCE / "docs" / "api.json"],
                              check=True, capture_output=True, text=True).stdout
        self.assertEqual(made, (PACKAGE / "ckptdispatch" / "_declarations.py").read_text(),
                         "run examples/python/generate.py")

    def test_typing_stubs_are_the_package(self):
        """Every public name, method and parameter of the package is in __init__.pyi, and nothing else."""
        path = os.path.join(os.path.dirname(ckptdispatch.__file__), "__init__.pyi")
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
        classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        self.assertEqual({n for n in [*classes, *functions] if not n.startswith("_")}, set(ckptdispatch.__all__))

        def stubbed(name):
            found = {}
            for base in classes[name].bases:
                if isinstance(base, ast.Name) and base.id in classes:
                    found.update(stubbed(base.id))
            for node in classes[name].body:
                if isinstance(node, ast.FunctionDef):
                    given = node.args
                    found[node.name] = ([a.arg for a in given.args], len(given.defaults), given.vararg is not None,
                                        given.kwarg is not None)
            return found

        for name in classes:
            if name.startswith("_") or name not in ckptdispatch.__all__:
                continue
            kind = getattr(ckptdispatch, name)
            if issubclass(kind, tuple):
                fields = [node.target.id for node in classes[name].body if isinstance(node, ast.AnnAssign)]
                self.assertEqual(fields, list(kind._fields), name)
                continue
            stubs = stubbed(name)
            if not issubclass(kind, Exception):
                public = {n for n in dir(kind) if not n.startswith("_") and n != "kind"}
                known = {n for n in stubs if not n.startswith("_")}
                fields = {node.target.id for node in classes[name].body if isinstance(node, ast.AnnAssign)}
                self.assertEqual(public - fields, known, name)
            for method, (arguments, defaults, rest, keywords) in stubs.items():
                real = inspect.getattr_static(kind, method)
                real = real.fget if isinstance(real, property) else getattr(real, "__func__", real)
                spec = inspect.getfullargspec(real)
                self.assertEqual((spec.args, len(spec.defaults or ()), spec.varargs is not None, spec.varkw is not None),
                                 (arguments, defaults, rest, keywords), f"{name}.{method}")

    def test_every_symbol_has_types(self):
        with open(SOURCE / "docs" / "api.json", encoding="utf-8") as file:
            api = json.load(file)
        for name, entry in api["functions"].items():
            function = getattr(_library.LIBRARY, name)
            self.assertEqual(len(function.argtypes), len(entry["params"]), name)
            pointer = entry["returns"].endswith("*")
            self.assertEqual(pointer, function.restype is ctypes.c_char_p or
                             (function.restype is not None and hasattr(function.restype, "contents")), name)

    def test_struct_sizes_are_the_library_s(self):
        """A struct that is too large or too small is refused: every one that the library fills is accepted."""
        error = _library.struct("ckpd_error")
        context = ckptdispatch.Context()
        call = _library.LIBRARY.ckpd_context_last_error
        self.assertEqual(call(context.pointer, ctypes.byref(error)), 0)
        error.size -= 1
        self.assertEqual(call(context.pointer, ctypes.byref(error)), _declarations.CONSTANTS["CKPD_ERR_STRUCT_SIZE"])


class Dispatch(unittest.TestCase):
    def setUp(self):
        self.context = ckptdispatch.Context()

    def test_reference_case(self):
        solution = ckptdispatch.Problem(self.context, small_site(self.context)).solve("S1")
        self.assertAlmostEqual(solution.cost, 1600, places=6)
        self.assertEqual(solution.outcome, "optimal")

    def test_reference_battery(self):
        site = small_site(self.context)
        site.add_battery(small_battery(self.context))
        solution = ckptdispatch.Problem(self.context, site).solve("S5")
        self.assertAlmostEqual(solution.cost, 1028, places=3)
        self.assertEqual(solution.report.violations, [])
        self.assertEqual(len(solution.plan["soc_kwh"]), 5)

    def test_limits_at_a_price(self):
        """10 MW under a cap of 8: 100 x 60 for each MWh above it, in four hours."""
        site = small_site(self.context)
        site["import_cap_kw"] = 8000
        problem = ckptdispatch.Problem(self.context, site)
        self.assertEqual(problem.solve("S1").outcome, "infeasible")
        problem.soften()
        solution = problem.solve("S1")
        self.assertAlmostEqual(solution.report["penalty_cost"], 4 * 2 * 6000, places=3)
        self.assertEqual([(o.slot, round(o.amount)) for o in solution.report.overruns],
                         [(slot, 2000) for slot in range(4)])

    def test_golden_case(self):
        case = ckptdispatch.Case.load(CASES / "aidc2048-golden.json")
        problem = case.problem()
        self.assertEqual(problem.jobs, ["LLM-A", "LLM-B"])
        solution = problem.solve("S4")
        again = problem.solve("S4", start=solution)
        self.assertAlmostEqual(again.cost, solution.cost, places=9)
        self.assertAlmostEqual(problem.solve("S4", start=solution.plan).cost, solution.cost, places=9)
        with self.assertRaises(ckptdispatch.ArgumentError):
            problem.solve("S4", start=solution, slots_passed=-1)
        self.assertAlmostEqual(solution.cost, 305.41, delta=305.41e-6)  # shared golden file: HiGHS and CBC
        self.assertTrue(solution.proven)
        steps = solution.plan.steps(0)
        self.assertEqual((steps[0].from_segment, steps[-1].to_segment), (0, 12))
        report = problem.verify(solution.plan, "S4", solution.cost)
        self.assertEqual(report.violations, [])
        self.assertGreater(len(problem.verify(solution.plan, "S4", solution.cost + 1).violations), 0)

    def test_worker_of_a_case(self):
        """The program is started: the one of the command answers, one that is not there is named."""
        problem = ckptdispatch.Case.load(CASES / "aidc2048-golden.json").problem()
        with self.assertRaisesRegex(ckptdispatch.FileAccessError, "/no/such/program"):
            problem.solve("S4", worker="/no/such/program", backend="native", structure_presolve=0)
        solution = problem.solve("S4", worker=BUILD / "ckptdispatch", backend="native", structure_presolve=0)
        self.assertAlmostEqual(solution.cost, 305.41, delta=305.41e-6)

    def test_modes_from_a_table(self):
        task = ckptdispatch.Task(self.context, "job", tranche_baseline_hours=2, segments=2)
        modes = ckptdispatch.ModeSet.from_table(self.context, task, [8, 16], [1.0, 1.8], [4.0, 8.0], 16,
                                                baseline_index=0)
        self.assertEqual([mode.gpus for mode in modes], [8, 16])
        graph = ckptdispatch.Graph(self.context, task, modes, 4)
        self.assertGreater(graph.counts.training_edges, 0)
        with self.assertRaises(ValueError):
            ckptdispatch.ModeSet.from_table(self.context, task, [8, 16], [1.0], [4.0, 8.0], 16)

    def test_transition_rule_and_its_exception(self):
        task = ckptdispatch.Task(self.context, "job", tranche_baseline_hours=2, segments=2)
        modes = ckptdispatch.ModeSet.from_table(self.context, task, [8, 16], [1.0, 1.8], [4.0, 8.0], 16,
                                                baseline_index=0)
        same = ckptdispatch.GraphOptions(self.context, transitions=lambda a, b: a.gpus == b.gpus)
        gc.collect()
        free = ckptdispatch.Graph(self.context, task, modes, 4)
        bound = ckptdispatch.Graph(self.context, task, modes, 4, options=same)
        self.assertEqual(free.counts.forbidden_edges, 0)
        self.assertGreater(bound.counts.forbidden_edges, 0)

        def broken(before, after):
            raise LookupError("no such mode")

        with self.assertRaises(LookupError):
            ckptdispatch.Graph(self.context, task, modes, 4,
                               options=ckptdispatch.GraphOptions(self.context, transitions=broken))

    def test_fields(self):
        battery = small_battery(self.context)
        self.assertEqual(battery["terminal"], "at_least")
        self.assertEqual(battery["eta_charge"], 0.9)
        names = [row["name"] for row in ckptdispatch.Battery.describe()]
        self.assertIn("throughput_cost_per_mwh", names)

    def test_errors_name_field_index_and_value(self):
        site = small_site(self.context)
        with self.assertRaises(ckptdispatch.ArgumentError) as caught:
            site["import_price_per_mwh"] = [1, 2, math.nan, 4]
        self.assertEqual((caught.exception.field, caught.exception.index), ("import_price_per_mwh", 2))
        with self.assertRaises(ckptdispatch.ArgumentError) as caught:
            site["import_price_per_mwh"] = [1, 2, 3]
        self.assertEqual(caught.exception.name, "CKPD_ERR_LENGTH")
        with self.assertRaises(ckptdispatch.FileAccessError):
            ckptdispatch.Case.load("absent.json")
        # What is immutable after build says a status alone: the message must not be that of the call before.
        solution = ckptdispatch.Case.load(CASES / "aidc2048-golden.json").problem().solve("S4")
        with self.assertRaises(ckptdispatch.ArgumentError):
            ckptdispatch.Task(solution.context, "stale", nosuch=1)
        for read, known in ((lambda: solution.plan["price"], "import_kw"), (lambda: solution.report["price"], "import_cost")):
            with self.assertRaises(ckptdispatch.ArgumentError) as caught:
                read()
            self.assertEqual((caught.exception.field, caught.exception.name), ("price", "CKPD_ERR_UNKNOWN_NAME"))
            self.assertIn(known, str(caught.exception))
        with self.assertRaises(IndexError):
            solution.plan.steps(99)
        with self.assertRaises(ckptdispatch.FileFormatError):
            ckptdispatch.Case.parse('{"schema')
        with self.assertRaises(ckptdispatch.StateError):
            site.close()
            site["wind_kw"] = 1

    def test_profile_callback_and_its_exception(self):
        site = small_site(self.context)
        site["wind_kw"] = lambda slot, start, length: 100.0 * slot
        self.assertEqual(list(site["wind_kw"]), [0, 100, 200, 300])

        def broken(slot, start, length):
            if slot == 1:
                raise KeyError("no forecast")
            return 0.0

        with self.assertRaises(KeyError):
            site["wind_kw"] = broken
        self.assertEqual(list(site["wind_kw"]), [0, 100, 200, 300])


class LongSolves(unittest.TestCase):
    def setUp(self):
        self.problem = ckptdispatch.Case.load(CASES / "j8.json").problem()

    def test_interrupt_returns_the_best_plan(self):
        # Started in the background by a shell, a program ignores the signal until it says otherwise.
        before = signal.default_int_handler
        signal.signal(signal.SIGINT, before)
        planned = threading.Event()

        def progress(state):
            if math.isfinite(state.incumbent):
                planned.set()

        def interrupt():
            planned.wait(600)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt).start()
        solution = self.problem.solve("S4", relative_gap=0, time_limit_s=600, progress=progress)
        self.assertEqual(solution.outcome, "cancelled")
        self.assertIsNotNone(solution.plan)
        self.assertEqual(solution.report.violations, [])
        self.assertIs(signal.getsignal(signal.SIGINT), before)

    def test_exception_of_a_callback_stops_the_solve(self):
        calls = []

        def progress(state):
            calls.append(state)
            raise RuntimeError("enough")

        with self.assertRaises(RuntimeError):
            self.problem.solve("S4", relative_gap=0, time_limit_s=60, progress=progress)
        self.assertEqual(len(calls), 1)
        # the objects can be used again
        self.assertEqual(self.problem.solve("S4", relative_gap=0.5).outcome, "optimal")


class Memory(unittest.TestCase):
    def test_garbage_collection_while_solving(self):
        threshold = gc.get_threshold()
        gc.set_threshold(1)
        try:
            for _ in range(20):
                context = ckptdispatch.Context(log=lambda *_: None, level=4)
                site = small_site(context)
                site.add_battery(small_battery(context))
                solution = ckptdispatch.Problem(context, site).solve("S5", progress=lambda state: False)
                plan = solution.plan
                del context, site, solution
                gc.collect()
                self.assertEqual(len(plan["import_kw"]), 4)
        finally:
            gc.set_threshold(*threshold)

    def test_temporary_arrays(self):
        context = ckptdispatch.Context()
        site = small_site(context)
        for step in range(2000):
            site["wind_kw"] = [float(step + slot) for slot in range(4)]
            if numpy is not None:
                site["solar_kw"] = numpy.arange(8, dtype=numpy.float32)[::2] + step
        self.assertEqual(list(site["wind_kw"]), [1999.0, 2000.0, 2001.0, 2002.0])
        if numpy is not None:
            self.assertEqual(list(site["solar_kw"]), [1999.0, 2001.0, 2003.0, 2005.0])

    def test_answers(self):
        site = small_site(ckptdispatch.Context())
        self.assertEqual(type(site["import_price_per_mwh"]), list if numpy is None else numpy.ndarray)


@unittest.skipIf(numpy is None, "numpy is not installed")
class WithoutNumpy(unittest.TestCase):
    def test_the_same_suite(self):
        run = subprocess.run([sys.executable, __file__, "--without-numpy"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)


if __name__ == "__main__":
    unittest.main()
