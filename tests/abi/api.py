#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""The public interface as data, read from the headers.

    api.py SRC            writes JSON to standard output
    api.py SRC --check    compares it with docs/api.json and looks for missing documentation

The compiler expands the headers (comments kept); the few forms that house style allows in them are parsed here, and
anything else is an error, so that no declaration can slip by unlisted.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/)|(?P<name>[A-Za-z_]\w*)|(?P<number>0[xX][0-9a-fA-F]+|\d+)\w*|
        (?P<string>"(?:\\.|[^"\\])*")|(?P<punct><<|>>|\.\.\.|.)|\s+""",
    re.VERBOSE | re.DOTALL,
)


class Token(str):
    """A token's text with the header it stands in and its kind."""

    header = ""
    kind = ""


def expand(src):
    """Text of the headers after the preprocessor, as [(header, text)] in reading order, system headers left out."""
    include = os.path.join(src, "include")
    headers = sorted(
        os.path.relpath(os.path.join(folder, name), include)
        for folder, _, names in os.walk(include)
        for name in names
        if name.endswith(".h")
    )
    with tempfile.NamedTemporaryFile("w", suffix=".c") as unit:
        unit.writelines(f"#include <{header}>\n" for header in headers)
        unit.flush()
        compiler = os.environ.get("CC", "cc").split()
        text = subprocess.run(
            compiler + ["-E", "-C", "-I", include, unit.name], check=True, capture_output=True, text=True
        ).stdout
    parts = []
    header = None
    for line in text.splitlines(keepends=True):
        marker = re.match(r'# \d+ "(.*)"', line)
        if marker:
            path = os.path.relpath(marker.group(1), include)
            header = path if path in headers else None
        elif header:
            parts.append((header, line))
    return headers, parts


def tokens_of(parts):
    """Tokens in order; a comment may run over several lines of one header."""
    found = []
    start = 0
    while start < len(parts):
        end = start
        while end < len(parts) and parts[end][0] == parts[start][0]:
            end += 1
        text = "".join(line for _, line in parts[start:end])
        for match in TOKEN.finditer(text):
            if match.lastgroup and match.group().strip():
                token = Token(match.group() if match.lastgroup != "number" else match.group("number"))
                token.header = parts[start][0]
                token.kind = match.lastgroup
                found.append(token)
        start = end
    return found


def doc_text(comment):
    """A documentation comment without its stars; '' for any other comment."""
    if not comment.startswith("/**"):
        return ""
    body = re.sub(r"^/\*\*<?|\*/$", "", comment)
    lines = [re.sub(r"^\s*\* ?", "", line).strip() for line in body.splitlines()]
    return "\n".join(lines).strip()


def type_text(tokens):
    """Normal form: one blank between words, stars after one blank, none between stars."""
    return re.sub(r"\*\s+(?=\*)", "*", re.sub(r"\s*\*", " *", " ".join(tokens))).strip()


