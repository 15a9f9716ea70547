/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* A host that loads the library at run time, uses it and unloads it, again and again (plug-ins,
 * interpreters). */
#include "support/support.h"

#include <ckptdispatch/base.h>
#include <ckptdispatch/site.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>

#define LIBRARY BUILD_DIR "/libckptdispatch.so"

/* ISO C has no conversion from object to function pointers; POSIX promises that this one works. */
static void find(void *library, const char *name, void *function, size_t size)
{
    void *symbol = dlsym(library, name);
    ck_assert_msg(symbol != NULL, "%s is not there", name);
    memcpy(function, &symbol, size);
}

static long open_files(void)
{
    long count = 0;
    for (int fd = 0; fd < 256; fd++) {
        count += fcntl(fd, F_GETFD) != -1;
    }
    return count;
}

START_TEST(load_use_unload)
{
    int rounds = test_long() ? 1000 : test_fast() ? 5 : 50;
    long files = open_files();
    for (int i = 0; i < rounds; i++) {
        void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
        ck_assert_msg(library != NULL, "%s", dlerror());
        int32_t (*context_new)(ckpd_context **, const ckpd_allocator *);
        void (*context_free)(ckpd_context *);
        int32_t (*site_new)(ckpd_site **, ckpd_context *, int32_t, double);
        void (*site_free)(ckpd_site *);
        int32_t (*abi_version)(void);
        find(library, "ckpd_context_new", &context_new, sizeof context_new);
        find(library, "ckpd_context_free", &context_free, sizeof context_free);
        find(library, "ckpd_site_new", &site_new, sizeof site_new);
        find(library, "ckpd_site_free", &site_free, sizeof site_free);
        find(library, "ckpd_abi_version", &abi_version, sizeof abi_version);
        ck_assert_int_eq(abi_version(), CKPD_ABI_VERSION);
        ckpd_context *context = NULL;
        ckpd_site *site = NULL;
        ck_assert_int_eq(context_new(&context, NULL), CKPD_OK);
        ck_assert_int_eq(site_new(&site, context, 24, 1.0), CKPD_OK);
        site_free(site);
        context_free(context);
        ck_assert_int_eq(dlclose(library), 0);
    }
    ck_assert_int_eq(open_files(), files);
}
END_TEST

START_TEST(really_unloaded)
{
    /* Nothing (thread-local destructor, atexit, worker thread) may pin the library in memory. */
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    ck_assert_int_eq(dlclose(library), 0);
    library = dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    ck_assert_msg(library == NULL, "the library stays loaded after dlclose");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {load_use_unload, really_unloaded, NULL};
    return test_run(test_suite("load at run time", tests));
}
