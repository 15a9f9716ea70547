/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Backends of a context: the built-in ones, in order of preference, then those registered. */
#include "solver/builtin.h"

#include "base/context.h"
#include "solver/native/native.h"
#include <math.h>
#include <string.h>

enum { LONGEST_NAME = 31 };

typedef struct entry {
    ckpd_backend_table table;
    char name[LONGEST_NAME + 1];
    void *block;       /* freed with the entry */
    char origin[1024]; /* path it was loaded from, "" when none */
} entry;

typedef struct registry {
    entry **entries;
    int32_t count;
} registry;

static const ckpd_backend_table native = {
    .size = sizeof(ckpd_backend_table),
    .abi = CKPD_BACKEND_ABI,
    .capabilities = CKPD_CAP_PATHS | CKPD_CAP_SLOTWISE | CKPD_CAP_START | CKPD_CAP_SOFT |
                    CKPD_CAP_TRUSTED_BOUND,
    .name = "native",
    .version = CKPD_VERSION_STRING,
    .license = "LGPL-3.0-or-later",
    .solve_paths = ckpd__native_solve_paths,
};

/* In order of preference. */
static const ckpd_backend_table *const built_in[] = {
    &native,
#ifdef CKPD_HAVE_GLPK
    &ckpd__glpk_backend,
#endif
    &ckpd__enumerate_backend,
};

enum { BUILT_IN = sizeof built_in / sizeof built_in[0] };

static void registry_free(ckpd_context *context, void *data)
{
    registry *all = data;
    for (int32_t i = 0; i < all->count; i++) {
        ckpd__free(context, all->entries[i]->block);
        ckpd__free(context, all->entries[i]);
    }
    ckpd__free(context, all->entries);
    ckpd__free(context, all);
}

static const ckpd_backend_table *backend_at(const ckpd_context *context, int32_t index)
{
    if (index < 0) {
        return NULL;
    }
    if (index < BUILT_IN) {
        return built_in[index];
    }
    const registry *all = ckpd__context_registry(context);
    index -= BUILT_IN;
    return all != NULL && index < all->count ? &all->entries[index]->table : NULL;
}

const ckpd_backend_table *ckpd__backend_find(const ckpd_context *context, const char *name)
{
    const ckpd_backend_table *table;
    for (int32_t i = 0; name != NULL && (table = backend_at(context, i)) != NULL; i++) {
        if (strcmp(table->name, name) == 0) {
            return table;
        }
    }
    return NULL;
}

static int32_t unknown_backend(ckpd_context *context, const char *name)
{
    enum { MOST = 16 };
    const char *names[MOST];
    size_t count = 0;
    const ckpd_backend_table *table;
    char known[200] = "";
    while (count < MOST && (table = backend_at(context, (int32_t)count)) != NULL) {
        size_t used = strlen(known);
        ckpd__format(known + used, sizeof known - used, "%s%s", count > 0 ? ", " : "", table->name);
        names[count++] = table->name;
    }
    const char *nearest = ckpd__nearest(name, names, count);
    if (nearest != NULL) {
        return ckpd__fail(context, CKPD_ERR_UNKNOWN_NAME, "backend", -1, NAN,
                          "no backend is named \"%s\"; nearest is \"%s\"", name, nearest);
    }
    return ckpd__fail(context, CKPD_ERR_UNKNOWN_NAME, "backend", -1, NAN,
                      "no backend is named \"%s\"; known are %s", name, known);
}

static const char *needed_text(uint32_t needed)
{
    return needed & CKPD_CAP_MILP       ? "models with integer columns"
           : needed & CKPD_CAP_LP       ? "linear programs"
           : needed & CKPD_CAP_SLOTWISE ? "slot-wise jobs"
                                        : "path problems";
}

