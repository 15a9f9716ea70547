/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Case files. What is read is written, read again and written again: the same bytes. Small cases
 * become problems. Texts that could name files outside of the working folder are left out: reading
 * /dev/zero is slow, not wrong.
 */
#include <ckptdispatch.h>
#include <ckptdispatch/io.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct written {
    char *text;
    size_t length;
} written;

static void must(int good, const char *what, const ckpd_context *context)
{
    if (!good) {
        fprintf(stderr, "fuzz_case: %s: %s\n", what, ckpd_context_last_message(context));
        abort();
    }
}

static int32_t collect(const char *text, size_t length, void *user)
{
    written *w = user;
    char *grown = realloc(w->text, w->length + length + 1);
    if (grown == NULL) {
        return 1;
    }
    memcpy(grown + w->length, text, length);
    w->text = grown;
    w->length += length;
    grown[w->length] = '\0';
    return 0;
}

static int mentions(const uint8_t *data, size_t size, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= size; i++) {
        if (memcmp(data + i, word, length) == 0) {
            return 1;
        }
    }
    return 0;
}

static void round_trip(ckpd_context *context, const ckpd_case *loaded)
{
    written first = {NULL, 0}, second = {NULL, 0};
    ckpd_case *again = NULL;
    must(ckpd_case_write(loaded, collect, &first) == CKPD_OK, "write", context);
    must(ckpd_case_parse(&again, context, first.text, first.length, NULL) == CKPD_OK, "read again",
         context);
    must(ckpd_case_write(again, collect, &second) == CKPD_OK, "write again", context);
    must(first.length == second.length && memcmp(first.text, second.text, first.length) == 0,
         "other bytes", context);
    must(strcmp(ckpd_case_digest(loaded), ckpd_case_digest(again)) == 0, "other digest", context);
    ckpd_case_free(again);
    free(first.text);
    free(second.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ckpd_context *context = NULL;
    ckpd_case *loaded = NULL;
    if (mentions(data, size, "/") || mentions(data, size, "\\u002f") ||
        mentions(data, size, "\\u002F")) {
        return 0;
    }
    if (ckpd_context_new(&context, NULL) != CKPD_OK) {
        abort();
    }
    if (ckpd_case_parse(&loaded, context, (const char *)data, size, NULL) == CKPD_OK) {
        round_trip(context, loaded);
        if (ckpd_case_slots(loaded) <= 24) {
            ckpd_problem *problem = NULL;
            if (ckpd_case_build_problem(&problem, loaded) != CKPD_OK) {
                must(ckpd_context_last_message(context)[0] != '\0', "no message", context);
            }
            ckpd_problem_free(problem);
        }
    } else {
        must(loaded == NULL && ckpd_context_last_message(context)[0] != '\0',
             "refused without a message", context);
    }
    ckpd_case_free(loaded);
    ckpd_context_free(context);
    return 0;
}
