#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# summary.sh RESULT...: adds the result files up, lists the longest tests and closes with one plain line. Fails when a test
# failed or none ran.
cat "$@" 2>/dev/null | LC_ALL=C sort -k4,4nr -k5 | LC_ALL=C awk '
    { all += $4 }
    NR <= 12 && $4 >= 1 { longest = longest sprintf("%8.1f s  %s\n", $4, $5) }
    END { if (longest != "") printf "processor time of the tests: %.0f s, of the longest:\n%s", all, longest }'
passed=0 failed=0 skipped=0
for f in "$@"; do
    if read -r p n s _ <"$f"; then
        passed=$((passed + p)) failed=$((failed + n)) skipped=$((skipped + s))
    else
        failed=$((failed + 1))
    fi
done
line="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || line="$line, $skipped skipped"
echo "$line"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
