/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Where in a document a byte lies, also when the document is broken further on. */
#include "io/json.h"

#include <string.h>

enum { DEEPEST = 32, KEY_BYTES = 48 };

typedef struct level {
    bool array;
    bool after_colon; /* an object's member value is being read */
    int32_t index;
    char key[KEY_BYTES];
} level;

/* Skips the string that starts at `at` (its opening quote); keeps its raw text when `key` is given.
 */
static size_t skip_string(const char *text, size_t at, size_t end, char *key)
{
    size_t used = 0;
    for (at++; at < end && text[at] != '"'; at++) {
        if (text[at] == '\\') {
            at++;
        } else if (key != NULL && used + 1 < KEY_BYTES) {
            key[used++] = text[at];
        }
    }
    if (key != NULL) {
        key[used] = '\0';
    }
    return at;
}

static void print_path(const level *levels, int32_t depth, char *path, size_t size)
{
    size_t used = 0;
    path[0] = '\0';
    for (int32_t i = 0; i < depth && used < size; i++) {
        if (levels[i].array) {
            used += ckpd__format(path + used, size - used, "[%d]", levels[i].index);
        } else if (levels[i].key[0] != '\0') {
            used +=
                ckpd__format(path + used, size - used, "%s%s", used > 0 ? "." : "", levels[i].key);
        }
    }
}

void ckpd__json_locate(const char *text, size_t position, char *path, size_t size)
{
    level levels[DEEPEST];
    int32_t depth = 0;
    for (size_t at = 0; at < position; at++) {
        level *top = depth > 0 && depth <= DEEPEST ? &levels[depth - 1] : NULL;
        switch (text[at]) {
        case '"':
            at = skip_string(text, at, position,
                             top != NULL && !top->array && !top->after_colon ? top->key : NULL);
            break;
        case '{':
        case '[':
            if (depth < DEEPEST) {
                levels[depth] = (level){.array = text[at] == '['};
            }
            depth++;
            break;
        case '}':
        case ']':
            depth -= depth > 0;
            break;
        case ':':
        case ',':
            if (top != NULL) {
                top->after_colon = text[at] == ':';
                top->index += text[at] == ',' && top->array;
                /* After a comma the next member is meant, whose name is not known yet. */
                top->key[0] = text[at] == ',' ? '\0' : top->key[0];
            }
            break;
        default:
            break;
        }
    }
    print_path(levels, depth < DEEPEST ? depth : DEEPEST, path, size);
}
