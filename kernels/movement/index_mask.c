// SPDX-License-Identifier: Apache-2.0
// index: self[..., mask, ...] with one mask, which replaces the dimensions that it
// spans by one with as many elements as it has true ones. Their number is only known at
// run time.
#include "kernels/engine/masked.h"

enum { SELF, INDICES, OUT };

typedef struct {
    ember_masked_t masked;
    char *out;
    ember_slot_t *slot;
    uint8_t rank;  // of the output
    uint8_t place; // of the dimension that replaces the mask's
    int32_t sizes[EMBER_MAX_RANK];
} state_t;

// Views the mask in the shape of `whole`; false if it does not fit.
static bool spread(ember_view_t *mask, const ember_view_t *whole, uint32_t place) {
    const uint32_t past = place + mask->rank;

    if (past > whole->rank) {
        return false;
    }
    for (uint32_t d = place; d < past; d++) {
        if (mask->sizes[d - place] != whole->sizes[d]) {
            return false;
        }
    }
    for (uint32_t d = 0; d < place; d++) {
        ember_view_insert(mask, d, whole->sizes[d], 0);
    }
    for (uint32_t d = past; d < whole->rank; d++) {
        ember_view_insert(mask, d, whole->sizes[d], 0);
    }
    return true;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_tensor_t mask, out;
    ember_view_t whole, where;
    uint32_t place = 0;
    const ember_status_t status = ember_masked_index(node, INDICES, &mask, &place);

    if (status != EMBER_OK) {
        return status;
    }
    ember_view_arg(&whole, node, SELF);
    ember_node_inout(node, OUT, &out);
    s->slot = ember_node_slot(node, OUT);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    ember_view_tensor(&where, &mask);
    if (!spread(&where, &whole, place) || out.rank != whole.rank - mask.rank + 1u) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "index: wrong shape of the mask");
    }
    if (out.dtype != whole.dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "index: dtypes");
    }
    for (uint32_t d = 0; d < out.rank; d++) {
        s->sizes[d] = d < place    ? whole.sizes[d]
                      : d == place ? (int32_t)mask.numel
                                   : whole.sizes[d + mask.rank - 1];
    }
    ember_tensor_t largest = out;
    largest.sizes = s->sizes;
    largest.numel = mask.numel;
    if (!ember_tensor_is_contiguous(&largest)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "index: layout");
    }
    s->out = out.data;
    s->rank = out.rank;
    s->place = (uint8_t)place;
    return ember_masked_prepare(&s->masked, node, &where, mask.numel, &whole);
}

static int32_t run(void *state) {
    state_t *s = state;

    s->sizes[s->place] = (int32_t)ember_masked_count(&s->masked);
    const ember_status_t status = ember_slot_resize(s->slot, s->rank, s->sizes);
    if (status == EMBER_OK) {
        const uint32_t repeats = s->masked.repeats;
        ember_masked_read(&s->masked, s->out, (uint32_t)s->sizes[s->place] * repeats);
    }
    return status;
}

EMBER_KERNEL(index_mask, state_t);
