# SPDX-License-Identifier: LGPL-3.0-or-later
"""Sites, problems, solutions, plans, cases."""
import collections
import ctypes
import json
import math
import os

from . import _declarations as declarations
from . import errors
from ._core import (Borrowed, Context, Fields, Handle, answer, describe, doubles, interruptible)
from ._library import CALLBACKS, HANDLES, LIBRARY, struct
from .model import BorrowedModes

CONSTANTS = declarations.CONSTANTS
SCENARIOS = {name.removeprefix("CKPD_SCENARIO_"): value for name, value in CONSTANTS.items()
             if name.startswith("CKPD_SCENARIO_")}
OUTCOMES = {value: name.removeprefix("CKPD_OUTCOME_").lower() for name, value in CONSTANTS.items()
            if name.startswith("CKPD_OUTCOME_")}
PLAN_SERIES = ("it_power_kw", "site_load_kw", "gpus", "wind_kw", "solar_kw", "curtailment_kw", "import_kw",
               "export_kw", "charge_kw", "discharge_kw", "soc_kwh", "import_price_per_mwh",
               "export_price_per_mwh")

Step = collections.namedtuple("Step", "from_slot to_slot from_segment to_segment mode gpus")
Violation = collections.namedtuple("Violation", "kind job slot amount message")
Overrun = collections.namedtuple("Overrun", "limit job slot amount cost message")
Progress = collections.namedtuple("Progress",
                                  "elapsed_s incumbent bound relative_gap iterations nodes")


def scenario_number(scenario):
    """CKPD_SCENARIO_ number of "S4" or 4."""
    number = SCENARIOS.get(scenario, scenario)
    if number not in SCENARIOS.values():
        raise ValueError(f"scenario {scenario!r} is not one of {', '.join(SCENARIOS)}")
    return number


class Battery(Handle, Fields):
    """Battery energy storage; fields: Battery.describe()."""

    kind = "ckpd_battery"

    def __init__(self, context, **fields):
        super().__init__(context, LIBRARY.ckpd_battery_new, context.pointer)
        self.set(**fields)


class Site(Handle):
    """Time grid, series, caps, tariff, battery: site["wind_kw"] = values or one number."""

    kind = "ckpd_site"
    CURVES = {"import": 1, "export": 2, "net_load": 3, "curtailment": 4}

    def __init__(self, context, slots, slot_hours=1.0, **series):
        super().__init__(context, LIBRARY.ckpd_site_new, context.pointer, slots, slot_hours)
        for name, values in series.items():
            self[name] = values

    @property
    def slots(self):
        """Number of slots."""
        return LIBRARY.ckpd_site_slots(self.pointer)

    def __setitem__(self, name, values):
        if callable(values):
            self.set_profile(name, values)
        elif isinstance(values, (int, float)):
            self.context.check(
                LIBRARY.ckpd_site_set_constant(self.pointer, name.encode(), float(values)))
        else:
            block, count = doubles(values)
            self.context.check(LIBRARY.ckpd_site_set_series(self.pointer, name.encode(), block, count))

    def __getitem__(self, name):
        block = (ctypes.c_double * self.slots)()
        self.context.check(
            LIBRARY.ckpd_site_get_series(self.pointer, name.encode(), block, self.slots))
        return answer(block)

    def set_profile(self, name, profile):
        """Fills a series from profile(slot, start_hours, length_hours) -> kW."""
        def asked(slot, start, length, failed, _):
            value = self.context.guard(lambda: float(profile(slot, start, length)), None)
            failed[0] = value is None
            return value if value is not None else 0.0

        wrapped = CALLBACKS["ckpd_profile_fn"](asked)
        self.context.check(
            LIBRARY.ckpd_site_set_profile(self.pointer, name.encode(), wrapped, None))

    def add_cost_curve(self, argument, x_kw, money_per_hour, slot=-1):
        """Adds a convex piecewise-linear cost of "import", "export", "net_load" or "curtailment"."""
        x, count = doubles(x_kw)
        money, other = doubles(money_per_hour)
        if count != other:
            raise ValueError(f"x_kw has {count} values, money_per_hour {other}")
        self.context.check(LIBRARY.ckpd_site_add_cost_curve(self.pointer, slot, self.CURVES[argument],
                                                            count, x, money))

    def add_battery(self, battery):
        """Adds a battery; it is copied."""
        self.context.check(LIBRARY.ckpd_site_add_battery(self.pointer, battery.pointer))


