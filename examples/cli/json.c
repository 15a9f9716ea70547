/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "cli.h"

#include <math.h>
#include <stdlib.h>

static void put_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (const char *c = text; *c != '\0'; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte == '"' || byte == '\\') {
            fprintf(out, "\\%c", *c);
        } else if (byte < 0x20 || byte == 0x7f) {
            fprintf(out, "\\u%04x", byte);
        } else {
            fputc(*c, out);
        }
    }
    fputc('"', out);
}

static void lead(cli_json *json, const char *key)
{
    if (json->depth > 0) {
        fputs(json->inside[json->depth] ? ",\n" : "\n", json->out);
        json->inside[json->depth] = true;
        fprintf(json->out, "%*s", 2 * json->depth, "");
    }
    if (key != NULL) {
        put_text(json->out, key);
        fputs(": ", json->out);
    }
}

void cli_json_open(cli_json *json, const char *key, char bracket)
{
    lead(json, key);
    fputc(bracket, json->out);
    json->inside[++json->depth] = false;
}

void cli_json_close(cli_json *json, char bracket)
{
    bool lines = json->inside[json->depth--];
    if (lines) {
        fprintf(json->out, "\n%*s", 2 * json->depth, "");
    }
    fputc(bracket, json->out);
    if (json->depth == 0) {
        fputc('\n', json->out);
    }
}

void cli_json_text(cli_json *json, const char *key, const char *text)
{
    lead(json, key);
    put_text(json->out, text);
}

void cli_json_number(cli_json *json, const char *key, double value)
{
    lead(json, key);
    if (!isfinite(value)) {
        fputs("null", json->out);
        return;
    }
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value == 0 ? 0.0 : value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    fputs(text, json->out);
}

void cli_json_flag(cli_json *json, const char *key, bool value)
{
    lead(json, key);
    fputs(value ? "true" : "false", json->out);
}
