/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "cli.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 24, CELL_BYTES = 200 };

struct cli_table {
    int columns, cells, room;
    bool right[MOST_COLUMNS];
    char (*cell)[CELL_BYTES]; /* the header is the first row */
};

static void add_cell(cli_table *table, const char *text)
{
    if (table->cells == table->room) {
        int room = table->room * 2 + 64;
        void *larger = realloc(table->cell, (size_t)room * sizeof *table->cell);
        if (larger == NULL) {
            return; /* the table ends here: it is for people to look at */
        }
        table->cell = larger;
        table->room = room;
    }
    char *cell = table->cell[table->cells++];
    snprintf(cell, CELL_BYTES, "%s", text);
    for (char *c = cell; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            *c = ' ';
        }
    }
}

cli_table *cli_table_new(const char *columns)
{
    cli_table *table = calloc(1, sizeof *table);
    if (table == NULL) {
        return NULL;
    }
    for (const char *at = columns; at != NULL && table->columns < MOST_COLUMNS;) {
        char name[CELL_BYTES];
        size_t length = strcspn(at, "|");
        bool right = at[0] == '>';
        snprintf(name, sizeof name, "%.*s", (int)(length - right), at + right);
        table->right[table->columns++] = right;
        add_cell(table, name);
        at = at[length] == '|' ? at + length + 1 : NULL;
    }
    return table;
}

void cli_table_cell(cli_table *table, const char *format, ...)
{
    char text[CELL_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (table != NULL) {
        add_cell(table, text);
    }
}

void cli_table_number(cli_table *table, double value, int digits)
{
    if (isfinite(value)) {
        /* "-0.000" says nothing that "0.000" does not. */
        double scale = pow(10, digits), rounded = round(value * scale) / scale;
        cli_table_cell(table, "%.*f", digits, rounded == 0 ? 0.0 : rounded);
    } else {
        cli_table_cell(table, "-");
    }
}

/* Characters, not bytes: continuation bytes of UTF-8 take no room. */
static int width_of(const char *text)
{
    int width = 0;
    for (; *text != '\0'; text++) {
        width += ((unsigned char)*text & 0xC0) != 0x80;
    }
    return width;
}

static void print_row(const cli_table *table, int row, const int *widths, FILE *out)
{
    for (int c = 0; c < table->columns && row * table->columns + c < table->cells; c++) {
        const char *text = table->cell[row * table->columns + c];
        int padding = widths[c] - width_of(text);
        bool last = c + 1 == table->columns;
        fprintf(out, "%s%*s%s%*s", c > 0 ? "  " : "", table->right[c] ? padding : 0, "", text,
                table->right[c] || last ? 0 : padding, "");
    }
    fputc('\n', out);
}

void cli_table_print(cli_table *table, FILE *out)
{
    if (table == NULL) {
        return;
    }
    int widths[MOST_COLUMNS] = {0}, total = 2 * (table->columns - 1);
    for (int i = 0; i < table->cells; i++) {
        int width = width_of(table->cell[i]), column = i % table->columns;
        widths[column] = width > widths[column] ? width : widths[column];
    }
    for (int c = 0; c < table->columns; c++) {
        total += widths[c];
    }
    int rows = table->columns > 0 ? (table->cells + table->columns - 1) / table->columns : 0;
    for (int row = 0; out != NULL && row < rows; row++) {
        print_row(table, row, widths, out);
        for (int i = 0; row == 0 && i < total; i++) {
            fputc('-', out);
        }
        if (row == 0) {
            fputc('\n', out);
        }
    }
    free(table->cell);
    free(table);
}

/* --- HTML
 * -------------------------------------------------------------------------------------------- */

void cli_put_html(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc((unsigned char)*text < 0x20 ? ' ' : *text, out);
        }
    }
}

void cli_table_print_html(cli_table *table, FILE *out)
{
    if (table == NULL) {
        return;
    }
    fputs("<table>\n", out);
    for (int i = 0; i < table->cells; i++) {
        int column = i % table->columns;
        bool head = i < table->columns;
        fputs(column == 0 ? "<tr>" : "", out);
        fprintf(out, "<%s%s>", head ? "th" : "td", table->right[column] ? " class=\"n\"" : "");
        cli_put_html(out, table->cell[i]);
        fputs(head ? "</th>" : "</td>", out);
        fputs(column + 1 == table->columns ? "</tr>\n" : "", out);
    }
    fputs("</table>\n", out);
    cli_table_print(table, NULL);
}
