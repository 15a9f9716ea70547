#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Every public function refuses a handle that is not its own, in every place where it takes one.

Foreign are: a handle of another version, a handle of another kind, a freed one (in memory that is still there), a block
that is no handle. A status is then CKPD_ERR_VERSION or CKPD_ERR_ARGUMENT; anything else answers as it does to NULL.
What lies behind the head of a foreign handle is 0xff, so a function that reads on dies or answers something else. Each
function is called in a child process of its own. What is missing in a new function: a line CKPD__REFUSE_FOREIGN or
CKPD__NULL_IF_FOREIGN (lib/base/handle.h).
"""
import ctypes
import json
import os
import re
import struct
import subprocess
import sys

SRC = os.environ.get("SRC_DIR", ".")
LIBRARY = os.path.join(os.environ.get("BUILD_DIR", "build"), "libckptdispatch.so")
TYPES = {
    "int32_t": ctypes.c_int32, "uint32_t": ctypes.c_uint32, "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64, "size_t": ctypes.c_size_t, "double": ctypes.c_double,
}
ERR_ARGUMENT, ERR_VERSION = -2, -7
SEEN = 32  # bytes of a handle that are compared: no handle is smaller


def interface():
    command = [sys.executable, os.path.join(SRC, "tests", "abi", "api.py"), SRC]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def handle_of(parameter, api):
    """Kind of handle that a parameter takes, or None."""
    kind = re.sub(r"\bconst\b|\*|\s", "", parameter["type"])
    return kind if parameter["type"].count("*") == 1 and kind in api["handles"] else None


def foreign_blocks(library):
    """Name, address, kind and expected status of what is no handle of the function at hand."""
    keep = []

    def block(head):
        keep.append(ctypes.create_string_buffer(head + b"\xff" * (4096 - len(head)), 4096))
        return ctypes.addressof(keep[-1])

    context, token = ctypes.c_void_p(), ctypes.c_void_p()
    assert library.ckpd_context_new(ctypes.byref(context), None) == 0
    assert library.ckpd_cancel_new(ctypes.byref(token), context) == 0
    head = ctypes.string_at(context, 16)
    magic, version, kind, reserved = struct.unpack("=IiII", head)
    for other in (version + 1, version - 1, 0, -1, 2**31 - 1):
        for some_kind in (kind, kind + 1, 2**32 - 1):
            yield f"version {other}", block(struct.pack("=IiII", magic, other, some_kind, 0)), None, ERR_VERSION
    yield "a context", context, "ckpd_context", ERR_ARGUMENT
    yield "a cancel token", token, "ckpd_cancel", ERR_ARGUMENT
    yield "kind 2^32 - 1", block(struct.pack("=IiII", magic, version, 2**32 - 1, 0)), None, ERR_ARGUMENT
    yield "a freed handle", block(struct.pack("=IiII", 0x64616564, version, kind, 0)), None, ERR_ARGUMENT
    yield "no handle", block(b"\xff" * 16), None, ERR_ARGUMENT
    yield "zeros", block(bytes(16)), None, ERR_ARGUMENT


def same(a, b):
    return a == b or (isinstance(a, float) and a != a and b != b)


def try_function(name, function, api):
    library = ctypes.CDLL(LIBRARY)
    symbol = getattr(library, name)
    returns = function["returns"]
    symbol.restype = TYPES.get(returns, None if returns == "void" else ctypes.c_void_p)
    symbol.argtypes = [TYPES.get(p["type"], ctypes.c_void_p) for p in function["params"]]
    nothing = [0 if p["type"] in TYPES else None for p in function["params"]]
    to_null = symbol(*nothing)
    status = returns == "int32_t" and to_null == ERR_ARGUMENT
    for i, parameter in enumerate(function["params"]):
        wanted = handle_of(parameter, api)
        if wanted is None:
            continue
        for what, address, kind, error in foreign_blocks(library):
            if kind == wanted:
                continue
            before = ctypes.string_at(address, SEEN)
            answer = symbol(*nothing[:i], address, *nothing[i + 1:])
            if not same(answer, error if status else to_null):
                return f"{name}: {what} as {parameter['name']} gives {answer}"
            if ctypes.string_at(address, SEEN) != before:
                return f"{name}: {what} as {parameter['name']} is written to"
    return ""


def main():
    api = interface()
    bad, count = [], 0
    for name, function in sorted(api["functions"].items()):
        if not any(handle_of(p, api) for p in function["params"]):
            continue
        count += 1
        readable, writable = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writable, try_function(name, function, api).encode())
            os._exit(0)
        os.close(writable)
        said = os.read(readable, 4096).decode()
        os.close(readable)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if said or code:
            bad.append(said or f"{name}: dies of signal {-code}")
    print("\n".join(bad))
    print(f"{count} functions with handles called, {len(bad)} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
