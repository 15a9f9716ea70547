#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# CMake builds examples/cmake through pkg-config against an installed layout, and the program runs.
set -eu
for tool in cmake pkg-config; do
    if ! command -v "$tool" >/dev/null; then
        echo "SKIP the CMake consumer: $tool is not installed"
        exit 77
    fi
done
# The parts of an installation that a consumer needs, under a prefix of their own.
root=$PWD/root
mkdir -p "$root/include" "$root/lib/pkgconfig"
cp -R "$SRC_DIR/include/." "$root/include"
cp -P "$BUILD_DIR"/libckptdispatch.so* "$root/lib"
sed -e "s|^prefix=.*|prefix=$root|" -e "s|^exec_prefix=.*|exec_prefix=$root|" \
    -e "s|^libdir=.*|libdir=$root/lib|" -e "s|^includedir=.*|includedir=$root/include|" \
    "$(dirname "$BUILD_DIR")/pkgconfig/ckptdispatch.pc" >"$root/lib/pkgconfig/ckptdispatch.pc"
PKG_CONFIG_PATH=$root/lib/pkgconfig
export PKG_CONFIG_PATH
cmake -S "$SRC_DIR/examples/cmake" -B build -DCMAKE_C_COMPILER="${CC%% *}"
cmake --build build
LD_LIBRARY_PATH=$root/lib build/by_hand | grep 'when training without a pause'
