#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""make_format.py SRC TOOL [--write]: what in docs/ is made from the library and the examples.

The field tables of case-format.md and shape-format.md, case.schema.json, shape.schema.json, and the program in guide.md. Without --write they are compared
with what is there; the exit status is 1 when something differs.
"""
import os
import re
import subprocess
import sys


def output(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout.decode()


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def main():
    src, tool = sys.argv[1:3]
    docs = os.path.join(src, "docs")
    made = {}
    for kind, option in (("case", ()), ("shape", ("--shape",))):
        page = read(os.path.join(docs, kind + "-format.md"))
        tables = output(tool, "describe", "--markdown", *option)
        made[kind + "-format.md"] = re.sub(r"(<!-- fields: .*? -->\n).*?(<!-- end of fields -->)",
                                           lambda m, t=tables: m.group(1) + t + "\n" + m.group(2), page, flags=re.DOTALL)
        made[kind + ".schema.json"] = output(tool, "describe", "--schema", *option)
    program = read(os.path.join(src, "examples", "quickstart.c"))
    made["guide.md"] = re.sub(r"```c\n.*?```", lambda m: "```c\n" + program + "```",
                              read(os.path.join(docs, "guide.md")), count=1, flags=re.DOTALL)
    bad = 0
    for name, text in made.items():
        path = os.path.join(docs, name)
        if "--write" in sys.argv[3:]:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        elif not os.path.exists(path) or read(path) != text:
            print(f"docs/{name} is not up to date: run `make update-format`")
            bad = 1
    sys.exit(bad)


if __name__ == "__main__":
    main()
