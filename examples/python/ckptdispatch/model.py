# SPDX-License-Identifier: LGPL-3.0-or-later
"""Tasks, hardware, modes, graphs: what a job is and what it may do."""
import collections
import ctypes

from . import _declarations as declarations
from ._core import Borrowed, Fields, Handle, int32s, doubles
from ._library import CALLBACKS, LIBRARY, struct

CONSTANTS = declarations.CONSTANTS


class Task(Handle, Fields):
    """Descriptor of a training job; fields: Task.describe()."""

    kind = "ckpd_task"

    def __init__(self, context, name, model=None, **fields):
        super().__init__(context, LIBRARY.ckpd_task_new, context.pointer, name.encode())
        if model is not None:
            context.check(LIBRARY.ckpd_task_set_model(self.pointer, model.encode()))
        self.set(**fields)

    @property
    def name(self):
        """Name of the job."""
        return LIBRARY.ckpd_task_name(self.pointer).decode()


class Hardware(Handle, Fields):
    """One GPU type with its links, software, memory and power coefficients."""

    kind = "ckpd_hardware"

    def __init__(self, context, preset, **fields):
        super().__init__(context, LIBRARY.ckpd_hardware_new, context.pointer, preset.encode())
        self.set(**fields)

    @staticmethod
    def presets():
        """Names of the known GPU types."""
        return [LIBRARY.ckpd_hardware_preset_name(i).decode()
                for i in range(LIBRARY.ckpd_hardware_preset_count())]


class ModeRules(Handle, Fields):
    """Which layouts are tried and kept. Lists such as tp=[1, 2, 4] are set by name too."""

    kind = "ckpd_mode_rules"

    def __init__(self, context, **fields):
        super().__init__(context, LIBRARY.ckpd_mode_rules_new, context.pointer)
        self.set(**fields)

    def __setitem__(self, name, value):
        if isinstance(value, (list, tuple)):
            block, count = int32s(value)
            self.context.check(
                LIBRARY.ckpd_mode_rules_set_list(self.pointer, name.encode(), count, block))
        else:
            super().__setitem__(name, value)


def _mode_tuple(name):
    fields = [field[0] for field in declarations.STRUCTS[name] if field[0] not in ("size", "reserved")]
    return collections.namedtuple(name.removeprefix("ckpd_").title().replace("_", ""), fields)


Mode = _mode_tuple("ckpd_mode")
Counts = _mode_tuple("ckpd_graph_counts")
Workload = _mode_tuple("ckpd_workload")


def as_tuple(kind, filled):
    """A public struct as a named tuple."""
    return kind(*(getattr(filled, name) for name in kind._fields))


class Modes:
    """Sequence of the retained modes of a mode set."""

    def __len__(self):
        return LIBRARY.ckpd_mode_set_count(self.pointer)

    def __getitem__(self, index):
        index = range(len(self))[index]
        filled = struct("ckpd_mode")
        self.context.check_read(LIBRARY.ckpd_mode_set_get(self.pointer, index, ctypes.byref(filled)), "mode")
        return as_tuple(Mode, filled)

    def label(self, index):
        """Short text such as "tp8 pp4 dp16 mb1"."""
        return LIBRARY.ckpd_mode_set_label(self.pointer, range(len(self))[index]).decode()

    @property
    def baseline(self):
        """Number of the baseline mode, None when the task names none."""
        index = LIBRARY.ckpd_mode_set_baseline(self.pointer)
        return index if index >= 0 else None

    @property
    def feasible_count(self):
        """Layouts that pass divisibility and memory, before pruning."""
        return LIBRARY.ckpd_mode_set_feasible_count(self.pointer)

    @property
    def work(self):
        """Work of the tranche in rate unit x seconds."""
        return LIBRARY.ckpd_mode_set_work(self.pointer)

    @property
    def workload(self):
        """The complete workload."""
        filled = struct("ckpd_workload")
        self.context.check_read(LIBRARY.ckpd_mode_set_workload(self.pointer, ctypes.byref(filled)), "workload")
        return as_tuple(Workload, filled)

    def dropped(self):
        """(mode, reason, text) of every layout that was dropped."""
        text = ctypes.create_string_buffer(512)
        for index in range(LIBRARY.ckpd_mode_set_dropped_count(self.pointer)):
            filled, reason = struct("ckpd_mode"), ctypes.c_int32()
            self.context.check_read(LIBRARY.ckpd_mode_set_dropped_get(
                self.pointer, index, ctypes.byref(filled), ctypes.byref(reason), text, 512), "dropped mode")
            yield (as_tuple(Mode, filled), LIBRARY.ckpd_drop_name(reason).decode(),
                   text.value.decode())


