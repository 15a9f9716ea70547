/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "cli.h"

#include <stdarg.h>

int cli_usage(const cli *tool, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "ckptdispatch %s: ", tool->command);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return CLI_BAD_INPUT;
}

void cli_clear_progress(cli *tool)
{
    if (tool->progress_shown) {
        fputs("\r\033[K", stderr);
        tool->progress_shown = false;
    }
}

void cli_put(FILE *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        fputc((unsigned char)*c < 0x20 || *c == 0x7f ? ' ' : *c, out);
    }
}

int cli_failed(cli *tool, int32_t status)
{
    const char *message = ckpd_context_last_message(tool->context);
    cli_clear_progress(tool);
    fputs("ckptdispatch: ", stderr);
    cli_put(stderr, message[0] != '\0' ? message : ckpd_strerror(status));
    fputc('\n', stderr);
    switch (status) {
    case CKPD_ERR_NO_MEMORY:
    case CKPD_ERR_BACKEND:
    case CKPD_ERR_VERIFY:
    case CKPD_ERR_INTERNAL:
    case CKPD_ERR_CALLBACK:
    case CKPD_ERR_STRUCT_SIZE:
        return CLI_INTERNAL;
    default:
        return CLI_BAD_INPUT;
    }
}

int32_t cli_write(const char *text, size_t length, void *file)
{
    return fwrite(text, 1, length, file) == length ? 0 : 1;
}
