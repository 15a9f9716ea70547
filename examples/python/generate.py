#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Writes ckptdispatch/_declarations.py from the library's machine-readable API list.

    generate.py docs/api.json > examples/python/ckptdispatch/_declarations.py

The suite compares the file with what this program makes of the list.
"""
import json
import sys


def callback(entry):
    return (entry["returns"], tuple(p["type"] for p in entry["params"]))


def field(entry):
    if entry["type"] == "callback":
        return (entry["name"], callback(entry))
    if "array" in entry:
        return (entry["name"], entry["type"], tuple(entry["array"]))
    return (entry["name"], entry["type"])


def table(name, comment, rows):
    lines = [f"# {comment}", f"{name} = {{"]
    lines += [f"    {key!r}: {value!r}," for key, value in rows]
    return lines + ["}", ""]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        api = json.load(file)
    macros = {name: entry["value"] for name, entry in api["macros"].items() if "value" in entry}
    lines = [
        "# SPDX-License-Identifier: LGPL-3.0-or-later",
        "# Made by generate.py from docs/api.json; not edited by hand.",
        "# pylint: disable=all",
        "",
    ]
    lines += table("MACROS", "name: value as written in the header", sorted(macros.items()))
    lines += table("CONSTANTS", "enumerator: value",
                   sorted((n, e["value"]) for n, e in api["constants"].items()))
    lines += ["# opaque handles", f"HANDLES = {tuple(sorted(api['handles']))!r}", ""]
    lines += table("CALLBACKS", "name: (type of the result, types of the arguments)",
                   sorted((n, callback(e)) for n, e in api["callbacks"].items()))
    lines += table("STRUCTS", "name: fields as (name, type[, array shape]) or (name, callback)",
                   sorted((n, tuple(field(f) for f in e["fields"])) for n, e in api["structs"].items()))
    lines += table("FUNCTIONS", "name: (type of the result, types of the arguments)",
                   sorted((n, callback(e)) for n, e in api["functions"].items()))
    sys.stdout.write("\n".join(lines))


main()
