/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "support/highs.h"
#include "support/support.h"

#include <ckptdispatch/backend.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *test_highs_library(void)
{
    static char library[1024];
    const char *given = getenv("CKPD_TEST_HIGHS");
    if (given != NULL) {
        return given;
    }
    FILE *python =
        popen("python3 -c 'import highsbox; print(highsbox.highs_lib_dir())' 2>/dev/null", "r");
    if (python == NULL) {
        return NULL;
    }
    char folder[900] = "";
    bool got = fgets(folder, sizeof folder, python) != NULL;
    pclose(python);
    folder[strcspn(folder, "\n")] = '\0';
    snprintf(library, sizeof library, "%s/libhighs.so", folder);
    return got && access(library, R_OK) == 0 ? library : NULL;
}

bool test_highs_load(ckpd_context *context)
{
    if (ckpd_backend_load(context, test_highs_library()) == CKPD_OK) {
        return true;
    }
    char line[700];
    snprintf(line, sizeof line, "HiGHS: %s", ckpd_context_last_message(context));
    test_skip(line);
    return false;
}
