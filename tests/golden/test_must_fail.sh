#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# Every file of must-fail/ is refused with exit status 2, nothing on standard output, and a message that holds the
# parts that expected.tsv lists for it: path of the field, value, limit, nearest name.
set -u
dir=$SRC_DIR/tests/golden/must-fail
tool=${TOOL:-$BUILD_DIR/ckptdispatch}
bad=0 seen=0
tab=$(printf '\t')
while IFS= read -r line; do
    file=${line%%"$tab"*}
    rest=${line#*"$tab"}
    "$tool" solve "$dir/$file" >out 2>err
    status=$?
    seen=$((seen + 1))
    [ $status -eq 2 ] || { echo "$file: exit status $status"; cat err; bad=1; }
    [ ! -s out ] || { echo "$file: something on standard output"; bad=1; }
    while [ -n "$rest" ]; do
        part=${rest%%"$tab"*}
        case $rest in *"$tab"*) rest=${rest#*"$tab"} ;; *) rest= ;; esac
        grep -qF -- "$part" err || { echo "$file: '$part' is not in: $(cat err)"; bad=1; }
    done
done <"$dir/expected.tsv"
for file in "$dir"/*.json; do
    grep -q "^$(basename "$file")$tab" "$dir/expected.tsv" || { echo "$file is not listed"; bad=1; }
done
echo "$seen bad case files"
[ $seen -gt 40 ] && exit $bad
