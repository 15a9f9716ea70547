#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Practices 3 and 8: every public function survives NULL for every pointer and 0 for every number.

What returns a status then says no; _free does nothing. The library is called through its C interface from a child
process for each function, so that a crash is counted and named.
"""
import ctypes
import json
import os
import subprocess
import sys

SRC = os.environ.get("SRC_DIR", ".")
LIBRARY = os.path.join(os.environ.get("BUILD_DIR", "build"), "libckptdispatch.so")
TYPES = {
    "int32_t": ctypes.c_int32, "uint32_t": ctypes.c_uint32, "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64, "size_t": ctypes.c_size_t, "double": ctypes.c_double,
}


def interface():
    command = [sys.executable, os.path.join(SRC, "tests", "abi", "api.py"), SRC]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def call_with_nothing(name, function):
    """Exit status of the call in a child: 0 fine, 1 it said yes to nothing, negative: died of a signal."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    library = ctypes.CDLL(LIBRARY)
    symbol = getattr(library, name)
    pointers = [p for p in function["params"] if p["type"] not in TYPES]
    symbol.restype = TYPES.get(function["returns"], None if function["returns"] == "void" else ctypes.c_void_p)
    symbol.argtypes = [TYPES.get(p["type"], ctypes.c_void_p) for p in function["params"]]
    result = symbol(*[0 if p["type"] in TYPES else None for p in function["params"]])
    makes = any(p["type"].endswith("**") for p in pointers)
    os._exit(1 if makes and function["returns"] == "int32_t" and result >= 0 else 0)


def main():
    api = interface()
    bad = []
    for name, function in sorted(api["functions"].items()):
        status = call_with_nothing(name, function)
        if status:
            bad.append(f"{name}: " + ("accepts NULL for its result" if status == 1 else f"dies of signal {-status}"))
    print("\n".join(bad))
    print(f"{len(api['functions'])} functions called, {len(bad)} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
