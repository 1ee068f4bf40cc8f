// SPDX-License-Identifier: Apache-2.0
// Convolutions and linear layers of int16 activations with int8 weights. Inputs and
// outputs have a zero point of 0. Sums are int32 and wrap, as those of int8 do; the
// export sees to it that they fit. They are scaled as requantize.h has it.
//
// A linear layer is a convolution by one tap of an image of one row, whose columns are
// the rows of its input.
#ifndef EMBER_KERNELS_CORTEX_M_CONV_S16_H
#define EMBER_KERNELS_CORTEX_M_CONV_S16_H

#include "kernels/engine/int8/conv_s8.h"

typedef struct ember_limits_s16 {
    int16_t low;
    int16_t high; // >= low
} ember_limits_s16_t;

typedef struct ember_conv_s16 {
    ember_conv_s8_t conv; // its images, offset, zero point and limits are unused
    const int16_t *x;
    int16_t *y;
    ember_limits_s16_t limits;
    bool depthwise; // weights are (height.kernel, width.kernel, filters)
} ember_conv_s16_t;

// Read a call and set the shape of its output, which is not over its input.
EMBER_MUST_USE ember_status_t ember_conv_s16_args(ember_conv_s16_t *s,
                                                  ember_node_t *node);
EMBER_MUST_USE ember_status_t ember_conv_s16_depthwise_args(ember_conv_s16_t *s,
                                                            ember_node_t *node);
EMBER_MUST_USE ember_status_t ember_conv_s16_linear_args(ember_conv_s16_t *s,
                                                         ember_node_t *node);

// The arguments of the minimum and the maximum of an output.
ember_limits_s16_t ember_limits_s16_args(ember_node_t *node, uint32_t low,
                                         uint32_t high);

// In plain C.
void ember_conv_s16_run(const ember_conv_s16_t *s);

static inline int16_t ember_limit_s16(int32_t value, ember_limits_s16_t limits) {
    value = value < limits.low ? limits.low : value;
    return (int16_t)(value > limits.high ? limits.high : value);
}

// One output of filter `f` from the sum of its products.
static inline int16_t ember_scaled_s16(const ember_conv_s16_t *s, int32_t f,
                                       uint32_t sum) {
    const ember_scales_s8_t *scales = &s->conv.scales;
    const uint32_t bias = scales->bias == NULL ? 0 : (uint32_t)scales->bias[f];
    const int32_t scaled = ember_requantize((int32_t)(sum + bias),
                                            scales->multipliers[f], scales->shifts[f]);
    return ember_limit_s16(scaled, s->limits);
}

#endif // EMBER_KERNELS_CORTEX_M_CONV_S16_H