class Parser:
    def __init__(self, tokens):
        self.tokens = tokens
        self.at = 0
        self.doc = ""
        self.api = {"constants": {}, "handles": {}, "structs": {}, "callbacks": {}, "functions": {}}
        self.values = {}

    def fail(self, what):
        near = " ".join(self.tokens[max(0, self.at - 6) : self.at + 6])
        sys.exit(f"api.py: {what} near: {near}")

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else Token("")

    def skip_comments(self, keep=None):
        """Passes comments; the last /** one becomes the pending text, /**< ones go to `keep`."""
        while self.peek().startswith("/*"):
            comment = self.tokens[self.at]
            self.at += 1
            if comment.startswith("/**<"):
                if keep is not None:
                    keep["doc"] = doc_text(comment)
            elif comment.startswith("/**"):
                self.doc = doc_text(comment)

    def take(self, expected=None, keep=None):
        self.skip_comments(keep)
        token = self.peek()
        if token == "" or (expected is not None and token != expected):
            self.fail(f"expected {expected!r}, found {token!r}")
        self.at += 1
        return token

    def take_doc(self):
        doc, self.doc = self.doc, ""
        return doc

    def until(self, stop, keep=None):
        """Tokens up to one of `stop` outside brackets; the stop token is left."""
        out = []
        depth = 0
        while True:
            self.skip_comments(keep)
            token = self.peek()
            if token == "":
                self.fail("end of text")
            if depth == 0 and token in stop:
                return out
            depth += (token in "([{") - (token in ")]}")
            out.append(token)
            self.at += 1

    def declarator(self, tokens):
        """Type and name of one parameter or field."""
        dims = []
        tokens = list(tokens)
        while tokens and tokens[-1] == "]":
            open_at = len(tokens) - 1 - tokens[::-1].index("[")
            dims.insert(0, self.evaluate(tokens[open_at + 1 : -1]) if tokens[open_at + 1 : -1] else None)
            tokens = tokens[:open_at]
        if ")" in tokens:
            split = tokens.index("(")
            name = tokens[split + 2]
            rest = tokens[split + 5 : -1]
            entry = {"name": str(name), "type": "callback", "returns": type_text(tokens[:split])}
            entry["params"] = self.params(rest)
            return entry
        if len(tokens) > 1 and tokens[-1].kind == "name":
            entry = {"name": str(tokens[-1]), "type": type_text(tokens[:-1])}
        else:
            entry = {"name": "", "type": type_text(tokens)}
        if dims:
            entry["array"] = dims
        return entry

    def params(self, tokens):
        if [str(t) for t in tokens] == ["void"]:
            return []
        out, part, depth = [], [], 0
        for token in tokens + [Token(",")]:
            if token == "," and depth == 0:
                if part:
                    out.append(self.declarator(part))
                part = []
            else:
                depth += (token in "([") - (token in ")]")
                part.append(token)
        return out

    def evaluate(self, tokens):
        text = " ".join(str(self.values.get(t, t)) for t in tokens)
        if not re.fullmatch(r"[-+*()<>|~0-9a-fA-FxX ]+", text):
            self.fail(f"cannot evaluate {text}")
        return int(eval(text, {"__builtins__": {}}))  # digits and operators only

    def enum(self, header):
        group = self.take_doc()
        self.take("{")
        value = -1
        while True:
            self.skip_comments()
            if self.peek() == "}":
                self.at += 1
                return
            doc = self.take_doc()
            name = self.take()
            self.skip_comments()
            if self.peek() == "=":
                self.at += 1
                value = self.evaluate(self.until(",}"))
            else:
                value += 1
            entry = {"value": value, "header": header, "doc": doc, "group": group}
            if self.peek() == ",":
                self.at += 1
            while self.peek().startswith("/**<"):
                entry["doc"] = doc_text(self.take_comment())
            self.values[name] = value
            self.api["constants"][str(name)] = entry

    def take_comment(self):
        token = self.tokens[self.at]
        self.at += 1
        return token

    def struct_fields(self):
        fields = []
        self.take("{")
        while True:
            self.skip_comments(fields[-1] if fields else None)
            if self.peek() == "}":
                self.at += 1
                return fields
            doc = self.take_doc()
            declaration = self.until(";")
            self.take(";")
            names = self.split_fields(declaration)
            for entry in names:
                entry["doc"] = doc
                fields.append(entry)

    def split_fields(self, declaration):
        if "," not in declaration or ")" in declaration:
            return [self.declarator(declaration)]
        parts, part = [], []
        for token in declaration + [Token(",")]:
            if token == ",":
                parts.append(part)
                part = []
            else:
                part.append(token)
        base = [t for t in parts[0][:-1] if t != "*"]
        return [self.declarator(parts[0])] + [self.declarator(base + p) for p in parts[1:]]

    def typedef(self, header):
        doc = self.take_doc()
        self.skip_comments()
        if self.peek() == "struct":
            self.at += 1
            tag = self.take()
            self.skip_comments()
            if self.peek() == "{":
                fields = self.struct_fields()
                name = self.take()
                self.api["structs"][str(name)] = {"header": header, "doc": doc, "fields": fields}
            else:
                name = self.take()
                self.api["handles"][str(name)] = {"header": header, "doc": doc}
            if name != tag:
                self.fail(f"typedef {name} of struct {tag}")
            self.take(";")
            return
        entry = self.declarator(self.until(";"))
        self.take(";")
        if entry["type"] != "callback":
            self.fail("a typedef that is neither struct nor callback")
        self.api["callbacks"][entry["name"]] = {
            "header": header, "doc": doc, "returns": entry["returns"], "params": entry["params"],
        }

    def function(self, header):
        doc = self.take_doc()
        head = self.until("(")
        name = head[-1]
        self.take("(")
        params = self.until(")")
        self.take(")")
        self.take(";")
        since = re.search(r"@since\s+([0-9.]+)", doc)
        self.api["functions"][str(name)] = {
            "header": header, "doc": doc, "since": since.group(1) if since else "",
            "returns": type_text(head[:-1]), "params": self.params(params),
        }

    def run(self):
        while True:
            self.skip_comments()
            token = self.peek()
            if token == "":
                return self.api
            self.at += 1
            if token == "extern":
                if not self.take().startswith('"C'):
                    self.fail("an extern object")
                self.take("{")
            elif token in ("}", ";"):
                self.doc = ""
            elif token == "enum":
                self.skip_comments()
                if self.peek() != "{":
                    self.take()
                self.enum(token.header)
                self.take(";")
            elif token == "typedef":
                self.typedef(token.header)
            elif token == "struct":
                tag = self.take()
                if self.peek() == "{":
                    doc = self.take_doc()
                    fields = self.struct_fields()
                    known = self.api["handles"].pop(str(tag), {"doc": ""})
                    self.api["structs"][str(tag)] = {
                        "header": token.header, "doc": doc or known["doc"], "fields": fields,
                    }
                self.take(";")
            elif token == "__attribute__":
                self.take("(")
                self.until(")")
                self.take(")")
                self.function(token.header)
            else:
                self.fail(f"a form that is not listed: {token}")


