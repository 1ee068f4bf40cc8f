// SPDX-License-Identifier: Apache-2.0
// quantized_add: y = a + b, int8 with a scale and a zero point each; a - b if the
// multiplier of b is negative.
//
//     q(x) = requantize((x - zero) << 20)      y = requantize(q(a) + q(b)) + zero
//
// Three roundings of one real number: an estimate of it decides y, unless it is close
// to the middle between two integers. Only then the sum is computed as written.
#ifndef EMBER_KERNELS_CORTEX_M_QUANTIZED_ADD_S8_H
#define EMBER_KERNELS_CORTEX_M_QUANTIZED_ADD_S8_H

#include "kernels/engine/int8/pair_s8.h"
#include "kernels/engine/int8/requantize.h"

enum { EMBER_ADD_BITS = 20 }; // of the estimate's fraction

typedef struct ember_add_s8 {
    ember_pair_s8_t pair;
    int32_t a_factor; // estimate = a * a_factor + b * b_factor + offset
    int32_t b_factor;
    int32_t offset;
    uint32_t doubt; // a fraction below it needs the sum; UINT32_MAX: all do
    ember_requantize_t a;
    ember_requantize_t b;
    ember_requantize_t y;
    int16_t a_zero;
    int16_t b_zero;
    int16_t y_zero;
    ember_limits_s8_t limits;
} ember_add_s8_t;

EMBER_MUST_USE ember_status_t ember_add_s8_prepare(ember_node_t *node, void *state);

// Only reads the arguments, without an estimate.
EMBER_MUST_USE ember_status_t ember_add_s8_read(ember_node_t *node, ember_add_s8_t *s);

// Whether executorch 1.0 wrote the call, which means something else by the scales.
static inline bool ember_add_s8_is_floats(ember_requantize_t y) {
    return y.multiplier == 1 << 30 && y.shift == -1;
}

// One element as the dialect defines it.
int8_t ember_add_s8_exact(const ember_add_s8_t *s, int32_t a, int32_t b);

// The fraction of an estimate, in the highest bits: in doubt if below `doubt`.
static inline uint32_t ember_add_s8_fraction(int32_t estimate) {
    return (uint32_t)estimate << (32 - EMBER_ADD_BITS);
}

#endif // EMBER_KERNELS_CORTEX_M_QUANTIZED_ADD_S8_H
