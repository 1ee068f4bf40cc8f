// SPDX-License-Identifier: Apache-2.0
// Layer normalisation over the last dimensions, any float dtype, in double.
#include "kernels/engine/norm.h"

static int32_t run(void *state) {
    ember_norm_rows_run(state);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_norm_rows_t *s = state;
    int32_t sizes[EMBER_MAX_RANK];
    ember_tensor_t x;
    ember_tensor_t y;

    ember_node_tensor(node, 0, &x);
    ember_node_output_like(node, 5, &x, &y);
    const uint32_t normal = ember_node_list_count(node, 1);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (normal > x.rank) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "layer_norm: too many sizes");
    }
    *s = (ember_norm_rows_t){.rows = 1, .count = 1, .repeat = 1};
    if (ember_norm_rows_tensors(s, &x, &y) != EMBER_OK) {
        return EMBER_UNSUPPORTED;
    }
    for (uint32_t d = 0; d < x.rank; d++) {
        const bool row = d < x.rank - normal;
        const uint32_t size = x.numel > 0 ? (uint32_t)x.sizes[d] : row ? 0 : 1;
        s->rows *= row ? size : 1;
        s->count *= row ? 1 : size;
        sizes[d] = row ? x.sizes[d] : 1;
    }
    s->rows = x.numel > 0 ? s->rows : 0;
    s->period = s->count;
    s->eps = ember_node_double(node, 4);
    if (x.numel > 0) {
        ember_norm_vector(node, 2, s->count, &s->weight);
        ember_norm_vector(node, 3, s->count, &s->bias);
    }
    ember_norm_output(node, 6, x.rank, sizes, &s->mean);
    ember_norm_output(node, 7, x.rank, sizes, &s->rstd);
    return ember_node_status(node);
}

EMBER_KERNEL(layer_norm, ember_norm_rows_t);
