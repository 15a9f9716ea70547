/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* TZif files (RFC 8536, RFC 9636) and the two ways between UTC and wall time. */
#include "io/timezone.h"

#include <math.h>
#include <string.h>

enum {
    HEADER_BYTES = 44,
    MOST_TRANSITIONS = 1 << 16,
    MOST_TYPES = 256,
    LARGEST_OFFSET = 26 * 3600 /* RFC 9636 section 3.2 asks readers for -25:59:59 to 25:59:59 */
};

struct ckpd__zone {
    char *name;
    int64_t *times;       /* of the transitions, strictly ascending */
    unsigned char *kinds; /* type after each transition */
    int32_t *offsets;     /* of the types */
    int32_t count, types;
    ckpd__zone_rule rule; /* after the last transition */
};

typedef struct block {
    size_t is_ut, is_std, leaps, times, types, chars;
    const unsigned char *data;
    size_t bytes; /* of the data */
} block;

static uint32_t be32(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Two's complement without implementation-defined conversions. */
static int64_t signed_be(const unsigned char *at, size_t width)
{
    uint64_t value = width == 8 ? (uint64_t)be32(at) << 32 | be32(at + 4) : be32(at);
    uint64_t sign = UINT64_C(1) << (width * 8 - 1);
    return (value & sign) != 0 ? -(int64_t)(sign - (value & (sign - 1)) - 1) - 1 : (int64_t)value;
}

static int32_t bad_file(ckpd_context *context, const char *name, const char *what)
{
    return ckpd__fail(context, CKPD_ERR_SYNTAX, "zone", -1, (double)NAN,
                      "time zone %s: not a usable TZif file (%s)", name, what);
}

/* Reads one header and checks that its data lies within the file. NULL or what is wrong. */
static const char *read_block(block *b, const unsigned char *at, size_t left, size_t width)
{
    if (left < HEADER_BYTES || memcmp(at, "TZif", 4) != 0) {
        return "no header";
    }
    b->is_ut = be32(at + 20);
    b->is_std = be32(at + 24);
    b->leaps = be32(at + 28);
    b->times = be32(at + 32);
    b->types = be32(at + 36);
    b->chars = be32(at + 40);
    if (b->types == 0 || b->types > MOST_TYPES || b->times > MOST_TRANSITIONS ||
        b->is_ut > MOST_TYPES || b->is_std > MOST_TYPES || b->chars > 65536 || b->leaps > 65536) {
        return "impossible counts";
    }
    b->data = at + HEADER_BYTES;
    b->bytes = b->times * (width + 1) + b->types * 6 + b->chars + b->leaps * (width + 4) +
               b->is_std + b->is_ut;
    return b->bytes <= left - HEADER_BYTES ? NULL : "it is cut short";
}

static const char *read_tables(ckpd__zone *zone, const block *b, size_t width)
{
    const unsigned char *kinds = b->data + b->times * width, *types = kinds + b->times;
    for (size_t i = 0; i < b->types; i++) {
        int64_t offset = signed_be(types + 6 * i, 4);
        if (offset <= -LARGEST_OFFSET || offset >= LARGEST_OFFSET) {
            return "an offset of more than a day";
        }
        zone->offsets[i] = (int32_t)offset;
    }
    for (size_t i = 0; i < b->times; i++) {
        zone->times[i] = signed_be(b->data + i * width, width);
        zone->kinds[i] = kinds[i];
        if (kinds[i] >= b->types || (i > 0 && zone->times[i] <= zone->times[i - 1])) {
            return "transitions out of order";
        }
    }
    zone->count = (int32_t)b->times;
    zone->types = (int32_t)b->types;
    return NULL;
}

/* The footer is a line of POSIX TZ text between two newlines; empty means that nothing is known. */
static const char *read_footer(ckpd__zone *zone, const char *at, size_t left)
{
    const char *end = left > 0 && at[0] == '\n' ? memchr(at + 1, '\n', left - 1) : NULL;
    if (end == NULL) {
        return "no footer";
    }
    if (end > at + 1 && !ckpd__zone_rule_parse(&zone->rule, at + 1, (size_t)(end - at - 1))) {
        return "the rule in the footer cannot be read";
    }
    return NULL;
}

static int32_t new_zone(ckpd__zone **out, ckpd_context *context, const char *name, size_t times,
                        size_t types)
{
    ckpd__zone *zone = ckpd__calloc(context, 1, sizeof *zone);
    if (zone == NULL) {
        return ckpd__no_memory(context);
    }
    zone->name = ckpd__strdup(context, name);
    zone->times = ckpd__calloc(context, times, sizeof *zone->times);
    zone->kinds = ckpd__calloc(context, times, sizeof *zone->kinds);
    zone->offsets = ckpd__calloc(context, types, sizeof *zone->offsets);
    if (zone->name == NULL || zone->times == NULL || zone->kinds == NULL || zone->offsets == NULL) {
        ckpd__zone_free(context, zone);
        return ckpd__no_memory(context);
    }
    *out = zone;
    return CKPD_OK;
}

int32_t ckpd__zone_parse(ckpd__zone **out, ckpd_context *context, const char *name,
                         const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    block b;
    size_t width = 4;
    const char *wrong = read_block(&b, at, length, width);
    bool has_footer = wrong == NULL && at[4] >= '2';
    if (has_footer) { /* the 64-bit tables follow the 32-bit ones */
        width = 8;
        size_t skip = HEADER_BYTES + b.bytes;
        at += skip;
        length -= skip;
        wrong = read_block(&b, at, length, width);
    }
    if (wrong == NULL && b.leaps > 0) {
        wrong = "it counts leap seconds";
    }
    if (wrong != NULL) {
        return bad_file(context, name, wrong);
    }
    ckpd__zone *zone;
    int32_t status = new_zone(&zone, context, name, b.times, b.types);
    if (status != CKPD_OK) {
        return status;
    }
    wrong = read_tables(zone, &b, width);
    if (wrong == NULL && has_footer) {
        size_t skip = HEADER_BYTES + b.bytes;
        wrong = read_footer(zone, (const char *)at + skip, length - skip);
    }
    if (wrong != NULL) {
        ckpd__zone_free(context, zone);
        return bad_file(context, name, wrong);
    }
    *out = zone;
    return CKPD_OK;
}

/* "UTC", "Z", "+10:00", "-0330", "+9": a zone that never changes. False when the name is none of
 * these. */
static bool fixed_offset(const char *name, int32_t *offset)
{
    *offset = 0;
    if (strcmp(name, "UTC") == 0 || strcmp(name, "Z") == 0) {
        return true;
    }
    int32_t digits[4] = {0}, count = 0;
    if (name[0] != '+' && name[0] != '-') {
        return false;
    }
    for (const char *c = name + 1; *c != '\0'; c++) {
        if (*c == ':' && c == name + 3) {
            continue;
        }
        if (*c < '0' || *c > '9' || count == 4) {
            return false;
        }
        digits[count++] = *c - '0';
    }
    if (count != 1 && count != 2 && count != 4) {
        return false;
    }
    int32_t hours = count == 1 ? digits[0] : digits[0] * 10 + digits[1];
    int32_t minutes = digits[2] * 10 + digits[3];
    *offset = (hours * 60 + minutes) * (name[0] == '-' ? -60 : 60);
    return hours < 25 && minutes < 60;
}

int32_t ckpd__zone_load(ckpd__zone **out, ckpd_context *context, const char *name,
                        const char *folder)
{
    int32_t offset;
    if (!fixed_offset(name, &offset)) {
        return ckpd__zone_load_file(out, context, name, folder);
    }
    int32_t status = new_zone(out, context, name, 0, 1);
    if (status == CKPD_OK) {
        (*out)->offsets[0] = offset;
        (*out)->types = 1;
    }
    return status;
}

void ckpd__zone_free(ckpd_context *context, ckpd__zone *zone)
{
    if (zone != NULL) {
        ckpd__free(context, zone->name);
        ckpd__free(context, zone->times);
        ckpd__free(context, zone->kinds);
        ckpd__free(context, zone->offsets);
        ckpd__free(context, zone);
    }
}

const char *ckpd__zone_name(const ckpd__zone *zone)
{
    return zone->name;
}

int32_t ckpd__zone_offset(const ckpd__zone *zone, int64_t utc)
{
    int32_t low = 0,
            high = zone->count; /* number of transitions at or before utc lies in low..high */
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (zone->times[middle] <= utc) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == zone->count && zone->rule.given) {
        return ckpd__zone_rule_offset(&zone->rule, utc);
    }
    return zone->offsets[low == 0 ? 0 : zone->kinds[low - 1]];
}

int32_t ckpd__zone_instants(const ckpd__zone *zone, int64_t wall, int64_t utc[2])
{
    int32_t found = 0;
    for (int32_t i = 0; i < zone->types + 2; i++) {
        int32_t offset = i < zone->types    ? zone->offsets[i]
                         : i == zone->types ? zone->rule.standard_s
                                            : zone->rule.dst_s;
        int64_t instant = wall - offset;
        if (ckpd__zone_offset(zone, instant) != offset || (found > 0 && utc[0] == instant) ||
            (found > 1 && utc[1] == instant)) {
            continue;
        }
        /* Kept ascending; no zone has ever shown a wall time three times. */
        if (found > 0 && instant < utc[0]) {
            utc[1] = utc[0];
            utc[0] = instant;
        } else {
            utc[found > 0] = instant;
        }
        found = found < 2 ? found + 1 : 2;
    }
    return found;
}

int64_t ckpd__zone_first_instant(const ckpd__zone *zone, int64_t wall)
{
    int64_t utc[2];
    if (ckpd__zone_instants(zone, wall, utc) > 0) {
        return utc[0];
    }
    /* No change of the clock is longer than a day and none follows another within two. */
    return wall - ckpd__zone_offset(zone, wall - LARGEST_OFFSET);
}
