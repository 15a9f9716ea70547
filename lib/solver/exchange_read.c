/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/exchange.h"

#include <math.h>
#include <string.h>

enum { MOST_WORDS = 8 };

typedef struct word {
    const char *text;
    size_t length;
} word;

typedef struct reader {
    ckpd_context *context;
    const ckpd_milp_view *view;
    const ckpd__milp_names *names;
    const char *at, *end;
    int64_t line;
    word words[MOST_WORDS];
    int32_t count; /* words of the current line */
    /* Columns by name: open addressing, entry = column + 1. */
    int32_t *table;
    size_t slots;
    uint8_t *given;
    double *x;
    ckpd__foreign_solution *said;
} reader;

/* --- lines and words -------------------------------------------------------------------------- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next line that is not blank, split into words (the first eight); false at the end. */
static bool next_line(reader *r)
{
    do {
        if (r->at == r->end) {
            return false;
        }
        r->line++;
        r->count = 0;
        while (r->at < r->end && *r->at != '\n') {
            if (is_space(*r->at)) {
                r->at++;
                continue;
            }
            const char *from = r->at;
            while (r->at < r->end && *r->at != '\n' && !is_space(*r->at)) {
                r->at++;
            }
            if (r->count < MOST_WORDS) {
                r->words[r->count++] = (word){from, (size_t)(r->at - from)};
            }
        }
        r->at += r->at < r->end;
    } while (r->count == 0);
    return true;
}

static bool is(const reader *r, int32_t i, const char *text)
{
    return i < r->count && r->words[i].length == strlen(text) &&
           memcmp(r->words[i].text, text, r->words[i].length) == 0;
}

static int32_t syntax(const reader *r, const char *what)
{
    return ckpd__fail(r->context, CKPD_ERR_SYNTAX, "solution", r->line, NAN, "line %L: %s", r->line,
                      what);
}

static int32_t number(const reader *r, int32_t i, double *value)
{
    if (i < r->count && ckpd__parse_double(r->words[i].text, r->words[i].length, value)) {
        return CKPD_OK;
    }
    return syntax(r, "a number is missing or malformed");
}

/* --- columns by name -------------------------------------------------------------------------- */

static size_t hash(const char *text, size_t length)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < length; i++) {
        h = (h ^ (uint8_t)text[i]) * 1099511628211u;
    }
    return (size_t)(h ^ (h >> 32));
}

static int32_t make_table(reader *r)
{
    size_t columns = (size_t)r->view->columns;
    for (r->slots = 16; r->slots < 2 * columns; r->slots *= 2) {
    }
    r->table = ckpd__calloc(r->context, r->slots, sizeof(int32_t));
    r->given = ckpd__calloc(r->context, columns, 1);
    if (r->table == NULL || r->given == NULL) {
        return ckpd__no_memory(r->context);
    }
    for (int32_t j = 0; j < r->view->columns; j++) {
        char name[CKPD__NAME_LENGTH];
        r->names->column(r->names->user, j, name);
        size_t at = hash(name, strlen(name)) & (r->slots - 1);
        while (r->table[at] != 0) {
            at = (at + 1) & (r->slots - 1);
        }
        r->table[at] = j + 1;
    }
    return CKPD_OK;
}

static int32_t find(const reader *r, word w)
{
    size_t at = hash(w.text, w.length) & (r->slots - 1);
    for (; r->table[at] != 0; at = (at + 1) & (r->slots - 1)) {
        char name[CKPD__NAME_LENGTH];
        r->names->column(r->names->user, r->table[at] - 1, name);
        if (strlen(name) == w.length && memcmp(name, w.text, w.length) == 0) {
            return r->table[at] - 1;
        }
    }
    return -1;
}

static int32_t assign(reader *r, int32_t j, double value)
{
    if (r->given[j]) {
        return syntax(r, "a column has a second value");
    }
    r->given[j] = 1;
    r->x[j] = value;
    r->said->assigned++;
    return CKPD_OK;
}

