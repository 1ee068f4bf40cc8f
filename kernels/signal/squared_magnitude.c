// SPDX-License-Identifier: Apache-2.0
// squared_magnitude: re * re + im * im of complex numbers, float32.
//
//     z    (.., 2)
//     out  (..)
#include "kernels/signal/fft.h"

enum { Z, OUT };

typedef struct squared_magnitude {
    const ember_complex_t *z; // (count,)
    float *y;                 // (count,)
    uint32_t count;
} squared_magnitude_t;

static int32_t run(void *state) {
    const squared_magnitude_t *s = state;
    const ember_complex_t *z = s->z;
    float *y = s->y;
    for (uint32_t i = s->count; i > 0; i--, y++, z++) {
        *y = z->re * z->re + z->im * z->im;
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
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
    *(squared_magnitude_t *)state = (squared_magnitude_t){z.data, y.data, y.numel};
    return EMBER_OK;
}

EMBER_KERNEL(squared_magnitude, squared_magnitude_t);
