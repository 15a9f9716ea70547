/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* version and describe. */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* --- version
 * -------------------------------------------------------------------------------------- */

static void capability_text(uint32_t capabilities, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s%s", (capabilities & CKPD_CAP_PATHS) != 0 ? "paths " : "",
             (capabilities & CKPD_CAP_SLOTWISE) != 0 ? "slotwise " : "",
             (capabilities & CKPD_CAP_MILP) != 0 ? "milp " : "",
             (capabilities & CKPD_CAP_LP) != 0 ? "lp " : "");
    size_t length = strlen(text);
    if (length > 0) {
        text[length - 1] = '\0';
    }
}

static void version_json(const cli *tool)
{
    cli_json json = {.out = stdout};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "version", ckpd_version_string());
    cli_json_number(&json, "abi_version", ckpd_abi_version());
    cli_json_number(&json, "case_schema_version", CKPD_CASE_SCHEMA_VERSION);
    cli_json_open(&json, "backends", '[');
    for (int32_t i = 0; i < ckpd_backend_count(tool->context); i++) {
        const char *name = ckpd_backend_name(tool->context, i);
        char text[64];
        capability_text(ckpd_backend_capabilities(tool->context, name), text, sizeof text);
        cli_json_open(&json, NULL, '{');
        cli_json_text(&json, "name", name);
        cli_json_text(&json, "version", ckpd_backend_version(tool->context, name));
        cli_json_text(&json, "capabilities", text);
        cli_json_close(&json, '}');
    }
    cli_json_close(&json, ']');
    cli_json_close(&json, '}');
}

int cli_version(cli *tool, int count, char **words)
{
    const cli_option options[] = {{NULL, NULL, NULL, NULL}};
    int status = cli_parse(tool, count, words, options, "", NULL, 0, 0);
    if (status >= 0) {
        return status;
    }
    if (tool->json) {
        version_json(tool);
        return CLI_OK;
    }
    printf("ckptdispatch %s (ABI %d, case format %d)\n", ckpd_version_string(),
           (int)ckpd_abi_version(), CKPD_CASE_SCHEMA_VERSION);
    cli_table *table = cli_table_new("solver|version|solves");
    for (int32_t i = 0; i < ckpd_backend_count(tool->context); i++) {
        const char *name = ckpd_backend_name(tool->context, i);
        char text[64];
        capability_text(ckpd_backend_capabilities(tool->context, name), text, sizeof text);
        cli_table_cell(table, "%s", name);
        cli_table_cell(table, "%s", ckpd_backend_version(tool->context, name));
        cli_table_cell(table, "%s", text);
    }
    cli_table_print(table, stdout);
    return CLI_OK;
}

/* --- describe: the format
 * -------------------------------------------------------------------------- */

static void default_text(const ckpd_member_info *member, char *text, size_t size)
{
    if (member->required != 0) {
        snprintf(text, size, "required");
    } else if (isnan(member->default_value)) {
        snprintf(text, size, "-");
    } else if (isinf(member->default_value)) {
        snprintf(text, size, "unlimited");
    } else if (strcmp(member->type, "choice") == 0) {
        const char *at = member->choices;
        for (int i = 0; at != NULL && i < (int)member->default_value; i++) {
            at = strchr(at, '|');
            at = at != NULL ? at + 1 : NULL;
        }
        snprintf(text, size, "%.*s", at != NULL ? (int)strcspn(at, "|") : 0, at != NULL ? at : "");
    } else if (strcmp(member->type, "flag") == 0) {
        snprintf(text, size, "%s", member->default_value != 0 ? "true" : "false");
    } else {
        snprintf(text, size, "%.12g", member->default_value);
    }
}

static void range_text(const ckpd_member_info *member, char *text, size_t size)
{
    bool numbers = strcmp(member->type, "number") == 0 || strcmp(member->type, "integer") == 0 ||
                   strcmp(member->type, "series") == 0 || strcmp(member->type, "integers") == 0;
    text[0] = '\0';
    if (member->choices[0] != '\0') {
        snprintf(text, size, "%s", member->choices);
    } else if (numbers && isfinite(member->minimum) && isfinite(member->maximum)) {
        snprintf(text, size, "%.6g to %.6g", member->minimum, member->maximum);
    } else if (numbers && isfinite(member->minimum)) {
        snprintf(text, size, "at least %.6g", member->minimum);
    } else if (numbers && isfinite(member->maximum)) {
        snprintf(text, size, "at most %.6g", member->maximum);
    }
}

/* What there is to describe: cases or shaping cases. */
typedef struct format {
    int32_t (*count)(void);
    int32_t (*info)(int32_t index, ckpd_member_info *out);
    int32_t (*schema)(ckpd_context *context, ckpd_write_fn write, void *user);
} format;
static const format CASE_FORMAT = {ckpd_case_member_count, ckpd_case_member_info,
                                   ckpd_case_write_schema};
