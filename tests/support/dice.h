/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Random numbers of tests, the same on every machine; apart from the library's own generator. */
#ifndef TESTS_SUPPORT_DICE_H
#define TESTS_SUPPORT_DICE_H

#include <stdint.h>

typedef struct dice {
    uint64_t state; /* the seed */
} dice;

/* SplitMix64 of Steele, Lea, Flood 2014. */
static inline uint64_t roll(dice *d)
{
    uint64_t z = (d->state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline int32_t pick(dice *d, int32_t low, int32_t high)
{
    return low + (int32_t)(roll(d) % (uint64_t)(high - low + 1));
}

static inline double between(dice *d, double low, double high)
{
    return low + (high - low) * (double)(roll(d) >> 11) / 9007199254740992.0;
}

#endif
