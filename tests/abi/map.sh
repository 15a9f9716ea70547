#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# map.sh INCLUDE_DIR: the linker version script that exports exactly what the public headers declare with CKPD_API.
set -eu
dir=$(dirname "$0")
echo '/* SPDX-License-Identifier: LGPL-3.0-or-later */'
echo '/* Exported symbols, one node a release; append only after 1.0. Checked against the headers and the library. */'
echo 'CKPTDISPATCH_0 {'
echo 'global:'
sh "$dir/exports.sh" "$1" | sed 's/.*/    &;/'
echo 'local:'
echo '    *;'
echo '};'
