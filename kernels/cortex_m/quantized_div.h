// SPDX-License-Identifier: Apache-2.0
// quantized_div: int8 or int16, in float32 as the dialect defines it,
//
//     y = round((a - zero) / (b - zero) * scale) + zero
//
// ties to even, limited to the dtype; 0 / 0 and what else is divided by 0 is 0.
#ifndef EMBER_KERNELS_CORTEX_M_QUANTIZED_DIV_H
#define EMBER_KERNELS_CORTEX_M_QUANTIZED_DIV_H

#include "kernels/engine/int8/pair_s8.h"

typedef struct ember_div_s8 {
    ember_pair_s8_t pair; // of int8 or int16
    int32_t a_zero;
    int32_t b_zero;
    float y_zero;
    float scale;
    float low;
    float high;
} ember_div_s8_t;

EMBER_MUST_USE ember_status_t ember_div_s8_prepare(ember_node_t *node, void *state);

// Runs the rows of one dtype or the other.
static inline int32_t ember_div_s8_run(const ember_div_s8_t *s, ember_pair_row_fn s8,
                                       ember_pair_row_fn s16) {
    const bool wide = s->high > INT8_MAX;

    ember_pair_run(&s->pair, wide ? s16 : s8, s, wide ? sizeof(int16_t) : 1);
    return EMBER_OK;
}

#endif // EMBER_KERNELS_CORTEX_M_QUANTIZED_DIV_H
