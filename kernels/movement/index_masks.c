// SPDX-License-Identifier: Apache-2.0
// index: self[indices] with several tensors, some of which are masks.
#include <string.h>

#include "kernels/movement/index_masks.h"

enum { SELF, INDICES, OUT };

typedef struct {
    ember_masks_t masks; // of the dimensions from the first indexed one on
    ember_slot_t *slot;
    uint8_t rank;    // of the output
    uint8_t leading; // dimensions before the blocks'
    int32_t sizes[EMBER_MAX_RANK];
    int32_t steps[EMBER_MAX_RANK]; // of the leading ones in self, bytes
} state_t;

static int32_t run(void *state) {
    const state_t *s = state;
    const int32_t blocks = ember_masks_find(&s->masks);
    int32_t sizes[EMBER_MAX_RANK];
    int32_t at[EMBER_MAX_RANK] = {0};
    char *start = s->masks.whole;
    char *picked = s->masks.picked;

    if (blocks < 0) {
        return EMBER_DATA_RANGE;
    }
    memcpy(sizes, s->sizes, sizeof(sizes));
    sizes[s->leading] = blocks;
    int32_t status = ember_slot_resize(s->slot, s->rank, sizes);
    for (int32_t d = 0; d >= 0 && status == EMBER_OK && s->masks.block.run > 0;) {
        status = ember_masks_move(&s->masks, blocks, start, picked);
        picked += (ptrdiff_t)blocks * s->masks.picked_step;
        for (d = s->leading - 1; d >= 0; d--) {
            start += s->steps[d];
            if (++at[d] < sizes[d]) {
                break;
            }
            start -= (ptrdiff_t)s->steps[d] * at[d];
            at[d] = 0;
        }
    }
    return status;
}

// Blocks are in a row in the output, one row for each position in the leading
// dimensions.
static ember_status_t set_rows(state_t *s, ember_node_t *node, ember_view_t *whole,
                               const ember_tensor_t *out) {
    ember_masks_t *masks = &s->masks;
    ember_view_t picked;
    int32_t step = whole->element_size;
    bool empty = false;

    s->rank = masks->rank;
    s->leading = masks->place;
    memcpy(s->sizes, masks->sizes, sizeof(s->sizes));
    for (uint32_t d = 0; d < s->leading; d++) {
        s->steps[d] = whole->strides[0];
        empty |= whole->sizes[0] == 0;
        ember_view_drop(whole, 0);
    }
    ember_view_tensor(&picked, out);
    picked.rank = (uint8_t)(s->rank - s->leading);
    for (uint32_t d = picked.rank; d-- > 0;) {
        picked.sizes[d] = masks->sizes[s->leading + d];
        picked.strides[d] = step;
        step *= picked.sizes[d];
    }
    masks->indexed >>= s->leading;
    masks->place = 0;
    masks->picked_count = -1;
    const ember_status_t status = ember_masks_prepare(masks, node, whole, &picked);
    masks->block.run = empty ? 0 : masks->block.run;
    return status;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_tensor_t out;
    ember_view_t whole;

    ember_view_arg(&whole, node, SELF);
    const ember_status_t status = ember_masks_read(&s->masks, node, &whole);
    if (status != EMBER_OK) {
        return status;
    }
    ember_node_inout(node, OUT, &out);
    s->slot = ember_node_slot(node, OUT);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (out.rank != s->masks.rank) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "index: wrong rank of the output");
    }
    for (uint32_t d = 0; d < out.rank; d++) {
        if (out.dim_order[d] != d) {
            return ember_node_fail(node, EMBER_UNSUPPORTED, "index: layout");
        }
    }
    return set_rows(s, node, &whole, &out);
}

EMBER_KERNEL(index_masks, state_t);
