/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Units as people write them: "MW", "EUR/MWh", "gCO2/kWh", "wind_mw", "price_usd_per_mwh", "Wind
 * [MW]". */
#include "io/series.h"

#include <string.h>

enum { LONGEST_WORD = 24 };

/* Lower case (ASCII), without spaces; false when it does not fit. */
static bool lower(const char *text, size_t length, char word[LONGEST_WORD])
{
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == ' ') {
            continue;
        }
        if (used == LONGEST_WORD - 1) {
            return false;
        }
        word[used++] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] - 'A' + 'a') : text[i];
    }
    word[used] = '\0';
    return used > 0;
}

typedef struct entry {
    const char *name;
    double factor;
} entry;

static bool find(const entry *table, size_t count, const char *word, double *factor)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(table[i].name, word) == 0) {
            *factor = table[i].factor;
            return true;
        }
    }
    return false;
}
#define FIND(table, word, factor) find(table, sizeof(table) / sizeof(table)[0], word, factor)

static const entry powers[] = {{"w", 1e-3}, {"kw", 1}, {"mw", 1e3}, {"gw", 1e6}};
static const entry energies[] = {{"wh", 1e-3},  {"kwh", 1},  {"mwh", 1e3},  {"gwh", 1e6},
                                 {"whr", 1e-3}, {"kwhr", 1}, {"mwhr", 1e3}, {"gwhr", 1e6}};
/* Masses in kg: the pound is 0.45359237 kg by definition. */
static const entry masses[] = {
    {"g", 1e-3},        {"gco2", 1e-3},      {"gco2e", 1e-3},       {"gco2eq", 1e-3},
    {"kg", 1},          {"kgco2", 1},        {"kgco2e", 1},         {"kgco2eq", 1},
    {"t", 1e3},         {"tco2", 1e3},       {"tco2e", 1e3},        {"tco2eq", 1e3},
    {"lb", 0.45359237}, {"lbs", 0.45359237}, {"lbco2", 0.45359237}, {"lbsco2", 0.45359237}};
/* Which currency does not matter here: costs come out in the same one. */
static const entry moneys[] = {
    {"money", 1},   {"usd", 1},      {"$", 1},        {"eur", 1},           {"\xe2\x82\xac", 1},
    {"euro", 1},    {"gbp", 1},      {"aud", 1},      {"nzd", 1},           {"cad", 1},
    {"chf", 1},     {"sek", 1},      {"nok", 1},      {"dkk", 1},           {"pln", 1},
    {"czk", 1},     {"jpy", 1},      {"cny", 1},      {"inr", 1},           {"krw", 1},
    {"brl", 1},     {"mxn", 1},      {"zar", 1},      {"huf", 1},           {"ron", 1},
    {"bgn", 1},     {"try", 1},      {"\xc2\xa3", 1}, {"ct", 0.01},         {"c", 0.01},
    {"cent", 0.01}, {"cents", 0.01}, {"ore", 0.01},   {"\xc3\xb6re", 0.01}, {"p", 0.01}};

/* Numerator and energy of a rate; an unknown numerator counts as money only where `lenient`. */
static bool rate(const char *above, const char *below, bool lenient, ckpd__unit *unit)
{
    double energy, amount = 1;
    if (!FIND(energies, below, &energy)) {
        return false;
    }
    unit->quantity = CKPD__PRICE;
    if (FIND(masses, above, &amount)) {
        unit->quantity = CKPD__INTENSITY;
    } else if (!FIND(moneys, above, &amount) && !lenient) {
        return false;
    }
    unit->factor = amount * (1000 / energy); /* of MWh: energy is in kWh */
    return true;
}

bool ckpd__unit_parse(const char *text, size_t length, ckpd__unit *unit)
{
    char word[LONGEST_WORD];
    *unit = (ckpd__unit){CKPD__PLAIN, 1};
    if (!lower(text, length, word)) {
        return false;
    }
    if (strcmp(word, "1") == 0 || strcmp(word, "-") == 0) {
        return true;
    }
    if (FIND(powers, word, &unit->factor)) {
        unit->quantity = CKPD__POWER;
        return true;
    }
    if (FIND(energies, word, &unit->factor)) {
        unit->quantity = CKPD__ENERGY;
        return true;
    }
    char *slash = strchr(word, '/');
    if (slash == NULL) {
        return false;
    }
    *slash = '\0';
    return rate(word, slash + 1, false, unit);
}

/* "Wind [MW]", "Wind (MW)" */
static bool unit_in_brackets(const char *header, size_t length, ckpd__unit *unit, size_t *base)
{
    if (length < 3 || (header[length - 1] != ']' && header[length - 1] != ')')) {
        return false;
    }
    char opening = header[length - 1] == ']' ? '[' : '(';
    size_t open = length - 1;
    while (open > 0 && header[open] != opening) {
        open--;
    }
    if (header[open] != opening || open + 1 >= length - 1 ||
        !ckpd__unit_parse(header + open + 1, length - open - 2, unit)) {
        return false;
    }
    while (open > 0 && header[open - 1] == ' ') {
        open--;
    }
    *base = open;
    return true;
}

/* "Germany [EUR/MWh] original resolution": the only bracket that holds a unit. */
static bool unit_inside(const char *header, ckpd__unit *unit)
{
    int32_t found = 0;
    for (const char *open = strpbrk(header, "[("); open != NULL; open = strpbrk(open + 1, "[(")) {
        const char *close = strchr(open, *open == '[' ? ']' : ')');
        ckpd__unit inside;
        if (close != NULL && ckpd__unit_parse(open + 1, (size_t)(close - open - 1), &inside) &&
            inside.quantity != CKPD__PLAIN) {
            *unit = inside;
            found++;
        }
    }
    return found == 1;
}

/* Start of the last word before `end`; words are parted by '_', ' ' or '-'. */
static size_t word_start(const char *header, size_t end)
{
    while (end > 0 && strchr("_ -", header[end - 1]) == NULL) {
        end--;
    }
    return end;
}

/* "wind_mw", "price_usd_per_mwh" */
static bool unit_in_name(const char *header, size_t length, ckpd__unit *unit)
{
    size_t last = word_start(header, length);
    char below[LONGEST_WORD], per[LONGEST_WORD], above[LONGEST_WORD];
    if (last < 2 || !lower(header + last, length - last, below)) {
        return false;
    }
    size_t middle = word_start(header, last - 1);
    if (middle >= 2 && lower(header + middle, last - 1 - middle, per) && strcmp(per, "per") == 0) {
        size_t first = word_start(header, middle - 1);
        return lower(header + first, middle - 1 - first, above) && rate(above, below, true, unit);
    }
    return ckpd__unit_parse(header + last, length - last, unit) && unit->quantity != CKPD__PLAIN;
}

bool ckpd__unit_of_header(const char *header, ckpd__unit *unit, size_t *base)
{
    size_t length = strlen(header);
    *base = length;
    if (unit_in_brackets(header, length, unit, base) || unit_in_name(header, length, unit) ||
        unit_inside(header, unit)) {
        return true;
    }
    *unit = (ckpd__unit){CKPD__PLAIN, 1};
    return false;
}

const char *ckpd__unit_text(ckpd__quantity quantity)
{
    switch (quantity) {
    case CKPD__POWER:
    case CKPD__ENERGY:
        return "kW";
    case CKPD__PRICE:
        return "money/MWh";
    case CKPD__INTENSITY:
        return "kg/MWh";
    default:
        return "";
    }
}
