/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Expected trees and texts follow RFC 8259; places are counted by hand. */
#include "io/json.h"
#include "io/writer.h"
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static ckpd_context *context;

static void setup(void)
{
    ck_assert_int_eq(ckpd_context_new(&context, NULL), CKPD_OK);
}

static void teardown(void)
{
    ckpd_context_free(context);
}

static ckpd__json *parse(const char *text)
{
    ckpd__json *value = NULL;
    int32_t status = ckpd__json_parse(context, "test", text, strlen(text), &value);
    ck_assert_msg(status == CKPD_OK, "%s", ckpd_context_last_message(context));
    return value;
}

static void refuse(const char *text, int32_t code, const char *part)
{
    ckpd__json *value = NULL;
    ck_assert_int_eq(ckpd__json_parse(context, "test", text, strlen(text), &value), code);
    ck_assert_ptr_null(value);
    ck_assert_msg(strstr(ckpd_context_last_message(context), part) != NULL, "'%s' is not in: %s",
                  part, ckpd_context_last_message(context));
}

START_TEST(every_kind)
{
    ckpd__json *value = parse("{\"b\": [1, -2.5e3, true, false, null, \"x\\u00e4\"], \"a\": {}}");
    ck_assert_int_eq(value->kind, CKPD__JSON_OBJECT);
    ck_assert_int_eq(value->count, 2);
    ck_assert_str_eq(value->keys[0], "b"); /* order of the text, not of the alphabet */
    const ckpd__json *list = ckpd__json_member(value, "b");
    ck_assert_int_eq(list->count, 6);
    ck_assert_double_eq(list->items[0].number, 1);
    ck_assert_double_eq(list->items[1].number, -2500);
    ck_assert_int_eq(list->items[2].kind, CKPD__JSON_FLAG);
    ck_assert_double_eq(list->items[2].number, 1);
    ck_assert_double_eq(list->items[3].number, 0);
    ck_assert_int_eq(list->items[4].kind, CKPD__JSON_NULL);
    ck_assert_str_eq(list->items[5].text, "x\xc3\xa4");
    ck_assert_int_eq(ckpd__json_member(value, "a")->kind, CKPD__JSON_OBJECT);
    ck_assert_ptr_null(ckpd__json_member(value, "c"));
    ck_assert_ptr_null(ckpd__json_member(list, "c"));
    ckpd__json_free(context, value);
    ckpd__json_free(context, NULL);
}
END_TEST

/* A file saved by Windows programs begins with a byte order mark. */
START_TEST(byte_order_mark)
{
    ckpd__json *value = parse("\xEF\xBB\xBF[1]");
    ck_assert_int_eq(value->count, 1);
    ckpd__json_free(context, value);
}
END_TEST

START_TEST(refusals)
{
    refuse("", CKPD_ERR_SYNTAX, "the text is empty");
    refuse("{\"a\": 1", CKPD_ERR_SYNTAX, "line 1, column 7");
    refuse("{\"a\": 1,\n \"a\": 2}", CKPD_ERR_DUPLICATE, "line 2");
    refuse("[1, NaN]", CKPD_ERR_SYNTAX, "in [1]");
    refuse("[1, 2] 3", CKPD_ERR_SYNTAX, "line 1");
    refuse("[1, /* no */ 2]", CKPD_ERR_SYNTAX, "line 1");
    refuse("[01]", CKPD_ERR_SYNTAX, "line 1");
    refuse("[1e999]", CKPD_ERR_SYNTAX, "the number is too large");
    refuse("[\"\xff\"]", CKPD_ERR_SYNTAX, "line 1");
}
END_TEST

static void locate(const char *text, const char *expected)
{
    char path[160];
    ckpd__json_locate(text, strlen(text), path, sizeof path);
    ck_assert_str_eq(path, expected);
}

START_TEST(places)
{
    locate("", "");
    locate("{\"a\": {\"b\": [1, 2, {\"c\": 3", "a.b[2].c");
    locate("{\"a\": [1, 2], \"d\": ", "d");
    locate("{\"a\": [1, 2], ", "");
    locate("{\"a\": [[1], [2, 3", "a[1][1]");
    locate("{\"q\\\"}\": \"{[\", \"e\": [", "e[0]");
    locate("}}]]", "");
    char deep[300];
    memset(deep, '[', sizeof deep);
    deep[sizeof deep - 1] = '\0';
    char path[16];
    ckpd__json_locate(deep, strlen(deep), path, sizeof path);
    ck_assert_uint_lt(strlen(path), sizeof path);
}
END_TEST

