#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Practices 2, 4, 10, 15 and 38, asked of the interface as data (tests/abi/api.py)."""
import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["SRC_DIR"], "tests", "abi"))
import api as interface  # noqa: E402

SRC = os.environ["SRC_DIR"]
# Filled by the library for callbacks.
NOT_PASSED = {"ckpd_edge", "ckpd_host", "ckpd_progress"}
SCALARS = {"int32_t", "int64_t", "uint32_t", "uint64_t", "size_t", "double"}


def base_type(text):
    return re.sub(r"\bconst\b|\*", "", text).strip()


def problems_of(api):
    yield from interface.missing_documentation(api)
    tests = "".join(open(path, encoding="utf-8").read() for path in glob.glob(f"{SRC}/tests/api/test_struct_size*.c"))
    for name in api["structs"]:
        if name not in NOT_PASSED and f"sizeof({name})" not in tests:
            yield f"{name}: no row in tests/api/test_struct_size*.c"
    oldest = dict(re.findall(r"#define CKPD__FIRST_(\w+) (\w+)", open(f"{SRC}/lib/base/oldest.h", encoding="utf-8").read()))
    sizes = open(f"{SRC}/tests/support/struct_size.c", encoding="utf-8").read()
    for name, entry in api["structs"].items():
        if name in NOT_PASSED:
            continue
        if oldest.get(name.removeprefix("ckpd_")) not in [field["name"] for field in entry["fields"]]:
            yield f"{name}: lib/base/oldest.h does not say with which member its first version ended"
        if f'{{"{name}", ' not in sizes:
            yield f"{name}: no size of its first version in tests/support/struct_size.c"
    known = SCALARS | {"void", "char", "uint8_t"} | set(api["handles"]) | set(api["structs"]) | set(api["callbacks"])
    for name, function in api["functions"].items():
        types = [function["returns"]] + [p["type"] for p in function["params"]]
        for text in types:
            if base_type(text) not in known:
                yield f"{name}: {text} is no type of this interface"
            if base_type(text) in api["structs"] and "*" not in text:
                yield f"{name}: struct by value"
        names = [p["name"] for p in function["params"]]
        callbacks = [i for i, p in enumerate(function["params"]) if p["type"] in api["callbacks"]]
        if callbacks and (names[-1] != "user" or callbacks != [len(names) - 2]):
            yield f"{name}: a callback is followed by its user pointer, which comes last"
        outs = [i for i, p in enumerate(function["params"]) if p["type"].endswith("**") and "const" not in p["type"]]
        if outs and outs[0] != 0 and re.search(r"_(new|build|load|parse)$", name):
            yield f"{name}: the out-parameter comes first"
        if name.endswith("_free") and (len(names) != 1 or function["returns"] != "void"):
            yield f"{name}: takes one handle and returns nothing"
    for name, callback in api["callbacks"].items():
        if callback["params"] and callback["params"][-1]["name"] != "user" and not name.startswith("ckpd_plugin"):
            yield f"{name}: user comes last"
    for name, handle in api["handles"].items():
        if f"{name}_free" not in api["functions"]:
            yield f"{name}: has no {name}_free"
    for name, entry in api["structs"].items():
        for field in entry["fields"]:
            kind = base_type(field["type"]) if field["type"] != "callback" else ""
            if "*" not in field["type"] and kind in api["structs"]:
                yield f"{name}.{field['name']}: a struct that may grow lies inside another"


def main():
    _, parts = interface.expand(SRC)
    api = interface.Parser(interface.tokens_of(parts)).run()
    problems = list(problems_of(api))
    print("\n".join(problems))
    print(f"{len(api['functions'])} functions, {len(api['structs'])} structs, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
