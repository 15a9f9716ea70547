#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# Practices 1, 11, 12 and 26: each public header compiles alone as C99 and C++17 without a warning and may be included
# by two files of one program; no type, macro or form in it that a binding cannot express.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
problem() {
    echo "$*"
    status=1
}
cd "$SRC_DIR/include" || exit 1
headers=$(find . -name '*.h' | sed 's,^\./,,' | LC_ALL=C sort)
[ -n "$headers" ] || { echo 'no headers'; exit 1; }

compilers=$CC
for other in gcc clang; do
    if command -v $other >/dev/null && [ "$other" != "$CC" ]; then compilers="$compilers $other"; fi
done
for header in $headers; do
    echo "#include <$header>" >"$work/one.c"
    cp "$work/one.c" "$work/one.cc"
    for cc in $compilers; do
        $cc -std=c99 -pedantic -Wall -Wextra -Wstrict-prototypes -Werror -I. -fsyntax-only "$work/one.c" ||
            problem "$header is not clean C99 for $cc"
    done
    if [ -n "$CXX" ] && command -v "$CXX" >/dev/null; then
        $CXX -std=c++17 -pedantic -Wall -Wextra -Werror -I. -fsyntax-only "$work/one.cc" ||
            problem "$header is not clean C++17"
    fi
done

for header in $headers; do echo "#include <$header>"; done >"$work/a.c"
cp "$work/a.c" "$work/b.c"
echo 'int main(void) { return 0; }' >>"$work/b.c"
$CC -std=c99 -I. -o "$work/two" "$work/a.c" "$work/b.c" || problem 'two files with the same headers do not link'

# The headers as a binding sees them: comments and preprocessor lines removed, one declaration a line.
# shellcheck disable=SC2086
cat $headers | $CC -fpreprocessed -dD -E -P -x c - 2>/dev/null | grep -v '^ *#' | tr '\n' ' ' | tr ';' '\n' >"$work/flat"
no() { # PATTERN REASON
    grep -nE "$1" "$work/flat" && problem "$2"
}
no 'typedef +(const +)?void *\*' 'a handle is void *'
no '\.\.\.' 'a variadic function'
no 'va_list' 'a va_list'
no 'static +inline|inline +static' 'an inline function'
no '(^|[^a-z0-9_])(long|short|ssize_t|bool|_Bool|float|off_t|time_t|wchar_t)[^a-z0-9_]' 'a type whose size differs between builds'
no '(^|[^a-z0-9_])(unsigned|int)[^a-z0-9_]' 'plain int: use int32_t'
no '^ *(extern )?(static )?const [a-z0-9_ ]*=' 'a constant that is an object'
exit $status