/* --- writing
 * ---------------------------------------------------------------------------------------- */

typedef struct sink {
    char text[4096];
    size_t used;
    size_t room; /* refuses beyond */
} sink;

static int32_t take(const char *text, size_t length, void *user)
{
    sink *to = user;
    if (to->used + length > to->room) {
        return 1;
    }
    memcpy(to->text + to->used, text, length);
    to->used += length;
    return 0;
}

START_TEST(written_text)
{
    sink to = {.room = sizeof to.text - 1};
    ckpd__writer writer;
    const double numbers[] = {0.1, -0.0, 1e300, HUGE_VAL};
    ckpd__writer_begin(&writer, context, take, &to);
    ckpd__write_open(&writer, NULL, '{');
    ckpd__write_text(&writer, "t", "a\"\\\n\x01\xc3\xa4");
    ckpd__write_numbers(&writer, "n", numbers, 4);
    ckpd__write_open(&writer, "empty", '[');
    ckpd__write_close(&writer, ']');
    ckpd__write_open_flat(&writer, "flat", '{');
    ckpd__write_flag(&writer, "f", true);
    ckpd__write_number(&writer, "x", (double)NAN);
    ckpd__write_integer(&writer, "i", -7);
    ckpd__write_close(&writer, '}');
    ckpd__write_close(&writer, '}');
    ck_assert_int_eq(ckpd__writer_end(&writer), CKPD_OK);
    ck_assert_str_eq(to.text, "{\n  \"t\": \"a\\\"\\\\\\n\\u0001\xc3\xa4\",\n"
                              "  \"n\": [0.1, 0, 1e+300, \"unlimited\"],\n"
                              "  \"empty\": [],\n"
                              "  \"flat\": {\"f\": true, \"x\": null, \"i\": -7}\n}\n");
    ckpd__json *value = parse(to.text);
    ck_assert_str_eq(ckpd__json_member(value, "t")->text, "a\"\\\n\x01\xc3\xa4");
    ckpd__json_free(context, value);
}
END_TEST

START_TEST(long_text_and_refusing_callback)
{
    sink to = {.room = 100};
    ckpd__writer writer;
    ckpd__writer_begin(&writer, context, take, &to);
    ckpd__write_open(&writer, NULL, '[');
    for (int i = 0; i < 5000; i++) {
        ckpd__write_integer(&writer, NULL, i);
    }
    ckpd__write_close(&writer, ']');
    ck_assert_int_eq(ckpd__writer_end(&writer), CKPD_ERR_CALLBACK);
    ck_assert_uint_eq(to.used, 0);
}
END_TEST

/* Lines of long arrays are wrapped; every number reads back as the same double. */
START_TEST(numbers_read_back)
{
    enum { COUNT = 100 };
    double values[COUNT];
    ckpd__random random;
    ckpd__random_seed(&random, 1, 1);
    for (int i = 0; i < COUNT; i++) {
        values[i] = ldexp(ckpd__random_uniform(&random) - 0.5,
                          (int)(ckpd__random_next(&random) % 200) - 100);
    }
    sink to = {.room = sizeof to.text - 1};
    ckpd__writer writer;
    ckpd__writer_begin(&writer, context, take, &to);
    ckpd__write_numbers(&writer, NULL, values, COUNT);
    ck_assert_int_eq(ckpd__writer_end(&writer), CKPD_OK);
    for (char *line = strtok(to.text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        ck_assert_uint_le(strlen(line), 120);
    }
    to.used = 0;
    memset(to.text, 0, sizeof to.text);
    ckpd__writer_begin(&writer, context, take, &to);
    ckpd__write_numbers(&writer, NULL, values, COUNT);
    ckpd__writer_end(&writer);
    ckpd__json *value = parse(to.text);
    ck_assert_int_eq(value->count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        ck_assert(value->items[i].number == values[i]);
    }
    ckpd__json_free(context, value);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("json");
    TCase *tc = tcase_create("json");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, every_kind);
    tcase_add_test(tc, byte_order_mark);
    tcase_add_test(tc, refusals);
    tcase_add_test(tc, places);
    tcase_add_test(tc, written_text);
    tcase_add_test(tc, long_text_and_refusing_callback);
    tcase_add_test(tc, numbers_read_back);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