static int32_t assign_named(reader *r, int32_t name, int32_t value)
{
    double v;
    int32_t j = name < r->count ? find(r, r->words[name]) : -1;
    if (j < 0 && is(r, name, "constant")) { /* carries the constant of the objective */
        return CKPD_OK;
    }
    if (j < 0) {
        char text[CKPD__NAME_LENGTH];
        size_t length = name < r->count ? r->words[name].length : 0;
        length = length < sizeof text ? length : sizeof text - 1;
        memcpy(text, length > 0 ? r->words[name].text : "", length);
        text[length] = '\0';
        return ckpd__fail(r->context, CKPD_ERR_UNKNOWN_NAME, "solution", r->line, NAN,
                          "line %L: the model has no column \"%s\"", r->line, text);
    }
    int32_t status = number(r, value, &v);
    return status == CKPD_OK ? assign(r, j, v) : status;
}

/* --- the formats ------------------------------------------------------------------------------ */

/* First line "Optimal - objective value 1.5", then "3 name 1 0" with "**" before broken ones. */
static int32_t read_cbc(reader *r)
{
    r->said->format = "cbc";
    r->said->claims_optimal = is(r, 0, "Optimal");
    r->said->claims_none = is(r, 0, "Infeasible") || is(r, 1, "infeasible");
    for (int32_t i = 0; i + 1 < r->count; i++) {
        if (is(r, i, "value")) {
            ckpd__parse_double(r->words[i + 1].text, r->words[i + 1].length, &r->said->objective);
        }
    }
    while (next_line(r)) {
        int32_t first = is(r, 0, "**");
        int32_t status = assign_named(r, first + 1, first + 2);
        if (status != CKPD_OK) {
            return status;
        }
    }
    return CKPD_OK;
}

/* "Model status", its value, "# Primal solution values", "Objective v", "# Columns n", "name
 * value". */
static int32_t read_highs(reader *r)
{
    bool in_columns = false;
    r->said->format = "highs";
    if (!next_line(r)) {
        return syntax(r, "the model status is missing");
    }
    r->said->claims_optimal = is(r, 0, "Optimal");
    r->said->claims_none = is(r, 0, "Infeasible");
    while (next_line(r)) {
        if (is(r, 0, "#")) {
            if (is(r, 1, "Rows") || is(r, 1, "Dual")) {
                break;
            }
            in_columns = is(r, 1, "Columns");
        } else if (in_columns) {
            int32_t status = assign_named(r, 0, 1);
            if (status != CKPD_OK) {
                return status;
            }
        } else if (is(r, 0, "Objective")) {
            int32_t status = number(r, 1, &r->said->objective);
            if (status != CKPD_OK) {
                return status;
            }
        }
    }
    return CKPD_OK;
}

/* glpsol -w: "s mip rows columns status objective", then "j column value"; columns in written
 * order. */
static int32_t read_glpk(reader *r)
{
    r->said->format = "glpk";
    do {
        int32_t status = CKPD_OK;
        double column, value;
        if (is(r, 0, "s")) {
            r->said->claims_optimal = is(r, 4, "o") || is(r, 5, "f");
            r->said->claims_none = is(r, 4, "n") || is(r, 4, "i") || is(r, 4, "u");
            status = number(r, r->count - 1, &r->said->objective);
        } else if (is(r, 0, "j")) {
            status = number(r, 1, &column);
            /* "j k value" of a MIP, "j k value" of an interior point, "j k status value dual" of an
             * LP */
            int32_t at = r->count == 5 ? 3 : 2;
            status = status == CKPD_OK ? number(r, at, &value) : status;
            if (status == CKPD_OK && column == r->view->columns + 1.0) {
                continue; /* the constant */
            }
            if (status == CKPD_OK && !(column >= 1 && column <= r->view->columns)) {
                status = syntax(r, "the model has no such column");
            }
            status = status == CKPD_OK ? assign(r, (int32_t)column - 1, value) : status;
        } else if (is(r, 0, "e")) {
            break;
        }
        if (status != CKPD_OK) {
            return status;
        }
    } while (next_line(r));
    return CKPD_OK;
}

/* The value in a line of glpsol's table: after "*" (integer) or a basis status such as "B" or "NL".
 */
static int32_t table_value(reader *r, int32_t from, int32_t column)
{
    double value;
    while (from < r->count &&
           !ckpd__parse_double(r->words[from].text, r->words[from].length, &value)) {
        from++;
    }
    int32_t status = number(r, from, &value);
    return status == CKPD_OK ? assign(r, column, value) : status;
}

