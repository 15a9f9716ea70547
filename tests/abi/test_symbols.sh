#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# Practices 8, 18, 22 and 24: the map, the headers and the library export the same names; every global of the archive
# carries the prefix; no object imports a function that a library in a stranger's process must not call.
set -u
NM=${NM:-nm}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
problem() {
    echo "$1"
    sed 's/^/    /' "$2"
    status=1
}

sh "$SRC_DIR/tests/abi/exports.sh" "$SRC_DIR/include" >"$work/headers"
sed -n 's/^ *\(ckpd_[a-z0-9_]*\);$/\1/p' "$SRC_DIR/lib/libckptdispatch.map" | LC_ALL=C sort >"$work/map"
$NM -D --defined-only "$BUILD_DIR/libckptdispatch.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
    LC_ALL=C sort >"$work/library"
diff "$work/headers" "$work/library" >"$work/diff" || problem 'headers (<) and library (>) differ:' "$work/diff"
diff "$work/map" "$work/headers" >"$work/diff" || problem 'map (<) and headers (>) differ, see make update-map:' "$work/diff"

$NM -g --defined-only "$BUILD_DIR/libckptdispatch.a" 2>/dev/null | awk 'NF == 3 { print $3 }' |
    grep -v -e '^ckpd_' -e '^__x86\.get_pc_thunk\.' >"$work/other" # the latter: gcc's own, hidden, on 32-bit x86
[ ! -s "$work/other" ] || problem 'globals of the archive without the prefix ckpd_:' "$work/other"

# Calls that no object may import: ending or jumping out of the process, talking to its streams, its environment, its
# locale, its signals, its working folder; number conversions that follow the locale.
never='_?_?exit|_Exit|quick_exit|atexit|abort|__assert_fail|__assert|raise|(v|f|vf|d|vd|__|__v|__f|__vf)?printf(_chk)?
puts|fputs|putc|fputc|putchar|perror|psignal|stdout|stderr|stdin
getenv|secure_getenv|setenv|putenv|unsetenv|environ|setlocale|localeconv
signal|sigaction|sigprocmask|sigset|bsd_signal|alarm|setitimer|fork|vfork|system|popen|execv[pe]*|chdir|fchdir|umask
strtof|strtold|atof|(__isoc99_|__isoc23_)?(v?s|v?f)?scanf|rand|srand|random|srandom|drand48
fdopen|freopen|open|open64|creat|read|write|socket|connect|time|gettimeofday|localtime|gmtime|mktime|sleep|usleep|nanosleep'
# Calls that only one place may make.
only() { # NAMES OBJECTS REASON
    awk -v names="^($1)$" -v objects="^($2)$" '$2 ~ names && $1 !~ objects { print $1 ": " $2 }' "$work/imports" >"$work/bad"
    [ ! -s "$work/bad" ] || problem "$3:" "$work/bad"
}
(cd "$BUILD_DIR/obj" && find lib -name '*.pic.o' | LC_ALL=C sort | xargs $NM -A -u) |
    sed 's/^\(.*\)\.pic\.o: *[Uwv] */\1 /; s/@.*//
        s/ __\(.*\)_time64$/ \1/; s/ __\(.*\)64$/ \1/; s/64$//' >"$work/imports" # names of 32-bit glibc
[ -s "$work/imports" ] || { echo 'no objects to look at'; exit 1; }
only "$(echo "$never" | paste -s -d '|' -)" 'none' 'imports that a library must not have'
only 'malloc|calloc|realloc|free|strdup|strndup|aligned_alloc|posix_memalign|asprintf|vasprintf|getline' \
    'lib/base/context' 'memory that does not come from the context'
only 'clock|clock_gettime|timespec_get' 'lib/base/[a-z]*' 'clock outside lib/base'
only 'strtod|strtod_l|newlocale|uselocale|freelocale|v?snprintf|__v?snprintf_chk' 'lib/base/number' \
    'numbers read or written outside lib/base/number.c'
only 'glp_.*' 'lib/solver/glpk[a-z_]*' 'GLPK outside its file'
only 'json_.*' 'lib/io/[a-z_]*' 'Jansson outside io'
only 'csv_.*' 'lib/io/csv' 'libcsv outside its file'
only 'fopen|fclose|fread|fwrite|ferror' 'lib/io/file' 'files opened outside lib/io/file.c'
only 'stat|fstat|lstat|access' 'lib/io/timezone_file' 'looks at files outside the search for time zones'
only 'Highs.*|dlopen|dlsym|dlclose' 'lib/solver/(highs|plugin)' 'HiGHS and dlopen outside their files'
only '_?_?(sig)?setjmp|_?_?(sig)?longjmp|__longjmp_chk' 'lib/solver/glpk[a-z_]*' 'jumps outside the GLPK contract'
only 'posix_spawn.*|kill|waitpid|socketpair|send|recv|poll|close|fcntl' 'lib/solver/(worker|wire)' \
    'processes and sockets outside the worker'
only 'pthread_create|pthread_join|pthread_detach' 'lib/solver/[a-z_/]*' 'threads outside the solvers'

for header in glpk.h jansson.h csv.h; do
    grep -rl "#include *<$header>" "$SRC_DIR/lib" "$SRC_DIR/include" >"$work/who"
    [ "$(wc -l <"$work/who")" -le 1 ] || problem "more than one file includes $header:" "$work/who"
done
exit $status