def site_series():
    """Names, units, bounds and defaults of the series of a site."""
    return describe("ckpd_site_series")


class Cancel(Handle):
    """Stops a running solve from any thread."""

    kind = "ckpd_cancel"

    def __init__(self, context):
        super().__init__(context, LIBRARY.ckpd_cancel_new, context.pointer)

    def request(self):
        """Asks every solve that was given this token to stop."""
        LIBRARY.ckpd_cancel_request(self.pointer)

    @property
    def requested(self):
        """True once a stop was asked for."""
        return bool(LIBRARY.ckpd_cancel_requested(self.pointer))


class SolveOptions(Handle, Fields):
    """Limits and targets of a solve; fields: SolveOptions.describe()."""

    kind = "ckpd_solve_options"

    def __init__(self, context, backend=None, progress=None, cancel=None, worker=None, **fields):
        super().__init__(context, LIBRARY.ckpd_solve_options_new, context.pointer)
        self._take(backend, progress, cancel, worker, fields)

    def _take(self, backend=None, progress=None, cancel=None, worker=None, fields=()):
        self._cancel = cancel if cancel is not None else Cancel(self.context)
        self._progress = None
        self.context.check(
            LIBRARY.ckpd_solve_options_set_cancel(self.pointer, self._cancel.pointer))
        if backend is not None:
            self.context.check(
                LIBRARY.ckpd_solve_options_set_backend(self.pointer, backend.encode()))
        if worker is not None:  # path of the program that runs backends, such as ckptdispatch
            self.context.check(
                LIBRARY.ckpd_solve_options_set_worker(self.pointer, os.fsencode(worker)))
        if progress is not None:
            self._set_progress(progress)
        self.set(**dict(fields))

    def _set_progress(self, progress):
        names = Progress._fields

        def asked(state, _):
            seen = Progress(*(getattr(state.contents, name) for name in names))
            return int(bool(self.context.guard(progress, True, seen)))

        self._progress = CALLBACKS["ckpd_progress_fn"](asked)
        self.context.check(
            LIBRARY.ckpd_solve_options_set_progress(self.pointer, self._progress, None))

    def cancel(self):
        """Stops the solve that runs with these options."""
        self._cancel.request()


class Report:
    """Verification of a plan: figures by name, violations."""

    def __getitem__(self, name):
        value = ctypes.c_double()
        self.context.check_read(LIBRARY.ckpd_report_get(self.pointer, name.encode(), ctypes.byref(value)), name,
                                [row["name"] for row in describe("ckpd_report_field")])
        return value.value

    def figures(self):
        """Every recomputed figure."""
        return {row["name"]: self[row["name"]] for row in describe("ckpd_report_field")}

    @property
    def violations(self):
        """What the plan breaks; empty for a good plan."""
        found = []
        for index in range(LIBRARY.ckpd_report_violation_count(self.pointer)):
            filled = struct("ckpd_violation")
            self.context.check_read(
                LIBRARY.ckpd_report_get_violation(self.pointer, index, ctypes.byref(filled)), "violation")
            found.append(Violation(filled.kind, filled.job, filled.slot, filled.amount,
                                   filled.message.decode()))
        return found

    @property
    def overruns(self):
        """Limits with a price that the plan passes."""
        found = []
        for index in range(LIBRARY.ckpd_report_overrun_count(self.pointer)):
            filled = struct("ckpd_overrun")
            self.context.check_read(
                LIBRARY.ckpd_report_get_overrun(self.pointer, index, ctypes.byref(filled)), "overrun")
            found.append(Overrun(filled.limit, filled.job, filled.slot, filled.amount, filled.cost,
                                 filled.message.decode()))
        return found


