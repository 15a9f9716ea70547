/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Open nodes of a search, least bound first. */
#ifndef CKPD_LIB_SOLVER_NATIVE_TREE_H
#define CKPD_LIB_SOLVER_NATIVE_TREE_H

#include "solver/native/model.h"

/* What is forbidden in an open node, and the prices of its parent to start from. */
typedef struct nat_node {
    double bound;
    float *price;    /* of its own */
    nat_proof split; /* where it comes from, for the certificate */
    uint8_t *closed; /* one bit per price of a job */
} nat_node;

typedef struct nat_tree {
    nat_node *heap;
    size_t count, room;
    const ckpd_host *host;
    size_t prices, bits;
    bool packed; /* prices of what is forbidden are not kept: zero when a node comes back */
} nat_tree;

nat_tree ckpd__nat_tree_start(const ckpd_host *host, size_t prices, bool packed);
/* False when out of memory. */
bool ckpd__nat_tree_push(nat_tree *tree, double bound, const nat_proof *split, const double *price,
                         const uint8_t *forbidden);
/* Takes the node with the least bound. */
void ckpd__nat_tree_pop(nat_tree *tree, nat_proof *split, double *price, uint8_t *forbidden);
void ckpd__nat_tree_free(nat_tree *tree);

#endif
