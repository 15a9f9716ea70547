/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The backends of a context: what may join, what is found, what is told when nothing fits. */
#include "solver/solver.h"
#include "support/support.h"

#include <math.h>
#include <string.h>

static ckpd_context *context;

static void setup(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
}

static void teardown(void)
{
    ckpd_context_free(context);
}

static int32_t no_milp(const ckpd_host *host, const ckpd_milp_view *view,
                       const ckpd_solve_params *params, ckpd_milp_result *result, void *user)
{
    (void)host, (void)view, (void)params, (void)user;
    result->outcome = CKPD_OUTCOME_NO_PLAN;
    return CKPD_OK;
}

static ckpd_backend_table table_named(const char *name)
{
    return (ckpd_backend_table){.size = sizeof(ckpd_backend_table),
                                .abi = CKPD_BACKEND_ABI,
                                .capabilities = CKPD_CAP_LP,
                                .name = name,
                                .version = "7",
                                .solve_milp = no_milp};
}

/* The recorded error has the code that came back, names the field and says these words. */
static void refused(int32_t status, int32_t code, const char *field, const char *words)
{
    ckpd_error error = {.size = sizeof error};
    ck_assert_int_eq(status, code);
    ck_assert_int_eq(ckpd_context_last_error(context, &error), CKPD_OK);
    ck_assert_int_eq(error.code, code);
    ck_assert_str_eq(error.field, field);
    ck_assert_msg(strstr(error.message, words) != NULL, "no '%s' in: %s", words, error.message);
}

START_TEST(names)
{
    static const char *const bad[] = {
        NULL, "", "UPPER", "a b", "a/b", "\xc3\xa9", "a.b", "an-otherwise-good-name-but-32-chars-"};
    static const char *const good[] = {"a", "z9", "0-_", "thirty-one-characters-are-fine-"};
    int32_t before = ckpd_backend_count(context);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ckpd_backend_table table = table_named(bad[i]);
        refused(ckpd_backend_register(context, &table), CKPD_ERR_ARGUMENT, "name", "1 to 31");
    }
    ck_assert_int_eq(ckpd_backend_count(context), before);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char copy[40];
        strcpy(copy, good[i]);
        ckpd_backend_table table = table_named(copy);
        ck_assert_int_eq(ckpd_backend_register(context, &table), CKPD_OK);
        memset(copy, 'x', sizeof copy - 1); /* the name was copied */
        ck_assert_str_eq(ckpd_backend_name(context, before + (int32_t)i), good[i]);
        ck_assert_uint_eq(ckpd_backend_capabilities(context, good[i]), CKPD_CAP_LP);
        ck_assert_str_eq(ckpd_backend_version(context, good[i]), "7");
        table = table_named(good[i]);
        refused(ckpd_backend_register(context, &table), CKPD_ERR_DUPLICATE, "name", good[i]);
    }
    ckpd_backend_table taken = table_named("native");
    refused(ckpd_backend_register(context, &taken), CKPD_ERR_DUPLICATE, "name", "native");
}
END_TEST

START_TEST(capabilities)
{
    static const uint32_t wrong[] = {0, CKPD_CAP_START, CKPD_CAP_PATHS, CKPD_CAP_SLOTWISE,
                                     CKPD_CAP_LP | CKPD_CAP_PATHS};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ckpd_backend_table table = table_named("mine");
        table.capabilities = wrong[i]; /* it has a function for MILP only */
        refused(ckpd_backend_register(context, &table), CKPD_ERR_ARGUMENT, "capabilities", "mine");
    }
    ckpd_backend_table table = table_named("mine");
    table.solve_milp = NULL;
    refused(ckpd_backend_register(context, &table), CKPD_ERR_ARGUMENT, "capabilities", "mine");
    table = table_named("mine");
    table.capabilities |= CKPD_CAP_TRUSTED_BOUND;
    refused(ckpd_backend_register(context, &table), CKPD_ERR_ARGUMENT, "capabilities", "built-in");
    table = table_named("mine");
    table.abi = CKPD_BACKEND_ABI + 1;
    refused(ckpd_backend_register(context, &table), CKPD_ERR_VERSION, "abi", "version");
}
END_TEST

