/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* A stranger's program: installed headers, flags from pkg-config, one object made and freed. */
#include <ckptdispatch/base.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    ckpd_context *context = NULL;
    if (strcmp(ckpd_version_string(), CKPD_VERSION_STRING) != 0) {
        return 1;
    }
    if (ckpd_context_new(&context, NULL) != CKPD_OK) {
        return 2;
    }
    ckpd_context_free(context);
    puts(ckpd_version_string());
    return 0;
}
