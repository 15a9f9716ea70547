#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# summary.sh RESULT...: adds the result files up and closes with one plain line. Fails when a test failed or none ran.
passed=0 failed=0 skipped=0
for f in "$@"; do
    if read -r p n s <"$f"; then
        passed=$((passed + p)) failed=$((failed + n)) skipped=$((skipped + s))
    else
        failed=$((failed + 1))
    fi
done
line="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || line="$line, $skipped skipped"
echo "$line"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
