// SPDX-License-Identifier: Apache-2.0
// Scaling of 32-bit sums by a multiplier and a shift, as in the cortex_m dialect:
//
//     y = x * multiplier * 2^(shift - 31)
//
// rounded twice: the product to an integer, ties up; then, if shift < 0, the division
// by 2^-shift, ties away from zero.
#ifndef EMBER_KERNELS_ENGINE_INT8_REQUANTIZE_H
#define EMBER_KERNELS_ENGINE_INT8_REQUANTIZE_H

#include "ember/node.h"

// What prepare must ensure before run may scale with them.
enum { EMBER_REQUANTIZE_SHIFT_MIN = -62, EMBER_REQUANTIZE_SHIFT_MAX = 31 };

typedef struct ember_requantize {
    int32_t multiplier; // >= 0; of operands of quantized_add also < 0
    int32_t shift;      // EMBER_REQUANTIZE_SHIFT_MIN .. EMBER_REQUANTIZE_SHIFT_MAX
} ember_requantize_t;

// Minimum and maximum of an output.
typedef struct ember_limits_s8 {
    int8_t low;
    int8_t high; // >= low
} ember_limits_s8_t;

// The int arguments `multiplier` and `multiplier` + 1; UNSUPPORTED if out of range.
// _signed_: the multiplier may be negative.
ember_requantize_t ember_requantize_args(ember_node_t *node, uint32_t multiplier);
ember_requantize_t ember_requantize_signed_args(ember_node_t *node,
                                                uint32_t multiplier);

// An argument that is an int8, or the negative of one.
int32_t ember_zero_point_arg(ember_node_t *node, uint32_t arg);

// The arguments of the minimum and the maximum of the output.
ember_limits_s8_t ember_limits_s8_args(ember_node_t *node, uint32_t low, uint32_t high);

// For any shift in the range; what exceeds 64 or, in the end, 32 bits wraps.
int32_t ember_requantize_wide(int32_t value, int32_t multiplier, int32_t shift);

static inline int32_t ember_requantize(int32_t value, int32_t multiplier,
                                       int32_t shift) {
    if (shift > 0 || shift < -31) {
        return ember_requantize_wide(value, multiplier, shift);
    }
    const int64_t product = (int64_t)value * multiplier + (1 << 30);
    const int64_t high = (int32_t)(product >> 31);
    if (shift == 0) {
        return (int32_t)high;
    }
    const int64_t half = (int64_t)1 << (-shift - 1);
    return (int32_t)((high + half - (high < 0)) >> -shift);
}

static inline int8_t ember_limit_s8(int32_t value, ember_limits_s8_t limits) {
    value = value < limits.low ? limits.low : value;
    return (int8_t)(value > limits.high ? limits.high : value);
}

// `value` scaled, then `zero_point` added, which wraps, then clamped.
static inline int8_t ember_requantize_s8(int32_t value, ember_requantize_t by,
                                         int32_t zero_point, ember_limits_s8_t limits) {
    const int32_t scaled = ember_requantize(value, by.multiplier, by.shift);
    const uint32_t moved = (uint32_t)scaled + (uint32_t)zero_point;
    return ember_limit_s8((int32_t)moved, limits);
}

#endif // EMBER_KERNELS_ENGINE_INT8_REQUANTIZE_H
