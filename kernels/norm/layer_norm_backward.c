// SPDX-License-Identifier: Apache-2.0
// Gradients of a layer normalisation.
#include "kernels/norm/backward.h"

enum { GRADIENT, INPUT, SHAPE, MEAN, RSTD, WEIGHT, BIAS, MASK, OUTPUTS };

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_norm_places_t places = {GRADIENT, INPUT, MEAN,   RSTD,
                                        WEIGHT,   MASK,  OUTPUTS};
    ember_norm_backward_t *s = state;
    int32_t sizes[EMBER_MAX_RANK];
    ember_tensor_t x;

    ember_node_tensor(node, INPUT, &x);
    const uint32_t rank = ember_node_ints(node, SHAPE, sizes, EMBER_MAX_RANK);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    int64_t count = 1;
    for (uint32_t d = 0; d < rank; d++) {
        if (rank > x.rank || sizes[d] != x.sizes[x.rank - rank + d] ||
            (count *= sizes[d]) > INT32_MAX) {
            return ember_node_fail(node, EMBER_BAD_PROGRAM, "layer_norm: shape");
        }
    }
    s->count = (uint32_t)count;
    s->weights = s->count;
    s->repeat = 1;
    s->rows = s->count > 0 ? x.numel / s->count : 0;
    return ember_norm_backward_prepare(s, node, &places, rank, sizes);
}

static int32_t run(void *state) {
    return ember_norm_backward_run(state);
}

EMBER_KERNEL(layer_norm_backward, ember_norm_backward_t);
