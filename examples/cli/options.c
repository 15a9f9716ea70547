/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void print_option(const char *name, const char *value, const char *help)
{
    char left[48];
    snprintf(left, sizeof left, "%s%s%s", name, value != NULL ? " " : "",
             value != NULL ? value : "");
    printf("  %-22s %s\n", left, help);
}

static int print_help(const cli *tool, const cli_option *options, const char *arguments)
{
    printf("Usage: ckptdispatch %s%s%s [options]\n\n", tool->command,
           arguments[0] != '\0' ? " " : "", arguments);
    for (const cli_option *o = options; o->name != NULL; o++) {
        print_option(o->name, o->value, o->help);
    }
    print_option("--json", NULL, "write JSON for programs instead of text");
    print_option("--help", NULL, "show this");
    return CLI_OK;
}

/* An option and, unless it is a flag, its value; `used` gets the number of words. */
static int take_option(const cli *tool, int count, char **words, const cli_option *options,
                       int *used)
{
    const char *equals = strchr(words[0], '=');
    size_t length = equals != NULL ? (size_t)(equals - words[0]) : strlen(words[0]);
    for (const cli_option *o = options; o->name != NULL; o++) {
        if (strlen(o->name) != length || strncmp(o->name, words[0], length) != 0) {
            continue;
        }
        *used = 1;
        if (o->value == NULL) {
            *o->text = o->name;
            return equals == NULL ? -1 : cli_usage(tool, "%s takes no value", o->name);
        }
        if (equals != NULL) {
            *o->text = equals + 1;
            return -1;
        }
        if (count < 2) {
            return cli_usage(tool, "%s needs a value: %s", o->name, o->value);
        }
        *o->text = words[1];
        *used = 2;
        return -1;
    }
    return cli_usage(tool, "unknown option '%s'; `ckptdispatch %s --help` lists them", words[0],
                     tool->command);
}

int cli_parse(cli *tool, int count, char **words, const cli_option *options, const char *arguments,
              const char **positional, int least, int most)
{
    int found = 0;
    bool only_positional = false;
    for (int i = 0, used = 1; i < count; i += used, used = 1) {
        if (!only_positional && strcmp(words[i], "--help") == 0) {
            return print_help(tool, options, arguments);
        }
        if (!only_positional && strcmp(words[i], "--json") == 0) {
            tool->json = true;
        } else if (!only_positional && strcmp(words[i], "--") == 0) {
            only_positional = true;
        } else if (!only_positional && words[i][0] == '-' && words[i][1] != '\0') {
            int status = take_option(tool, count - i, words + i, options, &used);
            if (status >= 0) {
                return status;
            }
        } else if (found < most) {
            positional[found++] = words[i];
        } else {
            return cli_usage(tool, "'%s' is one argument too many", words[i]);
        }
    }
    if (found < least) {
        return cli_usage(tool, "needs %s; see `ckptdispatch %s --help`", arguments, tool->command);
    }
    return -1;
}

bool cli_number(const cli *tool, const char *option, const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(*value)) {
        cli_usage(tool, "%s: '%s' is not a number", option, text);
        return false;
    }
    return true;
}

int cli_scenario(const cli *tool, const char *option, const char *text)
{
    if ((text[0] == 'S' || text[0] == 's') && text[1] >= '1' && text[1] <= '6' && text[2] == '\0') {
        return text[1] - '0';
    }
    cli_usage(tool, "%s: '%s' is not one of S1, S2, S3, S4, S5, S6", option, text);
    return 0;
}