class OwnReport(Handle, Report):
    """Report of Problem.verify()."""

    kind = "ckpd_report"


class BorrowedReport(Borrowed, Report):
    """Report of a solution."""


class PlanView:
    """Steps of each job and power flows of each slot."""

    @property
    def slots(self):
        """Number of slots."""
        return LIBRARY.ckpd_plan_slots(self.pointer)

    @property
    def jobs(self):
        """Number of jobs."""
        return LIBRARY.ckpd_plan_job_count(self.pointer)

    def __getitem__(self, name):
        return self.series(name)

    def series(self, name):
        """Values of a series, one a slot (soc_kwh: one a boundary)."""
        count = self.slots + (name == "soc_kwh")
        block = (ctypes.c_double * count)()
        self.context.check_read(LIBRARY.ckpd_plan_get_series(self.pointer, name.encode(), block, count), name,
                                PLAN_SERIES)
        return answer(block)

    def steps(self, job):
        """Steps of a job in time order."""
        found = []
        job = range(self.jobs)[job]
        for index in range(LIBRARY.ckpd_plan_step_count(self.pointer, job)):
            filled = struct("ckpd_step")
            self.context.check_read(
                LIBRARY.ckpd_plan_get_step(self.pointer, job, index, ctypes.byref(filled)), "step")
            found.append(Step(*(getattr(filled, name) for name in Step._fields)))
        return found

    def table(self):
        """Every series this plan has, by name; soc_kwh at the end of each slot."""
        columns = {}
        for name in PLAN_SERIES:
            try:
                columns[name] = self.series(name)
            except errors.StateError:
                continue
        if "soc_kwh" in columns:
            columns["soc_kwh"] = columns["soc_kwh"][1:]
        return columns

    def to_pandas(self):
        """The table as a pandas DataFrame, a row per slot."""
        import pandas
        return pandas.DataFrame(self.table(), index=pandas.RangeIndex(self.slots, name="slot"))


class Plan(Handle, PlanView):
    """A plan of one's own, to be verified or to start a solve from."""

    kind = "ckpd_plan"

    def __init__(self, context, jobs, slots):
        super().__init__(context, LIBRARY.ckpd_plan_new, context.pointer, jobs, slots)

    def add_step(self, job, step):
        """Appends a Step to a job."""
        filled = struct("ckpd_step", **Step(*step)._asdict())
        self.context.check(LIBRARY.ckpd_plan_add_step(self.pointer, job, ctypes.byref(filled)))

    def __setitem__(self, name, values):
        block, count = doubles(values)
        self.context.check(LIBRARY.ckpd_plan_set_series(self.pointer, name.encode(), block, count))


class BorrowedPlan(Borrowed, PlanView):
    """Plan of a solution."""


