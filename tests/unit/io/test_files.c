/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Files that cannot be read or written: the error says which file and why, in words. */
#include "support/support.h"

#include <ckptdispatch/io.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char CASE[] =
    "{\"schema\": \"ckptdispatch-case\", \"schema_version\": 1, \"name\": \"n\","
    " \"horizon\": {\"slots\": 2, \"slot_minutes\": 60},"
    " \"site\": {\"import_price_per_mwh\": 20, \"gpu_cap\": 8},"
    " \"mode_rules\": {\"installed_gpus\": 8}, \"jobs\": []}";

static ckpd_context *context;
static ckpd_case *loaded;

static void setup(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
    ck_assert_msg(ckpd_case_parse(&loaded, context, CASE, strlen(CASE), NULL) == CKPD_OK, "%s",
                  ckpd_context_last_message(context));
}

static void teardown(void)
{
    ckpd_case_free(loaded);
    ckpd_context_free(context);
}

static void expect(int32_t status, const char *path, const char *why)
{
    const char *message = ckpd_context_last_message(context);
    ck_assert_msg(status == CKPD_ERR_FILE, "%s: %s", path, ckpd_status_name(status));
    ck_assert_msg(strstr(message, path) != NULL && strstr(message, why) != NULL,
                  "'%s' and '%s' are not in: %s", path, why, message);
}

static void cannot_read(const char *path, const char *why)
{
    ckpd_case *none = NULL;
    expect(ckpd_case_load(&none, context, path), path, why);
    ck_assert_ptr_null(none);
}

static void touch(const char *path)
{
    FILE *out = fopen(path, "w");
    ck_assert_ptr_nonnull(out);
    ck_assert_int_eq(fclose(out), 0);
}

START_TEST(paths_that_lead_nowhere)
{
    char name[5000];
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    ckpd_case *none = NULL;
    touch("file");
    cannot_read("absent.json", "no such file");
    cannot_read("file/case.json", "a part of the path is no folder");
    cannot_read("/", "folder");
    ck_assert_int_eq(ckpd_case_load(&none, context, name), CKPD_ERR_FILE);
    expect(ckpd_case_save(loaded, "absent/case.json"), "absent/case.json", "no such file");
    name[300] = '\0'; /* longer than a file name may be, short enough for the message */
    expect(ckpd_case_save(loaded, name), "aaa", "the name is too long");
}
END_TEST

/* The super-user may read everything, so he becomes somebody else for the two calls. */
START_TEST(files_without_permission)
{
    uid_t user = geteuid();
    ckpd_case *none = NULL;
    touch("secret.json");
    ck_assert_int_eq(chmod("secret.json", 0), 0);
    ck_assert(user != 0 || seteuid(65534) == 0);
    int32_t read = ckpd_case_load(&none, context, "secret.json");
    ck_assert(user != 0 || seteuid(0) == 0);
    expect(read, "secret.json", "no permission");
    ck_assert(user != 0 || seteuid(65534) == 0);
    int32_t written = ckpd_case_save(loaded, "secret.json");
    ck_assert(user != 0 || seteuid(0) == 0);
    expect(written, "secret.json", "no permission");
    remove("secret.json");
}
END_TEST

/* A device that is always full: small texts fail when the file is closed. */
START_TEST(a_full_device)
{
    if (access("/dev/full", W_OK) != 0) {
        test_skip("no /dev/full");
        return;
    }
    expect(ckpd_case_save(loaded, "/dev/full"), "/dev/full", "no space left on the device");
}
END_TEST

/* The same while it is written: a case of more than a buffer of the C library. */
START_TEST(a_full_device_and_a_large_case)
{
    enum { SLOTS = 4000 };
    if (access("/dev/full", W_OK) != 0) {
        test_skip("no /dev/full");
        return;
    }
    char *text = malloc(SLOTS * 8 + 1000), *at = text;
    ck_assert_ptr_nonnull(text);
    at += sprintf(at,
                  "{\"schema\": \"ckptdispatch-case\", \"schema_version\": 1, \"name\": \"n\","
                  " \"horizon\": {\"slots\": %d, \"slot_minutes\": 60}, \"site\": {\"gpu_cap\": 8,"
                  " \"import_price_per_mwh\": [0",
                  SLOTS);
    for (int t = 1; t < SLOTS; t++) {
        at += sprintf(at, ", %d", t % 1000);
    }
    sprintf(at, "]}, \"mode_rules\": {\"installed_gpus\": 8}, \"jobs\": []}");
    ckpd_case *large = NULL;
    ck_assert_msg(ckpd_case_parse(&large, context, text, strlen(text), NULL) == CKPD_OK, "%s",
                  ckpd_context_last_message(context));
    free(text);
    expect(ckpd_case_save(large, "/dev/full"), "/dev/full", "no space left on the device");
    ckpd_case_free(large);
}
END_TEST

