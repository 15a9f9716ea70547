/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "base/base.h"

#include <string.h>

enum { LONGEST_NAME = 63 };

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool begins_with(const char *text, const char *start)
{
    while (*start != '\0' && lower(*text) == lower(*start)) {
        text++;
        start++;
    }
    return *start == '\0';
}

/* Levenshtein distance of two short names; capitals count as small letters. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows = strlen(a), columns = strlen(b), previous[LONGEST_NAME + 1];
    for (size_t j = 0; j <= columns; j++) {
        previous[j] = j;
    }
    for (size_t i = 1; i <= rows; i++) {
        size_t diagonal = previous[0];
        previous[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t replace = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));
            size_t step = (previous[j] < previous[j - 1] ? previous[j] : previous[j - 1]) + 1;
            diagonal = previous[j];
            previous[j] = replace < step ? replace : step;
        }
    }
    return previous[columns];
}

const char *ckpd__nearest(const char *name, const char *const *candidates, size_t count)
{
    size_t length = strlen(name), best = length / 2 + 1;
    const char *nearest = NULL;
    /* A unit left out is the likeliest mistake: "energy" for "energy_kwh". */
    for (size_t i = 0; length >= 3 && i < count; i++) {
        if (begins_with(candidates[i], name)) {
            return candidates[i];
        }
    }
    for (size_t i = 0; length <= LONGEST_NAME && i < count; i++) {
        if (strlen(candidates[i]) > LONGEST_NAME) {
            continue;
        }
        size_t distance = edit_distance(name, candidates[i]);
        if (distance < best) {
            best = distance;
            nearest = candidates[i];
        }
    }
    return nearest;
}