static const format SHAPE_FORMAT = {ckpd_shape_member_count, ckpd_shape_member_info,
                                    ckpd_shape_write_schema};

/* "site.batteries[]" is also called "batteries"; "case" is the file as a whole, NULL everything. */
static bool is_called(const char *object, const char *name)
{
    if (name == NULL || strcmp(name, object) == 0) {
        return true;
    }
    if (object[0] == '\0') {
        return strcmp(name, "case") == 0;
    }
    const char *last = strrchr(object, '.');
    last = last != NULL ? last + 1 : object;
    size_t length = strlen(name);
    return strncmp(last, name, length) == 0 &&
           (last[length] == '\0' || strcmp(last + length, "[]") == 0);
}

static void describe_members(const format *of, const char *only)
{
    const char *object = NULL;
    cli_table *table = NULL;
    for (int32_t i = 0; i < of->count(); i++) {
        ckpd_member_info member = {.size = sizeof member};
        if (of->info(i, &member) != CKPD_OK || !is_called(member.object, only)) {
            continue;
        }
        if (object == NULL || strcmp(object, member.object) != 0) {
            cli_table_print(table, stdout);
            printf("%s%s: %s\n", object != NULL ? "\n" : "",
                   member.object[0] != '\0' ? member.object : "case", member.object_doc);
            table = cli_table_new("name|type|unit|default|range|meaning");
            object = member.object;
        }
        char value[48], range[64];
        default_text(&member, value, sizeof value);
        range_text(&member, range, sizeof range);
        cli_table_cell(table, "%s", member.name);
        cli_table_cell(table, "%s", member.type);
        cli_table_cell(table, "%s", member.unit);
        cli_table_cell(table, "%s", value);
        cli_table_cell(table, "%s", range);
        cli_table_cell(table, "%s", member.doc);
    }
    cli_table_print(table, stdout);
}

/* '|' would end a cell of a Markdown table. */
static void print_cell(const char *text)
{
    for (; *text != '\0'; text++) {
        fputs(*text == '|' ? ", " : (char[]){*text, '\0'}, stdout);
    }
}

static void describe_markdown(const format *of, const char *only)
{
    const char *object = "?";
    for (int32_t i = 0; i < of->count(); i++) {
        ckpd_member_info member = {.size = sizeof member};
        if (of->info(i, &member) != CKPD_OK || !is_called(member.object, only)) {
            continue;
        }
        if (strcmp(object, member.object) != 0) {
            object = member.object;
            printf("\n### %s%s%s\n\n%s%s.\n\n| name | type | unit | default | range | meaning |\n"
                   "|---|---|---|---|---|---|\n",
                   object[0] != '\0' ? "`" : "", object[0] != '\0' ? object : "The file",
                   object[0] != '\0' ? "`" : "", object[0] != '\0' ? "" : "", member.object_doc);
        }
        char value[48], range[64];
        default_text(&member, value, sizeof value);
        range_text(&member, range, sizeof range);
        printf("| `%s` | %s | %s | %s | ", member.name, member.type, member.unit, value);
        print_cell(range);
        fputs(" | ", stdout);
        print_cell(member.doc);
        puts(" |");
    }
}

static void members_json(const format *of, const char *only)
{
    cli_json json = {.out = stdout};
    cli_json_open(&json, NULL, '[');
    for (int32_t i = 0; i < of->count(); i++) {
        ckpd_member_info member = {.size = sizeof member};
        if (of->info(i, &member) != CKPD_OK || !is_called(member.object, only)) {
            continue;
        }
        char value[48];
        default_text(&member, value, sizeof value);
        cli_json_open(&json, NULL, '{');
        cli_json_text(&json, "object", member.object);
        cli_json_text(&json, "name", member.name);
        cli_json_text(&json, "type", member.type);
        cli_json_text(&json, "unit", member.unit);
        cli_json_flag(&json, "required", member.required != 0);
        cli_json_text(&json, "default", value);
        cli_json_text(&json, "choices", member.choices);
        cli_json_number(&json, "minimum", member.minimum);
        cli_json_number(&json, "maximum", member.maximum);
        cli_json_text(&json, "doc", member.doc);
        cli_json_close(&json, '}');
    }
    cli_json_close(&json, ']');
}

/* --- describe: a case
 * ------------------------------------------------------------------------------ */

