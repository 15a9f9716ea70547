#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# pip installs the package from the tree into an empty folder; the example runs from there and draws a picture.
set -eu
python=${PYTHON3:-python3}
if ! "$python" -c 'import setuptools, wheel, pip' 2>/dev/null; then
    echo "SKIP pip install: pip, setuptools or wheel is not installed"
    exit 77
fi
cp -R "$SRC_DIR/examples/python" package
rm -rf package/build
"$python" -m pip install --quiet --no-index --no-deps --no-build-isolation --root-user-action=ignore \
    --target installed ./package
export PYTHONPATH="$PWD/installed" CKPTDISPATCH_LIBRARY="$BUILD_DIR/libckptdispatch.so.0"
"$python" -c 'import ckptdispatch; print(ckptdispatch.__version__, ckptdispatch.__file__)' | grep -q installed
if ! "$python" -c 'import matplotlib' 2>/dev/null; then
    echo "SKIP the picture: matplotlib is not installed"
    exit 77
fi
MPLCONFIGDIR=$PWD "$python" package/plan_day.py "$SRC_DIR/examples/cases/aidc2048.json" plan.png | grep 'S4 optimal'
test -s plan.png
# The lines of the README, as they stand there.
sed -n '/^```python$/,/^```$/{/^```/d;p}' "$SRC_DIR/README.md" >readme.py
test "$(grep -c . readme.py)" -ge 8
ln -s "$SRC_DIR/examples" examples
rm plan.png
MPLBACKEND=Agg MPLCONFIGDIR=$PWD "$python" readme.py | grep 'optimal.*green share'
test -s plan.png