class ModeSet(Handle, Modes):
    """Modes of a task, enumerated from hardware and rules."""

    kind = "ckpd_mode_set"

    def __init__(self, context, task, hardware, rules):
        super().__init__(context, LIBRARY.ckpd_mode_set_build, context.pointer, task.pointer,
                         hardware.pointer, rules.pointer)

    @classmethod
    def from_table(cls, context, task, gpus, rate, power_kw, installed_gpus, idle_power_kw=None,
                   baseline_index=-1, keep_dominated=False):
        """Measured modes: equally long sequences; rate in work units per second, power in kW."""
        columns = [gpus, rate, power_kw] + ([idle_power_kw] if idle_power_kw is not None else [])
        if len({len(column) for column in columns}) != 1:
            raise ValueError("gpus, rate, power_kw and idle_power_kw differ in length: "
                             + ", ".join(str(len(column)) for column in columns))
        table = struct("ckpd_mode_table", count=len(gpus), installed_gpus=installed_gpus,
                       baseline_index=baseline_index, keep_dominated=keep_dominated)
        table.gpus = int32s(gpus)[0]
        table.rate = doubles(rate)[0]
        table.power_kw = doubles(power_kw)[0]
        if idle_power_kw is not None:
            table.idle_power_kw = doubles(idle_power_kw)[0]
        made = cls.__new__(cls)
        Handle.__init__(made, context, LIBRARY.ckpd_mode_set_from_table, context.pointer, task.pointer,
                        ctypes.byref(table))
        return made


class BorrowedModes(Borrowed, Modes):
    """Mode set of a job of a case."""


class GraphOptions(Handle, Fields):
    """How checkpoint-state graphs are built."""

    kind = "ckpd_graph_options"

    def __init__(self, context, transitions=None, edge_cost=None, **fields):
        """transitions(from_mode, to_mode) -> bool; edge_cost(job, edge) -> money."""
        super().__init__(context, LIBRARY.ckpd_graph_options_new, context.pointer)
        self._kept = []
        self.set(**fields)
        if transitions is not None:
            self._set_transitions(transitions)
        if edge_cost is not None:
            self._set_edge_cost(edge_cost)

    def _set_transitions(self, rule):
        def asked(before, after, _):
            return int(bool(self.context.guard(rule, 0, as_tuple(Mode, before.contents),
                                               as_tuple(Mode, after.contents))))

        wrapped = CALLBACKS["ckpd_transition_fn"](asked)
        self._kept.append(wrapped)
        self.context.check(
            LIBRARY.ckpd_graph_options_set_transition_rule(self.pointer, wrapped, None))

    def _set_edge_cost(self, cost):
        def asked(job, edge, failed, _):
            value = self.context.guard(lambda: float(cost(job.decode(), edge.contents)), None)
            failed[0] = value is None
            return value if value is not None else 0.0

        wrapped = CALLBACKS["ckpd_edge_cost_fn"](asked)
        self._kept.append(wrapped)
        self.context.check(LIBRARY.ckpd_graph_options_set_edge_cost(self.pointer, wrapped, None))


class Graph(Handle):
    """Checkpoint-state graph of a task."""

    kind = "ckpd_graph"

    def __init__(self, context, task, modes, slots, slot_hours=1.0, options=None):
        super().__init__(context, LIBRARY.ckpd_graph_build, context.pointer, task.pointer, modes.pointer,
                         slots, slot_hours, options.pointer if options is not None else None)
        self.modes = modes

    @property
    def counts(self):
        """Sizes of the graph, and what was left out of it."""
        filled = struct("ckpd_graph_counts")
        self.context.check_read(LIBRARY.ckpd_graph_count(self.pointer, ctypes.byref(filled)), "counts")
        return as_tuple(Counts, filled)
