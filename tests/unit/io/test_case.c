/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Case files: what is read is what the file says; writing is stable; refusals name the place. */
#include "io/members.h"
#include "support/support.h"

#include <ckptdispatch/io.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const EXAMPLES[] = {
    "aidc2048", "aidc2048-golden", "aidc2048-steep", "j4-a", "j4-b", "j8", "j20"};

static const char SMALL[] =
    "{\"schema\": \"ckptdispatch-case\", \"schema_version\": 1, \"name\": \"J\xc3\xb6"
    "b\\n1\","
    " \"horizon\": {\"slots\": 4, \"slot_minutes\": 15, \"start\": \"2026-03-29T00:00+01:00\"},"
    " \"site\": {\"import_price_per_mwh\": [20, -60, 20, 60], \"wind_kw\": [0, 5, 5, 0.1], "
    "\"gpu_cap\": 64,"
    "  \"site_cap_kw\": [\"unlimited\", 9, 9, \"unlimited\"], \"import_cap_kw\": \"unlimited\","
    "  \"cost_curves\": [{\"argument\": \"net_load\", \"slot\": 2, \"points\": [[0, 0], [10, 1], "
    "[20, 3]]}],"
    "  \"batteries\": [{\"energy_kwh\": 20, \"charge_kw\": 10, \"discharge_kw\": 10, "
    "\"eta_charge\": 0.9,"
    "   \"eta_discharge\": 0.9, \"soc_start_kwh\": 10, \"terminal\": \"at_least\", "
    "\"recover_soc\": true}]},"
    " \"mode_rules\": {\"installed_gpus\": 64, \"keep_dominated\": true},"
    " \"jobs\": [{\"name\": \"A\", \"task\": {\"segments\": 2, \"baseline_gpus\": 8,"
    "   \"tranche_baseline_hours\": 0.5, \"release\": 1, \"deadline\": 4}, \"transitions\": "
    "\"none\","
    "   \"forbidden_transitions\": [[\"small\", \"small\"]], \"modes\": ["
    "   {\"gpus\": 8, \"rate_per_s\": 1, \"power_kw\": 4, \"label\": \"small\"},"
    "   {\"gpus\": 16, \"rate_per_s\": 1.9, \"power_kw\": 8, \"label\": \"large\"}]}],"
    " \"graph\": {\"checkpoint_save_share\": 0.01, \"reduce\": false},"
    " \"solve\": {\"backend\": \"enumerate\", \"relative_gap\": 0.001}}";

static ckpd_context *context;

static void setup(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
}

static void teardown(void)
{
    ckpd_context_free(context);
}

typedef struct sink {
    char *text;
    size_t used;
} sink;

static int32_t take(const char *text, size_t length, void *user)
{
    sink *to = user;
    to->text = realloc(to->text, to->used + length + 1);
    ck_assert_ptr_nonnull(to->text);
    memcpy(to->text + to->used, text, length);
    to->used += length;
    to->text[to->used] = '\0';
    return 0;
}

static ckpd_case *parse(const char *text)
{
    ckpd_case *loaded = NULL;
    int32_t status = ckpd_case_parse(&loaded, context, text, strlen(text), NULL);
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(context));
    return loaded;
}

static ckpd_case *load(const char *name)
{
    char path[200];
    ckpd_case *loaded = NULL;
    snprintf(path, sizeof path, "examples/cases/%s.json", name);
    int32_t status = ckpd_case_load(&loaded, context, test_src_path(path));
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(context));
    return loaded;
}

static char *written(const ckpd_case *loaded)
{
    sink to = {NULL, 0};
    ck_assert_int_eq(ckpd_case_write(loaded, take, &to), CKPD_OK);
    return to.text;
}