class Solution(Handle):
    """Outcome of a solve with its verified plan."""

    kind = "ckpd_solution"

    @property
    def outcome(self):
        """"optimal", "feasible", "infeasible", "no_plan", "cancelled", "unbounded"."""
        return OUTCOMES[LIBRARY.ckpd_solution_outcome(self.pointer)]

    @property
    def proven(self):
        """True when the outcome rests on a certificate or a trusted bound."""
        return bool(LIBRARY.ckpd_solution_is_proven(self.pointer))

    @property
    def bound_claimed(self):
        """True when only a backend that is not trusted vouches for the bound."""
        return bool(LIBRARY.ckpd_solution_bound_is_claimed(self.pointer))

    @property
    def scenario(self):
        """Name of the scenario."""
        return "S%d" % LIBRARY.ckpd_solution_scenario(self.pointer)

    @property
    def cost(self):
        """Cost of the plan in money; None without a plan."""
        value = LIBRARY.ckpd_solution_cost(self.pointer)
        return None if math.isnan(value) else value

    @property
    def bound(self):
        """Lower bound, -inf when none."""
        return LIBRARY.ckpd_solution_bound(self.pointer)

    @property
    def relative_gap(self):
        """Relative gap between cost and bound."""
        return LIBRARY.ckpd_solution_relative_gap(self.pointer)

    @property
    def backend(self):
        """Name of the backend that answered."""
        return LIBRARY.ckpd_solution_backend(self.pointer).decode()

    @property
    def causes(self):
        """Why there is no plan, with amounts."""
        count = LIBRARY.ckpd_solution_cause_count(self.pointer)
        return [LIBRARY.ckpd_solution_cause(self.pointer, i).decode() for i in range(count)]

    @property
    def plan(self):
        """The plan, None when there is none."""
        pointer = LIBRARY.ckpd_solution_plan(self.pointer)
        return BorrowedPlan(self, pointer) if pointer else None

    @property
    def report(self):
        """Verification of the plan, None without one."""
        pointer = LIBRARY.ckpd_solution_report(self.pointer)
        return BorrowedReport(self, pointer) if pointer else None

    def __repr__(self):
        cost = "no plan" if self.cost is None else f"cost {self.cost:.6f}"
        return f"<Solution {self.scenario} {self.outcome}, {cost}, {self.backend}>"


class Problem(Handle):
    """A site and its jobs."""

    kind = "ckpd_problem"

    def __init__(self, context, site, graphs=()):
        super().__init__(context, LIBRARY.ckpd_problem_new, context.pointer, site.pointer)
        for graph in graphs:
            self.add_job(graph)

    def add_job(self, graph):
        """Adds the job of a graph."""
        self.context.check(LIBRARY.ckpd_problem_add_job(self.pointer, graph.pointer))

    @property
    def jobs(self):
        """Names of the jobs."""
        return [LIBRARY.ckpd_problem_job_name(self.pointer, i).decode()
                for i in range(LIBRARY.ckpd_problem_job_count(self.pointer))]

    def set_site(self, site):
        """Replaces the site: new prices, a new state of charge."""
        self.context.check(LIBRARY.ckpd_problem_set_site(self.pointer, site.pointer))

    def set_segments(self, segments, job=-1):
        """Another number of checkpoint segments."""
        self.context.check(LIBRARY.ckpd_problem_set_segments(self.pointer, job, segments))

    def set_gpu_cap(self, gpus):
        """The GPU cap of every slot."""
        self.context.check(LIBRARY.ckpd_problem_set_gpu_cap(self.pointer, float(gpus)))

    def soften(self):
        """Gives every limit that has no price one: a plan comes back, with Report.overruns."""
        self.context.check(LIBRARY.ckpd_problem_soften(self.pointer))

    def _options(self, given):
        return SolveOptions(self.context, **given)

    def solve(self, scenario="S4", start=None, slots_passed=0, **options):
        """Solves a scenario. Options: backend, progress, cancel, worker and the fields of SolveOptions.

        start is a Plan, or the Solution of an earlier solve: then its prices are used as well, and a small change
        is solved in a fraction of the time. slots_passed tells how far the horizon has moved on since.

        progress(state) is called with a Progress; a true result stops the solve. An exception in it stops the
        solve and is raised here. Ctrl-C stops the solve; the best plan so far is returned, outcome "cancelled".
        Callbacks run while this thread waits, on a thread of their own.
        """
        number = scenario_number(scenario)
        with self._options(options) as made:
            def run():
                pointer = ctypes.POINTER(HANDLES["ckpd_solution"])()
                given = (ctypes.byref(pointer), self.pointer, number, made.pointer,
                         start.pointer if start is not None else None)
                if isinstance(start, Solution):
                    self.context.check(LIBRARY.ckpd_problem_resolve_from(*given, slots_passed))
                else:
                    self.context.check(LIBRARY.ckpd_problem_resolve(*given))
                return Solution._adopt(self.context, pointer)

            return interruptible(run, made.cancel)

    def verify(self, plan, scenario="S4", claimed_cost=None):
        """Checks any plan against the problem with code that shares nothing with the solvers."""
        claimed = math.nan if claimed_cost is None else float(claimed_cost)
        return OwnReport(self.context, LIBRARY.ckpd_problem_verify, self.pointer, scenario_number(scenario),
                         plan.pointer, claimed)


