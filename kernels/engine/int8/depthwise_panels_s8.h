// SPDX-License-Identifier: Apache-2.0
// ember::quantized_depthwise_conv2d_panels.out: a depthwise convolution, one filter per
// channel, whose weights the host has packed for Hexagon's vectors (depthwise_hvx.h).
//
// The weights of a tap are those of all channels, repeated up to `period`. Of four rows
// of taps they are words: for each such group of rows, column of taps and channel four
// bytes, those of rows that do not exist 0. Where two rows of outputs share what they
// read (`sharing`), the same follows with the rows one further down. For each 32 of a
// period five vectors of numbers follow, as in panels_s8.h.
#ifndef EMBER_KERNELS_ENGINE_INT8_DEPTHWISE_PANELS_S8_H
#define EMBER_KERNELS_ENGINE_INT8_DEPTHWISE_PANELS_S8_H

#include "kernels/engine/int8/conv_s8.h"

typedef struct ember_depthwise_panels_s8 {
    ember_conv_s8_t conv;  // without weights, biases, multipliers and shifts
    const uint8_t *panels; // at any address
    const uint8_t *numbers;
    int32_t period;  // a multiple of 128
    int32_t sharing; // 1 or 2
} ember_depthwise_panels_s8_t;

// As those of panels_s8.h.
EMBER_MUST_USE ember_status_t
ember_depthwise_panels_s8_weights(ember_depthwise_panels_s8_t *s, ember_node_t *node);
uint32_t ember_depthwise_panels_s8_steps(const ember_depthwise_panels_s8_t *s);
int32_t ember_depthwise_panels_s8_sum(const void *panels, const int8_t *x, int32_t oy,
                                      int32_t ox, int32_t channel);

// Reads a call and sets the shape of its output.
EMBER_MUST_USE ember_status_t
ember_depthwise_panels_s8_args(ember_depthwise_panels_s8_t *s, ember_node_t *node);

// Computes, in plain C. y is not x.
void ember_depthwise_panels_s8_run(const ember_depthwise_panels_s8_t *s);

#endif // EMBER_KERNELS_ENGINE_INT8_DEPTHWISE_PANELS_S8_H
