# SPDX-License-Identifier: LGPL-3.0-or-later
"""Execution-feasible dispatch of LLM pre-training: Python over libckptdispatch, nothing to compile.

    import ckptdispatch

    case = ckptdispatch.Case.load("aidc2048.json")
    solution = case.problem().solve("S4")
    print(solution.cost, solution.plan["import_kw"])
"""
from ._core import Context
from ._library import LIBRARY
from .dispatch import (Battery, Cancel, Case, Overrun, Plan, Problem, Progress, Site, Solution, SolveOptions, Step,
                       Violation, site_series)
from .errors import (ArgumentError, CkptDispatchError, FileAccessError, FileFormatError, NoModeError,
                     OutOfMemoryError, SolverError, StateError, VerificationError)
from .model import Graph, GraphOptions, Hardware, Mode, ModeRules, ModeSet, Task

__version__ = LIBRARY.ckpd_version_string().decode()
__all__ = [
    "ArgumentError", "Battery", "Cancel", "Case", "CkptDispatchError", "Context", "FileAccessError",
    "FileFormatError", "Graph", "GraphOptions", "Hardware", "Mode", "ModeRules", "ModeSet",
    "NoModeError", "OutOfMemoryError", "Overrun", "Plan", "Problem", "Progress", "Site", "Solution", "SolveOptions",
    "SolverError", "StateError", "Step", "Task", "VerificationError", "Violation", "site_series",
]
