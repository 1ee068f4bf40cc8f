// SPDX-License-Identifier: Apache-2.0
// The same elements in another shape, without a copy: the output points at the
// input's memory. One size may be -1.
#include "ember/node.h"

static int32_t run(void *state) {
    (void)state;
    return EMBER_OK;
}

// Reads the sizes and computes the one that is -1. False unless they have exactly
// `numel` elements.
static bool read_sizes(ember_node_t *node, uint32_t count, uint32_t numel,
                       int32_t *sizes) {
    uint64_t known = 1;
    uint32_t open = count;
    for (uint32_t i = 0; i < count; i++) {
        const int64_t size = ember_node_list_int(node, 1, i);
        if (size < -1 || size > INT32_MAX || (size == -1 && open != count)) {
            return false;
        }
        open = size == -1 ? i : open;
        known *= size == -1 ? 1 : (uint64_t)size;
        known = known > UINT32_MAX ? UINT32_MAX : known;
        sizes[i] = (int32_t)size;
    }
    if (open != count) {
        const uint64_t rest = known == 0 ? 0 : numel / known;
        sizes[open] = (int32_t)rest;
        known *= rest;
    }
    return known == numel;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    int32_t sizes[EMBER_MAX_RANK];
    ember_tensor_t x;
    ember_tensor_t y;

    (void)state;
    ember_node_tensor(node, 0, &x);
    ember_node_tensor(node, 2, &y);
    const uint32_t rank = ember_node_list_count(node, 1);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (rank > EMBER_MAX_RANK || rank != y.rank || x.dtype != y.dtype ||
        !read_sizes(node, rank, x.numel, sizes)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "et_view: the shapes have different elements");
    }
    ember_node_bind(node, 2, rank, sizes, &x);
    return ember_node_status(node);
}

EMBER_KERNEL(et_view, uint32_t);
