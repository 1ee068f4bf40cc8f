// SPDX-License-Identifier: Apache-2.0
// quantized_mul: y = requantize((a - zero) * (b - zero)) + zero, int8.
//
// Two roundings of one real number: as in quantized_add_s8.h, an estimate decides y
// unless it is close to the middle between two integers.
#ifndef EMBER_KERNELS_CORTEX_M_QUANTIZED_MUL_H
#define EMBER_KERNELS_CORTEX_M_QUANTIZED_MUL_H

#include "kernels/engine/int8/pair_s8.h"
#include "kernels/engine/int8/requantize.h"

typedef struct ember_mul_s8 {
    ember_pair_s8_t pair;
    int32_t offset; // estimate = ((product << left) * multiplier >> 32) + offset
    uint32_t
        doubt; // a fraction below it needs the roundings; UINT32_MAX: each one does
    ember_requantize_t y;
    int16_t a_zero; // operands minus their zero points have 16 bits
    int16_t b_zero;
    int16_t y_zero;
    uint8_t left;
    uint8_t bits; // of the estimate's fraction
} ember_mul_s8_t;

EMBER_MUST_USE ember_status_t ember_mul_s8_prepare(ember_node_t *node, void *state);

// For variants: the same, but UNSUPPORTED unless both operands have an element of their
// own for each of y's, and y's shift is in [-31, -1].
EMBER_MUST_USE ember_status_t ember_mul_s8_dense_prepare(ember_node_t *node,
                                                         void *state);

#endif // EMBER_KERNELS_CORTEX_M_QUANTIZED_MUL_H