START_TEST(small_case_is_read)
{
    ckpd_case *loaded = parse(SMALL);
    double values[4], value;
    ck_assert_str_eq(ckpd_case_name(loaded), "J\xc3\xb6"
                                             "b\n1");
    ck_assert_str_eq(ckpd_case_description(loaded), "");
    ck_assert_str_eq(ckpd_case_start(loaded), "2026-03-29T00:00+01:00");
    ck_assert_int_eq(ckpd_case_slots(loaded), 4);
    ck_assert_double_eq(ckpd_case_slot_hours(loaded), 0.25);
    const ckpd_site *site = ckpd_case_site(loaded);
    ck_assert_int_eq(ckpd_site_get_series(site, "import_price_per_mwh", values, 4), CKPD_OK);
    ck_assert_double_eq(values[1], -60);
    ck_assert_int_eq(ckpd_site_get_series(site, "site_cap_kw", values, 4), CKPD_OK);
    ck_assert(isinf(values[0]) && values[1] == 9);
    ck_assert_int_eq(ckpd_battery_get(ckpd_case_battery(loaded), "terminal", &value), CKPD_OK);
    ck_assert_double_eq(value, 1);
    ck_assert_ptr_null(ckpd_case_hardware(loaded));
    ck_assert_int_eq(ckpd_case_job_count(loaded), 1);
    ck_assert_str_eq(ckpd_task_name(ckpd_case_task(loaded, 0)), "A");
    ck_assert_int_eq(ckpd_task_get(ckpd_case_task(loaded, 0), "release", &value), CKPD_OK);
    ck_assert_double_eq(value, 1);
    const ckpd_mode_set *modes = ckpd_case_mode_set(loaded, 0);
    ck_assert_int_eq(ckpd_mode_set_count(modes), 2);
    ck_assert_str_eq(ckpd_mode_set_label(modes, 1), "large");
    /* half an hour of the baseline, which does 1 a second */
    ck_assert_double_eq_tol(ckpd_mode_set_work(modes), 1800, 1e-9);
    ck_assert_ptr_null(ckpd_case_task(loaded, 1));
    ck_assert_ptr_null(ckpd_case_mode_set(loaded, -1));
    ckpd_case_free(loaded);
}
END_TEST

START_TEST(written_again_the_same)
{
    ckpd_case *first = parse(SMALL);
    char *once = written(first);
    ckpd_case *second = parse(once);
    char *twice = written(second);
    ck_assert_str_eq(once, twice);
    ck_assert_str_eq(ckpd_case_digest(first), ckpd_case_digest(second));
    /* nothing that was given got lost on the way */
    static const char *const PARTS[] = {"\"unlimited\", 9",
                                        "net_load",
                                        "\"slot\": 2",
                                        "\"recover_soc\": true",
                                        "\"terminal\": \"at_least\"",
                                        "\"transitions\": \"none\"",
                                        "[\"small\", \"small\"]",
                                        "\"reduce\": false",
                                        "\"label\": \"large\"",
                                        "\"backend\": \"enumerate\"",
                                        "0.001",
                                        "-60",
                                        "\"deadline\": 4"};
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++) {
        ck_assert_msg(strstr(once, PARTS[i]) != NULL, "%s is not in\n%s", PARTS[i], once);
    }
    /* a default was given as such: it is left out */
    ck_assert_ptr_null(strstr(once, "import_cap_kw"));
    free(once);
    free(twice);
    ckpd_case_free(first);
    ckpd_case_free(second);
}
END_TEST

/* The committed examples are in canonical form: reading and writing gives the file's own bytes. */
START_TEST(examples_are_canonical)
{
    for (size_t i = 0; i < sizeof EXAMPLES / sizeof EXAMPLES[0]; i++) {
        char path[200];
        snprintf(path, sizeof path, "examples/cases/%s.json", EXAMPLES[i]);
        char *file = test_read_file(test_src_path(path), NULL);
        ckpd_case *loaded = load(EXAMPLES[i]);
        char *text = written(loaded);
        ck_assert_msg(strcmp(file, text) == 0, "%s is not as it would be written", EXAMPLES[i]);
        ckpd_case_free(loaded);
        free(file);
        free(text);
    }
}
END_TEST

/* FNV-1a, 64 bits, of "a" and of "foobar" as published by its authors; the digest hashes the
 * canonical text. */
