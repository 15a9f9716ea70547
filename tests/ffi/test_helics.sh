#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# The federation of planner and plant, where HELICS is installed.
set -eu
python=${PYTHON3:-python3}
export PYTHONPATH="$SRC_DIR/examples/python${PYTHONPATH:+:$PYTHONPATH}" CKPTDISPATCH_LIBRARY="$BUILD_DIR/libckptdispatch.so"
if ! "$python" -c 'import helics' 2>/dev/null; then
    echo 'SKIP: the package helics is not installed (pip install helics)'
    exit 77
fi
timeout 600 "$python" -B "$SRC_DIR/examples/python/helics_day.py" | tee said
test "$(grep -c 'kWh, battery' said)" -eq 12
