// SPDX-License-Identifier: Apache-2.0
#include "kernels/signal/squared_magnitude.h"

enum { Z, OUT };

static int32_t run(void *state) {
    const ember_squared_magnitude_t *s = state;
    const ember_complex_t *z = s->z;
    float *y = s->y;
    for (uint32_t i = s->count; i > 0; i--, y++, z++) {
        *y = z->re * z->re + z->im * z->im;
    }
    return EMBER_OK;
}

ember_status_t ember_squared_magnitude_prepare(ember_node_t *node,
                                               ember_squared_magnitude_t *s) {
    ember_tensor_t z;
    ember_tensor_t y;
    ember_node_tensor(node, Z, &z);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (z.rank == 0 || z.sizes[z.rank - 1] != 2) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "squared_magnitude: not pairs");
    }
    ember_node_output(node, OUT, z.rank - 1u, z.sizes, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (z.dtype != EMBER_F32 || y.dtype != EMBER_F32 ||
        !ember_tensor_is_contiguous(&z) || !ember_tensor_is_contiguous(&y)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "squared_magnitude: not contiguous float32");
    }
    *s = (ember_squared_magnitude_t){z.data, y.data, y.numel};
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_squared_magnitude_prepare(node, state);
}

EMBER_KERNEL(squared_magnitude, ember_squared_magnitude_t);
