#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Documentation of the format: made from the tables of the reader, and agreeing with what the reader does."""
import copy
import glob
import json
import os
import random
import re
import subprocess
import sys

from tool import FAST, SRC, TOOL, check, main, run, run_json


def read(*path):
    with open(os.path.join(SRC, *path), encoding="utf-8") as f:
        return f.read()


def made_pages_are_current():
    done = subprocess.run([sys.executable, os.path.join(SRC, "docs", "make_format.py"), SRC, TOOL],
                          stdout=subprocess.PIPE, timeout=600)
    check(done.returncode == 0, done.stdout.decode())


def the_case_in_the_page_works():
    text = re.search(r"```json\n(.*?)```", read("docs", "case-format.md"), re.DOTALL).group(1)
    with open("page.json", "w", encoding="utf-8") as f:
        f.write(text)
    # 4 h at 20, 60, 20, 60 with the big mode: two slots of 20 hold 1.9 h of the 2 h due; by hand, 8 GPUs for
    # two hours cost least in hours 0 and 2, less the wind
    _, out, _ = run("solve", "page.json", "--scenario", "S4")
    check("optimal" in out, out)


def the_tour_shows_what_the_tool_prints():
    shown = re.findall(r"^    (S\d) +(\w+) +([\d.]+) +([\d.]+) .* ([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)$",
                       read("README.md"), re.MULTILINE)
    check(len(shown) == 3, str(shown))
    found = run_json("scenarios", os.path.join(SRC, "examples", "cases", "aidc2048-golden.json"), "--only",
                     ",".join(row[0] for row in shown))["scenarios"]
    for row, one in zip(shown, found):
        figures = one["figures"]
        printed = (one["scenario"], one["outcome"], f"{one['cost']:.3f}", f"{100 * one['saving_share']:.2f}",
                   f"{figures['import_mwh']:.3f}", f"{figures['curtailment_mwh']:.3f}",
                   f"{100 * figures['green_share']:.2f}", f"{figures['min_site_load_kw']:.1f}",
                   f"{figures['max_site_load_kw']:.1f}")
        check(row == printed, f"README: {row}, the tool: {printed}")


def links_lead_somewhere():
    pages = ["README.md", "CONTRIBUTING.md"] + [os.path.join("docs", name) for name in
                                                os.listdir(os.path.join(SRC, "docs")) if name.endswith(".md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", read(page)):
            if not target.startswith(("http:", "https:", "mailto:")):
                path = os.path.join(SRC, os.path.dirname(page), target)
                check(os.path.exists(path), f"{page} links to {target}")


def every_command_is_documented():
    names = re.findall(r"^  ([a-z-]+) ", run("--help")[1], re.MULTILINE)
    page = read("docs", "cli.md")
    check(len(names) >= 9, str(names))
    for name in names:
        check(f"`{name} " in page or f"`{name}`" in page, f"docs/cli.md does not know {name}")
        for option in re.findall(r"^  (--?[a-z-]+)", run(name, "--help")[1], re.MULTILINE):
            check(option in page or option == "--help", f"docs/cli.md does not know {name} {option}")


# --- the JSON Schema document --------------------------------------------------------------------------------

DEFS = json.loads(read("docs", "case.schema.json"))["$defs"]
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool}


def is_type(value, name):
    if name in ("number", "integer"):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return number and (name == "number" or float(value).is_integer())
    return isinstance(value, TYPES[name])


def valid(value, schema):
    """The part of JSON Schema that the document uses; an unknown keyword is an error."""
    known = {"$schema", "title", "description", "default", "type", "properties", "required",
             "additionalProperties", "items", "minItems", "maxItems", "enum", "const", "minimum", "maximum",
             "oneOf", "$defs", "$ref"}
    if "$ref" in schema:
        return valid(value, DEFS[schema["$ref"].rsplit("/", 1)[1]])
    check(set(schema) <= known, f"keywords {set(schema) - known}")
    if "type" in schema and not is_type(value, schema["type"]):
        return False
    if "enum" in schema and value not in schema["enum"] or "const" in schema and value != schema["const"]:
        return False
    if "minimum" in schema and value < schema["minimum"] or "maximum" in schema and value > schema["maximum"]:
        return False
    if "oneOf" in schema and sum(valid(value, one) for one in schema["oneOf"]) != 1:
        return False
    if schema.get("type") == "object":
        if not all(name in value for name in schema["required"]):
            return False
        return all(name in schema["properties"] and valid(member, schema["properties"][name])
                   for name, member in value.items())
    if schema.get("type") == "array":
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            return False
        return all(valid(item, schema["items"]) for item in value)
    return True