START_TEST(digest_says_what_decides)
{
    ckpd_case *loaded = parse(SMALL);
    char digest[32];
    snprintf(digest, sizeof digest, "%s", ckpd_case_digest(loaded));
    ckpd_case_free(loaded);
    ck_assert_uint_eq(strlen(digest), 24);
    ck_assert_int_eq(strncmp(digest, "fnv1a64:", 8), 0);
    static const struct {
        const char *old, *new;
        bool same;
    } CHANGES[] = {{"\"name\": \"J\xc3\xb6", "\"name\": \"K\xc3\xb6", true},
                   {"\"relative_gap\": 0.001", "\"relative_gap\": 0.002", true},
                   {"\"wind_kw\": [0, 5", "\"wind_kw\":[0.0,5.0", true},
                   {"\"gpu_cap\": 64", "\"gpu_cap\": [64, 64, 64, 64]", true},
                   {"\"gpu_cap\": 64", "\"gpu_cap\": 63", false},
                   {"[20, -60", "[20, -60.000000001", false},
                   {"\"segments\": 2", "\"segments\": 3", false},
                   {"\"power_kw\": 8", "\"power_kw\": 9", false},
                   {"\"reduce\": false", "\"reduce\": true", false},
                   {"[20, 3]]", "[20, 4]]", false},
                   {"\"none\"", "\"any\"", false},
                   {"\"soc_start_kwh\": 10", "\"soc_start_kwh\": 11", false}};
    for (size_t i = 0; i < sizeof CHANGES / sizeof CHANGES[0]; i++) {
        char text[sizeof SMALL + 64];
        const char *at = strstr(SMALL, CHANGES[i].old);
        ck_assert_ptr_nonnull(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - SMALL), SMALL, CHANGES[i].new,
                 at + strlen(CHANGES[i].old));
        ckpd_case *changed = parse(text);
        ck_assert_msg((strcmp(digest, ckpd_case_digest(changed)) == 0) == CHANGES[i].same, "%s",
                      CHANGES[i].new);
        ckpd_case_free(changed);
    }
}
END_TEST

START_TEST(published_figures)
{
    ckpd_case *loaded = load("aidc2048");
    ckpd_published figure = {.size = sizeof figure};
    bool seen = false;
    for (int32_t i = 0; i < ckpd_case_published_count(loaded); i++) {
        ck_assert_int_eq(ckpd_case_published_get(loaded, i, &figure), CKPD_OK);
        if (figure.scenario == CKPD_SCENARIO_S1 && strcmp(figure.figure, "curtailment_mwh") == 0) {
            ck_assert_double_eq(figure.value, 1.077);
            seen = true;
        }
    }
    ck_assert(seen);
    ck_assert_int_eq(ckpd_case_published_get(loaded, 999, &figure), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_case_published_get(loaded, -1, &figure), CKPD_ERR_RANGE);
    ckpd_case_free(loaded);
}
END_TEST

/* Counts published for the case; the settings in the file are those of docs/model.md, section 8. */
START_TEST(descriptor_case_counts)
{
    ckpd_case *loaded = load("aidc2048");
    ck_assert_int_eq(ckpd_mode_set_feasible_count(ckpd_case_mode_set(loaded, 0)), 135);
    ck_assert_int_eq(ckpd_mode_set_feasible_count(ckpd_case_mode_set(loaded, 1)), 111);
    ckpd_case_free(loaded);
}
END_TEST

START_TEST(a_jobs_own_rules)
{
    char text[sizeof SMALL + 200];
    const char *at = strstr(SMALL, "\"transitions\"");
    snprintf(text, sizeof text, "%.*s\"mode_rules\": {\"installed_gpus\": 8}, %s",
             (int)(at - SMALL), SMALL, at);
    ckpd_case *loaded = NULL;
    ck_assert_int_eq(ckpd_case_parse(&loaded, context, text, strlen(text), NULL), CKPD_ERR_RANGE);
    ck_assert_ptr_nonnull(strstr(ckpd_context_last_message(context), "jobs[0]"));
    snprintf(text, sizeof text, "%.*s\"mode_rules\": {\"installed_gpus\": 16, \"tp\": [2]}, %s",
             (int)(at - SMALL), SMALL, at);
    loaded = parse(text);
    char *once = written(loaded);
    ck_assert_ptr_nonnull(strstr(once, "\"tp\": [2]"));
    ckpd_case *again = parse(once);
    char *twice = written(again);
    ck_assert_str_eq(once, twice);
    free(once);
    free(twice);
    ckpd_case_free(loaded);
    ckpd_case_free(again);
}
END_TEST

