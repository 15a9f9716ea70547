#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# distcheck.sh MAKE ARCHIVE WORK NAME: the archive builds out of tree from read-only sources, passes its suite, makes
# the same archive again, installs and uninstalls to nothing, and leaves no file behind. DISTCHECK_CONFIGURE gives configure
# more arguments, DISTCHECK_GOAL names another goal than `check` for the suite.
set -eu
make=$1 archive=$2 work=$3 name=$4
unset MAKEFLAGS MFLAGS MAKELEVEL T BUILD || :

fail() {
    echo "distcheck: $*"
    exit 1
}
fingerprint() {
    (cd "$work/$name" && find . -type f -exec sha256sum {} + | LC_ALL=C sort)
}

[ ! -d "$work" ] || chmod -R u+w "$work"
rm -rf "$work"
mkdir -p "$work/b"
tar -xzf "$archive" -C "$work"
chmod -R a-w "$work/$name"
fingerprint >"$work/before"
cd "$work/b"
# A list of words.
# shellcheck disable=SC2086
"../$name/configure" --prefix=/usr/local ${DISTCHECK_CONFIGURE:-} >configure.out || fail "configure failed"
rm configure.out
"$make" -s -j2 all
"$make" -s -j2 "${DISTCHECK_GOAL:-check}"
"$make" -s installcheck
"$make" -s dist
cmp "$archive" build/"$name".tar.gz || fail "the archive made from the archive differs"
"$make" -s install DESTDIR="$work/root" >/dev/null
"$make" -s uninstall DESTDIR="$work/root"
left=$(find "$work/root" ! -type d)
[ -z "$left" ] || fail "uninstall leaves: $left"
"$make" -s distclean
left=$(find . ! -type d)
[ -z "$left" ] || fail "distclean leaves: $left"
fingerprint | cmp - "$work/before" || fail "the build writes into the source tree"
chmod -R u+w "$work"
rm -rf "$work"
echo "distcheck: $(basename "$archive") is ready"
