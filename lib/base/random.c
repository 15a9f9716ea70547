/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* PCG-XSH-RR 64/32: M. E. O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good
   Algorithms for Random Number Generation", HMC-CS-2014-0905, section 6.3.1. */
#include "base/base.h"

uint32_t ckpd__random_next(ckpd__random *random)
{
    uint64_t old = random->state;
    random->state = old * UINT64_C(6364136223846793005) + random->stream;
    uint32_t shifted = (uint32_t)(((old >> 18u) ^ old) >> 27u);
    uint32_t turn = (uint32_t)(old >> 59u);
    return (shifted >> turn) | (shifted << ((32u - turn) & 31u));
}

void ckpd__random_seed(ckpd__random *random, uint64_t seed, uint64_t stream)
{
    random->state = 0;
    random->stream = (stream << 1u) | 1u;
    ckpd__random_next(random);
    random->state += seed;
    ckpd__random_next(random);
}

double ckpd__random_uniform(ckpd__random *random)
{
    uint64_t high = ckpd__random_next(random) >> 5u, low = ckpd__random_next(random) >> 6u;
    return (double)((high << 26u) | low) * 0x1p-53;
}