static void describe_loaded(const ckpd_case *loaded)
{
    double hours = ckpd_case_slot_hours(loaded);
    cli_put(stdout, ckpd_case_name(loaded));
    printf(" (%s)\n", ckpd_case_digest(loaded));
    if (ckpd_case_description(loaded)[0] != '\0') {
        cli_put(stdout, ckpd_case_description(loaded));
        putchar('\n');
    }
    printf("%d slots of %g h%s%s; battery: %s; hardware: %s\n", (int)ckpd_case_slots(loaded), hours,
           ckpd_case_start(loaded)[0] != '\0' ? " from " : "", ckpd_case_start(loaded),
           ckpd_case_battery(loaded) != NULL ? "yes" : "none",
           ckpd_case_hardware(loaded) != NULL ? ckpd_hardware_name(ckpd_case_hardware(loaded))
                                              : "none");
    cli_table *table = cli_table_new(
        "job|>segments|>release|>deadline|>modes|>smallest|>largest|>baseline|>hours in it");
    for (int32_t job = 0; job < ckpd_case_job_count(loaded); job++) {
        const ckpd_task *task = ckpd_case_task(loaded, job);
        const ckpd_mode_set *modes = ckpd_case_mode_set(loaded, job);
        double segments = 0, release = 0, deadline = (double)NAN;
        ckpd_task_get(task, "segments", &segments);
        ckpd_task_get(task, "release", &release);
        ckpd_task_get(task, "deadline", &deadline);
        ckpd_mode first = {.size = sizeof first}, last = {.size = sizeof last},
                  baseline = {.size = sizeof baseline};
        ckpd_workload work = {.size = sizeof work};
        bool known = ckpd_mode_set_get(modes, 0, &first) == CKPD_OK &&
                     ckpd_mode_set_get(modes, ckpd_mode_set_count(modes) - 1, &last) == CKPD_OK &&
                     ckpd_mode_set_workload(modes, &work) == CKPD_OK;
        bool has_baseline =
            known && ckpd_mode_set_get(modes, ckpd_mode_set_baseline(modes), &baseline) == CKPD_OK;
        cli_table_cell(table, "%s", ckpd_task_name(task));
        cli_table_number(table, segments, 0);
        cli_table_number(table, release, 0);
        cli_table_number(table, isnan(deadline) ? ckpd_case_slots(loaded) : deadline, 0);
        cli_table_cell(table, "%d", (int)ckpd_mode_set_count(modes));
        cli_table_cell(table, "%d", (int)first.gpus);
        cli_table_cell(table, "%d", (int)last.gpus);
        cli_table_cell(table, "%d", has_baseline ? (int)baseline.gpus : 0);
        cli_table_number(table, work.baseline_hours, 2);
    }
    cli_table_print(table, stdout);
}

static int describe_case(cli *tool, const char *path)
{
    ckpd_case *loaded = NULL;
    int status = cli_open_case(tool, path, &loaded, NULL);
    if (status >= 0) {
        return status;
    }
    int32_t written = CKPD_OK;
    if (tool->json) {
        written = ckpd_case_write(loaded, cli_write, stdout);
    } else {
        describe_loaded(loaded);
    }
    ckpd_case_free(loaded);
    return written == CKPD_OK ? CLI_OK : cli_failed(tool, written);
}

/* Neither an object nor a file: the names of the objects are what is wanted then. */
static int unknown_object(const cli *tool, const format *of, const char *name)
{
    char names[1024] = "", last[128] = "";
    for (int32_t i = 0; i < of->count(); i++) {
        ckpd_member_info member = {.size = sizeof member};
        size_t used = strlen(names);
        if (of->info(i, &member) == CKPD_OK && strcmp(member.object, last) != 0) {
            snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "",
                     member.object);
            snprintf(last, sizeof last, "%s", member.object);
        }
    }
    return cli_usage(tool, "'%s' is neither a file nor an object of the format; objects are %s",
                     name, names);
}

static bool is_object(const format *of, const char *name)
{
    for (int32_t i = 0; i < of->count(); i++) {
        ckpd_member_info member = {.size = sizeof member};
        if (of->info(i, &member) == CKPD_OK && is_called(member.object, name)) {
            return true;
        }
    }
    return false;
}

int cli_describe(cli *tool, int count, char **words)
{
    const char *what = NULL, *schema = NULL, *markdown = NULL, *shape = NULL;
    const cli_option options[] = {
        {"--schema", NULL, "the format as a JSON Schema document", &schema},
        {"--markdown", NULL, "the format as tables for documentation", &markdown},
        {"--shape", NULL, "the format of shaping cases instead", &shape},
        {NULL, NULL, NULL, NULL}};
    int status = cli_parse(tool, count, words, options, "[OBJECT|CASE]", &what, 0, 1);
    if (status >= 0) {
        return status;
    }
    const format *of = shape != NULL ? &SHAPE_FORMAT : &CASE_FORMAT;
    if (schema != NULL) {
        int32_t written = of->schema(tool->context, cli_write, stdout);
        return written == CKPD_OK ? CLI_OK : cli_failed(tool, written);
    }
    if (what != NULL && !is_object(of, what)) {
        return shape == NULL && access(what, F_OK) == 0 ? describe_case(tool, what)
                                                        : unknown_object(tool, of, what);
    }
    if (tool->json) {
        members_json(of, what);
    } else if (markdown != NULL) {
        describe_markdown(of, what);
    } else {
        describe_members(of, what);
    }
    return CLI_OK;
}
