#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# exports.sh INCLUDE_DIR: names that the public headers declare with CKPD_API, sorted, one a line.
set -eu
find "$1" -name '*.h' | LC_ALL=C sort | xargs cat |
    LC_ALL=C awk '
    # Comments and preprocessor lines go; the rest is split at semicolons, and the first name( after CKPD_API counts.
    { text = text $0 "\n" }
    END {
        out = ""
        while ((i = index(text, "/*")) > 0) {
            out = out substr(text, 1, i - 1) " "
            text = substr(text, i + 2)
            j = index(text, "*/")
            text = substr(text, j + 2)
        }
        out = out text
        n = split(out, line, "\n")
        code = ""
        for (k = 1; k <= n; k++) {
            if (line[k] ~ /^[ \t]*#/ || cont) { cont = (line[k] ~ /\\$/); continue }
            code = code line[k] " "
        }
        n = split(code, decl, ";")
        for (k = 1; k <= n; k++) {
            i = index(decl[k], "CKPD_API")
            if (i == 0) continue
            d = substr(decl[k], i + 8)
            if (match(d, /ckpd_[a-z0-9_]+[ \t]*\(/)) {
                d = substr(d, RSTART, RLENGTH - 1)
                sub(/[ \t]+$/, "", d)
                print d
            }
        }
    }' | LC_ALL=C sort -u
