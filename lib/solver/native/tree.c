/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/tree.h"

#include <string.h>

nat_tree ckpd__nat_tree_start(const ckpd_host *host, size_t prices, bool packed)
{
    return (nat_tree){.host = host, .prices = prices, .bits = (prices + 7) / 8, .packed = packed};
}

static void drop_node(nat_tree *tree, nat_node *node)
{
    tree->host->release(node->price, tree->host->user);
    tree->host->release(node->closed, tree->host->user);
}

static void sift_up(nat_tree *tree, size_t i)
{
    while (i > 0 && tree->heap[i].bound < tree->heap[(i - 1) / 2].bound) {
        nat_node swap = tree->heap[i];
        tree->heap[i] = tree->heap[(i - 1) / 2];
        tree->heap[i = (i - 1) / 2] = swap;
    }
}

static void sift_down(nat_tree *tree, size_t i)
{
    for (size_t next; (next = 2 * i + 1) < tree->count; i = next) {
        if (next + 1 < tree->count && tree->heap[next + 1].bound < tree->heap[next].bound)
            next++;
        if (tree->heap[i].bound <= tree->heap[next].bound)
            return;
        nat_node swap = tree->heap[i];
        tree->heap[i] = tree->heap[next];
        tree->heap[next] = swap;
    }
}

static bool grow(nat_tree *tree)
{
    if (tree->count < tree->room)
        return true;
    size_t room = tree->room ? 2 * tree->room : 64;
    nat_node *heap = tree->host->allocate(room * sizeof *heap, tree->host->user);
    if (!heap)
        return false;
    if (tree->heap) {
        memcpy(heap, tree->heap, tree->count * sizeof *heap);
        tree->host->release(tree->heap, tree->host->user);
    }
    tree->heap = heap;
    tree->room = room;
    return true;
}

bool ckpd__nat_tree_push(nat_tree *tree, double bound, const nat_proof *split, const double *price,
                         const uint8_t *forbidden)
{
    nat_node node = {.bound = bound, .split = *split};
    size_t kept = 0;
    for (size_t i = 0; i < tree->prices; i++)
        kept += !tree->packed || !forbidden[i];
    if (!grow(tree))
        return false;
    node.price = tree->host->allocate(kept * sizeof *node.price + 1, tree->host->user);
    node.closed = tree->host->allocate(tree->bits + 1, tree->host->user);
    if (!node.price || !node.closed) {
        if (node.price)
            tree->host->release(node.price, tree->host->user);
        if (node.closed)
            tree->host->release(node.closed, tree->host->user);
        return false;
    }
    memset(node.closed, 0, tree->bits);
    kept = 0;
    for (size_t i = 0; i < tree->prices; i++) {
        if (!tree->packed || !forbidden[i])
            node.price[kept++] = (float)price[i];
        if (forbidden[i])
            node.closed[i / 8] = (uint8_t)(node.closed[i / 8] | 1u << i % 8);
    }
    tree->heap[tree->count++] = node;
    sift_up(tree, tree->count - 1);
    return true;
}

void ckpd__nat_tree_pop(nat_tree *tree, nat_proof *split, double *price, uint8_t *forbidden)
{
    nat_node node = tree->heap[0];
    size_t kept = 0;
    *split = node.split;
    tree->heap[0] = tree->heap[--tree->count];
    sift_down(tree, 0);
    for (size_t i = 0; i < tree->prices; i++) {
        forbidden[i] = node.closed[i / 8] >> i % 8 & 1;
        price[i] = !tree->packed || !forbidden[i] ? (double)node.price[kept++] : 0;
    }
    drop_node(tree, &node);
}

void ckpd__nat_tree_free(nat_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++)
        drop_node(tree, &tree->heap[i]);
    if (tree->heap)
        tree->host->release(tree->heap, tree->host->user);
}
