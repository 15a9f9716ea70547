/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "base/base.h"

#include <string.h>

static const struct {
    int32_t number;
    const char *name, *text;
} statuses[] = {
#define STATUS_ROW(name, number, text) {number, #name, text},
    CKPD_STATUS_MAP(STATUS_ROW)
#undef STATUS_ROW
};

enum { STATUS_COUNT = sizeof statuses / sizeof statuses[0] };

static int32_t find_status(int32_t number)
{
    for (int32_t i = 0; i < STATUS_COUNT; i++) {
        if (statuses[i].number == number) {
            return i;
        }
    }
    return -1;
}

const char *ckpd_strerror(int32_t status)
{
    int32_t i = find_status(status);
    return i >= 0 ? statuses[i].text : "unknown status";
}

const char *ckpd_status_name(int32_t status)
{
    int32_t i = find_status(status);
    return i >= 0 ? statuses[i].name : "CKPD_UNKNOWN";
}

int32_t ckpd_status_count(void)
{
    return STATUS_COUNT;
}

int32_t ckpd_status_at(int32_t index)
{
    return index >= 0 && index < STATUS_COUNT ? statuses[index].number : 1;
}

int32_t ckpd_version(void)
{
    return CKPD_VERSION_MAJOR * 10000 + CKPD_VERSION_MINOR * 100 + CKPD_VERSION_PATCH;
}

const char *ckpd_version_string(void)
{
    return CKPD_VERSION_STRING;
}

int32_t ckpd_abi_version(void)
{
    return CKPD_ABI_VERSION;
}

int32_t ckpd_feature(const char *name)
{
    static const char *const features[] = {
#ifdef CKPD_HAVE_GLPK
        "glpk",
#endif
        "json",
        "threads",
    };
    for (size_t i = 0; name != NULL && i < sizeof features / sizeof features[0]; i++) {
        if (strcmp(name, features[i]) == 0) {
            return 1;
        }
    }
    return 0;
}