START_TEST(too_many_open_files)
{
    if (test_wrapped()) {
        test_skip("valgrind keeps files of its own for the program");
        return;
    }
    struct rlimit before, now;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    int next = open("/dev/null", O_RDONLY);
    ck_assert_int_ge(next, 0);
    close(next);
    now = before;
    now.rlim_cur = (rlim_t)next; /* not one more */
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &now), 0);
    ckpd_case *none = NULL;
    int32_t status = ckpd_case_load(&none, context, "absent.json");
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    expect(status, "absent.json", "too many open files");
}
END_TEST

static void *at_most_a_mebibyte(void *block, size_t bytes, void *user)
{
    (void)user;
    return bytes > (size_t)1 << 20 ? NULL : realloc(block, bytes);
}

static void *from_nothing(size_t bytes, void *user)
{
    return at_most_a_mebibyte(NULL, bytes, user);
}

static void give_back(void *block, void *user)
{
    (void)user;
    free(block);
}

/* On a 32-bit system, too, a file of 3 GiB can be opened and read: here until the host has no more
   memory, long before the limit of 1 GiB. */
START_TEST(a_file_of_more_than_31_bits)
{
    ckpd_allocator little = {sizeof little, from_nothing, at_most_a_mebibyte, give_back, NULL};
    ckpd_context *poor = NULL;
    ckpd_case *none = NULL;
    touch("huge.json");
    if (truncate("huge.json", (off_t)(INT64_C(3) << 30)) != 0) {
        remove("huge.json");
        test_skip("no room for a file of 3 GiB without content");
        return;
    }
    ck_assert_int_eq(ckpd_context_new(&poor, &little), CKPD_OK);
    int32_t status = ckpd_case_load(&none, poor, "huge.json");
    ck_assert_msg(status == CKPD_ERR_NO_MEMORY, "%s: %s", ckpd_status_name(status),
                  ckpd_context_last_message(poor));
    ck_assert_ptr_null(none);
    ckpd_context_free(poor);
    remove("huge.json");
}
END_TEST

/* A series file lies beside its case, not in the working folder. */
START_TEST(files_beside_the_case)
{
    static const char text[] =
        "{\"schema\": \"ckptdispatch-case\", \"schema_version\": 1, \"name\": \"n\","
        " \"horizon\": {\"slots\": 2, \"slot_minutes\": 60},"
        " \"site\": {\"gpu_cap\": 8, \"import_price_per_mwh\": {\"file\": \"beside.csv\","
        "  \"column\": \"price\", \"unit\": \"EUR/MWh\"}},"
        " \"mode_rules\": {\"installed_gpus\": 8}, \"jobs\": []}";
    ckpd_case *other = NULL;
    double price[2];
    ck_assert(mkdir("folder", 0777) == 0 || access("folder", W_OK) == 0);
    FILE *out = fopen("folder/case.json", "w");
    ck_assert_ptr_nonnull(out);
    fputs(text, out);
    fclose(out);
    out = fopen("folder/beside.csv", "w");
    ck_assert_ptr_nonnull(out);
    fputs("time,price\n2024-04-09T00:00Z,7\n2024-04-09T01:00Z,9\n", out);
    fclose(out);
    ck_assert_msg(ckpd_case_load(&other, context, "folder/case.json") == CKPD_OK, "%s",
                  ckpd_context_last_message(context));
    const ckpd_site *site = ckpd_case_site(other);
    ck_assert_int_eq(ckpd_site_get_series(site, "import_price_per_mwh", price, 2), CKPD_OK);
    ck_assert(price[0] == 7 && price[1] == 9);
    ckpd_case_free(other);
    other = NULL;
    ck_assert_int_eq(ckpd_case_parse(&other, context, text, strlen(text), NULL), CKPD_ERR_FILE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("files");
    TCase *tests = tcase_create("files");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, paths_that_lead_nowhere);
    tcase_add_test(tests, files_without_permission);
    tcase_add_test(tests, a_full_device);
    tcase_add_test(tests, a_full_device_and_a_large_case);
    tcase_add_test(tests, too_many_open_files);
    tcase_add_test(tests, a_file_of_more_than_31_bits);
    tcase_add_test(tests, files_beside_the_case);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
