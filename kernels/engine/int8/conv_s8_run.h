// SPDX-License-Identifier: Apache-2.0
// Convolutions of cortex_m in plain C: any groups, strides and dilations.
#ifndef EMBER_KERNELS_ENGINE_INT8_CONV_S8_RUN_H
#define EMBER_KERNELS_ENGINE_INT8_CONV_S8_RUN_H

#include "kernels/engine/int8/conv_s8.h"

typedef struct ember_conv_s8_plain {
    ember_conv_s8_t conv;
    int8_t *rows; // those under the taps, (rows, width.in, channels): scratch for an
                  // output that is written over its input
} ember_conv_s8_plain_t;

// Takes `s->conv`, which has been read.
EMBER_MUST_USE ember_status_t ember_conv_s8_plain_prepare(ember_conv_s8_plain_t *s,
                                                          ember_node_t *node);

void ember_conv_s8_plain_run(const ember_conv_s8_plain_t *s, bool depthwise);

// y is not x.
void ember_conv_s8_run(const ember_conv_s8_t *s, bool depthwise);

#endif // EMBER_KERNELS_ENGINE_INT8_CONV_S8_RUN_H