/* The error's field is the path of the place, for programs that mark it in an editor. */
START_TEST(error_field_is_the_path)
{
    const char *at = strstr(SMALL, "\"segments\": 2");
    char text[sizeof SMALL + 64];
    snprintf(text, sizeof text, "%.*s\"layrs\": 3, %s", (int)(at - SMALL), SMALL, at);
    ckpd_case *loaded = NULL;
    ck_assert_int_eq(ckpd_case_parse(&loaded, context, text, strlen(text), NULL),
                     CKPD_ERR_UNKNOWN_NAME);
    ckpd_error error = {.size = sizeof error};
    ck_assert_int_eq(ckpd_context_last_error(context, &error), CKPD_OK);
    ck_assert_str_eq(error.field, "jobs[0].task.layrs");
    ck_assert_ptr_null(loaded);
    snprintf(text, sizeof text, "%s", SMALL);
    memcpy(strstr(text, "-60"), "-9e", 3);
    memcpy(strstr(text, "-9e, 20"), "-9e9,20", 7);
    ck_assert_int_eq(ckpd_case_parse(&loaded, context, text, strlen(text), NULL), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_context_last_error(context, &error), CKPD_OK);
    ck_assert_str_eq(error.field, "site.import_price_per_mwh");
    ck_assert_int_eq(error.index, 1);
    ck_assert_double_eq(error.value, -9e9);
}
END_TEST

START_TEST(null_arguments)
{
    ckpd_case *loaded = NULL;
    ck_assert_int_eq(ckpd_case_parse(NULL, context, "", 0, NULL), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_case_parse(&loaded, NULL, "", 0, NULL), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_case_parse(&loaded, context, NULL, 0, NULL), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_case_load(&loaded, context, NULL), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_case_load(&loaded, context, "/does/not/exist.json"), CKPD_ERR_FILE);
    ck_assert_int_eq(ckpd_case_load(&loaded, context, "/"), CKPD_ERR_FILE);
    ck_assert_ptr_null(loaded);
    ckpd_case_free(NULL);
    ck_assert_int_eq(ckpd_case_write(NULL, take, NULL), CKPD_ERR_ARGUMENT);
    ck_assert_str_eq(ckpd_case_name(NULL), "");
}
END_TEST

/* --- description
 * ------------------------------------------------------------------------------------ */

/* Each list of the mode rules is known to the format, and nothing else is called a list there. */
START_TEST(rule_lists_are_described)
{
    const ckpd__object *rules = &ckpd__objects[CKPD__AT_RULES];
    ck_assert_int_eq(rules->count, ckpd_mode_rules_list_count());
    for (int32_t i = 0; i < ckpd_mode_rules_list_count(); i++) {
        ckpd__member member;
        ck_assert(ckpd__member_find(rules, ckpd_mode_rules_list_name(i), &member));
        ck_assert(member.type == CKPD__MEMBER_INTEGERS || member.type == CKPD__MEMBER_CHOICES);
    }
}
END_TEST

START_TEST(members_are_complete)
{
    int32_t count = ckpd_case_member_count(), fields = 0;
    for (int32_t i = 0; i < count; i++) {
        ckpd_member_info member = {.size = sizeof member};
        ck_assert_int_eq(ckpd_case_member_info(i, &member), CKPD_OK);
        ck_assert_msg(member.doc[0] != '\0', "%s.%s has no text", member.object, member.name);
        fields += strcmp(member.object, "jobs[].task") == 0;
    }
    ck_assert_int_eq(fields, ckpd_task_field_count() + 2); /* and model, reference */
    ckpd_member_info member = {.size = sizeof member};
    ck_assert_int_eq(ckpd_case_member_info(count, &member), CKPD_ERR_RANGE);
    ck_assert_int_eq(ckpd_case_member_info(-1, &member), CKPD_ERR_ARGUMENT);
    ck_assert_int_eq(ckpd_case_member_info(0, NULL), CKPD_ERR_ARGUMENT);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("case");
    TCase *tc = tcase_create("case");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, small_case_is_read);
    tcase_add_test(tc, written_again_the_same);
    tcase_add_test(tc, examples_are_canonical);
    tcase_add_test(tc, digest_says_what_decides);
    tcase_add_test(tc, published_figures);
    tcase_add_test(tc, descriptor_case_counts);
    tcase_add_test(tc, a_jobs_own_rules);
    tcase_add_test(tc, error_field_is_the_path);
    tcase_add_test(tc, null_arguments);
    tcase_add_test(tc, rule_lists_are_described);
    tcase_add_test(tc, members_are_complete);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
