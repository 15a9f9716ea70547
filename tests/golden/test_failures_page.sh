#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# Every test that docs/failures.md names exists: `FILE: NAME` is a name in tests/FILE.c, .py or .sh, or beside it in
# must-fail/expected.tsv.
set -u
page=$SRC_DIR/docs/failures.md
grep -o '`[a-z_]*/[a-z_/]*: [a-zA-Z0-9_.-]*`' "$page" | tr -d '`' | sort -u >named
bad=0
while IFS=' ' read -r file name; do
    file=${file%:}
    found=no
    for source in "$SRC_DIR/tests/$file.c" "$SRC_DIR/tests/$file.py" "$SRC_DIR/tests/$file.sh"; do
        [ -f "$source" ] && grep -q "[ (]$name[ (),]" "$source" && found=yes
    done
    case $name in
    *.json) grep -q "^$name" "$SRC_DIR/tests/golden/must-fail/expected.tsv" && found=yes ;;
    esac
    [ $found = yes ] || { echo "no test $file: $name"; bad=1; }
done <named
count=$(wc -l <named)
echo "$count tests named"
[ "$count" -gt 60 ] && exit $bad
exit 1
