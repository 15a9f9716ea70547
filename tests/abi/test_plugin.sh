#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# A plug-in built against the first release's headers works with today's library; broken ones are refused.
set -eu
first=$SRC_DIR/tests/abi/first
libraries=$BUILD_DIR
"$CC" -std=c11 -Wall -Wextra -Werror -I"$SRC_DIR/include" -o host "$first/host.c" \
    -L"$libraries" -lckptdispatch -Wl,-rpath,"$libraries" 2>link.log || {
    # Sanitizer builds leave their runtime to the program.
    grep -q '__asan\|__ubsan\|__tsan' link.log && { echo 'SKIP: library built with a sanitizer'; exit 77; }
    cat link.log
    exit 1
}
expect() { # KIND STATUS
    "$CC" -std=c11 -Wall -Wextra -Werror -DKIND="$1" -fPIC -shared -fvisibility=hidden -I"$first" \
        -o "plugin$1.so" "$first/plugin.c"
    ./host "./plugin$1.so" "$2"
}
expect 0 0
expect 1 -3  # size of the table too small: CKPD_ERR_STRUCT_SIZE
expect 2 -7  # another version: CKPD_ERR_VERSION
expect 3 -2  # claims a trusted bound: CKPD_ERR_ARGUMENT
expect 4 -2  # a name with spaces
expect 5 -2  # capability without its function
expect 6 -4  # no ckpd_plugin_init
expect 7 -7  # refuses this library
./host ./absent.so -61 # CKPD_ERR_FILE
./host plugin0.so -2   # no path
./host "$libraries/libckptdispatch.so" -4 # CKPD_ERR_NOT_SUPPORTED: no plug-in
# A solver's library that is too old, or something else that has one of its names.
echo 'void *Highs_create(void) { return 0; }' >old.c
"$CC" -fPIC -shared -o libold.so old.c
./host ./libold.so -7 # CKPD_ERR_VERSION