int32_t ckpd__backend_choose(ckpd_context *context, const char *name, uint32_t needed,
                             const ckpd_backend_table **out)
{
    const ckpd_backend_table *table = NULL;
    if (name == NULL || name[0] == '\0') {
        for (int32_t i = 0; (table = backend_at(context, i)) != NULL; i++) {
            if ((table->capabilities & needed) == needed) {
                *out = table;
                return CKPD_OK;
            }
        }
        return ckpd__fail(context, CKPD_ERR_NO_BACKEND, "backend", -1, NAN,
                          "this build has no backend for %s", needed_text(needed));
    }
    table = ckpd__backend_find(context, name);
    if (table == NULL && strcmp(name, "highs") == 0) { /* by name it is looked for on first use */
        int32_t status = ckpd_backend_load(context, NULL);
        if (status != CKPD_OK) {
            return status != CKPD_ERR_FILE
                       ? status
                       : ckpd__fail(context, CKPD_ERR_UNKNOWN_NAME, "backend", -1, NAN, "%s",
                                    ckpd_context_last_message(context));
        }
        table = ckpd__backend_find(context, name);
    }
    if (table == NULL) {
        return unknown_backend(context, name);
    }
    if ((table->capabilities & needed) != needed) {
        return ckpd__fail(context, CKPD_ERR_NOT_SUPPORTED, "backend", -1, NAN,
                          "backend \"%s\" does not solve %s", name, needed_text(needed));
    }
    *out = table;
    return CKPD_OK;
}

int32_t ckpd__backend_choose_paths(ckpd_context *context, uint32_t paths,
                                   const ckpd_backend_table *after, const ckpd_backend_table **out)
{
    const ckpd_backend_table *table;
    bool passed = after == NULL;
    for (int32_t i = 0; (table = backend_at(context, i)) != NULL; i++) {
        if (!passed) {
            passed = table == after;
        } else if ((table->capabilities & paths) == paths ||
                   (table->capabilities & CKPD_CAP_MILP) != 0) {
            *out = table;
            return CKPD_OK;
        }
    }
    return ckpd__fail(context, CKPD_ERR_NO_BACKEND, "backend", -1, NAN,
                      "this build has no backend for %s", needed_text(paths));
}

static bool good_name(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length > LONGEST_NAME) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        char c = name[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_')) {
            return false;
        }
    }
    return true;
}

static int32_t check_table(ckpd_context *context, const ckpd_backend_table *table)
{
    if (table->abi != CKPD_BACKEND_ABI) {
        return ckpd__fail(context, CKPD_ERR_VERSION, "abi", -1, table->abi,
                          "backend table is made for version %L of backend.h, this library has %d",
                          (int64_t)table->abi, (int32_t)CKPD_BACKEND_ABI);
    }
    if (table->name == NULL || !good_name(table->name)) {
        return ckpd__fail(context, CKPD_ERR_ARGUMENT, "name", -1, NAN,
                          "name of a backend must be 1 to %d of a-z, 0-9, - and _", LONGEST_NAME);
    }
    bool paths = (table->capabilities & (CKPD_CAP_PATHS | CKPD_CAP_SLOTWISE)) != 0;
    bool milp = (table->capabilities & (CKPD_CAP_MILP | CKPD_CAP_LP)) != 0;
    if (!(paths || milp) || paths != (table->solve_paths != NULL) ||
        milp != (table->solve_milp != NULL)) {
        return ckpd__fail(context, CKPD_ERR_ARGUMENT, "capabilities", -1, table->capabilities,
                          "capabilities of backend \"%s\" and its functions contradict one another",
                          table->name);
    }
    if (ckpd__backend_find(context, table->name) != NULL) {
        return ckpd__fail(context, CKPD_ERR_DUPLICATE, "name", -1, NAN,
                          "a backend named \"%s\" is registered already", table->name);
    }
    return CKPD_OK;
}

static entry *entry_named(const ckpd_context *context, const char *name)
{
    const registry *all = ckpd__context_registry(context);
    for (int32_t i = 0; all != NULL && i < all->count; i++) {
        if (strcmp(all->entries[i]->name, name) == 0) {
            return all->entries[i];
        }
    }
    return NULL;
}

