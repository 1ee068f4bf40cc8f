// SPDX-License-Identifier: Apache-2.0
// Element-wise kernels of two float16 operands with NEON, in any layouts, one repeated
// along the other, or a Scalar. Lines are widened, computed in float32 and rounded: the
// portable kernels' bits, except those of NaN.
#ifndef EMBER_KERNELS_ENGINE_NEON_MAP_F16_NEON_H
#define EMBER_KERNELS_ENGINE_NEON_MAP_F16_NEON_H

#include "kernels/engine/neon/map_f32_neon.h"
#include "kernels/engine/strided.h"

typedef struct ember_map_f16_2 {
    char *data[3]; // y, a, b
    float number;  // b, if it is a Scalar
    bool scalar;   // b is a Scalar
    uint8_t dims;  // of the table; 0: no elements
    int32_t table[EMBER_WALK_ITEMS(3)];
} ember_map_f16_2_t;

// The output is the last argument before the return value.
EMBER_MUST_USE ember_status_t ember_map_f16_2_prepare(ember_node_t *node, void *state);
void ember_map_f16_2_run(const ember_map_f16_2_t *state, ember_row_f32_fn row);

// The run function of a kernel whose operation is a function of fours.
#define EMBER_NEON_F16_KERNEL(NAME, FUNCTION)                                          \
    static void row(float *y, const float *a, uint32_t a_step, const float *b,         \
                    uint32_t b_step, uint32_t count) {                                 \
        neon_row_2(y, a, a_step, b, b_step, count, FUNCTION);                          \
    }                                                                                  \
    static int32_t run(void *state) {                                                  \
        ember_map_f16_2_run(state, row);                                               \
        return EMBER_OK;                                                               \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_map_f16_2_t)

#endif // EMBER_KERNELS_ENGINE_NEON_MAP_F16_NEON_H