/* glpsol -o: a table for people; a name of more than 12 characters stands on a line of its own. */
static int32_t read_glpk_table(reader *r)
{
    bool in_columns = false;
    r->said->format = "glpk-table";
    while (next_line(r)) {
        double index;
        if (is(r, 0, "Status:")) {
            r->said->claims_optimal = is(r, 1, "OPTIMAL") || is(r, 2, "OPTIMAL");
            r->said->claims_none = is(r, 1, "UNDEFINED") || is(r, 1, "INFEASIBLE") ||
                                   is(r, 2, "EMPTY") || is(r, 2, "UNDEFINED");
        } else if (is(r, 0, "Objective:") && r->count >= 4) {
            ckpd__parse_double(r->words[3].text, r->words[3].length, &r->said->objective);
        } else if (is(r, 0, "No.")) {
            in_columns = is(r, 1, "Column");
        } else if (in_columns && ckpd__parse_double(r->words[0].text, r->words[0].length, &index)) {
            int32_t column = r->count > 1 ? find(r, r->words[1]) : -1;
            if (column < 0 && is(r, 1, "constant")) {
                continue;
            }
            if (column < 0) {
                return syntax(r, "the model has no such column");
            }
            if (r->count == 2 && !next_line(r)) {
                return syntax(r, "a value is missing");
            }
            int32_t status =
                table_value(r, r->count > 2 && find(r, r->words[1]) == column ? 2 : 0, column);
            if (status != CKPD_OK) {
                return status;
            }
        } else if (in_columns && !is(r, 0, "------")) {
            break; /* what follows the table */
        }
    }
    return CKPD_OK;
}

/* "name value" lines; "#" comments, and the two header lines of SCIP. */
static int32_t read_plain(reader *r)
{
    r->said->format = "plain";
    do {
        if (r->words[0].text[0] == '#' || is(r, 1, "status:")) {
            r->said->claims_optimal |= is(r, 2, "optimal");
            continue;
        }
        if (is(r, 0, "objective") && is(r, 1, "value:")) {
            int32_t status = number(r, 2, &r->said->objective);
            if (status != CKPD_OK) {
                return status;
            }
            continue;
        }
        int32_t status = assign_named(r, 0, 1);
        if (status != CKPD_OK) {
            return status;
        }
    } while (next_line(r));
    return CKPD_OK;
}

static int32_t read_any(reader *r)
{
    if (!next_line(r)) {
        return syntax(r, "the solution is empty");
    }
    for (int32_t i = 0; i + 2 < r->count; i++) {
        if (is(r, i, "-") && is(r, i + 1, "objective") && is(r, i + 2, "value")) {
            return read_cbc(r);
        }
    }
    if (is(r, 0, "Model") && is(r, 1, "status")) {
        return read_highs(r);
    }
    if (is(r, 0, "Problem:")) {
        return read_glpk_table(r);
    }
    if (is(r, 0, "c") || is(r, 0, "s")) {
        return read_glpk(r);
    }
    return read_plain(r);
}

int32_t ckpd__milp_read_solution(ckpd_context *context, const ckpd_milp_view *view,
                                 const ckpd__milp_names *names, const char *text, size_t length,
                                 double *x, ckpd__foreign_solution *said)
{
    reader r = {.context = context,
                .view = view,
                .names = names,
                .at = text,
                .end = text + length,
                .x = x,
                .said = said};
    *said = (ckpd__foreign_solution){.format = "", .objective = NAN};
    memset(x, 0, (size_t)view->columns * sizeof(double));
    int32_t status = make_table(&r);
    if (status == CKPD_OK) {
        status = read_any(&r);
    }
    if (status == CKPD_OK && said->claims_none) {
        status =
            ckpd__fail(context, CKPD_ERR_VERIFY, "solution", -1, NAN,
                       "the file (%s) holds no solution: its solver found the model infeasible, "
                       "or nothing at all",
                       said->format);
    }
    if (status == CKPD_OK && said->assigned == 0 && view->columns > 0) {
        status = syntax(&r, "the solution has no values");
    }
    ckpd__free(context, r.table);
    ckpd__free(context, r.given);
    return status;
}