const char *ckpd__backend_origin(const ckpd_context *context, const char *name)
{
    const entry *found = entry_named(context, name);
    return found != NULL && found->origin[0] != '\0' ? found->origin : NULL;
}

void ckpd__backend_set_origin(ckpd_context *context, const char *name, const char *path)
{
    entry *found = entry_named(context, name);
    if (found != NULL && strlen(path) < sizeof found->origin) {
        ckpd__format(found->origin, sizeof found->origin, "%s", path);
    }
}

static registry *get_registry(ckpd_context *context)
{
    registry *all = ckpd__context_registry(context);
    if (all == NULL) {
        all = ckpd__calloc(context, 1, sizeof *all);
        if (all != NULL) {
            ckpd__context_set_registry(context, all, registry_free);
        }
    }
    return all;
}

int32_t ckpd__backend_register_own(ckpd_context *context, const ckpd_backend_table *given,
                                   void *block)
{
    ckpd_backend_table table;
    int32_t status = CKPD__STRUCT_IN(context, backend_table, given, &table);
    if (status == CKPD_OK) {
        status = check_table(context, &table);
    }
    if (status != CKPD_OK) {
        return status;
    }
    registry *all = get_registry(context);
    if (all == NULL) {
        return ckpd__no_memory(context);
    }
    entry **grown = ckpd__realloc(context, all->entries, (size_t)all->count + 1, sizeof(entry *));
    if (grown == NULL) {
        return ckpd__no_memory(context);
    }
    all->entries = grown;
    entry *added = ckpd__calloc(context, 1, sizeof *added);
    if (added == NULL) {
        return ckpd__no_memory(context);
    }
    memcpy(added->name, table.name, strlen(table.name));
    added->table = table;
    added->table.name = added->name;
    added->block = block;
    all->entries[all->count++] = added;
    return CKPD_OK;
}

int32_t ckpd_backend_register(ckpd_context *context, const ckpd_backend_table *table)
{
    CKPD__REFUSE_FOREIGN(NULL, context, CKPD__CONTEXT);
    if (context == NULL) {
        return CKPD_ERR_ARGUMENT;
    }
    if (table == NULL) {
        return ckpd__null_argument(context, "table");
    }
    ckpd_backend_table known;
    int32_t status = CKPD__STRUCT_IN(context, backend_table, table, &known);
    if (status != CKPD_OK) {
        return status;
    }
    if ((known.capabilities & CKPD_CAP_TRUSTED_BOUND) != 0) {
        return ckpd__fail(context, CKPD_ERR_ARGUMENT, "capabilities", -1, known.capabilities,
                          "CKPD_CAP_TRUSTED_BOUND is for built-in backends only");
    }
    return ckpd__backend_register_own(context, &known, NULL);
}

int32_t ckpd_backend_count(const ckpd_context *context)
{
    CKPD__NULL_IF_FOREIGN(context, CKPD__CONTEXT);
    const registry *all = context != NULL ? ckpd__context_registry(context) : NULL;
    return BUILT_IN + (all != NULL ? all->count : 0);
}

const char *ckpd_backend_name(const ckpd_context *context, int32_t index)
{
    CKPD__NULL_IF_FOREIGN(context, CKPD__CONTEXT);
    const ckpd_backend_table *table = context != NULL ? backend_at(context, index) : NULL;
    return table != NULL ? table->name : NULL;
}

uint32_t ckpd_backend_capabilities(const ckpd_context *context, const char *name)
{
    CKPD__NULL_IF_FOREIGN(context, CKPD__CONTEXT);
    const ckpd_backend_table *table = context != NULL ? ckpd__backend_find(context, name) : NULL;
    return table != NULL ? table->capabilities : 0;
}

const char *ckpd_backend_version(const ckpd_context *context, const char *name)
{
    CKPD__NULL_IF_FOREIGN(context, CKPD__CONTEXT);
    const ckpd_backend_table *table = context != NULL ? ckpd__backend_find(context, name) : NULL;
    return table != NULL && table->version != NULL ? table->version : "";
}