class Case(Handle):
    """A case file."""

    kind = "ckpd_case"

    @classmethod
    def load(cls, path, context=None):
        """Reads a case file."""
        return cls(context or Context(), LIBRARY.ckpd_case_load, os.fsencode(path))

    @classmethod
    def parse(cls, text, context=None):
        """Reads a case from a text, or from anything json.dumps() takes."""
        data = text.encode() if isinstance(text, str) else json.dumps(text).encode()
        return cls(context or Context(), LIBRARY.ckpd_case_parse, data)

    def __init__(self, context, make, argument):
        rest = (len(argument), None) if make is LIBRARY.ckpd_case_parse else ()
        super().__init__(context, make, context.pointer, argument, *rest)

    @property
    def name(self):
        """Name of the case."""
        return LIBRARY.ckpd_case_name(self.pointer).decode()

    @property
    def jobs(self):
        """Names of the jobs."""
        return [LIBRARY.ckpd_task_name(LIBRARY.ckpd_case_task(self.pointer, i)).decode()
                for i in range(LIBRARY.ckpd_case_job_count(self.pointer))]

    def modes(self, job):
        """Mode set of a job by number or name."""
        index = self.jobs.index(job) if isinstance(job, str) else range(len(self.jobs))[job]
        return BorrowedModes(self, LIBRARY.ckpd_case_mode_set(self.pointer, index))

    def problem(self):
        """The dispatch problem of the case, solved with the options of the file unless told otherwise."""
        pointer = ctypes.POINTER(HANDLES["ckpd_problem"])()
        self.context.check(LIBRARY.ckpd_case_build_problem(ctypes.byref(pointer), self.pointer))
        made = CaseProblem._adopt(self.context, pointer)
        made.case = self
        return made

    def text(self):
        """The case in canonical form."""
        pieces = []

        def take(text, length, _):
            pieces.append(ctypes.string_at(text, length))
            return 0

        write = CALLBACKS["ckpd_write_fn"](take)
        self.context.check(LIBRARY.ckpd_case_write(self.pointer, write, None))
        return b"".join(pieces).decode()

    def save_solution(self, solution, path, form="json"):
        """Writes a plan file ("json") or its series ("csv")."""
        number = {"json": CONSTANTS["CKPD_PLAN_JSON"], "csv": CONSTANTS["CKPD_PLAN_CSV"]}[form]
        self.context.check(LIBRARY.ckpd_case_save_solution(self.pointer, solution.pointer, number,
                                                           os.fsencode(path)))

    def load_plan(self, path):
        """Reads a plan file of this case."""
        pointer = ctypes.POINTER(HANDLES["ckpd_plan"])()
        self.context.check(LIBRARY.ckpd_case_load_plan(ctypes.byref(pointer), None, self.pointer,
                                                       os.fsencode(path)))
        return Plan._adopt(self.context, pointer)


class CaseProblem(Problem):
    """Problem of a case file."""

    case = None

    def _options(self, given):
        pointer = ctypes.POINTER(HANDLES["ckpd_solve_options"])()
        self.context.check(
            LIBRARY.ckpd_case_build_options(ctypes.byref(pointer), self.case.pointer))
        made = SolveOptions._adopt(self.context, pointer)
        taken = {name: given.pop(name) for name in ("backend", "progress", "cancel", "worker")
                 if name in given}
        made._take(**taken, fields=given)
        return made




