/* SPDX-License-Identifier: LGPL-3.0-or-later */
#ifndef CKPD_LIB_SOLVER_NATIVE_VECTOR_H
#define CKPD_LIB_SOLVER_NATIVE_VECTOR_H

/*
 * The innermost loops get vector instructions where -O2 alone does not give them, and the wider
 * ones where the machine has them. They add and compare only, so every variant gives the same bits.
 */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define NAT_VECTOR_LOOP __attribute__((optimize("O3"), target_clones("avx2", "default")))
#elif defined(__GNUC__) && !defined(__clang__)
#define NAT_VECTOR_LOOP __attribute__((optimize("O3")))
#else
#define NAT_VECTOR_LOOP
#endif

#endif
