/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Finds and reads the file of a named time zone. */
#include "io/file.h"
#include "io/timezone.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

enum { LARGEST_ZONE_FILE = 1 << 20, LONGEST_ZONE_NAME = 64, LONGEST_PATH = 1024 };

/* "Area/Place": nothing that could leave the folder. */
static bool good_name(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length > LONGEST_ZONE_NAME || name[0] == '/') {
        return false;
    }
    for (const char *c = name; *c != '\0'; c++) {
        bool letter =
            (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        if (!letter && strchr("_+-/", *c) == NULL) {
            return false;
        }
    }
    return true;
}

static bool find_file(const char *folder, const char *name, char path[LONGEST_PATH])
{
    struct stat about;
    return ckpd__format(path, LONGEST_PATH, "%s/%s", folder, name) < LONGEST_PATH &&
           stat(path, &about) == 0 && S_ISREG(about.st_mode) && about.st_size <= LARGEST_ZONE_FILE;
}

int32_t ckpd__zone_load_file(ckpd__zone **out, ckpd_context *context, const char *name,
                             const char *folder)
{
    static const char *const usual[] = {"/usr/share/zoneinfo", "/usr/lib/zoneinfo",
                                        "/usr/share/lib/zoneinfo"};
    char path[LONGEST_PATH];
    if (!good_name(name)) {
        return ckpd__fail(
            context, CKPD_ERR_UNKNOWN_NAME, "zone", -1, (double)NAN,
            "'%s' is no time zone: give a name such as Europe/Berlin, UTC, or an offset such as "
            "+10:00",
            name);
    }
    bool found = false, given = folder != NULL && folder[0] != '\0';
    for (size_t i = 0; !found && i < (given ? 1 : sizeof usual / sizeof usual[0]); i++) {
        found = find_file(given ? folder : usual[i], name, path);
    }
    if (!found) {
        return ckpd__fail(
            context, CKPD_ERR_UNKNOWN_NAME, "zone", -1, (double)NAN,
            "time zone %s is not known: no such file in %s (names are like Europe/Berlin; the "
            "files come with the system's package tzdata)",
            name, given ? folder : usual[0]);
    }
    char *bytes;
    size_t length;
    int32_t status = ckpd__file_read(context, path, &bytes, &length);
    if (status == CKPD_OK) {
        status = ckpd__zone_parse(out, context, name, bytes, length);
        ckpd__free(context, bytes);
    }
    return status;
}
