/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* TZif files. A zone that is read must give the same instant back for every wall time it shows. */
#include "io/timezone.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ckpd_context *context = NULL;
    ckpd__zone *zone = NULL;
    if (ckpd_context_new(&context, NULL) != CKPD_OK) {
        abort();
    }
    if (ckpd__zone_parse(&zone, context, "fuzz", data, size) == CKPD_OK) {
        for (int64_t utc = -4000000000; utc < 8000000000; utc += 61234567) {
            int64_t wall = utc + ckpd__zone_offset(zone, utc), back[2];
            int32_t count = ckpd__zone_instants(zone, wall, back);
            if (count < 1 || count > 2 || (count == 2 && back[0] >= back[1])) {
                abort();
            }
            for (int32_t i = 0; i < count; i++) {
                if (back[i] + ckpd__zone_offset(zone, back[i]) != wall) {
                    abort();
                }
            }
            ckpd__zone_first_instant(zone, wall);
        }
        ckpd__zone_free(context, zone);
    }
    ckpd_context_free(context);
    return 0;
}
