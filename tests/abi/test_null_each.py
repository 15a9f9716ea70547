#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Practice 8: with living handles, NULL for each pointer of each public function by itself.

No call may crash. The context tells of a refusal, and names the argument as the header does; handles that threads may
share leave the context alone. NULL that is taken is spoken of in the header. Each function has a child process of its own, so that a crash is counted and named.
"""
import ctypes
import json
import os
import re
import subprocess
import sys

SRC = os.environ.get("SRC_DIR", ".")
LIBRARY = os.path.join(os.environ.get("BUILD_DIR", "build"), "libckptdispatch.so")
ARGUMENT = -2  # CKPD_ERR_ARGUMENT
NUMBERS = {
    "int32_t": ctypes.c_int32, "uint32_t": ctypes.c_uint32, "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64, "size_t": ctypes.c_size_t, "double": ctypes.c_double,
}
CASE = json.dumps({
    "schema": "ckptdispatch-case", "schema_version": 1, "name": "small",
    "horizon": {"slots": 4, "slot_minutes": 60},
    "site": {"import_price_per_mwh": [20, 60, 20, 60], "gpu_cap": 64},
    "hardware": [{"preset": "a100-80gb"}],
    "mode_rules": {"installed_gpus": 64},
    "jobs": [{"name": "A", "task": {"segments": 2, "tranche_baseline_hours": 2, "baseline_gpus": 8},
              "modes": [{"gpus": 8, "rate_per_s": 1, "power_kw": 4}]}],
}).encode()
SHAPE = json.dumps({
    "schema": "ckptdispatch-shape", "schema_version": 1, "name": "t", "pool": {"gpu_count": 160},
    "shape": {"samples_per_step": 2}, "fillers": [{"name": "llama3.1-8b-chat", "planned": [64]}],
    "events": [{"onset_s": 12, "duration_s": 4, "depth_w": 80000}],
}).encode()
SERIES = b"time,x\n2024-04-09T00:00+02:00,1\n2024-04-09T01:00+02:00,2\n"
# Nothing may be looked for outside the arguments: these would go to a solver's library or to the system's.
LEFT_OUT = {"ckpd_backend_load"}


def interface():
    command = [sys.executable, os.path.join(SRC, "tests", "abi", "api.py"), SRC]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def base_type(text):
    return re.sub(r"\bconst\b|\*", "", text).strip()


def api_struct(api, kind):
    return api["structs"].get(base_type(kind), {"fields": []})["fields"]


class Library:
    """The library, and one living handle of each type."""

    def __init__(self, api):
        self.api = api
        self.c = ctypes.CDLL(LIBRARY)
        self.handles = {}
        self.callback = ctypes.CFUNCTYPE(ctypes.c_int32)(lambda: 0)
        self.buffer = None
        self.make()

    def call(self, name, *values):
        function = self.api["functions"][name]
        symbol = getattr(self.c, name)
        symbol.restype = NUMBERS.get(function["returns"], None if function["returns"] == "void" else ctypes.c_void_p)
        symbol.argtypes = [NUMBERS.get(p["type"], ctypes.c_void_p) for p in function["params"]]
        return symbol(*values)

    def new(self, kind, maker, *values):
        out = ctypes.c_void_p()
        status = self.call(maker, ctypes.addressof(out), *values)
        assert status == 0, f"{maker}: {status}: {self.error()}"
        self.handles[kind] = out.value

    def make(self):
        self.new("ckpd_context", "ckpd_context_new", None)
        h, context = self.handles, self.handles["ckpd_context"]
        self.new("ckpd_case", "ckpd_case_parse", context, CASE, len(CASE), None)
        for kind in ("battery", "cancel", "checkpoint", "graph_options", "gpu_pool", "link", "mode_rules",
                     "power_event", "series_options", "solve_options"):
            self.new(f"ckpd_{kind}", f"ckpd_{kind}_new", context)
        self.new("ckpd_filler", "ckpd_filler_builtin", context, b"qwen3-8b-chat")
        self.new("ckpd_hardware", "ckpd_hardware_new", context, b"a100-80gb")
        self.new("ckpd_task", "ckpd_task_new", context, b"task")
        self.new("ckpd_site", "ckpd_site_new", context, 4, 1.0)
        self.new("ckpd_plan", "ckpd_plan_new", context, 1, 4)
        self.new("ckpd_anchor", "ckpd_anchor_new", context, h["ckpd_hardware"], h["ckpd_mode_rules"])
        self.new("ckpd_series", "ckpd_series_read_text", context, SERIES, len(SERIES), None)
        self.new("ckpd_graph", "ckpd_case_build_graph", h["ckpd_case"], 0)
        self.new("ckpd_problem", "ckpd_case_build_problem", h["ckpd_case"])
        self.call("ckpd_solve_options_set_backend", h["ckpd_solve_options"], b"native")
        self.new("ckpd_solution", "ckpd_problem_solve", h["ckpd_problem"], 4, h["ckpd_solve_options"])
        self.new("ckpd_explanation", "ckpd_problem_explain", h["ckpd_problem"], h["ckpd_solution"], None)
        self.new("ckpd_diagnosis", "ckpd_problem_diagnose", h["ckpd_problem"], 4, None)
        self.new("ckpd_report", "ckpd_problem_verify", h["ckpd_problem"], 4, h["ckpd_plan"], 0.0)
        self.borrow("ckpd_mode_set", "ckpd_case_mode_set", h["ckpd_case"], 0)
        self.new("ckpd_record", "ckpd_record_parse", context, *self.plan_text())
        out, grid = ctypes.c_void_p(), ctypes.c_void_p()
        status = self.call("ckpd_shape_parse", ctypes.addressof(out), ctypes.addressof(grid), context, SHAPE,
                           len(SHAPE), None)
        assert status == 0, self.error()
        h["ckpd_shape"], h["ckpd_microgrid"] = out.value, grid.value
        self.new("ckpd_shape_run", "ckpd_shape_run_new", h["ckpd_shape"], grid.value, None, 0, None)
        plan = ctypes.c_void_p()
        if self.call("ckpd_shape_plan_new", ctypes.addressof(plan), h["ckpd_shape"], None, None) == 0:
            h["ckpd_shape_plan"] = plan.value
            self.new("ckpd_control", "ckpd_control_new", h["ckpd_shape"], plan.value)
        else:  # no solver of linear programs in this build
            print(f"left out without a plan: {self.error()}")

    def borrow(self, kind, getter, *values):
        self.handles[kind] = self.call(getter, *values)
        assert self.handles[kind], kind

    def plan_text(self):
        pieces = []

        @ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
        def append(text, length, user):
            pieces.append(ctypes.string_at(text, length))
            return 0

        status = self.call("ckpd_case_write_solution", self.handles["ckpd_case"], self.handles["ckpd_solution"], 1,
                           ctypes.cast(append, ctypes.c_void_p), None)
        assert status == 0, self.error()
        text = b"".join(pieces)
        return text, len(text)

    def error(self):
        return ctypes.string_at(self.call("ckpd_context_last_message", self.handles["ckpd_context"])).decode()

    def value(self, param):
        """Something that is there for a parameter; structs are large enough and zero."""
        kind = param["type"]
        if kind in NUMBERS:
            return 0
        if kind in self.api["callbacks"]:
            return ctypes.cast(self.callback, ctypes.c_void_p)
        if base_type(kind) in self.api["handles"] and not kind.endswith("**"):
            return self.handles.get(base_type(kind))
        block = ctypes.create_string_buffer(65536)
        if base_type(kind) in self.api["structs"]:
            ctypes.c_size_t.from_buffer(block).value = 4096
        elif kind == "const char *":
            block.value = b"x"
        self.buffer.append(block)
        return ctypes.addressof(block)


def complaints(library, name):
    """What is wrong with NULL for each pointer of a function."""
    function = library.api["functions"][name]
    params = function["params"]
    # The context of a call is that of its first handle.
    first = next((i for i, p in enumerate(params)
                  if base_type(p["type"]) in library.api["handles"] and not p["type"].endswith("**")), None)
    for i, param in enumerate(params):
        if param["type"] in NUMBERS or param["name"] == "user" or first is None or i == first:
            continue
        library.buffer = []
        values = [None if k == i else library.value(p) for k, p in enumerate(params)]
        print(f"{name}: {param['name']}", end="", flush=True)
        result = library.call(name, *values)
        print(f" {result}", flush=True)
        shared = re.search(r"Immutable|any thread", library.api["handles"][base_type(params[first]["type"])]["doc"])
        if function["returns"] == "int32_t" and result == ARGUMENT and name != "ckpd_context_last_error" and not shared:
            message = library.error()
            named = re.match(r"argument '(.*)' is NULL$", message)
            members = {field["name"] for p in params
                       for field in api_struct(library.api, p["type"])}  # the structs that are given are zero
            if not message or named and named.group(1) not in members | {param["name"]}:
                yield f"{name}: {param['name']} is NULL, the error is '{message}'"
        elif function["returns"] == "int32_t" and result >= 0 and "NULL" not in function["doc"]:
            yield f"{name}: takes NULL for {param['name']}, the header does not say so"


def in_a_child(library, name):
    """Complaints, or the signal that the child died of."""
    log = f"{name}.log"
    child = os.fork()
    if not child:
        found = 0
        with open(log, "w", encoding="utf-8") as sys.stdout:
            for complaint in complaints(library, name):
                print(f"\nBAD {complaint}", flush=True)
                found = 1
        ctypes.CDLL(None).exit(found)  # with the exit handlers of C: a coverage build writes its counts
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with open(log, encoding="utf-8") as f:
        lines = f.read().splitlines()
    os.remove(log)
    bad = [line[4:] for line in lines if line.startswith("BAD ")]
    return bad + ([f"{lines[-1] if lines else name}: dies of signal {-status}"] if status < 0 else [])


def main():
    api = interface()
    try:
        library = Library(api)
    except OSError as error:  # a library for another word size
        if not os.path.exists(LIBRARY):
            raise
        print(f"SKIP NULL for each pointer: {error}")
        return 77
    missing = set(api["handles"]) - set(library.handles) - {"ckpd_shape_plan", "ckpd_control"}
    bad = [f"no handle of type {kind}" for kind in sorted(missing)]
    names = [n for n in sorted(api["functions"]) if n not in LEFT_OUT and not n.endswith("_free")]
    for name in names:
        bad += in_a_child(library, name)
    print("\n".join(bad))
    print(f"{len(names)} functions, {len(bad)} complaints")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
