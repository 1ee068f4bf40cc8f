// SPDX-License-Identifier: Apache-2.0
// masked_select: the elements of self where the mask is true, in one dimension. Their
// number is only known at run time.
#include "kernels/engine/masked.h"

enum { SELF, MASK, OUT };

typedef struct {
    ember_masked_t masked;
    char *out;
    ember_slot_t *slot;
} state_t;

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_tensor_t self, mask, out;
    ember_view_t whole, where;
    int32_t sizes[EMBER_MAX_RANK];
    uint32_t rank;

    ember_node_tensor(node, SELF, &self);
    ember_node_tensor(node, MASK, &mask);
    ember_node_inout(node, OUT, &out);
    s->slot = ember_node_slot(node, OUT);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    const ember_tensor_t *const both[] = {&self, &mask};
    ember_view_tensor(&whole, &self);
    ember_view_tensor(&where, &mask);
    if (!ember_broadcast_shape(both, 2, sizes, &rank) ||
        !ember_view_expand(&whole, rank, sizes) ||
        !ember_view_expand(&where, rank, sizes) || out.rank != 1) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "masked_select: shapes");
    }
    if (out.dtype != self.dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "masked_select: dtypes");
    }
    s->out = out.data;
    return ember_masked_prepare(&s->masked, node, &where, mask.numel, &whole);
}

static int32_t run(void *state) {
    const state_t *s = state;
    const int32_t count = (int32_t)(ember_masked_count(&s->masked) * s->masked.repeats);
    const ember_status_t status = ember_slot_resize(s->slot, 1, &count);

    if (status == EMBER_OK) {
        ember_masked_read(&s->masked, s->out, (uint32_t)count);
    }
    return status;
}

EMBER_KERNEL(masked_select, state_t);
