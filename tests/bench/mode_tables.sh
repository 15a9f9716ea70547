#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# Puts the tables of bench_modes, bench_mode_accuracy and bench_mode_peers into docs/benchmarks.md, between the lines that mark the
# place. Run from the source folder after `make bench B=mode`.
set -eu
page=docs/benchmarks.md
build=${1:-build}
tables=$(mktemp)
trap 'rm -f "$tables"' EXIT
{
    echo
    "$build"/tests/bench/bench_mode_accuracy
    "$build"/tests/bench/bench_mode_peers
    echo
    echo '### Enumeration of Llama-3 405B (goal: below 1000 ns a layout)'
    echo
    "$build"/tests/bench/bench_modes
    echo
} > "$tables"
awk -v file="$tables" '
    /<!-- modes: begin/ { print; while ((getline line < file) > 0) print line; skip = 1; next }
    /<!-- modes: end/   { skip = 0 }
    !skip               { print }' "$page" > "$page.new"
mv "$page.new" "$page"
