#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# run.sh NAME RESULT PROGRAM [ARGUMENT...]: runs one test in a scratch folder, writes "passed failed skipped seconds name" to
# RESULT (processor time) and the output to RESULT.log, prints one line (and the output when something failed). Always exits
# 0: summary.sh judges.
set -u
name=$1 result=$2 program=$3
shift 3
mkdir -p "$(dirname "$result")"
log=$result.log
result=$(cd "$(dirname "$result")" && pwd)/$(basename "$result")
log=$result.log
scratch=$BUILD_DIR/scratch/$name
rm -rf "$scratch"
mkdir -p "$scratch"

cd "$scratch" || exit 1
began=$(date +%s)
case $name in
*.sh) sh "$program" "$@" >"$log" 2>&1 ;;
*.py) "${PYTHON3:-python3}" -B "$program" "$@" >"$log" 2>&1 ;;
examples/*) cd "$SRC_DIR" && ${TEST_WRAPPER:-} "$program" "$@" >"$log" 2>&1 ;;
*) ${TEST_WRAPPER:-} "$program" "$@" >"$log" 2>&1 ;;
esac </dev/null
status=$?
# The second line of `times` is what the children of this shell used: "user system", each as 1m2.34s.
times >"$result.times"
used=$(LC_ALL=C awk -F '[ms ]+' 'NR == 2 { gsub(",", "."); printf "%.1f", 60 * ($1 + $3) + $2 + $4 }' "$result.times")
rm -f "$result.times"

# A Check program says how many it ran; anything else is one test, judged by its exit status.
counts=$(sed -n 's/^[0-9]*%: Checks: \([0-9]*\), Failures: \([0-9]*\), Errors: \([0-9]*\)$/\1 \2 \3/p' "$log" |
    awk '{ n += $1; bad += $2 + $3 } END { if (NR) print n, bad }')
if [ -n "$counts" ]; then
    total=${counts% *} failed=${counts#* }
    skipped=$(grep -c '^SKIP' "$log")
    # Leaks found at exit, a crash after the summary, or a program that ran nothing count as a failure of their own.
    if [ "$failed" -eq 0 ] && { [ "$status" -ne 0 ] || [ "$total" -eq 0 ]; }; then
        failed=1
        total=$((total + 1))
    fi
    [ "$skipped" -le $((total - failed)) ] || skipped=$((total - failed))
    passed=$((total - failed - skipped))
else
    passed=0 failed=0 skipped=0
    case $status in
    0) passed=1 ;;
    77) skipped=1 ;;
    *) failed=1 ;;
    esac
fi
echo "$passed $failed $skipped $used $name" >"$result"
took=$(($(date +%s) - began))
note=
[ "$skipped" -eq 0 ] || note=", $skipped skipped"
[ "$took" -lt 2 ] || note="$note ($took s)"
if [ "$failed" -eq 0 ]; then
    echo "ok     $name: $passed passed$note"
    grep '^SKIP' "$log" | sort -u
else
    echo "FAILED $name: $passed passed, $failed failed$note (exit status $status)"
    tail -n 60 "$log" | sed 's/^/    /'
fi
exit 0
