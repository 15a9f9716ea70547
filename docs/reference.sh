#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# reference.sh SRC OUT: the API reference as HTML in OUT/html. An undocumented public symbol is a failure.
set -eu
src=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
version=$(sed -n 's/^AC_INIT(\[libckptdispatch\], \[\(.*\)\])$/\1/p' "$src/configure.ac")
cat >"$out/Doxyfile" <<END
PROJECT_NAME           = libckptdispatch
PROJECT_NUMBER         = $version
OUTPUT_DIRECTORY       = $out
INPUT                  = $src/include $src/README.md $src/docs
FILE_PATTERNS          = *.h *.md
RECURSIVE              = YES
USE_MDFILE_AS_MAINPAGE = $src/README.md
STRIP_FROM_PATH        = $src
STRIP_FROM_INC_PATH    = $src/include
OPTIMIZE_OUTPUT_FOR_C  = YES
JAVADOC_AUTOBRIEF      = YES
EXTRACT_ALL            = NO
TYPEDEF_HIDES_STRUCT   = YES
MACRO_EXPANSION        = YES
EXPAND_ONLY_PREDEF     = YES
PREDEFINED             = CKPD_API=
HAVE_DOT               = NO
WARN_IF_INCOMPLETE_DOC = NO
GENERATE_LATEX         = NO
HTML_TIMESTAMP         = NO
QUIET                  = YES
WARN_IF_UNDOCUMENTED   = YES
WARN_NO_PARAMDOC       = NO
EXCLUDE_SYMBOLS        = CKPD_STATUS_ENUM
WARN_LOGFILE           = $out/warnings
END
doxygen "$out/Doxyfile"
# The pages in docs/ are read on their own as well, so only what concerns the headers counts here.
if grep "^$src/include" "$out/warnings" >"$out/problems"; then
    cat "$out/problems"
    echo "docs: $(wc -l <"$out/problems") problems in the headers"
    exit 1
fi
echo "docs: $out/html/index.html"
