// SPDX-License-Identifier: Apache-2.0
// Group normalisation over groups of channels, any float dtype, in double.
#include "kernels/engine/norm.h"

static int32_t run(void *state) {
    ember_norm_rows_run(state);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_norm_rows_t *s = state;
    ember_tensor_t x;
    ember_tensor_t y;

    ember_node_tensor(node, 0, &x);
    ember_node_output_like(node, 8, &x, &y);
    const int32_t batch = ember_node_int_in(node, 3, 0, INT32_MAX);
    const int32_t channels = ember_node_int_in(node, 4, 0, INT32_MAX);
    const int32_t pixels = ember_node_int_in(node, 5, 0, INT32_MAX);
    const int32_t groups = ember_node_int_in(node, 6, 1, INT32_MAX);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (x.rank < 2 || x.sizes[0] != batch || x.sizes[1] != channels ||
        (x.numel > 0 &&
         (uint64_t)batch * (uint64_t)channels * (uint64_t)pixels != x.numel) ||
        channels % groups != 0) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "group_norm: the sizes contradict the input");
    }
    const uint32_t rows = x.numel > 0 ? (uint32_t)batch * (uint32_t)groups : 0;
    *s = (ember_norm_rows_t){.rows = rows,
                             .count = rows > 0 ? x.numel / rows : 0,
                             .repeat = (uint32_t)pixels,
                             .period = (uint32_t)channels,
                             .eps = ember_node_double(node, 7)};
    if (ember_norm_rows_tensors(s, &x, &y) != EMBER_OK) {
        return EMBER_UNSUPPORTED;
    }
    const int32_t sizes[] = {batch, groups};
    ember_norm_vector(node, 1, (uint32_t)channels, &s->weight);
    ember_norm_vector(node, 2, (uint32_t)channels, &s->bias);
    ember_norm_output(node, 9, 2, sizes, &s->mean);
    ember_norm_output(node, 10, 2, sizes, &s->rstd);
    return ember_node_status(node);
}

EMBER_KERNEL(group_norm, ember_norm_rows_t);
