#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# build-deb.sh ARCHIVE OUT: the Debian packages from a release archive with dpkg-buildpackage, then lintian, whose
# errors are failures. Needs debhelper, dh-python, lintian and the build dependencies.
set -eu
archive=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
mkdir -p "$2"
out=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
name=$(basename "$archive" .tar.gz)
version=${name#libckptdispatch-}
cd "$out"
rm -rf "$name" ./*.deb ./*.changes ./*.buildinfo
cp "$archive" "libckptdispatch_$version.orig.tar.gz"
tar -xzf "$archive"
cp -r "$here/debian" "$name/debian"
(cd "$name" && dpkg-buildpackage -us -uc -b)
# Whoever uploads puts an own address in; the recipe has none that works.
lintian --fail-on error --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog,initial-upload-closes-no-bugs \
    ./*.changes
rm -rf "$name"
ls "$out"/*.deb