def plain_macros(src, headers):
    """#define NAME number or string, for constants that the preprocessor needs to see."""
    found = {}
    for header in headers:
        with open(os.path.join(src, "include", header), encoding="utf-8") as f:
            for line in f:
                match = re.match(r'#define (CKPD_\w+) ([-0-9xa-fA-F]+|"[^"]*")\s*$', line)
                if match:
                    found[match.group(1)] = {"value": json.loads(match.group(2)), "header": header}
    return found


def missing_documentation(api):
    problems = []
    for kind in ("handles", "structs", "callbacks", "functions"):
        for name, entry in api[kind].items():
            if not entry["doc"]:
                problems.append(f"{entry['header']}: {name} is not documented")
    for name, entry in api["constants"].items():
        if not entry["doc"] and not entry["group"]:
            problems.append(f"{entry['header']}: {name} is not documented, nor its enum")
    for name, entry in api["functions"].items():
        if not entry["since"]:
            problems.append(f"{entry['header']}: {name} does not say since when it is there")
        if entry["returns"] == "int32_t" and len(entry["params"]) > 1:
            if not re.search(r"@return|CKPD_(OK|ERR)|[Ee]rrors|[Rr]eturns|\b(0|1|-1)\b", entry["doc"]):
                problems.append(f"{entry['header']}: {name} does not say what it returns")
        if any(p["name"] == "" for p in entry["params"]):
            problems.append(f"{entry['header']}: {name} has a parameter without a name")
    for name, entry in api["handles"].items():
        words = ("confined", "immutable", "any thread")
        if not any(word in entry["doc"].lower() for word in words):
            problems.append(f"{entry['header']}: {name} has no thread word ({', '.join(words)})")
    for name, entry in api["structs"].items():
        first = entry["fields"][0] if entry["fields"] else {"name": "", "type": ""}
        if (first["name"], first["type"]) != ("size", "size_t"):
            problems.append(f"{entry['header']}: {name} does not begin with size_t size")
    return problems


def main():
    src = sys.argv[1]
    headers, parts = expand(src)
    api = Parser(tokens_of(parts)).run()
    api["macros"] = plain_macros(src, headers)
    text = json.dumps(api, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    if sys.argv[2:] != ["--check"]:
        sys.stdout.write(text)
        return 0
    problems = missing_documentation(api)
    with open(os.path.join(src, "docs", "api.json"), encoding="utf-8") as f:
        if f.read() != text:
            problems.append("docs/api.json does not fit the headers: make update-api")
    print("\n".join(problems) if problems else f"{len(api['functions'])} functions, all documented")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