def accepted(case):
    with open("changed.json", "w", encoding="utf-8") as f:
        json.dump(case, f)
    status, out, err = run("describe", "changed.json", status=None)
    check(status in (0, 2), f"exit status {status}: {err}")
    check(status == 0 or (len(err.split(": ", 1)[1]) > 10 and not out), f"message: {err}")
    return status == 0


def examples():
    for path in sorted(glob.glob(os.path.join(SRC, "examples", "cases", "*.json"))):
        with open(path, encoding="utf-8") as f:
            case = json.load(f)
        if case["schema"] == "ckptdispatch-case":
            yield path, case


def schema_accepts_the_examples():
    schema = json.loads(read("docs", "case.schema.json"))
    for path, case in examples():
        check(valid(case, schema), path)
        _, out, _ = run("describe", path, "--json")
        with open(path, encoding="utf-8") as f:
            check(out == f.read(), f"{path} is not canonical")


def places(value, path=()):
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, path + (key,))


def parent_of(case, path):
    for key in path[:-1]:
        case = case[key]
    return case


def change(case, rng):
    """One random change: a member dropped, renamed, of another type or another size."""
    path = rng.choice([p for p in places(case) if p])
    parent, key = parent_of(case, path), path[-1]
    kind = rng.randrange(5)
    if kind == 0 and isinstance(parent, dict):
        del parent[key]
    elif kind == 1 and isinstance(parent, dict):
        parent[key + "x"] = parent.pop(key)
    elif kind == 2:
        parent[key] = rng.choice([None, "text", True, [], {}, -1, 0.5, 1e15, [1, 2]])
    elif kind == 3 and isinstance(parent[key], (int, float)) and not isinstance(parent[key], bool):
        parent[key] = rng.choice([-1, 0, 1, 2, 1000]) * parent[key]
    elif isinstance(parent, list):
        rng.choice([lambda: parent.pop(), lambda: parent.append(parent[key])])()
    return path


def what_the_schema_refuses_the_reader_refuses():
    schema = json.loads(read("docs", "case.schema.json"))
    rng = random.Random(20261130)
    refused = agreed = 0
    small = [case for path, case in examples() if os.path.basename(path).startswith(("aidc", "j4"))]
    for _ in range(60 if FAST else 400):
        case = copy.deepcopy(rng.choice(small))
        path = change(case, rng)
        by_schema, by_reader = valid(case, schema), accepted(case)
        refused += not by_schema
        agreed += by_schema == by_reader
        # The reverse need not hold: the reader knows lengths, units, memory and much else.
        check(by_schema or not by_reader, f"{path}: refused by the schema, taken by the reader")
    check(refused > 20 and agreed > 40, f"{refused} refused by the schema, {agreed} agreed")


def shape_runs(case):
    """True when the tool takes a shaping case; without filler a run needs no solver."""
    with open("changed-shape.json", "w", encoding="utf-8") as f:
        json.dump(case, f)
    status, _, err = run("shape", "changed-shape.json", "--policy", "none", "--seeds", "1", status=None)
    check(status in (0, 2), f"exit status {status}: {err}")
    return status == 0


def the_schema_of_shaping_cases_agrees():
    schema = json.loads(read("docs", "shape.schema.json"))
    rng = random.Random(20261130)
    page = re.search(r"```json\n(.*?)```", read("docs", "shape-format.md"), re.DOTALL).group(1)
    cases = [json.loads(page)] + [json.loads(read("examples", "cases", f"shape-{x}.json")) for x in "abc"]
    cases[0]["events"][0]["trace"] = [[0, 0], [1, 150000], [12, 0]]
    for case in cases:
        check(valid(case, schema) and shape_runs(case), case["name"])
    refused = 0
    for _ in range(20 if FAST else 80):
        case = copy.deepcopy(cases[0] if rng.randrange(4) else rng.choice(cases))
        path = change(case, rng)
        by_schema, by_reader = valid(case, schema), shape_runs(case)
        refused += not by_schema
        check(by_schema or not by_reader, f"{path}: refused by the schema, taken by the reader")
    check(refused > 5, f"{refused} refused by the schema")


main(the_schema_of_shaping_cases_agrees, made_pages_are_current, the_case_in_the_page_works, the_tour_shows_what_the_tool_prints, links_lead_somewhere,
     every_command_is_documented, schema_accepts_the_examples,
     what_the_schema_refuses_the_reader_refuses)