START_TEST(what_is_not_there)
{
    int32_t count = ckpd_backend_count(context);
    ck_assert_ptr_null(ckpd_backend_name(context, -1));
    ck_assert_ptr_null(ckpd_backend_name(context, count));
    ck_assert_uint_eq(ckpd_backend_capabilities(context, "nobody"), 0);
    ck_assert_uint_eq(ckpd_backend_capabilities(context, NULL), 0);
    ck_assert_str_eq(ckpd_backend_version(context, "nobody"), "");
    ckpd_backend_table table = table_named("versionless");
    table.version = NULL;
    ck_assert_int_eq(ckpd_backend_register(context, &table), CKPD_OK);
    ck_assert_str_eq(ckpd_backend_version(context, "versionless"), "");
}
END_TEST

static int32_t choose(const char *name, uint32_t needed)
{
    const ckpd_backend_table *found = NULL;
    int32_t status = ckpd__backend_choose(context, name, needed, &found);
    ck_assert((status == CKPD_OK) == (found != NULL));
    return status;
}

START_TEST(choosing)
{
    const uint32_t everything = CKPD_CAP_PATHS | CKPD_CAP_MILP | CKPD_CAP_SLOTWISE;
    ckpd_backend_table table = table_named("linear");
    ck_assert_int_eq(ckpd_backend_register(context, &table), CKPD_OK);
    ck_assert_int_eq(choose(NULL, CKPD_CAP_PATHS), CKPD_OK);
    ck_assert_int_eq(choose("", CKPD_CAP_LP), CKPD_OK);
    ck_assert_int_eq(choose("linear", CKPD_CAP_LP), CKPD_OK);
    refused(choose(NULL, everything), CKPD_ERR_NO_BACKEND, "backend", "integer columns");
    refused(choose("linear", CKPD_CAP_MILP), CKPD_ERR_NOT_SUPPORTED, "backend", "integer columns");
    refused(choose("native", CKPD_CAP_LP), CKPD_ERR_NOT_SUPPORTED, "backend", "linear programs");
    refused(choose("linear", CKPD_CAP_PATHS), CKPD_ERR_NOT_SUPPORTED, "backend", "path problems");
    refused(choose("linear", CKPD_CAP_SLOTWISE), CKPD_ERR_NOT_SUPPORTED, "backend", "slot-wise");
    refused(choose("linnear", CKPD_CAP_LP), CKPD_ERR_UNKNOWN_NAME, "backend", "linear");
    refused(choose("quite-other", CKPD_CAP_LP), CKPD_ERR_UNKNOWN_NAME, "backend", "known are");
}
END_TEST

/* HiGHS is looked for when it is first named. Where there is none, the name is as unknown as
 * others. */
START_TEST(highs_by_name)
{
    int32_t status = choose("highs", CKPD_CAP_LP);
    if (status == CKPD_OK) {
        ck_assert_uint_ne(ckpd_backend_capabilities(context, "highs"), 0);
    } else {
        refused(status, CKPD_ERR_UNKNOWN_NAME, "backend", "HiGHS");
    }
}
END_TEST

/* Automatic choice goes down the list of built-in backends, then those of the host. */
START_TEST(one_after_the_other)
{
    const ckpd_backend_table *at = NULL, *next = NULL;
    int32_t steps = 0;
    while (ckpd__backend_choose_paths(context, CKPD_CAP_PATHS, at, &next) == CKPD_OK) {
        ck_assert_ptr_ne(next, at);
        ck_assert_str_eq(next->name, ckpd_backend_name(context, steps));
        at = next;
        steps++;
    }
    ck_assert_int_eq(steps, ckpd_backend_count(context));
    refused(ckpd__backend_choose_paths(context, CKPD_CAP_PATHS, at, &next), CKPD_ERR_NO_BACKEND,
            "backend", "path problems");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("registry of backends");
    TCase *tests = tcase_create("registry");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, names);
    tcase_add_test(tests, capabilities);
    tcase_add_test(tests, what_is_not_there);
    tcase_add_test(tests, choosing);
    tcase_add_test(tests, highs_by_name);
    tcase_add_test(tests, one_after_the_other);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
