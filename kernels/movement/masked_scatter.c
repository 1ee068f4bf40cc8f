// SPDX-License-Identifier: Apache-2.0
// masked_scatter: a copy of self in which the elements where the mask is true are
// replaced by the first ones of source, both in logical order.
#include <string.h>

#include "kernels/engine/copy.h"
#include "kernels/engine/masked.h"

enum { SELF, MASK, SOURCE, OUT };

typedef struct {
    ember_copy_t copy;
    ember_masked_t masked;
    char *source; // only read
    uint32_t source_count;
    uint8_t source_dims;
    int32_t source_table[EMBER_WALK_ITEMS(1)];
} state_t;

static ember_status_t set_source(state_t *s, ember_node_t *node,
                                 const ember_tensor_t *source) {
    ember_view_t view;
    const ember_view_t *const views[] = {&view};

    ember_view_tensor(&view, source);
    s->source = source->data;
    s->source_count = source->numel;
    s->source_dims = 0;
    if (source->numel > 0) {
        s->source_dims = (uint8_t)ember_cursor_table(views, 1, s->source_table);
        if (s->source_dims == 0) {
            return ember_node_fail(node, EMBER_UNSUPPORTED, "masked_scatter: source");
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_tensor_t self, mask, source, out;
    ember_view_t from, where, whole;
    int32_t sizes[EMBER_MAX_RANK];
    uint32_t rank;

    ember_node_tensor(node, SELF, &self);
    ember_node_tensor(node, MASK, &mask);
    ember_node_tensor(node, SOURCE, &source);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    const ember_tensor_t *const both[] = {&self, &mask};
    ember_view_tensor(&from, &self);
    ember_view_tensor(&where, &mask);
    if (!ember_broadcast_shape(both, 2, sizes, &rank) ||
        !ember_view_expand(&from, rank, sizes) ||
        !ember_view_expand(&where, rank, sizes)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "masked_scatter: shapes");
    }
    if (source.dtype != self.dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "masked_scatter: dtypes");
    }
    ember_status_t status = ember_copy_output(&s->copy, node, OUT, &from);
    if (status != EMBER_OK) {
        return status;
    }
    ember_node_inout(node, OUT, &out);
    ember_view_tensor(&whole, &out);
    status = set_source(s, node, &source);
    return status == EMBER_OK
               ? ember_masked_prepare(&s->masked, node, &where, mask.numel, &whole)
               : status;
}

static int32_t run(void *state) {
    const state_t *s = state;
    const ember_masked_t *masked = &s->masked;
    char *const at[] = {masked->mask, masked->whole};
    uint32_t left = s->source_count;
    ember_cursor_t to, from;

    ember_copy_run(&s->copy);
    if (masked->dims == 0) {
        return EMBER_OK;
    }
    ember_cursor_start(&to, masked->table, masked->dims, 2, at);
    do {
        if (*to.at[0] == 0) {
            continue;
        }
        if (left == s->source_count && left > 0) {
            ember_cursor_start(&from, s->source_table, s->source_dims, 1, &s->source);
        } else if (left == 0 || !ember_cursor_next(&from)) {
            return EMBER_DATA_RANGE;
        }
        left--;
        memmove(to.at[1], from.at[0], masked->size);
    } while (ember_cursor_next(&to));
    return EMBER_OK;
}

EMBER_KERNEL(masked_scatter, state_t);
