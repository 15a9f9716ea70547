/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Solvers that are separate shared libraries. They are opened with RTLD_LOCAL, because two solvers
 * may export the same C++ symbols, and never closed: several stay mapped anyway, and tables may
 * live in them.
 */
#include "solver/highs.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>

static const char *const highs_names[] = {
#ifdef __APPLE__
    "libhighs.1.dylib",
    "libhighs.dylib",
#else
    "libhighs.so.1",
    "libhighs.so",
#endif
};

static void *open_library(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static int32_t register_plugin(ckpd_context *context, const char *path, void *symbol)
{
    ckpd_plugin_init_fn init;
    memcpy(&init, &symbol, sizeof init); /* ISO C has no conversion from void * to a function */
    const ckpd_backend_table *table = NULL;
    int32_t status = init(CKPD_BACKEND_ABI, &table);
    if (status != CKPD_OK || table == NULL) {
        return ckpd__fail(context, status < 0 ? status : CKPD_ERR_BACKEND, "path", -1, NAN,
                          "plug-in %s refuses: %s", path,
                          status < 0 ? ckpd_strerror(status) : "it gave no table");
    }
    status = ckpd_backend_register(context, table);
    if (status == CKPD_OK) {
        ckpd__backend_set_origin(context, table->name, path);
    }
    return status;
}

static int32_t load_highs_by_name(ckpd_context *context)
{
    char reason[200] = "";
    for (size_t i = 0; i < sizeof highs_names / sizeof highs_names[0]; i++) {
        void *library = open_library(highs_names[i]);
        if (library != NULL) {
            return ckpd__highs_register(context, library);
        }
        const char *text = dlerror();
        if (i == 0 && text != NULL) {
            ckpd__format(reason, sizeof reason, "%s", text);
        }
    }
    return ckpd__fail(context, CKPD_ERR_FILE, "path", -1, NAN, "no HiGHS library: %s", reason);
}

int32_t ckpd_backend_load(ckpd_context *context, const char *path)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (path == NULL) {
        return load_highs_by_name(context);
    }
    if (strchr(path, '/') == NULL) {
        return ckpd__fail(context, CKPD_ERR_ARGUMENT, "path", -1, NAN,
                          "\"%s\" is no path: a plug-in is loaded from a named place only", path);
    }
    void *library = open_library(path);
    if (library == NULL) {
        const char *text = dlerror();
        return ckpd__fail(context, CKPD_ERR_FILE, "path", -1, NAN, "%s",
                          text != NULL ? text : path);
    }
    void *init = dlsym(library, "ckpd_plugin_init");
    if (init != NULL) {
        return register_plugin(context, path, init);
    }
    if (dlsym(library, "Highs_create") != NULL) {
        int32_t status = ckpd__highs_register(context, library);
        if (status == CKPD_OK) {
            ckpd__backend_set_origin(context, "highs", path);
        }
        return status;
    }
    return ckpd__fail(context, CKPD_ERR_NOT_SUPPORTED, "path", -1, NAN,
                      "%s has neither ckpd_plugin_init nor the C interface of HiGHS", path);
}
