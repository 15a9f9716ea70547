#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# consume.sh SRC STAGED PREFIX PKGCONFIGDIR: builds a consumer through pkg-config against a staged install, shared and
# static, then moves the tree elsewhere and does it again.
set -eu
src=$1 staged=$2 prefix=$3 pkgconfigdir=$4
: "${CC:=cc}" "${PKG_CONFIG:=pkg-config}" "${CFLAGS:=}"
work=$(mktemp -d)
trap 'rm -rf "$work" "$staged.moved"' EXIT

fail() {
    echo "installcheck: $*"
    exit 1
}

# The word lists below are compiler flags.
# shellcheck disable=SC2046,SC2086
build_and_run() { # NAME LIBDIR PKG_CONFIG_OPTION...
    name=$1 load_from=$2
    shift 2
    flags=$($PKG_CONFIG "$@" --cflags --libs ckptdispatch) || fail "$name: pkg-config finds no ckptdispatch"
    $CC $CFLAGS -o "$work/$name" "$src/tests/install/consumer.c" $flags || fail "$name: does not link with: $flags"
    LD_LIBRARY_PATH=$load_from "$work/$name" >"$work/$name.out" || fail "$name: does not run"
    echo "ok     installcheck/$name"
}

export PKG_CONFIG_PATH="$staged$pkgconfigdir"
PKG_CONFIG_SYSROOT_DIR=$staged
export PKG_CONFIG_SYSROOT_DIR
libdir=$(dirname "$pkgconfigdir")
build_and_run shared "$staged$libdir"

# Without the shared library beside it, -lckptdispatch is the archive: Libs.private has to name all it needs.
mkdir "$work/hidden"
mv "$staged$libdir"/libckptdispatch.so* "$work/hidden/"
build_and_run static "$staged$libdir" --static
mv "$work/hidden"/* "$staged$libdir/"

# The same tree somewhere else.
unset PKG_CONFIG_SYSROOT_DIR
mv "$staged$prefix" "$staged.moved"
moved_libdir=$staged.moved${libdir#"$prefix"}
export PKG_CONFIG_PATH="$staged.moved${pkgconfigdir#"$prefix"}"
case $moved_libdir in
"$staged.moved/lib") build_and_run moved "$moved_libdir" --define-prefix ;;
*) echo "ok     installcheck/moved: not tried, libdir is $libdir" ;;
esac
if [ -x "$staged.moved/bin/ckptdispatch" ]; then
    "$staged.moved/bin/ckptdispatch" version >/dev/null || fail "the moved tool does not run"
    echo "ok     installcheck/tool"
fi
