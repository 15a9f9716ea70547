#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""make.py SRC [OUT]: the manual pages, from the same sources as the other documentation.

libckptdispatch.3 comes from the comments of the headers, ckptdispatch.1 from docs/cli.md. With OUT both are written
there, else docs/man is compared with what they give.
"""
import os
import re
import subprocess
import sys
import json


def quoted(text):
    """Plain text as roff: backslashes and leading dots lose their meaning, hyphens stay hyphens."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def inline(text):
    """Inline marks of the documentation: code and emphasis become bold and italic."""
    parts = re.split(r"(`[^`]+`|\*\*[^*]+\*\*|(?<![\w*])\*[^*\s][^*]*\*)", text)
    out = ""
    for part in parts:
        if part.startswith("`"):
            out += "\\fB" + quoted(part[1:-1]) + "\\fR"
        elif part.startswith("**"):
            out += "\\fB" + quoted(part[2:-2]) + "\\fR"
        elif part.startswith("*") and part.endswith("*") and len(part) > 2:
            out += "\\fI" + quoted(part[1:-1]) + "\\fR"
        else:
            out += quoted(re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", part))
    return out


def heading(name, section, version, title):
    return f'.TH {name.upper()} {section} "" "libckptdispatch {version}" "{title}"\n'


def first_sentence(doc):
    text = " ".join(doc.split())
    text = re.split(r"\s@", text)[0]
    return re.split(r"(?<=[.])\s", text)[0]


def prototype(name, function):
    params = ", ".join(
        (p["type"] + (" " if not p["type"].endswith("*") else "") + p["name"]).strip() for p in function["params"]
    )
    gap = "" if function["returns"].endswith("*") else " "
    return f"{function['returns']}{gap}{name}({params or 'void'});"


def header_text(path):
    """The comment that describes the file, paragraph by paragraph."""
    with open(path, encoding="utf-8") as f:
        match = re.search(r"/\*\*\s*\n \* @file.*?\n(.*?)\*/", f.read(), re.DOTALL)
    lines = [re.sub(r"^ \* ?", "", line) for line in (match.group(1) if match else "").splitlines()]
    return "\n".join(lines).strip()


def paragraphs(text):
    out = ""
    for block in re.split(r"\n\s*\n", text):
        items = re.split(r"\n?^\s*- ", block, flags=re.MULTILINE)
        if items[0].strip():
            out += ".PP\n" + inline(" ".join(items[0].split())) + "\n"
        for item in items[1:]:
            out += ".IP \\(bu 2\n" + inline(" ".join(item.split())) + "\n"
    return out


def library_page(src, version):
    api = json.loads(subprocess.run(
        [sys.executable, os.path.join(src, "tests", "abi", "api.py"), src], check=True, capture_output=True, text=True
    ).stdout)
    page = '.\\" Made by docs/man/make.py from the headers. Do not edit.\n'
    page += heading("libckptdispatch", "3", version, "Library functions")
    page += ".SH NAME\nlibckptdispatch \\- day\\-ahead dispatch of GPU training jobs, storage and generation\n"
    page += ".SH SYNOPSIS\n.nf\n.B #include <ckptdispatch.h>\n.PP\n"
    page += "cc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs ckptdispatch)\n.fi\n"
    page += ".SH DESCRIPTION\n" + paragraphs(header_text(os.path.join(src, "include", "ckptdispatch", "base.h")))
    order = ["base", "task", "modes", "graph", "site", "dispatch", "shape", "link", "io", "backend"]
    headers = {f["header"] for f in api["functions"].values()}
    names = sorted(headers, key=lambda h: next((i for i, n in enumerate(order) if h.endswith(f"/{n}.h")), len(order)))
    for header in names:
        text = header_text(os.path.join(src, "include", header))
        page += f".SH {os.path.basename(header).upper()}\n"
        if not header.endswith("/base.h"):
            page += paragraphs(text)
        for name, function in api["functions"].items():
            if function["header"] == header:
                page += ".TP\n.B " + quoted(prototype(name, function)) + "\n"
                page += inline(first_sentence(function["doc"])) + "\n"
    page += ".SH RETURN VALUE\nFunctions that can fail return one of these numbers.\n"
    codes = sorted(
        ((e["value"], n) for n, e in api["constants"].items() if n == "CKPD_OK" or n.startswith("CKPD_ERR_")),
        reverse=True,
    )
    for value, name in codes:
        page += f".TP\n.B {quoted(name)}\n{quoted(str(value))}\n"
    page += ".SH SEE ALSO\n.BR ckptdispatch (1)\n"
    return page


def tool_page(src, version):
    """docs/cli.md: headings become sections, code blocks stay as they are, table rows become tagged paragraphs."""
    with open(os.path.join(src, "docs", "cli.md"), encoding="utf-8") as f:
        text = f.read()
    page = '.\\" Made by docs/man/make.py from docs/cli.md. Do not edit.\n'
    page += heading("ckptdispatch", "1", version, "User commands")
    page += ".SH NAME\nckptdispatch \\- plan GPU training jobs against price, renewables and a battery\n"
    body = re.sub(r"^# .*\n", "", text, count=1)
    for block in re.split(r"(^```.*?^```\n?|^ {4}.*?(?=^\S|\Z))", body, flags=re.MULTILINE | re.DOTALL):
        if block.startswith("```") or block.startswith("    "):
            code = re.sub(r"^```.*\n?", "", block, flags=re.MULTILINE)
            code = re.sub(r"^ {4}", "", code, flags=re.MULTILINE).strip("\n")
            page += ".PP\n.nf\n.RS\n" + quoted(code) + "\n.RE\n.fi\n"
            continue
        for part in re.split(r"\n\s*\n", block.strip("\n")):
            page += markdown_part(part)
    return page + ".SH SEE ALSO\n.BR libckptdispatch (3)\n"


def markdown_part(part):
    if not part.strip():
        return ""
    if part.startswith("#"):
        title, _, rest = part.partition("\n")
        mark = ".SH " if title.startswith("## ") else ".SS "
        return mark + quoted(title.lstrip("# ").upper() if mark == ".SH " else title.lstrip("# ")) + "\n" + \
            (markdown_part(rest) if rest.strip() else "")
    if part.startswith("|"):
        rows = [[c.strip() for c in row.strip().strip("|").split("|")] for row in part.splitlines()]
        rows = [r for r in rows[1:] if not all(re.fullmatch(r":?-+:?", c) for c in r)]
        return "".join(".TP\n" + inline(r[0]) + "\n" + inline("; ".join(r[1:])) + "\n" for r in rows)
    return paragraphs(part)


def main():
    src = sys.argv[1]
    with open(os.path.join(src, "configure.ac"), encoding="utf-8") as f:
        version = re.search(r"AC_INIT\(\[libckptdispatch\], \[(.*)\]\)", f.read()).group(1)
    pages = {"libckptdispatch.3": library_page(src, version)}
    if os.path.exists(os.path.join(src, "docs", "cli.md")):
        pages["ckptdispatch.1"] = tool_page(src, version)
    bad = 0
    for name, page in pages.items():
        if len(sys.argv) > 2:
            with open(os.path.join(sys.argv[2], name), "w", encoding="utf-8") as f:
                f.write(page)
            continue
        path = os.path.join(src, "docs", "man", name)
        old = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
        if old != page:
            print(f"docs/man/{name} is out of date: make update-man")
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
