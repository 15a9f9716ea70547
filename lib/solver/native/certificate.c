/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "solver/native/certificate.h"

#include <string.h>

static void drop(const ckpd_host *host, void *block)
{
    if (block)
        host->release(block, host->user);
}

nat_proof *ckpd__nat_certificate_add(nat_certificate *certificate)
{
    const ckpd_host *host = certificate->host;
    if (certificate->nodes == certificate->room) {
        int32_t room = certificate->room ? 2 * certificate->room : 8;
        nat_proof *more = host->allocate((size_t)room * sizeof *more, host->user);
        if (!more)
            return NULL;
        if (certificate->node)
            memcpy(more, certificate->node, (size_t)certificate->nodes * sizeof *more);
        drop(host, certificate->node);
        certificate->node = more;
        certificate->room = room;
    }
    nat_proof *node = &certificate->node[certificate->nodes];
    memset(node, 0, sizeof *node);
    size_t slots = (size_t)certificate->slots;
    node->price = host->allocate((certificate->prices + slots) * sizeof *node->price, host->user);
    if (!node->price)
        return NULL;
    memset(node->price, 0, (certificate->prices + slots) * sizeof *node->price);
    node->worth = node->price + certificate->prices;
    certificate->nodes++;
    return node;
}

void ckpd__nat_certificate_keep(nat_certificate *certificate, int32_t first, int32_t end)
{
    for (int32_t n = 0; n < certificate->nodes; n++) {
        nat_proof *node = &certificate->node[n];
        if (n < first || n >= end) {
            drop(certificate->host, node->price);
            continue;
        }
        certificate->node[n - first] = *node;
        if (node->parent >= 0)
            certificate->node[n - first].parent -= first;
    }
    certificate->nodes = end - first;
}

void ckpd__nat_certificate_free(nat_certificate *certificate)
{
    if (!certificate || !certificate->host)
        return;
    const ckpd_host *host = certificate->host;
    for (int32_t n = 0; n < certificate->nodes; n++)
        drop(host, certificate->node[n].price);
    drop(host, certificate->node);
    for (int32_t j = 0; j < certificate->jobs; j++) {
        if (certificate->gpus)
            drop(host, certificate->gpus[j]);
        if (certificate->kw)
            drop(host, certificate->kw[j]);
    }
    drop(host, certificate->gpus);
    drop(host, certificate->kw);
    drop(host, certificate->activities);
    drop(host, certificate->offset);
    drop(host, certificate->order);
    drop(host, certificate->multiplier);
    memset(certificate, 0, sizeof *certificate);
}
