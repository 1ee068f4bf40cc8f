// SPDX-License-Identifier: Apache-2.0
// Gradients of a group normalisation.
#include "kernels/norm/backward.h"

enum { GRADIENT, INPUT, MEAN, RSTD, WEIGHT, N, C, PIXELS, GROUPS, MASK, OUTPUTS };

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_norm_places_t places = {GRADIENT, INPUT, MEAN,   RSTD,
                                        WEIGHT,   MASK,  OUTPUTS};
    ember_norm_backward_t *s = state;
    ember_tensor_t x;

    ember_node_tensor(node, INPUT, &x);
    const int32_t batch = ember_node_int_in(node, N, 0, INT32_MAX);
    const int32_t channels = ember_node_int_in(node, C, 0, INT32_MAX);
    const int32_t pixels = ember_node_int_in(node, PIXELS, 0, INT32_MAX);
    const int32_t groups = ember_node_int_in(node, GROUPS, 1, INT32_MAX);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (x.rank < 2 || x.sizes[0] != batch || x.sizes[1] != channels ||
        channels % groups != 0 ||
        (x.numel > 0 &&
         (uint64_t)batch * (uint64_t)channels * (uint64_t)pixels != x.numel)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "group_norm: the sizes contradict the input");
    }
    s->rows = x.numel > 0 ? (uint32_t)batch * (uint32_t)groups : 0;
    s->count = s->rows > 0 ? x.numel / s->rows : 0;
    s->repeat = (uint32_t)pixels;
    s->weights = (uint32_t)channels;
    return ember_norm_backward_prepare(s, node, &places, 1, &channels);
}

static int32_t run(void *state) {
    return ember_norm_backward_run(state);
}

EMBER_KERNEL(group_norm_backward, ember_norm_backward_t);
